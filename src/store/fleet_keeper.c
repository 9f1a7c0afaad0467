/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper of a worker: renews leases, takes the partitions that are its own by
 * rendezvous hashing, gives back those of others. There is no leader:
 * each worker decides alone, and a lease keeps two of them from having one partition. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "store/fleet_parts.h"

#define PATIENCE SEINE_MS(20) /* for a new block */

enum { LOADS_A_SECOND = 16 }; /* partitions with a past, which take a while to load */

static void
rest(sn_fleet *f, seine_span span)
{
    static const uint32_t nobody;

    (void)!f->clock->wait(f->clock, &nobody, 0,
                          sn_time_add(f->clock->now(f->clock), span));
}

/* Connections. */

static void
lose_server(sn_fleet *f, uint32_t server)
{
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->held; i++)
        if (f->all[i]->part % f->n_servers == server)
            sn_tenure_set(f, f->all[i], SN_TENURE_LOST);
    pthread_mutex_unlock(&f->lock);
}

/* Leases of ours that we no longer use would keep everybody away until they end. */
static void
release(sn_fleet *f, const sn_tenure *t)
{
    sn_redis_sync *r = sn_fleet_server_of(f, t->part)->keeper;
    const sn_redis_reply *reply;

    if (!sn_redis_sync_is_open(r))
        return;
    sn_fleet_add_release(r, &f->id, t->part, &t->token);
    (void)!sn_redis_sync_next(r, &reply);
}

void
sn_fleet_claim_later(sn_fleet *f, uint32_t server)
{
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->held; i++)
        if (f->all[i]->part % f->n_servers == server)
            f->all[i]->needs_claim = true;
    pthread_mutex_unlock(&f->lock);
}

/* A server that was started anew may have lost its last second: what it was given is
 * given again, and what was taken from it is taken again. */
static void
greet_again(sn_fleet *f, uint32_t server)
{
    sn_fleet_server *s = &f->servers[server];
    sn_str id = sn_redis_sync_run_id(s->keeper);

    sn_fleet_claim_later(f, server);
    if (s->run_id[0] && !sn_str_eq(sn_str_of(s->run_id), id)) {
        lose_server(f, server);
        f->last_change = 0;
        atomic_fetch_add(&f->generation, 1);
    }
    snprintf(s->run_id, sizeof s->run_id, "%.*s", SN_FMT(id));
}

/* OK: all servers answer. STORE_UNAVAILABLE: one of them is away. */
static seine_err
reach_all(sn_fleet *f)
{
    seine_time now = f->clock->now(f->clock);
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < f->n_servers; i++) {
        sn_fleet_server *s = &f->servers[i];
        bool was_open = sn_redis_sync_is_open(s->keeper);
        seine_err one = sn_fleet_reach(f, s->keeper, &s->retry_at, &s->pause);

        if (one == SEINE_OK) {
            s->away_since = SEINE_NEVER;
            if (!was_open)
                greet_again(f, i);
            continue;
        }
        e = one;
        if (s->away_since == SEINE_NEVER)
            s->away_since = now;
        if (now - s->away_since >= f->wait) {
            seine_diag why = SEINE_DIAG;

            sn_diag_text(&why, "Redis %s, for longer than it is waited for",
                         sn_redis_sync_why(s->keeper));
            return sn_fleet_fail(f, one, &why);
        }
    }
    atomic_store(&f->is_away, e != SEINE_OK);
    return e;
}

/* Leases and members. */

static seine_err
renew_leases(sn_fleet *f, uint32_t server)
{
    sn_redis_sync *r = f->servers[server].keeper;
    sn_fleet_lease *leases SN_AUTOFREE = sn_calloc(f->held + 1, sizeof *leases);
    const sn_redis_reply *reply;
    int64_t ms, is;
    size_t n = 0;

    if (!leases)
        return SEINE_E_NOMEM;
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->held; i++) {
        const sn_tenure *t = f->all[i];

        if (t->part % f->n_servers == server &&
            atomic_load(&f->states[t->index]) != SN_TENURE_LOST)
            leases[n++] = (sn_fleet_lease){t->part, t->token};
    }
    pthread_mutex_unlock(&f->lock);
    seine_err e = sn_fleet_add_renew(r, &f->id, leases, n, f->lease / SEINE_MS(1));
    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e != SEINE_OK)
        return e;
    if (reply->kind != SN_REDIS_ARRAY || !sn_redis_reply_int(reply, 0, &ms) ||
        reply->count != n + 1) {
        sn_redis_sync_close(r);
        return SEINE_E_STORE_UNAVAILABLE;
    }
    if (server == 0)
        atomic_store(&f->ahead_ms, ms - f->clock->wall(f->clock) / SEINE_MS(1));
    pthread_mutex_lock(&f->lock);
    for (size_t i = 0; i < n; i++) {
        const sn_tenure *t = f->by_part[leases[i].part];

        if (sn_redis_reply_int(reply, i + 1, &is) && is == 0 && t)
            sn_tenure_set(f, t, SN_TENURE_LOST);
    }
    pthread_mutex_unlock(&f->lock);
    return SEINE_OK;
}

