/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "base/time.h"
#include "gate/gate.h"
#include "gate/request_path.h"
#include "guard/gcra.h"
#include "guard/keyed.h"
#include "net/h1.h"

static const size_t first_policy = sizeof(seine_gate_policy);

static void
buckets_unref(sn_gate_buckets *b)
{
    if (b && atomic_fetch_sub(&b->refs, 1) == 1) {
        seine_keyed_free(b->keyed);
        sn_free(b);
    }
}

static seine_err
buckets_new(const seine_gate_opts *opts, const seine_rate *rate,
            sn_gate_buckets **out_buckets)
{
    sn_gate_buckets *b = sn_zalloc(sizeof *b);
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;

    if (!b)
        return SEINE_E_NOMEM;
    keyed.each = *rate;
    keyed.max_keys = opts->max_keys;
    keyed.max_bytes = 0; /* all keys are short */
    keyed.overflow = opts->overflow;
    keyed.max_waiters = 0;
    seine_err e = seine_keyed_new(&keyed, &b->keyed);
    if (e != SEINE_OK) {
        sn_free(b);
        return e;
    }
    b->refs = 1;
    b->rate = *rate;
    b->max_keys = opts->max_keys;
    b->overflow = opts->overflow;
    *out_buckets = b;
    return SEINE_OK;
}

static void
rule_fini(sn_gate_rule *r)
{
    for (uint32_t i = 0; i < r->n_methods; i++)
        sn_free((char *)(uintptr_t)r->methods[i].ptr);
    sn_free(r->methods);
    sn_free((char *)(uintptr_t)r->path.ptr);
    sn_free(r->header);
    buckets_unref(r->buckets);
}

void
sn_gate_rules_unref(sn_gate_rules *r)
{
    if (!r || atomic_fetch_sub(&r->refs, 1) != 1)
        return;
    for (size_t i = 0; i < r->n; i++)
        rule_fini(&r->rules[i]);
    sn_free(r->rules);
    sn_net_set_fini(&r->trust);
    sn_net_set_fini(&r->allow);
    sn_net_set_fini(&r->deny);
    sn_free(r);
}

sn_gate_rules *
sn_gate_rules_ref(const seine_gate *g)
{
    seine_gate *own = (seine_gate *)(uintptr_t)g;

    pthread_mutex_lock(&own->lock);
    sn_gate_rules *r = own->rules;
    atomic_fetch_add(&r->refs, 1);
    pthread_mutex_unlock(&own->lock);
    return r;
}

/* A terminated copy. ptr NULL: out of memory. */
static sn_str
copy(sn_str s)
{
    char *own = sn_alloc(s.len + 1);

    if (!own)
        return (sn_str){NULL, 0};
    if (s.len)
        memcpy(own, s.ptr, s.len);
    own[s.len] = 0;
    return (sn_str){own, s.len};
}

/* A name stands in quotes, in fields and in JSON. */
bool
sn_gate_is_name(const char *name)
{
    size_t n = 0;

    for (; name && name[n]; n++)
        if (name[n] < 0x20 || name[n] > 0x7e || name[n] == '"' || name[n] == '\\')
            return false;
    return n > 0 && n < SEINE_GATE_NAME;
}

static seine_err
read_name(sn_gate_rules *rules, sn_gate_rule *r, const char *name, seine_diag *diag)
{
    if (!sn_gate_is_name(name))
        return sn_diag_value(
            diag, "name", sn_str_of(name),
            "a name has 1 to 63 printable characters, none of them \" or \\");
    for (size_t i = 0; i < rules->n; i++)
        if (strcmp(rules->rules[i].name, name) == 0)
            return sn_diag_value(diag, "name", sn_str_of(name),
                                 "two policies have this name");
    memcpy(r->name, name, strlen(name) + 1);
    return SEINE_OK;
}

