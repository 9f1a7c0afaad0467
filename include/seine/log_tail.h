/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_tail.h - the last lines of a log, for people who look at a page instead of a file.
 *
 *     seine_log_tail *tail;
 *     if (seine_log_tail_new(1, &tail) != SEINE_OK)
 *         return failure();
 *     seine_log_opts opts = SEINE_LOG_OPTS;
 *     opts.sink = seine_log_tail_sink;
 *     opts.arg = tail;
 *
 * The sink writes each line to a descriptor and keeps it. When the room is used up the
 * oldest lines go. Lines are as the log has written them: redacted, on one line each.
 *
 * This header belongs to the archive libseine-console.a.
 *
 * Time    plays no part.
 * Memory  256 KiB.
 * Threads any thread.
 */
#ifndef SEINE_LOG_TAIL_H
#define SEINE_LOG_TAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"

#define SEINE_LOG_TAIL_BYTES 262144

typedef struct seine_log_tail seine_log_tail;

SEINE_BEGIN

/* `fd` gets every line, too; below 0: nobody does. NOMEM. */
SEINE_MUST_CHECK seine_err seine_log_tail_new(int fd, seine_log_tail **out_tail);
void seine_log_tail_free(seine_log_tail *t);           /* NULL is fine */
void seine_log_tail_set_fd(seine_log_tail *t, int fd); /* a file that was opened again */

/* As seine_log_opts wants it; `tail` is a seine_log_tail. */
void seine_log_tail_sink(const char *line, size_t len, void *tail);

/* Copies whole lines, the newest that fit, oldest first, terminated. Returns how many
 * bytes; *out_lines is the number of all lines so far, may be NULL. */
size_t seine_log_tail_copy(seine_log_tail *t, char *out, size_t cap, uint64_t *out_lines);

SEINE_END

#endif
