/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sitemap_walk.h"
#include "engine/fetch_opts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "seine/seen.h"
#include "seine/timestamp.h"

enum { AUTHORITY = 320, PIECE = 64 << 10 };

/* A sitemap that waits, is being fetched, or has come. */
typedef struct item {
    char *name;    /* URL, or name of the file */
    char *final;   /* where redirects led; NULL: nowhere else */
    char *body;    /* of a URL */
    char *trouble; /* why there is no body; NULL: nothing is wrong */
    size_t len;
    seine_err err; /* of `trouble` */
    int fd;        /* -1: it is a URL */
    uint8_t depth;
    bool is_done, is_cut;
} item;

struct seine_sitemap_walk {
    seine_sitemap_walk_opts opts;
    seine_fetch_opts fetch;
    const sn_net *net;
    seine_sitemap *reader;
    seine_seen *seen;
    item *items;
    size_t head, asked, count, cap; /* head <= asked <= count */
    char **added;                   /* authorities of added URLs */
    size_t n_added, added_cap;
    seine_fetch *near, *far; /* of these, and of all other hosts; NULL: not needed yet */
    int epoll;               /* holds the descriptors of both */
    size_t now;              /* the item that is being read */
    seine_err err;           /* ends the walk */
    bool is_full, is_deep;
};

static char *
copy_text(const char *bytes, size_t n)
{
    char *text = sn_alloc(n + 1);

    if (text && bytes && n > 0)
        memcpy(text, bytes, n);
    if (text)
        text[n] = '\0';
    return text;
}

static void
tell_trouble(seine_sitemap_walk *w, const char *source, seine_err e, const char *text)
{
    if (w->opts.on_trouble)
        w->opts.on_trouble(source, e, text, w->opts.arg);
}

/* The queue */

static bool
make_room(void **array, size_t count, size_t *cap, size_t size)
{
    size_t more = *cap ? 2 * *cap : 16;

    if (count < *cap)
        return true;
    void *bigger = sn_realloc(*array, more * size);
    if (!bigger)
        return false;
    *array = bigger;
    *cap = more;
    return true;
}

static seine_err
push_item(seine_sitemap_walk *w, const char *name, size_t len, unsigned depth, int fd)
{
    char *own = copy_text(name, len);

    if (!own || !make_room((void **)&w->items, w->count, &w->cap, sizeof *w->items)) {
        sn_free(own);
        return SEINE_E_NOMEM;
    }
    w->items[w->count++] = (item){.name = own, .fd = fd, .depth = (uint8_t)depth};
    return SEINE_OK;
}

static void
free_item(item *i)
{
    sn_free(i->name);
    sn_free(i->final);
    sn_free(i->body);
    sn_free(i->trouble);
    if (i->fd >= 0)
        close(i->fd);
    *i = (item){.fd = -1};
}

/* False: the URL is not http or https. */
static bool
read_authority(const char *url, size_t len, char out[AUTHORITY])
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, len, NULL) != SEINE_OK)
        return false;
    seine_view scheme = seine_url_scheme(&u);
    seine_url_authority(&u, out, AUTHORITY);
    return scheme.len >= 4 && strncmp(scheme.ptr, "http", 4) == 0;
}

static bool
is_added(const seine_sitemap_walk *w, const char *authority)
{
    for (size_t i = 0; i < w->n_added; i++)
        if (strcmp(w->added[i], authority) == 0)
            return true;
    return false;
}

/* Queues a URL that has not been queued before. */
static seine_err
push_url(seine_sitemap_walk *w, const char *url, size_t len, unsigned depth)
{
    bool is_fresh = false;
    seine_err e = seine_seen_add(w->seen, url, len, &is_fresh);

    if (e != SEINE_OK)
        return e == SEINE_E_NOMEM ? e : SEINE_OK;
    return is_fresh ? push_item(w, url, len, depth, -1) : SEINE_OK;
}

seine_err
seine_sitemap_walk_add(seine_sitemap_walk *w, const char *url)
{
    if (!url)
        return SEINE_E_INVAL;
    char authority[AUTHORITY];

    if (!read_authority(url, strlen(url), authority))
        return SEINE_E_BAD_URL;
    if (!is_added(w, authority)) {
        char *own = copy_text(authority, strlen(authority));

        if (!own ||
            !make_room((void **)&w->added, w->n_added, &w->added_cap, sizeof *w->added)) {
            sn_free(own);
            return SEINE_E_NOMEM;
        }
        w->added[w->n_added++] = own;
    }
    return push_url(w, url, strlen(url), 0);
}

