/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settles a copy of a site. Every step can be repeated: originals stay in `new` until the
 * index that does without them is on disk.
 *
 *     load the index · look which files are there · remove what is gone · give names ·
 *     take files away whose name changes · write · write the index · empty `new`
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/opts.h"
#include "seine/mirror.h"
#include "seine/url.h"
#include "store/beneath.h"
#include "store/mirror_links.h"
#include "text/file_name.h"
#include "text/file_names.h"
#include "text/page_refs.h"

#define ORIGINALS ".original/"

typedef struct settling {
    const seine_mirror_opts *o;
    seine_mirror_stats *stats;
    seine_diag *diag;
    int dir, state, waiting, lock;
    sn_mirror_index index;
    sn_map by_name; /* entries by the names that they had */
    char map[65];   /* hash of all names and redirects */
    bool is_same_map;
    sn_parts parts;
} settling;

/* Errors */

static seine_err
fail(const settling *s, int error, const char *what)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    sn_diag_text(s->diag, "cannot write %s of %s: %s", what, s->o->dir, text);
    return error == ENOMEM                      ? SEINE_E_NOMEM
           : error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL
                                                : SEINE_E_IO;
}

/* Something that is not ours stands in the way of a name. The rest goes on. */
static bool
is_in_the_way(int error)
{
    return error == ELOOP || error == ENOTDIR || error == EISDIR || error == EEXIST ||
           error == ENOTEMPTY || error == EXDEV;
}

static seine_err
fail_place(settling *s, int error, const sn_mirror_entry *e)
{
    if (!is_in_the_way(error))
        return fail(s, error, e->given.ptr);
    if (s->stats->blocked++ == 0)
        sn_diag_text(s->diag,
                     "%s of %s cannot be written: something else is in its place",
                     e->given.ptr, s->o->dir);
    return SEINE_OK;
}

/* Opening */

static seine_err
open_all(settling *s)
{
    s->dir = open(s->o->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir >= 0)
        s->state = sn_beneath_open(s->dir, SN_MIRROR_STATE, O_RDONLY | O_DIRECTORY);
    if (s->state >= 0)
        s->lock = sn_beneath_open(s->state, SN_MIRROR_LOCK, O_RDWR | O_CREAT);
    if (s->lock >= 0 && flock(s->lock, LOCK_EX | LOCK_NB) != 0) {
        sn_diag_text(s->diag, "another run is writing to %s", s->o->dir);
        return SEINE_E_STATE_LOCKED;
    }
    if (s->lock >= 0)
        s->waiting = sn_beneath_open(s->state, SN_MIRROR_NEW, O_RDONLY | O_DIRECTORY);
    s->parts = (sn_parts){.dir = s->state, .prefix = "part-"};
    return s->waiting >= 0 ? SEINE_OK : fail(s, errno, "the state");
}

static seine_err
load(settling *s)
{
    int fd = sn_beneath_open(s->state, SN_MIRROR_INDEX, O_RDONLY);

    if (fd < 0)
        return fail(s, errno, "the index");
    seine_err e = sn_mirror_index_load(&s->index, fd);
    close(fd);
    for (size_t i = 0; e == SEINE_OK && i < sn_mirror_index_count(&s->index); i++) {
        sn_mirror_entry *one = sn_mirror_index_at(&s->index, i);

        if (one->name.len > 0 && !sn_file_name_is_safe(one->name))
            one->name = (sn_str){"", 0}; /* somebody has edited the index */
        if (one->name.len > 0 && sn_map_add(&s->by_name, one->name, one) == SEINE_E_NOMEM)
            e = SEINE_E_NOMEM;
    }
    return e;
}

/* Files */

static bool
is_waiting(const settling *s, const sn_mirror_entry *e, const char *ending,
           char out_name[SN_MIRROR_HEX + 8])
{
    char hex[SN_MIRROR_HEX + 1];
    struct stat st;

    if (sn_mirror_hex(e->key, hex) != SEINE_OK)
        return false;
    snprintf(out_name, SN_MIRROR_HEX + 8, "%s%s", hex, ending);
    return fstatat(s->waiting, out_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode);
}

