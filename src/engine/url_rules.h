/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_rules.h - does the text of a URL that was found refuse it already?
 *
 * The record names the first rule that refuses: another scheme than http and https, out
 * of scope or filtered out, a port of another protocol. The frontier asks the rules that
 * depend on the host: robots.txt, budgets and traps.
 *
 *     if (sn_url_rules_refuse(&opts, scope, &url, false, &o))
 *         …                                   o.reason, o.rule
 *
 * Time    plays no part.
 * Memory  the caller's; the rule is a view into it or a constant.
 * Threads any thread.
 */
#ifndef SN_URL_RULES_H
#define SN_URL_RULES_H

#include "base/str.h"
#include "engine/scope.h"
#include "text/trap.h"

typedef struct sn_url_verdict {
    bool refused;
    seine_skip reason;
    sn_str rule;
    sn_scope_verdict verdict; /* what the scope said, if it was asked */
} sn_url_verdict;

/* `is_part`: a page in scope needs it, so it need not be in scope itself. */
bool sn_url_rules_refuse(const seine_fetch_opts *o, const sn_scope *scope,
                         const seine_url *url, bool is_part, sn_url_verdict *out);

/* After how many pages of such a pattern they are looked at; 0: never. */
uint32_t sn_url_rules_budget(const seine_crawl_opts *o, const sn_trap_kind *kind);

#endif
