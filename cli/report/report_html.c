/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one page: complete without its script, nothing from the network, at most
 * 2 MB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/version.h>

#include "report/html.h"
#include "report/report_charts.h"
#include "report/report_load_charts.h"
#include "screen/record_table.h"
#include "screen/say.h"
#include "verbs/fetch_state.h"

enum {
    ROOM = 1 << 20,  /* behind so many bytes lists of URLs end … */
    DATA = 500 << 10 /* … and no larger data stands in the page once more */
};

static void
put_h2(textbuf *out, const char *id, const char *title)
{
    textbuf_put(out, "<section aria-labelledby=\"%s\"><h2 id=\"%s\">%s</h2>\n", id, id,
                title);
}

/* Columns are "name" or "#name", which is a column of numbers. */
static void
begin_table(textbuf *out, const char *caption, const char *const *columns)
{
    bool has_urls = strcmp(columns[0], "URL") == 0 || strcmp(columns[1], "URL") == 0;

    textbuf_put(out,
                "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
                "<table%s><caption>%s</caption><thead><tr>",
                caption, has_urls ? " class=\"wide\"" : "", caption);
    for (; *columns; columns++)
        if (**columns == '#')
            textbuf_put(out, "<th scope=\"col\" class=\"n\">%s</th>", *columns + 1);
        else
            textbuf_put(out, "<th scope=\"col\">%s</th>", *columns);
    textbuf_put(out, "</tr></thead><tbody>\n");
}

static void
end_table(textbuf *out)
{
    textbuf_put(out, "</tbody></table></div>\n");
}

static void
put_cell(textbuf *out, figure f)
{
    textbuf_put(out, "<td class=\"n\">%s</td>", f.text);
}

static void
put_empty(textbuf *out, const char *text)
{
    textbuf_put(out, "<p class=\"dim\">%s</p></section>\n", text);
}

/* The head */

static void
put_head(textbuf *out, const report *r)
{
    textbuf_put(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<meta name=\"robots\" content=\"noindex\">\n<title>",
        html_style_hash, html_script_hash);
    html_text(out, r->title);
    textbuf_put(out, " - seine report</title>\n<style>%s%s</style></head>\n<body>\n",
                html_style, html_script_style);
}

static void
put_tile(textbuf *out, figure f, const char *name)
{
    textbuf_put(out, "<li><b>%s</b><span>%s</span></li>", f.text, name);
}

/* Milliseconds of a summary, which somebody else may have written. */
static seine_span
span_of(double ms)
{
    return ms < 9e12 ? (seine_span)(ms * 1e6) : SEINE_NEVER;
}

static void
put_tiles(textbuf *out, const report *r)
{
    seine_span wall = report_fact(r, "wall_ms") > 0
                          ? span_of((double)report_fact(r, "wall_ms"))
                          : report_wall(r);

    textbuf_put(out, "<ul class=\"tiles\">");
    if (r->links > 0)
        put_tile(out, figure_count(r->links), "links");
    put_tile(out, figure_count(r->ok), "ok");
    put_tile(out, figure_count(r->failed), "failed");
    if (r->blocked > 0)
        put_tile(out, figure_count(r->blocked), "blocked by our rules");
    put_tile(out, figure_count(r->skipped), "skipped");
    put_tile(out, figure_count(r->attempts), "requests");
    put_tile(out, figure_bytes(r->bytes_in), "received");
    if (wall > 0)
        put_tile(out, figure_span(wall), "duration");
    if (wall > SEINE_MS(50))
        put_tile(out, figure_rate((double)r->attempts * 1e9 / (double)wall),
                 "average rate");
    if (r->latency.n > 0)
        put_tile(out, figure_span(latency_at(&r->latency, 95, 100)), "p95 latency");
    textbuf_put(out, "</ul>\n");
}

static void
put_next(textbuf *out, const report *r)
{
    textbuf next = {NULL, 0, 0};

    report_next(r, &next);
    if (next.len > 0) {
        textbuf_put(out, "<p>Next: <code>");
        html_text(out, next.text);
        textbuf_put(out, "</code></p>\n");
    }
    textbuf_free(&next);
}

