/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - what happens on the way of a URL, told to people while it happens.
 *
 * Nothing is written unless `on_trace` of the options is set. Fields that may be secret
 * are REDACTED; the body of a request is left out.
 *
 *     if (sn_trace_is_on(shared))
 *         sn_trace_request(shared, v, &request);
 *
 * Time    is passed in.
 * Memory  texts are on the stack, or in the arena of the visit.
 * Threads one owner: that of the visit.
 */
#ifndef SN_TRACE_H
#define SN_TRACE_H

#include "engine/shared_state.h"
#include "engine/visit.h"
#include "net/head.h"

static inline bool
sn_trace_is_on(const sn_shared_state *s)
{
    return s->opts.on_trace != NULL;
}

void sn_trace_text(const sn_shared_state *s, const sn_visit *v, const char *what,
                   sn_str text);
void sn_trace_request(const sn_shared_state *s, sn_visit *v, const sn_request *request);
void sn_trace_head(const sn_shared_state *s, sn_visit *v, const sn_head *head);
/* It has waited, and leaves now. */
void sn_trace_wait(const sn_shared_state *s, const sn_visit *v, seine_wait why,
                   seine_span waited);
void sn_trace_retry(const sn_shared_state *s, const sn_visit *v, seine_wait why,
                    seine_span wait);

#endif
