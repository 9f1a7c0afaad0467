/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/verdict.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "engine/redirect.h"
#include "engine/robots_cache.h"

#define PATIENCE SEINE_MS(100) /* until descriptors or ports are free again */

/* Judging. */

static uint32_t
most_hops(const seine_fetch_opts *o, const sn_visit *v)
{
    return v->kind == SN_KIND_ROBOTS ? SN_ROBOTS_HOPS : o->max_redirects;
}

/* The hop that just responded is part of the chain. */
static bool
note_hop(const seine_fetch_opts *o, sn_visit *v)
{
    if (!v->hops)
        v->hops = SN_ARENA_ARRAY(&v->arena, seine_hop, most_hops(o, v));
    if (!v->hops)
        return false;
    seine_view href = seine_url_href(&v->url);
    v->hops[v->n_hops++] = (seine_hop){href, v->end.fault.status};
    return true;
}

/* The URL as asked is another one than that of the hop, from the first redirect on. */
static bool
keep_first(sn_visit *v)
{
    if (v->first != &v->url)
        return true;
    seine_url *first = SN_ARENA_NEW(&v->arena, seine_url);
    if (!first)
        return false;
    *first = v->url;
    v->first = first;
    return true;
}

static seine_err
move_to(const seine_fetch_opts *o, sn_visit *v, const seine_url *to, bool as_get)
{
    size_t room = seine_url_href(to).len + 1;
    char *mem = SN_ARENA_ARRAY(&v->arena, char, room);

    if (!mem || !keep_first(v) || !note_hop(o, v))
        return SEINE_E_NOMEM;
    seine_url_init(&v->url, mem, room);
    seine_err e = seine_url_copy(&v->url, to);
    if (e != SEINE_OK)
        return e;
    if (as_get) {
        v->method = SN_STR("GET");
        v->body = (sn_str){0};
        v->retry.idempotent = true;
    }
    v->ceiling = sn_visit_ceiling(v);
    v->lane = 0;
    v->fresh = v->replayed = false;
    return SEINE_OK;
}

/* In a crawl a redirect is a link: the page, or the sitemap, ends with it. */
static bool
is_crawled(const seine_fetch_opts *o, const sn_visit *v)
{
    return o->crawl && v->kind != SN_KIND_ROBOTS;
}

/* Redirects so far. Those of a sitemap the frontier counts. */
static uint32_t
count_hops(const seine_fetch_opts *o, const sn_visit *v)
{
    if (v->kind == SN_KIND_SITEMAP)
        return 0;
    return is_crawled(o, v) ? v->moved : v->n_hops;
}

static seine_err
note_target(const seine_fetch_opts *o, sn_visit *v, const seine_url *to)
{
    size_t room = seine_url_href(to).len + 1;
    seine_url *target = SN_ARENA_NEW(&v->arena, seine_url);
    char *mem = SN_ARENA_ARRAY(&v->arena, char, room);

    if (!target || !mem || !note_hop(o, v))
        return SEINE_E_NOMEM;
    seine_url_init(target, mem, room);
    seine_err e = seine_url_copy(target, to);
    if (e == SEINE_OK)
        v->target = target;
    return e;
}

static seine_err
follow_redirect(const seine_fetch_opts *o, sn_visit *v)
{
    char mem[SEINE_URL_ROOM];
    seine_url to;
    bool as_get;
    sn_redirect r = {.from = &v->url,
                     .status = v->end.fault.status,
                     .location = v->location,
                     .n_locations = v->n_locations,
                     .method = v->method,
                     .has_body = v->body.len > 0,
                     .hops = count_hops(o, v),
                     .max = most_hops(o, v),
                     .follow_body = o->follow_body,
                     .https_only = o->https_only};

    seine_url_init(&to, mem, sizeof mem);
    seine_err e = sn_redirect_next(&r, &to, &as_get);
    if (e != SEINE_OK)
        return e;
    return is_crawled(o, v) ? note_target(o, v, &to) : move_to(o, v, &to, as_get);
}

