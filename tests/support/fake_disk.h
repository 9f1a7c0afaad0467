/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_disk.h - a disk in memory for a store that spills: full, failing, damaged, choppy.
 *
 *     fake_disk d = {.capacity = 4096};
 *     sn_spill_disk ops = fake_disk_ops(&d);
 *     sn_store_opts o = {.max_bytes = 1, .disk = &ops};
 *     …
 *     fake_disk_free(&d);
 */
#ifndef FAKE_DISK_H
#define FAKE_DISK_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/spill_disk.h"

typedef struct fake_disk {
    /* what it does */
    int open_error;      /* errno of open; 0: it succeeds */
    size_t capacity;     /* bytes that fit; 0: any number */
    uint64_t write_from; /* writes fail from this one on; 0: none does … */
    uint64_t read_from;  /* … reads likewise … */
    int write_error;     /* … with these */
    int read_error;
    bool choppy;                       /* some calls are interrupted, others do a part */
    void (*slow)(struct fake_disk *d); /* before each read and write; may be NULL */
    void *arg;                         /* for it */
    /* what became of it */
    uint8_t *bytes;
    size_t len;
    uint64_t opens, closes, writes, reads;
    bool failed; /* it has returned an error, but for interruptions */
} fake_disk;

enum { FAKE_DISK_FD = 1000000 }; /* no descriptor of the system */

static inline int
fake_disk_open(const char *dir, void *arg)
{
    fake_disk *d = arg;

    (void)dir;
    errno = d->open_error;
    if (d->open_error)
        return -1;
    d->opens++;
    return FAKE_DISK_FD;
}

/* How much of n bytes a call does; 0: it is interrupted. */
static inline size_t
fake_disk_part(const fake_disk *d, uint64_t call, size_t n)
{
    return !d->choppy ? n : call % 5 == 0 ? 0 : call % 5 == 1 && n > 1 ? n / 2 : n;
}

static inline ssize_t
fake_disk_fail(fake_disk *d, int error)
{
    d->failed = true;
    errno = error;
    return -1;
}

static inline ssize_t
fake_disk_write(int fd, const void *bytes, size_t n, off_t at, void *arg)
{
    fake_disk *d = arg;
    size_t from = (size_t)at;

    (void)fd;
    d->writes++;
    if (d->slow)
        d->slow(d);
    n = fake_disk_part(d, d->writes, n);
    errno = EINTR;
    if (n == 0)
        return -1;
    if (d->write_from && d->writes >= d->write_from)
        return fake_disk_fail(d, d->write_error);
    if (d->capacity && from + n > d->capacity)
        n = from < d->capacity ? d->capacity - from : 0;
    if (n == 0)
        return fake_disk_fail(d, ENOSPC);
    if (from + n > d->len) {
        d->bytes = realloc(d->bytes, from + n);
        if (!d->bytes)
            abort();
        memset(d->bytes + d->len, 0, from + n - d->len);
        d->len = from + n;
    }
    memcpy(d->bytes + from, bytes, n);
    return (ssize_t)n;
}

static inline ssize_t
fake_disk_read(int fd, void *bytes, size_t n, off_t at, void *arg)
{
    fake_disk *d = arg;
    size_t from = (size_t)at;

    (void)fd;
    d->reads++;
    if (d->slow)
        d->slow(d);
    n = fake_disk_part(d, d->reads, n);
    errno = EINTR;
    if (n == 0)
        return -1;
    if (d->read_from && d->reads >= d->read_from)
        return fake_disk_fail(d, d->read_error);
    if (from >= d->len)
        return 0;
    if (n > d->len - from)
        n = d->len - from;
    memcpy(bytes, d->bytes + from, n);
    return (ssize_t)n;
}

static inline void
fake_disk_empty(int fd, void *arg)
{
    (void)fd;
    ((fake_disk *)arg)->len = 0;
}

static inline void
fake_disk_close(int fd, void *arg)
{
    (void)fd;
    ((fake_disk *)arg)->closes++;
}

static inline sn_spill_disk
fake_disk_ops(fake_disk *d)
{
    return (sn_spill_disk){fake_disk_open,  fake_disk_write, fake_disk_read,
                           fake_disk_empty, fake_disk_close, d};
}

static inline void
fake_disk_free(fake_disk *d)
{
    free(d->bytes);
    d->bytes = NULL;
    d->len = 0;
}

#endif
