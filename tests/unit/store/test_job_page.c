/* SPDX-License-Identifier: Apache-2.0 */
/* What a job remembers of pages, and how its next round begins. */
#include "store/job_page.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "old_job.h"
#include "store/job_parts.h"
#include "store/record_hold.h"

typedef struct place {
    char dir[64];
    seine_job_opts opts;
    seine_durable_job *job;
    seine_diag diag;
} place;

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void
open_place(place *p)
{
    CHECK_EQ(seine_job_open(&p->opts, &p->job, &p->diag), SEINE_OK);
}

static void
make_place(place *p)
{
    *p = (place){.dir = "/tmp/seine-page-XXXXXX", .opts = SEINE_JOB_OPTS};
    CHECK(mkdtemp(p->dir) != NULL);
    p->opts.state = p->dir;
    p->opts.name = "news";
    open_place(p);
    CHECK_EQ(sn_job_start(p->job, 1), SEINE_OK);
}

static void
remove_place(place *p)
{
    CHECK_EQ(nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Drops the job as kill -9 does. */
static void
kill_job(place *p)
{
    p->job->err = SEINE_E_CANCELED;
    CHECK_EQ(seine_job_close(p->job, false), SEINE_E_CANCELED);
}

static void
put_url(place *p, uint64_t number, uint8_t kind)
{
    char target[32];
    int n = snprintf(target, sizeof target, "/%llu", (unsigned long long)number);
    sn_job_url u = {.url = {.host = SN_STR("http://e.example:80"),
                            .target = {target, (size_t)n},
                            .number = number,
                            .kind = kind},
                    .print = number + 1000,
                    .parent_number = SN_JOB_NONE};

    CHECK_EQ(sn_job_found(sn_job_lane_at(p->job, 0), &u), SEINE_OK);
}

#define LITERAL(text)         \
    {                         \
        text, sizeof text - 1 \
    }

static const sn_job_page example = {.status = 200,
                                    .spec = -5,
                                    .content = INT64_MIN,
                                    .seen_ms = 1000,
                                    .changed_ms = 900,
                                    .every_s = 86400,
                                    .due_ms = 87400,
                                    .etag = LITERAL("\"abc\""),
                                    .modified = LITERAL("Tue, 17 Nov 2026 09:00:00 GMT"),
                                    .body = LITERAL("0123456789abcdef"),
                                    .links = LITERAL("8 bytes.8 bytes!")};

static void
put_record(place *p, uint64_t number, uint64_t seq, const sn_job_page *page,
           seine_record_type type)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = type,
                      .number = number,
                      .fault = &fault,
                      .status = 200,
                      .reason = SEINE_SKIP_DEPTH};
    sn_record_hold hold = {.refs = 1};
    sn_job_page own;
    sn_buf b;

    sn_buf_init(&b, SIZE_MAX - 1);
    if (page) {
        own = *page;
        own.number = number;
        hold.page = sn_job_page_pack(&own, &b);
        r.hold = &hold;
    }
    CHECK_EQ(sn_job_result(p->job, &r, seq), SEINE_OK);
    sn_buf_fini(&b);
}

static void
put_page(place *p, uint64_t number, uint64_t seq, const sn_job_page *page)
{
    put_record(p, number, seq, page, SEINE_RECORD_RESULT);
}

static void
commit(place *p)
{
    CHECK_EQ(sn_job_commit(p->job, &p->diag), SEINE_OK);
}

typedef struct found {
    unsigned due, not_due, prints, ended;
    uint64_t last_due, last_not_due;
} found;

static seine_err
on_due(const sn_job_url *u, void *arg)
{
    found *f = arg;

    f->due++;
    f->last_due = u->url.number;
    return SEINE_OK;
}

static seine_err
on_not_due(const sn_job_url *u, void *arg)
{
    found *f = arg;

    f->not_due++;
    f->last_not_due = u->url.number;
    return SEINE_OK;
}

static seine_err
on_prints(const uint64_t *prints, size_t n, void *arg)
{
    (void)prints;
    ((found *)arg)->prints += (unsigned)n;
    return SEINE_OK;
}

