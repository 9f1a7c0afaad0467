/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/diary.h"

#include <string.h>

#include "base/alloc.h"

void
snc_diary_fini(snc_diary *d)
{
    if (d->ring)
        sn_pages_free(d->ring, SNC_DIARY_BYTES);
    *d = (snc_diary){.ring = NULL};
}

void
snc_diary_reset(snc_diary *d)
{
    d->from = d->end;
    d->dropped = 0;
}

/* Length of the line at that position, its end included. */
static size_t
line_length(const snc_diary *d, uint64_t at)
{
    size_t from = (size_t)(at % SNC_DIARY_BYTES), n = SNC_DIARY_BYTES - from;
    const char *end = memchr(d->ring + from, '\n', n);

    if (end)
        return (size_t)(end - (d->ring + from)) + 1;
    end = memchr(d->ring, '\n', SNC_DIARY_BYTES);
    return end ? n + (size_t)(end - d->ring) + 1 : n;
}

void
snc_diary_add(snc_diary *d, sn_str line)
{
    if (!d->ring)
        d->ring = sn_pages(SNC_DIARY_BYTES);
    if (!d->ring || line.len == 0 || line.len > SNC_DIARY_LINE) {
        d->dropped++;
        return;
    }
    while (d->end + line.len - d->from > SNC_DIARY_BYTES) {
        d->from += line_length(d, d->from);
        d->dropped++;
    }
    size_t at = (size_t)(d->end % SNC_DIARY_BYTES);
    size_t first = SNC_DIARY_BYTES - at < line.len ? SNC_DIARY_BYTES - at : line.len;
    memcpy(d->ring + at, line.ptr, first);
    if (first < line.len)
        memcpy(d->ring, line.ptr + first, line.len - first);
    d->end += line.len;
}

void
snc_diary_read(const snc_diary *d, uint64_t *at, sn_buf *out, size_t want)
{
    size_t from = out->len;

    if (*at < d->from)
        *at = d->from;
    while (*at < d->end && out->len - from < want) {
        size_t n = line_length(d, *at), start = (size_t)(*at % SNC_DIARY_BYTES);
        size_t first = SNC_DIARY_BYTES - start < n ? SNC_DIARY_BYTES - start : n;

        sn_buf_add(out, d->ring + start, first);
        if (first < n)
            sn_buf_add(out, d->ring, n - first);
        *at += n;
    }
}
