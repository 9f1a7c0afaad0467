/* SPDX-License-Identifier: Apache-2.0 */
/* A fetch with a job that is stopped after every number of records, and goes on: nobody
 * can tell from records, requests and figures. */
#include "engine/fetch_job.h"

#include <stdio.h>
#include <unistd.h>

#include "seine/fetch_control.h"
#include "seine/job_view.h"
#include "seine/timeline.h"
#include "told.h"

typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
    char dir[64];
    seine_durable_job *job;
    seine_fetch *f;
    uint64_t seq;
    unsigned records, stop_after; /* records of this part; 0: none */
    told told;
    unsigned earlier;           /* records that the last part was told of */
    seine_record sum, told_sum; /* of all records so far; of those */
    seine_fetch_stats stats;
    seine_fetch_left left;
    seine_time open_until; /* as the last opening of a breaker said */
    char kept[128];        /* what on_kept was told */
} fixture;

static void
add_up(seine_record *sum, const seine_record *r)
{
    sum->attempts += r->attempts;
    sum->status = (uint16_t)(sum->status + r->status);
    sum->bytes_in += r->bytes_in;
    sum->bytes_body += r->bytes_body;
    sum->total += r->total;
    sum->ttfb += r->ttfb;
    sum->queue += r->queue;
    sum->throttle += r->throttle;
    sum->backoff += r->backoff;
    sum->retry_budget += r->retry_budget;
}

static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    fixture *t = arg;
    seine_record kept = *r;

    told_record(r, shard, &t->told);
    if (r->type == SEINE_RECORD_RESULT) { /* some of all that one can wait for */
        kept.queue += SEINE_MS(1);
        kept.throttle += SEINE_MS(20);
        kept.backoff += SEINE_MS(300);
        kept.retry_budget += SEINE_MS(4000);
    }
    add_up(&t->sum, &kept);
    CHECK_EQ(sn_job_result(t->job, &kept, ++t->seq), SEINE_OK);
    if (++t->records == t->stop_after)
        seine_fetch_stop(t->f, SEINE_E_CANCELED);
}

static void
on_earlier(const seine_record *r, void *arg)
{
    fixture *t = arg;

    t->earlier++;
    add_up(&t->told_sum, r);
    CHECK_EQ(r->content_length, -1);
    CHECK(r->wall > 0);
    CHECK(!r->parent.ptr); /* all were given */
    if (r->type == SEINE_RECORD_RESULT)
        CHECK_EQ(r->fault->code == SEINE_OK, r->fate == SEINE_FATE_OK);
    else
        CHECK_EQ(r->queue + r->throttle + r->backoff + r->retry_budget, 0);
}

/* The job keeps microseconds, and what all have waited as one sum. */
static void
check_sums(const seine_record *got, const seine_record *want, unsigned n)
{
    const seine_span spans[][2] = {
        {got->total, want->total},     {got->ttfb, want->ttfb},
        {got->queue, want->queue},     {got->throttle, want->throttle},
        {got->backoff, want->backoff}, {got->retry_budget, want->retry_budget}};

    CHECK_EQ(got->attempts, want->attempts);
    CHECK_EQ(got->status, want->status);
    CHECK_EQ(got->bytes_in, want->bytes_in);
    CHECK_EQ(got->bytes_body, want->bytes_body);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        CHECK(spans[i][0] <= spans[i][1]);
        CHECK(spans[i][0] >= spans[i][1] - (seine_span)SEINE_US(n));
    }
}

static fixture *
set_up(void)
{
    fixture *t = calloc(1, sizeof *t);

    snprintf(t->dir, sizeof t->dir, "/tmp/seine-fetch-job-XXXXXX");
    CHECK(mkdtemp(t->dir) != NULL);
    t->s = script_new(NULL);
    t->opts = script_opts(t->s);
    told_teach(t->s);
    told_set(&t->opts, &t->told);
    t->opts.on_record = on_record;
    t->opts.on_earlier = on_earlier;
    t->opts.arg = t;
    return t;
}

