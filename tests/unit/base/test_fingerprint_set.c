/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fingerprint_set.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define BUCKET   64
#define LEAST    1802 /* keys of the smallest table: 256 buckets of 8, 0.88 full */
#define TOP      UINT64_MAX
#define HOME(h)  ((uint64_t)(h) << 56) /* where home h of 256 begins */
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A second, obvious set: linear probing in an array that is never full. */
typedef struct model {
    uint64_t *keys;
    bool *used;
    uint64_t mask, count;
} model;

static model
model_new(uint64_t room)
{
    uint64_t size = 2;

    while (size < 2 * room)
        size *= 2;
    return (model){calloc(size, sizeof(uint64_t)), calloc(size, sizeof(bool)), size - 1,
                   0};
}

static void
model_free(model *m)
{
    free(m->keys);
    free(m->used);
}

static uint64_t
model_find(const model *m, uint64_t key)
{
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 20 & m->mask;

    while (m->used[at] && m->keys[at] != key)
        at = (at + 1) & m->mask;
    return at;
}

static bool
model_add(model *m, uint64_t key)
{
    uint64_t at = model_find(m, key);

    if (m->used[at])
        return false;
    m->used[at] = true;
    m->keys[at] = key;
    m->count++;
    return true;
}

static int
by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The keys in order, in memory of their own. */
static uint64_t *
model_sorted(const model *m)
{
    uint64_t *keys = calloc(m->count + 1, sizeof *keys), n = 0;

    for (uint64_t i = 0; i <= m->mask; i++)
        if (m->used[i])
            keys[n++] = m->keys[i];
    qsort(keys, n, sizeof *keys, by_value);
    return keys;
}

static sn_fingerprint_set
set_of(uint64_t expect)
{
    sn_fingerprint_set s = {0};

    CHECK_EQ(sn_fingerprint_set_init(&s, expect, TOP), SEINE_OK);
    return s;
}

static bool
add(sn_fingerprint_set *s, uint64_t fp)
{
    uint8_t is_new = 2;

    CHECK_EQ(sn_fingerprint_set_add(s, &fp, 1, &is_new), SEINE_OK);
    return is_new == 1;
}

/* Adds a batch to the set and to the model and compares the results. */
static void
add_both(sn_fingerprint_set *s, model *m, const uint64_t *fps, uint32_t n)
{
    uint8_t *is_new = malloc((size_t)n + 1);
    uint32_t wrong = 0;

    CHECK_EQ(sn_fingerprint_set_add(s, fps, n, is_new), SEINE_OK);
    for (uint32_t i = 0; i < n; i++)
        wrong += is_new[i] != model_add(m, fps[i]);
    CHECK_EQ(wrong, 0);
    CHECK_EQ(s->count, m->count);
    free(is_new);
}

typedef struct listing {
    const uint64_t *want;
    uint64_t at, wrong;
} listing;

static bool
compare(const uint64_t *fps, uint32_t n, void *arg)
{
    listing *l = arg;

    for (uint32_t i = 0; i < n; i++)
        l->wrong += fps[i] != l->want[l->at++];
    return true;
}

/* The set holds exactly the keys of the model and lists them in order. */
static void
check_same(const sn_fingerprint_set *s, const model *m)
{
    uint64_t *want = model_sorted(m), missing = 0;
    listing l = {want, 0, 0};

    for (uint64_t i = 0; i < m->count; i++)
        missing += !sn_fingerprint_set_has(s, want[i]);
    CHECK_EQ(missing, 0);
    CHECK_EQ(s->count, m->count);
    CHECK_EQ(sn_fingerprint_set_each(s, compare, &l), SEINE_OK);
    CHECK_EQ(l.at, m->count);
    CHECK_EQ(l.wrong, 0);
    free(want);
}

