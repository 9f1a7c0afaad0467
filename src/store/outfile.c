/* SPDX-License-Identifier: Apache-2.0 */
#include "store/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/inert.h"
#include "store/job.h"

static seine_err
kind_of(int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return SEINE_E_DISK_FULL;
    if (error == ETIMEDOUT)
        return SEINE_E_DEADLINE;
    return error == EPIPE || error == ECONNRESET ? SEINE_E_OUTPUT_CLOSED : SEINE_E_IO;
}

static seine_err
fail_open(const sn_out *o, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO];

    if (error == ETIMEDOUT) {
        sn_diag_text(diag, "nobody reads %s", o->name);
        return SEINE_E_DEADLINE;
    }
    sn_diag_errno(error, text);
    sn_diag_text(diag, "cannot open %s: %s", o->name, text);
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL : SEINE_E_IO;
}

seine_err
sn_outfile_fail(const sn_out *o, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO], count[SN_DIAG_COUNT];
    uint64_t safe = o->owner ? sn_job_emitted(o->owner) : o->records;

    sn_diag_count(safe, count);
    sn_diag_errno(error, text);
    if (kind_of(error) == SEINE_E_OUTPUT_CLOSED)
        sn_diag_text(diag, "%s was closed by its reader after %s records", o->name,
                     count);
    else if (kind_of(error) == SEINE_E_DEADLINE)
        sn_diag_text(diag, "nobody reads %s; %s records are safe", o->name, count);
    else
        sn_diag_text(diag, "cannot write %s: %s; %s record%s safe", o->name, text, count,
                     safe == 1 ? " is" : "s are");
    return kind_of(error);
}

seine_err
sn_outfile_fail_end(const sn_out *o, seine_err e, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    sn_diag_text(diag, "cannot finish %s: %s; its last records may be lost", o->name,
                 text);
    return e;
}

static void
tell_size(int64_t n, char out[32])
{
    static const char units[][3] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    int64_t tenths = n * 10;

    for (; tenths >= 10240 && unit < 4; unit++)
        tenths /= 1024;
    if (unit == 0)
        snprintf(out, 32, "%lld B", (long long)n);
    else
        snprintf(out, 32, "%lld.%lld %s", (long long)tenths / 10, (long long)tenths % 10,
                 units[unit]);
}

seine_err
sn_outfile_exists(const sn_out *o, int64_t size, seine_diag *diag)
{
    char text[32];

    tell_size(size, text);
    sn_diag_text(diag, "%s exists (%s)", o->name, text);
    return SEINE_E_ALREADY;
}

/* Waits until somebody opens the other end. */
static int
open_fifo(const sn_out *o)
{
    enum { AGAIN_MS = 10 };
    int fd;

    do {
        fd = open(o->opts.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    } while (fd < 0 && errno == ENXIO && sn_hurry_pause(o->hurry, AGAIN_MS));
    return fd;
}

/* Opens an existing file: a plain one if it may be changed, a pipe or device always. Does
 * not follow a link to a plain file, which may lead anywhere. */
static seine_err
open_existing(sn_outfile *f, const sn_out *o, seine_diag *diag)
{
    const char *path = o->opts.path;
    struct stat st, link;

    if (stat(path, &st) != 0 || lstat(path, &link) != 0)
        return fail_open(o, errno, diag);
    if (S_ISDIR(st.st_mode))
        return fail_open(o, EISDIR, diag);
    if (S_ISREG(st.st_mode) && S_ISLNK(link.st_mode)) {
        sn_diag_text(diag, "%s is a symbolic link: not followed; try its target",
                     o->name);
        return SEINE_E_IO;
    }
    if (S_ISREG(st.st_mode) && !o->opts.append && !o->opts.overwrite)
        return sn_outfile_exists(o, st.st_size, diag);

    int flags = S_ISREG(st.st_mode) ? O_RDWR | O_NOFOLLOW : O_WRONLY;
    f->fd = S_ISFIFO(st.st_mode) && o->hurry ? open_fifo(o)
                                             : open(path, flags | O_CLOEXEC | O_NOCTTY);
    if (f->fd < 0)
        return fail_open(o, errno, diag);
    /* whoever owns the link may have turned it meanwhile */
    if (!S_ISREG(st.st_mode) && (fstat(f->fd, &st) != 0 || S_ISREG(st.st_mode)))
        return fail_open(o, ELOOP, diag);
    return SEINE_OK;
}

static seine_err
open_path(sn_outfile *f, const sn_out *o, seine_diag *diag)
{
    f->is_own = true;
    f->fd = open(o->opts.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    f->is_new = f->fd >= 0;
    if (f->is_new)
        return SEINE_OK;
    return errno == EEXIST ? open_existing(f, o, diag) : fail_open(o, errno, diag);
}

/* One writer at a time; the lock is released when its holder dies. File systems without
 * locks are written without one. */
static seine_err
lock(const sn_outfile *f, const sn_out *o, seine_diag *diag)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(f->fd, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES))
        return SEINE_OK;
    sn_diag_text(diag, "%s is being written by another process", o->name);
    return SEINE_E_STATE_LOCKED;
}

