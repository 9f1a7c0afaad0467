/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate_config.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static seine_config *
config_of(const char *text)
{
    seine_config *c = NULL;

    CHECK_EQ(seine_config_parse(text, strlen(text), "t.yaml", &c), SEINE_OK);
    return c;
}

static seine_gate_config *
rules_of(seine_config *c)
{
    seine_gate_config *r = NULL;

    CHECK_EQ(seine_gate_config_new(c, seine_config_get(seine_config_root(c), "gate"), &r),
             SEINE_OK);
    return r;
}

/* "1:2 text|3:4 text" */
static const char *
mistakes_of(const char *text)
{
    static char out[1024];
    seine_config *c = config_of(text);
    seine_gate_config *r = rules_of(c);
    const seine_diag *d;
    size_t n = 0;

    out[0] = 0;
    for (size_t i = 0; (d = seine_config_mistake(c, i)); i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%d:%d %s", i > 0 ? "|" : "",
                              (int)d->line, (int)d->column, d->text);
    seine_gate_config_free(r);
    seine_config_free(c);
    return out;
}

TEST(gate_config_reads_the_section_of_the_manual)
{
    seine_config *c = config_of(
        "gate: {allow: [10.0.0.0/8], deny: [203.0.113.0/24, \"2001:db8::/32\"], "
        "policies: "
        "[{name: login, match: {path: /login, method: POST}, rate: 5/m, burst: 5}, "
        "{name: api, match: {path: /api/, method: [GET, HEAD]}, key: "
        "\"header:X-Api-Key\", rate: 50/s, burst: 100}, "
        "{name: default, rate: 10/s}]}");
    seine_gate_config *r = rules_of(c);
    seine_gate_opts o = SEINE_GATE_OPTS;
    seine_gate *g = NULL;

    CHECK(!seine_config_mistake(c, 0));
    seine_gate_config_fill(r, &o);
    CHECK_EQ(o.n_policies, 3);
    CHECK_STR(o.allow[0], "10.0.0.0/8");
    CHECK(!o.allow[1]);
    CHECK_STR(o.deny[1], "2001:db8::/32");
    CHECK(!o.deny[2]);
    CHECK_STR(o.policies[0].name, "login");
    CHECK_STR(o.policies[0].path, "/login");
    CHECK_STR(o.policies[0].methods[0], "POST");
    CHECK(!o.policies[0].methods[1]);
    CHECK_EQ(o.policies[0].rate.count, 1); /* 5/m is one in 12 s */
    CHECK_EQ(o.policies[0].rate.per, SEINE_SECS(12));
    CHECK_EQ(o.policies[0].rate.burst, 5);
    CHECK_STR(o.policies[1].header, "X-Api-Key");
    CHECK_STR(o.policies[1].methods[1], "HEAD");
    CHECK(!o.policies[2].path && !o.policies[2].methods && !o.policies[2].header);
    CHECK_EQ(o.policies[2].rate.burst, 10); /* that of a second */
    seine_config_free(c);                   /* the rules stand alone */
    CHECK_EQ(seine_gate_new(&o, &g, NULL), SEINE_OK);
    seine_gate_free(g);
    seine_gate_config_free(r);
}

