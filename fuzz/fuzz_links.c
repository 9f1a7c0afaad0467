/* SPDX-License-Identifier: Apache-2.0 */
/* A byte that says how to cut, then a page: its links are in order and within their
 * limits, and what they are resolved against is a URL. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "seine/links.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_links(const seine_links *l, size_t len)
{
    seine_link k = {0}, before;

    for (size_t i = 0; seine_links_at(l, i, &k); i++) {
        if (i > 0)
            REQUIRE(k.offset >= before.offset);
        if (i > 0)
            REQUIRE(k.line > before.line ||
                    (k.line == before.line && k.col >= before.col));
        REQUIRE(k.offset < len && *k.tag && *k.attr);
        REQUIRE(k.value.ptr && k.text.ptr && k.rel.ptr && k.hreflang.ptr);
        before = k;
    }
}

static void
check_base(const seine_links *l)
{
    static const char page_text[] = "http://e.example/d/p";
    char page_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
    seine_url page, base;

    seine_url_init(&page, page_mem, sizeof page_mem);
    seine_url_init(&base, mem, sizeof mem);
    REQUIRE(seine_url_parse(&page, page_text, sizeof page_text - 1, NULL) == SEINE_OK);
    REQUIRE(seine_links_base_url(l, &page, &base) == SEINE_OK);
    REQUIRE(seine_url_href(&base).len > 0);
}

static void
check_facts(const seine_links *l)
{
    seine_meta m;
    seine_view v;
    uint32_t seconds;

    for (size_t i = 0; seine_links_meta(l, i, &m); i++)
        REQUIRE(*m.attr && m.name.ptr && m.content.ptr);
    for (size_t i = 0; seine_links_jsonld(l, i, &v); i++)
        REQUIRE(v.ptr);
    if (seine_links_refresh(l, &seconds, &v))
        REQUIRE(v.len == 0 || v.ptr);
    REQUIRE(seine_links_title(l).len <= 4096);
    REQUIRE(seine_links_robots(l, "seine") <= 7);
    (void)seine_links_canonical(l);
    (void)seine_links_lang(l);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *page = (const char *)bytes + 1;
    size_t len = n > 0 ? n - 1 : 0, piece = n > 0 ? 1 + bytes[0] % 64U : 1;
    seine_links_opts opts = {.size = sizeof(seine_links_opts),
                             .scripting = n > 0 && (bytes[0] & 0x80),
                             .max_bytes = n > 0 && (bytes[0] & 0x40) ? 100 : 0};
    seine_links *l = NULL;

    if (n == 0)
        return 0;
    REQUIRE(seine_links_new(&opts, &l) == SEINE_OK);
    for (size_t at = 0; at < len; at += piece)
        REQUIRE(seine_links_feed(l, page + at, piece < len - at ? piece : len - at) ==
                SEINE_OK);
    REQUIRE(seine_links_end(l) == SEINE_OK);
    check_links(l, len);
    check_base(l);
    check_facts(l);
    seine_links_free(l);
    return 0;
}
