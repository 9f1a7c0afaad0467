/* SPDX-License-Identifier: Apache-2.0 */
/* A report for a terminal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { URLS = 5, HOSTS = 10, SLOWEST = 5, LABEL = 12, NAME = 28 };

static void
put_label(textbuf *out, const char *label)
{
    textbuf_put(out, "%-*s", LABEL, label);
}

/* Adds somebody else's text as one line. */
static void
put_inert(textbuf *out, const char *text)
{
    size_t n = strlen(text), len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);
    char *safe = xalloc_zeroed(1, len + 1);

    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    textbuf_add(out, safe, len);
    free(safe);
}

static void
put_bar(textbuf *out, const screen *s, double part, double whole)
{
    size_t room = s->width > 80 ? 36 : s->width > 60 ? s->width - 48 : 8;
    size_t cells = whole > 0 ? (size_t)(part * (double)room / whole + 0.5) : 0;

    for (size_t i = 0; i < (cells ? cells : 1); i++)
        textbuf_put(out, "%s", !s->blocks ? "#" : cells ? "━" : "╸");
    textbuf_put(out, "\n");
}

static void
put_row(textbuf *out, const screen *s, const char *label, const char *name, uint64_t n,
        uint64_t of)
{
    if (n == 0)
        return;
    put_label(out, label);
    textbuf_put(out, "%-14s %10s  %7s  ", name, figure_count(n).text,
                figure_share(n, of).text);
    put_bar(out, s, (double)n, (double)of);
}

static void
put_outcomes(textbuf *out, const screen *s, const report *r)
{
    const char *label = "outcomes";
    uint64_t answers = 0;

    for (int i = 0; i < SEINE_FATE_ROOM; i++) {
        put_row(out, s, label, seine_fate_name((seine_fate)i), r->fates[i], r->total);
        label = r->fates[i] > 0 ? "" : label;
    }
    put_row(out, s, label, "skipped", r->skipped, r->total);
    for (unsigned i = 0; i < 1000; i++)
        answers += r->statuses[i];
    label = "statuses";
    for (unsigned i = 0; i < 1000; i++) {
        char name[8];

        snprintf(name, sizeof name, "%u", i);
        put_row(out, s, label, name, r->statuses[i], answers);
        label = r->statuses[i] > 0 ? "" : label;
    }
}

static void
put_groups(textbuf *out, const char *label, const report_groups *g, size_t urls)
{
    for (size_t i = 0; i < g->n; i++) {
        const report_group *k = &g->all[i];

        put_label(out, i ? "" : label);
        put_inert(out, k->name);
        textbuf_put(out, ": %s URL%s\n", figure_count(k->n).text, k->n == 1 ? "" : "s");
        for (size_t u = 0; u < k->kept && u < urls; u++) {
            textbuf_put(out, "%*s", LABEL + 2, "");
            put_inert(out, k->first[u].url);
            if (k->first[u].other) {
                textbuf_put(out, "  on ");
                put_inert(out, k->first[u].other);
            }
            if (k->first[u].line > 0)
                textbuf_put(out, " line %u", k->first[u].line);
            textbuf_put(out, "\n");
        }
        if (k->hint && urls > 0) {
            textbuf_put(out, "%*stry: ", LABEL + 2, "");
            put_inert(out, k->hint);
            textbuf_put(out, "\n");
        }
    }
}

static void
put_latency(textbuf *out, const screen *s, const report *r)
{
    const latency *l = &r->latency;
    enum { COARSE = 16 };
    uint64_t bins[LATENCY_BINS / COARSE] = {0}, most = 0;
    size_t first = 0, last = LATENCY_BINS / COARSE;

    if (l->n == 0)
        return;
    put_label(out, "latency");
    textbuf_put(out, "p50 %s   p90 %s   p95 %s   p99 %s   max %s\n",
                figure_span(latency_at(l, 50, 100)).text,
                figure_span(latency_at(l, 90, 100)).text,
                figure_span(latency_at(l, 95, 100)).text,
                figure_span(latency_at(l, 99, 100)).text, figure_span(l->max).text);
    for (size_t i = 0; i < LATENCY_BINS; i++)
        bins[i / COARSE] += l->bins[i];
    while (first < last && bins[first] == 0)
        first++;
    while (last > first && bins[last - 1] == 0)
        last--;
    for (size_t i = first; i < last; i++)
        most = bins[i] > most ? bins[i] : most;
    textbuf_put(out, "%*s%s  ", LABEL, "",
                first ? figure_span(latency_edge(first * COARSE)).text : "0");
    for (size_t i = first; i < last; i++)
        textbuf_put(out, "%s%s", screen_level(s, bins[i], most),
                    screen_level(s, bins[i], most));
    textbuf_put(out, "  %s\n", figure_span(latency_edge(last * COARSE)).text);
}

