/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/time.h"
#include "engine/admit.h"
#include "engine/ask_bytes.h"
#include "engine/frontier.h"
#include "engine/scope.h"
#include "store/job_page.h"
#include "store/timeline.h"

typedef struct sn_given {
    struct sn_given *next;
    sn_str url, input, ask;
    uint64_t number, line;
} sn_given;

enum { NAMED_MOST = 200 };

typedef struct scan {
    sn_fetch_job *into;
    sn_shared_state *shared;
    sn_run *const *runs;
    uint32_t n;
    seine_time now;
    int64_t wall_ms;
    bool has_told;  /* the waits of all records */
    uint32_t named; /* records that failed, with their URLs */
    sn_str host; /* of the URL before, and its shard: most follow one of their own host */
    sn_run *run;
    uint64_t parent_number; /* of the URL before, and its text */
    sn_str parent;
    char parent_memory[SEINE_URL_ROOM];
} scan;

void
sn_fetch_job_init(sn_fetch_job *p)
{
    *p = (sn_fetch_job){0};
    sn_arena_init(&p->memory, 4096, SIZE_MAX);
}

void
sn_fetch_job_fini(sn_fetch_job *p)
{
    sn_arena_wipe(&p->memory); /* logins, fields */
    sn_arena_fini(&p->memory);
}

/* Counts. */

/* The URL of a record that failed. The first of them have it, for who shows some. */
static sn_str
name_failure(scan *s, const sn_job_ended_row *row, char url[SEINE_URL_ROOM])
{
    url[0] = '\0';
    if (row->type != SEINE_RECORD_RESULT || row->kind == SEINE_OK ||
        s->named == NAMED_MOST)
        return (sn_str){0};
    s->named++;
    if (sn_job_url_text(s->shared->job, (int64_t)row->number, url, SEINE_URL_ROOM) !=
        SEINE_OK)
        return (sn_str){0}; /* the scan will say so */
    return sn_str_of(url);
}

/* As much of a record as the job keeps. The waits of all stand in the first result. */
static void
tell_earlier(scan *s, const sn_job_ended_row *row)
{
    const seine_fetch_opts *o = &s->shared->opts;
    seine_fault fault = SEINE_FAULT;
    char url[SEINE_URL_ROOM];
    seine_record r = {.type = row->type,
                      .wall = row->at_ms * SEINE_MS(1),
                      .number = row->number,
                      .fate = seine_fate_of(row->kind),
                      .fault = &fault,
                      .status = row->status,
                      .attempts = row->attempts,
                      .content_length = -1,
                      .bytes_in = row->bytes_in,
                      .bytes_body = row->bytes_body,
                      .ttfb = SEINE_US(row->latency_us),
                      .total = SEINE_US(row->total_us),
                      .reason = row->reason};
    sn_job_sums sums = {0};

    if (!o->on_earlier)
        return;
    fault.code = row->kind;
    fault.status = row->status;
    r.url = name_failure(s, row, url);
    if (row->print != 0)
        r.parent = SN_STR("-"); /* it was found, and nobody knows where */
    if (row->type == SEINE_RECORD_RESULT && !s->has_told) {
        s->has_told = true;
        sn_job_sums_get(s->shared->job, &sums);
        r.queue = SEINE_US(sums.queue_us);
        r.throttle = SEINE_US(sums.throttle_us);
        r.backoff = SEINE_US(sums.backoff_us);
        r.retry_budget = SEINE_US(sums.retry_budget_us);
    }
    o->on_earlier(&r, o->arg);
}

static seine_err
take_ended(const sn_job_ended_row *r, void *arg)
{
    scan *s = arg;
    seine_fetch_stats *b = &s->into->before;
    seine_fate fate = seine_fate_of(r->kind);

    tell_earlier(s, r);
    if (r->type == SEINE_RECORD_SKIP) {
        atomic_fetch_add(&s->shared->refused, 1);
        atomic_fetch_add(&s->shared->unwanted, r->reason == SEINE_SKIP_MIME);
        return SEINE_OK;
    }
    atomic_fetch_add(&s->shared->admitted, 1);
    atomic_fetch_add(&s->shared->bytes_body, r->bytes_body);
    b->done++;
    b->ok += fate == SEINE_FATE_OK;
    b->blocked += fate == SEINE_FATE_BLOCKED;
    b->failed += fate != SEINE_FATE_OK && fate != SEINE_FATE_BLOCKED;
    b->requests += r->attempts;
    b->retries += r->attempts > 0 ? r->attempts - 1 : 0;
    b->bytes_in += r->bytes_in;
    b->bytes_body += r->bytes_body;
    return SEINE_OK;
}

