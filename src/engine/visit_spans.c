/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/visit_spans.h"

#include <stdio.h>
#include <string.h>

#include "base/redact.h"
#include "base/time.h"

static void
draw(sn_rng *rng, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t bits = sn_rng_next(rng) | 1; /* an id that is all zero is none */

        memcpy(out + i, &bits, 8);
    }
}

void
sn_visit_tracer_ids(uint64_t seed, uint8_t *out, size_t n)
{
    sn_rng rng = sn_rng_seed(seed);

    draw(&rng, out, n);
}

void
sn_visit_tracer_init(sn_visit_tracer *t, seine_otlp *otlp, const uint8_t job[24],
                     uint64_t seed)
{
    *t = (sn_visit_tracer){.otlp = otlp, .rng = sn_rng_seed(seed)};
    memcpy(t->job, job, sizeof t->job);
}

/* A few of those that failed are kept whatever the share is. */
static bool
takes_failed(sn_visit_tracer *t, const sn_visit *v, seine_time now)
{
    if (v->fault.code == SEINE_OK || v->is_skip)
        return false;
    if (now - t->second >= SEINE_SECS(1)) {
        t->second = now;
        t->failed = 0;
    }
    return t->failed++ < sn_otlp_failed_rate(t->otlp);
}

static void
put_url(sn_span *s, const seine_url *url, const seine_secrets *secrets)
{
    char clean[256];
    size_t n = sn_redact_url(secrets, seine_url_href(url), clean, sizeof clean);

    sn_span_text(s, "url.full", (sn_str){clean, n < sizeof clean ? n : sizeof clean - 1});
}

/* The phases of the last attempt, one behind the other. */
static void
put_events(sn_span *s, const sn_end *end)
{
    static const struct {
        unsigned phase;
        const char *name;
    } rows[] = {{SEINE_PHASE_DNS, "dns"},
                {SEINE_PHASE_CONNECT, "connect"},
                {SEINE_PHASE_TLS, "tls"},
                {SEINE_PHASE_HEAD, "ttfb"}};
    int64_t at = s->start;
    size_t i = 0;

    for (unsigned p = SEINE_PHASE_DNS; p <= SEINE_PHASE_BODY; p++) {
        at += end->spent[p];
        while (i < 4 && rows[i].phase < p)
            i++;
        if (i < 4 && rows[i].phase == p && end->spent[p] > 0)
            sn_span_event(s, rows[i].name, at);
    }
}

typedef struct attempt {
    int64_t wall;
    seine_span took;
    uint16_t status;
    seine_err err;
    uint32_t n; /* 1, 2, … */
    bool is_last;
} attempt;

static void
tell_attempt(sn_visit_tracer *t, const sn_visit *v, const sn_span *visit,
             const attempt *a, const seine_secrets *secrets)
{
    char method[16];
    sn_span s;
    int port = seine_url_port(&v->url);

    snprintf(method, sizeof method, "%.*s", SN_FMT(v->method));
    sn_span_begin(&s, method, SN_SPAN_CLIENT, a->wall, a->wall + a->took);
    memcpy(s.trace, visit->trace, sizeof s.trace);
    memcpy(s.parent, visit->id, sizeof s.parent);
    draw(&t->rng, s.id, sizeof s.id);
    sn_span_text(&s, "http.request.method", v->method);
    put_url(&s, &v->url, secrets);
    sn_span_text(&s, "server.address", seine_url_host(&v->url));
    if (port > 0)
        sn_span_int(&s, "server.port", port);
    if (a->status > 0)
        sn_span_int(&s, "http.response.status_code", a->status);
    if (a->n > 1)
        sn_span_int(&s, "http.request.resend_count", a->n - 1);
    if (a->err != SEINE_OK)
        sn_span_text(&s, "error.type", sn_str_of(seine_err_name(a->err)));
    if (a->is_last && a->status > 0)
        sn_span_text(&s, "network.protocol.version", SN_STR("1.1"));
    s.error = a->err != SEINE_OK ? seine_err_name(a->err) : NULL;
    if (a->is_last)
        put_events(&s, &v->end);
    sn_otlp_put(t->otlp, &s);
}

