/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/pacer.h"

#include <string.h>

#include "check.h"

#define T0    SEINE_SECS(100)
#define EVERY SEINE_MS(200)

static pacer
open_pacer(uint32_t burst, const char *key, seine_span max_wait)
{
    pacer_opts opts = {{5, SEINE_SECS(1)}, burst, key, max_wait};
    pacer p;

    CHECK_EQ(pacer_open(&p, &opts), 0);
    return p;
}

static pacer_answer
ask(pacer *p, const char *text, seine_time ready, seine_time now, seine_time *out_at)
{
    paced_line line;
    char why[128];

    CHECK(paced_line_read(&line, text, strlen(text), why));
    pacer_answer answer = pacer_reserve(p, &line, ready, now, out_at, why);
    paced_line_clear(&line);
    return answer;
}

/* However late this process wakes up, as long as that is within the grace. */
TEST(pacer_keeps_to_its_grid_when_it_is_woken_late)
{
    pacer p = open_pacer(1, "none", SEINE_NEVER);
    seine_time now = T0, at;

    for (int k = 0; k < 1000; k++) {
        CHECK_EQ(ask(&p, "x", T0, now, &at), PACER_DUE);
        CHECK_EQ(at, T0 + k * EVERY);
        now = at + PACER_GRACE - 1;
    }
    pacer_close(&p);
}

TEST(pacer_gives_nothing_for_time_that_was_lost_beyond_the_grace)
{
    pacer p = open_pacer(1, "none", SEINE_NEVER);
    seine_time at;

    CHECK_EQ(ask(&p, "x", T0, T0, &at), PACER_DUE);
    seine_time late = T0 + 10 * EVERY;
    CHECK_EQ(ask(&p, "x", T0, late, &at), PACER_DUE);
    CHECK_EQ(at, late - PACER_GRACE);
    CHECK_EQ(ask(&p, "x", T0, late, &at), PACER_DUE);
    CHECK_EQ(at, late - PACER_GRACE + EVERY);
    pacer_close(&p);
}

/* A line that was not there earlier gets no grace: its bucket begins to fill again when
 * it starts. */
TEST(pacer_counts_from_the_moment_at_which_a_line_is_there)
{
    pacer p = open_pacer(1, "none", SEINE_NEVER);
    seine_time at, there = T0 + 3 * EVERY;

    CHECK_EQ(ask(&p, "x", T0, T0, &at), PACER_DUE);
    CHECK_EQ(ask(&p, "x", there, there, &at), PACER_DUE);
    CHECK_EQ(at, there);
    CHECK_EQ(ask(&p, "x", there, there, &at), PACER_DUE);
    CHECK_EQ(at, there + EVERY);
    pacer_close(&p);
}

TEST(pacer_refuses_who_would_wait_too_long_and_takes_no_token)
{
    pacer p = open_pacer(1, "none", SEINE_MS(100));
    seine_time at;

    CHECK_EQ(ask(&p, "x", T0, T0, &at), PACER_DUE);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(ask(&p, "x", T0, T0, &at), PACER_LIMITED);
    CHECK_EQ(ask(&p, "x", T0, T0 + SEINE_MS(100) + PACER_GRACE, &at), PACER_DUE);
    CHECK_EQ(at, T0 + EVERY);
    pacer_close(&p);
}

TEST(pacer_needs_the_key_it_was_told)
{
    pacer p = open_pacer(1, "host", SEINE_NEVER);
    seine_time at;

    CHECK_EQ(ask(&p, "no url", T0, T0, &at), PACER_NO_KEY);
    CHECK_EQ(ask(&p, "http://a.example/", T0, T0, &at), PACER_DUE);
    CHECK_EQ(at, T0);
    CHECK_EQ(ask(&p, "HTTP://A.example:80/x", T0, T0, &at), PACER_DUE);
    CHECK_EQ(at, T0 + EVERY);
    CHECK_EQ(ask(&p, "{\"url\":\"http://b.example/\"}", T0, T0, &at), PACER_DUE);
    CHECK_EQ(at, T0);
    pacer_close(&p);
}