TEST(fingerprint_set_says_new_once)
{
    sn_fingerprint_set s = set_of(0);

    CHECK(!sn_fingerprint_set_has(&s, 42));
    CHECK(add(&s, 42));
    CHECK(sn_fingerprint_set_has(&s, 42));
    CHECK(!add(&s, 42));
    CHECK(!sn_fingerprint_set_has(&s, 43));
    CHECK_EQ(s.count, 1);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_keeps_the_least_and_the_greatest_fingerprint)
{
    static const uint64_t fps[] = {0, TOP, 1, TOP - 1, HOME(1), HOME(1) - 1, HOME(255)};
    sn_fingerprint_set s = set_of(0);
    model m = model_new(COUNT(fps));

    for (size_t i = 0; i < COUNT(fps); i++)
        CHECK(!sn_fingerprint_set_has(&s, fps[i]));
    add_both(&s, &m, fps, COUNT(fps));
    add_both(&s, &m, fps, COUNT(fps));
    check_same(&s, &m);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_calls_one_of_equal_keys_in_a_batch_new)
{
    uint64_t fps[100];
    uint8_t is_new[100];
    sn_fingerprint_set s = set_of(0);

    for (int i = 0; i < 100; i++)
        fps[i] = (uint64_t)(i % 7) << 40;
    CHECK_EQ(sn_fingerprint_set_add(&s, fps, 100, is_new), SEINE_OK);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(is_new[i], i < 7);
    CHECK_EQ(s.count, 7);
    sn_fingerprint_set_fini(&s);
}

/* The bytes of a bucket, as base/fingerprint_set.h lays them out. */
TEST(fingerprint_set_lays_out_buckets_of_64_bytes_with_8_slots_of_7_bytes)
{
    static const int off[16] = {0,  1,  3,  7,   13,  21,  31,  43,
                                57, 73, 91, 111, 133, 157, 183, 211};
    sn_fingerprint_set s = set_of(0);

    /* Home 5 of 256: the top byte. Only the low seven bytes are kept. */
    CHECK(add(&s, HOME(5) | 0x77665544332211));
    uint8_t *home = s.now.base + 5 * BUCKET;
    CHECK_EQ(s.now.nb, 256);
    CHECK_EQ(s.now.k, 7);
    CHECK(memcmp(home, "\x11\x22\x33\x44\x55\x66\x77", 7) == 0);
    CHECK_EQ(home[56], 0);
    CHECK_EQ(home[62], 0);
    CHECK_EQ(home[63], 0x01);

    /* 16 places of 8 slots; the nibble of slot 0 says which place it is. */
    for (uint64_t i = 1; i < 16 * 8; i++)
        CHECK(add(&s, HOME(5) | i));
    for (int d = 0; d < 16; d++) {
        const uint8_t *b = home + off[d] * BUCKET;

        CHECK_EQ(b[63] & 15, 8);
        CHECK_EQ(b[56], d | d << 4);
        CHECK_EQ(b[59], d | d << 4);
        CHECK_EQ(b[49], d == 0 ? 7 : d * 8 + 7); /* slot 7 begins at 7 * 7 */
    }
    CHECK_EQ(home[63], 0xf8);
    CHECK_EQ(home[62], 0);
    CHECK_EQ(s.n_side, 0);

    /* One more has no place left and goes to the side. */
    CHECK(add(&s, HOME(5) | 0xffff));
    CHECK_EQ(home[62], 1);
    CHECK_EQ(s.n_side, 1);
    CHECK(s.side[0] == (HOME(5) | 0xffff));
    CHECK(sn_fingerprint_set_has(&s, HOME(5) | 0xffff));
    CHECK(!add(&s, HOME(5) | 0xffff));
    sn_fingerprint_set_fini(&s);
}

/* The same low bytes in one bucket, of two homes: the nibble tells them apart. */
TEST(fingerprint_set_knows_which_home_an_entry_is_from)
{
    sn_fingerprint_set s = set_of(0);

    CHECK(add(&s, HOME(6) | 0xabc)); /* at home in bucket 6 */
    for (uint64_t i = 0; i < 9; i++) /* the ninth of home 5 goes there, too */
        CHECK(add(&s, HOME(5) | i));
    CHECK(!sn_fingerprint_set_has(&s, HOME(5) | 0xabc));
    CHECK(!sn_fingerprint_set_has(&s, HOME(6) | 8));
    CHECK(add(&s, HOME(5) | 0xabc));
    CHECK(add(&s, HOME(6) | 8));
    sn_fingerprint_set_fini(&s);
}

