/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_load_charts.h"

#include <stdio.h>
#include <string.h>

#include "report/html.h"
#include "screen/record_table.h"
#include "verbs/fetch_state.h"

enum { BINS = 120, ROWS = 24 };

typedef struct label {
    char text[32];
} label;

/* What the tips of a chart need. */
typedef struct tips {
    const report_load *load;
    const html_chart *chart;
    char line[300];
} tips;

static const char *const classes[LOAD_GROUPS] = {
    [LOAD_POLITE] = "c-3",  [LOAD_SLOTS] = "p1",    [LOAD_FAILING] = "c-5",
    [LOAD_MACHINE] = "c-4", [LOAD_SERVER] = "c-ok", [LOAD_MIXED] = "c-n",
};

/* "19:20:01", or the day and the minute of a run of more than a day. */
static label
moment_of(const report_load *l, size_t bin)
{
    stamp s = stamp_of(l->from + (int64_t)bin * l->width);
    label out;

    if ((seine_span)l->n * l->width > SEINE_SECS(86400))
        snprintf(out.text, sizeof out.text, "%.5s %.5s", s.text + 5, s.text + 11);
    else
        snprintf(out.text, sizeof out.text, "%.8s", s.text + 11);
    return out;
}

/* "19:20:01: 3.5 politeness, 12 connections" */
static const char *
tell_bin(size_t i, void *arg)
{
    tips *t = arg;
    const html_chart *c = t->chart;
    size_t n =
        (size_t)snprintf(t->line, sizeof t->line, "%s:", moment_of(t->load, i).text);
    bool any = false;

    for (size_t k = 0; k < c->n_series && n < sizeof t->line; k++)
        if (c->series[k].values[i] > 0) {
            n += (size_t)snprintf(t->line + n, sizeof t->line - n, "%s %.3g%s %s",
                                  any ? "," : "", c->series[k].values[i],
                                  c->unit ? c->unit : "", c->series[k].name);
            any = true;
        }
    return any ? t->line : NULL;
}

static void
draw(textbuf *out, html_chart *c, const report_load *l)
{
    label at[3] = {moment_of(l, 0), moment_of(l, l->n / 2), moment_of(l, l->n)};
    tips t = {.load = l, .chart = c};

    for (size_t i = 0; i < 3; i++)
        c->labels[i] = l->n > 2 || i != 1 ? at[i].text : "";
    c->n = l->n;
    c->bin = tell_bin;
    c->arg = &t;
    html_stack(out, c);
}

static void
draw_in_flight(textbuf *out, const report_load *l)
{
    double values[BINS];
    html_series series = {"in flight", "c-3", values};
    html_chart c = {.id = "chart-flight",
                    .title = "Requests in flight",
                    .series = &series,
                    .n_series = 1,
                    .unit = ""};

    for (size_t i = 0; i < l->n; i++)
        values[i] = seine_slice_mean(&l->all[i].sum, l->all[i].sum.in_flight);
    snprintf(c.about, sizeof c.about,
             "Requests in flight, the mean of each step: at most %.3g of %llu that were "
             "allowed.",
             l->most_in_flight, (unsigned long long)l->sum.slots);
    draw(out, &c, l);
}

/* Values of a row by groups; only those that are ever above 0 have a series. */
typedef struct grouped {
    double values[LOAD_GROUPS][BINS];
    html_series series[LOAD_GROUPS];
    size_t n;
} grouped;

static void
name_series(grouped *g, size_t bins)
{
    for (int k = 0; k < LOAD_GROUPS; k++) {
        bool any = false;

        for (size_t i = 0; i < bins; i++)
            any = any || g->values[k][i] > 0;
        if (any)
            g->series[g->n++] =
                (html_series){load_group_name((load_group)k), classes[k], g->values[k]};
    }
}