static void
tell_attempts(sn_visit_tracer *t, const sn_visit *v, const sn_span *visit,
              const seine_secrets *secrets)
{
    attempt last = {v->started_wall, 0, v->end.fault.status, v->end.fault.code, 1, true};

    for (uint32_t i = 0; i < v->n_tries; i++) {
        const seine_record_try *y = &v->tries[i];
        attempt a = {y->wall, y->took, y->status, y->err, y->n, i + 1 == v->n_tries};

        tell_attempt(t, v, visit, &a, secrets);
    }
    for (unsigned p = 0; p <= SEINE_PHASE_BODY; p++)
        last.took = sn_time_add(last.took, v->end.spent[p]);
    if (v->n_tries == 0 && v->requests > 0)
        tell_attempt(t, v, visit, &last, secrets);
}

static void
tell_extract(sn_visit_tracer *t, const sn_span *visit, const sn_visit_extract *read)
{
    sn_span s;

    sn_span_begin(&s, "seine.extract", SN_SPAN_INTERNAL, read->wall,
                  read->wall + read->took);
    memcpy(s.trace, visit->trace, sizeof s.trace);
    memcpy(s.parent, visit->id, sizeof s.parent);
    draw(&t->rng, s.id, sizeof s.id);
    sn_span_int(&s, "seine.records", (int64_t)read->records);
    sn_span_int(&s, "seine.fields", (int64_t)read->fields);
    s.error = read->err != SEINE_OK ? seine_err_name(read->err) : NULL;
    sn_otlp_put(t->otlp, &s);
}

static const char *
outcome_of(const sn_visit *v)
{
    return v->is_skip ? "skipped" : v->fault.code == SEINE_OK ? "ok" : "failed";
}

void
sn_visit_tracer_tell(sn_visit_tracer *t, const sn_visit *v, const sn_visit_extract *read,
                     const seine_secrets *secrets, seine_time now, int64_t wall)
{
    uint8_t trace[16];
    sn_span s;

    if (!t->otlp)
        return;
    draw(&t->rng, trace, sizeof trace);
    if (!sn_otlp_samples(t->otlp, trace) && !takes_failed(t, v, now))
        return; /* as most: nothing else was done for it */
    sn_span_begin(&s, "seine.visit", SN_SPAN_INTERNAL, wall - v->life, wall);
    memcpy(s.trace, trace, sizeof s.trace);
    draw(&t->rng, s.id, sizeof s.id);
    memcpy(s.link, t->job, sizeof s.link);
    put_url(&s, v->first, secrets);
    sn_span_text(&s, "seine.outcome", sn_str_of(outcome_of(v)));
    sn_span_int(&s, "seine.attempts", v->requests);
    for (unsigned w = 0; w < SN_WAIT_COUNT; w++)
        if (v->waited[w] >= SEINE_MS(1)) {
            char key[64];

            snprintf(key, sizeof key, "seine.wait.%s_ms", seine_wait_name((seine_wait)w));
            sn_span_int(&s, key, v->waited[w] / SEINE_MS(1));
        }
    s.error =
        !v->is_skip && v->fault.code != SEINE_OK ? seine_err_name(v->fault.code) : NULL;
    tell_attempts(t, v, &s, secrets);
    if (read && read->wall > 0) {
        tell_extract(t, &s, read);
        s.end = read->wall + read->took > s.end ? read->wall + read->took : s.end;
    }
    sn_otlp_put(t->otlp, &s);
}

void
sn_visit_tracer_job(seine_otlp *otlp, const uint8_t job[24], int64_t start, int64_t end,
                    const seine_fetch_stats *stats, sn_str name)
{
    sn_span s;

    if (!otlp)
        return;
    sn_span_begin(&s, "seine.job", SN_SPAN_INTERNAL, start, end);
    memcpy(s.trace, job, 16);
    memcpy(s.id, job + 16, 8);
    if (name.len > 0)
        sn_span_text(&s, "seine.job", name);
    sn_span_int(&s, "seine.urls.ok", (int64_t)stats->ok);
    sn_span_int(&s, "seine.urls.failed", (int64_t)stats->failed);
    sn_span_int(&s, "seine.urls.blocked", (int64_t)stats->blocked);
    sn_span_int(&s, "seine.requests", (int64_t)stats->requests);
    sn_otlp_put(otlp, &s);
}
