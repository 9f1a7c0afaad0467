/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/outcome.h"

#include "base/err.h"
#include "check.h"

#define S SEINE_SUCCESS
#define F SEINE_FAILURE
#define I SEINE_IGNORED

static seine_fault
fault(seine_err code, uint16_t status)
{
    seine_fault f = SEINE_FAULT;

    f.code = code;
    f.status = status;
    f.sent = true;
    return f;
}

TEST(x_26_outcome_of_every_kind_of_end)
{
    static const struct {
        seine_err code;
        uint16_t status;
        seine_outcome breaker, throttle;
    } rows[] = {
        {SEINE_OK, 200, S, S},
        {SEINE_OK, 304, S, S},
        {SEINE_E_HTTP, 404, S, S},
        {SEINE_E_HTTP, 403, S, S},
        {SEINE_E_HTTP, 413, S, S},
        {SEINE_E_HTTP_BUSY, 429, S, F}, /* limiter and throttle, not the breaker */
        {SEINE_E_HTTP_BUSY, 408, S, S},
        {SEINE_E_HTTP_BUSY, 425, S, S},
        {SEINE_E_HTTP_BUSY, 503, F, F},
        {SEINE_E_HTTP_BUSY, 500, F, S},
        {SEINE_E_HTTP_BUSY, 599, F, S},
        {SEINE_E_HTTP, 501, S, S},
        {SEINE_E_HTTP, 505, S, S},
        {SEINE_E_CONNECT, 0, F, F},
        {SEINE_E_CONNECT_REFUSED, 0, F, F},
        {SEINE_E_TLS_ERROR, 0, F, F},
        {SEINE_E_RESET, 0, F, F},
        {SEINE_E_HEADER_TRUNCATED, 0, F, F},
        {SEINE_E_H2_STREAM, 0, F, F},
        {SEINE_E_SHORT, 200, F, F},
        {SEINE_E_BODY_TRUNCATED, 200, F, F},
        {SEINE_E_TIMEOUT, 0, F, F},
        {SEINE_E_STALLED, 200, F, F},
        {SEINE_E_DNS_AGAIN, 0, I, I},
        {SEINE_E_DNS_SERVFAIL, 0, I, I},
        {SEINE_E_DNS_NXDOMAIN, 0, I, I},
        {SEINE_E_TLS, 0, I, I},
        {SEINE_E_TLS_CERT_EXPIRED, 0, I, I},
        {SEINE_E_CONN_STALE, 0, I, I},
        {SEINE_E_UNEXPECTED_304, 304, S, S},
        {SEINE_E_TOO_MANY_REDIRECTS, 302, S, S},
        {SEINE_E_REDIRECT_REFUSED, 302, S, S},
        {SEINE_E_PARSE, 200, S, S},
        {SEINE_E_BODY_TOO_LARGE, 200, S, S},
        {SEINE_E_PROXY_ERROR, 502, I, I},
        {SEINE_E_PROXY_REFUSED, 403, I, I},
        {SEINE_E_PROXY_AUTH, 407, I, I},
        {SEINE_E_BLOCKED_ADDRESS, 0, I, I},
        {SEINE_E_ROBOTS, 0, I, I},
        {SEINE_E_ROBOTS_UNREACHABLE, 0, I, I},
        {SEINE_E_BAD_URL, 0, I, I},
        {SEINE_E_BUDGET, 0, I, I},
        {SEINE_E_NOMEM, 0, I, I},
        {SEINE_E_NO_FILES, 0, I, I},
        {SEINE_E_CANCELED, 0, I, I},
        {SEINE_E_DEADLINE, 0, I, I},
        {SEINE_E_DISK_FULL, 0, I, I},
        {SEINE_E_CONFIG, 0, I, I},
    };

    EACH_ROW(i, rows) {
        seine_fault f = fault(rows[i].code, rows[i].status);

        CHECK_EQ(seine_outcome_breaker(&f), rows[i].breaker);
        CHECK_EQ(seine_outcome_throttle(&f), rows[i].throttle);
    }
}

TEST(outcome_of_a_timeout_of_the_resolver_or_a_proxy_is_not_the_hosts)
{
    static const seine_phase phases[] = {SEINE_PHASE_DNS, SEINE_PHASE_PROXY};

    EACH_ROW(i, phases) {
        seine_fault f = fault(SEINE_E_TIMEOUT, 0);

        f.phase = phases[i];
        CHECK_EQ(seine_outcome_breaker(&f), SEINE_IGNORED);
        CHECK_EQ(seine_outcome_throttle(&f), SEINE_IGNORED);
    }
}

TEST(outcome_of_anything_local_never_counts_against_a_host)
{
    for (int e = 1; e < SN_ERR_COUNT; e++) {
        seine_fault f = fault((seine_err)e, 0);

        if (seine_err_class((seine_err)e) != SEINE_LOCAL)
            continue;
        CHECK_EQ(seine_outcome_breaker(&f), SEINE_IGNORED);
        CHECK_EQ(seine_outcome_throttle(&f), SEINE_IGNORED);
    }
}

TEST(outcome_pauses_where_the_server_may_ask_for_it)
{
    static const struct {
        uint16_t status;
        seine_span wish, want;
    } rows[] = {
        {429, 5, 5}, {503, 5, 5},   {413, 5, 5},  {301, 5, 5},
        {399, 5, 5}, {200, 5, -1},  {500, 5, -1}, {404, 5, -1},
        {429, 0, 0}, {429, -1, -1}, {400, 5, -1},
    };

    EACH_ROW(i, rows) {
        seine_fault f = fault(SEINE_OK, rows[i].status);

        f.retry_after = rows[i].wish;
        CHECK_EQ(seine_outcome_pause(&f), rows[i].want);
    }
}

TEST(outcome_gives_tokens_back_only_for_what_was_unsent_and_our_own)
{
    static const struct {
        seine_err code;
        bool sent, want;
    } rows[] = {
        {SEINE_E_CANCELED, false, true}, {SEINE_E_CANCELED, true, false},
        {SEINE_E_DEADLINE, false, true}, {SEINE_E_BLOCKED_ADDRESS, false, true},
        {SEINE_E_ROBOTS, false, true},   {SEINE_E_ROBOTS_UNREACHABLE, false, true},
        {SEINE_E_BUDGET, false, false},  {SEINE_E_NO_FILES, false, false},
        {SEINE_E_CONNECT, false, false}, /* the host was asked */
        {SEINE_OK, false, false},
    };

    EACH_ROW(i, rows) {
        seine_fault f = fault(rows[i].code, 0);

        f.sent = rows[i].sent;
        CHECK_EQ(seine_outcome_undo(&f), rows[i].want);
    }
}
