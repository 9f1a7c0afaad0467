/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "seine/tally.h"
#include "store/text_writer.h"

/* Written twice: first to count, then into memory of that size. */

#define NUMBER(p, name, n)             \
    do {                               \
        SN_WRITE(p, ",\"" name "\":"); \
        sn_text_writer_u64(p, n);      \
    } while (0)

#define MS(p, before, span)         \
    do {                            \
        SN_WRITE(p, before);        \
        sn_text_writer_ms(p, span); \
    } while (0)

/* Writes "name":n unless n is 0; true if it wrote. */
static bool
put_count(sn_text_writer *p, bool any, const char *name, uint64_t n)
{
    if (n == 0)
        return any;
    if (any)
        SN_WRITE(p, ",");
    SN_WRITE(p, "\"");
    sn_text_writer_text(p, name);
    SN_WRITE(p, "\":");
    sn_text_writer_u64(p, n);
    return true;
}

static void
put_maps(sn_text_writer *p, const seine_tally_sums *s)
{
    bool any = false;

    SN_WRITE(p, ",\"outcomes\":{");
    for (unsigned i = 0; i < SEINE_FATE_ROOM; i++)
        any = put_count(p, any, seine_fate_name((seine_fate)i), s->fates[i]);
    SN_WRITE(p, "},\"statuses\":{");
    any = false;
    for (unsigned i = 100; i < 1000; i++) {
        char name[] = {(char)('0' + i / 100), (char)('0' + i / 10 % 10),
                       (char)('0' + i % 10), '\0'};

        any = put_count(p, any, name, s->statuses[i]);
    }
    SN_WRITE(p, "},\"errors\":{");
    any = false;
    for (unsigned i = 0; i < SEINE_ERR_ROOM; i++)
        any = put_count(p, any, seine_err_name((seine_err)i), s->errors[i]);
    SN_WRITE(p, "},\"skips\":{");
    any = false;
    for (unsigned i = 0; i < SEINE_SKIP_ROOM; i++)
        any = put_count(p, any, seine_skip_name((seine_skip)i), s->skips[i]);
    SN_WRITE(p, "}");
}

/* Writes what limited a host, as the option is spelled: "host-rate". */
static void
put_limit(sn_text_writer *p, seine_wait why)
{
    SN_WRITE(p, ",\"limited_by\":\"");
    for (const char *c = seine_wait_name(why); *c; c++)
        sn_text_writer_add(p, *c == '_' ? "-" : c, 1);
    SN_WRITE(p, "\"");
}

static void
put_host(sn_text_writer *p, const seine_fetch_host *h)
{
    SN_WRITE(p, "{\"host\":");
    sn_text_writer_quoted(p, h->host);
    NUMBER(p, "requests", h->requests);
    NUMBER(p, "ok", h->ok);
    NUMBER(p, "max_rps_1s", h->max_in_1s);
    if (h->min_gap != SEINE_NEVER)
        MS(p, ",\"min_gap_ms\":", h->min_gap);
    MS(p, ",\"p95\":", h->p95);
    NUMBER(p, "breaker_opens", h->breaker_opens);
    put_limit(p, h->limited_by);
    SN_WRITE(p, "}");
}

static void
put_hosts(sn_text_writer *p, const seine_tally_run *run)
{
    NUMBER(p, "hosts", run->stats ? run->stats->hosts : run->n_top);
    SN_WRITE(p, ",\"top_hosts\":[");
    for (size_t i = 0; i < run->n_top; i++) {
        if (i > 0)
            SN_WRITE(p, ",");
        put_host(p, &run->top[i]);
    }
    SN_WRITE(p, "]");
}

static void
put_counts(sn_text_writer *p, const seine_tally_sums *s, const seine_tally_run *run)
{
    char rate[32];

    NUMBER(p, "total", s->total + run->pending);
    NUMBER(p, "ok", s->ok);
    NUMBER(p, "success", s->ok);
    NUMBER(p, "failed", s->failed);
    NUMBER(p, "blocked", s->blocked);
    NUMBER(p, "skipped", s->skipped);
    NUMBER(p, "pending", run->pending);
    SN_WRITE(p, ",\"success_rate\":");
    sn_text_writer_add(p, rate, sn_json_decimal(s->success_rate, rate));
}

