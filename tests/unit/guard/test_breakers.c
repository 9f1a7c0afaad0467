/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/breakers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seine/alloc.h"

#include "base/rng.h"
#include "breaker_stats.h"
#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

static seine_breaker_opts
opens_after(uint32_t failures, seine_span open_for)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;

    o.failure_threshold = failures;
    o.open_for = open_for;
    return o;
}

static seine_breakers *
registry(const seine_breaker_opts *o, uint32_t max_keys)
{
    seine_breakers *r = NULL;

    CHECK_EQ(seine_breakers_new(o, max_keys, &r), SEINE_OK);
    return r;
}

static seine_view
key(const char *s)
{
    return seine_key_str(s);
}

static bool
take(seine_breakers *r, const char *host, seine_time now, seine_permit *p)
{
    return seine_breakers_acquire(r, key(host), now, p) == SEINE_OK;
}

/* One whole call; false when it was refused. */
static bool
call(seine_breakers *r, const char *host, seine_outcome how, seine_time now)
{
    seine_permit p = {0};

    if (!take(r, host, now, &p))
        return false;
    CHECK_EQ(seine_breakers_settle(r, key(host), &p, how, now), SEINE_OK);
    return true;
}

static bool
knows(const seine_breakers *r, const char *host)
{
    seine_breaker_stats s;

    return seine_breakers_stats_get(r, key(host), &s) == SEINE_OK;
}

static seine_breaker_stats
stats(const seine_breakers *r, const char *host)
{
    seine_breaker_stats s = {0};

    CHECK_EQ(seine_breakers_stats_get(r, key(host), &s), SEINE_OK);
    return s;
}

static bool
count_key(seine_view k, const seine_breaker_stats *s, void *arg)
{
    (void)k;
    (void)s;
    ++*(size_t *)arg;
    return true;
}

static size_t
size(const seine_breakers *r)
{
    size_t n = 0, calls = seine_breakers_each(r, count_key, &n);

    CHECK_EQ(calls, n);
    return n;
}

/* Seed 004's Execute: a page of this status, or 0 for "connection refused". Returns how
 * often the function ran. */
static int
execute(seine_breakers *r, const char *host, int status, seine_time now)
{
    bool failed = status == 0 || (status >= 500 && status != 501 && status != 505);

    return call(r, host, failed ? SEINE_FAILURE : SEINE_SUCCESS, now);
}

TEST(s4_11_a_registry_has_states_stats_and_resets_per_host)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;
    seine_breakers *r = registry(&o, 65536);
    static const char *hosts[] = {"api.nuget.org", "pkgs.dev.azure.com", "github.com"};
    seine_breaker_stats s = {.failures = 77};

    CHECK_EQ(seine_breakers_state_get(r, key("github.com")), SEINE_BREAKER_CLOSED);
    CHECK_EQ(seine_breakers_stats_get(r, key("github.com"), &s), SEINE_E_UNKNOWN);
    CHECK_EQ(s.failures, 77);
    CHECK_EQ(size(r), 0);
    seine_breakers_reset(r, key("github.com")); /* unknown: makes none */
    CHECK_EQ(size(r), 0);

    for (int i = 0; i < 3; i++)
        CHECK_EQ(execute(r, hosts[i], 200, T0), 1);
    CHECK_EQ(size(r), 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(stats(r, hosts[i]).succeeded, 1);

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++)
            execute(r, hosts[i], 500, T0);
    seine_breakers_reset(r, key(hosts[1]));
    CHECK_EQ(seine_breakers_state_get(r, key(hosts[0])), SEINE_BREAKER_OPEN);
    CHECK_EQ(seine_breakers_state_get(r, key(hosts[1])), SEINE_BREAKER_CLOSED);
    CHECK_EQ(execute(r, hosts[1], 200, T0), 1);
    seine_breakers_reset_all(r);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(seine_breakers_state_get(r, key(hosts[i])), SEINE_BREAKER_CLOSED);
    seine_breakers_free(r);
}

TEST(s4_12_a_failure_is_an_error_or_a_status_of_500_and_more)
{
    static const struct {
        uint32_t max;
        int status;
        seine_breaker_state state;
    } rows[] = {
        {2, 500, SEINE_BREAKER_OPEN},
        {2, 599, SEINE_BREAKER_OPEN},
        {2, 501, SEINE_BREAKER_CLOSED},
        {2, 505, SEINE_BREAKER_CLOSED},
        {2, 499, SEINE_BREAKER_CLOSED},
        {3, 0, SEINE_BREAKER_OPEN}, /* connection errors */
    };

    EACH_ROW(i, rows) {
        seine_breaker_opts o = opens_after(rows[i].max, SEINE_MS(100));
        seine_breakers *r = registry(&o, 8);

        for (uint32_t k = 0; k < rows[i].max; k++)
            CHECK_EQ(execute(r, "h", rows[i].status, T0), 1);
        CHECK_EQ(seine_breakers_state_get(r, key("h")), rows[i].state);
        /* open: the function is not called */
        CHECK_EQ(execute(r, "h", 200, T0), rows[i].state == SEINE_BREAKER_CLOSED);
        seine_breakers_free(r);
    }
}

