/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/page.h"

#include <string.h>

#include "base/alloc.h"
#include "engine/page_parts.h"
#include "seine/links.h"
#include "seine/sitemap.h"
#include "seine/timestamp.h"
#include "text/base_url.h"
#include "text/html.h"
#include "text/page_refs.h"

#define AGENT     SN_STR("seine")
#define MAX_REST  65536        /* what a big page made it grow beyond is given back */
#define MAX_BYTES (16u << 20)  /* of values */
#define MAP_BYTES 122880       /* of a reader of sitemaps, at most */
#define MAX_SAID  1024         /* of one fact but the title and what is a URL */
#define MAX_LATER (256u << 10) /* bytes of a page that is read later */

enum {
    OF_LINKS = SN_HTML_TITLE | SN_HTML_BASE | SN_HTML_LINK | SN_HTML_META | SN_HTML_LANG
};

/* A text among the bytes of all. */
typedef struct span {
    uint32_t at, len;
} span;

typedef struct row {
    span value;
    uint32_t line, col;
    uint8_t tag, attr;
    bool nofollow, is_map, is_part;
} row;

typedef enum fact { TITLE, LANG, CANONICAL, BASE, FACTS } fact;

struct sn_page {
    sn_page *next; /* in its pool */
    sn_html html;
    bool made;              /* html was */
    sn_word_triples *words; /* made by the first page that is looked at */
    bool has_words;
    seine_sitemap *map; /* made by the first sitemap */
    sn_visit_kind kind;
    bool ended, has_links;
    bool is_later;  /* its bytes wait for sn_page_read … */
    bool is_unread; /* … and all of them are there */
    sn_buf unread;
    bool has_dates; /* they are wanted */
    bool is_sheet;  /* no HTML */
    sn_page_charset charset;
    uint64_t charset_errors;
    sn_buf bytes;
    sn_buf links; /* of row */
    sn_buf robots_said;
    span facts[FACTS];
    bool has[FACTS];
    unsigned robots, notes;
    uint32_t left_out; /* links beyond a limit */
    bool is_cut;       /* of a sitemap: likewise */
    seine_err err;
};

/* What is found. */

static size_t
rows_of(const sn_page *p)
{
    return p->links.len / sizeof(row);
}

static span
keep_text(sn_page *p, sn_str s)
{
    span at = {(uint32_t)p->bytes.len, (uint32_t)s.len};

    sn_buf_str(&p->bytes, s);
    return at;
}

static void
keep_fact(sn_page *p, fact f, sn_str value)
{
    if (p->has[f] || value.len > p->bytes.cap - p->bytes.len)
        return;
    p->facts[f] = keep_text(p, value);
    p->has[f] = true;
}

/* The next word of `list`, between blanks and commas; false: there is none. */
static bool
next_word(sn_str *list, sn_str *out_word)
{
    size_t i = 0, from;

    while (i < list->len && (sn_is_space(list->ptr[i]) || list->ptr[i] == ','))
        i++;
    from = i;
    while (i < list->len && !sn_is_space(list->ptr[i]) && list->ptr[i] != ',')
        i++;
    *out_word = sn_str_slice(*list, from, i);
    *list = sn_str_slice(*list, i, list->len);
    return out_word->len > 0;
}

/* What the words of a rel say of a link. */
typedef struct relation {
    bool any, part, canonical, nofollow;
} relation;

/* Does the rel word name a part of the page, which is no link? */
static bool
is_part(sn_str word)
{
    static const char *const words[] = {"stylesheet",
                                        "icon",
                                        "apple-touch-icon",
                                        "apple-touch-icon-precomposed",
                                        "mask-icon",
                                        "fluid-icon",
                                        "preload",
                                        "modulepreload",
                                        "prefetch",
                                        "prerender",
                                        "dns-prefetch",
                                        "preconnect",
                                        "manifest",
                                        "pingback",
                                        "edituri",
                                        "wlwmanifest",
                                        "image_src",
                                        "apple-touch-startup-image",
                                        "compression-dictionary",
                                        "import",
                                        "expect"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sn_str_eq_nocase(word, sn_str_of(words[i])))
            return true;
    return false;
}

