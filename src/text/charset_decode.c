/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoders of the Encoding Standard. Where the standard "restores" bytes, step() is
 * called with them again, at most three levels deep.
 */
#include <string.h>

#include "base/scan.h"
#include "text/charset.h"

#include "charsets.inc"

enum {
    BLOCK = SN_DECODER_BLOCK,
    WIDEST = 3,
    REST = 16
}; /* bytes out per byte in; held bytes */

typedef struct work {
    sn_decoder *d;
    char *at; /* there is always room here */
} work;

static void step_byte(work *w, uint8_t byte);

static void
put_char(work *w, uint32_t c)
{
    char *p = w->at;

    if (c < 0x80) {
        *p++ = (char)c;
    } else if (c < 0x800) {
        *p++ = (char)(0xc0 | c >> 6);
        *p++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *p++ = (char)(0xe0 | c >> 12);
        *p++ = (char)(0x80 | (c >> 6 & 63));
        *p++ = (char)(0x80 | (c & 63));
    } else {
        *p++ = (char)(0xf0 | c >> 18);
        *p++ = (char)(0x80 | (c >> 12 & 63));
        *p++ = (char)(0x80 | (c >> 6 & 63));
        *p++ = (char)(0x80 | (c & 63));
    }
    w->at = p;
}

static void
bad(work *w)
{
    w->d->errors++;
    put_char(w, 0xfffd);
}

static void
put_or_bad(work *w, uint32_t c)
{
    if (c != 0)
        put_char(w, c);
    else
        bad(w);
}

/* Writes the character of a byte pair. An invalid pair becomes U+FFFD, and an ASCII
 * second byte is then decoded again by itself. */
static void
put_pair(work *w, uint32_t c, uint8_t second)
{
    if (c != 0) {
        put_char(w, c);
        return;
    }
    bad(w);
    if (second < 0x80)
        step_byte(w, second);
}

static bool
is_in(uint8_t b, uint8_t from, uint8_t to)
{
    return b >= from && b <= to;
}

static void
utf_8(work *w, uint8_t b)
{
    sn_decoder *d = w->d;

    if (d->needed == 0) {
        d->lower = 0x80;
        d->upper = 0xbf;
        if (b < 0x80) {
            put_char(w, b);
        } else if (is_in(b, 0xc2, 0xdf)) {
            d->needed = 1;
            d->code = b & 0x1f;
        } else if (is_in(b, 0xe0, 0xef)) {
            d->lower = b == 0xe0 ? 0xa0 : 0x80;
            d->upper = b == 0xed ? 0x9f : 0xbf;
            d->needed = 2;
            d->code = b & 0xf;
        } else if (is_in(b, 0xf0, 0xf4)) {
            d->lower = b == 0xf0 ? 0x90 : 0x80;
            d->upper = b == 0xf4 ? 0x8f : 0xbf;
            d->needed = 3;
            d->code = b & 7;
        } else {
            bad(w);
        }
        return;
    }
    if (!is_in(b, d->lower, d->upper)) {
        d->needed = 0;
        bad(w);
        step_byte(w, b);
        return;
    }
    d->lower = 0x80;
    d->upper = 0xbf;
    d->code = d->code << 6 | (b & 63);
    if (--d->needed == 0)
        put_char(w, d->code);
}

static size_t
single_row(seine_charset c)
{
    return c == SEINE_CHARSET_ISO_8859_8_I
               ? SEINE_CHARSET_ISO_8859_8 - SEINE_CHARSET_IBM866
               : (size_t)(c - SEINE_CHARSET_IBM866);
}

static void
single(work *w, uint8_t b)
{
    if (b < 0x80)
        put_char(w, b);
    else
        put_or_bad(w, singles[single_row((seine_charset)w->d->charset) * 128 + b - 0x80]);
}

/* Returns 0 if the pair is not assigned. */
static uint32_t
gb_pair(uint8_t lead, uint8_t trail)
{
    if (!is_in(trail, 0x40, 0x7e) && !is_in(trail, 0x80, 0xfe))
        return 0;
    return gb[(lead - 0x81) * 190 + trail - (trail < 0x7f ? 0x40 : 0x41)];
}