/* 257 does not divide 2^64: the last key of a home and the first of the next. */
TEST(fingerprint_set_is_exact_at_the_borders_of_homes)
{
    sn_fingerprint_set s = set_of(LEAST + 1);
    model m = model_new(520);

    CHECK_EQ(s.now.nb, 257);
    for (unsigned h = 1; h < 257; h++) {
        __extension__ unsigned __int128 border = (unsigned __int128)h << 64;
        uint64_t fps[2] = {(uint64_t)(border / 257), (uint64_t)(border / 257) + 1};

        add_both(&s, &m, fps, 2);
    }
    check_same(&s, &m);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_takes_the_k_that_its_size_allows)
{
    static const struct {
        uint64_t expect, nb;
        uint32_t k, slots;
    } rows[] = {
        {1, 256, 7, 8},               /* the least table */
        {LEAST, 256, 7, 8},           /* still */
        {LEAST + 1, 257, 7, 8},       /* 2,049 slots */
        {519037, 73727, 7, 8},        /* 589,815 slots: of 9, they make 65,535 buckets */
        {519038, 65536, 6, 9},        /* one slot more, and there are 2^16 */
        {162403441, 20505485, 6, 9},  /* 184,549,365 slots: of 11, 2^24 - 1 buckets */
        {162403442, 16777216, 5, 11}, /* one slot more */
    };

    EACH_ROW(i, rows) {
        sn_fingerprint_set s = set_of(rows[i].expect);

        CHECK_EQ(s.now.nb, rows[i].nb);
        CHECK_EQ(s.now.k, rows[i].k);
        CHECK_EQ(s.now.slots, rows[i].slots);
        CHECK(s.limit >= rows[i].expect);
        sn_fingerprint_set_fini(&s);
    }
}

/* The i-th key of a seed, so that a test can make any key again. */
static uint64_t
key(uint64_t seed, uint64_t i)
{
    sn_rng r = sn_rng_seed(seed + i);

    return sn_rng_next(&r);
}

/* Random keys, an eighth of them known already, in random batches. */
static void
random_rounds(sn_fingerprint_set *s, uint64_t want, uint32_t most)
{
    uint64_t seed = check_seed(), made = 0, fps[256];
    sn_rng r = sn_rng_seed(seed);
    model m = model_new(want + most);

    while (m.count < want) {
        uint32_t n = 1 + (uint32_t)sn_rng_below(&r, most);

        for (uint32_t i = 0; i < n; i++)
            fps[i] = key(seed, sn_rng_below(&r, 8) ? made++ : sn_rng_below(&r, made + 1));
        add_both(s, &m, fps, n);
        CHECK(!sn_fingerprint_set_has(s, key(seed, made + 1)));
    }
    check_same(s, &m);
    model_free(&m);
}

TEST(fingerprint_set_agrees_with_a_plain_set_while_it_grows_from_nothing)
{
    sn_fingerprint_set s = set_of(0);

    random_rounds(&s, 60000, 100);
    CHECK_EQ(s.now.k, 7);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_agrees_with_a_plain_set_while_it_changes_from_k_7_to_6)
{
    /* 61,080 buckets of 8; 5/4 of the slots are 67,867 of 9. */
    sn_fingerprint_set s = set_of(430000);

    CHECK_EQ(s.now.k, 7);
    random_rounds(&s, 431000, 256);
    CHECK_EQ(s.now.k, 6);
    CHECK(s.old.base); /* 1,000 keys of 256 homes per 32 do not move them all */
    sn_fingerprint_set_fini(&s);
}

/* Fills until the table begins to move. */
static void
fill(sn_fingerprint_set *s, model *m, sn_rng *r)
{
    while (!s->old.base) {
        uint64_t fp = sn_rng_next(r);

        add_both(s, m, &fp, 1);
    }
}

TEST(fingerprint_set_is_exact_at_every_stage_of_a_move)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_fingerprint_set s = set_of(6000); /* 853 buckets: 256, 512, 768, done */
    model m = model_new(7000);
    uint64_t stages = 0;

    for (fill(&s, &m, &r); s.old.base; stages++) {
        uint64_t fp = sn_rng_next(&r);

        CHECK_EQ(s.cursor, 256 * (stages + 1));
        check_same(&s, &m);
        add_both(&s, &m, &fp, 1);
    }
    CHECK_EQ(stages, 3);
    check_same(&s, &m);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

