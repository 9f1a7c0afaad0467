/* SPDX-License-Identifier: Apache-2.0 */
#include "store/csv_columns.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "seine/plumbing.h"
#include "store/csv.h"
#include "store/record.h"
#include "store/record_hold.h"

enum { CELL = 64 << 10 }; /* of JSON; what is longer is an empty cell */

/* Columns of CSV that are no members stand behind those that are. */
enum { TIME_MS = SN_MEMBER_COUNT, ERROR_KIND, ERROR_MESSAGE, COUNT };

/* The first value of the page; those behind it follow. */
enum { DATA = SN_CSV_COLUMNS_MEMBERS };

static const char *const names[COUNT] = {
#define X(id, name) [SN_MEMBER_INDEX_##id] = (name),
    SN_MEMBERS(X)
#undef X
        [TIME_MS] = "time_ms",
    [ERROR_KIND] = "error_kind", [ERROR_MESSAGE] = "error_message"};

_Static_assert((int)COUNT <= (int)SN_CSV_COLUMNS_MEMBERS, "csv_columns.h says so");

/* "data.price" */
static int
data_column_of(const sn_data_columns *data, sn_str word)
{
    sn_str name = sn_str_slice(word, 5, word.len);

    for (size_t i = 0; i < data->n && i < SEINE_EXTRACT_FIELDS; i++)
        if (sn_str_eq(name, sn_str_of(data->names[i])))
            return DATA + (int)i;
    return -1;
}

static int
column_of(const sn_data_columns *data, sn_str word)
{
    if (sn_str_starts(word, SN_STR("data.")))
        return data_column_of(data, word);

    for (int i = 0; i < COUNT; i++)
        if (sn_str_eq(word, sn_str_of(names[i])))
            return i;
    return -1;
}

static bool
has_column(const sn_csv_columns *c, int column)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->at[i] == column)
            return true;
    return false;
}

/* Adds a column that is not there yet. */
static bool
add_column(sn_csv_columns *c, int column)
{
    if (column < 0 || has_column(c, column))
        return false;
    c->at[c->n++] = (uint16_t)column;
    c->has_data |= column >= DATA;
    return true;
}

/* Adds the values that have no column yet. */
static bool
add_all_data(sn_csv_columns *c)
{
    for (size_t i = 0; i < c->data->n && i < SEINE_EXTRACT_FIELDS; i++)
        if (!has_column(c, DATA + (int)i))
            (void)add_column(c, DATA + (int)i);
    return true;
}

seine_err
sn_csv_columns_parse(const char *list, const sn_data_columns *data,
                     sn_csv_columns *out_columns, sn_str *out_bad)
{
    sn_str rest = sn_str_trim(sn_str_of(list)), word;
    sn_csv_columns c = {.data = data};
    bool more;

    do {
        more = sn_str_cut(rest, ',', &word, &rest);
        word = sn_str_trim(word);

        if (!(sn_str_eq(word, SN_STR("data.*"))
                  ? add_all_data(&c)
                  : add_column(&c, column_of(data, word)))) {
            *out_bad = word;
            return SEINE_E_INVAL;
        }
    } while (more);
    *out_columns = c;
    return SEINE_OK;
}

static bool
is_failed(const seine_record *r)
{
    return r->fate != SEINE_FATE_OK && r->fault && r->fault->code != SEINE_OK;
}

/* Writes the value of a JSON text: a string as it is, anything else as JSON. */
static void
put_value(sn_text_writer *p, sn_str json, unsigned how)
{
    seine_json *value = NULL;
    sn_str text = json;

    if (json.len > 0 && json.ptr[0] == '"' &&
        seine_json_parse(json.ptr, json.len, &value, NULL) == SEINE_OK)
        seine_json_string(value, &text.ptr, &text.len);
    sn_csv_cell(p, text, how);
    seine_json_free(value);
}

/* Writes the member that a line of JSON with this member alone has: {"name":value}. */
static void
put_member(sn_text_writer *p, const seine_record *r, uint64_t seq, int column,
           unsigned how)
{
    size_t name = strlen(names[column]) + 4;
    seine_members alone;
    char *room = sn_alloc(CELL);

    if (!room || seine_members_parse(names[column], &alone, NULL) != SEINE_OK) {
        sn_free(room);
        return;
    }
    size_t n = seine_record_json(r, seq, &alone, SEINE_BODY_NONE, room, CELL);
    if (n <= CELL && n > name + 2) /* "{}\n": the record has no such member */
        put_value(p, (sn_str){room + name, n - name - 2}, how);
    sn_free(room);
}

