/* SPDX-License-Identifier: Apache-2.0 */
/* A job as others see it: what was committed, while it runs and after. */
#include "seine/job_view.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "old_job.h"
#include "seine/seen.h"
#include "store/job_parts.h"

typedef struct place {
    char dir[64];
    seine_durable_job *job;
    seine_job_view *view;
    seine_diag diag;
} place;

static void
start(place *p, const char *name)
{
    seine_job_opts o = SEINE_JOB_OPTS;

    if (p->dir[0] == '\0') {
        snprintf(p->dir, sizeof p->dir, "/tmp/seine-view-XXXXXX");
        CHECK(mkdtemp(p->dir) != NULL);
    }
    o.state = p->dir;
    o.name = name;
    o.verb = "crawl";
    o.command = "{\"words\":[\"seine\",\"crawl\"]}";
    CHECK_EQ(seine_job_open(&o, &p->job, &p->diag), SEINE_OK);
    CHECK_EQ(sn_job_start(p->job, 1), SEINE_OK);
}

static void
put_url(place *p, const char *host, uint64_t number)
{
    sn_job_url u = {
        .url = {.host = sn_str_of(host), .target = SN_STR("/x"), .number = number},
        .print = number + 77,
        .parent_number = SN_JOB_NONE};

    CHECK_EQ(sn_job_found(sn_job_lane_at(p->job, 0), &u), SEINE_OK);
}

static void
put_result(place *p, uint64_t number, seine_err kind)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT, .number = number, .fault = &fault};

    fault.code = kind;
    CHECK_EQ(sn_job_result(p->job, &r, number + 1), SEINE_OK);
}

static const seine_job_about *
look(place *p, const char *name)
{
    CHECK_EQ(seine_job_view_open(p->dir, name, &p->view, &p->diag), SEINE_OK);
    return seine_job_view_about(p->view);
}

static void
close_view(place *p)
{
    seine_job_view_free(p->view);
    p->view = NULL;
}

static void
done(place *p, const char *name)
{
    if (p->job)
        CHECK_EQ(seine_job_close(p->job, false), SEINE_OK);
    CHECK_EQ(seine_job_remove(p->dir, name, &p->diag), SEINE_OK);
    CHECK_EQ(rmdir(p->dir), 0);
}

TEST(job_view_a_running_job_shows_what_it_has_committed)
{
    place p = {.dir = ""};

    start(&p, "news");
    put_url(&p, "http://a.example:80", 0);
    put_url(&p, "http://a.example:80", 1);
    put_url(&p, "http://b.example:80", 2);
    put_result(&p, 0, SEINE_OK);
    put_result(&p, 1, SEINE_E_TIMEOUT);
    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    put_url(&p, "http://b.example:80", 3); /* not committed */

    const seine_job_about *a = look(&p, "news");
    CHECK_EQ(a->err, SEINE_OK);
    CHECK_EQ(a->status, SEINE_JOB_IS_RUNNING);
    CHECK_EQ(a->pid, getpid());
    CHECK_STR(a->name, "news");
    CHECK_STR(a->verb, "crawl");
    CHECK_STR(a->command, "{\"words\":[\"seine\",\"crawl\"]}");
    CHECK_EQ(a->ok, 1);
    CHECK_EQ(a->failed, 1);
    CHECK_EQ(a->pending, 1);
    CHECK(a->bytes > 0);
    close_view(&p);

    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    CHECK_EQ(look(&p, "news")->pending, 2);
    close_view(&p);
    done(&p, "news");
}

TEST(job_view_how_the_last_run_ended_is_what_a_job_is)
{
    place p = {.dir = ""};

    start(&p, "news");
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    CHECK_EQ(look(&p, "news")->status, SEINE_JOB_IS_STOPPED);
    close_view(&p);

    start(&p, "news");
    put_url(&p, "http://a.example:80", 0);
    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    p.job->err = SEINE_E_CANCELED; /* as kill -9 */
    CHECK_EQ(seine_job_close(p.job, false), SEINE_E_CANCELED);
    CHECK_EQ(look(&p, "news")->status, SEINE_JOB_IS_FAILED);
    CHECK_EQ(seine_job_view_about(p.view)->pid, 0);
    CHECK_EQ(seine_job_view_about(p.view)->pending, 1);
    close_view(&p);

    start(&p, "news");
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    CHECK_EQ(look(&p, "news")->status, SEINE_JOB_IS_FINISHED);
    close_view(&p);
    p.job = NULL;
    done(&p, "news");
}