/* Unlikely keys: those that homes cannot tell apart. */
TEST(fingerprint_set_is_exact_for_keys_that_share_their_homes)
{
    static const struct {
        uint64_t start, step;
        uint32_t n;
    } rows[] = {
        {0, 1, 3000},                  /* all in the first home */
        {TOP - 2999, 1, 3000},         /* all in the last */
        {HOME(7) - 1500, 1, 3000},     /* on both sides of a border */
        {5, (uint64_t)1 << 56, 256},   /* one in each home */
        {0, (uint64_t)1 << 45, 6000},  /* 2^11 a home, and no more homes */
        {1, 0x0123456789abcdef, 3000}, /* evenly spread */
        {TOP, TOP, 3000},              /* falling */
    };

    EACH_ROW(i, rows) {
        sn_fingerprint_set s = set_of(0);
        model m = model_new(rows[i].n);
        uint64_t fps[100], fp = rows[i].start;

        for (uint32_t done = 0; done < rows[i].n;) {
            uint32_t n = 0;

            for (; n < COUNT(fps) && done < rows[i].n; n++, done++, fp += rows[i].step)
                fps[n] = fp;
            add_both(&s, &m, fps, n);
            add_both(&s, &m, fps, n);
        }
        check_same(&s, &m);
        model_free(&m);
        sn_fingerprint_set_fini(&s);
    }
}

/* Clusters of 300, more than the 128 places of a home, and single keys that make the
 * table grow around them: the side moves with it. */
TEST(fingerprint_set_keeps_its_side_through_growth)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_fingerprint_set s = set_of(0);
    model m = model_new(30000);
    uint64_t fps[50];

    for (int cluster = 0; cluster < 20; cluster++) {
        uint64_t at = sn_rng_next(&r);

        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 50; j++)
                fps[j] = at + sn_rng_below(&r, 5000);
            add_both(&s, &m, fps, 50);
        }
        for (int i = 0; i < 20; i++) {
            for (int j = 0; j < 50; j++)
                fps[j] = sn_rng_next(&r);
            add_both(&s, &m, fps, 50);
        }
    }
    CHECK(s.n_side > 1024); /* its second run was merged, too */
    CHECK(s.sorted > 0);
    check_same(&s, &m);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

/* Keys so evenly spread that none goes to the side, which is not part of the load. */
TEST(fingerprint_set_grows_by_a_quarter_at_load_088)
{
    sn_fingerprint_set s = set_of(0);
    uint64_t fp = 0;

    for (; s.count < LEAST; fp += 0x9e3779b97f4a7c15u)
        CHECK(add(&s, fp));
    CHECK_EQ(s.now.nb, 256);
    CHECK(!s.old.base);
    for (; s.count < LEAST + 1; fp += 0x9e3779b97f4a7c15u)
        CHECK(add(&s, fp));
    CHECK_EQ(s.now.nb, 320);
    CHECK(!s.old.base); /* 256 homes are one step */
    for (; s.count <= 320 * 8 * 22 / 25; fp += 0x9e3779b97f4a7c15u)
        CHECK(add(&s, fp));
    CHECK_EQ(s.now.nb, 400);
    CHECK_EQ(s.old.nb, 320);
    CHECK_EQ(s.cursor, 256);
    sn_fingerprint_set_fini(&s);
}

/* 200 keys on both sides of a border, in the reach of two homes of 256, are all of
 * one home of 320, which reaches 128: the others go to the side in the move. */
TEST(fingerprint_set_moves_what_finds_no_place_to_the_side)
{
    sn_fingerprint_set s = set_of(0);
    model m = model_new(2000);
    uint64_t fps[200], fp = 1;

    for (uint64_t j = 0; j < 200; j++)
        fps[j] = HOME(3) - 100 + j;
    add_both(&s, &m, fps, 200);
    CHECK_EQ(s.n_side, 0);
    for (; s.now.nb == 256; fp += 0x9e3779b97f4a7c15u)
        add_both(&s, &m, &fp, 1);
    CHECK(s.n_side >= 72);
    check_same(&s, &m);
    add_both(&s, &m, fps, 200);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_does_not_grow_for_keys_it_knows)
{
    sn_rng r = sn_rng_seed(check_seed());
    uint64_t fps[LEAST];
    uint8_t is_new[LEAST];
    sn_fingerprint_set s = set_of(0);

    for (int i = 0; i < LEAST; i++)
        fps[i] = sn_rng_next(&r);
    CHECK_EQ(sn_fingerprint_set_add(&s, fps, LEAST, is_new), SEINE_OK);
    CHECK_EQ(sn_fingerprint_set_add(&s, fps, LEAST, is_new), SEINE_OK);
    CHECK_EQ(s.now.nb, 256);
    CHECK_EQ(s.count, LEAST);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_takes_a_batch_larger_than_itself_even_in_the_middle_of_a_move)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_fingerprint_set s = set_of(6000);
    enum { N = 50000 };
    uint64_t *fps = calloc(N, sizeof *fps);
    model m = model_new(N + 7000);

    fill(&s, &m, &r);
    for (int i = 0; i < N; i++)
        fps[i] = sn_rng_next(&r);
    add_both(&s, &m, fps, N);
    check_same(&s, &m);
    model_free(&m);
    free(fps);
    sn_fingerprint_set_fini(&s);
}

