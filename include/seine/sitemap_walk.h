/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap_walk.h - which pages do the sitemaps of a site name, those of its indexes
 * included?
 *
 * A walk reads sitemaps one after the other: URLs, which it fetches, and open files. The
 * sitemaps that an index at a URL names are queued behind the others, each once, at most
 * 5 levels deep and 50,000 in all. Up to 4 URLs are fetched ahead, but entries come in
 * the order of the queue.
 *
 *     static void
 *     on_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind kind,
 *              void *arg)
 *     {
 *         printf("%.*s\n", (int)e->loc.len, e->loc.ptr);
 *     }
 *
 *     seine_sitemap_walk_opts opts = SEINE_SITEMAP_WALK_OPTS;
 *     seine_sitemap_walk *w = NULL;
 *     opts.on_entry = on_entry;
 *     seine_err e = seine_sitemap_walk_new(&opts, &w);
 *     if (e == SEINE_OK)
 *         e = seine_sitemap_walk_add(w, "https://e.example/sitemap.xml");
 *     if (e == SEINE_OK)
 *         e = seine_sitemap_walk_run(w, NULL, NULL);
 *     seine_sitemap_walk_free(w);
 *
 * The hosts of added URLs are asked as the options say. Other hosts, which only a sitemap
 * names, are asked at public addresses alone, without the fields of the options and with
 * their certificates checked.
 *
 * Time    through the clock of the options.
 * Memory  the body of up to 5 sitemaps, 50 MiB each at most, and the URLs in the queue.
 * Threads one owner. Callbacks run inside of step and run.
 */
#ifndef SEINE_SITEMAP_WALK_H
#define SEINE_SITEMAP_WALK_H

#include "seine/diag.h"
#include "seine/fetch.h"
#include "seine/sitemap.h"

#define SEINE_SITEMAP_WALK_DEPTH 5
#define SEINE_SITEMAP_WALK_FILES 50000
#define SEINE_SITEMAP_WALK_AHEAD 4

typedef struct seine_sitemap_walk seine_sitemap_walk;

/* An entry of `source`, a URL or the name of a file. */
typedef void (*seine_sitemap_walk_fn)(const seine_sitemap_entry *e, const char *source,
                                      seine_sitemap_kind kind, void *arg);

/* What is wrong with `source`, as one line. OK: a note that something was left out. */
typedef void (*seine_sitemap_trouble_fn)(const char *source, seine_err e,
                                         const char *text, void *arg);

typedef struct seine_sitemap_walk_opts {
    size_t size; /* of this struct: SEINE_SITEMAP_WALK_OPTS sets it */
    const seine_fetch_opts
        *fetch;     /* without callbacks; outlives the walk; NULL: defaults */
    bool no_follow; /* give the sitemaps that an index names as entries */
    int64_t since;  /* skip what an index names with an older date; Unix ns, 0: nothing */
    seine_sitemap_walk_fn on_entry;
    seine_sitemap_trouble_fn on_trouble; /* may be NULL */
    void *arg;
    const char *base; /* URL that relative entries of files resolve against; NULL: none */
} seine_sitemap_walk_opts;

/* clang-format off */
#define SEINE_SITEMAP_WALK_OPTS {sizeof(seine_sitemap_walk_opts), 0, false, 0, 0, 0, 0, 0}
/* clang-format on */

SEINE_BEGIN

/* INVAL: no on_entry, options of another size, or a base that is no URL; NOMEM. */
SEINE_MUST_CHECK seine_err seine_sitemap_walk_new(const seine_sitemap_walk_opts *opts,
                                                  seine_sitemap_walk **out_walk);
void seine_sitemap_walk_free(seine_sitemap_walk *w); /* NULL is fine */

/* Queues a URL; one that is queued already counts once. BAD_URL: it is not http or https;
 * NOMEM. */
SEINE_MUST_CHECK seine_err seine_sitemap_walk_add(seine_sitemap_walk *w, const char *url);

/* Queues an open file, which the walk closes; `name` is its source. Its indexes are not
 * followed. NOMEM: the descriptor is closed. */
SEINE_MUST_CHECK seine_err seine_sitemap_walk_add_fd(seine_sitemap_walk *w,
                                                     const char *name, int give_fd);

/* Does what can be done without waiting for the network. CLOSED: all is read. OK: call it
 * again when the descriptor is readable. CONFIG with `diag`, NOMEM, IO: the walk has
 * ended. */
SEINE_MUST_CHECK seine_err seine_sitemap_walk_step(seine_sitemap_walk *w,
                                                   seine_diag *diag);
int seine_sitemap_walk_fd(const seine_sitemap_walk *w);

/* Steps until all is read, or the ctx (NULL: none) ends: its cause. OK, or as step. */
SEINE_MUST_CHECK seine_err seine_sitemap_walk_run(seine_sitemap_walk *w, seine_ctx *ctx,
                                                  seine_diag *diag);

SEINE_END

#endif
