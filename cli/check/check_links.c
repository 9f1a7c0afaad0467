/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/url.h>

#include "check/check.h"
#include "screen/say.h"
#include "screen/xalloc.h"

bool
check_is_full(const check *c)
{
    return c->held >= c->set->net.max_memory;
}

void
check_note_cut(check *c, const char *name)
{
    if (!seine_document_is_cut(c->document))
        return;
    c->is_cut = true;
    run_log_fail(&c->log, SEINE_E_BUDGET, NULL,
                 "'%s' has more than a million links or anchors; the rest is not read",
                 show(name).text);
}

uint32_t
check_add_page(check *c, const char *name)
{
    c->pages = xalloc_room(c->pages, c->n_pages, &c->cap_pages, sizeof *c->pages);
    c->pages[c->n_pages] = (check_page){.name = xalloc_copy(name, strlen(name))};
    c->held += sizeof *c->pages + strlen(name);
    return (uint32_t)c->n_pages++;
}

/* Anchors */

static int
by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

void
check_take_anchors(check *c, check_anchors *out)
{
    seine_view name;
    size_t cap = 0;

    *out = (check_anchors){.is_known = !seine_document_is_cut(c->document)};
    for (size_t i = 0; seine_document_anchor(c->document, i, &name); i++) {
        out->all = xalloc_room(out->all, out->n, &cap, sizeof *out->all);
        out->all[out->n++] = name_hash(name.ptr, name.len);
    }
    c->held += out->n * sizeof *out->all;
    if (out->n > 1)
        qsort(out->all, out->n, sizeof *out->all, by_number);
}

void
check_join_anchors(check *c, check_anchors *out)
{
    size_t cap = 0;

    for (size_t i = 0; i < c->n_pages; i++) {
        const check_anchors *a = &c->pages[i].anchors;

        for (size_t k = 0; k < a->n && !c->pages[i].is_site; k++) {
            out->all = xalloc_room(out->all, out->n, &cap, sizeof *out->all);
            out->all[out->n++] = a->all[k];
        }
    }
    if (out->n > 1)
        qsort(out->all, out->n, sizeof *out->all, by_number);
    out->is_known = true;
}

static bool
has_name(const check_anchors *a, const char *name)
{
    uint64_t hash = name_hash(name, strlen(name));

    return a->n > 0 && bsearch(&hash, a->all, a->n, sizeof hash, by_number);
}

/* A fragment leads to the name as it is written, to the decoded name, and on GitHub to
 * the name behind a prefix. An empty one and "top" lead to the top. */
bool
check_has_anchor(const check_anchors *a, const char *fragment)
{
    static const char prefix[] = "user-content-";
    size_t n = strlen(fragment);
    char *plain = check_decode(fragment, n);
    char *prefixed = xalloc_zeroed(1, sizeof prefix + strlen(plain));

    memcpy(prefixed, prefix, sizeof prefix - 1);
    memcpy(prefixed + sizeof prefix - 1, plain, strlen(plain));
    bool found = n == 0 || strcasecmp(plain, "top") == 0 || has_name(a, fragment) ||
                 has_name(a, plain) || has_name(a, prefixed);
    free(plain);
    free(prefixed);
    return found;
}

/* Targets */

uint32_t
check_target_of(check *c, const seine_url *url)
{
    char key[SEINE_URL_ROOM];
    size_t len = 0;

    if (seine_url_key(url, c->set->net.strip_params, key, sizeof key, &len) != SEINE_OK)
        return NAME_MAP_NONE;
    uint32_t n = name_map_get(&c->urls, key);
    if (n != NAME_MAP_NONE)
        return n;
    seine_view href = seine_url_href(url);
    size_t cut = href.len;
    const char *hash = memchr(href.ptr, '#', href.len);
    if (hash)
        cut = (size_t)(hash - href.ptr);
    c->targets =
        xalloc_room(c->targets, c->n_targets, &c->cap_targets, sizeof *c->targets);
    c->targets[c->n_targets] = (check_target){.url = xalloc_copy(href.ptr, cut),
                                              .next = NAME_MAP_NONE,
                                              .verdict = SEINE_LINK_UNKNOWN};
    name_map_set(&c->urls, xalloc_copy(key, len), (uint32_t)c->n_targets);
    c->held += sizeof *c->targets + cut + len + 4 * sizeof(char *);
    return (uint32_t)c->n_targets++;
}

/* Links */

static size_t
scheme_of(const char *s)
{
    size_t n = 0;

    while ((s[n] | 0x20) >= 'a' && (s[n] | 0x20) <= 'z')
        n++;
    if (n == 0)
        return 0;
    while (strchr("+.-0123456789", s[n]) ? s[n] != '\0'
                                         : (s[n] | 0x20) >= 'a' && (s[n] | 0x20) <= 'z')
        n++;
    return s[n] == ':' ? n : 0;
}

