/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/closing.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/progress.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/outputs.h"

enum { HOSTS = 10, NAMED = 4 };

/* The parts of " (404 ×3, 500, …)", the most frequent first. */
typedef struct named {
    struct {
        char name[32];
        uint64_t n;
    } top[NAMED];
    size_t kinds;
} named;

static void
name_one(named *list, const char *name, uint64_t n)
{
    size_t at = list->kinds < NAMED ? list->kinds : NAMED;

    if (n == 0)
        return;
    list->kinds++;
    while (at > 0 && list->top[at - 1].n < n) {
        if (at < NAMED)
            list->top[at] = list->top[at - 1];
        at--;
    }
    if (at == NAMED)
        return;
    snprintf(list->top[at].name, sizeof list->top[at].name, "%s", name);
    list->top[at].n = n;
}

static void
put_named(textbuf *out, const named *list)
{
    size_t most = list->kinds < NAMED ? list->kinds : NAMED;

    if (list->kinds == 0)
        return;
    textbuf_put(out, " (");
    for (size_t i = 0; i < most; i++) {
        textbuf_put(out, "%s%s", i ? ", " : "", list->top[i].name);
        if (list->kinds > 1)
            textbuf_put(out, " ×%s", figure_count(list->top[i].n).text);
    }
    textbuf_put(out, list->kinds > most ? ", …)" : ")");
}

static void
put_fate(const closing *c, seine_fate fate, textbuf *out)
{
    named list = {.kinds = 0};

    if (c->sums.fates[fate] == 0)
        return;
    textbuf_put(out, ", %s %s", figure_count(c->sums.fates[fate]).text,
                seine_fate_name(fate));
    if (fate == SEINE_FATE_HTTP_ERROR)
        for (unsigned s = 100; s < 1000; s++) {
            bool ok = seine_status_set_has(&c->opts->accept, s);
            char name[8];

            snprintf(name, sizeof name, "%u", s);
            if (!ok && !(c->opts->crawl && s >= 300 &&
                         s < 400)) /* redirects of a crawl are links */
                name_one(&list, name, c->sums.statuses[s]);
        }
    else
        for (int e = 1; e < SEINE_ERR_ROOM; e++)
            if (seine_fate_of((seine_err)e) == fate)
                name_one(&list, seine_err_name((seine_err)e), c->sums.errors[e]);
    put_named(out, &list);
}

/* Writes ", 212 skipped (198 offsite, 14 robots)", the most frequent reason first. */
static void
put_skips(const closing *c, textbuf *out)
{
    bool told[SEINE_SKIP_ROOM] = {false};
    const char *before = " (";

    if (c->sums.skipped == 0)
        return;
    textbuf_put(out, ", %s skipped", figure_count(c->sums.skipped).text);
    for (int k = 0; k < SEINE_SKIP_ROOM; k++) {
        int most = 0;

        for (int s = 0; s < SEINE_SKIP_ROOM; s++)
            if (!told[s] && (told[most] || c->sums.skips[s] > c->sums.skips[most]))
                most = s;
        if (c->sums.skips[most] == 0)
            break;
        told[most] = true;
        textbuf_put(out, "%s%s %s", before, figure_count(c->sums.skips[most]).text,
                    seine_skip_name((seine_skip)most));
        before = ", ";
    }
    textbuf_put(out, ")");
}

void
closing_line(const closing *c, textbuf *out)
{
    static const struct {
        const char *name, *says;
    } ends[] = {
        {"signal", "a signal"},         {"max_time", "--max-time"},
        {"max_errors", "--max-errors"}, {"disk", "an input or output error"},
        {"pipe", "its reader"},         {"memory", "want of memory"},
    };
    const seine_tally_sums *t = &c->sums;
    bool crawl = c->opts->crawl != NULL;
    uint64_t n = crawl ? t->total - t->skipped : t->total;

    textbuf_put(out, "done: %s %s%s, %s ok", figure_count(n).text, crawl ? "page" : "URL",
                n == 1 ? "" : "s", figure_count(t->ok).text);
    for (int f = SEINE_FATE_OK + 1; f < SEINE_FATE_ROOM; f++)
        put_fate(c, (seine_fate)f, out);
    put_skips(c, out);
    if (c->stats.duplicates &&
        !crawl) /* in a crawl duplicates are usual: pages link to the same pages */
        textbuf_put(out, ", %s duplicate%s", figure_count(c->stats.duplicates).text,
                    c->stats.duplicates == 1 ? "" : "s");
    if (c->unwritten)
        textbuf_put(out, ", %s without a record", figure_count(c->unwritten).text);
    textbuf_put(out, " in %s", figure_span(c->wall).text);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].name, c->stopped_by) == 0)
            textbuf_put(out, ", stopped by %s", ends[i].says);
}

