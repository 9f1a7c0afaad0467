/* SPDX-License-Identifier: Apache-2.0 */
/* seine-0.h - what libseine.so.0 promises; written by tools/freeze-abi. */
/* clang-format off */
#ifndef SEINE_0_H
#define SEINE_0_H
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#ifdef __cplusplus
#define SEINE_BEGIN                                    \
    _Pragma("GCC visibility push(default)") extern "C" \
    {
#define SEINE_END \
    }             \
    _Pragma("GCC visibility pop")
#else
#define SEINE_BEGIN _Pragma("GCC visibility push(default)")
#define SEINE_END   _Pragma("GCC visibility pop")
#endif
#define SEINE_MUST_CHECK __attribute__((warn_unused_result))
typedef int64_t seine_time;
typedef int64_t seine_span;
#define SEINE_NEVER   INT64_MAX
#define SEINE_US(n)   ((n) * (seine_span)1000)
#define SEINE_MS(n)   ((n) * (seine_span)1000000)
#define SEINE_SECS(n) ((n) * (seine_span)1000000000)
typedef enum seine_class { SEINE_LOCAL, SEINE_TRANSIENT, SEINE_FINAL } seine_class;
#define SEINE_ERR_ROOM 256
#define SEINE_ERRORS(X) \
     \
    X(1,  INVAL,                "inval",                LOCAL,     INVAL,     "invalid argument") \
    X(2,  RANGE,                "range",                LOCAL,     RANGE,     "more than the limit can ever allow") \
    X(3,  CLOSED,               "closed",               LOCAL,     CLOSED,    "closed") \
    X(4,  ALREADY,              "already",              LOCAL,     ALREADY,   "already done") \
    X(5,  DEADLOCK,             "deadlock",             LOCAL,     DEADLOCK,  "would wait for itself") \
    X(6,  UNKNOWN,              "unknown",              LOCAL,     UNKNOWN,   "no such key") \
     \
    X(7,  NOMEM,                "nomem",                LOCAL,     BUDGET,    "out of memory") \
    X(8,  FULL,                 "full",                 LOCAL,     FULL,      "queue is full") \
    X(9,  LIMITED,              "limited",              LOCAL,     LIMITED,   "rate limit exceeded") \
    X(10, BUSY,                 "busy",                 LOCAL,     BUSY,      "too many at once") \
    X(11, BUDGET,               "budget",               LOCAL,     BUDGET,    "budget spent") \
    X(12, CANCELED,             "canceled",             LOCAL,     CANCELED,  "canceled") \
    X(13, DEADLINE,             "deadline",             LOCAL,     DEADLINE,  "deadline exceeded") \
    X(14, BREAKER,              "breaker",              LOCAL,     BREAKER,   "circuit breaker is open") \
    X(15, NO_FILES,             "no_files",             LOCAL,     BUSY,      "no file descriptor left") \
    X(16, NO_PORTS,             "no_ports",             LOCAL,     BUSY,      "no local port left") \
     \
    X(17, TIMEOUT,              "timeout",              TRANSIENT, TIMEOUT,   "timed out") \
    X(18, CONNECT,              "connect",              TRANSIENT, CONNECT,   "could not connect") \
    X(19, RESET,                "reset",                TRANSIENT, RESET,     "connection reset") \
    X(20, SHORT,                "short",                TRANSIENT, SHORT,     "body ended early") \
    X(21, DNS_AGAIN,            "dns_again",            TRANSIENT, DNS_AGAIN, "name lookup failed for now") \
    X(22, HTTP_BUSY,            "http_busy",            TRANSIENT, HTTP_BUSY, "server said to come back later") \
    X(23, DNS,                  "dns",                  FINAL,     DNS,       "no such host") \
    X(24, TLS,                  "tls",                  FINAL,     TLS,       "certificate not trusted") \
    X(25, HTTP,                 "http",                 FINAL,     HTTP,      "server refused the request") \
    X(26, TOO_BIG,              "too_big",              FINAL,     TOO_BIG,   "response larger than the cap") \
    X(27, PARSE,                "parse",                FINAL,     PARSE,     "malformed response") \
     \
    X(28, DNS_SERVFAIL,         "dns_servfail",         TRANSIENT, DNS_AGAIN, "name server failed") \
    X(29, DNS_ERROR,            "dns_error",            TRANSIENT, DNS_AGAIN, "name lookup failed") \
    X(30, DNS_TIMEOUT,          "dns_timeout",          TRANSIENT, TIMEOUT,   "name lookup timed out") \
    X(31, DNS_NXDOMAIN,         "dns_nxdomain",         FINAL,     DNS,       "no such name") \
    X(32, DNS_BAD_NAME,         "dns_bad_name",         FINAL,     DNS,       "not a host name") \
     \
    X(33, CONNECT_TIMEOUT,      "connect_timeout",      TRANSIENT, TIMEOUT,   "connecting timed out") \
    X(34, CONNECT_REFUSED,      "connect_refused",      TRANSIENT, CONNECT,   "connection refused") \
    X(35, CONNECT_UNREACHABLE,  "connect_unreachable",  TRANSIENT, CONNECT,   "host or network unreachable") \
    X(36, CONN_RESET,           "conn_reset",           TRANSIENT, RESET,     "connection reset by the server") \
    X(37, CONN_STALE,           "conn_stale",           TRANSIENT, RESET,     "kept connection was already closed") \
    X(38, PROXY_ERROR,          "proxy_error",          TRANSIENT, CONNECT,   "proxy failed") \
    X(39, PROXY_REFUSED,        "proxy_refused",        FINAL,     HTTP,      "proxy refused the request") \
    X(40, PROXY_AUTH,           "proxy_auth",           FINAL,     HTTP,      "proxy asks for credentials") \
    X(41, TLS_TIMEOUT,          "tls_timeout",          TRANSIENT, TIMEOUT,   "TLS handshake timed out") \
    X(42, TLS_ERROR,            "tls_error",            TRANSIENT, CONNECT,   "TLS handshake failed") \
    X(43, TLS_CERT_EXPIRED,     "tls_cert_expired",     FINAL,     TLS,       "certificate expired") \
    X(44, TLS_HOST_MISMATCH,    "tls_host_mismatch",    FINAL,     TLS,       "certificate is for another host") \
    X(45, TLS_UNTRUSTED,        "tls_untrusted",        FINAL,     TLS,       "certificate from an unknown authority") \
     \
    X(46, SEND_TIMEOUT,         "send_timeout",         TRANSIENT, TIMEOUT,   "sending the request timed out") \
    X(47, HEADER_TIMEOUT,       "header_timeout",       TRANSIENT, TIMEOUT,   "no response header in time") \
    X(48, STALLED,              "stalled",              TRANSIENT, TIMEOUT,   "body came too slowly") \
    X(49, HEADER_TRUNCATED,     "header_truncated",     TRANSIENT, RESET,     "connection ended inside the header") \
    X(50, BODY_TRUNCATED,       "body_truncated",       TRANSIENT, SHORT,     "body ended before its length") \
    X(51, H2_ERROR,             "h2_error",             TRANSIENT, RESET,     "HTTP/2 connection failed") \
    X(52, H2_STREAM,            "h2_stream",            TRANSIENT, RESET,     "HTTP/2 stream was reset") \
    X(53, HEADER_TOO_LARGE,     "header_too_large",     FINAL,     TOO_BIG,   "response header larger than the cap") \
    X(54, TOO_MANY_INTERIM,     "too_many_interim",     FINAL,     TOO_BIG,   "too many interim responses") \
    X(55, BODY_TOO_LARGE,       "body_too_large",       FINAL,     TOO_BIG,   "body larger than the cap") \
    X(56, BAD_STATUS_LINE,      "bad_status_line",      FINAL,     PARSE,     "malformed status line") \
    X(57, BAD_HEADER,           "bad_header",           FINAL,     PARSE,     "malformed header") \
    X(58, BAD_FRAMING,          "bad_framing",          FINAL,     PARSE,     "contradictory or malformed body framing") \
    X(59, BAD_ENCODING,         "bad_encoding",         FINAL,     PARSE,     "body cannot be decoded") \
    X(60, UNEXPECTED_304,       "unexpected_304",       FINAL,     HTTP,      "304 without a condition") \
    X(61, UNEXPECTED_206,       "unexpected_206",       FINAL,     HTTP,      "206 without a range") \
    X(62, TOO_MANY_REDIRECTS,   "too_many_redirects",   FINAL,     HTTP,      "too many redirects") \
    X(63, BAD_REDIRECT,         "bad_redirect",         FINAL,     HTTP,      "redirect without a usable target") \
    X(64, REDIRECT_REFUSED,     "redirect_refused",     FINAL,     HTTP,      "redirect not followed by policy") \
     \
    X(65, BAD_CHARSET,          "bad_charset",          FINAL,     PARSE,     "unknown character encoding") \
    X(66, BAD_JSON,             "bad_json",             FINAL,     PARSE,     "malformed JSON") \
    X(67, JSON_TOO_DEEP,        "json_too_deep",        FINAL,     PARSE,     "JSON nested too deep") \
    X(68, BAD_XML,              "bad_xml",              FINAL,     PARSE,     "malformed XML") \
    X(69, HTML_TOO_DEEP,        "html_too_deep",        FINAL,     PARSE,     "HTML nested too deep") \
    X(70, HTML_TOO_COMPLEX,     "html_too_complex",     FINAL,     PARSE,     "HTML too costly to parse") \
    X(71, SELECTOR_TIMEOUT,     "selector_timeout",     FINAL,     PARSE,     "selector took too many steps") \
    X(72, PATTERN_BUDGET,       "pattern_budget",       FINAL,     PARSE,     "pattern took too many steps") \
     \
    X(73, ROBOTS_UNREACHABLE,   "robots_unreachable",   TRANSIENT, ROBOTS_UNREACHABLE, "robots.txt could not be read") \
    X(74, ROBOTS,               "robots",               FINAL,     ROBOTS,    "disallowed by robots.txt") \
    X(75, BLOCKED_ADDRESS,      "blocked_address",      LOCAL,     BLOCKED_ADDRESS, "address not allowed") \
    X(76, BLOCKED_SCHEME,       "blocked_scheme",       LOCAL,     BLOCKED_SCHEME, "scheme not allowed") \
    X(77, BLOCKED_PORT,         "blocked_port",         LOCAL,     BLOCKED_PORT, "port not allowed") \
    X(78, OUT_OF_SCOPE,         "out_of_scope",         LOCAL,     OUT_OF_SCOPE, "outside the scope") \
    X(79, BAD_URL,              "bad_url",              LOCAL,     BAD_URL,   "not a URL") \
    X(80, RETRY_AFTER_TOO_LONG, "retry_after_too_long", LOCAL,     RETRY_AFTER_TOO_LONG, "server asks to wait longer than allowed") \
     \
    X(81, DISK_FULL,            "disk_full",            LOCAL,     DISK_FULL, "no space left") \
    X(82, FSYNC_FAILED,         "fsync_failed",         LOCAL,     FSYNC_FAILED, "could not make the data durable") \
    X(83, OUTPUT_CLOSED,        "output_closed",        LOCAL,     OUTPUT_CLOSED, "output was closed by its reader") \
    X(84, OUTPUT_CHANGED,       "output_changed",       LOCAL,     OUTPUT_CHANGED, "output was changed by somebody else") \
    X(85, IO,                   "io",                   LOCAL,     IO,        "local input or output failed") \
    X(86, STATE_LOCKED,         "state_locked",         LOCAL,     STATE_LOCKED, "job is owned by another process") \
    X(87, STATE_CORRUPT,        "state_corrupt",        LOCAL,     STATE_CORRUPT, "job state is damaged") \
    X(88, STATE_FOREIGN,        "state_foreign",        LOCAL,     STATE_FOREIGN, "not the state of a job") \
    X(89, STATE_NEWER,          "state_newer",          LOCAL,     STATE_NEWER, "job state of a newer version") \
    X(90, STORE_UNAVAILABLE,    "store_unavailable",    LOCAL,     STORE_UNAVAILABLE, "store cannot be reached") \
    X(91, CONFIG,               "config",               LOCAL,     CONFIG,    "configuration error")
typedef enum seine_err {
    SEINE_OK = 0,
#define X(number, id, name, class_, group, text) SEINE_E_##id = (number),
    SEINE_ERRORS(X)
#undef X
} seine_err;
typedef enum seine_phase {
    SEINE_PHASE_NONE,
    SEINE_PHASE_DNS,
    SEINE_PHASE_CONNECT,
    SEINE_PHASE_PROXY,
    SEINE_PHASE_TLS,
    SEINE_PHASE_SEND,
    SEINE_PHASE_HEAD,
    SEINE_PHASE_BODY
} seine_phase;
typedef struct seine_fault {
    seine_err code;
    seine_phase phase;
    uint16_t status;
    bool sent;
    int64_t timeout_ms;
    seine_span retry_after;
    char url[256];
    char text[96];
} seine_fault;
#define SEINE_FAULT                                       \
    {                                                     \
        SEINE_OK, SEINE_PHASE_NONE, 0, false, 0, -1, {0}, \
        {                                                 \
            0                                             \
        }                                                 \
    }