/* Puts words of ours below the others, as wide as the screen. */
static void
put_wrapped(textbuf *out, const screen *s, const char *text)
{
    size_t room = s->width > 2 * LABEL ? s->width - LABEL : LABEL, used = 0;

    while (*text) {
        size_t n = strcspn(text, " ");

        if (used == 0)
            put_label(out, "");
        else if (used + 1 + n > room)
            textbuf_put(out, "\n%*s", LABEL, "");
        used = used > 0 && used + 1 + n <= room ? used + 1 : 0;
        textbuf_put(out, "%s%.*s", used ? " " : "", (int)n, text);
        used += n;
        text += n + (text[n] == ' ');
    }
    textbuf_put(out, "\n");
}

static void
put_spent(textbuf *out, const screen *s, const report *r)
{
    seine_span all = report_spent(r);
    report_advice a = report_advise(r);
    const char *label = "time spent";

    if (all <= 0)
        return;
    for (int i = 0; i < PARTS; i++) {
        if ((double)r->parts[i] < 0.005 * (double)all)
            continue;
        put_label(out, label);
        textbuf_put(out, "%-31s %7s  ", report_part_name((report_part)i),
                    figure_share((uint64_t)r->parts[i], (uint64_t)all).text);
        put_bar(out, s, (double)r->parts[i], (double)all);
        label = "";
    }
    if (!a.text[0])
        return;
    put_wrapped(out, s, a.text);
    if (a.setting[0]) {
        char line[200];

        snprintf(line, sizeof line, "try: %s", a.setting);
        put_wrapped(out, s, line);
    }
}

static void
put_percentile(textbuf *out, const latency *l, unsigned part)
{
    textbuf_put(out, " %9s", l->n > 0 ? figure_span(latency_at(l, part, 100)).text : "-");
}

static void
put_host(textbuf *out, const report_host *h, bool wide)
{
    shown name = show_host(h->name, strlen(h->name));
    size_t n = strlen(name.text);

    for (n = n < NAME ? n : NAME; n > 0 && (name.text[n] & 0xc0) == 0x80; n--)
        continue; /* whole characters */
    textbuf_put(out, "%-*.*s %9s %9s %7s", NAME, (int)n, name.text,
                figure_count(h->requests).text, figure_count(h->ok).text,
                figure_count(h->failed).text);
    if (wide)
        put_percentile(out, &h->latency, 50);
    put_percentile(out, &h->latency, 95);
    if (wide)
        put_percentile(out, &h->latency, 99);
    textbuf_put(out, " %9s\n", figure_bytes(h->bytes).text);
}

static void
put_hosts(textbuf *out, const screen *s, const report *r)
{
    size_t n = r->n_hosts < HOSTS ? r->n_hosts : HOSTS;
    bool wide = s->width >= 96;

    if (n == 0)
        return;
    textbuf_put(out, "\n%-*s %9s %9s %7s%s %9s%s %9s\n", NAME, "host", "requests", "ok",
                "failed", wide ? "       p50" : "", "p95", wide ? "       p99" : "",
                "bytes");
    for (size_t i = 0; i < n; i++)
        put_host(out, r->hosts[i], wide);
    if (r->n_hosts > n || r->has_others)
        textbuf_put(out, "and %s%s more\n", r->has_others ? "at least " : "",
                    figure_count(r->n_hosts - n).text);
}

