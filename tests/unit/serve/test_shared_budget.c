/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/shared_budget.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

#define T0   SEINE_SECS(1000)
#define UP   "*2\r\n$7\r\nversion\r\n$1\r\n7\r\n+PONG\r\n"
#define YES  "*6\r\n:1\r\n:1700000001\r\n:0\r\n:1700000000\r\n:0\r\n:2\r\n"
#define NO   "*6\r\n:0\r\n:1700000020\r\n:0\r\n:1700000000\r\n:0\r\n:2\r\n"
#define MET1 "*2\r\n:1\r\n:0\r\n"
#define MET2 "*2\r\n:2\r\n:0\r\n"
#define MET3 "*2\r\n:3\r\n:0\r\n"

/* A member with a scripted server. */
typedef struct party {
    sn_redis_url url;
    sn_redis *r;
    sn_shared_budget *b;
    seine_time now;
    char got[256]; /* decisions: + granted, - refused */
    seine_grant grant;
} party;

static void
on_up(void *arg)
{
    party *p = arg;

    sn_shared_budget_up(p->b, p->now);
}

static void
on_down(void *arg)
{
    party *p = arg;

    sn_shared_budget_down(p->b, p->now);
}

static seine_err
start(party *p)
{
    sn_redis_opts opts = {.url = &p->url,
                          .reply = SEINE_MS(100),
                          .hooks = {.up = on_up, .down = on_down, .arg = p}};

    *p = (party){.now = T0};
    seine_err e = sn_redis_url_parse(SN_STR("redis://h"), &p->url, NULL);
    if (e == SEINE_OK)
        e = sn_redis_new(&opts, T0, &p->r);
    if (e == SEINE_OK)
        e = sn_shared_budget_new(p->r, "redis://h:6379/0", NULL, T0, &p->b);
    return e;
}

static void
end(party *p)
{
    sn_redis_free(p->r);
    sn_shared_budget_free(p->b);
    sn_redis_url_fini(&p->url);
}

static void
feed(party *p, const char *bytes)
{
    sn_redis_received(p->r, p->now, sn_str_of(bytes));
}

/* The last words of the last command that was sent: "… join 15000 1000 0". */
static const char *
sent(party *p)
{
    static char out[512];
    sn_str rest = sn_redis_output(p->r), line;
    size_t n = 0;

    out[0] = '\0';
    for (bool is_word = false; sn_str_next(&rest, '\n', &line);) {
        if (line.ptr[0] == '*')
            n = 0;
        if (is_word && n < sizeof out)
            n += (size_t)snprintf(out + n, sizeof out - n, "%.*s ", (int)line.len - 1,
                                  line.ptr);
        is_word = !is_word && line.ptr[0] == '$';
    }
    sn_redis_sent(p->r, sn_redis_output(p->r).len);
    return out;
}

static void
connect_at(party *p, seine_time now)
{
    p->now = now;
    sn_redis_tick(p->r, now);
    sn_redis_opened(p->r, now);
    feed(p, UP);
    CHECK(sn_redis_is_up(p->r));
}

typedef struct one {
    sn_budget_call call;
    party *p;
} one;

static void
on_one(sn_budget_call *c, seine_err e, const seine_grant *grant)
{
    one *o = (one *)(void *)c;

    o->p->got[strlen(o->p->got)] = e == SEINE_OK ? '+' : '-';
    o->p->grant = *grant;
}

/* 10 a second, 20 at once. */
static void
ask(party *p, one *o, const char *key)
{
    *o = (one){.p = p};
    o->call.policy = (sn_budget_policy){
        "default", {10, SEINE_SECS(1), 20}, 1000, SEINE_OVERFLOW_SHARED};
    o->call.key = sn_str_of(key);
    o->call.done = on_one;
    sn_shared_budget_try(p->b, p->now, &o->call);
}

/* How many of `n` are granted at this moment. */
static int
count_granted(party *p, const char *key, int n)
{
    int granted = 0;

    for (int i = 0; i < n; i++) {
        one o;

        p->got[0] = '\0';
        memset(p->got, 0, sizeof p->got);
        ask(p, &o, key);
        granted += p->got[0] == '+';
    }
    return granted;
}

