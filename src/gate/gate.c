/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate.h"

#include <netinet/in.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/opts.h"
#include "base/time.h"
#include "gate/client_address.h"
#include "gate/gate.h"
#include "gate/request_path.h"

static const char forwarded[] = "X-Forwarded-For";

seine_err
seine_gate_new(const seine_gate_opts *opts, seine_gate **out_gate, seine_diag *diag)
{
    sn_gate_rules *rules = NULL;

    if (!out_gate)
        return SEINE_E_INVAL;
    seine_err e = sn_gate_rules_new(opts, &rules, diag);
    if (e != SEINE_OK)
        return e;
    seine_gate *g = sn_zalloc(sizeof *g);
    if (!g) {
        sn_gate_rules_unref(rules);
        return SEINE_E_NOMEM;
    }
    pthread_mutex_init(&g->lock, NULL);
    g->rules = rules;
    *out_gate = g;
    return SEINE_OK;
}

void
seine_gate_free(seine_gate *g)
{
    if (!g)
        return;
    sn_gate_rules_unref(g->rules);
    pthread_mutex_destroy(&g->lock);
    sn_free(g);
}

seine_err
seine_gate_set(seine_gate *g, const seine_gate_opts *opts, seine_time now,
               seine_diag *diag)
{
    sn_gate_rules *next = NULL;

    if (!g)
        return SEINE_E_INVAL;
    seine_err e = sn_gate_rules_new(opts, &next, diag);
    if (e != SEINE_OK)
        return e;
    sn_gate_rules *old = sn_gate_rules_ref(g);
    sn_gate_rules_inherit(next, old, now);
    pthread_mutex_lock(&g->lock);
    g->rules = next;
    pthread_mutex_unlock(&g->lock);
    sn_gate_rules_unref(old); /* our reference */
    sn_gate_rules_unref(old); /* the gate's */
    return SEINE_OK;
}

static bool
peer_ip(const struct sockaddr *peer, sn_ip *out_ip)
{
    if (!peer || !sn_ip_of(peer, out_ip))
        return false;
    sn_ip_plain(out_ip);
    return true;
}

bool
sn_gate_trusts(const seine_gate *g, const struct sockaddr *peer)
{
    sn_ip ip;

    if (!g || !peer_ip(peer, &ip))
        return false;
    sn_gate_rules *r = sn_gate_rules_ref(g);
    bool is_trusted = sn_net_set_has(&r->trust, &ip);
    sn_gate_rules_unref(r);
    return is_trusted;
}

static bool
get_field(const seine_gate_request *req, const char *name, unsigned nth, seine_view *out)
{
    return req->field && req->field(req->arg, name, nth, out) && out->ptr;
}

/* The fields are read from the last to the first, since the last proxy appended. */
static void
follow_forwarded(const seine_gate_request *req, sn_forwarded *f)
{
    enum { MOST = 64 };
    seine_view values[MOST];
    unsigned n = 0;

    while (n < MOST && get_field(req, forwarded, n, &values[n]))
        n++;
    if (n == MOST) /* the last ones are not known, so none of them counts */
        return;
    while (n > 0 && !f->is_ended)
        sn_forwarded_add(f, values[--n]);
}

static void
find_client(seine_gate *g, const seine_gate_request *req, sn_gate_case *c)
{
    sn_forwarded f;
    seine_view unused;
    sn_ip peer;

    if (!peer_ip(req->peer, &peer))
        return;
    sn_forwarded_begin(&f, &peer, &c->rules->trust);
    c->is_trusted = !f.is_ended;
    if (c->is_trusted)
        follow_forwarded(req, &f);
    else if (!atomic_load_explicit(&g->is_ignoring, memory_order_relaxed) &&
             get_field(req, forwarded, 0, &unused))
        g->is_ignoring = true;
    c->client = f.client;
}

static bool
fits_method(const sn_gate_rule *r, sn_str method)
{
    for (uint32_t i = 0; i < r->n_methods; i++)
        if (sn_str_eq(r->methods[i], method))
            return true;
    return r->n_methods == 0;
}