TEST(s4_13_x_25_hosts_are_isolated_from_each_other)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breakers *r = registry(&o, 65536);

    execute(r, "failing.example.com", 0, T0);
    execute(r, "failing.example.com", 0, T0);
    CHECK_EQ(seine_breakers_state_get(r, key("failing.example.com")), SEINE_BREAKER_OPEN);
    CHECK_EQ(seine_breakers_state_get(r, key("api.nuget.org")), SEINE_BREAKER_CLOSED);
    CHECK_EQ(execute(r, "api.nuget.org", 200, T0), 1);
    CHECK_EQ(seine_breakers_when(r, key("failing.example.com"), T0), T0 + SEINE_MS(100));
    CHECK(seine_breakers_when(r, key("api.nuget.org"), T0) <= T0);
    CHECK(seine_breakers_when(r, key("never.seen"), T0) <= T0);
    CHECK(!knows(r, "never.seen")); /* asking adds no key */
    seine_breakers_free(r);
}

TEST(x_25_one_registry_with_one_key_is_a_breaker_for_many_threads)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breakers *r = registry(&o, 1);

    for (int i = 0; i < 2; i++)
        CHECK(call(r, "", SEINE_FAILURE, T0));
    CHECK(!call(r, "", SEINE_SUCCESS, T0 + SEINE_MS(100) - 1));
    CHECK(call(r, "", SEINE_SUCCESS, T0 + SEINE_MS(100)));
    CHECK_EQ(seine_breakers_state_get(r, key("")), SEINE_BREAKER_CLOSED);
    CHECK_EQ(stats(r, "").rejected, 1);
    CHECK_EQ(seine_breakers_overflowed(r), 0);
    seine_breakers_free(r);
}

TEST(x_41_a_registry_never_holds_more_than_max_keys)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;
    static const uint32_t max[] = {1, 3, 1000, 4096};

    EACH_ROW(i, max) {
        seine_breakers *r = registry(&o, max[i]);
        char host[32];

        for (uint32_t k = 0; k < 3 * max[i] + 5; k++) {
            snprintf(host, sizeof host, "host%u", k);
            CHECK(call(r, host, SEINE_SUCCESS, T0 + k));
            CHECK(knows(r, host)); /* the newest is always there */
        }
        CHECK_EQ(size(r), max[i]);
        CHECK_EQ(seine_breakers_overflowed(r), 0);

        /* Several shards agree on the least recently used entry. */
        for (uint32_t k = 2 * max[i] + 5; k < 3 * max[i] + 5; k++) {
            snprintf(host, sizeof host, "host%u", k);
            CHECK(knows(r, host));
        }
        seine_breakers_free(r);
    }
}

TEST(x_42_the_key_is_the_callers_any_bytes_of_any_length)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 64);
    static char lengthy[100000];
    memset(lengthy, 'x', sizeof lengthy);
    const seine_view keys[] = {
        {"https://host:443", 16},
        {"https://host:443", 15},
        {"HTTPS://host:443", 16},
        {"a\0b", 3},
        {"a\0c", 3},
        {NULL, 0},
        {lengthy, 99999},
        {lengthy, 100000},
    };

    EACH_ROW(i, keys) {
        seine_permit p;

        CHECK_EQ(seine_breakers_acquire(r, keys[i], T0, &p), SEINE_OK);
        CHECK_EQ(seine_breakers_settle(r, keys[i], &p, SEINE_FAILURE, T0), SEINE_OK);
        CHECK_EQ(seine_breakers_state_get(r, keys[i]), SEINE_BREAKER_OPEN);
        CHECK_EQ(size(r), i + 1); /* none of them is another */
    }
    seine_breakers_free(r);
}

/* Room. */

TEST(breakers_drop_the_least_recently_used_of_those_nobody_misses)
{
    seine_breaker_opts o = opens_after(3, SEINE_MS(100));
    seine_breakers *r = registry(&o, 4);
    seine_permit p;

    CHECK(call(r, "a", SEINE_SUCCESS, T0));
    CHECK(call(r, "failing", SEINE_FAILURE, T0));
    CHECK(take(r, "busy", T0, &p));
    CHECK(call(r, "b", SEINE_SUCCESS, T0));
    CHECK(call(r, "a", SEINE_SUCCESS, T0)); /* b is now the oldest, at the same moment */

    CHECK(call(r, "c", SEINE_SUCCESS, T0));
    CHECK(!knows(r, "b"));
    CHECK(knows(r, "a"));
    CHECK(call(r, "d", SEINE_SUCCESS, T0));
    CHECK(!knows(r, "a"));
    CHECK(call(r, "e", SEINE_SUCCESS, T0));
    CHECK(!knows(r, "c"));
    CHECK(knows(r, "failing"));
    CHECK(knows(r, "busy"));

    /* Once settled, it is evicted after e, which was used before. */
    CHECK_EQ(seine_breakers_settle(r, key("busy"), &p, SEINE_IGNORED, T0), SEINE_OK);
    CHECK(call(r, "f", SEINE_SUCCESS, T0));
    CHECK(!knows(r, "d"));
    CHECK(call(r, "g", SEINE_SUCCESS, T0));
    CHECK(!knows(r, "e"));
    CHECK(call(r, "h", SEINE_SUCCESS, T0));
    CHECK(!knows(r, "busy"));
    CHECK_EQ(size(r), 4);
    CHECK_EQ(seine_breakers_overflowed(r), 0);
    seine_breakers_free(r);
}

