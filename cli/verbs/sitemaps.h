/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemaps.h - one sitemap after the other, and those they lead to, in order.
 *
 * Files and URLs wait in one line. URLs near its head are asked for ahead, a few at a
 * time, but their entries are told in the order of the line. What an index names goes
 * to its end, once each. Hosts that were typed are asked as a fetch asks them; others,
 * which a sitemap alone vouches for, at public addresses only.
 */
#ifndef CLI_SITEMAPS_H
#define CLI_SITEMAPS_H

#include <seine/fetch.h>
#include <seine/sitemap.h>

enum { SITEMAPS_DEPTH = 5, SITEMAPS_FILES = 50000, SITEMAPS_AHEAD = 4 };

typedef struct sitemaps sitemaps;

/* An entry of `source`, a URL or a file's name. */
typedef void (*sitemaps_fn)(const seine_sitemap_entry *e, const char *source,
                            seine_sitemap_kind kind, void *arg);

typedef struct sitemaps_opts {
    seine_fetch_opts fetch; /* without callbacks; borrowed */
    bool follow;            /* what an index of a URL names */
    seine_time since;       /* an index's entry that is older is not followed; 0: all */
    bool quiet;
    sitemaps_fn fn;
    void *arg;
} sitemaps_opts;

/* SAY_DONE, or it was said what is wrong. */
int sitemaps_new(const sitemaps_opts *opts, sitemaps **out_sitemaps);
void sitemaps_free(sitemaps *s);

bool sitemaps_is_url(const char *word);

/* A file that cannot be opened: said so, and SAY_USAGE. */
int sitemaps_add(sitemaps *s, const char *word);

/* SAY_FAILED: one could not be read, which was said; 128 and a signal. */
int sitemaps_run(sitemaps *s);

#endif
