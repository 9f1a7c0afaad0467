/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/otlp.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/gzip.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/opts.h"
#include "base/rng.h"
#include "base/time.h"
#include "engine/admit.h"
#include "engine/span_json.h"
#include "net/socket_transport.h"
#include "seine/retry_hint.h"
#include "seine/version.h"

/*
 * Shards put spans into the ring and never wait. The thread sleeps on `word` until a
 * batch is full or five seconds are over, takes a batch, packs it, and has a transport of
 * its own to send it: nothing is shared with the fetch but the ring.
 */

enum { RING = 4096, BATCH = 512, FIELDS_MOST = 16 };
enum { BODY_MOST = 1 << 20, ANSWER_MOST = 64 << 10, URL_MOST = 2048 };
#define EVERY    SEINE_SECS(5)
#define PATIENCE SEINE_SECS(10)
#define LAST     SEINE_SECS(2) /* for what is left at the end */

enum { EXPORTED, DROPPED, FAILED };

struct seine_otlp {
    seine_clock *clock;
    seine_log *log;
    sn_span_ring ring;
    uint32_t ratio_ppm, failed_rate;
    seine_url url;
    char url_mem[URL_MOST];
    char *headers; /* a copy, cut into the fields below */
    sn_field fields[FIELDS_MOST];
    size_t n_fields;
    sn_buf resource;
    sn_tls_ctx *tls;
    sn_transport *transport;
    seine_counter *spans;
    seine_gauge *depth; /* NULL: nobody counts */
    pthread_t thread;
    bool has_thread;
    uint32_t word; /* a futex: there is a batch, or the end */
    _Atomic bool is_closing;
    _Atomic uint64_t exported, failed, requests;

    /* the thread's */
    sn_span *batch;
    uint32_t n;
    sn_buf text, body;
    sn_gzip gzip;
    sn_rng rng;
    _Atomic bool is_away; /* the collector did not take the last batch: that was logged */
    uint64_t told_drops;
    seine_time closes_at; /* no request lasts longer */
};

/* Spans. */

void
sn_otlp_put(seine_otlp *o, const sn_span *span)
{
    uint32_t waiting = sn_span_ring_put(&o->ring, span);

    if (o->depth)
        seine_gauge_set(o->depth, 0, waiting);
    if (waiting == BATCH) {
        __atomic_add_fetch(&o->word, 1, __ATOMIC_SEQ_CST);
        o->clock->wake(o->clock, &o->word, 1);
    }
}

bool
sn_otlp_samples(const seine_otlp *o, const uint8_t trace[16])
{
    uint64_t low = 0;

    for (int i = 9; i < 16; i++)
        low = low << 8 | trace[i];
    return (sn_u128)low * 1000000 < (sn_u128)o->ratio_ppm << 56;
}

bool
sn_otlp_is_away(const seine_otlp *o)
{
    return atomic_load(&o->is_away);
}

uint32_t
sn_otlp_failed_rate(const seine_otlp *o)
{
    return o->failed_rate;
}

/* One request. */

typedef struct post {
    bool is_over;
    unsigned status; /* 0: no whole answer came */
    seine_err err;
    seine_retry_hint hint;
    char answer[1024]; /* its beginning */
    size_t len;
} post;

static void
on_head(const sn_head *head, void *arg)
{
    post *p = arg;

    for (uint32_t i = 0; i < head->n_fields; i++) {
        sn_field f = sn_head_field_of(head, i);

        if (sn_str_eq_nocase(f.name, SN_STR("retry-after")))
            seine_retry_hint_feed(&p->hint, f.name.ptr, f.name.len, f.value.ptr,
                                  f.value.len);
    }
}

static bool
on_body(sn_str piece, void *arg)
{
    post *p = arg;
    size_t room = sizeof p->answer - 1 - p->len;
    size_t n = piece.len < room ? piece.len : room;

    if (n > 0)
        memcpy(p->answer + p->len, piece.ptr, n);
    p->len += n;
    return true;
}