static uint32_t
gb_four(const sn_decoder *d, uint8_t fourth)
{
    uint32_t pointer = ((uint32_t)(d->first - 0x81) * 10 + d->second - 0x30) * 1260 +
                       (uint32_t)(d->third - 0x81) * 10 + fourth - 0x30;
    size_t low = 0, high = sizeof gb_ranges / sizeof *gb_ranges / 2;

    if (pointer >= 189000)
        return pointer <= 1237575 ? 0x10000 + pointer - 189000 : 0;
    if (pointer > 39419)
        return 0;
    if (pointer == 7457)
        return 0xe7c7;
    while (high - low > 1) {
        size_t mid = (low + high) / 2;

        if (gb_ranges[2 * mid] <= pointer)
            low = mid;
        else
            high = mid;
    }
    return gb_ranges[2 * low + 1] + pointer - gb_ranges[2 * low];
}

static void
gb18030(work *w, uint8_t b)
{
    sn_decoder *d = w->d;
    uint8_t first = d->first, second = d->second, third = d->third;

    if (third != 0) {
        uint32_t c = is_in(b, 0x30, 0x39) ? gb_four(d, b) : 0;

        d->first = d->second = d->third = 0;
        if (is_in(b, 0x30, 0x39)) {
            put_or_bad(w, c);
            return;
        }
        bad(w);
        step_byte(w, second);
        step_byte(w, third);
        step_byte(w, b);
    } else if (second != 0) {
        if (is_in(b, 0x81, 0xfe)) {
            d->third = b;
            return;
        }
        d->first = d->second = 0;
        bad(w);
        step_byte(w, second);
        step_byte(w, b);
    } else if (first != 0) {
        if (is_in(b, 0x30, 0x39)) {
            d->second = b;
            return;
        }
        d->first = 0;
        put_pair(w, gb_pair(first, b), b);
    } else if (b < 0x80) {
        put_char(w, b);
    } else if (b == 0x80) {
        put_char(w, 0x20ac);
    } else if (b == 0xff) {
        bad(w);
    } else {
        d->first = b;
    }
}

static uint32_t
big5_pair(uint8_t lead, uint8_t trail)
{
    if (!is_in(trail, 0x40, 0x7e) && !is_in(trail, 0xa1, 0xfe))
        return 0;
    size_t pointer = (size_t)((lead - 0x81) * 157 + trail - (trail < 0x7f ? 0x40 : 0x62));
    uint32_t plane = big5_plane2[pointer / 8] >> pointer % 8 & 1 ? 0x20000 : 0;
    return plane | big5[pointer];
}

/* Four byte pairs decode to a letter and a combining mark. */
static bool
big5_two(work *w, uint8_t lead, uint8_t trail)
{
    if (lead != 0x88 ||
        (trail != 0x62 && trail != 0x64 && trail != 0xa3 && trail != 0xa5))
        return false;
    put_char(w, trail < 0x80 ? 0xca : 0xea);
    put_char(w, trail == 0x62 || trail == 0xa3 ? 0x304 : 0x30c);
    return true;
}

static void
big5_step(work *w, uint8_t b)
{
    sn_decoder *d = w->d;
    uint8_t lead = d->first;

    d->first = 0;
    if (lead != 0) {
        if (!big5_two(w, lead, b))
            put_pair(w, big5_pair(lead, b), b);
    } else if (b < 0x80) {
        put_char(w, b);
    } else if (is_in(b, 0x81, 0xfe)) {
        d->first = b;
    } else {
        bad(w);
    }
}

static void
euc_jp(work *w, uint8_t b)
{
    sn_decoder *d = w->d;
    uint8_t lead = d->first;
    bool plane = d->jis0212;

    d->first = 0;
    d->jis0212 = false;
    if (lead == 0x8e && is_in(b, 0xa1, 0xdf)) {
        put_char(w, 0xff61u - 0xa1 + b);
    } else if (lead == 0x8f && is_in(b, 0xa1, 0xfe)) {
        d->first = b;
        d->jis0212 = true;
    } else if (lead != 0) {
        uint32_t c = 0;

        if (is_in(lead, 0xa1, 0xfe) && is_in(b, 0xa1, 0xfe))
            c = (plane ? jis0212 : jis0208)[(lead - 0xa1) * 94 + b - 0xa1];
        put_pair(w, c, b);
    } else if (b < 0x80) {
        put_char(w, b);
    } else if (b == 0x8e || b == 0x8f || is_in(b, 0xa1, 0xfe)) {
        d->first = b;
    } else {
        bad(w);
    }
}

