/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fingerprint_set.h"

#include "base/alloc.h"
#include "base/fingerprint_set_parts.h"

#define BATCH 32 /* keys that are prefetched */

static seine_err
make_room(sn_fingerprint_set *s, uint64_t keys, uint64_t sides)
{
    while (sn_fingerprint_set_room(s) < keys || sn_fingerprint_set_side_room(s) < sides) {
        sn_fproom room;

        sn_fingerprint_set_plan(s, keys, sides, &room);
        seine_err e = sn_fproom_get(&room);
        if (e != SEINE_OK)
            return e;
        sn_fingerprint_set_give(s, &room);
        sn_fproom_fini(&room);
        sn_fptable_free(&s->dead);
    }
    return SEINE_OK;
}

seine_err
sn_fingerprint_set_init(sn_fingerprint_set *s, uint64_t expect, uint64_t max)
{
    sn_fingerprint_set fresh = {.max = max};

    if (max == 0 || expect > max)
        return SEINE_E_INVAL;
    if (expect > 0) {
        seine_err e = make_room(&fresh, expect, 1);
        if (e != SEINE_OK)
            return e;
    }
    *s = fresh;
    return SEINE_OK;
}

void
sn_fingerprint_set_fini(sn_fingerprint_set *s)
{
    sn_fptable_free(&s->now);
    sn_fptable_free(&s->old);
    sn_fptable_free(&s->dead);
    sn_free(s->side);
    *s = (sn_fingerprint_set){0};
}

void
sn_fingerprint_set_wipe(sn_fingerprint_set *s)
{
    if (s->now.base)
        memset(s->now.base, 0, sn_fptable_bytes(&s->now));
    if (s->old.base)
        s->dead = s->old;
    s->old = (sn_fptable){0};
    s->count = s->held = s->sorted = s->n_side = 0;
}

/* The table that holds fp, and its home there. */
static inline const sn_fptable *
table_of(const sn_fingerprint_set *s, uint64_t fp, uint64_t *out_home)
{
    if (__builtin_expect(s->old.base != NULL, 0)) {
        *out_home = sn_fptable_home(&s->old, fp);
        if (*out_home >= s->cursor)
            return &s->old;
    }
    *out_home = sn_fptable_home(&s->now, fp);
    return &s->now;
}

bool
sn_fingerprint_set_has(const sn_fingerprint_set *s, uint64_t fp)
{
    uint64_t h;

    if (!s->now.base)
        return false;
    const sn_fptable *t = table_of(s, fp, &h);
    const uint8_t *home = sn_fptable_bucket(t, h);
    if (home[SN_FPBUCKET_SIDE] & 1 && sn_fpside_has(s, fp))
        return true;
    return t->k == 7   ? sn_fpbucket_find(home, fp, 7, 8)
           : t->k == 6 ? sn_fpbucket_find(home, fp, 6, 9)
                       : sn_fpbucket_find(home, fp, 5, 11);
}

static sn_fp_answer
decide_key(sn_fingerprint_set *s, uint64_t fp)
{
    uint64_t h;
    const sn_fptable *t = table_of(s, fp, &h);
    uint8_t *home = sn_fptable_bucket(t, h);

    /* The side comes first: it keeps its entries when a larger table has room. */
    if (__builtin_expect(home[SN_FPBUCKET_SIDE] & 1, 0) && sn_fpside_has(s, fp))
        return SN_FP_SEEN;
    sn_fp_answer v = t->k == 7   ? sn_fpbucket_settle(home, fp, 7, 8)
                     : t->k == 6 ? sn_fpbucket_settle(home, fp, 6, 9)
                                 : sn_fpbucket_settle(home, fp, 5, 11);
    if (v == SN_FP_NEW)
        s->held++;
    if (v == SN_FP_NOWHERE && s->n_side < s->side_cap) {
        sn_fpside_insert(s, fp);
        home[SN_FPBUCKET_SIDE] |= 1;
        v = SN_FP_NEW;
    }
    s->count += v == SN_FP_NEW;
    return v;
}

/* A search often goes beyond a full bucket, so the next two places are prefetched.
 * Inlined by force: gcc takes a function that only prefetches for one without effect and
 * drops the calls. */
