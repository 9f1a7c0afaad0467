/* SPDX-License-Identifier: Apache-2.0 */
/* Members of records by paths like item.sku, as objects and as rows of CSV. */
#include <stdio.h>
#include <string.h>

#include "console/json_out.h"
#include "console/records.h"
#include "seine/plumbing.h"
#include "seine/record.h"
#include "store/csv.h"
#include "store/text_writer.h"

/* The value at a path: the whole name first, then one part after the other. */
static const seine_json *
value_at(const seine_json *json, sn_str path)
{
    char name[256];
    sn_str rest = path, part;

    if (path.len >= sizeof name)
        return NULL;
    memcpy(name, path.ptr, path.len);
    name[path.len] = '\0';
    const seine_json *whole = seine_json_get(json, name);
    if (whole)
        return whole;
    while (json && sn_str_next(&rest, '.', &part)) {
        memcpy(name, part.ptr, part.len);
        name[part.len] = '\0';
        json = seine_json_get(json, name);
    }
    return json;
}

void
sn_records_project(sn_str line, const char *fields, sn_buf *out)
{
    sn_str rest = sn_str_of(fields), field;
    seine_json *json = NULL;

    sn_buf_char(out, '{');
    if (seine_json_parse(line.ptr, line.len, &json, NULL) == SEINE_OK)
        while (sn_str_next(&rest, ',', &field)) {
            const seine_json *value = value_at(json, field);
            seine_text text = {NULL, 0};

            if (!value || seine_json_print(value, &text) != SEINE_OK)
                continue;
            sn_json_out_next(out);
            sn_json_out_quoted(out, field);
            sn_buf_char(out, ':');
            sn_buf_add(out, text.bytes, text.len);
            seine_text_free(&text);
        }
    sn_buf_char(out, '}');
    seine_json_free(json);
}

static void
put_cell(sn_buf *out, sn_str text)
{
    char room[4096];
    sn_text_writer w;

    w = sn_text_writer_on(room, sizeof room);
    sn_csv_cell(&w, text, 0);
    size_t n = sn_text_writer_len(&w);
    if (n < sizeof room) {
        sn_buf_add(out, room, n);
        return;
    }
    char *at = sn_buf_reserve(out, n + 1);
    if (!at)
        return;
    w = sn_text_writer_on(at, n + 1);
    sn_csv_cell(&w, text, 0);
    sn_buf_commit(out, n);
}

static void
put_value(sn_buf *out, const seine_json *value)
{
    seine_text text = {NULL, 0};
    const char *bytes;
    size_t n;

    if (!value || seine_json_type_of(value) == SEINE_JSON_NULL)
        return;
    if (seine_json_string(value, &bytes, &n)) {
        put_cell(out, (sn_str){bytes, n});
        return;
    }
    if (seine_json_print(value, &text) == SEINE_OK)
        put_cell(out, (sn_str){text.bytes, text.len});
    seine_text_free(&text);
}

void
sn_records_csv(sn_str line, const char *fields, sn_buf *out)
{
    sn_str rest = sn_str_of(fields), field;
    seine_json *json = NULL;
    bool is_first = true;

    if (seine_json_parse(line.ptr, line.len, &json, NULL) != SEINE_OK)
        return;
    while (sn_str_next(&rest, ',', &field)) {
        if (!is_first)
            sn_buf_char(out, ',');
        is_first = false;
        put_value(out, value_at(json, field));
    }
    sn_buf_text(out, "\r\n");
    seine_json_free(json);
}

void
sn_records_csv_head(const char *fields, sn_buf *out)
{
    sn_str rest = sn_str_of(fields), field;
    bool is_first = true;

    while (sn_str_next(&rest, ',', &field)) {
        if (!is_first)
            sn_buf_char(out, ',');
        is_first = false;
        put_cell(out, field);
    }
    sn_buf_text(out, "\r\n");
}
