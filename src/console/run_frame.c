/* SPDX-License-Identifier: Apache-2.0 */
/* What runs show, as members of JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "console/json_out.h"
#include "console/run_live.h"

static const char *const waits[SN_LIVE_WAITS] = {"ready",  "slot",    "limiter",
                                                 "rate",   "breaker", "backoff",
                                                 "robots", "paused",  "parked"};

/* One decimal is enough for a chart, and half as long. */
static void
put_number(sn_buf *b, double v)
{
    if (!(v >= 0) || v > 1e15)
        sn_buf_text(b, "null");
    else if (v >= 100 || v == floor(v))
        sn_buf_printf(b, "%.0f", v);
    else
        sn_buf_printf(b, "%.1f", v);
}

static void
put_member(sn_buf *b, const char *name, double v)
{
    sn_json_out_name(b, name);
    put_number(b, v);
}

static void
put_list(sn_buf *b, const char *name, const float *list, int n)
{
    sn_json_out_name(b, name);
    sn_buf_char(b, '[');
    for (int i = 0; i < n; i++) {
        if (i > 0)
            sn_buf_char(b, ',');
        put_number(b, (double)list[i]);
    }
    sn_buf_char(b, ']');
}

/* Reasons for which nothing waits are left out. */
static void
put_waits(sn_buf *b, const uint32_t waiting[SN_LIVE_WAITS])
{
    sn_json_out_name(b, "waiting");
    sn_buf_char(b, '{');
    for (int i = 0; i < SN_LIVE_WAITS; i++)
        if (waiting[i] > 0)
            sn_json_out_int(b, waits[i], waiting[i]);
    sn_buf_char(b, '}');
}

static void
put_point(sn_buf *b, const sn_run_point *p)
{
    sn_buf_char(b, '{');
    sn_json_out_int(b, "at", p->at);
    put_member(b, "rps", (double)p->rps);
    put_member(b, "bps", (double)p->bps);
    put_member(b, "dps", (double)p->dps);
    put_member(b, "records_s", (double)p->records);
    put_list(b, "p", p->p, 4);
    put_list(b, "cls", p->cls, 6);
    sn_json_out_int(b, "in_flight", p->in_flight);
    sn_json_out_int(b, "slots", p->slots);
    put_waits(b, p->waiting);
    sn_buf_char(b, '}');
}

static void
put_ring(sn_buf *b, const char *name, const sn_run_point *ring, unsigned size,
         unsigned at, unsigned n)
{
    sn_json_out_name(b, name);
    sn_buf_char(b, '[');
    for (unsigned i = 0; i < n; i++) {
        sn_json_out_next(b);
        put_point(b, &ring[(at + size - n + i) % size]);
    }
    sn_buf_char(b, ']');
}

void
sn_run_frame_series(const sn_run_live *l, sn_buf *b, unsigned most)
{
    unsigned seconds = l->n_seconds < most ? l->n_seconds : most;

    put_ring(b, "seconds", l->seconds, SN_LIVE_SECONDS, l->at_second, seconds);
    put_ring(b, "minutes", l->minutes, SN_LIVE_MINUTES, l->at_minute, l->n_minutes);
}

static const seine_fetch_stats *
stats_of(const sn_console_run *r)
{
    return r->live && sn_run_is_live(r) ? &r->live->now.stats : &r->meta.last;
}

/* What the table of records has: URLs, skipped ones, and rows of a recipe. */
static uint64_t
records_of(const sn_console_run *r)
{
    const seine_fetch_stats *s = stats_of(r);

    return s->done + s->refused +
           (r->live && sn_run_is_live(r) ? r->live->now.rows : r->meta.rows);
}

static void
put_emitted(sn_buf *b, const seine_fetch_stats *s)
{
    sn_json_out_name(b, "emitted");
    sn_buf_char(b, '{');
    sn_json_out_int(b, "ok", (int64_t)s->ok);
    sn_json_out_int(b, "failed", (int64_t)s->failed);
    sn_json_out_int(b, "skipped", 0);
    sn_json_out_int(b, "blocked", (int64_t)s->blocked);
    sn_buf_char(b, '}');
}

static void
put_limited(sn_buf *b, const sn_console_run *r)
{
    const sn_run_live *l = r->live;

    sn_json_out_name(b, "limited");
    if (!l || !sn_run_is_live(r)) {
        sn_buf_text(b, "null");
        return;
    }
    int64_t since = l->verdict.since > 0
                        ? sn_console_wall_ms(r->console) -
                              (r->console->loop.now - l->verdict.since) / SEINE_MS(1)
                        : 0;
    sn_buf_char(b, '{');
    sn_json_out_text(b, "code", seine_limited_name(l->verdict.code));
    sn_json_out_text(b, "text", l->verdict_text);
    sn_json_out_int(b, "since", since);
    sn_buf_char(b, '}');
}

