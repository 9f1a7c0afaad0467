/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idna.h - convert international domain names to ASCII.
 *
 * "bücher.example" becomes "xn--bcher-kva.example", by UTS 46, nontransitional, as the
 * URL Standard requires. libidn2 brings the tables.
 *
 * Time    plays no part.
 * Memory  libidn2 allocates and frees for each label that is not ASCII.
 * Threads any thread.
 */
#ifndef SN_IDNA_H
#define SN_IDNA_H

#include <stddef.h>

#include "seine/err.h"

/* Converts a name that is not all ASCII and holds no NUL. *inout_len is the room at
 * `out`, then the length, without a terminator. BAD_URL: the name is not allowed, or
 * longer than 253 bytes and a dot. FULL: no room. NOMEM. */
SEINE_MUST_CHECK seine_err sn_idna_to_ascii(const char *name, size_t len, char *out,
                                            size_t *inout_len);

#endif
