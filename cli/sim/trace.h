/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - somebody's traffic: when requests came, and how they ended.
 *
 * A line is one request. Its time is the first word, or stands in brackets:
 *
 *     12.345                              seconds; above ten years: since 1970
 *     1m30s                               a duration
 *     2026-11-15T19:20:01.5Z              RFC 3339
 *     … [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" 200 …    an access log
 *     {"t":12.345,"n":2}                  JSON: t seconds or a text as above, or ts
 *
 * After it a limiter's trace may name the tokens wanted, `12.345 3`; a breaker's
 * says how it went and for how long, `12.345 ok 80ms`, `12.345 503`.
 *
 * A key makes several traces of one, as many as it has values: a client's address
 * in the first word of an access log, a member of a JSON object.
 *
 * Empty lines and those that begin with # are passed by. Requests are put in the
 * order of their times; dated ones count from the first.
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
    size_t key; /* place of its text in trace.keys */
} event;

typedef struct trace {
    event *events;
    size_t count;
    const char *name;
    bool dated;  /* `at` counts from `epoch` */
    int zone;    /* of the first line */
    bool coarse; /* dated, and never finer than a second */
    seine_time epoch;
    char *keys;             /* terminated texts, one after the other; NULL without keys */
    size_t left_out, moved; /* bad lines; requests that were out of order */
} trace;

typedef enum trace_kind { TRACE_TOKENS, TRACE_OUTCOMES } trace_kind;

typedef struct trace_opts {
    trace_kind kind;
    bool skip_bad;          /* a line without sense is left out and counted */
    bool spread;            /* whole seconds: requests of one are spaced out over it */
    size_t key_word;        /* its key is this word of the line, the first is 1; 0 none */
    const char *key_member; /* or this member of its JSON object; NULL none */
} trace_opts;

/* Reads all of `path` (NULL or "-": standard input). Mistakes are said, and the
 * exit code is not SAY_DONE. */
int trace_read(trace *t, const char *path, const trace_opts *opts);
void trace_free(trace *t);

/* Says on standard error what was done to the lines on the way in. */
void trace_notes(const trace *t, bool spread);

/* First to last request; 0 for fewer than two. */
seine_span trace_length(const trace *t);

/* Places of the requests ordered by key, those of one key by time; freed by the
 * caller. Without keys it is their order. */
size_t *trace_by_key(const trace *t);
bool trace_same_key(const trace *t, size_t a, size_t b);

#endif
