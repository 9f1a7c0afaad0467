/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "store/csv_read.h"
#include "store/input.h"
#include "store/text_writer.h"

/*
 * CSV rows: one column is the URL, the others become tags. A row may span several lines;
 * their newlines are given back to the CSV reader, since a cell may hold them.
 */

struct sn_input_rows {
    sn_csv_reader csv;
    sn_arena keep;  /* memory of the header */
    sn_str *names;  /* NULL: before the header line */
    bool *is_again; /* a duplicate name, which JSON cannot hold */
    size_t n, url;
    sn_buf tags;
    sn_str rest; /* rest of the current line */
    bool owes_end, is_long;
};

seine_err
sn_input_csv_new(seine_input *in)
{
    in->rows = sn_zalloc(sizeof *in->rows);
    if (!in->rows)
        return SEINE_E_NOMEM;
    sn_csv_reader_init(&in->rows->csv, NULL);
    sn_arena_init(&in->rows->keep, 4096, 4 * SN_LINE_MAX);
    sn_buf_init(&in->rows->tags, 8 * SN_LINE_MAX);
    return SEINE_OK;
}

void
sn_input_csv_free(struct sn_input_rows *rows)
{
    if (!rows)
        return;
    sn_csv_reader_fini(&rows->csv);
    sn_arena_fini(&rows->keep);
    sn_buf_fini(&rows->tags);
    sn_free(rows);
}

/* Reads the next row, from as many lines as it spans. */
static sn_csv_event
pull(seine_input *in)
{
    struct sn_input_rows *rows = in->rows;

    for (;;) {
        while (rows->rest.len > 0) {
            sn_csv_event event = sn_csv_next(&rows->csv, &rows->rest, false);

            if (event != SN_CSV_MORE)
                return event;
        }
        if (rows->owes_end) {
            rows->owes_end = false;
            rows->rest = SN_STR("\n");
            continue;
        }
        sn_line_kind kind = atomic_load(&in->stopped)
                                ? SN_LINE_NONE
                                : sn_lines_next(&in->lines, &rows->rest);
        if (kind == SN_LINE_NONE) {
            rows->rest = SN_STR("");
            return in->lines.error ? SN_CSV_END
                                   : sn_csv_next(&rows->csv, &rows->rest, true);
        }
        rows->owes_end = true;
        rows->is_long |= kind == SN_LINE_LONG;
    }
}

static seine_err
fail_input(seine_input *in, const char *what)
{
    sn_diag_text(&in->diag, "%s", what);
    sn_diag_place(&in->diag, in->name, 0, 0);
    return SEINE_E_IO;
}

static seine_err
mark_again(struct sn_input_rows *rows)
{
    sn_map once;
    seine_err e = SEINE_OK;

    rows->is_again = SN_ARENA_ARRAY(&rows->keep, bool, rows->n);
    if (!rows->is_again)
        return SEINE_E_NOMEM;
    sn_map_init(&once, rows->n);
    for (size_t i = 0; e == SEINE_OK && i < rows->n; i++) {
        if (i == rows->url)
            continue;
        e = sn_map_add(&once, rows->names[i], &rows->names[i]);
        rows->is_again[i] = e == SEINE_E_ALREADY;
        e = e == SEINE_E_ALREADY ? SEINE_OK : e;
    }
    sn_map_fini(&once);
    return e;
}

static seine_err
take_head(seine_input *in)
{
    struct sn_input_rows *rows = in->rows;

    if (rows->csv.flaw)
        return fail_input(in, sn_csv_flaw_text(rows->csv.flaw));
    rows->n = rows->csv.n;
    rows->url = rows->n;
    rows->names = SN_ARENA_ARRAY(&rows->keep, sn_str, rows->n);
    if (!rows->names)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < rows->n; i++) {
        sn_str name = sn_str_trim(rows->csv.cells[i]);
        char *copy = sn_arena_text(&rows->keep, name);

        if (!copy)
            return SEINE_E_NOMEM;
        if (name.len > SN_CSV_NAME)
            return fail_input(in, "the name of a column is longer than 1 KiB");
        if (memchr(copy, '\0', name.len) || !sn_utf8_valid(name))
            return fail_input(in, "the name of a column is no text");
        rows->names[i] = (sn_str){copy, name.len};
        if (rows->url == rows->n && sn_str_eq(name, sn_str_of(in->url_column)))
            rows->url = i;
    }
    if (rows->url < rows->n)
        return mark_again(rows);
    (void)sn_diag_option(&in->diag, "url_column", "no column '%.64s'", in->url_column);
    sn_diag_place(&in->diag, in->name, 0, 0);
    return SEINE_E_IO;
}

