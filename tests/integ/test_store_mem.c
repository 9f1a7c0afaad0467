/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the store in memory: when it is there, what it costs, and what happens when
 * the disk is full or lies. */
#include "store/store_mem.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { MAX = 200000, MANY = 60000 };

static sn_store *
store_in(const char *dir)
{
    sn_store *s = NULL;

    CHECK_EQ(sn_store_open(&sn_store_mem,
                           &(sn_store_opts){.max_bytes = MAX, .spill = dir}, &s),
             SEINE_OK);
    return s;
}

/* The path of link number n says who it is. */
static seine_err
put(sn_store *s, sn_url_list *c, unsigned n)
{
    char path[64];
    int len = snprintf(path, sizeof path, "/some/directory/page-%u.html", n);

    return sn_store_enqueue(s, c,
                            &(sn_waiting_url){.target = {path, (size_t)len},
                                              .parent = SN_STR("http://e.example/start"),
                                              .number = n});
}

static seine_err
take(sn_store *s, sn_url_list *c, unsigned n)
{
    char path[64];
    sn_waiting_url u;
    seine_err e = sn_store_take(s, c, UINT32_MAX, &u);
    int len = snprintf(path, sizeof path, "/some/directory/page-%u.html", n);

    if (e != SEINE_OK)
        return e;
    CHECK(sn_str_eq(u.target, (sn_str){path, (size_t)len}));
    CHECK_EQ(u.number, n);
    return SEINE_OK;
}

static unsigned
fill(sn_store *s, sn_url_list *c, unsigned from, unsigned to)
{
    for (; from < to; from++)
        CHECK_EQ(put(s, c, from), SEINE_OK);
    return to;
}

/* The descriptor of a file without a name in `dir`; -1: there is none. */
static int
nameless(const char *dir)
{
    for (int fd = 3; fd < 64; fd++) {
        char name[64], path[4096];

        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, path, sizeof path - 1);
        if (n <= 0)
            continue;
        path[n] = 0;
        if (strncmp(path, dir, strlen(dir)) == 0 && strstr(path, "(deleted)"))
            return fd;
    }
    return -1;
}

static uint64_t
file_size(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static const char *
own_dir(char *room)
{
    snprintf(room, 64, "/tmp/seine-test-store-XXXXXX");
    CHECK(mkdtemp(room) != NULL);
    return room;
}

TEST(store_mem_makes_its_file_with_the_first_chunk_that_goes)
{
    char room[64];
    const char *dir = own_dir(room);
    sn_store *s = store_in(dir);
    sn_url_list c = SN_URL_LIST;
    unsigned n = 0;

    while (s->figures.spilled == 0) {
        CHECK_EQ(nameless(dir), -1);
        n = fill(s, &c, n, n + 1);
    }
    CHECK(nameless(dir) >= 0);
    CHECK_EQ(rmdir(dir), 0); /* nothing in it has a name */
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(take(s, &c, i), SEINE_OK);
    CHECK_EQ(sn_store_close(s, true), SEINE_OK);
    CHECK_EQ(nameless(dir), -1);
}

/* A thousand puts for a thousand takes, a hundred times over: the file does not grow. */
TEST(store_mem_uses_the_space_of_its_file_again)
{
    char room[64];
    const char *dir = own_dir(room);
    sn_store *s = store_in(dir);
    sn_url_list c = SN_URL_LIST;
    unsigned in = fill(s, &c, 0, MANY), out = 0;
    int fd = nameless(dir);
    uint64_t size = file_size(fd);

    CHECK(size >= s->figures.spilled);
    CHECK(size <= s->figures.spilled * 21 / 20);
    for (int turn = 0; turn < 200; turn++) {
        in = fill(s, &c, in, in + 1000);
        for (int i = 0; i < 1000; i++)
            CHECK_EQ(take(s, &c, out++), SEINE_OK);
    }
    CHECK(file_size(fd) <= size + size / 10);
    while (out < in)
        CHECK_EQ(take(s, &c, out++), SEINE_OK);
    CHECK_EQ(file_size(fd), 0);
    CHECK_EQ(sn_store_close(s, true), SEINE_OK);
    rmdir(dir);
}

/* What finds the disk full stays in memory, and commit says so for ever. */
TEST(store_mem_says_disk_full_and_loses_nothing)
{
    char room[64];
    const char *dir = own_dir(room);
    sn_store *s = store_in(dir);
    sn_url_list c = SN_URL_LIST;
    struct rlimit was, tiny;
    unsigned in = 0;

    signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &was), 0);
    tiny = (struct rlimit){150000, was.rlim_max};
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &tiny), 0);
    while (sn_store_commit(s, &(sn_group){0}) == SEINE_OK)
        in = fill(s, &c, in, in + 1);
    CHECK_EQ(s->err, SEINE_E_DISK_FULL);
    CHECK(s->figures.spilled > 0);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &was), 0);
    uint64_t spilled = s->figures.spilled;
    in = fill(s, &c, in, in + 5000);
    CHECK_EQ(s->figures.spilled, spilled); /* it is not tried again */
    CHECK_EQ(sn_store_commit(s, &(sn_group){0}), SEINE_E_DISK_FULL);
    for (unsigned i = 0; i < in; i++)
        CHECK_EQ(take(s, &c, i), SEINE_OK);
    CHECK_EQ(c.n, 0);
    CHECK_EQ(file_size(nameless(dir)), 0); /* no place is lost to those that failed */
    CHECK_EQ(sn_store_close(s, true), SEINE_OK);
    rmdir(dir);
}

