/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs of a job whose process is killed: every record is in every file once. */
#include "store/out_job.h"

#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "seine/convert.h"
#include "store/sink.h"
#include "store/sqlite.h"

enum { URLS = 40, STEP = 8 };

static const char *const names[] = {"a.jsonl",  "a.csv",     "a.jsonl.gz", "a.csv.zst",
                                    "a.sqlite", "a.warc.gz", "a.raw"};
enum { NAMES = sizeof names / sizeof *names };

static char dir[64];
static bool is_appended; /* there is one output, a file that was there before */

static void
make_dir(void)
{
    snprintf(dir, sizeof dir,
             "/dev/shm/seine-out-job-XXXXXX"); /* where a sync is quick */
    if (mkdtemp(dir))
        return;
    snprintf(dir, sizeof dir, "/tmp/seine-out-job-XXXXXX");
    CHECK(mkdtemp(dir) != NULL);
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
remove_dir(void)
{
    CHECK_EQ(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static seine_err
open_outputs(seine_sinks *s, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < (is_appended ? 1 : NAMES) && e == SEINE_OK; i++) {
        char path[128];
        seine_sink_opts o = SEINE_SINK_OPTS;

        o.append = is_appended;

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        o.path = path;
        if (strcmp(names[i], "a.raw") == 0)
            o.format = SEINE_SINK_RAW;
        if (strcmp(names[i], "a.warc.gz") == 0)
            o.max_file = 600;
        e = seine_sinks_open(s, &o, diag);
    }
    return e;
}

static seine_err
put_url(seine_sinks *s, sn_job_lane *lane, uint64_t n, bool is_known)
{
    char url[64], body[64], response[160];
    seine_fault fault = SEINE_FAULT;
    int len = snprintf(url, sizeof url, "http://e.example/%llu", (unsigned long long)n);
    int body_len = snprintf(body, sizeof body, "<%llu>", (unsigned long long)n);
    int all = snprintf(response, sizeof response,
                       "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", body_len, body);
    seine_view u = {url, (size_t)len};
    seine_capture capture = {.url = u,
                             .request = {"GET / HTTP/1.1\r\n\r\n", 18},
                             .response = {response, (size_t)all},
                             .head_len = (uint32_t)(all - body_len)};
    seine_record r = {.type = SEINE_RECORD_RESULT,
                      .number = n,
                      .url = u,
                      .key = u,
                      .final_url = u,
                      .input = u,
                      .method = {"GET", 3},
                      .host = {"e.example", 9},
                      .http = 11,
                      .fault = &fault,
                      .fate = SEINE_FATE_OK,
                      .status = 200,
                      .attempts = 1,
                      .content_length = body_len,
                      .body = {body, (size_t)body_len},
                      .captures = &capture,
                      .n_captures = 1};
    sn_job_url row = {
        .url = {.target = u, .number = n}, .print = n + 1, .parent_number = SN_JOB_NONE};
    seine_err e = is_known ? SEINE_OK : sn_job_found(lane, &row);

    return e == SEINE_OK ? seine_sinks_put(s, 0, &r) : e;
}

typedef struct known {
    bool found[URLS], ended[URLS];
} known;

static seine_err
on_url(const sn_job_url *u, void *arg)
{
    known *k = arg;

    k->found[u->url.number % URLS] = true;
    return SEINE_OK;
}

static seine_err
on_ended(const sn_job_ended_row *r, void *arg)
{
    known *k = arg;

    k->ended[r->number % URLS] = true;
    return SEINE_OK;
}

/* One run of the job: everything that has not ended ends. */
static seine_err
run(seine_diag *diag)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_sinks_opts so = SEINE_SINKS_OPTS;
    seine_durable_job *job = NULL;
    seine_sinks *s = NULL;
    char state[96];
    known k = {.found = {false}};
    sn_job_scan into = {.url = on_url, .ended = on_ended, .arg = &k};

    snprintf(state, sizeof state, "%s/state", dir);
    o.state = state;
    o.name = "j";
    seine_err e = seine_job_open(&o, &job, diag);
    if (e != SEINE_OK)
        return e;
    so.job = job;
    e = seine_sinks_new(&so, &s);
    if (e == SEINE_OK)
        e = open_outputs(s, diag);
    if (e == SEINE_OK)
        e = sn_job_scan_all(job, &into, diag);
    if (e == SEINE_OK)
        e = sn_job_start(job, 1);
    if (e == SEINE_OK)
        e = seine_sinks_start(s, 1);
    for (uint64_t n = 0; n < URLS && e == SEINE_OK; n++) {
        if (!k.ended[n])
            e = put_url(s, sn_job_lane_at(job, 0), n, k.found[n]);
        if (e == SEINE_OK && n % STEP == STEP - 1)
            e = sn_sinks_commit(s);
    }
    if (e == SEINE_OK)
        e = seine_sinks_end_line(s, "summary", NULL, 0);
    if (e == SEINE_OK)
        e = seine_sinks_close(s);
    seine_sinks_free(s);
    seine_err closed = seine_job_close(job, e == SEINE_OK);
    return e == SEINE_OK ? closed : e;
}

/* Runs it in a process of its own that dies at that place. True: it was killed. */
static bool
run_killed(const char *crash)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        seine_diag diag = SEINE_DIAG;

        if (crash)
            setenv("SEINE_CRASH", crash, 1);
        seine_err e = run(&diag);
        if (e == SEINE_E_ALREADY) /* killed after the end */
            e = SEINE_OK;
        if (e != SEINE_OK)
            fprintf(stderr, "%s: %s: %s\n", crash ? crash : "-", seine_err_name(e),
                    diag.text);
        _exit(e == SEINE_OK ? 0 : 1);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/* How often each URL is in the records of that file, read by convert. */
typedef struct counter {
    unsigned n[URLS], all;
} counter;

static void
count_in(const char *text, size_t len, counter *c)
{
    static const char mark[] = "\"url\":\"http://e.example/";

    for (const char *at = text, *end = text + len;
         (at = memmem(at, (size_t)(end - at), mark, sizeof mark - 1));) {
        at += sizeof mark - 1;
        unsigned long n = strtoul(at, NULL, 10);

        c->all++;
        if (n < URLS)
            c->n[n]++;
    }
}

static void
check_counter(const char *name, const counter *c)
{
    for (unsigned i = 0; i < URLS; i++)
        if (c->n[i] != 1)
            check_fail(__FILE__, __LINE__, "%s has URL %u %u times", name, i, c->n[i]);
    CHECK_EQ(c->all, URLS);
}

static void
read_file(const char *name, counter *c)
{
    char path[128], to[128], line[8192];
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted figures;
    seine_diag diag;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    snprintf(to, sizeof to, "%s/read.jsonl", dir);
    (void)unlink(to);
    o.in = path;
    o.out = to;
    CHECK_EQ(seine_convert(&o, &figures, &diag), SEINE_OK);
    FILE *f = fopen(to, "r");
    CHECK(f != NULL);
    while (f && fgets(line, sizeof line, f))
        count_in(line, strlen(line), c);
    if (f)
        fclose(f);
}

static void
check_lines(const char *name)
{
    counter c = {.all = 0};

    read_file(name, &c);
    check_counter(name, &c);
}

/* Every file of the archive, and none behind the last. */
static void
check_archive(void)
{
    counter c = {.all = 0};
    char name[32], path[128];

    for (unsigned n = 1; n < 100; n++) {
        snprintf(name, sizeof name, "a-%05u.warc.gz", n);
        snprintf(path, sizeof path, "%s/%s", dir, name);
        if (access(path, F_OK) != 0)
            break;
        read_file(name, &c);
    }
    check_counter("a.warc.gz", &c);
}

static void
check_raw(void)
{
    char path[128], text[4096];
    unsigned n[URLS] = {0}, all = 0;

    snprintf(path, sizeof path, "%s/a.raw", dir);
    FILE *f = fopen(path, "r");
    size_t len = f ? fread(text, 1, sizeof text - 1, f) : 0;

    text[len] = '\0';
    for (char *at = text; (at = strchr(at, '<')); at++, all++)
        n[strtoul(at + 1, NULL, 10) % URLS]++;
    CHECK_EQ(all, URLS);
    for (unsigned i = 0; i < URLS; i++)
        CHECK_EQ(n[i], 1);
    if (f)
        fclose(f);
}

/* A run that was killed behind its summary has left none. */
static void
check_summary(void)
{
    static const char mark[] = "\"type\":\"summary\"";
    char path[128], text[64 << 10];
    unsigned n = 0;

    snprintf(path, sizeof path, "%s/a.jsonl", dir);
    FILE *f = fopen(path, "r");
    size_t len = f ? fread(text, 1, sizeof text - 1, f) : 0;

    text[len] = '\0';
    for (char *at = text; (at = strstr(at, mark)); at++)
        n++;
    CHECK_EQ(n, 1);
    if (f)
        fclose(f);
}

static void
check_all(void)
{
    check_summary();
    check_lines("a.jsonl");
    check_lines("a.csv");
    check_lines("a.jsonl.gz");
    check_lines("a.csv.zst");
    check_archive();
    check_lines("a.sqlite");
    check_raw();
}

/* clang-format off */
static const char *const points[] = {
    "recover.locked", "state.made", "recover.replayed", "out.claimed", "recover.done",
    "out.append", "out.append@9", "out.append@30",
    "out.append.half", "out.append.half@9", "out.append.half@30",
    "out.synced", "out.synced@2", "out.synced@4",
    "db.begin", "db.begin@9", "db.begin@11",
    "db.commit.before", "db.commit.before@9", "db.commit.before@12",
    "db.commit.after", "db.commit.after@8", "db.commit.after@10",
    "sink.committed", "sink.committed@3", "sink.committed@6", "stop.drained", "end.written",
    "stop.flushed",
};
/* clang-format on */

TEST(out_job_killed_anywhere_writes_every_record_once)
{
    EACH_ROW(i, points) {
        make_dir();
        CHECK(run_killed(points[i]));
        bool again = run_killed(NULL);
        CHECK(!again);
        check_all();
        remove_dir();
    }
}

TEST(out_job_killed_again_while_it_recovers_writes_every_record_once)
{
    static const char *const second[] = {
        "recover.locked", "recover.replayed", "recover.truncated", "recover.truncated@3",
        "recover.done",   "out.append",       "db.commit.before",  "db.commit.after@2"};

    size_t step = getenv("SOAK") ? 1 : 9; /* all pairs take a minute */

    EACH_ROW(i, second) {
        for (size_t k = 6 % step; k < sizeof points / sizeof *points; k += step) {
            make_dir();
            (void)run_killed(points[k]);
            (void)run_killed(second[i]);
            (void)run_killed(second[i]);
            CHECK(!run_killed(NULL));
            check_all();
            remove_dir();
        }
    }
}

static void
check_appended(const char *before)
{
    char path[128], text[64 << 10];
    counter c = {.all = 0};

    snprintf(path, sizeof path, "%s/a.jsonl", dir);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0;
    if (f)
        fclose(f);
    CHECK(n > strlen(before) && memcmp(text, before, strlen(before)) == 0);
    count_in(text, n, &c);
    CHECK_EQ(c.all, URLS);
    for (unsigned i = 0; i < URLS; i++)
        CHECK_EQ(c.n[i], 1);
}

TEST(out_job_killed_anywhere_appends_every_record_once_to_a_file_that_was_there)
{
    static const char before[] = "{\"from\":\"another run\"}\n";

    is_appended = true;
    EACH_ROW(i, points) {
        char path[128];

        make_dir();
        snprintf(path, sizeof path, "%s/a.jsonl", dir);
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(before, f) >= 0 && fclose(f) == 0);
        (void)run_killed(points[i]); /* some come more often with many outputs */
        CHECK(!run_killed(NULL));
        check_appended(before);
        remove_dir();
    }
    is_appended = false;
}

