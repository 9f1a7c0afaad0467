/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"

typedef struct tally {
    int gets, resizes, puts, maps, unmaps;
} tally;

static void *
get(size_t n, void *arg)
{
    ((tally *)arg)->gets++;
    return malloc(n);
}

static void *
resize(void *p, size_t n, void *arg)
{
    ((tally *)arg)->resizes++;
    return realloc(p, n);
}

static void
put(void *p, void *arg)
{
    ((tally *)arg)->puts++;
    free(p);
}

static void *
map(size_t n, void *arg)
{
    ((tally *)arg)->maps++;
    return calloc(1, n);
}

static void
unmap(void *p, size_t n, void *arg)
{
    (void)n;
    ((tally *)arg)->unmaps++;
    free(p);
}

TEST(alloc_goes_through_the_table_of_the_program)
{
    tally t = {0};
    seine_alloc mine = {get, resize, put, map, unmap, &t};

    CHECK_EQ(seine_set_alloc(&mine), SEINE_OK);
    mine = (seine_alloc){0}; /* was copied */
    char *p = sn_alloc(10);
    p = sn_realloc(p, 20);
    sn_free(p);
    sn_free(NULL); /* must not ask the allocator */
    void *pages = sn_pages(4096);
    sn_pages_free(pages, 4096);
    sn_pages_free(NULL, 4096);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK); /* and back */
    sn_free(sn_alloc(1));
    CHECK_EQ(t.gets, 1);
    CHECK_EQ(t.resizes, 1);
    CHECK_EQ(t.puts, 1);
    CHECK_EQ(t.maps, 1);
    CHECK_EQ(t.unmaps, 1);
}

TEST(alloc_table_must_be_whole)
{
    tally t = {0};
    static const struct {
        seine_alloc table;
        seine_err err;
    } rows[] = {
        {{NULL, resize, put, map, unmap, NULL}, SEINE_E_INVAL},
        {{get, NULL, put, map, unmap, NULL}, SEINE_E_INVAL},
        {{get, resize, NULL, map, unmap, NULL}, SEINE_E_INVAL},
        {{get, resize, put, map, NULL, NULL}, SEINE_E_INVAL}, /* pages need both */
        {{get, resize, put, NULL, unmap, NULL}, SEINE_E_INVAL},
        {{get, resize, put, NULL, NULL, NULL}, SEINE_OK}, /* or neither: mmap */
    };

    EACH_ROW(i, rows) {
        seine_alloc table = rows[i].table;

        table.arg = &t;
        CHECK_EQ(seine_set_alloc(&table), rows[i].err);
        if (rows[i].err != SEINE_OK) { /* the old table stays */
            sn_free(sn_alloc(1));
            CHECK_EQ(t.gets, 0);
        }
    }
    unsigned char *pages = sn_pages(10000);
    CHECK_EQ(t.maps, 0);
    CHECK(pages && pages[0] == 0 && pages[9999] == 0);
    sn_pages_free(pages, 10000);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
}

TEST(alloc_gives_zeroed_memory_and_refuses_sizes_that_overflow)
{
    for (size_t n = 0; n < 300; n += 7) {
        unsigned char *p = sn_zalloc(n), *q = sn_calloc(n, 3);

        CHECK(p && q);
        for (size_t i = 0; p && i < n; i++)
            CHECK_EQ(p[i], 0);
        for (size_t i = 0; q && i < 3 * n; i++)
            CHECK_EQ(q[i], 0);
        sn_free(p);
        sn_free(q);
    }
    CHECK(!sn_calloc(SIZE_MAX / 2, 3));
    CHECK(!sn_zalloc_line(SIZE_MAX - 8));
    void *p = sn_alloc(0), *q = sn_realloc(NULL, 0); /* 0 bytes are an allocation, too */
    CHECK(p && q);
    sn_free(p);
    sn_free(q);
}

TEST(alloc_lines_start_on_a_cache_line)
{
    count_begin();
    for (size_t n = 0; n < 300; n++) {
        unsigned char *p = sn_zalloc_line(n);

        CHECK_EQ((uintptr_t)p % 64, 0);
        for (size_t i = 0; p && i < n; i++)
            CHECK_EQ(p[i], 0);
        if (p)
            memset(p, 0xff, n);
        sn_free_line(p);
    }
    sn_free_line(NULL);
    count_end();
}

TEST(alloc_without_memory_is_null)
{
    FAIL_EACH(r)
    {
        sn_free(sn_alloc(1));
        sn_free(sn_zalloc(1));
        sn_free(sn_calloc(1, 1));
        sn_free(sn_realloc(NULL, 1));
        sn_free_line(sn_zalloc_line(1));
        sn_pages_free(sn_pages(1), 1);
    }
}

static void *
hand_over(bool steal)
{
    char *p SN_AUTOFREE = sn_alloc(1);

    return steal ? SN_STEAL(p) : NULL;
}

TEST(alloc_scope_frees_what_was_not_stolen)
{
    count_begin();
    CHECK(!hand_over(false));
    CHECK_EQ(count_out(), 0);
    void *p = hand_over(true);
    CHECK_EQ(count_out(), 1);
    sn_free(p);
    count_end();
}

TEST(alloc_text_is_freed_once_and_then_empty)
{
    count_begin();
    seine_text text = {sn_zalloc(4), 3};
    seine_text_free(&text);
    CHECK(!text.bytes);
    CHECK_EQ(text.len, 0);
    seine_text_free(&text);
    count_end();
}
