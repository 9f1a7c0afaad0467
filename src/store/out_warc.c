/* SPDX-License-Identifier: Apache-2.0 */
/* WARC files: complete records, in one file or in numbered files, and their index. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "seine/clock.h"
#include "seine/version.h"
#include "store/out_warc.h"
#include "store/outfile.h"
#include "store/warc_index.h"
#include "store/warc_read.h"
#include "store/warc_writer.h"

enum {
    BLOCK = 256 << 10, /* bytes written at a time */
    ROOM = 1 << 20,    /* a larger buffer is freed again */
    READ = 256 << 10,
    FILES = 99999
};

typedef struct out_warc {
    sn_outfile file;
    sn_warc_writer warc;
    uint64_t waiting; /* records of the run that are in `buf` and in no file yet */
    sn_buf buf;       /* pairs of records that wait … */
    sn_buf ends;      /* … and the end of each, size_t */
    sn_warc_index index;
    bool has_index;
    bool has_failed;
    bool is_begun;      /* the file holds more than its warcinfo */
    char *stem;         /* "dir/x" of dir/x.warc.gz, if numbered or indexed */
    const char *ending; /* ".warc.gz", stored after the stem */
    unsigned number;    /* of the file; 0: only one file */
    uint64_t sound;     /* where a file is continued */
    const char *base;   /* name without directories */
    char id[SN_WARC_ID + 1];
} out_warc;

static seine_err
fail_nomem(seine_diag *diag)
{
    sn_diag_text(diag, "%s", seine_err_text(SEINE_E_NOMEM));
    return SEINE_E_NOMEM;
}

static bool
has_name(const sn_out *o)
{
    return o->opts.path && strcmp(o->opts.path, "-") != 0 &&
           strcmp(o->opts.path, "/dev/stdout") != 0;
}

/* Names. */

/* Splits "dir/x.warc.gz" into "dir/x" and ".warc.gz"; any other name is its own stem. */
char *
sn_out_warc_path(const char *path, unsigned number)
{
    static const char *const endings[] = {".warc", ".warc.gz", ".warc.zst"};
    size_t len = strlen(path), cut = len, room = len + 16;
    char *out = sn_alloc(room);

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (sn_str_ends(sn_str_of(path), sn_str_of(endings[i])))
            cut = len - strlen(endings[i]);
    if (out && number > 0)
        snprintf(out, room, "%.*s-%05u%s", (int)cut, path, number, path + cut);
    else if (out)
        snprintf(out, room, "%s", path);
    return out;
}

static seine_err
split_name(sn_out *o, seine_diag *diag)
{
    static const char *const endings[] = {".warc", ".warc.gz", ".warc.zst"};
    out_warc *w = o->self;
    sn_str path = sn_str_of(o->opts.path);
    size_t cut = path.len;

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (sn_str_ends(path, sn_str_of(endings[i])))
            cut = path.len - strlen(endings[i]);
    w->stem = sn_alloc(path.len + 2);
    if (!w->stem)
        return fail_nomem(diag);
    memcpy(w->stem, path.ptr, cut);
    w->stem[cut] = '\0';
    memcpy(w->stem + cut + 1, path.ptr + cut, path.len - cut + 1);
    w->ending = w->stem + cut + 1;
    return SEINE_OK;
}

/* Returns the path of a numbered file, or of one with that ending. */
static char *
path_of(const out_warc *w, unsigned number, const char *ending)
{
    size_t room = strlen(w->stem) + strlen(ending) + 16;
    char *path = sn_alloc(room);

    if (path && number > 0)
        snprintf(path, room, "%s-%05u%s", w->stem, number, ending);
    else if (path)
        snprintf(path, room, "%s%s", w->stem, ending);
    return path;
}

static void
take_path(sn_out *o, char *give)
{
    out_warc *w = o->self;
    const char *slash;

    sn_free((char *)o->opts.path);
    o->opts.path = give;
    sn_diag_path(give, o->name);
    slash = strrchr(give, '/');
    w->base = slash ? slash + 1 : give;
}

static seine_err
name_file(sn_out *o, unsigned number, seine_diag *diag)
{
    out_warc *w = o->self;
    char *path = path_of(w, number, w->ending);

    if (!path)
        return fail_nomem(diag);
    w->number = number;
    take_path(o, path);
    return SEINE_OK;
}

static bool
is_there(const out_warc *w, unsigned number)
{
    char *path SN_AUTOFREE = path_of(w, number, w->ending);
    struct stat st;

    return path && stat(path, &st) == 0;
}

