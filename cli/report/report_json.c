/* SPDX-License-Identifier: Apache-2.0 */
/* A report as one JSON object. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_load_charts.h"
#include "screen/xalloc.h"
#include "verbs/fetch_state.h"

static void
put_string(textbuf *out, const char *text)
{
    size_t n = seine_json_quote(text, strlen(text), NULL, 0);
    char *quoted = xalloc_zeroed(1, n + 1);

    seine_json_quote(text, strlen(text), quoted, n + 1);
    textbuf_add(out, quoted, n);
    free(quoted);
}

static void
put_text(textbuf *out, const char *name, const char *text)
{
    if (!text || !text[0])
        return;
    textbuf_put(out, ",\"%s\":", name);
    put_string(out, text);
}

static void
put_count(textbuf *out, const char *name, uint64_t n)
{
    textbuf_put(out, ",\"%s\":%" PRIu64, name, n);
}

/* Milliseconds with three decimals at most, as records have them. */
static void
put_ms(textbuf *out, const char *name, seine_span span)
{
    int64_t us = span / 1000 + (span % 1000 >= 500);

    textbuf_put(out, ",\"%s\":%" PRId64, name, us / 1000);
    if (us % 1000)
        textbuf_put(out, ".%03d", (int)(us % 1000));
}

/* Puts the members that follow into an object, whose first comma goes. */
static size_t
begin(textbuf *out, const char *before)
{
    textbuf_put(out, "%s", before);
    return out->len;
}

static void
end(textbuf *out, size_t from, const char *bracket)
{
    if (out->len > from && out->text[from] == ',') {
        memmove(out->text + from, out->text + from + 1, out->len - from);
        out->len--;
    }
    textbuf_put(out, "%s", bracket);
}

static void
put_latency(textbuf *out, const latency *l)
{
    size_t at = begin(out, ",\"latency_ms\":{");

    put_ms(out, "p50", latency_at(l, 50, 100));
    put_ms(out, "p90", latency_at(l, 90, 100));
    put_ms(out, "p95", latency_at(l, 95, 100));
    put_ms(out, "p99", latency_at(l, 99, 100));
    put_ms(out, "max", l->max);
    end(out, at, "}");
}

static void
put_counts(textbuf *out, const report *r)
{
    put_count(out, "total", r->total);
    put_count(out, "ok", r->ok);
    put_count(out, "failed", r->failed);
    put_count(out, "blocked", r->blocked);
    put_count(out, "skipped", r->skipped);
    put_count(out, "bad_lines", r->bad_lines);
    size_t at = begin(out, ",\"outcomes\":{");
    for (int i = 0; i < SEINE_FATE_ROOM; i++)
        if (r->fates[i] > 0)
            put_count(out, seine_fate_name((seine_fate)i), r->fates[i]);
    end(out, at, "}");
    at = begin(out, ",\"statuses\":{");
    for (unsigned i = 0; i < 1000; i++)
        if (r->statuses[i] > 0)
            textbuf_put(out, ",\"%u\":%" PRIu64, i, r->statuses[i]);
    end(out, at, "}");
    put_count(out, "requests", r->attempts);
    put_count(out, "retries", r->retries);
    put_count(out, "bytes_in", r->bytes_in);
    put_count(out, "bytes_body", r->bytes_body);
    if (r->items_good + r->items_bad > 0)
        textbuf_put(out, ",\"items\":{\"good\":%" PRIu64 ",\"bad\":%" PRIu64 "}",
                    r->items_good, r->items_bad);
}

