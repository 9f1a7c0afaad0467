/* SPDX-License-Identifier: Apache-2.0 */
/* The story of a URL in a run: where it was found, what robots.txt says, what the limiter
 * and the breaker of its host do, how it ended. While the run lives a shard is asked
 * first, then its job on the disk. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/api_runs.h"
#include "console/json_out.h"
#include "console/records.h"
#include "console/run_live.h"
#include "engine/url_question.h"
#include "seine/job_view.h"
#include "seine/plumbing.h"
#include "seine/url.h"

#define PATIENCE SEINE_SECS(5) /* with a shard */

enum { ANSWER_MOST = 1 << 20, RULE_MOST = 400, TOGETHER = 32 };

typedef struct sn_story {
    sn_run_job job; /* first */
    struct sn_story *next;
    sn_call *call;
    sn_url_question *asked; /* NULL: no shard was */
    seine_time until;
    bool is_going; /* the run is: perhaps its job does not stand there yet */
    bool is_live;  /* `live` is an answer */
    sn_url_answer live;
    int64_t wall; /* when it was asked */
    char dir[1200], path[1200];
    char url[SEINE_URL_ROOM], key[SEINE_URL_ROOM], name[320];
    bool has_job;
    seine_job_url known;
    char rule[RULE_MOST]; /* of a skip; "" */
    bool has_host;
    seine_job_host host;
    seine_err err;
    sn_buf out;
} story;

/* Text */

/* "400 ms", "1.5 s", "12 min" */
static const char *
say_span(seine_span span, char out[32])
{
    double s = (double)span / 1e9;

    if (s < 1)
        snprintf(out, 32, "%.0f ms", s * 1e3);
    else if (s < 120)
        snprintf(out, 32, "%.3g s", s);
    else
        snprintf(out, 32, "%.0f min", s / 60);
    return out;
}

static void
put_step(sn_buf *b, const char *step, const char *text)
{
    sn_json_out_next(b);
    sn_buf_char(b, '{');
    sn_json_out_text(b, "step", step);
    sn_json_out_text(b, "text", text);
    sn_buf_char(b, '}');
}

static void
put_found(sn_buf *b, const seine_job_url *u)
{
    char text[SEINE_URL_ROOM + 80];

    if (u->is_known && u->is_given) {
        put_step(b, "found", "a start URL");
    } else if (u->has_place && u->parent[0]) {
        snprintf(text, sizeof text, "linked from %s, line %u", u->parent, u->line);
        put_step(b, "found", text);
    }
}

static void
put_robots_step(sn_buf *b, const story *s)
{
    char text[RULE_MOST + 80], left[32];
    const sn_url_answer *a = &s->live;
    const seine_fetch_wait *w = &a->row.wait;

    switch (a->robots) {
    case SN_ROBOTS_SAYS_ALLOW:
        if (a->rule[0])
            snprintf(text, sizeof text, "allowed by %s", a->rule);
        else
            snprintf(text, sizeof text, "allowed: no line of robots.txt is about it");
        break;
    case SN_ROBOTS_SAYS_DENY:
        snprintf(text, sizeof text, "forbidden by %s", a->rule);
        break;
    case SN_ROBOTS_SAYS_UNREACHABLE:
        if (w->is_robots && w->until > a->now)
            snprintf(text, sizeof text,
                     "robots.txt cannot be had; it is asked for again in %s",
                     say_span(w->until - a->now, left));
        else
            snprintf(text, sizeof text, "robots.txt cannot be had");
        break;
    case SN_ROBOTS_SAYS_ASKED:
        snprintf(text, sizeof text, "robots.txt of the host has not come yet");
        break;
    default:
        return;
    }
    put_step(b, "robots", text);
}

