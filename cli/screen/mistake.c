/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/mistake.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/view.h>

#include "screen/say.h"

/* The n-th line of a text, from 1, without its end. */
static seine_view
line_of(seine_view text, uint64_t n)
{
    const char *at = text.ptr, *end = text.ptr + text.len, *stop;

    while (n > 1 && at < end && (stop = memchr(at, '\n', (size_t)(end - at)))) {
        at = stop + 1;
        n--;
    }
    stop = memchr(at, '\n', (size_t)(end - at));
    return (seine_view){at, (size_t)((stop ? stop : end) - at)};
}

/* Shows the line and a caret below the character; a long line from near the character. */
static void
show_place(seine_view text, uint64_t line, uint64_t column)
{
    enum { BEFORE = 70, MOST = 110 };
    seine_view v = line_of(text, line);
    char shown_line[4 * MOST];
    size_t from = 0, at = 0, left = column > 0 ? (size_t)column - 1 : 0;

    while (at < v.len && left > 0) {
        at++;
        while (at < v.len && (v.ptr[at] & 0xc0) == 0x80)
            at++;
        left--;
    }
    if (at > BEFORE)
        from = at - BEFORE;
    while (from < v.len && (v.ptr[from] & 0xc0) == 0x80)
        from++;
    size_t len = v.len - from < MOST ? v.len - from : MOST, caret = 0;
    for (size_t i = from; i < at; i++)
        caret += (v.ptr[i] & 0xc0) != 0x80;
    size_t n =
        seine_inert(v.ptr + from, len, SEINE_INERT_ROW, shown_line, sizeof shown_line);
    for (size_t i = 0; i < n && i < sizeof shown_line; i++)
        if (shown_line[i] == '\t')
            shown_line[i] = ' ';
    fprintf(stderr, "  %s%.*s\n  %*s^\n", from > 0 ? "…" : "",
            (int)(n < sizeof shown_line ? n : sizeof shown_line), shown_line,
            (int)caret + (from > 0), "");
}

void
mistake_split(const seine_diag *d, char what[SEINE_DIAG_TEXT], const char **out_hint)
{
    *out_hint = NULL;
    snprintf(what, SEINE_DIAG_TEXT, "%s", d->text);
    for (char *at = what; (at = strstr(at, "; try ")); at++)
        *out_hint = d->text + (at - what) + 6;
    if (*out_hint)
        what[(size_t)(*out_hint - 6 - d->text)] = '\0';
}

void
mistake_tell(const char *text, size_t len, const seine_diag *d)
{
    char what[SEINE_DIAG_TEXT];
    const char *hint;

    mistake_split(d, what, &hint);
    say_note("%s:%" PRIu64 ":%" PRIu64 ": %s", d->file, d->line, d->column, what);
    if (d->line > 0)
        show_place((seine_view){text, len}, d->line, d->column);
    if (hint)
        fprintf(stderr, "try: %s\n", show(hint).text);
}
