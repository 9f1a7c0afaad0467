/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/seen.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <seine/alloc.h>

#include "base/hash.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define SEED \
    {        \
        1, 2 \
    }

static seine_seen *
set_of(uint64_t expect, uint64_t max)
{
    seine_seen_opts opts = {sizeof(seine_seen_opts), expect, max, SEED};
    seine_seen *s = NULL;

    CHECK_EQ(seine_seen_new(&opts, &s), SEINE_OK);
    return s;
}

static bool
add(seine_seen *s, const char *key)
{
    bool is_new = false;

    CHECK_EQ(seine_seen_add(s, key, strlen(key), &is_new), SEINE_OK);
    return is_new;
}

static bool
has(const seine_seen *s, const char *key)
{
    return seine_seen_has(s, key, strlen(key));
}

/* The i-th print of a seed, so that a test can make any print again. */
static uint64_t
print(uint64_t seed, uint64_t i)
{
    sn_rng r = sn_rng_seed(seed + i);

    return sn_rng_next(&r);
}

/* The same, in the first two of 64 shards: fewer tables to make. */
static uint64_t
near_print(uint64_t seed, uint64_t i)
{
    return print(seed, i) >> 5;
}

static uint64_t
sum(const uint8_t *is_new, size_t n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += is_new[i];
    return count;
}

/* Adds prints first … first + n of a seed and returns how many were new. */
static uint64_t
add_prints(seine_seen *s, uint64_t seed, uint64_t first, size_t n)
{
    uint64_t *prints = calloc(n, sizeof *prints), count;
    uint8_t *is_new = calloc(n, 1);

    for (size_t i = 0; i < n; i++)
        prints[i] = print(seed, first + i);
    CHECK_EQ(seine_seen_add_many(s, prints, n, is_new), SEINE_OK);
    count = sum(is_new, n);
    free(prints);
    free(is_new);
    return count;
}

TEST(s1_18_seen_knows_the_urls_of_one_batch_and_forgets_them_for_the_next)
{
    static const char *const batch[] = {"http://a/", "http://b/", "http://a/"};
    seine_seen *s = set_of(0, 100);

    for (int round = 0; round < 3; round++) {
        CHECK(add(s, batch[0]));
        CHECK(add(s, batch[1]));
        CHECK(!add(s, batch[2]));
        CHECK_EQ(seine_seen_count(s), 2);
        seine_seen_clear(s);
        CHECK_EQ(seine_seen_count(s), 0);
        CHECK(!has(s, batch[0]));
    }
    seine_seen_free(s);
}

/* Seed 001 asked and marked in two steps, so two callers both got "not seen". */
TEST(x_15_seen_asks_and_remembers_in_one_step)
{
    seine_seen *s = set_of(0, 100);

    CHECK(!has(s, "http://a/"));
    CHECK(add(s, "http://a/"));
    CHECK(has(s, "http://a/"));
    CHECK(!add(s, "http://a/"));
    seine_seen_free(s);
}

typedef struct crowd {
    seine_seen *seen;
    int adds, urls;
    atomic_int fresh, failed;
} crowd;

static void *
add_urls(void *arg)
{
    crowd *c = arg;
    int fresh = 0;

    for (int i = 0; i < c->adds; i++) {
        char url[] = "http://example.org/000";
        unsigned number = (unsigned)(i * 7 % c->urls);
        bool is_new;

        for (size_t at = sizeof url - 2; number > 0; number /= 10)
            url[at--] = (char)('0' + number % 10);
        if (seine_seen_add(c->seen, url, sizeof url, &is_new) != SEINE_OK)
            c->failed++;
        else
            fresh += is_new;
    }
    c->fresh += fresh;
    return NULL;
}

/* 8 threads, which together add exactly the maximum and never get FULL. */
static void
run_crowd(void *(*body)(void *), int adds, int urls, uint64_t max)
{
    crowd c = {.seen = set_of(0, max), .adds = adds, .urls = urls};
    pthread_t threads[8];

    for (int i = 0; i < 8; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, body, &c), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(c.fresh, urls);
    CHECK_EQ(c.failed, 0);
    CHECK_EQ(seine_seen_count(c.seen), urls);
    seine_seen_free(c.seen);
}