static bool
is_there(const settling *s, const char *path)
{
    struct stat st;
    int fd = sn_beneath_read(s->dir, path);
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Reads a whole file; false with errno. */
static bool
read_all(int fd, sn_buf *out)
{
    ssize_t n = 1;

    if (fd < 0)
        return false;
    while (n > 0) {
        char *room = sn_buf_reserve(out, 1 << 16);

        if (!room) {
            errno = ENOMEM;
            n = -1;
            break;
        }
        n = read(fd, room, 1 << 16);
        if (n > 0)
            sn_buf_commit(out, (size_t)n);
    }
    int error = errno;
    close(fd);
    errno = error;
    return n == 0;
}

/* The bytes of an entry: its original, the file where it was, or the file that an earlier
 * settling has taken away. */
static bool
read_source(const settling *s, const sn_mirror_entry *e, sn_buf *out, bool *out_original)
{
    char name[SN_MIRROR_HEX + 8];

    *out_original = e->is_new && is_waiting(s, e, "", name);
    if (*out_original)
        return read_all(sn_beneath_open(s->waiting, name, O_RDONLY), out);
    if (is_waiting(s, e, ".old", name))
        return read_all(sn_beneath_open(s->waiting, name, O_RDONLY), out);
    return read_all(sn_beneath_read(s->dir, e->name.ptr), out);
}

/* Which files are there? A picture that was put in its place before a kill is there. */
static void
look(settling *s)
{
    char name[SN_MIRROR_HEX + 8];

    for (size_t i = 0; i < sn_mirror_index_count(&s->index); i++) {
        sn_mirror_entry *e = sn_mirror_index_at(&s->index, i);
        sn_page_form form;

        if (e->is_new && is_waiting(s, e, "", name))
            continue;
        if (e->is_new && (e->name.len > 0 || sn_page_refs_form(e->type, &form)))
            e->is_new = false;
        e->is_lost = e->name.len > 0 && !is_there(s, e->name.ptr) &&
                     !is_waiting(s, e, ".old", name);
        s->stats->lost += e->is_lost;
    }
}

static seine_err
remove_gone(settling *s)
{
    for (size_t i = 0; s->o->remove_gone && i < sn_mirror_index_count(&s->index); i++) {
        sn_mirror_entry *e = sn_mirror_index_at(&s->index, i);
        char original[SN_FILE_PATH + 32];

        if (!e->is_gone || e->name.len == 0)
            continue;
        snprintf(original, sizeof original, ORIGINALS "%s", e->name.ptr);
        (void)sn_beneath_remove(s->dir, original);
        if (sn_beneath_remove(s->dir, e->name.ptr))
            s->stats->removed++;
        else if (errno != ENOENT && !is_in_the_way(errno))
            return fail(s, errno, e->name.ptr);
        e->name = (sn_str){"", 0};
        e->is_lost = false;
    }
    return SEINE_OK;
}

/* Names */

static bool
has_file(const sn_mirror_entry *e)
{
    return e->is_new || (e->name.len > 0 && !e->is_lost);
}

static seine_err
natural_name(settling *s, const sn_mirror_entry *e, sn_str *out)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;
    sn_buf name;

    sn_buf_init(&name, (size_t)1 << 20);
    seine_url_init(&u, mem, sizeof mem);
    seine_err err = seine_url_parse(&u, e->key.ptr, e->key.len, NULL);
    if (err == SEINE_OK)
        err = sn_file_name_of_url(&u, e->type, &name);
    const char *copy =
        err == SEINE_OK ? sn_arena_text(&s->index.arena, sn_buf_view(&name)) : NULL;
    *out = (sn_str){copy, copy ? name.len : 0};
    sn_buf_fini(&name);
    return err != SEINE_OK ? err : copy ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
give_names(settling *s)
{
    size_t n = sn_mirror_index_count(&s->index), count = 0;
    sn_file_claim *claims = sn_zalloc((n + 1) * sizeof *claims);
    seine_err e = claims ? SEINE_OK : SEINE_E_NOMEM;

    for (size_t i = 0; e == SEINE_OK && i < n; i++) {
        const sn_mirror_entry *one = sn_mirror_index_at(&s->index, i);

        if (!has_file(one))
            continue;
        claims[count].key = one->key;
        e = natural_name(s, one, &claims[count].natural);
        count++;
    }
    if (e == SEINE_OK)
        e = sn_file_names_give(claims, count, &s->index.arena);
    for (size_t i = 0; e == SEINE_OK && i < count; i++)
        sn_mirror_index_find(&s->index, claims[i].key)->given = claims[i].name;
    sn_free(claims);
    return e;
}

static int
compare_entries(const void *a, const void *b)
{
    const sn_mirror_entry *x = *(sn_mirror_entry *const *)a;
    const sn_mirror_entry *y = *(sn_mirror_entry *const *)b;

    return sn_str_cmp(x->key, y->key);
}

/* Sorts the entries, and hashes all that links depend on. */
static seine_err
hash_map(settling *s)
{
    size_t n = sn_mirror_index_count(&s->index), len = 0;
    uint8_t digest[SN_DIGEST_MOST];
    sn_digest d = {0};
    seine_err e = sn_digest_begin(&d, SN_DIGEST_SHA256);

    if (n > 0)
        qsort(s->index.entries.ptr, n, sizeof(sn_mirror_entry *), compare_entries);
    for (size_t i = 0; e == SEINE_OK && i < n; i++) {
        const sn_mirror_entry *one = sn_mirror_index_at(&s->index, i);
        const sn_str parts[] = {one->key, one->given, one->target};

        for (size_t j = 0; (one->given.len > 0 || one->target.len > 0) && j < 3; j++) {
            sn_digest_add(&d, parts[j].ptr, parts[j].len);
            sn_digest_add(&d, "\n", 1);
        }
    }
    if (e == SEINE_OK)
        e = sn_digest_end(&d, digest, &len);
    sn_digest_fini(&d);
    for (size_t i = 0; e == SEINE_OK && i < len; i++)
        snprintf(s->map + 2 * i, 3, "%02x", digest[i]);
    s->is_same_map = sn_str_eq(s->index.map, sn_str_of(s->map));
    return e;
}

/* Takes files away whose name changes, so that no name is in the way of another. */
static seine_err
take_away(settling *s)
{
    char name[SN_MIRROR_HEX + 8];

    for (size_t i = 0; i < sn_mirror_index_count(&s->index); i++) {
        const sn_mirror_entry *e = sn_mirror_index_at(&s->index, i);
        const char *last;

        if (e->name.len == 0 || e->is_lost || sn_str_eq(e->name, e->given))
            continue;
        (void)is_waiting(s, e, ".old", name);
        int parent = sn_beneath_parent(s->dir, e->name.ptr, false, &last);
        bool ok = parent >= 0 && renameat(parent, last, s->waiting, name) == 0;
        int error = errno;

        if (parent >= 0)
            close(parent);
        if (!ok && error != ENOENT)
            return fail(s, error, e->name.ptr);
    }
    return SEINE_OK;
}

/* Writing */

/* Whether the file has these bytes already. */
static bool
has_bytes(const settling *s, const char *path, sn_str bytes)
{
    struct stat st;
    sn_buf old;
    int fd = sn_beneath_read(s->dir, path);

    if (fd < 0)
        return false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size != bytes.len) {
        close(fd);
        return false;
    }
    sn_buf_init(&old, bytes.len + (1 << 17));
    bool same = read_all(fd, &old) && sn_str_eq(sn_buf_view(&old), bytes);
    sn_buf_fini(&old);
    return same;
}

