/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "net/transport.h"
#include "store/fleet_parts.h"
#include "world.h"

/* Drawing. */

void
site_draw(world *w)
{
    w->n_hosts = 1 + (uint32_t)below(w, MAX_HOSTS);
    w->n_pages = 2 + (uint32_t)below(w, chance(w, 20) ? MAX_PAGES - 2 : 50);
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        sim_host *h = &w->hosts[i];

        snprintf(h->name, sizeof h->name, "h%u.d%u.test", i, i * 2 / 3);
        h->delay = chance(w, 30) ? SEINE_MS(200) * (1 + (seine_span)below(w, 3)) : 0;
        h->takes = between(w, SEINE_MS(1), SEINE_MS(chance(w, 20) ? 800 : 60));
    }
    for (uint32_t i = 0; i < w->n_pages; i++) {
        sim_page *p = &w->pages[i];

        p->host = (uint32_t)below(w, w->n_hosts);
        p->is_forbidden = i > 0 && chance(w, 5);
        p->is_gone = i > 0 && chance(w, 8);
        p->bad = chance(w, 8) ? 1 + (uint32_t)below(w, 2) : 0;
        p->n_links = (uint32_t)below(w, MAX_LINKS + 1);
        for (uint32_t k = 0; k < p->n_links; k++) {
            p->links[k] = (uint16_t)below(w, w->n_pages);
            p->nofollow[k] = chance(w, 15);
        }
        snprintf(p->url, sizeof p->url, "http://%s/%s%u", w->hosts[p->host].name,
                 p->is_forbidden ? "no/" : "p", i);
    }
}

uint32_t
site_page_of(const world *w, sn_str url)
{
    for (uint32_t i = 0; i < w->n_pages; i++)
        if (sn_str_eq(url, sn_str_of(w->pages[i].url)))
            return i;
    return w->n_pages;
}

static uint32_t
host_of(const world *w, sn_str url)
{
    for (uint32_t i = 0; i < w->n_hosts; i++) {
        char head[48];
        int n = snprintf(head, sizeof head, "http://%s/", w->hosts[i].name);

        if (sn_str_starts(url, (sn_str){head, (size_t)n}))
            return i;
    }
    return w->n_hosts;
}

/* Every URL that was given, or that stands on a page which is read, has a record. */
void
site_judge(world *w)
{
    bool is_read[MAX_PAGES] = {false};
    bool more = true;

    w->pages[0].is_known = is_read[0] = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < w->n_pages; i++) {
            const sim_page *p = &w->pages[i];

            if (!is_read[i] || p->is_gone || p->is_forbidden)
                continue;
            for (uint32_t k = 0; k < p->n_links; k++) {
                uint32_t to = p->links[k];

                w->pages[to].is_known = true;
                if (!p->nofollow[k] && !is_read[to])
                    more = is_read[to] = true;
            }
        }
    }
    for (uint32_t i = 0; i < w->n_pages; i++) {
        const sim_page *p = &w->pages[i];

        if (p->records != (p->is_known ? 1 : 0))
            broken(w, "%s has %u records, and %u are right%s", p->url, p->records,
                   p->is_known, is_read[i] ? "" : ": no link to it is followed");
        if (!is_read[i] && p->asked > 0)
            broken(w, "%s was asked for, and no link leads there", p->url);
    }
}

/* The witness. */

/* Whose lease is it now, in Redis itself? */
static void
check_lease(worker *k, const char *url)
{
    world *w = k->of;
    uint32_t part = sn_fleet_part_of(k->own, sn_str_of(url));
    sn_fleet_key key = sn_fleet_key_of(&k->own->id, part, "lease");
    server *s = &w->servers[part % w->n_servers];

    redis_model_set_now(s->model, (EPOCH + w->now) / SEINE_MS(1));
    sn_str token = redis_model_text(s->model, sn_fleet_key_view(&key));
    if (!sn_str_starts(token, sn_str_of(k->own->incarnation)))
        broken(w, "worker %u asks for %s, and the lease of %u is %s", k->index, url, part,
               token.ptr ? "another's" : "nobody's");
}

static void
check_pace(worker *k, sim_host *h, const char *url, bool is_robots)
{
    world *w = k->of;

    if (h->requests > 0 && w->now - h->last < h->wanted)
        broken(w,
               "worker %u asks for %s %" PRId64
               " us after the request before, not %" PRId64,
               k->index, url, (w->now - h->last) / 1000, h->wanted / 1000);
    h->last = w->now;
    h->wanted = w->interval;
    if (!is_robots && h->delay > h->wanted)
        h->wanted = h->delay;
    h->requests++;
}

