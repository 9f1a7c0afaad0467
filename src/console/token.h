/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - secrets that let a person or a program in: `sn_` and 43 characters, 256 bits.
 *
 *     char text[SN_TOKEN_TEXT];
 *     uint8_t hash[32];
 *     e = sn_token_draw(text, hash);                 shown once; the hash is kept
 *     if (sn_token_hash(given, hash) && sn_token_equal(hash, kept))
 *         let_in();
 *
 * Time    comparing takes the same time wherever two hashes differ.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_TOKEN_H
#define SN_TOKEN_H

#include "base/str.h"

#define SN_TOKEN_TEXT 47 /* bytes, the terminator included */

/* NOMEM: libcrypto has none. */
SEINE_MUST_CHECK seine_err sn_token_draw(char out_text[SN_TOKEN_TEXT],
                                         uint8_t out_hash[32]);
/* 43 characters of 256 random bits, terminated: tickets, nonces of a download. */
void sn_token_draw_key(char out_key[44]);
/* False: the text has not the shape of a token. */
bool sn_token_hash(sn_str text, uint8_t out_hash[32]);
bool sn_token_equal(const uint8_t a[32], const uint8_t b[32]);

#endif
