/* SPDX-License-Identifier: Apache-2.0 */
/* A report as Markdown, for a pull request or a wiki. */
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_markdown.h"
#include "screen/record_table.h"
#include "screen/xalloc.h"

enum { URLS = 5, HOSTS = 20, SLOWEST = 10 };

void
markdown_text(textbuf *out, const char *text)
{
    static const char marks[] = "\\`*_{}[]()#+!|~";
    size_t n = text ? strlen(text) : 0;
    size_t len = seine_inert(text, n, SEINE_INERT_ROW, NULL, 0);

    if (n == 0)
        return;
    char *safe = xalloc_zeroed(1, len + 1);
    seine_inert(text, n, SEINE_INERT_ROW, safe, len);
    for (size_t i = 0; i < len; i++)
        if (safe[i] == '<')
            textbuf_put(out, "&lt;");
        else if (safe[i] == '&')
            textbuf_put(out, "&amp;");
        else
            textbuf_put(out, strchr(marks, safe[i]) ? "\\%c" : "%c", safe[i]);
    free(safe);
}

static void
put_counts(textbuf *out, const report *r)
{
    textbuf_put(out, "| outcome | URLs | share |\n|---|--:|--:|\n");
    for (int i = 0; i < SEINE_FATE_ROOM; i++)
        if (r->fates[i] > 0)
            textbuf_put(out, "| %s | %s | %s |\n", seine_fate_name((seine_fate)i),
                        figure_count(r->fates[i]).text,
                        figure_share(r->fates[i], r->total).text);
    if (r->skipped > 0)
        textbuf_put(out, "| skipped | %s | %s |\n", figure_count(r->skipped).text,
                    figure_share(r->skipped, r->total).text);
    textbuf_put(out, "\n");
}

static void
put_groups(textbuf *out, const char *title, const report_groups *g)
{
    if (g->n > 0)
        textbuf_put(out, "## %s\n\n", title);
    for (size_t i = 0; i < g->n; i++) {
        const report_group *k = &g->all[i];

        textbuf_put(out, "**");
        markdown_text(out, k->name);
        textbuf_put(out, "**, %s URL%s", figure_count(k->n).text, k->n == 1 ? "" : "s");
        if (k->hint) {
            textbuf_put(out, "; try: ");
            markdown_text(out, k->hint);
        }
        textbuf_put(out, "\n\n");
        for (size_t u = 0; u < k->kept && u < URLS; u++) {
            textbuf_put(out, "- ");
            markdown_text(out, k->first[u].url);
            if (k->first[u].other) {
                textbuf_put(out, ", found on ");
                markdown_text(out, k->first[u].other);
            }
            if (k->first[u].line > 0)
                textbuf_put(out, ", line %u", k->first[u].line);
            textbuf_put(out, "\n");
        }
        textbuf_put(out, "%s", k->kept ? "\n" : "");
    }
}

/* Items of a recipe: what was expected of them, and how many rows have each field. */
static void
put_items(textbuf *out, const report *r)
{
    const seine_json *list = report_unmet(r);
    const char *text;
    report_field f;
    size_t n;

    if (!report_items_any(r))
        return;
    textbuf_put(out, "## Items\n\n%s good, ", figure_count(r->items_good).text);
    textbuf_put(out, "%s bad rows\n\n", figure_count(r->items_bad).text);
    for (size_t i = 0; i < seine_json_size(list); i++)
        if (seine_json_string(seine_json_at(list, i), &text, &n)) {
            textbuf_put(out, "- **not met**: ");
            markdown_text(out, text);
            textbuf_put(out, "\n");
        }
    textbuf_put(out, "%s", seine_json_size(list) > 0 ? "\n" : "");
    for (size_t i = 0; i < REPORT_SHOWN && report_field_at(r, i, &f); i++) {
        if (i == 0)
            textbuf_put(out, "| kind | field | rows | have it | share | mistakes |\n"
                             "|---|---|--:|--:|--:|--:|\n");
        textbuf_put(out, "| ");
        markdown_text(out, f.kind);
        textbuf_put(out, " | ");
        markdown_text(out, f.name);
        textbuf_put(out, " | %s | %s | %s | %s |\n", figure_count(f.rows).text,
                    figure_count(f.filled).text, figure_share(f.filled, f.rows).text,
                    figure_count(f.errors).text);
    }
    textbuf_put(out, "%s", report_field_at(r, 0, &f) ? "\n" : "");
}

