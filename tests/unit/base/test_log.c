/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/logline.h"
#include "check.h"
#include "failing.h"

/* Collects lines; counts those that are not whole. */
typedef struct page {
    sn_buf text;
    int lines, broken;
    sem_t entered, go; /* a sink that waits for a signal */
    bool is_slow;
} page;

static void
collect(const char *line, size_t len, void *arg)
{
    page *p = arg;

    if (p->is_slow) {
        sem_post(&p->entered);
        sem_wait(&p->go);
    }
    p->lines++;
    p->broken += memchr(line, '\n', len) != line + len - 1;
    sn_buf_add(&p->text, line, len);
}

static page *
page_new(page *p)
{
    *p = (page){0};
    sn_buf_init(&p->text, 1 << 20);
    sem_init(&p->entered, 0, 0);
    sem_init(&p->go, 0, 0);
    return p;
}

static void
page_end(page *p)
{
    CHECK_EQ(p->broken, 0);
    CHECK_EQ(sn_buf_done(&p->text), SEINE_OK);
    sem_destroy(&p->entered);
    sem_destroy(&p->go);
    sn_buf_fini(&p->text);
}

static const char *
page_text(page *p)
{
    return p->text.ptr ? p->text.ptr : "";
}

/* The lines since the last call. */
static const char *
news(page *p)
{
    static char text[4096];

    snprintf(text, sizeof text, "%s", page_text(p));
    sn_buf_reset(&p->text);
    return text;
}

static seine_log_opts
to(page *p, seine_clock *clock)
{
    seine_log_opts o = SEINE_LOG_OPTS;

    o.level = SEINE_LOG_TRACE;
    o.sink = collect;
    o.arg = p;
    o.clock = clock;
    o.ring = 0;
    return o;
}

static seine_log *
open_log(const seine_log_opts *o)
{
    seine_log *log = NULL;

    CHECK_EQ(seine_log_new(o, &log), SEINE_OK);
    return log;
}

static seine_clock *
clock_at_noon(void)
{
    seine_clock *c = NULL;

    CHECK_EQ(seine_clock_fake_new(SEINE_SECS(1000), SEINE_SECS(43200), 1, &c), SEINE_OK);
    return c;
}

TEST(log_writes_records_of_its_level_and_above)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.level = SEINE_LOG_INFO;
    seine_log *log = open_log(&o);

    seine_log_write(log, SEINE_LOG_DEBUG, "no", NULL, NULL, 0);
    seine_log_write(log, SEINE_LOG_INFO, "yes", NULL, NULL, 0);
    seine_log_set_level(log, SEINE_LOG_ERROR);
    seine_log_set_level(log, (seine_log_level)77); /* is no level */
    seine_log_write(log, SEINE_LOG_WARN, "no", NULL, NULL, 0);
    seine_log_write(log, SEINE_LOG_ERROR, "yes", "at last", NULL, 0);
    seine_log_set_level(log, SEINE_LOG_OFF);
    seine_log_write(log, SEINE_LOG_ERROR, "no", NULL, NULL, 0);
    seine_log_write(log, SEINE_LOG_OFF, "no", NULL, NULL, 0);
    seine_log_write(log, (seine_log_level)-1, "no", NULL, NULL, 0);
    CHECK_STR(page_text(&p), "12:00:00 info  yes\n12:00:00 error at last\n");
    seine_log_free(log);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_of_null_is_off)
{
    CHECK(!seine_log_on(NULL, SEINE_LOG_ERROR));
    seine_log_write(NULL, SEINE_LOG_ERROR, "no", NULL, NULL, 0);
    SN_LOG(NULL, ERROR, "no");
    seine_log_set_level(NULL, SEINE_LOG_TRACE);
    seine_log_flush(NULL);
    seine_log_free(NULL);
}

