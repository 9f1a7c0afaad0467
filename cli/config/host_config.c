/* SPDX-License-Identifier: Apache-2.0 */
#include "config/host_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/breaker_spec.h>

#include "config/config_values.h"
#include "options/fetch_settings.h"
#include "options/option_specs.h"
#include "options/values.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

static void *
own(host_config *h, void *give)
{
    h->owned = xalloc_room(h->owned, h->n_owned, &h->owned_cap, sizeof *h->owned);
    h->owned[h->n_owned++] = give;
    return give;
}

static void
put_host(host_config *h, const seine_host_opts *o)
{
    h->hosts = xalloc_room(h->hosts, h->n_hosts, &h->hosts_cap, sizeof *h->hosts);
    h->hosts[h->n_hosts++] = *o;
}

/* The node of a key of a host in the strongest file that has it. */
static const seine_config_node *
key_of(const config *c, const char *section, const char *name, const char *key,
       seine_config **out_tree)
{
    for (size_t i = 0; i < c->count; i++) {
        const seine_config_node *n = seine_config_get(
            seine_config_get(
                seine_config_get(seine_config_root(c->files[i].tree), section), name),
            key);

        if (n) {
            *out_tree = c->files[i].tree;
            return n;
        }
    }
    return NULL;
}

/* Reads the option of that name into the settings. False: no file has it. */
static bool
read_key(const config *c, const char *section, const char *name, const char *key,
         fetch_settings *set)
{
    seine_config *tree = NULL;
    const seine_config_node *n = key_of(c, section, name, key, &tree);
    bool no;
    const option *o = n ? options_by_name(&cmd_fetch, key, strlen(key), &no) : NULL;

    return o && config_value_read(tree, n, o, set);
}

static void
take_limits(seine_host_opts *o, const fetch_settings *s, const char *key)
{
    if (strcmp(key, "host-rate") == 0) {
        o->rate.count = s->host_rate.count;
        o->rate.per = s->host_rate.per;
        o->set |= SEINE_HOST_RATE;
    } else if (strcmp(key, "host-burst") == 0) {
        o->rate.burst = (uint32_t)s->host_burst;
        o->set |= SEINE_HOST_BURST;
    } else if (strcmp(key, "per-host") == 0) {
        o->per_host = (uint32_t)s->per_host;
        o->set |= SEINE_HOST_PER_HOST;
    } else if (strcmp(key, "adaptive") == 0) {
        o->adaptive = s->adaptive;
        o->set |= SEINE_HOST_ADAPTIVE;
    } else if (strcmp(key, "timeout") == 0) {
        o->timeout = s->timeout;
        o->set |= SEINE_HOST_TIMEOUT;
    } else if (strcmp(key, "connect-timeout") == 0) {
        o->connect_timeout = s->connect_timeout;
        o->set |= SEINE_HOST_CONNECT_TIMEOUT;
    } else if (strcmp(key, "min-speed") == 0 &&
               !option_specs_speed(s->min_speed, &o->speed_bytes, &o->speed_span)) {
        o->set |= SEINE_HOST_SPEED;
    } else if (strcmp(key, "max-body") == 0) {
        o->max_body = s->max_body;
        o->set |= SEINE_HOST_MAX_BODY;
    }
}

static void
take_retry_on(seine_host_opts *o, const char *text)
{
    static const char *const also[] = {"net", "timeout", NULL};
    uint32_t words = 0;
    seine_view word;

    if (seine_status_set_parse(text, also, &o->retry_status, &words, &word) != SEINE_OK)
        return;
    o->retry_not_net = !(words & 1);
    o->retry_not_timeout = !(words & 2);
    o->set |= SEINE_HOST_RETRY_ON;
}

static void
take_retries(seine_host_opts *o, const fetch_settings *s, const char *key)
{
    if (strcmp(key, "retries") == 0) {
        o->retries = (uint32_t)s->retries;
        o->set |= SEINE_HOST_RETRIES;
    } else if (strcmp(key, "retry-on") == 0) {
        take_retry_on(o, s->retry_on);
    } else if (strcmp(key, "backoff") == 0 &&
               !option_specs_range(s->backoff, &o->backoff_first, &o->backoff_last)) {
        o->set |= SEINE_HOST_BACKOFF;
    } else if (strcmp(key, "max-retry-after") == 0) {
        o->max_retry_after = s->max_retry_after;
        o->set |= SEINE_HOST_MAX_RETRY_AFTER;
    } else if (strcmp(key, "breaker") == 0 &&
               seine_breaker_spec(s->breaker, &o->breaker, &o->park, NULL) == SEINE_OK) {
        o->set |= SEINE_HOST_BREAKER;
    }
}

