/* SPDX-License-Identifier: Apache-2.0 */
#include "base/count_min.h"

_Static_assert(sizeof(sn_count_min) == 65536, "as count_min.h says");

static uint16_t *
cell_of(sn_count_min *c, uint64_t hash, unsigned row)
{
    return &c->n[row][hash >> (13 * row) & (SN_COUNT_MIN_WIDTH - 1)];
}

/* Raises only the cells that hold the smallest count: the others are too large already.
 */
uint32_t
sn_count_min_add(sn_count_min *c, uint64_t hash)
{
    uint16_t least = UINT16_MAX;

    for (unsigned i = 0; i < SN_COUNT_MIN_ROWS; i++)
        if (*cell_of(c, hash, i) < least)
            least = *cell_of(c, hash, i);
    if (least == UINT16_MAX)
        return least;
    for (unsigned i = 0; i < SN_COUNT_MIN_ROWS; i++)
        if (*cell_of(c, hash, i) == least)
            ++*cell_of(c, hash, i);
    return least + 1u;
}

void
sn_count_min_halve(sn_count_min *c)
{
    for (unsigned i = 0; i < SN_COUNT_MIN_ROWS; i++)
        for (unsigned k = 0; k < SN_COUNT_MIN_WIDTH; k++)
            c->n[i][k] /= 2;
}