static void
tear_down(fixture *t)
{
    static const char *const names[] = {"job.db", "job.db-wal", "job.db-shm", "lock",
                                        "ballast"};
    char path[128];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/job/%s", t->dir, names[i]);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/job", t->dir);
    CHECK_EQ(rmdir(path), 0);
    CHECK_EQ(rmdir(t->dir), 0);
    seine_cookie_jar_free(t->opts.jar);
    script_free(t->s);
    free(t);
}

static void
open_part(fixture *t)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_record before = t->sum;

    o.state = t->dir;
    o.name = "job";
    o.durability = SEINE_DURABILITY_FAST;
    o.is_remote_ok = true;
    CHECK_EQ(seine_job_open(&o, &t->job, NULL), SEINE_OK);
    t->opts.job = t->job;
    t->records = t->earlier = t->stop_after = 0;
    t->told_sum = (seine_record){0};
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    check_sums(&t->told_sum, &before, t->earlier);
    CHECK_EQ(seine_fetch_resume(t->f, NULL), SEINE_OK);
}

static void
close_part(fixture *t)
{
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_stats_get(t->f, &t->stats);
    seine_fetch_left_get(t->f, &t->left);
    seine_fetch_free(t->f);
    CHECK_EQ(sn_job_commit(t->job, NULL), SEINE_OK);
    CHECK_EQ(seine_job_close(t->job, false), SEINE_OK);
}

/* One run of the job: what is left of earlier ones first, then the list once more. */
static void
run_part(fixture *t, const seine_ask *asks, int n, unsigned stop_after)
{
    open_part(t);
    t->stop_after = stop_after;
    for (int i = 0; i < n; i++)
        CHECK_EQ(seine_fetch_add(t->f, &asks[i], NULL), SEINE_OK);
    close_part(t);
}

TEST(a_fetch_that_was_stopped_goes_on_as_if_it_had_not_been)
{
    fixture *whole = set_up();

    run_part(whole, told_asks, TOLD_URLS, 0);
    CHECK_EQ(whole->left.urls, 0);
    CHECK_EQ(whole->earlier, 0);
    for (unsigned after = 1; after <= TOLD_URLS; after++) {
        fixture *t = set_up();
        unsigned first;

        run_part(t, told_asks, TOLD_URLS, after);
        first = t->records;
        CHECK_EQ(first + t->left.urls, TOLD_URLS);
        run_part(t, told_asks, TOLD_URLS, 0);
        CHECK_EQ(t->earlier, first);
        CHECK_EQ(first + t->records, TOLD_URLS);
        CHECK_EQ(t->left.urls, 0);
        for (int i = 0; i < TOLD_URLS; i++) {
            CHECK_EQ(t->told.n[i], 1);
            told_check_same(t->told.text[i], whole->told.text[i]);
        }
        CHECK_EQ(t->stats.given, whole->stats.given);
        CHECK_EQ(t->stats.admitted, whole->stats.admitted);
        CHECK_EQ(t->stats.refused, whole->stats.refused);
        CHECK_EQ(t->stats.duplicates, 0);
        CHECK_EQ(t->stats.done, whole->stats.done);
        CHECK_EQ(t->stats.ok, whole->stats.ok);
        CHECK_EQ(t->stats.failed, whole->stats.failed);
        CHECK_EQ(t->stats.bytes_body, whole->stats.bytes_body);
        CHECK_EQ(t->stats.bytes_in, whole->stats.bytes_in);
        told_check_sent(t->s);
        tear_down(t);
    }
    tear_down(whole);
}

/* Without keys the list has to come again as it was. */
/* What the slices of a timeline add up to. */
static seine_slice
sum_of(const seine_timeline *line)
{
    size_t n = 0;
    const seine_slice *all = seine_timeline_slices(line, &n);
    seine_slice sum = {.wall = -1};

    CHECK(n > 0);
    for (size_t i = 0; i < n; i++)
        seine_slice_join(&sum, &all[i]);
    return sum;
}

static seine_slice
kept_by_job(const fixture *t)
{
    seine_timeline *line = NULL;
    seine_job_view *view = NULL;
    seine_diag diag;

    CHECK_EQ(seine_timeline_new(&line), SEINE_OK);
    CHECK_EQ(seine_job_view_open(t->dir, "job", &view, &diag), SEINE_OK);
    CHECK_EQ(seine_job_view_timeline(view, line), SEINE_OK);
    seine_slice sum = sum_of(line);
    seine_job_view_free(view);
    seine_timeline_free(line);
    return sum;
}