/* 2^24 buckets of 11 slots are a gigabyte of addresses, of which the keys, all from
 * 4,096 neighbouring homes, touch 256 KiB. */
TEST(fingerprint_set_is_exact_with_k_5)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_fingerprint_set s = set_of(163000000);
    uint64_t start = (uint64_t)0x123456789a << 24, fps[100], got[100];
    model m = model_new(41000);

    CHECK_EQ(s.now.k, 5);
    while (m.count < 40000) {
        for (int i = 0; i < 100; i++)
            fps[i] = start + sn_rng_below(&r, (uint64_t)4096 << 40);
        add_both(&s, &m, fps, 100);
    }
    /* Some homes are beyond their 11 slots, so displacement is at work. */
    uint64_t *want = model_sorted(&m), wrong = 0, from = start;
    for (uint64_t at = 0; at < m.count; at += 100) {
        uint32_t n = m.count - at < 100 ? (uint32_t)(m.count - at) : 100;

        CHECK_EQ(sn_fingerprint_set_list(&s, from, n, got), n);
        for (uint32_t i = 0; i < n; i++)
            wrong += got[i] != want[at + i] || !sn_fingerprint_set_has(&s, want[at + i]);
        from = got[n - 1] + 1;
    }
    CHECK_EQ(wrong, 0);
    free(want);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_lists_from_any_key_on)
{
    static const struct {
        uint64_t from;
        uint32_t cap, n;
        uint64_t first;
    } rows[] = {
        {0, 10, 4, 3},       /* all */
        {3, 10, 4, 3},       /* the key itself */
        {4, 10, 3, HOME(9)}, /* after it */
        {4, 1, 1, HOME(9)},  /* no more than asked for */
        {4, 0, 0, 0},        /* nothing asked for */
        {TOP, 10, 1, TOP},   /* the last */
    };
    static const uint64_t fps[] = {TOP, HOME(9) + 1, 3, HOME(9)};
    sn_fingerprint_set s = set_of(0);
    uint8_t is_new[4];

    CHECK_EQ(sn_fingerprint_set_list(&s, 0, 1, &(uint64_t){0}), 0);
    CHECK_EQ(sn_fingerprint_set_add(&s, fps, 4, is_new), SEINE_OK);
    EACH_ROW(i, rows) {
        uint64_t got[10] = {0};

        CHECK_EQ(sn_fingerprint_set_list(&s, rows[i].from, rows[i].cap, got), rows[i].n);
        CHECK(got[0] == rows[i].first);
    }
    sn_fingerprint_set_fini(&s);
}

static bool
stop_at_once(const uint64_t *fps, uint32_t n, void *arg)
{
    (void)fps;
    *(uint32_t *)arg += n;
    return false;
}

TEST(fingerprint_set_each_stops_when_it_is_told_to)
{
    sn_fingerprint_set s = set_of(0);
    uint32_t n = 0;

    for (uint64_t i = 0; i < 1100; i++)
        CHECK(add(&s, i << 50));
    CHECK_EQ(sn_fingerprint_set_each(&s, stop_at_once, &n), SEINE_OK);
    CHECK_EQ(n, 1024); /* one block */
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_refuses_settings_that_make_no_sense)
{
    sn_fingerprint_set s = {.count = 7};

    CHECK_EQ(sn_fingerprint_set_init(&s, 0, 0), SEINE_E_INVAL);
    CHECK_EQ(sn_fingerprint_set_init(&s, 11, 10), SEINE_E_INVAL);
    CHECK_EQ(sn_fingerprint_set_init(&s, (uint64_t)1 << 60, TOP), SEINE_E_NOMEM);
    CHECK_EQ(s.count, 7);
}

