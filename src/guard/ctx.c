/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/ctx.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/time.h"
#include "guard/waiter.h"

/*
 * One lock per tree, in its root, protects the links: children, hooks, runners. A
 * cancellation marks all descendants and moves their hooks to a runner on its own stack,
 * in one locked pass, then calls the hooks one by one without the lock. The cause is
 * atomic, so reading it takes no lock.
 */

/* A cancellation that is calling hooks. */
typedef struct runner {
    seine_ctx_hook *pending, **end;
    const seine_ctx_hook *current;
    pthread_t thread;
    struct runner *next;
} runner;

typedef struct tree {
    pthread_mutex_t lock;
    seine_clock *clock;
    runner *runners;
    uint32_t returned; /* hooks that have returned; off_done waits for this to change */
    uint32_t curious;  /* threads that wait in off_done */
} tree;

struct seine_ctx {
    seine_ctx *parent;
    tree *tree;
    seine_time deadline;
    atomic_int cause; /* a seine_err */
    atomic_uint refs;
    seine_ctx_hook *hooks;
    seine_ctx *child, *next, **prev;
};

typedef struct root {
    seine_ctx ctx;
    tree tree;
} root;

seine_err
seine_ctx_root(seine_clock *clock, seine_ctx **out_ctx)
{
    if (!out_ctx)
        return SEINE_E_INVAL;
    if (!clock)
        return SEINE_E_INVAL;
    root *r = sn_zalloc(sizeof *r);
    if (!r)
        return SEINE_E_NOMEM;

    pthread_mutex_init(&r->tree.lock, NULL);
    r->tree.clock = clock;
    r->ctx.tree = &r->tree;
    r->ctx.deadline = SEINE_NEVER;
    atomic_init(&r->ctx.refs, 1);
    *out_ctx = &r->ctx;
    return SEINE_OK;
}

seine_err
seine_ctx_new(seine_ctx *parent, seine_time deadline, seine_ctx **out_ctx)
{
    if (!out_ctx)
        return SEINE_E_INVAL;
    if (!parent)
        return SEINE_E_INVAL;
    seine_ctx *c = sn_zalloc(sizeof *c);
    if (!c)
        return SEINE_E_NOMEM;

    c->parent = seine_ctx_ref(parent);
    c->tree = parent->tree;
    c->deadline = sn_time_min(deadline, parent->deadline);
    atomic_init(&c->refs, 1);

    pthread_mutex_lock(&c->tree->lock);
    c->cause = parent->cause;
    c->next = parent->child;
    c->prev = &parent->child;
    if (c->next)
        c->next->prev = &c->next;
    parent->child = c;
    pthread_mutex_unlock(&c->tree->lock);

    *out_ctx = c;
    return SEINE_OK;
}

seine_err
seine_ctx_background(seine_ctx **out_ctx)
{
    return seine_ctx_root(seine_clock_system(), out_ctx);
}

seine_err
seine_ctx_after(seine_ctx *parent, seine_span span, seine_ctx **out_ctx)
{
    if (!parent || span < 0)
        return SEINE_E_INVAL;
    seine_clock *clock = parent->tree->clock;

    return seine_ctx_new(parent, sn_time_add(clock->now(clock), span), out_ctx);
}

seine_time
seine_ctx_now(const seine_ctx *c)
{
    return c ? c->tree->clock->now(c->tree->clock) : seine_now();
}

