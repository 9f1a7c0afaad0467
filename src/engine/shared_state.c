/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shared_state.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/opts.h"
#include "base/time.h"
#include "engine/cookie_secrets.h"
#include "engine/key_pace.h"
#include "engine/redirect.h"
#include "engine/scope.h"
#include "engine/shard_turns.h"
#include "store/fleet_worker.h"
#include "store/job.h"
#include "store/record_filter.h"
#include "text/robots.h"
#include "text/url_front.h"

enum { MOST_READY = 512 }; /* visits above concurrency that all fetches have */

static seine_err
check_spans(const seine_fetch_opts *o, seine_diag *diag)
{
    const struct {
        const char *member;
        seine_span value;
        bool may_be_zero;
    } spans[] = {{"connect_timeout", o->connect_timeout, false},
                 {"dns_timeout", o->dns_timeout, false},
                 {"tcp_timeout", o->tcp_timeout, false},
                 {"tls_timeout", o->tls_timeout, false},
                 {"head_timeout", o->head_timeout, false},
                 {"grace", o->grace, true},
                 {"max_retry_after", o->max_retry_after, true}};

    if (o->timeout <= 0 || o->timeout == SEINE_NEVER)
        return sn_diag_option(diag, "timeout", "above 0 and not for ever");
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (spans[i].value < 0 || (spans[i].value == 0 && !spans[i].may_be_zero))
            return sn_diag_option(diag, spans[i].member,
                                  spans[i].may_be_zero ? "not below 0" : "above 0");
    if (o->speed_bytes > 0 && o->speed_span <= 0)
        return sn_diag_option(diag, "speed_span", "above 0");
    return SEINE_OK;
}

/* robots.txt names agents by product tokens; NULL is none. */
static bool
is_token(const char *text)
{
    sn_str all = sn_str_of(text);

    return !text || (all.len > 0 && all.len < SN_ROBOTS_AGENT_ROOM && all.ptr[0] != '*' &&
                     sn_robots_token(all).len == all.len);
}

/* Refuses options without sense. The transport of each shard judges texts that name nets
 * and servers. */
static seine_err
check(const seine_fetch_opts *o, seine_diag *diag)
{
    if (!sn_opts_fit(o, sizeof *o))
        return sn_diag_option(diag, "size", "set by SEINE_FETCH_OPTS");
    if (o->crawl && !sn_opts_fit(o->crawl, sizeof *o->crawl))
        return sn_diag_option(diag, "crawl.size", "set by SEINE_CRAWL_OPTS");
    if (o->revisit && !sn_opts_fit(o->revisit, sizeof *o->revisit))
        return sn_diag_option(diag, "revisit.size", "set by SEINE_REVISIT_OPTS");
    if (o->revisit && (!o->crawl || !o->job))
        return sn_diag_option(diag, "revisit", "needs a crawl with a job");
    if (o->concurrency == 0)
        return sn_diag_option(diag, "concurrency", "at least 1");
    if (o->per_host == 0)
        return sn_diag_option(diag, "per_host", "at least 1");
    if (o->threads > 256)
        return sn_diag_option(diag, "threads", "at most 256");
    if (o->per_ip > UINT16_MAX)
        return sn_diag_option(diag, "per_ip", "at most 65535");
    if (o->max_redirects > 1000)
        return sn_diag_option(diag, "max_redirects", "at most 1000");
    if (!o->method || !*o->method)
        return sn_diag_option(diag, "method", "not empty");
    if (!o->user_agent)
        return sn_diag_option(diag, "user_agent", "not empty");
    if (!is_token(o->robots_agent))
        return sn_diag_option(diag, "robots_agent", "letters, digits, '-' and '_'");
    if (seine_retry_check(&o->retry) != SEINE_OK)
        return sn_diag_option(diag, "retry", "contradicts itself");
    return check_spans(o, diag);
}

/* Deep copies, in the arena. NULL stays NULL; *e tells when memory ran out. */
static const char *
copy_text(sn_arena *a, const char *text, seine_err *e)
{
    if (!text)
        return NULL;
    const char *copy = sn_arena_text(a, sn_str_of(text));
    if (!copy)
        *e = SEINE_E_NOMEM;
    return copy;
}

