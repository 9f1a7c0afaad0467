/* SPDX-License-Identifier: Apache-2.0 */
#include "console/docs.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/preview.h"
#include "console/socket.h"

enum { SWEEP_S = 15, RETAIN_S = 3600 };

sn_docs *
sn_docs_of(const seine_console *c)
{
    return c->part[SN_PART_DOCS];
}

/* Metrics. */

enum { PREVIEW_WORKERS = 1, PAGE_WORKERS = 2, POOL_ROOM = 8 };
enum { QUEUE_STORE, QUEUE_PREVIEW };

static seine_err
register_workers(sn_docs *d)
{
    static const char *const pools[] = {"preview", "page"};
    const seine_label all = {"pool", pools, 2}, preview = {"pool", pools, 1};
    seine_metrics *m = d->console->metrics;
    seine_gauge *threads = NULL;
    seine_err e = seine_metrics_gauge(m, "seine_worker_threads", "Threads of a pool.",
                                      &all, 1, &threads);

    if (e == SEINE_OK)
        e = seine_metrics_counter(m, "seine_worker_busy_seconds_total",
                                  "Time that threads of a pool have worked.", &preview, 1,
                                  &d->busy);
    if (e == SEINE_OK) {
        seine_gauge_set(threads, 0, PREVIEW_WORKERS);
        seine_gauge_set(threads, 1, PAGE_WORKERS);
    }
    return e;
}

static seine_err
register_queues(sn_docs *d)
{
    static const char *const queues[] = {
        [QUEUE_STORE] = "cstore", [QUEUE_PREVIEW] = "preview"};
    const seine_label queue = {"queue", queues, 2};
    seine_metrics *m = d->console->metrics;
    seine_gauge *room = NULL;
    seine_err e = seine_metrics_gauge(m, "seine_queue_depth", "What waits in a queue.",
                                      &queue, 1, &d->depth);

    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "seine_queue_capacity", "What a queue has room for.",
                                &queue, 1, &room);
    if (e == SEINE_OK)
        e = seine_metrics_counter(m, "seine_queue_rejected_total",
                                  "What a full queue did not take.", &queue, 1,
                                  &d->rejected);
    if (e == SEINE_OK) {
        seine_gauge_set(room, QUEUE_STORE, SN_DOCQUEUE_WRITES);
        seine_gauge_set(room, QUEUE_PREVIEW, POOL_ROOM);
    }
    return e == SEINE_OK ? register_workers(d) : e;
}

void
sn_docs_note_queues(sn_docs *d)
{
    seine_pool_stats s = {.queued = 0};

    if (!d || !d->depth || !d->queue || !d->pool)
        return;
    seine_pool_stats_get(d->pool, &s);
    seine_gauge_set(d->depth, QUEUE_STORE, (int64_t)sn_docqueue_waiting(d->queue));
    seine_gauge_set(d->depth, QUEUE_PREVIEW, s.queued);
    if (s.rejected > d->previews_refused)
        seine_counter_add(d->rejected, QUEUE_PREVIEW, s.rejected - d->previews_refused);
    d->previews_refused = s.rejected;
}

static seine_err
register_commits(sn_docs *d)
{
    static const char *const stores[] = {"console"};
    const seine_label store = {"store", stores, 1};
    seine_buckets fine = seine_buckets_fine();

    return seine_metrics_histogram(d->console->metrics, "seine_store_commit_seconds",
                                   "One commit with its sync to disk.", &store, 1, &fine,
                                   &d->commits);
}

