/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - how durations, rates, counts, sizes and shares are typed.
 *
 *     duration  numbers with ns us ms s m h d w, joined; bare = seconds   1h30m  1.5
 *     rate      COUNT/[N]UNIT, unit s m h d; bare = per second            5/s  3/4h
 *     count     digits, _ allowed; k M G are 1000, 1000², 1000³           10_000  10k
 *     size      bytes; k M G T are powers of 1024; B or iB may follow     64k  2GiB
 *     share     digits and %                                              20%
 *
 * Each reader answers NULL and writes, or answers why not and writes nothing.
 * Fractions are exact: 0.3/s is three in ten seconds.
 */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/time.h>

#define UNITS_TEN_YEARS SEINE_SECS(INT64_C(315576000))

/* `count` in `per`; count 0 stands for "off", no limit. */
typedef struct pace {
    uint64_t count;
    seine_span per;
} pace;

const char *units_span(const char *text, seine_span *out_span);
const char *units_pace(const char *text, pace *out_pace);
const char *units_count(const char *text, uint64_t *out_count);
const char *units_size(const char *text, uint64_t *out_bytes);
const char *units_share(const char *text, uint64_t most, uint32_t *out_percent);

/* A decimal like 12.345 or 1e-3 in units of `unit` nanoseconds, to the nearest;
 * for numbers in traces and JSON, where 10 years are no bound. False: no number,
 * negative, or beyond 292 years. */
bool units_decimal(const char *text, size_t len, seine_span unit, seine_span *out_span);

/* The same for a rate per second: exact unless its digits do not fit. */
const char *units_pace_decimal(const char *text, size_t len, pace *out_pace);

double pace_per_second(pace p);

#endif
