/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script.h - a net that answers as it is told, on a clock that jumps.
 *
 *     script *s = script_new(NULL);
 *     script_on(s, "http://a.test/", &(answer){.status = 503}, &(answer){.status = 200});
 *     e = sn_fetch_all(&opts, script_net(s), …);      opts.clock = script_clock(s)
 *     CHECK_EQ(script_asked(s, "http://a.test/"), 2);
 *     script_free(s);
 *
 * The answers of a URL are given one after the other, the last one again and again; a
 * URL nobody spoke of is 200 with an empty body. Every request is written down.
 *
 * With a clock of its own (NULL) time jumps to the next event: one thread. With a fake
 * clock shards may have threads, and whoever advances it lets them live.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "engine/fetch.h"
#include "engine/request.h"

typedef struct answer {
    seine_err err; /* the end; OK: a whole answer */
    seine_phase phase;
    uint16_t status;    /* 0 and no err: 200 */
    const char *fields; /* "Location: /x\nRetry-After: 5" */
    const char *body;
    size_t fill;         /* so many bytes x instead of a body */
    seine_span takes;    /* 0: 10 ms */
    seine_span connects; /* of that, until the request leaves */
    sn_address_zone zone;
    sn_proxy_part via;
    bool unsent, partial, reused, replayable;
    uint32_t notes;
} answer;

typedef struct asked { /* one request, as it left */
    char url[256], method[16], body[64], fields[512];
    char proxy[64];         /* as it is shown; "" */
    seine_time at, sent_at; /* begun; as the server saw it, NEVER: it did not */
    sn_address_zone ceiling;
    sn_limits limits;
    bool fresh, conditional, range, insecure, identify;
    unsigned shard;
} asked;

typedef struct script script;

#define T0 SEINE_SECS(1000)

script *script_new(seine_clock *clock); /* the clock is borrowed; NULL: one of its own */
void script_free(script *s);
seine_clock *script_clock(script *s);
const sn_net *script_net(script *s);
void script_jump(script *s, seine_span by); /* its own clock */
seine_time script_now(script *s);

void script_add(script *s, const char *url, const answer *a);
#define script_on(s, url, ...)                                       \
    do {                                                             \
        const answer *list_[] = {__VA_ARGS__};                       \
        for (size_t i_ = 0; i_ < sizeof list_ / sizeof *list_; i_++) \
            script_add(s, url, list_[i_]);                           \
    } while (0)

/* Draws answers from a seed instead: all kinds of ends. */
void script_random(script *s, uint64_t seed);

/* A server whose requests fail by chance, and all of them while it is down: as `failure`
 * says. Those that do not fail take 20 to 200 ms. */
typedef struct flaky {
    uint64_t seed;
    uint32_t pct;                     /* of the requests that fail */
    answer failure;                   /* {.status = 503}, refused … */
    seine_time down_from, down_until; /* NEVER: it stays down */
} flaky;
void script_flaky(script *s, const flaky *how);

/* A server of the caller: `fn` says what a request is answered. Its texts stay. */
typedef answer (*script_fn)(const asked *request, void *arg);
void script_by(script *s, script_fn fn, void *arg);

unsigned script_asked(script *s, const char *url);
unsigned script_requests(script *s);
const asked *script_request(script *s, unsigned i); /* in the order they left */
unsigned script_peak(script *s);                    /* most in flight at once */
unsigned script_in_flight(script *s);
void script_refuse_starts(script *s, seine_err why, unsigned n); /* the next n */

/* The state of the fetch that was opened last, while it is open. */
const sn_shared_state *script_shared(const script *s);

/* Bodies come in pieces from now on, one a millisecond, of which each asks for room;
 * heads and bodies are archived. */
void script_in_pieces(script *s);

/* Every piece of the first visits' memory is an allocation of its own from now on, so
 * that failing.h can refuse each. */
void script_tighten(script *s);

/* Options for tests: quick, of hosts that are ours, one attempt more or less as set. */
seine_fetch_opts script_opts(script *s);

#endif
