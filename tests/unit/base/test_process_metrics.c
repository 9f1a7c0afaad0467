/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/process_metrics.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "failing.h"

static const seine_build build = {"1.2.3", "abcdef0", "C 17"};

/* The value of a series without labels, or of one whose line begins with `series`; -1:
 * there is none. */
static double
value(const seine_metrics *m, const char *series)
{
    seine_text text = {0};
    double v = -1;

    CHECK_EQ(seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    for (char *p = text.bytes; p && *p;) {
        if (strncmp(p, series, strlen(series)) == 0 && p[strlen(series)] == ' ')
            v = strtod(p + strlen(series) + 1, NULL);
        p = strchr(p, '\n');
        p = p ? p + 1 : NULL;
    }
    seine_text_free(&text);
    return v;
}

TEST(process_metrics_name_the_build)
{
    seine_metrics *m;
    seine_process_metrics *p;

    CHECK_EQ(seine_metrics_new(&m), SEINE_OK);
    CHECK_EQ(seine_process_metrics_new(m, &build, NULL, &p), SEINE_OK);
    CHECK_EQ((int)value(m, "seine_build_info{version=\"1.2.3\",revision=\"abcdef0\","
                           "compiler=\"C 17\"}"),
             1);
    seine_process_metrics_free(p);
    seine_metrics_free(m);
}

TEST(process_metrics_follow_the_open_files_and_the_time_that_was_used)
{
    seine_metrics *m;
    seine_process_metrics *p;

    CHECK_EQ(seine_metrics_new(&m), SEINE_OK);
    CHECK_EQ(seine_process_metrics_new(m, &build, NULL, &p), SEINE_OK);
    seine_process_metrics_refresh(p);
    double files = value(m, "process_open_fds"),
           cpu = value(m, "process_cpu_seconds_total");
    CHECK(files >= 3 && files < value(m, "process_max_fds"));
    CHECK(value(m, "process_resident_memory_bytes") > 100000);
    CHECK(value(m, "process_start_time_seconds") > 1700000000);

    int fds[2];
    CHECK_EQ(pipe(fds), 0);
    seine_process_metrics_refresh(p);
    CHECK_EQ((long long)value(m, "process_open_fds"), (long long)files + 2);
    CHECK(value(m, "process_cpu_seconds_total") >= cpu);
    close(fds[0]);
    close(fds[1]);
    seine_process_metrics_refresh(p);
    CHECK_EQ((long long)value(m, "process_open_fds"), (long long)files);
    seine_process_metrics_free(p);
    seine_metrics_free(m);
}

TEST(process_metrics_refuse_what_is_missing)
{
    seine_metrics *m;
    seine_process_metrics *p = NULL;

    CHECK_EQ(seine_metrics_new(&m), SEINE_OK);
    CHECK_EQ(seine_process_metrics_new(NULL, &build, NULL, &p), SEINE_E_INVAL);
    CHECK_EQ(seine_process_metrics_new(m, NULL, NULL, &p), SEINE_E_INVAL);
    CHECK_EQ(seine_process_metrics_new(m, &build, NULL, NULL), SEINE_E_INVAL);
    CHECK(!p);
    seine_process_metrics_free(NULL);
    seine_process_metrics_refresh(NULL);
    seine_metrics_free(m);
}
