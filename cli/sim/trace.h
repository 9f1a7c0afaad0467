/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - reads a trace: when requests came, and how they ended.
 *
 * A line is one request. Its time is the first word, or stands in brackets:
 *
 *     12.345                              seconds; above ten years: since 1970
 *     1m30s                               a duration
 *     2026-11-15T19:20:01.5Z              RFC 3339
 *     … [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 …    an access log
 *     {"t":12.345,"n":2}                  JSON: t seconds or a text as above, or ts
 *
 * Behind the time, a trace for a limiter may give the tokens wanted, `12.345 3`; a trace
 * for a breaker says how the call ended and how long it took, `12.345 ok 80ms`, `12.345
 * 503`.
 *
 * A key splits the trace into one for each value of the key: the address of the client in
 * the first word of an access log, or a member of a JSON object.
 *
 * Empty lines and lines that begin with # are skipped. Requests are sorted by time; times
 * with a date count from the first request.
 */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/outcome.h>
#include <seine/time.h>

typedef struct event {
    seine_time at;
    seine_span took; /* 0 when the trace does not say */
    uint32_t n;      /* tokens */
    seine_outcome how;
    size_t line;
    size_t key; /* offset of its text in trace.keys */
} event;

typedef struct trace {
    event *events;
    size_t count;
    const char *name;
    bool dated;  /* `at` counts from `epoch` */
    int zone;    /* of the first line */
    bool coarse; /* dates without fractions of a second */
    seine_time epoch;
    char *keys;             /* terminated texts, one after the other; NULL without keys */
    size_t left_out, moved; /* bad lines; requests that were out of order */
} trace;

typedef enum trace_kind { TRACE_TOKENS, TRACE_OUTCOMES } trace_kind;

typedef struct trace_opts {
    trace_kind kind;
    bool skip_bad;   /* leave out bad lines and count them */
    bool spread;     /* of coarse traces: space the requests of a second out over it */
    size_t key_word; /* the key is this word of the line, from 1; 0: none */
    const char *key_member; /* or this member of the JSON object; NULL: none */
} trace_opts;

/* Reads all of `path`; NULL and "-" are standard input. SAY_DONE, or the exit code after
 * error messages. */
int trace_read(trace *t, const char *path, const trace_opts *opts);
void trace_free(trace *t);

/* Notes on standard error how many lines were left out, sorted or spaced out. */
void trace_notes(const trace *t, bool spread);

/* The time from the first to the last request; 0 for fewer than two. */
seine_span trace_length(const trace *t);

/* The indexes of the requests ordered by key, and by time for one key; the caller frees
 * them. Without keys they are in the order of the trace. */
size_t *trace_by_key(const trace *t);
bool trace_same_key(const trace *t, size_t a, size_t b);

#endif
