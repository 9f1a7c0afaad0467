/* SPDX-License-Identifier: Apache-2.0 */
/* Each value of the key has a pace of its own in a fetch. */
#include <seine/fetch.h>

#include "one_url.h"

static void
add(fixture *t, const char *url, const char *id)
{
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){url, strlen(url)};
    ask.id = (seine_view){id, 1};
    script_on(t->s, url, &(answer){.body = "x"});
    CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
}

/* When a URL was asked for; -1: it was not. */
static seine_time
asked_at(fixture *t, const char *url)
{
    for (unsigned i = 0; i < t->g.n; i++)
        if (strcmp(t->g.all[i].url, url) == 0)
            return t->g.all[i].attempts > 0 ? t->g.all[i].total : -1;
    return -1;
}

static void
run_keys(fixture *t, seine_span max_wait)
{
    t->opts.rate = (seine_rate){1, SEINE_SECS(10), 1};
    t->opts.rate_key = "/id";
    t->opts.max_wait = max_wait;
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    add(t, "http://h.test/a1", "a");
    add(t, "http://h.test/a2", "a");
    add(t, "http://h.test/a3", "a");
    add(t, "http://h.test/b1", "b");
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
    CHECK_EQ(t->g.n, 4);
    CHECK(asked_at(t, "http://h.test/a1") < SEINE_SECS(10));
    CHECK(asked_at(t, "http://h.test/b1") < SEINE_SECS(10)); /* not behind those of a */
}

TEST(run_key_pace_of_one_value_holds_nobody_else)
{
    fixture *t = set_up();

    run_keys(t, SEINE_NEVER);
    CHECK_EQ(asked_at(t, "http://h.test/a2") / SEINE_SECS(10), 1);
    CHECK_EQ(asked_at(t, "http://h.test/a3") / SEINE_SECS(10), 2);
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(t->g.all[i].code, SEINE_OK);
    tear_down(t);
}

TEST(run_key_pace_gives_up_who_would_wait_too_long)
{
    fixture *t = set_up();

    run_keys(t, SEINE_SECS(15));
    CHECK_EQ(asked_at(t, "http://h.test/a2") / SEINE_SECS(10), 1);
    CHECK_EQ(asked_at(t, "http://h.test/a3"), -1);
    CHECK_EQ(script_asked(t->s, "http://h.test/a3"), 0);
    tear_down(t);
}
