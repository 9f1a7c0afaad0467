/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/witness.h"

#include <stdio.h>

#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(1000)

static snc_seen
arrive(snc_witness *w, const char *host, const char *path, seine_time at)
{
    snc_arrival a = {.at = at,
                     .host = snc_witness_host(w, sn_str_of(host)),
                     .path = sn_str_of(path),
                     .agent = SN_STR("agent")};

    return snc_witness_arrive(w, &a);
}

static void
end(snc_witness *w, snc_seen *seen, bool whole, bool good)
{
    snc_ending e = {.bytes = 100, .whole = whole, .good = good};

    snc_witness_end(w, seen, &e);
}

TEST(requests_are_counted_per_host_and_in_flight_until_they_end)
{
    snc_witness w;

    snc_witness_init(&w);
    snc_seen a = arrive(&w, "a", "/1", T0), b = arrive(&w, "a", "/2", T0 + 5);
    snc_seen c = arrive(&w, "b", "/1", T0 + 9);
    snc_host *h = snc_witness_host(&w, SN_STR("a"));
    CHECK(h->requests == 2 && h->in_flight == 2 && h->peak_in_flight == 2);
    end(&w, &a, true, true);
    end(&w, &a, true, true); /* once is enough */
    CHECK(h->in_flight == 1 && h->bytes_out == 100);
    end(&w, &b, true, true);
    end(&w, &c, true, true);
    CHECK(h->in_flight == 0 && h->peak_in_flight == 2 && h->arrivals.min_gap == 5);
    CHECK(w.requests == 3 && w.in_flight == 0 && w.peak_in_flight == 3 &&
          w.bytes_out == 300);
    CHECK_EQ(h->agent_count, 1);
    snc_witness_fini(&w);
}

TEST(a_hit_after_a_whole_good_answer_is_a_duplicate)
{
    snc_witness w;

    snc_witness_init(&w);
    for (int i = 0; i < 2; i++) { /* cut, then an error: neither is a page */
        snc_seen seen = arrive(&w, "a", "/1", T0);

        end(&w, &seen, i == 1, i == 0);
    }
    snc_seen seen = arrive(&w, "a", "/1", T0);
    snc_path *p = seen.path;
    CHECK(p->hits == 3 && p->ok_hits == 0 && p->duplicates == 0);
    end(&w, &seen, true, true);
    CHECK_EQ(p->ok_hits, 1);
    seen = arrive(&w, "b", "/1", T0); /* the same path of another host */
    CHECK_EQ(seen.path->duplicates, 0);
    end(&w, &seen, true, true);
    seen = arrive(&w, "a", "/1", T0);
    CHECK_EQ(p->duplicates, 1);
    end(&w, &seen, true, true);
    snc_witness_fini(&w);
}

/* 429 with Retry-After: 2 at T0. */
TEST(who_comes_before_a_retry_after_has_ended_is_early_to_the_millisecond)
{
    static const struct {
        seine_span after;
        bool early;
    } rows[] = {
        {0, false},
        {SEINE_MS(10), false}, /* may have been on its way */
        {SEINE_MS(10) + 1, true},
        {SEINE_SECS(1), true},
        {SEINE_MS(1999) - 1, true},
        {SEINE_MS(1999), false},
        {SEINE_SECS(2), false},
        {SEINE_SECS(3), false},
    };

    EACH_ROW(i, rows) {
        snc_witness w;

        snc_witness_init(&w);
        snc_seen seen = arrive(&w, "a", "/1", T0);
        snc_witness_retry(&seen, T0, SEINE_SECS(2));
        end(&w, &seen, true, false);
        seen = arrive(&w, "a", "/2", T0 + rows[i].after);
        CHECK_EQ(seen.host->early, rows[i].early);
        seen = arrive(&w, "b", "/2", T0 + rows[i].after);
        CHECK_EQ(seen.host->early, 0);
        snc_witness_fini(&w);
    }
}

TEST(a_longer_pause_extends_the_first_and_a_shorter_one_does_not)
{
    snc_witness w;

    snc_witness_init(&w);
    snc_seen seen = arrive(&w, "a", "/1", T0);
    snc_witness_retry(&seen, T0, SEINE_SECS(2));
    snc_witness_retry(&seen, T0 + SEINE_MS(5), SEINE_SECS(1));
    CHECK_EQ(seen.host->retry_until, T0 + SEINE_SECS(2));
    snc_witness_retry(&seen, T0 + SEINE_MS(5), SEINE_SECS(9));
    CHECK_EQ(seen.host->retry_until, T0 + SEINE_MS(5) + SEINE_SECS(9));
    CHECK_EQ(seen.host->retry_from, T0);
    snc_witness_retry(&seen, T0 + SEINE_SECS(60), SEINE_SECS(1));
    CHECK_EQ(seen.host->retry_from, T0 + SEINE_SECS(60));
    snc_witness_fini(&w);
}

TEST(connections_have_a_peak)
{
    snc_witness w;

    snc_witness_init(&w);
    snc_host *h = snc_witness_address(&w, SN_STR("127.0.0.1"));
    snc_host_open(h);
    snc_host_open(h);
    snc_host_close(h);
    snc_host_open(h);
    CHECK(h->connections == 3 && h->open == 2 && h->peak_open == 2);
    snc_host_open(NULL);
    snc_host_close(NULL);
    snc_witness_fini(&w);
}

TEST(user_agents_are_kept_once_and_sixteen_of_them)
{
    snc_witness w;

    snc_witness_init(&w);
    snc_host *h = snc_witness_host(&w, SN_STR("a"));
    for (int i = 0; i < 40; i++) {
        char agent[16];
        snc_arrival a = {.at = T0, .host = h, .path = SN_STR("/")};

        snprintf(agent, sizeof agent, "agent %d", i / 2);
        a.agent = sn_str_of(agent);
        snc_witness_arrive(&w, &a);
    }
    CHECK_EQ(h->agent_count, SNC_WITNESS_AGENTS);
    CHECK_STR(h->agents[1], "agent 1");
    snc_witness_fini(&w);
}

TEST(what_finds_no_room_is_counted_and_the_totals_stay_right)
{
    snc_witness w;

    snc_witness_init(&w);
    w.hosts.max = 1;
    w.paths.max = 1;
    snc_seen a = arrive(&w, "a", "/1", T0), b = arrive(&w, "b", "/2", T0);
    CHECK(a.host && a.path && !b.host && !b.path);
    CHECK(w.hosts_dropped == 1 && w.paths_dropped == 1);
    end(&w, &b, true, true);
    CHECK(w.requests == 2 && w.in_flight == 1);
    snc_witness_fini(&w);
}

TEST(after_a_reset_only_open_connections_are_left)
{
    snc_witness w;

    snc_witness_init(&w);
    arrive(&w, "a", "/1", T0);
    w.open = 3;
    w.peak_open = 9;
    size_t budget = w.budget;
    snc_witness_reset(&w);
    CHECK(w.requests == 0 && w.in_flight == 0 && w.open == 3 && w.peak_open == 3);
    CHECK(w.hosts.count == 0 && w.paths.count == 0 && w.budget > budget);
    snc_witness_fini(&w);
}

TEST(without_memory_requests_are_still_counted)
{
    FAIL_EACH(r)
    {
        snc_witness w;

        snc_witness_init(&w);
        snc_seen seen = arrive(&w, "a", "/1", T0);
        CHECK_EQ(w.requests, 1);
        end(&w, &seen, true, true);
        CHECK_EQ(w.in_flight, 0);
        snc_witness_fini(&w);
    }
}
