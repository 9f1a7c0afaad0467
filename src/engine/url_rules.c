/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/url_rules.h"

#include "net/address_guard.h"

static bool
set_refusal(sn_url_verdict *out, seine_skip reason, sn_str rule)
{
    out->refused = true;
    out->reason = reason;
    out->rule = rule;
    return true;
}

bool
sn_url_rules_refuse(const seine_fetch_opts *o, const sn_scope *scope,
                    const seine_url *url, bool is_part, sn_url_verdict *out)
{
    sn_str scheme = seine_url_scheme(url);
    bool is_https = sn_str_eq(scheme, SN_STR("https"));

    out->refused = false;
    if (!is_https && !sn_str_eq(scheme, SN_STR("http")))
        return set_refusal(out, SEINE_SKIP_SCHEME, SN_STR("neither http nor https"));
    if (o->https_only && !is_https)
        return set_refusal(out, SEINE_SKIP_SCHEME, SN_STR("https only"));
    sn_scope_judge(scope, url, is_part, &out->verdict);
    if (!out->verdict.in)
        return set_refusal(out, out->verdict.reason,
                           (sn_str){out->verdict.rule, out->verdict.len});
    if (sn_address_guard_blocks_port((uint16_t)seine_url_port(url)))
        return set_refusal(out, SEINE_SKIP_PORT, SN_STR("a port of another protocol"));
    return false;
}

uint32_t
sn_url_rules_budget(const seine_crawl_opts *o, const sn_trap_kind *kind)
{
    return kind->varies ? o->pattern_budget : 0;
}
