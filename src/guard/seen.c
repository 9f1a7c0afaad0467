/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/seen.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fingerprint_set.h"
#include "base/hash.h"
#include "base/opts.h"
#include "base/rng.h"
#include "base/time.h"

/*
 * 64 fingerprint sets, each behind its own lock. The top six bits of a print choose one.
 * The fingerprint_set gets the print rotated left by six, so that its homes are spread
 * evenly.
 *
 * A call adds all of its prints or none, to shards that it locks one at a time. So it
 * first takes its number from `max`, then claims room in every shard, and only then adds;
 * from there on nothing can fail. A claim is one compare-and-swap on the shard's `room`:
 * the room that its fingerprint_set has promised and no call has claimed. When `room` is
 * used up, a call locks the shard and makes it promise more; memory for that comes
 * without the lock.
 *
 * Two system calls happen under a lock, an exception to the rule that a lock covers no
 * I/O. A table that is moved has its next pages populated and the old ones given back by
 * madvise, 32 KiB to 2 MiB at a time. Without the lock another thread might end the move
 * and unmap the pages first. The first touch of a page enters the kernel anyway.
 */
#define SHARDS 64
#define PIECE  1024 /* prints sorted by shard at a time */
#define AHEAD  64   /* prints that are prefetched */

typedef struct shard {
    pthread_mutex_t lock;
    _Atomic uint64_t room;    /* promised, not yet claimed */
    _Atomic uint64_t hint_nb; /* of the table, for prefetching without the lock */
    _Atomic uintptr_t hint_base;
    sn_fingerprint_set set;
    _Atomic uint64_t count; /* of the set, readable without the lock */
} __attribute__((aligned(64))) shard;

struct seine_seen {
    uint64_t seed[2], max;
    _Atomic uint64_t taken; /* of max: keys, and claims of running calls */
    shard *shards;
};

/* The prints of one call. */
typedef struct batch {
    const uint64_t *prints;
    size_t n;
    const uint8_t *skip;   /* NULL, or: prints[i] is known and is not added */
    uint64_t all;          /* prints to add */
    uint64_t shards;       /* bit i: shard i gets some of them */
    uint64_t want[SHARDS]; /* how many shard i gets */
} batch;

/* Some prints of a batch, sorted by shard. */
typedef struct piece {
    uint64_t fps[PIECE]; /* rotated, as the shards keep them */
    uint16_t at[PIECE];  /* index of each in the batch */
    uint8_t is_new[PIECE];
    uint16_t n;
    uint16_t
        end[SHARDS]; /* end of shard i's part, which begins where the one before ends */
    uint64_t shards;
} piece;

/* Index of the lowest set bit, to loop over shards. */
static inline unsigned
lowest(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

static inline unsigned
shard_of(uint64_t print)
{
    return (unsigned)(print >> 58);
}

static inline uint64_t
turn_in(uint64_t print)
{
    return print << 6 | print >> 58;
}

static inline uint64_t
turn_out(uint64_t fp)
{
    return fp >> 6 | fp << 58;
}

/* The last step under a lock: publishes what may be read without it, and takes a table
 * out of use, to be freed without the lock. */
static sn_fptable
leave(shard *sh)
{
    sn_fptable dead = {0};

    if (sh->set.dead.base) {
        dead = sh->set.dead;
        sh->set.dead.base = NULL;
    }
    atomic_store_explicit(&sh->count, sh->set.count, memory_order_release);
    pthread_mutex_unlock(&sh->lock);
    return dead;
}

/* Called when another table came into use. */
static void
show_table(shard *sh)
{
    atomic_store_explicit(&sh->hint_nb, sh->set.now.nb, memory_order_relaxed);
    atomic_store_explicit(&sh->hint_base, (uintptr_t)sh->set.now.base,
                          memory_order_relaxed);
}

/*
 * New and free.
 */

/* Slots of the smallest table that shard i has for `keys`. The shards start at different
 * sizes between 1 and 5/4, so they grow one after the other: the whole set is always
 * about 0.78 full and never holds all of its tables twice. */
static uint64_t
rung(unsigned i, uint64_t keys)
{
    uint64_t slots = (256 + i) * 8;

    while (slots * 22 / 25 < keys)
        slots = slots * 5 / 4;
    return slots;
}

static uint64_t
root(uint64_t x)
{
    uint64_t r = 0;

    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit /= 2)
        if ((r + bit) * (r + bit) <= x)
            r += bit;
    return r;
}

