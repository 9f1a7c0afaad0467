/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the mistakes of `hosts:` and `groups:`. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_net.h"
#include "config/config_values.h"
#include "config/host_config.h"
#include "options/fetch_settings.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

const char *const host_config_keys[] = {
    "host-rate", "host-burst",      "per-host",
    "adaptive",  "timeout",         "connect-timeout",
    "min-speed", "retries",         "retry-on",
    "backoff",   "max-retry-after", "breaker",
    "robots",    "headers",         "send-to",
    "user",      "max-crawl-delay", "cookies",
    "proxy",     "insecure",        "user-agent",
    "max-body",  "accept",          "cacert",
    NULL,
};

/* What a group limits, all its members together. */
static const char *const joint_keys[] = {"host-rate", "host-burst", "per-host", NULL};

static bool
is_key(const seine_config_node *n, const char *name)
{
    const char *key = seine_config_key(n);

    while (*key && (*key == '_' ? '-' : *key) == *name)
        key++, name++;
    return !*key && !*name;
}

static void
wrong(seine_config *c, const seine_config_node *n, const char *what, const char *text)
{
    char line[SEINE_DIAG_TEXT * 2];

    snprintf(line, sizeof line, "%s '%.60s' %s", what, show(seine_config_key(n)).text,
             text);
    seine_config_wrong_key(c, n, line);
}

static void
wrong_host(seine_config *c, const seine_config_node *n, const char *why)
{
    char line[SEINE_DIAG_TEXT * 2];

    snprintf(line, sizeof line, "host '%.60s': %s", show(seine_config_key(n)).text, why);
    seine_config_wrong_key(c, n, line);
}

static bool
is_header_name(const char *text)
{
    for (const char *p = text; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("!#$%&'*+-.^_`|~", *p))
            return false;
    return *text;
}

/* Fields that the program makes itself. */
static bool
is_ours(const char *name)
{
    static const char *const ours[] = {
        "host",    "content-length", "transfer-encoding", "connection",         "te",
        "upgrade", "keep-alive",     "trailer",           "proxy-authorization"};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcasecmp(ours[i], name) == 0)
            return true;
    return false;
}

static void
check_headers(seine_config *c, const seine_config_node *n)
{
    const char *value;

    if (seine_config_kind_of(n) != SEINE_CONFIG_MAP) {
        seine_config_wrong(c, n, "headers must be a map; try headers: {X-Key: env:KEY}");
        return;
    }
    for (const seine_config_node *v = seine_config_first(n); v;
         v = seine_config_next(v)) {
        if (!is_header_name(seine_config_key(v)))
            wrong(c, v, "header", "is no name of a header; try X-Key");
        else if (is_ours(seine_config_key(v)))
            wrong(c, v, "header", "is made by the program; try without it");
        else if (config_value_text(c, v, &value) && strpbrk(value, "\r\n"))
            seine_config_wrong(c, v, "a value of one line is wanted");
    }
}

/* A text or a list of texts, each of which `check` may refuse. */
static void
check_texts(seine_config *c, const seine_config_node *n, const char *name,
            const char *(*check)(const char *text))
{
    bool is_list = seine_config_kind_of(n) == SEINE_CONFIG_LIST;
    const seine_config_node *v = is_list ? seine_config_first(n) : n;
    char line[SEINE_DIAG_TEXT];

    if (is_list && !v) {
        snprintf(line, sizeof line, "%s is empty", name);
        seine_config_wrong(c, n, line);
    }
    for (; v; v = is_list ? seine_config_next(v) : NULL) {
        const char *why =
            seine_config_kind_of(v) != SEINE_CONFIG_TEXT || seine_config_is_null(v)
                ? "is no text"
                : check(seine_config_text(v));

        if (!why)
            continue;
        snprintf(line, sizeof line, "%s '%.60s': %s", name,
                 show(seine_config_text(v)).text, why);
        seine_config_wrong(c, v, line);
    }
}

/* "e.example", "e.example:8080", "*.e.example": no URL and nothing that is no name. */
static const char *
refuse_host(const char *text)
{
    if (strstr(text, "://"))
        return "a URL, not the name of a host; try e.example or e.example:8080";
    if (!*text || strpbrk(text, " \t/@?#,"))
        return "not the name of a host; try e.example or *.e.example";
    return NULL;
}

/* Names, patterns and networks. */
static const char *
refuse_member(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash && !strstr(text, "://") ? config_net_refuse(text) : refuse_host(text);
}

