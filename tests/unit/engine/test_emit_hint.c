/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/emit.h"

#include <string.h>

#include "check.h"

/* Options whose times all differ, so that a limit belongs to one of them. */
static seine_fetch_opts
distinct(void)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    o.timeout = SEINE_SECS(30);
    o.connect_timeout = SEINE_SECS(10);
    o.dns_timeout = SEINE_SECS(4);
    o.tcp_timeout = SEINE_SECS(5);
    o.tls_timeout = SEINE_SECS(6);
    o.head_timeout = SEINE_SECS(20);
    o.max_body = 1000;
    o.max_wire = 500;
    return o;
}

static sn_visit
failed(seine_err code)
{
    sn_visit v = {.fault = SN_FAULT, .timeout = SEINE_SECS(30)};

    v.fault.code = v.end.fault.code = code;
    return v;
}

TEST(hints_of_timeouts_name_the_limit_that_was_hit)
{
    static const struct {
        seine_err code;
        int64_t limit_ms;
        const char *hint;
    } rows[] = {
        {SEINE_E_DNS_TIMEOUT, 4000,
         "check the name server, name another by @dns, or raise @dns_timeout"},
        {SEINE_E_DNS_TIMEOUT, 10000, "check the name server, or raise @connect_timeout"},
        {SEINE_E_CONNECT_TIMEOUT, 5000, "check the network, or raise @tcp_timeout"},
        {SEINE_E_CONNECT_TIMEOUT, 10000, "check the network, or raise @connect_timeout"},
        {SEINE_E_CONNECT_UNREACHABLE, 0, "check the network"}, /* no time was too short */
        {SEINE_E_TLS_TIMEOUT, 6000, "raise @tls_timeout"},
        {SEINE_E_TLS_TIMEOUT, 10000, "raise @connect_timeout"},
        {SEINE_E_HEADER_TIMEOUT, 20000, "raise @head_timeout or lower @per_host"},
        {SEINE_E_TIMEOUT, 30000, "raise @timeout"},
    };
    const seine_fetch_opts o = distinct();

    EACH_ROW(i, rows) {
        sn_visit v = failed(rows[i].code);

        v.fault.timeout_ms = rows[i].limit_ms;
        CHECK_STR(sn_emit_hint(&v, &o), rows[i].hint);
    }
    sn_visit own = failed(SEINE_E_TIMEOUT); /* {"url":…,"timeout":"2s"} */
    own.timeout = SEINE_SECS(2);
    own.fault.timeout_ms = 2000;
    CHECK_STR(sn_emit_hint(&own, &o), "raise the timeout that was given with this URL");
}

TEST(hints_of_sizes_name_the_cap_that_was_reached)
{
    static const struct {
        uint64_t wire, body;
        const char *hint;
    } rows[] = {
        {501, 501, "raise @max_wire"},
        {500, 500, "it unpacks as bombs do; raise @max_ratio if you trust it"},
        {20, 999, "it unpacks as bombs do; raise @max_ratio if you trust it"},
        {400, 1000, "raise @max_body"}, /* packed, and too large unpacked */
        {20, 900, "it unpacks as bombs do; raise @max_ratio if you trust it"},
    };
    const seine_fetch_opts o = distinct();

    EACH_ROW(i, rows) {
        sn_visit v = failed(SEINE_E_BODY_TOO_LARGE);

        v.end.wire_bytes = rows[i].wire;
        v.end.body_bytes = rows[i].body;
        CHECK_STR(sn_emit_hint(&v, &o), rows[i].hint);
    }
}

TEST(hints_of_redirects_name_what_refused_them)
{
    seine_fetch_opts o = distinct();
    char mem[SEINE_URL_ROOM];
    seine_hop hops[] = {{{"http://a.test/1", 15}, 302}, {{"http://a.test/2", 15}, 302}};
    sn_visit v = failed(SEINE_E_TOO_MANY_REDIRECTS);

    seine_url_init(&v.url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&v.url, "http://a.test/3", 15, NULL), SEINE_OK);
    v.hops = hops;
    v.n_hops = 2;
    CHECK_STR(sn_emit_hint(&v, &o), "raise @max_redirects");
    CHECK_EQ(seine_url_parse(&v.url, "http://a.test/1", 15, NULL), SEINE_OK);
    CHECK_STR(sn_emit_hint(&v, &o), "the redirects lead in a circle: tell the site");

    v = failed(SEINE_E_REDIRECT_REFUSED);
    v.location = SN_STR("http://b.test/");
    CHECK_STR(sn_emit_hint(&v, &o), "@follow_body sends the body on to the other origin");
    o.https_only = true;
    CHECK_STR(sn_emit_hint(&v, &o), "it leads to http, which @https_only forbids");
    v.location = SN_STR("https://b.test/");
    CHECK_STR(sn_emit_hint(&v, &o), "@follow_body sends the body on to the other origin");
}

TEST(hints_about_a_pace_know_whether_the_host_is_ours)
{
    seine_fetch_opts o = distinct();
    sn_visit busy = failed(SEINE_E_HTTP_BUSY), slow = failed(SEINE_E_HEADER_TIMEOUT);

    busy.fault.status = 429;
    busy.at_home = slow.at_home = true;
    CHECK_STR(sn_emit_hint(&busy, &o), "lower @host_rate");
    o.mine = true; /* these limits are off there */
    CHECK_STR(sn_emit_hint(&busy, &o), "ask more slowly: @rate, or without @mine");
    CHECK_STR(sn_emit_hint(&slow, &o), "raise @head_timeout or lower @concurrency");
    busy.at_home = false;
    CHECK_STR(sn_emit_hint(&busy, &o), "lower @host_rate");
    busy.fault.status = 503;
    CHECK(sn_emit_hint(&busy, &o) == NULL);
}

