/* SPDX-License-Identifier: Apache-2.0 */
/* Positions in a page: lines, counted only as far as an event needs them, and scripts,
 * whose text is the bytes between two positions. */
#include <string.h>

#include "base/scan.h"
#include "text/html.h"

/* Counts lines up to `to`, which lies in this piece. Each byte is searched once. */
static void
count_lines(sn_html *t, uint64_t to)
{
    const char *p = t->piece + (t->counted - t->fed);
    size_t n = (size_t)(to - t->counted);
    uint32_t more = (uint32_t)sn_scan_count(p, n, '\n');

    t->counted = to;
    if (more == 0)
        return;
    const char *last = memrchr(p, '\n', n);
    t->line += more;
    t->line_at = t->fed + (uint64_t)(last - t->piece) + 1;
}

static sn_html_place
place_of_tag(const sn_html *t)
{
    uint64_t col = t->tag_at - t->line_at + 1;

    return (sn_html_place){t->tag_at, t->line + 1,
                           (uint32_t)(col < UINT32_MAX ? col : UINT32_MAX)};
}

sn_html_place
sn_html_here(sn_html *t)
{
    if (!t->opts.lines)
        return (sn_html_place){.offset = t->tag_at};
    if (t->tag_at < t->counted)
        return t->early;
    count_lines(t, t->tag_at);
    return place_of_tag(t);
}

void
sn_html_piece_lines(sn_html *t, size_t n)
{
    if (t->tag_at >= t->counted) {
        count_lines(t, t->tag_at);
        t->early = place_of_tag(t);
    }
    count_lines(t, t->fed + n);
}

void
sn_html_script_upto(sn_html *t, uint64_t to)
{
    uint64_t have = t->script_from + t->script.len;

    if (to <= have) {
        sn_buf_truncate(&t->script, (size_t)(to - t->script_from));
        t->script_cut = false;
        return;
    }
    if (t->script_cut)
        return;
    size_t more = (size_t)(to - have), room = t->script.cap - t->script.len;
    t->script_cut = more > room;
    sn_buf_add(&t->script, t->piece + (have - t->fed), more < room ? more : room);
}
