/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a node: its text, its HTML, or an attribute. */
#include <string.h>

#include "base/buf.h"
#include "text/extract.h"

bool
sn_extract_is_url(const char *attr)
{
    static const char *const urls[] = {"href",   "src",  "action",     "formaction",
                                       "poster", "cite", "background", "longdesc"};

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        if (strcmp(attr, urls[i]) == 0)
            return true;
    return false;
}

static seine_err
copy_view(seine_view v, seine_text *out_text)
{
    sn_buf copy;

    sn_buf_init(&copy, SIZE_MAX - 1);
    sn_buf_add(&copy, v.ptr, v.len);
    return sn_buf_take(&copy, out_text);
}

static seine_err
resolve(const seine_url *base, seine_view v, seine_text *out_text)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (base && seine_url_href(base).len > 0 &&
        seine_url_resolve(&u, base, v.ptr, v.len, NULL) == SEINE_OK)
        v = seine_url_href(&u);
    return copy_view(v, out_text);
}

/* On one line. */
static seine_err
take_words(const seine_tree *tree, seine_node n, seine_text *out_text)
{
    seine_err e = seine_node_words(tree, n, out_text);

    for (size_t i = 0; e == SEINE_OK && i < out_text->len; i++)
        if (out_text->bytes[i] == '\n')
            out_text->bytes[i] = ' ';
    return e;
}

seine_err
seine_extract_value(const seine_tree *tree, seine_node n, const char *attr,
                    const seine_url *base, seine_text *out_text, bool *out_has)
{
    if (!tree || !out_text || !out_has)
        return SEINE_E_INVAL;
    *out_text = (seine_text){NULL, 0};
    *out_has = true;
    if (!attr || strcmp(attr, "text") == 0)
        return take_words(tree, n, out_text);
    if (strcmp(attr, "html") == 0)
        return seine_node_html(tree, n, out_text);
    seine_view v = seine_node_attr(tree, n, attr);
    *out_has = v.ptr != NULL;
    if (!v.ptr)
        return SEINE_OK;
    return sn_extract_is_url(attr) ? resolve(base, v, out_text) : copy_view(v, out_text);
}