static seine_view
copy_view(sn_arena *a, seine_view v, seine_err *e)
{
    if (!v.ptr)
        return v;
    const char *copy = sn_arena_text(a, v);
    if (!copy)
        *e = SEINE_E_NOMEM;
    return (seine_view){copy, v.len};
}

static const char *const *
copy_list(sn_arena *a, const char *const *list, seine_err *e)
{
    size_t n = 0;

    if (!list)
        return NULL;
    while (list[n])
        n++;
    const char **copy = SN_ARENA_ARRAY(a, const char *, n + 1);
    if (!copy)
        *e = SEINE_E_NOMEM;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = copy_text(a, list[i], e);
    return copy;
}

static const seine_field *
copy_fields(sn_arena *a, const seine_field *fields, size_t n, seine_err *e)
{
    if (n == 0)
        return NULL;
    seine_field *copy = SN_ARENA_ARRAY(a, seine_field, n);
    if (!copy)
        *e = SEINE_E_NOMEM;
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = (seine_field){copy_view(a, fields[i].name, e),
                                copy_view(a, fields[i].value, e)};
    for (size_t i = 0; *e == SEINE_OK && copy && i < n; i++)
        if (sn_redirect_reach(copy[i].name) == SN_REACH_REFERER)
            copy[i].value.len =
                sn_redirect_bare((char *)copy[i].value.ptr, copy[i].value.len);
    return copy;
}

static const seine_crawl_opts *
copy_crawl(sn_arena *a, const seine_crawl_opts *opts, seine_err *e)
{
    seine_crawl_opts *copy = SN_ARENA_NEW(a, seine_crawl_opts);

    if (!copy) {
        *e = SEINE_E_NOMEM;
        return NULL;
    }
    *copy = *opts;
    copy->domains = copy_list(a, opts->domains, e);
    copy->spill = copy_text(a, opts->spill, e);
    return copy;
}

static const seine_revisit_opts *
copy_revisit(sn_arena *a, const seine_revisit_opts *opts, seine_err *e)
{
    seine_revisit_opts *copy = SN_ARENA_NEW(a, seine_revisit_opts);

    if (copy)
        *copy = *opts;
    else
        *e = SEINE_E_NOMEM;
    return copy;
}

static seine_err
copy_opts(sn_shared_state *c, const seine_fetch_opts *opts)
{
    seine_fetch_opts *o = &c->opts;
    sn_arena *a = &c->memory;
    seine_err e = SEINE_OK;

    *o = *opts;
    o->method = copy_text(a, opts->method, &e);
    o->user_agent = copy_text(a, opts->user_agent, &e);
    o->robots_agent = copy_text(a, opts->robots_agent, &e);
    o->rate_key = copy_text(a, opts->rate_key, &e);
    o->from = copy_text(a, opts->from, &e);
    o->fields = copy_fields(a, opts->fields, opts->n_fields, &e);
    o->body = copy_view(a, opts->body, &e);
    o->strip_params = copy_text(a, opts->strip_params, &e);
    o->dns = copy_text(a, opts->dns, &e);
    o->resolve = copy_list(a, opts->resolve, &e);
    o->allow_net = copy_list(a, opts->allow_net, &e);
    o->deny_net = copy_list(a, opts->deny_net, &e);
    o->zones = copy_list(a, opts->zones, &e);
    o->cacert = copy_text(a, opts->cacert, &e);
    o->cert = copy_text(a, opts->cert, &e);
    o->cert_key = copy_text(a, opts->cert_key, &e);
    o->insecure_hosts = copy_list(a, opts->insecure_hosts, &e);
    o->include = copy_list(a, opts->include, &e);
    o->exclude = copy_list(a, opts->exclude, &e);
    o->accept_type = copy_text(a, opts->accept_type, &e);
    o->accept_urls = copy_list(a, opts->accept_urls, &e);
    if (opts->crawl)
        o->crawl = copy_crawl(a, opts->crawl, &e);
    if (opts->revisit)
        o->revisit = copy_revisit(a, opts->revisit, &e);
    o->proxy = o->no_proxy = NULL; /* the login is where it is needed */
    o->proxy_env = NULL;
    if (!o->clock)
        o->clock = seine_clock_system();
    uint32_t more = o->concurrency / 8; /* a few ready when others end */
    uint32_t least = o->concurrency + (more < MOST_READY ? more : MOST_READY) + 1;
    if (o->queue < least)
        o->queue = least;
    return e;
}

