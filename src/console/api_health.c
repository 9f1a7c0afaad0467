/* SPDX-License-Identifier: Apache-2.0 */
/* api_health.c - handlers of routes_health.h. None of them runs a check. */
#include <string.h>

#include "console/monitor.h"

static const char text_type[] = "text/plain; charset=utf-8";

void
sn_api_livez(sn_call *call)
{
    const sn_monitor *m = call->console->part[SN_PART_MONITOR];
    bool alive = sn_monitor_is_alive(m);

    sn_call_fixed(call, alive ? 200 : 503, text_type,
                  alive ? SN_STR("ok\n") : SN_STR("engine\n"));
}

/* Names of `?exclude=a,b` in the arena; NULL: no memory. */
static const char *const *
excluded(sn_call *call)
{
    sn_str list = {NULL, 0}, name;
    const char **names = SN_ARENA_ARRAY(&call->arena, const char *, SEINE_HEALTH_MAX + 1);
    size_t n = 0;

    if (!names)
        return NULL;
    if (sn_call_query(call, "exclude", &list))
        while (n < SEINE_HEALTH_MAX && sn_str_next(&list, ',', &name))
            if ((names[n] = sn_arena_text(&call->arena, name)))
                n++;
    names[n] = NULL;
    return names;
}

static void
show_health(sn_call *call, const seine_health_view *view)
{
    const sn_monitor *m = call->console->part[SN_PART_MONITOR];
    seine_text text = {NULL, 0};
    bool ready = false;
    seine_err e = seine_health_text(m->health, view, &ready, &text);

    if (e == SEINE_OK)
        sn_call_copy(call, ready ? 200 : 503, text_type, (sn_str){text.bytes, text.len});
    else if (e == SEINE_E_UNKNOWN)
        sn_call_fail(call, SN_API_NOT_FOUND, "no such check", "/readyz?verbose");
    else
        sn_call_fail_err(call, e);
    seine_text_free(&text);
}

/* Reasons are for those who may see runs. */
void
sn_api_readyz(sn_call *call)
{
    sn_str value;
    bool verbose = sn_call_query(call, "verbose", &value);

    if (verbose && call->user.role < SN_ROLE_VIEWER) {
        sn_call_fail(call, SN_API_UNAUTHORIZED, "?verbose needs a token", NULL);
        return;
    }
    show_health(call,
                &(seine_health_view){.verbose = verbose, .exclude = excluded(call)});
}

void
sn_api_readyz_check(sn_call *call)
{
    char *name = sn_arena_text(&call->arena, call->param[0]);

    if (name)
        show_health(call, &(seine_health_view){.verbose = true, .only = name});
    else
        sn_call_fail_err(call, SEINE_E_NOMEM);
}

void
sn_api_metrics(sn_call *call)
{
    const sn_monitor *m = call->console->part[SN_PART_MONITOR];
    sn_str open = SN_STR("application/openmetrics-text");
    bool is_open = call->accept.len >= open.len &&
                   memmem(call->accept.ptr, call->accept.len, open.ptr, open.len) != NULL;
    seine_text text = {NULL, 0};

    seine_process_metrics_refresh(m->process);
    if (call->console->opts.refresh)
        call->console->opts.refresh(call->console->opts.refresh_arg);
    seine_err e = seine_metrics_text(
        call->console->metrics,
        is_open ? SEINE_METRICS_OPENMETRICS : SEINE_METRICS_PROMETHEUS, &text);
    if (e == SEINE_OK)
        sn_call_copy(call, 200,
                     is_open
                         ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                         : "text/plain; version=0.0.4; charset=utf-8",
                     (sn_str){text.bytes, text.len});
    else
        sn_call_fail_err(call, e);
    seine_text_free(&text);
}
