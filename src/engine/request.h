/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - stage 3: a visit that may start becomes a request; what comes back is put
 * into the visit.
 *
 * It builds the request (method, fields by their reach, body, deadline), hands it to the
 * transport, and takes in head, pieces of the body and the end. It decides nothing: what
 * an end means is verdict's business.
 *
 *     e = sn_requests_start(w, visit, pin, now);        READY → IN_FLIGHT
 *     now = transport->turn(…);                     head, body, end
 *     while ((v = sn_requests_ended(w)))                v->end, and what the head said
 *         …
 *
 * Body bytes are kept only if the options say so, and reserved from the budget before
 * they grow; when there is no room the exchange is cut off, and the reason stands in
 * v->kept.err. Pages are read while they arrive (engine/page.h): v->page is there when
 * the body ended well, and nothing that is made of a body is kept of one that did not.
 *
 * Two things end an exchange early and well (v->enough): robots.txt beyond 512 KiB, and
 * a type that is not asked for (v->not_wanted).
 *
 * Time    is passed in; `at` of the shard for what happens inside of a turn.
 * Memory  a flight per request under way, used again.
 * Threads one owner.
 */
#ifndef SN_REQUEST_H
#define SN_REQUEST_H

#include "base/env.h"
#include "engine/page.h"
#include "engine/proxy_breaker.h"
#include "engine/shared_state.h"

/* One request under way: what the transport borrows until its end. */
typedef struct sn_flight {
    struct sn_flight *next, *prev;
    struct sn_requests *requests;
    sn_visit *visit;
    sn_request request;
    sn_limits limits; /* if the visit has a time-out of its own */
    seine_permit via; /* of its proxy */
    char *cookie;     /* what the jar had for it; NULL: nothing yet */
    size_t cookie_room;
} sn_flight;

/* What the transport asks and tells in the middle of a turn, for the scheduler. */
typedef struct sn_requests_ops {
    seine_err (*admit)(sn_visit *v, const sn_ip *peer, void *arg); /* this address? */
    void (*sent)(sn_visit *v, void *arg); /* the server is about to see it */
    void (*head)(sn_visit *v, uint16_t status, void *arg); /* it asks to be left alone */
    void *arg;
} sn_requests_ops;

typedef struct sn_requests {
    sn_shared_state *shared;
    const sn_env *env;
    sn_requests_ops ops;
    sn_field *home; /* what goes with a request to a given URL */
    size_t n_home;
    sn_field *plain; /* User-Agent, From, Accept, Accept-Encoding */
    size_t n_plain;
    bool conditional, range; /* `home` has such fields */
    sn_proxy_breakers proxy_breakers;
    sn_flight *flying; /* newest first */
    sn_flight *spare;
    sn_page_pool
        pages;  /* readers of bodies; a visit has its own until sn_requests_drop */
    uint32_t n; /* flying */
    sn_visit *ended, *last_ended;
} sn_requests;

SEINE_MUST_CHECK seine_err sn_requests_init(sn_requests *w, sn_shared_state *shared,
                                            const sn_env *env,
                                            const sn_requests_ops *ops);
void sn_requests_fini(sn_requests *w); /* nothing is flying */

/* The visit is in flight. When the request cannot be begun it has ended already, with
 * the reason in v->end, and comes out of sn_requests_ended like the others. */
void sn_requests_start(sn_requests *w, sn_visit *v, sn_address_zone pin, seine_time now,
                       int64_t wall);

/* The next visit whose exchange has ended, in the order of their ends. NULL: none. */
sn_visit *sn_requests_ended(sn_requests *w);

/* All that fly end with `why` in a later turn. */
void sn_requests_cancel(sn_requests *w, seine_err why);

/* What was kept of a body goes, its reader and its memory; before the visit waits, or is
 * gone. */
void sn_requests_drop(sn_requests *w, sn_visit *v);

/* The fields of its request: borrowed, or in the visit's arena. False: no memory. */
bool sn_requests_fields(const sn_requests *w, sn_visit *v, sn_request *out_request);

/* Media type and charset of a Content-Type, in lower case. */
void sn_requests_content_type(sn_arena *arena, sn_str value, sn_str *out_type,
                              sn_str *out_charset);

#endif
