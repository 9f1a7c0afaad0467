/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/frontier_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "engine/admit.h"
#include "engine/url_rules.h"
#include "text/html.h"

static sn_more more(uint32_t host, seine_time now, void *arg);
static sn_visit *take(uint32_t host, seine_time now, void *arg);

/* A quarter of the memory holds what waits, shared by the shards. */
static seine_err
make_queue(sn_frontier *f)
{
    const seine_fetch_opts *o = &f->shared->opts;
    uint64_t share = o->max_memory / 4 / f->n;
    sn_queue_opts queue = {.max_bytes = share < SIZE_MAX ? (size_t)share : SIZE_MAX,
                           .spill = o->crawl ? o->crawl->spill : NULL};

    return sn_queue_new(&queue, &f->queue);
}

static seine_err
make(sn_frontier *f)
{
    seine_err e = make_queue(f);

    f->posts = sn_calloc(f->n, sizeof(sn_post *));
    f->memory = sn_alloc((size_t)SN_BATCH * 2 * SEINE_URL_ROOM);
    if (e == SEINE_OK && (!f->posts || !f->memory))
        e = SEINE_E_NOMEM;
    for (size_t i = 0; e == SEINE_OK && i < SN_BATCH; i++) {
        f->batch[i].href_mem = f->memory + 2 * i * SEINE_URL_ROOM;
        f->batch[i].key_mem = f->batch[i].href_mem + SEINE_URL_ROOM;
    }
    return e;
}

seine_err
sn_frontier_new(sn_shared_state *c, sn_scheduler *s, const sn_frontier_ops *ops,
                uint32_t index, uint32_t n, sn_frontier **out_frontier)
{
    sn_frontier *f = sn_zalloc(sizeof *f);

    if (!f)
        return SEINE_E_NOMEM;
    f->shared = c;
    f->scheduler = s;
    f->ops = *ops;
    f->index = index;
    f->n = n;
    f->late = SN_CHAIN;
    f->ahead_of = SN_NO_HOST;
    sn_crawl_hosts_init(&f->hosts);
    sn_heap_init(&f->again, UINT32_MAX);
    seine_err e = make(f);
    if (e != SEINE_OK) {
        sn_frontier_free(f);
        return e;
    }
    sn_scheduler_set_source(s, &(sn_url_source){more, take, f});
    *out_frontier = f;
    return SEINE_OK;
}

void
sn_frontier_free(sn_frontier *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; f->posts && i < f->n; i++)
        sn_mail_free(f->posts[i]);
    sn_free(f->posts);
    sn_free(f->memory);
    sn_queue_free(f->queue);
    sn_crawl_hosts_fini(&f->hosts);
    sn_heap_fini(&f->again);
    sn_free(f);
}

/* Refusing. */

void
sn_frontier_refuse(sn_frontier *f, const sn_link *link, const seine_url *url,
                   seine_skip reason, sn_str rule)
{
    char key[SEINE_URL_ROOM];
    size_t len = 0;
    sn_refusal r = {.link = link, .reason = reason, .rule = rule};

    if (url && seine_url_key(url, f->shared->opts.strip_params, key, sizeof key, &len) ==
                   SEINE_OK)
        r.key = (sn_str){key, len};
    f->ops.refuse(&r, f->ops.arg);
}

/* A URL that was routed to its owner is refused there. */
static void
turn_away(sn_frontier *f, const sn_link *link, const seine_url *url, seine_skip reason,
          sn_str rule)
{
    sn_frontier_refuse(f, link, url, reason, rule);
    sn_shared_state_end_work(f->shared, 1);
}

/* Hosts. */

static bool
is_idle(uint32_t host, void *arg)
{
    const sn_frontier *f = arg;
    const sn_crawl_host *ch = &f->hosts.all[host];
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    return ch->chain.n == 0 && x->first.n == 0 && x->maps_out == 0 && x->n_held == 0 &&
           !x->is_wanted && x->robots.state != SN_ROBOTS_ASKED &&
           !(ch->flags & SN_CRAWL_HOST_STUCK) && (!x->trap || ch->n_pages < 100) &&
           sn_scheduler_busy(f->scheduler, host) == 0;
}