/* The kind of a whole response. */
static seine_err
kind_of(const seine_fetch_opts *o, sn_visit *v, bool *out_hop)
{
    uint16_t status = v->end.fault.status;

    if (sn_visit_accepts(o, v, status))
        return SEINE_OK;
    if (status == 304 && v->is_conditional) /* the page is as it was */
        return SEINE_OK;
    if (status >= 300 && status < 400 && most_hops(o, v) == 0)
        return SEINE_OK;
    if (sn_redirect_is(status)) {
        seine_err e = follow_redirect(o, v);
        *out_hop = e == SEINE_OK && !is_crawled(o, v);
        return e;
    }
    seine_err e = seine_retry_classify(v->retry.opts, status);
    return e == SEINE_OK ? SEINE_E_HTTP : e;
}

/* The head of a response that is not a page says all there is to know, whatever is wrong
 * with its body. */
static bool
says_enough(const seine_fetch_opts *o, const sn_visit *v)
{
    const sn_fault *f = &v->end.fault;

    return v->end.partial && f->status > 0 && seine_err_class(f->code) != SEINE_LOCAL &&
           f->code != SEINE_E_CONN_STALE && !sn_visit_accepts(o, v, f->status) &&
           !(f->status < 400 && most_hops(o, v) == 0);
}

bool
sn_verdict_judge(const sn_shared_state *c, sn_visit *v, seine_time now)
{
    sn_fault *f = &v->end.fault;
    bool hop = false;

    if (f->status > 0)
        f->retry_after = sn_visit_wish(v);
    /* What our own limits kept back asked nobody. */
    v->is_asked =
        f->sent || f->code == SEINE_OK || seine_err_class(f->code) != SEINE_LOCAL;
    if (v->is_asked)
        v->requests++;
    /* We cut it off ourselves: nothing more was asked for, or there was no room. */
    if (v->enough && v->kept.err == SEINE_OK && f->code == SEINE_E_CANCELED)
        f->code = SEINE_OK;
    else if (f->code == SEINE_E_CANCELED && v->kept.err != SEINE_OK)
        f->code = v->kept.err == SEINE_E_FULL ? SEINE_E_BODY_TOO_LARGE : v->kept.err;
    else if (f->code == SEINE_OK && v->kept.err != SEINE_OK)
        f->code = v->kept.err;
    if ((f->code == SEINE_OK || says_enough(&c->opts, v)) && !v->not_wanted) {
        f->code = kind_of(&c->opts, v, &hop);
        f->phase = f->code == SEINE_OK ? f->phase : SEINE_PHASE_HEAD; /* it said so */
        f->timeout_ms = 0;
    }
    /* The time of the URL ran out, not that of the attempt. */
    if (f->code == SEINE_E_TIMEOUT && now >= v->deadline &&
        sn_time_sub(v->deadline, v->started_at) < v->timeout)
        f->code = SEINE_E_DEADLINE;
    return hop;
}

/* What follows. */

/* Notes how the visit ended. */
static void
conclude_visit(sn_visit *v, const sn_fault *f)
{
    if (f->code == SEINE_OK) { /* as the visit began; other members say nothing then */
        v->fault.status = f->status;
        return;
    }
    v->fault = *f;
    v->fault.text = sn_visit_say(v, f->text);
}

static sn_verdict
done_verdict(seine_stop stop)
{
    return (sn_verdict){SN_THEN_DONE, SEINE_NEVER, SEINE_WAIT_QUEUE, stop};
}

static bool
is_unexpected(seine_err e)
{
    return e == SEINE_E_UNEXPECTED_304 || e == SEINE_E_UNEXPECTED_206;
}

static bool
was_unexpected(const sn_visit *v)
{
    for (uint32_t i = 0; i < v->n_tries; i++)
        if (is_unexpected(v->tries[i].err))
            return true;
    return false;
}

/* Remembers the attempt for the record, and that it waits so long for that reason; -1:
 * no attempt follows. Without memory the record has one try less. */