/* The table */

static void
put_label(textbuf *out, const screen *s, const char *text)
{
    textbuf_ink(out, s, INK_BOLD, "%-10s", text);
}

static void
put_share(textbuf *out, const screen *s, ink colour, uint64_t n, uint64_t of)
{
    size_t room = s->width > 80 ? 36 : s->width > 50 ? s->width - 44 : 8;
    size_t cells = of ? (size_t)((double)n * (double)room / (double)of + 0.5) : 0;

    if (s->colour)
        textbuf_put(out, "%s", screen_code(colour));
    for (size_t i = 0; i < (cells ? cells : 1); i++)
        textbuf_put(out, "%s", !s->blocks ? "#" : cells ? "━" : "╸");
    if (s->colour)
        textbuf_put(out, "%s", screen_code(INK_NONE));
    textbuf_put(out, "\n");
}

static void
put_outcomes(const closing *c, const screen *s, textbuf *out)
{
    const seine_tally_sums *t = &c->sums;
    const char *name = "outcomes";

    for (int f = 0; f <= SEINE_FATE_ROOM; f++) {
        uint64_t n = f < SEINE_FATE_ROOM ? t->fates[f] : t->skipped;
        ink colour = f == SEINE_FATE_OK                                      ? INK_GOOD
                     : f == SEINE_FATE_ROOM                                  ? INK_DIM
                     : f == SEINE_FATE_HTTP_ERROR || f == SEINE_FATE_BLOCKED ? INK_WARN
                                                                             : INK_BAD;

        if (n == 0)
            continue;
        put_label(out, s, name);
        textbuf_put(out, "%-13s %9s  %7s  ",
                    f < SEINE_FATE_ROOM ? seine_fate_name((seine_fate)f) : "skipped",
                    figure_count(n).text, figure_share(n, t->total).text);
        put_share(out, s, colour, n, t->total);
        name = "";
    }
}

/* A row of counts that goes on in the next line where the screen ends. */
typedef struct counts {
    const char *label;
    size_t used; /* columns of this line */
} counts;

static void
put_one_count(counts *row, const char *name, uint64_t n, const screen *s, textbuf *out)
{
    char text[64];

    if (n == 0)
        return;
    size_t len =
        (size_t)snprintf(text, sizeof text, "%s: %s", name, figure_count(n).text);
    if (row->used == 0) {
        put_label(out, s, row->label);
    } else if (row->used + len + 3 > s->width - 12) {
        textbuf_put(out, "\n%10s", "");
        row->used = 0;
    } else {
        textbuf_put(out, "   ");
    }
    textbuf_put(out, "%s", text);
    row->used += len + 3;
}

static void
put_statuses(const closing *c, const screen *s, textbuf *out)
{
    counts row = {"statuses", 0};

    for (unsigned i = 100; i < 1000; i++) {
        char name[8];

        snprintf(name, sizeof name, "%u", i);
        put_one_count(&row, name, c->sums.statuses[i], s, out);
    }
    if (row.used)
        textbuf_put(out, "\n");
}

/* Why URLs were not fetched, each reason with its count. */
static void
put_reasons(const closing *c, const screen *s, textbuf *out)
{
    counts row = {"skips", 0};

    for (int i = 0; i < SEINE_SKIP_ROOM; i++)
        put_one_count(&row, seine_skip_name((seine_skip)i), c->sums.skips[i], s, out);
    if (row.used)
        textbuf_put(out, "\n");
}

static void
put_traffic(const closing *c, const screen *s, textbuf *out)
{
    const seine_fetch_stats *t = &c->stats;
    double seconds = (double)c->wall / 1e9;

    put_label(out, s, "traffic");
    textbuf_put(out, "%s requests", figure_count(t->requests).text);
    if (seconds > 0.05)
        textbuf_put(out, " (%s)", figure_rate((double)t->requests / seconds).text);
    if (t->retries)
        textbuf_put(out, ", %s retr%s", figure_count(t->retries).text,
                    t->retries == 1 ? "y" : "ies");
    textbuf_put(out, ", %s received", figure_bytes(t->bytes_in).text);
    if (t->connections)
        textbuf_put(out, ", %s connection%s", figure_count(t->connections).text,
                    t->connections == 1 ? "" : "s");
    textbuf_put(out, "\n");
    if (t->breaker_opens || t->parked) {
        put_label(out, s, "breakers");
        textbuf_put(out, "opened %s time%s, %s host%s given up\n",
                    figure_count(t->breaker_opens).text, t->breaker_opens == 1 ? "" : "s",
                    figure_count(t->parked).text, t->parked == 1 ? "" : "s");
    }
}

