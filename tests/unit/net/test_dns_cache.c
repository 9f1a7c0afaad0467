/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(50)

static sn_dns_answer
answer_of(uint8_t n4, uint8_t n6, uint8_t seed)
{
    sn_dns_answer a = {.n4 = n4, .n6 = n6};

    for (uint8_t i = 0; i < n4; i++)
        a.v4[i] = (sn_ip){4, {10, seed, 0, i}};
    for (uint8_t i = 0; i < n6; i++)
        a.v6[i] = (sn_ip){6, {0x20, 1, [14] = seed, [15] = i}};
    return a;
}

static void
put_ok(sn_dns_cache *c, const char *name, seine_time until)
{
    sn_dns_answer a = answer_of(1, 1, 7);

    sn_dns_cache_put(c, sn_str_of(name), SEINE_OK, &a, until);
}

static bool
knows(sn_dns_cache *c, const char *name, seine_time now)
{
    seine_err e;
    sn_dns_answer a;

    return sn_dns_cache_get(c, sn_str_of(name), now, &e, &a);
}

TEST(dns_cache_gives_back_what_was_put)
{
    static const uint8_t counts[] = {0, 1, 2, 15, 16};
    sn_dns_cache c;

    sn_dns_cache_init(&c, 10);
    EACH_ROW(i, counts) {
        for (size_t j = 0; j < 5; j++) {
            sn_dns_answer a = answer_of(counts[i], counts[j], 9), b;
            seine_err e = SEINE_E_BUSY;

            memset(&b, 0xee, sizeof b);
            sn_dns_cache_put(&c, SN_STR("e.example"), SEINE_OK, &a, T0);
            CHECK(sn_dns_cache_get(&c, SN_STR("e.example"), T0 - 1, &e, &b));
            CHECK_EQ(e, SEINE_OK);
            CHECK_EQ(memcmp(&a, &b, sizeof a), 0);
        }
    }
    CHECK_EQ(c.names.count, 1);
    sn_dns_cache_fini(&c);
}

TEST(dns_cache_forgets_at_the_nanosecond)
{
    sn_dns_cache c;

    sn_dns_cache_init(&c, 10);
    put_ok(&c, "a", T0);
    CHECK(knows(&c, "a", T0 - 1));
    CHECK(!knows(&c, "a", T0));
    CHECK_EQ(c.names.count, 0); /* gone */
    put_ok(&c, "a", T0);
    CHECK(!knows(&c, "a", T0 + 1));
    CHECK(!knows(&c, "b", T0 - 1));
    sn_dns_cache_fini(&c);
}

TEST(dns_cache_keeps_failures_too)
{
    sn_dns_cache c;
    sn_dns_answer a = answer_of(2, 2, 3), untouched = a;
    seine_err e;

    sn_dns_cache_init(&c, 10);
    sn_dns_cache_put(&c, SN_STR("a"), SEINE_E_DNS_NXDOMAIN, &a, T0);
    CHECK(sn_dns_cache_get(&c, SN_STR("a"), 0, &e, &a));
    CHECK_EQ(e, SEINE_E_DNS_NXDOMAIN);
    CHECK_EQ(memcmp(&a, &untouched, sizeof a), 0);
    put_ok(&c, "a", T0);
    CHECK(sn_dns_cache_get(&c, SN_STR("a"), 0, &e, &a));
    CHECK_EQ(e, SEINE_OK);
    sn_dns_cache_fini(&c);
}

TEST(dns_cache_lets_the_least_recently_asked_go)
{
    sn_dns_cache c;

    sn_dns_cache_init(&c, 3);
    put_ok(&c, "a", T0);
    put_ok(&c, "b", T0);
    put_ok(&c, "c", T0);
    CHECK(knows(&c, "a", 0)); /* now b is the oldest */
    put_ok(&c, "d", T0);
    CHECK_EQ(c.names.count, 3);
    CHECK(knows(&c, "a", 0));
    CHECK(!knows(&c, "b", 0));
    put_ok(&c, "c", T0); /* again: takes its own place */
    put_ok(&c, "e", T0);
    CHECK(!knows(&c, "d", 0));
    CHECK(knows(&c, "a", 0));
    CHECK(knows(&c, "c", 0));
    CHECK(knows(&c, "e", 0));
    sn_dns_cache_fini(&c);
}

