/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "store/job_parts.h"

static seine_err
make_room(seine_durable_job *j, size_t id)
{
    if (id < j->by_id_room)
        return SEINE_OK;
    size_t room = j->by_id_room * 2 > id ? j->by_id_room * 2 : id + 64;
    sn_job_name **more = sn_realloc(j->by_id, room * sizeof *more);

    if (!more)
        return SEINE_E_NOMEM;
    memset(more + j->by_id_room, 0, (room - j->by_id_room) * sizeof *more);
    j->by_id = more;
    j->by_id_room = room;
    return SEINE_OK;
}

/* Numbers of hosts are given in order, so that the table is dense. */
seine_err
sn_job_host_add(seine_durable_job *j, int64_t id, sn_str name, sn_job_name **out_host)
{
    if (id < 1 || id > (int64_t)j->hosts.count + 1)
        return SEINE_E_STATE_CORRUPT;
    seine_err e = make_room(j, (size_t)id);
    if (e != SEINE_OK)
        return e;
    if (j->by_id[id])
        return SEINE_E_STATE_CORRUPT;
    sn_job_name *h = sn_arena_get(&j->names, 1, sizeof *h, _Alignof(sn_job_name));
    char *text = h ? sn_arena_text(&j->names, name) : NULL;

    if (!text)
        return SEINE_E_NOMEM;
    *h = (sn_job_name){.name = {text, name.len}, .id = id};
    e = sn_map_add(&j->hosts, h->name, h);
    if (e != SEINE_OK)
        return e == SEINE_E_ALREADY ? SEINE_E_STATE_CORRUPT : e;
    j->by_id[id] = h;
    *out_host = h;
    return SEINE_OK;
}

seine_err
sn_job_host_find(seine_durable_job *j, sn_str name, sn_job_name **out_host)
{
    *out_host = sn_map_get(&j->hosts, name);
    if (*out_host)
        return SEINE_OK;
    return sn_job_host_add(j, (int64_t)j->hosts.count + 1, name, out_host);
}

sn_str
sn_job_host_shown(sn_str name)
{
    sn_str own = sn_str_starts(name, SN_STR("http:")) ? SN_STR(":80") : SN_STR(":443");

    if (sn_str_ends(name, own))
        name.len -= own.len;
    return name;
}

bool
sn_job_bit_get(const sn_job_bits *b, uint64_t number)
{
    return number / 64 < b->n && b->words[number / 64] >> number % 64 & 1;
}

seine_err
sn_job_bit_set(sn_job_bits *b, uint64_t number)
{
    size_t word = (size_t)(number / 64);

    if (word >= b->n) {
        size_t n = b->n * 2 > word ? b->n * 2 : word + 1024;
        uint64_t *more = sn_realloc(b->words, n * sizeof *more);

        if (!more)
            return SEINE_E_NOMEM;
        memset(more + b->n, 0, (n - b->n) * sizeof *more);
        b->words = more;
        b->n = n;
    }
    b->words[word] |= UINT64_C(1) << number % 64;
    return SEINE_OK;
}

void
sn_job_bit_clear(sn_job_bits *b, uint64_t number)
{
    if (number / 64 < b->n)
        b->words[number / 64] &= ~(UINT64_C(1) << number % 64);
}
