/* SPDX-License-Identifier: Apache-2.0 */
#include "console/run_live.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/json_out.h"
#include "console/run_table.h"

#define SECOND    SEINE_SECS(1)
#define MINUTE    SEINE_SECS(60)
#define SHORTEST  SEINE_MS(10) /* run that has a rate */
#define HOSTS_OLD SEINE_SECS(5)

enum { MOST_SHARDS = SEINE_LIMITED_SHARDS };

seine_err
sn_run_live_new(sn_console_run *r, sn_run_live **out_live)
{
    sn_run_live *l = sn_zalloc(sizeof *l);

    if (!l)
        return SEINE_E_NOMEM;
    l->run = r;
    seine_limited_init(&l->limited);
    seine_eta_init(&l->eta, r->console->loop.now);
    *out_live = l;
    return SEINE_OK;
}

void
sn_run_live_free(sn_run_live *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < SN_LIVE_LINES; i++)
        sn_free(l->lines[i]);
    sn_shard_ping_drop(l->ping);
    sn_run_hosts_fini(&l->hosts);
    sn_free(l->last);
    sn_free(l->event_at);
    sn_free(l);
}

/* A fetch has new counters: figures go on from those of the one before. */
void
sn_run_live_begin(sn_run_live *l)
{
    seine_fetch *f = sn_run_pin(l->run);
    seine_time now = l->run->console->loop.now;

    if (!f)
        return;
    sn_free(l->last);
    sn_free(l->event_at);
    l->shards = sn_fetch_shards(f);
    if (l->shards > MOST_SHARDS)
        l->shards = MOST_SHARDS;
    l->last = sn_calloc(l->shards, sizeof *l->last);
    l->event_at = sn_calloc(l->shards, sizeof *l->event_at);
    l->is_watching = l->last && l->event_at && sn_fetch_watch(f) == SEINE_OK;
    sn_run_unpin(l->run);
    memset(&l->now, 0, sizeof l->now);
    memset(&l->second, 0, sizeof l->second);
    memset(l->back, 0, sizeof l->back);
    l->back_n = l->back_at = 0;
    l->second_at = now;
    l->before_at = 0;
    if (l->minute_at == 0)
        l->minute_at = now;
    seine_eta_init(&l->eta, now);
    sn_run_hosts_fini(&l->hosts);
}

/* Log */

static void
put_stamp(sn_buf *b, int64_t wall_ms)
{
    sn_json_out_time(b, "@timestamp", wall_ms);
}

static void
keep_line(sn_run_live *l, sn_buf *b)
{
    char **place = &l->lines[l->n_lines % SN_LIVE_LINES];

    if (sn_buf_done(b) == SEINE_OK) {
        char *copy = sn_run_copy(b->ptr, b->len);

        if (copy) {
            sn_free(*place);
            *place = copy;
            l->n_lines++;
        }
    }
    sn_buf_fini(b);
}

static void
begin_line(sn_run_live *l, sn_buf *b, int64_t wall_ms, const char *level,
           const char *event, const char *message)
{
    sn_buf_init(b, SN_LIVE_LINE);
    sn_buf_char(b, '{');
    put_stamp(b, wall_ms);
    sn_json_out_text(b, "log.level", level);
    sn_json_out_text(b, "message", message);
    sn_json_out_text(b, "event.name", event);
    sn_json_out_text(b, "seine.run", l->run->meta.id);
}

void
sn_run_live_log(sn_run_live *l, const char *level, const char *event, const char *message,
                const char *detail)
{
    sn_buf b;

    begin_line(l, &b, sn_console_wall_ms(l->run->console), level, event, message);
    if (detail && detail[0])
        sn_json_out_text(&b, "error.message", detail);
    sn_buf_char(&b, '}');
    keep_line(l, &b);
}

static void
log_event(sn_run_live *l, const sn_watched *e)
{
    const char *level =
        strcmp(e->name, "breaker.open") == 0 || strcmp(e->name, "host.parked") == 0
            ? "warn"
            : "info";
    sn_buf b;

    begin_line(l, &b, e->wall / SEINE_MS(1), level, e->name, e->name);
    sn_json_out_text(&b, "seine.host", e->host);
    if (e->code != SEINE_OK)
        sn_json_out_text(&b, "error.type", seine_err_name((seine_err)e->code));
    if (e->text[0])
        sn_json_out_text(&b, "seine.detail", e->text);
    sn_buf_char(&b, '}');
    keep_line(l, &b);
}

