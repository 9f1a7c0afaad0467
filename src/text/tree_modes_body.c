/* SPDX-License-Identifier: Apache-2.0 */
/* Start tags in a body (13.2.6.4.7). */
#include "text/tree_build.h"

bool
sn_mode_in_body(sn_build *b)
{
    return b->tok.end ? sn_body_end(b) : sn_body_start(b);
}

static bool
html_start(sn_build *b)
{
    if (b->open[EL_TEMPLATE] == 0)
        sn_build_merge_attrs(b, b->stack[0].node);
    return false;
}

static bool
second_is_body(const sn_build *b)
{
    return b->depth > 1 && b->stack[1].el == EL_BODY && b->stack[1].ns == SN_NS_HTML;
}

static bool
body_start(sn_build *b)
{
    if (!second_is_body(b) || b->open[EL_TEMPLATE] > 0)
        return false;
    b->frameset_ok = false;
    sn_build_merge_attrs(b, b->stack[1].node);
    return false;
}

static bool
frameset_start(sn_build *b)
{
    if (!second_is_body(b) || !b->frameset_ok)
        return false;
    sn_build_detach(b, b->stack[1].node);
    sn_build_pop_to(b, 1);
    sn_build_element(b, SN_NS_HTML);
    b->mode = MODE_IN_FRAMESET;
    return false;
}

static bool
block_start(sn_build *b)
{
    sn_build_close_open_p(b);
    sn_build_element(b, SN_NS_HTML);
    return false;
}

static bool
is_heading(const sn_open *o)
{
    return o->ns == SN_NS_HTML && o->el >= EL_H1 && o->el <= EL_H6;
}

static bool
heading_start(sn_build *b)
{
    sn_build_close_open_p(b);
    if (is_heading(sn_build_top(b)))
        sn_build_pop(b);
    sn_build_element(b, SN_NS_HTML);
    return false;
}

static bool
pre_start(sn_build *b)
{
    block_start(b);
    b->skip_lf = true;
    b->frameset_ok = false;
    return false;
}

static bool
form_start(sn_build *b)
{
    if (b->form != 0 && b->open[EL_TEMPLATE] == 0)
        return false;
    sn_build_close_open_p(b);
    seine_node n = sn_build_element(b, SN_NS_HTML);
    if (b->open[EL_TEMPLATE] == 0)
        b->form = n;
    return false;
}

/* Closes an open <li>, or <dd> and <dt>, unless a special element stands between. */
static void
close_item(sn_build *b, sn_tree_el first, sn_tree_el second)
{
    if (b->open[first] == 0 && b->open[second] == 0)
        return;
    for (uint32_t i = b->depth; i-- > 0;) {
        const sn_open *o = &b->stack[i];

        if (o->ns == SN_NS_HTML && (o->el == first || o->el == second)) {
            sn_build_pop_to(b, i);
            return;
        }
        if ((o->sorts & SN_EL_SPECIAL) &&
            (o->ns != SN_NS_HTML ||
             (o->el != EL_ADDRESS && o->el != EL_DIV && o->el != EL_P)))
            return;
    }
}

static bool
item_start(sn_build *b, sn_tree_el first, sn_tree_el second)
{
    b->frameset_ok = false;
    close_item(b, first, second);
    return block_start(b);
}

static bool
button_start(sn_build *b)
{
    if (sn_build_in_scope(b, EL_BUTTON)) {
        sn_build_implied_ends(b, EL_OTHER);
        sn_build_pop_el(b, EL_BUTTON);
    }
    sn_build_reopen(b);
    sn_build_element(b, SN_NS_HTML);
    b->frameset_ok = false;
    return false;
}

static bool
format_start(sn_build *b)
{
    sn_build_reopen(b);
    seine_node n = sn_build_element(b, SN_NS_HTML);
    sn_build_format(b, n);
    return false;
}

static void
remove_open(sn_build *b, seine_node n)
{
    for (uint32_t i = b->depth; i-- > 0;)
        if (b->stack[i].node == n) {
            sn_build_drop(b, i);
            return;
        }
}

static bool
a_start(sn_build *b)
{
    const sn_format *f = sn_build_find_format(b, EL_A);

    if (f) {
        seine_node old = f->node;

        sn_build_adopt(b, EL_A);
        sn_build_drop_format(b, old);
        remove_open(b, old);
    }
    return format_start(b);
}

