/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "check.h"
#include "engine/admit.h"
#include "failing.h"
#include "script.h"
#include "seine/outcome.h"

#define S SEINE_SUCCESS
#define F SEINE_FAILURE
#define I SEINE_IGNORED

typedef struct fixture {
    sn_shared_state shared;
    sn_visit *v;
} fixture;

static fixture *
set_up(void (*change)(seine_fetch_opts *o))
{
    fixture *f = malloc(sizeof *f);
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_ask ask = SEINE_ASK;

    o.retry.jitter = SEINE_JITTER_NONE;
    if (change)
        change(&o);
    CHECK_EQ(sn_shared_state_init(&f->shared, &o, NULL), SEINE_OK);
    ask.url = (seine_view){"http://a.test/", 14};
    CHECK_EQ(sn_admit(&f->shared, &ask, T0, &f->v), SEINE_OK);
    f->v->state = SN_IN_FLIGHT;
    f->v->started_at = T0;
    return f;
}

static void
tear_down(fixture *f)
{
    f->v->state = SN_EMITTED;
    sn_visits_give(f->shared.visits, f->v);
    sn_shared_state_fini(&f->shared);
    free(f);
}

/* How the last attempt ended, for those that judge outcomes. */
static const seine_fault *
opened(const sn_visit *v)
{
    static seine_fault fault;

    sn_fault_open(&v->end.fault, &fault);
    return &fault;
}

/* An attempt ends so; what follows? */
static sn_verdict
ends(fixture *f, seine_err code, uint16_t status, seine_phase phase, bool sent)
{
    sn_visit *v = f->v;

    sn_visit_clear_response(v);
    v->end.fault.code = code;
    v->end.fault.status = status;
    v->end.fault.phase = phase;
    v->end.fault.sent = sent;
    v->end.partial = code != SEINE_OK && phase == SEINE_PHASE_BODY;
    CHECK(!sn_verdict_judge(&f->shared, v, T0 + SEINE_SECS(1)));
    return sn_verdict_next(&f->shared, v, T0 + SEINE_SECS(1), 0);
}

static sn_verdict
answers(fixture *f, uint16_t status)
{
    return ends(f, SEINE_OK, status, SEINE_PHASE_NONE, true);
}

/* Every row that an attempt can end with: docs/internals/engine.md says what follows,
 * docs/user/outcome.md what breaker and throttle hear. */
/* Memory that others hold comes back; what does not fit alone never will. */
TEST(s0_10_s0_27_verdict_on_memory_is_no_attempt)
{
    static const struct {
        uint64_t others;
        int then;
    } rows[] = {
        {1, SN_THEN_LATER},
        {0, SN_THEN_DONE},
    };

    EACH_ROW(i, rows) {
        fixture *f = set_up(NULL);

        atomic_store(&f->shared.brake->charged, rows[i].others);
        sn_verdict r = ends(f, SEINE_E_BUDGET, 200, SEINE_PHASE_BODY, true);
        CHECK_EQ(r.then, rows[i].then);
        CHECK_EQ(f->v->retry.attempts, 0);
        if (rows[i].then == SN_THEN_DONE)
            CHECK_STR(f->v->fault.text, "memory limit reached");
        atomic_store(&f->shared.brake->charged, 0);
        tear_down(f);
    }
}

