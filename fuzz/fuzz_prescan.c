/* SPDX-License-Identifier: Apache-2.0 */
/* A page, and before its first line feed the label of a header: the decision is one of
 * the standard's, is made of the first 1,024 bytes where it can be, and a label is what
 * its name says. */
#include <stdlib.h>
#include <string.h>

#include "text/charset.h"

enum {
#define X(id, name) AT_##id,
    SEINE_CHARSETS(X)
#undef X
        CHARSETS
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_label(sn_str label)
{
    seine_charset c, again;

    if (!seine_charset_find(label.ptr, label.len, &c))
        return;
    const char *name = seine_charset_name(c);
    REQUIRE(seine_charset_find(name, strlen(name), &again) && again == c);
}

static void
check_choice(const seine_charset_choice *c, sn_str page)
{
    REQUIRE((unsigned)c->charset < CHARSETS);
    REQUIRE((unsigned)c->from < SEINE_FROM_DEFAULT + 1);
    REQUIRE((c->bom > 0) == (c->from == SEINE_FROM_BOM) && c->bom <= page.len);
    if (c->from == SEINE_FROM_META)
        REQUIRE(c->charset != SEINE_CHARSET_X_USER_DEFINED);
    if (c->from == SEINE_FROM_GUESS)
        REQUIRE(c->charset == SEINE_CHARSET_UTF_8 && sn_utf8_valid(page));
    if (c->from == SEINE_FROM_DEFAULT)
        REQUIRE(c->charset == SEINE_CHARSET_WINDOWS_1252);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str all = {(const char *)bytes, n}, label, page;
    seine_charset_choice whole, head;
    seine_charset found, again;

    sn_str_cut(all, '\n', &label, &page);
    check_label(label);
    seine_charset_decide(page.ptr, page.len, label.ptr, label.len, &whole);
    check_choice(&whole, page);
    /* What the first bytes name, no byte behind them changes. */
    bool scanned = sn_charset_scan(page, &found);
    REQUIRE(sn_charset_scan(sn_str_slice(page, 0, SEINE_CHARSET_HEAD), &again) ==
            scanned);
    REQUIRE(!scanned || found == again);
    if (sn_charset_named(page, label, &head))
        REQUIRE(head.charset == whole.charset && head.from == whole.from);
    return 0;
}
