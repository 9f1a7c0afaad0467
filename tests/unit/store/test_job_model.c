/* SPDX-License-Identifier: Apache-2.0 */
/* A job beside a model: random histories of what shards and the sink thread do, and after
 * every step the files as kill -9 would leave them are opened and compared. What was
 * committed is there; what was not is not; work is what was found and has not ended. */
#include "store/job.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "store/job_parts.h"

enum { URLS = 160, HOSTS = 5, NOTES = 4, STEPS = 150 };

typedef enum fate { UNKNOWN, FOUND, DONE, REFUSED, ENDED } fate;

typedef struct model {
    struct {
        fate fate;
        bool is_put_off;
        unsigned host, parent;
        uint64_t seq, print;
    } urls[URLS];
    bool ends[URLS];     /* without a record: durable with the next group … */
    bool ends_new[URLS]; /* … and with the one after it */
    int64_t hosts[HOSTS], notes[NOTES], output;
    uint64_t last_seq;
} model;

typedef struct world {
    char dir[64];
    seine_durable_job *job;
    sn_rng rng;
    model now, kept; /* with what was appended; as of the last commit */
} world;

typedef struct reader {
    const world *w;
    model got;
    uint64_t prints, n_prints, last;
} reader;

static uint64_t
print_of(unsigned number)
{
    return (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

static sn_str
target_of(char room[64], unsigned n)
{
    return (sn_str){room, (size_t)snprintf(room, 64, "/page/%u", n)};
}

static sn_str
host_of(char room[64], unsigned n)
{
    return (sn_str){room, (size_t)snprintf(room, 64, "http://h%u.example:80", n)};
}

static seine_durable_job *
open_in(const char *dir, const char *state)
{
    char path[96];
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_durable_job *j = NULL;
    seine_diag diag;

    snprintf(path, sizeof path, "%s/%s", dir, state);
    o.state = path;
    o.name = "j";
    o.durability = SEINE_DURABILITY_FAST; /* the kernel outlives this test */
    CHECK_EQ(seine_job_open(&o, &j, &diag), SEINE_OK);
    return j;
}

/* Drops the job as kill -9 does. */
static void
drop(seine_durable_job *j)
{
    j->err = SEINE_E_CANCELED;
    CHECK_EQ(seine_job_close(j, false), SEINE_E_CANCELED);
}

/* What the model says. */

static bool
is_waiting(const model *m, unsigned n)
{
    return m->urls[n].fate == FOUND;
}

static void
model_commit(world *w)
{
    model *m = &w->now;

    for (unsigned n = 0; n < URLS; n++) {
        if (m->ends[n] && m->urls[n].fate == FOUND)
            m->urls[n].fate = ENDED;
        m->ends[n] = m->ends_new[n];
        m->ends_new[n] = false;
    }
    w->kept = *m;
    memset(w->kept.ends, 0, sizeof w->kept.ends); /* in memory only */
}

/* What a scan finds. */

static seine_err
on_url(const sn_job_url *u, void *arg)
{
    reader *r = arg;
    unsigned n = (unsigned)u->url.number;
    const model *m = &r->w->kept;
    char target[64], host[64];

    CHECK(n < URLS && is_waiting(m, n) && (r->last == UINT64_MAX || n > r->last));
    r->last = n;
    if (n >= URLS)
        return SEINE_E_STATE_CORRUPT;
    r->got.urls[n].fate = FOUND;
    CHECK(sn_str_eq(u->url.target, target_of(target, n)));
    CHECK(sn_str_eq(u->url.host, host_of(host, m->urls[n].host)));
    CHECK_EQ(u->print, print_of(n));
    CHECK_EQ(u->parent_number, n > 0 ? m->urls[n].parent : SN_JOB_NONE);
    CHECK_EQ(u->url.kind == SN_JOB_PUT_OFF, m->urls[n].is_put_off);
    return SEINE_OK;
}

static seine_err
on_ended(const sn_job_ended_row *e, void *arg)
{
    reader *r = arg;
    unsigned n = (unsigned)e->number;

    CHECK(n < URLS && r->got.urls[n].fate == UNKNOWN);
    if (n >= URLS)
        return SEINE_E_STATE_CORRUPT;
    r->got.urls[n].fate = e->type == SEINE_RECORD_SKIP ? REFUSED : DONE;
    CHECK_EQ(e->seq, r->w->kept.urls[n].seq);
    return SEINE_OK;
}

static seine_err
on_prints(const uint64_t *prints, size_t n, void *arg)
{
    reader *r = arg;

    for (size_t i = 0; i < n; i++)
        r->prints += prints[i];
    r->n_prints += n;
    return SEINE_OK;
}

static seine_err
on_note(uint32_t kind, sn_str key, sn_str value, void *arg)
{
    reader *r = arg;
    unsigned n = (unsigned)(key.ptr[0] - 'a');

    CHECK(kind == 7 && key.len == 1 && n < NOTES && value.len == sizeof(int64_t));
    memcpy(&r->got.notes[n], value.ptr, sizeof(int64_t));
    return SEINE_OK;
}

static seine_err
on_host(const sn_job_host *h, void *arg)
{
    reader *r = arg;
    unsigned n = (unsigned)(h->name.ptr[8] - '0');

    CHECK(n < HOSTS);
    r->got.hosts[n] = h->next_ms;
    return SEINE_OK;
}

static void
compare(const world *w, seine_durable_job *j)
{
    reader r = {.w = w, .last = UINT64_MAX};
    sn_job_scan into = {.url = on_url,
                        .ended = on_ended,
                        .prints = on_prints,
                        .note = on_note,
                        .host = on_host,
                        .arg = &r};
    const sn_job_output *o = sn_job_output_get(j, SN_STR("/out"));
    uint64_t prints = 0, n_prints = 0;
    seine_diag diag;

    CHECK_EQ(sn_job_scan_all(j, &into, &diag), SEINE_OK);
    for (unsigned n = 0; n < URLS; n++) {
        fate want = w->kept.urls[n].fate;

        CHECK_EQ(r.got.urls[n].fate, want == ENDED ? UNKNOWN : want);
        if (want == UNKNOWN || (want == FOUND && w->kept.urls[n].is_put_off))
            continue;
        prints += print_of(n);
        n_prints++;
        CHECK(sn_job_next_number(j) > n);
    }
    CHECK_EQ(r.prints, prints);
    CHECK_EQ(r.n_prints, n_prints);
    CHECK(memcmp(r.got.hosts, w->kept.hosts, sizeof r.got.hosts) == 0);
    CHECK(memcmp(r.got.notes, w->kept.notes, sizeof r.got.notes) == 0);
    CHECK_EQ(o ? o->committed : 0, w->kept.output);
    CHECK_EQ(sn_job_last_seq(j), w->kept.last_seq);
}

/* Steps. */

static sn_job_lane *
lane(world *w)
{
    return sn_job_lane_at(w->job, (unsigned)sn_rng_below(&w->rng, 2));
}

static void
find_url(world *w)
{
    unsigned n = (unsigned)sn_rng_below(&w->rng, URLS);
    char target[64], host[64];

    if (w->now.urls[n].fate != UNKNOWN)
        return;
    w->now.urls[n].fate = FOUND;
    w->now.urls[n].host = (unsigned)sn_rng_below(&w->rng, HOSTS);
    w->now.urls[n].parent = n / 2;
    w->now.urls[n].is_put_off = sn_rng_below(&w->rng, 6) == 0;
    sn_job_url u = {.url = {.host = host_of(host, w->now.urls[n].host),
                            .target = target_of(target, n),
                            .number = n,
                            .kind = w->now.urls[n].is_put_off ? SN_JOB_PUT_OFF : 0},
                    .print = print_of(n),
                    .parent_number = n > 0 ? n / 2 : SN_JOB_NONE};
    CHECK_EQ(sn_job_found(lane(w), &u), SEINE_OK);
}

static void
put_record(world *w, unsigned n, seine_record_type type)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = type, .number = n, .fault = &fault, .status = 200};

    w->now.urls[n].fate = type == SEINE_RECORD_SKIP ? REFUSED : DONE;
    w->now.urls[n].seq = ++w->now.last_seq;
    CHECK_EQ(sn_job_result(w->job, &r, w->now.last_seq), SEINE_OK);
}

