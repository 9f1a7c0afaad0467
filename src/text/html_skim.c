/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast way through a page: skips text and tags that mean nothing to the caller, and
 * reads plain links, without the states of html.c and without names.
 *
 * Only a tag that lies in this piece as a whole is skimmed. Whatever needs more is left
 * to the states, which begin at its < as if nobody had looked at it: a tag with a
 * meaning, a comment, a link with references or bytes above 0x7f in a value, a value or a
 * number of attributes beyond its limit, a tag that the piece cuts. So a page that is fed
 * byte by byte is read by the states alone, and the events are the same.
 */
#include <string.h>

#include "base/scan.h"
#include "text/html.h"
#include "text/word_triples.h"

#define BIT(tag) SN_HTML_TAG_BIT(SN_TAG_##tag)

/* Without a meaning outside of svg, math and frames. */
#define NOTHING \
    (BIT(OTHER) | BIT(DESC) | BIT(FOREIGNOBJECT) | BIT(ANNOTATION_XML) | BIT(FRAMESET))

/* Ends of these have a meaning outside of raw text. */
#define ENDS (BIT(A) | BIT(TEMPLATE) | BIT(FORM))

uint64_t
sn_html_skims(const sn_html_options *o)
{
    if (o->tree || o->until_title || o->want & SN_HTML_ANCHOR)
        return 0;
    return NOTHING | (o->no_parts ? SN_HTML_PARTS : 0) |
           (o->scripting ? 0 : BIT(NOSCRIPT));
}

/* What a byte ends, and whether it is a blank. */
enum { TAG_NAME = 1, ATTR_NAME = 2, UNQUOTED = 4, BLANK = 8, SLASH = 16 };
#define SPACE (TAG_NAME | ATTR_NAME | UNQUOTED | BLANK)

static const uint8_t class[256] = {
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\n'] = SPACE,
    ['\f'] = SPACE,
    ['\r'] = SPACE,
    ['>'] = TAG_NAME | ATTR_NAME | UNQUOTED,
    ['/'] = TAG_NAME | ATTR_NAME | SLASH,
    ['='] = ATTR_NAME,
};

static inline bool
is(char c, unsigned what)
{
    return class[(unsigned char)c] & what;
}

static inline const char *
find(const char *p, const char *end, unsigned what)
{
    while (p < end && !is(*p, what))
        p++;
    return p;
}

static inline const char *
skip(const char *p, const char *end, unsigned what)
{
    while (p < end && is(*p, what))
        p++;
    return p;
}

/* The values that an <a> has; ptr NULL: it does not have the attribute. */
typedef struct values {
    sn_str href, rel, hreflang;
} values;

/* Keeps the value if it is one of a link, and the first of its name. Setting the bit of
 * small letters makes no other byte a letter. */
static void
keep(values *v, sn_str name, sn_str value)
{
    sn_str *to = NULL;
    uint32_t four;

    if (name.len != 4 && name.len != 3 && name.len != 8)
        return;
    if (name.len == 4) {
        memcpy(&four, name.ptr, sizeof four);
        to = (four | 0x20202020) == 0x66657268 ? &v->href : NULL; /* "href" */
    } else if (sn_str_eq_nocase(name,
                                name.len == 3 ? SN_STR("rel") : SN_STR("hreflang"))) {
        to = name.len == 3 ? &v->rel : &v->hreflang;
    }
    if (to && !to->ptr)
        *to = value;
}

/* Reads the value behind `p`, where a name ends; returns where the value ends, or NULL.
 */
static const char *
value_of(const char *p, const char *end, sn_str *out_value)
{
    const char *stop = skip(p, end, BLANK);

    *out_value = (sn_str){"", 0};
    if (stop == end || *stop != '=')
        return stop == end ? NULL : stop;
    p = skip(stop + 1, end, BLANK);
    if (p == end)
        return NULL;
    if (*p == '"' || *p == '\'') {
        stop = sn_scan_byte(p + 1, end, *p);
        *out_value = (sn_str){p + 1, (size_t)(stop - p - 1)};
        return stop == end || out_value->len > SN_HTML_VALUE ? NULL : stop + 1;
    }
    stop = find(p, end, UNQUOTED);
    *out_value = (sn_str){p, (size_t)(stop - p)};
    return stop == end || out_value->len > SN_HTML_VALUE ? NULL : stop;
}

/* Reads attributes, and keeps those of a link unless `v` is NULL. Returns what is behind
 * the >, or NULL. */
static const char *
read_attrs(const char *p, const char *end, values *v)
{
    for (int n = 0; n <= SN_HTML_ATTRS; n++) {
        p = skip(p, end, BLANK | SLASH);
        if (p == end || *p == '>')
            return p == end ? NULL : p + 1;
        const char *name = p;
        sn_str value;

        p = find(p + 1, end, ATTR_NAME); /* even if the first is a = */
        sn_str whole = {name, (size_t)(p - name)};
        p = p < end ? value_of(p, end, &value) : NULL;
        if (!p)
            return NULL;
        if (v)
            keep(v, whole, value);
    }
    return NULL; /* more than are counted */
}

