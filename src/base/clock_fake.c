/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/time.h"
#include "seine/clock.h"

/* A parked thread; this struct lives on its stack. */
typedef struct sleeper {
    const uint32_t *word;
    seine_time until;
    pthread_cond_t woken;
    bool awake, late, entered;
    struct sleeper *next;
} sleeper;

typedef struct fake {
    seine_clock base;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* signalled when a thread parks or leaves */
    seine_time now;
    int64_t wall;
    sn_rng rng;
    sleeper *sleepers; /* in the order in which they parked */
    uint32_t parked;
    uint32_t busy; /* entered threads that are not parked */
} fake;

/* The fake clock that the calling thread entered. Only the thread itself can know this.
 */
static _Thread_local fake *entered;

static fake *
fake_of(seine_clock *c)
{
    return (fake *)(void *)((char *)c - offsetof(fake, base));
}

static seine_time
fake_now(seine_clock *c)
{
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    seine_time now = f->now;
    pthread_mutex_unlock(&f->lock);
    return now;
}

static int64_t
fake_wall(seine_clock *c)
{
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    int64_t wall = f->wall;
    pthread_mutex_unlock(&f->lock);
    return wall;
}

static uint64_t
fake_dice(seine_clock *c)
{
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    uint64_t bits = sn_rng_next(&f->rng);
    pthread_mutex_unlock(&f->lock);
    return bits;
}

static void
park(fake *f, sleeper *s)
{
    sleeper **end = &f->sleepers;

    while (*end)
        end = &(*end)->next;
    *end = s;
    f->parked++;
    f->busy -= s->entered;
    pthread_cond_broadcast(&f->changed);
}

/* The waker updates the counts, so that `advance` sees a woken thread as busy at once. */
static void
unpark(fake *f, sleeper **at, bool late)
{
    sleeper *s = *at;

    *at = s->next;
    f->parked--;
    f->busy += s->entered;
    s->awake = true;
    s->late = late;
    pthread_cond_signal(&s->woken);
}

static bool
fake_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    fake *f = fake_of(c);
    sleeper s = {.word = word, .until = until, .entered = entered == f};

    pthread_mutex_lock(&f->lock);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == seen) {
        s.late = f->now >= until;
        if (!s.late) {
            pthread_cond_init(&s.woken, NULL);
            park(f, &s);
            while (!s.awake)
                pthread_cond_wait(&s.woken, &f->lock);
            pthread_cond_destroy(&s.woken);
        }
    }
    pthread_mutex_unlock(&f->lock);
    return !s.late;
}

static void
fake_wake(seine_clock *c, const uint32_t *word, int n)
{
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    for (sleeper **at = &f->sleepers; *at && n > 0;) {
        if ((*at)->word == word) {
            unpark(f, at, false);
            n--;
        } else {
            at = &(*at)->next;
        }
    }
    pthread_mutex_unlock(&f->lock);
}

seine_err
seine_clock_fake_new(seine_time now, int64_t wall, uint64_t seed, seine_clock **out_clock)
{
    if (!out_clock)
        return SEINE_E_INVAL;
    fake *f = sn_zalloc(sizeof *f);

    if (!f)
        return SEINE_E_NOMEM;
    f->base = (seine_clock){fake_now,
                            fake_wall,
                            fake_dice,
                            fake_wait,
                            fake_wake,
                            seine_clock_fake_enter,
                            seine_clock_fake_leave};
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->now = now;
    f->wall = wall;
    f->rng = sn_rng_seed(seed);
    *out_clock = &f->base;
    return SEINE_OK;
}

void
seine_clock_fake_free(seine_clock *c)
{
    if (!c)
        return;
    fake *f = fake_of(c);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    sn_free(f);
}

void
seine_clock_fake_enter(seine_clock *c)
{
    if (!c)
        return;
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    f->busy += entered != f;
    pthread_mutex_unlock(&f->lock);
    entered = f;
}

void
seine_clock_fake_leave(seine_clock *c)
{
    if (!c)
        return;
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    f->busy -= entered == f;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    if (entered == f)
        entered = NULL;
}

/* Under the lock: waits until every entered thread except the caller is parked or has
 * left. */
static void
await_others(fake *f)
{
    while (f->busy > (entered == f))
        pthread_cond_wait(&f->changed, &f->lock);
}

/* The sleeper with the earliest due time; among equals, the one that parked first. */
static sleeper **
next_due(fake *f, seine_time target)
{
    sleeper **due = NULL;

    for (sleeper **at = &f->sleepers; *at; at = &(*at)->next)
        if ((*at)->until <= target && (!due || (*at)->until < (*due)->until))
            due = at;
    return due;
}

static void
move_to(fake *f, seine_time now)
{
    if (now > f->now) {
        f->wall = sn_time_add(f->wall, sn_time_sub(now, f->now));
        f->now = now;
    }
}

void
seine_clock_fake_advance(seine_clock *c, seine_span d)
{
    if (!c)
        return;
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    seine_time target = sn_time_add(f->now, d);

    await_others(f);
    /* A wait without an end is never due, not even at the end of time. */
    for (sleeper **due; (due = next_due(f, sn_time_min(target, SEINE_NEVER - 1)));) {
        move_to(f, (*due)->until);
        unpark(f, due, true);
        await_others(f);
    }
    move_to(f, target);
    pthread_mutex_unlock(&f->lock);
}

void
seine_clock_fake_step_wall(seine_clock *c, int64_t by)
{
    if (!c)
        return;
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    f->wall = sn_time_add(f->wall, by);
    pthread_mutex_unlock(&f->lock);
}

uint32_t
seine_clock_fake_parked(seine_clock *c)
{
    if (!c)
        return 0;
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    uint32_t parked = f->parked;
    pthread_mutex_unlock(&f->lock);
    return parked;
}

void
seine_clock_fake_await(seine_clock *c, uint32_t n)
{
    if (!c)
        return;
    fake *f = fake_of(c);

    pthread_mutex_lock(&f->lock);
    while (f->parked < n)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}