/* Of a URL that waits, or of one that was refused before it was kept. */
static void
end_url(world *w)
{
    unsigned n = (unsigned)sn_rng_below(&w->rng, URLS);

    if (w->now.ends[n] || w->now.ends_new[n])
        return;
    if (w->now.urls[n].fate == UNKNOWN) {
        CHECK_EQ(sn_job_refused(lane(w), n, print_of(n)), SEINE_OK);
        put_record(w, n, SEINE_RECORD_SKIP);
    } else if (is_waiting(&w->now, n) && sn_rng_below(&w->rng, 4) == 0) {
        CHECK_EQ(sn_job_ended(lane(w), n), SEINE_OK);
        w->now.ends_new[n] = true;
    } else if (is_waiting(&w->now, n)) {
        put_record(w, n, SEINE_RECORD_RESULT);
    }
}

static void
put_else(world *w)
{
    unsigned n = (unsigned)sn_rng_below(&w->rng, NOTES);
    int64_t value = 1 + (int64_t)sn_rng_below(&w->rng, 1000);
    char host[64], key[2] = {(char)('a' + n), '\0'};
    sn_job_lane *own = sn_job_lane_at(w->job, n % 2); /* a host has one shard */
    sn_job_host h = {.name = host_of(host, n), .next_ms = value};

    switch (sn_rng_below(&w->rng, 3)) {
    case 0:
        CHECK_EQ(sn_job_host_put(own, &h), SEINE_OK);
        w->now.hosts[n] = value;
        break;
    case 1:
        CHECK_EQ(sn_job_note_put(own, 7, sn_str_of(key),
                                 (sn_str){(const char *)&value, sizeof value}),
                 SEINE_OK);
        w->now.notes[n] = value;
        break;
    default:
        w->now.output += value;
        CHECK_EQ(sn_job_output_set(w->job, &(sn_job_output){.path = SN_STR("/out"),
                                                            .ino = 5,
                                                            .committed = w->now.output}),
                 SEINE_OK);
    }
}

