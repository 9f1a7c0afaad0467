/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "report/html.h"
#include "report/report_hosts.h"
#include "report/report_markdown.h"
#include "report/report_times.h"

/* A result that took `ms` at its server, and twice as long in all. */
static void
add(report *r, const char *url, unsigned status, int ms)
{
    entry e = {.kind = ENTRY_RESULT,
               .wall = SEINE_SECS(1000) + SEINE_MS(ms),
               .url = {url, strlen(url)},
               .status = status,
               .attempts = 1,
               .has_times = true,
               .has_bytes = status > 0,
               .bytes_in = 100,
               .bytes_body = (uint64_t)ms,
               .content_type = {"Text/HTML; x", 12}};

    e.is_ok = status == 200;
    e.fate = e.is_ok  ? SEINE_FATE_OK
             : status ? SEINE_FATE_HTTP_ERROR
                      : SEINE_FATE_TIMEOUT;
    if (!e.is_ok && status == 0)
        e.error = (seine_view){"header_timeout", 14};
    e.spans[SPAN_TTFB] = SEINE_MS(ms);
    e.spans[SPAN_TOTAL] = SEINE_MS(2 * ms);
    entry_name_host(&e);
    report_add(r, &e);
}

static void
add_skip(report *r, const char *url, const char *reason)
{
    entry e = {
        .kind = ENTRY_SKIP, .url = {url, strlen(url)}, .error = {reason, strlen(reason)}};

    entry_name_host(&e);
    report_add(r, &e);
}

/* 10 + 20 + 30 + 40 ms at the server, as long again before that; 7 skips. */
static report *
small_report(void)
{
    report *r = report_new();

    add(r, "http://a/1", 200, 10);
    add(r, "http://a/2", 200, 20);
    add(r, "http://b/3", 404, 30);
    add(r, "http://b/4", 0, 40);
    for (int i = 0; i < 7; i++)
        add_skip(r, "http://c/", i < 4 ? "robots" : "offsite");
    report_rank(r);
    return r;
}

TEST(report_counts_balance)
{
    report *r = small_report();

    CHECK_EQ(r->total, 11u);
    CHECK_EQ(r->ok, 2u);
    CHECK_EQ(r->failed, 2u);
    CHECK_EQ(r->skipped, 7u);
    CHECK_EQ(r->total, r->ok + r->failed + r->blocked + r->skipped);
    CHECK_EQ(r->statuses[404], 1u);
    CHECK_EQ(r->fates[SEINE_FATE_TIMEOUT], 1u);
    CHECK_EQ(r->bytes_in, 400u);
    CHECK_EQ(r->bytes_body, 100u);
    report_free(r);
}

TEST(report_knows_what_the_time_went_to)
{
    report *r = small_report();

    CHECK_EQ(r->parts[PART_TTFB], SEINE_MS(100));
    CHECK_EQ(r->parts[PART_OTHER], SEINE_MS(100));
    CHECK_EQ(report_spent(r), SEINE_MS(200));
    CHECK_EQ(r->latency.max, SEINE_MS(40));
    CHECK_EQ(report_wall(r), SEINE_MS(30));
    report_free(r);
}

/* The rest of the time is that of earlier attempts only where there were some. */
TEST(report_blames_earlier_attempts_only_where_there_were_some)
{
    static const struct {
        uint32_t attempts, redirects;
        report_part part;
    } rows[] = {{1, 0, PART_OTHER}, {2, 0, PART_EARLIER}, {1, 1, PART_EARLIER}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        report *r = report_new();
        entry e = {.kind = ENTRY_RESULT,
                   .is_ok = true,
                   .status = 200,
                   .attempts = rows[i].attempts,
                   .n_redirects = rows[i].redirects,
                   .has_times = true};

        e.spans[SPAN_TTFB] = SEINE_MS(10);
        e.spans[SPAN_TOTAL] = SEINE_MS(40);
        report_add(r, &e);
        CHECK_EQ(r->parts[PART_EARLIER] + r->parts[PART_OTHER], SEINE_MS(30));
        CHECK_EQ(r->parts[rows[i].part], SEINE_MS(30));
        report_free(r);
    }
}

