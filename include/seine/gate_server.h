/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_server.h - a gate that proxies ask over HTTP: nginx, Envoy, Caddy, Traefik.
 *
 *     seine_gate_server *server;
 *     seine_gate_server_opts opts = SEINE_GATE_SERVER_OPTS;
 *     opts.gate = gate;                                     seine/gate.h
 *     opts.listen = "127.0.0.1:8989";
 *     if (seine_gate_server_new(&opts, &server, &diag) != SEINE_OK)
 *         return usage();
 *     serve_until_a_signal_comes();
 *     seine_gate_server_free(server);
 *
 * `/check` answers 200 or 429, `/nginx` 204 or 403, since nginx knows no 429 there.
 * `/livez`, `/readyz` and `/metrics` answer on `admin` or, without one, to clients of
 * this machine.
 *
 * This header belongs to the archive libseine-serve.a, which needs libseine.a.
 *
 * Time    the system's monotonic clock.
 * Memory  about 3 KiB per connection, besides the gate's.
 * Threads one owner; the server runs on a thread of its own, and uses the gate from it.
 */
#ifndef SEINE_GATE_SERVER_H
#define SEINE_GATE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/gate.h"
#include "seine/log.h"

typedef struct seine_gate_server seine_gate_server;

typedef struct seine_gate_server_opts {
    size_t size;              /* of this struct: SEINE_GATE_SERVER_OPTS sets it */
    seine_gate *gate;         /* borrowed; outlives the server */
    const char *listen;       /* "127.0.0.1:8989"; port 0: the kernel chooses one */
    const char *admin;        /* where /metrics is; NULL: at `listen`, for this machine */
    bool demo;                /* other paths are limited, too, and answer 200 */
    uint32_t max_connections; /* 0: as many as there are descriptors, up to 65,536 */
    seine_log *log;           /* borrowed; NULL: none */
    const char *redis; /* redis://… or unix://…: gates with the same server have one
                          budget together; NULL: each has its own */
    seine_span redis_timeout; /* of one decision; later the gate goes on alone */
} seine_gate_server_opts;

#define SEINE_GATE_SERVER_OPTS                                                        \
    {                                                                                 \
        sizeof(seine_gate_server_opts), NULL, "127.0.0.1:8989", NULL, false, 0, NULL, \
            NULL, SEINE_MS(100)                                                       \
    }

SEINE_BEGIN

/* Listens and serves on return. CONFIG: the diag says what is wrong with an address; IO:
 * it cannot be had, and the diag says why; INVAL, NO_FILES, NOMEM. */
SEINE_MUST_CHECK seine_err seine_gate_server_new(const seine_gate_server_opts *opts,
                                                 seine_gate_server **out_server,
                                                 seine_diag *diag);

/* Answers the requests that have come, then ends its thread; NULL is fine. */
void seine_gate_server_free(seine_gate_server *s);

/* Where "http" or "admin" is: "127.0.0.1:8989". NULL: nowhere. Borrowed. */
const char *seine_gate_server_where(const seine_gate_server *s, const char *place);

SEINE_END

#endif
