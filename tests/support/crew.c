/* SPDX-License-Identifier: Apache-2.0 */
#include "crew.h"

#include <semaphore.h>
#include <stdlib.h>

#include "check.h"

typedef struct start {
    seine_clock *clock;
    void (*fn)(void *arg);
    void *arg;
    sem_t entered;
} start;

static void *
run(void *arg)
{
    start *s = arg;
    seine_clock *clock = s->clock;
    void (*fn)(void *) = s->fn;
    void *given = s->arg;

    seine_clock_fake_enter(clock);
    sem_post(&s->entered);
    fn(given);
    seine_clock_fake_leave(clock);
    return NULL;
}

crew
crew_new(seine_time now)
{
    crew c = {0};

    CHECK_EQ(seine_clock_fake_new(now, 0, 1, &c.clock), SEINE_OK);
    CHECK_EQ(seine_ctx_root(c.clock, &c.ctx), SEINE_OK);
    return c;
}

void
crew_add(crew *c, void (*fn)(void *arg), void *arg)
{
    start s = {.clock = c->clock, .fn = fn, .arg = arg};

    sem_init(&s.entered, 0, 0);
    CHECK_EQ(pthread_create(&c->threads[c->n++], NULL, run, &s), 0);
    sem_wait(&s.entered);
    sem_destroy(&s.entered);
    crew_advance(c, 0);
}

void
crew_advance(crew *c, seine_span d)
{
    seine_clock_fake_advance(c->clock, d);
}

seine_time
crew_now(const crew *c)
{
    return c->clock->now(c->clock);
}

void
crew_join(crew *c)
{
    for (int i = 0; i < c->n; i++)
        pthread_join(c->threads[i], NULL);
    c->n = 0;
}

void
crew_end(crew *c)
{
    crew_join(c);
    seine_ctx_unref(c->ctx);
    seine_clock_fake_free(c->clock);
}
