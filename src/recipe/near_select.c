/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/near_select.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "recipe/near_word.h"

enum { NAMES = 2000, TRIES = 300, MATCHES = 100000 };

/* A name of the page: '.' a class, '#' an id, ' ' a tag. */
typedef struct page_name {
    char kind;
    sn_str text;
} page_name;

/* A name in the selector: where its text stands. */
typedef struct token {
    char kind;
    size_t at, len;
} token;

typedef struct search {
    const seine_tree *tree;
    seine_finder *finder;
    sn_str selector;
    seine_node scope;
    page_name *names;
    size_t count;
    unsigned tries;
    unsigned best; /* how far the best is away */
    char *out;
    uint32_t found;
} search;

static void
add_name(search *s, sn_map *seen, char kind, sn_str text)
{
    if (text.len == 0 || text.len > 64 || s->count == NAMES)
        return;
    page_name *n = &s->names[s->count];
    *n = (page_name){kind, text};
    if (sn_map_add(seen, text, n) == SEINE_OK || kind != ' ')
        s->count++;
}

/* Classes and ids of the elements; a name that comes often is added once for each kind.
 */
static void
collect(search *s)
{
    seine_node end = seine_tree_size(s->tree);
    sn_map classes, ids, tags;

    sn_map_init(&classes, NAMES + 1);
    sn_map_init(&ids, NAMES + 1);
    sn_map_init(&tags, NAMES + 1);
    for (seine_node n = 1; n < end; n++) {
        sn_str id = seine_node_attr(s->tree, n, "id");
        sn_str rest = seine_node_attr(s->tree, n, "class"), word;
        sn_str name = seine_node_name(s->tree, n);
        if (seine_node_what(s->tree, n) != SEINE_NODE_ELEMENT)
            continue;
        if (!sn_map_get(&tags, name))
            add_name(s, &tags, ' ', name);
        if (id.len > 0 && !sn_map_get(&ids, id))
            add_name(s, &ids, '#', id);
        while (sn_str_next(&rest, ' ', &word))
            if (!sn_map_get(&classes, word))
                add_name(s, &classes, '.', word);
    }
    sn_map_fini(&classes);
    sn_map_fini(&ids);
    sn_map_fini(&tags);
}

static bool
is_name(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) || c == '-' || c == '_' || c < 0;
}

/* The next plain name of the selector; what stands in brackets or behind : is none. */
static bool
next_token(sn_str s, size_t from, token *out)
{
    int brackets = 0;

    for (size_t i = from; i < s.len; i++) {
        char c = s.ptr[i];
        brackets += (c == '[' || c == '(') - (c == ']' || c == ')');
        char before = i > 0 ? s.ptr[i - 1] : ' ';
        bool is_tag = sn_is_alpha(c) && !is_name(before) && !memchr(".#:@", before, 4);
        bool is_mark = (c == '.' || c == '#') && i + 1 < s.len && is_name(s.ptr[i + 1]);
        if (brackets > 0 || (!is_tag && !is_mark))
            continue;
        out->kind = is_tag ? ' ' : c;
        out->at = i + is_mark;
        for (out->len = 0;
             out->at + out->len < s.len && is_name(s.ptr[out->at + out->len]);)
            out->len++;
        return true;
    }
    return false;
}

static uint32_t
count_matches(const search *s, const char *text)
{
    seine_select *select = NULL;
    seine_node n = s->scope;
    uint32_t count = 0;

    if (seine_select_new(text, strlen(text), &select, NULL) == SEINE_OK)
        while (count < MATCHES &&
               seine_finder_next(s->finder, select, s->scope, &n) == SEINE_OK && n != 0)
            count++;
    seine_select_free(select);
    return count;
}

/* Tries the selector with other bytes in the place of some of its own. */
static void
try_with(search *s, size_t at, size_t len, sn_str with, unsigned distance)
{
    char text[SN_NEAR_SELECT_ROOM];
    int n = snprintf(text, sizeof text, "%.*s%.*s%.*s", (int)at, s->selector.ptr,
                     (int)with.len, with.ptr, (int)(s->selector.len - at - len),
                     s->selector.ptr + at + len);

    if (n <= 0 || (size_t)n >= sizeof text || distance >= s->best || ++s->tries > TRIES)
        return;
    uint32_t count = count_matches(s, text);
    if (count == 0)
        return;
    s->best = distance;
    s->found = count;
    memcpy(s->out, text, (size_t)n + 1);
}

/* How far two names are apart; a beginning that is the same counts as near. */
static unsigned
distance_of(sn_str a, sn_str b)
{
    unsigned slips = sn_near_slips(a, b);
    size_t shorter = a.len < b.len ? a.len : b.len;
    size_t same = 0;

    while (same < shorter && sn_lower(a.ptr[same]) == sn_lower(b.ptr[same]))
        same++;
    if (slips <= 2 && slips < (a.len + 1) / 2 + 1)
        return slips;
    if (same >= 4 && same * 2 >= a.len)
        return 3;
    return SN_NEAR_FAR;
}

static void
try_names(search *s)
{
    token t = {0};

    for (size_t from = 0; next_token(s->selector, from, &t); from = t.at + t.len)
        for (size_t i = 0; i < s->count; i++) {
            sn_str own = sn_str_slice(s->selector, t.at, t.at + t.len);
            if (s->names[i].kind != t.kind)
                continue;
            unsigned d = distance_of(own, s->names[i].text);
            if (d < SN_NEAR_FAR)
                try_with(s, t.at, t.len, s->names[i].text, d);
        }
}

/* Leaves out one class or id, then one part with the blank behind it. */
static void
try_without(search *s)
{
    token t = {0};

    for (size_t from = 0; next_token(s->selector, from, &t); from = t.at + t.len) {
        if (t.kind != ' ')
            try_with(s, t.at - 1, t.len + 1, SN_STR(""), 10);
        size_t end = t.at + t.len, begin = t.at - (t.kind != ' ');
        bool is_alone = begin == 0 || s->selector.ptr[begin - 1] == ' ';
        if (is_alone && end < s->selector.len && s->selector.ptr[end] == ' ')
            try_with(s, begin, end + 1 - begin, SN_STR(""), 11);
    }
    sn_str child = SN_STR(" > ");
    for (size_t i = 0; i + child.len < s->selector.len; i++)
        if (memcmp(s->selector.ptr + i, child.ptr, child.len) == 0)
            try_with(s, i, child.len, SN_STR(" "), 9);
}

bool
sn_near_select(const seine_tree *tree, seine_finder *finder, seine_view selector,
               seine_node scope, char out_text[SN_NEAR_SELECT_ROOM], uint32_t *out_count)
{
    search s = {.tree = tree,
                .finder = finder,
                .selector = selector,
                .scope = scope,
                .best = SN_NEAR_FAR,
                .out = out_text};

    s.names = sn_calloc(NAMES, sizeof *s.names);
    if (!s.names || selector.len >= SN_NEAR_SELECT_ROOM) {
        sn_free(s.names);
        return false;
    }
    collect(&s);
    try_names(&s);
    if (s.best == SN_NEAR_FAR)
        try_without(&s);
    sn_free(s.names);
    *out_count = s.found;
    return s.found > 0;
}
