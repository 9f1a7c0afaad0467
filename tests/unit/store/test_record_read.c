/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_read.h"

#include "base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "diag_line.h"
#include "failing.h"

static const seine_members all = {UINT64_MAX};

/* Memory of one random record. */
typedef struct draw {
    sn_rng *rng;
    char mem[64][24];
    size_t used;
    seine_fault fault;
    seine_hop hops[3];
    seine_record_try tries[3];
    seine_field fields[5];
    const char *notes[3];
    uint8_t digest[32];
} draw;

static uint64_t
below(draw *d, uint64_t n)
{
    return sn_rng_below(d->rng, n);
}

/* Text with what needs care: quotes, controls, several bytes, none at all. */
static seine_view
text(draw *d)
{
    static const char *const parts[] = {
        "a",        "/",    "\"",       "\\",           "\n",
        "\x1b",     "\x7f", "\xc3\xa9", "\xe2\x80\xa8", "\xf0\x9f\x98\x80",
        "\xc2\x85", ",",    "'"};
    char *to = d->mem[d->used++];
    size_t n = 0;

    for (uint64_t left = below(d, 6); left > 0; left--) {
        const char *part = parts[below(d, sizeof parts / sizeof *parts)];

        memcpy(to + n, part, strlen(part) + 1);
        n += strlen(part);
    }
    to[n] = '\0';
    return (seine_view){to, n};
}

static seine_view
maybe(draw *d)
{
    seine_view none = {NULL, 0};

    return below(d, 3) == 0 ? none : text(d);
}

static int64_t
some_wall(draw *d)
{
    return (int64_t)below(d, UINT64_C(4000000000)) * SEINE_SECS(1) +
           (int64_t)below(d, 1000000000);
}

static seine_span
some_span(draw *d)
{
    return (seine_span)(sn_rng_next(d->rng) >> (2 + below(d, 60)) >> 11);
}

static seine_err
some_err(draw *d)
{
    return (seine_err)(1 + below(d, SN_ERR_COUNT - 1));
}

static void
draw_lists(draw *d, seine_record *r)
{
    static const char *const names[] = {"Date", "x-a", "SET-cookie", "set-cookie", "x"};

    r->n_hops = below(d, 4);
    for (size_t i = 0; i < r->n_hops; i++)
        d->hops[i] = (seine_hop){text(d), (uint16_t)(300 + below(d, 10))};
    r->hops = d->hops;
    r->n_tries = below(d, 4);
    for (size_t i = 0; i < r->n_tries; i++)
        d->tries[i] =
            (seine_record_try){some_wall(d),
                               (uint32_t)i + 1,
                               (uint16_t)(below(d, 2) ? 0 : 200 + below(d, 350)),
                               below(d, 4) ? some_err(d) : SEINE_OK,
                               some_span(d),
                               some_span(d),
                               (seine_wait)below(d, SN_WAIT_COUNT)};
    if (r->n_tries > 0 && below(d, 2)) { /* no attempt followed */
        d->tries[r->n_tries - 1].wait = -1;
        d->tries[r->n_tries - 1].wait_reason = SEINE_WAIT_QUEUE;
    }
    r->tries = d->tries;
    r->n_notes = below(d, 4);
    for (size_t i = 0; i < r->n_notes; i++)
        d->notes[i] = text(d).ptr;
    r->notes = d->notes;
    if (below(d, 2)) {
        r->n_fields = below(d, 6);
        for (size_t i = 0; i < r->n_fields; i++) {
            const char *name = names[below(d, 5)];

            d->fields[i] = (seine_field){{name, strlen(name)}, text(d)};
        }
        r->fields = d->fields;
    }
}

static void
draw_times(draw *d, seine_record *r)
{
    seine_span *spans[] = {&r->queue,   &r->throttle,    &r->backoff, &r->dns,
                           &r->connect, &r->tls,         &r->ttfb,    &r->body_time,
                           &r->total,   &r->retry_budget};

    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        *spans[i] = some_span(d);
}

