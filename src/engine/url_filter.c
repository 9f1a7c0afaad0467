/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/url_filter.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "seine/plumbing.h"
#include "text/pattern.h"

enum { MATCHERS = 16, OPTION_ROOM = 48 };

typedef struct pattern {
    sn_pattern *code;
    char rule[SN_URL_FILTER_RULE];    /* exclude '\.pdf$' */
    char unknown[SN_URL_FILTER_RULE]; /* exclude '\.pdf$': pattern_budget */
} pattern;

typedef struct list {
    char shown[OPTION_ROOM]; /* how its rules call the option */
    pattern *all;
    size_t n;
} list;

/* A matcher that nobody uses; on a line of its own, threads should not meet here. */
typedef struct idle {
    _Alignas(64) _Atomic(sn_matcher *) matcher;
} idle;

struct sn_url_filter {
    idle idle[MATCHERS];
    list include, exclude;
    char none[SN_URL_FILTER_RULE]; /* include none of 2 */
};

/* Writes as many whole characters of the pattern as fit, and "…" where it is cut. */
static void
write_rule(char out[SN_URL_FILTER_RULE], const char *option, sn_str text, const char *end)
{
    size_t room = SN_URL_FILTER_RULE - 1 - strlen(option) - strlen(" ''") - strlen(end) -
                  strlen("…");
    size_t n = text.len;

    if (n > room) {
        for (n = room; n > 0 && ((unsigned char)text.ptr[n] & 0xc0) == 0x80;)
            n--;
    }
    snprintf(out, SN_URL_FILTER_RULE, "%s '%.*s%s'%s", option, (int)n, text.ptr,
             n < text.len ? "…" : "", end);
}

static seine_err
add_pattern(list *l, const char *member, const char *text, seine_diag *diag)
{
    pattern *p = &l->all[l->n];
    seine_diag flaw = SEINE_DIAG;
    seine_err e = sn_pattern_new(sn_str_of(text), &p->code, &flaw);

    if (e == SEINE_E_CONFIG)
        return sn_diag_value(diag, member, sn_str_of(text), flaw.text);
    if (e != SEINE_OK)
        return e;
    l->n++;
    write_rule(p->rule, l->shown, sn_str_of(text), "");
    write_rule(p->unknown, l->shown, sn_str_of(text), ": pattern_budget");
    return SEINE_OK;
}

static seine_err
fill_list(list *l, const char *member, const char *const *texts, seine_diag *diag)
{
    size_t n = 0;
    seine_err e = SEINE_OK;

    while (texts && texts[n])
        if (++n > SN_URL_FILTER_MOST)
            return sn_diag_option(diag, member, "more than %d patterns",
                                  SN_URL_FILTER_MOST);
    if (n == 0)
        return SEINE_OK;
    l->all = sn_calloc(n, sizeof *l->all);
    if (!l->all)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n && e == SEINE_OK; i++)
        e = add_pattern(l, member, texts[i], diag);
    return e;
}

static void
list_fini(list *l)
{
    for (size_t i = 0; i < l->n; i++)
        sn_pattern_free(l->all[i].code);
    sn_free(l->all);
}

static void
matcher_free(sn_matcher *m)
{
    if (m)
        sn_matcher_fini(m);
    sn_free(m);
}

static sn_matcher *
matcher_new(void)
{
    sn_matcher *m = sn_alloc(sizeof *m);

    if (m && sn_matcher_init(m) == SEINE_OK)
        return m;
    sn_free(m);
    return NULL;
}