static seine_err
put_bytes(settling *s, const sn_mirror_entry *e, const char *path, sn_str bytes)
{
    if (has_bytes(s, path, bytes))
        return SEINE_OK;
    if (!sn_beneath_write(&s->parts, s->dir, path, bytes))
        return fail_place(s, errno, e);
    s->stats->written += path == e->given.ptr;
    return SEINE_OK;
}

static seine_err
put_page(settling *s, const sn_mirror_entry *e)
{
    sn_mirror_links l = {.index = &s->index,
                         .by_name = &s->by_name,
                         .strip = s->o->strip_params,
                         .entry = e};
    char original[SN_FILE_PATH + 32];
    bool is_original;
    sn_buf from, to;

    sn_buf_init(&from, SIZE_MAX / 4);
    sn_buf_init(&to, SIZE_MAX / 4);
    seine_err err = SEINE_OK;
    if (!read_source(s, e, &from, &is_original))
        err = fail(s, errno, e->given.ptr);
    if (err == SEINE_OK)
        err = sn_mirror_links_rewrite(&l, sn_buf_view(&from), is_original, &to);
    if (err == SEINE_OK)
        err = put_bytes(s, e, e->given.ptr, sn_buf_view(&to));
    snprintf(original, sizeof original, ORIGINALS "%s", e->given.ptr);
    if (err == SEINE_OK && is_original && s->o->keep_original)
        err = put_bytes(s, e, original, sn_buf_view(&from));
    s->stats->local += l.local;
    s->stats->remote += l.remote;
    sn_buf_fini(&from);
    sn_buf_fini(&to);
    return err;
}

