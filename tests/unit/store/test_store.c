/* SPDX-License-Identifier: Apache-2.0 */
/* The conformance suite of all back ends; a row of `back_ends` adds another one. */
#include "store/store.h"

#include "failing.h"
#include "store/store_mem.h"
#include "store_model.h"

static const struct {
    const sn_store_ops *ops;
    sn_store_opts opts;
    bool spills; /* so little memory that most URLs leave it */
} back_ends[] = {
    {&sn_store_mem, {.max_bytes = 0}, false},
    {&sn_store_mem, {.max_bytes = 1}, true}, /* as little as there can be */
    {&sn_store_mem, {.max_bytes = 20000}, true},
};

static sn_store *
open_row(size_t row)
{
    sn_store *s = NULL;

    CHECK_EQ(sn_store_open(back_ends[row].ops, &back_ends[row].opts, &s), SEINE_OK);
    return s;
}

static void
close_row(sn_store *s)
{
    CHECK_EQ(sn_store_close(s, true), SEINE_OK);
}

static sn_waiting_url
link_to(const char *target)
{
    return (sn_waiting_url){.host = SN_STR("http://e.example:80"),
                            .target = sn_str_of(target),
                            .parent = SN_STR("http://e.example/")};
}

/* Fills a list with n URLs that differ in their number alone. */
static void
fill(sn_store *s, sn_url_list *l, uint32_t n)
{
    sn_waiting_url u = link_to("/a/path/of/some/length");

    for (; u.number < n; u.number++)
        CHECK_EQ(sn_store_enqueue(s, l, &u), SEINE_OK);
}

TEST(store_gives_back_every_url_in_order)
{
    static const uint32_t lists[] = {1, 7, 200};

    EACH_ROW(i, back_ends)
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
            store_game g = {.lists = lists[k], .turns = 8000, .gives_up = true};
            uint64_t spilled = store_play(back_ends[i].ops, &back_ends[i].opts, &g);
            if (lists[k] < 10) /* very many lists have no middle */
                CHECK_EQ(spilled > 0, back_ends[i].spills);
        }
}

TEST(store_has_nothing_in_an_empty_list)
{
    EACH_ROW(i, back_ends) {
        sn_store *s = open_row(i);
        sn_url_list l = SN_URL_LIST;
        sn_waiting_url u;
        sn_lost lost;

        CHECK_EQ(sn_store_take(s, &l, UINT32_MAX, &u), SEINE_E_CLOSED);
        CHECK_EQ(sn_store_skip(s, &l, &lost), SEINE_E_CLOSED);
        CHECK_EQ(l.n, 0);
        CHECK_EQ(s->figures.urls, 0);
        close_row(s);
    }
    close_row(NULL);
}

TEST(store_keeps_members_at_their_bounds)
{
    static char longest[SN_STORE_TEXT + 1];
    sn_str whole = {longest, SN_STORE_TEXT}, beyond = {longest, SN_STORE_TEXT + 1};
    const struct {
        sn_waiting_url u;
        seine_err want;
    } rows[] = {
        {{.target = whole, .parent = whole}, SEINE_OK},
        {{.number = UINT64_MAX, .line = UINT32_MAX, .depth = UINT32_MAX}, SEINE_OK},
        {{.number = 0}, SEINE_OK}, /* a step of more than half of all numbers */
        {{.number = UINT64_C(1) << 63}, SEINE_OK},
        {{.number = 0, .line = UINT32_MAX}, SEINE_OK},
        {{.kind = 7, .ceiling = 3, .tag = 63, .attr = 15}, SEINE_OK},
        {{.moved = 255, .flags = 255}, SEINE_OK},
        {{.target = beyond}, SEINE_E_RANGE},
        {{.parent = beyond}, SEINE_E_RANGE},
        {{.kind = 8}, SEINE_E_INVAL},
        {{.ceiling = 4}, SEINE_E_INVAL},
        {{.tag = 64}, SEINE_E_INVAL},
        {{.attr = 16}, SEINE_E_INVAL},
    };

    memset(longest, 'x', sizeof longest);
    for (size_t b = 0; b < sizeof back_ends / sizeof *back_ends; b++) {
        sn_store *s = open_row(b);
        sn_url_list l = SN_URL_LIST;
        sn_waiting_url u;

        EACH_ROW(i, rows)
            CHECK_EQ(sn_store_enqueue(s, &l, &rows[i].u), rows[i].want);
        EACH_ROW(i, rows) {
            if (rows[i].want != SEINE_OK)
                continue;
            CHECK_EQ(sn_store_take(s, &l, UINT32_MAX, &u), SEINE_OK);
            CHECK(same_url(&u, &rows[i].u));
        }
        CHECK_EQ(l.n, 0);
        close_row(s);
    }
}

