/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/links.h"

#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "text/base_url.h"
#include "text/links.h"

enum {
    METAS = 4096,
    SCRIPTS = 1024,
    WANT = SN_HTML_TITLE | SN_HTML_BASE | SN_HTML_LINK | SN_HTML_META | SN_HTML_LANG |
           SN_HTML_JSONLD
};

/* A text within the common buffer. */
typedef struct span {
    uint32_t at, len;
} span;

typedef struct found {
    uint64_t offset;
    span value, text, rel, hreflang;
    uint32_t line, col;
    uint8_t tag, attr;
} found;

_Static_assert(sizeof(found) == 56, "docs/user/links.md says so");

typedef struct said {
    span name, content;
    uint8_t attr;
} said;

struct seine_links {
    sn_html html;
    sn_buf bytes;
    sn_buf links, metas, scripts; /* of found, said, span */
    span title, base, lang;
    bool has_title, has_base, has_lang;
    unsigned notes;
};

static size_t
links_of(const seine_links *l)
{
    return l->links.len / sizeof(found);
}

static const found *
link_at(const seine_links *l, size_t i)
{
    return (const found *)(const void *)l->links.ptr + i;
}

/* Copies the bytes into the buffer; returns where they are. */
static span
keep_text(seine_links *l, sn_str s)
{
    span at = {(uint32_t)l->bytes.len, (uint32_t)s.len};

    sn_buf_str(&l->bytes, s);
    return at;
}

/* Sorts links by offset: the link of an <a> comes after the links inside it. */
static void
in_order(seine_links *l)
{
    found *all = (found *)(void *)l->links.ptr;
    size_t i = links_of(l);

    if (sn_buf_done(&l->links) != SEINE_OK || i < 2)
        return;
    found last = all[--i];
    for (; i > 0 && all[i - 1].offset > last.offset; i--)
        all[i] = all[i - 1];
    all[i] = last;
}

static void
on_link(seine_links *l, const sn_html_event *e)
{
    size_t need = e->value.len + e->text.len + e->rel.len + e->hreflang.len;

    if (need > l->bytes.cap - l->bytes.len) {
        l->notes |= SEINE_LINKS_CAPPED;
        return;
    }
    found f = {.offset = e->offset,
               .value = keep_text(l, e->value),
               .text = keep_text(l, e->text),
               .rel = keep_text(l, e->rel),
               .hreflang = keep_text(l, e->hreflang),
               .line = e->line,
               .col = e->col,
               .tag = (uint8_t)e->tag,
               .attr = (uint8_t)e->attr};
    sn_buf_add(&l->links, &f, sizeof f);
    if (e->tag == SN_TAG_A)
        in_order(l);
}

static bool
fits(seine_links *l, const sn_buf *rows, size_t size, size_t need)
{
    if (rows->cap - rows->len >= size && need <= l->bytes.cap - l->bytes.len)
        return true;
    l->notes |= SEINE_JSONLD_CUT;
    return false;
}

static void
on_meta(seine_links *l, const sn_html_event *e)
{
    if (!fits(l, &l->metas, sizeof(said), e->name.len + e->value.len))
        return;
    said s = {keep_text(l, e->name), keep_text(l, e->value), (uint8_t)e->attr};
    sn_buf_add(&l->metas, &s, sizeof s);
}

static void
on_script(seine_links *l, const sn_html_event *e)
{
    if (!fits(l, &l->scripts, sizeof(span), e->value.len))
        return;
    span s = keep_text(l, e->value);
    sn_buf_add(&l->scripts, &s, sizeof s);
}

static void
on_fact(seine_links *l, const sn_html_event *e, span *out_span, bool *out_has)
{
    if (e->value.len <= l->bytes.cap - l->bytes.len) {
        *out_span = keep_text(l, e->value);
        *out_has = true;
    }
}

static bool
on_event(void *user, const sn_html_event *e)
{
    seine_links *l = user;

    switch (e->what) {
    case SN_HTML_LINK:
        on_link(l, e);
        break;
    case SN_HTML_META:
        on_meta(l, e);
        break;
    case SN_HTML_JSONLD:
        on_script(l, e);
        break;
    case SN_HTML_TITLE:
        on_fact(l, e, &l->title, &l->has_title);
        break;
    case SN_HTML_BASE:
        on_fact(l, e, &l->base, &l->has_base);
        break;
    case SN_HTML_LANG:
        on_fact(l, e, &l->lang, &l->has_lang);
        break;
    case SN_HTML_ANCHOR:
        break;
    }
    return true;
}

void
sn_links_listen(seine_links *l, sn_html *html)
{
    html->opts.want = WANT;
    html->opts.lines = true;
    html->fn = on_event;
    html->user = l;
}

