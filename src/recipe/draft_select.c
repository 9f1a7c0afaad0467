/* SPDX-License-Identifier: Apache-2.0 */
/* The selector of rows: short, by classes and ids rather than places, and exact. */
#include <string.h>

#include "recipe/draft.h"

enum { UP = 6 }; /* ancestors that a selector may name */

static bool
is_plain(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_alpha(s.ptr[i]) && !sn_is_digit(s.ptr[i]) && s.ptr[i] != '-' &&
            s.ptr[i] != '_')
            return false;
    return s.len > 0 && !sn_is_digit(s.ptr[0]) &&
           !(s.ptr[0] == '-' && (s.len == 1 || !sn_is_alpha(s.ptr[1])));
}

static bool
is_fit(const sn_token *t)
{
    return t->worth >= SN_TOKEN_COMMON && is_plain(t->text);
}

/* Control characters and digits are written by their number. */
static void
put_escape(sn_buf *b, char c)
{
    if ((unsigned char)c < ' ' || c == 0x7f || sn_is_digit(c))
        sn_buf_printf(b, "\\%x ", (unsigned)(unsigned char)c);
    else
        sn_buf_printf(b, "\\%c", c);
}

/* CSSOM 2.1, "serialize an identifier". */
void
sn_draft_put_name(sn_buf *b, sn_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool begins = i == 0 || (i == 1 && name.ptr[0] == '-');
        bool is_name = sn_is_alpha(c) || (sn_is_digit(c) && !begins) || c == '_' ||
                       (unsigned char)c >= 0x80 || (c == '-' && name.len > 1);
        if (is_name)
            sn_buf_char(b, c);
        else
            put_escape(b, c);
    }
}

/* CSSOM 2.1, "serialize a string". */
void
sn_draft_put_string(sn_buf *b, sn_str text)
{
    sn_buf_char(b, '"');
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"' || c == '\\' || (unsigned char)c < ' ' || c == 0x7f)
            put_escape(b, c);
        else
            sn_buf_char(b, c);
    }
    sn_buf_char(b, '"');
}

void
sn_draft_put_simple(sn_buf *b, const sn_simple_select *s)
{
    sn_draft_put_name(b, s->tag);
    if (s->id.len > 0) {
        sn_buf_char(b, '#');
        sn_buf_str(b, s->id);
    }
    if (s->token)
        sn_buf_printf(b,
                      !s->token->is_prop  ? ".%.*s"
                      : s->token->is_word ? "[itemprop~=%.*s]"
                                          : "[itemprop=%.*s]",
                      SN_FMT(s->token->text));
    if (s->is_classless)
        sn_buf_text(b, ":not([class])");
    if (s->column > 0)
        sn_buf_printf(b, s->of_type ? ":nth-of-type(%u)" : ":nth-child(%u)", s->column);
}

static bool
is_match(const sn_draft *d, seine_node n, const sn_simple_select *s)
{
    return (s->tag.len == 0 || sn_str_eq(sn_draft_tag(d, n), s->tag)) &&
           (s->id.len == 0 || sn_str_eq(seine_node_attr(d->tree, n, "id"), s->id)) &&
           (!s->token || sn_draft_has(d, n, s->token)) &&
           (!s->is_classless || !seine_node_attr(d->tree, n, "class").ptr);
}

typedef struct row_set {
    const seine_node *rows;
    size_t n;
} row_set;

/* Does the selector find these rows and nothing else? `up` may be NULL. */
static bool
is_exact(sn_draft *d, const row_set *set, const sn_simple_select *up, bool is_child,
         const sn_simple_select *own)
{
    seine_node size = seine_tree_size(d->tree), until = 0;
    size_t found = 0;

    for (seine_node n = 1; n < size && d->steps > 0; n++) {
        d->steps--;
        if (seine_node_what(d->tree, n) != SEINE_NODE_ELEMENT)
            continue;
        bool is_below = !up || (is_child ? is_match(d, seine_node_parent(d->tree, n), up)
                                         : n < until);
        if (is_below && is_match(d, n, own)) {
            if (found == set->n || set->rows[found] != n)
                return false;
            found++;
        }
        if (up && !is_child && is_match(d, n, up)) {
            seine_node end = seine_node_end(d->tree, n);
            until = end > until ? end : until;
        }
    }
    return found == set->n && d->steps > 0;
}

