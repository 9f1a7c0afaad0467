/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/csv.h"
#include "store/sink.h"
#include "store/why.h"

enum {
    ROOM = 256 << 10, /* bytes of the buffer … */
    BLOCK = 128 << 10 /* … and how many are written at once */
};

static seine_err
kind_of(int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return SEINE_E_DISK_FULL;
    return error == EPIPE || error == ECONNRESET ? SEINE_E_OUTPUT_CLOSED : SEINE_E_IO;
}

/* 8112 is "8,112". */
static void
thousands(uint64_t n, char out[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n), at = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static seine_err
fail_errno(sn_out *o, int error, char *why)
{
    char text[SN_WHY_TEXT], count[32];

    thousands(o->records, count);
    sn_why_text(error, text);
    if (kind_of(error) == SEINE_E_OUTPUT_CLOSED)
        sn_why(why, "%s was closed by its reader after %s records", o->name, count);
    else
        sn_why(why, "cannot write %s: %s; %s records are safe", o->name, text, count);
    return kind_of(error);
}

static seine_err
fail_nomem(char *why)
{
    sn_why(why, "%s", seine_err_text(SEINE_E_NOMEM));
    return SEINE_E_NOMEM;
}

size_t
sn_out_whole(const sn_out *o, const char *bytes, size_t n, uint64_t *out_lines)
{
    size_t whole = 0, more;

    for (*out_lines = 0; whole < n; whole += more, ++*out_lines) {
        const char *end = memchr(bytes + whole, '\n', n - whole);

        if (o->opts.format == SEINE_SINK_CSV)
            more = sn_csv_row(bytes + whole, n - whole);
        else
            more = end ? (size_t)(end - bytes) + 1 - whole : 0;
        if (more == 0)
            break;
    }
    return whole;
}

/* Writes all of it, or as much as *out_done says, and errno. */
static bool
write_all(int fd, const char *bytes, size_t n, size_t *out_done)
{
    *out_done = 0;
    while (*out_done < n) {
        ssize_t wrote = write(fd, bytes + *out_done, n - *out_done);

        if (wrote > 0) {
            *out_done += (size_t)wrote;
        } else if (wrote < 0 && errno == EAGAIN) { /* somebody made it so */
            struct pollfd ready = {.fd = fd, .events = POLLOUT};

            (void)poll(&ready, 1, -1);
        } else if (wrote == 0 || errno != EINTR) {
            errno = wrote == 0 ? EIO : errno;
            return false;
        }
    }
    return true;
}

/* Of a file whose end is ours: without the last `n` bytes. */
static void
take_back(int fd, size_t n)
{
    struct stat st;
    off_t at = lseek(fd, 0, SEEK_CUR);

    if (n == 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || at != st.st_size)
        return;
    if (ftruncate(fd, at - (off_t)n) == 0)
        (void)lseek(fd, at - (off_t)n, SEEK_SET);
}

/* `lines` whole lines, or one body, which is whole or nothing. */
static seine_err
write_lines(sn_out *o, sn_str bytes, uint64_t lines, char *why)
{
    size_t done;

    if (!write_all(o->fd, bytes.ptr, bytes.len, &done)) {
        int error = errno;
        size_t whole = o->opts.format == SEINE_SINK_RAW
                           ? (lines = 0)
                           : sn_out_whole(o, bytes.ptr, done, &lines);

        take_back(o->fd, done - whole);
        o->bytes += whole;
        o->records += lines - (lines > 0 && o->has_head);
        return fail_errno(o, error, why);
    }
    o->bytes += bytes.len;
    o->records += lines - o->has_head;
    o->has_head = false;
    return SEINE_OK;
}

seine_err
sn_out_flush(sn_out *o, char *why)
{
    sn_str bytes = {o->buf, o->len};
    uint64_t lines = o->lines;

    o->len = 0;
    o->lines = 0;
    if (bytes.len == 0)
        return SEINE_OK;

    seine_err e = write_lines(o, bytes, lines, why);
    if (o->room > ROOM) { /* a long line was in it */
        char *small = sn_realloc(o->buf, ROOM);

        o->buf = small ? small : o->buf;
        o->room = small ? ROOM : o->room;
    }
    return e;
}

/* Makes room for `n` bytes behind what is there. */
static seine_err
grow(sn_out *o, size_t n, char *why)
{
    size_t room = n > ROOM ? n : ROOM;
    char *buf = sn_realloc(o->buf, room);

    if (!buf)
        return fail_nomem(why);
    o->buf = buf;
    o->room = room;
    return SEINE_OK;
}

static size_t
render(sn_out *o, const seine_record *r, uint64_t seq)
{
    sn_pen p = sn_pen_on(o->buf + o->len, o->room - o->len);

    if (o->opts.format == SEINE_SINK_CSV)
        sn_record_csv(&p, r, seq, o->members, o->how);
    else
        sn_record_json(&p, r, seq, o->members, o->opts.body);
    return sn_pen_len(&p);
}

/* A line that has no room is rendered again when it has. */
static seine_err
add(sn_out *o, const seine_record *r, uint64_t seq, char *why)
{
    seine_err e = SEINE_OK;
    size_t n = render(o, r, seq);

    while (e == SEINE_OK && n > o->room - o->len) {
        e = o->len > 0 ? sn_out_flush(o, why) : grow(o, n, why);
        if (e == SEINE_OK)
            n = render(o, r, seq);
    }
    if (e != SEINE_OK)
        return e;
    o->len += n;
    o->lines++;
    return o->len >= BLOCK ? sn_out_flush(o, why) : SEINE_OK;
}

static seine_err
call(sn_out *o, const seine_record *r, uint64_t seq, char *why)
{
    seine_err e = o->opts.call(r, seq, o->opts.arg);

    if (e != SEINE_OK)
        sn_why(why, "%s", seine_err_text(e));
    else
        o->records++;
    return e;
}

seine_err
sn_out_record(sn_out *o, const seine_record *r, uint64_t seq, char *why)
{
    bool is_skip = r->type == SEINE_RECORD_SKIP;

    if (is_skip && o->opts.no_skips)
        return SEINE_OK;
    switch (o->opts.format) {
    case SEINE_SINK_CALL:
        return call(o, r, seq, why);
    case SEINE_SINK_RAW:
        if (is_skip || r->fate != SEINE_FATE_OK || r->body.len == 0)
            return SEINE_OK;
        return write_lines(o, sn_str_view(r->body), 1, why);
    default:
        return add(o, r, seq, why);
    }
}

seine_err
sn_out_line(sn_out *o, sn_str line, char *why)
{
    seine_err e = SEINE_OK;

    if (o->opts.format != SEINE_SINK_JSONL)
        return SEINE_OK;
    if (line.len > o->room - o->len)
        e = sn_out_flush(o, why);
    if (e == SEINE_OK && line.len > o->room - o->len)
        e = grow(o, line.len, why);
    if (e != SEINE_OK)
        return e;
    memcpy(o->buf + o->len, line.ptr, line.len);
    o->len += line.len;
    o->lines++;
    return SEINE_OK;
}

seine_err
sn_out_start(sn_out *o, char *why)
{
    o->is_started = true;
    if (o->opts.format == SEINE_SINK_CALL)
        return SEINE_OK;
    if (o->is_own && o->opts.overwrite && !o->opts.append && ftruncate(o->fd, 0) != 0 &&
        errno != EINVAL) /* pipes and devices have no length */
        return fail_errno(o, errno, why);
    if (o->is_own)
        (void)lseek(o->fd, 0, SEEK_END);

    seine_err e = grow(o, ROOM, why);
    if (e == SEINE_OK && o->needs_newline) {
        size_t done;

        if (!write_all(o->fd, "\n", 1, &done))
            return fail_errno(o, errno, why);
    }
    if (e == SEINE_OK && o->opts.format == SEINE_SINK_CSV && o->is_empty) {
        o->has_head = true;
        e = add(o, NULL, 0, why);
    }
    return e;
}

seine_err
sn_out_close(sn_out *o, char *why)
{
    seine_err e = SEINE_OK;
    bool is_open = o->is_own && o->fd >= 0;

    if (is_open && o->is_started && fdatasync(o->fd) != 0 && errno != EINVAL &&
        errno != EROFS)
        e = SEINE_E_FSYNC_FAILED;
    if (is_open && close(o->fd) != 0 && errno != EINTR && e == SEINE_OK)
        e = kind_of(errno);
    if (e != SEINE_OK)
        sn_why(why, "cannot write %s: %s", o->name, seine_err_text(e));
    if (o->path && !o->is_started)
        (void)unlink(o->path);
    sn_free(o->path);
    sn_free(o->buf);
    *o = (sn_out){.fd = -1};
    return e;
}

void
sn_out_drop(sn_out *o)
{
    char unheard[SEINE_WHY];
    seine_err e = sn_out_close(o, unheard);

    (void)e;
}
