/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/key_pace.h"

#include <string.h>

#include "base/time.h"
#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(1000)

static seine_fetch_opts
opts(const char *key, seine_span max_wait)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    o.rate = (seine_rate){10, SEINE_SECS(1), 1};
    o.rate_key = key;
    o.max_wait = max_wait;
    return o;
}

/* After how many milliseconds a visit starts; -1: it is given up. */
static int
wait_ms(sn_key_pace *p, const char *id, const char *tags)
{
    static sn_visit v;
    seine_time at;

    memset(&v, 0, sizeof v);
    v.id = sn_str_of(id);
    v.tags = sn_str_of(tags);
    v.input = SN_STR("http://e.example/");
    v.method = SN_STR("GET");
    seine_err e = sn_key_pace_reserve(p, &v, T0, &at);
    CHECK(e == SEINE_OK || e == SEINE_E_LIMITED);
    return e == SEINE_OK ? (int)((at - T0) / SEINE_MS(1)) : -1;
}

TEST(key_pace_has_a_bucket_for_each_value)
{
    seine_fetch_opts by_id = opts("/id", SEINE_NEVER),
                     by_tag = opts("/tags/u", SEINE_NEVER);
    sn_key_pace *p;

    CHECK_EQ(sn_key_pace_new(&by_id, &p, NULL), SEINE_OK);
    CHECK_EQ(wait_ms(p, "a", ""), 0);
    CHECK_EQ(wait_ms(p, "a", ""), 100);
    CHECK_EQ(wait_ms(p, "b", ""), 0);
    CHECK_EQ(wait_ms(p, "a", ""), 200);
    sn_key_pace_free(p);

    CHECK_EQ(sn_key_pace_new(&by_tag, &p, NULL), SEINE_OK);
    CHECK_EQ(wait_ms(p, "a", "{\"u\":1}"), 0);
    CHECK_EQ(wait_ms(p, "b", "{\"u\":1}"), 100);
    CHECK_EQ(wait_ms(p, "b", "{\"u\":\"1\"}"), 0); /* a text is no number */
    CHECK_EQ(wait_ms(p, "b", "{\"v\":1}"), 0); /* without the member: one bucket … */
    CHECK_EQ(wait_ms(p, "b", ""), 100);        /* … together */
    CHECK_EQ(wait_ms(p, "b", "no JSON"), 200);
    sn_key_pace_free(p);
}

TEST(key_pace_counts_the_values_it_knows)
{
    seine_fetch_opts o = opts("/id", SEINE_SECS(60));
    seine_diag diag = SEINE_DIAG;
    sn_key_pace *p = NULL;

    CHECK_EQ(sn_key_pace_new(&o, &p, &diag), SEINE_OK);
    CHECK_EQ(sn_key_pace_keys(p), 0);
    wait_ms(p, "a", "");
    wait_ms(p, "b", "");
    wait_ms(p, "a", "");
    CHECK_EQ(sn_key_pace_keys(p), 2);
    CHECK_EQ(sn_key_pace_keys(NULL), 0);
    sn_key_pace_free(p);
}

TEST(key_pace_none_is_one_bucket)
{
    seine_fetch_opts o = opts("none", SEINE_NEVER);
    sn_key_pace *p;

    CHECK_EQ(sn_key_pace_new(&o, &p, NULL), SEINE_OK);
    CHECK_EQ(wait_ms(p, "a", ""), 0);
    CHECK_EQ(wait_ms(p, "b", ""), 100);
    sn_key_pace_free(p);
}

TEST(key_pace_refuses_what_would_wait_longer_and_takes_nothing)
{
    seine_fetch_opts o = opts("/id", SEINE_MS(100));
    sn_key_pace *p;

    CHECK_EQ(sn_key_pace_new(&o, &p, NULL), SEINE_OK);
    CHECK_EQ(wait_ms(p, "a", ""), 0);
    CHECK_EQ(wait_ms(p, "a", ""), 100); /* as long as it may be */
    CHECK_EQ(wait_ms(p, "a", ""), -1);
    CHECK_EQ(wait_ms(p, "a", ""), -1);
    CHECK_EQ(wait_ms(p, "b", ""), 0);
    sn_key_pace_free(p);
    o.max_wait = 0;
    CHECK_EQ(sn_key_pace_new(&o, &p, NULL), SEINE_OK);
    CHECK_EQ(wait_ms(p, "a", ""), 0);
    CHECK_EQ(wait_ms(p, "a", ""), -1);
    sn_key_pace_free(p);
}

TEST(key_pace_knows_members_of_a_request)
{
    static const struct {
        const char *key;
        bool known;
    } rows[] = {
        {"none", true},    {"host", true},   {"/id", true},        {"/url", true},
        {"/method", true}, {"/tags", true},  {"/tags/a", true},    {"/tags/a~1b/0", true},
        {"/tagsa", false}, {"", false},      {"id", false},        {"/headers/X", false},
        {"/user", false},  {"/id/x", false}, {"/tags/a~2", false},
    };

    EACH_ROW(i, rows) {
        seine_fetch_opts o = opts(rows[i].key, SEINE_NEVER);
        seine_diag diag = SEINE_DIAG;
        sn_key_pace *p = NULL;

        CHECK_EQ(sn_key_pace_knows(rows[i].key), rows[i].known);
        CHECK_EQ(sn_key_pace_new(&o, &p, &diag),
                 rows[i].known ? SEINE_OK : SEINE_E_CONFIG);
        CHECK_STR(diag.member, rows[i].known ? "" : "rate_key");
        sn_key_pace_free(p);
    }
}

TEST(key_pace_without_memory_says_so)
{
    FAIL_EACH(round)
    {
        seine_fetch_opts o = opts("/tags/u", SEINE_NEVER);
        sn_key_pace *p = NULL;
        seine_err e = sn_key_pace_new(&o, &p, NULL);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_key_pace_free(p);
    }
}
