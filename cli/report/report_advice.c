/* SPDX-License-Identifier: Apache-2.0 */
/* The one setting that would help most. The timeline of a run knows best what held it
 * back; without one the largest part of the time of all URLs decides. */
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "screen/closing.h"

static const struct {
    const char *text, *setting;
} of_parts[PARTS] = {
    [PART_QUEUE] = {"URLs stood behind others of their host.",
                    "a higher --per-host, or a higher --concurrency"},
    [PART_BACKOFF] = {"URLs waited to be tried again after failures.",
                      "fewer --retries, or a shorter --backoff"},
    [PART_RETRY_BUDGET] = {"Retries were held back so that they do not make "
                           "trouble worse.",
                           "a larger --retry-budget, or fewer --retries"},
    [PART_DNS] = {"Names took longer to look up than pages to fetch.",
                  "--dns ADDR, a resolver that is nearer"},
    [PART_CONNECT] = {"Connecting took longer than fetching: the hosts are far away, "
                      "or do not keep connections open.",
                      "a lower --connect-timeout, if many hosts are dead"},
    [PART_TLS] = {"Agreeing on TLS took longer than fetching: the hosts do not keep "
                  "connections open.",
                  "a lower --per-host, so that connections are used again"},
    [PART_TTFB] = {"The servers were the limit: they took this long to answer.",
                   "a higher --per-host, as far as the servers bear it"},
    [PART_BODY] = {"The bodies were the limit: bytes took this long to come.",
                   "--accept-type or --exclude, for what is not needed"},
    [PART_EARLIER] = {"Attempts that failed, and redirects, took most of the time.",
                      "a lower --timeout, or fewer --retries"},
    [PART_OTHER] = {"Most of the time is not told apart: the records have no phases, or "
                    "this machine was busy.",
                    "records of .jsonl, or a machine with less to do"},
};

/* The machine itself: records cannot tell. */
static const struct {
    const char *text, *setting;
} of_limits[SEINE_LIMIT_ROOM] = {
    [SEINE_LIMIT_PAUSED] = {"The run was paused.", ""},
    [SEINE_LIMIT_OUTPUT] = {"Writing the outputs was the limit.",
                            "an output on a faster disk, or fewer of them"},
    [SEINE_LIMIT_MEMORY] = {"Memory was the limit.",
                            "a larger --max-memory, or a lower --concurrency"},
    [SEINE_LIMIT_CPU] = {"This machine was the limit: its threads were always busy.",
                         "more --threads, as many as it has processors"},
    [SEINE_LIMIT_CONCURRENCY] = {"All requests that may be in flight at once were in "
                                 "flight.",
                                 "a higher --concurrency"},
    [SEINE_LIMIT_RATE] = {"--rate was the limit.", "a higher --rate"},
    [SEINE_LIMIT_BREAKER] = {"Hosts that kept failing were left alone: their breakers "
                             "were open.",
                             "the same command when they are back, or fewer --retries"},
};

/* What held the busiest host back, as the summary says; QUEUE: not known. */
static seine_wait
limit_of(const report *r)
{
    const seine_json *list = r->summary ? seine_json_get(r->summary, "top_hosts") : NULL;
    const char *text;
    size_t n;

    if (!seine_json_string(seine_json_get(seine_json_at(list, 0), "limited_by"), &text,
                           &n))
        return SEINE_WAIT_QUEUE;
    for (int i = 0; i < SEINE_WAIT_ROOM; i++) {
        const char *name = seine_wait_name((seine_wait)i);
        size_t k = 0;

        while (name && k < n && name[k] &&
               (name[k] == text[k] || (name[k] == '_' && text[k] == '-')))
            k++;
        if (name && k == n && !name[k])
            return (seine_wait)i;
    }
    return SEINE_WAIT_QUEUE;
}

static void
advise_throttle(const report *r, report_advice *out)
{
    seine_wait why = limit_of(r);
    brake b = closing_brake(why);

    if (why == SEINE_WAIT_QUEUE || !b.name)
        b = closing_brake(SEINE_WAIT_HOST_RATE);
    snprintf(out->setting, sizeof out->setting, "%s", b.hint ? b.hint : "");
    if (b.hint)
        snprintf(out->text, sizeof out->text, "%s was the limit.", b.name);
    else
        snprintf(out->text, sizeof out->text,
                 "%s was the limit, and no setting is polite enough to change it.",
                 b.name);
}

/* The limit that held for at least half of the time. */
static seine_limit
main_limit(const report *r)
{
    for (int i = 1; i < SEINE_LIMIT_ROOM; i++)
        if (report_load_limit(&r->load, (seine_limit)i) >= 0.5)
            return (seine_limit)i;
    return SEINE_LIMIT_NOTHING;
}

static void
say(report_advice *out, const char *text, const char *setting)
{
    snprintf(out->text, sizeof out->text, "%s", text);
    snprintf(out->setting, sizeof out->setting, "%s", setting);
}

/* False: the timeline does not tell. */
static bool
advise_by_limit(const report *r, report_advice *out)
{
    seine_limit l = main_limit(r);

    if (of_limits[l].text)
        say(out, of_limits[l].text, of_limits[l].setting);
    else if (l == SEINE_LIMIT_POLITENESS)
        advise_throttle(r, out);
    else if (l == SEINE_LIMIT_BACKOFF)
        say(out, of_parts[PART_BACKOFF].text, of_parts[PART_BACKOFF].setting);
    else if (l == SEINE_LIMIT_PER_HOST)
        say(out, of_parts[PART_QUEUE].text, of_parts[PART_QUEUE].setting);
    else
        return false;
    snprintf(out->head, sizeof out->head, "%.0f %% of the run: %s",
             100 * report_load_limit(&r->load, l), seine_limit_name(l));
    return true;
}

report_advice
report_advise(const report *r)
{
    report_advice out = {.part = PART_QUEUE};
    seine_span all = report_spent(r);

    for (int i = 1; i < PARTS; i++)
        if (r->parts[i] > r->parts[out.part])
            out.part = (report_part)i;
    if (all <= 0 || r->latency.n < 2)
        return out;
    out.share = (double)r->parts[out.part] / (double)all;
    if (advise_by_limit(r, &out))
        return out;
    snprintf(out.head, sizeof out.head, "%.0f %% %s", 100 * out.share,
             report_part_name(out.part));
    if (out.part == PART_THROTTLE)
        advise_throttle(r, &out);
    else
        say(&out, of_parts[out.part].text, of_parts[out.part].setting);
    return out;
}
