/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "wiped.h"

typedef struct point {
    double x, y;
} point;

TEST(arena_gives_zeroed_objects_aligned_for_their_type)
{
    sn_arena a;

    sn_arena_init(&a, 1024, 1 << 20);
    for (size_t align = 1; align <= 4096; align *= 2) {
        CHECK(sn_arena_get(&a, 1, 1, 1) != NULL); /* breaks the alignment */
        unsigned char *p = sn_arena_get(&a, 3, 7, align);

        CHECK_EQ((uintptr_t)p % align, 0);
        for (int i = 0; p && i < 21; i++)
            CHECK_EQ(p[i], 0);
        if (p)
            memset(p, 0xff, 21);
    }
    point *points = SN_ARENA_ARRAY(&a, point, 10);
    CHECK_EQ((uintptr_t)points % _Alignof(point), 0);
    CHECK(points && points[9].y == 0.0);
    CHECK(SN_ARENA_NEW(&a, point) != NULL);
    sn_arena_fini(&a);
}

TEST(arena_copies_text_with_a_terminator)
{
    sn_arena a;

    sn_arena_init(&a, 256, 1 << 16);
    CHECK_STR(sn_arena_text(&a, SN_STR("e.org")), "e.org");
    CHECK_STR(sn_arena_text(&a, (sn_str){0}), "");
    CHECK_STR(sn_arena_text(&a, (sn_str){"cut here", 3}), "cut");
    CHECK(!sn_arena_text(&a, (sn_str){"", SIZE_MAX}));
    sn_arena_fini(&a);
}

TEST(arena_reset_keeps_the_first_chunk_and_gives_back_the_rest)
{
    sn_arena a;

    count_begin();
    sn_arena_init(&a, 1024, 1 << 20);
    CHECK_EQ(count_out(), 0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++)
            CHECK(sn_arena_get(&a, 1, 100, 8) != NULL);
        CHECK(sn_arena_get(&a, 1, 50000, 8) != NULL);
        CHECK(count_out() > 10);
        sn_arena_reset(&a);
        CHECK_EQ(count_out(), 1);
        CHECK_EQ(a.held, 1024);
    }
    sn_arena_fini(&a);
    sn_arena_fini(&a); /* empty is fine */
    count_end();
}

TEST(arena_that_fits_into_a_chunk_allocates_once)
{
    sn_arena a;

    count_begin();
    sn_arena_init(&a, 4096, 1 << 20);
    for (int visit = 0; visit < 1000; visit++) {
        for (int i = 0; i < 20; i++)
            CHECK(sn_arena_get(&a, 1, 64, 8) != NULL);
        sn_arena_reset(&a);
    }
    CHECK_EQ(count_calls(), 1);
    sn_arena_fini(&a);
    count_end();
}

TEST(arena_large_piece_leaves_the_open_chunk_open)
{
    sn_arena a;

    count_begin();
    sn_arena_init(&a, 4096, 1 << 20);
    char *before = sn_arena_get(&a, 1, 100, 8);
    CHECK(sn_arena_get(&a, 1, 100000, 8) != NULL);
    char *after = sn_arena_get(&a, 1, 100, 8);
    CHECK_EQ(count_out(), 2);
    CHECK(before && after > before && after - before < 4096);
    sn_arena_fini(&a);

    /* A reset also frees a large first piece. */
    sn_arena_init(&a, 4096, 1 << 20);
    CHECK(sn_arena_get(&a, 1, 100000, 8) != NULL);
    sn_arena_reset(&a);
    CHECK_EQ(count_out(), 0);
    sn_arena_fini(&a);
    count_end();
}

TEST(arena_never_holds_more_than_its_cap)
{
    sn_arena a;

    sn_arena_init(&a, 1024, 4096);
    int got = 0;
    while (got < 1000 && sn_arena_get(&a, 1, 64, 8))
        got++;
    CHECK(got >= 30 && got <= 64); /* at most 4096 / 64, less heads and gaps */
    CHECK_EQ(a.held, 4096);
    CHECK(!sn_arena_get(&a, 1, 5000, 1));
    sn_arena_reset(&a);
    CHECK(sn_arena_get(&a, 1, 2500, 1) != NULL);
    CHECK(!sn_arena_get(&a, 1, 2500, 1));
    CHECK(a.held <= 4096);
    sn_arena_fini(&a);
}

TEST(arena_refuses_sizes_that_overflow)
{
    sn_arena a;

    sn_arena_init(&a, 0, SIZE_MAX); /* a chunk is never smaller than 256 */
    CHECK(!sn_arena_get(&a, SIZE_MAX / 2, 3, 8));
    CHECK(!sn_arena_get(&a, 1, SIZE_MAX - 8, 8));
    CHECK(sn_arena_get(&a, 0, 8, 8) != NULL);
    CHECK_EQ(a.held, 256);
    sn_arena_fini(&a);
}

TEST(arena_without_memory_gives_null_and_goes_on)
{
    FAIL_EACH(r)
    {
        sn_arena a;

        sn_arena_init(&a, 256, 1 << 16);
        for (int i = 0; i < 20; i++)
            (void)sn_arena_text(&a, SN_STR("thirty bytes of text, or so…"));
        (void)sn_arena_get(&a, 1, 1000, 8);
        sn_arena_fini(&a);
    }
}

/* Pieces do not overlap: each keeps the pattern written into it. */
TEST(arena_pieces_do_not_touch)
{
    sn_rng r = sn_rng_seed(check_seed());
    struct {
        unsigned char *p;
        size_t n;
    } pieces[200];
    sn_arena a;

    sn_arena_init(&a, 512, 1 << 20);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 200; i++) {
            size_t n = sn_rng_below(&r, 8) ? sn_rng_below(&r, 60) : sn_rng_below(&r, 900);

            pieces[i].n = n;
            pieces[i].p = sn_arena_get(&a, 1, n, (size_t)1 << sn_rng_below(&r, 6));
            CHECK(pieces[i].p != NULL);
            if (pieces[i].p)
                memset(pieces[i].p, (int)i, n);
        }
        for (size_t i = 0; i < 200; i++)
            for (size_t j = 0; pieces[i].p && j < pieces[i].n; j++)
                CHECK_EQ(pieces[i].p[j], (unsigned char)i);
        sn_arena_reset(&a);
    }
    sn_arena_fini(&a);
}

TEST(arena_is_wiped_as_a_whole)
{
    sn_arena a;

    wiped_begin("s3cret", NULL);
    sn_arena_init(&a, 256, SIZE_MAX);
    for (int i = 0; i < 100; i++)
        CHECK(sn_arena_text(&a, SN_STR("a s3cret in many chunks")) != NULL);
    sn_arena_wipe(&a);
    CHECK(sn_arena_text(&a, SN_STR("it may be used again")) != NULL);
    sn_arena_fini(&a);
    CHECK_EQ(wiped_end(), 0);
}
