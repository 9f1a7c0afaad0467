/* SPDX-License-Identifier: Apache-2.0 */
/* Large bytes of a visit that go with its record, together with the memory they are
 * charged for. */
#include "base/alloc.h"
#include "engine/capture.h"
#include "engine/emit.h"
#include "engine/page.h"
#include "engine/revisit.h"
#include "store/record_hold.h"
#include "store/record_links.h"

/* Smaller ones are copied, and not charged. A copy of others would be memory that nobody
 * counts, for as long as the outputs are slow. */
#define LARGE (4u << 10)

typedef struct hold {
    sn_record_hold base;
    sn_buf body, captures, page, data;
    sn_record_links links;
    sn_charge charge, data_charge;
    sn_memory_brake *brake;
} hold;

static void
free_hold(sn_record_hold *base)
{
    hold *h = (hold *)base;

    sn_buf_fini(&h->body);
    sn_buf_fini(&h->captures);
    sn_buf_fini(&h->page);
    sn_record_links_fini(&h->links);
    sn_buf_fini(&h->data);
    if (h->brake) {
        sn_charge_release(&h->charge, h->brake);
        sn_charge_release(&h->data_charge, h->brake);
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

/* Copies the links of the page as they stand there. */
static void
copy_links(const sn_visit *v, bool has_page, sn_record_links *to)
{
    sn_page_link l;

    if (v->target)
        sn_record_links_add(to, &(sn_raw_link){.value = seine_url_href(v->target)});
    for (size_t i = 0; has_page && sn_page_link_at(v->page, i, &l); i++)
        sn_record_links_add(to, &(sn_raw_link){.value = l.value,
                                               .line = l.line,
                                               .col = l.col,
                                               .tag = l.tag,
                                               .attr = l.attr});
}

bool
sn_emit_links(sn_visit *v, const seine_fetch_opts *o, seine_record *r)
{
    char mem[SEINE_URL_ROOM];
    seine_url base;

    if (r->type != SEINE_RECORD_RESULT || v->fault.code != SEINE_OK ||
        (!r->has_links && !v->target))
        return true;
    hold *h = hold_of(r);
    if (!h)
        return false;
    seine_url_init(&base, mem, sizeof mem);
    bool is_base = r->has_links && sn_page_base(v->page, &v->url, &base) == SEINE_OK;
    sn_record_links_init(&h->links, seine_url_href(is_base ? &base : &v->url),
                         o->strip_params);
    copy_links(v, r->has_links, &h->links);
    h->base.links = &h->links;
    if (sn_record_links_done(&h->links) == SEINE_OK)
        return true;
    h->base.links = NULL;
    return false;
}

static void
set_brake(hold *h, sn_memory_brake *brake)
{
    if (h->brake)
        return;
    h->brake = brake;
    sn_memory_brake_ref(brake);
}

bool
sn_emit_values(sn_values *values, sn_memory_brake *brake, seine_record *r)
{
    hold *h = values->has_data ? hold_of(r) : NULL;
    bool good = values->err != SEINE_E_NOMEM && (h || !values->has_data);

    if (h) {
        h->data = values->data;
        h->base.data = sn_buf_view(&h->data);
        h->data_charge = values->charge;
        if (h->data.len > LARGE)
            set_brake(h, brake);
        values->data = (sn_buf){0};
        values->charge = (sn_charge){0};
        values->has_data = false;
    }
    if (r->extract == SEINE_OK)
        r->extract = good ? values->err : SEINE_E_NOMEM;
    return good;
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
    set_brake(h, brake);
    h->charge = v->charge;
    v->charge = (sn_charge){.number = v->number};
}

void
sn_emit_let_go(seine_record *r)
{
    sn_record_hold_unref(r->hold);
    r->hold = NULL;
}
