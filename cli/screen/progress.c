/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A text of bounded room; what does not fit is cut off. */
typedef struct line {
    char *text;
    size_t len, cap;
} line;

static void __attribute__((format(printf, 2, 3))) put_text(line *l, const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    int n = vsnprintf(l->text + l->len, l->cap - l->len, fmt, list);
    va_end(list);
    if (n > 0)
        l->len += (size_t)n < l->cap - l->len ? (size_t)n : l->cap - l->len - 1;
}

size_t
progress_columns(const char *text)
{
    size_t sum = 0;

    for (; *text; text++) {
        if (*text == '\x1b') {
            text += strcspn(text, "m");
            if (!*text)
                break;
            continue;
        }
        sum += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return sum;
}

const char *
progress_wait_name(seine_wait w)
{
    static const char *const names[SEINE_WAIT_ROOM] = {
        [SEINE_WAIT_QUEUE] = "--per-host",
        [SEINE_WAIT_CONCURRENCY] = "--concurrency",
        [SEINE_WAIT_RATE] = "--rate",
        [SEINE_WAIT_HOST_RATE] = "--host-rate",
        [SEINE_WAIT_PACE] = "the pace of the host",
        [SEINE_WAIT_RATE_LIMIT] = "RateLimit",
        [SEINE_WAIT_RETRY_AFTER] = "Retry-After",
        [SEINE_WAIT_CRAWL_DELAY] = "crawl-delay",
        [SEINE_WAIT_BREAKER] = "breaker",
        [SEINE_WAIT_ADDRESS] = "--per-ip",
        [SEINE_WAIT_BACKOFF] = "backoff",
        [SEINE_WAIT_RETRY_BUDGET] = "--retry-budget",
        [SEINE_WAIT_OUTPUT] = "output",
    };

    return w >= 0 && w < SEINE_WAIT_ROOM ? names[w] : "";
}

const char *
progress_limit(const progress_facts *f, char *buf, size_t cap)
{
    const seine_fetch_stats *s = &f->stats;
    seine_wait most = SEINE_WAIT_QUEUE;

    for (int w = 0; w < SEINE_WAIT_ROOM; w++)
        if (s->waiting_for[w] > s->waiting_for[most])
            most = (seine_wait)w;
    if (s->waiting_for[SEINE_WAIT_OUTPUT] > 0)
        most = SEINE_WAIT_OUTPUT;
    /* A retry without a budget goes when its host has nothing else to do: now, but for
     * the breaker. */
    else if (most == SEINE_WAIT_RETRY_BUDGET && s->in_flight == 0 &&
             s->waiting_for[SEINE_WAIT_BREAKER] > 0)
        most = SEINE_WAIT_BREAKER;
    const char *name = progress_wait_name(most);
    bool per_host = most != SEINE_WAIT_CONCURRENCY && most != SEINE_WAIT_RATE &&
                    most != SEINE_WAIT_OUTPUT;
    const char *host = f->host ? f->host : f->slow;

    buf[0] = '\0';
    if (f->is_slowed)
        snprintf(buf, cap, "--limit-rate");
    else if (s->in_flight >= f->concurrency && f->concurrency > 0)
        snprintf(buf, cap, "--concurrency");
    else if (s->waiting_for[most] > 0 && most == SEINE_WAIT_PACE && host)
        snprintf(buf, cap, "the pace of %.60s", host);
    else if (s->waiting_for[most] > 0 && per_host && host)
        snprintf(buf, cap, "%s on %.60s", name, host);
    else if (s->waiting_for[most] > 0)
        snprintf(buf, cap, "%s", name);
    else if (f->is_reading && s->in_flight + s->waiting < f->concurrency)
        snprintf(buf, cap, "input");
    else if (s->in_flight > 0)
        snprintf(buf, cap, "server");
    return buf;
}

/* The time of day, here, at which the first host may be asked again. */
static void
put_wake_time(line *l, const progress_facts *f)
{
    seine_span pause = f->stats.parked_until - f->now;

    put_text(l, "waiting until %s", figure_moment(f->wall, pause).text);
}

/* A crawl that still finds URLs knows how much is left at least, and no more. It has
 * found all when pages of every depth were read and hardly bring anything new. */
static bool
is_finding(const progress_facts *f)
{
    const double hardly = 0.05; /* new URLs per page */

    return f->is_crawl && (f->stats.unread > 0 || seine_eta_growth(f->eta) > hardly);
}

/* The interval of the ETA, from the rates of the last minute. In a crawl the few URLs
 * that it has yet to find count as well, and the end is not before the slowest host is
 * done. While a crawl is finding, `low` alone counts: the time for what is known. */
static bool
find_interval(const progress_facts *f, seine_span *low, seine_span *high)
{
    uint64_t left = f->stats.waiting + f->stats.in_flight;

    if (f->is_crawl && !is_finding(f))
        left = seine_eta_grown(f->eta, left);
    if (!seine_eta_interval(f->eta, f->now, left, low, high))
        return false;
    /* `slowest` counts one request per page; retries and redirects make more. */
    double each = f->stats.requests > f->stats.done && f->stats.done > 0
                      ? (double)f->stats.requests / (double)f->stats.done
                      : 1;
    seine_span least = f->slowest / SEINE_SECS(1);
    seine_span most = (seine_span)((double)f->slowest * each / 1e9);
    *low = *low > SEINE_SECS(least) ? *low : SEINE_SECS(least);
    *high = *high > SEINE_SECS(most + 1) ? *high : SEINE_SECS(most + 1);
    return true;
}

/* Writes an interval; an end that nobody knows is left out: "at least". */
static void
put_interval(line *l, seine_span low, seine_span high)
{
    const seine_span longest = SEINE_SECS(99 * 3600); /* as long as an eta tells */
    figure from = figure_span(low), to = figure_span(high < longest ? high : longest);
    size_t unit = strcspn(from.text, " ");

    /* Writes "21–25 s" instead of "21 s–25 s". */
    if (high < longest && !strchr(from.text + unit + 1, ' ') &&
        strcmp(from.text + unit, to.text + strcspn(to.text, " ")) == 0)
        from.text[unit] = '\0';
    if (high >= longest && low > 0)
        put_text(l, "ETA at least %s", from.text);
    else if (high < longest && low == 0)
        put_text(l, "ETA < %s", to.text);
    else if (high < longest)
        put_text(l, "ETA %s–%s", from.text, to.text);
}

/* Writes the ETA, or the reason why there is none. */
static void
put_eta(line *l, const progress_facts *f)
{
    const seine_fetch_stats *s = &f->stats;
    double growth = f->is_crawl ? seine_eta_growth(f->eta) : 0;
    seine_span low, high;

    if (f->is_stopping)
        put_text(l, "stopping");
    else if (s->in_flight == 0 && s->parked_until != SEINE_NEVER &&
             s->parked_until > f->now)
        put_wake_time(l, f);
    else if (f->is_reading)
        put_text(l, "reading input");
    else if (growth >= 1)
        put_text(l, "growing, %.1f new per page", growth);
    else if (find_interval(f, &low, &high))
        put_interval(l, low, is_finding(f) ? SEINE_NEVER : high);
}

static uint64_t
count_finished(const progress_facts *f)
{
    return f->stats.done + (f->is_crawl ? 0 : f->skipped);
}

static void
put_counts(line *l, const progress_facts *f)
{
    put_text(l, "%s", figure_count(count_finished(f)).text);
    if (f->total)
        put_text(l, "/%s%s", f->is_estimate ? "~" : "", figure_count(f->total).text);
}

static void
put_percent(line *l, const progress_facts *f)
{
    uint64_t done = count_finished(f);
    unsigned percent = f->total ? (unsigned)(100.0 * (double)done / (double)f->total) : 0;

    if (percent >= 100 && (done < f->total || f->is_estimate))
        percent = 99;
    put_text(l, "%s%u %%", f->is_estimate ? "~" : "", percent > 100 ? 100 : percent);
}

static void
put_cells(line *l, const screen *s, const char *code, const char *cell, size_t n)
{
    if (n == 0)
        return;
    if (s->colour)
        put_text(l, "\x1b[%sm", code);
    while (n-- > 0)
        put_text(l, "%s", cell);
    if (s->colour)
        put_text(l, "\x1b[0m");
}

static void
put_bar(line *l, const screen *s, const progress_facts *f, size_t width)
{
    double total = f->total ? (double)f->total : 1, done = (double)count_finished(f);
    size_t cells = (size_t)(done / total * (double)width + 0.5);
    size_t bad = (size_t)((double)f->errors / total * (double)width + 0.5);

    if (cells > width)
        cells = width;
    if (done < total && cells == width && width > 0)
        cells--;
    if (f->errors > 0 && bad == 0)
        bad = 1;
    if (bad > cells)
        bad = cells;
    if (!s->blocks)
        put_text(l, "[");
    put_cells(l, s, "32", s->blocks ? "━" : "=", cells - bad);
    put_cells(l, s, "31", !s->blocks ? "!" : s->colour ? "━" : "╍", bad);
    put_cells(l, s, "2", s->blocks ? "─" : "-", width - cells);
    if (!s->blocks)
        put_text(l, "]");
}

static void
put_rate(line *l, const progress_facts *f)
{
    double rate = seine_eta_rate(f->eta, f->now);

    if (rate > 0)
        put_text(l, "  %s", figure_rate(rate).text);
}

static void
first_line(line *out, const screen *s, const progress_facts *f)
{
    enum { NARROW = 8, WIDE = 60 };
    char tail[512], head[32];
    line left = {head, 0, sizeof head}, right = {tail, 0, sizeof tail};

    head[0] = '\0';
    if (f->total)
        put_percent(&left, f);
    put_counts(&right, f);
    put_rate(&right, f);
    size_t before = right.len;
    put_text(&right, "  ");
    put_eta(&right, f);
    if (right.len == before + 2)
        tail[before] = '\0';
    size_t used = progress_columns(tail) + 6 + 2 + 2 + (s->blocks ? 0 : 2);
    size_t room = s->width > used + NARROW ? s->width - 1 - used : 0;
    if (f->total && room >= NARROW) {
        put_text(out, "%6s  ", head);
        put_bar(out, s, f, room < WIDE ? room : WIDE);
        put_text(out, "  %s", tail);
    } else {
        put_text(out, "%s%s%s", head, head[0] ? "  " : "", tail);
    }
}

static void
put_ink(line *l, const screen *s, const char *code, const char *word, uint64_t n)
{
    bool bright = s && s->colour && n > 0;

    put_text(l, "%s%s %s%s", bright ? code : "", word, figure_count(n).text,
             bright ? "\x1b[0m" : "");
}

static void
put_figures(line *l, const screen *s, const progress_facts *f)
{
    put_ink(l, s, "\x1b[32m", "ok", f->ok);
    put_text(l, "  ");
    put_ink(l, s, "\x1b[31m", "err", f->errors);
    if (f->skipped)
        put_text(l, "  skipped %s", figure_count(f->skipped).text);
    if (f->stats.retries)
        put_text(l, "  retried %s", figure_count(f->stats.retries).text);
    put_text(l, "  %s in flight", figure_count(f->stats.in_flight).text);
}

/* Leaves the host of a limit out where there is no room for its name. False: there is no
 * limit, or no room at all. */
static bool
fit_limit(char *limit, size_t room)
{
    char *host = strstr(limit, " on ");

    if (host && progress_columns(limit) > room)
        *host = '\0';
    return limit[0] && progress_columns(limit) <= room;
}

progress_text
progress_bar(const screen *s, const progress_facts *f)
{
    progress_text out = {""};
    char limit[96];
    line l = {out.bytes, 0, sizeof out.bytes};

    first_line(&l, s, f);
    const char *second = out.bytes + l.len + 1;
    put_text(&l, "\n%s", f->total && s->width > 60 ? "        " : "");
    put_figures(&l, s, f);
    size_t used = progress_columns(second) + strlen("  limited by ");
    progress_limit(f, limit, sizeof limit);
    if (used < s->width && fit_limit(limit, s->width - used))
        put_text(&l, "%s  limited by %s%s", s->colour ? "\x1b[2m" : "", limit,
                 s->colour ? "\x1b[0m" : "");
    return out;
}

static void
put_name(line *l, const progress_facts *f)
{
    if (!f->is_crawl || !f->name)
        return;
    put_text(l, "%.60s", f->name);
    if (f->stats.hosts > 1)
        put_text(l, " (%s hosts)", figure_count(f->stats.hosts).text);
    put_text(l, "  ");
}

progress_text
progress_line(const progress_facts *f)
{
    progress_text out = {""};
    char limit[96];
    line l = {out.bytes, 0, sizeof out.bytes};

    put_name(&l, f);
    put_counts(&l, f);
    if (f->total) {
        put_text(&l, "  ");
        put_percent(&l, f);
    }
    put_rate(&l, f);
    put_text(&l, "  ");
    put_figures(&l, NULL, f);
    put_text(&l, "  ");
    put_eta(&l, f);
    while (l.len > 0 && out.bytes[l.len - 1] == ' ')
        out.bytes[--l.len] = '\0';
    if (progress_limit(f, limit, sizeof limit)[0])
        put_text(&l, f->is_crawl ? "  (limited by %s)" : "  limited by %s", limit);
    return out;
}
