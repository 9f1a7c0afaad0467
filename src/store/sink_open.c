/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "seine/plumbing.h"
#include "store/csv.h"
#include "store/sink.h"
#include "store/why.h"

enum { TAIL = 1 << 20 }; /* bytes of a last line that are looked at */

static seine_err
fail_errno(sn_out *o, int error, char *why)
{
    char text[SN_WHY_TEXT];

    sn_why_text(error, text);
    sn_why(why, "cannot open %s: %s", o->name, text);
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL : SEINE_E_IO;
}

/* Formats by the end of a name; those that are not there yet are named, too. */
static seine_err
choose_format(sn_out *o, char *why)
{
    sn_str path = sn_str_of(o->opts.path);

    if (o->opts.format != SEINE_SINK_AUTO)
        return SEINE_OK;
    if (sn_str_ends(path, SN_STR(".jsonl")) || sn_str_ends(path, SN_STR(".ndjson")))
        o->opts.format = SEINE_SINK_JSONL;
    else if (sn_str_ends(path, SN_STR(".csv")))
        o->opts.format = SEINE_SINK_CSV;
    else if (sn_str_ends(path, SN_STR(".gz")) || sn_str_ends(path, SN_STR(".zst")))
        sn_why(why, "%s: outputs are not compressed yet: try a name without", o->name);
    else
        sn_why(why, "%s: no format has that ending: try .jsonl, .csv, or FORMAT:NAME",
               o->name);
    return o->opts.format == SEINE_SINK_AUTO ? SEINE_E_INVAL : SEINE_OK;
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

/* What is there and may not be touched. */
static seine_err
refuse_existing(sn_out *o, const struct stat *st, char *why)
{
    char size[32];

    tell_size(st->st_size, size);
    sn_why(why, "%s exists (%s)", o->name, size);
    return SEINE_E_ALREADY;
}

/* A file that is there: a plain one if it may be changed, a pipe or device in any case.
 * A link to a plain file is not followed: it may lead anywhere. */
static seine_err
open_existing(sn_out *o, char *why)
{
    const char *path = o->opts.path;
    struct stat st, link;

    if (stat(path, &st) != 0 || lstat(path, &link) != 0)
        return fail_errno(o, errno, why);
    if (S_ISDIR(st.st_mode))
        return fail_errno(o, EISDIR, why);
    if (S_ISREG(st.st_mode) && S_ISLNK(link.st_mode)) {
        sn_why(why, "%s is a symbolic link: not followed; try its target", o->name);
        return SEINE_E_IO;
    }
    if (S_ISREG(st.st_mode) && !o->opts.append && !o->opts.overwrite)
        return refuse_existing(o, &st, why);

    int flags = S_ISREG(st.st_mode) ? O_RDWR | O_NOFOLLOW : O_WRONLY;
    o->fd = open(path, flags | O_CLOEXEC | O_NOCTTY);
    return o->fd < 0 ? fail_errno(o, errno, why) : SEINE_OK;
}

static seine_err
open_path(sn_out *o, char *why)
{
    const char *path = o->opts.path;

    o->is_own = true;
    o->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    if (o->fd < 0)
        return errno == EEXIST ? open_existing(o, why) : fail_errno(o, errno, why);

    size_t n = strlen(path) + 1;
    o->path = sn_alloc(n);
    if (!o->path) {
        (void)unlink(path);
        sn_why(why, "%s", seine_err_text(SEINE_E_NOMEM));
        return SEINE_E_NOMEM;
    }
    memcpy(o->path, path, n);
    return SEINE_OK;
}

/* One writer at a time; the lock dies with whoever holds it. File systems that have no
 * locks are written without. */
static seine_err
lock(sn_out *o, char *why)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (fcntl(o->fd, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES))
        return SEINE_OK;
    sn_why(why, "%s is being written by another process", o->name);
    return SEINE_E_STATE_LOCKED;
}

/* Reads `n` bytes at `at`; false when they are not there. */
static bool
read_at(int fd, char *to, size_t n, off_t at)
{
    while (n > 0) {
        ssize_t got = pread(fd, to, n, at);

        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        if (got > 0) {
            to += got;
            at += got;
            n -= (size_t)got;
        }
    }
    return true;
}

