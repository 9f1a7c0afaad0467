/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charset.h - bytes of any encoding become UTF-8 as they come in.
 *
 *     sn_decoder d;
 *     sn_decoder_init(&d, SEINE_CHARSET_SHIFT_JIS);
 *     sn_decoder_feed(&d, piece, &out);           of any size
 *     sn_decoder_end(&d, &out);                   d.errors
 *
 * The result is the same however the bytes are cut. With no `out` errors are counted
 * alone. A byte order mark is a character like any other here: who decides the encoding
 * passes over it.
 *
 * Time    plays no part; each byte is looked at a bounded number of times.
 * Memory  the caller's; `out` grows by three bytes for one at most.
 * Threads one owner.
 */
#ifndef SN_CHARSET_H
#define SN_CHARSET_H

#include "base/buf.h"
#include "seine/charset.h"

typedef struct sn_decoder { /* private but for the last two */
    uint8_t charset;
    uint8_t first, second, third;  /* bytes of a character that is not whole */
    uint8_t state, output;         /* of ISO-2022-JP */
    uint8_t needed, lower, upper;  /* of UTF-8 */
    bool jis0212, escaped, closed; /* second plane; just escaped; nothing is read */
    uint32_t code;                 /* of UTF-8; the surrogate of UTF-16 */
    uint64_t errors;               /* U+FFFD put */
    bool has_high;                 /* there were bytes beyond ASCII */
} sn_decoder;

void sn_decoder_init(sn_decoder *d, seine_charset c);
void sn_decoder_feed(sn_decoder *d, sn_str piece, sn_buf *out);
void sn_decoder_end(sn_decoder *d, sn_buf *out);

/* The byte of a character in an encoding of single bytes; -1: there is none. */
int sn_charset_byte(seine_charset c, uint32_t code);

/* ASCII bytes mean what they say, wherever they stand alone. */
bool sn_charset_is_ascii(seine_charset c);
bool sn_charset_is_single(seine_charset c);

/* What mark, label or the first bytes name; false: nobody names one. */
bool sn_charset_named(sn_str head, sn_str label, seine_charset_choice *out_choice);

/* What a meta or an XML declaration among the first 1,024 bytes names. */
bool sn_charset_scan(sn_str head, seine_charset *out_charset);

/* What a meta of a whole page names, wherever it stands: where a browser would begin
 * again. */
bool sn_charset_scan_late(sn_str page, seine_charset *out_charset);

/* Where the first byte beyond ASCII stands; s.len: nowhere. */
size_t sn_ascii_len(sn_str s);

#endif
