/* SPDX-License-Identifier: Apache-2.0 */
/* Who else works on the job, and which partitions should be this worker's. A worker hears
 * of the others when it renews its leases, and then of changes alone: what all of them
 * are told grows with the number of workers and of changes, not with its square. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "store/fleet_parts.h"

#define PATIENCE SEINE_MS(20) /* for a new block, while there are up to 400 workers */
#define EACH     SEINE_US(50) /* … and so much more for each one beyond */
#define PATIENT  SEINE_MS(500)

/* Members. */

/* The 16 first digits of an incarnation. */
static bool
read_id(sn_str text, uint64_t *out_id)
{
    uint64_t id = 0;

    if (text.len < 16)
        return false;
    for (size_t i = 0; i < 16; i++) {
        int digit = sn_hex_digit(text.ptr[i]);

        if (digit < 0)
            return false;
        id = id << 4 | (uint64_t)digit;
    }
    *out_id = id;
    return true;
}

static sn_fleet_member *
find_member(sn_fleet *f, uint64_t id)
{
    for (uint32_t i = 0; i < f->n_members; i++)
        if (f->members[i].id == id)
            return &f->members[i];
    return NULL;
}

static seine_err
add_member(sn_fleet *f, uint64_t id, double weight)
{
    if (f->n_members == f->members_room) {
        uint32_t room = f->members_room > 0 ? 2 * f->members_room : 16;
        sn_fleet_member *more = sn_realloc(f->members, room * sizeof *more);

        if (!more)
            return SEINE_E_NOMEM;
        f->members = more;
        f->members_room = room;
    }
    f->members[f->n_members++] = (sn_fleet_member){id, weight};
    return SEINE_OK;
}

/* "+id:weight" or "-id:weight". In a list of all nobody is there twice. */
static seine_err
hear_change(sn_fleet *f, sn_str text, bool is_all)
{
    uint64_t id, weight = 1;
    sn_str head, tail;

    if (text.len == 0 || !read_id(sn_str_slice(text, 1, text.len), &id))
        return SEINE_OK;
    (void)sn_str_cut(text, ':', &head, &tail);
    if (sn_str_u64(tail, &weight) != SEINE_OK || weight == 0)
        weight = 1;
    sn_fleet_member *known = is_all ? NULL : find_member(f, id);
    if (text.ptr[0] == '+')
        return known ? SEINE_OK : add_member(f, id, (double)weight);
    if (known)
        *known = f->members[--f->n_members];
    return SEINE_OK;
}

static seine_err
hear_members(sn_fleet *f, const sn_redis_reply *reply)
{
    int64_t last, how;
    seine_err e = SEINE_OK;

    if (reply->kind != SN_REDIS_ARRAY || !sn_redis_reply_int(reply, 1, &last) ||
        !sn_redis_reply_int(reply, 2, &how)) {
        sn_redis_sync_close(f->servers[0].keeper);
        return SEINE_E_STORE_UNAVAILABLE;
    }
    if (how == SN_FLEET_MET_FULL) {
        seine_diag why = SEINE_DIAG;

        sn_diag_text(&why, "job '%s' has %d workers, and no more can take part", f->name,
                     SN_FLEET_MEMBERS);
        return sn_fleet_fail(f, SEINE_E_FULL, &why);
    }
    if (how == SN_FLEET_MET_ALL)
        f->n_members = 0;
    f->is_shared_out &= how == SN_FLEET_MET_CHANGES && reply->count == 3;
    for (size_t i = 3; i < reply->count && e == SEINE_OK; i++)
        e = hear_change(f, reply->items[i]->text, how == SN_FLEET_MET_ALL);
    f->last_change = e == SEINE_OK ? last : 0;
    atomic_store(&f->shown_members, f->n_members);
    return e;
}

/* The state of the job. */

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

static seine_err
hear_state(sn_fleet *f, const sn_redis_reply *reply)
{
    if (reply->kind != SN_REDIS_ARRAY || reply->count != 6) {
        sn_redis_sync_close(f->servers[0].keeper);
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
    return SEINE_OK;
}

seine_err
sn_fleet_meet(sn_fleet *f)
{
    sn_redis_sync *r = f->servers[0].keeper;
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_fleet_key wide = sn_fleet_key_of_job(&f->id, "wide");
    sn_str get[] = {SN_STR("HMGET"), sn_fleet_key_view(&cfg), SN_STR("state"),
                    SN_STR("done"),  SN_STR("seeded"),        SN_STR("format"),
                    SN_STR("rev"),   SN_STR("said")};
    sn_str len[] = {SN_STR("HLEN"), sn_fleet_key_view(&wide)};
    const sn_redis_reply *reply;

    sn_fleet_add_meet(r, &f->id, f->member, f->lease / SEINE_MS(1), f->last_change);
    sn_redis_sync_add(r, get, 8);
    sn_redis_sync_add(r, len, 2);
    seine_err e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK)
        e = hear_members(f, reply);
    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK)
        e = hear_state(f, reply);
    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK && reply->kind == SN_REDIS_INTEGER)
        f->n_wide = (uint64_t)reply->integer;
    return e;
}

void
sn_fleet_part_from(sn_fleet *f)
{
    sn_redis_sync *r = f->servers[0].keeper;
    const sn_redis_reply *reply;

    sn_fleet_add_meet(r, &f->id, f->member, 0, f->last_change);
    (void)!sn_redis_sync_next(r, &reply);
}

seine_span
sn_fleet_patience(const sn_fleet *f)
{
    if (f->every_us > 0) /* the next starts are reserved in between */
        return PATIENCE;
    return sn_time_min(PATIENT, sn_time_max(PATIENCE, (seine_span)f->n_members * EACH));
}

/* Who should have a partition: the one whose hash with it is the highest, weighted. */

static uint64_t
mix(uint64_t n)
{
    n = (n ^ n >> 33) * UINT64_C(0xff51afd7ed558ccd);
    n = (n ^ n >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return n ^ n >> 33;
}

static double
score(uint64_t hash, double weight)
{
    double u = ((double)(hash >> 11) + 0.5) / 9007199254740992.0; /* 2^53 */

    return -weight / log(u);
}

/* Somebody who comes before is found after a few of them, however many there are. */
static bool
is_first(const sn_fleet *f, uint64_t own, uint32_t part)
{
    uint64_t salt = mix(f->secret[0] + part), hash = mix(own ^ salt);
    double mine = score(hash, f->weight);

    for (uint32_t i = 0; i < f->n_members; i++) {
        const sn_fleet_member *m = &f->members[i];
        uint64_t other = mix(m->id ^ salt);

        if (m->id == own)
            continue;
        /* The logarithm is needed for different weights alone. */
        if (m->weight == (double)f->weight ? other > hash
                                           : score(other, m->weight) > mine)
            return false;
    }
    return true;
}

static void
share_out(sn_fleet *f)
{
    uint64_t own = 0;

    (void)read_id(sn_str_of(f->incarnation), &own);
    f->n_own = 0;
    for (uint32_t p = 0; p < f->parts; p++) {
        f->mine[p] = is_first(f, own, p);
        if (f->mine[p])
            f->own[f->n_own++] = p;
    }
    f->is_shared_out = true;
}

bool
sn_fleet_is_mine(sn_fleet *f, uint32_t part)
{
    if (!f->is_shared_out)
        share_out(f);
    return f->mine[part];
}

const uint32_t *
sn_fleet_own_parts(sn_fleet *f, uint32_t *out_n)
{
    if (!f->is_shared_out)
        share_out(f);
    *out_n = f->n_own;
    return f->own;
}
