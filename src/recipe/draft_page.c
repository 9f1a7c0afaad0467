/* SPDX-License-Identifier: Apache-2.0 */
/* Gives each element of a page its path, and counts what the elements of a path have. */
#include <string.h>

#include "recipe/draft.h"
#include "text/tree.h"

sn_str
sn_draft_tag(const sn_draft *d, seine_node n)
{
    return seine_node_name(d->tree, n);
}

bool
sn_draft_is(const sn_draft *d, seine_node n, const char *names)
{
    return sn_str_is_among(sn_draft_tag(d, n), names);
}

/* How many letters and digits change over: "css-1a2b3c" does it five times. */
static unsigned
changes(sn_str s)
{
    unsigned n = 0;

    for (size_t i = 1; i < s.len; i++)
        n += sn_is_digit(s.ptr[i]) != sn_is_digit(s.ptr[i - 1]) &&
             (sn_is_alpha(s.ptr[i]) || sn_is_digit(s.ptr[i])) &&
             (sn_is_alpha(s.ptr[i - 1]) || sn_is_digit(s.ptr[i - 1]));
    return n;
}

/* Upper and lower case change over as in no word: "kYxjLr". */
static bool
is_scrambled(sn_str s)
{
    unsigned ups = 0, lone = 0;

    for (size_t i = 1; i < s.len; i++)
        if (s.ptr[i] >= 'A' && s.ptr[i] <= 'Z') {
            ups++;
            lone += i + 1 >= s.len || sn_lower(s.ptr[i + 1]) != s.ptr[i + 1] ||
                    i + 2 >= s.len || sn_lower(s.ptr[i + 2]) != s.ptr[i + 2];
        }
    return s.len >= 5 && s.len <= 8 && ups >= 2 && lone >= 1;
}

static bool
is_made(sn_str s)
{
    static const char *const begins[] = {"css-", "sc-", "jsx-", "svelte-", "emotion-",
                                         "jss",  "_",   "ng-",  "data-v-", "ember"};
    size_t digits = 0;

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (sn_str_starts(s, sn_str_of(begins[i])))
            return true;
    for (size_t i = 0; i < s.len; i++)
        digits += sn_is_digit(s.ptr[i]);
    return changes(s) >= 3 || digits >= 4 || is_scrambled(s) ||
           (s.len > 0 && sn_is_digit(s.ptr[s.len - 1]) && s.len > digits + 1 &&
            s.ptr[s.len - digits - 1] == '-' && digits >= 3);
}

static bool
is_layout(sn_str s)
{
    static const char words[] =
        "row col column container wrapper wrap inner outer clearfix cf left right center "
        "grid flex block inline fluid card-body content d-flex g-col cell float-left "
        "float-right small large big body pull-left pull-right unstyled nobullet";
    static const char *const begins[] = {
        "col-",   "row-",  "grid-",   "flex-",   "d-",       "m-",     "mt-",   "mb-",
        "ml-",    "mr-",   "mx-",     "my-",     "p-",       "pt-",    "pb-",   "pl-",
        "pr-",    "px-",   "py-",     "w-",      "h-",       "text-",  "bg-",   "font-",
        "border", "round", "shadow",  "justify", "items-",   "align-", "gap-",  "space-",
        "is-",    "has-",  "u-",      "l-",      "o-",       "js-",    "btn",   "fa-",
        "icon-",  "span",  "leading", "hover",   "overflow", "order-", "max-w", "min-"};

    if (sn_str_is_among(s, words) || memchr(s.ptr, ':', s.len) ||
        memchr(s.ptr, '/', s.len) || memchr(s.ptr, '[', s.len))
        return true;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (sn_str_starts(s, sn_str_of(begins[i])))
            return true;
    return s.len < 2;
}

static bool
is_common(sn_str s)
{
    return sn_str_is_among(s, "card item entry tile listitem list-item box result block "
                              "listing media panel element post-item grid-item");
}

sn_token_worth
sn_draft_worth(sn_str s)
{
    static const char states[] =
        "odd even first last active current selected open closed hidden visible alt "
        "alternate hover disabled enabled new hot featured highlight show in out "
        "collapsed "
        "expanded loaded lazy lazyloaded loading checked focus visited sticky promoted";

    if (sn_str_is_among(s, states))
        return SN_TOKEN_STATE;
    return is_made(s)     ? SN_TOKEN_MADE
           : is_common(s) ? SN_TOKEN_COMMON
           : is_layout(s) ? SN_TOKEN_LAYOUT
                          : SN_TOKEN_GOOD;
}