static relation
relation_of(sn_str rel, bool of_link)
{
    relation r = {0};
    sn_str word;

    while (next_word(&rel, &word)) {
        r.any = true;
        r.nofollow = r.nofollow || sn_str_eq_nocase(word, SN_STR("nofollow"));
        if (of_link) {
            r.canonical = r.canonical || sn_str_eq_nocase(word, SN_STR("canonical"));
            r.part = r.part || is_part(word);
        }
    }
    return r;
}

static void
put_link(sn_page *p, const sn_html_event *e, const relation *rel)
{
    sn_str value = sn_page_charset_query(&p->charset, e->value);

    if (value.len > p->bytes.cap - p->bytes.len ||
        p->links.cap - p->links.len < sizeof(row)) {
        p->notes |= SEINE_LINKS_CAPPED;
        p->left_out++;
        return;
    }
    row r = {.value = keep_text(p, value),
             .line = e->line,
             .col = e->col,
             .tag = (uint8_t)e->tag,
             .attr = (uint8_t)e->attr,
             .nofollow = rel->nofollow};
    sn_buf_add(&p->links, &r, sizeof r);
}

static void
on_link(sn_page *p, const sn_html_event *e)
{
    relation rel = {0};

    switch (e->tag) {
    case SN_TAG_A:
    case SN_TAG_AREA:
        if (e->rel.len > 0)
            rel = relation_of(e->rel, false);
        break;
    case SN_TAG_LINK:
        rel = relation_of(e->rel, true);
        if (rel.canonical && e->attr == SN_ATTR_HREF)
            keep_fact(p, CANONICAL, e->value);
        if (!rel.any || rel.part || e->attr != SN_ATTR_HREF)
            return;
        break;
    case SN_TAG_IFRAME:
    case SN_TAG_FRAME:
    case SN_TAG_META:
        break;
    default: /* a picture or a sound is no link, and a page may consist of them */
        if (p->has_words && (e->attr == SN_ATTR_SRC || e->attr == SN_ATTR_DATA))
            sn_word_triples_picture(p->words, e->value);
        return;
    }
    put_link(p, e, &rel);
}

static unsigned
read_directives(sn_str words)
{
    unsigned asks = 0;
    sn_str word;

    while (next_word(&words, &word)) {
        if (sn_str_eq_nocase(word, SN_STR("noindex")))
            asks |= SEINE_NOINDEX;
        else if (sn_str_eq_nocase(word, SN_STR("nofollow")))
            asks |= SEINE_NOFOLLOW;
        else if (sn_str_eq_nocase(word, SN_STR("noarchive")))
            asks |= SEINE_NOARCHIVE;
        else if (sn_str_eq_nocase(word, SN_STR("none")))
            asks |= SEINE_NOINDEX | SEINE_NOFOLLOW;
    }
    return asks;
}

static void
on_meta(sn_page *p, const sn_html_event *e)
{
    if (e->attr != SN_ATTR_NAME || (!sn_str_eq_nocase(e->name, SN_STR("robots")) &&
                                    !sn_str_eq_nocase(e->name, AGENT)))
        return;
    p->robots |= read_directives(e->value);
    sn_str said = sn_str_trim(e->value);
    bool again = p->robots_said.len > 0;
    if (said.len + 2 > p->robots_said.cap - p->robots_said.len)
        return;
    if (again)
        sn_buf_str(&p->robots_said, SN_STR(", "));
    sn_buf_str(&p->robots_said, said);
}

static sn_str
on_bytes(void *user, sn_str raw, sn_html_attr attr)
{
    sn_page *p = user;

    return sn_page_charset_convert(&p->charset, raw, attr);
}

static bool
on_event(void *user, const sn_html_event *e)
{
    sn_page *p = user;

    switch (e->what) {
    case SN_HTML_LINK:
        on_link(p, e);
        break;
    case SN_HTML_META:
        on_meta(p, e);
        break;
    case SN_HTML_TITLE:
        keep_fact(p, TITLE, e->value);
        break;
    case SN_HTML_BASE:
        keep_fact(p, BASE, e->value);
        break;
    case SN_HTML_LANG:
        if (e->value.len <= MAX_SAID)
            keep_fact(p, LANG, e->value);
        break;
    case SN_HTML_JSONLD:
    case SN_HTML_ANCHOR:
        break;
    }
    return true;
}

