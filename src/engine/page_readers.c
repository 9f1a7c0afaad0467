/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/page_readers.h"

#include <pthread.h>
#include <stdio.h>

#include "base/alloc.h"

typedef struct unread {
    sn_visit *visit;
    void *shard;
} unread;

struct sn_page_readers {
    sn_page_readers_opts o;
    atomic_bool hurried;
    _Atomic uint32_t started; /* threads; a shard starts them while it has … */
    atomic_flag starting;     /* … this */
    _Atomic uint32_t parked;  /* of them, without work */
    uint32_t word;            /* what they are parked on; changes with the line */
    pthread_mutex_t lock;     /* of the line and `quits` */
    uint32_t first, n;
    bool quits;
    unread line[SN_PAGE_READERS_LINE];
    pthread_t threads[];
};

/* Readers. */

/* Takes the oldest of the line. False: there is none. */
static bool
take_next(sn_page_readers *p, unread *out_next, bool *out_quits)
{
    pthread_mutex_lock(&p->lock);
    bool has = p->n > 0;
    if (has) {
        *out_next = p->line[p->first];
        p->first = (p->first + 1) % SN_PAGE_READERS_LINE;
        p->n--;
    }
    *out_quits = p->quits;
    pthread_mutex_unlock(&p->lock);
    return has;
}

/* Waits until the line has changed since the word was `seen`. */
static void
park(sn_page_readers *p, uint32_t seen)
{
    atomic_fetch_add(&p->parked, 1);
    p->o.clock->wait(p->o.clock, &p->word, seen, SEINE_NEVER);
    atomic_fetch_sub(&p->parked, 1);
}

static void
read_all(sn_page_readers *p)
{
    void *own = NULL;
    unread next;
    bool quits;

    for (;;) {
        uint32_t seen = __atomic_load_n(&p->word, __ATOMIC_SEQ_CST);

        if (take_next(p, &next, &quits)) {
            if (!sn_page_readers_is_hurried(p))
                p->o.read(next.visit, &own, p->o.arg);
            p->o.back(next.visit, next.shard);
        } else if (!quits) {
            park(p, seen);
        } else {
            break;
        }
    }
    if (own)
        p->o.drop_own(own);
}

static void *
reader_main(void *arg)
{
    sn_page_readers *p = arg;
    seine_clock *c = p->o.clock;

    if (c->enter)
        c->enter(c);
    read_all(p);
    if (c->leave)
        c->leave(c);
    return NULL;
}

/* Giving. */

/* Starts one more where all are at work. If another shard does so just now, that is
 * enough. */
static void
start_reader(sn_page_readers *p)
{
    char name[24]; /* the kernel takes 15 bytes */

    if (atomic_load(&p->parked) > 0 || atomic_load(&p->started) >= p->o.n ||
        atomic_flag_test_and_set(&p->starting))
        return;
    uint32_t i = atomic_load(&p->started);
    if (i < p->o.n && pthread_create(&p->threads[i], NULL, reader_main, p) == 0) {
        snprintf(name, sizeof name, "sn-reader-%u", i);
        pthread_setname_np(p->threads[i], name);
        atomic_store(&p->started, i + 1);
    }
    atomic_flag_clear(&p->starting);
}

/* The line has changed. */
static void
tell_readers(sn_page_readers *p, int n)
{
    __atomic_add_fetch(&p->word, 1, __ATOMIC_SEQ_CST);
    if (atomic_load(&p->parked) > 0)
        p->o.clock->wake(p->o.clock, &p->word, n);
}

seine_err
sn_page_readers_give(sn_page_readers *p, sn_visit *give, void *shard)
{
    start_reader(p);
    if (atomic_load(&p->started) == 0)
        return SEINE_E_NOMEM;
    pthread_mutex_lock(&p->lock);
    bool has_room = p->n < SN_PAGE_READERS_LINE;
    if (has_room)
        p->line[(p->first + p->n++) % SN_PAGE_READERS_LINE] = (unread){give, shard};
    pthread_mutex_unlock(&p->lock);
    if (!has_room)
        return SEINE_E_FULL;
    tell_readers(p, 1);
    return SEINE_OK;
}

void
sn_page_readers_hurry(sn_page_readers *p)
{
    atomic_store(&p->hurried, true);
}

bool
sn_page_readers_is_hurried(const sn_page_readers *p)
{
    return atomic_load_explicit(&p->hurried, memory_order_relaxed);
}

/* Making and taking apart. */

seine_err
sn_page_readers_new(const sn_page_readers_opts *opts, sn_page_readers **out_readers)
{
    if (opts->n == 0)
        return SEINE_E_INVAL;
    sn_page_readers *p = sn_zalloc(sizeof *p + opts->n * sizeof *p->threads);
    if (!p)
        return SEINE_E_NOMEM;
    if (pthread_mutex_init(&p->lock, NULL) != 0) {
        sn_free(p);
        return SEINE_E_NOMEM;
    }
    p->o = *opts;
    atomic_flag_clear(&p->starting);
    *out_readers = p;
    return SEINE_OK;
}

void
sn_page_readers_free(sn_page_readers *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->quits = true;
    pthread_mutex_unlock(&p->lock);
    tell_readers(p, INT32_MAX);
    for (uint32_t i = 0; i < atomic_load(&p->started); i++)
        pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    sn_free(p);
}
