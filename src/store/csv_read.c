/* SPDX-License-Identifier: Apache-2.0 */
#include "store/csv_read.h"

#include <string.h>

#include "base/alloc.h"

enum { FEWEST = 32 }; /* room for cells at first */

void
sn_csv_reader_init(sn_csv_reader *r, const sn_csv_limits *limits)
{
    *r = (sn_csv_reader){.limits = SN_CSV_LIMITS, .is_new = true};
    if (limits)
        r->limits = *limits;
    sn_buf_init(&r->text, r->limits.row);
}

void
sn_csv_reader_fini(sn_csv_reader *r)
{
    sn_buf_fini(&r->text);
    sn_free(r->ends);
    sn_free(r->views);
    r->ends = NULL;
    r->views = NULL;
}

const char *
sn_csv_flaw_text(sn_csv_flaw flaw)
{
    static const char *const texts[] = {
        "fine",
        "text behind a closing quote",
        "a quote that nobody closes",
        "a cell larger than the limit",
        "a row larger than the limit",
        "more columns than the limit",
    };

    return texts[flaw];
}

/* Sets the flaw of a row, unless it has one. Its place is here, or where the cell
 * begins. */
static void
mar(sn_csv_reader *r, sn_csv_flaw flaw)
{
    bool here = flaw == SN_CSV_BEHIND || flaw == SN_CSV_MANY_COLUMNS;

    if (r->flaw != SN_CSV_FINE)
        return;
    r->flaw = flaw;
    r->flaw_line = here ? r->lines + 1 : r->cell_line;
    r->flaw_column = here ? r->at - r->line_at + 1 : r->cell_column;
}

static void
begin_cell(sn_csv_reader *r)
{
    r->cell_line = r->lines + 1;
    r->cell_column = r->at - r->line_at + 1;
}

/* Appends bytes to the cell; drops those beyond a limit. */
static void
add_bytes(sn_csv_reader *r, const char *bytes, size_t n)
{
    size_t cell = r->limits.cell - (r->text.len - r->begun);
    size_t row = r->limits.row - r->text.len;

    if (r->flaw >= SN_CSV_LONG_CELL)
        return;
    if (n > cell || n > row)
        mar(r, row < cell ? SN_CSV_LONG_ROW : SN_CSV_LONG_CELL);
    else
        sn_buf_add(&r->text, bytes, n);
}

static bool
make_room(sn_csv_reader *r)
{
    size_t room = r->room ? 2 * r->room : FEWEST;
    size_t *ends = sn_realloc(r->ends, room * sizeof *ends);

    if (!ends)
        return false;
    r->ends = ends;

    sn_str *views = sn_realloc(r->views, room * sizeof *views);
    if (!views)
        return false;
    r->views = views;
    r->room = room;
    return true;
}

static bool
end_cell(sn_csv_reader *r)
{
    r->state = SN_CSV_AT_CELL;
    r->begun = r->text.len;
    if (r->count == r->limits.columns) {
        mar(r, SN_CSV_MANY_COLUMNS);
        return true;
    }
    if (r->count == r->room && !make_room(r))
        return false;
    r->ends[r->count++] = r->text.len;
    return true;
}

/* Makes the row visible to the caller. */
static sn_csv_event
show(sn_csv_reader *r)
{
    size_t from = 0;

    if (r->text.err == SEINE_E_NOMEM)
        return SN_CSV_NOMEM;
    for (size_t i = 0; i < r->count; i++) {
        r->views[i] = (sn_str){r->text.ptr ? r->text.ptr + from : "", r->ends[i] - from};
        from = r->ends[i];
    }
    r->cells = r->views;
    r->n = r->count;
    r->is_blank = r->count == 1 && r->text.len == 0 && !r->is_quoted && !r->flaw;
    r->is_new = true;
    return SN_CSV_ROW;
}

static void
begin_row(sn_csv_reader *r)
{
    sn_buf_reset(&r->text);
    r->count = r->begun = r->n = 0;
    r->is_new = r->is_quoted = r->is_begun = false;
    r->flaw = SN_CSV_FINE;
    r->line = r->lines + 1;
}

/* Counts a line that ends after the byte at `at`. */
static void
count_line(sn_csv_reader *r, char c)
{
    if (!(c == '\n' && r->was_cr))
        r->lines++;
    r->line_at = r->at + 1;
}

/* Counts line breaks inside quotes, where they are text. */
static void
count_lines(sn_csv_reader *r, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++, r->at++) {
        if (bytes[i] == '\n' || bytes[i] == '\r')
            count_line(r, bytes[i]);
        r->was_cr = bytes[i] == '\r';
    }
}