static seine_err
on_ended(const sn_job_ended_row *r, void *arg)
{
    (void)r;
    ((found *)arg)->ended++;
    return SEINE_OK;
}

static found
look(place *p, int64_t due_ms)
{
    found f = {0};
    sn_job_scan into = {.url = on_due,
                        .not_due = on_not_due,
                        .due_ms = due_ms,
                        .prints = on_prints,
                        .ended = on_ended,
                        .arg = &f};

    CHECK_EQ(sn_job_scan_all(p->job, &into, &p->diag), SEINE_OK);
    return f;
}

/* The row of that URL; false: there is none. */
static bool
read_page(place *p, uint64_t number, sn_arena *mem, sn_job_page *out)
{
    sn_job_reader *r;
    bool there = false;

    CHECK_EQ(sn_job_reader_new(p->job, &r), SEINE_OK);
    CHECK_EQ(sn_job_reader_page(r, number, mem, out, &there), SEINE_OK);
    sn_job_reader_free(r);
    return there;
}

TEST(job_page_is_found_again_as_it_was)
{
    sn_job_page got;
    sn_arena mem;
    place p;

    make_place(&p);
    sn_arena_init(&mem, 256, SIZE_MAX);
    put_url(&p, 0, 0);
    put_page(&p, 0, 1, &example);
    commit(&p);
    CHECK(read_page(&p, 0, &mem, &got));
    CHECK_EQ(got.number, 0);
#define X(column) CHECK_EQ(got.column, example.column);
    SN_JOB_PAGE(X)
#undef X
    CHECK(sn_str_eq(got.etag, example.etag));
    CHECK(sn_str_eq(got.modified, example.modified));
    CHECK(sn_str_eq(got.body, example.body));
    CHECK(sn_str_eq(got.links, example.links));
    CHECK(!read_page(&p, 1, &mem, &got));
    sn_arena_fini(&mem);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

/* A page whose record is lost is asked for again, and compared with the copy before. */
TEST(job_page_is_committed_with_its_record_or_not_at_all)
{
    sn_job_page got, later = example;
    seine_job_figures f;
    sn_arena mem;
    place p;

    make_place(&p);
    sn_arena_init(&mem, 256, SIZE_MAX);
    put_url(&p, 0, 0);
    put_page(&p, 0, 1, &example);
    commit(&p);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    p.opts.next_round = true;
    open_place(&p);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    later.etag = SN_STR("\"other\"");
    put_page(&p, 0, 2, &later);
    kill_job(&p);
    open_place(&p);
    CHECK(read_page(&p, 0, &mem, &got));
    CHECK(sn_str_eq(got.etag, example.etag));
    CHECK_EQ(look(&p, 0).due, 1);
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.round, 2);
    CHECK_EQ(f.pages, 1);
    sn_arena_fini(&mem);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

TEST(job_round_begins_with_all_urls_and_no_result)
{
    sn_job_page early = example;
    seine_job_figures f;
    place p;
    found got;

    make_place(&p);
    for (uint64_t i = 0; i < 4; i++)
        put_url(&p, i, 0);
    early.due_ms = 500;
    put_page(&p, 0, 1, &early);
    put_page(&p, 1, 2, &example);
    put_page(&p, 2, 3, NULL); /* a failure: nothing is known of it */
    put_record(&p, 3, 4, NULL, SEINE_RECORD_SKIP);
    commit(&p);
    CHECK_EQ(sn_job_output_set(p.job, &(sn_job_output){.path = SN_STR("/x"), .ino = 5}),
             SEINE_OK);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);

    p.opts.next_round = true;
    open_place(&p);
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.round, 2);
    CHECK_EQ(f.found, 4);
    CHECK_EQ(f.ended, 0);
    CHECK_EQ(f.next_seq, 5); /* goes on counting */
    CHECK(!f.is_resumed);
    CHECK_EQ(sn_job_round_of(p.job)->first_number, 4);
    CHECK(!sn_job_output_get(p.job, SN_STR("/x")));
    got = look(&p, 1000); /* 87,400 is later */
    CHECK_EQ(got.due, 3);
    CHECK_EQ(got.not_due, 1);
    CHECK_EQ(got.last_not_due, 1);
    CHECK_EQ(got.prints, 4);
    CHECK_EQ(got.ended, 0);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    open_place(&p); /* not finished: the same round goes on */
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.round, 2);
    CHECK(f.is_resumed);
    CHECK_EQ(look(&p, 87399).not_due, 1);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    open_place(&p);
    CHECK_EQ(look(&p, 87400).not_due, 0);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