TEST(log_arguments_are_not_evaluated_when_the_level_is_off)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.level = SEINE_LOG_WARN;
    seine_log *log = open_log(&o);
    int asked = 0;

    SN_LOG(log, INFO, "no", SN_I("n", ++asked));
    CHECK_EQ(asked, 0);
    SN_LOG(log, WARN, "yes", SN_I("n", ++asked));
    CHECK_EQ(asked, 1);
    seine_log_free(log);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_macros_take_any_number_of_fields_of_all_types)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    seine_log *log = open_log(&o);
    char changing[] = "e.org";

    SN_LOG(log, INFO, "bare");
    SN_SAY(log, INFO, "event", "some words");
    SN_LOG(log, INFO, "texts", SN_S("a", "x"), SN_S("b", changing),
           SN_S("c", SN_STR("y")), SN_S("d", (const char *)NULL));
    SN_SAY(log, DEBUG, "rest", "all the rest", SN_I("i", -1), SN_U("u", 1),
           SN_D("d", 0.5), SN_B("b", true), SN_T("t", SEINE_MS(250)),
           SN_E("err", SEINE_E_TLS), SN_URL("url", "http://a:b@c/"),
           SN_URL("v", SN_STR("/?key=k")), SN_SECRET("pw"));
    if (log)
        SN_LOG(log, TRACE, "macro is one statement");
    else
        CHECK(false);
    CHECK_STR(page_text(&p),
              "12:00:00 info  bare\n"
              "12:00:00 info  some words\n"
              "12:00:00 info  texts  a=x b=e.org c=y d=\"\"\n"
              "12:00:00 debug all the rest  i=-1 u=1 d=0.5 b=true t=250ms err=tls "
              "url=http://REDACTED@c/ v=\"/?key=REDACTED\" pw=REDACTED\n"
              "12:00:00 trace macro is one statement\n");
    seine_log_free(log);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(s2_07_logs_are_structured_one_json_object_per_line_with_typed_fields)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.format = SEINE_LOG_JSON;
    o.version = "0.1.0";
    seine_log *log = open_log(&o);

    SN_SAY(log, INFO, "job.start", "job started", SN_S("job", "docs"), SN_U("port", 443),
           SN_B("resumed", true), SN_T("duration", SEINE_US(1500)));
    CHECK_EQ(p.lines, 1);
    json_t *line = json_loads(page_text(&p), JSON_REJECT_DUPLICATES, NULL);
    const char *when = json_string_value(json_object_get(line, "@timestamp"));
    CHECK_STR(when, "1970-01-01T12:00:00.000000Z");
    CHECK_STR(json_string_value(json_object_get(line, "log.level")), "info");
    CHECK_STR(json_string_value(json_object_get(line, "message")), "job started");
    CHECK_STR(json_string_value(json_object_get(line, "event.name")), "job.start");
    CHECK_STR(json_string_value(json_object_get(line, "service.name")), "seine");
    CHECK_STR(json_string_value(json_object_get(line, "service.version")), "0.1.0");
    CHECK_STR(json_string_value(json_object_get(line, "thread.name")), "unit-base");
    CHECK_EQ(json_integer_value(json_object_get(line, "thread.id")), getpid());
    CHECK_STR(json_string_value(json_object_get(line, "seine.job")), "docs");
    CHECK_EQ(json_integer_value(json_object_get(line, "server.port")), 443);
    CHECK(json_is_true(json_object_get(line, "resumed")));
    CHECK(json_real_value(json_object_get(line, "duration_ms")) == 1.5);
    json_decref(line);
    seine_log_free(log);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_merges_equal_warnings_per_window)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    seine_log *log = open_log(&o);

    for (int i = 0; i < 3; i++)
        SN_LOG(log, WARN, "slow", SN_S("host", "e.org"));
    SN_LOG(log, WARN, "slow", SN_S("host", "f.org")); /* another one */
    CHECK_STR(news(&p), "12:00:00 warn  slow  host=e.org\n"
                        "12:00:00 warn  slow  host=f.org\n");

    seine_clock_fake_advance(c, SEINE_SECS(10) - 1);
    SN_LOG(log, INFO, "tick");
    CHECK_STR(news(&p), "12:00:09 info  tick\n");
    seine_clock_fake_advance(c, 1);
    SN_LOG(log, INFO, "tick");
    /* The count has the time of the last repetition. */
    CHECK_STR(news(&p), "12:00:00 warn  slow  host=e.org  repeated=2\n"
                        "12:00:10 info  tick\n");

    /* It was repeated in the first window, so a second window follows. */
    seine_clock_fake_advance(c, SEINE_SECS(5));
    SN_LOG(log, WARN, "slow", SN_S("host", "e.org"));
    SN_LOG(log, WARN, "slow", SN_S("host", "f.org")); /* its window was quiet */
    CHECK_STR(news(&p), "12:00:15 warn  slow  host=f.org\n");
    seine_clock_fake_advance(c, SEINE_SECS(5));
    SN_LOG(log, INFO, "tick");
    CHECK_STR(news(&p), "12:00:15 warn  slow  host=e.org  repeated=1\n"
                        "12:00:20 info  tick\n");

    /* The third window is quiet, so the next warning is written at once. */
    seine_clock_fake_advance(c, SEINE_SECS(10));
    SN_LOG(log, WARN, "slow", SN_S("host", "e.org"));
    CHECK_STR(news(&p), "12:00:30 warn  slow  host=e.org\n");

    seine_log_stats s;
    seine_log_stats_get(log, &s);
    CHECK_EQ(s.records[SEINE_LOG_WARN], 7);
    CHECK_EQ(s.records[SEINE_LOG_INFO], 3);
    CHECK_EQ(s.merged, 3);
    CHECK_EQ(s.dropped, 0);
    seine_log_free(log);
    CHECK_STR(news(&p), "");
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_merges_errors_and_warnings_and_nothing_below)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    seine_log *log = open_log(&o);

    for (int i = 0; i < 3; i++) {
        SN_LOG(log, ERROR, "a");
        SN_LOG(log, INFO, "b");
    }
    CHECK_EQ(p.lines, 1 + 3);
    seine_log_flush(log); /* tells the count before the window ends … */
    CHECK_EQ(p.lines, 5);
    seine_log_flush(log); /* … once */
    CHECK_EQ(p.lines, 5);
    SN_LOG(log, ERROR, "a");
    CHECK_EQ(p.lines, 5);
    seine_log_free(log); /* and so does the end */
    CHECK_EQ(p.lines, 6);
    CHECK(strstr(page_text(&p), "error a  repeated=2\n") != NULL);
    CHECK(strstr(page_text(&p), "error a  repeated=1\n") != NULL);
    page_end(&p);

    o = to(page_new(&p), c);
    o.merge = 0;
    log = open_log(&o);
    for (int i = 0; i < 3; i++)
        SN_LOG(log, ERROR, "a");
    CHECK_EQ(p.lines, 3);
    seine_log_free(log);
    CHECK_EQ(p.lines, 3);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_merges_sixty_four_warnings_at_a_time_and_loses_no_count)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    seine_log *log = open_log(&o);

    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < 64; i++) {
            SN_LOG(log, WARN, "w", SN_I("n", i));
            seine_clock_fake_advance(c, 1);
        }
    CHECK_EQ(p.lines, 64);
    SN_LOG(log, WARN, "w", SN_I("n", 64)); /* the oldest makes room */
    CHECK_EQ(p.lines, 66);
    CHECK(strstr(page_text(&p), "warn  w  n=0  repeated=1\n") != NULL);
    SN_LOG(log, WARN, "w", SN_I("n", 0)); /* and is new again */
    CHECK_EQ(p.lines, 68);
    seine_log_free(log);
    CHECK_EQ(p.lines, 68 + 62);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_thread_tells_counts_when_their_window_ends)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.ring = 8192;
    seine_log *log = open_log(&o);

    seine_clock_fake_await(c, 1);
    SN_LOG(log, WARN, "a");
    seine_clock_fake_advance(c, 0); /* the thread sleeps, with nothing to tell */
    SN_LOG(log, WARN, "a");
    seine_clock_fake_advance(c, SEINE_SECS(10) - 1);
    CHECK_EQ(p.lines, 1);
    seine_clock_fake_advance(c, 1);
    CHECK_EQ(p.lines, 2);
    CHECK_STR(page_text(&p), "12:00:00 warn  a\n12:00:00 warn  a  repeated=1\n");
    seine_log_free(log);
    CHECK_EQ(p.lines, 2);
    seine_clock_fake_free(c);
    page_end(&p);
}