static seine_err
renew(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    seine_time up = f->up(f->clock);
    bool was_paused = atomic_load(&f->is_paused);
    seine_err e = SEINE_OK;

    for (uint32_t s = 0; s < f->n_servers && e == SEINE_OK; s++)
        e = renew_leases(f, s);
    if (e == SEINE_OK)
        e = sn_fleet_meet(f);
    if (e != SEINE_OK)
        return e;
    atomic_store(&f->renewed_up, up);
    if (was_paused != atomic_load(&f->is_paused))
        hooks->paused(!was_paused, hooks->arg);
    hooks->renewed(hooks->arg);
    return SEINE_OK;
}

/* Reserves starts for the next 100 ms of the rate that all workers share. While Redis is
 * away there are none. */
static seine_err
reserve_starts(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    sn_redis_sync *r = f->servers[0].keeper;
    seine_time now = f->clock->now(f->clock);
    int64_t slice = 100000 / f->every_us > 1 ? 100000 / f->every_us : 1, got = 0,
            wait = 0;
    const sn_redis_reply *reply;

    if (now < f->quota_at || atomic_load(&f->tokens) >= slice)
        return SEINE_OK;
    sn_fleet_add_quota(r, &f->id, "rate", f->every_us, slice, slice);
    seine_err e = sn_redis_sync_next(r, &reply);
    if (e != SEINE_OK)
        return e;
    if (!sn_redis_reply_int(reply, 0, &got) || !sn_redis_reply_int(reply, 1, &wait))
        got = 0, wait = 100000; /* a full server has none to give */
    f->quota_at = got > 0 ? now : sn_time_add(now, SEINE_US(wait));
    if (got > 0 && atomic_fetch_add(&f->tokens, got) <= 0)
        hooks->renewed(hooks->arg);
    return SEINE_OK;
}

typedef struct text {
    char bytes[24];
} text;

static sn_str
put_number(text *out, int64_t n)
{
    int len = snprintf(out->bytes, sizeof out->bytes, "%" PRId64, n);

    return (sn_str){out->bytes, (size_t)len};
}

/* Seeds and scope, which every worker has to know. */

static seine_err
hear_widened(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    sn_redis_sync *r = f->servers[0].keeper;
    sn_fleet_key key = sn_fleet_key_of_job(&f->id, "wide");
    sn_str words[] = {SN_STR("HGETALL"), sn_fleet_key_view(&key)};
    const sn_redis_reply *reply;

    if (f->n_wide == f->n_widened)
        return SEINE_OK;
    seine_err e = sn_redis_sync_ask(r, words, 2, &reply);
    if (e != SEINE_OK || reply->kind != SN_REDIS_ARRAY)
        return e;
    f->n_widened = reply->count / 2;
    for (size_t i = 0; i + 1 < reply->count && e == SEINE_OK; i += 2)
        e = hooks->widened(reply->items[i]->text, reply->items[i + 1]->text, hooks->arg);
    return e;
}

static seine_err
hear_seeds(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    sn_redis_sync *r = f->servers[0].keeper;
    sn_fleet_key key = sn_fleet_key_of_job(&f->id, "seeds");
    seine_err e = SEINE_OK;

    for (int64_t from = 0; e == SEINE_OK; from += 1000) {
        text first, last;
        sn_str words[] = {SN_STR("LRANGE"), sn_fleet_key_view(&key),
                          put_number(&first, from), put_number(&last, from + 999)};
        const sn_redis_reply *reply;

        e = sn_redis_sync_ask(r, words, 4, &reply);
        if (e != SEINE_OK)
            return e;
        if (reply->kind != SN_REDIS_ARRAY)
            return SEINE_E_STORE_UNAVAILABLE;
        for (size_t i = 0; i < reply->count && e == SEINE_OK; i++)
            e = hooks->seed(reply->items[i]->text, hooks->arg);
        if (reply->count < 1000)
            break;
    }
    f->is_known = e == SEINE_OK;
    return e;
}

