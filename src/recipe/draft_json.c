/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in JSON: the array of a page whose elements have most to say, or the things that
 * its JSON-LD describes. */
#include <stdio.h>
#include <string.h>

#include "recipe/draft.h"
#include "seine/jsonptr.h"

enum { MOST_DEPTH = 6, SAMPLE = 50, MOST_PTR = 300, LD_SORTS = 32 };

/* Members. */

typedef struct members {
    sn_draft *d;
    sn_draft_list *list;
    char ptr[MOST_PTR];
    size_t len;
    const char *parent; /* the name of the member that this one stands in; "": none */
    unsigned depth;
} members;

static bool
push(char *ptr, size_t *len, const char *name)
{
    size_t n = *len;

    if (strlen(name) * 2 + n + 2 >= MOST_PTR)
        return false;
    ptr[n++] = '/';
    for (; *name; name++) {
        if (*name == '~' || *name == '/')
            ptr[n++] = '~';
        ptr[n++] = (char)(*name == '~' ? '0' : *name == '/' ? '1' : *name);
    }
    ptr[n] = '\0';
    *len = n;
    return true;
}

static bool
is_known(const sn_draft_list *list, const char *ptr)
{
    for (size_t i = 0; i < list->n_fields; i++)
        if (strcmp(list->fields[i].from, ptr) == 0)
            return true;
    return false;
}

/* The login of a user is the user; its id is named after both. */
static void
name_member(members *m, sn_draft_field *f, const char *name)
{
    char both[160];
    sn_str own = sn_str_of(name);

    if (m->parent[0] && sn_str_is_among(own, "name login title value label text"))
        own = sn_str_of(m->parent);
    else if (m->parent[0] &&
             sn_str_is_among(own,
                             "id url type code key count date time index link href")) {
        snprintf(both, sizeof both, "%.60s_%.60s", m->parent, name);
        own = sn_str_of(both);
    }
    sn_draft_name(m->list, f, own, SN_STR(""));
}

static void
add_member(members *m, const char *name, bool all)
{
    if (is_known(m->list, m->ptr))
        return;
    sn_draft_field *f = sn_draft_field_new(m->list);
    if (!f)
        return;
    f->source = SN_FROM_JSON;
    f->from = sn_draft_text(m->d, (sn_str){m->ptr, m->len});
    f->all = all;
    name_member(m, f, name);
    f->is_deep = m->depth > 0;
    f->keep = m->depth == 0 && sn_str_is_among(sn_str_of(name), "name title");
    bool is_link = sn_str_is_among(sn_str_of(name), "url link href html_url");
    f->type = is_link ? SN_TYPE_URL : SN_TYPE_STRING;
    if (!f->from)
        f->from = "";
}

static bool on_member(const char *name, const seine_json *value, void *arg);

/* A list of texts, or of things with a name. */
static void
add_array(members *m, const char *name, const seine_json *array)
{
    static const char *const names[] = {"name", "title", "label"};
    const seine_json *first = seine_json_at(array, 0);

    if (!first || seine_json_type_of(first) == SEINE_JSON_ARRAY)
        return;
    if (seine_json_type_of(first) != SEINE_JSON_OBJECT) {
        add_member(m, name, true);
        return;
    }
    for (size_t i = 0; i < 3; i++)
        if (seine_json_get(first, names[i]) && push(m->ptr, &m->len, "-") &&
            push(m->ptr, &m->len, names[i])) {
            const char *above = m->parent;
            m->parent = "";
            add_member(m, name, true);
            m->parent = above;
            return;
        }
}

static bool
is_skipped(const char *name)
{
    size_t n = strlen(name);

    return sn_str_is_among(sn_str_of(name), "sameAs geo node_id") || name[0] == '@' ||
           name[0] == '_' || name[0] == '\0' || n > 60 ||
           (n > 4 && strcmp(name + n - 4, "_url") == 0 && strcmp(name, "html_url") != 0 &&
            strcmp(name, "image_url") != 0);
}

static bool
on_member(const char *name, const seine_json *value, void *arg)
{
    members *m = arg;
    size_t len = m->len;
    const char *parent = m->parent;

    if (is_skipped(name) || !push(m->ptr, &m->len, name))
        return true;
    switch (seine_json_type_of(value)) {
    case SEINE_JSON_NULL:
        break;
    case SEINE_JSON_OBJECT:
        if (m->depth < 3) {
            m->depth++;
            m->parent = name;
            (void)seine_json_each(value, on_member, m);
            m->depth--;
        }
        break;
    case SEINE_JSON_ARRAY:
        add_array(m, name, value);
        break;
    default:
        add_member(m, name, false);
    }
    m->parent = parent;
    m->len = len;
    m->ptr[len] = '\0';
    return true;
}

