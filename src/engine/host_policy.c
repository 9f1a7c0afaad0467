/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_policy.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "base/time.h"
#include "engine/admit.h"
#include "engine/host_match.h"
#include "net/h1.h"
#include "net/tls.h"

typedef struct entry {
    seine_host_opts opts; /* texts in the memory of the table */
    sn_str match;
    uint32_t rank; /* the higher one counts */
    const sn_proxy *proxy;
    sn_tls_ctx *trust;
} entry;

/* A policy that was made for these entries and groups. */
typedef struct made {
    struct made *next;
    uint32_t *entries;
    uint32_t n_entries;
    uint32_t groups; /* a bit for each */
    sn_host_policy policy;
} made;

struct sn_host_policies {
    const seine_fetch_opts *run;
    sn_arena memory;
    entry *entries; /* exact names first, in order of their text; then patterns */
    uint32_t n, n_exact;
    sn_group_rule *groups;
    uint32_t n_groups;
    pthread_mutex_t lock;
    made *made;
    sn_host_policies *before;
};

/* Checks */

static seine_err
check_rate(const seine_rate *rate, const char *what, seine_diag *diag)
{
    seine_limiter lim;

    if (rate->count > 0 && seine_limiter_init_rate(&lim, rate, SEINE_FULL, 0) != SEINE_OK)
        return sn_diag_value(diag, "hosts", sn_str_of(what),
                             "its rate contradicts itself");
    return SEINE_OK;
}

static seine_err
check_fields(const seine_host_opts *o, seine_diag *diag)
{
    for (size_t i = 0; o->set & SEINE_HOST_FIELDS && i < o->n_fields; i++)
        if (!sn_admit_is_field(o->fields[i].name, o->fields[i].value))
            return sn_diag_value(diag, "hosts", o->fields[i].name, "cannot be sent");
    if (o->set & SEINE_HOST_USER_AGENT &&
        (!o->user_agent || !sn_h1_is_value(sn_str_of(o->user_agent))))
        return sn_diag_value(diag, "hosts", sn_str_of(o->match),
                             "its user_agent cannot be sent");
    return SEINE_OK;
}

static seine_err
check_breaker(const seine_host_opts *o, seine_diag *diag)
{
    seine_breaker breaker;

    if (!(o->set & SEINE_HOST_BREAKER) ||
        (o->breaker.failure_threshold == 0 && o->breaker.failure_pct == 0))
        return SEINE_OK;
    seine_err e = seine_breaker_init(&breaker, &o->breaker);
    if (e == SEINE_OK)
        seine_breaker_fini(&breaker);
    return e == SEINE_E_INVAL ? sn_diag_value(diag, "hosts", sn_str_of(o->match),
                                              "its breaker contradicts itself")
                              : e;
}

static seine_err
check_spans(const seine_host_opts *o, seine_diag *diag)
{
    bool bad =
        (o->set & SEINE_HOST_TIMEOUT && (o->timeout <= 0 || o->timeout == SEINE_NEVER)) ||
        (o->set & SEINE_HOST_CONNECT_TIMEOUT && o->connect_timeout <= 0) ||
        (o->set & SEINE_HOST_MAX_RETRY_AFTER && o->max_retry_after < 0) ||
        (o->set & SEINE_HOST_MAX_CRAWL_DELAY && o->max_crawl_delay < 0) ||
        (o->set & SEINE_HOST_SPEED && o->speed_bytes > 0 && o->speed_span <= 0) ||
        (o->set & SEINE_HOST_BACKOFF &&
         (o->backoff_first < 0 || o->backoff_last < o->backoff_first));

    return bad ? sn_diag_value(diag, "hosts", sn_str_of(o->match),
                               "a duration of it is out of range")
               : SEINE_OK;
}