seine_err
seine_sitemap_walk_add_fd(seine_sitemap_walk *w, const char *name, int give_fd)
{
    if (!w || !name)
        return SEINE_E_INVAL;
    seine_err e = push_item(w, name, strlen(name), 0, give_fd);

    if (e != SEINE_OK)
        close(give_fd);
    return e;
}

/* Entries */

/* Queues a sitemap that an index names, within the bounds of depth and number. */
static void
follow_index(seine_sitemap_walk *w, const char *url, size_t len)
{
    const item *i = &w->items[w->now];
    unsigned depth = i->depth + 1U;

    if (depth > SEINE_SITEMAP_WALK_DEPTH) {
        if (!w->is_deep)
            tell_trouble(w, i->name, SEINE_OK,
                         "its index is 5 levels deep: not followed further");
        w->is_deep = true;
    } else if (w->count >= SEINE_SITEMAP_WALK_FILES) {
        if (!w->is_full)
            tell_trouble(w, i->name, SEINE_OK,
                         "more than 50,000 files: the rest is not followed");
        w->is_full = true;
    } else {
        seine_err e = push_url(w, url, len, depth); /* items move */

        w->err = e != SEINE_OK ? e : w->err;
    }
}

/* The URL of an entry: as it stands in the sitemap, or resolved against the URL of the
 * sitemap, or the base of files, if it is relative. */
static seine_view
resolve_loc(const seine_sitemap_walk *w, seine_view loc, char mem[SEINE_URL_ROOM])
{
    char base_mem[SEINE_URL_ROOM];
    const item *i = &w->items[w->now];
    const char *at = i->fd >= 0 ? w->opts.base : i->final ? i->final : i->name;
    seine_url base, u;

    seine_url_init(&base, base_mem, sizeof base_mem);
    seine_url_init(&u, mem, SEINE_URL_ROOM);
    if (!at || seine_url_parse(&u, loc.ptr, loc.len, NULL) == SEINE_OK ||
        seine_url_parse(&base, at, strlen(at), NULL) != SEINE_OK ||
        seine_url_resolve(&u, &base, loc.ptr, loc.len, NULL) != SEINE_OK)
        return loc;
    return seine_url_href(&u);
}

/* Whether an index says that a sitemap has not changed since the date of the options. */
static bool
is_old(const seine_sitemap_walk *w, seine_view lastmod)
{
    int64_t from, until;

    return w->opts.since > 0 && lastmod.ptr &&
           seine_timestamp_sitemap(lastmod.ptr, lastmod.len, &from, &until) &&
           until <= w->opts.since;
}

static bool
on_entry(const seine_sitemap_entry *given, void *arg)
{
    seine_sitemap_walk *w = arg;
    char mem[SEINE_URL_ROOM], authority[AUTHORITY];
    seine_sitemap_entry e = *given;

    e.loc = resolve_loc(w, e.loc, mem);
    if (!e.is_map || w->items[w->now].fd >= 0 || w->opts.no_follow) {
        w->opts.on_entry(&e, w->items[w->now].name, seine_sitemap_what(w->reader),
                         w->opts.arg);
        return true;
    }
    if (is_old(w, e.lastmod))
        return true;
    if (read_authority(e.loc.ptr, e.loc.len, authority))
        follow_index(w, e.loc.ptr, e.loc.len);
    else
        tell_trouble(w, w->items[w->now].name, SEINE_E_BAD_URL,
                     "names a sitemap that is no URL");
    return w->err == SEINE_OK;
}

/* Tells how the reader ended with the sitemap. */
static void
tell_end(seine_sitemap_walk *w, seine_err e)
{
    char text[SEINE_DIAG_ROOM];
    const item *i = &w->items[w->now];

    if (seine_sitemap_notes(w->reader) & SEINE_SITEMAP_CAPPED || i->is_cut)
        tell_trouble(w, i->name, SEINE_OK,
                     "sitemap_capped: only 50,000 URLs and 50 MiB of a file are read");
    if (e == SEINE_OK)
        return;
    seine_sitemap_flaw(w->reader, e, text, sizeof text);
    tell_trouble(w, i->name, e, text);
}

static void
read_file(seine_sitemap_walk *w, int fd)
{
    char *piece SN_AUTOFREE = sn_alloc(PIECE);
    seine_err e = SEINE_OK;
    ssize_t n = 1;

    if (!piece) {
        w->err = SEINE_E_NOMEM;
        return;
    }
    while (e == SEINE_OK && n != 0) {
        n = read(fd, piece, PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            tell_trouble(w, w->items[w->now].name, SEINE_E_IO, "cannot be read");
            return;
        }
        e = n > 0 ? seine_sitemap_feed(w->reader, piece, (size_t)n) : e;
    }
    tell_end(w, e == SEINE_OK ? seine_sitemap_end(w->reader) : e);
}