seine_rate
sn_shared_state_rate(seine_rate rate)
{
    seine_span every = seine_every(rate.count, rate.per);
    uint64_t more = (uint64_t)(SEINE_MS(1) / (every > 0 ? every : 1));

    rate.burst =
        more > UINT32_MAX - rate.burst ? UINT32_MAX : rate.burst + (uint32_t)more;
    return rate;
}

/* The memory for responses: what waits in a crawl has a quarter of its own, and outputs
 * have what they need, up to half of the rest. */
static uint64_t
body_memory(const seine_fetch_opts *o)
{
    uint64_t n = o->max_memory - (o->crawl ? o->max_memory / 4 : 0);

    if (o->max_memory == 0 || o->max_memory == UINT64_MAX)
        return UINT64_MAX;
    return n - (o->output_memory < n / 2 ? o->output_memory : n / 2);
}

/* What one response may need. */
static uint64_t
most_memory(const sn_shared_state *c)
{
    const seine_fetch_opts *o = &c->opts;
    uint64_t of_host = sn_host_policies_max_body(c->policies);
    uint64_t most_body = of_host > o->max_body ? of_host : o->max_body;

    enum { HEADS = 512 << 10 }; /* of all responses, which are counted, too */
    const unsigned whole = SEINE_KEEP_BODY | SEINE_KEEP_SHA256;
    uint64_t body = o->keep & whole || o->extract ? most_body : 0;
    uint64_t tree = o->extract ? 2 * body : 0; /* of a page that is read for values */
    uint64_t wire = o->keep & SEINE_KEEP_WIRE ? o->max_wire : 0;

    if (body > UINT64_MAX / 8 || wire > UINT64_MAX / 8)
        return UINT64_MAX;
    return (o->keep & SEINE_KEEP_COPY ? 2 : 1) * body + tree + 2 * wire + HEADS;
}

/* A job remembers prints: they mean the same in every run. */
static seine_err
make_seen(const sn_shared_state *c, seine_seen **out_seen)
{
    seine_seen_opts opts = SEINE_SEEN_OPTS;

    if (c->job)
        memcpy(opts.seed, sn_job_secret(c->job), sizeof opts.seed);
    return seine_seen_new(&opts, out_seen);
}

