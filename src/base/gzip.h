/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip.h - a whole text becomes a gzip member, at once and quickly.
 *
 * codec.h packs streams; a text of a few kilobytes that is all there is packed here in
 * less than half of the time, which an archive with a member for each page needs.
 *
 *     sn_gzip g = {0};
 *     e = sn_gzip_member(&g, text, &out);       added to `out`, all of it or nothing
 *     sn_gzip_fini(&g);
 *
 * Time    plays no part.
 * Memory  300 KiB inside of libdeflate, from its own allocator, kept for the next text;
 *         in `out` room for a text that cannot be packed.
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
