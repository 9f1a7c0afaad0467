/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the bytes of a file into text: decompresses, detects and decodes. */
#include <string.h>

#include "base/alloc.h"
#include "text/sitemap.h"

static bool
goes_on(const seine_sitemap *s)
{
    return s->err == SEINE_OK && !s->is_enough;
}

/* Ends a line of plain text: emits it if it is a URL. */
static void
end_line(seine_sitemap *s)
{
    sn_str line = sn_str_trim((sn_str){s->slots[SN_SITEMAP_LOC], s->len[SN_SITEMAP_LOC]});
    bool is_url = sn_str_starts_nocase(line, SN_STR("http://")) ||
                  sn_str_starts_nocase(line, SN_STR("https://"));

    if (is_url && !s->is_long) {
        s->kind = SEINE_SITEMAP_TEXT;
        memmove(s->slots[SN_SITEMAP_LOC], line.ptr, line.len);
        s->len[SN_SITEMAP_LOC] = line.len;
        sn_sitemap_give(s, false);
    }
    s->len[SN_SITEMAP_LOC] = 0;
    s->is_long = false;
}

static void
lines(seine_sitemap *s, sn_str in)
{
    while (in.len > 0 && goes_on(s)) {
        size_t n = 0, *have = &s->len[SN_SITEMAP_LOC];

        while (n < in.len && in.ptr[n] != '\n' && in.ptr[n] != '\r')
            n++;
        if (n > SN_XML_TEXT - *have)
            s->is_long = true;
        else
            memcpy(s->slots[SN_SITEMAP_LOC] + *have, in.ptr, n), *have += n;
        if (n < in.len) {
            end_line(s);
            n++;
        }
        in = sn_str_slice(in, n, in.len);
    }
    if (s->kind == SEINE_SITEMAP_NONE && s->bytes > SN_SITEMAP_BLIND)
        sn_sitemap_fail(s, SEINE_E_BAD_XML, "neither XML nor a list of URLs");
}

static void
characters(seine_sitemap *s, sn_str in)
{
    if (s->form == SN_FORM_TEXT) {
        lines(s, in);
        return;
    }
    seine_err e = sn_xml_feed(&s->xml, in);
    if (e != SEINE_OK)
        sn_sitemap_fail(s, e, NULL);
    if (s->xml.is_over)
        s->is_enough = true; /* ignores everything after the root element */
}

/* Returns the value of encoding="…" in <?xml …?>, or an empty text. */
static sn_str
declared(sn_str head)
{
    static const char word[] = "encoding";
    const char *at = memmem(head.ptr, head.len, word, sizeof word - 1);
    sn_str rest = {0}, value;

    if (!at)
        return rest;
    at += sizeof word - 1;
    rest = sn_str_trim((sn_str){at, (size_t)(head.ptr + head.len - at)});
    if (rest.len == 0 || *rest.ptr != '=')
        return (sn_str){0};
    rest = sn_str_trim(sn_str_slice(rest, 1, rest.len));
    if (rest.len == 0 || (*rest.ptr != '"' && *rest.ptr != '\''))
        return (sn_str){0};
    sn_str_cut(sn_str_slice(rest, 1, rest.len), *rest.ptr, &value, &rest);
    return value;
}

static void
set_encoding(seine_sitemap *s, seine_charset c)
{
    s->is_foreign = true;
    sn_decoder_init(&s->decoder, c);
}

/* A declaration that could be read as ASCII is not UTF-16, whatever it says. */
static void
set_declared(seine_sitemap *s, sn_str name)
{
    seine_charset c = SEINE_CHARSET_UTF_8;

    if (name.len > 0 && !seine_charset_find(name.ptr, name.len, &c))
        sn_sitemap_fail(s, SEINE_E_BAD_CHARSET, "its encoding is not known");
    else if (c != SEINE_CHARSET_UTF_8 && sn_charset_is_ascii(c))
        set_encoding(s, c);
}

/* Detects UTF-16 by its byte order mark, which is skipped, or by its first "<". */
static bool
detect_utf16(seine_sitemap *s)
{
    sn_str head = {s->head, s->n_head};

    if (sn_str_eq(head, SN_STR("\xff\xfe")) || sn_str_eq(head, SN_STR("<\0")))
        set_encoding(s, SEINE_CHARSET_UTF_16LE);
    else if (sn_str_eq(head, SN_STR("\xfe\xff")) || sn_str_eq(head, SN_STR("\0<")))
        set_encoding(s, SEINE_CHARSET_UTF_16BE);
    else
        return false;
    if ((unsigned char)s->head[0] >= 0xfe)
        s->n_head = 0;
    return true;
}