static seine_err
register_metrics(sn_docs *d)
{
    static const char *const results[] = {"accepted", "rebased", "duplicate", "rejected"};
    static const seine_label by_result = {"result", results, 4};
    seine_metrics *m = d->console->metrics;
    seine_err e = seine_metrics_gauge(m, "seine_editor_documents", "documents in memory",
                                      NULL, 0, &d->documents);

    if (e == SEINE_OK)
        e = seine_metrics_gauge(m, "seine_editor_sessions",
                                "connections that may open documents", NULL, 0,
                                &d->sessions);
    if (e == SEINE_OK)
        e = seine_metrics_counter(m, "seine_editor_updates_total",
                                  "updates of documents; rejected: pushes", &by_result, 1,
                                  &d->updates);
    if (e == SEINE_OK)
        e = seine_metrics_histogram(m, "seine_editor_broadcast_seconds",
                                    "from a push to the last frame that was queued", NULL,
                                    0, NULL, &d->broadcast);
    if (e == SEINE_OK)
        e = register_commits(d);
    return e == SEINE_OK ? register_queues(d) : e;
}

static void
note(sn_hub_note what, int64_t value, void *arg)
{
    sn_docs *d = arg;

    if (what == SN_NOTE_DOCS)
        seine_gauge_set(d->documents, 0, value);
    else if (what == SN_NOTE_SESSIONS)
        seine_gauge_set(d->sessions, 0, value);
    else if (what == SN_NOTE_BROADCAST)
        seine_histogram_observe(d->broadcast, 0, value);
    else
        seine_counter_add(d->updates, (unsigned)(what - SN_NOTE_ACCEPTED),
                          (uint64_t)value);
}

/* Jobs of the store. */

static void
on_done(sn_mail *m, seine_console *c)
{
    sn_doc_job *j = (sn_doc_job *)(void *)((char *)m - offsetof(sn_doc_job, mail));

    (void)c;
    j->docs->jobs--;
    j->done(j);
}

/* On the thread of the store. */
static void
post(sn_store_job *job, void *arg)
{
    sn_doc_job *j = (sn_doc_job *)(void *)job;

    (void)arg;
    sn_console_post(j->docs->console, &j->mail);
}

static void
prepare(sn_docs *d, sn_doc_job *j, seine_err (*run)(sn_docstore *s, sn_store_job *job),
        void (*done)(sn_doc_job *j))
{
    j->docs = d;
    j->job.run = run;
    j->job.err = SEINE_OK;
    j->mail.deliver = on_done;
    j->done = done;
    d->jobs++;
}

bool
sn_docs_write(sn_docs *d, sn_doc_job *j,
              seine_err (*run)(sn_docstore *s, sn_store_job *job),
              void (*done)(sn_doc_job *j))
{
    prepare(d, j, run, done);
    bool taken = sn_docqueue_write(d->queue, &j->job);
    d->jobs -= !taken;
    seine_counter_add(d->rejected, QUEUE_STORE, !taken);
    return taken;
}

bool
sn_docs_read(sn_docs *d, sn_doc_job *j,
             seine_err (*run)(sn_docstore *s, sn_store_job *job),
             void (*done)(sn_doc_job *j))
{
    prepare(d, j, run, done);
    bool taken = sn_docqueue_read(d->queue, &j->job);
    d->jobs -= !taken;
    return taken;
}

/* What the hub asks. */

static void
send_text(void *peer, sn_str text, void *arg)
{
    (void)arg;
    (void)sn_socket_send(peer, text, SN_SEND_MUST);
}

static bool
has_room(void *arg)
{
    const sn_docs *d = arg;

    return !d->is_stopped && sn_docqueue_has_room(d->queue);
}

static int64_t
wall_ms(void *arg)
{
    const sn_docs *d = arg;

    return sn_console_wall_ms(d->console);
}

typedef struct load_job {
    sn_doc_job job;
    char doc[SN_ULID];
    sn_doc_loaded loaded;
} load_job;

static seine_err
run_load(sn_docstore *s, sn_store_job *job)
{
    load_job *l = (load_job *)(void *)job;

    return sn_docstore_load(s, l->doc, &l->loaded);
}

static void
done_load(sn_doc_job *j)
{
    load_job *l = (load_job *)(void *)j;

    sn_hub_loaded(j->docs->hub, l->doc, j->job.err, &l->loaded,
                  j->docs->console->loop.now);
    sn_free(l);
}

