/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - the inside of a set of secrets, for redact.c, which looks for them.
 *
 * `plain` holds each value, and what becomes of it where a blank is a plus sign and
 * where a value with percent signs of its own is escaped but for those. `coded` holds
 * what base64 makes of it behind 0, 1 and 2 other bytes, without the characters at the
 * ends that hold bits of others, too: a hit takes them along. See <seine/secret.h>.
 */
#ifndef SN_SECRET_H
#define SN_SECRET_H

#include "base/secret_trie.h"
#include "seine/secret.h"

struct seine_secrets {
    size_t n; /* values that are looked for */
    sn_trie plain, coded;
};

#endif