/* A pipe, socket or terminal may block its writer. */
static void
find_hurry(sn_outfile *f, const sn_out *o)
{
    struct stat st;

    f->is_screen = isatty(f->fd);
    if (fstat(f->fd, &st) == 0 &&
        (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || f->is_screen))
        f->hurry = o->hurry;
}

static seine_err
look_at(sn_outfile *f, sn_out *o, seine_diag *diag)
{
    struct stat st;

    if (fstat(f->fd, &st) != 0)
        return fail_open(o, errno, diag);
    f->is_plain = S_ISREG(st.st_mode);
    if (!f->is_plain)
        return SEINE_OK;
    f->size = o->opts.append ? (uint64_t)st.st_size : 0;
    o->dev = st.st_dev;
    o->ino = st.st_ino;
    o->synced = 0;
    return lock(f, o, diag);
}

seine_err
sn_outfile_open(sn_outfile *f, sn_out *o, seine_diag *diag)
{
    const char *path = o->opts.path;

    *f = (sn_outfile){.fd = -1, .is_open = true};
    if (path && strcmp(path, "-") != 0 && strcmp(path, "/dev/stdout") != 0) {
        seine_err e = open_path(f, o, diag);

        if (e == SEINE_OK)
            find_hurry(f, o);
        return e == SEINE_OK ? look_at(f, o, diag) : e;
    }
    f->fd = path ? STDOUT_FILENO : o->opts.fd;
    if (fcntl(f->fd, F_GETFL) < 0)
        return fail_open(o, errno, diag);
    find_hurry(f, o);
    if (isatty(f->fd))
        o->how |= SEINE_CSV_SHOWN;
    return SEINE_OK;
}

seine_err
sn_outfile_start(sn_outfile *f, sn_out *o, seine_diag *diag)
{
    if (f->is_own && o->opts.overwrite && !o->opts.append && ftruncate(f->fd, 0) != 0 &&
        errno != EINVAL) /* pipes and devices have no length */
        return sn_outfile_fail(o, errno, diag);
    if (f->is_own)
        (void)lseek(f->fd, 0, SEEK_END);
    return SEINE_OK;
}

bool
sn_outfile_read(const sn_outfile *f, char *to, size_t n, uint64_t at)
{
    while (n > 0) {
        ssize_t got = pread(f->fd, to, n, (off_t)at);

        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        if (got > 0) {
            to += got;
            at += (uint64_t)got;
            n -= (size_t)got;
        }
    }
    return true;
}

/* Returns how much of it may be written at once without waiting: all of it, or what a
 * pipe takes whole, up to the last line end if there is one. */