TEST(shared_budget_of_a_new_member_joins_at_once_and_empties_nothing)
{
    party p;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    CHECK(strstr(sent(&p), " join 15000 1000 0 ") != NULL);
    feed(&p, MET2);
    sn_shared_budget_stats stats;
    sn_shared_budget_stats_get(p.b, &stats);
    CHECK(stats.is_together && stats.members == 2);
    CHECK_EQ(sn_shared_budget_when(p.b), T0 + SN_BUDGET_BEAT);
    p.now = T0 + SN_BUDGET_BEAT;
    sn_shared_budget_tick(p.b, p.now);
    CHECK(strstr(sent(&p), " stay ") != NULL);
    end(&p);
}

TEST(shared_budget_asks_for_each_token)
{
    party p;
    one a, b;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    feed(&p, MET2);
    ask(&p, &a, "\x0a\xff");
    CHECK(strstr(sent(&p), "sn:{gate}:b:default:0aff ") != NULL);
    CHECK_STR(p.got, "");
    ask(&p, &b, "x");
    feed(&p, YES);
    CHECK_STR(p.got, "+");
    CHECK_EQ(p.grant.limit, 20);
    CHECK_EQ(p.grant.left, 10); /* the bucket is full in 1 s, that is ten tokens */
    feed(&p, NO);
    CHECK_STR(p.got, "+-");
    CHECK_EQ(p.grant.left, 0);
    CHECK_EQ(p.grant.retry_after, SEINE_SECS(20) - SEINE_MS(1900));
    end(&p);
}

TEST(shared_budget_share_is_empty_at_first_and_a_part_of_the_rate)
{
    party p;
    one o;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    feed(&p, MET2);
    p.now = T0 + SEINE_MS(500);
    ask(&p, &o, "x");
    sn_redis_lost(p.r, p.now, "closed the connection");
    CHECK_STR(p.got, "-"); /* answered, from an empty share */
    p.now += SEINE_MS(200) - 1;
    CHECK_EQ(count_granted(&p, "x", 3), 0);
    CHECK_EQ(count_granted(&p, "new", 3), 0);
    p.now += 1; /* 5 a second: half of 10 */
    CHECK_EQ(count_granted(&p, "x", 3), 1);
    CHECK_EQ(count_granted(&p, "new", 3), 1);
    p.now += SEINE_SECS(100);
    CHECK_EQ(count_granted(&p, "x", 30), 10); /* half of the burst */
    end(&p);
}

TEST(shared_budget_waits_for_the_members_it_knew)
{
    party p;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    feed(&p, MET3);
    sn_redis_lost(p.r, p.now, "is gone");
    p.now = T0 + SEINE_SECS(10);
    CHECK_EQ(count_granted(&p, "x", 50), 6); /* a third of 20 */
    connect_at(&p, p.now);
    CHECK(strstr(sent(&p), " apart ") != NULL);
    feed(&p, MET1);
    CHECK_EQ(sn_shared_budget_when(p.b), p.now + SN_BUDGET_POLL);
    p.now += SEINE_MS(300); /* its share goes on meanwhile: 3.33 a second */
    CHECK_EQ(count_granted(&p, "x", 5), 1);
    sn_shared_budget_tick(p.b, p.now);
    CHECK(strstr(sent(&p), " apart ") != NULL);
    feed(&p, MET3); /* as many as before, but the list may be an old one */
    CHECK(sn_redis_output(p.r).len == 0);
    p.now += SN_BUDGET_BACK;
    sn_shared_budget_tick(p.b, p.now);
    CHECK(strstr(sent(&p), " apart ") != NULL);
    feed(&p, MET3);
    CHECK(strstr(sent(&p), " join 15000 1000 1 ") != NULL); /* empties the buckets */
    one o;
    p.got[0] = '\0';
    ask(&p, &o, "x"); /* asked for, no longer from the share */
    CHECK_STR(p.got, "");
    feed(&p, MET3 YES);
    CHECK_STR(p.got, "+");
    end(&p);
}

