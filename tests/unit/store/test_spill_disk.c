/* SPDX-License-Identifier: Apache-2.0 */
/* A store whose disk fails: nothing that can be read is lost, what cannot is counted, and
 * commit says so from then on. */
#include "store/spill_disk.h"

#include <stdio.h>
#include <unistd.h>

#include "fake_disk.h"
#include "store/store_mem.h"
#include "store_model.h"

enum { URLS = 5000 };

typedef struct place {
    fake_disk disk;
    sn_spill_disk ops;
    sn_store *store;
    sn_url_list list;
} place;

/* Opens a store that spills whatever it can, to the disk of the place. */
static void
open_place(place *p)
{
    sn_store_opts o = {.max_bytes = 1, .spill = "/some/where", .disk = &p->ops};

    p->ops = fake_disk_ops(&p->disk);
    p->list = SN_URL_LIST;
    CHECK_EQ(sn_store_open(&sn_store_mem, &o, &p->store), SEINE_OK);
}

static void
close_place(place *p)
{
    CHECK_EQ(sn_store_close(p->store, true), SEINE_OK);
    CHECK_EQ(p->disk.closes, p->disk.opens);
    fake_disk_free(&p->disk);
}

/* Every seventh is a sitemap. */
static void
fill_place(place *p)
{
    char path[64];

    for (uint64_t i = 0; i < URLS; i++) {
        int n = snprintf(path, sizeof path, "/%05u/a/page.html", (unsigned)(i * 7919));
        sn_waiting_url u = {
            .target = {path, (size_t)n}, .number = i, .kind = i % 7 == 0 ? 2 : 0};

        CHECK_EQ(sn_store_enqueue(p->store, &p->list, &u), SEINE_OK);
    }
    CHECK_EQ(p->list.n, URLS);
}

/* Takes what can be read and skips the rest. Checks that both are all there was, in
 * order, and returns how many were skipped; *out_err is the first error of take. */
static uint32_t
drain_place(place *p, seine_err *out_err)
{
    uint64_t next = 0, skipped = 0;
    sn_waiting_url u;
    sn_lost lost;
    seine_err e;

    *out_err = SEINE_OK;
    while ((e = sn_store_take(p->store, &p->list, UINT32_MAX, &u)) != SEINE_E_CLOSED) {
        if (e == SEINE_OK) {
            CHECK_EQ(u.number, next);
            next++;
            continue;
        }
        *out_err = *out_err == SEINE_OK ? e : *out_err;
        CHECK_EQ(sn_store_skip(p->store, &p->list, &lost), SEINE_OK);
        uint32_t pages = 0;
        for (uint64_t i = next; i < next + lost.urls; i++)
            pages += i % 7 != 0;
        CHECK_EQ(lost.pages, pages);
        next += lost.urls;
        skipped += lost.urls;
    }
    CHECK_EQ(next, URLS);
    CHECK_EQ(p->store->figures.urls, 0);
    CHECK_EQ(p->store->figures.spilled, 0);
    return (uint32_t)skipped;
}

static void
check_why(const place *p, seine_err e, const char *words)
{
    const sn_group none = {0};

    for (int i = 0; i < 2; i++) /* and for ever */
        CHECK_EQ(sn_store_commit(p->store, &none), e);
    CHECK_EQ(p->store->err, e);
    CHECK(strstr(p->store->why.text, words) != NULL);
    CHECK(strstr(p->store->why.text, "/some/where") != NULL);
}

TEST(spill_disk_that_cannot_be_written_leaves_every_url_in_memory)
{
    const struct {
        int error;
        seine_err err;
        const char *words;
    } rows[] = {
        {ENOSPC, SEINE_E_DISK_FULL, "no space left on device"},
        {EDQUOT, SEINE_E_DISK_FULL, "disk quota exceeded"},
        {EFBIG, SEINE_E_DISK_FULL, "file too large"},
        {EIO, SEINE_E_IO, "input/output error"},
        {EROFS, SEINE_E_IO, "read-only file system"},
    };

    EACH_ROW(i, rows)
        for (uint64_t at = 1; at < 6; at++) { /* the first write, or a later one */
            place p = {.disk = {.write_from = at, .write_error = rows[i].error}};
            seine_err e;

            open_place(&p);
            fill_place(&p);
            check_why(&p, rows[i].err, rows[i].words);
            CHECK_EQ(p.disk.writes, at); /* it is not tried again */
            CHECK_EQ(drain_place(&p, &e), 0);
            CHECK_EQ(e, SEINE_OK);
            close_place(&p);
        }
}