seine_err
sn_url_filter_new(const char *const *include, const char *const *exclude,
                  const seine_diag_name *names, sn_url_filter **out_filter,
                  seine_diag *diag)
{
    sn_url_filter *s = sn_zalloc_line(sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    snprintf(s->exclude.shown, OPTION_ROOM, "%s", sn_diag_shown(names, "exclude"));
    snprintf(s->include.shown, OPTION_ROOM, "%s", sn_diag_shown(names, "include"));
    seine_err e = fill_list(&s->exclude, "exclude", exclude, diag);
    if (e == SEINE_OK)
        e = fill_list(&s->include, "include", include, diag);
    if (e != SEINE_OK) {
        sn_url_filter_free(s);
        return e;
    }
    snprintf(s->none, sizeof s->none, "%s none of %zu", s->include.shown, s->include.n);
    *out_filter = s;
    return SEINE_OK;
}

void
sn_url_filter_free(sn_url_filter *s)
{
    if (!s)
        return;
    list_fini(&s->include);
    list_fini(&s->exclude);
    for (size_t i = 0; i < MATCHERS; i++)
        matcher_free(atomic_load(&s->idle[i].matcher));
    sn_free_line(s);
}

/* Threads have their stacks far from each other: each begins at a place of its own. */
static size_t
own_place(const void *on_stack)
{
    return (size_t)((uintptr_t)on_stack >> 20) * 7 % MATCHERS;
}

/* NULL: no memory. */
static sn_matcher *
matcher_take(const sn_url_filter *s, size_t from)
{
    idle *places = ((sn_url_filter *)s)->idle;

    for (size_t i = 0; i < MATCHERS; i++) {
        _Atomic(sn_matcher *) *at = &places[(from + i) % MATCHERS].matcher;

        if (!atomic_load_explicit(at, memory_order_relaxed))
            continue;
        sn_matcher *m = atomic_exchange_explicit(at, NULL, memory_order_acquire);
        if (m)
            return m;
    }
    return matcher_new();
}

static void
matcher_give(const sn_url_filter *s, size_t from, sn_matcher *m)
{
    idle *places = ((sn_url_filter *)s)->idle;

    for (size_t i = 0; i < MATCHERS && m; i++) {
        _Atomic(sn_matcher *) *at = &places[(from + i) % MATCHERS].matcher;
        sn_matcher *nobody = NULL;

        if (atomic_compare_exchange_strong_explicit(at, &nobody, m, memory_order_release,
                                                    memory_order_relaxed))
            m = NULL;
    }
    matcher_free(m);
}

static const char *
not_known(const pattern *p, seine_err e)
{
    return e == SEINE_E_NOMEM ? "no memory to match a pattern" : p->unknown;
}

/* Returns the first pattern that matches, or NULL. *out_unknown is the rule of a pattern
 * whose match is not known. */
static const pattern *
find_pattern(const sn_url_filter *s, const list *l, sn_str url, const char **out_unknown)
{
    size_t from = own_place(&url);
    const pattern *found = NULL;

    *out_unknown = NULL;
    if (l->n == 0)
        return NULL;
    sn_matcher *m = matcher_take(s, from);
    for (size_t i = 0; i < l->n && !found; i++) {
        bool is_in = false;
        seine_err e =
            m ? sn_pattern_match(l->all[i].code, m, url, &is_in) : SEINE_E_NOMEM;

        if (e == SEINE_OK && is_in)
            found = &l->all[i];
        else if (e != SEINE_OK && !*out_unknown)
            *out_unknown = not_known(&l->all[i], e);
    }
    matcher_give(s, from, m);
    return found;
}

const char *
sn_url_filter_exclude(const sn_url_filter *s, sn_str url)
{
    const char *unknown;
    const pattern *found = find_pattern(s, &s->exclude, url, &unknown);

    return found ? found->rule : unknown;
}

const char *
sn_url_filter_include(const sn_url_filter *s, sn_str url)
{
    const char *unknown;

    if (s->include.n == 0 || find_pattern(s, &s->include, url, &unknown))
        return NULL;
    return unknown ? unknown : s->none;
}

/* <seine/plumbing.h> */

seine_err
seine_filter_new(const char *const *include, const char *const *exclude,
                 seine_filter **out_filter, seine_diag *diag)
{
    if (!out_filter)
        return SEINE_E_INVAL;
    return sn_url_filter_new(include, exclude, NULL, out_filter, diag);
}

void
seine_filter_free(seine_filter *f)
{
    sn_url_filter_free(f);
}

bool
seine_filter_passes(const seine_filter *f, const char *text, size_t n)
{
    sn_str s = {text, n};

    return f && text && !sn_url_filter_exclude(f, s) && !sn_url_filter_include(f, s);
}
