/* SPDX-License-Identifier: Apache-2.0 */
#include "store/out_job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/file_write.h"
#include "base/hash.h"
#include "seine/format.h"
#include "store/job_page.h"
#include "store/out_warc.h"

/* Outputs that have a length. */
static bool
is_marked(const seine_sink_opts *o, seine_sink_format *out_format)
{
    seine_sink_pack pack;
    struct stat st;

    if (!o->path || strcmp(o->path, "-") == 0 || strcmp(o->path, "/dev/stdout") == 0)
        return false;
    *out_format =
        o->format == SEINE_SINK_AUTO ? seine_format_of_output(o->path, &pack) : o->format;
    if (*out_format == SEINE_SINK_CALL || *out_format == SEINE_SINK_SAVE ||
        *out_format == SEINE_SINK_NAMED || *out_format == SEINE_SINK_MIRROR)
        return false;
    return lstat(o->path, &st) != 0 || S_ISREG(st.st_mode);
}

static seine_err
refuse(const char *path, const char *what, seine_diag *diag)
{
    char name[SEINE_DIAG_FILE];

    sn_diag_path(path, name);
    sn_diag_text(diag, "%s %s: put it back, or start the job over", name, what);
    return SEINE_E_OUTPUT_CHANGED;
}

/* The CRC of the last bytes before `size`. False: they are not there. */
static bool
tail_crc(int fd, int64_t size, uint32_t *out_crc)
{
    char tail[SN_OUT_TAIL];
    size_t n = size < SN_OUT_TAIL ? (size_t)size : SN_OUT_TAIL, got = 0;

    while (got < n) {
        ssize_t more = pread(fd, tail + got, n - got, size - (int64_t)(n - got));

        if (more <= 0 && !(more < 0 && errno == EINTR))
            return false;
        got += more > 0 ? (size_t)more : 0;
    }
    *out_crc = sn_crc32(0, tail, n);
    return true;
}

static seine_err
cut(const char *path, int fd, const sn_job_output *was, seine_diag *diag)
{
    struct stat st;
    uint32_t crc;

    if (fstat(fd, &st) != 0 || (int64_t)st.st_ino != was->ino ||
        (int64_t)st.st_dev != was->dev)
        return refuse(path, "is another file than the job has written", diag);
    if (st.st_size < was->committed)
        return refuse(path, "is shorter than the job has left it", diag);
    if (!tail_crc(fd, was->committed, &crc) || (int64_t)crc != was->tail_crc)
        return refuse(path, "was changed since the job has written it", diag);
    if (st.st_size > was->committed &&
        (ftruncate(fd, was->committed) != 0 || fdatasync(fd) != 0)) {
        char name[SEINE_DIAG_FILE], text[SN_DIAG_ERRNO];

        sn_diag_errno(errno, text);
        sn_diag_path(path, name);
        sn_diag_text(diag, "cannot cut %s: %s", name, text);
        return SEINE_E_IO;
    }
    return SEINE_OK;
}

static seine_err
cut_file(const char *path, const sn_job_output *was, seine_diag *diag)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return refuse(path, errno == ENOENT ? "is gone" : "cannot be opened", diag);
    seine_err e = cut(path, fd, was, diag);
    SN_CRASHPOINT("recover.truncated");
    (void)close(fd);
    return e;
}

uint64_t
sn_out_job_marked(const seine_durable_job *j, const char *path)
{
    char key[PATH_MAX];
    const sn_job_output *was = path && sn_file_real_path(path, key)
                                   ? sn_job_output_get(j, sn_str_of(key))
                                   : NULL;

    return was && was->committed > 0 ? (uint64_t)was->committed : 0;
}

/* A database loses its rows when it is open: see sn_out.cut_seq and marked_seq. */
static seine_err
check_database(const char *path, const sn_job_output *was, seine_diag *diag)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return refuse(path, "is gone", diag);
    if ((int64_t)st.st_ino != was->ino || (int64_t)st.st_dev != was->dev)
        return refuse(path, "is another file than the job has written", diag);
    return SEINE_OK;
}

/* The file of an archive that was written last; later ones were never committed. */
static seine_err
cut_archive(const char *path, const sn_job_output *was, seine_diag *diag)
{
    unsigned number =
        (unsigned)strtoul(was->detail.len > 0 ? was->detail.ptr : "0", NULL, 10);
    char *last SN_AUTOFREE = sn_out_warc_path(path, number);

    if (!last)
        return SEINE_E_NOMEM;
    seine_err e = cut_file(last, was, diag);
    for (unsigned n = number + 1; e == SEINE_OK && number > 0; n++) {
        char *later SN_AUTOFREE = sn_out_warc_path(path, n);

        if (!later || unlink(later) != 0)
            break;
    }
    return e;
}

/* In a later round the file goes on, whoever has written to it meanwhile: all that the
 * job wrote is in it. */
static bool
goes_on(const seine_durable_job *j, const seine_sink_opts *o)
{
    return sn_job_round_of(j)->number > 1 && !o->overwrite && !sn_job_forgets(j);
}

