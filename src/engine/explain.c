/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/explain.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "engine/fetch_opts.h"
#include "engine/robots_cache.h"
#include "engine/url_rules.h"
#include "net/address_guard.h"
#include "seine/seen.h"
#include "text/robots.h"

_Static_assert(sizeof(seine_explained) <= 18 * 1024, "explain.h says so");

struct seine_explain {
    const seine_fetch_opts *opts; /* the caller's, perhaps shorter than ours */
    sn_scope *scope;
    seine_seen *seeds; /* keys, and authorities of their hosts */
    char agent[SN_ROBOTS_AGENT_ROOM];
};

seine_err
seine_explain_new(const seine_fetch_opts *opts, seine_explain **out_explain,
                  seine_diag *diag)
{
    seine_fetch_opts whole;

    sn_diag_clear(diag);
    if (sn_fetch_opts_read(&whole, opts, NULL) != SEINE_OK || !opts->crawl)
        return SEINE_E_INVAL;
    seine_explain *x = sn_zalloc(sizeof *x);

    if (!x)
        return SEINE_E_NOMEM;
    x->opts = opts;
    sn_robots_name_agent(opts->robots_agent,
                         opts->user_agent ? opts->user_agent : "seine", x->agent);
    seine_err e = sn_scope_new(opts, &x->scope, diag);
    if (e == SEINE_OK)
        e = seine_seen_new(NULL, &x->seeds);
    if (e != SEINE_OK) {
        seine_explain_free(x);
        return e;
    }
    *out_explain = x;
    return SEINE_OK;
}

void
seine_explain_free(seine_explain *x)
{
    if (!x)
        return;
    sn_scope_free(x->scope);
    seine_seen_free(x->seeds);
    sn_free(x);
}

const char *
seine_explain_agent(const seine_explain *x)
{
    return x ? x->agent : "";
}

/* As links are read: without user and fragment. */
static seine_err
read_url(const char *text, size_t len, seine_url *u)
{
    seine_err e = seine_url_parse(u, text, len, NULL);

    if (e != SEINE_OK)
        return e;
    seine_url_drop_fragment(u);
    seine_url_drop_user(u);
    return SEINE_OK;
}

/* "https://e.example:443": no key looks like that, for a key has a path. */
static bool
is_given_host(const seine_explain *x, const seine_url *u)
{
    char host[320];
    size_t n = seine_url_authority(u, host, sizeof host);

    return n < sizeof host && seine_seen_has(x->seeds, host, n);
}

static seine_err
add_host(seine_explain *x, const seine_url *u)
{
    char host[320];
    size_t n = seine_url_authority(u, host, sizeof host);
    bool is_new;

    return n < sizeof host ? seine_seen_add(x->seeds, host, n, &is_new) : SEINE_OK;
}

seine_err
seine_explain_seed(seine_explain *x, const char *url, size_t len)
{
    if (!x)
        return SEINE_E_INVAL;
    char mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
    size_t key_len;
    bool is_new;
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    seine_err e = read_url(url, len, &u);
    sn_str scheme = seine_url_scheme(&u);
    if (e == SEINE_OK && !sn_str_eq(scheme, SN_STR("http")) &&
        !sn_str_eq(scheme, SN_STR("https")))
        e = SEINE_E_BLOCKED_SCHEME;
    if (e == SEINE_OK)
        e = seine_url_key(&u, x->opts->strip_params, key, sizeof key, &key_len);
    if (e == SEINE_OK)
        e = seine_seen_add(x->seeds, key, key_len, &is_new);
    if (e == SEINE_OK)
        e = add_host(x, &u);
    return e == SEINE_OK ? sn_scope_seed(x->scope, &u) : e;
}

const char *
seine_robots_state_name(seine_robots_state s)
{
    static const char *const names[] = {"unasked", "parsed", "absent", "unreachable"};

    return (unsigned)s < sizeof names / sizeof *names ? names[s] : "?";
}

void
seine_explain_robots(const seine_fault *end, seine_view body,
                     seine_robots_state *out_state, seine_robots **out_robots)
{
    if (!end || !out_state || !out_robots)
        return;
    sn_robots_cache r = {0};

    sn_robots_cache_settle(&r, end, body, NULL, 0);
    *out_robots = SN_STEAL(r.robots);
    *out_state = r.state == SN_ROBOTS_PARSED   ? SEINE_ROBOTS_PARSED
                 : r.state == SN_ROBOTS_ABSENT ? SEINE_ROBOTS_ABSENT
                                               : SEINE_ROBOTS_UNREACHABLE;
    sn_robots_cache_fini(&r);
}

static void
note_refusal(seine_explained *out, seine_skip reason, sn_str rule)
{
    if (!out->admitted)
        return; /* the first counts */
    out->admitted = false;
    out->reason = reason;
    snprintf(out->rule, sizeof out->rule, "%.*s", SN_FMT(rule));
}

