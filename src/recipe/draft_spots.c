/* SPDX-License-Identifier: Apache-2.0 */
/* The places of a row, and the selector of each. */
#include <string.h>

#include "recipe/draft.h"
#include "text/tree.h"

enum { UP = 5 }; /* ancestors that a selector may name */

/* "Price:" at the beginning of a text; len 0: none. */
static sn_str
label_of(sn_str text)
{
    sn_str s = sn_str_trim(text);
    size_t colon = sn_str_find(s, ':');

    bool is_end = colon + 1 >= s.len || sn_is_space(s.ptr[colon + 1]);
    return colon < s.len && colon > 1 && colon <= 30 && is_end ? sn_str_slice(s, 0, colon)
                                                               : (sn_str){"", 0};
}

/* The first text of the element, or of its first child. */
static sn_str
first_text(const sn_draft *d, seine_node n)
{
    seine_node end = seine_node_end(d->tree, n);

    for (seine_node c = n + 1; c < end && c < n + 4; c++)
        if (seine_node_what(d->tree, c) == SEINE_NODE_TEXT &&
            sn_str_trim(seine_node_value(d->tree, c)).len > 0)
            return seine_node_value(d->tree, c);
    return (sn_str){"", 0};
}

static bool
is_labelled(const sn_draft *d, seine_node n)
{
    return label_of(first_text(d, n)).len > 0;
}

/* Siblings that come in one number in all parents: cells of a row of any kind. */
static bool
is_fixed(const sn_draft *d, const sn_path *p)
{
    return p->most >= 2 && p->least == p->most && p->most <= 12 && p->parents >= 2 &&
           !p->key.column && !sn_draft_is(d, p->node, "a option br") &&
           (!sn_draft_is(d, p->node, "li") || is_labelled(d, p->node));
}

static uint32_t
place_of(const sn_draft *d, seine_node n)
{
    uint32_t place = 1, steps = 0, tag = sn_tree_node(d->tree, n)->name;

    for (seine_node p = sn_tree_node(d->tree, n)->prev; p != 0 && steps++ < 100;
         p = sn_tree_node(d->tree, p)->prev)
        place += seine_node_what(d->tree, p) == SEINE_NODE_ELEMENT &&
                 sn_tree_node(d->tree, p)->name == tag;
    return place;
}

static void
keep_tokens(const sn_draft *d, sn_spot *s, seine_node n)
{
    const sn_element *e = &d->elements[n];

    if (s->count == 1)
        for (uint32_t i = 0; i < e->count && s->n_tokens < SN_SPOT_TOKENS; i++)
            s->tokens[s->n_tokens++] = d->owned[e->at + i];
    for (size_t i = 0; i < s->n_tokens; i++)
        s->had[i] += sn_draft_has(d, n, s->tokens[i]);
}

static uint64_t
mix(uint64_t h, sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_space(s.ptr[i]))
            h = (h ^ (unsigned char)s.ptr[i]) * 1099511628211U;
    return h;
}

static void
keep_attrs(const sn_draft *d, sn_spot *s, seine_node n)
{
    sn_str href = seine_node_attr(d->tree, n, "href");
    uint64_t h = mix(1469598103934665603U, href);

    s->datetimes += seine_node_attr(d->tree, n, "datetime").len > 0;
    s->contents += seine_node_attr(d->tree, n, "content").len > 0;
    s->values += seine_node_attr(d->tree, n, "value").len > 0;
    s->labels += seine_node_attr(d->tree, n, "aria-label").len > 0;
    s->titles += seine_node_attr(d->tree, n, "title").len > 0;
    if (href.len == 0 || sn_str_starts_nocase(href, SN_STR("javascript:")))
        return;
    s->href_varies |= s->hrefs > 0 && h != s->href_hash;
    s->href_hash = h;
    s->hrefs++;
}

/* The text of the element itself, without that of its children. */
static void
keep_text(const sn_draft *d, sn_spot *s, seine_node n)
{
    uint64_t h = 1469598103934665603U;
    bool has_text = false;

    for (seine_node c = seine_node_first(d->tree, n); c != 0;
         c = seine_node_next(d->tree, c)) {
        if (seine_node_what(d->tree, c) != SEINE_NODE_TEXT)
            continue;
        sn_str text = seine_node_value(d->tree, c);
        h = mix(h, text);
        for (size_t i = 0; i < text.len && !has_text; i++)
            has_text =
                sn_is_alpha(text.ptr[i]) || sn_is_digit(text.ptr[i]) || text.ptr[i] < 0;
    }
    if (!has_text)
        return;
    sn_str label = label_of(first_text(d, n));
    if (s->with_text == 0)
        s->label = label;
    else if (!sn_str_eq(label, s->label))
        s->label.len = 0;
    s->text_varies |= s->with_text > 0 && h != s->text_hash;
    s->text_hash = h;
    s->with_text++;
}