/* True for a byte that may be half of a UTF-16 character or of a byte order mark. */
static bool
is_odd(unsigned char c)
{
    return c >= 0xfe || c == '\0' || c == '<';
}

/* Decides the format if the first bytes suffice; skips a UTF-8 byte order mark. */
static void
decide(seine_sitemap *s, bool is_last)
{
    static const sn_str mark = {"\xef\xbb\xbf", 3}, xml = {"<?xml", 5};
    sn_str head = {s->head, s->n_head};
    unsigned char first = head.len > 0 ? (unsigned char)head.ptr[0] : 0;

    if (sn_str_eq(head, mark)) {
        s->n_head = 0;
        return;
    }
    if (!is_last && (sn_str_starts(mark, head) || (head.len == 1 && is_odd(first))))
        return;
    if (!s->is_foreign && detect_utf16(s))
        return;
    s->form = first == '<' ? SN_FORM_XML : SN_FORM_TEXT;
    if (s->form == SN_FORM_TEXT)
        return;
    bool may_say = sn_str_starts(xml, head) || sn_str_starts(head, xml);
    if (may_say && !is_last && head.len < sizeof s->head &&
        sn_str_find(head, '>') == head.len)
        s->form = SN_FORM_UNKNOWN;
    else if (sn_str_starts(head, xml) && !s->is_foreign)
        set_declared(s, declared(head));
}

/* Skips leading blanks and collects the head, until the format is known or the bytes must
 * be decoded first. */
static void
sniff(seine_sitemap *s, sn_str *in)
{
    bool was_foreign = s->is_foreign;

    while (in->len > 0 && s->form == SN_FORM_UNKNOWN && goes_on(s) &&
           s->is_foreign == was_foreign) {
        char c = *in->ptr;

        *in = sn_str_slice(*in, 1, in->len);
        s->xml.line += c == '\n' && s->n_head == 0;
        if (s->n_head == 0 && sn_is_space(c))
            continue;
        s->head[s->n_head++] = c;
        decide(s, false);
    }
}

/* Reads UTF-8 text. Stops after the head if the encoding turns out to be another, and
 * leaves the rest in `in`. */
static void
text(seine_sitemap *s, sn_str *in)
{
    bool was_foreign = s->is_foreign;

    if (s->form == SN_FORM_UNKNOWN) {
        sniff(s, in);
        if (s->is_foreign != was_foreign || s->form == SN_FORM_UNKNOWN || !goes_on(s))
            return;
        characters(s, (sn_str){s->head, s->n_head});
    }
    if (goes_on(s))
        characters(s, *in);
    *in = (sn_str){0};
}

/* Reads what the decoder wrote. */
static void
take_decoded(seine_sitemap *s)
{
    sn_str made = sn_buf_view(&s->decoded);
    seine_err e = sn_buf_done(&s->decoded);

    if (e != SEINE_OK)
        sn_sitemap_fail(s, e, seine_err_text(e));
    else if (made.len > 0)
        text(s, &made);
}

static void
decode(seine_sitemap *s, sn_str in)
{
    while (in.len > 0 && goes_on(s)) {
        sn_buf_reset(&s->decoded);
        sn_decoder_feed(&s->decoder, sn_str_slice(in, 0, SN_SITEMAP_CHARS), &s->decoded);
        in = sn_str_slice(in, SN_SITEMAP_CHARS, in.len);
        take_decoded(s);
    }
}

/* Decodes bytes of another encoding; the head itself may need decoding. */
static void
encoded(seine_sitemap *s, sn_str in)
{
    char head[SN_SITEMAP_HEAD];
    size_t n;

    if (!s->is_foreign) {
        text(s, &in);
        if (!s->is_foreign || !goes_on(s))
            return;
        n = s->n_head;
        memcpy(head, s->head, n);
        s->n_head = 0;
        decode(s, (sn_str){head, n});
    }
    decode(s, in);
}

/* Reads decompressed bytes. */
static void
plain(seine_sitemap *s, sn_str in)
{
    uint64_t left = s->most.max_bytes - s->bytes;
    bool is_more = in.len > left;

    if (is_more)
        in.len = (size_t)left;
    s->bytes += in.len;
    if (in.len > 0)
        encoded(s, in);
    if (is_more && goes_on(s)) {
        s->notes |= SEINE_SITEMAP_CAPPED;
        s->is_enough = true;
    }
}

