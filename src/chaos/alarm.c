/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/alarm.h"

#include "base/alloc.h"

void
snc_alarms_fini(snc_alarms *h)
{
    sn_free(h->heap);
    *h = (snc_alarms){.heap = NULL};
}

static void
put_at(snc_alarms *h, size_t place, snc_alarm *a)
{
    h->heap[place - 1] = a;
    a->place = place;
}

static void
rise(snc_alarms *h, snc_alarm *a, size_t place)
{
    for (; place > 1 && h->heap[place / 2 - 1]->due > a->due; place /= 2)
        put_at(h, place, h->heap[place / 2 - 1]);
    put_at(h, place, a);
}

static void
sink(snc_alarms *h, snc_alarm *a, size_t place)
{
    for (size_t child; (child = 2 * place) <= h->count; place = child) {
        if (child < h->count && h->heap[child]->due < h->heap[child - 1]->due)
            child++;
        if (h->heap[child - 1]->due >= a->due)
            break;
        put_at(h, place, h->heap[child - 1]);
    }
    put_at(h, place, a);
}

seine_err
snc_alarm_set(snc_alarms *h, snc_alarm *a, seine_time due)
{
    if (a->place == 0) {
        if (h->count == h->room) {
            size_t room = h->room > 0 ? 2 * h->room : 64;
            snc_alarm **heap = sn_realloc(h->heap, room * sizeof(snc_alarm *));

            if (!heap)
                return SEINE_E_NOMEM;
            h->heap = heap;
            h->room = room;
        }
        a->place = ++h->count;
    }
    seine_time before = a->due;
    size_t place = a->place;

    a->due = due;
    put_at(h, place, a);
    if (place == h->count || due < before)
        rise(h, a, place);
    else
        sink(h, a, place);
    return SEINE_OK;
}

void
snc_alarm_stop(snc_alarms *h, snc_alarm *a)
{
    size_t place = a->place;

    if (place == 0)
        return;
    a->place = 0;
    snc_alarm *last = h->heap[--h->count];
    if (last == a)
        return;
    sink(h, last, place);
    rise(h, last, last->place);
}

seine_time
snc_alarms_next(const snc_alarms *h)
{
    return h->count > 0 ? h->heap[0]->due : SEINE_NEVER;
}

snc_alarm *
snc_alarms_due(snc_alarms *h, seine_time now)
{
    snc_alarm *a = h->count > 0 ? h->heap[0] : NULL;

    if (!a || a->due > now)
        return NULL;
    snc_alarm_stop(h, a);
    return a;
}
