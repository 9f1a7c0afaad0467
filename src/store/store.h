/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - URLs that wait: what a crawl has found and not finished.
 *
 * A store keeps URLs in lists, first in, first out. The lists are the caller's, 12 bytes
 * each; the frontier has one for every host. A URL enters a list by enqueue, leaves it by
 * take, and is finished by commit, when its record is out. Whatever was enqueued and
 * finished up to a commit becomes durable with it, all or nothing, so that a result never
 * stands without the links it led to.
 *
 * Six functions make a back end, and every back end passes the same conformance suite
 * (tests/unit/store/test_store.c). One exists: store/store_mem.h, in memory, with a file
 * for what does not fit; nothing of it outlives the process.
 *
 *     sn_store_opts opts = {.max_bytes = 64 << 20};
 *     seine_err e = sn_store_open(&sn_store_mem, &opts, &store);
 *     sn_url_list list = SN_URL_LIST;
 *     sn_waiting_url url = {.target = SN_STR("/path?query"), .number = 7};
 *     e = sn_store_enqueue(store, &list, &url);
 *     e = sn_store_take(store, &list, UINT32_MAX, &url);
 *     sn_group group = {.done = &url.number, .n_done = 1};
 *     e = sn_store_commit(store, &group);
 *     e = sn_store_close(store, true);
 *
 * No function waits. A back end whose URLs lie on a disk reads them on a thread of its
 * own: take says BUSY, as it does for a URL that is too deep, and a later commit, which
 * may be an empty one, tells the owner that they are there (opts.ready).
 *
 * Time    plays no part.
 * Memory  the back end's, within max_bytes where it can keep that.
 * Threads one owner: the shard that opened it.
 */
#ifndef SN_STORE_H
#define SN_STORE_H

#include "base/str.h"

enum { SN_STORE_TEXT = 8192 }; /* bytes of a target, and of a parent */

/* A list; the caller's. It may be moved and copied, but is one list: whoever uses the
 * copy never uses the other again. */
typedef struct sn_url_list {
    uint32_t first, last; /* the back end's; 0: none */
    uint32_t n;           /* URLs */
} sn_url_list;

#define SN_URL_LIST ((sn_url_list){0})

typedef struct sn_waiting_url {
    sn_str host;   /* "https://e.example:443"; given to enqueue, never by take */
    sn_str target; /* "/path?query"; a whole URL where there is no host */
    sn_str parent; /* URL of the page it was found on; empty: none */
    uint64_t number;
    uint32_t line, depth;
    uint8_t moved;
    uint8_t kind;    /* < 8 */
    uint8_t ceiling; /* < 4 */
    uint8_t tag;     /* < 64 */
    uint8_t attr;    /* < 16 */
    uint8_t flags;
} sn_waiting_url;

/* What has become of URLs that were taken. Arrays are borrowed for the call. */
typedef struct sn_group {
    const uint64_t *done; /* numbers of those whose record is out */
    uint32_t n_done;
    sn_url_list *lost; /* a list that cannot be read: it is given up, and empty after the
                          call; NULL: none */
} sn_group;

/* Where scan puts what an earlier run has left. */
typedef struct sn_scan {
    /* The list in which one more URL of that host and kind waits; used before the next
     * call. NULL ends the scan: NOMEM. */
    sn_url_list *(*list)(sn_str host, uint8_t kind, void *arg);
    void *arg;
} sn_scan;

typedef struct sn_store_opts {
    size_t max_bytes;  /* in memory; 0: no limit */
    const char *spill; /* directory for what does not fit, copied; NULL: /tmp */
    /* The URL of that host for which take said BUSY is in memory now. Called inside of
     * commit; NULL: nobody wants to know. */
    void (*ready)(sn_str host, void *arg);
    void *arg;
} sn_store_opts;

typedef struct sn_store_figures {
    uint64_t urls;   /* in lists */
    uint64_t done;   /* finished by commits */
    uint64_t groups; /* commits that are durable, as far as the back end keeps anything */
    uint64_t bytes;  /* in memory, what the heap adds included */
    uint64_t spilled; /* bytes that are in a file and not in memory */
} sn_store_figures;

typedef struct sn_store sn_store;

typedef struct sn_store_ops {
    seine_err (*open)(const sn_store_opts *o, sn_store **out_store);
    seine_err (*scan)(sn_store *s, const sn_scan *into);
    seine_err (*enqueue)(sn_store *s, sn_url_list *list, const sn_waiting_url *url);
    seine_err (*take)(sn_store *s, sn_url_list *list, uint32_t deepest,
                      sn_waiting_url *out_url);
    seine_err (*commit)(sn_store *s, const sn_group *group);
    seine_err (*close)(sn_store *s, bool clean);
} sn_store_ops;

struct sn_store { /* a back end begins with it */
    const sn_store_ops *ops;
    sn_store_figures figures; /* kept by the back end */
};

/* Opens what an earlier run has left, or an empty store. NOMEM; IO, STATE_LOCKED,
 * STATE_CORRUPT, STATE_FOREIGN, STATE_NEWER: there is no store. */
SEINE_MUST_CHECK static inline seine_err
sn_store_open(const sn_store_ops *back_end, const sn_store_opts *o, sn_store **out_store)
{
    return back_end->open(o, out_store);
}

/* Fills lists with the URLs that an earlier run has left unfinished, in the order in
 * which they were enqueued; once, before anything else. NOMEM, IO, STATE_CORRUPT. */
SEINE_MUST_CHECK static inline seine_err
sn_store_scan(sn_store *s, const sn_scan *into)
{
    return s->ops->scan(s, into);
}

/* Adds at the end of the list; everything is copied. NOMEM, DISK_FULL, NO_FILES, IO: list
 * and store are as before. RANGE: a text is longer than SN_STORE_TEXT; INVAL: a member is
 * beyond its bound. */
SEINE_MUST_CHECK static inline seine_err
sn_store_enqueue(sn_store *s, sn_url_list *list, const sn_waiting_url *url)
{
    return s->ops->enqueue(s, list, url);
}

/* Shows the first URL of the list and removes it; its texts are valid until the next
 * call. CLOSED: the list is empty. BUSY: the URL is deeper than `deepest`, or not in
 * memory yet; it stays. NOMEM, IO: likewise. STATE_CORRUPT: what is read is not what was
 * written; the list can be given up. */
SEINE_MUST_CHECK static inline seine_err
sn_store_take(sn_store *s, sn_url_list *list, uint32_t deepest, sn_waiting_url *out_url)
{
    return s->ops->take(s, list, deepest, out_url);
}

/* Finishes URLs: they, and all that was enqueued before, become durable together. The
 * owner commits at the end of every turn, also when nothing was finished. An error:
 * nothing of it is durable, and no later call succeeds. */
SEINE_MUST_CHECK static inline seine_err
sn_store_commit(sn_store *s, const sn_group *group)
{
    return s->ops->commit(s, group);
}

/* Frees the store in every case, with all lists; NULL is fine. `clean`: nothing waits any
 * more, or the user has stopped the run in order. FSYNC_FAILED, IO: what the last commits
 * said may be lost. */
static inline seine_err
sn_store_close(sn_store *s, bool clean)
{
    return s ? s->ops->close(s, clean) : SEINE_OK;
}

#endif
