/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/link_prints.h"

#include <stdlib.h>
#include <string.h>

void
sn_link_prints_init(sn_link_prints *p)
{
    sn_buf_init(&p->bytes, SN_LINK_PRINTS_MOST * sizeof(uint64_t));
}

void
sn_link_prints_fini(sn_link_prints *p)
{
    sn_buf_fini(&p->bytes);
}

void
sn_link_prints_reset(sn_link_prints *p)
{
    sn_buf_reset(&p->bytes);
}

void
sn_link_prints_add(sn_link_prints *p, uint64_t print)
{
    sn_buf_add(&p->bytes, &print, sizeof print);
}

static int
by_value(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

sn_str
sn_link_prints_end(sn_link_prints *p, uint64_t own, size_t most)
{
    char *bytes = p->bytes.ptr;
    size_t n = p->bytes.len / sizeof own, kept = 0;
    uint64_t print, last = own;

    if (n > 1)
        qsort(bytes, n, sizeof print, by_value);
    for (size_t i = 0; i < n && kept < most; i++) {
        memcpy(&print, bytes + i * sizeof print, sizeof print);
        if (print == own || (kept > 0 && print == last))
            continue;
        last = print;
        memmove(bytes + kept++ * sizeof print, &print, sizeof print);
    }
    return (sn_str){bytes ? bytes : "", kept * sizeof print};
}