static void
on_end(const sn_end *end, void *arg)
{
    post *p = arg;

    p->is_over = true;
    p->status = end->partial ? 0 : end->fault.status;
    p->err = end->fault.code;
}

/* Sends the packed batch and waits for its end, by the deadline at the latest. */
static void
send_batch(seine_otlp *o, post *p)
{
    static const sn_limits limits = {
        .time = {SEINE_SECS(5), SEINE_SECS(5), SEINE_SECS(5), SEINE_SECS(10),
                 SEINE_SECS(10), SEINE_SECS(10), SEINE_SECS(10), 0, SEINE_SECS(20)},
        .max_wire = ANSWER_MOST,
        .max_body = ANSWER_MOST};
    seine_time now = o->clock->now(o->clock);
    static const sn_handler_ops ops = {.head = on_head, .body = on_body, .end = on_end};
    sn_request request = {.method = SN_STR("POST"),
                          .url = &o->url,
                          .fields = o->fields,
                          .n_fields = o->n_fields,
                          .body = sn_buf_view(&o->body),
                          .deadline =
                              sn_time_min(sn_time_add(now, PATIENCE), o->closes_at),
                          .limits = &limits,
                          .ceiling = SN_ADDRESS_LOCAL,
                          .pin = SN_ADDRESS_NO_PIN,
                          .fresh = true};
    sn_exchange *x;

    *p = (post){.err = SEINE_OK};
    seine_retry_hint_init(&p->hint, o->clock->wall(o->clock));
    atomic_fetch_add(&o->requests, 1);
    p->err = o->transport->ops->start(o->transport, &request, &(sn_handler){&ops, p}, &x);
    if (p->err != SEINE_OK)
        return;
    bool is_told = false;
    while (!p->is_over) {
        now = o->transport->ops->turn(o->transport, request.deadline);
        if (!is_told && !p->is_over && atomic_load(&o->is_closing)) {
            is_told = true; /* the end gives it two seconds, not ten */
            seine_time last = sn_time_add(now, LAST);
            while (!p->is_over && now < last)
                now = o->transport->ops->turn(o->transport, last);
            if (!p->is_over)
                o->transport->ops->cancel(o->transport, x, SEINE_E_CANCELED);
        }
    }
}

/* Batches. */

static void
count(seine_otlp *o, unsigned result, uint64_t n)
{
    seine_counter_add(o->spans, result, n);
    if (result == EXPORTED)
        atomic_fetch_add(&o->exported, n);
    if (result == FAILED)
        atomic_fetch_add(&o->failed, n);
}

static void
count_drops(seine_otlp *o)
{
    uint64_t drops = sn_span_ring_dropped(&o->ring);

    count(o, DROPPED, drops - o->told_drops);
    o->told_drops = drops;
}

static void
note_away(seine_otlp *o, const post *p)
{
    sn_str url = seine_url_href(&o->url);

    if (!o->is_away)
        SN_SAY(o->log, WARN, "otlp.away", "the collector takes no traces",
               SN_URL("url", url), SN_U("status", p->status), SN_E("err", p->err));
    o->is_away = true;
}

static void
note_back(seine_otlp *o)
{
    sn_str url = seine_url_href(&o->url);

    if (o->is_away)
        SN_SAY(o->log, INFO, "otlp.back", "the collector takes traces again",
               SN_URL("url", url));
    o->is_away = false;
}

/* {"partialSuccess":{"rejectedSpans":"3"}}: how many a collector did not want. */
static uint64_t
rejected_spans(const post *p)
{
    const char *at = strstr(p->answer, "\"rejectedSpans\"");
    uint64_t n = 0;

    if (!at)
        return 0;
    for (at += 15; *at && strchr(" :\"", *at);)
        at++;
    for (int i = 0; i < 9 && *at >= '0' && *at <= '9'; i++)
        n = n * 10 + (uint64_t)(*at++ - '0');
    return n;
}