static size_t
take_quoted(sn_csv_reader *r, sn_str in)
{
    const char *quote = memchr(in.ptr, '"', in.len);
    size_t n = quote ? (size_t)(quote - in.ptr) : in.len;

    add_bytes(r, in.ptr, n);
    count_lines(r, in.ptr, n);
    if (quote) {
        r->state = SN_CSV_AT_QUOTE;
        r->was_cr = false;
        r->at++;
    }
    return n + (quote != NULL);
}

static bool
ends_plain(char c)
{
    return c == ',' || c == '\n' || c == '\r';
}

static size_t
take_plain(sn_csv_reader *r, sn_str in)
{
    size_t n = 0;

    while (n < in.len && !ends_plain(in.ptr[n]))
        n++;
    add_bytes(r, in.ptr, n);
    r->at += n;
    r->was_cr = false;
    return n;
}

/* Handles a separator, a line end or a quote. False: the byte begins plain text. */
static bool
take_mark(sn_csv_reader *r, char c, sn_csv_event *out_event)
{
    if (r->state == SN_CSV_AT_CELL)
        begin_cell(r);
    if (c == '"' && r->state == SN_CSV_AT_CELL) {
        r->state = SN_CSV_IN_QUOTES;
        r->is_quoted = true;
    } else if (c == '"' && r->state == SN_CSV_AT_QUOTE) {
        r->state = SN_CSV_IN_QUOTES;
        add_bytes(r, &c, 1);
    } else if (c == ',') {
        if (!end_cell(r))
            *out_event = SN_CSV_NOMEM;
    } else if (c == '\n' || c == '\r') {
        bool ended = end_cell(r); /* before the line count moves on */

        count_line(r, c);
        *out_event = ended ? show(r) : SN_CSV_NOMEM;
    } else {
        if (r->state == SN_CSV_AT_QUOTE)
            mar(r, SN_CSV_BEHIND);
        r->state = SN_CSV_IN_PLAIN;
        return false;
    }
    r->was_cr = c == '\r';
    r->at++;
    return true;
}

/* Skips a byte order mark, which may come in pieces; its beginning alone is text. */
static bool
pass_mark(sn_csv_reader *r, sn_str *in)
{
    static const char bom[] = "\xef\xbb\xbf";

    while (r->mark < 3 && in->len > 0) {
        if (*in->ptr != bom[r->mark])
            return true;
        r->mark++;
        in->ptr++;
        in->len--;
    }
    return r->mark == 3;
}

/* The beginning of a byte order mark was text. */
static void
settle_mark(sn_csv_reader *r)
{
    if (r->mark > 0 && r->mark < 3) {
        begin_cell(r);
        r->state = SN_CSV_IN_PLAIN;
        r->is_begun = true;
        add_bytes(r, "\xef\xbb\xbf", r->mark);
        r->at += r->mark;
    }
    r->mark = 3;
}

static sn_csv_event
finish_row(sn_csv_reader *r)
{
    if (!r->is_begun)
        return SN_CSV_END;
    if (r->state == SN_CSV_IN_QUOTES)
        mar(r, SN_CSV_OPEN);
    return end_cell(r) ? show(r) : SN_CSV_NOMEM;
}

sn_csv_event
sn_csv_next(sn_csv_reader *r, sn_str *in, bool last)
{
    if (r->is_new)
        begin_row(r);
    if (r->mark < 3) {
        if (!pass_mark(r, in) && !last)
            return SN_CSV_MORE;
        settle_mark(r);
    }
    while (in->len > 0) {
        sn_csv_event event = SN_CSV_MORE;
        size_t n = 1;

        if (*in->ptr == '\n' && r->was_cr && !r->is_begun) { /* the LF of CR LF */
            r->was_cr = false;
            r->line_at = ++r->at;
        } else if (r->state == SN_CSV_IN_QUOTES) {
            n = take_quoted(r, *in);
        } else if (r->state == SN_CSV_IN_PLAIN && !ends_plain(*in->ptr)) {
            n = take_plain(r, *in);
        } else {
            n = take_mark(r, *in->ptr, &event);
            r->is_begun = true;
        }
        in->ptr += n;
        in->len -= n;
        if (event == SN_CSV_NOMEM || r->text.err == SEINE_E_NOMEM)
            return SN_CSV_NOMEM;
        if (event == SN_CSV_ROW)
            return event;
    }
    return last ? finish_row(r) : SN_CSV_MORE;
}
