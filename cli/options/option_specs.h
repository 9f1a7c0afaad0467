/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_specs.h - reads the values of options that are small languages.
 *
 *     range  1s..30s               two durations
 *     speed  100/20s  off          bytes in a time
 *     ratio  200:8M  200  off      how often, from which size on
 *     quota  none  any  all  5  20%  how many failures are too many
 *
 * A reader writes and returns NULL, or returns the reason and writes nothing. Status
 * lists and breakers are read by the library: status_set.h, breaker_spec.h.
 *
 *     quota q;
 *     const char *why = option_specs_quota("20%", &q);
 */
#ifndef CLI_OPTION_SPECS_H
#define CLI_OPTION_SPECS_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/time.h>
#include <seine/view.h>

const char *option_specs_range(const char *text, seine_span *out_first,
                               seine_span *out_last);
const char *option_specs_speed(const char *text, uint64_t *out_bytes,
                               seine_span *out_span);
/* Without a size *out_from stays as it is. */
const char *option_specs_ratio(const char *text, uint64_t *out_ratio, uint64_t *out_from);

/* `count` of them are too many, or `percent` of all; `all`: only all of them. Everything
 * 0: any number is fine. */
typedef struct quota {
    uint64_t count;
    uint32_t percent;
    bool all;
} quota;

const char *option_specs_quota(const char *text, quota *out_quota);
/* A quota of failures is not `off`, and one of errors is no other word. */
const char *option_specs_fail_on(const char *text, quota *out_quota);
const char *option_specs_max_errors(const char *text, quota *out_quota);

/* Media types, all types of one kind, or all: "text/html,image/…". The part that is none
 * of them is *out_bad. */
bool option_specs_are_types(const char *text, seine_view *out_bad);

/* One line without control characters, as a field of a request has it. */
enum { OPTION_LINE_MOST = 256 };
bool option_specs_is_line(const char *text);

/* Whether `n` of `of` are too many. */
bool quota_is_reached(const quota *q, uint64_t n, uint64_t of);

#endif
