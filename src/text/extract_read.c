/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one page after the other. Data is written as JSON while it is found. */
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/json_check.h"
#include "base/json_compact.h"
#include "base/opts.h"
#include "seine/links.h"
#include "seine/plumbing.h"
#include "text/base_url.h"
#include "text/charset.h"
#include "text/extract.h"
#include "text/jsonptr_scan.h"

enum {
    MOST_DATA = 16 << 20,   /* of one page, as JSON */
    QUOTED = 4 << 10,       /* bytes that are quoted at once */
    KEPT_BYTES = 256 << 10, /* of values, beside the share of the page */
    SEEN_BYTES = 1 << 20,   /* of texts that are looked at, likewise */
    NODE_COST = 16,         /* what a node counts beside its bytes */
    DATA_REST = 256 << 10,  /* memory that stays between two pages */
    PAGE_REST = 1 << 16,    /* the largest page whose tree stays */
    NAME_COST = 64,         /* memory of a name of JSON … */
    NAME_BYTES = 5          /* … and its fewest bytes: "":1, */
};

/* The values of one pointer while JSON is read. */
typedef struct pointer_values {
    sn_buf text; /* a comma behind each */
    seine_err err;
} pointer_values;

struct seine_extractor {
    const seine_extract *fields;
    sn_buf data, decoded;
    sn_jsonptr_set pointers; /* of the fields, in their order */
    pointer_values *found;   /* as many */
    seine_tree *tree;
    seine_links *links;
    seine_finder *finder; /* of the page that is read; NULL: not yet */
    /* of the page that is read */
    const seine_extract_page *page;
    sn_str html;
    uint64_t taken; /* of its gate */
    uint64_t left;  /* bytes of values that may still be kept */
    uint64_t steps; /* bytes of texts that may still be looked at */
    size_t listed;  /* bytes of values of pointers */
    bool has_base;
    char page_mem[SEINE_URL_ROOM], base_mem[SEINE_URL_ROOM];
    seine_url page_url, base;
};

/* Empties the buffer; memory beyond `rest` is given back. */
static void
empty(sn_buf *b, size_t rest)
{
    size_t cap = b->cap;

    if (b->room > rest) {
        sn_buf_fini(b);
        sn_buf_init(b, cap);
    }
    sn_buf_reset(b);
}

static seine_err
add_pointers(seine_extractor *r)
{
    seine_err e = SEINE_OK;

    for (size_t i = 0; i < r->fields->count && e == SEINE_OK; i++)
        if (r->fields->fields[i].what == SEINE_EXTRACT_POINTER)
            e = sn_jsonptr_set_add(&r->pointers, sn_str_of(r->fields->fields[i].text));
    r->found = sn_calloc(r->pointers.n + 1, sizeof *r->found);
    return r->found ? e : SEINE_E_NOMEM;
}

seine_err
seine_extractor_new(const seine_extract *x, seine_extractor **out_extractor)
{
    if (!x || !out_extractor)
        return SEINE_E_INVAL;
    seine_extractor *r = sn_zalloc(sizeof *r);
    seine_err e = r ? SEINE_OK : SEINE_E_NOMEM;

    if (r) {
        r->fields = x;
        sn_buf_init(&r->data, SIZE_MAX - 1);
        sn_buf_init(&r->decoded, SIZE_MAX - 1);
    }
    if (e == SEINE_OK && x->needs_links)
        e = seine_links_new(NULL, &r->links);
    if (e == SEINE_OK && x->has_pointers)
        e = add_pointers(r);
    if (e != SEINE_OK) {
        seine_extractor_free(r);
        return e;
    }
    *out_extractor = r;
    return SEINE_OK;
}

void
seine_extractor_free(seine_extractor *r)
{
    if (!r)
        return;
    seine_finder_free(r->finder);
    seine_tree_free(r->tree);
    seine_links_free(r->links);
    sn_jsonptr_set_fini(&r->pointers);
    sn_free(r->found);
    sn_buf_fini(&r->data);
    sn_buf_fini(&r->decoded);
    sn_free(r);
}

