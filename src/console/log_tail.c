/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/log_tail.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"

struct seine_log_tail {
    pthread_mutex_t lock; /* a leaf */
    int fd;
    uint64_t lines;
    size_t at; /* bytes so far; the next one goes to at % BYTES */
    char ring[SEINE_LOG_TAIL_BYTES];
};

seine_err
seine_log_tail_new(int fd, seine_log_tail **out_tail)
{
    if (!out_tail)
        return SEINE_E_INVAL;
    seine_log_tail *t = sn_zalloc(sizeof *t);
    if (!t)
        return SEINE_E_NOMEM;
    t->fd = fd;
    pthread_mutex_init(&t->lock, NULL);
    *out_tail = t;
    return SEINE_OK;
}

void
seine_log_tail_free(seine_log_tail *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    sn_free(t);
}

void
seine_log_tail_set_fd(seine_log_tail *t, int fd)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->fd = fd;
    pthread_mutex_unlock(&t->lock);
}

static void
keep(seine_log_tail *t, const char *line, size_t len)
{
    size_t at = t->at % SEINE_LOG_TAIL_BYTES;
    size_t first = SEINE_LOG_TAIL_BYTES - at < len ? SEINE_LOG_TAIL_BYTES - at : len;

    memcpy(t->ring + at, line, first);
    memcpy(t->ring, line + first, len - first);
    t->at += len;
    t->lines++;
}

void
seine_log_tail_sink(const char *line, size_t len, void *tail)
{
    seine_log_tail *t = tail;

    if (!t || !line || len == 0 || len > SEINE_LOG_TAIL_BYTES)
        return;
    pthread_mutex_lock(&t->lock);
    int fd = t->fd;
    keep(t, line, len);
    pthread_mutex_unlock(&t->lock);
    while (fd >= 0 && len > 0) {
        ssize_t n = write(fd, line, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        line += n;
        len -= (size_t)n;
    }
}

size_t
seine_log_tail_copy(seine_log_tail *t, char *out, size_t cap, uint64_t *out_lines)
{
    if (!t || !out || cap == 0)
        return 0;
    pthread_mutex_lock(&t->lock);
    size_t held = t->at < SEINE_LOG_TAIL_BYTES ? t->at : SEINE_LOG_TAIL_BYTES;
    size_t n = held < cap - 1 ? held : cap - 1;
    for (size_t i = 0; i < n; i++)
        out[i] = t->ring[(t->at - n + i) % SEINE_LOG_TAIL_BYTES];
    bool is_cut = n < t->at;
    if (out_lines)
        *out_lines = t->lines;
    pthread_mutex_unlock(&t->lock);
    out[n] = '\0';
    if (!is_cut)
        return n;
    char *whole = memchr(out, '\n', n); /* the first line has lost its head */
    size_t drop = whole ? (size_t)(whole - out) + 1 : n;
    memmove(out, out + drop, n - drop + 1);
    return n - drop;
}
