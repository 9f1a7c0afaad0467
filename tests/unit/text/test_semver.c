/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/semver.h"

#include <string.h>

#include "check.h"

static seine_semver
version(const char *text)
{
    seine_semver v = {0};

    CHECK_EQ(seine_semver_parse(text, strlen(text), &v), SEINE_OK);
    return v;
}

static seine_semver_req
requirement(const char *text)
{
    seine_semver_req req = {0};

    CHECK_EQ(seine_semver_req_parse(text, strlen(text), &req), SEINE_OK);
    return req;
}

TEST(semver_orders_versions_as_its_standard_does)
{
    /* SemVer 2.0.0, sections 11.2 and 11.4, and what lies between. */
    static const char *const rising[] = {
        "0.0.0-0",
        "0.0.0",
        "0.0.1",
        "0.1.0",
        "1.0.0-0",
        "1.0.0-1",
        "1.0.0-9",
        "1.0.0-10",
        "1.0.0-A",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1",
        "1.10.0",
        "2.0.0-99999999999999999998",
        "2.0.0-99999999999999999999",
        "2.0.0",
        "2.1.0",
        "2.1.1",
        "18446744073709551615.0.0",
    };
    enum { N = sizeof rising / sizeof *rising };

    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++) {
            seine_semver a = version(rising[i]), b = version(rising[k]);

            CHECK_EQ(seine_semver_cmp(&a, &b), (i > k) - (i < k));
        }
}

TEST(semver_gives_build_metadata_no_say)
{
    seine_semver a = version("1.0.0+a.001"), b = version("1.0.0+b-2"),
                 c = version("1.0.0");

    CHECK_EQ(seine_semver_cmp(&a, &b), 0);
    CHECK_EQ(seine_semver_cmp(&a, &c), 0);
    CHECK_EQ(a.build.len, 5);
}

TEST(semver_refuses_what_is_no_version)
{
    static const struct {
        const char *text;
        seine_err want;
    } rows[] = {
        {"", SEINE_E_PARSE},
        {"1", SEINE_E_PARSE},
        {"1.2", SEINE_E_PARSE},
        {"1.2.3.4", SEINE_E_PARSE},
        {"01.2.3", SEINE_E_PARSE}, /* leading zeros */
        {"1.02.3", SEINE_E_PARSE},
        {"1.2.03", SEINE_E_PARSE},
        {"1.2.3-01", SEINE_E_PARSE},
        {"1.2.3-", SEINE_E_PARSE}, /* empty identifiers */
        {"1.2.3-a..b", SEINE_E_PARSE},
        {"1.2.3-a.", SEINE_E_PARSE},
        {"1.2.3+", SEINE_E_PARSE},
        {"1.2.3+a+b", SEINE_E_PARSE},
        {"1.2.3-a_b", SEINE_E_PARSE},
        {" 1.2.3", SEINE_E_PARSE},
        {"1.2.3 ", SEINE_E_PARSE},
        {"v1.2.3", SEINE_E_PARSE},
        {"-1.2.3", SEINE_E_PARSE},
        {"1.2.3-\xc3\xa9", SEINE_E_PARSE},
        {"18446744073709551616.0.0", SEINE_E_RANGE},
        {"1.2.3-0a", SEINE_OK}, /* no number, so the zero may lead */
        {"1.2.3--", SEINE_OK},
        {"1.2.3-x-y.7+z.001", SEINE_OK},
    };

    EACH_ROW(i, rows) {
        seine_semver v;

        CHECK_EQ(seine_semver_parse(rows[i].text, strlen(rows[i].text), &v),
                 rows[i].want);
    }
}