static uint8_t
flags_of(const sn_frontier *f, bool is_given)
{
    const seine_fetch_opts *o = &f->shared->opts;
    uint8_t flags = is_given ? SN_CRAWL_HOST_GIVEN : 0;

    if (o->robots == SEINE_OBEY_OFF || (is_given && o->mine && !o->robots_on_mine))
        flags |= SN_CRAWL_HOST_FREE;
    return flags;
}

seine_err
sn_frontier_host(sn_frontier *f, const seine_url *url, bool is_given, seine_time now,
                 uint32_t *out_host, sn_crawl_host **out_ch)
{
    uint32_t host;
    sn_crawl_state *x;
    seine_err e = sn_scheduler_host(f->scheduler, url, is_given, now, &host);

    if (e == SEINE_OK)
        e = sn_crawl_hosts_make_state(&f->hosts, host, &x);
    if (e == SEINE_OK)
        e = sn_crawl_hosts_at(&f->hosts, host, out_ch);
    if (e != SEINE_OK)
        return e;
    (*out_ch)->flags |= flags_of(f, is_given);
    *out_host = host;
    if (f->hosts.used % 64 == 0)
        sn_crawl_hosts_evict(&f->hosts, is_idle, f);
    return SEINE_OK;
}

bool
sn_frontier_url(const sn_frontier *f, uint32_t host, sn_str target, seine_url *out)
{
    char text[SEINE_URL_ROOM + SN_HOST_NAME];
    sn_str name = sn_scheduler_name(f->scheduler, host);

    memcpy(text, name.ptr, name.len);
    memcpy(text + name.len, target.ptr, target.len);
    return seine_url_parse(out, text, name.len + target.len, NULL) == SEINE_OK;
}

/* Admission by the owner. */

typedef struct refusal {
    bool refused;
    seine_skip reason;
    char rule[SN_TRAP_ROOM + 64];
    sn_str text;
} refusal;

static bool
refused(refusal *r, seine_skip reason, sn_str rule)
{
    r->refused = true;
    r->reason = reason;
    r->text = rule;
    return true;
}

static bool
refused_by(refusal *r, seine_skip reason, const char *what, sn_str name, uint64_t limit)
{
    int n = snprintf(r->rule, sizeof r->rule, "%s%.*s %llu", what, SN_FMT(name),
                     (unsigned long long)limit);

    return refused(r, reason, (sn_str){r->rule, (size_t)n});
}

/* A name that is one of too many of its domain. */
static bool
is_one_too_many(sn_frontier *f, const seine_url *url, const sn_crawl_host *ch, refusal *r)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    sn_str name = seine_url_host(url);
    uint32_t hosts;

    if (ch->n_pages > 0 || ch->flags & SN_CRAWL_HOST_GIVEN || o->max_subdomains == 0 ||
        seine_url_host_is(url) != SEINE_HOST_NAME)
        return false;
    size_t len = seine_psl_site(f->shared->psl, name.ptr, name.len);
    sn_str domain = len > 0 ? sn_str_slice(name, name.len - len, name.len) : name;
    if (sn_crawl_hosts_domain(&f->hosts, domain, &hosts) != SEINE_OK)
        return refused(r, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    return hosts > o->max_subdomains &&
           refused_by(r, SEINE_SKIP_TRAP, "hosts of ", domain, o->max_subdomains);
}

/* Told once, when the first of a pattern is refused. */
static void
tell_trap(sn_frontier *f, const seine_url *url, sn_str pattern)
{
    seine_view host = seine_url_host_port(url);

    SN_SAY(f->shared->opts.log, WARN, "trap", "a path pattern has had its share",
           SN_S("host", host), SN_S("pattern", pattern));
    f->ops.tell(&(seine_event){.name = "trap",
                               .host = {host.ptr, host.len},
                               .until = SEINE_NEVER,
                               .detail = {pattern.ptr, pattern.len}},
                f->ops.arg);
}

