/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/run_metrics.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/clock.h>
#include <seine/plumbing.h>
#include <seine/version.h>

#include "config/service_config.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"

#define EVERY SEINE_SECS(10)

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static void
refresh_process(void *arg)
{
    run_metrics *o = arg;

    seine_process_metrics_refresh(o->process);
}

static bool
is_alive(void *arg)
{
    run_metrics *o = arg;

    return now_is() - atomic_load(&o->ticked) < SEINE_SECS(5);
}

static bool
is_ready(void *arg)
{
    run_metrics *o = arg;

    return is_alive(arg) && atomic_load(&o->ready);
}

bool
run_metrics_write(run_metrics *o)
{
    seine_text text = {NULL, 0};

    if (!o->file || !o->metrics)
        return true;
    refresh_process(o);
    if (seine_metrics_text(o->metrics, SEINE_METRICS_PROMETHEUS, &text) != SEINE_OK) {
        errno = ENOMEM;
        return false;
    }
    bool fine = seine_file_replace(o->file, text.bytes, text.len);
    seine_text_free(&text);
    return fine;
}

/* monitoring.metrics_per_host */
static int
open_hosts(run_metrics *o, const args *a)
{
    service_config read;
    int code = service_config_read(a->config, environ, &read);

    if (code == SAY_DONE)
        host_metrics_open(&o->hosts, read.monitoring.metrics_per_host, o->metrics);
    service_config_free(&read);
    return code;
}

int
run_metrics_open(run_metrics *o, const args *a, seine_log *log)
{
    const seine_build build = {seine_version(), SEINE_COMMIT, SEINE_COMPILER};
    const fetch_settings *set = a->settings;
    metrics_http_opts opts = {
        .refresh = refresh_process, .is_alive = is_alive, .is_ready = is_ready, .arg = o};
    int code = SAY_DONE;

    *o = (run_metrics){.file = set->metrics_file, .next_write = SEINE_NEVER};
    if (run_host_is_inner(a)) { /* the server shows them */
        o->metrics = a->host->metrics;
        o->is_borrowed = true;
        return SAY_DONE;
    }
    if (!set->metrics && !set->metrics_file)
        return SAY_DONE;
    atomic_store(&o->ticked, now_is());
    if (seine_metrics_new(&o->metrics) != SEINE_OK ||
        seine_process_metrics_new(o->metrics, &build, log, &o->process) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    if (code == SAY_DONE && o->file && !run_metrics_write(o))
        code =
            say_fail(SAY_USAGE, "another name", "--metrics-file: cannot write '%s': %s",
                     show(o->file).text, show_errno(errno).text);
    o->next_write = o->file ? now_is() + EVERY : SEINE_NEVER;
    if (code == SAY_DONE)
        code = open_hosts(o, a);
    opts.metrics = o->metrics;
    if (code == SAY_DONE && set->metrics)
        code = metrics_http_new(set->metrics, &opts, &o->http);
    if (code != SAY_DONE)
        run_metrics_close(o);
    return code;
}

void
run_metrics_close(run_metrics *o)
{
    metrics_http_free(o->http);
    host_metrics_close(&o->hosts);
    seine_process_metrics_free(o->process);
    if (!o->is_borrowed)
        seine_metrics_free(o->metrics);
    o->http = NULL;
    o->process = NULL;
    o->metrics = NULL;
}

void
run_metrics_tick(run_metrics *o, seine_fetch *fetch, seine_time now)
{
    atomic_store(&o->ticked, now);
    host_metrics_tick(&o->hosts, fetch, now);
    if (now < o->next_write)
        return;
    run_metrics_write(o);
    o->next_write = now + EVERY;
}

void
run_metrics_set_ready(run_metrics *o, bool ready)
{
    atomic_store(&o->ready, ready);
}

seine_time
run_metrics_when(const run_metrics *o)
{
    return o->next_write;
}
