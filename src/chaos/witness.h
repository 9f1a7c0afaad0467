/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness.h - counts what the server saw, per host, address and path.
 *
 * The witness keeps figures per host (the Host field without its port), per own address
 * (127.1.0.3) and per path of a host. It notes a request when its head is complete, and
 * again when its response has ended, whole or not:
 *
 *     snc_seen seen = snc_witness_arrive(&w, &arrival);
 *     …
 *     snc_witness_end(&w, &seen, &ending);
 *
 * The witness remembers Retry-After: a request that comes before the wait has ended, by
 * more than a millisecond, is early. Requests in the first ten milliseconds do not count,
 * since they may have left before the response came.
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
    uint64_t proxied;                     /* requests that came through us as a proxy */
    uint64_t hellos, handshakes, resumed; /* TLS: begun, complete, by ticket */
    seine_time retry_from, retry_until;   /* requests in between are early; 0: none */
    snc_arrivals arrivals;
    char *agents[SNC_WITNESS_AGENTS];
    size_t agent_count;
    char text[];
} snc_host;

typedef struct snc_path {
    uint64_t hits, ok_hits, duplicates;
    sn_str key;    /* host, a zero byte, path */
    size_t target; /* offset of the path in `key` */
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

/* Forgets everything except open connections; pointers in snc_seen and to snc_host become
 * invalid. */
void snc_witness_reset(snc_witness *w);

/* The record of that name, made when it is new; NULL: no room. */
snc_host *snc_witness_host(snc_witness *w, sn_str name);
snc_host *snc_witness_address(snc_witness *w, sn_str name);

/* A connection begins and ends at a host or an address; NULL is fine. */
void snc_host_open(snc_host *h);
void snc_host_close(snc_host *h);

/* A TLS handshake begins, or is complete; NULL is fine. */
void snc_witness_hello(snc_witness *w, snc_host *host, snc_host *address);
void snc_witness_greeted(snc_witness *w, snc_host *host, snc_host *address, bool resumed);

typedef struct snc_arrival {
    seine_time at;
    snc_host *host, *address; /* NULL: not kept */
    sn_str path, agent;       /* agent.ptr NULL: none */
} snc_arrival;

/* A request in flight, and the records that count it. */
typedef struct snc_seen {
    snc_host *host, *address;
    snc_path *path;
    bool counted; /* it is counted as in flight */
} snc_seen;

snc_seen snc_witness_arrive(snc_witness *w, const snc_arrival *a);

typedef struct snc_ending {
    uint64_t bytes;
    bool whole, good; /* all of it was sent; it was an undamaged 2xx */
    bool reset;       /* we sent RST */
    bool aborted;     /* the client went away first */
} snc_ending;

void snc_witness_end(snc_witness *w, snc_seen *seen, const snc_ending *e);

/* The response to this request, sent `now`, asks clients to leave the host alone for
 * `wait`. */
void snc_witness_retry(snc_seen *seen, seine_time now, seine_span wait);

#endif