/* Counts of the job are no older than a group, records and attempts of URLs that have
 * none yet are exact: whichever is more. */
static void
raise_counts(const scan *s)
{
    seine_fetch_stats *b = &s->into->before;
    sn_job_counts n;

    sn_job_counts_get(s->shared->job, &n);
#define X(column) b->column = b->column > n.column ? b->column : n.column;
    SN_JOB_COUNTS(X)
#undef X
    atomic_store(&s->shared->sitemap_bytes, n.sitemap_bytes);
    if (n.bytes_body > atomic_load(&s->shared->bytes_body))
        atomic_store(&s->shared->bytes_body, n.bytes_body);
}

static seine_err
take_prints(const uint64_t *prints, size_t n, void *arg)
{
    const scan *s = arg;
    uint8_t is_new[1024];
    seine_err e = SEINE_OK;

    for (size_t at = 0; e == SEINE_OK && at < n; at += sizeof is_new)
        e = seine_seen_add_many(s->shared->seen, prints + at,
                                n - at < sizeof is_new ? n - at : sizeof is_new, is_new);
    return e == SEINE_E_FULL ? SEINE_E_NOMEM : e;
}

/* Notes. */

static seine_err
widen_scope(const scan *s, sn_str from_text, sn_str to_text)
{
    char from_mem[SEINE_URL_ROOM], to_mem[SEINE_URL_ROOM];
    seine_url from, to;

    seine_url_init(&from, from_mem, sizeof from_mem);
    seine_url_init(&to, to_mem, sizeof to_mem);
    if (seine_url_parse(&from, from_text.ptr, from_text.len, NULL) != SEINE_OK ||
        seine_url_parse(&to, to_text.ptr, to_text.len, NULL) != SEINE_OK)
        return SEINE_E_STATE_CORRUPT;
    return s->shared->scope ? sn_scope_widen(s->shared->scope, &from, &to) : SEINE_OK;
}

/* Hosts. */

static sn_run *
run_of(const scan *s, sn_str name)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, name.ptr, name.len, NULL) != SEINE_OK)
        return NULL;
    return s->runs[sn_shared_state_shard(s->shared, &url, s->n)];
}

/* "0123456789abcdef http://e.example:80": the key of a pattern, and its host. */
static seine_err
restore_trap(const scan *s, sn_str text, sn_str value)
{
    int64_t seen;
    uint64_t key = 0;

    if (text.len < 18 || text.ptr[16] != ' ' || value.len != sizeof seen)
        return SEINE_E_STATE_CORRUPT;
    memcpy(&seen, value.ptr, sizeof seen);
    if (sn_job_round_of(s->shared->job)->number - seen >= SN_NOTE_TRAP_ROUNDS)
        return SEINE_OK;
    for (size_t i = 0; i < 16; i++) {
        int digit = sn_hex_digit(text.ptr[i]);

        if (digit < 0)
            return SEINE_E_STATE_CORRUPT;
        key = key << 4 | (uint64_t)digit;
    }
    sn_str name = sn_str_slice(text, 17, text.len);
    sn_run *r = run_of(s, name);
    return r ? sn_run_restore_trap(r, name, key, s->now) : SEINE_E_STATE_CORRUPT;
}

/* "SHARD s|m PLACE" */
static void
restore_slice(const scan *s, sn_str key, sn_str text)
{
    uint64_t shard = 0;
    seine_slice slice;

    for (size_t i = 0; i < key.len && key.ptr[i] >= '0' && key.ptr[i] <= '9'; i++)
        shard = (shard * 10 + (uint64_t)(key.ptr[i] - '0')) & 0xFFFF;
    if (sn_slice_read(text, &slice))
        sn_run_restore_slice(s->runs[shard % s->n], &slice, shard < s->n);
}

static seine_err
take_note(uint32_t kind, sn_str key, sn_str value, void *arg)
{
    const scan *s = arg;
    const seine_fetch_opts *o = &s->shared->opts;
    uint64_t known = 0;

    if ((kind == SN_JOB_NOTE_KEPT || kind == SN_JOB_NOTE_SAID) && o->on_kept)
        o->on_kept(kind == SN_JOB_NOTE_SAID ? key : (sn_str){0}, value, o->arg);
    if (kind == SN_NOTE_WIDENED)
        return widen_scope(s, key, value);
    if (kind == SN_JOB_NOTE_SLICE)
        restore_slice(s, key, value);
    if (kind == SN_NOTE_TRAP)
        return restore_trap(s, key, value);
    if (kind == SN_NOTE_GIVEN && value.len == sizeof known) {
        memcpy(&known, value.ptr, sizeof known);
        atomic_store(&s->shared->known, known);
        s->shared->n_given = known;
    }
    return SEINE_OK;
}