static void
put_limiter_step(sn_buf *b, const sn_url_answer *a)
{
    const seine_fetch_wait *w = &a->row.wait;
    char text[240], every[32], left[32];
    int n;

    if (a->row.burst == 0)
        n = snprintf(text, sizeof text, "no limit for this host");
    else
        n = snprintf(text, sizeof text, "%u of %u token%s, one request in %s",
                     a->row.tokens, a->row.burst, a->row.burst == 1 ? "" : "s",
                     say_span(w->every, every));
    if (w->delay > 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", Crawl-delay %s",
                      say_span(w->delay, every));
    if (w->is_held && w->until > a->now)
        snprintf(text + n, sizeof text - (size_t)n, "; the host waits %s more (%s)",
                 say_span(w->until - a->now, left), seine_wait_name(w->why));
    else if (w->is_held)
        snprintf(text + n, sizeof text - (size_t)n, "; the host waits (%s)",
                 seine_wait_name(w->why));
    put_step(b, "limiter", text);
}

static void
put_breaker_step(sn_buf *b, const sn_url_answer *a)
{
    const seine_fetch_wait *w = &a->row.wait;
    char text[240], left[32];

    if (w->is_parked)
        snprintf(text, sizeof text, "the host was given up in this run: %s",
                 seine_err_name(w->cause));
    else if (w->breaker == SEINE_BREAKER_CLOSED)
        snprintf(text, sizeof text, "closed");
    else if (w->breaker == SEINE_BREAKER_OPEN && w->until > a->now)
        snprintf(text, sizeof text, "open after %u failures (%s), next probe in %s",
                 w->failures, seine_err_name(w->cause),
                 say_span(w->until - a->now, left));
    else
        snprintf(text, sizeof text, "%s after %u failures (%s)",
                 w->breaker == SEINE_BREAKER_OPEN ? "open" : "half-open", w->failures,
                 seine_err_name(w->cause));
    put_step(b, "breaker", text);
}

/* As of the last commit of a job that nobody works on. */
static void
put_host_steps(sn_buf *b, const story *s)
{
    const seine_job_host *h = &s->host;
    char text[240], span[32];

    if (h->every > 0 || h->delay > 0) {
        int n = 0;

        if (h->every > 0)
            n = snprintf(text, sizeof text, "learned: one request in %s",
                         say_span(h->every, span));
        if (h->delay > 0)
            snprintf(text + n, sizeof text - (size_t)n, "%sCrawl-delay %s",
                     n > 0 ? ", " : "", say_span(h->delay, span));
        put_step(b, "limiter", text);
    }
    put_step(b, "breaker", sn_run_breaker_name(h->breaker));
}

static void
put_end_step(sn_buf *b, const seine_job_url *u, const char *rule)
{
    char text[RULE_MOST + 200];

    if (u->is_skip)
        snprintf(text, sizeof text, "not asked for: %s%s%s", seine_skip_name(u->reason),
                 rule[0] ? ", " : "", rule);
    else if (u->kind == SEINE_OK)
        snprintf(text, sizeof text, "fetched: status %u after %u attempt%s", u->status,
                 u->attempts, u->attempts == 1 ? "" : "s");
    else
        snprintf(text, sizeof text, "failed: %s (%s) after %u attempt%s",
                 seine_err_text(u->kind), seine_err_name(u->kind), u->attempts,
                 u->attempts == 1 ? "" : "s");
    put_step(b, "end", text);
}

/* Members */

static void
put_live(sn_buf *b, const story *s)
{
    const sn_url_answer *a = &s->live;
    const seine_fetch_wait *w = &a->row.wait;
    int64_t left = w->until > a->now ? (w->until - a->now) / SEINE_MS(1) : 0;

    sn_json_out_text(b, "host", w->host);
    sn_json_out_name(b, "robots");
    sn_buf_char(b, '{');
    sn_json_out_text(b, "says", sn_robots_says_name(a->robots));
    sn_json_out_text(b, "rule", a->rule[0] ? a->rule : NULL);
    sn_json_out_int(b, "delay_ms", w->delay / SEINE_MS(1));
    sn_buf_char(b, '}');
    sn_json_out_name(b, "limiter");
    sn_buf_char(b, '{');
    if (a->row.burst > 0) {
        sn_json_out_int(b, "tokens", a->row.tokens);
        sn_json_out_int(b, "burst", a->row.burst);
    }
    sn_json_out_int(b, "every_ms", w->every / SEINE_MS(1));
    sn_json_out_int(b, "next_ms", w->is_held ? left : 0);
    sn_json_out_text(b, "waits_for", w->is_held ? seine_wait_name(w->why) : NULL);
    sn_json_out_int(b, "waiting", (int64_t)w->waiting);
    sn_json_out_int(b, "in_flight", (int64_t)w->in_flight);
    sn_buf_char(b, '}');
    sn_json_out_name(b, "breaker");
    sn_buf_char(b, '{');
    sn_json_out_text(b, "state", sn_run_breaker_name(w->breaker));
    sn_json_out_int(b, "failures", w->failures);
    sn_json_out_text(b, "cause", w->cause != SEINE_OK ? seine_err_name(w->cause) : NULL);
    if (w->breaker == SEINE_BREAKER_OPEN && left > 0)
        sn_json_out_int(b, "open_until", s->wall + left);
    sn_buf_char(b, '}');
}