TEST(store_mem_says_io_where_no_file_can_be_made)
{
    sn_store *s = store_in("/nonexistent/directory");
    sn_url_list c = SN_URL_LIST;
    unsigned in = fill(s, &c, 0, MANY);

    CHECK_EQ(sn_store_commit(s, &(sn_group){0}), SEINE_E_IO);
    CHECK_EQ(c.n, in);
    for (unsigned i = 0; i < in; i++)
        CHECK_EQ(take(s, &c, i), SEINE_OK);
    CHECK_EQ(sn_store_close(s, true), SEINE_OK);
}

/* One byte is turned, or the end is missing: what stands before it is still read, the
 * list stays and can be skipped, and other lists are whole. */
TEST(store_mem_says_state_corrupt_when_the_file_lies)
{
    for (int cut = 0; cut < 2; cut++) {
        char room[64];
        const char *dir = own_dir(room);
        sn_store *s = store_in(dir);
        sn_url_list c = SN_URL_LIST, other = SN_URL_LIST;
        unsigned out = 0;
        seine_err e;

        fill(s, &c, 0, 20000);
        int fd = nameless(dir);
        off_t at = (off_t)file_size(fd) / 2;
        char byte = 0;
        fill(s, &other, 0, 30);
        CHECK_EQ(pread(fd, &byte, 1, at), 1);
        byte ^= 4;
        CHECK_EQ(cut ? ftruncate(fd, at) : pwrite(fd, &byte, 1, at), cut ? 0 : 1);
        while ((e = take(s, &c, out)) == SEINE_OK)
            out++;
        CHECK_EQ(e, SEINE_E_STATE_CORRUPT);
        CHECK_EQ(c.n, 20000 - out);
        CHECK_EQ(take(s, &c, out), SEINE_E_STATE_CORRUPT);
        while (sn_store_skip(s, &c, &(sn_lost){0}) == SEINE_OK)
            continue;
        CHECK_EQ(sn_store_commit(s, &(sn_group){0}), SEINE_E_STATE_CORRUPT);
        CHECK_EQ(s->figures.urls, 30);
        CHECK_EQ(s->figures.spilled, 0);
        for (unsigned i = 0; i < 30; i++)
            CHECK_EQ(take(s, &other, i), SEINE_OK);
        CHECK_EQ(sn_store_close(s, true), SEINE_OK);
        rmdir(dir);
    }
}
