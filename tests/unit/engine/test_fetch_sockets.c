/* SPDX-License-Identifier: Apache-2.0 */
/* What the options say of nets; tests/integ/test_fetch.c has whether it is obeyed. */
#include "engine/fetch.h"

#include <string.h>

#include "check.h"

TEST(fetch_sockets_name_an_option_that_is_not_understood)
{
    static const char *const bad[] = {"300.0.0.0/8", NULL};
    static const size_t places[] = {offsetof(seine_fetch_opts, allow_net),
                                    offsetof(seine_fetch_opts, deny_net),
                                    offsetof(seine_fetch_opts, zones)};
    static const char *const names[] = {"allow_net", "deny_net", "zones"};

    EACH_ROW(i, places) {
        seine_fetch_opts o = SEINE_FETCH_OPTS;
        seine_diag diag = SEINE_DIAG;
        seine_fetch *f;

        *(const char *const **)(void *)((char *)&o + places[i]) = bad;
        CHECK_EQ(seine_fetch_new(&o, &f, &diag), SEINE_E_CONFIG);
        CHECK_STR(diag.member, names[i]);
        CHECK(strstr(diag.text, bad[0]));
    }
}

TEST(fetch_sockets_are_denied_ports_of_this_machine_by_their_numbers)
{
    static const struct {
        const char *text;
        seine_err err;
    } rows[] = {
        {"local:8787", SEINE_OK},           {"local:1", SEINE_OK},
        {"local:65535", SEINE_OK},          {"local:0", SEINE_E_CONFIG},
        {"local:65536", SEINE_E_CONFIG},    {"local:", SEINE_E_CONFIG},
        {"local:80x", SEINE_E_CONFIG},      {"local", SEINE_E_CONFIG},
        {"127.0.0.1:8787", SEINE_E_CONFIG},
    };

    EACH_ROW(i, rows) {
        const char *const list[] = {"10.0.0.0/8", rows[i].text, NULL};
        seine_fetch_opts o = SEINE_FETCH_OPTS;
        seine_diag diag = SEINE_DIAG;
        seine_fetch *f = NULL;

        o.deny_net = list;
        CHECK_EQ(seine_fetch_new(&o, &f, &diag), rows[i].err);
        seine_fetch_free(f);
    }
}