static void
put_time(textbuf *out, const report *r)
{
    report_advice a = report_advise(r);
    size_t at = begin(out, ",\"time_ms\":{");

    for (int i = 0; i < PARTS; i++)
        put_ms(out, report_part_word((report_part)i), r->parts[i]);
    end(out, at, "}");
    at = begin(out, ",\"retry_waits_ms\":{");
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        if (r->waits[i] > 0)
            put_ms(out, seine_wait_name((seine_wait)i), r->waits[i]);
    end(out, at, "}");
    if (!a.text[0])
        return;
    textbuf_put(out, ",\"advice\":{\"largest\":\"%s\",\"share\":%.3f",
                report_part_word(a.part), a.share);
    put_text(out, "text", a.text);
    put_text(out, "setting", a.setting);
    textbuf_put(out, "}");
}

static void
put_urls(textbuf *out, const char *name, const report_url *all, size_t n)
{
    textbuf_put(out, ",\"%s\":[", name);
    for (size_t i = 0; i < n; i++) {
        size_t at = begin(out, i ? ",{" : "{");

        put_text(out, "url", all[i].url);
        put_text(out, strcmp(name, "to") == 0 ? "to" : "found_on", all[i].other);
        if (all[i].line > 0)
            put_count(out, "line", all[i].line);
        if (all[i].status > 0)
            put_count(out, "status", all[i].status);
        put_ms(out, "ms", all[i].took);
        put_count(out, "bytes", all[i].bytes);
        end(out, at, "}");
    }
    textbuf_put(out, "]");
}

static void
put_groups(textbuf *out, const char *name, const report_groups *g)
{
    textbuf_put(out, ",\"%s\":[", name);
    for (size_t i = 0; i < g->n; i++) {
        size_t at = begin(out, i ? ",{" : "{");

        put_text(out, "kind", g->all[i].name);
        put_count(out, "count", g->all[i].n);
        put_text(out, "message", g->all[i].message);
        put_text(out, "hint", g->all[i].hint);
        if (g->all[i].kept > 0)
            put_urls(out, "urls", g->all[i].first, g->all[i].kept);
        end(out, at, "}");
    }
    textbuf_put(out, "]");
}

static void
put_host(textbuf *out, const report_host *h, const char *name, bool first)
{
    size_t at = begin(out, first ? "{" : ",{");

    put_text(out, "host", name);
    put_count(out, "urls", h->urls);
    put_count(out, "requests", h->requests);
    put_count(out, "ok", h->ok);
    put_count(out, "failed", h->failed);
    put_count(out, "skipped", h->skipped);
    put_count(out, "bytes_in", h->bytes);
    put_latency(out, &h->latency);
    end(out, at, "}");
}

static void
put_hosts(textbuf *out, const report *r)
{
    size_t n = r->n_hosts < REPORT_SHOWN ? r->n_hosts : REPORT_SHOWN;

    put_count(out, "hosts_told_apart", r->n_hosts);
    textbuf_put(out, ",\"hosts\":[");
    for (size_t i = 0; i < n; i++)
        put_host(out, r->hosts[i], r->hosts[i]->name, i == 0);
    textbuf_put(out, "]");
    if (!r->has_others)
        return;
    textbuf_put(out, ",\"other_hosts\":");
    put_host(out, &r->others, NULL, true);
}

static void
put_moments(textbuf *out, const report_times *t)
{
    if (t->n == 0)
        return;
    textbuf_put(out, ",\"from\":\"%s\"", stamp_of(t->first).text);
    textbuf_put(out, ",\"to\":\"%s\"", stamp_of(t->last).text);
    put_ms(out, "bin_ms", t->width);
    textbuf_put(out, ",\"over_time\":[");
    for (size_t i = 0; i < t->n; i++) {
        const report_moment *m = &t->all[i];
        size_t at = begin(out, i ? ",{" : "{");

        textbuf_put(out, ",\"ts\":\"%s\"",
                    stamp_of(t->from + (int64_t)i * t->width).text);
        for (unsigned c = 0; c < CLASSES; c++)
            if (m->classes[c] > 0)
                put_count(out, c == CLASS_NONE ? "none" : report_class_name(c),
                          m->classes[c]);
        if (m->skipped > 0)
            put_count(out, "skipped", m->skipped);
        put_count(out, "bytes_in", m->bytes);
        if (m->latency.n > 0) {
            put_ms(out, "p50", latency_at(&m->latency, 50, 100));
            put_ms(out, "p95", latency_at(&m->latency, 95, 100));
            put_ms(out, "p99", latency_at(&m->latency, 99, 100));
        }
        end(out, at, "}");
    }
    textbuf_put(out, "]");
}

