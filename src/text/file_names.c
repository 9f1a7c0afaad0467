/* SPDX-License-Identifier: Apache-2.0 */
#include "text/file_names.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "text/file_name.h"

static int
compare_bytes(char a, char b)
{
    unsigned char x = (unsigned char)sn_lower(a), y = (unsigned char)sn_lower(b);

    return (x > y) - (x < y);
}

/* Without regard to the case of ASCII letters. A slash sorts before everything else, so
 * that a directory stands right before what is in it. */
static int
compare_names(sn_str a, sn_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;

    for (size_t i = 0; i < n; i++) {
        int d = compare_bytes(a.ptr[i], b.ptr[i]);

        if (d != 0)
            return a.ptr[i] == '/' ? -1 : b.ptr[i] == '/' ? 1 : d;
    }
    return (a.len > b.len) - (a.len < b.len);
}

static int
compare_claims(const void *a, const void *b)
{
    const sn_file_claim *x = *(sn_file_claim *const *)a, *y = *(sn_file_claim *const *)b;
    int d = compare_names(x->natural, y->natural);

    return d != 0 ? d : sn_str_cmp(x->key, y->key);
}

/* Whether `name` is `whole`, or a directory of it. */
static bool
is_above(sn_str name, sn_str whole)
{
    return name.len <= whole.len &&
           compare_names(name, sn_str_slice(whole, 0, name.len)) == 0 &&
           (name.len == whole.len || whole.ptr[name.len] == '/');
}

/* Whether a natural name is this one, or lies below it. */
static bool
is_wanted(sn_file_claim *const *sorted, size_t n, sn_str name)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_names(sorted[middle]->natural, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && is_above(name, sorted[low]->natural);
}

static seine_err
give_other(sn_file_claim *const *sorted, size_t n, sn_file_claim *c, sn_arena *arena)
{
    sn_buf name;
    seine_err e;

    sn_buf_init(&name, 2 * (size_t)SN_FILE_PATH);
    for (unsigned salt = 0;; salt++) {
        sn_buf_reset(&name);
        e = sn_file_name_apart(c->natural, c->key, salt, &name);
        if (e != SEINE_OK || !is_wanted(sorted, n, sn_buf_view(&name)))
            break;
    }
    const char *copy = e == SEINE_OK ? sn_arena_text(arena, sn_buf_view(&name)) : NULL;
    c->name = (sn_str){copy, copy ? name.len : 0};
    sn_buf_fini(&name);
    return e != SEINE_OK ? e : copy ? SEINE_OK : SEINE_E_NOMEM;
}

seine_err
sn_file_names_give(sn_file_claim *claims, size_t n, sn_arena *arena)
{
    sn_file_claim **sorted = sn_alloc((n + 1) * sizeof(sn_file_claim *));
    seine_err e = SEINE_OK;

    if (!sorted)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        sorted[i] = &claims[i];
    qsort(sorted, n, sizeof *sorted, compare_claims);
    for (size_t i = 0, same; i < n && e == SEINE_OK; i = same) {
        sn_str name = sorted[i]->natural;

        for (same = i + 1; same < n && compare_names(name, sorted[same]->natural) == 0;
             same++)
            ;
        bool is_directory = same < n && is_above(name, sorted[same]->natural);
        if (!is_directory)
            sorted[i]->name = name;
        for (size_t j = i + !is_directory; j < same && e == SEINE_OK; j++)
            e = give_other(sorted, n, sorted[j], arena);
    }
    sn_free(sorted);
    return e;
}
