/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "text/bare_url.h"
#include "text/html.h"
#include "text/ignore_marks.h"
#include "text/markdown.h"
#include "text/rst.h"

enum { LINKS = 1000000, BYTES = 256 << 20, MARKS = 16 << 20 };

#define LONGEST ((size_t)64 << 20)

/* A text within the common buffer. */
typedef struct span {
    uint32_t at, len;
} span;

typedef struct found {
    uint64_t offset;
    const char *tag, *attr;
    span value, text;
    uint32_t line, col;
} found;

struct seine_document {
    sn_html html;
    sn_markdown markdown;
    sn_rst rst;
    sn_buf bytes, links, anchors, marks; /* of found, span and ranges of lines */
    span base;
    bool has_base, is_cut;
};

_Static_assert(sizeof(found) <= 56, "document.h says so");

static size_t
links_of(const seine_document *d)
{
    return d->links.len / sizeof(found);
}

static bool
has_room(seine_document *d, size_t bytes)
{
    if (links_of(d) < LINKS && bytes <= d->bytes.cap - d->bytes.len &&
        d->anchors.len < d->anchors.cap)
        return true;
    d->is_cut = true;
    return false;
}

static span
keep_text(seine_document *d, sn_str s)
{
    span at = {(uint32_t)d->bytes.len, (uint32_t)s.len};

    sn_buf_str(&d->bytes, s);
    return at;
}

static void
keep_event(void *user, const sn_doc_event *e)
{
    seine_document *d = user;

    if (!has_room(d, e->value.len + e->text.len))
        return;
    span value = keep_text(d, e->value);
    if (e->is_anchor) {
        sn_buf_add(&d->anchors, &value, sizeof value);
        return;
    }
    found f = {.offset = e->offset,
               .tag = e->tag,
               .attr = e->attr,
               .value = value,
               .text = keep_text(d, e->text),
               .line = e->line,
               .col = e->col};
    sn_buf_add(&d->links, &f, sizeof f);
}

/* An event of an HTML document. */
static bool
on_html(void *user, const sn_html_event *e)
{
    seine_document *d = user;
    sn_doc_event told = sn_doc_event_of_html(e);

    if (e->what != SN_HTML_BASE) {
        keep_event(d, &told);
    } else if (has_room(d, e->value.len)) {
        d->base = keep_text(d, e->value);
        d->has_base = true;
    }
    return true;
}

seine_err
seine_document_new(seine_document **out_document)
{
    if (!out_document)
        return SEINE_E_INVAL;
    seine_document *d = sn_zalloc(sizeof *d);

    if (!d)
        return SEINE_E_NOMEM;
    sn_html_init(&d->html,
                 &(sn_html_options){.want = SN_HTML_LINK | SN_HTML_ANCHOR | SN_HTML_BASE,
                                    .lines = true,
                                    .max_links = LINKS},
                 on_html, d);
    sn_markdown_init(&d->markdown);
    sn_rst_init(&d->rst);
    sn_buf_init(&d->bytes, BYTES);
    sn_buf_init(&d->links, (size_t)LINKS * sizeof(found));
    sn_buf_init(&d->anchors, (size_t)LINKS * sizeof(span));
    sn_buf_init(&d->marks, MARKS);
    *out_document = d;
    return SEINE_OK;
}

void
seine_document_free(seine_document *d)
{
    if (!d)
        return;
    sn_html_fini(&d->html);
    sn_markdown_fini(&d->markdown);
    sn_rst_fini(&d->rst);
    sn_buf_fini(&d->bytes);
    sn_buf_fini(&d->links);
    sn_buf_fini(&d->anchors);
    sn_buf_fini(&d->marks);
    sn_free(d);
}

static void
forget(seine_document *d)
{
    sn_buf_reset(&d->bytes);
    sn_buf_reset(&d->links);
    sn_buf_reset(&d->anchors);
    sn_buf_reset(&d->marks);
    d->has_base = d->is_cut = false;
}

static seine_err
read_html(seine_document *d, sn_str doc)
{
    sn_html_reset(&d->html);
    seine_err e = sn_html_feed(&d->html, doc.ptr, doc.len);
    return e == SEINE_OK ? sn_html_end(&d->html) : e;
}

/* Plain text: every URL in it is a link. */
static void
read_plain(seine_document *d, sn_str doc)
{
    size_t line_at = 0;
    uint32_t line = 1;

    for (size_t i = 0; i < doc.len; i++) {
        char c = doc.ptr[i];
        sn_str url;

        if (c == '\n') {
            line++;
            line_at = i + 1;
        }
        if ((c != 'h' && c != 'H') || !sn_bare_url(doc, i, &url))
            continue;
        keep_event(d, &(sn_doc_event){.tag = "a",
                                      .attr = "href",
                                      .value = url,
                                      .text = {"", 0},
                                      .offset = i,
                                      .line = line,
                                      .col = (uint32_t)(i - line_at) + 1});
        i += url.len - 1;
    }
}

