/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - what the server saw, which is what counts.
 *
 * Figures per host (the Host field without its port), per own address (127.1.0.3)
 * and per path of a host. A request is noted when its head is complete and again
 * when its answer is over, whole or not:
 *
 *     snc_seen seen = snc_witness_arrive(&w, &arrival);
 *     …
 *     snc_witness_end(&w, &seen, &ending);
 *
 * Answers with Retry-After are remembered: requests that come before it has ended,
 * up to a millisecond, are early. Those of the first ten milliseconds are not; they
 * may have left before the answer came.
 *
 * Time    is passed in: arrival times on the server's monotonic clock.
 * Memory  at most 65,536 hosts and as many addresses, 200,000 paths, 64 MiB of
 *         arrival times, 16 user agents a host. What finds no room is counted.
 * Threads one owner.
 */
#ifndef SNC_WITNESS_H
#define SNC_WITNESS_H

#include "base/map.h"
#include "chaos/arrivals.h"

#define SNC_WITNESS_HOSTS  65536
#define SNC_WITNESS_PATHS  200000
#define SNC_WITNESS_AGENTS 16
#define SNC_WITNESS_PATH   1024 /* bytes of a path that are kept */

typedef struct snc_host {
    sn_str name;
    uint64_t requests, connections, bytes_out, resets, aborted, early, disallowed;
    uint64_t open, peak_open, in_flight, peak_in_flight;
    uint64_t proxied;                     /* requests that came through a proxy: us */
    uint64_t hellos, handshakes, resumed; /* of TLS: begun, ended well, with a ticket */
    seine_time retry_from, retry_until;   /* no request in between; 0: none */
    snc_arrivals arrivals;
    char *agents[SNC_WITNESS_AGENTS];
    size_t agent_count;
    char text[];
} snc_host;

typedef struct snc_path {
    uint64_t hits, ok_hits, duplicates;
    sn_str key;    /* host, a zero byte, path */
    size_t target; /* where the path starts in it */
    char text[];
} snc_path;

typedef struct snc_witness {
    sn_map hosts, addresses, paths;
    size_t budget; /* bytes left for arrival times */
    uint64_t hosts_dropped, paths_dropped;
    uint64_t requests, connections, in_flight, peak_in_flight, open, peak_open;
    uint64_t bytes_out, resets, aborted, refused;
    uint64_t hellos, handshakes, resumed;
    uint64_t proxied, connects, socks, socks_names, tunnels;
} snc_witness;

void snc_witness_init(snc_witness *w);
void snc_witness_fini(snc_witness *w);

/* Forgets everything but the connections that are open; what snc_seen and
 * snc_host pointers refer to is gone. */
void snc_witness_reset(snc_witness *w);

/* The record of that name, made when it is new; NULL: no room. */
snc_host *snc_witness_host(snc_witness *w, sn_str name);
snc_host *snc_witness_address(snc_witness *w, sn_str name);

/* A connection begins and ends at a host or an address; NULL is fine. */
void snc_host_open(snc_host *h);
void snc_host_close(snc_host *h);

/* A TLS handshake begins, and ends well; NULL is fine. */
void snc_witness_hello(snc_witness *w, snc_host *host, snc_host *address);
void snc_witness_greeted(snc_witness *w, snc_host *host, snc_host *address, bool resumed);

typedef struct snc_arrival {
    seine_time at;
    snc_host *host, *address; /* NULL: not kept */
    sn_str path, agent;       /* agent.ptr NULL: none */
} snc_arrival;

/* A request on its way, whoever of the records keeps it. */
typedef struct snc_seen {
    snc_host *host, *address;
    snc_path *path;
    bool counted; /* it is in flight */
} snc_seen;

snc_seen snc_witness_arrive(snc_witness *w, const snc_arrival *a);

typedef struct snc_ending {
    uint64_t bytes;
    bool whole, good; /* all of it was sent; and it was a right 2xx */
    bool reset;       /* we sent RST */
    bool aborted;     /* the client went away first */
} snc_ending;

void snc_witness_end(snc_witness *w, snc_seen *seen, const snc_ending *e);

/* The answer of this request, sent `now`, asks the host to be left alone so long. */
void snc_witness_retry(snc_seen *seen, seine_time now, seine_span wait);

#endif
