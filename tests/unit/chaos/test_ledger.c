/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/ledger.h"

#include <stdlib.h>

#include "check.h"
#include "failing.h"

static snc_site
site(const char *spec)
{
    snc_site s = {.pages = 0};
    const char *why;

    CHECK(snc_site_parse(sn_str_of(spec), &s, &why));
    return s;
}

static snc_ledger *
ledger(void)
{
    static snc_ledger l;

    snc_ledger_reset(&l);
    return &l;
}

TEST(a_page_is_counted_up_to_sixty_three_times)
{
    snc_ledger *l = ledger();
    snc_site s = site("1:10");
    snc_book *book = snc_ledger_book(l, &s);

    for (uint64_t i = 1; i <= 63; i++)
        CHECK_EQ(snc_book_hit(book, 3), i);
    CHECK_EQ(snc_book_hit(book, 3), 63);
    CHECK_EQ(snc_book_hit(book, 4), 1);
    CHECK_EQ(book->hits, 65);
    CHECK(snc_ledger_book(l, &s) == book);
    snc_ledger_reset(l);
}

TEST(what_is_served_is_not_missing_and_what_comes_again_is_a_duplicate)
{
    snc_ledger *l = ledger();
    snc_site s = site("1:20:broken=20:robots=20");
    snc_book *book = snc_ledger_book(l, &s);
    uint64_t ordinary = 0, first = 0;

    for (uint64_t n = 0; n < 20; n++)
        ordinary += snc_site_page(&s, n).fate == SNC_FATE_PAGE;
    while (snc_site_page(&s, 19 - first).fate != SNC_FATE_PAGE)
        first++;
    uint64_t last = 19 - first;
    CHECK_EQ(snc_book_sum_up(book).total, ordinary);
    CHECK_EQ(snc_book_sum_up(book).served, 0);
    CHECK_EQ(snc_book_sum_up(book).missing[0], 0);
    snc_book_hit(book, last);
    snc_book_served(book, last);
    snc_book_served(book, last);
    CHECK_EQ(book->again, 0);
    snc_book_hit(book, last);
    CHECK_EQ(book->again, 1);
    CHECK_EQ(snc_book_sum_up(book).served, 1);
    snc_ledger_reset(l);
}

TEST(sites_that_find_no_room_are_counted_and_always_new)
{
    snc_ledger *l = ledger();
    snc_site huge = site("1:99999999");

    snc_book *book = snc_ledger_book(l, &huge);
    CHECK_EQ(l->dropped, 1);
    CHECK_EQ(snc_book_hit(book, 5), 1);
    CHECK_EQ(snc_book_hit(book, 5), 1);
    for (uint64_t i = 1; i < SNC_LEDGER_SITES; i++) {
        snc_site s = site("1:10");

        s.seed = i;
        CHECK(snc_ledger_book(l, &s));
    }
    snc_site more = site("999:10");
    CHECK(!snc_ledger_book(l, &more));
    CHECK_EQ(snc_book_hit(NULL, 1), 1);
    snc_book_served(NULL, 1);
    snc_ledger_reset(l);
    FAIL_EACH(r)
    {
        book = snc_ledger_book(l, &more);
        CHECK_EQ(l->dropped, book->pages ? 0 : 1);
        snc_ledger_reset(l);
    }
}