TEST(spill_disk_that_is_full_loses_nothing_wherever_that_is)
{
    for (size_t capacity = 1; capacity < 90000; capacity += 5987) {
        place p = {.disk = {.capacity = capacity}};
        seine_err e;

        open_place(&p);
        fill_place(&p);
        check_why(&p, SEINE_E_DISK_FULL, "no space left on device");
        CHECK_EQ(drain_place(&p, &e), 0);
        close_place(&p);
    }
}

TEST(spill_disk_that_cannot_be_opened_leaves_every_url_in_memory)
{
    const struct {
        int error;
        seine_err err;
    } rows[] = {{ENOENT, SEINE_E_IO},
                {EACCES, SEINE_E_IO},
                {EMFILE, SEINE_E_NO_FILES},
                {ENOSPC, SEINE_E_DISK_FULL}};

    EACH_ROW(i, rows) {
        place p = {.disk = {.open_error = rows[i].error}};
        seine_err e;

        open_place(&p);
        fill_place(&p);
        check_why(&p, rows[i].err, "cannot write waiting URLs");
        CHECK_EQ(drain_place(&p, &e), 0);
        close_place(&p);
    }
}

TEST(spill_disk_that_is_choppy_does_no_harm)
{
    place p = {.disk = {.choppy = true}};
    seine_err e;

    open_place(&p);
    fill_place(&p);
    CHECK(p.disk.writes > 10);
    CHECK_EQ(drain_place(&p, &e), 0);
    CHECK_EQ(sn_store_commit(p.store, &(sn_group){0}), SEINE_OK);
    CHECK(p.disk.reads > 10);
    close_place(&p);
}

TEST(spill_disk_with_one_wrong_bit_loses_the_urls_around_it)
{
    for (size_t at = 0; at < 40000; at += 3331) {
        place p = {.disk = {.choppy = false}};
        seine_err e;

        open_place(&p);
        fill_place(&p);
        p.disk.bytes[at / 1024 * 1024 + at % 900] ^= 0x10; /* of a block in use */
        uint32_t lost = drain_place(&p, &e);
        CHECK_EQ(e, SEINE_E_STATE_CORRUPT);
        CHECK(lost > 0 && lost < 300); /* of one block */
        check_why(&p, SEINE_E_STATE_CORRUPT, "other bytes than were written");
        close_place(&p);
    }
}

TEST(spill_disk_that_is_cut_loses_what_was_behind)
{
    place p = {.disk = {.choppy = false}};
    seine_err e;

    open_place(&p);
    fill_place(&p);
    p.disk.len /= 2;
    uint32_t lost = drain_place(&p, &e);
    CHECK_EQ(e, SEINE_E_STATE_CORRUPT);
    CHECK(lost > URLS / 4 && lost < URLS * 3 / 4);
    check_why(&p, SEINE_E_STATE_CORRUPT, "bytes are missing");
    close_place(&p);
}

TEST(spill_disk_that_cannot_be_read_is_said_by_its_first_failure)
{
    place p = {.disk = {.read_from = 3, .read_error = EIO}};
    seine_err e;

    open_place(&p);
    fill_place(&p);
    CHECK_EQ(sn_store_commit(p.store, &(sn_group){0}), SEINE_OK);
    uint32_t lost = drain_place(&p, &e);
    CHECK_EQ(e, SEINE_E_IO);
    CHECK(lost > URLS / 2 && lost < URLS);
    p.disk.write_from = 1; /* a later failure changes nothing */
    p.disk.write_error = ENOSPC;
    fill_place(&p);
    check_why(&p, SEINE_E_IO, "input/output error");
    close_place(&p);
}

TEST(spill_disk_of_the_system_is_a_file_without_a_name)
{
    const sn_spill_disk *d = &sn_spill_disk_system;
    char dir[] = "/tmp/seine-disk-XXXXXX", got[6] = "";

    CHECK(mkdtemp(dir) != NULL);
    int fd = d->open(dir, d->arg);
    CHECK(fd >= 0);
    CHECK_EQ(d->write(fd, "bytes", 5, 3, d->arg), 5);
    CHECK_EQ(d->read(fd, got, 5, 3, d->arg), 5);
    CHECK_STR(got, "bytes");
    d->empty(fd, d->arg);
    CHECK_EQ(d->read(fd, got, 5, 3, d->arg), 0);
    CHECK_EQ(rmdir(dir), 0); /* while it is open: nothing is in it */
    d->close(fd, d->arg);
    errno = 0;
    CHECK_EQ(d->open(dir, d->arg), -1);
    CHECK_EQ(errno, ENOENT);
}