/* Existing files. */

static seine_err
index_entry(out_warc *w, const seine_warc *r)
{
    const seine_warc_entry *e = seine_warc_at(r);
    sn_str type = e->type, digest;
    bool is_revisit = sn_str_eq(type, SN_STR("revisit"));
    sn_warc_line line = {.url = e->target,
                         .status = e->status,
                         .offset = e->offset,
                         .length = e->length,
                         .file = sn_str_of(w->base)};

    if (!w->has_index || (!is_revisit && !sn_str_eq(type, SN_STR("response"))))
        return SEINE_OK;
    digest = sn_warc_get(r, "WARC-Payload-Digest");
    line.digest = digest;
    line.media = is_revisit ? SN_STR("warc/revisit") : sn_str_of(e->media_type);
    sn_warc_stamp_of(e->date, line.stamp);
    return sn_warc_index_add(&w->index, &line);
}

static sn_warc_kind
kind_of(seine_sink_pack pack)
{
    return pack == SEINE_PACK_GZIP   ? SN_WARC_MEMBERS
           : pack == SEINE_PACK_ZSTD ? SN_WARC_FRAMES
                                     : SN_WARC_AS_IT_IS;
}

static seine_err
refuse_archive(const sn_out *o, const seine_warc *r, seine_diag *diag)
{
    uint64_t at;
    const char *text = seine_warc_why(r, &at);

    sn_diag_text(diag, "%s is damaged at byte %llu: %s", o->name, (unsigned long long)at,
                 text);
    return SEINE_E_OUTPUT_CHANGED;
}

/* Reads the whole file and indexes complete records. A record truncated by the end of the
 * file is no damage: the file is continued there. */
static seine_err
scan(sn_out *o, seine_warc *r, char *buf, seine_diag *diag)
{
    out_warc *w = o->self;
    uint64_t at = 0;
    seine_view in = {buf, 0}, piece;

    for (;;) {
        seine_err e = SEINE_OK;

        switch (seine_warc_next(r, &in, at == w->file.size, &piece)) {
        case SEINE_WARC_MORE: {
            uint64_t left = w->file.size - at;
            size_t n = left < READ ? (size_t)left : READ;

            if (!sn_outfile_read(&w->file, buf, n, at))
                return sn_outfile_fail(o, errno, diag);
            in = (seine_view){buf, n};
            at += n;
            break;
        }
        case SEINE_WARC_END:
            e = index_entry(w, r);
            break;
        case SEINE_WARC_FAIL:
            return r->is_cut ? SEINE_OK : refuse_archive(o, r, diag);
        case SEINE_WARC_DONE:
            return SEINE_OK;
        default:
            break;
        }
        if (e != SEINE_OK)
            return e;
    }
}

/* Reads the file to be continued, or one before it. */
static seine_err
look_into(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;
    char *buf SN_AUTOFREE = sn_alloc(READ);
    seine_warc *r = NULL;

    w->sound = w->file.size;
    if (w->file.size == 0)
        return SEINE_OK;
    if (!buf || seine_warc_new(NULL, &r) != SEINE_OK)
        return fail_nomem(diag);
    seine_err e = scan(o, r, buf, diag);
    w->sound = seine_warc_sound(r);
    if (e == SEINE_OK && r->kind != kind_of(o->opts.pack)) {
        sn_diag_text(diag, "%s is packed in another way than its name says", o->name);
        e = SEINE_E_OUTPUT_CHANGED;
    }
    seine_warc_free(r);
    return e;
}

/* Opening. */

static seine_err
open_index(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;
    char *path SN_AUTOFREE = path_of(w, 0, ".cdxj");
    struct stat st;

    if (!path)
        return fail_nomem(diag);
    if (!o->opts.append && !o->opts.overwrite && stat(path, &st) == 0) {
        sn_diag_path(path, o->name);
        return sn_outfile_exists(o, st.st_size, diag);
    }
    seine_err e = sn_warc_index_init(&w->index, path);
    w->has_index = e == SEINE_OK;
    return e;
}

/* Reads all files of an archive that is appended to; the last one is continued. */
static seine_err
open_files(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;
    seine_err e;

    for (unsigned n = o->opts.max_file > 0;; n++) {
        if (n > 0 && (e = name_file(o, n, diag)) != SEINE_OK)
            return e;
        e = sn_outfile_open(&w->file, o, diag);
        if (e == SEINE_OK)
            e = look_into(o, diag);
        if (e != SEINE_OK || n == 0 || !o->opts.append || !is_there(w, n + 1))
            return e;
        if (w->sound != w->file.size) {
            sn_diag_text(diag, "%s is cut off, and others stand behind it", o->name);
            return SEINE_E_OUTPUT_CHANGED;
        }
        e = sn_outfile_close(&w->file, o, diag);
        if (e != SEINE_OK)
            return e;
    }
}

