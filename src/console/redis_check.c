/* SPDX-License-Identifier: Apache-2.0 */
#include "console/redis_check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "console/json_out.h"
#include "seine/fleet_view.h"
#include "seine/plumbing.h"
#include "store/redis_sync.h"

enum {
    REPLY_MOST = 64 << 10,
    FLEET_MOST = 128 << 10, /* bytes of JSON, of the jobs and of the workers */
    JOBS_MOST = 64
};
#define PATIENCE SEINE_SECS(2)

struct sn_redis_check {
    sn_redis_url url;
    char shown[SN_REDIS_SHOWN];
    char *text; /* the URL, for a view of the fleet; wiped */
    pthread_mutex_t lock;
    sn_buf jobs, workers; /* elements of arrays, of the last look; under the lock */
};

seine_err
sn_redis_check_new(const char *url, sn_redis_check **out_check, seine_diag *diag)
{
    sn_redis_check *c = sn_zalloc(sizeof *c);

    if (!c)
        return SEINE_E_NOMEM;
    seine_err e = sn_redis_url_parse(sn_str_of(url), &c->url, diag);
    size_t n = strlen(url) + 1;
    c->text = e == SEINE_OK ? sn_alloc(n) : NULL;
    if (e == SEINE_OK && !c->text) {
        sn_redis_url_fini(&c->url);
        e = SEINE_E_NOMEM;
    }
    if (e != SEINE_OK) {
        sn_free(c);
        return e;
    }
    memcpy(c->text, url, n);
    pthread_mutex_init(&c->lock, NULL);
    sn_buf_init(&c->jobs, FLEET_MOST);
    sn_buf_init(&c->workers, FLEET_MOST);
    sn_redis_url_shown(&c->url, c->shown);
    *out_check = c;
    return SEINE_OK;
}

void
sn_redis_check_free(sn_redis_check *c)
{
    if (!c)
        return;
    sn_redis_url_fini(&c->url);
    seine_wipe(c->text, strlen(c->text));
    sn_free(c->text);
    sn_buf_fini(&c->jobs);
    sn_buf_fini(&c->workers);
    pthread_mutex_destroy(&c->lock);
    sn_free(c);
}

const char *
sn_redis_check_shown(const sn_redis_check *c)
{
    return c->shown;
}

/* The fleet. */

typedef struct look {
    seine_fleet_view *view;
    char *names[JOBS_MOST];
    size_t n;
    const char *job;
    sn_buf jobs, workers;
} look;

static void
keep_name(seine_view name, void *arg)
{
    look *l = arg;
    char *copy = l->n < JOBS_MOST ? sn_zalloc(name.len + 1) : NULL;

    if (!copy)
        return;
    memcpy(copy, name.ptr, name.len);
    l->names[l->n++] = copy;
}

static void
put_worker(const seine_fleet_worker *w, void *arg)
{
    look *l = arg;
    sn_buf *b = &l->workers;
    size_t before = b->len;

    sn_buf_text(b, b->len > 0 ? ",{" : "{");
    sn_json_out_str(b, "name", sn_str_slice(w->id, 0, 8));
    sn_json_out_str(b, "id", w->id);
    sn_json_out_text(b, "state", w->silent_ms < 15000 ? "running" : "silent");
    sn_json_out_str(b, "host", w->host);
    sn_json_out_text(b, "run", l->job);
    sn_json_out_int(b, "weight", (int64_t)w->weight);
    sn_json_out_int(b, "silent_ms", w->silent_ms);
    sn_buf_char(b, '}');
    if (b->len >= FLEET_MOST - 1024) /* the others are too many to show */
        sn_buf_truncate(b, before);
}

static void
put_job(look *l, const char *name)
{
    seine_diag diag = SEINE_DIAG;
    seine_fleet_about a;
    sn_buf *b = &l->jobs;

    if (seine_fleet_view_job(l->view, name, &a, &diag) != SEINE_OK)
        return;
    sn_buf_text(b, b->len > 0 ? ",{" : "{");
    sn_json_out_text(b, "name", name);
    sn_json_out_text(b, "state", a.state);
    sn_json_out_int(b, "workers", a.workers);
    sn_json_out_int(b, "partitions", a.partitions);
    sn_json_out_int(b, "held", a.held);
    sn_json_out_int(b, "blocks", (int64_t)a.blocks);
    sn_json_out_int(b, "records", (int64_t)a.emitted);
    sn_json_out_int(b, "failed", (int64_t)a.failed);
    sn_buf_char(b, '}');
    l->job = name;
    (void)!seine_fleet_view_workers(l->view, name, put_worker, l, &diag);
}

/* What cannot be read is not shown; whether Redis answers is said by PING. */
static void
look_at_fleet(sn_redis_check *c)
{
    const char *url = c->text;
    seine_diag diag = SEINE_DIAG;
    look l = {.view = NULL};

    sn_buf_init(&l.jobs, FLEET_MOST);
    sn_buf_init(&l.workers, FLEET_MOST);
    if (seine_fleet_view_open(&url, 1, &l.view, &diag) == SEINE_OK)
        (void)!seine_fleet_view_names(l.view, keep_name, &l, &diag);
    for (size_t i = 0; i < l.n; i++) {
        put_job(&l, l.names[i]);
        sn_free(l.names[i]);
    }
    seine_fleet_view_free(l.view);
    pthread_mutex_lock(&c->lock);
    sn_buf jobs = c->jobs, workers = c->workers;
    c->jobs = l.jobs;
    c->workers = l.workers;
    pthread_mutex_unlock(&c->lock);
    sn_buf_fini(&jobs);
    sn_buf_fini(&workers);
}

void
sn_redis_check_put_fleet(sn_redis_check *c, sn_buf *b)
{
    pthread_mutex_lock(&c->lock);
    sn_json_out_name(b, "jobs");
    sn_buf_char(b, '[');
    sn_buf_str(b, sn_buf_view(&c->jobs));
    sn_buf_char(b, ']');
    sn_json_out_name(b, "workers");
    sn_buf_char(b, '[');
    sn_buf_str(b, sn_buf_view(&c->workers));
    sn_buf_char(b, ']');
    pthread_mutex_unlock(&c->lock);
}

seine_health_status
sn_redis_check_ask(void *arg, seine_ctx *ctx, char reason[SEINE_HEALTH_REASON])
{
    sn_redis_check *c = arg;
    const sn_redis_sync_opts opts = {
        .url = &c->url, .max_bytes = REPLY_MOST, .connect = PATIENCE, .reply = PATIENCE};
    const sn_str ping[] = {SN_STR("PING")};
    const sn_redis_reply *reply = NULL;
    sn_redis_sync *r = NULL;
    seine_err e = sn_redis_sync_new(&opts, &r);

    (void)ctx; /* both waits end before its deadline */
    if (e == SEINE_OK)
        e = sn_redis_sync_open(r);
    if (e == SEINE_OK)
        e = sn_redis_sync_ask(r, ping, 1, &reply);
    if (e != SEINE_OK)
        snprintf(reason, SEINE_HEALTH_REASON, "Redis %s",
                 r ? sn_redis_sync_why(r) : seine_err_text(e));
    sn_redis_sync_free(r);
    if (e == SEINE_OK)
        look_at_fleet(c);
    return e == SEINE_OK ? SEINE_HEALTH_HEALTHY : SEINE_HEALTH_UNHEALTHY;
}
