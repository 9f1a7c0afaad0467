/* SPDX-License-Identifier: Apache-2.0 */
#include "text/sitemap.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"

void
sn_sitemap_fail(seine_sitemap *s, seine_err e, const char *why)
{
    if (s->err != SEINE_OK)
        return;
    s->err = e;
    s->why = why;
}

void
sn_sitemap_begin_entry(seine_sitemap *s)
{
    memset(s->len, 0, sizeof s->len);
    s->priority = -1;
    s->is_spare_good = true;
}

void
sn_sitemap_put(seine_sitemap *s, sn_sitemap_slot slot, sn_str text)
{
    text = sn_str_trim(text);
    if (text.len == 0)
        return;
    memcpy(s->slots[slot], text.ptr, text.len); /* cut to the size of a slot before */
    s->len[slot] = text.len;
}

static seine_view
view(const seine_sitemap *s, sn_sitemap_slot slot)
{
    return (seine_view){s->len[slot] > 0 ? s->slots[slot] : NULL, s->len[slot]};
}

void
sn_sitemap_give(seine_sitemap *s, bool is_map)
{
    seine_sitemap_entry e = {.loc = view(s, SN_SITEMAP_LOC),
                             .lastmod = view(s, SN_SITEMAP_LASTMOD),
                             .changefreq = view(s, SN_SITEMAP_FREQ),
                             .priority = s->priority,
                             .is_map = is_map};

    if (e.loc.len == 0 || s->is_enough)
        return;
    if (s->urls == s->most.max_urls) {
        s->notes |= SEINE_SITEMAP_CAPPED;
        s->is_enough = true;
        return;
    }
    s->urls++;
    s->is_enough = !s->fn(&e, s->arg);
}

seine_err
seine_sitemap_new(const seine_sitemap_opts *opts, seine_sitemap_fn fn, void *arg,
                  seine_sitemap **out_sitemap)
{
    if (!out_sitemap)
        return SEINE_E_INVAL;
    if (opts && !sn_opts_fit(opts, sizeof *opts))
        return SEINE_E_INVAL;
    seine_sitemap *s = sn_zalloc(sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    s->fn = fn;
    s->arg = arg;
    if (opts)
        s->most = *opts;
    if (s->most.max_urls == 0)
        s->most.max_urls = SEINE_SITEMAP_URLS;
    if (s->most.max_bytes == 0)
        s->most.max_bytes = SEINE_SITEMAP_BYTES;
    sn_codec_init(&s->codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    sn_buf_init(&s->decoded, (size_t)4 * SN_SITEMAP_CHARS);
    seine_sitemap_reset(s);
    *out_sitemap = s;
    return SEINE_OK;
}

void
seine_sitemap_free(seine_sitemap *s)
{
    if (!s)
        return;
    sn_codec_fini(&s->codec);
    sn_buf_fini(&s->decoded);
    sn_free(s->room);
    sn_free(s);
}

void
seine_sitemap_reset(seine_sitemap *s)
{
    if (!s)
        return;
    s->err = SEINE_OK;
    s->why = NULL;
    s->kind = SEINE_SITEMAP_NONE;
    s->notes = 0;
    s->is_enough = false;
    s->urls = s->bytes = s->packed = 0;
    s->pack = SN_PACK_BEFORE;
    s->n_peek = 0;
    s->members = 0;
    s->form = SN_FORM_UNKNOWN;
    s->is_foreign = s->is_long = false;
    s->n_head = 0;
    s->n_prefix = 0;
    sn_sitemap_begin_entry(s);
    sn_xml_init(&s->xml, sn_sitemap_mark, s);
}

seine_err
seine_sitemap_feed(seine_sitemap *s, const char *bytes, size_t n)
{
    if (!s)
        return SEINE_E_INVAL;
    if (s->err == SEINE_OK && !s->is_enough)
        sn_sitemap_bytes(s, (sn_str){bytes, n});
    return s->err;
}

/* After a cap the rest is missing by choice, so an early end is no error. */
seine_err
seine_sitemap_end(seine_sitemap *s)
{
    if (!s)
        return SEINE_E_INVAL;
    if (s->err == SEINE_OK && !s->is_enough)
        sn_sitemap_bytes_end(s);
    if (s->err == SEINE_OK && s->is_enough)
        s->err = s->xml.late;
    return s->err;
}

seine_sitemap_kind
seine_sitemap_what(const seine_sitemap *s)
{
    if (!s)
        return SEINE_SITEMAP_NONE;
    return s->kind;
}

const char *
seine_sitemap_kind_name(seine_sitemap_kind kind)
{
    static const char *const names[SEINE_SITEMAP_KINDS] = {"none", "urlset", "index",
                                                           "rss",  "atom",   "text"};

    return (unsigned)kind < SEINE_SITEMAP_KINDS ? names[kind] : "none";
}

uint64_t
seine_sitemap_count(const seine_sitemap *s)
{
    if (!s)
        return 0;
    return s->urls;
}

void
seine_sitemap_diag(const seine_sitemap *s, seine_diag *out_diag)
{
    if (!s || !out_diag)
        return;
    const char *flaw = s->why ? s->why : s->xml.flaw;

    sn_diag_clear(out_diag);
    if (s->err == SEINE_OK)
        return;
    sn_diag_text(out_diag, "%s", flaw ? flaw : seine_err_text(s->err));
    sn_diag_place(out_diag, NULL, s->why ? 0 : s->xml.flaw_line, 0);
}

size_t
seine_sitemap_flaw(const seine_sitemap *s, seine_err e, char *buf, size_t cap)
{
    seine_diag diag = SEINE_DIAG;
    int n;

    if (!s || !buf)
        return 0;
    seine_sitemap_diag(s, &diag);
    if (diag.line > 0)
        n = snprintf(buf, cap, "%s: line %llu: %s", seine_err_name(e),
                     (unsigned long long)diag.line, diag.text);
    else
        n = snprintf(buf, cap, "%s: %s", seine_err_name(e),
                     diag.text[0] ? diag.text : seine_err_text(e));
    return n > 0 ? (size_t)n : 0;
}

unsigned
seine_sitemap_notes(const seine_sitemap *s)
{
    if (!s)
        return 0;
    return s->notes;
}

const char *
seine_sitemap_note_name(unsigned n)
{
    return n < SEINE_SITEMAP_NOTES ? "sitemap_capped" : NULL;
}
