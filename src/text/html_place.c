/* SPDX-License-Identifier: Apache-2.0 */
/* Positions in a page: lines, counted only as far as an event needs them, and scripts,
 * whose text is the bytes between two positions. */
#include <string.h>

#include "text/html.h"

/* Counts the line feeds of eight bytes: a byte that differs sets its top bit in
 * `other`. */
static uint32_t
newlines(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low = ones * 0x7f;
    uint64_t v = x ^ ones * '\n', other = ((v & low) + low) | v;

    return 8 - (uint32_t)((other >> 7 & ones) * ones >> 56);
}

/* Counts in blocks of constant size, which the compiler vectorizes. */
static uint32_t
line_feeds(const char *p, size_t n)
{
    enum { BLOCK = 64 };
    uint32_t all = 0;

    for (; n >= BLOCK; p += BLOCK, n -= BLOCK) {
        uint8_t hits = 0;

        for (int i = 0; i < BLOCK; i++)
            hits = (uint8_t)(hits + (p[i] == '\n'));
        all += hits;
    }
    for (uint64_t x; n >= sizeof x; p += sizeof x, n -= sizeof x) {
        memcpy(&x, p, sizeof x);
        all += newlines(x);
    }
    for (; n > 0; p++, n--)
        all += *p == '\n';
    return all;
}

/* Counts lines up to `to`, which lies in this piece. Each byte is searched once. */
static void
count_lines(sn_html *t, uint64_t to)
{
    const char *p = t->piece + (t->counted - t->fed);
    size_t n = (size_t)(to - t->counted);
    uint32_t more = line_feeds(p, n);

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