/* A shard gets a 64th of the keys, plus three standard deviations. */
static uint64_t
share(uint64_t expect)
{
    uint64_t even = expect / SHARDS + 1;

    return expect ? even + 3 * root(even) : 0;
}

static seine_err
shard_init(shard *sh, unsigned i, uint64_t expect)
{
    seine_err e = sn_fingerprint_set_init(&sh->set, share(expect), UINT64_MAX);

    if (e != SEINE_OK)
        return e;
    sh->set.first = expect ? sh->set.now.nb * sh->set.now.slots : rung(i, 1);
    show_table(sh);
    return SEINE_OK;
}

seine_err
seine_seen_new(const seine_seen_opts *opts, seine_seen **out_seen)
{
    if (!out_seen)
        return SEINE_E_INVAL;
    static const seine_seen_opts usual = SEINE_SEEN_OPTS;

    if (!opts)
        opts = &usual;
    if (!sn_opts_fit(opts, sizeof *opts) || opts->max == 0 || opts->expect > opts->max)
        return SEINE_E_INVAL;

    seine_seen *s = sn_zalloc(sizeof *s);
    if (!s)
        return SEINE_E_NOMEM;
    s->max = opts->max;
    memcpy(s->seed, opts->seed, sizeof s->seed);
    if (s->seed[0] == 0 && s->seed[1] == 0)
        sn_rng_secret(s->seed, sizeof s->seed);

    s->shards = sn_zalloc_line(SHARDS * sizeof *s->shards);
    for (unsigned i = 0; s->shards && i < SHARDS; i++)
        pthread_mutex_init(&s->shards[i].lock, NULL);
    seine_err e = s->shards ? SEINE_OK : SEINE_E_NOMEM;
    for (unsigned i = 0; i < SHARDS && e == SEINE_OK; i++)
        e = shard_init(&s->shards[i], i, opts->expect);
    if (e != SEINE_OK) {
        seine_seen_free(s);
        return e;
    }
    *out_seen = s;
    return SEINE_OK;
}

void
seine_seen_free(seine_seen *s)
{
    if (!s)
        return;
    for (unsigned i = 0; s->shards && i < SHARDS; i++) {
        sn_fingerprint_set_fini(&s->shards[i].set);
        pthread_mutex_destroy(&s->shards[i].lock);
    }
    sn_free_line(s->shards);
    sn_free(s);
}

uint64_t
seine_seen_print(const seine_seen *s, const void *key, size_t len)
{
    static const uint64_t none[2] = {0, 0};

    return sn_siphash(s ? s->seed : none, key, len);
}

/*
 * Room: of max, and in the shards.
 */
static bool
take_room(seine_seen *s, uint64_t n)
{
    uint64_t taken = atomic_load(&s->taken);

    while (n <= s->max - taken)
        if (atomic_compare_exchange_weak(&s->taken, &taken, taken + n))
            return true;
    return false;
}

static bool
claim(shard *sh, uint64_t n)
{
    uint64_t room = atomic_load(&sh->room);

    while (n <= room)
        if (atomic_compare_exchange_weak(&sh->room, &room, room - n))
            return true;
    return false;
}

/* Promises as much as the memory at hand allows. If n cannot be claimed even then, says
 * what is missing. */
