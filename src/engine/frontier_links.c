/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/log.h"
#include "engine/frontier_parts.h"
#include "engine/page.h"
#include "net/address_guard.h"
#include "seine/links.h"
#include "store/job_page.h"
#include "text/base_url.h"
#include "text/html.h"

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

/* Patterns may be slow, so each link is judged once. */
static const sn_url_verdict *
judge_text(const sn_frontier *f, sn_candidate *c)
{
    sn_url_verdict *o = &c->verdict;

    if (c->is_judged)
        return o;
    c->is_judged = true;
    if (c->bad.len == 0) {
        sn_url_rules_refuse(&f->shared->opts, f->shared->scope, &c->url, c->is_part, o);
        return o;
    }
    o->refused = true;
    o->reason = c->is_too_long ? SEINE_SKIP_TOO_LONG : SEINE_SKIP_BAD_URL;
    o->rule = c->bad;
    return o;
}

static void
count_duplicate(sn_frontier *f)
{
    atomic_fetch_add_explicit(&f->shared->duplicates, 1, memory_order_relaxed);
}

uint64_t
sn_frontier_number(sn_frontier *f)
{
    return atomic_fetch_add_explicit(&f->shared->next_number, 1, memory_order_relaxed);
}

/* The page that is read names that URL. */
static void
note_print(sn_frontier *f, uint64_t print)
{
    if (f->pages)
        sn_link_prints_add(&f->links, print);
}

/* A new key: work for its owner, or a refusal. */
static void
decide_link(sn_frontier *f, sn_candidate *c, uint64_t print, seine_time now)
{
    const sn_url_verdict *o = judge_text(f, c);

    c->link.number = sn_frontier_number(f);
    if (o->refused && f->shared->fleet) {
        sn_frontier_send_refused(f, c, o->reason, print);
        return;
    }
    if (o->refused) {
        if (f->lane)
            sn_frontier_keep_refused(f, c->link.number, print);
        sn_refusal r = {.link = &c->link,
                        .key = c->bad.len > 0 ? (sn_str){0} : c->key,
                        .reason = o->reason,
                        .rule = o->rule};
        f->ops.refuse(&r, f->ops.arg);
        return;
    }
    sn_frontier_lead(f, &c->url);
    note_print(f, print);
    if (f->lane) /* before its owner, and the record of its page */
        sn_frontier_keep_found(f, &c->link, &c->url, print);
    if (!f->shared->fleet) /* else it comes from the inbox of its partition */
        sn_frontier_route(f, &c->link, &c->url, now);
}

/* Between the seen-set and the rows of what was new there the job waits with its commit.
 */
static void
enter_lane(sn_frontier *f)
{
    if (f->lane)
        sn_job_lane_enter(f->lane);
}

static void
leave_lane(sn_frontier *f)
{
    if (f->lane)
        sn_job_lane_leave(f->lane);
}

