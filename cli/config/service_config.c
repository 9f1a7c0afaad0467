/* SPDX-License-Identifier: Apache-2.0 */
#include "config/service_config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/url.h>

#include "config/config_net.h"
#include "config/config_values.h"
#include "options/help.h"
#include "options/suggest.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"

static bool
is_address(const char *text)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static const char *
refuse_listener(const char *text)
{
    if (strcmp(text, "localhost") == 0 || is_address(text) ||
        (strncmp(text, "unix:/", 6) == 0 && strlen(text) < 100))
        return NULL;
    return "not an address; try 127.0.0.1, ::1 or unix:/run/seine/console.sock";
}

static const char *
refuse_host(const char *text)
{
    return strcmp(text, "localhost") == 0 || is_address(text)
               ? NULL
               : "not an address; try 127.0.0.1 or ::1";
}

/* Scheme, host and port of an HTTP URL, or why it is none. */
static const char *
refuse_http(const char *text, bool may_have_path)
{
    char mem[2048];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, text, strlen(text), NULL) != SEINE_OK ||
        !seine_url_is_special(&u) || strncmp(text, "http", 4) != 0)
        return "not a URL that begins with http:// or https://";
    if (seine_url_fragment(&u).len > 0 || seine_url_query(&u).len > 0)
        return "has a query or a fragment";
    if (!may_have_path && seine_url_path(&u).len > 1)
        return "has a path; an origin is scheme, host and port";
    if (!may_have_path && seine_url_username(&u).len > 0)
        return "has a login; an origin is scheme, host and port";
    return NULL;
}

static const char *
refuse_origin(const char *text)
{
    return refuse_http(text, false);
}

static const char *
refuse_collector(const char *text)
{
    return refuse_http(text, true);
}

static const char *
refuse_database(const char *text)
{
    return strncmp(text, "sqlite:", 7) == 0 && text[7]
               ? NULL
               : "not a database that is known here; try sqlite:console.db";
}

static const char *
refuse_redis(const char *text)
{
    return strncmp(text, "redis://", 8) == 0 || strncmp(text, "unix://", 7) == 0
               ? NULL
               : "not a URL of Redis; try redis://127.0.0.1:6379/0";
}

#define AT(member) .at = offsetof(service_config, member)