static bool
is_web(const char *s, size_t scheme)
{
    return (scheme == 4 && strncasecmp(s, "http", 4) == 0) ||
           (scheme == 5 && strncasecmp(s, "https", 5) == 0);
}

/* Does the glob match the whole text? * stands for any bytes and ? for one. */
static bool
matches(const char *glob, const char *text)
{
    const char *star = NULL, *from = NULL;

    while (*text) {
        if (*glob == '*') {
            star = ++glob;
            from = text;
        } else if (*glob == '?' || *glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star;
            text = ++from;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}

bool
check_is_ignored(const check *c, const char *value)
{
    for (size_t i = 0; i < c->n_globs; i++)
        if (matches(c->globs[i], value))
            return true;
    return false;
}

static void
judge(check_link *l, seine_link_verdict verdict, const char *why)
{
    l->verdict = verdict;
    l->why = why ? xalloc_copy(why, strlen(why)) : NULL;
    l->is_judged = true;
}

/* A link to a URL: resolved against `base` unless that is NULL. */
static void
point_at_url(check *c, check_link *l, const seine_url *base, const char *value)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};

    seine_url_init(&url, mem, sizeof mem);
    seine_err e = base ? seine_url_resolve(&url, base, value, strlen(value), &flaw)
                       : seine_url_parse(&url, value, strlen(value), &flaw);
    if (e != SEINE_OK) {
        judge(l, SEINE_LINK_BROKEN, seine_url_flaw_text(flaw.kind));
        return;
    }
    seine_view href = seine_url_href(&url);
    free(l->value);
    l->value = xalloc_copy(href.ptr, href.len);
    char *hash = strchr(l->value, '#');
    l->fragment = hash ? hash + 1 : NULL;
    if (!is_web(l->value, scheme_of(l->value))) {
        judge(l, SEINE_LINK_EXCLUDED, "scheme");
        return;
    }
    l->target = check_target_of(c, &url);
    if (l->target == NAME_MAP_NONE)
        judge(l, SEINE_LINK_BROKEN, "no URL");
    else if (l->fragment && *l->fragment && c->set->fragments)
        c->targets[l->target].wants_anchors = true;
}

/* A link to a file, relative to the directory `dir` of its document. */
static void
point_at_file(check *c, check_link *l, const char *dir)
{
    char *value = l->value;
    size_t n = strcspn(value, "?#");
    char *path = check_decode(value, n);
    char *hash = strchr(value, '#');

    l->fragment = hash ? hash + 1 : NULL;
    if (n == 0)
        l->path = xalloc_copy(c->pages[l->page].name, strlen(c->pages[l->page].name));
    else if (path[0] == '/')
        l->path = check_join(c->root ? c->root : ".", path + 1);
    else
        l->path = check_join(dir, path);
    free(path);
}

/* A URL is read without its tabs and line ends, as browsers do. */
static void
drop_line_ends(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++)
        if (*from != '\t' && *from != '\n' && *from != '\r')
            *to++ = *from;
    *to = '\0';
}

void
check_add_link(check *c, uint32_t page, const seine_document_link *d,
               const seine_url *base, const char *dir)
{
    size_t from = 0, to = d->value.len;

    if (check_is_full(c)) {
        c->n_left++;
        return;
    }
    while (from < to && (unsigned char)d->value.ptr[from] <= ' ')
        from++;
    while (to > from && (unsigned char)d->value.ptr[to - 1] <= ' ')
        to--;
    check_link l = {.page = page,
                    .target = NAME_MAP_NONE,
                    .line = d->line,
                    .col = d->col,
                    .tag = d->tag,
                    .value = xalloc_copy(d->value.ptr + from, to - from)};
    drop_line_ends(l.value);
    if (d->text.len > 0)
        l.text = xalloc_copy(d->text.ptr, d->text.len);
    size_t scheme = scheme_of(l.value);
    const char *site = c->set->net.base;
    if (d->is_ignored || check_is_ignored(c, l.value)) {
        judge(&l, SEINE_LINK_EXCLUDED, "ignored");
    } else if (base) {
        point_at_url(c, &l, base, l.value);
    } else if (strcmp(l.tag, "doc") == 0 || strcmp(l.tag, "ref") == 0) {
        check_point_at_role(c, &l, dir);
    } else if (scheme > 0 || strncmp(l.value, "//", 2) == 0) {
        char *whole = xalloc_zeroed(1, strlen(l.value) + 7);

        snprintf(whole, strlen(l.value) + 7, "%s%s", scheme > 0 ? "" : "https:", l.value);
        point_at_url(c, &l, NULL, whole);
        free(whole);
    } else if (site && l.value[0] == '/') {
        char mem[SEINE_URL_ROOM];
        seine_url whole;

        seine_url_init(&whole, mem, sizeof mem);
        if (seine_url_parse(&whole, site, strlen(site), NULL) == SEINE_OK)
            point_at_url(c, &l, &whole, l.value);
    } else {
        point_at_file(c, &l, dir);
    }
    if (!l.is_judged && check_is_ignored(c, l.value))
        judge(&l, SEINE_LINK_EXCLUDED, "ignored");
    c->links = xalloc_room(c->links, c->n_links, &c->cap_links, sizeof *c->links);
    c->links[c->n_links++] = l;
    c->held += sizeof l + strlen(l.value) + (l.text ? d->text.len : 0) +
               (l.path ? strlen(l.path) : 0);
}

