/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - which pages of which site were asked for, and which were served.
 *
 * One byte per page of every site that was visited: how often it was asked for (up
 * to 63 times) and whether it was served whole. Faults of a site depend on it, and
 * the report knows what is missing.
 *
 *     snc_book *book = snc_ledger_book(&ledger, &site);
 *     uint64_t hit = snc_book_hit(book, n);
 *     snc_book_served(book, n);
 *
 * Time    plays no part.
 * Memory  a byte per page, 64 MiB and 64 sites in all; without room the answer is
 *         always "the first time", and the site is counted as dropped.
 * Threads one owner.
 */
#ifndef SNC_LEDGER_H
#define SNC_LEDGER_H

#include "chaos/site.h"

#define SNC_LEDGER_SITES 64
#define SNC_LEDGER_BYTES ((uint64_t)64 << 20)

typedef struct snc_book {
    snc_site site;
    uint8_t *pages; /* NULL: too many of them */
    uint64_t served, hits, again;
} snc_book;

typedef struct snc_ledger {
    snc_book books[SNC_LEDGER_SITES];
    size_t count;
    uint64_t bytes, dropped;
} snc_ledger;

void snc_ledger_reset(snc_ledger *l); /* also the end of it */

/* NULL: there are too many sites. */
snc_book *snc_ledger_book(snc_ledger *l, const snc_site *s);

/* Counts one; `book` may be NULL. */
uint64_t snc_book_hit(snc_book *book, uint64_t n);
void snc_book_served(snc_book *book, uint64_t n);

/* Pages a polite crawler gets, and how many of them were served; the first ones
 * that are missing. Looks at every page. */
typedef struct snc_book_sum {
    uint64_t total, served;
    uint64_t missing[10];
    size_t missing_count;
} snc_book_sum;

snc_book_sum snc_book_sum_up(const snc_book *book);

#endif
