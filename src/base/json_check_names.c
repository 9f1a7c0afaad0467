/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/json_check.h"
#include "base/rng.h"

/*
 * Names lie on a stack, with those of the innermost object on top, and a hash table finds
 * them. The table removes the newest names first, so an emptied slot never splits a probe
 * sequence of a name that was added later.
 */

struct sn_json_name {
    uint64_t hash;
    sn_str raw;
    uint32_t object;
};

typedef struct sn_json_name entry;

enum { FEWEST = 64 };

void
sn_json_names_init(sn_json_names *n)
{
    *n = (sn_json_names){.all = NULL};
    sn_rng_secret(n->secret, sizeof n->secret);
    sn_buf_init(&n->one, SIZE_MAX / 2);
    sn_buf_init(&n->two, SIZE_MAX / 2);
}

void
sn_json_names_fini(sn_json_names *n)
{
    sn_free(n->all);
    sn_free(n->slots);
    sn_buf_fini(&n->one);
    sn_buf_fini(&n->two);
}

static void
add_char(sn_buf *b, uint32_t c)
{
    char text[4];
    size_t n = 0;

    if (c < 0x80) {
        text[n++] = (char)c;
    } else if (c < 0x800) {
        text[n++] = (char)(0xc0 | c >> 6);
        text[n++] = (char)(0x80 | (c & 0x3f));
    } else {
        if (c < 0x10000) {
            text[n++] = (char)(0xe0 | c >> 12);
        } else {
            text[n++] = (char)(0xf0 | c >> 18);
            text[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        }
        text[n++] = (char)(0x80 | (c >> 6 & 0x3f));
        text[n++] = (char)(0x80 | (c & 0x3f));
    }
    sn_buf_add(b, text, n);
}

static uint32_t
hex4(const char *p)
{
    uint32_t c = 0;

    for (int i = 0; i < 4; i++)
        c = c << 4 | (uint32_t)sn_hex_digit(p[i]);
    return c;
}

/* Decodes the escape behind the backslash and returns its length. */
static size_t
unescape(sn_buf *b, const char *p)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *plain = strchr(from, *p);
    uint32_t c;

    if (*p != 'u') {
        sn_buf_char(b, plain ? to[plain - from] : *p);
        return 1;
    }
    c = hex4(p + 1);
    if (c < 0xd800 || c > 0xdfff) {
        add_char(b, c);
        return 5;
    }
    add_char(b, 0x10000 + ((c - 0xd800) << 10) + (hex4(p + 7) - 0xdc00));
    return 11;
}

sn_str
sn_json_unescape(sn_str raw, sn_buf *b)
{
    if (sn_str_find(raw, '\\') == raw.len)
        return raw;
    sn_buf_reset(b);
    for (size_t i = 0; i < raw.len; i++)
        if (raw.ptr[i] != '\\')
            sn_buf_char(b, raw.ptr[i]);
        else
            i += unescape(b, raw.ptr + i + 1);
    return sn_buf_view(b);
}

/* The slot that holds the hash, or the empty slot where it belongs. */
static size_t
slot_of(const sn_json_names *n, uint64_t hash)
{
    return (size_t)hash & (n->n_slots - 1);
}

static void
fill(sn_json_names *n, uint32_t number)
{
    size_t at = slot_of(n, n->all[number - 1].hash);

    while (n->slots[at])
        at = (at + 1) & (n->n_slots - 1);
    n->slots[at] = number;
}

static bool
grow_names(sn_json_names *n)
{
    size_t room = n->room ? 2 * n->room : FEWEST;
    entry *all = sn_realloc(n->all, room * sizeof *all);

    if (!all)
        return false;
    n->all = all;

    uint32_t *slots = sn_calloc(2 * room, sizeof *slots);
    if (!slots)
        return false;
    sn_free(n->slots);
    n->slots = slots;
    n->n_slots = 2 * room;
    n->room = room;
    for (uint32_t i = 0; i < n->count; i++)
        fill(n, i + 1);
    return true;
}

static bool
is_same(sn_json_names *n, const entry *there, uint64_t hash, uint32_t object, sn_str name)
{
    return there->hash == hash && there->object == object &&
           sn_str_eq(sn_json_unescape(there->raw, &n->two), name);
}

seine_err
sn_json_names_add(sn_json_names *n, uint32_t object, sn_str raw)
{
    sn_str name = sn_json_unescape(raw, &n->one); /* spellings of a name are equal */
    uint64_t hash = sn_siphash(n->secret, name.ptr, name.len) ^
                    (object * UINT64_C(0x9e3779b97f4a7c15));

    if (n->one.err != SEINE_OK || (n->count == n->room && !grow_names(n)))
        return SEINE_E_NOMEM;
    for (size_t at = slot_of(n, hash); n->slots[at]; at = (at + 1) & (n->n_slots - 1))
        if (is_same(n, &n->all[n->slots[at] - 1], hash, object, name))
            return SEINE_E_ALREADY;
    n->all[n->count++] = (entry){hash, raw, object};
    fill(n, (uint32_t)n->count);
    return n->two.err;
}

void
sn_json_names_close(sn_json_names *n, uint32_t object)
{
    while (n->count > 0 && n->all[n->count - 1].object == object) {
        size_t at = slot_of(n, n->all[n->count - 1].hash);

        while (n->slots[at] != n->count)
            at = (at + 1) & (n->n_slots - 1);
        n->slots[at] = 0;
        n->count--;
    }
}
