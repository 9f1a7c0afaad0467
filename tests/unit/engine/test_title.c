/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/title.h"

#include <string.h>

#include "check.h"
#include "failing.h"

static sn_str
read_title(sn_title *t, const char *page, size_t cut, sn_arena *arena)
{
    sn_str all = sn_str_of(page);

    sn_title_begin(t);
    sn_title_feed(t, sn_str_slice(all, 0, cut));
    sn_title_feed(t, sn_str_slice(all, cut, all.len));
    return sn_title_end(t, arena);
}

TEST(title_is_the_same_wherever_the_page_is_cut)
{
    const char *page = "<html><head><title> A &amp;\n B </title><title>C</title></head>";
    sn_title *t = sn_title_new();
    sn_arena arena;

    sn_arena_init(&arena, 1024, 1 << 20);
    for (size_t cut = 0; cut <= strlen(page); cut++) {
        sn_str title = read_title(t, page, cut, &arena);
        CHECK(sn_str_eq(title, SN_STR("A & B")));
        sn_arena_reset(&arena);
    }
    CHECK(read_title(t, "<p>no title", 2, &arena).ptr == NULL);
    CHECK(sn_str_eq(read_title(t, "<title>open", 3, &arena), SN_STR("open")));
    sn_arena_fini(&arena);
    sn_title_free(t);
}

TEST(title_of_a_hostile_page_costs_no_memory_for_ever)
{
    static char page[200000];
    sn_title *t = sn_title_new();
    sn_arena arena;

    memset(page, 'x', sizeof page - 1);
    memcpy(page, "<a href='", 9);
    sn_arena_init(&arena, 1024, 1 << 20);
    CHECK(read_title(t, page, 100000, &arena).ptr == NULL);
    CHECK(sn_str_eq(read_title(t, "<title>b</title>", 9, &arena), SN_STR("b")));
    sn_arena_fini(&arena);
    sn_title_free(t);
    sn_title_free(NULL);
}

TEST(title_is_read_of_html_alone)
{
    CHECK(sn_title_is_wanted(SN_STR("text/html")));
    CHECK(sn_title_is_wanted(SN_STR("application/xhtml+xml")));
    CHECK(!sn_title_is_wanted(SN_STR("text/plain")));
    CHECK(!sn_title_is_wanted((sn_str){0}));
}

TEST(title_without_memory_is_no_title)
{
    FAIL_EACH(round)
    {
        sn_title *t = sn_title_new();
        sn_arena arena;

        sn_arena_init(&arena, 256, 1 << 20);
        if (t) {
            sn_str title = read_title(t, "<title>abc</title>", 9, &arena);
            CHECK(title.ptr == NULL || sn_str_eq(title, SN_STR("abc")));
        }
        sn_arena_fini(&arena);
        sn_title_free(t);
    }
}
