/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert_source.h - read a file or stream, decompressed if needed.
 *
 *     e = sn_source_open(&s, path, &diag);
 *     e = sn_source_peek(&s, 4, &first, &diag);   not taken; fewer only at the end
 *     while ((e = sn_source_next(&s, &block, &diag)) == SEINE_OK && block.len > 0)
 *         …                                       until the next call
 *     sn_source_close(&s);
 *
 * gzip and zstd are detected by their first bytes; several members in a row are one text.
 *
 * Time    reading blocks; `idle` is called before a read that would block.
 * Memory  two blocks of 64 KiB and a codec.
 * Threads one owner.
 */
#ifndef SN_CONVERT_SOURCE_H
#define SN_CONVERT_SOURCE_H

#include "base/codec.h"
#include "base/diag.h"

typedef struct sn_convert_source {
    int fd;
    char name[SEINE_DIAG_FILE];
    seine_err (*idle)(void *arg); /* may be NULL; not OK ends the reading */
    void *arg;
    bool is_raw; /* set before the first read: do not decompress */

    bool is_own, is_begun, is_packed, is_over, is_between; /* below: private */
    sn_codec codec;
    sn_codec_kind kind;
    char *raw, *text; /* a block each, compressed and decompressed */
    sn_str in;        /* the rest of raw */
    sn_str ready;     /* what peek returned */
} sn_convert_source;

/* NULL, "-": standard input. INVAL: cannot be opened, see `diag`. NOMEM. */
SEINE_MUST_CHECK seine_err sn_source_open(sn_convert_source *s, const char *path,
                                          seine_diag *diag);
void sn_source_close(sn_convert_source *s); /* all zero is fine */

/* IO: a read failed. PARSE: the compressed data is damaged or truncated. Or the error of
 * idle. `diag` is one line. */
SEINE_MUST_CHECK seine_err sn_source_next(sn_convert_source *s, sn_str *out_block,
                                          seine_diag *diag);

/* Starts again, without decompression; false, with nothing changed, if the input cannot
 * seek. */
bool sn_source_rewind(sn_convert_source *s);

/* At most 64 bytes can be peeked. */
SEINE_MUST_CHECK seine_err sn_source_peek(sn_convert_source *s, size_t n,
                                          sn_str *out_first, seine_diag *diag);

#endif