static bool
promise(shard *sh, uint64_t n, sn_fproom *out_room)
{
    uint64_t keys = sn_fingerprint_set_room(&sh->set),
             sides = sn_fingerprint_set_side_room(&sh->set);
    uint64_t free = keys < sides ? keys : sides;

    sh->set.promised += free;
    uint64_t room = atomic_fetch_add(&sh->room, free) + free;
    if (n <= room)
        return true;
    sn_fingerprint_set_plan(&sh->set, n - room, n - room, out_room);
    return false;
}

/* Makes a claim of n possible. */
static seine_err
widen(shard *sh, uint64_t n)
{
    for (;;) {
        sn_fproom room;

        pthread_mutex_lock(&sh->lock);
        bool enough = promise(sh, n, &room);
        pthread_mutex_unlock(&sh->lock);
        if (enough)
            return SEINE_OK;

        seine_err e = sn_fproom_get(&room);
        if (e != SEINE_OK)
            return e;
        pthread_mutex_lock(&sh->lock);
        sn_fingerprint_set_give(&sh->set, &room);
        show_table(sh);
        sn_fptable dead = leave(sh);
        sn_fproom_fini(&room);
        sn_fptable_free(&dead);
    }
}

/* Claims room for the batch in all of its shards, or in none. */
static seine_err
claim_all(seine_seen *s, const batch *b)
{
    uint64_t left = b->shards, done = 0;
    seine_err e = SEINE_OK;

    for (; left && e == SEINE_OK; left &= left - 1) {
        unsigned i = lowest(left);

        while (e == SEINE_OK && !claim(&s->shards[i], b->want[i]))
            e = widen(&s->shards[i], b->want[i]);
        done |= e == SEINE_OK ? (uint64_t)1 << i : 0;
    }
    for (; done && e != SEINE_OK; done &= done - 1)
        atomic_fetch_add(&s->shards[lowest(done)].room, b->want[lowest(done)]);
    return e;
}

/*
 * Adding.
 */

/* Sorts the prints that are not skipped; equal ones stay in order. */
static void
sort_piece(const uint64_t *prints, const uint8_t *skip, size_t n, piece *p)
{
    uint16_t count[SHARDS] = {0};

    p->shards = p->n = 0;
    for (size_t i = 0; i < n; i++)
        if (!skip || !skip[i]) {
            p->shards |= (uint64_t)1 << shard_of(prints[i]);
            count[shard_of(prints[i])]++;
        }
    for (uint64_t left = p->shards; left; left &= left - 1) {
        p->end[lowest(left)] = p->n;
        p->n = (uint16_t)(p->n + count[lowest(left)]);
    }
    for (size_t i = 0; i < n; i++)
        if (!skip || !skip[i]) {
            uint16_t to = p->end[shard_of(prints[i])]++;

            p->fps[to] = turn_in(prints[i]);
            p->at[to] = (uint16_t)i;
        }
}

/* Prefetches the homes from *at up to `to`. A stale address only costs time. Inlined by
 * force: see look_ahead in base/fingerprint_set.c. */
static inline __attribute__((always_inline)) void
look_ahead(const seine_seen *s, const piece *p, size_t *at, size_t to)
{
    for (; *at < to && *at < p->n; ++*at) {
        uint64_t fp = p->fps[*at];
        const shard *sh = &s->shards[fp & (SHARDS - 1)];
        uint64_t nb = atomic_load_explicit(&sh->hint_nb, memory_order_relaxed);
        uintptr_t home = atomic_load_explicit(&sh->hint_base, memory_order_relaxed) +
                         64 * (uintptr_t)((sn_u128)fp * nb >> 64);

        __builtin_prefetch((const void *)home, 1);
    }
}

/* Puts claimed prints of one shard; returns how many were new. */
static uint64_t
put_run(shard *sh, const uint64_t *fps, uint32_t n, uint8_t *out_new)
{
    pthread_mutex_lock(&sh->lock);
    uint64_t before = sh->set.count;
    (void)sn_fingerprint_set_put(&sh->set, fps, n, out_new);
    sh->set.promised -= n;
    uint64_t fresh = sh->set.count - before;
    sn_fptable dead = leave(sh);
    sn_fptable_free(&dead);
    return fresh;
}

