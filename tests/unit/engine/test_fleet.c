/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/fleet.h"

#include <string.h>

#include "check.h"

static const struct {
    const char *url, *says;
    seine_err err;
} refused[] = {
    {"rediss://db.example/", "TLS", SEINE_E_CONFIG},         /* this client has none */
    {"http://db.example/", "redis://", SEINE_E_CONFIG},      /* another scheme */
    {"redis://db.example:99999/", "port", SEINE_E_CONFIG},   /* no such port */
    {"unix:///nowhere/redis.sock", "refuses the connection", /* nobody listens */
     SEINE_E_STORE_UNAVAILABLE},
};

TEST(fleet_says_in_one_line_why_a_store_is_refused)
{
    EACH_ROW(i, refused) {
        seine_fleet_opts o = SEINE_FLEET_OPTS;
        seine_diag diag = SEINE_DIAG;
        seine_fleet *f = NULL;
        char line[SEINE_DIAG_ROOM] = "";

        o.stores = &refused[i].url;
        o.n_stores = 1;
        o.name = "news";
        CHECK_EQ(seine_fleet_open(&o, &f, &diag), refused[i].err);
        CHECK(f == NULL);
        (void)seine_diag_print(&diag, NULL, line, sizeof line);
        CHECK(strstr(line, refused[i].says) != NULL);
        CHECK(strchr(line, '\n') == NULL);
    }
}

TEST(fleet_needs_a_store_and_a_name)
{
    static const char *const store = "unix:///nowhere/redis.sock";
    seine_fleet_opts o = SEINE_FLEET_OPTS;
    seine_fleet *f = NULL;

    CHECK_EQ(seine_fleet_open(&o, &f, NULL), SEINE_E_INVAL);
    o.name = "news";
    CHECK_EQ(seine_fleet_open(&o, &f, NULL), SEINE_E_INVAL);
    o.stores = &store;
    o.n_stores = 17;
    CHECK_EQ(seine_fleet_open(&o, &f, NULL), SEINE_E_INVAL);
    o.n_stores = 1;
    o.size = 8;
    CHECK_EQ(seine_fleet_open(&o, &f, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_open(NULL, &f, NULL), SEINE_E_INVAL);
    CHECK(f == NULL);
}

TEST(fleet_that_is_none_answers_all_questions)
{
    seine_fleet_figures n = {0};

    seine_fleet_free(NULL);
    seine_fleet_stop(NULL);
    seine_fleet_figures_get(NULL, &n);
    CHECK_EQ(n.held, 0);
    CHECK(seine_fleet_job(NULL) == NULL && seine_fleet_command(NULL) == NULL);
    CHECK_STR(seine_fleet_warning(NULL), "");
    CHECK(!seine_fleet_is_new(NULL) && !seine_fleet_is_seeded(NULL));
    CHECK_EQ(seine_fleet_give(NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_given_all(NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_start(NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_err(NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fleet_state_get(NULL), SEINE_FLEET_FAILED);
}
