/* SPDX-License-Identifier: Apache-2.0 */
/* Tables (13.2.6.4.9 to .15). */
#include "text/tree_build.h"

static bool
is_start(const sn_build *b, sn_tree_el el)
{
    return !b->tok.end && b->tok.el == el;
}

static bool
is_end(const sn_build *b, sn_tree_el el)
{
    return b->tok.end && b->tok.el == el;
}

static bool
is_cell(sn_tree_el el)
{
    return el == EL_TD || el == EL_TH;
}

static bool
is_body(sn_tree_el el)
{
    return el == EL_TBODY || el == EL_TFOOT || el == EL_THEAD;
}

/* Pops down to a table, one of its bodies or a row: what the next part stands in. */
static void
clear_to(sn_build *b, sn_tree_el first, sn_tree_el second, sn_tree_el third)
{
    while (b->depth > 1 && !sn_build_at(b, first) && !sn_build_at(b, second) &&
           !sn_build_at(b, third) && !sn_build_at(b, EL_TEMPLATE))
        sn_build_pop(b);
}

static void
clear_to_table(sn_build *b)
{
    clear_to(b, EL_TABLE, EL_TABLE, EL_TABLE);
}

static void
clear_to_body(sn_build *b)
{
    clear_to(b, EL_TBODY, EL_TFOOT, EL_THEAD);
}

static void
clear_to_row(sn_build *b)
{
    clear_to(b, EL_TR, EL_TR, EL_TR);
}

/* Inserts the tag's element into the table. */
static bool
table_part(sn_build *b, sn_tree_mode mode)
{
    clear_to_table(b);
    if (mode == MODE_IN_CAPTION)
        sn_build_marker(b);
    sn_build_element(b, SN_NS_HTML);
    b->mode = (uint8_t)mode;
    return false;
}

/* Opens a part that the page left out. */
static bool
implied_part(sn_build *b, sn_tree_el el, sn_tree_mode mode)
{
    clear_to_table(b);
    sn_build_implied(b, el);
    b->mode = (uint8_t)mode;
    return true;
}

static bool
close_table(sn_build *b)
{
    if (!sn_build_in_table_scope(b, EL_TABLE))
        return false;
    sn_build_pop_el(b, EL_TABLE);
    sn_build_reset_mode(b);
    return true;
}

/* Anything else goes in front of the table. */
static bool
fostered(sn_build *b)
{
    b->foster = true;
    bool again = sn_mode_in_body(b);
    b->foster = false;
    return again;
}

static bool
hidden_input(sn_build *b)
{
    sn_str type;

    if (!sn_build_has_attr(b, "type", &type) || !sn_str_eq_nocase(type, SN_STR("hidden")))
        return fostered(b);
    sn_build_void(b);
    return false;
}

static bool
form_in_table(sn_build *b)
{
    if (b->open[EL_TEMPLATE] > 0 || b->form != 0)
        return false;
    b->form = sn_build_element(b, SN_NS_HTML);
    sn_build_pop(b);
    return false;
}

static bool
table_start(sn_build *b)
{
    switch ((sn_tree_el)b->tok.el) {
    case EL_CAPTION:
        return table_part(b, MODE_IN_CAPTION);
    case EL_COLGROUP:
        return table_part(b, MODE_IN_COLGROUP);
    case EL_COL:
        return implied_part(b, EL_COLGROUP, MODE_IN_COLGROUP);
    case EL_TBODY:
    case EL_TFOOT:
    case EL_THEAD:
        return table_part(b, MODE_IN_TBODY);
    case EL_TD:
    case EL_TH:
    case EL_TR:
        return implied_part(b, EL_TBODY, MODE_IN_TBODY);
    case EL_TABLE:
        return close_table(b);
    case EL_STYLE:
    case EL_SCRIPT:
    case EL_TEMPLATE:
        return sn_mode_in_head(b);
    case EL_INPUT:
        return hidden_input(b);
    case EL_FORM:
        return form_in_table(b);
    default:
        return fostered(b);
    }
}

static bool
table_end(sn_build *b)
{
    switch ((sn_tree_el)b->tok.el) {
    case EL_TABLE:
        close_table(b);
        return false;
    case EL_BODY:
    case EL_CAPTION:
    case EL_COL:
    case EL_COLGROUP:
    case EL_HTML:
    case EL_TBODY:
    case EL_TD:
    case EL_TFOOT:
    case EL_TH:
    case EL_THEAD:
    case EL_TR:
        return false;
    case EL_TEMPLATE:
        sn_template_end(b);
        return false;
    default:
        return fostered(b);
    }
}

bool
sn_mode_in_table(sn_build *b)
{
    return b->tok.end ? table_end(b) : table_start(b);
}

static bool
close_caption(sn_build *b)
{
    if (!sn_build_in_table_scope(b, EL_CAPTION))
        return false;
    sn_build_implied_ends(b, EL_OTHER);
    sn_build_pop_el(b, EL_CAPTION);
    sn_build_clear_formats(b);
    b->mode = MODE_IN_TABLE;
    return true;
}