static void
note_try(sn_visit *v, seine_span wait, seine_wait why, seine_time now)
{
    if (v->n_tries == v->tries_room) {
        uint32_t room = v->tries_room > 0 ? v->tries_room * 2 : 4;
        seine_record_try *tries = SN_ARENA_ARRAY(&v->arena, seine_record_try, room);
        if (!tries)
            return;
        if (v->n_tries > 0)
            memcpy(tries, v->tries, v->n_tries * sizeof *tries);
        v->tries = tries;
        v->tries_room = room;
    }
    const sn_fault *f = &v->end.fault;
    v->tried_at = now;
    v->tries[v->n_tries++] = (seine_record_try){.wall = v->started_wall,
                                                .n = v->retry.attempts,
                                                .status = f->status,
                                                .err = f->code,
                                                .took = now - v->started_at,
                                                .wait = wait,
                                                .wait_reason = why};
}

/* Asks the policy without the budget, which ends nothing here: the scheduler asks it when
 * the retry is due, and lets the visit wait. What we ask for ourselves is little and
 * never waits for it. */
static seine_verdict
next_attempt(sn_visit *v, const sn_fault *f, seine_time now, uint64_t dice)
{
    seine_retry_budget *budget = v->retry.host;
    seine_fault fault;

    sn_fault_open(f, &fault);
    v->retry.host = NULL;
    seine_verdict verdict = seine_retry_next(&v->retry, &fault, now, dice);
    v->retry.host = budget;
    v->is_unpaid = verdict.stop == SEINE_STOP_NO && v->kind == SN_KIND_PAGE;
    return verdict;
}

/* Says what the visit waits for: the server's wish, or our own backoff. */
static seine_wait
wait_reason(const sn_visit *v)
{
    const sn_fault *f = &v->end.fault;

    if (f->retry_after < 0 || (f->status != 429 && f->status != 503))
        return SEINE_WAIT_BACKOFF;
    return v->has_hint && seine_retry_hint_after(v->hint) >= 0 ? SEINE_WAIT_RETRY_AFTER
                                                               : SEINE_WAIT_RATE_LIMIT;
}

/* A longer Retry-After is not waited for. */
static seine_span
longest_wish(const sn_shared_state *c, const sn_visit *v)
{
    return v->policy ? v->policy->max_retry_after : c->opts.max_retry_after;
}

static sn_verdict
retry_verdict(const sn_shared_state *c, sn_visit *v, seine_time now, uint64_t dice)
{
    sn_fault f = v->end.fault;

    if ((f.status == 429 || f.status == 503) && f.retry_after > longest_wish(c, v) &&
        f.code != SEINE_OK) {
        f.code = SEINE_E_RETRY_AFTER_TOO_LONG;
        conclude_visit(v, &f);
        return done_verdict(SEINE_STOP_FINAL);
    }
    /* Once more without what may have provoked it, under all other rules. */
    if (is_unexpected(f.code) && !was_unexpected(v))
        f.code = SEINE_E_CONN_RESET;
    seine_verdict verdict = next_attempt(v, &f, now, dice);
    if (verdict.stop != SEINE_STOP_NO) {
        conclude_visit(v, &v->end.fault);
        return done_verdict(verdict.stop);
    }
    sn_verdict r = {SN_THEN_RETRY, verdict.at, wait_reason(v), SEINE_STOP_NO};
    note_try(v, r.at - now, r.why, now);
    v->fresh = v->replayed = false;
    return r;
}

/* It was told to wait because others had been too many, and left before anybody knew. */
static bool
is_excused(const sn_shared_state *c, const sn_visit *v, seine_time now)
{
    const sn_fault *f = &v->end.fault;

    return v->is_excused && f->code == SEINE_E_HTTP_BUSY && v->retry.idempotent &&
           v->retry.opts->max_attempts > 1 && f->retry_after <= longest_wish(c, v) &&
           sn_time_add(now, f->retry_after) < v->deadline;
}

/* Once more when its host may be asked; the attempt does not count. */
static sn_verdict
excuse(sn_visit *v, seine_time now)
{
    seine_span wait = sn_time_max(v->end.fault.retry_after, 0);
    sn_verdict r = {SN_THEN_RETRY, sn_time_add(now, wait), wait_reason(v), SEINE_STOP_NO};

    v->retry.attempts++; /* for the record */
    note_try(v, wait, r.why, now);
    v->retry.attempts--;
    v->fresh = v->replayed = v->is_unpaid = false;
    return r;
}