static uint64_t
requests_of(const seine_slice *s)
{
    uint64_t n = 0;

    for (int i = 0; i < 6; i++)
        n += s->requests[i];
    return n;
}

TEST(the_timeline_of_a_job_goes_on_in_its_next_run)
{
    for (unsigned after = 1; after <= TOLD_URLS; after += 3) {
        fixture *t = set_up();
        seine_timeline *line = NULL;
        unsigned first;

        run_part(t, told_asks, TOLD_URLS, after);
        first = t->records;
        seine_slice half = kept_by_job(t);
        CHECK_EQ(half.ok + half.failed + half.blocked + half.skipped, first);
        CHECK_EQ(requests_of(&half), t->stats.requests);

        open_part(t);
        for (int i = 0; i < TOLD_URLS; i++)
            CHECK_EQ(seine_fetch_add(t->f, &told_asks[i], NULL), SEINE_OK);
        CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
        CHECK_EQ(seine_timeline_new(&line), SEINE_OK);
        CHECK_EQ(seine_fetch_timeline(t->f, line), SEINE_OK);
        seine_slice live = sum_of(line);
        seine_timeline_free(line);
        close_part(t);
        seine_slice whole = kept_by_job(t);
        CHECK_EQ(whole.ok + whole.failed + whole.blocked + whole.skipped, TOLD_URLS);
        CHECK_EQ(requests_of(&whole), t->stats.requests);
        CHECK_EQ(live.ok, whole.ok);
        CHECK_EQ(requests_of(&live), requests_of(&whole));
        tear_down(t);
    }
}

TEST(a_fetch_keeps_a_timeline_if_it_is_asked_for_one)
{
    for (int is_asked = 0; is_asked < 2; is_asked++) {
        script *s = script_new(NULL);
        seine_fetch_opts o = script_opts(s);
        seine_timeline *line = NULL;
        seine_fetch *f = NULL;
        told *told_all = calloc(1, sizeof *told_all);
        size_t n = 1;

        told_teach(s);
        told_set(&o, told_all);
        o.timeline = is_asked;
        CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
        for (int i = 0; i < TOLD_URLS; i++)
            CHECK_EQ(seine_fetch_add(f, &told_asks[i], NULL), SEINE_OK);
        CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
        CHECK_EQ(seine_timeline_new(&line), SEINE_OK);
        CHECK_EQ(seine_fetch_timeline(f, line), SEINE_OK);
        (void)seine_timeline_slices(line, &n);
        CHECK_EQ(n > 0, is_asked);
        if (is_asked)
            CHECK(sum_of(line).in_flight > 0);
        seine_timeline_free(line);
        seine_fetch_free(f);
        seine_cookie_jar_free(o.jar);
        script_free(s);
        free(told_all);
    }
}

TEST(a_list_that_comes_again_is_passed_over_as_far_as_it_was_given)
{
    for (int dedup = 0; dedup < 2; dedup++) {
        fixture *t = set_up();

        t->opts.dedup = dedup;
        run_part(t, told_asks, 4, 1);
        run_part(t, told_asks, TOLD_URLS, 0);
        for (int i = 0; i < TOLD_URLS; i++)
            CHECK_EQ(t->told.n[i], 1);
        CHECK_EQ(t->stats.given, TOLD_URLS);
        CHECK_EQ(t->stats.duplicates, 0);
        run_part(t, told_asks, TOLD_URLS, 0);
        CHECK_EQ(t->records, 0);
        CHECK_EQ(t->earlier, TOLD_URLS);
        tear_down(t);
    }
}

/* A host that answers so to the first request of each of the first n URLs. */

static const seine_ask three[] = {
    {.url = TOLD_VIEW("http://h.test/0"), .id = TOLD_VIEW("0"), .retries = -1},
    {.url = TOLD_VIEW("http://h.test/1"), .id = TOLD_VIEW("1"), .retries = -1},
    {.url = TOLD_VIEW("http://h.test/2"), .id = TOLD_VIEW("2"), .retries = -1}};

static void
on_event(const seine_event *e, unsigned shard, void *arg)
{
    fixture *t = arg;

    (void)shard;
    if (strcmp(e->name, "breaker.open") == 0)
        t->open_until = e->until;
}

