/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child_process.h - runs a command and measures it.
 *
 *     child_end end;
 *     child_spec spec = {.shell = "curl -s http://127.0.0.1/", .limit = SEINE_SECS(10)};
 *     if (!child_run(&spec, &end))
 *         perror("no process");
 *
 * Standard input of the command is empty; what it writes is handed to `on_bytes`, or
 * dropped. The command has a process group of its own. The group is killed when the time
 * is over, when the command has ended and something that it started has not, and when
 * this process ends.
 *
 * Threads any thread; the calling thread waits.
 */
#ifndef CLI_CHILD_PROCESS_H
#define CLI_CHILD_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/time.h>

typedef void (*child_bytes_fn)(bool is_err, const char *bytes, size_t n, void *arg);

typedef struct child_spec {
    const char *shell; /* for /bin/sh -c; NULL: argv */
    char **argv;       /* searched in PATH; ended by NULL */
    seine_span limit;  /* SEINE_NEVER: none */
    child_bytes_fn on_bytes;
    void *arg;
    atomic_int *group; /* the process group while it runs, else 0; may be NULL */
} child_spec;

typedef struct child_end {
    int code;       /* exit status; -1: a signal ended it; 127: it could not be started */
    int signal;     /* the signal that ended it; 0: none */
    bool late;      /* this process ended it, because the time was over */
    uint64_t bytes; /* of standard output */
    seine_span took;
    uint64_t rss; /* the most memory of the command or a child of it, in bytes */
} child_end;

bool child_run(const child_spec *spec, child_end *out_end);

#endif
