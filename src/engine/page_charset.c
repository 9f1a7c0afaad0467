/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "engine/page_parts.h"

/* PLAIN: bytes that are looked at together; a title stands among the first ones. */
enum { PLAIN = 256, MARK = 3, CONVERTED = 8 * SN_HTML_VALUE, DECODED = 1 << 24 };

void
sn_page_charset_init(sn_page_charset *c)
{
    *c = (sn_page_charset){0};
    sn_buf_init(&c->decoded, DECODED);
    sn_buf_init(&c->converted, CONVERTED);
}

void
sn_page_charset_fini(sn_page_charset *c)
{
    sn_buf_fini(&c->decoded);
    sn_buf_fini(&c->converted);
}

void
sn_page_charset_begin(sn_page_charset *c, sn_str label, bool is_xml, bool counts)
{
    c->label = label;
    c->is_xml = is_xml;
    c->counts = counts;
    c->is_decided = c->is_guess = c->is_late = false;
    c->choice = (seine_charset_choice){SEINE_CHARSET_UTF_8, SEINE_FROM_DEFAULT, 0};
    c->n_head = c->poured = 0;
    c->errors = 0;
    sn_buf_reset(&c->decoded);
    sn_buf_reset(&c->converted);
}

static void
decide_charset(sn_page_charset *c, sn_str head)
{
    c->is_decided = true;
    c->is_late = false;
    if (!sn_charset_named(head, c->label, &c->choice)) {
        c->choice = (seine_charset_choice){SEINE_CHARSET_UTF_8, SEINE_FROM_DEFAULT, 0};
        c->is_guess = !c->is_xml;
    }
    sn_decoder_init(&c->whole, c->choice.charset);
}

/* Bytes that are needed for the decision: behind a good label only a mark counts. */
static size_t
bytes_needed(const sn_page_charset *c)
{
    seine_charset found;

    return c->label.ptr && seine_charset_find(c->label.ptr, c->label.len, &found)
               ? MARK
               : SEINE_CHARSET_HEAD;
}

/* True if the decision may wait until a byte comes that is not plain. */
static bool
may_wait(const sn_page_charset *c)
{
    return !c->counts && !c->label.ptr;
}

/* Decides, unless it does not matter for these bytes. */
static void
decide_if_needed(sn_page_charset *c)
{
    sn_str head = {c->head, c->n_head};

    if (may_wait(c) && sn_charset_is_plain(head))
        c->is_decided = c->is_late = true;
    else
        decide_charset(c, head);
}

static sn_str
decode_bytes(sn_page_charset *c, sn_str bytes)
{
    if (sn_charset_is_ascii(c->choice.charset)) {
        if (c->counts && c->choice.charset == SEINE_CHARSET_UTF_8)
            sn_decoder_feed(&c->whole, bytes, NULL);
        return bytes;
    }
    sn_buf_truncate(&c->decoded, 0);
    sn_decoder_feed(&c->whole, bytes, &c->decoded);
    return sn_buf_view(&c->decoded);
}

/* Takes what still fits into the head. */
static void
wait_for_more(sn_page_charset *c, sn_str *piece)
{
    size_t room = sizeof c->head - c->n_head;
    size_t n = piece->len < room ? piece->len : room;

    memcpy(c->head + c->n_head, piece->ptr, n);
    c->n_head = (uint16_t)(c->n_head + n);
    *piece = sn_str_slice(*piece, n, piece->len);
}

static bool
give_decoded(sn_page_charset *c, sn_str bytes, sn_str *out_bytes)
{
    *out_bytes = decode_bytes(c, bytes);
    return true;
}

/* Gives the bytes that waited, without their mark. False: none waited. */
static bool
give_head(sn_page_charset *c, sn_str *out_bytes)
{
    if (c->poured == c->n_head)
        return false;
    sn_str head = sn_str_slice((sn_str){c->head, c->n_head}, c->choice.bom, c->n_head);
    c->poured = c->n_head;
    return give_decoded(c, head, out_bytes);
}

/* Puts the decision off, and keeps the beginning of the page for it. */
static void
keep_head(sn_page_charset *c, sn_str page)
{
    memcpy(c->head, page.ptr, sizeof c->head);
    c->n_head = c->poured = sizeof c->head;
    c->is_decided = c->is_late = true;
}

/* Gives a slice of the piece if it is plain, else decides: false. A mark is not plain,
 * and then nothing was given before. */
static bool
give_plain(sn_page_charset *c, sn_str *piece, sn_str *out_bytes)
{
    sn_str slice = sn_str_slice(*piece, 0, PLAIN);

    if (!sn_charset_is_plain(slice)) {
        decide_charset(c, (sn_str){c->head, c->n_head});
        *piece = sn_str_slice(*piece, c->choice.bom, piece->len);
        return false;
    }
    *out_bytes = slice;
    *piece = sn_str_slice(*piece, slice.len, piece->len);
    return true;
}