static void
log_failure(sn_run_live *l, const sn_watched *e)
{
    sn_buf b;

    begin_line(l, &b, e->wall / SEINE_MS(1), "warn", "fetch.failed",
               seine_err_text((seine_err)e->code));
    sn_json_out_text(&b, "url.full", e->text);
    sn_json_out_text(&b, "error.type", seine_err_name((seine_err)e->code));
    if (e->status > 0)
        sn_json_out_int(&b, "http.response.status_code", e->status);
    if (e->attempts > 1)
        sn_json_out_int(&b, "http.request.resend_count", e->attempts - 1);
    sn_buf_char(&b, '}');
    keep_line(l, &b);
}

/* Groups */

static void
count_failure(sn_run_live *l, const sn_watched *e)
{
    int64_t ms = e->wall / SEINE_MS(1);
    sn_run_error *g = NULL;

    for (size_t i = 0; i < l->n_errors && !g; i++)
        if (l->errors[i].code == e->code && strcmp(l->errors[i].host, e->host) == 0)
            g = &l->errors[i];
    if (!g && l->n_errors < SN_LIVE_ERRORS) {
        g = &l->errors[l->n_errors++];
        *g = (sn_run_error){.code = e->code, .first = ms};
        memcpy(g->host, e->host, sizeof g->host);
        memcpy(g->url, e->text, sizeof g->url);
    }
    if (!g) {
        l->other_errors++;
        return;
    }
    g->count++;
    g->attempts += e->attempts;
    g->last = ms;
}

static void
count_skip(sn_run_live *l, const sn_watched *e)
{
    const char *rule = strchr(e->text, ' ');
    size_t n = rule ? (size_t)(rule - e->text) : strlen(e->text);
    sn_run_skip *g = NULL;

    rule = rule ? rule + 1 : "";
    for (size_t i = 0; i < l->n_skips && !g; i++)
        if (l->skips[i].reason == e->code &&
            strncmp(l->skips[i].rule, rule, sizeof l->skips[i].rule - 1) == 0)
            g = &l->skips[i];
    for (size_t i = 0; i < l->n_skips && !g && l->n_skips == SN_LIVE_SKIPS; i++)
        if (l->skips[i].reason == e->code) /* rules beyond those that have a place */
            g = &l->skips[i];
    if (!g && l->n_skips < SN_LIVE_SKIPS) {
        g = &l->skips[l->n_skips++];
        *g = (sn_run_skip){.reason = e->code};
        snprintf(g->rule, sizeof g->rule, "%s", rule);
    }
    if (!g)
        return;
    g->count++;
    if (g->n_urls < SN_LIVE_SAMPLES)
        snprintf(g->urls[g->n_urls++], sizeof g->urls[0], "%.*s", (int)n, e->text);
}

static void
read_events(sn_run_live *l, seine_fetch *f)
{
    sn_watched e;
    unsigned logged = 0;
    uint64_t before = l->lost;

    for (uint32_t i = 0; i < l->shards; i++)
        for (unsigned n = 0; n < SN_EVENT_RING_SLOTS &&
                             sn_fetch_event(f, i, &l->event_at[i], &e, &l->lost);
             n++)
            switch (e.kind) {
            case SN_WATCHED_FAILURE:
                count_failure(l, &e);
                if (logged++ < 25) /* a flood leaves room for other lines */
                    log_failure(l, &e);
                break;
            case SN_WATCHED_SKIP:
                count_skip(l, &e);
                break;
            default:
                log_event(l, &e);
            }
    seine_counter_add(sn_runs_of(l->run->console)->events_lost, 0, l->lost - before);
}

/* Hosts */

/* A fetch that has ended answers no more. */
const sn_run_look *
sn_run_live_want_hosts(sn_run_live *l, const seine_fetch_look *look)
{
    if (!l->is_watching) {
        const sn_run_look *old = sn_run_hosts_find(&l->hosts, look);

        return old ? old : sn_run_hosts_find(&l->hosts, NULL);
    }
    return sn_run_hosts_want(&l->hosts, look, l->run->console->loop.now);
}

/* What the verdict is made of; NULL: nobody has looked for a while. */
static const sn_run_look *
hosts_of_verdict(const sn_run_live *l, seine_time now)
{
    const sn_run_look *look = sn_run_hosts_find(&l->hosts, NULL);

    return look && now - look->at <= HOSTS_OLD ? look : NULL;
}

/* Do the shards turn? */

