/* SPDX-License-Identifier: Apache-2.0 */
/* The durable state of a run: what is committed is found again, and only that. */
#include "store/job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "store/job_parts.h"

typedef struct place {
    char dir[64];
    seine_job_opts opts;
    seine_durable_job *job;
    seine_diag diag;
} place;

static void
make_place(place *p)
{
    *p = (place){.dir = "/tmp/seine-job-XXXXXX", .opts = SEINE_JOB_OPTS};
    CHECK(mkdtemp(p->dir) != NULL);
    p->opts.state = p->dir;
    p->opts.name = "news";
    p->opts.spec = "{\"seeds\":[\"http://e.example/\"],\"depth\":3}";
}

static seine_err
open_place(place *p)
{
    p->job = NULL;
    return seine_job_open(&p->opts, &p->job, &p->diag);
}

static void
remove_place(place *p)
{
    char command[128];
    static const char *const names[] = {"job.db",     "job.db-wal", "job.db-shm", "lock",
                                        "job.db.new", "ballast",    "job.db.old"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(command, sizeof command, "%s/news/%s", p->dir, names[i]);
        (void)unlink(command);
    }
    snprintf(command, sizeof command, "%s/news", p->dir);
    (void)rmdir(command);
    CHECK_EQ(rmdir(p->dir), 0);
}

/* Drops the job as kill -9 does: nothing that was not committed is left. */
static void
kill_job(place *p)
{
    p->job->err = SEINE_E_CANCELED;
    CHECK_EQ(seine_job_close(p->job, false), SEINE_E_CANCELED);
}

static void
put_url(sn_job_lane *l, uint64_t number, const char *target, uint64_t parent)
{
    sn_job_url u = {.url = {.host = SN_STR("http://e.example:80"),
                            .target = sn_str_of(target),
                            .number = number,
                            .line = 7,
                            .depth = 2,
                            .moved = 1,
                            .kind = 5,
                            .ceiling = 2,
                            .tag = 33,
                            .attr = 9,
                            .flags = 200},
                    .print = number * UINT64_C(0x9E3779B97F4A7C15) + 1,
                    .parent_number = parent};

    CHECK_EQ(sn_job_found(l, &u), SEINE_OK);
}

static void
put_result(seine_durable_job *j, uint64_t number, uint64_t seq)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT,
                      .number = number,
                      .wall = INT64_C(1700000000000000000),
                      .fault = &fault,
                      .status = 200,
                      .attempts = 2,
                      .bytes_in = 1000,
                      .bytes_body = 5000,
                      .queue = SEINE_MS(3),
                      .total = SEINE_MS(40)};

    CHECK_EQ(sn_job_result(j, &r, seq), SEINE_OK);
}

static void
commit(place *p)
{
    CHECK_EQ(sn_job_commit(p->job, &p->diag), SEINE_OK);
}

enum { MOST = 64 };

typedef struct seen {
    unsigned urls, ended, prints, hosts, robots, notes, counts;
    uint64_t numbers[MOST], all_prints[MOST];
    sn_job_url last;
    char target[64], parent[128], ask[64], host[64];
    sn_job_host last_host;
    sn_job_ended_row last_ended;
    char note[64], robots_text[64];
    uint64_t done, refused, waiting;
} seen;

static void
copy(char *to, size_t room, sn_str s)
{
    snprintf(to, room, "%.*s", SN_FMT(s));
}

static seine_err
on_url(const sn_job_url *u, void *arg)
{
    seen *s = arg;

    s->numbers[s->urls++] = u->url.number;
    s->last = *u;
    copy(s->target, sizeof s->target, u->url.target);
    copy(s->parent, sizeof s->parent, u->url.parent);
    copy(s->ask, sizeof s->ask, u->ask);
    copy(s->host, sizeof s->host, u->url.host);
    return SEINE_OK;
}

static seine_err
on_ended(const sn_job_ended_row *r, void *arg)
{
    seen *s = arg;

    s->ended++;
    s->last_ended = *r;
    return SEINE_OK;
}

static seine_err
on_prints(const uint64_t *prints, size_t n, void *arg)
{
    seen *s = arg;

    for (size_t i = 0; i < n && s->prints < MOST; i++)
        s->all_prints[s->prints++] = prints[i];
    return SEINE_OK;
}

static seine_err
on_host(const sn_job_host *h, void *arg)
{
    seen *s = arg;

    s->hosts++;
    s->last_host = *h;
    return SEINE_OK;
}

