/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/address_limit.h"

#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define T0    SEINE_SECS(1000)
#define EVERY SEINE_MS(50) /* a fourth of 5 per second and host */

static sn_ip
ip_of(const char *text)
{
    sn_ip ip = {0};

    CHECK_EQ(sn_ip_parse(sn_str_of(text), &ip), SEINE_OK);
    return ip;
}

static sn_ip
ip_nr(uint32_t n)
{
    return (sn_ip){
        4, {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}};
}

static void
make(sn_address_limits *t, sn_address_limit limit)
{
    CHECK_EQ(sn_address_limits_init(
                 t, &(sn_address_limits_opts){.limit = limit, .secret = {1, 2}}),
             SEINE_OK);
}

TEST(address_limit_counts_what_is_in_flight)
{
    sn_ip ip = ip_of("192.0.2.1"), other = ip_of("192.0.2.2");
    uint32_t slots[8], slot = 99;
    seine_time when = -1;
    sn_address_limits t;

    make(&t, (sn_address_limit){8, 4, 0}); /* no rate */
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(sn_address_limits_when(&t, &ip, T0), T0);
        CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slots[i], &when), SEINE_OK);
    }
    CHECK_EQ(when, -1); /* untouched */
    CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slot, &when), SEINE_E_BUSY);
    CHECK(slot == 99 && when == T0 + SEINE_MS(10));
    CHECK_EQ(sn_address_limits_when(&t, &ip, T0), T0 + SEINE_MS(10));
    CHECK_EQ(sn_address_limits_start(&t, &other, T0, &slot, &when), SEINE_OK);
    sn_address_limits_end(&t, slots[3]);
    CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slots[3], &when), SEINE_OK);
    for (int i = 0; i < 8; i++)
        sn_address_limits_end(&t, slots[i]);
    CHECK_EQ(t.entries[slots[0]].in_flight, 0);
    CHECK_EQ(t.n_used, 2);
    sn_address_limits_fini(&t);
}

TEST(address_limit_spaces_starts_to_the_nanosecond)
{
    sn_ip ip = ip_of("192.0.2.1");
    seine_time when = 0;
    uint32_t slot;
    sn_address_limits t;

    make(&t, SN_ADDRESS_LIMIT(SEINE_MS(200)));
    for (int i = 0; i < 4; i++) { /* four hosts' worth at once */
        CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slot, &when), SEINE_OK);
        sn_address_limits_end(&t, slot);
    }
    for (seine_time at = T0 + EVERY; at < T0 + 20 * EVERY; at += EVERY) {
        CHECK_EQ(sn_address_limits_start(&t, &ip, at - 1, &slot, &when), SEINE_E_LIMITED);
        CHECK_EQ(when, at);
        CHECK_EQ(sn_address_limits_when(&t, &ip, at - 1), at);
        CHECK_EQ(sn_address_limits_when(&t, &ip, at), at);
        CHECK_EQ(sn_address_limits_start(&t, &ip, at, &slot, &when), SEINE_OK);
        sn_address_limits_end(&t, slot);
    }
    sn_address_limits_fini(&t);
}

TEST(address_limit_takes_an_ipv6_net_for_one_address)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"2a00:1:2:3::1", "2a00:1:2:3:ffff::9", true},
        {"2a00:1:2:3::1", "2a00:1:2:4::1", false},
        {"192.0.2.1", "::ffff:192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
        {"c000:201::", "192.0.2.1", false}, /* the same bytes */
    };

    EACH_ROW(i, rows) {
        sn_ip a = ip_of(rows[i].a), b = ip_of(rows[i].b);
        uint32_t slot[2];
        seine_time when;
        sn_address_limits t;

        make(&t, (sn_address_limit){1, 1, 0});
        CHECK_EQ(sn_address_limits_start(&t, &a, T0, &slot[0], &when), SEINE_OK);
        CHECK_EQ(sn_address_limits_start(&t, &b, T0, &slot[1], &when),
                 rows[i].same ? SEINE_E_BUSY : SEINE_OK);
        sn_address_limits_fini(&t);
    }
}

