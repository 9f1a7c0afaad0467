/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of links: destinations, titles, labels and definitions, and raw HTML
 * (CommonMark 0.31, sections 4.7, 6.3 and 6.6). */
#include <string.h>

#include "text/markdown.h"
#include "text/unicode.h"

enum { PARENS = 32, LABEL = 999, REFERENCE = 40 };

static bool
is_punctuation(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* Returns the length of a character reference such as &amp; at the beginning, or 0. */
static size_t
reference_of(sn_str s)
{
    size_t n = 1;

    while (n < s.len && n < REFERENCE &&
           (sn_is_alpha(s.ptr[n]) || sn_is_digit(s.ptr[n]) || s.ptr[n] == '#'))
        n++;
    return n > 1 && n < s.len && s.ptr[n] == ';' ? n + 1 : 0;
}

void
sn_markdown_decode(sn_buf *out, sn_str raw)
{
    for (size_t i = 0; i < raw.len;) {
        sn_str s = sn_str_slice(raw, i, raw.len);
        size_t n = s.ptr[0] == '&' ? reference_of(s) : 0;

        if (n > 0) {
            sn_html_decode(out, sn_str_slice(s, 0, n), false, SIZE_MAX);
            i += n;
            continue;
        }
        i += s.ptr[0] == '\\' && s.len > 1 && is_punctuation(s.ptr[1]);
        sn_buf_char(out, raw.ptr[i++]);
    }
}

/* <…>, which may hold blanks */
static size_t
pointed_destination(sn_str text, size_t at, sn_str *out_value)
{
    for (size_t i = at + 1; i < text.len; i++) {
        char c = text.ptr[i];

        if (c == '\n' || c == '<')
            return 0;
        if (c == '>') {
            *out_value = sn_str_slice(text, at + 1, i);
            return i + 1;
        }
        i += c == '\\' && i + 1 < text.len && text.ptr[i + 1] != '\n';
    }
    return 0;
}

size_t
sn_markdown_destination(sn_str text, size_t at, sn_str *out_value)
{
    size_t i = at, open = 0;

    if (at < text.len && text.ptr[at] == '<')
        return pointed_destination(text, at, out_value);
    for (; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c <= ' ' || c == 0x7f)
            break;
        if (c == '\\' && i + 1 < text.len && is_punctuation(text.ptr[i + 1])) {
            i++;
        } else if (c == '(') {
            if (++open > PARENS)
                return 0;
        } else if (c == ')') {
            if (open == 0)
                break;
            open--;
        }
    }
    if (open > 0)
        return 0;
    *out_value = sn_str_slice(text, at, i);
    return i > at ? i : 0;
}

size_t
sn_markdown_title(sn_str text, size_t at)
{
    char close;

    if (at >= text.len || !memchr("\"'(", text.ptr[at], 3))
        return 0;
    close = text.ptr[at] == '(' ? ')' : text.ptr[at];
    for (size_t i = at + 1; i < text.len; i++) {
        if (text.ptr[i] == close)
            return i + 1;
        if (close == ')' && text.ptr[i] == '(')
            return 0;
        i += text.ptr[i] == '\\' && i + 1 < text.len;
    }
    return 0;
}

void
sn_markdown_renew(sn_markdown *m, sn_buf *b)
{
    if (sn_buf_done(b) != SEINE_OK)
        m->err = sn_buf_done(b);
    sn_buf_reset(b);
}

/* Definitions */

/* Appends a label as labels are compared: lower case, blanks collapsed. */
static void
normalize(sn_buf *out, sn_str label)
{
    bool gap = false;

    for (sn_str rest = sn_str_trim(label); rest.len > 0;) {
        uint32_t c = 0;
        size_t n = sn_utf8_decode(rest, &c);
        sn_str one = sn_str_slice(rest, 0, n > 0 ? n : 1);

        rest = sn_str_slice(rest, one.len, rest.len);
        if (sn_is_space(one.ptr[0])) {
            gap = true;
            continue;
        }
        if (gap)
            sn_buf_char(out, ' ');
        gap = false;
        if (n == 0)
            sn_buf_str(out, one);
        else
            sn_unicode_add(out, sn_unicode_lower(c));
    }
}

