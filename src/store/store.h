/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the URLs that a crawl has found and not finished.
 *
 * A store keeps URLs in lists, first in, first out. The lists are the caller's, 12 bytes
 * each; the frontier has one for every host. A URL enters a list by enqueue, leaves it by
 * take, and is finished by commit, when its record is written. A commit makes everything
 * enqueued and finished before it durable, all or nothing, so that no result is kept
 * without the links it led to.
 *
 * Seven functions make a back end, and every back end passes the same conformance suite
 * (tests/unit/store/test_store.c). One exists: store/store_mem.h, in memory, with a file
 * for what does not fit; it ends with the process.
 *
 *     #include "store/store_mem.h"
 *     sn_store_opts opts = {.max_bytes = 64 << 20};
 *     seine_err e = sn_store_open(back_end, &opts, &store);
 *     sn_url_list list = SN_URL_LIST;
 *     sn_waiting_url url = {.target = SN_STR("/path?query"), .number = 7};
 *     e = sn_store_enqueue(store, &list, &url);
 *     e = sn_store_take(store, &list, UINT32_MAX, &url);
 *     sn_group group = {.done = &url.number, .n_done = 1};
 *     e = sn_store_commit(store, &group);
 *     e = sn_store_close(store, true);
 *
 * A disk that fails ends the run, and the store helps to end it in order: `err` and `why`
 * keep the first failure, which every later commit returns. What can still be read can be
 * taken, and skip steps over what cannot, with its number.
 *
 * No function blocks but take of a list that is given up (SN_STORE_AT_ONCE). A back end
 * that keeps URLs on disk reads them on its own thread: take returns BUSY meanwhile, as
 * it does for a URL that is too deep, and a later commit, which may be empty, tells the
 * owner that they are there (opts.ready).
 *
 * Time    plays no part.
 * Memory  the back end's, within max_bytes where it can keep that.
 * Threads one owner: the shard that opened it.
 */
#ifndef SN_STORE_H
#define SN_STORE_H

#include "base/str.h"
#include "seine/diag.h"

enum { SN_STORE_TEXT = 8192 }; /* bytes of a target, and of a parent */

/* For take: a URL of any depth; the same, and the caller waits until it has been read. */
#define SN_STORE_ANY     (UINT32_MAX - 1)
#define SN_STORE_AT_ONCE UINT32_MAX

/* A list, owned by the caller. It may be moved; after copying it only one copy may be
 * used. */
typedef struct sn_url_list {
    uint32_t first, last; /* for the back end; 0: none */
    uint32_t n;           /* URLs */
} sn_url_list;

#define SN_URL_LIST ((sn_url_list){0})