static void
spoil(int how)
{
    char path[128], other[128];

    snprintf(path, sizeof path, "%s/a.jsonl", dir);
    snprintf(other, sizeof other, "%s/b.jsonl", dir);
    FILE *f;

    switch (how) {
    case 0:
        CHECK_EQ(rename(path, other), 0);
        break;
    case 1:
        CHECK_EQ(truncate(path, 10), 0);
        break;
    case 2: /* the last line that was committed */
        f = fopen(path, "r+");
        CHECK(f != NULL);
        if (f) {
            fseek(f, -5, SEEK_END);
            fputc('#', f);
            fclose(f);
        }
        break;
    default: /* as an editor saves it */
        f = fopen(other, "w");
        if (f)
            fclose(f);
        CHECK_EQ(rename(other, path), 0);
    }
}

TEST(out_job_leaves_an_output_alone_that_somebody_changed)
{
    static const char *const says[] = {"is gone", "is shorter", "was changed",
                                       "is another file"};

    EACH_ROW(i, says) {
        seine_diag diag = SEINE_DIAG;

        make_dir();
        CHECK(run_killed("sink.committed@3"));
        spoil((int)i);
        CHECK_EQ(run(&diag), SEINE_E_OUTPUT_CHANGED);
        CHECK(strstr(diag.text, says[i]) != NULL);
        remove_dir();
    }
}

