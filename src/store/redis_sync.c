/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_sync.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "store/redis.h"
#include "store/redis_socket.h"

#define PIECE 65536

struct sn_redis_sync {
    sn_redis_sync_opts opts;
    sn_redis_socket socket;
    sn_redis_wire wire;
    sn_redis_reader *reader; /* NULL: no connection */
    sn_buf out;              /* not sent yet */
    uint32_t pending;
    char why[SN_REDIS_WHY];
    char run_id[48];
    char piece[PIECE];
};

seine_err
sn_redis_sync_new(const sn_redis_sync_opts *opts, sn_redis_sync **out_redis)
{
    sn_redis_sync *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    r->opts = *opts;
    if (!r->opts.clock)
        r->opts.clock = seine_clock_system();
    if (r->opts.max_bytes == 0)
        r->opts.max_bytes = 64 << 20;
    if (r->opts.connect == 0)
        r->opts.connect = SEINE_SECS(2);
    if (r->opts.reply == 0)
        r->opts.reply = SEINE_SECS(5);
    sn_redis_socket_init(&r->socket, r->opts.url, r->opts.clock);
    r->wire = opts->wire ? *opts->wire : sn_redis_socket_wire(&r->socket);
    sn_buf_init_secret(&r->out, r->opts.max_bytes); /* the password passes through it */
    *out_redis = r;
    return SEINE_OK;
}

void
sn_redis_sync_close(sn_redis_sync *r)
{
    if (r->reader)
        r->wire.close(r->wire.self);
    sn_redis_reader_free(SN_STEAL(r->reader));
    sn_buf_reset(&r->out);
    r->pending = 0;
}

void
sn_redis_sync_free(sn_redis_sync *r)
{
    if (!r)
        return;
    sn_redis_sync_close(r);
    sn_buf_fini(&r->out);
    sn_free(r);
}

bool
sn_redis_sync_is_open(const sn_redis_sync *r)
{
    return r->reader != NULL;
}

const char *
sn_redis_sync_why(const sn_redis_sync *r)
{
    return r->why;
}

sn_str
sn_redis_sync_run_id(const sn_redis_sync *r)
{
    return sn_str_of(r->run_id);
}

uint32_t
sn_redis_sync_pending(const sn_redis_sync *r)
{
    return r->pending;
}

static seine_err
lose(sn_redis_sync *r, seine_err e, const char *why)
{
    snprintf(r->why, sizeof r->why, "%s", why);
    sn_redis_sync_close(r);
    return e == SEINE_E_NOMEM ? e : SEINE_E_STORE_UNAVAILABLE;
}

void
sn_redis_sync_add(sn_redis_sync *r, const sn_str *words, size_t n)
{
    sn_redis_write(&r->out, words, n);
    r->pending++;
}

static seine_err
flush(sn_redis_sync *r, seine_time until)
{
    seine_err e = sn_buf_done(&r->out);

    if (e != SEINE_OK)
        return lose(r, e, "would get more at once than is sent");
    if (r->out.len == 0)
        return SEINE_OK;
    e = r->wire.send(r->wire.self, sn_buf_view(&r->out), until);
    if (e != SEINE_OK)
        return lose(r, e,
                    e == SEINE_E_TIMEOUT ? "does not take commands in time"
                                         : "ended the connection");
    sn_buf_reset(&r->out);
    return SEINE_OK;
}

seine_err
sn_redis_sync_next(sn_redis_sync *r, const sn_redis_reply **out_reply)
{
    seine_clock *clock = r->opts.clock;
    seine_time until = sn_time_add(clock->now(clock), r->opts.reply);
    size_t n = 0;

    if (!r->reader || r->pending == 0)
        return SEINE_E_STORE_UNAVAILABLE;
    seine_err e = flush(r, until);
    while (e == SEINE_OK) {
        e = sn_redis_reader_next(r->reader, out_reply);
        if (e != SEINE_OK)
            return lose(r, e, "sends what is no reply, or too long a one");
        if (*out_reply) {
            r->pending--;
            return SEINE_OK;
        }
        /* A server that never pauses does not make a reply later than it may be. */
        e = clock->now(clock) < until
                ? r->wire.receive(r->wire.self, r->piece, sizeof r->piece, until, &n)
                : SEINE_E_TIMEOUT;
        if (e != SEINE_OK)
            return lose(r, e,
                        e == SEINE_E_TIMEOUT ? "does not answer in time"
                                             : "ended the connection");
        e = sn_redis_reader_feed(r->reader, (sn_str){r->piece, n});
        if (e != SEINE_OK)
            return lose(r, e, "sends a reply that is too long");
    }
    return e;
}

seine_err
sn_redis_sync_ask(sn_redis_sync *r, const sn_str *words, size_t n,
                  const sn_redis_reply **out_reply)
{
    sn_redis_sync_add(r, words, n);
    return sn_redis_sync_next(r, out_reply);
}

/* The greeting. */

/* The server says no. CONFIG: it will not change its mind. */
static seine_err
refuse(sn_redis_sync *r, sn_str error)
{
    static const char *const temporary[] = {"LOADING", "MASTERDOWN", "BUSY", "MISCONF",
                                            "OOM"};
    seine_err e = SEINE_E_CONFIG;
    char why[SN_REDIS_WHY];

    (void)!sn_redis_error_read(error, why);
    for (size_t i = 0; i < sizeof temporary / sizeof *temporary; i++)
        if (sn_str_starts(error, sn_str_of(temporary[i])))
            e = SEINE_E_STORE_UNAVAILABLE;
    (void)!lose(r, e, why);
    return e;
}

