/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of frames: a <frameset> takes the place of the body as long as nothing was seen
 * of one (13.2.6.4.7), and then only frames have a meaning.
 */
#include <string.h>

#include "text/html.h"

/* Start tags after which a page has a body. */
static const char bodies[][SN_HTML_NAME] = {
    "applet", "area",   "body",   "br",    "button",   "dd",       "dt",      "embed",
    "hr",     "iframe", "img",    "image", "keygen",   "li",       "listing", "marquee",
    "object", "pre",    "select", "table", "template", "textarea", "wbr",     "xmp",
};

/* Letters (bit 1 is a) that such a tag of this length begins with. */
#define LETTER(c) UINT32_C(1) << ((c) - 'a' + 1)
static const uint32_t letters[SN_HTML_NAME] = {
    [2] = LETTER('b') | LETTER('d') | LETTER('h') | LETTER('l'),
    [3] = LETTER('i') | LETTER('p') | LETTER('w') | LETTER('x'),
    [4] = LETTER('a') | LETTER('b'),
    [5] = LETTER('e') | LETTER('i') | LETTER('t'),
    [6] =
        LETTER('a') | LETTER('b') | LETTER('i') | LETTER('k') | LETTER('o') | LETTER('s'),
    [7] = LETTER('l') | LETTER('m'),
    [8] = LETTER('t'),
};
#undef LETTER

static bool
is_body(const sn_html *t)
{
    if (t->name_len >= SN_HTML_NAME || !(letters[t->name_len] >> (t->name[0] & 31) & 1))
        return false;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        if (memcmp(bodies[i], t->name, SN_HTML_NAME) == 0)
            return true;
    return false;
}

void
sn_html_frames_text(sn_html *t, const char *p, size_t n)
{
    for (size_t i = 0; i < n && t->frames_ok; i++)
        t->frames_ok = sn_is_space(p[i]) || p[i] == '\0';
}

/* Tells of a tag while no body was seen; `is_hidden`: it is a hidden input. */
void
sn_html_frames_tag(sn_html *t, bool is_hidden)
{
    if (t->tag == SN_TAG_FRAMESET && !t->end_tag) {
        t->in_frames = true;
        t->framesets = 1;
        t->frames_ok = false;
        t->depth = 0;
        return;
    }
    if (t->tag == SN_TAG_INPUT && !t->end_tag)
        t->frames_ok = is_hidden;
    if (t->end_tag && memcmp(t->name, "br", 3) != 0)
        return;
    if (is_body(t))
        t->frames_ok = false;
}
