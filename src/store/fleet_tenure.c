/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker knows of a partition while it has the lease. Everything here is called
 * under the lock of the fleet. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "store/fleet_parts.h"

/* Makes room for one more element. */
static bool
grow(void *array, size_t n, size_t *room, size_t size)
{
    void **at = array;

    if (n < *room)
        return true;
    size_t more = *room > 0 ? *room * 2 : 16;
    void *bigger = sn_realloc(*at, more * size);
    if (!bigger)
        return false;
    *at = bigger;
    *room = more;
    return true;
}

void
sn_fleet_batch_clear(sn_fleet_batch *b)
{
    for (sn_fleet_row *r = b->rows, *next; r; r = next) {
        next = r->next;
        sn_free(r);
    }
    sn_fleet_patterns_clear(&b->patterns);
    sn_free(b->prints);
    sn_free(b->marks);
    *b = (sn_fleet_batch){0};
}

void
sn_tenure_set(sn_fleet *f, const sn_tenure *t, uint8_t state)
{
    uint8_t was = atomic_exchange(&f->states[t->index], state);

    if (f->by_part[t->part] == t)
        atomic_store(&f->held_by[t->part], state == SN_TENURE_HELD ? t->index : 0);
    if (state == SN_TENURE_LOST && was != SN_TENURE_LOST)
        atomic_fetch_add(&f->n_lost, 1);
}

seine_err
sn_tenure_new(sn_fleet *f, uint32_t part, const sn_fleet_acquired *a,
              sn_tenure **out_tenure)
{
    if (f->n_tenures + 1 >= SN_FLEET_TENURES)
        return SEINE_E_FULL;
    sn_tenure *t = sn_zalloc(sizeof *t);
    if (!t)
        return SEINE_E_NOMEM;
    t->index = ++f->n_tenures;
    t->part = part;
    t->epoch = a->epoch;
    t->token = sn_fleet_token_of(f->incarnation, a->epoch);
    t->prints = a->prints;
    t->cseq = a->cseq;
    t->since = f->clock->now(f->clock);
    atomic_store(&f->since[t->index], t->since);
    t->fd = -1;
    sn_buf_init(&t->text, SIZE_MAX);
    f->by_part[part] = t;
    f->by_index[t->index] = t;
    t->place = f->held;
    f->all[f->held++] = t;
    atomic_store(&f->shown_held, f->held);
    sn_tenure_set(f, t, SN_TENURE_HELD);
    *out_tenure = t;
    return SEINE_OK;
}

sn_tenure *
sn_tenure_of(const sn_fleet *f, uint64_t number)
{
    return f->by_index[SN_FLEET_TENURE(number)];
}

void
sn_tenure_forget(sn_fleet *f, sn_tenure *t)
{
    for (uint32_t i = 0; i < t->n_entries; i++)
        sn_free(t->entries[i].prints);
    sn_free(t->entries);
    sn_free(t->changed);
    t->entries = NULL;
    t->changed = NULL;
    t->n_entries = t->entries_room = t->n_changed = t->changed_room = 0;
    atomic_fetch_sub(&f->n_waiting, t->waiting);
    t->waiting = 0;
    sn_fleet_batch_clear(&t->next);
    sn_fleet_batch_clear(&t->sent);
}

void
sn_tenure_end(sn_fleet *f, sn_tenure *t)
{
    sn_tenure_set(f, t, SN_TENURE_LOST);
    if (f->by_part[t->part] == t)
        f->by_part[t->part] = NULL;
    f->by_index[t->index] = NULL;
    f->was_held[t->part] = true;
    sn_tenure *last = f->all[--f->held];
    last->place = t->place;
    f->all[t->place] = last;
    atomic_store(&f->shown_held, f->held);
    sn_tenure_forget(f, t);
    if (t->fd >= 0)
        close(t->fd);
    sn_buf_fini(&t->text);
    sn_free(t);
}

static bool
get_bit(const sn_fleet_bits *b, uint32_t i)
{
    return (b->bytes[i / 8] >> i % 8 & 1) != 0;
}

seine_err
sn_tenure_add(sn_tenure *t, sn_str id, uint32_t n, const sn_fleet_bits *done,
              uint32_t *out_entry)
{
    size_t room = t->entries_room;

    if (id.len >= SN_FLEET_ENTRY_ID || n == 0 || n > SN_FLEET_LINKS)
        return SEINE_E_STATE_CORRUPT;
    if (!grow(&t->entries, t->n_entries, &room, sizeof *t->entries))
        return SEINE_E_NOMEM;
    t->entries_room = (uint32_t)room;
    sn_fleet_entry *e = &t->entries[t->n_entries];
    *e =
        (sn_fleet_entry){.n = n, .done = *done, .prints = sn_calloc(n, sizeof(uint64_t))};
    if (!e->prints)
        return SEINE_E_NOMEM;
    memcpy(e->id, id.ptr, id.len);
    for (uint32_t i = 0; i < n; i++)
        e->left += !get_bit(done, i);
    *out_entry = t->n_entries++;
    return SEINE_OK;
}

static bool
note_changed(sn_tenure *t, sn_fleet_entry *e, uint32_t index)
{
    size_t room = t->changed_room;

    if (e->is_changed)
        return true;
    if (!grow(&t->changed, t->n_changed, &room, sizeof *t->changed))
        return false;
    t->changed_room = (uint32_t)room;
    t->changed[t->n_changed++] = index;
    e->is_changed = true;
    return true;
}

bool
sn_tenure_finish(sn_fleet *f, sn_tenure *t, uint64_t number, uint64_t *out_print)
{
    uint32_t index = SN_FLEET_ENTRY(number), bit = SN_FLEET_BIT(number);

    if (index >= t->n_entries)
        return false;
    sn_fleet_entry *e = &t->entries[index];
    if (bit >= e->n || get_bit(&e->done, bit) || !note_changed(t, e, index))
        return false;
    e->done.bytes[bit / 8] |= (uint8_t)(1u << bit % 8);
    *out_print = e->prints[bit];
    e->left--;
    if (t->waiting > 0) {
        t->waiting--;
        atomic_fetch_sub(&f->n_waiting, 1);
    }
    if (e->left == 0)
        sn_free(SN_STEAL(e->prints));
    return true;
}
