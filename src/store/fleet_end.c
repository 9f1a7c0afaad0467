/* SPDX-License-Identifier: Apache-2.0 */
/* Has the job ended? The keeper's thread. The worker that has the first partition asks
 * for all: while another one has work the job has not ended, and if that worker is gone
 * the lease goes to the next. The others look whether it has said so, and ask for all
 * more seldom, the more of them there are. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "store/fleet_parts.h"

#define IDLE_SPAN SEINE_MS(200) /* between two questions whether all is done, … */
#define EACH_PART SEINE_US(10)  /* … and more for each inbox and worker that asks */

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
        sn_fleet_claim_later(f, s);
}

/* Until this worker asks for all again. */
static seine_span
ask_span(const sn_fleet *f)
{
    uint32_t askers = f->by_part[0] || f->n_members < 8 ? 8 : f->n_members;

    return sn_time_max(IDLE_SPAN, (seine_span)f->parts * askers * EACH_PART);
}

/* Another worker may have said it. */
static seine_err
hear_end(sn_fleet *f, bool *out_over)
{
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_str words[] = {SN_STR("HGET"), sn_fleet_key_view(&cfg), SN_STR("done")};
    const sn_redis_reply *reply;
    seine_err e = sn_redis_sync_ask(f->servers[0].keeper, words, 3, &reply);

    if (e == SEINE_OK)
        *out_over = sn_str_eq(reply->text, SN_STR("1"));
    return e;
}

static seine_err
say_end(sn_fleet *f)
{
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_str words[] = {SN_STR("HSET"), sn_fleet_key_view(&cfg), SN_STR("done"),
                      SN_STR("1")};
    const sn_redis_reply *reply;
    seine_err e = sn_redis_sync_ask(f->servers[0].keeper, words, 4, &reply);

    if (e == SEINE_OK)
        f->is_done = reply->kind == SN_REDIS_INTEGER;
    return e;
}

seine_err
sn_fleet_look_for_end(sn_fleet *f, const sn_fleet_hooks *hooks)
{
    seine_time now = f->clock->now(f->clock);
    bool asks_all = now >= f->ask_at, is_over = false;

    if (!atomic_load(&f->is_seeded) || now < f->idle_at || atomic_load(&f->pending) > 0 ||
        !hooks->is_idle(hooks->arg))
        return SEINE_OK;
    f->idle_at = sn_time_add(now, sn_time_max(IDLE_SPAN, 10 * sn_fleet_patience(f)));
    if (asks_all)
        f->ask_at = sn_time_add(now, ask_span(f));
    seine_err e = asks_all ? ask_end(f, &is_over) : hear_end(f, &is_over);
    if (e == SEINE_OK && !is_over && now >= f->claim_at)
        claim_soon(f, now);
    if (e == SEINE_OK && is_over && asks_all)
        return say_end(f);
    f->is_done |= e == SEINE_OK && is_over;
    return e;
}
