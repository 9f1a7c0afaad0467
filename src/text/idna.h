/* SPDX-License-Identifier: Apache-2.0 */
/*
 * idna.h - international domain names in the letters of the DNS.
 *
 * "bücher.example" becomes "xn--bcher-kva.example": UTS 46, not transitional, as
 * the URL Standard asks for it. The tables are those of libidn2.
 *
 * Time    plays no part.
 * Memory  libidn2 allocates and frees for each label that is not ASCII.
 * Threads any thread.
 */
#ifndef SN_IDNA_H
#define SN_IDNA_H

#include <stddef.h>

#include "seine/err.h"

/* Converts a name that is not all ASCII and holds no zero. *inout_len is the room at
 * `out`, then the length, without a terminator. BAD_URL: no such name is allowed, or
 * it is over 253 bytes and a dot; FULL; NOMEM. */
SEINE_MUST_CHECK seine_err sn_idna_to_ascii(const char *name, size_t len, char *out,
                                            size_t *inout_len);

#endif
