/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json.h - JSON inside the library: quoted strings and decimals.
 *
 *     char line[256];
 *     size_t n = sn_json_quote(host, host_len, line, sizeof line);
 *     if (n >= sizeof line)
 *         too_long();
 *
 * A quoted string is valid UTF-8 on one line and harmless on a terminal: bad bytes
 * become U+FFFD, and U+0000-001F, U+007F-009F, U+2028 and U+2029 are escaped. Values and
 * parsing are in <seine/plumbing.h>.
 *
 * Time    plays no part.
 * Memory  the caller's buffer.
 * Threads any thread.
 */
#ifndef SN_JSON_H
#define SN_JSON_H

#include <stddef.h>

/* Writes the string of `n` bytes, quotes included, as far as `cap` allows, and a
 * terminator if cap > 0. Returns the length of the whole, like snprintf. */
size_t sn_json_quote(const char *bytes, size_t n, char *out, size_t cap);

/* Writes the shortest decimal that reads back as the same double, at most 32
 * bytes with the terminator, and returns its length; 0 for NaN and infinity. */
size_t sn_json_decimal(double value, char out[32]);

/* The version of jansson that is loaded. */
const char *sn_json_version(void);

#endif
