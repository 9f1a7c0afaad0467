/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_seen.h"

#include <string.h>

#include "check.h"
#include "failing.h"

static sn_warc_first
first_of(unsigned n, sn_str url)
{
    sn_warc_first f = {.wall = (int64_t)n, .url = url};

    memcpy(f.sha1, &n, sizeof n);
    memcpy(f.sha1 + 12, &n, sizeof n);
    return f;
}

static const sn_warc_first *
get(const sn_warc_seen *s, unsigned n)
{
    sn_warc_first f = first_of(n, SN_STR(""));

    return sn_warc_seen_get(s, f.sha1);
}

TEST(warc_seen_knows_what_was_added_and_where)
{
    sn_warc_seen s;
    char url[] = "http://e.example/1";

    sn_warc_seen_init(&s, 8, 1000);
    CHECK(!get(&s, 1));
    sn_warc_first f = first_of(1, sn_str_of(url));
    CHECK_EQ(sn_warc_seen_add(&s, &f), SEINE_OK);
    url[0] = 'x'; /* a copy is kept */
    CHECK(get(&s, 1) != NULL);
    CHECK_EQ(get(&s, 1)->wall, 1);
    CHECK(sn_str_eq(get(&s, 1)->url, SN_STR("http://e.example/1")));
    CHECK(!get(&s, 2));
    sn_warc_seen_fini(&s);
}

/* Digests that share a home stand in one chain, of which the oldest goes first. */
TEST(warc_seen_forgets_the_oldest)
{
    sn_warc_seen s;

    sn_warc_seen_init(&s, 8, 1000);
    for (unsigned n = 0; n < 100; n++) {
        sn_warc_first f = first_of(n * 4, SN_STR("u"));

        CHECK_EQ(sn_warc_seen_add(&s, &f), SEINE_OK);
        for (unsigned k = 0; k <= n; k++)
            CHECK_EQ(get(&s, k * 4) != NULL, n - k < 8);
    }
    sn_warc_seen_fini(&s);
}

TEST(warc_seen_is_bounded_in_bytes_of_addresses)
{
    sn_warc_seen s;
    sn_warc_first f = first_of(1, SN_STR("12345"));

    sn_warc_seen_init(&s, 8, 12);
    CHECK_EQ(sn_warc_seen_add(&s, &f), SEINE_OK);
    f = first_of(2, SN_STR("1234567"));
    CHECK_EQ(sn_warc_seen_add(&s, &f), SEINE_OK);
    CHECK(get(&s, 1) && get(&s, 2)); /* 12 bytes */
    f = first_of(3, SN_STR("1"));
    CHECK_EQ(sn_warc_seen_add(&s, &f), SEINE_OK);
    CHECK(!get(&s, 1) && get(&s, 2) && get(&s, 3));
    f = first_of(4, SN_STR("1234567890123")); /* 13: never */
    CHECK_EQ(sn_warc_seen_add(&s, &f), SEINE_OK);
    CHECK(get(&s, 2) && get(&s, 3) && !get(&s, 4));
    sn_warc_seen_fini(&s);
}

TEST(warc_seen_of_nothing_remembers_nothing)
{
    sn_warc_seen s;
    sn_warc_first f = first_of(1, SN_STR("u"));

    sn_warc_seen_init(&s, 0, 0);
    CHECK_EQ(sn_warc_seen_add(&s, &f), SEINE_OK);
    CHECK(!get(&s, 1));
    sn_warc_seen_fini(&s);
}

TEST(warc_seen_without_memory_is_as_before)
{
    FAIL_EACH(round)
    {
        sn_warc_seen s;
        sn_warc_first f = first_of(1, SN_STR("u"));

        sn_warc_seen_init(&s, 8, 100);
        seine_err e = sn_warc_seen_add(&s, &f);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(get(&s, 1) != NULL, e == SEINE_OK);
        sn_warc_seen_fini(&s);
    }
}