/* Too deep, or nobody but a nofollow leads there so far: it is told at the end. */
static void
put_off(sn_frontier *f, sn_candidate *c, seine_skip reason)
{
    uint64_t print = seine_seen_print(f->shared->late_seen, c->key.ptr, c->key.len);
    uint8_t is_new = 0;
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

    enter_lane(f);
    e = seine_seen_add_many(f->shared->late_seen, &print, 1, &is_new);
    if (e == SEINE_OK && is_new && f->lane) {
        u.number = c->link.number = sn_frontier_number(f);
        sn_frontier_keep_late(f, &c->link, u.flags, print);
    }
    leave_lane(f);
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

/* A link to a URL that is known; a sitemap may say when its page has changed. */
static void
pass_known(sn_frontier *f, const sn_candidate *c, uint64_t print)
{
    count_duplicate(f);
    note_print(f, print);
    if (!f->pages || c->lastmod == 0)
        return;
    seine_err e = sn_lastmod_table_put(&f->shared->lastmods, print, c->lastmod);
    if (e != SEINE_OK)
        sn_frontier_fail(f, e);
}

static bool
pass_if_known(sn_frontier *f, const sn_candidate *c)
{
    bool is_known = seine_seen_has(f->shared->seen, c->key.ptr, c->key.len);

    if (is_known)
        pass_known(f, c, seine_seen_print(f->shared->seen, c->key.ptr, c->key.len));
    return is_known;
}

/* Puts a link off that is out of scope, since something may still bring it into the
 * crawl: a seed while seeds are given, or a page that needs it as a part. True: the link
 * is done with. */
static bool
put_off_early(sn_frontier *f, sn_candidate *c)
{
    bool has_parts = f->shared->opts.requisites;

    if (c->bad.len > 0 || c->is_part ||
        (!has_parts && sn_shared_state_is_closed(f->shared)) ||
        !judge_text(f, c)->refused ||
        (c->verdict.reason != SEINE_SKIP_OFFSITE &&
         !(has_parts && c->verdict.reason == SEINE_SKIP_PATTERN)))
        return false;
    if (!pass_if_known(f, c))
        put_off(f, c, SEINE_SKIP_OFFSITE);
    return true;
}

static bool
is_forgotten(const sn_frontier *f, sn_candidate *c)
{
    return !f->shared->opts.crawl->skips && !sn_frontier_is_seed_target(&c->link) &&
           judge_text(f, c)->refused &&
           (c->verdict.reason == SEINE_SKIP_OFFSITE ||
            c->verdict.reason == SEINE_SKIP_SCHEME);
}

/* Puts off a link that is not followed unless another one leads there. True: the link is
 * done with. */
static bool
put_off_late(sn_frontier *f, sn_candidate *c)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    bool too_deep = o->depth != UINT32_MAX && c->link.depth > o->depth;

    if (!too_deep && !c->nofollow)
        return false;
    if (c->bad.len > 0 || judge_text(f, c)->refused)
        return false;
    if (!pass_if_known(f, c))
        put_off(f, c, too_deep ? SEINE_SKIP_DEPTH : SEINE_SKIP_NOFOLLOW);
    return true;
}

/* In a fleet: a link that may still be followed when another one leads there is told to
 * the owner of its partition at the end. True: the link is done with. */
static bool
put_off_shared(sn_frontier *f, sn_candidate *c, uint64_t generation)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    const sn_url_verdict *v = judge_text(f, c);
    bool too_deep = o->depth != UINT32_MAX && c->link.depth > o->depth;
    bool is_early = f->shared->opts.requisites && !c->is_part && v->refused &&
                    (v->reason == SEINE_SKIP_OFFSITE || v->reason == SEINE_SKIP_PATTERN);
    seine_skip reason = is_early   ? SEINE_SKIP_OFFSITE
                        : too_deep ? SEINE_SKIP_DEPTH
                                   : SEINE_SKIP_NOFOLLOW;
    uint8_t is_new = 0;

    if (c->bad.len > 0 || (v->refused ? !is_early : !too_deep && !c->nofollow))
        return false;
    uint64_t print =
        seine_seen_print(f->shared->late_seen, c->key.ptr, c->key.len) ^ generation;
    seine_err e = seine_seen_add_many(f->shared->late_seen, &print, 1, &is_new);
    if (e != SEINE_OK)
        sn_frontier_lose(f, 1, e);
    else if (is_new)
        sn_frontier_keep_late(
            f, &c->link,
            (uint8_t)(SN_FLEET_AT_END | reason | (c->nofollow ? SN_PUT_NOFOLLOW : 0)),
            print);
    return true;
}

/* In a fleet the seen-set here is of links that were sent. When a server may have lost
 * some of them, all are new once more. */
static uint64_t
generation_of(const sn_frontier *f)
{
    return f->shared->fleet
               ? sn_fleet_generation(f->shared->fleet) * UINT64_C(0x9e3779b97f4a7c15)
               : 0;
}