/* The sink holds the first line while three more fill the ring. */
TEST(log_full_ring_drops_info_and_counts_warnings)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.ring = 3;
    seine_log *log = open_log(&o);
    seine_log_stats s;

    p.is_slow = true;
    SN_LOG(log, INFO, "held");
    sem_wait(&p.entered);
    for (int i = 0; i < 5; i++)
        SN_LOG(log, INFO, "i", SN_I("n", i));
    SN_LOG(log, WARN, "w", SN_I("n", 1)); /* not written, but counted */
    SN_LOG(log, WARN, "w", SN_I("n", 1));
    SN_LOG(log, ERROR, "e");
    seine_log_stats_get(log, &s);
    CHECK_EQ(s.dropped, 2);
    CHECK_EQ(s.merged, 3);

    p.is_slow = false;
    sem_post(&p.go);
    seine_log_flush(log);
    seine_log_free(log);
    CHECK_STR(news(&p), "12:00:00 info  held\n"
                        "12:00:00 info  i  n=0\n"
                        "12:00:00 info  i  n=1\n"
                        "12:00:00 info  i  n=2\n"
                        "12:00:00 warn  log records dropped: they came faster than they "
                        "were read  dropped=2\n"
                        "12:00:00 warn  w  n=1  repeated=2\n"
                        "12:00:00 error e  repeated=1\n");
    seine_clock_fake_free(c);
    page_end(&p);
}

