/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/status_set.h"

enum { WORDS = sizeof(seine_status_set) / sizeof(uint64_t) };

_Static_assert(sizeof(seine_status_set) == 80, "status_set.h says so");
_Static_assert(WORDS * 64 == 640, "status_set.h says so");

bool
seine_status_set_has(const seine_status_set *set, unsigned status)
{
    return status / 64 < WORDS && (set->words[status / 64] >> status % 64 & 1) != 0;
}

void
seine_status_set_add(seine_status_set *set, unsigned first, unsigned last)
{
    for (unsigned s = first; s <= last && s / 64 < WORDS; s++)
        set->words[s / 64] |= UINT64_C(1) << s % 64;
}

void
seine_status_set_remove(seine_status_set *set, unsigned first, unsigned last)
{
    for (unsigned s = first; s <= last && s / 64 < WORDS; s++)
        set->words[s / 64] &= ~(UINT64_C(1) << s % 64);
}
