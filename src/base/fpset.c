/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fpset.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/time.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "low bytes come first");

#define BUCKET     64
#define PLACES     16
#define SPARE      212 /* buckets behind the last home; off[15] + 1 */
#define SIDE       62  /* byte of a bucket: bit 0 */
#define TALLY      63  /* byte of a bucket: count, reach */
#define LEAST_NB   256 /* of k = 7 */
#define MOST_KEYS  ((uint64_t)1 << 52)
#define BATCH      32  /* keys looked ahead */
#define MOVES      256 /* homes moved per batch */
#define AHEAD      16  /* buckets looked ahead in a move; fewer than SPARE */
#define PER_HOME   176 /* most entries of one home: 16 places of 11 slots */
#define LEAST_SIDE 256
#define RUN        1024 /* longest second run of `side` */
#define BLOCK      1024 /* fingerprints per call of `each` */
#define HUGE_FROM  ((size_t)4 << 20)
#define AT_ONCE    ((uint64_t)32 << 10)
#define PAGE       ((uintptr_t)4096)

#define NIBBLES 0x1111111111111111u

static const uint8_t off[PLACES] = {0,  1,  3,  7,   13,  21,  31,  43,
                                    57, 73, 91, 111, 133, 157, 183, 211};

enum verdict { SEEN, FRESH, NOWHERE };

