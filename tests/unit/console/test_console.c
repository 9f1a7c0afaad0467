/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/console.h"

#include <string.h>

#include "check.h"

/* What it serves is tested on sockets: tests/integ. */
TEST(console_refuses_options_that_cannot_be_served)
{
    seine_console_opts o = SEINE_CONSOLE_OPTS;
    seine_console *c = NULL;
    seine_diag d = SEINE_DIAG;

    CHECK_EQ(seine_console_new(&o, &c, &d), SEINE_E_CONFIG); /* no place for its state */
    CHECK_STR(d.member, "state_dir");
    o.listen = NULL;
    CHECK_EQ(seine_console_new(&o, &c, &d), SEINE_E_CONFIG);
    CHECK_STR(d.member, "listen");
    o.listen = "127.0.0.1:0";
    o.behind_proxy = true;
    CHECK_EQ(seine_console_new(&o, &c, &d), SEINE_E_CONFIG);
    CHECK_STR(d.member, "origin");
    o.size = 1;
    CHECK_EQ(seine_console_new(&o, &c, &d), SEINE_E_INVAL);
    CHECK(!c);
    seine_console_stop(NULL);
    seine_console_free(NULL);
    CHECK(!seine_console_url(NULL));
    CHECK(!seine_console_link(NULL));
}
