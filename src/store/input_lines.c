/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/input.h"

enum { BUFFER = 64 << 10 };

seine_err
sn_lines_init(sn_lines *l, int fd, int stop)
{
    *l = (sn_lines){.fd = fd, .stop = stop, .room = BUFFER};
    l->buf = sn_alloc(l->room);
    return l->buf ? SEINE_OK : SEINE_E_NOMEM;
}

void
sn_lines_fini(sn_lines *l)
{
    sn_free(l->buf);
    l->buf = NULL;
}

/* Waits until a read does not block. False: stopped, or an error. A plain file is
 * always readable, but a stop comes first. */
static bool
await(sn_lines *l)
{
    struct pollfd fds[] = {{l->stop, POLLIN, 0}, {l->fd, POLLIN, 0}};

    while (poll(fds, 2, -1) < 0)
        if (errno != EINTR) {
            l->error = errno;
            return false;
        }
    if (fds[0].revents & POLLIN)
        l->error = ECANCELED; /* half a line is none */
    return l->error == 0;
}

/* Reads more behind what is there, which has room for it. */
static void
fill(sn_lines *l)
{
    ssize_t got = -1;

    while (got < 0 && !l->is_over) {
        if (!await(l)) {
            l->is_over = true;
            return;
        }
        got = read(l->fd, l->buf + l->end, l->room - l->end);
        if (got == 0)
            l->is_over = true;
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            l->error = errno;
            l->is_over = true;
        }
    }
    if (got > 0)
        l->end += (size_t)got;
}

/* Room behind the line that was begun: it moves to the front, and the buffer grows up to
 * one line of the longest and a block. False: no memory, or the line is too long. */
static bool
make_room(sn_lines *l)
{
    size_t begun = l->end - l->at, most = SN_LINE_MAX + BUFFER;

    if (l->at > 0) {
        memmove(l->buf, l->buf + l->at, begun);
        l->at = 0;
        l->end = begun;
    }
    if (l->end < l->room)
        return true;
    if (begun > SN_LINE_MAX)
        return false;

    size_t room = l->room * 4 < most ? l->room * 4 : most;
    char *buf = sn_realloc(l->buf, room);
    if (!buf) {
        l->error = ENOMEM;
        l->is_over = true;
        return false;
    }
    l->buf = buf;
    l->room = room;
    return true;
}

sn_str
sn_lines_peek(sn_lines *l)
{
    while (!l->is_over && l->end - l->at < 4)
        fill(l);
    return (sn_str){l->buf + l->at, l->end - l->at < 4 ? l->end - l->at : 4};
}

/* Takes n bytes. */
static void
pass(sn_lines *l, size_t n)
{
    l->at += n;
    atomic_fetch_add_explicit(&l->bytes, n, memory_order_relaxed);
}

/* The rest of a line that was too long, up to its end. */
static void
pass_long(sn_lines *l)
{
    while (l->is_skipping) {
        char *newline = memchr(l->buf + l->at, '\n', l->end - l->at);

        if (newline) {
            pass(l, (size_t)(newline - (l->buf + l->at)) + 1);
            l->is_skipping = false;
        } else if (l->is_over) {
            pass(l, l->end - l->at);
            l->is_skipping = false;
        } else {
            pass(l, l->end - l->at);
            l->at = l->end = 0;
            fill(l);
        }
    }
}

static sn_line_kind
give(sn_lines *l, size_t n, size_t taken, sn_str *out_line)
{
    *out_line = (sn_str){l->buf + l->at, n};
    pass(l, taken);
    atomic_fetch_add_explicit(&l->lines, 1, memory_order_relaxed);
    if (n <= SN_LINE_MAX)
        return SN_LINE_WHOLE;
    out_line->len = SN_LINE_MAX;
    return SN_LINE_LONG;
}

sn_line_kind
sn_lines_next(sn_lines *l, sn_str *out_line)
{
    size_t looked = 0; /* bytes of the line that are no newline */

    pass_long(l);
    for (;;) {
        size_t n = l->end - l->at;
        char *newline = memchr(l->buf + l->at + looked, '\n', n - looked);

        if (newline) {
            size_t len = (size_t)(newline - (l->buf + l->at));

            return give(l, len, len + 1, out_line);
        }
        if (n > SN_LINE_MAX) {
            l->is_skipping = true;
            return give(l, n, n, out_line);
        }
        if (l->is_over) /* the last line may lack its newline */
            return n > 0 && l->error == 0 ? give(l, n, n, out_line) : SN_LINE_NONE;
        looked = n;
        if (make_room(l))
            fill(l);
    }
}
