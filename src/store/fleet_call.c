/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet_call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "redis_functions.inc"

const char *
sn_fleet_functions(void)
{
    static const char text[] = LUA_SEINE1;

    return text;
}

sn_fleet_key
sn_fleet_key_of_job(const sn_fleet_id *job, const char *name)
{
    sn_fleet_key k;
    int n = snprintf(k.text, sizeof k.text, "sn:{%s}:%s", job->text, name);

    k.len = (size_t)n < sizeof k.text ? (size_t)n : sizeof k.text - 1;
    return k;
}

sn_fleet_key
sn_fleet_key_of(const sn_fleet_id *job, uint32_t part, const char *name)
{
    sn_fleet_key k;
    int n = snprintf(k.text, sizeof k.text, "sn:{%s.%u}:%s", job->text, part, name);

    k.len = (size_t)n < sizeof k.text ? (size_t)n : sizeof k.text - 1;
    return k;
}

sn_fleet_key
sn_fleet_key_of_chunk(const sn_fleet_id *job, uint32_t part, uint64_t chunk)
{
    char name[32];

    snprintf(name, sizeof name, "f:%" PRIu64, chunk);
    return sn_fleet_key_of(job, part, name);
}

sn_fleet_token
sn_fleet_token_of(const char *incarnation, uint64_t epoch)
{
    sn_fleet_token t;
    int n = snprintf(t.text, sizeof t.text, "%.*s|%" PRIu64, SN_FLEET_INCARNATION,
                     incarnation, epoch);

    t.len = (size_t)n;
    return t;
}

typedef struct number {
    char text[24];
} number;

static sn_str
put_number(number *out, int64_t n)
{
    int len = snprintf(out->text, sizeof out->text, "%" PRId64, n);

    return (sn_str){out->text, (size_t)len};
}

/* An error of the server is said by its first word alone. */
static seine_err
check(const sn_redis_reply *reply)
{
    if (reply->kind == SN_REDIS_ERROR)
        return SEINE_E_STORE_UNAVAILABLE;
    return reply->kind == SN_REDIS_ARRAY ? SEINE_OK : SEINE_E_PARSE;
}

void
sn_fleet_add_acquire(sn_redis_sync *r, const sn_fleet_id *job, uint32_t part,
                     const char *incarnation, int64_t ttl_ms)
{
    sn_fleet_key lease = sn_fleet_key_of(job, part, "lease");
    sn_fleet_key m = sn_fleet_key_of(job, part, "m");
    sn_fleet_key in = sn_fleet_key_of(job, part, "in");
    number ttl;
    sn_str words[] = {
        SN_STR("FCALL"),           SN_STR("seine1_acquire"), SN_STR("3"),
        sn_fleet_key_view(&lease), sn_fleet_key_view(&m),    sn_fleet_key_view(&in),
        sn_str_of(incarnation),    put_number(&ttl, ttl_ms)};

    sn_redis_sync_add(r, words, sizeof words / sizeof *words);
}

seine_err
sn_fleet_read_acquire(const sn_redis_reply *reply, sn_fleet_acquired *out_acquired)
{
    sn_fleet_acquired a = {0};
    int64_t epoch, third, fourth = 0;
    seine_err e = check(reply);

    if (e != SEINE_OK)
        return e;
    if (!sn_redis_reply_int(reply, 0, &epoch) ||
        !sn_redis_reply_int(reply, 1, &a.now_ms) ||
        !sn_redis_reply_int(reply, 2, &third) || epoch < 0 ||
        (epoch > 0 &&
         (!sn_redis_reply_int(reply, 3, &fourth) || third < 0 || fourth < 0)))
        return SEINE_E_PARSE;
    a.epoch = (uint64_t)epoch;
    a.left_ms = epoch == 0 ? third : 0;
    a.prints = epoch > 0 ? (uint64_t)third : 0;
    a.cseq = (uint64_t)fourth;
    *out_acquired = a;
    return SEINE_OK;
}

