/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_process.h - runs a shell command and measures it.
 *
 *     child_end end;
 *     if (!child_run("curl -s http://127.0.0.1/", SEINE_SECS(10), &end))
 *         perror("no process");
 *
 * Standard output of the command is counted and dropped, standard error is dropped. The
 * command has a process group of its own, which is killed when the time is over and when
 * this process ends.
 */
#ifndef CLI_CHILD_PROCESS_H
#define CLI_CHILD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/time.h>

typedef struct child_end {
    int code;       /* exit status; -1: a signal ended it */
    int signal;     /* the signal that ended it; 0: none */
    bool late;      /* this process ended it, because the time was over */
    uint64_t bytes; /* of standard output */
    seine_span took;
    uint64_t rss; /* the most memory of the command or a child of it, in bytes */
} child_end;

bool child_run(const char *command, seine_span limit, child_end *out_end);

#endif
