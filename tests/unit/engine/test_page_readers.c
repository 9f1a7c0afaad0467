/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/page_readers.h"

#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "failing.h"
#include "seine/clock.h"

enum { MANY = 200 };

/* Readers that wait at a gate while it is shut, and shards that count. */
typedef struct desk {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_shut;
    unsigned reading, back, dropped;
    unsigned came[MANY]; /* back, of each number */
    sn_visit visits[MANY];
} desk;

static desk *
desk_new(void)
{
    desk *d = calloc(1, sizeof *d);

    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    for (uint64_t i = 0; i < MANY; i++)
        d->visits[i].number = i;
    return d;
}

static void
desk_free(desk *d)
{
    pthread_mutex_destroy(&d->lock);
    pthread_cond_destroy(&d->changed);
    free(d);
}

static void
read_visit(sn_visit *v, void **own, void *arg)
{
    desk *d = arg;

    v->depth++;
    *own = d;
    pthread_mutex_lock(&d->lock);
    d->reading++;
    pthread_cond_broadcast(&d->changed);
    while (d->is_shut)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

static void
drop_own(void *own)
{
    desk *d = own;

    pthread_mutex_lock(&d->lock);
    d->dropped++;
    pthread_mutex_unlock(&d->lock);
}

static void
take_back(sn_visit *v, void *shard)
{
    desk *d = shard;

    pthread_mutex_lock(&d->lock);
    d->back++;
    d->came[v->number]++;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

static void
set_shut(desk *d, bool is_shut)
{
    pthread_mutex_lock(&d->lock);
    d->is_shut = is_shut;
    pthread_cond_broadcast(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

/* Until so many have come there. */
static void
await(desk *d, const unsigned *what, unsigned n)
{
    pthread_mutex_lock(&d->lock);
    while (*what < n)
        pthread_cond_wait(&d->changed, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

static sn_page_readers *
readers_of(desk *d, uint32_t n)
{
    sn_page_readers_opts o = {.clock = seine_clock_system(),
                              .n = n,
                              .read = read_visit,
                              .drop_own = drop_own,
                              .back = take_back,
                              .arg = d};
    sn_page_readers *p = NULL;

    CHECK_EQ(sn_page_readers_new(&o, &p), SEINE_OK);
    return p;
}

TEST_THREADS(page_readers_give_every_visit_back_once_and_read)
{
    desk *d = desk_new();
    sn_page_readers *p = readers_of(d, 3);
    unsigned own = 0; /* read by the one who gives */

    for (int i = 0; i < MANY; i++) {
        seine_err e = sn_page_readers_give(p, &d->visits[i], d);

        CHECK(e == SEINE_OK || e == SEINE_E_FULL);
        own += e == SEINE_E_FULL;
    }
    await(d, &d->back, MANY - own);
    sn_page_readers_free(p);
    CHECK_EQ(d->back, MANY - own);
    for (int i = 0; i < MANY; i++) {
        CHECK(d->came[i] <= 1);
        CHECK_EQ(d->visits[i].depth, d->came[i]);
    }
    CHECK(d->dropped >= 1 && d->dropped <= 3);
    desk_free(d);
}

TEST(page_readers_refuse_what_the_line_has_no_room_for)
{
    desk *d = desk_new();
    sn_page_readers *p = readers_of(d, 1);
    int i = 0;

    set_shut(d, true);
    CHECK_EQ(sn_page_readers_give(p, &d->visits[i++], d), SEINE_OK);
    await(d, &d->reading, 1);
    for (; i <= SN_PAGE_READERS_LINE; i++)
        CHECK_EQ(sn_page_readers_give(p, &d->visits[i], d), SEINE_OK);
    CHECK_EQ(sn_page_readers_give(p, &d->visits[i], d), SEINE_E_FULL);
    set_shut(d, false);
    await(d, &d->back, SN_PAGE_READERS_LINE + 1);
    CHECK_EQ(sn_page_readers_give(p, &d->visits[i], d), SEINE_OK);
    await(d, &d->back, SN_PAGE_READERS_LINE + 2);
    sn_page_readers_free(p);
    desk_free(d);
}

TEST(page_readers_in_a_hurry_give_back_unread_what_waits)
{
    desk *d = desk_new();
    sn_page_readers *p = readers_of(d, 1);

    set_shut(d, true);
    CHECK_EQ(sn_page_readers_give(p, &d->visits[0], d), SEINE_OK);
    await(d, &d->reading, 1);
    CHECK_EQ(sn_page_readers_give(p, &d->visits[1], d), SEINE_OK);
    CHECK_EQ(sn_page_readers_give(p, &d->visits[2], d), SEINE_OK);
    CHECK(!sn_page_readers_is_hurried(p));
    sn_page_readers_hurry(p);
    CHECK(sn_page_readers_is_hurried(p));
    set_shut(d, false);
    await(d, &d->back, 3);
    sn_page_readers_free(p);
    CHECK_EQ(d->reading, 1);
    CHECK(d->visits[0].depth == 1 && d->visits[1].depth == 0 && d->visits[2].depth == 0);
    desk_free(d);
}

TEST(page_readers_that_are_never_asked_start_no_thread)
{
    desk *d = desk_new();
    sn_page_readers *p = readers_of(d, 2);

    sn_page_readers_free(p);
    sn_page_readers_free(NULL);
    CHECK_EQ(d->dropped, 0);
    desk_free(d);
}

TEST(page_readers_need_memory_and_a_thread)
{
    sn_page_readers_opts o = {.clock = seine_clock_system(), .n = 0};
    sn_page_readers *p = NULL;

    CHECK_EQ(sn_page_readers_new(&o, &p), SEINE_E_INVAL);
    o.n = 2;
    FAIL_EACH(n)
    {
        p = NULL;
        seine_err e = sn_page_readers_new(&o, &p);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_page_readers_free(p);
    }
}