/* Its path has a pattern of which there are many: is there room for one more? */
static bool
is_trapped(sn_frontier *f, uint32_t host, const seine_url *url, refusal *r)
{
    uint32_t count;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    char text[SN_TRAP_ROOM];
    sn_trap_kind kind;

    size_t n = sn_trap_pattern(seine_url_path(url), seine_url_query(url), text, &kind);
    sn_str pattern = {text, n};
    uint32_t budget = sn_url_rules_budget(f->shared->opts.crawl, &kind);
    if (budget == 0)
        return false;
    if (!x->trap && !(x->trap = sn_trap_tree_new()))
        return refused(r, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    uint32_t before = sn_trap_counted(x->trap, pattern);
    /* The first that is refused is counted, so that it is told once. */
    if (before <= budget && sn_trap_count(x->trap, pattern, &count) != SEINE_OK)
        return refused(r, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    if (before < budget)
        return false;
    if (before == budget)
        tell_trap(f, url, pattern);
    return refused_by(r, SEINE_SKIP_TRAP, "pattern ", pattern, budget);
}

static bool
refused_by_rules(refusal *r, const seine_robots_verdict *v)
{
    int n = snprintf(r->rule, sizeof r->rule, "robots.txt:%u %.*s", v->line,
                     (int)(v->rule.len < 200 ? v->rule.len : 200),
                     v->rule.ptr ? v->rule.ptr : "");

    return refused(r, SEINE_SKIP_ROBOTS, (sn_str){r->rule, (size_t)n});
}

static bool
is_disallowed(sn_frontier *f, uint32_t host, const seine_url *url, refusal *r)
{
    seine_robots_verdict verdict;

    if (sn_frontier_obey(f, host, seine_url_target(url), &verdict) == SEINE_OK)
        return false;
    return refused_by_rules(r, &verdict);
}

static bool
is_known(const sn_crawl_state *x)
{
    return x->robots.state == SN_ROBOTS_PARSED || x->robots.state == SN_ROBOTS_ABSENT;
}

/* Everything the owner of a host may have against a page. */
static bool
is_refused(sn_frontier *f, uint32_t host, const sn_crawl_host *ch, const seine_url *url,
           refusal *r)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (is_one_too_many(f, url, ch, r))
        return true;
    if (is_known(x) && is_disallowed(f, host, url, r))
        return true;
    if (o->max_per_host > 0 && ch->n_pages >= o->max_per_host)
        return refused_by(r, SEINE_SKIP_BUDGET, "max-pages-per-host", (sn_str){0},
                          o->max_per_host);
    if (is_trapped(f, host, url, r))
        return true;
    return !sn_shared_state_admit(f->shared) &&
           refused(r, SEINE_SKIP_BUDGET, SN_STR("max_pages"));
}

static sn_queued
queued_of(const sn_link *l, sn_str target)
{
    return (sn_queued){.target = target,
                       .parent = l->parent,
                       .number = l->number,
                       .line = l->line,
                       .depth = l->depth,
                       .moved = l->moved,
                       .kind = l->kind,
                       .ceiling = l->ceiling,
                       .tag = l->tag,
                       .attr = l->attr};
}

/* One URL more waits at the host: may the scheduler know? */
static void
announce(sn_frontier *f, uint32_t host, seine_time now)
{
    if (sn_frontier_is_open(f, host, now))
        sn_scheduler_put(f->scheduler, host, 1, now);
    else if (f->hosts.all[host].flags & SN_CRAWL_HOST_STUCK)
        sn_shared_state_add_stuck(f->shared, 1);
}

static seine_err
put(sn_frontier *f, sn_chain *chain, const sn_link *l, sn_str target)
{
    sn_queued q = queued_of(l, target);

    f->ahead_of = SN_NO_HOST;
    return sn_queue_put(f->queue, chain, &q);
}

static void
admit_map(sn_frontier *f, uint32_t host, const sn_link *l, sn_str target, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (x->n_maps >= SN_CRAWL_HOST_MAPS || put(f, &x->first, l, target) != SEINE_OK) {
        sn_shared_state_end_work(f->shared, 1);
        return;
    }
    x->n_maps++;
    announce(f, host, now);
}

/* A page of a level that has begun, or is over, goes before those of the next. */
static seine_err
put_page(sn_frontier *f, uint32_t host, const sn_link *l, sn_str target)
{
    sn_crawl_host *ch = &f->hosts.all[host];
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    bool is_early = f->shared->opts.crawl->depth != UINT32_MAX && l->depth <= ch->level &&
                    ch->chain.n > 0;

    return put(f, is_early ? &x->first : &ch->chain, l, target);
}

void
sn_frontier_admit(sn_frontier *f, const sn_link *link, const seine_url *url,
                  seine_time now)
{
    sn_str target = seine_url_target(url);
    sn_crawl_host *ch;
    uint32_t host;
    refusal r = {0};
    seine_err e = sn_frontier_host(f, url, false, now, &host, &ch);

    if (e != SEINE_OK) {
        turn_away(f, link, url, SEINE_SKIP_BUDGET, SN_STR("no memory"));
        return;
    }
    if (link->kind == SN_KIND_SITEMAP) {
        admit_map(f, host, link, target, now);
        return;
    }
    if (is_refused(f, host, ch, url, &r)) {
        turn_away(f, link, url, r.reason, r.text);
        return;
    }
    e = put_page(f, host, link, target);
    if (e != SEINE_OK) {
        atomic_fetch_sub(&f->shared->admitted, 1);
        turn_away(f, link, url, SEINE_SKIP_BUDGET,
                  e == SEINE_E_NOMEM ? SN_STR("no memory") : SN_STR("no space to spill"));
        return;
    }
    ch->n_pages++;
    f->waiting++;
    announce(f, host, now);
}

void
sn_frontier_post(sn_frontier *f, sn_post *give, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;
    sn_link link;

    seine_url_init(&url, mem, sizeof mem);
    for (size_t at = 0; sn_mail_read(give, &at, &link);) {
        seine_err e = seine_url_parse(&url, link.url.ptr, link.url.len, NULL);
        if (e == SEINE_OK)
            sn_frontier_admit(f, &link, &url, now);
        else
            turn_away(f, &link, NULL, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    }
    atomic_fetch_sub(&f->shared->mail_bytes, give->used);
    sn_mail_free(give);
}

/* The source of the scheduler. */

static sn_link
link_of(const sn_queued *q, const seine_url *url)
{
    return (sn_link){.url = seine_url_href(url),
                     .parent = q->parent,
                     .number = q->number,
                     .line = q->line,
                     .depth = q->depth,
                     .moved = q->moved,
                     .ceiling = q->ceiling,
                     .tag = q->tag,
                     .attr = q->attr,
                     .kind = q->kind};
}

static sn_chain *
next_chain(const sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    return x && x->first.n > 0 ? &x->first : &f->hosts.all[host].chain;
}

void
sn_frontier_pop(sn_frontier *f, uint32_t host)
{
    f->waiting -= f->ahead.kind == SN_KIND_PAGE;
    sn_queue_pop(f->queue, next_chain(f, host));
    f->ahead_of = SN_NO_HOST;
}

bool
sn_frontier_look(sn_frontier *f, uint32_t host)
{
    seine_err e;

    if (f->ahead_of == host)
        return true;
    e = sn_queue_head(f->queue, next_chain(f, host), &f->ahead);
    f->ahead_of = e == SEINE_OK ? host : SN_NO_HOST;
    if (e != SEINE_OK && e != SEINE_E_CLOSED)
        f->err = e;
    return e == SEINE_OK;
}

static bool
is_over_bytes(const sn_frontier *f)
{
    uint64_t max = f->shared->opts.max_bytes;

    return max > 0 &&
           atomic_load_explicit(&f->shared->bytes_body, memory_order_relaxed) >= max;
}

/* What has come up against the URL in `ahead` since it was admitted. */
static bool
is_refused_late(sn_frontier *f, uint32_t host, refusal *r)
{
    seine_robots_verdict verdict;

    if (is_over_bytes(f))
        return refused(r, SEINE_SKIP_BUDGET, SN_STR("max_bytes"));
    if (sn_frontier_obey(f, host, f->ahead.target, &verdict) == SEINE_OK)
        return false;
    return refused_by_rules(r, &verdict);
}

/* The URL in `ahead` is refused after all. */
static void
refuse_ahead(sn_frontier *f, uint32_t host, seine_skip reason, sn_str rule)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (!sn_frontier_url(f, host, f->ahead.target, &url))
        url.len = 0;
    sn_link link = link_of(&f->ahead, &url);
    sn_frontier_refuse(f, &link, &url, reason, rule);
    atomic_fetch_sub(&f->shared->admitted, 1);
    sn_frontier_pop(f, host);
    sn_shared_state_end_work(f->shared, 1);
}

/* Nothing of a level starts before all that is less deep has ended. */
static bool
must_wait(sn_frontier *f, uint32_t host)
{
    sn_crawl_host *ch = &f->hosts.all[host];
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    uint16_t depth = f->ahead.depth < UINT16_MAX ? (uint16_t)f->ahead.depth : UINT16_MAX;

    if (f->shared->opts.crawl->depth == UINT32_MAX || depth <= ch->level)
        return false;
    if (x->first.n > 0)
        return false;
    if (sn_scheduler_busy(f->scheduler, host) > 0 || x->maps_out > 0)
        return true;
    ch->level = depth;
    return false;
}

/* Too old: robots.txt is asked for again, and what the scheduler knew of waits for it. */
static sn_more
ask_again(sn_frontier *f, uint32_t host)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (!x->is_wanted)
        return SN_MORE_NONE;
    sn_scheduler_less(f->scheduler, host, f->hosts.all[host].chain.n + x->first.n);
    return SN_MORE_NOW;
}

