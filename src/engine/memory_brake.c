/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/memory_brake.h"

#include "base/alloc.h"

enum {
    PIECE = 64 << 10,
    LEAST = 4 << 10,
    OVER = 4 * PIECE, /* what the last piece of a response may take beyond its end */
    SLACK = 512 << 10 /* what may be read before the brake is noticed */
};

seine_err
sn_memory_brake_new(uint64_t limit, uint64_t most, sn_memory_brake **out_brake)
{
    sn_memory_brake *b = sn_zalloc(sizeof *b);
    seine_want limits = {{limit, UINT64_MAX, UINT64_MAX, UINT64_MAX}};

    if (!b)
        return SEINE_E_NOMEM;
    if (limit > 0 && limit != UINT64_MAX &&
        seine_budget_new(&limits, &b->budget) != SEINE_OK) {
        sn_free(b);
        return SEINE_E_NOMEM;
    }
    b->limit = limit;
    b->least_reserve = most < limit / 2 ? most : limit / 2;
    atomic_init(&b->reserve, b->least_reserve);
    atomic_init(&b->refs, 1);
    pthread_mutex_init(&b->waking, NULL);
    *out_brake = b;
    return SEINE_OK;
}

void
sn_memory_brake_ref(sn_memory_brake *b)
{
    atomic_fetch_add(&b->refs, 1);
}

void
sn_memory_brake_unref(sn_memory_brake *b)
{
    if (!b || atomic_fetch_sub(&b->refs, 1) > 1)
        return;
    pthread_mutex_destroy(&b->waking);
    seine_budget_free(b->budget);
    sn_free(b);
}

void
sn_memory_brake_on_wake(sn_memory_brake *b, void (*wake)(void *arg), void *arg)
{
    pthread_mutex_lock(&b->waking);
    b->wake = wake;
    b->arg = arg;
    pthread_mutex_unlock(&b->waking);
}

static uint64_t
used(const sn_memory_brake *b)
{
    seine_want is;

    seine_budget_used_get(b->budget, &is);
    return is.n[SEINE_RES_MEMORY];
}

bool
sn_memory_brake_is_on(const sn_memory_brake *b)
{
    return b->budget && atomic_load_explicit(&b->is_short, memory_order_relaxed);
}

bool
sn_memory_brake_may_start(const sn_memory_brake *b)
{
    if (!sn_memory_brake_is_on(b))
        return true;
    return !atomic_load(&b->first_outgrew) && (atomic_load(&b->waiting) == 0 || b->due);
}

/* What all but the first may use. */
static uint64_t
share_of_others(const sn_memory_brake *b)
{
    return b->limit - atomic_load(&b->reserve);
}

static void
look(sn_memory_brake *b)
{
    uint64_t slack = b->limit / 8 < SLACK ? b->limit / 8 : SLACK;

    atomic_store_explicit(&b->is_short, used(b) + slack > share_of_others(b),
                          memory_order_relaxed);
}

/* The lock is held meanwhile, so that the engine can be freed after on_wake; waking a
 * loop takes no other lock. */
static void
call_wake(sn_memory_brake *b)
{
    pthread_mutex_lock(&b->waking);
    if (b->wake)
        b->wake(b->arg);
    pthread_mutex_unlock(&b->waking);
}

static void
tell(sn_memory_brake *b)
{
    atomic_fetch_add(&b->releases, 1);
    call_wake(b);
}

/* A first that has more than its reserve may need all there is, so the others get nothing
 * until it is done. */
static void
note_first(sn_memory_brake *b, uint64_t has)
{
    atomic_store(&b->first_has, has);
    atomic_store(&b->first_outgrew, has > atomic_load(&b->reserve));
}

static void
add(sn_charge *c, sn_memory_brake *b, uint64_t more)
{
    if (!c->held.of)
        c->held.of = b->budget;
    seine_budget_force(&c->held, SEINE_RES_MEMORY, more);
    atomic_fetch_add(&b->charged, more);
    if (c->is_first)
        note_first(b, c->held.has.n[SEINE_RES_MEMORY]);
    look(b);
}

/* Makes the reserve at least that large. */
static void
raise_reserve(sn_memory_brake *b, uint64_t bytes)
{
    uint64_t is = atomic_load(&b->reserve);

    while (is < bytes && !atomic_compare_exchange_weak(&b->reserve, &is, bytes))
        continue;
}

bool
sn_memory_brake_expect(sn_memory_brake *b, uint64_t bytes)
{
    if (!b->budget)
        return true;
    if (bytes > b->limit)
        return false;
    raise_reserve(b, b->limit - bytes > OVER ? bytes + OVER : b->limit);
    look(b);
    return true;
}

