/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/health.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

/* A check that answers, or hangs until it is let go. */
typedef struct part {
    seine_clock *clock;
    _Atomic uint32_t calls;
    _Atomic bool hangs, is_down;
    uint32_t word;    /* 1: let go */
    _Atomic int told; /* what the last ctx said that was done */
} part;

static seine_health_status
ask(void *arg, seine_ctx *ctx, char out_reason[SEINE_HEALTH_REASON])
{
    part *p = arg;

    atomic_fetch_add(&p->calls, 1);
    while (atomic_load(&p->hangs))
        p->clock->wait(p->clock, &p->word, 0, SEINE_NEVER);
    seine_err told = seine_ctx_err(ctx, seine_ctx_now(ctx));
    if (told != SEINE_OK)
        atomic_store(&p->told, (int)told);
    if (!atomic_load(&p->is_down))
        return SEINE_HEALTH_HEALTHY;
    snprintf(out_reason, SEINE_HEALTH_REASON, "connection refused");
    return SEINE_HEALTH_UNHEALTHY;
}

typedef struct scene {
    seine_clock *clock;
    seine_health *h;
    seine_metrics *metrics;
    seine_log *log;
    part parts[8];
    char lines[4096];
    size_t len;
} scene;

static void
keep_line(const char *line, size_t len, void *arg)
{
    scene *s = arg;

    if (s->len + len < sizeof s->lines) {
        memcpy(s->lines + s->len, line, len);
        s->len += len;
    }
    s->lines[s->len] = '\0';
}

static void
open_scene(scene *s)
{
    seine_log_opts opts = SEINE_LOG_OPTS;

    memset(s, 0, sizeof *s);
    CHECK_EQ(seine_clock_fake_new(T0, 0, check_seed(), &s->clock), SEINE_OK);
    opts.level = SEINE_LOG_INFO;
    opts.ring = 0;
    opts.merge = 0;
    opts.sink = keep_line;
    opts.arg = s;
    opts.clock = s->clock;
    CHECK_EQ(seine_log_new(&opts, &s->log), SEINE_OK);
    CHECK_EQ(seine_metrics_new(&s->metrics), SEINE_OK);
    CHECK_EQ(seine_health_new(s->clock, &s->h), SEINE_OK);
    seine_clock_fake_enter(s->clock);
}

static void
add(scene *s, size_t i, const char *name, bool critical)
{
    seine_health_check c = SEINE_HEALTH_CHECK(name, ask, &s->parts[i]);

    s->parts[i].clock = s->clock;
    c.critical = critical;
    CHECK_EQ(seine_health_add(s->h, &c), SEINE_OK);
}

static void
start(scene *s)
{
    CHECK_EQ(seine_health_start(s->h, s->log, s->metrics), SEINE_OK);
    seine_clock_fake_advance(s->clock, 0);
}

static void
let_go(part *p)
{
    atomic_store(&p->hangs, false);
    __atomic_store_n(&p->word, 1, __ATOMIC_SEQ_CST);
    p->clock->wake(p->clock, &p->word, 8);
}

static void
close_scene(scene *s)
{
    for (size_t i = 0; i < 8; i++)
        if (s->parts[i].clock)
            let_go(&s->parts[i]);
    seine_clock_fake_advance(s->clock, 0); /* nothing hangs: all threads are joined */
    seine_health_free(s->h);
    seine_log_free(s->log);
    seine_metrics_free(s->metrics);
    seine_clock_fake_leave(s->clock);
    seine_clock_fake_free(s->clock);
}

static seine_health_result
get(const scene *s, const char *name)
{
    seine_health_result r = {.status = SEINE_HEALTH_UNKNOWN};

    CHECK_EQ(seine_health_get(s->h, name, &r), SEINE_OK);
    return r;
}

static size_t
count(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
        n++;
    return n;
}

