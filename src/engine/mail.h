/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mail.h - how do links reach the shard that owns their host?
 *
 * A post is a block of links that one shard writes and another one reads. The post lies
 * in the owner's box until the owner takes all there are. No link is lost and nobody
 * waits: all shards know how many bytes are on the way, and while these are above a limit
 * no shard starts requests. An owner always empties its box, so no circle can block.
 *
 *     e = sn_mail_write(&post, &link);              grows the post
 *     was_empty = sn_mail_put(&box, post);          then wake the owner
 *     for (post = sn_mail_take_all(&box); post; …)
 *         for (size_t at = 0; sn_mail_read(post, &at, &link);)
 *             …
 *
 * Time    plays no part.
 * Memory  the links on the way.
 * Threads a post has one owner; any thread puts into a box, and one takes from it.
 */
#ifndef SN_MAIL_H
#define SN_MAIL_H

#include <stdatomic.h>

#include "base/str.h"

/* A URL that was found: views into whatever holds them. */
typedef struct sn_link {
    sn_str url;    /* what to request */
    sn_str parent; /* where it was found; empty: nowhere */
    uint64_t number;
    uint32_t line, depth;
    uint8_t moved;   /* redirects in a row that led here */
    uint8_t ceiling; /* sn_address_zone */
    uint8_t tag, attr, kind;
    uint8_t leader; /* sn_leader and look of the page it was found on */
} sn_link;

enum { SN_MAIL_FULL = 32768 }; /* bytes of a post that is worth sending */

typedef struct sn_post {
    struct sn_post *next;
    uint32_t n, used, room;
    uint32_t parent_at, parent_len; /* of the last link */
    char bytes[];
} sn_post;

typedef struct sn_box {
    sn_post *_Atomic head;
} sn_box;

/* One link more; *post is made by the first. NOMEM: it is as it was. */
SEINE_MUST_CHECK seine_err sn_mail_write(sn_post **post, const sn_link *link);

/* The link at `*at`, and where the next one is; false: there is none. */
bool sn_mail_read(const sn_post *post, size_t *at, sn_link *out_link);
void sn_mail_free(sn_post *post);

/* True: the box was empty, wake its owner. */
bool sn_mail_put(sn_box *box, sn_post *give);
sn_post *sn_mail_take_all(sn_box *box); /* the oldest first */

#endif
