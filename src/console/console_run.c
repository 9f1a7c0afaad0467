/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/console_run.h"

#include <stdio.h>

#include "console/run_table.h"

void
seine_console_run_begin(seine_console_run *r, seine_fetch *f, void (*stop)(void *arg),
                        void *arg)
{
    if (!r || !f)
        return;
    pthread_mutex_lock(&r->lock);
    r->fetch = f;
    r->stop = stop;
    r->stop_arg = arg;
    bool is_told = r->is_told;
    pthread_mutex_unlock(&r->lock);
    if (is_told && stop)
        stop(arg);
    r->begun_mail.deliver = sn_runs_on_begun;
    sn_console_post(r->console, &r->begun_mail);
}

void
seine_console_run_end(seine_console_run *r)
{
    seine_fetch_stats s = {0};

    if (!r || !r->fetch) /* this thread has set it */
        return;
    seine_fetch_stats_get(r->fetch, &s);
    pthread_mutex_lock(&r->lock);
    r->at_end = s;
    r->fetch = NULL;
    while (r->users > 0)
        pthread_cond_wait(&r->is_free, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

void
seine_console_run_rows(seine_console_run *r, uint64_t n)
{
    if (r)
        atomic_fetch_add_explicit(&r->rows, n, memory_order_relaxed);
}

void
seine_console_run_say(seine_console_run *r, const char *line)
{
    if (!r || !line)
        return;
    pthread_mutex_lock(&r->lock);
    snprintf(r->said, sizeof r->said, "%s", line);
    pthread_mutex_unlock(&r->lock);
}

void
seine_console_run_done(seine_console_run *r, int code)
{
    if (!r)
        return;
    r->code = code;
    r->done_mail.deliver = sn_runs_on_done;
    sn_console_post(r->console, &r->done_mail);
}

const char *
seine_console_run_id(const seine_console_run *r)
{
    return r ? r->meta.id : "";
}

seine_err
seine_console_run_add(struct seine_console *c, const char *title,
                      seine_console_run **out_run)
{
    char id[SN_ULID];
    sn_runs *t = c ? sn_runs_of(c) : NULL;

    if (!t || !out_run)
        return SEINE_E_INVAL;
    sn_ulid_new(sn_console_wall(c), id);
    sn_console_run *r = sn_runs_new_run(c, id);
    if (!r)
        return SEINE_E_NOMEM;
    r->is_guest = true;
    snprintf(r->meta.title, sizeof r->meta.title, "%s", title ? title : "");
    r->meta.state = SN_RUN_RUNNING;
    r->meta.started_ms = sn_console_wall_ms(c);
    r->begun = c->loop.clock->now(c->loop.clock);
    r->added_mail.deliver = sn_runs_on_added;
    sn_console_post(c, &r->added_mail);
    *out_run = r;
    return SEINE_OK;
}
