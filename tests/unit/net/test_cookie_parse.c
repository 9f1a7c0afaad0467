/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdlib.h>

#include "base/rng.h"
#include "cookies.h"

#define DAYS(n) (SEINE_SECS(86400) * (n))

static sn_set_cookie
parsed(const char *value)
{
    sn_set_cookie set = {.name = SN_STR("untouched")};

    CHECK_EQ(sn_cookie_parse(sn_str_of(value), T0, &set), SEINE_OK);
    return set;
}

static const char *
text(sn_str s)
{
    static char out[2][8192];
    static int turn;
    char *to = out[turn ^= 1];

    snprintf(to, sizeof out[0], "%.*s", SN_FMT(s));
    return to;
}

TEST(cookie_has_a_name_and_a_value_without_the_blanks_around_them)
{
    static const struct {
        const char *value, *name, *text;
    } rows[] = {
        {"a=b", "a", "b"},
        {" \ta\t = \tb\t ; Path=/", "a", "b"},
        {"a=b=c", "a", "b=c"}, /* the first one counts */
        {"a=", "a", ""},
        {"a=\"b c\"", "a", "\"b c\""}, /* quotes are part of it */
        {"a=b, c=d", "a", "b, c=d"},   /* a comma separates nothing */
        {"$Version=1; a=b", "$Version", "1"},
        {"caf\xc3\xa9=\xff", "caf\xc3\xa9", "\xff"}, /* any bytes above 0x7f */
    };

    EACH_ROW(i, rows) {
        sn_set_cookie set = parsed(rows[i].value);

        CHECK_STR(text(set.name), rows[i].name);
        CHECK_STR(text(set.value), rows[i].text);
    }
}

TEST(cookie_is_refused_for_what_could_be_read_in_two_ways)
{
    static const struct {
        const char *value;
        size_t len;
    } rows[] = {
        {"", 0},        {"a", 1}, /* no "=": RFC 6265 */
        {"=b", 2},                /* no name: could pass for __Host- with its value */
        {" =b", 3},     {";a=b", 4},
        {"a=b\0c", 5}, /* control bytes, wherever they stand */
        {"a=b\rc", 5},  {"a=b\nc", 5},
        {"a\x7f=b", 4}, {"a=b; Path=/\x01", 12},
        {"a=b\tc", 5}, /* a tab inside would be two fields in a file */
        {"a\tb=c", 5},  {"a=b; Path=/\tc", 13},
    };

    EACH_ROW(i, rows) {
        sn_set_cookie set = {.secure = true};

        CHECK_EQ(sn_cookie_parse((sn_str){rows[i].value, rows[i].len}, T0, &set),
                 SEINE_E_INVAL);
        CHECK(set.secure && !set.name.ptr); /* untouched */
    }
}

TEST(cookie_name_and_value_have_4096_bytes_together)
{
    static char value[SN_COOKIE_BYTES + 3];
    sn_set_cookie set;

    memset(value, 'v', sizeof value);
    value[1000] = '=';
    CHECK_EQ(sn_cookie_parse((sn_str){value, SN_COOKIE_BYTES + 1}, T0, &set), SEINE_OK);
    CHECK_EQ(set.name.len + set.value.len, 4096);
    CHECK_EQ(sn_cookie_parse((sn_str){value, SN_COOKIE_BYTES + 2}, T0, &set),
             SEINE_E_INVAL);
}

TEST(cookie_attributes_are_read_in_any_case_and_the_last_counts)
{
    sn_set_cookie set = parsed("a=b; DOMAIN=x.example; Domain=.Y.example; pATH=/p; SECURE"
                               "=no; HttpOnly; what=ever; SameSite=lAX");

    CHECK_STR(text(set.domain), "Y.example");
    CHECK_STR(text(set.path), "/p");
    CHECK(set.secure && set.http_only);
    CHECK_EQ(set.same_site, SN_SITE_LAX);
    CHECK_EQ(parsed("a=b; SameSite=Strict").same_site, SN_SITE_STRICT);
    CHECK_EQ(parsed("a=b; SameSite=None").same_site, SN_SITE_NONE);
    CHECK_EQ(parsed("a=b; SameSite=x").same_site, SN_SITE_UNSET);
    set = parsed("a=b; \"Secure\"; HttpOnlyx");
    CHECK(!set.secure && !set.http_only);
    /* An empty Domain says nothing; a path that is none is the default one. */
    CHECK_STR(text(parsed("a=b; Domain=x.example; Domain=").domain), "x.example");
    CHECK_STR(text(parsed("a=b; Path=/x; Path=").path), "");
    CHECK_STR(text(parsed("a=b; Path=x").path), "");
}

