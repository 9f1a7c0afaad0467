/* SPDX-License-Identifier: Apache-2.0 */
/* From a page to its tree: limits, memory, the tokenizer and the inside of an element. */
#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "text/links.h"
#include "text/tree_build.h"

enum {
    NODE_COST = 80,     /* bytes for a node while a page is read, with its order */
    PAGE_STEPS = 4,     /* steps for each byte of the page */
    FREE_STEPS = 20000, /* and for any page */
    FREE_CLONES = 1000
};

void
sn_maker_free(sn_build *b)
{
    if (!b)
        return;
    sn_html_fini(&b->html);
    sn_buf_fini(&b->stamp);
    sn_free(b);
}

static bool
no_event(void *user, const sn_html_event *e)
{
    (void)user;
    (void)e;
    return true;
}

static sn_build *
build_new(void)
{
    sn_build *b = sn_zalloc(sizeof *b);

    if (!b)
        return NULL;
    sn_tree_names_init(&b->names);
    sn_buf_init(&b->stamp, (size_t)1 << 30);
    sn_html_init(&b->html, &(sn_html_options){.tree = b}, no_event, NULL);
    return b;
}

/* Who gets the events of the tokenizer; most trees are built for themselves alone. */
static void
listen(sn_build *b, seine_links *l)
{
    b->html.opts = (sn_html_options){.tree = b};
    b->html.fn = no_event;
    b->html.user = NULL;
    if (l)
        sn_links_listen(l, &b->html);
}

/* As it was before the first page; the name table and the memory stay. */
static void
build_reset(sn_build *b)
{
    sn_build fresh = {.names = b->names, .html = b->html, .stamp = b->stamp};

    *b = fresh;
    sn_html_reset(&b->html);
    sn_buf_reset(&b->stamp);
}

void
sn_tree_forget(seine_tree *t)
{
    sn_buf_reset(&t->node_mem);
    sn_buf_reset(&t->attr_mem);
    sn_buf_reset(&t->name_mem);
    sn_buf_reset(&t->text);
    if (t->table)
        memset(t->table, 0, t->table_size * sizeof *t->table);
    t->names = 0;
    t->root = 0;
    t->quirks = false;
}

static uint64_t
most_tags(const seine_tree_opts *opts)
{
    return opts->max_tags ? opts->max_tags : SN_TREE_MAX_TAGS;
}

static bool
begins_tag(char c)
{
    return sn_is_alpha(c) || c == '/' || c == '!' || c == '?';
}

/* Counts what may be a tag. */
static uint64_t
count_tags(sn_str page, const seine_tree_opts *opts)
{
    uint64_t most = most_tags(opts);
    const char *p = page.ptr, *end = p + page.len;
    uint64_t n = 0;

    while (n < most && end - p > 1 && (p = memchr(p, '<', (size_t)(end - p) - 1))) {
        p++;
        n += begins_tag(*p);
    }
    return n;
}

/* Guesses the nodes of a page: one for each tag and for the text in front of it, and a
 * sixteenth for elements that no tag stands for. */
static uint64_t
guess_nodes(sn_str page, const seine_tree_opts *opts)
{
    uint64_t most = 2 * most_tags(opts);
    const char *p = page.ptr, *end = p + page.len;
    uint64_t n = 0;

    if (most > page.len / 2) /* "<p>x" is two nodes, and no page has more */
        most = page.len / 2;
    while (n < most && end - p > 1 && (p = memchr(p, '<', (size_t)(end - p) - 1))) {
        if (begins_tag(p[1]))
            n += p > page.ptr && p[-1] != '>' ? 2 : 1;
        p++;
    }
    return n + n / 16;
}

/* Elements that have no rule of their own, and those that pages define. */
static bool
is_ordinary(sn_str name)
{
    static const char names[] =
        "abbr acronym audio bdi bdo canvas cite data datalist del dfn ins kbd label "
        "map mark meter output picture progress q samp slot time video";
    sn_str rest = sn_str_of(names), one;

    while (sn_str_next(&rest, ' ', &one))
        if (sn_str_eq(one, name))
            return true;
    return sn_str_find(name, '-') < name.len;
}

