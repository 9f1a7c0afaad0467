/* SPDX-License-Identifier: Apache-2.0 */
/* socket_transport.h - the real transport and the evil server in one process: what tests
 * share. */
#ifndef WIRED_TEST_H
#define WIRED_TEST_H

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/chaos.h>
#include <seine/clock.h>
#include <seine/plumbing.h>

#include "chaos_report.h"
#include "check.h"
#include "diag_line.h"
#include "net/socket_transport.h"
#include "net/socket_transport_parts.h"

#define BODY_KEPT 4096

/* One request and all that was told about it. */
typedef struct visit {
    sn_request q;
    sn_limits limits;
    seine_url url;
    char mem[512];
    sn_exchange *x;
    sn_transport *t;

    int heads, pieces, ends, admits, asks;
    uint16_t status;
    char type[64];
    uint64_t bytes;
    char body[BODY_KEPT + 1]; /* the first of them */
    sn_end end;
    char text[SN_FAULT_TEXT]; /* of its fault */
    seine_time begun, ended;

    seine_err admit, may_send; /* what is answered */
    seine_span passes;         /* on the clock, from its being admitted on */
    bool enough;               /* after the first piece */
    seine_err cancel_in_head, cancel_in_body;
    void (*then)(struct visit *v); /* at its end */
} visit;

/* The clock of the transports is the system's, until a test stops it; and a test lets
 * time pass on it without waiting. */
static seine_time transport_stopped_at; /* 0: it runs */
static seine_span transport_ahead;

static seine_time
transport_tell(seine_clock *c)
{
    seine_clock *s = seine_clock_system();

    (void)c;
    return (transport_stopped_at ? transport_stopped_at : s->now(s)) + transport_ahead;
}

static inline seine_time
transport_now(void)
{
    return transport_tell(NULL);
}

static inline void
transport_stop_clock(void)
{
    seine_clock *s = seine_clock_system();

    transport_stopped_at = s->now(s);
}

static inline void
transport_go_clock(void)
{
    transport_stopped_at = 0;
}

static inline void
transport_pass(seine_span span)
{
    transport_ahead += span;
}

static seine_clock transport_clock;

__attribute__((constructor)) static void
transport_clock_init(void)
{
    transport_clock = *seine_clock_system();
    transport_clock.now = transport_tell;
}

static seine_err
visit_admit(const sn_ip *peer, void *arg)
{
    visit *v = arg;

    CHECK(peer->v == 4 || peer->v == 6);
    CHECK_EQ(v->heads, 0);
    v->admits++;
    if (v->passes > 0)
        transport_pass(v->passes);
    return v->admit;
}

static seine_err
visit_may_send(void *arg)
{
    visit *v = arg;

    CHECK_EQ(v->asks, 0);
    v->asks++;
    return v->may_send;
}

static void
visit_head(const sn_head *head, void *arg)
{
    visit *v = arg;
    sn_str type;

    CHECK_EQ(v->ends, 0);
    v->heads++;
    v->status = head->status;
    if (sn_head_get(head, SN_STR("content-type"), &type))
        snprintf(v->type, sizeof v->type, "%.*s", SN_FMT(type));
    if (v->cancel_in_head != SEINE_OK)
        v->t->ops->cancel(v->t, v->x, v->cancel_in_head);
}

static bool
visit_body(sn_str piece, void *arg)
{
    visit *v = arg;

    CHECK_EQ(v->ends, 0);
    CHECK_EQ(v->heads, 1);
    CHECK(piece.len > 0);
    v->pieces++;
    for (size_t i = 0; i < piece.len && v->bytes + i < BODY_KEPT; i++)
        v->body[v->bytes + i] = piece.ptr[i];
    v->bytes += piece.len;
    if (v->cancel_in_body != SEINE_OK)
        v->t->ops->cancel(v->t, v->x, v->cancel_in_body);
    return !v->enough;
}

static void
visit_end(const sn_end *end, void *arg)
{
    visit *v = arg;

    v->ends++;
    v->end = *end;
    snprintf(v->text, sizeof v->text, "%s", end->fault.text ? end->fault.text : "");
    v->end.fault.text = v->text;
    v->ended = transport_now();
    if (v->then)
        v->then(v);
}

static inline visit *
visit_of(const char *base, const char *path)
{
    visit *v = calloc(1, sizeof *v);
    char text[sizeof v->mem];

    snprintf(text, sizeof text, "%s%s", base, path);
    seine_url_init(&v->url, v->mem, sizeof v->mem);
    CHECK_EQ(seine_url_parse(&v->url, text, strlen(text), NULL), SEINE_OK);
    v->limits = (sn_limits){SN_TIMEOUTS, 16 << 20, 16 << 20, 200, 1 << 20};
    /* A machine may have other things to do. */
    v->limits.time.dns = v->limits.time.tls = v->limits.time.connect =
        v->limits.time.send = v->limits.time.head = SEINE_SECS(60);
    v->q = (sn_request){.method = SN_STR("GET"),
                        .url = &v->url,
                        .limits = &v->limits,
                        .deadline = transport_now() + SEINE_SECS(90),
                        .ceiling = SN_ADDRESS_LOCAL,
                        .pin = SN_ADDRESS_NO_PIN};
    return v;
}

