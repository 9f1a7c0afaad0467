/* SPDX-License-Identifier: Apache-2.0 */
#include "text/ignore_marks.h"

#include <string.h>

typedef struct range {
    uint32_t first, last;
} range;

typedef enum mark { MARK_NONE, MARK_LINE, MARK_NEXT, MARK_BEGIN, MARK_END } mark;

/* Reads "seine-ignore…" at the beginning and moves `s` behind it. */
static mark
word_of(sn_str *s)
{
    static const struct {
        sn_str word;
        mark mark;
    } words[] = {{{"seine-ignore-begin", 18}, MARK_BEGIN},
                 {{"seine-ignore-start", 18}, MARK_BEGIN},
                 {{"seine-ignore-end", 16}, MARK_END},
                 {{"seine-ignore", 12}, MARK_LINE}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sn_str_starts(*s, words[i].word)) {
            *s = sn_str_slice(*s, words[i].word.len, s->len);
            return words[i].mark;
        }
    return MARK_NONE;
}

/* Blanks at the end stay: a line with many marks would be searched to its end for each.
 */
static sn_str
after_space(sn_str s)
{
    while (s.len > 0 && sn_is_space(s.ptr[0]))
        s = sn_str_slice(s, 1, s.len);
    return s;
}

static mark
html_mark(sn_str line)
{
    const char *at = line.ptr;
    size_t left = line.len;

    while (left > 0 && (at = memmem(at, left, "<!--", 4)) != NULL) {
        sn_str before = {line.ptr, (size_t)(at - line.ptr)};
        sn_str s = after_space((sn_str){at + 4, line.len - before.len - 4});
        mark m = word_of(&s);

        s = after_space(s);
        if (m != MARK_NONE && sn_str_starts(s, SN_STR("-->"))) {
            bool alone = sn_str_trim(before).len == 0 &&
                         sn_str_trim(sn_str_slice(s, 3, s.len)).len == 0;

            return m == MARK_LINE && alone ? MARK_NEXT : m;
        }
        at += 4;
        left = line.len - (size_t)(at - line.ptr);
    }
    return MARK_NONE;
}

static mark
rst_mark(sn_str line)
{
    sn_str s = sn_str_trim(line);

    if (!sn_str_starts(s, SN_STR(".. ")))
        return MARK_NONE;
    s = sn_str_trim(sn_str_slice(s, 3, s.len));
    mark m = word_of(&s);
    return s.len > 0 ? MARK_NONE : m == MARK_LINE ? MARK_NEXT : m;
}

/* Adds a range. Those it contains go, so that ranges stay in order and apart. */
static void
add_range(sn_buf *ranges, range r)
{
    while (ranges->len > 0) {
        const range *last = (const range *)(const void *)(ranges->ptr + ranges->len) - 1;

        if (last->last < r.first)
            break;
        if (last->first < r.first)
            r.first = last->first;
        if (last->last > r.last)
            r.last = last->last;
        sn_buf_truncate(ranges, ranges->len - sizeof r);
    }
    sn_buf_add(ranges, &r, sizeof r);
}

void
sn_ignore_marks(sn_str text, bool is_rst, sn_buf *out_ranges)
{
    sn_str rest = text, line;
    uint32_t n = 0, begin = 0, next = 0; /* lines on which a range began; 0: none */

    if (text.len == 0 || !memmem(text.ptr, text.len, "seine-ignore", 12))
        return;
    while (sn_str_next(&rest, '\n', &line)) {
        mark m = is_rst ? rst_mark(line) : html_mark(line);
        bool is_blank = sn_str_trim(line).len == 0;

        n++;
        if (next > 0 && is_blank && n > next + 1) {
            add_range(out_ranges, (range){next + 1, n - 1});
            next = 0;
        } else if (next > 0 && is_blank) {
            next = n; /* the paragraph has not begun */
        }
        if (m == MARK_LINE)
            add_range(out_ranges, (range){n, n});
        if (m == MARK_NEXT)
            next = n;
        if (m == MARK_BEGIN && begin == 0)
            begin = n;
        if (m == MARK_END && begin > 0) {
            add_range(out_ranges, (range){begin, n});
            begin = 0;
        }
    }
    uint32_t open = begin > 0 ? begin : next;
    if (open > 0)
        add_range(out_ranges, (range){open, UINT32_MAX});
}

bool
sn_is_ignored(const sn_buf *ranges, uint32_t line)
{
    const range *all = (const range *)(const void *)ranges->ptr;
    size_t from = 0, to = ranges->len / sizeof *all;

    while (from < to) {
        size_t mid = (from + to) / 2;

        if (all[mid].last < line)
            from = mid + 1;
        else
            to = mid;
    }
    return from < ranges->len / sizeof *all && all[from].first <= line;
}
