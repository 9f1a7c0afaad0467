/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret_leaks.h - finds secrets in requests to the wrong origin.
 *
 * A test registers a secret with the origin it belongs to; registered again with another
 * origin, it belongs to both. Every request to other origins is searched for it: target,
 * fields, body; as it is, and inside of base64, which is how a password travels. The
 * default port may be left out: http://a.test is http://a.test:80.
 *
 *     e = snc_secret_leaks_register(&leaks, SN_STR("hunter2"), SN_STR("http://a.test"));
 *     snc_secret_leaks_search(&leaks, origin, path, "header authorization", value);
 *
 * Time    plays no part.
 * Memory  64 secrets of at most 1,024 bytes, 1,000 leaks; more are counted.
 * Threads one owner.
 */
#ifndef SNC_SECRET_LEAKS_H
#define SNC_SECRET_LEAKS_H

#include "base/buf.h"
#include "base/str.h"

#define SNC_SECRET_LEAKS_SECRETS 64
#define SNC_SECRET_LEAKS_LONGEST 1024
#define SNC_SECRET_LEAKS_FOUND   1000

typedef struct snc_secret_kept {
    char *value, *origin; /* one allocation, with all of `coded` */
    size_t len, origin_len;
    char *coded[3]; /* its base64 behind 0, 1 and 2 other bytes */
    size_t coded_len[3];
} snc_secret_kept;

typedef struct snc_secret_leak {
    char *origin, *where, *path; /* one allocation */
} snc_secret_leak;

typedef struct snc_secret_leaks {
    snc_secret_kept secrets[SNC_SECRET_LEAKS_SECRETS];
    size_t secret_count;
    snc_secret_leak found[SNC_SECRET_LEAKS_FOUND];
    size_t found_count;
    uint64_t dropped;
} snc_secret_leaks;

void snc_secret_leaks_reset(snc_secret_leaks *l); /* also frees all */

/* INVAL: empty or too long; FULL; NOMEM. */
SEINE_MUST_CHECK seine_err snc_secret_leaks_register(snc_secret_leaks *l, sn_str value,
                                                     sn_str origin);

/* Searches for secrets of other origins; returns how many it found. */
size_t snc_secret_leaks_search(snc_secret_leaks *l, sn_str origin, sn_str path,
                               const char *where, sn_str text);

/* Notes a leak that was found otherwise. */
void snc_secret_leaks_note(snc_secret_leaks *l, sn_str origin, sn_str path,
                           const char *where);

/* Writes the leaks as a sorted JSON array. */
void snc_secret_leaks_report(snc_secret_leaks *l, sn_buf *out);

#endif
