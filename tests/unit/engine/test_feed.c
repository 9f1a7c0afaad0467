/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/feed.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"

#define DAY SEINE_SECS(1763337600) /* a full minute of wall time */

/* Begins in the middle of a second. */
static void
begin(sn_feed *f)
{
    CHECK_EQ(sn_feed_init(f, 0, DAY + SEINE_MS(500)), SEINE_OK);
}

static void
finish_request(sn_feed *f, uint16_t status, seine_err why, seine_span took)
{
    sn_end end = {.fault = {.code = why, .status = status}, .wire_bytes = 100};

    end.spent[SEINE_PHASE_HEAD] = took;
    sn_feed_request(f, &end);
}

static const seine_slice *
look(const sn_feed *f, seine_timeline **out_timeline, size_t *out_n)
{
    CHECK_EQ(seine_timeline_new(out_timeline), SEINE_OK);
    CHECK_EQ(sn_feed_copy(f, *out_timeline), SEINE_OK);
    return seine_timeline_slices(*out_timeline, out_n);
}

TEST(feed_counts_requests_in_the_second_in_which_they_end)
{
    sn_feed f;
    sn_feed_gauges g = {.slots = 64};
    seine_timeline *t;
    size_t n;

    begin(&f);
    finish_request(&f, 200, SEINE_OK, SEINE_MS(40));
    finish_request(&f, 503, SEINE_E_HTTP_BUSY, SEINE_MS(80));
    CHECK(!sn_feed_turn(&f, SEINE_MS(500) - 1, &g));
    CHECK(sn_feed_turn(&f, SEINE_MS(500), &g));
    finish_request(&f, 0, SEINE_E_TIMEOUT, SEINE_SECS(3));
    CHECK(sn_feed_turn(&f, SEINE_MS(1500), &g));
    const seine_slice *all = look(&f, &t, &n);
    CHECK_EQ(n, 2);
    CHECK_EQ(all[0].wall, DAY);
    CHECK_EQ(all[0].lived, SEINE_MS(500));
    CHECK_EQ(all[0].requests[2], 1);
    CHECK_EQ(all[0].requests[5], 1);
    CHECK_EQ(all[0].bytes_in, 200);
    CHECK_EQ(all[0].errors[0].err, SEINE_E_HTTP_BUSY);
    CHECK_EQ(all[0].slowest, SEINE_MS(80));
    CHECK_EQ(all[1].requests[0], 1);
    CHECK_EQ(all[1].lived, SEINE_SECS(1));
    seine_timeline_free(t);
    sn_feed_fini(&f);
}

TEST(feed_means_are_exact_over_turns_and_over_sleep)
{
    sn_feed f;
    sn_feed_gauges g = {.in_flight = 4, .waiting = {[SEINE_WAIT_PACE] = 10}};
    seine_timeline *t;
    size_t n;

    begin(&f);
    (void)sn_feed_turn(&f, SEINE_MS(500), &g); /* nothing is known of the time before */
    g.in_flight = 8;
    (void)sn_feed_turn(&f, SEINE_MS(750), &g); /* a quarter of the second with 4 */
    g.in_flight = 0;
    (void)sn_feed_turn(&f, SEINE_MS(3500), &g); /* the rest, and two seconds, with 8 */
    const seine_slice *all = look(&f, &t, &n);
    CHECK_EQ(n, 4);
    CHECK_EQ(all[0].in_flight, 0);
    CHECK_EQ(all[1].in_flight, 4 * 250000 + 8 * 750000);
    CHECK_EQ(all[2].in_flight, 8 * 1000000);
    CHECK_EQ(all[3].in_flight, 8 * 1000000);
    CHECK_EQ(all[3].waiting[SEINE_WAIT_PACE], 10 * 1000000);
    seine_timeline_free(t);
    sn_feed_fini(&f);
}

/* Each turn says what holds the shard until the next one. */
TEST(feed_tells_how_long_nothing_started_and_why)
{
    sn_feed f;
    sn_feed_gauges g = {.hold = SN_HOLD_OUTPUT};
    seine_timeline *t;
    size_t n;

    begin(&f);
    (void)sn_feed_turn(&f, SEINE_MS(500), &g);
    g.hold = SN_HOLD_MEMORY;
    (void)sn_feed_turn(&f, SEINE_MS(700), &g); /* 0.2 s for the output */
    g.hold = SN_HOLD_PAUSED;
    (void)sn_feed_turn(&f, SEINE_MS(1600), &g); /* 0.8 s and 0.1 s for memory */
    g.hold = SN_HOLD_NONE;
    (void)sn_feed_turn(&f, SEINE_MS(2000), &g); /* 0.4 s paused */
    (void)sn_feed_turn(&f, SEINE_MS(3500), &g);
    const seine_slice *all = look(&f, &t, &n);
    CHECK_EQ(n, 4);
    CHECK_EQ(all[1].output_us, 200000);
    CHECK_EQ(all[1].memory_us, 800000);
    CHECK_EQ(all[1].paused_us, 0);
    CHECK_EQ(all[2].output_us, 0);
    CHECK_EQ(all[2].memory_us, 100000);
    CHECK_EQ(all[2].paused_us, 400000);
    CHECK_EQ(all[3].output_us + all[3].memory_us + all[3].paused_us, 0);
    seine_timeline_free(t);
    sn_feed_fini(&f);
}

