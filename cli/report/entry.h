/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry.h - a record as far as reports and comparisons look at it.
 *
 * It comes from a record of a run, or from a line of records that were read back:
 *
 *     entry_reader reader = {0};
 *     entry e;
 *     if (entry_read(&reader, line, &e) == ENTRY_RESULT)
 *         report_add(r, &e);
 *     entry_reader_free(&reader);
 *
 * Views are valid until the reader reads the next line, or as long as the record.
 */
#ifndef CLI_ENTRY_H
#define CLI_ENTRY_H

#include <seine/record.h>

#include "report/json_scan.h"

/* What the time of a URL went to; the members of `time`, in their order. */
typedef enum entry_span {
    SPAN_QUEUE,
    SPAN_THROTTLE,
    SPAN_BACKOFF,
    SPAN_RETRY_BUDGET,
    SPAN_DNS,
    SPAN_CONNECT,
    SPAN_TLS,
    SPAN_TTFB,
    SPAN_BODY,
    SPAN_TOTAL,
    SPANS
} entry_span;

typedef enum entry_kind {
    ENTRY_RESULT,
    ENTRY_SKIP,
    ENTRY_SUMMARY,
    ENTRY_LINK, /* of `seine check` */
    ENTRY_ITEM, /* of a recipe */
    ENTRY_OTHER,
    ENTRY_BAD /* no record */
} entry_kind;

typedef struct entry {
    entry_kind kind;
    int64_t wall; /* ns; 0: not known */
    seine_view url, key, final_url, host, parent, title, content_type, sha256, data;
    uint32_t line; /* on the parent; 0: not known */
    seine_fate fate;
    seine_view error, message, hint; /* of a skip: reason and rule */
    seine_view verdict;              /* of a link */
    bool is_ok, has_times, has_bytes;
    unsigned status;
    uint32_t attempts;
    uint64_t bytes_in, bytes_body;
    seine_span spans[SPANS];
    seine_span waits[SEINE_WAIT_ROOM]; /* between attempts, by their reason */
    uint32_t n_redirects;
    unsigned redirect; /* status of the first one */
} entry;

typedef struct entry_reader {
    char *room; /* strings without their escapes */
    size_t cap;
    size_t next; /* where the next member is looked for: they come in one order */
    int64_t minute;
    char stamp[17]; /* "2026-11-15T19:20", whose time `minute` is */
} entry_reader;

entry_kind entry_read(entry_reader *r, seine_view line, entry *out);
void entry_reader_free(entry_reader *r);

void entry_of_record(const seine_record *r, entry *out);

/* A record that a job keeps in its state: what all have waited stands in the first, so
 * that the whole time of one says nothing. */
void entry_of_kept(const seine_record *r, entry *out);

/* Names the host as in the URL: its port is part of it, so that servers of one machine
 * are told apart. */
void entry_name_host(entry *e);

/* A sum that stays SEINE_NEVER: lines of strangers may have any durations. */
seine_span entry_sum(seine_span a, seine_span b);

/* How long the last attempt took: its phases. */
seine_span entry_latency(const entry *e);

/* "404" or "connect_refused": what a failure is called. */
typedef struct entry_name {
    char text[48];
} entry_name;
entry_name entry_failure(const entry *e);

/* A kind, a reason or a verdict: seine's own are words of ASCII, and what is none in
 * somebody else's becomes "?". */
entry_name entry_word(seine_view text);

#endif
