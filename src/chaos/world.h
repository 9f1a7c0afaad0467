/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - everything the server knows, without a socket.
 *
 * A request goes in, a response comes out, and the caller then says how the response
 * ended:
 *
 *     snc_trace trace;
 *     snc_response response;
 *     if (snc_world_request(&world, &visitor, &req, now, &response, &trace) == SEINE_OK)
 *         …
 *     snc_world_end(&world, &trace, &ending);
 *
 * The first source that matches decides: /_chaos/…, the script's robots.txt, the script's
 * faults, the site at the root, the words of the path with the flow of the query.
 *
 * Time    is passed in.
 * Memory  bounded by the parts (witness, hit_counter, coverage, secret_leaks,
 *         request_log, script); the report counts what was dropped.
 * Threads one owner.
 */
#ifndef SNC_WORLD_H
#define SNC_WORLD_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "chaos/coverage.h"
#include "chaos/hit_counter.h"
#include "chaos/plan.h"
#include "chaos/request.h"
#include "chaos/request_log.h"
#include "chaos/response.h"
#include "chaos/script.h"
#include "chaos/secret_leaks.h"
#include "chaos/tls.h"
#include "chaos/url_words.h"
#include "chaos/witness.h"

#define SNC_WORLD_WORDS 64 /* words that tests may add */

typedef struct snc_world {
    uint64_t seed;
    uint16_t port, tls_port, socks_port; /* 0: closed */
    uint16_t dead_port, hole_port;
    uint64_t epoch; /* number of resets */
    snc_witness witness;
    snc_hit_counter counter;
    snc_coverage coverage;
    snc_secret_leaks leaks;
    snc_request_log request_log;
    snc_script script;
    size_t script_base; /* rules that stay after a reset */
    sn_map added;
    uint64_t control, bad_requests, queries;
    struct {
        const char *why; /* static */
        uint64_t count;
    } bad[32];
    sn_arena arena; /* of the current request */
    sn_buf text;    /* its response */
    sn_buf report;
    sn_buf lines;
    sn_buf line; /* of the request_log */
    int folder;  /* the directory of `file:`; -1: none */
    sn_buf file; /* the bytes of the one that is served */
} snc_world;

/* The client that sends a request. */
typedef struct snc_visitor {
    uint64_t connection, nth; /* of the request on its connection, from 1 */
    snc_host *address;        /* the address it connected to */
    sn_str peer;              /* "127.0.0.1:50412" */
    sn_str own;               /* "127.0.0.1", the address it connected to */
    bool tunnelled;           /* through us as a proxy */
    const snc_tls_facts *tls; /* NULL: plain */
    sn_str body;
    uint64_t body_len;
    int64_t wall; /* Unix time in ns, for Retry-After dates */
} snc_visitor;

/* What to note when the response has ended. */
typedef struct snc_trace {
    uint64_t epoch;
    snc_seen seen;
    snc_key *key;
    snc_site_pages *asked;
    uint64_t page;
    unsigned status;
    bool whole;             /* as planned */
    seine_span retry_after; /* 0: none */
} snc_trace;

SEINE_MUST_CHECK seine_err snc_world_init(snc_world *w, uint64_t seed);
void snc_world_fini(snc_world *w);

/* Forgets hits, figures, secrets and posted rules. */
void snc_world_reset(snc_world *w);

/* NOMEM and FULL: there is no response, and nothing to end. */
SEINE_MUST_CHECK seine_err snc_world_request(snc_world *w, const snc_visitor *v,
                                             const snc_request *req, seine_time now,
                                             snc_response *out_response,
                                             snc_trace *out_trace);
void snc_world_end(snc_world *w, snc_trace *trace, const snc_ending *e);

/* The first byte of the response goes out now: its Retry-After counts from here. */
void snc_world_begin(snc_world *w, snc_trace *trace, seine_time now);

/* Makes the response to a malformed request; `why` is static. */
void snc_world_bad(snc_world *w, const char *why, snc_response *out_response);

void snc_world_count_bad(snc_world *w, const char *why);

/* INVAL: a name of the table, no name, or wrong words. ALREADY, FULL, NOMEM. */
SEINE_MUST_CHECK seine_err snc_world_add(snc_world *w, sn_str name, sn_str words,
                                         sn_str bytes);

/* Writes the report, on one line. */
void snc_world_report(snc_world *w, sn_buf *out);

/* /_chaos/…: fills in a plan. */
SEINE_MUST_CHECK seine_err snc_control(snc_world *w, const snc_request *req, sn_str body,
                                       snc_plan *p);

#endif
