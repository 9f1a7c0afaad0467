/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_tickets.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static sn_ticket *
put(sn_tickets *s, const char *key, const char *text, bool once, seine_time until)
{
    sn_ticket *t = sn_tickets_add(s, sn_str_of(key), strlen(text) + 1, once, until, 0);

    if (t)
        memcpy(t->bytes, text, strlen(text) + 1);
    return t;
}

static const char *
find(sn_tickets *s, const char *key, seine_time now)
{
    sn_ticket *t = sn_tickets_find(s, sn_str_of(key), now);

    return t ? t->bytes : "none";
}

TEST(the_newest_ticket_is_found_first_and_four_of_a_key_are_kept)
{
    sn_tickets s;

    sn_tickets_init(&s, NULL);
    CHECK_STR(find(&s, "a:443", 0), "none");
    for (int i = 1; i <= 6; i++)
        CHECK(put(&s, "a:443", (char[]){(char)('0' + i), 0}, true, 10) != NULL);
    for (int i = 6; i >= 3; i--) {
        sn_ticket *t = sn_tickets_find(&s, SN_STR("a:443"), 0);

        CHECK_STR(t->bytes, ((char[]){(char)('0' + i), 0}));
        sn_tickets_used(&s, t);
    }
    CHECK_STR(find(&s, "a:443", 0), "none");
    CHECK_EQ(s.n, 0);
    sn_tickets_fini(&s);
}

TEST(a_ticket_that_may_be_used_again_stays)
{
    sn_tickets s;

    sn_tickets_init(&s, NULL);
    CHECK(put(&s, "a:443", "many", false, 10) != NULL);
    for (int i = 0; i < 3; i++) {
        sn_ticket *t = sn_tickets_find(&s, SN_STR("a:443"), 0);

        CHECK_STR(t->bytes, "many");
        sn_tickets_used(&s, t);
    }
    CHECK_STR(find(&s, "a:443", 0), "many");
    sn_tickets_fini(&s);
}

TEST(a_ticket_is_good_until_its_time_is_over)
{
    sn_tickets s;

    sn_tickets_init(&s, NULL);
    CHECK(put(&s, "a:443", "late", true, 0) == NULL); /* over already */
    CHECK_EQ(s.n, 0);
    CHECK(put(&s, "a:443", "old", true, 10) != NULL);
    CHECK(put(&s, "a:443", "new", true, 5) != NULL);
    CHECK_STR(find(&s, "a:443", 4), "new");
    CHECK_STR(find(&s, "a:443", 5), "old");
    CHECK_STR(find(&s, "a:443", 9), "old");
    CHECK_STR(find(&s, "a:443", 10), "none");
    CHECK_EQ(s.n, 0);
    sn_tickets_fini(&s);
}

TEST(keys_share_nothing_and_a_refusal_forgets_all_of_one)
{
    sn_tickets s;

    sn_tickets_init(&s, NULL);
    CHECK(put(&s, "a:443", "a", true, 10) && put(&s, "a:443", "aa", true, 10));
    CHECK(put(&s, "a:443+", "named", true, 10) && put(&s, "a:444", "port", true, 10));
    sn_tickets_forget(&s, SN_STR("a:443"));
    sn_tickets_forget(&s, SN_STR("b:443"));
    CHECK_STR(find(&s, "a:443", 0), "none");
    CHECK_STR(find(&s, "a:443+", 0), "named");
    CHECK_STR(find(&s, "a:444", 0), "port");
    sn_tickets_fini(&s);
}

TEST(of_more_than_4096_keys_the_one_without_news_goes)
{
    sn_tickets s;
    char key[32];

    sn_tickets_init(&s, NULL);
    for (int i = 0; i < SN_TICKETS_KEYS; i++) {
        snprintf(key, sizeof key, "%d:443", i);
        CHECK(put(&s, key, "x", true, 10) != NULL);
    }
    CHECK(put(&s, "0:443", "y", true, 10) != NULL); /* has news */
    CHECK(put(&s, "new:443", "z", true, 10) != NULL);
    CHECK_EQ(s.n, SN_TICKETS_KEYS);
    CHECK_STR(find(&s, "0:443", 0), "y");
    CHECK_STR(find(&s, "1:443", 0), "none");
    CHECK_STR(find(&s, "2:443", 0), "x");
    CHECK_STR(find(&s, "new:443", 0), "z");
    sn_tickets_fini(&s);
}

TEST(what_does_not_fit_is_not_kept)
{
    seine_budget *b = NULL;
    seine_held held;
    seine_want used;
    sn_tickets s;

    CHECK_EQ(seine_budget_new(&(seine_want){{1000, 0, 0, 0}}, &b), SEINE_OK);
    CHECK_EQ(seine_budget_try(b, &(seine_want){{0}}, &held), SEINE_OK);
    sn_tickets_init(&s, &held);
    CHECK(sn_tickets_add(&s, SN_STR("a:443"), SN_TICKETS_BYTES + 1, true, 10, 0) == NULL);
    CHECK(sn_tickets_add(&s, SN_STR("a:443"), 500, true, 10, 0) != NULL);
    CHECK(sn_tickets_add(&s, SN_STR("a:443"), 500, true, 10, 0) == NULL);
    CHECK(sn_tickets_add(&s, SN_STR("b:443"), 500, true, 10, 0) == NULL);
    CHECK_EQ(s.n, 1);
    sn_tickets_fini(&s);
    seine_budget_used_get(b, &used);
    CHECK_EQ(used.n[SEINE_RES_MEMORY], 0);
    seine_budget_release(&held);
    seine_budget_free(b);
}

TEST(without_memory_there_are_no_tickets)
{
    FAIL_EACH(r)
    {
        sn_tickets s;

        sn_tickets_init(&s, NULL);
        bool first = put(&s, "a:443", "1", true, 10) != NULL;
        bool second = put(&s, "a:443", "2", true, 10) != NULL;
        CHECK_STR(find(&s, "a:443", 0), second ? "2" : first ? "1" : "none");
        sn_tickets_fini(&s);
    }
}
