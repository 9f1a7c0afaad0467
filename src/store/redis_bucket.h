/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_bucket.h - token buckets in Redis that several programs share.
 *
 * A bucket is one key with the moment at which it is full again; redis_bucket.lua has the
 * arithmetic of guard/gcra.h, exact to the nanosecond, on the clock of the server. A key
 * expires a second after its bucket is full, so that memory is bounded by the clients of
 * that time.
 *
 *     sn_redis_keys keys;
 *     sn_redis_keys_init(&keys, SN_STR("gate"));
 *     e = sn_redis_bucket_take(redis, now, &keys, name, &lim, 1, fn, arg);
 *     if (sn_redis_bucket_read(reply, &taken) && taken.granted)
 *         admit();
 *
 * Members meet under the same keys: each says every few seconds that it lives. A member
 * that has lost the server grants from a share of its own, "apart"; while one of them is
 * apart nobody is granted a token here, and who joins after that empties every bucket. So
 * both ways together never grant more than one budget.
 *
 * Time    of a reply is the server's, in nanoseconds since 1970.
 * Memory  the caller's.
 * Threads one owner, that of the client.
 */
#ifndef SN_REDIS_BUCKET_H
#define SN_REDIS_BUCKET_H

#include "seine/limiter.h"
#include "store/redis.h"

#define SN_REDIS_KEY  128 /* bytes of a name in a key; longer ones are hashed */
#define SN_REDIS_HEAD 32  /* bytes of the prefix */
#define SN_REDIS_LIVE SEINE_SECS(15) /* a member that is silent so long is gone */

typedef struct sn_redis_keys {
    char bucket[SN_REDIS_HEAD + 8], since[SN_REDIS_HEAD + 8], members[SN_REDIS_HEAD + 8],
        apart[SN_REDIS_HEAD + 8];
} sn_redis_keys;

typedef struct sn_redis_taken {
    bool granted;
    seine_time full, now; /* of the bucket; of the server */
    uint32_t members;
} sn_redis_taken;

typedef enum sn_redis_way {
    SN_REDIS_APART, /* I grant from a share of my own */
    SN_REDIS_JOIN,  /* from now on I ask for each token */
    SN_REDIS_STAY,  /* I still do */
    SN_REDIS_LEAVE
} sn_redis_way;

typedef struct sn_redis_member {
    char id[33]; /* of this process, by chance */
    sn_redis_way way;
    bool has_spent;     /* JOIN: the buckets may not know all that was granted */
    seine_span deepest; /* what the deepest bucket is worth */
} sn_redis_member;

/* The library of functions, for sn_redis_opts. */
const char *sn_redis_bucket_functions(void);

/* A prefix of up to SN_REDIS_HEAD bytes; a longer one is cut. */
void sn_redis_keys_init(sn_redis_keys *k, sn_str prefix);

/* Takes `n` tokens of a bucket with the rate and burst of `shape`. RANGE: more than it
 * can hold; otherwise as sn_redis_ask. */
SEINE_MUST_CHECK seine_err sn_redis_bucket_take(sn_redis *r, seine_time now,
                                                const sn_redis_keys *keys, sn_str name,
                                                const seine_limiter *shape, uint32_t n,
                                                sn_redis_fn fn, void *arg);
/* False: not a reply to take. */
bool sn_redis_bucket_read(const sn_redis_reply *reply, sn_redis_taken *out_taken);

/* Says that a member lives; the reply names how many there are. */
SEINE_MUST_CHECK seine_err sn_redis_bucket_meet(sn_redis *r, seine_time now,
                                                const sn_redis_keys *keys,
                                                const sn_redis_member *member,
                                                sn_redis_fn fn, void *arg);
bool sn_redis_bucket_members(const sn_redis_reply *reply, uint32_t *out_members);

#endif