/* What may stand for the element that all rows share at this height. */
static size_t
names_of(const sn_draft *d, seine_node n, const seine_node *all, size_t count,
         sn_simple_select out[8])
{
    const sn_element *e = &d->elements[n];
    sn_str tag = sn_draft_tag(d, n);
    bool is_bare = sn_str_is_among(tag, "div span section");
    size_t used = 0;

    for (int worth = SN_TOKEN_GOOD; worth >= SN_TOKEN_COMMON; worth--)
        for (uint32_t i = 0; i < e->count && used < 5; i++) {
            const sn_token *t = d->owned[e->at + i];
            bool is_shared = is_fit(t) && (int)t->worth == worth;
            for (size_t k = 0; k < count && is_shared; k++)
                is_shared = sn_draft_has(d, all[k], t);
            if (is_shared)
                out[used++] = (sn_simple_select){
                    .token = t, .tag = is_bare || t->is_prop ? (sn_str){"", 0} : tag};
        }
    return used;
}

static const char *
printed(sn_draft *d, const sn_simple_select *up, bool is_child,
        const sn_simple_select *own)
{
    sn_buf b;

    sn_buf_init(&b, SN_DRAFT_TEXT);
    if (up) {
        sn_draft_put_simple(&b, up);
        sn_buf_text(&b, is_child ? " > " : " ");
    }
    sn_draft_put_simple(&b, own);
    return sn_draft_take(d, &b);
}

/* An id that people wrote. */
static bool
is_good_id(sn_str id)
{
    return is_plain(id) && sn_draft_worth(id) >= SN_TOKEN_LAYOUT && id.len < 40;
}

/* Tries the ancestors, the nearest first: their ids and tokens, then their tags. */
static const char *
below(sn_draft *d, const row_set *set, const sn_simple_select *own, bool by_tag)
{
    seine_node last = set->rows[set->n - 1];
    seine_node up = seine_node_parent(d->tree, set->rows[0]);

    for (unsigned i = 0; i < UP && up != 0; i++, up = seine_node_parent(d->tree, up)) {
        sn_simple_select names[8];
        sn_str id = seine_node_attr(d->tree, up, "id");
        size_t n = by_tag ? 0 : names_of(d, up, NULL, 0, names);
        if (!by_tag && last < seine_node_end(d->tree, up) && is_good_id(id))
            names[n++] = (sn_simple_select){.id = id};
        if (by_tag)
            names[n++] = (sn_simple_select){.tag = sn_draft_tag(d, up)};
        for (size_t k = 0; k < n; k++)
            for (int child = 0; child <= (i == 0); child++)
                if (is_exact(d, set, &names[k], child == 1, own))
                    return printed(d, &names[k], child == 1, own);
    }
    return NULL;
}

