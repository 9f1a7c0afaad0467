/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_parts.h - in which encoding the page is read, for page.c alone.
 *
 * The first bytes wait until they tell the encoding, 1,024 at most. UTF-16 and
 * ISO-2022-JP are decoded before the tokenizer; in the others ASCII is ASCII, and what
 * has other bytes is converted when it is found. Where nobody names an encoding, each
 * value is UTF-8 if it can be, else windows-1252, and at the end the page is told to be
 * the one or the other.
 *
 * A page that is read for its title alone seldom needs to know. Plain ASCII is the same
 * in every encoding that a page can name, so its beginning is kept, and nobody looks for
 * the name until a byte comes that is not plain.
 *
 *     sn_page_charset_begin(c, label, is_xml, true);
 *     while (sn_page_charset_next(c, &piece, &bytes))    what the tokenizer gets
 *         …
 *     text = sn_page_charset_convert(c, raw, attr);      of a value with other bytes
 *
 * Time    plays no part.
 * Memory  1 KiB, and what a piece or a value becomes.
 * Threads one owner.
 */
#ifndef SN_PAGE_PARTS_H
#define SN_PAGE_PARTS_H

#include "text/charset.h"
#include "text/html.h"

typedef struct sn_page_charset {
    sn_str label; /* of the header; borrowed */
    seine_charset_choice choice;
    bool is_decided, is_guess; /* guess: nobody names it */
    bool is_xml;               /* without a name it is UTF-8 */
    bool counts;               /* errors of the whole page */
    bool is_late;              /* all bytes were plain: `choice` is not known yet */
    uint16_t n_head, poured;   /* bytes that wait; of them, what was given */
    char head[SEINE_CHARSET_HEAD];
    sn_decoder whole; /* of all bytes: decodes them, or counts alone */
    uint64_t errors;  /* of values */
    sn_buf decoded, converted;
} sn_page_charset;

void sn_page_charset_init(sn_page_charset *c);
void sn_page_charset_fini(sn_page_charset *c);

void sn_page_charset_begin(sn_page_charset *c, sn_str label, bool is_xml, bool counts);

/* The next bytes for the tokenizer, of what waits and of `piece`, which gets shorter;
 * false: there are none. */
bool sn_page_charset_next(sn_page_charset *c, sn_str *piece, sn_str *out_bytes);

/* There is no more: the same of what waits still. */
bool sn_page_charset_last(sn_page_charset *c, sn_str *out_bytes);

/* The page has ended: the choice is known, and how many bytes were none. */
uint64_t sn_page_charset_end(sn_page_charset *c);

/* A value or text as UTF-8, the query of a URL percent-encoded as it stands. Valid until
 * the next one. */
sn_str sn_page_charset_convert(sn_page_charset *c, sn_str raw, sn_html_attr attr);

/* What a character reference put into the query of a link is encoded, too. */
sn_str sn_page_charset_query(sn_page_charset *c, sn_str value);

seine_err sn_page_charset_done(const sn_page_charset *c);

#endif