void
sn_run_frame_row(sn_console_run *r, sn_buf *b)
{
    const sn_run_meta *m = &r->meta;
    const seine_fetch_stats *s = stats_of(r);
    uint64_t done = s->ok + s->failed + s->blocked;

    sn_json_out_text(b, "id", m->id);
    sn_json_out_text(b, "doc", m->doc[0] ? m->doc : NULL);
    sn_json_out_text(b, "title", m->title);
    sn_json_out_int(b, "version", (int64_t)m->version);
    sn_json_out_text(b, "state", sn_run_state_name(m->state));
    sn_json_out_int(b, "started", m->started_ms);
    sn_json_out_text(b, "by", m->by);
    sn_json_out_int(b, "elapsed_ms", sn_run_elapsed(r) / SEINE_MS(1));
    put_emitted(b, s);
    put_member(b, "rps", r->live && sn_run_is_live(r) ? (double)r->live->newest.rps : 0);
    put_member(b, "ok_pct", done > 0 ? 100.0 * (double)s->ok / (double)done : -1);
    sn_json_out_int(b, "records", (int64_t)records_of(r));
    put_limited(b, r);
}

static void
put_eta(sn_buf *b, sn_run_live *l)
{
    seine_span low, high;
    const seine_fetch_stats *s = &l->now.stats;
    uint64_t left = s->admitted > s->done ? s->admitted - s->done : 0;

    sn_json_out_name(b, "eta");
    if (l->run->meta.state != SN_RUN_RUNNING || left == 0 ||
        !seine_eta_interval(&l->eta, l->run->console->loop.now,
                            seine_eta_grown(&l->eta, left), &low, &high) ||
        high > SEINE_SECS(99 * 3600))
        sn_buf_text(b, "null");
    else
        sn_buf_printf(b, "[%lld,%lld]", (long long)(low / SEINE_MS(1)),
                      (long long)(high / SEINE_MS(1)));
}

static void
put_now(sn_buf *b, sn_run_live *l)
{
    const sn_run_point *p = &l->newest;

    put_member(b, "rps", (double)p->rps);
    put_member(b, "bps", (double)p->bps);
    put_member(b, "dps", (double)p->dps);
    put_member(b, "records_s", (double)p->records);
    put_list(b, "p", p->p, 4);
    put_list(b, "cls", p->cls, 6);
    sn_json_out_int(b, "in_flight", (int64_t)l->now.stats.in_flight);
    sn_json_out_int(b, "slots", p->slots);
    put_waits(b, p->waiting);
    put_eta(b, l);
    uint64_t open = 0, probed = 0;
    for (uint32_t i = 0; i < l->shards; i++) {
        open += l->last[i].breakers_open;
        probed += l->last[i].breakers_probed;
    }
    sn_json_out_int(b, "hosts", (int64_t)l->now.stats.hosts);
    sn_json_out_int(b, "breakers_open", (int64_t)open);
    sn_json_out_int(b, "breakers_half_open", (int64_t)probed);
    sn_json_out_int(b, "lost", (int64_t)l->lost);
}

void
sn_run_frame_figures(sn_console_run *r, sn_buf *b)
{
    const sn_run_meta *m = &r->meta;
    const seine_fetch_stats *s = stats_of(r);

    sn_run_frame_row(r, b);
    sn_json_out_int(b, "seen", (int64_t)s->given);
    sn_json_out_int(b, "refused", (int64_t)s->refused);
    sn_json_out_int(b, "admitted", (int64_t)s->admitted);
    if (m->ended_ms > 0)
        sn_json_out_int(b, "ended", m->ended_ms);
    if (m->message[0])
        sn_json_out_text(b, "message", m->message);
    if (r->live)
        put_now(b, r->live);
}

/* Hosts */

const char *
sn_run_breaker_name(seine_breaker_state s)
{
    return s == SEINE_BREAKER_OPEN        ? "open"
           : s == SEINE_BREAKER_HALF_OPEN ? "half_open"
                                          : "closed";
}

void
sn_run_frame_host(const sn_run_live *l, const sn_host_row *row, sn_buf *b)
{
    const seine_fetch_wait *w = &row->wait;
    const seine_console *c = l->run->console;
    int64_t left = w->until > c->loop.now ? (w->until - c->loop.now) / SEINE_MS(1) : 0;
    uint64_t ended = w->ok + w->failed;
    bool is_backoff = w->why == SEINE_WAIT_BACKOFF || w->why == SEINE_WAIT_RETRY_AFTER;

    sn_json_out_text(b, "host", w->host);
    sn_json_out_int(b, "done", (int64_t)w->requests);
    sn_json_out_int(b, "in_flight", (int64_t)w->in_flight);
    sn_json_out_int(b, "waiting", (int64_t)w->waiting);
    put_member(b, "ok_pct", ended > 0 ? 100.0 * (double)w->ok / (double)ended : -1);
    put_member(b, "p95", w->p95 > 0 ? (double)w->p95 / 1e6 : -1);
    sn_json_out_text(b, "breaker", sn_run_breaker_name(w->breaker));
    if (w->breaker == SEINE_BREAKER_OPEN && left > 0)
        sn_json_out_int(b, "open_until", sn_console_wall_ms(c) + left);
    if (row->burst > 0) {
        sn_json_out_int(b, "tokens", row->tokens);
        sn_json_out_int(b, "burst", row->burst);
    }
    sn_json_out_int(b, "next_ms", w->is_held ? left : 0);
    if (is_backoff && left > 0)
        sn_json_out_int(b, "backoff_ms", left);
    sn_json_out_text(b, "robots", sn_robots_says_name((sn_robots_says)row->robots));
    sn_json_out_int(b, "delay_ms", w->delay / SEINE_MS(1));
    if (w->every > 0)
        put_member(b, "rate", 1e9 / (double)w->every);
    if (w->is_held)
        sn_json_out_text(b, "waits_for", seine_wait_name(w->why));
    if (w->is_parked)
        sn_json_out_bool(b, "parked", true);
    sn_json_out_text(b, "error", w->cause != SEINE_OK ? seine_err_name(w->cause) : "");
}

