/* SPDX-License-Identifier: Apache-2.0 */
/* A job whose files were damaged: refused, or read as it was. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/rng.h"
#include "check.h"
#include "store/job_parts.h"
#include "store/record_hold.h"

enum { URLS = 400, PAGE = 8192, MOST = 1 << 20 };

static char dir[64], state[96];
static char bytes[MOST];

static void
make_dir(void)
{
    snprintf(dir, sizeof dir, "/dev/shm/seine-damage-XXXXXX"); /* where a sync is quick */
    if (!mkdtemp(dir)) {
        snprintf(dir, sizeof dir, "/tmp/seine-damage-XXXXXX");
        CHECK(mkdtemp(dir) != NULL);
    }
    snprintf(state, sizeof state, "%s/state", dir);
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
open_job(seine_durable_job **out)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_diag diag = SEINE_DIAG;

    o.state = state;
    o.name = "j";
    seine_err e = seine_job_open(&o, out, &diag);
    if (e != SEINE_OK)
        CHECK(diag.text[0] != '\0');
    return e;
}

static void
drop_job(seine_durable_job *j)
{
    j->err = SEINE_E_CANCELED; /* nothing more is written */
    CHECK_EQ(seine_job_close(j, false), SEINE_E_CANCELED);
}

/* What the scan tells, as one number. */
static void
mix(uint64_t *sum, const void *p, size_t n)
{
    *sum = *sum * UINT64_C(0x9E3779B97F4A7C15) + sn_crc32((uint32_t)*sum, p, n);
}

static seine_err
on_url(const sn_job_url *u, void *arg)
{
    uint64_t n[] = {u->url.number, u->print, u->parent_number, u->url.depth, u->url.line};

    mix(arg, n, sizeof n);
    mix(arg, u->url.target.ptr, u->url.target.len);
    mix(arg, u->url.host.ptr, u->url.host.len);
    mix(arg, u->url.parent.ptr, u->url.parent.len);
    return SEINE_OK;
}

static seine_err
on_ended(const sn_job_ended_row *r, void *arg)
{
    uint64_t n[] = {r->seq, r->number, r->status, r->bytes_in, (uint64_t)r->at_ms};

    mix(arg, n, sizeof n);
    return SEINE_OK;
}

static seine_err
on_host(const sn_job_host *h, void *arg)
{
    mix(arg, h->name.ptr, h->name.len);
    mix(arg, &h->next_ms, sizeof h->next_ms);
    return SEINE_OK;
}

static seine_err
on_note(uint32_t kind, sn_str key, sn_str value, void *arg)
{
    mix(arg, &kind, sizeof kind);
    mix(arg, key.ptr, key.len);
    mix(arg, value.ptr, value.len);
    return SEINE_OK;
}

/* What a shard would read of pages. */
static seine_err
scan_pages(seine_durable_job *j, uint64_t *out)
{
    sn_job_reader *reader = NULL;
    sn_arena mem;
    seine_err e = sn_job_reader_new(j, &reader);

    sn_arena_init(&mem, 4096, SIZE_MAX);
    for (uint64_t i = 0; i < URLS && e == SEINE_OK; i++) {
        sn_job_page page;
        bool there = false;

        e = sn_job_reader_page(reader, i, &mem, &page, &there);
        if (e != SEINE_OK || !there)
            continue;
        mix(out, &page.seen_ms, sizeof page.seen_ms);
        mix(out, page.etag.ptr, page.etag.len);
        mix(out, page.body.ptr, page.body.len);
    }
    sn_job_reader_free(reader);
    sn_arena_fini(&mem);
    return e;
}

static seine_err
scan(seine_durable_job *j, uint64_t *out)
{
    sn_job_scan into = {
        .url = on_url, .ended = on_ended, .host = on_host, .note = on_note, .arg = out};
    seine_diag diag = SEINE_DIAG;

    *out = 1;
    seine_err e = sn_job_scan_all(j, &into, &diag);
    if (e == SEINE_OK)
        e = scan_pages(j, out);
    if (e == SEINE_OK)
        mix(out, &j->head.next_seq, sizeof j->head.next_seq);
    if (e == SEINE_OK)
        mix(out, &j->round, sizeof j->round);
    for (unsigned i = 0; e == SEINE_OK && i < j->n_outputs; i++)
        mix(out, &j->outputs[i]->out.committed, sizeof(int64_t));
    return e;
}