static void
count_taken(seine_otlp *o, const post *p)
{
    uint64_t rejected = rejected_spans(p);

    rejected = rejected < o->n ? rejected : o->n;
    count(o, EXPORTED, o->n - rejected);
    count(o, FAILED, rejected);
}

static bool
pack(seine_otlp *o)
{
    sn_buf_reset(&o->text);
    sn_buf_reset(&o->body);
    sn_span_json(o->batch, o->n, sn_buf_view(&o->resource), sn_str_of(seine_version()),
                 &o->text);
    return sn_buf_done(&o->text) == SEINE_OK &&
           sn_gzip_member(&o->gzip, sn_buf_view(&o->text), &o->body) == SEINE_OK;
}

static void
sleep_until(seine_otlp *o, seine_time until)
{
    while (!atomic_load(&o->is_closing) && o->clock->now(o->clock) < until) {
        uint32_t seen = __atomic_load_n(&o->word, __ATOMIC_SEQ_CST);

        if (!atomic_load(&o->is_closing))
            o->clock->wait(o->clock, &o->word, seen, until);
    }
}

/* The batch leaves, or is given up. */
static void
deliver(seine_otlp *o)
{
    sn_otlp_retry retry = {.began = o->clock->now(o->clock)};
    seine_time at;
    post p;

    for (;;) {
        send_batch(o, &p);
        count_drops(o);
        if (p.status >= 200 && p.status < 300) {
            count_taken(o, &p);
            note_back(o);
            return;
        }
        note_away(o, &p);
        if (!sn_otlp_may_pass(p.status) || atomic_load(&o->is_closing) ||
            !sn_otlp_again(&retry, o->clock->now(o->clock),
                           seine_retry_hint_pause(&p.hint), sn_rng_next(&o->rng), &at))
            break;
        sleep_until(o, at);
    }
    count(o, FAILED, o->n);
}

static bool
take_batch(seine_otlp *o)
{
    o->n = sn_span_ring_take(&o->ring, o->batch, BATCH);
    if (o->depth)
        seine_gauge_set(o->depth, 0, sn_span_ring_waiting(&o->ring));
    return o->n > 0;
}

static void *
export_spans(void *arg)
{
    seine_otlp *o = arg;

    pthread_setname_np(pthread_self(), "sn-otlp");
    while (!atomic_load(&o->is_closing)) {
        uint32_t seen = __atomic_load_n(&o->word, __ATOMIC_SEQ_CST);
        seine_time until = sn_time_add(o->clock->now(o->clock), EVERY);

        if (!atomic_load(&o->is_closing))
            o->clock->wait(o->clock, &o->word, seen, until);
        if (!atomic_load(&o->is_closing) && take_batch(o) && pack(o))
            deliver(o);
        count_drops(o);
    }
    o->closes_at = sn_time_add(o->clock->now(o->clock), LAST);
    while (o->clock->now(o->clock) < o->closes_at && take_batch(o))
        if (pack(o))
            deliver(o);
    while (take_batch(o)) /* no time is left for these */
        count(o, FAILED, o->n);
    count_drops(o);
    return NULL;
}

/* Making. */

static seine_err
read_url(seine_otlp *o, const seine_otlp_opts *opts, seine_diag *diag)
{
    char text[URL_MOST];
    bool whole = opts->traces_endpoint && opts->traces_endpoint[0];
    const char *member = whole ? "traces_endpoint" : "endpoint";
    const char *base = whole ? opts->traces_endpoint : opts->endpoint;

    if (!base || !base[0])
        return sn_diag_option(diag, "endpoint", "missing");
    size_t n = strlen(base);
    while (!whole && n > 0 && base[n - 1] == '/')
        n--;
    int len =
        snprintf(text, sizeof text, "%.*s%s", (int)n, base, whole ? "" : "/v1/traces");
    seine_url_init(&o->url, o->url_mem, sizeof o->url_mem);
    if (len < 0 || (size_t)len >= sizeof text ||
        seine_url_parse(&o->url, text, (size_t)len, NULL) != SEINE_OK ||
        !(sn_str_eq(seine_url_scheme(&o->url), SN_STR("http")) ||
          sn_str_eq(seine_url_scheme(&o->url), SN_STR("https"))))
        return sn_diag_value(diag, member, sn_str_of(base),
                             "not a URL that begins with http:// or https://");
    seine_url_drop_fragment(&o->url);
    return SEINE_OK;
}

