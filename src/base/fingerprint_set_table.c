/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/fingerprint_set_parts.h"

#define LEAST_NB 256 /* of k = 7 */

size_t
sn_fptable_bytes(const sn_fptable *t)
{
    return (size_t)(t->nb + SN_FPTABLE_SPARE) * SN_FPBUCKET;
}

uint64_t
sn_fptable_slots(const sn_fptable *t)
{
    return t->nb * t->slots;
}

uint64_t
sn_fptable_limit(const sn_fptable *t)
{
    return sn_fptable_slots(t) * 22 / 25;
}

uint64_t
sn_fptable_slots_for(uint64_t keys)
{
    return (keys * 25 + 21) / 22;
}

sn_fptable
sn_fptable_shape(uint64_t slots)
{
    uint64_t nb = (slots + 10) / 11;

    if (nb >= 1 << 24)
        return (sn_fptable){NULL, nb, 5, 11};
    nb = (slots + 8) / 9;
    if (nb >= 1 << 16)
        return (sn_fptable){NULL, nb, 6, 9};
    nb = (slots + 7) / 8;
    return (sn_fptable){NULL, nb > LEAST_NB ? nb : LEAST_NB, 7, 8};
}

uint8_t *
sn_fp_page_up(const uint8_t *p)
{
    return (uint8_t *)(((uintptr_t)p + SN_FP_PAGE - 1) & ~(SN_FP_PAGE - 1));
}

bool
sn_fptable_map(sn_fptable *t)
{
    t->base = sn_pages(sn_fptable_bytes(t));
    if (t->base && sn_fptable_bytes(t) >= SN_FPTABLE_HUGE) {
        uint8_t *start = sn_fp_page_up(t->base);

        /* Only advice: without huge pages the table is slower and still right. */
        (void)madvise(start, sn_fptable_bytes(t) - (size_t)(start - t->base),
                      MADV_HUGEPAGE);
    }
    return t->base;
}

void
sn_fptable_free(sn_fptable *t)
{
    if (t->base)
        sn_pages_free(t->base, sn_fptable_bytes(t));
    *t = (sn_fptable){0};
}

unsigned
sn_fptable_gather(const sn_fptable *t, uint64_t h, uint64_t first,
                  uint64_t out_fps[SN_FPBUCKET_MOST])
{
    return t->k == 7 ? sn_fpbucket_gather(sn_fptable_bucket(t, h), first, out_fps, 7, 8)
           : t->k == 6
               ? sn_fpbucket_gather(sn_fptable_bucket(t, h), first, out_fps, 6, 9)
               : sn_fpbucket_gather(sn_fptable_bucket(t, h), first, out_fps, 5, 11);
}
