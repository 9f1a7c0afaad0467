/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_groups.h"
#include "report/report_hosts.h"
#include "report/report_times.h"
#include "screen/xalloc.h"

report *
report_new(void)
{
    return xalloc_zeroed(1, sizeof(report));
}

void
report_free(report *r)
{
    if (!r)
        return;
    report_times_free(&r->times);
    report_hosts_free(r);
    report_groups_free(&r->failures);
    report_groups_free(&r->skips);
    report_groups_free(&r->types);
    report_groups_free(&r->verdicts);
    report_groups_free(&r->redirects);
    report_top_free(&r->slowest);
    report_top_free(&r->largest);
    seine_json_free(r->summary);
    entry_reader_free(&r->reader);
    report_load_free(&r->load);
    report_settings_free(&r->settings);
    free(r->command);
    free(r);
}

static report_class
class_of(const entry *e)
{
    if (e->is_ok && (e->status < 300 || e->status >= 400))
        return CLASS_OK;
    if (e->status < 300 || e->status >= 600 ||
        (e->fate != SEINE_FATE_OK && e->fate != SEINE_FATE_HTTP_ERROR))
        return CLASS_NONE;
    return e->status < 400 ? CLASS_3XX : e->status < 500 ? CLASS_4XX : CLASS_5XX;
}

/* What the time of the URL went to. `total` covers all, so that the rest is what earlier
 * attempts and redirects took; if there were none, a machine that was busy did, or the
 * records tell no phases. */
static void
split_time(const entry *e, seine_span parts[PARTS])
{
    seine_span sum = 0;

    for (int i = 0; i < PART_EARLIER; i++) {
        parts[i] = e->spans[i] > 0 ? e->spans[i] : 0;
        sum = entry_sum(sum, parts[i]);
    }
    bool has_earlier = e->attempts > 1 || e->n_redirects > 0;
    seine_span rest = e->spans[SPAN_TOTAL] > sum ? e->spans[SPAN_TOTAL] - sum : 0;

    parts[PART_EARLIER] = has_earlier ? rest : 0;
    parts[PART_OTHER] = has_earlier ? 0 : rest;
}

static void
add_skip(report *r, const entry *e)
{
    entry_name name = entry_word(e->error.len ? e->error : (seine_view){"skipped", 7});

    r->skipped++;
    report_group_keep(report_group_of(&r->skips, name.text), e, e->parent);
    if (e->host.len > 0)
        report_host_of(r, e->host)->skipped++;
    report_moment *m = report_times_at(&r->times, e->wall);
    if (m)
        m->skipped++;
}

