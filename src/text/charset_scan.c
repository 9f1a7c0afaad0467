/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML Standard's "prescan a byte stream to determine its encoding" (13.2.3.2). */
#include <string.h>

#include "text/charset.h"

typedef struct scan {
    const char *at, *end;
    bool over; /* the input ended inside a construct */
    bool late; /* skips the text of script, style and the like */
} scan;

typedef struct attribute {
    sn_str name, value; /* raw; compared without case */
} attribute;

/* Returns the byte at the cursor. At the end it sets `over` and returns 0. */
static char
here(scan *s)
{
    if (s->at < s->end)
        return *s->at;
    s->over = true;
    return '\0';
}

static void
skip_spaces(scan *s)
{
    while (s->at < s->end && sn_is_space(*s->at))
        s->at++;
}

static sn_str
between(const char *from, const char *to)
{
    return (sn_str){from, (size_t)(to - from)};
}

/* Reads the value after a "="; the cursor is at its first byte. */
static bool
take_value(scan *s, attribute *out)
{
    char quote = here(s);

    if (quote == '"' || quote == '\'') {
        const char *from = ++s->at;

        while (s->at < s->end && *s->at != quote)
            s->at++;
        out->value = between(from, s->at);
        here(s);
        s->at++;
        return !s->over;
    }
    const char *from = s->at;
    while (!s->over && here(s) != '>' && !sn_is_space(here(s)))
        s->at++;
    out->value = between(from, s->at);
    return !s->over;
}

/* The standard's "get an attribute"; false if there is none or the input ended. */
static bool
take_attribute(scan *s, attribute *out)
{
    while (s->at < s->end && (sn_is_space(*s->at) || *s->at == '/'))
        s->at++;
    if (here(s) == '>' || s->over)
        return false;
    const char *from = s->at++;
    while (!s->over && !sn_is_space(here(s)) && here(s) != '=' && here(s) != '/' &&
           here(s) != '>')
        s->at++;
    *out = (attribute){between(from, s->at), {"", 0}};
    if (s->over)
        return false;
    skip_spaces(s);
    if (here(s) != '=' || s->over)
        return !s->over;
    s->at++;
    skip_spaces(s);
    if (here(s) == '>')
        return true;
    return take_value(s, out);
}

/* Returns where `word` stands in `in` at or after `from`, without case, or in.len. */
static size_t
find_word(sn_str in, size_t from, sn_str word)
{
    for (; from + word.len <= in.len; from++)
        if (sn_str_starts_nocase(sn_str_slice(in, from, in.len), word))
            return from;
    return in.len;
}

/* The standard's "extracting a character encoding from a meta element". */
static bool
of_content(sn_str content, seine_charset *out)
{
    size_t at = 0;

    for (;;) {
        at = find_word(content, at, SN_STR("charset"));
        if (at == content.len)
            return false;
        at += 7;
        while (at < content.len && sn_is_space(content.ptr[at]))
            at++;
        if (at < content.len && content.ptr[at] == '=')
            break;
    }
    sn_str label = sn_str_slice(content, at + 1, content.len);
    while (label.len > 0 && sn_is_space(*label.ptr))
        label = sn_str_slice(label, 1, label.len);
    if (label.len == 0)
        return false;
    if (*label.ptr == '"' || *label.ptr == '\'') {
        char quote = *label.ptr;

        label = sn_str_slice(label, 1, label.len);
        size_t to = sn_str_find(label, quote);
        if (to == label.len)
            return false;
        label.len = to;
    } else {
        size_t to = 0;

        while (to < label.len && !sn_is_space(label.ptr[to]) && label.ptr[to] != ';')
            to++;
        label.len = to;
    }
    return seine_charset_find(label.ptr, label.len, out);
}

/* ASCII bytes that name UTF-16 are wrong; the standard reads them as UTF-8. */
static seine_charset
believed(seine_charset c)
{
    if (c == SEINE_CHARSET_UTF_16BE || c == SEINE_CHARSET_UTF_16LE)
        return SEINE_CHARSET_UTF_8;
    return c == SEINE_CHARSET_X_USER_DEFINED ? SEINE_CHARSET_WINDOWS_1252 : c;
}

/* Reads the attributes of a meta. The first attribute of a name counts. */
static bool
of_meta(scan *s, seine_charset *out)
{
    enum { HTTP_EQUIV = 1, CONTENT = 2, CHARSET = 4 };
    unsigned seen = 0;
    bool pragma = false, needs_pragma = false, has = false, known = false;
    attribute a;

    while (take_attribute(s, &a)) {
        if (sn_str_eq_nocase(a.name, SN_STR("http-equiv")) && !(seen & HTTP_EQUIV)) {
            seen |= HTTP_EQUIV;
            pragma = sn_str_eq_nocase(a.value, SN_STR("content-type"));
        } else if (sn_str_eq_nocase(a.name, SN_STR("content")) && !(seen & CONTENT)) {
            seen |= CONTENT;
            if (!has && of_content(a.value, out))
                has = known = needs_pragma = true;
        } else if (sn_str_eq_nocase(a.name, SN_STR("charset")) && !(seen & CHARSET)) {
            seen |= CHARSET;
            has = true;
            needs_pragma = false;
            known = seine_charset_find(a.value.ptr, a.value.len, out);
        }
    }
    if (s->over || !has || !known || (needs_pragma && !pragma))
        return false;
    *out = believed(*out);
    return true;
}