static void
load(const char *doc, void *arg)
{
    sn_docs *d = arg;
    load_job *l = sn_zalloc(sizeof *l);

    if (l)
        snprintf(l->doc, sizeof l->doc, "%s", doc);
    if (l && sn_docs_read(d, &l->job, run_load, done_load))
        return;
    sn_free(l);
    sn_hub_loaded(d->hub, doc, SEINE_E_FULL, NULL, d->console->loop.now);
}

typedef struct append_job {
    sn_doc_job job;
    sn_append *append;
} append_job;

static seine_err
run_append(sn_docstore *s, sn_store_job *job)
{
    const sn_append *a = ((append_job *)(void *)job)->append;

    return sn_docstore_append(s, a->doc, a->rows, a->n);
}

static void
done_append(sn_doc_job *j)
{
    append_job *a = (append_job *)(void *)j;

    sn_hub_committed(j->docs->hub, a->append, j->job.err, j->docs->console->loop.now);
    sn_free(a);
}

static void
append(sn_append *give, void *arg)
{
    sn_docs *d = arg;
    append_job *a = sn_zalloc(sizeof *a);

    if (a)
        a->append = give;
    if (a && sn_docs_write(d, &a->job, run_append, done_append))
        return;
    sn_free(a);
    sn_hub_committed(d->hub, give, SEINE_E_NOMEM, d->console->loop.now);
}

typedef struct snapshot_job {
    sn_doc_job job;
    sn_snapshot *snap;
    int64_t ms;
} snapshot_job;

static seine_err
run_snapshot(sn_docstore *s, sn_store_job *job)
{
    const snapshot_job *j = (snapshot_job *)(void *)job;

    return sn_docstore_snapshot(s, j->snap->doc, j->snap->version,
                                (sn_str){j->snap->text.bytes, j->snap->text.len}, NULL,
                                NULL, j->ms);
}

static void
done_snapshot(sn_doc_job *j)
{
    snapshot_job *s = (snapshot_job *)(void *)j;

    sn_snapshot_free(s->snap);
    sn_free(s);
}

/* A snapshot makes loading quicker; without it nothing is lost. */
static void
snapshot(sn_snapshot *give, void *arg)
{
    sn_docs *d = arg;
    snapshot_job *s = sn_zalloc(sizeof *s);

    if (s) {
        s->snap = give;
        s->ms = wall_ms(d);
    }
    if (s && sn_docs_write(d, &s->job, run_snapshot, done_snapshot))
        return;
    sn_free(s);
    sn_snapshot_free(give);
}

/* Audit. */

void
sn_docs_audit(sn_call *call, const char *action, const char *target)
{
    call->action = action;
    snprintf(call->target, sizeof call->target, "%s", target ? target : "");
}

/* Timers. */

static void
done_free(sn_doc_job *j)
{
    sn_free(j);
}

static seine_err
run_retain(sn_docstore *s, sn_store_job *job)
{
    return sn_docstore_retain(s, ((snapshot_job *)(void *)job)->ms);
}

static void
retain(sn_docs *d, seine_time now)
{
    snapshot_job *j = sn_zalloc(sizeof *j);

    d->retain_at = now + SEINE_SECS(RETAIN_S);
    if (!j)
        return;
    j->ms = wall_ms(d);
    if (!sn_docs_write(d, &j->job, run_retain, done_free))
        sn_free(j);
}

static void
on_sweep(sn_timer *t, seine_time now)
{
    sn_docs *d = (sn_docs *)(void *)((char *)t - offsetof(sn_docs, sweep));

    sn_hub_sweep(d->hub, now);
    if (now >= d->retain_at)
        retain(d, now);
    sn_timer_set(&d->console->loop, t, now + SEINE_SECS(SWEEP_S));
}

/* The part. */

