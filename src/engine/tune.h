/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h - what was changed of the limits of a run while it goes on?
 *
 * A list that only grows: whoever changes a limit appends, and each shard takes what is
 * new since its last turn. A shard that has nothing new to take reads one number.
 *
 *     e = sn_tunes_put(&tunes, &tune);                 any thread
 *     while (sn_tunes_next(&tunes, &at, &tune))        a shard, with a place of its own
 *         change_limits(&tune);
 *
 * Time    plays no part.
 * Memory  a plain value a change, at most SN_TUNES_MOST of them.
 * Threads any thread.
 */
#ifndef SN_TUNE_H
#define SN_TUNE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/str.h"
#include "seine/limiter.h"
#include "seine/shared.h"

enum { SN_TUNES_MOST = 10000, SN_TUNE_HOST = 272 };

typedef struct sn_tune {
    char host[SN_TUNE_HOST]; /* "e.example", "e.example:8080"; "": all */
    bool has_rate, has_host_rate;
    seine_shared *rate;                /* over all hosts; NULL: off */
    seine_rate host_rate;              /* count 0: off */
    uint32_t per_host;                 /* 0: as it is */
    bool resets_breaker;               /* of `host`; no limit changes */
    struct sn_host_policies *policies; /* of single hosts, from now on; NULL: as it is */
} sn_tune;

typedef struct sn_tunes {
    pthread_mutex_t lock;
    sn_tune *all;
    size_t n, room;
    _Atomic size_t shown; /* n, for those that look without the lock */
} sn_tunes;

void sn_tunes_init(sn_tunes *t);
void sn_tunes_fini(sn_tunes *t);

/* FULL: there were too many. NOMEM. */
SEINE_MUST_CHECK seine_err sn_tunes_put(sn_tunes *t, const sn_tune *tune);

/* The change behind the first *at. False: there is none. */
bool sn_tunes_next(sn_tunes *t, size_t *at, sn_tune *out_tune);

/* Is this the host of "https://e.example:443"? A name without a port is any of its
 * ports. */
bool sn_tune_fits(const char *host, sn_str name);

#endif
