/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - reads a file or standard input line by line, in bounded memory.
 *
 *     lines in;
 *     if (lines_open(&in, path) != SAY_DONE)
 *         return SAY_USAGE;
 *     while (lines_next(&in) == LINES_ONE)
 *         out_bytes(in.text, in.len);
 *     lines_close(&in);
 *
 * The reader flushes standard output before it waits for input, so that a program at the
 * other end can ask line by line.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_LONGEST ((size_t)16 << 20)

typedef struct lines {
    char *text; /* the line without its line end, terminated; may hold zeros */
    size_t len;
    uint64_t number;  /* the first is 1 */
    uint64_t waits;   /* unchanged since the line before: this one was there already */
    const char *name; /* for messages */

    int fd; /* below: private */
    char *buf;
    size_t start, end, cap;
    bool at_end;
} lines;

typedef enum lines_got { LINES_ONE, LINES_END, LINES_TOO_LONG, LINES_FAILED } lines_got;

/* `path` NULL or "-": standard input. SAY_DONE, or SAY_USAGE after an error message. */
int lines_open(lines *in, const char *path);

/* TOO_LONG: the line exceeds the cap and was skipped. FAILED: after an error message. */
lines_got lines_next(lines *in);
void lines_close(lines *in);

#endif
