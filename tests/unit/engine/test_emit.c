/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "check.h"
#include "engine/admit.h"
#include "script.h"

typedef struct fixture {
    sn_shared_state shared;
    sn_visit *v;
    sn_emit e;
} fixture;

static fixture *
set_up(const char *url)
{
    fixture *f = calloc(1, sizeof *f);
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_ask ask = SEINE_ASK;

    CHECK_EQ(sn_shared_state_init(&f->shared, &o, NULL), SEINE_OK);
    ask.url = (seine_view){url, strlen(url)};
    ask.line = 3;
    CHECK_EQ(sn_admit(&f->shared, &ask, T0, &f->v), SEINE_OK);
    f->v->end.http = 255;
    return f;
}

static void
tear_down(fixture *f)
{
    f->v->state = SN_EMITTED;
    sn_buf_reset(&f->v->kept);
    sn_visits_give(f->shared.visits, f->v);
    sn_shared_state_fini(&f->shared);
    free(f);
}

static const seine_record *
emit(fixture *f, unsigned keep)
{
    f->shared.opts.keep = keep;
    sn_emit_record(f->v, &f->shared.opts, 77, &f->e);
    return &f->e.record;
}

static bool
is(seine_view v, const char *text)
{
    return v.ptr && v.len == strlen(text) && memcmp(v.ptr, text, v.len) == 0;
}

static fixture *
set_up_answer(void)
{
    fixture *f = set_up("http://a.test/x");
    sn_visit *v = f->v;

    v->end = (sn_end){.fault = SN_FAULT,
                      .peer = {4, {203, 0, 113, 5}},
                      .http = 1,
                      .wire_bytes = 10,
                      .body_bytes = 20};
    v->end.fault.status = 200;
    v->end.spent[SEINE_PHASE_DNS] = 1;
    v->end.spent[SEINE_PHASE_CONNECT] = 2;
    v->end.spent[SEINE_PHASE_TLS] = 4;
    v->end.spent[SEINE_PHASE_SEND] = 8;
    v->end.spent[SEINE_PHASE_HEAD] = 16;
    v->end.spent[SEINE_PHASE_BODY] = 32;
    v->retry.attempts = 1;
    v->fault = v->end.fault;
    return f;
}

TEST(a_record_says_all_there_is_to_say)
{
    fixture *f = set_up_answer();
    sn_visit *v = f->v;

    v->content_type = SN_STR("text/html");
    v->charset = SN_STR("utf-8");
    v->content_length = 10;
    v->title = SN_STR("T");
    v->end.notes = SN_NOTE_LF | SN_NOTE_EXTRA_BYTES;
    for (int w = 0; w < SN_WAIT_COUNT; w++)
        v->waited[w] = 1 << w;
    const seine_record *r = emit(f, SEINE_KEEP_TITLE);
    CHECK_EQ(r->type, SEINE_RECORD_RESULT);
    CHECK_EQ(r->wall, 77);
    CHECK_EQ(r->line, 3);
    CHECK(is(r->input, "http://a.test/x") && is(r->url, "http://a.test/x"));
    CHECK(is(r->key, "http://a.test/x") && is(r->final_url, "http://a.test/x"));
    CHECK(is(r->method, "GET") && is(r->host, "a.test") && is(r->ip, "203.0.113.5"));
    CHECK_EQ(r->http, 11);
    CHECK_EQ(r->fate, SEINE_FATE_OK);
    CHECK_EQ(r->fault->code, SEINE_OK);
    CHECK(r->message.ptr == NULL && r->hint.ptr == NULL && !r->retryable);
    CHECK_EQ(r->status, 200);
    CHECK_EQ(r->attempts, 1);
    CHECK(is(r->content_type, "text/html") && is(r->charset, "utf-8"));
    CHECK_EQ(r->content_length, 10);
    CHECK(r->bytes_in == 10 && r->bytes_body == 20 && !r->partial);
    CHECK_EQ(r->n_notes, 2);
    CHECK_STR(r->notes[0], "lf");
    CHECK_STR(r->notes[1], "extra_bytes");
    CHECK(is(r->title, "T"));
    CHECK(r->body.ptr == NULL && r->sha256 == NULL && r->fields == NULL);
    CHECK(r->dns == 1 && r->connect == 2 && r->tls == 4 && r->ttfb == 24 &&
          r->body_time == 32);
    CHECK_EQ(seine_record_latency(r), 63);
    seine_span backoff = 1 << SEINE_WAIT_BACKOFF | 1 << SEINE_WAIT_RETRY_AFTER;
    seine_span all = (1 << SN_WAIT_COUNT) - 1;
    CHECK_EQ(r->queue, 1 << SEINE_WAIT_QUEUE);
    CHECK_EQ(r->backoff, backoff);
    CHECK_EQ(r->retry_budget, 1 << SEINE_WAIT_RETRY_BUDGET);
    CHECK_EQ(r->throttle,
             all - backoff - (1 << SEINE_WAIT_QUEUE) - (1 << SEINE_WAIT_RETRY_BUDGET));
    CHECK_EQ(r->total, all + 63); /* never less than its parts … */
    v->life = all + 99;           /* … and as long as the URL was under way */
    CHECK_EQ(emit(f, SEINE_KEEP_TITLE)->total, all + 99);
    tear_down(f);
}