static void
add_members(sn_draft *d, sn_draft_list *list, const seine_json *object)
{
    members m = {.d = d, .list = list, .parent = ""};

    (void)seine_json_each(object, on_member, &m);
}

/* The array of a page. */

typedef struct arrays {
    const seine_json *best;
    char ptr[MOST_PTR], best_ptr[MOST_PTR];
    size_t len;
    uint64_t score;
    unsigned depth;
    const char *name, *best_name;
    size_t visits;
} arrays;

static bool on_child(const char *name, const seine_json *value, void *arg);

/* Rows with members count for more than numbers. */
static uint64_t
score_of(const seine_json *array)
{
    size_t n = seine_json_size(array), members_seen = 0, seen = 0;

    for (size_t i = 0; i < n && i < SAMPLE; i++, seen++)
        if (seine_json_type_of(seine_json_at(array, i)) == SEINE_JSON_OBJECT)
            members_seen += seine_json_size(seine_json_at(array, i));
    return n >= 2 && seen > 0 ? n * members_seen / seen : 0;
}

static void
look(arrays *a, const seine_json *value)
{
    seine_json_type type = seine_json_type_of(value);
    uint64_t score = type == SEINE_JSON_ARRAY ? score_of(value) : 0;

    if (score > a->score) {
        a->best = value;
        a->score = score;
        a->best_name = a->name;
        memcpy(a->best_ptr, a->ptr, sizeof a->ptr);
    }
    if (type != SEINE_JSON_OBJECT || a->depth >= MOST_DEPTH)
        return;
    a->depth++;
    (void)seine_json_each(value, on_child, a);
    a->depth--;
}

static bool
on_child(const char *name, const seine_json *value, void *arg)
{
    arrays *a = arg;
    size_t len = a->len;
    const char *above = a->name;

    if (++a->visits > 10000 || !push(a->ptr, &a->len, name))
        return a->visits <= 10000;
    a->name = name;
    look(a, value);
    a->name = above;
    a->len = len;
    a->ptr[len] = '\0';
    return true;
}

/* An address of the next page, or what to ask for it with. */
static void
find_next(sn_draft *d, const seine_json *top, const char *at)
{
    static const struct {
        const char *name, *param; /* NULL: it is an address */
    } names[] = {{"next", NULL},
                 {"next_url", NULL},
                 {"next_page_url", NULL},
                 {"nextLink", NULL},
                 {"next_cursor", "cursor"},
                 {"nextCursor", "cursor"},
                 {"nextPageToken", "pageToken"}};
    const char *text;
    size_t n;

    for (size_t i = 0; i < sizeof names / sizeof *names && !d->next; i++) {
        if (!seine_json_string(seine_json_get(top, names[i].name), &text, &n) || n == 0)
            continue;
        bool is_url = strncmp(text, "http", 4) == 0 || text[0] == '/' || text[0] == '?';
        if (!names[i].param && is_url)
            d->next = sn_draft_printf(d, "{json: %s/%s}", at, names[i].name);
        else if (names[i].param)
            d->next = sn_draft_printf(d, "{cursor: %s/%s, param: %s}", at, names[i].name,
                                      names[i].param);
    }
}

void
sn_draft_json(sn_draft *d)
{
    static const char *const places[] = {"meta", "links", "paging", "pagination", "page"};
    const seine_json *top = d->page->json;
    arrays a = {.name = "item"};
    sn_draft_list *list = sn_draft_list_new(d);
    char at[24];

    look(&a, top);
    if (!a.best || !list)
        return;
    list->how = SN_EACH_JSON;
    list->each = a.best_ptr[0] ? sn_draft_text(d, sn_str_of(a.best_ptr)) : "/-";
    if (!sn_draft_id(sn_str_of(a.best_name), list->kind, sizeof list->kind) ||
        sn_str_is_among(sn_str_of(list->kind), "data items results rows list objects"))
        snprintf(list->kind, sizeof list->kind, "item");
    sn_draft_singular(list->kind);
    size_t n = seine_json_size(a.best);
    for (size_t i = 0; i < n && i < SAMPLE; i++)
        add_members(d, list, seine_json_at(a.best, i));
    if (list->n_fields > 0 && list->each)
        d->lists[d->n_lists++] = list;
    find_next(d, top, "");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(at, sizeof at, "/%s", places[i]);
        find_next(d, seine_json_get(top, places[i]), at);
    }
}

