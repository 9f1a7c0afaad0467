/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_parts.h - a fleet as its own files see it:
 *
 *     fleet_worker.c   opens, makes and joins a job; the job's functions
 *     fleet_check.c    is the server fit to keep a job?
 *     fleet_keeper.c   leases and partitions
 *     fleet_members.c  who else works on the job, and whose a partition should be
 *     fleet_end.c      has the job ended?
 *     fleet_inbox.c    blocks that come in
 *     fleet_outbox.c   links that go out
 *     fleet_tenure.c   what one worker knows of a partition while it has the lease
 *     fleet_commit.c   records to segments, ended URLs to Redis
 *     fleet_row.c      what a host is like, as bytes
 *     fleet_pattern.c  how many pages its path patterns had
 *
 * Time    as fleet_worker.h says.
 * Memory  of the fleet.
 * Threads `lock` guards tenures and what hangs on them; connections have one owner each.
 */
#ifndef SN_FLEET_PARTS_H
#define SN_FLEET_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/rng.h"
#include "seine/psl.h"
#include "store/fleet_worker.h"
#include "store/job_lane.h"

enum {
    SN_FLEET_TENURES = 1 << 20, /* of one process */
    SN_FLEET_LOW = 4096,        /* URLs of a partition in memory; below, more are read */
    SN_FLEET_ENTRY_ID = 44,
    SN_FLEET_ROW = 1 + 20 * 10 /* bytes of a host row, at most */
};

#define SN_FLEET_NUMBER(tenure, entry, bit) \
    ((uint64_t)(tenure) << 40 | (uint64_t)(entry) << 8 | (uint64_t)(bit))
#define SN_FLEET_TENURE(number) ((uint32_t)((number) >> 40 & (SN_FLEET_TENURES - 1)))
#define SN_FLEET_ENTRY(number)  ((uint32_t)((number) >> 8))
#define SN_FLEET_BIT(number)    ((uint32_t)((number)&255))

/* How a tenure stands, for shards. */
enum { SN_TENURE_NONE, SN_TENURE_HELD, SN_TENURE_LEAVING, SN_TENURE_LOST };

typedef struct sn_fleet_bits {
    uint8_t bytes[SN_FLEET_LINKS / 8];
} sn_fleet_bits;

/* A block of the inbox. */
typedef struct sn_fleet_entry {
    char id[SN_FLEET_ENTRY_ID];
    uint32_t n, left;   /* links; those that have not ended */
    bool is_changed;    /* bits that the next commit has to carry */
    sn_fleet_bits done; /* set: it has ended */
    uint64_t *prints;   /* n; NULL when all have ended */
} sn_fleet_entry;

typedef struct sn_fleet_row { /* of a host, as it goes into Redis */
    struct sn_fleet_row *next;
    size_t name_len;
    size_t len;      /* of the name and the row behind it */
    bool is_awaited; /* the engine asks no page of the host before it is committed */
    char bytes[];
} sn_fleet_row;

typedef struct sn_fleet_count { /* of pages of a path pattern, as it goes into Redis */
    char value[24];             /* their number, or "trap" */
    size_t name_len;
    char name[];
} sn_fleet_count;

typedef struct sn_fleet_mark {
    uint32_t entry;
    bool is_done;
    sn_fleet_bits bits; /* as of the batch */
} sn_fleet_mark;

/* What the next commit carries. */
typedef struct sn_fleet_batch {
    uint64_t *prints;
    size_t n_prints, prints_room;
    sn_fleet_mark *marks; /* filled when the batch is closed */
    size_t n_marks, marks_room;
    sn_fleet_row *rows, *last_row;
    size_t n_rows;
    sn_map patterns; /* "KEY HOST" to sn_fleet_count, the newest alone */
    int64_t emitted, refused, ok, failed; /* records */
    uint64_t seg_len, seg_records;        /* of the segment, all in all */
    uint64_t cseq;
    bool is_sent; /* closed: it is repeated until there is a reply */
} sn_fleet_batch;

typedef struct sn_tenure {
    uint32_t index, part;
    uint32_t place; /* in sn_fleet.all */
    uint64_t epoch;
    sn_fleet_token token;
    uint64_t prints, cseq; /* as of the last commit */
    seine_time since, leaving_since;
    sn_fleet_entry *entries;
    uint32_t n_entries, entries_room;
    uint32_t *changed; /* entries whose bits have changed since the last batch */
    uint32_t n_changed, changed_room;
    uint64_t waiting; /* URLs that have not ended */
    sn_fleet_batch next, sent;
    int fd; /* of the segment; -1: none */
    char segment[48];
    sn_buf text; /* of the segment, not written yet */
    uint64_t written, records;
    bool is_unsynced;
    bool needs_claim; /* a connection was lost: blocks may have been, too */
    bool is_busy;     /* the sink thread uses it outside of the lock: it is not freed */
} sn_tenure;

typedef struct sn_outbox_block { /* of links to one partition */
    sn_fleet_block links;
    bool is_used;
} sn_outbox_block;

