/* SPDX-License-Identifier: Apache-2.0 */
#include "text/page_refs.h"

#include "text/charset.h"
#include "text/css_refs.h"
#include "text/file_name.h"

typedef struct walk {
    const sn_page_refs_opts *o;
    sn_str page;
    size_t done; /* bytes that are copied */
    sn_buf *out; /* NULL: nobody rewrites */
    sn_buf decoded, utf8, fresh, value;
    const sn_html_ref *ref; /* of the page; NULL: in a style sheet */
    seine_err err;
} walk;

bool
sn_page_refs_form(sn_str type, sn_page_form *out_form)
{
    sn_str t = sn_file_name_essence(type);

    *out_form = sn_str_eq_nocase(t, SN_STR("text/css"))    ? SN_FORM_CSS
                : sn_str_eq_nocase(t, SN_STR("text/html")) ? SN_FORM_HTML
                                                           : SN_FORM_XML;
    return *out_form != SN_FORM_XML ||
           sn_str_is_among(t, "application/xhtml+xml image/svg+xml");
}

/* Encodings */

static void
add_escaped(sn_buf *out, sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] >= 0x80)
            sn_buf_printf(out, "%%%02X", (unsigned char)s.ptr[i]);
        else
            sn_buf_char(out, s.ptr[i]);
}

/* The bytes of a value as UTF-8. A query keeps its bytes, which are escaped, since
 * servers get them as they stand there. */
static sn_str
as_utf8(walk *w, sn_str raw)
{
    sn_decoder d;
    size_t query = sn_str_find(raw, '?'), hash;

    if (w->o->charset == SEINE_CHARSET_UTF_8 || sn_ascii_len(raw) == raw.len)
        return raw;
    hash = query + sn_str_find(sn_str_slice(raw, query, raw.len), '#');
    sn_buf_reset(&w->utf8);
    sn_decoder_init(&d, w->o->charset);
    sn_decoder_feed(&d, sn_str_slice(raw, 0, query), &w->utf8);
    sn_decoder_end(&d, &w->utf8);
    add_escaped(&w->utf8, sn_str_slice(raw, query, hash));
    sn_decoder_init(&d, w->o->charset);
    sn_decoder_feed(&d, sn_str_slice(raw, hash, raw.len), &w->utf8);
    sn_decoder_end(&d, &w->utf8);
    return sn_buf_view(&w->utf8);
}

/* The value of an attribute, its references decoded. */
static sn_str
attribute_value(walk *w, sn_str raw)
{
    sn_buf_reset(&w->decoded);
    sn_html_decode(&w->decoded, as_utf8(w, raw), true, SIZE_MAX);
    return sn_buf_view(&w->decoded);
}

/* Copying */

/* Copies up to `from`; what stands between it and `to` is left out. */
static void
copy_to(walk *w, size_t from, size_t to)
{
    if (!w->out)
        return;
    sn_buf_str(w->out, sn_str_slice(w->page, w->done, from));
    w->done = to;
}

static void
put_attribute(walk *w, const sn_html_ref *r, sn_str value)
{
    if (!w->out)
        return;
    copy_to(w, r->from, r->to);
    sn_buf_char(w->out, '"');
    for (size_t i = 0; i < value.len; i++)
        switch (value.ptr[i]) {
        case '&':
            sn_buf_text(w->out, "&amp;");
            break;
        case '"':
            sn_buf_text(w->out, "&quot;");
            break;
        case '<':
            sn_buf_text(w->out, "&lt;");
            break;
        default:
            sn_buf_char(w->out, value.ptr[i]);
        }
    sn_buf_char(w->out, '"');
}

/* Tells one URL; true: `value` of the walk has another text for it. */
static bool
tell(walk *w, sn_ref_kind kind, sn_str value, size_t at)
{
    sn_page_ref ref = {.kind = kind,
                       .tag = w->ref ? w->ref->tag : SN_TAG_STYLE,
                       .attr = w->ref ? w->ref->attr : SN_ATTR_OTHER,
                       .at = w->ref ? w->ref->tag_at : at,
                       .value = value};

    if (w->ref && (w->ref->kind == SN_REF_STYLE || w->ref->kind == SN_REF_SHEET)) {
        ref.tag = SN_TAG_STYLE;
        ref.attr = SN_ATTR_OTHER;
    }
    sn_buf_reset(&w->value);
    return w->o->fn(w->o->user, &ref, w->out ? &w->value : NULL) && w->out;
}

/* CSS */

/* Style sheets, and those inside of a page: rewritten where they stand. */
typedef struct sheet {
    walk *w;
    size_t base; /* of the sheet in the page */
} sheet;

static bool
on_sheet_ref(void *user, const sn_css_ref *r)
{
    const sheet *s = user;
    walk *w = s->w;
    size_t from = s->base + r->from, to = s->base + r->to;

    if (tell(w, SN_REF_NEEDED, as_utf8(w, r->value), from)) {
        copy_to(w, from, to);
        sn_css_put(w->out, sn_buf_view(&w->value));
    }
    return true;
}

static void
note_error(walk *w, seine_err e)
{
    if (w->err == SEINE_OK)
        w->err = e;
}