/* In seconds since 1970, the last that the date may mean; 0: there is none. */
static uint32_t
lastmod_of(const sn_page *p, const seine_sitemap_entry *e)
{
    int64_t from, until;

    if (!p->has_dates || e->lastmod.len == 0 ||
        !seine_timestamp_sitemap(e->lastmod.ptr, e->lastmod.len, &from, &until))
        return 0;
    int64_t s = (until - 1) / SEINE_SECS(1);
    return s > 0 && s <= UINT32_MAX ? (uint32_t)s : 0;
}

/* A line of a sitemap is a link without tag and text. */
static bool
on_entry(const seine_sitemap_entry *e, void *user)
{
    sn_page *p = user;
    sn_str loc = e->loc;

    if (loc.len > p->bytes.cap - p->bytes.len ||
        p->links.cap - p->links.len < sizeof(row)) {
        p->is_cut = true;
        return false;
    }
    row r = {.value = keep_text(p, loc), .is_map = e->is_map, .line = lastmod_of(p, e)};
    sn_buf_add(&p->links, &r, sizeof r);
    return true;
}

/* Reading. */

sn_page *
sn_page_new(void)
{
    sn_page *p = sn_zalloc(sizeof *p);

    if (!p)
        return NULL;
    sn_buf_init(&p->bytes, MAX_BYTES);
    sn_buf_init(&p->links, SN_HTML_LINKS * sizeof(row));
    sn_buf_init(&p->robots_said, MAX_SAID);
    sn_buf_init(&p->unread, MAX_LATER);
    sn_page_charset_init(&p->charset);
    return p;
}

void
sn_page_free(sn_page *p)
{
    if (!p)
        return;
    if (p->made)
        sn_html_fini(&p->html);
    seine_sitemap_free(p->map);
    sn_buf_fini(&p->bytes);
    sn_buf_fini(&p->links);
    sn_buf_fini(&p->robots_said);
    sn_buf_fini(&p->unread);
    sn_page_charset_fini(&p->charset);
    sn_free(p->words);
    sn_free(p);
}

static size_t
html_memory(const sn_page *p)
{
    const sn_html *h = &p->html;

    return !p->made ? 0
                    : h->values.room + h->title.raw.room + h->script.room +
                          h->held.bytes.room + h->held.text.raw.room + h->decoded.room;
}

size_t
sn_page_memory(const sn_page *p)
{
    return sizeof *p + p->bytes.room + p->links.room + p->robots_said.room +
           p->unread.room + p->charset.decoded.room + p->charset.converted.room +
           html_memory(p) + (p->map ? MAP_BYTES : 0) + (p->words ? sizeof *p->words : 0);
}

/* Makes room for the words of the text, if it is looked at. */
static void
want_words(sn_page *p, sn_str own)
{
    p->has_words = own.ptr && (p->words || (p->words = sn_alloc(sizeof *p->words)));
    if (p->has_words)
        sn_word_triples_begin(p->words, own);
}

/* Makes the tokenizer find what is wanted. Pictures are no links: put_link counts those
 * that are, and only the words ask for the others. */
static void
make_html(sn_page *p, bool until_title)
{
    sn_html_options o = {.want = until_title ? SN_HTML_TITLE : OF_LINKS,
                         .until_title = until_title,
                         .lines = !until_title,
                         .no_text = true,
                         .no_parts = !p->has_words,
                         .max_links = UINT32_MAX,
                         .convert = on_bytes,
                         .words = p->has_words ? p->words : NULL};

    if (p->made) {
        p->html.opts = o;
        sn_html_reset(&p->html);
        return;
    }
    sn_html_init(&p->html, &o, on_event, p);
    p->made = true;
}

static seine_err
make_map(sn_page *p, uint32_t max_urls)
{
    seine_sitemap_opts o = SEINE_SITEMAP_OPTS;

    o.max_urls = max_urls;
    if (!p->map)
        return seine_sitemap_new(&o, on_entry, p, &p->map);
    seine_sitemap_reset(p->map);
    return SEINE_OK;
}

static bool
is_xhtml(sn_str content_type)
{
    return sn_str_eq(content_type, SN_STR("application/xhtml+xml"));
}

