/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fingerprint_set_parts.h"

#define BLOCK 1024 /* fingerprints per call of `each` */

static void
sort_fps(uint64_t *fps, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        uint64_t fp = fps[i];
        unsigned at = i;

        for (; at > 0 && fps[at - 1] > fp; at--)
            fps[at] = fps[at - 1];
        fps[at] = fp;
    }
}

/* A sorted source of fingerprints that is being merged. */
typedef struct source {
    const uint64_t *at, *end;
} source;

static source
source_from(const uint64_t *fps, uint64_t n, uint64_t from)
{
    return (source){fps + sn_fp_lower_bound(fps, n, from), fps + n};
}

/* Takes the smallest of three, unless it is above `last`. */
static bool
take_least(source from[3], uint64_t last, uint64_t *out_fp)
{
    source *least = NULL;

    for (int i = 0; i < 3; i++)
        if (from[i].at < from[i].end && *from[i].at <= last &&
            (!least || *from[i].at < *least->at))
            least = &from[i];
    if (least)
        *out_fp = *least->at++;
    return least;
}

/* Lists one table up to `last` from *from on, and advances *from. */
static uint32_t
list_table(const sn_fptable *t, uint64_t *from, uint64_t last, source merged[3],
           uint32_t cap, uint64_t *out_fps)
{
    uint64_t mine[SN_FPBUCKET_MOST], h = sn_fptable_home(t, *from),
                                     end = sn_fptable_home(t, last);
    sn_fpspan at = sn_fpspan_at(t->nb, h);
    uint32_t n = 0;

    for (; h <= end; h++) {
        uint64_t first = sn_fpspan_first(&at), before;
        sn_fpspan_next(&at);
        before = h < end ? sn_fpspan_first(&at) - 1 : last;

        unsigned found = sn_fptable_gather(t, h, first, mine);
        sort_fps(mine, found);
        merged[0] = source_from(mine, found, *from);
        while (n < cap && take_least(merged, before, &out_fps[n]))
            n++;
        if (n == cap)
            break;
        *from = before + 1;
    }
    merged[0] = (source){0}; /* `mine` ends here */
    return n;
}

uint32_t
sn_fingerprint_set_list(const sn_fingerprint_set *s, uint64_t from, uint32_t cap,
                        uint64_t *out_fps)
{
    source merged[3] = {{0}};
    uint32_t n = 0;

    if (!s->now.base)
        return 0;
    merged[1] = source_from(s->side, s->sorted, from);
    merged[2] = source_from(s->side + s->sorted, s->n_side - s->sorted, from);

    if (s->old.base && s->cursor > 0) {
        sn_fpspan edge = sn_fpspan_at(s->old.nb, s->cursor);

        if (from < sn_fpspan_first(&edge))
            n = list_table(&s->now, &from, sn_fpspan_first(&edge) - 1, merged, cap,
                           out_fps);
    }
    if (n < cap)
        n += list_table(s->old.base ? &s->old : &s->now, &from, UINT64_MAX, merged,
                        cap - n, out_fps + n);
    return n;
}

seine_err
sn_fingerprint_set_each(const sn_fingerprint_set *s,
                        bool (*fn)(const uint64_t *fps, uint32_t n, void *arg), void *arg)
{
    uint64_t fps[BLOCK], from = 0;

    for (;;) {
        uint32_t n = sn_fingerprint_set_list(s, from, BLOCK, fps);

        if (n == 0 || !fn(fps, n, arg) || n < BLOCK || fps[n - 1] == UINT64_MAX)
            return SEINE_OK;
        from = fps[n - 1] + 1;
    }
}
