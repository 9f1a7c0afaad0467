/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/limited.h"

#include <string.h>

#include "check.h"

#define QUARTER SEINE_MS(250)

/* Looks at a run that stays as `look` says; times grow by so much in each quarter of a
 * second. */
static void
watch(seine_limited *l, seine_limited_look *look, int looks, uint64_t full, uint64_t busy)
{
    for (int i = 0; i < looks; i++) {
        look->at += QUARTER;
        look->sink_full_ns += full;
        for (uint32_t k = 0; k < look->shards && k < SEINE_LIMITED_SHARDS; k++)
            look->busy_ns[k] += busy;
        seine_limited_add(l, look);
    }
}

static int
code_of(const seine_limited *l)
{
    seine_limited_verdict v;

    seine_limited_get(l, &v);
    return v.code;
}

TEST(limited_the_first_rule_that_holds_wins)
{
    static const struct {
        const char *what; /* is special */
        seine_limited_look look;
        uint64_t full, busy; /* ns in 250 ms */
        int want;
    } rows[] = {
        {"a finished run",
         {.is_finished = true, .is_paused = true, .in_flight = 1},
         0,
         0,
         SEINE_LIMIT_FINISHED},
        {"a run that drains, whatever was pressed",
         {.is_stopping = true, .is_paused = true},
         0,
         0,
         SEINE_LIMIT_STOPPING},
        {"a paused run",
         {.is_paused = true, .waiting[SEINE_WAIT_RATE] = 9},
         250000000,
         0,
         SEINE_LIMIT_PAUSED},
        {"outputs full for exactly 5 %",
         {.in_flight = 1},
         12500000,
         250000000,
         SEINE_LIMIT_OUTPUT},
        {"outputs full for less", {.in_flight = 1}, 12499999, 0, SEINE_LIMIT_SERVER},
        {"memory at exactly 95 %",
         {.memory_used = 95, .memory_cap = 100, .in_flight = 1},
         0,
         250000000,
         SEINE_LIMIT_MEMORY},
        {"memory below it",
         {.memory_used = 94, .memory_cap = 100, .in_flight = 1},
         0,
         0,
         SEINE_LIMIT_SERVER},
        {"no bound of memory",
         {.memory_used = 94, .in_flight = 1},
         0,
         0,
         SEINE_LIMIT_SERVER},
        {"a thread busy for exactly 90 %",
         {.in_flight = 64, .slots = 64, .waiting[SEINE_WAIT_CONCURRENCY] = 5},
         0,
         225000000,
         SEINE_LIMIT_CPU},
        {"every slot taken, URLs ready",
         {.in_flight = 64, .slots = 64, .waiting[SEINE_WAIT_CONCURRENCY] = 5},
         0,
         0,
         SEINE_LIMIT_CONCURRENCY},
        {"95 of 100 slots taken",
         {.in_flight = 95, .slots = 100, .waiting[SEINE_WAIT_CONCURRENCY] = 1},
         0,
         0,
         SEINE_LIMIT_CONCURRENCY},
        {"every slot taken, no URL ready",
         {.in_flight = 64, .slots = 64},
         0,
         0,
         SEINE_LIMIT_SERVER},
        {"the rate of all hosts",
         {.waiting[SEINE_WAIT_RATE] = 5, .slots = 64},
         0,
         0,
         SEINE_LIMIT_RATE},
        {"rates, delays and pauses of hosts are one",
         {.waiting[SEINE_WAIT_HOST_RATE] = 1,
          .waiting[SEINE_WAIT_PACE] = 1,
          .waiting[SEINE_WAIT_RATE_LIMIT] = 1,
          .waiting[SEINE_WAIT_RETRY_AFTER] = 1,
          .waiting[SEINE_WAIT_CRAWL_DELAY] = 1,
          .waiting[SEINE_WAIT_BREAKER] = 4},
         0,
         0,
         SEINE_LIMIT_POLITENESS},
        {"a queue behind them changes nothing",
         {.waiting[SEINE_WAIT_HOST_RATE] = 1, .waiting[SEINE_WAIT_QUEUE] = 90000},
         0,
         0,
         SEINE_LIMIT_POLITENESS},
        {"breakers",
         {.waiting[SEINE_WAIT_BREAKER] = 3, .in_flight = 2},
         0,
         0,
         SEINE_LIMIT_BREAKER},
        {"retries",
         {.waiting[SEINE_WAIT_BACKOFF] = 2, .waiting[SEINE_WAIT_RETRY_BUDGET] = 1},
         0,
         0,
         SEINE_LIMIT_BACKOFF},
        {"robots.txt",
         {.robots = 7, .waiting[SEINE_WAIT_QUEUE] = 7},
         0,
         0,
         SEINE_LIMIT_ROBOTS},
        {"connections of an address",
         {.waiting[SEINE_WAIT_ADDRESS] = 7},
         0,
         0,
         SEINE_LIMIT_PER_HOST},
        {"queues alone: connections of hosts",
         {.waiting[SEINE_WAIT_QUEUE] = 7},
         0,
         0,
         SEINE_LIMIT_PER_HOST},
        {"exactly half of what waits",
         {.waiting[SEINE_WAIT_BREAKER] = 5,
          .waiting[SEINE_WAIT_BACKOFF] = 3,
          .waiting[SEINE_WAIT_RATE] = 2},
         0,
         0,
         SEINE_LIMIT_BREAKER},
        {"less than half of it",
         {.waiting[SEINE_WAIT_BREAKER] = 4,
          .waiting[SEINE_WAIT_BACKOFF] = 3,
          .waiting[SEINE_WAIT_RATE] = 2},
         0,
         0,
         SEINE_LIMIT_MIXED},
        {"nothing waits, something is in flight",
         {.in_flight = 3, .slots = 64},
         0,
         0,
         SEINE_LIMIT_SERVER},
        {"nothing at all", {.slots = 64}, 0, 0, SEINE_LIMIT_NOTHING},
    };

    EACH_ROW(i, rows) {
        static seine_limited l;
        seine_limited_look look = rows[i].look;

        look.shards = 1;
        seine_limited_init(&l);
        watch(&l, &look, SEINE_LIMITED_LOOKS, rows[i].full, rows[i].busy);
        CHECK_EQ(code_of(&l), rows[i].want);
    }
}

