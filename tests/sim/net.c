/* SPDX-License-Identifier: Apache-2.0 */
#include "net.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "oracle.h"
#include "seine/outcome.h"

typedef enum stage { DNS, CONNECT, HEAD, BODY, ENDED } stage;

/* One event of an exchange; also its memory. */
struct sn_exchange {
    struct net *net;
    sn_exchange *next_free;
    sn_request request;
    sn_handler handler;
    sim_host *host;
    uint32_t id, hop;
    uint32_t node; /* of a crawl */
    stage stage;
    seine_time start, at; /* at: of its next event */
    seine_time held_at;   /* the engine has no room for its body since then; 0: it has */
    seine_time since;     /* its stage began */
    seine_err fail;       /* what it will end with */
    seine_phase fail_in;
    uint16_t status;
    uint32_t size;
    bool reused, partial, sent, live, counted, silent, enough;
    seine_err canceled;
    uint64_t number; /* of its host's starts */
    uint32_t epoch;  /* of its host's breaker when it started */
    uint32_t serial; /* events of an older life are void */
    seine_time tat;  /* of its host after it; 0: not counted */
    char location[64];
};

/* A host that its owner asks as he likes. */
static bool
is_mine(const sim_world *w, const sim_host *h)
{
    return w->opts.mine && (!w->site || w->site->hosts[h - w->hosts].is_given);
}

typedef struct net {
    sn_transport base;
    sim_world *world;
    uint32_t shard;
    sn_heap events;
    sn_exchange **all;
    size_t n, room;
    sn_exchange *free;
    uint32_t in_flight;
    sn_head head;
} net;

void
sim_broken(sim_world *w, const char *invariant, const char *fmt, ...)
{
    va_list args;

    if (w->broken)
        return;
    w->broken = true;
    int n = snprintf(w->what, sizeof w->what, "%s broken: ", invariant);
    va_start(args, fmt);
    vsnprintf(w->what + n, sizeof w->what - (size_t)n, fmt, args);
    va_end(args);
}