/* Put off: 5 was refused in the end, 6 was fetched after all, 7 was found elsewhere. */
TEST(job_round_forgets_links_that_were_put_off_and_refused)
{
    place p;

    make_place(&p);
    for (uint64_t i = 5; i < 8; i++)
        put_url(&p, i, SN_JOB_PUT_OFF);
    put_record(&p, 5, 1, NULL, SEINE_RECORD_SKIP);
    put_page(&p, 6, 2, &example);
    CHECK_EQ(sn_job_ended(sn_job_lane_at(p.job, 0), 7), SEINE_OK);
    commit(&p);
    commit(&p);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    p.opts.next_round = true;
    open_place(&p);
    found got = look(&p, 0);
    CHECK_EQ(got.due, 1);
    CHECK_EQ(got.last_due, 6);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

TEST(job_round_may_change_what_the_caller_says_and_nothing_else)
{
    static const char *const members[] = {"output", NULL};
    place p;

    make_place(&p);
    put_url(&p, 0, 0);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    p.opts.next_round = true;
    p.opts.spec = "{\"depth\":3,\"output\":[\"a\"]}";
    CHECK_EQ(seine_job_open(&p.opts, &p.job, &p.diag), SEINE_E_CONFIG);
    p.opts.spec = "{\"output\":[\"a\"]}";
    CHECK_EQ(seine_job_open(&p.opts, &p.job, &p.diag), SEINE_E_CONFIG);
    p.opts.round_members = members;
    open_place(&p);
    CHECK_STR(seine_job_spec(p.job), p.opts.spec);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    p.opts.spec = "{\"output\":[\"b\"]}"; /* the round has begun */
    CHECK_EQ(seine_job_open(&p.opts, &p.job, &p.diag), SEINE_E_CONFIG);
    remove_place(&p);
}

/* A job of the first format has neither pages nor rounds. */
TEST(job_of_the_first_format_opens_and_goes_on)
{
    seine_job_figures f;
    place p;

    make_place(&p);
    put_url(&p, 0, 0);
    put_url(&p, 1, 0);
    put_page(&p, 0, 1, NULL);
    commit(&p);
    old_job_make(p.job, 1);
    kill_job(&p);
    open_place(&p);
    found got = look(&p, 1);
    CHECK_EQ(got.due, 1);
    CHECK_EQ(got.last_due, 1);
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.round, 1);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    put_page(&p, 1, 2, &example);
    commit(&p);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    p.opts.next_round = true;
    open_place(&p);
    CHECK_EQ(look(&p, 1000).not_due, 1);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

/* A job of the second format has a row of SQLite for every URL and result. */
TEST(job_of_the_second_format_opens_with_all_its_rows)
{
    seine_job_figures f;
    place p;

    make_place(&p);
    for (uint64_t i = 0; i < 100; i++)
        put_url(&p, i, 0);
    for (uint64_t i = 0; i < 100; i += 2)
        put_page(&p, i, i / 2 + 1, i < 10 ? &example : NULL);
    commit(&p);
    old_job_make(p.job, 2);
    kill_job(&p);
    open_place(&p);
    found got = look(&p, 1);
    CHECK_EQ(got.due, 50);
    CHECK_EQ(got.last_due, 99);
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.round, 1);
    CHECK_EQ(f.found, 100);
    CHECK_EQ(f.ended, 50);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    put_page(&p, 99, 51, NULL);
    commit(&p);
    kill_job(&p);
    open_place(&p);
    got = look(&p, 1);
    CHECK_EQ(got.due, 49);
    CHECK_EQ(got.last_due, 97);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}
