/* SPDX-License-Identifier: Apache-2.0 */
/* gate_server_parts.h - the struct that the files of the gate's server share. */
#ifndef SN_GATE_SERVER_PARTS_H
#define SN_GATE_SERVER_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "gate/gate.h"
#include "net/loop.h"
#include "seine/gate_server.h"
#include "seine/metrics.h"
#include "serve/gate_redis.h"
#include "serve/http_server.h"

enum { SN_GATE_DOOR, SN_GATE_ADMIN_DOOR };

struct seine_gate_server {
    seine_gate_server_opts opts;
    sn_loop loop;
    sn_http_server *http;
    sn_gate_redis *redis;          /* NULL: the budget is this gate's alone */
    struct sn_gate_waiting *spare; /* to be used again */
    seine_metrics *metrics;
    seine_http_metrics *http_metrics;
    pthread_t thread;
    bool is_running; /* the thread is there */
    atomic_bool is_ending;
    bool has_warned;     /* of a field that does not count */
    uint32_t shown_open; /* connections, as the gauge has it */
};

/* How the answer to a request is shaped. */
typedef enum sn_gate_route {
    SN_GATE_CHECK, /* /check and below */
    SN_GATE_NGINX,
    SN_GATE_DEMO,
    SN_GATE_LIVEZ,
    SN_GATE_READYZ,
    SN_GATE_METRICS,
    SN_GATE_NOWHERE
} sn_gate_route;

/* Frees what decisions that wait are kept in. */
void sn_gate_spare_free(seine_gate_server *s);

/* The handler of the HTTP server. */
void sn_gate_handle(sn_http_call *call, void *arg);

/* Registers the families of the HTTP server. */
SEINE_MUST_CHECK seine_err sn_gate_metrics_new(seine_gate_server *s);
/* Everything as the text of Prometheus. */
void sn_gate_metrics_text(seine_gate_server *s, sn_buf *out);
void sn_gate_metrics_count(seine_gate_server *s, const sn_http_call *call,
                           sn_gate_route route, int status);

#endif