SEINE_BEGIN
const char *seine_err_name(seine_err e);
const char *seine_err_text(seine_err e);
seine_class seine_err_class(seine_err e);
seine_err seine_err_group(seine_err e);
const char *seine_phase_name(seine_phase p);
size_t seine_fault_text(const seine_fault *f, char *buf, size_t cap);
SEINE_END
typedef struct seine_alloc {
    void *(*get)(size_t n, void *arg);
    void *(*resize)(void *p, size_t n, void *arg);
    void (*put)(void *p, void *arg);
    void *(*map)(size_t n, void *arg);
    void (*unmap)(void *p, size_t n, void *arg);
    void *arg;
} seine_alloc;
typedef struct seine_text {
    char *bytes;
    size_t len;
} seine_text;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_set_alloc(const seine_alloc *alloc);
void seine_text_free(seine_text *text);
SEINE_END
typedef enum seine_outcome {
    SEINE_SUCCESS,
    SEINE_FAILURE,
    SEINE_IGNORED
} seine_outcome;
SEINE_BEGIN
seine_outcome seine_outcome_breaker(const seine_fault *f);
seine_outcome seine_outcome_throttle(const seine_fault *f);
seine_span seine_outcome_pause(const seine_fault *f);
bool seine_outcome_undo(const seine_fault *f);
SEINE_END
typedef struct seine_view {
    const char *ptr;
    size_t len;
} seine_view;
typedef struct seine_field {
    seine_view name, value;
} seine_field;
typedef enum seine_breaker_state {
    SEINE_BREAKER_CLOSED,
    SEINE_BREAKER_OPEN,
    SEINE_BREAKER_HALF_OPEN,
    SEINE_BREAKER_FORCED_OPEN,
    SEINE_BREAKER_DISABLED
} seine_breaker_state;
typedef void (*seine_breaker_fn)(seine_view key, seine_breaker_state from,
                                 seine_breaker_state to, uint64_t seq, void *arg);
typedef struct seine_breaker_opts {
    size_t size;
    uint32_t failure_threshold;
    uint32_t half_open_max;
    uint32_t success_threshold;
    uint32_t open_growth_pct;
    uint32_t window_calls;
    seine_span window_time;
    uint32_t min_calls;
    uint32_t failure_pct;
    uint32_t slow_pct;
    seine_span slow;
    seine_span open_for;
    seine_span open_max;
    seine_span probe_lease;
    seine_breaker_fn on_change;
    void *arg;
} seine_breaker_opts;
#define SEINE_BREAKER_OPTS \
    {sizeof(seine_breaker_opts), 5, 1, 1, 100, 0, 0, 10, 0, 0, 0, SEINE_SECS(60), SEINE_SECS(300), 0, 0, 0}
typedef struct seine_permit {
    uint64_t generation;
    seine_time start;
    uint32_t id;
    uint16_t why;
    uint8_t held;
} seine_permit;
typedef struct seine_breaker_stats {
    seine_breaker_state state;
    seine_err why;
    uint32_t failures;
    uint32_t half_open_successes;
    uint32_t half_open_failures;
    uint32_t half_open_active;
    uint32_t streak;
    seine_time last_failure_at;
    seine_time open_until;
    uint64_t generation;
    uint64_t succeeded, failed, ignored, slow, rejected, late, opened;
    double failure_rate, slow_rate;
} seine_breaker_stats;
typedef struct seine_breaker {
    const seine_breaker_opts *opts;
    void *extra;
    uint64_t word[14];
} seine_breaker;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_breaker_init(seine_breaker *b,
                                              const seine_breaker_opts *opts);
void seine_breaker_fini(seine_breaker *b);
SEINE_MUST_CHECK seine_err seine_breaker_acquire(seine_breaker *b, seine_time now,
                                                 seine_permit *out_permit);
SEINE_MUST_CHECK seine_err seine_breaker_settle(seine_breaker *b, seine_permit *permit,
                                                seine_outcome how, seine_time now);
seine_time seine_breaker_when(seine_breaker *b, seine_time now);
void seine_breaker_hold(seine_breaker *b, seine_time until, seine_time now);
seine_breaker_state seine_breaker_state_get(const seine_breaker *b);
const char *seine_breaker_state_name(int state);
SEINE_MUST_CHECK seine_err seine_breaker_can_execute(seine_breaker *b, seine_time now);
void seine_breaker_record(seine_breaker *b, seine_outcome how, seine_time now);
void seine_breaker_reset(seine_breaker *b);
void seine_breaker_force(seine_breaker *b, seine_breaker_state state, seine_time now);
void seine_breaker_stats_get(const seine_breaker *b, seine_breaker_stats *out_stats);
SEINE_END
typedef struct seine_clock seine_clock;
struct seine_clock {
    seine_time (*now)(seine_clock *c);
    int64_t (*wall)(seine_clock *c);
    uint64_t (*dice)(seine_clock *c);
    bool (*wait)(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until);
    void (*wake)(seine_clock *c, const uint32_t *word, int n);
    void (*enter)(seine_clock *c);
    void (*leave)(seine_clock *c);
};
SEINE_BEGIN
seine_clock *seine_clock_system(void);
seine_time seine_now(void);
SEINE_MUST_CHECK seine_err seine_clock_fake_new(seine_time now, int64_t wall,
                                                uint64_t seed, seine_clock **out_clock);
void seine_clock_fake_free(seine_clock *c);
void seine_clock_fake_enter(seine_clock *c);
void seine_clock_fake_leave(seine_clock *c);
void seine_clock_fake_advance(seine_clock *c, seine_span d);
void seine_clock_fake_step_wall(seine_clock *c, int64_t by);
uint32_t seine_clock_fake_parked(seine_clock *c);
void seine_clock_fake_await(seine_clock *c, uint32_t n);
SEINE_END
typedef struct seine_ctx seine_ctx;
typedef struct seine_ctx_hook {
    void (*fn)(void *arg);
    void *arg;
    struct seine_ctx_hook *next, **prev;
} seine_ctx_hook;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_ctx_root(seine_clock *clock, seine_ctx **out_ctx);
SEINE_MUST_CHECK seine_err seine_ctx_background(seine_ctx **out_ctx);
SEINE_MUST_CHECK seine_err seine_ctx_new(seine_ctx *parent, seine_time deadline,
                                         seine_ctx **out_ctx);
SEINE_MUST_CHECK seine_err seine_ctx_after(seine_ctx *parent, seine_span span,
                                           seine_ctx **out_ctx);
seine_ctx *seine_ctx_ref(seine_ctx *c);
void seine_ctx_unref(seine_ctx *c);
void seine_ctx_cancel(seine_ctx *c, seine_err cause);
void seine_ctx_expire(seine_ctx *c, seine_time now);
seine_err seine_ctx_err(const seine_ctx *c, seine_time now);
seine_time seine_ctx_deadline(const seine_ctx *c);
seine_clock *seine_ctx_clock(const seine_ctx *c);
seine_time seine_ctx_now(const seine_ctx *c);
void seine_ctx_on_done(seine_ctx *c, seine_ctx_hook *hook);
bool seine_ctx_off_done(seine_ctx *c, seine_ctx_hook *hook);
SEINE_MUST_CHECK seine_err seine_ctx_sleep(seine_ctx *c, seine_time until);
SEINE_END
typedef enum seine_res {
    SEINE_RES_MEMORY,
    SEINE_RES_FDS,
    SEINE_RES_REQUESTS,
    SEINE_RES_DOWNLOAD,
} seine_res;
#define SEINE_RES_ROOM 4
#define SEINE_RES_NONE ((seine_res)SEINE_RES_ROOM)
typedef struct seine_want {
    uint64_t n[SEINE_RES_ROOM];
} seine_want;
typedef struct seine_budget seine_budget;
typedef struct seine_held {
    seine_budget *of;
    seine_want has;
} seine_held;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_budget_new(const seine_want *limits,
                                            seine_budget **out_budget);
void seine_budget_free(seine_budget *b);
SEINE_MUST_CHECK seine_err seine_budget_try(seine_budget *b, const seine_want *want,
                                            seine_held *out_held);
SEINE_MUST_CHECK seine_err seine_budget_wait(seine_budget *b, seine_ctx *ctx,
                                             const seine_want *want,
                                             seine_held *out_held);
SEINE_MUST_CHECK seine_err seine_budget_grow(seine_held *held, seine_res res,
                                             uint64_t more);
void seine_budget_force(seine_held *held, seine_res res, uint64_t more);
void seine_budget_shrink(seine_held *held, seine_res res, uint64_t less);
void seine_budget_release(seine_held *held);
seine_res seine_budget_short(const seine_budget *b);
void seine_budget_used_get(const seine_budget *b, seine_want *out_used);
bool seine_budget_can_proceed(const seine_budget *b);
void seine_budget_start(seine_budget *b);
void seine_budget_end(seine_budget *b, uint64_t bytes);
SEINE_END
struct seine_ctx;
#define SEINE_FULL (-1)
typedef struct seine_rate {
    uint64_t count;
    seine_span per;
    uint32_t burst;
} seine_rate;
typedef struct seine_limiter {
    seine_span every;
    seine_span depth;
    seine_time full;
    seine_time shut;
} seine_limiter;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_limiter_init(seine_limiter *lim, seine_span every,
                                              uint32_t burst);
SEINE_MUST_CHECK seine_err seine_limiter_init_rate(seine_limiter *lim,
                                                   const seine_rate *rate,
                                                   int64_t initial, seine_time now);
bool seine_limiter_allow(seine_limiter *lim, seine_time now, uint32_t n);
seine_time seine_limiter_when(const seine_limiter *lim, seine_time now, uint32_t n);
uint32_t seine_limiter_left(const seine_limiter *lim, seine_time now);
bool seine_limiter_reserve(seine_limiter *lim, seine_time now, uint32_t n,
                           seine_time latest, seine_time *out_at);
bool seine_limiter_undo(seine_limiter *lim, seine_time mark, uint32_t n);
void seine_limiter_fill(seine_limiter *lim, seine_time now, uint32_t tokens);
void seine_limiter_pause(seine_limiter *lim, seine_time until);
void seine_limiter_set_rate(seine_limiter *lim, seine_time now, seine_span every,
                            uint32_t burst);
seine_span seine_every(uint64_t count, seine_span per);
seine_span seine_price(uint64_t n, uint64_t count, seine_span per);
SEINE_MUST_CHECK seine_err seine_limiter_wait(seine_limiter *lim, struct seine_ctx *ctx,
                                              uint32_t n);
SEINE_END
typedef struct seine_shared seine_shared;
typedef struct seine_shared_opts {
    size_t size;
    seine_rate rate;
    int64_t initial;
    uint32_t max_waiters;
} seine_shared_opts;
#define SEINE_SHARED_OPTS                                                      \
    {                                                                          \
        sizeof(seine_shared_opts), {50, SEINE_SECS(1), 100}, SEINE_FULL, 65536 \
    }
typedef struct seine_grant {
    uint32_t limit;
    uint32_t left;
    seine_span retry_after;
    seine_span reset_after;
    seine_time mark;
} seine_grant;
typedef struct seine_limiter_stats {
    uint32_t capacity, waiters;
    double refill_rate, tokens;
    uint64_t allowed, denied, waited, canceled;
    seine_span waited_total;
} seine_limiter_stats;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_shared_new(const seine_shared_opts *opts, seine_time now,
                                            seine_shared **out_lim);
void seine_shared_free(seine_shared *lim);
void seine_shared_close(seine_shared *lim);
bool seine_shared_allow(seine_shared *lim, seine_time now, uint32_t n);
SEINE_MUST_CHECK seine_err seine_shared_try(seine_shared *lim, seine_time now, int64_t n,
                                            seine_grant *out_grant);
SEINE_MUST_CHECK seine_err seine_shared_reserve(seine_shared *lim, seine_time now,
                                                int64_t n, seine_time latest,
                                                seine_grant *out_grant);
bool seine_shared_undo(seine_shared *lim, seine_time mark, uint32_t n);
SEINE_MUST_CHECK seine_err seine_shared_wait(seine_shared *lim, seine_ctx *ctx, int64_t n,
                                             seine_span max_wait);
SEINE_MUST_CHECK seine_err seine_shared_set_rate(seine_shared *lim, seine_time now,
                                                 const seine_rate *rate);
void seine_shared_pause(seine_shared *lim, seine_time until);
void seine_shared_reset(seine_shared *lim, seine_time now);
void seine_shared_stats_get(const seine_shared *lim, seine_time now,
                            seine_limiter_stats *out_stats);
SEINE_END
typedef struct seine_throttle seine_throttle;
typedef struct seine_slot {
    seine_throttle *of;
    seine_time start;
} seine_slot;
typedef struct seine_throttle_ops {
    uint32_t (*limit)(void *self);
    void (*sample)(void *self, seine_outcome how, seine_time start, seine_time now,
                   uint32_t in_flight);
    void (*fini)(void *self);
} seine_throttle_ops;
struct seine_throttle {
    const seine_throttle_ops *ops;
    void *self, *queue;
    uint32_t in_flight, peak;
};
typedef struct seine_adapt_opts {
    size_t size;
    uint32_t initial, min, max;
    bool gradient;
    seine_span slow;
} seine_adapt_opts;
#define SEINE_ADAPT_OPTS                                       \
    {                                                          \
        sizeof(seine_adapt_opts), 2, 1, 16, false, SEINE_NEVER \
    }
typedef struct seine_pace_opts {
    size_t size;
    seine_span min, max;
    uint32_t target;
} seine_pace_opts;
#define SEINE_PACE_OPTS {sizeof(seine_pace_opts), 0, 0, 0}
SEINE_BEGIN
void seine_throttle_init_null(seine_throttle *t);
SEINE_MUST_CHECK seine_err seine_throttle_init_semaphore(seine_throttle *t,
                                                         uint32_t permits);