/* Makes the parts that all shards share. */
static seine_err
make_parts(sn_shared_state *c, seine_diag *diag)
{
    const seine_fetch_opts *o = &c->opts;
    seine_err e = seine_throttle_init_semaphore(&c->in_flight, o->concurrency);

    if (e == SEINE_OK)
        e = sn_visits_new(o->queue,
                          o->crawl || o->keep & SEINE_KEEP_FIELDS ? SN_VISIT_FOUND
                                                                  : SN_VISIT_GIVEN,
                          &c->visits);
    if (e == SEINE_OK) {
        sn_url_front *front = sn_zalloc(sizeof *front);

        atomic_init(&c->front, front);
        e = front ? SEINE_OK : SEINE_E_NOMEM;
    }
    if (e == SEINE_OK && (o->dedup || o->crawl))
        e = make_seen(c, &c->seen);
    if (e == SEINE_OK && o->rate_key && o->rate.count > 0)
        e = sn_key_pace_new(o, &c->pace, diag);
    else if (e == SEINE_OK && o->rate.count > 0) {
        seine_shared_opts shared = SEINE_SHARED_OPTS;
        shared.rate = sn_shared_state_rate(o->rate);
        shared.initial = o->rate.burst;
        e = seine_shared_new(&shared, o->clock->now(o->clock), &c->rate);
        if (e == SEINE_E_INVAL)
            return sn_diag_option(diag, "rate", "contradicts itself");
    }
    if (e == SEINE_OK && o->limit_rate > 0)
        e = sn_read_rate_new(o->limit_rate, o->clock->now(o->clock), &c->read_rate);
    if (e == SEINE_OK)
        e = sn_memory_brake_new(body_memory(o), most_memory(c), &c->brake);
    if (e == SEINE_OK)
        c->budget = c->brake->budget;
    if (e == SEINE_OK) {
        c->brake->due = o->due;
        c->brake->due_arg = o->arg;
    }
    if (e == SEINE_OK)
        e = sn_tls_ctx_new(
            &(sn_tls_opts){o->cacert, o->cert, o->cert_key, o->tls_min ? o->tls_min : 12},
            &c->tls, diag);
    if (e == SEINE_OK && o->per_ip > 0 && (!o->mine || o->crawl)) {
        seine_span every = o->host_rate.count > 0
                               ? seine_every(o->host_rate.count, o->host_rate.per)
                               : 0;
        sn_address_limits_opts ip = {.limit = {(uint16_t)o->per_ip, 4, every / 4}};
        e = sn_address_limits_init(&c->address_limits, &ip);
        c->has_address_limits = e == SEINE_OK;
    }
    return e;
}

static void
name_rules(sn_shared_state *c)
{
    const seine_diag_name *names = c->opts.names;

    c->shown.depth = sn_str_of(sn_diag_shown(names, "depth"));
    c->shown.nofollow = sn_str_of(sn_diag_shown(names, "nofollow"));
    c->shown.scope = sn_str_of(sn_diag_shown(names, "scope"));
    c->shown.max_subdomains = sn_str_of(sn_diag_shown(names, "max_subdomains"));
    c->shown.pattern_budget = sn_str_of(sn_diag_shown(names, "pattern_budget"));
    c->shown.max_per_host = sn_str_of(sn_diag_shown(names, "max_per_host"));
    snprintf(c->max_pages_rule, sizeof c->max_pages_rule, "%.64s %llu",
             sn_diag_shown(names, "max_pages"), (unsigned long long)c->opts.max_pages);
    snprintf(c->max_bytes_rule, sizeof c->max_bytes_rule, "%.64s %llu",
             sn_diag_shown(names, "max_bytes"), (unsigned long long)c->opts.max_bytes);
}

/* Makes the parts that judge URLs, besides the seen-set. */
static seine_err
make_judges(sn_shared_state *c, seine_diag *diag)
{
    const seine_fetch_opts *o = &c->opts;
    seine_err e = SEINE_OK;

    sn_robots_name_agent(o->robots_agent, o->user_agent, c->agent);
    name_rules(c);
    if (o->crawl || o->include || o->exclude)
        e = sn_scope_new(o, &c->scope, diag);
    if (e == SEINE_OK && o->accept_urls && o->accept_urls[0])
        e = sn_record_filter_new(o->accept_urls, "accept_urls", &c->accept_urls, diag);
    if (e == SEINE_OK && o->crawl)
        e = seine_psl_new(NULL, &c->psl);
    if (e == SEINE_OK && o->crawl)
        e = make_seen(c, &c->late_seen);
    return e;
}

/* Guards are made per host later: a setting they refuse is told now. */
static seine_err
try_guards(const seine_fetch_opts *o, seine_diag *diag)
{
    seine_limiter limiter;
    seine_breaker breaker;

    if (o->host_rate.count > 0 &&
        seine_limiter_init_rate(&limiter, &o->host_rate, SEINE_FULL, 0) != SEINE_OK)
        return sn_diag_option(diag, "host_rate", "contradicts itself");
    if (o->breaker.failure_threshold == 0 && o->breaker.failure_pct == 0)
        return SEINE_OK;
    seine_err e = seine_breaker_init(&breaker, &o->breaker);
    if (e == SEINE_OK)
        seine_breaker_fini(&breaker);
    return e == SEINE_E_INVAL ? sn_diag_option(diag, "breaker", "contradicts itself") : e;
}