/* Sections that need what plain records do not have. */
static bool
has_section(const report *r, const char *id)
{
    if (strcmp(id, "load") == 0)
        return r->load.n > 0;
    if (strcmp(id, "items") == 0)
        return report_items_any(r);
    return strcmp(id, "settings") != 0 || r->settings.n > 0;
}

static void
put_top(textbuf *out, const report *r)
{
    static const char *const links[][2] = {{"counts", "Counts"},
                                           {"failures", "Failures"},
                                           {"time", "Over time"},
                                           {"latency", "Latency"},
                                           {"load", "What held the run back"},
                                           {"spent", "Where the time went"},
                                           {"hosts", "Hosts"},
                                           {"skips", "Skips"},
                                           {"bodies", "Sizes and types"},
                                           {"redirects", "Redirects"},
                                           {"slow", "Slowest URLs"},
                                           {"items", "Items"},
                                           {"settings", "Settings"}};
    textbuf line = {NULL, 0, 0};

    textbuf_put(out, "<header><p class=\"dim\">seine report</p><h1>");
    html_text(out, r->title);
    textbuf_put(out, "</h1><p class=\"lead\">");
    report_verdict(r, &line);
    html_text(out, line.text);
    textbuf_free(&line);
    textbuf_put(out, "</p>\n");
    if (r->times.n > 0)
        textbuf_put(out, "<p class=\"dim\">Records of %.19sZ to %.19sZ.</p>\n",
                    stamp_of(r->times.first).text, stamp_of(r->times.last).text);
    if (r->command) {
        textbuf_put(out, "<p>Command: <code>seine ");
        html_text(out, r->command);
        textbuf_put(out, "</code></p>\n");
    }
    put_next(out, r);
    put_tiles(out, r);
    textbuf_put(out, "<nav aria-label=\"Contents\"><ul>");
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (has_section(r, links[i][0]))
            textbuf_put(out, "<li><a href=\"#%s\">%s</a></li>", links[i][0], links[i][1]);
    textbuf_put(out, "</ul></nav></header>\n<main>\n");
}

/* Counts */

static void
put_fate_row(textbuf *out, const char *name, const char *class, uint64_t n, uint64_t of)
{
    if (n == 0)
        return;
    textbuf_put(out, "<tr><th scope=\"row\">%s</th>", name);
    put_cell(out, figure_count(n));
    put_cell(out, figure_share(n, of));
    textbuf_put(out, "<td>");
    html_bar(out, class, (double)n, (double)of);
    textbuf_put(out, "</td></tr>\n");
}

static const char *
status_class(unsigned status)
{
    return status < 300 ? "c-ok" : status < 400 ? "c-3" : status < 500 ? "c-4" : "c-5";
}

/* Links of `seine check`. */
static void
put_verdicts(textbuf *out, const report *r)
{
    static const char *const columns[] = {"verdict", "#links", "#share", "", NULL};

    begin_table(out, "Links", columns);
    for (size_t i = 0; i < r->verdicts.n; i++) {
        const report_group *g = &r->verdicts.all[i];
        textbuf name = {NULL, 0, 0};

        html_text(&name, g->name);
        put_fate_row(out, name.text ? name.text : "",
                     strcmp(g->name, "ok") == 0 ? "c-ok" : "c-4", g->n, r->links);
        textbuf_free(&name);
    }
    end_table(out);
}

