/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_merge.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

enum { PIECE = 64 << 10, LEAST = 4 << 10, ALL = 16 << 20 };

seine_err
sn_warc_file_init(sn_warc_file *f, int fd)
{
    *f = (sn_warc_file){.fd = fd, .buf = sn_alloc(PIECE)};
    return f->buf ? SEINE_OK : SEINE_E_NOMEM;
}

void
sn_warc_file_fini(sn_warc_file *f)
{
    sn_free(f->buf);
    f->buf = NULL;
}

seine_err
sn_warc_file_flush(sn_warc_file *f)
{
    for (size_t done = 0; done < f->len && f->err == SEINE_OK;) {
        ssize_t n = write(f->fd, f->buf + done, f->len - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            f->err = errno == ENOSPC || errno == EDQUOT ? SEINE_E_DISK_FULL : SEINE_E_IO;
    }
    f->written += f->len;
    f->len = 0;
    return f->err;
}

void
sn_warc_file_add(sn_warc_file *f, sn_str bytes)
{
    while (bytes.len > 0 && f->err == SEINE_OK) {
        size_t room = PIECE - f->len, n = bytes.len < room ? bytes.len : room;

        memcpy(f->buf + f->len, bytes.ptr, n);
        f->len += n;
        bytes = (sn_str){bytes.ptr + n, bytes.len - n};
        if (f->len == PIECE && sn_warc_file_flush(f) != SEINE_OK)
            return;
    }
}

/* One run: its next line, and the bytes read after it. */
typedef struct source {
    uint64_t at, end; /* not read yet */
    char *buf;
    size_t room, len; /* of the buffer */
    size_t from;      /* start of the line */
    size_t line;      /* its length with newline; 0: no more */
} source;

static seine_err
read_more(source *s, int fd)
{
    size_t n = s->room - s->len;

    if (n > s->end - s->at)
        n = (size_t)(s->end - s->at);
    ssize_t got = pread(fd, s->buf + s->len, n, (off_t)s->at);
    if (got < 0 && errno == EINTR)
        return SEINE_OK;
    if (got <= 0)
        return SEINE_E_IO;
    s->len += (size_t)got;
    s->at += (uint64_t)got;
    return SEINE_OK;
}

/* Grows the buffer for a longer line. */
static seine_err
make_room(source *s)
{
    memmove(s->buf, s->buf + s->from, s->len - s->from);
    s->len -= s->from;
    s->from = 0;
    if (s->len < s->room)
        return SEINE_OK;
    char *buf = sn_realloc(s->buf, 2 * s->room);
    if (!buf)
        return SEINE_E_NOMEM;
    s->buf = buf;
    s->room *= 2;
    return SEINE_OK;
}

/* Moves to the next line of the run, if there is one. */
static seine_err
next_line(source *s, int fd)
{
    s->from += s->line;
    s->line = 0;
    for (;;) {
        char *from = s->buf + s->from;
        const char *end = memchr(from, '\n', s->len - s->from);
        seine_err e;

        if (end)
            s->line = (size_t)(end - from) + 1;
        if (end || s->at == s->end)
            return SEINE_OK;
        e = make_room(s);
        if (e == SEINE_OK)
            e = read_more(s, fd);
        if (e != SEINE_OK)
            return e;
    }
}

static bool
is_before(const source *a, const source *b)
{
    return sn_str_cmp((sn_str){a->buf + a->from, a->line - 1},
                      (sn_str){b->buf + b->from, b->line - 1}) < 0;
}

/* A heap of the runs that have a line, the smallest first. */
static void
sift(source **heap, size_t n, size_t i)
{
    for (size_t least = i;; i = least) {
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < n; child++)
            if (is_before(heap[child], heap[least]))
                least = child;
        if (least == i)
            return;
        source *moved = heap[i];
        heap[i] = heap[least];
        heap[least] = moved;
    }
}

static seine_err
merge(source **heap, size_t n, int fd, sn_warc_file *out)
{
    for (size_t i = n; i-- > 0;)
        sift(heap, n, i);
    while (n > 0) {
        source *s = heap[0];

        sn_warc_file_add(out, (sn_str){s->buf + s->from, s->line});
        seine_err e = next_line(s, fd);
        if (e != SEINE_OK)
            return e;
        if (s->line == 0)
            heap[0] = heap[--n];
        sift(heap, n, 0);
    }
    return sn_warc_file_flush(out);
}

seine_err
sn_warc_merge(int fd, const sn_warc_run *runs, size_t n, sn_warc_file *out)
{
    source *sources SN_AUTOFREE = sn_calloc(n, sizeof *sources);
    source **heap SN_AUTOFREE = sn_calloc(n, sizeof *heap);
    size_t room = ALL / n < LEAST ? LEAST : ALL / n < PIECE ? ALL / n : PIECE, live = 0;
    seine_err e = sources && heap ? SEINE_OK : SEINE_E_NOMEM;

    for (size_t i = 0; i < n && e == SEINE_OK; i++) {
        source *s = &sources[i];

        *s = (source){.at = runs[i].at, .end = runs[i].at + runs[i].len, .room = room};
        s->buf = sn_alloc(room);
        e = s->buf ? next_line(s, fd) : SEINE_E_NOMEM;
        if (e == SEINE_OK && s->line > 0)
            heap[live++] = s;
    }
    if (e == SEINE_OK)
        e = merge(heap, live, fd, out);
    for (size_t i = 0; sources && i < n; i++)
        sn_free(sources[i].buf);
    return e;
}
