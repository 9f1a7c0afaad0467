/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/units.h"

#include <ctype.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { DIGITS = 18, SCALE = 12 };

/* digits * 10^-scale */
typedef struct decimal {
    uint64_t digits;
    unsigned scale;
} decimal;

static wide
power_of_ten(unsigned n)
{
    wide p = 1;

    while (n-- > 0)
        p *= 10;
    return p;
}

/* Reads digits with one point. Returns their end; NULL: there is no number, or it has
 * more digits than fit. `gaps`: _ may stand between digits. */
static const char *
read_decimal(const char *p, const char *end, bool gaps, decimal *out)
{
    decimal d = {0, 0};
    unsigned seen = 0, used = 0;
    bool point = false;

    for (; p < end; p++) {
        if (*p == '.' && !point && seen > 0) {
            point = true;
            continue;
        }
        if (gaps && *p == '_' && seen > 0 && p + 1 < end && isdigit((unsigned char)p[1]))
            continue;
        if (!isdigit((unsigned char)*p))
            break;
        seen++;
        if (d.digits == 0 && *p == '0') {
            d.scale += point;
            if (d.scale > SCALE)
                return NULL;
            continue;
        }
        if (++used > DIGITS) {
            if (!point || *p != '0')
                return NULL;
            continue;
        }
        d.digits = 10 * d.digits + (uint64_t)(*p - '0');
        d.scale += point;
    }
    if (seen == 0 || p[-1] == '.')
        return NULL;
    *out = d;
    return p;
}

/* Computes digits * unit / 10^scale to the nearest. False: beyond int64. */
static bool
scale_to(decimal d, uint64_t unit, seine_span *out)
{
    wide product = (wide)d.digits * unit, divisor = power_of_ten(d.scale);
    wide value = (product + divisor / 2) / divisor;

    if (value >= INT64_MAX)
        return false;
    *out = (seine_span)value;
    return true;
}

/* Reads the unit at `p`. "ms" is not "m": no letter follows a unit. */
static const char *
read_unit(const char *p, uint64_t *out_ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"ns", 1},
        {"us", 1000},
        {"ms", 1000000},
        {"s", 1000000000},
        {"m", UINT64_C(60) * 1000000000},
        {"h", UINT64_C(3600) * 1000000000},
        {"d", UINT64_C(86400) * 1000000000},
        {"w", UINT64_C(604800) * 1000000000},
    };

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].name);

        if (strncmp(p, units[i].name, n) == 0 && !isalpha((unsigned char)p[n])) {
            *out_ns = units[i].ns;
            return p + n;
        }
    }
    return NULL;
}

const char *
seine_units_span(const char *text, seine_span *out_span)
{
    if (!text || !out_span)
        return "nothing is given";
    const char *p = text, *end = text + strlen(text);
    bool is_first = true;
    seine_span sum = 0;

    if (*p == '-')
        return "a duration must not be negative";
    do {
        decimal number;
        seine_span part;
        uint64_t unit = 1000000000;

        p = read_decimal(p, end, false, &number);
        if (!p)
            return "not a duration";
        if (*p || !is_first) { /* a bare number stands alone */
            p = read_unit(p, &unit);
            if (!p)
                return "not a duration";
        }
        if (!scale_to(number, unit, &part) || part > SEINE_UNITS_TEN_YEARS - sum)
            return "a duration must not be longer than 10 years";
        sum += part;
        is_first = false;
    } while (*p);
    *out_span = sum;
    return NULL;
}

static uint64_t
common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static const char too_slow[] = "a rate must be above one in 290 years";

/* Makes a rate of count / 10^scale in `per`, in the smallest whole numbers. */
static const char *
make_rate(decimal count, wide per, seine_frequency *out)
{
    if (count.digits == 0)
        return "a rate must be above 0";
    while (count.scale > DIGITS || (count.scale > 0 && count.digits % 10 == 0)) {
        count.digits /= 10;
        count.scale--;
    }
    if (count.digits == 0)
        return too_slow;
    per *= power_of_ten(count.scale);
    if (per >= INT64_MAX) {
        /* The period does not fit: drop digits of both numbers. */
        while (per >= INT64_MAX && count.digits >= 10) {
            per /= 10;
            count.digits = (count.digits + 5) / 10;
        }
        if (per >= INT64_MAX)
            return too_slow;
    }
    uint64_t factor = common_divisor(count.digits, (uint64_t)per);
    *out = (seine_frequency){count.digits / factor, (seine_span)((uint64_t)per / factor)};
    return NULL;
}

/* Reads k, M or G behind a count. */
static const char *
read_thousands(const char *p, uint64_t *out_factor)
{
    static const char names[] = "kMG";
    const char *at = *p ? strchr(names, *p) : NULL;

    *out_factor = 1;
    if (!at)
        return p;
    for (ptrdiff_t i = 0; i <= at - names; i++)
        *out_factor *= 1000;
    return p + 1;
}