TEST(health_is_unknown_before_the_first_result)
{
    scene s;

    open_scene(&s);
    add(&s, 0, "database", true);
    CHECK_EQ(get(&s, "database").status, SEINE_HEALTH_UNKNOWN);
    CHECK_STR(get(&s, "database").reason, "not checked yet");
    CHECK(!seine_health_is_ready(s.h));
    start(&s);
    CHECK_EQ(get(&s, "database").status, SEINE_HEALTH_HEALTHY);
    CHECK(seine_health_is_ready(s.h));
    close_scene(&s);
}

/* B9 of the plan, and S3-04: a check that hangs. */
TEST_TIMES(s3_04_a_check_that_hangs_is_unknown_at_exactly_five_seconds, 20)
{
    scene s;

    open_scene(&s);
    add(&s, 0, "database", true);
    atomic_store(&s.parts[0].hangs, true);
    start(&s);
    seine_clock_fake_advance(s.clock, SEINE_SECS(5) - 1);
    CHECK_STR(get(&s, "database").reason, "not checked yet");
    seine_clock_fake_advance(s.clock, 1);
    CHECK_EQ(get(&s, "database").status, SEINE_HEALTH_UNKNOWN);
    CHECK_STR(get(&s, "database").reason, "timed out after 5 s");
    CHECK_EQ(get(&s, "database").at, T0 + SEINE_SECS(5));
    CHECK(!seine_health_is_ready(s.h));
    close_scene(&s);
}

TEST_TIMES(s3_04_a_result_that_comes_late_is_dropped, 20)
{
    scene s;

    open_scene(&s);
    add(&s, 0, "database", true);
    start(&s);
    CHECK_EQ(get(&s, "database").status, SEINE_HEALTH_HEALTHY);
    atomic_store(&s.parts[0].hangs, true);
    for (int i = 0; i < 33 && atomic_load(&s.parts[0].calls) < 2; i++)
        seine_clock_fake_advance(s.clock, SEINE_SECS(1));
    CHECK_EQ(atomic_load(&s.parts[0].calls), 2);
    CHECK_EQ(get(&s, "database").status, SEINE_HEALTH_HEALTHY); /* the last result */
    seine_clock_fake_advance(s.clock, SEINE_SECS(5));
    CHECK_STR(get(&s, "database").reason, "timed out after 5 s");
    /* it hangs through many periods, and is not called a second time */
    seine_clock_fake_advance(s.clock, SEINE_SECS(300));
    CHECK_EQ(atomic_load(&s.parts[0].calls), 2);
    CHECK_STR(get(&s, "database").reason, "timed out after 5 s");
    let_go(&s.parts[0]);
    seine_clock_fake_advance(s.clock, 0);
    CHECK_EQ(atomic_load(&s.parts[0].told), SEINE_E_DEADLINE);
    /* what it said is dropped; the next call, which was due, counts */
    CHECK_EQ(atomic_load(&s.parts[0].calls), 3);
    CHECK_EQ(get(&s, "database").status, SEINE_HEALTH_HEALTHY);
    close_scene(&s);
}

TEST_TIMES(health_calls_a_check_every_period_give_or_take_a_tenth, 5)
{
    scene s;

    open_scene(&s);
    add(&s, 0, "disk", true);
    start(&s);
    seine_clock_fake_advance(s.clock, SEINE_SECS(27) - 1);
    CHECK_EQ(atomic_load(&s.parts[0].calls), 1);
    seine_clock_fake_advance(s.clock, SEINE_SECS(6) + 1);
    CHECK_EQ(atomic_load(&s.parts[0].calls), 2);
    seine_clock_fake_advance(s.clock, SEINE_SECS(3300));
    uint32_t calls = atomic_load(&s.parts[0].calls); /* 110 periods, each 27 to 33 s */
    CHECK(calls >= 2 + 3300 / 33 && calls <= 2 + 3300 / 27);
    close_scene(&s);
}

