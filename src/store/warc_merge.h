/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_merge.h - merge sorted runs of lines into one sorted file.
 *
 * Time    plays no part; reading and writing block.
 * Memory  64 KiB to write, and 4 to 64 KiB per run.
 * Threads one owner.
 */
#ifndef SN_WARC_MERGE_H
#define SN_WARC_MERGE_H

#include "store/warc_index.h"

/* A file written in large pieces. */
typedef struct sn_warc_file {
    int fd;
    char *buf;
    size_t len;
    uint64_t written;
    seine_err err;
} sn_warc_file;

SEINE_MUST_CHECK seine_err sn_warc_file_init(sn_warc_file *f, int fd);
void sn_warc_file_add(sn_warc_file *f, sn_str bytes); /* the first error stays */
SEINE_MUST_CHECK seine_err sn_warc_file_flush(sn_warc_file *f);
void sn_warc_file_fini(sn_warc_file *f);

SEINE_MUST_CHECK seine_err sn_warc_merge(int fd, const sn_warc_run *runs, size_t n,
                                         sn_warc_file *out);

#endif
