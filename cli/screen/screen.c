/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/screen.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "screen/out.h"

static bool
is_set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0];
}

static bool
wants_colour(color_when when, bool on_terminal)
{
    const char *term = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");

    if (when != COLOR_AUTO)
        return when == COLOR_ALWAYS;
    if (is_set("NO_COLOR"))
        return false;
    if (force && force[0] && strcmp(force, "0") != 0)
        return true;
    return on_terminal && term && strcmp(term, "dumb") != 0;
}

size_t
screen_columns(int fd)
{
    struct winsize size = {0, 0, 0, 0};

    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static size_t
look_width(int fd)
{
    enum { NARROW = 40, USUAL = 80, WIDE = 200 };
    const char *columns = getenv("COLUMNS");
    unsigned long width = screen_columns(fd);

    if (width == 0 && columns && columns[0] >= '1' && columns[0] <= '9')
        width = strtoul(columns, NULL, 10);
    if (width == 0)
        return USUAL;
    return width < NARROW ? NARROW : width > WIDE ? WIDE : width;
}

screen
screen_look_at(int fd, color_when when)
{
    bool on_terminal = isatty(fd);

    setlocale(LC_CTYPE, "");
    return (screen){
        .colour = wants_colour(when, on_terminal),
        .blocks = !on_terminal || strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
        .width = look_width(fd),
    };
}

screen
screen_look(color_when when)
{
    return screen_look_at(STDOUT_FILENO, when);
}

const char *
screen_code(ink colour)
{
    static const char *const codes[] = {"\x1b[0m",  "\x1b[32m", "\x1b[33m",
                                        "\x1b[31m", "\x1b[2m",  "\x1b[1m"};

    return codes[colour];
}

void
screen_put(const screen *s, ink colour, const char *fmt, ...)
{
    char text[512];
    va_list list;

    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    bool plain = !s->colour || colour == INK_NONE || text[0] == '\0';
    if (!plain)
        out_code(screen_code(colour));
    out_text(text);
    if (!plain)
        out_code(screen_code(INK_NONE));
}

const char *
screen_glyph(const screen *s, glyph g)
{
    static const char *const blocks[] = {"█", "▒", "░", "┊", "─"};
    static const char *const plain[] = {"#", "+", ".", "|", "-"};

    return s->blocks ? blocks[g] : plain[g];
}

const char *
screen_level(const screen *s, uint64_t part, uint64_t whole)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};
    uint64_t level = 0;

    if (part > 0 && whole > 0)
        level =
            1 +
            (uint64_t)(7.0 * (double)(part < whole ? part : whole) / (double)whole + 0.5);
    return s->blocks ? blocks[level] : plain[level];
}

figure
figure_count(uint64_t n)
{
    char digits[24];
    figure out = {""};
    size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n), used = 0;

    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out.text[used++] = ',';
        out.text[used++] = digits[i];
    }
    return out;
}

figure
figure_share(uint64_t n, uint64_t of)
{
    figure out;
    double percent = of ? 100.0 * (double)n / (double)of : 0;

    /* 100 % and 0 % are printed only when they are exact. */
    if (n < of && percent > 99.9)
        percent = 99.9;
    if (n > 0 && percent < 0.1)
        percent = 0.1;
    snprintf(out.text, sizeof out.text, n == of && of ? "%.0f %%" : "%.1f %%", percent);
    return out;
}

/* `span` to the nearest multiple of `step`. */
static seine_span
round_to(seine_span span, seine_span step)
{
    return span > SEINE_NEVER - step ? span : (span + step / 2) / step * step;
}

static void
two_units(figure *out, seine_span span, seine_span big, const char *names[2],
          seine_span small)
{
    long long whole = span / big, rest = span % big / small;

    if (rest)
        snprintf(out->text, sizeof out->text, "%lld %s %lld %s", whole, names[0], rest,
                 names[1]);
    else
        snprintf(out->text, sizeof out->text, "%lld %s", whole, names[0]);
}

figure
figure_span(seine_span span)
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 86400 };
    static const struct {
        seine_span below, step, unit;
        const char *name;
        int digits;
    } rows[] = {
        {SEINE_US(1), 1, 1, "ns", 0},
        {SEINE_US(10), 100, SEINE_US(1), "us", 1},
        {SEINE_MS(1), SEINE_US(1), SEINE_US(1), "us", 0},
        {SEINE_MS(10), SEINE_US(100), SEINE_MS(1), "ms", 1},
        {SEINE_SECS(1), SEINE_MS(1), SEINE_MS(1), "ms", 0},
        {SEINE_SECS(10), SEINE_MS(10), SEINE_SECS(1), "s", 2},
        {SEINE_SECS(MINUTE), SEINE_MS(100), SEINE_SECS(1), "s", 1},
    };
    figure out;

    if (span == SEINE_NEVER || span < 0) {
        snprintf(out.text, sizeof out.text, "%s", span < 0 ? "–" : "for ever");
        return out;
    }
    if (span == 0) {
        snprintf(out.text, sizeof out.text, "0 s");
        return out;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        seine_span rounded = round_to(span, rows[i].step);

        if (rounded >= rows[i].below)
            continue;
        snprintf(out.text, sizeof out.text, "%.*f %s",
                 rounded % rows[i].unit ? rows[i].digits : 0,
                 (double)rounded / (double)rows[i].unit, rows[i].name);
        return out;
    }
    span = round_to(span, SEINE_SECS(1));
    if (span < SEINE_SECS(HOUR))
        two_units(&out, span, SEINE_SECS(MINUTE), (const char *[]){"min", "s"},
                  SEINE_SECS(1));
    else if (span < SEINE_SECS(DAY))
        two_units(&out, round_to(span, SEINE_SECS(MINUTE)), SEINE_SECS(HOUR),
                  (const char *[]){"h", "min"}, SEINE_SECS(MINUTE));
    else
        two_units(&out, round_to(span, SEINE_SECS(HOUR)), SEINE_SECS(DAY),
                  (const char *[]){"d", "h"}, SEINE_SECS(HOUR));
    return out;
}

figure
figure_rate(double per_second)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{1, "s"}, {60, "m"}, {3600, "h"}, {86400, "d"}};
    figure out;
    size_t u = 0;

    while (u < 3 && per_second * units[u].seconds < 1)
        u++;
    double rate = per_second * units[u].seconds;
    bool whole = rate >= 99.95 || (rate >= 1 && fabs(rate - round(rate)) < 0.005);

    /* Three digits are enough, and whole numbers have no decimals. */
    if (whole && rate < 1e15)
        snprintf(out.text, sizeof out.text, "%.30s/%s",
                 figure_count((uint64_t)round(rate)).text, units[u].name);
    else if (rate < 0.1)
        snprintf(out.text, sizeof out.text, "%.1g/%s", rate, units[u].name);
    else
        snprintf(out.text, sizeof out.text, "%.*f/%s", rate >= 9.995 ? 1 : 2, rate,
                 units[u].name);
    return out;
}

figure
figure_moment(seine_time wall, seine_span wait)
{
    time_t at = (time_t)((wall + wait) / SEINE_SECS(1));
    bool is_far = wait >= SEINE_SECS(86400);
    struct tm tm;
    figure out;

    localtime_r(&at, &tm);
    strftime(out.text, sizeof out.text, is_far ? "%Y-%m-%d %H:%M:%S" : "%H:%M:%S", &tm);
    return out;
}
