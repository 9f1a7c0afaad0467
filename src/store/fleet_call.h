/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_call.h - what a worker of a fleet asks Redis: keys, and the functions of
 * seine1.lua.
 *
 * Each call comes in two halves, so that many of them go out together: `add` queues the
 * command, `read` takes its reply apart.
 *
 *     sn_fleet_key lease = sn_fleet_key_of(&job, 42, "lease");
 *     sn_fleet_add_acquire(r, &job, 42, incarnation, 15000);
 *     e = sn_redis_sync_next(r, &reply);
 *     e = sn_fleet_read_acquire(reply, &got);           got.epoch 0: somebody has it
 *
 * Keys of a partition carry "{JOB.PARTITION}", which keeps them on one node.
 *
 * Time    in ms, of the server.
 * Memory  the caller's.
 * Threads one owner.
 */
#ifndef SN_FLEET_CALL_H
#define SN_FLEET_CALL_H

#include "store/redis_sync.h"

enum {
    SN_FLEET_PARTS = 65536,   /* partitions of a job, at most … */
    SN_FLEET_MEMBERS = 65536, /* … and workers: one more could have no partition */
    SN_FLEET_INCARNATION = 32,
    SN_FLEET_CHUNK = 4095 /* prints in a full chunk: 32,760 bytes */
};

typedef struct sn_fleet_id {
    char text[12]; /* of a job: 8 hexadecimal digits */
} sn_fleet_id;

typedef struct sn_fleet_key {
    char text[64];
    size_t len;
} sn_fleet_key;

typedef struct sn_fleet_token { /* "incarnation|epoch" */
    char text[64];
    size_t len;
} sn_fleet_token;

/* The library of functions, for sn_redis_sync_opts. */
const char *sn_fleet_functions(void);

/* "sn:{0123abcd}:cfg", "sn:{0123abcd.42}:lease". */
sn_fleet_key sn_fleet_key_of_job(const sn_fleet_id *job, const char *name);
sn_fleet_key sn_fleet_key_of(const sn_fleet_id *job, uint32_t part, const char *name);
sn_fleet_key sn_fleet_key_of_chunk(const sn_fleet_id *job, uint32_t part, uint64_t chunk);
static inline sn_str
sn_fleet_key_view(const sn_fleet_key *k)
{
    return (sn_str){k->text, k->len};
}

sn_fleet_token sn_fleet_token_of(const char *incarnation, uint64_t epoch);

typedef struct sn_fleet_acquired {
    uint64_t epoch; /* 0: another worker has the lease … */
    int64_t now_ms;
    int64_t left_ms; /* … for so long */
    uint64_t prints; /* in the chunks of the partition */
    uint64_t cseq;   /* of its last commit */
} sn_fleet_acquired;

void sn_fleet_add_acquire(sn_redis_sync *r, const sn_fleet_id *job, uint32_t part,
                          const char *incarnation, int64_t ttl_ms);
/* STORE_UNAVAILABLE: an error of the server; PARSE: not such a reply. Likewise below. */
SEINE_MUST_CHECK seine_err sn_fleet_read_acquire(const sn_redis_reply *reply,
                                                 sn_fleet_acquired *out_acquired);

/* All leases of a worker in one call. The reply is the time, then 1 or 0 for each. */
typedef struct sn_fleet_lease {
    uint32_t part;
    sn_fleet_token token;
} sn_fleet_lease;

SEINE_MUST_CHECK seine_err sn_fleet_add_renew(sn_redis_sync *r, const sn_fleet_id *job,
                                              const sn_fleet_lease *leases, size_t n,
                                              int64_t ttl_ms);
void sn_fleet_add_release(sn_redis_sync *r, const sn_fleet_id *job, uint32_t part,
                          const sn_fleet_token *token);

/* Says that this worker lives for `ttl_ms` more (0: that it leaves), and asks who came
 * and went since the change of that number. The reply is the time, the number of the last
 * change, SN_FLEET_MET_…, and "+id:weight" or "-id:weight" of each change. */
enum {
    SN_FLEET_MET_CHANGES, /* since then */
    SN_FLEET_MET_ALL,     /* that live */
    SN_FLEET_MET_FULL     /* there are SN_FLEET_MEMBERS, and this one is not among them */
};

void sn_fleet_add_meet(sn_redis_sync *r, const sn_fleet_id *job, const char *member,
                       int64_t ttl_ms, int64_t since);

typedef struct sn_fleet_pair {
    sn_str name, value;
} sn_fleet_pair;

/* What becomes durable of one partition, all or nothing. Arrays are borrowed. */
typedef struct sn_fleet_commit {
    uint32_t part;
    sn_fleet_token token;
    uint64_t cseq;          /* one more than the last; the same for a repetition */
    uint64_t prints;        /* in the chunks before this commit */
    const uint64_t *added;  /* prints of URLs that ended */
    size_t n_added;         /* SN_FLEET_CHUNK at most */
    sn_str segment, length; /* name of the file, and what is committed of it */
    const sn_fleet_pair *counters, *hosts, *patterns, *bits;
    size_t n_counters, n_hosts, n_patterns, n_bits;
    const sn_str *done; /* entries of the inbox that are finished */
    size_t n_done;
} sn_fleet_commit;

typedef enum sn_fleet_committed {
    SN_FLEET_DONE,  /* now, or before the reply was lost */
    SN_FLEET_FENCED /* the lease is lost: nothing changed */
} sn_fleet_committed;

SEINE_MUST_CHECK seine_err sn_fleet_add_commit(sn_redis_sync *r, const sn_fleet_id *job,
                                               const sn_fleet_commit *c);
SEINE_MUST_CHECK seine_err sn_fleet_read_commit(const sn_redis_reply *reply,
                                                sn_fleet_committed *out_how);

/* Are the inboxes of these partitions empty, all at one moment? The reply is 1 or 0, and
 * how many entries were ever added to them. */
SEINE_MUST_CHECK seine_err sn_fleet_add_idle(sn_redis_sync *r, const sn_fleet_id *job,
                                             uint32_t from, uint32_t to);

/* Takes up to `want` tokens of a rate that the whole fleet shares. The reply is how many,
 * and if none, the microseconds until there is one. */
void sn_fleet_add_quota(sn_redis_sync *r, const sn_fleet_id *job, const char *name,
                        int64_t every_us, int64_t burst, int64_t want);

#endif
