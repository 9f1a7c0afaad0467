/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/log.h"
#include "engine/frontier_parts.h"
#include "engine/page.h"
#include "engine/url_rules.h"
#include "net/address_guard.h"
#include "seine/links.h"
#include "text/base_url.h"

/* Routing. */

static void
send_to(sn_frontier *f, uint32_t shard)
{
    sn_post *p = f->posts[shard];

    if (!p)
        return;
    f->posts[shard] = NULL;
    atomic_fetch_add(&f->shared->mail_bytes, p->used);
    f->ops.send(shard, p, f->ops.arg);
}

void
sn_frontier_send(sn_frontier *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        send_to(f, i);
}

void
sn_frontier_route(sn_frontier *f, const sn_link *link, const seine_url *url,
                  seine_time now)
{
    uint32_t to = sn_shared_state_shard(f->shared, url, f->n);

    sn_shared_state_add_work(f->shared, 1);
    if (to == f->index) {
        sn_frontier_admit_link(f, link, url, now);
        return;
    }
    if (sn_mail_write(&f->posts[to], link) != SEINE_OK) {
        sn_frontier_refuse(f, link, url, SEINE_SKIP_BUDGET, SN_STR("no memory"));
        sn_shared_state_end_work(f->shared, 1);
    } else if (f->posts[to]->used >= SN_MAIL_FULL) {
        send_to(f, to);
    }
}

/* Judging by the text alone. */

static bool
is_refused(const sn_frontier *f, const sn_candidate *c, sn_url_verdict *o)
{
    if (c->bad.len == 0)
        return sn_url_rules_refuse(&f->shared->opts, f->shared->scope, &c->url, o);
    o->refused = true;
    o->reason = c->is_too_long ? SEINE_SKIP_TOO_LONG : SEINE_SKIP_BAD_URL;
    o->rule = c->bad;
    return true;
}

static void
count_duplicate(sn_frontier *f)
{
    atomic_fetch_add_explicit(&f->shared->duplicates, 1, memory_order_relaxed);
}

static uint64_t
next_number(sn_frontier *f)
{
    return atomic_fetch_add_explicit(&f->shared->next_number, 1, memory_order_relaxed);
}

/* A new key: work for its owner, or a refusal. */
static void
decide_link(sn_frontier *f, sn_candidate *c, seine_time now)
{
    sn_url_verdict o;

    c->link.number = next_number(f);
    if (is_refused(f, c, &o)) {
        sn_refusal r = {.link = &c->link,
                        .key = c->bad.len > 0 ? (sn_str){0} : c->key,
                        .reason = o.reason,
                        .rule = o.rule};
        f->ops.refuse(&r, f->ops.arg);
        return;
    }
    sn_frontier_lead(f, &c->url);
    sn_frontier_route(f, &c->link, &c->url, now);
}

/* Too deep, or nobody but a nofollow leads there so far: it is told at the end. */
static void
put_off(sn_frontier *f, const sn_candidate *c, seine_skip reason)
{
    bool is_new = false;
    seine_err e;
    sn_waiting_url u = {.target = c->link.url,
                        .parent = c->link.parent,
                        .line = c->link.line,
                        .depth = c->link.depth,
                        .moved = c->link.moved,
                        .ceiling = c->link.ceiling,
                        .tag = c->link.tag,
                        .attr = c->link.attr,
                        .flags = (uint8_t)(reason | (c->nofollow ? SN_PUT_NOFOLLOW : 0))};

    e = seine_seen_add(f->shared->late_seen, c->key.ptr, c->key.len, &is_new);
    if (e == SEINE_OK && is_new)
        e = sn_store_enqueue(f->store, &f->late, &u);
    if (e != SEINE_OK)
        sn_frontier_lose(f, 1, e);
    else if (!is_new)
        count_duplicate(f);
    if (e != SEINE_OK || !is_new)
        return;
    if (!f->holds_end)
        atomic_fetch_add(&f->shared->late, 1);
    f->holds_end = true;
}

/* Puts an offsite link off while seeds are still being given, since one of them may bring
 * it into scope. True: the link is done with. */
static bool
put_off_early(sn_frontier *f, const sn_candidate *c)
{
    sn_url_verdict o;

    if (c->bad.len > 0 || sn_shared_state_is_closed(f->shared) || !is_refused(f, c, &o) ||
        o.reason != SEINE_SKIP_OFFSITE)
        return false;
    if (seine_seen_has(f->shared->seen, c->key.ptr, c->key.len))
        count_duplicate(f);
    else
        put_off(f, c, SEINE_SKIP_OFFSITE);
    return true;
}

static bool
is_forgotten(const sn_frontier *f, const sn_candidate *c)
{
    sn_url_verdict o;

    return !f->shared->opts.crawl->skips && is_refused(f, c, &o) &&
           (o.reason == SEINE_SKIP_OFFSITE || o.reason == SEINE_SKIP_SCHEME);
}

/* Puts off a link that is not followed unless another one leads there. True: the link is
 * done with. */
static bool
put_off_late(sn_frontier *f, sn_candidate *c)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    bool too_deep = o->depth != UINT32_MAX && c->link.depth > o->depth;
    sn_url_verdict ignored;

    if (!too_deep && !c->nofollow)
        return false;
    if (c->bad.len > 0 || is_refused(f, c, &ignored))
        return false;
    if (seine_seen_has(f->shared->seen, c->key.ptr, c->key.len))
        count_duplicate(f);
    else
        put_off(f, c, too_deep ? SEINE_SKIP_DEPTH : SEINE_SKIP_NOFOLLOW);
    return true;
}

