/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged state: what can be read is saved, and a run can go on with it. */
#include "seine/job_repair.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "seine/job_view.h"
#include "store/job_parts.h"

enum { URLS = 2000, PAGE = 8192 };

typedef struct place {
    char dir[64], db[128];
    seine_diag diag;
    seine_job_repaired got;
} place;

static seine_err
open_job(place *p, seine_durable_job **out)
{
    seine_job_opts o = SEINE_JOB_OPTS;

    o.state = p->dir;
    o.name = "j";
    return seine_job_open(&o, out, &p->diag);
}

/* URLs of ten hosts; all but every fourth have ended. */
static void
fill(place *p)
{
    seine_durable_job *j;
    seine_fault fault = SEINE_FAULT;
    char path[64], host[64];

    *p = (place){.dir = "/dev/shm/seine-repair-XXXXXX"};
    if (!mkdtemp(p->dir)) {
        snprintf(p->dir, sizeof p->dir, "/tmp/seine-repair-XXXXXX");
        CHECK(mkdtemp(p->dir) != NULL);
    }
    snprintf(p->db, sizeof p->db, "%s/j/job.db", p->dir);
    CHECK_EQ(open_job(p, &j), SEINE_OK);
    CHECK_EQ(sn_job_start(j, 1), SEINE_OK);
    for (uint64_t i = 0; i < URLS; i++) {
        snprintf(host, sizeof host, "http://h%d.example:80", (int)(i % 10));
        snprintf(path, sizeof path, "/page/%d", (int)i);
        sn_job_url u = {
            .url = {.host = sn_str_of(host), .target = sn_str_of(path), .number = i},
            .print = i + 1,
            .parent_number = i > 0 ? i / 2 : SN_JOB_NONE};
        seine_record r = {.type = SEINE_RECORD_RESULT, .number = i, .fault = &fault};

        CHECK_EQ(sn_job_found(sn_job_lane_at(j, 0), &u), SEINE_OK);
        if (i % 4 != 0)
            CHECK_EQ(sn_job_result(j, &r, i + 1), SEINE_OK);
    }
    CHECK_EQ(seine_job_close(j, false), SEINE_OK);
}

static void
remove_all(place *p)
{
    CHECK_EQ(seine_job_remove(p->dir, "j", &p->diag), SEINE_OK);
    CHECK_EQ(rmdir(p->dir), 0);
}

static void
overwrite(const place *p, off_t at, size_t n)
{
    char noise[PAGE];
    int fd = open(p->db, O_RDWR);

    memset(noise, 0x5a, sizeof noise);
    CHECK_EQ(pwrite(fd, noise, n, at), (ssize_t)n);
    close(fd);
}

static off_t
size_of(const place *p)
{
    struct stat st = {.st_size = 0};

    CHECK_EQ(stat(p->db, &st), 0);
    return st.st_size;
}

static seine_err
note_url(const sn_job_url *u, void *arg)
{
    char path[64];
    uint64_t *n = arg;

    snprintf(path, sizeof path, "/page/%d", (int)u->url.number);
    CHECK(sn_str_eq(u->url.target, sn_str_of(path)));
    ++*n;
    return SEINE_OK;
}

/* The job opens, and what waits is what it was. Returns how much waits. */
static uint64_t
scan(place *p)
{
    seine_durable_job *j;
    uint64_t n = 0;
    sn_job_scan into = {.url = note_url, .arg = &n};

    CHECK_EQ(open_job(p, &j), SEINE_OK);
    CHECK_EQ(sn_job_scan_all(j, &into, &p->diag), SEINE_OK);
    CHECK_EQ(sn_job_start(j, 1), SEINE_OK);
    CHECK_EQ(seine_job_close(j, false), SEINE_OK);
    return n;
}