/* A file that is no page: its bytes move. */
static seine_err
put_file(settling *s, const sn_mirror_entry *e)
{
    char name[SN_MIRROR_HEX + 8];
    sn_buf bytes;

    if (!is_waiting(s, e, "", name) && !is_waiting(s, e, ".old", name))
        return SEINE_OK; /* it is in its place */
    sn_buf_init(&bytes, SIZE_MAX / 4);
    seine_err err = SEINE_OK;
    if (!read_all(sn_beneath_open(s->waiting, name, O_RDONLY), &bytes))
        err = fail(s, errno, e->given.ptr);
    else if (has_bytes(s, e->given.ptr, sn_buf_view(&bytes)))
        (void)unlinkat(s->waiting, name, 0);
    else if (!sn_beneath_move(s->waiting, name, s->dir, e->given.ptr))
        err = fail_place(s, errno, e);
    else
        s->stats->written++;
    sn_buf_fini(&bytes);
    return err;
}

static seine_err
write_files(settling *s)
{
    seine_err err = SEINE_OK;

    for (size_t i = 0; err == SEINE_OK && i < sn_mirror_index_count(&s->index); i++) {
        sn_mirror_entry *e = sn_mirror_index_at(&s->index, i);
        uint64_t blocked = s->stats->blocked;
        sn_page_form form;

        if (e->given.len == 0)
            continue;
        if (!sn_page_refs_form(e->type, &form))
            err = put_file(s, e);
        else if (e->is_new || !s->is_same_map)
            err = put_page(s, e);
        s->stats->files++;
        if (s->stats->blocked > blocked)
            continue; /* it goes on waiting */
        e->name = e->given;
        e->is_new = false;
    }
    return err;
}

/* The index */

static seine_err
write_index(settling *s)
{
    sn_buf text;

    sn_buf_init(&text, SIZE_MAX / 4);
    if (s->stats->blocked == 0)
        sn_buf_printf(&text, "map\t%s\n", s->map);
    for (size_t i = 0; i < sn_mirror_index_count(&s->index); i++)
        sn_mirror_line_entry(&text, sn_mirror_index_at(&s->index, i));
    seine_err e = sn_buf_done(&text);
    if (e == SEINE_OK && syncfs(s->dir) != 0 && errno != EROFS)
        e = fail(s, errno, "the files");
    if (e == SEINE_OK &&
        !sn_beneath_write(&s->parts, s->state, SN_MIRROR_INDEX, sn_buf_view(&text)))
        e = fail(s, errno, "the index");
    if (e == SEINE_OK && syncfs(s->dir) != 0 && errno != EROFS)
        e = fail(s, errno, "the index");
    sn_buf_fini(&text);
    return e;
}

/* Removes what waits no longer, and what a killed run has left. */
static void
empty_waiting(const settling *s)
{
    int fd = openat(s->waiting, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *all = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *one;

    if (!all) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((one = readdir(all)))
        if (one->d_name[0] != '.')
            (void)unlinkat(s->waiting, one->d_name, 0);
    closedir(all);
}

static seine_err
settle(settling *s)
{
    seine_err (*const steps[])(settling *) = {open_all,    load,        NULL,
                                              remove_gone, give_names,  hash_map,
                                              take_away,   write_files, write_index};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        seine_err e = SEINE_OK;

        if (steps[i])
            e = steps[i](s);
        else
            look(s);
        if (e != SEINE_OK)
            return e;
    }
    if (s->stats->blocked == 0)
        empty_waiting(s);
    return SEINE_OK;
}

seine_err
seine_mirror_settle(const seine_mirror_opts *opts, seine_mirror_stats *out_stats,
                    seine_diag *diag)
{
    settling s = {.o = opts,
                  .stats = out_stats,
                  .diag = diag,
                  .dir = -1,
                  .state = -1,
                  .waiting = -1,
                  .lock = -1};

    if (out_stats)
        *out_stats = (seine_mirror_stats){0};
    sn_diag_clear(diag);
    if (!out_stats || !opts || !sn_opts_fit(opts, sizeof *opts) || !opts->dir)
        return SEINE_E_INVAL;
    sn_mirror_index_init(&s.index);
    sn_map_init(&s.by_name, (size_t)1 << 28);
    seine_err e = settle(&s);
    if (e == SEINE_E_NOMEM)
        sn_diag_text(diag, "%s", seine_err_text(e));
    sn_map_fini(&s.by_name);
    sn_mirror_index_fini(&s.index);
    const int all[] = {s.waiting, s.lock, s.state, s.dir};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] >= 0)
            close(all[i]);
    return e;
}