static size_t
piece_of(const sn_outfile *f, sn_str rest)
{
    if (!f->hurry || rest.len <= PIPE_BUF)
        return rest.len;
    const char *end = memrchr(rest.ptr, '\n', PIPE_BUF);
    return end ? (size_t)(end - rest.ptr) + 1 : PIPE_BUF;
}

static bool
wait_for_reader(const sn_outfile *f)
{
    struct pollfd ready = {.fd = f->fd, .events = POLLOUT};

    if (f->hurry)
        return sn_hurry_wait(f->hurry, f->fd);
    (void)poll(&ready, 1, -1);
    return true;
}

static bool
write_bytes(sn_outfile *f, sn_str bytes, size_t *out_done)
{
    size_t done = 0;
    bool ok = true;

    while (ok && done < bytes.len) {
        sn_str rest = sn_str_slice(bytes, done, bytes.len);

        if (f->hurry && !sn_hurry_wait(f->hurry, f->fd)) {
            ok = false;
            break;
        }
        SN_CRASHPOINT_HALF("out.append.half", f->fd, rest.ptr, piece_of(f, rest));
        ssize_t wrote = write(f->fd, rest.ptr, piece_of(f, rest));
        SN_CRASHPOINT("out.append");
        if (wrote > 0) {
            done += (size_t)wrote;
        } else if (wrote < 0 && errno == EAGAIN) { /* it is nonblocking */
            ok = wait_for_reader(f);
        } else if (wrote == 0 || errno != EINTR) {
            errno = wrote == 0 ? EIO : errno;
            ok = false;
        }
    }
    f->size += done;
    *out_done = done;
    return ok;
}

/* Nothing counts what a terminal shows: all bytes are done, or none. */
static bool
write_screen(sn_outfile *f, sn_str bytes, size_t *out_done)
{
    size_t n = sn_inert(bytes, SN_INERT_SCREEN, NULL, 0), done;
    char *text SN_AUTOFREE = sn_alloc(n > 0 ? n : 1);

    *out_done = 0;
    if (!text) {
        errno = ENOMEM;
        return false;
    }
    sn_inert(bytes, SN_INERT_SCREEN, text, n);
    bool ok = write_bytes(f, (sn_str){text, n}, &done);
    *out_done = ok ? bytes.len : 0;
    return ok;
}

bool
sn_outfile_write(sn_outfile *f, sn_str bytes, size_t *out_done)
{
    return f->is_screen ? write_screen(f, bytes, out_done)
                        : write_bytes(f, bytes, out_done);
}

void
sn_outfile_take_back(sn_outfile *f, size_t n)
{
    struct stat st;
    off_t at = lseek(f->fd, 0, SEEK_CUR);

    if (n == 0 || fstat(f->fd, &st) != 0 || !S_ISREG(st.st_mode) || at != st.st_size)
        return;
    if (ftruncate(f->fd, at - (off_t)n) != 0)
        return;
    (void)lseek(f->fd, at - (off_t)n, SEEK_SET);
    f->size -= n;
}

bool
sn_outfile_length(const sn_outfile *f, sn_out_length *out)
{
    *out = (sn_out_length){.fd = f->fd, .size = f->size};
    return f->is_plain;
}

seine_err
sn_outfile_close(sn_outfile *f, sn_out *o, seine_diag *diag)
{
    seine_err e = SEINE_OK;
    bool is_open = f->is_open && f->is_own && f->fd >= 0;

    bool is_synced = f->is_plain && o->synced > 0 && o->synced == f->size;

    if (is_open && o->is_started && !is_synced && fdatasync(f->fd) != 0 &&
        errno != EINVAL && errno != EROFS)
        e = sn_outfile_fail_end(o, SEINE_E_FSYNC_FAILED, errno, diag);
    if (is_open && close(f->fd) != 0 && errno != EINTR && e == SEINE_OK)
        e = sn_outfile_fail_end(o, kind_of(errno), errno, diag);
    if (f->is_new && !o->is_started)
        (void)unlink(o->opts.path);
    *f = (sn_outfile){.fd = -1};
    return e;
}
