/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "store/convert.h"
#include "store/csv.h"
#include "store/csv_read.h"

/*
 * A row of seine's columns becomes the members it was made of; what CSV left out stays
 * absent. A row of other columns becomes an object of strings named by the header line.
 */

/* The columns of a record, and their members. */
typedef enum own {
    OWN_SEQ,
    OWN_TS,
    OWN_INPUT,
    OWN_URL,
    OWN_FINAL_URL,
    OWN_OUTCOME,
    OWN_STATUS,
    OWN_ATTEMPTS,
    OWN_CONTENT_TYPE,
    OWN_CONTENT_LENGTH,
    OWN_BYTES_BODY,
    OWN_TIME_MS,
    OWN_TITLE,
    OWN_ERROR_KIND,
    OWN_ERROR_MESSAGE,
    OWN_COUNT
} own;

static const char *const own_names[OWN_COUNT] = {
    "seq",        "ts",      "input",    "url",          "final_url",
    "outcome",    "status",  "attempts", "content_type", "content_length",
    "bytes_body", "time_ms", "title",    "error_kind",   "error_message"};

/* Columns that exist only on request, and whether they are numbers. */
static const struct {
    const char *name;
    bool is_number;
} extras[] = {{"lang", false},  {"canonical", false}, {"meta_robots", false},
              {"links", true},  {"sha256", false},    {"change", false},
              {"parent", false}};

enum { EXTRAS = sizeof extras / sizeof *extras };

typedef struct rows {
    sn_convert *c;
    sn_csv_reader csv;
    sn_str *names; /* column names; NULL: before the header line */
    size_t n;
    bool is_own;
    size_t extra[EXTRAS]; /* their columns; 0: none */
    sn_buf *plain;        /* a cell without its guards */
} rows;

static void
add_name(sn_buf *b, sn_str name)
{
    sn_buf_text(b, b->len > 1 ? "," : "");
    sn_convert_quote(b, name);
    sn_buf_char(b, ':');
}

static bool
is_number(sn_str s)
{
    size_t i = 0;

    while (i < s.len && (sn_is_digit(s.ptr[i]) || (i > 0 && s.ptr[i] == '.')))
        i++;
    return s.len > 0 && i == s.len && s.ptr[s.len - 1] != '.' &&
           (s.ptr[0] != '0' || s.len == 1 || s.ptr[1] == '.');
}

/* Appends ,"name":"cell" unless the cell is empty. */
static void
add_member(const rows *r, const char *name, size_t column)
{
    sn_str cell = r->csv.cells[column];
    sn_buf *b = &r->c->made;

    if (!r->c->opts->csv_raw)
        cell = sn_csv_unguard(cell, r->plain);
    if (cell.len == 0)
        return;
    add_name(b, sn_str_of(name));
    sn_convert_quote(b, cell);
}

/* Leaves text that is no number to the reader of records, which reports it. */
static void
add_number(const rows *r, const char *name, size_t column)
{
    sn_str cell = r->csv.cells[column];
    sn_buf *b = &r->c->made;

    if (cell.len == 0)
        return;
    add_name(b, sn_str_of(name));
    if (is_number(cell))
        sn_buf_str(b, cell);
    else
        sn_convert_quote(b, cell);
}

static void
add_error(const rows *r)
{
    sn_buf *b = &r->c->made;
    sn_str kind = r->csv.cells[OWN_ERROR_KIND];
    sn_str message = r->csv.cells[OWN_ERROR_MESSAGE];

    if (kind.len == 0)
        return;
    if (!r->c->opts->csv_raw)
        message = sn_csv_unguard(message, r->plain);
    sn_buf_text(b, ",\"error\":{\"kind\":");
    sn_convert_quote(b, kind);
    if (message.len > 0) {
        sn_buf_text(b, ",\"message\":");
        sn_convert_quote(b, message);
    }
    sn_buf_char(b, '}');
}

static void
add_skip(const rows *r)
{
    add_member(r, "url", OWN_URL);
    add_member(r, "input", OWN_INPUT);
    add_member(r, "reason", OWN_ERROR_KIND);
    add_member(r, "rule", OWN_ERROR_MESSAGE);
}