TEST(breakers_drop_an_open_one_past_its_time_only_when_no_idle_one_is_left)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 3);

    CHECK(call(r, "first", SEINE_FAILURE, T0));
    CHECK(call(r, "second", SEINE_FAILURE, T0 + 1));
    CHECK(call(r, "idle", SEINE_SUCCESS, T0 + 2));
    seine_time t = T0 + SEINE_MS(100);

    CHECK(call(r, "x", SEINE_FAILURE, t + 10)); /* takes the place of idle */
    CHECK(!knows(r, "idle"));
    CHECK(knows(r, "first"));
    CHECK(call(r, "y", SEINE_FAILURE, t + 10)); /* of the one used longest ago */
    CHECK(!knows(r, "first"));
    CHECK(knows(r, "second"));
    CHECK(call(r, "z", SEINE_FAILURE, t + 10));
    CHECK(!knows(r, "second"));
    CHECK_EQ(seine_breakers_overflowed(r), 0);

    /* x, y, z are open until t + 10 + 100 ms: no room before, room then. */
    CHECK(call(r, "w", SEINE_SUCCESS, t + 10 + SEINE_MS(100) - 1));
    CHECK_EQ(seine_breakers_overflowed(r), 1);
    CHECK(!knows(r, "w"));
    CHECK(call(r, "w", SEINE_SUCCESS, t + 10 + SEINE_MS(100)));
    CHECK_EQ(seine_breakers_overflowed(r), 1);
    CHECK(knows(r, "w"));
    CHECK_EQ(size(r), 3);
    seine_breakers_free(r);
}

TEST(breakers_without_room_share_one_overflow_breaker_and_count_it)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breakers *r = registry(&o, 2);
    seine_permit a, b, p, q;

    CHECK(take(r, "a", T0, &a));
    CHECK(take(r, "b", T0, &b));
    CHECK(seine_breakers_when(r, key("c"), T0) <= T0);
    CHECK(call(r, "c", SEINE_FAILURE, T0));
    CHECK(call(r, "d", SEINE_FAILURE, T0)); /* the second failure of the untracked */
    CHECK(!call(r, "e", SEINE_SUCCESS, T0));
    CHECK_EQ(seine_breakers_overflowed(r), 3);
    CHECK_EQ(seine_breakers_state_get(r, key("c")), SEINE_BREAKER_CLOSED);
    CHECK(!knows(r, "c"));
    CHECK_EQ(seine_breakers_when(r, key("c"), T0), T0 + SEINE_MS(100));
    CHECK(seine_breakers_when(r, key("a"), T0) <= T0);
    CHECK_EQ(size(r), 2);

    /* Its permits settle, also when their key gets a breaker meanwhile. */
    CHECK(take(r, "f", T0 + SEINE_MS(100), &p));
    CHECK_EQ(seine_breakers_settle(r, key("a"), &a, SEINE_SUCCESS, T0), SEINE_OK);
    CHECK(take(r, "f", T0 + SEINE_MS(100), &q));
    CHECK(knows(r, "f"));
    CHECK_EQ(seine_breakers_settle(r, key("f"), &p, SEINE_FAILURE, T0 + SEINE_MS(100)),
             SEINE_OK);
    CHECK_EQ(seine_breakers_settle(r, key("f"), &p, SEINE_FAILURE, T0 + SEINE_MS(100)),
             SEINE_E_ALREADY);
    CHECK_EQ(stats(r, "f").failures, 0);
    CHECK_EQ(stats(r, "f").late, 0);
    CHECK_EQ(seine_breakers_when(r, key("g"), T0 + SEINE_MS(100)), T0 + SEINE_MS(200));

    seine_breakers_reset_all(r); /* the overflow breaker too */
    CHECK(take(r, "g", T0 + SEINE_MS(100), &p));
    CHECK_EQ(seine_breakers_overflowed(r), 5);
    seine_breakers_free(r);
}

TEST(breakers_give_up_a_lost_probe_of_the_overflow_breaker_too)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 1);
    seine_permit p;

    CHECK(take(r, "a", T0, &p));
    CHECK(call(r, "b", SEINE_FAILURE, T0));
    CHECK(take(r, "b", T0 + SEINE_MS(100), &p));
    CHECK_EQ(seine_breakers_when(r, key("b"), T0 + SEINE_MS(200)), T0 + SEINE_MS(300));
    CHECK_EQ(seine_breakers_settle(r, key("b"), &p, SEINE_SUCCESS, T0), SEINE_OK);
    CHECK_EQ(seine_breakers_when(r, key("b"), T0 + SEINE_MS(200)), T0 + SEINE_MS(300));
    seine_breakers_free(r);
}

