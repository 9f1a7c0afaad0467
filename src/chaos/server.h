/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - the event loop of the server, on one thread.
 *
 * Everything is edge-triggered and registered once. A watch is anything with a
 * descriptor; the loop calls it with its events, rings the alarms that are due, and waits
 * for the next event or alarm.
 *
 *     seine_err e = snc_server_init(&server, &opts);
 *     while (!server.stop)
 *         snc_server_turn(&server);
 *     snc_server_fini(&server);
 *
 * It listens on all addresses of the device `lo`, that is on all of 127/8 and nowhere
 * else, with one socket a door: HTTP, SOCKS5, with `tls` HTTPS. Two more ports are for
 * tests of failure: `dead` refuses every connection, `hole` never replies to a SYN.
 *
 * Time    the system's monotonic clock: once a turn, and whenever bytes arrive. Arrival
 *         times come from the kernel, however late the server reads.
 * Memory  100 KiB, and about 600 bytes per connection while it idles.
 * Threads one owner.
 */
#ifndef SNC_SERVER_H
#define SNC_SERVER_H

#include "chaos/alarm.h"
#include "chaos/tls.h"
#include "chaos/world.h"
#include "seine/chaos.h"
#include "seine/clock.h"

typedef struct snc_watch snc_watch;

struct snc_watch {
    void (*ready)(snc_watch *self, uint32_t events);
};

/* The listeners. */
typedef enum snc_door_kind {
    SNC_DOOR_HTTP,
    SNC_DOOR_HTTPS,
    SNC_DOOR_SOCKS,
    SNC_DOORS
} snc_door_kind;

typedef struct snc_door {
    snc_watch watch;
    struct snc_server *server;
    snc_door_kind kind;
    int fd; /* -1: closed */
} snc_door;

typedef struct snc_server {
    snc_world world;
    seine_clock *clock;
    seine_time now;
    int64_t wall; /* when bytes arrived last, on the wall clock */
    int epoll, spare;
    snc_door doors[SNC_DOORS];
    int dead, hole, filler;
    snc_tls *tls; /* NULL: no HTTPS */
    snc_alarms alarms;
    struct snc_connection *connections; /* a list of all */
    uint32_t open, most;
    uint64_t next_id;
    const char *range; /* the addresses it listens on */
    bool stop;
    struct snc_resolver *resolver; /* NULL: no name server */
    snc_request req;               /* the current request */
    snc_response response;         /* its response, until it has to wait */
    char in[SNC_REQUEST_HEAD];
    char out[32768];
} snc_server;

/* INVAL: options that contradict each other; CONFIG: a bad script; UNKNOWN: no folder of
 * files; NO_FILES; IO: the port is taken, or there are no sockets; NOMEM. */
SEINE_MUST_CHECK seine_err snc_server_init(snc_server *s, const seine_chaos_opts *opts);
void snc_server_fini(snc_server *s);

/* Waits for events or an alarm, and handles them. */
void snc_server_turn(snc_server *s);

/* IO: the kernel refuses to watch the descriptor. */
SEINE_MUST_CHECK seine_err snc_server_watch(snc_server *s, int fd, uint32_t events,
                                            snc_watch *watch);

/* A socket on that port (0: any) of the device lo; `any`: of every device. -1 and errno
 * on failure. */
int snc_server_socket(int type, uint32_t address, uint16_t port, bool any,
                      bool *out_bound);
uint16_t snc_server_port(int fd);

#endif
