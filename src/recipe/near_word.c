/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/near_word.h"

enum { LONGEST = 64 };

static bool
is_same(char a, char b)
{
    return sn_lower(a == '_' ? '-' : a) == sn_lower(b == '_' ? '-' : b);
}

static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The distance of Damerau and Levenshtein, over three rows of its table. */
unsigned
sn_near_slips(sn_str a, sn_str b)
{
    unsigned rows[3][LONGEST + 1];

    if (a.len > LONGEST || b.len > LONGEST)
        return SN_NEAR_FAR;
    for (unsigned j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3];
        unsigned *before = rows[(i + 1) % 3];

        now[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            unsigned best = last[j - 1] + !is_same(a.ptr[i - 1], b.ptr[j - 1]);

            best = least(best, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && is_same(a.ptr[i - 1], b.ptr[j - 2]) &&
                is_same(a.ptr[i - 2], b.ptr[j - 1]))
                best = least(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return rows[a.len % 3][b.len];
}

/* The one word of which `word` is the beginning: "unique" of "uniq", but not "output-dir"
 * of "output", which is a word of its own. NULL: none, or several. */
static const char *
longer_word(sn_str word, const char *const *words)
{
    const char *best = NULL;

    for (size_t i = 0; words[i]; i++) {
        sn_str known = sn_str_of(words[i]);

        if (word.len < 3 || known.len <= word.len || known.ptr[word.len] == '-' ||
            sn_near_slips(word, sn_str_slice(known, 0, word.len)) > 0)
            continue;
        if (best)
            return NULL;
        best = words[i];
    }
    return best;
}

const char *
sn_near_word(sn_str word, const char *const *words)
{
    const char *best = NULL;
    unsigned slips = 3;

    for (size_t i = 0; words[i]; i++) {
        unsigned n = sn_near_slips(word, sn_str_of(words[i]));
        if (n < slips && n < (word.len + 1) / 2) {
            slips = n;
            best = words[i];
        }
    }
    return best ? best : longer_word(word, words);
}