static const char *
answer_of(const story *s)
{
    const seine_job_url *u = &s->known;

    if (u->has_ended)
        return u->is_skip            ? "It was not asked for."
               : u->kind == SEINE_OK ? "It was fetched."
                                     : "It failed.";
    if (u->is_known)
        return "It waits to be fetched.";
    return s->has_job ? "This run has not found it."
                      : "What became of it is not on the disk.";
}

static void
put_story(story *s)
{
    const seine_job_url *u = &s->known;
    bool is_live = s->is_live && s->live.is_known;
    sn_buf *b = &s->out;

    sn_buf_char(b, '{');
    sn_json_out_text(b, "url", s->key);
    sn_json_out_text(b, "answer", answer_of(s));
    sn_json_out_name(b, "steps");
    sn_buf_char(b, '[');
    put_found(b, u);
    if (is_live) {
        put_robots_step(b, s);
        put_limiter_step(b, &s->live);
        put_breaker_step(b, &s->live);
    } else if (s->has_host) {
        put_host_steps(b, s);
    }
    if (u->has_ended)
        put_end_step(b, u, s->rule);
    sn_buf_char(b, ']');
    if (u->is_known)
        sn_json_out_int(b, "depth", u->depth);
    if (u->has_record)
        sn_json_out_int(b, "seq", (int64_t)u->seq);
    if (u->has_ended && !u->is_skip) {
        sn_json_out_int(b, "status", u->status);
        sn_json_out_int(b, "bytes", (int64_t)u->bytes_body);
        sn_json_out_int(b, "took_ms", u->total / SEINE_MS(1));
    }
    if (is_live)
        put_live(b, s);
    sn_buf_char(b, '}');
}

/* The disk */

static void
on_host(const seine_job_host *h, void *arg)
{
    story *s = arg;

    if (!sn_str_eq(h->host, sn_str_of(s->name)))
        return;
    s->host = *h;
    s->host.host = (seine_view){s->name, strlen(s->name)};
    s->has_host = true;
}

/* The record of a skip says by which rule. */
static void
find_rule(story *s)
{
    seine_json *record = NULL;
    seine_json_fault fault;
    const char *text;
    size_t len;
    sn_buf line;

    sn_buf_init(&line, ANSWER_MOST);
    if (sn_records_one(s->path, s->known.seq, &line) == SEINE_OK &&
        seine_json_parse(line.ptr, line.len, &record, &fault) == SEINE_OK &&
        seine_json_string(seine_json_get(record, "rule"), &text, &len))
        snprintf(s->rule, sizeof s->rule, "%s", text);
    seine_json_free(record);
    sn_buf_fini(&line);
}

static void
read_story(sn_run_job *j)
{
    story *s = (story *)j;
    seine_job_view *view = NULL;
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_job_view_open(s->dir, "job", &view, &diag);

    if (e == SEINE_OK)
        e = seine_job_view_url(view, s->key, &s->known);
    s->has_job = e == SEINE_OK;
    if (s->has_job && s->known.has_record && s->known.is_skip)
        find_rule(s);
    if (s->has_job && !s->is_live)
        (void)!seine_job_view_hosts(view, on_host, s, &diag);
    seine_job_view_free(view);
    s->err = e == SEINE_E_IO && s->is_going ? SEINE_OK : e;
    if (s->err == SEINE_OK)
        put_story(s);
}