TEST(feed_keeps_ten_minutes_of_seconds_and_a_day_of_minutes)
{
    sn_feed f;
    sn_feed_gauges g = {.in_flight = 1};
    seine_timeline *t;
    size_t n;

    begin(&f);
    (void)sn_feed_turn(&f, 0, &g);
    for (int64_t i = 1; i <= 2 * 1440; i++) {
        finish_request(&f, 200, SEINE_OK, SEINE_MS(1));
        (void)sn_feed_turn(&f, SEINE_SECS(60 * i), &g);
    }
    const seine_slice *all = look(&f, &t, &n);
    CHECK_EQ(n, 1440);
    CHECK_EQ(all[0].width, SEINE_SECS(60));
    for (size_t i = 0; i + 1 < n; i++) {
        CHECK_EQ(all[i].requests[2], 1);
        CHECK_EQ(all[i].in_flight, 60 * 1000000);
        CHECK_EQ(all[i].shards, 1);
    }
    seine_timeline_free(t);
    sn_feed_fini(&f);
}

TEST(feed_begins_anew_after_a_sleep_of_days)
{
    sn_feed f;
    sn_feed_gauges g = {.in_flight = 1};
    seine_timeline *t;
    size_t n;

    begin(&f);
    finish_request(&f, 200, SEINE_OK, SEINE_MS(1));
    (void)sn_feed_turn(&f, SEINE_SECS(86400 * 30), &g);
    finish_request(&f, 200, SEINE_OK, SEINE_MS(1));
    (void)sn_feed_turn(&f, SEINE_SECS(86400 * 30 + 60), &g);
    const seine_slice *all = look(&f, &t, &n);
    CHECK(n <= 1440);
    CHECK_EQ(all[n - 1].requests[2], 1);
    seine_timeline_free(t);
    sn_feed_fini(&f);
}

typedef struct kept {
    seine_slice all[64];
    size_t n, seconds, minutes;
} kept;

static seine_err
keep(const seine_slice *s, void *arg)
{
    kept *k = arg;

    k->seconds += s->width == SEINE_SECS(1);
    k->minutes += s->width == SEINE_SECS(60);
    if (k->n < 64)
        k->all[k->n++] = *s;
    return SEINE_OK;
}

TEST(feed_saves_each_second_once_and_its_minute_each_time)
{
    sn_feed f;
    sn_feed_gauges g = {.in_flight = 1};
    kept k = {.n = 0};

    begin(&f);
    (void)sn_feed_turn(&f, 0, &g);
    for (int i = 1; i <= 3; i++) {
        CHECK(sn_feed_turn(&f, SEINE_SECS(i), &g));
        CHECK_EQ(sn_feed_save(&f, keep, &k), SEINE_OK);
    }
    CHECK_EQ(k.seconds, 3);
    CHECK_EQ(k.minutes, 3);
    sn_feed_end(&f, SEINE_MS(3400));
    CHECK_EQ(sn_feed_save(&f, keep, &k), SEINE_OK);
    CHECK_EQ(k.seconds, 4);
    CHECK_EQ(k.all[k.n - 1].lived, SEINE_MS(900));
    sn_feed_fini(&f);
}

TEST(feed_of_an_idle_shard_saves_nothing)
{
    sn_feed f;
    sn_feed_gauges g = {.slots = 64};
    kept k = {.n = 0};

    begin(&f);
    (void)sn_feed_turn(&f, SEINE_SECS(5), &g);
    CHECK_EQ(sn_feed_save(&f, keep, &k), SEINE_OK);
    CHECK_EQ(k.n, 0);
    sn_feed_fini(&f);
}

