/* SPDX-License-Identifier: Apache-2.0 */
/*
 * currency.h - which currency does a price begin with?
 *
 *     char code[4];
 *     size_t n = sn_currency_at(SN_STR("US$ 5"), code);      3, "USD"
 *
 * A code is one of ISO 4217, in capital letters, those of the last years that pages still
 * show among them; three other letters are none, so that "12 PCS" is no price. A sign
 * that several currencies have is the one that most pages mean: $ is USD.
 *
 * Time    plays no part.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SN_CURRENCY_H
#define SN_CURRENCY_H

#include "base/str.h"

/* The bytes of the currency at the beginning of a text, and its code; 0: none. */
size_t sn_currency_at(sn_str s, char out_code[4]);

#endif
