/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - events for people and machines, one line each.
 *
 * A record is an event word, a message for people and typed fields. Whatever bytes it
 * holds, it becomes one line: of text, or of JSON with the names of the OpenTelemetry
 * conventions.
 *
 *     seine_log *log;
 *     if (seine_log_new(&(seine_log_opts)SEINE_LOG_OPTS, &log) != SEINE_OK)
 *         return failure();
 *     seine_log_field f[] = {seine_log_str("host", "e.org"), seine_log_err("err", e)};
 *     seine_log_write(log, SEINE_LOG_WARN, "breaker.open", "breaker opened", f, 2);
 *
 *     19:20:01 warn  breaker opened  host=e.org err=connect
 *     {"@timestamp":"2026-11-15T19:20:01.123456Z","log.level":"warn","message":
 *      "breaker opened","event.name":"breaker.open", … ,"seine.host":"e.org", … }
 *
 * Writers never wait: lines go into a ring, and one thread writes them out. When the
 * ring is full, records of level trace, debug and info are dropped and counted. Equal
 * warnings and errors are merged: the first is written at once, then one line per 10 s
 * says how many more there were (`seine.repeated`). Every text is redacted before it is
 * written (secret.h): users and tokens in URLs, values of `secrets`, and every field
 * marked secret.
 *
 * Time    comes from the clock of the options: wall time in lines, in UTC;
 *         monotonic time for merging.
 * Memory  fixed at `new`: 256 bytes per place in the ring, and at most 0.5 MiB for
 *         warnings being merged. A line has at most 8 KiB. Longer values end in an
 *         ellipsis; fields that do not fit are left out, and the line says so
 *         (`seine.truncated`). Fields are borrowed for the call.
 * Threads any thread. NULL is a log that is off.
 */
#ifndef SEINE_LOG_H
#define SEINE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/clock.h"
#include "seine/err.h"
#include "seine/secret.h"
#include "seine/time.h"

typedef struct seine_log seine_log;

typedef enum seine_log_level {
    SEINE_LOG_TRACE,
    SEINE_LOG_DEBUG,
    SEINE_LOG_INFO,
    SEINE_LOG_WARN,
    SEINE_LOG_ERROR,
    SEINE_LOG_OFF /* as the level of a log: nothing passes */
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

/* Made by the functions below. The name is a constant of the program. */
typedef struct seine_log_field {
    const char *name;
    seine_log_kind kind;
    size_t len; /* of the text, where it is one */
    union {
        const char *text;
        int64_t i;
        uint64_t u;
        double d;
    } as;
} seine_log_field;

/* Gets one whole line with its newline, from one thread at a time. Must not use
 * the log. */
typedef void (*seine_log_sink)(const char *line, size_t len, void *arg);

typedef struct seine_log_opts {
    size_t size;           /* of this struct: SEINE_LOG_OPTS sets it */
    seine_log_level level; /* the lowest that passes */
    seine_log_format format;
    int fd;              /* where lines go when there is no sink; stays the caller's */
    seine_log_sink sink; /* NULL: the descriptor */
    void *arg;
    const char *service; /* service.name and service.version, at most 64 bytes each; */
    const char *version; /* NULL: left out */
    seine_clock *clock;  /* NULL: the system's */
    seine_span merge;    /* for how long equal warnings are merged; 0: not at all */
    uint32_t ring;       /* lines that may wait; 0: each call writes its own line */
    const seine_secrets *secrets; /* what no line shows; outlives the log; NULL: none */
} seine_log_opts;

#define SEINE_LOG_OPTS                                                                  \
    {                                                                                   \
        sizeof(seine_log_opts), SEINE_LOG_WARN, SEINE_LOG_TEXT, 2, NULL, NULL, "seine", \
            NULL, NULL, SEINE_SECS(10), 8192, NULL                                      \
    }

typedef struct seine_log_stats {
    uint64_t records[SEINE_LOG_OFF]; /* by level; all that passed the level */
    uint64_t merged;                 /* of these, reported as a count only */
    uint64_t dropped;                /* of these, for lack of room in the ring */
    uint64_t failed;                 /* lines that the descriptor did not take */
} seine_log_stats;

SEINE_BEGIN

/* INVAL: an option out of range. NOMEM: no memory or no thread. */
SEINE_MUST_CHECK seine_err seine_log_new(const seine_log_opts *opts, seine_log **out_log);

/* Writes all waiting lines. No other thread may use the log any more. */
void seine_log_free(seine_log *log);

/* Would a record of this level be written? */
bool seine_log_on(const seine_log *log, seine_log_level level);
void seine_log_set_level(seine_log *log, seine_log_level level);

/* Writes a record if its level passes. A NULL message is the event word. */
void seine_log_write(seine_log *log, seine_log_level level, const char *event,
                     const char *message, const seine_log_field *fields, size_t n);

/* Returns when everything written before the call, counts of merged warnings
 * included, has been handed to the sink. */
void seine_log_flush(seine_log *log);

void seine_log_stats_get(const seine_log *log, seine_log_stats *out_stats);

/* "warn", and back: false and `out_level` untouched for any other word. */
const char *seine_log_level_name(seine_log_level level);
bool seine_log_level_parse(const char *name, seine_log_level *out_level);

/* Fields. Short names of the vocabulary (docs/user/log.md) get their long form in JSON:
 * host is `seine.host`, url `url.full`, err `error.type`. A span is written in
 * milliseconds. A NULL text counts as empty. */
seine_log_field seine_log_str(const char *name, const char *value);
seine_log_field seine_log_bytes(const char *name, const char *bytes, size_t n);
seine_log_field seine_log_int(const char *name, int64_t value);
seine_log_field seine_log_uint(const char *name, uint64_t value);
seine_log_field seine_log_double(const char *name, double value);
seine_log_field seine_log_bool(const char *name, bool value);
seine_log_field seine_log_span(const char *name, seine_span value);
seine_log_field seine_log_err(const char *name, seine_err value);
seine_log_field seine_log_url(const char *name, const char *value); /* redacted */
seine_log_field seine_log_secret(const char *name); /* shows only that there is one */

SEINE_END

#endif
