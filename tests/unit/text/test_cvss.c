/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/cvss.h"

#include <string.h>

#include "check.h"

/* Examples of FIRST's "CVSS v3.1 Examples" with the scores that stand there. */
TEST(cvss_computes_the_scores_of_its_examples)
{
    static const struct {
        const char *vector;
        unsigned tenths;
        seine_severity severity;
    } rows[] = {
        {"CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 61, SEINE_SEVERITY_MEDIUM},
        {"CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", 64, SEINE_SEVERITY_MEDIUM},
        {"CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N", 31, SEINE_SEVERITY_LOW},
        {"CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:C/C:H/I:H/A:H", 99, SEINE_SEVERITY_CRITICAL},
        {"CVSS:3.1/AV:L/AC:L/PR:H/UI:N/S:U/C:L/I:L/A:L", 42, SEINE_SEVERITY_MEDIUM},
        {"CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H", 88, SEINE_SEVERITY_HIGH},
        {"CVSS:3.1/AV:L/AC:L/PR:N/UI:R/S:U/C:H/I:H/A:H", 78, SEINE_SEVERITY_HIGH},
        {"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N", 75, SEINE_SEVERITY_HIGH},
        {"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 98, SEINE_SEVERITY_CRITICAL},
        {"CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:C/C:N/I:H/A:N", 68, SEINE_SEVERITY_MEDIUM},
        {"CVSS:3.1/AV:P/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 68, SEINE_SEVERITY_MEDIUM},
        {"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:L/I:N/A:N", 58, SEINE_SEVERITY_MEDIUM},
        {"CVSS:3.1/AV:A/AC:L/PR:N/UI:N/S:C/C:H/I:N/A:H", 93, SEINE_SEVERITY_CRITICAL},
        {"CVSS:3.1/AV:A/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", 88, SEINE_SEVERITY_HIGH},
        /* No more than 10, no less than 0, and 3.0 by the same equations. */
        {"CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 100, SEINE_SEVERITY_CRITICAL},
        {"CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0, SEINE_SEVERITY_UNKNOWN},
        {"CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:N/I:N/A:N", 0, SEINE_SEVERITY_UNKNOWN},
        /* Any order; metrics of other groups change nothing. */
        {"CVSS:3.1/S:U/A:H/I:H/C:H/UI:N/PR:N/AC:L/AV:N", 98, SEINE_SEVERITY_CRITICAL},
        {"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/RL:O/RC:U/MAV:P/CR:L", 98,
         SEINE_SEVERITY_CRITICAL},
    };

    EACH_ROW(i, rows) {
        unsigned tenths = 999;

        CHECK_EQ(seine_cvss3_base(rows[i].vector, strlen(rows[i].vector), &tenths),
                 SEINE_OK);
        CHECK_EQ(tenths, rows[i].tenths);
        CHECK_EQ(seine_severity_of(tenths), rows[i].severity);
    }
}

TEST(cvss_refuses_what_is_no_vector)
{
    static const char *const rows[] = {
        "",
        "CVSS:3.1",
        "CVSS:3.1/",
        "AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "CVSS:2.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N",
        "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H",         /* one is missing */
        "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/A:H", /* one is there twice */
        "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:U/E:U",
        "CVSS:3.1/AV:X/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", /* no such value */
        "CVSS:3.1/AV:NN/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "CVSS:3.1/AV:/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "CVSS:3.1/AV/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/ZZ:Z", /* no such metric */
        "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/",
        "CVSS:3.1//AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "cvss:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
        "CVSS:3.1/av:n/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
    };

    EACH_ROW(i, rows) {
        unsigned tenths = 999;

        CHECK_EQ(seine_cvss3_base(rows[i], strlen(rows[i]), &tenths), SEINE_E_PARSE);
        CHECK_EQ(tenths, 999);
    }
}

TEST(cvss_severities_begin_at_their_scores)
{
    static const struct {
        unsigned tenths;
        const char *name;
    } rows[] = {{0, "unknown"}, {1, "low"},       {39, "low"},
                {40, "medium"}, {69, "medium"},   {70, "high"},
                {89, "high"},   {90, "critical"}, {100, "critical"}};

    EACH_ROW(i, rows)
        CHECK_STR(seine_severity_name(seine_severity_of(rows[i].tenths)), rows[i].name);
}
