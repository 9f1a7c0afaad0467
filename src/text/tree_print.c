/* SPDX-License-Identifier: Apache-2.0 */
/* Prints trees: as text, as HTML, and in the format of html5lib's tests. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/inert.h"
#include "text/tree_names.h"

#define MOST ((size_t)256 << 20) /* most bytes of a text */

static sn_str
text_of(const seine_tree *t, const sn_node *n)
{
    return (sn_str){t->text.ptr + n->at, n->len};
}

static sn_str
name_of(const seine_tree *t, const sn_node *n)
{
    return sn_tree_name_text(t, n->name);
}

static bool
is_html(const seine_tree *t, const sn_node *n, const char *names)
{
    sn_str rest = sn_str_of(names), name;

    if (n->kind != SEINE_NODE_ELEMENT || n->ns != SN_NS_HTML)
        return false;
    while (sn_str_next(&rest, ' ', &name))
        if (sn_str_eq(name_of(t, n), name))
            return true;
    return false;
}

seine_err
sn_tree_finish_text(sn_buf *b, seine_text *out_text)
{
    seine_err e;

    sn_buf_text(b, "");
    if (!b->ptr)
        sn_buf_reserve(b, 1);
    e = sn_buf_take(b, out_text);
    sn_buf_fini(b);
    return e == SEINE_OK ? e : SEINE_E_NOMEM;
}

seine_err
seine_node_text(const seine_tree *t, seine_node n, seine_text *out_text)
{
    if (!t || !out_text)
        return SEINE_E_INVAL;
    sn_buf b;

    sn_buf_init(&b, MOST);
    for (seine_node i = n; i < seine_node_end(t, n); i++)
        if (sn_tree_node(t, i)->kind == SEINE_NODE_TEXT)
            sn_buf_str(&b, text_of(t, sn_tree_node(t, i)));
    return sn_tree_finish_text(&b, out_text);
}

static void
put_escaped(sn_buf *b, sn_str s, bool attribute)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '&')
            sn_buf_text(b, "&amp;");
        else if (c == '<' && !attribute)
            sn_buf_text(b, "&lt;");
        else if (c == '>' && !attribute)
            sn_buf_text(b, "&gt;");
        else if (c == '"' && attribute)
            sn_buf_text(b, "&quot;");
        else
            sn_buf_char(b, c);
    }
}

static const char voids[] =
    "area base basefont bgsound br col embed frame hr img input keygen link meta param "
    "source track wbr";
static const char raws[] = "style script xmp iframe noembed noframes plaintext";

static const char *
prefix(sn_attr_ns ns)
{
    static const char *const prefixes[] = {"", "xlink:", "xml:", "xmlns:"};

    return prefixes[ns];
}

static void
put_start(sn_buf *b, const seine_tree *t, const sn_node *n)
{
    sn_buf_char(b, '<');
    sn_buf_str(b, name_of(t, n));
    for (uint32_t i = 0; i < n->len; i++) {
        const sn_tree_attr *a = sn_tree_attr_at(t, n->at + i);

        sn_buf_char(b, ' ');
        sn_buf_text(b, prefix(a->ns));
        sn_buf_str(b, sn_tree_name_text(t, a->name));
        sn_buf_text(b, "=\"");
        put_escaped(b, (sn_str){t->text.ptr + a->at, a->len}, true);
        sn_buf_char(b, '"');
    }
    sn_buf_char(b, '>');
}

static void
put_end(sn_buf *b, const seine_tree *t, const sn_node *n)
{
    if (n->kind != SEINE_NODE_ELEMENT || is_html(t, n, voids))
        return;
    sn_buf_text(b, "</");
    sn_buf_str(b, name_of(t, n));
    sn_buf_char(b, '>');
}

static void
put_node(sn_buf *b, const seine_tree *t, const sn_node *n)
{
    switch ((seine_node_kind)n->kind) {
    case SEINE_NODE_ELEMENT:
        put_start(b, t, n);
        break;
    case SEINE_NODE_TEXT:
        if (is_html(t, sn_tree_node(t, n->parent), raws))
            sn_buf_str(b, text_of(t, n));
        else
            put_escaped(b, text_of(t, n), false);
        break;
    case SEINE_NODE_COMMENT:
        sn_buf_text(b, "<!--");
        sn_buf_str(b, text_of(t, n));
        sn_buf_text(b, "-->");
        break;
    case SEINE_NODE_DOCTYPE:
        sn_buf_text(b, "<!DOCTYPE ");
        sn_buf_str(b, text_of(t, n));
        sn_buf_char(b, '>');
        break;
    case SEINE_NODE_INSTRUCTION:
        sn_buf_text(b, "<?");
        sn_buf_str(b, text_of(t, n));
        sn_buf_text(b, "?>");
        break;
    case SEINE_NODE_DOCUMENT:
        break;
    }
}

seine_err
seine_node_html(const seine_tree *t, seine_node n, seine_text *out_text)
{
    if (!t || !out_text)
        return SEINE_E_INVAL;
    seine_node end = seine_node_end(t, n), open = n;
    sn_buf b;

    sn_buf_init(&b, MOST);
    for (seine_node i = n; i < end; i++) {
        const sn_node *node = sn_tree_node(t, i);

        for (; i > n && open != n && sn_tree_node(t, open)->end <= i;
             open = sn_tree_node(t, open)->parent)
            put_end(&b, t, sn_tree_node(t, open));
        put_node(&b, t, node);
        if (node->kind == SEINE_NODE_ELEMENT && node->end > i + 1)
            open = i;
        else
            put_end(&b, t, node);
    }
    for (; end > n + 1; open = sn_tree_node(t, open)->parent) {
        put_end(&b, t, sn_tree_node(t, open));
        if (open == n)
            break;
    }
    return sn_tree_finish_text(&b, out_text);
}