TEST(t21_seen_tells_8_threads_with_100000_adds_of_1000_urls_1000_times_new)
{
    /* Once, because the number of adds is the point; s2_05 below runs 50 times. */
    run_crowd(add_urls, 100000, 1000, 2000);
}

TEST_THREADS(s2_05_seen_tells_one_of_many_threads_that_a_key_is_new)
{
    run_crowd(add_urls, 200, 100, 100);
}

static void *
add_batches(void *arg)
{
    crowd *c = arg;
    uint64_t prints[64];
    uint8_t is_new[64];

    for (int i = 0; i < c->adds; i += 64) {
        for (int j = 0; j < 64; j++)
            prints[j] = near_print(11, (uint64_t)((i + j) * 7 % c->urls));
        if (seine_seen_add_many(c->seen, prints, 64, is_new) != SEINE_OK)
            c->failed++;
        else
            c->fresh += (int)sum(is_new, 64);
    }
    return NULL;
}

TEST_THREADS(s2_05_seen_tells_one_of_many_batches_that_a_print_is_new)
{
    run_crowd(add_batches, 512, 200, 200);
}

/* 8,000 prints in each of two shards, whose tables grow seven times. */
TEST(s2_05_seen_grows_under_the_hands_of_8_threads)
{
    /* Once, because one run grows 14 times in the middle of other threads' work. */
    run_crowd(add_batches, 16000, 16000, 1 << 20);
}

static void *
add_and_clear(void *arg)
{
    crowd *c = arg;
    uint64_t prints[64];
    uint8_t is_new[64];

    for (int i = 0; i < c->adds; i++) {
        for (int j = 0; j < 64; j++)
            prints[j] = near_print(12, (uint64_t)i * 64 + (uint64_t)j);
        if (seine_seen_add_many(c->seen, prints, 64, is_new) != SEINE_OK)
            c->failed++;
        if (i % 4 == 3)
            seine_seen_clear(c->seen);
    }
    return NULL;
}

TEST_THREADS(seen_may_be_cleared_while_others_add)
{
    crowd c = {.seen = set_of(0, 100000), .adds = 12};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, add_and_clear, &c), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(c.failed, 0);

    /* Afterwards exactly the maximum fits: no number was lost. */
    seine_seen_clear(c.seen);
    CHECK_EQ(seine_seen_count(c.seen), 0);
    CHECK_EQ(add_prints(c.seen, 13, 0, 2000), 2000);
    seine_seen_free(c.seen);
}

TEST(seen_prints_depend_on_key_and_seed_only)
{
    seine_seen *a = set_of(0, 10), *b = set_of(1000, 1000), *c = NULL, *d = NULL;
    static const char url[] = "http://example.org/";

    CHECK(seine_seen_print(a, url, sizeof url) == seine_seen_print(b, url, sizeof url));
    CHECK(seine_seen_print(a, url, 5) != seine_seen_print(a, url, 6));
    CHECK(seine_seen_print(a, NULL, 0) == seine_seen_print(a, url, 0));

    /* A seed of {0, 0} is drawn, so no two sets agree; NULL options are the usual. */
    seine_seen_opts opts = SEINE_SEEN_OPTS;
    CHECK_EQ(opts.max, INT64_C(1) << 32);
    CHECK_EQ(seine_seen_new(&opts, &c), SEINE_OK);
    CHECK_EQ(seine_seen_new(NULL, &d), SEINE_OK);
    CHECK(seine_seen_print(c, url, 9) != seine_seen_print(d, url, 9));
    seine_seen_free(a);
    seine_seen_free(b);
    seine_seen_free(c);
    seine_seen_free(d);
}

TEST(seen_add_and_add_many_speak_of_the_same_keys)
{
    seine_seen *s = set_of(0, 100);
    uint64_t prints[3] = {seine_seen_print(s, "a", 1), seine_seen_print(s, "b", 1),
                          seine_seen_print(s, "a", 1)};
    uint8_t is_new[3];

    CHECK(add(s, "b"));
    CHECK_EQ(seine_seen_add_many(s, prints, 3, is_new), SEINE_OK);
    CHECK(is_new[0] == 1 && is_new[1] == 0 && is_new[2] == 0);
    CHECK(has(s, "a"));
    CHECK_EQ(seine_seen_add_many(s, NULL, 0, NULL), SEINE_OK);
    seine_seen_free(s);
}

