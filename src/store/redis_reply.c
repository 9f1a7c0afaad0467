/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_reply.h"

#include <hiredis/read.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"

#define ARENA_CHUNK 4096

struct sn_redis_reader {
    redisReader *in;
    redisReplyObjectFunctions make;
    sn_arena arena; /* of the reply at hand */
    size_t max_bytes, items;
    bool is_given, too_big;
};

/* A value at its place in the reply. NULL, which hiredis takes for no memory: there is
 * none, or the reply has too many values. */
static sn_redis_reply *
put(const redisReadTask *task, size_t more)
{
    sn_redis_reader *r = task->privdata;
    sn_redis_reply *value = NULL;

    if (more < SN_REDIS_ITEMS && r->items + more < SN_REDIS_ITEMS) {
        r->items += more + 1;
        value = SN_ARENA_NEW(&r->arena, sn_redis_reply);
    } else {
        r->too_big = true;
    }
    if (value && task->parent) {
        sn_redis_reply *list = task->parent->obj;

        list->items[task->idx] = value;
    }
    return value;
}

static void *
make_string(const redisReadTask *task, char *text, size_t n)
{
    sn_redis_reader *r = task->privdata;
    sn_redis_reply *value = put(task, 0);

    if (!value)
        return NULL;
    value->kind = task->type == REDIS_REPLY_ERROR    ? SN_REDIS_ERROR
                  : task->type == REDIS_REPLY_STATUS ? SN_REDIS_STATUS
                                                     : SN_REDIS_STRING;
    value->text = (sn_str){sn_arena_text(&r->arena, (sn_str){text, n}), n};
    return value->text.ptr ? value : NULL;
}

static void *
make_array(const redisReadTask *task, int n)
{
    sn_redis_reader *r = task->privdata;
    sn_redis_reply *value = n < 0 ? NULL : put(task, (size_t)n);

    if (!value)
        return NULL;
    value->kind = SN_REDIS_ARRAY;
    if (n > 0) {
        value->items = SN_ARENA_ARRAY(&r->arena, sn_redis_reply *, (size_t)n);
        if (!value->items)
            return NULL;
        r->items -= (size_t)n; /* each is counted when it comes */
    }
    value->count = (size_t)n;
    return value;
}

static void *
make_integer(const redisReadTask *task, long long n)
{
    sn_redis_reply *value = put(task, 0);

    if (value) {
        value->kind = SN_REDIS_INTEGER;
        value->integer = n;
    }
    return value;
}

static void *
make_nil(const redisReadTask *task)
{
    return put(task, 0); /* zeroed: NIL */
}

static void
drop(void *value)
{
    (void)value; /* the arena's */
}

seine_err
sn_redis_reader_new(size_t max_bytes, sn_redis_reader **out_reader)
{
    sn_redis_reader *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    r->make = (redisReplyObjectFunctions){make_string, make_array, make_integer, make_nil,
                                          drop};
    r->max_bytes = max_bytes;
    /* Sixteen bytes of an array's slot and value for four on the wire, and their texts.
     */
    sn_arena_init(&r->arena, ARENA_CHUNK,
                  2 * max_bytes + SN_REDIS_ITEMS * 2 * sizeof(sn_redis_reply));
    r->in = redisReaderCreateWithFunctions(&r->make);
    if (!r->in) {
        sn_redis_reader_free(r);
        return SEINE_E_NOMEM;
    }
    r->in->privdata = r;
    *out_reader = r;
    return SEINE_OK;
}

void
sn_redis_reader_free(sn_redis_reader *r)
{
    if (!r)
        return;
    if (r->in)
        redisReaderFree(r->in);
    sn_arena_fini(&r->arena);
    sn_free(r);
}

seine_err
sn_redis_reader_feed(sn_redis_reader *r, sn_str bytes)
{
    size_t waiting = r->in->len - r->in->pos;

    if (bytes.len > r->max_bytes || waiting > r->max_bytes - bytes.len)
        return SEINE_E_TOO_BIG;
    return redisReaderFeed(r->in, bytes.ptr, bytes.len) == REDIS_OK ? SEINE_OK
                                                                    : SEINE_E_NOMEM;
}

seine_err
sn_redis_reader_next(sn_redis_reader *r, const sn_redis_reply **out_reply)
{
    void *reply = NULL;

    if (r->is_given) {
        sn_arena_reset(&r->arena);
        r->items = 0;
        r->is_given = false;
    }
    if (redisReaderGetReply(r->in, &reply) != REDIS_OK) {
        if (r->too_big)
            return SEINE_E_TOO_BIG;
        return r->in->err == REDIS_ERR_OOM ? SEINE_E_NOMEM : SEINE_E_PARSE;
    }
    r->is_given = reply != NULL;
    *out_reply = reply;
    return SEINE_OK;
}

void
sn_redis_write(sn_buf *out, const sn_str *words, size_t n)
{
    sn_buf_char(out, '*');
    sn_buf_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        sn_buf_str(out, SN_STR("\r\n$"));
        sn_buf_u64(out, words[i].len);
        sn_buf_str(out, SN_STR("\r\n"));
        sn_buf_str(out, words[i]);
    }
    sn_buf_str(out, SN_STR("\r\n"));
}

bool
sn_redis_reply_int(const sn_redis_reply *r, size_t n, int64_t *out_value)
{
    if (r->kind != SN_REDIS_ARRAY || n >= r->count)
        return false;
    const sn_redis_reply *item = r->items[n];
    if (item->kind == SN_REDIS_STRING)
        return sn_str_i64(item->text, out_value) == SEINE_OK;
    if (item->kind == SN_REDIS_INTEGER)
        *out_value = item->integer;
    return item->kind == SN_REDIS_INTEGER;
}
