/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of tags: title, base, links, and how the text after them is read. */
#include <string.h>

#include "text/charset.h"
#include "text/html.h"
#include "text/tree_build.h"

#define BIT(attr) (UINT32_C(1) << SN_ATTR_##attr)
#define LINKED    (BIT(REL) | BIT(HREFLANG))
#define METAS     (BIT(NAME) | BIT(PROPERTY) | BIT(HTTP_EQUIV) | BIT(CONTENT))

typedef struct meaning {
    sn_html_attr link; /* the attribute that holds the URL */
    sn_html_attr more; /* another attribute with one URL or many */
    uint32_t keep;     /* further attributes to keep */
    sn_html_content content;
} meaning;

/* clang-format off */
static const meaning meanings[SN_TAG_COUNT] = {
    [SN_TAG_A]           = {SN_ATTR_HREF, SN_ATTR_OTHER, LINKED, SN_HTML_MARKUP},
    [SN_TAG_AREA]        = {SN_ATTR_HREF, SN_ATTR_OTHER, LINKED, SN_HTML_MARKUP},
    [SN_TAG_LINK]        = {SN_ATTR_HREF, SN_ATTR_IMAGESRCSET, LINKED, SN_HTML_MARKUP},
    [SN_TAG_IMG]         = {SN_ATTR_SRC, SN_ATTR_SRCSET, 0, SN_HTML_MARKUP},
    [SN_TAG_SCRIPT]      = {SN_ATTR_SRC, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_IFRAME]      = {SN_ATTR_SRC, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_FRAME]       = {SN_ATTR_SRC, SN_ATTR_OTHER, 0, SN_HTML_MARKUP},
    [SN_TAG_EMBED]       = {SN_ATTR_SRC, SN_ATTR_OTHER, 0, SN_HTML_MARKUP},
    [SN_TAG_SOURCE]      = {SN_ATTR_SRC, SN_ATTR_SRCSET, 0, SN_HTML_MARKUP},
    [SN_TAG_VIDEO]       = {SN_ATTR_SRC, SN_ATTR_POSTER, 0, SN_HTML_MARKUP},
    [SN_TAG_AUDIO]       = {SN_ATTR_SRC, SN_ATTR_OTHER, 0, SN_HTML_MARKUP},
    [SN_TAG_TRACK]       = {SN_ATTR_SRC, SN_ATTR_OTHER, 0, SN_HTML_MARKUP},
    [SN_TAG_INPUT]       = {SN_ATTR_SRC, SN_ATTR_OTHER, BIT(TYPE), SN_HTML_MARKUP},
    [SN_TAG_OBJECT]      = {SN_ATTR_DATA, SN_ATTR_OTHER, 0, SN_HTML_MARKUP},
    [SN_TAG_FORM]        = {SN_ATTR_ACTION, SN_ATTR_OTHER, 0, SN_HTML_MARKUP},
    [SN_TAG_TITLE]       = {SN_ATTR_OTHER, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_TEXTAREA]    = {SN_ATTR_OTHER, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_STYLE]       = {SN_ATTR_OTHER, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_XMP]         = {SN_ATTR_OTHER, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_NOEMBED]     = {SN_ATTR_OTHER, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_NOFRAMES]    = {SN_ATTR_OTHER, SN_ATTR_OTHER, 0, SN_HTML_RAW},
    [SN_TAG_PLAINTEXT]   = {SN_ATTR_OTHER, SN_ATTR_OTHER, 0, SN_HTML_PLAIN},
};
/* clang-format on */

/* Returns the attributes that name a place in the page, as bits. */
static uint32_t
anchors_of(unsigned want, sn_html_tag tag)
{
    if (!(want & SN_HTML_ANCHOR))
        return 0;
    return tag == SN_TAG_A ? BIT(ID) | BIT(NAME) : BIT(ID);
}