static inline uint64_t
load(const uint8_t *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint64_t
home_of(const sn_fptable *t, uint64_t fp)
{
    return (uint64_t)((sn_u128)fp * t->nb >> 64);
}

static inline uint8_t *
bucket(const sn_fptable *t, uint64_t number)
{
    return t->base + number * BUCKET;
}

static inline uint64_t
low_mask(unsigned k)
{
    return UINT64_MAX >> (64 - 8 * k);
}

/* Where the fingerprints of home h begin: ceil(h * 2^64 / nb), kept as quotient and
 * remainder so that the next home costs two additions. */
typedef struct span {
    uint64_t quot, rem, quot_step, rem_step, nb;
} span;

static span
span_at(uint64_t nb, uint64_t h)
{
    sn_u128 at = (sn_u128)h << 64, step = (sn_u128)1 << 64;

    return (span){(uint64_t)(at / nb), (uint64_t)(at % nb), (uint64_t)(step / nb),
                  (uint64_t)(step % nb), nb};
}

static inline uint64_t
span_first(const span *p)
{
    return p->quot + (p->rem > 0);
}

static inline void
span_next(span *p)
{
    p->quot += p->quot_step;
    p->rem += p->rem_step;
    if (p->rem >= p->nb) {
        p->rem -= p->nb;
        p->quot++;
    }
}

/*
 * One bucket. The functions that are hot take k and the slots as constants: they
 * are always inlined and called once for each k.
 */
#define HOT static inline __attribute__((always_inline))

HOT unsigned
count_of(const uint8_t *b)
{
    return b[TALLY] & 15;
}

HOT unsigned
nibble(const uint8_t *b, unsigned i, unsigned k, unsigned slots)
{
    return b[k * slots + i / 2] >> 4 * (i % 2) & 15;
}

/* Is `low` in the bucket, put there by the home off[d] before it? */
HOT bool
match(const uint8_t *b, uint64_t low, unsigned d, unsigned k, unsigned slots)
{
    unsigned hits = 0;

#pragma GCC unroll 11
    for (unsigned i = 0; i < slots; i++)
        hits |= (unsigned)(((load(b + i * k) ^ low) & low_mask(k)) == 0) << i;
    for (hits &= (1u << count_of(b)) - 1; hits; hits &= hits - 1)
        if (nibble(b, (unsigned)__builtin_ctz(hits), k, slots) == d)
            return true;
    return false;
}

/* Into the next free slot, whose nibble is 0. */
HOT void
write_slot(uint8_t *b, uint64_t fp, unsigned d, unsigned k, unsigned slots)
{
    unsigned i = count_of(b);

    memcpy(b + i * k, &fp, k); /* the low bytes */
    if (d > 0)
        b[k * slots + i / 2] |= (uint8_t)(d << 4 * (i % 2));
    b[TALLY]++;
}

HOT void
set_reach(uint8_t *home, unsigned d)
{
    home[TALLY] = (uint8_t)(d << 4 | count_of(home));
}

/* Finds fp or writes it to the first place with room. NOWHERE: not here, and all
 * places are full. */
HOT enum verdict
settle(uint8_t *home, uint64_t fp, unsigned k, unsigned slots)
{
    unsigned reach = home[TALLY] >> 4;
    uint64_t low = fp & low_mask(k);

    for (unsigned d = 0; d < PLACES; d++) {
        uint8_t *b = home + off[d] * BUCKET;

        if (d <= reach && match(b, low, d, k, slots))
            return SEEN;
        if (count_of(b) < slots) {
            write_slot(b, fp, d, k, slots);
            if (d > reach)
                set_reach(home, d);
            return FRESH;
        }
    }
    return NOWHERE;
}

HOT bool
find(const uint8_t *home, uint64_t fp, unsigned k, unsigned slots)
{
    unsigned reach = home[TALLY] >> 4;

    for (unsigned d = 0; d <= reach; d++)
        if (match(home + off[d] * BUCKET, fp & low_mask(k), d, k, slots))
            return true;
    return false;
}

/* A bit in every nibble that belongs to a slot of the home off[d] back. */
HOT uint64_t
owned(const uint8_t *b, unsigned d, unsigned k, unsigned slots)
{
    uint64_t x = load(b + k * slots) ^ d * NIBBLES;
    uint64_t zero = ~(((x & 7 * NIBBLES) + 7 * NIBBLES) | x | 7 * NIBBLES);

    return zero & (((uint64_t)1 << 4 * count_of(b)) - 1);
}

HOT unsigned
gather_k(const uint8_t *home, uint64_t first, uint64_t *out_fps, unsigned k,
         unsigned slots)
{
    unsigned n = 0, reach = home[TALLY] >> 4;

    for (unsigned d = 0; d <= reach; d++) {
        const uint8_t *b = home + off[d] * BUCKET;

        for (uint64_t mine = owned(b, d, k, slots); mine; mine &= mine - 1) {
            unsigned i = (unsigned)__builtin_ctzll(mine) / 4;

            out_fps[n++] = first + ((load(b + i * k) - first) & low_mask(k));
        }
    }
    return n;
}

/* The fingerprints of home h, whose first possible one is `first`; unordered. */
static unsigned
gather(const sn_fptable *t, uint64_t h, uint64_t first, uint64_t out_fps[PER_HOME])
{
    return t->k == 7   ? gather_k(bucket(t, h), first, out_fps, 7, 8)
           : t->k == 6 ? gather_k(bucket(t, h), first, out_fps, 6, 9)
                       : gather_k(bucket(t, h), first, out_fps, 5, 11);
}

/* Writes a fingerprint that is known to be absent; false: no place had room. */
HOT bool
drop_in(uint8_t *home, uint64_t fp, unsigned k, unsigned slots)
{
    for (unsigned d = 0; d < PLACES; d++) {
        uint8_t *b = home + off[d] * BUCKET;

        if (count_of(b) == slots)
            continue;
        write_slot(b, fp, d, k, slots);
        if (d > home[TALLY] >> 4)
            set_reach(home, d);
        return true;
    }
    return false;
}

/*
 * Tables.
 */
static size_t
bytes_of(const sn_fptable *t)
{
    return (size_t)(t->nb + SPARE) * BUCKET;
}

static uint64_t
slots_of(const sn_fptable *t)
{
    return t->nb * t->slots;
}

static uint64_t
limit_of(const sn_fptable *t)
{
    return slots_of(t) * 22 / 25;
}

static uint64_t
slots_for(uint64_t keys)
{
    return (keys * 25 + 21) / 22;
}

/* The least table with so many slots, in the k that wastes least. */
static sn_fptable
shape(uint64_t slots)
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

static uint8_t *
page_up(const uint8_t *p)
{
    return (uint8_t *)(((uintptr_t)p + PAGE - 1) & ~(PAGE - 1));
}

static bool
table_map(sn_fptable *t)
{
    t->base = sn_pages(bytes_of(t));
    if (t->base && bytes_of(t) >= HUGE_FROM) {
        uint8_t *start = page_up(t->base);

        /* Advice: where it is not taken, the table is slower and still right. */
        (void)madvise(start, bytes_of(t) - (size_t)(start - t->base), MADV_HUGEPAGE);
    }
    return t->base;
}

void
sn_fptable_free(sn_fptable *t)
{
    if (t->base)
        sn_pages_free(t->base, bytes_of(t));
    *t = (sn_fptable){0};
}

/*
 * The side. Two runs keep an insertion cheap even when keys that share a home come
 * in thousands: only the short second run is shifted, and merged when it is long.
 */
static uint64_t
lower_bound(const uint64_t *a, uint64_t n, uint64_t fp)
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

static bool
side_has(const sn_fpset *s, uint64_t fp)
{
    uint64_t i = lower_bound(s->side, s->sorted, fp);
    uint64_t j = s->sorted + lower_bound(s->side + s->sorted, s->n_side - s->sorted, fp);

    return (i < s->sorted && s->side[i] == fp) || (j < s->n_side && s->side[j] == fp);
}

static void
side_merge(sn_fpset *s)
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

static void
side_insert(sn_fpset *s, uint64_t fp)
{
    uint64_t n = s->n_side - s->sorted;
    uint64_t *run = s->side + s->sorted, at = lower_bound(run, n, fp);

    memmove(run + at + 1, run + at, (n - at) * sizeof *run);
    run[at] = fp;
    s->n_side++;
    if (n + 1 == RUN)
        side_merge(s);
}

/* Flags the homes in `now` of all side entries from first to last. */
static void
side_flag(const sn_fpset *s, uint64_t first, uint64_t last)
{
    uint64_t i = lower_bound(s->side, s->sorted, first);
    uint64_t j =
        s->sorted + lower_bound(s->side + s->sorted, s->n_side - s->sorted, first);

    for (; i < s->sorted && s->side[i] <= last; i++)
        bucket(&s->now, home_of(&s->now, s->side[i]))[SIDE] |= 1;
    for (; j < s->n_side && s->side[j] <= last; j++)
        bucket(&s->now, home_of(&s->now, s->side[j]))[SIDE] |= 1;
}

/*
 * Growth.
 */

/* Gives back the pages behind the cursor, in 64 steps of 32 KiB to 2 MiB. Only homes
 * below the cursor had entries there. */
static void
release(sn_fpset *s)
{
    uintptr_t step = 8 * PAGE, most = (uintptr_t)2 << 20;

    while (step < most && step * 64 < bytes_of(&s->old))
        step *= 2;

    uint8_t *start = page_up(s->old.base + s->released);
    uint8_t *end = (uint8_t *)((uintptr_t)bucket(&s->old, s->cursor) & ~(step - 1));
    if (end > start) {
        (void)madvise(start, (size_t)(end - start), MADV_DONTNEED);
        s->released = (uint64_t)(end - s->old.base);
    }
}

/* Has the kernel lay out the pages of `now` that are written next, 32 KiB at a time:
 * far cheaper than two faults for each, one to read and one to write. */
static void
prepare(sn_fpset *s, uint64_t upto)
{
    uint64_t homes = s->now.nb * BUCKET, end = (upto * BUCKET / AT_ONCE + 1) * AT_ONCE;

    if (end > homes) /* the spare buckets are hardly used */
        end = homes;
    if (bytes_of(&s->now) >= HUGE_FROM || end <= s->prepared)
        return;
    uint8_t *start = page_up(s->now.base + s->prepared), *stop = s->now.base + end;
    if (stop > start)
        (void)madvise(start, (size_t)(stop - start), MADV_POPULATE_WRITE);
    s->prepared = end;
}

/* Moves fingerprints into `now`; at its load most find room at home. */
HOT void
drop_all(sn_fpset *s, const uint64_t *fps, unsigned n, unsigned k, unsigned slots)
{
    const sn_fptable now = s->now; /* a copy no write below can change */

    for (unsigned i = 0; i < n; i++) {
        uint8_t *home = bucket(&now, home_of(&now, fps[i]));

        if (__builtin_expect(count_of(home) < slots, 1)) {
            write_slot(home, fps[i], 0, k, slots);
        } else if (!drop_in(home, fps[i], k, slots)) {
            side_insert(s, fps[i]);
            s->held--;
            home[SIDE] |= 1;
        }
    }
}

static void
move_home(sn_fpset *s, uint64_t first, uint64_t last)
{
    uint64_t fps[PER_HOME];
    unsigned n = gather(&s->old, s->cursor, first, fps);

    if (s->now.k == 7)
        drop_all(s, fps, n, 7, 8);
    else if (s->now.k == 6)
        drop_all(s, fps, n, 6, 9);
    else
        drop_all(s, fps, n, 5, 11);
    if (bucket(&s->old, s->cursor)[SIDE] & 1)
        side_flag(s, first, last);
    s->cursor++;
}

/* Moves up to `homes` homes; false when it must stop because a home might not fit
 * into what `side` has beyond its promises. */
static bool
move(sn_fpset *s, uint64_t homes)
{
    uint64_t left = s->old.nb - s->cursor, todo = homes < left ? homes : left;
    span at = span_at(s->old.nb, s->cursor);

    prepare(s, home_of(&s->now, span_at(s->old.nb, s->cursor + todo).quot - 1));
    for (uint64_t n = todo; n > 0; n--) {
        if (s->side_cap - s->n_side < s->promised + PER_HOME)
            return false;
        uint64_t first = span_first(&at);
        span_next(&at);
        /* The processor's own look-ahead ends at the end of a page. */
        __builtin_prefetch(bucket(&s->old, s->cursor + AHEAD));
        __builtin_prefetch(bucket(&s->now, home_of(&s->now, first) + AHEAD), 1);
        move_home(s, first, span_first(&at) - 1);
    }
    if (s->cursor == s->old.nb) {
        s->dead = s->old;
        s->old = (sn_fptable){0};
    } else {
        release(s);
    }
    return true;
}

uint64_t
sn_fpset_room(const sn_fpset *s)
{
    uint64_t used = s->held + s->promised;

    return s->limit > used ? s->limit - used : 0;
}

uint64_t
sn_fpset_side_room(const sn_fpset *s)
{
    uint64_t used = s->n_side + s->promised + PER_HOME;

    return s->side_cap > used ? s->side_cap - used : 0;
}

void
sn_fpset_plan(const sn_fpset *s, uint64_t keys, uint64_t sides, sn_fproom *out_room)
{
    *out_room = (sn_fproom){0};
    if (sn_fpset_room(s) < keys || !s->now.base) {
        uint64_t all = s->held + s->promised + keys, slots = slots_of(&s->now) * 5 / 4;

        if (keys > MOST_KEYS || all > MOST_KEYS)
            all = MOST_KEYS; /* which no machine can map */
        if (slots < slots_for(all))
            slots = slots_for(all);
        out_room->table = shape(slots > s->first ? slots : s->first);
    }
    if (sn_fpset_side_room(s) < sides) {
        uint64_t need = s->n_side + s->promised + sides + PER_HOME, cap = LEAST_SIDE;

        while (cap < need && cap < MOST_KEYS)
            cap *= 2;
        out_room->side_cap = cap;
    }
}

seine_err
sn_fproom_get(sn_fproom *r)
{
    if (r->table.nb > 0 && !table_map(&r->table))
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
sn_fpset_give(sn_fpset *s, sn_fproom *give)
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
    if (slots_of(&give->table) <= slots_of(&s->now))
        return;
    /* Only a batch of more than an eighth of the set comes here in mid-growth. */
    if (s->old.base && !move(s, UINT64_MAX))
        return;
    s->old = s->now;
    s->now = give->table;
    s->limit = limit_of(&s->now);
    s->cursor = s->released = s->prepared = 0;
    give->table = (sn_fptable){0};
}

static seine_err
make_room(sn_fpset *s, uint64_t keys, uint64_t sides)
{
    while (sn_fpset_room(s) < keys || sn_fpset_side_room(s) < sides) {
        sn_fproom room;

        sn_fpset_plan(s, keys, sides, &room);
        seine_err e = sn_fproom_get(&room);
        if (e != SEINE_OK)
            return e;
        sn_fpset_give(s, &room);
        sn_fproom_fini(&room);
        sn_fptable_free(&s->dead);
    }
    return SEINE_OK;
}

/*
 * The set.
 */
seine_err
sn_fpset_init(sn_fpset *s, uint64_t expect, uint64_t max)
{
    sn_fpset fresh = {.max = max};

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
sn_fpset_fini(sn_fpset *s)
{
    sn_fptable_free(&s->now);
    sn_fptable_free(&s->old);
    sn_fptable_free(&s->dead);
    sn_free(s->side);
    *s = (sn_fpset){0};
}

void
sn_fpset_wipe(sn_fpset *s)
{
    if (s->now.base)
        memset(s->now.base, 0, bytes_of(&s->now));
    if (s->old.base)
        s->dead = s->old;
    s->old = (sn_fptable){0};
    s->count = s->held = s->sorted = s->n_side = 0;
}

/* The table that answers for fp, and its home there. */
static inline const sn_fptable *
table_of(const sn_fpset *s, uint64_t fp, uint64_t *out_home)
{
    if (__builtin_expect(s->old.base != NULL, 0)) {
        *out_home = home_of(&s->old, fp);
        if (*out_home >= s->cursor)
            return &s->old;
    }
    *out_home = home_of(&s->now, fp);
    return &s->now;
}

bool
sn_fpset_has(const sn_fpset *s, uint64_t fp)
{
    uint64_t h;

    if (!s->now.base)
        return false;
    const sn_fptable *t = table_of(s, fp, &h);
    const uint8_t *home = bucket(t, h);
    if (home[SIDE] & 1 && side_has(s, fp))
        return true;
    return t->k == 7   ? find(home, fp, 7, 8)
           : t->k == 6 ? find(home, fp, 6, 9)
                       : find(home, fp, 5, 11);
}

static enum verdict
decide(sn_fpset *s, uint64_t fp)
{
    uint64_t h;
    const sn_fptable *t = table_of(s, fp, &h);
    uint8_t *home = bucket(t, h);

    /* First of all: the side keeps its entries when a larger table has room. */
    if (__builtin_expect(home[SIDE] & 1, 0) && side_has(s, fp))
        return SEEN;
    enum verdict v = t->k == 7   ? settle(home, fp, 7, 8)
                     : t->k == 6 ? settle(home, fp, 6, 9)
                                 : settle(home, fp, 5, 11);
    if (v == FRESH)
        s->held++;
    if (v == NOWHERE && s->n_side < s->side_cap) {
        side_insert(s, fp);
        home[SIDE] |= 1;
        v = FRESH;
    }
    s->count += v == FRESH;
    return v;
}

/* A full bucket is often not the last that is looked at; of those that follow, the
 * next two are fetched. Inlined by force: gcc takes a function that only prefetches
 * for one without effect and drops the calls. */
HOT void
look_beyond(const sn_fpset *s, const uint64_t *fps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h;
        const sn_fptable *t = table_of(s, fps[i], &h);
        const uint8_t *home = bucket(t, h);
        size_t full = count_of(home) == t->slots;

        __builtin_prefetch(home + full * off[1] * BUCKET, 1);
        __builtin_prefetch(home + full * off[2] * BUCKET, 1);
    }
}

HOT void
look_ahead(const sn_fpset *s, const uint64_t *fps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h;
        const sn_fptable *t = table_of(s, fps[i], &h);

        __builtin_prefetch(bucket(t, h), 1);
    }
    look_beyond(s, fps, n);
}