static void
put_skip(sn_text_writer *p, const seine_record *r, int column, unsigned how)
{
    switch (column) {
    case SN_MEMBER_INDEX_TYPE:
    case SN_MEMBER_INDEX_OUTCOME:
        sn_text_writer_text(p, "skip");
        return;
    case ERROR_KIND:
        sn_text_writer_text(p, seine_skip_name(r->reason));
        return;
    case ERROR_MESSAGE:
        sn_csv_cell(p, r->rule, how);
        return;
    default:
        return;
    }
}

static void
put_error(sn_text_writer *p, const seine_record *r, int column, unsigned how)
{
    if (!is_failed(r))
        return;
    if (column == ERROR_KIND)
        sn_text_writer_text(p, seine_err_name(r->fault->code));
    else
        sn_csv_cell(
            p, r->message.ptr ? r->message : sn_str_of(seine_err_text(r->fault->code)),
            how);
}

/* The URLs of the pages, with a blank between two. */
static void
put_referrers(sn_text_writer *p, const seine_record *r, unsigned how)
{
    const sn_record_hold *h = r->hold;
    sn_buf all;

    if (!h || !h->referrers)
        return;
    sn_buf_init(&all, SIZE_MAX - 1);
    for (size_t i = 0; i < h->referrers->n; i++) {
        if (i > 0)
            sn_buf_char(&all, ' ');
        sn_buf_str(&all, h->referrers->pages[i].url);
    }
    sn_csv_cell(p, sn_buf_view(&all), how);
    sn_buf_fini(&all);
}

static void
put_cell(sn_text_writer *p, const seine_record *r, uint64_t seq, int column, unsigned how)
{
    switch (column) {
    case SN_MEMBER_INDEX_SEQ:
        sn_text_writer_u64(p, seq);
        return;
    case SN_MEMBER_INDEX_TS:
        sn_text_writer_stamp(p, r->wall);
        return;
    case SN_MEMBER_INDEX_INPUT:
        sn_csv_cell(p, r->input, how);
        return;
    case SN_MEMBER_INDEX_URL:
        sn_csv_cell(p, r->url, how);
        return;
    case SN_MEMBER_INDEX_KEY:
        sn_csv_cell(p, r->key, how);
        return;
    case SN_MEMBER_INDEX_PARENT:
        sn_csv_cell(p, r->parent, how);
        return;
    case SN_MEMBER_INDEX_REFERRERS:
        put_referrers(p, r, how);
        return;
    default:
        break;
    }
    if (r->type == SEINE_RECORD_SKIP)
        put_skip(p, r, column, how);
    else if (column == TIME_MS)
        sn_text_writer_ms(p, r->total);
    else if (column == ERROR_KIND || column == ERROR_MESSAGE)
        put_error(p, r, column, how);
    else
        put_member(p, r, seq, column, how);
}

static void
put_name(sn_text_writer *p, const sn_csv_columns *c, int column, unsigned how)
{
    sn_buf name;

    if (column < DATA) {
        sn_text_writer_text(p, names[column]);
        return;
    }
    const char *field = c->data->names[column - DATA];
    sn_buf_init(&name, SIZE_MAX - 1);
    sn_data_column_name(field, &name);
    if (has_column(c, column_of(c->data, sn_buf_view(&name)))) {
        sn_buf_reset(&name); /* a member that was chosen has that name */
        sn_buf_printf(&name, "data.%s", field);
    }
    sn_csv_cell(p, sn_buf_view(&name), how);
    sn_buf_fini(&name);
}

/* Without memory for the values their cells are empty. */
static void
put_row(sn_text_writer *p, const sn_csv_columns *c, const seine_record *r, uint64_t seq,
        unsigned how)
{
    sn_data_row row = {NULL, {0}};
    bool has_data = c->has_data && sn_data_row_read(&row, r) == SEINE_OK;

    for (size_t i = 0; i < c->n; i++) {
        if (i > 0)
            SN_WRITE(p, ",");
        if (c->at[i] < DATA)
            put_cell(p, r, seq, c->at[i], how);
        else if (has_data)
            sn_csv_cell(p, sn_data_row_cell(&row, c->data->names[c->at[i] - DATA]).text,
                        how);
    }
    sn_data_row_fini(&row);
}

void
sn_csv_columns_row(sn_text_writer *p, const sn_csv_columns *c, const seine_record *r,
                   uint64_t seq, unsigned how)
{
    for (size_t i = 0; !r && i < c->n; i++) {
        if (i > 0)
            SN_WRITE(p, ",");
        put_name(p, c, c->at[i], how);
    }
    if (r)
        put_row(p, c, r, seq, how);
    if (how & SEINE_CSV_CRLF)
        SN_WRITE(p, "\r\n");
    else
        SN_WRITE(p, "\n");
}