static seine_err
open_warc(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;
    seine_err e = SEINE_OK;

    w->file.fd = -1;
    sn_buf_init(&w->buf, SIZE_MAX / 2);
    sn_buf_init(&w->ends, SIZE_MAX / 2);
    sn_warc_writer_init(
        &w->warc,
        &(sn_warc_writer_opts){.pack = o->opts.pack == SEINE_PACK_GZIP   ? SN_WARC_GZIP
                                       : o->opts.pack == SEINE_PACK_ZSTD ? SN_WARC_ZSTD
                                                                         : SN_WARC_PLAIN,
                               .software = "seine/" SEINE_VERSION_TEXT,
                               .user_agent = o->opts.user_agent,
                               .robots = o->opts.robots});
    w->base = "";
    if (!has_name(o)) {
        if (o->opts.max_file > 0) {
            sn_diag_text(diag, "%s: one that has no name cannot be split", o->name);
            return SEINE_E_INVAL;
        }
        return sn_outfile_open(&w->file, o, diag);
    }
    const char *slash = strrchr(o->opts.path, '/');
    w->base = slash ? slash + 1 : o->opts.path;
    e = split_name(o, diag);
    if (e == SEINE_OK)
        e = open_index(o, diag);
    return e == SEINE_OK ? open_files(o, diag) : e;
}

/* Writing. */

static seine_err
add_info(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;
    seine_clock *clock = seine_clock_system();
    seine_err e =
        sn_warc_writer_info(&w->warc, sn_str_of(w->base), clock->wall(clock), &w->buf);

    w->is_begun = false;
    if (e == SEINE_OK) {
        sn_buf_add(&w->ends, &w->buf.len, sizeof w->buf.len);
        e = sn_buf_done(&w->ends);
    }
    return e == SEINE_OK ? e : fail_nomem(diag);
}

/* Removes files of an earlier run that is overwritten. */
static void
remove_others(const out_warc *w)
{
    for (unsigned n = 2; w->number > 0 && n <= FILES; n++) {
        char *path SN_AUTOFREE = path_of(w, n, w->ending);

        if (!path || unlink(path) != 0)
            return;
    }
}

static seine_err
start_warc(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;

    if (o->opts.overwrite && !o->opts.append)
        remove_others(w);
    if (w->file.is_plain && w->sound < w->file.size) {
        if (ftruncate(w->file.fd, (off_t)w->sound) != 0)
            return sn_outfile_fail(o, errno, diag);
        w->file.size = w->sound;
    }
    seine_err e = sn_outfile_start(&w->file, o, diag);
    return e == SEINE_OK ? add_info(o, diag) : e;
}

/* Returns how many of the first n bytes are complete records. */
static size_t
whole(const out_warc *w, size_t n)
{
    size_t best = 0;

    for (size_t i = 0; i + sizeof best <= w->ends.len; i += sizeof best) {
        size_t end;

        memcpy(&end, w->ends.ptr + i, sizeof end);
        best = end <= n ? end : best;
    }
    return best;
}

static seine_err
flush_warc(sn_out *o, bool all, seine_diag *diag)
{
    out_warc *w = o->self;
    size_t done;

    (void)all;
    if (w->buf.len == 0)
        return SEINE_OK;
    bool is_written = sn_outfile_write(&w->file, sn_buf_view(&w->buf), &done);
    int error = errno;
    if (!is_written) {
        size_t kept = whole(w, done);

        sn_outfile_take_back(&w->file, done - kept);
        done = kept;
        w->has_failed = true;
    }
    o->bytes += done;
    o->records += is_written ? w->waiting : 0;
    w->waiting = 0;
    if (w->buf.room > ROOM)
        sn_buf_fini(&w->buf), sn_buf_init(&w->buf, SIZE_MAX / 2);
    sn_buf_reset(&w->buf);
    sn_buf_reset(&w->ends);
    return is_written ? SEINE_OK : sn_outfile_fail(o, error, diag);
}

