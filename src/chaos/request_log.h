/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_log.h - the latest lines of a log, in a ring of bytes.
 *
 *     snc_request_log_add(&request_log, line);               with its line feed
 *     uint64_t at = 0;
 *     snc_request_log_read(&request_log, &at, &out, 4096);   whole lines from there on
 *
 * A position counts all bytes ever written. A read from a position that has been
 * overwritten continues at the oldest line.
 *
 * Time    plays no part.
 * Memory  16 MiB of pages, touched as they fill, at the first line.
 * Threads one owner.
 */
#ifndef SNC_REQUEST_LOG_H
#define SNC_REQUEST_LOG_H

#include "base/buf.h"

#define SNC_REQUEST_LOG_BYTES ((size_t)16 << 20)
#define SNC_REQUEST_LOG_LINE  8192 /* the longest line */

typedef struct snc_request_log {
    char *ring;
    uint64_t from, end; /* positions of the oldest byte and behind the newest */
    uint64_t dropped;   /* lines that were overwritten */
} snc_request_log;

void snc_request_log_fini(snc_request_log *d);
void snc_request_log_reset(snc_request_log *d); /* positions go on */
void snc_request_log_add(snc_request_log *d, sn_str line);
void snc_request_log_read(const snc_request_log *d, uint64_t *at, sn_buf *out,
                          size_t want);

#endif