TEST(fingerprint_set_never_holds_more_than_its_maximum)
{
    static const uint64_t ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const uint64_t repeats[] = {11, 3, 11, 11, 3};
    static const uint64_t two[] = {11, 12};
    uint8_t is_new[10];
    sn_fingerprint_set s = {0};

    CHECK_EQ(sn_fingerprint_set_init(&s, 0, 11), SEINE_OK);
    CHECK_EQ(sn_fingerprint_set_add(&s, ten, 10, is_new), SEINE_OK);

    /* The whole batch is refused, and the results are untouched. */
    memset(is_new, 9, sizeof is_new);
    CHECK_EQ(sn_fingerprint_set_add(&s, two, 2, is_new), SEINE_E_FULL);
    CHECK_EQ(is_new[0], 9);
    CHECK_EQ(s.count, 10);
    CHECK(!sn_fingerprint_set_has(&s, 11));

    /* One new key, three times, fits. */
    CHECK_EQ(sn_fingerprint_set_add(&s, repeats, 5, is_new), SEINE_OK);
    CHECK(is_new[0] == 1 && is_new[1] == 0 && is_new[2] == 0);
    CHECK_EQ(s.count, 11);

    /* Full: what is known is known. */
    CHECK(!add(&s, 11));
    CHECK_EQ(sn_fingerprint_set_add(&s, ten, 10, is_new), SEINE_OK);
    CHECK_EQ(sn_fingerprint_set_add(&s, &two[1], 1, is_new), SEINE_E_FULL);
    CHECK_EQ(s.count, 11);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_allocates_nothing_until_its_first_key)
{
    count_begin();
    sn_fingerprint_set s = set_of(0);
    CHECK_EQ(count_calls(), 0);
    CHECK(!sn_fingerprint_set_has(&s, 1));
    CHECK_EQ(sn_fingerprint_set_add(&s, NULL, 0, NULL), SEINE_OK);
    CHECK_EQ(count_calls(), 0);
    CHECK(add(&s, 1));
    CHECK_EQ(count_calls(), 2); /* the table and its side */
    sn_fingerprint_set_fini(&s);
    sn_fingerprint_set_fini(&s); /* zero is fine */
    count_end();
}

TEST(fingerprint_set_that_expects_its_keys_allocates_once)
{
    sn_rng r = sn_rng_seed(check_seed());
    uint64_t fps[32];
    uint8_t is_new[32];

    count_begin();
    sn_fingerprint_set s = set_of(20000);
    long calls = count_calls();
    for (int i = 0; i < 20000 / 32; i++) {
        for (int j = 0; j < 32; j++)
            fps[j] = sn_rng_next(&r);
        CHECK_EQ(sn_fingerprint_set_add(&s, fps, 32, is_new), SEINE_OK);
    }
    CHECK_EQ(count_calls(), calls);
    sn_fingerprint_set_fini(&s);
    count_end();
}

/* Whatever fails, the batch is in or out as a whole, and earlier keys stay. */
TEST(fingerprint_set_adds_all_of_a_batch_or_nothing_when_memory_runs_out)
{
    FAIL_EACH(round)
    {
        sn_rng r = sn_rng_seed(7);
        sn_fingerprint_set s = {0};
        model m = model_new(5000);
        uint64_t fps[300];
        uint8_t is_new[300];

        if (sn_fingerprint_set_init(&s, 100, 5000) == SEINE_OK) {
            for (int batch = 0; batch < 12; batch++) {
                for (int i = 0; i < 300; i++)
                    fps[i] = batch % 3 == 2 ? (uint64_t)i + 1000 * (uint64_t)batch
                                            : sn_rng_next(&r);
                memset(is_new, 9, sizeof is_new);
                seine_err e = sn_fingerprint_set_add(&s, fps, 300, is_new);
                CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
                for (int i = 0; i < 300; i++)
                    CHECK_EQ(is_new[i], e == SEINE_OK ? model_add(&m, fps[i]) : 9);
            }
            check_same(&s, &m);
        }
        sn_fingerprint_set_fini(&s);
        model_free(&m);
    }
}