/* Starts the next file if this one is long enough. */
static seine_err
turn_over(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;

    if (o->opts.max_file == 0 || !w->is_begun ||
        w->file.size + w->buf.len < o->opts.max_file || w->number == FILES)
        return SEINE_OK;
    seine_err e = flush_warc(o, true, diag);
    if (e == SEINE_OK)
        e = sn_outfile_close(&w->file, o, diag);
    if (e == SEINE_OK)
        e = name_file(o, w->number + 1, diag);
    if (e == SEINE_OK)
        e = sn_outfile_open(&w->file, o, diag);
    if (e == SEINE_OK && w->file.size > 0) {
        sn_diag_text(diag, "%s is there all of a sudden", o->name);
        e = SEINE_E_OUTPUT_CHANGED;
    }
    if (e == SEINE_OK)
        e = sn_outfile_start(&w->file, o, diag);
    return e == SEINE_OK ? add_info(o, diag) : e;
}

static seine_err
index_made(out_warc *w, const seine_capture *c, const sn_warc_writer_made *made,
           uint64_t offset)
{
    sn_warc_line line = {.url = c->url,
                         .status = made->status,
                         .media = made->is_revisit ? SN_STR("warc/revisit")
                                                   : sn_str_of(made->type),
                         .digest = sn_str_of(made->digest),
                         .offset = offset,
                         .length = made->length,
                         .file = sn_str_of(w->base)};

    if (!w->has_index)
        return SEINE_OK;
    sn_warc_stamp(c->wall, line.stamp);
    return sn_warc_index_add(&w->index, &line);
}

/* Adds one pair; *out_made is zero if there was no response. */
static seine_err
add_capture(sn_out *o, const seine_capture *c, seine_warc_place *out_place,
            seine_diag *diag)
{
    out_warc *w = o->self;
    sn_warc_writer_made made;
    seine_err e = turn_over(o, diag);

    if (e != SEINE_OK)
        return e;
    e = sn_warc_writer_capture(&w->warc, c, &w->buf, &made);
    if (e == SEINE_OK && made.length > 0) {
        sn_buf_add(&w->ends, &w->buf.len, sizeof w->buf.len);
        e = sn_buf_done(&w->ends);
    }
    if (e != SEINE_OK)
        return fail_nomem(diag);
    *out_place = (seine_warc_place){{NULL, 0}, 0, 0, {NULL, 0}};
    if (made.length == 0)
        return SEINE_OK;
    w->is_begun = true;
    memcpy(w->id, made.id, sizeof w->id);
    *out_place = (seine_warc_place){{w->base, strlen(w->base)},
                                    w->file.size + made.offset,
                                    made.length,
                                    {w->id, SN_WARC_ID}};
    e = index_made(w, c, &made, out_place->offset);
    if (e != SEINE_OK)
        sn_diag_text(diag, "cannot keep the index of %s: %s", o->name, seine_err_text(e));
    return w->buf.len >= BLOCK && e == SEINE_OK ? flush_warc(o, true, diag) : e;
}

static seine_err
record_warc(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    (void)seq;
    for (size_t i = 0; r->captures && i < r->n_captures && e == SEINE_OK; i++)
        e = add_capture(o, &r->captures[i], &r->warc, diag);
    ((out_warc *)o->self)->waiting += e == SEINE_OK && r->captures;
    return e;
}

static bool
length_of_warc(sn_out *o, sn_out_length *out)
{
    const out_warc *w = o->self;

    *out = (sn_out_length){.fd = w->file.fd, .size = w->file.size, .number = w->number};
    return w->file.is_plain;
}

/* Closing. */

static seine_err
close_warc(sn_out *o, seine_diag *diag)
{
    out_warc *w = o->self;
    seine_err e = SEINE_OK;

    if (w->file.is_open)
        e = sn_outfile_close(&w->file, o, diag);
    if (e == SEINE_OK && o->is_started && w->has_index && !w->has_failed) {
        char text[SN_DIAG_ERRNO];

        e = sn_warc_index_write(&w->index);
        sn_diag_errno(errno, text);
        if (e != SEINE_OK)
            sn_diag_text(diag, "cannot write the index of %s: %s", o->name,
                         e == SEINE_E_NOMEM ? seine_err_text(e) : text);
    }
    sn_warc_index_fini(&w->index);
    sn_warc_writer_fini(&w->warc);
    sn_buf_fini(&w->buf);
    sn_buf_fini(&w->ends);
    sn_free(w->stem);
    return e;
}

const sn_out_ops sn_out_warc = {
    .size = sizeof(out_warc),
    .is_first = true,
    .open = open_warc,
    .start = start_warc,
    .record = record_warc,
    .flush = flush_warc,
    .length = length_of_warc,
    .close = close_warc,
};