static sn_token *
token_of(sn_draft *d, sn_str text, bool is_prop)
{
    char mem[80];

    if (text.len == 0 || text.len > sizeof mem - 2)
        return NULL;
    mem[0] = is_prop ? '@' : '.';
    memcpy(mem + 1, text.ptr, text.len);
    sn_str key = {mem, text.len + 1};
    sn_token *t = sn_map_get(&d->tokens, key);
    if (t)
        return t;
    t = SN_ARENA_NEW(&d->arena, sn_token);
    char *copy = t ? sn_draft_text(d, key) : NULL;
    seine_err e =
        copy ? sn_map_add(&d->tokens, (sn_str){copy, key.len}, t) : SEINE_E_NOMEM;
    if (e == SEINE_E_FULL)
        return NULL;
    if (e != SEINE_OK)
        return sn_draft_no_memory(d);
    t->text = (sn_str){copy + 1, text.len};
    t->is_prop = is_prop;
    t->worth = is_prop ? SN_TOKEN_GOOD : sn_draft_worth(text);
    return t;
}

static void
own_token(sn_draft *d, sn_element *e, sn_str text, bool is_prop)
{
    sn_token *t = e->count < 32 ? token_of(d, text, is_prop) : NULL;

    if (!t || d->n_owned == d->cap_owned)
        return;
    for (uint32_t i = 0; i < e->count; i++)
        if (d->owned[e->at + i] == t)
            return;
    t->count++;
    d->owned[d->n_owned++] = t;
    e->count++;
}

/* The words of an attribute, whatever blanks stand between them. */
static bool
next_word(sn_str *rest, sn_str *out)
{
    size_t from = 0, to;

    if (!rest->ptr)
        return false;
    while (from < rest->len && sn_is_space(rest->ptr[from]))
        from++;
    for (to = from; to < rest->len && !sn_is_space(rest->ptr[to]);)
        to++;
    *out = sn_str_slice(*rest, from, to);
    *rest = sn_str_slice(*rest, to, rest->len);
    return out->len > 0;
}

static void
own_tokens(sn_draft *d, seine_node n)
{
    sn_element *e = &d->elements[n];
    sn_str word, rest = seine_node_attr(d->tree, n, "itemprop");

    e->at = (uint32_t)d->n_owned;
    bool has_words = memchr(rest.ptr ? rest.ptr : "", ' ', rest.len) != NULL;
    while (next_word(&rest, &word)) {
        own_token(d, e, word, true);
        sn_token *t = has_words ? token_of(d, word, true) : NULL;
        if (t)
            t->is_word = true;
    }
    rest = seine_node_attr(d->tree, n, "class");
    while (next_word(&rest, &word))
        own_token(d, e, word, false);
}

bool
sn_draft_has(const sn_draft *d, seine_node n, const sn_token *token)
{
    const sn_element *e = &d->elements[n];

    for (uint32_t i = 0; i < e->count; i++)
        if (d->owned[e->at + i] == token)
            return true;
    return false;
}

static int
rank(const sn_token *t)
{
    return t->worth < SN_TOKEN_COMMON ? (int)t->worth : SN_TOKEN_COMMON;
}

/* The token that tells most about the element: a good one, of those the most frequent. */
static const sn_token *
label_of(const sn_draft *d, seine_node n)
{
    const sn_element *e = &d->elements[n];
    const sn_token *best = NULL;

    for (uint32_t i = 0; i < e->count; i++) {
        const sn_token *t = d->owned[e->at + i];
        if (t->worth == SN_TOKEN_STATE || t->count < 2)
            continue;
        if (!best || rank(t) > rank(best) ||
            (rank(t) == rank(best) && !best->is_prop && t->count > best->count))
            best = t;
    }
    return best;
}

/* Of a cell: its column, from 1. */
static uint32_t
column_of(const sn_draft *d, seine_node n)
{
    uint32_t column = 1, steps = 0;

    if (!sn_draft_is(d, n, "td th"))
        return 0;
    for (seine_node p = sn_tree_node(d->tree, n)->prev; p != 0 && steps++ < 100;
         p = sn_tree_node(d->tree, p)->prev)
        column += seine_node_what(d->tree, p) == SEINE_NODE_ELEMENT;
    return column;
}

static bool
is_aside(const sn_draft *d, seine_node n, const sn_path *up)
{
    static const char words[] =
        "nav menu navbar navigation footer sidebar breadcrumb breadcrumbs pagination "
        "pager "
        "toolbar topbar header masthead social share related docnav sphinxsidebar "
        "site-footer site-header main-menu sub-nav page-numbers";
    sn_str id = seine_node_attr(d->tree, n, "id");
    const sn_element *e = &d->elements[n];

    if (up->is_aside || sn_draft_is(d, n, "nav footer aside menu"))
        return true;
    if (sn_str_is_among(id, words))
        return true;
    for (uint32_t i = 0; i < e->count; i++)
        if (!d->owned[e->at + i]->is_prop &&
            sn_str_is_among(d->owned[e->at + i]->text, words))
            return !sn_draft_is(d, n, "body article section");
    return false;
}