static void
judge_links(sn_frontier *f, size_t n, seine_time now)
{
    sn_candidate *rest[SN_BATCH];
    size_t left = 0;
    uint64_t generation = generation_of(f);

    for (size_t i = 0; i < n; i++) {
        sn_candidate *c = &f->batch[i];
        if (f->shared->fleet
                ? is_forgotten(f, c) || put_off_shared(f, c, generation)
                : put_off_early(f, c) || is_forgotten(f, c) || put_off_late(f, c))
            continue;
        f->prints[left] =
            seine_seen_print(f->shared->seen, c->key.ptr, c->key.len) ^ generation;
        rest[left++] = c;
    }
    if (left == 0)
        return;
    enter_lane(f);
    seine_err e = seine_seen_add_many(f->shared->seen, f->prints, left, f->is_new);
    if (e != SEINE_OK) /* nobody knows which of them have a record already */
        sn_frontier_lose(f, (uint32_t)left, e);
    for (size_t i = 0; e == SEINE_OK && i < left; i++) {
        sn_known_links_add(&f->known, rest[i]->mark);
        if (f->is_new[i])
            decide_link(f, rest[i], f->prints[i], now);
        else
            pass_known(f, rest[i], f->prints[i]);
    }
    leave_lane(f);
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
    c->flaw = (uint8_t)flaw->kind;
}

static void
read_link(sn_frontier *f, sn_candidate *c, const seine_url *base, sn_str value)
{
    const char *strip = f->shared->opts.strip_params;
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    size_t len = 0;

    c->bad = (sn_str){0};
    c->is_judged = false;
    seine_url_init(&c->url, c->href_mem, SEINE_URL_ROOM);
    if (seine_url_resolve(&c->url, base, value.ptr, value.len, &flaw) != SEINE_OK) {
        set_bad(c, value, &flaw);
        return;
    }
    seine_url_drop_fragment(&c->url);
    seine_url_drop_user(&c->url);
    c->link.url = seine_url_href(&c->url);
    /* A key is never longer than its URL. */
    (void)!seine_url_key(&c->url, strip, c->key_mem, SEINE_URL_ROOM, &len);
    c->key = (sn_str){c->key_mem, len};
}

#define NOT_BEGUN SIZE_MAX

/* What the links of a page have in common. */
typedef struct finding {
    const seine_url *base;
    sn_link link;
    bool nofollow;
} finding;

/* Has the turn time for more? The first batch begins it. */
static bool
has_time(sn_frontier *f)
{
    if (!f->clock)
        return true;
    seine_time now = f->clock->now(f->clock);
    if (f->reading.since == 0)
        f->reading.since = now;
    return now - f->reading.since < SEINE_MS(SN_LINKS_TURN_MS);
}

/* A page inside of another: a copy needs both. */
static bool
is_frame(const sn_page_link *l)
{
    return l->tag == SN_TAG_IFRAME || l->tag == SN_TAG_FRAME;
}

/* Reads a link of the page for the next batch. */
static void
add_link(sn_frontier *f, sn_candidate *c, const finding *from, const sn_page_link *l,
         uint64_t mark)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;

    c->link = from->link;
    c->link.line = l->line;
    c->link.tag = l->tag;
    c->link.attr = l->attr;
    if (l->is_part || (f->shared->opts.requisites && is_frame(l)))
        c->link.depth--; /* that of the page */
    c->lastmod = l->lastmod;
    c->mark = mark;
    c->is_part = l->is_part;
    c->nofollow = !l->is_part && (from->nofollow || (o->nofollow && l->nofollow));
    read_link(f, c, from->base, l->value);
}

