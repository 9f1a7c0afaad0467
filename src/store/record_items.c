/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_items.h"

#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"

/* An item as it is packed: this, then its texts. */
typedef struct head {
    uint32_t lens[6];
    uint32_t n;
    uint32_t ok;
} head;

enum { TEXTS = 6 };

static void
free_items(sn_record_hold *base)
{
    seine_record_items *i = (seine_record_items *)(void *)base;

    sn_record_hold_unref(i->under);
    sn_buf_fini(&i->packed);
    sn_buf_fini(&i->kept);
    sn_buf_fini(&i->leads);
    sn_free(i);
}

seine_err
seine_record_items_new(seine_record_items **out_items)
{
    if (!out_items)
        return SEINE_E_INVAL;
    seine_record_items *i = sn_zalloc(sizeof *i);

    if (!i)
        return SEINE_E_NOMEM;
    atomic_init(&i->base.refs, 1);
    i->base.free = free_items;
    sn_buf_init(&i->packed, SIZE_MAX - 1);
    sn_buf_init(&i->kept, SIZE_MAX - 1);
    sn_buf_init(&i->leads, SIZE_MAX - 1);
    *out_items = i;
    return SEINE_OK;
}

void
seine_record_items_free(seine_record_items *i)
{
    if (i)
        sn_record_hold_unref(&i->base);
}

seine_err
seine_record_items_add(seine_record_items *i, const seine_item *item)
{
    seine_item own;
    head h;

    if (!i || !item || !sn_opts_read(&own, sizeof own, sizeof own, item))
        return SEINE_E_INVAL;
    const seine_view texts[TEXTS] = {own.kind,    own.data, own.errors,
                                     own.members, own.row,  own.url};
    for (unsigned k = 0; k < TEXTS; k++) {
        if (texts[k].len > UINT32_MAX)
            return SEINE_E_INVAL;
        h.lens[k] = (uint32_t)texts[k].len;
    }
    h.n = own.n;
    h.ok = own.ok;
    sn_buf_add(&i->packed, &h, sizeof h);
    for (unsigned k = 0; k < TEXTS; k++)
        sn_buf_str(&i->packed, texts[k]);
    i->n++;
    return sn_buf_done(&i->packed);
}

seine_err
seine_record_items_keep(seine_record_items *i, const char *bytes, size_t len)
{
    if (!i || (!bytes && len > 0))
        return SEINE_E_INVAL;
    sn_buf_reset(&i->kept);
    sn_buf_str(&i->kept, (sn_str){bytes, len});
    return sn_buf_done(&i->kept);
}

/* A lead as it is packed: this, then its two texts. */
typedef struct lead_head {
    uint32_t url, rest, is_moved;
} lead_head;

seine_err
sn_record_items_lead(seine_record_items *i, const sn_item_lead *lead)
{
    if (lead->url.len > UINT32_MAX || lead->rest.len > UINT32_MAX)
        return SEINE_E_INVAL;
    lead_head h = {(uint32_t)lead->url.len, (uint32_t)lead->rest.len, lead->is_moved};

    sn_buf_add(&i->leads, &h, sizeof h);
    sn_buf_str(&i->leads, lead->url);
    sn_buf_str(&i->leads, lead->rest);
    return sn_buf_done(&i->leads);
}

size_t
seine_record_items_count(const seine_record_items *i)
{
    return i ? i->n : 0;
}

/* The items become the hold of the record, with all that its own hold has. */
static void
take_hold(seine_record_items *i, seine_record *r)
{
    sn_record_hold *under = r->hold;

    if (under) {
        sn_record_hold_ref(under);
        i->under = under;
        i->base.bytes = under->bytes;
        i->base.change = under->change;
        i->base.page = under->page;
        i->base.links = under->links;
        i->base.referrers = under->referrers;
        i->base.data = under->data;
    }
    i->base.items = i;
    i->base.kept = sn_buf_view(&i->kept);
    r->hold = &i->base;
}

seine_err
seine_sinks_put_items(seine_sinks *s, unsigned lane, const seine_record *r,
                      seine_record_items *give)
{
    seine_err e = SEINE_E_INVAL;

    if (r && give) {
        seine_record own = *r;

        take_hold(give, &own);
        e = seine_sinks_put(s, lane, &own);
    }
    seine_record_items_free(give);
    return e;
}

/* Reading. */

size_t
sn_record_items_count(const seine_record *r)
{
    const sn_record_hold *h = r->hold;

    return h && h->items ? h->items->n : 0;
}

size_t
sn_record_items_bytes(const seine_record *r)
{
    const sn_record_hold *h = r->hold;

    return h && h->items
               ? h->items->packed.room + h->items->kept.room + h->items->leads.room
               : 0;
}

sn_item_cursor
sn_record_items_of(const seine_record *r)
{
    const sn_record_hold *h = r->hold;

    return (sn_item_cursor){h && h->items ? sn_buf_view(&h->items->packed) : (sn_str){0}};
}

bool
sn_record_items_next(sn_item_cursor *c, seine_item *out)
{
    seine_view *texts[TEXTS] = {&out->kind,    &out->data, &out->errors,
                                &out->members, &out->row,  &out->url};
    size_t at = sizeof(head);
    head h;

    if (c->rest.len < sizeof h)
        return false;
    memcpy(&h, c->rest.ptr, sizeof h);
    for (unsigned k = 0; k < TEXTS; at += h.lens[k++])
        *texts[k] = sn_str_slice(c->rest, at, at + h.lens[k]);
    out->size = sizeof *out;
    out->n = h.n;
    out->ok = h.ok != 0;
    c->rest = sn_str_slice(c->rest, at, c->rest.len);
    return true;
}

sn_item_cursor
sn_record_leads_of(const seine_record *r)
{
    const sn_record_hold *h = r->hold;

    return (sn_item_cursor){h && h->items ? sn_buf_view(&h->items->leads) : (sn_str){0}};
}

bool
sn_record_leads_next(sn_item_cursor *c, sn_item_lead *out)
{
    lead_head h;

    if (c->rest.len < sizeof h)
        return false;
    memcpy(&h, c->rest.ptr, sizeof h);
    size_t at = sizeof h, end = at + h.url + h.rest;
    *out = (sn_item_lead){.url = sn_str_slice(c->rest, at, at + h.url),
                          .rest = sn_str_slice(c->rest, at + h.url, end),
                          .is_moved = h.is_moved != 0};
    c->rest = sn_str_slice(c->rest, end, c->rest.len);
    return true;
}