static seine_err
take_host(const sn_job_host *h, void *arg)
{
    const scan *s = arg;
    sn_run *r = run_of(s, h->name);

    return r ? sn_run_restore_host(r, h, s->now) : SEINE_E_STATE_CORRUPT;
}

static seine_err
take_robots(const sn_job_robots *row, void *arg)
{
    const scan *s = arg;
    sn_run *r = run_of(s, row->host);

    return r ? sn_run_restore_robots(r, row, s->wall_ms, s->now) : SEINE_E_STATE_CORRUPT;
}

/* Those that wait were counted one by one. */
static seine_err
take_count(sn_str host, const sn_job_standing *n, void *arg)
{
    const scan *s = arg;
    sn_run *r = run_of(s, host);

    return r ? sn_run_restore_pages(r, host, n, s->now) : SEINE_E_STATE_CORRUPT;
}

/* A page of a crawl that was given counts for its host like one found: at once, though
 * it comes again later than pages whose links ask for the rest of the budget. */
static seine_err
count_given(const scan *s, sn_str text)
{
    static const sn_job_standing one = {.done = 1};
    char mem[SEINE_URL_ROOM], name[SN_HOST_NAME];
    seine_url_flaw flaw;
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (sn_admit_parse(text, &url, &flaw) != SEINE_OK)
        return SEINE_OK; /* it was cut: nothing that long is fetched */
    size_t len = seine_url_authority(&url, name, sizeof name);
    if (len == 0 || len >= sizeof name)
        return SEINE_OK; /* no name that DNS allows */
    sn_run *r = s->runs[sn_shared_state_shard(s->shared, &url, s->n)];
    return sn_run_restore_pages(r, (sn_str){name, len}, &one, s->now);
}

static seine_err
take_given(sn_str text, void *arg)
{
    return count_given(arg, text);
}

static seine_err
take_tried(uint64_t number, uint32_t attempts, int64_t elapsed_ms, void *arg)
{
    const scan *s = arg;
    seine_fetch_stats *b = &s->into->before;

    b->requests += attempts;
    b->retries += attempts > 0 ? attempts - 1 : 0;
    return sn_tried_urls_add(&s->shared->tried,
                             &(sn_tried_url){number, attempts, elapsed_ms});
}

/* URLs. */

static bool
copy_text(sn_arena *a, sn_str text, sn_str *out)
{
    char *copy = sn_arena_text(a, text);

    *out = (sn_str){copy, text.len};
    return copy != NULL;
}

static seine_err
keep_given(const scan *s, const sn_job_url *u)
{
    sn_fetch_job *p = s->into;
    sn_given *g = SN_ARENA_NEW(&p->memory, sn_given);

    if (!g)
        return SEINE_E_NOMEM;
    *g = (sn_given){.number = u->url.number, .line = u->url.line};
    if (!copy_text(&p->memory, u->url.target, &g->url) ||
        !copy_text(&p->memory, u->url.parent, &g->input) ||
        !copy_text(&p->memory, u->ask, &g->ask))
        return SEINE_E_NOMEM;
    *(p->last ? &p->last->next : &p->first) = g;
    p->last = g;
    atomic_fetch_add(&s->shared->admitted, 1); /* there is room for it, whatever comes */
    return s->shared->opts.crawl ? count_given(s, u->url.target) : SEINE_OK;
}

/* The shard of a URL. Names of hosts stay where they are during the scan. */
static sn_run *
shard_of(scan *s, const sn_waiting_url *u)
{
    if (u->host.len == 0)
        return run_of(s, u->target);
    if (u->host.ptr != s->host.ptr || u->host.len != s->host.len) {
        s->run = run_of(s, u->host);
        s->host = u->host;
    }
    return s->run;
}

/* A parent that was given has the text that somebody wrote. */
static sn_str
parent_of(scan *s, const sn_job_url *u)
{
    seine_url_flaw flaw;
    seine_url url;

    if (u->parent_number == SN_JOB_NONE || !u->parent_is_given)
        return u->url.parent;
    if (u->parent_number != s->parent_number) {
        seine_url_init(&url, s->parent_memory, sizeof s->parent_memory);
        bool ok = sn_admit_parse(u->url.parent, &url, &flaw) == SEINE_OK;
        s->parent = ok ? seine_url_href(&url) : (sn_str){0};
        s->parent_number = u->parent_number;
    }
    return s->parent.ptr ? s->parent : u->url.parent;
}