static void
ping_shards(sn_run_live *l, seine_fetch *f, seine_time now)
{
    if (l->ping && sn_shard_ping_missing(l->ping) == 0) {
        sn_shard_ping_drop(l->ping);
        l->ping = NULL;
    }
    if (l->ping || now - l->pinged < SECOND)
        return;
    if (sn_shard_ping_send(f, &l->ping) == SEINE_OK)
        l->pinged = now;
}

/* A fetch that has nothing left to do turns no more. */
seine_time
sn_run_live_asked(const sn_run_live *l)
{
    const seine_fetch_stats *s = &l->now.stats;

    return l->ping && l->is_watching && s->in_flight + s->waiting > 0 ? l->pinged : 0;
}

/* Figures */

static void
read_snapshots(sn_run_live *l, seine_fetch *f)
{
    sn_run_totals *t = &l->now;

    memset(t, 0, sizeof *t);
    seine_fetch_stats_get(f, &t->stats);
    t->rows = atomic_load(&l->run->rows);
    for (uint32_t i = 0; i < l->shards; i++) {
        sn_snapshot *s = &l->last[i];

        (void)sn_fetch_snapshot(f, i, s->seq, s);
        for (int k = 0; k < 6; k++)
            t->attempts[k] += s->attempts[k];
        for (int k = 0; k < SN_SNAPSHOT_BINS; k++)
            t->latency[k] += s->latency[k];
    }
}

/* Where a reason to wait stands in a frame: ready slot limiter rate breaker backoff
 * robots paused parked. */
static unsigned
place_of(int wait)
{
    switch (wait) {
    case SEINE_WAIT_CONCURRENCY:
    case SEINE_WAIT_OUTPUT:
        return 0;
    case SEINE_WAIT_QUEUE:
    case SEINE_WAIT_ADDRESS:
        return 1;
    case SEINE_WAIT_RATE:
        return 3;
    case SEINE_WAIT_BREAKER:
        return 4;
    case SEINE_WAIT_BACKOFF:
    case SEINE_WAIT_RETRY_BUDGET:
        return 5;
    default:
        return 2;
    }
}

static uint64_t
robots_of(const sn_run_live *l)
{
    const sn_run_look *hosts = hosts_of_verdict(l, l->run->console->loop.now);
    uint64_t sum = 0;

    for (size_t i = 0; hosts && i < hosts->n; i++)
        if (hosts->rows[i].wait.is_robots)
            sum += hosts->rows[i].wait.waiting;
    return sum;
}

static void
put_waits(const sn_run_live *l, sn_run_point *p)
{
    const seine_fetch_stats *s = &l->now.stats;
    bool is_paused = l->run->meta.state == SN_RUN_PAUSED;
    uint64_t robots = robots_of(l);

    memset(p->waiting, 0, sizeof p->waiting);
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        p->waiting[is_paused ? 7 : place_of(i)] += (uint32_t)s->waiting_for[i];
    if (!is_paused && robots > 0) {
        p->waiting[6] = (uint32_t)robots;
        p->waiting[1] -= p->waiting[1] < robots ? p->waiting[1] : (uint32_t)robots;
    }
}

static float
rate_of(uint64_t after, uint64_t before, double seconds)
{
    return after > before && seconds > 0 ? (float)((double)(after - before) / seconds)
                                         : 0;
}

static void
put_percentiles(sn_run_live *l, sn_run_point *p)
{
    static const unsigned percents[4] = {50, 90, 95, 99};
    static const uint64_t none[SN_SNAPSHOT_BINS];
    const uint64_t *before = l->back_n < SN_LIVE_BACK ? none : l->back[l->back_at];

    for (int i = 0; i < 4; i++) {
        seine_span span = sn_snapshot_percentile(before, l->now.latency, percents[i]);

        p->p[i] = span > 0 ? (float)((double)span / 1e6) : -1;
    }
}

static void
make_point(sn_run_live *l, double seconds, sn_run_point *p)
{
    const sn_run_totals *a = &l->now, *b = &l->second;
    uint64_t slots = 0;

    memset(p, 0, sizeof *p);
    p->at = sn_console_wall_ms(l->run->console);
    for (int i = 0; i < 6; i++) /* a frame has them last */
        p->cls[i == 0 ? 5 : i - 1] = rate_of(a->attempts[i], b->attempts[i], seconds);
    p->rps = rate_of(a->stats.requests, b->stats.requests, seconds);
    p->bps = rate_of(a->stats.bytes_in, b->stats.bytes_in, seconds);
    p->dps = rate_of(a->stats.bytes_body, b->stats.bytes_body, seconds);
    p->records = rate_of(a->stats.done + a->stats.refused + a->rows,
                         b->stats.done + b->stats.refused + b->rows, seconds);
    for (uint32_t i = 0; i < l->shards; i++)
        slots = l->last[i].slots > slots ? l->last[i].slots : slots;
    p->slots = (uint32_t)slots;
    p->in_flight = (uint32_t)a->stats.in_flight;
    put_waits(l, p);
    put_percentiles(l, p);
}