void
sn_page_begin(sn_page *p, const sn_page_wants *wants)
{
    p->kind = wants->kind;
    p->ended = false;
    p->has_links = wants->links || wants->kind == SN_KIND_SITEMAP;
    p->robots = wants->robots;
    p->notes = p->left_out = 0;
    p->is_cut = false;
    p->err = SEINE_OK;
    p->bytes.cap = wants->max_text > MAX_BYTES ? (size_t)wants->max_text : MAX_BYTES;
    p->links.cap = sizeof(row) * (wants->max_links ? wants->max_links : SN_HTML_LINKS);
    memset(p->has, 0, sizeof p->has);
    sn_buf_reset(&p->bytes);
    sn_buf_reset(&p->links);
    sn_buf_reset(&p->robots_said);
    sn_buf_reset(&p->unread);
    p->charset_errors = 0;
    sn_page_charset_begin(&p->charset, wants->charset, is_xhtml(wants->content_type),
                          wants->links);
    p->has_words = false;
    p->has_dates = wants->dates;
    p->is_sheet = wants->is_sheet;
    p->is_later = wants->later && p->kind == SN_KIND_PAGE && !p->is_sheet;
    p->is_unread = false;
    if (p->kind == SN_KIND_PAGE && !p->is_sheet) {
        want_words(p, wants->own);
        make_html(p, !wants->links);
    } else if (p->kind == SN_KIND_SITEMAP) {
        p->err = make_map(p, wants->max_links);
    }
}

/* Returns the first error. */
static void
note_error(sn_page *p, seine_err e)
{
    const seine_err errs[] = {e, p->bytes.err, p->links.err, p->robots_said.err,
                              sn_page_charset_done(&p->charset)};

    for (size_t i = 0; i < sizeof errs / sizeof *errs; i++)
        if (p->err == SEINE_OK)
            p->err = errs[i];
}

/* What is in an encoding that nobody reads leads nowhere. */
static void
feed_html(sn_page *p, sn_str bytes)
{
    if (p->charset.choice.charset == SEINE_CHARSET_REPLACEMENT)
        p->err = SEINE_E_BAD_CHARSET;
    else
        note_error(p, sn_html_feed(&p->html, bytes.ptr, bytes.len));
}

static void
feed_page(sn_page *p, sn_str piece)
{
    sn_str bytes;

    while (p->err == SEINE_OK && !sn_html_enough(&p->html) &&
           sn_page_charset_next(&p->charset, &piece, &bytes))
        feed_html(p, bytes);
}

static void
end_page(sn_page *p)
{
    sn_str bytes;

    while (p->err == SEINE_OK && !sn_html_enough(&p->html) &&
           sn_page_charset_last(&p->charset, &bytes))
        feed_html(p, bytes);
    if (p->err == SEINE_OK && !sn_html_enough(&p->html))
        note_error(p, sn_html_end(&p->html));
    if (p->has_words)
        sn_word_triples_end(p->words);
    p->notes |= sn_html_notes(&p->html);
    p->charset_errors = sn_page_charset_end(&p->charset);
}

/* Reads what has waited. */
static void
feed_unread(sn_page *p)
{
    p->is_later = p->is_unread = false;
    feed_page(p, sn_buf_view(&p->unread));
    sn_buf_reset(&p->unread);
}

/* Keeps the piece. False: there is too much, or no memory, and the page is read as it
 * arrives. */
static bool
keep_later(sn_page *p, sn_str piece)
{
    if (piece.len <= MAX_LATER - p->unread.len && sn_buf_reserve(&p->unread, piece.len)) {
        sn_buf_str(&p->unread, piece);
        return true;
    }
    feed_unread(p);
    return false;
}

void
sn_page_feed(sn_page *p, sn_str piece)
{
    if (p->err != SEINE_OK || (p->is_later && keep_later(p, piece)))
        return;
    if (p->kind == SN_KIND_SITEMAP)
        note_error(p, seine_sitemap_feed(p->map, piece.ptr, piece.len));
    else if (p->kind == SN_KIND_PAGE && !p->is_sheet)
        feed_page(p, piece);
}

/* Many are cut off or end in nonsense: what stood before is as good as any link. */
static void
end_map(sn_page *p)
{
    if (p->err == SEINE_OK)
        note_error(p, seine_sitemap_end(p->map));
    if (p->map && seine_sitemap_notes(p->map) & SEINE_SITEMAP_CAPPED)
        p->is_cut = true;
    if (p->err == SEINE_E_BAD_XML)
        p->err = SEINE_OK;
}

void
sn_page_end(sn_page *p)
{
    if (p->is_later) {
        p->is_unread = true;
        return;
    }
    if (p->kind == SN_KIND_PAGE && !p->is_sheet && p->err == SEINE_OK)
        end_page(p);
    if (p->kind == SN_KIND_SITEMAP)
        end_map(p);
    p->ended = true;
}

