/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/robots_cache.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

#define DAY SEINE_SECS(24 * 3600)

static seine_fault
ended(seine_err code, uint16_t status)
{
    seine_fault f = SEINE_FAULT;

    f.code = code;
    f.status = status;
    return f;
}

static bool
allows(const sn_robots_cache *r, const char *path)
{
    seine_robots_verdict v;
    uint64_t steps = 0;

    return sn_robots_cache_allow(r, "seine", sn_str_of(path), &v, &steps);
}

TEST(robots_cache_reads_a_response_as_rfc_9309_has_it)
{
    static const struct {
        seine_err code;
        uint16_t status;
        sn_robots_state state;
    } rows[] = {
        {SEINE_OK, 200, SN_ROBOTS_PARSED},
        {SEINE_OK, 204, SN_ROBOTS_PARSED}, /* nothing in it: nothing is forbidden */
        {SEINE_E_HTTP, 404, SN_ROBOTS_ABSENT},
        {SEINE_E_HTTP, 401, SN_ROBOTS_ABSENT}, /* 2.3.1.3: unavailable */
        {SEINE_E_HTTP, 403, SN_ROBOTS_ABSENT},
        {SEINE_E_HTTP_BUSY, 429, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_HTTP_BUSY, 500, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_HTTP, 501, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_HTTP_BUSY, 503, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_TOO_MANY_REDIRECTS, 301, SN_ROBOTS_ABSENT},
        {SEINE_E_CONNECT_REFUSED, 0, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_HEADER_TIMEOUT, 0, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_BODY_TRUNCATED, 200, SN_ROBOTS_UNREACHABLE}, /* a part may lie */
        {SEINE_E_DNS_SERVFAIL, 0, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_DNS_NXDOMAIN, 0, SN_ROBOTS_ABSENT}, /* its pages say so themselves */
        {SEINE_E_TLS_CERT_EXPIRED, 0, SN_ROBOTS_ABSENT},
        {SEINE_E_BLOCKED_ADDRESS, 0, SN_ROBOTS_ABSENT},
        {SEINE_E_BREAKER, 0, SN_ROBOTS_UNREACHABLE},
        /* a status that was said on the way to an end of our own says nothing */
        {SEINE_E_DEADLINE, 302, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_CANCELED, 404, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_BODY_TRUNCATED, 302, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_BODY_TRUNCATED, 404, SN_ROBOTS_ABSENT}, /* its head was enough */
        {SEINE_E_HTTP, 300, SN_ROBOTS_ABSENT},
        {SEINE_E_HTTP, 399, SN_ROBOTS_ABSENT},
        {SEINE_E_BAD_REDIRECT, 301, SN_ROBOTS_ABSENT}, /* each leads nowhere */
        {SEINE_E_REDIRECT_REFUSED, 301, SN_ROBOTS_ABSENT},
        {SEINE_E_BLOCKED_SCHEME, 301, SN_ROBOTS_ABSENT},
        {SEINE_E_BLOCKED_PORT, 0, SN_ROBOTS_ABSENT},
        /* where the classes of statuses begin and end */
        {SEINE_OK, 199, SN_ROBOTS_UNREACHABLE},
        {SEINE_OK, 299, SN_ROBOTS_PARSED},
        {SEINE_E_BODY_TRUNCATED, 399, SN_ROBOTS_UNREACHABLE},
        {SEINE_E_BODY_TRUNCATED, 400, SN_ROBOTS_ABSENT},
        {SEINE_E_BODY_TRUNCATED, 499, SN_ROBOTS_ABSENT},
        {SEINE_E_BODY_TRUNCATED, 500, SN_ROBOTS_UNREACHABLE},
    };

    EACH_ROW(i, rows) {
        sn_robots_cache r = {0};
        seine_fault f = ended(rows[i].code, rows[i].status);

        sn_robots_cache_settle(&r, &f, (sn_str){0}, "seine", 0);
        CHECK_EQ(r.state, rows[i].state);
        sn_robots_cache_fini(&r);
    }
}

/* 2.2.2: escapes of characters that need none are no way around a rule. */
TEST(robots_cache_forbids_a_path_in_every_spelling)
{
    static const char text[] = "User-agent: *\nDisallow: /~a/\nDisallow: /b%2Fc\n"
                               "Disallow: /%7Ed/\n";
    static const struct {
        const char *path;
        bool allowed;
    } rows[] = {
        {"/~a/x", false},   {"/%7Ea/x", false}, {"/%7e%61/x", false},
        {"/b%2Fc", false},  {"/b%2fc", false},  {"/b/c", true}, /* another path */
        {"/%7Eb/x", true},  {"/%7", true},      {"/%zz", true},
        {"/%7Ed/x", false}, /* as both are written */
    };
    sn_robots_cache r = {0};
    seine_fault f = ended(SEINE_OK, 200);

    sn_robots_cache_settle(&r, &f, (sn_str){text, sizeof text - 1}, "seine", 0);
    EACH_ROW(i, rows)
        CHECK_EQ(allows(&r, rows[i].path), rows[i].allowed);
    sn_robots_cache_fini(&r);
}