/* By place; what stands at the same place keeps its order, which is that of its bytes. */
static int
by_place(const void *a, const void *b)
{
    const found *x = a, *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->value.at > y->value.at) - (x->value.at < y->value.at);
}

static seine_err
read_kind(seine_document *d, seine_document_kind kind, sn_str doc)
{
    sn_doc_fn to = {keep_event, d};
    seine_err e = SEINE_OK;

    switch (kind) {
    case SEINE_DOCUMENT_HTML:
        e = read_html(d, doc);
        sn_ignore_marks(doc, false, &d->marks);
        break;
    case SEINE_DOCUMENT_MARKDOWN:
        e = sn_markdown_read(&d->markdown, doc, to);
        sn_ignore_marks(sn_markdown_masked(&d->markdown), false, &d->marks);
        break;
    case SEINE_DOCUMENT_RST:
        e = sn_rst_read(&d->rst, doc, to);
        sn_ignore_marks(doc, true, &d->marks);
        break;
    case SEINE_DOCUMENT_TEXT:
        read_plain(d, doc);
        break;
    default:
        e = SEINE_E_INVAL;
        break;
    }
    return e;
}

seine_err
seine_document_read(seine_document *d, seine_document_kind kind, const char *bytes,
                    size_t len)
{
    if (!d || (!bytes && len > 0))
        return SEINE_E_INVAL;
    forget(d);
    if (len > LONGEST)
        return SEINE_E_BUDGET;
    seine_err e = read_kind(d, kind, (sn_str){bytes, len});
    const sn_buf *all[] = {&d->bytes, &d->links, &d->anchors, &d->marks};
    for (size_t i = 0; i < sizeof all / sizeof *all && e == SEINE_OK; i++)
        e = sn_buf_done(all[i]);
    if (e != SEINE_OK)
        forget(d);
    else if (links_of(d) > 1)
        qsort(d->links.ptr, links_of(d), sizeof(found), by_place);
    return e;
}

static seine_view
view(const seine_document *d, span s)
{
    return (seine_view){d->bytes.ptr && s.len > 0 ? d->bytes.ptr + s.at : "", s.len};
}

bool
seine_document_at(const seine_document *d, size_t i, seine_document_link *out_link)
{
    if (!d || !out_link || i >= links_of(d))
        return false;
    const found *f = (const found *)(const void *)d->links.ptr + i;
    *out_link = (seine_document_link){.tag = f->tag,
                                      .attr = f->attr,
                                      .value = view(d, f->value),
                                      .text = view(d, f->text),
                                      .line = f->line,
                                      .col = f->col,
                                      .is_ignored = sn_is_ignored(&d->marks, f->line)};
    return true;
}

bool
seine_document_anchor(const seine_document *d, size_t i, seine_view *out_name)
{
    if (!d || !out_name || i >= d->anchors.len / sizeof(span))
        return false;
    *out_name = view(d, ((const span *)(const void *)d->anchors.ptr)[i]);
    return true;
}

seine_view
seine_document_base(const seine_document *d)
{
    return d && d->has_base ? view(d, d->base) : (seine_view){NULL, 0};
}

bool
seine_document_is_cut(const seine_document *d)
{
    return d && (d->is_cut || sn_html_notes(&d->html) & SN_HTML_NOTE_LINKS);
}

bool
seine_document_kind_of(const char *path, seine_document_kind *out_kind)
{
    static const struct {
        sn_str end;
        seine_document_kind kind;
    } ends[] = {
        {{".html", 5}, SEINE_DOCUMENT_HTML},
        {{".htm", 4}, SEINE_DOCUMENT_HTML},
        {{".xhtml", 6}, SEINE_DOCUMENT_HTML},
        {{".md", 3}, SEINE_DOCUMENT_MARKDOWN},
        {{".markdown", 9}, SEINE_DOCUMENT_MARKDOWN},
        {{".mdown", 6}, SEINE_DOCUMENT_MARKDOWN},
        {{".mkd", 4}, SEINE_DOCUMENT_MARKDOWN},
        {{".rst", 4}, SEINE_DOCUMENT_RST},
        {{".rest", 5}, SEINE_DOCUMENT_RST},
        {{".txt", 4}, SEINE_DOCUMENT_TEXT},
    };
    sn_str name = sn_str_of(path);

    for (size_t i = 0; out_kind && i < sizeof ends / sizeof *ends; i++)
        if (name.len > ends[i].end.len &&
            sn_str_eq_nocase(sn_str_slice(name, name.len - ends[i].end.len, name.len),
                             ends[i].end)) {
            *out_kind = ends[i].kind;
            return true;
        }
    return false;
}
