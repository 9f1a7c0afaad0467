/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

#define T0 SEINE_SECS(1000)

static const screen plain = {.width = 80};
static const screen blocks = {.width = 80, .blocks = true};

/* After 20 seconds of 10 results each; the rates are then known. */
static seine_eta
steady_eta(void)
{
    seine_eta e;

    seine_eta_init(&e, T0 - SEINE_SECS(20));
    for (unsigned i = 1; i <= 20; i++)
        seine_eta_add(&e, T0 - SEINE_SECS(20) + i * SEINE_SECS(1), UINT64_C(10) * i,
                      1000);
    return e;
}

/* 200 of 1,000 are done, 10 a second, two failed. */
static progress_facts
facts(const seine_eta *e)
{
    return (progress_facts){
        .now = T0,
        .stats = {.admitted = 1000,
                  .done = 200,
                  .waiting = 796,
                  .in_flight = 4,
                  .hosts = 1,
                  .requests = 200,
                  .parked_until = SEINE_NEVER},
        .ok = 198,
        .errors = 2,
        .total = 1000,
        .concurrency = 64,
        .eta = e,
    };
}

static size_t
times(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        n++;
    return n;
}

TEST(progress_bar_fills_the_share_that_is_done)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    for (uint64_t done = 0; done <= 1000; done += done == 999 ? 1 : 27) {
        f.stats.done = done;
        f.errors = 0;
        progress_text text = progress_bar(&plain, &f);
        size_t full = times(text.bytes, "="), empty = times(text.bytes, "-");

        /* To the nearest cell; the last cell waits for the last URL. */
        CHECK(full + empty >= 8);
        size_t want = (size_t)((double)(full + empty) * (double)done / 1000 + 0.5);
        CHECK_EQ(full, done < 1000 && want == full + empty ? want - 1 : want);
    }
}

TEST(progress_bar_says_percent_counts_rate_and_eta)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);
    progress_text text = progress_bar(&plain, &f);

    CHECK(strstr(text.bytes, "20 %") != NULL);
    CHECK(strstr(text.bytes, "200/1,000") != NULL);
    CHECK(strstr(text.bytes, "10/s") != NULL);
    /* 800 at 10/s are 80 s; the upper end is rounded up. */
    CHECK(strstr(text.bytes, "ETA 1 min 20 s–1 min 21 s") != NULL);
    CHECK(strstr(text.bytes, "\n        ok 198  err 2  4 in flight") != NULL);
}

TEST(progress_bar_shows_at_least_one_failed_cell_where_one_url_failed)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.errors = 0;
    CHECK_EQ(times(progress_bar(&plain, &f).bytes, "!"), 0);
    f.errors = 1;
    CHECK_EQ(times(progress_bar(&plain, &f).bytes, "!"), 1);
    CHECK_EQ(times(progress_bar(&blocks, &f).bytes, "╍"), 1);
}

TEST(progress_bar_never_says_100_percent_before_the_end)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.total = 100000;
    f.stats.done = 99999;
    CHECK(strstr(progress_bar(&plain, &f).bytes, "99 %") != NULL);
    f.stats.done = 100000;
    CHECK(strstr(progress_bar(&plain, &f).bytes, "100 %") != NULL);
    f.is_estimate = true; /* the input may hold more than was projected */
    CHECK(strstr(progress_bar(&plain, &f).bytes, "~99 %") != NULL);
}

TEST(progress_bar_fits_the_screen)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.stats.waiting_for[SEINE_WAIT_HOST_RATE] = 796;
    f.host = "docs.example";
    for (size_t width = 60; width < 200; width++) {
        screen s = {.width = width, .blocks = true, .colour = true};
        progress_text text = progress_bar(&s, &f);
        char *second = strchr(text.bytes, '\n');

        *second = '\0';
        CHECK(progress_columns(text.bytes) < width);
        CHECK(progress_columns(second + 1) <= width);
        /* The name of the host leaves first. */
        CHECK_EQ(strstr(second + 1, "limited by --host-rate on docs") != NULL,
                 width >= 74);
        CHECK_EQ(strstr(second + 1, "limited by --host-rate") != NULL, true);
    }
}

TEST(progress_bar_leaves_the_cells_out_where_the_total_is_unknown)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.total = 0;
    progress_text text = progress_bar(&plain, &f);
    CHECK_EQ(times(text.bytes, "="), 0);
    CHECK_EQ(times(text.bytes, "%"), 0);
    CHECK_EQ(strncmp(text.bytes, "200  10/s", 9), 0);
}