/* Partitions. */

/* *io_left: how many partitions with a past may still be loaded now. */
static seine_err
acquire(sn_fleet *f, uint32_t part, const sn_fleet_hooks *hooks, uint32_t *io_left)
{
    sn_redis_sync *r = sn_fleet_server_of(f, part)->keeper;
    const sn_redis_reply *reply;
    sn_fleet_acquired a;
    sn_tenure *t = NULL;

    sn_fleet_add_acquire(r, &f->id, part, f->incarnation, f->lease / SEINE_MS(1));
    seine_err e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK)
        e = sn_fleet_read_acquire(reply, &a);
    if (e != SEINE_OK) {
        sn_redis_sync_close(r);
        return SEINE_E_STORE_UNAVAILABLE;
    }
    if (a.epoch == 0)
        return SEINE_OK;
    *io_left -= a.prints > 0;
    pthread_mutex_lock(&f->lock);
    e = sn_tenure_new(f, part, &a, &t);
    pthread_mutex_unlock(&f->lock);
    if (e != SEINE_OK)
        return e;
    e = sn_fleet_load(f, t, hooks);
    if (e != SEINE_OK) /* half of it is known: it is taken again */
        sn_tenure_set(f, t, SN_TENURE_LOST);
    return e;
}

/* Leases come first: with a server that is slow all else waits for the next turn. */
static bool
is_renewal_due(const sn_fleet *f)
{
    return f->clock->now(f->clock) >= f->renew_at;
}

static seine_err
take_partitions(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    uint32_t left = LOADS_A_SECOND;
    seine_time end = sn_time_add(f->clock->now(f->clock), f->lease / 6);
    seine_err e = SEINE_OK;
    uint32_t n;
    const uint32_t *own = sn_fleet_own_parts(f, &n);

    for (uint32_t i = 0; i < n && e == SEINE_OK && left > 0; i++) {
        if (f->by_part[own[i]])
            continue;
        if (is_renewal_due(f) || f->clock->now(f->clock) > end)
            break;
        e = acquire(f, own[i], hooks, &left);
    }
    return e;
}

/* Partitions of other workers: nothing new is begun, and when the last request has ended
 * and is committed the lease goes back. */
static void
give_partitions(sn_fleet *f)
{
    seine_time now = f->clock->now(f->clock);

    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->held; i++) {
        sn_tenure *t = f->all[i];

        if (atomic_load(&f->states[t->index]) != SN_TENURE_HELD ||
            now - t->since < 2 * f->lease || sn_fleet_is_mine(f, t->part))
            continue;
        t->leaving_since = now;
        sn_tenure_set(f, t, SN_TENURE_LEAVING);
    }
    pthread_mutex_unlock(&f->lock);
}

static bool
has_left(const sn_fleet *f, const sn_tenure *t, seine_time now)
{
    bool is_empty = atomic_load(&f->out_of[t->index]) == 0 && !t->sent.is_sent &&
                    t->next.n_prints == 0 && t->next.n_rows == 0 &&
                    t->next.patterns.count == 0 && t->n_changed == 0;

    return is_empty || now - t->leaving_since > 2 * f->lease;
}

/* Rows of hosts that the sink thread has committed since the last turn. */
static void
tell_kept(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    pthread_mutex_lock(&f->lock);
    sn_fleet_row *all = f->kept_rows;
    f->kept_rows = NULL;
    pthread_mutex_unlock(&f->lock);
    for (sn_fleet_row *r = all, *next; r; r = next) {
        next = r->next;
        hooks->kept((sn_str){r->bytes, r->name_len}, hooks->arg);
        sn_free(r);
    }
}