TEST(shared_budget_waits_15_s_for_members_that_stay_away)
{
    party p;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    feed(&p, MET2);
    sn_redis_lost(p.r, p.now, "is gone");
    connect_at(&p, T0 + SEINE_SECS(1));
    feed(&p, MET1);
    p.now += SN_BUDGET_WAIT - 1;
    sn_shared_budget_tick(p.b, p.now);
    CHECK(strstr(sent(&p), " apart ") != NULL);
    feed(&p, MET1);
    CHECK(sn_redis_output(p.r).len == 0);
    p.now += SN_BUDGET_POLL;
    sn_shared_budget_tick(p.b, p.now);
    (void)sent(&p);
    feed(&p, MET1);
    CHECK(strstr(sent(&p), " join ") != NULL);
    end(&p);
}

/* The server that comes back may be a new one that knows nothing: a member that has been
 * there before empties its buckets, whether it has granted meanwhile or not. */
TEST(shared_budget_that_returns_always_empties_the_buckets)
{
    party p;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    feed(&p, MET1);
    sn_redis_lost(p.r, p.now, "is gone");
    connect_at(&p, T0 + SEINE_SECS(1));
    feed(&p, MET1);
    CHECK(strstr(sent(&p), " join 15000 1000 1 ") != NULL);
    sn_redis_lost(p.r, p.now, "is gone"); /* before it has answered */
    connect_at(&p, T0 + SEINE_SECS(2));
    feed(&p, MET1);
    CHECK(strstr(sent(&p), " join 15000 1000 1 ") != NULL);
    end(&p);
}

TEST(shared_budget_goes_apart_when_the_server_refuses_or_is_late)
{
    static const char *const rows[] = {
        "-OOM command not allowed\r\n", "-ERR Function not found\r\n", "+OK\r\n",
        NULL, /* nothing in time */
    };

    EACH_ROW(i, rows) {
        sn_shared_budget_stats stats;
        party p;
        one o;

        CHECK_EQ(start(&p), SEINE_OK);
        connect_at(&p, T0);
        feed(&p, MET2);
        ask(&p, &o, "x");
        p.now += SEINE_MS(100);
        if (rows[i])
            feed(&p, rows[i]);
        else
            sn_redis_tick(p.r, p.now);
        CHECK_STR(p.got, "-");
        sn_shared_budget_stats_get(p.b, &stats);
        CHECK(!stats.is_together);
        CHECK_EQ(stats.failed, 1);
        CHECK_EQ(count_granted(&p, "x", 3), 0);
        end(&p);
    }
}

TEST(shared_budget_without_a_server_ever_has_everything_but_no_more)
{
    party p;

    CHECK_EQ(start(&p), SEINE_OK);
    p.now = T0 + SEINE_SECS(1);
    CHECK_EQ(count_granted(&p, "x", 100), 10); /* empty at the start */
    p.now = T0 + SEINE_SECS(60);
    CHECK_EQ(count_granted(&p, "x", 100), 20);
    connect_at(&p, p.now);
    feed(&p, MET1);
    CHECK(strstr(sent(&p), " join 15000 1000 1 ") != NULL);
    end(&p);
}

TEST(shared_budget_with_more_members_than_burst_grants_one_at_a_time)
{
    party p;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    feed(&p, "*2\r\n:50\r\n:0\r\n");
    sn_redis_lost(p.r, p.now, "is gone");
    p.now = T0 + SEINE_SECS(100);
    CHECK_EQ(count_granted(&p, "x", 10), 1);
    end(&p);
}

TEST(shared_budget_takes_leave)
{
    party p;

    CHECK_EQ(start(&p), SEINE_OK);
    connect_at(&p, T0);
    feed(&p, MET1);
    sn_shared_budget_leave(p.b, p.now);
    CHECK(strstr(sent(&p), " leave ") != NULL);
    CHECK_EQ(sn_shared_budget_when(p.b), SEINE_NEVER);
    end(&p);
}

TEST(shared_budget_without_memory_refuses)
{
    FAIL_EACH(round)
    {
        party p;

        if (start(&p) == SEINE_OK) {
            p.now = T0 + SEINE_SECS(60);
            int granted = count_granted(&p, "x", 1);
            CHECK(granted == 1 || fail_hit());
        }
        end(&p);
    }
}
