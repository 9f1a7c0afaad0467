/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "text/html.h"

typedef char row[SN_HTML_NAME];

static const row tags[SN_TAG_COUNT] = {"",
#define SN_ROW(id, name) name,
                                       SN_HTML_TAG_TABLE(SN_ROW)
#undef SN_ROW
};

static const row attrs[SN_ATTR_COUNT] = {"",
#define SN_ROW(id, name) name,
                                         SN_HTML_ATTR_TABLE(SN_ROW)
#undef SN_ROW
};

/* Start tags that end svg and math (13.2.6.5). */
static const row breakouts[] = {
    "b",       "big",   "blockquote", "body",   "br",     "center", "code", "dd",
    "div",     "dl",    "dt",         "em",     "embed",  "h1",     "h2",   "h3",
    "h4",      "h5",    "h6",         "head",   "hr",     "i",      "img",  "li",
    "listing", "menu",  "meta",       "nobr",   "ol",     "p",      "pre",  "ruby",
    "s",       "small", "span",       "strong", "strike", "sub",    "sup",  "table",
    "tt",      "u",     "ul",         "var",
};

const char *
sn_html_tag_name(sn_html_tag tag)
{
    return tags[tag];
}

const char *
sn_html_attr_name(sn_html_attr attr)
{
    return attrs[attr];
}

/* Returns the index of the name in rows[from] to rows[to], or 0. */
static int
search(const row *rows, int from, int to, const char *name)
{
    for (int i = from; i <= to; i++)
        if (memcmp(rows[i], name, SN_HTML_NAME) == 0)
            return i;
    return 0;
}

static sn_html_tag
among(const char *name, sn_html_tag from, sn_html_tag to)
{
    return (sn_html_tag)search(tags, (int)from, (int)to, name);
}

#define LETTER(c) UINT32_C(1) << ((c) - 'a' + 1)
const uint32_t sn_html_tag_letters[SN_HTML_NAME] = {
    [1] = LETTER('a'),
    [3] = LETTER('i') | LETTER('s') | LETTER('x'),
    [4] = LETTER('l') | LETTER('f') | LETTER('a') | LETTER('b') | LETTER('m') |
          LETTER('h') | LETTER('d'),
    [5] = LETTER('i') | LETTER('s') | LETTER('t') | LETTER('v') | LETTER('a') |
          LETTER('e') | LETTER('f'),
    [6] = LETTER('s') | LETTER('i') | LETTER('o'),
    [7] = LETTER('n'),
    [8] = LETTER('n') | LETTER('t') | LETTER('f'),
    [9] = LETTER('p'),
    [13] = LETTER('f'),
    [14] = LETTER('a'),
};
#undef LETTER

/* Most tags are unknown: first letter and length rule them out. Both tables are sorted by
 * length. */
static bool
may_mean(char first, size_t len)
{
    return len < SN_HTML_NAME && sn_is_alpha(first) &&
           (sn_html_tag_letters[len] >> (first & 31) & 1);
}

sn_html_tag
sn_html_known_tag_at(sn_str at)
{
    row name = {0};

    for (size_t i = 0; i < at.len; i++)
        name[i] = sn_lower(at.ptr[i]);
    return sn_html_find_tag(name, at.len);
}

sn_html_tag
sn_html_find_tag(const char name[SN_HTML_NAME], size_t len)
{
    if (!may_mean(name[0], len))
        return SN_TAG_OTHER;
    switch (len) {
    case 1:
        return among(name, SN_TAG_A, SN_TAG_A);
    case 3:
        return among(name, SN_TAG_IMG, SN_TAG_XMP);
    case 4:
        return among(name, SN_TAG_LINK, SN_TAG_DESC);
    case 5:
        return among(name, SN_TAG_INPUT, SN_TAG_TRACK);
    case 6:
        return among(name, SN_TAG_SCRIPT, SN_TAG_OBJECT);
    case 7:
        return among(name, SN_TAG_NOEMBED, SN_TAG_NOEMBED);
    case 8:
        return among(name, SN_TAG_NOSCRIPT, SN_TAG_FRAMESET);
    case 9:
        return among(name, SN_TAG_PLAINTEXT, SN_TAG_PLAINTEXT);
    case 13:
        return among(name, SN_TAG_FOREIGNOBJECT, SN_TAG_FOREIGNOBJECT);
    case 14:
        return among(name, SN_TAG_ANNOTATION_XML, SN_TAG_ANNOTATION_XML);
    default:
        return SN_TAG_OTHER;
    }
}

static sn_html_attr
attr_among(const char *name, sn_html_attr from, sn_html_attr to)
{
    return (sn_html_attr)search(attrs, (int)from, (int)to, name);
}

sn_html_attr
sn_html_find_attr(const char name[SN_HTML_NAME], size_t len)
{
    switch (len) {
    case 2:
        return attr_among(name, SN_ATTR_ID, SN_ATTR_ID);
    case 3:
        return attr_among(name, SN_ATTR_REL, SN_ATTR_SRC);
    case 4:
        return attr_among(name, SN_ATTR_HREF, SN_ATTR_LANG);
    case 6:
        return attr_among(name, SN_ATTR_ACTION, SN_ATTR_POSTER);
    case 7:
        return attr_among(name, SN_ATTR_CONTENT, SN_ATTR_CONTENT);
    case 8:
        return attr_among(name, SN_ATTR_PROPERTY, SN_ATTR_ENCODING);
    case 10:
        return attr_among(name, SN_ATTR_HTTP_EQUIV, SN_ATTR_HTTP_EQUIV);
    case 11:
        return attr_among(name, SN_ATTR_IMAGESRCSET, SN_ATTR_IMAGESRCSET);
    default:
        return SN_ATTR_OTHER;
    }
}

bool
sn_html_is_breakout(const char name[SN_HTML_NAME], size_t len)
{
    for (size_t i = 0; i < sizeof breakouts / sizeof *breakouts; i++)
        if (len <= SN_HTML_NAME && memcmp(breakouts[i], name, SN_HTML_NAME) == 0)
            return true;
    return false;
}

bool
sn_html_is_font_attr(const char name[SN_HTML_NAME])
{
    static const row names[] = {"color", "face", "size"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memcmp(names[i], name, SN_HTML_NAME) == 0)
            return true;
    return false;
}
