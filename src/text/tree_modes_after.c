/* SPDX-License-Identifier: Apache-2.0 */
/* Framesets and what follows a body (13.2.6.4.16 to .21). */
#include "text/tree_build.h"

bool
sn_mode_after_body(sn_build *b)
{
    if (b->tok.el == EL_HTML && b->tok.end) {
        if (!b->in_fragment)
            b->mode = MODE_AFTER_AFTER_BODY;
        return false;
    }
    return sn_mode_after_after_body(b);
}

bool
sn_mode_after_after_body(sn_build *b)
{
    if (b->tok.el == EL_HTML && !b->tok.end)
        return sn_body_start(b);
    b->mode = MODE_IN_BODY;
    return true;
}

bool
sn_mode_in_frameset(sn_build *b)
{
    sn_tree_el el = (sn_tree_el)b->tok.el;

    if (b->tok.end) {
        if (el != EL_FRAMESET || b->depth == 1)
            return false;
        sn_build_pop(b);
        if (!b->in_fragment && !sn_build_at(b, EL_FRAMESET))
            b->mode = MODE_AFTER_FRAMESET;
    } else if (el == EL_HTML) {
        return sn_body_start(b);
    } else if (el == EL_FRAMESET) {
        sn_build_element(b, SN_NS_HTML);
    } else if (el == EL_FRAME) {
        sn_build_void(b);
    } else if (el == EL_NOFRAMES) {
        return sn_mode_in_head(b);
    }
    return false;
}

bool
sn_mode_after_frameset(sn_build *b)
{
    if (b->tok.end && b->tok.el == EL_HTML) {
        b->mode = MODE_AFTER_AFTER_FRAMESET;
        return false;
    }
    return sn_mode_after_after_frameset(b);
}

bool
sn_mode_after_after_frameset(sn_build *b)
{
    if (!b->tok.end && b->tok.el == EL_HTML)
        return sn_body_start(b);
    if (!b->tok.end && b->tok.el == EL_NOFRAMES)
        return sn_mode_in_head(b);
    return false;
}
