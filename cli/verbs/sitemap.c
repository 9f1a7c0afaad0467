/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/timestamp.h>

#include "options/option_names.h"
#include "options/request.h"
#include "options/request_rows.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/sitemaps.h"
#include "verbs/verbs.h"

typedef enum form { FORM_JSONL, FORM_TEXT } form;

typedef struct settings {
    fetch_settings net; /* first: request.h looks there */
    const char *since;
    int format;
    bool follow, insecure;
} settings;

static int run_sitemap(const args *a);

#define AT(member)  .at = offsetof(settings, member)
#define NET(member) .at = offsetof(settings, net.member)

/* clang-format off */
static const option options[] = {
    {"since", NULL, KIND_TEXT, "DATE", AT(since),
     .help = "entries changed on DATE or later: 2026-11-03",
     .more = "Also `2026-11`, `2026-11-03T18:00Z`. A date that tells no more than a day is the whole day. Entries without a date are left out; so is "
             "what an index names with an older date."},
    {"format", "f", KIND_CHOICE, "jsonl|text", "jsonl", AT(format),
     .help = "a JSON object for each entry, or its URL alone"},
    {"follow", NULL, KIND_FLAG, NULL, "on", AT(follow),
     .help = "read the sitemaps that an index at a URL names",
     .more = "Five levels deep, 50,000 files, each once. --no-follow prints what an index names; so it is for an index in a FILE."},
    {"host-rate", NULL, KIND_PACE, "R", "5/s", NET(host_rate), .env = true,
     .help = "ceiling for each host"},
    {"timeout", "t", KIND_SPAN, "D", "30s", NET(timeout), .env = true,
     .help = "one attempt, from the lookup to the last byte"},
    {"retries", NULL, KIND_COUNT, "N", "2", NET(retries), .max = 1000, .env = true,
     .help = "tries after the first"},
    REQUEST_ROWS,
    {"allow-net", NULL, KIND_LIST, "CIDR", NET(allow_net), .env = true, .rare = true,
     .help = "addresses any sitemap may lead to; may be repeated",
     .more = "A host that was not typed is asked at public addresses only, unless this says so."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine sitemap http://127.0.0.1:8080/sitemap.xml --since 2026-11-01", "What changed this month:"},
    {"seine sitemap -f text sitemap.xml.gz | seine fetch -", "A file on disk, and its pages:"},
    {NULL, NULL},
};

const command cmd_sitemap = {
    .name = "sitemap",
    .arguments = "URL|FILE|-…",
    .about = "say which pages sitemaps and feeds name",
    .text = "Reads urlsets, indexes of sitemaps, RSS, Atom and lists of URLs, packed by gzip or not. Each entry is `loc`, `lastmod`, `changefreq`, "
            "`priority` (those that are said), `source`, the file it stands in, and `kind`: urlset, index, rss, atom, text.\n\n"
            "Of a file that breaks the entries before are given. The exit code is 1 if one could not be read or is broken, and 2 if nothing was "
            "asked for: a FILE that cannot be opened, a word that is no URL.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_sitemap,
};
/* clang-format on */

typedef struct printer {
    form form;
    seine_time since; /* 0: all */
} printer;

static void
set_text(seine_json *out, const char *name, seine_view v)
{
    if (!v.ptr)
        return;
    char *text = xalloc_copy(v.ptr, v.len);
    jsonl_set(out, name, jsonl_string(text));
    free(text);
}

static void
print_entry(const seine_sitemap_entry *e, const char *source, seine_sitemap_kind what,
            void *arg)
{
    const printer *p = arg;
    seine_time from, until;

    if (p->since &&
        (!seine_timestamp_sitemap(e->lastmod.ptr, e->lastmod.len, &from, &until) ||
         until <= p->since))
        return;
    if (p->form == FORM_TEXT) {
        out_bytes(e->loc.ptr, e->loc.len);
        out_text("\n");
        return;
    }
    seine_json *out = xalloc_json(seine_json_new_object());
    set_text(out, "loc", e->loc);
    set_text(out, "lastmod", e->lastmod);
    set_text(out, "changefreq", e->changefreq);
    if (e->priority >= 0)
        jsonl_set(out, "priority", seine_json_new_real(e->priority));
    jsonl_set(out, "source", jsonl_string(source));
    jsonl_set(out, "kind", jsonl_string(seine_sitemap_kind_name(what)));
    out_json(out);
}

static void
ask_as(const settings *set, const request *r, seine_fetch_opts *o)
{
    *o = SEINE_FETCH_OPTS;
    o->host_rate = (seine_rate){set->net.host_rate.count, set->net.host_rate.per, 1};
    o->timeout = set->net.timeout;
    o->retry.max_attempts = (uint32_t)set->net.retries + 1;
    o->user_agent = r->user_agent;
    o->from = r->from;
    o->fields = r->fields;
    o->n_fields = r->n_fields;
    o->secrets = r->secrets;
    o->insecure = set->insecure;
    o->cacert = set->net.cacert;
    o->proxy = set->net.proxy;
    o->no_proxy = set->net.no_proxy;
    o->proxy_env = getenv;
    o->allow_net = (const char *const *)set->net.allow_net.items;
}

static int
run_with(const args *a, const request *r, printer *p)
{
    const settings *set = a->settings;
    sitemaps_opts o = {.follow = set->follow,
                       .since = p->since,
                       .quiet = a->quiet,
                       .fn = print_entry,
                       .arg = p};
    seine_diag_name *names = option_names_new(a->command);
    sitemaps *s = NULL;

    ask_as(set, r, &o.fetch);
    o.fetch.names = names;
    int code = sitemaps_new(&o, &s);
    for (size_t i = 0; code == SAY_DONE && i < a->count; i++)
        code = sitemaps_add(s, a->words[i]);
    if (code == SAY_DONE)
        code = sitemaps_run(s);
    sitemaps_free(s);
    option_names_free(names);
    return code;
}

static int
run_sitemap(const args *a)
{
    const settings *set = a->settings;
    printer p = {.form = (form)set->format};
    seine_time until;
    request r;

    if (set->since &&
        !seine_timestamp_sitemap(set->since, strlen(set->since), &p.since, &until))
        return say_fail(SAY_USAGE, "--since 2026-11-03", "--since '%s': not a date",
                        show(set->since).text);
    if (set->net.timeout == 0)
        return say_fail(SAY_USAGE, "--timeout 5s",
                        "--timeout '0': a timeout must be above 0");
    int code = request_make(a, &r);
    if (code != SAY_DONE)
        return code;
    code = run_with(a, &r, &p);
    request_free(&r);
    return code;
}
