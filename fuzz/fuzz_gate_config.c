/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section `gate` of a configuration. What is read without a mistake makes a gate that
 * decides; all mistakes have a place and a text.
 */
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include "seine/gate_config.h"
#include "seine/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
try_gate(const seine_gate_config *rules)
{
    struct sockaddr_in peer = {.sin_family = AF_INET};
    seine_gate_opts opts = SEINE_GATE_OPTS;
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_answer answer;
    seine_gate_fields fields;
    seine_gate *gate = NULL;

    seine_gate_config_fill(rules, &opts);
    opts.max_keys = 16;
    if (opts.n_policies > 8) /* each has a table: a few are as good as many */
        opts.n_policies = 8;
    REQUIRE(seine_gate_new(&opts, &gate, NULL) == SEINE_OK);
    req.peer = (struct sockaddr *)&peer;
    req.method = seine_key_str("GET");
    req.target = seine_key_str("/login?x");
    seine_gate_check(gate, &req, SEINE_SECS(1), &answer);
    seine_gate_write(&answer, &fields);
    REQUIRE(answer.allowed || fields.retry_after[0]);
    REQUIRE(!strpbrk(fields.limit, "\r\n"));
    seine_gate_free(gate);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    seine_config *c = NULL;
    seine_gate_config *rules = NULL;

    if (n > 65536 || seine_config_parse((const char *)bytes, n, "f", &c) != SEINE_OK)
        return 0;
    const seine_config_node *gate = seine_config_get(seine_config_root(c), "gate");
    if (seine_gate_config_new(c, gate, &rules) == SEINE_OK) {
        if (!seine_config_mistake(c, 0))
            try_gate(rules);
        for (size_t i = 0; seine_config_mistake(c, i); i++)
            REQUIRE(seine_config_mistake(c, i)->text[0]);
    }
    seine_gate_config_free(rules);
    seine_config_free(c);
    return 0;
}
