/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/wave.h"

#define RECENT   64
#define LONGEST  32 /* no row need be longer, … */
#define FIRST    10 /* … and none that has the first failures of its host */
#define UNLIKELY 1000000

_Static_assert(sizeof(sn_wave) == 32, "wave.h says so");

static void
note(sn_wave *w, bool failed)
{
    w->recent = w->recent << 1 | failed;
    if (w->n_recent < RECENT)
        w->n_recent++;
}

void
sn_wave_end(sn_wave *w, uint32_t ticket, seine_outcome how, uint32_t in_flight,
            uint32_t threshold)
{
    if (w->left > 0 && (int32_t)(ticket - w->mark) < 0)
        w->left--; /* also one of before the last change: the wave waits for it */
    if (how == SEINE_IGNORED || (int32_t)(ticket - w->since) < 0)
        return;
    note(w, how == SEINE_FAILURE);
    if (how == SEINE_SUCCESS) {
        w->row = w->left = 0;
        w->has_answered = true;
        return;
    }
    if (++w->row >= threshold && w->left == 0) {
        w->mark = w->starts;
        w->left = in_flight;
    }
}

/* How long must a row be to have a chance of less than 1 / UNLIKELY, at the share of
 * failures before it? One of each is added, so that no share is 0 or 1. */
static uint32_t
needed(const sn_wave *w)
{
    uint32_t n = w->row < w->n_recent ? w->n_recent - w->row : 0;
    uint64_t before = n > 0 ? w->recent >> w->row : 0;
    uint64_t mask = n < RECENT ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
    uint32_t failed = (uint32_t)__builtin_popcountll(before & mask), row = 0;
    uint32_t most = failed > 0 ? LONGEST : FIRST;

    if (n == 0) /* it was never different */
        return 0;
    for (double chance = 1; chance * UNLIKELY > 1 && row < most; row++)
        chance = chance * (failed + 1) / (n + 2);
    return row;
}

bool
sn_wave_is_over(const sn_wave *w, uint32_t threshold)
{
    return threshold > 0 && w->row >= threshold && w->left == 0 && w->row >= needed(w);
}

void
sn_wave_clear(sn_wave *w)
{
    w->recent = w->row < RECENT ? w->recent >> w->row : 0;
    w->n_recent = w->row < w->n_recent ? (uint8_t)(w->n_recent - w->row) : 0;
    w->since = w->starts;
    w->row = w->left = 0;
}