static fixture *
set_up_host(const answer *first, int n)
{
    fixture *t = set_up();

    t->opts.on_event = on_event;
    t->opts.concurrency = 1;
    for (int i = 0; i < n; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://h.test/%d", i);
        script_on(t->s, url, first, &(answer){.status = 200});
    }
    return t;
}

/* Gives the three URLs, stops after so many requests, and waits. */
static void
stop_after_requests(fixture *t, unsigned n, seine_span wait)
{
    open_part(t);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(seine_fetch_add(t->f, &three[i], NULL), SEINE_OK);
    while (script_requests(t->s) < n || script_in_flight(t->s))
        sn_fetch_turn(t->f, SEINE_NEVER);
    seine_fetch_stop(t->f, SEINE_E_CANCELED);
    close_part(t);
    CHECK_EQ(t->left.urls, 3);
    CHECK_EQ(t->records, 0);
    script_jump(t->s, wait);
}

/* Goes on to the end; returns when the first request left. */
static seine_time
go_on(fixture *t)
{
    unsigned before = script_requests(t->s);

    run_part(t, three, 3, 0);
    CHECK_EQ(t->records, 3);
    CHECK_EQ(t->stats.ok, 3);
    return script_request(t->s, before)->at;
}

static void
on_kept(seine_view key, seine_view bytes, void *arg)
{
    fixture *t = arg;
    size_t len = strlen(t->kept);

    snprintf(t->kept + len, sizeof t->kept - len, "%.*s=%.*s;", (int)key.len,
             key.ptr ? key.ptr : "", (int)bytes.len, bytes.ptr);
}

TEST(a_text_that_was_kept_under_a_name_comes_with_each_later_run)
{
    static const char *const texts[] = {"one", "two"};
    fixture *t = set_up();

    t->opts.on_kept = on_kept;
    for (unsigned run = 0; run < 4; run++) {
        t->kept[0] = '\0';
        open_part(t);
        CHECK_EQ(strlen(t->kept), run > 0 ? 15 : 0);
        CHECK(run == 0 || strstr(t->kept, run == 1 ? "a.b=one;" : "a.b=two;"));
        CHECK(run == 0 || strstr(t->kept, "other=;"));
        CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
        if (run < 2) {
            CHECK_EQ(seine_job_note(t->job, "a.b", texts[run], 3), SEINE_OK);
            CHECK_EQ(seine_job_note(t->job, "other", "", 0), SEINE_OK);
        }
        close_part(t);
    }
    tear_down(t);
}

/* The server has seen it, so it is a request; the next run makes the same attempt anew.
 */
TEST(a_retry_that_a_stop_cuts_off_counts_once)
{
    fixture *t = set_up();

    script_on(t->s, "http://h.test/0", &(answer){.status = 503},
              &(answer){.takes = SEINE_SECS(3600)}, &(answer){.takes = SEINE_SECS(3600)},
              &(answer){.status = 200});
    for (unsigned cut = 1; cut <= 2; cut++) {
        open_part(t);
        CHECK_EQ(seine_fetch_add(t->f, &three[0], NULL), SEINE_OK);
        while (script_requests(t->s) < 1 + cut)
            sn_fetch_turn(t->f, SEINE_NEVER);
        seine_fetch_stop(t->f, SEINE_E_CANCELED);
        close_part(t);
        CHECK_EQ(t->left.urls, 1);
        CHECK_EQ(t->stats.requests, 1 + cut);
        CHECK_EQ(t->stats.retries, 0);
    }
    run_part(t, three, 1, 0);
    CHECK_EQ(t->stats.ok, 1);
    CHECK_EQ(t->sum.attempts, 2);
    CHECK_EQ(t->stats.requests, 4);
    CHECK_EQ(t->stats.retries, 1);
    tear_down(t);
}