TEST(fingerprint_set_needs_memory_to_say_that_a_batch_does_not_fit)
{
    static const uint64_t fps[] = {1, 2, 3};
    uint8_t is_new[3];

    FAIL_EACH(round)
    {
        sn_fingerprint_set s = {0};

        CHECK_EQ(sn_fingerprint_set_init(&s, 0, 2), SEINE_OK);
        seine_err e = sn_fingerprint_set_add(&s, fps, 3, is_new);
        CHECK(e == SEINE_E_FULL || e == SEINE_E_NOMEM);
        CHECK_EQ(s.count, 0);
        sn_fingerprint_set_fini(&s);
    }
}

TEST(fingerprint_set_puts_only_what_it_has_memory_for)
{
    sn_fingerprint_set s = set_of(0);
    uint64_t fp = 1;
    uint8_t is_new;

    CHECK(!sn_fingerprint_set_put(&s, &fp, 1, &is_new)); /* no table at all */
    CHECK(add(&s, 0));
    for (; s.n_side < s.side_cap; fp++)
        CHECK(sn_fingerprint_set_put(&s, &fp, 1, &is_new));
    CHECK(!sn_fingerprint_set_put(&s, &fp, 1, &is_new));
    CHECK(!sn_fingerprint_set_has(&s, fp));
    CHECK_EQ(s.count, fp);
    sn_fingerprint_set_fini(&s);
}

/* A move waits when it might need more of the side than there is. */
TEST(fingerprint_set_stops_a_move_that_its_side_cannot_take)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_fingerprint_set s = set_of(6000);
    model m = model_new(30000);

    fill(&s, &m, &r);
    /* Promise all of the side that is left, as a caller with a lock would. */
    s.promised = s.side_cap - s.n_side - 100;
    uint64_t cursor = s.cursor;
    uint64_t fp = sn_rng_next(&r);
    uint8_t is_new;
    CHECK(sn_fingerprint_set_put(&s, &fp, 1, &is_new) && is_new && model_add(&m, fp));
    CHECK_EQ(s.cursor, cursor);
    check_same(&s, &m);

    /* A larger table cannot come in now, a larger side can, and then both. */
    sn_fproom room;
    sn_fingerprint_set_plan(&s, 20000, 0, &room);
    CHECK_EQ(sn_fproom_get(&room), SEINE_OK);
    sn_fingerprint_set_give(&s, &room);
    CHECK(room.table.base);
    sn_fproom_fini(&room);
    sn_fingerprint_set_plan(&s, 20000, 500, &room);
    CHECK_EQ(sn_fproom_get(&room), SEINE_OK);
    sn_fingerprint_set_give(&s, &room);
    CHECK(!room.table.base);
    sn_fproom_fini(&room);
    CHECK(s.dead.base);
    sn_fptable_free(&s.dead);
    CHECK(sn_fingerprint_set_room(&s) >= 20000 &&
          sn_fingerprint_set_side_room(&s) >= 500);
    s.promised = 0;
    check_same(&s, &m);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

TEST(fingerprint_set_wiped_is_empty_and_keeps_its_memory)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_fingerprint_set s = set_of(6000);
    model m = model_new(7000);

    for (uint64_t i = 0; i < 200; i++)
        CHECK(add(&s, i)); /* some go to the side */
    while (!s.old.base)
        CHECK(add(&s, sn_rng_next(&r)));
    uint64_t room = s.limit;
    sn_fingerprint_set_wipe(&s);
    sn_fptable_free(&s.dead);
    CHECK_EQ(s.count, 0);
    CHECK_EQ(sn_fingerprint_set_room(&s), room);
    check_same(&s, &m);
    for (uint64_t i = 0; i < 200; i++)
        add_both(&s, &m, &i, 1);
    check_same(&s, &m);
    model_free(&m);
    sn_fingerprint_set_fini(&s);
}

/* 0.5 MB of old table: half-way through the move its first page is gone. */
TEST(fingerprint_set_gives_pages_back_behind_the_cursor)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_fingerprint_set s = set_of(60000);
    unsigned char first = 1, last = 0;

    while (s.cursor < s.old.nb / 2 || !s.old.base)
        CHECK(add(&s, sn_rng_next(&r)));
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t end = (uintptr_t)s.old.base + s.old.nb * BUCKET;
    CHECK_EQ(mincore(s.old.base, page, &first), 0);
    CHECK_EQ(mincore((void *)((end - 1) & ~(page - 1)), 1, &last), 0);
    CHECK_EQ(first & 1, 0);
    CHECK_EQ(last & 1, 1);
    sn_fingerprint_set_fini(&s);
}
