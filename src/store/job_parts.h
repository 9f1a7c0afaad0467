/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_parts.h - a job as its own files see it:
 *
 *     job.c          opens, makes, closes; figures
 *     job_files.c    directory, lock, ballast; which file systems will do
 *     job_format.c   declarations of the tables, those of older formats among them
 *     job_table.c    rows with their CRC
 *     job_pack.c     sixteen rows in one of SQLite
 *     job_batch.c    many rows by one statement
 *     job_lane.c     operations on their way
 *     job_put.c      what shards append
 *     job_commit.c   one group
 *     job_note.c     what is kept by kind and key: counts, attempts
 *     job_output.c   lengths of the outputs
 *     job_scan.c     what earlier runs have left
 *     job_page.c     what is known of a page
 *     job_round.c    a finished job begins anew with all it knows
 *     job_hosts.c    names of hosts and their numbers; bits of ended URLs
 *     job_view.c     a job as others see it
 *     job_find.c     what it knows of one URL
 *     job_orphans.c  pages that nothing names any more
 *     job_records.c  its results as records
 *     job_timeline.c what its runs were like over time
 *     job_repair.c   what can be read of a damaged one
 *     job_retry.c    results that are forgotten
 *     job_remote.c   a job that is kept elsewhere
 *
 * Time    wall time in ms.
 * Memory  of the job.
 * Threads as job.h says.
 */
#ifndef SN_JOB_PARTS_H
#define SN_JOB_PARTS_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "store/job_batch.h"
#include "store/job_page.h"
#include "store/job_table.h"

/* What a link check keeps beside the state: the pages of its crawl, and the answers of
 * single links. */
#define SN_JOB_PAGES   "pages.jsonl.zst"
#define SN_JOB_ANSWERS "answers.jsonl"

enum {
    SN_JOB_OUTPUTS = 64,
    SN_JOB_FULL = 16 << 20, /* bytes in lanes at which nothing new starts */
    SN_JOB_BALLAST = 4 << 20,
    SN_JOB_SKIP = 4096 /* a row of `result` with this kind or a higher one is a skip */
};

typedef enum sn_job_state {
    SN_JOB_RUNNING,
    SN_JOB_STOPPED,
    SN_JOB_FINISHED
} sn_job_state;

typedef struct sn_job_facts {
    int64_t created_ms, run, state, clean, durability;
    uint64_t secret[2];
    char *name, *verb, *spec, *command, *boot_id;
} sn_job_facts;

/* The row `head`: one integer each, in this order, after the id. */
/* clang-format off */
#define SN_JOB_HEAD(X) \
    X(grp) X(updated_ms) X(next_number) X(next_seq) X(urls) X(requests) X(results) \
    X(ended) X(hosts) X(robots) X(notes) X(outputs) X(synced_seq)
/* clang-format on */

typedef struct sn_job_head {
#define X(column) int64_t column;
    SN_JOB_HEAD(X)
    SN_JOB_SUMS(X)
#undef X
} sn_job_head;

typedef struct sn_job_name {
    sn_str name;
    int64_t id;
} sn_job_name;

typedef struct sn_job_print {
    uint64_t number, print;
} sn_job_print;

typedef struct sn_job_mark { /* of an output */
    sn_job_output out;
    char *path, *detail;
    int64_t id, synced, synced_crc;
    bool is_dirty, is_stored, has_end;
    int64_t end_committed, end_crc; /* when the job is finished */
    char end_detail[16];
} sn_job_mark;

typedef struct sn_job_bits {
    uint64_t *words;
    size_t n;
} sn_job_bits;

/* A job that is kept elsewhere (fleet_worker.h): lanes and records pass through here, the
 * rest is the other's. */
typedef struct sn_job_remote {
    seine_err (*result)(void *self, const seine_record *r, uint64_t seq);
    seine_err (*op)(void *self, const sn_job_op *op);
    seine_err (*commit)(void *self, bool is_end, seine_diag *diag);
    bool (*is_ready)(const void *self);
    bool (*has_work)(const void *self);
} sn_job_remote;

struct seine_durable_job {
    const sn_job_remote *remote; /* NULL: it is in a directory */
    void *self;                  /* of the remote */
    char *dir;                   /* ".seine/NAME" */
    int dir_fd, lock_fd;
    sn_sqlite *db;
    sn_job_table tables[SN_TABLES];
    sn_job_batch new_urls, new_results; /* of the group that is being written */
    sn_sqlite_stmt *begin, *commit;     /* NULL: not needed yet; the connection's */
    const sn_job_name *last_host;       /* that was found; NULL: none */
    sn_job_facts facts;
    sn_job_head head;
    bool is_resumed, is_scanned;
    bool is_synced;       /* FAST: the next commit is … */
    seine_time synced_at; /* … and one from then on */
    bool is_remote;       /* on a network file system */
    bool has_ballast;
    seine_err err;    /* the first failure of a commit */
    int cause;        /* its errno */
    bool is_given_up; /* an output has failed: nothing more is committed */
    seine_diag why;