/* JSON-LD. */

/* Things of one type that stand at one place of the scripts. */
typedef struct sort {
    const char *ptr;
    char type[SN_DRAFT_NAME];
    size_t count, members;
} sort;

typedef struct sorts {
    sort all[LD_SORTS];
    size_t count;
} sorts;

static sn_str
type_of(const seine_json *thing)
{
    const seine_json *type = seine_json_get(thing, "@type");
    sn_str s = {NULL, 0};

    if (seine_json_type_of(type) == SEINE_JSON_ARRAY)
        type = seine_json_at(type, 0);
    return type && seine_json_string(type, &s.ptr, &s.len) ? s : (sn_str){NULL, 0};
}

static void
count_thing(sorts *all, const char *ptr, const seine_json *thing)
{
    static const char dull[] = "ListItem BreadcrumbList Organization WebSite WebPage "
                               "ImageObject Person SearchAction SiteNavigationElement "
                               "CollectionPage ItemList";
    sn_str type = type_of(thing);
    sort *s = NULL;

    if (type.len == 0 || type.len >= SN_DRAFT_NAME || sn_str_is_among(type, dull))
        return;
    for (size_t i = 0; i < all->count && !s; i++)
        if (all->all[i].ptr == ptr && sn_str_eq(sn_str_of(all->all[i].type), type))
            s = &all->all[i];
    if (!s && all->count < LD_SORTS) {
        s = &all->all[all->count++];
        s->ptr = ptr;
        memcpy(s->type, type.ptr, type.len);
    }
    if (!s)
        return;
    s->count++;
    s->members += seine_json_size(thing);
}

static const char *const ld_places[] = {"", "/@graph", "/itemListElement/-/item",
                                        "/itemListElement"};

typedef struct things {
    sorts *all; /* NULL: members are collected */
    const char *ptr;
    sn_draft *d;
    sn_draft_list *list;
    size_t seen;
} things;

static void
on_thing(things *t, const seine_json *thing)
{
    if (seine_json_type_of(thing) != SEINE_JSON_OBJECT)
        return;
    if (t->all)
        count_thing(t->all, t->ptr, thing);
    else if (t->seen < SAMPLE && sn_str_eq(type_of(thing), sn_str_of(t->list->type))) {
        add_members(t->d, t->list, thing);
        t->seen++;
    }
}

static bool
on_place(const seine_json *value, void *arg)
{
    if (seine_json_type_of(value) == SEINE_JSON_ARRAY)
        for (size_t i = 0; i < seine_json_size(value); i++)
            on_thing(arg, seine_json_at(value, i));
    else
        on_thing(arg, value);
    return true;
}

static void
each_thing(sn_draft *d, things *t)
{
    const seine_json *script;

    for (size_t i = 0; (script = seine_json_at(d->page->jsonld, i)); i++)
        if (seine_jsonptr_each(script, t->ptr, strlen(t->ptr), on_place, t) != SEINE_OK)
            return;
}

void
sn_draft_jsonld(sn_draft *d)
{
    sorts *all = SN_ARENA_NEW(&d->arena, sorts);
    const sort *best = NULL;

    sn_apply_read_jsonld(d->page);
    if (!all || !d->page->jsonld) {
        sn_draft_no_memory(d);
        return;
    }
    for (size_t i = 0; i < sizeof ld_places / sizeof *ld_places; i++)
        each_thing(d, &(things){.all = all, .ptr = ld_places[i]});
    for (size_t i = 0; i < all->count; i++)
        if (all->all[i].count >= 2 && all->all[i].members >= all->all[i].count * 3 &&
            (!best || all->all[i].count > best->count))
            best = &all->all[i];
    sn_draft_list *list = best ? sn_draft_list_new(d) : NULL;
    if (!list)
        return;
    list->how = SN_EACH_JSONLD;
    list->each = best->ptr;
    list->type = best->type;
    if (!sn_draft_id(sn_str_of(best->type), list->kind, sizeof list->kind))
        snprintf(list->kind, sizeof list->kind, "item");
    each_thing(d, &(things){.ptr = best->ptr, .d = d, .list = list});
    if (list->n_fields > 0)
        d->lists[d->n_lists++] = list;
}