TEST(x_23_x_26_x_27_verdict_follows_the_table_row_by_row)
{
    static const struct {
        seine_err code;
        uint16_t status;
        seine_phase phase;
        bool sent;
        seine_err kind;
        seine_outcome breaker, throttle;
        sn_then then;
    } rows[] = {
        /* answers */
        {SEINE_OK, 200, 0, true, SEINE_OK, S, S, SN_THEN_DONE},
        {SEINE_OK, 204, 0, true, SEINE_OK, S, S, SN_THEN_DONE},
        {SEINE_OK, 299, 0, true, SEINE_OK, S, S, SN_THEN_DONE},
        {SEINE_OK, 300, 0, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        {SEINE_OK, 304, 0, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        {SEINE_OK, 404, 0, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        {SEINE_OK, 403, 0, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        {SEINE_OK, 413, 0, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        {SEINE_OK, 429, 0, true, SEINE_E_HTTP_BUSY, S, F, SN_THEN_RETRY},
        {SEINE_OK, 408, 0, true, SEINE_E_HTTP_BUSY, S, S, SN_THEN_RETRY},
        {SEINE_OK, 425, 0, true, SEINE_E_HTTP_BUSY, S, S, SN_THEN_RETRY},
        {SEINE_OK, 503, 0, true, SEINE_E_HTTP_BUSY, F, F, SN_THEN_RETRY},
        {SEINE_OK, 500, 0, true, SEINE_E_HTTP_BUSY, F, S, SN_THEN_RETRY},
        {SEINE_OK, 502, 0, true, SEINE_E_HTTP_BUSY, F, S, SN_THEN_RETRY},
        {SEINE_OK, 599, 0, true, SEINE_E_HTTP_BUSY, F, S, SN_THEN_RETRY},
        {SEINE_OK, 501, 0, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        {SEINE_OK, 505, 0, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        /* broken or missing answers */
        {SEINE_E_CONNECT_REFUSED, 0, SEINE_PHASE_CONNECT, false, SEINE_E_CONNECT_REFUSED,
         F, F, SN_THEN_RETRY},
        {SEINE_E_CONNECT_UNREACHABLE, 0, SEINE_PHASE_CONNECT, false,
         SEINE_E_CONNECT_UNREACHABLE, F, F, SN_THEN_RETRY},
        {SEINE_E_CONN_RESET, 0, SEINE_PHASE_HEAD, true, SEINE_E_CONN_RESET, F, F,
         SN_THEN_RETRY},
        {SEINE_E_HEADER_TRUNCATED, 0, SEINE_PHASE_HEAD, true, SEINE_E_HEADER_TRUNCATED, F,
         F, SN_THEN_RETRY},
        {SEINE_E_H2_STREAM, 0, SEINE_PHASE_HEAD, true, SEINE_E_H2_STREAM, F, F,
         SN_THEN_RETRY},
        {SEINE_E_BODY_TRUNCATED, 200, SEINE_PHASE_BODY, true, SEINE_E_BODY_TRUNCATED, F,
         F, SN_THEN_RETRY},
        {SEINE_E_TLS_ERROR, 0, SEINE_PHASE_TLS, false, SEINE_E_TLS_ERROR, F, F,
         SN_THEN_RETRY},
        {SEINE_E_TIMEOUT, 0, SEINE_PHASE_HEAD, true, SEINE_E_TIMEOUT, F, F,
         SN_THEN_RETRY},
        {SEINE_E_HEADER_TIMEOUT, 0, SEINE_PHASE_HEAD, true, SEINE_E_HEADER_TIMEOUT, F, F,
         SN_THEN_RETRY},
        {SEINE_E_STALLED, 200, SEINE_PHASE_BODY, true, SEINE_E_STALLED, F, F,
         SN_THEN_RETRY},
        /* the head says enough, whatever is wrong with the body */
        {SEINE_E_BAD_ENCODING, 503, SEINE_PHASE_BODY, true, SEINE_E_HTTP_BUSY, F, F,
         SN_THEN_RETRY},
        {SEINE_E_BAD_FRAMING, 429, SEINE_PHASE_BODY, true, SEINE_E_HTTP_BUSY, S, F,
         SN_THEN_RETRY},
        {SEINE_E_BODY_TRUNCATED, 500, SEINE_PHASE_BODY, true, SEINE_E_HTTP_BUSY, F, S,
         SN_THEN_RETRY},
        {SEINE_E_BODY_TOO_LARGE, 502, SEINE_PHASE_BODY, true, SEINE_E_HTTP_BUSY, F, S,
         SN_THEN_RETRY},
        {SEINE_E_STALLED, 404, SEINE_PHASE_BODY, true, SEINE_E_HTTP, S, S, SN_THEN_DONE},
        {SEINE_E_BAD_ENCODING, 404, SEINE_PHASE_BODY, true, SEINE_E_HTTP, S, S,
         SN_THEN_DONE},
        {SEINE_E_BAD_ENCODING, 200, SEINE_PHASE_BODY, true, SEINE_E_BAD_ENCODING, S, S,
         SN_THEN_DONE},
        /* names and trust */
        {SEINE_E_DNS_SERVFAIL, 0, SEINE_PHASE_DNS, false, SEINE_E_DNS_SERVFAIL, I, I,
         SN_THEN_RETRY},
        {SEINE_E_DNS_TIMEOUT, 0, SEINE_PHASE_DNS, false, SEINE_E_DNS_TIMEOUT, I, I,
         SN_THEN_RETRY},
        {SEINE_E_DNS_NXDOMAIN, 0, SEINE_PHASE_DNS, false, SEINE_E_DNS_NXDOMAIN, I, I,
         SN_THEN_DONE},
        {SEINE_E_TLS_CERT_EXPIRED, 0, SEINE_PHASE_TLS, false, SEINE_E_TLS_CERT_EXPIRED, I,
         I, SN_THEN_DONE},
        /* whole, and of no use */
        {SEINE_E_UNEXPECTED_304, 304, SEINE_PHASE_HEAD, true, SEINE_E_UNEXPECTED_304, S,
         S, SN_THEN_RETRY},
        {SEINE_E_UNEXPECTED_206, 206, SEINE_PHASE_HEAD, true, SEINE_E_UNEXPECTED_206, S,
         S, SN_THEN_RETRY},
        {SEINE_OK, 302, 0, true, SEINE_E_BAD_REDIRECT, S, S, SN_THEN_DONE},
        {SEINE_E_BAD_FRAMING, 200, SEINE_PHASE_BODY, true, SEINE_E_BAD_FRAMING, S, S,
         SN_THEN_DONE},
        {SEINE_E_BODY_TOO_LARGE, 200, SEINE_PHASE_BODY, true, SEINE_E_BODY_TOO_LARGE, S,
         S, SN_THEN_DONE},
        /* proxies */
        {SEINE_E_PROXY_ERROR, 0, SEINE_PHASE_CONNECT, false, SEINE_E_PROXY_ERROR, I, I,
         SN_THEN_RETRY},
        {SEINE_E_PROXY_AUTH, 407, SEINE_PHASE_CONNECT, false, SEINE_E_PROXY_AUTH, I, I,
         SN_THEN_DONE},
        /* our own rules and limits */
        {SEINE_E_BLOCKED_ADDRESS, 0, SEINE_PHASE_CONNECT, false, SEINE_E_BLOCKED_ADDRESS,
         I, I, SN_THEN_DONE},
        {SEINE_E_BLOCKED_SCHEME, 0, 0, false, SEINE_E_BLOCKED_SCHEME, I, I, SN_THEN_DONE},
        {SEINE_E_NOMEM, 0, 0, false, SEINE_E_NOMEM, I, I, SN_THEN_RETRY},
        {SEINE_E_BUDGET, 200, SEINE_PHASE_BODY, true, SEINE_E_BUDGET, I, I, SN_THEN_DONE},
        {SEINE_E_NO_FILES, 0, SEINE_PHASE_CONNECT, false, SEINE_E_NO_FILES, I, I,
         SN_THEN_LATER},
        {SEINE_E_NO_PORTS, 0, SEINE_PHASE_CONNECT, false, SEINE_E_NO_PORTS, I, I,
         SN_THEN_LATER},
        {SEINE_E_BUSY, 0, SEINE_PHASE_CONNECT, false, SEINE_E_BUSY, I, I, SN_THEN_LATER},
        {SEINE_E_LIMITED, 0, SEINE_PHASE_CONNECT, false, SEINE_E_LIMITED, I, I,
         SN_THEN_LATER},
        {SEINE_E_CANCELED, 0, SEINE_PHASE_HEAD, true, SEINE_E_CANCELED, I, I,
         SN_THEN_DONE},
        {SEINE_E_DEADLINE, 0, SEINE_PHASE_HEAD, true, SEINE_E_DEADLINE, I, I,
         SN_THEN_DONE},
    };

    EACH_ROW(i, rows) {
        fixture *f = set_up(NULL);
        sn_verdict r = ends(f, rows[i].code, rows[i].status, rows[i].phase, rows[i].sent);
        CHECK_EQ(f->v->end.fault.code, rows[i].kind);
        CHECK_EQ(seine_outcome_breaker(opened(f->v)), rows[i].breaker);
        CHECK_EQ(seine_outcome_throttle(opened(f->v)), rows[i].throttle);
        CHECK_EQ(r.then, rows[i].then);
        if (r.then == SN_THEN_DONE)
            CHECK_EQ(f->v->fault.code, rows[i].kind);
        bool is_attempt = rows[i].then != SN_THEN_LATER && rows[i].code != SEINE_E_BUDGET;
        CHECK_EQ(f->v->retry.attempts, is_attempt ? 1 : 0);
        CHECK_EQ(f->v->n_tries, rows[i].then == SN_THEN_RETRY ? 1 : 0);
        tear_down(f);
    }
}

static void
three_attempts(seine_fetch_opts *o)
{
    o->retry.max_attempts = 3;
}

TEST(s0_11_attempts_are_counted_and_the_last_failure_stays)
{
    fixture *f = set_up(three_attempts);
    sn_verdict r;

    r = answers(f, 500);
    CHECK_EQ(r.then, SN_THEN_RETRY);
    CHECK_EQ(r.at, T0 + SEINE_SECS(2)); /* one second after it ended */
    CHECK_EQ(r.why, SEINE_WAIT_BACKOFF);
    r = ends(f, SEINE_E_CONN_RESET, 0, SEINE_PHASE_HEAD, true);
    CHECK_EQ(r.then, SN_THEN_RETRY);
    CHECK_EQ(r.at, T0 + SEINE_SECS(3));
    r = answers(f, 502);
    CHECK_EQ(r.then, SN_THEN_DONE);
    CHECK_EQ(r.stop, SEINE_STOP_ATTEMPTS);
    CHECK_EQ(f->v->retry.attempts, 3);
    CHECK_EQ(f->v->fault.status, 502);
    CHECK_EQ(f->v->n_tries, 3);
    CHECK(f->v->tries[0].n == 1 && f->v->tries[0].status == 500 &&
          f->v->tries[0].wait == SEINE_SECS(1));
    CHECK(f->v->tries[1].n == 2 && f->v->tries[1].err == SEINE_E_CONN_RESET &&
          f->v->tries[1].wait == SEINE_SECS(2));
    CHECK(f->v->tries[2].n == 3 && f->v->tries[2].status == 502 &&
          f->v->tries[2].wait == -1);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(f->v->tries[i].took, SEINE_SECS(1));
    tear_down(f);
}

TEST(what_reached_for_the_outside_is_a_request)
{
    static const struct {
        seine_err code;
        bool sent, asked;
    } rows[] = {
        {SEINE_OK, true, true},
        {SEINE_E_CONN_RESET, true, true},
        {SEINE_E_CONNECT_REFUSED, false, true}, /* the server was asked and said no */
        {SEINE_E_CONNECT_TIMEOUT, false, true},
        {SEINE_E_DNS_NXDOMAIN, false, true},
        {SEINE_E_TLS_UNTRUSTED, false, true},
        {SEINE_E_CANCELED, true, true},
        {SEINE_E_CANCELED, false, false},
        {SEINE_E_BUSY, false, false}, /* our own limits kept it back */
        {SEINE_E_LIMITED, false, false},
        {SEINE_E_NO_FILES, false, false},
        {SEINE_E_NO_PORTS, false, false},
        {SEINE_E_NOMEM, false, false},
        {SEINE_E_BLOCKED_ADDRESS, false, false},
    };

    EACH_ROW(i, rows) {
        fixture *f = set_up(NULL);

        ends(f, rows[i].code, rows[i].code ? 0 : 200, SEINE_PHASE_CONNECT, rows[i].sent);
        CHECK_EQ(f->v->is_asked, rows[i].asked);
        CHECK_EQ(f->v->requests, rows[i].asked);
        tear_down(f);
    }
}

TEST(a_dead_kept_connection_is_replayed_once_and_not_counted)
{
    fixture *f = set_up(NULL);
    sn_visit *v = f->v;

    for (int round = 0; round < 2; round++) {
        sn_visit_clear_response(v);
        v->end.fault.code = SEINE_E_CONN_STALE;
        v->end.fault.sent = true;
        v->end.replayable = true;
        CHECK(!sn_verdict_judge(&f->shared, v, T0));
        CHECK_EQ(seine_outcome_breaker(opened(v)), SEINE_IGNORED);
        sn_verdict r = sn_verdict_next(&f->shared, v, T0, 0);
        if (round == 0) {
            CHECK_EQ(r.then, SN_THEN_REPLAY);
            CHECK_EQ(r.at, T0);
            CHECK(v->fresh && v->replayed);
            CHECK_EQ(v->retry.attempts, 0);
        } else { /* a second time in one attempt is a failure like any other */
            CHECK_EQ(r.then, SN_THEN_RETRY);
            CHECK_EQ(v->retry.attempts, 1);
            CHECK(!v->fresh && !v->replayed);
        }
    }
    CHECK_EQ(v->requests, 2);
    tear_down(f);
}

/* It left before anybody knew that the host wants a pause. */
TEST(a_request_that_is_excused_goes_again_after_the_pause_and_is_no_attempt)
{
    static const struct {
        bool excused, idempotent;
        seine_err code;
        uint32_t attempts;
        seine_span pause, deadline;
        bool yes;
    } rows[] = {
        {true, true, SEINE_E_HTTP_BUSY, 2, SEINE_SECS(7), SEINE_SECS(9), true},
        {true, true, SEINE_E_HTTP_BUSY, 2, 0, SEINE_SECS(9), true},
        {false, true, SEINE_E_HTTP_BUSY, 2, SEINE_SECS(7), SEINE_SECS(9), false},
        {true, false, SEINE_E_HTTP_BUSY, 2, SEINE_SECS(7), SEINE_SECS(9), false},
        {true, true, SEINE_E_CONN_RESET, 2, SEINE_SECS(7), SEINE_SECS(9), false},
        {true, true, SEINE_E_HTTP_BUSY, 1, SEINE_SECS(7), SEINE_SECS(9), false},
        {true, true, SEINE_E_HTTP_BUSY, 2, SEINE_SECS(7), SEINE_SECS(7), false},
        {true, true, SEINE_E_HTTP_BUSY, 2, SEINE_SECS(7), SEINE_SECS(7) + 1, true},
        {true, true, SEINE_E_HTTP_BUSY, 2, SEINE_SECS(300), SEINE_SECS(900), true},
        {true, true, SEINE_E_HTTP_BUSY, 2, SEINE_SECS(300) + 1, SEINE_SECS(900), false},
    };

    EACH_ROW(i, rows) {
        fixture *f = set_up(NULL);
        sn_visit *v = f->v;
        seine_retry_opts retry = *v->retry.opts;

        retry.max_attempts = rows[i].attempts;
        v->retry.opts = &retry;
        v->retry.idempotent = rows[i].idempotent;
        v->retry.deadline = v->deadline = T0 + rows[i].deadline;
        v->is_excused = rows[i].excused;
        v->fresh = v->replayed = v->is_unpaid = true;
        v->end.fault.code = rows[i].code;
        v->end.fault.status = rows[i].code == SEINE_E_HTTP_BUSY ? 429 : 0;
        v->end.fault.sent = true;
        v->end.fault.retry_after = rows[i].pause;
        sn_verdict r = sn_verdict_next(&f->shared, v, T0, 0);
        CHECK_EQ(v->retry.attempts, rows[i].yes ? 0 : 1);
        if (rows[i].yes) {
            CHECK_EQ(r.then, SN_THEN_RETRY);
            CHECK_EQ(r.at, T0 + rows[i].pause);
            CHECK(!v->fresh && !v->replayed && !v->is_unpaid);
        }
        v->retry.opts = &f->shared.opts.retry;
        tear_down(f);
    }
}

TEST(what_is_not_idempotent_is_repeated_only_if_nothing_left)
{
    fixture *f = set_up(NULL);

    f->v->retry.idempotent = false;
    CHECK_EQ(ends(f, SEINE_E_CONNECT_REFUSED, 0, SEINE_PHASE_CONNECT, false).then,
             SN_THEN_RETRY);
    sn_verdict r = ends(f, SEINE_E_CONN_RESET, 0, SEINE_PHASE_HEAD, true);
    CHECK_EQ(r.then, SN_THEN_DONE);
    CHECK_EQ(r.stop, SEINE_STOP_METHOD);
    tear_down(f);
}

TEST(want_of_descriptors_waits_a_tenth_of_a_second)
{
    fixture *f = set_up(NULL);
    seine_time now = T0 + SEINE_SECS(1);

    sn_verdict r = ends(f, SEINE_E_NO_FILES, 0, SEINE_PHASE_CONNECT, false);
    CHECK_EQ(r.at, now + SEINE_MS(100));
    CHECK_EQ(r.why, SEINE_WAIT_CONCURRENCY);
    r = ends(f, SEINE_E_BUSY, 0, SEINE_PHASE_CONNECT, false);
    CHECK_EQ(r.at, now); /* its host waits for the address */
    CHECK_EQ(r.why, SEINE_WAIT_ADDRESS);
    CHECK_EQ(f->v->retry.attempts, 0);
    CHECK_EQ(f->v->requests, 0);
    tear_down(f);
}

static void
say(fixture *f, uint16_t status, const char *name, const char *value)
{
    sn_visit_clear_response(f->v);
    f->v->end.fault.status = status;
    f->v->end.fault.sent = true;
    f->v->hint = SN_ARENA_NEW(&f->v->arena, seine_retry_hint);
    seine_retry_hint_init(f->v->hint, 0);
    seine_retry_hint_feed(f->v->hint, name, strlen(name), value, strlen(value));
    f->v->has_hint = true;
    CHECK(!sn_verdict_judge(&f->shared, f->v, T0));
}

TEST(a_wish_of_the_server_is_waited_for)
{
    fixture *f = set_up(NULL);

    say(f, 429, "Retry-After", "120");
    CHECK_EQ(f->v->end.fault.retry_after, SEINE_SECS(120));
    sn_verdict r = sn_verdict_next(&f->shared, f->v, T0, 0);
    CHECK_EQ(r.then, SN_THEN_RETRY);
    CHECK_EQ(r.at, T0 + SEINE_SECS(120));
    CHECK_EQ(r.why, SEINE_WAIT_RETRY_AFTER);
    say(f, 429, "RateLimit", "\"d\";r=0;t=30");
    r = sn_verdict_next(&f->shared, f->v, T0, 0);
    CHECK_EQ(r.at, T0 + SEINE_SECS(30));
    CHECK_EQ(r.why, SEINE_WAIT_RATE_LIMIT);
    tear_down(f);
}

TEST(a_wish_that_is_too_long_ends_the_visit)
{
    static const struct {
        uint16_t status;
        const char *wish;
        seine_err kind;
    } rows[] = {
        {429, "300", SEINE_E_HTTP_BUSY}, /* five minutes are waited for */
        {429, "301", SEINE_E_RETRY_AFTER_TOO_LONG},
        {503, "7200", SEINE_E_RETRY_AFTER_TOO_LONG},
        {404, "7200", SEINE_E_HTTP},
        {500, "7200", SEINE_E_HTTP_BUSY},
        {200, "7200", SEINE_OK},
    };

    EACH_ROW(i, rows) {
        fixture *f = set_up(NULL);
        bool again = rows[i].kind == SEINE_E_HTTP_BUSY;
        say(f, rows[i].status, "Retry-After", rows[i].wish);
        sn_verdict r = sn_verdict_next(&f->shared, f->v, T0, 0);
        CHECK_EQ(r.then, again ? SN_THEN_RETRY : SN_THEN_DONE);
        CHECK_EQ(again ? f->v->end.fault.code : f->v->fault.code, rows[i].kind);
        CHECK_EQ(f->v->retry.attempts, 1);
        if (rows[i].kind == SEINE_E_RETRY_AFTER_TOO_LONG) /* what the guards will hear */
            CHECK_EQ(f->v->end.fault.code, SEINE_E_HTTP_BUSY);
        tear_down(f);
    }
}

static void
accept_odd_ones(seine_fetch_opts *o)
{
    o->accept = (seine_status_set){{0}};
    seine_status_set_add(&o->accept, 404, 404);
    seine_status_set_add(&o->accept, 503, 503);
    seine_status_set_add(&o->accept, 302, 302);
}

TEST(an_accepted_status_wins_over_everything)
{
    static const struct {
        uint16_t status;
        seine_err kind;
    } rows[] = {{404, SEINE_OK}, {503, SEINE_OK}, {302, SEINE_OK}, {200, SEINE_E_HTTP}};

    EACH_ROW(i, rows) {
        fixture *f = set_up(accept_odd_ones);
        sn_verdict r = answers(f, rows[i].status);
        CHECK_EQ(r.then, SN_THEN_DONE);
        CHECK_EQ(f->v->fault.code, rows[i].kind);
        tear_down(f);
    }
    /* but only a whole answer has a status to accept */
    fixture *f = set_up(accept_odd_ones);
    CHECK_EQ(ends(f, SEINE_E_BODY_TRUNCATED, 404, SEINE_PHASE_BODY, true).then,
             SN_THEN_RETRY);
    tear_down(f);
}

static void
no_redirects(seine_fetch_opts *o)
{
    o->max_redirects = 0;
}

TEST(without_redirects_3xx_is_ok)
{
    for (uint16_t status = 300; status < 400; status++) {
        fixture *f = set_up(no_redirects);
        CHECK_EQ(answers(f, status).then, SN_THEN_DONE);
        CHECK_EQ(f->v->fault.code, SEINE_OK);
        tear_down(f);
    }
}

static bool
leads(fixture *f, uint16_t status, const char *location)
{
    sn_visit *v = f->v;

    sn_visit_clear_response(v);
    v->end.fault.status = status;
    v->end.fault.sent = true;
    v->location = sn_str_of(location);
    v->n_locations = 1;
    return sn_verdict_judge(&f->shared, v, T0);
}

TEST(a_redirect_moves_the_visit_and_is_no_attempt)
{
    fixture *f = set_up(NULL);
    sn_visit *v = f->v;

    v->fresh = v->replayed = true;
    CHECK(leads(f, 301, "/b"));
    CHECK(leads(f, 302, "http://b.test/c"));
    CHECK_EQ(v->n_hops, 2);
    CHECK_EQ(v->hops[0].status, 301);
    CHECK(memcmp(v->hops[0].url.ptr, "http://a.test/", v->hops[0].url.len) == 0);
    CHECK(memcmp(v->hops[1].url.ptr, "http://a.test/b", v->hops[1].url.len) == 0);
    CHECK_STR(seine_url_href(&v->url).ptr, "http://b.test/c");
    CHECK_STR(seine_url_href(v->first).ptr, "http://a.test/");
    CHECK_EQ(v->retry.attempts, 0);
    CHECK_EQ(v->requests, 2);
    CHECK_EQ(v->lane, 0);
    CHECK(!v->fresh && !v->replayed);
    CHECK_EQ(answers(f, 200).then, SN_THEN_DONE);
    CHECK_EQ(v->retry.attempts, 1);
    tear_down(f);
}

TEST(a_redirect_reaches_no_further_than_who_sent_it)
{
    fixture *f = set_up(NULL);
    sn_visit *v = f->v;

    CHECK_EQ(v->ceiling, SN_ADDRESS_LOCAL);
    sn_visit_clear_response(v);
    v->end.zone = SN_ADDRESS_PRIVATE;
    v->end.fault.status = 302;
    v->location = SN_STR("/x");
    v->n_locations = 1;
    CHECK(sn_verdict_judge(&f->shared, v, T0));
    CHECK_EQ(v->ceiling, SN_ADDRESS_PRIVATE);
    CHECK(leads(f, 302, "/y")); /* from a public peer */
    CHECK_EQ(v->ceiling, SN_ADDRESS_PUBLIC);
    sn_visit_clear_response(v);
    v->end.zone = SN_ADDRESS_LOCAL;
    v->end.fault.status = 302;
    v->location = SN_STR("/z");
    v->n_locations = 1;
    CHECK(sn_verdict_judge(&f->shared, v, T0));
    CHECK_EQ(v->ceiling, SN_ADDRESS_PUBLIC); /* never up again */
    tear_down(f);
}

TEST(a_post_that_becomes_get_loses_its_body_and_may_be_repeated)
{
    fixture *f = set_up(NULL);
    sn_visit *v = f->v;

    v->method = SN_STR("POST");
    v->body = SN_STR("data");
    v->retry.idempotent = false;
    CHECK(leads(f, 307, "/keep"));
    CHECK(sn_str_eq(v->method, SN_STR("POST")) && v->body.len == 4);
    CHECK(!v->retry.idempotent);
    CHECK(leads(f, 303, "/see"));
    CHECK(sn_str_eq(v->method, SN_STR("GET")) && v->body.len == 0);
    CHECK(v->retry.idempotent);
    tear_down(f);
}

TEST(the_eleventh_redirect_is_too_many)
{
    fixture *f = set_up(NULL);

    for (int i = 0; i < 10; i++)
        CHECK(leads(f, 302, "/again"));
    CHECK(!leads(f, 302, "/again"));
    CHECK_EQ(sn_verdict_next(&f->shared, f->v, T0, 0).then, SN_THEN_DONE);
    CHECK_EQ(f->v->fault.code, SEINE_E_TOO_MANY_REDIRECTS);
    CHECK_EQ(f->v->n_hops, 10);
    tear_down(f);
}

TEST(an_unexpected_304_or_206_is_tried_once_more)
{
    fixture *f = set_up(NULL);

    CHECK_EQ(ends(f, SEINE_E_UNEXPECTED_304, 304, SEINE_PHASE_HEAD, true).then,
             SN_THEN_RETRY);
    sn_verdict r = ends(f, SEINE_E_UNEXPECTED_206, 206, SEINE_PHASE_HEAD, true);
    CHECK_EQ(r.then, SN_THEN_DONE);
    CHECK_EQ(r.stop, SEINE_STOP_FINAL);
    CHECK_EQ(f->v->fault.code, SEINE_E_UNEXPECTED_206);
    CHECK_EQ(f->v->retry.attempts, 2);
    tear_down(f);
}

TEST(want_of_memory_for_a_body_is_told_as_such)
{
    static const struct {
        seine_err err, kind;
    } rows[] = {{SEINE_E_BUDGET, SEINE_E_BUDGET},
                {SEINE_E_NOMEM, SEINE_E_NOMEM},
                {SEINE_E_FULL, SEINE_E_BODY_TOO_LARGE}};

    EACH_ROW(i, rows) {
        fixture *f = set_up(NULL);
        sn_visit_clear_response(f->v);
        f->v->end.fault.code = SEINE_E_CANCELED; /* we said that we had enough */
        f->v->end.fault.status = 200;
        f->v->kept.err = rows[i].err;
        CHECK(!sn_verdict_judge(&f->shared, f->v, T0));
        CHECK_EQ(f->v->end.fault.code, rows[i].kind);
        sn_visit_clear_response(f->v);
        f->v->end.fault.status = 200; /* it ended before we could say so */
        f->v->kept.err = SEINE_E_NOMEM;
        CHECK(!sn_verdict_judge(&f->shared, f->v, T0));
        CHECK_EQ(f->v->end.fault.code, SEINE_E_NOMEM);
        f->v->kept.err = SEINE_OK;
        tear_down(f);
    }
}

TEST(s0_05_the_time_of_the_url_is_told_from_that_of_the_attempt)
{
    fixture *f = set_up(NULL);
    sn_visit *v = f->v;
    static const struct {
        seine_span left; /* of the URL when the attempt began */
        seine_err kind;
    } rows[] = {{SEINE_SECS(31), SEINE_E_TIMEOUT},
                {SEINE_SECS(30), SEINE_E_TIMEOUT},
                {SEINE_SECS(30) - 1, SEINE_E_DEADLINE}};

    EACH_ROW(i, rows) {
        sn_visit_clear_response(v);
        v->started_at = T0;
        v->deadline = T0 + rows[i].left;
        v->end.fault.code = SEINE_E_TIMEOUT;
        CHECK(!sn_verdict_judge(&f->shared, v,
                                sn_time_min(v->deadline, T0 + SEINE_SECS(30))));
        CHECK_EQ(v->end.fault.code, rows[i].kind);
    }
    tear_down(f);
}

/* A host whose robots.txt is a 404 would be lost with the rest of its page. */
TEST(what_the_head_says_counts_though_the_time_of_the_url_runs_out_in_its_body)
{
    fixture *f = set_up(NULL);
    sn_visit *v = f->v;
    static const struct {
        uint16_t status;
        seine_err kind;
    } rows[] = {{404, SEINE_E_HTTP}, {503, SEINE_E_HTTP_BUSY}, {200, SEINE_E_DEADLINE}};

    EACH_ROW(i, rows) {
        sn_visit_clear_response(v);
        v->started_at = T0;
        v->deadline = T0 + SEINE_SECS(5);
        v->end.fault.code = SEINE_E_TIMEOUT;
        v->end.fault.status = rows[i].status;
        v->end.fault.phase = SEINE_PHASE_BODY;
        v->end.partial = true;
        CHECK(!sn_verdict_judge(&f->shared, v, v->deadline));
        CHECK_EQ(v->end.fault.code, rows[i].kind);
    }
    tear_down(f);
}

TEST(whoever_is_given_up_says_so_and_what_it_had_come_to)
{
    fixture *f = set_up(NULL);

    sn_verdict_give_up(f->v, SEINE_E_BREAKER, SEINE_E_CONNECT);
    CHECK_EQ(f->v->fault.code, SEINE_E_BREAKER);
    CHECK_STR(f->v->fault.text, "could not connect");
    answers(f, 500);
    sn_verdict_give_up(f->v, SEINE_E_BREAKER, SEINE_OK);
    CHECK_EQ(f->v->fault.code, SEINE_E_BREAKER);
    CHECK_EQ(f->v->fault.status, 500);
    CHECK_STR(f->v->fault.text, "HTTP 500 after 1 attempt");
    ends(f, SEINE_E_CONN_RESET, 0, SEINE_PHASE_HEAD, true);
    sn_verdict_give_up(f->v, SEINE_E_BREAKER, SEINE_OK);
    CHECK_STR(f->v->fault.text, "connection reset by the server after 2 attempts");
    answers(f, 500);
    sn_verdict_give_up(f->v, SEINE_E_CANCELED, SEINE_OK); /* a stop is a stop */
    CHECK_EQ(f->v->fault.code, SEINE_E_CANCELED);
    CHECK_EQ(f->v->fault.status, 500);
    tear_down(f);

    f = set_up(NULL); /* a redirect that went well is no failure */
    CHECK(leads(f, 302, "/x"));
    sn_verdict_give_up(f->v, SEINE_E_RETRY_AFTER_TOO_LONG, SEINE_OK);
    CHECK_EQ(f->v->fault.code, SEINE_E_RETRY_AFTER_TOO_LONG);
    tear_down(f);
}

TEST(tries_are_remembered_as_far_as_memory_goes)
{
    fixture *f = set_up(NULL);

    seine_retry_opts opts = *f->v->retry.opts;
    opts.max_attempts = 20;
    f->v->retry.opts = &opts;
    for (uint32_t i = 1; i < 20; i++) {
        CHECK_EQ(answers(f, (uint16_t)(500 + i % 5 * 10)).then, SN_THEN_RETRY);
        CHECK_EQ(f->v->n_tries, i);
    }
    for (uint32_t i = 0; i < 19; i++)
        CHECK_EQ(f->v->tries[i].n, i + 1);
    tear_down(f);
}
