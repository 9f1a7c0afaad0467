/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/screen.h"

static bool
begins(seine_view text, const char *with)
{
    size_t n = strlen(with);

    return text.len >= n && memcmp(text.ptr, with, n) == 0;
}

/* A line of the input, or a word, that is no URL. */
static bool
is_bad_line(const seine_record *r)
{
    return r->parent.len == 0 &&
           (r->reason == SEINE_SKIP_BAD_INPUT || r->reason == SEINE_SKIP_BAD_URL ||
            r->reason == SEINE_SKIP_TOO_LONG);
}

static limit *
limit_of(limits *l, const seine_record *skip)
{
    switch (skip->reason) {
    case SEINE_SKIP_TRAP:
        return begins(skip->rule, "--max-subdomains") ? &l->hosts : &l->repeats;
    case SEINE_SKIP_DEPTH:
        return &l->depth;
    case SEINE_SKIP_BUDGET:
        return begins(skip->rule, "no memory")              ? &l->memory
               : begins(skip->rule, "--max-bytes")          ? &l->bytes
               : begins(skip->rule, "--max-pages-per-host") ? &l->per_host
                                                            : &l->pages;
    default:
        return NULL;
    }
}

void
limits_see(limits *l, const seine_record *skip)
{
    limit *of = limit_of(l, skip);

    l->bad_lines += is_bad_line(skip);
    if (of && of->n++ == 0)
        snprintf(of->rule, sizeof of->rule, "%s",
                 show_bytes(skip->rule.ptr, skip->rule.len).text);
}

typedef struct list {
    limit_row *rows;
    size_t n;
    const args *args;
} list;

typedef enum limit_kind {
    TYPED,   /* by the user */
    DEFAULT, /* nobody has set it */
    PROVEN   /* nothing is missing */
} limit_kind;

/* Adds a row if the limit has bitten. */
static void __attribute__((format(printf, 6, 7)))
add(list *to, const char *name, uint64_t n, limit_kind of, const char *hint,
    const char *fmt, ...)
{
    limit_row *row = &to->rows[to->n];
    va_list values;

    if (n == 0)
        return;
    *row = (limit_row){.name = name,
                       .n = n,
                       .is_surprise = of == DEFAULT,
                       .is_loud = of != TYPED,
                       .hint = hint};
    va_start(values, fmt);
    vsnprintf(row->text, sizeof row->text, fmt, values);
    va_end(values);
    to->n++;
}

static limit_kind
kind_of(const list *to, const char *name)
{
    return options_given(to->args, name) ? TYPED : DEFAULT;
}

typedef struct phrase {
    char text[64];
} phrase;

/* "4 URLs were" */
static phrase
urls_were(uint64_t n)
{
    phrase p;

    snprintf(p.text, sizeof p.text, "%s URL%s", figure_count(n).text,
             n == 1 ? " was" : "s were");
    return p;
}

/* URLs that were refused by a limit of the crawl. */
static void
add_refused(list *to, const limits *l, const closing *c)
{
    add(to, "repeats", l->repeats.n, PROVEN,
        "--pattern-budget off, to fetch them all the same",
        "%s not asked for, since pages like these repeat: %s",
        urls_were(l->repeats.n).text, l->repeats.rule);
    if (kind_of(to, "max-subdomains") == TYPED)
        add(to, "max_subdomains", l->hosts.n, TYPED, "a larger --max-subdomains, or off",
            "--max-subdomains %s is reached: %s not fetched",
            figure_count(c->opts->crawl ? c->opts->crawl->max_subdomains : 0).text,
            urls_were(l->hosts.n).text);
    else
        add(to, "max_subdomains", l->hosts.n, DEFAULT, "--max-subdomains off",
            "%s not asked for, beyond the default of %s", urls_were(l->hosts.n).text,
            l->hosts.rule);
    if (kind_of(to, "depth") == DEFAULT) /* else it says how far to go */
        add(to, "depth", l->depth.n, DEFAULT, "--depth off, or a larger one",
            "%s not asked for, beyond the default of %s", urls_were(l->depth.n).text,
            l->depth.rule);
}