bool
sn_fpset_put(sn_fpset *s, const uint64_t *fps, uint32_t n, uint8_t *out_new)
{
    if (!s->now.base)
        return n == 0;
    for (uint32_t at = 0; at < n; at += BATCH) {
        uint32_t some = n - at < BATCH ? n - at : BATCH;

        if (__builtin_expect(s->old.base != NULL, 0))
            (void)move(s, MOVES);
        look_beyond(s, fps + at, some);
        for (uint32_t i = 0; i < some; i++) {
            enum verdict v = decide(s, fps[at + i]);

            if (v == NOWHERE)
                return false;
            out_new[at + i] = v == FRESH;
        }
    }
    return true;
}

/* How many of the keys are not here; the same one twice counts twice. */
static uint64_t
absent(const sn_fpset *s, const uint64_t *fps, uint32_t n)
{
    uint64_t missing = 0;

    for (uint32_t at = 0; at < n; at += BATCH) {
        uint32_t some = n - at < BATCH ? n - at : BATCH;

        if (s->now.base)
            look_ahead(s, fps + at, some);
        for (uint32_t i = 0; i < some; i++)
            missing += !sn_fpset_has(s, fps[at + i]);
    }
    return missing;
}

/* Near `max` it matters how many different keys are not here. */
static seine_err
fits(const sn_fpset *s, const uint64_t *fps, uint32_t n)
{
    sn_fpset missing = {.max = UINT64_MAX};
    seine_err e = SEINE_OK;
    uint8_t is_new;

    for (uint32_t i = 0; i < n && e == SEINE_OK; i++) {
        if (sn_fpset_has(s, fps[i]))
            continue;
        e = sn_fpset_add(&missing, &fps[i], 1, &is_new);
        if (e == SEINE_OK && missing.count > s->max - s->count)
            e = SEINE_E_FULL;
    }
    sn_fpset_fini(&missing);
    return e;
}