static void
read_body(seine_sitemap_walk *w)
{
    item *i = &w->items[w->now];
    char *body SN_AUTOFREE = SN_STEAL(i->body); /* items move while it is read */
    bool is_cut = i->is_cut;
    seine_err e = seine_sitemap_feed(w->reader, body, i->len);

    if (e == SEINE_OK && !is_cut)
        e = seine_sitemap_end(w->reader);
    tell_end(w, e);
}

static void
read_head(seine_sitemap_walk *w)
{
    const item *i = &w->items[w->head];

    w->now = w->head;
    seine_sitemap_reset(w->reader);
    if (i->trouble)
        tell_trouble(w, i->name, i->err, i->trouble);
    else if (i->fd >= 0)
        read_file(w, i->fd);
    else
        read_body(w);
    free_item(&w->items[w->head++]);
}

/* The network */

/* Keeps a body, also one that was cut at the size of a sitemap; else what went wrong. */
static void
on_record(const seine_record *r, unsigned shard, void *arg)
{
    seine_sitemap_walk *w = arg;
    item *i = &w->items[r->line - 1];
    bool is_result = r->type == SEINE_RECORD_RESULT;
    char text[SEINE_DIAG_TEXT];

    (void)shard;
    i->is_done = true;
    i->is_cut = is_result && r->fault->code == SEINE_E_BODY_TOO_LARGE &&
                r->body.len >= SEINE_SITEMAP_BYTES;
    if (is_result && (r->fate == SEINE_FATE_OK || i->is_cut)) {
        i->body = copy_text(r->body.ptr, r->body.len);
        i->len = r->body.len;
        if (r->final_url.ptr)
            i->final = copy_text(r->final_url.ptr, r->final_url.len);
        if (!i->body || (r->final_url.ptr && !i->final))
            w->err = SEINE_E_NOMEM;
        return;
    }
    i->err = is_result                        ? r->fault->code
             : r->reason == SEINE_SKIP_SCHEME ? SEINE_E_BLOCKED_SCHEME
                                              : SEINE_E_BAD_URL;
    if (is_result)
        snprintf(text, sizeof text, "%s: %.*s", seine_err_name(i->err),
                 (int)r->message.len, r->message.ptr ? r->message.ptr : "");
    else
        snprintf(text, sizeof text, "%s: %.*s", seine_skip_name(r->reason),
                 (int)r->rule.len, r->rule.ptr ? r->rule.ptr : "");
    i->trouble = copy_text(text, strlen(text));
    if (!i->trouble)
        w->err = SEINE_E_NOMEM;
}

static seine_err
open_fetch(seine_sitemap_walk *w, bool is_far, seine_fetch **out, seine_diag *diag)
{
    seine_fetch_opts o = w->fetch;

    o.threads = 0;
    o.on_record = on_record;
    o.arg = w;
    o.keep = SEINE_KEEP_BODY;
    o.dedup = false;
    o.max_body = o.max_wire = SEINE_SITEMAP_BYTES;
    o.untrusted |= is_far;
    if (is_far) { /* the caller has not named these hosts */
        o.fields = NULL;
        o.n_fields = 0;
        o.insecure = false;
    }
    seine_err e = sn_fetch_open(&o, w->net, out, diag);
    int fd = e == SEINE_OK ? seine_fetch_fd(*out) : -1;
    if (fd >= 0 && epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd,
                             &(struct epoll_event){.events = EPOLLIN}) != 0)
        e = SEINE_E_NOMEM;
    return e;
}

static seine_fetch **
fetch_of(seine_sitemap_walk *w, const item *i)
{
    char authority[AUTHORITY] = "";

    read_authority(i->name, strlen(i->name), authority);
    return is_added(w, authority) ? &w->near : &w->far;
}

/* Asks for the next URLs of the queue, up to 4 ahead. */
static seine_err
ask_ahead(seine_sitemap_walk *w, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    for (; e == SEINE_OK && w->asked < w->count &&
           w->asked < w->head + SEINE_SITEMAP_WALK_AHEAD;
         w->asked++) {
        const item *i = &w->items[w->asked];
        seine_ask ask = SEINE_ASK;

        if (i->fd >= 0)
            continue;
        seine_fetch **f = fetch_of(w, i);
        if (!*f)
            e = open_fetch(w, f == &w->far, f, diag);
        ask.url = (seine_view){i->name, strlen(i->name)};
        ask.line = w->asked + 1;
        if (e == SEINE_OK)
            e = seine_fetch_add(*f, &ask, NULL);
    }
    return e;
}

