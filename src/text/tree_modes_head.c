/* SPDX-License-Identifier: Apache-2.0 */
/* The modes before a body (13.2.6.4.1 to .6), text (.8) and templates (.22). */
#include "text/tree_build.h"

bool
sn_mode_initial(sn_build *b)
{
    b->tree->quirks = true; /* there is no doctype */
    b->mode = MODE_BEFORE_HTML;
    return true;
}

void
sn_build_html(sn_build *b)
{
    sn_build_implied(b, EL_HTML);
    b->mode = MODE_BEFORE_HEAD;
}

/* End tags that open what is missing, as text does. */
static bool
opens(const sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    return !b->tok.end || el == EL_BODY || el == EL_HTML || el == EL_BR;
}

bool
sn_mode_before_html(sn_build *b)
{
    if (!b->tok.end && b->tok.el == EL_HTML) {
        sn_build_element(b, SN_NS_HTML);
        b->mode = MODE_BEFORE_HEAD;
        return false;
    }
    if (!opens(b) && b->tok.el != EL_HEAD)
        return false;
    sn_build_html(b);
    return true;
}

bool
sn_mode_before_head(sn_build *b)
{
    if (!b->tok.end && b->tok.el == EL_HTML)
        return sn_body_start(b);
    if (!b->tok.end && b->tok.el == EL_HEAD) {
        b->head = sn_build_element(b, SN_NS_HTML);
        b->mode = MODE_IN_HEAD;
        return false;
    }
    if (!opens(b) && b->tok.el != EL_HEAD)
        return false;
    b->head = sn_build_implied(b, EL_HEAD);
    b->mode = MODE_IN_HEAD;
    return true;
}

/* Inserts an element whose content is text up to its end tag. */
void
sn_raw_element(sn_build *b, sn_html_tag raw)
{
    sn_build_element(b, SN_NS_HTML);
    b->content = SN_HTML_RAW;
    b->raw = raw;
    b->original = b->mode;
    b->mode = MODE_TEXT;
}

bool
sn_mode_text(sn_build *b)
{
    sn_build_pop(b);
    b->mode = b->original;
    return false;
}

static void
template_start(sn_build *b)
{
    sn_build_element(b, SN_NS_HTML);
    sn_build_marker(b);
    b->frameset_ok = false;
    b->mode = MODE_IN_TEMPLATE;
    if (b->err == SEINE_OK)
        b->template_mode[b->templates++] = MODE_IN_TEMPLATE;
}

void
sn_template_end(sn_build *b)
{
    if (b->open[EL_TEMPLATE] == 0)
        return;
    sn_build_thorough_ends(b);
    sn_build_pop_el(b, EL_TEMPLATE);
    sn_build_clear_formats(b);
    b->templates--;
    sn_build_reset_mode(b);
}

static bool
head_start(sn_build *b)
{
    switch ((sn_tree_el)b->tok.el) {
    case EL_HTML:
        return sn_body_start(b);
    case EL_BASE:
    case EL_BASEFONT:
    case EL_BGSOUND:
    case EL_LINK:
    case EL_META:
        sn_build_void(b);
        return false;
    case EL_TITLE:
        sn_raw_element(b, SN_TAG_TITLE);
        return false;
    case EL_NOSCRIPT:
        if (b->scripting) {
            sn_raw_element(b, SN_TAG_NOSCRIPT);
        } else {
            sn_build_element(b, SN_NS_HTML);
            b->mode = MODE_IN_NOSCRIPT;
        }
        return false;
    case EL_NOFRAMES:
        sn_raw_element(b, SN_TAG_NOFRAMES);
        return false;
    case EL_STYLE:
        sn_raw_element(b, SN_TAG_STYLE);
        return false;
    case EL_SCRIPT:
        sn_raw_element(b, SN_TAG_SCRIPT);
        return false;
    case EL_TEMPLATE:
        template_start(b);
        return false;
    case EL_HEAD:
        return false;
    default:
        sn_build_pop(b);
        b->mode = MODE_AFTER_HEAD;
        return true;
    }
}