typedef struct sn_outbox_packed { /* on its way to an inbox */
    struct sn_outbox_packed *next;
    uint32_t part, n;
    bool is_late; /* for the end of the job, not for the inbox */
    size_t len;
    char bytes[];
} sn_outbox_packed;

typedef struct sn_fleet_server {
    sn_redis_url url;
    sn_redis_sync *keeper, *sink; /* connections */
    char run_id[48];
    seine_time retry_at;   /* of the keeper's connect … */
    seine_span pause;      /* … and the pause before */
    seine_time away_since; /* NEVER: it answers */
    seine_time sink_retry_at;
    seine_span sink_pause;
} sn_fleet_server;

typedef struct sn_fleet_member {
    uint64_t id; /* of the 16 first digits of its incarnation */
    double weight;
} sn_fleet_member;

struct sn_fleet {
    seine_clock *clock;
    seine_time (*up)(seine_clock *c);
    seine_durable_job *job;
    sn_fleet_server servers[SN_FLEET_SERVERS];
    uint32_t n_servers;
    sn_fleet_id id;
    char *name, *command, *out;
    char incarnation[SN_FLEET_INCARNATION + 1];
    /* "incarnation:weight:lease in ms:host name" */
    char member[SN_FLEET_INCARNATION + 120];
    char host_name[65];
    uint32_t parts, weight;
    uint64_t secret[2];
    seine_psl *psl;
    seine_span lease, wait;
    uint64_t record_members;
    bool is_new;
    _Atomic bool is_seeded;
    sn_rng dice;

    pthread_mutex_t lock;
    sn_tenure **by_part;  /* the tenure of a partition; NULL: not held */
    sn_tenure **by_index; /* chunks are not needed: pointers, SN_FLEET_TENURES of them */
    sn_tenure **all;      /* those of by_part in a row, `held` of them: a turn costs what
                             is held, not what the job has */
    uint32_t n_tenures;   /* that there ever were; the first is 1 */
    uint32_t held;
    bool *was_held;          /* by partition */
    sn_fleet_row *kept_rows; /* committed, and to be told to the engine */

    /* for shards */
    _Atomic uint8_t *states;    /* by tenure: SN_TENURE_… */
    _Atomic uint32_t *out_of;   /* by tenure: URLs that are visits */
    _Atomic int64_t *since;     /* by tenure: when the lease was taken */
    _Atomic uint32_t *held_by;  /* by partition: the tenure that is held; 0: none */
    _Atomic uint64_t n_lost;    /* tenures */
    _Atomic int64_t renewed_up; /* `up` when the last good renewal was sent */
    _Atomic uint64_t generation;
    _Atomic int64_t tokens;   /* starts that the rate of the fleet still grants here */
    int64_t every_us;         /* of that rate; 0: there is none */
    _Atomic int64_t ahead_ms; /* time of the server − wall time */

    /* the keeper's */
    seine_time renew_at, balance_at, idle_at, ask_at, quota_at, claim_at;
    uint32_t read_from;        /* of `all`: whose inbox is asked for first */
    bool is_leaving, is_known; /* seeds and scope are read */
    uint64_t n_widened;        /* that the engine has heard of … */
    uint64_t n_wide;           /* … and that there are in Redis */
    sn_fleet_member *members;  /* that live */
    uint32_t n_members, members_room;
    int64_t last_change; /* of the members that was heard of; 0: none */
    bool *mine;          /* by partition: it should be this worker's … */
    uint32_t *own;       /* … and those in a row, n_own of them … */
    uint32_t n_own;
    bool is_shared_out; /* … as the members are now */
    bool is_stopped, is_done;
    uint32_t seeds_out; /* that were named, and have no reply yet */
    char *said;         /* of seine jobs set, as JSON; NULL: nothing; under the lock */
    uint64_t said_rev;

    /* the sink thread's */
    sn_outbox_block *outbox; /* by partition; then the same for the end of the job */
    sn_outbox_packed *packed, **packed_end;
    size_t packed_bytes;
    seine_time committed_at, blocks_since;
    uint64_t links_out;
    seine_time sink_away_since;

    _Atomic int err;          /* seine_err */
    seine_diag why;           /* written before err is set */
    _Atomic uint64_t pending; /* results and bytes that wait for Redis */
    _Atomic uint64_t n_commits, n_records, n_links, n_blocks, n_fenced, n_waiting;
    _Atomic bool is_away, is_full, is_paused;
    _Atomic uint32_t shown_held, shown_members;
};

static inline sn_fleet_server *
sn_fleet_server_of(sn_fleet *f, uint32_t part)
{
    return &f->servers[part % f->n_servers];
}

/* fleet_worker.c */
seine_err sn_fleet_fail(sn_fleet *f, seine_err e, const seine_diag *why);

/* fleet_check.c: of a server that was opened. CONFIG; *out_warning "" or a line. */
SEINE_MUST_CHECK seine_err sn_fleet_check_server(sn_redis_sync *r, bool accepts_loss,
                                                 const char *shown,
                                                 char out_warning[SEINE_DIAG_ROOM],
                                                 seine_diag *diag);

