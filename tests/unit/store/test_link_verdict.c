/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/link_verdict.h"

#include "check.h"

static const char *
verdict(const seine_record *r)
{
    return seine_link_verdict_name(seine_link_verdict_of(r));
}

TEST(link_verdict_of_a_result_follows_the_table)
{
    static const struct {
        seine_fate fate;
        seine_err code;
        uint16_t status;
        const char *want;
    } rows[] = {
        {SEINE_FATE_OK, SEINE_OK, 200, "ok"},
        {SEINE_FATE_OK, SEINE_OK, 204, "ok"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 404, "broken"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 410, "broken"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 400, "broken"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 500, "broken"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP_BUSY, 503, "broken"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 401, "denied"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 403, "denied"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 407, "denied"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP_BUSY, 429, "denied"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 451, "denied"},
        {SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 999, "denied"},
        {SEINE_FATE_GAVE_UP, SEINE_E_RETRY_AFTER_TOO_LONG, 429, "denied"},
        {SEINE_FATE_GAVE_UP, SEINE_E_BREAKER, 0, "unknown"},
        {SEINE_FATE_GAVE_UP, SEINE_E_RETRY_AFTER_TOO_LONG, 503, "unknown"},
        {SEINE_FATE_NETWORK_ERROR, SEINE_E_CONNECT_REFUSED, 0, "broken"},
        {SEINE_FATE_NETWORK_ERROR, SEINE_E_DNS_NXDOMAIN, 0, "broken"},
        {SEINE_FATE_NETWORK_ERROR, SEINE_E_TLS_CERT_EXPIRED, 0, "broken"},
        {SEINE_FATE_TIMEOUT, SEINE_E_HEADER_TIMEOUT, 0, "timeout"},
        {SEINE_FATE_BAD_RESPONSE, SEINE_E_TOO_MANY_REDIRECTS, 302, "broken"},
        {SEINE_FATE_BAD_RESPONSE, SEINE_E_BODY_TRUNCATED, 200, "broken"},
        {SEINE_FATE_BAD_RESPONSE, SEINE_E_BODY_TOO_LARGE, 200, "ok"},
        {SEINE_FATE_BAD_RESPONSE, SEINE_E_BODY_TOO_LARGE, 404, "broken"},
        {SEINE_FATE_BLOCKED, SEINE_E_ROBOTS, 0, "excluded"},
        {SEINE_FATE_BLOCKED, SEINE_E_ROBOTS_UNREACHABLE, 0, "unknown"},
        {SEINE_FATE_CANCELED, SEINE_E_CANCELED, 0, "unknown"},
    };

    EACH_ROW(i, rows) {
        seine_fault fault = {.code = rows[i].code, .status = rows[i].status};
        seine_record r = {.type = SEINE_RECORD_RESULT,
                          .fate = rows[i].fate,
                          .fault = &fault,
                          .status = rows[i].status};

        CHECK_STR(verdict(&r), rows[i].want);
    }
}

TEST(link_verdict_knows_permanent_redirects)
{
    static const struct {
        uint16_t status;
        const char *want;
    } rows[] = {
        {301, "redirected"}, {308, "redirected"}, {302, "ok"}, {303, "ok"}, {307, "ok"}};

    EACH_ROW(i, rows) {
        seine_hop hops[] = {{{"", 0}, 302}, {{"", 0}, rows[i].status}};
        seine_record r = {
            .fate = SEINE_FATE_OK, .status = 200, .hops = hops, .n_hops = 2};

        CHECK_STR(verdict(&r), rows[i].want);
    }
}

TEST(link_verdict_of_a_skip_follows_its_reason)
{
    static const struct {
        seine_skip reason;
        const char *want;
    } rows[] = {{SEINE_SKIP_PATTERN, "excluded"},
                {SEINE_SKIP_ROBOTS, "excluded"},
                {SEINE_SKIP_SCHEME, "excluded"},
                {SEINE_SKIP_PRIVATE_ADDRESS, "excluded"},
                {SEINE_SKIP_BAD_URL, "broken"},
                {SEINE_SKIP_MIME, "ok"},
                {SEINE_SKIP_OFFSITE, "unknown"},
                {SEINE_SKIP_BUDGET, "unknown"},
                {SEINE_SKIP_ROBOTS_UNREACHABLE, "unknown"}};

    EACH_ROW(i, rows) {
        seine_record r = {.type = SEINE_RECORD_SKIP, .reason = rows[i].reason};

        CHECK_STR(verdict(&r), rows[i].want);
    }
}

TEST(link_verdict_of_a_host_given_up_is_that_of_every_attempt)
{
    seine_record_try tries[] = {{.err = SEINE_E_CONNECT_REFUSED}, {.status = 503}};
    seine_fault fault = {.code = SEINE_E_BREAKER};
    seine_record r = {
        .fate = SEINE_FATE_GAVE_UP, .fault = &fault, .tries = tries, .n_tries = 2};

    CHECK_STR(verdict(&r), "broken");
    r.n_tries = 1; /* one failure is not every attempt */
    CHECK_STR(verdict(&r), "unknown");
    r.n_tries = 2;
    tries[1] = (seine_record_try){.err = SEINE_E_HEADER_TIMEOUT};
    CHECK_STR(verdict(&r), "unknown");
    CHECK_STR(verdict(NULL), "unknown");
    CHECK(seine_link_verdict_name((seine_link_verdict)99) == NULL);
}
