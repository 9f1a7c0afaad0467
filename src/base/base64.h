/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h - bytes as text (RFC 4648, section 4: + and /, padded) and back, strictly.
 *
 *     char text[SN_BASE64_ROOM(3)];
 *     sn_base64(bytes, 3, text);                       4 characters, no terminator
 *     e = sn_base64_read(SN_STR("aGk="), out, &n);     "hi"
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_BASE64_H
#define SN_BASE64_H

#include "base/str.h"

#define SN_BASE64_ROOM(n) (((n) + 2) / 3 * 4)

/* Writes SN_BASE64_ROOM(n) characters. */
void sn_base64(const void *bytes, size_t n, char *out);

/* Writes at most s.len / 4 * 3 bytes. INVAL: the length is no multiple of four, a
 * character is outside the alphabet, or bits behind the last byte are not zero. */
SEINE_MUST_CHECK seine_err sn_base64_read(sn_str s, char *out, size_t *out_n);

#endif
