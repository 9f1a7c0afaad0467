/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.h - which plan a request gets.
 *
 *     snc_deciding d = {.w = &world, .ask = &ask, …};
 *     snc_decide(&d);
 *     d.plan
 *
 * Asked in this order, the first that knows the path answers: robots.txt of the
 * script, faults of the script, the site at the root, words and flow of the URL.
 * Nothing is sent and nothing is waited for here.
 *
 * Time    the arrival, in the trace.
 * Memory  texts from the arena of the scene.
 * Threads one owner.
 */
#ifndef SNC_DECIDE_H
#define SNC_DECIDE_H

#include "chaos/world.h"

typedef struct snc_deciding {
    snc_world *w;
    const snc_request *req;
    sn_str host; /* lower case, without its port */
    bool tls;
    snc_scene scene;
    snc_trace *trace;
    seine_time now;
    snc_plan plan;
    sn_str fault; /* what it gets instead of its path; ptr NULL: nothing */
} snc_deciding;

void snc_decide(snc_deciding *d);

/* A plan of SNC_FINAL_SITE becomes what its `rest` gets: a page, a fault of it, a
 * redirect, 404. */
void snc_decide_site(snc_deciding *d);

/* A short text with this status, whatever was planned before. */
void snc_decide_say(snc_deciding *d, unsigned status, sn_str text);

#endif
