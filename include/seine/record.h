/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - how did one URL end? Everything that is known, as one value.
 *
 * Every given URL ends in exactly one record: a result (the URL was admitted) or a skip
 * (the URL was refused, with the reason). The fate of a result follows from the kind of
 * its error and is one of a closed list:
 *
 *     ok            an accepted status, and a complete body
 *     http_error    a complete response with another status
 *     network_error no response could be had
 *     timeout       a time limit was hit
 *     bad_response  a response that is truncated, invalid or too big
 *     blocked       our own rules forbid it
 *     gave_up       not (fully) tried, worth trying later
 *     canceled      stopped by a signal or the end of the run's time
 *
 * A record is a set of views: a callback reads or copies it before it returns. As text it
 * is a JSON line (schema v1) or a row of CSV:
 *
 *     n = seine_record_json(r, seq, NULL, SEINE_BODY_NONE, buf, cap);
 *     n = seine_record_csv(r, seq, NULL, 0, buf, cap);
 *
 * Time    `wall` is Unix time in ns; spans are monotonic.
 * Memory  everything is borrowed; rendering writes to the caller's memory.
 * Threads one owner; rendering is pure.
 */
#ifndef SEINE_RECORD_H
#define SEINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/secure.h"
#include "seine/time.h"
#include "seine/view.h"

/* clang-format off */
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

/* What a URL waited for; the first is the queue of its host. */
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
/* clang-format on */

/* Sizes of arrays indexed by these enums; the enums may grow up to them. */
#define SEINE_FATE_ROOM 16
#define SEINE_SKIP_ROOM 32
#define SEINE_WAIT_ROOM 16

typedef struct seine_hop {
    seine_view url;
    uint16_t status;
} seine_hop;

/* One of several attempts. */
typedef struct seine_record_try {
    int64_t wall; /* when it began */
    uint32_t n;   /* 1, 2, … */
    uint16_t status;
    seine_err err;
    seine_span took; /* from its beginning to its end */
    seine_span wait; /* from its end to the next attempt; -1: it was the last */
    seine_wait wait_reason;
} seine_record_try;

/* Why the bytes of a response end early, in the words of WARC. */
typedef enum seine_cut {
    SEINE_CUT_NONE,
    SEINE_CUT_LENGTH, /* a limit in bytes */
    SEINE_CUT_TIME,
    SEINE_CUT_DISCONNECT,
    SEINE_CUT_OTHER
} seine_cut;

/* A request and its response as they were on the wire, for an archive: one per redirect
 * hop. */
typedef struct seine_capture {
    seine_view url;
    int64_t wall; /* when it was sent */
    seine_view ip;
    seine_view request;  /* head and body; secrets are REDACTED */
    seine_view response; /* as received, with framing; absent: none */
    uint32_t head_len;   /* bytes before the body, interim heads included */
    seine_cut cut;
} seine_capture;

/* Where the response is stored in an archive. */
typedef struct seine_warc_place {
    seine_view file; /* name without directories; absent: nowhere */
    uint64_t offset, length;
    seine_view id; /* "<urn:uuid:…>" */
} seine_warc_place;

/* The place on its parent page where a URL was found. */
typedef struct seine_found {
    seine_view tag, attr, text; /* "a", "href", "A page"; absent: not known */
    uint32_t line;              /* 0: not known */
} seine_found;

/* What became of a page since the round before, in an incremental crawl. */
typedef enum seine_change {
    SEINE_CHANGE_NONE,    /* nobody asked, or there is no page to compare */
    SEINE_CHANGE_NEW,     /* no copy was known */
    SEINE_CHANGE_CHANGED, /* the copy is another one */
    SEINE_CHANGE_SAME,
    SEINE_CHANGE_GONE /* 404 or 410, and there was a copy */
} seine_change;

typedef enum seine_record_type {
    SEINE_RECORD_RESULT,
    SEINE_RECORD_SKIP
} seine_record_type;

