/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/address_limit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "guard/gcra.h"

#define PROBES       8
#define MASK         (SN_ADDRESS_LIMITS_SLOTS - 1)
#define CHANGING     UINT32_C(0x80000000) /* in in_flight: the entry gets another address */
#define PATIENCE     SEINE_MS(10)
#define NOBODY       UINT32_MAX
#define OVERFLOW_KEY 1

_Static_assert(sizeof(sn_address_limits_entry) == 24, "address_limit.h says so");

/*
 * An entry changes its address only while nothing is in flight there, and whoever
 * looks at one counts itself in first and then reads the key: so nobody is ever
 * counted under another address. Two threads cannot enter one address twice,
 * because all who enter it hold the lock of its home.
 */

static bool
is_sound(const sn_address_limit *l)
{
    seine_limiter lim;

    return l->cap > 0 && seine_limiter_init(&lim, l->every, l->burst) == SEINE_OK;
}

seine_err
sn_address_limits_init(sn_address_limits *t, const sn_address_limits_opts *opts)
{
    size_t n = opts->n_groups;

    if (!is_sound(&opts->limit) || n >= UINT16_MAX)
        return SEINE_E_INVAL;
    for (size_t i = 0; i < n; i++)
        if (!is_sound(&opts->groups[i].limit))
            return SEINE_E_INVAL;

    *t = (sn_address_limits){.n_groups = n,
                             .cap = opts->limit.cap,
                             .every = opts->limit.every,
                             .burst = opts->limit.burst};
    t->entries = sn_pages((SN_ADDRESS_LIMITS_SLOTS + 1) * sizeof *t->entries);
    t->rules = sn_calloc(n + 1, sizeof *t->rules);
    t->groups = sn_calloc(n, sizeof *t->groups);
    for (int i = 0; i < 64; i++)
        pthread_mutex_init(&t->locks[i], NULL);
    if (!t->entries || !t->rules || !t->groups) {
        sn_address_limits_fini(t);
        return SEINE_E_NOMEM;
    }
    if (n > 0)
        memcpy(t->groups, opts->groups, n * sizeof *t->groups);
    for (size_t i = 0; i <= n; i++) {
        const sn_address_limit *l = i == 0 ? &opts->limit : &opts->groups[i - 1].limit;
        seine_err e = seine_limiter_init(&t->rules[i], l->every, l->burst);

        (void)e; /* is_sound has said so */
    }
    t->entries[SN_ADDRESS_LIMITS_SLOTS].key = OVERFLOW_KEY;
    t->entries[SN_ADDRESS_LIMITS_SLOTS].full = SN_LONG_AGO;
    memcpy(t->secret, opts->secret, sizeof t->secret);
    if (!t->secret[0] && !t->secret[1])
        sn_rng_secret(t->secret, sizeof t->secret);
    return SEINE_OK;
}

void
sn_address_limits_fini(sn_address_limits *t)
{
    if (t->cap > 0)
        for (int i = 0; i < 64; i++)
            pthread_mutex_destroy(&t->locks[i]);
    if (t->entries)
        sn_pages_free(t->entries, (SN_ADDRESS_LIMITS_SLOTS + 1) * sizeof *t->entries);
    sn_free(t->rules);
    sn_free(t->groups);
    memset(t, 0, sizeof *t);
}

/* The four bytes of IPv4, also mapped into IPv6, or the first eight of IPv6. */
static uint64_t
key_of(const sn_address_limits *t, const sn_ip *ip)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    uint64_t key;

    if (ip->v == 4)
        key = sn_siphash(t->secret, ip->bytes, 4);
    else if (memcmp(ip->bytes, mapped, sizeof mapped) == 0)
        key = sn_siphash(t->secret, ip->bytes + 12, 4);
    else
        key = sn_siphash(t->secret, ip->bytes, 8);
    return key > OVERFLOW_KEY ? key : OVERFLOW_KEY + 1;
}

static uint16_t
rule_of(const sn_address_limits *t, const sn_ip *ip)
{
    size_t best = 0;

    for (size_t i = 1; i <= t->n_groups; i++)
        if (sn_cidr_has(&t->groups[i - 1].net, ip) &&
            (best == 0 || t->groups[i - 1].net.bits >= t->groups[best - 1].net.bits))
            best = i;
    return (uint16_t)best;
}

void
sn_address_limits_set(sn_address_limits *t, seine_span every)
{
    atomic_store_explicit(&t->every, every, memory_order_relaxed);
}

void
sn_address_limits_set_cap(sn_address_limits *t, uint16_t cap)
{
    atomic_store_explicit(&t->cap, cap, memory_order_relaxed);
}

/* The arithmetic of a rule. */
static seine_limiter
rule_at(const sn_address_limits *t, uint16_t i)
{
    seine_limiter rule = t->rules[i];
    seine_span every = atomic_load_explicit(&t->every, memory_order_relaxed);

    if (i == 0 && every != rule.every)
        (void)!seine_limiter_init(&rule, every, t->burst);
    return rule;
}

static uint16_t
cap_of(const sn_address_limits *t, uint16_t rule)
{
    return rule ? t->groups[rule - 1].limit.cap
                : atomic_load_explicit(&t->cap, memory_order_relaxed);
}

static uint32_t
find_entry(const sn_address_limits *t, uint64_t key)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t slot = (uint32_t)(key + i) & MASK;

        if (atomic_load_explicit(&t->entries[slot].key, memory_order_acquire) == key)
            return slot;
    }
    return SN_ADDRESS_LIMITS_SLOTS;
}

/* Counts itself in and tells how many were there before. NOBODY, and counted out
 * again, when the entry is another address's by now. */
