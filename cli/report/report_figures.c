/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from the figures of a report: names, sums, the verdict, advice. */
#include <stdio.h>
#include <string.h>

#include "jobs/job_hint.h"
#include "report/report.h"
#include "screen/closing.h"
#include "screen/say.h"

const char *
report_class_name(report_class c)
{
    static const char *const names[CLASSES] = {"2xx", "3xx", "4xx", "5xx", "no answer"};

    return names[c];
}

static const struct {
    const char *word, *name;
} parts[PARTS] = {
    [PART_QUEUE] = {"queue", "in line at its host"},
    [PART_THROTTLE] = {"throttle", "held back by a rate or a pause"},
    [PART_BACKOFF] = {"backoff", "backing off after a failure"},
    [PART_RETRY_BUDGET] = {"retry_budget", "waiting for the retry budget"},
    [PART_DNS] = {"dns", "looking up names"},
    [PART_CONNECT] = {"connect", "connecting"},
    [PART_TLS] = {"tls", "agreeing on TLS"},
    [PART_TTFB] = {"ttfb", "waiting for the server"},
    [PART_BODY] = {"body", "reading the body"},
    [PART_EARLIER] = {"earlier", "earlier attempts and redirects"},
    [PART_OTHER] = {"other", "not told apart"},
};

const char *
report_part_name(report_part p)
{
    return parts[p].name;
}

const char *
report_part_word(report_part p)
{
    return parts[p].word;
}

seine_span
report_spent(const report *r)
{
    seine_span sum = 0;

    for (int i = 0; i < PARTS; i++)
        sum = entry_sum(sum, r->parts[i]);
    return sum;
}

seine_span
report_wall(const report *r)
{
    return r->times.last - r->times.first;
}

/* The summary */

uint64_t
report_fact(const report *r, const char *name)
{
    int64_t n;

    return r->summary && seine_json_int(seine_json_get(r->summary, name), &n) && n > 0
               ? (uint64_t)n
               : 0;
}

const char *
report_word(const report *r, const char *name)
{
    const char *text;
    size_t n;

    return r->summary && seine_json_string(seine_json_get(r->summary, name), &text, &n)
               ? text
               : "";
}

const seine_json *
report_top_host(const report *r, const char *host)
{
    const seine_json *list = r->summary ? seine_json_get(r->summary, "top_hosts") : NULL;
    const char *name;
    size_t n;

    for (size_t i = 0; i < seine_json_size(list) && i < REPORT_SHOWN; i++) {
        const seine_json *h = seine_json_at(list, i);

        if (seine_json_string(seine_json_get(h, "host"), &name, &n) &&
            strcmp(show_host(name, n).text, show_host(host, strlen(host)).text) == 0)
            return h;
    }
    return NULL;
}

const seine_json *
report_unmet(const report *r)
{
    return r->summary ? seine_json_get(r->summary, "expect") : NULL;
}

static uint64_t
count_of(const seine_json *object, const char *name)
{
    int64_t n = 0;

    (void)seine_json_int(seine_json_get(object, name), &n);
    return n > 0 ? (uint64_t)n : 0;
}

bool
report_field_at(const report *r, size_t i, report_field *out)
{
    const seine_json *list = r->summary ? seine_json_get(r->summary, "coverage") : NULL;
    const seine_json *one = seine_json_at(list, i);
    size_t n;

    if (!one || !seine_json_string(seine_json_get(one, "kind"), &out->kind, &n) ||
        !seine_json_string(seine_json_get(one, "field"), &out->name, &n))
        return false;
    out->rows = count_of(one, "rows");
    out->filled = count_of(one, "filled");
    out->errors = count_of(one, "errors");
    return true;
}

bool
report_items_any(const report *r)
{
    return r->items_good + r->items_bad > 0 || seine_json_size(report_unmet(r)) > 0;
}

/* Sentences */

static void
put_failures(const report *r, textbuf *out)
{
    const report_groups *g = &r->failures;

    for (size_t i = 0; i < g->n && i < 3; i++) {
        textbuf_put(out, "%s%s", i ? ", " : ": ", g->all[i].name);
        if (g->n > 1)
            textbuf_put(out, " ×%s", figure_count(g->all[i].n).text);
    }
    if (g->n > 3)
        textbuf_put(out, ", …");
}

static void
put_links(const report *r, textbuf *out)
{
    textbuf_put(out, "%s link%s checked", figure_count(r->links).text,
                r->links == 1 ? " was" : "s were");
    for (size_t i = 0; i < r->verdicts.n; i++)
        textbuf_put(out, "%s%s %s", i ? ", " : ": ",
                    figure_count(r->verdicts.all[i].n).text, r->verdicts.all[i].name);
    textbuf_put(out, ".");
}

/* "is running", of a job that is not finished. */
static const char *
state_of(const report *r)
{
    if (r->job_state && strcmp(r->job_state, "running") == 0)
        return "is running";
    return r->job_state && strcmp(r->job_state, "failed") == 0
               ? "is not finished, and its last run was killed"
               : "is not finished";
}

static void
put_end(const report *r, textbuf *out)
{
    const char *by = report_word(r, "stopped_by");

    if (r->pending > 0 || r->is_unfinished)
        textbuf_put(out, " The job %s: %s URL%s to do.", state_of(r),
                    figure_count(r->pending).text, r->pending == 1 ? " is" : "s are");
    else if (by[0] && strcmp(by, "done") != 0)
        textbuf_put(out, " The run was stopped by %s.", show(by).text);
    if (r->summary)
        textbuf_put(out, " Exit code %llu.",
                    (unsigned long long)report_fact(r, "exit_code"));
    size_t unmet = seine_json_size(report_unmet(r));
    if (unmet > 0)
        textbuf_put(out, " %zu expectation%s not met.", unmet,
                    unmet == 1 ? " is" : "s are");
    if (r->where)
        textbuf_put(out, " Only records where %.200s are counted.", show(r->where).text);
    if (r->is_bare)
        textbuf_put(out, " The job has no output to read: messages, types and redirects "
                         "are not known.");
    if (r->nameless > 0 && r->job[0])
        textbuf_put(out,
                    " %s records are of earlier runs: the job counts them and kept no "
                    "URLs or hosts of theirs.",
                    figure_count(r->nameless).text);
    if (r->summaries > 1)
        textbuf_put(out,
                    " The records are those of %s runs; what the summary says is of "
                    "the last one.",
                    figure_count(r->summaries).text);
}

void
report_verdict(const report *r, textbuf *out)
{
    uint64_t asked = r->ok + r->failed;

    if (r->total == 0 && r->links > 0)
        put_links(r, out);
    else if (asked == 0)
        textbuf_put(out, "No URL was fetched.");
    else if (r->failed == 0)
        textbuf_put(out, "%s %s ok.",
                    asked == 1 ? "The one URL" : "All URLs that were fetched",
                    asked == 1 ? "is" : "are");
    else {
        textbuf_put(out, "%s of %s URLs are ok (%s); %s failed", figure_count(r->ok).text,
                    figure_count(asked).text, figure_share(r->ok, asked).text,
                    figure_count(r->failed).text);
        put_failures(r, out);
        textbuf_put(out, ".");
    }
    put_end(r, out);
}

void
report_next(const report *r, textbuf *out)
{
    if (r->job[0] && (r->pending > 0 || r->is_unfinished))
        textbuf_put(out, "%s", job_hint("jobs resume", r->job, r->state).text);
    else if (r->job[0] && r->failed > 0)
        textbuf_put(out, "%s -o again.jsonl", job_hint("retry", r->job, r->state).text);
}