static void
draw_outside(draw *d, seine_record *r)
{
    if (below(d, 2))
        r->secure =
            (seine_tls_facts){(uint8_t)(12 + below(d, 2)), below(d, 2),
                              below(d, 2) ? (int64_t)below(d, 4000000000) : INT64_MIN};
    if (below(d, 2)) {
        r->warc.file = text(d);
        r->warc.offset = sn_rng_next(d->rng) >> 1;
        r->warc.length = below(d, 100000);
        r->warc.id = maybe(d);
    }
    if (below(d, 2))
        r->body_file = text(d);
    if (below(d, 2)) {
        for (size_t i = 0; i < 32; i++)
            d->digest[i] = (uint8_t)below(d, 256);
        r->sha256 = d->digest;
    }
    r->body = maybe(d);
}

static void
draw_found(draw *d, seine_record *r)
{
    r->is_crawled = below(d, 2);
    r->depth = r->is_crawled ? (uint32_t)sn_rng_next(d->rng) : 0;
    r->parent = maybe(d);
    if (below(d, 2))
        r->via = (seine_found){text(d), maybe(d), maybe(d), (uint32_t)below(d, 3)};
}

static void
draw_page(draw *d, seine_record *r)
{
    static const char *const from[] = {"bom", "header", "meta", "guess", "default", NULL};

    r->has_links = below(d, 2);
    r->n_links = r->has_links ? (uint32_t)below(d, 50001) : 0;
    r->lang = maybe(d);
    r->canonical = maybe(d);
    r->meta_robots = maybe(d);
    r->charset_from = from[below(d, 6)];
    r->charset_errors = below(d, 3);
    r->extract = below(d, 2) ? some_err(d) : SEINE_OK;
}

static seine_record
draw_record(draw *d)
{
    static const char *const tags[] = {"{}", "{\"a\":1.50,\"b\":[1e5,{\"c\":null}]}",
                                       "{\"tags\":{\"tags\":\"}\\\"\"}}"};
    static const uint8_t versions[] = {0, 10, 11, 20};
    seine_record r = {.type = below(d, 4) ? SEINE_RECORD_RESULT : SEINE_RECORD_SKIP,
                      .content_length = -1,
                      .fault = &d->fault};

    d->used = 0;
    d->fault = (seine_fault)SEINE_FAULT;
    r.wall = some_wall(d);
    r.input = maybe(d);
    r.line = below(d, 3) ? below(d, 1000) : 0;
    r.id = maybe(d);
    if (below(d, 2)) {
        const char *t = tags[below(d, 3)];

        r.tags = (seine_view){t, strlen(t)};
    }
    r.url = text(d);
    r.key = maybe(d);
    r.reason = (seine_skip)below(d, SN_SKIP_COUNT);
    r.rule = maybe(d);
    draw_found(d, &r);
    if (r.type == SEINE_RECORD_SKIP)
        return r;
    r.final_url = maybe(d);
    r.method = maybe(d);
    r.host = maybe(d);
    r.ip = maybe(d);
    r.http = versions[below(d, 4)];
    r.fate = (seine_fate)below(d, SN_FATE_COUNT);
    if (r.fate != SEINE_FATE_OK) {
        d->fault.code = some_err(d);
        d->fault.phase = (seine_phase)below(d, SEINE_PHASE_BODY + 1);
        d->fault.timeout_ms = below(d, 2) ? (int64_t)below(d, 60000) : 0;
        r.message = maybe(d);
        r.hint = maybe(d);
        r.retryable = below(d, 2);
    }
    r.status = (uint16_t)(below(d, 2) ? 200 + below(d, 400) : 0);
    r.attempts = (uint32_t)below(d, 5);
    r.content_type = maybe(d);
    r.charset = maybe(d);
    r.content_length = below(d, 2) ? (int64_t)below(d, 1u << 30) : -1;
    r.bytes_in = r.http > 0 ? below(d, 1u << 30) : 0;
    r.bytes_body = r.http > 0 ? below(d, 1u << 30) : 0;
    r.partial = below(d, 2);
    r.title = maybe(d);
    draw_page(d, &r);
    draw_lists(d, &r);
    draw_times(d, &r);
    draw_outside(d, &r);
    return r;
}

