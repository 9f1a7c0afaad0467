/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate_server.h"

#include <string.h>

#include "check.h"

/* What it serves is tested on sockets: tests/integ/test_gate_server.c. */
TEST(gate_server_refuses_options_that_cannot_be_served)
{
    seine_gate_policy p = SEINE_GATE_POLICY;
    seine_gate_opts gate_opts = SEINE_GATE_OPTS;
    seine_gate_server_opts o = SEINE_GATE_SERVER_OPTS;
    seine_gate_server *s = NULL;
    seine_diag d = SEINE_DIAG;
    seine_gate *g = NULL;

    gate_opts.policies = &p;
    gate_opts.n_policies = 1;
    CHECK_EQ(seine_gate_new(&gate_opts, &g, NULL), SEINE_OK);
    CHECK_EQ(seine_gate_server_new(&o, &s, &d), SEINE_E_INVAL); /* no gate */
    o.gate = g;
    o.listen = NULL;
    CHECK_EQ(seine_gate_server_new(&o, &s, &d), SEINE_E_INVAL);
    o.listen = "nowhere";
    CHECK_EQ(seine_gate_server_new(&o, &s, &d), SEINE_E_CONFIG);
    CHECK_STR(d.member, "listen");
    CHECK(strstr(d.text, "'nowhere'") != NULL);
    o.size = 1;
    CHECK_EQ(seine_gate_server_new(&o, &s, &d), SEINE_E_INVAL);
    CHECK(!s);
    seine_gate_free(g);
    seine_gate_server_free(NULL);
    CHECK(!seine_gate_server_where(NULL, "http"));
}