static void
take_manners(seine_host_opts *o, const fetch_settings *s, const char *key)
{
    static const seine_obey obey[] = {SEINE_OBEY_ON, SEINE_OBEY_OFF, SEINE_OBEY_AUDIT};
    seine_view word;

    if (strcmp(key, "max-crawl-delay") == 0) {
        o->max_crawl_delay = s->max_crawl_delay;
        o->set |= SEINE_HOST_MAX_CRAWL_DELAY;
    } else if (strcmp(key, "robots") == 0) {
        o->robots = obey[s->robots];
        o->set |= SEINE_HOST_ROBOTS;
    } else if (strcmp(key, "user-agent") == 0) {
        o->user_agent = s->user_agent;
        o->set |= SEINE_HOST_USER_AGENT;
    } else if (strcmp(key, "cookies") == 0) {
        o->cookies = s->cookies;
        o->set |= SEINE_HOST_COOKIES;
    } else if (strcmp(key, "proxy") == 0) {
        o->proxy = s->proxy;
        o->set |= SEINE_HOST_PROXY;
    } else if (strcmp(key, "insecure") == 0) {
        o->insecure = s->insecure != NULL;
        o->set |= SEINE_HOST_INSECURE;
    } else if (strcmp(key, "cacert") == 0) {
        o->cacert = s->cacert;
        o->set |= SEINE_HOST_CACERT;
    } else if (strcmp(key, "accept") == 0 &&
               seine_status_set_parse(s->accept, NULL, &o->accept, NULL, &word) ==
                   SEINE_OK) {
        o->set |= SEINE_HOST_ACCEPT;
    }
}

/* `headers` and `user` as fields; the request keeps their texts and knows the secrets. */
static int
take_fields(const config *c, const char *section, const char *name, request *r,
            host_config *h, seine_host_opts *o)
{
    seine_config *tree;
    const seine_config_node *headers = key_of(c, section, name, "headers", &tree);
    const seine_config_node *user = key_of(c, section, name, "user", &tree);
    seine_field *fields = NULL;
    size_t n = 0, cap = 0;
    int code = SAY_DONE;

    for (const seine_config_node *v = seine_config_first(headers); v && code == SAY_DONE;
         v = seine_config_next(v)) {
        fields = xalloc_room(fields, n, &cap, sizeof *fields);
        code = request_field(r, seine_config_key(v), seine_config_text(v), &fields[n++]);
    }
    if (user && code == SAY_DONE) {
        fields = xalloc_room(fields, n, &cap, sizeof *fields);
        code = request_login(r, seine_config_text(user), &fields[n++]);
    }
    if (n > 0)
        own(h, fields);
    if (n > 0 && code == SAY_DONE) {
        o->fields = fields;
        o->n_fields = n;
        o->set |= SEINE_HOST_FIELDS;
    }
    return code;
}

/* The fields go to these hosts as well, unless those have fields of their own. */
static void
send_to(const config *c, const char *section, const char *name, host_config *h,
        const seine_host_opts *from)
{
    seine_config *tree;
    const seine_config_node *n = key_of(c, section, name, "send-to", &tree);
    bool is_list = n && seine_config_kind_of(n) == SEINE_CONFIG_LIST;
    const seine_field *fields = from->fields;
    size_t n_fields = from->n_fields;

    for (const seine_config_node *v = is_list ? seine_config_first(n) : n;
         v && n_fields > 0; v = is_list ? seine_config_next(v) : NULL) {
        const char *text = seine_config_text(v), *skip = strstr(text, "://");
        seine_host_opts o = SEINE_HOST_OPTS;

        o.match = skip ? skip + 3 : text;
        o.is_weak = true;
        o.set = SEINE_HOST_FIELDS;
        o.fields = fields;
        o.n_fields = n_fields;
        put_host(h, &o);
    }
}

static bool
is_known(const host_config *h, const char *name)
{
    for (size_t i = 0; i < h->n_hosts; i++)
        if (!h->hosts[i].is_weak && strcmp(h->hosts[i].match, name) == 0)
            return true;
    return false;
}

/* Lays all keys of an entry of `hosts` or `groups` into *o. */
static int
read_entry(const config *c, const char *section, const char *name, request *r,
           host_config *h, seine_host_opts *o)
{
    fetch_settings *set = own(h, xalloc_zeroed(1, sizeof *set));

    for (size_t i = 0; host_config_keys[i]; i++) {
        const char *key = host_config_keys[i];

        if (!read_key(c, section, name, key, set))
            continue;
        take_limits(o, set, key);
        take_retries(o, set, key);
        take_manners(o, set, key);
    }
    int code = r ? take_fields(c, section, name, r, h, o) : SAY_DONE;
    if (r && code == SAY_DONE && o->proxy)
        code = request_hide_url(r, "proxy", &o->proxy);
    return code;
}