static seine_err
check_entry(const seine_host_opts *o, seine_diag *diag)
{
    if (!o->match || !*o->match)
        return sn_diag_option(diag, "hosts", "an entry names no host");
    if (o->set & SEINE_HOST_PER_HOST &&
        (o->per_host == 0 || o->per_host > UINT16_MAX + 1))
        return sn_diag_value(diag, "hosts", sn_str_of(o->match), "per_host: 1 to 65536");
    seine_err e = check_spans(o, diag);
    if (e == SEINE_OK && o->set & SEINE_HOST_RATE) {
        seine_rate rate = o->rate;

        rate.burst = rate.burst > 0 ? rate.burst : 1;
        e = check_rate(&rate, o->match, diag);
    }
    if (e == SEINE_OK)
        e = check_breaker(o, diag);
    return e == SEINE_OK ? check_fields(o, diag) : e;
}

/* Copies */

static const char *
copy_text(sn_arena *a, const char *text, seine_err *e)
{
    const char *copy = text ? sn_arena_text(a, sn_str_of(text)) : NULL;

    if (text && !copy)
        *e = SEINE_E_NOMEM;
    return copy;
}

static const seine_field *
copy_fields(sn_arena *a, const seine_host_opts *o, seine_err *e)
{
    seine_field *copy = SN_ARENA_ARRAY(a, seine_field, o->n_fields + 1);

    if (!copy) {
        *e = SEINE_E_NOMEM;
        return NULL;
    }
    for (size_t i = 0; i < o->n_fields; i++) {
        const char *name = sn_arena_text(a, o->fields[i].name);
        const char *value = sn_arena_text(a, o->fields[i].value);

        if (!name || !value) {
            *e = SEINE_E_NOMEM;
            return NULL;
        }
        copy[i] =
            (seine_field){{name, o->fields[i].name.len}, {value, o->fields[i].value.len}};
    }
    return copy;
}

/* A proxy of its own; "off" is none. */
static seine_err
read_proxy(sn_host_policies *p, entry *x, seine_diag *diag)
{
    const char *text = x->opts.proxy;

    if (!(x->opts.set & SEINE_HOST_PROXY) || !text || !*text || strcmp(text, "off") == 0)
        return SEINE_OK;
    sn_proxy *proxy = SN_ARENA_NEW(&p->memory, sn_proxy);
    if (!proxy)
        return SEINE_E_NOMEM;
    x->proxy = proxy;
    return sn_proxy_parse("hosts", sn_str_of(text), &p->memory, proxy, diag);
}

/* The client certificate stays that of the run. */
static seine_err
read_trust(const sn_host_policies *p, entry *x, seine_diag *diag)
{
    const seine_fetch_opts *run = p->run;

    if (!(x->opts.set & SEINE_HOST_CACERT))
        return SEINE_OK;
    if (!x->opts.cacert || !*x->opts.cacert)
        return sn_diag_value(diag, "hosts", x->match, "its cacert names no file");
    sn_tls_opts o = {x->opts.cacert, run->cert, run->cert_key,
                     run->tls_min ? run->tls_min : 12};
    seine_err e = sn_tls_ctx_new(&o, &x->trust, diag);
    if (e != SEINE_E_CONFIG)
        return e;
    return sn_diag_value(diag, "hosts", x->match,
                         "its cacert is no file of certificates that can be read");
}

static seine_err
copy_entry(sn_host_policies *p, const seine_host_opts *given, entry *x, seine_diag *diag)
{
    sn_arena *a = &p->memory;
    seine_err e = SEINE_OK;

    if (!sn_opts_read(&x->opts, sizeof x->opts, offsetof(seine_host_opts, cacert), given))
        return sn_diag_option(diag, "hosts", "size: set by SEINE_HOST_OPTS");
    e = check_entry(&x->opts, diag);
    if (e != SEINE_OK)
        return e;
    x->opts.match = copy_text(a, x->opts.match, &e);
    x->opts.user_agent = copy_text(a, x->opts.user_agent, &e);
    if (x->opts.set & SEINE_HOST_FIELDS)
        x->opts.fields = copy_fields(a, &x->opts, &e);
    if (e != SEINE_OK)
        return e;
    x->match = sn_str_of(x->opts.match);
    x->rank = sn_host_match_rank(x->match, x->opts.is_weak);
    e = read_proxy(p, x, diag);
    return e == SEINE_OK ? read_trust(p, x, diag) : e;
}

