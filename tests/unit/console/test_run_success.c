/* SPDX-License-Identifier: Apache-2.0 */
#include "console/run_success.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "seine/time.h"

static bool
says(seine_metrics *m, const char *line)
{
    seine_text text = {NULL, 0};

    CHECK_EQ(seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    bool is = strstr(text.bytes, line) != NULL;
    seine_text_free(&text);
    return is;
}

static unsigned
series_of(seine_metrics *m)
{
    seine_text text = {NULL, 0};
    unsigned n = 0;

    CHECK_EQ(seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    for (const char *at = text.bytes; (at = strstr(at, "seconds{recipe=")); at++)
        n++;
    seine_text_free(&text);
    return n;
}

#define NAME "seine_job_last_success_timestamp_seconds"

TEST(run_success_is_the_newest_of_each_recipe_and_a_hundred_have_a_name)
{
    seine_metrics *m;
    sn_run_success *s;
    char title[32];

    CHECK_EQ(seine_metrics_new(&m), SEINE_OK);
    CHECK_EQ(sn_run_success_new(m, &s), SEINE_OK);
    CHECK(says(m, NAME "{recipe=\"other\"} 0\n"));
    sn_run_success_note(s, "a \"b\"", SEINE_SECS(20));
    sn_run_success_note(s, "a \"b\"", SEINE_SECS(10)); /* an older one */
    CHECK(says(m, NAME "{recipe=\"a \\\"b\\\"\"} 20\n"));
    for (int i = 1; i <= SN_RUN_SUCCESS_MOST; i++) {
        snprintf(title, sizeof title, "recipe %d", i);
        sn_run_success_note(s, title, SEINE_SECS(100 + i));
    }
    CHECK_EQ(series_of(m), SN_RUN_SUCCESS_MOST + 1);
    CHECK(says(m, NAME "{recipe=\"recipe 99\"} 199\n"));
    CHECK(says(m, NAME "{recipe=\"other\"} 200\n")); /* the 101st */
    sn_run_success_free(s);
    seine_metrics_free(m);
}
