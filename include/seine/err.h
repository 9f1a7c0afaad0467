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
 * A `seine_fault` says how one attempt ended: a plain value with the error, the phase,
 * the HTTP status and the server's Retry-After.
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

/* Every error number is below this: the size of an array that is indexed by errors. */
#define SEINE_ERR_ROOM 256

/* A number belongs to its error for ever; a new error takes the next one that is free.
 *  number, id,             name in records,        class,     group,     text for people
 */
/* clang-format off */
#define SEINE_ERRORS(X) \
    /* results of a call, never the kind of a record */ \
    X(1,  INVAL,                "inval",                LOCAL,     INVAL,     "invalid argument") \
    X(2,  RANGE,                "range",                LOCAL,     RANGE,     "more than the limit can ever allow") \
    X(3,  CLOSED,               "closed",               LOCAL,     CLOSED,    "closed") \
    X(4,  ALREADY,              "already",              LOCAL,     ALREADY,   "already done") \
    X(5,  DEADLOCK,             "deadlock",             LOCAL,     DEADLOCK,  "would wait for itself") \
    X(6,  UNKNOWN,              "unknown",              LOCAL,     UNKNOWN,   "no such key") \
    /* our own guards and limits */ \
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
    /* coarse rows: for programs with a transport of their own, and as groups */ \
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
    /* kinds of records: names and lookups */ \
    X(28, DNS_SERVFAIL,         "dns_servfail",         TRANSIENT, DNS_AGAIN, "name server failed") \
    X(29, DNS_ERROR,            "dns_error",            TRANSIENT, DNS_AGAIN, "name lookup failed") \
    X(30, DNS_TIMEOUT,          "dns_timeout",          TRANSIENT, TIMEOUT,   "name lookup timed out") \
    X(31, DNS_NXDOMAIN,         "dns_nxdomain",         FINAL,     DNS,       "no such name") \
    X(32, DNS_BAD_NAME,         "dns_bad_name",         FINAL,     DNS,       "not a host name") \
    /* connections */ \
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
    /* requests and responses */ \
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
    /* content */ \
    X(65, BAD_CHARSET,          "bad_charset",          FINAL,     PARSE,     "unknown character encoding") \
    X(66, BAD_JSON,             "bad_json",             FINAL,     PARSE,     "malformed JSON") \
    X(67, JSON_TOO_DEEP,        "json_too_deep",        FINAL,     PARSE,     "JSON nested too deep") \
    X(68, BAD_XML,              "bad_xml",              FINAL,     PARSE,     "malformed XML") \
    X(69, HTML_TOO_DEEP,        "html_too_deep",        FINAL,     PARSE,     "HTML nested too deep") \
    X(70, HTML_TOO_COMPLEX,     "html_too_complex",     FINAL,     PARSE,     "HTML too costly to parse") \
    X(71, SELECTOR_TIMEOUT,     "selector_timeout",     FINAL,     PARSE,     "selector took too many steps") \
    X(72, PATTERN_BUDGET,       "pattern_budget",       FINAL,     PARSE,     "pattern took too many steps") \
    /* policy */ \
    X(73, ROBOTS_UNREACHABLE,   "robots_unreachable",   TRANSIENT, ROBOTS_UNREACHABLE, "robots.txt could not be read") \
    X(74, ROBOTS,               "robots",               FINAL,     ROBOTS,    "disallowed by robots.txt") \
    X(75, BLOCKED_ADDRESS,      "blocked_address",      LOCAL,     BLOCKED_ADDRESS, "address not allowed") \
    X(76, BLOCKED_SCHEME,       "blocked_scheme",       LOCAL,     BLOCKED_SCHEME, "scheme not allowed") \
    X(77, BLOCKED_PORT,         "blocked_port",         LOCAL,     BLOCKED_PORT, "port not allowed") \
    X(78, OUT_OF_SCOPE,         "out_of_scope",         LOCAL,     OUT_OF_SCOPE, "outside the scope") \
    X(79, BAD_URL,              "bad_url",              LOCAL,     BAD_URL,   "not a URL") \
    X(80, RETRY_AFTER_TOO_LONG, "retry_after_too_long", LOCAL,     RETRY_AFTER_TOO_LONG, "server asks to wait longer than allowed") \
    /* stores and outputs */ \
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
/* clang-format on */

typedef enum seine_phase {
    SEINE_PHASE_NONE,
    SEINE_PHASE_DNS,
    SEINE_PHASE_CONNECT,
    SEINE_PHASE_PROXY, /* connected to the proxy, until the tunnel is open */
    SEINE_PHASE_TLS,
    SEINE_PHASE_SEND,
    SEINE_PHASE_HEAD,
    SEINE_PHASE_BODY
} seine_phase;

/* How an attempt ended. Start from SEINE_FAULT, which means "succeeded". */
typedef struct seine_fault {
    seine_err code; /* SEINE_OK: the attempt succeeded */
    seine_phase phase;
    uint16_t status;        /* HTTP status, or 0 */
    bool sent;              /* a byte of the request may have left */
    int64_t timeout_ms;     /* for TIMEOUT: the configured limit, never a measured time */
    seine_span retry_after; /* the server's Retry-After; -1: none */
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

/* Can trying again help? No other place decides this. */
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
