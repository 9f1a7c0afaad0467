/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h - stage 3: a visit that may start becomes a request, and the response is put
 * into the visit.
 *
 * This stage builds the request (method, fields by their reach, body, deadline), hands it
 * to the transport, and gives head, body and end to engine/response.h. It decides
 * nothing: the verdict says what an end means.
 *
 *     sn_requests_start(r, visit, pin, now, wall);    READY → IN_FLIGHT
 *     now = turn(transport, until);                   head, body, end
 *     while ((v = sn_requests_ended(r)))              v->end, and what the head said
 *         …
 *
 * Time    is passed in; inside of a turn the clock of the env is read.
 * Memory  a request lies in its visit; a text of cookies on the heap.
 * Threads one owner.
 */
#ifndef SN_REQUEST_H
#define SN_REQUEST_H

#include "base/env.h"
#include "engine/page.h"
#include "engine/proxy_breaker.h"
#include "engine/shared_state.h"

/* What the transport asks and tells in the middle of a turn, for the scheduler. */
typedef struct sn_requests_ops {
    seine_err (*admit)(sn_visit *v, const sn_ip *peer, void *arg); /* this address? */
    seine_err (*may_send)(sn_visit *v, void *arg); /* its connection is open now */
    void (*sent)(sn_visit *v, void *arg);          /* the server is about to see it */
    void (*head)(sn_visit *v, uint16_t status, void *arg); /* it asks to be left alone */
    void *arg;
} sn_requests_ops;

/* The last Content-Type and what it says: most pages of a site have the same. */
typedef struct sn_type_memo {
    char value[64], type[64], charset[64];    /* not terminated */
    uint8_t value_len, type_len, charset_len; /* 0: none, or nothing is known yet */
} sn_type_memo;

typedef struct sn_requests {
    sn_shared_state *shared;
    const sn_env *env;
    sn_requests_ops ops;
    sn_field *home; /* what goes with a request to a given URL */
    size_t n_home;
    sn_buf home_written; /* the same as text; empty: it has to be written each time */
    sn_field *plain;     /* User-Agent, From, Accept, Accept-Encoding */
    size_t n_plain;
    bool conditional, range; /* `home` has such fields */
    sn_proxy_breakers proxy_breakers;
    sn_handler_ops handler;
    sn_visit *flying; /* newest first */
    sn_type_memo types;
    sn_page_pool pages;  /* readers of pages; a visit has one until sn_response_drop */
    bool reads_later;    /* pages for their links: engine/page_readers.h reads them */
    uint64_t page_bytes; /* of bodies that are read, since somebody set it to 0 */
    uint32_t n;          /* flying */
    uint32_t releases, evictions; /* of the memory brake, when it was looked at */
    seine_time ask_at, evict_at;  /* while records are written in order; or NEVER */
    sn_visit *ended, *last_ended;
} sn_requests;

SEINE_MUST_CHECK seine_err sn_requests_init(sn_requests *r, sn_shared_state *shared,
                                            const sn_env *env,
                                            const sn_requests_ops *ops);
void sn_requests_fini(sn_requests *r); /* nothing is flying */

/* The visit is in flight. When the request cannot be begun it has ended already, with
 * the reason in v->end, and comes out of sn_requests_ended like the others. */
void sn_requests_start(sn_requests *r, sn_visit *v, sn_address_zone pin, seine_time now,
                       int64_t wall);

/* The next visit whose exchange has ended, in the order of their ends. NULL: none. */
sn_visit *sn_requests_ended(sn_requests *r);

/* Memory may have come back: those that wait for it ask again, or are evicted. */
void sn_requests_resume(sn_requests *r, seine_time now);

/* True if memory came back, or somebody is to be evicted, since then. */
bool sn_requests_may_resume(const sn_requests *r);

/* All that fly end with `why` in a later turn; or those that `is` says yes to. */
void sn_requests_cancel(sn_requests *r, seine_err why);
void sn_requests_cancel_some(sn_requests *r, seine_err why,
                             bool (*is)(const sn_visit *v, void *arg), void *arg);

/* The fields of its request: borrowed, or in the visit's arena. False: no memory. */
bool sn_requests_fields(const sn_requests *r, sn_visit *v, sn_request *out_request);

#endif