static void
add_field(seine_otlp *o, sn_str name, sn_str value)
{
    o->fields[o->n_fields++] = (sn_field){name, value};
}

/* Decodes %XX where it stands. */
static size_t
decode(char *text, size_t n)
{
    size_t to = 0;

    for (size_t i = 0; i < n; i++) {
        int a = text[i] == '%' && i + 2 < n ? sn_hex_digit(text[i + 1]) : -1;
        int b = a >= 0 ? sn_hex_digit(text[i + 2]) : -1;

        text[to++] = b >= 0 ? (char)(a * 16 + b) : text[i];
        i += b >= 0 ? 2 : 0;
    }
    return to;
}

static seine_err
read_headers(seine_otlp *o, const char *headers, seine_diag *diag)
{
    add_field(o, SN_STR("Content-Type"), SN_STR("application/json"));
    add_field(o, SN_STR("Content-Encoding"), SN_STR("gzip"));
    add_field(o, SN_STR("User-Agent"), SN_STR("seine"));
    if (!headers || !headers[0])
        return SEINE_OK;
    size_t n = strlen(headers);
    o->headers = sn_zalloc(n + 1);
    if (!o->headers)
        return SEINE_E_NOMEM;
    memcpy(o->headers, headers, n);
    for (char *rest = o->headers, *pair; (pair = strsep(&rest, ",")) != NULL;) {
        char *equals = strchr(pair, '=');
        sn_str name = sn_str_trim((sn_str){pair, equals ? (size_t)(equals - pair) : 0});

        if (!*pair)
            continue;
        if (!equals || name.len == 0 || o->n_fields == FIELDS_MOST)
            return sn_diag_option(diag, "headers", "not a list of key=value");
        sn_str value =
            sn_str_trim((sn_str){equals + 1, decode(equals + 1, strlen(equals + 1))});
        if (!sn_admit_is_field(name, value))
            return sn_diag_value(diag, "headers", name, "cannot be sent");
        add_field(o, name, value);
    }
    return SEINE_OK;
}

static seine_err
make_gauges(seine_otlp *o, seine_metrics *metrics)
{
    static const char *const queues[] = {"trace"};
    const seine_label queue = {"queue", queues, 1};
    seine_gauge *capacity = NULL;
    seine_err e = seine_metrics_gauge(metrics, "seine_queue_depth",
                                      "What waits in a queue.", &queue, 1, &o->depth);

    if (e == SEINE_OK)
        e = seine_metrics_gauge(metrics, "seine_queue_capacity",
                                "What a queue has room for.", &queue, 1, &capacity);
    if (e == SEINE_OK)
        seine_gauge_set(capacity, 0, RING);
    return e;
}