static void
put_settings(textbuf *out, const report *r)
{
    for (size_t i = 0; i < r->settings.n; i++) {
        size_t at = begin(out, i ? ",{" : ",\"settings\":[{");

        put_text(out, "option", r->settings.all[i].name);
        put_text(out, "value", r->settings.all[i].value);
        put_text(out, "default", r->settings.all[i].usual);
        put_text(out, "from",
                 r->settings.all[i].from ? r->settings.all[i].from : "command line");
        end(out, at, "}");
    }
    if (r->settings.n > 0)
        textbuf_put(out, "]");
}

static void
put_unmet(textbuf *out, const report *r)
{
    const seine_json *list = report_unmet(r);
    const char *text;
    size_t n;

    if (seine_json_size(list) == 0)
        return;
    textbuf_put(out, ",\"expect\":[");
    for (size_t i = 0; i < seine_json_size(list); i++)
        if (seine_json_string(seine_json_at(list, i), &text, &n)) {
            textbuf_put(out, i ? "," : "");
            put_string(out, text);
        }
    textbuf_put(out, "]");
}

static void
put_coverage(textbuf *out, const report *r)
{
    report_field f;

    for (size_t i = 0; report_field_at(r, i, &f); i++) {
        size_t at = begin(out, i ? ",{" : ",\"coverage\":[{");

        put_text(out, "kind", f.kind);
        put_text(out, "field", f.name);
        put_count(out, "rows", f.rows);
        put_count(out, "filled", f.filled);
        put_count(out, "errors", f.errors);
        end(out, at, "}");
    }
    if (report_field_at(r, 0, &f))
        textbuf_put(out, "]");
}

static void
put_verdict(textbuf *out, const report *r)
{
    textbuf line = {NULL, 0, 0};

    report_verdict(r, &line);
    put_text(out, "verdict", line.text);
    line.len = 0;
    report_next(r, &line);
    if (line.len > 0)
        put_text(out, "next", line.text);
    textbuf_free(&line);
    put_text(out, "command", r->command);
    if (r->summary) {
        put_text(out, "stopped_by", report_word(r, "stopped_by"));
        put_count(out, "exit_code", report_fact(r, "exit_code"));
        put_count(out, "wall_ms", report_fact(r, "wall_ms"));
    }
}

void
report_json(const report *r, textbuf *out)
{
    textbuf_put(out, "{\"v\":1,\"type\":\"report\"");
    put_text(out, "title", r->title);
    put_text(out, "job", r->job);
    put_text(out, "state", r->job_state);
    put_text(out, "where", r->where);
    put_verdict(out, r);
    put_counts(out, r);
    put_unmet(out, r);
    put_coverage(out, r);
    put_latency(out, &r->latency);
    put_time(out, r);
    put_groups(out, "failures", &r->failures);
    put_groups(out, "skips", &r->skips);
    if (r->links > 0)
        put_groups(out, "links", &r->verdicts);
    put_groups(out, "content_types", &r->types);
    put_count(out, "redirected", r->redirected);
    put_count(out, "longest_chain", r->longest_chain);
    put_groups(out, "redirects", &r->redirects);
    put_urls(out, "slowest", r->slowest.all, r->slowest.n);
    put_urls(out, "largest", r->largest.all, r->largest.n);
    put_hosts(out, r);
    put_moments(out, &r->times);
    report_load_json(out, &r->load);
    put_settings(out, r);
    textbuf_put(out, "}\n");
}