TEST(job_repair_leaves_a_sound_job_alone)
{
    place p;

    fill(&p);
    CHECK_EQ(seine_job_repair(p.dir, "j", &p.got, &p.diag), SEINE_OK);
    CHECK(p.got.is_sound);
    CHECK_EQ(scan(&p), URLS / 4);
    CHECK_EQ(seine_job_repair(p.dir, "none", &p.got, &p.diag), SEINE_E_IO);
    CHECK_STR(p.diag.text, "there is no job 'none'");
    remove_all(&p);
}

TEST(job_repair_saves_all_but_the_damaged_page)
{
    place p;
    unsigned broken = 0, saved = 0;

    fill(&p);
    off_t size = size_of(&p);
    remove_all(&p);
    for (off_t page = 1; page < size / PAGE; page += 3) {
        seine_durable_job *j;

        fill(&p);
        overwrite(&p, page * PAGE, 600);
        bool is_refused = open_job(&p, &j) != SEINE_OK;
        if (!is_refused) {
            static const sn_job_scan nothing;
            is_refused = sn_job_scan_all(j, &nothing, &p.diag) != SEINE_OK;
            j->err = SEINE_E_CANCELED;
            (void)seine_job_close(j, false);
        }
        seine_err e = seine_job_repair(p.dir, "j", &p.got, &p.diag);
        broken += is_refused;
        if (e == SEINE_OK && !p.got.is_sound) {
            saved++;
            uint64_t waits = scan(&p);
            CHECK(waits >= p.got.urls - p.got.results);
            CHECK(p.got.urls <= URLS && p.got.results <= URLS - URLS / 4);
            if (!p.got.has_guessed && p.got.others_lost == 0)
                CHECK_EQ(p.got.urls + p.got.urls_lost, URLS);
            CHECK(p.got.urls + p.got.results > URLS / 2);
        } else if (e != SEINE_OK) {
            CHECK_EQ(e, SEINE_E_STATE_CORRUPT);
            CHECK(strstr(p.diag.text, "nothing can be saved") != NULL);
        }
        CHECK(e != SEINE_OK || !p.got.is_sound || !is_refused);
        remove_all(&p);
    }
    CHECK(broken > 3);
    CHECK(saved > 3);
}

TEST(job_repair_a_result_that_is_lost_makes_work_again)
{
    place p;
    seine_durable_job *j;

    fill(&p);
    CHECK_EQ(open_job(&p, &j), SEINE_OK);
    CHECK_EQ(sn_sqlite_exec(j->db, "UPDATE results SET crc = crc + 1 WHERE pack = 1; "
                                   "UPDATE urls SET crc = crc + 1 WHERE pack = 124"),
             SEINE_OK);
    j->err = SEINE_E_CANCELED;
    (void)seine_job_close(j, false);
    CHECK_EQ(seine_job_repair(p.dir, "j", &p.got, &p.diag), SEINE_OK);
    /* A pack has sixteen keys; a quarter of the URLs has no result and is waiting. */
    CHECK_EQ(p.got.results_lost, 12);
    CHECK_EQ(p.got.urls_lost, 16);
    CHECK_EQ(p.got.others_lost, 0);
    CHECK_EQ(scan(&p), URLS / 4 + 12 - 4);
    remove_all(&p);
}

TEST(job_repair_needs_the_beginning_and_a_job_that_nobody_has)
{
    place p;
    seine_durable_job *j;

    fill(&p);
    CHECK_EQ(open_job(&p, &j), SEINE_OK);
    CHECK_EQ(seine_job_repair(p.dir, "j", &p.got, &p.diag), SEINE_E_STATE_LOCKED);
    CHECK_EQ(seine_job_close(j, false), SEINE_OK);
    overwrite(&p, 0, 200);
    CHECK_EQ(seine_job_repair(p.dir, "j", &p.got, &p.diag), SEINE_E_STATE_FOREIGN);
    CHECK_EQ(truncate(p.db, 50), 0);
    CHECK_EQ(seine_job_repair(p.dir, "j", &p.got, &p.diag), SEINE_E_STATE_CORRUPT);
    remove_all(&p);
}