seine_err
seine_links_new(const seine_links_opts *opts, seine_links **out_links)
{
    if (!out_links)
        return SEINE_E_INVAL;
    if (opts && !sn_opts_fit(opts, sizeof *opts))
        return SEINE_E_INVAL;
    seine_links *l = sn_zalloc(sizeof *l);
    size_t most = (size_t)64 << 20;

    if (!l)
        return SEINE_E_NOMEM;
    if (opts && opts->max_bytes > 0 && opts->max_bytes < most)
        most = opts->max_bytes;
    sn_html_init(&l->html,
                 &(sn_html_options){
                     .want = WANT, .scripting = opts && opts->scripting, .lines = true},
                 on_event, l);
    sn_buf_init(&l->bytes, most);
    sn_buf_init(&l->links, SEINE_LINKS_MOST * sizeof(found));
    sn_buf_init(&l->metas, METAS * sizeof(said));
    sn_buf_init(&l->scripts, SCRIPTS * sizeof(span));
    *out_links = l;
    return SEINE_OK;
}

void
seine_links_free(seine_links *l)
{
    if (!l)
        return;
    sn_html_fini(&l->html);
    sn_buf_fini(&l->bytes);
    sn_buf_fini(&l->links);
    sn_buf_fini(&l->metas);
    sn_buf_fini(&l->scripts);
    sn_free(l);
}

void
seine_links_reset(seine_links *l)
{
    if (!l)
        return;
    sn_html_reset(&l->html);
    sn_buf_reset(&l->bytes);
    sn_buf_reset(&l->links);
    sn_buf_reset(&l->metas);
    sn_buf_reset(&l->scripts);
    l->has_title = l->has_base = l->has_lang = false;
    l->notes = 0;
}

static seine_err
trouble(const seine_links *l, seine_err e)
{
    const seine_err errs[] = {l->bytes.err, l->links.err, l->metas.err, l->scripts.err};

    for (size_t i = 0; i < sizeof errs / sizeof *errs; i++)
        if (e == SEINE_OK)
            e = errs[i];
    return e;
}

seine_err
sn_links_heard(seine_links *l, const sn_html *html, const uint8_t *live)
{
    size_t all = links_of(l), kept = 0;
    found *f = (found *)(void *)l->links.ptr;

    l->notes |= sn_html_notes(html);
    for (size_t i = 0; i < all && f; i++)
        if (live[f[i].offset / 8] & 1U << f[i].offset % 8)
            f[kept++] = f[i];
    sn_buf_truncate(&l->links, kept * sizeof *f);
    return trouble(l, SEINE_OK);
}

seine_err
seine_links_feed(seine_links *l, const char *bytes, size_t n)
{
    if (!l)
        return SEINE_E_INVAL;
    seine_err e = trouble(l, SEINE_OK);

    if (e == SEINE_OK)
        e = sn_html_feed(&l->html, bytes, n);
    return trouble(l, e);
}

seine_err
seine_links_end(seine_links *l)
{
    if (!l)
        return SEINE_E_INVAL;
    seine_err e = trouble(l, SEINE_OK);

    if (e == SEINE_OK)
        e = sn_html_end(&l->html);
    return trouble(l, e);
}

static seine_view
view(const seine_links *l, span s)
{
    return (seine_view){l->bytes.ptr && s.len > 0 ? l->bytes.ptr + s.at : "", s.len};
}

static seine_view
fact(const seine_links *l, bool has, span s)
{
    return has ? view(l, s) : (seine_view){NULL, 0};
}

size_t
seine_links_count(const seine_links *l)
{
    if (!l)
        return 0;
    return links_of(l);
}

bool
seine_links_at(const seine_links *l, size_t i, seine_link *out_link)
{
    if (!l || !out_link)
        return false;
    if (i >= links_of(l))
        return false;
    const found *f = link_at(l, i);
    *out_link = (seine_link){.tag = sn_html_tag_name((sn_html_tag)f->tag),
                             .attr = sn_html_attr_name((sn_html_attr)f->attr),
                             .value = view(l, f->value),
                             .text = view(l, f->text),
                             .rel = view(l, f->rel),
                             .hreflang = view(l, f->hreflang),
                             .offset = f->offset,
                             .line = f->line,
                             .col = f->col};
    return true;
}

bool
seine_links_meta(const seine_links *l, size_t i, seine_meta *out_meta)
{
    if (!l || !out_meta)
        return false;
    if (i >= l->metas.len / sizeof(said))
        return false;
    const said *s = (const said *)(const void *)l->metas.ptr + i;
    *out_meta = (seine_meta){sn_html_attr_name((sn_html_attr)s->attr), view(l, s->name),
                             view(l, s->content)};
    return true;
}

bool
seine_links_jsonld(const seine_links *l, size_t i, seine_view *out_text)
{
    if (!l || !out_text)
        return false;
    if (i >= l->scripts.len / sizeof(span))
        return false;
    const span *s = (const span *)(const void *)l->scripts.ptr + i;
    *out_text = view(l, *s);
    return true;
}