/* "text/html" of "Text/HTML; charset=utf-8" */
static entry_name
type_of(seine_view type)
{
    entry_name out = {""};
    size_t n = 0;

    for (size_t i = 0; i < type.len && n + 1 < sizeof out.text; i++) {
        char c = type.ptr[i];

        if (c == ';' || c == ',')
            break;
        if (c > ' ' && c < 0x7f)
            out.text[n++] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    out.text[n] = '\0';
    return n ? out : (entry_name){"none"};
}

/* 0 bytes, then powers of four from 64 bytes on. */
static size_t
size_bin(uint64_t bytes)
{
    size_t bin = bytes > 0;

    for (uint64_t edge = 64; bin + 1 < REPORT_SIZES && bytes >= edge && bytes > 0; bin++)
        edge *= 4;
    return bin;
}

static void
add_host(report *r, const entry *e, seine_span took)
{
    if (e->host.len == 0) {
        r->nameless++;
        return;
    }
    report_host *h = report_host_of(r, e->host);
    h->urls++;
    h->requests += e->attempts;
    h->ok += e->is_ok;
    h->failed += !e->is_ok;
    h->bytes += e->bytes_in;
    if (e->attempts > 0 && e->has_times)
        latency_add(&h->latency, took);
}

static void
add_moment(report *r, const entry *e, const seine_span parts[PARTS], seine_span took)
{
    report_moment *m = report_times_at(&r->times, e->wall);

    if (!m)
        return;
    m->classes[class_of(e)]++;
    m->bytes += e->bytes_in;
    for (int i = 0; i < PARTS; i++)
        m->parts[i] = entry_sum(m->parts[i], parts[i]);
    if (e->attempts > 0 && e->has_times)
        latency_add(&m->latency, took);
}

static void
add_ways(report *r, const entry *e)
{
    char name[8];

    if (e->n_redirects == 0)
        return;
    r->redirected++;
    r->longest_chain =
        e->n_redirects > r->longest_chain ? e->n_redirects : r->longest_chain;
    snprintf(name, sizeof name, "%u", e->redirect % 1000);
    report_group_keep(report_group_of(&r->redirects, name), e, e->final_url);
}

static void
add_result(report *r, const entry *e)
{
    seine_span took = entry_latency(e), parts[PARTS];

    split_time(e, parts);
    r->fates[e->fate < SEINE_FATE_ROOM ? e->fate : SEINE_FATE_GAVE_UP]++;
    r->ok += e->is_ok;
    r->blocked += e->fate == SEINE_FATE_BLOCKED;
    r->failed += !e->is_ok && e->fate != SEINE_FATE_BLOCKED;
    if (e->status > 0 && e->status < 1000)
        r->statuses[e->status]++;
    r->attempts += e->attempts;
    r->retries += e->attempts > 1 ? e->attempts - 1 : 0;
    r->bytes_in += e->bytes_in;
    r->bytes_body += e->bytes_body;
    for (int i = 0; i < PARTS; i++)
        r->parts[i] = entry_sum(r->parts[i], parts[i]);
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        r->waits[i] = entry_sum(r->waits[i], e->waits[i]);
    if (e->attempts > 0 && e->has_times) {
        latency_add(&r->latency, took);
        report_top_add(&r->slowest, e, (uint64_t)took, false);
    }
    if (!e->is_ok)
        report_group_keep(report_group_of(&r->failures, entry_failure(e).text), e,
                          e->parent);
    if (e->has_bytes) {
        r->sizes[size_bin(e->bytes_body)]++;
        report_top_add(&r->largest, e, e->bytes_body, true);
    }
    if (e->status > 0)
        report_group_of(&r->types, type_of(e->content_type).text);
    add_ways(r, e);
    add_host(r, e, took);
    add_moment(r, e, parts, took);
}

/* A link of `seine check`; those that are not fine are listed like failures. */
static void
add_link(report *r, const entry *e)
{
    entry_name name = entry_word(e->verdict);
    report_group *g = report_group_of(&r->verdicts, name.text);

    r->links++;
    if (strcmp(name.text, "ok") != 0 && strcmp(name.text, "excluded") != 0)
        report_group_keep(g, e, e->parent);
}

void
report_add(report *r, const entry *e)
{
    r->total += e->kind == ENTRY_RESULT || e->kind == ENTRY_SKIP;
    if (e->kind == ENTRY_RESULT)
        add_result(r, e);
    else if (e->kind == ENTRY_SKIP)
        add_skip(r, e);
    else if (e->kind == ENTRY_LINK)
        add_link(r, e);
    else if (e->kind == ENTRY_ITEM)
        *(e->is_ok ? &r->items_good : &r->items_bad) += 1;
}

static void
keep_summary(report *r, seine_view line)
{
    seine_json *summary;

    if (seine_json_parse(line.ptr, line.len, &summary, NULL) != SEINE_OK)
        return;
    seine_json_free(r->summary);
    r->summary = summary;
    r->summaries++;
}

void
report_line(report *r, seine_view line)
{
    entry e;

    if (line.len == 0)
        return;
    switch (entry_read(&r->reader, line, &e)) {
    case ENTRY_BAD:
        r->bad_lines++;
        return;
    case ENTRY_SUMMARY:
        keep_summary(r, line);
        return;
    default:
        report_add(r, &e);
    }
}

void
report_rank(report *r)
{
    report_hosts_rank(r);
    report_groups_rank(&r->failures);
    report_groups_rank(&r->skips);
    report_groups_rank(&r->types);
    report_groups_rank(&r->verdicts);
    report_groups_rank(&r->redirects);
}