static bool
head_end(sn_build *b)
{
    if (b->tok.el == EL_HEAD) {
        sn_build_pop(b);
        b->mode = MODE_AFTER_HEAD;
        return false;
    }
    if (b->tok.el == EL_TEMPLATE) {
        sn_template_end(b);
        return false;
    }
    if (!opens(b))
        return false;
    sn_build_pop(b);
    b->mode = MODE_AFTER_HEAD;
    return true;
}

bool
sn_mode_in_head(sn_build *b)
{
    return b->tok.end ? head_end(b) : head_start(b);
}

bool
sn_mode_in_noscript(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (b->tok.end && el == EL_NOSCRIPT) {
        sn_build_pop(b);
        b->mode = MODE_IN_HEAD;
        return false;
    }
    if (b->tok.end ? el != EL_BR : el == EL_HEAD || el == EL_NOSCRIPT)
        return false;
    if (!b->tok.end && el == EL_HTML)
        return sn_body_start(b);
    if (!b->tok.end && (el == EL_BASEFONT || el == EL_BGSOUND || el == EL_LINK ||
                        el == EL_META || el == EL_NOFRAMES || el == EL_STYLE))
        return head_start(b);
    sn_build_pop(b);
    b->mode = MODE_IN_HEAD;
    return true;
}

/* Tags of the head after the head: they go into the head. */
static bool
late_head_start(sn_build *b)
{
    sn_open head = {.node = b->head,
                    .name = sn_build_el_id(b, EL_HEAD),
                    .el = EL_HEAD,
                    .sorts = (uint16_t)sn_tree_el_sorts(EL_HEAD, SN_NS_HTML)};
    sn_build_push(b, &head);
    bool again = head_start(b);
    for (uint32_t i = b->depth; i-- > 0;)
        if (b->stack[i].node == b->head) {
            sn_build_drop(b, i);
            break;
        }
    return again;
}

bool
sn_mode_after_head(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (b->tok.end && el == EL_TEMPLATE)
        return head_end(b);
    if (b->tok.end && !opens(b))
        return false;
    switch (b->tok.end ? EL_OTHER : el) {
    case EL_HTML:
        return sn_body_start(b);
    case EL_BODY:
        sn_build_element(b, SN_NS_HTML);
        b->frameset_ok = false;
        b->mode = MODE_IN_BODY;
        return false;
    case EL_FRAMESET:
        sn_build_element(b, SN_NS_HTML);
        b->mode = MODE_IN_FRAMESET;
        return false;
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
        return late_head_start(b);
    case EL_HEAD:
        return false;
    default:
        sn_build_implied(b, EL_BODY);
        b->mode = MODE_IN_BODY;
        return true;
    }
}

/* Returns the mode for the first tag inside of a template. */
static sn_tree_mode
mode_inside(sn_tree_el el)
{
    switch (el) {
    case EL_CAPTION:
    case EL_COLGROUP:
    case EL_TBODY:
    case EL_TFOOT:
    case EL_THEAD:
        return MODE_IN_TABLE;
    case EL_COL:
        return MODE_IN_COLGROUP;
    case EL_TR:
        return MODE_IN_TBODY;
    case EL_TD:
    case EL_TH:
        return MODE_IN_ROW;
    default:
        return MODE_IN_BODY;
    }
}

bool
sn_mode_in_template(sn_build *b)
{
    switch ((sn_tree_el)b->tok.el) {
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
        if (!b->tok.end || b->tok.el == EL_TEMPLATE)
            return sn_mode_in_head(b);
        return false;
    default:
        break;
    }
    if (b->tok.end)
        return false;
    b->mode = (uint8_t)mode_inside((sn_tree_el)b->tok.el);
    b->template_mode[b->templates - 1] = b->mode;
    return true;
}