/* False: the turn is over, and the next link is that of reading.at. */
static bool
add_links(sn_frontier *f, sn_visit *v, const finding *from, seine_time now)
{
    bool only_parts =
        v->kind == SN_KIND_PAGE && f->shared->opts.crawl->sitemaps == SEINE_SITEMAPS_ONLY;
    size_t n = 0, bytes = 0;
    sn_page_link l;

    sn_known_links_base(&f->known, from->base);
    for (size_t i = f->reading.at; sn_page_link_at(v->page, i, &l); i++) {
        if (only_parts && !l.is_part)
            continue;
        if (l.is_map) {
            sn_frontier_add_sitemap(f, v, l.value, now);
            continue;
        }
        uint64_t mark = l.lastmod == 0 ? sn_known_links_mark(&f->known, l.value) : 0;

        if (!f->pages && sn_known_links_has(&f->known, mark))
            count_duplicate(f);
        else
            add_link(f, &f->batch[n++], from, &l, mark);
        bytes += l.value.len + sizeof l;
        if (n < SN_BATCH && bytes < SN_BATCH_BYTES)
            continue;
        judge_links(f, n, now);
        n = bytes = 0;
        f->reading.at = i + 1;
        if (!has_time(f))
            return false;
    }
    judge_links(f, n, now);
    return true;
}

/* Whether a page needed it. The tag tells, since nothing else of a link is kept. */
static bool
was_part(const sn_frontier *f, const sn_visit *v)
{
    return f->shared->opts.requisites && v->referrer && v->referrer->found.tag.len > 0 &&
           !sn_str_is_among(v->referrer->found.tag, "a area iframe frame meta form");
}

/* Whether it was given, or a given one leads there by redirects alone. */
static bool
is_seed(const sn_frontier *f, const sn_visit *v)
{
    return v->is_typed || (v->depth == 0 && v->moved > 0 &&
                           sn_scope_was_target(f->shared->scope, &v->url));
}

/* The scope goes with a seed that redirects. */
static void
widen_scope(sn_frontier *f, const sn_visit *v)
{
    seine_err e = sn_scope_widen(f->shared->scope, &v->url, v->target);

    if (e != SEINE_OK) /* what is in scope would be refused */
        sn_frontier_fail(f, e);
    sn_frontier_keep_widened(f, &v->url, v->target);
}

/* The number of a tag, by its name; 0: none. */
static uint8_t
tag_of(sn_str name)
{
    for (int t = SN_TAG_OTHER + 1; t < SN_TAG_COUNT; t++)
        if (sn_str_eq(name, sn_str_of(sn_html_tag_name((sn_html_tag)t))))
            return (uint8_t)t;
    return 0;
}