/* P11: a record is the same line, however often it is read and written. */
TEST(record_read_and_written_again_is_the_same_line)
{
    sn_rng rng = sn_rng_seed(check_seed());
    sn_record_reader rr;
    draw d = {.rng = &rng};

    sn_record_reader_init(&rr);
    for (int round = 0; round < 4000; round++) {
        static char line[65536], again[65536];
        seine_diag diag = SEINE_DIAG;
        seine_record r = draw_record(&d);
        seine_body_form form = (seine_body_form)below(&d, 4);
        uint64_t seq = 1 + below(&d, 1000000);
        size_t n = seine_record_json(&r, seq, &all, form, line, sizeof line);
        seine_err e = sn_record_read(&rr, (sn_str){line, n - 1}, &diag);

        CHECK_EQ(e, SEINE_OK);
        CHECK_STR(diag_line(&diag), "");
        CHECK_EQ(rr.kind, SN_READ_RECORD);
        CHECK_EQ(rr.seq, seq);
        size_t m =
            seine_record_json(&rr.record, rr.seq, &all, rr.form, again, sizeof again);
        again[m] = line[n] = '\0';
        CHECK_STR(again, line);
    }
    sn_record_reader_fini(&rr);
}

static seine_err
read_text(sn_record_reader *rr, const char *line, seine_diag *diag)
{
    *diag = (seine_diag)SEINE_DIAG;
    return sn_record_read(rr, sn_str_of(line), diag);
}

#define RESULT \
    "{\"v\":1,\"type\":\"result\",\"url\":\"http://e/\",\"outcome\":\"timeout\","

