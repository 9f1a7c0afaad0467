/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

char *
report_copy(seine_view text)
{
    static const char more[] = "\xe2\x80\xa6";
    size_t n = text.len;

    if (n == 0)
        return NULL;
    if (n <= REPORT_TEXT)
        return xalloc_copy(text.ptr, n);
    n = REPORT_TEXT - sizeof more;
    while (n > 0 && (text.ptr[n] & 0xc0) == 0x80) /* whole characters */
        n--;
    char *out = xalloc_zeroed(1, n + sizeof more);
    memcpy(out, text.ptr, n);
    memcpy(out + n, more, sizeof more);
    return out;
}

report_group *
report_group_of(report_groups *g, const char *name)
{
    size_t i = 0;

    if (!g->all)
        g->all = xalloc_zeroed(REPORT_KINDS, sizeof *g->all);
    while (i < g->n && strcmp(g->all[i].name, name) != 0)
        i++;
    if (i == g->n && g->n < REPORT_KINDS) {
        snprintf(g->all[g->n].name, sizeof g->all->name, "%s",
                 g->n + 1 < REPORT_KINDS ? name : "others");
        g->n++;
    }
    i = i < REPORT_KINDS ? i : REPORT_KINDS - 1;
    g->all[i].n++;
    return &g->all[i];
}

static report_url
copy_url(const entry *e, seine_view other)
{
    return (report_url){.url = report_copy(e->url),
                        .other = report_copy(other),
                        .line = e->line,
                        .status = e->status,
                        .took = entry_latency(e),
                        .bytes = e->bytes_body};
}

static void
free_url(report_url *u)
{
    free(u->url);
    free(u->other);
}

void
report_group_keep(report_group *g, const entry *e, seine_view other)
{
    if (!g->hint)
        g->hint = report_copy(e->hint);
    if (!g->message)
        g->message = report_copy(e->message);
    if (g->kept < REPORT_FIRST && e->url.len > 0)
        g->first[g->kept++] = copy_url(e, other);
}

static int
by_count(const void *a, const void *b)
{
    const report_group *x = a, *y = b;

    return x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->name, y->name);
}

void
report_groups_rank(report_groups *g)
{
    if (g->n > 1)
        qsort(g->all, g->n, sizeof *g->all, by_count);
}

void
report_groups_free(report_groups *g)
{
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = 0; k < g->all[i].kept; k++)
            free_url(&g->all[i].first[k]);
        free(g->all[i].hint);
        free(g->all[i].message);
    }
    free(g->all);
    *g = (report_groups){.all = NULL};
}

static uint64_t
weight_of(const report_url *u, bool by_bytes)
{
    return by_bytes ? u->bytes : (uint64_t)u->took;
}

void
report_top_add(report_top *t, const entry *e, uint64_t weight, bool by_bytes)
{
    size_t at = t->n;

    if (weight == 0 || e->url.len == 0)
        return;
    if (at == REPORT_TOP && weight_of(&t->all[at - 1], by_bytes) >= weight)
        return;
    while (at > 0 && weight_of(&t->all[at - 1], by_bytes) < weight)
        at--;
    if (t->n == REPORT_TOP)
        free_url(&t->all[--t->n]);
    memmove(t->all + at + 1, t->all + at, (t->n - at) * sizeof *t->all);
    t->n++;
    t->all[at] = copy_url(e, e->parent);
}

void
report_top_free(report_top *t)
{
    for (size_t i = 0; i < t->n; i++)
        free_url(&t->all[i]);
    t->n = 0;
}