static int
by_text(sn_str a, sn_str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (sn_lower(a.ptr[i]) != sn_lower(b.ptr[i]))
            return sn_lower(a.ptr[i]) < sn_lower(b.ptr[i]) ? -1 : 1;
    return a.len == b.len ? 0 : a.len < b.len ? -1 : 1;
}

/* Exact names before patterns, by their text; the stronger of equals comes later. */
static int
by_match(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    bool px = sn_host_match_is_pattern(x->match), py = sn_host_match_is_pattern(y->match);

    if (px != py)
        return px ? 1 : -1;
    int order = by_text(x->match, y->match);
    return order ? order : x->rank == y->rank ? 0 : x->rank < y->rank ? -1 : 1;
}

static seine_err
take_hosts(sn_host_policies *p, const sn_host_list *list, seine_diag *diag)
{
    const char *at = (const char *)list->hosts;

    if (list->n_hosts > SN_HOST_ENTRIES)
        return sn_diag_option(diag, "hosts", "at most %d entries", SN_HOST_ENTRIES);
    p->entries = sn_calloc(list->n_hosts + 1, sizeof *p->entries);
    if (!p->entries)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < list->n_hosts; i++) {
        const seine_host_opts *given = (const seine_host_opts *)(const void *)at;
        seine_err e = copy_entry(p, given, &p->entries[p->n], diag);

        if (e != SEINE_OK)
            return e;
        p->n++;
        at += given->size;
    }
    qsort(p->entries, p->n, sizeof *p->entries, by_match);
    while (p->n_exact < p->n && !sn_host_match_is_pattern(p->entries[p->n_exact].match))
        p->n_exact++;
    return SEINE_OK;
}

/* Groups */

static seine_err
split_members(sn_host_policies *p, const seine_group_opts *o, sn_group_rule *r,
              seine_diag *diag)
{
    size_t n = 0, names = 0;

    while (o->match && o->match[n])
        n++;
    const char **all = SN_ARENA_ARRAY(&p->memory, const char *, n + 1);
    sn_cidr *nets = SN_ARENA_ARRAY(&p->memory, sn_cidr, n + 1);
    if (!all || !nets)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        seine_err e = SEINE_OK;

        if (sn_cidr_parse(sn_str_of(o->match[i]), &nets[r->n_nets]) == SEINE_OK)
            r->n_nets++;
        else if (strchr(o->match[i], '/'))
            return sn_diag_value(diag, "groups", sn_str_of(o->match[i]),
                                 "not a network, or host bits are set");
        else
            all[names++] = copy_text(&p->memory, o->match[i], &e);
        if (e != SEINE_OK)
            return e;
    }
    r->names = all;
    r->nets = nets;
    return SEINE_OK;
}

static seine_err
take_group(sn_host_policies *p, const seine_group_opts *o, sn_host_groups *states,
           seine_diag *diag)
{
    sn_group_rule *r = &p->groups[p->n_groups];
    seine_rate rate = o->rate;

    rate.burst = rate.burst > 0 ? rate.burst : 1;
    if (!o->name || !*o->name || !o->match || !o->match[0])
        return sn_diag_option(diag, "groups",
                              "a group without a name or without members");
    seine_err e = check_rate(&rate, o->name, diag);
    if (e == SEINE_OK)
        e = split_members(p, o, r, diag);
    if (e == SEINE_OK && rate.count > 0)
        e = seine_limiter_init_rate(&r->limit, &rate, SEINE_FULL, 0);
    if (e != SEINE_OK)
        return e;
    r->most = o->per_host;
    r->group = sn_host_groups_get(states, o->name);
    p->n_groups++;
    return r->group ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
take_groups(sn_host_policies *p, const sn_host_list *list, sn_host_groups *states,
            seine_diag *diag)
{
    const char *at = (const char *)list->groups;
    seine_err e = SEINE_OK;

    if (list->n_groups > SN_GROUPS_MOST)
        return sn_diag_option(diag, "groups", "at most %d", SN_GROUPS_MOST);
    p->groups = sn_calloc(list->n_groups + 1, sizeof *p->groups);
    if (!p->groups)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < list->n_groups && e == SEINE_OK; i++) {
        const seine_group_opts *given = (const seine_group_opts *)(const void *)at;
        seine_group_opts own;

        if (!sn_opts_read(&own, sizeof own, sizeof own, given))
            return sn_diag_option(diag, "groups", "size: set by SEINE_GROUP_OPTS");
        e = take_group(p, &own, states, diag);
        at += given->size;
    }
    return e;
}