TEST(cookie_attributes_over_1024_bytes_do_not_count)
{
    char value[1200];
    int n = snprintf(value, sizeof value, "a=b; Path=/%01023d", 0);

    CHECK_EQ(parsed(value).path.len, 1024);
    snprintf(value + n, sizeof value - (size_t)n, "1");
    CHECK_EQ(parsed(value).path.len, 0);
}

TEST(cookie_lives_by_max_age_before_expires_and_400_days_at_most)
{
    static const struct {
        const char *value;
        int64_t expires;
    } rows[] = {
        {"a=b", SEINE_NEVER},
        {"a=b; Max-Age=10", T0 + SEINE_SECS(10)},
        {"a=b; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT", T0 + SEINE_SECS(10)},
        {"a=b; Max-Age=0; Expires=Wed, 01 Jan 2025 00:00:00 GMT", INT64_MIN},
        {"a=b; Max-Age=-1", INT64_MIN},
        {"a=b; Max-Age=x; Max-Age=7; Max-Age=8s", T0 + SEINE_SECS(7)},
        {"a=b; Max-Age=; Max-Age=-; Max-Age=1.5; Max-Age=+1", SEINE_NEVER},
        {"a=b; Max-Age=34560000", T0 + DAYS(400)}, /* just 400 days */
        {"a=b; Max-Age=34560001", T0 + DAYS(400)},
        {"a=b; Max-Age=99999999999999999999999999", T0 + DAYS(400)},
        {"a=b; Max-Age=-99999999999999999999999999", INT64_MIN},
        {"a=b; Expires=Wed, 15 Nov 2023 00:00:00 GMT", SEINE_SECS(INT64_C(1700006400))},
        {"a=b; Expires=Fri, 31 Dec 9999 23:59:59 GMT", T0 + DAYS(400)},
        {"a=b; Expires=Mon, 01 Jan 1601 00:00:00 GMT", INT64_MIN},
        {"a=b; Expires=tomorrow", SEINE_NEVER},
        {"a=b; Expires=Wed, 15 Nov 2023 00:00:00 GMT; Expires=never",
         SEINE_SECS(INT64_C(1700006400))},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(parsed(rows[i].value).expires, rows[i].expires);
}

/* Dates. */

static int64_t
date(const char *value)
{
    int64_t epoch = -77;

    return sn_cookie_date(sn_str_of(value), &epoch) ? epoch : -77;
}

TEST(cookie_dates_are_read_as_they_are_written_in_the_wild)
{
    static const struct {
        const char *value;
        int64_t epoch;
    } rows[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"8:49:37 6 novEMBER 94", 784111777}, /* any order, one digit, long months */
        {"06/Nov\\1994;08:49:37", 784111777}, /* many delimiters */
        {"Sun, 06 Nov 1994 08:49:37 -0500", 784111777}, /* zones are ignored */
        {"1 Jan 1970 0:0:0", 0},
        {"1 Jan 69 0:0:0", 3124224000},       /* 2069 */
        {"1 Jan 70 0:0:0", 0},                /* 1970 */
        {"29 Feb 2000 00:00:00", 951782400},  /* a leap day */
        {"1 Mar 1900 00:00:00", -2203891200}, /* not after one */
        {"1 Jan 1601 00:00:00", -11644473600},
        {"31 Dec 9999 23:59:59", 253402300799},
        {"06 Nov 1994 08:49:37x", 784111777}, /* anything behind but a digit */
    };

    EACH_ROW(i, rows)
        CHECK_EQ(date(rows[i].value), rows[i].epoch);
}