/* Only finds which prints are missing, and returns how many. */
static uint64_t
ask_run(shard *sh, const uint64_t *fps, uint32_t n, uint8_t *out_new)
{
    uint64_t missing = 0;

    pthread_mutex_lock(&sh->lock);
    for (uint32_t i = 0; i < n; i++)
        missing += out_new[i] = !sn_fingerprint_set_has(&sh->set, fps[i]);
    pthread_mutex_unlock(&sh->lock);
    return missing;
}

/* Calls put_run or ask_run for the part of each shard. */
static uint64_t
each_run(const seine_seen *s, piece *p,
         uint64_t (*run)(shard *, const uint64_t *, uint32_t, uint8_t *))
{
    size_t at = 0, ahead = 0;
    uint64_t fresh = 0;

    for (uint64_t left = p->shards; left; left &= left - 1) {
        unsigned i = lowest(left);

        look_ahead(s, p, &ahead, p->end[i] + AHEAD);
        fresh +=
            run(&s->shards[i], p->fps + at, (uint32_t)(p->end[i] - at), p->is_new + at);
        at = p->end[i];
    }
    return fresh;
}

static void
count_in(batch *b, uint64_t print)
{
    b->want[shard_of(print)]++;
    b->shards |= (uint64_t)1 << shard_of(print);
    b->all++;
}

/* Adds a batch whose number is taken from max. */
static seine_err
add_batch(seine_seen *s, const batch *b, uint8_t *out_new)
{
    seine_err e = claim_all(s, b);
    uint64_t fresh = 0;
    piece p;

    for (size_t from = 0; from < b->n && e == SEINE_OK; from += PIECE) {
        size_t n = b->n - from < PIECE ? b->n - from : PIECE;

        sort_piece(b->prints + from, b->skip ? b->skip + from : NULL, n, &p);
        fresh += each_run(s, &p, put_run);
        if (b->skip)
            memset(out_new + from, 0, n);
        for (uint16_t i = 0; i < p.n; i++)
            out_new[from + p.at[i]] = p.is_new[i];
    }
    if (fresh < b->all)
        atomic_fetch_sub(&s->taken, b->all - fresh);
    return e;
}

/* Finds which prints must be added: the missing ones, and with `once` only the first of
 * equal ones. */
static seine_err
survey(const seine_seen *s, batch *b, sn_fingerprint_set *once, uint8_t *out_skip)
{
    seine_err e = SEINE_OK;
    piece p;

    *b = (batch){.prints = b->prints, .n = b->n, .skip = out_skip};
    for (size_t from = 0; from < b->n && e == SEINE_OK; from += PIECE) {
        sort_piece(b->prints + from, NULL, b->n - from < PIECE ? b->n - from : PIECE, &p);
        (void)each_run(s, &p, ask_run);
        for (uint16_t i = 0; i < p.n && e == SEINE_OK; i++) {
            if (once && p.is_new[i])
                e = sn_fingerprint_set_add(once, &p.fps[i], 1, &p.is_new[i]);
            out_skip[from + p.at[i]] = !p.is_new[i];
            if (p.is_new[i])
                count_in(b, b->prints[from + p.at[i]]);
        }
    }
    return e;
}

/* For batches that may not fit under max, or are large beside the set: finds first what
 * is missing, so that known prints are neither refused nor grow the set. */
static seine_err
add_missing(seine_seen *s, batch *b, uint8_t *out_new)
{
    uint8_t *skip SN_AUTOFREE = sn_alloc(b->n);

    if (!skip)
        return SEINE_E_NOMEM;
    for (bool exact = false;; exact = true) {
        sn_fingerprint_set once = {.max = UINT64_MAX};
        uint64_t before = seine_seen_count(s);
        seine_err e = survey(s, b, exact ? &once : NULL, skip);

        sn_fingerprint_set_fini(&once);
        if (e != SEINE_OK)
            return e;
        if (take_room(s, b->all))
            return add_batch(s, b, out_new);
        /* A print that is missing now was missing when the keys were counted. If the
         * batch would have fitted then, other calls hold numbers that they may yet give
         * back. */
        if (exact && b->all > s->max - before)
            return SEINE_E_FULL;
        sched_yield();
    }
}

