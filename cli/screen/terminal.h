/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal.h - lets several threads write lines to standard output and standard error,
 * above a progress bar.
 *
 *     terminal_text(b, line, n);     collects a line for standard output
 *     terminal_flush(b);             writes the collected lines
 *     terminal_err(b, line, n);      writes a line to standard error at once
 *     terminal_bar(b, text);         changes the bar; "" removes it
 *
 * Where both streams are the same terminal, the bar is removed before a line is written
 * and drawn again behind it. The cursor rests at the beginning of the bar, so that all of
 * the screen below the cursor belongs to the bar, whatever the width of the terminal.
 *
 * A reader that does not read blocks a writer until terminal_hurry is called.
 *
 * Threads any thread. terminal_bar and terminal_try never wait for a slow reader.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { TERMINAL_BAR = 4096 };

typedef struct terminal {
    pthread_mutex_t lock;
    char *text; /* whole lines that wait for standard output */
    size_t len, cap;
    char bar[TERMINAL_BAR];
    int failed; /* errno of standard output; 0 */
    bool shown; /* the bar is on the screen */
    bool line_buffered;
    bool is_deaf; /* nobody read standard error after terminal_hurry */
    atomic_bool hurry;
} terminal;

/* `live`: lines for standard output are written at once. */
void terminal_init(terminal *b, bool live);
void terminal_fini(terminal *b);

/* Both return the errno of the first write that failed, or 0. */
int terminal_text(terminal *b, const char *bytes, size_t n);
int terminal_flush(terminal *b);

/* The program must end: from now on lines that nobody reads for 20 ms are dropped; for
 * standard output terminal_failed is then ETIMEDOUT. */
void terminal_hurry(terminal *b);

/* Can a line be written to standard error without waiting? */
bool terminal_is_free(terminal *b);

/* Writes as much as possible without waiting. */
int terminal_try(terminal *b);
int terminal_failed(terminal *b);

void terminal_err(terminal *b, const char *bytes, size_t n);

/* Like terminal_err, but removes secrets. The log has removed its own already. */
void terminal_say(terminal *b, const char *bytes, size_t n);

/* Like terminal_say, and breaks lines that are wider than the terminal (fold.h). */
void terminal_tell(terminal *b, const char *bytes, size_t n);

/* At most two lines, without a line feed at the end. */
void terminal_bar(terminal *b, const char *text);

#endif