static sn_more
more(uint32_t host, seine_time now, void *arg)
{
    sn_frontier *f = arg;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    refusal r = {0};

    if (!x)
        return SN_MORE_NONE;
    if (x->is_wanted)
        return SN_MORE_NOW;
    if (!sn_frontier_is_open(f, host, now))
        return ask_again(f, host);
    while (sn_frontier_look(f, host)) {
        if (f->ahead.kind == SN_KIND_SITEMAP && is_refused_late(f, host, &r)) {
            sn_frontier_pop(f, host);
            sn_shared_state_end_work(f->shared, 1);
        } else if (f->ahead.kind == SN_KIND_SITEMAP) {
            return SN_MORE_NOW;
        } else if (is_refused_late(f, host, &r)) {
            refuse_ahead(f, host, r.reason, r.text);
        } else {
            return must_wait(f, host) ? SN_MORE_LATER : SN_MORE_NOW;
        }
        sn_scheduler_less(f->scheduler, host, 1);
    }
    return SN_MORE_NONE;
}

/* The URL in `ahead` becomes a visit and leaves the queue. */
static sn_visit *
leave(sn_frontier *f, uint32_t host, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    const sn_queued *q = &f->ahead;
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (!sn_frontier_url(f, host, q->target, &url))
        return NULL;
    sn_visit *v = sn_frontier_make(f, &url, SN_KIND_PAGE, now);
    if (!v)
        return NULL;
    v->number = q->number;
    v->depth = q->depth;
    v->moved = q->moved;
    v->ceiling = (sn_address_zone)q->ceiling;
    v->at_home = (f->hosts.all[host].flags & SN_CRAWL_HOST_GIVEN) != 0;
    v->found = (seine_found){.line = q->line};
    if (q->tag > 0) {
        sn_str tag = sn_str_of(sn_html_tag_name((sn_html_tag)q->tag));
        sn_str attr = sn_str_of(sn_html_attr_name((sn_html_attr)q->attr));
        v->found.tag = tag;
        v->found.attr = attr;
    }
    char *parent = q->parent.len > 0 ? sn_arena_text(&v->arena, q->parent) : NULL;
    v->parent = (sn_str){parent, parent ? q->parent.len : 0};
    sn_frontier_pop(f, host);
    return v;
}

