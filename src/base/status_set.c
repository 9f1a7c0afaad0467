/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/status_set.h"

#include <string.h>

#include "base/str.h"

enum { WORDS = sizeof(seine_status_set) / sizeof(uint64_t) };

_Static_assert(sizeof(seine_status_set) == 80, "status_set.h says so");
_Static_assert(WORDS * 64 == 640, "status_set.h says so");

bool
seine_status_set_has(const seine_status_set *set, unsigned status)
{
    if (!set)
        return false;
    return status / 64 < WORDS && (set->words[status / 64] >> status % 64 & 1) != 0;
}

void
seine_status_set_add(seine_status_set *set, unsigned first, unsigned last)
{
    if (!set)
        return;
    for (unsigned s = first; s <= last && s / 64 < WORDS; s++)
        set->words[s / 64] |= UINT64_C(1) << s % 64;
}

void
seine_status_set_remove(seine_status_set *set, unsigned first, unsigned last)
{
    if (!set)
        return;
    for (unsigned s = first; s <= last && s / 64 < WORDS; s++)
        set->words[s / 64] &= ~(UINT64_C(1) << s % 64);
}

/* Reads three digits. */
static bool
read_code(const char *text, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 3; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *out = 10 * *out + (unsigned)(text[i] - '0');
    }
    return true;
}

/* Reads 200, 200-299 or 2xx. */
static bool
read_range(sn_str word, unsigned *out_first, unsigned *out_last)
{
    enum { FIRST = 100, LAST = 599 };

    if (word.len == 3 && word.ptr[0] >= '0' && word.ptr[0] <= '9' &&
        (word.ptr[1] | 32) == 'x' && (word.ptr[2] | 32) == 'x') {
        *out_first = 100 * (unsigned)(word.ptr[0] - '0');
        *out_last = *out_first + 99;
    } else if (word.len == 3) {
        if (!read_code(word.ptr, out_first))
            return false;
        *out_last = *out_first;
    } else if (word.len != 7 || word.ptr[3] != '-' || !read_code(word.ptr, out_first) ||
               !read_code(word.ptr + 4, out_last)) {
        return false;
    }
    return *out_first >= FIRST && *out_last <= LAST && *out_first <= *out_last;
}

/* The bit of a word in a list; 0: it is not there. */
static uint32_t
find_also(sn_str word, const char *const *also)
{
    for (unsigned i = 0; also && also[i]; i++)
        if (sn_str_eq(word, sn_str_of(also[i])))
            return UINT32_C(1) << i;
    return 0;
}

seine_err
seine_status_set_parse(const char *text, const char *const *also,
                       seine_status_set *out_set, uint32_t *out_also, seine_view *out_bad)
{
    if (!out_bad)
        return SEINE_E_INVAL;
    seine_status_set set = {{0}};
    uint32_t bits = 0;

    for (const char *p = text, *end; p; p = *end ? end + 1 : NULL) {
        end = p + strcspn(p, ",");
        bool is_removed = *p == '!';
        sn_str word = {p + is_removed, (size_t)(end - p) - is_removed};
        uint32_t bit = find_also(word, also);
        unsigned first, last;

        if (bit) {
            bits = is_removed ? bits & ~bit : bits | bit;
        } else if (!read_range(word, &first, &last)) {
            *out_bad = (seine_view){word.ptr, word.len};
            return SEINE_E_PARSE;
        } else if (is_removed) {
            seine_status_set_remove(&set, first, last);
        } else {
            seine_status_set_add(&set, first, last);
        }
    }
    *out_set = set;
    if (out_also)
        *out_also = bits;
    return SEINE_OK;
}
