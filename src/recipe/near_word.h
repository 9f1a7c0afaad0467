/* SPDX-License-Identifier: Apache-2.0 */
/* near_word.h - the word of a list that somebody probably meant to write. */
#ifndef SN_NEAR_WORD_H
#define SN_NEAR_WORD_H

#include "base/str.h"

enum { SN_NEAR_FAR = 99 };

/* Slips between two words: a letter too many, missing, wrong, or two neighbours swapped.
 * FAR for words of more than 64 bytes. */
unsigned sn_near_slips(sn_str a, sn_str b);

/* The nearest of the words (the list ends with NULL), if at most two slips and fewer than
 * half of the letters are wrong, else the only one that begins with the three letters or
 * more of `word`; NULL: none. `-` and `_` are the same. */
const char *sn_near_word(sn_str word, const char *const *words);

#endif