static seine_err
on_robots(const sn_job_robots *r, void *arg)
{
    seen *s = arg;

    s->robots++;
    copy(s->robots_text, sizeof s->robots_text, r->text);
    return SEINE_OK;
}

static seine_err
on_note(uint32_t kind, sn_str key, sn_str value, void *arg)
{
    seen *s = arg;

    s->notes++;
    snprintf(s->note, sizeof s->note, "%u %.*s %.*s", kind, SN_FMT(key), SN_FMT(value));
    return SEINE_OK;
}

static seine_err
on_count(sn_str host, const sn_job_standing *n, void *arg)
{
    seen *s = arg;

    (void)host;
    s->counts++;
    s->done += n->done;
    s->refused += n->refused;
    s->waiting += n->waiting;
    return SEINE_OK;
}

static seine_err
look(place *p, seen *out)
{
    sn_job_scan into = {.ended = on_ended,
                        .note = on_note,
                        .host = on_host,
                        .robots = on_robots,
                        .prints = on_prints,
                        .url = on_url,
                        .count = on_count,
                        .arg = out};

    *out = (seen){.urls = 0};
    return sn_job_scan_all(p->job, &into, &p->diag);
}

TEST(job_gives_back_what_was_found_and_has_not_ended)
{
    place p;
    seen s;
    seine_job_figures f;

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(sn_job_start(p.job, 2), SEINE_OK);
    put_url(sn_job_lane_at(p.job, 0), 0, "/", SN_JOB_NONE);
    put_url(sn_job_lane_at(p.job, 0), 1, "/a", 0);
    put_url(sn_job_lane_at(p.job, 1), 2, "/b", 0);
    put_result(p.job, 0, 1);
    commit(&p);
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.found, 3);
    CHECK_EQ(f.ended, 1);
    CHECK_EQ(f.next_seq, 2);
    CHECK_EQ(f.run, 1);
    CHECK(!f.is_resumed);
    put_url(sn_job_lane_at(p.job, 1), 3, "/never-committed", 0);
    kill_job(&p);

    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.urls, 2);
    CHECK_EQ(s.numbers[0], 1);
    CHECK_EQ(s.numbers[1], 2);
    CHECK_STR(s.target, "/b");
    CHECK_STR(s.parent, "http://e.example/");
    CHECK_STR(s.host, "http://e.example:80");
    CHECK_EQ(s.last.url.line, 7);
    CHECK_EQ(s.last.url.depth, 2);
    CHECK_EQ(s.last.url.moved, 1);
    CHECK_EQ(s.last.url.kind, 5);
    CHECK_EQ(s.last.url.ceiling, 2);
    CHECK_EQ(s.last.url.tag, 33);
    CHECK_EQ(s.last.url.attr, 9);
    CHECK_EQ(s.last.url.flags, 200);
    CHECK_EQ(s.prints, 3);
    CHECK_EQ(s.all_prints[2], 2 * UINT64_C(0x9E3779B97F4A7C15) + 1);
    CHECK_EQ(s.ended, 1);
    CHECK_EQ(s.last_ended.attempts, 2);
    CHECK_EQ(s.last_ended.bytes_body, 5000);
    CHECK_EQ(s.last_ended.total_us, 40000);
    CHECK_EQ(s.done, 1);
    CHECK_EQ(s.waiting, 2);
    CHECK_EQ(sn_job_next_number(p.job), 3);
    sn_job_sums sums;
    sn_job_sums_get(p.job, &sums);
    CHECK_EQ(sums.queue_us, 3000);
    seine_job_figures_get(p.job, &f);
    CHECK_EQ(f.run, 2);
    CHECK(f.is_resumed);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    remove_place(&p);
}

TEST(job_keeps_prints_of_refused_urls_that_were_never_found)
{
    place p;
    seen s;
    seine_record skip = {
        .type = SEINE_RECORD_SKIP, .number = 5, .reason = SEINE_SKIP_OFFSITE};

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    CHECK_EQ(sn_job_refused(sn_job_lane_at(p.job, 0), 5, 77), SEINE_OK);
    commit(&p); /* the record comes in a later group */
    CHECK_EQ(sn_job_result(p.job, &skip, 1), SEINE_OK);
    skip.number = 6;
    CHECK_EQ(sn_job_refused(sn_job_lane_at(p.job, 0), 6, 78), SEINE_OK);
    CHECK_EQ(sn_job_result(p.job, &skip, 2), SEINE_OK);
    commit(&p);
    kill_job(&p);

    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.prints, 2);
    CHECK_EQ(s.all_prints[0], 77);
    CHECK_EQ(s.all_prints[1], 78);
    CHECK_EQ(s.last_ended.reason, SEINE_SKIP_OFFSITE);
    CHECK_EQ(s.last_ended.type, SEINE_RECORD_SKIP);
    CHECK_EQ(sn_job_next_number(p.job), 7);
    kill_job(&p);
    remove_place(&p);
}