static bool
nobr_start(sn_build *b)
{
    sn_build_reopen(b);
    if (sn_build_in_scope(b, EL_NOBR)) {
        sn_build_adopt(b, EL_NOBR);
        sn_build_reopen(b);
    }
    seine_node n = sn_build_element(b, SN_NS_HTML);
    sn_build_format(b, n);
    return false;
}

static bool
marked_start(sn_build *b)
{
    sn_build_reopen(b);
    sn_build_element(b, SN_NS_HTML);
    sn_build_marker(b);
    b->frameset_ok = false;
    return false;
}

static bool
table_start(sn_build *b)
{
    if (!b->tree->quirks)
        sn_build_close_open_p(b);
    sn_build_element(b, SN_NS_HTML);
    b->frameset_ok = false;
    b->mode = MODE_IN_TABLE;
    return false;
}

static bool
void_start(sn_build *b)
{
    sn_build_reopen(b);
    sn_build_void(b);
    b->frameset_ok = false;
    return false;
}

static bool
is_select_fragment(const sn_build *b)
{
    return b->in_fragment && b->context.el == EL_SELECT && b->context.ns == SN_NS_HTML;
}

static bool
input_start(sn_build *b)
{
    sn_str type;
    bool ok = b->frameset_ok && sn_build_has_attr(b, "type", &type) &&
              sn_str_eq_nocase(type, SN_STR("hidden"));

    if (is_select_fragment(b))
        return false;
    if (sn_build_in_scope(b, EL_SELECT))
        sn_build_pop_el(b, EL_SELECT);
    void_start(b);
    b->frameset_ok = ok;
    return false;
}

static bool
hr_start(sn_build *b)
{
    sn_build_close_open_p(b);
    if (sn_build_in_scope(b, EL_SELECT))
        sn_build_implied_ends(b, EL_OTHER);
    sn_build_void(b);
    b->frameset_ok = false;
    return false;
}

static bool
image_start(sn_build *b)
{
    b->tok.el = EL_IMG;
    b->tok.name = sn_build_el_id(b, EL_IMG);
    return true;
}

static bool
textarea_start(sn_build *b)
{
    sn_raw_element(b, SN_TAG_TEXTAREA);
    b->skip_lf = true;
    b->frameset_ok = false;
    return false;
}

static bool
xmp_start(sn_build *b)
{
    sn_build_close_open_p(b);
    sn_build_reopen(b);
    b->frameset_ok = false;
    sn_raw_element(b, SN_TAG_XMP);
    return false;
}

static bool
plaintext_start(sn_build *b)
{
    block_start(b);
    b->content = SN_HTML_PLAIN;
    b->raw = SN_TAG_PLAINTEXT;
    return false;
}

static bool
ordinary_start(sn_build *b)
{
    sn_build_reopen(b);
    sn_build_element(b, SN_NS_HTML);
    return false;
}

static bool
select_start(sn_build *b)
{
    if (is_select_fragment(b))
        return false;
    if (sn_build_in_scope(b, EL_SELECT)) {
        sn_build_pop_el(b, EL_SELECT);
        return false;
    }
    ordinary_start(b);
    b->frameset_ok = false;
    return false;
}

static bool
option_start(sn_build *b, sn_tree_el keep)
{
    if (sn_build_in_scope(b, EL_SELECT))
        sn_build_implied_ends(b, keep);
    else if (sn_build_at(b, EL_OPTION))
        sn_build_pop(b);
    return ordinary_start(b);
}

static bool
ruby_start(sn_build *b, sn_tree_el keep)
{
    if (sn_build_in_scope(b, EL_RUBY))
        sn_build_implied_ends(b, keep);
    sn_build_element(b, SN_NS_HTML);
    return false;
}

static bool
foreign_start(sn_build *b, sn_ns ns)
{
    sn_build_reopen(b);
    sn_build_foreign_attrs(b, ns);
    sn_build_element(b, ns);
    if (b->tok.self_closing)
        sn_build_pop(b);
    return false;
}

static bool
noscript_start(sn_build *b)
{
    if (!b->scripting)
        return ordinary_start(b);
    sn_raw_element(b, SN_TAG_NOSCRIPT);
    return false;
}

