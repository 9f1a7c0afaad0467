/* SPDX-License-Identifier: Apache-2.0 */
/*
 * err.h - every way a call or a fetch can fail, in one table.
 *
 * The table is the single source of the enum, the name in records and metrics,
 * the text for people, the class (can trying again help?) and the group (the
 * coarse row that retry, breaker and throttle look at). `header_timeout` is a
 * kind of its own in a record; its group is TIMEOUT, its class TRANSIENT:
 *
 *     if (seine_err_class(e) == SEINE_TRANSIENT)
 *         try_again_later();
 *     if (seine_err_group(e) == SEINE_E_TIMEOUT)
 *         slow_hosts++;
 *
 * How one attempt ended is a `seine_fault`: a plain value with the error, the
 * phase it happened in, the HTTP status and the server's wish to be left alone.
 *
 * Time    plays no part.
 * Memory  all strings are static; a fault holds its own copies.
 * Threads any thread.
 */
#ifndef SEINE_ERR_H
#define SEINE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/time.h"

/* TRANSIENT may succeed if tried again; FINAL will not; LOCAL is our own limit
 * or the caller's doing, says nothing about the host and never counts against it. */
typedef enum seine_class { SEINE_LOCAL, SEINE_TRANSIENT, SEINE_FINAL } seine_class;

