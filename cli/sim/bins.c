/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/bins.h"

#include <stdio.h>

static seine_span
round_width(seine_span least)
{
    static const int seconds[] = {1,     2,     5,     10,    15,     30,    60,
                                  120,   300,   600,   900,   1800,   3600,  7200,
                                  10800, 21600, 43200, 86400, 172800, 604800};

    for (seine_span unit = 1000; unit < SEINE_SECS(1); unit *= 10)
        for (int i = 1; i <= 5; i += i == 1 ? 1 : 3) /* 1, 2, 5 */
            if (unit * i >= least)
                return unit * i;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
        if (SEINE_SECS(seconds[i]) >= least)
            return SEINE_SECS(seconds[i]);
    seine_span week = SEINE_SECS(604800);
    return (least + week - 1) / week * week;
}

/* What to add to a moment of the trace so that it counts from a local midnight. */
static seine_time
clock_shift(const trace *t)
{
    return t->dated ? t->epoch + SEINE_SECS(60) * t->zone : 0;
}

static bins
cut_trace(const trace *t, seine_time end, seine_span width)
{
    seine_time first = t->count ? t->events[0].at : 0, local = first + clock_shift(t);
    seine_time start = first - (local % width + width) % width;

    return (bins){t, start, width, (size_t)((end - start) / width) + 1};
}

bins
bins_make(const trace *t, seine_time end, seine_span width, size_t most)
{
    seine_time first = t->count ? t->events[0].at : 0;

    if (width == 0 && end == first)
        width = SEINE_SECS(1);
    if (width > 0)
        return cut_trace(t, end, width);
    width = round_width((end - first) / (seine_span)most);
    if (t->coarse && width < SEINE_SECS(1))
        width =
            SEINE_SECS(1); /* finer bins would pretend a precision that the trace lacks */
    bins b = cut_trace(t, end, width);
    while (b.count > most) {
        width = round_width(width + 1);
        b = cut_trace(t, end, width);
    }
    return b;
}

bins
bins_fill(const trace *t, seine_time end, size_t count)
{
    seine_time first = t->count ? t->events[0].at : 0;
    seine_span width = (end - first) / (seine_span)count + 1;

    if ((t->coarse && width < SEINE_SECS(1)) || end == first)
        width = SEINE_SECS(1);
    return (bins){t, first, width, (size_t)((end - first) / width) + 1};
}

seine_span
bins_ticks(const bins *b, size_t room, seine_time *out_first)
{
    seine_span step = round_width(b->width * (seine_span)room);
    seine_time local = b->start + clock_shift(b->trace);

    *out_first = b->start + (step - (local % step + step) % step) % step;
    return step;
}

size_t
bins_place(const bins *b, seine_time at)
{
    size_t i = at <= b->start ? 0 : (size_t)((at - b->start) / b->width);

    return i < b->count ? i : b->count - 1;
}

seine_time
bins_edge(const bins *b, size_t i)
{
    return b->start + b->width * (seine_span)i;
}

static int
digits_of(seine_span step)
{
    int digits = 0;

    for (seine_span unit = SEINE_SECS(1); step % unit && digits < 9; unit /= 10)
        digits++;
    return digits;
}

/* Writes 12.5 s below 100 s, else 2:05 or 1:02:05. */
static clock_text
relative_clock(seine_time at, seine_time last, int digits)
{
    clock_text out;
    long long seconds = at / SEINE_SECS(1);
    long long unit = 1000000000;

    for (int i = 0; i < digits; i++)
        unit /= 10;
    long long part = at % SEINE_SECS(1) / unit;

    if (last < SEINE_SECS(100)) {
        if (digits)
            snprintf(out.text, sizeof out.text, "%lld.%0*lld s", seconds, digits, part);
        else
            snprintf(out.text, sizeof out.text, "%lld s", seconds);
        return out;
    }
    int n = last < SEINE_SECS(3600)
                ? snprintf(out.text, sizeof out.text, "%lld:%02lld", seconds / 60,
                           seconds % 60)
                : snprintf(out.text, sizeof out.text, "%lld:%02lld:%02lld",
                           seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (digits)
        snprintf(out.text + n, sizeof out.text - (size_t)n, ".%0*lld", digits, part);
    return out;
}

static clock_text
clock_of(const bins *b, seine_time at, int digits)
{
    const trace *t = b->trace;
    seine_time end = bins_edge(b, b->count);

    if (!t->dated)
        return relative_clock(at, end, digits);
    if (end - b->start <= SEINE_SECS(86400))
        return log_date_clock(t->epoch + at, t->zone, digits);

    clock_text out = log_date_date(t->epoch + at, t->zone);
    if (end - b->start > SEINE_SECS(INT64_C(300) * 86400)) {
        out.text[10] = '\0'; /* bins of years show the day alone */
        return out;
    }
    out.text[16] = '\0'; /* to the minute, without year and zone */
    for (size_t i = 0; i <= 11; i++)
        out.text[i] = out.text[i + 5];
    return out;
}

clock_text
bins_label(const bins *b, size_t i)
{
    return clock_of(b, bins_edge(b, i), digits_of(b->width));
}

clock_text
bins_tick(const bins *b, seine_time at, seine_span step)
{
    return clock_of(b, at, digits_of(step));
}

clock_text
bins_moment(const bins *b, seine_time at)
{
    return clock_of(b, at, b->trace->coarse ? 0 : 3);
}
