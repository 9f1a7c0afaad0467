/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.h - a client of one Redis server: bytes in, bytes out, no socket and no clock.
 *
 * The client greets the server, checks its version, loads functions, queues commands in
 * one pipeline, keeps their deadlines and says when to connect again. Its owner moves the
 * bytes (serve/redis_link.h does it on a loop):
 *
 *     e = sn_redis_new(&opts, now, &r);
 *     sn_redis_tick(r, now);                  hooks.open: connect, please
 *     sn_redis_opened(r, now);                the socket is connected
 *     n = send(sn_redis_output(r));  sn_redis_sent(r, n);
 *     sn_redis_received(r, now, bytes);       hooks.up; replies go to their commands
 *     e = sn_redis_ask(r, now, words, n_words, on_reply, arg);
 *
 * A command gets exactly one call of its function: the reply, or STORE_UNAVAILABLE when
 * the connection was lost or the deadline passed. It is not known then whether the server
 * ran the command. A reply that is late ends the connection, because all others stand
 * behind it. The next connect comes after 100 ms, then after twice as long each time up
 * to `retry_max`, by chance up to half earlier.
 *
 * Time    is passed in; call tick at sn_redis_when.
 * Memory  bounded: `max_pending` commands, `max_bytes` to send, `max_bytes` of a reply.
 * Threads one owner.
 */
#ifndef SN_REDIS_H
#define SN_REDIS_H

#include "base/time.h"
#include "store/redis_error.h"
#include "store/redis_reply.h"
#include "store/redis_url.h"

#define SN_REDIS_MAJOR 7 /* the oldest version that has functions */

typedef struct sn_redis sn_redis;

/* OK with a reply that is no error. INVAL or STORE_UNAVAILABLE with one that is, and
 * STORE_UNAVAILABLE with NULL. The reply is valid during the call, which may ask again.
 */
typedef void (*sn_redis_fn)(seine_err e, const sn_redis_reply *reply, void *arg);

typedef struct sn_redis_hooks {
    void (*open)(void *arg);  /* connect, then call opened or lost; not from inside */
    void (*close)(void *arg); /* end the connection, or the attempt */
    void (*more)(void *arg);  /* there is something to send */
    void (*up)(void *arg);    /* commands may be asked */
    void (*down)(void *arg);  /* no longer, or the connect failed: see sn_redis_why */
    void *arg;
} sn_redis_hooks;

typedef struct sn_redis_opts {
    const sn_redis_url *url; /* borrowed */
    const char *functions;   /* a library for FUNCTION LOAD, borrowed; NULL: none */
    uint32_t max_pending;    /* commands; 0: 4096 */
    size_t max_bytes;        /* 0: 4 MiB */
    seine_span connect;      /* until the greeting is over; 0: 2 s */
    seine_span reply;        /* of a command; 0: 1 s */
    seine_span retry_max;    /* 0: 5 s */
    uint64_t seed;           /* of the chance in the pauses */
    sn_redis_hooks hooks;
} sn_redis_opts;

/* NOMEM. The first tick connects. */
SEINE_MUST_CHECK seine_err sn_redis_new(const sn_redis_opts *opts, seine_time now,
                                        sn_redis **out_redis);
/* Calls the functions of all commands; no hook. */
void sn_redis_free(sn_redis *r);

/* Deadlines and connects. */
void sn_redis_tick(sn_redis *r, seine_time now);
seine_time sn_redis_when(const sn_redis *r);

/* From the owner of the socket. `why` reads on from "Redis …". */
void sn_redis_opened(sn_redis *r, seine_time now);
void sn_redis_lost(sn_redis *r, seine_time now, const char *why);
void sn_redis_received(sn_redis *r, seine_time now, sn_str bytes);
sn_str sn_redis_output(const sn_redis *r);
void sn_redis_sent(sn_redis *r, size_t n);

/* STORE_UNAVAILABLE: not up; FULL: too many wait, or too many bytes; NOMEM. Then `fn` is
 * not called. */
SEINE_MUST_CHECK seine_err sn_redis_ask(sn_redis *r, seine_time now, const sn_str *words,
                                        size_t n, sn_redis_fn fn, void *arg);

bool sn_redis_is_up(const sn_redis *r);

/* Why it is not up: "refuses the connection", "is still loading its data" … "": it has
 * not been tried. */
const char *sn_redis_why(const sn_redis *r);
uint32_t sn_redis_pending(const sn_redis *r);

/* The time that the client was last told: `now` for functions that are called back. */
seine_time sn_redis_now(const sn_redis *r);

#endif
