/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"

#define RETRY_FIRST SEINE_MS(100)
#define GREETINGS   4 /* commands of the greeting, beyond max_pending */

typedef enum redis_state {
    RESTING,    /* until `at` */
    CONNECTING, /* the owner connects; `at` is its deadline */
    GREETING,   /* version, login, database and functions; the same deadline */
    UP
} redis_state;

typedef struct pending {
    sn_redis_fn fn;
    void *arg;
    seine_time deadline;
} pending;

struct sn_redis {
    sn_redis_opts opts;
    redis_state state;
    seine_time at, now;
    seine_span pause; /* before the next connect */
    sn_rng dice;
    sn_redis_reader *reader;
    sn_buf out;
    size_t sent; /* of `out` */
    pending *queue;
    uint32_t room, head, count;
    uint64_t connection; /* how many there were: whether one was lost in a callback */
    char why[SN_REDIS_WHY];
};

static void
fill_defaults(sn_redis_opts *o)
{
    o->max_pending = o->max_pending ? o->max_pending : 4096;
    o->max_bytes = o->max_bytes ? o->max_bytes : (size_t)4 << 20;
    o->connect = o->connect ? o->connect : SEINE_SECS(2);
    o->reply = o->reply ? o->reply : SEINE_SECS(1);
    o->retry_max = o->retry_max ? o->retry_max : SEINE_SECS(5);
}

seine_err
sn_redis_new(const sn_redis_opts *opts, seine_time now, sn_redis **out_redis)
{
    sn_redis *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    r->opts = *opts;
    fill_defaults(&r->opts);
    r->at = r->now = now;
    r->pause = sn_time_min(RETRY_FIRST, r->opts.retry_max);
    r->dice = sn_rng_seed(opts->seed);
    r->room = r->opts.max_pending + GREETINGS;
    r->queue = sn_calloc(r->room, sizeof *r->queue);
    sn_buf_init_secret(&r->out, r->opts.max_bytes); /* the password passes through it */
    if (!r->queue) {
        sn_redis_free(r);
        return SEINE_E_NOMEM;
    }
    *out_redis = r;
    return SEINE_OK;
}

static void
call_hook(const sn_redis *r, void (*hook)(void *arg))
{
    if (hook)
        hook(r->opts.hooks.arg);
}

/* Calls back every command that waits; what they ask meanwhile is refused. */
static void
end_pending(sn_redis *r)
{
    while (r->count > 0) {
        pending p = r->queue[r->head];

        r->head = (r->head + 1) % r->room;
        r->count--;
        if (p.fn)
            p.fn(SEINE_E_STORE_UNAVAILABLE, NULL, p.arg);
    }
}

void
sn_redis_free(sn_redis *r)
{
    if (!r)
        return;
    r->state = RESTING;
    end_pending(r);
    sn_redis_reader_free(r->reader);
    sn_buf_fini(&r->out);
    sn_free(r->queue);
    sn_free(r);
}

/* Ends the connection or the attempt, and sets the time of the next one. */
static void
lose(sn_redis *r, const char *why)
{
    bool was_open = r->state != RESTING;

    if (!was_open)
        return;
    if (why != r->why)
        snprintf(r->why, sizeof r->why, "%s", why);
    uint64_t half = (uint64_t)r->pause / 2;
    r->state = RESTING;
    r->connection++;
    r->at = sn_time_add(r->now, r->pause - (seine_span)sn_rng_below(&r->dice, half + 1));
    r->pause = sn_time_min(sn_time_mul(r->pause, 2), r->opts.retry_max);
    sn_redis_reader_free(SN_STEAL(r->reader));
    sn_buf_fini(&r->out);
    sn_buf_init_secret(&r->out, r->opts.max_bytes);
    r->sent = 0;
    call_hook(r, r->opts.hooks.close);
    end_pending(r);
    call_hook(r, r->opts.hooks.down);
}

void
sn_redis_tick(sn_redis *r, seine_time now)
{
    r->now = now;
    if (r->state == RESTING && now >= r->at) {
        r->state = CONNECTING;
        r->at = sn_time_add(now, r->opts.connect);
        call_hook(r, r->opts.hooks.open);
    } else if ((r->state == CONNECTING || r->state == GREETING) && now >= r->at) {
        lose(r, r->state == CONNECTING ? "cannot be reached in time"
                                       : "does not answer the greeting in time");
    } else if (r->state == UP && r->count > 0 && now >= r->queue[r->head].deadline) {
        lose(r, "does not answer in time");
    }
}

