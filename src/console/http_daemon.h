/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_daemon.h - the console's HTTP server: libmicrohttpd inside our loop.
 *
 * The library's epoll descriptor is one readable source of the loop. It parses; whatever
 * it is too lenient about is refused here, before a route is looked at: more than one
 * `Host`, `Content-Length` or `Transfer-Encoding`, both of these together, heads above 16
 * KiB, targets above 4 KiB, and requests that are not whole 15 s after their first byte.
 *
 * Time    the loop's, and the library's own for idle connections.
 * Memory  at most 32 KiB per connection for the head, and the body of its route.
 * Threads the console's alone.
 */
#ifndef SN_HTTP_DAEMON_H
#define SN_HTTP_DAEMON_H

#include "console/console.h"
#include "console/request_rules.h"

enum { SN_HEAD_MOST = 16384, SN_TARGET_MOST = 4096 };

typedef struct sn_http_daemon sn_http_daemon;

/* `listener` listens and is the daemon's from here on, also on failure. CONFIG: the diag
 * says which proxy is none; NOMEM, IO. */
SEINE_MUST_CHECK seine_err sn_http_daemon_new(seine_console *c, int listener,
                                              const sn_request_rules *rules,
                                              seine_diag *diag);
/* Accepts nobody any more; requests that have come are answered. */
void sn_http_daemon_stop(seine_console *c);
bool sn_http_daemon_is_busy(const seine_console *c); /* a request is not answered yet */
void sn_http_daemon_free(seine_console *c);
void sn_http_daemon_poke(seine_console *c); /* it has something to do in the next turn */

/* Upgrades. The socket belongs to `close`, which gives it back to the daemon. */
typedef struct sn_upgrade {
    int fd;
    sn_str early;                /* bytes that came behind the request */
    void (*close)(void *handle); /* closes the descriptor; once */
    void *handle;
} sn_upgrade;

/* Answers the call with 101; `take` gets the socket. */
void sn_call_upgrade(sn_call *call, const char *accept_key, const char *protocol,
                     void (*take)(sn_call *call, const sn_upgrade *u));
/* A field of the request, by its name; ptr NULL: not there. Valid while the call is. */
sn_str sn_call_field(const sn_call *call, const char *name);

#endif
