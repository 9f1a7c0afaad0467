/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and attempts of a job are those of all its runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "seine/job_retry.h"
#include "seine/job_view.h"
#include "store/job_parts.h"
#include "store/record_hold.h"

typedef struct place {
    char dir[64];
    seine_job_opts opts;
    seine_durable_job *job;
    seine_diag diag;
    unsigned tried; /* as the scan has told */
    uint64_t number, attempts, elapsed_ms;
    sn_job_counts counts;
} place;

static seine_err
on_tried(uint64_t number, uint32_t attempts, int64_t elapsed_ms, void *arg)
{
    place *p = arg;

    p->tried++;
    p->number = number;
    p->attempts = attempts;
    p->elapsed_ms = (uint64_t)elapsed_ms;
    return SEINE_OK;
}

/* Opens the job once more and reads what it has kept. */
static void
go_on(place *p)
{
    sn_job_scan into = {.tried = on_tried, .arg = p};

    p->tried = 0;
    CHECK_EQ(seine_job_open(&p->opts, &p->job, &p->diag), SEINE_OK);
    CHECK_EQ(sn_job_scan_all(p->job, &into, &p->diag), SEINE_OK);
    sn_job_counts_get(p->job, &p->counts);
    CHECK_EQ(sn_job_start(p->job, 2), SEINE_OK);
}

static void
start(place *p)
{
    *p = (place){.dir = "/tmp/seine-note-XXXXXX", .opts = SEINE_JOB_OPTS};
    CHECK(mkdtemp(p->dir) != NULL);
    p->opts.state = p->dir;
    p->opts.name = "news";
    go_on(p);
}

static void
done(place *p)
{
    CHECK_EQ(seine_job_remove(p->dir, "news", &p->diag), SEINE_OK);
    CHECK_EQ(rmdir(p->dir), 0);
}

static void
kill_job(place *p)
{
    p->job->err = SEINE_E_CANCELED;
    CHECK_EQ(seine_job_close(p->job, false), SEINE_E_CANCELED);
}

static void
put_url(place *p, uint64_t number)
{
    sn_job_url u = {.url = {.host = SN_STR("http://e.example:80"),
                            .target = SN_STR("/x"),
                            .number = number},
                    .print = number + 1,
                    .parent_number = SN_JOB_NONE};

    CHECK_EQ(sn_job_found(sn_job_lane_at(p->job, 0), &u), SEINE_OK);
}

static void
put_result(place *p, uint64_t number, seine_err kind)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {
        .type = SEINE_RECORD_RESULT, .number = number, .fault = &fault, .attempts = 2};

    fault.code = kind;
    CHECK_EQ(sn_job_result(p->job, &r, number + 1), SEINE_OK);
}

static void
commit(place *p)
{
    CHECK_EQ(sn_job_commit(p->job, &p->diag), SEINE_OK);
}

static void
count(place *p, unsigned lane, uint64_t requests, uint64_t sitemap_bytes)
{
    sn_job_counts more = {
        .requests = requests, .bytes_in = 10 * requests, .sitemap_bytes = sitemap_bytes};

    CHECK_EQ(sn_job_counted(sn_job_lane_at(p->job, lane), &more), SEINE_OK);
}

TEST(job_note_counts_of_all_shards_and_runs_are_added_up)
{
    place p;

    start(&p);
    CHECK_EQ(p.counts.requests, 0);
    count(&p, 0, 3, 100);
    count(&p, 1, 4, 0);
    commit(&p);
    count(&p, 0, 5, 0);
    commit(&p);
    count(&p, 1, 1000, 0); /* never committed */
    kill_job(&p);
    go_on(&p);
    CHECK_EQ(p.counts.requests, 12);
    CHECK_EQ(p.counts.bytes_in, 120);
    CHECK_EQ(p.counts.sitemap_bytes, 100);
    count(&p, 0, 1, 11);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    go_on(&p);
    CHECK_EQ(p.counts.requests, 13);
    CHECK_EQ(p.counts.sitemap_bytes, 111);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    done(&p);
}

TEST(job_note_attempts_of_a_url_are_kept_until_it_has_ended)
{
    place p;

    start(&p);
    put_url(&p, 0);
    put_url(&p, 1);
    CHECK_EQ(sn_job_tried(sn_job_lane_at(p.job, 0), 0, 1, 10), SEINE_OK);
    CHECK_EQ(sn_job_tried(sn_job_lane_at(p.job, 1), 1, 1, 20), SEINE_OK);
    commit(&p);
    CHECK_EQ(sn_job_tried(sn_job_lane_at(p.job, 1), 1, 2, 90), SEINE_OK);
    put_result(&p, 0, SEINE_OK);
    commit(&p);
    CHECK_EQ(sn_job_tried(sn_job_lane_at(p.job, 1), 1, 3, 900), SEINE_OK); /* too late */
    kill_job(&p);
    go_on(&p);
    CHECK_EQ(p.tried, 1);
    CHECK_EQ(p.number, 1);
    CHECK_EQ(p.attempts, 2);
    CHECK_EQ(p.elapsed_ms, 90);
    kill_job(&p);
    done(&p);
}