/* fleet_keeper.c */
/* Blocks of partitions of that server may have been given out and not have come here. */
void sn_fleet_claim_later(sn_fleet *f, uint32_t server);

/* fleet_members.c: the keeper */
/* Says that this worker lives, and hears of the others and of the state of the job. */
SEINE_MUST_CHECK seine_err sn_fleet_meet(sn_fleet *f);
void sn_fleet_part_from(sn_fleet *f); /* the others need not wait until it is missed */
bool sn_fleet_is_mine(sn_fleet *f, uint32_t part);
/* The partitions that should be this worker's, in their order. */
const uint32_t *sn_fleet_own_parts(sn_fleet *f, uint32_t *out_n);
/* How long a keeper waits for a block. All workers together ask so often that one server
 * can answer. */
seine_span sn_fleet_patience(const sn_fleet *f);

/* fleet_end.c: the keeper */
SEINE_MUST_CHECK seine_err sn_fleet_look_for_end(sn_fleet *f,
                                                 const sn_fleet_hooks *hooks);

/* fleet_tenure.c: all under the lock */
SEINE_MUST_CHECK seine_err sn_tenure_new(sn_fleet *f, uint32_t part,
                                         const sn_fleet_acquired *a,
                                         sn_tenure **out_tenure);
void sn_tenure_set(sn_fleet *f, const sn_tenure *t, uint8_t state); /* for shards */
void sn_tenure_end(sn_fleet *f, sn_tenure *t); /* its memory goes; the number stays */
sn_tenure *sn_tenure_of(const sn_fleet *f, uint64_t number); /* NULL: it is over */
/* One more block; `done` has the bits of an earlier tenure. NOMEM. */
SEINE_MUST_CHECK seine_err sn_tenure_add(sn_tenure *t, sn_str id, uint32_t n,
                                         const sn_fleet_bits *done, uint32_t *out_entry);
/* The URL has ended. *out_print: of a URL that joins the prints; false: it had ended. */
bool sn_tenure_finish(sn_fleet *f, sn_tenure *t, uint64_t number, uint64_t *out_print);
void sn_tenure_forget(sn_fleet *f, sn_tenure *t); /* entries and batches */
void sn_fleet_batch_clear(sn_fleet_batch *b);

/* fleet_inbox.c */
SEINE_MUST_CHECK seine_err sn_fleet_load(sn_fleet *f, sn_tenure *t,
                                         const sn_fleet_hooks *hooks);
/* The blocks that this worker, or one before it, has been given. */
SEINE_MUST_CHECK seine_err sn_fleet_claim(sn_fleet *f, sn_tenure *t,
                                          const sn_fleet_hooks *hooks);
/* *out_waited: blocks came, or none within `patience`; else nobody was asked, or not so
 * that it waits. */
SEINE_MUST_CHECK seine_err sn_fleet_read_inboxes(sn_fleet *f, const sn_fleet_hooks *hooks,
                                                 seine_span patience, bool *out_waited);

/* fleet_outbox.c: the sink thread */
SEINE_MUST_CHECK seine_err sn_outbox_add(sn_fleet *f, const sn_fleet_link *l);
SEINE_MUST_CHECK seine_err sn_outbox_pack_all(sn_fleet *f);
/* Sends what is packed. STORE_UNAVAILABLE: some of it still waits. */
SEINE_MUST_CHECK seine_err sn_outbox_send(sn_fleet *f);
void sn_outbox_fini(sn_fleet *f);

/* fleet_row.c: what a host is like, as bytes; moments are those of the server. */
size_t sn_fleet_row_write(const int64_t *columns, size_t n, int64_t ahead_ms,
                          char out[SN_FLEET_ROW], bool *out_awaited);
bool sn_fleet_row_read(sn_str bytes, int64_t ahead_ms, sn_job_host *out_row);

/* fleet_pattern.c: path patterns of hosts, to Redis and back */
SEINE_MUST_CHECK seine_err sn_fleet_take_pattern(sn_fleet *f, sn_str name, sn_str value,
                                                 bool is_trap); /* the sink thread */
void sn_fleet_patterns_clear(sn_map *patterns);
SEINE_MUST_CHECK seine_err sn_fleet_load_patterns(sn_fleet *f, const sn_tenure *t,
                                                  const sn_fleet_hooks *hooks);

/* fleet_commit.c: the sink thread */
SEINE_MUST_CHECK seine_err sn_fleet_take_op(sn_fleet *f, const sn_job_op *op);
SEINE_MUST_CHECK seine_err sn_fleet_take_result(sn_fleet *f, const seine_record *r,
                                                uint64_t seq);
SEINE_MUST_CHECK seine_err sn_fleet_commit_all(sn_fleet *f, bool now, seine_diag *diag);
bool sn_fleet_is_ready(const sn_fleet *f);
bool sn_fleet_has_work(const sn_fleet *f);
/* A connection that was lost is made again, at its time. STORE_UNAVAILABLE: not now. */
SEINE_MUST_CHECK seine_err sn_fleet_reach(sn_fleet *f, sn_redis_sync *r, seine_time *at,
                                          seine_span *pause);

#endif
