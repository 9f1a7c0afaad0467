/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/shared_budget.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/rng.h"
#include "guard/keyed.h"
#include "guard/shared.h"

#define SINCE_FOR   SEINE_SECS(31 * 86400) /* more than any bucket needs to be full */
#define REST        SEINE_SECS(1)          /* after an error of the server */
#define LONGEST_KEY 64

/* The buckets of one policy, while this member is apart. */
typedef struct share {
    struct share *next;
    seine_keyed *buckets; /* NULL: none could be made, nothing is granted */
    seine_rate rate;      /* of the policy */
    char name[];
} share;

struct sn_shared_budget {
    sn_redis *redis;
    sn_redis_keys keys;
    sn_redis_member member;
    seine_log *log;
    char shown[SN_REDIS_SHOWN];
    char said[SN_REDIS_WHY]; /* why it was last said to be apart */
    seine_time now;          /* of the latest call */
    bool is_together, is_meeting;
    seine_time apart_since; /* shares are empty at this moment */
    seine_time back_since;  /* the server has been back; NEVER: it is not */
    seine_time next_meet;
    uint32_t share_of;
    share *shares;
    sn_shared_budget_stats stats;
};

seine_err
sn_shared_budget_new(sn_redis *redis, const char *shown_url, seine_log *log,
                     seine_time now, sn_shared_budget **out_budget)
{
    sn_shared_budget *b = sn_zalloc(sizeof *b);
    uint8_t id[16];

    if (!b)
        return SEINE_E_NOMEM;
    sn_rng_secret(id, sizeof id);
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(b->member.id + 2 * i, 3, "%02x", id[i]);
    b->member.deepest = SINCE_FOR;
    b->redis = redis;
    b->log = log;
    snprintf(b->shown, sizeof b->shown, "%s", shown_url);
    sn_redis_keys_init(&b->keys, SN_STR("gate"));
    b->now = b->apart_since = now;
    b->back_since = SEINE_NEVER;
    b->next_meet = SEINE_NEVER;
    b->share_of = b->stats.members = 1;
    *out_budget = b;
    return SEINE_OK;
}

static void
drop_shares(sn_shared_budget *b)
{
    while (b->shares) {
        share *s = b->shares;

        b->shares = s->next;
        seine_keyed_free(s->buckets);
        sn_free(s);
    }
}

void
sn_shared_budget_free(sn_shared_budget *b)
{
    if (!b)
        return;
    drop_shares(b);
    sn_free(b);
}

/* Warns once; while it lasts, other reasons are told as they come. */
static void
say_apart(sn_shared_budget *b, const char *why)
{
    char text[SN_REDIS_WHY + 160];
    bool is_new = b->said[0] == '\0';

    if (strcmp(b->said, why) == 0)
        return;
    snprintf(b->said, sizeof b->said, "%s", why);
    if (is_new) {
        snprintf(
            text, sizeof text,
            "Redis %s; until it is back this gate lets in its share of each budget, 1/%u",
            why, b->share_of);
        SN_SAY(b->log, WARN, "gate.apart", text, SN_S("redis", b->shown));
    } else {
        snprintf(text, sizeof text, "Redis %s", why);
        SN_SAY(b->log, INFO, "gate.apart", text, SN_S("redis", b->shown));
    }
}

static void
say_together(sn_shared_budget *b)
{
    b->said[0] = '\0';
    SN_SAY(b->log, INFO, "gate.together", "the budget is shared in Redis",
           SN_S("redis", b->shown), SN_U("gates", b->stats.members));
}

static void
go_apart(sn_shared_budget *b, const char *why)
{
    if (b->is_together) {
        b->is_together = false;
        b->apart_since = b->now;
        b->share_of = b->stats.members;
        b->member.has_spent = true; /* the server may have lost its buckets, too */
        b->stats.failed++;
        drop_shares(b);
    }
    say_apart(b, why);
}

void
sn_shared_budget_down(sn_shared_budget *b, seine_time now)
{
    b->now = now;
    b->is_meeting = false;
    b->back_since = b->next_meet = SEINE_NEVER;
    go_apart(b, sn_redis_why(b->redis));
}

static void on_met(seine_err e, const sn_redis_reply *reply, void *arg);