/* There was no memory for a visit: what it was for ends, or a crawl might not. */
static void
lose(sn_frontier *f, uint32_t host, seine_time now)
{
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (x->is_wanted) {
        sn_frontier_unasked(f, host, now);
    } else if (f->ahead.kind == SN_KIND_PAGE) {
        refuse_ahead(f, host, SEINE_SKIP_BUDGET, SN_STR("no memory"));
    } else {
        sn_frontier_pop(f, host);
        sn_shared_state_end_work(f->shared, 1);
    }
    sn_scheduler_less(f->scheduler, host, 1);
}

static sn_visit *
take(uint32_t host, seine_time now, void *arg)
{
    sn_frontier *f = arg;
    const sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    bool is_ours = x && x->is_wanted;

    if (!is_ours && !sn_frontier_look(f, host))
        return NULL;
    sn_visit *v = is_ours || f->ahead.kind == SN_KIND_SITEMAP
                      ? sn_frontier_ask(f, host, now)
                      : leave(f, host, now);
    if (!v)
        lose(f, host, now);
    return v;
}

/* Given URLs. */

seine_err
sn_frontier_visit(sn_frontier *f, sn_visit *v, seine_time now)
{
    refusal r = {0};
    sn_crawl_host *ch;
    uint32_t host;
    seine_err e =
        sn_frontier_host(f, &v->url, v->is_typed && v->n_hops == 0, now, &host, &ch);

    if (e != SEINE_OK)
        return e;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    if (!(ch->flags & SN_CRAWL_HOST_PARKED) && !sn_frontier_is_open(f, host, now)) {
        v->host = host;
        v->next = NULL;
        *(x->held ? &x->last_held->next : &x->held) = v;
        x->last_held = v;
        x->n_held++;
        f->waiting++;
        if (ch->flags & SN_CRAWL_HOST_STUCK)
            sn_shared_state_add_stuck(f->shared, 1);
        return SEINE_OK;
    }
    if (is_known(x) && is_disallowed(f, host, &v->url, &r)) {
        char *rule = sn_arena_text(&v->arena, r.text);
        sn_admit_refuse(v, SEINE_SKIP_ROBOTS,
                        (sn_str){rule ? rule : "", rule ? r.text.len : 0});
        return SEINE_E_ROBOTS;
    }
    ch->n_pages += v->n_hops == 0;
    return sn_scheduler_add(f->scheduler, v, now);
}

