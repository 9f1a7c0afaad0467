/* SPDX-License-Identifier: Apache-2.0 */
#include "console/docstore_queue.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "seine/clock.h"

enum { READERS_MOST = 64 };

/* Jobs that wait, first come first served. */
typedef struct lane {
    sn_store_job *first, **last;
    size_t count, most;
    pthread_cond_t arrived;
} lane;

typedef struct worker {
    sn_docqueue *q;
    sn_docstore *store;
    pthread_t thread;
    unsigned number; /* 0: the writer */
    bool is_running;
} worker;

struct sn_docqueue {
    sn_docqueue_opts opts;
    pthread_mutex_t lock;
    lane writes, reads;
    bool is_ending;
    worker *workers; /* the writer first */
    size_t n_workers, most_workers;
    size_t idle; /* readers that wait for a job */
    char path[1200];
};

static void
init_lane(lane *l, size_t most)
{
    *l = (lane){.most = most};
    l->last = &l->first;
    (void)pthread_cond_init(&l->arrived, NULL);
}

static bool
put(sn_docqueue *q, lane *l, sn_store_job *job)
{
    bool taken;

    (void)pthread_mutex_lock(&q->lock);
    taken = !q->is_ending && l->count < l->most;
    if (taken) {
        job->next = NULL;
        *l->last = job;
        l->last = &job->next;
        l->count++;
        (void)pthread_cond_signal(&l->arrived);
    }
    (void)pthread_mutex_unlock(&q->lock);
    return taken;
}

/* Waits for jobs and takes up to `most`. NULL: the queue ends, and nothing waits. */
static sn_store_job *
take(sn_docqueue *q, lane *l, size_t most)
{
    sn_store_job *first, *last;

    (void)pthread_mutex_lock(&q->lock);
    q->idle += l == &q->reads;
    while (!l->first && !q->is_ending)
        (void)pthread_cond_wait(&l->arrived, &q->lock);
    q->idle -= l == &q->reads;
    first = last = l->first;
    if (first) {
        l->count--;
        for (size_t n = 1; n < most && last->next; n++) {
            last = last->next;
            l->count--;
        }
        l->first = last->next;
        if (!l->first)
            l->last = &l->first;
        last->next = NULL;
    }
    (void)pthread_mutex_unlock(&q->lock);
    return first;
}

static void
post_all(sn_docqueue *q, sn_store_job *job)
{
    while (job) {
        sn_store_job *next = job->next; /* the job is gone after post */

        q->opts.post(job, q->opts.arg);
        job = next;
    }
}

/* One job of a transaction; what it did is taken back if it fails. */
static seine_err
run_part(sn_docstore *s, sn_store_job *job)
{
    seine_err e = sn_docstore_mark(s);

    if (e != SEINE_OK)
        return e;
    job->err = job->run(s, job);
    return sn_docstore_unmark(s, job->err == SEINE_OK);
}

static seine_err
commit(const sn_docqueue *q, sn_docstore *s)
{
    seine_time began = seine_now();
    seine_err e = sn_docstore_commit(s);

    seine_histogram_observe(q->opts.commits, 0, seine_now() - began);
    return e;
}

static void
run_group(const sn_docqueue *q, sn_docstore *s, sn_store_job *first)
{
    seine_err e = sn_docstore_begin(s);

    for (sn_store_job *job = first; job && e == SEINE_OK; job = job->next)
        e = run_part(s, job);
    if (e == SEINE_OK)
        e = commit(q, s);
    if (e == SEINE_OK)
        return;
    sn_docstore_rollback(s);
    for (sn_store_job *job = first; job; job = job->next)
        job->err = e;
}

/* The console gives way to the engine. */
static void
begin_thread(const worker *w)
{
    char name[16];

    if (w->number == 0)
        snprintf(name, sizeof name, "sn-cstore");
    else
        snprintf(name, sizeof name, "sn-cread-%u", (w->number - 1) % 1000);
    (void)pthread_setname_np(pthread_self(), name);
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), 10);
}

static void *
write_jobs(void *arg)
{
    worker *w = arg;
    sn_store_job *group;

    begin_thread(w);
    while ((group = take(w->q, &w->q->writes, SN_DOCQUEUE_GROUP))) {
        run_group(w->q, w->store, group);
        post_all(w->q, group);
    }
    return NULL;
}

static void *
read_jobs(void *arg)
{
    worker *w = arg;
    sn_store_job *job;
    seine_diag diag;

    begin_thread(w);
    /* Who came later opens the file here. Without it the others do the work. */
    if (!w->store &&
        sn_docstore_open(w->q->path, SN_SQLITE_READ, &w->store, &diag) != SEINE_OK)
        return NULL;
    while ((job = take(w->q, &w->q->reads, 1))) {
        job->err = job->run(w->store, job);
        post_all(w->q, job);
    }
    return NULL;
}

