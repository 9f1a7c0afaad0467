/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commons.h - what all shards of one fetch share, and nothing else is shared.
 *
 * The options as given, the count of requests in flight and the bucket of the whole
 * (one atomic each), the table of addresses, the memory budget, the visits, the set of
 * URLs seen, and one byte that says stop.
 *
 * Time    plays no part.
 * Memory  made once; freed when all shards are gone.
 * Threads any thread, each member by its own rule.
 */
#ifndef SN_COMMONS_H
#define SN_COMMONS_H

#include <stdatomic.h>

#include "engine/ipcap.h"
#include "engine/visit.h"
#include "net/proxy.h"
#include "net/tls.h"
#include "net/zone.h"
#include "seine/fetch.h"
#include "seine/seen.h"
#include "seine/shared.h"

enum {
    SN_GOING,
    SN_DRAINING,
    SN_STOPPING
}; /* no new request; nothing in flight either */

typedef struct sn_commons {
    seine_fetch_opts opts; /* texts and arrays in `memory` */
    sn_arena memory;
    sn_limits limits; /* of a request, from opts */
    sn_visits *visits;
    seine_seen *seen;         /* NULL: --dedup off */
    seine_throttle in_flight; /* --concurrency */
    seine_shared *rate;       /* --rate; NULL: off */
    seine_budget *budget;     /* --max-memory */
    sn_tls_ctx *tls;          /* whom to trust */
    sn_proxies proxies;       /* never changes */
    sn_ipcap ipcap;
    bool has_ipcap, is_copied; /* the options */
    uint64_t secret[2];        /* of the hash that gives a host its shard */
    _Atomic uint64_t next_number;
    _Atomic int stop;          /* SN_GOING … */
    _Atomic int stop_why;      /* seine_err: CANCELED, DEADLINE */
    _Atomic uint32_t narrowed; /* percent of --concurrency to use: descriptors ran out */
    _Atomic uint32_t starving; /* shards that wait for a slot of another */
} sn_commons;

/* Copies the options, checks those that only the engine can judge, makes what is
 * shared. CONFIG: out_why (SEINE_WHY bytes, or NULL) says which option and how. NOMEM. */
SEINE_MUST_CHECK seine_err sn_commons_init(sn_commons *c, const seine_fetch_opts *opts,
                                           char *out_why);
void sn_commons_fini(sn_commons *c); /* all visits are back */

/* The rate as a bucket that lets a shard which was woken late catch up: up to a
 * millisecond's worth of starts more, none of them at the beginning. */
seine_rate sn_commons_rate(seine_rate rate);

/* "scheme://name:port" of what is kept by host. */
#define SN_HOST_NAME 280

#endif