/* Would a shard have to grow by more than a quarter if all prints were missing? Every
 * table has room for 256. */
static bool
is_large(const seine_seen *s, const batch *b)
{
    bool large = false;

    for (uint64_t left = b->n > 256 ? b->shards : 0; left; left &= left - 1) {
        uint64_t want = b->want[lowest(left)];
        shard *sh = &s->shards[lowest(left)];

        if (want <= 256)
            continue;
        pthread_mutex_lock(&sh->lock);
        large |= want > sn_fingerprint_set_room(&sh->set) + atomic_load(&sh->room) &&
                 want > sh->set.limit / 4;
        pthread_mutex_unlock(&sh->lock);
    }
    return large;
}

/* One print takes the same steps. */
static seine_err
add_one(seine_seen *s, uint64_t print, uint8_t *out_new)
{
    shard *sh = &s->shards[shard_of(print)];
    uint64_t fp = turn_in(print);
    seine_err e = SEINE_OK;

    while (!take_room(s, 1)) {
        uint64_t before = seine_seen_count(s);
        uint8_t is_new;

        if (ask_run(sh, &fp, 1, &is_new) == 0) {
            *out_new = 0;
            return SEINE_OK;
        }
        if (before == s->max)
            return SEINE_E_FULL;
        sched_yield(); /* another call may yet give back its number */
    }
    while (e == SEINE_OK && !claim(sh, 1))
        e = widen(sh, 1);
    if (e != SEINE_OK || put_run(sh, &fp, 1, out_new) == 0)
        atomic_fetch_sub(&s->taken, 1);
    return e;
}

seine_err
seine_seen_add_many(seine_seen *s, const uint64_t *prints, size_t n, uint8_t *out_new)
{
    if (n == 0)
        return SEINE_OK;
    if (!prints || !out_new)
        return SEINE_E_INVAL;
    if (!s) {
        memset(out_new, 1, n);
        return SEINE_OK;
    }
    if (n == 1)
        return add_one(s, *prints, out_new);

    batch b = {.prints = prints, .n = n};
    for (size_t i = 0; i < n; i++)
        count_in(&b, prints[i]);
    return is_large(s, &b) || !take_room(s, n) ? add_missing(s, &b, out_new)
                                               : add_batch(s, &b, out_new);
}

seine_err
seine_seen_add(seine_seen *s, const void *key, size_t len, bool *out_new)
{
    if (!out_new || (!key && len > 0))
        return SEINE_E_INVAL;
    uint64_t print = seine_seen_print(s, key, len);
    uint8_t is_new = 0;
    seine_err e = seine_seen_add_many(s, &print, 1, &is_new);

    *out_new = is_new;
    return e;
}

bool
seine_seen_has(const seine_seen *s, const void *key, size_t len)
{
    if (!s)
        return false;
    uint64_t print = seine_seen_print(s, key, len), fp = turn_in(print);
    uint8_t is_new;

    return ask_run(&s->shards[shard_of(print)], &fp, 1, &is_new) == 0;
}

/* Each count only rises, so the set had this sum at some moment between the first and the
 * last read. */
uint64_t
seine_seen_count(const seine_seen *s)
{
    uint64_t sum = 0;

    for (unsigned i = 0; s && i < SHARDS; i++)
        sum += atomic_load_explicit(&s->shards[i].count, memory_order_acquire);
    return sum;
}

double
seine_seen_expected_loss(const seine_seen *s)
{
    double n = (double)seine_seen_count(s);

    return n * n * 0x1p-65;
}