static void
judge_links(sn_frontier *f, size_t n, seine_time now)
{
    sn_candidate *rest[SN_BATCH];
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        sn_candidate *c = &f->batch[i];
        if (put_off_early(f, c) || is_forgotten(f, c) || put_off_late(f, c))
            continue;
        f->prints[left] = seine_seen_print(f->shared->seen, c->key.ptr, c->key.len);
        rest[left++] = c;
    }
    if (left == 0)
        return;
    seine_err e = seine_seen_add_many(f->shared->seen, f->prints, left, f->is_new);
    if (e != SEINE_OK) { /* nobody knows which of them have a record already */
        sn_frontier_lose(f, (uint32_t)left, e);
        return;
    }
    for (size_t i = 0; i < left; i++)
        if (f->is_new[i])
            decide_link(f, rest[i], now);
        else
            count_duplicate(f);
}

/* Reading. */

/* The link is no URL: its text is its key. */
static void
set_bad(sn_candidate *c, sn_str value, const seine_url_flaw *flaw)
{
    size_t n = value.len < SEINE_URL_MAX ? value.len : SEINE_URL_MAX;

    if (n > 0)
        memcpy(c->key_mem, value.ptr, n);
    c->key = c->link.url = (sn_str){c->key_mem, n};
    c->bad = sn_str_of(seine_url_flaw_text(flaw->kind));
    c->is_too_long = flaw->kind == SEINE_URL_TOO_LONG;
}

static void
read_link(sn_frontier *f, sn_candidate *c, const seine_url *base, sn_str value)
{
    const char *strip = f->shared->opts.strip_params;
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    size_t len;

    c->bad = (sn_str){0};
    seine_url_init(&c->url, c->href_mem, SEINE_URL_ROOM);
    if (seine_url_resolve(&c->url, base, value.ptr, value.len, &flaw) != SEINE_OK) {
        set_bad(c, value, &flaw);
        return;
    }
    seine_url_drop_fragment(&c->url);
    seine_url_drop_user(&c->url);
    c->link.url = seine_url_href(&c->url);
    if (seine_url_key(&c->url, strip, c->key_mem, SEINE_URL_ROOM, &len) != SEINE_OK) {
        flaw.kind = SEINE_URL_TOO_LONG;
        set_bad(c, value, &flaw);
        return;
    }
    c->key = (sn_str){c->key_mem, len};
}

/* What the links of a page have in common. */
typedef struct finding {
    const seine_url *base;
    sn_link link;
    bool nofollow;
} finding;

static void
add_links(sn_frontier *f, sn_visit *v, const finding *from, seine_time now)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    size_t n = 0;
    sn_page_link l;

    for (size_t i = 0; sn_page_link_at(v->page, i, &l); i++) {
        if (l.is_map) {
            sn_frontier_add_sitemap(f, v, l.value, now);
            continue;
        }
        sn_candidate *c = &f->batch[n++];
        c->link = from->link;
        c->link.line = l.line;
        c->link.tag = l.tag;
        c->link.attr = l.attr;
        c->nofollow = from->nofollow || (o->nofollow && l.nofollow);
        read_link(f, c, from->base, l.value);
        if (n == SN_BATCH) {
            judge_links(f, n, now);
            n = 0;
        }
    }
    judge_links(f, n, now);
}

/* A redirect is a link without a text: the same depth, one more in a row. */
static void
add_target(sn_frontier *f, sn_visit *v, const sn_link *like, seine_time now)
{
    sn_candidate *c = &f->batch[0];

    seine_err e =
        v->is_typed ? sn_scope_widen(f->shared->scope, &v->url, &v->target) : SEINE_OK;

    if (e != SEINE_OK) /* what is in scope would be refused */
        sn_frontier_fail(f, e);
    c->link = *like;
    c->link.depth = v->depth;
    c->link.leader = v->leader;
    c->link.moved = (uint8_t)(v->moved < UINT8_MAX ? v->moved + 1 : UINT8_MAX);
    c->nofollow = false;
    read_link(f, c, &v->url, seine_url_href(&v->target));
    judge_links(f, 1, now);
}

/* What a limit has kept from being looked at. */
static void
count_cut(sn_frontier *f, const sn_page_facts *facts)
{
    if (facts->left_out > 0)
        atomic_fetch_add(&f->shared->links_cut, facts->left_out);
    if (facts->is_cut)
        atomic_fetch_add(&f->shared->sitemaps_cut, 1);
}

void
sn_frontier_page(sn_frontier *f, sn_visit *v, seine_time now)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    char mem[SEINE_URL_ROOM];
    seine_url base;
    sn_page_facts facts;
    finding from = {.link = {.parent = seine_url_href(&v->url),
                             .depth = v->depth + 1,
                             .ceiling = (uint8_t)sn_visit_ceiling(v)}};

    if (!o)
        return;
    from.link.leader = sn_frontier_look(f, v);
    if (v->target.len > 0)
        add_target(f, v, &from.link, now);
    if (v->page && !(v->kind == SN_KIND_PAGE && o->sitemaps == SEINE_SITEMAPS_ONLY)) {
        seine_url_init(&base, mem, sizeof mem);
        sn_page_facts_get(v->page, &facts);
        from.base = sn_base_url(facts.base, &v->url, &base) ? &base : &v->url;
        from.nofollow = o->nofollow && facts.robots & SEINE_NOFOLLOW;
        count_cut(f, &facts);
        add_links(f, v, &from, now);
    }
    sn_frontier_judge(f);
    sn_frontier_send(f);
}
