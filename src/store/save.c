/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves bodies of complete responses in a directory: DIR/ab/cdef….html, by SHA-256 of the
 * body and its content type. A name consists of hex digits and a word of the table below,
 * so no server can choose it, and equal bodies are one file. A body is written to a part,
 * a file in DIR with a temporary name, and then renamed, so a final name means a complete
 * file. The parts of a job begin with its number: the next run removes one that is left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "store/beneath.h"
#include "store/outfile.h"
#include "store/save.h"

enum { HEX = 64, PLACE = HEX + 1 + 1 + 8 + 1 }; /* ab/cdef….EXT and terminator */

typedef struct saver {
    bool is_open, is_new;
    bool is_dirty;     /* a body was written that is not synced */
    int dir;           /* all names are below it */
    uint64_t parts;    /* files begun */
    char prefix[32];   /* of the names of parts */
    char place[PLACE]; /* path of the last record's body */
} saver;

/* clang-format off */
static const struct {
    const char *type, *ending;
} types[] = {
    {"text/html", "html"}, {"application/xhtml+xml", "xhtml"}, {"text/plain", "txt"}, {"text/css", "css"}, {"text/csv", "csv"},
    {"text/javascript", "js"}, {"application/javascript", "js"}, {"application/x-javascript", "js"}, {"text/markdown", "md"},
    {"text/calendar", "ics"}, {"application/json", "json"}, {"application/x-ndjson", "ndjson"}, {"application/xml", "xml"}, {"text/xml", "xml"},
    {"application/rss+xml", "rss"}, {"application/atom+xml", "atom"}, {"application/pdf", "pdf"}, {"application/rtf", "rtf"},
    {"application/epub+zip", "epub"}, {"application/msword", "doc"}, {"application/vnd.ms-excel", "xls"}, {"application/vnd.ms-powerpoint", "ppt"},
    {"application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"},
    {"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx"},
    {"application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx"}, {"application/vnd.oasis.opendocument.text", "odt"},
    {"application/zip", "zip"}, {"application/gzip", "gz"}, {"application/x-gzip", "gz"}, {"application/zstd", "zst"}, {"application/x-tar", "tar"},
    {"application/x-bzip2", "bz2"}, {"application/x-xz", "xz"}, {"application/x-7z-compressed", "7z"}, {"application/wasm", "wasm"},
    {"image/png", "png"}, {"image/jpeg", "jpg"}, {"image/gif", "gif"}, {"image/webp", "webp"}, {"image/avif", "avif"}, {"image/svg+xml", "svg"},
    {"image/x-icon", "ico"}, {"image/vnd.microsoft.icon", "ico"}, {"image/bmp", "bmp"}, {"image/tiff", "tif"}, {"font/woff", "woff"},
    {"font/woff2", "woff2"}, {"font/ttf", "ttf"}, {"font/otf", "otf"}, {"audio/mpeg", "mp3"}, {"audio/ogg", "ogg"}, {"audio/wav", "wav"},
    {"audio/flac", "flac"}, {"video/mp4", "mp4"}, {"video/webm", "webm"}, {"video/ogg", "ogv"}, {"video/mpeg", "mpg"},
};
/* clang-format on */

const char *
sn_save_ending(sn_str type)
{
    sn_str essence = sn_str_trim(sn_str_slice(type, 0, sn_str_find(type, ';')));

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sn_str_eq_nocase(essence, sn_str_of(types[i].type)))
            return types[i].ending;
    if (essence.len > 5 &&
        sn_str_eq_nocase(sn_str_slice(essence, essence.len - 5, essence.len),
                         SN_STR("+json")))
        return "json";
    if (essence.len > 4 &&
        sn_str_eq_nocase(sn_str_slice(essence, essence.len - 4, essence.len),
                         SN_STR("+xml")))
        return "xml";
    return "bin";
}

static seine_err
fail_open(const sn_out *o, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    if (error == ELOOP)
        sn_diag_text(diag, "%s is a symbolic link: not followed; try its target",
                     o->name);
    else if (error == ENOTDIR)
        sn_diag_text(diag, "%s is not a directory", o->name);
    else
        sn_diag_text(diag, "cannot use %s: %s", o->name, text);
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL : SEINE_E_IO;
}

