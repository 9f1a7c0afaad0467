/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing.h - an allocator that fails on command and counts what is out.
 *
 *     FAIL_EACH(n) {               the 1st call fails, then the 2nd …
 *         thing *t = NULL;
 *         seine_err e = thing_new(&t);
 *         CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
 *         thing_free(t);
 *     }
 *
 * The loop ends after the first round in which nothing failed. After each round
 * it checks that nothing is left allocated. Every n is tried twice: failing that
 * call alone, and failing it and all that follow.
 */
#ifndef FAILING_H
#define FAILING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct fail_round {
    long n;
    bool rest, more;
} fail_round;

fail_round fail_begin(void);
bool fail_more(fail_round *r);
bool fail_hit(void); /* an allocation has failed in this round */

/* Counting alone: allocations that are out now, and calls so far. */
void count_begin(void);
long count_out(void);
long count_calls(void);
int64_t count_bytes(void); /* bytes that are out */
int64_t count_peak(void);  /* the most that were out since count_begin */
void count_end(void);

#define FAIL_EACH(r) for (fail_round r = fail_begin(); fail_more(&r);)

#endif
