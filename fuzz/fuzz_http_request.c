/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two bytes of a seed for the pieces, then what a client sends. The same bytes in one
 * piece and in random ones give the same requests or the same refusal; no view leaves
 * the limits, and no control byte gets into one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "net/h1.h"
#include "serve/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())
#define CAP        (1u << 20)

static const sn_http_limits limits = {200, 500, 8, 300};

static void
look_at(const sn_http_request *q, sn_buf *log)
{
    REQUIRE(sn_h1_is_name(q->method) && q->target.len > 0 && q->n_fields <= 8);
    REQUIRE(!memchr(q->target.ptr, ' ', q->target.len));
    REQUIRE(q->body.len <= limits.body);
    sn_buf_printf(log, "%.*s %.*s %u %d", SN_FMT(q->method), SN_FMT(q->target), q->minor,
                  q->keeps);
    for (uint32_t i = 0; i < q->n_fields; i++) {
        sn_str again;

        REQUIRE(sn_h1_is_name(q->fields[i].name) && sn_h1_is_value(q->fields[i].value));
        REQUIRE(sn_http_field(q, q->fields[i].name, 0, &again));
        sn_buf_char(log, '|');
        sn_buf_str(log, q->fields[i].name);
        sn_buf_char(log, '=');
        sn_buf_str(log, q->fields[i].value);
    }
    sn_buf_char(log, '#');
    sn_buf_str(log, q->body);
}

/* Reads all requests; the log says what they were. `rng` NULL: in one piece. */
static void
read_all(const uint8_t *bytes, size_t n, sn_rng *rng, sn_buf *log)
{
    sn_http_reader r = {.limits = limits};
    sn_http_request q;
    char *room = malloc(n + 1);
    size_t have = 0, from = 0;
    sn_http_event e = SN_HTTP_MORE;

    while (e != SN_HTTP_BAD && (have < n || e == SN_HTTP_WHOLE)) {
        if (e == SN_HTTP_MORE) {
            size_t more = rng ? 1 + sn_rng_below(rng, 9) : n;

            more = more < n - have ? more : n - have;
            memcpy(room + have, bytes + have, more);
            have += more;
        }
        if (have == from)
            break;
        e = sn_http_read(&r, room + from, have - from, &q);
        if (e == SN_HTTP_WHOLE) {
            REQUIRE(r.used > 0 && r.used <= have - from);
            look_at(&q, log);
            from += r.used;
            sn_http_reader_next(&r);
            if (from == have)
                e = SN_HTTP_MORE;
        }
    }
    if (e == SN_HTTP_BAD)
        REQUIRE(r.status >= 400 && r.status < 600);
    sn_buf_printf(log, "end %d", e == SN_HTTP_BAD ? r.status : 0);
    free(room);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_buf whole, cut;

    if (n < 2 || n > 4096)
        return 0;
    sn_rng rng = sn_rng_seed((uint64_t)(bytes[0] << 8 | bytes[1]));
    sn_buf_init(&whole, CAP);
    sn_buf_init(&cut, CAP);
    read_all(bytes + 2, n - 2, NULL, &whole);
    read_all(bytes + 2, n - 2, &rng, &cut);
    REQUIRE(sn_str_eq(sn_buf_view(&whole), sn_buf_view(&cut)));
    sn_buf_fini(&whole);
    sn_buf_fini(&cut);
    return 0;
}
