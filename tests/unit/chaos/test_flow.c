/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/flow.h"

#include <string.h>

#include "check.h"

typedef struct fixture {
    sn_arena arena;
    snc_flow flow;
    const char *why;
    bool ok;
} fixture;

static fixture *
parse(const char *query)
{
    static fixture f;

    sn_arena_fini(&f.arena);
    f = (fixture){.ok = false};
    sn_arena_init(&f.arena, 1024, 65536);
    f.ok = snc_flow_parse(sn_str_of(query), &f.arena, &f.flow, &f.why);
    return &f;
}

/* 'F' for each hit that fails, '.' for each that does not. */
static void
play(const char *query, size_t hits, char *out)
{
    fixture *f = parse(query);

    CHECK(f->ok);
    for (size_t i = 0; i < hits; i++) {
        snc_turn turn = {.seed = 1, .hit = i + 1, .key = SN_STR("k"), .in_flight = 1};

        out[i] = snc_flow_decide(&f->flow, &turn).fails ? 'F' : '.';
    }
    out[hits] = '\0';
    sn_arena_fini(&f->arena);
}

static bool
serves(const char *query, uint64_t hit, const char *words)
{
    fixture *f = parse(query);
    snc_turn turn = {.seed = 1, .hit = hit, .key = SN_STR("k"), .in_flight = 1};
    snc_verdict v = snc_flow_decide(&f->flow, &turn);
    bool same =
        f->ok && v.fails == (words[0] != '\0') && sn_str_eq(v.words, sn_str_of(words));

    sn_arena_fini(&f->arena);
    return same;
}

TEST(the_first_hits_fail_and_then_no_more)
{
    char got[16];

    play("fail=2", 5, got);
    CHECK_STR(got, "FF...");
    play("fail=0", 3, got);
    CHECK_STR(got, "...");
    CHECK(serves("fail=2", 1, "status:503"));
    CHECK(serves("fail=2&with=reset:0", 2, "reset:0"));
    CHECK(serves("with=delay:1s%2Fstatus:500&fail=1", 1, "delay:1s/status:500"));
}

TEST(a_pattern_goes_round)
{
    char got[32];

    play("pattern=2ok3fail", 12, got);
    CHECK_STR(got, "..FFF..FFF..");
    play("pattern=1fail1ok1fail", 6, got);
    CHECK_STR(got, "F.FF.F");
}

TEST(a_sequence_ends_with_its_last_element_for_ever)
{
    CHECK(serves("seq=status:500,reset:0,delay:3s,ok", 1, "status:500"));
    CHECK(serves("seq=status:500,reset:0,delay:3s,ok", 2, "reset:0"));
    CHECK(serves("seq=status:500,reset:0,delay:3s,ok", 3, "delay:3s"));
    CHECK(serves("seq=status:500,reset:0,delay:3s,ok", 4, ""));
    CHECK(serves("seq=status:500,reset:0,delay:3s,ok", 99, ""));
    CHECK(serves("seq=ok,status:500", 99, "status:500"));
}

TEST(a_probability_is_met_over_many_keys_and_does_not_depend_on_their_order)
{
    fixture *f = parse("p=0.25");
    unsigned fails = 0;

    for (uint64_t hit = 1; hit <= 20000; hit++) {
        snc_turn turn = {.seed = 5, .hit = hit, .key = SN_STR("k"), .in_flight = 1};

        fails += snc_flow_decide(&f->flow, &turn).fails;
    }
    CHECK(fails > 4750 && fails < 5250); /* four deviations */
    CHECK(serves("p=0", 1, ""));
    CHECK(serves("p=1", 1, "status:503"));
}

TEST(pressure_comes_before_everything_else)
{
    fixture *f = parse("max=4&rate=10&seq=reset:0");
    snc_turn turn = {.hit = 1, .key = SN_STR("k"), .in_flight = 4};

    CHECK_EQ(f->flow.rate, 10);
    CHECK_EQ(f->flow.window, SEINE_MS(999));
    CHECK(sn_str_eq(snc_flow_decide(&f->flow, &turn).words, SN_STR("reset:0")));
    turn.too_fast = true;
    CHECK(sn_str_eq(snc_flow_decide(&f->flow, &turn).words, SN_STR("status:429")));
    turn.in_flight = 5;
    CHECK(sn_str_eq(snc_flow_decide(&f->flow, &turn).words, SN_STR("status:503")));
}

TEST(rates_may_be_per_minute_and_per_hour)
{
    CHECK_EQ(parse("rate=30/m")->flow.window, SEINE_SECS(60) - SEINE_MS(1));
    CHECK_EQ(parse("rate=30/h")->flow.window, SEINE_SECS(3600) - SEINE_MS(1));
    CHECK_EQ(parse("rate=30/s")->flow.rate, 30);
}

TEST(name_server_of_no_meaning_mean_nothing)
{
    fixture *f = parse("i=17&&x&key=a%20b&retry_after=Fri");

    CHECK(f->ok);
    CHECK(sn_str_eq(f->flow.key, SN_STR("a b")));
    CHECK(sn_str_eq(f->flow.retry_after, SN_STR("Fri")));
    CHECK(!parse("")->flow.key.ptr);
}

TEST(values_of_no_meaning_are_named)
{
    static const struct {
        const char *query, *why;
    } rows[] = {
        {"fail=x", "fail wants a number"},
        {"fail", "fail wants a number"},
        {"p=2", "p wants a probability from 0 to 1"},
        {"max=0", "max wants a number"},
        {"rate=0", "rate wants a number, like 10 or 30/m, at most 10000"},
        {"rate=10001", "rate wants a number, like 10 or 30/m, at most 10000"},
        {"rate=5/d", "rate wants a number, like 10 or 30/m, at most 10000"},
        {"pattern=5", "pattern wants steps, like 5ok5fail"},
        {"pattern=0ok", "pattern wants steps, like 5ok5fail"},
        {"pattern=ok", "pattern wants steps, like 5ok5fail"},
        {"pattern=", "pattern wants steps, like 5ok5fail"},
        {"seq=", "seq wants words, like status:500,ok"},
    };

    EACH_ROW(i, rows) {
        fixture *f = parse(rows[i].query);

        CHECK(!f->ok);
        CHECK_STR(f->why ? f->why : "", rows[i].why);
    }
    sn_arena_fini(&parse("")->arena);
}
