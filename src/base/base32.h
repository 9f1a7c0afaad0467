/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base32.h - bytes as letters and the digits 2 to 7 (RFC 4648, section 6), and back.
 *
 *     char text[SN_BASE32_ROOM(20)];
 *     sn_base32(digest, 20, text);                     32 characters, no terminator
 *     e = sn_base32_read(SN_STR("NBUQ===="), out, &n);     "hi"
 *
 * WARC archives write their digests in base32. The reader also accepts lower case and
 * missing padding, because other writers produce both.
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_BASE32_H
#define SN_BASE32_H

#include "base/str.h"

#define SN_BASE32_ROOM(n) (((n) + 4) / 5 * 8)

/* Writes SN_BASE32_ROOM(n) characters. */
void sn_base32(const void *bytes, size_t n, char *out);

/* Writes at most s.len / 8 * 5 + 4 bytes. INVAL: a character outside the alphabet, a
 * length that no writer makes, or bits behind the last byte that are not zero. */
SEINE_MUST_CHECK seine_err sn_base32_read(sn_str s, char *out, size_t *out_n);

#endif