static seine_err
open_all(sn_docs *d, const char *path, seine_diag *diag)
{
    const seine_console_opts *o = &d->console->opts;
    sn_hub_opts hub = {.send = send_text,
                       .has_room = has_room,
                       .load = load,
                       .append = append,
                       .snapshot = snapshot,
                       .changed = sn_preview_changed,
                       .note = note,
                       .wall_ms = wall_ms,
                       .arg = d,
                       .max_units = o->limits.doc_units,
                       .max_updates = o->limits.updates,
                       .max_sections = o->limits.sections,
                       .max_sessions = o->limits.sessions,
                       .max_docs = o->limits.docs};
    sn_docqueue_opts queue = {.path = path,
                              .readers = o->readers_min,
                              .readers_most = o->readers_max,
                              .post = post,
                              .arg = d};
    seine_pool_opts pool = SEINE_POOL_OPTS;
    seine_err e = register_metrics(d);

    if (e == SEINE_OK)
        e = sn_hub_new(&hub, &d->hub);

    pool.workers = PREVIEW_WORKERS;
    pool.queue_cap = POOL_ROOM;
    queue.commits = d->commits;
    if (e == SEINE_OK)
        e = sn_docqueue_new(&queue, &d->queue, diag);
    if (e == SEINE_OK)
        e = seine_ctx_background(&d->ctx);
    if (e == SEINE_OK)
        e = seine_pool_new(&pool, d->ctx, &d->pool);
    pool.workers = PAGE_WORKERS;
    if (e == SEINE_OK)
        e = seine_pool_new(&pool, d->ctx, &d->fetches);
    if (e == SEINE_OK)
        e = sn_timer_reserve(&d->console->loop);
    if (e == SEINE_OK)
        e = sn_timer_reserve(&d->console->loop);
    return e;
}

seine_err
sn_docs_start(seine_console *c, seine_diag *diag)
{
    char path[SN_CONSOLE_PATH];

    if (!c->opts.state_dir)
        return SEINE_OK;
    sn_docs *d = sn_zalloc(sizeof *d);
    if (!d)
        return SEINE_E_NOMEM;
    d->console = c;
    c->part[SN_PART_DOCS] = d;
    d->sweep.fire = on_sweep;
    d->check.fire = sn_preview_check;
    seine_err e = sn_console_database(c, path) ? open_all(d, path, diag) : SEINE_E_RANGE;
    if (e == SEINE_OK)
        sn_timer_set(&c->loop, &d->sweep, c->loop.now);
    return e;
}

void
sn_docs_stop(seine_console *c)
{
    sn_docs *d = sn_docs_of(c);

    if (!d)
        return;
    sn_hub_save(d->hub);
    d->is_stopped = true;
}

bool
sn_docs_is_busy(seine_console *c)
{
    const sn_docs *d = sn_docs_of(c);

    return d && (d->jobs > 0 || sn_hub_is_busy(d->hub));
}

/* What threads have posted is delivered while all that it needs is there. */
static void
end_threads(seine_console *c, sn_docs *d)
{
    seine_pool *pools[] = {d->fetches, d->pool};

    for (size_t i = 0; i < 2; i++)
        if (pools[i]) {
            seine_err e = seine_pool_close(pools[i], SEINE_CLOSE_ABORT, d->ctx);

            (void)e; /* free waits for what still runs */
        }
    sn_console_deliver(c);
    sn_docqueue_end(d->queue);
    sn_console_deliver(c);
}

void
sn_docs_fini(seine_console *c)
{
    sn_docs *d = sn_docs_of(c);

    if (!d)
        return;
    end_threads(c, d);
    seine_pool_free(d->fetches);
    seine_pool_free(d->pool);
    seine_ctx_unref(d->ctx);
    sn_docqueue_free(d->queue);
    sn_timer_forget(&c->loop, &d->sweep);
    sn_timer_forget(&c->loop, &d->check);
    sn_hub_free(d->hub);
    sn_free(d);
    c->part[SN_PART_DOCS] = NULL;
}
