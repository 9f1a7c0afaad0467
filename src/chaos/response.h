/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.h - a plan becomes bytes.
 *
 * The head and short texts are written into a buffer, the rest is pieces of a wire
 * that are made while they are sent. What the connection has to do besides (wait,
 * drip, cut, close) comes out as a handful of numbers.
 *
 *     snc_response a;
 *     if (snc_response_make(&a, &plan, &stage) != SEINE_OK)
 *         drop();
 *     if (a.delay > 0)
 *         wait_for(a.delay);
 *     send_all_of(&a.wire);
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

/* Whom it is for. */
typedef struct snc_stage {
    const snc_request *req;
    sn_buf *text; /* reset here */
    const struct snc_request_log *request_log;
    uint64_t seed, hit, connection, nth;
    sn_str key, peer;
    sn_str origin; /* "http://127.0.0.1:8080", as it was asked for */
    sn_str body;   /* of the request, as far as it was kept */
    uint64_t body_len;
    const snc_tls_facts *tls; /* of the connection; NULL: plain */
    bool secure;              /* it was asked for as https:// */
    uint16_t port, dead_port;
} snc_stage;

typedef struct snc_response {
    snc_wire wire;
    unsigned status;
    bool keep;  /* the connection lives on */
    bool whole; /* a client may take it for a whole response */
    bool mute;
    seine_span delay;
    uint64_t drip, drip_from; /* bytes at a time, from this one on */
    seine_span every;
    snc_cut cut;
    uint64_t cut_at; /* of all bytes */
    bool unclean;    /* no close_notify before FIN */
    seine_span idle;
    snc_idle idle_end;
} snc_response;

SEINE_MUST_CHECK seine_err snc_response_make(snc_response *a, const snc_plan *p,
                                             const snc_stage *st);
void snc_response_fini(snc_response *a);

/* "Not Found"; "Status" for one that has no name. */
const char *snc_response_reason(unsigned status);

/* The field that asks to be left alone, or an empty text. */
sn_str snc_response_retry_after(const snc_plan *p);

#endif
