/* SPDX-License-Identifier: Apache-2.0 */
/*
 * units.h - which duration, rate, count, size or share did somebody type?
 *
 *     span   numbers with ns us ms s m h d w, joined; bare: seconds     1h30m  1.5
 *     rate   COUNT/[N]UNIT with the units s m h d; bare: per second     5/s  3/4h
 *     count  digits, _ between them; k M G are 1000, 1000², 1000³       10_000  10k
 *     size   bytes; k M G T are powers of 1024; B or iB may follow      64k  2GiB
 *     share  digits and %                                               20%
 *
 * Fractions are exact: 0.3/s is three in ten seconds. Each reader takes all of a
 * terminated text:
 *
 *     seine_span timeout;
 *     const char *why = seine_units_span("1m30s", &timeout);  timeout is 90000000000
 *     if (why)
 *         fprintf(stderr, "--timeout: %s\n", why);
 *
 * A reader returns NULL and writes, or returns a constant text that says what is wrong
 * and writes nothing. An error code would be INVAL each time and say less.
 *
 * Time    plays no part.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SEINE_UNITS_H
#define SEINE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/time.h"

/* The longest span that can be typed. */
#define SEINE_UNITS_TEN_YEARS SEINE_SECS(INT64_C(315576000))

/* `count` in `per`, in the smallest whole numbers; count 0 is "off", no limit. */
typedef struct seine_frequency {
    uint64_t count;
    seine_span per;
} seine_frequency;

SEINE_BEGIN

SEINE_MUST_CHECK const char *seine_units_span(const char *text, seine_span *out_span);
SEINE_MUST_CHECK const char *seine_units_rate(const char *text,
                                              seine_frequency *out_rate);
SEINE_MUST_CHECK const char *seine_units_count(const char *text, uint64_t *out_count);
SEINE_MUST_CHECK const char *seine_units_size(const char *text, uint64_t *out_bytes);

/* At most `most` percent. */
SEINE_MUST_CHECK const char *seine_units_share(const char *text, uint64_t most,
                                               uint32_t *out_percent);

/* Reads a decimal like 12.345 or 1e-3 as a number of `unit`s, to the nearest nanosecond:
 * for numbers in JSON and logs, which may exceed 10 years. False: the text is no number,
 * is negative, or exceeds 292 years. */
SEINE_MUST_CHECK bool seine_units_decimal(const char *text, size_t len, seine_span unit,
                                          seine_span *out_span);

/* Reads such a decimal as a rate per second; exact unless its digits do not fit. */
SEINE_MUST_CHECK const char *seine_units_rate_decimal(const char *text, size_t len,
                                                      seine_frequency *out_rate);

double seine_frequency_per_second(seine_frequency f);

SEINE_END

#endif
