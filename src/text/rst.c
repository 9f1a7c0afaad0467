/* SPDX-License-Identifier: Apache-2.0 */
#include "text/rst.h"

#include <string.h>

#include "text/bare_url.h"

enum { LINES = 1 << 20, TITLE = 4096 };

#define NOTHING_SKIPPED UINT32_MAX

/* A line of the paragraph. */
typedef struct part {
    size_t at, offset; /* in the paragraph, in the document */
    uint32_t line, col;
} part;

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static sn_str
text_of(const sn_rst *r, const sn_rst_line *l)
{
    return (sn_str){r->doc.ptr + l->text, l->end - l->text};
}

/* Telling */

/* Empties the buffer; what could not be added before is not forgotten. */
static void
renew_scratch(sn_rst *r)
{
    if (sn_buf_done(&r->scratch) != SEINE_OK)
        r->err = sn_buf_done(&r->scratch);
    sn_buf_reset(&r->scratch);
}

static void
tell_link(sn_rst *r, const char *tag, sn_str value, sn_str text, part place)
{
    bool is_image = tag[0] == 'i';
    sn_doc_event e = {.tag = tag,
                      .attr = is_image ? "src" : "href",
                      .value = value,
                      .text = sn_str_slice(text, 0, 256),
                      .offset = place.offset,
                      .line = place.line,
                      .col = place.col};

    if (value.len > 0)
        r->to.fn(r->to.user, &e);
}

static void
tell_anchor(sn_rst *r, sn_str name)
{
    sn_doc_event e = {.is_anchor = true, .value = name, .line = r->line.no, .col = 1};

    if (name.len > 0)
        r->to.fn(r->to.user, &e);
}

/* Tells the names of a target: as it is written, and as docutils writes it. */
static void
tell_target(sn_rst *r, sn_str name)
{
    tell_anchor(r, name);
    renew_scratch(r);
    sn_anchor_docutils(sn_str_slice(name, 0, TITLE), &r->scratch);
    tell_anchor(r, sn_buf_view(&r->scratch));
}

static void
tell_numbered(sn_rst *r, sn_anchors *a)
{
    seine_err e = sn_anchors_number(a, &r->scratch);

    if (e != SEINE_OK)
        r->err = e;
    else
        tell_anchor(r, sn_buf_view(&r->scratch));
}

/* A place in the line being read. */
static part
place_of(const sn_rst *r, size_t offset)
{
    return (part){0, offset, r->line.no, (uint32_t)(offset - r->line.at) + 1};
}

/* The text of a paragraph */

static part
part_at(const sn_rst *r, size_t at)
{
    const part *all = (const part *)(const void *)r->lines.ptr;
    size_t from = 0, to = r->lines.len / sizeof *all;

    while (to - from > 1) {
        size_t mid = (from + to) / 2;

        if (all[mid].at <= at)
            from = mid;
        else
            to = mid;
    }
    size_t more = at - all[from].at;
    return (part){at, all[from].offset + more, all[from].line,
                  all[from].col + (uint32_t)more};
}

/* Appends a URL: a backslash goes, and so do line ends and the blanks around them. */
static void
add_url(sn_buf *out, sn_str raw)
{
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.ptr[i] == '\\' && i + 1 < raw.len)
            i++;
        if (!sn_is_space(raw.ptr[i]))
            sn_buf_char(out, raw.ptr[i]);
    }
}

/* Appends the words with one blank between them. */
static void
add_words(sn_buf *out, sn_str raw)
{
    raw = sn_str_trim(raw);
    for (size_t i = 0; i < raw.len; i++)
        if (!sn_is_space(raw.ptr[i]))
            sn_buf_char(out, raw.ptr[i]);
        else if (!sn_is_space(raw.ptr[i - 1]))
            sn_buf_char(out, ' ');
}

/* Tells a link whose value, and behind it the text, are in the scratch buffer. */
static void
tell_scratch(sn_rst *r, const char *tag, size_t value, part place)
{
    sn_str all = sn_buf_view(&r->scratch);

    tell_link(r, tag, sn_str_slice(all, 0, value), sn_str_slice(all, value, all.len),
              place);
}

