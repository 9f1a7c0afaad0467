/* SPDX-License-Identifier: Apache-2.0 */
#include "text/span.h"

static const struct unit {
    sn_str name;
    int64_t ns;
} units[] = {
    {{"ns", 2}, 1},
    {{"us", 2}, 1000},
    {{"ms", 2}, 1000000},
    {{"s", 1}, 1000000000},
    {{"m", 1}, INT64_C(60000000000)},
    {{"h", 1}, INT64_C(3600000000000)},
    {{"d", 1}, INT64_C(86400000000000)},
    {{"w", 1}, INT64_C(604800000000000)},
};

/* Letters at the start of s. */
static sn_str
letters(sn_str s)
{
    size_t n = 0;

    while (n < s.len && sn_is_alpha(s.ptr[n]))
        n++;
    return sn_str_slice(s, 0, n);
}

/* Digits with a point among them at the start of s, at most 18. */
static seine_err
read_number(sn_str s, uint64_t *out_digits, unsigned *out_places, size_t *out_len)
{
    uint64_t n = 0;
    unsigned places = 0, used = 0;
    bool point = false;
    size_t i = 0;

    for (; i < s.len && (sn_is_digit(s.ptr[i]) || (s.ptr[i] == '.' && !point)); i++) {
        if (s.ptr[i] == '.') {
            point = true;
            continue;
        }
        used += n > 0 || s.ptr[i] != '0';
        places += point;
        if (used > 18 || places > 18)
            return SEINE_E_RANGE;
        n = 10 * n + (uint64_t)(s.ptr[i] - '0');
    }
    if (i == 0 || s.ptr[0] == '.' || s.ptr[i - 1] == '.')
        return SEINE_E_INVAL;
    *out_digits = n;
    *out_places = places;
    *out_len = i;
    return SEINE_OK;
}

__extension__ typedef unsigned __int128 wide;

/* n / 10^places units; SN_SPAN_MAX + 1 for anything longer. */
static seine_span
scale(uint64_t n, unsigned places, int64_t ns)
{
    wide span = (wide)n * (uint64_t)ns;

    for (; places > 0; places--)
        span /= 10;
    return span > SN_SPAN_MAX ? SN_SPAN_MAX + 1 : (seine_span)span;
}

static int64_t
unit_of(sn_str name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (sn_str_eq(name, units[i].name))
            return units[i].ns;
    return 0;
}

seine_err
sn_span_parse(sn_str s, seine_span *out_span)
{
    seine_span sum = 0;
    bool first = true;

    do {
        uint64_t n;
        unsigned places;
        size_t len;
        seine_err e = read_number(s, &n, &places, &len);
        if (e != SEINE_OK)
            return e;

        sn_str name = letters(sn_str_slice(s, len, s.len));
        bool bare = first && len == s.len;
        int64_t ns = bare ? SEINE_SECS(1) : unit_of(name);
        if (ns == 0)
            return SEINE_E_INVAL;
        sum += scale(n, places, ns);
        if (sum > SN_SPAN_MAX)
            return SEINE_E_RANGE;
        s = sn_str_slice(s, len + name.len, s.len);
        first = false;
    } while (s.len > 0);
    *out_span = sum;
    return SEINE_OK;
}
