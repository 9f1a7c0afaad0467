/* SPDX-License-Identifier: Apache-2.0 */
#include "store/failures.h"

#include <string.h>

#include "base/alloc.h"
#include "store/record.h"
#include "store/record_hold.h"

seine_err
sn_failures_init(sn_failures *f, uint32_t most)
{
    *f = (sn_failures){.pages = sn_calloc(most, sizeof *f->pages)};
    f->end = &f->first;
    sn_referrers_init(&f->table, most);
    return f->pages ? SEINE_OK : SEINE_E_NOMEM;
}

void
sn_failures_fini(sn_failures *f)
{
    while (sn_failures_next(f))
        continue;
    sn_referrers_fini(&f->table);
    sn_free(f->pages);
    *f = (sn_failures){.pages = NULL};
}

bool
sn_failures_is_failure(const seine_record *r)
{
    return r->type == SEINE_RECORD_RESULT && r->fate != SEINE_FATE_OK;
}

static void
free_small(sn_record_hold *h)
{
    sn_free(h);
}

/* A hold without body and captures: those are charged to the memory of the engine, which
 * would wait for them. They are copied with the record instead. */
static sn_record_hold *
small_hold(const sn_record_hold *h)
{
    sn_record_hold *s = sn_alloc(sizeof *s + h->page.len);

    if (!s)
        return NULL;
    *s = (sn_record_hold){.free = free_small, .change = h->change};
    atomic_init(&s->refs, 1);
    if (h->page.len > 0)
        s->page = (sn_str){memcpy(s + 1, h->page.ptr, h->page.len), h->page.len};
    return s;
}

static sn_record_block *
copy_record(const seine_record *r)
{
    seine_record own = *r;

    own.hold = r->hold ? small_hold(r->hold) : NULL;
    if (r->hold && !own.hold)
        return NULL;
    sn_record_block *b =
        sn_record_room(&own) <= SN_FAILURE_LARGEST ? sn_record_block_new(&own) : NULL;
    sn_record_hold_unref(own.hold);
    return b;
}

bool
sn_failures_hold(sn_failures *f, const seine_record *r)
{
    sn_record_block *b = f->bytes < SN_FAILURES_BYTES ? copy_record(r) : NULL;

    if (!b)
        return false;
    b->next = NULL;
    *f->end = b;
    f->end = &b->next;
    f->bytes += b->size;
    return true;
}

seine_record *
sn_failures_next(sn_failures *f)
{
    sn_record_block *b = f->first;

    sn_record_block_free(f->taken);
    f->taken = b;
    if (!b)
        return NULL;
    f->first = b->next;
    if (!f->first)
        f->end = &f->first;
    f->bytes -= b->size;
    return b->record;
}

void
sn_failures_with(sn_failures *f, seine_record *r, void (*fn)(seine_record *r, void *arg),
                 void *arg)
{
    sn_record_hold *old = r->hold, with = {.refs = 1};
    sn_referrer_list list = {.pages = f->pages};

    if (old) {
        with.bytes = old->bytes;
        with.change = old->change;
        with.page = old->page;
        with.links = old->links;
    }
    list.n =
        sn_referrers_get(&f->table, r->key.ptr ? r->key : r->url, f->pages, &list.count);
    with.referrers = &list;
    r->hold = &with;
    fn(r, arg);
    r->hold = old;
}