bool
sn_body_start(sn_build *b)
{
    switch ((sn_tree_el)b->tok.el) {
    case EL_HTML:
        return html_start(b);
    case EL_BASE:
    case EL_BASEFONT:
    case EL_BGSOUND:
    case EL_LINK:
    case EL_META:
    case EL_NOFRAMES:
    case EL_SCRIPT:
    case EL_STYLE:
    case EL_TEMPLATE:
    case EL_TITLE:
        return sn_mode_in_head(b);
    case EL_BODY:
        return body_start(b);
    case EL_FRAMESET:
        return frameset_start(b);
    case EL_ADDRESS:
    case EL_ARTICLE:
    case EL_ASIDE:
    case EL_BLOCKQUOTE:
    case EL_CENTER:
    case EL_DETAILS:
    case EL_DIALOG:
    case EL_DIR:
    case EL_DIV:
    case EL_DL:
    case EL_FIELDSET:
    case EL_FIGCAPTION:
    case EL_FIGURE:
    case EL_FOOTER:
    case EL_HEADER:
    case EL_HGROUP:
    case EL_MAIN:
    case EL_MENU:
    case EL_NAV:
    case EL_OL:
    case EL_P:
    case EL_SEARCH:
    case EL_SECTION:
    case EL_SUMMARY:
    case EL_UL:
        return block_start(b);
    case EL_H1:
    case EL_H2:
    case EL_H3:
    case EL_H4:
    case EL_H5:
    case EL_H6:
        return heading_start(b);
    case EL_PRE:
    case EL_LISTING:
        return pre_start(b);
    case EL_FORM:
        return form_start(b);
    case EL_LI:
        return item_start(b, EL_LI, EL_LI);
    case EL_DD:
    case EL_DT:
        return item_start(b, EL_DD, EL_DT);
    case EL_PLAINTEXT:
        return plaintext_start(b);
    case EL_BUTTON:
        return button_start(b);
    case EL_A:
        return a_start(b);
    case EL_B:
    case EL_BIG:
    case EL_CODE:
    case EL_EM:
    case EL_FONT:
    case EL_I:
    case EL_S:
    case EL_SMALL:
    case EL_STRIKE:
    case EL_STRONG:
    case EL_TT:
    case EL_U:
        return format_start(b);
    case EL_NOBR:
        return nobr_start(b);
    case EL_APPLET:
    case EL_MARQUEE:
    case EL_OBJECT:
        return marked_start(b);
    case EL_TABLE:
        return table_start(b);
    case EL_AREA:
    case EL_BR:
    case EL_EMBED:
    case EL_IMG:
    case EL_KEYGEN:
    case EL_WBR:
        return void_start(b);
    case EL_INPUT:
        return input_start(b);
    case EL_PARAM:
    case EL_SOURCE:
    case EL_TRACK:
        sn_build_void(b);
        return false;
    case EL_HR:
        return hr_start(b);
    case EL_IMAGE:
        return image_start(b);
    case EL_TEXTAREA:
        return textarea_start(b);
    case EL_XMP:
        return xmp_start(b);
    case EL_IFRAME:
        b->frameset_ok = false;
        sn_raw_element(b, SN_TAG_IFRAME);
        return false;
    case EL_NOEMBED:
        sn_raw_element(b, SN_TAG_NOEMBED);
        return false;
    case EL_NOSCRIPT:
        return noscript_start(b);
    case EL_SELECT:
        return select_start(b);
    case EL_OPTION:
        return option_start(b, EL_OPTGROUP);
    case EL_OPTGROUP:
        return option_start(b, EL_OTHER);
    case EL_RB:
    case EL_RTC:
        return ruby_start(b, EL_OTHER);
    case EL_RP:
    case EL_RT:
        return ruby_start(b, EL_RTC);
    case EL_MATH:
        return foreign_start(b, SN_NS_MATH);
    case EL_SVG:
        return foreign_start(b, SN_NS_SVG);
    case EL_CAPTION:
    case EL_COL:
    case EL_COLGROUP:
    case EL_FRAME:
    case EL_HEAD:
    case EL_TBODY:
    case EL_TD:
    case EL_TFOOT:
    case EL_TH:
    case EL_THEAD:
    case EL_TR:
        return false;
    default:
        return ordinary_start(b);
    }
}