/* A last line without its newline: whole JSON gets one, what was cut off is for the
 * user to decide about. */
static seine_err
check_tail(sn_out *o, off_t size, char *why)
{
    size_t n = size < TAIL ? (size_t)size : TAIL, from = n;
    char *tail SN_AUTOFREE = sn_alloc(n);
    seine_json *json = NULL;

    if (!tail)
        return SEINE_E_NOMEM;
    if (!read_at(o->fd, tail, n, size - (off_t)n))
        return fail_errno(o, EIO, why);
    if (tail[n - 1] == '\n')
        return SEINE_OK;
    while (from > 0 && tail[from - 1] != '\n')
        from--;
    if (o->opts.format == SEINE_SINK_JSONL &&
        seine_json_parse(tail + from, n - from, &json, NULL) == SEINE_OK) {
        seine_json_free(json);
        o->needs_newline = true;
        return SEINE_OK;
    }
    sn_why(why, "%s ends within a line: cut it off, try --overwrite, or another name",
           o->name);
    return SEINE_E_OUTPUT_CHANGED;
}

/* Rows go under the columns they belong to. */
static seine_err
check_head(sn_out *o, off_t size, char *why)
{
    char head[512], there[512];
    sn_pen p = sn_pen_on(head, sizeof head);

    sn_record_csv(&p, NULL, 0, o->members, 0);
    size_t n = sn_pen_len(&p) - 1;
    bool same = (off_t)n < size && read_at(o->fd, there, n + 1, 0) &&
                memcmp(head, there, n) == 0 && (there[n] == '\n' || there[n] == '\r');

    if (same)
        return SEINE_OK;
    sn_why(why, "%s has other columns: try --overwrite, or another name", o->name);
    return SEINE_E_OUTPUT_CHANGED;
}

static seine_err
look_into(sn_out *o, char *why)
{
    struct stat st;

    if (fstat(o->fd, &st) != 0)
        return fail_errno(o, errno, why);
    o->is_empty = !S_ISREG(st.st_mode) || st.st_size == 0 || !o->opts.append;
    if (!S_ISREG(st.st_mode))
        return SEINE_OK;

    seine_err e = lock(o, why);
    if (e != SEINE_OK || o->is_empty || o->opts.format == SEINE_SINK_RAW)
        return e;
    if (o->opts.format == SEINE_SINK_CSV)
        e = check_head(o, st.st_size, why);
    return e == SEINE_OK ? check_tail(o, st.st_size, why) : e;
}

static bool
is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

static seine_err
open_it(sn_out *o, char *why)
{
    const char *path = o->opts.path;

    if (path && !is_standard_output(path)) {
        sn_why_name(path, o->name);
        seine_err e = choose_format(o, why);
        if (e == SEINE_OK)
            e = open_path(o, why);
        return e == SEINE_OK ? look_into(o, why) : e;
    }
    snprintf(o->name, sizeof o->name, "%s", path ? "standard output" : "the output");
    o->fd = path ? STDOUT_FILENO : o->opts.fd;
    o->is_empty = true;
    if (o->opts.format == SEINE_SINK_AUTO) {
        sn_why(why, "%s has no name that tells its format", o->name);
        return SEINE_E_INVAL;
    }
    if (fcntl(o->fd, F_GETFL) < 0)
        return fail_errno(o, errno, why);
    if (isatty(o->fd))
        o->how |= SEINE_CSV_SHOWN;
    return SEINE_OK;
}

seine_err
sn_out_open(sn_out *o, const seine_sink_opts *opts, char *why)
{
    seine_err e = SEINE_OK;

    *o = (sn_out){.opts = *opts, .members = sn_members_of(&opts->fields), .fd = -1};
    o->how =
        (opts->csv_raw ? SEINE_CSV_RAW : 0u) | (opts->csv_crlf ? SEINE_CSV_CRLF : 0u);
    why[0] = '\0';
    if (opts->format == SEINE_SINK_CALL)
        e = opts->call ? SEINE_OK : SEINE_E_INVAL;
    else
        e = open_it(o, why);
    if (e == SEINE_OK)
        return SEINE_OK;
    if (why[0] == '\0')
        sn_why(why, "%s", seine_err_text(e));
    sn_out_drop(o);
    return e;
}