/* A redirect is a link without a text: the same depth, one more in a row. */
static void
add_target(sn_frontier *f, sn_visit *v, const sn_link *like, seine_time now)
{
    sn_candidate *c = &f->batch[0];

    if (is_seed(f, v))
        widen_scope(f, v);
    c->link = *like;
    c->link.depth = v->depth;
    c->link.leader = v->leader;
    c->link.moved = (uint8_t)(v->moved < UINT8_MAX ? v->moved + 1 : UINT8_MAX);
    c->nofollow = false;
    c->is_part = was_part(f, v);
    if (c->is_part) /* its target may redirect, too */
        c->link.tag = tag_of(v->referrer->found.tag);
    c->lastmod = 0;
    c->mark = 0;
    read_link(f, c, &v->url, seine_url_href(v->target));
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

/* All links of the visit are read: its job keeps where it leads. */
static void
keep_prints(sn_frontier *f, sn_visit *v)
{
    char key[SEINE_URL_ROOM];
    size_t len = 0;

    (void)!seine_url_key(&v->url, f->shared->opts.strip_params, key, sizeof key, &len);
    uint64_t own = seine_seen_print(f->shared->seen, key, len);
    if (v->kind == SN_KIND_SITEMAP) {
        sn_frontier_keep_listed(f, &v->url,
                                sn_link_prints_end(&f->links, own, SN_LINK_PRINTS_MOST));
        return;
    }
    sn_str prints = sn_link_prints_end(&f->links, own, SN_JOB_LINKS);
    v->links.ptr = sn_arena_text(&v->arena, prints);
    v->links.len = v->links.ptr ? prints.len : 0;
    if (!v->links.ptr || f->links.bytes.err == SEINE_E_NOMEM)
        sn_frontier_fail(f, SEINE_E_NOMEM);
}

/* Reads the links of the visit from reading.at on; true: all of them. */
static bool
read_links(sn_frontier *f, sn_visit *v, seine_time now)
{
    const seine_crawl_opts *o = f->shared->opts.crawl;
    char mem[SEINE_URL_ROOM];
    seine_url base;
    sn_page_facts facts;
    finding from = {.link = {.parent = seine_url_href(&v->url),
                             .depth = v->depth + 1,
                             .ceiling = (uint8_t)sn_visit_ceiling(v),
                             .leader = f->reading.leader}};
    bool is_first = f->reading.at == 0, is_whole = true;

    f->parent_number = v->is_typed || f->shared->fleet ? SN_JOB_NONE : v->number;
    if (is_first && v->target)
        add_target(f, v, &from.link, now);
    if (v->page && !(v->kind == SN_KIND_PAGE && o->sitemaps == SEINE_SITEMAPS_ONLY &&
                     !f->shared->opts.requisites)) {
        seine_url_init(&base, mem, sizeof mem);
        sn_page_facts_get(v->page, &facts);
        from.base = sn_base_url(facts.base, &v->url, &base) ? &base : &v->url;
        from.nofollow = o->nofollow && facts.robots & SEINE_NOFOLLOW;
        if (is_first)
            count_cut(f, &facts);
        is_whole = add_links(f, v, &from, now);
    }
    f->parent_number = SN_JOB_NONE;
    if (is_whole)
        sn_frontier_judge(f);
    if (is_whole && f->pages)
        keep_prints(f, v);
    sn_frontier_send(f);
    return is_whole;
}

/* Begins with the links of the visit, or goes on; true: it is done with. */
static bool
read_visit(sn_frontier *f, sn_visit *v, seine_time now)
{
    sn_reading *r = &f->reading;

    if (r->at == NOT_BEGUN) {
        r->at = 0;
        sn_link_prints_reset(&f->links);
        r->leader = sn_frontier_look(f, v);
    }
    if (!read_links(f, v, now))
        return false;
    r->at = NOT_BEGUN;
    return true;
}

static sn_visit *
take_first(sn_reading *r)
{
    sn_visit *v = r->first;

    r->first = v->next;
    r->n--;
    v->next = NULL;
    return v;
}

bool
sn_frontier_page(sn_frontier *f, sn_visit *v, seine_time now)
{
    sn_reading *r = &f->reading;
    bool must_wait = r->first || (r->since != 0 && !has_time(f));

    if (!f->shared->opts.crawl)
        return true;
    if (!must_wait && read_visit(f, v, now))
        return true;
    v->next = NULL;
    *(r->first ? &r->last->next : &r->first) = v;
    r->last = v;
    r->n++;
    return false;
}

sn_visit *
sn_frontier_read(sn_frontier *f, seine_time now)
{
    sn_reading *r = &f->reading;

    if (!r->first || (r->since != 0 && !has_time(f)) || !read_visit(f, r->first, now))
        return NULL;
    sn_visit *v = take_first(r);
    if (v->kind == SN_KIND_SITEMAP)
        sn_frontier_sitemap_end(f, v, true);
    return v;
}

bool
sn_frontier_is_reading(const sn_frontier *f)
{
    return f->reading.first != NULL;
}

bool
sn_frontier_is_behind(const sn_frontier *f)
{
    return f->reading.n > SN_UNREAD;
}

sn_visit *
sn_frontier_unread(sn_frontier *f)
{
    if (!f->reading.first)
        return NULL;
    sn_visit *v = take_first(&f->reading);
    f->reading.at = NOT_BEGUN;
    if (f->looking.visit == v)
        f->looking.visit = NULL;
    if (v->kind == SN_KIND_SITEMAP)
        sn_frontier_sitemap_end(f, v, false);
    return v;
}