/* Asks the gate for memory. */
static seine_err
take_memory(seine_extractor *r, uint64_t bytes)
{
    const seine_tree_gate *g = r->page->gate;
    seine_err e = g ? g->take(bytes, g->arg) : SEINE_OK;

    if (g && e == SEINE_OK)
        r->taken += bytes;
    return e;
}

/* Writing. */

/* True for a byte that stands in a JSON string as it is. */
static bool
is_plain(char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* The length of a run of bytes that need quotes; a character is not cut. */
static size_t
quoted_len(sn_str s)
{
    size_t n = 0;

    while (n < s.len && !is_plain(s.ptr[n]) &&
           (n < QUOTED || ((unsigned char)s.ptr[n] & 0xc0) == 0x80))
        n++;
    return n;
}

/* Writes a run by sn_json_quote, without its quotes. */
static void
put_quoted(sn_buf *to, sn_str run)
{
    size_t n = sn_json_quote(run.ptr, run.len, NULL, 0);
    char *at = sn_buf_reserve(to, n + 1);

    if (!at)
        return;
    sn_json_quote(run.ptr, run.len, at, n + 1);
    memmove(at, at + 1, n - 2);
    sn_buf_commit(to, n - 2);
}

/* Writes a string, plain bytes as they are. One that is too long for the data is not
 * written to its end. */
static void
put_string(sn_buf *to, sn_str s)
{
    sn_buf_char(to, '"');
    while (s.len > 0 && to->len <= MOST_DATA && to->err == SEINE_OK) {
        size_t n = 0;

        while (n < s.len && is_plain(s.ptr[n]))
            n++;
        sn_buf_add(to, s.ptr, n);
        s = sn_str_slice(s, n, s.len);
        n = quoted_len(s);
        if (n > 0)
            put_quoted(to, sn_str_slice(s, 0, n));
        s = sn_str_slice(s, n, s.len);
    }
    sn_buf_char(to, '"');
}

static void
put_name(seine_extractor *r, const char *name)
{
    if (r->data.len > 1)
        sn_buf_char(&r->data, ',');
    put_string(&r->data, sn_str_of(name));
    sn_buf_char(&r->data, ':');
}

/* Lists are written with a comma behind each value; their end takes the last one away. */
static void
begin_list(seine_extractor *r, const char *name)
{
    put_name(r, name);
    sn_buf_char(&r->data, '[');
}

static void
end_list(seine_extractor *r)
{
    if (r->data.len > 0 && r->data.ptr[r->data.len - 1] == ',')
        sn_buf_truncate(&r->data, r->data.len - 1);
    sn_buf_char(&r->data, ']');
}

/* May so many bytes more be kept? BUDGET: no. */
static seine_err
may_keep(seine_extractor *r, size_t len)
{
    if (len > r->left)
        return SEINE_E_BUDGET;
    r->left -= len;
    return SEINE_OK;
}

/* Ends a value that was written from `from` on; takes it back if the data is too long. */
static seine_err
end_value(seine_extractor *r, size_t from)
{
    sn_buf_char(&r->data, ',');
    if (r->data.len <= MOST_DATA)
        return SEINE_OK;
    sn_buf_truncate(&r->data, from);
    return SEINE_E_BUDGET;
}

static seine_err
add_string(seine_extractor *r, sn_str s)
{
    seine_err e = may_keep(r, s.len);
    size_t from = r->data.len;

    if (e != SEINE_OK)
        return e;
    put_string(&r->data, s);
    return end_value(r, from);
}

static seine_err
add_printed(seine_extractor *r, const seine_json *value)
{
    size_t from = r->data.len;
    seine_text text;
    seine_err e = seine_json_print(value, &text);

    if (e != SEINE_OK)
        return e;
    e = may_keep(r, text.len);
    if (e == SEINE_OK)
        sn_buf_add(&r->data, text.bytes, text.len);
    seine_text_free(&text);
    return e == SEINE_OK ? end_value(r, from) : e;
}

/* Most values are strings and integers, which need no printer. */
static seine_err
add_json(seine_extractor *r, const seine_json *value)
{
    size_t from = r->data.len;
    int64_t number;
    sn_str text;

    if (seine_json_string(value, &text.ptr, &text.len))
        return add_string(r, text);
    if (!seine_json_int(value, &number))
        return add_printed(r, value);
    sn_buf_i64(&r->data, number);
    seine_err e = may_keep(r, r->data.len - from);
    if (e == SEINE_OK)
        return end_value(r, from);
    sn_buf_truncate(&r->data, from);
    return e;
}

/* JSON. */

/* JSON is UTF-8, unless a mark or the header says otherwise. */
static seine_err
decode_json(seine_extractor *r, sn_str *out_text)
{
    sn_str body = r->page->body, label = r->page->charset;
    seine_charset_choice c = {SEINE_CHARSET_UTF_8, SEINE_FROM_DEFAULT, 0};
    bool has_mark = body.len > 1 && (unsigned char)body.ptr[0] >= 0xef;

    if (has_mark || label.ptr)
        (void)sn_charset_named(sn_str_slice(body, 0, 3), label, &c);
    *out_text = sn_str_slice(body, c.bom, body.len);
    if (c.charset == SEINE_CHARSET_UTF_8)
        return SEINE_OK;
    seine_err e = take_memory(r, 3 * (uint64_t)body.len);
    if (e != SEINE_OK)
        return e;
    sn_decoder d;
    sn_decoder_init(&d, c.charset);
    sn_decoder_feed(&d, *out_text, &r->decoded);
    sn_decoder_end(&d, &r->decoded);
    *out_text = sn_buf_view(&r->decoded);
    return sn_buf_done(&r->decoded);
}

/* Is it JSON that all readers of ours take? BAD_JSON, JSON_TOO_DEEP, BUDGET, NOMEM. */
static seine_err
check_json(sn_str text)
{
    sn_json_flaw flaw, note;
    sn_json_names names;

    if (text.len > SEINE_JSON_BYTES)
        return SEINE_E_BUDGET;
    sn_json_names_init(&names);
    seine_err e = sn_json_scan(text, &names, &flaw, &note);
    sn_json_names_fini(&names);
    return e == SEINE_OK && note.text ? SEINE_E_BAD_JSON : e;
}

/* The text as it is printed, in one buffer. */
static seine_err
compact_json(seine_extractor *r, sn_buf *out)
{
    sn_str text = {0};
    seine_err e = decode_json(r, &text);

    if (e == SEINE_OK)
        e = take_memory(r, text.len / NAME_BYTES * NAME_COST);
    if (e == SEINE_OK)
        e = check_json(text);
    if (e == SEINE_OK)
        e = take_memory(r, 3 * (uint64_t)text.len);
    if (e != SEINE_OK)
        return e;
    sn_json_compact(text, out);
    return sn_buf_done(out);
}

/* Adds a value and a comma. Most values are short and find room. */
static void
put_value(sn_buf *b, sn_str value)
{
    size_t n = value.len + 1;
    char *to = n < b->room - b->len ? b->ptr + b->len : sn_buf_reserve(b, n);

    if (!to)
        return;
    memcpy(to, value.ptr, value.len);
    to[value.len] = ',';
    to[n] = '\0';
    b->len += n;
}

/* Keeps a value of a pointer. A pointer that has had too much gets no more, and the
 * others go on. */
static seine_err
on_value(size_t pointer, sn_str value, void *arg)
{
    seine_extractor *r = arg;
    pointer_values *v = &r->found[pointer];

    if (v->err != SEINE_OK)
        return SEINE_OK;
    if (r->listed + value.len + 1 > MOST_DATA)
        v->err = SEINE_E_BUDGET;
    else
        v->err = may_keep(r, value.len);
    if (v->err != SEINE_OK)
        return SEINE_OK;
    put_value(&v->text, value);
    r->listed += value.len + 1;
    return sn_buf_done(&v->text);
}

/* Writes the lists of all pointers in the order of the fields. The first error counts. */
static seine_err
put_pointers(seine_extractor *r)
{
    seine_err e = SEINE_OK;
    size_t at = 0;

    for (size_t i = 0; i < r->fields->count; i++) {
        const sn_extract_field *f = &r->fields->fields[i];

        if (f->what != SEINE_EXTRACT_POINTER)
            continue;
        pointer_values *v = &r->found[at++];
        begin_list(r, f->name);
        sn_buf_str(&r->data, sn_buf_view(&v->text));
        end_list(r);
        e = e == SEINE_OK ? v->err : e;
    }
    return e;
}

static seine_err
read_json(seine_extractor *r)
{
    sn_buf compact;

    sn_buf_init(&compact, SIZE_MAX / 2);
    r->listed = 0;
    for (size_t i = 0; i < r->pointers.n; i++) {
        sn_buf_init(&r->found[i].text, SIZE_MAX / 2);
        r->found[i].err = SEINE_OK;
    }
    seine_err e = compact_json(r, &compact);
    if (e == SEINE_OK)
        e = sn_jsonptr_scan(&r->pointers, sn_buf_view(&compact), on_value, r);
    sn_buf_fini(&compact);
    if (e == SEINE_OK)
        e = put_pointers(r);
    for (size_t i = 0; i < r->pointers.n; i++)
        sn_buf_fini(&r->found[i].text);
    return e;
}

/* HTML. */

/* Decides the encoding as a browser does. XHTML without a name is UTF-8. */
static seine_err
decode_html(seine_extractor *r)
{
    sn_str body = r->page->body, label = r->page->charset;
    seine_charset_choice c;

    seine_charset_decide(body.ptr ? body.ptr : "", body.len, label.ptr, label.len, &c);
    if (c.from == SEINE_FROM_DEFAULT &&
        sn_str_eq(r->page->content_type, SN_STR("application/xhtml+xml")))
        c.charset = SEINE_CHARSET_UTF_8;
    r->html = sn_str_slice(body, c.bom, body.len);
    if (sn_ascii_len(r->html) == r->html.len
            ? sn_charset_is_ascii(c.charset)
            : c.charset == SEINE_CHARSET_UTF_8 && sn_utf8_valid(r->html))
        return SEINE_OK;
    seine_err e = take_memory(r, 3 * (uint64_t)body.len);
    if (e != SEINE_OK)
        return e;
    sn_decoder d;
    sn_decoder_init(&d, c.charset);
    sn_decoder_feed(&d, r->html, &r->decoded);
    sn_decoder_end(&d, &r->decoded);
    r->html = sn_buf_view(&r->decoded);
    return sn_buf_done(&r->decoded);
}

static seine_err
read_links(seine_extractor *r)
{
    seine_links_reset(r->links);
    seine_err e = seine_links_feed(r->links, r->html.ptr, r->html.len);
    return e == SEINE_OK ? seine_links_end(r->links) : e;
}

/* Makes the tree, and a finder for it. A page that is refused still has its metas. */
static seine_err
parse_html(seine_extractor *r)
{
    seine_tree_opts opts = SEINE_TREE_OPTS;
    seine_err e = SEINE_OK;

    if (r->links)
        seine_links_reset(r->links);
    if (!r->fields->needs_tree)
        return read_links(r);
    if (!r->tree)
        e = seine_tree_new(&r->tree);
    opts.links = r->links;
    opts.gate = r->page->gate;
    if (e == SEINE_OK)
        e = seine_tree_parse(r->tree, r->html.ptr ? r->html.ptr : "", r->html.len, &opts);
    if (e == SEINE_OK)
        return seine_finder_new(r->tree, &r->finder);
    if (!r->links || e == SEINE_E_NOMEM)
        return e;
    seine_err links = read_links(r);
    return links == SEINE_OK ? e : links;
}

/* What the URLs of the page are resolved against: its base, found once. */
static const seine_url *
base_of(seine_extractor *r)
{
    if (r->has_base)
        return &r->base;
    r->has_base = true;
    sn_str href = {NULL, 0};
    for (seine_node n = 1; !href.ptr && n < seine_tree_size(r->tree); n++)
        if (seine_node_is(r->tree, n, "base"))
            href = seine_node_attr(r->tree, n, "href");
    if (!sn_base_url(href, &r->page_url, &r->base) &&
        seine_url_copy(&r->base, &r->page_url) != SEINE_OK)
        seine_url_init(&r->base, r->base_mem, sizeof r->base_mem);
    return &r->base;
}

/* Counts what looking at a node costs: its bytes in the page and its nodes. */
static seine_err
may_look(seine_extractor *r, seine_node n)
{
    seine_node end = seine_node_end(r->tree, n);
    size_t from = seine_node_offset(r->tree, n), to = r->html.len;

    if (end < seine_tree_size(r->tree))
        to = seine_node_offset(r->tree, end);
    uint64_t cost = (to > from ? to - from : 0) + (uint64_t)NODE_COST * (end - n);
    if (cost > r->steps)
        return SEINE_E_SELECTOR_TIMEOUT;
    r->steps -= cost;
    return SEINE_OK;
}

static seine_err
add_node(seine_extractor *r, const sn_extract_field *f, seine_node n)
{
    bool is_short =
        f->attr && strcmp(f->attr, "text") != 0 && strcmp(f->attr, "html") != 0;
    seine_err e = is_short ? SEINE_OK : may_look(r, n);
    bool is_url = is_short && sn_extract_is_url(f->attr), has;
    seine_text text;

    if (e == SEINE_OK)
        e = seine_extract_value(r->tree, n, f->attr, is_url ? base_of(r) : NULL, &text,
                                &has);
    if (e != SEINE_OK || !has)
        return e;
    e = add_string(r, (sn_str){text.bytes, text.len});
    seine_text_free(&text);
    return e;
}

static seine_err
read_css(seine_extractor *r, const sn_extract_field *f)
{
    seine_node n = 0;
    seine_err e = SEINE_OK;

    begin_list(r, f->name);
    while (e == SEINE_OK &&
           (e = seine_finder_next(r->finder, f->select, 0, &n)) == SEINE_OK && n != 0)
        e = add_node(r, f, n);
    end_list(r);
    return e;
}

static seine_err
read_text(seine_extractor *r, const sn_extract_field *f)
{
    seine_text text;
    seine_err e = seine_node_words(r->tree, 0, &text);

    if (e != SEINE_OK)
        return e;
    size_t from = r->data.len;
    put_name(r, f->name);
    put_string(&r->data, (sn_str){text.bytes, text.len});
    seine_text_free(&text);
    if (r->data.len <= MOST_DATA)
        return SEINE_OK;
    sn_buf_truncate(&r->data, from);
    return SEINE_E_BUDGET;
}

static seine_err
put_meta(seine_extractor *r, const seine_meta *m)
{
    size_t from = r->data.len;

    sn_buf_char(&r->data, '{');
    put_string(&r->data, sn_str_of(m->attr));
    sn_buf_char(&r->data, ':');
    put_string(&r->data, m->name);
    sn_buf_text(&r->data, ",\"content\":");
    put_string(&r->data, m->content);
    sn_buf_char(&r->data, '}');
    return end_value(r, from);
}

static seine_err
read_metas(seine_extractor *r, const sn_extract_field *f)
{
    seine_err e = SEINE_OK;
    seine_meta m;

    begin_list(r, f->name);
    for (size_t i = 0; e == SEINE_OK && seine_links_meta(r->links, i, &m); i++) {
        if (f->text && sn_str_eq_nocase(m.name, sn_str_of(f->text))) {
            e = add_string(r, m.content);
        } else if (!f->text) {
            e = may_keep(r, m.name.len + m.content.len);
            if (e == SEINE_OK)
                e = put_meta(r, &m);
        }
    }
    end_list(r);
    return e;
}

/* A script that is no JSON is a string. */
static seine_err
read_jsonld(seine_extractor *r, const sn_extract_field *f)
{
    seine_err e = SEINE_OK;
    seine_view v;

    begin_list(r, f->name);
    for (size_t i = 0; e == SEINE_OK && seine_links_jsonld(r->links, i, &v); i++) {
        seine_json *json = NULL;
        seine_err parsed = seine_json_parse(v.ptr, v.len, &json, NULL);

        if (parsed == SEINE_E_NOMEM)
            e = parsed;
        else
            e = parsed == SEINE_OK ? add_json(r, json) : add_string(r, v);
        seine_json_free(json);
    }
    end_list(r);
    return e;
}

static seine_err
read_field(seine_extractor *r, const sn_extract_field *f)
{
    switch (f->what) {
    case SEINE_EXTRACT_CSS:
        return r->finder ? read_css(r, f) : SEINE_OK;
    case SEINE_EXTRACT_TEXT:
        return r->finder ? read_text(r, f) : SEINE_OK;
    case SEINE_EXTRACT_META:
        return read_metas(r, f);
    case SEINE_EXTRACT_JSONLD:
        return read_jsonld(r, f);
    case SEINE_EXTRACT_POINTER:
    default:
        return SEINE_OK;
    }
}

static seine_err
read_html(seine_extractor *r)
{
    seine_err e = decode_html(r);

    if (e != SEINE_OK)
        return e;
    r->left = (4 + r->fields->count) * (uint64_t)r->html.len + KEPT_BYTES;
    r->steps = (8 + r->fields->count) * (uint64_t)r->html.len + SEEN_BYTES;
    e = parse_html(r);
    if (e == SEINE_E_NOMEM)
        return e;
    for (size_t i = 0; i < r->fields->count; i++) {
        seine_err one = read_field(r, &r->fields->fields[i]);

        e = e == SEINE_OK ? one : e;
    }
    return e;
}

/* The page. */

/* The kind that the first byte tells. */
static unsigned
kind_of(sn_str body)
{
    size_t i = sn_str_starts(body, SN_STR("\xef\xbb\xbf")) ? 3 : 0;

    while (i < body.len && sn_is_space(body.ptr[i]))
        i++;
    if (i == body.len)
        return 0;
    if (body.ptr[i] == '<')
        return SEINE_EXTRACT_HTML;
    return body.ptr[i] == '{' || body.ptr[i] == '[' ? SEINE_EXTRACT_JSON : 0;
}

static unsigned
how_to_read(const seine_extractor *r, const seine_extract_page *p)
{
    unsigned as = p->as ? p->as : sn_extract_kinds(p->content_type);
    bool is_named =
        p->content_type.ptr && !sn_str_eq(p->content_type, SN_STR("text/plain"));

    if (!p->as && !is_named)
        as &= kind_of(p->body);
    if (!r->fields->needs_tree && !r->fields->needs_links)
        as &= ~(unsigned)SEINE_EXTRACT_HTML;
    return r->fields->has_pointers ? as : as & ~(unsigned)SEINE_EXTRACT_JSON;
}

static seine_err
begin_page(seine_extractor *r, const seine_extract_page *p)
{
    r->page = p;
    r->taken = 0;
    r->has_base = false;
    r->left = (4 + r->fields->count) * (uint64_t)p->body.len + KEPT_BYTES;
    seine_url_init(&r->page_url, r->page_mem, sizeof r->page_mem);
    seine_url_init(&r->base, r->base_mem, sizeof r->base_mem);
    if (p->url.ptr &&
        seine_url_parse(&r->page_url, p->url.ptr, p->url.len, NULL) != SEINE_OK)
        return SEINE_E_INVAL;
    sn_buf_char(&r->data, '{');
    return SEINE_OK;
}

/* Gives back what a large page took, but for the data. */
static void
end_page(seine_extractor *r)
{
    const seine_tree_gate *g = r->page->gate;

    seine_finder_free(r->finder);
    r->finder = NULL;
    if (r->html.len > PAGE_REST) {
        seine_tree_free(r->tree);
        r->tree = NULL;
    }
    empty(&r->decoded, PAGE_REST);
    if (g && r->taken > 0)
        g->give(r->taken, g->arg);
    r->page = NULL;
    r->html = (sn_str){0};
}

seine_err
seine_extractor_read(seine_extractor *r, const seine_extract_page *page,
                     seine_view *out_data)
{
    if (!r || !sn_opts_fit(page, sizeof *page) || !out_data)
        return SEINE_E_INVAL;
    unsigned as = how_to_read(r, page);

    *out_data = (seine_view){NULL, 0};
    empty(&r->data, DATA_REST);
    if (as == 0)
        return SEINE_OK;
    seine_err e = begin_page(r, page);
    if (e != SEINE_OK)
        return e;
    if (as & SEINE_EXTRACT_JSON)
        e = read_json(r);
    if (as & SEINE_EXTRACT_HTML && e != SEINE_E_NOMEM) {
        seine_err html = read_html(r);

        e = e == SEINE_OK ? html : e;
    }
    end_page(r);
    sn_buf_char(&r->data, '}');
    if (sn_buf_done(&r->data) != SEINE_OK)
        return SEINE_E_NOMEM;
    *out_data = sn_buf_view(&r->data);
    return e;
}
