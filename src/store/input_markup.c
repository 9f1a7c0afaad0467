/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the URLs of a sitemap, a feed or an HTML page. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "seine/links.h"
#include "seine/sitemap.h"
#include "store/input.h"

/* Holds the URLs of one block, which cannot exceed its bytes in UTF-8 plus one URL begun
 * before. */
#define FOUND (4 * SN_LINES_BLOCK)

struct sn_input_markup {
    seine_sitemap *map; /* NULL: an HTML page */
    seine_links *page;
    sn_buf found; /* a list of lengths and bytes */
    size_t at;    /* offset of the next; of a page: its index */
    bool is_over;
    seine_err err; /* returned after the URLs found before it */
};

static bool
on_entry(const seine_sitemap_entry *e, void *arg)
{
    struct sn_input_markup *m = arg;

    sn_buf_add(&m->found, &e->loc.len, sizeof e->loc.len);
    sn_buf_add(&m->found, e->loc.ptr, e->loc.len);
    return true;
}

void
sn_input_markup_free(struct sn_input_markup *m)
{
    if (!m)
        return;
    seine_sitemap_free(m->map);
    seine_links_free(m->page);
    sn_buf_fini(&m->found);
    sn_free(m);
}

static seine_err
begin_markup(seine_input *in)
{
    /* A list given by the user has no limit. */
    static const seine_sitemap_opts all = {sizeof(seine_sitemap_opts), UINT64_MAX,
                                           UINT64_MAX};
    struct sn_input_markup *m = sn_zalloc(sizeof *m);

    if (!m)
        return SEINE_E_NOMEM;
    in->markup = m;
    sn_buf_init(&m->found, FOUND);
    return in->format == SEINE_INPUT_HTML ? seine_links_new(NULL, &m->page)
                                          : seine_sitemap_new(&all, on_entry, m, &m->map);
}

/* Reads the next block of the file, or its end. */
static void
read_block(seine_input *in)
{
    struct sn_input_markup *m = in->markup;
    sn_str block = sn_lines_take(&in->lines);

    m->is_over = block.len == 0;
    if (in->lines.error)
        return;
    if (m->page)
        m->err = m->is_over ? seine_links_end(m->page)
                            : seine_links_feed(m->page, block.ptr, block.len);
    else
        m->err = m->is_over ? seine_sitemap_end(m->map)
                            : seine_sitemap_feed(m->map, block.ptr, block.len);
    if (m->err == SEINE_OK)
        m->err = sn_buf_done(&m->found);
    m->is_over |= m->err != SEINE_OK;
}

/* Returns the next loc; reads on until there is one. */
static bool
next_loc(seine_input *in, sn_str *out_url)
{
    struct sn_input_markup *m = in->markup;
    size_t len;

    while (m->at == m->found.len) {
        if (m->is_over)
            return false;
        sn_buf_reset(&m->found);
        m->at = 0;
        read_block(in);
    }
    memcpy(&len, m->found.ptr + m->at, sizeof len);
    *out_url = (sn_str){m->found.ptr + m->at + sizeof len, len};
    m->at += sizeof len + len;
    return true;
}

/* Returns the next link of a page that leads to another page. */
static bool
next_link(seine_input *in, sn_str *out_url)
{
    struct sn_input_markup *m = in->markup;
    seine_link link;

    while (!m->is_over)
        read_block(in);
    while (m->err == SEINE_OK && seine_links_at(m->page, m->at++, &link)) {
        *out_url = sn_str_trim(link.value);
        if (out_url->len > 0 &&
            (strcmp(link.tag, "a") == 0 || strcmp(link.tag, "area") == 0))
            return true;
    }
    return false;
}

/* Sets the base from <base>, resolved against the option `base`. */
static void
set_page_base(seine_input *in)
{
    struct sn_input_markup *m = in->markup;

    if (m->err == SEINE_OK &&
        seine_links_base_url(m->page, &in->base, &in->url) == SEINE_OK &&
        seine_url_copy(&in->base, &in->url) == SEINE_OK)
        in->has_base = in->base.len > 0;
}

static seine_err
end_markup(seine_input *in)
{
    const struct sn_input_markup *m = in->markup;
    seine_diag flaw = SEINE_DIAG;

    if (m->err == SEINE_OK || in->lines.error)
        return SEINE_E_CLOSED; /* the caller writes the error */
    if (m->err == SEINE_E_NOMEM)
        return m->err;
    if (m->map)
        seine_sitemap_diag(m->map, &flaw);
    sn_diag_text(&in->diag, "%s: %.120s", seine_err_name(m->err),
                 flaw.text[0] ? flaw.text : seine_err_text(m->err));
    sn_diag_place(&in->diag, in->name, flaw.line, 0);
    return SEINE_E_IO;
}

seine_err
sn_input_markup(seine_input *in, seine_ask *ask)
{
    seine_err e = in->markup ? SEINE_OK : begin_markup(in);
    sn_str url;

    if (e != SEINE_OK)
        return e;
    bool is_page = in->markup->page != NULL, was_over = in->markup->is_over;
    if (is_page ? !next_link(in, &url) : !next_loc(in, &url))
        return end_markup(in);
    if (is_page && !was_over)
        set_page_base(in);
    ask->line = 1 + atomic_fetch_add_explicit(&in->lines.lines, 1, memory_order_relaxed);
    ask->url = ask->input = url;
    return SEINE_OK;
}