static void
add_quoted(sn_buf *b, sn_str text)
{
    size_t most = 6 * text.len + 2;
    char *room = sn_buf_reserve(b, most);
    sn_text_writer p = sn_text_writer_on(room, room ? most : 0);

    sn_text_writer_quoted(&p, text);
    if (room)
        sn_buf_commit(b, sn_text_writer_len(&p));
}

static void
make_tags(struct sn_input_rows *rows)
{
    sn_buf *b = &rows->tags;

    sn_buf_reset(b);
    sn_buf_char(b, '{');
    for (size_t i = 0; i < rows->n; i++) {
        if (i == rows->url || rows->is_again[i])
            continue;
        sn_buf_text(b, b->len > 1 ? "," : "");
        add_quoted(b, rows->names[i]);
        sn_buf_char(b, ':');
        add_quoted(b, rows->csv.cells[i]);
    }
    sn_buf_char(b, '}');
}

static seine_err
bad(seine_input *in, seine_ask *ask)
{
    struct sn_input_rows *rows = in->rows;
    sn_str shown = rows->csv.cells[rows->url < rows->csv.n ? rows->url : 0];

    sn_input_bad(in, SEINE_SKIP_BAD_INPUT, shown, ask);
    return SEINE_OK;
}

static seine_err
take_row(seine_input *in, seine_ask *ask)
{
    struct sn_input_rows *rows = in->rows;
    bool good = false, is_long = rows->is_long;

    rows->is_long = rows->owes_end && is_long; /* the rest of a long line is long too */
    ask->line = rows->csv.line;
    if (is_long)
        sn_diag_text(&in->bad, "the line is longer than 1 MiB");
    else if (rows->csv.flaw)
        sn_diag_text(&in->bad, "line %llu, column %llu: %s",
                     (unsigned long long)rows->csv.flaw_line,
                     (unsigned long long)rows->csv.flaw_column,
                     sn_csv_flaw_text(rows->csv.flaw));
    else if (rows->csv.n != rows->n)
        sn_diag_text(&in->bad, "%zu cells under %zu columns", rows->csv.n, rows->n);
    else
        good = true;
    if (!good)
        return bad(in, ask);

    sn_str url = sn_str_trim(rows->csv.cells[rows->url]);
    if (url.len == 0 || memchr(url.ptr, '\0', url.len)) {
        sn_diag_text(&in->bad, url.len == 0 ? "there is no URL in the row"
                                            : "the URL has a zero byte");
        return bad(in, ask);
    }
    ask->url = ask->input = url;
    if (rows->n == 1)
        return SEINE_OK;
    make_tags(rows);
    if (rows->tags.err == SEINE_E_FULL) {
        sn_diag_text(&in->bad, "the row is larger than 8 MiB");
        return bad(in, ask);
    }
    ask->tags = sn_buf_view(&rows->tags);
    return rows->tags.err;
}

seine_err
sn_input_csv(seine_input *in, seine_ask *ask)
{
    struct sn_input_rows *rows = in->rows;

    for (;;) {
        seine_err e;

        switch (pull(in)) {
        case SN_CSV_NOMEM:
            return SEINE_E_NOMEM;
        case SN_CSV_ROW:
            break;
        default:
            return SEINE_E_CLOSED;
        }
        if (rows->csv.is_blank && (!rows->names || rows->n != 1))
            continue;
        if (rows->names)
            return take_row(in, ask);
        e = take_head(in);
        if (e != SEINE_OK)
            return e;
    }
}
