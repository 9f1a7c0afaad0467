/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/fingerprint_set_parts.h"

#define MOST_KEYS  ((uint64_t)1 << 52)
#define AHEAD      16 /* buckets prefetched in a move; fewer than the spare ones */
#define LEAST_SIDE 256
#define AT_ONCE    ((uint64_t)32 << 10)

/* Gives back the pages behind the cursor, in 64 steps of 32 KiB to 2 MiB. Only homes
 * below the cursor had entries there. */
static void
release_pages(sn_fingerprint_set *s)
{
    uintptr_t step = 8 * SN_FP_PAGE, most = (uintptr_t)2 << 20;

    while (step < most && step * 64 < sn_fptable_bytes(&s->old))
        step *= 2;

    uint8_t *start = sn_fp_page_up(s->old.base + s->released);
    uint8_t *end =
        (uint8_t *)((uintptr_t)sn_fptable_bucket(&s->old, s->cursor) & ~(step - 1));
    if (end > start) {
        (void)madvise(start, (size_t)(end - start), MADV_DONTNEED);
        s->released = (uint64_t)(end - s->old.base);
    }
}

/* Populates the next pages of `now`, 32 KiB at a time: far cheaper than two page faults
 * for each, one to read and one to write. */
static void
prepare_pages(sn_fingerprint_set *s, uint64_t upto)
{
    uint64_t homes = s->now.nb * SN_FPBUCKET,
             end = (upto * SN_FPBUCKET / AT_ONCE + 1) * AT_ONCE;

    if (end > homes) /* the spare buckets are hardly used */
        end = homes;
    if (sn_fptable_bytes(&s->now) >= SN_FPTABLE_HUGE || end <= s->prepared)
        return;
    uint8_t *start = sn_fp_page_up(s->now.base + s->prepared), *stop = s->now.base + end;
    if (stop > start)
        (void)madvise(start, (size_t)(stop - start), MADV_POPULATE_WRITE);
    s->prepared = end;
}

/* Moves fingerprints into `now`; at its load most find room at home. */
SN_FP_HOT void
drop_all(sn_fingerprint_set *s, const uint64_t *fps, unsigned n, unsigned k,
         unsigned slots)
{
    const sn_fptable now = s->now; /* a copy that no write below can change */

    for (unsigned i = 0; i < n; i++) {
        uint8_t *home = sn_fptable_bucket(&now, sn_fptable_home(&now, fps[i]));

        if (__builtin_expect(sn_fpbucket_count(home) < slots, 1)) {
            sn_fpbucket_write(home, fps[i], 0, k, slots);
        } else if (!sn_fpbucket_drop_in(home, fps[i], k, slots)) {
            sn_fpside_insert(s, fps[i]);
            s->held--;
            home[SN_FPBUCKET_SIDE] |= 1;
        }
    }
}

static void
move_home(sn_fingerprint_set *s, uint64_t first, uint64_t last)
{
    uint64_t fps[SN_FPBUCKET_MOST];
    unsigned n = sn_fptable_gather(&s->old, s->cursor, first, fps);

    if (s->now.k == 7)
        drop_all(s, fps, n, 7, 8);
    else if (s->now.k == 6)
        drop_all(s, fps, n, 6, 9);
    else
        drop_all(s, fps, n, 5, 11);
    if (sn_fptable_bucket(&s->old, s->cursor)[SN_FPBUCKET_SIDE] & 1)
        sn_fpside_flag(s, first, last);
    s->cursor++;
}

bool
sn_fingerprint_set_move(sn_fingerprint_set *s, uint64_t homes)
{
    uint64_t left = s->old.nb - s->cursor, todo = homes < left ? homes : left;
    sn_fpspan at = sn_fpspan_at(s->old.nb, s->cursor);

    prepare_pages(
        s, sn_fptable_home(&s->now, sn_fpspan_at(s->old.nb, s->cursor + todo).quot - 1));
    for (uint64_t n = todo; n > 0; n--) {
        if (s->side_cap - s->n_side < s->promised + SN_FPBUCKET_MOST)
            return false;
        uint64_t first = sn_fpspan_first(&at);
        sn_fpspan_next(&at);
        /* The processor's own prefetching ends at the end of a page. */
        __builtin_prefetch(sn_fptable_bucket(&s->old, s->cursor + AHEAD));
        __builtin_prefetch(
            sn_fptable_bucket(&s->now, sn_fptable_home(&s->now, first) + AHEAD), 1);
        move_home(s, first, sn_fpspan_first(&at) - 1);
    }
    if (s->cursor == s->old.nb) {
        s->dead = s->old;
        s->old = (sn_fptable){0};
    } else {
        release_pages(s);
    }
    return true;
}

uint64_t
sn_fingerprint_set_room(const sn_fingerprint_set *s)
{
    uint64_t used = s->held + s->promised;

    return s->limit > used ? s->limit - used : 0;
}

uint64_t
sn_fingerprint_set_side_room(const sn_fingerprint_set *s)
{
    uint64_t used = s->n_side + s->promised + SN_FPBUCKET_MOST;

    return s->side_cap > used ? s->side_cap - used : 0;
}

void
sn_fingerprint_set_plan(const sn_fingerprint_set *s, uint64_t keys, uint64_t sides,
                        sn_fproom *out_room)
{
    *out_room = (sn_fproom){0};
    if (sn_fingerprint_set_room(s) < keys || !s->now.base) {
        uint64_t all = s->held + s->promised + keys,
                 slots = sn_fptable_slots(&s->now) * 5 / 4;

        if (keys > MOST_KEYS || all > MOST_KEYS)
            all = MOST_KEYS; /* which no machine can map */
        if (slots < sn_fptable_slots_for(all))
            slots = sn_fptable_slots_for(all);
        out_room->table = sn_fptable_shape(slots > s->first ? slots : s->first);
    }
    if (sn_fingerprint_set_side_room(s) < sides) {
        uint64_t need = s->n_side + s->promised + sides + SN_FPBUCKET_MOST,
                 cap = LEAST_SIDE;

        while (cap < need && cap < MOST_KEYS)
            cap *= 2;
        out_room->side_cap = cap;
    }
}

seine_err
sn_fproom_get(sn_fproom *r)
{
    if (r->table.nb > 0 && !sn_fptable_map(&r->table))
        r->table = (sn_fptable){0};
    else if (r->side_cap == 0 || (r->side = sn_alloc(r->side_cap * sizeof *r->side)))
        return SEINE_OK;
    sn_fproom_fini(r);
    return SEINE_E_NOMEM;
}

void
sn_fproom_fini(sn_fproom *r)
{
    sn_fptable_free(&r->table);
    sn_free(r->side);
    *r = (sn_fproom){0};
}

void
sn_fingerprint_set_give(sn_fingerprint_set *s, sn_fproom *give)
{
    if (give->side_cap > s->side_cap) {
        uint64_t *was = s->side, cap = s->side_cap;

        if (s->n_side > 0)
            memcpy(give->side, was, s->n_side * sizeof *was);
        s->side = give->side;
        s->side_cap = give->side_cap;
        give->side = was;
        give->side_cap = cap;
    }
    if (sn_fptable_slots(&give->table) <= sn_fptable_slots(&s->now))
        return;
    /* Only a batch of more than an eighth of the set gets here during growth. */
    if (s->old.base && !sn_fingerprint_set_move(s, UINT64_MAX))
        return;
    s->old = s->now;
    s->now = give->table;
    s->limit = sn_fptable_limit(&s->now);
    s->cursor = s->released = s->prepared = 0;
    give->table = (sn_fptable){0};
}