TEST(breakers_permit_of_a_dropped_entry_matches_nothing)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 1);
    seine_permit early[3], p;

    for (int i = 0; i < 3; i++)
        CHECK(take(r, "a", T0, &early[i]));
    CHECK(call(r, "a", SEINE_FAILURE, T0)); /* open, with permits out */
    CHECK(call(r, "b", SEINE_SUCCESS, T0 + SEINE_MS(100)));
    CHECK(!knows(r, "a"));
    CHECK_EQ(seine_breakers_settle(r, key("a"), &early[0], SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(early[0].held, 0);
    CHECK_EQ(seine_breakers_settle(r, key("a"), &early[0], SEINE_FAILURE, T0),
             SEINE_E_ALREADY);
    CHECK(!knows(r, "a"));

    /* A new entry of the same key begins above every generation ever used. */
    CHECK(take(r, "a", T0 + SEINE_MS(100), &p));
    CHECK(p.generation > early[1].generation + 1);
    CHECK_EQ(seine_breakers_settle(r, key("a"), &early[1], SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breakers_state_get(r, key("a")), SEINE_BREAKER_CLOSED);
    CHECK_EQ(stats(r, "a").late, 1);

    /* The other breaker's permits did not count for this entry: it is still busy. */
    CHECK_EQ(seine_breakers_settle(r, key("a"), &early[2], SEINE_FAILURE, T0), SEINE_OK);
    CHECK(call(r, "c", SEINE_SUCCESS, T0 + SEINE_MS(100)));
    CHECK(knows(r, "a"));
    CHECK_EQ(seine_breakers_overflowed(r), 1);
    CHECK_EQ(seine_breakers_settle(r, key("a"), &p, SEINE_SUCCESS, T0), SEINE_OK);
    CHECK(call(r, "c", SEINE_SUCCESS, T0 + SEINE_MS(100)));
    CHECK(!knows(r, "a"));
    seine_breakers_free(r);
}

TEST(breakers_late_settlements_bring_the_permits_home)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 1);
    seine_permit p, q;

    CHECK(take(r, "a", T0, &p));
    CHECK(take(r, "a", T0, &q));
    CHECK(call(r, "a", SEINE_FAILURE, T0));
    seine_breakers_reset(r, key("a")); /* closed, two permits of an older time out */
    CHECK(call(r, "b", SEINE_SUCCESS, T0));
    CHECK_EQ(seine_breakers_overflowed(r), 1);
    CHECK_EQ(seine_breakers_settle(r, key("a"), &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK(call(r, "b", SEINE_SUCCESS, T0));
    CHECK_EQ(seine_breakers_overflowed(r), 2);
    CHECK_EQ(seine_breakers_settle(r, key("a"), &q, SEINE_FAILURE, T0), SEINE_OK);
    CHECK(call(r, "b", SEINE_SUCCESS, T0));
    CHECK(knows(r, "b"));
    seine_breakers_free(r);
}

TEST(breakers_reset_makes_an_entry_droppable_without_making_it_newer)
{
    seine_breaker_opts o = opens_after(2, SEINE_MS(100));
    seine_breakers *r = registry(&o, 3);

    CHECK(call(r, "a", SEINE_FAILURE, T0));
    CHECK(call(r, "b", SEINE_SUCCESS, T0 + 1));
    CHECK(call(r, "c", SEINE_SUCCESS, T0 + 2));
    seine_breakers_reset(r, key("b")); /* was idle and stays the oldest of them */
    seine_breakers_reset(r, key("a"));
    CHECK(call(r, "d", SEINE_SUCCESS, T0 + 3));
    CHECK(!knows(r, "b"));
    CHECK(call(r, "e", SEINE_SUCCESS, T0 + 4));
    CHECK(call(r, "f", SEINE_SUCCESS, T0 + 5));
    CHECK(!knows(r, "a"));
    CHECK_EQ(seine_breakers_overflowed(r), 0);
    seine_breakers_free(r);
}

TEST(breakers_when_reopens_what_a_lost_probe_blocks)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 1);
    seine_permit p;

    CHECK(call(r, "a", SEINE_FAILURE, T0));
    CHECK(take(r, "a", T0 + SEINE_MS(100), &p));
    CHECK_EQ(seine_breakers_when(r, key("a"), T0 + SEINE_MS(199)), T0 + SEINE_MS(200));
    CHECK_EQ(seine_breakers_state_get(r, key("a")), SEINE_BREAKER_HALF_OPEN);
    CHECK_EQ(seine_breakers_when(r, key("a"), T0 + SEINE_MS(200)), T0 + SEINE_MS(300));
    CHECK_EQ(seine_breakers_state_get(r, key("a")), SEINE_BREAKER_OPEN);
    CHECK(call(r, "b", SEINE_SUCCESS, T0 + SEINE_MS(300))); /* in its place */
    CHECK(!knows(r, "a"));
    seine_breakers_free(r);
}

/* Walks. */

typedef struct visit {
    seine_breakers *r;
    char seen[600];
    size_t stop_after, n;
    bool grows;
} visit;

static bool
look(seine_view k, const seine_breaker_stats *s, void *arg)
{
    visit *v = arg;
    char name[16] = {0};

    memcpy(name, k.ptr, k.len < 15 ? k.len : 15);
    long i = strtol(name + 1, NULL, 10);
    if (name[0] == 'k')
        v->seen[i]++;
    CHECK_EQ(s->failures, name[0] == 'k' ? i % 3 : 0);
    if (v->grows) { /* calls back in: evicts, resets, inserts */
        snprintf(name, sizeof name, "n%zu", v->n);
        CHECK(call(v->r, name, SEINE_SUCCESS, T0 + 1));
        seine_breakers_reset(v->r, k);
    }
    return ++v->n != v->stop_after;
}

TEST(breakers_each_sees_every_key_once_and_stops_when_told)
{
    seine_breaker_opts o = opens_after(5, SEINE_MS(100));
    seine_breakers *r = registry(&o, 600);
    visit v = {.r = r};
    char name[16];

    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "k%d", i);
        CHECK(call(r, name, SEINE_SUCCESS, T0));
        for (int k = 0; k < i % 3; k++)
            CHECK(call(r, name, SEINE_FAILURE, T0));
    }
    CHECK_EQ(seine_breakers_each(r, look, &v), 600);
    for (int i = 0; i < 600; i++)
        CHECK_EQ(v.seen[i], 1);

    v = (visit){.r = r, .stop_after = 7};
    CHECK_EQ(seine_breakers_each(r, look, &v), 7);

    /* A walk may miss entries that come and go meanwhile, but visits none twice, and an
     * entry stays in memory during its visit even when it is evicted. */
    v = (visit){.r = r, .grows = true, .stop_after = 500};
    CHECK(seine_breakers_each(r, look, &v) <= 500);
    for (int i = 0; i < 600; i++)
        CHECK(v.seen[i] <= 1);
    CHECK_EQ(size(r), 600);
    seine_breakers_free(r);
}