static void
read_sheet(walk *w, sn_str css, size_t base)
{
    sheet s = {.w = w, .base = base};

    note_error(w, sn_css_refs(css, on_sheet_ref, &s));
}

/* A style attribute: its decoded text is copied to `fresh` with other URLs. */
typedef struct inline_style {
    walk *w;
    sn_str css;
    size_t done;
} inline_style;

static bool
on_style_ref(void *user, const sn_css_ref *r)
{
    inline_style *s = user;
    walk *w = s->w;

    if (!tell(w, SN_REF_NEEDED, r->value, 0))
        return true;
    sn_buf_str(&w->fresh, sn_str_slice(s->css, s->done, r->from));
    sn_css_put(&w->fresh, sn_buf_view(&w->value));
    s->done = r->to;
    return true;
}

static void
read_style(walk *w, const sn_html_ref *r)
{
    inline_style s = {.w = w, .css = attribute_value(w, r->raw)};

    if (sn_str_find(r->raw, '(') == r->raw.len && sn_str_find(r->raw, '&') == r->raw.len)
        return;
    sn_buf_reset(&w->fresh);
    note_error(w, sn_css_refs(s.css, on_style_ref, &s));
    if (s.done == 0)
        return;
    sn_buf_str(&w->fresh, sn_str_slice(s.css, s.done, s.css.len));
    put_attribute(w, r, sn_buf_view(&w->fresh));
}

/* HTML */

static void
read_srcset(walk *w, const sn_html_ref *r)
{
    sn_str all = attribute_value(w, r->raw), rest = all, url;
    size_t done = 0;

    sn_buf_reset(&w->fresh);
    while (sn_html_srcset(&rest, &url)) {
        size_t from = (size_t)(url.ptr - all.ptr);

        if (!tell(w, SN_REF_NEEDED, url, 0))
            continue;
        sn_buf_str(&w->fresh, sn_str_slice(all, done, from));
        sn_buf_str(&w->fresh, sn_buf_view(&w->value));
        done = from + url.len;
    }
    if (done == 0)
        return;
    sn_buf_str(&w->fresh, sn_str_slice(all, done, all.len));
    put_attribute(w, r, sn_buf_view(&w->fresh));
}

static void
read_refresh(walk *w, const sn_html_ref *r)
{
    sn_str content = attribute_value(w, r->raw), url;
    uint32_t seconds;

    if (!sn_html_refresh(content, &seconds, &url) || url.len == 0 ||
        !tell(w, SN_REF_LINK, url, 0))
        return;
    sn_buf_reset(&w->fresh);
    sn_buf_printf(&w->fresh, "%u; url=", seconds);
    sn_buf_str(&w->fresh, sn_buf_view(&w->value));
    put_attribute(w, r, sn_buf_view(&w->fresh));
}

static void
read_base(walk *w, const sn_html_ref *r)
{
    (void)tell(w, SN_REF_BASE, attribute_value(w, r->raw), 0);
    put_attribute(w, r, SN_STR(""));
}

static void
put_text(walk *w, size_t at, const char *text)
{
    copy_to(w, at, at);
    if (w->out)
        sn_buf_text(w->out, text);
}

static bool
on_html_ref(void *user, const sn_html_ref *r)
{
    walk *w = user;

    w->ref = r;
    switch (r->kind) {
    case SN_REF_SRCSET:
        read_srcset(w, r);
        break;
    case SN_REF_STYLE:
        read_style(w, r);
        break;
    case SN_REF_SHEET:
        read_sheet(w, r->raw, r->from);
        break;
    case SN_REF_REFRESH:
        read_refresh(w, r);
        break;
    case SN_REF_BASE:
        read_base(w, r);
        break;
    case SN_REF_OFF:
        put_text(w, r->from, "data-");
        break;
    case SN_REF_HEAD:
        if (w->o->meta && w->out) {
            copy_to(w, r->from, r->from);
            sn_buf_printf(w->out, "<meta charset=\"%s\">", w->o->meta);
        }
        break;
    case SN_REF_LINK:
    case SN_REF_FRAME:
    case SN_REF_NEEDED:
    default:
        if (tell(w, r->kind, attribute_value(w, r->raw), 0))
            put_attribute(w, r, sn_buf_view(&w->value));
        break;
    }
    return w->err == SEINE_OK;
}

seine_err
sn_page_refs(sn_str page, const sn_page_refs_opts *opts, sn_buf *out)
{
    walk w = {.o = opts, .page = page, .out = out};
    sn_buf *const all[] = {&w.decoded, &w.utf8, &w.fresh, &w.value};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sn_buf_init(all[i], SIZE_MAX / 4);
    if (opts->form == SN_FORM_CSS)
        read_sheet(&w, page, 0);
    else
        sn_html_refs(page, opts->form == SN_FORM_XML, on_html_ref, &w);
    copy_to(&w, page.len, page.len);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        note_error(&w, sn_buf_done(all[i]));
        sn_buf_fini(all[i]);
    }
    if (out)
        note_error(&w, sn_buf_done(out));
    return w.err;
}
