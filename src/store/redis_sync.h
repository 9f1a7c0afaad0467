/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sync.h - a client of Redis for a thread that may block: commands go out, replies
 * come back in their order, each within a deadline.
 *
 *     e = sn_redis_sync_new(&opts, &r);
 *     e = sn_redis_sync_open(r);                      connects and greets
 *     sn_redis_sync_add(r, words, n_words);           as many commands as one likes
 *     e = sn_redis_sync_next(r, &reply);              sends them; the first reply
 *     e = sn_redis_sync_next(r, &reply);              the second …
 *
 * A reply that is late or damaged ends the connection; whether the server ran the
 * commands is not known then. open connects anew. The bytes pass through four functions,
 * so that a model of a server can stand in for a socket.
 *
 * Time    of the clock; every wait ends by its deadline.
 * Memory  what is to be sent, and one reply at a time, both up to `max_bytes`.
 * Threads one owner, which blocks.
 */
#ifndef SN_REDIS_SYNC_H
#define SN_REDIS_SYNC_H

#include "seine/clock.h"
#include "store/redis_error.h"
#include "store/redis_reply.h"
#include "store/redis_url.h"

/* Moves bytes. Each returns STORE_UNAVAILABLE when the connection is lost, or TIMEOUT. */
typedef struct sn_redis_wire {
    seine_err (*open)(void *self, seine_time until);
    seine_err (*send)(void *self, sn_str bytes, seine_time until); /* all of them */
    seine_err (*receive)(void *self, char *into, size_t room, seine_time until,
                         size_t *out_n); /* one at least */
    void (*close)(void *self);
    void *self;
} sn_redis_wire;

typedef struct sn_redis_sync_opts {
    const sn_redis_url *url;   /* borrowed */
    const char *functions;     /* a library for FUNCTION LOAD, borrowed; NULL: none */
    seine_clock *clock;        /* NULL: the system's */
    const sn_redis_wire *wire; /* copied; NULL: a socket */
    size_t max_bytes;          /* of a reply, and of what waits to be sent; 0: 64 MiB */
    seine_span connect, reply; /* 0: 2 s, 5 s */
} sn_redis_sync_opts;

typedef struct sn_redis_sync sn_redis_sync;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_redis_sync_new(const sn_redis_sync_opts *opts,
                                             sn_redis_sync **out_redis);
void sn_redis_sync_free(sn_redis_sync *r);

/* Connects, logs in, chooses the database, loads the functions. STORE_UNAVAILABLE: it may
 * work later; CONFIG: it never will (password, version, database). sn_redis_sync_why has
 * the words. */
SEINE_MUST_CHECK seine_err sn_redis_sync_open(sn_redis_sync *r);
bool sn_redis_sync_is_open(const sn_redis_sync *r);
void sn_redis_sync_close(sn_redis_sync *r);

/* One command more; what fails is said by the next reply. */
void sn_redis_sync_add(sn_redis_sync *r, const sn_str *words, size_t n);

/* The reply to the oldest command that has none yet, valid until the next call. An error
 * of the server is a reply. STORE_UNAVAILABLE: the connection was lost, and none of the
 * commands that wait will have a reply; NOMEM, TOO_BIG likewise. */
SEINE_MUST_CHECK seine_err sn_redis_sync_next(sn_redis_sync *r,
                                              const sn_redis_reply **out_reply);

/* One command and its reply. */
SEINE_MUST_CHECK seine_err sn_redis_sync_ask(sn_redis_sync *r, const sn_str *words,
                                             size_t n, const sn_redis_reply **out_reply);

uint32_t sn_redis_sync_pending(const sn_redis_sync *r); /* commands without a reply */

/* What went wrong last; it reads on from "Redis …". */
const char *sn_redis_sync_why(const sn_redis_sync *r);

/* Of this start of the server; empty: it does not say. Changes when it is restarted. */
sn_str sn_redis_sync_run_id(const sn_redis_sync *r);

#endif
