/* SPDX-License-Identifier: Apache-2.0 */
/* The stack of open elements and its scopes (13.2.4.2, 13.2.4.1). */
#include <string.h>

#include "text/tree_build.h"

static void
counted(sn_build *b, const sn_open *o, int by)
{
    if (o->ns == SN_NS_HTML)
        b->open[o->el] = (uint16_t)(b->open[o->el] + by);
}

void
sn_build_push(sn_build *b, const sn_open *o)
{
    sn_build_put(b, b->depth, o);
}

void
sn_build_put(sn_build *b, uint32_t at, const sn_open *o)
{
    if (b->depth == SN_TREE_MAX_DEPTH) {
        sn_build_fail(b, SEINE_E_HTML_TOO_DEEP);
        return;
    }
    memmove(b->stack + at + 1, b->stack + at, (b->depth - at) * sizeof *o);
    b->stack[at] = *o;
    b->depth++;
    counted(b, o, 1);
}

void
sn_build_drop(sn_build *b, uint32_t at)
{
    counted(b, &b->stack[at], -1);
    b->depth--;
    memmove(b->stack + at, b->stack + at + 1, (b->depth - at) * sizeof *b->stack);
}

void
sn_build_pop(sn_build *b)
{
    if (b->depth > 0)
        counted(b, &b->stack[--b->depth], -1);
}

void
sn_build_pop_to(sn_build *b, uint32_t depth)
{
    while (b->depth > depth)
        sn_build_pop(b);
}

void
sn_build_pop_el(sn_build *b, sn_tree_el el)
{
    bool found = false;

    while (b->depth > 1 && !found) {
        found = sn_build_at(b, el);
        sn_build_pop(b);
    }
}

static bool
is_in(const sn_build *b, sn_tree_el el, unsigned ends)
{
    if (b->open[el] == 0)
        return false;
    for (uint32_t i = b->depth; i-- > 0;) {
        const sn_open *o = &b->stack[i];

        if (o->el == el && o->ns == SN_NS_HTML)
            return true;
        if (o->sorts & ends)
            return false;
    }
    return false;
}

bool
sn_build_in_scope(const sn_build *b, sn_tree_el el)
{
    return is_in(b, el, SN_EL_SCOPE);
}

bool
sn_build_in_list_scope(const sn_build *b, sn_tree_el el)
{
    return is_in(b, el, SN_EL_SCOPE | SN_EL_LIST_SCOPE);
}

bool
sn_build_in_button_scope(const sn_build *b, sn_tree_el el)
{
    return is_in(b, el, SN_EL_SCOPE | SN_EL_BUTTON_SCOPE);
}

bool
sn_build_in_table_scope(const sn_build *b, sn_tree_el el)
{
    return is_in(b, el, SN_EL_TABLE_SCOPE);
}

bool
sn_build_heading_in_scope(const sn_build *b)
{
    for (uint32_t i = b->depth; i-- > 0 && !(b->stack[i].sorts & SN_EL_SCOPE);)
        if (b->stack[i].ns == SN_NS_HTML && b->stack[i].el >= EL_H1 &&
            b->stack[i].el <= EL_H6)
            return true;
    return false;
}

bool
sn_build_node_in_scope(const sn_build *b, seine_node n)
{
    for (uint32_t i = b->depth; i-- > 0;) {
        if (b->stack[i].node == n)
            return true;
        if (b->stack[i].sorts & SN_EL_SCOPE)
            return false;
    }
    return false;
}

void
sn_build_implied_ends(sn_build *b, sn_tree_el except)
{
    while (b->depth > 1 && (sn_build_top(b)->sorts & SN_EL_IMPLIED) &&
           (except == EL_OTHER || sn_build_top(b)->el != except))
        sn_build_pop(b);
}

void
sn_build_thorough_ends(sn_build *b)
{
    while (b->depth > 1 && (sn_build_top(b)->sorts & (SN_EL_IMPLIED | SN_EL_THOROUGH)))
        sn_build_pop(b);
}

void
sn_build_close_p(sn_build *b)
{
    sn_build_implied_ends(b, EL_P);
    sn_build_pop_el(b, EL_P);
}

void
sn_build_close_open_p(sn_build *b)
{
    if (sn_build_in_button_scope(b, EL_P))
        sn_build_close_p(b);
}

/* Returns the mode that an open element asks for; MODE_COUNT: look further. */
static sn_tree_mode
mode_of(const sn_build *b, const sn_open *o, bool last)
{
    if (o->ns != SN_NS_HTML)
        return MODE_COUNT;
    switch ((sn_tree_el)o->el) {
    case EL_TD:
    case EL_TH:
        return last ? MODE_COUNT : MODE_IN_CELL;
    case EL_TR:
        return MODE_IN_ROW;
    case EL_TBODY:
    case EL_THEAD:
    case EL_TFOOT:
        return MODE_IN_TBODY;
    case EL_CAPTION:
        return MODE_IN_CAPTION;
    case EL_COLGROUP:
        return MODE_IN_COLGROUP;
    case EL_TABLE:
        return MODE_IN_TABLE;
    case EL_TEMPLATE:
        return (sn_tree_mode)b->template_mode[b->templates - 1];
    case EL_HEAD:
        return last ? MODE_COUNT : MODE_IN_HEAD;
    case EL_BODY:
        return MODE_IN_BODY;
    case EL_FRAMESET:
        return MODE_IN_FRAMESET;
    case EL_HTML:
        return b->head == 0 ? MODE_BEFORE_HEAD : MODE_AFTER_HEAD;
    default:
        return MODE_COUNT;
    }
}

void
sn_build_reset_mode(sn_build *b)
{
    sn_tree_mode mode = MODE_COUNT;

    for (uint32_t i = b->depth; i-- > 0 && mode == MODE_COUNT;) {
        bool last = i == 0;

        mode = mode_of(b, last && b->in_fragment ? &b->context : &b->stack[i], last);
    }
    b->mode = (uint8_t)(mode == MODE_COUNT ? MODE_IN_BODY : mode);
}
