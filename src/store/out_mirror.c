/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps pages for a copy of a site: originals wait in `.seine-mirror/new`, named by the
 * hash of their URL, and the index has a line for each. store/mirror_settle.c puts them
 * in their places after the run. A page that is unchanged, a 304, is not written: its
 * file is in its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "seine/url.h"
#include "store/beneath.h"
#include "store/mirror_index.h"
#include "store/outfile.h"

typedef struct copier {
    bool is_open, is_new, is_dirty;
    int dir, state, waiting, index, lock;
    sn_parts parts;
    sn_buf line;
} copier;

static seine_err
fail_open(const sn_out *o, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    if (error == EWOULDBLOCK) {
        sn_diag_text(diag, "another run is writing to %s", o->name);
        return SEINE_E_STATE_LOCKED;
    }
    sn_diag_text(diag, "cannot use %s: %s", o->name, text);
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL : SEINE_E_IO;
}

static int
make_directory(int dir, const char *name)
{
    if (mkdirat(dir, name, 0777) != 0 && errno != EEXIST)
        return -1;
    return sn_beneath_open(dir, name, O_RDONLY | O_DIRECTORY);
}

static bool
open_state(copier *c)
{
    c->state = make_directory(c->dir, SN_MIRROR_STATE);
    if (c->state < 0)
        return false;
    c->lock = sn_beneath_open(c->state, SN_MIRROR_LOCK, O_RDWR | O_CREAT);
    if (c->lock < 0 || flock(c->lock, LOCK_EX | LOCK_NB) != 0)
        return false;
    c->waiting = make_directory(c->state, SN_MIRROR_NEW);
    c->index = sn_beneath_open(c->state, SN_MIRROR_INDEX, O_WRONLY | O_APPEND | O_CREAT);
    return c->waiting >= 0 && c->index >= 0;
}

static seine_err
open_mirror(sn_out *o, seine_diag *diag)
{
    copier *c = o->self;
    const char *path = o->opts.path;

    c->dir = c->state = c->waiting = c->index = c->lock = -1;
    c->is_open = true;
    sn_buf_init(&c->line, 1 << 16);
    if (!path)
        return SEINE_E_INVAL;
    c->is_new = mkdir(path, 0777) == 0;
    if (!c->is_new && errno != EEXIST)
        return fail_open(o, errno, diag);
    c->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (c->dir < 0 || !open_state(c))
        return fail_open(o, errno, diag);
    c->parts = (sn_parts){.dir = c->waiting, .prefix = "part-"};
    return SEINE_OK;
}

/* What a killed run has left of a line is ended, so that it spoils no other. */
static seine_err
start_mirror(sn_out *o, seine_diag *diag)
{
    copier *c = o->self;

    return write(c->index, "\n", 1) == 1 ? SEINE_OK : sn_outfile_fail(o, errno, diag);
}

static bool
write_line(copier *c)
{
    sn_outfile f = {.fd = c->index};
    size_t done;

    if (c->line.err != SEINE_OK) {
        errno = ENOMEM;
        return false;
    }
    c->is_dirty = true;
    return sn_outfile_write(&f, sn_buf_view(&c->line), &done);
}

static bool
write_original(copier *c, sn_str key, sn_str body)
{
    char part[SN_PART_NAME], hex[SN_MIRROR_HEX + 1];

    if (sn_mirror_hex(key, hex) != SEINE_OK) {
        errno = ENOMEM;
        return false;
    }
    if (!sn_beneath_part(&c->parts, body, part))
        return false;
    if (renameat(c->waiting, part, c->waiting, hex) == 0)
        return true;
    int error = errno;
    (void)unlinkat(c->waiting, part, 0);
    errno = error;
    return false;
}