SEINE_MUST_CHECK seine_err seine_throttle_init_adaptive(seine_throttle *t,
                                                        const seine_adapt_opts *opts);
void seine_throttle_init_custom(seine_throttle *t, const seine_throttle_ops *ops,
                                void *self);
void seine_throttle_fini(seine_throttle *t);
bool seine_throttle_try(seine_throttle *t, seine_time now, seine_slot *out_slot);
SEINE_MUST_CHECK seine_err seine_throttle_wait(seine_throttle *t, seine_ctx *ctx,
                                               seine_slot *out_slot);
SEINE_MUST_CHECK seine_err seine_throttle_release(seine_slot *slot, seine_outcome how,
                                                  seine_time now);
SEINE_MUST_CHECK seine_err seine_throttle_set(seine_throttle *t, uint32_t permits);
uint32_t seine_throttle_limit(const seine_throttle *t);
uint32_t seine_throttle_in_flight(const seine_throttle *t);
seine_span seine_pace(const seine_pace_opts *opts, seine_span delay, seine_span latency,
                      bool ok);
SEINE_END
typedef struct seine_guards {
    seine_breaker *breaker;
    seine_limiter *limiter;
    seine_throttle *throttle;
    seine_shared *global_limiter;
    seine_throttle *global_throttle;
    seine_budget *budget;
    seine_want want;
} seine_guards;
typedef struct seine_attempt_verdict {
    seine_err err;
    seine_time when;
} seine_attempt_verdict;
typedef struct seine_attempt {
    const seine_guards *guards;
    seine_permit permit;
    seine_slot slot, global_slot;
    seine_held held;
    seine_time start, mark, global_mark;
    bool open;
} seine_attempt;
SEINE_BEGIN
seine_attempt_verdict seine_attempt_begin(seine_attempt *a, const seine_guards *g,
                                          const seine_ctx *ctx, seine_time now);
SEINE_MUST_CHECK seine_err seine_attempt_end(seine_attempt *a, const seine_fault *f,
                                             seine_time now);
SEINE_END
#define SEINE_DIAG_MEMBER 32
#define SEINE_DIAG_FILE   80
#define SEINE_DIAG_TEXT   160
#define SEINE_DIAG_ROOM   320
typedef struct seine_diag {
    char member[SEINE_DIAG_MEMBER];
    char file[SEINE_DIAG_FILE];
    uint64_t line, column;
    char text[SEINE_DIAG_TEXT];
} seine_diag;
#define SEINE_DIAG {"", "", 0, 0, ""}
typedef struct seine_diag_name {
    const char *member, *shown;
} seine_diag_name;
SEINE_BEGIN
size_t seine_diag_print(const seine_diag *diag, const seine_diag_name *names, char *buf,
                        size_t cap);
SEINE_END
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_breaker_spec(const char *text, seine_breaker_opts *opts,
                                              uint32_t *park, seine_diag *diag);
SEINE_END
SEINE_BEGIN
seine_view seine_key_str(const char *s);
size_t seine_key_ip(const uint8_t *addr, size_t addr_len, unsigned prefix,
                    char out_key[17]);
SEINE_END
typedef struct seine_breakers seine_breakers;
typedef bool (*seine_breakers_fn)(seine_view key, const seine_breaker_stats *stats,
                                  void *arg);
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_breakers_new(const seine_breaker_opts *opts,
                                              uint32_t max_keys,
                                              seine_breakers **out_breakers);
void seine_breakers_free(seine_breakers *r);
SEINE_MUST_CHECK seine_err seine_breakers_acquire(seine_breakers *r, seine_view key,
                                                  seine_time now,
                                                  seine_permit *out_permit);
SEINE_MUST_CHECK seine_err seine_breakers_settle(seine_breakers *r, seine_view key,
                                                 seine_permit *permit, seine_outcome how,
                                                 seine_time now);
seine_time seine_breakers_when(seine_breakers *r, seine_view key, seine_time now);
SEINE_MUST_CHECK seine_err seine_breakers_wait(seine_breakers *r, seine_ctx *ctx,
                                               seine_view key);
seine_breaker_state seine_breakers_state_get(const seine_breakers *r, seine_view key);
SEINE_MUST_CHECK seine_err seine_breakers_stats_get(const seine_breakers *r,
                                                    seine_view key,
                                                    seine_breaker_stats *out_stats);
size_t seine_breakers_each(const seine_breakers *r, seine_breakers_fn fn, void *arg);
void seine_breakers_reset(seine_breakers *r, seine_view key);
void seine_breakers_reset_all(seine_breakers *r);
uint64_t seine_breakers_overflowed(const seine_breakers *r);
SEINE_END
#define SEINE_DAY_SECONDS 86400
typedef struct seine_date {
    int year;
    int month;
    int day;
    int hour;
    int minute;
    int second;
} seine_date;
SEINE_BEGIN
int seine_calendar_month_days(int year, int month);
const char *seine_calendar_month_name(int month);
int64_t seine_calendar_days(int year, int month, int day);
int seine_calendar_weekday(int64_t days);
int64_t seine_calendar_seconds(const seine_date *d);
seine_date seine_calendar_date(int64_t seconds);
SEINE_END
typedef enum seine_overflow {
    SEINE_OVERFLOW_SHARED,
    SEINE_OVERFLOW_DENY,
    SEINE_OVERFLOW_ALLOW
} seine_overflow;
typedef struct seine_keyed seine_keyed;
typedef struct seine_keyed_opts {
    size_t size;
    seine_rate each;
    uint32_t max_keys;
    size_t max_bytes;
    seine_overflow overflow;
    uint32_t max_waiters;
    uint64_t seed[2];
} seine_keyed_opts;
#define SEINE_KEYED_OPTS                                                      \
    {                                                                         \
        sizeof(seine_keyed_opts), {50, SEINE_SECS(1), 100}, 65536, 16u << 20, \
            SEINE_OVERFLOW_SHARED, 65536,                                     \
        {                                                                     \
            0, 0                                                              \
        }                                                                     \
    }
typedef struct seine_keyed_totals {
    uint64_t keys, bytes;
    uint64_t created, expired, overflowed;
} seine_keyed_totals;
typedef bool (*seine_keyed_fn)(seine_view key, const seine_limiter_stats *stats,
                               void *arg);
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_keyed_new(const seine_keyed_opts *opts,
                                           seine_keyed **out_keyed);
void seine_keyed_free(seine_keyed *k);
bool seine_keyed_allow(seine_keyed *k, seine_view key, seine_time now, uint32_t n);
SEINE_MUST_CHECK seine_err seine_keyed_try(seine_keyed *k, seine_view key, seine_time now,
                                           int64_t n, seine_grant *out_grant);
SEINE_MUST_CHECK seine_err seine_keyed_reserve(seine_keyed *k, seine_view key,
                                               seine_time now, int64_t n,
                                               seine_time latest, seine_grant *out_grant);
bool seine_keyed_undo(seine_keyed *k, seine_view key, seine_time mark, uint32_t n);
SEINE_MUST_CHECK seine_err seine_keyed_wait(seine_keyed *k, seine_ctx *ctx,
                                            seine_view key, int64_t n,
                                            seine_span max_wait);
void seine_keyed_reset(seine_keyed *k, seine_view key, seine_time now);
SEINE_MUST_CHECK seine_err seine_keyed_set_rate(seine_keyed *k, seine_view key,
                                                seine_time now, const seine_rate *rate);
SEINE_MUST_CHECK seine_err seine_keyed_pause(seine_keyed *k, seine_view key,
                                             seine_time until);
void seine_keyed_forget(seine_keyed *k, seine_view key);
SEINE_MUST_CHECK seine_err seine_keyed_stats_get(const seine_keyed *k, seine_view key,
                                                 seine_time now,
                                                 seine_limiter_stats *out_stats);
size_t seine_keyed_each(const seine_keyed *k, seine_time now, seine_keyed_fn fn,
                        void *arg);
size_t seine_keyed_sweep(seine_keyed *k, seine_time now, size_t max_steps);
void seine_keyed_totals_get(const seine_keyed *k, seine_keyed_totals *out_totals);
SEINE_END
typedef struct seine_retry_budget seine_retry_budget;
typedef struct seine_retry_budget_opts {
    size_t size;
    uint32_t ratio_milli;
    uint32_t cap;
    seine_rate reserve;
} seine_retry_budget_opts;
#define SEINE_RETRY_BUDGET_OPTS {sizeof(seine_retry_budget_opts), 200, 100, {10, SEINE_SECS(1), 10}}
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_retry_budget_new(const seine_retry_budget_opts *opts,
                                                  seine_retry_budget **out_budget);
void seine_retry_budget_free(seine_retry_budget *b);
void seine_retry_budget_deposit(seine_retry_budget *b);
bool seine_retry_budget_withdraw(seine_retry_budget *b, seine_time now);
SEINE_END
typedef struct seine_status_set {
    uint64_t words[10];
} seine_status_set;
#define SEINE_STATUS_2XX \
    {{0, 0, 0, UINT64_C(0xffffffffffffff00), UINT64_C(0x00000fffffffffff), 0, 0, 0, 0, 0}}
SEINE_BEGIN
bool seine_status_set_has(const seine_status_set *set, unsigned status);
void seine_status_set_add(seine_status_set *set, unsigned first, unsigned last);
void seine_status_set_remove(seine_status_set *set, unsigned first, unsigned last);
SEINE_MUST_CHECK seine_err seine_status_set_parse(const char *text,
                                                  const char *const *also,
                                                  seine_status_set *out_set,
                                                  uint32_t *out_also,
                                                  seine_view *out_bad);
SEINE_END
struct seine_ctx;
typedef enum seine_jitter {
    SEINE_JITTER_PLUSMINUS,
    SEINE_JITTER_NONE,
    SEINE_JITTER_FULL,
    SEINE_JITTER_EQUAL,
    SEINE_JITTER_DECORRELATED,
    SEINE_JITTER_MINUS
} seine_jitter;
typedef seine_span (*seine_backoff_fn)(uint32_t k, void *arg);
typedef void (*seine_on_retry_fn)(uint32_t attempts, const seine_fault *f, seine_time at,
                                  void *arg);
typedef struct seine_retry_opts {
    size_t size;
    uint32_t max_attempts;
    seine_jitter jitter;
    uint32_t jitter_pct;
    seine_span base, max;
    seine_span retry_after_max;
    seine_span max_elapsed;
    seine_span min_attempt;
    seine_status_set status;
    bool not_net, not_timeout;
    uint32_t
        factor_pct;
    seine_backoff_fn backoff;
    void *backoff_arg;
    seine_on_retry_fn on_retry;
} seine_retry_opts;
#define SEINE_RETRY_OPTS \
    {sizeof(seine_retry_opts), 3, SEINE_JITTER_PLUSMINUS, 10, SEINE_SECS(1), SEINE_SECS(30), SEINE_SECS(3600), \
     SEINE_NEVER, 0, \
     {{0, 0, 0, 0, 0, 0, UINT64_C(0x0000220001000000), UINT64_C(0xfdd0000000000000), \
       UINT64_C(0xffffffffffffffff), UINT64_C(0xffffff)}}, false, false, 200, NULL, NULL, NULL}
typedef struct seine_retry {
    const seine_retry_opts *opts;
    seine_retry_budget *host, *global;
    seine_time deadline, first_at;
    seine_span prev;
    uint32_t attempts;
    bool idempotent;
} seine_retry;
typedef enum seine_stop {
    SEINE_STOP_NO,
    SEINE_STOP_OK,
    SEINE_STOP_CANCELED,
    SEINE_STOP_FINAL,
    SEINE_STOP_ATTEMPTS,
    SEINE_STOP_METHOD,
    SEINE_STOP_ELAPSED,
    SEINE_STOP_DEADLINE,
    SEINE_STOP_BUDGET,
    SEINE_STOP_BREAKER
} seine_stop;
typedef struct seine_verdict {
    seine_stop stop;
    seine_time at;
} seine_verdict;
typedef seine_fault (*seine_attempt_fn)(struct seine_ctx *attempt, uint32_t number,
                                        void *arg);
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_retry_check(const seine_retry_opts *opts);
void seine_retry_begin(seine_retry *r, seine_time now);
seine_verdict seine_retry_next(seine_retry *r, const seine_fault *f, seine_time now,
                               uint64_t dice);
seine_span seine_retry_backoff(const seine_retry_opts *opts, uint32_t k);
seine_span seine_retry_delay(const seine_retry_opts *opts, uint32_t k, seine_span prev,
                             uint64_t dice);
seine_err seine_retry_classify(const seine_retry_opts *opts, unsigned status);
SEINE_MUST_CHECK seine_err seine_retry_run(const seine_retry_opts *opts,
                                           struct seine_ctx *ctx, seine_attempt_fn fn,
                                           void *arg, uint32_t *out_attempts);
SEINE_END
typedef struct seine_throttles seine_throttles;
typedef struct seine_throttles_opts {
    size_t size;
    uint32_t permits;
    uint32_t max_keys;
    size_t max_bytes;
} seine_throttles_opts;
#define SEINE_THROTTLES_OPTS {sizeof(seine_throttles_opts), 6, 65536, 16u << 20}
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_throttles_new(const seine_throttles_opts *opts,
                                               seine_throttles **out_throttles);
