/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - the inside of a set of secrets, which redact.c searches for.
 *
 * `plain` holds each value, its form spelling (a blank is a plus sign), and the decoded
 * spelling of a value that holds escapes (%41). `coded` holds the base64 of the value
 * behind 0, 1 and 2 other bytes, without the characters at the ends that also hold bits
 * of the neighbours; a hit hides those characters too. `recent` holds the same spellings
 * of values that were learnt while the program ran. See <seine/secret.h>.
 */
#ifndef SN_SECRET_H
#define SN_SECRET_H

#include "base/secret_recent.h"
#include "base/secret_trie.h"
#include "seine/secret.h"

struct seine_secrets {
    size_t n; /* number of values */
    sn_trie plain, coded;
    sn_recent recent;
};

#endif
