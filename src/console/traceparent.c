/* SPDX-License-Identifier: Apache-2.0 */
#include "console/traceparent.h"

#include <string.h>

/* "00-" and 32, 16 and 2 hexadecimal digits with dashes between. */
enum { LEN = 55, TRACE = 3, PARENT = 36, FLAGS = 53 };

/* Lower case alone. False: another digit, or nothing but zeros where that is no id. */
static bool
read_hex(const char *at, size_t n, bool is_id, uint8_t *out)
{
    uint8_t any = 0;

    for (size_t i = 0; i < 2 * n; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                           : -1;

        if (digit < 0)
            return false;
        out[i / 2] = (uint8_t)(i % 2 ? out[i / 2] << 4 | digit : digit);
        any |= (uint8_t)digit;
    }
    return any || !is_id;
}

bool
sn_traceparent_read(sn_str text, uint8_t out_trace[16], uint8_t out_parent[8])
{
    uint8_t version, trace[16], parent[8], flags;

    if (text.len < LEN || text.ptr[2] != '-' || text.ptr[PARENT - 1] != '-' ||
        text.ptr[FLAGS - 1] != '-' || !read_hex(text.ptr, 1, false, &version) ||
        version == 0xff || !read_hex(text.ptr + TRACE, 16, true, trace) ||
        !read_hex(text.ptr + PARENT, 8, true, parent) ||
        !read_hex(text.ptr + FLAGS, 1, false, &flags))
        return false;
    /* A later version may go on behind another dash. */
    if (text.len > LEN && (version == 0 || text.ptr[LEN] != '-'))
        return false;
    memcpy(out_trace, trace, sizeof trace);
    memcpy(out_parent, parent, sizeof parent);
    return true;
}