/* clang-format off */
static const service_key keys[] = {
    {"server", {"host", NULL, KIND_TEXT, "ADDRESS|unix:/PATH", "127.0.0.1", AT(server.host), .help = "where `seine serve` listens"}, refuse_listener, false},
    {"server", {"port", NULL, KIND_COUNT, "N", "8787", AT(server.port), .max = 65535, .help = "its port; 0: any that is free"}, NULL, false},
    {"server", {"workers", NULL, KIND_COUNT, "N", "0", AT(server.workers), .max = 256, .help = "threads of a crawl; 0: cores - 1, at least 1; a recipe has one"}, NULL, false},
    {"server", {"origin", NULL, KIND_TEXT, "URL", NULL, AT(server.origin), .help = "what browsers type, behind a proxy"}, refuse_origin, false},
    {"server", {"behind_proxy", NULL, KIND_FLAG, AT(server.behind_proxy), .help = "a reverse proxy ends TLS"}, NULL, false},
    {"server", {"trusted_proxies", NULL, KIND_LIST, "CIDR", "127.0.0.1/32,::1/128", AT(server.trusted_proxies), .help = "whose X-Forwarded-For counts"}, config_net_refuse, false},

    {"database", {"url", NULL, KIND_TEXT, "sqlite:PATH", NULL, AT(database.url), .help = "documents, pages, tokens; sqlite:console.db in the state directory"}, refuse_database, false},
    {"database", {"max_connections", NULL, KIND_COUNT, "N", "4", AT(database.max_connections), .min = 1, .max = 64, .help = "readers beside the one writer"}, NULL, false},
    {"database", {"min_connections", NULL, KIND_COUNT, "N", "1", AT(database.min_connections), .min = 1, .max = 64, .help = "of them that are always there"}, NULL, false},

    {"redis", {"url", NULL, KIND_TEXT, "redis://HOST:PORT/DB", NULL, AT(redis.url), .help = "Redis of a fleet, whose health `seine serve` watches"}, refuse_redis, false},
    {"redis", {"max_connections", NULL, KIND_COUNT, "N", "8", AT(redis.max_connections), .min = 1, .max = 64, .help = "at most so many to it; `seine serve` needs one"}, NULL, false},

    {"monitoring", {"otlp_endpoint", NULL, KIND_TEXT, "URL", NULL, AT(monitoring.otlp_endpoint), .help = "a collector that takes OTLP over HTTP; jaeger_endpoint is the same"}, refuse_collector, false},
    {"monitoring", {"prometheus_port", NULL, KIND_COUNT, "N", "0", AT(monitoring.prometheus_port), .max = 65535, .help = "a second listener of `seine serve`, for metrics and health; 0: none"}, NULL, false},
    {"monitoring", {"prometheus_host", NULL, KIND_TEXT, "ADDRESS", "127.0.0.1", AT(monitoring.prometheus_host), .help = "its address"}, refuse_host, false},
    {"monitoring", {"log_level", NULL, KIND_CHOICE, "trace|debug|info|warn|error", "info", AT(monitoring.log_level), .help = "messages of this level and above"}, NULL, false},
    {"monitoring", {"log_format", NULL, KIND_CHOICE, "text|json|off", "json", AT(monitoring.log_format), .help = "their form"}, NULL, false},
    {"monitoring", {"log_output", NULL, KIND_FILE, "stdout|stderr|FILE", "stdout", AT(monitoring.log_output), .help = "where they go; a file is opened again on SIGHUP"}, NULL, false},
    {"monitoring", {"metrics_per_host", NULL, KIND_COUNT, "N", "0", AT(monitoring.metrics_per_host), .max = 100, .help = "metrics of the N busiest hosts"}, NULL, false},
    {"monitoring", {"metrics_public", NULL, KIND_FLAG, AT(monitoring.metrics_public), .help = "the second listener may be on another address than loopback"}, NULL, false},

    {"console", {"max_connections", NULL, KIND_COUNT, "N", "256", AT(console.max_connections), .min = 1, .max = 4096, .help = "connections in all"}, NULL, false},
    {"console", {"max_connections_per_ip", NULL, KIND_COUNT, "N", "64", AT(console.max_connections_per_ip), .max = 4096, .off = true, .help = "from one address"}, NULL, false},
    {"console", {"max_websockets", NULL, KIND_COUNT, "N", "192", AT(console.max_websockets), .min = 1, .max = 4096, .help = "WebSockets in all"}, NULL, false},
    {"console", {"max_websockets_waiting", NULL, KIND_COUNT, "N", "16", AT(console.max_websockets_waiting), .min = 1, .max = 4096, .help = "WebSockets before their hello"}, NULL, false},
    {"console", {"rest_rate", NULL, KIND_PACE, "R", "50/s", AT(console.rest_rate), .help = "calls of one token"}, NULL, false},
    {"console", {"rest_burst", NULL, KIND_COUNT, "N", "100", AT(console.rest_burst), .min = 1, .max = 100000, .help = "of them at once"}, NULL, false},
    {"console", {"failed_tokens", NULL, KIND_COUNT, "N", "5", AT(console.failed_tokens), .min = 1, .max = 1000, .help = "wrong tokens of one address in a minute"}, NULL, false},
    {"console", {"request_timeout", NULL, KIND_SPAN, "D", "15s", AT(console.request_timeout), .help = "a request is complete by then"}, NULL, false},
    {"console", {"idle_timeout", NULL, KIND_SPAN, "D", "15s", AT(console.idle_timeout), .help = "a silent connection is closed"}, NULL, false},
    {"console", {"hello_timeout", NULL, KIND_SPAN, "D", "5s", AT(console.hello_timeout), .help = "a WebSocket has said hello by then"}, NULL, false},
    {"console", {"exports_per_user", NULL, KIND_COUNT, "N", "1", AT(console.exports_per_user), .min = 1, .max = 64, .help = "downloads of one user at once"}, NULL, false},
    {"console", {"exports", NULL, KIND_COUNT, "N", "2", AT(console.exports), .min = 1, .max = 64, .help = "downloads in all at once"}, NULL, false},
    {"console", {"doc_units", NULL, KIND_COUNT, "N", "262144", AT(console.doc_units), .min = 1024, .max = 262144, .help = "length of a document in UTF-16 units"}, NULL, false},
    {"console", {"frame", NULL, KIND_SIZE, "SIZE", "256k", AT(console.frame), .min = 4096, .max = 262144, .help = "a message of a WebSocket"}, NULL, false},
    {"console", {"updates", NULL, KIND_COUNT, "N", "64", AT(console.updates), .min = 1, .max = 64, .help = "changes in one push"}, NULL, false},
    {"console", {"sections", NULL, KIND_COUNT, "N", "1000", AT(console.sections), .min = 1, .max = 1000, .help = "parts of one change"}, NULL, false},
    {"console", {"sessions", NULL, KIND_COUNT, "N", "32", AT(console.sessions), .min = 1, .max = 256, .help = "people in one document"}, NULL, false},
    {"console", {"docs", NULL, KIND_COUNT, "N", "8", AT(console.docs), .min = 1, .max = 64, .help = "documents open on one connection"}, NULL, false},
    {"console", {"subscriptions", NULL, KIND_COUNT, "N", "16", AT(console.subscriptions), .min = 1, .max = 64, .help = "topics of one connection"}, NULL, false},
    {"console", {"push_rate", NULL, KIND_PACE, "R", "20/s", AT(console.push_rate), .help = "pushes of one session"}, NULL, false},
    {"console", {"push_burst", NULL, KIND_COUNT, "N", "40", AT(console.push_burst), .min = 1, .max = 100000, .help = "of them at once"}, NULL, false},
    {"console", {"cursor_rate", NULL, KIND_PACE, "R", "10/s", AT(console.cursor_rate), .help = "moves of a cursor"}, NULL, false},
    {"console", {"message_rate", NULL, KIND_PACE, "R", "100/s", AT(console.message_rate), .help = "messages of one session"}, NULL, false},
    {"console", {"message_burst", NULL, KIND_COUNT, "N", "200", AT(console.message_burst), .min = 1, .max = 100000, .help = "of them at once"}, NULL, false},
    {"console", {"send_queue", NULL, KIND_SIZE, "SIZE", "1M", AT(console.send_queue), .min = 65536, .max = 16777216, .help = "what may wait for a slow reader"}, NULL, false},
    {"console", {"recipe_env", NULL, KIND_LIST, "NAME", NULL, AT(console.recipe_env), .help = "variables that recipes of the console may read"}, NULL, true},

    {"egress", {"allow_net", NULL, KIND_LIST, "CIDR", NULL, AT(egress.allow_net), .help = "networks that are not public and may be asked"}, config_net_refuse, true},
    {"egress", {"deny_net", NULL, KIND_LIST, "CIDR", NULL, AT(egress.deny_net), .help = "networks that are never asked, and local:PORT of this machine"}, config_net_refuse_denied, true},
};
/* clang-format on */