static void
put_traffic(sn_text_writer *p, const seine_tally_sums *s, const seine_tally_run *run)
{
    NUMBER(p, "duplicates", run->duplicates);
    NUMBER(p, "requests", run->stats ? run->stats->requests : s->attempts);
    NUMBER(p, "retries", run->stats ? run->stats->retries : s->retries);
    NUMBER(p, "bytes_in", run->stats ? run->stats->bytes_in : s->bytes_in);
    NUMBER(p, "bytes_body", run->stats ? run->stats->bytes_body : s->bytes_body);
    NUMBER(p, "wall_ms", run->wall > 0 ? (uint64_t)run->wall / 1000000 : 0);
    NUMBER(p, "total_duration_ms", s->total_duration_ms);
    NUMBER(p, "avg_duration_ms", s->avg_duration_ms);
    MS(p, ",\"latency_ms\":{\"p50\":", s->p50);
    MS(p, ",\"p90\":", s->p90);
    MS(p, ",\"p95\":", s->p95);
    MS(p, ",\"p99\":", s->p99);
    MS(p, ",\"max\":", s->max);
    MS(p, "},\"waits_ms\":{\"queue\":", s->queue);
    MS(p, ",\"throttle\":", s->throttle);
    MS(p, ",\"backoff\":", s->backoff);
    MS(p, ",\"retry_budget\":", s->retry_budget);
    SN_WRITE(p, "}");
}

static void
put_limits(sn_text_writer *p, const seine_tally_run *run)
{
    bool any = false;

    if (run->n_limits > 0)
        SN_WRITE(p, ",\"limits\":{");
    for (size_t i = 0; i < run->n_limits; i++)
        any = put_count(p, any, run->limits[i].name, run->limits[i].n);
    if (run->n_limits > 0)
        SN_WRITE(p, "}");
    if (!run->unread)
        return;
    SN_WRITE(p, ",\"stopped_at\":{\"input\":");
    sn_text_writer_quoted(p, sn_str_of(run->unread));
    NUMBER(p, "line", run->unread_line);
    SN_WRITE(p, "}");
}

static void
put_all(sn_text_writer *p, const seine_tally_sums *s, const seine_tally_run *run)
{
    SN_WRITE(p, "\"command\":");
    sn_text_writer_quoted(p, sn_str_of(run->command));
    put_counts(p, s, run);
    put_maps(p, s);
    put_limits(p, run);
    put_traffic(p, s, run);
    put_hosts(p, run);
    SN_WRITE(p, ",\"items\":{\"good\":0,\"bad\":0},\"expect\":[],\"stopped_by\":");
    sn_text_writer_quoted(p, sn_str_of(run->stopped_by));
    SN_WRITE(p, ",\"exit_code\":");
    sn_text_writer_i64(p, run->exit_code);
    if (run->resumable)
        SN_WRITE(p, ",\"resumable\":true");
    else
        SN_WRITE(p, ",\"resumable\":false");
}

seine_err
seine_tally_members(const seine_tally *t, const seine_tally_run *run,
                    seine_text *out_text)
{
    if (!t || !run || !out_text)
        return SEINE_E_INVAL;
    seine_tally_sums *sums SN_AUTOFREE = sn_alloc(sizeof *sums);
    sn_text_writer p = sn_text_writer_on(NULL, 0);

    if (!sums)
        return SEINE_E_NOMEM;
    seine_tally_sums_get(t, sums);
    put_all(&p, sums, run);

    size_t n = sn_text_writer_len(&p);
    char *text = sn_alloc(n + 1);
    if (!text)
        return SEINE_E_NOMEM;
    p = sn_text_writer_on(text, n);
    put_all(&p, sums, run);
    text[n] = '\0';
    *out_text = (seine_text){text, n};
    return SEINE_OK;
}
