/* SPDX-License-Identifier: Apache-2.0 */
/* What a row of the job makes of a host. */
#include "base/time.h"
#include "shard.h"
#include "store/job_parts.h"

#define NOW SEINE_SECS(100)

typedef struct fixture {
    shard t;
    seine_durable_job job;
    sn_job_host row;
} fixture;

/* A row that was made just now. */
static char boot[] = "b";

static void
set_up(fixture *f, const seine_fetch_opts *o)
{
    open_shard(&f->t, o);
    f->job = (seine_durable_job){.err = SEINE_OK};
    f->job.facts.boot_id = boot;
    f->t.shared.job = &f->job;
    f->row = (sn_job_host){.name = SN_STR("http://a.example:80")};
    f->row.saved_ms = f->t.clock->wall(f->t.clock) / SEINE_MS(1);
    f->row.up_ms = sn_time_up(f->t.clock) / SEINE_MS(1);
    f->row.boot = sn_job_boot(&f->job);
}

static void
tear_down(fixture *f)
{
    f->t.shared.job = NULL;
    close_shard(&f->t);
}

static const sn_host *
restore(fixture *f)
{
    CHECK_EQ(sn_scheduler_restore(f->t.s, &f->row, NOW), SEINE_OK);
    CHECK_EQ(f->t.s->hosts.n, 1);
    return &f->t.s->hosts.all[0];
}

TEST(a_host_comes_back_with_its_zone_its_delay_and_whether_it_was_given)
{
    for (int i = 0; i < 4; i++) {
        fixture f;
        seine_fetch_opts o = polite();

        o.robots = i & 1 ? SEINE_OBEY_ON : SEINE_OBEY_OFF;
        set_up(&f, &o);
        f.row.zone = i;
        f.row.delay_ms = 7000;
        f.row.flags = i >> 1;
        const sn_host *h = restore(&f);
        CHECK_EQ(h->pin, i);
        CHECK_EQ(h->is_given, i >> 1);
        CHECK_EQ(sn_scheduler_row_is_given(&f.row), i >> 1);
        CHECK_EQ(h->is_delayed, i & 1);
        CHECK_EQ(sn_hosts_every(&f.t.s->hosts, 0), i & 1 ? SEINE_SECS(7) : SEINE_MS(200));
        CHECK_EQ(h->next, NOW + sn_hosts_every(&f.t.s->hosts, 0));
        tear_down(&f);
    }
}

/* A URL of it was found, and the row has nothing but its name. */
TEST(a_host_that_was_never_asked_comes_back_without_a_zone)
{
    fixture f;
    seine_fetch_opts o = polite();

    set_up(&f, &o);
    f.row = (sn_job_host){.name = f.row.name};
    const sn_host *h = restore(&f);
    CHECK_EQ(h->pin, SN_ADDRESS_NO_PIN);
    CHECK_EQ(h->next, NOW + SEINE_MS(200));
    tear_down(&f);
}

TEST(a_host_comes_back_delayed_if_it_was)
{
    for (int ms = 0; ms < 3; ms++) {
        fixture f;
        seine_fetch_opts o = polite();

        o.robots = SEINE_OBEY_ON;
        set_up(&f, &o);
        f.row.delay_ms = ms;
        CHECK_EQ(restore(&f)->is_delayed, ms > 0);
        CHECK_EQ(f.t.s->hosts.cards[0].delay_ms, ms);
        tear_down(&f);
    }
}

TEST(a_host_comes_back_no_earlier_than_it_would_have_been_asked)
{
    static const struct {
        int64_t interval_us, next_ms; /* after now; 0: none */
        seine_span want;
    } rows[] = {
        {0, 0, SEINE_MS(200)},
        {300000, 0, SEINE_MS(300)},
        {100000, 0, SEINE_MS(200)},
        {300000, 250, SEINE_MS(300)},
        {300000, 900, SEINE_MS(900)},
        {0, 25 * 3600 * 1000, SEINE_SECS(24 * 3600)}, /* no moment at all */
    };

    EACH_ROW(i, rows) {
        fixture f;
        seine_fetch_opts o = polite();

        set_up(&f, &o);
        f.row.interval_us = rows[i].interval_us;
        if (rows[i].next_ms > 0)
            f.row.next_ms = f.row.saved_ms + rows[i].next_ms;
        CHECK_EQ(restore(&f)->next, NOW + rows[i].want);
        tear_down(&f);
    }
}