void
sim_note(sim_world *w, const char *event, uint64_t a, uint64_t b)
{
    uint64_t parts[4] = {(uint64_t)w->now, a, b, (unsigned char)event[0]};

    for (int i = 0; i < 4; i++)
        w->hash = (w->hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ w->hash >> 29;
    if (w->trace)
        printf("%6llu %12.6f %-8s %llu %llu\n", (unsigned long long)w->step,
               (double)w->now / 1e9, event, (unsigned long long)a, (unsigned long long)b);
}

/* The dice of page `id`, asked for the n-th time, for purpose `what`: 0 … below - 1. */
static uint64_t
roll(const sim_world *w, uint32_t id, uint32_t n, uint32_t what, uint64_t below)
{
    sn_rng r = sn_rng_seed(w->seed ^ ((uint64_t)id << 24 ^ (uint64_t)n << 8 ^ what) *
                                         UINT64_C(0xd1342543de82ef95));

    return sn_rng_below(&r, below);
}

sim_host *
sim_host_of(sim_world *w, sn_str name)
{
    const char *h = memchr(name.ptr, 'h', name.len);
    uint32_t n = 0;

    if (sn_str_starts(name, SN_STR("http://")))
        h = name.ptr + 7;
    if (!h || h >= name.ptr + name.len)
        return NULL;
    for (h++; h < name.ptr + name.len && sn_is_digit(*h); h++)
        n = n * 10 + (uint32_t)(*h - '0');
    return n < w->n_hosts ? &w->hosts[n] : NULL;
}

static bool
is_closed(const sim_host *h)
{
    return h->closed_until == 0 && !h->half_open;
}

/* S18: while a row of failures is not judged yet, nothing starts. */
static void
judge_wave(sim_world *w, sn_exchange *x)
{
    sim_host *h = x->host;
    uint32_t threshold = w->opts.breaker.failure_threshold;

    x->number = h->starts;
    x->epoch = h->epoch;
    if (is_closed(h) && threshold > 0 && h->row >= threshold && h->wave > 0)
        sim_broken(w, "S18", "host %u: a request while %u of the wave are in flight",
                   (unsigned)(h - w->hosts), h->wave);
}

/* The head of what is no page counts, whatever became of the body. */
static bool
is_head_enough(const sim_world *w, const seine_fault *f)
{
    return f->status > 0 && seine_err_class(f->code) != SEINE_LOCAL &&
           f->code != SEINE_E_CONN_STALE &&
           !seine_status_set_has(&w->opts.accept, f->status) &&
           (f->status >= 400 || w->opts.max_redirects > 0);
}

/* A request has ended; h->in_flight are the others. What started before the breaker
 * changed may only end a row. */
static void
note_wave(sim_world *w, sn_exchange *x, seine_fault f)
{
    sim_host *h = x->host;
    uint32_t threshold = w->opts.breaker.failure_threshold;

    if (h->wave > 0 && x->number < h->mark)
        h->wave--;
    /* The time of the URL may have run out, which says nothing about the host. */
    bool is_over = f.code == SEINE_E_TIMEOUT && w->opts.retry.max_elapsed != SEINE_NEVER;
    if (f.code == SEINE_OK || (f.code == SEINE_E_CANCELED && f.status > 0) ||
        is_head_enough(w, &f))
        f.code = seine_retry_classify(&w->opts.retry, f.status);
    seine_outcome how = seine_outcome_breaker(&f);
    if (is_over && how == SEINE_FAILURE)
        how = SEINE_IGNORED;
    if (how == SEINE_SUCCESS)
        h->row = h->wave = 0;
    if (how != SEINE_FAILURE || x->epoch != h->epoch || !is_closed(h))
        return;
    if (++h->row >= threshold && h->wave == 0) {
        h->wave = h->in_flight;
        h->mark = h->starts;
    }
}

/* S4, S5, S6, S9, S10 and the stop: may this request leave now? */
static void
judge(sim_world *w, sn_exchange *x)
{
    sim_host *h = x->host;
    const seine_fetch_opts *o = &w->opts;
    unsigned n = (unsigned)(h - w->hosts);

    if (w->stopping && w->now > w->stopped_at)
        sim_broken(w, "P13", "a request left %lld ns after the stop",
                   (long long)(w->now - w->stopped_at));
    if (x->request.deadline > sn_time_add(w->now, o->timeout))
        sim_broken(w, "S7", "deadline later than the timeout");
    if (!is_mine(w, h) && o->host_rate.count > 0) {
        seine_span every = seine_every(o->host_rate.count, o->host_rate.per);
        seine_span slack = every * (o->host_rate.burst - 1);
        /* The engine knows of a stall when the request has been sent (O1), not before. */
        seine_time now = w->now - w->stalled;
        if (now < h->tat - slack)
            sim_broken(w, "S4", "host %u: %lld ns early", n,
                       (long long)(h->tat - slack - now));
        h->tat = x->tat = sn_time_max(h->tat, now) + every;
    }
    if (!is_mine(w, h) && h->in_flight >= o->per_host)
        sim_broken(w, "S4", "host %u: %u in flight", n, h->in_flight + 1);
    if (w->now < h->closed_until)
        sim_broken(w, "S5", "host %u: a request while its breaker is open", n);
    if (h->half_open && h->closed_until <= w->now && h->closed_until > 0)
        h->closed_until = 0; /* the probe */
    if (w->now < h->pause)
        sim_broken(w, "S6", "host %u: %lld ns before its Retry-After ends", n,
                   (long long)(h->pause - w->now));
    for (size_t i = 0; i < x->request.n_fields; i++)
        if (sn_str_eq(x->request.fields[i].name, SN_STR(SIM_SECRET)) &&
            !(w->site ? w->site->hosts[n].is_given : h == &w->hosts[x->id % w->n_hosts]))
            sim_broken(w, "S10", "a secret of another origin at host %u", n);
    if (w->site) {
        oracle_start(w, x->node, x->request.ceiling);
        return;
    }
    seine_view query = seine_url_query(x->request.url);
    if (query.len == 3 && x->request.ceiling > (sn_address_zone)(query.ptr[2] - '0'))
        sim_broken(w, "S9", "host %u: ceiling above the zone it was found in", n);
}

/* How often it was asked for. */
static uint32_t
asked(const sim_world *w, const sn_exchange *x)
{
    return w->site ? w->site->nodes[x->node].asked : w->pages[x->id].asked;
}

/* A robots.txt that is late, broken or silent. */
static void
decide_robots(sim_world *w, sn_exchange *x)
{
    const site_host *h = &w->site->hosts[w->site->nodes[x->node].n];
    uint64_t dice = roll(w, x->id, asked(w, x), 7, 4);

    if (h->robots == ROBOTS_SILENT)
        x->silent = true;
    if (h->robots == ROBOTS_BROKEN ||
        (h->robots == ROBOTS_LATE && h->robots_asked <= h->late))
        x->status = dice == 0 ? 429 : dice == 1 ? 503 : 500;
    if (x->status != 200 && dice == 3 && h->robots == ROBOTS_LATE) {
        x->fail = SEINE_E_CONN_RESET;
        x->fail_in = SEINE_PHASE_HEAD;
    }
}

/* What the server will do, decided when the request leaves. */
static void
decide(sim_world *w, sn_exchange *x)
{
    sim_host *h = x->host;
    uint32_t n = asked(w, x), id = x->id;
    uint32_t dice = (uint32_t)roll(w, id, n, 1, 1000);

    x->status = 200;
    x->size = (uint32_t)roll(w, id, n, 2, 3000);
    x->fail = SEINE_OK;
    if (w->site) {
        const site_answer *a = site_answer_of(w->site, x->node);
        x->status = a->status;
        x->size = (uint32_t)a->len;
        if (w->site->nodes[x->node].kind == SITE_ROBOTS)
            decide_robots(w, x);
    } else {
        w->pages[x->id].asked++;
    }
    bool down = h->flap > 0 && w->now / h->flap % 2 == 1;
    if (h->nx) {
        x->fail = SEINE_E_DNS_NXDOMAIN;
        x->fail_in = SEINE_PHASE_DNS;
    } else if (h->dead || down || dice < h->refuse) {
        x->fail = SEINE_E_CONNECT_REFUSED;
        x->fail_in = SEINE_PHASE_CONNECT;
    } else if (x->reused && roll(w, id, n, 3, 1000) < h->stale) {
        x->fail = SEINE_E_CONN_STALE;
        x->fail_in = SEINE_PHASE_HEAD;
    } else if ((dice = (uint32_t)roll(w, id, n, 4, 1000)) < h->reset) {
        x->fail = SEINE_E_CONN_RESET;
        x->fail_in = SEINE_PHASE_HEAD;
    } else if (dice < h->reset + h->cut) {
        x->fail = SEINE_E_BODY_TRUNCATED;
        x->fail_in = SEINE_PHASE_BODY;
    } else if (dice < h->reset + h->cut + h->s500) {
        x->status = dice & 1 ? 500 : 503;
    } else if (dice < h->reset + h->cut + h->s500 + h->s404) {
        x->status = 404;
    } else if (dice < h->reset + h->cut + h->s500 + h->s404 + h->redirect) {
        x->status = 302;
        uint32_t to = (uint32_t)roll(w, id, n, 5, w->n_hosts);
        snprintf(x->location, sizeof x->location, "http://h%u.sim/p/%u/%u?z=%d", to, id,
                 x->hop + 1, (int)h->zone);
    }
    if (w->now - h->second >= SEINE_SECS(1)) {
        h->second = w->now;
        h->in_second = 0;
    }
    if (++h->in_second > h->limit && h->limit > 0 && x->fail == SEINE_OK)
        x->status = 429;
}

static seine_span
spread(const sim_world *w, const sn_exchange *x, seine_span base, uint32_t what)
{
    seine_span jitter = x->host->jitter;

    return base + (jitter > 0
                       ? (seine_span)roll(w, x->id, asked(w, x), what, (uint64_t)jitter)
                       : 0);
}

static void
plan(net *t, sn_exchange *x, seine_time at)
{
    x->at = sn_time_min(at, x->request.deadline);
    if (sn_heap_put(&t->events, x->at, (uint64_t)x->serial << 32 | x->id) != SEINE_OK)
        abort();
}

/* Which page of which host it is. */
static void
name(sim_world *w, sn_exchange *x)
{
    seine_view host = seine_url_host(x->request.url);
    seine_view path = seine_url_path(x->request.url);
    const char *p = path.ptr + 3, *end = path.ptr + path.len;

    if (w->site) {
        seine_view href = seine_url_href(x->request.url);
        x->node = site_node_of(w->site, href);
        const site_node *node = &w->site->nodes[x->node];
        x->id = (uint32_t)node->id;
        x->host = node->host < w->n_hosts ? &w->hosts[node->host] : NULL;
        if (w->trace)
            printf("                    %s\n", node->url);
        return;
    }
    x->host = sim_host_of(w, host);
    for (; p < end && sn_is_digit(*p); p++)
        x->id = x->id * 10 + (uint32_t)(*p - '0');
    for (p++; p < end && sn_is_digit(*p); p++)
        x->hop = x->hop * 10 + (uint32_t)(*p - '0');
}

static seine_err
net_start(sn_transport *base, const sn_request *request, const sn_handler *handler,
          sn_exchange **out_exchange)
{
    net *t = (net *)base;
    sim_world *w = t->world;
    sn_exchange *x = t->free;

    if (request->deadline == SEINE_NEVER)
        return SEINE_E_INVAL;
    if (x) {
        t->free = x->next_free;
    } else {
        if (t->n == t->room) {
            t->room = t->room ? t->room * 2 : 64;
            t->all = realloc(t->all, t->room * sizeof *t->all);
        }
        x = calloc(1, sizeof *x);
        x->net = t;
        t->all[t->n++] = x;
    }
    static uint32_t serials; /* of no meaning but to be different */
    uint32_t serial = ++serials;
    *x = (sn_exchange){
        .net = t, .request = *request, .handler = *handler, .serial = serial};
    name(w, x);
    if (!x->host) {
        sim_broken(w, "S8", "a request to a host that is none");
        return SEINE_E_INVAL;
    }
    x->start = x->since = w->now;
    x->live = true;
    t->in_flight++;
    x->reused = x->host->idle > 0 && !request->fresh;
    if (x->reused)
        x->host->idle--;
    judge(w, x);
    judge_wave(w, x);
    w->starts++;
    x->host->starts++;
    x->host->in_flight++;
    x->counted = true;
    if (x->host->in_flight > x->host->peak)
        x->host->peak = x->host->in_flight;
    sim_note(w, "start", x->id, (uint64_t)(x->host - w->hosts));
    decide(w, x);
    x->stage = x->reused ? CONNECT : DNS;
    plan(t, x, w->now + (x->reused ? 0 : spread(w, x, x->host->dns, 10)));
    *out_exchange = x;
    return SEINE_OK;
}

static void
net_cancel(sn_transport *base, sn_exchange *x, seine_err why)
{
    net *t = (net *)base;

    if (!x->live || x->canceled != SEINE_OK)
        return;
    x->canceled = why;
    t->world->early_cancels++;
    if (x->at != SEINE_NEVER || x->held_at == 0)
        return;
    x->request.deadline = /* which counts our own reading only */
        sn_time_add(x->request.deadline, t->world->now - x->held_at);
    x->held_at = 0;
    plan(t, x, t->world->now);
}

/* Nothing of it left, for a reason of ours; or the time of the URL was over before that
 * of the attempt, which is ours, too. */
static bool
is_unseen(const sim_world *w, const sn_exchange *x, const seine_fault *f)
{
    bool url_is_over =
        f->code == SEINE_E_TIMEOUT && x->request.deadline - x->start < w->opts.timeout;

    return seine_outcome_undo(f) || (url_is_over && !x->sent);
}

static void
finish(net *t, sn_exchange *x, seine_err code, seine_phase phase)
{
    sim_world *w = t->world;
    sim_host *h = x->host;
    sn_end end = {.fault = SN_FAULT};
    seine_fault fault;

    /* Who waits for a disk sees the end of a request when the disk lets go. */
    if (w->now > sn_time_add(x->request.deadline, w->late + w->was_late))
        sim_broken(w, "S7", "page %u ended %lld ns after its deadline", x->id,
                   (long long)(w->now - x->request.deadline));
    end.fault.code = code;
    end.fault.phase = phase;
    end.fault.status = x->stage >= BODY ? x->status : 0;
    end.fault.sent = x->sent;
    end.fault.timeout_ms = code == SEINE_E_TIMEOUT ? w->opts.timeout / 1000000 : 0;
    end.partial = x->stage >= BODY && code != SEINE_OK;
    end.reused = x->reused;
    end.replayable = code == SEINE_E_CONN_STALE;
    end.http = x->stage >= BODY ? 1 : 255;
    end.zone = h->zone;
    if (phase > SEINE_PHASE_DNS || code == SEINE_OK)
        end.peer = h->ip;
    end.wire_bytes = end.body_bytes = x->stage >= BODY ? x->size : 0;
    sn_fault_open(&end.fault, &fault);
    if (is_unseen(w, x, &fault) && x->tat != 0 && x->tat == h->tat)
        h->tat -= seine_every(w->opts.host_rate.count, w->opts.host_rate.per);
    if (w->site)
        oracle_end(w, x->node, code == SEINE_OK || x->enough, end.fault.status, code);
    else
        w->pages[x->id].last_ok = code == SEINE_OK && x->status == 200;
    h->in_flight--;
    note_wave(w, x, fault);
    if (code == SEINE_OK && h->idle < 8)
        h->idle++;
    x->live = false;
    x->serial = 0;
    t->in_flight--;
    w->ends++;
    sim_note(w, "end", x->id, (uint64_t)code);
    sn_handler handler = x->handler;
    x->next_free = t->free;
    t->free = x;
    handler.ops->end(&end, handler.arg);
}

/* The head as a server would have sent it. */
static void
give_head(net *t, sn_exchange *x)
{
    sim_host *h = x->host;
    char text[400];
    int n = 0;

    sn_head_reset(&t->head);
    t->head.status = x->status;
    t->head.minor = 1;
    struct {
        const char *name;
        char value[200];
    } fields[4];
    const site_answer *a =
        t->world->site ? site_answer_of(t->world->site, x->node) : NULL;
    bool is_real = a && x->status == a->status;
    fields[n].name = "Content-Type";
    snprintf(fields[n++].value, 200, "%s", is_real ? a->type : "text/html");
    if (is_real && a->x_robots) {
        fields[n].name = "X-Robots-Tag";
        snprintf(fields[n++].value, 200, "%s", a->x_robots);
    }
    if (is_real ? a->location[0] : x->status == 302) {
        fields[n].name = "Location";
        snprintf(fields[n++].value, 200, "%s", is_real ? a->location : x->location);
    }
    if (x->status == 429 && h->retry_after >= 0) {
        fields[n].name = "Retry-After";
        snprintf(fields[n++].value, 200, "%lld",
                 (long long)(h->retry_after / SEINE_SECS(1)));
    }
    for (int i = 0; i < n; i++) {
        int len = snprintf(text, sizeof text, "%s%s", fields[i].name, fields[i].value);
        if (sn_head_room(&t->head, (size_t)len) != SEINE_OK)
            abort();
        memcpy(t->head.text + t->head.len, text, (size_t)len);
        uint32_t name = (uint32_t)strlen(fields[i].name);
        sn_head_add(&t->head, (sn_head_field){t->head.len, name, t->head.len + name,
                                              (uint32_t)len - name});
        t->head.len += (uint32_t)len;
    }
    if (x->handler.ops->head)
        x->handler.ops->head(&t->head, x->handler.arg);
}

/* The body in a few pieces, or half of it. False: nobody wants more. */
static bool
give_body(sim_world *w, sn_exchange *x)
{
    static const char page[3000] = "<title>sim</title><a href=/never/9>busy</a>";
    sn_str all = {page, x->size};

    if (w->site) {
        const site_answer *a = site_answer_of(w->site, x->node);
        all = x->status == a->status ? (sn_str){a->body, a->len} : (sn_str){page, 40};
    }
    all.len = x->fail == SEINE_OK ? all.len : all.len / 2;
    size_t step = 1 + roll(w, x->id, asked(w, x), 14, all.len + all.len / 4 + 1);
    for (size_t at = 0; at < all.len && x->handler.ops->body; at += step) {
        sn_str piece = sn_str_slice(all, at, at + step);
        if (!x->handler.ops->body(piece, x->handler.arg)) {
            x->enough = at + piece.len >= 512 << 10 && w->opts.max_memory > 4 << 20;
            return false;
        }
    }
    return true;
}

/* The Retry-After is known from here on: what is in flight may end. */
static void
promise(sim_world *w, sn_exchange *x)
{
    if (x->status == 429 && x->host->retry_after > 0)
        x->host->pause = sn_time_max(x->host->pause, w->now + x->host->retry_after);
}

/* The server sees it: no closer to the one before than the rate allows (O1). */
static void
arrive(sim_world *w, sn_exchange *x)
{
    const seine_fetch_opts *o = &w->opts;
    sim_host *h = x->host;
    seine_span every =
        o->host_rate.count > 0 ? seine_every(o->host_rate.count, o->host_rate.per) : 0;

    if (!is_mine(w, h) && every >= SEINE_MS(20) && o->host_rate.burst == 1 &&
        h->is_seen && w->now - h->seen < every)
        sim_broken(w, "O1", "host %u: two requests %lld ns apart",
                   (unsigned)(h - w->hosts), (long long)(w->now - h->seen));
    if (w->site)
        oracle_arrive(w, x->node);
    h->seen = w->now;
    h->is_seen = true;
    if (x->handler.ops->sent)
        x->handler.ops->sent(x->handler.arg);
}

static void
advance(net *t, sn_exchange *x)
{
    sim_world *w = t->world;
    sim_host *h = x->host;
    static const seine_phase phases[] = {SEINE_PHASE_DNS, SEINE_PHASE_CONNECT,
                                         SEINE_PHASE_HEAD, SEINE_PHASE_BODY,
                                         SEINE_PHASE_NONE};

    if (x->canceled != SEINE_OK) {
        finish(t, x, x->canceled, phases[x->stage]);
        return;
    }
    if (w->now >= x->request.deadline) {
        finish(t, x, SEINE_E_TIMEOUT, phases[x->stage]);
        return;
    }
    if (x->fail != SEINE_OK && x->fail_in == phases[x->stage] && x->stage != BODY) {
        finish(t, x, x->fail, x->fail_in);
        return;
    }
    switch (x->stage) {
    case DNS:
        x->stage = CONNECT;
        if (h->zone > x->request.ceiling) {
            finish(t, x, SEINE_E_BLOCKED_ADDRESS, SEINE_PHASE_CONNECT);
            return;
        }
        plan(t, x, w->now + spread(w, x, h->connect, 11));
        return;
    case CONNECT:
        if (x->handler.ops->admit) {
            seine_err e = x->handler.ops->admit(&h->ip, x->handler.arg);
            if (e != SEINE_OK) {
                finish(t, x, e, SEINE_PHASE_CONNECT);
                return;
            }
        }
        if (!x->reused && x->handler.ops->may_send) {
            seine_err e = x->handler.ops->may_send(x->handler.arg);
            if (e != SEINE_OK) {
                h->idle += h->idle < 8;
                finish(t, x, e, SEINE_PHASE_CONNECT);
                return;
            }
        }
        if (!x->reused && w->now < h->pause) /* a kept connection sends at once */
            sim_broken(w, "S6", "host %u: sent %lld ns before its Retry-After ends",
                       (unsigned)(h - w->hosts), (long long)(h->pause - w->now));
        x->stage = HEAD;
        x->sent = true;
        arrive(w, x);
        plan(t, x, x->silent ? SEINE_NEVER : w->now + spread(w, x, h->ttfb, 12));
        return;
    case HEAD:
        x->stage = BODY;
        give_head(t, x);
        promise(w, x);
        plan(t, x, w->now + spread(w, x, h->body, 13));
        return;
    case BODY:
        if (x->handler.ops->room && x->handler.ops->room(x->handler.arg) == 0) {
            x->at = SEINE_NEVER; /* until net_resume */
            x->held_at = w->now;
            return;
        }
        if (!give_body(w, x)) {
            finish(t, x, SEINE_E_CANCELED, SEINE_PHASE_BODY);
            return;
        }
        finish(t, x, x->fail, x->fail == SEINE_OK ? SEINE_PHASE_NONE : x->fail_in);
        return;
    default:
        abort();
    }
}

static sn_exchange *
find(net *t, uint32_t serial)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->all[i]->live && t->all[i]->serial == serial)
            return t->all[i];
    return NULL;
}