/* The end. */

/* Does the scheduler know of what waits in the queue? */
static bool
is_put(const sn_crawl_host *ch, const sn_crawl_state *x)
{
    return ch->flags & SN_CRAWL_HOST_FREE || is_known(x);
}

/* It leaves without having been asked: who counts it hears of it. */
static void
uncount(sn_frontier *f, uint32_t host)
{
    const sn_crawl_host *ch = &f->hosts.all[host];

    if (is_put(ch, sn_crawl_hosts_state(&f->hosts, host)))
        sn_scheduler_less(f->scheduler, host, 1);
    if (ch->flags & SN_CRAWL_HOST_STUCK)
        sn_shared_state_end_stuck(f->shared, 1);
}

static sn_visit *
take_held(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_visit *v = x->held;

    if (!v)
        return NULL;
    x->held = v->next;
    x->n_held--;
    f->waiting--;
    if (f->hosts.all[host].flags & SN_CRAWL_HOST_STUCK)
        sn_shared_state_end_stuck(f->shared, 1);
    return v;
}

/* What waits at a host, as a visit to be ended; sitemaps and robots.txt that nobody
 * asked for yet have no record and are gone. */
static sn_visit *
drain_host(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    sn_visit *v;

    if (!x)
        return NULL;
    if (x->is_wanted) {
        x->is_wanted = false;
        sn_scheduler_less(f->scheduler, host, 1);
        sn_shared_state_end_work(f->shared, 1);
    }
    if ((v = take_held(f, host)))
        return v;
    while (sn_frontier_look(f, host)) {
        bool is_page = f->ahead.kind == SN_KIND_PAGE;
        if (is_page && (v = leave(f, host, now))) {
            uncount(f, host);
            return v;
        }
        if (is_page) {
            refuse_ahead(f, host, SEINE_SKIP_BUDGET, SN_STR("no memory"));
        } else {
            sn_frontier_pop(f, host);
            sn_shared_state_end_work(f->shared, 1);
        }
        uncount(f, host);
    }
    return NULL;
}

sn_visit *
sn_frontier_drain(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_visit *v;

    if (host != SN_NO_HOST)
        return drain_host(f, host, now);
    for (; f->drain_at < f->hosts.n; f->drain_at++)
        if ((v = drain_host(f, f->drain_at, now)))
            return v;
    f->drain_at = 0;
    return NULL;
}

