/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that a thread of engine/page_readers.h reads, since their shard has other work: a
 * large page whose values are wanted, and any page while the shard gets them faster than
 * it can read and another shard has nothing to do. */
#include "base/alloc.h"
#include "engine/page_readers.h"
#include "engine/run_parts.h"

#define LARGE_PAGE (128u << 10) /* its values take a millisecond, or twenty */
#define BUSY_BYTES (64u << 10)  /* of pages in … */
#define BUSY_SPAN  SEINE_MS(4)  /* … this: reading is a good part of the work */

/* Deciding. */

void
sn_run_judge_load(sn_run *r)
{
    sn_shared_state *c = r->shared;
    uint64_t bytes = r->requests.page_bytes;
    seine_span span = r->now - r->load_since;

    if (!c->readers || r->n < 2 || (span < BUSY_SPAN && bytes < BUSY_BYTES))
        return;
    bool is_busy = bytes / BUSY_BYTES >= (uint64_t)(span / BUSY_SPAN);
    if (is_busy && !r->is_busy)
        atomic_fetch_add(&c->busy, 1);
    else if (!is_busy && r->is_busy)
        atomic_fetch_sub(&c->busy, 1);
    r->is_busy = is_busy;
    r->load_since = r->now;
    r->requests.page_bytes = 0;
    r->requests.reads_later =
        is_busy && atomic_load(&c->busy) < r->n && !sn_memory_brake_is_on(c->brake);
}

/* Are there values that somebody else had better read? */
static bool
has_other_values(const sn_run *r, const sn_visit *v)
{
    return v->has_data && v->fault.code == SEINE_OK && !v->end.partial &&
           (v->kept.len >= LARGE_PAGE || r->requests.reads_later);
}

/* Gives the visit away, with a place for its values. */
static bool
give_away(sn_run *r, sn_visit *v, bool has_values)
{
    sn_page_readers *readers = r->shared->readers;

    if (!readers || sn_page_readers_is_hurried(readers))
        return false;
    if (has_values && !(v->values = sn_zalloc(sizeof *v->values)))
        return false;
    r->away++;
    if (sn_page_readers_give(readers, v, r) == SEINE_OK)
        return true; /* it is not ours any more */
    r->away--;
    sn_free(v->values);
    v->values = NULL;
    return false;
}

bool
sn_run_give_to_read(sn_run *r, sn_visit *v)
{
    bool is_unread = sn_response_is_unread(v), has_values = has_other_values(r, v);

    if (!is_unread && !has_values)
        return false;
    if (give_away(r, v, has_values))
        return true;
    if (is_unread)
        sn_response_read(r->shared, v);
    return false;
}

/* Coming back. */

sn_visit *
sn_run_take_read(sn_run *r)
{
    return sn_inbox_take_all(&r->read);
}

bool
sn_run_is_read(sn_run *r, sn_visit *v)
{
    r->away--;
    sn_response_is_read(&r->requests, v);
    return !sn_response_is_unread(v) && (!v->values || v->values->is_read);
}

void
sn_run_drop_values(sn_run *r, sn_visit *v)
{
    sn_values_fini(v->values, r->shared->brake);
    sn_free(v->values);
    v->values = NULL;
}

/* On the thread of a reader. */

static bool
is_hurried(const void *arg)
{
    const sn_shared_state *c = arg;

    return sn_page_readers_is_hurried(c->readers);
}

static void
read_values(const sn_shared_state *c, const sn_visit *v, seine_extractor **own)
{
    if (!*own && seine_extractor_new(c->opts.extract, own) != SEINE_OK) {
        v->values->is_read = true;
        v->values->err = SEINE_E_NOMEM;
        return;
    }
    sn_values_read(v->values,
                   &(sn_values_reading){
                       .visit = v,
                       .reader = *own,
                       .brake = c->brake,
                       .clock = c->opts.metrics || c->opts.traces ? c->opts.clock : NULL,
                       .is_canceled = is_hurried,
                       .arg = c});
}

static void
read_visit(sn_visit *v, void **own, void *arg)
{
    const sn_shared_state *c = arg;

    if (sn_response_is_unread(v))
        sn_response_read(c, v);
    if (v->values) {
        seine_extractor *reader = *own;

        read_values(c, v, &reader);
        *own = reader;
    }
}

static void
drop_reader(void *own)
{
    seine_extractor_free(own);
}

static void
give_back(sn_visit *v, void *shard)
{
    sn_run *r = shard;

    if (sn_inbox_put(&r->read, v))
        sn_run_wake(r);
}

seine_err
sn_run_make_readers(sn_shared_state *c, uint32_t n)
{
    sn_page_readers_opts o = {.clock = c->opts.clock,
                              .n = n > 1 ? n - 1 : 1,
                              .read = read_visit,
                              .drop_own = drop_reader,
                              .back = give_back,
                              .arg = c};

    if (!c->opts.crawl && !c->opts.extract && !(c->opts.keep & SEINE_KEEP_LINKS))
        return SEINE_OK;
    return sn_page_readers_new(&o, &c->readers);
}