static const char *
refuse_origin(const char *text)
{
    const char *name = strstr(text, "://");

    return refuse_host(name ? name + 3 : text);
}

/* A key that is an option of fetch. */
static void
check_option(seine_config *c, const seine_config_node *n)
{
    fetch_settings *set = xalloc_zeroed(1, sizeof *set);
    char name[64];
    bool no;

    snprintf(name, sizeof name, "%s", seine_config_key(n));
    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : *p;
    const option *o = options_by_name(&cmd_fetch, name, strlen(name), &no);
    if (o)
        (void)config_value_read(c, n, o, set);
    values_free(&cmd_fetch, set);
    free(set);
}

static void
check_key(seine_config *c, const seine_config_node *n)
{
    if (is_key(n, "headers"))
        check_headers(c, n);
    else if (is_key(n, "send-to"))
        check_texts(c, n, "send-to", refuse_origin);
    else
        check_option(c, n);
}

static bool
check_map(seine_config *c, const seine_config_node *n, const char *what, const char *hint)
{
    char line[SEINE_DIAG_TEXT];

    if (seine_config_kind_of(n) == SEINE_CONFIG_MAP)
        return true;
    snprintf(line, sizeof line, "%s must be a map; try %s", what, hint);
    if (seine_config_is_null(n))
        seine_config_wrong_key(c, n, line);
    else
        seine_config_wrong(c, n, line);
    return false;
}

void
host_config_check_hosts(seine_config *c, const seine_config_node *hosts)
{
    if (!check_map(c, hosts, "hosts", "{e.example: {host-rate: 1/s}}"))
        return;
    for (const seine_config_node *h = seine_config_first(hosts); h;
         h = seine_config_next(h)) {
        const char *why = refuse_host(seine_config_key(h));

        if (why)
            wrong_host(c, h, why);
        if (!check_map(c, h, "the settings of a host", "{host-rate: 1/s}"))
            continue;
        for (const seine_config_node *n = seine_config_first(h); n;
             n = seine_config_next(n))
            if (seine_config_knows(c, n, "a host", host_config_keys,
                                   "host-rate, per-host, timeout, headers …"))
                check_key(c, n);
    }
}

static bool
is_joint(const seine_config_node *n)
{
    for (size_t i = 0; joint_keys[i]; i++)
        if (is_key(n, joint_keys[i]))
            return true;
    return false;
}

/* Is one of the members a network? */
static bool
has_net(const seine_config_node *match)
{
    bool is_list = seine_config_kind_of(match) == SEINE_CONFIG_LIST;
    const seine_config_node *v = is_list ? seine_config_first(match) : match;

    for (; v; v = is_list ? seine_config_next(v) : NULL)
        if (strchr(seine_config_text(v), '/'))
            return true;
    return false;
}

static void
check_group_key(seine_config *c, const seine_config_node *g, const seine_config_node *n)
{
    if (is_key(n, "match"))
        check_texts(c, n, "match", refuse_member);
    else if (!seine_config_knows(c, n, "a group", host_config_keys,
                                 "match, host-rate, host-burst or per-host"))
        return;
    else if (!is_joint(n) && has_net(seine_config_get(g, "match")))
        wrong(c, n, "key", "is for names, not for a network; try a group of names");
    else
        check_key(c, n);
}

/* A key that is wrong is a key: one mistake is told once. */
static bool
sets_something(const seine_config_node *g)
{
    const seine_config_node *n = seine_config_first(g);

    while (n && is_key(n, "match"))
        n = seine_config_next(n);
    return n != NULL;
}

static void
check_group(seine_config *c, const seine_config_node *g)
{
    for (const seine_config_node *n = seine_config_first(g); n; n = seine_config_next(n))
        check_group_key(c, g, n);
    if (!seine_config_get(g, "match"))
        wrong(c, g, "group", "has no members; try match: ['*.shop.example']");
    if (!sets_something(g))
        wrong(c, g, "group", "sets nothing; try host-rate: 2/s");
}

void
host_config_check_groups(seine_config *c, const seine_config_node *groups)
{
    size_t n = 0;

    if (!check_map(c, groups, "groups",
                   "{shop: {match: '*.shop.example', host-rate: 1/s}}"))
        return;
    for (const seine_config_node *g = seine_config_first(groups); g;
         g = seine_config_next(g), n++) {
        if (n == 32)
            wrong(c, g, "group", "is one too many: there may be 32");
        if (check_map(c, g, "a group", "{match: '*.shop.example', host-rate: 1/s}"))
            check_group(c, g);
    }
}