static bool
meet(sn_shared_budget *b, sn_redis_way way)
{
    b->member.way = way;
    b->is_meeting = sn_redis_bucket_meet(b->redis, b->now, &b->keys, &b->member, on_met,
                                         b) == SEINE_OK;
    return b->is_meeting;
}

/* All are back who were there, or have been waited for. Whatever is asked behind this
 * command finds the buckets empty, if shares were granted from. */
static void
join(sn_shared_budget *b)
{
    if (!meet(b, SN_REDIS_JOIN))
        return;
    b->is_together = true;
    b->next_meet = sn_time_add(b->now, SN_BUDGET_BEAT);
    drop_shares(b);
}

/* A server that has kept its keys still lists members that are not back, and grant from
 * their shares: so there is time for each of them to come, whatever it lists. */
static bool
may_join(const sn_shared_budget *b, uint32_t members)
{
    seine_span back = b->now - b->back_since;

    return b->share_of == 1 || (back >= SN_BUDGET_BACK && members >= b->share_of) ||
           back >= SN_BUDGET_WAIT;
}

static void
on_met(seine_err e, const sn_redis_reply *reply, void *arg)
{
    sn_shared_budget *b = arg;
    char why[SN_REDIS_WHY] = "answers with something else than asked for";
    bool has_joined = b->member.way == SN_REDIS_JOIN;
    uint32_t members = 0;

    if (!reply) /* lost: down comes */
        return;
    b->now = sn_redis_now(b->redis);
    b->is_meeting = false;
    if (e != SEINE_OK || !sn_redis_bucket_members(reply, &members)) {
        if (e != SEINE_OK)
            (void)!sn_redis_error_read(reply->text, why);
        b->next_meet = sn_time_add(b->now, REST);
        go_apart(b, why);
        return;
    }
    b->stats.members = members > 0 ? members : 1;
    if (has_joined) {
        b->member.has_spent = false;
        say_together(b);
    }
    if (!b->is_together && may_join(b, members))
        join(b);
}

void
sn_shared_budget_up(sn_shared_budget *b, seine_time now)
{
    b->now = now;
    b->is_meeting = false;
    b->back_since = b->next_meet = now;
    if (!b->member.has_spent) /* it is new, and there is nothing to wait for */
        join(b);
    else
        sn_shared_budget_tick(b, now);
}

void
sn_shared_budget_tick(sn_shared_budget *b, seine_time now)
{
    b->now = now;
    if (now < b->next_meet || !sn_redis_is_up(b->redis))
        return;
    b->next_meet = sn_time_add(now, b->is_together ? SN_BUDGET_BEAT : SN_BUDGET_POLL);
    if (!b->is_meeting)
        (void)meet(b, b->is_together ? SN_REDIS_STAY : SN_REDIS_APART);
}

seine_time
sn_shared_budget_when(const sn_shared_budget *b)
{
    return b->next_meet;
}

static bool
is_same_rate(const seine_rate *a, const seine_rate *b)
{
    return a->count == b->count && a->per == b->per && a->burst == b->burst;
}

/* The rate divided by the members, rounded to the slow side; a burst of at least 1. */
static seine_rate
divide(const seine_rate *rate, uint32_t members)
{
    return (seine_rate){rate->count, sn_time_mul(rate->per, members),
                        rate->burst > members ? rate->burst / members : 1};
}

/* Finds or makes the share of a policy; one whose rate has changed begins anew. */
static share *
find_share(sn_shared_budget *b, const sn_budget_policy *p)
{
    share **at = &b->shares;
    seine_keyed_opts opts = SEINE_KEYED_OPTS;
    seine_time since = b->apart_since;

    while (*at && strcmp((*at)->name, p->name) != 0)
        at = &(*at)->next;
    if (*at && is_same_rate(&(*at)->rate, &p->rate))
        return *at;
    if (*at) {
        share *old = *at;

        *at = old->next;
        seine_keyed_free(old->buckets);
        sn_free(old);
        since = b->now;
    }
    size_t n = strlen(p->name) + 1;
    share *s = sn_zalloc(sizeof *s + n);
    if (!s)
        return NULL;
    memcpy(s->name, p->name, n);
    s->rate = p->rate;
    opts.each = divide(&p->rate, b->share_of);
    opts.max_keys = p->max_keys;
    opts.overflow = p->overflow;
    if (seine_keyed_new(&opts, &s->buckets) == SEINE_OK)
        sn_keyed_start_empty(s->buckets, since);
    s->next = b->shares;
    b->shares = s;
    return s;
}