static seine_err
read_path(sn_gate_rule *r, const char *path, seine_diag *diag)
{
    char plain[SN_REQUEST_PATH];

    if (!path)
        return SEINE_OK;
    if (path[0] != '/' || strpbrk(path, "?#") || strlen(path) >= SN_REQUEST_PATH)
        return sn_diag_value(diag, "path", sn_str_of(path),
                             "a path begins with / and has no query");
    r->path = copy(sn_request_path(sn_str_of(path), plain));
    return r->path.ptr ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
read_methods(sn_gate_rule *r, const char *const *methods, seine_diag *diag)
{
    uint32_t n = 0;

    while (methods && methods[n] && n <= SN_GATE_METHODS)
        n++;
    if (n > SN_GATE_METHODS)
        return sn_diag_option(diag, "methods", "at most %d", SN_GATE_METHODS);
    if (n == 0)
        return SEINE_OK;
    r->methods = sn_calloc(n, sizeof *r->methods);
    if (!r->methods)
        return SEINE_E_NOMEM;
    for (; r->n_methods < n; r->n_methods++) {
        sn_str method = sn_str_of(methods[r->n_methods]);

        if (!sn_h1_is_name(method))
            return sn_diag_value(diag, "methods", method, "not a method like GET");
        r->methods[r->n_methods] = copy(method);
        if (!r->methods[r->n_methods].ptr)
            return SEINE_E_NOMEM;
    }
    return SEINE_OK;
}

static seine_err
read_header(sn_gate_rule *r, const char *header, seine_diag *diag)
{
    if (!header)
        return SEINE_OK;
    if (!sn_h1_is_name(sn_str_of(header)) || strlen(header) > SN_GATE_HEADER)
        return sn_diag_value(diag, "header", sn_str_of(header), "not a name of a field");
    r->header = (char *)(uintptr_t)copy(sn_str_of(header)).ptr;
    return r->header ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
read_rate(sn_gate_rule *r, const seine_rate *rate, seine_diag *diag)
{
    seine_limiter lim;

    if (seine_limiter_init_rate(&lim, rate, SEINE_FULL, 0) != SEINE_OK)
        return sn_diag_option(
            diag, "rate", "above 0, with a burst of 1 or more, and not too long to fill");
    r->every = lim.every;
    r->depth = lim.depth;
    return SEINE_OK;
}

static seine_err
read_policy(sn_gate_rules *rules, const seine_gate_policy *p, const seine_gate_opts *opts,
            seine_diag *diag)
{
    sn_gate_rule *r = &rules->rules[rules->n];
    seine_err e = read_name(rules, r, p->name, diag);

    if (e == SEINE_OK)
        e = read_path(r, p->path, diag);
    if (e == SEINE_OK)
        e = read_methods(r, p->methods, diag);
    if (e == SEINE_OK)
        e = read_header(r, p->header, diag);
    if (e == SEINE_OK)
        e = read_rate(r, &p->rate, diag);
    if (e == SEINE_OK)
        e = buckets_new(opts, &p->rate, &r->buckets);
    if (e == SEINE_OK)
        rules->n++;
    else
        rule_fini(r);
    return e;
}

/* The caller's policies may be longer or shorter than ours: each begins with its size. */
static seine_err
read_policies(sn_gate_rules *rules, const seine_gate_opts *opts, seine_diag *diag)
{
    const char *at = (const char *)opts->policies;
    seine_err e = SEINE_OK;

    if (opts->n_policies > SN_GATE_POLICIES)
        return sn_diag_option(diag, "policies", "at most %d", SN_GATE_POLICIES);
    if (opts->n_policies > 0 && !at)
        return SEINE_E_INVAL;
    rules->rules = sn_calloc(opts->n_policies + 1, sizeof *rules->rules);
    if (!rules->rules)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < opts->n_policies && e == SEINE_OK; i++) {
        seine_gate_policy p;

        if (!sn_opts_read(&p, sizeof p, first_policy, at))
            return SEINE_E_INVAL;
        e = read_policy(rules, &p, opts, diag);
        size_t size;
        memcpy(&size, at, sizeof size);
        at += size;
    }
    return e;
}

static seine_err
read_numbers(const seine_gate_opts *opts, seine_diag *diag)
{
    if (opts->v4_prefix < 1 || opts->v4_prefix > 32)
        return sn_diag_option(diag, "v4_prefix", "from 1 to 32");
    if (opts->v6_prefix < 1 || opts->v6_prefix > 128)
        return sn_diag_option(diag, "v6_prefix", "from 1 to 128");
    if (opts->max_keys < 1 || opts->max_keys > 1u << 26)
        return sn_diag_option(diag, "max_keys", "from 1 to 67,108,864");
    if ((unsigned)opts->overflow > SEINE_OVERFLOW_ALLOW)
        return sn_diag_option(diag, "overflow", "shared, deny or allow");
    return SEINE_OK;
}

seine_err
sn_gate_rules_new(const seine_gate_opts *given, sn_gate_rules **out_rules,
                  seine_diag *diag)
{
    seine_gate_opts opts;

    sn_diag_clear(diag);
    if (!sn_opts_read(&opts, sizeof opts, sizeof opts, given))
        return SEINE_E_INVAL;
    seine_err e = read_numbers(&opts, diag);
    if (e != SEINE_OK)
        return e;
    sn_gate_rules *r = sn_zalloc(sizeof *r);
    if (!r)
        return SEINE_E_NOMEM;
    r->refs = 1;
    r->prefix[0] = opts.v4_prefix;
    r->prefix[1] = opts.v6_prefix;
    e = sn_net_set_read(&r->trust, "trust", opts.trust, diag);
    if (e == SEINE_OK)
        e = sn_net_set_read(&r->allow, "allow", opts.allow, diag);
    if (e == SEINE_OK)
        e = sn_net_set_read(&r->deny, "deny", opts.deny, diag);
    if (e == SEINE_OK)
        e = read_policies(r, &opts, diag);
    if (e != SEINE_OK) {
        sn_gate_rules_unref(r);
        return e;
    }
    *out_rules = r;
    return SEINE_OK;
}

/* Debts on their way from buckets of one rate to those of another. */
typedef struct move {
    sn_gate_rule *to;
    seine_limiter from;
    seine_time now;
} move;

/* The same tokens at the other rate. */
static seine_time
convert_debt(const move *m, seine_time full)
{
    seine_limiter bucket = m->from;

    bucket.full = full;
    seine_limiter_set_rate(&bucket, m->now, m->to->every, m->to->buckets->rate.burst);
    return bucket.full;
}

/* A client without a place shares the bucket of those who have none, and its debt goes
 * there. */
static bool
move_debt(seine_view key, seine_time full, void *arg)
{
    move *m = arg;
    seine_keyed *keyed = m->to->buckets->keyed;

    full = convert_debt(m, full);
    if (sn_keyed_owe(keyed, key, m->now, full) != SEINE_OK)
        sn_keyed_overflow_owe(keyed, full);
    return true;
}

static bool
has_same_buckets(const sn_gate_buckets *a, const sn_gate_buckets *b)
{
    return a->rate.count == b->rate.count && a->rate.per == b->rate.per &&
           a->rate.burst == b->rate.burst && a->max_keys == b->max_keys &&
           a->overflow == b->overflow;
}

static void
copy_counts(sn_gate_buckets *to, const sn_gate_buckets *from)
{
    to->allowed = from->allowed;
    to->limited = from->limited;
    to->passed = from->passed;
    to->denied = from->denied;
}

static void
inherit(sn_gate_rule *r, const sn_gate_rule *old, seine_time now)
{
    if (has_same_buckets(r->buckets, old->buckets)) {
        atomic_fetch_add(&old->buckets->refs, 1);
        buckets_unref(r->buckets);
        r->buckets = old->buckets;
        return;
    }
    move m = {r, {old->every, old->depth, SN_LONG_AGO, SN_LONG_AGO}, now};
    copy_counts(r->buckets, old->buckets);
    sn_keyed_overflow_owe(r->buckets->keyed,
                          convert_debt(&m, sn_keyed_overflow_full(old->buckets->keyed)));
    sn_keyed_debts(old->buckets->keyed, now, move_debt, &m);
}

/* Do both count by the same thing? Then a key of one is a key of the other. */
static bool
counts_alike(const sn_gate_rules *a, const sn_gate_rule *x, const sn_gate_rules *b,
             const sn_gate_rule *y)
{
    if (!x->header != !y->header ||
        (x->header && !sn_str_eq_nocase(sn_str_of(x->header), sn_str_of(y->header))))
        return false;
    return a->prefix[0] == b->prefix[0] && a->prefix[1] == b->prefix[1];
}

void
sn_gate_rules_inherit(sn_gate_rules *next, const sn_gate_rules *old, seine_time now)
{
    for (size_t i = 0; i < next->n; i++)
        for (size_t j = 0; j < old->n; j++)
            if (strcmp(next->rules[i].name, old->rules[j].name) == 0 &&
                counts_alike(next, &next->rules[i], old, &old->rules[j]))
                inherit(&next->rules[i], &old->rules[j], now);
}