seine_err
sn_host_policies_new(const seine_fetch_opts *run, const sn_host_list *list,
                     sn_host_groups *states, sn_host_policies **out_policies,
                     seine_diag *diag)
{
    sn_host_policies *p = sn_zalloc(sizeof *p);

    if (!p)
        return SEINE_E_NOMEM;
    p->run = run;
    sn_arena_init(&p->memory, 4096, SIZE_MAX);
    pthread_mutex_init(&p->lock, NULL);
    seine_err e = take_hosts(p, list, diag);
    if (e == SEINE_OK)
        e = take_groups(p, list, states, diag);
    if (e != SEINE_OK) {
        sn_host_policies_free(p);
        return e;
    }
    *out_policies = p;
    return SEINE_OK;
}

void
sn_host_policies_free(sn_host_policies *p)
{
    while (p) {
        sn_host_policies *before = p->before;

        while (p->made) {
            made *next = p->made->next;

            sn_free(p->made->entries);
            sn_free(p->made);
            p->made = next;
        }
        for (uint32_t i = 0; i < p->n; i++)
            sn_tls_ctx_free(p->entries[i].trust);
        sn_free(p->entries);
        sn_free(p->groups);
        sn_arena_wipe(&p->memory); /* fields may be secrets */
        sn_arena_fini(&p->memory);
        pthread_mutex_destroy(&p->lock);
        sn_free(p);
        p = before;
    }
}

void
sn_host_policies_keep(sn_host_policies *p, sn_host_policies *give)
{
    p->before = give;
}

/* Finding */

/* The first exact entry that is not before the text. */
static uint32_t
lower_bound(const sn_host_policies *p, sn_str text)
{
    uint32_t from = 0, to = p->n_exact;

    while (from < to) {
        uint32_t mid = from + (to - from) / 2;

        if (by_text(p->entries[mid].match, text) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static void
add_exact(const sn_host_policies *p, sn_str text, uint32_t *out, uint32_t *n)
{
    for (uint32_t i = lower_bound(p, text);
         i < p->n_exact && by_text(p->entries[i].match, text) == 0; i++)
        out[(*n)++] = i;
}

/* The weakest first; of equals the later entry is the stronger. */
static void
sort_by_rank(const sn_host_policies *p, uint32_t *all, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i;
             k > 0 && p->entries[all[k]].rank < p->entries[all[k - 1]].rank; k--) {
            uint32_t swap = all[k];

            all[k] = all[k - 1];
            all[k - 1] = swap;
        }
}

/* The groups of a host by its name. */
static uint32_t
fit_groups(const sn_host_policies *p, const sn_host_label *host)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; i < p->n_groups; i++)
        for (size_t k = 0; p->groups[i].names[k]; k++)
            if (sn_host_match(sn_str_of(p->groups[i].names[k]), host))
                bits |= UINT32_C(1) << i;
    return bits;
}

/* Laying entries upon the options of the run */