void seine_throttles_free(seine_throttles *r);
bool seine_throttles_try(seine_throttles *r, seine_view key, seine_time now,
                         seine_slot *out_slot);
SEINE_MUST_CHECK seine_err seine_throttles_wait(seine_throttles *r, seine_ctx *ctx,
                                                seine_view key, seine_slot *out_slot);
uint32_t seine_throttles_in_flight(const seine_throttles *r, seine_view key);
uint32_t seine_throttles_keys(const seine_throttles *r);
uint64_t seine_throttles_overflowed(const seine_throttles *r);
SEINE_END
typedef struct seine_call_result {
    seine_fault fault;
    uint32_t attempts;
    seine_stop stop;
    seine_span took;
    bool fell_back;
    uint64_t reserved[4];
} seine_call_result;
typedef bool (*seine_success_fn)(const seine_fault *f, void *arg);
typedef seine_err (*seine_fallback_fn)(const seine_call_result *res, void *arg);
typedef struct seine_call_opts {
    size_t size;
    seine_breakers *breakers;
    seine_keyed *rates;
    seine_shared *rate;
    seine_throttle *throttle;
    seine_budget *budget;
    seine_want want;
    const seine_retry_opts *retry;
    seine_retry_budget *retry_budget;
    seine_span attempt_timeout;
    bool wait_open;
    bool idempotent;
    uint32_t tokens;
    seine_throttles *throttles;
    seine_success_fn is_success;
    seine_fallback_fn fallback;
} seine_call_opts;
#define SEINE_CALL_OPTS \
    {sizeof(seine_call_opts), NULL, NULL, NULL, NULL, NULL, {{0}}, NULL, NULL, 0, false, false, 1, NULL, NULL, NULL}
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_call(const seine_call_opts *o, seine_ctx *ctx,
                                      seine_view key, seine_attempt_fn fn, void *arg,
                                      seine_call_result *out_result);
SEINE_END
#define SEINE_CHARSETS(X) \
    X(UTF_8,          "utf-8") \
    X(IBM866,         "ibm866") \
    X(ISO_8859_2,     "iso-8859-2") \
    X(ISO_8859_3,     "iso-8859-3") \
    X(ISO_8859_4,     "iso-8859-4") \
    X(ISO_8859_5,     "iso-8859-5") \
    X(ISO_8859_6,     "iso-8859-6") \
    X(ISO_8859_7,     "iso-8859-7") \
    X(ISO_8859_8,     "iso-8859-8") \
    X(ISO_8859_10,    "iso-8859-10") \
    X(ISO_8859_13,    "iso-8859-13") \
    X(ISO_8859_14,    "iso-8859-14") \
    X(ISO_8859_15,    "iso-8859-15") \
    X(ISO_8859_16,    "iso-8859-16") \
    X(KOI8_R,         "koi8-r") \
    X(KOI8_U,         "koi8-u") \
    X(MACINTOSH,      "macintosh") \
    X(WINDOWS_874,    "windows-874") \
    X(WINDOWS_1250,   "windows-1250") \
    X(WINDOWS_1251,   "windows-1251") \
    X(WINDOWS_1252,   "windows-1252") \
    X(WINDOWS_1253,   "windows-1253") \
    X(WINDOWS_1254,   "windows-1254") \
    X(WINDOWS_1255,   "windows-1255") \
    X(WINDOWS_1256,   "windows-1256") \
    X(WINDOWS_1257,   "windows-1257") \
    X(WINDOWS_1258,   "windows-1258") \
    X(X_MAC_CYRILLIC, "x-mac-cyrillic") \
    X(ISO_8859_8_I,   "iso-8859-8-i") \
    X(GBK,            "gbk") \
    X(GB18030,        "gb18030") \
    X(BIG5,           "big5") \
    X(EUC_JP,         "euc-jp") \
    X(ISO_2022_JP,    "iso-2022-jp") \
    X(SHIFT_JIS,      "shift_jis") \
    X(EUC_KR,         "euc-kr") \
    X(REPLACEMENT,    "replacement") \
    X(UTF_16BE,       "utf-16be") \
    X(UTF_16LE,       "utf-16le") \
    X(X_USER_DEFINED, "x-user-defined")
typedef enum seine_charset {
#define X(id, name) SEINE_CHARSET_##id,
    SEINE_CHARSETS(X)
#undef X
} seine_charset;
typedef enum seine_charset_from {
    SEINE_FROM_BOM,
    SEINE_FROM_HEADER,
    SEINE_FROM_META,
    SEINE_FROM_GUESS,
    SEINE_FROM_DEFAULT,
} seine_charset_from;
typedef struct seine_charset_choice {
    seine_charset charset;
    seine_charset_from from;
    size_t bom;
} seine_charset_choice;
#define SEINE_CHARSET_HEAD 1024
SEINE_BEGIN
const char *seine_charset_name(seine_charset c);
const char *seine_charset_from_name(seine_charset_from f);
bool seine_charset_find(const char *label, size_t len, seine_charset *out_charset);
void seine_charset_decide(const char *bytes, size_t n, const char *label, size_t len,
                          seine_charset_choice *out_choice);
SEINE_MUST_CHECK seine_err seine_charset_decode(seine_charset c, const char *bytes,
                                                size_t n, seine_text *out_text,
                                                uint64_t *out_errors);
SEINE_END
typedef struct seine_tls_facts {
    uint8_t version;
    bool verified;
    int64_t not_after;
} seine_tls_facts;
#define SEINE_FATES(X) \
    X(OK,            "ok") \
    X(HTTP_ERROR,    "http_error") \
    X(NETWORK_ERROR, "network_error") \
    X(TIMEOUT,       "timeout") \
    X(BAD_RESPONSE,  "bad_response") \
    X(BLOCKED,       "blocked") \
    X(GAVE_UP,       "gave_up") \
    X(CANCELED,      "canceled") \
    X(EXEC_FAILED,   "exec_failed")
#define SEINE_SKIPS(X) \
    X(OFFSITE,   "offsite") \
    X(DEPTH,     "depth") \
    X(PATTERN,   "pattern") \
    X(ROBOTS,    "robots") \
    X(ROBOTS_UNREACHABLE, "robots_unreachable") \
    X(NOFOLLOW,  "nofollow") \
    X(TRAP,      "trap") \
    X(BUDGET,    "budget") \
    X(MIME,      "mime") \
    X(PRIVATE_ADDRESS, "private_address") \
    X(SCHEME,    "scheme") \
    X(PORT,      "port") \
    X(TOO_LONG,  "too_long") \
    X(BAD_URL,   "bad_url") \
    X(BAD_INPUT, "bad_input")
#define SEINE_WAITS(X) \
    X(QUEUE,       "queue") \
    X(CONCURRENCY, "concurrency") \
    X(RATE,        "rate") \
    X(HOST_RATE,   "host_rate") \
    X(PACE,        "pace") \
    X(RATE_LIMIT,  "rate_limit") \
    X(RETRY_AFTER, "retry_after") \
    X(CRAWL_DELAY, "crawl_delay") \
    X(BREAKER,     "breaker") \
    X(ADDRESS,     "address") \
    X(BACKOFF,     "backoff") \
    X(RETRY_BUDGET, "retry_budget") \
    X(OUTPUT,      "output")
typedef enum seine_fate {
#define X(id, name) SEINE_FATE_##id,
    SEINE_FATES(X)
#undef X
} seine_fate;
typedef enum seine_skip {
#define X(id, name) SEINE_SKIP_##id,
    SEINE_SKIPS(X)
#undef X
} seine_skip;
typedef enum seine_wait {
#define X(id, name) SEINE_WAIT_##id,
    SEINE_WAITS(X)
#undef X
} seine_wait;
#define SEINE_FATE_ROOM 16
#define SEINE_SKIP_ROOM 32
#define SEINE_WAIT_ROOM 16
typedef struct seine_hop {
    seine_view url;
    uint16_t status;
} seine_hop;
typedef struct seine_record_try {
    int64_t wall;
    uint32_t n;
    uint16_t status;
    seine_err err;
    seine_span took;
    seine_span wait;
    seine_wait wait_reason;
} seine_record_try;
typedef enum seine_cut {
    SEINE_CUT_NONE,
    SEINE_CUT_LENGTH,
    SEINE_CUT_TIME,
    SEINE_CUT_DISCONNECT,
    SEINE_CUT_OTHER
} seine_cut;
typedef struct seine_capture {
    seine_view url;
    int64_t wall;
    seine_view ip;
    seine_view request;
    seine_view response;
    uint32_t head_len;
    seine_cut cut;
} seine_capture;
typedef struct seine_warc_place {
    seine_view file;
    uint64_t offset, length;
    seine_view id;
} seine_warc_place;
typedef struct seine_found {
    seine_view tag, attr, text;
    uint32_t line;
} seine_found;
typedef enum seine_record_type {
    SEINE_RECORD_RESULT,
    SEINE_RECORD_SKIP
} seine_record_type;
typedef struct seine_record {
    seine_record_type type;
    int64_t wall;
    uint64_t number;
    seine_view input;
    uint64_t line;
    seine_view id, tags;
    seine_view url, key, final_url;
    const seine_hop *hops;
    size_t n_hops;
    seine_view method, host, ip;
    uint8_t http;
    bool is_crawled;
    uint32_t depth;
    seine_view parent;
    seine_found via;
    bool has_links;
    uint32_t n_links;
    seine_view lang, canonical, meta_robots;
    seine_err extract;
    seine_fate fate;
    const seine_fault *fault;
    seine_view message, hint;
    bool retryable;
    uint16_t status;
    uint32_t attempts;
    const seine_record_try *tries;
    size_t n_tries;
    seine_view content_type, charset;
    const char *charset_from;
    uint64_t charset_errors;
    int64_t content_length;
    uint64_t bytes_in, bytes_body;
    bool partial;
    const char *const *notes;
    size_t n_notes;
    seine_span queue, throttle, backoff, retry_budget;
    seine_span dns, connect, tls, ttfb, body_time;
    seine_span total;
    seine_view title;
    const seine_field *fields;
    size_t n_fields;
    seine_view body;
    const uint8_t *sha256;
    seine_tls_facts secure;
    const seine_capture *captures;
    size_t n_captures;
    seine_warc_place warc;
    seine_view body_file;
    seine_view json;
    seine_skip reason;
    seine_view rule;
    void *hold;
} seine_record;
typedef struct seine_members {
    uint64_t bits;
} seine_members;
typedef enum seine_body_form {
    SEINE_BODY_NONE,
    SEINE_BODY_TEXT,
    SEINE_BODY_B64,
    SEINE_BODY_FILE
} seine_body_form;
enum {
       SEINE_CSV_RAW = 1,
       SEINE_CSV_CRLF = 2,
       SEINE_CSV_SHOWN = 4
};
SEINE_BEGIN
const char *seine_fate_name(seine_fate f);
const char *seine_skip_name(seine_skip s);
const char *seine_wait_name(seine_wait w);
seine_fate seine_fate_of(seine_err kind);
seine_span seine_record_latency(const seine_record *r);
seine_span seine_record_waited(const seine_record *r);
SEINE_MUST_CHECK seine_err seine_members_parse(const char *list,
                                               seine_members *out_fields,
                                               seine_view *out_bad);
size_t seine_record_json(const seine_record *r, uint64_t seq, const seine_members *fields,
                         seine_body_form body, char *buf, size_t cap);
size_t seine_record_csv(const seine_record *r, uint64_t seq, const seine_members *fields,
                        unsigned how, char *buf, size_t cap);
SEINE_END
typedef struct seine_sinks seine_sinks;
typedef enum seine_sink_format {
    SEINE_SINK_AUTO,
    SEINE_SINK_JSONL,
    SEINE_SINK_CSV,
    SEINE_SINK_RAW,
    SEINE_SINK_CALL,
    SEINE_SINK_SQLITE,
    SEINE_SINK_WARC,
    SEINE_SINK_SAVE
} seine_sink_format;
typedef enum seine_sink_pack {
    SEINE_PACK_AUTO,
    SEINE_PACK_NONE,
    SEINE_PACK_GZIP,
    SEINE_PACK_ZSTD
} seine_sink_pack;
typedef seine_err (*seine_sink_fn)(const seine_record *r, uint64_t seq, void *arg);
typedef struct seine_sink_opts {
    size_t size;
    seine_sink_format format;
    seine_sink_pack pack;
    const char *path;
    int fd;
    bool append, overwrite;
    bool csv_raw, csv_crlf;
    bool no_skips;
    seine_members fields;
    seine_body_form body;
    bool repeats;
    const char *command;
    uint64_t max_file;
    const char *user_agent;
    const char *robots;
    seine_sink_fn call;
    void *arg;
} seine_sink_opts;
#define SEINE_SINK_OPTS {sizeof(seine_sink_opts), SEINE_SINK_AUTO, SEINE_PACK_AUTO, NULL, 0, false, false, false, false, false, {0}, SEINE_BODY_NONE, false, NULL, 0, NULL, NULL, NULL, NULL}
typedef struct seine_sinks_opts {
    size_t size;
    bool ordered;
    uint32_t window;
    size_t ring_size;
    void (*room)(void *arg);
    void (*failed)(seine_err e, void *arg);
    void *arg;
} seine_sinks_opts;
#define SEINE_SINKS_OPTS {sizeof(seine_sinks_opts), false, 65536, 1u << 20, 0, 0, 0}
typedef struct seine_sinks_stats {
    uint64_t records;
    uint64_t bytes;
    uint64_t seq;
} seine_sinks_stats;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_sinks_new(const seine_sinks_opts *opts,
                                           seine_sinks **out_sinks);
