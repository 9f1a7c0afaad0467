/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of a tag, and names as numbers. */
#include <string.h>

#include "base/hash.h"
#include "text/tree_build.h"

uint32_t
sn_build_el_id(sn_build *b, sn_tree_el el)
{
    if (b->ids[el] == 0)
        b->ids[el] = sn_tree_intern(b->tree, sn_tree_el_name(el)) + 1;
    return b->ids[el] - 1;
}

/* Writes a name of the page in lower case, with U+FFFD for NUL. */
static void
fold_name(sn_buf *out, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\0')
            sn_buf_text(out, "\357\277\275");
        else
            sn_buf_char(out, sn_lower(p[i]));
    }
}

static uint32_t
slow_id(sn_build *b, uint32_t at, uint32_t len, bool add)
{
    sn_buf folded;

    sn_buf_init(&folded, 3 * (size_t)len + 1);
    fold_name(&folded, b->page + at, len);
    uint32_t id = UINT32_MAX;
    if (sn_buf_done(&folded) != SEINE_OK)
        sn_build_fail(b, SEINE_E_NOMEM);
    else
        id = add ? sn_tree_intern(b->tree, sn_buf_view(&folded))
                 : sn_tree_name(b->tree, sn_buf_view(&folded));
    sn_buf_fini(&folded);
    return id;
}

static sn_tree_cached *
cached(sn_build *b, const char name[SN_HTML_NAME])
{
    uint64_t low, high;

    memcpy(&low, name, sizeof low);
    memcpy(&high, name + sizeof low, sizeof high);
    return &b->cache[(low ^ high) * UINT64_C(0x9e3779b97f4a7c15) >> 57];
}

/* Returns the number of a name of the page; `start` has its first bytes in lower case. */
static uint32_t
name_id(sn_build *b, const char *start, uint32_t at, uint32_t len)
{
    if (len > SN_HTML_NAME || b->has_nul)
        return slow_id(b, at, len, true);
    sn_tree_cached *c = cached(b, start);
    if (c->id == 0 || memcmp(c->name, start, SN_HTML_NAME) != 0) {
        memcpy(c->name, start, SN_HTML_NAME);
        c->id = sn_tree_intern(b->tree, (sn_str){start, len}) + 1;
    }
    return c->id - 1;
}

void
sn_build_tag_name(sn_build *b, const sn_html *t, uint64_t to)
{
    sn_tree_token *tok = &b->tok;
    uint32_t at = (uint32_t)t->tag_at + (t->end_tag ? 2 : 1), len = (uint32_t)to - at;

    tok->el = (uint8_t)sn_tree_names_find(&b->names, t->name, t->name_len);
    tok->end = t->end_tag;
    b->span_count = 0;
    if (tok->el != EL_OTHER)
        tok->name = sn_build_el_id(b, (sn_tree_el)tok->el);
    else if (tok->end)
        tok->name = slow_id(b, at, len, false);
    else
        tok->name = name_id(b, t->name, at, len);
}

/* The end tag of a title, script … is complete up to its name. */
void
sn_build_raw_end(sn_build *b, sn_html_tag tag)
{
    const char *name = sn_html_tag_name(tag);

    b->tok.el = (uint8_t)sn_tree_names_find(&b->names, name, strlen(name));
    b->tok.end = true;
    b->tok.name = sn_build_el_id(b, (sn_tree_el)b->tok.el);
    b->span_count = 0;
}

void
sn_build_attr_name(sn_build *b, const sn_html *t, uint64_t from, uint64_t to)
{
    if (b->tok.end)
        return;
    if (b->span_count == SN_TREE_MAX_ATTRS) {
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
        return;
    }
    sn_tree_span *s = &b->spans[b->span_count++];
    *s = (sn_tree_span){.name = (uint32_t)from, .name_len = (uint32_t)(to - from)};
    memcpy(s->start, t->name, SN_HTML_NAME);
}

void
sn_build_attr_value(sn_build *b, uint64_t from, uint64_t to)
{
    if (b->tok.end || b->span_count == 0)
        return;
    sn_tree_span *s = &b->spans[b->span_count - 1];
    if (s->value_len == 0)
        s->value = (uint32_t)from;
    s->value_len = (uint32_t)(to - s->value);
}

/* The first attribute of a name counts: each name remembers the last tag that had it. */
static bool
note_if_first(sn_build *b, uint32_t name)
{
    size_t need = (name + 1) * sizeof b->stamps;

    if (b->stamp.len < need) {
        size_t more = need - b->stamp.len + 64 * sizeof b->stamps;
        char *room = sn_buf_reserve(&b->stamp, more);

        if (!room) {
            sn_build_fail(b, SEINE_E_NOMEM);
            return false;
        }
        memset(room, 0, more);
        sn_buf_commit(&b->stamp, more);
    }
    uint32_t *last = (uint32_t *)(void *)b->stamp.ptr + name;
    bool first = *last != b->stamps;
    *last = b->stamps;
    return first;
}