bool
sn_page_is_unread(const sn_page *p)
{
    return p->is_unread;
}

void
sn_page_read(sn_page *p)
{
    if (!p->is_unread)
        return;
    feed_unread(p);
    sn_page_end(p);
}

/* The parts of a page. */

typedef struct part_reader {
    sn_page *page;
    sn_str body;
    size_t at; /* bytes whose lines are counted */
    uint32_t line, col;
} part_reader;

/* Goes on to that byte. */
static void
count_lines(part_reader *r, size_t at)
{
    for (; r->at < at && r->at < r->body.len; r->at++) {
        bool is_end = r->body.ptr[r->at] == '\n';

        r->line += is_end;
        r->col = is_end ? 1 : r->col + 1;
    }
}

/* A part that stands in the page itself: nobody fetches it. */
static bool
is_inside(sn_str value)
{
    value = sn_str_trim(value);
    return value.len == 0 || value.ptr[0] == '#' ||
           sn_str_starts_nocase(value, SN_STR("data:"));
}

static bool
on_part(void *user, const sn_page_ref *ref, sn_buf *out)
{
    part_reader *r = user;
    sn_page *p = r->page;

    (void)out;
    if (ref->kind != SN_REF_NEEDED || is_inside(ref->value))
        return false;
    if (ref->value.len > p->bytes.cap - p->bytes.len ||
        p->links.cap - p->links.len < sizeof(row)) {
        p->notes |= SEINE_LINKS_CAPPED;
        p->left_out++;
        return false;
    }
    count_lines(r, ref->at);
    row one = {.value = keep_text(p, ref->value),
               .line = r->line,
               .col = r->col,
               .tag = (uint8_t)(ref->tag ? ref->tag : SN_TAG_SVG),
               .attr = (uint8_t)ref->attr,
               .is_part = true};
    sn_buf_add(&p->links, &one, sizeof one);
    return false;
}

/* The encoding of the page; of a style sheet its mark alone tells. */
static seine_charset_choice
charset_of(const sn_page *p, sn_str body)
{
    seine_charset_choice utf8 = {SEINE_CHARSET_UTF_8, SEINE_FROM_DEFAULT, 0}, mark = utf8;

    if (p->charset.is_decided)
        return p->charset.choice;
    return sn_charset_named(sn_str_slice(body, 0, 3), (sn_str){0}, &mark) ? mark : utf8;
}

void
sn_page_add_parts(sn_page *p, sn_str body, sn_str content_type)
{
    part_reader r = {.page = p, .body = body, .line = 1, .col = 1};
    sn_page_refs_opts o = {.fn = on_part, .user = &r};
    seine_text text = {NULL, 0};

    if (p->err != SEINE_OK || !p->has_links || !sn_page_refs_form(content_type, &o.form))
        return;
    seine_charset_choice choice = charset_of(p, body);
    o.charset = choice.charset;
    if (!sn_charset_is_ascii(o.charset)) { /* UTF-16: its bytes are no tags */
        r.body = sn_str_slice(body, choice.bom, body.len);
        note_error(p,
                   seine_charset_decode(o.charset, r.body.ptr, r.body.len, &text, NULL));
        r.body = (sn_str){text.bytes, text.len};
        o.charset = SEINE_CHARSET_UTF_8;
    }
    if (p->err == SEINE_OK)
        note_error(p, sn_page_refs(r.body, &o, NULL));
    seine_text_free(&text);
}

/* Looking. */

size_t
sn_page_n_links(const sn_page *p)
{
    return p->ended && p->err == SEINE_OK ? rows_of(p) : 0;
}

static sn_str
text_at(const sn_page *p, uint32_t at, uint32_t len)
{
    return (sn_str){p->bytes.ptr ? p->bytes.ptr + at : "", len};
}

bool
sn_page_link_at(const sn_page *p, size_t i, sn_page_link *out_link)
{
    if (i >= sn_page_n_links(p))
        return false;
    const row *r = (const row *)(const void *)p->links.ptr + i;
    bool is_map = p->kind == SN_KIND_SITEMAP; /* where dates stand instead of lines */
    *out_link = (sn_page_link){.value = text_at(p, r->value.at, r->value.len),
                               .tag = r->tag,
                               .attr = r->attr,
                               .line = is_map ? 0 : r->line,
                               .col = r->col,
                               .lastmod = is_map ? INT64_C(1000) * r->line : 0,
                               .nofollow = r->nofollow,
                               .is_part = r->is_part,
                               .is_map = r->is_map};
    return true;
}

