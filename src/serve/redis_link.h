/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_link.h - a client of Redis on an event loop.
 *
 *     sn_redis_opts opts = {.url = &url};
 *     e = sn_redis_link_new(&loop, &opts, &link, &diag);
 *     e = sn_redis_ask(sn_redis_link_client(link), loop.now, words, n, on_reply, arg);
 *     sn_loop_turn(&loop, SEINE_NEVER);
 *
 * The link resolves the name, connects without blocking, to each address in turn, and
 * moves bytes. All commands that are asked in one turn of the loop leave in one send.
 *
 * Time    the loop's.
 * Memory  the client's (store/redis.h), and 16 KiB to read into.
 * Threads one owner: the loop's.
 */
#ifndef SN_REDIS_LINK_H
#define SN_REDIS_LINK_H

#include "net/loop.h"
#include "store/redis.h"

typedef struct sn_redis_link sn_redis_link;

/* Connects in the next turn. Of the hooks only up, down and arg are the caller's.
 * CONFIG, NOMEM, NO_FILES. */
SEINE_MUST_CHECK seine_err sn_redis_link_new(sn_loop *loop, const sn_redis_opts *opts,
                                             sn_redis_link **out_link, seine_diag *diag);

/* Sends what can be sent at once, and calls back all that waits. */
void sn_redis_link_free(sn_redis_link *l);

sn_redis *sn_redis_link_client(sn_redis_link *l);

#endif