static void
put_group(seine_durable_job *j, uint64_t from, uint64_t n)
{
    sn_job_lane *l = sn_job_lane_at(j, 0);
    seine_fault fault = SEINE_FAULT;
    char path[64];

    for (uint64_t i = from; i < from + n; i++) {
        int len = snprintf(path, sizeof path, "/some/where/page-%llu.html",
                           (unsigned long long)i * 7919);
        sn_job_url u = {.url = {.host = i % 3 ? SN_STR("http://a.example:80")
                                              : SN_STR("https://b.example:443"),
                                .target = {path, (size_t)len},
                                .number = i,
                                .depth = 3},
                        .print = i * UINT64_C(0x9E3779B97F4A7C15),
                        .parent_number = i > 0 ? i / 2 : SN_JOB_NONE};
        seine_record r = {.number = i, .fault = &fault, .status = 200, .bytes_in = i};
        sn_job_page page = {.number = i,
                            .status = 200,
                            .seen_ms = (int64_t)i,
                            .etag = {path, (size_t)len},
                            .body = SN_STR("0123456789abcdef")};
        sn_record_hold hold = {.refs = 1};
        sn_buf packed;

        sn_buf_init(&packed, SIZE_MAX - 1);
        if (i % 4 == 0) {
            hold.page = sn_job_page_pack(&page, &packed);
            r.hold = &hold;
        }
        CHECK_EQ(sn_job_found(l, &u), SEINE_OK);
        if (i % 2 == 0)
            CHECK_EQ(sn_job_result(j, &r, i + 1), SEINE_OK);
        sn_buf_fini(&packed);
    }
    CHECK_EQ(sn_job_note_put(l, 1, SN_STR("k"), SN_STR("value")), SEINE_OK);
    CHECK_EQ(sn_job_output_set(j, &(sn_job_output){.path = SN_STR("/x"),
                                                   .ino = 5,
                                                   .committed = (int64_t)from}),
             SEINE_OK);
    CHECK_EQ(sn_job_commit(j, NULL), SEINE_OK);
}

static void
file_name(const char *name, char out[128])
{
    snprintf(out, 128, "%s/j/%s", state, name);
}

static size_t
read_file(const char *name)
{
    char path[128];

    file_name(name, path);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes) : 0;

    if (fd >= 0)
        (void)close(fd);
    return n > 0 ? (size_t)n : 0;
}

