/* SPDX-License-Identifier: Apache-2.0 */
/* Retries that wait: for their moment, and for a budget that pays for them. */
#include "engine/scheduler_parts.h"
#include "shard.h"

/* Every first attempt pays in for a fifth of a retry; the reserve is for one a year. */
static void
open_poor(shard *t)
{
    seine_fetch_opts o = polite();

    o.mine = true;
    o.host_rate.count = 0;
    o.retry_budget.reserve = (seine_rate){1, SEINE_SECS(31536000), 1};
    open_shard(t, &o);
}

static seine_retry_budget *
budget_of(shard *t, const sn_visit *v)
{
    return sn_hosts_guards(sn_scheduler_host_table(t->s), v->host)->retry_budget;
}

/* The attempt has failed, and the next one is due at `at`; the budget is empty. */
static void
fail(shard *t, sn_visit *v, seine_time at, seine_time now)
{
    v->state = SN_IN_FLIGHT;
    v->end.fault.code = SEINE_E_HTTP_BUSY;
    v->end.fault.status = 500;
    v->end.fault.sent = v->is_asked = true;
    sn_scheduler_end(t->s, v, now);
    v->is_unpaid = true;
    while (seine_retry_budget_withdraw(budget_of(t, v), now))
        ;
    CHECK_EQ(sn_scheduler_again(t->s, v, at, SEINE_WAIT_BACKOFF, now), SEINE_OK);
}

static uint32_t
unpaid(const shard *t)
{
    uint32_t by[SEINE_WAIT_ROOM];

    sn_scheduler_waiting(t->s, by);
    return by[SEINE_WAIT_RETRY_BUDGET];
}

static void
keep_host(const seine_fetch_host *host, void *arg)
{
    *(seine_fetch_host *)arg = *host;
}

TEST(scheduler_wait_for_the_budget_ends_when_the_host_is_given_up)
{
    seine_err why = SEINE_OK;
    unsigned parked = 0;
    shard t;

    open_poor(&t);
    sn_visit *all[] = {add(&t, "http://a.example/1", 0),
                       add(&t, "http://a.example/2", 0)};
    CHECK(next(&t, 0) == all[0]);
    CHECK(next(&t, 0) == all[1]);
    fail(&t, all[0], SEINE_SECS(9), 0);
    fail(&t, all[1], SEINE_SECS(9), 0);
    CHECK_EQ(unpaid(&t), 0); /* each waits for its time first */
    sn_visit *other = add(&t, "http://a.example/3", 0);
    CHECK(next(&t, SEINE_SECS(9)) == other);
    CHECK_EQ(unpaid(&t), 2);
    sn_scheduler_park(t.s, all[0]->host, SEINE_E_BREAKER, SEINE_SECS(60));
    for (sn_visit *v; (v = sn_scheduler_parked(t.s, &why)); parked++) {
        CHECK_EQ(why, SEINE_E_BREAKER);
        CHECK(v == all[0] || v == all[1]);
        CHECK(!v->is_unpaid);
        sn_visits_give(t.shared.visits, v);
    }
    CHECK_EQ(parked, 2);
    CHECK_EQ(unpaid(&t), 0);
    end(&t, other, SEINE_OK, 200, SEINE_SECS(9));
    close_shard(&t);
}

TEST(scheduler_wait_for_the_budget_ends_when_nothing_else_is_left)
{
    shard t;
    seine_fetch_host row;

    open_poor(&t);
    sn_visit *v = add(&t, "http://a.example/v", 0);
    CHECK(next(&t, 0) == v);
    sn_visit *other = add(&t, "http://a.example/other", 0);
    fail(&t, v, 0, 0);
    CHECK_EQ(unpaid(&t), 1);
    CHECK(next(&t, SEINE_SECS(2)) == other); /* it goes first */
    CHECK_EQ(unpaid(&t), 1);
    CHECK(next(&t, SEINE_SECS(5)) == v); /* nobody else wants to */
    CHECK_EQ(unpaid(&t), 0);
    CHECK(!v->is_unpaid);
    CHECK_EQ(v->waited[SEINE_WAIT_RETRY_BUDGET], SEINE_SECS(5));
    CHECK_EQ(v->waited[SEINE_WAIT_QUEUE], 0);
    sn_scheduler_hosts(t.s, SEINE_SECS(5), keep_host, &row);
    CHECK_EQ(row.limited_by, SEINE_WAIT_RETRY_BUDGET);
    end(&t, v, SEINE_OK, 200, SEINE_SECS(5));
    end(&t, other, SEINE_OK, 200, SEINE_SECS(5));
    close_shard(&t);
}

