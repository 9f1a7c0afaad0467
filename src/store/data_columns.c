/* SPDX-License-Identifier: Apache-2.0 */
#include "store/data_columns.h"

#include <string.h>

#include "base/alloc.h"

/* Names. */

seine_err
sn_data_columns_copy(sn_data_columns *c, const char *const *names)
{
    size_t n = 0;

    *c = (sn_data_columns){NULL, 0};
    while (names && names[n])
        n++;
    if (n == 0)
        return SEINE_OK;
    c->names = sn_zalloc(n * sizeof *c->names);
    if (!c->names)
        return SEINE_E_NOMEM;
    for (; c->n < n; c->n++) {
        size_t len = strlen(names[c->n]) + 1;
        char *copy = sn_alloc(len);

        if (!copy) {
            sn_data_columns_fini(c);
            return SEINE_E_NOMEM;
        }
        memcpy(copy, names[c->n], len);
        c->names[c->n] = copy;
    }
    return SEINE_OK;
}

void
sn_data_columns_fini(sn_data_columns *c)
{
    for (size_t i = 0; i < c->n; i++)
        sn_free(c->names[i]);
    sn_free(c->names);
    *c = (sn_data_columns){NULL, 0};
}

/* Names that columns of CSV or SQLite have already. SQLite does not tell cases apart, and
 * some names mean the number of a row. */
static bool
is_taken(sn_str name)
{
    static const char *const taken[] = {"seq",          "referrers",
                                        "ts",           "input",
                                        "url",          "final_url",
                                        "outcome",      "status",
                                        "attempts",     "title",
                                        "content_type", "time_ms",
                                        "error_kind",   "error_message",
                                        "bytes_body",   "content_length",
                                        "parent",       "change",
                                        "lang",         "canonical",
                                        "meta_robots",  "links",
                                        "sha256",       "key",
                                        "host",         "ip",
                                        "depth",        "charset",
                                        "bytes_in",     "time_total",
                                        "time_wait",    "body",
                                        "json",         "rowid",
                                        "oid",          "_rowid_"};

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (sn_str_eq_nocase(name, sn_str_of(taken[i])))
            return true;
    return false;
}

void
sn_data_column_name(const char *field, sn_buf *to)
{
    if (is_taken(sn_str_of(field)))
        sn_buf_text(to, "data.");
    sn_buf_text(to, field);
}

/* Rows. */

/* The texts of all cells are never longer than the JSON they come from, so that the
 * buffer does not move. */
seine_err
sn_data_row_read(sn_data_row *row, const seine_record *r)
{
    seine_view data = seine_record_data(r);
    seine_err e = SEINE_OK;

    row->json = NULL;
    sn_buf_init(&row->text, SIZE_MAX - 1);
    if (!data.ptr)
        return SEINE_OK;
    if (!sn_buf_reserve(&row->text, data.len + 1))
        return SEINE_E_NOMEM;
    e = seine_json_parse(data.ptr, data.len, &row->json, NULL);
    return e == SEINE_E_NOMEM ? e : SEINE_OK;
}

void
sn_data_row_fini(sn_data_row *row)
{
    seine_json_free(row->json);
    sn_buf_fini(&row->text);
    row->json = NULL;
}

/* Appends a value: a string as it is, null as nothing, anything else as JSON. */
static void
put_value(sn_buf *to, const seine_json *value)
{
    const char *bytes;
    seine_text text = {NULL, 0};
    size_t len;

    if (seine_json_type_of(value) == SEINE_JSON_NULL)
        return;
    if (seine_json_string(value, &bytes, &len)) {
        sn_buf_add(to, bytes, len);
        return;
    }
    if (seine_json_print(value, &text) == SEINE_OK)
        sn_buf_add(to, text.bytes, text.len);
    seine_text_free(&text);
}

static sn_data_kind
kind_of(const seine_json *value, sn_data_cell *cell)
{
    switch (seine_json_type_of(value)) {
    case SEINE_JSON_NULL:
        return SN_DATA_NONE;
    case SEINE_JSON_INT:
        return seine_json_int(value, &cell->number) ? SN_DATA_INT : SN_DATA_TEXT;
    case SEINE_JSON_REAL:
        return seine_json_number(value, &cell->real) ? SN_DATA_REAL : SN_DATA_TEXT;
    default:
        return SN_DATA_TEXT;
    }
}

sn_data_cell
sn_data_row_cell(sn_data_row *row, const char *field)
{
    const seine_json *value = seine_json_get(row->json, field);
    bool is_list = seine_json_type_of(value) == SEINE_JSON_ARRAY;
    size_t n = is_list ? seine_json_size(value) : value ? 1 : 0, from = row->text.len;
    sn_data_cell cell = {SN_DATA_NONE, 0, 0, {NULL, 0}};

    for (size_t i = 0; i < n; i++) {
        const seine_json *one = is_list ? seine_json_at(value, i) : value;

        if (i > 0)
            sn_buf_char(&row->text, '|');
        put_value(&row->text, one);
        cell.kind = n > 1 ? SN_DATA_TEXT : kind_of(one, &cell);
    }
    if (cell.kind != SN_DATA_NONE)
        cell.text = (sn_str){row->text.ptr + from, row->text.len - from};
    return cell;
}
