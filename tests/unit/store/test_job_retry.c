/* SPDX-License-Identifier: Apache-2.0 */
/* Results that a condition picks are forgotten, and nothing else. */
#include "seine/job_retry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "seine/job_view.h"
#include "store/job_parts.h"

typedef struct place {
    char dir[64];
    seine_durable_job *job;
    seine_diag diag;
    uint64_t n;
} place;

static seine_durable_job *
open_job(place *p, bool any)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_durable_job *j = NULL;

    o.state = p->dir;
    o.name = "news";
    o.spec = "{\"a\":1}";
    o.any_spec = any;
    CHECK_EQ(seine_job_open(&o, &j, &p->diag), SEINE_OK);
    return j;
}

static void
put(seine_durable_job *j, uint64_t number, const char *host, const char *target,
    seine_err kind, uint16_t status)
{
    sn_job_url u = {.url = {.host = sn_str_of(host),
                            .target = sn_str_of(target),
                            .number = number,
                            .depth = 2},
                    .print = number + 77,
                    .parent_number = SN_JOB_NONE};
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT,
                      .number = number,
                      .wall = INT64_C(1763372130) * 1000000000,
                      .fault = &fault,
                      .status = status,
                      .attempts = 3,
                      .bytes_body = 100 * number,
                      .total = SEINE_MS(1500)};

    fault.code = kind;
    CHECK_EQ(sn_job_found(sn_job_lane_at(j, 0), &u), SEINE_OK);
    CHECK_EQ(sn_job_result(j, &r, number + 10), SEINE_OK);
}

static void
start(place *p)
{
    *p = (place){.dir = "/tmp/seine-retry-XXXXXX"};
    CHECK(mkdtemp(p->dir) != NULL);
    p->job = open_job(p, false);
    CHECK_EQ(sn_job_start(p->job, 1), SEINE_OK);
    put(p->job, 0, "http://a.example:80", "/0", SEINE_OK, 200);
    put(p->job, 1, "http://a.example:80", "/1", SEINE_E_HTTP, 404);
    put(p->job, 2, "http://b.example:8080", "/2", SEINE_E_HEADER_TIMEOUT, 0);
    put(p->job, 3, "https://b.example:443", "/3", SEINE_E_ROBOTS, 0);
    CHECK_EQ(seine_job_close(p->job, true), SEINE_OK);
}

static void
done(place *p)
{
    CHECK_EQ(seine_job_remove(p->dir, "news", &p->diag), SEINE_OK);
    CHECK_EQ(rmdir(p->dir), 0);
}

static seine_err
retry(place *p, const char *where, bool is_trial)
{
    seine_job_retry_opts o = SEINE_JOB_RETRY_OPTS;

    o.state = p->dir;
    o.name = "news";
    o.where = where;
    o.is_trial = is_trial;
    return seine_job_retry(&o, &p->n, &p->diag);
}

TEST(job_retry_a_condition_picks_by_the_members_of_a_record)
{
    static const struct {
        const char *where;
        uint64_t n;
    } rows[] = {{NULL, 2}, /* not ok and outcome != blocked */
                {"ok", 1},
                {"not ok", 3},
                {"status = 404", 1},
                {"status in [200, 404]", 2},
                {"outcome = timeout", 1},
                {"outcome = blocked", 1},
                {"error.kind = header_timeout", 1},
                {"error.kind = null", 1},
                {"host = b.example", 2},
                {"host ~ '^a'", 2},
                {"url = 'http://a.example/1'", 1},
                {"url = 'http://b.example:8080/2'", 1},
                {"url = 'https://b.example/3'", 1},
                {"attempts >= 3 and depth = 2", 4},
                {"bytes_body > 150", 2},
                {"time.total > 1000", 4},
                {"ts < '2025-11-18' and ts > '2025-11-16'", 4},
                {"seq = 12", 1},
                {"false", 0}};
    place p;

    start(&p);
    EACH_ROW(i, rows) {
        p.n = 99;
        CHECK_EQ(retry(&p, rows[i].where, true), SEINE_OK);
        CHECK_EQ(p.n, rows[i].n);
    }
    done(&p);
}

TEST(job_retry_what_it_picks_is_work_again_and_the_rest_stays)
{
    place p;
    seine_job_view *v;

    start(&p);
    CHECK_EQ(retry(&p, "status = 404 or outcome = timeout", false), SEINE_OK);
    CHECK_EQ(p.n, 2);
    CHECK_EQ(seine_job_view_open(p.dir, "news", &v, &p.diag), SEINE_OK);
    const seine_job_about *a = seine_job_view_about(v);
    CHECK_EQ(a->status, SEINE_JOB_IS_STOPPED);
    CHECK_EQ(a->pending, 2);
    CHECK_EQ(a->ok, 1);
    CHECK_EQ(a->failed, 1);
    CHECK_EQ(a->run, 1);
    seine_job_view_free(v);
    p.job = open_job(&p, false); /* the next run of the same command */
    seine_job_figures f;
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.run, 2);
    CHECK(f.is_resumed);
    CHECK_EQ(f.found, 4);
    CHECK_EQ(f.ended, 2);
    CHECK_EQ(f.next_seq, 14);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    done(&p);
}

TEST(job_retry_changes_nothing_when_nothing_fits_or_the_condition_is_wrong)
{
    place p;
    seine_job_view *v;

    start(&p);
    CHECK_EQ(retry(&p, "status = 500", false), SEINE_OK);
    CHECK_EQ(p.n, 0);
    CHECK_EQ(retry(&p, "status = ", false), SEINE_E_CONFIG);
    CHECK(p.diag.column > 0 && p.diag.text[0] != '\0');
    CHECK_EQ(retry(&p, "outcom = timeout", false), SEINE_E_CONFIG);
    CHECK_EQ(retry(&p, "not ok", true), SEINE_OK);
    CHECK_EQ(seine_job_view_open(p.dir, "news", &v, &p.diag), SEINE_OK);
    CHECK_EQ(seine_job_view_about(v)->status, SEINE_JOB_IS_FINISHED);
    CHECK_EQ(seine_job_view_about(v)->pending, 0);
    seine_job_view_free(v);
    done(&p);
}

TEST(job_retry_leaves_a_running_job_alone)
{
    place p;

    start(&p);
    p.job = open_job(&p, true);
    CHECK_EQ(retry(&p, NULL, false), SEINE_E_STATE_LOCKED);
    CHECK_EQ(retry(&p, NULL, true), SEINE_OK);
    CHECK_EQ(p.n, 2);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    done(&p);
}

TEST(job_retry_takes_another_spec_with_it)
{
    place p;
    seine_job_view *v;
    seine_job_retry_opts o = SEINE_JOB_RETRY_OPTS;

    start(&p);
    o.state = p.dir;
    o.name = "news";
    o.spec = "{\"a\":2}";
    o.command = "{\"words\":[]}";
    CHECK_EQ(seine_job_retry(&o, &p.n, &p.diag), SEINE_OK);
    CHECK_EQ(seine_job_view_open(p.dir, "news", &v, &p.diag), SEINE_OK);
    CHECK_STR(seine_job_view_about(v)->spec, "{\"a\":2}");
    CHECK_STR(seine_job_view_about(v)->command, "{\"words\":[]}");
    seine_job_view_free(v);
    o.name = "none";
    CHECK_EQ(seine_job_retry(&o, &p.n, &p.diag), SEINE_E_IO);
    CHECK_STR(p.diag.text, "there is no job 'none'");
    done(&p);
}
