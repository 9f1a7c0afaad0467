/* SPDX-License-Identifier: Apache-2.0 */
#include "options/crawl_opts.h"

#include <stdlib.h>
#include <string.h>

#include "options/glob.h"
#include "options/option_specs.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

bool
crawl_is_asked(const args *a)
{
    return a->command == &cmd_crawl || a->command == &cmd_explain ||
           a->command == &cmd_check || a->command == &cmd_mirror;
}

/* Joins the values of all --domains, each of which may hold commas, to one list. */
static void
read_domains(const texts *given, crawl_plan *p)
{
    size_t n = 0, cap = 0;
    textbuf all = {NULL, 0, 0};

    if (given->count == 0)
        return;
    for (size_t i = 0; i < given->count; i++)
        textbuf_put(&all, "%s%s", i ? "," : "", given->items[i]);
    p->text = xalloc_copy(all.text, all.len);
    textbuf_free(&all);
    for (char *rest = p->text, *one; (one = strsep(&rest, ",")) != NULL;) {
        p->domains = xalloc_room(p->domains, n + 1, &cap, sizeof *p->domains);
        if (*one)
            p->domains[n++] = one;
        p->domains[n] = NULL;
    }
    p->opts.domains = p->domains;
}

static int
read_depth(const char *text, uint32_t *out_depth)
{
    enum { DEEPEST = 1000000 };
    uint64_t n = 0;

    if (strcmp(text, "off") == 0) {
        *out_depth = UINT32_MAX;
        return SAY_DONE;
    }
    const char *why = seine_units_count(text, &n);
    if (!why && n > DEEPEST)
        why = "deeper than any site";
    if (why)
        return say_fail(SAY_USAGE,
                        "--depth 3, 0 for the seeds alone, or off for no limit",
                        "--depth '%s': %s", show(text).text, why);
    *out_depth = (uint32_t)n;
    return SAY_DONE;
}

static int
read_scope(const args *a, const fetch_settings *set, seine_crawl_opts *o)
{
    static const seine_scope scopes[] = {SEINE_SCOPE_HOST, SEINE_SCOPE_DOMAIN,
                                         SEINE_SCOPE_PREFIX, SEINE_SCOPE_ANY};

    o->scope = scopes[set->scope];
    if (set->parent)
        return SAY_DONE;
    if (options_given(a, "scope") && set->scope != SCOPE_PREFIX)
        return say_fail(SAY_USAGE, "one of the two",
                        "--no-parent is --scope prefix, and --scope is given");
    o->scope = SEINE_SCOPE_PREFIX;
    return SAY_DONE;
}

static int
read_crawl(const args *a, crawl_plan *p)
{
    static const seine_sitemaps maps[] = {SEINE_SITEMAPS_AUTO, SEINE_SITEMAPS_ONLY,
                                          SEINE_SITEMAPS_OFF};
    const fetch_settings *set = a->settings;
    seine_crawl_opts *o = &p->opts;

    *o = SEINE_CRAWL_OPTS;
    int code = read_depth(set->depth, &o->depth);
    code = code == SAY_DONE ? read_scope(a, set, o) : code;
    if (code != SAY_DONE)
        return code;
    read_domains(&set->domains, p);
    o->sitemaps = maps[set->sitemap];
    o->nofollow = set->nofollow;
    o->skips = set->skips;
    o->pattern_budget = (uint32_t)set->pattern_budget;
    o->max_subdomains = (uint32_t)set->max_subdomains;
    o->max_per_host = set->max_per_host;
    o->max_links = (uint32_t)set->max_links;
    o->max_sitemaps = (uint32_t)set->max_sitemaps;
    o->max_sitemap_bytes = set->max_sitemap_bytes;
    o->spill = getenv("TMPDIR");
    if (o->spill && !o->spill[0])
        o->spill = NULL;
    return SAY_DONE;
}

static int
check_types(const char *list)
{
    seine_view bad = {NULL, 0};

    if (!list || option_specs_are_types(list, &bad))
        return SAY_DONE;
    return say_fail(SAY_USAGE, "--accept-type text/html,image/*",
                    "--accept-type: '%s' is no media type",
                    show_bytes(bad.ptr, bad.len).text);
}

/* --mine ignores robots.txt on the hosts of the seeds, which are the user's own, and
 * obeys it elsewhere. --robots decides where it is given. */