static bool
drop_it(seine_view k, const seine_breaker_stats *s, void *arg)
{
    visit *v = arg;

    (void)s;
    CHECK(call(v->r, "other", SEINE_SUCCESS, T0)); /* evicts the one we look at */
    CHECK(!knows(v->r, "a"));
    CHECK_EQ(k.len, 1);
    CHECK_EQ(*(const char *)k.ptr, 'a');
    return false;
}

TEST(breakers_each_keeps_a_dropped_entry_until_its_callback_returns)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;

    count_begin();
    seine_breakers *r = registry(&o, 1);
    visit v = {.r = r};
    CHECK(call(r, "a", SEINE_SUCCESS, T0));
    CHECK_EQ(seine_breakers_each(r, drop_it, &v), 1);
    CHECK_EQ(size(r), 1);
    seine_breakers_free(r);
    count_end();
}

/* Changes. */

typedef struct told {
    seine_breakers *r;
    atomic_int n;
    struct {
        seine_breaker_state from, to;
        uint64_t seq;
        char key[16];
    } at[4096];
} told;

static void
on_change(seine_view whose, seine_breaker_state from, seine_breaker_state to,
          uint64_t seq, void *arg)
{
    told *t = arg;
    int i = atomic_fetch_add(&t->n, 1);

    if (i < 4096) {
        t->at[i].from = from;
        t->at[i].to = to;
        t->at[i].seq = seq;
        snprintf(t->at[i].key, sizeof t->at[i].key, "%.*s", (int)whose.len,
                 whose.len ? whose.ptr : "");
    }
    /* No lock is held: every function may be called. */
    (void)seine_breakers_state_get(t->r, key("a"));
    (void)seine_breakers_overflowed(t->r);
}

TEST(breakers_tell_changes_without_a_lock_in_one_sequence)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    static told t;
    t = (told){0};
    o.on_change = on_change;
    o.arg = &t;
    seine_breakers *r = t.r = registry(&o, 2);
    seine_permit p, q;

    CHECK(call(r, "a", SEINE_FAILURE, T0));                    /* 1 */
    CHECK(call(r, "b", SEINE_FAILURE, T0));                    /* 2 */
    CHECK(call(r, "over", SEINE_FAILURE, T0));                 /* 3 */
    CHECK(take(r, "a", T0 + SEINE_MS(100), &p));               /* 4 */
    CHECK(seine_breakers_when(r, key("a"), T0 + SEINE_MS(200)) /* 5 */
          > T0 + SEINE_MS(200));
    seine_breakers_reset(r, key("a"));           /* 6 */
    CHECK(take(r, "b", T0 + SEINE_MS(100), &q)); /* 7 */
    seine_breakers_reset_all(r);                 /* 8, 9 */
    CHECK_EQ(t.n, 9);
    static const char *const whose[] = {"a", "b", "", "a", "a", "a", "b", "b", ""};
    for (int i = 0; i < 9; i++) {
        CHECK_EQ(t.at[i].seq, i + 1);
        CHECK(t.at[i].from != t.at[i].to);
        CHECK_STR(t.at[i].key, whose[i]); /* the overflow breaker has no key */
    }
    seine_breakers_free(r);
}

TEST(breakers_tell_every_change_of_the_overflow_breaker)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    static told t;
    t = (told){0};
    o.on_change = on_change;
    o.arg = &t;
    seine_breakers *r = t.r = registry(&o, 1);
    seine_permit a, p;

    CHECK(take(r, "a", T0, &a));                    /* the only place is taken */
    CHECK(call(r, "over", SEINE_FAILURE, T0));      /* opens */
    CHECK(take(r, "over", T0 + SEINE_MS(100), &p)); /* a probe */
    CHECK_EQ(t.n, 2);
    CHECK_EQ(t.at[1].to, SEINE_BREAKER_HALF_OPEN);
    CHECK(seine_breakers_when(r, key("over"), T0 + SEINE_MS(200)) >
          T0 + SEINE_MS(200)); /* the probe is lost */
    CHECK_EQ(t.n, 3);
    CHECK_EQ(t.at[2].to, SEINE_BREAKER_OPEN);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(t.at[i].seq, i + 1);
    seine_breakers_free(r);
}

TEST(breakers_reset_all_tells_each_of_many)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    static told t;
    t = (told){0};
    o.on_change = on_change;
    o.arg = &t;
    seine_breakers *r = t.r = registry(&o, 2048); /* two shards */
    char name[16];

    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "%d", i);
        CHECK(call(r, name, i % 2 ? SEINE_FAILURE : SEINE_SUCCESS, T0));
    }
    CHECK_EQ(t.n, 1000);
    seine_breakers_reset_all(r);
    CHECK_EQ(t.n, 2000);
    for (int i = 0; i < 2000; i++)
        CHECK_EQ(t.at[i].seq, i + 1);
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "%d", i);
        CHECK_EQ(seine_breakers_state_get(r, key(name)), SEINE_BREAKER_CLOSED);
    }
    seine_breakers_free(r);
}

/* G5, G7, G11, memory. */

TEST(breakers_refuse_settings_that_make_no_sense)
{
    const seine_breaker_opts good = SEINE_BREAKER_OPTS;
    seine_breaker_opts bad = good;
    seine_breakers *r = NULL;

    bad.half_open_max = 0;
    CHECK_EQ(seine_breakers_new(&bad, 10, &r), SEINE_E_INVAL);
    CHECK_EQ(seine_breakers_new(&good, 0, &r), SEINE_E_INVAL);
    CHECK_EQ(seine_breakers_new(NULL, 10, &r), SEINE_E_INVAL);
    CHECK(r == NULL);
    seine_breakers_free(NULL);
}