static sn_str
fact_of(const sn_page *p, fact f)
{
    return p->has[f] ? text_at(p, p->facts[f].at, p->facts[f].len) : (sn_str){0};
}

void
sn_page_facts_get(const sn_page *p, sn_page_facts *out_facts)
{
    *out_facts =
        (sn_page_facts){.robots = p->robots, .has_links = p->has_links, .err = p->err};
    if (p->ended && p->kind == SN_KIND_PAGE && p->charset.is_decided &&
        !p->charset.is_late) {
        const char *name = seine_charset_name(p->charset.choice.charset);

        out_facts->charset = sn_str_of(name);
        out_facts->charset_from = seine_charset_from_name(p->charset.choice.from);
        out_facts->charset_errors = p->charset_errors;
    }
    if (!p->ended || p->err != SEINE_OK)
        return;
    out_facts->title = fact_of(p, TITLE);
    out_facts->lang = fact_of(p, LANG);
    out_facts->canonical = fact_of(p, CANONICAL);
    out_facts->base = fact_of(p, BASE);
    if (p->robots_said.len > 0)
        out_facts->meta_robots = sn_buf_view(&p->robots_said);
    out_facts->notes = p->notes;
    out_facts->left_out = p->left_out;
    out_facts->is_cut = p->is_cut;
}

const sn_word_triples *
sn_page_words(const sn_page *p)
{
    return p->ended && p->err == SEINE_OK && p->has_words ? p->words : NULL;
}

seine_err
sn_page_base(const sn_page *p, const seine_url *url, seine_url *out_base)
{
    sn_str base = p->ended && p->err == SEINE_OK ? fact_of(p, BASE) : (sn_str){0};

    if (sn_base_url(base, url, out_base))
        return SEINE_OK;
    return seine_url_copy(out_base, url);
}

bool
sn_page_is_html(sn_str content_type)
{
    return sn_str_eq(content_type, SN_STR("text/html")) || is_xhtml(content_type);
}

/* Words with a value of their own, which is behind a colon as an agent's words are. */
static bool
has_value(sn_str word)
{
    return sn_str_eq_nocase(word, SN_STR("unavailable_after")) ||
           sn_str_starts_nocase(word, SN_STR("max-"));
}

unsigned
sn_page_robots_tag(sn_str value)
{
    sn_str head, words;

    if (!sn_str_cut(value, ':', &head, &words) || sn_str_find(head, ',') < head.len ||
        has_value(sn_str_trim(head)))
        return read_directives(value);
    return sn_str_eq_nocase(sn_str_trim(head), AGENT) ? read_directives(words) : 0;
}

/* The pool. */

sn_page *
sn_page_take(sn_page_pool *pool)
{
    sn_page *p = pool->spare;

    if (!p)
        return sn_page_new();
    pool->spare = p->next;
    p->next = NULL;
    return p;
}

void
sn_page_give(sn_page_pool *pool, sn_page *give)
{
    if (!give)
        return;
    if (sn_page_memory(give) > MAX_REST) {
        if (give->made)
            sn_html_fini(&give->html);
        give->made = false;
        seine_sitemap_free(give->map);
        give->map = NULL;
        sn_buf_fini(&give->bytes);
        sn_buf_fini(&give->links);
        sn_page_charset_fini(&give->charset);
        sn_page_charset_init(&give->charset);
        sn_buf_init(&give->bytes, MAX_BYTES);
        sn_buf_init(&give->links, SN_HTML_LINKS * sizeof(row));
        sn_buf_reset(&give->robots_said);
        sn_buf_fini(&give->unread);
        sn_buf_init(&give->unread, MAX_LATER);
    }
    sn_buf_reset(&give->unread);
    give->ended = give->is_later = give->is_unread = false;
    give->next = pool->spare;
    pool->spare = give;
}

void
sn_page_pool_fini(sn_page_pool *pool)
{
    for (sn_page *p = pool->spare, *next; p; p = next) {
        next = p->next;
        sn_page_free(p);
    }
    pool->spare = NULL;
}
