/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/request_log.h"

#include <string.h>

#include "base/alloc.h"

void
snc_request_log_fini(snc_request_log *d)
{
    if (d->ring)
        sn_pages_free(d->ring, SNC_REQUEST_LOG_BYTES);
    *d = (snc_request_log){.ring = NULL};
}

void
snc_request_log_reset(snc_request_log *d)
{
    d->from = d->end;
    d->dropped = 0;
}

/* Length of the line at that position, its end included. */
static size_t
line_length(const snc_request_log *d, uint64_t at)
{
    size_t from = (size_t)(at % SNC_REQUEST_LOG_BYTES), n = SNC_REQUEST_LOG_BYTES - from;
    const char *end = memchr(d->ring + from, '\n', n);

    if (end)
        return (size_t)(end - (d->ring + from)) + 1;
    end = memchr(d->ring, '\n', SNC_REQUEST_LOG_BYTES);
    return end ? n + (size_t)(end - d->ring) + 1 : n;
}

void
snc_request_log_add(snc_request_log *d, sn_str line)
{
    if (!d->ring)
        d->ring = sn_pages(SNC_REQUEST_LOG_BYTES);
    if (!d->ring || line.len == 0 || line.len > SNC_REQUEST_LOG_LINE) {
        d->dropped++;
        return;
    }
    while (d->end + line.len - d->from > SNC_REQUEST_LOG_BYTES) {
        d->from += line_length(d, d->from);
        d->dropped++;
    }
    size_t at = (size_t)(d->end % SNC_REQUEST_LOG_BYTES);
    size_t first =
        SNC_REQUEST_LOG_BYTES - at < line.len ? SNC_REQUEST_LOG_BYTES - at : line.len;
    memcpy(d->ring + at, line.ptr, first);
    if (first < line.len)
        memcpy(d->ring, line.ptr + first, line.len - first);
    d->end += line.len;
}

void
snc_request_log_read(const snc_request_log *d, uint64_t *at, sn_buf *out, size_t want)
{
    size_t from = out->len;

    if (*at < d->from)
        *at = d->from;
    while (*at < d->end && out->len - from < want) {
        size_t n = line_length(d, *at), start = (size_t)(*at % SNC_REQUEST_LOG_BYTES);
        size_t first =
            SNC_REQUEST_LOG_BYTES - start < n ? SNC_REQUEST_LOG_BYTES - start : n;

        sn_buf_add(out, d->ring + start, first);
        if (first < n)
            sn_buf_add(out, d->ring, n - first);
        *at += n;
    }
}