/* The end */

/* Follows the redirects of a crawl; returns the last target, or NONE in a circle. */
static uint32_t
last_of(const check *c, uint32_t target, uint16_t *out_moved)
{
    uint32_t hops = 0;

    for (; c->targets[target].next != NAME_MAP_NONE; target = c->targets[target].next) {
        if (++hops > (uint32_t)c->set->net.max_redirects)
            return NAME_MAP_NONE;
        if (c->targets[target].hop == 301 || c->targets[target].hop == 308)
            *out_moved = c->targets[target].hop;
    }
    return target;
}

/* The state of a link's fragment at a target that answers well. */
static check_fragment
fragment_at(const check *c, const check_link *l, const check_target *t)
{
    if (!l->fragment || !*l->fragment)
        return FRAGMENT_NONE;
    bool is_script =
        l->fragment[0] == '/' || l->fragment[0] == '!' || l->fragment[0] == ':';
    if (!c->set->fragments || !t->anchors.is_known || is_script)
        return FRAGMENT_UNCHECKED;
    return check_has_anchor(&t->anchors, l->fragment) ? FRAGMENT_OK : FRAGMENT_MISSING;
}

static void
settle_link(const check *c, check_link *l)
{
    uint16_t moved = 0;

    if (l->is_judged || l->target == NAME_MAP_NONE)
        return;
    uint32_t last = last_of(c, l->target, &moved);
    if (last == NAME_MAP_NONE) {
        judge(l, SEINE_LINK_BROKEN, "too many redirects");
        return;
    }
    const check_target *t = &c->targets[last];
    l->verdict = t->verdict;
    if (t->verdict == SEINE_LINK_OK && moved > 0)
        judge(l, SEINE_LINK_REDIRECTED, moved == 301 ? "301" : "308");
    bool good = l->verdict == SEINE_LINK_OK || l->verdict == SEINE_LINK_REDIRECTED;
    l->found = l->fragment && *l->fragment ? FRAGMENT_UNCHECKED : FRAGMENT_NONE;
    if (good)
        l->found = fragment_at(c, l, t);
    if (l->found == FRAGMENT_MISSING) {
        free(l->why);
        judge(l, SEINE_LINK_BROKEN, "no such fragment");
    }
    l->is_judged = true;
}

void
check_settle(check *c)
{
    memset(c->counts, 0, sizeof c->counts);
    for (size_t i = 0; i < c->n_links; i++) {
        settle_link(c, &c->links[i]);
        c->counts[c->links[i].verdict]++;
    }
}

void
check_free(check *c)
{
    for (size_t i = 0; i < c->n_pages; i++) {
        free(c->pages[i].name);
        free(c->pages[i].anchors.all);
    }
    for (size_t i = 0; i < c->n_targets; i++) {
        free(c->targets[i].url);
        free(c->targets[i].final_url);
        free(c->targets[i].why);
        free(c->targets[i].anchors.all);
    }
    for (size_t i = 0; i < c->n_links; i++) {
        free(c->links[i].value);
        free(c->links[i].text);
        free(c->links[i].path);
        free(c->links[i].why);
    }
    for (size_t i = 0; i < c->urls.room; i++)
        free((char *)c->urls.names[i]);
    for (size_t i = 0; i < c->n_stats; i++)
        free(c->stat_names[i]);
    for (size_t i = 0; i < c->n_cases; i++)
        free(c->case_names[i]);
    for (size_t i = 0; i < c->n_unreadable; i++)
        free(c->unreadable_names[i]);
    for (size_t i = 0; i < c->n_sites; i++)
        free(c->sites[i]);
    free(c->pages);
    free(c->targets);
    free(c->links);
    free(c->stat_names);
    free(c->case_names);
    free(c->unreadable_names);
    free(c->sites);
    free(c->globs);
    free(c->globs_text);
    free(c->real_root);
    free(c->labels.all);
    check_sphinx_free(&c->sphinx);
    seine_filter_free(c->include);
    seine_filter_free(c->exclude);
    seine_sinks_free(atomic_load(&c->sinks));
    name_map_free(&c->files);
    name_map_free(&c->urls);
    name_map_free(&c->stats);
    name_map_free(&c->listed);
    name_map_free(&c->cases);
    name_map_free(&c->unreadable);
    seine_document_free(c->document);
}