/* Start tags that only a table, its body or row may hold. */
static bool
is_part_start(const sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    return !b->tok.end && (el == EL_CAPTION || el == EL_COL || el == EL_COLGROUP ||
                           is_body(el) || is_cell(el) || el == EL_TR);
}

bool
sn_mode_in_caption(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (is_end(b, EL_CAPTION)) {
        close_caption(b);
        return false;
    }
    if (is_part_start(b) || is_end(b, EL_TABLE))
        return close_caption(b);
    if (b->tok.end && (el == EL_BODY || el == EL_COL || el == EL_COLGROUP ||
                       el == EL_HTML || is_body(el) || is_cell(el) || el == EL_TR))
        return false;
    return sn_mode_in_body(b);
}

bool
sn_mode_in_colgroup(sn_build *b)
{
    if (is_start(b, EL_HTML))
        return sn_body_start(b);
    if (is_start(b, EL_COL)) {
        sn_build_void(b);
        return false;
    }
    if (b->tok.el == EL_TEMPLATE)
        return sn_mode_in_head(b);
    if (is_end(b, EL_COL) || !sn_build_at(b, EL_COLGROUP))
        return false;
    sn_build_pop(b);
    b->mode = MODE_IN_TABLE;
    return !is_end(b, EL_COLGROUP);
}

/* Closes the body of the table, whichever it is. */
static bool
close_body(sn_build *b)
{
    if (!sn_build_in_table_scope(b, EL_TBODY) && !sn_build_in_table_scope(b, EL_THEAD) &&
        !sn_build_in_table_scope(b, EL_TFOOT))
        return false;
    clear_to_body(b);
    sn_build_pop(b);
    b->mode = MODE_IN_TABLE;
    return true;
}

static bool
tbody_start(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (el == EL_TR || is_cell(el)) {
        clear_to_body(b);
        b->mode = MODE_IN_ROW;
        if (el == EL_TR)
            sn_build_element(b, SN_NS_HTML);
        else
            sn_build_implied(b, EL_TR);
        return el != EL_TR;
    }
    if (is_part_start(b))
        return close_body(b);
    return sn_mode_in_table(b);
}

static bool
tbody_end(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (is_body(el)) {
        if (!sn_build_in_table_scope(b, el))
            return false;
        clear_to_body(b);
        sn_build_pop(b);
        b->mode = MODE_IN_TABLE;
        return false;
    }
    if (el == EL_TABLE)
        return close_body(b);
    if (is_cell(el) || el == EL_TR)
        return false;
    return sn_mode_in_table(b);
}

bool
sn_mode_in_tbody(sn_build *b)
{
    return b->tok.end ? tbody_end(b) : tbody_start(b);
}

static bool
close_row(sn_build *b)
{
    if (!sn_build_in_table_scope(b, EL_TR))
        return false;
    clear_to_row(b);
    sn_build_pop(b);
    b->mode = MODE_IN_TBODY;
    return true;
}

static bool
cell_start(sn_build *b)
{
    clear_to_row(b);
    sn_build_element(b, SN_NS_HTML);
    b->mode = MODE_IN_CELL;
    sn_build_marker(b);
    return false;
}

static bool
row_end(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (el == EL_TR) {
        close_row(b);
        return false;
    }
    if (el == EL_TABLE)
        return close_row(b);
    if (is_body(el))
        return sn_build_in_table_scope(b, el) && close_row(b);
    if (is_cell(el))
        return false;
    return sn_mode_in_table(b);
}

bool
sn_mode_in_row(sn_build *b)
{
    if (b->tok.end)
        return row_end(b);
    if (is_cell((sn_tree_el)b->tok.el))
        return cell_start(b);
    if (is_part_start(b))
        return close_row(b);
    return sn_mode_in_table(b);
}

static bool
close_cell(sn_build *b)
{
    bool found = false;

    sn_build_implied_ends(b, EL_OTHER);
    while (b->depth > 1 && !found) {
        found = sn_build_at(b, EL_TD) || sn_build_at(b, EL_TH);
        sn_build_pop(b);
    }
    sn_build_clear_formats(b);
    b->mode = MODE_IN_ROW;
    return true;
}

static bool
cell_end(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (!sn_build_in_table_scope(b, el))
        return false;
    sn_build_implied_ends(b, EL_OTHER);
    sn_build_pop_el(b, el);
    sn_build_clear_formats(b);
    b->mode = MODE_IN_ROW;
    return false;
}

bool
sn_mode_in_cell(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (is_part_start(b))
        return (sn_build_in_table_scope(b, EL_TD) || sn_build_in_table_scope(b, EL_TH)) &&
               close_cell(b);
    if (!b->tok.end)
        return sn_body_start(b);
    if (is_cell(el))
        return cell_end(b);
    if (el == EL_BODY || el == EL_CAPTION || el == EL_COL || el == EL_COLGROUP ||
        el == EL_HTML)
        return false;
    if (el == EL_TABLE || is_body(el) || el == EL_TR)
        return sn_build_in_table_scope(b, el) && close_cell(b);
    return sn_body_end(b);
}