/* `text <url>`_ : the inside of the quotes. */
static void
read_phrase(sn_rst *r, sn_str inner, size_t at)
{
    size_t open = inner.len;

    if (inner.len < 3 || inner.ptr[inner.len - 1] != '>')
        return;
    while (open > 0 && inner.ptr[open - 1] != '<')
        open--;
    if (open == 0 || (open > 1 && !sn_is_space(inner.ptr[open - 2])))
        return;
    sn_str url = sn_str_slice(inner, open, inner.len - 1);
    if (url.len > 0 && url.ptr[url.len - 1] == '_' &&
        !(url.len > 1 && url.ptr[url.len - 2] == '\\'))
        return; /* another name, not a URL */
    renew_scratch(r);
    add_url(&r->scratch, url);
    size_t n = r->scratch.len;
    add_words(&r->scratch, sn_str_slice(inner, 0, open - 1));
    tell_scratch(r, "a", n, part_at(r, at));
}

/* Returns where the text ends that is quoted from `at` on; 0: it is not closed. */
static size_t
quote_end(sn_str s, size_t at, sn_str quote, bool *missing)
{
    const char *end =
        *missing ? NULL : memmem(s.ptr + at, s.len - at, quote.ptr, quote.len);

    *missing = !end;
    return end ? (size_t)(end - s.ptr) : 0;
}

typedef struct reading {
    sn_str s;
    size_t at;
    bool no_literal, no_quote; /* behind `at` none ends */
} reading;

/* The role before the backquote at `at`: "std:doc" of :std:doc:`x`; empty: none. */
static sn_str
role_before(sn_str s, size_t at)
{
    enum { LONGEST = 64 };
    size_t end = at > 0 && s.ptr[at - 1] == ':' ? at - 1 : 0, from = end;

    while (from > 0 && end - from < LONGEST && s.ptr[from - 1] != '`' &&
           (unsigned char)s.ptr[from - 1] > ' ')
        from--;
    if (from == end || s.ptr[from] != ':') { /* other text may stand before it */
        while (from < end && s.ptr[from] != ':')
            from++;
        if (from == end)
            return (sn_str){"", 0};
    }
    return sn_str_slice(s, from + 1, end);
}