static void
keep_path(sn_draft *d, sn_path *p)
{
    if (d->n_paths == d->cap_paths) {
        size_t cap = d->cap_paths > 0 ? d->cap_paths * 2 : 256;
        sn_path **all = SN_ARENA_ARRAY(&d->arena, sn_path *, cap);
        if (!all) {
            sn_draft_no_memory(d);
            return;
        }
        if (d->n_paths > 0)
            memcpy(all, d->all_paths, d->n_paths * sizeof(sn_path *));
        d->all_paths = all;
        d->cap_paths = cap;
    }
    d->all_paths[d->n_paths++] = p;
}

static sn_path *
path_of(sn_draft *d, seine_node n, sn_path *up)
{
    sn_path probe, *p;

    memset(&probe, 0, sizeof probe);
    probe.key.parent = up;
    probe.key.token = label_of(d, n);
    probe.key.tag = sn_tree_node(d->tree, n)->name;
    probe.key.column = column_of(d, n);
    p = sn_map_get(&d->paths, (sn_str){(const char *)&probe.key, sizeof probe.key});
    if (p)
        return p;
    p = SN_ARENA_NEW(&d->arena, sn_path);
    if (!p)
        return sn_draft_no_memory(d);
    p->key = probe.key;
    p->up = up;
    p->node = n;
    p->least = UINT32_MAX;
    p->is_aside = is_aside(d, n, up);
    if (sn_map_add(&d->paths, (sn_str){(const char *)&p->key, sizeof p->key}, p) !=
        SEINE_OK)
        return sn_draft_no_memory(d);
    *(up->last ? &up->last->next : &up->first) = p;
    up->last = p;
    keep_path(d, p);
    return p;
}

static void
end_run(sn_path *p)
{
    if (p->run == 0)
        return;
    p->least = p->run < p->least ? p->run : p->least;
    p->most = p->run > p->most ? p->run : p->most;
    p->run = 0;
}

static void
count(sn_path *p, seine_node parent)
{
    if (p->parent_node != parent || p->run == 0) {
        end_run(p);
        p->parents++;
        p->parent_node = parent;
    }
    p->run++;
    p->count++;
}

/* Letters and digits, and all that is not ASCII. */
static size_t
letters_of(sn_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += sn_is_alpha(s.ptr[i]) || sn_is_digit(s.ptr[i]) || s.ptr[i] < 0;
    return n;
}

static void
visit(sn_draft *d, seine_node n)
{
    static const char unseen[] = "head script style svg template select noscript iframe "
                                 "textarea datalist math object";
    seine_node parent = seine_node_parent(d->tree, n);
    sn_path *up = parent == 0 ? d->root : d->elements[parent].path;

    if (!up || sn_draft_is(d, n, unseen))
        return;
    sn_path *p = d->elements[n].path = path_of(d, n, up);
    if (!p)
        return;
    count(p, parent);
    p->links += seine_node_attr(d->tree, n, "href").ptr != NULL;
    p->links += sn_draft_is(d, n, "img");
}

static void
visit_text(sn_draft *d, seine_node n)
{
    sn_path *p = d->elements[seine_node_parent(d->tree, n)].path;
    size_t letters = p ? letters_of(seine_node_value(d->tree, n)) : 0;

    if (letters == 0)
        return;
    p->letters += letters;
    p->with_text++;
}

/* At most one class for each two bytes of a page, so `owned` has room for all. */
static bool
make_room(sn_draft *d)
{
    size_t size = seine_tree_size(d->tree);

    d->elements = SN_ARENA_ARRAY(&d->arena, sn_element, size + 1);
    d->cap_owned = size * 4 + 64;
    d->owned = SN_ARENA_ARRAY(&d->arena, const sn_token *, d->cap_owned);
    d->root = SN_ARENA_NEW(&d->arena, sn_path);
    sn_map_init(&d->tokens, 65536);
    sn_map_init(&d->paths, size + 16);
    return (d->elements && d->owned && d->root) || sn_draft_no_memory(d);
}

void
sn_draft_page(sn_draft *d)
{
    seine_node size = seine_tree_size(d->tree);

    if (!make_room(d))
        return;
    for (seine_node n = 1; n < size && d->err == SEINE_OK; n++)
        if (seine_node_what(d->tree, n) == SEINE_NODE_ELEMENT)
            own_tokens(d, n);
    for (seine_node n = 1; n < size && d->err == SEINE_OK; n++)
        if (seine_node_what(d->tree, n) == SEINE_NODE_ELEMENT)
            visit(d, n);
        else if (seine_node_what(d->tree, n) == SEINE_NODE_TEXT)
            visit_text(d, n);
    for (size_t i = 0; i < d->n_paths; i++)
        end_run(d->all_paths[i]);
}