TEST(a_url_that_was_never_sent_has_no_answer)
{
    fixture *f = set_up("http://a.test/");

    f->v->fault.code = SEINE_E_BREAKER;
    const seine_record *r = emit(f, SEINE_KEEP_BODY | SEINE_KEEP_TITLE);
    CHECK_EQ(r->fate, SEINE_FATE_GAVE_UP);
    CHECK(r->final_url.ptr == NULL && r->ip.ptr == NULL && r->body.ptr == NULL);
    CHECK(r->http == 0 && r->status == 0 && r->attempts == 0 && r->total == 0);
    CHECK_EQ(r->content_length, -1);
    CHECK(is(r->message, "circuit breaker is open"));
    CHECK(r->hint.len > 0 && r->retryable);
    tear_down(f);
}

TEST(the_fault_of_a_record_names_its_url_and_what_was_said)
{
    fixture *f = set_up("http://a.test/");

    f->v->fault = (sn_fault)SN_FAULT;
    CHECK(!emit(f, 0)->fault->url[0] && !emit(f, 0)->fault->text[0]);
    f->v->fault.code = SEINE_E_TLS_UNTRUSTED;
    f->v->fault.phase = SEINE_PHASE_TLS;
    f->v->fault.text = "self-signed certificate";
    const seine_fault *fault = emit(f, 0)->fault;
    CHECK_EQ(fault->code, SEINE_E_TLS_UNTRUSTED);
    CHECK_EQ(fault->phase, SEINE_PHASE_TLS);
    CHECK_STR(fault->url, "http://a.test/");
    CHECK_STR(fault->text, "self-signed certificate");
    f->v->fault.text = NULL;
    CHECK_STR(emit(f, 0)->fault->text, "");
    tear_down(f);
}

TEST(the_url_of_a_failure_is_cut_where_its_room_ends)
{
    enum { ROOM = sizeof((seine_fault *)0)->url };
    static const size_t lens[] = {ROOM - 1, ROOM, ROOM + 1, 2 * ROOM};

    EACH_ROW(i, lens) {
        fixture *f = set_up("http://a.test/");
        char text[2 * ROOM + 1], mem[2 * ROOM + 1];

        memset(text, 'x', sizeof text);
        memcpy(text, "http://a.test/", 14);
        seine_url_init(&f->v->url, mem, sizeof mem);
        CHECK_EQ(seine_url_parse(&f->v->url, text, lens[i], NULL), SEINE_OK);
        f->v->fault.code = SEINE_E_BAD_HEADER;
        const seine_fault *fault = emit(f, 0)->fault;
        CHECK_EQ(strlen(fault->url), ROOM - 1);
        CHECK(memcmp(fault->url, text, ROOM - 1) == 0);
        tear_down(f);
    }
}

TEST(a_refused_url_is_a_skip)
{
    fixture *f = set_up("ftp://a.test/");
    const seine_record *r = emit(f, 0);

    CHECK_EQ(r->type, SEINE_RECORD_SKIP);
    CHECK_EQ(r->reason, SEINE_SKIP_SCHEME);
    CHECK(r->rule.len > 0 && is(r->url, "ftp://a.test/"));
    tear_down(f);
    f = set_up("http://a b/");
    r = emit(f, 0);
    CHECK(r->url.ptr == NULL && r->key.ptr == NULL && is(r->input, "http://a b/"));
    tear_down(f);
}

TEST(a_link_on_no_page_stands_nowhere)
{
    sn_link link = {
        .url = SN_STR("http://a.test/"), .number = 5, .line = 7, .tag = 1, .attr = 1};
    sn_emit e;

    for (int has_parent = 0; has_parent < 2; has_parent++) {
        link.parent = has_parent ? SN_STR("http://b.test/") : (sn_str){0};
        sn_emit_skip(&link, link.url, SEINE_SKIP_OFFSITE, SN_STR("scope"), 77, &e);
        CHECK_EQ(e.record.number, 5);
        CHECK_EQ(e.record.via.line, has_parent ? 7 : 0);
        CHECK_EQ(e.record.via.tag.len > 0, has_parent);
        CHECK_EQ(e.record.parent.len > 0, has_parent);
    }
}