static seine_err
make_parts(seine_otlp *o, const seine_otlp_opts *opts, seine_diag *diag)
{
    static const char *const results[] = {"exported", "dropped", "failed"};
    const seine_label result = {"result", results, 3};
    seine_err e = sn_span_ring_init(&o->ring, RING);

    o->batch = sn_calloc(BATCH, sizeof *o->batch);
    if (e == SEINE_OK && !o->batch)
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = sn_span_resource(&o->resource, opts->service ? opts->service : "seine",
                             seine_version(), opts->resource);
    if (e == SEINE_E_INVAL)
        return sn_diag_option(diag, "resource", "not a list of key=value");
    if (e == SEINE_OK)
        e = sn_tls_ctx_new(&(sn_tls_opts){opts->cacert, NULL, NULL, 12}, &o->tls, diag);
    if (e == SEINE_OK)
        e = sn_socket_transport_new(
            &(sn_socket_transport_opts){
                .clock = o->clock,
                .dns = {.timeout = SEINE_SECS(5), .max_names = 16},
                .tls = o->tls,
                .max_connections = 2,
                .max_idle = 1,
                .max_idle_origin = 1,
                .idle_time = SEINE_SECS(1),
                .max_age = SEINE_SECS(60),
                .max_requests = 1000},
            &o->transport, diag);
    if (e == SEINE_OK && opts->metrics)
        e = seine_metrics_counter(opts->metrics, "seine_trace_spans_total",
                                  "Spans of traces, by what became of them.", &result, 1,
                                  &o->spans);
    return e == SEINE_OK && opts->metrics ? make_gauges(o, opts->metrics) : e;
}

static bool
start_thread(seine_otlp *o)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    o->has_thread = pthread_create(&o->thread, NULL, export_spans, o) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return o->has_thread;
}

seine_err
seine_otlp_new(const seine_otlp_opts *opts, seine_otlp **out_otlp, seine_diag *diag)
{
    seine_otlp_opts own;

    sn_diag_clear(diag);
    if (!out_otlp || !sn_opts_read(&own, sizeof own, sizeof own, opts))
        return SEINE_E_INVAL;
    if (own.ratio_ppm > 1000000)
        return sn_diag_option(diag, "ratio_ppm", "at most 1,000,000");
    seine_otlp *o = sn_zalloc(sizeof *o);
    if (!o)
        return SEINE_E_NOMEM;
    o->clock = seine_clock_system();
    o->log = own.log;
    o->ratio_ppm = own.ratio_ppm;
    o->failed_rate = own.failed_rate;
    o->closes_at = SEINE_NEVER;
    o->rng = sn_rng_seed(o->clock->dice(o->clock));
    sn_buf_init(&o->resource, 16 << 10);
    sn_buf_init(&o->text, BODY_MOST);
    sn_buf_init(&o->body, BODY_MOST);
    seine_err e = read_url(o, &own, diag);
    if (e == SEINE_OK)
        e = read_headers(o, own.headers, diag);
    if (e == SEINE_OK)
        e = make_parts(o, &own, diag);
    if (e == SEINE_OK && !start_thread(o))
        e = SEINE_E_NOMEM;
    if (e != SEINE_OK) {
        seine_otlp_free(o);
        return e;
    }
    *out_otlp = o;
    return SEINE_OK;
}

void
seine_otlp_free(seine_otlp *o)
{
    if (!o)
        return;
    atomic_store(&o->is_closing, true);
    __atomic_add_fetch(&o->word, 1, __ATOMIC_SEQ_CST);
    o->clock->wake(o->clock, &o->word, 1);
    if (o->has_thread) {
        o->transport->ops->wake(o->transport);
        pthread_join(o->thread, NULL);
    }
    sn_socket_transport_free(o->transport);
    sn_tls_ctx_free(o->tls);
    sn_span_ring_fini(&o->ring);
    sn_buf_fini(&o->resource);
    sn_buf_fini(&o->text);
    sn_buf_fini(&o->body);
    sn_gzip_fini(&o->gzip);
    if (o->headers)
        explicit_bzero(o->headers, strlen(o->headers));
    sn_free(o->headers);
    sn_free(o->batch);
    sn_free(o);
}

void
seine_otlp_stats_get(seine_otlp *o, seine_otlp_stats *out_stats)
{
    if (!o || !out_stats)
        return;
    *out_stats = (seine_otlp_stats){.exported = atomic_load(&o->exported),
                                    .failed = atomic_load(&o->failed),
                                    .dropped = sn_span_ring_dropped(&o->ring),
                                    .requests = atomic_load(&o->requests)};
}
