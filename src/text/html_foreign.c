/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where svg and math begin and end, for a tokenizer without a tree: the elements open
 * inside of them are kept by the hash of their names. Tags that only HTML has end them
 * (13.2.6.5); so does an end tag of HTML that closes nothing inside.
 */
#include <string.h>

#include "text/html.h"

static uint32_t
hash_of(const char name[SN_HTML_NAME])
{
    uint64_t low, high;

    memcpy(&low, name, sizeof low);
    memcpy(&high, name + sizeof low, sizeof high);
    return (uint32_t)((low ^ high << 7 ^ high >> 57) * UINT64_C(0x9e3779b97f4a7c15) >>
                      32);
}

bool
sn_html_is_foreign(const sn_html *t)
{
    return t->depth > 0 && !t->foreign[t->depth - 1].has_html;
}

static bool
is_math(const sn_html *t)
{
    return t->depth > 0 && t->foreign[t->depth - 1].is_math;
}

static void
push_element(sn_html *t, bool is_in_math, bool has_html)
{
    if (t->self_closing || t->depth == SN_HTML_FOREIGN)
        return;
    t->foreign[t->depth++] = (sn_html_foreign){hash_of(t->name), is_in_math, has_html};
}

void
sn_html_foreign_root(sn_html *t)
{
    push_element(t, t->tag == SN_TAG_MATH, false);
}

/* Elements of math whose content is HTML. */
static bool
is_math_text(const sn_html *t)
{
    static const char names[][SN_HTML_NAME] = {"mi", "mo", "mn", "ms", "mtext"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memcmp(names[i], t->name, SN_HTML_NAME) == 0)
            return true;
    return false;
}

/* An annotation of math may hold an svg, whatever its encoding. */
static bool
is_in_annotation(const sn_html *t)
{
    static const char name[SN_HTML_NAME] = "annotation-xml";

    return t->depth > 0 && t->foreign[t->depth - 1].name == hash_of(name);
}

void
sn_html_foreign_start(sn_html *t, bool is_html_annotation)
{
    bool in_math = is_math(t) && !(t->tag == SN_TAG_SVG && is_in_annotation(t));
    bool has_html = in_math ? is_html_annotation || is_math_text(t)
                            : t->tag == SN_TAG_FOREIGNOBJECT || t->tag == SN_TAG_DESC ||
                                  t->tag == SN_TAG_TITLE;

    push_element(t, in_math, has_html);
}

/* Inside of math text these two stay math. */
bool
sn_html_is_math_mark(const sn_html *t)
{
    static const char names[][SN_HTML_NAME] = {"mglyph", "malignmark"};

    return is_math(t) && (memcmp(names[0], t->name, SN_HTML_NAME) == 0 ||
                          memcmp(names[1], t->name, SN_HTML_NAME) == 0);
}

void
sn_html_foreign_leave(sn_html *t)
{
    while (sn_html_is_foreign(t))
        t->depth--;
}

/* End tags that close an element of HTML around svg or math. */
static bool
is_html_end(const sn_html *t)
{
    static const char names[][SN_HTML_NAME] = {
        "a",       "address",  "article",    "aside",  "button", "caption",  "details",
        "dialog",  "fieldset", "figcaption", "figure", "footer", "form",     "header",
        "html",    "label",    "legend",     "main",   "nav",    "noscript", "object",
        "section", "select",   "summary",    "tbody",  "td",     "template", "tfoot",
        "th",      "thead",    "tr",
    };

    if (t->breaks_out)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memcmp(names[i], t->name, SN_HTML_NAME) == 0)
            return true;
    return false;
}

bool
sn_html_foreign_end(sn_html *t)
{
    uint32_t hash = hash_of(t->name);

    for (uint32_t i = t->depth; i-- > 0;)
        if (t->foreign[i].name == hash) {
            t->depth = (uint8_t)i;
            return true;
        }
    if (is_html_end(t))
        sn_html_foreign_leave(t);
    return false;
}