typedef struct told {
    unsigned n;
    seine_job_host hosts[4];
    char names[4][64];
} told;

static void
note_host(const seine_job_host *h, void *arg)
{
    told *t = arg;

    if (t->n == 4)
        return;
    t->hosts[t->n] = *h;
    snprintf(t->names[t->n++], 64, "%.*s", (int)h->host.len, h->host.ptr);
}

TEST(job_view_each_host_says_what_is_left_and_until_when_it_waits)
{
    place p = {.dir = ""};
    told t = {.n = 0};
    int64_t later = sn_job_wall_ms() + 60000;
    sn_job_host row = {.name = SN_STR("http://b.example:80"),
                       .next_ms = 1, /* long ago */
                       .pause_ms = later,
                       .interval_us = 250000,
                       .delay_ms = 2000};

    start(&p, "news");
    put_url(&p, "http://a.example:80", 0);
    put_url(&p, "http://b.example:80", 1);
    put_url(&p, "http://b.example:80", 2);
    put_result(&p, 1, SEINE_OK);
    CHECK_EQ(sn_job_host_put(sn_job_lane_at(p.job, 0), &row), SEINE_OK);
    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    look(&p, "news");
    CHECK_EQ(seine_job_view_hosts(p.view, note_host, &t, &p.diag), SEINE_OK);
    CHECK_EQ(t.n, 2);
    CHECK_STR(t.names[0], "http://a.example:80");
    CHECK_EQ(t.hosts[0].pending, 1);
    CHECK_EQ(t.hosts[0].pause, 0);
    CHECK_STR(t.names[1], "http://b.example:80");
    CHECK_EQ(t.hosts[1].pending, 1);
    CHECK_EQ(t.hosts[1].done, 1);
    CHECK_EQ(t.hosts[1].pause, later * 1000000);
    CHECK_EQ(t.hosts[1].next, 0);
    CHECK_EQ(t.hosts[1].every, SEINE_MS(250));
    CHECK_EQ(t.hosts[1].delay, SEINE_SECS(2));
    close_view(&p);
    done(&p, "news");
}

static void
note_name(const char *name, void *arg)
{
    char *all = arg;

    snprintf(all + strlen(all), 64 - strlen(all), "%s ", name);
}

TEST(job_view_names_come_in_order_and_other_directories_are_no_jobs)
{
    place p = {.dir = ""};
    char all[64] = "", path[128];

    CHECK_EQ(seine_jobs_each("/nonexistent/seine", note_name, all, &p.diag), SEINE_OK);
    start(&p, "b");
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    start(&p, "a");
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    p.job = NULL;
    snprintf(path, sizeof path, "%s/other", p.dir);
    CHECK_EQ(mkdir(path, 0700), 0);
    CHECK_EQ(seine_jobs_each(p.dir, note_name, all, &p.diag), SEINE_OK);
    CHECK_STR(all, "a b ");
    CHECK_EQ(rmdir(path), 0);
    CHECK_EQ(seine_job_remove(p.dir, "b", &p.diag), SEINE_OK);
    done(&p, "a");
}

TEST(job_view_a_damaged_state_is_named_and_can_be_removed)
{
    place p = {.dir = ""};
    char path[128];

    start(&p, "news");
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    p.job = NULL;
    snprintf(path, sizeof path, "%s/news/job.db", p.dir);
    CHECK_EQ(truncate(path, 50), 0);
    const seine_job_about *a = look(&p, "news");
    CHECK_EQ(a->err, SEINE_E_STATE_CORRUPT);
    CHECK_EQ(a->status, SEINE_JOB_IS_FAILED);
    CHECK(strstr(a->why, "is cut") != NULL);
    CHECK(a->updated > 0);
    CHECK_EQ(seine_job_view_hosts(p.view, note_host, NULL, &p.diag),
             SEINE_E_STATE_CORRUPT);
    close_view(&p);
    done(&p, "news");
}

