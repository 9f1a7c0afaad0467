/* SPDX-License-Identifier: Apache-2.0 */
/* Links on their way to the inboxes of their partitions. The sink thread owns all of it.
 * A block that was packed stays until the server has said that it has the block; a reply
 * that is lost means that the block is sent twice, and the links of the second one are
 * known then. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "store/fleet_parts.h"

enum { AT_ONCE = 512 }; /* blocks in one pipeline */

static seine_err
pack(sn_fleet *f, uint32_t slot)
{
    sn_fleet_block *b = &f->outbox[slot].links;
    uint32_t n = b->n;
    sn_buf bytes;

    if (n == 0)
        return SEINE_OK;
    sn_buf_init(&bytes, SIZE_MAX);
    seine_err e = sn_fleet_block_pack(b, &bytes);
    sn_outbox_packed *p = e == SEINE_OK ? sn_alloc(sizeof *p + bytes.len) : NULL;
    if (p) {
        *p = (sn_outbox_packed){.part = slot < f->parts ? slot : slot - f->parts,
                                .is_late = slot >= f->parts,
                                .n = n,
                                .len = bytes.len};
        memcpy(p->bytes, bytes.ptr, bytes.len);
        *f->packed_end = p;
        f->packed_end = &p->next;
        f->packed_bytes += p->len;
    }
    sn_buf_fini(&bytes);
    return e == SEINE_OK && !p ? SEINE_E_NOMEM : e;
}

seine_err
sn_outbox_add(sn_fleet *f, const sn_fleet_link *l)
{
    /* The flags of other kinds say what leads there. */
    bool is_late = l->url.kind == SN_FLEET_LATE && l->url.flags & SN_FLEET_AT_END;
    uint32_t slot = sn_fleet_part_of(f, l->url.target) + (is_late ? f->parts : 0);
    sn_outbox_block *o = &f->outbox[slot];

    if (!o->is_used)
        sn_fleet_block_init(&o->links);
    o->is_used = true;
    seine_err e = sn_fleet_block_add(&o->links, l);
    if (e == SEINE_E_RANGE)
        return SEINE_OK; /* nothing that long is fetched */
    if (e != SEINE_OK)
        return e;
    f->links_out++;
    atomic_fetch_add(&f->n_links, 1);
    return sn_fleet_block_is_full(&o->links) ? pack(f, slot) : SEINE_OK;
}

seine_err
sn_outbox_pack_all(sn_fleet *f)
{
    seine_err e = SEINE_OK;

    if (f->links_out == 0)
        return SEINE_OK;
    for (uint32_t i = 0; i < 2 * f->parts && e == SEINE_OK; i++)
        if (f->outbox[i].is_used)
            e = pack(f, i);
    if (e == SEINE_OK)
        f->links_out = 0;
    return e;
}

static void
add_block(sn_fleet *f, sn_redis_sync *r, const sn_outbox_packed *p)
{
    sn_fleet_key in = sn_fleet_key_of(&f->id, p->part, p->is_late ? "late" : "in");
    char n[12];
    int len = snprintf(n, sizeof n, "%u", p->n);
    sn_str words[] = {SN_STR("XADD"),    sn_fleet_key_view(&in), SN_STR("*"),
                      SN_STR("n"),       {n, (size_t)len},       SN_STR("z"),
                      {p->bytes, p->len}};

    sn_redis_sync_add(r, words, sizeof words / sizeof *words);
}

/* Sends the first blocks that belong to this server; what it has got then has n 0. */
static seine_err
send_some(sn_fleet *f, uint32_t server, bool *out_any)
{
    sn_redis_sync *r = f->servers[server].sink;
    sn_outbox_packed *batch[AT_ONCE];
    size_t n = 0;
    seine_err e = SEINE_OK;

    for (sn_outbox_packed *p = f->packed; p && n < AT_ONCE; p = p->next)
        if (p->part % f->n_servers == server) {
            batch[n++] = p;
            add_block(f, r, p);
        }
    *out_any = n > 0;
    for (size_t i = 0; i < n; i++) {
        const sn_redis_reply *reply;
        seine_err one = sn_redis_sync_next(r, &reply);

        if (one != SEINE_OK)
            return one;
        if (reply->kind == SN_REDIS_ERROR) {
            atomic_store(&f->is_full, sn_str_starts(reply->text, SN_STR("OOM")));
            e = SEINE_E_STORE_UNAVAILABLE;
            continue;
        }
        batch[i]->n = 0; /* it is there */
    }
    return e;
}

static void
drop_sent(sn_fleet *f)
{
    sn_outbox_packed **at = &f->packed;

    while (*at) {
        sn_outbox_packed *p = *at;

        if (p->n > 0) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        f->packed_bytes -= p->len;
        atomic_fetch_add(&f->n_blocks, 1);
        sn_free(p);
    }
    f->packed_end = at;
}

seine_err
sn_outbox_send(sn_fleet *f)
{
    seine_err e = SEINE_OK;

    for (uint32_t s = 0; s < f->n_servers; s++) {
        sn_fleet_server *server = &f->servers[s];
        bool any = f->packed != NULL;

        while (any) {
            seine_err one = sn_fleet_reach(f, server->sink, &server->sink_retry_at,
                                           &server->sink_pause);

            if (one == SEINE_OK)
                one = send_some(f, s, &any);
            drop_sent(f);
            if (one != SEINE_OK) {
                e = one;
                break;
            }
        }
    }
    if (e == SEINE_OK)
        atomic_store(&f->is_full, false);
    return e;
}

void
sn_outbox_fini(sn_fleet *f)
{
    for (sn_outbox_packed *p = f->packed, *next; p; p = next) {
        next = p->next;
        sn_free(p);
    }
    for (uint32_t i = 0; f->outbox && i < 2 * f->parts; i++)
        if (f->outbox[i].is_used)
            sn_fleet_block_fini(&f->outbox[i].links);
    sn_free(f->outbox);
}