seine_view
seine_links_title(const seine_links *l)
{
    if (!l)
        return (seine_view){0};
    return fact(l, l->has_title, l->title);
}

seine_view
seine_links_base(const seine_links *l)
{
    if (!l)
        return (seine_view){0};
    return fact(l, l->has_base, l->base);
}

seine_view
seine_links_lang(const seine_links *l)
{
    if (!l)
        return (seine_view){0};
    return fact(l, l->has_lang, l->lang);
}

/* True if `word` is in `list`, whose words are separated by blanks or `comma`. */
static bool
has_word(seine_view list, sn_str word, char comma)
{
    size_t i = 0;

    while (i < list.len) {
        size_t from = i;

        while (i < list.len && !sn_is_space(list.ptr[i]) && list.ptr[i] != comma)
            i++;
        if (sn_str_eq_nocase((sn_str){list.ptr + from, i - from}, word))
            return true;
        i += i < list.len;
    }
    return false;
}

bool
seine_link_has_rel(const seine_link *link, const char *word)
{
    if (!link)
        return false;
    return has_word(link->rel, sn_str_of(word), ' ');
}

seine_view
seine_links_canonical(const seine_links *l)
{
    if (!l)
        return (seine_view){0};
    for (size_t i = 0; i < links_of(l); i++) {
        const found *f = link_at(l, i);

        if (f->tag == SN_TAG_LINK && f->attr == SN_ATTR_HREF &&
            has_word(view(l, f->rel), SN_STR("canonical"), ' '))
            return view(l, f->value);
    }
    return (seine_view){NULL, 0};
}

seine_err
seine_links_base_url(const seine_links *l, const seine_url *page, seine_url *out_base)
{
    if (!l || !page || !out_base)
        return SEINE_E_INVAL;
    if (sn_base_url(seine_links_base(l), page, out_base))
        return SEINE_OK;
    return seine_url_copy(out_base, page);
}

unsigned
seine_links_robots(const seine_links *l, const char *agent)
{
    if (!l)
        return 0;
    seine_meta m;
    unsigned asks = 0;

    for (size_t i = 0; seine_links_meta(l, i, &m); i++) {
        sn_str name = m.name;

        if (strcmp(m.attr, "name") != 0)
            continue;
        if (!sn_str_eq_nocase(name, SN_STR("robots")) &&
            !(agent && sn_str_eq_nocase(name, sn_str_of(agent))))
            continue;
        if (has_word(m.content, SN_STR("noindex"), ','))
            asks |= SEINE_NOINDEX;
        if (has_word(m.content, SN_STR("nofollow"), ','))
            asks |= SEINE_NOFOLLOW;
        if (has_word(m.content, SN_STR("noarchive"), ','))
            asks |= SEINE_NOARCHIVE;
        if (has_word(m.content, SN_STR("none"), ','))
            asks |= SEINE_NOINDEX | SEINE_NOFOLLOW;
    }
    return asks;
}

bool
seine_refresh_parse(const char *content, size_t len, uint32_t *out_seconds,
                    seine_view *out_url)
{
    sn_str url;

    if (!sn_html_refresh((sn_str){content, len}, out_seconds, &url))
        return false;
    *out_url = url;
    return true;
}

bool
seine_links_refresh(const seine_links *l, uint32_t *out_seconds, seine_view *out_url)
{
    if (!l || !out_seconds || !out_url)
        return false;
    seine_meta m;

    for (size_t i = 0; seine_links_meta(l, i, &m); i++)
        if (strcmp(m.attr, "http-equiv") == 0 &&
            sn_str_eq_nocase(m.name, SN_STR("refresh")) &&
            seine_refresh_parse(m.content.ptr, m.content.len, out_seconds, out_url))
            return true;
    return false;
}

_Static_assert((int)SEINE_LINKS_CAPPED == (int)SN_HTML_NOTE_LINKS &&
                   (int)SEINE_ATTRS_CAPPED == (int)SN_HTML_NOTE_ATTRS &&
                   (int)SEINE_VALUE_CUT == (int)SN_HTML_NOTE_VALUE &&
                   (int)SEINE_TITLE_CUT == (int)SN_HTML_NOTE_TITLE &&
                   (int)SEINE_JSONLD_CUT == (int)SN_HTML_NOTE_SCRIPT,
               "the tokenizer's notes are ours");

unsigned
seine_links_notes(const seine_links *l)
{
    if (!l)
        return 0;
    return l->notes | sn_html_notes(&l->html);
}

const char *
seine_links_note_name(unsigned n)
{
    static const char *const names[SEINE_LINKS_NOTES] = {
        "links_capped", "attrs_capped", "value_cut", "title_cut", "jsonld_cut"};

    return n < SEINE_LINKS_NOTES ? names[n] : NULL;
}