/* Two runs within one second and one minute. */
TEST(feed_goes_on_with_the_slices_of_the_run_before)
{
    sn_feed first, second;
    sn_feed_gauges g = {.in_flight = 1};
    kept k = {.n = 0};
    seine_timeline *t;
    size_t n;

    CHECK_EQ(sn_feed_init(&first, 0, DAY + SEINE_SECS(10)), SEINE_OK);
    for (int i = 0; i < 3; i++)
        finish_request(&first, 200, SEINE_OK, SEINE_MS(1));
    (void)sn_feed_turn(&first, 0, &g);
    sn_feed_end(&first, SEINE_MS(400));
    CHECK_EQ(sn_feed_save(&first, keep, &k), SEINE_OK);
    sn_feed_fini(&first);

    CHECK_EQ(sn_feed_init(&second, 0, DAY + SEINE_MS(10500)), SEINE_OK);
    for (size_t i = 0; i < k.n; i++)
        sn_feed_restore(&second, &k.all[i], true);
    finish_request(&second, 404, SEINE_E_HTTP, SEINE_MS(1));
    (void)sn_feed_turn(&second, 0, &g);
    (void)sn_feed_turn(&second, SEINE_SECS(60), &g);
    const seine_slice *all = look(&second, &t, &n);
    CHECK_EQ(all[0].width, SEINE_SECS(1));
    CHECK_EQ(all[0].requests[2], 3);
    CHECK_EQ(all[0].requests[4], 1);
    CHECK_EQ(all[0].lived, SEINE_MS(900));
    CHECK_EQ(all[0].shards, 1);
    CHECK_EQ(all[1].requests[2], 0);
    k = (kept){.n = 0};
    CHECK_EQ(sn_feed_save(&second, keep, &k), SEINE_OK);
    CHECK_EQ(k.all[0].width, SEINE_SECS(60));
    CHECK_EQ(k.all[0].requests[2], 3);
    CHECK_EQ(k.all[0].requests[4], 1);
    seine_timeline_free(t);
    sn_feed_fini(&second);
}

/* Two shards of the run before kept the same second. */
TEST(feed_joins_slices_of_one_time)
{
    sn_feed f;
    seine_slice one = {.wall = DAY, .width = SEINE_SECS(1), .shards = 1};

    CHECK_EQ(sn_feed_init(&f, 0, DAY + SEINE_SECS(10)), SEINE_OK);
    one.requests[2] = 3;
    sn_feed_restore(&f, &one, true);
    one.requests[2] = 4;
    sn_feed_restore(&f, &one, true);
    seine_timeline *t;
    size_t n;
    const seine_slice *all = look(&f, &t, &n);
    uint64_t requests = 0;
    for (size_t i = 0; i < n; i++)
        requests +=
            all[i].wall == DAY && all[i].width == SEINE_SECS(1) ? all[i].requests[2] : 0;
    CHECK_EQ(requests, 7);
    seine_timeline_free(t);
    sn_feed_fini(&f);
}

TEST(feed_that_is_off_costs_nothing_and_shows_nothing)
{
    sn_feed f = {.seconds = NULL};
    seine_timeline *t;
    size_t n = 1;

    finish_request(&f, 200, SEINE_OK, SEINE_MS(1));
    CHECK(!sn_feed_turn(&f, SEINE_SECS(9), &(sn_feed_gauges){.slots = 1}));
    (void)look(&f, &t, &n);
    CHECK_EQ(n, 0);
    seine_timeline_free(t);
    sn_feed_fini(&f);
}

/* A reader beside the writer: every copy is of one moment, so its numbers agree. */

typedef struct readers {
    const sn_feed *f;
    _Atomic bool is_over;
    _Atomic uint64_t torn, copies;
} readers;

static void *
read_on(void *arg)
{
    readers *r = arg;

    while (!atomic_load(&r->is_over)) {
        seine_timeline *t;
        size_t n;
        const seine_slice *all = look(r->f, &t, &n);

        for (size_t i = 0; i < n; i++)
            if (all[i].ok != all[i].requests[2] || all[i].latency[0] != all[i].ok)
                atomic_fetch_add(&r->torn, 1);
        atomic_fetch_add(&r->copies, 1);
        seine_timeline_free(t);
    }
    return NULL;
}

TEST_THREADS(feed_is_read_while_it_is_written)
{
    sn_feed f;
    sn_feed_gauges g = {.in_flight = 1};
    seine_record ok = {.type = SEINE_RECORD_RESULT, .fate = SEINE_FATE_OK};
    readers r = {.f = &f};
    pthread_t thread;

    begin(&f);
    CHECK_EQ(pthread_create(&thread, NULL, read_on, &r), 0);
    for (int64_t i = 1; i < 200 || atomic_load(&r.copies) < 2; i++) {
        for (int64_t k = 0; k < i % 7; k++) {
            finish_request(&f, 200, SEINE_OK, SEINE_US(1));
            sn_feed_record(&f, &ok);
        }
        (void)sn_feed_turn(&f, SEINE_MS(300 * i), &g);
    }
    atomic_store(&r.is_over, true);
    pthread_join(thread, NULL);
    CHECK_EQ(atomic_load(&r.torn), 0);
    sn_feed_fini(&f);
}