TEST(job_view_a_state_of_an_older_version_is_not_called_damaged)
{
    place p = {.dir = ""};

    start(&p, "news");
    old_job_make(p.job, 1);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    p.job = NULL;
    const seine_job_about *a = look(&p, "news");
    CHECK(a->err != SEINE_OK);
    CHECK(strstr(a->why, "older version") != NULL);
    CHECK(strstr(a->why, "damaged") == NULL);
    close_view(&p);
    done(&p, "news");
}

TEST(job_view_a_running_job_is_not_removed_and_none_is_said_to_be_none)
{
    place p = {.dir = ""};

    start(&p, "news");
    CHECK_EQ(seine_job_remove(p.dir, "news", &p.diag), SEINE_E_STATE_LOCKED);
    CHECK(strstr(p.diag.text, "owned by pid") != NULL);
    CHECK_EQ(seine_job_remove(p.dir, "old", &p.diag), SEINE_E_IO);
    CHECK_STR(p.diag.text, "there is no job 'old'");
    CHECK_EQ(seine_job_remove(p.dir, "../news", &p.diag), SEINE_E_IO);
    CHECK_EQ(seine_job_view_open(p.dir, "old", &p.view, &p.diag), SEINE_E_IO);
    CHECK_EQ(seine_job_view_open(p.dir, "..", &p.view, &p.diag), SEINE_E_IO);
    done(&p, "news");
}

TEST(job_view_of_one_url_says_how_it_ended_and_where_it_was_found)
{
    place p = {.dir = ""};
    seine_seen_opts o = SEINE_SEEN_OPTS;
    seine_seen *seen = NULL;
    static seine_job_url got;
    seine_fault fault = SEINE_FAULT;
    const char *key = "http://a.example/page";

    start(&p, "news");
    memcpy(o.seed, sn_job_secret(p.job), sizeof o.seed);
    CHECK_EQ(seine_seen_new(&o, &seen), SEINE_OK);
    put_url(&p, "http://a.example:80", 0);
    sn_job_url u = {.url = {.host = SN_STR("http://a.example:80"),
                            .target = SN_STR("/page"),
                            .number = 1,
                            .line = 40,
                            .depth = 1},
                    .print = seine_seen_print(seen, key, strlen(key)),
                    .parent_number = 0};
    seine_seen_free(seen);
    CHECK_EQ(sn_job_found(sn_job_lane_at(p.job, 0), &u), SEINE_OK);
    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    look(&p, "news");
    CHECK_EQ(seine_job_view_url(p.view, key, &got), SEINE_OK);
    CHECK(got.is_known && got.has_place && !got.has_ended && !got.is_given);
    CHECK_EQ(got.line, 40);
    CHECK_EQ(got.depth, 1);
    CHECK_STR(got.parent, "http://a.example/x");
    CHECK_EQ(seine_job_view_url(p.view, "http://a.example/no", &got), SEINE_OK);
    CHECK(!got.is_known);
    close_view(&p);

    seine_record r = {.type = SEINE_RECORD_RESULT,
                      .number = 1,
                      .status = 404,
                      .attempts = 2,
                      .total = SEINE_MS(70),
                      .fault = &fault};
    fault.code = SEINE_E_HTTP;
    CHECK_EQ(sn_job_result(p.job, &r, 9), SEINE_OK);
    sn_job_robots robots = {.host = SN_STR("http://a.example:80"),
                            .wall_ms = 5,
                            .text = SN_STR("User-agent: *\n")};
    CHECK_EQ(sn_job_robots_put(sn_job_lane_at(p.job, 0), &robots), SEINE_OK);
    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    look(&p, "news");
    CHECK_EQ(seine_job_view_url(p.view, key, &got), SEINE_OK);
    CHECK(got.has_ended && got.has_record && !got.is_skip);
    CHECK_EQ(got.seq, 9);
    CHECK_EQ(got.kind, SEINE_E_HTTP);
    CHECK_EQ(got.status, 404);
    CHECK_EQ(got.attempts, 2);
    CHECK_EQ(got.total, SEINE_MS(70));
    seine_view text;
    int64_t wall;
    CHECK(seine_job_view_robots(p.view, "http://a.example:80", &text, &wall));
    CHECK_EQ(text.len, 14);
    CHECK_EQ(wall, 5000000);
    CHECK(!seine_job_view_robots(p.view, "http://b.example:80", &text, &wall));
    close_view(&p);
    done(&p, "news");
}