static uint32_t
keeps(const sn_html *t, sn_html_tag tag)
{
    const meaning *m = &meanings[tag];
    unsigned want = t->opts.want;

    if (tag == SN_TAG_BASE)
        return want & SN_HTML_BASE ? BIT(HREF) : 0;
    if (tag == SN_TAG_META)
        return want & (SN_HTML_META | SN_HTML_LINK) ? METAS : 0;
    if (tag == SN_TAG_HTML)
        return want & SN_HTML_LANG ? BIT(LANG) : 0;
    if (tag == SN_TAG_ANNOTATION_XML)
        return BIT(ENCODING);
    if (tag == SN_TAG_SCRIPT)
        return (want & SN_HTML_JSONLD ? BIT(TYPE) : 0) |
               (want & SN_HTML_LINK ? BIT(SRC) : 0);
    if (m->link == SN_ATTR_OTHER || !(t->opts.want & SN_HTML_LINK))
        return 0;
    return (m->keep | UINT32_C(1) << m->link | UINT32_C(1) << m->more) & ~BIT(OTHER);
}

uint32_t
sn_html_keeps(const sn_html *t, sn_html_tag tag)
{
    return keeps(t, tag) | anchors_of(t->opts.want, tag);
}

static void
emit(sn_html *t, const sn_html_event *e)
{
    if (!t->enough && !t->fn(t->user, e))
        t->enough = true;
}

