/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out_warc.h - the names of the files of a web archive.
 *
 *     char *path = sn_out_warc_path("x.warc.gz", 2);    x-00002.warc.gz, for sn_free
 *
 * Time    plays no part.
 * Memory  the path.
 * Threads any thread.
 */
#ifndef SN_OUT_WARC_H
#define SN_OUT_WARC_H

/* Number 0: the path itself. NULL: no memory. */
char *sn_out_warc_path(const char *path, unsigned number);

#endif
