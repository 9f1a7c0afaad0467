/* SPDX-License-Identifier: Apache-2.0 */
/*
 * desk.h - a frontier alone, without a scheduler or a net, for tests.
 *
 *     desk d;
 *     open_desk(&d, UINT32_MAX);                     crawls without a bound of depth
 *     find(&d, "http://a.example/1", 1, SN_ADDRESS_PUBLIC);
 *     sn_offer offer = sn_frontier_next(d.f, d.last.host, 0);
 *     robots_end(&d, offer.visit, 404, "");
 *     check_page(&d, d.last.host, "/1", 0);
 *     close_desk(&d);
 */
#ifndef DESK_H
#define DESK_H

#include <stdio.h>
#include <string.h>

#include "engine/frontier_parts.h"
#include "shard.h"

typedef struct desk {
    shard t; /* for its table of hosts */
    seine_crawl_opts crawl;
    sn_frontier *f;
    sn_work last; /* what was said */
    unsigned said, refused, emitted;
    seine_event event; /* the last one; its texts are in here */
    char event_host[64], event_detail[64];
    seine_skip reason; /* of the last refusal */
    char rule[64];
} desk;

static inline void
hear_work(const sn_work *work, void *arg)
{
    desk *d = arg;

    d->last = *work;
    d->said++;
}

static inline void
hear_refusal(const sn_refusal *r, void *arg)
{
    desk *d = arg;

    d->refused++;
    d->reason = r->reason;
    snprintf(d->rule, sizeof d->rule, "%.*s", (int)r->rule.len, r->rule.ptr);
}

static inline sn_str
keep_text(char *to, size_t cap, sn_str text)
{
    snprintf(to, cap, "%.*s", SN_FMT(text));
    return (sn_str){to, strlen(to)};
}

/* The texts of an event last as long as the call. */
static inline void
hear_event(const seine_event *e, void *arg)
{
    desk *d = arg;

    d->event = *e;
    d->event.host = keep_text(d->event_host, sizeof d->event_host, e->host);
    d->event.detail = keep_text(d->event_detail, sizeof d->event_detail, e->detail);
}

static inline void
open_desk_at(desk *d, uint32_t depth, seine_clock *clock)
{
    seine_fetch_opts o = polite();

    *d = (desk){.crawl = seine_crawl_defaults()};
    d->crawl.sitemaps = SEINE_SITEMAPS_OFF;
    d->crawl.depth = depth;
    d->crawl.scope = SEINE_SCOPE_ANY;
    o.crawl = &d->crawl;
    o.robots = SEINE_OBEY_ON;
    o.max_crawl_delay = SEINE_SECS(60);
    open_shard(&d->t, &o);
    sn_frontier_opts opts = {
        .n = 1, .hosts = sn_scheduler_host_table(d->t.s), .clock = clock};
    sn_frontier_ops ops = {
        .work = hear_work, .refuse = hear_refusal, .tell = hear_event, .arg = d};
    CHECK_EQ(sn_frontier_new(&d->t.shared, &opts, &ops, &d->f), SEINE_OK);
}

static inline void
open_desk(desk *d, uint32_t depth)
{
    open_desk_at(d, depth, NULL);
}

/* The record of a page is out. */
static inline void
emit(desk *d, sn_visit *v)
{
    sn_frontier_finish(d->f, v->number);
    sn_visits_give(d->t.shared.visits, v);
    sn_shared_state_end_work(&d->t.shared, 1);
    d->emitted++;
}

/* Ends whatever is left, as a stop does. Then nothing is left to do, and each page that
 * was admitted has its record, or is left to a job. */
static inline void
close_desk(desk *d)
{
    for (sn_visit *v; (v = sn_frontier_drain(d->f, SN_NO_HOST, 0));)
        emit(d, v);
    sn_load load = sn_shared_state_load(&d->t.shared);
    CHECK_EQ(load.work, 0);
    CHECK_EQ(load.stuck, 0);
    CHECK_EQ(atomic_load(&d->t.shared.admitted),
             d->emitted + atomic_load(&d->t.shared.left));
    CHECK_EQ(atomic_load(&d->t.shared.mail_bytes), 0);
    CHECK_EQ(sn_frontier_waiting(d->f), 0);
    sn_frontier_free(d->f);
    close_shard(&d->t);
}

/* Links that another shard has found. */
static inline void
find(desk *d, const char *url, uint32_t depth, sn_address_zone ceiling)
{
    sn_post *post = NULL;
    sn_link link = {.url = sn_str_of(url), .depth = depth, .ceiling = (uint8_t)ceiling};

    CHECK_EQ(sn_mail_write(&post, &link), SEINE_OK);
    sn_shared_state_add_work(&d->t.shared, 1);
    atomic_fetch_add(&d->t.shared.mail_bytes, post->used);
    sn_frontier_post(d->f, post, 0);
}

static inline void
robots_end(desk *d, sn_visit *v, uint16_t status, const char *body)
{
    v->fault = (sn_fault)SN_FAULT;
    v->fault.status = status;
    v->fault.code = status == 503   ? SEINE_E_HTTP_BUSY
                    : status == 404 ? SEINE_E_HTTP
                                    : SEINE_OK;
    v->kept.cap = 100000;
    sn_buf_add(&v->kept, body, strlen(body));
    CHECK(sn_frontier_back(d->f, v, 0));
    sn_visits_give(d->t.shared.visits, v);
    sn_shared_state_end_work(&d->t.shared, 1);
}

/* The page that is offered; its record is out at once. */
static inline void
check_page(desk *d, uint32_t host, const char *path, uint32_t left)
{
    sn_offer offer = sn_frontier_next(d->f, host, 0);

    CHECK(offer.visit && offer.visit->kind == SN_KIND_PAGE);
    CHECK_EQ(offer.left, left);
    if (!offer.visit)
        return;
    sn_str target = seine_url_target(&offer.visit->url);
    CHECK(sn_str_eq(target, sn_str_of(path)));
    emit(d, offer.visit);
}

#endif