static sn_gate_rule *
find_rule(const sn_gate_rules *rules, const seine_gate_request *req)
{
    char plain[SN_REQUEST_PATH];
    sn_str path = {NULL, 0};

    for (size_t i = 0; i < rules->n; i++) {
        sn_gate_rule *r = &rules->rules[i];

        if (!fits_method(r, req->method))
            continue;
        if (r->path.len > 0 && !path.ptr)
            path = sn_request_path(req->target, plain);
        if (r->path.len == 0 || sn_request_path_is_below(path, r->path))
            return r;
    }
    return NULL;
}

/* The value of a field becomes a digest: short, and no secret for who reads the state. */
static bool
key_by_header(sn_gate_case *c, const seine_gate_request *req)
{
    seine_view value;
    uint8_t digest[32];

    if (!get_field(req, c->rule->header, 0, &value))
        return false;
    value = sn_str_trim(value);
    if (value.len == 0 || sn_sha256(value.ptr, value.len, digest) != SEINE_OK)
        return false;
    c->key_bytes[0] = 'h';
    memcpy(c->key_bytes + 1, digest, SN_GATE_KEY - 1);
    c->key = (seine_view){c->key_bytes, SN_GATE_KEY};
    return true;
}

static void
find_key(sn_gate_case *c, const seine_gate_request *req)
{
    if (c->rule->header && key_by_header(c, req))
        return;
    bool is_v4 = c->client.v == 4;
    size_t n = seine_key_ip(c->client.bytes, is_v4 ? 4 : 16,
                            c->rules->prefix[is_v4 ? 0 : 1], c->key_bytes);

    c->key = (seine_view){c->key_bytes, n};
}

static seine_gate_reason
sort_client(const sn_gate_case *c)
{
    if (c->client.v == 0)
        return SEINE_GATE_NO_CLIENT;
    if (sn_net_set_has(&c->rules->deny, &c->client))
        return SEINE_GATE_DENIED;
    if (sn_net_set_has(&c->rules->allow, &c->client))
        return SEINE_GATE_ALLOWED;
    return c->rule ? SEINE_GATE_COUNTED : SEINE_GATE_NO_POLICY;
}

bool
sn_gate_sort(seine_gate *g, const seine_gate_request *req, sn_gate_case *out_case)
{
    sn_gate_case *c = out_case;

    c->rules = sn_gate_rules_ref(g);
    c->gate = g;
    c->client.v = 0;
    c->key = (seine_view){NULL, 0};
    c->is_trusted = false;
    find_client(g, req, c);
    c->rule = find_rule(c->rules, req);
    c->reason = sort_client(c);
    if (c->reason != SEINE_GATE_COUNTED)
        return false;
    find_key(c, req);
    return true;
}

void
sn_gate_case_end(sn_gate_case *c)
{
    sn_gate_rules_unref(SN_STEAL(c->rules));
}

static void
count(const sn_gate_case *c)
{
    sn_gate_buckets *b = c->rule ? c->rule->buckets : NULL;

    if (!b)
        c->gate->unruled++;
    else if (c->reason == SEINE_GATE_COUNTED)
        b->allowed++;
    else if (c->reason == SEINE_GATE_LIMITED)
        b->limited++;
    else if (c->reason == SEINE_GATE_ALLOWED)
        b->passed++;
    else
        b->denied++;
}

/* What a bucket says. Without a token the next one is what a client waits for. */
static void
fill_from_grant(const sn_gate_rule *r, const seine_grant *grant, seine_gate_answer *out)
{
    out->left = grant->left < out->limit ? grant->left : out->limit;
    out->reset_after = grant->reset_after;
    if (!out->allowed)
        out->retry_after = out->reset_after = grant->retry_after;
    else if (out->left == 0)
        out->reset_after = sn_time_max(0, grant->reset_after - (r->depth - r->every));
}

static void
fill_from_rule(const sn_gate_rule *r, seine_gate_answer *out)
{
    memcpy(out->policy, r->name, sizeof out->policy);
    out->limit = r->buckets->rate.burst;
    out->window = r->depth;
    if (out->allowed)
        out->left = out->limit;
    else
        out->retry_after = out->reset_after = r->depth;
}