/* Draws two characters per bin, as high as the bin is full, or one where the screen is
 * narrow. */
static void
put_histogram(const closing *c, const screen *s, textbuf *out)
{
    enum { BESIDE = 33 }; /* the label, and the spans at both ends */
    size_t room = s->width > BESIDE ? s->width - BESIDE : 0;
    size_t first = OUTPUTS_BINS, last = 0;
    uint64_t most = 0;

    for (size_t i = 0; i < OUTPUTS_BINS; i++) {
        if (c->bins[i] == 0)
            continue;
        first = i < first ? i : first;
        last = i;
        most = c->bins[i] > most ? c->bins[i] : most;
    }
    size_t bins = last + 1 - first;
    if (most == 0 || bins > room)
        return;
    textbuf_put(out, "%10s%9s  ", "", first ? figure_span(outputs_bin(first)).text : "0");
    for (size_t i = first; i <= last; i++) {
        const char *cell = screen_level(s, c->bins[i], most);

        textbuf_put(out, "%s%s", cell, 2 * bins <= room ? cell : "");
    }
    if (last + 1 < OUTPUTS_BINS)
        textbuf_put(out, "  %s", figure_span(outputs_bin(last + 1)).text);
    textbuf_put(out, "\n");
}

static void
put_latency(const closing *c, const screen *s, textbuf *out)
{
    const seine_tally_sums *t = &c->sums;

    if (c->stats.requests == 0)
        return;
    put_label(out, s, "latency");
    textbuf_put(out, "p50 %s   p90 %s   p95 %s   p99 %s   max %s\n",
                figure_span(t->p50).text, figure_span(t->p90).text,
                figure_span(t->p95).text, figure_span(t->p99).text,
                figure_span(t->max).text);
    put_histogram(c, s, out);
}

/* Writes what the URLs spent their time on. The sums exceed the duration of the run,
 * because URLs wait and run side by side. */
static void
put_time(const closing *c, const screen *s, textbuf *out)
{
    const seine_tally_sums *t = &c->sums;
    seine_span all = SEINE_MS((seine_span)t->total_duration_ms);
    seine_span waits = t->queue + t->throttle + t->backoff + t->retry_budget;
    const struct {
        const char *name;
        seine_span span;
    } parts[] = {{"in line", t->queue},
                 {"held back", t->throttle},
                 {"backing off", t->backoff},
                 {"waiting for the retry budget", t->retry_budget},
                 {"being fetched", all > waits ? all - waits : 0}};
    seine_span sum = all > waits ? all : waits;
    bool any = false;

    if (sum <= 0 || t->total < 2)
        return;
    put_label(out, s, "URLs were");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if ((double)parts[i].span < 0.005 * (double)sum)
            continue;
        textbuf_put(out, "%s%.0f %% %s", any ? ", " : "",
                    100.0 * (double)parts[i].span / (double)sum, parts[i].name);
        any = true;
    }
    textbuf_put(out, "\n");
}

/* What the URLs of a host waited for most, or "server". */
static const char *
limit_of(const seine_fetch_host *h)
{
    return h->parked                           ? "given up"
           : h->limited_by == SEINE_WAIT_QUEUE ? "server"
                                               : progress_wait_name(h->limited_by);
}

static figure
span_or_none(seine_span span)
{
    return span > 0 && span != SEINE_NEVER ? figure_span(span) : (figure){"-"};
}

static void
put_host(const seine_fetch_host *h, size_t name, bool wide, const screen *s, textbuf *out)
{
    shown who = show_host(h->host.ptr, h->host.len);
    size_t n = strlen(who.text);

    if (n > name)
        textbuf_put(out, "%.*s%s", (int)name - 1, who.text, s->blocks ? "…" : "~");
    else
        textbuf_put(out, "%-*s", (int)name, who.text);
    textbuf_put(out, " %8s %8s", figure_count(h->requests).text,
                figure_count(h->ok).text);
    if (wide)
        textbuf_put(out, " %7s %8s", figure_count(h->retries).text,
                    span_or_none(h->p50).text);
    textbuf_put(out, " %8s %6s %8s  %s\n", span_or_none(h->p95).text,
                figure_count(h->max_in_1s).text, span_or_none(h->min_gap).text,
                limit_of(h));
}