static void
begin_policy(const seine_fetch_opts *o, sn_host_policy *to)
{
    *to = (sn_host_policy){
        .rate = o->host_rate,
        .per_host = o->per_host,
        .adaptive = o->adaptive,
        .cookies = true,
        .limits = {{o->dns_timeout, o->tcp_timeout, o->tls_timeout, o->connect_timeout,
                    SEINE_SECS(10), o->head_timeout, o->timeout, o->speed_bytes,
                    o->speed_span},
                   o->max_wire,
                   o->max_body,
                   o->max_ratio,
                   o->ratio_from},
        .retry = o->retry,
        .max_retry_after = o->max_retry_after,
        .max_crawl_delay = o->max_crawl_delay,
        .breaker = o->breaker,
        .park = o->park,
        .robots = o->robots,
        .user_agent = o->user_agent,
        .accept = o->accept,
    };
}

static void
lay_limits(const seine_host_opts *o, sn_host_policy *to)
{
    if (o->set & SEINE_HOST_RATE) {
        to->rate.count = o->rate.count;
        to->rate.per = o->rate.per;
    }
    if (o->set & SEINE_HOST_BURST)
        to->rate.burst = o->rate.burst > 0 ? o->rate.burst : 1;
    if (o->set & SEINE_HOST_PER_HOST)
        to->per_host = o->per_host;
    if (o->set & SEINE_HOST_ADAPTIVE)
        to->adaptive = o->adaptive;
    if (o->set & SEINE_HOST_TIMEOUT)
        to->limits.time.attempt = o->timeout;
    if (o->set & SEINE_HOST_CONNECT_TIMEOUT)
        to->limits.time.connect = o->connect_timeout;
    if (o->set & SEINE_HOST_SPEED) {
        to->limits.time.speed_bytes = o->speed_bytes;
        to->limits.time.speed_span = o->speed_span;
    }
    if (o->set & SEINE_HOST_MAX_BODY)
        to->limits.max_body = o->max_body;
}

static void
lay_retries(const seine_host_opts *o, sn_host_policy *to)
{
    if (o->set & SEINE_HOST_RETRIES)
        to->retry.max_attempts = o->retries + 1;
    if (o->set & SEINE_HOST_RETRY_ON) {
        to->retry.status = o->retry_status;
        to->retry.not_net = o->retry_not_net;
        to->retry.not_timeout = o->retry_not_timeout;
    }
    if (o->set & SEINE_HOST_BACKOFF) {
        to->retry.base = o->backoff_first;
        to->retry.max = o->backoff_last;
    }
    if (o->set & SEINE_HOST_MAX_RETRY_AFTER)
        to->max_retry_after = o->max_retry_after;
    if (o->set & SEINE_HOST_BREAKER) {
        to->breaker = o->breaker;
        to->park = o->park;
    }
}

static void
lay_requests(const entry *x, sn_host_policy *to)
{
    const seine_host_opts *o = &x->opts;

    if (o->set & SEINE_HOST_MAX_CRAWL_DELAY)
        to->max_crawl_delay = o->max_crawl_delay;
    if (o->set & SEINE_HOST_ROBOTS)
        to->robots = o->robots;
    if (o->set & SEINE_HOST_FIELDS) {
        to->fields = o->fields;
        to->n_fields = o->n_fields;
    }
    if (o->set & SEINE_HOST_USER_AGENT)
        to->user_agent = o->user_agent;
    if (o->set & SEINE_HOST_COOKIES)
        to->cookies = o->cookies;
    if (o->set & SEINE_HOST_PROXY)
        to->proxy = x->proxy;
    if (o->set & SEINE_HOST_INSECURE)
        to->insecure = o->insecure;
    if (o->set & SEINE_HOST_CACERT)
        to->trust = x->trust;
    if (o->set & SEINE_HOST_ACCEPT)
        to->accept = o->accept;
}

static seine_span
every(const seine_rate *r)
{
    return r->count > 0 ? seine_every(r->count, r->per) : 0;
}