/* Adds a second to the minute, which is the mean of its seconds. */
static void
join_minute(sn_run_live *l, const sn_run_point *p)
{
    sn_run_point *m = &l->minute;
    float n = (float)l->in_minute, of = n + 1;

    if (l->in_minute == 0) {
        *m = (sn_run_point){.p = {-1, -1, -1, -1}};
        l->minute_in_flight = 0;
    }
    m->at = p->at;
    m->rps = (m->rps * n + p->rps) / of;
    m->bps = (m->bps * n + p->bps) / of;
    m->dps = (m->dps * n + p->dps) / of;
    m->records = (m->records * n + p->records) / of;
    for (int i = 0; i < 6; i++)
        m->cls[i] = (m->cls[i] * n + p->cls[i]) / of;
    for (int i = 0; i < 4; i++) /* the worst of its seconds, as the slow ones count */
        m->p[i] = p->p[i] > m->p[i] ? p->p[i] : m->p[i];
    l->minute_in_flight += p->in_flight;
    m->in_flight =
        (uint32_t)((l->minute_in_flight + l->in_minute / 2) / (l->in_minute + 1));
    m->slots = p->slots;
    memcpy(m->waiting, p->waiting, sizeof m->waiting);
    l->in_minute++;
}

static void
end_minute(sn_run_live *l, seine_time now)
{
    if (l->in_minute == 0)
        return;
    l->minutes[l->at_minute] = l->minute;
    l->at_minute = (l->at_minute + 1) % SN_LIVE_MINUTES;
    if (l->n_minutes < SN_LIVE_MINUTES)
        l->n_minutes++;
    l->in_minute = 0;
    l->minute_at = now;
}

void
sn_run_live_second(sn_run_live *l, seine_time now)
{
    make_point(l, (double)(now - l->second_at) / 1e9, &l->newest);
    l->seconds[l->at_second] = l->newest;
    l->at_second = (l->at_second + 1) % SN_LIVE_SECONDS;
    if (l->n_seconds < SN_LIVE_SECONDS)
        l->n_seconds++;
    memcpy(l->back[l->back_at], l->now.latency, sizeof l->back[0]);
    l->back_at = (l->back_at + 1) % SN_LIVE_BACK;
    if (l->back_n < SN_LIVE_BACK)
        l->back_n++;
    join_minute(l, &l->newest);
    if (now - l->minute_at >= MINUTE)
        end_minute(l, now);
    l->before = l->second;
    l->before_at = l->second_at;
    l->second = l->now;
    l->second_at = now;
}

/* Counts are up to 250 ms old when a second ends, so what came since then would make a
 * spike of a few milliseconds: the point before is made anew, up to the end. */
static void
end_last_second(sn_run_live *l, seine_time now)
{
    if (now - l->second_at < SECOND && l->before_at > 0 && l->n_seconds > 0) {
        l->second = l->before;
        l->second_at = l->before_at;
        l->at_second = (l->at_second + SN_LIVE_SECONDS - 1) % SN_LIVE_SECONDS;
        l->n_seconds--;
    }
    if (now < l->second_at + SHORTEST)
        now = l->second_at + SHORTEST;
    sn_run_live_second(l, now);
}

/* The verdict */

/* "e.org 5/s, a.example 1/s", of the first three that wait for it. */
static uint64_t
name_hosts(const sn_run_live *l, int code, char *top, size_t cap, seine_time *out_next)
{
    const sn_run_look *hosts = hosts_of_verdict(l, l->run->console->loop.now);
    uint64_t n = 0;
    size_t len = 0;

    top[0] = '\0';
    *out_next = 0;
    for (size_t i = 0; hosts && i < hosts->n; i++) {
        const seine_fetch_wait *w = &hosts->rows[i].wait;
        bool is = code == SEINE_LIMIT_ROBOTS    ? w->is_robots
                  : code == SEINE_LIMIT_BREAKER ? w->breaker != SEINE_BREAKER_CLOSED
                                                : w->is_held && w->waiting > 0;

        if (!is)
            continue;
        if (w->until > 0 && (*out_next == 0 || w->until < *out_next))
            *out_next = w->until;
        if (n++ < 3 && len + 40 < cap) {
            int put = snprintf(top + len, cap - len, "%s%.60s", len ? ", " : "", w->host);

            len += put > 0 && (size_t)put < cap - len ? (size_t)put : 0;
            if (w->every > 0) {
                put = snprintf(top + len, cap - len, " %.3g/s", 1e9 / (double)w->every);
                len += put > 0 && (size_t)put < cap - len ? (size_t)put : 0;
            }
        }
    }
    return n;
}