typedef struct seine_record {
    seine_record_type type;
    int64_t wall;
    uint64_t number; /* 0, 1, 2 … in the order of the input */
    seine_view input;
    uint64_t line;       /* of the input; 0: none */
    seine_view id, tags; /* tags: the text of a JSON object */
    seine_view url, key, final_url;
    const seine_hop *hops;
    size_t n_hops;
    seine_view method, host, ip;
    uint8_t http; /* 10, 11; 1: a response of unknown version; 0: none */

    /* of a crawl */
    bool is_crawled;   /* depth is known */
    uint32_t depth;    /* links from a given URL */
    seine_view parent; /* absent: it was given */
    seine_found via;
    bool has_links;   /* the page was searched for links: n_links is known */
    uint32_t n_links; /* those a crawl may follow, repetitions included */
    seine_view lang, canonical, meta_robots;
    seine_err extract; /* why an ok page lacks links or fields; OK: it does not */

    seine_fate fate;
    const seine_fault *fault; /* its code is OK if the fate is */
    seine_view message, hint; /* for people; hint may be absent */
    bool retryable;
    uint16_t status; /* of the last response; 0: none */
    uint32_t attempts;
    const seine_record_try *tries; /* each attempt, if there was more than one */
    size_t n_tries;

    seine_view content_type, charset;
    const char *charset_from; /* "bom" "header" "meta" "guess" "default"; NULL: unknown */
    uint64_t charset_errors;  /* bytes that became U+FFFD */
    int64_t content_length;   /* as declared; -1: not declared */
    uint64_t bytes_in, bytes_body;
    bool partial;
    const char *const *notes;
    size_t n_notes;

    /* waits of ours over all attempts, the phases of the last attempt, and the URL's
     * whole life: all attempts and waits */
    seine_span queue, throttle, backoff, retry_budget;
    seine_span dns, connect, tls, ttfb, body_time;
    seine_span total;

    seine_view title;
    const seine_field *fields; /* NULL: not kept */
    size_t n_fields;
    seine_view body;       /* absent: not kept */
    const uint8_t *sha256; /* 32 bytes; NULL: not computed */

    seine_tls_facts secure;
    const seine_capture *captures; /* NULL: not kept */
    size_t n_captures;
    seine_warc_place warc; /* set by the WARC sink */
    seine_view body_file;  /* set by the sink that saves bodies */
    seine_view json;       /* of a record that was read: its line without the body */

    seine_skip reason; /* of a SKIP */
    seine_view rule;

    /* The engine's, for seine_sinks_put: keeps large bodies and captures alive, so that
     * they need not be copied, and what else a record has since. NULL: the views are
     * valid as long as the record. */
    void *hold;
} seine_record;

/* The members of a result to write, a bit each; 0: the standard set. */
typedef struct seine_members {
    uint64_t bits;
} seine_members;

typedef enum seine_body_form {
    SEINE_BODY_NONE,
    SEINE_BODY_TEXT,
    SEINE_BODY_B64,
    SEINE_BODY_FILE /* the name of the saved file */
} seine_body_form;

enum {                     /* how a row of CSV is written */
       SEINE_CSV_RAW = 1,  /* no guard against formulas */
       SEINE_CSV_CRLF = 2, /* lines end in CR LF */
       SEINE_CSV_SHOWN = 4 /* for a terminal: control characters as \x1b */
};

SEINE_BEGIN

const char *seine_fate_name(seine_fate f);
const char *seine_skip_name(seine_skip s);
const char *seine_wait_name(seine_wait w);
const char *seine_change_name(seine_change c); /* "changed"; NULL: none */

/* Returns the fate of a result with that error kind. */
seine_fate seine_fate_of(seine_err kind);

/* Of a record of an incremental crawl. */
seine_change seine_record_change(const seine_record *r);

/* The values that seine_fetch_opts.extract asks for, as an object of JSON (extract.h);
 * ptr NULL: the page has none. `extract` says why some are missing. */
seine_view seine_record_data(const seine_record *r);

/* How long the last attempt took: the sum of its phases. */
seine_span seine_record_latency(const seine_record *r);

/* All its waits: queue, throttle, backoff and retry budget. */
seine_span seine_record_waited(const seine_record *r);

/* Parses a list of members: "url,status" means exactly these; "+headers,-key" changes the
 * standard set. INVAL: *out_bad (may be NULL) is the first unknown word, or the first
 * that mixes both forms. */
SEINE_MUST_CHECK seine_err seine_members_parse(const char *list,
                                               seine_members *out_fields,
                                               seine_view *out_bad);

/* Writes the record as one JSON line with its newline, at most `cap` bytes; returns the
 * full length. */
size_t seine_record_json(const seine_record *r, uint64_t seq, const seine_members *fields,
                         seine_body_form body, char *buf, size_t cap);

/* The same as a row of CSV (RFC 4180) in the fixed columns of docs/user/record.md; a NULL
 * record writes the column names. `how`: SEINE_CSV_*. A scalar member that `fields` adds
 * gets a column of its own. */
size_t seine_record_csv(const seine_record *r, uint64_t seq, const seine_members *fields,
                        unsigned how, char *buf, size_t cap);

SEINE_END

#endif