static void
put_counts(textbuf *out, const report *r)
{
    static const char *const columns[] = {"outcome", "#URLs", "#share", "", NULL};
    static const char *const codes[] = {"status", "#URLs", "#share", "", NULL};
    uint64_t answers = 0;

    put_h2(out, "counts", "Counts");
    if (r->links > 0)
        put_verdicts(out, r);
    if (r->total == 0) {
        textbuf_put(out, "</section>\n");
        return;
    }
    textbuf_put(out, "<p>%s URLs = ", figure_count(r->total).text);
    textbuf_put(out, "%s ok + ", figure_count(r->ok).text);
    textbuf_put(out, "%s failed + ", figure_count(r->failed).text);
    textbuf_put(out, "%s blocked + ", figure_count(r->blocked).text);
    textbuf_put(out, "%s skipped.</p>\n", figure_count(r->skipped).text);
    begin_table(out, "Outcomes", columns);
    for (int i = 0; i < SEINE_FATE_ROOM; i++)
        put_fate_row(out, seine_fate_name((seine_fate)i),
                     i == SEINE_FATE_OK           ? "c-ok"
                     : i == SEINE_FATE_HTTP_ERROR ? "c-4"
                                                  : "c-n",
                     r->fates[i], r->total);
    put_fate_row(out, "skipped", "p1", r->skipped, r->total);
    end_table(out);
    for (unsigned i = 0; i < 1000; i++)
        answers += r->statuses[i];
    begin_table(out, "Statuses", codes);
    for (unsigned i = 0; i < 1000; i++) {
        char name[8];

        snprintf(name, sizeof name, "%u", i);
        put_fate_row(out, name, status_class(i), r->statuses[i], answers);
    }
    end_table(out);
    textbuf_put(out, "</section>\n");
}

/* Lists of URLs */

static void
put_place(textbuf *out, const report_url *u)
{
    if (!u->other) {
        textbuf_put(out, "<span class=\"dim\">given</span>");
        return;
    }
    html_link(out, u->other);
    if (u->line > 0)
        textbuf_put(out, ", line %u", u->line);
}

static void
put_group(textbuf *out, const report_group *g)
{
    static const char *const columns[] = {"URL", "found on", NULL};
    char caption[96];

    textbuf_put(out, "<h3>");
    html_text(out, g->name);
    textbuf_put(out, ": %s URL%s</h3>\n", figure_count(g->n).text, g->n == 1 ? "" : "s");
    if (g->message) {
        textbuf_put(out, "<p>");
        html_text(out, g->message);
        textbuf_put(out, "</p>\n");
    }
    if (g->hint) {
        textbuf_put(out, "<p class=\"hint\">try: ");
        html_text(out, g->hint);
        textbuf_put(out, "</p>\n");
    }
    if (g->kept == 0 || out->len > ROOM)
        return;
    snprintf(caption, sizeof caption, "The first %zu of %s", g->kept,
             figure_count(g->n).text);
    begin_table(out, caption, columns);
    for (size_t i = 0; i < g->kept && out->len < ROOM; i++) {
        textbuf_put(out, "<tr><td class=\"u\">");
        html_link(out, g->first[i].url);
        textbuf_put(out, "</td><td class=\"u\">");
        put_place(out, &g->first[i]);
        textbuf_put(out, "</td></tr>\n");
    }
    end_table(out);
}

static void
put_failures(textbuf *out, const report *r)
{
    put_h2(out, "failures", "Failures");
    if (r->failures.n == 0 && r->links == 0) {
        put_empty(out, "Nothing failed.");
        return;
    }
    for (size_t i = 0; i < r->failures.n; i++)
        put_group(out, &r->failures.all[i]);
    for (size_t i = 0; i < r->verdicts.n; i++)
        if (r->verdicts.all[i].kept > 0)
            put_group(out, &r->verdicts.all[i]);
    textbuf_put(out, "</section>\n");
}

static void
put_skips(textbuf *out, const report *r)
{
    static const char *const columns[] = {"reason", "#URLs", "rule of the first",
                                          "first URL", NULL};

    put_h2(out, "skips", "Skips");
    if (r->skips.n == 0) {
        put_empty(out, "Nothing was skipped.");
        return;
    }
    begin_table(out, "URLs that were not asked for, by reason", columns);
    for (size_t i = 0; i < r->skips.n; i++) {
        const report_group *g = &r->skips.all[i];

        textbuf_put(out, "<tr><th scope=\"row\">");
        html_text(out, g->name);
        textbuf_put(out, "</th>");
        put_cell(out, figure_count(g->n));
        textbuf_put(out, "<td>");
        html_text(out, g->message);
        textbuf_put(out, "</td><td class=\"u\">");
        html_link(out, g->kept ? g->first[0].url : NULL);
        textbuf_put(out, "</td></tr>\n");
    }
    end_table(out);
    textbuf_put(out, "</section>\n");
}