bool
sn_markdown_lookup(sn_markdown *m, sn_str label, sn_str *out_value)
{
    if (label.len > LABEL || m->definitions.count == 0)
        return false;
    sn_markdown_renew(m, &m->scratch);
    normalize(&m->scratch, label);
    if (sn_buf_done(&m->scratch) != SEINE_OK || m->scratch.len == 0)
        return false;
    const sn_str *value = sn_map_get(&m->definitions, sn_buf_view(&m->scratch));
    if (value)
        *out_value = *value;
    return value != NULL;
}

static void
define(sn_markdown *m, sn_str label, sn_str destination)
{
    sn_markdown_renew(m, &m->scratch);
    normalize(&m->scratch, label);
    if (!m->defining || m->scratch.len == 0)
        return;
    sn_str key = {sn_arena_text(&m->names, sn_buf_view(&m->scratch)), m->scratch.len};
    sn_markdown_renew(m, &m->scratch);
    sn_markdown_decode(&m->scratch, destination);
    sn_str *value = SN_ARENA_NEW(&m->names, sn_str);
    char *copy = sn_arena_text(&m->names, sn_buf_view(&m->scratch));
    if (!key.ptr || !value || !copy) {
        m->err = SEINE_E_NOMEM;
        return;
    }
    *value = (sn_str){copy, m->scratch.len};
    seine_err e = sn_map_add(&m->definitions, key, value);
    if (e == SEINE_E_NOMEM) /* the first of two counts, and so many are enough */
        m->err = e;
}

static size_t
skip_blanks(sn_str text, size_t at)
{
    while (at < text.len && (text.ptr[at] == ' ' || text.ptr[at] == '\t'))
        at++;
    return at;
}

/* Blanks and at most one line end. */
static size_t
skip_gap(sn_str text, size_t at)
{
    at = skip_blanks(text, at);
    if (at < text.len && text.ptr[at] == '\n')
        at = skip_blanks(text, at + 1);
    return at;
}

/* Returns where the label ends that begins at `at`, behind its bracket; or 0. */
static size_t
label_end(sn_str text, size_t at)
{
    size_t i = at + 1;

    for (; i < text.len && text.ptr[i] != ']'; i++) {
        if (text.ptr[i] == '[' || i - at > LABEL)
            return 0;
        i += text.ptr[i] == '\\' && i + 1 < text.len;
    }
    return i < text.len ? i + 1 : 0;
}

static bool
is_line_end(sn_str text, size_t at)
{
    at = skip_blanks(text, at);
    return at == text.len || text.ptr[at] == '\n';
}

/* One definition at `at`; returns where the next line begins, or 0. */
static size_t
definition(sn_markdown *m, sn_str text, size_t at)
{
    size_t end = text.ptr[at] == '[' ? label_end(text, at) : 0;
    sn_str label, value;

    if (end == 0 || end == text.len || text.ptr[end] != ':' || text.ptr[at + 1] == '^')
        return 0;
    label = sn_str_slice(text, at + 1, end - 1);
    size_t from = skip_gap(text, end + 1);
    size_t to = sn_markdown_destination(text, from, &value);
    if (to == 0 || sn_str_trim(label).len == 0)
        return 0;
    size_t gap = skip_gap(text, to), title = gap > to ? sn_markdown_title(text, gap) : 0;
    if (title > 0 && is_line_end(text, title))
        to = title;
    if (!is_line_end(text, to))
        return 0;
    define(m, label, value);
    to = skip_blanks(text, to);
    return to < text.len ? to + 1 : to;
}

size_t
sn_markdown_definitions(sn_markdown *m)
{
    sn_str text = sn_buf_view(&m->text);
    size_t at = 0, next;

    while (at < text.len && (next = definition(m, text, at)) > 0)
        at = next;
    return at;
}

/* Raw HTML */