static sn_spot *
spot_of(sn_draft *d, sn_spots *all, seine_node n, sn_spot *up)
{
    sn_spot probe, *s;

    memset(&probe, 0, sizeof probe);
    probe.key.up = up;
    if (up) {
        const sn_path *path = d->elements[n].path;
        probe.key.token = path->key.token;
        probe.key.tag = path->key.tag;
        probe.key.column = path->key.column;
        probe.key.place = is_fixed(d, path) ? place_of(d, n) : 0;
    }
    s = sn_map_get(&all->map, (sn_str){(const char *)&probe.key, sizeof probe.key});
    if (s || all->count == SN_DRAFT_SPOTS)
        return s;
    s = SN_ARENA_NEW(&d->arena, sn_spot);
    if (!s)
        return sn_draft_no_memory(d);
    s->key = probe.key;
    s->up = up;
    s->node = n;
    if (sn_map_add(&all->map, (sn_str){(const char *)&s->key, sizeof s->key}, s) !=
        SEINE_OK)
        return sn_draft_no_memory(d);
    if (up) {
        *(up->last ? &up->last->next : &up->first) = s;
        up->last = s;
    }
    all->all[all->count++] = s;
    return s;
}

static void
look(sn_draft *d, sn_spots *all, seine_node n, sn_spot *up, uint32_t row)
{
    sn_spot *s = spot_of(d, all, n, up);

    d->spots[n] = s;
    if (!s)
        return;
    s->count++;
    s->rows += s->last_row != row;
    s->last_row = row;
    uint32_t nth = place_of(d, n);
    s->nth_varies |= s->count > 1 && nth != s->nth;
    s->nth = nth;
    keep_tokens(d, s, n);
    keep_attrs(d, s, n);
    keep_text(d, s, n);
}

void
sn_draft_spots(sn_draft *d, const seine_node *rows, size_t n, sn_spots *out)
{
    size_t size = seine_tree_size(d->tree);
    seine_node done = 0;

    memset(out, 0, sizeof *out);
    sn_map_init(&out->map, SN_DRAFT_SPOTS + 1);
    if (!d->spots)
        d->spots = SN_ARENA_ARRAY(&d->arena, sn_spot *, size + 1);
    if (!d->spots) {
        sn_draft_no_memory(d);
        return;
    }
    memset(d->spots, 0, size * sizeof(sn_spot *));
    for (size_t i = 0; i < n && d->err == SEINE_OK; i++) {
        if (rows[i] < done)
            continue; /* a row inside of a row */
        done = seine_node_end(d->tree, rows[i]);
        out->rows++;
        look(d, out, rows[i], NULL, (uint32_t)out->rows);
        for (seine_node c = rows[i] + 1; c < done && d->err == SEINE_OK; c++) {
            sn_spot *up = d->spots[seine_node_parent(d->tree, c)];
            if (up && d->elements[c].path)
                look(d, out, c, up, (uint32_t)out->rows);
        }
    }
    out->root = out->count > 0 ? out->all[0] : NULL;
    sn_map_fini(&out->map);
}

/* Selectors. */

static bool
may_match(const sn_draft *d, const sn_spot *s, const sn_simple_select *x)
{
    if (x->tag.len > 0 && !sn_str_eq(sn_draft_tag(d, s->node), x->tag))
        return false;
    if (x->column > 0 && x->of_type && !s->nth_varies && s->nth != x->column)
        return false;
    if (x->column > 0 && !x->of_type && s->key.column != x->column)
        return false;
    for (size_t i = 0; x->token && i < s->n_tokens; i++)
        if (s->tokens[i] == x->token)
            return true;
    return !x->token || s->key.token == x->token;
}

static bool
has_above(const sn_draft *d, const sn_spot *s, const sn_simple_select *up)
{
    for (s = s->up; s; s = s->up)
        if (may_match(d, s, up))
            return true;
    return false;
}

static bool
is_below(const sn_spot *s, const sn_spot *other)
{
    for (; s; s = s->up)
        if (s == other)
            return true;
    return false;
}

/* Is the spot the only one that this selector finds, or the outermost of them? */
static bool
is_only(const sn_draft *d, const sn_spots *all, const sn_spot *s,
        const sn_simple_select *up, const sn_simple_select *own)
{
    for (size_t i = 1; i < all->count; i++) {
        const sn_spot *t = all->all[i];
        if (!is_below(t, s) && may_match(d, t, own) && (!up || has_above(d, t, up)))
            return false;
    }
    return true;
}