    _Atomic unsigned n_lanes; /* 0: not started */
    unsigned n_open;          /* those that the group takes */
    sn_job_lane *lanes;
    void (*wake)(void *arg);
    void *wake_arg;
    void (*hear_links)(sn_str packed, void *arg); /* NULL: nobody asks for them */
    void *links_arg;

    sn_map hosts; /* name → sn_job_name */
    sn_job_name **by_id;
    size_t by_id_room;
    sn_arena names;
    sn_job_bits done; /* numbers that have a result, or ended without one */

    sn_job_ended_row *results; /* of the next group */
    size_t n_results, results_room;
    sn_job_print *prints; /* of refused URLs whose record has not come yet, by number */
    size_t n_prints, prints_room;
    uint64_t *tried; /* ended in the group that is being written */
    size_t n_tried, tried_room;
    uint64_t *held; /* ended without a record: the last group has taken them … */
    size_t n_held, held_room;
    uint64_t *taken; /* … and the one that is being written */
    size_t n_taken, taken_room;
    sn_job_sums sums;           /* of the next group */
    sn_job_counts counts;       /* of all runs, as of the last commit … */
    sn_job_counts counted;      /* … and of the group that is being written */
    sn_buf pages;               /* of the next group, packed */
    sn_buf kept;                /* likewise, what came with records */
    bool forgets;               /* a next round knows no URL … */
    bool keeps_kept;            /* … and what came with records of earlier ones */
    sn_job_round round;         /* as of the last commit … */
    sn_job_round told;          /* … and of the group that is being written */
    sn_job_bits has_page;       /* numbers that had a row of `page` at the scan */
    uint64_t last_seq, end_seq; /* end_seq: when the job is finished; 0: as last_seq */
    sn_job_mark *outputs[SN_JOB_OUTPUTS];
    unsigned n_outputs;

    _Atomic uint64_t shown_found, shown_ended, shown_emitted, shown_seq, shown_groups;
    _Atomic uint64_t shown_pages;
    _Atomic int64_t shown_updated;
};

/* job.c */
bool sn_job_is_name(const char *name);
seine_durable_job *sn_job_new(void); /* empty: nothing is open. NULL: no memory */
SEINE_MUST_CHECK seine_err sn_job_quick_check(seine_durable_job *j);
/* "cannot open DIR/job.db: CAUSE", unless the diag says something already. */
void sn_job_say_db(const seine_durable_job *j, seine_err e, seine_diag *diag);
/* Pages to read, if all is in the file; else there are none. STATE_CORRUPT, IO. */
SEINE_MUST_CHECK seine_err sn_job_open_pages(seine_durable_job *j, sn_sqlite_pages *out);
SEINE_MUST_CHECK seine_err sn_job_read_facts(seine_durable_job *j);
SEINE_MUST_CHECK seine_err sn_job_read_head(seine_durable_job *j);
void sn_job_free(seine_durable_job *j); /* nothing is committed */

/* job_files.c: all say what is wrong in the diag. */
SEINE_MUST_CHECK seine_err sn_job_dir_open(seine_durable_job *j, const seine_job_opts *o,
                                           seine_diag *diag);
SEINE_MUST_CHECK seine_err sn_job_lock(seine_durable_job *j, const char *name,
                                       seine_diag *diag);
/* Has another process the job? *out_pid is its number; 0: nobody knows. */
bool sn_job_is_locked(const seine_durable_job *j, int64_t *out_pid);
/* "cannot WHAT PATH: CAUSE". */
seine_err sn_job_fail(const char *what, const char *path, int error, seine_diag *diag);
/* Syncs the new database and gives it its name, which is durable when the directory is
 * synced. FSYNC_FAILED, IO, DISK_FULL. */
SEINE_MUST_CHECK seine_err sn_job_rename_new(const seine_durable_job *j, int fd,
                                             seine_diag *diag);
/* That, and syncs the directory. */
SEINE_MUST_CHECK seine_err sn_job_settle(const seine_durable_job *j, int fd,
                                         seine_diag *diag);
bool sn_job_file_exists(const seine_durable_job *j, const char *name);
void sn_job_remove_state(seine_durable_job *j); /* all but the lock */
/* All files of a job that we hold the lock of, and its directory. */
SEINE_MUST_CHECK seine_err sn_job_remove_all(seine_durable_job *j, seine_diag *diag);
void sn_job_make_ballast(seine_durable_job *j);
bool sn_job_drop_ballast(seine_durable_job *j); /* false: there is none */
uint64_t sn_job_disk_use(const seine_durable_job *j);
void sn_job_boot_id(char out[64]);
SEINE_MUST_CHECK seine_err sn_job_check_head(const seine_durable_job *j,
                                             seine_diag *diag);

/* job_hosts.c */
SEINE_MUST_CHECK seine_err sn_job_host_find(seine_durable_job *j, sn_str name,
                                            sn_job_name **out_host);
