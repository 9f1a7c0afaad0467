/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate_server.h"

#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "base/time.h"
#include "serve/gate_server_parts.h"

#define GRACE      SEINE_SECS(2) /* for answers that a client has not read */
#define FIRST_WAIT SEINE_SECS(1) /* for Redis, before the first request */

static void *
serve(void *arg)
{
    seine_gate_server *s = arg;

    while (!s->is_ending)
        sn_loop_turn(&s->loop, SEINE_NEVER);
    sn_http_server_stop(s->http);
    seine_time end = sn_time_add(s->loop.now, GRACE);
    while (sn_http_server_is_busy(s->http) && s->loop.now < end)
        sn_loop_turn(&s->loop, end);
    return NULL;
}

/* Signals are for the program's own threads. */
static seine_err
start_thread(seine_gate_server *s)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    s->is_running = pthread_create(&s->thread, NULL, serve, s) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return s->is_running ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
open_doors(seine_gate_server *s, seine_diag *diag)
{
    seine_err e = sn_http_server_listen(s->http, s->opts.listen, SN_GATE_DOOR, diag);

    if (e != SEINE_OK || !s->opts.admin)
        return e;
    e = sn_http_server_listen(s->http, s->opts.admin, SN_GATE_ADMIN_DOOR, diag);
    if (e != SEINE_OK && diag && diag->member[0])
        memcpy(diag->member, "admin", sizeof "admin");
    return e;
}

static seine_err
start(seine_gate_server *s, seine_diag *diag)
{
    sn_http_opts http = SN_HTTP_OPTS;
    sn_gate_redis_opts redis = {s->opts.redis, s->opts.redis_timeout, s->opts.log};

    http.max_connections = s->opts.max_connections;
    http.handle = sn_gate_handle;
    http.arg = s;
    seine_err e = sn_gate_metrics_new(s);
    if (e == SEINE_OK)
        e = sn_http_server_new(&s->loop, &http, &s->http);
    if (e == SEINE_OK && s->opts.redis)
        e = sn_gate_redis_new(&s->loop, &redis, &s->redis, diag);
    if (e == SEINE_OK && s->opts.redis)
        sn_gate_redis_wait(s->redis, FIRST_WAIT);
    if (e == SEINE_OK)
        e = open_doors(s, diag);
    if (e == SEINE_OK)
        e = start_thread(s);
    return e;
}

seine_err
seine_gate_server_new(const seine_gate_server_opts *opts, seine_gate_server **out_server,
                      seine_diag *diag)
{
    seine_gate_server_opts own;

    sn_diag_clear(diag);
    if (!out_server || !sn_opts_read(&own, sizeof own, sizeof own, opts) || !own.gate ||
        !own.listen)
        return SEINE_E_INVAL;
    seine_gate_server *s = sn_zalloc(sizeof *s);
    if (!s)
        return SEINE_E_NOMEM;
    s->opts = own;
    seine_err e = sn_loop_init(&s->loop, seine_clock_system());
    if (e != SEINE_OK) {
        sn_free(s);
        return e;
    }
    e = start(s, diag);
    if (e != SEINE_OK) {
        seine_gate_server_free(s);
        return e;
    }
    *out_server = s;
    return SEINE_OK;
}

void
seine_gate_server_free(seine_gate_server *s)
{
    if (!s)
        return;
    if (s->is_running) {
        s->is_ending = true;
        sn_loop_wake(&s->loop);
        pthread_join(s->thread, NULL);
    }
    sn_gate_redis_free(s->redis); /* answers what waits for it */
    sn_http_server_free(s->http);
    sn_gate_spare_free(s);
    sn_loop_fini(&s->loop);
    seine_metrics_free(s->metrics);
    sn_free(s);
}

const char *
seine_gate_server_where(const seine_gate_server *s, const char *place)
{
    if (!s || !place)
        return NULL;
    return strcmp(place, "http") == 0 ? sn_http_server_where(s->http, SN_GATE_DOOR)
           : strcmp(place, "admin") == 0
               ? sn_http_server_where(s->http, SN_GATE_ADMIN_DOOR)
               : NULL;
}