TEST(breakers_copy_their_options)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 1);
    seine_permit p;

    memset(&o, 0, sizeof o);
    CHECK(call(r, "a", SEINE_FAILURE, T0));
    CHECK(!call(r, "a", SEINE_SUCCESS, T0 + SEINE_MS(99)));
    CHECK(take(r, "a", T0 + SEINE_MS(100), &p));
    CHECK(call(r, "b", SEINE_FAILURE, T0)); /* the overflow breaker */
    CHECK(!call(r, "b", SEINE_SUCCESS, T0 + SEINE_MS(99)));
    CHECK(call(r, "b", SEINE_SUCCESS, T0 + SEINE_MS(100)));
    seine_breakers_free(r);
}

TEST(breakers_that_are_null_are_off)
{
    seine_permit p = {0};
    seine_breaker_stats s;
    size_t n = 0;

    CHECK_EQ(seine_breakers_acquire(NULL, key("a"), T0, &p), SEINE_OK);
    CHECK_EQ(p.held, 1);
    CHECK_EQ(seine_breakers_settle(NULL, key("a"), &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breakers_settle(NULL, key("a"), &p, SEINE_FAILURE, T0),
             SEINE_E_ALREADY);
    CHECK_EQ(seine_breakers_when(NULL, key("a"), T0), T0);
    CHECK_EQ(seine_breakers_state_get(NULL, key("a")), SEINE_BREAKER_CLOSED);
    CHECK_EQ(seine_breakers_stats_get(NULL, key("a"), &s), SEINE_E_UNKNOWN);
    CHECK_EQ(seine_breakers_each(NULL, count_key, &n), 0);
    CHECK_EQ(seine_breakers_overflowed(NULL), 0);
    seine_breakers_reset(NULL, key("a"));
    seine_breakers_reset_all(NULL);
}

TEST(breakers_out_of_memory_take_nothing)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    o.window_calls = 10; /* entries of two allocations */

    FAIL_EACH(f)
    {
        seine_breakers *r = NULL;
        seine_err e = seine_breakers_new(&o, 2, &r);
        seine_permit p, none;

        memset(&p, 0x5a, sizeof p);
        memset(&none, 0x5a, sizeof none);
        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && !r));
        for (int i = 0; r && i < 4; i++) {
            const char name[] = {(char)('a' + i), 0};
            size_t before = size(r);

            e = seine_breakers_acquire(r, key(name), T0, &p);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            CHECK_EQ(e == SEINE_OK, memcmp(&p, &none, sizeof p) != 0);
            if (e == SEINE_OK)
                CHECK_EQ(seine_breakers_settle(r, key(name), &p, SEINE_SUCCESS, T0),
                         SEINE_OK);
            else
                CHECK_EQ(size(r), before); /* nobody was dropped for it */
            memset(&p, 0x5a, sizeof p);
        }
        seine_breakers_free(r);
    }
}

TEST(breakers_allocate_once_per_new_key_and_never_for_a_known_one)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;

    count_begin();
    seine_breakers *r = registry(&o, 100);
    CHECK(call(r, "a", SEINE_SUCCESS, T0));
    long calls = count_calls();
    CHECK(call(r, "b", SEINE_SUCCESS, T0));
    CHECK_EQ(count_calls(), calls + 1);
    for (int i = 0; i < 100; i++) {
        CHECK(call(r, "a", SEINE_FAILURE, T0 + SEINE_SECS((seine_span)60 * i)) || i > 0);
        CHECK(knows(r, "b"));
        (void)seine_breakers_when(r, key("c"), T0);
        (void)size(r);
    }
    seine_breakers_reset_all(r);
    CHECK_EQ(count_calls(), calls + 1);
    seine_breakers_free(r);
    count_end();
}

/* An allocator that calls the registry which is making room. */
typedef struct meddler {
    seine_breakers *r;
    int times;
    seine_permit permit;
} meddler;

static void *
meddle_get(size_t n, void *arg)
{
    meddler *m = arg;

    if (m->r && m->times-- > 0)
        CHECK(take(m->r, "a", T0, &m->permit));
    return malloc(n);
}

static void *
meddle_resize(void *p, size_t n, void *arg)
{
    (void)arg;
    return realloc(p, n);
}

static void
meddle_put(void *p, void *arg)
{
    meddler *m = arg;

    if (m->r)
        (void)seine_breakers_state_get(m->r, key("a"));
    free(p);
}

TEST(breakers_allocate_and_free_without_a_lock_and_find_what_came_meanwhile)
{
    const seine_breaker_opts o = SEINE_BREAKER_OPTS;
    meddler m = {0};
    const seine_alloc meddling = {meddle_get, meddle_resize, meddle_put, NULL, NULL, &m};
    seine_permit p;

    CHECK_EQ(seine_set_alloc(&meddling), SEINE_OK);
    seine_breakers *r = registry(&o, 2);
    m.r = r;
    m.times = 1;
    CHECK(take(r, "a", T0, &p)); /* while it is made, another "a" is */
    CHECK_EQ(size(r), 1);
    CHECK_EQ(p.generation, m.permit.generation);
    CHECK(call(r, "b", SEINE_SUCCESS, T0)); /* its slot was given back */
    CHECK(knows(r, "b"));
    CHECK(call(r, "c", SEINE_SUCCESS, T0)); /* b is freed */
    CHECK_EQ(size(r), 2);
    CHECK_EQ(seine_breakers_overflowed(r), 0);

    /* Another key takes the last room while an entry is made. */
    m.r = NULL;
    seine_breakers_free(r);
    r = registry(&o, 1);
    m.r = r;
    m.times = 1;
    CHECK(take(r, "b", T0, &p));
    CHECK(knows(r, "a"));
    CHECK(!knows(r, "b"));
    CHECK_EQ(seine_breakers_overflowed(r), 1);
    m.r = NULL;
    seine_breakers_free(r);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
}

