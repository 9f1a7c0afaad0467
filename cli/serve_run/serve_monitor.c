/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_run/serve_monitor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <seine/health.h>
#include <seine/version.h>

#include "screen/say.h"

#ifdef SEINE_HAS_CONSOLE

int
serve_monitor_open(serve_monitor *m, seine_log *log)
{
    const seine_build build = {seine_version(), SEINE_COMMIT, SEINE_COMPILER};

    *m = (serve_monitor){.metrics = NULL};
    if (seine_metrics_new(&m->metrics) == SEINE_OK &&
        seine_process_metrics_new(m->metrics, &build, log, &m->process) == SEINE_OK)
        return SAY_DONE;
    serve_monitor_close(m);
    return say_fail(SAY_MACHINE, NULL, "out of memory");
}

void
serve_monitor_refresh(void *arg)
{
    serve_monitor *m = arg;

    seine_process_metrics_refresh(m->process);
}

static bool
is_alive(void *arg)
{
    const serve_monitor *m = arg;
    seine_health_result r;

    return seine_health_get(seine_console_health(m->console), "engine", &r) == SEINE_OK &&
           r.status != SEINE_HEALTH_UNHEALTHY;
}

static bool
is_ready(void *arg)
{
    const serve_monitor *m = arg;

    return seine_health_is_ready(seine_console_health(m->console));
}

int
serve_monitor_listen(serve_monitor *m, const service_config *set,
                     const seine_console *console)
{
    const metrics_http_opts opts = {.metrics = m->metrics,
                                    .refresh = serve_monitor_refresh,
                                    .is_alive = is_alive,
                                    .is_ready = is_ready,
                                    .arg = m};
    const char *host = set->monitoring.prometheus_host;
    char address[96];

    m->console = console;
    if (set->monitoring.prometheus_port == 0)
        return SAY_DONE;
    snprintf(address, sizeof address, strchr(host, ':') ? "[%s]:%" PRIu64 : "%s:%" PRIu64,
             host, set->monitoring.prometheus_port);
    return metrics_http_new(address, &opts, &m->http);
}

void
serve_monitor_shut(serve_monitor *m)
{
    metrics_http_free(m->http);
    m->http = NULL;
}

void
serve_monitor_close(serve_monitor *m)
{
    serve_monitor_shut(m);
    seine_process_metrics_free(m->process);
    seine_metrics_free(m->metrics);
    *m = (serve_monitor){.metrics = NULL};
}

#endif
