/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fingerprint_set.h - was this 64-bit fingerprint added before? Exactly, in 9 bytes.
 *
 * An array of nb buckets of 64 bytes. The home of a fingerprint is the high half of
 * fp * nb, so homes ascend with fingerprints and the number of a bucket gives their high
 * bits. The bucket keeps the k low bytes of each; both together give the whole
 * fingerprint. Nothing is approximate and nothing is deleted.
 *
 *     k   from nb   slots   bytes per key at load 0.88 … 0.70
 *     7   2^8         8     9.1 … 11.4
 *     6   2^16        9     8.1 … 10.1
 *     5   2^24       11     6.6 …  8.3
 *
 *     bytes 0 …   slots * k   the low bytes, little-endian, filled from the left
 *     then        slots / 2   a nibble d per slot: the home is off[d] buckets back
 *     byte 62     bit 0       fingerprints of this home are in `side`
 *     byte 63     low nibble  slots in use; high nibble: largest d of this home
 *
 * An entry goes to the first of 16 places home + off[d] with a free slot. Slots are never
 * freed, so a search may stop at the first place that has one. An entry that finds all 16
 * full (2 in 10^5 at load 0.88) is kept whole in the sorted `side`.
 *
 * At load 0.88 a table with 5/4 of the slots is mapped, and each batch moves 256 homes
 * into it, in order: entries whose old home is below the cursor are in the new table, all
 * others in the old one. Pages behind the cursor go back to the kernel at once.
 *
 *     sn_fingerprint_set s;
 *     if (sn_fingerprint_set_init(&s, 0, UINT64_MAX) != SEINE_OK)
 *         return usage();
 *     seine_err e = sn_fingerprint_set_add(&s, fps, 32, is_new);
 *
 * Time    plays no part.
 * Memory  nothing until the first key, unless a number is expected; then pages of
 *         sn_pages, and 2 KiB of heap for `side`.
 * Threads one owner. The last part is for owners that share the set under a lock and
 *         get memory without it.
 */
#ifndef SN_FINGERPRINT_SET_H
#define SN_FINGERPRINT_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/err.h"

typedef struct sn_fptable {
    uint8_t *base; /* NULL: no table */
    uint64_t nb;   /* homes; 212 spare buckets follow */
    uint32_t k, slots;
} sn_fptable;

typedef struct sn_fingerprint_set { /* members that every call touches come first */
    sn_fptable now, old;            /* old.base: growth is in progress */
    uint64_t count;                 /* keys */
    uint64_t held;                  /* keys in tables; the others are in `side` */
    uint64_t promised;              /* keys for which room is reserved, see below */
    sn_fptable dead;   /* the old table after a move; to be taken and freed */
    uint64_t limit;    /* most keys in `now` */
    uint64_t cursor;   /* homes of `old` below it are in `now` */
    uint64_t released; /* bytes of `old` that were given back */
    uint64_t prepared; /* bytes of `now` whose pages are populated */
    uint64_t *side;    /* two ascending runs: [0, sorted) and [sorted, n_side) */
    uint64_t sorted, n_side, side_cap;
    uint64_t first, max; /* slots of the first table; most keys */
} sn_fingerprint_set;

/* Memory for an expected number of keys is mapped at once, and touched later. INVAL:
 * max 0, expect above max. Needs sn_fingerprint_set_fini. */
SEINE_MUST_CHECK seine_err sn_fingerprint_set_init(sn_fingerprint_set *s, uint64_t expect,
                                                   uint64_t max);
void
sn_fingerprint_set_fini(sn_fingerprint_set *s); /* leaves a zeroed set; zero is fine */

/* out_new[i] is 1 when fps[i] was not in the set; of equal keys in a batch only the first
 * is new. FULL (more than max) and NOMEM: none was added and out_new is untouched. */
SEINE_MUST_CHECK seine_err sn_fingerprint_set_add(sn_fingerprint_set *s,
                                                  const uint64_t *fps, uint32_t n,
                                                  uint8_t *out_new);

bool sn_fingerprint_set_has(const sn_fingerprint_set *s, uint64_t fp);

/* Calls fn with all fingerprints, ascending, in blocks; stops when fn returns false. */
seine_err sn_fingerprint_set_each(const sn_fingerprint_set *s,
                                  bool (*fn)(const uint64_t *fps, uint32_t n, void *arg),
                                  void *arg);

/* The first `cap` fingerprints from `from` on, ascending; returns how many. */
uint32_t sn_fingerprint_set_list(const sn_fingerprint_set *s, uint64_t from, uint32_t cap,
                                 uint64_t *out_fps);

/*
 * A set behind a lock. A caller that wants to put n keys first reserves room for them.
 * While sn_fingerprint_set_room is less than n, it calls `plan` under the lock, `get`
 * without it, `give` under the lock and `fini` without it. Then it adds n to `promised`,
 * and later, under the lock, puts the keys and subtracts n.
 */
typedef struct sn_fproom {
    sn_fptable table; /* base NULL and nb > 0: wanted, not mapped yet */
    uint64_t *side;
    uint64_t side_cap; /* side NULL and side_cap > 0: wanted, not there yet */
} sn_fproom;

/* How many more keys the memory at hand can promise: in the tables, on the side. */
uint64_t sn_fingerprint_set_room(const sn_fingerprint_set *s);
uint64_t sn_fingerprint_set_side_room(const sn_fingerprint_set *s);

/* The memory needed to promise `keys` more in the tables and `sides` on the side. */
void sn_fingerprint_set_plan(const sn_fingerprint_set *s, uint64_t keys, uint64_t sides,
                             sn_fproom *out_room);
SEINE_MUST_CHECK seine_err sn_fproom_get(sn_fproom *r);
void sn_fingerprint_set_give(sn_fingerprint_set *s,
                             sn_fproom *give); /* takes what it can use */
void sn_fproom_fini(sn_fproom *r);

/* Adds n promised keys. False when they were not promised and memory has run out; the
 * rest is then undecided. The old table after a move waits in `dead`. */
bool sn_fingerprint_set_put(sn_fingerprint_set *s, const uint64_t *fps, uint32_t n,
                            uint8_t *out_new);
void sn_fptable_free(sn_fptable *t);

/* Forgets all keys; keeps the memory and the promises. */
void sn_fingerprint_set_wipe(sn_fingerprint_set *s);

#endif