/* Attempts of a URL that has no record yet are kept at once, the counts now and then. */
TEST(attempts_that_were_kept_before_the_counts_were_are_counted)
{
    fixture *t = set_up();
    sn_job_lane *lane;

    script_on(t->s, "http://h.test/0", &(answer){.takes = SEINE_SECS(3600)},
              &(answer){.status = 200});
    open_part(t);
    CHECK_EQ(seine_fetch_add(t->f, &three[0], NULL), SEINE_OK);
    while (script_requests(t->s) < 1)
        sn_fetch_turn(t->f, SEINE_NEVER);
    lane = sn_job_lane_at(t->job, 0);
    CHECK_EQ(sn_job_tried(lane, 0, 3, 500), SEINE_OK);
    seine_fetch_stop(t->f, SEINE_E_CANCELED);
    close_part(t);
    run_part(t, three, 1, 0);
    CHECK_EQ(t->sum.attempts, 4);
    CHECK_EQ(t->stats.requests, 3 + 1);
    CHECK_EQ(t->stats.retries, 2 + 1);
    tear_down(t);
}

TEST(a_wish_to_be_left_alone_outlives_the_run)
{
    fixture *t = set_up_host(&(answer){.status = 503, .fields = "Retry-After: 100"}, 1);
    seine_time answered;

    stop_after_requests(t, 1, SEINE_SECS(30));
    answered = script_request(t->s, 0)->at + SEINE_MS(10);
    CHECK_EQ(t->left.parked, 0);
    seine_span late = go_on(t) - answered - SEINE_SECS(100);
    CHECK(late >= 0 && late < SEINE_SECS(10)); /* who waits together comes spread */
    tear_down(t);
}

TEST(a_wish_that_has_passed_between_two_runs_holds_nobody)
{
    fixture *t = set_up_host(&(answer){.status = 503, .fields = "Retry-After: 100"}, 1);

    stop_after_requests(t, 1, SEINE_SECS(200));
    seine_time begin = script_now(t->s);
    CHECK(go_on(t) - begin < SEINE_SECS(1));
    tear_down(t);
}

TEST(an_open_breaker_outlives_the_run)
{
    fixture *t = set_up_host(&(answer){.status = 500}, 3);

    t->opts.park = 0;
    t->opts.breaker.failure_threshold = 3;
    stop_after_requests(t, 3, SEINE_MS(1));
    seine_time until = t->open_until;
    CHECK(until > script_now(t->s));
    seine_span late = go_on(t) - until;
    CHECK(late >= 0 && late < SEINE_SECS(1));
    tear_down(t);
}

TEST(a_host_that_was_given_up_is_asked_when_its_time_has_come)
{
    fixture *t = set_up_host(&(answer){.status = 503, .fields = "Retry-After: 1000"}, 1);

    open_part(t);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(seine_fetch_add(t->f, &three[i], NULL), SEINE_OK);
    close_part(t);
    for (int again = 0; again < 2; again++) {
        CHECK_EQ(t->left.urls, 3);
        CHECK_EQ(t->left.parked, 3);
        CHECK_EQ(t->left.robots, 0);
        CHECK_EQ(script_requests(t->s), 1);
        script_jump(t->s, SEINE_SECS(400));
        if (again == 0)
            run_part(t, three, 3, 0);
    }
    script_jump(t->s, SEINE_SECS(300));
    go_on(t);
    tear_down(t);
}

TEST(the_interval_of_a_host_holds_across_two_runs)
{
    fixture *t = set_up_host(&(answer){.status = 500}, 3);

    t->opts.breaker.failure_threshold = 0;
    t->opts.host_rate = (seine_rate){1, SEINE_SECS(10), 1};
    stop_after_requests(t, 1, SEINE_MS(1));
    seine_span apart = go_on(t) - script_request(t->s, 0)->at;
    CHECK(apart >= SEINE_SECS(10) && apart < SEINE_SECS(11));
    tear_down(t);
}

TEST(no_burst_is_saved_up_between_two_runs)
{
    fixture *t = set_up_host(&(answer){.status = 500}, 3);

    t->opts.breaker.failure_threshold = 0;
    t->opts.host_rate = (seine_rate){1, SEINE_SECS(10), 3};
    stop_after_requests(t, 1, SEINE_SECS(300));
    unsigned before = script_requests(t->s);
    go_on(t);
    for (unsigned i = before + 1; i < script_requests(t->s); i++) {
        seine_span apart = script_request(t->s, i)->at - script_request(t->s, i - 1)->at;

        CHECK(apart >= SEINE_SECS(10));
    }
    tear_down(t);
}
