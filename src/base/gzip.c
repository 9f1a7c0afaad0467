/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gzip.h"

#include <libdeflate.h>

#include "base/hash.h"

#define LEVEL 1 /* higher levels gain nothing on short texts */

seine_err
sn_gzip_member(sn_gzip *g, sn_str text, sn_buf *out)
{
    if (!g->lib)
        g->lib = libdeflate_alloc_compressor(LEVEL);
    if (!g->lib)
        return SEINE_E_NOMEM;
    size_t room = libdeflate_gzip_compress_bound(g->lib, text.len);
    char *to = sn_buf_reserve(out, room);
    if (!to)
        return sn_buf_done(out);
    const char *from = text.ptr ? text.ptr : "";
    sn_buf_commit(out, libdeflate_gzip_compress(g->lib, from, text.len, to, room));
    return SEINE_OK;
}

void
sn_gzip_fini(sn_gzip *g)
{
    if (g->lib)
        libdeflate_free_compressor(g->lib);
    g->lib = NULL;
}

uint32_t
sn_crc32(uint32_t crc, const void *bytes, size_t n)
{
    return n > 0 ? libdeflate_crc32(crc, bytes, n) : crc;
}