seine_ctx *
seine_ctx_ref(seine_ctx *c)
{
    if (!c)
        return NULL;
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

void
seine_ctx_unref(seine_ctx *c)
{
    while (c && atomic_fetch_sub(&c->refs, 1) == 1) {
        seine_ctx *parent = c->parent;

        if (parent) {
            pthread_mutex_lock(&c->tree->lock);
            *c->prev = c->next;
            if (c->next)
                c->next->prev = c->prev;
            pthread_mutex_unlock(&c->tree->lock);
        } else {
            pthread_mutex_destroy(&c->tree->lock);
        }
        sn_free(c); /* in a root, the ctx is the first member of the allocation */
        c = parent;
    }
}

static void
link_hook(seine_ctx_hook *hook, seine_ctx_hook **at)
{
    hook->next = *at;
    hook->prev = at;
    if (hook->next)
        hook->next->prev = &hook->next;
    *at = hook;
}

static void
unlink_hook(seine_ctx_hook *hook)
{
    *hook->prev = hook->next;
    if (hook->next)
        hook->next->prev = hook->prev;
    hook->prev = NULL;
}

/* Appends a context's hooks to those of the runner. */
static void
collect(runner *r, seine_ctx *c)
{
    while (c->hooks) {
        seine_ctx_hook *hook = c->hooks;

        unlink_hook(hook);
        link_hook(hook, r->end);
        r->end = &hook->next;
    }
}

/* Goes down first, then right, then up, without recursion, however deep the tree. */
static void
mark(seine_ctx *top, seine_err cause, runner *r)
{
    seine_ctx *c = top;

    for (;;) {
        bool fresh = c->cause == SEINE_OK;

        if (fresh) {
            c->cause = (int)cause;
            collect(r, c);
        }
        if (fresh && c->child) {
            c = c->child;
            continue;
        }
        while (c != top && !c->next)
            c = c->parent;
        if (c == top)
            return;
        c = c->next;
    }
}

static void
run_hooks(tree *t, runner *r)
{
    pthread_mutex_lock(&t->lock);
    while (r->pending) {
        seine_ctx_hook *hook = r->pending;

        unlink_hook(hook);
        r->current = hook;
        pthread_mutex_unlock(&t->lock);

        hook->fn(hook->arg); /* the hook may be freed from here on */

        pthread_mutex_lock(&t->lock);
        r->current = NULL;
        __atomic_add_fetch(&t->returned, 1, __ATOMIC_SEQ_CST);
        if (t->curious > 0) {
            pthread_mutex_unlock(&t->lock);
            t->clock->wake(t->clock, &t->returned, INT32_MAX);
            pthread_mutex_lock(&t->lock);
        }
    }
    for (runner **at = &t->runners; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            break;
        }
    pthread_mutex_unlock(&t->lock);
}

void
seine_ctx_cancel(seine_ctx *c, seine_err cause)
{
    if (!c)
        return;
    tree *t = c->tree;
    runner r = {.end = &r.pending, .thread = pthread_self()};

    pthread_mutex_lock(&t->lock);
    if (c->cause != SEINE_OK) {
        pthread_mutex_unlock(&t->lock);
        return;
    }
    mark(c, cause == SEINE_OK ? SEINE_E_CANCELED : cause, &r);
    r.next = t->runners;
    t->runners = &r;
    pthread_mutex_unlock(&t->lock);

    seine_ctx_ref(c); /* a hook may drop the last reference of the caller */
    run_hooks(t, &r);
    seine_ctx_unref(c);
}

void
seine_ctx_expire(seine_ctx *c, seine_time now)
{
    if (!c)
        return;
    if (now >= c->deadline)
        seine_ctx_cancel(c, SEINE_E_DEADLINE);
}

seine_err
seine_ctx_err(const seine_ctx *c, seine_time now)
{
    if (!c)
        return SEINE_E_INVAL;
    seine_err cause = (seine_err)atomic_load(&c->cause);

    if (cause != SEINE_OK)
        return cause;
    return now >= c->deadline ? SEINE_E_DEADLINE : SEINE_OK;
}

seine_time
seine_ctx_deadline(const seine_ctx *c)
{
    if (!c)
        return SEINE_NEVER;
    return c->deadline;
}

seine_clock *
seine_ctx_clock(const seine_ctx *c)
{
    if (!c)
        return NULL;
    return c->tree->clock;
}

void
seine_ctx_on_done(seine_ctx *c, seine_ctx_hook *hook)
{
    if (!c || !hook)
        return;
    hook->prev = NULL;
    pthread_mutex_lock(&c->tree->lock);
    bool done = c->cause != SEINE_OK;
    if (!done)
        link_hook(hook, &c->hooks);
    pthread_mutex_unlock(&c->tree->lock);

    if (done)
        hook->fn(hook->arg);
}

/* The cancellation that is calling this hook now, or NULL. */
static const runner *
running(const tree *t, const seine_ctx_hook *hook)
{
    const runner *r = t->runners;

    while (r && r->current != hook)
        r = r->next;
    return r;
}

bool
seine_ctx_off_done(seine_ctx *c, seine_ctx_hook *hook)
{
    if (!c || !hook)
        return false;
    tree *t = c->tree;
    const runner *r;

    pthread_mutex_lock(&t->lock);
    if (hook->prev) {
        /* A runner's tail pointer must not point into the hook; after the collection the
         * tail is not used any more. */
        unlink_hook(hook);
        pthread_mutex_unlock(&t->lock);
        return true;
    }
    while ((r = running(t, hook)) && !pthread_equal(r->thread, pthread_self())) {
        uint32_t seen = t->returned;

        t->curious++;
        pthread_mutex_unlock(&t->lock);
        t->clock->wait(t->clock, &t->returned, seen, SEINE_NEVER);
        pthread_mutex_lock(&t->lock);
        t->curious--;
    }
    pthread_mutex_unlock(&t->lock);
    return false;
}

seine_err
seine_ctx_sleep(seine_ctx *c, seine_time until)
{
    if (!c)
        return SEINE_E_INVAL;
    seine_time now = c->tree->clock->now(c->tree->clock);
    seine_err e = seine_ctx_err(c, now);
    sn_waiter w;

    if (e != SEINE_OK || until <= now)
        return e;
    if (until >= c->deadline)
        return SEINE_E_DEADLINE;

    sn_waiter_arm(&w, c);
    do
        sn_waiter_park(&w, until);
    while ((e = (seine_err)atomic_load(&c->cause)) == SEINE_OK &&
           c->tree->clock->now(c->tree->clock) < until);
    sn_waiter_disarm(&w, c);
    return e;
}
