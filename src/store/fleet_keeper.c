/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper of a worker: renews leases, hears of the other workers, takes the partitions
 * that are its own by rendezvous hashing, gives back those of others. There is no leader:
 * each worker decides alone, and a lease keeps two of them from having one partition. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/time.h"
#include "store/fleet_parts.h"

#define IDLE_SPAN SEINE_MS(200) /* between two questions whether all is done */
#define PATIENCE  SEINE_MS(20)  /* for a new block */

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
    for (uint32_t p = server; p < f->parts; p += f->n_servers)
        if (f->by_part[p])
            sn_tenure_set(f, f->by_part[p], SN_TENURE_LOST);
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

/* Blocks of its partitions may have been given out and not have come here. */
static void
claim_later(sn_fleet *f, uint32_t server)
{
    pthread_mutex_lock(&f->lock);
    for (uint32_t p = server; p < f->parts; p += f->n_servers)
        if (f->by_part[p])
            f->by_part[p]->needs_claim = true;
    pthread_mutex_unlock(&f->lock);
}

/* A server that was started anew may have lost its last second: what it was given is
 * given again, and what was taken from it is taken again. */
static void
greet_again(sn_fleet *f, uint32_t server)
{
    sn_fleet_server *s = &f->servers[server];
    sn_str id = sn_redis_sync_run_id(s->keeper);

    claim_later(f, server);
    if (s->run_id[0] && !sn_str_eq(sn_str_of(s->run_id), id)) {
        lose_server(f, server);
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
    sn_fleet_lease *leases SN_AUTOFREE = sn_calloc(f->parts + 1, sizeof *leases);
    const sn_redis_reply *reply;
    int64_t ms, is;
    size_t n = 0;

    if (!leases)
        return SEINE_E_NOMEM;
    pthread_mutex_lock(&f->lock);
    for (uint32_t p = server; p < f->parts; p += f->n_servers) {
        const sn_tenure *t = f->by_part[p];

        if (t && atomic_load(&f->states[t->index]) != SN_TENURE_LOST)
            leases[n++] = (sn_fleet_lease){p, t->token};
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

/* "incarnation:weight:host name" */
static void
read_member(sn_fleet *f, sn_str text)
{
    uint64_t weight = 1;
    sn_str rest, name;

    if (f->n_members == SN_FLEET_MEMBERS || text.len < SN_FLEET_INCARNATION + 2)
        return;
    rest = sn_str_slice(text, SN_FLEET_INCARNATION + 1, text.len);
    (void)sn_str_cut(rest, ':', &name, &rest);
    if (sn_str_u64(name, &weight) != SEINE_OK || weight == 0)
        weight = 1;
    memcpy(f->members[f->n_members].incarnation, text.ptr, SN_FLEET_INCARNATION);
    f->members[f->n_members].incarnation[SN_FLEET_INCARNATION] = '\0';
    f->members[f->n_members++].weight = (double)weight;
}

typedef struct text {
    char bytes[32];
} text;

static sn_str
put_number(text *out, int64_t n)
{
    int len = snprintf(out->bytes, sizeof out->bytes, "%" PRId64, n);

    return (sn_str){out->bytes, (size_t)len};
}

/* Limits that were changed for all workers. Without memory they are heard of later. */
static void
hear_said(sn_fleet *f, sn_str rev_text, const sn_redis_reply *said)
{
    uint64_t rev = 0;

    if (said->kind != SN_REDIS_STRING || sn_str_u64(rev_text, &rev) != SEINE_OK ||
        rev == f->said_rev)
        return;
    char *json = sn_zalloc(said->text.len + 1);
    if (!json)
        return;
    memcpy(json, said->text.ptr, said->text.len);
    pthread_mutex_lock(&f->lock);
    sn_free(f->said);
    f->said = json;
    f->said_rev = rev;
    pthread_mutex_unlock(&f->lock);
}

/* Says that this worker lives, and hears of the others and of the state of the job. */
static seine_err
meet(sn_fleet *f)
{
    sn_redis_sync *r = f->servers[0].keeper;
    sn_fleet_key w = sn_fleet_key_of_job(&f->id, "w");
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_fleet_key wide = sn_fleet_key_of_job(&f->id, "wide");
    int64_t now_ms = f->clock->wall(f->clock) / SEINE_MS(1) + atomic_load(&f->ahead_ms);
    text now, from;
    sn_str add[] = {SN_STR("ZADD"), sn_fleet_key_view(&w), put_number(&now, now_ms),
                    sn_str_of(f->member)};
    sn_str range[] = {SN_STR("ZRANGEBYSCORE"), sn_fleet_key_view(&w),
                      put_number(&from, now_ms - f->lease / SEINE_MS(1)), SN_STR("+inf")};
    sn_str get[] = {SN_STR("HMGET"), sn_fleet_key_view(&cfg), SN_STR("state"),
                    SN_STR("done"),  SN_STR("seeded"),        SN_STR("format"),
                    SN_STR("rev"),   SN_STR("said")};
    sn_str len[] = {SN_STR("HLEN"), sn_fleet_key_view(&wide)};
    const sn_redis_reply *reply;

    sn_redis_sync_add(r, add, 4);
    sn_redis_sync_add(r, range, 4);
    sn_redis_sync_add(r, get, 8);
    sn_redis_sync_add(r, len, 2);
    seine_err e = sn_redis_sync_next(r, &reply); /* ZADD: a full server may refuse it */
    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e != SEINE_OK)
        return e;
    f->n_members = 0;
    for (size_t i = 0; reply->kind == SN_REDIS_ARRAY && i < reply->count; i++)
        read_member(f, reply->items[i]->text);
    atomic_store(&f->shown_members, f->n_members);
    e = sn_redis_sync_next(r, &reply);
    if (e != SEINE_OK)
        return e;
    if (reply->kind != SN_REDIS_ARRAY || reply->count != 6) {
        sn_redis_sync_close(r);
        return SEINE_E_STORE_UNAVAILABLE;
    }
    if (reply->items[3]->kind == SN_REDIS_NIL) {
        seine_diag why = SEINE_DIAG;

        sn_diag_text(&why, "job '%s' is not in Redis any more", f->name);
        return sn_fleet_fail(f, SEINE_E_STATE_CORRUPT, &why);
    }
    atomic_store(&f->is_paused, sn_str_eq(reply->items[0]->text, SN_STR("paused")));
    f->is_stopped = sn_str_eq(reply->items[0]->text, SN_STR("stopped"));
    f->is_done = sn_str_eq(reply->items[1]->text, SN_STR("1"));
    atomic_store(&f->is_seeded, sn_str_eq(reply->items[2]->text, SN_STR("1")));
    hear_said(f, reply->items[4]->text, reply->items[5]);
    return sn_redis_sync_next(r, &reply);
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
        e = meet(f);
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

/* Seeds and scope, which every worker has to know. */

static seine_err
hear_widened(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    sn_redis_sync *r = f->servers[0].keeper;
    sn_fleet_key key = sn_fleet_key_of_job(&f->id, "wide");
    sn_str words[] = {SN_STR("HGETALL"), sn_fleet_key_view(&key)};
    const sn_redis_reply *reply;
    seine_err e = sn_redis_sync_ask(r, words, 2, &reply);

    if (e != SEINE_OK || reply->count / 2 == f->n_widened)
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

/* Who should have a partition. */

static double
score(const sn_fleet *f, const char *incarnation, double weight, uint32_t part)
{
    char key[SN_FLEET_INCARNATION + 16];
    int n = snprintf(key, sizeof key, "%s%u", incarnation, part);
    uint64_t hash = sn_siphash(f->secret, key, (size_t)n);
    double u = ((double)(hash >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */

    return -weight / log(u);
}

static bool
is_mine(const sn_fleet *f, uint32_t part)
{
    double mine = score(f, f->incarnation, f->weight, part);

    for (uint32_t i = 0; i < f->n_members; i++)
        if (strcmp(f->members[i].incarnation, f->incarnation) != 0 &&
            score(f, f->members[i].incarnation, f->members[i].weight, part) > mine)
            return false;
    return true;
}

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

    for (uint32_t i = 0; i < f->parts && e == SEINE_OK && left > 0; i++) {
        if (f->by_part[i] || !is_mine(f, i))
            continue;
        if (is_renewal_due(f) || f->clock->now(f->clock) > end)
            break;
        e = acquire(f, i, hooks, &left);
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
    for (uint32_t p = 0; p < f->parts; p++) {
        sn_tenure *t = f->by_part[p];

        if (!t || atomic_load(&f->states[t->index]) != SN_TENURE_HELD ||
            now - t->since < 2 * f->lease || is_mine(f, p))
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

    for (uint32_t p = 0; p < f->parts; p++) {
        bool is_over = false;

        pthread_mutex_lock(&f->lock);
        sn_tenure *t = f->by_part[p];
        uint8_t state = t ? atomic_load(&f->states[t->index]) : SN_TENURE_NONE;
        if (t && !t->is_busy &&
            (state == SN_TENURE_LOST ||
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

    for (uint32_t p = 0; p < f->parts && e == SEINE_OK; p++) {
        sn_tenure *t = f->by_part[p];

        if (!t || !t->needs_claim || atomic_load(&f->states[t->index]) != SN_TENURE_HELD)
            continue;
        if (is_renewal_due(f))
            break;
        e = sn_fleet_claim(f, t, hooks);
        t->needs_claim = e != SEINE_OK;
    }
    return e;
}

/* The end. */

/* Are the inboxes of a server empty? *out_added: entries that were ever added there. */
static seine_err
ask_server(sn_fleet *f, uint32_t server, bool *out_idle, int64_t *out_added)
{
    sn_redis_sync *r = f->servers[server].keeper;
    const sn_redis_reply *reply;
    int64_t idle = 0;
    seine_err e = sn_fleet_add_idle(r, &f->id, 0, f->parts);

    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK)
        *out_idle = sn_redis_reply_int(reply, 0, &idle) && idle == 1 &&
                    sn_redis_reply_int(reply, 1, out_added);
    return e;
}

/* Are all inboxes empty at one moment? A page leaves its inbox after its links have
 * entered theirs, so that is the end. Several servers are asked twice: if nothing was
 * added to any of them in between, all were empty at the moment between. */
static seine_err
ask_idle(sn_fleet *f, bool *out_idle, int64_t added[SN_FLEET_SERVERS])
{
    int64_t again;
    seine_err e = SEINE_OK;

    *out_idle = true;
    for (uint32_t s = 0; s < f->n_servers && *out_idle && e == SEINE_OK; s++)
        e = ask_server(f, s, out_idle, &added[s]);
    for (uint32_t s = 0; s < f->n_servers && *out_idle && e == SEINE_OK; s++) {
        again = added[s];
        if (f->n_servers > 1)
            e = ask_server(f, s, out_idle, &again);
        *out_idle &= again == added[s];
    }
    *out_idle &= e == SEINE_OK;
    return e;
}

enum { LATE_AT_ONCE = 16 }; /* blocks */

/* Adds blocks that were kept for the end to the inbox. *out_ids: of those that it has. */
static seine_err
add_late(sn_fleet *f, uint32_t part, const sn_redis_reply *blocks, size_t n,
         char (*out_ids)[SN_FLEET_ENTRY_ID])
{
    sn_redis_sync *r = sn_fleet_server_of(f, part)->keeper;
    sn_fleet_key in = sn_fleet_key_of(&f->id, part, "in");

    for (size_t i = 0; i < n; i++) {
        const sn_redis_reply *b = blocks->items[i];

        if (b->kind != SN_REDIS_ARRAY || b->count < 2 || b->items[1]->count < 4)
            return SEINE_E_STORE_UNAVAILABLE;
        snprintf(out_ids[i], SN_FLEET_ENTRY_ID, "%.*s", SN_FMT(b->items[0]->text));
        sn_redis_reply *const *fields = b->items[1]->items;
        sn_str words[] = {SN_STR("XADD"),  sn_fleet_key_view(&in), SN_STR("*"),
                          fields[0]->text, fields[1]->text,        fields[2]->text,
                          fields[3]->text};
        sn_redis_sync_add(r, words, 7);
    }
    for (size_t i = 0; i < n; i++) {
        const sn_redis_reply *reply;
        seine_err e = sn_redis_sync_next(r, &reply);

        if (e != SEINE_OK)
            return e;
        if (reply->kind == SN_REDIS_ERROR) { /* it has no memory: the block stays */
            atomic_store(&f->is_full, sn_str_starts(reply->text, SN_STR("OOM")));
            out_ids[i][0] = '\0';
        }
    }
    return SEINE_OK;
}

/* Gives the blocks of one partition that were kept for the end to its inbox. What two
 * workers give there is known when it comes for the second time. *out_left: some could
 * not be given. */
static seine_err
give_late(sn_fleet *f, uint32_t part, bool *out_left)
{
    sn_redis_sync *r = sn_fleet_server_of(f, part)->keeper;
    sn_fleet_key late = sn_fleet_key_of(&f->id, part, "late");
    sn_str range[] = {SN_STR("XRANGE"), sn_fleet_key_view(&late), SN_STR("-"),
                      SN_STR("+"),      SN_STR("COUNT"),          SN_STR("16")};
    char ids[LATE_AT_ONCE][SN_FLEET_ENTRY_ID];
    const sn_redis_reply *reply;

    *out_left = false;
    for (;;) {
        seine_err e = sn_redis_sync_ask(r, range, 6, &reply);
        if (e == SEINE_OK && reply->kind != SN_REDIS_ARRAY)
            e = SEINE_E_STORE_UNAVAILABLE;
        if (e != SEINE_OK || reply->count == 0)
            return e;
        size_t n = reply->count < LATE_AT_ONCE ? reply->count : LATE_AT_ONCE;
        e = add_late(f, part, reply, n, ids);
        for (size_t i = 0; i < n && e == SEINE_OK; i++) {
            sn_str del[] = {SN_STR("XDEL"), sn_fleet_key_view(&late), sn_str_of(ids[i])};

            *out_left |= !ids[i][0];
            if (ids[i][0])
                e = sn_redis_sync_ask(r, del, 3, &reply);
        }
        if (e != SEINE_OK || *out_left)
            return e;
    }
}

/* All else has ended: links that were put off are refused now. *out_any: there were. */
static seine_err
give_all_late(sn_fleet *f, bool *out_any)
{
    bool *has SN_AUTOFREE = sn_calloc(f->parts, sizeof *has);
    seine_err e = has ? SEINE_OK : SEINE_E_NOMEM;

    *out_any = false;
    for (uint32_t p = 0; p < f->parts && e == SEINE_OK; p++) {
        sn_redis_sync *r = sn_fleet_server_of(f, p)->keeper;
        sn_fleet_key late = sn_fleet_key_of(&f->id, p, "late");
        sn_str words[] = {SN_STR("XLEN"), sn_fleet_key_view(&late)};

        sn_redis_sync_add(r, words, 2);
    }
    for (uint32_t p = 0; p < f->parts && e == SEINE_OK; p++) {
        const sn_redis_reply *reply;

        e = sn_redis_sync_next(sn_fleet_server_of(f, p)->keeper, &reply);
        has[p] =
            e == SEINE_OK && !(reply->kind == SN_REDIS_INTEGER && reply->integer == 0);
    }
    for (uint32_t p = 0; p < f->parts && e == SEINE_OK; p++) {
        bool left = false;

        if (!has[p])
            continue;
        *out_any = true;
        e = give_late(f, p, &left);
        if (left)
            break;
    }
    return e;
}

/* Has everything ended? Another worker may give what was kept for the end to the inboxes
 * while this one looks: then more was added to them than before. */
static seine_err
ask_end(sn_fleet *f, bool *out_over)
{
    int64_t before[SN_FLEET_SERVERS] = {0}, after[SN_FLEET_SERVERS] = {0};
    bool is_late = false;
    seine_err e = ask_idle(f, out_over, before);

    if (e == SEINE_OK && *out_over)
        e = give_all_late(f, &is_late);
    *out_over &= e == SEINE_OK && !is_late;
    if (*out_over)
        e = ask_idle(f, out_over, after);
    *out_over &= memcmp(before, after, sizeof before) == 0;
    return e;
}

/* A worker that lost a lease may read the inbox once more before it notices, after the
 * new holder has claimed what the old one had. Such an entry belongs to nobody who works
 * on it. A holder without work claims again, once in a lease, while inboxes hold some. */
static void
claim_soon(sn_fleet *f, seine_time now)
{
    f->claim_at = sn_time_add(now, f->lease);
    for (uint32_t s = 0; s < f->n_servers; s++)
        claim_later(f, s);
}

static seine_err
look_for_end(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_str words[] = {SN_STR("HSET"), sn_fleet_key_view(&cfg), SN_STR("done"),
                      SN_STR("1")};
    seine_time now = f->clock->now(f->clock);
    const sn_redis_reply *reply;
    bool is_over = false;

    if (!atomic_load(&f->is_seeded) || now < f->idle_at || atomic_load(&f->pending) > 0 ||
        !hooks->is_idle(hooks->arg))
        return SEINE_OK;
    f->idle_at = sn_time_add(now, IDLE_SPAN);
    seine_err e = ask_end(f, &is_over);
    if (e == SEINE_OK && !is_over && now >= f->claim_at)
        claim_soon(f, now);
    if (e == SEINE_OK && is_over)
        e = sn_redis_sync_ask(f->servers[0].keeper, words, 4, &reply);
    if (e == SEINE_OK && is_over)
        f->is_done = reply->kind == SN_REDIS_INTEGER;
    return e;
}

/* One turn. */

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
        f->balance_at = sn_time_add(now, sn_time_min(SEINE_SECS(1), f->lease / 6));
        give_partitions(f);
        e = take_partitions(f, hooks);
    }
    if (e == SEINE_OK && f->every_us > 0)
        e = reserve_starts(f, hooks);
    if (e == SEINE_OK && hooks->backlog(hooks->arg) < SN_FLEET_LOW)
        e = sn_fleet_read_inboxes(f, hooks, PATIENCE, &has_waited);
    if (e == SEINE_OK && !is_renewal_due(f))
        e = look_for_end(f, hooks);
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