/* Replaces the shard's set by `fresh` and returns the old one; withdraws unclaimed
 * promises. */
static sn_fingerprint_set
swap(shard *sh, const sn_fingerprint_set *fresh)
{
    sn_fingerprint_set was = sh->set;

    atomic_store(&sh->room, 0);
    sh->set = *fresh;
    show_table(sh);
    return was;
}

void
seine_seen_clear(seine_seen *s)
{
    for (unsigned i = 0; s && i < SHARDS; i++) {
        shard *sh = &s->shards[i];
        sn_fingerprint_set was = {0}, fresh = {.max = UINT64_MAX};

        pthread_mutex_lock(&sh->lock);
        uint64_t count = sh->set.count;
        sh->set.promised -= atomic_exchange(&sh->room, 0);
        fresh.first = sh->set.first;
        if (sh->set.promised == 0)
            was = swap(sh, &fresh);
        else /* claims of running calls keep their room */
            sn_fingerprint_set_wipe(&sh->set);
        sn_fptable dead = leave(sh);
        atomic_fetch_sub(&s->taken, count);
        sn_fingerprint_set_fini(&was);
        sn_fptable_free(&dead);
    }
}

/*
 * Saved sets are little-endian: magic, version, 0, seed; the prints, ascending; their
 * number; a checksum of all before it. The checksum is a chain of keyed hashes, one for
 * the head and one for every 1024 prints, each under the hash before.
 */
#define VERSION 1
#define BLOCK   1024

static const char magic[8] = {'S', 'N', 'P', 'R', 'I', 'N', 'T', 'S'};

typedef struct head {
    char magic[8];
    uint32_t version, zero;
    uint64_t seed[2];
} head;

typedef struct foot {
    uint64_t count, sum;
} foot;

static uint64_t
chain(uint64_t sum, uint64_t at, const void *bytes, size_t n)
{
    const uint64_t key[2] = {sum, at};

    return sn_siphash(key, bytes, n);
}

/* Up to a block of prints from `from` on. Shards are in the order of their prints, and so
 * are the prints in each shard. */
static uint32_t
list(const seine_seen *s, uint64_t from, uint64_t out_prints[BLOCK])
{
    uint32_t n = 0;

    for (unsigned i = shard_of(from); i < SHARDS && n < BLOCK; i++) {
        uint64_t start = i == shard_of(from) ? turn_in(from) : 0;
        uint32_t end = n;

        pthread_mutex_lock(&s->shards[i].lock);
        end +=
            sn_fingerprint_set_list(&s->shards[i].set, start, BLOCK - n, out_prints + n);
        pthread_mutex_unlock(&s->shards[i].lock);
        for (; n < end; n++)
            out_prints[n] = turn_out(out_prints[n]);
    }
    return n;
}

seine_err
seine_seen_save(const seine_seen *s, seine_seen_put put, void *arg)
{
    uint64_t prints[BLOCK], from = 0;
    head h = {.version = VERSION};
    foot f = {0};
    uint32_t n = BLOCK;

    if (!s || !put)
        return SEINE_E_INVAL;
    memcpy(h.magic, magic, sizeof magic);
    memcpy(h.seed, s->seed, sizeof h.seed);
    f.sum = chain(0, 0, &h, sizeof h);

    seine_err e = put(&h, sizeof h, arg);
    while (e == SEINE_OK && n == BLOCK && !(f.count > 0 && from == 0)) {
        n = list(s, from, prints);
        if (n == 0)
            break;
        f.sum = chain(f.sum, f.count, prints, n * sizeof *prints);
        f.count += n;
        from = prints[n - 1] + 1;
        e = put(prints, n * sizeof *prints, arg);
    }
    if (e != SEINE_OK)
        return e;
    f.sum = chain(f.sum, f.count, &f.count, sizeof f.count);
    return put(&f, sizeof f, arg);
}

static uint64_t
print_at(const uint8_t *prints, uint64_t i)
{
    uint64_t print;

    memcpy(&print, prints + i * sizeof print, sizeof print);
    return print;
}