TEST(limited_half_of_the_threads_make_the_machine_the_limit)
{
    static seine_limited l;
    seine_limited_look look = {.shards = 4, .in_flight = 1};

    seine_limited_init(&l);
    for (int i = 0; i < SEINE_LIMITED_LOOKS; i++) {
        look.at += QUARTER;
        look.busy_ns[2] += QUARTER;
        seine_limited_add(&l, &look);
    }
    CHECK_EQ(code_of(&l), SEINE_LIMIT_SERVER);
    for (int i = 0; i < SEINE_LIMITED_LOOKS + 13; i++) {
        look.at += QUARTER;
        look.busy_ns[2] += QUARTER * 97 / 100;
        look.busy_ns[3] += QUARTER * 93 / 100;
        seine_limited_add(&l, &look);
    }
    seine_limited_verdict v;
    seine_limited_get(&l, &v);
    CHECK_EQ(v.code, SEINE_LIMIT_CPU);
    CHECK_EQ(v.busiest, 2);
    CHECK(v.busy_percent >= 96 && v.busy_percent <= 98);
}

TEST(limited_a_new_verdict_has_to_hold_for_three_seconds)
{
    static seine_limited l;
    seine_limited_look look = {.shards = 1, .in_flight = 64, .slots = 64};
    seine_limited_verdict v;

    seine_limited_init(&l);
    watch(&l, &look, SEINE_LIMITED_LOOKS, 0, 0);
    CHECK_EQ(code_of(&l), SEINE_LIMIT_SERVER);
    look.memory_used = 10000;
    look.memory_cap = 1; /* from the first look on, whatever the mean was */
    watch(&l, &look, 1, 0, 0);
    seine_time begun = look.at;
    CHECK_EQ(code_of(&l), SEINE_LIMIT_SERVER);
    watch(&l, &look, 11, 0, 0);
    CHECK_EQ(look.at - begun, SEINE_SECS(3) - QUARTER);
    CHECK_EQ(code_of(&l), SEINE_LIMIT_SERVER);
    watch(&l, &look, 1, 0, 0);
    seine_limited_get(&l, &v);
    CHECK_EQ(v.code, SEINE_LIMIT_MEMORY);
    CHECK_EQ(v.since, begun);
}