static void
add_result(const rows *r)
{
    sn_buf *b = &r->c->made;
    sn_str outcome = r->csv.cells[OWN_OUTCOME], time = r->csv.cells[OWN_TIME_MS];

    add_member(r, "input", OWN_INPUT);
    add_member(r, "url", OWN_URL);
    add_member(r, "final_url", OWN_FINAL_URL);
    add_member(r, "outcome", OWN_OUTCOME);
    sn_buf_text(b, sn_str_eq(outcome, SN_STR("ok")) ? ",\"ok\":true" : ",\"ok\":false");
    add_number(r, "status", OWN_STATUS);
    add_error(r);
    add_number(r, "attempts", OWN_ATTEMPTS);
    add_member(r, "content_type", OWN_CONTENT_TYPE);
    add_number(r, "content_length", OWN_CONTENT_LENGTH);
    add_number(r, "bytes_body", OWN_BYTES_BODY);
    if (is_number(time)) {
        sn_buf_text(b, ",\"time\":{\"total\":");
        sn_buf_str(b, time);
        sn_buf_char(b, '}');
    }
    add_member(r, "title", OWN_TITLE);
    for (size_t i = 0; i < EXTRAS; i++)
        if (r->extra[i] > 0 && extras[i].is_number)
            add_number(r, extras[i].name, r->extra[i]);
        else if (r->extra[i] > 0)
            add_member(r, extras[i].name, r->extra[i]);
}

static bool
is_extra(const rows *r, size_t column)
{
    for (size_t i = 0; i < EXTRAS; i++)
        if (r->extra[i] == column)
            return true;
    return false;
}

static void
make_record(const rows *r)
{
    bool skip = sn_str_eq(r->csv.cells[OWN_OUTCOME], SN_STR("skip"));
    sn_buf *b = &r->c->made;

    sn_buf_text(b, skip ? "{\"v\":1,\"type\":\"skip\"" : "{\"v\":1,\"type\":\"result\"");
    add_number(r, "seq", OWN_SEQ);
    add_member(r, "ts", OWN_TS);
    if (skip)
        add_skip(r);
    else
        add_result(r);
    for (size_t i = OWN_COUNT; i < r->n; i++)
        if (!is_extra(r, i) && r->csv.cells[i].len > 0)
            sn_convert_lost(r->c, r->names[i]);
}

static void
make_object(const rows *r)
{
    sn_buf_char(&r->c->made, '{');
    for (size_t i = 0; i < r->n; i++) {
        add_name(&r->c->made, r->names[i]);
        sn_convert_quote(&r->c->made, r->csv.cells[i]);
    }
}

static seine_err
bad_head(rows *r, const char *what, sn_str name)
{
    char shown[SEINE_DIAG_FILE];
    char *copy = sn_arena_text(&r->c->keep, name);

    sn_diag_path(copy ? copy : "", shown);
    sn_diag_text(r->c->diag, "column '%s': %s", shown, what);
    sn_diag_place(r->c->diag, r->c->source.name, r->csv.line, 0);
    r->c->stats.bad++;
    return SEINE_E_PARSE;
}

/* Names become members, so they must be unique, valid UTF-8 and without NUL. */
static seine_err
keep_names(rows *r)
{
    sn_map once;
    seine_err e = SEINE_OK;

    r->names = SN_ARENA_ARRAY(&r->c->keep, sn_str, r->csv.n);
    if (!r->names)
        return SEINE_E_NOMEM;
    r->n = r->csv.n;
    sn_map_init(&once, r->n);
    for (size_t i = 0; e == SEINE_OK && i < r->n; i++) {
        sn_str cell = r->csv.cells[i];
        char *name = sn_arena_text(&r->c->keep, cell);

        if (!name)
            e = SEINE_E_NOMEM;
        else if (cell.len > SN_CSV_NAME)
            e = bad_head(r, "its name is longer than 1 KiB", cell);
        else if (memchr(name, '\0', cell.len) || !sn_utf8_valid(cell))
            e = bad_head(r, "its name is no text", cell);
        else {
            r->names[i] = (sn_str){name, cell.len};
            e = sn_map_add(&once, r->names[i], &r->names[i]);
        }
        if (e == SEINE_E_ALREADY)
            e = bad_head(r, "its name stands there twice", cell);
    }
    sn_map_fini(&once);
    return e;
}