typedef struct flusher {
    seine_log *log;
    page *page;
    int seen; /* lines handed over when flush returned */
    atomic_bool done;
} flusher;

static void *
flush(void *arg)
{
    flusher *f = arg;

    seine_log_flush(f->log);
    f->seen = f->page->lines;
    f->done = true;
    return NULL;
}

TEST_THREADS(log_flush_waits_for_the_line_that_is_on_its_way)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.ring = 8192;
    seine_log *log = open_log(&o);
    flusher f = {.log = log, .page = &p};
    pthread_t thread;

    p.is_slow = true;
    SN_LOG(log, INFO, "held");
    sem_wait(&p.entered);
    CHECK_EQ(pthread_create(&thread, NULL, flush, &f), 0);
    while (!f.done && seine_clock_fake_parked(c) == 0)
        sched_yield();
    sem_post(&p.go);
    pthread_join(thread, NULL);
    CHECK_EQ(f.seen, 1);
    seine_log_free(log);
    seine_clock_fake_free(c);
    page_end(&p);
}

/* Every record is a line, part of a count, or counted as dropped. */
TEST(log_that_overflows_still_balances)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.ring = 2;
    seine_log *log = open_log(&o);

    p.is_slow = true;
    SN_LOG(log, INFO, "held");
    sem_wait(&p.entered);
    for (int i = 0; i < 200; i++) /* more different warnings than are kept */
        SN_LOG(log, WARN, "w", SN_I("n", i));
    seine_log_stats s;
    seine_log_stats_get(log, &s);
    CHECK_EQ(s.records[SEINE_LOG_WARN] + s.records[SEINE_LOG_INFO], 201);
    CHECK_EQ(3 + s.merged + s.dropped, 201);
    p.is_slow = false;
    sem_post(&p.go);
    seine_log_free(log);

    unsigned long long told = 0, lost = 0, lines = 0;
    sn_str rest = sn_buf_view(&p.text), line;
    while (sn_str_next(&rest, '\n', &line)) {
        char text[200];
        const char *at;
        uint64_t n = 0;

        snprintf(text, sizeof text, "%.*s", SN_FMT(line));
        lines++;
        if ((at = strstr(text, "repeated=")))
            CHECK_EQ(sn_str_u64(sn_str_of(at + 9), &n), SEINE_OK);
        told += n;
        lines -= n > 0;
        if ((at = strstr(text, " dropped="))) {
            CHECK_EQ(sn_str_u64(sn_str_of(at + 9), &n), SEINE_OK);
            lost += n;
            lines--;
        }
    }
    CHECK_EQ(lines + told + lost, 201);
    CHECK_EQ(lines, 1 + 2); /* held, and what the ring took */
    CHECK_EQ(told,
             62 + 1); /* of 64 kept two were written; the last made room once more */
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_ring_takes_lines_of_any_length_around_its_end)
{
    static char text[SN_LINE];
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    seine_log *log = open_log(&o);
    size_t want = 0;

    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < 400; i++) {
        size_t n = i * 37 % 2000;

        SN_LOG(log, INFO, "line", SN_S("f", ((sn_str){text, n + 1})));
        want += strlen("12:00:00 info  line  f=\n") + n + 1;
    }
    CHECK_EQ(p.lines, 400);
    CHECK_EQ(p.text.len, want);
    seine_log_free(log);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_writes_to_a_descriptor)
{
    int fds[2];
    char got[200];
    seine_log_opts o = SEINE_LOG_OPTS;
    seine_clock *c = clock_at_noon();

    CHECK_EQ(pipe(fds), 0);
    o.fd = fds[1];
    o.clock = c;
    seine_log *log = open_log(&o);
    SN_LOG(log, WARN, "one");
    SN_LOG(log, ERROR, "two");
    seine_log_free(log);
    close(fds[1]);
    ssize_t n = read(fds[0], got, sizeof got - 1);
    got[n > 0 ? n : 0] = '\0';
    CHECK_STR(got, "12:00:00 warn  one\n12:00:00 error two\n");
    close(fds[0]);
    seine_clock_fake_free(c);
}