/* Reads "td", "svg path" or "math mi"; false: there is no such element. */
static bool
read_context(sn_build *b, const char *words)
{
    sn_str s = sn_str_of(words), first, rest;
    char name[SN_HTML_NAME] = {0};

    b->context.ns = SN_NS_HTML;
    if (sn_str_cut(s, ' ', &first, &rest)) {
        b->context.ns = sn_str_eq(first, SN_STR("svg")) ? SN_NS_SVG : SN_NS_MATH;
        s = rest;
    }
    if (s.len == 0)
        return false;
    if (s.len > sizeof name)
        return sn_str_find(s, '-') < s.len;
    for (size_t i = 0; i < s.len && i < sizeof name; i++)
        name[i] = sn_lower(s.ptr[i]);
    b->context.el = (uint8_t)sn_tree_names_find(&b->names, name, s.len);
    b->context.sorts =
        (uint16_t)sn_tree_el_sorts((sn_tree_el)b->context.el, (sn_ns)b->context.ns);
    return b->context.el != EL_OTHER || b->context.ns != SN_NS_HTML ||
           is_ordinary((sn_str){name, s.len});
}

static void
start_content(sn_build *b)
{
    static const struct {
        sn_tree_el el;
        sn_html_tag raw;
    } rows[] = {
        {EL_TITLE, SN_TAG_TITLE},       {EL_TEXTAREA, SN_TAG_TEXTAREA},
        {EL_STYLE, SN_TAG_STYLE},       {EL_XMP, SN_TAG_XMP},
        {EL_IFRAME, SN_TAG_IFRAME},     {EL_NOEMBED, SN_TAG_NOEMBED},
        {EL_NOFRAMES, SN_TAG_NOFRAMES}, {EL_SCRIPT, SN_TAG_SCRIPT},
    };

    if (b->context.ns != SN_NS_HTML)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].el == b->context.el)
            sn_html_start_raw(&b->html, SN_HTML_RAW, rows[i].raw);
    if (b->context.el == EL_NOSCRIPT && b->scripting)
        sn_html_start_raw(&b->html, SN_HTML_RAW, SN_TAG_NOSCRIPT);
    if (b->context.el == EL_PLAINTEXT)
        sn_html_start_raw(&b->html, SN_HTML_PLAIN, SN_TAG_PLAINTEXT);
}

/* The fragment case (13.4): a root, and the mode that the context asks for. */
static void
start_fragment(sn_build *b)
{
    b->in_fragment = true;
    sn_build_implied(b, EL_HTML);
    if (b->context.ns == SN_NS_HTML && b->context.el == EL_TEMPLATE)
        b->template_mode[b->templates++] = MODE_IN_TEMPLATE;
    sn_build_reset_mode(b);
    start_content(b);
}

/* The nodes of a fragment belong to the document, without the root. */
static void
end_fragment(sn_build *b)
{
    sn_node *root = sn_build_node(b, 1);

    for (seine_node n = root->end; n != 0; n = sn_build_node(b, n)->prev)
        sn_build_node(b, n)->parent = 0;
    sn_build_node(b, 0)->end = root->end;
    root->end = 0;
    root->parent = 1;
}

static void
find_root(seine_tree *t)
{
    for (seine_node n = 1; n < sn_tree_size(t) && t->root == 0;
         n = sn_tree_node(t, n)->end)
        if (sn_tree_node(t, n)->kind == SEINE_NODE_ELEMENT)
            t->root = n;
}

static seine_err
trouble(const sn_build *b)
{
    const seine_tree *t = b->tree;

    if (b->err != SEINE_OK)
        return b->err;
    if (t->node_mem.err != SEINE_OK || t->attr_mem.err != SEINE_OK ||
        t->name_mem.err != SEINE_OK || t->text.err != SEINE_OK ||
        b->stamp.err != SEINE_OK)
        return SEINE_E_NOMEM;
    return SEINE_OK;
}

/* Gives the tokenizer the page in pieces. */
static seine_err
read_page(sn_build *b, size_t piece)
{
    seine_err e = SEINE_OK;

    for (size_t at = 0; at < b->len && e == SEINE_OK; at += piece) {
        size_t n = b->len - at < piece ? b->len - at : piece;

        e = sn_html_feed(&b->html, b->page + at, n);
    }
    if (e == SEINE_OK && b->err == SEINE_OK)
        e = sn_html_end(&b->html);
    return b->err != SEINE_OK ? b->err : e;
}