TEST(the_rule_of_an_unwanted_type_is_cut_at_159_letters)
{
    static const struct {
        size_t type;
        bool is_whole;
    } rows[] = {{50, true}, {159, false}, {300, false}};
    char type[301];

    EACH_ROW(i, rows) {
        fixture *f = set_up_answer();

        memset(type, 'a', rows[i].type);
        f->v->content_type = (sn_str){type, rows[i].type};
        f->v->not_wanted = true;
        const seine_record *r = emit(f, 0);
        CHECK_EQ(r->type, SEINE_RECORD_SKIP);
        CHECK_EQ(r->reason, SEINE_SKIP_MIME);
        CHECK_EQ(r->rule.len < 159, rows[i].is_whole);
        CHECK(rows[i].is_whole || r->rule.len == 159);
        CHECK(memcmp(r->rule.ptr, type, rows[i].type < 159 ? rows[i].type : 159) == 0);
        tear_down(f);
    }
}

TEST(nothing_made_of_a_body_is_told_of_one_that_is_not_whole)
{
    fixture *f = set_up_answer();
    sn_visit *v = f->v;

    v->kept.cap = 100;
    sn_buf_text(&v->kept, "abc");
    v->title = SN_STR("T");
    const seine_record *r = emit(f, SEINE_KEEP_BODY | SEINE_KEEP_SHA256);
    CHECK(is(r->body, "abc") && is(r->title, "T") && r->sha256 != NULL);
    /* of "abc", FIPS 180-2 */
    CHECK(r->sha256[0] == 0xba && r->sha256[1] == 0x78 && r->sha256[31] == 0xad);

    v->end.fault.code = v->fault.code = SEINE_E_BODY_TRUNCATED;
    v->end.partial = true;
    r = emit(f, SEINE_KEEP_BODY | SEINE_KEEP_SHA256);
    CHECK(r->partial && r->title.ptr == NULL && r->sha256 == NULL);
    CHECK(is(r->body, "abc")); /* what came, and it says so */
    CHECK_EQ(r->fate, SEINE_FATE_BAD_RESPONSE);
    tear_down(f);
}

TEST(an_empty_body_is_there_and_empty)
{
    fixture *f = set_up_answer();
    const seine_record *r = emit(f, SEINE_KEEP_BODY | SEINE_KEEP_SHA256);

    CHECK(is(r->body, ""));
    CHECK(r->sha256 && r->sha256[0] == 0xe3 && r->sha256[1] == 0xb0); /* of nothing */
    tear_down(f);
}

TEST(a_chain_from_https_to_http_is_noted)
{
    fixture *f = set_up_answer();
    static seine_hop hops[] = {{{"https://a.test/", 15}, 301}};

    f->v->hops = hops;
    f->v->n_hops = 1;
    const seine_record *r = emit(f, 0);
    CHECK_EQ(r->n_notes, 1);
    CHECK_STR(r->notes[0], "downgrade");
    CHECK_EQ(r->n_hops, 1);
    hops[0].url = (seine_view){"http://a.test/", 14};
    CHECK_EQ(emit(f, 0)->n_notes, 0);
    tear_down(f);
}

TEST(addresses_are_written_as_usual)
{
    static const struct {
        sn_ip ip;
        const char *text;
    } rows[] = {
        {{4, {0, 0, 0, 0}}, "0.0.0.0"},
        {{4, {255, 10, 100, 9}}, "255.10.100.9"},
        {{6, {0x20, 1, 0xd, 0xb8, [15] = 1}}, "2001:db8::1"},
    };

    EACH_ROW(i, rows) {
        fixture *f = set_up_answer();
        f->v->end.peer = rows[i].ip;
        CHECK(is(emit(f, 0)->ip, rows[i].text));
        tear_down(f);
    }
}

