/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only file that knows MyHTML. Our own tokenizer reads the page first and decides
 * whether a tree is affordable. MyHTML then builds the tree piece by piece, so that it
 * can be stopped if it does more than was estimated. At last the nodes are copied into
 * ours in page order, and MyHTML frees its own.
 */
#include <string.h>

#include <myhtml/myhtml.h>
#include <myhtml/tree.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "text/html_count.h"
#include "text/tree.h"

enum {
    PIECE = 16 * 1024,                 /* bytes between checks; a 64th of a long page */
    NODE_COST = 400,                   /* bytes MyHTML takes for a node, measured */
    MAX_OPEN = 4 * SN_HTML_MAX_DEPTH,  /* elements on MyHTML's own stack */
    MAX_ACTIVE = 4 * SN_HTML_MAX_OPEN, /* and on its list of formatting */
    KEPT_NODES = 20000                 /* a maker that made more is not kept */
};

typedef struct sn_maker {
    myhtml_t *html;
    myhtml_tree_t *tree;
    sn_str page;
    uint64_t nodes, most;
    uint32_t ids[MyHTML_TAG_LAST_ENTRY]; /* number of a tag's name + 1; 0: not yet */
    sn_buf seen; /* indexed by attribute name: the last node that had it */
} sn_maker;

void
sn_maker_free(sn_maker *m)
{
    if (!m)
        return;
    myhtml_tree_destroy(m->tree);
    myhtml_destroy(m->html);
    sn_buf_fini(&m->seen);
    sn_free(m);
}

static sn_maker *
maker_new(void)
{
    sn_maker *m = sn_zalloc(sizeof *m);

    if (!m)
        return NULL;
    sn_buf_init(&m->seen, (size_t)1 << 30);
    m->html = myhtml_create();
    m->tree = m->html ? myhtml_tree_create() : NULL;
    if (!m->tree ||
        myhtml_init(m->html, MyHTML_OPTIONS_PARSE_MODE_SINGLE, 1, 0) !=
            MyHTML_STATUS_OK ||
        myhtml_tree_init(m->tree, m->html) != MyHTML_STATUS_OK) {
        sn_maker_free(m);
        return NULL;
    }
    return m;
}

static void
inserted(myhtml_tree_t *tree, myhtml_tree_node_t *node, void *ctx)
{
    sn_maker *m = ctx;

    (void)tree;
    (void)node;
    m->nodes++;
}

/* Checks that MyHTML stays within the estimate. */
static seine_err
watch(const sn_maker *m)
{
    if (m->tree->open_elements->length > MAX_OPEN)
        return SEINE_E_HTML_TOO_DEEP;
    if (m->nodes > m->most || m->tree->active_formatting->length > MAX_ACTIVE)
        return SEINE_E_HTML_TOO_COMPLEX;
    return SEINE_OK;
}

/* Reads "td" or "svg path". */
static bool
fragment_of(const sn_maker *m, const char *words, myhtml_tag_id_t *out_tag,
            enum myhtml_namespace *out_ns)
{
    sn_str s = sn_str_of(words), first, rest;

    *out_ns = MyHTML_NAMESPACE_HTML;
    if (sn_str_cut(s, ' ', &first, &rest)) {
        *out_ns = sn_str_eq(first, SN_STR("svg")) ? MyHTML_NAMESPACE_SVG
                                                  : MyHTML_NAMESPACE_MATHML;
        s = rest;
    }
    *out_tag = myhtml_tag_id_by_name(m->tree, s.ptr, s.len);
    return *out_tag != MyHTML_TAG__UNDEF;
}

static mystatus_t
feed(sn_maker *m, const char *html, size_t len, const seine_tree_opts *opts, bool first)
{
    myhtml_tag_id_t tag = MyHTML_TAG_DIV;
    enum myhtml_namespace ns = MyHTML_NAMESPACE_HTML;

    if (first && opts->fragment && fragment_of(m, opts->fragment, &tag, &ns))
        return myhtml_parse_chunk_fragment_single(m->tree, html, len, tag, ns);
    if (!first || !opts->fragment)
        return myhtml_parse_chunk_single(m->tree, html, len);
    return MyHTML_STATUS_ERROR;
}

