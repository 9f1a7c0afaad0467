/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_breaker.h"

#include <stdlib.h>

#include "screen/say.h"
#include "screen/xalloc.h"

const char *
sim_breaker_state(seine_breaker_state state)
{
    static const char *const names[] = {"closed", "open", "half-open", "forced open",
                                        "disabled"};

    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

/* A call that has not ended yet. */
typedef struct call {
    seine_time end;
    size_t number;
    seine_permit permit;
} call;

typedef struct run {
    sim_breaker *sim;
    seine_breaker breaker;
    seine_time now;
    call *calls; /* a heap: the first to end is on top */
    size_t count, cap, changes_cap;
} run;

static void
note_change(seine_view key, seine_breaker_state from, seine_breaker_state to,
            uint64_t seq, void *arg)
{
    run *r = arg;
    sim_breaker *sim = r->sim;

    (void)key;
    (void)seq;
    sim->changes =
        xalloc_room(sim->changes, sim->changed, &r->changes_cap, sizeof *sim->changes);
    sim->changes[sim->changed++] = (change){r->now, from, to};
}

static bool
is_sooner(const call *a, const call *b)
{
    return a->end != b->end ? a->end < b->end : a->number < b->number;
}

static void
swap_calls(call *a, call *b)
{
    call old = *a;

    *a = *b;
    *b = old;
}

static void
push_call(run *r, call c)
{
    r->calls = xalloc_room(r->calls, r->count, &r->cap, sizeof *r->calls);
    r->calls[r->count] = c;
    for (size_t i = r->count++; i > 0 && is_sooner(&r->calls[i], &r->calls[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap_calls(&r->calls[i], &r->calls[(i - 1) / 2]);
}

static call
pop_call(run *r)
{
    call top = r->calls[0];
    size_t i = 0;

    r->calls[0] = r->calls[--r->count];
    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= r->count)
            return top;
        if (child + 1 < r->count && is_sooner(&r->calls[child + 1], &r->calls[child]))
            child++;
        if (!is_sooner(&r->calls[child], &r->calls[i]))
            return top;
        swap_calls(&r->calls[i], &r->calls[child]);
        i = child;
    }
}

/* Settles the calls that end by `until`. */
static void
settle_call(run *r, seine_time until)
{
    while (r->count > 0 && r->calls[0].end <= until) {
        call c = pop_call(r);

        r->now = c.end;
        seine_err e = seine_breaker_settle(&r->breaker, &c.permit,
                                           r->sim->trace->events[c.number].how, c.end);
        (void)e; /* cannot fail: each permit is settled here alone */
    }
}

static void
ask_breaker(run *r, size_t i)
{
    sim_breaker *sim = r->sim;
    const event *e = &sim->trace->events[i];
    seine_permit permit;

    settle_call(r, e->at);
    r->now = e->at;
    sim->admitted[i] = seine_breaker_acquire(&r->breaker, e->at, &permit) == SEINE_OK;
    sim->states[i] = (uint8_t)seine_breaker_state_get(&r->breaker);
    sim->failed += e->how == SEINE_FAILURE;
    if (sim->admitted[i]) {
        sim->reached += e->how == SEINE_FAILURE;
        push_call(r, (call){e->at > SEINE_NEVER - 1 - e->took ? SEINE_NEVER - 1
                                                              : e->at + e->took,
                            i, permit});
    } else {
        sim->refused++;
        sim->lost += e->how == SEINE_SUCCESS;
    }
}

static void
count_open(sim_breaker *sim)
{
    for (size_t i = 0; i < sim->changed; i++) {
        seine_time next = i + 1 < sim->changed ? sim->changes[i + 1].at : sim->end;

        if (sim->changes[i].to != SEINE_BREAKER_OPEN)
            continue;
        sim->opened++;
        sim->open += next - sim->changes[i].at;
    }
}

int
sim_breaker_run(sim_breaker *sim, const trace *t, const seine_breaker_opts *opts)
{
    run r = {.sim = sim};
    seine_breaker_opts mine = *opts;

    *sim = (sim_breaker){.trace = t, .opts = opts};
    mine.on_change = note_change;
    mine.arg = &r;
    seine_err e = seine_breaker_init(&r.breaker, &mine);
    if (e != SEINE_OK)
        return say_fail(SAY_USAGE, "seine breaker simulate --help",
                        "no breaker can be made of these settings: %s",
                        seine_err_text(e));
    sim->admitted = xalloc_zeroed(t->count, sizeof *sim->admitted);
    sim->states = xalloc_zeroed(t->count, sizeof *sim->states);
    for (size_t i = 0; i < t->count; i++)
        ask_breaker(&r, i);
    settle_call(&r, SEINE_NEVER);
    sim->end = r.now;
    count_open(sim);
    seine_breaker_fini(&r.breaker);
    free(r.calls);
    return SAY_DONE;
}

void
sim_breaker_free(sim_breaker *sim)
{
    free(sim->admitted);
    free(sim->states);
    free(sim->changes);
}