typedef struct reader {
    int fd;
    long total;
} reader;

static void *
read_all(void *arg)
{
    reader *r = arg;
    char bytes[4096];

    for (ssize_t n; (n = read(r->fd, bytes, sizeof bytes)) > 0;)
        r->total += n;
    return NULL;
}

TEST_THREADS(log_waits_for_a_descriptor_that_does_not_block)
{
    int fds[2];
    static const char block[4096];
    long before = 0;
    pthread_t thread;
    seine_log_opts o = SEINE_LOG_OPTS;
    seine_clock *c = clock_at_noon();

    CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
    fcntl(fds[1], F_SETFL, O_NONBLOCK);
    for (ssize_t n; (n = write(fds[1], block, sizeof block)) > 0;)
        before += n;
    o.fd = fds[1];
    o.clock = c;
    o.ring = 0;
    seine_log *log = open_log(&o);
    reader r = {.fd = fds[0]};
    CHECK_EQ(pthread_create(&thread, NULL, read_all, &r), 0);
    SN_LOG(log, WARN, "one");
    seine_log_stats s;
    seine_log_stats_get(log, &s);
    CHECK_EQ(s.failed, 0);
    seine_log_free(log);
    close(fds[1]);
    pthread_join(thread, NULL);
    CHECK_EQ(r.total, before + (long)strlen("12:00:00 warn  one\n"));
    close(fds[0]);
    seine_clock_fake_free(c);
}

TEST(log_counts_lines_that_could_not_be_written)
{
    seine_log_opts o = SEINE_LOG_OPTS;
    seine_log_stats s;

    o.fd = 1000000; /* nobody's */
    o.ring = 0;
    seine_log *log = open_log(&o);
    SN_LOG(log, WARN, "lost");
    seine_log_stats_get(log, &s);
    CHECK_EQ(s.failed, 1);
    seine_log_free(log);
}

/* A full file takes half a line. When it has room again, the next line begins on a new
 * line. */
TEST(log_ends_a_torn_line_before_the_next)
{
    struct rlimit before, low;
    char got[200] = "";
    seine_clock *c = clock_at_noon();
    seine_log_opts o = SEINE_LOG_OPTS;
    seine_log_stats s;
    FILE *f = tmpfile();

    CHECK(f != NULL);
    if (!f)
        return;
    o.fd = fileno(f);
    o.clock = c;
    o.ring = 0;
    seine_log *log = open_log(&o);
    getrlimit(RLIMIT_FSIZE, &before);
    low = before;
    low.rlim_cur = 15;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &low);
    SN_LOG(log, WARN, "torn");
    SN_LOG(log, WARN, "lost");
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    SN_LOG(log, WARN, "whole");
    seine_log_stats_get(log, &s);
    CHECK_EQ(s.failed, 2);
    seine_log_free(log);
    ssize_t n = pread(fileno(f), got, sizeof got - 1, 0);
    got[n > 0 ? n : 0] = '\0';
    CHECK_STR(got, "12:00:00 warn  \n12:00:00 warn  whole\n");
    fclose(f);
    seine_clock_fake_free(c);
}