static void
begin_member(seine_sitemap *s)
{
    if (!s->room)
        s->room = sn_alloc(SN_SITEMAP_STEP);
    seine_err e = s->room ? sn_codec_begin(&s->codec, SN_CODEC_GZIP) : SEINE_E_NOMEM;

    if (e == SEINE_OK && s->members++ == SN_SITEMAP_MEMBERS)
        e = SEINE_E_BAD_ENCODING;
    if (e != SEINE_OK)
        sn_sitemap_fail(s, e, seine_err_text(e));
    s->pack = SN_PACK_INSIDE;
}

/* Decompresses all of `in`. */
static void
unpack(seine_sitemap *s, sn_str *in)
{
    sn_codec_event event = SN_CODEC_ROOM;

    while (event == SN_CODEC_ROOM && goes_on(s)) {
        sn_codec_room room = {s->room, SN_SITEMAP_STEP};
        size_t before = in->len;

        event = sn_codec_step(&s->codec, in, &room, false);
        s->packed += before - in->len;
        plain(s, (sn_str){s->room, SN_SITEMAP_STEP - room.len});
        if (s->bytes > SN_SITEMAP_RATIO_FROM && s->bytes / SN_SITEMAP_RATIO > s->packed &&
            goes_on(s))
            sn_sitemap_fail(s, SEINE_E_BODY_TOO_LARGE,
                            "gzip makes too much of its bytes");
    }
    if (event == SN_CODEC_FAIL)
        sn_sitemap_fail(s, s->codec.err, "its gzip is damaged");
    if (event == SN_CODEC_END) {
        s->pack = SN_PACK_BEFORE;
        s->n_peek = 0;
    }
}

/* Reads the start of a gzip member: plain data if there was no member before, ignored if
 * there was. */
static void
before(seine_sitemap *s, sn_str *in, bool is_last)
{
    sn_codec_match match = SN_CODEC_MAYBE;

    while (in->len > 0 && match == SN_CODEC_MAYBE) {
        s->peek[s->n_peek++] = *in->ptr;
        *in = sn_str_slice(*in, 1, in->len);
        match = sn_codec_match_of(SN_CODEC_GZIP, (sn_str){s->peek, s->n_peek});
    }
    sn_str peeked = {s->peek, s->n_peek};
    if (match == SN_CODEC_YES) {
        begin_member(s);
        if (goes_on(s))
            unpack(s, &peeked);
    } else if (match == SN_CODEC_NO || is_last) {
        s->pack = s->members > 0 ? SN_PACK_BEHIND : SN_PACK_NONE;
        if (s->members == 0)
            plain(s, peeked);
    }
}

void
sn_sitemap_bytes(seine_sitemap *s, sn_str in)
{
    while (in.len > 0 && goes_on(s) && s->pack != SN_PACK_BEHIND) {
        if (s->pack == SN_PACK_BEFORE) {
            before(s, &in, false);
        } else if (s->pack == SN_PACK_INSIDE) {
            unpack(s, &in);
        } else {
            plain(s, in);
            return;
        }
    }
}

static void
end_text(seine_sitemap *s)
{
    if (s->is_foreign) {
        sn_buf_reset(&s->decoded);
        sn_decoder_end(&s->decoder, &s->decoded);
        take_decoded(s);
    }
    if (s->form == SN_FORM_UNKNOWN && s->n_head > 0) {
        decide(s, true);
        if (goes_on(s))
            characters(s, (sn_str){s->head, s->n_head});
    }
    if (s->form == SN_FORM_TEXT && goes_on(s))
        end_line(s);
    if (s->form != SN_FORM_XML) {
        if (s->kind == SEINE_SITEMAP_NONE)
            sn_sitemap_fail(s, SEINE_E_BAD_XML, "neither XML nor a list of URLs");
        return;
    }
    seine_err e = goes_on(s) ? sn_xml_end(&s->xml) : SEINE_OK;
    if (e != SEINE_OK)
        sn_sitemap_fail(s, e, NULL);
}

void
sn_sitemap_bytes_end(seine_sitemap *s)
{
    if (s->pack == SN_PACK_BEFORE && s->n_peek > 0)
        before(s, &(sn_str){0}, true);
    if (s->pack == SN_PACK_INSIDE)
        sn_sitemap_fail(s, SEINE_E_BODY_TRUNCATED, "its gzip ends too early");
    if (goes_on(s))
        end_text(s);
}