enum { KEYS = sizeof keys / sizeof *keys };
_Static_assert((int)KEYS <= (int)SERVICE_KEYS_MOST, "each key has a place in `origins`");

const service_key *
service_config_key(size_t i)
{
    return i < KEYS ? &keys[i] : NULL;
}

/* Takes - for _, and the other way round. */
static bool
is_same(const char *a, const char *b)
{
    while (*a && *b && (*a == *b || (strchr("-_", *a) && strchr("-_", *b))))
        a++, b++;
    return *a == *b;
}

/* The seed calls the collector jaeger_endpoint. */
static const char *
real_name(const char *section, const char *key)
{
    return strcmp(section, "monitoring") == 0 && is_same(key, "jaeger_endpoint")
               ? "otlp_endpoint"
               : key;
}

static const service_key *
find(const char *section, const char *key)
{
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].section, section) == 0 &&
            is_same(real_name(section, key), keys[i].option.name))
            return &keys[i];
    return NULL;
}

/* Files. */

static void
check_texts(seine_config *c, const seine_config_node *n, const service_key *k)
{
    const seine_config_node *part = seine_config_first(n);
    char text[SEINE_DIAG_TEXT * 2];

    if (!k->refuse || (!part && seine_config_kind_of(n) == SEINE_CONFIG_LIST))
        return;
    for (const seine_config_node *at = part ? part : n; at;
         at = part ? seine_config_next(at) : NULL) {
        const char *why = k->refuse(seine_config_text(at));

        if (why) {
            snprintf(text, sizeof text, "%s '%.40s': %s", k->option.name,
                     show(seine_config_text(at)).text, why);
            seine_config_wrong(c, at, text);
        }
    }
}