static void
draw_waiting(textbuf *out, const report_load *l)
{
    grouped g = {.n = 0};
    html_chart c = {.id = "chart-waiting",
                    .title = "URLs that wait, by what for",
                    .series = g.series,
                    .unit = ""};

    for (size_t i = 0; i < l->n; i++)
        for (int w = 0; w < SEINE_WAIT_ROOM; w++)
            g.values[load_wait_group((seine_wait)w)][i] +=
                seine_slice_mean(&l->all[i].sum, l->all[i].sum.waiting[w]);
    name_series(&g, l->n);
    c.n_series = g.n;
    if (g.n == 0)
        return;
    snprintf(c.about, sizeof c.about,
             "URLs that wait, the mean of each step: at most %.3g at once.",
             l->most_waiting);
    draw(out, &c, l);
}

static void
draw_limits(textbuf *out, const report_load *l)
{
    grouped g = {.n = 0};
    textbuf text = {NULL, 0, 0};
    html_chart c = {.id = "chart-limits",
                    .title = "By what, over time",
                    .series = g.series,
                    .is_band = true,
                    .unit = " %"};

    for (size_t i = 0; i < l->n; i++) {
        double all = 0;

        for (int k = 0; k < LOAD_GROUPS; k++)
            all += (double)l->all[i].limits[k];
        for (int k = 0; k < LOAD_GROUPS && all > 0; k++)
            g.values[k][i] = 100 * (double)l->all[i].limits[k] / all;
    }
    name_series(&g, l->n);
    c.n_series = g.n;
    report_load_text(l, &text);
    snprintf(c.about, sizeof c.about, "What held the run back: %.300s.",
             text.text ? text.text : "nothing");
    textbuf_free(&text);
    if (g.n > 0)
        draw(out, &c, l);
}

/* The same as numbers */

static void
put_cell(textbuf *out, double v)
{
    textbuf_put(out, "<td class=\"n\">%.3g</td>", v);
}

static void
put_row(textbuf *out, const report_load *l, size_t from, size_t to)
{
    seine_slice sum = {.wall = -1};
    seine_span held[LOAD_GROUPS] = {0};
    uint64_t requests = 0, waiting = 0;
    int most = 0;

    for (size_t i = from; i < to; i++) {
        seine_slice_join(&sum, &l->all[i].sum);
        for (int k = 0; k < LOAD_GROUPS; k++)
            held[k] += l->all[i].limits[k];
    }
    for (int i = 0; i < 6; i++)
        requests += sum.requests[i];
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        waiting += sum.waiting[i];
    for (int k = 0; k < LOAD_GROUPS; k++)
        most = held[k] > held[most] ? k : most;
    textbuf_put(out, "<tr><th scope=\"row\">%s</th>", moment_of(l, from).text);
    put_cell(out, sum.lived > 0 ? (double)requests * 1e9 / (double)sum.lived : 0);
    put_cell(out, seine_slice_mean(&sum, sum.in_flight));
    put_cell(out, seine_slice_mean(&sum, waiting));
    textbuf_put(out, "<td class=\"n\">%s</td><td>%s</td></tr>\n",
                requests > 0 ? figure_span(seine_slice_latency(&sum, 95)).text : "",
                held[most] > 0 ? load_group_name((load_group)most) : "");
}