TEST(job_note_a_round_and_a_retry_begin_without_them)
{
    for (int is_round = 0; is_round < 2; is_round++) {
        seine_job_retry_opts o = SEINE_JOB_RETRY_OPTS;
        uint64_t n = 0;
        place p;

        start(&p);
        put_url(&p, 0);
        CHECK_EQ(sn_job_tried(sn_job_lane_at(p.job, 0), 0, 4, 10), SEINE_OK);
        CHECK_EQ(sn_job_note_put(sn_job_lane_at(p.job, 0), 1, SN_STR("a"), SN_STR("b")),
                 SEINE_OK);
        count(&p, 0, 5, 7);
        put_result(&p, 0, SEINE_E_HTTP);
        CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
        o.state = p.dir;
        o.name = "news";
        if (!is_round)
            CHECK_EQ(seine_job_retry(&o, &n, &p.diag), SEINE_OK);
        CHECK_EQ(n, is_round ? 0 : 1);
        p.opts.next_round = is_round;
        go_on(&p);
        CHECK_EQ(p.tried, 0);
        CHECK_EQ(p.counts.requests, 0);
        CHECK_EQ(p.job->head.notes, 1); /* what others have noted stays */
        CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
        done(&p);
    }
}

/* What was kept, as the scan tells it. */
typedef struct heard {
    char text[256];
} heard;

static seine_err
on_note(uint32_t kind, sn_str key, sn_str value, void *arg)
{
    heard *h = arg;
    size_t n = strlen(h->text);

    snprintf(h->text + n, sizeof h->text - n, "%u %.*s=%.*s;", kind, SN_FMT(key),
             SN_FMT(value));
    return SEINE_OK;
}

static void
put_kept(place *p, uint64_t number, const char *text)
{
    seine_fault fault = SEINE_FAULT;
    sn_record_hold hold = {.refs = 1, .kept = sn_str_of(text)};
    seine_record r = {
        .type = SEINE_RECORD_RESULT, .number = number, .fault = &fault, .hold = &hold};

    CHECK_EQ(sn_job_result(p->job, &r, number + 1), SEINE_OK);
}

/* Opens it once more; what it has kept is the result. */
static heard
hear_again(place *p)
{
    heard h = {""};
    sn_job_scan into = {.note = on_note, .arg = &h};

    CHECK_EQ(seine_job_open(&p->opts, &p->job, &p->diag), SEINE_OK);
    CHECK_EQ(sn_job_scan_all(p->job, &into, &p->diag), SEINE_OK);
    CHECK_EQ(sn_job_start(p->job, 2), SEINE_OK);
    return h;
}

TEST(job_note_what_comes_with_a_record_is_kept_with_it_and_not_without)
{
    place p;

    start(&p);
    put_url(&p, 0);
    put_url(&p, 1);
    put_kept(&p, 0, "first");
    commit(&p);
    put_kept(&p, 1, "second"); /* never committed */
    kill_job(&p);
    CHECK_STR(hear_again(&p).text, "102 0=first;");
    put_kept(&p, 1, "again");
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    heard all = hear_again(&p);
    const char *got = all.text;
    CHECK(strstr(got, "102 0=first;") && strstr(got, "102 1=again;"));
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    done(&p);
}

TEST(job_note_the_next_run_knows_no_url_and_no_output_but_what_was_said)
{
    seine_job_figures f;
    place p;

    start(&p);
    put_url(&p, 0);
    put_kept(&p, 0, "page");
    CHECK_EQ(seine_job_note(p.job, "run 1", "abc", 3), SEINE_OK);
    CHECK_EQ(sn_job_output_set(p.job, &(sn_job_output){.path = SN_STR("/x"), .ino = 5}),
             SEINE_OK);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    p.opts.next_run = true;
    p.opts.spec = "{\"other\":1}";
    CHECK_STR(hear_again(&p).text, "103 run 1=abc;");
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.found, 0);
    CHECK_EQ(f.ended, 0);
    CHECK_EQ(f.round, 2);
    CHECK(!sn_job_output_get(p.job, SN_STR("/x")));
    put_url(&p, 1);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    p.opts.spec = NULL; /* it is not finished: another spec is another job */
    CHECK_EQ(seine_job_open(&p.opts, &p.job, &p.diag), SEINE_E_CONFIG);
    done(&p);
}

TEST(job_note_what_was_kept_stays_for_the_next_run_if_it_is_asked_for)
{
    place p;

    start(&p);
    put_url(&p, 0);
    put_kept(&p, 0, "page");
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    p.opts.next_run = p.opts.keep_kept = true;
    CHECK_STR(hear_again(&p).text, "102 0=page;");
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    done(&p);
}

TEST(job_note_needs_a_fetch)
{
    place p;

    start(&p);
    CHECK_EQ(seine_job_note(p.job, NULL, "", 0), SEINE_E_INVAL);
    CHECK_EQ(seine_job_note(NULL, "a", "", 0), SEINE_E_INVAL);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    done(&p);
}