seine_fetch_sort
sn_run_frame_sort(sn_str column)
{
    return sn_str_eq(column, SN_STR("done"))        ? SEINE_SORT_REQUESTS
           : sn_str_eq(column, SN_STR("ok_pct"))    ? SEINE_SORT_FAILED
           : sn_str_eq(column, SN_STR("in_flight")) ? SEINE_SORT_IN_FLIGHT
           : sn_str_eq(column, SN_STR("p95"))       ? SEINE_SORT_SLOW
                                                    : SEINE_SORT_WAITING;
}

void
sn_run_frame_hosts(const sn_run_live *l, const sn_run_look *look, sn_buf *b)
{
    bool is_there = look && look->at > 0;
    int64_t age = is_there ? l->run->console->loop.now - look->at : 0;

    sn_json_out_int(b, "age_ms", age / SEINE_MS(1));
    sn_json_out_int(b, "total", (int64_t)l->now.stats.hosts);
    sn_json_out_name(b, "rows");
    sn_buf_char(b, '[');
    for (size_t i = 0; is_there && i < look->n; i++) {
        sn_json_out_next(b);
        sn_buf_char(b, '{');
        sn_run_frame_host(l, &look->rows[i], b);
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, ']');
    if (!is_there) /* the shards have been asked a moment ago */
        sn_json_out_bool(b, "pending", true);
}

/* Errors, skips, lines */

void
sn_run_frame_errors(const sn_run_live *l, sn_buf *b)
{
    sn_json_out_name(b, "groups");
    sn_buf_char(b, '[');
    for (size_t i = 0; i < l->n_errors; i++) {
        const sn_run_error *g = &l->errors[i];

        sn_json_out_next(b);
        sn_buf_char(b, '{');
        sn_json_out_text(b, "error", seine_err_name((seine_err)g->code));
        sn_json_out_text(b, "text", seine_err_text((seine_err)g->code));
        sn_json_out_text(b, "host", g->host);
        sn_json_out_int(b, "count", (int64_t)g->count);
        sn_json_out_int(b, "first", g->first);
        sn_json_out_int(b, "last", g->last);
        sn_json_out_int(b, "attempts", (int64_t)g->attempts);
        sn_json_out_text(b, "url", g->url);
        sn_buf_char(b, '}');
    }
    sn_buf_char(b, ']');
    if (l->other_errors > 0)
        sn_json_out_int(b, "others", (int64_t)l->other_errors);
}

void
sn_run_frame_skips(const sn_run_live *l, sn_buf *b)
{
    sn_json_out_name(b, "skips");
    sn_buf_char(b, '[');
    for (size_t i = 0; i < l->n_skips; i++) {
        const sn_run_skip *g = &l->skips[i];

        sn_json_out_next(b);
        sn_buf_char(b, '{');
        sn_json_out_text(b, "reason", seine_skip_name((seine_skip)g->reason));
        sn_json_out_int(b, "count", (int64_t)g->count);
        sn_json_out_text(b, "rule", g->rule);
        sn_json_out_name(b, "samples");
        sn_buf_char(b, '[');
        for (unsigned k = 0; k < g->n_urls; k++) {
            sn_json_out_next(b);
            sn_json_out_quoted(b, sn_str_of(g->urls[k]));
        }
        sn_buf_text(b, "]}");
    }
    sn_buf_char(b, ']');
}

void
sn_run_frame_lines(const sn_run_live *l, uint64_t *at, unsigned most, sn_buf *b,
                   uint64_t *out_lost)
{
    uint64_t oldest = l->n_lines > SN_LIVE_LINES ? l->n_lines - SN_LIVE_LINES : 0;

    *out_lost = 0;
    if (*at < oldest) {
        *out_lost = oldest - *at;
        *at = oldest;
    }
    sn_json_out_name(b, "lines");
    sn_buf_char(b, '[');
    for (unsigned i = 0; i < most && *at < l->n_lines; i++, ++*at) {
        sn_json_out_next(b);
        sn_buf_text(b, l->lines[*at % SN_LIVE_LINES]);
    }
    sn_buf_char(b, ']');
}
