/* SPDX-License-Identifier: Apache-2.0 */
/* Large bytes of a visit that go with its record, together with the memory they are
 * charged for. */
#include "base/alloc.h"
#include "engine/capture.h"
#include "engine/emit.h"
#include "store/record_hold.h"

/* Smaller ones are copied, and not charged. A copy of others would be memory that nobody
 * counts, for as long as the outputs are slow. */
#define LARGE (4u << 10)

typedef struct hold {
    sn_record_hold base;
    sn_buf body, captures;
    sn_charge charge;
    sn_memory_brake *brake;
} hold;

static void
free_hold(sn_record_hold *base)
{
    hold *h = (hold *)base;

    sn_buf_fini(&h->body);
    sn_buf_fini(&h->captures);
    sn_charge_release(&h->charge, h->brake);
    sn_memory_brake_unref(h->brake);
    sn_free(h);
}

void
sn_emit_hold(sn_visit *v, sn_memory_brake *brake, seine_record *r)
{
    size_t captures = r->n_captures > 0 ? sn_capture_memory(v) : 0;
    size_t body = r->body.ptr ? v->kept.len : 0;

    if (body + captures <= LARGE)
        return;
    hold *h = sn_zalloc(sizeof *h);
    if (!h)
        return; /* a copy is made, if there is memory for that */
    h->base.free = free_hold;
    h->base.bytes = body + captures;
    atomic_init(&h->base.refs, 1);
    if (body > 0) {
        size_t cap = v->kept.cap;

        h->body = v->kept;
        sn_buf_init(&v->kept, cap);
    }
    if (r->n_captures > 0)
        sn_capture_take(v, &h->captures);
    h->brake = brake;
    sn_memory_brake_ref(brake);
    h->charge = v->charge;
    v->charge = (sn_charge){.number = v->number};
    r->hold = &h->base;
}

void
sn_emit_let_go(seine_record *r)
{
    sn_record_hold_unref(r->hold);
    r->hold = NULL;
}