TEST(messages_say_what_happened_with_the_limit_that_was_hit)
{
    static const struct {
        seine_err code;
        seine_phase phase;
        uint16_t status;
        int64_t timeout_ms;
        seine_span retry_after;
        const char *text, *want;
    } rows[] = {
        {SEINE_E_HEADER_TIMEOUT, SEINE_PHASE_HEAD, 0, 5000, -1, "",
         "no answer within 5 s"},
        {SEINE_E_DNS_TIMEOUT, SEINE_PHASE_DNS, 0, 80, -1, "", "no address within 80 ms"},
        {SEINE_E_CONNECT_TIMEOUT, 0, 0, 1500, -1, "", "no connection within 1.500 s"},
        {SEINE_E_TLS_TIMEOUT, 0, 0, 60000, -1, "", "no TLS session within 1 min"},
        {SEINE_E_SEND_TIMEOUT, 0, 0, 10000, -1, "", "request not taken within 10 s"},
        {SEINE_E_STALLED, 0, 200, 20000, -1, "", "too few bytes within 20 s"},
        {SEINE_E_TIMEOUT, SEINE_PHASE_BODY, 0, 7200000, -1, "",
         "not done within 2 h (body)"},
        {SEINE_E_TIMEOUT, SEINE_PHASE_NONE, 0, 30000, -1, "", "not done within 30 s"},
        {SEINE_E_TIMEOUT, SEINE_PHASE_NONE, 0, 0, -1, "", "timed out"},
        {SEINE_E_HTTP, 0, 404, 0, -1, "", "HTTP 404"},
        {SEINE_E_HTTP_BUSY, 0, 429, 0, SEINE_SECS(120), "",
         "HTTP 429, asks to wait 2 min"},
        {SEINE_E_RETRY_AFTER_TOO_LONG, 0, 429, 0, SEINE_SECS(7200), "",
         "asks to wait 2 h, longer than allowed"},
        {SEINE_E_RETRY_AFTER_TOO_LONG, 0, 0, 0, -1, "",
         "server asks to wait longer than allowed"},
        {SEINE_E_BREAKER, 0, 0, 0, -1, "could not connect",
         "circuit breaker is open (could not connect)"},
        {SEINE_E_CONNECT_REFUSED, 0, 0, 0, -1, "", "connection refused"},
        {SEINE_E_BAD_HEADER, 0, 0, 0, -1, "line 3", "malformed header: line 3"},
    };

    EACH_ROW(i, rows) {
        seine_fault f = SEINE_FAULT;
        char text[320];
        f.code = rows[i].code;
        f.phase = rows[i].phase;
        f.status = rows[i].status;
        f.timeout_ms = rows[i].timeout_ms;
        f.retry_after = rows[i].retry_after;
        memcpy(f.text, rows[i].text, strlen(rows[i].text));
        CHECK_EQ(sn_emit_message(&f, text, sizeof text), strlen(rows[i].want));
        CHECK_STR(text, rows[i].want);
        char tiny[8];
        CHECK_EQ(sn_emit_message(&f, tiny, sizeof tiny),
                 strlen(rows[i].want) < 7 ? strlen(rows[i].want) : 7);
    }
}

TEST(every_kind_of_a_record_has_a_message_and_hints_are_short)
{
    const seine_fetch_opts o = SEINE_FETCH_OPTS;

    for (int code = 1; code < SN_ERR_COUNT; code++) {
        seine_fault f = SEINE_FAULT;
        char text[320];
        f.code = (seine_err)code;
        CHECK(sn_emit_message(&f, text, sizeof text) > 0);
        for (unsigned status = 0; status < 600; status++) {
            sn_visit v = {.fault = {.code = f.code, .status = (uint16_t)status}};
            const char *hint = sn_emit_hint(&v, &o);
            CHECK(!hint || strlen(hint) < 80);
            CHECK(!hint || !strstr(hint, "--")); /* the library knows no flags */
        }
    }
}

static void
hop(sn_visit *v, const char *to)
{
    static char mem[SEINE_URL_ROOM];
    static seine_hop hops[1];
    static seine_url first;
    seine_view href = seine_url_href(&v->url);

    hops[0] = (seine_hop){href, 302};
    v->hops = hops;
    v->n_hops = 1;
    first = v->url;
    v->first = &first;
    seine_url_init(&v->url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&v->url, to, strlen(to), NULL), SEINE_OK);
}

