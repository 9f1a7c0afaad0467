/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_triples.h - what does the visible text of a page consist of?
 *
 * The text of a page becomes a set of hashes, one for each three words in a row between
 * two tags; a text of one or two words is one hash. Words with a digit and the words of
 * the page's own URL do not count, so that a page which differs from another one in
 * dates, numbers and its own name has the same set. Of a long page the 64 smallest
 * hashes are kept: a sample that is the same for the same text. Pictures count, too.
 *
 *     sn_word_triples_begin(t, path_and_query);
 *     sn_word_triples_text(t, bytes, n);         pieces of any size
 *     sn_word_triples_break(t);                  at every tag
 *     sn_word_triples_end(t);
 *     for (i = 0; i < t->n; i++)
 *         …                                      t->hash[i], ascending
 *
 * Letters are ASCII letters and all bytes above 0x7f; case does not matter.
 *
 * Time    plays no part; work is linear in the bytes.
 * Memory  the struct, 5 KiB.
 * Threads one owner.
 */
#ifndef SN_WORD_TRIPLES_H
#define SN_WORD_TRIPLES_H

#include "base/str.h"

enum {
    SN_WORD_TRIPLES_KEPT = 64,
    SN_WORD_TRIPLES_ROOM = 512, /* hashes between two sorts */
    SN_WORD_TRIPLES_OWN = 64    /* words of the URL */
};

typedef struct sn_word_triples {
    uint64_t hash[SN_WORD_TRIPLES_ROOM]; /* after the end: sorted, each once */
    uint32_t n;
    uint64_t most;                     /* larger hashes are not kept */
    uint64_t own[SN_WORD_TRIPLES_OWN]; /* words of the URL */
    uint32_t n_own;
    uint64_t word;      /* of the word being read; 0: between words */
    bool has_digit;     /* the word has one */
    uint64_t before[2]; /* the words before it */
    uint32_t run;       /* words since the last tag */
    uint64_t all;       /* of all words in their order, without their digits; never 0 */
} sn_word_triples;

void sn_word_triples_begin(sn_word_triples *t, sn_str url);
void sn_word_triples_text(sn_word_triples *t, const char *p, size_t n);
void sn_word_triples_break(sn_word_triples *t);
void sn_word_triples_end(sn_word_triples *t);

/* A picture, sound or film of the page is one hash more: of the name of its file, and of
 * the directory if that is a number. */
void sn_word_triples_picture(sn_word_triples *t, sn_str source);

#endif
