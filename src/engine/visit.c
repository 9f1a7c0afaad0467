/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/visit.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "engine/capture.h"
#include "seine/secret.h"

#define ARENA_CAP (1u << 20)

_Static_assert(sizeof(sn_visit) <= 1368, "visit.h says how large a visit is");

/* From which states a state may be reached, a bit each. */
static const uint8_t before[] = {
    [SN_ADMITTED] = 1 << SN_EMITTED | 1 << SN_IN_FLIGHT, /* to another shard */
    [SN_WAITING] = 1 << SN_ADMITTED | 1 << SN_IN_FLIGHT | 1 << SN_READY,
    [SN_READY] = 1 << SN_WAITING,
    [SN_IN_FLIGHT] = 1 << SN_READY,
    [SN_DONE] = 1 << SN_ADMITTED | 1 << SN_WAITING | 1 << SN_READY | 1 << SN_IN_FLIGHT,
    [SN_EMITTED] = 1 << SN_DONE,
};

void
sn_visit_step(sn_visit *v, sn_visit_state to)
{
    (void)before; /* of use to the assertion alone */
    assert(before[to] & 1 << v->state);
    v->state = to;
}

void
sn_visit_clear_response(sn_visit *v)
{
    v->end = (sn_end)SN_END;
    v->has_hint = v->is_excused = false;
    v->ttfb = 0;
    v->content_type = v->charset = v->location = v->title = (sn_str){0};
    v->n_locations = 0;
    v->target = NULL;
    v->content_length = -1;
    v->fields = NULL;
    v->n_fields = 0;
    v->robots_tag = 0;
    v->enough = v->not_wanted = v->is_too_large = false;
    v->is_coded = v->is_expected = v->has_data = false;
    v->links = (sn_str){0};
    v->freshness = NULL;
    v->is_hashed = false;
    sn_buf_reset(&v->kept);
}

const char *
sn_visit_say(sn_visit *v, const char *text)
{
    if (!text || text == v->why)
        return text;
    if (!v->why)
        v->why = SN_ARENA_ARRAY(&v->arena, char, SN_FAULT_TEXT);
    if (v->why)
        snprintf(v->why, SN_FAULT_TEXT, "%s", text);
    return v->why;
}

void
sn_visit_wait_over(sn_visit *v, seine_time now)
{
    if (v->since != SEINE_NEVER && now > v->since)
        v->waited[v->waits_for] = sn_time_add(v->waited[v->waits_for], now - v->since);
    v->since = SEINE_NEVER;
}

void
sn_visit_wait(sn_visit *v, seine_wait why, seine_time now)
{
    sn_visit_wait_over(v, now);
    v->waits_for = why;
    v->since = now;
}

/* Makes the visit as new and keeps its memory. */
static void
blank_visit(sn_visit *v)
{
    sn_arena arena = v->arena;

    memset(v, 0, offsetof(sn_visit, end));
    v->arena = arena;
    v->started_at = 0;
    v->started_wall = 0;
    v->charge = (sn_charge){0};
    v->hint = NULL;
    v->values = NULL;
    v->fault = (sn_fault)SN_FAULT;
    v->reason = SEINE_SKIP_BAD_INPUT;
    v->rule = (sn_str){0};
    sn_visit_clear_response(v);
    v->state = SN_EMITTED;
    v->host = SN_NO_HOST;
    v->ip_slot = UINT32_MAX;
    v->since = v->deadline = SEINE_NEVER;
    v->lane = 1;
    v->first = &v->url;
    v->ceiling = SN_ADDRESS_LOCAL;
}

/* A list under a lock, which is held for a few instructions. */
struct sn_visits {
    pthread_mutex_t lock;
    sn_visit *free;
    uint32_t max;
    size_t chunk;
    _Atomic uint32_t out;
};