static seine_err
take_url(const sn_job_url *u, void *arg)
{
    scan *s = arg;
    sn_job_url own = *u;

    if (u->url.kind == SN_JOB_GIVEN)
        return keep_given(s, u);
    sn_run *r = shard_of(s, &u->url);
    own.url.parent = parent_of(s, u);
    return r ? sn_run_restore_url(r, &own, s->now) : SEINE_E_STATE_CORRUPT;
}

/* A page that is asked for in a later round, unless a sitemap says that it has changed.
 */
static seine_err
take_not_due(const sn_job_url *u, void *arg)
{
    const scan *s = arg;

    atomic_fetch_add(&s->shared->not_due, 1);
    if (u->url.kind == SN_JOB_GIVEN)
        return SEINE_OK;
    sn_run *r = run_of(s, u->url.host.len > 0 ? u->url.host : u->url.target);
    return r ? sn_run_restore_not_due(r, u) : SEINE_E_STATE_CORRUPT;
}

/* The interval of a host that nobody knows: no host is asked earlier, since it may have
 * been asked just before the run before has ended. */
seine_span
sn_fetch_job_first_interval(const seine_fetch_opts *o)
{
    seine_span rate =
        o->host_rate.count > 0 ? seine_every(o->host_rate.count, o->host_rate.per) : 0;

    if (o->mine && !o->crawl)
        return 0;
    return o->crawl && o->adaptive ? sn_time_max(rate, SEINE_SECS(1)) : rate;
}

seine_err
sn_fetch_job_scan(sn_fetch_job *p, sn_shared_state *c, sn_run *const *runs, uint32_t n,
                  seine_time now, seine_diag *diag)
{
    seine_clock *clock = c->opts.clock;
    seine_job_figures figures;
    scan s = {.into = p,
              .shared = c,
              .runs = runs,
              .n = n,
              .now = now,
              .wall_ms = clock->wall(clock) / SEINE_MS(1),
              .parent_number = SN_JOB_NONE};
    sn_job_scan into = {.ended = take_ended,
                        .note = take_note,
                        .tried = take_tried,
                        .host = take_host,
                        .robots = take_robots,
                        .prints = c->seen ? take_prints : NULL,
                        .url = take_url,
                        .not_due = take_not_due,
                        .given = c->opts.crawl ? take_given : NULL,
                        .count = take_count,
                        .arg = &s};

    if (c->opts.revisit && c->opts.revisit->start > 0)
        into.due_ms = s.wall_ms;

    seine_job_figures_get(c->job, &figures);
    if (figures.run > 1) { /* the first may have asked, and kept nothing */
        c->resumed_at = now;
        c->earliest = sn_time_add(now, sn_fetch_job_first_interval(&c->opts));
    }
    if (!c->opts.crawl) /* every number was given */
        atomic_store(&c->known, sn_job_next_number(c->job) -
                                    (uint64_t)sn_job_round_of(c->job)->first_number);
    seine_err e = sn_job_scan_all(c->job, &into, diag);
    if (e == SEINE_OK)
        e = sn_job_start(c->job, n);
    if (e != SEINE_OK)
        return e;
    sn_tried_urls_sort(&c->tried);
    raise_counts(&s);
    for (uint32_t i = 0; i < n && e == SEINE_OK; i++)
        e = sn_run_open_pages(runs[i]);
    if (e != SEINE_OK)
        return e;
    for (uint32_t i = 0; i < n; i++)
        sn_run_restored(runs[i], sn_job_lane_at(c->job, i), now);
    c->given = sn_job_lane_at(c->job, n);
    return SEINE_OK;
}

bool
sn_fetch_job_next(sn_fetch_job *p, seine_ask *out_ask, uint64_t *out_number,
                  seine_err *out_err)
{
    static const seine_ask none = SEINE_ASK;
    sn_given *g = p->first;

    if (!g)
        return false;
    p->first = g->next;
    *out_ask = none;
    *out_err = sn_ask_bytes_read(g->ask, &p->memory, out_ask);
    out_ask->url = g->url;
    out_ask->input = g->input.len > 0 ? g->input : (sn_str){0};
    out_ask->line = g->line;
    *out_number = g->number;
    return true;
}