static int
add_host(const config *c, const char *name, request *r, host_config *h)
{
    seine_host_opts o = SEINE_HOST_OPTS;

    o.match = name;
    int code = read_entry(c, "hosts", name, r, h, &o);
    put_host(h, &o);
    if (r)
        send_to(c, "hosts", name, h, &o);
    return code;
}

static const char *const *
members_of(const config *c, const char *name, host_config *h)
{
    seine_config *tree;
    const seine_config_node *n = key_of(c, "groups", name, "match", &tree);
    bool is_list = n && seine_config_kind_of(n) == SEINE_CONFIG_LIST;
    const char **all = NULL;
    size_t count = 0, cap = 0;

    for (const seine_config_node *v = is_list ? seine_config_first(n) : n; v;
         v = is_list ? seine_config_next(v) : NULL) {
        all = xalloc_room(all, count + 1, &cap, sizeof *all);
        all[count++] = seine_config_text(v);
        all[count] = NULL;
    }
    return all ? own(h, all) : NULL;
}

/* The keys that are no joint limits hold for each member, weaker than all of `hosts`. */
static void
add_members(host_config *h, const seine_group_opts *g, seine_host_opts *o)
{
    o->set &= ~(uint32_t)(SEINE_HOST_RATE | SEINE_HOST_BURST | SEINE_HOST_PER_HOST);
    o->is_weak = true;
    for (size_t i = 0; o->set && g->match && g->match[i]; i++) {
        o->match = g->match[i];
        put_host(h, o);
    }
}

static int
add_group(const config *c, const char *name, request *r, host_config *h)
{
    seine_group_opts g = SEINE_GROUP_OPTS;
    seine_host_opts o = SEINE_HOST_OPTS;

    for (size_t i = 0; i < h->n_groups; i++)
        if (strcmp(h->groups[i].name, name) == 0)
            return SAY_DONE;
    int code = read_entry(c, "groups", name, r, h, &o);
    g.name = name;
    g.match = members_of(c, name, h);
    if (o.set & SEINE_HOST_RATE)
        g.rate = o.rate;
    g.per_host = o.set & SEINE_HOST_PER_HOST ? o.per_host : 0;
    h->groups = xalloc_room(h->groups, h->n_groups, &h->groups_cap, sizeof *h->groups);
    h->groups[h->n_groups++] = g;
    if (r)
        send_to(c, "groups", name, h, &o);
    add_members(h, &g, &o);
    return code;
}

int
host_config_make(const config *c, request *r, host_config *out)
{
    int code = SAY_DONE;

    *out = (host_config){0};
    for (size_t i = 0; c && i < c->count; i++) {
        const seine_config_node *root = seine_config_root(c->files[i].tree);

        for (const seine_config_node *n =
                 seine_config_first(seine_config_get(root, "hosts"));
             n && code == SAY_DONE; n = seine_config_next(n))
            if (!is_known(out, seine_config_key(n)))
                code = add_host(c, seine_config_key(n), r, out);
        for (const seine_config_node *n =
                 seine_config_first(seine_config_get(root, "groups"));
             n && code == SAY_DONE; n = seine_config_next(n))
            code = add_group(c, seine_config_key(n), r, out);
    }
    return code;
}

/* The parts of an entry that do not change. */
static void
keep_secrets(seine_host_opts *o, const host_config *first)
{
    const uint32_t kept = SEINE_HOST_FIELDS | SEINE_HOST_PROXY;

    o->set &= ~kept;
    for (size_t i = 0; i < first->n_hosts && !o->is_weak; i++)
        if (!first->hosts[i].is_weak && strcmp(first->hosts[i].match, o->match) == 0) {
            o->set |= first->hosts[i].set & kept;
            o->fields = first->hosts[i].fields;
            o->n_fields = first->hosts[i].n_fields;
            o->proxy = first->hosts[i].proxy;
        }
}

void
host_config_again(const config *c, const host_config *first, host_config *out)
{
    (void)host_config_make(c, NULL, out);
    for (size_t i = 0; i < out->n_hosts; i++)
        keep_secrets(&out->hosts[i], first);
    for (size_t i = 0; i < first->n_hosts; i++) {
        seine_host_opts o = first->hosts[i];

        o.set &= SEINE_HOST_FIELDS | SEINE_HOST_PROXY;
        if (o.is_weak && o.set)
            put_host(out, &o);
    }
}

void
host_config_free(host_config *h)
{
    for (size_t i = 0; i < h->n_owned; i++)
        free(h->owned[i]);
    free(h->owned);
    free(h->hosts);
    free(h->groups);
    *h = (host_config){0};
}