seine_err
sn_fpset_add(sn_fpset *s, const uint64_t *fps, uint32_t n, uint8_t *out_new)
{
    seine_err e = SEINE_OK;
    uint64_t keys = n;

    if (n > s->max - s->count)
        e = n == 1 && !sn_fpset_has(s, *fps) ? SEINE_E_FULL : fits(s, fps, n);
    if (e == SEINE_OK && keys > sn_fpset_room(s))
        keys = absent(s, fps, n); /* known keys are no reason to grow */
    if (e == SEINE_OK)
        e = make_room(s, keys, n);
    if (e != SEINE_OK)
        return e;

    s->promised = n;
    for (uint32_t at = 0; at < n; at += BATCH) {
        uint32_t some = n - at < BATCH ? n - at : BATCH;

        /* The move first: it would drive what is fetched out of the cache. */
        if (s->old.base)
            (void)move(s, MOVES);
        look_ahead(s, fps + at, some);
        for (uint32_t i = 0; i < some; i++)
            out_new[at + i] = decide(s, fps[at + i]) == FRESH;
    }
    s->promised = 0;
    sn_fptable_free(&s->dead);
    return SEINE_OK;
}

/*
 * In order.
 */
static void
sort(uint64_t *fps, unsigned n)
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
    return (source){fps + lower_bound(fps, n, from), fps + n};
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