static const char *
multiply(decimal *d, uint64_t factor)
{
    return __builtin_mul_overflow(d->digits, factor, &d->digits) ? "too large" : NULL;
}

const char *
seine_units_rate(const char *text, seine_frequency *out_rate)
{
    if (!text || !out_rate)
        return "nothing is given";
    const char *end = text + strlen(text), *p;
    decimal count, n = {1, 0};
    uint64_t factor, unit = 1000000000;

    if (strcmp(text, "off") == 0) {
        *out_rate = (seine_frequency){0, SEINE_SECS(1)};
        return NULL;
    }
    if (*text == '-')
        return "a rate must be above 0";
    p = read_decimal(text, end, true, &count);
    if (!p)
        return "not a rate";
    p = read_thousands(p, &factor);
    if (multiply(&count, factor))
        return "a rate must be below 10^18";
    if (*p == '/') {
        p++;
        if (isdigit((unsigned char)*p)) {
            p = read_decimal(p, end, false, &n);
            if (!p || n.scale || n.digits == 0 || n.digits > 100000)
                return "not a rate";
        }
        if (!*p || !strchr("smhd", *p) || p[1])
            return "not a rate";
        p = read_unit(p, &unit);
    }
    if (!p || *p)
        return "not a rate";
    return make_rate(count, (wide)unit * n.digits, out_rate);
}

const char *
seine_units_count(const char *text, uint64_t *out_count)
{
    if (!text || !out_count)
        return "nothing is given";
    const char *end = text + strlen(text);
    decimal count;
    uint64_t factor;
    const char *p = read_decimal(text, end, true, &count);

    if (!p || count.scale || memchr(text, '.', (size_t)(p - text)))
        return "not a whole number";
    p = read_thousands(p, &factor);
    if (*p || multiply(&count, factor))
        return "not a whole number";
    *out_count = count.digits;
    return NULL;
}

const char *
seine_units_size(const char *text, uint64_t *out_bytes)
{
    if (!text || !out_bytes)
        return "nothing is given";
    static const char names[] = "kMGT";
    static const char not [] = "not a size";
    const char *end = text + strlen(text), *at;
    decimal size;
    seine_span bytes;
    uint64_t unit = 1;
    const char *p = read_decimal(text, end, true, &size);

    if (!p)
        return not ;
    at = *p == 'K' ? names : *p ? strchr(names, *p) : NULL;
    if (at) {
        unit <<= 10 * (at - names + 1);
        p++;
    }
    if (strcmp(p, "") != 0 && strcmp(p, "B") != 0 && (!at || strcmp(p, "iB") != 0))
        return not ;
    if (!at && size.scale)
        return not ;
    if (!scale_to(size, unit, &bytes))
        return "too large";
    *out_bytes = (uint64_t)bytes;
    return NULL;
}

const char *
seine_units_share(const char *text, uint64_t most, uint32_t *out_percent)
{
    if (!text || !out_percent)
        return "nothing is given";
    const char *end = text + strlen(text);
    decimal share;
    const char *p = read_decimal(text, end, false, &share);

    if (!p || share.scale || strcmp(p, "%") != 0)
        return "not a share";
    if (share.digits > most)
        return most == 100 ? "a share must not be above 100%" : "too large";
    *out_percent = (uint32_t)share.digits;
    return NULL;
}

/* Reads digits[.digits][e[+-]digits], all of `len`. */
static bool
read_scientific(const char *text, size_t len, decimal *out)
{
    const char *end = text + len;
    decimal d, exponent = {0, 0};
    const char *p = read_decimal(text, end, false, &d);

    if (!p)
        return false;
    if (p == end) {
        *out = d;
        return true;
    }
    if (*p != 'e' && *p != 'E')
        return false;
    p++;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    p = read_decimal(p, end, false, &exponent);
    if (!p || p != end || exponent.scale || exponent.digits > 30)
        return false;

    long scale = (long)d.scale + (minus ? 1 : -1) * (long)exponent.digits;
    for (; scale < 0; scale++)
        if (__builtin_mul_overflow(d.digits, UINT64_C(10), &d.digits))
            return false;
    for (; scale > DIGITS; scale--)
        d.digits /= 10;
    *out = (decimal){d.digits, (unsigned)scale};
    return true;
}

bool
seine_units_decimal(const char *text, size_t len, seine_span unit, seine_span *out_span)
{
    decimal d;

    return read_scientific(text, len, &d) && scale_to(d, (uint64_t)unit, out_span);
}

const char *
seine_units_rate_decimal(const char *text, size_t len, seine_frequency *out_rate)
{
    decimal d;

    if (len > 0 && text[0] == '-')
        return "a rate must be above 0";
    if (!read_scientific(text, len, &d))
        return "not a rate";
    return make_rate(d, 1000000000, out_rate);
}

double
seine_frequency_per_second(seine_frequency f)
{
    return (double)f.count * 1e9 / (double)f.per;
}