/* Moves behind `mark`, or to the end. */
static void
skip_past(scan *s, sn_str mark)
{
    const char *found = memmem(s->at, (size_t)(s->end - s->at), mark.ptr, mark.len);

    s->over = !found;
    s->at = found ? found + mark.len : s->end;
}

static bool
is_meta(sn_str rest)
{
    return rest.len > 5 && sn_str_starts_nocase(rest, SN_STR("<meta")) &&
           (sn_is_space(rest.ptr[5]) || rest.ptr[5] == '/');
}

/* Skips the text of elements whose content is not markup, up to the end tag. */
static void
skip_text(scan *s, sn_str name)
{
    static const char *const ends[] = {"</script", "</style", "</title", "</textarea",
                                       "</noscript"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        sn_str end = sn_str_of(ends[i]), rest = between(s->at, s->end);

        if (!sn_str_eq_nocase(name, sn_str_slice(end, 2, end.len)))
            continue;
        s->at += find_word(rest, 0, end);
        s->over = s->at == s->end;
    }
}

static void
skip_tag(scan *s, bool is_start)
{
    const char *from = s->at;
    attribute a;

    while (!s->over && here(s) != '>' && !sn_is_space(here(s)))
        s->at++;
    sn_str name = between(from, s->at);
    while (take_attribute(s, &a))
        continue;
    if (s->late && is_start && !s->over)
        skip_text(s, name);
}

/* Reads the markup at a "<". */
static bool
of_markup(scan *s, seine_charset *out)
{
    sn_str rest = between(s->at, s->end);
    size_t name = rest.len > 1 && rest.ptr[1] == '/' ? 2 : 1;

    if (sn_str_starts(rest, SN_STR("<!--"))) {
        s->at += 2; /* the standard takes "<!-->" as a whole comment */
        skip_past(s, SN_STR("-->"));
    } else if (is_meta(rest)) {
        s->at += 5;
        return of_meta(s, out);
    } else if (rest.len > name && sn_is_alpha(rest.ptr[name])) {
        s->at += name;
        skip_tag(s, name == 1);
    } else if (rest.len > 1 && memchr("!/?", rest.ptr[1], 3)) {
        skip_past(s, SN_STR(">"));
    } else {
        s->at++;
    }
    return false;
}

/* "Get an XML encoding". */
static bool
of_xml(sn_str head, seine_charset *out)
{
    if (!sn_str_starts(head, SN_STR("<?xml")))
        return false;
    head.len = sn_str_find(head, '>');
    const char *at = memmem(head.ptr, head.len, "encoding", 8);
    const char *end = head.ptr + head.len;
    if (!at)
        return false;
    for (at += 8; at < end && (unsigned char)*at <= ' ';)
        at++;
    if (at == end || *at != '=')
        return false;
    for (at++; at < end && (unsigned char)*at <= ' ';)
        at++;
    if (at == end || (*at != '"' && *at != '\''))
        return false;
    sn_str label = between(at + 1, end);
    size_t len = sn_str_find(label, *at);
    if (len == label.len)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)label.ptr[i] <= ' ')
            return false;
    if (!seine_charset_find(label.ptr, len, out))
        return false;
    *out = believed(*out);
    return true;
}

static bool
of_metas(scan *s, seine_charset *out)
{
    while (!s->over && s->at < s->end) {
        const char *next = memchr(s->at, '<', (size_t)(s->end - s->at));

        if (!next)
            break;
        s->at = next;
        if (of_markup(s, out))
            return true;
    }
    return false;
}

bool
sn_charset_scan_late(sn_str page, seine_charset *out_charset)
{
    if (page.len <= SEINE_CHARSET_HEAD)
        return false;
    scan s = {page.ptr, page.ptr + page.len, .late = true};
    return of_metas(&s, out_charset);
}

bool
sn_charset_scan(sn_str head, seine_charset *out_charset)
{
    head = sn_str_slice(head, 0, SEINE_CHARSET_HEAD);
    if (head.len == 0)
        return false;
    scan s = {.at = head.ptr, .end = head.ptr + head.len};
    if (sn_str_starts(head, (sn_str){"<\0?\0x\0", 6})) {
        *out_charset = SEINE_CHARSET_UTF_16LE;
        return true;
    }
    if (sn_str_starts(head, (sn_str){"\0<\0?\0x", 6})) {
        *out_charset = SEINE_CHARSET_UTF_16BE;
        return true;
    }
    return of_metas(&s, out_charset) || of_xml(head, out_charset);
}