/* A URL ends right behind a group; then all is drained, and a summary follows. Returns
 * the groups that this takes. */
static uint64_t
groups_of_an_end(void)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_sinks_opts so = SEINE_SINKS_OPTS;
    seine_durable_job *job = NULL;
    seine_sinks *s = NULL;
    seine_job_figures before = {0}, after = {0};
    char state[96];

    make_dir();
    snprintf(state, sizeof state, "%s/state", dir);
    o.state = state;
    o.name = "j";
    o.verb = "crawl";
    CHECK_EQ(seine_job_open(&o, &job, NULL), SEINE_OK);
    so.job = job;
    CHECK_EQ(seine_sinks_new(&so, &s), SEINE_OK);
    CHECK_EQ(open_outputs(s, NULL), SEINE_OK);
    CHECK_EQ(sn_job_start(job, 1), SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    CHECK_EQ(put_url(s, sn_job_lane_at(job, 0), 0, false), SEINE_OK);
    CHECK_EQ(sn_sinks_commit(s), SEINE_OK);
    seine_job_figures_get(job, &before);
    CHECK_EQ(before.emitted, 1);
    CHECK_EQ(put_url(s, sn_job_lane_at(job, 0), 1, false), SEINE_OK);
    CHECK_EQ(seine_sinks_drain(s), SEINE_OK);
    CHECK_EQ(seine_sinks_end_line(s, "summary", NULL, 0), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_job_figures_get(job, &after);
    CHECK_EQ(after.emitted, 2);
    seine_sinks_free(s);
    CHECK_EQ(seine_job_close(job, true), SEINE_OK);
    remove_dir();
    return after.groups - before.groups;
}

/* A machine that has other things to do lets 20 ms pass anywhere, which end a group. */
TEST(out_job_commits_the_last_records_and_the_summary_as_one_group)
{
    uint64_t n = 0;

    for (int i = 0; i < 200 && n != 1; i++)
        n = groups_of_an_end();
    CHECK_EQ(n, 1);
}

/* An output that takes nothing while the test holds the lock, as a disk that syncs. */
static seine_err
wait_for_lock(const seine_record *r, uint64_t seq, void *arg)
{
    pthread_mutex_t *lock = arg;

    (void)r;
    (void)seq;
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return SEINE_OK;
}

/* How many records a lane takes while the thread of the outputs is held up. */
static uint64_t
room_of_a_lane(seine_durable_job *job)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    seine_sinks_opts so = SEINE_SINKS_OPTS;
    seine_sink_opts o = SEINE_SINK_OPTS;
    seine_sinks *s = NULL;
    uint64_t n = 0;

    so.job = job;
    so.ring_size = 64 << 10;
    o.format = SEINE_SINK_CALL;
    o.call = wait_for_lock;
    o.arg = &lock;
    CHECK_EQ(seine_sinks_new(&so, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s, &o, NULL), SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    pthread_mutex_lock(&lock);
    for (; seine_sinks_poll(s, 0) && n < 10000; n++)
        CHECK_EQ(put_url(s, NULL, n, true), SEINE_OK);
    pthread_mutex_unlock(&lock);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);
    return n;
}

TEST(out_job_has_room_for_four_times_as_many_records_while_a_group_is_synced)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_durable_job *job = NULL;
    uint64_t without = room_of_a_lane(NULL);
    char state[96];

    make_dir();
    snprintf(state, sizeof state, "%s/state", dir);
    o.state = state;
    o.name = "j";
    o.verb = "crawl";
    CHECK_EQ(seine_job_open(&o, &job, NULL), SEINE_OK);
    uint64_t with = room_of_a_lane(job);
    CHECK(with >= 3 * without);
    CHECK(with <= 5 * without);
    CHECK_EQ(seine_job_close(job, false), SEINE_OK);
    remove_dir();
}
