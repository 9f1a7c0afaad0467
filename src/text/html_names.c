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

/* Start tags that no svg or math survives (13.2.6.5); <font> only with attributes
 * that nobody writes there. */
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

/* The place of the name among rows[from] to rows[to], or 0. */
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

sn_html_tag
sn_html_find_tag(const char name[SN_HTML_NAME], size_t len)
{
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
        return among(name, SN_TAG_NOSCRIPT, SN_TAG_NOFRAMES);
    case 9:
        return among(name, SN_TAG_PLAINTEXT, SN_TAG_PLAINTEXT);
    case 13:
        return among(name, SN_TAG_FOREIGNOBJECT, SN_TAG_FOREIGNOBJECT);
    default:
        return SN_TAG_OTHER;
    }
}

sn_html_attr
sn_html_find_attr(const char name[SN_HTML_NAME], size_t len)
{
    if (len > SN_HTML_NAME)
        return SN_ATTR_OTHER;
    return (sn_html_attr)search(attrs, SN_ATTR_OTHER + 1, SN_ATTR_COUNT - 1, name);
}

bool
sn_html_is_breakout(const char name[SN_HTML_NAME], size_t len)
{
    for (size_t i = 0; i < sizeof breakouts / sizeof *breakouts; i++)
        if (len <= SN_HTML_NAME && memcmp(breakouts[i], name, SN_HTML_NAME) == 0)
            return true;
    return false;
}
