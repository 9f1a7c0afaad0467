/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/extract_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/charset.h>
#include <seine/extract.h>

#include "screen/say.h"
#include "screen/xalloc.h"

/* Ends the program when memory runs out. */
static void
need_memory(seine_err e)
{
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
}

/* Turns the page into UTF-8 and drops a byte order mark. */
static void
read_html(page *p, const char *html, size_t len, const char *charset)
{
    seine_charset_choice c;

    seine_charset_decide(html, len, charset, charset ? strlen(charset) : 0, &c);
    need_memory(
        seine_charset_decode(c.charset, html + c.bom, len - c.bom, &p->html, NULL));
}

seine_json *
page_string(seine_view v)
{
    return xalloc_json(v.ptr ? seine_json_new_string(v.ptr, v.len)
                             : seine_json_new_null());
}

static bool
read_url(page *p, const char *url, reason *why)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};

    if (url && seine_url_parse(&p->url, url, strlen(url), &flaw) != SEINE_OK)
        return reason_set(why, "'%s': %s", show(url).text,
                          seine_url_flaw_text(flaw.kind));
    need_memory(seine_links_base_url(p->links, &p->url, &p->base));
    return true;
}

/* Makes the tree, which may tell `links` what it finds. */
static void
make_tree(page *p, seine_links *links)
{
    seine_tree_opts opts = SEINE_TREE_OPTS;

    opts.links = links;
    need_memory(seine_tree_new(&p->tree));
    p->refused = seine_tree_parse(p->tree, p->html.bytes, p->html.len, &opts);
    need_memory(p->refused);
    if (p->refused == SEINE_OK)
        return;
    seine_tree_free(p->tree);
    p->tree = NULL;
}

static void
read_links(page *p, bool of_tree)
{
    need_memory(seine_links_new(NULL, &p->links));
    if (of_tree)
        make_tree(p, p->links);
    if (p->tree)
        return;
    seine_links_reset(p->links);
    need_memory(seine_links_feed(p->links, p->html.bytes, p->html.len));
    need_memory(seine_links_end(p->links));
}

bool
page_open(page *p, const bytes *html, const page_how *how, reason *why)
{
    memset(p, 0, sizeof *p);
    read_html(p, html->ptr, html->len, how->charset);
    seine_url_init(&p->url, p->url_mem, sizeof p->url_mem);
    seine_url_init(&p->base, p->base_mem, sizeof p->base_mem);
    read_links(p, how->links);
    return read_url(p, how->url, why);
}

void
page_close(page *p)
{
    seine_finder_free(p->finder);
    seine_tree_free(p->tree);
    seine_links_free(p->links);
    seine_text_free(&p->html);
    memset(p, 0, sizeof *p);
}

bool
page_tree(page *p, reason *why)
{
    if (!p->tree && p->refused == SEINE_OK)
        make_tree(p, NULL);
    if (p->tree && !p->finder)
        need_memory(seine_finder_new(p->tree, &p->finder));
    return p->tree || reason_set(why, "%s: %s", seine_err_name(p->refused),
                                 seine_err_text(p->refused));
}

bool
page_select(page *p, const seine_select *s, page_fn fn, void *arg, reason *why)
{
    seine_node n = 0;
    seine_err e;

    if (!page_tree(p, why))
        return false;
    while ((e = seine_finder_next(p->finder, s, 0, &n)) == SEINE_OK && n != 0)
        if (!fn(p, n, arg))
            return true;
    if (e == SEINE_E_NOMEM)
        need_memory(e);
    return e == SEINE_OK ||
           reason_set(why, "%s: %s", seine_err_name(e), seine_err_text(e));
}

static seine_json *
resolve_url(const page *p, seine_view v)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_href(&p->base).len > 0 &&
        seine_url_resolve(&u, &p->base, v.ptr, v.len, NULL) == SEINE_OK)
        return xalloc_json(
            seine_json_new_string(seine_url_href(&u).ptr, seine_url_href(&u).len));
    return page_string(v);
}

seine_json *
page_value(page *p, seine_node n, const char *attr)
{
    seine_text text = {0};
    bool has = false;

    need_memory(seine_extract_value(p->tree, n, attr, &p->base, &text, &has));
    if (!has)
        return NULL;
    seine_json *json = xalloc_json(seine_json_new_string(text.bytes, text.len));
    seine_text_free(&text);
    return json;
}

seine_json *
page_links(const page *p)
{
    seine_json *all = xalloc_json(seine_json_new_array());
    seine_link k;

    for (size_t i = 0; seine_links_at(p->links, i, &k); i++) {
        seine_json *one = xalloc_json(seine_json_new_object());

        jsonl_set(one, "url", resolve_url(p, k.value));
        jsonl_set(one, "tag", jsonl_string(k.tag));
        jsonl_set(one, "attr", jsonl_string(k.attr));
        jsonl_set(one, "text", page_string(k.text));
        jsonl_set(one, "rel", page_string(k.rel));
        if (k.hreflang.len > 0)
            jsonl_set(one, "hreflang", page_string(k.hreflang));
        jsonl_set(one, "line", seine_json_new_int(k.line));
        jsonl_set(one, "col", seine_json_new_int(k.col));
        jsonl_add(all, one);
    }
    return all;
}

seine_json *
page_notes(const page *p)
{
    unsigned notes = seine_links_notes(p->links);
    seine_json *all = notes ? xalloc_json(seine_json_new_array()) : NULL;

    for (unsigned i = 0; seine_links_note_name(i); i++)
        if (notes & 1U << i)
            jsonl_add(all, jsonl_string(seine_links_note_name(i)));
    return all;
}

/* A page without a title has an empty one, as in a browser. */
seine_json *
page_title(const page *p)
{
    seine_view title = seine_links_title(p->links);

    return page_string(title);
}

seine_json *
page_lang(const page *p)
{
    return page_string(seine_links_lang(p->links));
}

seine_json *
page_canonical(const page *p)
{
    seine_view v = seine_links_canonical(p->links);

    return v.ptr ? resolve_url(p, v) : page_string(v);
}

seine_json *
page_base(const page *p)
{
    seine_view href = seine_url_href(&p->base);

    if (href.len > 0)
        return page_string(href);
    return page_string(seine_links_base(p->links));
}