TEST(hints_of_budgets_tell_memory_from_bytes)
{
    seine_fetch_opts o = distinct();
    sn_visit v = failed(SEINE_E_BUDGET);

    CHECK_STR(sn_emit_hint(&v, &o), "raise @max_memory or lower @concurrency");
    o.max_bytes = 100;
    CHECK_STR(sn_emit_hint(&v, &o), "raise @max_memory or lower @concurrency");
    v.end.fault.code = SEINE_E_HTTP_BUSY; /* it waited for a retry when the run ended */
    CHECK_STR(sn_emit_hint(&v, &o), "raise @max_bytes");
    v = failed(SEINE_E_NOMEM); /* not a limit of ours */
    CHECK_STR(sn_emit_hint(&v, &o),
              "this machine has no more: lower @concurrency or @max_memory");
}

/* What is not in the table gets no advice: seine knows none. */
TEST(every_failure_that_a_user_can_do_something_about_says_what)
{
    static const struct {
        seine_err code;
        uint16_t status;
        const char *part;
    } rows[] = {
        {SEINE_E_DNS_NXDOMAIN, 0, "host name"},
        {SEINE_E_DNS_BAD_NAME, 0, "host name"},
        {SEINE_E_DNS_TIMEOUT, 0, "@dns_timeout"},
        {SEINE_E_DNS_SERVFAIL, 0, "@dns ADDR"},
        {SEINE_E_DNS_ERROR, 0, "@dns ADDR"},
        {SEINE_E_CONNECT_REFUSED, 0, "host and port"},
        {SEINE_E_CONNECT_TIMEOUT, 0, "@connect_timeout"},
        {SEINE_E_CONNECT_UNREACHABLE, 0, "network"},
        {SEINE_E_TLS_TIMEOUT, 0, "@connect_timeout"},
        {SEINE_E_TLS_ERROR, 0, "http://"},
        {SEINE_E_TLS_CERT_EXPIRED, 0, "@insecure_hosts=HOST"},
        {SEINE_E_TLS_HOST_MISMATCH, 0, "@insecure_hosts=HOST"},
        {SEINE_E_TLS_UNTRUSTED, 0, "@cacert FILE"},
        {SEINE_E_PROXY_ERROR, 0, "http_proxy"},
        {SEINE_E_PROXY_REFUSED, 0, "@no_proxy HOST"},
        {SEINE_E_PROXY_AUTH, 0, "@proxy http://USER:PASSWORD@HOST:PORT"},
        {SEINE_E_HEADER_TIMEOUT, 0, "@head_timeout"},
        {SEINE_E_TIMEOUT, 0, "@timeout"},
        {SEINE_E_STALLED, 0, "@speed_bytes"},
        {SEINE_E_HTTP, 401, "Authorization"},
        {SEINE_E_HTTP, 403, "says no"},
        {SEINE_E_HTTP, 404, "path of the URL"},
        {SEINE_E_HTTP, 410, "path of the URL"},
        {SEINE_E_HTTP_BUSY, 429, "@host_rate"},
        {SEINE_E_BAD_ENCODING, 200, "@raw_encoding"},
        {SEINE_E_BODY_TOO_LARGE, 200, "@max_ratio"},
        {SEINE_E_TOO_MANY_REDIRECTS, 302, "@max_redirects"},
        {SEINE_E_REDIRECT_REFUSED, 302, "@follow_body"},
        {SEINE_E_BLOCKED_ADDRESS, 0, "@allow_net CIDR"},
        {SEINE_E_RETRY_AFTER_TOO_LONG, 503, "@max_retry_after"},
        {SEINE_E_BREAKER, 0, "@breaker off"},
        {SEINE_E_BUDGET, 0, "@max_memory"},
        {SEINE_E_NOMEM, 0, "this machine"},
        {SEINE_E_NO_FILES, 0, "ulimit -n"},
        {SEINE_E_NO_PORTS, 0, "@concurrency"},
    };
    seine_fetch_opts o = distinct();

    for (int code = 0; code < SEINE_ERR_ROOM; code++) {
        sn_visit v = failed((seine_err)code);
        size_t i = 0;

        while (i < sizeof rows / sizeof *rows && (int)rows[i].code != code)
            i++;
        if (i == sizeof rows / sizeof *rows) {
            CHECK(sn_emit_hint(&v, &o) == NULL);
            continue;
        }
        for (; i < sizeof rows / sizeof *rows && (int)rows[i].code == code; i++) {
            v.fault.status = rows[i].status;
            const char *hint = sn_emit_hint(&v, &o);
            CHECK(hint && strstr(hint, rows[i].part));
        }
    }
    sn_visit v = failed(SEINE_E_TLS_ERROR);
    o.tls_min = 13;
    CHECK(strstr(sn_emit_hint(&v, &o), "@tls_min"));
    v = failed(SEINE_E_PROXY_ERROR);
    o.proxy = "http://p.test";
    CHECK_STR(sn_emit_hint(&v, &o), "check @proxy");
}