static void
add_attr(sn_build *b, const sn_tree_span *s)
{
    seine_tree *t = b->tree;
    uint32_t name = name_id(b, s->start, s->name, s->name_len);

    if (!note_if_first(b, name))
        return;
    sn_tree_attr a = {.name = name, .at = (uint32_t)t->text.len, .ns = SN_ATTR_PLAIN};
    if (s->value_len > 0)
        sn_html_decode(&t->text, (sn_str){b->page + s->value, s->value_len}, true,
                       SIZE_MAX);
    a.len = (uint32_t)t->text.len - a.at;
    sn_buf_add(&t->attr_mem, &a, sizeof a);
    b->tok.attr_count++;
}

/* Stores the attributes of the tag; if nothing uses them, the next tag's replace them. */
void
sn_build_attrs(sn_build *b)
{
    b->tok.attrs = (uint32_t)(b->tree->attr_mem.len / sizeof(sn_tree_attr));
    b->tok.attr_count = 0;
    b->stamps++;
    for (uint32_t i = 0; i < b->span_count; i++)
        add_attr(b, &b->spans[i]);
}

static bool
has_name(const seine_tree *t, const sn_node *node, uint32_t name)
{
    for (uint32_t i = 0; i < node->len; i++)
        if (sn_tree_attr_at(t, node->at + i)->name == name)
            return true;
    return false;
}

static void
copy_attr(seine_tree *t, uint32_t i)
{
    sn_tree_attr a = *sn_tree_attr_at(t, i);

    sn_buf_add(&t->attr_mem, &a, sizeof a);
}

/* Adds the tag's attributes to an element that does not have them. Its list moves to the
 * end, so that it can grow. */
void
sn_build_merge_attrs(sn_build *b, seine_node n)
{
    seine_tree *t = b->tree;
    sn_node *node = sn_build_node(b, n);
    uint32_t at = (uint32_t)(t->attr_mem.len / sizeof(sn_tree_attr)), len = node->len;

    for (uint32_t i = 0; i < b->tok.attr_count; i++) {
        if (has_name(t, node, sn_tree_attr_at(t, b->tok.attrs + i)->name))
            continue;
        for (uint32_t j = 0; len == node->len && j < node->len; j++)
            copy_attr(t, node->at + j);
        copy_attr(t, b->tok.attrs + i);
        len++;
    }
    if (len == node->len || sn_buf_done(&t->attr_mem) != SEINE_OK)
        return;
    node->at = at;
    node->len = len;
    b->tok.used = true;
    if (len > SN_TREE_MAX_ATTRS)
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
}

typedef struct foreign {
    const char *name;
    sn_attr_ns ns;
    uint8_t prefix; /* bytes of the prefix */
} foreign;

static const foreign *
find_foreign(sn_str name)
{
    static const foreign rows[] = {
        {"xlink:actuate", SN_ATTR_XLINK, 6}, {"xlink:arcrole", SN_ATTR_XLINK, 6},
        {"xlink:href", SN_ATTR_XLINK, 6},    {"xlink:role", SN_ATTR_XLINK, 6},
        {"xlink:show", SN_ATTR_XLINK, 6},    {"xlink:title", SN_ATTR_XLINK, 6},
        {"xlink:type", SN_ATTR_XLINK, 6},    {"xml:lang", SN_ATTR_XML, 4},
        {"xml:space", SN_ATTR_XML, 4},       {"xmlns", SN_ATTR_XMLNS, 0},
        {"xmlns:xlink", SN_ATTR_XMLNS, 6},
    };

    if (name.len < 5 || name.ptr[0] != 'x')
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sn_str_eq(name, sn_str_of(rows[i].name)))
            return &rows[i];
    return NULL;
}

/* Gives the tag's attributes the spelling and the namespaces of svg and math. */
void
sn_build_foreign_attrs(sn_build *b, sn_ns ns)
{
    seine_tree *t = b->tree;

    for (uint32_t i = 0; i < b->tok.attr_count && b->err == SEINE_OK; i++) {
        sn_tree_attr *a = (sn_tree_attr *)(void *)t->attr_mem.ptr + b->tok.attrs + i;
        sn_str name = sn_tree_name_text(t, a->name), to = name;
        const foreign *f = find_foreign(name);

        if (f) {
            a->ns = f->ns;
            to = sn_str_of(f->name + f->prefix);
        } else if (ns == SN_NS_SVG) {
            to = sn_tree_svg_attr(name);
        } else if (sn_str_eq(name, SN_STR("definitionurl"))) {
            to = SN_STR("definitionURL");
        }
        if (to.ptr != name.ptr)
            a->name = sn_tree_intern(t, to);
    }
}

bool
sn_build_has_attr(const sn_build *b, const char *name, sn_str *out_value)
{
    const seine_tree *t = b->tree;
    uint32_t id = b->tok.attr_count > 0 ? sn_tree_name(t, sn_str_of(name)) : UINT32_MAX;

    for (uint32_t i = 0; i < b->tok.attr_count; i++) {
        const sn_tree_attr *a = sn_tree_attr_at(t, b->tok.attrs + i);

        if (a->name == id) {
            *out_value = (sn_str){t->text.ptr + a->at, a->len};
            return true;
        }
    }
    return false;
}