/* What the user allows a host by its name is not taken back by its address. */
static bool
is_free(const seine_fetch_opts *run, const sn_host_policy *to)
{
    return (to->set & SEINE_HOST_RATE && every(&to->rate) < every(&run->host_rate)) ||
           (to->set & SEINE_HOST_PER_HOST && to->per_host > run->per_host);
}

static void
fill_policy(const sn_host_policies *p, made *m)
{
    sn_host_policy *to = &m->policy;

    begin_policy(p->run, to);
    for (uint32_t i = 0; i < m->n_entries; i++) {
        const entry *x = &p->entries[m->entries[i]];

        to->set |= x->opts.set;
        lay_limits(&x->opts, to);
        lay_retries(&x->opts, to);
        lay_requests(x, to);
    }
    to->failures = to->breaker.failure_threshold;
    if (to->failures > 0)
        to->breaker.failure_threshold = UINT32_MAX;
    to->is_free = is_free(p->run, to);
    for (uint32_t i = 0; i < p->n_groups; i++)
        if (m->groups >> i & 1)
            to->groups[to->n_groups++] = &p->groups[i];
}

static seine_err
make(sn_host_policies *p, const uint32_t *entries, uint32_t n, uint32_t groups,
     const sn_host_policy **out_policy)
{
    for (made *m = p->made; m; m = m->next)
        if (m->n_entries == n && m->groups == groups &&
            (n == 0 || memcmp(m->entries, entries, n * sizeof *entries) == 0)) {
            *out_policy = &m->policy;
            return SEINE_OK;
        }
    made *m = sn_zalloc(sizeof *m);
    uint32_t *copy = m ? sn_calloc(n + 1, sizeof *copy) : NULL;
    if (!copy) {
        sn_free(m);
        return SEINE_E_NOMEM;
    }
    memcpy(copy, entries, n * sizeof *copy);
    *m = (made){.next = p->made, .entries = copy, .n_entries = n, .groups = groups};
    fill_policy(p, m);
    p->made = m;
    *out_policy = &m->policy;
    return SEINE_OK;
}

seine_err
sn_host_policies_find(sn_host_policies *p, sn_str host, const sn_host_policy **out_policy)
{
    sn_host_label at = sn_host_label_of(host);
    uint32_t *fits SN_AUTOFREE = sn_calloc(p->n + 1, sizeof *fits);
    uint32_t n = 0, groups = fit_groups(p, &at);

    *out_policy = NULL;
    if (!fits)
        return SEINE_E_NOMEM;
    for (uint32_t i = p->n_exact; i < p->n; i++)
        if (sn_host_match(p->entries[i].match, &at))
            fits[n++] = i;
    add_exact(p, at.name, fits, &n);
    add_exact(p, at.whole, fits, &n);
    if (n == 0 && groups == 0)
        return SEINE_OK;
    sort_by_rank(p, fits, n);
    pthread_mutex_lock(&p->lock);
    seine_err e = make(p, fits, n, groups, out_policy);
    pthread_mutex_unlock(&p->lock);
    return e;
}

const sn_group_rule *
sn_host_policies_net(const sn_host_policies *p, const sn_ip *ip)
{
    for (uint32_t i = 0; i < p->n_groups; i++)
        if (sn_group_rule_has_net(&p->groups[i], ip))
            return &p->groups[i];
    return NULL;
}

bool
sn_host_policies_obeys(const sn_host_policies *p)
{
    for (uint32_t i = 0; p && i < p->n; i++)
        if (p->entries[i].opts.set & SEINE_HOST_ROBOTS &&
            p->entries[i].opts.robots != SEINE_OBEY_OFF)
            return true;
    return false;
}

uint64_t
sn_host_policies_max_body(const sn_host_policies *p)
{
    uint64_t most = 0;

    for (uint32_t i = 0; p && i < p->n; i++)
        if (p->entries[i].opts.set & SEINE_HOST_MAX_BODY &&
            p->entries[i].opts.max_body > most)
            most = p->entries[i].opts.max_body;
    return most;
}
