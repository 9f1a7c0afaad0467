/* SPDX-License-Identifier: Apache-2.0 */
/* Large bytes of a visit that go with its record, together with the memory they are
 * charged for. */
#include "base/alloc.h"
#include "engine/capture.h"
#include "engine/emit.h"
#include "engine/revisit.h"
#include "store/record_hold.h"

/* Smaller ones are copied, and not charged. A copy of others would be memory that nobody
 * counts, for as long as the outputs are slow. */
#define LARGE (4u << 10)

typedef struct hold {
    sn_record_hold base;
    sn_buf body, captures, page;
    sn_charge charge;
    sn_memory_brake *brake;
} hold;

static void
free_hold(sn_record_hold *base)
{
    hold *h = (hold *)base;

    sn_buf_fini(&h->body);
    sn_buf_fini(&h->captures);
    sn_buf_fini(&h->page);
    if (h->brake) {
        sn_charge_release(&h->charge, h->brake);
        sn_memory_brake_unref(h->brake);
    }
    sn_free(h);
}

/* The hold of a record, made if there is none. NULL: no memory. */
static hold *
hold_of(seine_record *r)
{
    hold *h = r->hold;

    if (h || !(h = sn_zalloc(sizeof *h)))
        return h;
    h->base.free = free_hold;
    atomic_init(&h->base.refs, 1);
    r->hold = &h->base;
    return h;
}

bool
sn_emit_change(sn_visit *v, const sn_shared_state *c, seine_record *r)
{
    sn_job_page row;
    bool has_row = false;
    seine_change change = sn_revisit_judge(c, v, r->wall, &row, &has_row);

    if (change == SEINE_CHANGE_NONE && !has_row)
        return true;
    hold *h = hold_of(r);
    if (!h)
        return false;
    h->base.change = change;
    if (!has_row)
        return true;
    sn_buf_init(&h->page, SIZE_MAX - 1);
    h->base.page = sn_job_page_pack(&row, &h->page);
    return sn_buf_done(&h->page) == SEINE_OK;
}

void
sn_emit_hold(sn_visit *v, sn_memory_brake *brake, seine_record *r)
{
    size_t captures = r->n_captures > 0 ? sn_capture_memory(v) : 0;
    size_t body = r->body.ptr ? v->kept.len : 0;

    if (body + captures <= LARGE)
        return;
    hold *h = hold_of(r);
    if (!h)
        return; /* a copy is made, if there is memory for that */
    h->base.bytes = body + captures;
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
}

void
sn_emit_let_go(seine_record *r)
{
    sn_record_hold_unref(r->hold);
    r->hold = NULL;
}
