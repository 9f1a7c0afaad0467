/* SPDX-License-Identifier: Apache-2.0 */
#include "console/ulid.h"

#include <string.h>

#include "base/rng.h"

static const char letters[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; /* Crockford's */

void
sn_ulid_new(int64_t wall, char out_id[SN_ULID])
{
    uint64_t ms = wall > 0 ? (uint64_t)(wall / 1000000) : 0;
    uint8_t dice[16];

    sn_rng_secret(dice, sizeof dice);
    for (int i = 0; i < 10; i++)
        out_id[i] = letters[ms >> 5 * (9 - i) & 31];
    for (int i = 0; i < 16; i++)
        out_id[10 + i] = letters[dice[i] & 31];
    out_id[26] = '\0';
}

bool
sn_ulid_is(sn_str text)
{
    if (text.len != SN_ULID - 1 || text.ptr[0] > '7')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\0' || !strchr(letters, text.ptr[i]))
            return false;
    return true;
}