static void
put_hosts(const closing *c, const screen *s, textbuf *out)
{
    enum { WIDE = 100, LEAST = 12, OTHERS = 57, LONGEST = 32 };
    bool wide = s->width >= WIDE;
    size_t name = LEAST, most = wide                        ? LONGEST
                                : s->width > OTHERS + LEAST ? s->width - OTHERS
                                                            : LEAST;

    if (c->n_hosts == 0)
        return;
    for (size_t i = 0; i < c->n_hosts; i++) {
        size_t n = strlen(show_host(c->hosts[i].host.ptr, c->hosts[i].host.len).text);

        name = n > name ? n : name;
    }
    name = name > most ? most : name;
    textbuf_put(out, "\n");
    textbuf_ink(out, s, INK_BOLD, "%-*s %8s %8s%s %8s %6s %8s  %s", (int)name, "host",
                "requests", "ok", wide ? " retries      p50" : "", "p95", "in 1 s",
                "closest", "limited by");
    textbuf_put(out, "\n");
    for (size_t i = 0; i < c->n_hosts; i++)
        put_host(&c->hosts[i], name, wide, s, out);
    if (c->stats.hosts > c->n_hosts)
        textbuf_put(out, "and %s more\n", figure_count(c->stats.hosts - c->n_hosts).text);
}

void
closing_table(const closing *c, const screen *s, textbuf *out)
{
    put_outcomes(c, s, out);
    put_statuses(c, s, out);
    put_reasons(c, s, out);
    put_traffic(c, s, out);
    put_latency(c, s, out);
    put_time(c, s, out);
    put_hosts(c, s, out);
}

/* Advice */

typedef struct advice {
    textbuf *out;
    unsigned given;
} advice;

static void __attribute__((format(printf, 2, 3))) advise(advice *a, const char *fmt, ...)
{
    char text[256];
    va_list list;

    if (a->given == 3)
        return;
    a->given++;
    va_start(list, fmt);
    vsnprintf(text, sizeof text, fmt, list);
    va_end(list);
    textbuf_put(a->out, "try: %s\n", text);
}

static uint64_t
errors_of(const closing *c, seine_err e)
{
    return c->sums.errors[e];
}

brake
closing_brake(seine_wait wait)
{
    static const brake brakes[SEINE_WAIT_ROOM] = {
        [SEINE_WAIT_CONCURRENCY] = {"--concurrency", "a higher --concurrency"},
        [SEINE_WAIT_RATE] = {"--rate", "a higher --rate"},
        [SEINE_WAIT_HOST_RATE] = {"--host-rate", "a higher --host-rate, or --mine if the "
                                                 "host is yours"},
        [SEINE_WAIT_PACE] = {"--adaptive", "--mine if the host is yours; otherwise the "
                                           "pace is what good guests keep"},
        [SEINE_WAIT_RATE_LIMIT] = {"the quota that the host names", NULL},
        [SEINE_WAIT_RETRY_AFTER] = {"Retry-After", NULL},
        [SEINE_WAIT_CRAWL_DELAY] = {"Crawl-delay of robots.txt",
                                    "a shorter --max-crawl-delay, or --mine if the host "
                                    "is yours"},
        [SEINE_WAIT_BREAKER] = {"--breaker", NULL},
        [SEINE_WAIT_ADDRESS] = {"--per-ip", "a higher --per-ip"},
        [SEINE_WAIT_BACKOFF] = {"--backoff", "fewer --retries, or a shorter --backoff"},
        [SEINE_WAIT_OUTPUT] = {"an output that is slow", NULL},
    };

    return brakes[wait];
}

/* Says what limited a run that took a while and waited most of it. */
static void
advise_waits(const closing *c, textbuf *out)
{
    const seine_tally_sums *t = &c->sums;
    seine_span all = SEINE_MS((seine_span)t->total_duration_ms); /* waits included */
    brake b = c->n_hosts ? closing_brake(c->hosts[0].limited_by) : (brake){NULL, NULL};

    if (c->wall >= SEINE_SECS(2) && c->rate_wait > c->wall / 2) {
        textbuf_put(out, "limited by --limit-rate; try: a higher --limit-rate\n");
        return;
    }
    if (!b.name || c->opts->mine || c->wall < SEINE_SECS(2) || all <= 0 ||
        (double)(t->throttle + t->queue) < 0.5 * (double)all)
        return;
    bool is_of_all = c->hosts[0].limited_by == SEINE_WAIT_RATE;
    textbuf_put(out, "limited by %s%s%s%s%s\n", b.name, is_of_all ? "" : " on ",
                is_of_all ? ""
                          : show_host(c->hosts[0].host.ptr, c->hosts[0].host.len).text,
                b.hint ? "; try: " : "", b.hint ? b.hint : "");
}