bool
sn_page_charset_next(sn_page_charset *c, sn_str *piece, sn_str *out_bytes)
{
    if (!c->is_decided && c->n_head == 0 && piece->len >= SEINE_CHARSET_HEAD) {
        if (may_wait(c))
            keep_head(c, *piece);
        else
            decide_charset(c, *piece); /* nothing has to be copied */
        *piece = sn_str_slice(*piece, c->choice.bom, piece->len);
    }
    if (!c->is_decided) {
        if (piece->len > 0)
            wait_for_more(c, piece);
        if (c->n_head < bytes_needed(c))
            return false;
        decide_if_needed(c);
    }
    if (give_head(c, out_bytes))
        return true;
    if (piece->len == 0)
        return false;
    if (c->is_late && give_plain(c, piece, out_bytes))
        return true;
    sn_str all = *piece;
    *piece = (sn_str){0};
    return give_decoded(c, all, out_bytes);
}

bool
sn_page_charset_last(sn_page_charset *c, sn_str *out_bytes)
{
    if (!c->is_decided)
        decide_if_needed(c);
    if (give_head(c, out_bytes))
        return true;
    if (c->is_late)
        return false;
    sn_buf_truncate(&c->decoded, 0);
    sn_decoder_end(&c->whole,
                   sn_charset_is_ascii(c->choice.charset) ? NULL : &c->decoded);
    *out_bytes = sn_buf_view(&c->decoded);
    return out_bytes->len > 0;
}

uint64_t
sn_page_charset_end(sn_page_charset *c)
{
    if (c->is_late)
        return 0;
    if (!c->is_guess)
        return c->errors + c->whole.errors;
    if (c->whole.has_high && c->whole.errors == 0)
        c->choice.from = SEINE_FROM_GUESS;
    else
        c->choice.charset = SEINE_CHARSET_WINDOWS_1252;
    return 0; /* windows-1252 has a character for every byte */
}

/* Values. */

static void
convert_value(sn_page_charset *c, seine_charset charset, sn_str raw)
{
    sn_decoder d;

    sn_decoder_init(&d, charset);
    sn_decoder_feed(&d, raw, &c->converted);
    sn_decoder_end(&d, &c->converted);
    if (charset != SEINE_CHARSET_UTF_8) /* those are counted with the whole */
        c->errors += d.errors;
}

static void
put_byte(sn_buf *out, unsigned char byte)
{
    static const char hex[] = "0123456789ABCDEF";
    char text[3] = {'%', hex[byte >> 4], hex[byte & 15]};

    if (byte < 0x80)
        sn_buf_char(out, (char)byte);
    else
        sn_buf_add(out, text, 3);
}

/* Where the query is: from its question mark up to the fragment. */
static void
find_query(sn_str url, size_t *out_from, size_t *out_to)
{
    *out_to = sn_str_find(url, '#');
    size_t mark = sn_str_find(url, '?');
    *out_from = mark < *out_to ? mark : *out_to;
}

static bool
is_url(sn_html_attr attr)
{
    return attr == SN_ATTR_HREF || attr == SN_ATTR_SRC;
}

sn_str
sn_page_charset_convert(sn_page_charset *c, sn_str raw, sn_html_attr attr)
{
    seine_charset charset = c->choice.charset;
    size_t from, to;

    if (!sn_charset_is_ascii(charset)) /* it is UTF-8 already */
        return raw;
    if (charset == SEINE_CHARSET_UTF_8) {
        if (sn_utf8_valid(raw))
            return raw;
        if (c->is_guess)
            charset = SEINE_CHARSET_WINDOWS_1252;
    }
    sn_buf_truncate(&c->converted, 0);
    find_query(raw, &from, &to);
    if (charset == SEINE_CHARSET_UTF_8 || !is_url(attr) || from == to) {
        convert_value(c, charset, raw);
    } else {
        convert_value(c, charset, sn_str_slice(raw, 0, from));
        for (size_t i = from; i < to; i++)
            put_byte(&c->converted, (unsigned char)raw.ptr[i]);
        convert_value(c, charset, sn_str_slice(raw, to, raw.len));
    }
    return sn_buf_view(&c->converted);
}

/* What a form would send for a character that the encoding does not have. */
static void
put_char(sn_page_charset *c, uint32_t code)
{
    int byte = sn_charset_byte(c->choice.charset, code);
    char text[32];

    if (byte >= 0) {
        put_byte(&c->converted, (unsigned char)byte);
        return;
    }
    int n = snprintf(text, sizeof text, "%%26%%23%u%%3B", (unsigned)code);
    sn_buf_add(&c->converted, text, (size_t)n);
}

sn_str
sn_page_charset_query(sn_page_charset *c, sn_str value)
{
    size_t from, to;

    if (!sn_charset_is_single(c->choice.charset))
        return value;
    find_query(value, &from, &to);
    sn_str query = sn_str_slice(value, from, to);
    if (sn_ascii_len(query) == query.len)
        return value;
    sn_buf_truncate(&c->converted, 0);
    sn_buf_str(&c->converted, sn_str_slice(value, 0, from));
    while (query.len > 0) {
        uint32_t code = 0xfffd;
        size_t n = sn_utf8_decode(query, &code);

        put_char(c, code);
        query = sn_str_slice(query, n > 0 ? n : 1, query.len);
    }
    sn_buf_str(&c->converted, sn_str_slice(value, to, value.len));
    return sn_buf_view(&c->converted);
}

seine_err
sn_page_charset_done(const sn_page_charset *c)
{
    return c->decoded.err != SEINE_OK ? c->decoded.err : c->converted.err;
}