TEST(address_limit_groups_replace_the_limits_of_their_nets)
{
    sn_address_limits_group groups[] = {
        {{ip_of("10.0.0.0"), 8}, {2, 1, 0}},
        {{ip_of("10.1.0.0"), 16}, {3, 1, 0}},
        {{ip_of("10.1.0.0"), 16}, {4, 1, 0}}, /* of equals the last */
        {{ip_of("2a00::"), 16}, {5, 2, SEINE_MS(1)}},
    };
    static const struct {
        const char *text;
        int starts;
        seine_err then;
    } rows[] = {
        {"10.2.0.1", 2, SEINE_E_BUSY},
        {"10.1.0.1", 4, SEINE_E_BUSY},
        {"11.0.0.1", 1, SEINE_E_LIMITED},
        {"2a00::1", 2, SEINE_E_LIMITED},
    };
    sn_address_limits t;

    CHECK_EQ(sn_address_limits_init(
                 &t, &(sn_address_limits_opts){{9, 1, SEINE_SECS(1)}, groups, 4, {0}}),
             SEINE_OK);
    memset(groups, 0, sizeof groups); /* copied */
    EACH_ROW(i, rows) {
        sn_ip ip = ip_of(rows[i].text);
        uint32_t slot;
        seine_time when = 0;

        for (int k = 0; k < rows[i].starts; k++)
            CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slot, &when), SEINE_OK);
        CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slot, &when), rows[i].then);
        CHECK_EQ(sn_address_limits_when(&t, &ip, T0), when);
    }
    sn_address_limits_fini(&t);
}

/* Addresses with the same home, found by trying them on a table that stays empty. */
static void
neighbours(sn_ip *out_ips, int n)
{
    uint32_t slot, home = 0;
    seine_time when;
    sn_address_limits t;

    make(&t, (sn_address_limit){1, 1, 0});
    for (uint32_t i = 0, found = 0; found < (uint32_t)n; i++) {
        sn_ip ip = ip_nr(i);

        CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slot, &when), SEINE_OK);
        sn_address_limits_end(&t, slot);
        home = i == 0 ? slot : home;
        if (slot == home)
            out_ips[found++] = ip;
    }
    sn_address_limits_fini(&t);
}

TEST(address_limit_reuses_an_entry_that_owes_nothing)
{
    uint32_t slot, home;
    seine_time when;
    sn_ip ips[4];
    sn_address_limits t;

    neighbours(ips, 4);
    make(&t, (sn_address_limit){1, 1, EVERY});
    CHECK_EQ(sn_address_limits_start(&t, &ips[0], T0, &home, &when), SEINE_OK);
    CHECK_EQ(sn_address_limits_start(&t, &ips[1], T0 + 2 * EVERY, &slot, &when),
             SEINE_OK);
    CHECK_EQ(slot,
             (home + 1) % SN_ADDRESS_LIMITS_SLOTS); /* the first is still in flight */
    sn_address_limits_end(&t, home);
    sn_address_limits_end(&t, slot);

    CHECK_EQ(sn_address_limits_start(&t, &ips[0], T0 + 2 * EVERY, &slot, &when),
             SEINE_OK);
    CHECK_EQ(slot, home);
    sn_address_limits_end(&t, slot);
    CHECK_EQ(sn_address_limits_start(&t, &ips[2], T0 + 3 * EVERY - 1, &slot, &when),
             SEINE_OK);
    CHECK_EQ(slot,
             (home + 2) % SN_ADDRESS_LIMITS_SLOTS); /* both owe until T0 + 3 * EVERY */
    sn_address_limits_end(&t, slot);
    CHECK_EQ(sn_address_limits_start(&t, &ips[3], T0 + 3 * EVERY, &slot, &when),
             SEINE_OK);
    CHECK_EQ(slot, home); /* now it is free */
    CHECK_EQ(sn_address_limits_start(&t, &ips[0], T0 + 3 * EVERY, &slot, &when),
             SEINE_OK);
    CHECK_EQ(slot, (home + 1) % SN_ADDRESS_LIMITS_SLOTS); /* and its old owner moves on */
    sn_address_limits_fini(&t);
}

