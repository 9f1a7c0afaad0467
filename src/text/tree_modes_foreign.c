/* SPDX-License-Identifier: Apache-2.0 */
/* Tags inside of svg and math (13.2.6.5). */
#include "text/tree_build.h"

static bool
is_html_font(const sn_build *b)
{
    sn_str value;

    return b->tok.el == EL_FONT &&
           (sn_build_has_attr(b, "color", &value) ||
            sn_build_has_attr(b, "face", &value) || sn_build_has_attr(b, "size", &value));
}

/* True if the tag is HTML wherever it stands. */
static bool
breaks_out(const sn_build *b)
{
    if (b->tok.end)
        return b->tok.el == EL_BR || b->tok.el == EL_P;
    return (sn_tree_el_sorts((sn_tree_el)b->tok.el, SN_NS_HTML) & SN_EL_BREAKOUT) ||
           is_html_font(b);
}

/* Leaves svg and math: up to HTML, or to an element whose content is HTML. */
static void
leave(sn_build *b)
{
    while (b->depth > 1 && sn_build_top(b)->ns != SN_NS_HTML &&
           !(sn_build_top(b)->sorts & (SN_EL_TEXT_POINT | SN_EL_HTML_POINT)))
        sn_build_pop(b);
}

/* An annotation-xml that says so holds HTML. */
static void
note_annotation(sn_build *b)
{
    sn_str encoding;

    if (sn_build_top(b)->ns == SN_NS_MATH && b->tok.el == EL_ANNOTATION_XML &&
        sn_build_has_attr(b, "encoding", &encoding) &&
        (sn_str_eq_nocase(encoding, SN_STR("text/html")) ||
         sn_str_eq_nocase(encoding, SN_STR("application/xhtml+xml"))))
        sn_build_top(b)->sorts |= SN_EL_HTML_POINT;
}

static bool
start(sn_build *b)
{
    const sn_open *o = b->in_fragment && b->depth == 1 ? &b->context : sn_build_top(b);
    sn_ns ns = (sn_ns)o->ns;

    sn_build_foreign_attrs(b, ns);
    sn_build_element(b, ns);
    note_annotation(b);
    if (b->tok.self_closing)
        sn_build_pop(b);
    return false;
}

/* Closes the nearest element of that name; where HTML comes first, its rules decide. */
static bool
end(sn_build *b)
{
    for (uint32_t i = b->depth; i-- > 1;) {
        const sn_open *o = &b->stack[i];

        if (o->ns == SN_NS_HTML)
            return sn_build_html_rules(b);
        if (o->el == b->tok.el && o->name == b->tok.name) {
            sn_build_pop_to(b, i);
            return false;
        }
    }
    return false;
}

bool
sn_mode_foreign(sn_build *b)
{
    if (breaks_out(b)) {
        leave(b);
        return sn_build_html_rules(b);
    }
    return b->tok.end ? end(b) : start(b);
}
