/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/key.h"

#include <string.h>

seine_view
seine_key_str(const char *s)
{
    return (seine_view){s, s ? strlen(s) : 0};
}

size_t
seine_key_ip(const uint8_t *addr, size_t addr_len, unsigned prefix, char out_key[17])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    if (addr_len == 16 && memcmp(addr, mapped, sizeof mapped) == 0) {
        addr += sizeof mapped;
        addr_len = 4;
    }
    if (addr_len != 4 && addr_len != 16)
        return 0;

    /* The family comes first, so that ::/32 differs from 0.0.0.0/32. */
    out_key[0] = addr_len == 4 ? 4 : 6;
    for (size_t i = 0; i < addr_len; i++) {
        unsigned bits = prefix > 8 * i ? prefix - 8 * (unsigned)i : 0;
        unsigned mask = bits >= 8 ? 0xff : 0xff00u >> bits & 0xff;

        out_key[1 + i] = (char)(addr[i] & mask);
    }
    return 1 + addr_len;
}