static uint32_t
pin_entry(sn_address_limits_entry *e, uint64_t key)
{
    uint32_t before = atomic_fetch_add_explicit(&e->in_flight, 1, memory_order_acq_rel);

    if (!(before & CHANGING) &&
        atomic_load_explicit(&e->key, memory_order_acquire) == key)
        return before;
    atomic_fetch_sub_explicit(&e->in_flight, 1, memory_order_acq_rel);
    return NOBODY;
}

static void
unpin_entry(sn_address_limits_entry *e)
{
    atomic_fetch_sub_explicit(&e->in_flight, 1, memory_order_acq_rel);
}

/* Gives a free entry to the address, with one in flight. */
static bool
claim_entry(sn_address_limits *t, sn_address_limits_entry *e, uint64_t key, uint16_t rule,
            seine_time now)
{
    uint32_t nothing = 0, rest = CHANGING;

    if (!atomic_compare_exchange_strong(&e->in_flight, &nothing, CHANGING))
        return false;
    bool is_free = e->key == 0 || e->full <= now;
    if (is_free) {
        if (e->key == 0)
            atomic_fetch_add_explicit(&t->n_used, 1, memory_order_relaxed);
        e->rule = rule;
        e->full = SN_LONG_AGO;
        atomic_store_explicit(&e->key, key, memory_order_release);
        rest -= 1;
    }
    atomic_fetch_sub_explicit(&e->in_flight, rest, memory_order_acq_rel);
    return is_free;
}

/* An entry, and how many were in flight there before us. */
typedef struct spot {
    uint32_t slot, before;
} spot;

/* Finds a place for an address that has none. */
static spot
add_address(sn_address_limits *t, const sn_ip *ip, uint64_t key, seine_time now)
{
    pthread_mutex_t *lock = &t->locks[(key & MASK) / (SN_ADDRESS_LIMITS_SLOTS / 64)];
    uint16_t rule = rule_of(t, ip);
    spot s = {SN_ADDRESS_LIMITS_SLOTS, NOBODY};

    pthread_mutex_lock(lock);
    s.slot = find_entry(t, key); /* somebody may have been quicker */
    if (s.slot != SN_ADDRESS_LIMITS_SLOTS)
        s.before = pin_entry(&t->entries[s.slot], key);
    for (uint32_t i = 0; s.before == NOBODY && i < PROBES; i++) {
        s.slot = (uint32_t)(key + i) & MASK;
        if (claim_entry(t, &t->entries[s.slot], key, rule, now))
            s.before = 0;
    }
    pthread_mutex_unlock(lock);
    if (s.before == NOBODY) {
        atomic_fetch_add_explicit(&t->overflows, 1, memory_order_relaxed);
        s = (spot){SN_ADDRESS_LIMITS_SLOTS,
                   pin_entry(&t->entries[SN_ADDRESS_LIMITS_SLOTS], OVERFLOW_KEY)};
    }
    return s;
}

static spot
reach_entry(sn_address_limits *t, const sn_ip *ip, uint64_t key, seine_time now)
{
    spot s = {find_entry(t, key), NOBODY};

    if (s.slot != SN_ADDRESS_LIMITS_SLOTS)
        s.before = pin_entry(&t->entries[s.slot], key);
    return s.before != NOBODY ? s : add_address(t, ip, key, now);
}

static seine_time
busy_until(const seine_limiter *rule, seine_time now)
{
    return sn_time_add(now, sn_time_max(rule->every, PATIENCE));
}

/* Takes a token from the bucket, or says when there is one. */
static seine_time
charge_bucket(sn_address_limits_entry *e, const seine_limiter *rule, seine_time now)
{
    seine_limiter bucket = *rule;
    seine_time full = atomic_load_explicit(&e->full, memory_order_relaxed);

    do {
        bucket.full = full;
        seine_time ready = sn_gcra_ready(&bucket, now, bucket.every);
        if (ready > now)
            return ready;
        sn_gcra_pay(&bucket, now, bucket.every);
    } while (!atomic_compare_exchange_weak(&e->full, &full, bucket.full));
    return now;
}

seine_err
sn_address_limits_start(sn_address_limits *t, const sn_ip *ip, seine_time now,
                        uint32_t *out_slot, seine_time *out_when)
{
    spot s = reach_entry(t, ip, key_of(t, ip), now);
    sn_address_limits_entry *e = &t->entries[s.slot];
    seine_limiter rule = rule_at(t, e->rule);

    if (s.before >= cap_of(t, e->rule)) {
        unpin_entry(e);
        *out_when = busy_until(&rule, now);
        return SEINE_E_BUSY;
    }
    seine_time when = charge_bucket(e, &rule, now);
    if (when > now) {
        unpin_entry(e);
        *out_when = when;
        return SEINE_E_LIMITED;
    }
    *out_slot = s.slot;
    return SEINE_OK;
}

void
sn_address_limits_end(sn_address_limits *t, uint32_t slot)
{
    unpin_entry(&t->entries[slot]);
}

seine_time
sn_address_limits_when(const sn_address_limits *t, const sn_ip *ip, seine_time now)
{
    uint32_t slot = find_entry(t, key_of(t, ip));

    if (slot == SN_ADDRESS_LIMITS_SLOTS)
        return now;
    const sn_address_limits_entry *e = &t->entries[slot];
    uint32_t in_flight = atomic_load_explicit(&e->in_flight, memory_order_relaxed);
    uint16_t rule = rule_of(t, ip);
    seine_limiter bucket = rule_at(t, rule);

    if (!(in_flight & CHANGING) && in_flight >= cap_of(t, rule))
        return busy_until(&bucket, now);
    bucket.full = atomic_load_explicit(&e->full, memory_order_relaxed);
    return sn_gcra_ready(&bucket, now, bucket.every);
}