TEST(job_keeps_hosts_robots_notes_and_asks)
{
    place p;
    seen s;
    sn_job_host h = {.name = SN_STR("http://e.example:80"), .next_ms = 5, .flags = 9};
    sn_job_robots r = {SN_STR("http://e.example:80"), 1, 2, SN_STR("Disallow: /a")};
    sn_job_url ask = {.url = {.target = SN_STR("http://x.example/"),
                              .number = 4,
                              .parent = SN_STR("http://p.example/")},
                      .print = 1,
                      .parent_number = SN_JOB_NONE,
                      .ask = SN_STR("{\"id\":\"7\"}")};

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    sn_job_lane *l = sn_job_lane_at(p.job, 1);
    CHECK_EQ(sn_job_host_put(l, &h), SEINE_OK);
    h.pause_ms = 6;
    CHECK_EQ(sn_job_host_put(l, &h), SEINE_OK);
    CHECK_EQ(sn_job_robots_put(l, &r), SEINE_OK);
    CHECK_EQ(sn_job_note_put(l, 3, SN_STR("k"), SN_STR("old")), SEINE_OK);
    commit(&p);
    CHECK_EQ(sn_job_note_put(l, 3, SN_STR("k"), SN_STR("new")), SEINE_OK);
    CHECK_EQ(sn_job_robots_put(l, &r), SEINE_OK);
    CHECK_EQ(sn_job_found(l, &ask), SEINE_OK);
    put_url(l, 5, "/map", SN_JOB_NONE);
    CHECK_EQ(sn_job_ended(l, 5), SEINE_OK);
    commit(&p);
    commit(&p);
    kill_job(&p);

    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.hosts, 1);
    CHECK_EQ(s.last_host.next_ms, 5);
    CHECK_EQ(s.last_host.pause_ms, 6);
    CHECK_EQ(s.last_host.flags, 9);
    CHECK_EQ(s.robots, 1);
    CHECK_STR(s.robots_text, "Disallow: /a");
    CHECK_EQ(s.notes, 1);
    CHECK_STR(s.note, "3 k new");
    CHECK_EQ(s.urls, 1);
    CHECK_STR(s.target, "http://x.example/");
    CHECK_STR(s.parent, "http://p.example/");
    CHECK_STR(s.ask, "{\"id\":\"7\"}");
    CHECK_STR(s.host, "");
    CHECK_EQ(s.refused, 1);
    kill_job(&p);
    remove_place(&p);
}

