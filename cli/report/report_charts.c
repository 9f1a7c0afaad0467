/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_charts.h"

#include <stdio.h>
#include <string.h>

#include "report/html.h"
#include "screen/record_table.h"
#include "verbs/fetch_state.h"

enum { ROWS = 24, GROUPS = 5 }; /* rows of a table behind a chart; groups of parts */

/* A bin as text */

typedef struct chart_label {
    char text[32];
} chart_label;

typedef struct chart_text {
    char text[256];
} chart_text;

/* "19:20:01", or the day and the minute if the records cover more than a day. */
static chart_label
moment_of(const report_times *t, int64_t wall)
{
    stamp s = stamp_of(wall);
    chart_label out;

    if (t->last - t->first > SEINE_SECS(86400))
        snprintf(out.text, sizeof out.text, "%.5s %.5s", s.text + 5, s.text + 11);
    else
        snprintf(out.text, sizeof out.text, "%.*s", t->width < SEINE_SECS(1) ? 10 : 8,
                 s.text + 11);
    return out;
}

static int64_t
wall_of(const report_times *t, size_t i)
{
    return t->from + (int64_t)i * t->width;
}

/* What the tips of a chart need. */
typedef struct tips {
    const report *r;
    chart_text line;
} tips;

static const char *
results_tip(size_t i, void *arg)
{
    tips *t = arg;
    const report_times *times = &t->r->times;
    const report_moment *m = &times->all[i];
    size_t n = (size_t)snprintf(t->line.text, sizeof t->line.text,
                                "%s:", moment_of(times, wall_of(times, i)).text);
    bool any = false;

    for (int c = 0; c < CLASSES && n < sizeof t->line.text; c++)
        if (m->classes[c] > 0) {
            n += (size_t)snprintf(t->line.text + n, sizeof t->line.text - n, "%s %s %s",
                                  any ? "," : "", figure_count(m->classes[c]).text,
                                  report_class_name((report_class)c));
            any = true;
        }
    return any ? t->line.text : NULL;
}

static const char *
latency_tip(size_t i, void *arg)
{
    tips *t = arg;
    const report_times *times = &t->r->times;
    const latency *l = &times->all[i].latency;

    if (l->n == 0)
        return NULL;
    snprintf(t->line.text, sizeof t->line.text, "%s: p50 %s, p95 %s, p99 %s",
             moment_of(times, wall_of(times, i)).text,
             figure_span(latency_at(l, 50, 100)).text,
             figure_span(latency_at(l, 95, 100)).text,
             figure_span(latency_at(l, 99, 100)).text);
    return t->line.text;
}

static const char *
bytes_tip(size_t i, void *arg)
{
    tips *t = arg;
    const report_times *times = &t->r->times;

    if (times->all[i].bytes == 0)
        return NULL;
    snprintf(t->line.text, sizeof t->line.text, "%s: %s",
             moment_of(times, wall_of(times, i)).text,
             figure_bytes(times->all[i].bytes).text);
    return t->line.text;
}

/* Charts over time */

typedef struct time_labels {
    chart_label at[3];
} time_labels;

static void
label_times(const report_times *t, time_labels *l, html_chart *c)
{
    l->at[0] = moment_of(t, wall_of(t, 0));
    l->at[1] = moment_of(t, wall_of(t, t->n / 2));
    l->at[2] = moment_of(t, wall_of(t, t->n));
    for (size_t i = 0; i < 3; i++)
        c->labels[i] = t->n > 2 || i != 1 ? l->at[i].text : "";
}

static double
per_second(const report_times *t, uint64_t n)
{
    return (double)n * 1e9 / (double)t->width;
}