static void
shift_jis(work *w, uint8_t b)
{
    sn_decoder *d = w->d;
    uint8_t lead = d->first;

    d->first = 0;
    if (lead != 0) {
        uint32_t c = 0;

        if (is_in(b, 0x40, 0x7e) || is_in(b, 0x80, 0xfc))
            c = jis0208[(lead - (lead < 0xa0 ? 0x81 : 0xc1)) * 188 + b -
                        (b < 0x7f ? 0x40 : 0x41)];
        put_pair(w, c, b);
    } else if (b <= 0x80) {
        put_char(w, b);
    } else if (is_in(b, 0xa1, 0xdf)) {
        put_char(w, 0xff61u - 0xa1 + b);
    } else if (is_in(b, 0x81, 0x9f) || is_in(b, 0xe0, 0xfc)) {
        d->first = b;
    } else {
        bad(w);
    }
}

static void
euc_kr_step(work *w, uint8_t b)
{
    sn_decoder *d = w->d;
    uint8_t lead = d->first;

    d->first = 0;
    if (lead != 0)
        put_pair(w, is_in(b, 0x41, 0xfe) ? euc_kr[(lead - 0x81) * 190 + b - 0x41] : 0, b);
    else if (b < 0x80)
        put_char(w, b);
    else if (is_in(b, 0x81, 0xfe))
        d->first = b;
    else
        bad(w);
}

/* States of ISO-2022-JP; the first four are also output states. */
enum { ASCII, ROMAN, KATAKANA, LEAD, TRAIL, ESCAPE_START, ESCAPE };

/* The escape sequence is invalid, so its bytes are decoded as text. */
static void
no_escape(work *w)
{
    w->d->escaped = false;
    w->d->state = w->d->output;
    bad(w);
}

static void
read_escape(work *w, uint8_t b)
{
    sn_decoder *d = w->d;
    uint8_t lead = d->first;
    int state = -1;

    d->first = 0;
    if (lead == 0x28)
        state = b == 0x42 ? ASCII : b == 0x4a ? ROMAN : b == 0x49 ? KATAKANA : -1;
    else if (b == 0x40 || b == 0x42)
        state = LEAD;
    if (state < 0) {
        no_escape(w);
        step_byte(w, lead);
        step_byte(w, b);
        return;
    }
    d->state = d->output = (uint8_t)state;
    if (d->escaped) /* two escapes in a row are an error */
        bad(w);
    d->escaped = true;
}

static void
plain_jp(work *w, uint8_t b)
{
    sn_decoder *d = w->d;

    d->escaped = false;
    if (d->state == KATAKANA) {
        if (is_in(b, 0x21, 0x5f))
            put_char(w, 0xff61u - 0x21 + b);
        else
            bad(w);
    } else if (b >= 0x80 || b == 0x0e || b == 0x0f) {
        bad(w);
    } else if (d->state == ROMAN && (b == 0x5c || b == 0x7e)) {
        put_char(w, b == 0x5c ? 0xa5 : 0x203e);
    } else {
        put_char(w, b);
    }
}

static void
iso_2022_jp(work *w, uint8_t b)
{
    sn_decoder *d = w->d;

    switch (d->state) {
    case ESCAPE_START:
        if (b == 0x24 || b == 0x28) {
            d->first = b;
            d->state = ESCAPE;
        } else {
            no_escape(w);
            step_byte(w, b);
        }
        return;
    case ESCAPE:
        read_escape(w, b);
        return;
    case TRAIL:
        if (b == 0x1b) {
            d->state = ESCAPE_START;
            bad(w);
            return;
        }
        d->state = LEAD;
        put_or_bad(w,
                   is_in(b, 0x21, 0x7e) ? jis0208[(d->first - 0x21) * 94 + b - 0x21] : 0);
        d->first = 0;
        return;
    default:
        if (b == 0x1b) {
            d->state = ESCAPE_START;
        } else if (d->state != LEAD) {
            plain_jp(w, b);
        } else if (is_in(b, 0x21, 0x7e)) {
            d->escaped = false;
            d->first = b;
            d->state = TRAIL;
        } else {
            d->escaped = false;
            bad(w);
        }
    }
}

