/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_record.h - the records of `seine limit --exec -o FILE`: how each command ended.
 *
 *     exec_records all;
 *     if (exec_records_open(&all, "done.jsonl", false) != SAY_DONE)
 *         return SAY_USAGE;
 *     exec_records_put(&all, &result);
 *
 * A record is a `result` of the schema of all records, with the member `exec`. It is
 * written whole, when the command has ended.
 *
 * Threads any thread.
 */
#ifndef CLI_EXEC_RECORD_H
#define CLI_EXEC_RECORD_H

#include <pthread.h>

#include <seine/time.h>

#include "limit/paced_line.h"
#include "verbs/child_process.h"

struct limit_run;

typedef struct exec_records {
    int fd; /* -1: nobody asked for them */
    const char *path;
    pthread_mutex_t lock;
    uint64_t seq;
    int failed; /* errno of the first write that failed; 0 */
} exec_records;

typedef struct exec_result {
    const paced_line *line;
    char **argv;     /* NULL: it was not started */
    const char *why; /* then: why not */
    bool is_limited; /* it would have waited longer than --max-wait */
    uint32_t attempts;
    seine_time ready, started; /* on the clock of the system */
    child_end end;
} exec_result;

int exec_records_open(exec_records *all, const char *path, bool overwrite);
void exec_records_put(exec_records *all, const exec_result *result);

/* Writes the summary. False, after an error message: a record could not be written. */
bool exec_records_close(exec_records *all, const struct limit_run *run);

#endif
