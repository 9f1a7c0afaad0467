/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_check.h - does the Redis of a fleet answer, and who works there? A health check
 * of the console.
 *
 * Each look connects, logs in, sends PING, asks for the workers of all jobs and goes: the
 * console holds no connection to Redis between two looks, so that one that hangs costs
 * nothing but its own check.
 *
 *     e = sn_redis_check_new("redis://:secret@db.example", &check, diag);
 *     status = sn_redis_check_ask(check, ctx, reason);
 *     sn_redis_check_free(check);
 *
 * Time    2 s to connect, 2 s to answer.
 * Memory  the URL, which is wiped, a reply of up to 64 KiB, and the workers as JSON, up
 *         to 256 KiB.
 * Threads new and free: the console's; ask: one at a time; put_fleet: any.
 */
#ifndef SN_REDIS_CHECK_H
#define SN_REDIS_CHECK_H

#include "base/buf.h"
#include "seine/diag.h"
#include "seine/health.h"

typedef struct sn_redis_check sn_redis_check;

/* CONFIG: not a URL of Redis, and the diag says why without showing it. NOMEM. */
SEINE_MUST_CHECK seine_err sn_redis_check_new(const char *url, sn_redis_check **out_check,
                                              seine_diag *diag);
void sn_redis_check_free(sn_redis_check *c); /* NULL is fine */

/* `arg` is the check. */
seine_health_status sn_redis_check_ask(void *arg, seine_ctx *ctx,
                                       char reason[SEINE_HEALTH_REASON]);

/* The URL as people may see it. Borrowed. */
const char *sn_redis_check_shown(const sn_redis_check *c);

/* Adds the members "jobs" and "workers" as of the last look. */
void sn_redis_check_put_fleet(sn_redis_check *c, sn_buf *b);

#endif