seine_time
sn_redis_when(const sn_redis *r)
{
    if (r->state != UP)
        return r->at;
    return r->count > 0 ? r->queue[r->head].deadline : SEINE_NEVER;
}

static seine_err
add_command(sn_redis *r, const sn_str *words, size_t n, sn_redis_fn fn, void *arg)
{
    size_t before = r->out.len;

    sn_redis_write(&r->out, words, n);
    seine_err e = sn_buf_done(&r->out);
    if (e != SEINE_OK) { /* none of it is sent */
        r->out.err = SEINE_OK;
        sn_buf_truncate(&r->out, before);
        return e;
    }
    r->queue[(r->head + r->count++) % r->room] =
        (pending){fn, arg, sn_time_add(r->now, r->opts.reply)};
    if (before == r->sent)
        call_hook(r, r->opts.hooks.more);
    return SEINE_OK;
}

seine_err
sn_redis_ask(sn_redis *r, seine_time now, const sn_str *words, size_t n, sn_redis_fn fn,
             void *arg)
{
    if (r->state != UP)
        return SEINE_E_STORE_UNAVAILABLE;
    if (r->count >= r->opts.max_pending)
        return SEINE_E_FULL;
    r->now = now;
    return add_command(r, words, n, fn, arg);
}

/* Copies a version if it looks like one: digits and dots. */
static bool
copy_version(sn_str from, char out[16])
{
    if (from.len == 0 || from.len >= 16)
        return false;
    for (size_t i = 0; i < from.len; i++)
        if (!sn_is_digit(from.ptr[i]) && from.ptr[i] != '.')
            return false;
    memcpy(out, from.ptr, from.len);
    out[from.len] = '\0';
    return true;
}

/* HELLO answers with names and values in turn. */
static bool
find_version(const sn_redis_reply *hello, char out[16])
{
    for (size_t i = 0; hello->kind == SN_REDIS_ARRAY && i + 1 < hello->count; i += 2)
        if (sn_str_eq(hello->items[i]->text, SN_STR("version")))
            return copy_version(hello->items[i + 1]->text, out);
    return false;
}

static void
on_hello(seine_err e, const sn_redis_reply *reply, void *arg)
{
    sn_redis *r = arg;
    char version[16], why[SN_REDIS_WHY];
    uint64_t major = 0;
    sn_str head, rest;

    if (!reply)
        return;
    if (e != SEINE_OK) {
        bool unknown = sn_str_starts(reply->text, SN_STR("ERR unknown command"));

        (void)!sn_redis_error_read(reply->text, why);
        lose(r, unknown ? "is older than 6: functions need Redis 7.0 or newer" : why);
        return;
    }
    if (!find_version(reply, version)) {
        lose(r, "does not say its version");
        return;
    }
    (void)sn_str_cut(sn_str_of(version), '.', &head, &rest);
    if (sn_str_u64(head, &major) != SEINE_OK || major < SN_REDIS_MAJOR) {
        snprintf(why, sizeof why, "%s is too old: functions need Redis 7.0 or newer",
                 version);
        lose(r, why);
    }
}

static void
on_select(seine_err e, const sn_redis_reply *reply, void *arg)
{
    char why[SN_REDIS_WHY];

    if (!reply || e == SEINE_OK)
        return;
    if (sn_redis_error_read(reply->text, why) == SEINE_E_INVAL)
        snprintf(why, sizeof why, "has no database of this number");
    lose(arg, why);
}

/* Functions that are there already have been loaded by another program of this version.
 * Who may not load functions may still call them. */
static void
on_load(seine_err e, const sn_redis_reply *reply, void *arg)
{
    char why[SN_REDIS_WHY];

    if (!reply || e == SEINE_OK || sn_str_ends(reply->text, SN_STR("already exists")) ||
        sn_str_starts(reply->text, SN_STR("NOPERM")))
        return;
    (void)!sn_redis_error_read(reply->text, why);
    lose(arg, why);
}