static void
put_time(textbuf *out, const report *r)
{
    seine_span all = report_spent(r);
    report_advice a = report_advise(r);

    if (r->latency.n > 0)
        textbuf_put(
            out,
            "## Latency\n\n| p50 | p90 | p95 | p99 | max |\n|--:|--:|--:|--:|--:|\n"
            "| %s | %s | %s | %s | %s |\n\n",
            figure_span(latency_at(&r->latency, 50, 100)).text,
            figure_span(latency_at(&r->latency, 90, 100)).text,
            figure_span(latency_at(&r->latency, 95, 100)).text,
            figure_span(latency_at(&r->latency, 99, 100)).text,
            figure_span(r->latency.max).text);
    if (all <= 0)
        return;
    textbuf_put(out,
                "## Where the time went\n\n| what | time | share |\n|---|--:|--:|\n");
    for (int i = 0; i < PARTS; i++)
        if (r->parts[i] > 0)
            textbuf_put(out, "| %s | %s | %s |\n", report_part_name((report_part)i),
                        figure_span(r->parts[i]).text,
                        figure_share((uint64_t)r->parts[i], (uint64_t)all).text);
    if (a.text[0])
        textbuf_put(out, "\n%s%s%s\n", a.text, a.setting[0] ? " Try: " : "", a.setting);
    textbuf_put(out, "\n");
}

static void
put_hosts(textbuf *out, const report *r)
{
    size_t n = r->n_hosts < HOSTS ? r->n_hosts : HOSTS;

    if (n == 0)
        return;
    textbuf_put(out,
                "## Hosts\n\n| host | requests | ok | failed | p50 | p95 | p99 | bytes "
                "|\n|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for (size_t i = 0; i < n; i++) {
        const report_host *h = r->hosts[i];

        textbuf_put(out, "| ");
        markdown_text(out, h->name);
        textbuf_put(out, " | %s | %s | %s | %s | %s | %s | %s |\n",
                    figure_count(h->requests).text, figure_count(h->ok).text,
                    figure_count(h->failed).text,
                    figure_span(latency_at(&h->latency, 50, 100)).text,
                    figure_span(latency_at(&h->latency, 95, 100)).text,
                    figure_span(latency_at(&h->latency, 99, 100)).text,
                    figure_bytes(h->bytes).text);
    }
    if (r->n_hosts > n)
        textbuf_put(out, "\nand %s more\n", figure_count(r->n_hosts - n).text);
    textbuf_put(out, "\n");
}

static void
put_slowest(textbuf *out, const report *r)
{
    size_t n = r->slowest.n < SLOWEST ? r->slowest.n : SLOWEST;

    if (n == 0)
        return;
    textbuf_put(out, "## Slowest URLs\n\n| URL | took |\n|---|--:|\n");
    for (size_t i = 0; i < n; i++) {
        textbuf_put(out, "| ");
        markdown_text(out, r->slowest.all[i].url);
        textbuf_put(out, " | %s |\n", figure_span(r->slowest.all[i].took).text);
    }
}

void
report_markdown(const report *r, textbuf *out)
{
    textbuf line = {NULL, 0, 0};

    textbuf_put(out, "# ");
    markdown_text(out, r->title);
    textbuf_put(out, "\n\n");
    report_verdict(r, &line);
    markdown_text(out, line.text);
    textbuf_free(&line);
    textbuf_put(out, "\n\n");
    if (r->total > 0)
        put_counts(out, r);
    put_groups(out, "Failures", &r->failures);
    put_groups(out, "Links", &r->verdicts);
    put_items(out, r);
    put_time(out, r);
    put_hosts(out, r);
    put_slowest(out, r);
}