TEST(job_takes_one_result_of_a_url)
{
    place p;
    seine_record r = {.type = SEINE_RECORD_SKIP, .number = 0};

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    CHECK_EQ(sn_job_result(p.job, &r, 1), SEINE_OK);
    CHECK_EQ(sn_job_result(p.job, &r, 2), SEINE_E_STATE_CORRUPT);
    commit(&p);
    CHECK_EQ(sn_job_result(p.job, &r, 2), SEINE_E_STATE_CORRUPT);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

TEST(job_has_one_owner)
{
    place p;
    seine_durable_job *other = NULL;

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(seine_job_open(&p.opts, &other, &p.diag), SEINE_E_STATE_LOCKED);
    CHECK(strncmp(p.diag.text, "job 'news' is owned by pid ", 27) == 0);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

static void
touch(place *p)
{
    CHECK_EQ(open_place(p), SEINE_OK);
    CHECK_EQ(sn_job_start(p->job, 1), SEINE_OK);
    put_url(sn_job_lane_at(p->job, 0), 0, "/", SN_JOB_NONE);
    commit(p);
}

TEST(job_names_the_member_of_the_spec_that_differs)
{
    place p;

    make_place(&p);
    touch(&p);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    p.opts.spec = "{\"depth\":3,\"seeds\":[\"http://e.example/\"]}";
    CHECK_EQ(open_place(&p), SEINE_OK); /* the order does not matter */
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    p.opts.spec = "{\"depth\":4,\"seeds\":[\"http://e.example/\"]}";
    CHECK_EQ(open_place(&p), SEINE_E_CONFIG);
    CHECK_STR(p.diag.member, "depth");
    p.opts.spec = "{\"depth\":3}";
    CHECK_EQ(open_place(&p), SEINE_E_CONFIG);
    CHECK_STR(p.diag.member, "seeds");
    p.opts.any_spec = true;
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_STR(seine_job_spec(p.job), "{\"seeds\":[\"http://e.example/\"],\"depth\":3}");
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

TEST(job_that_was_finished_starts_only_afresh)
{
    place p;
    seen s;

    make_place(&p);
    touch(&p);
    CHECK_EQ(seine_job_close(p.job, true), SEINE_OK);
    CHECK_EQ(open_place(&p), SEINE_E_ALREADY);
    p.opts.fresh = true;
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.urls, 0);
    CHECK_EQ(seine_job_close(p.job, false), SEINE_OK);
    remove_place(&p);
}

TEST(job_that_must_exist_is_not_made)
{
    place p;
    char path[128];

    make_place(&p);
    p.opts.must_exist = true;
    CHECK_EQ(open_place(&p), SEINE_E_IO);
    CHECK_STR(p.diag.text, "there is no job 'news'");
    snprintf(path, sizeof path, "%s/news", p.dir);
    CHECK(access(path, F_OK) != 0);
    CHECK_EQ(rmdir(p.dir), 0);
}

TEST(job_names_are_plain)
{
    static const char *const bad[] = {"",    ".",   "..",  "-x", ".x",
                                      "a/b", "a b", "a\n", NULL};
    place p;

    make_place(&p);
    for (size_t i = 0; i == 0 || bad[i - 1]; i++) {
        p.opts.name = bad[i];
        CHECK_EQ(open_place(&p), SEINE_E_INVAL);
    }
    CHECK_EQ(rmdir(p.dir), 0);
}

TEST(job_outputs_are_as_of_the_last_commit)
{
    place p;
    sn_job_output o = {.path = SN_STR("/x/a.jsonl"), .dev = 1, .ino = 2, .committed = 10};

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    CHECK_EQ(sn_job_output_set(p.job, &o), SEINE_OK);
    commit(&p);
    o.committed = 20;
    o.detail = SN_STR("part 2");
    CHECK_EQ(sn_job_output_set(p.job, &o), SEINE_OK);
    commit(&p);
    o.committed = 30;
    CHECK_EQ(sn_job_output_set(p.job, &o), SEINE_OK);
    kill_job(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    const sn_job_output *was = sn_job_output_get(p.job, SN_STR("/x/a.jsonl"));
    CHECK(was != NULL);
    if (was) {
        CHECK_EQ(was->committed, 20);
        CHECK_EQ(was->ino, 2);
        CHECK(sn_str_eq(was->detail, SN_STR("part 2")));
    }
    CHECK(!sn_job_output_get(p.job, SN_STR("/x/b.jsonl")));
    kill_job(&p);
    remove_place(&p);
}

/* A record that was put before the end may be taken by the next group only. */
TEST(job_url_that_ends_without_a_record_has_ended_one_group_later)
{
    place p;
    seen s;

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    put_url(sn_job_lane_at(p.job, 0), 0, "/map", SN_JOB_NONE);
    CHECK_EQ(sn_job_ended(sn_job_lane_at(p.job, 0), 0), SEINE_OK);
    commit(&p);
    kill_job(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.urls, 1);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    CHECK_EQ(sn_job_ended(sn_job_lane_at(p.job, 0), 0), SEINE_OK);
    commit(&p);
    commit(&p);
    kill_job(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.urls, 0);
    kill_job(&p);
    remove_place(&p);
}

TEST(job_url_that_was_put_off_is_not_seen_before_it_has_ended)
{
    sn_job_url u = {.url = {.target = SN_STR("http://e.example/deep"),
                            .number = 0,
                            .kind = SN_JOB_PUT_OFF},
                    .print = 77,
                    .parent_number = SN_JOB_NONE};
    place p;
    seen s;

    make_place(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    CHECK_EQ(sn_job_found(sn_job_lane_at(p.job, 0), &u), SEINE_OK);
    commit(&p);
    kill_job(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.urls, 1);
    CHECK_EQ(s.prints, 0);
    CHECK_EQ(s.last.print, 77);
    CHECK_EQ(sn_job_start(p.job, 1), SEINE_OK);
    put_result(p.job, 0, 1);
    commit(&p);
    kill_job(&p);
    CHECK_EQ(open_place(&p), SEINE_OK);
    CHECK_EQ(look(&p, &s), SEINE_OK);
    CHECK_EQ(s.urls, 0);
    CHECK_EQ(s.prints, 1);
    kill_job(&p);
    remove_place(&p);
}
