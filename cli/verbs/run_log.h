/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_log.h - what a run says on standard error while it works: lines for people, or one
 * JSON object per line with --log json.
 */
#ifndef CLI_RUN_LOG_H
#define CLI_RUN_LOG_H

#include <stdbool.h>

#include <seine/log.h>

#include "options/fetch_settings.h"
#include "screen/terminal.h"

typedef struct run_log {
    terminal *terminal;
    seine_log *log; /* for the library; NULL: off */
    seine_log *own; /* of the program, when it speaks JSON; NULL */
    int fd;         /* of --log-file; -1 */
    bool quiet, text;
} run_log;

/* SAY_DONE, or it was said what is wrong. */
int run_log_open(run_log *v, const args *a, terminal *b);
void run_log_close(run_log *v);

/* A line without a verdict: nothing with --quiet. */
void run_log_note(run_log *v, const char *event, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What went wrong, and what to try (NULL: nothing); `e` is its kind. */
void run_log_fail(run_log *v, seine_err e, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
