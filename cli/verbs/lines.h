/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines.h - a file or standard input, line by line, in bounded memory.
 *
 *     lines in;
 *     if (lines_open(&in, path) != SAY_DONE)
 *         return SAY_USAGE;
 *     while (lines_next(&in) == LINES_ONE)
 *         use(in.text, in.len, in.number);
 *     lines_close(&in);
 *
 * Before it waits for more it lets go what standard output holds, so that a
 * program at the other end can ask line by line.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINES_LONGEST ((size_t)16 << 20)

typedef struct lines {
    char *text; /* the line, without its end; NUL-terminated, and may hold zeros */
    size_t len;
    uint64_t number;  /* the first is 1 */
    const char *name; /* for messages */

    int fd; /* below: private */
    char *buf;
    size_t start, end, cap;
    bool at_end;
} lines;

typedef enum lines_got { LINES_ONE, LINES_END, LINES_TOO_LONG, LINES_FAILED } lines_got;

/* `path` NULL or "-": standard input. Says what is wrong and answers SAY_USAGE. */
int lines_open(lines *in, const char *path);

/* TOO_LONG: the line is over the cap and has been passed by. FAILED: said so. */
lines_got lines_next(lines *in);
void lines_close(lines *in);

#endif
