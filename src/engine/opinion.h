/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opinion.h - what is there against a URL that was found, by its text alone?
 *
 * The order decides which rule its record names: no http or https, out of scope or
 * sifted out, a port of another protocol, the shape of a trap. What depends on the host
 * it belongs to (robots.txt, how many there are of it) is the frontier's business.
 *
 *     if (sn_opinion_refuses(&opts, scope, &url, &o))
 *         …                                   o.reason, o.rule
 *
 * Time    plays no part.
 * Memory  the caller's; the rule is a view into it or a constant.
 * Threads any thread.
 */
#ifndef SN_OPINION_H
#define SN_OPINION_H

#include "base/str.h"
#include "engine/scope.h"
#include "text/trap.h"

typedef struct sn_opinion {
    bool refused;
    seine_skip reason;
    sn_str rule;
    sn_ruled ruled; /* what the scope said, if it was asked */
} sn_opinion;

bool sn_opinion_refuses(const seine_fetch_opts *o, const sn_scope *scope,
                        const seine_url *url, sn_opinion *out);

/* How many URLs of such a pattern a host may have; 0: any number. Four names of
 * parameters are a form that was filled in: a tenth. */
uint32_t sn_opinion_budget(const seine_crawl_opts *o, const sn_trap_kind *kind);

#endif
