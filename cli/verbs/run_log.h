/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_log.h - the log of a run on standard error: lines for people, or JSON lines with
 * --log json.
 */
#ifndef CLI_RUN_LOG_H
#define CLI_RUN_LOG_H

#include <stdbool.h>

#include <seine/log.h>

#include "options/fetch_settings.h"
#include "screen/terminal.h"

typedef struct run_log {
    terminal *terminal;
    seine_log *log; /* of the library; NULL: off */
    seine_log *own; /* of the program, with --log json; else NULL */
    int fd;         /* of --log-file; -1: none */
    bool quiet, text;
} run_log;

/* SAY_DONE, or the exit code after an error message. */
int run_log_open(run_log *v, const args *a, terminal *b);
void run_log_close(run_log *v);

/* Writes what waits. Returns how many lines the file of --log-file did not take. */
uint64_t run_log_flush(run_log *v);

/* Writes a line that is no error; --quiet leaves it out. */
void run_log_note(run_log *v, const char *event, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes an error of the kind `e` and what to try; hint NULL: nothing. */
void run_log_fail(run_log *v, seine_err e, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