static void
chart_results(textbuf *out, const report *r)
{
    static const char *const classes[CLASSES] = {"c-ok", "c-3", "c-4", "c-5", "c-n"};
    const report_times *t = &r->times;
    double values[CLASSES][REPORT_MOMENTS];
    html_series series[CLASSES];
    tips tip = {.r = r};
    time_labels labels;
    html_chart c = {.id = "chart-results",
                    .title = "Results per second, by status",
                    .series = series,
                    .n = t->n,
                    .bin = results_tip,
                    .arg = &tip,
                    .unit = "/s"};
    double most = 0;

    for (size_t i = 0; i < t->n; i++) {
        double sum = 0;

        for (int k = 0; k < CLASSES; k++) {
            values[k][i] = per_second(t, t->all[i].classes[k]);
            sum += values[k][i];
        }
        most = sum > most ? sum : most;
    }
    for (int k = 0; k < CLASSES; k++)
        series[c.n_series++] =
            (html_series){report_class_name((report_class)k), classes[k], values[k]};
    label_times(t, &labels, &c);
    snprintf(c.about, sizeof c.about,
             "Results per second from %s to %s UTC, in steps of %s: at most %s.",
             labels.at[0].text, labels.at[2].text, figure_span(t->width).text,
             figure_rate(most).text);
    html_stack(out, &c);
}

static void
chart_bytes(textbuf *out, const report *r)
{
    const report_times *t = &r->times;
    double values[REPORT_MOMENTS], most = 0;
    html_series series = {"received", "c-3", values};
    tips tip = {.r = r};
    time_labels labels;
    html_chart c = {.id = "chart-bytes",
                    .title = "Kilobytes per second",
                    .series = &series,
                    .n_series = 1,
                    .n = t->n,
                    .bin = bytes_tip,
                    .arg = &tip,
                    .unit = " KB/s"};

    for (size_t i = 0; i < t->n; i++) {
        values[i] = per_second(t, t->all[i].bytes) / 1000;
        most = values[i] > most ? values[i] : most;
    }
    if (most <= 0)
        return;
    label_times(t, &labels, &c);
    snprintf(c.about, sizeof c.about,
             "Kilobytes received per second from %s to %s UTC: at most %.3g.",
             labels.at[0].text, labels.at[2].text, most);
    html_stack(out, &c);
}

void
report_chart_latency(textbuf *out, const report *r)
{
    static const unsigned parts[3] = {50, 95, 99};
    static const char *const names[3] = {"p50", "p95", "p99"};
    static const char *const classes[3] = {"l50", "l95", "l99"};
    const report_times *t = &r->times;
    double values[3][REPORT_MOMENTS];
    html_series series[3];
    tips tip = {.r = r};
    time_labels labels;
    html_chart c = {.id = "chart-latency",
                    .title = "Latency over time",
                    .series = series,
                    .n_series = 3,
                    .n = t->n,
                    .bin = latency_tip,
                    .arg = &tip,
                    .is_log = true};

    if (t->n == 0 || r->latency.n == 0)
        return;
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < t->n; i++)
            values[k][i] = (double)latency_at(&t->all[i].latency, parts[k], 100);
        series[k] = (html_series){names[k], classes[k], values[k]};
    }
    label_times(t, &labels, &c);
    snprintf(
        c.about, sizeof c.about,
        "Latency from %s to %s UTC on a scale of powers of ten: over all p50 %s, p95 "
        "%s, p99 %s.",
        labels.at[0].text, labels.at[2].text,
        figure_span(latency_at(&r->latency, 50, 100)).text,
        figure_span(latency_at(&r->latency, 95, 100)).text,
        figure_span(latency_at(&r->latency, 99, 100)).text);
    html_lines(out, &c);
}

/* Parts of the time, in five groups */

static const struct {
    const char *name, *class;
    report_part first, last;
} groups[GROUPS] = {
    {"our own waits", "p1", PART_QUEUE, PART_RETRY_BUDGET},
    {"name, connection, TLS", "p2", PART_DNS, PART_TLS},
    {"the server", "p3", PART_TTFB, PART_TTFB},
    {"the body", "p4", PART_BODY, PART_BODY},
    {"earlier attempts, redirects, other", "p5", PART_EARLIER, PART_OTHER},
};

static double
group_share(const seine_span parts[PARTS], size_t group)
{
    double sum = 0, mine = 0;

    for (int i = 0; i < PARTS; i++) {
        sum += (double)parts[i];
        if (i >= (int)groups[group].first && i <= (int)groups[group].last)
            mine += (double)parts[i];
    }
    return sum > 0 ? 100 * mine / sum : 0;
}