static seine_err
start_thread(worker *w)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    w->is_running =
        pthread_create(&w->thread, NULL, w->number == 0 ? write_jobs : read_jobs, w) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->is_running ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
start(worker *w, seine_diag *diag)
{
    seine_err e = sn_docstore_open(w->q->opts.path,
                                   w->number == 0 ? SN_SQLITE_WRITE : SN_SQLITE_READ,
                                   &w->store, diag);

    return e == SEINE_OK ? start_thread(w) : e;
}

/* One more reader, when more jobs wait than readers. It stays until the end. */
static void
add_reader(sn_docqueue *q)
{
    (void)pthread_mutex_lock(&q->lock);
    bool is_needed = q->reads.count > q->idle && q->n_workers < q->most_workers;
    (void)pthread_mutex_unlock(&q->lock);
    if (!is_needed) /* the owner alone adds workers: it stays so */
        return;
    worker *w = &q->workers[q->n_workers];
    w->q = q;
    w->number = (unsigned)q->n_workers;
    if (start_thread(w) == SEINE_OK)
        q->n_workers++;
}

seine_err
sn_docqueue_new(const sn_docqueue_opts *opts, sn_docqueue **out_queue, seine_diag *diag)
{
    if (opts->readers < 1 || opts->readers > READERS_MOST ||
        opts->readers_most > READERS_MOST)
        return SEINE_E_INVAL;
    sn_docqueue *q = sn_zalloc(sizeof *q);
    if (!q)
        return SEINE_E_NOMEM;
    q->opts = *opts;
    if (snprintf(q->path, sizeof q->path, "%s", opts->path) >= (int)sizeof q->path) {
        sn_free(q);
        return SEINE_E_RANGE;
    }
    q->opts.path = q->path;
    (void)pthread_mutex_init(&q->lock, NULL);
    init_lane(&q->writes, SN_DOCQUEUE_WRITES);
    init_lane(&q->reads, SN_DOCQUEUE_READS);
    q->n_workers = opts->readers + 1;
    q->most_workers =
        opts->readers_most > opts->readers ? opts->readers_most + 1 : q->n_workers;
    q->workers = sn_zalloc(q->most_workers * sizeof *q->workers);
    seine_err e = q->workers ? SEINE_OK : SEINE_E_NOMEM;
    for (size_t i = 0; i < q->n_workers && e == SEINE_OK; i++) {
        q->workers[i].q = q;
        q->workers[i].number = (unsigned)i;
        e = start(&q->workers[i], diag);
    }
    if (e != SEINE_OK) {
        sn_docqueue_free(q);
        return e;
    }
    *out_queue = q;
    return SEINE_OK;
}

void
sn_docqueue_end(sn_docqueue *q)
{
    if (!q)
        return;
    (void)pthread_mutex_lock(&q->lock);
    q->is_ending = true;
    (void)pthread_cond_broadcast(&q->writes.arrived);
    (void)pthread_cond_broadcast(&q->reads.arrived);
    (void)pthread_mutex_unlock(&q->lock);
    /* Readers end first, so that the writer is the last who closes the file. */
    for (size_t i = q->workers ? q->n_workers : 0; i-- > 0;) {
        worker *w = &q->workers[i];

        if (w->is_running)
            (void)pthread_join(w->thread, NULL);
        w->is_running = false;
        sn_docstore_close(w->store);
        w->store = NULL;
    }
}

void
sn_docqueue_free(sn_docqueue *q)
{
    if (!q)
        return;
    sn_docqueue_end(q);
    (void)pthread_cond_destroy(&q->writes.arrived);
    (void)pthread_cond_destroy(&q->reads.arrived);
    (void)pthread_mutex_destroy(&q->lock);
    sn_free(q->workers);
    sn_free(q);
}

bool
sn_docqueue_write(sn_docqueue *q, sn_store_job *job)
{
    return put(q, &q->writes, job);
}

bool
sn_docqueue_read(sn_docqueue *q, sn_store_job *job)
{
    if (!put(q, &q->reads, job))
        return false;
    add_reader(q);
    return true;
}

bool
sn_docqueue_has_room(sn_docqueue *q)
{
    bool has;

    (void)pthread_mutex_lock(&q->lock);
    has = !q->is_ending && q->writes.count < q->writes.most;
    (void)pthread_mutex_unlock(&q->lock);
    return has;
}

size_t
sn_docqueue_readers(sn_docqueue *q)
{
    return q->n_workers - 1;
}

size_t
sn_docqueue_waiting(sn_docqueue *q)
{
    size_t n;

    (void)pthread_mutex_lock(&q->lock);
    n = q->writes.count;
    (void)pthread_mutex_unlock(&q->lock);
    return n;
}