static seine_time
net_turn(sn_transport *base, seine_time until)
{
    net *t = (net *)base;

    (void)until; /* the simulation moves the time */
    for (int n = 0; n < 64 && sn_heap_when(&t->events) <= t->world->now; n++) {
        sn_heap_entry entry = sn_heap_take(&t->events);
        sn_exchange *x = find(t, (uint32_t)(entry.item >> 32));
        if (x && (x->at == entry.at))
            advance(t, x);
    }
    return t->world->now;
}

static void
net_wake(sn_transport *base)
{
    (void)base;
}

static int
net_fd(sn_transport *base)
{
    (void)base;
    return -1;
}

/* The engine has room for a body again. */
static void
net_resume(sn_transport *base, sn_exchange *x)
{
    net *t = (net *)base;

    plan(t, x, t->world->now);
}

static const sn_transport_ops ops = {net_start, net_cancel, net_turn, net_wake,
                                     net_fd,    net_resume, NULL,     NULL};

sn_transport *
sim_net_new(sim_world *w, uint32_t shard)
{
    net *t = calloc(1, sizeof *t);

    t->base.ops = &ops;
    t->world = w;
    t->shard = shard;
    sn_heap_init(&t->events, UINT32_MAX);
    sn_head_init(&t->head, NULL);
    return &t->base;
}

void
sim_net_free(sn_transport *base)
{
    net *t = (net *)base;

    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free(t->all[i]);
    free(t->all);
    sn_heap_fini(&t->events);
    sn_head_fini(&t->head);
    free(t);
}

seine_time
sim_net_when(const sn_transport *base)
{
    return sn_heap_when(&((const net *)base)->events);
}

uint32_t
sim_net_in_flight(const sn_transport *base)
{
    return ((const net *)base)->in_flight;
}
