/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_links.h"

#include <string.h>

#include "seine/url.h"
#include "store/record_hold.h"
#include "text/html.h"

typedef struct row {
    uint32_t at, len; /* in the text */
    uint32_t line, col;
    uint8_t tag, attr;
} row;

_Static_assert(sizeof(row) == 20, "the header says so");

void
sn_record_links_init(sn_record_links *l, sn_str base, const char *strip)
{
    *l = (sn_record_links){.base_at = 0};
    sn_buf_init(&l->rows, UINT32_MAX);
    sn_buf_init(&l->text, UINT32_MAX);
    if (strip)
        sn_buf_text(&l->text, strip);
    sn_buf_char(&l->text, '\0');
    l->base_at = (uint32_t)l->text.len;
    sn_buf_str(&l->text, base);
    l->values = (uint32_t)l->text.len;
}

void
sn_record_links_add(sn_record_links *l, const sn_raw_link *link)
{
    row r = {.at = (uint32_t)l->text.len,
             .len = (uint32_t)link->value.len,
             .line = link->line,
             .col = link->col,
             .tag = link->tag,
             .attr = link->attr};

    sn_buf_str(&l->text, link->value);
    sn_buf_add(&l->rows, &r, sizeof r);
}

seine_err
sn_record_links_done(const sn_record_links *l)
{
    seine_err e = sn_buf_done(&l->rows);

    return e == SEINE_OK ? sn_buf_done(&l->text) : e;
}

void
sn_record_links_fini(sn_record_links *l)
{
    sn_buf_fini(&l->rows);
    sn_buf_fini(&l->text);
}

size_t
sn_record_links_bytes(const sn_record_links *l)
{
    return l ? l->rows.room + l->text.room : 0;
}

/* Reading. */

typedef struct reader {
    const sn_record_links *from;
    seine_url base;
    char base_mem[SEINE_URL_ROOM], href_mem[SEINE_URL_ROOM], key_mem[SEINE_URL_ROOM];
} reader;

static sn_str
text_at(const sn_record_links *l, uint32_t at, uint32_t len)
{
    return (sn_str){l->text.ptr + at, len};
}

/* A link that is no URL: its text is its key, as the crawl takes it. */
static sn_str
cut_text(sn_str value)
{
    return sn_str_slice(value, 0, value.len < SEINE_URL_MAX ? value.len : SEINE_URL_MAX);
}

static void
resolve(reader *r, sn_str value, seine_record_link *out)
{
    seine_url url;
    size_t len = 0;

    seine_url_init(&url, r->href_mem, sizeof r->href_mem);
    out->url = out->key = cut_text(value);
    if (seine_url_resolve(&url, &r->base, value.ptr, value.len, NULL) != SEINE_OK)
        return;
    seine_url_drop_fragment(&url);
    seine_url_drop_user(&url);
    out->url = out->key = seine_url_href(&url);
    if (seine_url_key(&url, r->from->text.ptr, r->key_mem, sizeof r->key_mem, &len) ==
        SEINE_OK)
        out->key = (sn_str){r->key_mem, len};
}

static void
read_all(const sn_record_links *l, size_t n, seine_record_link_fn fn, void *arg)
{
    const row *rows = (const row *)(const void *)l->rows.ptr;
    reader r = {.from = l};
    sn_str base = text_at(l, l->base_at, l->values - l->base_at);

    seine_url_init(&r.base, r.base_mem, sizeof r.base_mem);
    if (seine_url_parse(&r.base, base.ptr, base.len, NULL) != SEINE_OK)
        return; /* the href of a URL always is one */
    for (size_t i = 0; i < n; i++) {
        seine_record_link link = {.line = rows[i].line, .col = rows[i].col};

        if (rows[i].tag != 0) {
            link.tag = sn_str_of(sn_html_tag_name((sn_html_tag)rows[i].tag));
            link.attr = sn_str_of(sn_html_attr_name((sn_html_attr)rows[i].attr));
        }
        resolve(&r, text_at(l, rows[i].at, rows[i].len), &link);
        fn(&link, arg);
    }
}

size_t
seine_record_links(const seine_record *r, seine_record_link_fn fn, void *arg)
{
    const sn_record_hold *h = r ? r->hold : NULL;
    size_t n = h && h->links ? h->links->rows.len / sizeof(row) : 0;

    if (fn && n > 0)
        read_all(h->links, n, fn, arg);
    return n;
}

size_t
seine_record_referrers(const seine_record *r, seine_referrer *out_pages, size_t room,
                       size_t *out_count)
{
    const sn_record_hold *h = r ? r->hold : NULL;
    const sn_referrer_list *list = h ? h->referrers : NULL;
    size_t n = !list ? 0 : list->n < room ? list->n : room;

    if (out_count)
        *out_count = list ? list->count : 0;
    if (!out_pages)
        return 0;
    for (size_t i = 0; i < n; i++)
        out_pages[i] = list->pages[i];
    return n;
}