/* Single hosts; the options of the run are copied. */
static seine_err
make_policies(sn_shared_state *c, const seine_fetch_opts *opts, seine_diag *diag)
{
    sn_host_list list = {opts->hosts, opts->n_hosts, opts->groups, opts->n_groups};

    c->opts.hosts = NULL;
    c->opts.groups = NULL;
    if (list.n_hosts == 0 && list.n_groups == 0)
        return SEINE_OK;
    seine_err e = sn_host_policies_new(&c->opts, &list, &c->groups, &c->policies, diag);
    c->newest = c->policies;
    return e;
}

seine_err
sn_shared_state_init(sn_shared_state *c, const seine_fetch_opts *opts, seine_diag *diag)
{
    memset(c, 0, sizeof *c);
    seine_err e = check(opts, diag);
    if (e == SEINE_OK)
        e = try_guards(opts, diag);
    if (e != SEINE_OK)
        return e;
    sn_arena_init(&c->memory, 4096, SIZE_MAX);
    pthread_mutex_init(&c->giver, NULL);
    sn_tunes_init(&c->tunes);
    sn_host_groups_init(&c->groups);
    sn_lastmod_table_init(&c->lastmods);
    e = copy_opts(c, opts);
    c->job = opts->job;
    c->fleet = sn_job_fleet(c->job);
    c->resumed_at = INT64_MIN;
    atomic_init(&c->earliest, INT64_MIN);
    if (c->job)
        atomic_store(&c->next_number, sn_job_next_number(c->job));
    c->breaker = opts->breaker;
    if (c->breaker.failure_threshold > 0)
        c->breaker.failure_threshold = UINT32_MAX;
    if (e == SEINE_OK) /* who does not trust URLs does not trust the environment */
        e = sn_proxies_init(&c->proxies,
                            &(sn_proxies_opts){opts->proxy, opts->no_proxy,
                                               opts->untrusted ? NULL : opts->proxy_env},
                            diag);
    if (e == SEINE_OK)
        e = make_policies(c, opts, diag);
    if (e == SEINE_OK)
        e = make_parts(c, diag);
    if (e == SEINE_OK)
        e = make_judges(c, diag);
    if (e == SEINE_OK && opts->threads > 1)
        e = sn_shard_turns_new(&c->turns);
    if (e == SEINE_OK)
        e = sn_cookie_secrets_learn_jar(&c->opts, c->opts.clock->wall(c->opts.clock));
    if (e != SEINE_OK) {
        sn_shared_state_fini(c);
        return e;
    }
    const seine_fetch_opts *o = &c->opts;
    c->limits = (sn_limits){{o->dns_timeout, o->tcp_timeout, o->tls_timeout,
                             o->connect_timeout, SEINE_SECS(10), o->head_timeout,
                             o->timeout, o->speed_bytes, o->speed_span},
                            o->max_wire,
                            o->max_body,
                            o->max_ratio,
                            o->ratio_from};
    for (int i = 0; i < 2; i++)
        c->secret[i] = o->clock->dice(o->clock);
    atomic_store(&c->narrowed, 100);
    return SEINE_OK;
}

void
sn_shared_state_fini(sn_shared_state *c)
{
    if (c->has_address_limits)
        sn_address_limits_fini(&c->address_limits);
    sn_tls_ctx_free(c->tls);
    sn_proxies_fini(&c->proxies);
    sn_memory_brake_unref(c->brake);
    seine_shared_free(c->rate);
    sn_key_pace_free(c->pace);
    sn_read_rate_free(c->read_rate);
    seine_seen_free(c->seen);
    seine_seen_free(c->late_seen);
    seine_psl_free(c->psl);
    sn_scope_free(c->scope);
    sn_record_filter_free(c->accept_urls);
    sn_visits_free(c->visits);
    sn_free(atomic_load(&c->front));
    sn_shard_turns_free(c->turns);
    seine_throttle_fini(&c->in_flight);
    sn_arena_wipe(&c->memory); /* fields and bodies may be secrets; the proxy's login */
    sn_arena_fini(&c->memory);
    pthread_mutex_destroy(&c->giver);
    sn_tunes_fini(&c->tunes);
    sn_host_policies_free(c->newest);
    sn_host_groups_fini(&c->groups);
    sn_lastmod_table_fini(&c->lastmods);
    sn_tried_urls_fini(&c->tried);
    memset(c, 0, sizeof *c);
}

