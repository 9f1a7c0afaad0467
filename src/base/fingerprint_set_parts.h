/* SPDX-License-Identifier: Apache-2.0 */
/* fingerprint_set_parts.h - declarations that the files of the set share:
 * fingerprint_set.c has the set, fingerprint_set_table.c its tables,
 * fingerprint_set_side.c the entries without room, fingerprint_set_grow.c moves to a
 * larger table, fingerprint_set_list.c lists in order. */
#ifndef SN_FINGERPRINT_SET_PARTS_H
#define SN_FINGERPRINT_SET_PARTS_H

#include "base/fingerprint_set_bucket.h"
#include "base/time.h"

#define SN_FP_PAGE               ((uintptr_t)4096)
#define SN_FPTABLE_HUGE          ((size_t)4 << 20) /* bytes; from here on in huge pages */
#define SN_FINGERPRINT_SET_MOVES 256               /* homes moved per batch */

/* fingerprint_set_table.c */

static inline uint64_t
sn_fptable_home(const sn_fptable *t, uint64_t fp)
{
    return (uint64_t)((sn_u128)fp * t->nb >> 64);
}

static inline uint8_t *
sn_fptable_bucket(const sn_fptable *t, uint64_t number)
{
    return t->base + number * SN_FPBUCKET;
}

/* Where the fingerprints of home h begin: ceil(h * 2^64 / nb), kept as quotient and
 * remainder so that the next home costs two additions. */
typedef struct sn_fpspan {
    uint64_t quot, rem, quot_step, rem_step, nb;
} sn_fpspan;

static inline sn_fpspan
sn_fpspan_at(uint64_t nb, uint64_t h)
{
    sn_u128 at = (sn_u128)h << 64, step = (sn_u128)1 << 64;

    return (sn_fpspan){(uint64_t)(at / nb), (uint64_t)(at % nb), (uint64_t)(step / nb),
                       (uint64_t)(step % nb), nb};
}

static inline uint64_t
sn_fpspan_first(const sn_fpspan *p)
{
    return p->quot + (p->rem > 0);
}

static inline void
sn_fpspan_next(sn_fpspan *p)
{
    p->quot += p->quot_step;
    p->rem += p->rem_step;
    if (p->rem >= p->nb) {
        p->rem -= p->nb;
        p->quot++;
    }
}

size_t sn_fptable_bytes(const sn_fptable *t);
uint64_t sn_fptable_slots(const sn_fptable *t);
uint64_t sn_fptable_limit(const sn_fptable *t); /* keys, at load 0.88 */
uint64_t sn_fptable_slots_for(uint64_t keys);

/* The smallest table with so many slots, with the k that wastes least; not mapped yet. */
sn_fptable sn_fptable_shape(uint64_t slots);
bool sn_fptable_map(sn_fptable *t); /* false: no memory */
uint8_t *sn_fp_page_up(const uint8_t *p);

/* The fingerprints of home h, whose first possible one is `first`; unordered. */
unsigned sn_fptable_gather(const sn_fptable *t, uint64_t h, uint64_t first,
                           uint64_t out_fps[SN_FPBUCKET_MOST]);

/* fingerprint_set_side.c */
uint64_t sn_fp_lower_bound(const uint64_t *a, uint64_t n, uint64_t fp);
bool sn_fpside_has(const sn_fingerprint_set *s, uint64_t fp);
void sn_fpside_insert(sn_fingerprint_set *s, uint64_t fp); /* must have room */

/* Flags the homes in `now` of all side entries from first to last. */
void sn_fpside_flag(const sn_fingerprint_set *s, uint64_t first, uint64_t last);

/* fingerprint_set_grow.c */

/* Moves up to `homes` homes into the larger table; false when it stops because `side`
 * might lack room beyond its promises. */
bool sn_fingerprint_set_move(sn_fingerprint_set *s, uint64_t homes);

#endif
