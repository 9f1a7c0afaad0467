/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that nothing names any more: which they are, and that a round tells them once. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "seine/job_view.h"
#include "seine/sink.h"
#include "store/job_page.h"
#include "store/job_parts.h"
#include "store/record_hold.h"

typedef struct place {
    char dir[64];
    seine_job_opts opts;
    seine_durable_job *job;
    seine_diag diag;
    uint64_t seq;
} place;

/* What was told, one line each. */
typedef struct heard {
    char text[512];
    size_t len;
    seine_err answer;
} heard;

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static seine_err
open_place(place *p)
{
    sn_job_scan nothing = {.arg = NULL};
    seine_err e = seine_job_open(&p->opts, &p->job, &p->diag);

    if (e != SEINE_OK)
        return e;
    CHECK_EQ(sn_job_scan_all(p->job, &nothing, &p->diag), SEINE_OK);
    return sn_job_start(p->job, 1);
}

static void
make_place(place *p)
{
    *p = (place){.dir = "/tmp/seine-orphans-XXXXXX", .opts = SEINE_JOB_OPTS};
    CHECK(mkdtemp(p->dir) != NULL);
    p->opts.state = p->dir;
    p->opts.name = "news";
    p->opts.next_round = true;
    CHECK_EQ(open_place(p), SEINE_OK);
}