TEST(robots_cache_asks_again_after_60_s_doubling_to_an_hour)
{
    static const int64_t seconds[] = {60, 120, 240, 480, 960, 1920, 3600, 3600};
    seine_fault f = ended(SEINE_E_HTTP_BUSY, 503);
    sn_robots_cache r = {0};

    EACH_ROW(i, seconds) {
        seine_time now = SEINE_SECS(1000 * (int64_t)i);
        sn_robots_cache_settle(&r, &f, (sn_str){0}, "seine", now);
        CHECK_EQ(r.until - now, SEINE_SECS(seconds[i]));
    }
    for (int i = 0; i < 300; i++) /* more than a byte counts */
        sn_robots_cache_fail(&r, 0);
    CHECK_EQ(r.until, SEINE_SECS(3600));
    f = ended(SEINE_OK, 200);
    sn_robots_cache_settle(&r, &f, SN_STR("Disallow:"), "seine", 0);
    f = ended(SEINE_E_HTTP_BUSY, 503);
    sn_robots_cache_settle(&r, &f, (sn_str){0}, "seine", 0);
    CHECK_EQ(r.until, SEINE_SECS(60)); /* a good answer between begins anew */
    sn_robots_cache_fini(&r);
}

TEST(robots_cache_is_good_for_a_day_and_not_a_nanosecond_longer)
{
    seine_fault f = ended(SEINE_OK, 200);
    sn_robots_cache r = {0};

    CHECK(sn_robots_cache_expire(&r, 0)); /* nobody asked yet */
    sn_robots_cache_settle(&r, &f, SN_STR("User-agent: *\nDisallow: /x"), "seine", 5);
    CHECK(!sn_robots_cache_expire(&r, 5 + DAY - 1));
    CHECK(!allows(&r, "/x/1") && allows(&r, "/y"));
    CHECK(sn_robots_cache_expire(&r, 5 + DAY));
    CHECK_EQ(r.state, SN_ROBOTS_UNKNOWN);
    sn_robots_cache_fini(&r);
}

TEST(robots_cache_counts_a_file_that_was_cut_off_at_its_limit)
{
    static char text[SEINE_ROBOTS_BYTES];
    seine_fault f = ended(SEINE_E_CANCELED, 200);
    sn_robots_cache r = {0};

    memset(text, '\n', sizeof text);
    memcpy(text, "User-agent: *\nDisallow: /x", 26);
    sn_robots_cache_settle(&r, &f, (sn_str){text, sizeof text}, "seine", 0);
    CHECK_EQ(r.state, SN_ROBOTS_PARSED);
    CHECK(!allows(&r, "/x"));
    sn_robots_cache_fini(&r);
}

TEST(robots_cache_gives_a_delay_that_is_never_longer_than_allowed)
{
    static const struct {
        const char *text;
        seine_span delay;
        bool cut;
    } rows[] = {
        {"User-agent: *\nCrawl-delay: 2", SEINE_SECS(2), false},
        {"User-agent: *\nCrawl-delay: 60", SEINE_SECS(60), false},
        {"User-agent: *\nCrawl-delay: 61", SEINE_SECS(60), true},
        {"User-agent: *\nCrawl-delay: 0.5", SEINE_MS(500), false},
        {"User-agent: *\nCrawl-delay: 0", 0, false},
        {"User-agent: *\nDisallow: /", 0, false},
    };
    seine_fault f = ended(SEINE_OK, 200);

    EACH_ROW(i, rows) {
        sn_robots_cache r = {0};
        bool cut;

        sn_robots_cache_settle(&r, &f, sn_str_of(rows[i].text), "seine", 0);
        CHECK_EQ(sn_robots_cache_delay(&r, "seine", SEINE_SECS(60), &cut), rows[i].delay);
        CHECK_EQ(cut, rows[i].cut);
        sn_robots_cache_fini(&r);
    }
}

TEST(robots_cache_without_memory_is_unreachable)
{
    seine_fault f = ended(SEINE_OK, 200);

    FAIL_EACH(n)
    {
        sn_robots_cache r = {0};
        sn_robots_cache_settle(&r, &f, SN_STR("User-agent: *\nDisallow: /x"), "seine", 0);
        CHECK(r.state == SN_ROBOTS_PARSED || r.state == SN_ROBOTS_UNREACHABLE);
        sn_robots_cache_fini(&r);
    }
}

TEST(robots_cache_shows_200_bytes_of_a_rule)
{
    char path[260], text[300], want[SN_ROBOTS_RULE], got[SN_ROBOTS_RULE];
    seine_fault f = ended(SEINE_OK, 200);

    for (size_t len = 198; len <= 202; len++) {
        seine_robots_verdict v;
        uint64_t steps = 0;
        sn_robots_cache r = {0};
        int fill = (int)(len - strlen("Disallow: /"));

        memset(path, 'a', sizeof path);
        int n = snprintf(text, sizeof text,
                         "User-agent: *\nDisallow: /%.*s\nDisallow: /zz", fill, path);
        sn_robots_cache_settle(&r, &f, (sn_str){text, (size_t)n}, "seine", 0);
        snprintf(want, sizeof want, "robots.txt:2 Disallow: /%.*s",
                 len < 200 ? fill : 200 - (int)strlen("Disallow: /"), path);
        text[n - 13] = '\0'; /* the path of that rule, terminated */
        CHECK(!sn_robots_cache_allow(&r, "seine", sn_str_of(strchr(text, '/')), &v,
                                     &steps));
        CHECK_EQ(sn_robots_cache_rule(&v, got), strlen(want));
        CHECK_STR(got, want);
        sn_robots_cache_fini(&r);
    }
}