static void
utf_16(work *w, uint8_t b)
{
    sn_decoder *d = w->d;

    if (d->needed == 0) {
        d->first = b;
        d->needed = 1;
        return;
    }
    uint32_t unit = d->charset == SEINE_CHARSET_UTF_16BE ? (uint32_t)d->first << 8 | b
                                                         : (uint32_t)b << 8 | d->first;
    uint32_t high = d->code;
    d->first = d->needed = 0;
    d->code = 0;
    if (high != 0 && unit >= 0xdc00 && unit <= 0xdfff) {
        put_char(w, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
        return;
    }
    if (high != 0)
        bad(w);
    if (unit >= 0xd800 && unit <= 0xdbff)
        d->code = unit;
    else if (unit >= 0xdc00 && unit <= 0xdfff)
        bad(w);
    else
        put_char(w, unit);
}

static void
replacement(work *w, uint8_t b)
{
    (void)b;
    if (!w->d->closed)
        bad(w);
    w->d->closed = true;
}

static void
user_defined(work *w, uint8_t b)
{
    put_char(w, b < 0x80 ? b : 0xf780u + b - 0x80);
}

/* The loop of one decoder, expanded into the body of its function; `s` is not empty. */
#define RUN(decoder)                                                            \
    do {                                                                        \
        const uint8_t *p = (const uint8_t *)s.ptr, *end = p + s.len;            \
        while (p < end) {                                                       \
            if (*p < 0x80 && is_ascii && w->d->first == 0 && w->d->needed == 0) \
                p = copy_ascii(w, p, end);                                      \
            else                                                                \
                decoder(w, *p++);                                               \
        }                                                                       \
    } while (0)

static const uint8_t *
copy_ascii(work *w, const uint8_t *p, const uint8_t *end)
{
    size_t n = sn_ascii_len((sn_str){(const char *)p, (size_t)(end - p)});

    memcpy(w->at, p, n);
    w->at += n;
    return p + n;
}

/* Copies valid characters of two and three bytes at once; others go byte by byte. */
static const uint8_t *
utf_8_some(work *w, const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 4 && w->d->needed == 0 && *p >= 0xc2) {
        size_t n = *p < 0xe0 ? 2 : 3;
        bool good = n == 2
                        ? (p[1] & 0xc0) == 0x80
                        : *p < 0xf0 && (p[1] & 0xc0) == 0x80 && (p[2] & 0xc0) == 0x80 &&
                              (*p != 0xe0 || p[1] >= 0xa0) && (*p != 0xed || p[1] < 0xa0);

        if (!good)
            break;
        memcpy(w->at, p, 4); /* reads past the character; the next one overwrites that */
        w->at += n;
        p += n;
    }
    if (p < end)
        utf_8(w, *p++);
    return p;
}

static void
run_utf_8(work *w, sn_str s)
{
    const uint8_t *p = (const uint8_t *)s.ptr, *end = p + s.len;

    while (p < end)
        p = *p < 0x80 && w->d->needed == 0 ? copy_ascii(w, p, end)
                                           : utf_8_some(w, p, end);
}

static void
run_bytes(work *w, sn_str s)
{
    seine_charset c = (seine_charset)w->d->charset;
    bool is_ascii = sn_charset_is_ascii(c);

    switch (c) {
    case SEINE_CHARSET_UTF_8:
        run_utf_8(w, s);
        break;
    case SEINE_CHARSET_GBK:
    case SEINE_CHARSET_GB18030:
        RUN(gb18030);
        break;
    case SEINE_CHARSET_BIG5:
        RUN(big5_step);
        break;
    case SEINE_CHARSET_EUC_JP:
        RUN(euc_jp);
        break;
    case SEINE_CHARSET_ISO_2022_JP:
        RUN(iso_2022_jp);
        break;
    case SEINE_CHARSET_SHIFT_JIS:
        RUN(shift_jis);
        break;
    case SEINE_CHARSET_EUC_KR:
        RUN(euc_kr_step);
        break;
    case SEINE_CHARSET_REPLACEMENT:
        RUN(replacement);
        break;
    case SEINE_CHARSET_UTF_16BE:
    case SEINE_CHARSET_UTF_16LE:
        RUN(utf_16);
        break;
    case SEINE_CHARSET_X_USER_DEFINED:
        RUN(user_defined);
        break;
    default:
        RUN(single);
    }
}

/* Decodes a byte again that a decoder restored. */
static void
step_byte(work *w, uint8_t byte)
{
    run_bytes(w, (sn_str){(const char *)&byte, 1});
}