TEST(gate_config_tells_every_mistake_at_its_place)
{
    static const char *const rows[][2] = {
        {"gate:", ""},
        {"gate: {}", ""},
        {"gate: 5", "1:7 a map is wanted; try gate: {policies: […]}"},
        {"gate: {polices: []}", "1:8 unknown key 'polices' in gate; try policies"},
        {"gate: {policies: {}}",
         "1:18 a list is wanted; try - {name: default, rate: 10/s}"},
        {"gate: {policies: [a]}",
         "1:19 a map is wanted; try {name: default, rate: 10/s, burst: 20}"},
        {"gate: {policies: [{name: a, rate: 10/s, brust: 3}]}",
         "1:41 unknown key 'brust' in a policy; try burst"},
        {"gate: {policies: [{rate: 10/s}]}",
         "1:19 a policy needs a name; try name: default"},
        {"gate: {policies: [{name: a}]}", "1:19 a policy needs a rate; try rate: 10/s"},
        {"gate: {policies: [{name: a, rate: off}]}",
         "1:35 a rate must be above 0; try 10/s"},
        {"gate: {policies: [{name: a, rate: 1/s, burst: 0}]}",
         "1:47 from 1 to 4,294,967,295"},
        {"gate: {policies: [{name: 'a\"b', rate: 1/s}]}",
         "1:26 a name has 1 to 63 printable characters, none of them \" or \\"},
        {"gate: {policies: [{name: a, rate: 1/s}, {name: a, rate: 1/s}]}",
         "1:48 two policies have this name"},
        {"gate: {policies: [{name: a, rate: 1/s, match: /x}]}",
         "1:47 a map is wanted; try match: {path: /login, method: POST}"},
        {"gate: {policies: [{name: a, rate: 1/s, match: {path: x}}]}",
         "1:54 a path begins with / and has no query"},
        {"gate: {policies: [{name: a, rate: 1/s, match: {method: 'a b'}}]}",
         "1:56 not a method; try GET"},
        {"gate: {policies: [{name: a, rate: 1/s, match: {method: Post}}]}",
         "1:56 methods are written in capitals; try POST"},
        {"gate: {policies: [{name: a, rate: 1/s, match: {path: /login*}}]}",
         "1:54 a path fits what is below it, and a * in it fits nothing; try /login"},
        {"gate: {policies: [{name: a, rate: 1/s, match: {host: h}}]}",
         "1:48 unknown key 'host' in match; try path or method"},
        {"gate: {policies: [{name: a, rate: 1/s, key: X-Api-Key}]}",
         "1:45 not a key; try client, or header:X-Api-Key"},
        {"gate: {policies: [{name: a, rate: 1/s, key: 'header:'}]}",
         "1:45 not a key; try client, or header:X-Api-Key"},
        {"gate: {allow: [10.0.0.1/8, {}], deny: '::1/129'}",
         "1:16 not a network; try 10.0.0.0/8 or 2001:db8::/32|1:28 a text is wanted|"
         "1:39 not a network; try 10.0.0.0/8 or 2001:db8::/32"},
        {"gate: {policies: [{name: a, rate: 1/1000000000h, burst: 4000000000}]}", NULL},
    };

    EACH_ROW(i, rows) {
        const char *got = mistakes_of(rows[i][0]);

        if (rows[i][1])
            CHECK_STR(got, rows[i][1]);
        else
            CHECK(got[0]);
    }
}

TEST(gate_config_lets_a_typed_policy_replace_one_of_its_name)
{
    seine_config *c = config_of("gate: {policies: [{name: default, rate: 1/s}, "
                                "{name: other, rate: 2/s}]}");
    seine_gate_config *r = rules_of(c);
    seine_gate_policy p = SEINE_GATE_POLICY;
    seine_gate_opts o = SEINE_GATE_OPTS;

    CHECK_EQ(seine_gate_config_add(r, &p), SEINE_OK);
    seine_gate_config_fill(r, &o);
    CHECK_EQ(o.n_policies, 2);
    CHECK_STR(o.policies[0].name, "other");
    CHECK_STR(o.policies[1].name, "default");
    CHECK_EQ(o.policies[1].rate.count, 10);
    seine_gate_config_free(r);
    seine_config_free(c);
}

TEST(gate_config_has_the_burst_of_a_second)
{
    static const struct {
        seine_frequency rate;
        uint32_t burst;
    } rows[] = {
        {{10, SEINE_SECS(1)}, 10},     {{5, SEINE_SECS(60)}, 1},
        {{90, SEINE_SECS(60)}, 2}, /* rounded up */
        {{1, SEINE_SECS(1)}, 1},       {{0, 0}, 1},
        {{UINT64_MAX, 1}, UINT32_MAX},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(seine_gate_config_burst(rows[i].rate), rows[i].burst);
}

TEST(gate_config_survives_every_failing_allocation)
{
    seine_config *c =
        config_of("gate: {allow: [10.0.0.0/8], policies: [{name: a, match: "
                  "{path: /x, method: [GET]}, key: 'header:K', rate: 1/s}]}");

    FAIL_EACH(n)
    {
        seine_gate_config *r = NULL;
        seine_err e =
            seine_gate_config_new(c, seine_config_get(seine_config_root(c), "gate"), &r);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_gate_config_free(r);
    }
    seine_config_free(c);
}