SN_FP_HOT void
look_beyond(const sn_fingerprint_set *s, const uint64_t *fps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h;
        const sn_fptable *t = table_of(s, fps[i], &h);
        const uint8_t *home = sn_fptable_bucket(t, h);
        size_t full = sn_fpbucket_count(home) == t->slots;

        __builtin_prefetch(home + full * sn_fp_off[1] * SN_FPBUCKET, 1);
        __builtin_prefetch(home + full * sn_fp_off[2] * SN_FPBUCKET, 1);
    }
}

SN_FP_HOT void
look_ahead(const sn_fingerprint_set *s, const uint64_t *fps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h;
        const sn_fptable *t = table_of(s, fps[i], &h);

        __builtin_prefetch(sn_fptable_bucket(t, h), 1);
    }
    look_beyond(s, fps, n);
}

bool
sn_fingerprint_set_put(sn_fingerprint_set *s, const uint64_t *fps, uint32_t n,
                       uint8_t *out_new)
{
    if (!s->now.base)
        return n == 0;
    for (uint32_t at = 0; at < n; at += BATCH) {
        uint32_t some = n - at < BATCH ? n - at : BATCH;

        if (__builtin_expect(s->old.base != NULL, 0))
            (void)sn_fingerprint_set_move(s, SN_FINGERPRINT_SET_MOVES);
        look_beyond(s, fps + at, some);
        for (uint32_t i = 0; i < some; i++) {
            sn_fp_answer v = decide_key(s, fps[at + i]);

            if (v == SN_FP_NOWHERE)
                return false;
            out_new[at + i] = v == SN_FP_NEW;
        }
    }
    return true;
}

/* How many of the keys are not in the set; a repeated key counts twice. */
static uint64_t
count_absent(const sn_fingerprint_set *s, const uint64_t *fps, uint32_t n)
{
    uint64_t missing = 0;

    for (uint32_t at = 0; at < n; at += BATCH) {
        uint32_t some = n - at < BATCH ? n - at : BATCH;

        if (s->now.base)
            look_ahead(s, fps + at, some);
        for (uint32_t i = 0; i < some; i++)
            missing += !sn_fingerprint_set_has(s, fps[at + i]);
    }
    return missing;
}

/* Near `max` the number of different new keys matters. */
static seine_err
check_max(const sn_fingerprint_set *s, const uint64_t *fps, uint32_t n)
{
    sn_fingerprint_set missing = {.max = UINT64_MAX};
    seine_err e = SEINE_OK;
    uint8_t is_new;

    for (uint32_t i = 0; i < n && e == SEINE_OK; i++) {
        if (sn_fingerprint_set_has(s, fps[i]))
            continue;
        e = sn_fingerprint_set_add(&missing, &fps[i], 1, &is_new);
        if (e == SEINE_OK && missing.count > s->max - s->count)
            e = SEINE_E_FULL;
    }
    sn_fingerprint_set_fini(&missing);
    return e;
}

seine_err
sn_fingerprint_set_add(sn_fingerprint_set *s, const uint64_t *fps, uint32_t n,
                       uint8_t *out_new)
{
    seine_err e = SEINE_OK;
    uint64_t keys = n;

    if (n > s->max - s->count)
        e = n == 1 && !sn_fingerprint_set_has(s, *fps) ? SEINE_E_FULL
                                                       : check_max(s, fps, n);
    if (e == SEINE_OK && keys > sn_fingerprint_set_room(s))
        keys = count_absent(s, fps, n); /* known keys are no reason to grow */
    if (e == SEINE_OK)
        e = make_room(s, keys, n);
    if (e != SEINE_OK)
        return e;

    s->promised = n;
    for (uint32_t at = 0; at < n; at += BATCH) {
        uint32_t some = n - at < BATCH ? n - at : BATCH;

        /* Moves first: the move would evict what is prefetched from the cache. */
        if (s->old.base)
            (void)sn_fingerprint_set_move(s, SN_FINGERPRINT_SET_MOVES);
        look_ahead(s, fps + at, some);
        for (uint32_t i = 0; i < some; i++)
            out_new[at + i] = decide_key(s, fps[at + i]) == SN_FP_NEW;
    }
    s->promised = 0;
    sn_fptable_free(&s->dead);
    return SEINE_OK;
}