/* Frees tenures that are over. */
static void
reap(sn_fleet *f)
{
    seine_time now = f->clock->now(f->clock);

    /* From the last: another one comes into the place of one that has gone. */
    for (uint32_t i = f->held; i-- > 0;) {
        bool is_over = false;

        pthread_mutex_lock(&f->lock);
        sn_tenure *t = f->all[i]; /* only this thread gives and ends tenures */
        uint8_t state = atomic_load(&f->states[t->index]);
        if (!t->is_busy && (state == SN_TENURE_LOST ||
                            (state == SN_TENURE_LEAVING && has_left(f, t, now)))) {
            sn_tenure_set(f, t, SN_TENURE_LOST);
            is_over = true;
        }
        pthread_mutex_unlock(&f->lock);
        if (!is_over)
            continue;
        release(f, t);
        pthread_mutex_lock(&f->lock);
        if (!t->is_busy)
            sn_tenure_end(f, t);
        pthread_mutex_unlock(&f->lock);
    }
}

static seine_err
claim_again(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < f->held && e == SEINE_OK; i++) {
        sn_tenure *t = f->all[i];

        if (!t->needs_claim || atomic_load(&f->states[t->index]) != SN_TENURE_HELD)
            continue;
        if (is_renewal_due(f))
            break;
        e = sn_fleet_claim(f, t, hooks);
        t->needs_claim = e != SEINE_OK;
    }
    return e;
}

/* One turn. */

/* Until partitions are given and taken again. In a large fleet the questions for those
 * that others still have would be too many. */
static seine_span
balance_span(const sn_fleet *f)
{
    seine_span span = sn_time_min(SEINE_SECS(1), f->lease / 6);

    return sn_time_max(span,
                       sn_time_min(f->lease / 3, 10 * (sn_fleet_patience(f) - PATIENCE)));
}

static seine_err
work(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    seine_time now = f->clock->now(f->clock);
    bool has_waited = false;
    seine_err e = SEINE_OK;

    if (now >= f->renew_at) {
        e = renew(f, hooks);
        if (e == SEINE_OK)
            f->renew_at = sn_time_add(now, f->lease / 3);
        if (e == SEINE_OK && atomic_load(&f->is_seeded) && !f->is_known)
            e = hear_seeds(f, hooks);
        if (e == SEINE_OK && f->is_known)
            e = hear_widened(f, hooks);
    }
    reap(f);
    if (e != SEINE_OK || !f->is_known) {
        if (e == SEINE_OK) { /* the seeds are not all there */
            rest(f, SEINE_MS(100));
            f->renew_at = f->clock->now(f->clock);
        }
        return e;
    }
    if (f->is_leaving)
        return SEINE_OK;
    e = claim_again(f, hooks);
    if (e == SEINE_OK && is_renewal_due(f))
        return e;
    if (e == SEINE_OK && now >= f->balance_at) {
        f->balance_at = sn_time_add(now, balance_span(f));
        give_partitions(f);
        e = take_partitions(f, hooks);
    }
    if (e == SEINE_OK && f->every_us > 0)
        e = reserve_starts(f, hooks);
    if (e == SEINE_OK && hooks->backlog(hooks->arg) < SN_FLEET_LOW)
        e = sn_fleet_read_inboxes(f, hooks, sn_fleet_patience(f), &has_waited);
    if (e == SEINE_OK && !is_renewal_due(f))
        e = sn_fleet_look_for_end(f, hooks);
    if (e == SEINE_OK && !has_waited) /* all are full, or on their way to others */
        rest(f, PATIENCE);
    return e;
}

sn_fleet_state
sn_fleet_tick(sn_fleet *f, const sn_fleet_hooks *hooks, seine_diag *diag)
{
    seine_err e = (seine_err)atomic_load(&f->err);

    sn_fleet_fence(f);
    tell_kept(f, hooks);
    if (e == SEINE_OK)
        e = reach_all(f);
    if (e == SEINE_OK)
        e = work(f, hooks);
    if (e == SEINE_E_STORE_UNAVAILABLE && atomic_load(&f->err) == SEINE_OK) {
        reap(f);
        rest(f, SEINE_MS(50));
        return SN_FLEET_GOING;
    }
    if (e != SEINE_OK) {
        (void)!sn_fleet_fail(f, e, NULL);
        if (diag)
            *diag = f->why;
        return SN_FLEET_FAILED;
    }
    if (f->is_leaving)
        rest(f, PATIENCE);
    if (f->is_done)
        return SN_FLEET_OVER;
    return f->is_stopped ? SN_FLEET_STOPPED : SN_FLEET_GOING;
}

void
sn_fleet_leave(sn_fleet *f)
{
    f->is_leaving = true;
}

void
sn_fleet_refresh(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    if (reach_all(f) == SEINE_OK)
        (void)!renew(f, hooks);
}