/* The roles of Sphinx that lead somewhere, and the tag of such a link. */
static const char *
tag_of_role(sn_str role)
{
    static const struct {
        sn_str role;
        const char *tag;
    } rows[] = {{{"doc", 3}, "doc"},
                {{"std:doc", 7}, "doc"},
                {{"ref", 3}, "ref"},
                {{"std:ref", 7}, "ref"},
                {{"download", 8}, "a"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sn_str_eq(role, rows[i].role))
            return rows[i].tag;
    return NULL;
}

/* :role:`target` or :role:`text <target>`: the inside of the quotes. */
static void
read_role(sn_rst *r, const char *tag, sn_str inner, size_t at)
{
    sn_str target = inner, text = {"", 0};
    size_t open = inner.len;

    if (inner.len > 2 && inner.ptr[inner.len - 1] == '>') {
        while (open > 0 && inner.ptr[open - 1] != '<')
            open--;
        if (open > 1) {
            target = sn_str_slice(inner, open, inner.len - 1);
            text = sn_str_slice(inner, 0, open - 1);
        }
    }
    if (sn_str_starts(inner, SN_STR("!")))
        return; /* no link, by request */
    renew_scratch(r);
    add_words(&r->scratch, target);
    size_t n = r->scratch.len;
    add_words(&r->scratch, text);
    tell_scratch(r, tag, n, part_at(r, at));
}

/* Backquotes at in->at: a literal, a role or a phrase. */
static void
read_quote(sn_rst *r, reading *in)
{
    sn_str s = in->s, rest = sn_str_slice(s, in->at, s.len);
    size_t from, to;

    if (sn_str_starts(rest, SN_STR("``"))) {
        to = in->at + 2 <= s.len ? quote_end(s, in->at + 2, SN_STR("``"), &in->no_literal)
                                 : 0;
        in->at = to > 0 ? to + 2 : in->at + 2;
        return;
    }
    from = in->at + 1;
    to = quote_end(s, from, SN_STR("`"), &in->no_quote);
    if (to == 0) {
        in->at++;
        return;
    }
    sn_str role = role_before(s, in->at);
    bool is_role = in->at > 0 && s.ptr[in->at - 1] == ':';
    bool is_target = in->at > 0 && s.ptr[in->at - 1] == '_' &&
                     (in->at == 1 || sn_is_space(s.ptr[in->at - 2]));
    if (is_target)
        tell_target(r, sn_str_slice(s, from, to));
    else if (tag_of_role(role))
        read_role(r, tag_of_role(role), sn_str_slice(s, from, to), in->at - role.len - 2);
    else if (!is_role && to + 1 < s.len && s.ptr[to + 1] == '_')
        read_phrase(r, sn_str_slice(s, from, to), in->at);
    in->at = to + 1;
}

static void
read_text(sn_rst *r)
{
    reading in = {.s = sn_buf_view(&r->text)};

    if (sn_buf_done(&r->text) != SEINE_OK || sn_buf_done(&r->lines) != SEINE_OK)
        return;
    while (in.at < in.s.len) {
        char c = in.s.ptr[in.at];
        sn_str url;

        if (c == '\\') {
            in.at += 2;
        } else if (c == '`') {
            read_quote(r, &in);
        } else if ((c == 'h' || c == 'H' || c == 'w' || c == 'W') &&
                   sn_bare_url(in.s, in.at, &url)) {
            renew_scratch(r);
            if (sn_bare_url_is_short(url))
                sn_buf_text(&r->scratch, "http://");
            add_url(&r->scratch, url);
            tell_link(r, "a", sn_buf_view(&r->scratch), url, part_at(r, in.at));
            in.at += url.len;
        } else {
            in.at++;
        }
    }
}

static void
end_paragraph(sn_rst *r)
{
    if (r->text.len > 0)
        read_text(r);
    sn_buf_truncate(&r->text, 0);
    sn_buf_truncate(&r->lines, 0);
}

/* Adds the rest of the line, from `at` on, to the paragraph. */
static void
add_text(sn_rst *r, size_t at)
{
    part p = place_of(r, at);

    if (r->lines.len / sizeof p == LINES)
        end_paragraph(r);
    if (r->text.len > 0)
        sn_buf_char(&r->text, '\n');
    p.at = r->text.len;
    sn_buf_add(&r->lines, &p, sizeof p);
    sn_buf_add(&r->text, r->doc.ptr + at, r->line.end - at);
}

/* Sections */

static bool
is_adornment(sn_str s)
{
    if (s.len == 0 || sn_is_alpha(s.ptr[0]) || sn_is_digit(s.ptr[0]) ||
        (unsigned char)s.ptr[0] <= ' ' || (unsigned char)s.ptr[0] >= 0x7f)
        return false;
    for (size_t i = 1; i < s.len; i++)
        if (s.ptr[i] != s.ptr[0])
            return false;
    return true;
}

static size_t
count_chars(sn_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    return n;
}

/* Appends a title without the marks of inline markup and where its links lead. */
static void
add_plain(sn_buf *out, sn_str title)
{
    for (size_t i = 0; i < title.len; i++) {
        char c = title.ptr[i];

        if (c == '<' && sn_str_ends(sn_str_slice(title, i, title.len), SN_STR(">`_"))) {
            return; /* where it leads, and the title ends with that */
        } else if (c == '\\' && i + 1 < title.len) {
            sn_buf_char(out, title.ptr[++i]);
        } else if (c == '`') {
            i += i + 1 < title.len && title.ptr[i + 1] == '_';
        } else {
            sn_buf_char(out, c);
        }
    }
}

/* The line above this adornment is a title. */
static void
read_title(sn_rst *r)
{
    sn_str title = sn_str_slice(sn_str_trim(text_of(r, &r->title)), 0, TITLE);
    sn_buf plain;

    sn_buf_init(&plain, 4 * TITLE);
    add_plain(&plain, title);
    if (sn_buf_done(&plain) != SEINE_OK)
        r->err = sn_buf_done(&plain);
    renew_scratch(r);
    sn_anchor_docutils(sn_buf_view(&plain), &r->scratch);
    if (r->scratch.len > 0)
        tell_numbered(r, &r->anchors);
    renew_scratch(r);
    sn_anchor_github(sn_buf_view(&plain), &r->scratch);
    tell_numbered(r, &r->slugs);
    sn_buf_fini(&plain);
    end_paragraph(r); /* a title may hold links, too */
}

/* Explicit markup */

/* Reads ".. name:: argument"; `s` begins behind ".. ". False: it is no directive. */
static bool
read_directive(sn_rst *r, sn_str s)
{
    const char *colons = s.len > 1 ? memmem(s.ptr, s.len, "::", 2) : NULL;
    sn_str name = sn_str_slice(s, 0, colons ? (size_t)(colons - s.ptr) : 0);
    sn_str argument = sn_str_trim(sn_str_slice(s, name.len + 2, s.len));

    for (size_t i = 0; i < name.len; i++)
        if (sn_is_space(name.ptr[i]))
            return false;
    if (name.len == 0)
        return false;
    size_t colon = name.len;
    while (colon > 0 && name.ptr[colon - 1] != ':')
        colon--; /* of "py:function" */
    part place = place_of(r, (size_t)(argument.ptr - r->doc.ptr));
    if (sn_str_is_among(name, "image figure"))
        tell_link(r, "img", argument, (sn_str){"", 0}, place);
    else if (sn_str_is_among(name, "include literalinclude") && argument.len > 0 &&
             argument.ptr[0] != '<')
        tell_link(r, "a", argument, (sn_str){"", 0}, place);
    if (sn_str_is_among(
            name, "code code-block sourcecode highlight literalinclude math raw "
                  "parsed-literal productionlist prompt doctest testcode testoutput "
                  "graphviz digraph graph uml csv-table default-role"))
        r->skip = r->line.indent;
    return true;
}

/* Reads "_name: url"; `s` begins with the low line. */
static void
read_explicit_target(sn_rst *r, sn_str s)
{
    size_t end = 1;

    if (s.len > 1 && s.ptr[1] == '`') {
        const char *close = memchr(s.ptr + 2, '`', s.len - 2);

        end = close ? (size_t)(close - s.ptr) + 1 : s.len;
    } else {
        for (; end < s.len && s.ptr[end] != ':'; end++)
            end += s.ptr[end] == '\\' && end + 1 < s.len;
    }
    if (end >= s.len || s.ptr[end] != ':')
        return;
    sn_str name = sn_str_slice(s, 1, end);
    if (name.len > 1 && name.ptr[0] == '`')
        name = sn_str_slice(name, 1, name.len - 1);
    sn_str url = sn_str_trim(sn_str_slice(s, end + 1, s.len));
    bool is_alias = url.len > 0 && url.ptr[url.len - 1] == '_' &&
                    !(url.len > 1 && url.ptr[url.len - 2] == '\\');
    if (name.len > 0 && name.ptr[0] != '_')
        tell_target(r, name);
    if (url.len == 0 || is_alias)
        return;
    renew_scratch(r);
    add_url(&r->scratch, url);
    tell_link(r, "a", sn_buf_view(&r->scratch), name,
              place_of(r, (size_t)(s.ptr - r->doc.ptr)));
}

/* Reads a line that begins with "..". */
static void
read_explicit(sn_rst *r)
{
    sn_str s = text_of(r, &r->line);

    end_paragraph(r);
    s = sn_str_trim(sn_str_slice(s, 2, s.len));
    if (s.len > 0 && s.ptr[0] == '_') {
        read_explicit_target(r, s);
        return;
    }
    if (s.len > 0 && s.ptr[0] == '|') { /* |name| image:: file */
        const char *bar = memchr(s.ptr + 1, '|', s.len - 1);

        if (bar)
            s = sn_str_trim(sn_str_slice(s, (size_t)(bar - s.ptr) + 1, s.len));
    }
    if (s.len > 0 && s.ptr[0] == '[') { /* a footnote or citation */
        add_text(r, (size_t)(s.ptr - r->doc.ptr));
        return;
    }
    if (!read_directive(r, s))
        r->skip = r->line.indent; /* a comment */
}

/* ":target: url" of an image. True: it was one. */
static bool
read_option(sn_rst *r, sn_str s)
{
    if (!sn_str_starts(s, SN_STR(":target:")))
        return false;
    sn_str url = sn_str_trim(sn_str_slice(s, 8, s.len));
    if (url.len > 0 && url.ptr[url.len - 1] != '_')
        tell_link(r, "a", url, (sn_str){"", 0},
                  place_of(r, (size_t)(url.ptr - r->doc.ptr)));
    return true;
}

/* Lines */

static bool
next_line(sn_rst *r)
{
    if (r->next >= r->doc.len)
        return false;
    const char *end = memchr(r->doc.ptr + r->next, '\n', r->doc.len - r->next);
    sn_rst_line l = {.at = r->next,
                     .end = end ? (size_t)(end - r->doc.ptr) : r->doc.len,
                     .no = r->line.no + 1};

    r->next = end ? l.end + 1 : l.end;
    while (l.end > l.at &&
           (is_blank(r->doc.ptr[l.end - 1]) || r->doc.ptr[l.end - 1] == '\r'))
        l.end--;
    for (l.text = l.at; l.text < l.end && is_blank(r->doc.ptr[l.text]); l.text++)
        l.indent = r->doc.ptr[l.text] == '\t' ? (l.indent / 8 + 1) * 8 : l.indent + 1;
    r->line = l;
    return true;
}

static void
read_blank_line(sn_rst *r)
{
    end_paragraph(r);
    r->has_title = false;
    if (r->is_literal)
        r->skip = r->paragraph;
    r->is_literal = false;
}

/* Whether the line is inside of a block that is skipped. */
static bool
is_skipped(sn_rst *r)
{
    if (r->skip == NOTHING_SKIPPED)
        return false;
    if (r->line.indent > r->skip)
        return true;
    r->skip = NOTHING_SKIPPED;
    return false;
}

/* Whether the adornment makes the line above it a title. */
static bool
is_underline(const sn_rst *r, sn_str s)
{
    if (!r->has_title || !is_adornment(s) || r->line.indent > 0)
        return false;
    sn_str title = text_of(r, &r->title);
    return !is_adornment(title) && (s.len >= 4 || s.len >= count_chars(title));
}

static void
read_line(sn_rst *r)
{
    sn_str s = text_of(r, &r->line);

    if (s.len == 0) {
        read_blank_line(r);
        return;
    }
    if (is_skipped(r))
        return;
    if (is_underline(r, s)) {
        read_title(r);
        r->has_title = r->is_literal = false;
        return;
    }
    if (is_adornment(s) && s.len >= 4 && r->text.len == 0) {
        r->has_title = false;
        return; /* an overline, a transition or the edge of a table */
    }
    if (sn_str_starts(s, SN_STR(".. ")) || sn_str_eq(s, SN_STR(".."))) {
        read_explicit(r);
        r->has_title = r->is_literal = false;
        return;
    }
    if (sn_str_starts(s, SN_STR("__ "))) {
        sn_str url = sn_str_trim(sn_str_slice(s, 3, s.len));

        tell_link(r, "a", url, (sn_str){"", 0},
                  place_of(r, (size_t)(url.ptr - r->doc.ptr)));
        return;
    }
    if (sn_str_starts(s, SN_STR(">>> "))) {
        end_paragraph(r); /* a session of Python, up to the next blank line */
        r->skip = NOTHING_SKIPPED;
        r->has_title = false;
        while (r->next < r->doc.len && next_line(r) && r->line.end > r->line.text)
            continue;
        return;
    }
    if (read_option(r, s))
        return;
    r->has_title = r->text.len == 0;
    r->title = r->line;
    r->paragraph = r->line.indent;
    r->is_literal = sn_str_ends(s, SN_STR("::"));
    add_text(r, r->line.text);
}

void
sn_rst_init(sn_rst *r)
{
    memset(r, 0, sizeof *r);
    sn_buf_init(&r->text, SN_RST_MAX * 2);
    sn_buf_init(&r->lines, (size_t)LINES * sizeof(part));
    sn_buf_init(&r->scratch, SN_RST_MAX * 2);
    sn_anchors_init(&r->anchors);
    sn_anchors_init(&r->slugs);
}

void
sn_rst_fini(sn_rst *r)
{
    sn_buf_fini(&r->text);
    sn_buf_fini(&r->lines);
    sn_buf_fini(&r->scratch);
    sn_anchors_fini(&r->anchors);
    sn_anchors_fini(&r->slugs);
}

seine_err
sn_rst_read(sn_rst *r, sn_str doc, sn_doc_fn to)
{
    if (doc.len > SN_RST_MAX)
        return SEINE_E_BUDGET;
    r->to = to;
    r->doc = doc;
    r->err = SEINE_OK;
    r->next = sn_str_starts(doc, SN_STR("\xef\xbb\xbf")) ? 3 : 0;
    r->line = (sn_rst_line){.no = 0};
    r->has_title = r->is_literal = false;
    r->skip = NOTHING_SKIPPED;
    sn_buf_reset(&r->text);
    sn_buf_reset(&r->lines);
    sn_buf_reset(&r->scratch);
    sn_anchors_reset(&r->anchors);
    sn_anchors_reset(&r->slugs);
    while (r->err == SEINE_OK && next_line(r))
        read_line(r);
    end_paragraph(r);
    seine_err e = r->err;
    e = e == SEINE_OK ? sn_buf_done(&r->text) : e;
    e = e == SEINE_OK ? sn_buf_done(&r->lines) : e;
    return e == SEINE_OK ? sn_buf_done(&r->scratch) : e;
}
