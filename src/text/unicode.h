/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unicode.h - what is a letter, and what is its lower case?
 *
 *     if (sn_unicode_is_word(c))
 *         c = sn_unicode_lower(c);
 *
 * A character is part of a word if it is alphabetic, a mark, a decimal digit or a
 * connector such as the low line. Lower case is that of one character: the two letters
 * that a few capitals become are left alone. The tables are made from Python's
 * unicodedata when the library is built, so no locale plays a part.
 *
 * Time    plays no part; a search in a table of some 1,400 rows.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_UNICODE_H
#define SN_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

bool sn_unicode_is_word(uint32_t c);
uint32_t sn_unicode_lower(uint32_t c);

/* The ASCII letters of a Latin letter without its accents, in lower case: "e" for
 * U+00E9; "" if there are none. `c` is not ASCII. */
const char *sn_unicode_ascii(uint32_t c);

/* Appends a character as UTF-8. */
void sn_unicode_add(sn_buf *out, uint32_t c);

#endif
