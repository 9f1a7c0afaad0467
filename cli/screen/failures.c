/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/failures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"
#include "screen/xalloc.h"

static const char every_one[] = "--failed failed.jsonl writes all of them";

static failure_group *
group_of(failure_list *f, const seine_record *r)
{
    char name[32];
    seine_err e = r->fault->code;

    if (r->fate == SEINE_FATE_HTTP_ERROR && r->status)
        snprintf(name, sizeof name, "%u", r->status);
    else
        snprintf(name, sizeof name, "%s", seine_err_name(e));
    for (size_t i = 0; i < f->n_groups; i++)
        if (strcmp(f->groups[i].name, name) == 0)
            return &f->groups[i];
    if (!f->groups)
        f->groups = xalloc_zeroed(FAILURES_KINDS, sizeof *f->groups);
    if (f->n_groups == FAILURES_KINDS)
        return &f->groups[FAILURES_KINDS - 1];
    failure_group *g = &f->groups[f->n_groups++];
    snprintf(g->name, sizeof g->name, "%s",
             f->n_groups == FAILURES_KINDS ? "other kinds" : name);
    g->err = e;
    return g;
}

static char *
copy_view(seine_view v)
{
    return v.len ? xalloc_copy(v.ptr, v.len) : NULL;
}

static bool
is_same(seine_view a, seine_view b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* Names the parent, and every other page once. */
static void
name_pages(failure *one, const seine_record *r, const failure_pages *p)
{
    size_t n = !p ? 0 : p->n < FAILURES_PAGES ? p->n : FAILURES_PAGES;
    bool is_listed = false;

    one->from = xalloc_zeroed(n + 1, sizeof *one->from);
    if (r->parent.len > 0)
        one->from[one->n_from++] = (failure_page){copy_view(r->parent), r->via.line};
    for (size_t i = 0; i < n; i++)
        if (r->parent.len > 0 && is_same(p->pages[i].url, r->parent))
            is_listed = true;
        else
            one->from[one->n_from++] =
                (failure_page){copy_view(p->pages[i].url), p->pages[i].line};
    one->more = p ? p->count - n : 0;
    if (!is_listed && r->via.tag.len > 0 && one->more > 0)
        one->more--; /* the parent is one of them */
}

void
failures_add(failure_list *f, const seine_record *r, const failure_pages *pages)
{
    if (r->type != SEINE_RECORD_RESULT || r->fate == SEINE_FATE_OK || !r->fault ||
        (r->fate == SEINE_FATE_CANCELED && r->attempts == 0))
        return;
    failure_group *g = group_of(f, r);
    seine_view url = r->url.len ? r->url : r->input;

    g->n++;
    if (!g->hint)
        g->hint = copy_view(r->hint);
    if (g->kept == FAILURES_SHOWN || url.len == 0)
        return;
    failure *one = &g->first[g->kept++];
    one->url = copy_view(url);
    name_pages(one, r, pages);
}

/* How many URLs of each group are shown: ten in all, and each group has its turn, the
 * largest first. */
typedef struct shares {
    const failure_group *order[FAILURES_KINDS];
    size_t shown[FAILURES_KINDS];
    size_t n;
    uint64_t left; /* that are not shown */
} shares;

static shares
share_out(const failure_list *f)
{
    shares s = {.n = f->n_groups};
    size_t room = FAILURES_SHOWN, before = 0;

    for (size_t i = 0; i < f->n_groups; i++) {
        size_t at = i;

        while (at > 0 && s.order[at - 1]->n < f->groups[i].n) {
            s.order[at] = s.order[at - 1];
            at--;
        }
        s.order[at] = &f->groups[i];
        s.left += f->groups[i].n;
    }
    while (room > 0 && room != before) {
        before = room;
        for (size_t i = 0; i < s.n && room > 0; i++)
            if (s.shown[i] < s.order[i]->kept) {
                s.shown[i]++;
                room--;
            }
    }
    s.left -= FAILURES_SHOWN - room;
    return s;
}

static void
put_url(textbuf *out, const char *url)
{
    size_t n;
    char *clean = say_clean(url, strlen(url), &n);

    for (size_t i = 0; i < n;) {
        size_t len = show_char(clean + i, n - i, NULL);

        if (len)
            textbuf_add(out, clean + i, len);
        else
            textbuf_put(out, "\\x%02x", (unsigned char)clean[i]);
        i += len ? len : 1;
    }
    free(clean);
}

static void
put_page(textbuf *out, const failure_page *p)
{
    textbuf_put(out, "linked from ");
    put_url(out, p->url);
    if (p->line)
        textbuf_put(out, ", line %u", p->line);
}

static void
put_more(textbuf *out, size_t n)
{
    textbuf_put(out, "and %s more page%s", figure_count(n).text, n == 1 ? "" : "s");
}

static void
put_one(textbuf *out, const failure *one)
{
    textbuf_put(out, "  ");
    put_url(out, one->url);
    for (size_t i = 0; i < one->n_from; i++) {
        textbuf_put(out, "\n    ");
        put_page(out, &one->from[i]);
    }
    if (one->more > 0) {
        textbuf_put(out, "\n    ");
        put_more(out, one->more);
    }
    textbuf_put(out, "\n");
}

void
failures_put(const failure_list *f, const screen *s, bool few, textbuf *out)
{
    shares all = share_out(f);

    for (size_t i = 0; i < all.n; i++) {
        const failure_group *g = all.order[i];

        if (few) {
            if (g->hint)
                textbuf_put(out, "try: %s (%s)\n", g->hint, g->name);
            continue;
        }
        textbuf_ink(out, s, INK_BAD, "failed: %s", g->name);
        textbuf_put(out, ", %s URL%s\n", figure_count(g->n).text, g->n == 1 ? "" : "s");
        for (size_t k = 0; k < all.shown[i]; k++)
            put_one(out, &g->first[k]);
        if (g->n > all.shown[i])
            textbuf_put(out, "  and %s more\n", figure_count(g->n - all.shown[i]).text);
        if (g->hint)
            textbuf_put(out, "  try: %s\n", g->hint);
    }
    if (!few && all.left > 0)
        textbuf_put(out, "try: %s\n", every_one);
}

static void
say_one(const failure_group *g, const failure *one, failures_say *say, void *arg)
{
    textbuf line = {NULL, 0, 0};

    textbuf_put(&line, "failed: %s ", g->name);
    put_url(&line, one->url);
    if (one->n_from > 0) {
        size_t others = one->n_from - 1 + one->more;

        textbuf_put(&line, ", ");
        put_page(&line, &one->from[0]);
        textbuf_put(&line, "%s", others > 0 ? ", " : "");
        if (others > 0)
            put_more(&line, others);
    }
    say(g->err, g->hint, line.text, arg);
    textbuf_free(&line);
}

void
failures_each(const failure_list *f, failures_say *say, void *arg)
{
    shares all = share_out(f);
    char text[80];

    for (size_t i = 0; i < all.n; i++)
        for (size_t k = 0; k < all.shown[i]; k++)
            say_one(all.order[i], &all.order[i]->first[k], say, arg);
    if (all.left == 0)
        return;
    snprintf(text, sizeof text, "failed: %s more", figure_count(all.left).text);
    say(all.order[0]->err, every_one, text, arg);
}

static void
free_one(failure *one)
{
    for (size_t i = 0; i < one->n_from; i++)
        free(one->from[i].url);
    free(one->from);
    free(one->url);
}

void
failures_free(failure_list *f)
{
    for (size_t i = 0; i < f->n_groups; i++) {
        failure_group *g = &f->groups[i];

        for (size_t k = 0; k < g->kept; k++)
            free_one(&g->first[k]);
        free(g->hint);
    }
    free(f->groups);
    *f = (failure_list){.groups = NULL};
}