TEST(semver_matches_requirements_as_cargo_does)
{
    static const struct {
        const char *req, *in, *out; /* versions, with blanks between them */
    } rows[] = {
        /* The tables of the Cargo book, "Specifying Dependencies". */
        {"1.2.3", "1.2.3 1.2.4 1.9.0", "1.2.2 2.0.0 0.9.0"},
        {"^1.2", "1.2.0 1.9.9", "1.1.9 2.0.0"},
        {"^1", "1.0.0 1.9.9", "0.9.9 2.0.0"},
        {"^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0 1.0.0"},
        {"0.2", "0.2.0 0.2.9", "0.1.9 0.3.0"},
        {"^0.0.3", "0.0.3", "0.0.2 0.0.4"},
        {"0.0", "0.0.0 0.0.9", "0.1.0"},
        {"0", "0.0.0 0.9.9", "1.0.0"},
        {"~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0"},
        {"~1.2", "1.2.0 1.2.9", "1.1.9 1.3.0"},
        {"~1", "1.0.0 1.9.9", "0.9.9 2.0.0"},
        {"*", "0.0.0 0.0.0-0 99.0.0", ""},
        {"1.*", "1.0.0 1.9.9", "0.9.9 2.0.0"},
        {"1.2.*", "1.2.0 1.2.9", "1.1.9 1.3.0"},
        {"1.*.*", "1.0.0 1.9.9", "2.0.0"},
        {">= 1.2.0", "1.2.0 2.0.0", "1.1.9"},
        {"> 1", "2.0.0 2.0.0-rc.1", "1.0.0 1.9.9"},
        {"> 1.2", "1.3.0", "1.2.0 1.2.9"},
        {"> 1.2.3", "1.2.4", "1.2.3"},
        {"< 2", "1.9.9", "2.0.0"},
        {"< 1.2", "1.1.9", "1.2.0"},
        {"<= 1.2", "1.2.0 1.2.9", "1.3.0 1.3.0-a"},
        {"<= 1", "1.9.9 0.1.0", "2.0.0"},
        {"<= 1.2.3", "1.2.3", "1.2.4"},
        {"= 1.2.3", "1.2.3 1.2.3+build", "1.2.4 1.2.2"},
        {"=1.2", "1.2.0 1.2.9", "1.1.9 1.3.0"},
        {"=1", "1.0.0 1.9.9", "2.0.0 0.9.9"},
        {">= 1.2, < 1.5", "1.2.0 1.4.9", "1.1.9 1.5.0"},
        {">=1.2,<1.5,>1.3.0", "1.3.1 1.4.9", "1.3.0 1.2.0"},
        {" >=  1.2.3 ", "1.2.3", "1.2.2"},
        /* Pre-releases by order; no bound that is only implied has any. */
        {">= 1.0.0-alpha.2", "1.0.0-alpha.2 1.0.0-beta 1.0.0 2.0.0-rc.1",
         "1.0.0-alpha.1 1.0.0-alpha"},
        {"< 1.0.0", "1.0.0-alpha 0.9.0", "1.0.0"},
        {"< 1.0.0-alpha.2", "1.0.0-alpha.1", "1.0.0-alpha.2 1.0.0"},
        {">= 1.2", "1.2.5-rc.1 2.0.0-a", "1.2.0-rc.1"},
        {"^1.2.3", "1.2.4-rc.1 1.3.0-a", "2.0.0-rc.1 2.0.0-0 1.2.3-rc.1"},
        {"^1.2.3-rc.1", "1.2.3-rc.1 1.2.3-rc.2 1.2.3", "1.2.3-beta 2.0.0-a"},
        {"~0.9.1", "0.9.2-a", "0.10.0-a"},
        {"=1.2.3-rc.1", "1.2.3-rc.1", "1.2.3 1.2.3-rc.2"},
        /* The largest number has no next one. */
        {"^18446744073709551615", "18446744073709551615.0.0", "1.0.0"},
        {"=1.18446744073709551615", "1.18446744073709551615.0", "2.0.0 1.0.0"},
        {"> 18446744073709551615", "", "18446744073709551615.0.0 0.0.0"},
    };

    EACH_ROW(i, rows) {
        seine_semver_req req = requirement(rows[i].req);

        for (int side = 0; side < 2; side++)
            for (const char *p = side ? rows[i].out : rows[i].in; *p; p += *p == ' ') {
                size_t n = strcspn(p, " ");
                seine_semver v;

                CHECK_EQ(seine_semver_parse(p, n, &v), SEINE_OK);
                CHECK_EQ(seine_semver_req_matches(&req, &v), side == 0);
                p += n;
            }
    }
}