/* clang-format off */
#define SEINE_ERRORS(X) \
    /* answers to a caller, never the kind of a record */ \
    X(INVAL,                "inval",                LOCAL,     INVAL,     "invalid argument") \
    X(RANGE,                "range",                LOCAL,     RANGE,     "more than the limit can ever allow") \
    X(CLOSED,               "closed",               LOCAL,     CLOSED,    "closed") \
    X(ALREADY,              "already",              LOCAL,     ALREADY,   "already done") \
    X(DEADLOCK,             "deadlock",             LOCAL,     DEADLOCK,  "would wait for itself") \
    X(UNKNOWN,              "unknown",              LOCAL,     UNKNOWN,   "no such key") \
    /* our own guards and limits */ \
    X(NOMEM,                "nomem",                LOCAL,     BUDGET,    "out of memory") \
    X(FULL,                 "full",                 LOCAL,     FULL,      "queue is full") \
    X(LIMITED,              "limited",              LOCAL,     LIMITED,   "rate limit exceeded") \
    X(BUSY,                 "busy",                 LOCAL,     BUSY,      "too many at once") \
    X(BUDGET,               "budget",               LOCAL,     BUDGET,    "budget spent") \
    X(CANCELED,             "canceled",             LOCAL,     CANCELED,  "canceled") \
    X(DEADLINE,             "deadline",             LOCAL,     DEADLINE,  "deadline exceeded") \
    X(BREAKER,              "breaker",              LOCAL,     BREAKER,   "circuit breaker is open") \
    X(NO_FILES,             "no_files",             LOCAL,     BUSY,      "no file descriptor left") \
    X(NO_PORTS,             "no_ports",             LOCAL,     BUSY,      "no local port left") \
    /* coarse rows: for programs with a transport of their own, and as groups */ \
    X(TIMEOUT,              "timeout",              TRANSIENT, TIMEOUT,   "timed out") \
    X(CONNECT,              "connect",              TRANSIENT, CONNECT,   "could not connect") \
    X(RESET,                "reset",                TRANSIENT, RESET,     "connection reset") \
    X(SHORT,                "short",                TRANSIENT, SHORT,     "body ended early") \
    X(DNS_AGAIN,            "dns_again",            TRANSIENT, DNS_AGAIN, "name lookup failed for now") \
    X(HTTP_BUSY,            "http_busy",            TRANSIENT, HTTP_BUSY, "server said to come back later") \
    X(DNS,                  "dns",                  FINAL,     DNS,       "no such host") \
    X(TLS,                  "tls",                  FINAL,     TLS,       "certificate not trusted") \
    X(HTTP,                 "http",                 FINAL,     HTTP,      "server refused the request") \
    X(TOO_BIG,              "too_big",              FINAL,     TOO_BIG,   "response larger than the cap") \
    X(PARSE,                "parse",                FINAL,     PARSE,     "malformed response") \
    /* kinds of records: names and lookups */ \
    X(DNS_SERVFAIL,         "dns_servfail",         TRANSIENT, DNS_AGAIN, "name server failed") \
    X(DNS_ERROR,            "dns_error",            TRANSIENT, DNS_AGAIN, "name lookup failed") \
    X(DNS_TIMEOUT,          "dns_timeout",          TRANSIENT, TIMEOUT,   "name lookup timed out") \
    X(DNS_NXDOMAIN,         "dns_nxdomain",         FINAL,     DNS,       "no such name") \
    X(DNS_BAD_NAME,         "dns_bad_name",         FINAL,     DNS,       "not a host name") \
    /* connections */ \
    X(CONNECT_TIMEOUT,      "connect_timeout",      TRANSIENT, TIMEOUT,   "connecting timed out") \
    X(CONNECT_REFUSED,      "connect_refused",      TRANSIENT, CONNECT,   "connection refused") \
    X(CONNECT_UNREACHABLE,  "connect_unreachable",  TRANSIENT, CONNECT,   "host or network unreachable") \
    X(CONN_RESET,           "conn_reset",           TRANSIENT, RESET,     "connection reset by the server") \
    X(CONN_STALE,           "conn_stale",           TRANSIENT, RESET,     "kept connection was already closed") \
    X(PROXY_ERROR,          "proxy_error",          TRANSIENT, CONNECT,   "proxy failed") \
    X(PROXY_REFUSED,        "proxy_refused",        FINAL,     HTTP,      "proxy refused the request") \
    X(PROXY_AUTH,           "proxy_auth",           FINAL,     HTTP,      "proxy asks for credentials") \
    X(TLS_TIMEOUT,          "tls_timeout",          TRANSIENT, TIMEOUT,   "TLS handshake timed out") \
    X(TLS_ERROR,            "tls_error",            TRANSIENT, CONNECT,   "TLS handshake failed") \
    X(TLS_CERT_EXPIRED,     "tls_cert_expired",     FINAL,     TLS,       "certificate expired") \
    X(TLS_HOST_MISMATCH,    "tls_host_mismatch",    FINAL,     TLS,       "certificate is for another host") \
    X(TLS_UNTRUSTED,        "tls_untrusted",        FINAL,     TLS,       "certificate from an unknown authority") \
    /* requests and responses */ \
    X(SEND_TIMEOUT,         "send_timeout",         TRANSIENT, TIMEOUT,   "sending the request timed out") \
    X(HEADER_TIMEOUT,       "header_timeout",       TRANSIENT, TIMEOUT,   "no response header in time") \
    X(STALLED,              "stalled",              TRANSIENT, TIMEOUT,   "body came too slowly") \
    X(HEADER_TRUNCATED,     "header_truncated",     TRANSIENT, RESET,     "connection ended inside the header") \
    X(BODY_TRUNCATED,       "body_truncated",       TRANSIENT, SHORT,     "body ended before its length") \
    X(H2_ERROR,             "h2_error",             TRANSIENT, RESET,     "HTTP/2 connection failed") \
    X(H2_STREAM,            "h2_stream",            TRANSIENT, RESET,     "HTTP/2 stream was reset") \
    X(HEADER_TOO_LARGE,     "header_too_large",     FINAL,     TOO_BIG,   "response header larger than the cap") \
    X(TOO_MANY_INTERIM,     "too_many_interim",     FINAL,     TOO_BIG,   "too many interim responses") \
    X(BODY_TOO_LARGE,       "body_too_large",       FINAL,     TOO_BIG,   "body larger than the cap") \
    X(BAD_STATUS_LINE,      "bad_status_line",      FINAL,     PARSE,     "malformed status line") \
    X(BAD_HEADER,           "bad_header",           FINAL,     PARSE,     "malformed header") \
    X(BAD_FRAMING,          "bad_framing",          FINAL,     PARSE,     "contradictory or malformed body framing") \
    X(BAD_ENCODING,         "bad_encoding",         FINAL,     PARSE,     "body cannot be decoded") \
    X(UNEXPECTED_304,       "unexpected_304",       FINAL,     HTTP,      "304 without a condition") \
    X(UNEXPECTED_206,       "unexpected_206",       FINAL,     HTTP,      "206 without a range") \
    X(TOO_MANY_REDIRECTS,   "too_many_redirects",   FINAL,     HTTP,      "too many redirects") \
    X(BAD_REDIRECT,         "bad_redirect",         FINAL,     HTTP,      "redirect without a usable target") \
    X(REDIRECT_REFUSED,     "redirect_refused",     FINAL,     HTTP,      "redirect not followed by policy") \
    /* content */ \
    X(BAD_CHARSET,          "bad_charset",          FINAL,     PARSE,     "unknown character encoding") \
    X(BAD_JSON,             "bad_json",             FINAL,     PARSE,     "malformed JSON") \
    X(JSON_TOO_DEEP,        "json_too_deep",        FINAL,     PARSE,     "JSON nested too deep") \
    X(BAD_XML,              "bad_xml",              FINAL,     PARSE,     "malformed XML") \
    X(HTML_TOO_DEEP,        "html_too_deep",        FINAL,     PARSE,     "HTML nested too deep") \
    X(HTML_TOO_COMPLEX,     "html_too_complex",     FINAL,     PARSE,     "HTML too costly to parse") \
    X(SELECTOR_TIMEOUT,     "selector_timeout",     FINAL,     PARSE,     "selector took too many steps") \
    X(PATTERN_BUDGET,       "pattern_budget",       FINAL,     PARSE,     "pattern took too many steps") \
    /* policy */ \
    X(ROBOTS_UNREACHABLE,   "robots_unreachable",   TRANSIENT, ROBOTS_UNREACHABLE, "robots.txt could not be read") \
    X(ROBOTS,               "robots",               FINAL,     ROBOTS,    "disallowed by robots.txt") \
    X(BLOCKED_ADDRESS,      "blocked_address",      LOCAL,     BLOCKED_ADDRESS, "address not allowed") \
    X(BLOCKED_SCHEME,       "blocked_scheme",       LOCAL,     BLOCKED_SCHEME, "scheme not allowed") \
    X(BLOCKED_PORT,         "blocked_port",         LOCAL,     BLOCKED_PORT, "port not allowed") \
    X(OUT_OF_SCOPE,         "out_of_scope",         LOCAL,     OUT_OF_SCOPE, "outside the scope") \
    X(BAD_URL,              "bad_url",              LOCAL,     BAD_URL,   "not a URL") \
    X(RETRY_AFTER_TOO_LONG, "retry_after_too_long", LOCAL,     RETRY_AFTER_TOO_LONG, "server asks to wait longer than allowed") \
    /* stores and outputs */ \
    X(DISK_FULL,            "disk_full",            LOCAL,     DISK_FULL, "no space left") \
    X(FSYNC_FAILED,         "fsync_failed",         LOCAL,     FSYNC_FAILED, "could not make the data durable") \
    X(OUTPUT_CLOSED,        "output_closed",        LOCAL,     OUTPUT_CLOSED, "output was closed by its reader") \
    X(OUTPUT_CHANGED,       "output_changed",       LOCAL,     OUTPUT_CHANGED, "output was changed by somebody else") \
    X(IO,                   "io",                   LOCAL,     IO,        "local input or output failed") \
    X(STATE_LOCKED,         "state_locked",         LOCAL,     STATE_LOCKED, "job is owned by another process") \
    X(STATE_CORRUPT,        "state_corrupt",        LOCAL,     STATE_CORRUPT, "job state is damaged") \
    X(STATE_FOREIGN,        "state_foreign",        LOCAL,     STATE_FOREIGN, "not the state of a job") \
    X(STATE_NEWER,          "state_newer",          LOCAL,     STATE_NEWER, "job state of a newer version") \
    X(STORE_UNAVAILABLE,    "store_unavailable",    LOCAL,     STORE_UNAVAILABLE, "store cannot be reached") \
    X(CONFIG,               "config",               LOCAL,     CONFIG,    "configuration error")

