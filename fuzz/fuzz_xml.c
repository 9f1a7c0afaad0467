/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte that says how to cut and what is wanted, then XML. Elements open and close in
 * order, texts keep their limits, the work is linear, and pieces change nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "text/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

typedef struct listener {
    uint64_t hash; /* of all that was told */
    unsigned depth, wants;
} listener;

static void
add(listener *l, sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        l->hash = (l->hash ^ (unsigned char)s.ptr[i]) * 1099511628211u;
    l->hash = (l->hash ^ 0x100) * 1099511628211u;
}

static sn_xml_answer
on_event(const sn_xml_event *e, void *arg)
{
    listener *l = arg;
    uint8_t role = (uint8_t)(1 + e->name.len % 5);

    add(l, e->prefix);
    add(l, e->name);
    add(l, e->value);
    REQUIRE(e->value.len <= SN_XML_TEXT && e->name.len <= SN_XML_NAME);
    if (e->what == SN_XML_OPEN)
        l->depth++;
    REQUIRE(l->depth == e->depth && e->depth > 0 && e->depth <= SN_XML_DEPTH);
    REQUIRE((e->parent == 0) == (e->depth == 1));
    REQUIRE((e->role == 0) == (e->what == SN_XML_OPEN));
    if (e->what == SN_XML_CLOSE)
        l->depth--;
    return (sn_xml_answer){.role = role,
                           .text = (l->wants & 1) || e->name.len % 2,
                           .attrs = l->wants & 2,
                           .stop = (l->wants & 4) && e->name.len == 7};
}

static seine_err
read_in(sn_xml *x, listener *l, sn_str text, size_t piece)
{
    seine_err e = SEINE_OK;

    l->depth = 0;
    l->hash = 1;
    sn_xml_init(x, on_event, l);
    while (text.len > 0 && e == SEINE_OK) {
        size_t k = piece < text.len ? piece : text.len;

        e = sn_xml_feed(x, (sn_str){text.ptr, k});
        text = sn_str_slice(text, k, text.len);
    }
    return e == SEINE_OK ? sn_xml_end(x) : e;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static sn_xml x;
    sn_str text = {(const char *)bytes + 1, n > 0 ? n - 1 : 0};

    if (n == 0)
        return 0;
    listener l = {.wants = bytes[0] >> 5};
    seine_err e = read_in(&x, &l, text, SIZE_MAX);
    uint64_t hash = l.hash, line = x.flaw_line;
    const char *flaw = x.flaw;

    REQUIRE(e == SEINE_OK || (e == SEINE_E_BAD_XML && flaw && line > 0));
    REQUIRE(x.steps <= 16 * text.len + 4096);
    REQUIRE(read_in(&x, &l, text, 1 + bytes[0] % 32U) == e);
    REQUIRE(l.hash == hash && x.flaw == flaw && x.flaw_line == line);
    REQUIRE(x.steps <= 16 * text.len + 4096);
    return 0;
}