static void
commit(world *w)
{
    CHECK_EQ(sn_job_commit(w->job, NULL), SEINE_OK);
    model_commit(w);
}

/* The next run: what was not committed is gone, or all of it is there. */
static void
begin_again(world *w, bool is_killed)
{
    if (is_killed) {
        drop(w->job);
        w->now = w->kept;
    } else {
        CHECK_EQ(seine_job_close(w->job, false), SEINE_OK);
        model_commit(w);
        model_commit(w); /* what ended in that group */
        w->now = w->kept;
    }
    w->job = open_in(w->dir, "a");
    compare(w, w->job);
    CHECK_EQ(sn_job_start(w->job, 1), SEINE_OK);
}

static void
step(world *w)
{
    switch (sn_rng_below(&w->rng, 20)) {
    case 0:
        begin_again(w, true);
        break;
    case 1:
        begin_again(w, false);
        break;
    case 2:
    case 3:
    case 4:
        commit(w);
        break;
    case 5:
    case 6:
    case 7:
        put_else(w);
        break;
    case 8:
    case 9:
    case 10:
    case 11:
        end_url(w);
        break;
    default:
        find_url(w);
    }
}

/* Files as kill -9 leaves them now. */

static void
copy_file(const char *dir, const char *name)
{
    static char bytes[1 << 20];
    char from[128], to[128];

    snprintf(from, sizeof from, "%s/a/j/%s", dir, name);
    snprintf(to, sizeof to, "%s/b/j/%s", dir, name);
    (void)unlink(to);
    int in = open(from, O_RDONLY), out = -1;
    if (in < 0)
        return;
    out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(out >= 0);
    for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
        CHECK_EQ(write(out, bytes, (size_t)n), n);
    (void)close(in);
    (void)close(out);
}

static void
check_copy(const world *w)
{
    char path[128];

    snprintf(path, sizeof path, "%s/b", w->dir);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/b/j", w->dir);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/b/j/job.db-shm", w->dir);
    (void)unlink(path);
    copy_file(w->dir, "job.db");
    copy_file(w->dir, "job.db-wal");
    seine_durable_job *j = open_in(w->dir, "b");
    compare(w, j);
    drop(j);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void
live(uint64_t seed)
{
    static world w;

    w = (world){.rng = sn_rng_seed(seed)};
    snprintf(w.dir, sizeof w.dir, "/dev/shm/seine-model-XXXXXX");
    if (!mkdtemp(w.dir)) {
        snprintf(w.dir, sizeof w.dir, "/tmp/seine-model-XXXXXX");
        CHECK(mkdtemp(w.dir) != NULL);
    }
    w.job = open_in(w.dir, "a");
    CHECK_EQ(sn_job_start(w.job, 1), SEINE_OK);
    for (int i = 0; i < STEPS; i++) {
        step(&w);
        check_copy(&w);
    }
    drop(w.job);
    CHECK_EQ(nftw(w.dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

TEST(job_model_agrees_after_a_crash_at_every_step)
{
    unsigned lives = getenv("SOAK") ? 40 : 3;

    for (unsigned i = 0; i < lives; i++)
        live(check_seed() + i);
}
