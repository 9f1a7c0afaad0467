/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logline.h - a log record as one line of text or of JSON.
 *
 * Whatever bytes a record holds, the line is valid UTF-8, ends in its only newline
 * and has at most SN_LINE bytes. Control and format characters never reach a
 * terminal: text shows them as \x1b or \u{202e}, JSON as \u001b. A long value is cut
 * with an ellipsis. Fields that do not fit are left out, and the line says so. Texts
 * are redacted before they are cut.
 *
 * A line is made in two steps, so that equal records can be counted in between:
 *
 *     sn_line_begin(&line, SEINE_LOG_JSON, &record);
 *     sn_line_end(&line, SEINE_LOG_JSON, 41);        … ,"seine.repeated":41}
 *
 * Time    is part of the record.
 * Memory  the caller's; nothing is allocated.
 * Threads any thread.
 */
#ifndef SN_LOGLINE_H
#define SN_LOGLINE_H

#include "base/str.h"
#include "seine/log.h"

#define SN_LINE 8192

typedef struct sn_record {
    seine_log_level level;
    const char *event, *message;
    const seine_log_field *fields;
    size_t n;
    int64_t wall;                  /* Unix ns */
    const char *service, *version; /* an empty one is left out */
    const char *thread;
    int64_t thread_id;
    const seine_secrets *secrets; /* NULL: none */
} sn_record;

typedef struct sn_line {
    size_t len;
    size_t place, fields; /* start and end of the part that names service and thread */
    bool is_over;         /* a field did not fit */
    char bytes[SN_LINE];
} sn_line;

void sn_line_begin(sn_line *line, seine_log_format f, const sn_record *r);
void sn_line_end(sn_line *line, seine_log_format f, uint64_t repeated);

/* Replaces the time of a begun line. */
void sn_line_stamp(sn_line *line, seine_log_format f, int64_t wall);

/* Equal for begun lines that differ only in time and thread. */
uint64_t sn_line_hash(const sn_line *line, seine_log_format f, const uint64_t secret[2]);

#endif