static void
write_file(const char *name, size_t n)
{
    char path[128];

    file_name("job.db-wal", path);
    (void)unlink(path);
    file_name("job.db-shm", path);
    (void)unlink(path);
    file_name(name, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    (void)close(fd);
}

static bool
is_refusal(seine_err e)
{
    return e == SEINE_E_STATE_CORRUPT || e == SEINE_E_STATE_FOREIGN ||
           e == SEINE_E_STATE_NEWER || e == SEINE_E_IO;
}

/* Opens and reads what is there. True: refused. */
static bool
is_refused(uint64_t *out_sum)
{
    seine_durable_job *j = NULL;
    seine_err e = open_job(&j);

    if (e == SEINE_OK) {
        e = scan(j, out_sum);
        drop_job(j);
    }
    CHECK(e == SEINE_OK || is_refusal(e));
    return e != SEINE_OK;
}

static uint64_t
make_job(void)
{
    seine_durable_job *j = NULL;
    uint64_t sum = 0;

    make_dir();
    CHECK_EQ(open_job(&j), SEINE_OK);
    CHECK_EQ(sn_job_start(j, 1), SEINE_OK);
    put_group(j, 0, URLS / 2);
    put_group(j, URLS / 2, URLS / 2);
    CHECK_EQ(seine_job_close(j, false), SEINE_OK);
    CHECK(!is_refused(&sum));
    CHECK_EQ(open_job(&j), SEINE_OK); /* back into one file */
    CHECK_EQ(seine_job_close(j, false), SEINE_OK);
    return sum;
}

TEST(job_damage_of_one_bit_is_refused_or_harmless)
{
    uint64_t sum = make_job();
    sn_rng rng = sn_rng_seed(check_seed());
    size_t n = read_file("job.db");
    unsigned refused = 0, all = 0;

    CHECK(n > 4 * PAGE && n < MOST);
    for (size_t page = 0; page < n / PAGE; page++)
        for (int k = 0; k < 8; k++) {
            uint64_t now = 0;
            size_t at = page * PAGE + (size_t)sn_rng_below(&rng, PAGE);
            char bit = (char)(1 << sn_rng_below(&rng, 8));

            bytes[at] ^= bit;
            write_file("job.db", n);
            bytes[at] ^= bit;
            all++;
            if (is_refused(&now))
                refused++;
            else if (now != sum)
                check_fail(__FILE__, __LINE__, "byte %zu, bit %d: another result", at,
                           bit);
        }
    CHECK(refused > all / 20); /* it is not that nothing is looked at */
    remove_dir();
}

TEST(job_damage_by_a_cut_is_refused_or_harmless)
{
    uint64_t sum = make_job();
    size_t n = read_file("job.db");

    for (size_t at = 0; at < n; at += PAGE / 2) {
        uint64_t now = 0;

        write_file("job.db", at);
        CHECK(is_refused(&now) || now == sum);
    }
    remove_dir();
}

TEST(job_damage_of_the_wal_leaves_a_state_that_was_committed)
{
    seine_durable_job *j = NULL;
    uint64_t sums[3] = {0}, now;
    sn_rng rng = sn_rng_seed(check_seed());
    char path[128];

    make_dir();
    CHECK_EQ(open_job(&j), SEINE_OK);
    CHECK_EQ(seine_job_close(j, false), SEINE_OK);
    CHECK(!is_refused(&sums[0]));
    CHECK_EQ(open_job(&j), SEINE_OK);
    CHECK_EQ(sn_job_start(j, 1), SEINE_OK);
    put_group(j, 0, 20);
    put_group(j, 20, 20);
    /* as kill -9 leaves it */
    size_t db = read_file("job.db");
    char *kept = calloc(1, db + 1);
    CHECK(kept && db > 0);
    memcpy(kept, bytes, db);
    size_t wal = read_file("job.db-wal");
    CHECK(wal > PAGE);
    char *log = calloc(1, wal + 1);
    memcpy(log, bytes, wal);
    drop_job(j);
    for (int k = -1; k < 60; k++) {
        memcpy(bytes, kept, db);
        write_file("job.db", db);
        file_name("job.db-wal", path);
        FILE *f = fopen(path, "w");
        size_t at = k < 0 ? 0 : sn_rng_below(&rng, wal);
        char bit = (char)(k < 0 ? 0 : 1 << sn_rng_below(&rng, 8));

        log[at] ^= bit;
        CHECK(f && fwrite(log, 1, wal, f) == wal);
        fclose(f);
        log[at] ^= bit;
        now = 0;
        bool refused = is_refused(&now);
        if (k < 0) {
            CHECK(!refused);
            sums[2] = now;
        }
        if (!refused && now != sums[2] && now != sums[0])
            sums[1] = sums[1] == 0 ? now : sums[1];
        CHECK(refused || now == sums[0] || now == sums[1] || now == sums[2]);
    }
    free(kept);
    free(log);
    remove_dir();
}

static void
set_head(size_t at, uint32_t value, size_t n)
{
    for (int i = 0; i < 4; i++)
        bytes[at + (size_t)i] = (char)(value >> (24 - 8 * i));
    write_file("job.db", n);
}

TEST(job_of_another_program_or_a_newer_version_is_left_alone)
{
    seine_durable_job *j = NULL;

    make_job();
    size_t n = read_file("job.db");
    set_head(60, SN_JOB_FORMAT + 1, n);
    CHECK_EQ(open_job(&j), SEINE_E_STATE_NEWER);
    set_head(60, SN_JOB_FORMAT, n);
    set_head(68, 0x12345678, n);
    CHECK_EQ(open_job(&j), SEINE_E_STATE_FOREIGN);
    memcpy(bytes,
           "a text of mine, not a database at all .........................."
           "..........................................................",
           120);
    write_file("job.db", 120);
    CHECK_EQ(open_job(&j), SEINE_E_STATE_FOREIGN);
    CHECK_EQ(read_file("job.db"), 120); /* and nothing was changed */
    CHECK(memcmp(bytes, "a text of mine", 14) == 0);
    remove_dir();
}