TEST(limited_a_change_of_state_counts_at_once)
{
    static seine_limited l;
    seine_limited_look look = {.shards = 1, .waiting[SEINE_WAIT_RATE] = 4};

    seine_limited_init(&l);
    watch(&l, &look, 4, 0, 0);
    CHECK_EQ(code_of(&l), SEINE_LIMIT_RATE);
    look.is_paused = true;
    watch(&l, &look, 1, 0, 0);
    CHECK_EQ(code_of(&l), SEINE_LIMIT_PAUSED);
    look.is_paused = false;
    look.waiting[SEINE_WAIT_RATE] = 0;
    look.waiting[SEINE_WAIT_BREAKER] = 1;
    watch(&l, &look, 1, 0, 0);
    CHECK_EQ(code_of(&l), SEINE_LIMIT_BREAKER);
}

TEST(limited_texts_say_what_to_look_at)
{
    static const struct {
        seine_limited_verdict v;
        seine_limited_facts f;
        const char *want;
    } rows[] = {
        {{.code = SEINE_LIMIT_POLITENESS},
         {.hosts = 3, .top = "e.org 5/s, a.example 1/s"},
         "limited by politeness on 3 hosts (e.org 5/s, a.example 1/s)"},
        {{.code = SEINE_LIMIT_POLITENESS}, {.hosts = 0}, "limited by politeness"},
        {{.code = SEINE_LIMIT_OUTPUT},
         {.sink = "records.sqlite"},
         "limited by writing to records.sqlite"},
        {{.code = SEINE_LIMIT_MEMORY},
         {.memory_used = 500 << 20, .memory_cap = UINT64_C(2) << 30},
         "limited by memory: 500 MiB of 2.0 GiB"},
        {{.code = SEINE_LIMIT_CPU, .busiest = 0, .busy_percent = 97},
         {.slots = 0},
         "limited by this machine: shard 0 busy 97 %"},
        {{.code = SEINE_LIMIT_CONCURRENCY}, {.slots = 64}, "limited by concurrency 64"},
        {{.code = SEINE_LIMIT_RATE}, {.rate = "10/s"}, "limited by the global rate 10/s"},
        {{.code = SEINE_LIMIT_BREAKER},
         {.hosts = 1, .next = SEINE_MS(11500)},
         "waiting on breaker: 1 host, next probe in 12 s"},
        {{.code = SEINE_LIMIT_BACKOFF}, {.next = SEINE_SECS(600)}, "retries wait 10 min"},
        {{.code = SEINE_LIMIT_ROBOTS}, {.hosts = 2}, "waiting for robots.txt of 2 hosts"},
        {{.code = SEINE_LIMIT_PER_HOST},
         {.per_host = 4},
         "limited by 4 connections per host"},
        {{.code = SEINE_LIMIT_MIXED,
          .first = SEINE_LIMIT_BREAKER,
          .second = SEINE_LIMIT_RATE},
         {.slots = 0},
         "limited by breaker and rate"},
        {{.code = SEINE_LIMIT_SERVER},
         {.in_flight = 31},
         "waiting for servers: 31 requests in flight, nothing else to start"},
        {{.code = SEINE_LIMIT_PAUSED}, {.slots = 0}, ""},
    };
    char buf[160];

    EACH_ROW(i, rows) {
        seine_limited_text(&rows[i].v, &rows[i].f, buf, sizeof buf);
        CHECK_STR(buf, rows[i].want);
        seine_limited_text(&rows[i].v, &rows[i].f, buf, 8);
        CHECK(strlen(buf) < 8);
    }
}

TEST(limited_names_are_those_of_the_page)
{
    CHECK_STR(seine_limited_name(SEINE_LIMIT_POLITENESS), "politeness");
    CHECK_STR(seine_limited_name(SEINE_LIMIT_ROBOTS), "robots");
    CHECK_STR(seine_limited_name(SEINE_LIMIT_STOPPING), "stopping");
    CHECK_STR(seine_limited_name(SEINE_LIMIT_FINISHED), "finished");
    CHECK_STR(seine_limited_name(SEINE_LIMITED_ROOM), "");
    CHECK_STR(seine_limited_name(-1), "");
}
