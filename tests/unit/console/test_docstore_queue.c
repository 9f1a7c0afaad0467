/* SPDX-License-Identifier: Apache-2.0 */
#include "console/docstore_queue.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

#define DOC "01JD2Z6W9N0000000000000001"

enum { MANY = 300 };

typedef struct work {
    sn_store_job job;
    int number;
    seine_err answer;
    struct place *p;
} work;

/* A queue in a directory of its own, and what it has done. */
typedef struct place {
    char dir[64], path[128];
    sn_docqueue *q;
    pthread_mutex_t lock;
    pthread_cond_t done;
    int order[SN_DOCQUEUE_WRITES + MANY], n_done;
    bool is_shut; /* jobs wait at the gate */
} place;

static void
post(sn_store_job *job, void *arg)
{
    place *p = arg;

    (void)pthread_mutex_lock(&p->lock);
    p->order[p->n_done++] = ((work *)(void *)job)->number;
    (void)pthread_cond_broadcast(&p->done);
    (void)pthread_mutex_unlock(&p->lock);
}

static void
wait_for(place *p, int n)
{
    (void)pthread_mutex_lock(&p->lock);
    while (p->n_done < n)
        (void)pthread_cond_wait(&p->done, &p->lock);
    (void)pthread_mutex_unlock(&p->lock);
}

static void
open_place(place *p)
{
    seine_diag diag;

    *p = (place){.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
    snprintf(p->dir, sizeof p->dir, "/tmp/docqueue-XXXXXX");
    CHECK(mkdtemp(p->dir));
    snprintf(p->path, sizeof p->path, "%s/console.db", p->dir);
    sn_docqueue_opts opts = {.path = p->path, .readers = 2, .post = post, .arg = p};
    CHECK_EQ(sn_docqueue_new(&opts, &p->q, &diag), SEINE_OK);
}

static void
end_place(place *p)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char name[160];

    sn_docqueue_free(p->q);
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", p->path, endings[i]);
        (void)unlink(name);
    }
    CHECK_EQ(rmdir(p->dir), 0);
}

/* Writes an audit row, then fails or not. */
static seine_err
run(sn_docstore *s, sn_store_job *job)
{
    const work *w = (work *)(void *)job;
    sn_audit_row a = {.user = DOC, .peer = "x", .action = "x", .code = w->number};
    seine_err e = sn_docstore_audit(s, &a);

    return e == SEINE_OK ? w->answer : e;
}

/* Waits at the gate. */
static seine_err
run_gate(sn_docstore *s, sn_store_job *job)
{
    place *p = ((work *)(void *)job)->p;

    (void)s;
    (void)pthread_mutex_lock(&p->lock);
    while (p->is_shut)
        (void)pthread_cond_wait(&p->done, &p->lock);
    (void)pthread_mutex_unlock(&p->lock);
    return SEINE_OK;
}

static bool
count_row(const sn_audit_row *a, void *arg)
{
    int *rows = arg;

    rows[a->code]++;
    return true;
}

static seine_err
run_count(sn_docstore *s, sn_store_job *job)
{
    return sn_docstore_audits(s, 0, 100000, count_row, ((work *)(void *)job)->p->order);
}

TEST(docqueue_does_all_jobs_in_order_and_takes_back_those_that_fail)
{
    static work all[MANY];
    static place p;
    int rows[MANY] = {0};
    seine_diag diag;
    sn_docstore *s;

    open_place(&p);
    for (int i = 0; i < MANY; i++) {
        all[i] = (work){.number = i, .answer = i % 7 ? SEINE_OK : SEINE_E_INVAL};
        all[i].job.run = run;
        CHECK(sn_docqueue_write(p.q, &all[i].job));
    }
    wait_for(&p, MANY);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(p.order[i], i);
        CHECK_EQ(all[i].job.err, i % 7 ? SEINE_OK : SEINE_E_INVAL);
    }
    sn_docqueue_end(p.q);
    CHECK(!sn_docqueue_write(p.q, &all[0].job));
    CHECK_EQ(sn_docstore_open(p.path, SN_SQLITE_READ, &s, &diag), SEINE_OK);
    CHECK_EQ(sn_docstore_audits(s, 0, 100000, count_row, rows), SEINE_OK);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(rows[i], i % 7 ? 1 : 0);
    sn_docstore_close(s);
    end_place(&p);
}

