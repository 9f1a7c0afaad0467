/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "diag_line.h"
#include "failing.h"
#include "seine/plumbing.h"

enum { MOST = 20000 };

/* What the callback was called with, and what it returns. */
typedef struct heard {
    uint64_t numbers[MOST], seqs[MOST];
    size_t n, fail_at; /* fail_at: at the n-th call, from 1 on; 0 never */
    _Atomic int failed;
    seine_err failure;
    _Atomic int rooms;
} heard;

static seine_err
hear(const seine_record *r, uint64_t seq, void *arg)
{
    heard *h = arg;

    if (h->n + 1 == h->fail_at)
        return SEINE_E_IO;
    if (h->n < MOST) {
        h->numbers[h->n] = r->number;
        h->seqs[h->n++] = seq;
    }
    return SEINE_OK;
}

static void
failed(seine_err e, void *arg)
{
    heard *h = arg;

    h->failure = e;
    atomic_fetch_add(&h->failed, 1);
}

static void
room(void *arg)
{
    atomic_fetch_add(&((heard *)arg)->rooms, 1);
}

static seine_sinks *
fresh(const seine_sinks_opts *opts, heard *h)
{
    seine_sinks_opts o = SEINE_SINKS_OPTS;
    seine_sinks *s = NULL;

    if (opts)
        o = *opts;
    o.room = room;
    o.failed = failed;
    o.arg = h;
    CHECK_EQ(seine_sinks_new(&o, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = SEINE_SINK_CALL,
                                                 .call = hear,
                                                 .arg = h},
                              NULL),
             SEINE_OK);
    return s;
}

static void
put(seine_sinks *s, unsigned lane, uint64_t number)
{
    CHECK_EQ(seine_sinks_put(s, lane, &(seine_record){.number = number}), SEINE_OK);
}

TEST(sink_options_out_of_range_are_refused)
{
    static const seine_sinks_opts bad[] = {
        {sizeof(seine_sinks_opts), false, 1, 0, NULL, NULL, NULL, NULL},
        {sizeof(seine_sinks_opts), false, 1, 5000, NULL, NULL, NULL, NULL},
        {sizeof(seine_sinks_opts), false, 1, 2048, NULL, NULL, NULL, NULL},
        {sizeof(seine_sinks_opts), true, 0, 4096, NULL, NULL, NULL, NULL},
    };
    seine_diag diag = SEINE_DIAG;
    seine_sinks *s = NULL;

    EACH_ROW(i, bad)
        CHECK_EQ(seine_sinks_new(&bad[i], &s), SEINE_E_INVAL);
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = SEINE_SINK_CALL},
                              &diag),
             SEINE_E_INVAL);
    CHECK_STR(diag_line(&diag), "invalid argument");
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .fd = -1,
                                                 .format = SEINE_SINK_JSONL},
                              &diag),
             SEINE_E_IO);
    CHECK_STR(diag_line(&diag), "cannot open the output: bad file descriptor");
    CHECK_EQ(
        seine_sinks_open(
            s, &(seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "-"}, &diag),
        SEINE_E_INVAL);
    CHECK_STR(diag_line(&diag), "standard output has no name that tells its format");
    CHECK_EQ(seine_sinks_put(s, 0, &(seine_record){0}), SEINE_E_INVAL);
    CHECK(!seine_sinks_poll(s, 0));
    CHECK_EQ(seine_sinks_start(s, 0), SEINE_E_INVAL);
    CHECK_EQ(seine_sinks_start(s, 2), SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 2), SEINE_E_INVAL);
    CHECK_EQ(seine_sinks_open(
                 s,
                 &(seine_sink_opts){.size = sizeof(seine_sink_opts), .path = "x.jsonl"},
                 &diag),
             SEINE_E_INVAL);
    CHECK_EQ(seine_sinks_put(s, 2, &(seine_record){0}), SEINE_E_INVAL);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);
    seine_sinks_free(NULL);
}

