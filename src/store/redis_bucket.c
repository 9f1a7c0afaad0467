/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_bucket.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "guard/gcra.h"
#include "redis_functions.inc"

#define APART_FOR "1000" /* ms after which a member that is apart counts as silent */

const char *
sn_redis_bucket_functions(void)
{
    static const char text[] = LUA_REDIS_BUCKET;

    return text;
}

/* The part in braces keeps all keys on one node of a cluster. */
void
sn_redis_keys_init(sn_redis_keys *k, sn_str prefix)
{
    int n = (int)(prefix.len < SN_REDIS_HEAD - 6 ? prefix.len : SN_REDIS_HEAD - 6);

    snprintf(k->bucket, sizeof k->bucket, "sn:{%.*s}:b:", n, prefix.ptr);
    snprintf(k->since, sizeof k->since, "sn:{%.*s}:since", n, prefix.ptr);
    snprintf(k->members, sizeof k->members, "sn:{%.*s}:m", n, prefix.ptr);
    snprintf(k->apart, sizeof k->apart, "sn:{%.*s}:apart", n, prefix.ptr);
}

typedef struct number {
    char text[24];
} number;

static sn_str
write_number(number *out, int64_t n)
{
    int len = snprintf(out->text, sizeof out->text, "%lld", (long long)n);

    return (sn_str){out->text, (size_t)len};
}

/* Whole seconds and the nanoseconds that are left. */
static void
write_span(number out[2], seine_span span, sn_str words[2])
{
    int64_t ns, s = sn_time_seconds(span, &ns);

    words[0] = write_number(&out[0], s);
    words[1] = write_number(&out[1], ns);
}

/* The key of a bucket: the name as it is, or the SHA-256 of a long one. */
static seine_err
write_key(const sn_redis_keys *keys, sn_str name,
          char out[sizeof keys->bucket + SN_REDIS_KEY], sn_str *out_key)
{
    size_t n = strlen(keys->bucket);
    uint8_t digest[32];

    memcpy(out, keys->bucket, n);
    if (name.len > SN_REDIS_KEY) {
        seine_err e = sn_sha256(name.ptr, name.len, digest);

        if (e != SEINE_OK)
            return e;
        for (size_t i = 0; i < sizeof digest; i++)
            n += (size_t)snprintf(out + n, 3, "%02x", digest[i]);
    } else {
        memcpy(out + n, name.len ? name.ptr : "", name.len);
        n += name.len;
    }
    *out_key = (sn_str){out, n};
    return SEINE_OK;
}

seine_err
sn_redis_bucket_take(sn_redis *r, seine_time now, const sn_redis_keys *keys, sn_str name,
                     const seine_limiter *shape, uint32_t n, sn_redis_fn fn, void *arg)
{
    char key[sizeof keys->bucket + SN_REDIS_KEY];
    number cost[2], depth[2];
    seine_span price = sn_gcra_cost(shape, n);
    sn_str words[11] = {SN_STR("FCALL"), SN_STR("seine_bucket1_take"), SN_STR("4")};

    if (price == SEINE_NEVER)
        return SEINE_E_RANGE;
    seine_err e = write_key(keys, name, key, &words[3]);
    if (e != SEINE_OK)
        return e;
    words[4] = sn_str_of(keys->since);
    words[5] = sn_str_of(keys->members);
    words[6] = sn_str_of(keys->apart);
    write_span(cost, price, &words[7]);
    write_span(depth, shape->depth, &words[9]);
    return sn_redis_ask(r, now, words, 11, fn, arg);
}

static bool
read_moment(const sn_redis_reply *reply, size_t at, seine_time *out_moment)
{
    int64_t s, ns;

    if (!sn_redis_reply_int(reply, at, &s) || !sn_redis_reply_int(reply, at + 1, &ns) ||
        s < 0 || ns < 0 || ns >= SEINE_SECS(1) || s >= INT64_MAX / SEINE_SECS(1))
        return false;
    *out_moment = SEINE_SECS(s) + ns;
    return true;
}

bool
sn_redis_bucket_read(const sn_redis_reply *reply, sn_redis_taken *out_taken)
{
    sn_redis_taken t;
    int64_t granted, members;

    if (!sn_redis_reply_int(reply, 0, &granted) || !read_moment(reply, 1, &t.full) ||
        !read_moment(reply, 3, &t.now) || !sn_redis_reply_int(reply, 5, &members) ||
        members < 0 || members > UINT32_MAX)
        return false;
    t.granted = granted == 1;
    t.members = (uint32_t)members;
    *out_taken = t;
    return true;
}

seine_err
sn_redis_bucket_meet(sn_redis *r, seine_time now, const sn_redis_keys *keys,
                     const sn_redis_member *member, sn_redis_fn fn, void *arg)
{
    static const char *const ways[] = {"apart", "join", "stay", "leave"};
    number live, since;
    sn_str words[] = {SN_STR("FCALL"),
                      SN_STR("seine_bucket1_meet"),
                      SN_STR("3"),
                      sn_str_of(keys->since),
                      sn_str_of(keys->members),
                      sn_str_of(keys->apart),
                      sn_str_of(member->id),
                      sn_str_of(ways[member->way]),
                      write_number(&live, SN_REDIS_LIVE / SEINE_MS(1)),
                      SN_STR(APART_FOR),
                      member->has_spent ? SN_STR("1") : SN_STR("0"),
                      write_number(&since, member->deepest / SEINE_MS(1) + 1000)};

    return sn_redis_ask(r, now, words, sizeof words / sizeof *words, fn, arg);
}

bool
sn_redis_bucket_members(const sn_redis_reply *reply, uint32_t *out_members)
{
    int64_t n;

    if (!sn_redis_reply_int(reply, 0, &n) || n < 0 || n > UINT32_MAX)
        return false;
    *out_members = (uint32_t)n;
    return true;
}
