/* SPDX-License-Identifier: Apache-2.0 */
/* A text, read as every unit: what is read lies within its bounds, and what is refused
 * leaves the output as it was. A bare number of seconds is the same with an "s". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seine/units.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_span(const char *text)
{
    char with_unit[64];
    seine_span span = -7, again = -7;

    if (seine_units_span(text, &span)) {
        REQUIRE(span == -7);
        return;
    }
    REQUIRE(span >= 0 && span <= SEINE_UNITS_TEN_YEARS);
    if (strspn(text, "0123456789.") != strlen(text) ||
        strlen(text) + 2 > sizeof with_unit)
        return;
    snprintf(with_unit, sizeof with_unit, "%ss", text);
    REQUIRE(!seine_units_span(with_unit, &again) && again == span);
}

static void
check_rate(const char *why, seine_frequency f)
{
    if (why)
        REQUIRE(f.count == 7 && f.per == 7);
    else
        REQUIRE(f.per > 0 && seine_frequency_per_second(f) >= 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1);
    seine_frequency f = {7, 7};
    uint64_t count = 7, size = 7;
    uint32_t percent = 7;
    seine_span span = -7;

    if (!text)
        return 0;
    if (n > 0)
        memcpy(text, bytes, n);
    text[n] = '\0';
    check_span(text);
    const char *why = seine_units_rate(text, &f);
    check_rate(why, f);
    f = (seine_frequency){7, 7};
    why = seine_units_rate_decimal(text, n, &f);
    check_rate(why, f);
    REQUIRE(!seine_units_count(text, &count) || count == 7);
    REQUIRE(!seine_units_size(text, &size) || size == 7);
    REQUIRE(seine_units_share(text, 100, &percent) ? percent == 7 : percent <= 100);
    REQUIRE(seine_units_decimal(text, n, SEINE_SECS(1), &span) ? span >= 0 : span == -7);
    free(text);
    return 0;
}