/* HELLO answers with names and values in turn. */
static sn_str
value_of(const sn_redis_reply *hello, sn_str name)
{
    for (size_t i = 0; hello->kind == SN_REDIS_ARRAY && i + 1 < hello->count; i += 2)
        if (sn_str_eq(hello->items[i]->text, name))
            return hello->items[i + 1]->text;
    return (sn_str){0};
}

static seine_err
read_hello(sn_redis_sync *r, const sn_redis_reply *reply)
{
    char why[SN_REDIS_WHY];
    uint64_t major = 0;
    sn_str head, rest;

    if (reply->kind == SN_REDIS_ERROR &&
        sn_str_starts(reply->text, SN_STR("ERR unknown command"))) {
        (void)!lose(r, SEINE_E_CONFIG,
                    "is older than 6: functions need Redis 7.0 or newer");
        return SEINE_E_CONFIG;
    }
    if (reply->kind == SN_REDIS_ERROR)
        return refuse(r, reply->text);
    sn_str version = value_of(reply, SN_STR("version"));
    (void)sn_str_cut(version, '.', &head, &rest);
    if (sn_str_u64(head, &major) == SEINE_OK && major >= SN_REDIS_MAJOR)
        return SEINE_OK;
    bool is_shown = version.len > 0 && version.len < 16 && major > 0;
    snprintf(why, sizeof why, "%.*s%sis too old: functions need Redis 7.0 or newer",
             is_shown ? (int)version.len : 0, version.ptr ? version.ptr : "",
             is_shown ? " " : "");
    (void)!lose(r, SEINE_E_CONFIG, why);
    return SEINE_E_CONFIG;
}

static void
read_run_id(sn_redis_sync *r, const sn_redis_reply *reply)
{
    static const char name[] = "run_id:";
    const char *at = reply->kind == SN_REDIS_STRING
                         ? memmem(reply->text.ptr, reply->text.len, name, sizeof name - 1)
                         : NULL;
    size_t n = 0;

    r->run_id[0] = '\0';
    if (!at)
        return;
    at += sizeof name - 1;
    while (at + n < reply->text.ptr + reply->text.len && n + 1 < sizeof r->run_id &&
           at[n] > ' ')
        n++;
    memcpy(r->run_id, at, n);
    r->run_id[n] = '\0';
}

static void
add_greeting(sn_redis_sync *r)
{
    const sn_redis_url *u = r->opts.url;
    char number[16];
    int n = snprintf(number, sizeof number, "%u", u->db);
    sn_str hello[] = {SN_STR("HELLO"), SN_STR("2"), SN_STR("AUTH"),
                      u->user.len > 0 ? u->user : SN_STR("default"), u->password};
    sn_str select[] = {SN_STR("SELECT"), {number, (size_t)n}};
    sn_str info[] = {SN_STR("INFO"), SN_STR("server")};
    sn_str load[] = {SN_STR("FUNCTION"), SN_STR("LOAD"),
                     sn_str_of(r->opts.functions ? r->opts.functions : "")};

    sn_redis_sync_add(r, hello, u->password.len ? 5 : 2);
    sn_redis_sync_add(r, select, 2);
    sn_redis_sync_add(r, info, 2);
    if (r->opts.functions)
        sn_redis_sync_add(r, load, 3);
}

/* Functions that are there already have been loaded by another program of this version.
 * Who may not load functions may still call them, and so may everybody when the server is
 * out of memory. */
static bool
is_loaded(const sn_redis_reply *reply)
{
    return reply->kind != SN_REDIS_ERROR ||
           sn_str_ends(reply->text, SN_STR("already exists")) ||
           sn_str_starts(reply->text, SN_STR("NOPERM")) ||
           sn_str_starts(reply->text, SN_STR("OOM"));
}

static seine_err
greet(sn_redis_sync *r)
{
    const sn_redis_reply *reply;

    add_greeting(r);
    seine_err e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK)
        e = read_hello(r, reply);
    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK && reply->kind == SN_REDIS_ERROR) {
        if (!sn_str_starts(reply->text, SN_STR("ERR")))
            return refuse(r, reply->text);
        (void)!lose(r, SEINE_E_CONFIG, "has no database of this number");
        return SEINE_E_CONFIG;
    }
    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e != SEINE_OK)
        return e;
    read_run_id(r, reply);
    if (r->opts.functions) {
        e = sn_redis_sync_next(r, &reply);
        if (e == SEINE_OK && !is_loaded(reply))
            return refuse(r, reply->text);
    }
    return e;
}

seine_err
sn_redis_sync_open(sn_redis_sync *r)
{
    seine_clock *clock = r->opts.clock;

    sn_redis_sync_close(r);
    seine_err e =
        r->wire.open(r->wire.self, sn_time_add(clock->now(clock), r->opts.connect));
    if (e != SEINE_OK)
        return lose(r, e,
                    e == SEINE_E_TIMEOUT ? "cannot be reached in time"
                                         : "refuses the connection");
    e = sn_redis_reader_new(r->opts.max_bytes, &r->reader);
    if (e != SEINE_OK) {
        r->wire.close(r->wire.self);
        return e;
    }
    return greet(r);
}