typedef struct sn_waiting_url {
    sn_str host;   /* "https://e.example:443"; for enqueue only */
    sn_str target; /* "/path?query"; a whole URL if host is empty */
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

/* The results of taken URLs. Arrays are borrowed for the call. */
typedef struct sn_group {
    const uint64_t *done; /* numbers of URLs whose records are written */
    uint32_t n_done;
} sn_group;

/* URLs that could not be read. */
typedef struct sn_lost {
    uint32_t urls;
    uint32_t pages; /* those of kind 0 */
} sn_lost;

/* How scan returns the URLs of an earlier run. */
typedef struct sn_scan {
    /* Returns the list for one more URL of that host and kind; it is used before the next
     * call. NULL ends the scan with NOMEM. */
    sn_url_list *(*list)(sn_str host, uint8_t kind, void *arg);
    void *arg;
} sn_scan;

typedef struct sn_store_opts {
    size_t max_bytes;  /* in memory; 0: no limit */
    uint16_t together; /* bytes of URLs that are spilled together; 0: 1,016 */
    const char *spill; /* directory for what does not fit, copied; NULL: /tmp */
    /* Called inside commit: the URL of that host, for which take returned BUSY, is now in
     * memory. May be NULL. */
    void (*ready)(sn_str host, void *arg);
    void *arg;
    const struct sn_spill_disk *disk; /* file functions; NULL: the system's */
} sn_store_opts;

typedef struct sn_store_figures {
    uint64_t urls;    /* in lists */
    uint64_t done;    /* finished by commits */
    uint64_t groups;  /* durable commits, if the back end keeps anything */
    uint64_t bytes;   /* in memory, with heap overhead */
    uint64_t spilled; /* bytes in a file and not in memory */
} sn_store_figures;

typedef struct sn_store sn_store;

typedef struct sn_store_ops {
    seine_err (*open)(const sn_store_opts *o, sn_store **out_store);
    seine_err (*scan)(sn_store *s, const sn_scan *into);
    seine_err (*enqueue)(sn_store *s, sn_url_list *list, const sn_waiting_url *url);
    seine_err (*take)(sn_store *s, sn_url_list *list, uint32_t deepest,
                      sn_waiting_url *out_url);
    seine_err (*skip)(sn_store *s, sn_url_list *list, sn_lost *out_lost);
    seine_err (*commit)(sn_store *s, const sn_group *group);
    seine_err (*close)(sn_store *s, bool clean);
} sn_store_ops;

struct sn_store { /* the first member of every back end */
    const sn_store_ops *ops;
    sn_store_figures figures; /* counted by the back end */
    seine_err err;            /* the first failure of the disk; OK: none */
    seine_diag why;           /* of it, for people */
};

/* Opens the store of an earlier run, or an empty one. NOMEM; IO, STATE_LOCKED,
 * STATE_CORRUPT, STATE_FOREIGN, STATE_NEWER: not opened. */
SEINE_MUST_CHECK static inline seine_err
sn_store_open(const sn_store_ops *back_end, const sn_store_opts *o, sn_store **out_store)
{
    return back_end->open(o, out_store);
}

/* Fills lists with the unfinished URLs of an earlier run, in order of enqueue. Call it
 * once, before anything else. NOMEM, IO, STATE_CORRUPT. */
SEINE_MUST_CHECK static inline seine_err
sn_store_scan(sn_store *s, const sn_scan *into)
{
    return s->ops->scan(s, into);
}

/* Appends a copy to the list. NOMEM: nothing changed. RANGE: a text is longer than
 * SN_STORE_TEXT. INVAL: a member is out of bounds. A disk that cannot be written is no
 * error here: the URL stays in memory, and commit says so. */
SEINE_MUST_CHECK static inline seine_err
sn_store_enqueue(sn_store *s, sn_url_list *list, const sn_waiting_url *url)
{
    return s->ops->enqueue(s, list, url);
}

/* Removes the first URL of the list and writes it to *out_url; its texts are valid until
 * the next call. CLOSED: the list is empty. BUSY: the URL is deeper than `deepest`, or
 * not in memory yet; it stays. With SN_STORE_AT_ONCE, for lists that are given up, it is
 * never BUSY. NOMEM, IO, STATE_CORRUPT: it cannot be read; it stays
 * until skip. */
SEINE_MUST_CHECK static inline seine_err
sn_store_take(sn_store *s, sn_url_list *list, uint32_t deepest, sn_waiting_url *out_url)
{
    return s->ops->take(s, list, deepest, out_url);
}

/* Drops the head of the list: as many URLs as the back end reads at once, which is the
 * part that take could not read. CLOSED: the list is empty. */
SEINE_MUST_CHECK static inline seine_err
sn_store_skip(sn_store *s, sn_url_list *list, sn_lost *out_lost)
{
    return s->ops->skip(s, list, out_lost);
}

/* Finishes URLs: they and everything enqueued before become durable together. The owner
 * commits at the end of every turn, even if nothing was finished. DISK_FULL, NO_FILES,
 * IO, STATE_CORRUPT, NOMEM: the disk has failed, now or before; nothing is durable. */
SEINE_MUST_CHECK static inline seine_err
sn_store_commit(sn_store *s, const sn_group *group)
{
    return s->ops->commit(s, group);
}

/* Frees the store and all lists in every case; NULL is fine. `clean`: no URL waits, or
 * the user stopped the run in order. FSYNC_FAILED, IO: the last commits may be lost. */
static inline seine_err
sn_store_close(sn_store *s, bool clean)
{
    return s ? s->ops->close(s, clean) : SEINE_OK;
}

#endif
