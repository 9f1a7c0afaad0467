/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the body of each ok result to a file of a directory, under the last part of its
 * URL or the name that its Content-Disposition says. text/file_name.h makes these names
 * safe. A name that is taken, by a file that was there or by another URL of this run, is
 * told apart by the hash of the URL; --overwrite replaces files that were there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "store/beneath.h"
#include "store/outfile.h"
#include "text/file_name.h"

#define MOST_NAMES (1u << 24)

typedef struct namer {
    bool is_open, is_new, is_dirty;
    int dir;
    sn_parts parts;
    sn_map given; /* names of this run, which it owns */
    sn_buf name;
} namer;

static seine_err
open_named(sn_out *o, seine_diag *diag)
{
    namer *s = o->self;
    const char *path = o->opts.path;
    char text[SN_DIAG_ERRNO];

    s->dir = -1;
    s->is_open = true;
    sn_map_init(&s->given, MOST_NAMES);
    sn_buf_init(&s->name, 2 * (size_t)SN_FILE_PATH);
    if (!path)
        return SEINE_E_INVAL;
    s->is_new = mkdir(path, 0777) == 0;
    s->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0 || faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0) {
        sn_diag_errno(errno, text);
        sn_diag_text(diag, "cannot use %s: %s", o->name, text);
        return SEINE_E_IO;
    }
    s->parts = (sn_parts){.dir = s->dir, .prefix = "part-"};
    return SEINE_OK;
}

static sn_str
disposition_of(const seine_record *r)
{
    for (size_t i = 0; i < r->n_fields; i++)
        if (sn_str_eq_nocase(r->fields[i].name, SN_STR("content-disposition")))
            return r->fields[i].value;
    return (sn_str){"", 0};
}

static seine_err
choose_name(sn_out *o, const seine_record *r)
{
    namer *s = o->self;
    char mem[SEINE_URL_ROOM];
    seine_url url;
    seine_err e = SEINE_OK;

    sn_buf_reset(&s->name);
    if (o->opts.header_names)
        e = sn_file_name_of_header(disposition_of(r), &s->name);
    if (e != SEINE_OK || s->name.len > 0)
        return e;
    seine_url_init(&url, mem, sizeof mem);
    e = seine_url_parse(&url, r->url.ptr, r->url.len, NULL);
    return e == SEINE_OK ? sn_file_name_of_last(&url, &s->name) : e;
}

/* Puts the part where nothing is; with `replace` also in the place of a file. */
static bool
place_part(const namer *s, const char *part, const char *name, bool replace)
{
    if (replace)
        return renameat(s->dir, part, s->dir, name) == 0;
    if (renameat2(s->dir, part, s->dir, name, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (linkat(s->dir, part, s->dir, name, 0) != 0)
        return false;
    (void)unlinkat(s->dir, part, 0);
    return true;
}

/* Remembers that the name is given. False: it was already, or there is no memory. */
static bool
claim_name(namer *s)
{
    char *copy = sn_alloc(s->name.len + 1);

    if (!copy)
        return false;
    for (size_t i = 0; i <= s->name.len; i++)
        copy[i] = sn_lower(s->name.ptr[i]);
    if (sn_map_add(&s->given, (sn_str){copy, s->name.len}, copy) == SEINE_OK)
        return true;
    sn_free(copy);
    return false;
}

static bool
write_named(sn_out *o, const seine_record *r)
{
    namer *s = o->self;
    char part[SN_PART_NAME];

    if (!sn_beneath_part(&s->parts, r->body, part))
        return false;
    if (claim_name(s) && place_part(s, part, s->name.ptr, o->opts.overwrite))
        return true;
    sn_buf other;
    sn_buf_init(&other, 2 * (size_t)SN_FILE_PATH);
    seine_err e = sn_file_name_apart(sn_buf_view(&s->name), r->url, 0, &other);
    bool ok = e == SEINE_OK && renameat(s->dir, part, s->dir, other.ptr) == 0;
    int error = e == SEINE_OK ? errno : ENOMEM;

    sn_buf_reset(&s->name);
    sn_buf_str(&s->name, sn_buf_view(&other));
    sn_buf_fini(&other);
    if (!ok)
        (void)unlinkat(s->dir, part, 0);
    errno = error;
    return ok;
}

static seine_err
record_named(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    namer *s = o->self;

    (void)seq;
    if (r->type != SEINE_RECORD_RESULT || r->fate != SEINE_FATE_OK || !r->body.ptr ||
        r->partial)
        return SEINE_OK;
    seine_err e = choose_name(o, r);
    if (e != SEINE_OK)
        return e;
    if (!write_named(o, r))
        return sn_outfile_fail(o, errno, diag);
    s->is_dirty = true;
    r->body_file = sn_buf_view(&s->name);
    o->bytes += r->body.len;
    o->records++;
    return SEINE_OK;
}

static seine_err
close_named(sn_out *o, seine_diag *diag)
{
    namer *s = o->self;
    seine_err e = SEINE_OK;

    if (!s->is_open)
        return SEINE_OK;
    if (s->is_dirty && syncfs(s->dir) != 0 && errno != EROFS)
        e = sn_outfile_fail_end(o, SEINE_E_FSYNC_FAILED, errno, diag);
    if (s->dir >= 0)
        close(s->dir);
    if (s->is_new && !o->is_started)
        (void)rmdir(o->opts.path);
    SN_MAP_EACH(entry, &s->given)
        sn_free(entry->value);
    sn_map_fini(&s->given);
    sn_buf_fini(&s->name);
    return e;
}

const sn_out_ops sn_out_named = {
    .size = sizeof(namer),
    .is_first = true,
    .open = open_named,
    .record = record_named,
    .close = close_named,
};
