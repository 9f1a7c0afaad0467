/* SPDX-License-Identifier: Apache-2.0 */
/* How many pages the path patterns of a host had, and which of them are traps: the next
 * owner of the host goes on counting. A commit carries the newest count of a pattern. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "store/fleet_parts.h"

enum { KEY = 16 }; /* hexadecimal digits, then a space and the host */

void
sn_fleet_patterns_clear(sn_map *patterns)
{
    SN_MAP_EACH(entry, patterns)
        sn_free(entry->value);
    sn_map_fini(patterns);
    *patterns = (sn_map){0};
}

/* The entry of that name, made if there is none. NULL: no memory. */
static sn_fleet_count *
count_of(sn_map *patterns, sn_str name)
{
    sn_fleet_count *n = sn_map_get(patterns, name);

    if (n)
        return n;
    if (!patterns->slots)
        sn_map_init(patterns, UINT32_MAX);
    n = sn_zalloc(sizeof *n + name.len);
    if (!n)
        return NULL;
    n->name_len = name.len;
    memcpy(n->name, name.ptr, name.len);
    if (sn_map_add(patterns, (sn_str){n->name, name.len}, n) == SEINE_OK)
        return n;
    sn_free(n);
    return NULL;
}

seine_err
sn_fleet_take_pattern(sn_fleet *f, sn_str name, sn_str value, bool is_trap)
{
    sn_str host = sn_str_slice(name, KEY + 1, name.len);
    int64_t pages = 0;
    seine_err e = SEINE_OK;

    if (name.len <= KEY + 1 || value.len != sizeof pages)
        return SEINE_OK;
    memcpy(&pages, value.ptr, sizeof pages);
    pthread_mutex_lock(&f->lock);
    sn_tenure *t = f->by_part[sn_fleet_part_of(f, host)];
    sn_fleet_count *n = t ? count_of(&t->next.patterns, name) : NULL;
    if (t && !n)
        e = SEINE_E_NOMEM;
    else if (n && is_trap)
        snprintf(n->value, sizeof n->value, "trap");
    else if (n && strcmp(n->value, "trap") != 0)
        snprintf(n->value, sizeof n->value, "%" PRId64, pages);
    if (n)
        atomic_fetch_add(&f->pending, 1);
    pthread_mutex_unlock(&f->lock);
    return e;
}

/* What cannot be read is left out: the pattern counts from now on. */
static seine_err
tell(sn_str name, sn_str value, const sn_fleet_hooks *hooks)
{
    bool is_trap = sn_str_eq(value, SN_STR("trap"));
    uint64_t key = 0, pages = 0;

    if (name.len <= KEY + 1 ||
        (!is_trap && (sn_str_u64(value, &pages) != SEINE_OK || pages > UINT32_MAX)))
        return SEINE_OK;
    for (size_t i = 0; i < KEY; i++) {
        int digit = sn_hex_digit(name.ptr[i]);

        if (digit < 0)
            return SEINE_OK;
        key = key << 4 | (uint64_t)digit;
    }
    return hooks->pattern(sn_str_slice(name, KEY + 1, name.len), key, (uint32_t)pages,
                          is_trap, hooks->arg);
}

seine_err
sn_fleet_load_patterns(sn_fleet *f, const sn_tenure *t, const sn_fleet_hooks *hooks)
{
    sn_redis_sync *r = sn_fleet_server_of(f, t->part)->keeper;
    sn_fleet_key key = sn_fleet_key_of(&f->id, t->part, "t");
    char cursor[32] = "0";
    seine_err e = SEINE_OK;

    do {
        sn_str words[] = {SN_STR("HSCAN"), sn_fleet_key_view(&key), sn_str_of(cursor),
                          SN_STR("COUNT"), SN_STR("1000")};
        const sn_redis_reply *reply;

        e = sn_redis_sync_ask(r, words, 5, &reply);
        if (e != SEINE_OK)
            return e;
        if (reply->kind != SN_REDIS_ARRAY || reply->count != 2)
            return SEINE_E_STORE_UNAVAILABLE;
        const sn_redis_reply *rows = reply->items[1];
        for (size_t i = 0; i + 1 < rows->count && e == SEINE_OK; i += 2)
            e = tell(rows->items[i]->text, rows->items[i + 1]->text, hooks);
        snprintf(cursor, sizeof cursor, "%.*s", SN_FMT(reply->items[0]->text));
    } while (e == SEINE_OK && strcmp(cursor, "0") != 0);
    return e;
}