static void
put_table(textbuf *out, const report_load *l)
{
    size_t step = (l->n + ROWS - 1) / ROWS;

    textbuf_put(out,
                "<details><summary>The same as a table</summary><div class=\"scroll\" "
                "tabindex=\"0\" role=\"region\" aria-label=\"Load over time\"><table>"
                "<caption>Load over time, UTC</caption><thead><tr><th "
                "scope=\"col\">from</th><th scope=\"col\" class=\"n\">requests/s</th><th "
                "scope=\"col\" class=\"n\">in flight</th><th scope=\"col\" "
                "class=\"n\">waiting</th><th scope=\"col\" class=\"n\">p95 of "
                "requests</th><th scope=\"col\">held back by</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < l->n; i += step)
        put_row(out, l, i, i + step < l->n ? i + step : l->n);
    textbuf_put(out, "</tbody></table></div></details>\n");
}

void
report_load_section(textbuf *out, const report_load *l)
{
    textbuf text = {NULL, 0, 0};

    if (l->n == 0)
        return;
    report_load_text(l, &text);
    textbuf_put(out,
                "<section aria-labelledby=\"load\"><h2 id=\"load\">What held the run "
                "back</h2>\n<p>%s%s.</p>\n",
                text.text ? "Parts of the time: " : "There was nothing to wait for",
                text.text ? text.text : "");
    textbuf_free(&text);
    if (l->n > 1) {
        draw_limits(out, l);
        draw_in_flight(out, l);
        draw_waiting(out, l);
    }
    put_table(out, l);
    textbuf_put(out, "</section>\n");
}

/* For programs */

static void
put_waits(textbuf *out, const seine_slice *s)
{
    bool any = false;

    textbuf_put(out, ",\"waiting\":{");
    for (int w = 0; w < SEINE_WAIT_ROOM; w++)
        if (s->waiting[w] > 0) {
            textbuf_put(out, "%s\"%s\":%.3f", any ? "," : "",
                        seine_wait_name((seine_wait)w),
                        seine_slice_mean(s, s->waiting[w]));
            any = true;
        }
    textbuf_put(out, "}");
}

static void
put_errors(textbuf *out, const seine_slice *s)
{
    bool any = false;

    textbuf_put(out, ",\"errors\":{");
    for (int i = 0; i < SEINE_SLICE_KINDS; i++)
        if (s->errors[i].n > 0) {
            textbuf_put(out, "%s\"%s\":%u", any ? "," : "",
                        s->errors[i].err ? seine_err_name((seine_err)s->errors[i].err)
                                         : "others",
                        s->errors[i].n);
            any = true;
        }
    textbuf_put(out, "}");
}

static void
put_slice(textbuf *out, const seine_slice *s)
{
    static const char *const names[6] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

    textbuf_put(out, "\"requests\":{");
    for (int i = 0, any = 0; i < 6; i++)
        if (s->requests[i] > 0)
            textbuf_put(out, "%s\"%s\":%llu", any++ ? "," : "", names[i],
                        (unsigned long long)s->requests[i]);
    textbuf_put(out, "},\"in_flight\":%.3f", seine_slice_mean(s, s->in_flight));
    put_waits(out, s);
    put_errors(out, s);
    for (unsigned p = 50; p <= 95; p += 45)
        textbuf_put(out, ",\"p%u\":%.3f", p, (double)seine_slice_latency(s, p) / 1e6);
}

void
report_load_json(textbuf *out, const report_load *l)
{
    bool any = false;

    if (l->n == 0)
        return;
    textbuf_put(out, ",\"load\":{\"from\":\"%s\",\"bin_ms\":%lld,\"slots\":%llu",
                stamp_of(l->from).text, (long long)(l->width / SEINE_MS(1)),
                (unsigned long long)l->sum.slots);
    textbuf_put(out, ",\"limited_by\":{");
    for (int i = 1; i < SEINE_LIMIT_ROOM; i++)
        if (l->limits[i] > 0) {
            textbuf_put(out, "%s\"%s\":%.4f", any ? "," : "",
                        seine_limit_name((seine_limit)i),
                        report_load_limit(l, (seine_limit)i));
            any = true;
        }
    textbuf_put(out, "},\"all\":{");
    put_slice(out, &l->sum);
    textbuf_put(out, "},\"bins\":[");
    for (size_t i = 0; i < l->n; i++) {
        textbuf_put(out, i ? ",{" : "{");
        if (l->all[i].sum.lived > 0)
            put_slice(out, &l->all[i].sum);
        textbuf_put(out, "}");
    }
    textbuf_put(out, "]}");
}
