/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_opts.h - which settings of a fetch are others for some hosts?
 *
 * An entry names hosts and the settings that differ for them; a bit in `set` says that a
 * setting counts. `hosts` of seine_fetch_opts points to such entries:
 *
 *     seine_host_opts slow = SEINE_HOST_OPTS;
 *     slow.match = "*.example.com";
 *     slow.set = SEINE_HOST_RATE | SEINE_HOST_PER_HOST;
 *     slow.rate = (seine_rate){1, SEINE_SECS(1), 1};
 *     slow.per_host = 1;
 *
 * For each setting the most specific entry counts that has it: the exact name with its
 * port, then the exact name, then the longest pattern. In a pattern `*` is any text;
 * case does not count. A name is that of a URL: "xn--…" for names of other scripts, and
 * "[::1]".
 *
 * A group is one limit for several hosts together, on top of their own: at most
 * `rate` starts and `per_host` requests in flight over all of them. Its members are
 * names, patterns, or networks ("203.0.113.0/24") that the addresses of hosts are in.
 *
 * Both can be replaced while the fetch runs: seine_fetch_hosts_set of fetch_control.h.
 *
 * Time    plays no part.
 * Memory  the caller's; a fetch copies them.
 * Threads plain values.
 */
#ifndef SEINE_HOST_OPTS_H
#define SEINE_HOST_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/breaker.h"
#include "seine/crawl.h"
#include "seine/limiter.h"
#include "seine/retry.h"
#include "seine/status_set.h"
#include "seine/time.h"
#include "seine/view.h"

enum { /* bits of `set` */
       SEINE_HOST_RATE = 1,
       SEINE_HOST_BURST = 1 << 1,
       SEINE_HOST_PER_HOST = 1 << 2,
       SEINE_HOST_ADAPTIVE = 1 << 3,
       SEINE_HOST_TIMEOUT = 1 << 4,
       SEINE_HOST_CONNECT_TIMEOUT = 1 << 5,
       SEINE_HOST_SPEED = 1 << 6,
       SEINE_HOST_RETRIES = 1 << 7,
       SEINE_HOST_RETRY_ON = 1 << 8,
       SEINE_HOST_BACKOFF = 1 << 9,
       SEINE_HOST_MAX_RETRY_AFTER = 1 << 10,
       SEINE_HOST_BREAKER = 1 << 11,
       SEINE_HOST_MAX_CRAWL_DELAY = 1 << 12,
       SEINE_HOST_ROBOTS = 1 << 13,
       SEINE_HOST_FIELDS = 1 << 14,
       SEINE_HOST_USER_AGENT = 1 << 15,
       SEINE_HOST_COOKIES = 1 << 16,
       SEINE_HOST_PROXY = 1 << 17,
       SEINE_HOST_INSECURE = 1 << 18,
       SEINE_HOST_MAX_BODY = 1 << 19,
       SEINE_HOST_ACCEPT = 1 << 20,
       SEINE_HOST_CACERT = 1 << 21
};

typedef struct seine_host_opts {
    size_t size;       /* of this struct: SEINE_HOST_OPTS sets it */
    const char *match; /* "e.example", "e.example:8080", "*.e.example" */
    bool is_weak;      /* weaker than every entry that is not */
    uint32_t set;      /* SEINE_HOST_…: which of these count */
    seine_rate rate;   /* count 0: off; its burst is looked at with BURST alone */
    uint32_t per_host;
    bool adaptive;
    seine_span timeout, connect_timeout;
    uint64_t speed_bytes; /* SPEED, with the next; 0: off */
    seine_span speed_span;
    uint32_t retries;              /* tries after the first */
    seine_status_set retry_status; /* RETRY_ON, with the next two */
    bool retry_not_net, retry_not_timeout;
    seine_span backoff_first, backoff_last; /* BACKOFF */
    seine_span max_retry_after;
    seine_breaker_opts breaker; /* BREAKER, with the next; thresholds 0: off */
    uint32_t park;              /* as in seine_fetch_opts */
    seine_span max_crawl_delay;
    seine_obey robots;
    const seine_field *fields; /* to the hosts of this entry alone */
    size_t n_fields;
    const char *user_agent;
    bool cookies;      /* false: none are sent there or taken from there */
    const char *proxy; /* "off": straight */
    bool insecure;     /* their certificates are not checked */
    uint64_t max_body;
    seine_status_set accept;
    const char *cacert; /* PEM: whom to trust there, not those of the run */
} seine_host_opts;

typedef struct seine_group_opts {
    size_t size;              /* of this struct: SEINE_GROUP_OPTS sets it */
    const char *name;         /* what it owes is kept under this name */
    const char *const *match; /* names, patterns, networks; ended by NULL */
    seine_rate rate;          /* of all together; count 0: off */
    uint32_t per_host;        /* in flight, all together; 0: off */
} seine_group_opts;

SEINE_BEGIN

void seine_host_opts_init(seine_host_opts *out_opts, size_t size);
void seine_group_opts_init(seine_group_opts *out_opts, size_t size);

/* How specific the entry is for this host, "e.example" or "e.example:8080": of two that
 * set the same the higher one counts. 0: the entry is not about it. */
uint32_t seine_host_opts_rank(const seine_host_opts *opts, const char *host);

static inline seine_host_opts
seine_host_defaults(void)
{
    seine_host_opts opts;

    seine_host_opts_init(&opts, sizeof opts);
    return opts;
}

static inline seine_group_opts
seine_group_defaults(void)
{
    seine_group_opts opts;

    seine_group_opts_init(&opts, sizeof opts);
    return opts;
}

#define SEINE_HOST_OPTS  seine_host_defaults()
#define SEINE_GROUP_OPTS seine_group_defaults()

SEINE_END

#endif