/* Says in the job that the file is ours before it is made. */
static seine_err
claim(seine_durable_job *j, const seine_sink_opts *opts, sn_str key, seine_diag *diag)
{
    char *first SN_AUTOFREE = opts->max_file > 0 ? sn_out_warc_path(opts->path, 1) : NULL;
    struct stat st;

    if (lstat(first ? first : opts->path, &st) == 0 && !opts->overwrite)
        return SEINE_OK; /* it is appended to, or open says that it exists */
    seine_err e = sn_job_output_set(j, &(sn_job_output){.path = key});
    if (e == SEINE_OK)
        e = sn_job_commit(j, diag);
    SN_CRASHPOINT("out.claimed");
    return e;
}

seine_err
sn_out_job_recover(seine_durable_job *j, seine_sink_opts *opts, seine_diag *diag)
{
    char key[PATH_MAX];
    seine_sink_format format;

    if (!is_marked(opts, &format) || !sn_file_real_path(opts->path, key))
        return SEINE_OK;
    const sn_job_output *was = sn_job_output_get(j, sn_str_of(key));
    if (!was) {
        opts->append |= goes_on(j, opts);
        return claim(j, opts, sn_str_of(key), diag);
    }
    opts->append = was->ino != 0;
    opts->overwrite = !opts->append;
    if (!opts->append)
        return SEINE_OK;
    if (format == SEINE_SINK_SQLITE)
        return check_database(opts->path, was, diag);
    if (format == SEINE_SINK_WARC)
        return cut_archive(opts->path, was, diag);
    return cut_file(opts->path, was, diag);
}

bool
sn_out_job_needs_mark(const seine_durable_job *j, const sn_out *o)
{
    char key[PATH_MAX];

    if (!o->ops->length || !o->job_path || !sn_file_real_path(o->job_path, key))
        return false;
    const sn_job_output *was = sn_job_output_get(j, sn_str_of(key));
    return !was || was->ino != 0;
}

/* How far an output has come. */
typedef struct reach {
    sn_job_output at;
    sn_out_length length;
    char key[PATH_MAX], detail[16];
} reach;

/* False: the output has no length. */
static bool
measure(sn_out *o, reach *r)
{
    struct stat st;

    r->length = (sn_out_length){.fd = -1};
    r->detail[0] = '\0';
    if (!o->ops->length || !o->job_path || !o->ops->length(o, &r->length) ||
        r->length.fd < 0 || fstat(r->length.fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        !sn_file_real_path(o->job_path, r->key))
        return false;
    if (r->length.number > 0)
        snprintf(r->detail, sizeof r->detail, "%u", r->length.number);
    r->at = (sn_job_output){.path = sn_str_of(r->key),
                            .dev = (int64_t)st.st_dev,
                            .ino = (int64_t)st.st_ino,
                            .committed = (int64_t)r->length.size,
                            .detail = sn_str_of(r->detail)};
    return true;
}

static bool
is_marked_there(const seine_durable_job *j, const reach *r)
{
    const sn_job_output *was = sn_job_output_get(j, r->at.path);

    return was && was->ino == r->at.ino && was->dev == r->at.dev &&
           was->committed == r->at.committed && sn_str_eq(was->detail, r->at.detail);
}

/* Reads the CRC of the end of a file, which is synced before if `is_synced`. */
static seine_err
seal(sn_out *o, reach *r, bool is_synced, seine_diag *diag)
{
    uint32_t crc = 0;

    errno = 0;
    if (!r->length.is_database &&
        ((is_synced && fdatasync(r->length.fd) != 0) ||
         !tail_crc(r->length.fd, (int64_t)r->length.size, &crc))) {
        char text[SN_DIAG_ERRNO];

        sn_diag_errno(errno ? errno : EIO, text); /* it is shorter than it was written */
        sn_diag_text(diag, "cannot sync %s: %s", o->name, text);
        return SEINE_E_FSYNC_FAILED;
    }
    r->at.tail_crc = crc;
    o->synced = r->length.is_database || !is_synced ? 0 : r->length.size;
    return SEINE_OK;
}

seine_err
sn_out_job_mark(seine_durable_job *j, sn_out *o, seine_diag *diag)
{
    reach now;

    if (!measure(o, &now) || is_marked_there(j, &now))
        return SEINE_OK;
    seine_err e = seal(o, &now, true, diag);
    return e == SEINE_OK ? sn_job_output_set(j, &now.at) : e;
}

/* A database is cut by the numbers of its rows, so that one commit of it will do. */
seine_err
sn_out_job_mark_end(seine_durable_job *j, sn_out *o, seine_diag *diag)
{
    reach now;

    if (!measure(o, &now))
        return SEINE_OK;
    seine_err e = now.length.is_database ? SEINE_OK : sn_out_flush(o, true, diag);
    if (e != SEINE_OK || !measure(o, &now) || is_marked_there(j, &now))
        return e;
    e = seal(o, &now, false, diag);
    return e == SEINE_OK ? sn_job_output_set(j, &now.at) : e;
}

seine_err
sn_out_job_mark_behind(seine_durable_job *j, sn_out *o, seine_diag *diag)
{
    reach now;

    if (!measure(o, &now))
        return SEINE_OK;
    seine_err e = seal(o, &now, o->synced != now.length.size, diag);
    if (e == SEINE_OK && !now.length.is_database)
        o->synced = now.length.size;
    return e == SEINE_OK ? sn_job_output_end(j, &now.at) : e;
}