static seine_err
take_head(rows *r)
{
    seine_err e = keep_names(r);

    r->is_own = e == SEINE_OK && r->n >= OWN_COUNT;
    for (size_t i = 0; r->is_own && i < OWN_COUNT; i++)
        r->is_own = sn_str_eq(r->names[i], sn_str_of(own_names[i]));
    for (size_t i = OWN_COUNT; r->is_own && i < r->n; i++)
        for (size_t k = 0; k < EXTRAS; k++)
            if (sn_str_eq(r->names[i], sn_str_of(extras[k].name)))
                r->extra[k] = i;
    return e;
}

static seine_err
take_row(rows *r)
{
    sn_convert *c = r->c;
    char text[SEINE_DIAG_TEXT];

    c->line = r->csv.line;
    c->column = 0;
    if (r->csv.flaw != SN_CSV_FINE) {
        c->line = r->csv.flaw_line;
        c->column = r->csv.flaw_column;
        if (!r->names) /* without names there are no rows */
            c->is_strict = true;
        return sn_convert_bad(c, sn_csv_flaw_text(r->csv.flaw));
    }
    if (r->csv.is_blank && (!r->names || r->n != 1))
        return SEINE_OK;
    if (!r->names)
        return take_head(r);
    if (r->csv.n != r->n) {
        if (r->csv.n < r->n) {
            char *name = sn_arena_text(&c->rr.arena, r->names[r->csv.n]);
            char shown[SEINE_DIAG_FILE];

            sn_diag_path(name ? name : "", shown);
            snprintf(text, sizeof text, "%zu cells under %zu columns: '%s' is missing",
                     r->csv.n, r->n, shown);
        } else {
            snprintf(text, sizeof text, "%zu cells under %zu columns", r->csv.n, r->n);
        }
        return sn_convert_bad(c, text);
    }
    sn_buf_reset(&c->made);
    if (r->is_own)
        make_record(r);
    else
        make_object(r);
    sn_buf_char(&c->made, '}');
    if (r->plain->err == SEINE_E_NOMEM)
        return SEINE_E_NOMEM;
    if (c->made.err != SEINE_OK)
        return c->made.err == SEINE_E_NOMEM ? SEINE_E_NOMEM
                                            : sn_convert_bad(c, "larger than 64 MiB");
    return sn_convert_line(c, sn_buf_view(&c->made));
}

static seine_err
refuse_utf16(sn_convert *c)
{
    sn_str first;
    seine_err e = sn_source_peek(&c->source, 2, &first, c->diag);

    if (e == SEINE_OK && (sn_str_starts(first, SN_STR("\xff\xfe")) ||
                          sn_str_starts(first, SN_STR("\xfe\xff")))) {
        sn_diag_text(c->diag, "%s: UTF-16 is not read: save it as UTF-8", c->source.name);
        return SEINE_E_PARSE;
    }
    return e;
}

seine_err
sn_convert_from_csv(sn_convert *c)
{
    sn_buf plain;
    rows r = {.c = c, .plain = &plain};
    sn_csv_event event = SN_CSV_MORE;
    sn_str block = {NULL, 0};
    bool is_last = false;
    seine_err e = refuse_utf16(c);

    sn_buf_init(&plain, SEINE_JSON_BYTES);
    sn_csv_reader_init(&r.csv, NULL);
    while (e == SEINE_OK && event != SN_CSV_END) {
        if (event == SN_CSV_MORE) {
            e = sn_source_next(&c->source, &block, c->diag);
            is_last = block.len == 0;
        }
        if (e == SEINE_OK)
            event = sn_csv_next(&r.csv, &block, is_last);
        if (e == SEINE_OK && event == SN_CSV_ROW)
            e = take_row(&r);
        if (event == SN_CSV_NOMEM)
            e = SEINE_E_NOMEM;
    }
    sn_csv_reader_fini(&r.csv);
    sn_buf_fini(&plain);
    return e;
}