bool
sn_charge_set(sn_charge *c, sn_memory_brake *b, uint64_t bytes)
{
    uint64_t has = c->held.has.n[SEINE_RES_MEMORY];

    if (!b->budget || bytes <= has)
        return true;
    if (bytes > b->limit)
        return false;
    add(c, b, bytes - has);
    return true;
}

/* Makes it the first if nobody is, and if its record can be written. */
static bool
become_first(sn_memory_brake *b, sn_charge *c)
{
    bool none = false;

    if ((b->due && c->number != b->due(b->due_arg)) ||
        !atomic_compare_exchange_strong(&b->has_first, &none, true))
        return false;
    c->is_first = true;
    note_first(b, c->held.has.n[SEINE_RES_MEMORY]);
    return true;
}

static void
wait_for_memory(sn_memory_brake *b, sn_charge *c)
{
    if (c->waits)
        return;
    atomic_fetch_add(&b->waiting, 1);
    atomic_fetch_add(&b->idle, c->held.has.n[SEINE_RES_MEMORY]);
    c->waits = true;
    if (!c->is_first && atomic_load(&b->first_waits))
        tell(b);
}

/* The first has all that is left, and waits for the others if that is nothing. */
static size_t
room_of_first(sn_memory_brake *b, sn_charge *c, unsigned cost)
{
    uint64_t is = used(b), left = is < b->limit ? b->limit - is : 0;
    uint64_t others = atomic_load(&b->charged) - c->held.has.n[SEINE_RES_MEMORY];

    if (left >= (uint64_t)LEAST * cost)
        return left < (uint64_t)PIECE * cost ? (size_t)(left / cost) : PIECE;
    if (others == 0)
        return SN_ROOM_NEVER;
    sn_charge_go(c, b); /* to look at the others alone */
    atomic_store(&b->first_waits, true);
    if (atomic_load(&b->idle) >= others) {
        atomic_fetch_add(&b->evictions, 1);
        call_wake(b);
    }
    return 0;
}

static bool
has_room_for_others(const sn_memory_brake *b, uint64_t more)
{
    return !atomic_load(&b->first_outgrew) &&
           used(b) - atomic_load(&b->first_has) + more <= share_of_others(b);
}

size_t
sn_memory_brake_room(sn_memory_brake *b, sn_charge *c, uint64_t uses, unsigned cost)
{
    uint64_t has = c->held.has.n[SEINE_RES_MEMORY], rest = has > uses ? has - uses : 0;
    size_t room = 0;

    if (rest >= (uint64_t)LEAST * cost) { /* of the room it was given before */
        sn_charge_go(c, b);
        return (size_t)(rest / cost);
    }
    if (!c->is_first && has_room_for_others(b, (uint64_t)PIECE * cost))
        room = PIECE;
    else if (c->is_first || become_first(b, c))
        room = room_of_first(b, c, cost);
    if (room == 0) {
        wait_for_memory(b, c);
        return 0;
    }
    sn_charge_go(c, b);
    if (room != SN_ROOM_NEVER)
        add(c, b, (uint64_t)room * cost);
    return room;
}

void
sn_charge_go(sn_charge *c, sn_memory_brake *b)
{
    if (!c->waits)
        return;
    atomic_fetch_sub(&b->waiting, 1);
    atomic_fetch_sub(&b->idle, c->held.has.n[SEINE_RES_MEMORY]);
    c->waits = false;
    if (c->is_first)
        atomic_store(&b->first_waits, false);
}

/* The next first is likely to need as much as this one did: a reserve of that size spares
 * the others from being dropped. It shrinks again, by an eighth of what was left over. */
static void
adjust_reserve(sn_memory_brake *b, uint64_t has)
{
    uint64_t is = atomic_load(&b->reserve);
    uint64_t least = has > b->least_reserve ? has : b->least_reserve;

    if (is < least)
        raise_reserve(b, least);
    else
        atomic_compare_exchange_strong(&b->reserve, &is, is - (is - least + 7) / 8);
}

static void
end_first(sn_memory_brake *b, sn_charge *c)
{
    adjust_reserve(b, c->held.has.n[SEINE_RES_MEMORY]);
    c->is_first = false;
    note_first(b, 0);
    atomic_store(&b->has_first, false);
}

void
sn_charge_release(sn_charge *c, sn_memory_brake *b)
{
    bool was_on = sn_memory_brake_is_on(b);
    uint64_t has = c->held.has.n[SEINE_RES_MEMORY];

    sn_charge_go(c, b);
    if (!b->budget || (!c->held.of && !c->is_first))
        return;
    if (c->is_first)
        end_first(b, c);
    seine_budget_release(&c->held);
    atomic_fetch_sub(&b->charged, has);
    look(b);
    if (was_on)
        tell(b);
}