static seine_err
build(sn_build *b, const seine_tree_opts *opts, size_t piece)
{
    sn_node document = {.kind = SEINE_NODE_DOCUMENT};

    b->scripting = opts->scripting;
    b->frameset_ok = true;
    b->has_nul = b->len > 0 && memchr(b->page, '\0', b->len);
    b->max_tags = most_tags(opts);
    b->max_steps = PAGE_STEPS * b->len + FREE_STEPS;
    b->max_clones = b->len / 3 + FREE_CLONES;
    if (b->max_clones > SN_TREE_MAX_CLONES)
        b->max_clones = SN_TREE_MAX_CLONES;
    if (opts->fragment && !read_context(b, opts->fragment))
        return SEINE_E_INVAL;
    sn_buf_reserve(&b->tree->node_mem,
                   (guess_nodes((sn_str){b->page, b->len}, opts) + 16) * sizeof document);
    sn_build_add(b, &document);
    if (opts->fragment)
        start_fragment(b);
    seine_err e = read_page(b, piece);
    if (e == SEINE_OK)
        sn_build_selected(b);
    if (e == SEINE_OK)
        e = trouble(b);
    if (e != SEINE_OK)
        return e;
    if (opts->fragment)
        end_fragment(b);
    return sn_build_order(b);
}

/* True if the element has a tag of its own; those that are implied say 0. */
static bool
has_tag(const sn_build *b, const sn_node *node)
{
    sn_str name = sn_tree_name_text(b->tree, node->name);

    return node->offset > 0 ||
           (b->len > name.len && sn_str_eq_nocase((sn_str){b->page + 1, name.len}, name));
}

/* Tells the links which tags are elements of the tree. */
static seine_err
keep_links(const sn_build *b, seine_links *l)
{
    uint8_t *live SN_AUTOFREE = sn_zalloc(b->len / 8 + 1);

    if (!live)
        return SEINE_E_NOMEM;
    for (seine_node n = 1; n < sn_tree_size(b->tree);) {
        const sn_node *node = sn_tree_node(b->tree, n);
        bool is_element = node->kind == SEINE_NODE_ELEMENT;

        if (is_element && has_tag(b, node))
            live[node->offset / 8] |= (uint8_t)(1U << node->offset % 8);
        n = is_element && node->ns == SN_NS_HTML && node->look == SN_LOOK_UNSEEN &&
                    seine_node_is(b->tree, n, "template")
                ? node->end
                : n + 1;
    }
    return sn_links_heard(l, &b->html, live);
}

seine_err
sn_tree_parse_pieces(seine_tree *t, sn_str page, const seine_tree_opts *opts,
                     size_t piece)
{
    if (!t->maker && !(t->maker = build_new()))
        return SEINE_E_NOMEM;
    listen(t->maker, opts->links);
    build_reset(t->maker);
    t->maker->tree = t;
    t->maker->page = page.ptr;
    t->maker->len = page.len;
    seine_err e = build(t->maker, opts, piece);
    if (e == SEINE_OK)
        find_root(t);
    if (e == SEINE_OK && opts->links)
        e = keep_links(t->maker, opts->links);
    if (e != SEINE_OK)
        sn_tree_forget(t);
    return e;
}

seine_err
seine_tree_parse(seine_tree *t, const char *html, size_t len, const seine_tree_opts *opts)
{
    if (!t)
        return SEINE_E_INVAL;
    seine_tree_opts own = SEINE_TREE_OPTS;
    sn_str page = {html, len};

    sn_tree_forget(t);
    if (opts && !sn_opts_read(&own, sizeof own, offsetof(seine_tree_opts, links), opts))
        return SEINE_E_INVAL;
    if (len > SEINE_TREE_BYTES)
        return SEINE_E_BUDGET;
    opts = &own;
    const seine_tree_gate *gate = own.gate;
    uint64_t cost = NODE_COST * (2 * count_tags(page, opts) + 16) + len;
    seine_err e = gate ? gate->take(cost, gate->arg) : SEINE_OK;
    if (e != SEINE_OK)
        return e;
    e = sn_tree_parse_pieces(t, page, opts, len > 0 ? len : 1);
    if (gate)
        gate->give(cost, gate->arg);
    return e;
}