seine_err
sn_visits_new(uint32_t max, size_t chunk, sn_visits **out_visits)
{
    if (max == 0)
        return SEINE_E_INVAL;
    sn_visits *p = sn_zalloc(sizeof *p);
    if (!p)
        return SEINE_E_NOMEM;
    if (pthread_mutex_init(&p->lock, NULL) != 0) {
        sn_free(p);
        return SEINE_E_NOMEM;
    }
    p->max = max;
    p->chunk = chunk;
    *out_visits = p;
    return SEINE_OK;
}

void
sn_visits_free(sn_visits *p)
{
    if (!p)
        return;
    for (sn_visit *v = p->free, *next; v; v = next) {
        next = v->next;
        sn_arena_fini(&v->arena);
        sn_buf_fini(&v->kept);
        sn_digest_fini(&v->digest);
        sn_capture_free(v->captures);
        sn_free(v);
    }
    pthread_mutex_destroy(&p->lock);
    sn_free(p);
}

/* Takes a free visit; *out_make: there is none, and the caller may make one. */
static sn_visit *
pop_free(sn_visits *p, bool is_own, bool *out_make)
{
    pthread_mutex_lock(&p->lock);
    bool has_room =
        is_own || atomic_load_explicit(&p->out, memory_order_relaxed) < p->max;
    sn_visit *v = has_room ? p->free : NULL;
    *out_make = !v && has_room;
    if (v)
        p->free = v->next;
    if (v || *out_make)
        atomic_fetch_add_explicit(&p->out, 1, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
    return v;
}

static sn_visit *
take_visit(sn_visits *p, bool is_own, seine_err *out_err)
{
    bool make;
    sn_visit *v = pop_free(p, is_own, &make);

    if (!v && !make) {
        *out_err = SEINE_E_FULL;
        return NULL;
    }
    if (!v) {
        v = sn_zalloc(sizeof *v);
        if (!v) {
            atomic_fetch_sub_explicit(&p->out, 1, memory_order_relaxed);
            *out_err = SEINE_E_NOMEM;
            return NULL;
        }
        sn_arena_init(&v->arena, p->chunk, ARENA_CAP);
    }
    blank_visit(v);
    return v;
}

sn_visit *
sn_visits_take(sn_visits *p, seine_err *out_err)
{
    return take_visit(p, false, out_err);
}

sn_visit *
sn_visits_take_own(sn_visits *p)
{
    seine_err e;

    return take_visit(p, true, &e);
}

void
sn_visits_give(sn_visits *p, sn_visit *give)
{
    for (size_t i = 0; i < give->n_own; i++) /* they may be secrets */
        seine_wipe((char *)give->own[i].value.ptr, give->own[i].value.len);
    sn_arena_reset(&give->arena);
    pthread_mutex_lock(&p->lock);
    give->next = p->free;
    p->free = give;
    pthread_mutex_unlock(&p->lock);
    atomic_fetch_sub_explicit(&p->out, 1, memory_order_relaxed);
}

uint32_t
sn_visits_out(const sn_visits *p)
{
    return atomic_load_explicit(&p->out, memory_order_relaxed);
}

/* An inbox is the list of engine/mail.c with other members: one list for both would have
 * to forget what its members are. */
bool
sn_inbox_put(sn_inbox *box, sn_visit *give)
{
    sn_visit *head = atomic_load_explicit(&box->head, memory_order_relaxed);

    do
        give->next = head;
    while (!atomic_compare_exchange_weak_explicit(
        &box->head, &head, give, memory_order_release, memory_order_relaxed));
    return !head;
}

sn_visit *
sn_inbox_take_all(sn_inbox *box)
{
    if (!atomic_load_explicit(&box->head, memory_order_relaxed))
        return NULL;
    sn_visit *v = atomic_exchange_explicit(&box->head, NULL, memory_order_acquire);
    sn_visit *first = NULL;

    while (v) { /* newest first: turn it round */
        sn_visit *next = v->next;
        v->next = first;
        first = v;
        v = next;
    }
    return first;
}