/* More addresses in flight than there are entries: nobody goes uncounted. */
TEST(address_limit_overflow_is_shared_and_counted)
{
    enum { N = 90000 };
    static uint32_t slots[N];
    uint32_t own = 0, shared = 0;
    seine_time when;
    sn_address_limits t;

    make(&t, (sn_address_limit){3, 1, 0});
    for (uint32_t i = 0; i < N; i++) {
        sn_ip ip = ip_nr(i);
        seine_err e = sn_address_limits_start(&t, &ip, T0, &slots[i], &when);

        if (e != SEINE_OK)
            slots[i] = UINT32_MAX;
        else if (slots[i] == SN_ADDRESS_LIMITS_SLOTS)
            shared++;
        else
            own++;
    }
    CHECK_EQ(shared, 3); /* the cap of one address for all of them */
    CHECK(own > 60000 && own <= SN_ADDRESS_LIMITS_SLOTS);
    CHECK_EQ(t.overflows, N - own);
    for (uint32_t i = 0; i < N; i++)
        if (slots[i] != UINT32_MAX)
            sn_address_limits_end(&t, slots[i]);
    for (uint32_t i = 0; i <= SN_ADDRESS_LIMITS_SLOTS; i++)
        CHECK_EQ(t.entries[i].in_flight, 0);
    /* All of it is free again. */
    uint64_t before = t.overflows;
    for (uint32_t i = 0; i < 1000; i++) {
        sn_ip ip = ip_nr(1000000 + i);

        CHECK_EQ(sn_address_limits_start(&t, &ip, T0, &slots[i], &when), SEINE_OK);
    }
    CHECK_EQ(t.overflows, before);
    sn_address_limits_fini(&t);
}

/* Random starts and ends on few addresses against plain counters. */
TEST(address_limit_agrees_with_counters)
{
    enum { IPS = 6, CAP = 3, BURST = 2 };
    sn_rng r = sn_rng_seed(check_seed());
    uint32_t slots[IPS][CAP], n[IPS] = {0};
    seine_time full[IPS] = {0}, now = T0;
    sn_address_limits t;

    make(&t, (sn_address_limit){CAP, BURST, EVERY});
    for (int step = 0; step < 20000; step++) {
        uint32_t i = (uint32_t)sn_rng_below(&r, IPS);
        sn_ip ip = ip_nr(i);
        seine_time when = 0;

        now += (seine_span)sn_rng_below(&r, (uint64_t)EVERY / 3);
        if (n[i] > 0 && sn_rng_below(&r, 2)) {
            sn_address_limits_end(&t, slots[i][--n[i]]);
            continue;
        }
        seine_time ready = full[i] - (BURST - 1) * EVERY;
        uint32_t slot = 0;
        seine_err e = sn_address_limits_start(&t, &ip, now, &slot, &when);
        CHECK_EQ(e, n[i] == CAP   ? SEINE_E_BUSY
                    : ready > now ? SEINE_E_LIMITED
                                  : SEINE_OK);
        if (e == SEINE_OK) {
            slots[i][n[i]++] = slot;
            full[i] = (full[i] > now ? full[i] : now) + EVERY;
        } else {
            CHECK_EQ(when, e == SEINE_E_BUSY ? now + EVERY : ready);
        }
    }
    sn_address_limits_fini(&t);
}

