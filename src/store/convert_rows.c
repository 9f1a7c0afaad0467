/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/json.h"
#include "store/convert.h"
#include "store/csv.h"

/* The columns are the scalar members of the first object, in its order. */

struct sn_column {
    sn_str name;
    const seine_json *value; /* in the current object */
};

static bool
is_plain(const seine_json *value)
{
    seine_json_type type = seine_json_type_of(value);

    return type != SEINE_JSON_ARRAY && type != SEINE_JSON_OBJECT;
}

static unsigned
how(const sn_convert *c)
{
    return (c->opts->csv_raw ? SEINE_CSV_RAW : 0u) | (c->out.how & SEINE_CSV_SHOWN);
}

static void
add_cell(sn_convert *c, sn_str text)
{
    size_t most = 5 * text.len + 3; /* a tab on a terminal, and a guard behind it */
    char *room = sn_buf_reserve(&c->text, most);

    if (!room)
        return;
    sn_text_writer p = sn_text_writer_on(room, most);
    sn_csv_cell(&p, text, how(c));
    sn_buf_commit(&c->text, sn_text_writer_len(&p));
}

/* null is an empty cell, like an absent member. */
static void
add_value(sn_convert *c, const seine_json *value)
{
    sn_str text = {NULL, 0};
    seine_text printed = {NULL, 0};

    if (seine_json_type_of(value) == SEINE_JSON_NULL)
        return;
    if (!seine_json_string(value, &text.ptr, &text.len)) {
        if (seine_json_print(value, &printed) != SEINE_OK)
            c->text.err = SEINE_E_NOMEM;
        text = (sn_str){printed.bytes, printed.len};
    }
    add_cell(c, text);
    seine_text_free(&printed);
}

static void
end_row(sn_convert *c)
{
    if (c->text.len == 0 && c->n_columns == 1) /* else it would be a blank line */
        sn_buf_text(&c->text, "\"\"");
    sn_buf_text(&c->text, c->opts->csv_crlf ? "\r\n" : "\n");
}

typedef struct head {
    sn_convert *c;
    seine_err err;
} head;

static bool
each_name(const char *name, const seine_json *value, void *arg)
{
    head *h = arg;
    sn_convert *c = h->c;
    struct sn_column *column = &c->columns[c->n_columns];

    if (!is_plain(value))
        return true;
    column->name.ptr = sn_arena_text(&c->keep, sn_str_of(name));
    if (!column->name.ptr) {
        h->err = SEINE_E_NOMEM;
        return false;
    }
    column->name.len = strlen(name);
    c->n_columns++;
    h->err = sn_map_add(&c->column_of, column->name, column);
    return h->err == SEINE_OK;
}

static seine_err
refuse_columns(sn_convert *c)
{
    sn_diag_text(c->diag, "%s: more than %d columns", c->source.name, SN_CONVERT_COLUMNS);
    return SEINE_E_PARSE;
}

seine_err
sn_convert_head(sn_convert *c, const seine_json *object)
{
    size_t n = seine_json_size(object);
    head h = {c, SEINE_OK};

    c->columns = SN_ARENA_ARRAY(&c->keep, struct sn_column, n ? n : 1);
    if (!c->columns)
        return SEINE_E_NOMEM;
    if (!seine_json_each(object, each_name, &h))
        return h.err == SEINE_E_FULL ? refuse_columns(c) : h.err;
    sn_buf_reset(&c->text);
    for (size_t i = 0; i < c->n_columns; i++) {
        if (i > 0)
            sn_buf_char(&c->text, ',');
        add_cell(c, c->columns[i].name);
    }
    end_row(c);
    c->stats.records--; /* the header line is not a record */
    return sn_convert_put(c, &c->text, (sn_str){NULL, 0}, 0);
}

static bool
each_value(const char *name, const seine_json *value, void *arg)
{
    sn_convert *c = arg;
    struct sn_column *column = sn_map_get(&c->column_of, sn_str_of(name));

    if (column && is_plain(value))
        column->value = value;
    else
        sn_convert_lost(c, sn_str_of(name));
    return true;
}

seine_err
sn_convert_row(sn_convert *c, const seine_json *object)
{
    for (size_t i = 0; i < c->n_columns; i++)
        c->columns[i].value = NULL;
    seine_json_each(object, each_value, c);
    sn_buf_reset(&c->text);
    for (size_t i = 0; i < c->n_columns; i++) {
        if (i > 0)
            sn_buf_char(&c->text, ',');
        add_value(c, c->columns[i].value);
    }
    end_row(c);
    return sn_convert_put(c, &c->text, (sn_str){NULL, 0}, 0);
}
