/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - turns a plan into the bytes of a response.
 *
 * The head and short texts are written into a buffer; the rest are pieces of a wire that
 * are generated while they are sent. What the connection must do besides (wait, drip,
 * cut, close) comes out as numbers.
 *
 *     snc_response r;
 *     if (snc_response_make(&r, &plan, &stage) != SEINE_OK)
 *         drop();
 *     if (r.delay > 0)
 *         wait_for(r.delay);
 *     send_all_of(&r.wire);
 *
 * Time    spans only.
 * Memory  the stage's buffer, until snc_wire_keep; a list of a site keeps a copy
 *         of its own.
 * Threads one owner.
 */
#ifndef SNC_RESPONSE_H
#define SNC_RESPONSE_H

#include "chaos/plan.h"
#include "chaos/request.h"
#include "chaos/site.h"
#include "chaos/tls.h"
#include "chaos/wire.h"

/* What a response depends on besides its plan. */
typedef struct snc_stage {
    const snc_request *req;
    sn_buf *text; /* reset here */
    const struct snc_request_log *request_log;
    uint64_t seed, hit, connection, nth;
    sn_str key, peer;
    sn_str origin; /* "http://127.0.0.1:8080", as in the request */
    sn_str body;   /* of the request, as far as it was kept */
    uint64_t body_len;
    const snc_tls_facts *tls; /* of the connection; NULL: plain */
    bool secure;              /* the request was for https:// */
    uint16_t port, dead_port;
} snc_stage;

typedef struct snc_response {
    snc_wire wire;
    unsigned status;
    bool keep;  /* the connection stays open */
    bool whole; /* a client may accept it as complete */
    bool mute;
    seine_span delay;
    uint64_t drip, drip_from; /* bytes at a time, from byte drip_from on */
    seine_span every;
    snc_cut cut;
    uint64_t cut_at; /* counted over all bytes */
    bool unclean;    /* FIN without a close_notify */
    seine_span idle;
    snc_idle idle_end;
} snc_response;

SEINE_MUST_CHECK seine_err snc_response_make(snc_response *a, const snc_plan *p,
                                             const snc_stage *st);
void snc_response_fini(snc_response *a);

/* "Not Found"; "Status" for a status without a name. */
const char *snc_response_reason(unsigned status);

/* The value of Retry-After, or an empty text. */
sn_str snc_response_retry_after(const snc_plan *p);

#endif