TEST(an_address_that_is_refused_is_named_with_its_page_and_the_net_to_allow)
{
    fixture *f = set_up("https://e.example/");
    sn_visit *v = f->v;

    hop(v, "http://10.0.0.5/");
    v->ceiling = SN_ADDRESS_PUBLIC;
    v->fault.code = SEINE_E_BLOCKED_ADDRESS;
    const seine_record *r = emit(f, 0);
    CHECK(is(r->message, "address not allowed")); /* the transport did not say where */
    v->end.refused = SN_ADDRESS_PRIVATE;
    v->end.refused_net = (sn_cidr){{4, {10}}, 8};
    r = emit(f, 0);
    CHECK(is(r->message,
             "http://10.0.0.5/ (private) found on https://e.example/ (public): "
             "not contacted"));
    CHECK(is(r->hint, "allow_net 10.0.0.0/8 if you trust that page"));
    v->ceiling = SN_ADDRESS_PRIVATE; /* no step up: pinned, or denied */
    r = emit(f, 0);
    CHECK(is(r->hint, "allow_net 10.0.0.0/8, unless deny_net forbids it"));
    tear_down(f);
    f = set_up("http://169.254.169.254/");
    f->v->fault.code = SEINE_E_BLOCKED_ADDRESS;
    f->v->end.refused = SN_ADDRESS_FORBIDDEN;
    f->v->end.refused_net = (sn_cidr){{4, {169, 254, 169, 254}}, 32};
    r = emit(f, 0);
    CHECK(is(r->message, "http://169.254.169.254/ (forbidden): not contacted"));
    CHECK(is(r->hint, "allow_net 169.254.169.254/32 if you trust it"));
    tear_down(f);
}

/* A hundred bytes of it are shown. */
TEST(a_long_address_that_is_refused_is_cut_and_says_so)
{
    for (int more = 0; more < 2; more++) {
        char url[128], want[256];
        int n =
            snprintf(url, sizeof url, "http://10.0.0.5/%.*s", 84 + more,
                     "0123456789012345678901234567890123456789012345678901234567890123"
                     "456789012345678901234567890");
        fixture *f = set_up(url);

        CHECK_EQ(n, 100 + more);
        f->v->fault.code = SEINE_E_BLOCKED_ADDRESS;
        f->v->end.refused = SN_ADDRESS_PRIVATE;
        f->v->end.refused_net = (sn_cidr){{4, {10}}, 8};
        snprintf(want, sizeof want, "%.100s%s (private): not contacted", url,
                 more ? "\xe2\x80\xa6" : "");
        CHECK(is(emit(f, 0)->message, want));
        tear_down(f);
    }
}

TEST(a_hint_names_options_as_the_caller_does)
{
    static const seine_diag_name names[] = {{"head_timeout", "--head-timeout"},
                                            {"per_host", "--per-host"},
                                            {"allow_net", "--allow-net"},
                                            {NULL, NULL}};
    fixture *f = set_up("http://10.0.0.5/");

    f->v->fault.code = SEINE_E_HEADER_TIMEOUT;
    CHECK(is(emit(f, 0)->hint, "raise head_timeout or lower per_host"));
    f->shared.opts.names = names;
    CHECK(is(emit(f, 0)->hint, "raise --head-timeout or lower --per-host"));
    f->v->fault.code = SEINE_E_BLOCKED_ADDRESS;
    f->v->end.refused = SN_ADDRESS_PRIVATE;
    f->v->end.refused_net = (sn_cidr){{4, {10}}, 8};
    f->v->ceiling = SN_ADDRESS_PRIVATE;
    CHECK(is(emit(f, 0)->hint, "--allow-net 10.0.0.0/8, unless deny_net forbids it"));
    f->v->fault.code = SEINE_E_BREAKER;
    CHECK(is(emit(f, 0)->hint, "the host kept failing: try later, or breaker off"));
    f->v->fault.code = SEINE_E_RESET; /* nobody knows */
    CHECK(!emit(f, 0)->hint.ptr);
    tear_down(f);
}

TEST(the_message_of_a_record_shows_no_secret)
{
    char path[400] = "http://10.0.0.5/hunter2/";
    fixture *f = set_up("https://e.example/?token=abc");
    seine_secrets *s = NULL;

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    CHECK_EQ(seine_secrets_add(s, "hunter2", 7), SEINE_OK);
    memset(path + strlen(path), 'x', 300);
    hop(f->v, path);
    f->v->ceiling = SN_ADDRESS_PUBLIC;
    f->v->fault.code = SEINE_E_BLOCKED_ADDRESS;
    f->v->end.refused = SN_ADDRESS_PRIVATE;
    f->v->end.refused_net = (sn_cidr){{4, {10}}, 8};
    emit(f, 0);
    sn_emit_redact(&f->e, s);
    f->e.message[f->e.record.message.len] = '\0';
    CHECK(strstr(f->e.message, "http://10.0.0.5/REDACTED/xxx") == f->e.message);
    CHECK(strstr(f->e.message, "https://e.example/?token=REDACTED (public)") != NULL);
    CHECK(strstr(f->e.message, "x\xe2\x80\xa6 (private)") != NULL);
    f->v->fault.code = SEINE_OK;
    emit(f, 0);
    sn_emit_redact(&f->e, s); /* nothing to redact */
    seine_secrets_free(s);
    tear_down(f);
}