TEST(scheduler_wait_for_the_budget_ends_when_others_have_paid)
{
    shard t;

    open_poor(&t);
    sn_visit *v = add(&t, "http://a.example/v", 0);
    CHECK(next(&t, 0) == v);
    for (int i = 0; i < 8; i++)
        add(&t, "http://a.example/other", 0);
    fail(&t, v, 0, 0);
    for (int i = 0; i < 5; i++) {
        sn_visit *other = next(&t, SEINE_SECS(i));

        CHECK(other != v);
        seine_retry_budget_deposit(budget_of(&t, other));
        end(&t, other, SEINE_OK, 200, SEINE_SECS(i));
    }
    CHECK(next(&t, SEINE_SECS(5)) == v);
    CHECK_EQ(v->waited[SEINE_WAIT_RETRY_BUDGET], SEINE_SECS(5));
    end(&t, v, SEINE_OK, 200, SEINE_SECS(5));
    close_shard(&t);
}

/* First comes its moment, then the budget. */
TEST(scheduler_wait_names_both_that_a_retry_waited_for)
{
    shard t;
    seine_record_try tries[2] = {{0}};

    open_poor(&t);
    sn_visit *v = add(&t, "http://a.example/v", 0);
    CHECK(next(&t, 0) == v);
    sn_visit *others[3];
    for (int i = 0; i < 3; i++)
        others[i] = add(&t, "http://a.example/other", 0);
    v->tries = tries;
    v->n_tries = 1;
    fail(&t, v, SEINE_SECS(3), 0);
    CHECK_EQ(unpaid(&t), 0);
    CHECK(next(&t, SEINE_SECS(1)) == others[0]);
    CHECK(next(&t, SEINE_SECS(3)) == others[1]); /* it is due, and has no budget */
    CHECK_EQ(unpaid(&t), 1);
    CHECK_EQ(tries[0].wait_reason, SEINE_WAIT_RETRY_BUDGET);
    CHECK(next(&t, SEINE_SECS(4)) == others[2]);
    CHECK(next(&t, SEINE_SECS(7)) == v);
    CHECK_EQ(v->waited[SEINE_WAIT_BACKOFF], SEINE_SECS(3));
    CHECK_EQ(v->waited[SEINE_WAIT_RETRY_BUDGET], SEINE_SECS(4));
    end(&t, v, SEINE_OK, 200, SEINE_SECS(7));
    for (int i = 0; i < 3; i++)
        end(&t, others[i], SEINE_OK, 200, SEINE_SECS(7));
    close_shard(&t);
}

TEST(scheduler_wait_for_the_budget_ends_with_the_run)
{
    shard t;

    open_poor(&t);
    sn_visit *v = add(&t, "http://a.example/v", 0);
    CHECK(next(&t, 0) == v);
    sn_visit *other = add(&t, "http://a.example/other", 0);
    fail(&t, v, 0, 0);
    CHECK_EQ(unpaid(&t), 1);
    for (int i = 0; i < 2; i++) {
        sn_visit *d = sn_scheduler_drain(t.s);

        CHECK(d == (i == 0 ? other : v));
        sn_visits_give(t.shared.visits, d);
    }
    CHECK(!sn_scheduler_drain(t.s));
    CHECK_EQ(unpaid(&t), 0);
    close_shard(&t);
}
