/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decide.h - which plan does a request get?
 *
 *     snc_deciding d = {.w = &world, .req = &req, …};
 *     snc_decide(&d);
 *     follow(d.plan);
 *
 * The first source that knows the path decides: robots.txt of the script, faults of the
 * script, the site at the root, words and flow of the URL. Nothing is sent and nothing
 * waits here.
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
    sn_str fault; /* words instead of the path; ptr NULL: none */
} snc_deciding;

void snc_decide(snc_deciding *d);

/* Turns a plan of SNC_FINAL_SITE into what `rest` names: a page, a fault of it, a
 * redirect, 404. */
void snc_decide_site(snc_deciding *d);

/* Reads the file that a plan of SNC_FINAL_FILE names, or plans why there is none. */
void snc_decide_file(snc_deciding *d);

/* Plans a short text with this status, whatever was planned before. */
void snc_decide_say(snc_deciding *d, unsigned status, sn_str text);

#endif
