/* SPDX-License-Identifier: Apache-2.0 */
/* The side: a sorted array of fingerprints that found no room in their table. Two runs
 * keep an insertion cheap even when thousands of keys share a home: only the short second
 * run is shifted, and it is merged when it is long. */
#include "base/fingerprint_set_parts.h"

#define RUN 1024 /* longest second run */

uint64_t
sn_fp_lower_bound(const uint64_t *a, uint64_t n, uint64_t fp)
{
    uint64_t from = 0;

    while (n > 0) {
        uint64_t half = n / 2;

        if (a[from + half] < fp) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return from;
}

bool
sn_fpside_has(const sn_fingerprint_set *s, uint64_t fp)
{
    uint64_t i = sn_fp_lower_bound(s->side, s->sorted, fp);
    uint64_t j =
        s->sorted + sn_fp_lower_bound(s->side + s->sorted, s->n_side - s->sorted, fp);

    return (i < s->sorted && s->side[i] == fp) || (j < s->n_side && s->side[j] == fp);
}

static void
side_merge(sn_fingerprint_set *s)
{
    uint64_t run[RUN], i = s->sorted, j = s->n_side - s->sorted, at = s->n_side;

    memcpy(run, s->side + s->sorted, j * sizeof *run);
    while (j > 0)
        if (i > 0 && s->side[i - 1] > run[j - 1])
            s->side[--at] = s->side[--i];
        else
            s->side[--at] = run[--j];
    s->sorted = s->n_side;
}

void
sn_fpside_insert(sn_fingerprint_set *s, uint64_t fp)
{
    uint64_t n = s->n_side - s->sorted;
    uint64_t *run = s->side + s->sorted, at = sn_fp_lower_bound(run, n, fp);

    memmove(run + at + 1, run + at, (n - at) * sizeof *run);
    run[at] = fp;
    s->n_side++;
    if (n + 1 == RUN)
        side_merge(s);
}

void
sn_fpside_flag(const sn_fingerprint_set *s, uint64_t first, uint64_t last)
{
    uint64_t i = sn_fp_lower_bound(s->side, s->sorted, first);
    uint64_t j =
        s->sorted + sn_fp_lower_bound(s->side + s->sorted, s->n_side - s->sorted, first);

    for (; i < s->sorted && s->side[i] <= last; i++)
        sn_fptable_bucket(&s->now,
                          sn_fptable_home(&s->now, s->side[i]))[SN_FPBUCKET_SIDE] |= 1;
    for (; j < s->n_side && s->side[j] <= last; j++)
        sn_fptable_bucket(&s->now,
                          sn_fptable_home(&s->now, s->side[j]))[SN_FPBUCKET_SIDE] |= 1;
}