static void
free_story(story *s)
{
    sn_url_question_drop(s->asked);
    sn_buf_fini(&s->out);
    sn_free(s);
}

static void
finish_story(sn_run_job *j)
{
    story *s = (story *)j;

    if (s->err == SEINE_OK)
        sn_call_text(s->call, 200, "application/json", &s->out);
    else if (s->err == SEINE_E_IO)
        sn_call_fail(s->call, SN_API_NOT_FOUND, "the run keeps no job", NULL);
    else
        sn_call_fail_err(s->call, s->err);
    free_story(s);
}

static void
read_disk(story *s)
{
    if (sn_runs_read(s->call->console, &s->job) == SEINE_OK)
        return;
    sn_call_fail(s->call, SN_API_UNAVAILABLE, "too many questions wait for the disk",
                 NULL);
    free_story(s);
}

/* The shard */

bool
sn_stories_look(sn_runs *t, seine_time now)
{
    for (story **at = &t->stories; *at;) {
        story *s = *at;

        s->is_live = sn_url_question_get(s->asked, &s->live);
        if (!s->is_live && now < s->until) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        read_disk(s);
    }
    return t->stories != NULL;
}

void
sn_stories_end(sn_runs *t)
{
    (void)sn_stories_look(t, SEINE_NEVER);
}

/* True: the story waits for its shard. */
static bool
ask_shard(story *s, sn_console_run *r)
{
    sn_runs *t = sn_runs_of(r->console);
    seine_fetch *f = r->live && sn_run_is_live(r) ? sn_run_pin(r) : NULL;
    size_t n = 0;

    if (!f)
        return false;
    for (const story *o = t->stories; o; o = o->next)
        n++;
    seine_err e = n < TOGETHER ? sn_url_question_ask(f, s->url, strlen(s->url), &s->asked)
                               : SEINE_E_FULL;
    sn_run_unpin(r);
    if (e != SEINE_OK)
        return false;
    s->until = r->console->loop.now + PATIENCE;
    s->wall = sn_console_wall_ms(r->console);
    s->next = t->stories;
    t->stories = s;
    sn_runs_begin_look(t);
    return true;
}

/* BAD_URL. */
static seine_err
read_url(story *s, sn_str text)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;
    size_t n = 0;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, text.ptr, text.len, NULL) != SEINE_OK ||
        seine_url_key(&u, NULL, s->key, sizeof s->key - 1, &n) != SEINE_OK)
        return SEINE_E_BAD_URL;
    s->key[n] = '\0';
    n = seine_url_authority(&u, s->name, sizeof s->name);
    if (n == 0 || n >= sizeof s->name)
        return SEINE_E_BAD_URL;
    s->name[n] = '\0';
    memcpy(s->url, text.ptr, text.len);
    s->url[text.len] = '\0';
    return SEINE_OK;
}

static story *
new_story(sn_call *call, const sn_console_run *r)
{
    story *s = sn_zalloc(sizeof *s);

    if (!s)
        return NULL;
    s->call = call;
    s->is_going = sn_run_is_live(r);
    s->job.run = read_story;
    s->job.done = finish_story;
    s->err = SEINE_E_FULL; /* unless it is read */
    sn_buf_init(&s->out, ANSWER_MOST);
    snprintf(s->dir, sizeof s->dir, "%s", r->dir ? r->dir : "");
    if (!sn_run_path(r, "records.sqlite", s->path, sizeof s->path))
        s->path[0] = '\0';
    return s;
}

void
sn_api_run_explain(sn_call *call)
{
    sn_console_run *r = sn_api_find_run(call);
    sn_str url;

    if (!r)
        return;
    if (!sn_call_query(call, "url", &url) || url.len == 0 || url.len >= SEINE_URL_ROOM) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "which URL?", "?url=https://e.example/");
        return;
    }
    story *s = new_story(call, r);
    if (!s) {
        sn_call_fail_err(call, SEINE_E_NOMEM);
    } else if (read_url(s, url) != SEINE_OK) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "not a URL", NULL);
        free_story(s);
    } else if (!ask_shard(s, r)) {
        read_disk(s);
    }
}