seine_err
sn_fleet_add_renew(sn_redis_sync *r, const sn_fleet_id *job, const sn_fleet_lease *leases,
                   size_t n, int64_t ttl_ms)
{
    sn_str *words SN_AUTOFREE = sn_calloc(2 * n + 4, sizeof *words);
    sn_fleet_key *keys SN_AUTOFREE = sn_calloc(n + 1, sizeof *keys);
    number count, ttl;

    if (!words || !keys)
        return SEINE_E_NOMEM;
    words[0] = SN_STR("FCALL");
    words[1] = SN_STR("seine1_renew");
    words[2] = put_number(&count, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        keys[i] = sn_fleet_key_of(job, leases[i].part, "lease");
        words[3 + i] = sn_fleet_key_view(&keys[i]);
        words[4 + n + i] = (sn_str){leases[i].token.text, leases[i].token.len};
    }
    words[3 + n] = put_number(&ttl, ttl_ms);
    sn_redis_sync_add(r, words, 2 * n + 4);
    return SEINE_OK;
}

void
sn_fleet_add_release(sn_redis_sync *r, const sn_fleet_id *job, uint32_t part,
                     const sn_fleet_token *token)
{
    sn_fleet_key lease = sn_fleet_key_of(job, part, "lease");
    sn_str words[] = {SN_STR("FCALL"),
                      SN_STR("seine1_release"),
                      SN_STR("1"),
                      sn_fleet_key_view(&lease),
                      {token->text, token->len}};

    sn_redis_sync_add(r, words, sizeof words / sizeof *words);
}

void
sn_fleet_add_meet(sn_redis_sync *r, const sn_fleet_id *job, const char *member,
                  int64_t ttl_ms, int64_t since)
{
    sn_fleet_key w = sn_fleet_key_of_job(job, "w");
    sn_fleet_key crew = sn_fleet_key_of_job(job, "crew");
    number numbers[3];
    sn_str words[] = {SN_STR("FCALL"),
                      SN_STR("seine1_meet"),
                      SN_STR("2"),
                      sn_fleet_key_view(&w),
                      sn_fleet_key_view(&crew),
                      sn_str_of(member),
                      put_number(&numbers[0], ttl_ms),
                      put_number(&numbers[1], since),
                      put_number(&numbers[2], SN_FLEET_MEMBERS)};

    sn_redis_sync_add(r, words, sizeof words / sizeof *words);
}

/* How many prints there are in a commit that fit into the current chunk. */
static size_t
room_in_chunk(const sn_fleet_commit *c)
{
    size_t room = SN_FLEET_CHUNK - (size_t)(c->prints % SN_FLEET_CHUNK);

    return c->n_added < room ? c->n_added : room;
}

static size_t
put_pairs(sn_str *words, number *count, const sn_fleet_pair *pairs, size_t n)
{
    size_t at = 0;

    words[at++] = put_number(count, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        words[at++] = pairs[i].name;
        words[at++] = pairs[i].value;
    }
    return at;
}

enum { COMMIT_KEYS = 9 };

static void
name_keys(const sn_fleet_id *job, const sn_fleet_commit *c,
          sn_fleet_key keys[COMMIT_KEYS])
{
    static const char *const names[] = {"lease", "m", "in", "bits", "h", "seg"};
    uint64_t chunk = c->prints / SN_FLEET_CHUNK;

    for (size_t i = 0; i < 6; i++)
        keys[i] = sn_fleet_key_of(job, c->part, names[i]);
    keys[6] = sn_fleet_key_of_chunk(job, c->part, chunk);
    keys[7] = sn_fleet_key_of_chunk(job, c->part, chunk + 1);
    keys[8] = sn_fleet_key_of(job, c->part, "t");
}