static seine_obey
read_robots(const args *a, const fetch_settings *set)
{
    static const seine_obey obeys[] = {SEINE_OBEY_ON, SEINE_OBEY_OFF, SEINE_OBEY_AUDIT};
    bool at_home = set->scope == SCOPE_HOST || set->scope == SCOPE_PREFIX;

    if (set->mine && at_home && set->domains.count == 0 && !options_given(a, "robots"))
        return SEINE_OBEY_OFF;
    return obeys[set->robots];
}

/* Joins the expressions of --include with those that --glob stands for. */
static const char *const *
read_globs(const fetch_settings *set, crawl_plan *p)
{
    size_t n = set->include.count, cap = 0;

    if (set->glob.count == 0)
        return (const char *const *)set->include.items;
    for (size_t i = 0; i < n + set->glob.count; i++) {
        p->patterns = xalloc_room(p->patterns, i + 1, &cap, sizeof *p->patterns);
        p->patterns[i] =
            i < n ? xalloc_copy(set->include.items[i], strlen(set->include.items[i]))
                  : glob_to_re(set->glob.items[i - n]);
        p->patterns[i + 1] = NULL;
    }
    return (const char *const *)p->patterns;
}

/* "application/pdf" or "image/…": one slash, and nothing that is no part of a type. */
static bool
is_type(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash && slash != text && slash[1] && !strchr(slash + 1, '/') &&
           strspn(text,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-./"
                  "*") == strlen(text);
}

/* Adds the expressions of a list to those of another. */
static const char **
add_expressions(const char **to, size_t *n, size_t *cap, const texts *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (is_type(list->items[i]))
            continue;
        to = xalloc_room(to, *n + 1, cap, sizeof *to);
        to[(*n)++] = list->items[i];
        to[*n] = NULL;
    }
    return to;
}

static void
add_types(textbuf *out, const texts *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_type(list->items[i]))
            textbuf_put(out, ",%s", list->items[i]);
}

/* Reads "follow these, keep those": which URLs are asked for, and which bodies are taken.
 */
static int
read_keep(const args *a, const fetch_settings *set, seine_fetch_opts *o, crawl_plan *p)
{
    size_t n = 0, cap = 0, n_urls = 0, cap_urls = 0;
    textbuf types = {NULL, 0, 0};

    if (set->keep.count == 0 && set->follow.count == 0 && set->json_pointer.count == 0)
        return SAY_DONE;
    p->urls = add_expressions(NULL, &n_urls, &cap_urls, &set->keep);
    o->accept_urls = p->urls;
    if (set->accept_type && !options_given(a, "accept-type")) {
        textbuf_put(&types, "text/html,application/xhtml+xml");
        if (set->json_pointer.count > 0)
            textbuf_put(&types, ",application/json,text/json,application/ld+json");
        add_types(&types, &set->follow);
        add_types(&types, &set->keep);
        p->types = types.text;
        o->accept_type = p->types;
    }
    p->include = add_expressions(NULL, &n, &cap, &set->follow);
    if (!p->include)
        return SAY_DONE;
    if (o->include)
        return say_fail(SAY_USAGE, "one of the two",
                        "--follow '%s' does not go with --include",
                        show(p->include[0]).text);
    p->include = add_expressions(p->include, &n, &cap, &set->keep);
    o->include = p->include;
    return SAY_DONE;
}

int
crawl_plan_make(const args *a, seine_fetch_opts *o, crawl_plan *out_plan)
{
    const fetch_settings *set = a->settings;

    *out_plan = (crawl_plan){.text = NULL};
    o->include = read_globs(set, out_plan);
    o->exclude = (const char *const *)set->exclude.items;
    o->accept_type = set->accept_type;
    o->max_bytes = set->max_bytes;
    o->robots = read_robots(a, set);
    o->robots_on_mine = options_given(a, "robots");
    o->max_crawl_delay = set->max_crawl_delay;
    o->robots_agent = set->robots_agent;
    int code = check_types(set->accept_type);
    if (code == SAY_DONE)
        code = read_keep(a, set, o, out_plan);
    if (code != SAY_DONE || !crawl_is_asked(a))
        return code;
    o->crawl = &out_plan->opts;
    o->requisites = set->mirror;
    return read_crawl(a, out_plan);
}

void
crawl_plan_free(crawl_plan *p)
{
    free(p->text);
    free(p->domains);
    for (size_t i = 0; p->patterns && p->patterns[i]; i++)
        free(p->patterns[i]);
    free(p->patterns);
    free(p->include);
    free(p->urls);
    free(p->types);
    *p = (crawl_plan){.text = NULL};
}
