/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status_set.h - which HTTP statuses are meant?
 *
 * A set of statuses says which answers a fetch accepts and after which ones it tries
 * again. A status is in the set, or not; those from 640 on never are.
 *
 *     seine_status_set set = SEINE_STATUS_2XX;
 *     seine_status_set_add(&set, 304, 304);
 *     seine_status_set_remove(&set, 204, 205);
 *     if (seine_status_set_has(&set, status))
 *         use(body);
 *
 * Lists of codes, ranges and classes are read; "!" removes:
 *
 *     seine_view bad;
 *     seine_err e = seine_status_set_parse("200-299,5xx,!501", NULL, &set, NULL, &bad);
 *
 * Time    plays no part.
 * Memory  80 bytes, the caller's; a set is copied by assignment.
 * Threads one owner; any number may ask at once.
 */
#ifndef SEINE_STATUS_SET_H
#define SEINE_STATUS_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/view.h"

typedef struct seine_status_set {
    uint64_t words[10]; /* bit s % 64 of word s / 64 is status s */
} seine_status_set;

/* 200 to 299. */
/* clang-format off */
#define SEINE_STATUS_2XX \
    {{0, 0, 0, UINT64_C(0xffffffffffffff00), UINT64_C(0x00000fffffffffff), 0, 0, 0, 0, 0}}
/* clang-format on */

SEINE_BEGIN

bool seine_status_set_has(const seine_status_set *set, unsigned status);

/* Puts in, or takes out, all statuses from `first` to `last`. */
void seine_status_set_add(seine_status_set *set, unsigned first, unsigned last);
void seine_status_set_remove(seine_status_set *set, unsigned first, unsigned last);

/* Reads a list like "200-299,304,5xx,!501", from left to right and from an empty set on.
 * Codes are 100 to 599. Other words may be meant, too: the n-th of `also`, a list that
 * ends with NULL, sets bit n of *out_also ("!" clears it). PARSE: *out_bad is the word
 * that is none of these, and nothing else is written. `also` and *out_also may be NULL.
 */
SEINE_MUST_CHECK seine_err seine_status_set_parse(const char *text,
                                                  const char *const *also,
                                                  seine_status_set *out_set,
                                                  uint32_t *out_also,
                                                  seine_view *out_bad);

SEINE_END

#endif