/* The format of html5lib's tests. */

static void
indent(sn_buf *b, size_t depth)
{
    sn_buf_text(b, b->len > 0 ? "\n| " : "| ");
    while (depth-- > 0)
        sn_buf_text(b, "  ");
}

typedef struct line {
    const char *prefix;
    sn_str name, value;
} line;

/* Returns the i-th byte of the printed line, or -1. */
static int
byte_at(const line *l, size_t i)
{
    size_t n = strlen(l->prefix);

    if (i < n)
        return (unsigned char)l->prefix[i];
    return i - n < l->name.len ? (unsigned char)l->name.ptr[i - n] : -1;
}

static int
by_name(const void *a, const void *b)
{
    size_t i = 0;

    while (byte_at(a, i) == byte_at(b, i) && byte_at(a, i) >= 0)
        i++;
    return byte_at(a, i) - byte_at(b, i);
}

/* Text of the page, as it is or on one line. */
static void
put_foreign(sn_buf *b, sn_str text, bool is_inert)
{
    if (!is_inert) {
        sn_buf_str(b, text);
        return;
    }
    size_t n = sn_inert(text, SN_INERT_ROW, NULL, 0);
    char *to = sn_buf_reserve(b, n);

    if (to)
        sn_buf_commit(b, sn_inert(text, SN_INERT_ROW, to, n));
}

static void
print_attrs(sn_buf *b, const seine_tree *t, const sn_node *n, size_t depth, bool is_inert)
{
    static const char *const prefixes[] = {"", "xlink ", "xml ", "xmlns "};
    line *lines SN_AUTOFREE = n->len > 0 ? sn_calloc(n->len, sizeof *lines) : NULL;

    if (!lines && n->len > 0)
        b->err = SEINE_E_NOMEM;
    for (uint32_t i = 0; lines && i < n->len; i++) {
        const sn_tree_attr *a = sn_tree_attr_at(t, n->at + i);

        lines[i] = (line){prefixes[a->ns],
                          sn_tree_name_text(t, a->name),
                          {t->text.ptr + a->at, a->len}};
    }
    if (lines)
        qsort(lines, n->len, sizeof *lines, by_name);
    for (uint32_t i = 0; lines && i < n->len; i++) {
        indent(b, depth);
        sn_buf_text(b, lines[i].prefix);
        put_foreign(b, lines[i].name, is_inert);
        sn_buf_text(b, "=\"");
        put_foreign(b, lines[i].value, is_inert);
        sn_buf_char(b, '"');
    }
}

static void
print_node(sn_buf *b, const seine_tree *t, const sn_node *n, size_t depth, bool is_inert)
{
    indent(b, depth);
    switch ((seine_node_kind)n->kind) {
    case SEINE_NODE_ELEMENT:
        sn_buf_char(b, '<');
        sn_buf_text(b, n->ns == SN_NS_SVG ? "svg " : n->ns == SN_NS_MATH ? "math " : "");
        put_foreign(b,
                    n->ns == SN_NS_SVG ? sn_tree_svg_name(name_of(t, n)) : name_of(t, n),
                    is_inert);
        sn_buf_char(b, '>');
        print_attrs(b, t, n, depth + 1, is_inert);
        break;
    case SEINE_NODE_TEXT:
        sn_buf_char(b, '"');
        put_foreign(b, text_of(t, n), is_inert);
        sn_buf_char(b, '"');
        break;
    case SEINE_NODE_COMMENT:
        sn_buf_text(b, "<!-- ");
        put_foreign(b, text_of(t, n), is_inert);
        sn_buf_text(b, " -->");
        break;
    case SEINE_NODE_INSTRUCTION:
        sn_buf_text(b, "<?");
        put_foreign(b, text_of(t, n), is_inert);
        sn_buf_text(b, "?>");
        break;
    default:
        sn_buf_text(b, "<!DOCTYPE ");
        put_foreign(b, text_of(t, n), is_inert);
        sn_buf_char(b, '>');
        break;
    }
}

/* The content of a template is printed one level deeper. */
static void
print_content(sn_buf *b, size_t depth)
{
    indent(b, depth);
    sn_buf_text(b, "content");
}

static seine_err
print_tree(const seine_tree *t, bool is_inert, seine_text *out_text)
{
    if (!t || !out_text)
        return SEINE_E_INVAL;
    seine_node open = 0;
    size_t depth = 0;
    sn_buf b;

    sn_buf_init(&b, MOST);
    for (seine_node i = 1; i < sn_tree_size(t); i++) {
        const sn_node *node = sn_tree_node(t, i);

        for (; open != node->parent; open = sn_tree_node(t, open)->parent)
            depth -= is_html(t, sn_tree_node(t, open), "template") ? 2 : 1;
        print_node(&b, t, node, depth, is_inert);
        if (is_html(t, node, "template"))
            print_content(&b, depth + 1);
        if (node->end > i + 1) {
            depth += is_html(t, node, "template") ? 2 : 1;
            open = i;
        }
    }
    return sn_tree_finish_text(&b, out_text);
}

seine_err
seine_tree_print(const seine_tree *t, seine_text *out_text)
{
    return print_tree(t, false, out_text);
}

seine_err
seine_tree_show(const seine_tree *t, seine_text *out_text)
{
    return print_tree(t, true, out_text);
}
