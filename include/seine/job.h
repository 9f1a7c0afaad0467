/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - a fetch or crawl that survives kill -9: its state on disk.
 *
 * A job has a name and a directory of its own, .seine/NAME. Its file job.db holds every
 * URL that was found and every URL that has ended; what is left is the difference. The
 * sinks commit both together with the lengths of the outputs, some fifty times a second.
 * When the process is killed and the same job is opened again, the outputs are cut to
 * their committed lengths and the run goes on: every record is written once.
 *
 *     seine_job_opts o = SEINE_JOB_OPTS;
 *     o.name = "news";
 *     o.spec = "{\"seeds\":[\"https://e.example/\"]}";
 *     e = seine_job_open(&o, &job, &diag);
 *     seine_sinks_opts sinks = SEINE_SINKS_OPTS;
 *     sinks.job = job;                          and likewise that of seine_fetch_opts
 *     …
 *     e = seine_job_close(job, is_finished);    after seine_sinks_free
 *
 * A finished job may begin anew: a round is one visit of everything it knows. Its URLs
 * stay known, its outputs are appended to, and every URL has one record in every round.
 *
 * One process owns a job at a time. The directory must be on a local disk: locks and
 * syncs of network file systems are not reliable enough.
 *
 * Time    wall time is stored, so that a pause asked for by a server outlives the
 * process. Memory  a table of host names, a bit per URL, and what waits for the next
 * commit. Threads one owner; seine_job_figures_get: any thread.
 */
#ifndef SEINE_JOB_H
#define SEINE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_durable_job seine_durable_job;

typedef enum seine_durability {
    SEINE_DURABILITY_FULL, /* survives a loss of power */
    SEINE_DURABILITY_FAST  /* survives the process; power loss undoes up to a second */
} seine_durability;

typedef struct seine_job_opts {
    size_t size;         /* of this struct: SEINE_JOB_OPTS sets it */
    const char *state;   /* the directory of all jobs; NULL: ".seine" */
    const char *name;    /* 1 to 128 of A-Z a-z 0-9 . _ -; begins with none of . - */
    const char *verb;    /* "crawl"; NULL: "" */
    const char *spec;    /* a JSON object of all that shapes the results; NULL: "{}" */
    const char *command; /* JSON: the command line, as the caller likes; NULL: "[]" */
    seine_durability durability;
    bool fresh;        /* starts over: the old state is removed */
    bool must_exist;   /* IO if there is none */
    bool any_spec;     /* takes the job as it is, finished ones included */
    bool is_remote_ok; /* also on a network file system */
    bool next_round; /* a finished job begins its next round with all URLs it knows … */
    const char *const *round_members; /* … and may change these of its spec; NULL ends */
    bool next_run;  /* a finished job begins its next round with another spec and no URL:
                       outputs are new ones; notes and what is known of hosts stay */
    bool keep_kept; /* … and what came with the records of earlier rounds stays, too */
} seine_job_opts;

/* clang-format off */
#define SEINE_JOB_OPTS {sizeof(seine_job_opts), NULL, NULL, NULL, NULL, NULL, SEINE_DURABILITY_FULL, false, false, false, false, false, NULL, false, false}
/* clang-format on */

typedef struct seine_job_figures {
    uint64_t found;    /* URLs found or given */
    uint64_t ended;    /* of these */
    uint64_t emitted;  /* records committed */
    uint64_t next_seq; /* of the next record */
    uint64_t groups;   /* commits */
    uint64_t bytes;    /* of the files in its directory */
    uint32_t run;      /* 1 is the first */
    bool is_resumed;   /* an earlier run has left something */
    bool is_finished;
    int64_t created, updated; /* wall time, ns */
    uint32_t round;           /* 1, 2 …: which visit of everything it knows */
    uint64_t pages;           /* of which it knows the last copy */
} seine_job_figures;

SEINE_BEGIN

/* Opens or makes the job and locks it. STATE_LOCKED: another process has it.
 * STATE_CORRUPT, STATE_FOREIGN, STATE_NEWER: it is left alone. ALREADY: it is finished.
 * CONFIG: it was started with another spec; diag.member says what differs. IO, DISK_FULL,
 * NOMEM, INVAL. The diag is one line. */
SEINE_MUST_CHECK seine_err seine_job_open(const seine_job_opts *opts,
                                          seine_durable_job **out_job, seine_diag *diag);

/* Commits what is left and frees the job in every case; NULL is fine. DISK_FULL, IO: the
 * last commits may be lost. */
seine_err seine_job_close(seine_durable_job *j, bool is_finished);
/* The same; the diag says which file failed, why, and how many records are safe. */
seine_err seine_job_end(seine_durable_job *j, bool is_finished, seine_diag *diag);

void seine_job_figures_get(const seine_durable_job *j, seine_job_figures *out_figures);

/* Keeps a text under a name, in place of the one before; seine_fetch_opts.on_kept gets it
 * in later runs. After seine_fetch_finish; it is durable with the end of the job. INVAL:
 * the job has no fetch. NOMEM. */
SEINE_MUST_CHECK seine_err seine_job_note(seine_durable_job *j, const char *key,
                                          const char *bytes, size_t len);

/* What the job was started with; borrowed. */
const char *seine_job_spec(const seine_durable_job *j);
const char *seine_job_command(const seine_durable_job *j);
const char *seine_job_path(const seine_durable_job *j); /* its directory */

SEINE_END

#endif