TEST(sink_gives_every_record_of_a_lane_its_seq_in_order)
{
    static heard h;
    seine_sinks_stats stats;

    h.n = 0;
    seine_sinks *s = fresh(NULL, &h);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    for (uint64_t i = 0; i < MOST; i++)
        put(s, 0, 1000 + i);
    CHECK_EQ(seine_sinks_drain(s), SEINE_OK);
    CHECK_EQ(h.n, MOST);
    for (size_t i = 0; i < h.n; i++) {
        CHECK_EQ(h.numbers[i], 1000 + i);
        CHECK_EQ(h.seqs[i], i + 1);
    }
    seine_sinks_stats_get(s, &stats);
    CHECK_EQ(stats.records, MOST);
    CHECK_EQ(stats.seq, MOST);
    CHECK_EQ(seine_sinks_err(s, NULL), SEINE_OK);
    seine_sinks_free(s);
}

typedef struct shard {
    seine_sinks *s;
    unsigned lane;
} shard;

enum { EACH = 400 };

static void *
put_many(void *arg)
{
    shard *d = arg;

    for (uint64_t i = 0; i < EACH; i++)
        put(d->s, d->lane, d->lane * EACH + i);
    return NULL;
}

TEST_THREADS(sink_takes_from_several_lanes_each_in_its_order)
{
    static heard h;
    enum { LANES = 3 };
    uint64_t next[LANES] = {0};
    pthread_t threads[LANES];
    shard shards[LANES];

    h.n = 0;
    seine_sinks *s = fresh(&(seine_sinks_opts){.size = sizeof(seine_sinks_opts),
                                               .window = 1,
                                               .ring_size = 8192},
                           &h);
    CHECK_EQ(seine_sinks_start(s, LANES), SEINE_OK);
    for (unsigned i = 0; i < LANES; i++) {
        shards[i] = (shard){s, i};
        pthread_create(&threads[i], NULL, put_many, &shards[i]);
    }
    for (unsigned i = 0; i < LANES; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    CHECK_EQ(h.n, LANES * EACH);
    for (size_t i = 0; i < h.n; i++) {
        size_t lane = h.numbers[i] / EACH;

        CHECK_EQ(h.numbers[i] % EACH, next[lane]++);
        CHECK_EQ(h.seqs[i], i + 1);
    }
    seine_sinks_free(s);
}

TEST_THREADS(sink_ordered_is_by_number_whatever_the_lane)
{
    static heard h;
    enum { MANY = 600 };
    uint64_t numbers[MANY];
    sn_rng rng = sn_rng_seed(check_seed());

    for (uint64_t i = 0; i < MANY; i++)
        numbers[i] = i;
    for (size_t i = MANY - 1; i > 0; i--) {
        size_t k = sn_rng_below(&rng, i + 1);
        uint64_t swap = numbers[i];

        numbers[i] = numbers[k];
        numbers[k] = swap;
    }
    h.n = 0;
    seine_sinks *s = fresh(&(seine_sinks_opts){.size = sizeof(seine_sinks_opts),
                                               .ordered = true,
                                               .window = 10,
                                               .ring_size = 8192},
                           &h);
    CHECK_EQ(seine_sinks_start(s, 2), SEINE_OK);
    for (size_t i = 0; i < MANY; i++)
        put(s, i % 2, numbers[i]);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    CHECK_EQ(h.n, MANY);
    for (size_t i = 0; i < h.n; i++) {
        CHECK_EQ(h.numbers[i], i);
        CHECK_EQ(h.seqs[i], i + 1);
    }
    seine_sinks_free(s);
}

/* Returns when so many are written. */
static void
settle(seine_sinks *s, size_t n)
{
    seine_sinks_stats stats;

    do
        seine_sinks_stats_get(s, &stats);
    while (stats.records < n);
}

TEST(sink_ordered_is_not_ready_while_its_window_is_full)
{
    static heard h;

    h.n = 0;
    atomic_store(&h.rooms, 0);
    seine_sinks *s = fresh(&(seine_sinks_opts){.size = sizeof(seine_sinks_opts),
                                               .ordered = true,
                                               .window = 3,
                                               .ring_size = 65536},
                           &h);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    put(s, 0, 0);
    settle(s, 1);
    for (uint64_t i = 2; i < 5; i++)
        put(s, 0, i);
    while (seine_sinks_poll(s, 0))
        continue;
    CHECK_EQ(seine_sinks_due(s), 1);
    CHECK_EQ(atomic_load(&h.rooms), 0);
    put(s, 0, 1); /* the one they wait for is never refused */
    while (atomic_load(&h.rooms) == 0)
        continue;
    CHECK(seine_sinks_poll(s, 0));
    CHECK_EQ(seine_sinks_due(s), 5);

    put(s, 0, 8); /* a drain does not wait for gaps; what comes late is written at once */
    CHECK_EQ(seine_sinks_drain(s), SEINE_OK);
    put(s, 0, 6);
    put(s, 0, 9);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    static const uint64_t want[] = {0, 1, 2, 3, 4, 8, 6, 9};
    CHECK_EQ(h.n, 8);
    EACH_ROW(i, want)
        CHECK_EQ(h.numbers[i], want[i]);
    seine_sinks_free(s);
}

TEST_THREADS(sink_failure_is_told_once_and_the_rest_dropped)
{
    static heard h;
    seine_diag diag = SEINE_DIAG;

    h = (heard){.fail_at = 51};
    seine_sinks *s = fresh(NULL, &h);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    for (uint64_t i = 0; i < 200; i++)
        put(s, 0, i);
    CHECK_EQ(seine_sinks_drain(s), SEINE_E_IO);
    put(s, 0, 1);
    CHECK(seine_sinks_poll(s, 0));
    CHECK_EQ(seine_sinks_line(s, "event", "", 0), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_E_IO);
    CHECK_EQ(seine_sinks_err(s, &diag), SEINE_E_IO);
    CHECK_STR(diag_line(&diag), "local input or output failed");
    CHECK_EQ(h.failed, 1);
    CHECK_EQ(h.failure, SEINE_E_IO);
    CHECK_EQ(h.n, 50);
    seine_sinks_free(s);
}

/* A file without a name, open for the caller. */
static char *
content(int fd)
{
    off_t n = lseek(fd, 0, SEEK_END);
    char *text = calloc(1, (size_t)n + 1);

    CHECK_EQ(pread(fd, text, (size_t)n, 0), n);
    return text;
}

TEST(sink_writes_lines_of_json_and_csv_to_all_outputs)
{
    int jsonl = memfd_create("jsonl", MFD_CLOEXEC),
        csv = memfd_create("csv", MFD_CLOEXEC);
    int raw = memfd_create("raw", MFD_CLOEXEC), few = memfd_create("few", MFD_CLOEXEC);
    seine_sinks *s = NULL;
    seine_record r = {
        .wall = 0, .url = {"http://a/", 9}, .content_length = -1, .body = {"B\nB", 3}};
    seine_sink_opts chosen = {.size = sizeof(seine_sink_opts),
                              .format = SEINE_SINK_JSONL,
                              .fd = few,
                              .no_skips = true};

    CHECK_EQ(seine_members_parse("seq,url", &chosen.fields, NULL), SEINE_OK);
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = SEINE_SINK_JSONL,
                                                 .fd = jsonl},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = SEINE_SINK_CSV,
                                                 .fd = csv},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = SEINE_SINK_RAW,
                                                 .fd = raw},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_open(s, &chosen, NULL), SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    r.type = SEINE_RECORD_SKIP;
    CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    r.type = SEINE_RECORD_RESULT;
    r.fate = SEINE_FATE_TIMEOUT;
    CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    CHECK_EQ(seine_sinks_line(s, "sum\"", "\"total\":3", 9), SEINE_OK);
    CHECK_EQ(seine_sinks_line(s, "x", "\n", 1), SEINE_E_INVAL);
    CHECK_EQ(seine_sinks_line(s, "bare", NULL, 0), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);

    char *text = content(jsonl), *line = text;
    for (int i = 1; i <= 5; i++) {
        char *end = strchr(line, '\n');
        seine_json *json = NULL;
        int64_t seq = 0;

        CHECK_EQ(seine_json_parse(line, (size_t)(end - line), &json, NULL), SEINE_OK);
        CHECK(seine_json_int(seine_json_get(json, "seq"), &seq));
        CHECK_EQ(seq, i);
        CHECK_EQ(seine_json_get(json, "total") != NULL, i == 4);
        seine_json_free(json);
        line = end + 1;
    }
    CHECK_STR(line, "");
    CHECK(strstr(text, "{\"v\":1,\"type\":\"sum\\\"\",\"seq\":4,\"ts\":\"2"));
    free(text);

    text = content(csv);
    CHECK_EQ(strncmp(text, "seq,ts,", 7), 0);
    CHECK(strstr(text, "\n1,1970-01-01T00:00:00.000000Z,,http://a/,,ok,"));
    CHECK(strstr(text, "\n2,1970-01-01T00:00:00.000000Z,,http://a/,,skip,"));
    CHECK(strstr(text, "\n3,1970-01-01T00:00:00.000000Z,,http://a/,,timeout,"));
    free(text);
    text = content(raw);
    CHECK_STR(text, "B\nB");
    free(text);
    text = content(few);
    CHECK_EQ(
        strncmp(text,
                "{\"seq\":1,\"url\":\"http://a/\"}\n{\"seq\":3,\"url\":\"http://a/\"}\n",
                56),
        0);
    free(text);
    seine_sinks_free(s);
    CHECK(fcntl(jsonl, F_GETFL) >= 0); /* stays the caller's */
    close(jsonl);
    close(csv);
    close(raw);
    close(few);
}