SEINE_MUST_CHECK seine_err seine_sinks_open(seine_sinks *s, const seine_sink_opts *opts,
                                            seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_sinks_start(seine_sinks *s, unsigned lanes);
SEINE_MUST_CHECK seine_err seine_sinks_put(seine_sinks *s, unsigned lane,
                                           const seine_record *r);
bool seine_sinks_poll(const seine_sinks *s, unsigned lane);
uint64_t seine_sinks_due(const seine_sinks *s);
seine_err seine_sinks_err(const seine_sinks *s, seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_sinks_line(seine_sinks *s, const char *type,
                                            const char *members, size_t len);
SEINE_MUST_CHECK seine_err seine_sinks_drain(seine_sinks *s);
SEINE_MUST_CHECK seine_err seine_sinks_close(seine_sinks *s);
void seine_sinks_hurry(seine_sinks *s);
bool seine_sinks_halt(seine_sinks *s, seine_span patience);
void seine_sinks_free(seine_sinks *s);
void seine_sinks_stats_get(const seine_sinks *s, seine_sinks_stats *out_stats);
SEINE_END
typedef struct seine_convert_opts {
    size_t size;
    const char *in, *out;
    seine_sink_format from, to;
    bool append, overwrite;
    bool csv_raw;
    bool csv_crlf;
    bool skip_bad;
    seine_body_form body;
    void (*note)(const char *line, const char *member, void *arg);
    void *arg;
} seine_convert_opts;
#define SEINE_CONVERT_OPTS {sizeof(seine_convert_opts), 0, 0, SEINE_SINK_AUTO, SEINE_SINK_AUTO, false, false, false, false, false, SEINE_BODY_NONE, 0, 0}
typedef struct seine_converted {
    uint64_t records;
    uint64_t bad;
} seine_converted;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_convert(const seine_convert_opts *opts,
                                         seine_converted *out_stats, seine_diag *diag);
SEINE_END
#define SEINE_URL_MAX  8192
#define SEINE_URL_ROOM (SEINE_URL_MAX + 1)
typedef enum seine_url_host_kind {
    SEINE_HOST_NONE,
    SEINE_HOST_EMPTY,
    SEINE_HOST_NAME,
    SEINE_HOST_IPV4,
    SEINE_HOST_IPV6,
    SEINE_HOST_OPAQUE
} seine_url_host_kind;
#define SEINE_URL_FLAWS(X) \
    X(NONE,     "nothing") \
    X(TOO_LONG, "longer than the limit") \
    X(NO_BASE,  "relative, and there is no base") \
    X(NO_PATH,  "relative to a base that has no path") \
    X(NO_HOST,  "no host") \
    X(BAD_CHAR, "a character that a host cannot have") \
    X(BAD_NAME, "not a domain name") \
    X(BAD_IPV4, "not an IPv4 address") \
    X(BAD_IPV6, "not an IPv6 address") \
    X(BAD_PORT, "not a port number")
typedef enum seine_url_flaw_kind {
#define X(id, text) SEINE_URL_##id,
    SEINE_URL_FLAWS(X)
#undef X
} seine_url_flaw_kind;
typedef struct seine_url_flaw {
    seine_url_flaw_kind kind;
    size_t at;
} seine_url_flaw;
typedef struct seine_url {
    char *href;
    uint32_t room, len;
    uint32_t scheme_end, user_end, password_end, host_at, host_end;
    uint32_t path_at, path_end, query_end;
    int32_t port;
    uint8_t scheme, host;
    bool opaque;
} seine_url;
SEINE_BEGIN
void seine_url_init(seine_url *u, char *mem, size_t size);
SEINE_MUST_CHECK seine_err seine_url_parse(seine_url *u, const char *text, size_t len,
                                           seine_url_flaw *out_flaw);
SEINE_MUST_CHECK seine_err seine_url_resolve(seine_url *u, const seine_url *base,
                                             const char *text, size_t len,
                                             seine_url_flaw *out_flaw);
SEINE_MUST_CHECK seine_err seine_url_copy(seine_url *u, const seine_url *from);
const char *seine_url_flaw_text(seine_url_flaw_kind kind);
seine_view seine_url_href(const seine_url *u);
seine_view seine_url_scheme(const seine_url *u);
seine_view seine_url_username(const seine_url *u);
seine_view seine_url_password(const seine_url *u);
seine_view seine_url_host(const seine_url *u);
seine_view seine_url_host_port(const seine_url *u);
seine_view seine_url_port_text(const seine_url *u);
seine_view seine_url_path(const seine_url *u);
seine_view seine_url_query(const seine_url *u);
seine_view seine_url_fragment(const seine_url *u);
seine_view seine_url_target(const seine_url *u);
seine_url_host_kind seine_url_host_is(const seine_url *u);
int seine_url_port(const seine_url *u);
bool seine_url_is_special(const seine_url *u);
bool seine_url_is_opaque(const seine_url *u);
SEINE_MUST_CHECK seine_err seine_url_name(const seine_url *u, seine_view *out_name);
void seine_url_drop_user(seine_url *u);
void seine_url_drop_fragment(seine_url *u);
SEINE_MUST_CHECK seine_err seine_url_key(const seine_url *u, const char *strip, char *buf,
                                         size_t cap, size_t *out_len);
size_t seine_url_authority(const seine_url *u, char *buf, size_t cap);
size_t seine_url_origin(const seine_url *u, char *buf, size_t cap);
SEINE_END
typedef struct seine_cookie_jar seine_cookie_jar;
#define SEINE_COOKIE_JAR_SENT 8192
#define SEINE_COOKIE_WHYS(X) \
    X(SENT,       "sent",          "it is sent") \
    X(NO_HTTP,    "no_http",       "the URL is not of http or https, or has no host") \
    X(NO_NAME,    "no_name",       "it has no name") \
    X(TOO_LONG,   "too_long",      "its name and value have more than 4,096 bytes") \
    X(CONTROL,    "control",       "it holds a control character") \
    X(SECURE_SET, "secure_set",    "it is Secure, and was set over http") \
    X(DOMAIN,     "domain",        "its Domain is not the host that set it, or above it") \
    X(SUFFIX,     "public_suffix", "its Domain is a public suffix") \
    X(PREFIX,     "prefix",        "its name begins with __Secure- or __Host-, whose rules it breaks") \
    X(EXPIRED,    "expired",       "it has expired") \
    X(HIDDEN,     "hidden",        "it was set over http, and a Secure cookie has its name") \
    X(REPLACED,   "replaced",      "a later cookie with its name, domain and path replaced it") \
    X(DROPPED,    "dropped",       "the jar dropped it: too many cookies, or one that deleted it") \
    X(HOST,       "host",          "it is for another host") \
    X(PATH,       "path",          "it is for another path") \
    X(SECURE,     "secure",        "it is Secure, and the request goes over http")
typedef enum seine_cookie_why {
#define X(id, name, text) SEINE_COOKIE_##id,
    SEINE_COOKIE_WHYS(X)
#undef X
} seine_cookie_why;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_cookie_jar_new(seine_cookie_jar **out_jar);
void seine_cookie_jar_free(seine_cookie_jar *jar);
SEINE_MUST_CHECK seine_err seine_cookie_jar_take(seine_cookie_jar *jar,
                                                 const seine_url *url, const char *value,
                                                 size_t len, int64_t wall);
size_t seine_cookie_jar_field(seine_cookie_jar *jar, const seine_url *url, int64_t wall,
                              char *buf, size_t cap);
seine_cookie_why seine_cookie_jar_why(seine_cookie_jar *jar, const seine_url *from,
                                      const char *value, size_t len, const seine_url *to,
                                      int64_t wall);
const char *seine_cookie_why_name(seine_cookie_why why);
const char *seine_cookie_why_text(seine_cookie_why why);
size_t seine_cookie_jar_count(const seine_cookie_jar *jar);
SEINE_MUST_CHECK seine_err seine_cookie_jar_load(seine_cookie_jar *jar, const char *path,
                                                 int64_t wall, seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_cookie_jar_save(seine_cookie_jar *jar, const char *path,
                                                 int64_t wall, seine_diag *diag);
SEINE_END
typedef enum seine_scope {
    SEINE_SCOPE_HOST,
    SEINE_SCOPE_DOMAIN,
    SEINE_SCOPE_PREFIX,
    SEINE_SCOPE_ANY
} seine_scope;
typedef enum seine_obey {
    SEINE_OBEY_OFF,
    SEINE_OBEY_ON,
    SEINE_OBEY_AUDIT
} seine_obey;
typedef enum seine_sitemaps {
    SEINE_SITEMAPS_AUTO,
    SEINE_SITEMAPS_ONLY,
    SEINE_SITEMAPS_OFF
} seine_sitemaps;
typedef struct seine_crawl_opts {
    size_t size;
    uint32_t depth;
    seine_scope scope;
    const char *const *domains;
    seine_sitemaps sitemaps;
    bool nofollow;
    bool skips;
    uint32_t pattern_budget;
    uint32_t max_subdomains;
    uint64_t max_per_host;
    uint32_t max_links;
    const char *spill;
    uint32_t max_sitemaps;
    uint64_t max_sitemap_bytes;
} seine_crawl_opts;
#define SEINE_CRAWL_OPTS seine_crawl_defaults()
SEINE_BEGIN
seine_crawl_opts seine_crawl_defaults(void);
const char *seine_scope_name(seine_scope s);
SEINE_END
enum { SEINE_ETA_SLOTS = 60, SEINE_ETA_MARKS = 64, SEINE_ETA_WINDOW = 1000 };
typedef struct seine_eta_mark {
    uint64_t done, known;
} seine_eta_mark;
typedef struct seine_eta {
    seine_time start, slot_end;
    uint64_t done, slot_done;
    uint32_t slots[SEINE_ETA_SLOTS];
    uint32_t next, filled;
    uint64_t known;
    seine_eta_mark marks[SEINE_ETA_MARKS];
    uint32_t n_marks;
} seine_eta;
SEINE_BEGIN
void seine_eta_init(seine_eta *e, seine_time now);
void seine_eta_add(seine_eta *e, seine_time now, uint64_t done, uint64_t known);
double seine_eta_rate(const seine_eta *e, seine_time now);
double seine_eta_growth(const seine_eta *e);
uint64_t seine_eta_grown(const seine_eta *e, uint64_t left);
bool seine_eta_interval(const seine_eta *e, seine_time now, uint64_t left,
                        seine_span *out_low, seine_span *out_high);
SEINE_END
typedef enum seine_family {
    SEINE_FAMILY_ANY,
    SEINE_FAMILY_4,
    SEINE_FAMILY_6
} seine_family;
typedef struct seine_input seine_input;
typedef struct seine_ask {
    seine_view url;
    seine_view input;
    uint64_t line;
    seine_view id, tags;
    seine_view method;
    const seine_field *fields;
    size_t n_fields;
    seine_view body;
    seine_span timeout;
    int32_t retries;
    int8_t priority;
    bool idempotent;
    bool is_bad;
    seine_skip reason;
    seine_view rule;
} seine_ask;
#define SEINE_ASK {{0, 0}, {0, 0}, 0, {0, 0}, {0, 0}, {0, 0}, 0, 0, {0, 0}, 0, -1, 0, false, false, SEINE_SKIP_BAD_INPUT, {0, 0}}
typedef enum seine_input_format {
    SEINE_INPUT_AUTO,
    SEINE_INPUT_TEXT,
    SEINE_INPUT_JSONL,
    SEINE_INPUT_CSV,
    SEINE_INPUT_WARC,
    SEINE_INPUT_SITEMAP,
    SEINE_INPUT_HTML
} seine_input_format;
typedef struct seine_input_opts {
    size_t size;
    const char *path;
    seine_input_format format;
    const char *base;
    const char *url_column;
} seine_input_opts;
#define SEINE_INPUT_OPTS {sizeof(seine_input_opts), NULL, SEINE_INPUT_AUTO, NULL, NULL}
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_input_open(const seine_input_opts *opts,
                                            seine_input **out_input, seine_diag *diag);
void seine_input_free(seine_input *in);
SEINE_MUST_CHECK seine_err seine_input_next(seine_input *in, seine_ask *out_ask);
const seine_diag *seine_input_diag(const seine_input *in);
void seine_input_stop(seine_input *in);
void seine_input_progress_get(const seine_input *in, uint64_t *out_lines,
                              uint64_t *out_bytes, uint64_t *out_size);
SEINE_END
#define SEINE_SECRET_LEAST 6
#define SEINE_SECRET_MOST  8192
#define SEINE_SECRETS      64
typedef struct seine_secrets seine_secrets;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_secrets_new(seine_secrets **out_secrets);
void seine_secrets_free(seine_secrets *s);
SEINE_MUST_CHECK seine_err seine_secrets_add(seine_secrets *s, const char *bytes,
                                             size_t n);
SEINE_MUST_CHECK seine_err seine_secrets_learn(seine_secrets *s, const char *bytes,
                                               size_t n);
SEINE_MUST_CHECK seine_err seine_secrets_add_field(seine_secrets *s, const char *name,
                                                   size_t name_len, const char *value,
                                                   size_t value_len);
bool seine_secret_is_field(const char *name, size_t n);
size_t seine_redact(const seine_secrets *s, const char *text, size_t n, char *out_bytes,
                    size_t cap);
void seine_wipe(void *bytes, size_t n);
SEINE_END
typedef struct seine_log seine_log;
typedef enum seine_log_level {
    SEINE_LOG_TRACE,
    SEINE_LOG_DEBUG,
    SEINE_LOG_INFO,
    SEINE_LOG_WARN,
    SEINE_LOG_ERROR,
    SEINE_LOG_OFF
} seine_log_level;
typedef enum seine_log_format { SEINE_LOG_TEXT, SEINE_LOG_JSON } seine_log_format;
typedef enum seine_log_kind {
    SEINE_LOG_STR,
    SEINE_LOG_INT,
    SEINE_LOG_UINT,
    SEINE_LOG_DOUBLE,
    SEINE_LOG_BOOL,
    SEINE_LOG_SPAN,
    SEINE_LOG_ERR,
    SEINE_LOG_URL,
    SEINE_LOG_SECRET
} seine_log_kind;
typedef struct seine_log_field {
    const char *name;
    seine_log_kind kind;
    size_t len;
    union {
        const char *text;
        int64_t i;
        uint64_t u;
        double d;
    } as;
} seine_log_field;
typedef void (*seine_log_sink)(const char *line, size_t len, void *arg);
typedef struct seine_log_opts {
    size_t size;
    seine_log_level level;
    seine_log_format format;
    int fd;
    seine_log_sink sink;
    void *arg;
    const char *service;
    const char *version;
    seine_clock *clock;
    seine_span merge;
    uint32_t ring;
    const seine_secrets *secrets;
} seine_log_opts;
#define SEINE_LOG_OPTS                                                                  \
    {                                                                                   \
        sizeof(seine_log_opts), SEINE_LOG_WARN, SEINE_LOG_TEXT, 2, NULL, NULL, "seine", \
            NULL, NULL, SEINE_SECS(10), 8192, NULL                                      \
    }
typedef struct seine_log_stats {
    uint64_t records[SEINE_LOG_OFF];
    uint64_t merged;
    uint64_t dropped;
    uint64_t failed;
} seine_log_stats;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_log_new(const seine_log_opts *opts, seine_log **out_log);
void seine_log_free(seine_log *log);
bool seine_log_on(const seine_log *log, seine_log_level level);
void seine_log_set_level(seine_log *log, seine_log_level level);
void seine_log_write(seine_log *log, seine_log_level level, const char *event,
                     const char *message, const seine_log_field *fields, size_t n);
void seine_log_flush(seine_log *log);
void seine_log_stats_get(const seine_log *log, seine_log_stats *out_stats);
const char *seine_log_level_name(seine_log_level level);
bool seine_log_level_parse(const char *name, seine_log_level *out_level);
seine_log_field seine_log_str(const char *name, const char *value);
seine_log_field seine_log_bytes(const char *name, const char *bytes, size_t n);
seine_log_field seine_log_int(const char *name, int64_t value);
seine_log_field seine_log_uint(const char *name, uint64_t value);
seine_log_field seine_log_double(const char *name, double value);
seine_log_field seine_log_bool(const char *name, bool value);
seine_log_field seine_log_span(const char *name, seine_span value);
seine_log_field seine_log_err(const char *name, seine_err value);
seine_log_field seine_log_url(const char *name, const char *value);
seine_log_field seine_log_secret(const char *name);
SEINE_END
typedef struct seine_metrics seine_metrics;
typedef struct seine_counter seine_counter;
typedef struct seine_gauge seine_gauge;
typedef struct seine_histogram seine_histogram;
typedef struct seine_http_metrics seine_http_metrics;
typedef struct seine_label {
    const char *name;
    const char *const *values;
    size_t n;
} seine_label;
typedef struct seine_buckets {
    const seine_span *bounds;
    size_t n;
} seine_buckets;
typedef enum seine_metrics_format {
    SEINE_METRICS_PROMETHEUS,
    SEINE_METRICS_OPENMETRICS
} seine_metrics_format;
typedef enum seine_http_method {
    SEINE_HTTP_GET,
    SEINE_HTTP_HEAD,
    SEINE_HTTP_POST,
    SEINE_HTTP_PUT,
    SEINE_HTTP_PATCH,
    SEINE_HTTP_DELETE,
    SEINE_HTTP_OPTIONS,
    SEINE_HTTP_OTHER
} seine_http_method;
typedef struct seine_http_route {
    const char *route;
    unsigned methods;
} seine_http_route;
typedef enum seine_http_kind { SEINE_HTTP_PLAIN, SEINE_HTTP_WEBSOCKET } seine_http_kind;
SEINE_BEGIN
seine_buckets seine_buckets_default(void);
seine_buckets seine_buckets_long(void);
seine_buckets seine_buckets_fine(void);
SEINE_MUST_CHECK seine_err seine_metrics_new(seine_metrics **out_m);
void seine_metrics_free(seine_metrics *m);
SEINE_MUST_CHECK seine_err seine_metrics_counter(seine_metrics *m, const char *name,
                                                 const char *help,
                                                 const seine_label *labels, size_t n,
                                                 seine_counter **out_c);
SEINE_MUST_CHECK seine_err seine_metrics_gauge(seine_metrics *m, const char *name,
                                               const char *help,
                                               const seine_label *labels, size_t n,
                                               seine_gauge **out_g);
SEINE_MUST_CHECK seine_err seine_metrics_histogram(seine_metrics *m, const char *name,
                                                   const char *help,
                                                   const seine_label *labels, size_t n,
                                                   const seine_buckets *buckets,
                                                   seine_histogram **out_h);
void seine_counter_add(seine_counter *c, unsigned series, uint64_t n);
void seine_gauge_set(seine_gauge *g, unsigned series, int64_t v);
void seine_gauge_add(seine_gauge *g, unsigned series, int64_t by);
void seine_histogram_observe(seine_histogram *h, unsigned series, seine_span d);
uint64_t seine_counter_get(const seine_counter *c, unsigned series);
int64_t seine_gauge_get(const seine_gauge *g, unsigned series);
uint64_t seine_histogram_count(const seine_histogram *h, unsigned series);
SEINE_MUST_CHECK seine_err seine_metrics_text(const seine_metrics *m,
                                              seine_metrics_format f,
                                              seine_text *out_text);
SEINE_MUST_CHECK seine_err seine_http_metrics_new(seine_metrics *m, const char *server,
                                                  const seine_http_route *routes,
                                                  size_t n, seine_http_metrics **out_h);
void seine_http_record(seine_http_metrics *m, unsigned method, unsigned route, int status,
                       seine_span took);
void seine_http_opened(seine_http_metrics *m, seine_http_kind kind);
void seine_http_closed(seine_http_metrics *m, seine_http_kind kind);
SEINE_END
typedef struct seine_summary {
    uint64_t total, success, failed;
    uint64_t total_duration_ms, wall_ms;
    seine_span rest;
} seine_summary;
#define SEINE_SUMMARY    \
    {                    \
        0, 0, 0, 0, 0, 0 \
    }
SEINE_BEGIN
void seine_summary_add(seine_summary *s, bool ok, seine_span took);
uint64_t seine_summary_avg_ms(const seine_summary *s);
double seine_summary_rate(const seine_summary *s);
SEINE_END
typedef struct seine_tally seine_tally;
typedef struct seine_fetch_stats {
    uint64_t given, duplicates, admitted, refused, done;
    uint64_t links_cut;
    uint64_t sitemaps_cut;
    uint64_t lost;
    uint64_t ok, failed, blocked;
    uint64_t waiting, in_flight;
    uint64_t waiting_for[SEINE_WAIT_ROOM];
    uint64_t requests, retries, replays;
    uint64_t bytes_in, bytes_body;
    uint64_t connections, reused;
    uint64_t hosts, parked, breaker_opens;
    uint64_t unread;
    seine_time parked_until;
    uint64_t sitemaps_over;
    uint64_t sitemap_bytes_over;
} seine_fetch_stats;
typedef struct seine_fetch_host {
    seine_view host;
    uint64_t requests, ok, failed, retries;
    uint32_t waiting, in_flight;
    uint32_t max_in_1s;
    seine_span min_gap;
    seine_span p50, p95;
    uint32_t breaker_opens;
    seine_breaker_state breaker;
    seine_wait limited_by;
    bool parked;
    seine_span every;
} seine_fetch_host;
typedef struct seine_fetch_slowest {
    char host[160];
    uint64_t waiting;
    seine_span every, left;
} seine_fetch_slowest;
typedef struct seine_tally_sums {
    uint64_t total, ok, failed, blocked, skipped;
    uint64_t fates[SEINE_FATE_ROOM], skips[SEINE_SKIP_ROOM];
    uint64_t errors[SEINE_ERR_ROOM];
    uint64_t statuses[1000];
    uint64_t attempts, retries, bytes_in, bytes_body;
    uint64_t total_duration_ms, avg_duration_ms;
    double success_rate;
    seine_span p50, p90, p95, p99, max;
    seine_span queue, throttle, backoff, retry_budget;
} seine_tally_sums;
typedef struct seine_tally_limit {
    const char *name;
    uint64_t n;
} seine_tally_limit;
typedef struct seine_tally_run {
    const char *command, *stopped_by;
    uint64_t pending, duplicates;
    seine_span wall;
    int exit_code;
    bool resumable;
    const seine_fetch_stats *stats;
    const seine_fetch_host *top;
    size_t n_top;
    const seine_tally_limit *limits;
    size_t n_limits;
    const char *unread;
    uint64_t unread_line;
} seine_tally_run;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_tally_new(seine_tally **out_tally);
void seine_tally_free(seine_tally *t);
void seine_tally_add(seine_tally *t, const seine_record *r);
void seine_tally_sums_get(const seine_tally *t, seine_tally_sums *out_sums);
SEINE_MUST_CHECK seine_err seine_tally_members(const seine_tally *t,
                                               const seine_tally_run *run,
                                               seine_text *out_text);
SEINE_END
typedef struct seine_fetch seine_fetch;
enum {
       SEINE_KEEP_TITLE = 1,
       SEINE_KEEP_FIELDS = 2,
       SEINE_KEEP_BODY = 4,
       SEINE_KEEP_SHA256 = 8,
       SEINE_KEEP_WIRE = 16,
       SEINE_KEEP_LINKS = 32,
       SEINE_KEEP_COPY = 64
};
typedef void (*seine_record_fn)(const seine_record *r, unsigned shard, void *arg);
typedef struct seine_event {
    const char *name;
    seine_view host;
    seine_err cause;
    seine_time until;
    int64_t from, to;
    seine_view detail;
} seine_event;
typedef void (*seine_event_fn)(const seine_event *e, unsigned shard, void *arg);
#define SEINE_PARK_AUTO UINT32_MAX
typedef struct seine_fetch_opts {
    size_t size;
    uint32_t concurrency;
    uint32_t per_host;
    uint32_t per_ip;
    uint32_t threads;
    uint32_t
        queue;
    seine_rate rate;
    seine_rate host_rate;
    bool adaptive;
    bool mine;
    uint64_t max_memory;
    uint64_t max_pages;
    seine_span timeout;
    seine_span connect_timeout;
    seine_span dns_timeout, tcp_timeout, tls_timeout;
    seine_span head_timeout;
    uint64_t speed_bytes;
    seine_span speed_span;
    seine_span grace;
    seine_retry_opts retry;
    seine_retry_budget_opts retry_budget;
    seine_breaker_opts breaker;
    uint32_t park;
    seine_span max_retry_after;
    const char *method;
    const char *user_agent;
    const char *from;
    const seine_field *fields;
    size_t n_fields;
    seine_view body;
    seine_status_set accept;
    uint32_t max_redirects;
    bool follow_body;
    bool https_only;
    uint64_t max_body, max_wire;
    uint64_t max_ratio;
    uint64_t ratio_from;
    uint32_t keep;
    bool dedup;
    const char *strip_params;
    bool raw_encoding;
    const char *const *include;
    const char *const *exclude;
    const char *accept_type;
    uint64_t max_bytes;
    seine_obey robots;
    bool robots_on_mine;
    seine_span max_crawl_delay;
    const seine_crawl_opts *crawl;
    const char *cacert;
    const char *cert, *cert_key;
    uint8_t tls_min;
    bool insecure;
    const char *const *insecure_hosts;
    const char *proxy;
    const char *no_proxy;
    char *(*proxy_env)(const char *name);
    seine_cookie_jar *jar;
    seine_family family;
    const char *dns;
    const char *const *resolve;
    const char *const *allow_net, *const *deny_net, *const *zones;
    bool untrusted;
    seine_record_fn on_record;
    bool (*ready)(unsigned shard,
                  void *arg);
    uint64_t (*due)(void *arg);
    seine_event_fn on_event;
    void *arg;
    const seine_diag_name *names;
    const seine_secrets *secrets;
    seine_log *log;
    seine_metrics *metrics;
    seine_clock *clock;
    const char *robots_agent;
} seine_fetch_opts;
#define SEINE_FETCH_OPTS seine_fetch_defaults()
typedef void (*seine_fetch_host_fn)(const seine_fetch_host *h, void *arg);
typedef struct seine_fetched {
    const char *url;
    seine_fate fate;
    seine_fault fault;
    char error[160];
    uint16_t status;
    seine_text body;
    uint64_t duration_ms;
    uint32_t attempts;
} seine_fetched;
SEINE_BEGIN
seine_fetch_opts seine_fetch_defaults(void);
SEINE_MUST_CHECK seine_err seine_fetch_new(const seine_fetch_opts *opts,
                                           seine_fetch **out_fetch, seine_diag *diag);
void seine_fetch_free(seine_fetch *f);
SEINE_MUST_CHECK seine_err seine_fetch_add(seine_fetch *f, const seine_ask *ask,
                                           seine_ctx *ctx);
void seine_fetch_close(seine_fetch *f);
SEINE_MUST_CHECK seine_err seine_fetch_finish(seine_fetch *f, seine_ctx *ctx);
void seine_fetch_stop(seine_fetch *f, seine_err why);
void seine_fetch_wake(seine_fetch *f);
bool seine_fetch_is_done(const seine_fetch *f);
seine_err seine_fetch_err(const seine_fetch *f, seine_diag *diag);
void seine_fetch_stats_get(const seine_fetch *f, seine_fetch_stats *out_stats);
bool seine_fetch_slowest_get(const seine_fetch *f, seine_fetch_slowest *out_slowest);
size_t seine_fetch_proxies(const seine_fetch *f, char *buf, size_t cap);
void seine_fetch_hosts_each(const seine_fetch *f, seine_fetch_host_fn fn, void *arg);
int seine_fetch_fd(const seine_fetch *f);
void seine_fetch_step(seine_fetch *f, seine_time *out_again);
SEINE_MUST_CHECK seine_err seine_fetch_all(const seine_fetch_opts *opts, seine_ctx *ctx,
                                           const char *const *urls, size_t n,
                                           seine_fetched *out_results,
                                           seine_summary *out_summary);
bool seine_fetched_is_ok(const seine_fetched *r);
void seine_fetched_free(seine_fetched *results, size_t n);
SEINE_END
#define SEINE_ROBOTS_BYTES ((size_t)512 << 10)
typedef struct seine_robots seine_robots;
typedef struct seine_robots_verdict {
    bool allowed;
    bool is_over;
    seine_view rule;
    uint32_t line;
    seine_view group;
} seine_robots_verdict;
typedef enum seine_robots_kind {
    SEINE_ROBOTS_AGENT,
    SEINE_ROBOTS_ALLOW,
    SEINE_ROBOTS_DISALLOW,
    SEINE_ROBOTS_DELAY,
    SEINE_ROBOTS_SITEMAP
} seine_robots_kind;
typedef struct seine_robots_line {
    seine_robots_kind kind;
    seine_view text;
    uint32_t line;
    int64_t delay;
} seine_robots_line;
typedef void (*seine_robots_fn)(const seine_robots_line *line, void *arg);
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_robots_new(const char *text, size_t len,
                                            seine_robots **out_robots);
SEINE_MUST_CHECK seine_err seine_robots_new_for(const char *text, size_t len,
                                                const char *agent,
                                                seine_robots **out_robots);
void seine_robots_free(seine_robots *r);
SEINE_MUST_CHECK seine_err seine_robots_check(const seine_robots *r, const char *agent,
                                              const char *url, size_t len,
                                              seine_robots_verdict *out_verdict);
int64_t seine_robots_delay(const seine_robots *r, const char *agent);
void seine_robots_each(const seine_robots *r, const char *agent, seine_robots_fn fn,
                       void *arg);
bool seine_robots_sitemap(const seine_robots *r, size_t i, seine_view *out_url);
SEINE_END
typedef struct seine_explain seine_explain;
typedef enum seine_robots_state {
    SEINE_ROBOTS_UNASKED,
    SEINE_ROBOTS_PARSED,
    SEINE_ROBOTS_ABSENT,
    SEINE_ROBOTS_UNREACHABLE
} seine_robots_state;
typedef struct seine_explained {
    char url[SEINE_URL_ROOM];
    char key[SEINE_URL_ROOM];
    bool is_given;
    bool in_scope;
    seine_skip scope_reason;
    char scope_rule[160];
    const char *shape;
    char pattern[1024 + 1];
    uint32_t budget;
    seine_robots_state robots;
    seine_robots_verdict verdict;
    seine_span delay;
    bool delay_is_cut;
    seine_span every;
    bool admitted;
    seine_skip reason;
    char rule[400];
} seine_explained;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_explain_new(const seine_fetch_opts *opts,
                                             seine_explain **out_explain,
                                             seine_diag *diag);
void seine_explain_free(seine_explain *x);
SEINE_MUST_CHECK seine_err seine_explain_seed(seine_explain *x, const char *url,
                                              size_t len);
const char *seine_explain_agent(const seine_explain *x);
void seine_explain_robots(const seine_fault *end, seine_view body,
                          seine_robots_state *out_state, seine_robots **out_robots);
const char *seine_robots_state_name(seine_robots_state s);
SEINE_MUST_CHECK seine_err seine_explain_url(const seine_explain *x, const char *url,
                                             size_t len, seine_robots_state state,
                                             const seine_robots *robots,
                                             seine_explained *out);
SEINE_END
SEINE_BEGIN
seine_sink_format seine_format_of_output(const char *path, seine_sink_pack *out_pack);
seine_input_format seine_format_of_input(const char *path);
SEINE_MUST_CHECK seine_err seine_format_by_name(const char *name,
                                                seine_sink_format *out_format);
bool seine_format_packs(seine_sink_format format);
const char *seine_format_split(const char *text, seine_sink_format *out_format,
                               seine_sink_pack *out_pack);
SEINE_END
#define SEINE_JSONPTR_BYTES 1024
struct seine_json;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_jsonptr_get(const struct seine_json *json,
                                             const char *pointer, size_t len,
                                             const struct seine_json **out_value);
SEINE_MUST_CHECK seine_err
seine_jsonptr_each(const struct seine_json *json, const char *pointer, size_t len,
                   bool (*fn)(const struct seine_json *value, void *arg), void *arg);
bool seine_jsonptr_valid(const char *pointer, size_t len);
SEINE_END
#define SEINE_LINKS_MOST 50000
typedef struct seine_links seine_links;
typedef struct seine_links_opts {
    size_t size;
    bool scripting;
    size_t max_bytes;
} seine_links_opts;
#define SEINE_LINKS_OPTS {sizeof(seine_links_opts), false, 0}
typedef struct seine_link {
    const char *tag, *attr;
    seine_view value;
    seine_view text;
    seine_view rel, hreflang;
    uint64_t offset;
    uint32_t line, col;
} seine_link;
typedef struct seine_meta {
    const char *attr;
    seine_view name, content;
} seine_meta;
enum {
    SEINE_LINKS_CAPPED = 1,
    SEINE_ATTRS_CAPPED = 2,
    SEINE_VALUE_CUT = 4,
    SEINE_TITLE_CUT = 8,
    SEINE_JSONLD_CUT = 16,
    SEINE_LINKS_NOTES = 5
};
enum { SEINE_NOINDEX = 1, SEINE_NOFOLLOW = 2, SEINE_NOARCHIVE = 4 };
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_links_new(const seine_links_opts *opts,
                                           seine_links **out_links);
void seine_links_free(seine_links *l);
void seine_links_reset(seine_links *l);
SEINE_MUST_CHECK seine_err seine_links_feed(seine_links *l, const char *bytes, size_t n);
SEINE_MUST_CHECK seine_err seine_links_end(seine_links *l);
size_t seine_links_count(const seine_links *l);
bool seine_links_at(const seine_links *l, size_t i, seine_link *out_link);
bool seine_links_meta(const seine_links *l, size_t i, seine_meta *out_meta);
bool seine_links_jsonld(const seine_links *l, size_t i, seine_view *out_text);
seine_view seine_links_title(const seine_links *l);
seine_view seine_links_base(const seine_links *l);
seine_view seine_links_lang(const seine_links *l);
seine_view seine_links_canonical(const seine_links *l);
SEINE_MUST_CHECK seine_err seine_links_base_url(const seine_links *l,
                                                const seine_url *page,
                                                seine_url *out_base);
unsigned seine_links_robots(const seine_links *l, const char *agent);
bool seine_link_has_rel(const seine_link *link, const char *word);
bool seine_links_refresh(const seine_links *l, uint32_t *out_seconds,
                         seine_view *out_url);
bool seine_refresh_parse(const char *content, size_t len, uint32_t *out_seconds,
                         seine_view *out_url);
unsigned seine_links_notes(const seine_links *l);
const char *seine_links_note_name(unsigned n);
SEINE_END
#define SEINE_MIME_ROOM   1024
#define SEINE_MIME_PARAMS 16
typedef struct seine_mime {
    char *mem;
    uint32_t room, len;
    uint32_t slash, essence;
    uint32_t count;
    struct {
        uint32_t name, value, end;
    } params[SEINE_MIME_PARAMS];
} seine_mime;
SEINE_BEGIN
void seine_mime_init(seine_mime *m, char *mem, size_t size);
SEINE_MUST_CHECK seine_err seine_mime_parse(seine_mime *m, const char *value, size_t len);
seine_view seine_mime_essence(const seine_mime *m);
seine_view seine_mime_type(const seine_mime *m);
seine_view seine_mime_subtype(const seine_mime *m);
bool seine_mime_is(const seine_mime *m, const char *essence);
size_t seine_mime_count(const seine_mime *m);
bool seine_mime_param(const seine_mime *m, size_t i, seine_view *out_name,
                      seine_view *out_value);
bool seine_mime_get(const seine_mime *m, const char *name, seine_view *out_value);
seine_view seine_mime_charset(const seine_mime *m);
size_t seine_mime_print(const seine_mime *m, char *out, size_t size);
SEINE_END
typedef struct seine_pool seine_pool;
typedef seine_err (*seine_job)(seine_ctx *ctx, void *arg);
typedef void (*seine_drop)(void *arg);
typedef struct seine_pool_opts {
    size_t size;
    uint32_t workers;
    uint32_t queue_cap;
    bool paused;
} seine_pool_opts;
#define SEINE_POOL_OPTS                        \
    {                                          \
        sizeof(seine_pool_opts), 5, 100, false \
    }
typedef enum seine_close {
    SEINE_CLOSE_DRAIN,
    SEINE_CLOSE_ABORT
} seine_close;
typedef struct seine_pool_stats {
    uint32_t workers;
    uint32_t active, queued;
    uint32_t peak;
    uint64_t submitted;
    uint64_t completed;
    uint64_t failed;
    uint64_t rejected;
    uint64_t dropped;
    seine_err first_error;
    seine_span queue_wait_max;
} seine_pool_stats;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_pool_new(const seine_pool_opts *opts, seine_ctx *parent,
                                          seine_pool **out_pool);
void seine_pool_free(seine_pool *p);
SEINE_MUST_CHECK seine_err seine_pool_try_submit(seine_pool *p, seine_job job, void *arg,
                                                 seine_drop drop);
SEINE_MUST_CHECK seine_err seine_pool_submit(seine_pool *p, seine_ctx *ctx, seine_job job,
                                             void *arg, seine_drop drop);
SEINE_MUST_CHECK seine_err seine_pool_wait(seine_pool *p, seine_ctx *ctx);
SEINE_MUST_CHECK seine_err seine_pool_close(seine_pool *p, seine_close how,
                                            seine_ctx *ctx);
void seine_pool_pause(seine_pool *p);
void seine_pool_resume(seine_pool *p);
SEINE_MUST_CHECK seine_err seine_pool_resize(seine_pool *p, uint32_t workers);
void seine_pool_stats_get(const seine_pool *p, seine_pool_stats *out_stats);
SEINE_END
#define SEINE_PSL_NAME 1024
typedef struct seine_psl seine_psl;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_psl_new(const char *path, seine_psl **out_psl);
void seine_psl_free(seine_psl *psl);
size_t seine_psl_site(const seine_psl *psl, const char *name, size_t len);
size_t seine_psl_suffix(const seine_psl *psl, const char *name, size_t len);
size_t seine_psl_count(const seine_psl *psl);
SEINE_END
#define SEINE_RETRY_HINT_MAX SEINE_SECS(INT64_C(1) << 31)
typedef struct seine_quota {
    int64_t r;
    seine_span t;
    int64_t q;
    seine_span w;
} seine_quota;
typedef struct seine_retry_hint_said {
    uint64_t name;
    int64_t r, t, q, w;
} seine_retry_hint_said;
typedef struct seine_retry_hint {
    int64_t wall, date;
    int64_t after, after_at;
    int64_t policy_q, policy_w;
    seine_retry_hint_said said[6];
    uint8_t count;
    bool cached;
} seine_retry_hint;
SEINE_BEGIN
void seine_retry_hint_init(seine_retry_hint *h, int64_t wall);
bool seine_retry_hint_feed(seine_retry_hint *h, const char *name, size_t name_len,
                           const char *value, size_t value_len);
seine_span seine_retry_hint_pause(const seine_retry_hint *h);
seine_span seine_retry_hint_after(const seine_retry_hint *h);
bool seine_retry_hint_quota(const seine_retry_hint *h, seine_quota *out_quota);
SEINE_MUST_CHECK seine_err seine_retry_hint_date(const char *text, size_t len,
                                                 int64_t wall, int64_t *out_epoch);
SEINE_END
typedef struct seine_robots_book seine_robots_book;
typedef struct seine_robots_answer {
    seine_robots_state state;
    seine_robots *robots;
    const char *source;
    uint16_t status;
    seine_err err;
    int64_t wall;
    const char *authority;
} seine_robots_answer;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_robots_fetch(const seine_fetch_opts *opts,
                                              seine_ctx *ctx, const char *const *urls,
                                              size_t n, seine_robots_book **out_book,
                                              seine_diag *diag);
SEINE_MUST_CHECK seine_err seine_robots_book_new(const char *text, size_t len,
                                                 const char *source,
                                                 seine_robots_book **out_book);
void seine_robots_book_free(seine_robots_book *book);
const seine_robots_answer *seine_robots_book_of(const seine_robots_book *book,
                                                const char *url);
SEINE_END
typedef struct seine_seen seine_seen;
typedef struct seine_seen_opts {
    size_t size;
    uint64_t expect;
    uint64_t max;
    uint64_t seed[2];
} seine_seen_opts;
typedef seine_err (*seine_seen_put)(const void *bytes, size_t n, void *arg);
#define SEINE_SEEN_OPTS                                \
    {                                                  \
        sizeof(seine_seen_opts), 0, UINT64_C(1) << 32, \
        {                                              \
            0, 0                                       \
        }                                              \
    }
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_seen_new(const seine_seen_opts *opts,
                                          seine_seen **out_seen);
void seine_seen_free(seine_seen *s);
uint64_t seine_seen_print(const seine_seen *s, const void *key, size_t len);
SEINE_MUST_CHECK seine_err seine_seen_add(seine_seen *s, const void *key, size_t len,
                                          bool *out_new);
SEINE_MUST_CHECK seine_err seine_seen_add_many(seine_seen *s, const uint64_t *prints,
                                               size_t n, uint8_t *out_new);
bool seine_seen_has(const seine_seen *s, const void *key, size_t len);
uint64_t seine_seen_count(const seine_seen *s);
void seine_seen_clear(seine_seen *s);
double seine_seen_expected_loss(const seine_seen *s);
SEINE_MUST_CHECK seine_err seine_seen_save(const seine_seen *s, seine_seen_put put,
                                           void *arg);
SEINE_MUST_CHECK seine_err seine_seen_load(seine_seen *s, const void *bytes, size_t n);
SEINE_END
#define SEINE_TREE_BYTES ((size_t)16 << 20)
typedef uint32_t seine_node;
typedef struct seine_tree seine_tree;
typedef enum seine_node_kind {
    SEINE_NODE_DOCUMENT,
    SEINE_NODE_ELEMENT,
    SEINE_NODE_TEXT,
    SEINE_NODE_COMMENT,
    SEINE_NODE_DOCTYPE,
    SEINE_NODE_INSTRUCTION
} seine_node_kind;
typedef struct seine_tree_gate {
    seine_err (*take)(uint64_t bytes, void *arg);
    void (*give)(uint64_t bytes, void *arg);
    void *arg;
} seine_tree_gate;
typedef struct seine_tree_opts {
    size_t size;
    bool scripting;
    const char *fragment;
    uint32_t max_tags;
    const seine_tree_gate *gate;
} seine_tree_opts;
#define SEINE_TREE_OPTS {sizeof(seine_tree_opts), false, NULL, 0, NULL}
typedef struct seine_attr {
    seine_view name, value;
} seine_attr;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_tree_new(seine_tree **out_tree);
void seine_tree_free(seine_tree *t);
SEINE_MUST_CHECK seine_err seine_tree_parse(seine_tree *t, const char *html, size_t len,
                                            const seine_tree_opts *opts);
seine_node seine_tree_size(const seine_tree *t);
seine_node seine_tree_root(const seine_tree *t);
seine_node_kind seine_node_what(const seine_tree *t, seine_node n);
seine_node seine_node_parent(const seine_tree *t, seine_node n);
seine_node seine_node_first(const seine_tree *t, seine_node n);
seine_node seine_node_next(const seine_tree *t, seine_node n);
seine_node seine_node_end(const seine_tree *t, seine_node n);
seine_view seine_node_name(const seine_tree *t, seine_node n);
bool seine_node_is(const seine_tree *t, seine_node n, const char *name);
size_t seine_node_offset(const seine_tree *t, seine_node n);
bool seine_node_attr_at(const seine_tree *t, seine_node n, size_t i, seine_attr *out);
seine_view seine_node_attr(const seine_tree *t, seine_node n, const char *name);
seine_view seine_node_value(const seine_tree *t, seine_node n);
SEINE_MUST_CHECK seine_err seine_node_text(const seine_tree *t, seine_node n,
                                           seine_text *out_text);
SEINE_MUST_CHECK seine_err seine_node_words(const seine_tree *t, seine_node n,
                                            seine_text *out_text);
SEINE_MUST_CHECK seine_err seine_node_html(const seine_tree *t, seine_node n,
                                           seine_text *out_text);
SEINE_MUST_CHECK seine_err seine_tree_print(const seine_tree *t, seine_text *out_text);
SEINE_MUST_CHECK seine_err seine_tree_show(const seine_tree *t, seine_text *out_text);
SEINE_END
#define SEINE_SELECT_BYTES 1024
typedef struct seine_select seine_select;
typedef struct seine_finder seine_finder;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_select_new(const char *text, size_t len,
                                            seine_select **out_select, seine_diag *diag);
void seine_select_free(seine_select *s);
SEINE_MUST_CHECK seine_err seine_finder_new(const seine_tree *tree,
                                            seine_finder **out_finder);
void seine_finder_free(seine_finder *f);
SEINE_MUST_CHECK seine_err seine_finder_next(seine_finder *f, const seine_select *s,
                                             seine_node scope, seine_node *node);
SEINE_MUST_CHECK seine_err seine_finder_matches(seine_finder *f, const seine_select *s,
                                                seine_node node, bool *out_matches);
uint64_t seine_finder_steps(const seine_finder *f);
SEINE_END
#define SEINE_SITEMAP_URLS  50000
#define SEINE_SITEMAP_BYTES ((uint64_t)50 << 20)
typedef struct seine_sitemap seine_sitemap;
typedef enum seine_sitemap_kind {
    SEINE_SITEMAP_NONE,
    SEINE_SITEMAP_URLSET,
    SEINE_SITEMAP_INDEX,
    SEINE_SITEMAP_RSS,
    SEINE_SITEMAP_ATOM,
    SEINE_SITEMAP_TEXT,
    SEINE_SITEMAP_KINDS
} seine_sitemap_kind;
typedef struct seine_sitemap_entry {
    seine_view loc;
    seine_view lastmod;
    seine_view changefreq;
    double priority;
    bool is_map;
} seine_sitemap_entry;
typedef bool (*seine_sitemap_fn)(const seine_sitemap_entry *e, void *arg);
typedef struct seine_sitemap_opts {
    size_t size;
    uint64_t max_urls;
    uint64_t max_bytes;
} seine_sitemap_opts;
#define SEINE_SITEMAP_OPTS {sizeof(seine_sitemap_opts), 0, 0}
enum {
    SEINE_SITEMAP_CAPPED = 1,
    SEINE_SITEMAP_NOTES = 1
};
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_sitemap_new(const seine_sitemap_opts *opts,
                                             seine_sitemap_fn fn, void *arg,
                                             seine_sitemap **out_sitemap);
void seine_sitemap_free(seine_sitemap *s);
void seine_sitemap_reset(seine_sitemap *s);
SEINE_MUST_CHECK seine_err seine_sitemap_feed(seine_sitemap *s, const char *bytes,
                                              size_t n);
SEINE_MUST_CHECK seine_err seine_sitemap_end(seine_sitemap *s);
seine_sitemap_kind seine_sitemap_what(const seine_sitemap *s);
const char *seine_sitemap_kind_name(seine_sitemap_kind kind);
uint64_t seine_sitemap_count(const seine_sitemap *s);
void seine_sitemap_diag(const seine_sitemap *s, seine_diag *out_diag);
unsigned seine_sitemap_notes(const seine_sitemap *s);
const char *seine_sitemap_note_name(unsigned n);
SEINE_END
#define SEINE_SITEMAP_WALK_DEPTH 5
#define SEINE_SITEMAP_WALK_FILES 50000
#define SEINE_SITEMAP_WALK_AHEAD 4
typedef struct seine_sitemap_walk seine_sitemap_walk;
typedef void (*seine_sitemap_walk_fn)(const seine_sitemap_entry *e, const char *source,
                                      seine_sitemap_kind kind, void *arg);
typedef void (*seine_sitemap_trouble_fn)(const char *source, seine_err e,
                                         const char *text, void *arg);
typedef struct seine_sitemap_walk_opts {
    size_t size;
    const seine_fetch_opts
        *fetch;
    bool no_follow;
    int64_t since;
    seine_sitemap_walk_fn on_entry;
    seine_sitemap_trouble_fn on_trouble;
    void *arg;
    const char *base;
} seine_sitemap_walk_opts;
#define SEINE_SITEMAP_WALK_OPTS {sizeof(seine_sitemap_walk_opts), 0, false, 0, 0, 0, 0, 0}
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_sitemap_walk_new(const seine_sitemap_walk_opts *opts,
                                                  seine_sitemap_walk **out_walk);
void seine_sitemap_walk_free(seine_sitemap_walk *w);
SEINE_MUST_CHECK seine_err seine_sitemap_walk_add(seine_sitemap_walk *w, const char *url);
SEINE_MUST_CHECK seine_err seine_sitemap_walk_add_fd(seine_sitemap_walk *w,
                                                     const char *name, int give_fd);
SEINE_MUST_CHECK seine_err seine_sitemap_walk_step(seine_sitemap_walk *w,
                                                   seine_diag *diag);
int seine_sitemap_walk_fd(const seine_sitemap_walk *w);
SEINE_MUST_CHECK seine_err seine_sitemap_walk_run(seine_sitemap_walk *w, seine_ctx *ctx,
                                                  seine_diag *diag);
SEINE_END
typedef struct seine_timestamp {
    int64_t wall;
    int zone;
    bool is_fine;
} seine_timestamp;
SEINE_BEGIN
const char *seine_timestamp_rfc3339(const char *text, seine_timestamp *out);
const char *seine_timestamp_access_log(const char *text, seine_timestamp *out);
bool seine_timestamp_sitemap(const char *text, size_t len, int64_t *out_from,
                             int64_t *out_until);
SEINE_END
#define SEINE_UNITS_TEN_YEARS SEINE_SECS(INT64_C(315576000))
typedef struct seine_frequency {
    uint64_t count;
    seine_span per;
} seine_frequency;
SEINE_BEGIN
SEINE_MUST_CHECK const char *seine_units_span(const char *text, seine_span *out_span);
SEINE_MUST_CHECK const char *seine_units_rate(const char *text,
                                              seine_frequency *out_rate);
SEINE_MUST_CHECK const char *seine_units_count(const char *text, uint64_t *out_count);
SEINE_MUST_CHECK const char *seine_units_size(const char *text, uint64_t *out_bytes);
SEINE_MUST_CHECK const char *seine_units_share(const char *text, uint64_t most,
                                               uint32_t *out_percent);
SEINE_MUST_CHECK bool seine_units_decimal(const char *text, size_t len, seine_span unit,
                                          seine_span *out_span);
SEINE_MUST_CHECK const char *seine_units_rate_decimal(const char *text, size_t len,
                                                      seine_frequency *out_rate);
double seine_frequency_per_second(seine_frequency f);
SEINE_END
#define SEINE_VERSION_MAJOR 0
#define SEINE_VERSION_MINOR 1
#define SEINE_VERSION_PATCH 0
#define SEINE_VERSION_TEXT  "0.1.0"
#define SEINE_VERSION_OF(major, minor, patch) \
    (1000000L * (major) + 1000L * (minor) + (patch))
#define SEINE_VERSION_NUMBER \
    SEINE_VERSION_OF(SEINE_VERSION_MAJOR, SEINE_VERSION_MINOR, SEINE_VERSION_PATCH)
SEINE_BEGIN
const char *seine_version(void);
bool seine_version_library_get(size_t i, const char **out_name, const char **out_version);
SEINE_END
typedef struct seine_warc seine_warc;
typedef enum seine_warc_event {
    SEINE_WARC_MORE,
    SEINE_WARC_RECORD,
    SEINE_WARC_BLOCK,
    SEINE_WARC_END,
    SEINE_WARC_FLAW,
    SEINE_WARC_DONE,
    SEINE_WARC_FAIL
} seine_warc_event;
typedef struct seine_warc_opts {
    size_t size;
    bool check;
} seine_warc_opts;
#define SEINE_WARC_OPTS {sizeof(seine_warc_opts), false}
typedef struct seine_warc_entry {
    uint64_t offset;
    uint64_t length;
    uint64_t block;
    uint8_t version;
    seine_view type, id, date, target;
    seine_view media;
    uint16_t status;
    char media_type[128];
} seine_warc_entry;
SEINE_BEGIN
SEINE_MUST_CHECK seine_err seine_warc_new(const seine_warc_opts *opts,
                                          seine_warc **out_warc);
void seine_warc_free(seine_warc *w);
seine_warc_event seine_warc_next(seine_warc *w, seine_view *in, bool is_last,
                                 seine_view *out_piece);
const seine_warc_entry *seine_warc_at(const seine_warc *w);
seine_view seine_warc_field(const seine_warc *w, const char *name);
const char *seine_warc_why(const seine_warc *w, uint64_t *out_offset);
uint64_t seine_warc_sound(const seine_warc *w);
SEINE_END
#endif