/* Time */

static void
put_spent(textbuf *out, const report *r)
{
    static const char *const columns[] = {"what", "#time", "#share", "", NULL};
    static const char *const waits[] = {"reason", "#time", NULL};
    static const char *const classes[PARTS] = {"p1", "p1", "p1", "p1", "p2", "p2",
                                               "p2", "p3", "p4", "p5", "p5"};
    seine_span all = report_spent(r);
    report_advice a = report_advise(r);
    bool any = false;

    put_h2(out, "spent", "Where the time went");
    if (all <= 0) {
        put_empty(out, "The records say nothing about time.");
        return;
    }
    textbuf_put(out, "<p>The time of all URLs together, waits of our own included: they "
                     "wait and run side by side, so that it is more than the duration of "
                     "the run.</p>\n");
    if (a.text[0]) {
        textbuf_put(out, "<p class=\"hint\"><b>%s.</b> ", a.head);
        html_text(out, a.text);
        if (a.setting[0]) {
            textbuf_put(out, " The setting that would help most: <b>");
            html_text(out, a.setting);
            textbuf_put(out, "</b>.");
        }
        textbuf_put(out, "</p>\n");
    }
    begin_table(out, "What URLs spent their time on", columns);
    for (int i = 0; i < PARTS; i++) {
        if (r->parts[i] <= 0)
            continue;
        textbuf_put(out, "<tr><th scope=\"row\">%s</th>",
                    report_part_name((report_part)i));
        put_cell(out, figure_span(r->parts[i]));
        put_cell(out, figure_share((uint64_t)r->parts[i], (uint64_t)all));
        textbuf_put(out, "<td>");
        html_bar(out, classes[i], (double)r->parts[i], (double)all);
        textbuf_put(out, "</td></tr>\n");
    }
    end_table(out);
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        any = any || r->waits[i] > 0;
    if (any) {
        begin_table(out, "Waits between attempts, by reason", waits);
        for (int i = 0; i < SEINE_WAIT_ROOM; i++)
            if (r->waits[i] > 0) {
                textbuf_put(out, "<tr><th scope=\"row\">%s</th>",
                            seine_wait_name((seine_wait)i));
                put_cell(out, figure_span(r->waits[i]));
                textbuf_put(out, "</tr>\n");
            }
        end_table(out);
    }
    report_chart_spent(out, r);
    textbuf_put(out, "</section>\n");
}

static void
put_latency(textbuf *out, const report *r)
{
    static const char *const columns[] = {"#p50", "#p90", "#p95", "#p99", "#max", NULL};
    static const unsigned parts[] = {50, 90, 95, 99};

    put_h2(out, "latency", "Latency");
    if (r->latency.n == 0) {
        put_empty(out, "The records say nothing about latency.");
        return;
    }
    begin_table(out, "How long the last attempt of a URL took", columns);
    textbuf_put(out, "<tr>");
    for (size_t i = 0; i < 4; i++)
        put_cell(out, figure_span(latency_at(&r->latency, parts[i], 100)));
    put_cell(out, figure_span(r->latency.max));
    textbuf_put(out, "</tr>\n");
    end_table(out);
    report_chart_histogram(out, r);
    report_chart_latency(out, r);
    textbuf_put(out, "</section>\n");
}

/* Hosts */

static void
put_host_count(textbuf *out, const seine_json *host, const char *name)
{
    int64_t n;

    if (seine_json_int(seine_json_get(host, name), &n) && n >= 0)
        put_cell(out, figure_count((uint64_t)n));
    else
        textbuf_put(out, "<td></td>");
}