/* For the scan: a host of that number. STATE_CORRUPT: there is one. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_host_add(seine_durable_job *j, int64_t id, sn_str name,
                                           sn_job_name **out_host);
sn_str sn_job_host_shown(sn_str name); /* without the port that is the scheme's own */
bool sn_job_bit_get(const sn_job_bits *b, uint64_t number);
SEINE_MUST_CHECK seine_err sn_job_bit_set(sn_job_bits *b, uint64_t number);
void sn_job_bit_clear(sn_job_bits *b, uint64_t number);

/* job_note.c: notes in a transaction; what the scan finds of those that are the job's
 * own; how a new round or a retry begins without them */
SEINE_MUST_CHECK seine_err sn_job_apply_note(seine_durable_job *j, const sn_job_op *op,
                                             sn_job_head *h);
void sn_job_apply_counted(seine_durable_job *j, const sn_job_op *op);
SEINE_MUST_CHECK seine_err sn_job_put_counts(seine_durable_job *j, sn_job_head *h);
SEINE_MUST_CHECK seine_err sn_job_take_note(seine_durable_job *j, const sn_job_row *row,
                                            const sn_job_scan *into);
SEINE_MUST_CHECK seine_err sn_job_forget_notes(seine_durable_job *j, sn_job_head *h);
/* The orphans of this round were told: the next group says so. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_keep_told(seine_durable_job *j);
/* Has a group said so? STATE_CORRUPT, IO. */
SEINE_MUST_CHECK seine_err sn_job_has_told(seine_durable_job *j, bool *out_is);

/* job_page.c: the page of a row; rows in a transaction; those of a group, and, when it is
 * committed, what is in memory of them */
void sn_job_page_of(const sn_job_row *row, sn_job_page *out);
SEINE_MUST_CHECK seine_err sn_job_put_page(seine_durable_job *j, const sn_job_page *p);
SEINE_MUST_CHECK seine_err sn_job_put_round(seine_durable_job *j, const sn_job_round *r);
SEINE_MUST_CHECK seine_err sn_job_put_pages(seine_durable_job *j);
void sn_job_keep_pages(seine_durable_job *j);
/* What came with a record waits for the next group. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_take_kept(seine_durable_job *j, const seine_record *r);
SEINE_MUST_CHECK seine_err sn_job_put_kept(seine_durable_job *j, sn_job_head *h);
/* The page of a record joins the next group. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_take_page(seine_durable_job *j, const seine_record *r);

/* job_round.c */

SEINE_MUST_CHECK seine_err sn_job_format(sn_sqlite *db, int64_t *out_format);
/* Brings an older format to this one. STATE_CORRUPT, DISK_FULL, IO, NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_upgrade(seine_durable_job *j);
SEINE_MUST_CHECK seine_err sn_job_read_round(seine_durable_job *j);
/* The job is finished: in one transaction, with its facts, it is in the next round, where
 * no URL has ended. */
SEINE_MUST_CHECK seine_err sn_job_next_round(seine_durable_job *j);

/* job_view.c */
struct seine_job_view;
/* job_depths.c: sets depth and parent of every URL to the shortest way that the pages of
 * the last round know; numbers are below `n_numbers`. NOMEM, IO, STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_job_find_depths(seine_durable_job *j, int64_t n_numbers);

seine_durable_job *sn_job_of_view(struct seine_job_view *v); /* not to be written to */

/* job_output.c */
SEINE_MUST_CHECK seine_err sn_job_outputs_load(seine_durable_job *j);
void sn_job_outputs_free(seine_durable_job *j);
/* What sn_job_output_end has said becomes the marks. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_outputs_end(seine_durable_job *j);

/* job_remote.c */
/* A job without a directory. NOMEM. */
SEINE_MUST_CHECK seine_err sn_job_remote_new(const sn_job_remote *remote, void *self,
                                             const char *name, const uint64_t secret[2],
                                             seine_durable_job **out_job);
/* There is something to commit that no record announces. Any thread. */
void sn_job_remote_wake(seine_durable_job *j);
SEINE_MUST_CHECK seine_err sn_job_remote_commit(seine_durable_job *j, bool is_end,
                                                seine_diag *diag);

/* job_commit.c */
int64_t sn_job_wall_ms(void);
SEINE_MUST_CHECK seine_err sn_job_put_facts(seine_durable_job *j);
SEINE_MUST_CHECK seine_err sn_job_put_head(seine_durable_job *j, const sn_job_head *h);
/* The facts, of a finished job with the ends of its outputs: all or nothing. */
SEINE_MUST_CHECK seine_err sn_job_put_end(seine_durable_job *j);
/* What failed first and what is safe, in j->why; called before the database forgets it.
 */
void sn_job_say_why(seine_durable_job *j, seine_err e);
void sn_job_show(seine_durable_job *j); /* the figures of the head */

#endif