/*
 * A second registry, written to be obvious: an array of breakers, searched from end to
 * end. The breakers themselves are the real ones.
 */

#define ROOM  5
#define NAMES 9

typedef struct row {
    bool used;
    int name;
    seine_breaker b;
    uint64_t last; /* step of its last use */
    int out;
} row;

typedef struct model {
    row rows[ROOM];
    seine_breaker overflow;
    uint64_t overflowed;
} model;

static row *
m_find(model *m, int name)
{
    for (int i = 0; i < ROOM; i++) {
        if (m->rows[i].used && m->rows[i].name == name)
            return &m->rows[i];
    }
    return NULL;
}

/* A free row, or the least recently used idle row, or the least recently used open one
 * past its time; NULL if there is none. */
static row *
m_room(model *m, seine_time now)
{
    row *idle = NULL, *over = NULL;

    for (int i = 0; i < ROOM; i++) {
        row *e = &m->rows[i];
        seine_breaker_stats s;

        if (!e->used)
            return e;
        seine_breaker_stats_get(&e->b, &s);
        if (s.state == SEINE_BREAKER_CLOSED && s.failures == 0 && e->out == 0 &&
            (!idle || e->last < idle->last))
            idle = e;
        if (s.state == SEINE_BREAKER_OPEN && s.open_until <= now &&
            (!over || e->last < over->last))
            over = e;
    }
    return idle ? idle : over;
}

typedef struct held {
    seine_permit got, want; /* the registry's and the model's */
    int name;
    row *of; /* NULL: of the overflow breaker */
    uint64_t life;
} held;

static uint64_t lives[ROOM]; /* how often a row was filled anew */

static void
m_acquire(seine_breakers *r, model *m, const seine_breaker_opts *o, held *h,
          uint64_t step, seine_time now)
{
    const char name[] = {(char)('a' + h->name), 0};
    row *e = m_find(m, h->name);

    if (!e) {
        e = m_room(m, now);
        if (e) {
            *e = (row){.used = true, .name = h->name};
            CHECK_EQ(seine_breaker_init(&e->b, o), SEINE_OK);
            lives[e - m->rows]++;
        }
    }
    m->overflowed += !e;
    seine_err want = seine_breaker_acquire(e ? &e->b : &m->overflow, now, &h->want);
    CHECK_EQ(seine_breakers_acquire(r, key(name), now, &h->got), want);
    h->of = e;
    if (e) {
        e->last = step;
        e->out += want == SEINE_OK;
        h->life = lives[e - m->rows];
    }
}

static void
m_settle(seine_breakers *r, model *m, held *h, seine_outcome how, uint64_t step,
         seine_time now)
{
    const char name[] = {(char)('a' + h->name), 0};
    row *e = m_find(m, h->name);

    CHECK_EQ(seine_breakers_settle(r, key(name), &h->got, how, now), SEINE_OK);
    if (!h->of) {
        CHECK_EQ(seine_breaker_settle(&m->overflow, &h->want, how, now), SEINE_OK);
    } else if (e == h->of && lives[e - m->rows] == h->life) {
        CHECK_EQ(seine_breaker_settle(&e->b, &h->want, how, now), SEINE_OK);
        e->out--;
        e->last = step;
    } else if (e) { /* of a dropped entry: matches nothing, is late */
        h->want.generation = UINT64_MAX;
        CHECK_EQ(seine_breaker_settle(&e->b, &h->want, how, now), SEINE_OK);
        e->last = step;
    }
    h->want.held = 0;
}

static bool
agree(const seine_breakers *r, model *m)
{
    bool same = true;

    for (int i = 0; i < NAMES; i++) {
        const char name[] = {(char)('a' + i), 0};
        row *e = m_find(m, i);
        seine_breaker_stats got, want;

        if (!e) {
            same = same && !knows(r, name);
            continue;
        }
        seine_breaker_stats_get(&e->b, &want);
        same = same && seine_breakers_stats_get(r, key(name), &got) == SEINE_OK;
        if (!same)
            break;
        same = breaker_stats_alike(&got, &want);
    }
    CHECK(same);
    CHECK_EQ(seine_breakers_overflowed(r), m->overflowed);
    return same;
}

TEST(breakers_agree_with_an_array_of_breakers_on_random_traces)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 60; round++) {
        seine_breaker_opts o = opens_after(1 + (uint32_t)sn_rng_below(&rng, 3), 50);
        o.probe_lease = 70;
        seine_breakers *r = registry(&o, ROOM);
        model m = {0};
        held h[8] = {{.name = 0}};
        seine_time now = T0;
        bool same = true;

        CHECK_EQ(seine_breaker_init(&m.overflow, &o), SEINE_OK);
        for (uint64_t step = 1; same && step <= 300; step++) {
            held *one = &h[sn_rng_below(&rng, 8)];

            now += (seine_time)sn_rng_below(&rng, 25) - 3;
            if (one->want.held) {
                m_settle(r, &m, one, (seine_outcome)sn_rng_below(&rng, 3), step, now);
            } else {
                one->name = (int)sn_rng_below(&rng, NAMES);
                m_acquire(r, &m, &o, one, step, now);
            }
            same = agree(r, &m);
        }
        seine_breakers_free(r);
        if (!same)
            return;
    }
}

/* Threads. */

#define WORKERS 4
#define CALLS   60

