/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker leaves to the next one of a host: a version, then the columns of
 * SN_JOB_HOST as varints. Workers have clocks of their own, so moments are told in the
 * time of the server. */
#include <string.h>

#include "base/time.h"
#include "store/fleet_parts.h"

enum { VERSION = 1, ELSEWHERE = 1 };

/* The columns that are wall time; 0 is none. */
static void
shift_moments(sn_job_host *h, int64_t by_ms)
{
    int64_t *moments[] = {&h->next_ms, &h->pause_ms, &h->open_ms, &h->saved_ms};

    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
        if (*moments[i] != 0)
            *moments[i] = sn_time_add(*moments[i], by_ms);
}

static size_t
put(char *out, int64_t value)
{
    uint64_t n = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    size_t len = 0;

    while (n >= 128) {
        out[len++] = (char)(n | 128);
        n >>= 7;
    }
    out[len++] = (char)n;
    return len;
}

static bool
take(sn_str *left, int64_t *out)
{
    uint64_t n = 0;

    for (unsigned shift = 0; shift < 64 && left->len > 0; shift += 7) {
        uint8_t byte = (uint8_t)left->ptr[0];

        *left = sn_str_slice(*left, 1, left->len);
        n |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *out = (int64_t)(n >> 1 ^ (0 - (n & 1)));
            return true;
        }
    }
    return false;
}

size_t
sn_fleet_row_write(const int64_t *columns, size_t n, int64_t ahead_ms,
                   char out[SN_FLEET_ROW], bool *out_awaited)
{
    sn_job_host h = {0};
    size_t i = 0, len = 0;

#define X(column)              \
    if (i < n)                 \
        h.column = columns[i]; \
    i++;
    SN_JOB_HOST(X)
#undef X
    shift_moments(&h, ahead_ms);
    *out_awaited = (h.flags & SN_JOB_HOST_AWAITED) != 0;
    h.flags &= ~(int64_t)SN_JOB_HOST_AWAITED;
    h.up_ms = 0; /* of another machine, perhaps */
    h.boot = h.boot != 0 ? ELSEWHERE : 0;
    out[len++] = VERSION;
#define X(column) len += put(out + len, h.column);
    SN_JOB_HOST(X)
#undef X
    return len;
}

bool
sn_fleet_row_read(sn_str bytes, int64_t ahead_ms, sn_job_host *out_row)
{
    sn_job_host h = {0};

    if (bytes.len == 0 || bytes.ptr[0] != VERSION)
        return false;
    bytes = sn_str_slice(bytes, 1, bytes.len);
#define X(column)                 \
    if (!take(&bytes, &h.column)) \
        return false;
    SN_JOB_HOST(X)
#undef X
    shift_moments(&h, -ahead_ms);
    *out_row = h;
    return bytes.len == 0;
}