static void
remove_place(place *p)
{
    CHECK_EQ(nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Drops the job as kill -9 does, and opens it again. */
static void
kill_and_open(place *p)
{
    p->job->err = SEINE_E_CANCELED;
    CHECK_EQ(seine_job_close(p->job, false), SEINE_E_CANCELED);
    CHECK_EQ(open_place(p), SEINE_OK);
}

static void
put_url(place *p, uint64_t number, sn_str host)
{
    char target[32];
    int n = snprintf(target, sizeof target, "/%llu", (unsigned long long)number);
    sn_job_url u = {.url = {.host = host,
                            .target = {target, (size_t)n},
                            .number = number,
                            .kind = host.len > 0 ? 1 : SN_JOB_BY_USER},
                    .print = number + 1000,
                    .parent_number = SN_JOB_NONE};

    CHECK_EQ(sn_job_found(sn_job_lane_at(p->job, 0), &u), SEINE_OK);
}

/* The page of that number names another, 0: none. */
static void
put_page(place *p, uint64_t number, int64_t status, uint64_t names)
{
    uint64_t print = names + 1000;
    sn_job_page page = {.number = number,
                        .status = status,
                        .seen_ms = 2000 + (int64_t)number,
                        .changed_ms = 1000 + (int64_t)number,
                        .links = {(const char *)&print, names ? sizeof print : 0}};
    seine_fault fault = SEINE_FAULT;
    sn_record_hold hold = {.refs = 1};
    seine_record r = {.type = SEINE_RECORD_RESULT,
                      .number = number,
                      .fault = &fault,
                      .status = (uint16_t)status,
                      .hold = &hold};
    sn_buf b;

    sn_buf_init(&b, SIZE_MAX - 1);
    hold.page = sn_job_page_pack(&page, &b);
    CHECK_EQ(sn_job_result(p->job, &r, ++p->seq), SEINE_OK);
    sn_job_seq(p->job, p->seq);
    sn_buf_fini(&b);
}

/* 1 was given and names 2; nothing names 3 and 4, which is gone; 5 is in a sitemap. */
static void
put_site(place *p)
{
    uint64_t listed = 1005;
    sn_str host = SN_STR("https://e.example:443");

    put_url(p, 1, SN_STR(""));
    put_url(p, 2, host);
    put_url(p, 3, SN_STR("http://e.example:8080"));
    put_url(p, 4, host);
    put_url(p, 5, host);
    put_page(p, 1, 200, 2);
    put_page(p, 2, 200, 0);
    put_page(p, 3, 200, 0);
    put_page(p, 4, 404, 0);
    put_page(p, 5, 200, 0);
    CHECK_EQ(sn_job_note_put(sn_job_lane_at(p->job, 0), SN_JOB_NOTE_LISTED, SN_STR("map"),
                             (sn_str){(const char *)&listed, sizeof listed}),
             SEINE_OK);
    CHECK_EQ(sn_job_commit(p->job, &p->diag), SEINE_OK);
}

static seine_err
hear(const sn_job_orphan *o, void *arg)
{
    heard *h = arg;
    int n =
        snprintf(h->text + h->len, sizeof h->text - h->len, "%.*s %.*s %lld %lld %lld\n",
                 SN_FMT(o->url), SN_FMT(o->host), (long long)o->round,
                 (long long)o->seen_ms, (long long)o->changed_ms);

    h->len += n > 0 ? (size_t)n : 0;
    return h->answer;
}

static void
tell(place *p, const char *want)
{
    heard h = {.answer = SEINE_OK};

    CHECK_EQ(sn_job_tell_orphans(p->job, hear, &h), SEINE_OK);
    CHECK_STR(h.text, want);
}

/* The lines that were told, and the note of it, are committed. */
static void
commit_told(place *p)
{
    sn_job_seq(p->job, ++p->seq);
    CHECK_EQ(sn_job_commit(p->job, &p->diag), SEINE_OK);
}

#define THIRD(round) "http://e.example:8080/3 e.example:8080 " round " 2003 1003\n"

TEST(job_orphans_are_pages_that_no_page_no_sitemap_and_no_user_names)
{
    place p;

    make_place(&p);
    put_site(&p);
    tell(&p, THIRD("1"));
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    remove_place(&p);
}

TEST(job_orphans_are_told_again_until_that_is_committed_and_once_in_each_round)
{
    place p;

    make_place(&p);
    put_site(&p);
    tell(&p, THIRD("1"));
    kill_and_open(&p);
    tell(&p, THIRD("1"));
    commit_told(&p);
    tell(&p, "");
    kill_and_open(&p);
    tell(&p, "");
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    CHECK_EQ(open_place(&p), SEINE_OK);
    tell(&p, THIRD("2"));
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

TEST(job_orphans_that_cannot_be_written_are_not_told)
{
    place p;
    heard full = {.answer = SEINE_E_DISK_FULL};

    make_place(&p);
    put_site(&p);
    CHECK_EQ(sn_job_tell_orphans(p.job, hear, &full), SEINE_E_DISK_FULL);
    commit_told(&p);
    tell(&p, THIRD("1"));
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    remove_place(&p);
}

TEST(job_orphans_name_their_host_without_the_port_of_its_scheme)
{
    place p;

    make_place(&p);
    put_url(&p, 7, SN_STR("https://e.example:443"));
    put_page(&p, 7, 200, 0);
    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    tell(&p, "https://e.example/7 e.example 1 2007 1007\n");
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    remove_place(&p);
}

TEST(job_orphans_of_a_job_that_knows_no_page_are_none)
{
    place p;

    make_place(&p);
    put_url(&p, 1, SN_STR("https://e.example:443"));
    CHECK_EQ(sn_job_commit(p.job, &p.diag), SEINE_OK);
    tell(&p, "");
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    remove_place(&p);
}

static void
print_url(seine_view url, void *arg)
{
    heard *h = arg;
    int n = snprintf(h->text + h->len, sizeof h->text - h->len, "%.*s\n", (int)url.len,
                     url.ptr);

    h->len += n > 0 ? (size_t)n : 0;
}

TEST(job_orphans_of_a_view_are_the_same_without_the_port_of_their_scheme)
{
    place p;
    heard h = {.answer = SEINE_OK};
    seine_job_view *v;
    seine_job_orphans found;

    make_place(&p);
    put_site(&p);
    put_url(&p, 6, SN_STR("https://e.example:443"));
    put_page(&p, 6, 200, 0);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    CHECK_EQ(seine_job_view_open(p.dir, "news", &v, &p.diag), SEINE_OK);
    CHECK_EQ(seine_job_view_orphans(v, print_url, &h, &found, &p.diag), SEINE_OK);
    CHECK_STR(h.text, "http://e.example:8080/3\nhttps://e.example/6\n");
    CHECK_EQ(found.n, 2);
    seine_job_view_free(v);
    remove_place(&p);
}

TEST(job_orphans_are_none_of_sinks_without_a_job)
{
    seine_sinks *s;

    CHECK_EQ(seine_sinks_new(&(seine_sinks_opts)SEINE_SINKS_OPTS, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_orphans(s), SEINE_E_INVAL);
    seine_sinks_free(s);
}