static void
put_host_facts(textbuf *out, const report *r, const char *name)
{
    const seine_json *h = report_top_host(r, name);
    const char *by;
    double gap;
    size_t n;

    put_host_count(out, h, "max_rps_1s");
    if (seine_json_number(seine_json_get(h, "min_gap_ms"), &gap) && gap >= 0)
        put_cell(out, figure_span(span_of(gap)));
    else
        textbuf_put(out, "<td></td>");
    put_host_count(out, h, "breaker_opens");
    textbuf_put(out, "<td>");
    if (seine_json_string(seine_json_get(h, "limited_by"), &by, &n))
        html_text(out, by);
    textbuf_put(out, "</td>");
}

static void
put_host(textbuf *out, const report *r, const report_host *h, const char *name,
         uint64_t most)
{
    textbuf_put(out, "<tr><th scope=\"row\" class=\"h\">");
    html_text(out, name);
    textbuf_put(out, "</th>");
    put_cell(out, figure_count(h->requests));
    textbuf_put(out, "<td>");
    html_bar(out, "c-3", (double)h->requests, (double)most);
    textbuf_put(out, "</td>");
    put_cell(out, figure_count(h->ok));
    put_cell(out, figure_count(h->failed));
    if (h->latency.n > 0) {
        put_cell(out, figure_span(latency_at(&h->latency, 50, 100)));
        put_cell(out, figure_span(latency_at(&h->latency, 95, 100)));
        put_cell(out, figure_span(latency_at(&h->latency, 99, 100)));
    } else {
        textbuf_put(out, "<td></td><td></td><td></td>");
    }
    put_cell(out, figure_bytes(h->bytes));
    if (r->summary)
        put_host_facts(out, r, name);
    textbuf_put(out, "</tr>\n");
}

static void
put_hosts(textbuf *out, const report *r)
{
    static const char *const few[] = {"host", "#requests", "",     "#ok",    "#failed",
                                      "#p50", "#p95",      "#p99", "#bytes", NULL};
    static const char *const all[] = {
        "host", "#requests", "",        "#ok",      "#failed",  "#p50",       "#p95",
        "#p99", "#bytes",    "#in 1 s", "#closest", "#breaker", "limited by", NULL};
    size_t n = r->n_hosts < REPORT_SHOWN ? r->n_hosts : REPORT_SHOWN;
    uint64_t most = n ? r->hosts[0]->requests : 0;
    char caption[96];

    put_h2(out, "hosts", "Hosts");
    if (n == 0) {
        put_empty(out, "There are none.");
        return;
    }
    if (n == r->n_hosts && !r->has_others)
        snprintf(caption, sizeof caption, "All hosts, the busiest first");
    else
        snprintf(caption, sizeof caption, "The %zu busiest of %s%s hosts", n,
                 r->has_others ? "more than " : "",
                 figure_count(r->has_others ? REPORT_HOSTS : r->n_hosts).text);
    begin_table(out, caption, r->summary ? all : few);
    for (size_t i = 0; i < n; i++)
        put_host(out, r, r->hosts[i], r->hosts[i]->name, most);
    if (r->has_others)
        put_host(out, r, &r->others, "other hosts", most);
    end_table(out);
    textbuf_put(out, "</section>\n");
}

/* Bodies, redirects, the slowest */