TEST(sink_line_has_room_for_a_type_of_escapes)
{
    int jsonl = memfd_create("jsonl", MFD_CLOEXEC);
    char type[101];
    seine_sinks *s;

    memset(type, 1, sizeof type - 1);
    type[sizeof type - 1] = '\0';
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = SEINE_SINK_JSONL,
                                                 .fd = jsonl},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    CHECK_EQ(seine_sinks_line(s, type, "\"total\":3", 9), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);

    char *text = content(jsonl);
    size_t n = strlen(text);

    CHECK(n > 20 && strcmp(text + n - 12, ",\"total\":3}\n") == 0);
    free(text);
    seine_sinks_free(s);
}

/* A body of many megabytes is one line like any other. */
TEST(sink_writes_records_that_are_larger_than_every_buffer)
{
    enum { BIG = 3 << 20 };
    int fd = memfd_create("jsonl", MFD_CLOEXEC);
    char *body = malloc(BIG);
    seine_sinks *s = NULL;
    seine_record r = {.url = {"u", 1}, .body = {body, BIG}, .content_length = -1};
    seine_record small = {.url = {"v", 1}, .content_length = -1};

    memset(body, 'x', BIG);
    CHECK_EQ(seine_sinks_new(NULL, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = SEINE_SINK_JSONL,
                                                 .fd = fd,
                                                 .body = SEINE_BODY_TEXT},
                              NULL),
             SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(seine_sinks_put(s, 0, &small), SEINE_OK);
        CHECK_EQ(seine_sinks_put(s, 0, &r), SEINE_OK);
    }
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);

    char *text = content(fd), *line = text;
    for (int i = 0; i < 6; i++) {
        char *end = strchr(line, '\n');
        seine_json *json = NULL;
        const char *bytes;
        size_t n = 0;

        CHECK_EQ(seine_json_parse(line, (size_t)(end - line), &json, NULL), SEINE_OK);
        CHECK_EQ(seine_json_string(seine_json_get(json, "body"), &bytes, &n), i % 2 == 1);
        CHECK_EQ(n, i % 2 ? BIG : 0);
        seine_json_free(json);
        line = end + 1;
    }
    CHECK_STR(line, "");
    free(text);
    free(body);
    close(fd);
}

TEST(sink_without_memory_says_so)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    char body[5000];

    memset(body, 'x', sizeof body);
    FAIL_EACH(n)
    {
        seine_sinks *s = NULL;
        seine_sinks_opts o = {.size = sizeof(seine_sinks_opts),
                              .ordered = true,
                              .window = 4,
                              .ring_size = 4096};
        seine_record r = {.url = {"u", 1}, .body = {body, sizeof body}, .number = 1};
        seine_err e = seine_sinks_new(&o, &s);

        if (e == SEINE_OK)
            e = seine_sinks_open(s,
                                 &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                    .format = SEINE_SINK_JSONL,
                                                    .fd = null},
                                 NULL);
        if (e == SEINE_OK)
            e = seine_sinks_start(s, 2);
        if (e == SEINE_OK)
            e = seine_sinks_put(s, 0, &r);
        r.number = 0;
        r.body.len = 0;
        if (e == SEINE_OK)
            e = seine_sinks_put(s, 1, &r);
        if (e == SEINE_OK)
            e = seine_sinks_line(s, "summary", "\"a\":1", 5);
        if (e == SEINE_OK)
            e = seine_sinks_close(s);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_sinks_free(s);
    }
    close(null);
}
