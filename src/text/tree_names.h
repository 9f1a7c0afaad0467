/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_names.h - the names that tree construction knows, and the sorts of elements.
 *
 * A name becomes a number once, when its tag is complete; every rule of tree construction
 * compares numbers. The sorts are those of the standard (13.2.4.2): special elements, and
 * elements that end the search for an open element.
 *
 * Threads any number: the tables are constant, and a name table has one owner.
 */
#ifndef SN_TREE_NAMES_H
#define SN_TREE_NAMES_H

#include "base/str.h"
#include "text/html.h"
#include "text/tree.h"

enum {
    SN_EL_SPECIAL = 1,
    SN_EL_SCOPE = 2,        /* ends a search in scope */
    SN_EL_LIST_SCOPE = 4,   /* ends one in list item scope too */
    SN_EL_BUTTON_SCOPE = 8, /* ends one in button scope too */
    SN_EL_TABLE_SCOPE = 16,
    SN_EL_IMPLIED = 32,     /* its end tag may be left out */
    SN_EL_THOROUGH = 64,    /* and here too, where a template ends */
    SN_EL_FORMAT = 128,     /* a formatting element */
    SN_EL_BREAKOUT = 256,   /* its start tag ends svg and math */
    SN_EL_HTML_POINT = 512, /* svg or math whose content is HTML again */
    SN_EL_TEXT_POINT = 1024 /* math whose text is HTML */
};

#define SN_EL_S  SN_EL_SPECIAL
#define SN_EL_SB (SN_EL_SPECIAL | SN_EL_BREAKOUT)
#define SN_EL_SI (SN_EL_SPECIAL | SN_EL_IMPLIED | SN_EL_THOROUGH | SN_EL_BREAKOUT)
#define SN_EL_I  (SN_EL_IMPLIED | SN_EL_THOROUGH)
#define SN_EL_T  (SN_EL_SPECIAL | SN_EL_THOROUGH)
#define SN_EL_F  SN_EL_FORMAT
#define SN_EL_FB (SN_EL_FORMAT | SN_EL_BREAKOUT)
#define SN_EL_B  SN_EL_BREAKOUT
#define SN_EL_X  (SN_EL_SPECIAL | SN_EL_SCOPE)