static void
put_bodies(textbuf *out, const report *r)
{
    static const char *const columns[] = {"type", "#URLs", "#share", "", NULL};
    static const char *const urls[] = {"URL", "#bytes", NULL};
    uint64_t all = 0;

    put_h2(out, "bodies", "Sizes and types");
    if (r->types.n == 0) {
        put_empty(out, "There were no answers.");
        return;
    }
    textbuf_put(out, "<p>%s received, ", figure_bytes(r->bytes_in).text);
    textbuf_put(out, "%s decoded.</p>\n", figure_bytes(r->bytes_body).text);
    for (size_t i = 0; i < r->types.n; i++)
        all += r->types.all[i].n;
    begin_table(out, "Media types", columns);
    for (size_t i = 0; i < r->types.n; i++) {
        textbuf cell = {NULL, 0, 0};

        html_text(&cell, r->types.all[i].name);
        put_fate_row(out, cell.text ? cell.text : "", "c-3", r->types.all[i].n, all);
        textbuf_free(&cell);
    }
    end_table(out);
    report_chart_sizes(out, r);
    begin_table(out, "The largest bodies", urls);
    for (size_t i = 0; i < r->largest.n && i < REPORT_TOP / 2; i++) {
        textbuf_put(out, "<tr><td class=\"u\">");
        html_link(out, r->largest.all[i].url);
        textbuf_put(out, "</td>");
        put_cell(out, figure_bytes(r->largest.all[i].bytes));
        textbuf_put(out, "</tr>\n");
    }
    end_table(out);
    textbuf_put(out, "</section>\n");
}

static void
put_redirects(textbuf *out, const report *r)
{
    static const char *const columns[] = {"status", "URL", "leads to", NULL};
    size_t rows = 0;

    put_h2(out, "redirects", "Redirects");
    if (r->redirected == 0) {
        put_empty(out, "No URL was redirected.");
        return;
    }
    textbuf_put(out, "<p>%s URL%s redirected; ", figure_count(r->redirected).text,
                r->redirected == 1 ? " was" : "s were");
    textbuf_put(out, "the longest chain had %s step%s.</p>\n",
                figure_count(r->longest_chain).text, r->longest_chain == 1 ? "" : "s");
    begin_table(out, "The first of each status", columns);
    for (size_t i = 0; i < r->redirects.n; i++)
        for (size_t k = 0; k < r->redirects.all[i].kept && k < 5 && rows < REPORT_TOP;
             k++, rows++) {
            const report_url *u = &r->redirects.all[i].first[k];

            textbuf_put(out, "<tr><th scope=\"row\">");
            html_text(out, r->redirects.all[i].name);
            textbuf_put(out, "</th><td class=\"u\">");
            html_link(out, u->url);
            textbuf_put(out, "</td><td class=\"u\">");
            html_link(out, u->other);
            textbuf_put(out, "</td></tr>\n");
        }
    end_table(out);
    textbuf_put(out, "</section>\n");
}

static void
put_slowest(textbuf *out, const report *r)
{
    static const char *const columns[] = {"URL", "#took", "#status", "#bytes", NULL};

    put_h2(out, "slow", "Slowest URLs");
    if (r->slowest.n == 0) {
        put_empty(out, "The records say nothing about latency.");
        return;
    }
    begin_table(out, "The last attempts that took longest", columns);
    for (size_t i = 0; i < r->slowest.n; i++) {
        const report_url *u = &r->slowest.all[i];

        textbuf_put(out, "<tr><td class=\"u\">");
        html_link(out, u->url);
        textbuf_put(out, "</td>");
        put_cell(out, figure_span(u->took));
        if (u->status > 0)
            textbuf_put(out, "<td class=\"n\">%u</td>", u->status);
        else
            textbuf_put(out, "<td class=\"n\">-</td>");
        put_cell(out, figure_bytes(u->bytes));
        textbuf_put(out, "</tr>\n");
    }
    end_table(out);
    textbuf_put(out, "</section>\n");
}

/* Items of a recipe, and what was expected of them */

static void
put_coverage(textbuf *out, const report *r)
{
    static const char *const columns[] = {"field",  "#rows",     "#have it",
                                          "#share", "#mistakes", NULL};
    report_field f;

    for (size_t i = 0; i < REPORT_SHOWN && report_field_at(r, i, &f); i++) {
        if (i == 0)
            begin_table(out, "Fields", columns);
        textbuf_put(out, "<tr><th scope=\"row\">");
        html_text(out, f.kind);
        textbuf_put(out, " ");
        html_text(out, f.name);
        textbuf_put(out, "</th>");
        put_cell(out, figure_count(f.rows));
        put_cell(out, figure_count(f.filled));
        put_cell(out, figure_share(f.filled, f.rows));
        put_cell(out, figure_count(f.errors));
        textbuf_put(out, "</tr>\n");
    }
    if (report_field_at(r, 0, &f))
        end_table(out);
}

