/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate_config.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/time.h"
#include "gate/gate.h"
#include "net/cidr.h"
#include "net/h1.h"

struct seine_gate_config {
    sn_arena arena; /* of lists and texts */
    seine_gate_policy policies[SN_GATE_POLICIES];
    size_t n;
    const char **allow, **deny;
};

/* One reading: where mistakes go, and whether memory ran out. */
typedef struct reading {
    seine_config *config;
    seine_gate_config *rules;
    bool is_out;
} reading;

uint32_t
seine_gate_config_burst(seine_frequency rate)
{
    if (rate.per <= 0)
        return 1;
    sn_u128 n = (sn_u128)rate.count * (uint64_t)SEINE_SECS(1);

    n = (n + (uint64_t)rate.per - 1) / (uint64_t)rate.per;
    return n < 1 ? 1 : n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* The text of a scalar; NULL: it is none, or empty, which was told. */
static const char *
text_at(reading *r, const seine_config_node *n)
{
    if (seine_config_kind_of(n) == SEINE_CONFIG_TEXT && seine_config_text(n)[0])
        return seine_config_text(n);
    seine_config_wrong(r->config, n, "a text is wanted");
    return NULL;
}

static bool
is_map(reading *r, const seine_config_node *n, const char *try)
{
    if (seine_config_kind_of(n) == SEINE_CONFIG_MAP)
        return true;
    char text[SEINE_DIAG_TEXT];
    snprintf(text, sizeof text, "a map is wanted; try %s", try);
    seine_config_wrong(r->config, n, text);
    return false;
}

static size_t
count_of(const seine_config_node *n)
{
    size_t count = 0;

    for (const seine_config_node *i = seine_config_first(n); i; i = seine_config_next(i))
        count++;
    return count;
}

/* One text or a list of them, each checked. NULL: out of memory, which is kept. */
static const char **
texts_at(reading *r, const seine_config_node *n,
         void (*check)(reading *r, const seine_config_node *n, const char *text))
{
    bool is_list = seine_config_kind_of(n) == SEINE_CONFIG_LIST;
    size_t most = is_list ? count_of(n) : 1, count = 0;
    const char **list = SN_ARENA_ARRAY(&r->rules->arena, const char *, most + 1);

    if (!list) {
        r->is_out = true;
        return NULL;
    }
    for (const seine_config_node *i = is_list ? seine_config_first(n) : n; i;
         i = is_list ? seine_config_next(i) : NULL) {
        const char *text = text_at(r, i);

        if (!text)
            continue;
        check(r, i, text);
        list[count] = sn_arena_text(&r->rules->arena, sn_str_of(text));
        r->is_out |= !list[count++];
    }
    return list;
}

static void
check_net(reading *r, const seine_config_node *n, const char *text)
{
    sn_cidr net;

    if (sn_cidr_parse(sn_str_of(text), &net) != SEINE_OK)
        seine_config_wrong(r->config, n,
                           "not a network; try 10.0.0.0/8 or 2001:db8::/32");
}

/* Methods are compared as they are: "post" would fit no request. */
static void
check_method(reading *r, const seine_config_node *n, const char *text)
{
    char wrong[SEINE_DIAG_TEXT] = "methods are written in capitals; try ";
    size_t at = strlen(wrong);
    bool has_small = false;

    if (!sn_h1_is_name(sn_str_of(text))) {
        seine_config_wrong(r->config, n, "not a method; try GET");
        return;
    }
    for (const char *c = text; *c; c++) {
        bool is_small = *c >= 'a' && *c <= 'z';

        has_small |= is_small;
        if (at + 1 < sizeof wrong)
            wrong[at++] = is_small ? (char)(*c - 'a' + 'A') : *c;
    }
    wrong[at] = '\0';
    if (has_small)
        seine_config_wrong(r->config, n, wrong);
}

static const char *
copy_of(reading *r, const char *text)
{
    const char *own = sn_arena_text(&r->rules->arena, sn_str_of(text));

    r->is_out |= !own;
    return own;
}

static void
read_match(reading *r, const seine_config_node *n, seine_gate_policy *p)
{
    static const char *const keys[] = {"path", "method", NULL};

    if (!is_map(r, n, "match: {path: /login, method: POST}"))
        return;
    for (const seine_config_node *i = seine_config_first(n); i;
         i = seine_config_next(i)) {
        if (!seine_config_knows(r->config, i, "match", keys, "path or method"))
            continue;
        if (strcmp(seine_config_key(i), "method") == 0) {
            p->methods = texts_at(r, i, check_method);
            continue;
        }
        const char *path = text_at(r, i);
        if (path && (path[0] != '/' || strpbrk(path, "?#")))
            seine_config_wrong(r->config, i, "a path begins with / and has no query");
        else if (path && strchr(path, '*'))
            seine_config_wrong(r->config, i,
                               "a path fits what is below it, and a * in it "
                               "fits nothing; try /login");
        p->path = path ? copy_of(r, path) : NULL;
    }
}

static void
read_key(reading *r, const seine_config_node *n, seine_gate_policy *p)
{
    const char *text = text_at(r, n);
    sn_str prefix = SN_STR("header:"), key = sn_str_of(text);

    if (!text || strcmp(text, "client") == 0)
        return;
    if (!sn_str_starts(key, prefix) || key.len - prefix.len > SN_GATE_HEADER ||
        !sn_h1_is_name(sn_str_slice(key, prefix.len, key.len)))
        seine_config_wrong(r->config, n, "not a key; try client, or header:X-Api-Key");
    else
        p->header = copy_of(r, text + prefix.len);
}

static void
read_rate(reading *r, const seine_config_node *n, seine_gate_policy *p)
{
    seine_frequency f = {0, 0};
    const char *text = text_at(r, n), *why = text ? seine_units_rate(text, &f) : NULL;

    if (why)
        seine_config_wrong(r->config, n, why);
    else if (text && f.count == 0)
        seine_config_wrong(r->config, n, "a rate must be above 0; try 10/s");
    p->rate.count = f.count;
    p->rate.per = f.per;
}

static void
read_burst(reading *r, const seine_config_node *n, seine_gate_policy *p)
{
    uint64_t burst = 0;
    const char *text = text_at(r, n),
               *why = text ? seine_units_count(text, &burst) : NULL;

    if (!text)
        return;
    if (why || burst == 0 || burst > UINT32_MAX)
        seine_config_wrong(r->config, n, why ? why : "from 1 to 4,294,967,295");
    else
        p->rate.burst = (uint32_t)burst;
}

static void
read_name(reading *r, const seine_config_node *n, seine_gate_policy *p)
{
    const char *text = text_at(r, n);

    if (!text)
        return;
    p->name = copy_of(r, text);
    if (!sn_gate_is_name(text))
        seine_config_wrong(
            r->config, n,
            "a name has 1 to 63 printable characters, none of them \" or \\");
    for (size_t i = 0; p->name && i < r->rules->n; i++)
        if (r->rules->policies[i].name && strcmp(r->rules->policies[i].name, text) == 0)
            seine_config_wrong(r->config, n, "two policies have this name");
}

static const struct {
    const char *key;
    void (*read)(reading *r, const seine_config_node *n, seine_gate_policy *p);
} members[] = {
    {"name", read_name}, {"match", read_match}, {"key", read_key},
    {"rate", read_rate}, {"burst", read_burst},
};

/* What all members together say. */
static void
check_policy(reading *r, const seine_config_node *n, seine_gate_policy *p)
{
    seine_frequency f = {p->rate.count, p->rate.per};
    seine_limiter lim;

    if (!seine_config_get(n, "name"))
        seine_config_wrong(r->config, n, "a policy needs a name; try name: default");
    if (!seine_config_get(n, "rate"))
        seine_config_wrong(r->config, n, "a policy needs a rate; try rate: 10/s");
    if (p->rate.burst == 0)
        p->rate.burst = seine_gate_config_burst(f);
    if (p->rate.count > 0 &&
        seine_limiter_init_rate(&lim, &p->rate, SEINE_FULL, 0) != SEINE_OK)
        seine_config_wrong(r->config, n, "a bucket that takes over 146 years to fill");
}

static void
read_policy(reading *r, const seine_config_node *n)
{
    static const char *const keys[] = {"name", "match", "key", "rate", "burst", NULL};
    seine_gate_policy p = SEINE_GATE_POLICY;

    if (!is_map(r, n, "{name: default, rate: 10/s, burst: 20}"))
        return;
    if (r->rules->n == SN_GATE_POLICIES) {
        seine_config_wrong(r->config, n, "at most 256 policies");
        return;
    }
    p.name = NULL;
    p.rate = (seine_rate){0, 0, 0};
    for (const seine_config_node *i = seine_config_first(n); i;
         i = seine_config_next(i)) {
        if (!seine_config_knows(r->config, i, "a policy", keys, "name, match, key, rate"))
            continue;
        for (size_t j = 0; j < sizeof members / sizeof *members; j++)
            if (strcmp(seine_config_key(i), members[j].key) == 0)
                members[j].read(r, i, &p);
    }
    check_policy(r, n, &p);
    r->rules->policies[r->rules->n++] = p;
}

static void
read_policies(reading *r, const seine_config_node *n)
{
    if (seine_config_kind_of(n) != SEINE_CONFIG_LIST) {
        seine_config_wrong(r->config, n,
                           "a list is wanted; try - {name: default, rate: 10/s}");
        return;
    }
    for (const seine_config_node *i = seine_config_first(n); i; i = seine_config_next(i))
        read_policy(r, i);
}

static void
read_gate(reading *r, const seine_config_node *gate)
{
    static const char *const keys[] = {"allow", "deny", "policies", NULL};

    for (const seine_config_node *i = seine_config_first(gate); i;
         i = seine_config_next(i)) {
        const char *key = seine_config_key(i);

        if (!seine_config_knows(r->config, i, "gate", keys, "allow, deny or policies"))
            continue;
        if (strcmp(key, "policies") == 0)
            read_policies(r, i);
        else if (strcmp(key, "allow") == 0)
            r->rules->allow = texts_at(r, i, check_net);
        else
            r->rules->deny = texts_at(r, i, check_net);
    }
}

seine_err
seine_gate_config_new(seine_config *c, const seine_config_node *gate,
                      seine_gate_config **out_rules)
{
    if (!c || !out_rules)
        return SEINE_E_INVAL;
    seine_gate_config *rules = sn_zalloc(sizeof *rules);
    if (!rules)
        return SEINE_E_NOMEM;
    reading r = {c, rules, false};
    sn_arena_init(&rules->arena, 4096, 16 << 20);
    if (gate && !seine_config_is_null(gate) && is_map(&r, gate, "gate: {policies: […]}"))
        read_gate(&r, gate);
    if (r.is_out) {
        seine_gate_config_free(rules);
        return SEINE_E_NOMEM;
    }
    *out_rules = rules;
    return SEINE_OK;
}

void
seine_gate_config_free(seine_gate_config *rules)
{
    if (!rules)
        return;
    sn_arena_fini(&rules->arena);
    sn_free(rules);
}

seine_err
seine_gate_config_add(seine_gate_config *rules, const seine_gate_policy *policy)
{
    size_t kept = 0;

    if (!rules || !policy || !policy->name)
        return SEINE_E_INVAL;
    for (size_t i = 0; i < rules->n; i++)
        if (!rules->policies[i].name ||
            strcmp(rules->policies[i].name, policy->name) != 0)
            rules->policies[kept++] = rules->policies[i];
    rules->n = kept;
    if (kept == SN_GATE_POLICIES)
        return SEINE_E_FULL;
    rules->policies[rules->n++] = *policy;
    return SEINE_OK;
}

void
seine_gate_config_fill(const seine_gate_config *rules, seine_gate_opts *opts)
{
    if (!rules || !opts)
        return;
    opts->policies = rules->policies;
    opts->n_policies = rules->n;
    opts->allow = rules->allow;
    opts->deny = rules->deny;
}