void
sn_frontier_park(sn_frontier *f, uint32_t host)
{
    sn_crawl_host *ch;

    if (sn_crawl_hosts_at(&f->hosts, host, &ch) == SEINE_OK)
        ch->flags |= SN_CRAWL_HOST_PARKED;
}

/* Why a link that was put off is not followed at the end, either; false: a given URL that
 * came later brought it into scope, and it is followed. */
static bool
stays_refused(sn_frontier *f, const sn_queued *q, const seine_url *url, sn_url_verdict *o)
{
    const sn_shared_state *c = f->shared;
    seine_skip reason = (seine_skip)(q->flags & ~SN_PUT_NOFOLLOW);

    if (reason == SEINE_SKIP_OFFSITE) {
        if (sn_url_rules_refuse(&c->opts, c->scope, url, o))
            return true;
        reason = q->depth > c->opts.crawl->depth     ? SEINE_SKIP_DEPTH
                 : q->flags & SN_PUT_NOFOLLOW        ? SEINE_SKIP_NOFOLLOW
                 : atomic_load(&c->stop) != SN_GOING ? SEINE_SKIP_OFFSITE
                                                     : SEINE_SKIP_COUNT;
    }
    o->reason = reason;
    o->rule = reason == SEINE_SKIP_DEPTH      ? SN_STR("--depth")
              : reason == SEINE_SKIP_NOFOLLOW ? SN_STR("--nofollow")
                                              : SN_STR("--scope");
    return reason != SEINE_SKIP_COUNT;
}

/* True: it is work after all. */
static bool
tell_late(sn_frontier *f, const sn_queued *q, const seine_url *url, seine_time now)
{
    sn_shared_state *c = f->shared;
    sn_link link = link_of(q, url);
    sn_url_verdict o = {0};

    link.number = atomic_fetch_add_explicit(&c->next_number, 1, memory_order_relaxed);
    if (!stays_refused(f, q, url, &o)) {
        sn_frontier_route(f, &link, url, now);
        return true;
    }
    if (c->opts.crawl->skips || o.reason != SEINE_SKIP_OFFSITE)
        sn_frontier_refuse(f, &link, url, o.reason, o.rule);
    return false;
}

/* The first of those put off; false: it cannot be read, and neither can the others. */
static bool
end_late(sn_frontier *f, seine_url *url, seine_time now, bool *io_more)
{
    char key[SEINE_URL_ROOM];
    sn_queued q;
    bool is_new = false;
    size_t len;
    seine_err e = sn_queue_head(f->queue, &f->late, &q);

    if (e == SEINE_OK)
        e = seine_url_parse(url, q.target.ptr, q.target.len, NULL);
    if (e != SEINE_OK) {
        f->err = e;
        return false;
    }
    /* Texts of the head are gone once something is routed: it leaves first. */
    char parent[SN_QUEUED_MOST];
    memcpy(parent, q.parent.ptr ? q.parent.ptr : "", q.parent.len);
    q.parent.ptr = parent;
    f->ahead_of = SN_NO_HOST;
    sn_queue_pop(f->queue, &f->late);
    e = seine_url_key(url, f->shared->opts.strip_params, key, sizeof key, &len);
    if (e == SEINE_OK)
        e = seine_seen_add(f->shared->seen, key, len, &is_new);
    if (e == SEINE_OK && is_new)
        *io_more |= tell_late(f, &q, url, now);
    else
        atomic_fetch_add_explicit(&f->shared->duplicates, 1, memory_order_relaxed);
    return true;
}

bool
sn_frontier_late(sn_frontier *f, uint32_t most, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;
    bool is_work = false;

    seine_url_init(&url, mem, sizeof mem);
    for (; f->late.n > 0 && most > 0; most--)
        if (!end_late(f, &url, now, &is_work))
            sn_queue_drop(f->queue, &f->late);
    for (uint32_t i = 0; i < f->n; i++)
        sn_frontier_send(f, i);
    if (f->late.n == 0 && f->holds_end && !is_work) {
        f->holds_end = false;
        atomic_fetch_sub(&f->shared->late, 1);
    }
    return f->late.n > 0;
}

uint64_t
sn_frontier_waiting(const sn_frontier *f)
{
    return f->waiting;
}

seine_err
sn_frontier_err(const sn_frontier *f)
{
    return f->err;
}