/* The way from the nearest id, or from the body: it may find more than the rows. */
static const char *
whole_way(sn_draft *d, const row_set *set)
{
    sn_simple_select parts[24];
    seine_node n = set->rows[0];
    size_t count = 0;
    sn_buf b;

    while (n != 0 && count < 24 && !sn_draft_is(d, n, "html")) {
        const sn_path *p = d->elements[n].path;
        sn_str id = seine_node_attr(d->tree, n, "id");
        bool has_id = count > 0 && is_good_id(id) &&
                      set->rows[set->n - 1] < seine_node_end(d->tree, n);
        const sn_token *mark = NULL; /* a class that nothing else has */
        for (uint32_t i = 0; i < d->elements[n].count && count > 0; i++) {
            const sn_token *t = d->owned[d->elements[n].at + i];
            if (t->count == 1 && t->worth == SN_TOKEN_GOOD && is_fit(t))
                mark = t;
        }
        parts[count++] = (sn_simple_select){
            .tag = has_id ? (sn_str){"", 0} : sn_draft_tag(d, n),
            .id = has_id ? id : (sn_str){NULL, 0},
            .token = has_id                                      ? NULL
                     : mark                                      ? mark
                     : p && p->key.token && is_fit(p->key.token) ? p->key.token
                                                                 : NULL};
        if (has_id || mark)
            break;
        n = seine_node_parent(d->tree, n);
    }
    sn_buf_init(&b, SN_DRAFT_TEXT);
    while (count-- > 0) {
        sn_draft_put_simple(&b, &parts[count]);
        sn_buf_text(&b, count > 0 ? " > " : "");
    }
    return sn_draft_take(d, &b);
}

/* Do two elements begin alike? */
static bool
is_alike(const sn_draft *d, seine_node a, seine_node b)
{
    const sn_path *p = d->elements[a].path, *q = d->elements[b].path;

    if (!p || !q || p->is_aside != q->is_aside || p->key.tag != q->key.tag)
        return false;
    if (!p->first || !q->first)
        return p->first == q->first;
    return p->first->key.tag == q->first->key.tag &&
           p->first->key.token == q->first->key.token;
}

/* Does a token find the rows, others of their kind deeper or higher on the page, and
 * nothing else? */
static bool
is_of_kind(sn_draft *d, const row_set *set, const sn_simple_select *own)
{
    seine_node size = seine_tree_size(d->tree), until = 0;
    size_t found = 0, others = 0;

    for (seine_node n = 1; n < size && d->steps > 0; n++) {
        d->steps--;
        if (seine_node_what(d->tree, n) != SEINE_NODE_ELEMENT || !is_match(d, n, own))
            continue;
        if (n < until || !is_alike(d, n, set->rows[0]))
            return false;
        until = seine_node_end(d->tree, n);
        bool is_row = found < set->n && set->rows[found] == n;
        found += is_row;
        others += !is_row;
    }
    return found == set->n && others <= found * 3 && d->steps > 0;
}

const char *
sn_draft_select_rows(sn_draft *d, const seine_node *rows, size_t n)
{
    row_set set = {rows, n};
    sn_simple_select names[8];
    size_t count = names_of(d, rows[0], rows, n, names);
    const char *text;

    d->steps = (uint64_t)SN_DRAFT_LOOKS * seine_tree_size(d->tree);
    sn_str id = seine_node_attr(d->tree, rows[0], "id");
    if (n == 1 && is_good_id(id))
        names[count++] = (sn_simple_select){.id = id};
    for (size_t i = 0; i < count; i++)
        if (is_exact(d, &set, NULL, false, &names[i]))
            return printed(d, NULL, false, &names[i]);
    for (size_t i = 0; i < count && n > 1; i++)
        if (names[i].token->worth == SN_TOKEN_GOOD && is_of_kind(d, &set, &names[i]))
            return printed(d, NULL, false, &names[i]);
    names[count++] = (sn_simple_select){.tag = sn_draft_tag(d, rows[0])};
    for (size_t i = 0; i < count; i++)
        if ((text = below(d, &set, &names[i], false)))
            return text;
    if (is_exact(d, &set, NULL, false, &names[count - 1]))
        return printed(d, NULL, false, &names[count - 1]);
    for (size_t i = 0; i < count; i++)
        if ((text = below(d, &set, &names[i], true)))
            return text;
    sn_simple_select bare = {.tag = sn_draft_tag(d, rows[0]), .is_classless = true};
    if ((text = below(d, &set, &bare, false)) || (text = below(d, &set, &bare, true)))
        return text;
    return whole_way(d, &set);
}
