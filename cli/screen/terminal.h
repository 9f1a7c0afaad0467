/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - what several threads write for people: lines on standard output, lines on
 * standard error, and below them a bar that comes and goes.
 *
 *     terminal_text(b, line, n)      a line for standard output, collected
 *     terminal_flush(b)              out with it
 *     terminal_err(b, line, n)       a line for standard error, at once
 *     terminal_bar(b, text)          the bar is now this; "" takes it away
 *
 * Where both streams are the same terminal the bar is taken away before a line is
 * written and put back after it. The cursor rests at the beginning of the bar, so that
 * everything from there on is its own, however wide the terminal has become.
 *
 * Threads any thread. terminal_bar and terminal_try never wait for a slow reader.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { TERMINAL_BAR = 4096 };

typedef struct terminal {
    pthread_mutex_t lock;
    char *text; /* for standard output, whole lines */
    size_t len, cap;
    char bar[TERMINAL_BAR];
    int failed; /* errno of standard output; 0 */
    bool shown; /* the bar is on the screen */
    bool line_buffered;
} terminal;

/* `live`: every line of standard output is written at once. */
void terminal_init(terminal *b, bool live);
void terminal_fini(terminal *b);

/* The errno of the first write that failed, or 0. */
int terminal_text(terminal *b, const char *bytes, size_t n);
int terminal_flush(terminal *b);

/* As much as can be written without waiting. */
int terminal_try(terminal *b);
int terminal_failed(terminal *b);

void terminal_err(terminal *b, const char *bytes, size_t n);

/* The same of what is no line of the log, which redacts its own: without secrets. */
void terminal_say(terminal *b, const char *bytes, size_t n);

/* At most two lines, without a line feed at the end. */
void terminal_bar(terminal *b, const char *text);

#endif
