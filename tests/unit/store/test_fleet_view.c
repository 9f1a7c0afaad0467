/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/fleet_view.h"

#include <string.h>

#include "check.h"

TEST(fleet_view_says_in_one_line_why_a_store_is_refused)
{
    static const char *const tls = "rediss://db.example/";
    static const char *const nobody = "unix:///nowhere/redis.sock";
    seine_diag diag = SEINE_DIAG;
    seine_fleet_view *v = NULL;
    char line[SEINE_DIAG_ROOM] = "";

    CHECK_EQ(seine_fleet_view_open(&tls, 1, &v, &diag), SEINE_E_CONFIG);
    (void)seine_diag_print(&diag, NULL, line, sizeof line);
    CHECK(strstr(line, "TLS") != NULL);
    CHECK_EQ(seine_fleet_view_open(&nobody, 1, &v, &diag), SEINE_E_STORE_UNAVAILABLE);
    (void)seine_diag_print(&diag, NULL, line, sizeof line);
    CHECK(strstr(line, "refuses the connection") != NULL);
    CHECK(v == NULL);
}

TEST(fleet_view_that_is_none_answers_all_questions)
{
    static const char *const nobody = "unix:///nowhere/redis.sock";
    seine_fleet_view *v = NULL;
    seine_fleet_about about;

    CHECK_EQ(seine_fleet_view_open(&nobody, 0, &v, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_open(&nobody, 17, &v, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_open(NULL, 1, &v, NULL), SEINE_E_INVAL);
    seine_fleet_view_free(NULL);
    CHECK_EQ(seine_fleet_view_names(NULL, NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_job(NULL, "news", &about, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_workers(NULL, "news", NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_partitions(NULL, "news", NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_segments(NULL, "news", NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_steer(NULL, "news", "paused", NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_view_remove(NULL, "news", NULL), SEINE_E_INVAL);
}