TEST(log_refuses_options_without_sense)
{
    static const char long_name[] = "12345678901234567890123456789012345678901234567890"
                                    "123456789012345";
    seine_log_opts rows[8];
    seine_log *log = NULL;

    for (int i = 0; i < 8; i++)
        rows[i] = (seine_log_opts)SEINE_LOG_OPTS;
    rows[0].level = (seine_log_level)6;
    rows[1].level = (seine_log_level)-1;
    rows[2].format = (seine_log_format)2;
    rows[3].fd = -1;
    rows[4].service = long_name;
    rows[5].version = long_name;
    rows[6].merge = -1;
    rows[7].ring = (1 << 20) + 1;
    EACH_ROW(i, rows) {
        CHECK_EQ(seine_log_new(&rows[i], &log), SEINE_E_INVAL);
        CHECK(!log);
    }
    rows[4].service = long_name + 1; /* 64 bytes are fine, and none are too */
    rows[4].version = NULL;
    CHECK_EQ(seine_log_new(&rows[4], &log), SEINE_OK);
    seine_log_free(log);
}

TEST(log_without_memory_is_not_made)
{
    FAIL_EACH(r)
    {
        seine_log_opts o = SEINE_LOG_OPTS;
        seine_log *log = NULL;
        seine_err e = seine_log_new(&o, &log);

        CHECK(e == SEINE_OK ? log != NULL : e == SEINE_E_NOMEM && !log);
        seine_log_free(log);
    }
}

TEST(log_writing_allocates_nothing)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    seine_log *log = open_log(&o);

    sn_buf_reserve(&p.text, 10000);
    count_begin();
    for (int i = 0; i < 50; i++)
        SN_LOG(log, WARN, "w", SN_I("n", i), SN_URL("url", "https://a:b@e.org/?sid=1"));
    CHECK_EQ(count_calls(), 0);
    count_end();
    seine_log_free(log);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST(log_levels_have_names)
{
    static const char *const names[] = {"trace", "debug", "info", "warn", "error", "off"};
    seine_log_level level = SEINE_LOG_INFO;

    EACH_ROW(i, names) {
        CHECK_STR(seine_log_level_name((seine_log_level)i), names[i]);
        CHECK(seine_log_level_parse(names[i], &level));
        CHECK_EQ(level, i);
    }
    CHECK_STR(seine_log_level_name((seine_log_level)99), "off");
    CHECK(!seine_log_level_parse("WARN", &level));
    CHECK(!seine_log_level_parse(NULL, &level));
    CHECK_EQ(level, SEINE_LOG_OFF);
}

typedef struct talker {
    seine_log *log;
    int id;
} talker;

static void *
talk(void *arg)
{
    talker *t = arg;

    for (int i = 0; i < 20; i++) {
        SN_LOG(t->log, INFO, "said", SN_I("who", t->id), SN_I("n", i));
        if (i % 8 == 0)
            seine_log_flush(t->log);
    }
    return NULL;
}

/* Whole lines, all of them, and each thread's in its order. */
static void
check_talk(uint32_t ring)
{
    page p;
    seine_clock *c = clock_at_noon();
    seine_log_opts o = to(page_new(&p), c);
    o.ring = ring;
    seine_log *log = open_log(&o);
    pthread_t threads[3];
    talker talkers[3];
    int heard[3] = {0};

    for (int i = 0; i < 3; i++) {
        talkers[i] = (talker){log, i};
        CHECK_EQ(pthread_create(&threads[i], NULL, talk, &talkers[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    seine_log_free(log);

    sn_str rest = sn_buf_view(&p.text), line;
    while (sn_str_next(&rest, '\n', &line)) {
        const size_t at = strlen("12:00:00 info  said  who=");
        int who = line.len > at ? line.ptr[at] - '0' : -1;
        char want[80];

        CHECK(who >= 0 && who < 3);
        if (who < 0 || who >= 3)
            break;
        snprintf(want, sizeof want, "12:00:00 info  said  who=%d n=%d", who,
                 heard[who]++);
        CHECK(sn_str_eq(line, sn_str_of(want)));
    }
    for (int i = 0; i < 3; i++)
        CHECK_EQ(heard[i], 20);
    seine_clock_fake_free(c);
    page_end(&p);
}

TEST_THREADS(log_threads_share_one_writer)
{
    check_talk(8192);
}

TEST_THREADS(log_threads_share_the_work_without_one)
{
    check_talk(0);
}