TEST(report_survives_durations_that_nobody_has)
{
    static const char line[] = "{\"v\":1,\"type\":\"result\",\"url\":\"http://a/"
                               "\",\"outcome\":\"ok\",\"attempts\":1,"
                               "\"time\":{\"queue\":1e999,\"ttfb\":99999999999999999999,"
                               "\"total\":99999999999999}}";
    report *r = report_new();

    for (int i = 0; i < 9; i++)
        report_line(r, (seine_view){line, sizeof line - 1});
    CHECK_EQ(r->parts[PART_TTFB], SEINE_NEVER);
    CHECK_EQ(report_spent(r), SEINE_NEVER);
    report_free(r);
}

TEST(report_groups_failures_hosts_types_and_skips)
{
    report *r = small_report();

    CHECK_EQ(r->failures.n, 2u);
    CHECK_STR(r->failures.all[0].name, "404"); /* one each: by name */
    CHECK_STR(r->failures.all[1].name, "header_timeout");
    CHECK_STR(r->failures.all[1].first[0].url, "http://b/4");
    CHECK_EQ(r->n_hosts, 3u);
    CHECK_STR(r->hosts[0]->name, "a");
    CHECK_EQ(r->hosts[0]->requests, 2u);
    CHECK_EQ(r->hosts[1]->failed, 2u);
    CHECK_EQ(r->hosts[2]->skipped, 7u);
    CHECK_EQ(r->types.n, 1u);
    CHECK_STR(r->types.all[0].name, "text/html");
    CHECK_EQ(r->types.all[0].n, 3u);
    CHECK_STR(r->skips.all[0].name, "robots");
    CHECK_EQ(r->skips.all[0].n, 4u);
    CHECK_STR(r->slowest.all[0].url, "http://b/4");
    CHECK_STR(r->slowest.all[3].url, "http://a/1");
    report_free(r);
}

TEST(report_verdict_is_one_sentence)
{
    report *r = small_report();
    textbuf out = {NULL, 0, 0};

    report_verdict(r, &out);
    CHECK_STR(out.text,
              "2 of 4 URLs are ok (50.0 %); 2 failed: 404 ×1, header_timeout ×1.");
    textbuf_free(&out);
    report_free(r);
}

TEST(report_advises_about_the_largest_part_of_the_time)
{
    static const struct {
        report_part part;
        const char *setting;
    } rows[] = {
        {PART_QUEUE, "--per-host"},   {PART_THROTTLE, "--host-rate"},
        {PART_BACKOFF, "--retries"},  {PART_RETRY_BUDGET, "--retry-budget"},
        {PART_DNS, "--dns"},          {PART_CONNECT, "--connect-timeout"},
        {PART_TLS, "--per-host"},     {PART_TTFB, "--per-host"},
        {PART_BODY, "--accept-type"}, {PART_EARLIER, "--timeout"},
    };

    EACH_ROW(i, rows) {
        report *r = small_report();

        r->parts[rows[i].part] += SEINE_MS(300);
        report_advice a = report_advise(r);
        CHECK_EQ((int)a.part, (int)rows[i].part);
        CHECK(strstr(a.setting, rows[i].setting) != NULL);
        CHECK(a.share >= 0.6 && a.share <= 0.8);
        report_free(r);
    }
}

/* The summary says what held the busiest host back. */
TEST(report_advice_follows_what_limited_the_busiest_host)
{
    static const struct {
        const char *limit, *setting;
    } rows[] = {
        {"rate", "--rate"},
        {"crawl-delay", "--max-crawl-delay"},
        {"retry-after", ""}, /* the server asks, and no option should change that */
    };
    char line[160];

    EACH_ROW(i, rows) {
        report *r = small_report();
        int n = snprintf(line, sizeof line,
                         "{\"v\":1,\"type\":\"summary\",\"top_hosts\":[{\"host\":\"a\","
                         "\"limited_by\":\"%s\"}]}",
                         rows[i].limit);

        report_line(r, (seine_view){line, (size_t)n});
        r->parts[PART_THROTTLE] = SEINE_SECS(9);
        report_advice a = report_advise(r);
        if (rows[i].setting[0])
            CHECK(strstr(a.setting, rows[i].setting) != NULL);
        else
            CHECK_STR(a.setting, "");
        report_free(r);
    }
}