void
service_config_check(seine_config *c, const seine_config_node *section)
{
    char name[16], where[40], spare[SEINE_DIAG_TEXT * 2];
    const char *words[KEYS + 2];
    size_t n = 0;

    snprintf(name, sizeof name, "%s", seine_config_key(section));
    for (size_t i = 0; i < KEYS; i++)
        if (strcmp(keys[i].section, name) == 0)
            words[n++] = keys[i].option.name;
    if (strcmp(name, "monitoring") == 0)
        words[n++] = "jaeger_endpoint";
    words[n] = NULL;
    if (seine_config_kind_of(section) != SEINE_CONFIG_MAP) {
        snprintf(spare, sizeof spare, "%s must be a map; try %s: {%s: …}", name, name,
                 words[0]);
        if (!seine_config_is_null(section))
            seine_config_wrong(c, section, spare);
        return;
    }
    snprintf(where, sizeof where, "the section '%s'", name);
    for (const seine_config_node *v = seine_config_first(section); v;
         v = seine_config_next(v)) {
        const service_key *k = find(name, seine_config_key(v));
        union {
            service_config set;
            texts list;
        } room = {.list = {NULL, 0, 0, NULL}};

        if (!seine_config_knows(c, v, where, words, "seine config init") || !k)
            continue;
        option here = k->option;
        here.at = 0;
        if (config_value_read(c, v, &here, &room))
            check_texts(c, v, k);
        if (here.kind == KIND_LIST)
            free(room.list.items);
    }
}

/* The node of a key in the first file that has it. */
static const seine_config_node *
node_of(const config *files, const service_key *k, const config_file **out_file)
{
    for (size_t i = 0; files && i < files->count; i++) {
        const seine_config_node *section =
            seine_config_get(seine_config_root(files->files[i].tree), k->section);
        const seine_config_node *n = seine_config_get(section, k->option.name);

        if (!n && strcmp(k->option.name, "otlp_endpoint") == 0)
            n = seine_config_get(section, "jaeger_endpoint");
        *out_file = &files->files[i];
        if (n)
            return n;
    }
    return NULL;
}

/* The environment. */

typedef struct variable {
    char name[80];
} variable;

static variable
variable_of(const char *section, const char *key)
{
    variable v;
    size_t n = 0;
    const char *parts[] = {"SEINE_", section, "_", key};

    for (size_t i = 0; i < 4; i++)
        for (const char *p = parts[i]; *p && n + 1 < sizeof v.name; p++)
            v.name[n++] = (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
    v.name[n] = '\0';
    return v;
}

static const char *
value_in(char *const *environment, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; environment && environment[i]; i++)
        if (strncmp(environment[i], name, n) == 0 && environment[i][n] == '=')
            return environment[i] + n + 1;
    return NULL;
}

/* What the environment says of a key; *out_name is how. NULL: nothing. */
static const char *
value_of(char *const *environment, const service_key *k, variable *out_name)
{
    bool is_otlp = strcmp(k->option.name, "otlp_endpoint") == 0;

    *out_name = variable_of(k->section, k->option.name);
    const char *text = k->file_only ? NULL : value_in(environment, out_name->name);
    if (!text && is_otlp) {
        *out_name = variable_of(k->section, "jaeger_endpoint");
        text = value_in(environment, out_name->name);
    }
    if (!text && is_otlp) {
        snprintf(out_name->name, sizeof out_name->name, "OTEL_EXPORTER_OTLP_ENDPOINT");
        text = value_in(environment, out_name->name);
    }
    return text && text[0] ? text : NULL;
}

/* The section whose variables begin like this one; NULL: none. */
static const char *
section_of(const char *name)
{
    for (size_t i = 0; i < KEYS; i++) {
        variable v = variable_of(keys[i].section, "");

        if (strncmp(name, v.name, strlen(v.name)) == 0)
            return keys[i].section;
    }
    return NULL;
}

/* An option of some command has this variable: SEINE_REDIS_TIMEOUT is gate's. */
static bool
is_option(const char *name, size_t n)
{
    for (size_t i = 0; commands[i]; i++)
        for (const option *o = commands[i]->options; o && o->name; o++)
            if (o->env && strlen(help_env(o).text) == n &&
                strncmp(help_env(o).text, name, n) == 0)
                return true;
    return false;
}

static int
tell_stray(const char *section, const char *name)
{
    variable best = {""};
    unsigned slip = 3;
    char hint[120];

    for (size_t i = 0; i < KEYS; i++) {
        variable v = variable_of(keys[i].section, keys[i].option.name);
        const char *near = NULL;

        if (strcmp(v.name, name) == 0) /* it is known, and stands in a file only */
            return say_fail(SAY_USAGE, "the configuration file",
                            "%s: %s.%s is read from a file only", name, section,
                            keys[i].option.name);
        suggest_nearer(name, v.name, &slip, &near);
        if (near)
            best = v;
    }
    snprintf(hint, sizeof hint, "%s",
             best.name[0] ? best.name : "seine config init, which lists them");
    return say_fail(SAY_USAGE, hint, "unknown variable %s", name);
}

