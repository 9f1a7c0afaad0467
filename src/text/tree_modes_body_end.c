/* SPDX-License-Identifier: Apache-2.0 */
/* End tags in a body (13.2.6.4.7). */
#include "text/tree_build.h"

/* Closes the nearest element of the tag's name, if no special element stands between. */
bool
sn_body_other_end(sn_build *b)
{
    const sn_tree_token *tok = &b->tok;

    for (uint32_t i = b->depth; i-- > 1;) {
        const sn_open *o = &b->stack[i];

        if (o->ns == SN_NS_HTML && o->el == tok->el && o->name == tok->name) {
            sn_build_implied_ends(b, (sn_tree_el)tok->el);
            sn_build_pop_to(b, i);
            return false;
        }
        if (o->sorts & SN_EL_SPECIAL)
            return false;
    }
    return false;
}

static bool
block_end(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (!sn_build_in_scope(b, el))
        return false;
    sn_build_implied_ends(b, EL_OTHER);
    sn_build_pop_el(b, el);
    return false;
}

static bool
marked_end(sn_build *b)
{
    if (!sn_build_in_scope(b, (sn_tree_el)b->tok.el))
        return false;
    block_end(b);
    sn_build_clear_formats(b);
    return false;
}

static bool
body_end(sn_build *b)
{
    if (!sn_build_in_scope(b, EL_BODY))
        return false;
    b->mode = MODE_AFTER_BODY;
    return b->tok.el == EL_HTML;
}

static bool
form_end(sn_build *b)
{
    seine_node form = b->form;

    if (b->open[EL_TEMPLATE] > 0)
        return block_end(b);
    b->form = 0;
    if (form == 0 || !sn_build_node_in_scope(b, form))
        return false;
    sn_build_implied_ends(b, EL_OTHER);
    for (uint32_t i = b->depth; i-- > 0;)
        if (b->stack[i].node == form) {
            sn_build_drop(b, i);
            break;
        }
    return false;
}

static bool
p_end(sn_build *b)
{
    if (!sn_build_in_button_scope(b, EL_P))
        sn_build_implied(b, EL_P);
    sn_build_close_p(b);
    return false;
}

static bool
item_end(sn_build *b, bool in_scope)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (!in_scope)
        return false;
    sn_build_implied_ends(b, el);
    sn_build_pop_el(b, el);
    return false;
}

static bool
heading_end(sn_build *b)
{
    bool found = false;

    if (!sn_build_heading_in_scope(b))
        return false;
    sn_build_implied_ends(b, EL_OTHER);
    while (b->depth > 1 && !found) {
        const sn_open *o = sn_build_top(b);

        found = o->ns == SN_NS_HTML && o->el >= EL_H1 && o->el <= EL_H6;
        sn_build_pop(b);
    }
    return false;
}

static bool
br_end(sn_build *b)
{
    sn_build_reopen(b);
    sn_build_implied(b, EL_BR);
    sn_build_pop(b);
    b->frameset_ok = false;
    return false;
}

bool
sn_body_end(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    switch (el) {
    case EL_TEMPLATE:
        sn_template_end(b);
        return false;
    case EL_BODY:
    case EL_HTML:
        return body_end(b);
    case EL_ADDRESS:
    case EL_ARTICLE:
    case EL_ASIDE:
    case EL_BLOCKQUOTE:
    case EL_BUTTON:
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
    case EL_LISTING:
    case EL_MAIN:
    case EL_MENU:
    case EL_NAV:
    case EL_OL:
    case EL_PRE:
    case EL_SEARCH:
    case EL_SECTION:
    case EL_SELECT:
    case EL_SUMMARY:
    case EL_UL:
        return block_end(b);
    case EL_FORM:
        return form_end(b);
    case EL_P:
        return p_end(b);
    case EL_LI:
        return item_end(b, sn_build_in_list_scope(b, el));
    case EL_DD:
    case EL_DT:
        return item_end(b, sn_build_in_scope(b, el));
    case EL_H1:
    case EL_H2:
    case EL_H3:
    case EL_H4:
    case EL_H5:
    case EL_H6:
        return heading_end(b);
    case EL_APPLET:
    case EL_MARQUEE:
    case EL_OBJECT:
        return marked_end(b);
    case EL_BR:
        return br_end(b);
    default:
        if (sn_tree_el_sorts(el, SN_NS_HTML) & SN_EL_FORMAT)
            sn_build_adopt(b, el);
        else
            sn_body_other_end(b);
        return false;
    }
}
