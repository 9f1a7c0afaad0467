/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charset.h - decode any encoding of the web to UTF-8, piece by piece.
 *
 *     sn_decoder d;
 *     sn_decoder_init(&d, SEINE_CHARSET_SHIFT_JIS);
 *     sn_decoder_feed(&d, piece, &out);           of any size
 *     sn_decoder_end(&d, &out);                   d.errors
 *
 * The result does not depend on where the pieces are cut. With `out` NULL the decoder
 * only counts errors. The decoder does not skip a byte order mark; the caller that chose
 * the encoding does.
 *
 * Time    plays no part; each byte is looked at a bounded number of times.
 * Memory  the caller's; `out` grows by at most three bytes for each byte.
 * Threads one owner.
 */
#ifndef SN_CHARSET_H
#define SN_CHARSET_H

#include "base/buf.h"
#include "seine/charset.h"

enum { SN_DECODER_BLOCK = 2048 }; /* bytes that are decoded at once */

typedef struct sn_decoder { /* private, except for the last two members */
    uint8_t charset;
    uint8_t first, second, third;  /* bytes of an incomplete character */
    uint8_t state, output;         /* of ISO-2022-JP */
    uint8_t needed, lower, upper;  /* of UTF-8 */
    bool jis0212, escaped, closed; /* second plane; just escaped; ignores all input */
    uint32_t code;   /* UTF-8: the code point so far; UTF-16: the high surrogate */
    uint64_t errors; /* U+FFFD written */
    bool has_high;   /* the input had bytes above 0x7f */
} sn_decoder;

void sn_decoder_init(sn_decoder *d, seine_charset c);
void sn_decoder_feed(sn_decoder *d, sn_str piece, sn_buf *out);
void sn_decoder_end(sn_decoder *d, sn_buf *out);

/* Returns the byte that encodes a character in a single-byte encoding, or -1. */
int sn_charset_byte(seine_charset c, uint32_t code);

/* True if every byte below 0x80 that stands alone is the ASCII character. */
bool sn_charset_is_ascii(seine_charset c);
bool sn_charset_is_single(seine_charset c);

/* Finds the encoding by byte order mark, header label or prescan; false if none of them
 * names one. */
bool sn_charset_named(sn_str head, sn_str label, seine_charset_choice *out_choice);

/* Finds the encoding that a meta or an XML declaration within the first 1,024 bytes
 * names. */
bool sn_charset_scan(sn_str head, seine_charset *out_charset);

/* Finds the encoding that any meta of a whole page names; a browser would reload the page
 * there. */
bool sn_charset_scan_late(sn_str page, seine_charset *out_charset);

/* Returns the index of the first byte above 0x7f, or s.len. */
size_t sn_ascii_len(sn_str s);

/* True if the bytes are the same in every encoding that a page without a mark can have:
 * printable ASCII but the tilde, which shifts in HZ, blanks, tabs and line ends. */
bool sn_charset_is_plain(sn_str s);

#endif