/* The key of where a redirect leads. */
static bool
key_of(sn_str url, char mem[SEINE_URL_ROOM], sn_str *out_key)
{
    char url_mem[SEINE_URL_ROOM];
    seine_url u;
    size_t len;

    seine_url_init(&u, url_mem, sizeof url_mem);
    if (seine_url_parse(&u, url.ptr, url.len, NULL) != SEINE_OK ||
        seine_url_key(&u, NULL, mem, SEINE_URL_ROOM, &len) != SEINE_OK)
        return false;
    *out_key = (sn_str){mem, len};
    return true;
}

/* The charset that the header says, which a file from disk has not. */
static sn_str
header_charset(const seine_record *r)
{
    bool is_own = r->charset_from && strcmp(r->charset_from, "header") != 0;

    return is_own || !r->charset.ptr ? (sn_str){"", 0} : r->charset;
}

static bool
is_redirect(const seine_record *r)
{
    return r->status >= 301 && r->status <= 308 && r->status != 304 &&
           r->fate == SEINE_FATE_OK && r->final_url.len > 0 &&
           !sn_str_eq(r->final_url, r->url);
}

static bool
is_page(const seine_record *r)
{
    return r->fate == SEINE_FATE_OK && r->body.ptr && !r->partial && r->status >= 200 &&
           r->status <= 299;
}

static seine_err
record_mirror(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    copier *c = o->self;
    char mem[SEINE_URL_ROOM];
    sn_str target;
    bool ok = true;

    (void)seq;
    sn_buf_reset(&c->line);
    if (r->type != SEINE_RECORD_RESULT || !r->key.ptr)
        return SEINE_OK;
    if (is_redirect(r) && key_of(r->final_url, mem, &target)) {
        sn_mirror_line_to(&c->line, r->key, target);
    } else if (r->status == 404 || r->status == 410) {
        sn_mirror_line_gone(&c->line, r->key);
    } else if (is_page(r)) {
        ok = write_original(c, r->key, r->body);
        o->bytes += ok ? r->body.len : 0;
        sn_mirror_line_new(&c->line, r->key, r->content_type, header_charset(r));
    }
    if (!ok || (c->line.len > 0 && !write_line(c)))
        return sn_outfile_fail(o, errno, diag);
    o->records++;
    return SEINE_OK;
}

static seine_err
sync_mirror(sn_out *o, seine_diag *diag)
{
    copier *c = o->self;

    if (c->dir < 0 || !o->is_started || !c->is_dirty)
        return SEINE_OK;
    c->is_dirty = false;
    if (syncfs(c->dir) != 0 && errno != EROFS)
        return sn_outfile_fail_end(o, SEINE_E_FSYNC_FAILED, errno, diag);
    return SEINE_OK;
}

/* With a job a record is committed after its original. */
static seine_err
flush_mirror(sn_out *o, bool all, seine_diag *diag)
{
    return all && o->is_durable ? sync_mirror(o, diag) : SEINE_OK;
}

static void
close_all(copier *c)
{
    const int all[] = {c->waiting, c->index, c->lock, c->state, c->dir};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] >= 0)
            close(all[i]);
}

/* Takes away what open has made. */
static void
remove_new(const copier *c, const char *path)
{
    if (c->state >= 0) {
        (void)unlinkat(c->state, SN_MIRROR_NEW, AT_REMOVEDIR);
        (void)unlinkat(c->state, SN_MIRROR_INDEX, 0);
        (void)unlinkat(c->state, SN_MIRROR_LOCK, 0);
        (void)unlinkat(c->dir, SN_MIRROR_STATE, AT_REMOVEDIR);
    }
    (void)rmdir(path);
}

static seine_err
close_mirror(sn_out *o, seine_diag *diag)
{
    copier *c = o->self;

    if (!c->is_open)
        return SEINE_OK;
    seine_err e = sync_mirror(o, diag);
    if (c->is_new && !o->is_started)
        remove_new(c, o->opts.path);
    close_all(c);
    sn_buf_fini(&c->line);
    return e;
}

const sn_out_ops sn_out_mirror = {
    .size = sizeof(copier),
    .is_first = true,
    .open = open_mirror,
    .start = start_mirror,
    .record = record_mirror,
    .flush = flush_mirror,
    .close = close_mirror,
};