static seine_err
build(sn_maker *m, const char *html, size_t len, const seine_tree_opts *opts)
{
    size_t piece = len / 64 > PIECE ? len / 64 : PIECE;
    seine_err e = SEINE_OK;

    myhtml_tree_clean(m->tree);
    myhtml_encoding_set(m->tree, MyENCODING_UTF_8);
    m->tree->callback_tree_node_insert = inserted;
    m->tree->callback_tree_node_insert_ctx = m;
    if (opts->scripting)
        m->tree->flags |= MyHTML_TREE_FLAGS_SCRIPT;
    for (size_t at = 0; e == SEINE_OK && (at < len || at == 0); at += piece) {
        size_t n = len - at < piece ? len - at : piece;
        mystatus_t status = feed(m, html + at, n, opts, at == 0);

        if (status != MyHTML_STATUS_OK)
            e = at == 0 && opts->fragment ? SEINE_E_INVAL : SEINE_E_NOMEM;
        else
            e = watch(m);
    }
    if (e == SEINE_OK && myhtml_parse_chunk_end(m->tree) != MyHTML_STATUS_OK)
        e = SEINE_E_NOMEM;
    return e == SEINE_OK ? watch(m) : e;
}

static sn_str
string(const mycore_string_t *s)
{
    return (sn_str){s->data, s->data ? s->length : 0};
}

static uint32_t
keep_text(seine_tree *t, sn_str s)
{
    uint32_t at = (uint32_t)t->text.len;

    sn_buf_str(&t->text, s);
    return at;
}

static sn_attr_ns
attr_ns(enum myhtml_namespace ns)
{
    return ns == MyHTML_NAMESPACE_XLINK   ? SN_ATTR_XLINK
           : ns == MyHTML_NAMESPACE_XML   ? SN_ATTR_XML
           : ns == MyHTML_NAMESPACE_XMLNS ? SN_ATTR_XMLNS
                                          : SN_ATTR_PLAIN;
}

/* The first attribute of a name counts: each name remembers the last node that had it. */
static bool
note_if_first(seine_tree *t, uint32_t name)
{
    sn_buf *seen = &t->maker->seen;
    uint32_t me = sn_tree_size(t);
    size_t need = (name + 1) * sizeof me;

    if (seen->len < need) {
        size_t more = need - seen->len + 64 * sizeof me;
        char *room = sn_buf_reserve(seen, more);

        if (!room)
            return false;
        memset(room, 0, more);
        sn_buf_commit(seen, more);
    }
    uint32_t *last = (uint32_t *)(void *)seen->ptr + name;
    bool first = *last != me;
    *last = me;
    return first;
}

static void
copy_attrs(seine_tree *t, const myhtml_token_node_t *token, sn_node *out)
{
    out->at = (uint32_t)(t->attr_mem.len / sizeof(sn_tree_attr));
    for (const myhtml_token_attr_t *a = token->attr_first; a; a = a->next) {
        sn_str value = string(&a->value);
        uint32_t name = sn_tree_intern(t, string(&a->key));

        if (sn_buf_done(&t->attr_mem) != SEINE_OK || !note_if_first(t, name))
            continue;
        sn_tree_attr mine = {name, keep_text(t, value), (uint32_t)value.len,
                             attr_ns(a->ns)};
        sn_buf_add(&t->attr_mem, &mine, sizeof mine);
        out->len++;
    }
}

static uint32_t
tag_name(seine_tree *t, const myhtml_tree_node_t *node)
{
    sn_maker *m = t->maker;
    bool known = node->tag_id < MyHTML_TAG_LAST_ENTRY;
    size_t len = 0;

    if (known && m->ids[node->tag_id] > 0)
        return m->ids[node->tag_id] - 1;
    const char *name = myhtml_tag_name_by_id(m->tree, node->tag_id, &len);
    uint32_t id = sn_tree_intern(t, (sn_str){name, name ? len : 0});
    if (known)
        m->ids[node->tag_id] = id + 1;
    return id;
}

static void
copy_text(seine_tree *t, sn_str s, sn_node *out)
{
    out->at = keep_text(t, s);
    out->len = (uint32_t)s.len;
}

/* name, "public" and "system", as they are printed. */
static void
copy_doctype(seine_tree *t, sn_node *out)
{
    const myhtml_tree_doctype_t *d = &t->maker->tree->doctype;

    out->at = (uint32_t)t->text.len;
    sn_buf_text(&t->text, d->attr_name ? d->attr_name : "");
    if ((d->attr_public && *d->attr_public) || (d->attr_system && *d->attr_system))
        sn_buf_printf(&t->text, " \"%s\" \"%s\"", d->attr_public ? d->attr_public : "",
                      d->attr_system ? d->attr_system : "");
    out->len = (uint32_t)t->text.len - out->at;
}