static void
witness(worker *k, const char *url, bool is_robots)
{
    world *w = k->of;
    uint32_t host = host_of(w, sn_str_of(url));

    note(w, url, k->index, 0);
    w->requests++;
    k->started++;
    if (k->end == KILLED)
        broken(w, "worker %u asks for %s, and is dead", k->index, url);
    if (w->every > 0 && k->started > k->granted)
        broken(w, "worker %u has started %" PRIu64 ", and was granted %" PRIu64, k->index,
               k->started, k->granted);
    if (host == w->n_hosts) {
        broken(w, "worker %u asks for %s", k->index, url);
        return;
    }
    check_lease(k, url);
    check_pace(k, &w->hosts[host], url, is_robots);
}

/* The transport. */

struct sn_exchange {
    sn_exchange *next;
    const sn_request *request;
    sn_handler handler;
    seine_time start, due; /* of the worker's clock */
    seine_err canceled, err;
    bool is_admitted, has_left;
    uint16_t status;
    char body[MAX_LINKS * 96 + 64];
    const char *type;
    uint64_t n;
};

typedef struct sim_net {
    sn_transport base;
    worker *of;
    sn_exchange *live;
    uint32_t word;
    bool is_woken;
    uint64_t n;
    sn_head head;
} sim_net;

static void
answer(worker *k, const char *url, sn_exchange *x)
{
    world *w = k->of;
    sim_host *h = &w->hosts[host_of(w, sn_str_of(url))];
    uint32_t i = site_page_of(w, sn_str_of(url));
    size_t at = 0;

    x->status = 200;
    x->type = "text/html";
    if (i == w->n_pages) { /* robots.txt */
        x->type = "text/plain";
        at = (size_t)snprintf(x->body, sizeof x->body, "User-agent: *\nDisallow: /no/\n");
        if (h->delay > 0)
            snprintf(x->body + at, sizeof x->body - at, "Crawl-delay: 0.%u\n",
                     (unsigned)(h->delay / SEINE_MS(100)));
        return;
    }
    sim_page *p = &w->pages[i];
    if (p->asked++ < p->bad) {
        x->status = 503;
        return;
    }
    if (p->is_gone) {
        x->status = 404;
        return;
    }
    at = (size_t)snprintf(x->body, sizeof x->body, "<title>%u</title>", i);
    for (uint32_t l = 0; l < p->n_links; l++)
        at += (size_t)snprintf(x->body + at, sizeof x->body - at, "<a%s href=%s>x</a>",
                               p->nofollow[l] ? " rel=nofollow" : "",
                               w->pages[p->links[l]].url);
}

static seine_err
start(sn_transport *t, const sn_request *request, const sn_handler *handler,
      sn_exchange **out_exchange)
{
    sim_net *s = (sim_net *)(void *)t;
    sn_exchange *x = calloc(1, sizeof *x);
    seine_time now = s->of->clock.now(&s->of->clock);

    x->request = request;
    x->handler = *handler;
    x->start = x->due = now;
    x->n = s->n++;
    x->next = s->live;
    s->live = x;
    *out_exchange = x;
    return SEINE_OK;
}

static void
cancel(sn_transport *t, sn_exchange *x, seine_err why)
{
    const sim_net *s = (sim_net *)(void *)t;

    x->canceled = why;
    x->due = s->of->clock.now(&s->of->clock);
}

static sn_exchange *
first(const sim_net *s)
{
    sn_exchange *best = NULL;

    for (sn_exchange *x = s->live; x; x = x->next)
        if (!best || x->due < best->due || (x->due == best->due && x->n < best->n))
            best = x;
    return best;
}

static void
give_head(sim_net *s, const sn_exchange *x)
{
    static const char name[] = "Content-Type";
    uint32_t len = (uint32_t)strlen(x->type);

    sn_head_reset(&s->head);
    s->head.status = x->status;
    s->head.minor = 1;
    memcpy(s->head.text, name, sizeof name - 1);
    memcpy(s->head.text + sizeof name - 1, x->type, len);
    sn_head_add(&s->head, (sn_head_field){0, sizeof name - 1, sizeof name - 1, len});
    s->head.len = sizeof name - 1 + len;
    x->handler.ops->head(&s->head, x->handler.arg);
}