size_t
sn_ascii_len(sn_str s)
{
    return sn_scan_ascii(s.ptr, s.len);
}

/* Sixteen bytes at a time; compilers make vector instructions of it where there are any.
 */
typedef int8_t sixteen __attribute__((vector_size(16)));

static bool
is_plain_byte(char c)
{
    return (c >= 0x20 && c != '~') || c == '\t' || c == '\n' || c == '\r';
}

bool
sn_charset_is_plain(sn_str s)
{
    sixteen odd = {0}, v;
    size_t i = 0;
    uint64_t halves[2];

    for (; i + sizeof v <= s.len; i += sizeof v) {
        memcpy(&v, s.ptr + i, sizeof v);
        odd |= ((v < 0x20) & (v != '\t') & (v != '\n') & (v != '\r')) | (v == '~');
    }
    memcpy(halves, &odd, sizeof halves);
    if (halves[0] | halves[1])
        return false;
    for (; i < s.len; i++)
        if (!is_plain_byte(s.ptr[i]))
            return false;
    return true;
}

/* True between two characters, if ASCII bytes are ASCII there. */
static bool
is_free(const sn_decoder *d)
{
    return d->needed == 0 && d->first == 0 &&
           sn_charset_is_ascii((seine_charset)d->charset);
}

void
sn_decoder_init(sn_decoder *d, seine_charset c)
{
    *d = (sn_decoder){.charset = (uint8_t)c, .state = ASCII, .output = ASCII};
}

/* Skips leading ASCII if only errors are counted, which saves the copy. */
static sn_str
pass_ascii(const sn_decoder *d, sn_str piece)
{
    return is_free(d) ? sn_str_slice(piece, sn_ascii_len(piece), piece.len) : piece;
}

void
sn_decoder_feed(sn_decoder *d, sn_str piece, sn_buf *out)
{
    char unseen[BLOCK * WIDEST + REST];

    while (piece.len > 0) {
        if (!out)
            piece = pass_ascii(d, piece);
        if (piece.len == 0)
            return;
        size_t n = piece.len < BLOCK ? piece.len : BLOCK;
        char *room = out ? sn_buf_reserve(out, n * WIDEST + REST) : unseen;
        work w = {d, room};

        if (!room)
            return;
        sn_str some = sn_str_slice(piece, 0, n);
        d->has_high = d->has_high || sn_ascii_len(some) < n;
        run_bytes(&w, some);
        if (out)
            sn_buf_commit(out, (size_t)(w.at - room));
        piece = sn_str_slice(piece, n, piece.len);
    }
}

static void
end_jp(work *w)
{
    sn_decoder *d = w->d;
    uint8_t lead = d->first, state = d->state;

    d->first = 0;
    if (state == TRAIL) {
        bad(w);
    } else if (state == ESCAPE_START) {
        no_escape(w);
    } else if (state == ESCAPE) {
        no_escape(w);
        step_byte(w, lead);
        if (d->state == TRAIL) /* the lead byte of an incomplete pair */
            bad(w);
    }
}

void
sn_decoder_end(sn_decoder *d, sn_buf *out)
{
    char unseen[REST];
    char *room = out ? sn_buf_reserve(out, REST) : unseen;
    work w = {d, room};

    if (!room)
        return;
    if (d->charset == SEINE_CHARSET_ISO_2022_JP)
        end_jp(&w);
    else if (d->needed > 0 || d->first != 0 ||
             (d->code != 0 && !sn_charset_is_ascii((seine_charset)d->charset)))
        bad(&w);
    if (out)
        sn_buf_commit(out, (size_t)(w.at - room));
    uint64_t errors = d->errors;
    bool has_high = d->has_high;
    sn_decoder_init(d, (seine_charset)d->charset);
    d->errors = errors;
    d->has_high = has_high;
}

int
sn_charset_byte(seine_charset c, uint32_t code)
{
    if (code < 0x80)
        return (int)code;
    if (c == SEINE_CHARSET_X_USER_DEFINED)
        return code >= 0xf780 && code <= 0xf7ff ? (int)(code - 0xf780 + 0x80) : -1;
    if (!sn_charset_is_single(c) || code > 0xffff)
        return -1;
    const uint16_t *row = singles + single_row(c) * 128;
    for (int i = 0; i < 128; i++)
        if (row[i] == code)
            return 0x80 + i;
    return -1;
}
