/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - compress a whole text into one gzip member.
 *
 * codec.h compresses streams. For a text of a few kilobytes that is in memory, this is
 * more than twice as fast; an archive with a gzip member per page needs that.
 *
 *     sn_gzip g = {0};
 *     e = sn_gzip_member(&g, text, &out);       added to `out`, all of it or nothing
 *     sn_gzip_fini(&g);
 *
 * Time    plays no part.
 * Memory  300 KiB inside libdeflate, from its own allocator, kept for the next text;
 *         in `out` room for a text that does not compress.
 * Threads one owner.
 */
#ifndef SN_GZIP_H
#define SN_GZIP_H

#include "base/buf.h"

typedef struct sn_gzip {
    void *lib; /* NULL before the first member */
} sn_gzip;

/* NOMEM, FULL. */
SEINE_MUST_CHECK seine_err sn_gzip_member(sn_gzip *g, sn_str text, sn_buf *out);
void sn_gzip_fini(sn_gzip *g);

#endif