TEST(address_limit_refuses_limits_without_sense)
{
    static const sn_address_limit bad[] = {
        {0, 1, 0}, {1, 0, 0}, {1, 1, -1}, {1, UINT32_MAX, SEINE_NEVER / 2}};
    sn_address_limits t;

    EACH_ROW(i, bad) {
        sn_address_limits_group group = {{ip_of("10.0.0.0"), 8}, bad[i]};

        CHECK_EQ(sn_address_limits_init(&t, &(sn_address_limits_opts){.limit = bad[i]}),
                 SEINE_E_INVAL);
        CHECK_EQ(sn_address_limits_init(
                     &t, &(sn_address_limits_opts){{1, 1, 0}, &group, 1, {0}}),
                 SEINE_E_INVAL);
    }
    CHECK_EQ(sn_address_limits_init(
                 &t, &(sn_address_limits_opts){{1, 1, 0}, NULL, UINT16_MAX, {0}}),
             SEINE_E_INVAL);
}

TEST(address_limit_without_memory_is_not_made)
{
    sn_address_limits_group group = {{ip_of("10.0.0.0"), 8}, {1, 1, 0}};

    FAIL_EACH(r)
    {
        sn_address_limits t;
        seine_err e = sn_address_limits_init(
            &t, &(sn_address_limits_opts){{1, 1, 0}, &group, 1, {0}});

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        if (e == SEINE_OK)
            sn_address_limits_fini(&t);
    }
}

/* Threads: what the servers of the addresses see. */
enum { THREADS = 3, SERVERS = 5, TURNS = 300 };

static struct {
    sn_address_limits t;
    _Atomic int now_there[SERVERS];
    _Atomic int too_many, granted[SERVERS];
    int cap;
    bool roam;
} stage;

static void *
visitor(void *arg)
{
    sn_rng r = sn_rng_seed((uint64_t)(uintptr_t)arg);

    for (int i = 0; i < TURNS; i++) {
        uint32_t n = (uint32_t)sn_rng_below(&r, SERVERS), slot;
        sn_ip ip = ip_nr(n);
        seine_time when;

        if (stage.roam) { /* thousands of other addresses pass through the entries */
            sn_ip other = ip_nr((uint32_t)sn_rng_next(&r) | 0x80000000);

            if (sn_address_limits_start(&stage.t, &other, T0 + i, &slot, &when) ==
                SEINE_OK)
                sn_address_limits_end(&stage.t, slot);
        }
        if (sn_address_limits_start(&stage.t, &ip, T0 + i, &slot, &when) != SEINE_OK)
            continue;
        stage.granted[n]++;
        if (++stage.now_there[n] > stage.cap)
            stage.too_many++;
        stage.now_there[n]--;
        sn_address_limits_end(&stage.t, slot);
    }
    return NULL;
}

static void
visit(sn_address_limit limit, bool roam)
{
    pthread_t threads[THREADS];

    make(&stage.t, limit);
    stage.cap = limit.cap;
    stage.roam = roam;
    stage.too_many = 0;
    for (int i = 0; i < SERVERS; i++)
        stage.now_there[i] = stage.granted[i] = 0;
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, visitor, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i <= SN_ADDRESS_LIMITS_SLOTS; i++)
        if (stage.t.entries[i].in_flight != 0)
            CHECK_EQ(stage.t.entries[i].in_flight, 0);
}

TEST_THREADS(address_limit_no_thread_goes_beyond_the_cap)
{
    visit((sn_address_limit){1, 1, 0}, true);
    CHECK_EQ(stage.too_many, 0);
    sn_address_limits_fini(&stage.t);
}

/* Nothing recovers within the test: each server is asked exactly `burst` times. */
TEST_THREADS(address_limit_threads_share_one_bucket)
{
    visit((sn_address_limit){100, 7, SEINE_SECS(10)}, false);
    for (int i = 0; i < SERVERS; i++)
        CHECK_EQ(stage.granted[i], 7);
    sn_address_limits_fini(&stage.t);
}