TEST(cookie_dates_that_are_none)
{
    static const char *const rows[] = {
        "",
        "Nov 1994 08:49:37", /* no day */
        "06 1994 08:49:37",  /* no month */
        "06 Nov 08:49:37",   /* no year */
        "06 Nov 1994",       /* no time */
        "06 Nov 1994 08:49",
        "06 Nov 1994 24:00:00",
        "06 Nov 1994 08:60:00",
        "06 Nov 1994 08:49:60",
        "00 Nov 1994 08:49:37",
        "31 Nov 1994 08:49:37", /* no such day */
        "29 Feb 1900 08:49:37",
        "06 Nov 1600 08:49:37",
        "006 Nov 1994 08:49:37", /* three digits of a day */
        "06 Nov 19940 08:49:37",
        "06 Nov 1994 008:49:37",
        "06 Nov 1994 08:49:370",
    };

    EACH_ROW(i, rows)
        CHECK_EQ(date(rows[i]), -77);
}

TEST(cookie_dates_agree_with_the_calendar)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    static const char *const names[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                        "jul", "aug", "sep", "oct", "nov", "dec"};
    int64_t epoch = -11644473600; /* 1601-01-01, counted on from there */
    char value[64];

    for (int y = 1601; y < 2500; y++)
        for (int m = 0; m < 12; m++) {
            bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
            int n = days[m] + (m == 1 && leap);

            snprintf(value, sizeof value, "%d %s %04d 00:00:00", n, names[m], y);
            CHECK_EQ(date(value), epoch + (n - 1) * INT64_C(86400));
            snprintf(value, sizeof value, "%d %s %04d 00:00:00", n + 1, names[m], y);
            CHECK_EQ(date(value), -77);
            epoch += n * INT64_C(86400);
        }
}

/* The dates of others. */

static char *
without_comments(const char *path)
{
    FILE *in = fopen(path, "r");
    char *all = calloc(1, 1 << 16), line[512];

    CHECK(in != NULL);
    while (in && all && fgets(line, sizeof line, in))
        if (strncmp(line, "//", 2) != 0)
            snprintf(all + strlen(all), (1 << 16) - strlen(all), "%s", line);
    if (in)
        fclose(in);
    return all;
}

static size_t
check_dates(const char *home, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/cookies/dates/%s", home, name);
    char *all = without_comments(path);
    json_t *rows = json_loads(all, 0, NULL), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *want = json_string_value(json_object_get(row, "expected"));

        CHECK(check_row(i));
        CHECK_EQ(date(json_string_value(json_object_get(row, "test"))),
                 want ? date(want) : -77);
        if (want)
            CHECK(date(want) != -77);
    }
    json_decref(rows);
    free(all);
    return i;
}

TEST(cookie_dates_agree_with_those_of_http_state)
{
    const char *home = check_vectors();

    if (!home)
        return;
    CHECK_EQ(check_dates(home, "examples.json"), 15);
    CHECK(check_dates(home, "bsd-examples.json") > 50);
}

TEST(cookie_parser_reads_nothing_but_its_bytes)
{
    static const char alphabet[] = "a=;\t ,\"Secur-DmainPthExsMgHOly0123456789:\x80\x01";
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 4000; round++) {
        char value[64];
        size_t n = sn_rng_below(&rng, sizeof value);
        sn_set_cookie set;

        for (size_t i = 0; i < n; i++)
            value[i] = alphabet[sn_rng_below(&rng, sizeof alphabet - 1)];
        if (sn_cookie_parse((sn_str){value, n}, T0, &set) != SEINE_OK)
            continue;
        CHECK(set.name.len > 0 && set.name.ptr >= value);
        CHECK(set.value.len == 0 || set.value.ptr + set.value.len <= value + n);
        CHECK(set.expires == SEINE_NEVER || set.expires <= T0 + SN_COOKIE_LIFE);
        CHECK(!memchr(set.name.ptr, '=', set.name.len));
        CHECK(set.value.len == 0 || !memchr(set.value.ptr, ';', set.value.len));
    }
}