TEST(progress_has_colours_only_where_the_screen_has)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);
    screen s = {.width = 80, .blocks = true, .colour = true};

    CHECK_EQ(times(progress_bar(&blocks, &f).bytes, "\x1b"), 0);
    CHECK(times(progress_bar(&s, &f).bytes, "\x1b[3") > 0);
    CHECK_EQ(times(progress_line(&f).bytes, "\x1b"), 0);
    /* Each colour is switched off again. */
    CHECK_EQ(times(progress_bar(&s, &f).bytes, "\x1b[") % 2, 0);
}

TEST(progress_line_says_it_all_in_one_line)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.stats.retries = 3;
    f.stats.waiting_for[SEINE_WAIT_HOST_RATE] = 796;
    f.host = "e.example";
    CHECK_STR(progress_line(&f).bytes,
              "200/1,000  20 %  10/s  ok 198  err 2  retried 3  4 in flight  "
              "ETA 1 min 20 s–1 min 21 s  limited by --host-rate on e.example");
}

/* While a breaker is open, retries without a budget wait for it, too. */
TEST(progress_names_the_breaker_behind_a_retry_budget)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);
    char limit[96];

    f.host = "e.example";
    f.stats.waiting_for[SEINE_WAIT_RETRY_BUDGET] = 20;
    f.stats.waiting_for[SEINE_WAIT_BREAKER] = 10;
    CHECK_STR(progress_limit(&f, limit, sizeof limit), "--retry-budget on e.example");
    f.stats.in_flight = 0;
    CHECK_STR(progress_limit(&f, limit, sizeof limit), "breaker on e.example");
    f.stats.waiting_for[SEINE_WAIT_BREAKER] = 0;
    CHECK_STR(progress_limit(&f, limit, sizeof limit), "--retry-budget on e.example");
}

TEST(progress_line_of_a_crawl_begins_with_its_host)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.is_crawl = true;
    f.name = "docs.example";
    CHECK_EQ(strncmp(progress_line(&f).bytes, "docs.example  200/1,000", 23), 0);
    f.stats.hosts = 3;
    CHECK_EQ(strncmp(progress_line(&f).bytes, "docs.example (3 hosts)  200/1,000", 33),
             0);
}

TEST(progress_counts_skipped_urls_as_finished_but_not_in_a_crawl)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.skipped = 50;
    CHECK(strstr(progress_line(&f).bytes, "250/1,000  25 %") != NULL);
    f.is_crawl = true; /* whose total holds admitted URLs alone */
    CHECK(strstr(progress_line(&f).bytes, "200/1,000  20 %") != NULL);
}

TEST(progress_gives_a_reason_where_there_is_no_eta)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.is_reading = true;
    CHECK(strstr(progress_line(&f).bytes, "reading input") != NULL);
    CHECK(strstr(progress_line(&f).bytes, "ETA") == NULL);
    f.is_stopping = true; /* goes first */
    CHECK(strstr(progress_line(&f).bytes, "stopping") != NULL);
    CHECK(strstr(progress_line(&f).bytes, "reading input") == NULL);
}

TEST(progress_says_until_when_every_host_rests)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    setenv("TZ", "UTC", 1);
    tzset();
    f.wall = SEINE_SECS(INT64_C(20000) * 86400); /* midnight */
    f.stats.in_flight = 0;
    f.stats.parked_until = T0 + SEINE_SECS(3600 + 120 + 3);
    CHECK(strstr(progress_line(&f).bytes, "waiting until 01:02:03") != NULL);
    f.stats.in_flight = 1;
    CHECK(strstr(progress_line(&f).bytes, "waiting until") == NULL);
}

/* Each result brings two new URLs. */
TEST(progress_of_a_crawl_that_grows_has_no_eta)
{
    seine_eta e;

    seine_eta_init(&e, T0 - SEINE_SECS(20));
    for (unsigned i = 1; i <= 20; i++)
        seine_eta_add(&e, T0 - SEINE_SECS(20) + i * SEINE_SECS(1), UINT64_C(10) * i,
                      1 + UINT64_C(20) * i);
    progress_facts f = facts(&e);
    f.is_crawl = true;
    CHECK(strstr(progress_line(&f).bytes, "growing, 2.0 new per page") != NULL);
    CHECK(strstr(progress_line(&f).bytes, "ETA") == NULL);
}

