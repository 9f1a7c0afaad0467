/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_index.h - the index of an archive: sorted CDXJ lines.
 *
 *     com,example)/a 20261115192001 {"url":"http://example.com/a","mime":"text/html",…}
 *
 * The key (SURT) reverses the labels of the host, so that pages of a site are adjacent.
 * Like other archives' indexes it drops `www.`, is in lower case and sorts the query
 * parameters. Lines are collected and sorted in memory, 8 MiB at a time, and each sorted
 * run is written to an unnamed file; at the end the runs are merged.
 *
 *     sn_warc_index_init(&x, "dir/x.cdxj");
 *     e = sn_warc_index_add(&x, &line);
 *     e = sn_warc_index_write(&x);              dir/x.cdxj, all of it or none
 *
 * Time    plays no part; writing blocks.
 * Memory  16 MiB, and 4 KiB for every 8 MiB of lines while they are merged.
 * Threads one owner.
 */
#ifndef SN_WARC_INDEX_H
#define SN_WARC_INDEX_H

#include "base/buf.h"

typedef struct sn_warc_line {
    sn_str url;
    char stamp[15]; /* 20261115192001 */
    sn_str media;   /* "warc/revisit" for one that is */
    uint16_t status;
    sn_str digest;
    uint64_t offset, length;
    sn_str file;
} sn_warc_line;

typedef struct sn_warc_run {
    uint64_t at, len; /* in the file of runs */
} sn_warc_run;

typedef struct sn_warc_index {
    char *path;
    sn_buf text;     /* lines */
    uint32_t *lines; /* where each begins */
    size_t n, room;
    size_t limit; /* bytes after which they become a run */
    int fd;       /* file of runs; -1: none */
    uint64_t end; /* of that file */
    sn_warc_run *runs;
    size_t n_runs, runs_room;
} sn_warc_index;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_warc_index_init(sn_warc_index *x, const char *path);
void sn_warc_index_fini(sn_warc_index *x); /* all zero is fine */

/* NOMEM; IO, DISK_FULL: a run could not be written. */
SEINE_MUST_CHECK seine_err sn_warc_index_add(sn_warc_index *x, const sn_warc_line *line);

/* Writes a new file and renames it. Drops the lines. */
SEINE_MUST_CHECK seine_err sn_warc_index_write(sn_warc_index *x);

/* Writes the key of a URL; a text that is no URL stays as it is. */
void sn_warc_surt(sn_str url, sn_buf *out);

/* 14 digits of a time, or of a WARC-Date; "" if invalid. */
void sn_warc_stamp(int64_t wall, char out_stamp[15]);
void sn_warc_stamp_of(sn_str date, char out_stamp[15]);

#endif