TEST(dns_cache_agrees_with_a_list)
{
    enum { NAMES = 40, MAX = 12 };
    struct {
        seine_time until, used;
    } m[NAMES] = {0};
    sn_rng r = sn_rng_seed(check_seed());
    sn_dns_cache c;

    sn_dns_cache_init(&c, MAX);
    for (seine_time t = 1; t < 20000; t++) {
        uint64_t i = sn_rng_below(&r, NAMES);
        char name[8];

        snprintf(name, sizeof name, "n%u", (unsigned)i);
        if (sn_rng_below(&r, 2)) {
            bool there = m[i].until > 0;
            int n = 0, oldest = -1;

            for (int k = 0; k < NAMES; k++) {
                n += m[k].until > 0;
                if (m[k].until > 0 && (oldest < 0 || m[k].used < m[oldest].used))
                    oldest = k;
            }
            if (!there && n == MAX)
                m[oldest].until = 0;
            m[i].until = t + 1 + (seine_time)sn_rng_below(&r, 60);
            m[i].used = t;
            put_ok(&c, name, m[i].until);
        } else {
            CHECK_EQ(knows(&c, name, t), m[i].until > t);
            if (m[i].until > t)
                m[i].used = t;
            else
                m[i].until = 0;
        }
    }
    sn_dns_cache_fini(&c);
}

TEST(dns_cache_takes_710_bytes_a_name_at_most)
{
    sn_dns_cache c;
    sn_dns_answer a = answer_of(16, 16, 1);
    char name[256];

    count_begin();
    sn_dns_cache_init(&c, 8192);
    memset(name, 'x', sizeof name);
    for (unsigned i = 0; i < 9000; i++) { /* the worst: long names, all addresses */
        snprintf(name, 9, "%08x", i);
        name[8] = 'x';
        sn_dns_cache_put(&c, (sn_str){name, 253}, SEINE_OK, &a, T0);
    }
    CHECK_EQ(c.names.count, 8192);
    CHECK(count_bytes() <= 8192 * 710);
    sn_dns_cache_fini(&c);
    CHECK_EQ(count_out(), 0);
    count_end();
}

TEST(dns_cache_without_memory_knows_nothing)
{
    FAIL_EACH(round)
    {
        sn_dns_cache c;

        sn_dns_cache_init(&c, 100);
        sn_dns_answer a = answer_of(1, 1, 1);
        seine_err e = SEINE_OK;

        sn_dns_cache_put(&c, SN_STR("a"), SEINE_E_DNS_NXDOMAIN, &a, T0);
        sn_dns_cache_put(&c, SN_STR("a"), SEINE_OK, &a, T0);
        /* The cache holds the second answer or none, never the outdated one. */
        CHECK(!sn_dns_cache_get(&c, SN_STR("a"), 0, &e, &a) || e == SEINE_OK);
        sn_dns_cache_fini(&c);
    }
}

TEST(dns_answers_hold_between_a_second_and_an_hour)
{
    static const struct {
        seine_err e;
        int64_t ttl;
        seine_span kept;
    } rows[] = {
        {SEINE_OK, INT64_MIN, SEINE_SECS(1)},
        {SEINE_OK, -1, SEINE_SECS(1)}, /* a TTL with the top bit set */
        {SEINE_OK, 0, SEINE_SECS(1)},
        {SEINE_OK, 1, SEINE_SECS(1)},
        {SEINE_OK, 2, SEINE_SECS(2)},
        {SEINE_OK, 3599, SEINE_SECS(3599)},
        {SEINE_OK, 3600, SEINE_SECS(3600)},
        {SEINE_OK, 3601, SEINE_SECS(3600)},
        {SEINE_OK, INT64_MAX, SEINE_SECS(3600)},
        {SEINE_E_DNS_NXDOMAIN, 5, SEINE_SECS(60)},
        {SEINE_E_DNS_SERVFAIL, 5, SEINE_SECS(1)},
        {SEINE_E_DNS_ERROR, 5, SEINE_SECS(1)},
        {SEINE_E_DNS_TIMEOUT, 5, SEINE_SECS(1)},
        {SEINE_E_NOMEM, 5, 0}, /* ours: says nothing about the name */
        {SEINE_E_NO_FILES, 5, 0},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_dns_keep(rows[i].e, rows[i].ttl), rows[i].kept);
}
