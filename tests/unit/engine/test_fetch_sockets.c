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
