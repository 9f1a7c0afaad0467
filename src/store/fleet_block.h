/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_block.h - up to 256 links as one entry of the inbox of a partition.
 *
 * A link is a few numbers and its URL, without the part that it shares with the URL
 * before; the parent is written once for all links of a page. zstd takes the whole: links
 * of one site need some 10 to 25 bytes each.
 *
 *     sn_fleet_block_init(&b);
 *     while (!sn_fleet_block_is_full(&b))
 *         e = sn_fleet_block_add(&b, &link);
 *     e = sn_fleet_block_pack(&b, &bytes);            and begins the next block
 *
 *     e = sn_fleet_block_unpack(sent, n, &raw);       n links
 *     sn_fleet_block_reader reader = {.left = sn_buf_view(&raw), .n = n};
 *     while (sn_fleet_block_next(&reader, &link))
 *         use(&link);
 *
 * Time    plays no part.
 * Memory  the links of a block; at most SN_FLEET_BLOCK_RAW of them are unpacked.
 * Threads one owner.
 */
#ifndef SN_FLEET_BLOCK_H
#define SN_FLEET_BLOCK_H

#include "base/buf.h"
#include "base/codec.h"
#include "store/store.h"

enum {
    SN_FLEET_LINKS = 256,
    SN_FLEET_BLOCK_FULL = 256 << 10, /* bytes of links that are worth sending */
    SN_FLEET_BLOCK_RAW = 64 << 20
};

typedef struct sn_fleet_link {
    sn_waiting_url url; /* target: the whole URL; host: empty */
    sn_str ask;         /* of a given URL: its request (engine/ask_bytes.h); or empty */
} sn_fleet_link;

typedef struct sn_fleet_block {
    sn_buf raw;
    uint32_t n;
    sn_buf last, parent; /* URL and parent of the last link … */
    uint32_t line;       /* … and its line */
    sn_codec codec;
} sn_fleet_block;

typedef struct sn_fleet_block_reader {
    sn_str left;
    uint32_t n; /* links that are left */
    char last[SN_STORE_TEXT];
    size_t last_len;
    uint32_t line;
    sn_str parent;
} sn_fleet_block_reader;

void sn_fleet_block_init(sn_fleet_block *b);
void sn_fleet_block_fini(sn_fleet_block *b);

/* RANGE: a text is longer than SN_STORE_TEXT. NOMEM. Then the block is as before. */
SEINE_MUST_CHECK seine_err sn_fleet_block_add(sn_fleet_block *b, const sn_fleet_link *l);
bool sn_fleet_block_is_full(const sn_fleet_block *b);

/* Replaces what is in `out`; the block is empty then. NOMEM: as before. */
SEINE_MUST_CHECK seine_err sn_fleet_block_pack(sn_fleet_block *b, sn_buf *out);

/* The links in `out`, for a reader. STATE_CORRUPT: not `n` links. NOMEM. */
SEINE_MUST_CHECK seine_err sn_fleet_block_unpack(sn_str bytes, uint32_t n, sn_buf *out);

/* The next link; its texts are valid until the next call, and while `raw` stays. False:
 * there is none, or, if reader->n > 0 then, the block is damaged. */
bool sn_fleet_block_next(sn_fleet_block_reader *reader, sn_fleet_link *out_link);

#endif