TEST(store_leaves_a_url_that_is_too_deep)
{
    EACH_ROW(i, back_ends) {
        sn_store *s = open_row(i);
        sn_url_list l = SN_URL_LIST;
        sn_waiting_url u = link_to("/deep");

        u.depth = 3;
        CHECK_EQ(sn_store_enqueue(s, &l, &u), SEINE_OK);
        CHECK_EQ(sn_store_take(s, &l, 2, &u), SEINE_E_BUSY);
        CHECK_EQ(sn_store_take(s, &l, 2, &u), SEINE_E_BUSY);
        CHECK_EQ(l.n, 1);
        CHECK_EQ(sn_store_take(s, &l, 3, &u), SEINE_OK);
        CHECK(sn_str_eq(u.target, SN_STR("/deep")));
        CHECK_EQ(l.n, 0);
        close_row(s);
    }
}

TEST(store_keeps_the_texts_of_a_url_until_the_next_call)
{
    EACH_ROW(i, back_ends) {
        sn_store *s = open_row(i);
        sn_url_list a = SN_URL_LIST, b = SN_URL_LIST;
        sn_waiting_url u;

        for (int k = 0; k < 50; k++) { /* the last of its list: nothing else holds it */
            fill(s, &a, 1);
            CHECK_EQ(sn_store_take(s, &a, UINT32_MAX, &u), SEINE_OK);
            CHECK_EQ(a.n, 0);
            CHECK(sn_str_eq(u.target, SN_STR("/a/path/of/some/length")));
            CHECK(sn_str_eq(u.parent, SN_STR("http://e.example/")));
            fill(s, &b, 2);
        }
        close_row(s);
    }
}

TEST(store_counts_what_is_done_and_every_group)
{
    const uint64_t numbers[] = {4, 1, 7};

    EACH_ROW(i, back_ends) {
        sn_store *s = open_row(i);

        CHECK_EQ(sn_store_commit(s, &(sn_group){.done = numbers, .n_done = 3}), SEINE_OK);
        CHECK_EQ(sn_store_commit(s, &(sn_group){0}), SEINE_OK);
        CHECK_EQ(s->figures.done, 3);
        CHECK_EQ(s->figures.groups, 2);
        close_row(s);
    }
}

/* Skips a list to its end; returns how many URLs that were. */
static uint32_t
skip_all(sn_store *s, sn_url_list *l)
{
    sn_lost lost;
    uint32_t n = 0;

    while (sn_store_skip(s, l, &lost) == SEINE_OK)
        n += lost.urls;
    return n;
}

TEST(store_skips_a_list_part_by_part_and_leaves_the_others)
{
    EACH_ROW(i, back_ends) {
        sn_store *s = open_row(i);
        sn_url_list other = SN_URL_LIST, lost = SN_URL_LIST;
        sn_waiting_url u;

        fill(s, &other, 4000);
        fill(s, &lost, 20000);
        CHECK_EQ(s->figures.urls, 24000);
        CHECK_EQ(s->figures.spilled > 0, back_ends[i].spills);
        CHECK_EQ(skip_all(s, &lost), 20000);
        CHECK_EQ(lost.n, 0);
        CHECK_EQ(s->figures.urls, 4000);
        CHECK_EQ(sn_store_take(s, &lost, UINT32_MAX, &u), SEINE_E_CLOSED);
        for (uint64_t k = 0; k < 4000; k++) {
            CHECK_EQ(sn_store_take(s, &other, UINT32_MAX, &u), SEINE_OK);
            CHECK_EQ(u.number, k);
        }
        CHECK_EQ(s->figures.spilled, 0);
        close_row(s);
    }
}

static sn_url_list *
no_list(sn_str host, uint8_t kind, void *arg)
{
    (void)host;
    (void)kind;
    ++*(int *)arg;
    return NULL;
}

TEST(store_that_is_new_scans_nothing)
{
    EACH_ROW(i, back_ends) {
        int asked = 0;
        sn_store *s = open_row(i);

        CHECK_EQ(sn_store_scan(s, &(sn_scan){no_list, &asked}), SEINE_OK);
        CHECK_EQ(asked, 0);
        close_row(s);
    }
}

/* Whatever fails leaves list and store as before: what was put is there, in order. */
TEST(store_survives_failing_allocations)
{
    for (size_t b = 0; b < sizeof back_ends / sizeof *back_ends; b++)
        FAIL_EACH(r)
        {
            sn_store *s = NULL;
            sn_url_list l = SN_URL_LIST;
            sn_waiting_url u = link_to("/a/path");
            seine_err e = sn_store_open(back_ends[b].ops, &back_ends[b].opts, &s);
            uint64_t put = 0, next = 0;

            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            if (e != SEINE_OK)
                continue;
            for (; u.number < 1000; u.number++) {
                e = sn_store_enqueue(s, &l, &u);
                CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
                put += e == SEINE_OK;
                CHECK_EQ(l.n, put);
            }
            CHECK_EQ(s->figures.urls, put);
            while (l.n > 0 && (e = sn_store_take(s, &l, UINT32_MAX, &u)) == SEINE_OK) {
                CHECK(u.number >= next);
                next = u.number + 1;
            }
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            uint32_t left = l.n;
            CHECK_EQ(skip_all(s, &l), left);
            CHECK_EQ(s->figures.urls, 0);
            CHECK_EQ(s->figures.spilled, 0);
            close_row(s);
        }
}
