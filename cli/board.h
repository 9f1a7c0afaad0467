/* SPDX-License-Identifier: Apache-2.0 */
/*
 * board.h - what several threads write for people: lines on standard output, lines on
 * standard error, and below them a bar that comes and goes.
 *
 *     board_text(b, line, n)      a line for standard output, collected
 *     board_flush(b)              out with it
 *     board_err(b, line, n)       a line for standard error, at once
 *     board_bar(b, text)          the bar is now this; "" takes it away
 *
 * Where both streams are the same terminal the bar is taken away before a line is
 * written and put back after it. The cursor rests at the beginning of the bar, so that
 * everything from there on is its own, however wide the terminal has become.
 *
 * Threads any thread. board_bar and board_try never wait for a slow reader.
 */
#ifndef CLI_BOARD_H
#define CLI_BOARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { BOARD_BAR = 4096 };

typedef struct board {
    pthread_mutex_t lock;
    char *text; /* for standard output, whole lines */
    size_t len, cap;
    char bar[BOARD_BAR];
    int failed; /* errno of standard output; 0 */
    bool shown; /* the bar is on the screen */
    bool line_buffered;
} board;

/* `live`: every line of standard output is written at once. */
void board_init(board *b, bool live);
void board_fini(board *b);

/* The errno of the first write that failed, or 0. */
int board_text(board *b, const char *bytes, size_t n);
int board_flush(board *b);

/* As much as can be written without waiting. */
int board_try(board *b);
int board_failed(board *b);

void board_err(board *b, const char *bytes, size_t n);

/* The same of what is no line of the log, which redacts its own: without secrets. */
void board_say(board *b, const char *bytes, size_t n);

/* At most two lines, without a line feed at the end. */
void board_bar(board *b, const char *text);

#endif