TEST(record_read_names_the_member_that_is_wrong)
{
    static const struct {
        const char *line, *why;
    } rows[] = {
        {"{", "not JSON at byte 1: expected a name in quotes or '}', found the end"},
        {"[1]", "an array where an object is wanted"},
        {"{\"v\":1,\"type\":\"result\",\"outcome\":\"ok\"}", "\"url\" is not there"},
        {"{\"v\":1,\"type\":\"result\",\"url\":\"u\"}", "\"outcome\" is not there"},
        {"{\"v\":1,\"type\":\"skip\",\"url\":\"u\"}", "\"reason\" is not there"},
        {"{\"v\":1,\"type\":\"skip\",\"reason\":\"x\"}",
         "\"reason\" is not a reason to skip"},
        {"{\"v\":1,\"type\":\"result\",\"url\":\"u\",\"outcome\":\"fine\"}",
         "\"outcome\" is not an outcome"},
        {"{\"v\":1,\"type\":\"skip\",\"seq\":\"1\"}",
         "\"seq\" is a string, not an integer"},
        {"{\"v\":1,\"type\":\"skip\",\"seq\":-1}", "\"seq\" is not within its bounds"},
        {RESULT "\"ts\":5}", "\"ts\" is an integer, not a string"},
        {RESULT "\"ts\":\"yesterday\"}", "\"ts\" is not a time of RFC 3339"},
        {RESULT "\"input\":5}", "\"input\" is an integer, not a string"},
        {RESULT "\"line\":1.5}", "\"line\" is a number, not an integer"},
        {RESULT "\"tags\":[]}", "\"tags\" is an array, not an object"},
        {RESULT "\"t\\u0061gs\":{}}", "\"tags\" is not spelled without escapes"},
        {RESULT "\"ok\":1}", "\"ok\" is an integer, not true or false"},
        {RESULT "\"ok\":true}", "\"ok\" is not what the outcome says"},
        {RESULT "\"status\":65536}", "\"status\" is not within its bounds"},
        {RESULT "\"attempts\":-1}", "\"attempts\" is not within its bounds"},
        {RESULT "\"depth\":-1}", "\"depth\" is not within its bounds"},
        {RESULT "\"links\":[]}", "\"links\" is an array, not an integer"},
        {RESULT "\"parent\":1}", "\"parent\" is an integer, not a string"},
        {RESULT "\"via\":1}", "\"via\" is an integer, not an object"},
        {RESULT "\"via\":{}}", "\"via.tag\" is not there"},
        {RESULT "\"via\":{\"tag\":\"a\",\"line\":\"1\"}}",
         "\"via.line\" is a string, not an integer"},
        {RESULT "\"charset_from\":\"luck\"}",
         "\"charset_from\" is not who names a charset"},
        {RESULT "\"extract\":{\"error\":{\"kind\":\"x\"}}}",
         "\"extract.error.kind\" is not a kind of error"},
        {RESULT "\"error\":\"x\"}", "\"error\" is a string, not an object"},
        {RESULT "\"error\":{}}", "\"error.kind\" is not there"},
        {RESULT "\"error\":{\"kind\":\"ok\"}}", "\"error.kind\" is not a kind of error"},
        {RESULT "\"error\":{\"kind\":\"tired\"}}",
         "\"error.kind\" is not a kind of error"},
        {RESULT "\"error\":{\"kind\":\"http\",\"phase\":\"x\"}}",
         "\"error.phase\" is not a phase"},
        {RESULT "\"error\":{\"kind\":\"http\",\"retryable\":0}}",
         "\"error.retryable\" is an integer, not true or false"},
        {RESULT "\"error\":{\"kind\":\"http\",\"message\":0}}",
         "\"error.message\" is an integer, not a string"},
        {RESULT "\"error\":{\"kind\":\"http\",\"hint\":0}}",
         "\"error.hint\" is an integer, not a string"},
        {RESULT "\"error\":{\"kind\":\"http\",\"timeout_ms\":\"1\"}}",
         "\"error.timeout_ms\" is a string, not an integer"},
        {"{\"v\":1,\"type\":\"result\",\"url\":\"u\",\"outcome\":\"ok\",\"error\":{}}",
         "\"error\" is not possible where the outcome is ok"},
        {RESULT "\"tries\":{}}", "\"tries\" is an object, not an array"},
        {RESULT "\"tries\":[1]}", "\"tries\" is an integer, not an object"},
        {RESULT "\"tries\":[{\"n\":\"1\"}]}", "\"tries.n\" is a string, not an integer"},
        {RESULT "\"tries\":[{\"ts\":\"1\"}]}", "\"tries.ts\" is not a time of RFC 3339"},
        {RESULT "\"tries\":[{\"status\":-1}]}",
         "\"tries.status\" is not within its bounds"},
        {RESULT "\"tries\":[{\"wait_ms\":-1}]}",
         "\"tries.wait_ms\" is not within its bounds"},
        {RESULT "\"tries\":[{\"wait_reason\":\"x\"}]}",
         "\"tries.wait_reason\" is not a reason to wait"},
        {RESULT "\"tries\":[{\"error\":1}]}",
         "\"tries.error\" is an integer, not an object"},
        {RESULT "\"tries\":[{\"error\":{\"kind\":\"x\"}}]}",
         "\"tries.error.kind\" is not a kind of error"},
        {RESULT "\"redirects\":1}", "\"redirects\" is an integer, not an array"},
        {RESULT "\"redirects\":[1]}", "\"redirects\" is an integer, not an object"},
        {RESULT "\"redirects\":[{\"url\":1}]}",
         "\"redirects.url\" is an integer, not a string"},
        {RESULT "\"redirects\":[{\"status\":\"1\"}]}",
         "\"redirects.status\" is a string, not an integer"},
        {RESULT "\"headers\":[]}", "\"headers\" is an array, not an object"},
        {RESULT "\"headers\":{\"a\":\"b\"}}", "\"headers\" is a string, not an array"},
        {RESULT "\"headers\":{\"a\":[1]}}", "\"headers\" is an integer, not a string"},
        {RESULT "\"notes\":{}}", "\"notes\" is an object, not an array"},
        {RESULT "\"notes\":[1]}", "\"notes\" is an integer, not a string"},
        {RESULT "\"notes\":[\"a\\u0000\"]}", "\"notes\" is not without a zero"},
        {RESULT "\"http\":\"1\"}", "\"http\" is not a version of HTTP"},
        {RESULT "\"http\":1.1}", "\"http\" is a number, not a string"},
        {RESULT "\"bytes_in\":-1}", "\"bytes_in\" is not within its bounds"},
        {RESULT "\"bytes_body\":\"x\"}", "\"bytes_body\" is a string, not an integer"},
        {RESULT "\"content_length\":-1}", "\"content_length\" is not within its bounds"},
        {RESULT "\"partial\":\"yes\"}", "\"partial\" is a string, not true or false"},
        {RESULT "\"time\":[]}", "\"time\" is an array, not an object"},
        {RESULT "\"time\":{\"dns\":\"1\"}}", "\"time.dns\" is a string, not a number"},
        {RESULT "\"time\":{\"total\":1e300}}", "\"time.total\" is not within its bounds"},
        {RESULT "\"tls\":1}", "\"tls\" is an integer, not an object"},
        {RESULT "\"tls\":{\"version\":\"3.0\"}}",
         "\"tls.version\" is not a version of TLS"},
        {RESULT "\"tls\":{\"verified\":1}}",
         "\"tls.verified\" is an integer, not true or false"},
        {RESULT "\"tls\":{\"not_after\":\"x\"}}",
         "\"tls.not_after\" is not a time of RFC 3339"},
        {RESULT "\"warc\":1}", "\"warc\" is an integer, not an object"},
        {RESULT "\"warc\":{\"offset\":-1}}", "\"warc.offset\" is not within its bounds"},
        {RESULT "\"sha256\":\"abc\"}", "\"sha256\" is not 64 hexadecimal digits"},
        {RESULT "\"sha256\":1}", "\"sha256\" is an integer, not a string"},
        {RESULT "\"body_b64\":\"a\"}", "\"body_b64\" is not base64"},
        {RESULT "\"body_b64\":1}", "\"body_b64\" is an integer, not a string"},
        {RESULT "\"body\":\"a\",\"body_b64\":\"\"}",
         "\"body_b64\" is not possible beside \"body\""},
    };
    sn_record_reader rr;

    sn_record_reader_init(&rr);
    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;
        seine_err e = read_text(&rr, rows[i].line, &diag);

        CHECK(e == SEINE_E_INVAL || e == SEINE_E_BAD_JSON);
        CHECK_STR(diag_line(&diag), rows[i].why);
    }
    sn_record_reader_fini(&rr);
}