TEST(a_pace_comes_back_as_it_was_saved)
{
    fixture f;
    seine_fetch_opts o = polite();

    o.adaptive = true;
    set_up(&f, &o);
    f.row.interval_us = 4000000;
    f.row.knee_us = 3000000;
    f.row.base_us = 90000;
    f.row.calm_us = 250000;
    f.row.recent = 0x5;
    f.row.level = 2;
    const sn_host *h = restore(&f);
    CHECK(h->guards != SN_NONE);
    sn_pace_row got = sn_pace_save(&sn_hosts_guards(&f.t.s->hosts, 0)->pace, NOW);
    CHECK_EQ(got.ivl_us, 4000000);
    CHECK_EQ(got.knee_us, 3000000);
    CHECK_EQ(got.base_us, 90000);
    CHECK_EQ(got.calm_us, 250000);
    CHECK_EQ(got.recent, 0x5);
    CHECK_EQ(got.level, 2);
    tear_down(&f);
}

TEST(brakes_come_back_until_their_moment)
{
    static const struct {
        int64_t pause_ms, open_ms; /* after now; 0: none */
        bool is_parked;
    } rows[] = {{0, 0, false},      {9000, 0, false},  {0, 9000, false},  {-1, -1, false},
                {300000, 0, false}, {300001, 0, true}, {0, 300001, false}};

    EACH_ROW(i, rows) {
        fixture f;
        seine_fetch_opts o = polite();
        seine_breaker_stats b;

        set_up(&f, &o);
        if (rows[i].pause_ms != 0)
            f.row.pause_ms = f.row.saved_ms + rows[i].pause_ms;
        if (rows[i].open_ms != 0) {
            f.row.open_ms = f.row.saved_ms + rows[i].open_ms;
            f.row.breaker = SEINE_BREAKER_OPEN;
            f.row.streak = 3;
        }
        const sn_host *h = restore(&f);
        const sn_guards *g = sn_hosts_guards(&f.t.s->hosts, 0);
        seine_breaker_stats_get(&g->breaker, &b);
        CHECK_EQ(g->pace.pause > NOW ? g->pace.pause - NOW : 0,
                 rows[i].pause_ms > 0 ? SEINE_MS(rows[i].pause_ms) : 0);
        CHECK_EQ(g->retry_after, rows[i].pause_ms > 0);
        CHECK_EQ(b.state,
                 rows[i].open_ms != 0 ? SEINE_BREAKER_OPEN : SEINE_BREAKER_CLOSED);
        if (rows[i].open_ms > 0)
            CHECK_EQ(b.open_until, NOW + SEINE_MS(sn_time_min(rows[i].open_ms, 300000)));
        else
            CHECK(b.open_until <= NOW); /* the next request is a probe */
        CHECK_EQ(b.streak, rows[i].open_ms != 0 ? 3 : 0);
        CHECK_EQ(h->place == SN_HOST_PARKED, rows[i].is_parked);
        tear_down(&f);
    }
}

/* A run that was killed while a probe was out knows nothing of its end. */
/* Reading a large job takes time, and the turn that reads it began before. */
TEST(a_pause_comes_back_in_its_length_however_old_the_turn_is)
{
    fixture f;
    seine_fetch_opts o = polite();

    set_up(&f, &o);
    f.row.pause_ms = f.row.saved_ms + 3000;
    seine_time up = f.t.clock->now(f.t.clock);
    CHECK_EQ(sn_scheduler_restore(f.t.s, &f.row, up - SEINE_MS(20)), SEINE_OK);
    CHECK_EQ(sn_hosts_guards(&f.t.s->hosts, 0)->pace.pause, up + SEINE_SECS(3));
    tear_down(&f);
}

TEST(a_breaker_that_was_half_open_comes_back_with_a_probe_to_go)
{
    fixture f;
    seine_fetch_opts o = polite();
    seine_breaker_stats b;

    set_up(&f, &o);
    f.row.breaker = SEINE_BREAKER_HALF_OPEN;
    f.row.streak = 2;
    restore(&f);
    seine_breaker_stats_get(&sn_hosts_guards(&f.t.s->hosts, 0)->breaker, &b);
    CHECK_EQ(b.state, SEINE_BREAKER_OPEN);
    CHECK(b.open_until <= NOW);
    CHECK_EQ(b.streak, 2);
    tear_down(&f);
}

/* A host that is ours waits for nobody, and has guards only if there is something to
 * keep. */
TEST(a_host_of_ours_comes_back_free)
{
    for (int paused = 0; paused < 2; paused++) {
        fixture f;
        seine_fetch_opts o = polite();

        o.mine = true;
        set_up(&f, &o);
        f.row.interval_us = 900000;
        f.row.flags = 1;
        if (paused)
            f.row.pause_ms = f.row.saved_ms + 5000;
        const sn_host *h = restore(&f);
        CHECK(h->next <= NOW);
        CHECK_EQ(h->guards != SN_NONE, paused);
        tear_down(&f);
    }
}

TEST(a_row_whose_name_is_no_host_is_damaged)
{
    fixture f;
    seine_fetch_opts o = polite();

    set_up(&f, &o);
    f.row.name = SN_STR("nonsense");
    CHECK_EQ(sn_scheduler_restore(f.t.s, &f.row, NOW), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(f.t.s->hosts.n, 0);
    tear_down(&f);
}
