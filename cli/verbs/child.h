/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.h - runs a command and measures it.
 *
 *     child_end end;
 *     if (!child_run("curl -s http://…", SEINE_SECS(10), &end))
 *         …                                 errno says why there was no process
 *
 * The command is a shell's. What it prints is counted and thrown away, what it says is
 * not heard. It has a process group of its own, which is killed when the time is over;
 * it dies with us.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/time.h>

typedef struct child_end {
    int code;       /* exit status; -1: it was ended */
    int signal;     /* that ended it; 0: none */
    bool late;      /* by us, because the time was over */
    uint64_t bytes; /* of standard output */
    seine_span took;
    uint64_t rss; /* the most memory it or a child of it had, in bytes */
} child_end;

bool child_run(const char *command, seine_span limit, child_end *out_end);

#endif
