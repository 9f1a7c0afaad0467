/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/waiter.h"

#include "check.h"
#include "crew.h"

#define T0 SEINE_SECS(5)

TEST(waitq_keeps_order_whoever_leaves)
{
    static const int leaver[] = {0, 1, 2};

    EACH_ROW(r, leaver) {
        sn_waiter w[3] = {0};
        sn_waitq q = {0};
        int left = 0;

        for (int i = 0; i < 3; i++)
            sn_waitq_push(&q, &w[i]);
        CHECK_EQ(q.n, 3);
        sn_waitq_remove(&q, &w[leaver[r]]);
        for (sn_waiter *at = q.head; at; at = at->next, left++)
            CHECK(at != &w[leaver[r]] && (!at->next || at->next > at));
        CHECK_EQ(left, 2);
        while (q.head)
            sn_waitq_remove(&q, q.head);
        CHECK(!q.tail && q.n == 0);
    }
}

TEST(waiter_that_was_marked_before_it_parks_does_not_park)
{
    crew c = crew_new(T0);
    sn_waiter w;

    sn_waiter_arm(&w, c.ctx);
    sn_wake_up(sn_waiter_mark(&w));
    CHECK(sn_waiter_park(&w, SEINE_NEVER));
    CHECK(!sn_waiter_park(&w, T0)); /* one mark is one wake-up; the time has come */
    sn_wake_up(sn_waiter_mark(NULL));
    sn_waiter_disarm(&w, c.ctx);
    crew_end(&c);
}

TEST(waiter_armed_with_a_cancelled_ctx_is_poked_at_once)
{
    crew c = crew_new(T0);
    sn_waiter w;

    seine_ctx_cancel(c.ctx, SEINE_OK);
    sn_waiter_arm(&w, c.ctx);
    CHECK(sn_waiter_park(&w, SEINE_NEVER));
    sn_waiter_disarm(&w, c.ctx);
    crew_end(&c);
}

typedef struct nap {
    seine_ctx *ctx;
    sn_waiter w;
    bool poked;
    seine_time at;
} nap;

static void
nap_run(void *arg)
{
    nap *n = arg;

    n->poked = sn_waiter_park(&n->w, T0 + 100);
    n->at = n->w.clock->now(n->w.clock) - T0;
}

TEST_THREADS(waiter_parks_until_poked_or_until_its_time)
{
    crew c = crew_new(T0);
    nap poked = {.ctx = c.ctx}, late = {.ctx = c.ctx};

    sn_waiter_arm(&poked.w, c.ctx);
    sn_waiter_arm(&late.w, c.ctx);
    crew_add(&c, nap_run, &poked);
    crew_add(&c, nap_run, &late);
    crew_advance(&c, 30);
    sn_waiter_poke(&poked.w);
    crew_advance(&c, 1000);
    crew_join(&c);
    CHECK(poked.poked);
    CHECK_EQ(poked.at, 30);
    CHECK(!late.poked);
    CHECK_EQ(late.at, 100);
    sn_waiter_disarm(&poked.w, c.ctx);
    sn_waiter_disarm(&late.w, c.ctx);
    crew_end(&c);
}