TEST(record_read_passes_over_what_it_does_not_know)
{
    sn_record_reader rr;
    seine_diag diag = SEINE_DIAG;

    sn_record_reader_init(&rr);
    CHECK_EQ(
        read_text(&rr, RESULT "\"links\":45,\"data\":{\"x\":[]},\"title\":null}", &diag),
        SEINE_OK);
    CHECK_EQ(rr.kind, SN_READ_RECORD);
    CHECK(rr.record.title.ptr == NULL); /* null is absence */
    CHECK(seine_json_get(rr.json, "links") != NULL);

    CHECK_EQ(read_text(&rr, "{\"v\":1,\"type\":\"summary\",\"seq\":9,\"ok\":3}", &diag),
             SEINE_OK);
    CHECK_EQ(rr.kind, SN_READ_OTHER);
    CHECK_EQ(rr.seq, 9);
    CHECK(sn_str_eq(rr.type, SN_STR("summary")));

    static const char *const foreign[] = {
        "{}", "{\"v\":2,\"type\":\"result\"}", "{\"v\":\"1\",\"type\":\"result\"}",
        "{\"v\":1,\"type\":5}", "{\"type\":\"result\"}"};
    EACH_ROW(i, foreign) {
        CHECK_EQ(read_text(&rr, foreign[i], &diag), SEINE_OK);
        CHECK_EQ(rr.kind, SN_READ_FOREIGN);
    }
    sn_record_reader_fini(&rr);
}

TEST(line_without_a_member_is_the_same_line)
{
    static const struct {
        const char *line, *name, *want;
    } rows[] = {
        {"{\"a\":1,\"b\":2,\"c\":3}", "b", "{\"a\":1,\"c\":3}"},
        {"{\"a\":1,\"b\":2}", "b", "{\"a\":1}"},
        {"{\"a\":1,\"b\":2}", "a", "{\"b\":2}"},
        {"{ \"a\" : 1 , \"b\" : 2 }", "a", "{ \"b\" : 2 }"},
        {"{ \"a\" : 1 , \"b\" : 2 }", "b", "{ \"a\" : 1  }"},
        {"{\"a\":{\"b\":[\"}\"]},\"b\":\"x\\\"y\"}", "b",
         "{\"a\":{\"b\":[\"}\"]}}"}, /* only its own members */
        {"{\"a\":{\"b\":1}}", "a", "{}"},
        {"{\"a\":1}", "x", "{\"a\":1}"},
        {"{}", "x", "{}"},
    };

    EACH_ROW(i, rows) {
        sn_buf b;

        sn_buf_init(&b, 1000);
        sn_line_without(&b, sn_str_of(rows[i].line), sn_str_of(rows[i].name));
        CHECK_STR(b.ptr, rows[i].want);
        sn_buf_fini(&b);
    }
}