/* Its proxy is left alone: once more when it may be asked, if that is in time; else it
 * is the proxy's error. No attempt was made. */
static sn_verdict
rest_for_proxy(sn_visit *v)
{
    seine_time at = v->proxy_at;

    if (v->end.fault.code == SEINE_E_BREAKER && at < v->deadline)
        return (sn_verdict){SN_THEN_LATER, at, SEINE_WAIT_BREAKER, SEINE_STOP_NO};
    v->end.fault.code = SEINE_E_PROXY_ERROR;
    conclude_visit(v, &v->end.fault);
    return done_verdict(SEINE_STOP_FINAL);
}

/* There was no memory. What cannot fit even alone is done; others come again when there
 * is some. Neither is an attempt. */
static sn_verdict
memory_verdict(const sn_shared_state *c, sn_visit *v, seine_time now)
{
    bool is_alone =
        atomic_load(&c->brake->charged) <= v->charge.held.has.n[SEINE_RES_MEMORY];

    if (!v->is_too_large && !is_alone)
        return (sn_verdict){SN_THEN_LATER, sn_time_add(now, PATIENCE), SEINE_WAIT_QUEUE,
                            SEINE_STOP_NO};
    v->end.fault.text = "memory limit reached";
    conclude_visit(v, &v->end.fault);
    return done_verdict(SEINE_STOP_FINAL);
}

sn_verdict
sn_verdict_next(const sn_shared_state *c, sn_visit *v, seine_time now, uint64_t dice)
{
    seine_err code = v->end.fault.code;

    if (code == SEINE_E_CONN_STALE && v->end.replayable && !v->replayed) {
        v->replayed = v->fresh = true;
        return (sn_verdict){SN_THEN_REPLAY, now, SEINE_WAIT_QUEUE, SEINE_STOP_NO};
    }
    if (code == SEINE_E_NO_FILES || code == SEINE_E_NO_PORTS)
        return (sn_verdict){SN_THEN_LATER, sn_time_add(now, PATIENCE),
                            SEINE_WAIT_CONCURRENCY, SEINE_STOP_NO};
    if (code == SEINE_E_BUDGET)
        return memory_verdict(c, v, now);
    if (code == SEINE_E_BUSY || code == SEINE_E_LIMITED) /* its host waits already */
        return (sn_verdict){SN_THEN_LATER, now, SEINE_WAIT_ADDRESS, SEINE_STOP_NO};

    if (v->end.fault.phase == SEINE_PHASE_PROXY && v->proxy_at != INT64_MIN)
        return rest_for_proxy(v);
    if (is_excused(c, v, now))
        return excuse(v, now);
    seine_retry_begin(&v->retry, v->started_at);
    sn_verdict r = retry_verdict(c, v, now, dice);
    if (r.then == SN_THEN_DONE && v->n_tries > 0) /* the last of several */
        note_try(v, -1, SEINE_WAIT_QUEUE, now);
    return r;
}

/* What the visit had come to before its host was given up. */
static void
put_last_failure(const sn_visit *v, char text[SN_FAULT_TEXT])
{
    const sn_fault *last = &v->end.fault;
    const char *s = v->retry.attempts == 1 ? "" : "s";

    if (last->status > 0)
        snprintf(text, SN_FAULT_TEXT, "HTTP %u after %u attempt%s", last->status,
                 v->retry.attempts, s);
    else
        snprintf(text, SN_FAULT_TEXT, "%s after %u attempt%s", seine_err_text(last->code),
                 v->retry.attempts, s);
}

void
sn_verdict_give_up(sn_visit *v, seine_err why, seine_err cause)
{
    bool has_failed = v->retry.attempts > 0 && v->end.fault.code != SEINE_OK &&
                      seine_err_class(v->end.fault.code) != SEINE_LOCAL;
    char text[SN_FAULT_TEXT];
    sn_fault f = SN_FAULT;

    f.code = why;
    f.status = v->end.fault.status;
    if (has_failed && why == SEINE_E_BREAKER) {
        put_last_failure(v, text);
        f.text = text;
    } else if (cause != SEINE_OK) {
        f.text = seine_err_text(cause);
    }
    conclude_visit(v, &f);
}