/* Would this name an ancestor of the row, or the row? Then it tells nothing apart. */
static bool
is_outside(const sn_draft *d, const sn_spots *all, const sn_simple_select *x)
{
    unsigned steps = 0;

    for (seine_node n = all->root->node; n != 0 && steps++ < 300;
         n = seine_node_parent(d->tree, n))
        if ((x->tag.len == 0 || sn_str_eq(sn_draft_tag(d, n), x->tag)) &&
            (!x->token || sn_draft_has(d, n, x->token)))
            return true;
    return false;
}

/* Has the parent another spot of this tag, that only a class without a meaning tells
 * apart? */
static bool
has_twin(const sn_draft *d, const sn_spot *s)
{
    const sn_spot *t = s->up ? s->up->first : NULL;

    while (t &&
           (t == s || !sn_str_eq(sn_draft_tag(d, t->node), sn_draft_tag(d, s->node))))
        t = t->next;
    return t != NULL;
}

static size_t
names_of(const sn_draft *d, const sn_spot *s, sn_simple_select out[6])
{
    sn_str tag = sn_draft_tag(d, s->node);
    size_t n = 0;

    for (size_t i = 0; i < s->n_tokens && n < 4; i++) {
        const sn_token *t = s->tokens[i];
        bool is_plain = t->worth >= SN_TOKEN_COMMON && t->text.len > 0;
        for (size_t k = 0; k < t->text.len && is_plain; k++)
            is_plain = sn_is_alpha(t->text.ptr[k]) || t->text.ptr[k] == '_' ||
                       (k > 0 && (sn_is_digit(t->text.ptr[k]) || t->text.ptr[k] == '-'));
        if (is_plain && s->had[i] == s->count)
            out[n++] = (sn_simple_select){.token = t};
    }
    if (s->key.place > 0)
        for (size_t i = 0; i < n; i++)
            out[i] = (sn_simple_select){.token = out[i].token,
                                        .tag = tag,
                                        .column = s->key.place,
                                        .of_type = true};
    uint32_t nth = s->key.place;
    if (nth == 0 && n == 0 && s->key.column == 0 && !s->nth_varies && has_twin(d, s))
        nth = s->nth;
    out[n++] = (sn_simple_select){
        .tag = tag, .column = nth > 0 ? nth : s->key.column, .of_type = nth > 0};
    return n;
}

static const char *
printed(sn_draft *d, const sn_simple_select *up, const sn_simple_select *own)
{
    sn_buf b;

    sn_buf_init(&b, SN_DRAFT_TEXT);
    if (up)
        sn_draft_put_simple(&b, up);
    if (up)
        sn_buf_char(&b, ' ');
    sn_draft_put_simple(&b, own);
    return sn_draft_take(d, &b);
}

/* Step by step from the row. */
static const char *
whole_way(sn_draft *d, const sn_spot *s)
{
    const sn_spot *way[16];
    size_t n = 0;
    sn_buf b;

    for (; s->up && n < 16; s = s->up)
        way[n++] = s;
    if (s->up)
        return NULL;
    sn_buf_init(&b, SN_DRAFT_TEXT);
    sn_buf_text(&b, ":scope");
    while (n-- > 0) {
        sn_simple_select names[6];
        size_t count = names_of(d, way[n], names);
        sn_buf_text(&b, " > ");
        sn_draft_put_simple(&b, &names[count > 1 ? 0 : count - 1]);
    }
    return sn_draft_take(d, &b);
}

/* A bare tag is better found below a parent with a name. */
static const char *
below_named(sn_draft *d, const sn_spots *all, const sn_spot *s,
            const sn_simple_select *own)
{
    sn_simple_select names[6];

    if (!s->up || s->up == all->root)
        return NULL;
    size_t n = names_of(d, s->up, names);
    for (size_t i = 0; i + 1 < n; i++)
        if (!is_outside(d, all, &names[i]) && is_only(d, all, s, &names[i], own))
            return printed(d, &names[i], own);
    return NULL;
}

const char *
sn_draft_select_spot(sn_draft *d, const sn_spots *all, const sn_spot *s)
{
    sn_simple_select own[6], names[6];
    size_t n_own = names_of(d, s, own);

    if (s == all->root)
        return "";
    for (size_t i = 0; i + 1 < n_own; i++)
        if (is_only(d, all, s, NULL, &own[i]))
            return printed(d, NULL, &own[i]);
    const char *text = n_own == 1 ? below_named(d, all, s, &own[0]) : NULL;
    if (text)
        return text;
    if (is_only(d, all, s, NULL, &own[n_own - 1]))
        return printed(d, NULL, &own[n_own - 1]);
    unsigned steps = 0;
    for (const sn_spot *up = s->up; up && up != all->root && steps++ < UP; up = up->up) {
        size_t n = names_of(d, up, names);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n_own; k++)
                if (!is_outside(d, all, &names[i]) &&
                    is_only(d, all, s, &names[i], &own[k]))
                    return printed(d, &names[i], &own[k]);
    }
    return whole_way(d, s);
}