/* Advises about URLs that a crawl left out and the user may have wanted. */
static void
advise_crawl(const closing *c, advice *a)
{
    const uint64_t *skips = c->sums.skips;
    uint64_t deep = skips[SEINE_SKIP_DEPTH], pages = c->sums.total - c->sums.skipped;

    if (deep > 0 && !c->has_told_depth)
        advise(a, "a larger --depth than %u, or off: %s URL%s deeper",
               c->opts->crawl->depth, figure_count(deep).text,
               deep == 1 ? " is" : "s are");
    if (pages == 0 && skips[SEINE_SKIP_ROBOTS] > 0)
        advise(a, "seine robots check URL, which says the rule; --robots off if the host "
                  "is yours");
    if (pages == 0 && skips[SEINE_SKIP_MIME] > 0)
        advise(a, "--accept-type '*/*', or seine fetch: the seed is no HTML page");
    if (pages <= 1 && skips[SEINE_SKIP_OFFSITE] > 0 && !c->has_told_offsite)
        advise(a, "--scope domain or --domains: the seed leads to other hosts alone");
}

void
closing_advice(const closing *c, textbuf *out)
{
    advice a = {out, 0};
    const seine_tally_sums *t = &c->sums;
    uint64_t names = errors_of(c, SEINE_E_DNS_SERVFAIL) +
                     errors_of(c, SEINE_E_DNS_ERROR) + errors_of(c, SEINE_E_DNS_TIMEOUT);

    if (strcmp(c->stopped_by, "done") != 0)
        return;
    if (errors_of(c, SEINE_E_HEADER_TIMEOUT) > 0)
        advise(&a, "a longer --head-timeout or a lower %s: %s URLs had no answer in time",
               c->opts->mine ? "--concurrency" : "--per-host",
               figure_count(errors_of(c, SEINE_E_HEADER_TIMEOUT)).text);
    if (names > 0)
        advise(&a, "seine doctor: %s names could not be looked up",
               figure_count(names).text);
    if (t->statuses[429] > 0)
        advise(&a, "%s: %s answers were 429, too many requests",
               c->opts->mine ? "a lower --rate, or without --mine"
                             : "a lower --host-rate",
               figure_count(t->statuses[429]).text);
    if (t->skips[SEINE_SKIP_SCHEME] > 0 && !c->opts->crawl)
        advise(&a, "http:// or https:// URLs: this version speaks no other scheme");
    if (c->opts->crawl)
        advise_crawl(c, &a);
    advise_waits(c, out);
}

/* Hosts */

static void
take_host(const seine_fetch_host *h, void *arg)
{
    closing *c = arg;
    size_t at = c->n_hosts;

    while (at > 0 && c->hosts[at - 1].requests < h->requests)
        at--;
    if (at == HOSTS)
        return;
    if (c->n_hosts == HOSTS)
        free(c->names[HOSTS - 1]);
    else
        c->n_hosts++;
    memmove(c->hosts + at + 1, c->hosts + at, (c->n_hosts - 1 - at) * sizeof *c->hosts);
    memmove(c->names + at + 1, c->names + at, (c->n_hosts - 1 - at) * sizeof c->names[0]);
    c->names[at] = xalloc_copy(h->host.ptr, h->host.len);
    c->hosts[at] = *h;
    c->hosts[at].host.ptr = c->names[at];
}

void
closing_hosts(closing *c, const seine_fetch *f)
{
    c->hosts = xalloc_zeroed(HOSTS, sizeof c->hosts[0]);
    c->names = xalloc_zeroed(HOSTS, sizeof(char *));
    c->n_hosts = 0;
    seine_fetch_hosts_each(f, take_host, c);
}

void
closing_free(closing *c)
{
    for (size_t i = 0; i < c->n_hosts; i++)
        free(c->names[i]);
    free(c->names);
    free(c->hosts);
    *c = (closing){.hosts = NULL};
}