TEST_TIMES(health_replaces_four_workers_and_then_has_none, 10)
{
    static const char *const names[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6"};
    scene s;

    open_scene(&s);
    for (size_t i = 0; i < 7; i++) {
        add(&s, i, names[i], true);
        atomic_store(&s.parts[i].hangs, true);
    }
    start(&s);
    for (int i = 0; i < 3; i++)
        seine_clock_fake_advance(s.clock, SEINE_SECS(5)); /* two at a time */
    uint32_t called = 0;
    for (size_t i = 0; i < 7; i++)
        called += atomic_load(&s.parts[i].calls);
    CHECK_EQ(called, 6); /* two workers, and four in their places */
    seine_clock_fake_advance(s.clock, SEINE_SECS(5));
    CHECK_STR(get(&s, "c6").reason, "no worker");
    CHECK_STR(get(&s, "c0").reason, "timed out after 5 s");
    atomic_store(&s.parts[6].hangs, false);
    let_go(&s.parts[3]); /* one comes back, and ends: the place it left was filled */
    seine_clock_fake_advance(s.clock, 0);
    CHECK(strcmp(get(&s, "c6").reason, "no worker") != 0);
    close_scene(&s);
}

TEST(health_is_not_ready_when_the_program_stops)
{
    scene s;

    open_scene(&s);
    add(&s, 0, "disk", true);
    start(&s);
    CHECK(seine_health_is_ready(s.h));
    seine_health_stopping(s.h);
    CHECK(!seine_health_is_ready(s.h));
    CHECK_EQ(get(&s, "disk").status, SEINE_HEALTH_HEALTHY);
    close_scene(&s);
}

TEST(health_logs_a_change_once_and_what_lasts_every_five_minutes)
{
    scene s;

    open_scene(&s);
    add(&s, 0, "redis", true);
    start(&s);
    CHECK_EQ(count(s.lines, "health check 'redis' is healthy"), 1);
    CHECK_EQ(count(s.lines, " info "), 1);
    seine_clock_fake_advance(s.clock, SEINE_SECS(100));
    CHECK_EQ(count(s.lines, "health check"), 1);
    atomic_store(&s.parts[0].is_down, true);
    seine_clock_fake_advance(s.clock, SEINE_SECS(33));
    CHECK_EQ(count(s.lines, "health check 'redis' is unhealthy: connection refused"), 1);
    CHECK_EQ(count(s.lines, " error "), 1);
    seine_clock_fake_advance(s.clock, SEINE_SECS(260));
    CHECK_EQ(count(s.lines, "unhealthy: c"), 1);
    seine_clock_fake_advance(s.clock, SEINE_SECS(80));
    CHECK_EQ(count(s.lines, "unhealthy: c"), 2);
    close_scene(&s);
}

TEST(health_shows_what_readyz_says)
{
    scene s;
    bool ready = false;
    seine_text text = {0};
    const char *const without[] = {"redis", NULL};

    open_scene(&s);
    add(&s, 0, "database", true);
    add(&s, 1, "redis", true);
    add(&s, 2, "otlp", false);
    atomic_store(&s.parts[1].is_down, true);
    atomic_store(&s.parts[2].is_down, true);
    start(&s);
    seine_clock_fake_advance(s.clock, SEINE_SECS(4));
    CHECK_EQ(seine_health_text(s.h, NULL, &ready, &text), SEINE_OK);
    CHECK_STR(text.bytes, "redis\n");
    CHECK(!ready);
    seine_text_free(&text);
    CHECK_EQ(seine_health_text(s.h, &(seine_health_view){.verbose = true}, &ready, &text),
             SEINE_OK);
    CHECK_STR(text.bytes, "[+]database ok (0.0 ms, 4 s ago)\n"
                          "[-]redis unhealthy: connection refused\n"
                          "[-]otlp unhealthy: connection refused\nnot ready\n");
    seine_text_free(&text);
    CHECK_EQ(
        seine_health_text(s.h, &(seine_health_view){.exclude = without}, &ready, &text),
        SEINE_OK);
    CHECK_STR(text.bytes, "ok\n"); /* what is not critical does not count */
    CHECK(ready);
    seine_text_free(&text);
    CHECK_EQ(seine_health_text(s.h, &(seine_health_view){.only = "otlp"}, &ready, &text),
             SEINE_OK);
    CHECK_STR(text.bytes, "otlp\n");
    CHECK(!ready);
    seine_text_free(&text);
    CHECK_EQ(seine_health_text(s.h, &(seine_health_view){.only = "x"}, &ready, &text),
             SEINE_E_UNKNOWN);
    close_scene(&s);
}

TEST(health_counts_in_its_families)
{
    scene s;
    seine_text text = {0};

    open_scene(&s);
    add(&s, 0, "database", true);
    add(&s, 1, "redis", true);
    atomic_store(&s.parts[1].is_down, true);
    start(&s);
    CHECK_EQ(seine_metrics_text(s.metrics, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    CHECK(strstr(text.bytes, "seine_health_check_up{check=\"database\"} 1\n"));
    CHECK(strstr(text.bytes, "seine_health_check_up{check=\"redis\"} 0\n"));
    CHECK(strstr(text.bytes,
                 "seine_health_check_duration_seconds_count{check=\"redis\"} 1\n"));
    seine_text_free(&text);
    close_scene(&s);
}

TEST(health_refuses_wrong_names_and_spans)
{
    static const struct {
        seine_health_check c;
        seine_err want;
    } rows[] = {
        {SEINE_HEALTH_CHECK("a", ask, NULL), SEINE_OK},
        {SEINE_HEALTH_CHECK("a", ask, NULL), SEINE_E_ALREADY},
        {SEINE_HEALTH_CHECK("", ask, NULL), SEINE_E_INVAL},
        {SEINE_HEALTH_CHECK("A", ask, NULL), SEINE_E_INVAL},
        {SEINE_HEALTH_CHECK("a-b", ask, NULL), SEINE_E_INVAL},
        /* 32 characters, and one more */
        {SEINE_HEALTH_CHECK("abcdefghijklmnopqrstuvwxyz012345", ask, NULL), SEINE_OK},
        {SEINE_HEALTH_CHECK("abcdefghijklmnopqrstuvwxyz0123456", ask, NULL),
         SEINE_E_INVAL},
        {SEINE_HEALTH_CHECK("b", NULL, NULL), SEINE_E_INVAL},
        {{"c", ask, NULL, 0, SEINE_SECS(1), true}, SEINE_E_INVAL},
        {{"d", ask, NULL, SEINE_SECS(1), 0, true}, SEINE_E_INVAL},
    };
    seine_health *h = NULL;
    seine_health_result r;

    CHECK_EQ(seine_health_new(NULL, &h), SEINE_OK);
    EACH_ROW(i, rows)
        CHECK_EQ(seine_health_add(h, &rows[i].c), rows[i].want);
    CHECK_EQ(seine_health_get(h, "zz", &r), SEINE_E_UNKNOWN);
    CHECK_STR(seine_health_name(h, 0), "a");
    CHECK(seine_health_name(h, 2) == NULL);
    for (int i = 2; i < SEINE_HEALTH_MAX; i++) {
        char name[8];
        seine_health_check c = SEINE_HEALTH_CHECK(name, ask, NULL);

        snprintf(name, sizeof name, "n%d", i);
        CHECK_EQ(seine_health_add(h, &c), SEINE_OK);
    }
    CHECK_EQ(seine_health_add(h, &rows[0].c), SEINE_E_ALREADY);
    CHECK_EQ(
        seine_health_add(h, &(seine_health_check)SEINE_HEALTH_CHECK("zz", ask, NULL)),
        SEINE_E_FULL);
    seine_health_free(h);
}

TEST(health_lives_with_an_allocator_that_fails)
{
    FAIL_EACH(n)
    {
        seine_health *h = NULL;
        seine_err e = seine_health_new(NULL, &h);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_health_free(h);
    }
}