/* A response of which only the size is known keeps that size. */
TEST(record_read_keeps_sizes_without_a_version)
{
    sn_record_reader rr;
    char line[4096];
    seine_diag diag = SEINE_DIAG;

    sn_record_reader_init(&rr);
    CHECK_EQ(read_text(&rr, RESULT "\"bytes_body\":0}", &diag), SEINE_OK);
    size_t n = seine_record_json(&rr.record, 1, NULL, rr.form, line, sizeof line - 1);
    line[n] = '\0';
    CHECK(strstr(line, "\"bytes_body\":0") != NULL);
    CHECK(strstr(line, "\"http\"") == NULL);
    sn_record_reader_fini(&rr);
}

TEST(stamp_read_takes_what_rfc_3339_says)
{
    static const struct {
        const char *text;
        seine_err err;
        int64_t wall;
    } rows[] = {
        {"1970-01-01T00:00:00Z", SEINE_OK, 0},
        {"1970-01-01T00:00:00.000001Z", SEINE_OK, 1000},
        {"1970-01-01T00:00:00.123456789Z", SEINE_OK, 123456789},
        {"1970-01-01 00:00:01Z", SEINE_OK, SEINE_SECS(1)},
        {"1970-01-01T01:00:00+01:00", SEINE_OK, 0},
        {"1969-12-31T23:59:59.5Z", SEINE_OK, -SEINE_SECS(1) / 2},
        {"1969-12-31T19:30:00-04:30", SEINE_OK, 0},
        {"2026-11-15T19:20:01.123456Z", SEINE_OK,
         INT64_C(1794770401123456000)}, /* date -d …Z +%s */
        {"2024-02-29T00:00:00Z", SEINE_OK, SEINE_SECS(1709164800)},
        {"2023-02-29T00:00:00Z", SEINE_E_INVAL, 0},
        {"2026-13-01T00:00:00Z", SEINE_E_INVAL, 0},
        {"2026-00-01T00:00:00Z", SEINE_E_INVAL, 0},
        {"2026-01-01T24:00:00Z", SEINE_E_INVAL, 0},
        {"2026-01-01T00:60:00Z", SEINE_E_INVAL, 0},
        {"2026-01-01T00:00:60Z", SEINE_E_INVAL, 0},
        {"2026-01-01T00:00:00", SEINE_E_INVAL, 0},
        {"2026-01-01T00:00:00.Z", SEINE_E_INVAL, 0},
        {"2026-01-01T00:00:00.1234567890Z", SEINE_E_INVAL, 0},
        {"2026-01-01T00:00:00+24:00", SEINE_E_INVAL, 0},
        {"2026-01-01T00:00:00Zx", SEINE_E_INVAL, 0},
        {"2026-1-01T00:00:00Z", SEINE_E_INVAL, 0},
        {"", SEINE_E_INVAL, 0},
        {"1677-12-31T00:00:00Z", SEINE_E_RANGE, 0},
        {"2262-01-01T00:00:00Z", SEINE_E_RANGE, 0},
    };

    EACH_ROW(i, rows) {
        int64_t wall = 0;

        CHECK_EQ(sn_stamp_read(sn_str_of(rows[i].text), &wall), rows[i].err);
        CHECK_EQ(wall, rows[i].wall);
    }
}

TEST(stamp_read_undoes_the_pen)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int i = 0; i < 5000; i++) {
        int64_t wall = (int64_t)sn_rng_next(&rng) / 2 / 1000 * 1000, back;
        char text[SN_STAMP];
        sn_text_writer p = sn_text_writer_on(text, sizeof text);

        sn_text_writer_stamp(&p, wall);
        CHECK_EQ(sn_stamp_read((sn_str){text, SN_STAMP}, &back), SEINE_OK);
        CHECK_EQ(back, wall);
    }
}

TEST(record_read_says_when_memory_runs_out)
{
    static const char line[] =
        RESULT "\"tries\":[{\"n\":1}],\"redirects\":[{\"url\":\"u\"}],\"notes\":[\"a\"],"
               "\"headers\":{\"a\":[\"b\"]},\"body_b64\":\"aGk=\",\"sha256\":"
               "\"00000000000000000000000000000000"
               "00000000000000000000000000000000\"}";

    FAIL_EACH(f)
    {
        sn_record_reader rr;
        seine_diag diag = SEINE_DIAG;

        sn_record_reader_init(&rr);
        seine_err e = read_text(&rr, line, &diag);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        sn_record_reader_fini(&rr);
    }
}