TEST(semver_refuses_what_is_no_requirement)
{
    static const struct {
        const char *text;
        seine_err want;
    } rows[] = {
        {"", SEINE_E_PARSE},          {" ", SEINE_E_PARSE},
        {",", SEINE_E_PARSE},         {"1.2.3,", SEINE_E_PARSE},
        {", 1", SEINE_E_PARSE},       {"1 2", SEINE_E_PARSE},
        {">=", SEINE_E_PARSE},        {">=*", SEINE_E_PARSE},
        {"*, 1", SEINE_E_PARSE},      {"1, *", SEINE_E_PARSE},
        {"1.*.3", SEINE_E_PARSE},     {"*.1", SEINE_E_PARSE},
        {"1.2-rc", SEINE_E_PARSE},    {"1.2.3.4", SEINE_E_PARSE},
        {"=>1.2", SEINE_E_PARSE},     {">>1", SEINE_E_PARSE},
        {"!=1", SEINE_E_PARSE},       {"1.2.3 || 2", SEINE_E_PARSE},
        {"latest", SEINE_E_PARSE},    {"01", SEINE_E_PARSE},
        {">= 1.2.3-", SEINE_E_PARSE}, {"18446744073709551616", SEINE_E_RANGE},
    };

    EACH_ROW(i, rows) {
        seine_semver_req req;

        CHECK_EQ(seine_semver_req_parse(rows[i].text, strlen(rows[i].text), &req),
                 rows[i].want);
    }
}

TEST(semver_knows_requirements_that_nothing_can_meet)
{
    static const struct {
        const char *text;
        bool is_empty;
    } rows[] = {
        {">= 2, < 1", true},
        {"> 1.0.0, < 1.0.0", true},
        {">= 1.0.0, < 1.0.0", true},
        {"> 1.0.0, <= 1.0.0", true},
        {">= 1.0.0, <= 1.0.0", false},
        {"=1.0.0, =2.0.0", true},
        {"^1, ^2", true},
        {"^1, ~1.2", false},
        {"*", false},
        {"< 0.0.0-0", true},
        {"< 0.0.0", false},
        {"> 18446744073709551615", true},
    };

    EACH_ROW(i, rows) {
        seine_semver_req req = requirement(rows[i].text);
        seine_semver one = version("1.0.0");

        CHECK_EQ(seine_semver_req_is_empty(&req), rows[i].is_empty);
        if (rows[i].is_empty)
            CHECK(!seine_semver_req_matches(&req, &one));
    }
}

TEST(semver_bounds_the_length_of_its_texts)
{
    char text[17 * SEINE_SEMVER_BYTES];
    seine_semver v;
    seine_semver_req req;

    memset(text, 'a', sizeof text);
    memcpy(text, "1.0.0-", 6);
    CHECK_EQ(seine_semver_parse(text, SEINE_SEMVER_BYTES, &v), SEINE_OK);
    CHECK_EQ(seine_semver_parse(text, SEINE_SEMVER_BYTES + 1, &v), SEINE_E_RANGE);
    CHECK_EQ(seine_semver_req_parse(text, sizeof text, &req), SEINE_E_RANGE);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "1,"[i % 2];
    CHECK_EQ(seine_semver_req_parse(text, 63, &req), SEINE_OK);      /* 32 of them */
    CHECK_EQ(seine_semver_req_parse(text, 65, &req), SEINE_E_RANGE); /* 33 */
}