/* What the URLs of a depth lead to is known when some of them were read. */
TEST(progress_of_a_crawl_with_unread_depths_says_at_least)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.is_crawl = true;
    CHECK(strstr(progress_line(&f).bytes, "ETA 1 min 20 s–1 min 21 s") != NULL);
    f.stats.unread = 1;
    CHECK(strstr(progress_line(&f).bytes, "ETA at least 1 min 20 s") != NULL);
    f.slow = "slow.example";
    f.slowest = SEINE_SECS(600);
    CHECK(strstr(progress_line(&f).bytes, "ETA at least 10 min") != NULL);
    f.is_crawl = false; /* a list has no depths */
    f.slowest = 0;
    CHECK(strstr(progress_line(&f).bytes, "at least") == NULL);
}

/* One new URL for two results: the known ones take 80 s, and nobody knows what follows.
 */
TEST(progress_of_a_crawl_that_finds_less_than_it_reads_says_at_least)
{
    seine_eta e;

    seine_eta_init(&e, T0 - SEINE_SECS(20));
    for (unsigned i = 1; i <= 20; i++)
        seine_eta_add(&e, T0 - SEINE_SECS(20) + i * SEINE_SECS(1), UINT64_C(10) * i,
                      900 + UINT64_C(5) * i);
    progress_facts f = facts(&e);
    f.is_crawl = true;
    CHECK(strstr(progress_line(&f).bytes, "ETA at least 1 min 20 s") != NULL);
}

TEST(progress_of_a_crawl_ends_not_before_its_slowest_host)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);

    f.is_crawl = true;
    f.slow = "slow.example";
    f.slowest = SEINE_SECS(600);
    CHECK(strstr(progress_line(&f).bytes, "ETA 10 min–10 min 1 s") != NULL);
    f.stats.requests = 2 * f.stats.done; /* a retry per page: it may take twice as long */
    CHECK(strstr(progress_line(&f).bytes, "ETA 10 min–20 min 1 s") != NULL);
}

TEST(progress_names_what_holds_most_urls_back)
{
    static const struct {
        seine_wait wait;
        const char *want;
    } rows[] = {
        {SEINE_WAIT_QUEUE, "--per-host on e.example"},
        {SEINE_WAIT_CONCURRENCY, "--concurrency"}, /* of no host */
        {SEINE_WAIT_RATE, "--rate"},
        {SEINE_WAIT_HOST_RATE, "--host-rate on e.example"},
        {SEINE_WAIT_PACE, "the pace of e.example"},
        {SEINE_WAIT_RETRY_AFTER, "Retry-After on e.example"},
        {SEINE_WAIT_BREAKER, "breaker on e.example"},
        {SEINE_WAIT_OUTPUT, "output"},
    };
    seine_eta e = steady_eta();
    char buf[96];

    EACH_ROW(i, rows) {
        progress_facts f = facts(&e);

        f.host = "e.example";
        f.stats.waiting_for[SEINE_WAIT_QUEUE] = 2;
        f.stats.waiting_for[rows[i].wait] = 3;
        CHECK_STR(progress_limit(&f, buf, sizeof buf), rows[i].want);
    }
}

TEST(progress_names_the_server_or_the_input_where_no_limit_holds)
{
    seine_eta e = steady_eta();
    progress_facts f = facts(&e);
    char buf[96];

    f.stats.waiting = 0;
    CHECK_STR(progress_limit(&f, buf, sizeof buf), "server");
    f.is_reading = true;
    CHECK_STR(progress_limit(&f, buf, sizeof buf), "input");
    f.stats.in_flight = 64; /* all that --concurrency allows */
    CHECK_STR(progress_limit(&f, buf, sizeof buf), "--concurrency");
    f.is_reading = false;
    f.stats.in_flight = 0;
    CHECK_STR(progress_limit(&f, buf, sizeof buf), "");
}

TEST(progress_columns_counts_characters_and_no_colours)
{
    CHECK_EQ(progress_columns(""), 0);
    CHECK_EQ(progress_columns("abc"), 3);
    CHECK_EQ(progress_columns("━━"), 2);
    CHECK_EQ(progress_columns("\x1b[32mok\x1b[0m"), 2);
    CHECK_EQ(progress_columns("ok\x1b[32"), 2); /* cut off in the middle */
}