static const char *
spent_tip(size_t i, void *arg)
{
    tips *t = arg;
    const report_times *times = &t->r->times;
    size_t n = (size_t)snprintf(t->line.text, sizeof t->line.text,
                                "%s:", moment_of(times, wall_of(times, i)).text);
    bool any = false;

    for (size_t g = 0; g < GROUPS && n < sizeof t->line.text; g++) {
        double share = group_share(times->all[i].parts, g);

        if (share >= 0.5) {
            n += (size_t)snprintf(t->line.text + n, sizeof t->line.text - n,
                                  "%s %.0f %% %s", any ? "," : "", share, groups[g].name);
            any = true;
        }
    }
    return any ? t->line.text : NULL;
}

void
report_chart_spent(textbuf *out, const report *r)
{
    const report_times *t = &r->times;
    double values[GROUPS][REPORT_MOMENTS];
    html_series series[GROUPS];
    tips tip = {.r = r};
    time_labels labels;
    html_chart c = {.id = "chart-spent",
                    .title = "What the time went to, over time",
                    .series = series,
                    .n_series = GROUPS,
                    .n = t->n,
                    .bin = spent_tip,
                    .arg = &tip,
                    .unit = " %"};
    size_t at = 0;

    if (t->n < 2 || r->is_bare || r->is_resumed) /* the waits of all are of one moment */
        return;
    for (size_t g = 0; g < GROUPS; g++) {
        for (size_t i = 0; i < t->n; i++)
            values[g][i] = group_share(t->all[i].parts, g);
        series[g] = (html_series){groups[g].name, groups[g].class, values[g]};
    }
    label_times(t, &labels, &c);
    at = (size_t)snprintf(c.about, sizeof c.about, "Shares of the time of all URLs:");
    for (size_t g = 0; g < GROUPS && at < sizeof c.about; g++)
        at += (size_t)snprintf(c.about + at, sizeof c.about - at, "%s %.0f %% %s",
                               g ? "," : "", group_share(r->parts, g), groups[g].name);
    html_stack(out, &c);
}

/* Charts of sizes */

typedef struct edges {
    chart_text line;
    chart_label labels[3];
    const uint64_t *counts;
    size_t first;
    chart_label (*edge)(size_t bin);
} edges;

static const char *
edge_tip(size_t i, void *arg)
{
    edges *e = arg;
    chart_label from = e->edge(e->first + i), to = e->edge(e->first + i + 1);

    if (e->counts[e->first + i] == 0)
        return NULL;
    snprintf(e->line.text, sizeof e->line.text, "%s to %s: %s URLs", from.text, to.text,
             figure_count(e->counts[e->first + i]).text);
    return e->line.text;
}

/* Draws the bins from the first to the last that has any. */
static void
chart_bins(textbuf *out, html_chart *c, edges *e, size_t n)
{
    double values[LATENCY_BINS];
    html_series series = {"URLs", c->unit, values};
    size_t first = 0, last = n;

    while (first < n && e->counts[first] == 0)
        first++;
    while (last > first && e->counts[last - 1] == 0)
        last--;
    if (first == last)
        return;
    for (size_t i = first; i < last; i++)
        values[i - first] = (double)e->counts[i];
    e->first = first;
    e->labels[0] = e->edge(first);
    e->labels[1] = e->edge(first + (last - first) / 2);
    e->labels[2] = e->edge(last);
    for (size_t i = 0; i < 3; i++)
        c->labels[i] = i != 1 || (last - first) % 2 == 0 ? e->labels[i].text : "";
    c->series = &series;
    c->n_series = 1;
    c->n = last - first;
    c->bin = edge_tip;
    c->arg = e;
    c->unit = "";
    html_stack(out, c);
}

enum { COARSE = 8 }; /* bins of a histogram that are one bar */

static chart_label
latency_label(size_t bin)
{
    chart_label out;

    snprintf(out.text, sizeof out.text, "%.30s",
             bin == 0 ? "0" : figure_span(latency_edge(bin * COARSE)).text);
    return out;
}