static void
write_verdict(sn_run_live *l, seine_time now)
{
    char top[280];
    seine_time next = 0;
    seine_limited_facts f = {.slots = l->newest.slots,
                             .in_flight = l->now.stats.in_flight,
                             .sink = "the records",
                             .top = top};

    seine_limited_get(&l->limited, &l->verdict);
    f.hosts = name_hosts(l, l->verdict.code, top, sizeof top, &next);
    f.next = next > now ? next - now : 0;
    if (l->shards > 0) {
        f.memory_used = l->last[0].memory_used;
        f.memory_cap = l->last[0].memory_cap;
        f.slots = l->last[0].slots;
    }
    if (l->run->meta.rate[0])
        f.rate = l->run->meta.rate;
    seine_limited_text(&l->verdict, &f, l->verdict_text, sizeof l->verdict_text);
}

static void
judge(sn_run_live *l, seine_time now)
{
    sn_run_state state = l->run->meta.state;
    seine_limited_look k = {.at = now,
                            .is_paused = state == SN_RUN_PAUSED,
                            .is_stopping = state == SN_RUN_STOPPING,
                            .is_finished = state > SN_RUN_STOPPING,
                            .in_flight = l->now.stats.in_flight,
                            .robots = robots_of(l),
                            .shards = l->shards};

    memcpy(k.waiting, l->now.stats.waiting_for, sizeof k.waiting);
    for (uint32_t i = 0; i < l->shards; i++) {
        const sn_snapshot *s = &l->last[i];

        k.slots = s->slots > k.slots ? s->slots : k.slots;
        k.sink_full_ns += s->sink_full_ns;
        k.busy_ns[i] = s->busy_ns;
        k.memory_used = s->memory_used;
        k.memory_cap = s->memory_cap;
    }
    seine_limited_add(&l->limited, &k);
    write_verdict(l, now);
}

void
sn_run_live_look(sn_run_live *l, seine_time now)
{
    seine_fetch *f = l->is_watching ? sn_run_pin(l->run) : NULL;

    if (!f)
        return;
    read_snapshots(l, f);
    read_events(l, f);
    sn_run_hosts_ask(&l->hosts, f, now);
    ping_shards(l, f, now);
    sn_run_unpin(l->run);
    seine_eta_add(&l->eta, now, l->now.stats.done, l->now.stats.admitted);
    judge(l, now);
    if (now - l->second_at >= SECOND)
        sn_run_live_second(l, now);
}

/* The last look was a moment ago: the end of the fetch has told its counts. */
void
sn_run_live_end(sn_run_live *l)
{
    seine_time now = l->run->console->loop.now;

    l->is_watching = false;
    sn_shard_ping_drop(l->ping);
    l->ping = NULL;
    l->now.stats = l->run->meta.last;
    l->now.rows = l->run->meta.rows;
    l->now.stats.in_flight = 0;
    memset(l->now.stats.waiting_for, 0, sizeof l->now.stats.waiting_for);
    end_last_second(l, now);
    end_minute(l, now);
    judge(l, now);
    l->newest.rps = l->newest.bps = l->newest.dps = l->newest.records = 0;
}

seine_err
sn_run_live_save(const sn_run_live *l)
{
    char path[1200];
    sn_buf b;

    if (l->run->is_guest)
        return SEINE_OK;
    if (!sn_run_path(l->run, "series.json", path, sizeof path))
        return SEINE_E_RANGE;
    sn_buf_init(&b, 4 << 20);
    sn_buf_char(&b, '{');
    sn_run_frame_series(l, &b, SN_LIVE_SECONDS);
    sn_buf_text(&b, "}\n");
    seine_err e = sn_buf_done(&b);
    if (e == SEINE_OK && !seine_file_replace(path, b.ptr, b.len))
        e = errno == ENOSPC ? SEINE_E_DISK_FULL : SEINE_E_IO;
    sn_buf_fini(&b);
    return e;
}
