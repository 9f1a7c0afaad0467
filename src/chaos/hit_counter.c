/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/hit_counter.h"

#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

void
snc_hit_counter_init(snc_hit_counter *t)
{
    sn_map_init(&t->keys, SNC_HIT_COUNTER_KEYS);
    t->dropped = 0;
}

void
snc_hit_counter_reset(snc_hit_counter *t)
{
    SN_MAP_EACH(entry, &t->keys) {
        snc_key *key = entry->value;

        sn_free(key->taken);
        sn_free(key);
    }
    sn_map_reset(&t->keys);
    t->dropped = 0;
}

void
snc_hit_counter_fini(snc_hit_counter *t)
{
    snc_hit_counter_reset(t);
    sn_map_fini(&t->keys);
}

static snc_key *
add_key(snc_hit_counter *t, sn_str name)
{
    snc_key *key = sn_zalloc(sizeof *key + name.len + 1);

    if (!key)
        return NULL;
    if (name.len > 0)
        memcpy(key->text, name.ptr, name.len);
    key->name = (sn_str){key->text, name.len};
    if (sn_map_add(&t->keys, key->name, key) != SEINE_OK)
        sn_free(SN_STEAL(key));
    return key;
}

snc_key *
snc_hit_counter_hit(snc_hit_counter *t, sn_str name)
{
    snc_key *key = sn_map_get(&t->keys, name);

    if (!key)
        key = add_key(t, name);
    if (!key) {
        t->dropped++;
        return NULL;
    }
    key->hits++;
    return key;
}

bool
snc_key_limit(snc_key *key, seine_time now, uint64_t rate, seine_span window)
{
    if (key->room != rate) {
        sn_free(key->taken);
        key->taken = sn_calloc(rate, sizeof *key->taken);
        key->room = key->taken ? rate : 0;
        key->next = 0;
        for (uint64_t i = 0; i < key->room; i++)
            key->taken[i] = INT64_MIN;
    }
    if (key->room == 0)
        return false;

    /* The next slot holds the moment of the admission `rate` requests ago. */
    seine_time oldest = key->taken[key->next % rate];
    if (oldest != INT64_MIN && sn_time_sub(now, oldest) < window)
        return true;
    key->taken[key->next++ % rate] = now;
    return false;
}