/* A seed may be out of `include`, and at any port unless nobody trusts it. */
static bool
refuse_seed(const seine_explain *x, const seine_url *u, sn_url_verdict *o)
{
    if (o->refused && o->reason == SEINE_SKIP_SCHEME)
        return true;
    sn_scope_judge(x->scope, u, true, &o->verdict);
    o->reason = o->verdict.reason;
    o->rule = (sn_str){o->verdict.rule, o->verdict.len};
    if (x->opts->untrusted && sn_address_guard_blocks_port((uint16_t)seine_url_port(u))) {
        o->reason = SEINE_SKIP_PORT;
        o->rule = SN_STR("a port of another protocol");
        return true;
    }
    return !o->verdict.in;
}

/* A seed is judged as it is admitted, a link as it is found. */
static void
judge_text(const seine_explain *x, const seine_url *u, seine_explained *out)
{
    sn_url_verdict o = {.verdict = {.in = false}};
    bool refused = sn_url_rules_refuse(x->opts, x->scope, u, false, &o);

    if (out->is_given)
        refused = refuse_seed(x, u, &o);
    out->in_scope = o.verdict.in;
    out->scope_reason = o.verdict.reason;
    snprintf(out->scope_rule, sizeof out->scope_rule, "%s", o.verdict.rule);
    if (refused)
        note_refusal(out, o.reason, o.rule);
}

static void
judge_path(const seine_explain *x, const seine_url *u, seine_explained *out)
{
    sn_str path = seine_url_path(u), query = seine_url_query(u);
    sn_trap_kind kind;

    out->shape = sn_trap_shape(path);
    size_t n = sn_trap_pattern(path, query, out->pattern, &kind);
    out->pattern[n] = '\0';
    out->budget = sn_url_rules_budget(x->opts->crawl, &kind);
}

static void
judge_rules(const seine_explain *x, const seine_url *u, const seine_robots *robots,
            seine_explained *out)
{
    sn_robots_cache r = {.state = out->robots == SEINE_ROBOTS_PARSED ? SN_ROBOTS_PARSED
                                                                     : SN_ROBOTS_ABSENT,
                         .robots = (seine_robots *)robots};
    bool obeys = x->opts->robots == SEINE_OBEY_ON;
    char rule[SN_ROBOTS_RULE];
    uint64_t steps = 0;

    if (out->robots == SEINE_ROBOTS_UNREACHABLE && obeys)
        note_refusal(out, SEINE_SKIP_ROBOTS_UNREACHABLE,
                     SN_STR("robots.txt could not be read"));
    out->delay =
        sn_robots_cache_delay(&r, x->agent, x->opts->max_crawl_delay, &out->delay_is_cut);
    if (sn_robots_cache_allow(&r, x->agent, seine_url_target(u), &out->verdict, &steps) ||
        !obeys)
        return;
    size_t n = sn_robots_cache_rule(&out->verdict, rule);
    note_refusal(out, SEINE_SKIP_ROBOTS, (sn_str){rule, n});
}

/* How often the host is asked at most: the slower of the two. */
static seine_span
pace_of(const seine_explain *x, const seine_explained *got, bool is_mine)
{
    const seine_fetch_opts *o = x->opts;
    seine_span every = 0;

    if (!is_mine && o->host_rate.count > 0)
        every = o->host_rate.per / (seine_span)o->host_rate.count;
    return o->robots == SEINE_OBEY_ON ? sn_time_max(every, got->delay) : every;
}

seine_err
seine_explain_url(const seine_explain *x, const char *url, size_t len,
                  seine_robots_state state, const seine_robots *robots,
                  seine_explained *out)
{
    if (!x)
        return SEINE_E_INVAL;
    char mem[SEINE_URL_ROOM];
    size_t key_len;
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    seine_err e = read_url(url, len, &u);
    if (e != SEINE_OK)
        return e;
    *out = (seine_explained){.admitted = true, .robots = state};
    seine_view href = seine_url_href(&u);
    memcpy(out->url, href.ptr, href.len + 1);
    e = seine_url_key(&u, x->opts->strip_params, out->key, sizeof out->key, &key_len);
    if (e != SEINE_OK)
        return SEINE_E_BAD_URL;
    out->is_given = seine_seen_has(x->seeds, out->key, key_len);
    judge_text(x, &u, out);
    bool is_mine = x->opts->mine && is_given_host(x, &u);
    if (x->opts->robots == SEINE_OBEY_OFF || (is_mine && !x->opts->robots_on_mine))
        out->robots = SEINE_ROBOTS_UNASKED;
    else
        judge_rules(x, &u, robots, out);
    judge_path(x, &u, out);
    out->every = pace_of(x, out, is_mine);
    return SEINE_OK;
}