static void
put_slowest(textbuf *out, const report *r)
{
    size_t n = r->slowest.n < SLOWEST ? r->slowest.n : SLOWEST;

    if (n == 0)
        return;
    textbuf_put(out, "\n");
    for (size_t i = 0; i < n; i++) {
        put_label(out, i ? "" : "slowest");
        textbuf_put(out, "%9s  ", figure_span(r->slowest.all[i].took).text);
        put_inert(out, r->slowest.all[i].url);
        textbuf_put(out, "\n");
    }
}

/* The fields that not every row has, the first of them. */
static void
put_thin_fields(textbuf *out, const screen *s, const report *r)
{
    enum { SHOWN = 10 };
    textbuf line = {NULL, 0, 0};
    report_field f;
    size_t n = 0;

    for (size_t i = 0; report_field_at(r, i, &f); i++) {
        if (f.filled == f.rows || n++ >= SHOWN)
            continue;
        textbuf_put(&line, n > 1 ? ", " : "fields: ");
        put_inert(&line, f.name);
        textbuf_put(&line, " in %s of %s rows", figure_count(f.filled).text,
                    figure_count(f.rows).text);
    }
    if (n > SHOWN)
        textbuf_put(&line, ", and %zu more", n - SHOWN);
    if (n > 0)
        put_wrapped(out, s, line.text);
    textbuf_free(&line);
}

static void
put_items(textbuf *out, const screen *s, const report *r)
{
    const seine_json *list = report_unmet(r);
    const char *text;
    size_t n;

    if (!report_items_any(r))
        return;
    put_label(out, "items");
    textbuf_put(out, "%s good, %s bad\n", figure_count(r->items_good).text,
                figure_count(r->items_bad).text);
    for (size_t i = 0; i < seine_json_size(list); i++)
        if (seine_json_string(seine_json_at(list, i), &text, &n)) {
            textbuf line = {NULL, 0, 0};

            textbuf_put(&line, "not met: ");
            put_inert(&line, text);
            put_wrapped(out, s, line.text);
            textbuf_free(&line);
        }
    put_thin_fields(out, s, r);
}

typedef struct mean_text {
    char text[32];
} mean_text;

/* A mean number of URLs: thousandths of one say nothing. */
static mean_text
mean_of(double n)
{
    mean_text t;

    if (n > 0 && n < 0.1)
        snprintf(t.text, sizeof t.text, "fewer than 0.1");
    else
        snprintf(t.text, sizeof t.text, "%.3g", n);
    return t;
}

/* What held the run back, of a run that has a timeline. */
static void
put_load(textbuf *out, const screen *s, const report *r)
{
    textbuf line = {NULL, 0, 0};

    if (r->load.n == 0)
        return;
    report_load_text(&r->load, &line);
    if (line.len > 0) {
        put_label(out, "held back");
        textbuf_put(out, "by %s\n", line.text);
        textbuf_free(&line);
    }
    textbuf_put(&line, "%s in flight of %s at most, %s waiting at most",
                mean_of(r->load.most_in_flight).text,
                figure_count(r->load.sum.slots).text, mean_of(r->load.most_waiting).text);
    put_wrapped(out, s, line.text);
    textbuf_free(&line);
}

void
report_text(const report *r, const screen *s, textbuf *out)
{
    textbuf next = {NULL, 0, 0};

    report_verdict(r, out);
    textbuf_put(out, "\n\n");
    put_outcomes(out, s, r);
    put_groups(out, "failures", &r->failures, URLS);
    put_groups(out, "links", &r->verdicts, URLS);
    put_groups(out, "skips", &r->skips, 0);
    if (r->attempts > 0) {
        put_label(out, "traffic");
        textbuf_put(out, "%s request%s, %s retr%s, %s received\n",
                    figure_count(r->attempts).text, r->attempts == 1 ? "" : "s",
                    figure_count(r->retries).text, r->retries == 1 ? "y" : "ies",
                    figure_bytes(r->bytes_in).text);
    }
    put_items(out, s, r);
    put_latency(out, s, r);
    put_load(out, s, r);
    put_spent(out, s, r);
    put_hosts(out, s, r);
    put_slowest(out, r);
    report_next(r, &next);
    if (next.len > 0)
        textbuf_put(out, "\nnext: %s\n", next.text);
    textbuf_free(&next);
}
