/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/input.h"

enum { BUFFER = SN_LINES_BLOCK };

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
    if (l->unpack) {
        sn_codec_fini(&l->unpack->codec);
        sn_free(l->unpack);
    }
    sn_free(l->buf);
    l->buf = NULL;
    l->unpack = NULL;
}

/* Waits until a read does not block. False: stopped, or an error. A plain file is always
 * readable, but a stop still wins. */
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
        l->error = ECANCELED; /* drops an incomplete line */
    return l->error == 0;
}

/* Reads bytes of the descriptor; returns 0 at the end, at a stop, or with `error`. */
static size_t
read_bytes(sn_lines *l, char *to, size_t room)
{
    ssize_t got = -1;

    while (got < 0) {
        if (!await(l))
            return 0;
        got = read(l->fd, to, room);
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            l->error = errno;
            return 0;
        }
    }
    atomic_fetch_add_explicit(&l->raw, (size_t)got, memory_order_relaxed);
    return (size_t)got;
}

/* After the end of a stream: another stream, zero padding, or nothing follows. */
static void
go_on(sn_lines *l)
{
    sn_input_unpack *u = l->unpack;

    while (u->in.len > 0 && u->in.ptr[0] == '\0')
        u->in = sn_str_slice(u->in, 1, u->in.len);
    u->is_between = u->in.len == 0;
    if (!u->is_between && sn_codec_begin(&u->codec, u->kind) != SEINE_OK) {
        l->error = ENOMEM;
        l->is_over = true;
    }
}

static int
flaw_of(const sn_input_unpack *u)
{
    return u->codec.err == SEINE_E_NOMEM ? ENOMEM : EBADMSG;
}

/* Decompresses more after the bytes that are there; the caller made room. */
static void
fill_packed(sn_lines *l)
{
    sn_input_unpack *u = l->unpack;
    size_t before = l->end;

    while (l->end == before && !l->is_over) {
        sn_codec_room room = {l->buf + l->end, l->room - l->end};

        if (u->in.len == 0) {
            u->in = (sn_str){u->packed, read_bytes(l, u->packed, sizeof u->packed)};
            l->is_over = u->in.len == 0;
            if (l->is_over && l->error == 0 && !u->is_between)
                l->error = ENODATA;
        }
        if (u->is_between && !l->is_over)
            go_on(l);
        if (u->is_between || l->is_over)
            continue;
        sn_codec_event event = sn_codec_step(&u->codec, &u->in, &room, false);
        l->end = l->room - room.len;
        u->is_between = event == SN_CODEC_END;
        if (event == SN_CODEC_FAIL) {
            l->error = flaw_of(u);
            l->is_over = true;
        }
    }
}

/* Reads more after the bytes that are there; the caller made room. */
static void
fill(sn_lines *l)
{
    if (l->unpack) {
        fill_packed(l);
        return;
    }
    size_t got = read_bytes(l, l->buf + l->end, l->room - l->end);

    l->is_over = got == 0;
    l->end += got;
}

/* Treats what was read so far as the beginning of a compressed stream. */
seine_err
sn_lines_unpack(sn_lines *l, sn_codec_kind kind)
{
    sn_input_unpack *u = sn_zalloc(sizeof *u);

    if (!u)
        return SEINE_E_NOMEM;
    u->kind = kind;
    sn_codec_init(&u->codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    l->unpack = u;
    atomic_store(&l->is_packed, true);
    seine_err e = sn_codec_begin(&u->codec, kind);
    if (e != SEINE_OK)
        return e;
    u->in = (sn_str){u->packed, l->end - l->at};
    memcpy(u->packed, l->buf + l->at, u->in.len);
    l->at = l->end = 0;
    l->is_over = false; /* the compressed bytes are still to be read */
    return SEINE_OK;
}

/* Makes room after the current line: moves it to the front, or grows the buffer up to the
 * longest line plus a block. False: no memory, or the line is too long. */
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

sn_str
sn_lines_take(sn_lines *l)
{
    if (l->at == l->end) {
        l->at = l->end = 0;
        while (!l->is_over && l->end == 0)
            fill(l);
    }
    sn_str bytes = {l->buf + l->at, l->end - l->at};
    pass(l, bytes.len);
    return bytes;
}

/* Skips the rest of a line that was too long. */
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
    size_t looked = 0; /* bytes already searched for a newline */

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