typedef struct crew {
    seine_breakers *r;
    int keys;
    pthread_barrier_t start;
    atomic_long granted, refused, settled[3], moment;
} crew;

typedef struct worker {
    crew *c;
    uint64_t seed;
} worker;

static void *
work(void *arg)
{
    worker *w = arg;
    crew *c = w->c;
    sn_rng rng = sn_rng_seed(w->seed);

    pthread_barrier_wait(&c->start);
    for (int i = 0; i < CALLS; i++) {
        const char name[] = {(char)('a' + (int)sn_rng_below(&rng, (uint64_t)c->keys)), 0};
        seine_time now = T0 + atomic_fetch_add(&c->moment, 1);
        seine_permit p;

        if (!take(c->r, name, now, &p)) {
            c->refused++;
            continue;
        }
        c->granted++;
        int how = (int)sn_rng_below(&rng, 3);
        CHECK_EQ(seine_breakers_settle(c->r, key(name), &p, (seine_outcome)how, now + 5),
                 SEINE_OK);
        c->settled[how]++;
        if (i % 16 == 0)
            (void)seine_breakers_when(c->r, key(name), now);
        if (i % 32 == 7)
            (void)size(c->r);
        if (i % 32 == 15)
            seine_breakers_reset(c->r, key(name));
    }
    return NULL;
}

static void
run_crew(crew *c)
{
    pthread_t threads[WORKERS];
    worker workers[WORKERS];
    uint64_t seed = check_seed();

    pthread_barrier_init(&c->start, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (worker){c, seed + (uint64_t)i};
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&c->start);
}

static bool
sum_up(seine_view k, const seine_breaker_stats *s, void *arg)
{
    seine_breaker_stats *sum = arg;

    (void)k;
    sum->succeeded += s->succeeded;
    sum->failed += s->failed;
    sum->ignored += s->ignored;
    sum->late += s->late;
    sum->rejected += s->rejected;
    sum->half_open_active += s->half_open_active;
    return true;
}

TEST_THREADS(breakers_lose_no_call_of_any_thread)
{
    seine_breaker_opts o = opens_after(3, 20);
    o.probe_lease = SEINE_SECS(1); /* no probe is given up: each call counts once */
    crew c = {.r = registry(&o, 16), .keys = 4};
    seine_breaker_stats sum = {0};

    run_crew(&c);
    CHECK_EQ(seine_breakers_each(c.r, sum_up, &sum), 4);
    CHECK_EQ(c.granted + c.refused, WORKERS * CALLS);
    CHECK_EQ(sum.succeeded + sum.failed + sum.ignored + sum.late, c.granted);
    CHECK(sum.succeeded <= (uint64_t)c.settled[SEINE_SUCCESS]);
    CHECK(sum.failed <= (uint64_t)c.settled[SEINE_FAILURE]);
    CHECK_EQ(sum.rejected, c.refused);
    CHECK_EQ(sum.half_open_active, 0);
    CHECK_EQ(seine_breakers_overflowed(c.r), 0);
    seine_breakers_free(c.r);
}

TEST_THREADS(breakers_stay_within_max_keys_whoever_inserts)
{
    seine_breaker_opts o = opens_after(2, 20);
    crew c = {.r = registry(&o, 3), .keys = 12};

    run_crew(&c);
    CHECK(size(c.r) <= 3);
    CHECK_EQ(c.granted + c.refused, WORKERS * CALLS);
    seine_breakers_free(c.r);
}

static int
by_seq(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

TEST_THREADS(breakers_number_the_changes_of_a_key_in_their_order)
{
    seine_breaker_opts o = opens_after(2, 3);
    static told t;
    static struct {
        uint64_t seq;
        seine_breaker_state from, to;
    } sorted[4096];
    t = (told){0};
    o.on_change = on_change;
    o.arg = &t;
    /* Room for all threads that make the key at the same moment: none uses the overflow
     * breaker, whose changes have a sequence of their own. */
    crew c = {.r = registry(&o, WORKERS), .keys = 1};
    t.r = c.r;

    run_crew(&c);
    int n = t.n < 4096 ? t.n : 4096;
    for (int i = 0; i < n; i++) {
        sorted[i].seq = t.at[i].seq;
        sorted[i].from = t.at[i].from;
        sorted[i].to = t.at[i].to;
    }
    qsort(sorted, (size_t)n, sizeof *sorted, by_seq);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(sorted[i].seq, i + 1);
        CHECK_EQ(sorted[i].from, i ? sorted[i - 1].to : SEINE_BREAKER_CLOSED);
    }
    seine_breakers_free(c.r);
}

TEST(breakers_key_without_bytes_is_the_empty_key_whatever_its_length)
{
    seine_breaker_opts o = opens_after(1, SEINE_MS(100));
    seine_breakers *r = registry(&o, 10);
    seine_view none = {NULL, 99};
    seine_breaker_stats s;
    seine_permit p;

    CHECK_EQ(seine_breakers_acquire(r, none, T0, &p), SEINE_OK);
    CHECK_EQ(seine_breakers_settle(r, none, &p, SEINE_FAILURE, T0), SEINE_OK);
    CHECK_EQ(seine_breakers_state_get(r, key("")), SEINE_BREAKER_OPEN);
    CHECK_EQ(seine_breakers_when(r, none, T0), T0 + SEINE_MS(100));
    CHECK_EQ(seine_breakers_stats_get(r, none, &s), SEINE_OK);
    seine_breakers_reset(r, none);
    CHECK_EQ(seine_breakers_state_get(r, none), SEINE_BREAKER_CLOSED);
    seine_breakers_free(r);
}
