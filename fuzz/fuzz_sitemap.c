/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte that says how to cut and how much to read, then a sitemap. Entries have a URL
 * and are within their limits, and neither pieces nor a reset nor gzip change what is
 * told.
 */
#include <stdlib.h>
#include <string.h>

#include "base/codec.h"
#include "seine/sitemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

typedef struct heard {
    uint64_t hash, entries;
    seine_err err;
    seine_sitemap_kind kind;
    unsigned notes;
} heard;

static void
add(heard *h, seine_view v)
{
    REQUIRE(v.len <= 8192 && (v.ptr != NULL) == (v.len > 0));
    REQUIRE(v.len == 0 || (!sn_is_space(v.ptr[0]) && !sn_is_space(v.ptr[v.len - 1])));
    for (size_t i = 0; i < v.len; i++)
        h->hash = (h->hash ^ (unsigned char)v.ptr[i]) * 1099511628211u;
    h->hash = (h->hash ^ 0x100) * 1099511628211u;
}

static bool
on_entry(const seine_sitemap_entry *e, void *arg)
{
    heard *h = arg;

    REQUIRE(e->loc.len > 0);
    REQUIRE(e->priority == -1 || (e->priority >= 0 && e->priority <= 1));
    add(h, e->loc);
    add(h, e->lastmod);
    add(h, e->changefreq);
    h->hash =
        (h->hash ^ (uint64_t)(1000 + e->priority * 1000) ^ e->is_map) * 1099511628211u;
    return ++h->entries < 1000;
}

static void
read_in(seine_sitemap *s, heard *h, const char *text, size_t len, size_t piece)
{
    *h = (heard){.hash = 1};
    for (size_t at = 0; at < len && h->err == SEINE_OK; at += piece)
        h->err = seine_sitemap_feed(s, text + at, piece < len - at ? piece : len - at);
    if (h->err == SEINE_OK)
        h->err = seine_sitemap_end(s);
    h->kind = seine_sitemap_what(s);
    h->notes = seine_sitemap_notes(s);
    REQUIRE(h->entries == seine_sitemap_count(s));
}

/* The same behind gzip. */
static void
read_packed(seine_sitemap *s, heard *h, sn_str text, size_t piece)
{
    static char packed[64 << 10];
    sn_codec c;
    sn_codec_room room = {packed, sizeof packed};

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = 1});
    REQUIRE(sn_codec_begin(&c, SN_CODEC_GZIP) == SEINE_OK);
    REQUIRE(sn_codec_step(&c, &text, &room, true) == SN_CODEC_END);
    sn_codec_fini(&c);
    seine_sitemap_reset(s);
    read_in(s, h, packed, sizeof packed - room.len, piece);
}

static void
check_same(const heard *a, const heard *b)
{
    REQUIRE(a->hash == b->hash && a->entries == b->entries);
    REQUIRE(a->err == b->err && a->kind == b->kind && a->notes == b->notes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static heard now; /* the reader keeps its address */
    const char *text = (const char *)bytes + 1;
    size_t len = n > 0 ? n - 1 : 0;
    seine_sitemap *s = NULL;
    seine_diag diag;

    if (n == 0)
        return 0;
    seine_sitemap_opts opts = {.size = sizeof(seine_sitemap_opts),
                               .max_urls = bytes[0] & 0x80 ? 2 : 0,
                               .max_bytes = bytes[0] & 0x40 ? 100 : 0};
    REQUIRE(seine_sitemap_new(&opts, on_entry, &now, &s) == SEINE_OK);
    read_in(s, &now, text, len, len ? len : 1);
    heard whole = now;
    seine_sitemap_diag(s, &diag);
    REQUIRE((diag.text[0] != '\0') == (whole.err != SEINE_OK));
    REQUIRE(whole.kind != SEINE_SITEMAP_NONE || whole.entries == 0);
    REQUIRE(opts.max_urls == 0 || whole.entries <= 2);
    seine_sitemap_reset(s);
    read_in(s, &now, text, len, 1 + bytes[0] % 64U);
    check_same(&now, &whole);
    if (bytes[0] & 0x20 && len < 32 << 10 && len > 0 && text[0] != 0x1f) {
        read_packed(s, &now, (sn_str){text, len}, 1 + bytes[0] % 64U);
        check_same(&now, &whole);
    }
    seine_sitemap_free(s);
    return 0;
}