int
service_config_strays(char *const *environment)
{
    for (size_t i = 0; environment && environment[i]; i++) {
        size_t n = strcspn(environment[i], "=");
        const char *section =
            strncmp(environment[i], "SEINE_", 6) == 0 ? section_of(environment[i]) : NULL;
        bool is_known = !section || is_option(environment[i], n);

        for (size_t k = 0; k < KEYS && !is_known; k++) {
            variable v = variable_of(keys[k].section, keys[k].option.name);

            is_known = !keys[k].file_only && strlen(v.name) == n &&
                       strncmp(v.name, environment[i], n) == 0;
        }
        variable old = variable_of("monitoring", "jaeger_endpoint");
        if (!is_known &&
            (strlen(old.name) != n || strncmp(old.name, environment[i], n) != 0)) {
            shown name = show_bytes(environment[i], n);

            return tell_stray(section, name.text);
        }
    }
    return SAY_DONE;
}

/* Reading. */

static int
read_variable(const service_key *k, const char *name, const char *text,
              service_config *set)
{
    char spare[VALUES_WHY];
    const texts *list = (const void *)((const char *)set + k->option.at);
    bool is_list = k->option.kind == KIND_LIST;
    const char *why = values_environment(&k->option, text, set, spare);

    for (size_t i = 0; !why && k->refuse && i < (is_list ? list->count : 1); i++) {
        why = k->refuse(is_list ? list->items[i] : text);
        if (why) /* it has a sample of its own */
            return say_fail(SAY_USAGE, NULL, "%s '%s': %s", name,
                            show(is_list ? list->items[i] : text).text, why);
    }
    char form[100];
    values_form(&k->option, form, sizeof form);
    return why ? say_fail(SAY_USAGE, form, "%s '%s': %s", name, show(text).text, why)
               : SAY_DONE;
}

static int
read_key(const config *files, char *const *environment, size_t i, service_config *set)
{
    const service_key *k = &keys[i];
    const config_file *file = NULL;
    const seine_config_node *n = node_of(files, k, &file);
    variable name;
    const char *text = value_of(environment, k, &name);

    if (text) {
        set->origins[i] = (option_origin){.level = LEVEL_ENV, .text = text};
        return read_variable(k, name.name, text, set);
    }
    if (n) {
        set->origins[i] = (option_origin){
            .level = LEVEL_FILE, .file = file, .line = seine_config_line(n)};
        return config_value_read(file->tree, n, &k->option, set) ? SAY_DONE : SAY_USAGE;
    }
    char spare[VALUES_WHY];
    if (k->option.initial)
        (void)values_environment(&k->option, k->option.initial, set, spare);
    return SAY_DONE;
}

static bool
is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
           strcmp(host, "localhost") == 0;
}

/* What one value says about another. */
static int
check_together(const service_config *set)
{
    if (set->database.min_connections > set->database.max_connections)
        return say_fail(SAY_USAGE, "a smaller database.min_connections",
                        "database.min_connections %llu is above "
                        "database.max_connections %llu",
                        (unsigned long long)set->database.min_connections,
                        (unsigned long long)set->database.max_connections);
    if (set->monitoring.prometheus_port > 0 && !set->monitoring.metrics_public &&
        !is_loopback(set->monitoring.prometheus_host))
        return say_fail(SAY_USAGE, "monitoring.metrics_public: true",
                        "monitoring.prometheus_host %s: others could read the metrics",
                        show(set->monitoring.prometheus_host).text);
    if (set->server.behind_proxy && !set->server.origin)
        return say_fail(SAY_USAGE, "server.origin: https://seine.example",
                        "server.behind_proxy needs server.origin");
    return SAY_DONE;
}

int
service_config_read(const config *files, char *const *environment, service_config *out)
{
    int code = service_config_strays(environment);

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < KEYS && code == SAY_DONE; i++)
        code = read_key(files, environment, i, out);
    return code == SAY_DONE ? check_together(out) : code;
}

void
service_config_free(service_config *set)
{
    for (size_t i = 0; i < KEYS; i++)
        if (keys[i].option.kind == KIND_LIST) {
            texts *list = (void *)((char *)set + keys[i].option.at);

            free(list->items);
            free(list->own);
            *list = (texts){NULL, 0, 0, NULL};
        }
}