/* Checks saved bytes, and finds the seed and the prints in them. */
static seine_err
check(const uint8_t *bytes, size_t n, head *out_head, uint64_t *out_count)
{
    head h = {0};
    foot f;

    if (n < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return SEINE_E_STATE_FOREIGN;
    memcpy(&h, bytes, n < sizeof h ? n : sizeof h);
    if (n >= sizeof h && h.version > VERSION)
        return SEINE_E_STATE_NEWER;
    if (n < sizeof h + sizeof f || h.version != VERSION || h.zero != 0)
        return SEINE_E_STATE_CORRUPT;

    const uint8_t *prints = bytes + sizeof h;
    size_t size = n - sizeof h - sizeof f;
    memcpy(&f, prints + size, sizeof f);
    if (size % sizeof(uint64_t) != 0 || f.count != size / sizeof(uint64_t))
        return SEINE_E_STATE_CORRUPT;

    uint64_t sum = chain(0, 0, &h, sizeof h);
    for (uint64_t at = 0; at < f.count; at += BLOCK) {
        uint64_t some = f.count - at < BLOCK ? f.count - at : BLOCK;

        sum = chain(sum, at, prints + at * sizeof(uint64_t), some * sizeof(uint64_t));
    }
    if (f.sum != chain(sum, f.count, &f.count, sizeof f.count))
        return SEINE_E_STATE_CORRUPT;
    for (uint64_t i = 1; i < f.count; i++)
        if (print_at(prints, i - 1) >= print_at(prints, i))
            return SEINE_E_STATE_CORRUPT;
    *out_head = h;
    *out_count = f.count;
    return SEINE_OK;
}

/* Fills a set with the prints from *at on that belong to shard i. */
static seine_err
fill(sn_fingerprint_set *set, unsigned i, const uint8_t *prints, uint64_t count,
     uint64_t *at)
{
    uint64_t fps[BLOCK], end = *at;
    uint8_t is_new[BLOCK];

    while (end < count && shard_of(print_at(prints, end)) == i)
        end++;
    if (end == *at)
        return SEINE_OK;
    seine_err e = sn_fingerprint_set_init(set, rung(i, end - *at) * 22 / 25, UINT64_MAX);
    while (e == SEINE_OK && *at < end) {
        uint32_t n = 0;

        for (; n < BLOCK && *at < end; n++)
            fps[n] = turn_in(print_at(prints, (*at)++));
        e = sn_fingerprint_set_add(set, fps, n, is_new);
    }
    return e;
}

seine_err
seine_seen_load(seine_seen *s, const void *bytes, size_t n)
{
    const uint8_t *prints = (const uint8_t *)bytes + sizeof(head);
    uint64_t count, at = 0;
    head h;

    if (!s)
        return SEINE_E_INVAL;
    seine_err e = check(bytes, n, &h, &count);
    if (e != SEINE_OK)
        return e;
    if (count > s->max)
        return SEINE_E_FULL;

    sn_fingerprint_set *sets SN_AUTOFREE = sn_calloc(SHARDS, sizeof *sets);
    if (!sets)
        return SEINE_E_NOMEM;
    for (unsigned i = 0; i < SHARDS && e == SEINE_OK; i++) {
        sets[i].max = UINT64_MAX;
        e = fill(&sets[i], i, prints, count, &at);
    }
    for (unsigned i = 0; i < SHARDS; i++) {
        shard *sh = &s->shards[i];

        if (e == SEINE_OK) {
            pthread_mutex_lock(&sh->lock);
            sets[i].first = sh->set.first;
            sets[i] = swap(sh, &sets[i]);
            (void)leave(sh);
        }
        sn_fingerprint_set_fini(&sets[i]);
    }
    if (e == SEINE_OK) {
        memcpy(s->seed, h.seed, sizeof s->seed);
        atomic_store(&s->taken, count);
    }
    return e;
}