/* Batches of all sizes, an eighth of the prints known. Print i is new if and only if it
 * was never given before. */
TEST(seen_is_exact_for_random_batches_while_it_grows)
{
    enum { N = 120000, MOST = 3000 };
    uint64_t seed = check_seed(), made = 0, wrong = 0, *prints = calloc(MOST, 8);
    sn_rng r = sn_rng_seed(seed);
    uint8_t *is_new = calloc(MOST, 1), *want = calloc(MOST, 1);
    seine_seen *s = set_of(0, N + MOST);

    while (made < N) {
        size_t n = 1 + sn_rng_below(&r, sn_rng_below(&r, 4) ? 100 : MOST);

        for (size_t i = 0; i < n; i++) {
            want[i] = made == 0 || sn_rng_below(&r, 8) > 0;
            prints[i] = print(seed, want[i] ? made++ : sn_rng_below(&r, made));
        }
        CHECK_EQ(seine_seen_add_many(s, prints, n, is_new), SEINE_OK);
        for (size_t i = 0; i < n; i++)
            wrong += is_new[i] != want[i];
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(seine_seen_count(s), made);
    seine_seen_free(s);
    free(prints);
    free(is_new);
    free(want);
}

TEST(seen_is_exact_for_prints_that_are_not_spread_at_all)
{
    enum { N = 3000 };
    static const struct {
        uint64_t start, step;
    } rows[] = {
        {0, 1},                              /* one shard, one home */
        {UINT64_MAX - N + 1, 1},             /* the last of both */
        {7, UINT64_C(1) << 58},              /* one a shard, then all again */
        {0, UINT64_C(0xffffffffffffff) / N}, /* one shard, evenly */
    };

    EACH_ROW(i, rows) {
        seine_seen *s = set_of(0, N);
        uint64_t prints[N], news = 0;
        uint8_t is_new[N];

        for (uint64_t j = 0; j < N; j++)
            prints[j] = rows[i].start + j * rows[i].step;
        for (size_t at = 0; at < N; at += 100) {
            CHECK_EQ(seine_seen_add_many(s, prints + at, 100, is_new), SEINE_OK);
            news += sum(is_new, 100);
        }
        CHECK_EQ(news, i == 2 ? 64 : N); /* 2^58 comes round after 64 */
        CHECK_EQ(seine_seen_add_many(s, prints, N, is_new), SEINE_OK);
        CHECK_EQ(sum(is_new, N), 0);
        seine_seen_free(s);
    }
}

TEST(seen_refuses_settings_that_make_no_sense)
{
    static const seine_seen_opts rows[] = {
        {sizeof(seine_seen_opts), 0, 0, SEED},   /* nothing could ever be added */
        {sizeof(seine_seen_opts), 11, 10, SEED}, /* more expected than allowed */
    };

    EACH_ROW(i, rows) {
        seine_seen *s = NULL;

        CHECK_EQ(seine_seen_new(&rows[i], &s), SEINE_E_INVAL);
        CHECK(!s);
    }
}

TEST(seen_never_holds_more_than_its_maximum)
{
    seine_seen *s = set_of(0, 3);
    uint64_t prints[4];
    uint8_t is_new[4] = {9, 9, 9, 9};
    bool one = true;

    for (uint64_t i = 0; i < 4; i++)
        prints[i] = print(3, i);
    CHECK_EQ(seine_seen_add_many(s, prints, 4, is_new), SEINE_E_FULL);
    CHECK_EQ(is_new[0], 9); /* untouched */
    CHECK_EQ(seine_seen_count(s), 0);
    CHECK_EQ(seine_seen_add_many(s, prints, 2, is_new), SEINE_OK);

    /* Repetitions and known prints take no room: 2 and 1 are known, 3 is new once. */
    uint64_t mixed[6] = {prints[2], prints[1], prints[2],
                         prints[0], prints[2], prints[1]};
    uint8_t answers[6];
    CHECK_EQ(seine_seen_add_many(s, mixed, 6, answers), SEINE_OK);
    CHECK(memcmp(answers, "\1\0\0\0\0\0", 6) == 0);
    CHECK_EQ(seine_seen_count(s), 3);

    /* A full set still knows its keys; other keys are refused and not new. */
    CHECK_EQ(seine_seen_add_many(s, mixed, 6, answers), SEINE_OK);
    CHECK_EQ(sum(answers, 6), 0);
    CHECK_EQ(seine_seen_add_many(s, &prints[1], 1, &is_new[3]), SEINE_OK);
    CHECK_EQ(is_new[3], 0);
    CHECK_EQ(seine_seen_add(s, "x", 1, &one), SEINE_E_FULL);
    CHECK(!one);
    CHECK(!has(s, "x"));
    CHECK_EQ(seine_seen_count(s), 3);

    seine_seen_clear(s);
    CHECK(add(s, "x"));
    seine_seen_free(s);
}

TEST(seen_does_not_grow_for_a_large_batch_it_knows)
{
    count_begin();
    seine_seen *s = set_of(0, UINT32_MAX);
    CHECK_EQ(add_prints(s, 5, 0, 100000), 100000); /* 1,563 a shard: 0.76 of a table */
    int64_t bytes = count_bytes();
    for (int i = 0; i < 2; i++)
        CHECK_EQ(add_prints(s, 5, 0, 100000), 0);
    CHECK_EQ(count_bytes(), bytes);
    seine_seen_free(s);
    count_end();
}

TEST(seen_takes_no_memory_for_tables_while_it_is_empty)
{
    count_begin();
    seine_seen *s = set_of(0, 1000);
    CHECK(count_bytes() < 32 << 10);
    CHECK(add(s, "a"));
    CHECK(count_bytes() < 64 << 10); /* one shard has its table */
    seine_seen_clear(s);
    CHECK(count_bytes() < 32 << 10);
    seine_seen_free(s);
    count_end();
}

/* Different sizes, so that not all shards grow at once: 256 to 319 buckets, and 212
 * spare ones in each. */
TEST(seen_starts_its_shards_at_different_sizes)
{
    count_begin();
    seine_seen *s = set_of(0, 1000);
    int64_t tables = 0, before = count_bytes();

    for (uint64_t i = 0; i < 64; i++) {
        uint64_t print = i << 58;
        uint8_t is_new;

        CHECK_EQ(seine_seen_add_many(s, &print, 1, &is_new), SEINE_OK);
        tables += (256 + (int64_t)i + 212) * 64;
    }
    int64_t sides = count_bytes() - before - tables;
    CHECK(sides >= 64 * 2048 && sides < 64 * 2100);
    seine_seen_free(s);
    count_end();
}

/* 9.1 B per key at load 0.88, 3 % for uneven shards, 212 spare buckets a shard. */
TEST(seen_of_an_expected_size_maps_10_bytes_per_key)
{
    count_begin();
    seine_seen *s = set_of(1000000, 1000000);
    CHECK(count_bytes() < 10 * 1000000 + 64 * (212 * 64 + 4096) + (32 << 10));
    seine_seen_free(s);
    count_end();
}

TEST(seen_of_an_expected_size_allocates_no_more)
{
    count_begin();
    seine_seen *s = set_of(130000, 1000000);
    long calls = count_calls();
    for (uint64_t i = 0; i < 130000; i += 250)
        CHECK_EQ(add_prints(s, 6, i, 250), 250);
    CHECK_EQ(count_calls(), calls);

    /* Cleared, it expects as many again: a table of a 64th, and its side. */
    seine_seen_clear(s);
    int64_t bytes = count_bytes();
    CHECK_EQ(add_prints(s, 6, 0, 1), 1);
    CHECK(count_bytes() - bytes > 130000 / 64 * 9);
    seine_seen_free(s);
    count_end();
}

static bool is_poor; /* the allocator below has nothing left */

static void *
poor_get(size_t n, void *arg)
{
    (void)arg;
    return is_poor ? NULL : malloc(n);
}

static void *
poor_resize(void *p, size_t n, void *arg)
{
    (void)arg;
    return is_poor ? NULL : realloc(p, n);
}

static void
poor_put(void *p, void *arg)
{
    (void)arg;
    free(p);
}

static void *
poor_map(size_t n, void *arg)
{
    (void)arg;
    return is_poor ? NULL : calloc(1, n);
}

static void
poor_unmap(void *p, size_t n, void *arg)
{
    (void)n;
    (void)arg;
    free(p);
}

/* The first shard has a table and room, the last has none and gets none: the claim in the
 * first is given back each time. Its tables are not pages here. */
TEST(seen_refused_for_want_of_memory_claims_nothing)
{
    static const seine_alloc poor = {poor_get, poor_resize, poor_put,
                                     poor_map, poor_unmap,  NULL};
    uint64_t prints[2] = {0, UINT64_MAX};
    uint8_t is_new[2];

    CHECK_EQ(seine_set_alloc(&poor), SEINE_OK);
    seine_seen *s = set_of(0, 100000);
    CHECK_EQ(seine_seen_add_many(s, prints, 1, is_new), SEINE_OK);
    is_poor = true;
    for (uint64_t i = 0; i < 5000; i++) {
        prints[0] = print(15, i) >> 6;
        CHECK_EQ(seine_seen_add_many(s, prints, 2, is_new), SEINE_E_NOMEM);
    }
    CHECK_EQ(seine_seen_count(s), 1);
    for (uint64_t i = 1; i < 1700; i++) { /* nearly all its table holds */
        prints[0] = print(15, i) >> 6;
        CHECK_EQ(seine_seen_add_many(s, prints, 1, is_new), SEINE_OK);
    }
    is_poor = false;
    for (uint64_t i = 1; i < 5000; i++) {
        prints[0] = print(15, i) >> 6;
        CHECK_EQ(seine_seen_add_many(s, prints, 1, is_new), SEINE_OK);
        CHECK_EQ(is_new[0], i >= 1700);
    }
    seine_seen_free(s);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
}

TEST(seen_expects_to_lose_n_squared_over_2_to_the_65)
{
    seine_seen *s = set_of(0, 100000);

    CHECK(seine_seen_expected_loss(s) == 0);
    CHECK_EQ(add_prints(s, 1, 0, 1 << 12), 1 << 12);
    CHECK(seine_seen_expected_loss(s) == 0x1p-41); /* 2^24 / 2^65 */
    seine_seen_free(s);
}

/* G11: a guard that is NULL is off. */
TEST(seen_that_is_null_remembers_nothing)
{
    uint64_t prints[2] = {1, 1};
    uint8_t is_new[2] = {0, 0};

    CHECK(add(NULL, "a"));
    CHECK(add(NULL, "a"));
    CHECK_EQ(seine_seen_add_many(NULL, prints, 2, is_new), SEINE_OK);
    CHECK(is_new[0] && is_new[1]);
    CHECK(!has(NULL, "a"));
    CHECK_EQ(seine_seen_count(NULL), 0);
    CHECK(seine_seen_expected_loss(NULL) == 0);
    seine_seen_clear(NULL);
    seine_seen_free(NULL);
    CHECK_EQ(seine_seen_save(NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_seen_load(NULL, "", 0), SEINE_E_INVAL);
}

TEST(seen_is_whole_or_not_there_when_memory_runs_out)
{
    FAIL_EACH(round)
    {
        seine_seen_opts opts = {sizeof(seine_seen_opts), 2000, 3000, SEED};
        seine_seen *s = NULL;
        seine_err e = seine_seen_new(&opts, &s);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        CHECK((s != NULL) == (e == SEINE_OK));
        seine_seen_free(s);
    }
}

/* Whatever fails, a batch is in or out as a whole. */
TEST(seen_adds_all_of_a_batch_or_nothing_when_memory_runs_out)
{
    FAIL_EACH(round)
    {
        seine_seen *s = NULL;
        seine_seen_opts opts = {sizeof(seine_seen_opts), 0, 700, SEED};
        uint64_t prints[300], known = 0;
        uint8_t is_new[300];

        if (seine_seen_new(&opts, &s) != SEINE_OK)
            continue;
        for (uint64_t batch = 0; batch < 3; batch++) {
            for (uint64_t i = 0; i < 300; i++)
                prints[i] = near_print(9, batch * 200 + i); /* 100 as in the last one */
            memset(is_new, 9, sizeof is_new);
            seine_err e = seine_seen_add_many(s, prints, 300, is_new);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            if (e == SEINE_OK)
                known += sum(is_new, 300);
            else
                CHECK(is_new[0] == 9 && is_new[299] == 9);
            CHECK_EQ(seine_seen_count(s), known);
        }
        CHECK(known == 700 || known == 600 || known == 500 || known == 300 || known == 0);
        bool one = true;
        seine_err e = seine_seen_add(s, "a", 1, &one);
        CHECK(e == SEINE_OK ? one : (e == SEINE_E_NOMEM || e == SEINE_E_FULL) && !one);
        seine_seen_free(s);
    }
}

/*
 * Save and load.
 */
typedef struct bytes {
    uint8_t *at;
    size_t n, cap;
} bytes;

static seine_err
append(const void *from, size_t n, void *arg)
{
    bytes *b = arg;

    if (n > b->cap - b->n)
        return SEINE_E_DISK_FULL;
    memcpy(b->at + b->n, from, n);
    b->n += n;
    return SEINE_OK;
}

static bytes
saved(const seine_seen *s, size_t cap)
{
    bytes b = {malloc(cap), 0, cap};

    CHECK_EQ(seine_seen_save(s, append, &b), SEINE_OK);
    return b;
}

TEST(seen_comes_back_from_its_bytes_with_keys_and_seed)
{
    static const size_t rows[] = {0, 1, 1023, 1024, 1025, 20000};

    EACH_ROW(i, rows) {
        seine_seen *s = set_of(0, 30000), *t = NULL;
        bytes b;

        CHECK_EQ(add_prints(s, 4, 0, rows[i]), rows[i]);
        CHECK(add(s, "http://a/"));
        b = saved(s, 48 + 8 * (rows[i] + 1));
        CHECK_EQ(b.n, b.cap);

        /* Another seed and other keys before: both are replaced. */
        CHECK_EQ(seine_seen_new(NULL, &t), SEINE_OK);
        CHECK(add(t, "http://b/"));
        CHECK_EQ(seine_seen_load(t, b.at, b.n), SEINE_OK);
        CHECK_EQ(seine_seen_count(t), rows[i] + 1);
        CHECK(has(t, "http://a/"));
        CHECK(!has(t, "http://b/"));
        CHECK(!add(t, "http://a/"));
        CHECK_EQ(add_prints(t, 4, 0, rows[i] + 10), 10);
        free(b.at);
        seine_seen_free(s);
        seine_seen_free(t);
    }
}

TEST(seen_saves_the_least_and_the_greatest_print_in_order)
{
    static const uint64_t prints[] = {UINT64_MAX, 5, 0, UINT64_C(1) << 58, 1, 1};
    static const uint64_t want[] = {0, 1, 5, UINT64_C(1) << 58, UINT64_MAX};
    seine_seen *s = set_of(0, 100);
    uint8_t is_new[6];

    CHECK_EQ(seine_seen_add_many(s, prints, 6, is_new), SEINE_OK);
    bytes b = saved(s, 1000);
    CHECK_EQ(b.n, 48 + sizeof want);
    CHECK(memcmp(b.at, "SNPRINTS\1\0\0\0\0\0\0\0", 16) == 0);
    CHECK(memcmp(b.at + 32, want, sizeof want) == 0);
    CHECK_EQ(b.at[32 + sizeof want], 5); /* the number of prints */
    CHECK_EQ(seine_seen_load(s, b.at, b.n), SEINE_OK);
    CHECK_EQ(seine_seen_add_many(s, prints, 6, is_new), SEINE_OK);
    CHECK_EQ(sum(is_new, 6), 0);
    free(b.at);
    seine_seen_free(s);
}

TEST(seen_loads_tables_as_large_as_their_keys_need)
{
    seine_seen *s = set_of(0, 10000);
    uint64_t prints[100];
    uint8_t is_new[100];

    for (uint64_t i = 0; i < 8000; i++) { /* 4,000 for each of two tables */
        prints[i % 100] = near_print(14, i);
        if (i % 100 == 99)
            CHECK_EQ(seine_seen_add_many(s, prints, 100, is_new), SEINE_OK);
    }
    bytes b = saved(s, 48 + 8 * 8000);
    CHECK_EQ(seine_seen_load(s, b.at, b.n), SEINE_OK);
    CHECK_EQ(seine_seen_count(s), 8000);
    CHECK_EQ(seine_seen_add_many(s, prints, 100, is_new), SEINE_OK);
    CHECK_EQ(sum(is_new, 100), 0);

    bytes again = saved(s, b.n);
    CHECK(again.n == b.n && memcmp(again.at, b.at, b.n) == 0);
    free(again.at);
    free(b.at);
    seine_seen_free(s);
}

/* A right checksum does not make the prints right. */
TEST(seen_refuses_prints_that_do_not_ascend)
{
    static const uint64_t rows[][2] = {{7, 7}, {8, 7}};
    seine_seen *s = set_of(0, 10);

    EACH_ROW(i, rows) {
        bytes b = saved(s, 64);
        uint64_t count = 2, sum = 0;

        /* The head, two prints, their number: each hashed under the sum before. */
        sum = sn_siphash((uint64_t[]){0, 0}, b.at, 32);
        sum = sn_siphash((uint64_t[]){sum, 0}, rows[i], 16);
        sum = sn_siphash((uint64_t[]){sum, 2}, &count, 8);
        memcpy(b.at + 32, rows[i], 16);
        memcpy(b.at + 48, &count, 8);
        memcpy(b.at + 56, &sum, 8);
        CHECK_EQ(seine_seen_load(s, b.at, 64), SEINE_E_STATE_CORRUPT);
        CHECK_EQ(seine_seen_count(s), 0);
        free(b.at);
    }
    seine_seen_free(s);
}

/* Turns each bit of a saved set, and cuts it at each length: it is never loaded. */
TEST(seen_refuses_bytes_that_are_damaged_and_stays_as_it_was)
{
    seine_seen *s = set_of(0, 100), *t = set_of(0, 100);

    CHECK_EQ(add_prints(s, 8, 0, 20), 20);
    CHECK(add(t, "http://a/"));
    bytes b = saved(s, 1000);
    for (size_t i = 0; i < b.n * 8; i++) {
        b.at[i / 8] ^= (uint8_t)(1 << i % 8);
        seine_err e = seine_seen_load(t, b.at, b.n);
        CHECK(i < 64   ? e == SEINE_E_STATE_FOREIGN
              : i < 96 ? e == SEINE_E_STATE_NEWER || e == SEINE_E_STATE_CORRUPT
                       : e == SEINE_E_STATE_CORRUPT);
        b.at[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t n = 0; n < b.n; n++)
        CHECK_EQ(seine_seen_load(t, b.at, n),
                 n < 8 ? SEINE_E_STATE_FOREIGN : SEINE_E_STATE_CORRUPT);
    CHECK_EQ(seine_seen_count(t), 1);
    CHECK(has(t, "http://a/"));
    free(b.at);
    seine_seen_free(s);
    seine_seen_free(t);
}

TEST(seen_names_what_it_will_not_load)
{
    seine_seen *s = set_of(0, 100), *small = set_of(0, 19), *just = set_of(0, 20);

    CHECK_EQ(add_prints(s, 8, 0, 20), 20);
    bytes b = saved(s, 1000);

    CHECK_EQ(seine_seen_load(small, b.at, b.n), SEINE_E_FULL);
    CHECK_EQ(seine_seen_count(small), 0);
    CHECK_EQ(seine_seen_load(just, b.at, b.n), SEINE_OK);
    CHECK_EQ(seine_seen_add(just, "one more", 8, &(bool){0}), SEINE_E_FULL);
    b.at[8] = 2;
    CHECK_EQ(seine_seen_load(s, b.at, b.n), SEINE_E_STATE_NEWER);
    CHECK_EQ(seine_seen_load(s, b.at, 40), SEINE_E_STATE_NEWER); /* whatever follows */
    b.at[8] = 0;
    CHECK_EQ(seine_seen_load(s, b.at, b.n), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(seine_seen_load(s, "SQLite format 3", 16), SEINE_E_STATE_FOREIGN);
    CHECK_EQ(seine_seen_load(s, "", 0), SEINE_E_STATE_FOREIGN);
    free(b.at);
    seine_seen_free(s);
    seine_seen_free(small);
    seine_seen_free(just);
}

TEST(seen_save_ends_with_the_error_of_put)
{
    static const size_t rows[] = {0, 32, 32 + 8192, 32 + 8 * 1030};
    seine_seen *s = set_of(0, 2000);

    CHECK_EQ(add_prints(s, 8, 0, 1030), 1030);
    EACH_ROW(i, rows) { /* no room for the head, the first block, the second, the foot */
        bytes b = {malloc(rows[i] + 1), 0, rows[i]};

        CHECK_EQ(seine_seen_save(s, append, &b), SEINE_E_DISK_FULL);
        CHECK_EQ(b.n, rows[i]);
        free(b.at);
    }
    seine_seen_free(s);
}

TEST(seen_loads_all_or_nothing_when_memory_runs_out)
{
    seine_seen *s = set_of(0, 1000);

    CHECK_EQ(add_prints(s, 8, 0, 5), 5);
    bytes b = saved(s, 10000);
    seine_seen_free(s);
    FAIL_EACH(round)
    {
        seine_seen_opts opts = {sizeof(seine_seen_opts), 0, 1000, {3, 4}};

        if (seine_seen_new(&opts, &s) != SEINE_OK)
            continue;
        uint64_t before = seine_seen_print(s, "a", 1);
        seine_err e = seine_seen_load(s, b.at, b.n);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(seine_seen_count(s), e == SEINE_OK ? 5 : 0);
        CHECK((seine_seen_print(s, "a", 1) == before) == (e != SEINE_OK));
        seine_seen_free(s);
    }
    free(b.at);
}

static void *
save_all(void *arg)
{
    crowd *c = arg;
    bytes b = {malloc(8192), 0, 8192};
    seine_seen *copy = set_of(0, 1000);

    if (seine_seen_save(c->seen, append, &b) != SEINE_OK ||
        seine_seen_load(copy, b.at, b.n) != SEINE_OK || seine_seen_count(copy) < 10)
        c->failed++;
    free(b.at);
    seine_seen_free(copy);
    return NULL;
}

TEST_THREADS(seen_may_be_saved_while_others_add)
{
    crowd c = {.seen = set_of(0, 1000), .adds = 50, .urls = 30};
    pthread_t threads[3];

    CHECK_EQ(add_prints(c.seen, 1, 0, 10), 10);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, i ? add_urls : save_all, &c), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(c.failed, 0);
    CHECK_EQ(c.fresh, 30);
    seine_seen_free(c.seen);
}

/* Memory in whose making the set is cleared, once; pages are told apart from others. */
typedef struct clearing {
    seine_seen *seen;
    unsigned maps, out, foreign;
} clearing;

static void *
get(size_t n, void *arg)
{
    (void)arg;
    return malloc(n);
}

static void *
resize(void *p, size_t n, void *arg)
{
    (void)arg;
    return realloc(p, n);
}

static void
put(void *p, void *arg)
{
    (void)arg;
    free(p);
}

static void *
map(size_t n, void *arg)
{
    clearing *c = arg;
    void *p = aligned_alloc(4096, (n + 4095) / 4096 * 4096);

    if (!p)
        return NULL;
    memset(p, 0, n);
    c->out++;
    if (++c->maps == 2) /* the room of the first shard is claimed */
        seine_seen_clear(c->seen);
    return p;
}

static void
unmap(void *p, size_t n, void *arg)
{
    clearing *c = arg;

    (void)n;
    if ((uintptr_t)p % 4096 != 0) {
        c->foreign++;
        return;
    }
    c->out--;
    free(p);
}

TEST(seen_cleared_amid_a_batch_keeps_the_room_of_the_batch)
{
    clearing c = {.maps = 0};
    const seine_alloc table = {get, resize, put, map, unmap, &c};
    uint64_t prints[64];
    uint8_t is_new[64];

    for (uint64_t i = 0; i < 64; i++)
        prints[i] = near_print(11, i);
    c.seen = set_of(0, 1000000);
    CHECK_EQ(seine_set_alloc(&table), SEINE_OK);
    CHECK_EQ(seine_seen_add_many(c.seen, prints, 64, is_new), SEINE_OK);
    CHECK(c.maps >= 2);
    CHECK_EQ(sum(is_new, 64), 64);
    CHECK_EQ(seine_seen_count(c.seen), 64);
    CHECK_EQ(seine_seen_add_many(c.seen, prints, 64, is_new), SEINE_OK);
    CHECK_EQ(sum(is_new, 64), 0);
    seine_seen_free(c.seen);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    CHECK_EQ(c.foreign, 0);
    CHECK_EQ(c.out, 0);
}