/* Decides from the share of this member. */
static void
decide_apart(sn_shared_budget *b, sn_budget_call *call)
{
    share *s = find_share(b, &call->policy);
    seine_grant grant = {.limit = call->policy.rate.burst, .retry_after = SEINE_SECS(1)};
    seine_err e = SEINE_E_LIMITED;

    if (s && s->buckets)
        e = seine_keyed_try(s->buckets, call->key, b->now, 1, &grant);
    b->member.has_spent |= e == SEINE_OK;
    b->stats.shared_out++;
    call->done(call, e, &grant);
}

/* The reply as a grant; its moments are the server's. */
static void
fill_grant(const sn_budget_call *call, const sn_redis_taken *taken, seine_grant *out)
{
    seine_limiter bucket = call->shape;

    bucket.full = taken->full;
    *out = (seine_grant){0};
    sn_grant_fill(out, &bucket, taken->now);
    if (taken->granted)
        return;
    out->left = 0; /* tokens are kept back while a member is apart */
    out->retry_after = sn_time_max(
        SEINE_MS(1), sn_time_sub(seine_limiter_when(&bucket, taken->now, 1), taken->now));
}

static void
on_taken(seine_err e, const sn_redis_reply *reply, void *arg)
{
    sn_budget_call *call = arg;
    sn_shared_budget *b = call->of;
    sn_redis_taken taken;
    seine_grant grant;
    char why[SN_REDIS_WHY] = "answers with something else than asked for";

    b->now = sn_redis_now(b->redis);
    if (e == SEINE_OK && sn_redis_bucket_read(reply, &taken)) {
        if (taken.members > 0)
            b->stats.members = taken.members;
        b->stats.asked++;
        fill_grant(call, &taken, &grant);
        call->done(call, taken.granted ? SEINE_OK : SEINE_E_LIMITED, &grant);
        return;
    }
    if (!reply)
        snprintf(why, sizeof why, "%s", sn_redis_why(b->redis));
    else if (e != SEINE_OK)
        (void)!sn_redis_error_read(reply->text, why);
    b->next_meet = sn_time_add(b->now, REST);
    go_apart(b, why);
    decide_apart(b, call);
}

/* The name of a bucket: the policy and the key in hex, which may be any bytes. */
static sn_str
write_name(const sn_budget_call *call, char *out, size_t cap)
{
    int n = snprintf(out, cap, "%s:", call->policy.name);

    for (size_t i = 0; i < call->key.len && i < LONGEST_KEY && (size_t)n + 3 < cap; i++)
        n += snprintf(out + n, cap - (size_t)n, "%02x", (unsigned char)call->key.ptr[i]);
    return (sn_str){out, (size_t)n};
}

void
sn_shared_budget_try(sn_shared_budget *b, seine_time now, sn_budget_call *call)
{
    char name[2 * LONGEST_KEY + 160];
    seine_grant none = {.limit = call->policy.rate.burst, .retry_after = SEINE_SECS(1)};

    b->now = now;
    call->of = b;
    if (!b->is_together) {
        decide_apart(b, call);
        return;
    }
    if (seine_limiter_init_rate(&call->shape, &call->policy.rate, SEINE_FULL, 0) !=
            SEINE_OK ||
        sn_redis_bucket_take(b->redis, now, &b->keys, write_name(call, name, sizeof name),
                             &call->shape, 1, on_taken, call) != SEINE_OK)
        call->done(call, SEINE_E_LIMITED, &none); /* too many wait for the server */
}

void
sn_shared_budget_leave(sn_shared_budget *b, seine_time now)
{
    b->now = now;
    if (sn_redis_is_up(b->redis))
        (void)meet(b, SN_REDIS_LEAVE);
    b->next_meet = SEINE_NEVER;
}

void
sn_shared_budget_stats_get(const sn_shared_budget *b, sn_shared_budget_stats *out_stats)
{
    *out_stats = b->stats;
    out_stats->is_together = b->is_together;
}
