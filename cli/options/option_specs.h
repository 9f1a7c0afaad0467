/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_specs.h - the small languages of some options.
 *
 *     statuses  200-299,304   5xx,!501            codes, ranges, classes, "!" removes
 *     range     1s..30s                           two durations
 *     speed     100/20s   off                     so many bytes in so long
 *     breaker   fail=5,open=60s   off             keys and values
 *     quota     none  any  all  5  20%            how many are too many
 *
 * Each reader answers NULL and writes, or answers why not and writes nothing.
 */
#ifndef CLI_OPTION_SPECS_H
#define CLI_OPTION_SPECS_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/breaker.h>
#include <seine/status_set.h>
#include <seine/time.h>

enum { SPECS_WHY = 96 };

/* Starts from nothing. A word that is no status is looked for among `also`, names that
 * end with NULL, and found there sets its bit in *out_also; NULL: there are none. */
const char *option_specs_statuses(const char *text, const char *const *also,
                                  seine_status_set *out_set, uint32_t *out_also,
                                  char why[SPECS_WHY]);

const char *option_specs_range(const char *text, seine_span *out_first,
                               seine_span *out_last);
const char *option_specs_speed(const char *text, uint64_t *out_bytes,
                               seine_span *out_span);

/* Over what stands in *breaker and *park. */
const char *option_specs_breaker(const char *text, seine_breaker_opts *breaker,
                                 uint32_t *park, char why[SPECS_WHY]);

/* The most there may be is below `count`, or below `percent` of all; both 0: any number.
 * With `all` it is all of them. */
typedef struct quota {
    uint64_t count;
    uint32_t percent;
    bool all;
} quota;

const char *option_specs_quota(const char *text, quota *out_quota);

/* Whether `n` of `of` are too many. */
bool quota_is_reached(const quota *q, uint64_t n, uint64_t of);

#endif
