/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_reply.h - the protocol of Redis (RESP2): commands to bytes, bytes to replies.
 *
 *     sn_str words[] = {SN_STR("GET"), SN_STR("a key")};
 *     sn_redis_write(&out, words, 2);
 *     e = sn_redis_reader_feed(r, bytes);
 *     while ((e = sn_redis_reader_next(r, &reply)) == SEINE_OK && reply)
 *         use(reply);
 *
 * The reader is that of hiredis; only redis_reply.c includes it. hiredis' own connections
 * are not used: it would resolve names with a call that blocks, read clocks and own its
 * sockets, so that no test could script the bytes and the time. Replies are built in an
 * arena here, so that their number and size have bounds and none is allocated by hiredis.
 *
 * Time    plays no part.
 * Memory  bounded by `max_bytes` for a reply on the wire, and SN_REDIS_ITEMS.
 * Threads one owner.
 */
#ifndef SN_REDIS_REPLY_H
#define SN_REDIS_REPLY_H

#include "base/buf.h"
#include "base/str.h"

#define SN_REDIS_ITEMS 262144 /* values in one reply */

typedef enum sn_redis_kind {
    SN_REDIS_NIL,
    SN_REDIS_INTEGER,
    SN_REDIS_STRING,
    SN_REDIS_STATUS,
    SN_REDIS_ERROR,
    SN_REDIS_ARRAY
} sn_redis_kind;

typedef struct sn_redis_reply {
    sn_redis_kind kind;
    int64_t integer;
    sn_str text; /* of a string, a status or an error; may hold any bytes */
    size_t count;
    struct sn_redis_reply **items; /* of an array; an item of a nil array is NIL */
} sn_redis_reply;

typedef struct sn_redis_reader sn_redis_reader;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_redis_reader_new(size_t max_bytes,
                                               sn_redis_reader **out_reader);
void sn_redis_reader_free(sn_redis_reader *r);

/* Adds bytes. TOO_BIG: more than one reply may have are waiting; NOMEM. */
SEINE_MUST_CHECK seine_err sn_redis_reader_feed(sn_redis_reader *r, sn_str bytes);

/* The next reply, valid until the next call; NULL: more bytes are needed. PARSE: not
 * Redis; TOO_BIG; NOMEM. After an error the reader is of no more use. */
SEINE_MUST_CHECK seine_err sn_redis_reader_next(sn_redis_reader *r,
                                                const sn_redis_reply **out_reply);

/* Adds a command to `out`. */
void sn_redis_write(sn_buf *out, const sn_str *words, size_t n);

/* The n-th item if it is an integer or a string that is one. False: it is not. */
bool sn_redis_reply_int(const sn_redis_reply *r, size_t n, int64_t *out_value);

#endif