/* Lists one table up to `last`, beginning at *from, which moves on. */
static uint32_t
list_table(const sn_fptable *t, uint64_t *from, uint64_t last, source merged[3],
           uint32_t cap, uint64_t *out_fps)
{
    uint64_t mine[PER_HOME], h = home_of(t, *from), end = home_of(t, last);
    span at = span_at(t->nb, h);
    uint32_t n = 0;

    for (; h <= end; h++) {
        uint64_t first = span_first(&at), before;
        span_next(&at);
        before = h < end ? span_first(&at) - 1 : last;

        unsigned found = gather(t, h, first, mine);
        sort(mine, found);
        merged[0] = source_from(mine, found, *from);
        while (n < cap && take_least(merged, before, &out_fps[n]))
            n++;
        if (n == cap)
            break;
        *from = before + 1;
    }
    return n;
}

uint32_t
sn_fpset_list(const sn_fpset *s, uint64_t from, uint32_t cap, uint64_t *out_fps)
{
    source merged[3] = {{0}};
    uint32_t n = 0;

    if (!s->now.base)
        return 0;
    merged[1] = source_from(s->side, s->sorted, from);
    merged[2] = source_from(s->side + s->sorted, s->n_side - s->sorted, from);

    if (s->old.base && s->cursor > 0) {
        span edge = span_at(s->old.nb, s->cursor);

        if (from < span_first(&edge))
            n = list_table(&s->now, &from, span_first(&edge) - 1, merged, cap, out_fps);
    }
    if (n < cap)
        n += list_table(s->old.base ? &s->old : &s->now, &from, UINT64_MAX, merged,
                        cap - n, out_fps + n);
    return n;
}

seine_err
sn_fpset_each(const sn_fpset *s, bool (*fn)(const uint64_t *fps, uint32_t n, void *arg),
              void *arg)
{
    uint64_t fps[BLOCK], from = 0;

    for (;;) {
        uint32_t n = sn_fpset_list(s, from, BLOCK, fps);

        if (n == 0 || !fn(fps, n, arg) || n < BLOCK || fps[n - 1] == UINT64_MAX)
            return SEINE_OK;
        from = fps[n - 1] + 1;
    }
}