static void
finish(sim_net *s, sn_exchange *x, seine_err err)
{
    sn_end end = {.fault = SN_FAULT, .peer = {4, {192, 0, 2, 1}}, .http = 255};
    size_t len = strlen(x->body);

    if (err == SEINE_OK) {
        end.http = 1;
        give_head(s, x);
        end.fault.status = x->status;
        end.body_bytes = end.wire_bytes = len;
        if (len > 0 && !x->handler.ops->body((sn_str){x->body, len}, x->handler.arg)) {
            err = SEINE_E_CANCELED;
            end.partial = true;
        }
    }
    end.fault.code = err;
    end.fault.phase = err == SEINE_OK ? SEINE_PHASE_NONE : SEINE_PHASE_HEAD;
    end.fault.sent = x->has_left;
    for (sn_exchange **at = &s->live; *at; at = &(*at)->next)
        if (*at == x) {
            *at = x->next;
            break;
        }
    x->handler.ops->end(&end, x->handler.arg);
    free(x);
}

static void
send_request(sim_net *s, sn_exchange *x, seine_time now)
{
    worker *k = s->of;
    char url[128];

    snprintf(url, sizeof url, "%s", seine_url_href(x->request->url).ptr);
    x->has_left = true;
    witness(k, url, strstr(url, "/robots.txt") != NULL);
    uint32_t host = host_of(k->of, sn_str_of(url));
    if (host == k->of->n_hosts)
        return;
    answer(k, url, x);
    x->due = now + k->of->hosts[host].takes;
    if (x->handler.ops->sent)
        x->handler.ops->sent(x->handler.arg);
}

static void
advance(sim_net *s, sn_exchange *x, seine_time now)
{
    if (s->of->end == KILLED) {
        finish(s, x, SEINE_E_CANCELED);
    } else if (x->canceled != SEINE_OK) {
        finish(s, x, x->canceled);
    } else if (!x->is_admitted) {
        x->is_admitted = true;
        seine_err e =
            x->handler.ops->admit
                ? x->handler.ops->admit(&(sn_ip){4, {192, 0, 2, 1}}, x->handler.arg)
                : SEINE_OK;
        if (e != SEINE_OK)
            finish(s, x, e);
    } else if (!x->has_left) {
        send_request(s, x, now);
    } else if (now >= x->request->deadline) {
        finish(s, x, SEINE_E_HEADER_TIMEOUT);
    } else {
        finish(s, x, SEINE_OK);
    }
}

static seine_time
turn(sn_transport *t, seine_time until)
{
    sim_net *s = (sim_net *)(void *)t;
    seine_clock *c = &s->of->clock;
    sn_exchange *x = first(s);
    seine_time at = sn_time_min(until, x ? x->due : SEINE_NEVER);

    if (!s->is_woken && at > c->now(c))
        c->wait(c, &s->word, s->word, at);
    s->is_woken = false;
    seine_time now = c->now(c);
    while ((x = first(s)) && x->due <= now)
        advance(s, x, now);
    return now;
}

static void
wake(sn_transport *t)
{
    sim_net *s = (sim_net *)(void *)t;

    s->is_woken = true;
    s->word++;
    s->of->clock.wake(&s->of->clock, &s->word, 1);
}

static int
no_fd(sn_transport *t)
{
    (void)t;
    return -1;
}

static void
resume(sn_transport *t, sn_exchange *x)
{
    (void)t;
    (void)x;
}

static const sn_transport_ops ops = {start, cancel, turn, wake,
                                     no_fd, resume, NULL, NULL};

static seine_err
open_net(void *self, const sn_shared_state *shared, uint32_t shard, uint32_t n_shards,
         sn_transport **out_transport, seine_diag *diag)
{
    sim_net *s = calloc(1, sizeof *s);

    (void)shared;
    (void)shard;
    (void)n_shards;
    (void)diag;
    s->base.ops = &ops;
    s->of = self;
    sn_head_init(&s->head, NULL);
    s->head.text = calloc(1, 256);
    s->head.room = 256;
    *out_transport = &s->base;
    return SEINE_OK;
}

static void
close_net(void *self, sn_transport *t)
{
    sim_net *s = (sim_net *)(void *)t;
    worker *k = self;

    if (s->live)
        broken(k->of, "worker %u ends, and has requests under way", k->index);
    free(s->head.text);
    free(s);
}

sn_net
site_net(worker *k)
{
    return (sn_net){.open = open_net, .close = close_net, .self = k};
}