seine_err
sn_fleet_add_commit(sn_redis_sync *r, const sn_fleet_id *job, const sn_fleet_commit *c)
{
    size_t pairs = c->n_counters + c->n_hosts + c->n_patterns + c->n_bits;
    size_t n = 0, room = 3 + COMMIT_KEYS + 6 + 5 + 2 * pairs + c->n_done;
    sn_str *words SN_AUTOFREE = sn_calloc(room, sizeof *words);
    sn_fleet_key keys[COMMIT_KEYS];
    number cseq, counts[5];
    size_t first = room_in_chunk(c);
    sn_str prints = {(const char *)c->added, c->n_added * sizeof *c->added};

    if (!words)
        return SEINE_E_NOMEM;
    if (c->n_added > SN_FLEET_CHUNK)
        return SEINE_E_RANGE;
    name_keys(job, c, keys);
    words[n++] = SN_STR("FCALL");
    words[n++] = SN_STR("seine1_commit");
    words[n++] = SN_STR("9");
    for (size_t i = 0; i < COMMIT_KEYS; i++)
        words[n++] = sn_fleet_key_view(&keys[i]);
    words[n++] = (sn_str){c->token.text, c->token.len};
    words[n++] = put_number(&cseq, (int64_t)c->cseq);
    words[n++] = sn_str_slice(prints, 0, 8 * first);
    words[n++] = sn_str_slice(prints, 8 * first, prints.len);
    words[n++] = c->segment;
    words[n++] = c->length;
    n += put_pairs(words + n, &counts[0], c->counters, c->n_counters);
    n += put_pairs(words + n, &counts[1], c->hosts, c->n_hosts);
    n += put_pairs(words + n, &counts[2], c->patterns, c->n_patterns);
    n += put_pairs(words + n, &counts[3], c->bits, c->n_bits);
    words[n++] = put_number(&counts[4], (int64_t)c->n_done);
    for (size_t i = 0; i < c->n_done; i++)
        words[n++] = c->done[i];
    sn_redis_sync_add(r, words, n);
    return SEINE_OK;
}

seine_err
sn_fleet_read_commit(const sn_redis_reply *reply, sn_fleet_committed *out_how)
{
    if (reply->kind == SN_REDIS_ERROR &&
        (sn_str_starts(reply->text, SN_STR("FENCED")) ||
         sn_str_starts(reply->text, SN_STR("ERR FENCED")))) {
        *out_how = SN_FLEET_FENCED;
        return SEINE_OK;
    }
    seine_err e = check(reply);
    if (e == SEINE_OK)
        *out_how = SN_FLEET_DONE;
    return e;
}

seine_err
sn_fleet_add_idle(sn_redis_sync *r, const sn_fleet_id *job, uint32_t from, uint32_t to)
{
    size_t n = to - from;
    sn_str *words SN_AUTOFREE = sn_calloc(n + 3, sizeof *words);
    sn_fleet_key *keys SN_AUTOFREE = sn_calloc(n + 1, sizeof *keys);
    number count;

    if (!words || !keys)
        return SEINE_E_NOMEM;
    words[0] = SN_STR("FCALL_RO");
    words[1] = SN_STR("seine1_idle");
    words[2] = put_number(&count, (int64_t)n);
    for (size_t i = 0; i < n; i++) {
        keys[i] = sn_fleet_key_of(job, from + (uint32_t)i, "in");
        words[3 + i] = sn_fleet_key_view(&keys[i]);
    }
    sn_redis_sync_add(r, words, n + 3);
    return SEINE_OK;
}

void
sn_fleet_add_quota(sn_redis_sync *r, const sn_fleet_id *job, const char *name,
                   int64_t every_us, int64_t burst, int64_t want)
{
    char full[48];
    number numbers[3];

    snprintf(full, sizeof full, "rl:%s", name);
    sn_fleet_key bucket = sn_fleet_key_of_job(job, full);
    sn_str words[] = {SN_STR("FCALL"),
                      SN_STR("seine1_quota"),
                      SN_STR("1"),
                      sn_fleet_key_view(&bucket),
                      put_number(&numbers[0], every_us),
                      put_number(&numbers[1], burst),
                      put_number(&numbers[2], want)};

    sn_redis_sync_add(r, words, sizeof words / sizeof *words);
}