/* The load. */

#define ONE_STUCK (UINT64_C(1) << 32)

sn_load
sn_shared_state_load(const sn_shared_state *c)
{
    uint64_t both = atomic_load(&c->load);

    return (sn_load){(uint32_t)both, (uint32_t)(both >> 32)};
}

void
sn_shared_state_add_work(sn_shared_state *c, uint32_t work)
{
    atomic_fetch_add(&c->load, work);
}

void
sn_shared_state_end_work(sn_shared_state *c, uint32_t work)
{
    atomic_fetch_sub(&c->load, work);
}

void
sn_shared_state_add_stuck(sn_shared_state *c, uint32_t n)
{
    atomic_fetch_add(&c->load, n * ONE_STUCK);
}

void
sn_shared_state_end_stuck(sn_shared_state *c, uint32_t n)
{
    atomic_fetch_sub(&c->load, n * ONE_STUCK);
}

bool
sn_shared_state_is_closed(const sn_shared_state *c)
{
    return atomic_load(&c->closed) && atomic_load(&c->adding) == 0;
}

bool
sn_shared_state_is_quiet(const sn_shared_state *c)
{
    return sn_shared_state_is_closed(c) && sn_shared_state_load(c).work == 0;
}

bool
sn_shared_state_is_stuck(const sn_shared_state *c)
{
    if (!sn_shared_state_is_closed(c))
        return false;
    sn_load load = sn_shared_state_load(c);
    return load.work > 0 && load.work == load.stuck;
}

bool
sn_shared_state_is_done(const sn_shared_state *c)
{
    return sn_shared_state_is_quiet(c) && atomic_load(&c->late) == 0;
}

bool
sn_shared_state_leaves(const sn_shared_state *c)
{
    return c->job && (atomic_load(&c->left) > 0 || atomic_load(&c->stop) != SN_GOING);
}

bool
sn_shared_state_has_frontier(const sn_shared_state *c)
{
    return c->opts.crawl || c->fleet || c->opts.robots != SEINE_OBEY_OFF ||
           sn_host_policies_obeys(c->policies);
}

bool
sn_shared_state_admit(sn_shared_state *c)
{
    uint64_t max = c->opts.max_pages, before = atomic_fetch_add(&c->admitted, 1);

    before += atomic_load(&c->unwanted);
    if (max == 0 || before < max)
        return true;
    atomic_fetch_sub(&c->admitted, 1);
    return false;
}

uint32_t
sn_shared_state_shard(const sn_shared_state *c, const seine_url *url, uint32_t n)
{
    seine_view name;

    if (n <= 1)
        return 0;
    if (seine_url_name(url, &name) != SEINE_OK)
        name = seine_url_host(url);
    if (c->psl && seine_url_host_is(url) == SEINE_HOST_NAME) {
        size_t len = seine_psl_site(c->psl, name.ptr, name.len);
        if (len > 0)
            name = (seine_view){name.ptr + name.len - len, len};
    }
    uint64_t hash = sn_siphash(c->secret, name.ptr, name.len);
    return c->turns ? sn_shard_turns_of(c->turns, hash, n) : (uint32_t)(hash % n);
}

bool
sn_shared_state_fail(sn_shared_state *c, seine_err e, const seine_diag *why)
{
    int going = SN_GOING, none = SEINE_OK;

    if (atomic_exchange(&c->is_failing, true))
        return false;
    c->why = *why;
    atomic_store(&c->err, (int)e);
    atomic_compare_exchange_strong(&c->stop_why, &none, SEINE_E_CANCELED);
    atomic_compare_exchange_strong(&c->stop, &going, SN_DRAINING);
    atomic_store(&c->closed, true);
    return true;
}