/* clang-format off */
#define SN_TREE_NAME_TABLE(X) \
    X(A, "a", SN_EL_F) \
    X(ADDRESS, "address", SN_EL_S) \
    X(ANNOTATION_XML, "annotation-xml", 0) \
    X(APPLET, "applet", SN_EL_X) \
    X(AREA, "area", SN_EL_S) \
    X(ARTICLE, "article", SN_EL_S) \
    X(ASIDE, "aside", SN_EL_S) \
    X(B, "b", SN_EL_FB) \
    X(BASE, "base", SN_EL_S) \
    X(BASEFONT, "basefont", SN_EL_S) \
    X(BGSOUND, "bgsound", SN_EL_S) \
    X(BIG, "big", SN_EL_FB) \
    X(BLOCKQUOTE, "blockquote", SN_EL_SB) \
    X(BODY, "body", SN_EL_SB) \
    X(BR, "br", SN_EL_SB) \
    X(BUTTON, "button", SN_EL_S | SN_EL_BUTTON_SCOPE) \
    X(CAPTION, "caption", SN_EL_X | SN_EL_THOROUGH) \
    X(CENTER, "center", SN_EL_SB) \
    X(CODE, "code", SN_EL_FB) \
    X(COL, "col", SN_EL_S) \
    X(COLGROUP, "colgroup", SN_EL_T) \
    X(DD, "dd", SN_EL_SI) \
    X(DESC, "desc", 0) \
    X(DETAILS, "details", SN_EL_S) \
    X(DIALOG, "dialog", 0) \
    X(DIR, "dir", SN_EL_S) \
    X(DIV, "div", SN_EL_SB) \
    X(DL, "dl", SN_EL_SB) \
    X(DT, "dt", SN_EL_SI) \
    X(EM, "em", SN_EL_FB) \
    X(EMBED, "embed", SN_EL_SB) \
    X(FIELDSET, "fieldset", SN_EL_S) \
    X(FIGCAPTION, "figcaption", SN_EL_S) \
    X(FIGURE, "figure", SN_EL_S) \
    X(FONT, "font", SN_EL_F) \
    X(FOOTER, "footer", SN_EL_S) \
    X(FOREIGNOBJECT, "foreignobject", 0) \
    X(FORM, "form", SN_EL_S) \
    X(FRAME, "frame", SN_EL_S) \
    X(FRAMESET, "frameset", SN_EL_S) \
    X(H1, "h1", SN_EL_SB) \
    X(H2, "h2", SN_EL_SB) \
    X(H3, "h3", SN_EL_SB) \
    X(H4, "h4", SN_EL_SB) \
    X(H5, "h5", SN_EL_SB) \
    X(H6, "h6", SN_EL_SB) \
    X(HEAD, "head", SN_EL_SB) \
    X(HEADER, "header", SN_EL_S) \
    X(HGROUP, "hgroup", SN_EL_S) \
    X(HR, "hr", SN_EL_SB) \
    X(HTML, "html", SN_EL_X | SN_EL_TABLE_SCOPE) \
    X(I, "i", SN_EL_FB) \
    X(IFRAME, "iframe", SN_EL_S) \
    X(IMAGE, "image", 0) \
    X(IMG, "img", SN_EL_SB) \
    X(INPUT, "input", SN_EL_S) \
    X(KEYGEN, "keygen", SN_EL_S) \
    X(LEGEND, "legend", 0) \
    X(LI, "li", SN_EL_SI) \
    X(LINK, "link", SN_EL_S) \
    X(LISTING, "listing", SN_EL_SB) \
    X(MAIN, "main", SN_EL_S) \
    X(MALIGNMARK, "malignmark", 0) \
    X(MARQUEE, "marquee", SN_EL_X) \
    X(MATH, "math", 0) \
    X(MENU, "menu", SN_EL_SB) \
    X(META, "meta", SN_EL_SB) \
    X(MGLYPH, "mglyph", 0) \
    X(MI, "mi", 0) \
    X(MN, "mn", 0) \
    X(MO, "mo", 0) \
    X(MS, "ms", 0) \
    X(MTEXT, "mtext", 0) \
    X(NAV, "nav", SN_EL_S) \
    X(NOBR, "nobr", SN_EL_FB) \
    X(NOEMBED, "noembed", SN_EL_S) \
    X(NOFRAMES, "noframes", SN_EL_S) \
    X(NOSCRIPT, "noscript", SN_EL_S) \
    X(OBJECT, "object", SN_EL_X) \
    X(OL, "ol", SN_EL_SB | SN_EL_LIST_SCOPE) \
    X(OPTGROUP, "optgroup", SN_EL_I) \
    X(OPTION, "option", SN_EL_I) \
    X(P, "p", SN_EL_SI) \
    X(PARAM, "param", SN_EL_S) \
    X(PLAINTEXT, "plaintext", SN_EL_S) \
    X(PRE, "pre", SN_EL_SB) \
    X(RB, "rb", SN_EL_I) \
    X(RP, "rp", SN_EL_I) \
    X(RT, "rt", SN_EL_I) \
    X(RTC, "rtc", SN_EL_I) \
    X(RUBY, "ruby", SN_EL_B) \
    X(S, "s", SN_EL_FB) \
    X(SCRIPT, "script", SN_EL_S) \
    X(SEARCH, "search", SN_EL_S) \
    X(SECTION, "section", SN_EL_S) \
    X(SELECT, "select", SN_EL_X) \
    X(SELECTEDCONTENT, "selectedcontent", 0) \
    X(SMALL, "small", SN_EL_FB) \
    X(SOURCE, "source", SN_EL_S) \
    X(SPAN, "span", SN_EL_B) \
    X(STRIKE, "strike", SN_EL_FB) \
    X(STRONG, "strong", SN_EL_FB) \
    X(STYLE, "style", SN_EL_S) \
    X(SUB, "sub", SN_EL_B) \
    X(SUMMARY, "summary", SN_EL_S) \
    X(SUP, "sup", SN_EL_B) \
    X(SVG, "svg", 0) \
    X(TABLE, "table", SN_EL_X | SN_EL_BREAKOUT | SN_EL_TABLE_SCOPE) \
    X(TBODY, "tbody", SN_EL_T) \
    X(TD, "td", SN_EL_X | SN_EL_THOROUGH) \
    X(TEMPLATE, "template", SN_EL_X | SN_EL_TABLE_SCOPE) \
    X(TEXTAREA, "textarea", SN_EL_S) \
    X(TFOOT, "tfoot", SN_EL_T) \
    X(TH, "th", SN_EL_X | SN_EL_THOROUGH) \
    X(THEAD, "thead", SN_EL_T) \
    X(TITLE, "title", SN_EL_S) \
    X(TR, "tr", SN_EL_T) \
    X(TRACK, "track", SN_EL_S) \
    X(TT, "tt", SN_EL_FB) \
    X(U, "u", SN_EL_FB) \
    X(UL, "ul", SN_EL_SB | SN_EL_LIST_SCOPE) \
    X(VAR, "var", SN_EL_B) \
    X(WBR, "wbr", SN_EL_S) \
    X(XMP, "xmp", SN_EL_S)
/* clang-format on */

typedef enum sn_tree_el {
    EL_OTHER,
#define SN_ROW(id, name, sort) EL_##id,
    SN_TREE_NAME_TABLE(SN_ROW)
#undef SN_ROW
        EL_COUNT
} sn_tree_el;

enum { SN_TREE_NAME_SLOTS = 512 };

/* Finds the number of a name; filled once by sn_tree_names_init. */
typedef struct sn_tree_names {
    uint8_t slot[SN_TREE_NAME_SLOTS];
} sn_tree_names;

void sn_tree_names_init(sn_tree_names *names);
sn_tree_el sn_tree_names_find(const sn_tree_names *names, const char name[SN_HTML_NAME],
                              size_t len);
sn_str sn_tree_el_name(sn_tree_el el);

/* Returns the sorts of an element, as bits; those of svg and math are few. */
unsigned sn_tree_el_sorts(sn_tree_el el, sn_ns ns);

/* What the element is to the text that people see. */
sn_tree_look sn_tree_el_look(sn_tree_el el);

/* Maps a name of an attribute of svg or math to the standard's spelling, in place of
 * the lower case; returns `name` if it is spelled in lower case. */
sn_str sn_tree_svg_attr(sn_str name);
sn_str sn_tree_svg_name(sn_str name);

#endif
