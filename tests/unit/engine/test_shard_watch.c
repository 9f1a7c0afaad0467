/* SPDX-License-Identifier: Apache-2.0 */
/* A fetch that somebody watches, and one that nobody does. */
#include "engine/shard_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "engine/fetch.h"
#include "engine/fetch_watch.h"
#include "gather.h"
#include "script.h"

typedef struct place {
    script *script;
    seine_fetch *fetch;
    gather got;
} place;

static void
open_fetch(place *p, seine_fetch_opts *o)
{
    seine_diag diag = SEINE_DIAG;

    o->threads = 0;
    o->on_record = gather_record;
    o->arg = &p->got;
    CHECK_EQ(sn_fetch_open(o, script_net(p->script), &p->fetch, &diag), SEINE_OK);
}

static void
add(place *p, const char *url)
{
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(p->fetch, &a, NULL), SEINE_OK);
}

static void
pass(place *p, seine_span span)
{
    seine_time until = script_now(p->script) + span;

    while (script_now(p->script) < until)
        sn_fetch_turn(p->fetch, until);
}

static void
close_fetch(place *p)
{
    seine_fetch_free(p->fetch);
    script_free(p->script);
}

TEST(shard_watch_shows_nothing_while_nobody_looks)
{
    static place p;
    static sn_snapshot s;
    uint64_t at = 0, lost = 0;
    sn_watched e;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    open_fetch(&p, &o);
    add(&p, "http://a.test/");
    pass(&p, SEINE_SECS(2));
    CHECK(!sn_fetch_snapshot(p.fetch, 0, 0, &s));
    CHECK(!sn_fetch_event(p.fetch, 0, &at, &e, &lost));
    CHECK_EQ(sn_fetch_shards(p.fetch), 1);
    CHECK(!sn_fetch_snapshot(p.fetch, 1, 0, &s)); /* there is no such shard */
    close_fetch(&p);
}

TEST(shard_watch_publishes_four_times_a_second_also_when_idle)
{
    static place p;
    static sn_snapshot s;
    unsigned n = 0;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = false;
    open_fetch(&p, &o);
    CHECK_EQ(sn_fetch_watch(p.fetch), SEINE_OK);
    for (int i = 0; i < 5; i++)
        add(&p, "http://a.test/");
    seine_time from = script_now(p.script);
    for (int i = 0; i < 1000; i++) {
        pass(&p, SEINE_MS(10));
        n += sn_fetch_snapshot(p.fetch, 0, s.seq, &s);
    }
    CHECK(script_now(p.script) - from >= SEINE_SECS(10));
    CHECK(n >= 39 && n <= 41);
    CHECK_EQ(s.stats.done, 5);
    CHECK_EQ(s.attempts[2], 5);
    uint64_t all = 0;
    for (unsigned i = 0; i < SN_SNAPSHOT_BINS; i++)
        all += s.latency[i];
    CHECK_EQ(all, 5);
    CHECK(s.slots > 0);
    uint64_t seq = s.seq;
    sn_fetch_unwatch(p.fetch);
    pass(&p, SEINE_SECS(2));
    CHECK(!sn_fetch_snapshot(p.fetch, 0, seq, &s));
    close_fetch(&p);
}

TEST(shard_watch_tells_of_skips_with_their_rule)
{
    static place p;
    uint64_t at = 0, lost = 0;
    sn_watched e;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    open_fetch(&p, &o);
    CHECK_EQ(sn_fetch_watch(p.fetch), SEINE_OK);
    add(&p, "ftp://a.test/x");
    pass(&p, SEINE_SECS(1));
    CHECK(sn_fetch_event(p.fetch, 0, &at, &e, &lost));
    CHECK_EQ(e.kind, SN_WATCHED_SKIP);
    CHECK_STR(e.host, "a.test");
    CHECK(strncmp(e.text, "ftp://a.test/x", 14) == 0);
    CHECK(!sn_fetch_event(p.fetch, 0, &at, &e, &lost));
    CHECK_EQ(lost, 0);
    close_fetch(&p);
}

TEST(shard_watch_tells_what_happens_to_a_host)
{
    static place p;
    uint64_t at = 0, lost = 0;
    unsigned opened = 0, failures = 0;
    sn_watched e;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.retry.max_attempts = 1;
    open_fetch(&p, &o);
    CHECK_EQ(sn_fetch_watch(p.fetch), SEINE_OK);
    for (int i = 0; i < 6; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://down.test:81/%d", i);
        script_on(p.script, url, &(answer){.err = SEINE_E_CONNECT_REFUSED});
        add(&p, url);
    }
    pass(&p, SEINE_SECS(1));
    while (sn_fetch_event(p.fetch, 0, &at, &e, &lost)) {
        failures += e.kind == SN_WATCHED_FAILURE;
        if (e.kind == SN_WATCHED_HOST && strcmp(e.name, "breaker.open") == 0) {
            opened++;
            CHECK_EQ(e.code, SEINE_E_CONNECT_REFUSED);
            CHECK_STR(e.host, "down.test:81");
            CHECK(e.wall >= T0 + SEINE_SECS(1700000000));
        }
    }
    CHECK_EQ(opened, 1);
    CHECK(failures >= 5);
    CHECK_EQ(lost, 0);
    close_fetch(&p);
}

TEST(shard_watch_adds_up_the_time_that_an_output_was_full)
{
    static const seine_fetch_stats stats;
    sn_shard_watch_facts facts = {.stats = &stats, .hold = SN_HOLD_OUTPUT};
    sn_shard_watch *w = calloc(1, sizeof *w);

    sn_shard_watch_turn(w, SEINE_SECS(5),
                        &facts); /* nothing is known of the time before */
    facts.hold = SN_HOLD_MEMORY;
    sn_shard_watch_turn(w, SEINE_SECS(7), &facts);
    facts.hold = SN_HOLD_OUTPUT;
    sn_shard_watch_turn(w, SEINE_SECS(8), &facts);
    facts.hold = SN_HOLD_NONE;
    sn_shard_watch_turn(w, SEINE_SECS(9), &facts);
    sn_shard_watch_turn(w, SEINE_SECS(20), &facts);
    CHECK_EQ(w->own.sink_full_ns, SEINE_SECS(3));
    CHECK_EQ(w->own.at, SEINE_SECS(20));
    CHECK_EQ(w->own.seq, 5);
    free(w);
}