static void
put_items(textbuf *out, const report *r)
{
    const seine_json *list = report_unmet(r);
    const char *text;
    size_t i = 0, n;

    if (!report_items_any(r))
        return;
    put_h2(out, "items", "Items");
    textbuf_put(out, "<p>%s good", figure_count(r->items_good).text);
    textbuf_put(out, ", %s bad rows.</p>\n", figure_count(r->items_bad).text);
    for (; i < seine_json_size(list) && i < REPORT_SHOWN && out->len < ROOM; i++)
        if (seine_json_string(seine_json_at(list, i), &text, &n)) {
            textbuf_put(out, "<p class=\"hint\">Expectation not met: ");
            html_sentence(out, text);
            textbuf_put(out, "</p>\n");
        }
    if (i < seine_json_size(list))
        textbuf_put(out, "<p class=\"hint\">and %s more that are not met.</p>\n",
                    figure_count(seine_json_size(list) - i).text);
    if (r->summary && seine_json_size(list) == 0)
        textbuf_put(out, "<p>All expectations are met, or there were none.</p>\n");
    put_coverage(out, r);
    textbuf_put(out, "</section>\n");
}

/* Settings */

static void
put_settings(textbuf *out, const report *r)
{
    static const char *const columns[] = {"option", "value", "default", "from", NULL};

    if (r->settings.n == 0)
        return;
    put_h2(out, "settings", "Settings");
    textbuf_put(out, "<p>Other options have their defaults.</p>\n");
    begin_table(out, "Settings that are no defaults", columns);
    for (size_t i = 0; i < r->settings.n && i < REPORT_SHOWN && out->len < ROOM; i++) {
        const report_setting *s = &r->settings.all[i];

        textbuf_put(out, "<tr><th scope=\"row\" class=\"h\"><code>");
        html_text(out, s->name);
        textbuf_put(out, "</code></th><td class=\"u\">");
        html_text(out, s->value);
        textbuf_put(out, "</td><td>");
        html_text(out, s->usual);
        textbuf_put(out, "</td><td>");
        html_text(out, s->from ? s->from : "command line");
        textbuf_put(out, "</td></tr>\n");
    }
    end_table(out);
    textbuf_put(out, "</section>\n");
}

/* The figures once more for programs. No text of it can end the element. */
static void
put_data(textbuf *out, const report *r)
{
    textbuf data = {NULL, 0, 0};
    size_t marks = 0;

    report_json(r, &data);
    for (size_t i = 0; i < data.len; i++)
        marks += data.text[i] == '<';
    if (data.len + 5 * marks <= DATA) {
        textbuf_put(out, "<script type=\"application/json\" id=\"data\">");
        for (size_t i = 0; i < data.len; i++)
            if (data.text[i] == '<')
                textbuf_put(out, "\\u003c");
            else
                textbuf_add(out, data.text + i, 1);
        textbuf_put(out, "</script>\n");
    }
    textbuf_free(&data);
}

void
report_html(const report *r, textbuf *out)
{
    put_head(out, r);
    put_top(out, r);
    put_counts(out, r);
    put_failures(out, r);
    report_charts_over_time(out, r);
    put_latency(out, r);
    report_load_section(out, &r->load);
    put_spent(out, r);
    put_hosts(out, r);
    put_skips(out, r);
    put_bodies(out, r);
    put_redirects(out, r);
    put_slowest(out, r);
    put_items(out, r);
    put_settings(out, r);
    textbuf_put(out,
                "</main>\n<footer><p>Made by seine %s from %s records. The page is whole "
                "without script and loads nothing.</p></footer>\n",
                seine_version(), figure_count(r->total).text);
    put_data(out, r);
    textbuf_put(out, "<script>%s</script>\n</body></html>\n", html_script);
}