void
report_chart_histogram(textbuf *out, const report *r)
{
    uint64_t counts[LATENCY_BINS / COARSE] = {0};
    edges e = {.counts = counts, .edge = latency_label};
    html_chart c = {.id = "chart-histogram",
                    .title = "URLs by latency, on a scale of powers of two",
                    .unit = "c-3"};

    for (size_t i = 0; i < LATENCY_BINS; i++)
        counts[i / COARSE] += r->latency.bins[i];
    snprintf(c.about, sizeof c.about,
             "How many URLs took how long: half of them up to %s, the longest %s.",
             figure_span(latency_at(&r->latency, 50, 100)).text,
             figure_span(r->latency.max).text);
    chart_bins(out, &c, &e, LATENCY_BINS / COARSE);
}

static chart_label
size_label(size_t bin)
{
    chart_label out;
    uint64_t edge = 64;

    for (size_t i = 2; i < bin && i < REPORT_SIZES; i++)
        edge *= 4;
    snprintf(out.text, sizeof out.text, "%.30s", figure_bytes(bin < 2 ? bin : edge).text);
    return out;
}

void
report_chart_sizes(textbuf *out, const report *r)
{
    edges e = {.counts = r->sizes, .edge = size_label};
    html_chart c = {.id = "chart-sizes",
                    .title = "URLs by size of their body, on a scale of powers of four",
                    .unit = "c-3"};

    snprintf(c.about, sizeof c.about, "How many bodies have how many bytes.");
    chart_bins(out, &c, &e, REPORT_SIZES);
}

/* The section */

static void
put_row(textbuf *out, const report_times *t, size_t from, size_t to)
{
    report_moment sum = {.skipped = 0};

    for (size_t i = from; i < to; i++) {
        for (int k = 0; k < CLASSES; k++)
            sum.classes[k] += t->all[i].classes[k];
        sum.bytes += t->all[i].bytes;
        latency_merge(&sum.latency, &t->all[i].latency);
    }
    textbuf_put(out, "<tr><th scope=\"row\">%s</th>",
                moment_of(t, wall_of(t, from)).text);
    for (int k = 0; k < CLASSES; k++)
        textbuf_put(out, "<td class=\"n\">%s</td>", figure_count(sum.classes[k]).text);
    textbuf_put(out, "<td class=\"n\">%s</td>", figure_bytes(sum.bytes).text);
    for (unsigned p = 50; p <= 95; p += 45)
        textbuf_put(out, "<td class=\"n\">%s</td>",
                    sum.latency.n ? figure_span(latency_at(&sum.latency, p, 100)).text
                                  : "");
    textbuf_put(out, "</tr>\n");
}

static void
put_table(textbuf *out, const report_times *t)
{
    size_t step = (t->n + ROWS - 1) / ROWS;

    textbuf_put(out,
                "<details><summary>The same as a table</summary><div class=\"scroll\" "
                "tabindex=\"0\" role=\"region\" aria-label=\"Results over time\"><table>"
                "<caption>Results over time, UTC</caption><thead><tr><th "
                "scope=\"col\">from</th>");
    for (int k = 0; k < CLASSES; k++)
        textbuf_put(out, "<th scope=\"col\" class=\"n\">%s</th>",
                    report_class_name((report_class)k));
    textbuf_put(out,
                "<th scope=\"col\" class=\"n\">received</th><th scope=\"col\" "
                "class=\"n\">p50</th><th scope=\"col\" class=\"n\">p95</th></tr></thead>"
                "<tbody>\n");
    for (size_t i = 0; i < t->n; i += step)
        put_row(out, t, i, i + step < t->n ? i + step : t->n);
    textbuf_put(out, "</tbody></table></div></details>\n");
}

void
report_charts_over_time(textbuf *out, const report *r)
{
    const report_times *t = &r->times;

    textbuf_put(out,
                "<section aria-labelledby=\"time\"><h2 id=\"time\">Over time</h2>\n");
    if (t->n == 0) {
        textbuf_put(out, "<p class=\"dim\">The records have no times.</p></section>\n");
        return;
    }
    textbuf_put(out, "<p class=\"dim\">Times are UTC; a step is %s wide.</p>\n",
                figure_span(t->width).text);
    chart_results(out, r);
    chart_bytes(out, r);
    put_table(out, t);
    textbuf_put(out, "</section>\n");
}