typedef enum seine_err {
    SEINE_OK = 0,
#define X(id, name, class_, group, text) SEINE_E_##id,
    SEINE_ERRORS(X)
#undef X
    SEINE_E_COUNT
} seine_err;
/* clang-format on */

typedef enum seine_phase {
    SEINE_PHASE_NONE,
    SEINE_PHASE_DNS,
    SEINE_PHASE_CONNECT,
    SEINE_PHASE_PROXY, /* connected to the proxy, until the way is open */
    SEINE_PHASE_TLS,
    SEINE_PHASE_SEND,
    SEINE_PHASE_HEAD,
    SEINE_PHASE_BODY
} seine_phase;

/* How an attempt ended. Start from SEINE_FAULT, which is "succeeded". */
typedef struct seine_fault {
    seine_err code; /* SEINE_OK: it succeeded */
    seine_phase phase;
    uint16_t status;        /* HTTP status, or 0 */
    bool sent;              /* a byte of the request may have left */
    int64_t timeout_ms;     /* for TIMEOUT: the configured limit, never a measured time */
    seine_span retry_after; /* the server's wish; -1 none */
    char url[256];          /* truncated copies, terminated */
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

/* "timeout": lower case, stable, for records, logs and metric labels. */
const char *seine_err_name(seine_err e);

/* "timed out": for people; may change between releases. */
const char *seine_err_text(seine_err e);

/* Can trying again help? The one place that answers it. */
seine_class seine_err_class(seine_err e);

/* The coarse row of a kind; rows without one are their own group. */
seine_err seine_err_group(seine_err e);

/* "dns", "connect" …; "none" outside of a request. */
const char *seine_phase_name(seine_phase p);

/* One sentence about a fault, e.g. "Request timed out after 5000ms". Writes at
 * most `cap` bytes with the terminator; returns the length of the whole text. */
size_t seine_fault_text(const seine_fault *f, char *buf, size_t cap);

SEINE_END

#endif