static bool
passes(seine_gate_reason why)
{
    return why == SEINE_GATE_COUNTED || why == SEINE_GATE_ALLOWED ||
           why == SEINE_GATE_NO_POLICY;
}

void
sn_gate_settle(sn_gate_case *c, seine_err err, const seine_grant *grant,
               seine_gate_answer *out_answer)
{
    seine_gate_answer *a = out_answer;
    bool is_counted = c->reason == SEINE_GATE_COUNTED;

    if (is_counted && err != SEINE_OK)
        c->reason = SEINE_GATE_LIMITED;
    memset(a, 0, sizeof *a);
    a->reason = c->reason;
    a->allowed = passes(c->reason);
    a->client_len = c->client.v == 4 ? 4 : c->client.v == 6 ? 16 : 0;
    memcpy(a->client, c->client.bytes, a->client_len);
    if (c->rule)
        fill_from_rule(c->rule, a);
    if (is_counted)
        fill_from_grant(c->rule, grant, a);
    count(c);
}

void
seine_gate_check(seine_gate *g, const seine_gate_request *req, seine_time now,
                 seine_gate_answer *out_answer)
{
    sn_gate_case c;
    seine_grant grant = {0};
    seine_gate_request own;
    seine_err e = SEINE_OK;

    if (!out_answer)
        return;
    memset(out_answer, 0, sizeof *out_answer);
    out_answer->reason = SEINE_GATE_NO_CLIENT;
    if (!g) {
        out_answer->reason = SEINE_GATE_NO_POLICY;
        out_answer->allowed = true;
        return;
    }
    if (!sn_opts_read(&own, sizeof own, sizeof own, req))
        return;
    if (sn_gate_sort(g, &own, &c))
        e = seine_keyed_try(c.rule->buckets->keyed, c.key, now, 1, &grant);
    sn_gate_settle(&c, e, &grant, out_answer);
    sn_gate_case_end(&c);
}

/* In steps, so that no check waits long for a lock. */
static void
sweep_buckets(sn_gate_buckets *b, seine_time now)
{
    enum { STEP = 256 };
    seine_keyed_totals t;

    seine_keyed_totals_get(b->keyed, &t);
    for (uint64_t i = 0; i <= t.keys; i += STEP)
        seine_keyed_sweep(b->keyed, now, STEP);
}

void
seine_gate_sweep(seine_gate *g, seine_time now)
{
    if (!g)
        return;
    sn_gate_rules *r = sn_gate_rules_ref(g);
    for (size_t i = 0; i < r->n; i++)
        sweep_buckets(r->rules[i].buckets, now);
    sn_gate_rules_unref(r);
}

static void
add_stats(const sn_gate_buckets *b, seine_gate_stats *sum)
{
    seine_keyed_totals t;

    seine_keyed_totals_get(b->keyed, &t);
    sum->allowed += b->allowed;
    sum->limited += b->limited;
    sum->passed += b->passed;
    sum->denied += b->denied;
    sum->keys += t.keys;
    sum->bytes += t.bytes;
    sum->overflowed += t.overflowed;
}

void
seine_gate_stats_get(const seine_gate *g, seine_gate_stats *out_stats)
{
    if (!out_stats)
        return;
    *out_stats = (seine_gate_stats){0};
    if (!g)
        return;
    sn_gate_rules *r = sn_gate_rules_ref(g);
    for (size_t i = 0; i < r->n; i++)
        add_stats(r->rules[i].buckets, out_stats);
    out_stats->passed += g->unruled;
    sn_gate_rules_unref(r);
}

bool
seine_gate_policy_stats(const seine_gate *g, size_t place, char out_name[SEINE_GATE_NAME],
                        seine_gate_stats *out_stats)
{
    if (!g || !out_name || !out_stats)
        return false;
    sn_gate_rules *r = sn_gate_rules_ref(g);
    bool is_there = place < r->n;
    if (is_there) {
        memcpy(out_name, r->rules[place].name, SEINE_GATE_NAME);
        *out_stats = (seine_gate_stats){0};
        add_stats(r->rules[place].buckets, out_stats);
    }
    sn_gate_rules_unref(r);
    return is_there;
}
