/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/event_ring.h"

#include <string.h>

void
sn_watched_text(char *to, size_t cap, sn_str text)
{
    size_t n = text.len < cap - 1 ? text.len : cap - 1;

    while (n > 0 && n < text.len && ((unsigned char)text.ptr[n] & 0xc0) == 0x80)
        n--;
    if (n > 0)
        memcpy(to, text.ptr, n);
    memset(to + n, 0, cap - n);
}

void
sn_event_ring_put(sn_event_ring *r, sn_watched *io_event)
{
    uint64_t number = atomic_load_explicit(&r->written, memory_order_relaxed) + 1;
    sn_event_slot *slot = &r->slots[number % SN_EVENT_RING_SLOTS];
    uint64_t words[SN_WATCHED_WORDS];

    io_event->number = number;
    memcpy(words, io_event, sizeof words);
    atomic_store_explicit(&slot->version, 2 * number - 1, memory_order_relaxed);
    for (size_t i = 0; i < SN_WATCHED_WORDS; i++)
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    atomic_store_explicit(&slot->version, 2 * number, memory_order_release);
    atomic_store_explicit(&r->written, number, memory_order_release);
}

/* False: the place holds another event, or one that is being written. */
static bool
copy_slot(const sn_event_ring *r, uint64_t number, sn_watched *out)
{
    const sn_event_slot *slot = &r->slots[number % SN_EVENT_RING_SLOTS];
    uint64_t words[SN_WATCHED_WORDS];

    if (atomic_load_explicit(&slot->version, memory_order_acquire) != 2 * number)
        return false;
    for (size_t i = 0; i < SN_WATCHED_WORDS; i++)
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
    if (atomic_load_explicit(&slot->version, memory_order_relaxed) != 2 * number)
        return false;
    memcpy(out, words, sizeof *out);
    return true;
}

bool
sn_event_ring_next(const sn_event_ring *r, uint64_t *at, sn_watched *out_event,
                   uint64_t *io_lost)
{
    uint64_t written = atomic_load_explicit(&r->written, memory_order_acquire);

    while (*at < written) {
        uint64_t oldest =
            written > SN_EVENT_RING_SLOTS ? written - SN_EVENT_RING_SLOTS + 1 : 1;

        if (*at + 1 < oldest) {
            *io_lost += oldest - (*at + 1);
            *at = oldest - 1;
        }
        ++*at;
        if (copy_slot(r, *at, out_event))
            return true;
        ++*io_lost; /* it was overwritten while it was looked at */
        written = atomic_load_explicit(&r->written, memory_order_acquire);
    }
    return false;
}