static void
on_greeted(seine_err e, const sn_redis_reply *reply, void *arg)
{
    sn_redis *r = arg;
    char why[SN_REDIS_WHY];

    if (!reply)
        return;
    if (e != SEINE_OK) {
        (void)!sn_redis_error_read(reply->text, why);
        lose(r, why);
        return;
    }
    r->state = UP;
    r->pause = sn_time_min(RETRY_FIRST, r->opts.retry_max);
    r->why[0] = '\0';
    call_hook(r, r->opts.hooks.up);
}

static seine_err
add_hello(sn_redis *r)
{
    const sn_redis_url *u = r->opts.url;
    sn_str words[] = {SN_STR("HELLO"), SN_STR("2"), SN_STR("AUTH"), u->user, u->password};

    if (u->user.len == 0)
        words[3] = SN_STR("default");
    return add_command(r, words, u->password.len ? 5 : 2, on_hello, r);
}

static seine_err
add_select(sn_redis *r)
{
    char number[16];
    int n = snprintf(number, sizeof number, "%u", r->opts.url->db);
    sn_str words[] = {SN_STR("SELECT"), {number, (size_t)n}};

    return r->opts.url->db ? add_command(r, words, 2, on_select, r) : SEINE_OK;
}

static seine_err
add_load(sn_redis *r)
{
    sn_str words[] = {SN_STR("FUNCTION"), SN_STR("LOAD"), sn_str_of(r->opts.functions)};

    return r->opts.functions ? add_command(r, words, 3, on_load, r) : SEINE_OK;
}

void
sn_redis_opened(sn_redis *r, seine_time now)
{
    if (r->state != CONNECTING)
        return;
    sn_str ping[] = {SN_STR("PING")};
    seine_err e = sn_redis_reader_new(r->opts.max_bytes, &r->reader);

    r->now = now;
    r->state = GREETING;
    if (e == SEINE_OK)
        e = add_hello(r);
    if (e == SEINE_OK)
        e = add_select(r);
    if (e == SEINE_OK)
        e = add_load(r);
    if (e == SEINE_OK)
        e = add_command(r, ping, 1, on_greeted, r);
    if (e != SEINE_OK)
        lose(r, "cannot be greeted: out of memory");
}

void
sn_redis_lost(sn_redis *r, seine_time now, const char *why)
{
    r->now = now;
    lose(r, why);
}

/* Gives a reply to the command that has waited longest. */
static void
hand_out(sn_redis *r, const sn_redis_reply *reply)
{
    char why[SN_REDIS_WHY];

    if (r->count == 0) {
        lose(r, "sends a reply that nobody asked for");
        return;
    }
    pending p = r->queue[r->head];
    r->head = (r->head + 1) % r->room;
    r->count--;
    p.fn(reply->kind == SN_REDIS_ERROR ? sn_redis_error_read(reply->text, why) : SEINE_OK,
         reply, p.arg);
}

void
sn_redis_received(sn_redis *r, seine_time now, sn_str bytes)
{
    uint64_t connection = r->connection;
    const sn_redis_reply *reply = NULL;

    if (r->state != GREETING && r->state != UP)
        return;
    r->now = now;
    seine_err e = sn_redis_reader_feed(r->reader, bytes);
    while (e == SEINE_OK) {
        e = sn_redis_reader_next(r->reader, &reply);
        if (e != SEINE_OK || !reply)
            break;
        hand_out(r, reply);
        if (r->connection != connection)
            return;
    }
    if (e != SEINE_OK)
        lose(r, e == SEINE_E_TOO_BIG ? "sends a reply that is too long"
                : e == SEINE_E_NOMEM ? "cannot be read: out of memory"
                                     : "does not speak the protocol of Redis");
}

sn_str
sn_redis_output(const sn_redis *r)
{
    return sn_str_slice(sn_buf_view(&r->out), r->sent, SIZE_MAX);
}

void
sn_redis_sent(sn_redis *r, size_t n)
{
    r->sent += n;
    if (r->sent >= r->out.len) {
        sn_buf_reset(&r->out);
        r->sent = 0;
    } else if (r->sent > r->out.len / 2) { /* moves each byte at most once on average */
        sn_buf_drop(&r->out, r->sent);
        r->sent = 0;
    }
}

bool
sn_redis_is_up(const sn_redis *r)
{
    return r->state == UP;
}

const char *
sn_redis_why(const sn_redis *r)
{
    return r->why;
}

uint32_t
sn_redis_pending(const sn_redis *r)
{
    return r->count;
}

seine_time
sn_redis_now(const sn_redis *r)
{
    return r->now;
}
