/* SPDX-License-Identifier: Apache-2.0 */
/* What the store in memory holds besides what every store does: what a URL costs. */
#include "store/store_mem.h"

#include <stddef.h>
#include <stdio.h>

#include "base/alloc.h"
#include "store_model.h"

static sn_store *
store_of(size_t max_bytes)
{
    sn_store *s = NULL;

    CHECK_EQ(sn_store_open(&sn_store_mem, &(sn_store_opts){.max_bytes = max_bytes}, &s),
             SEINE_OK);
    return s;
}

static void
close_store(sn_store *s)
{
    CHECK_EQ(sn_store_close(s, true), SEINE_OK);
}

/* A heap that counts every allocated byte: the sizes asked for, and the overhead of
 * libc's heap. */
typedef struct block {
    size_t n;
    max_align_t bytes[];
} block;

static uint64_t bytes_out;

static uint64_t
cost(size_t n)
{
    return n <= 24 ? 32 : (n + 8 + 15) / 16 * 16;
}

static void *
resize(void *p, size_t n, void *arg)
{
    block *was = p ? (block *)(void *)((char *)p - offsetof(block, bytes)) : NULL;
    uint64_t before = was ? cost(was->n) : 0;
    block *b = realloc(was, sizeof *b + n);

    (void)arg;
    b->n = n;
    bytes_out += cost(n) - before;
    return b->bytes;
}

static void *
get(size_t n, void *arg)
{
    return resize(NULL, n, arg);
}

static void
release(void *p, void *arg)
{
    block *b = (block *)(void *)((char *)p - offsetof(block, bytes));

    (void)arg;
    bytes_out -= cost(b->n);
    free(b);
}

static const seine_alloc exact = {.get = get, .resize = resize, .put = release};

static void
count_bytes(const sn_store *s)
{
    CHECK_EQ(s->figures.bytes, bytes_out);
}

TEST(store_mem_knows_its_memory_to_the_byte)
{
    const struct {
        size_t max_bytes;
        uint32_t lists, turns;
    } rows[] = {
        {0, 1, 8000},       /* one list, all in memory */
        {0, 900, 8000},     /* many short ones */
        {1, 1, 8000},       /* as much in the file as there can be */
        {20000, 7, 8000},   /* a few chunks stay */
        {200000, 90, 16000} /* most of them do */
    };

    EACH_ROW(i, rows) {
        store_game g = {rows[i].lists, rows[i].turns, true, count_bytes};

        bytes_out = 0;
        CHECK_EQ(seine_set_alloc(&exact), SEINE_OK);
        store_play(&sn_store_mem, &(sn_store_opts){.max_bytes = rows[i].max_bytes}, &g);
        CHECK_EQ(bytes_out, 0);
        CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    }
}

TEST(store_mem_gives_the_bytes_of_a_lost_list_back)
{
    const size_t maxima[] = {0, 30000}; /* in memory; most of it in the file */

    EACH_ROW(i, maxima) {
        sn_store *s = store_of(maxima[i]);
        sn_url_list other = SN_URL_LIST, lost = SN_URL_LIST;
        sn_waiting_url u = {.target = SN_STR("/a/path/of/some/length")};

        for (int k = 0; k < 4000; k++, u.number++)
            CHECK_EQ(sn_store_enqueue(s, &other, &u), SEINE_OK);
        uint64_t before = s->figures.bytes + s->figures.spilled;
        for (int k = 0; k < 20000; k++, u.number++)
            CHECK_EQ(sn_store_enqueue(s, &lost, &u), SEINE_OK);
        while (lost.n > 0)
            CHECK_EQ(sn_store_skip(s, &lost, &(sn_lost){0}), SEINE_OK);
        CHECK_EQ(lost.first, 0);
        /* but for the table of chunks, the map of the file and its buffer */
        CHECK(s->figures.bytes + s->figures.spilled < before + 140000);
        close_store(s);
    }
}

/* 53 links of a host, from pages with nine of them each, in paths of 40 bytes. */
TEST(store_mem_keeps_a_url_with_its_page_in_64_bytes)
{
    enum { HOSTS = 500, EACH = 53 };
    sn_store *s = store_of(0);
    sn_rng rng = sn_rng_seed(check_seed());
    uint64_t empty = s->figures.bytes;
    char path[41], page[64];

    for (unsigned host = 0; host < HOSTS; host++) {
        sn_url_list l = SN_URL_LIST;

        for (unsigned i = 0; i < EACH; i++) {
            if (i % 9 == 0)
                snprintf(page, sizeof page,
                         "https://www.host-%04u.example/dir/page-%05u.html", host,
                         (unsigned)sn_rng_below(&rng, 100000));
            snprintf(path, sizeof path, "/dir/%016llx-%08x.article",
                     (unsigned long long)sn_rng_next(&rng),
                     (unsigned)sn_rng_below(&rng, UINT32_MAX));
            sn_waiting_url u = {.target = sn_str_of(path), .parent = sn_str_of(page)};
            u.number = host * EACH + i;
            u.line = 10 * i;
            CHECK_EQ(u.target.len, 38);
            CHECK_EQ(sn_store_enqueue(s, &l, &u), SEINE_OK);
        }
    }
    CHECK((s->figures.bytes - empty) / (HOSTS * EACH) <= 64);
    close_store(s);
}

/* An entry of 600 bytes fills a chunk alone; the unused rest of the chunk is freed. */
TEST(store_mem_gives_back_what_a_full_chunk_does_not_use)
{
    enum { MANY = 1000, LEN = 600 };
    static char path[LEN];
    sn_store *s = store_of(0);
    sn_url_list l = SN_URL_LIST;
    uint64_t before = s->figures.bytes;

    for (unsigned i = 0; i < MANY; i++) {
        memset(path, 'a' + (int)(i % 26), sizeof path);
        CHECK_EQ(sn_store_enqueue(s, &l, &(sn_waiting_url){.target = {path, LEN}}),
                 SEINE_OK);
    }
    CHECK((s->figures.bytes - before) / MANY <= LEN + 32 + 48);
    close_store(s);
}

/* "/" and no page: the least the heap gives, and 32 bytes in the table. */
TEST(store_mem_takes_64_bytes_for_a_list_of_one_short_url)
{
    enum { LISTS = 5120 };
    sn_store *s = store_of(0);
    sn_waiting_url u = {.target = SN_STR("/"), .number = 1000};
    uint64_t before = s->figures.bytes;

    for (unsigned i = 0; i < LISTS - 1; i++) { /* number 0 of the table is nobody's */
        sn_url_list l = SN_URL_LIST;

        CHECK_EQ(sn_store_enqueue(s, &l, &u), SEINE_OK);
    }
    uint64_t table = LISTS * 32 + LISTS / 512 * 16;
    CHECK(s->figures.bytes - before <= (LISTS - 1) * 32 + table + 256);
    close_store(s);
}

TEST(store_mem_stays_below_its_bound_while_lists_have_a_middle)
{
    enum { MAX = 1 << 19 };
    sn_store *s = store_of(MAX);
    sn_url_list lists[20] = {0};
    uint64_t most = 0;

    for (uint64_t i = 0; i < 100000; i++) {
        sn_waiting_url u = {.target = SN_STR("/a/path/of/some/length"), .number = i};

        CHECK_EQ(sn_store_enqueue(s, &lists[i % 20], &u), SEINE_OK);
        if (s->figures.bytes > most)
            most = s->figures.bytes;
    }
    CHECK(most <= MAX);
    CHECK(s->figures.spilled > 0);
    close_store(s);
}