static bool
in_target(char c, bool first)
{
    return sn_is_alpha(c) || c == '_' || (!first && (sn_is_digit(c) || c == '-'));
}

/* MyHTML makes a comment of an instruction; it is one if a name follows its <?. */
static bool
copy_instruction(seine_tree *t, sn_str s, sn_node *out)
{
    size_t n = 1, from;

    while (n < s.len && in_target(s.ptr[n], n == 1))
        n++;
    sn_str target = sn_str_slice(s, 1, n);
    if (n == 1 || (n < s.len && !sn_is_space(s.ptr[n]) && s.ptr[n] != '?') ||
        sn_str_eq_nocase(target, SN_STR("xml")) ||
        sn_str_eq_nocase(target, SN_STR("xml-stylesheet")))
        return false;
    for (from = n; from < s.len && sn_is_space(s.ptr[from]);)
        from++;
    if (s.len > n && s.ptr[s.len - 1] == '?')
        s.len--;
    out->at = keep_text(t, target);
    sn_buf_char(&t->text, ' ');
    if (from < s.len)
        keep_text(t, sn_str_slice(s, from, s.len));
    out->len = (uint32_t)t->text.len - out->at;
    out->kind = SEINE_NODE_INSTRUCTION;
    return true;
}

/* False: an instruction that the page ends in is no node. */
static bool
copy_comment(seine_tree *t, sn_str s, sn_node *out)
{
    sn_str from = sn_str_slice(t->maker->page, out->offset, t->maker->page.len);

    out->kind = SEINE_NODE_COMMENT;
    if (!sn_str_starts(from, SN_STR("<?"))) {
        copy_text(t, s, out);
        return true;
    }
    if (!memchr(from.ptr, '>', from.len))
        return false;
    if (!copy_instruction(t, s, out))
        copy_text(t, s, out);
    return true;
}

/* False: the node is left out. */
static bool
copy_node(seine_tree *t, const myhtml_tree_node_t *node, sn_node *out)
{
    const myhtml_token_node_t *token = node->token;

    out->offset = token ? (uint32_t)token->element_begin : 0;
    switch (node->tag_id) {
    case MyHTML_TAG__TEXT:
        out->kind = SEINE_NODE_TEXT;
        copy_text(t, token ? string(&token->str) : SN_STR(""), out);
        break;
    case MyHTML_TAG__COMMENT:
        return copy_comment(t, token ? string(&token->str) : SN_STR(""), out);
    case MyHTML_TAG__DOCTYPE:
        out->kind = SEINE_NODE_DOCTYPE;
        copy_doctype(t, out);
        break;
    default:
        out->kind = SEINE_NODE_ELEMENT;
        out->ns = node->ns == MyHTML_NAMESPACE_SVG      ? SN_NS_SVG
                  : node->ns == MyHTML_NAMESPACE_MATHML ? SN_NS_MATH
                                                        : SN_NS_HTML;
        out->name = tag_name(t, node);
        if (token)
            copy_attrs(t, token, out);
        break;
    }
    return true;
}

static sn_node *
last_node(seine_tree *t)
{
    return (sn_node *)(void *)t->node_mem.ptr;
}

/* Copies MyHTML's tree below `top`, in page order and without recursion. */
static void
copy_below(seine_tree *t, const myhtml_tree_node_t *top)
{
    const myhtml_tree_node_t *node = top->child;
    seine_node parent = 0, prev = 0;

    while (node && sn_buf_done(&t->node_mem) == SEINE_OK) {
        sn_node mine = {.parent = parent, .prev = prev};
        seine_node n = sn_tree_size(t);

        if (copy_node(t, node, &mine)) {
            mine.end = n + 1;
            sn_buf_add(&t->node_mem, &mine, sizeof mine);
            prev = n;
        }
        if (node->child) {
            parent = n;
            prev = 0;
            node = node->child;
            continue;
        }
        while (node && !node->next) {
            node = node->parent == top ? NULL : node->parent;
            if (node && sn_buf_done(&t->node_mem) == SEINE_OK) {
                last_node(t)[parent].end = sn_tree_size(t);
                prev = parent;
                parent = last_node(t)[parent].parent;
            }
        }
        node = node ? node->next : NULL;
    }
    if (sn_buf_done(&t->node_mem) == SEINE_OK)
        last_node(t)[0].end = sn_tree_size(t);
}