/* Most tags have none. */
static inline const char *
skip_attrs(const char *p, const char *end)
{
    return p < end && *p == '>' ? p + 1 : read_attrs(p, end, NULL);
}

static bool
is_literal(sn_str s)
{
    return sn_scan_is_literal(s.ptr, s.len);
}

/* Reads an <a>, whose name ends before `p`. */
static const char *
skim_link(sn_html *t, const char *p, const char *end, uint64_t at)
{
    values v = {0};

    p = read_attrs(p, end, &v);
    if (!p || !is_literal(v.href) || !is_literal(v.rel) || !is_literal(v.hreflang))
        return NULL;
    t->tag_at = at;
    sn_html_plain_link(t, v.href, v.rel, v.hreflang);
    return p;
}

/* Returns what is behind the tag at `less`, or NULL: the states must read it. */
static const char *
skim_tag(sn_html *t, const char *less, const char *end)
{
    if (end - less < 4)
        return NULL;
    bool is_end = less[1] == '/';
    const char *name = less + 1 + is_end;
    if (!sn_is_alpha(*name))
        return NULL;
    const char *p = find(name + 1, end, TAG_NAME);
    sn_html_tag tag = sn_html_find_tag_at((sn_str){name, (size_t)(p - name)});

    if ((is_end ? ~ENDS : t->skims) >> tag & 1)
        return skip_attrs(p, end);
    if (tag != SN_TAG_A || !t->opts.no_text)
        return NULL;
    if (!is_end)
        return skim_link(t, p, end, t->fed + (uint64_t)(less - t->piece));
    p = skip_attrs(p, end);
    t->held.open = t->held.open && !p;
    return p;
}

const char *
sn_html_skim(sn_html *t, const char *p, const char *end)
{
    const char *from = p;

    while (p < end && !t->enough) {
        const char *less = sn_scan_byte(p, end, '<');

        if (t->opts.words && !t->held.open)
            sn_word_triples_text(t->opts.words, p, (size_t)(less - p));
        p = skim_tag(t, less, end);
        if (!p) {
            t->steps += (uint64_t)(less - from);
            return less;
        }
        if (t->opts.words)
            sn_word_triples_break(t->opts.words);
    }
    t->steps += (uint64_t)(p - from);
    return p;
}

/* The way to the title. */

bool
sn_html_skims_head(const sn_html_options *o)
{
    return o->until_title && o->want == SN_HTML_TITLE && !o->tree && !o->words;
}

/* Four letters of a name as a number, in either case. */
static uint32_t
four_of(const char *at)
{
    uint32_t four;

    memcpy(&four, at, sizeof four);
    return four | 0x20202020;
}

/* These come before a title. They mean nothing to it, and are no body. */
static bool
is_of_head(const char *name)
{
    uint32_t four = four_of(name);

    return (four == four_of("html") || four == four_of("head") ||
            four == four_of("meta") || four == four_of("link")) &&
           is(name[4], TAG_NAME);
}

/* Reads a title whose text holds no tag; `p` is behind its start tag. */
static const char *
skim_title(sn_html *t, const char *less, const char *p, const char *end)
{
    const char *stop = sn_scan_byte(p, end, '<');

    if (end - stop < 8 || stop[1] != '/' || stop[7] != '>' ||
        !sn_str_eq_nocase((sn_str){stop + 2, 5}, SN_STR("title")))
        return NULL;
    t->tag_at = t->fed + (uint64_t)(less - t->piece);
    sn_html_plain_title(t, (sn_str){p, (size_t)(stop - p)});
    return stop + 8;
}

/* Returns what is behind the tag at `less`, or NULL: the states must read it. */
static const char *
skim_head_tag(sn_html *t, const char *less, const char *end)
{
    if (end - less < 7)
        return NULL;
    if (less[1] == '!') { /* a doctype ends at the first >; a comment does not */
        const char *stop = sn_lower(less[2]) == 'd' ? sn_scan_byte(less, end, '>') : end;

        return stop < end ? stop + 1 : NULL;
    }
    if (is_of_head(less + 1))
        return skip_attrs(less + 5, end);
    if (four_of(less + 1) == four_of("titl") && sn_lower(less[5]) == 'e' &&
        less[6] == '>')
        return skim_title(t, less, less + 7, end);
    return NULL;
}

/* Until a body was seen, text that is more than blanks begins one. */
const char *
sn_html_skim_head(sn_html *t, const char *p, const char *end)
{
    const char *from = p;

    while (p < end && !t->enough) {
        const char *less = t->frames_ok ? skip(p, end, BLANK) : sn_scan_byte(p, end, '<');
        const char *next = less;

        if (less < end)
            next = *less == '<' ? skim_head_tag(t, less, end) : NULL;
        if (!next)
            break;
        p = next;
    }
    t->steps += (uint64_t)(p - from);
    return p;
}
