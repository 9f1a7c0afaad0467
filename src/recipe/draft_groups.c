/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the paths whose elements are rows: they repeat, and each has several things to
 * say. */
#include "recipe/draft.h"

static const char inline_tags[] =
    "a abbr b bdi bdo br cite code dfn em font i kbd mark q s samp small span strong sub "
    "sup tt u var wbr img input label button ins del";

/* Siblings of one path, of a number that changes from parent to parent. */
static bool
is_inner_list(const sn_path *p)
{
    return p->most >= 2 && p->least != p->most &&
           (uint64_t)p->count * 2 > (uint64_t)p->parents * 3;
}

static bool
is_plain_inline(const sn_draft *d, const sn_path *p)
{
    return !p->key.token && sn_draft_is(d, p->node, inline_tags) && p->links == 0;
}

/* Have most rows one? Of many rows four in ten are enough: rows of two sorts may take
 * turns. */
static bool
is_usual(const sn_path *row, uint32_t count)
{
    return row->count < 6 ? (uint64_t)count * 2 > row->count
                          : (uint64_t)count * 5 >= (uint64_t)row->count * 2;
}

/* Counts what most rows have, down to lists inside of them. */
static uint32_t
leaves_of(const sn_draft *d, const sn_path *row, const sn_path *p, unsigned depth)
{
    uint32_t n = 0;

    if (!is_usual(row, p->count) || depth > 64)
        return 0;
    n += p->with_text > 0;
    n += p->links > 0;
    for (const sn_path *c = p->first; c; c = c->next) {
        if (p->with_text * 2 > p->count && is_plain_inline(d, c))
            continue;
        if (c->most >= 2 && !is_usual(row, c->parents))
            continue;
        if (is_inner_list(c))
            n += c->letters > 0;
        else if (c->most >= 2)
            n += c->letters > 0 ? (c->most < 12 ? c->most : 12) : 0;
        else
            n += leaves_of(d, row, c, depth + 1);
    }
    return n;
}

static bool
is_repeated(const sn_path *p)
{
    return p->most >= 2 && p->count >= 2 && p->letters + p->links > 0;
}

/* Rows of text alone are paragraphs; links in a line are a menu or a sentence. */
static double
weight_of(const sn_draft *d, const sn_path *p)
{
    double w = p->is_aside ? 0.15 : 1;

    if (p->leaves <= 2 && sn_draft_is(d, p->node, inline_tags))
        w *= 0.2;
    else if (p->leaves == 1 && sn_draft_is(d, p->node, "li dd dt tr"))
        w *= 0.7;
    else if (p->leaves == 1)
        w *= 0.25;
    if (p->leaves > 1 && sn_draft_is(d, p->node, "tr article item entry"))
        w *= 1.3;
    if (p->letters < (uint64_t)p->count * 2)
        w *= 0.3;
    double letters = (double)p->letters / p->count / 40;
    return w * (0.5 + (letters < 1 ? letters : 1));
}

/* The number of rows counts for less than what a row has to say. */
static double
score_of(const sn_draft *d, const sn_path *p)
{
    double rows = 1;

    for (uint32_t n = p->count; n > 1; n -= n / 2)
        rows *= 1.65;
    return rows * (p->leaves < 12 ? p->leaves : 12) * weight_of(d, p);
}

static bool
is_within(const sn_path *p, const sn_path *other)
{
    for (; p; p = p->up)
        if (p == other)
            return true;
    return false;
}

static bool
is_related(sn_path *const *taken, size_t n, const sn_path *p)
{
    for (size_t i = 0; i < n; i++)
        if (is_within(p, taken[i]) || is_within(taken[i], p))
            return true;
    return false;
}

/* A wrapper with one child of a better name is not the row, the child is. */
static sn_path *
unwrap(sn_path *p)
{
    for (;;) {
        sn_path *c = p->first;
        bool is_alone = c && !c->next && c->count == p->count && p->with_text == 0 &&
                        p->links == 0 && c->first;
        bool is_named = p->key.token && p->key.token->worth >= SN_TOKEN_COMMON;
        if (!is_alone || is_named || !c->key.token ||
            c->key.token->worth < SN_TOKEN_COMMON)
            return p;
        p = c;
    }
}

static sn_path *
best_of(sn_draft *d, sn_path *const *taken, size_t n, double *out_score)
{
    sn_path *best = NULL;

    *out_score = 0;
    for (size_t i = 0; i < d->n_paths; i++) {
        sn_path *p = d->all_paths[i];
        double score = is_repeated(p) && p->leaves > 0 ? score_of(d, p) : 0;
        if (score <= *out_score || is_related(taken, n, p))
            continue;
        if (n > 0 && (p->is_aside || p->leaves < 3 || p->is_taken))
            continue;
        best = p;
        *out_score = score;
    }
    return best;
}

size_t
sn_draft_groups(sn_draft *d, sn_path **out, size_t max)
{
    size_t n = 0;
    double best = 0, score;

    for (size_t i = d->n_paths; i-- > 0;)
        d->all_paths[i]->up->letters += d->all_paths[i]->letters;
    for (size_t i = 0; i < d->n_paths; i++)
        if (is_repeated(d->all_paths[i]))
            d->all_paths[i]->leaves = leaves_of(d, d->all_paths[i], d->all_paths[i], 0);
    while (n < max) {
        sn_path *p = best_of(d, out, n, &score);
        if (!p || (n == 0 ? score < 1.5 : score * 10 < best * 3 || score < 5))
            break;
        best = n == 0 ? score : best;
        out[n++] = unwrap(p);
    }
    return n;
}