bool
sn_markdown_is_filtered(sn_str tag)
{
    static const sn_str names[] = {{"title", 5},  {"textarea", 8}, {"style", 5},
                                   {"xmp", 3},    {"iframe", 6},   {"noembed", 7},
                                   {"script", 6}, {"noframes", 8}, {"plaintext", 9}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_str_eq_nocase(tag, names[i]))
            return true;
    return false;
}

static size_t
skip_space(sn_str s, size_t at)
{
    while (at < s.len && sn_is_space(s.ptr[at]))
        at++;
    return at;
}

static bool
is_name_char(char c, bool is_first)
{
    if (sn_is_alpha(c) || c == '_' || c == ':')
        return true;
    return !is_first && (sn_is_digit(c) || c == '.' || c == '-');
}

/* The value of an attribute; 0: it is not valid. */
static size_t
attribute_value(sn_str s, size_t at)
{
    if (at == s.len)
        return 0;
    if (s.ptr[at] == '"' || s.ptr[at] == '\'') {
        const char *end = memchr(s.ptr + at + 1, s.ptr[at], s.len - at - 1);

        return end ? (size_t)(end - s.ptr) + 1 : 0;
    }
    size_t i = at;
    while (i < s.len && !sn_is_space(s.ptr[i]) && !memchr("\"'=<>`", s.ptr[i], 6))
        i++;
    return i > at ? i : 0;
}

/* The attributes of a start tag; 0: one of them is not valid. */
static size_t
attributes(sn_str s, size_t at)
{
    for (;;) {
        size_t name = skip_space(s, at), end = name;

        while (end < s.len && is_name_char(s.ptr[end], end == name))
            end++;
        if (end == name)
            return name;
        if (name == at)
            return 0;
        size_t equals = skip_space(s, end);
        at = end;
        if (equals < s.len && s.ptr[equals] == '=' &&
            (at = attribute_value(s, skip_space(s, equals + 1))) == 0)
            return 0;
    }
}

static size_t
tag(sn_str s, size_t at)
{
    bool is_end = at + 1 < s.len && s.ptr[at + 1] == '/';
    size_t i = at + 1 + is_end;

    if (i == s.len || !sn_is_alpha(s.ptr[i]))
        return 0;
    while (i < s.len &&
           (sn_is_alpha(s.ptr[i]) || sn_is_digit(s.ptr[i]) || s.ptr[i] == '-'))
        i++;
    if (is_end)
        i = skip_space(s, i);
    else if ((i = attributes(s, i)) == 0)
        return 0;
    i += !is_end && i < s.len && s.ptr[i] == '/';
    return i < s.len && s.ptr[i] == '>' ? i + 1 : 0;
}

/* Looks for the end once; `missing` remembers that there is none behind. */
static size_t
up_to(sn_str s, size_t at, const char *end, bool *missing)
{
    size_t n = strlen(end);
    const char *found =
        *missing || at > s.len ? NULL : memmem(s.ptr + at, s.len - at, end, n);

    *missing = !found;
    return found ? (size_t)(found - s.ptr) + n : 0;
}

size_t
sn_markdown_html(sn_markdown *m, sn_str text, size_t at)
{
    sn_str s = sn_str_slice(text, at, text.len);

    if (sn_str_starts(s, SN_STR("<!-->")))
        return at + 5;
    if (sn_str_starts(s, SN_STR("<!--->")))
        return at + 6;
    if (sn_str_starts(s, SN_STR("<!--")))
        return up_to(text, at + 4, "-->", &m->no_comment_end);
    if (sn_str_starts(s, SN_STR("<?")))
        return up_to(text, at + 2, "?>", &m->no_instruction_end);
    if (sn_str_starts(s, SN_STR("<![CDATA[")))
        return up_to(text, at + 9, "]]>", &m->no_cdata_end);
    if (s.len > 2 && s.ptr[1] == '!' && sn_is_alpha(s.ptr[2]))
        return up_to(text, at + 2, ">", &m->no_tag_end);
    return tag(text, at);
}