/* Returns at most `max` bytes, cut between characters. */
static size_t
shortened(const char *s, size_t len, size_t max)
{
    if (len <= max)
        return len;
    for (len = max; len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

static size_t
collapse(char *s, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (!sn_is_space(s[i]))
            s[n++] = s[i];
        else if (n > 0 && s[n - 1] != ' ')
            s[n++] = ' ';
    }
    return n > 0 && s[n - 1] == ' ' ? n - 1 : n;
}

/* Appends text with blanks collapsed and none at the start; the caller made room. */
static size_t
add_all(sn_html_text *x, const char *p, size_t n, char *out)
{
    bool blank = x->blank, has_any = x->raw.len > 0;
    size_t len = 0;

    for (const char *end = p + n; p < end; p++) {
        if (sn_is_space(*p)) {
            blank = has_any;
            continue;
        }
        if (blank)
            out[len++] = ' ';
        out[len++] = *p;
        blank = false;
        has_any = true;
    }
    x->blank = blank;
    return len;
}

static size_t
add_some(sn_html_text *x, const char *p, size_t n, char *out)
{
    size_t room = x->raw.cap - x->raw.len, len = 0;

    for (const char *end = p + n; p < end && !x->cut; p++) {
        if (sn_is_space(*p)) {
            x->blank = x->raw.len + len > 0;
            continue;
        }
        x->cut = len + x->blank >= room;
        if (!x->cut && x->blank)
            out[len++] = ' ';
        if (!x->cut)
            out[len++] = *p;
        x->blank = false;
    }
    return len;
}

void
sn_html_text_add(sn_html_text *x, const char *p, size_t n)
{
    size_t room = x->raw.cap - x->raw.len;
    char *out = x->cut ? NULL : sn_buf_reserve(&x->raw, n < room ? n + 1 : room);

    if (out)
        sn_buf_commit(&x->raw, n < room ? add_all(x, p, n, out) : add_some(x, p, n, out));
}

static void
text_start(sn_html_text *x)
{
    sn_buf_truncate(&x->raw, 0);
    x->blank = x->cut = false;
}

static sn_str
converted(sn_html *t, sn_str raw, sn_html_attr attr)
{
    if (!t->opts.convert || sn_ascii_len(raw) == raw.len)
        return raw;
    t->steps += raw.len;
    return t->opts.convert(t->user, raw, attr);
}

/* Decodes the text into `decoded`; *out_cut says whether it was longer. */
static sn_str
text_said(sn_html *t, sn_html_text *x, size_t max, bool *out_cut)
{
    bool all;

    sn_buf_truncate(&t->decoded, 0);
    sn_str raw = converted(t, sn_buf_view(&x->raw), SN_ATTR_OTHER);
    all = sn_html_decode(&t->decoded, raw, false, x->raw.cap);
    t->steps += x->raw.len;
    size_t whole = t->decoded.ptr ? collapse(t->decoded.ptr, t->decoded.len) : 0;
    size_t len = whole > 0 ? shortened(t->decoded.ptr, whole, max) : 0;
    *out_cut = !all || x->cut || len < whole;
    if (len > 0 && t->decoded.ptr[len - 1] == ' ')
        len--;
    return (sn_str){t->decoded.ptr, len};
}

static void
at(sn_html_event *e, sn_html_place place)
{
    e->offset = place.offset;
    e->line = place.line;
    e->col = place.col;
}

static void
title_end(sn_html *t)
{
    sn_html_event e = {.what = SN_HTML_TITLE, .tag = SN_TAG_TITLE};

    if (!t->titling)
        return;
    t->titling = false;
    at(&e, t->title_place);
    e.value = text_said(t, &t->title, SN_HTML_TITLE_LEN, &e.cut);
    if (e.cut)
        t->notes |= SN_HTML_NOTE_TITLE;
    if (t->opts.want & SN_HTML_TITLE)
        emit(t, &e);
    if (t->opts.until_title)
        t->enough = true;
}

static void title_start(sn_html *t);

void
sn_html_plain_title(sn_html *t, sn_str text)
{
    title_start(t);
    if (t->titling)
        sn_html_text_add(&t->title, text.ptr, text.len);
    title_end(t);
}

static bool
has_attr(const sn_html *t, sn_html_attr attr)
{
    return t->seen & UINT32_C(1) << attr;
}

static sn_str
raw_value(const sn_html *t, sn_html_attr attr)
{
    const sn_html_value *v = &t->value[attr];

    if (!has_attr(t, attr) || v->len == 0 || sn_buf_done(&t->values) != SEINE_OK)
        return (sn_str){NULL, 0};
    return (sn_str){t->values.ptr + v->at, v->len};
}

/* Appends the decoded value of an attribute to `out`; returns its length. */
static size_t
value_of(sn_html *t, sn_html_attr attr, sn_buf *out, bool *out_cut)
{
    size_t before = out->len;

    *out_cut = false;
    if (has_attr(t, attr) && sn_buf_done(&t->values) == SEINE_OK) {
        sn_str raw = converted(t, raw_value(t, attr), attr);
        bool all = sn_html_decode(out, raw, true, SN_HTML_VALUE);

        t->steps += t->value[attr].len;
        *out_cut = !all || t->value[attr].cut;
    }
    if (*out_cut)
        t->notes |= SN_HTML_NOTE_VALUE;
    return out->len - before;
}

/* Appends the values of the attribute, rel and hreflang to `out`. */
static sn_html_parts
link_read(sn_html *t, sn_html_attr attr, sn_buf *bytes, bool *out_cut)
{
    sn_html_parts parts = {0};
    bool cut;

    sn_buf_truncate(bytes, 0);
    parts.value = value_of(t, attr, bytes, out_cut);
    if (attr == SN_ATTR_HREF) {
        parts.rel = value_of(t, SN_ATTR_REL, bytes, &cut);
        parts.hreflang = value_of(t, SN_ATTR_HREFLANG, bytes, &cut);
    }
    return parts;
}

static void
link_give(sn_html *t, sn_html_event *e, const sn_buf *bytes, const sn_html_parts *parts)
{
    sn_str all = sn_buf_view(bytes);

    e->value = sn_str_slice(all, 0, parts->value);
    e->rel = sn_str_slice(all, parts->value, parts->value + parts->rel);
    e->hreflang = sn_str_slice(all, parts->value + parts->rel, all.len);
    emit(t, e);
}

/* Emits the link of an <a> at its end tag or where another <a> begins. */
static void
held_end(sn_html *t)
{
    sn_html_held *h = &t->held;
    sn_html_event e = {
        .what = SN_HTML_LINK, .tag = SN_TAG_A, .attr = SN_ATTR_HREF, .cut = h->cut};
    bool cut;

    if (!h->open)
        return;
    h->open = false;
    if (h->is_told)
        return;
    at(&e, h->place);
    e.text = text_said(t, &h->text, SN_HTML_TEXT_LEN, &cut);
    link_give(t, &e, &h->bytes, &h->parts);
}

static void
held_start(sn_html *t, sn_html_place place)
{
    sn_html_held *h = &t->held;

    h->parts = link_read(t, SN_ATTR_HREF, &h->bytes, &h->cut);
    h->place = place;
    h->open = true;
    h->is_told = false;
    text_start(&h->text);
}

/* A template has no links. A tree knows better which elements are in one: it drops their
 * links at its end, and keeps those of an <a> that the standard opens again outside. */
static bool
link_counts(sn_html *t)
{
    if (t->templates > 0 && !t->opts.tree)
        return false;
    if (t->links < (t->opts.max_links ? t->opts.max_links : SN_HTML_LINKS)) {
        t->links++;
        return true;
    }
    t->notes |= SN_HTML_NOTE_LINKS;
    return false;
}

/* Emits a link for each URL of a srcset. */
static void
links_of_set(sn_html *t, sn_html_event *e)
{
    sn_html_parts parts = link_read(t, e->attr, &t->decoded, &e->cut);
    sn_str rest = sn_str_slice(sn_buf_view(&t->decoded), 0, parts.value);

    t->steps += rest.len;
    while (sn_html_srcset(&rest, &e->value) && link_counts(t))
        emit(t, e);
}

static void
link_of(sn_html *t, sn_html_attr attr, sn_html_place place)
{
    sn_html_event e = {.what = SN_HTML_LINK, .tag = (sn_html_tag)t->tag, .attr = attr};

    if (attr == SN_ATTR_OTHER || !has_attr(t, attr))
        return;
    at(&e, place);
    if (attr == SN_ATTR_SRCSET || attr == SN_ATTR_IMAGESRCSET) {
        links_of_set(t, &e);
    } else if (!link_counts(t)) {
        return;
    } else if (e.tag == SN_TAG_A && !t->opts.no_text) {
        held_start(t, place);
    } else {
        sn_html_parts parts = link_read(t, attr, &t->decoded, &e.cut);

        if (e.tag == SN_TAG_A)
            t->held.open = t->held.is_told = true;
        link_give(t, &e, &t->decoded, &parts);
    }
}

static void
link(sn_html *t)
{
    const meaning *m = &meanings[t->tag];

    if (t->tag == SN_TAG_A)
        held_end(t);
    if (m->link == SN_ATTR_OTHER || t->seen == 0 || !(t->opts.want & SN_HTML_LINK))
        return;
    if (t->tag == SN_TAG_INPUT &&
        !sn_str_eq_nocase(raw_value(t, SN_ATTR_TYPE), SN_STR("image")))
        return;
    if (t->opts.no_parts && SN_HTML_PARTS >> t->tag & 1)
        return;
    sn_html_place place = sn_html_here(t);
    link_of(t, m->link, place);
    link_of(t, m->more, place);
}

void
sn_html_plain_link(sn_html *t, sn_str href, sn_str rel, sn_str hreflang)
{
    held_end(t);
    if (!href.ptr || !(t->opts.want & SN_HTML_LINK) || !link_counts(t))
        return;
    sn_html_event e = {.what = SN_HTML_LINK,
                       .tag = SN_TAG_A,
                       .attr = SN_ATTR_HREF,
                       .value = href,
                       .rel = rel,
                       .hreflang = hreflang};
    at(&e, sn_html_here(t));
    t->held.open = t->held.is_told = true;
    emit(t, &e);
}

/* Emits the URL of a refresh as a link. */
static void
refresh(sn_html *t, sn_html_event *e)
{
    sn_str url;
    uint32_t seconds;

    if (!sn_html_refresh(e->value, &seconds, &url) || url.len == 0 || !link_counts(t))
        return;
    sn_html_event link = {.what = SN_HTML_LINK,
                          .tag = SN_TAG_META,
                          .attr = SN_ATTR_CONTENT,
                          .value = url,
                          .offset = e->offset,
                          .line = e->line,
                          .col = e->col};
    emit(t, &link);
}

static void
meta(sn_html *t)
{
    static const sn_html_attr names[] = {SN_ATTR_NAME, SN_ATTR_PROPERTY,
                                         SN_ATTR_HTTP_EQUIV};
    sn_html_event e = {.what = SN_HTML_META, .tag = SN_TAG_META};
    bool cut;

    if (t->templates > 0 || !has_attr(t, SN_ATTR_CONTENT))
        return;
    at(&e, sn_html_here(t));
    for (size_t i = 0; i < sizeof names / sizeof *names && !t->enough; i++) {
        if (!has_attr(t, names[i]))
            continue;
        sn_buf_truncate(&t->decoded, 0);
        size_t len = value_of(t, SN_ATTR_CONTENT, &t->decoded, &e.cut);
        value_of(t, names[i], &t->decoded, &cut);
        sn_str both = sn_buf_view(&t->decoded);
        e.attr = names[i];
        e.value = sn_str_slice(both, 0, len);
        e.name = sn_str_trim(sn_str_slice(both, len, both.len));
        if (t->opts.want & SN_HTML_META)
            emit(t, &e);
        if (names[i] == SN_ATTR_HTTP_EQUIV && (t->opts.want & SN_HTML_LINK) &&
            sn_str_eq_nocase(e.name, SN_STR("refresh")))
            refresh(t, &e);
    }
}

static void
lang(sn_html *t)
{
    sn_html_event e = {.what = SN_HTML_LANG, .tag = SN_TAG_HTML, .attr = SN_ATTR_LANG};

    if (t->langed || t->templates > 0 || !has_attr(t, SN_ATTR_LANG))
        return;
    t->langed = true;
    at(&e, sn_html_here(t));
    sn_buf_truncate(&t->decoded, 0);
    value_of(t, SN_ATTR_LANG, &t->decoded, &e.cut);
    e.value = sn_str_trim(sn_buf_view(&t->decoded));
    emit(t, &e);
}

static void
script_start(sn_html *t)
{
    sn_str type = raw_value(t, SN_ATTR_TYPE);

    type.len = sn_str_find(type, ';');
    t->in_script = t->templates == 0 && (t->opts.want & SN_HTML_JSONLD) &&
                   sn_str_eq_nocase(sn_str_trim(type), SN_STR("application/ld+json"));
    if (!t->in_script)
        return;
    t->script_place = sn_html_here(t);
    t->script_cut = false;
    sn_buf_truncate(&t->script, 0);
}

/* A script ends where the current tag begins, or with the page. */
static void
script_end(sn_html *t, uint64_t to)
{
    sn_html_event e = {.what = SN_HTML_JSONLD, .tag = SN_TAG_SCRIPT};

    if (!t->in_script)
        return;
    t->in_script = false;
    sn_html_script_upto(t, to);
    e.cut = t->script_cut;
    if (e.cut)
        t->notes |= SN_HTML_NOTE_SCRIPT;
    at(&e, t->script_place);
    e.value = sn_buf_view(&t->script);
    emit(t, &e);
}

static void
base(sn_html *t)
{
    sn_html_event e = {.what = SN_HTML_BASE, .tag = SN_TAG_BASE, .attr = SN_ATTR_HREF};

    if (t->based || t->templates > 0 || !has_attr(t, SN_ATTR_HREF))
        return;
    t->based = true;
    at(&e, sn_html_here(t));
    sn_buf_truncate(&t->decoded, 0);
    value_of(t, SN_ATTR_HREF, &t->decoded, &e.cut);
    e.value = sn_buf_view(&t->decoded);
    emit(t, &e);
}

/* Emits the places that a start tag names. */
static void
anchors(sn_html *t)
{
    static const sn_html_attr names[] = {SN_ATTR_ID, SN_ATTR_NAME};

    if (t->templates > 0)
        return;
    for (size_t i = 0; i < (t->tag == SN_TAG_A ? 2 : 1) && !t->enough; i++) {
        sn_html_event e = {
            .what = SN_HTML_ANCHOR, .tag = (sn_html_tag)t->tag, .attr = names[i]};

        if (!has_attr(t, names[i]))
            continue;
        at(&e, sn_html_here(t));
        sn_buf_truncate(&t->decoded, 0);
        value_of(t, names[i], &t->decoded, &e.cut);
        e.value = sn_buf_view(&t->decoded);
        if (e.value.len > 0)
            emit(t, &e);
    }
}

static void
title_start(sn_html *t)
{
    if (t->titled || t->templates > 0)
        return;
    t->titled = true;
    t->titling = t->opts.until_title || (t->opts.want & SN_HTML_TITLE);
    t->title_place = sn_html_here(t);
}

/* An annotation of math that says that it is HTML. */
static bool
is_html_annotation(const sn_html *t)
{
    sn_str encoding = raw_value(t, SN_ATTR_ENCODING);

    return t->tag == SN_TAG_ANNOTATION_XML &&
           (sn_str_eq_nocase(encoding, SN_STR("text/html")) ||
            sn_str_eq_nocase(encoding, SN_STR("application/xhtml+xml")));
}

/* Handles a start tag inside svg or math, where only links have a meaning. */
static void
opened_foreign(sn_html *t)
{
    if (t->tag == SN_TAG_A)
        link(t);
    sn_html_foreign_start(t, is_html_annotation(t));
}

/* A form inside of a form is none, unless it is in a template (13.2.6.4.7). */
static void
form(sn_html *t)
{
    if (t->in_form && t->templates == 0)
        return;
    t->in_form = t->in_form || t->templates == 0;
    link(t);
}

/* Emits the events of an element of HTML. */
static void
element(sn_html *t)
{
    switch ((sn_html_tag)t->tag) {
    case SN_TAG_BASE:
        base(t);
        break;
    case SN_TAG_META:
        meta(t);
        break;
    case SN_TAG_HTML:
        lang(t);
        break;
    case SN_TAG_SCRIPT:
        link(t);
        script_start(t);
        break;
    case SN_TAG_TITLE:
        title_start(t);
        break;
    default:
        link(t);
        break;
    }
}

static sn_html_content
opened(sn_html *t)
{
    if (t->breaks_out)
        sn_html_foreign_leave(t);
    if (sn_html_is_foreign(t) || (t->depth > 0 && sn_html_is_math_mark(t))) {
        opened_foreign(t);
        return SN_HTML_MARKUP;
    }
    switch ((sn_html_tag)t->tag) {
    case SN_TAG_SVG:
    case SN_TAG_MATH:
        sn_html_foreign_root(t);
        break;
    case SN_TAG_TEMPLATE:
        t->templates++;
        break;
    case SN_TAG_FORM:
        form(t);
        break;
    case SN_TAG_FRAME: /* is one in a frameset alone */
        break;
    case SN_TAG_NOSCRIPT:
        return t->opts.scripting ? SN_HTML_RAW : SN_HTML_MARKUP;
    default:
        element(t);
        break;
    }
    return meanings[t->tag].content;
}

/* Handles a start tag of a page of frames. */
static sn_html_content
opened_frames(sn_html *t)
{
    if (t->tag == SN_TAG_FRAME && t->framesets > 0)
        link(t);
    else if (t->tag == SN_TAG_FRAMESET && t->framesets > 0)
        t->framesets++;
    else if (t->tag == SN_TAG_HTML)
        lang(t);
    return t->tag == SN_TAG_NOFRAMES ? SN_HTML_RAW : SN_HTML_MARKUP;
}

static bool
is_hidden(const sn_html *t)
{
    return sn_str_eq_nocase(raw_value(t, SN_ATTR_TYPE), SN_STR("hidden"));
}

static void
closed(sn_html *t)
{
    bool was_foreign = t->depth > 0 && !t->in_raw && sn_html_foreign_end(t);

    switch ((sn_html_tag)t->tag) {
    case SN_TAG_A:
        held_end(t);
        break;
    case SN_TAG_SCRIPT:
        script_end(t, t->tag_at);
        break;
    case SN_TAG_TITLE:
        title_end(t);
        break;
    case SN_TAG_TEMPLATE:
        if (t->templates > 0)
            t->templates--;
        break;
    case SN_TAG_FORM:
        t->in_form = t->in_form && (was_foreign || t->templates > 0);
        break;
    case SN_TAG_FRAMESET:
        t->framesets -= t->framesets > 0;
        break;
    default:
        break;
    }
}

void
sn_html_tag_in_tree(sn_html *t)
{
    const sn_build *b = t->opts.tree;

    t->templates = b->open[EL_TEMPLATE];
    if (t->end_tag)
        closed(t);
    else if (b->tok.used && b->tok.ns == SN_NS_HTML)
        element(t);
    else if (b->tok.used && t->tag == SN_TAG_A)
        link(t);
}

sn_html_content
sn_html_tag_done(sn_html *t)
{
    bool had_frames = t->in_frames;

    if (t->frames_ok && !sn_html_is_foreign(t))
        sn_html_frames_tag(t, is_hidden(t));
    if (t->in_frames && !t->end_tag)
        return had_frames ? opened_frames(t) : SN_HTML_MARKUP;
    if (!t->end_tag) {
        if (t->opts.want & SN_HTML_ANCHOR)
            anchors(t);
        return opened(t);
    }
    closed(t);
    return SN_HTML_MARKUP;
}

void
sn_html_text_end(sn_html *t)
{
    title_end(t);
    held_end(t);
    script_end(t, t->fed);
}