static bool
is_head_there(const seine_sitemap_walk *w)
{
    return w->head < w->count && (w->items[w->head].fd >= 0 || w->items[w->head].is_done);
}

seine_err
seine_sitemap_walk_step(seine_sitemap_walk *w, seine_diag *diag)
{
    if (!w)
        return SEINE_E_INVAL;
    sn_diag_clear(diag);
    while (w->err == SEINE_OK && w->head < w->count) {
        w->err = ask_ahead(w, diag);
        if (w->err == SEINE_OK && !is_head_there(w)) {
            if (w->near)
                seine_fetch_step(w->near, NULL);
            if (w->far)
                seine_fetch_step(w->far, NULL);
            if (w->err == SEINE_OK && !is_head_there(w))
                return SEINE_OK;
        }
        if (w->err == SEINE_OK)
            read_head(w);
    }
    return w->err == SEINE_OK ? SEINE_E_CLOSED : w->err;
}

int
seine_sitemap_walk_fd(const seine_sitemap_walk *w)
{
    if (!w)
        return -1;
    return w->epoll;
}

/* Works on the sitemap at the head of the queue until something happens, or a moment has
 * passed in which the other fetch has to step. */
static void
wait_for_head(seine_sitemap_walk *w, seine_ctx *ctx)
{
    seine_clock *c = w->fetch.clock ? w->fetch.clock : seine_clock_system();
    seine_time until = c->now(c) + SEINE_MS(20);

    if (ctx && seine_ctx_deadline(ctx) < until)
        until = seine_ctx_deadline(ctx);
    sn_fetch_turn(*fetch_of(w, &w->items[w->head]), until);
}

seine_err
seine_sitemap_walk_run(seine_sitemap_walk *w, seine_ctx *ctx, seine_diag *diag)
{
    if (!w)
        return SEINE_E_INVAL;
    seine_clock *c = w->fetch.clock ? w->fetch.clock : seine_clock_system();
    seine_err e;

    while ((e = seine_sitemap_walk_step(w, diag)) == SEINE_OK) {
        seine_err why = ctx ? seine_ctx_err(ctx, c->now(c)) : SEINE_OK;

        if (why != SEINE_OK)
            return why;
        wait_for_head(w, ctx);
    }
    return e == SEINE_E_CLOSED ? SEINE_OK : e;
}

/* NULL is none. */
static bool
is_base(const char *text)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    return !text || (seine_url_parse(&u, text, strlen(text), NULL) == SEINE_OK &&
                     !seine_url_is_opaque(&u));
}

seine_err
sn_sitemap_walk_new(const seine_sitemap_walk_opts *opts, const sn_net *net,
                    seine_sitemap_walk **out_walk)
{
    if (!sn_opts_fit(opts, sizeof *opts) || !opts->on_entry || !is_base(opts->base))
        return SEINE_E_INVAL;
    seine_sitemap_walk *w = sn_zalloc(sizeof *w);
    if (!w)
        return SEINE_E_NOMEM;
    w->opts = *opts;
    w->net = net;
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    seine_fetch_opts defaults = SEINE_FETCH_OPTS;
    seine_err e =
        sn_fetch_opts_read(&w->fetch, opts->fetch ? opts->fetch : &defaults, NULL);
    if (e == SEINE_OK)
        e = w->epoll < 0 ? SEINE_E_NO_FILES
                         : seine_sitemap_new(NULL, on_entry, w, &w->reader);
    if (e == SEINE_OK)
        e = seine_seen_new(NULL, &w->seen);
    if (e != SEINE_OK) {
        seine_sitemap_walk_free(w);
        return e;
    }
    *out_walk = w;
    return SEINE_OK;
}

seine_err
seine_sitemap_walk_new(const seine_sitemap_walk_opts *opts, seine_sitemap_walk **out_walk)
{
    return sn_sitemap_walk_new(opts, &sn_net_sockets, out_walk);
}

void
seine_sitemap_walk_free(seine_sitemap_walk *w)
{
    if (!w)
        return;
    seine_fetch_free(w->near);
    seine_fetch_free(w->far);
    seine_sitemap_free(w->reader);
    seine_seen_free(w->seen);
    for (size_t i = w->head; i < w->count; i++)
        free_item(&w->items[i]);
    for (size_t i = 0; i < w->n_added; i++)
        sn_free(w->added[i]);
    sn_free(w->items);
    sn_free(w->added);
    if (w->epoll >= 0)
        close(w->epoll);
    sn_free(w);
}