static seine_err
open_save(sn_out *o, seine_diag *diag)
{
    saver *s = o->self;
    struct stat st;

    s->dir = -1;
    s->is_open = true;
    if (!o->opts.path)
        return SEINE_E_INVAL;
    if (lstat(o->opts.path, &st) == 0 && S_ISLNK(st.st_mode))
        return fail_open(o, ELOOP, diag);
    if (mkdir(o->opts.path, 0777) == 0)
        s->is_new = true;
    else if (errno != EEXIST)
        return fail_open(o, errno, diag);
    s->dir = open(o->opts.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (s->dir < 0 || faccessat(AT_FDCWD, o->opts.path, W_OK | X_OK, AT_EACCESS) != 0)
        return fail_open(o, errno, diag);
    if (fstat(s->dir, &st) != 0)
        return fail_open(o, errno, diag);
    o->dev = st.st_dev;
    o->ino = st.st_ino;
    return SEINE_OK;
}

/* Removes parts of this job: their writer was killed. */
static void
remove_parts(const saver *s)
{
    int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *one;

    if (!all) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((one = readdir(all)))
        if (strncmp(one->d_name, s->prefix, strlen(s->prefix)) == 0)
            (void)unlinkat(s->dir, one->d_name, 0);
    closedir(all);
}

static seine_err
start_save(sn_out *o, seine_diag *diag)
{
    saver *s = o->self;

    (void)diag;
    snprintf(s->prefix, sizeof s->prefix, "part-");
    if (o->job.ptr) {
        snprintf(s->prefix, sizeof s->prefix, "part-%016llx-",
                 (unsigned long long)o->job_id);
        remove_parts(s);
    }
    return SEINE_OK;
}

static int
open_shelf(const saver *s)
{
    char shelf[3] = {s->place[0], s->place[1], '\0'};

    if (mkdirat(s->dir, shelf, 0777) != 0 && errno != EEXIST)
        return -1;
    return sn_beneath_open(s->dir, shelf, O_RDONLY | O_DIRECTORY);
}

static bool
is_there(int shelf, const char *name, size_t size)
{
    struct stat st;

    return fstatat(shelf, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_size == size;
}

/* On failure returns false with errno. */
static bool
write_body(saver *s, int shelf, sn_str body)
{
    sn_parts parts = {.dir = s->dir, .prefix = s->prefix, .made = s->parts++};
    char name[SN_PART_NAME];

    if (!sn_beneath_part(&parts, body, name))
        return false;
    if (renameat(s->dir, name, shelf, s->place + 3) == 0)
        return true;
    int error = errno;
    (void)unlinkat(s->dir, name, 0);
    errno = error;
    return false;
}

static bool
keep_body(sn_out *o, sn_str body)
{
    saver *s = o->self;
    int shelf = open_shelf(s);

    if (shelf < 0)
        return false;
    bool is_known = is_there(shelf, s->place + 3, body.len);
    bool ok = is_known || write_body(s, shelf, body);
    int error = errno;

    close(shelf);
    if (ok && !is_known)
        o->bytes += body.len;
    /* One that is there may be of a run that was killed before it was synced. */
    s->is_dirty |= ok && (!is_known || o->is_durable);
    errno = error;
    return ok;
}

static void
name_it(saver *s, const uint8_t *digest, sn_str type)
{
    char hex[HEX + 1];
    sn_text_writer p = sn_text_writer_on(hex, sizeof hex);

    sn_text_writer_hex(&p, digest, 32);
    snprintf(s->place, sizeof s->place, "%.2s/%.62s.%s", hex, hex + 2,
             sn_save_ending(type));
}

static seine_err
record_save(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    saver *s = o->self;
    uint8_t digest[32];
    const uint8_t *known = r->sha256;

    (void)seq;
    if (r->type == SEINE_RECORD_RESULT && r->body.ptr && !r->partial && r->http > 0) {
        if (!known) {
            seine_err e = sn_sha256(r->body.ptr, r->body.len, digest);

            if (e != SEINE_OK)
                return e;
            known = digest;
        }
        name_it(s, known, r->content_type);
        if (!keep_body(o, r->body))
            return sn_outfile_fail(o, errno, diag);
        r->body_file = (seine_view){s->place, strlen(s->place)};
    }
    o->records++;
    return SEINE_OK;
}

/* Bodies are many and small: one sync for all of them. */
static seine_err
sync_bodies(sn_out *o, seine_diag *diag)
{
    saver *s = o->self;

    if (s->dir < 0 || !o->is_started || !s->is_dirty)
        return SEINE_OK;
    s->is_dirty = false;
    if (syncfs(s->dir) != 0 && errno != EROFS)
        return sn_outfile_fail_end(o, SEINE_E_FSYNC_FAILED, errno, diag);
    return SEINE_OK;
}

/* With a job a record is committed after its body. */
static seine_err
flush_save(sn_out *o, bool all, seine_diag *diag)
{
    return all && o->is_durable ? sync_bodies(o, diag) : SEINE_OK;
}

static seine_err
close_save(sn_out *o, seine_diag *diag)
{
    saver *s = o->self;

    if (!s->is_open)
        return SEINE_OK;
    seine_err e = sync_bodies(o, diag);
    if (s->dir >= 0)
        close(s->dir);
    if (s->is_new && !o->is_started)
        (void)rmdir(o->opts.path);
    return e;
}

const sn_out_ops sn_out_save = {
    .size = sizeof(saver),
    .is_first = true,
    .open = open_save,
    .start = start_save,
    .record = record_save,
    .flush = flush_save,
    .close = close_save,
};