static void
copy(seine_tree *t, bool fragment)
{
    const myhtml_tree_node_t *top = t->maker->tree->document;
    sn_node document = {.kind = SEINE_NODE_DOCUMENT, .end = 1};

    memset(t->maker->ids, 0, sizeof t->maker->ids);
    sn_buf_reset(&t->maker->seen);
    t->quirks = t->maker->tree->compat_mode == MyHTML_TREE_COMPAT_MODE_QUIRKS;
    sn_buf_reserve(&t->node_mem, (t->maker->nodes + 1) * sizeof document);
    sn_buf_add(&t->node_mem, &document, sizeof document);
    while (fragment && top && top->tag_id != MyHTML_TAG_HTML)
        top = top->child;
    if (top)
        copy_below(t, top);
}

static void
forget(seine_tree *t)
{
    sn_buf_reset(&t->node_mem);
    sn_buf_reset(&t->attr_mem);
    sn_buf_reset(&t->name_mem);
    sn_buf_reset(&t->text);
    if (t->table)
        memset(t->table, 0, t->table_size * sizeof *t->table);
    t->names = 0;
    t->root = 0;
}

static bool
no_event(void *user, const sn_html_event *e)
{
    (void)user;
    (void)e;
    return true;
}

static seine_err
reckon(const char *html, size_t len, const seine_tree_opts *opts, uint64_t *out_nodes)
{
    sn_html_count *c SN_AUTOFREE = sn_alloc(sizeof *c);
    sn_html t;

    if (!c)
        return SEINE_E_NOMEM;
    sn_html_count_init(c, opts->max_tags);
    sn_html_init(&t, &(sn_html_options){.scripting = opts->scripting, .count = c},
                 no_event, NULL);
    seine_err e = sn_html_feed(&t, html, len);
    sn_html_fini(&t);
    if (e == SEINE_OK)
        e = sn_html_count_verdict(c, len);
    *out_nodes = 2 * c->tags + c->reopened + 16;
    return e;
}

static seine_err
trouble(const seine_tree *t)
{
    const seine_err errs[] = {t->node_mem.err, t->attr_mem.err, t->name_mem.err,
                              t->text.err, t->maker->seen.err};

    for (size_t i = 0; i < sizeof errs / sizeof *errs; i++)
        if (errs[i] != SEINE_OK)
            return SEINE_E_NOMEM;
    return SEINE_OK;
}

static void
find_root(seine_tree *t)
{
    for (seine_node n = 1; n < sn_tree_size(t); n = sn_tree_node(t, n)->end)
        if (sn_tree_node(t, n)->kind == SEINE_NODE_ELEMENT && t->root == 0)
            t->root = n;
}

static seine_err
make_tree(seine_tree *t, const char *html, size_t len, const seine_tree_opts *opts,
          uint64_t most)
{
    if (!t->maker && !(t->maker = maker_new()))
        return SEINE_E_NOMEM;
    t->maker->page = (sn_str){html, len};
    t->maker->nodes = 0;
    t->maker->most = most;
    seine_err e = build(t->maker, html, len, opts);
    if (e == SEINE_OK) {
        copy(t, opts->fragment != NULL);
        e = trouble(t);
    }
    if (e == SEINE_OK)
        find_root(t);
    if (t->maker->nodes > KEPT_NODES || e != SEINE_OK) {
        sn_maker_free(t->maker);
        t->maker = NULL;
    } else {
        myhtml_tree_clean(t->maker->tree);
    }
    return e;
}

seine_err
seine_tree_parse(seine_tree *t, const char *html, size_t len, const seine_tree_opts *opts)
{
    if (!t)
        return SEINE_E_INVAL;
    static const seine_tree_opts usual = {.size = sizeof(seine_tree_opts),
                                          .scripting = false};
    const seine_tree_gate *gate = opts ? opts->gate : NULL;
    uint64_t nodes = 0;

    forget(t);
    if (opts && !sn_opts_fit(opts, sizeof *opts))
        return SEINE_E_INVAL;
    if (len > SEINE_TREE_BYTES)
        return SEINE_E_BUDGET;
    opts = opts ? opts : &usual;
    seine_err e = reckon(html, len, opts, &nodes);
    if (e == SEINE_OK && gate)
        e = gate->take(nodes * NODE_COST, gate->arg);
    if (e != SEINE_OK)
        return e;
    e = make_tree(t, html, len, opts, nodes);
    if (gate)
        gate->give(nodes * NODE_COST, gate->arg);
    if (e != SEINE_OK)
        forget(t);
    return e;
}