TEST(docqueue_refuses_what_is_too_much_and_ends_with_all_done)
{
    static work gate, all[SN_DOCQUEUE_WRITES + 1];
    static place p;
    int taken = 0;

    open_place(&p);
    p.is_shut = true;
    gate = (work){.number = -1, .p = &p};
    gate.job.run = run_gate;
    CHECK(sn_docqueue_write(p.q, &gate.job));
    while (sn_docqueue_waiting(p.q) > 0)
        ; /* the writer takes it */
    for (int i = 0; i <= SN_DOCQUEUE_WRITES; i++) {
        all[i] = (work){.number = i};
        all[i].job.run = run;
        CHECK_EQ(sn_docqueue_has_room(p.q), i < SN_DOCQUEUE_WRITES);
        taken += sn_docqueue_write(p.q, &all[i].job);
    }
    CHECK_EQ(taken, SN_DOCQUEUE_WRITES);
    (void)pthread_mutex_lock(&p.lock);
    p.is_shut = false;
    (void)pthread_cond_broadcast(&p.done);
    (void)pthread_mutex_unlock(&p.lock);
    sn_docqueue_end(p.q);
    CHECK_EQ(p.n_done, SN_DOCQUEUE_WRITES + 1);
    end_place(&p);
}

TEST(docqueue_readers_are_not_in_the_way_of_a_writer)
{
    static work gate, one, look;
    static place p;

    open_place(&p);
    p.is_shut = true;
    gate = (work){.number = 100, .p = &p};
    gate.job.run = run_gate;
    CHECK(sn_docqueue_read(p.q, &gate.job));
    one = (work){.number = 1};
    one.job.run = run;
    CHECK(sn_docqueue_write(p.q, &one.job));
    wait_for(&p, 1); /* while the reader still waits */
    CHECK_EQ(p.order[0], 1);
    CHECK_EQ(one.job.err, SEINE_OK);
    look = (work){.number = 101, .p = &p};
    look.job.run = run_count;
    (void)pthread_mutex_lock(&p.lock);
    p.is_shut = false;
    (void)pthread_cond_broadcast(&p.done);
    (void)pthread_mutex_unlock(&p.lock);
    wait_for(&p, 2);
    p.order[1] = 0;
    CHECK(sn_docqueue_read(p.q, &look.job));
    wait_for(&p, 3);
    CHECK_EQ(look.job.err, SEINE_OK);
    CHECK_EQ(p.order[1], 1); /* the row is seen */
    end_place(&p);
}

TEST(docqueue_has_more_readers_when_all_are_busy_and_no_more_than_it_may)
{
    static work w[4];
    place p;
    seine_diag diag;

    open_place(&p);
    sn_docqueue_free(p.q);
    sn_docqueue_opts opts = {
        .path = p.path, .readers = 1, .readers_most = 3, .post = post, .arg = &p};
    CHECK_EQ(sn_docqueue_new(&opts, &p.q, &diag), SEINE_OK);
    opts.path = NULL; /* it has a copy */
    CHECK_EQ(sn_docqueue_readers(p.q), 1);
    p.is_shut = true;
    for (int i = 0; i < 4; i++) {
        w[i] = (work){.job = {.run = run_gate}, .number = i, .p = &p};
        CHECK(sn_docqueue_read(p.q, &w[i].job));
    }
    CHECK(sn_docqueue_readers(p.q) >= 2); /* the first one may have been idle once */
    CHECK(sn_docqueue_readers(p.q) <= 3);
    (void)pthread_mutex_lock(&p.lock);
    p.is_shut = false;
    (void)pthread_cond_broadcast(&p.done);
    (void)pthread_mutex_unlock(&p.lock);
    wait_for(&p, 4);
    end_place(&p);
}
