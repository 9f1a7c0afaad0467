/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/values.h"

#define LARGE (4u << 10) /* smaller ones are not counted */

/* Memory for the tree of a page; it counts until the values are there. */
typedef struct purse {
    const sn_values_reading *how;
    sn_charge charge;
    uint64_t taken;
} purse;

static seine_err
take_memory(uint64_t bytes, void *arg)
{
    purse *p = arg;
    const sn_values_reading *how = p->how;

    if (how->is_canceled && how->is_canceled(how->arg))
        return SEINE_E_CANCELED;
    p->taken += bytes;
    return sn_charge_set(&p->charge, how->brake, p->taken) ? SEINE_OK : SEINE_E_BUDGET;
}

static void
give_memory(uint64_t bytes, void *arg)
{
    (void)bytes; /* the tree is still there */
    (void)arg;
}

/* Copies what the extractor has until its next page. */
static seine_err
keep_data(sn_values *values, seine_view data, sn_memory_brake *brake)
{
    sn_buf_init(&values->data, SIZE_MAX - 1);
    sn_buf_reserve_exactly(&values->data, data.len);
    sn_buf_str(&values->data, data);
    values->has_data = sn_buf_done(&values->data) == SEINE_OK;
    if (!values->has_data)
        return SEINE_E_NOMEM;
    if (data.len > LARGE)
        (void)!sn_charge_set(&values->charge, brake, data.len); /* they are there */
    return SEINE_OK;
}

static seine_err
read_page(sn_values *values, const sn_values_reading *how)
{
    const sn_visit *v = how->visit;
    purse p = {.how = how, .charge.number = v->number};
    seine_tree_gate gate = {take_memory, give_memory, &p};
    seine_extract_page page = SEINE_EXTRACT_PAGE;
    seine_view data = {NULL, 0};

    page.body = sn_buf_view(&v->kept);
    page.content_type = v->content_type;
    page.charset = v->charset;
    page.url = seine_url_href(&v->url);
    page.gate = &gate;
    seine_err e = seine_extractor_read(how->reader, &page, &data);
    if (e != SEINE_E_NOMEM && e != SEINE_E_CANCELED && data.ptr &&
        keep_data(values, data, how->brake) != SEINE_OK)
        e = SEINE_E_NOMEM;
    sn_charge_release(&p.charge, how->brake);
    return e;
}

void
sn_values_read(sn_values *values, const sn_values_reading *how)
{
    seine_time began = how->clock ? how->clock->now(how->clock) : 0;

    *values = (sn_values){.charge.number = how->visit->number};
    values->err = read_page(values, how);
    values->is_read = values->err != SEINE_E_CANCELED;
    values->began = began;
    if (how->clock)
        values->took = how->clock->now(how->clock) - began;
}

void
sn_values_fini(sn_values *values, sn_memory_brake *brake)
{
    sn_buf_fini(&values->data);
    sn_charge_release(&values->charge, brake);
    values->has_data = false;
}