TEST(report_tells_the_busiest_hosts_apart_however_many_there_are)
{
    report *r = report_new();
    char url[64];

    for (int i = 0; i < 3 * REPORT_HOSTS; i++) {
        snprintf(url, sizeof url, "http://h%d.example/", i);
        add(r, url, 200, 1);
        add(r, "http://busy.example/", 200, 1);
    }
    report_rank(r);
    CHECK(r->n_hosts <= REPORT_HOSTS);
    CHECK(r->has_others);
    CHECK_STR(r->hosts[0]->name, "busy.example");
    CHECK_EQ(r->hosts[0]->requests, (uint64_t)3 * REPORT_HOSTS);
    uint64_t all = r->others.requests;
    for (size_t i = 0; i < r->n_hosts; i++)
        all += r->hosts[i]->requests;
    CHECK_EQ(all, (uint64_t)6 * REPORT_HOSTS); /* nothing is lost */
    report_free(r);
}

/* Puts entries at these moments and compares each bin with a count of its own. */
static void
check_times(const int64_t *walls, size_t n)
{
    report_times t = {.n = 0};
    int64_t first = INT64_MAX, last = 0;

    for (size_t i = 0; i < n; i++) {
        report_times_at(&t, walls[i])->skipped++;
        first = walls[i] < first ? walls[i] : first;
        last = walls[i] > last ? walls[i] : last;
    }
    CHECK(t.n <= REPORT_MOMENTS);
    CHECK(t.width > 0);
    if (t.width <= 0)
        return;
    CHECK_EQ(t.from % t.width, 0);
    CHECK_EQ(t.first, first);
    CHECK_EQ(t.last, last);
    for (size_t i = 0; i < t.n; i++) {
        uint64_t want = 0;

        for (size_t k = 0; k < n; k++)
            want += (walls[k] - t.from) / t.width == (int64_t)i;
        CHECK_EQ(t.all[i].skipped, want);
    }
    report_times_free(&t);
}

/* Bins widen from parts of a second to hours while entries come in any order. */
TEST(report_times_keep_every_entry_while_bins_widen)
{
    enum { N = 200 };
    uint64_t chance = 20261115;
    int64_t walls[N];

    for (int round = 0; round < 50; round++) {
        int64_t reach = SEINE_MS(100) << round % 24;

        for (size_t i = 0; i < N; i++) {
            chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
            walls[i] = SEINE_SECS(100000000) + (int64_t)(chance >> 8) % reach;
        }
        check_times(walls, N);
    }
}

TEST(report_times_have_no_bin_for_an_unknown_moment)
{
    report_times t = {.n = 0};

    CHECK(report_times_at(&t, 0) == NULL);
}

TEST(html_text_cannot_be_markup)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"plain", "plain"},
        {"<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"},
        {"a\x1b[2J", "a\\x1b[2J"},
        {"a\xe2\x80\xae"
         "b",
         "a\\u202eb"}, /* turns the direction of writing */
        {"a\nb", "a\\x0ab"},
    };

    EACH_ROW(i, rows) {
        textbuf out = {NULL, 0, 0};

        html_text(&out, rows[i].text);
        CHECK_STR(out.text, rows[i].want);
        textbuf_free(&out);
    }
}

TEST(html_text_is_short_whatever_it_is_made_of)
{
    char quotes[1000];
    textbuf out = {NULL, 0, 0};

    memset(quotes, '"', sizeof quotes - 1);
    quotes[sizeof quotes - 1] = '\0';
    html_text(&out, quotes);
    CHECK(out.len < 380);
    CHECK(strcmp(out.text + out.len - 3, "…") == 0);
    textbuf_free(&out);
}

TEST(html_links_lead_to_http_and_https_alone)
{
    static const struct {
        const char *url;
        bool is_link;
    } rows[] = {
        {"http://a/", true},
        {"https://a/?x&y", true},
        {"javascript:alert(1)", false},
        {"data:text/html,x", false},
        {"http://a/\" onclick=\"x", false},
        {"HTTP://a/ b", false},
        {"//a/", false},
    };

    EACH_ROW(i, rows) {
        textbuf out = {NULL, 0, 0};

        html_link(&out, rows[i].url);
        CHECK_EQ(strstr(out.text, "<a ") != NULL, rows[i].is_link);
        textbuf_free(&out);
    }
}

TEST(markdown_text_cannot_be_markup)
{
    textbuf out = {NULL, 0, 0};

    markdown_text(&out, "[x](y)|`<b>&");
    CHECK_STR(out.text, "\\[x\\]\\(y\\)\\|\\`&lt;b>&amp;");
    textbuf_free(&out);
}
