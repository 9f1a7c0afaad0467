/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_socket.h - the bytes of a connection to Redis, over TCP or a socket in the file
 * system, for a thread that may block.
 *
 *     #include "seine/clock.h"
 *     sn_redis_socket s;
 *     sn_redis_socket_init(&s, &url, seine_clock_system());
 *     sn_redis_wire wire = sn_redis_socket_wire(&s);
 *
 * Time    of the clock.
 * Memory  the caller's.
 * Threads one owner, which blocks.
 */
#ifndef SN_REDIS_SOCKET_H
#define SN_REDIS_SOCKET_H

#include "store/redis_sync.h"

typedef struct sn_redis_socket {
    const sn_redis_url *url;
    seine_clock *clock;
    int fd; /* -1: none */
} sn_redis_socket;

void sn_redis_socket_init(sn_redis_socket *s, const sn_redis_url *url,
                          seine_clock *clock);
sn_redis_wire sn_redis_socket_wire(sn_redis_socket *s);

#endif