/* The budget that URLs were given up for is that of --max-bytes, or else of memory. */
static bool
is_over_bytes(const closing *c)
{
    return c->opts->max_bytes > 0 && c->stats.bytes_body >= c->opts->max_bytes;
}

/* Limits that are off unless the user sets them. */
static void
add_typed(list *to, const limits *l, const closing *c)
{
    const seine_fetch_opts *o = c->opts;
    uint64_t bytes = l->bytes.n + (is_over_bytes(c) ? c->sums.errors[SEINE_E_BUDGET] : 0);

    add(to, "max_pages", l->pages.n, TYPED, "a larger --max-pages",
        "--max-pages %s is reached: %s not fetched", figure_count(o->max_pages).text,
        urls_were(l->pages.n).text);
    add(to, "max_bytes", bytes, TYPED, "a larger --max-bytes",
        "--max-bytes %s is used up: %s not fetched", figure_bytes(o->max_bytes).text,
        urls_were(bytes).text);
    add(to, "max_pages_per_host", l->per_host.n, TYPED, "a larger --max-pages-per-host",
        "--max-pages-per-host %s is reached: %s not fetched",
        figure_count(o->crawl ? o->crawl->max_per_host : 0).text,
        urls_were(l->per_host.n).text);
}

/* Limits of memory and of what is read of a page. */
static void
add_sizes(list *to, const limits *l, const closing *c)
{
    const seine_fetch_opts *o = c->opts;
    uint64_t memory = l->memory.n + c->sums.errors[SEINE_E_NOMEM] +
                      (is_over_bytes(c) ? 0 : c->sums.errors[SEINE_E_BUDGET]);
    uint64_t large = c->sums.errors[SEINE_E_BODY_TOO_LARGE];
    limit_kind body = kind_of(to, "max-body") == TYPED ? TYPED : kind_of(to, "max-wire");

    add(to, "max_memory", memory, kind_of(to, "max-memory"), "a larger --max-memory",
        "--max-memory %s is reached: %s given up", figure_bytes(o->max_memory).text,
        urls_were(memory).text);
    add(to, "max_body", large, body,
        "a larger --max-body or --max-wire, as the hints say",
        "%s not taken, larger than --max-body %s", urls_were(large).text,
        figure_bytes(o->max_body).text);
    if (!o->crawl)
        return;
    add(to, "max_links", c->stats.links_cut, kind_of(to, "max-links"),
        "a larger --max-links",
        "pages have more links than --max-links %s: %s not looked at",
        figure_count(o->crawl->max_links).text, urls_were(c->stats.links_cut).text);
    add(to, "sitemaps", c->stats.sitemaps_cut, DEFAULT,
        "a larger --max-links, or seine sitemap URL to see which",
        "sitemaps not read to their end, since they are too long, too many or nested too "
        "deep: %s",
        figure_count(c->stats.sitemaps_cut).text);
    add(to, "max_sitemaps", c->stats.sitemaps_over, kind_of(to, "max-sitemaps"),
        "a larger --max-sitemaps, or off",
        "--max-sitemaps %s is reached: %s more not read",
        figure_count(o->crawl->max_sitemaps).text,
        figure_count(c->stats.sitemaps_over).text);
    add(to, "max_sitemap_bytes", c->stats.sitemap_bytes_over,
        kind_of(to, "max-sitemap-bytes"), "a larger --max-sitemap-bytes, or off",
        "--max-sitemap-bytes %s is used up: %s sitemaps not read",
        figure_bytes(o->crawl->max_sitemap_bytes).text,
        figure_count(c->stats.sitemap_bytes_over).text);
}

size_t
limits_list(const limits *l, const args *a, const closing *c, limit_row *out)
{
    list to = {out, 0, a};

    add_refused(&to, l, c);
    add_typed(&to, l, c);
    add_sizes(&to, l, c);
    return to.n;
}

bool
limits_surprise(const limits *l, const args *a, const closing *c)
{
    limit_row rows[LIMITS_MOST];
    size_t n = limits_list(l, a, c, rows);

    for (size_t i = 0; i < n; i++)
        if (rows[i].is_surprise)
            return true;
    return false;
}