static inline seine_err
visit_start(sn_transport *t, visit *v)
{
    static const sn_handler_ops ops = {.admit = visit_admit,
                                       .may_send = visit_may_send,
                                       .head = visit_head,
                                       .body = visit_body,
                                       .end = visit_end};

    v->t = t;
    v->begun = transport_now();
    return t->ops->start(t, &v->q, &(sn_handler){&ops, v}, &v->x);
}

/* Turns while the condition holds; a test that waits in vain goes on after a while. */
#define TURN_WHILE(t, condition)                                                 \
    do {                                                                         \
        seine_clock *turn_clock = seine_clock_system();                          \
        seine_time turn_late = turn_clock->now(turn_clock) + 2 * CHECK_PATIENCE; \
                                                                                 \
        while ((condition) && turn_clock->now(turn_clock) < turn_late)           \
            (t)->ops->turn(t, transport_now() + SEINE_MS(50));                   \
    } while (0)

static inline void
visit_wait(visit *v)
{
    TURN_WHILE(v->t, v->ends == 0);
    CHECK_EQ(v->ends, 1);
}

/* Turns until the visit is in the phase, or has ended. */
static inline void
visit_until(visit *v, seine_phase phase)
{
    TURN_WHILE(v->t, v->ends == 0 && (v->x->phase < phase ||
                                      (phase == SEINE_PHASE_BODY && v->pieces == 0)));
    CHECK_EQ(v->ends, 0);
}

static inline visit *
visit_run(sn_transport *t, visit *v)
{
    CHECK_EQ(visit_start(t, v), SEINE_OK);
    CHECK_EQ(v->ends + v->heads + v->admits, 0); /* nothing was called back yet */
    visit_wait(v);
    return v;
}

static inline visit *
get(sn_transport *t, const char *base, const char *path)
{
    return visit_run(t, visit_of(base, path));
}

static inline sn_socket_transport_opts
transport_opts(void)
{
    return (sn_socket_transport_opts){
        .clock = &transport_clock,
        .dns = {.timeout = SEINE_SECS(5), .max_names = 65536},
        .max_connections = 4096,
        .max_idle = 4096,
        .max_idle_origin = 4096,
        .idle_time = SEINE_SECS(15),
        .max_age = SEINE_SECS(600),
        .max_requests = 10000};
}

static inline sn_transport *
transport_of(const sn_socket_transport_opts *opts)
{
    sn_transport *t = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_socket_transport_new(opts, &t, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    return t;
}

static inline sn_transport *
transport(void)
{
    sn_socket_transport_opts o = transport_opts();

    return transport_of(&o);
}

static inline sn_socket_transport_stats
transport_stats(const sn_transport *t)
{
    sn_socket_transport_stats s;

    sn_socket_transport_stats_get(t, &s);
    return s;
}

/* Waits, without a turn, until a turn would have something to do. */
static inline void
transport_await(sn_transport *t)
{
    struct pollfd wait = {.fd = t->ops->fd(t), .events = POLLIN};

    CHECK_EQ(poll(&wait, 1, (int)(CHECK_PATIENCE / SEINE_MS(1))), 1);
}

/* Lets `span` pass. */
static inline void
transport_idle(sn_transport *t, seine_span span)
{
    for (seine_time until = transport_now() + span; transport_now() < until;)
        t->ops->turn(t, until);
}

static inline seine_chaos *
chaos(const char *script)
{
    seine_chaos_opts opts = SEINE_CHAOS_OPTS;
    seine_chaos *c = NULL;

    opts.script = script;
    opts.dns = true;
    CHECK_EQ(seine_chaos_new(&opts, &c), SEINE_OK);
    return c;
}

/* A visit like `fresh` on a transport of its own, while an allocation fails: it ends well
 * or for want of memory. */
static inline void
visit_survives(visit *v, const visit *fresh, const sn_socket_transport_opts *opts)
{
    sn_transport *t = NULL;
    seine_err e = sn_socket_transport_new(opts, &t, NULL);

    *v = *fresh;
    v->q.url = &v->url;
    v->url.href = v->mem;
    v->q.limits = &v->limits;
    v->q.deadline = transport_now() + SEINE_SECS(90);
    if (e == SEINE_OK)
        e = visit_start(t, v);
    if (e == SEINE_OK) {
        visit_wait(v);
        e = v->end.fault.code;
    }
    CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
    sn_socket_transport_free(t);
}

#define CHECK_END(v, want) \
    CHECK_STR(seine_err_name((v)->end.fault.code), seine_err_name(want))

#endif
