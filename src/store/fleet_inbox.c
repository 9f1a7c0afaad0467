/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from Redis to a worker: at the beginning of a tenure all that is known of a
 * partition, then blocks of links. The keeper's thread. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "store/fleet_parts.h"
#include "store/job_parts.h"

enum {
    AT_ONCE = 16,      /* blocks of one partition that are asked for together */
    MOST_STREAMS = 512 /* partitions in one question */
};

static seine_err
say_damage(sn_fleet *f, uint32_t part, const char *what, sn_str where)
{
    seine_diag why = SEINE_DIAG;

    sn_diag_text(&why, "job '%s' is damaged in Redis: %s %.*s of partition %u", f->name,
                 what, SN_FMT(where), part);
    return sn_fleet_fail(f, SEINE_E_STATE_CORRUPT, &why);
}

/* One block of links. */

static bool
read_fields(const sn_redis_reply *fields, uint32_t *out_n, sn_str *out_bytes)
{
    uint64_t n = 0;

    for (size_t i = 0; fields->kind == SN_REDIS_ARRAY && i + 1 < fields->count; i += 2) {
        sn_str name = fields->items[i]->text, value = fields->items[i + 1]->text;

        if (sn_str_eq(name, SN_STR("z")))
            *out_bytes = value;
        else if (sn_str_eq(name, SN_STR("n")) && sn_str_u64(value, &n) != SEINE_OK)
            return false;
    }
    *out_n = (uint32_t)n;
    return n > 0 && n <= SN_FLEET_LINKS && out_bytes->len > 0;
}

typedef struct block {
    sn_tenure *t;
    uint32_t entry, n;
    sn_fleet_bits done;
    sn_buf raw;
} block;

/* The links that have not ended go to the engine. */
static seine_err
tell_links(sn_fleet *f, block *b, const sn_fleet_hooks *hooks)
{
    sn_fleet_block_reader r = {.left = sn_buf_view(&b->raw), .n = b->n};
    uint64_t *prints SN_AUTOFREE = sn_calloc(b->n, sizeof *prints);
    bool *known SN_AUTOFREE = sn_calloc(b->n, sizeof *known);
    bool any_known = false;
    sn_fleet_link link;
    seine_err e = prints && known ? SEINE_OK : SEINE_E_NOMEM;

    /* A result may come before the last link is told: prints are there before. So all of
     * them are asked first, and the engine begins with none before it is told again. */
    for (uint32_t i = 0; e == SEINE_OK && sn_fleet_block_next(&r, &link); i++) {
        if (b->done.bytes[i / 8] >> i % 8 & 1)
            continue;
        uint64_t number = SN_FLEET_NUMBER(b->t->index, b->entry, i);

        e = hooks->print(&link, number, &prints[i], &known[i], hooks->arg);
    }
    if (e != SEINE_OK)
        return e;
    pthread_mutex_lock(&f->lock);
    memcpy(b->t->entries[b->entry].prints, prints, b->n * sizeof *prints);
    b->t->waiting += b->t->entries[b->entry].left;
    atomic_fetch_add(&f->n_waiting, b->t->entries[b->entry].left);
    for (uint32_t i = 0; i < b->n; i++) {
        uint64_t print;

        any_known |= known[i];
        if (known[i] &&
            sn_tenure_finish(f, b->t, SN_FLEET_NUMBER(b->t->index, b->entry, i), &print))
            atomic_fetch_add(&f->pending, 1);
    }
    pthread_mutex_unlock(&f->lock);
    if (any_known)
        sn_job_remote_wake(f->job);
    r = (sn_fleet_block_reader){.left = sn_buf_view(&b->raw), .n = b->n};
    for (uint32_t i = 0; e == SEINE_OK && sn_fleet_block_next(&r, &link); i++)
        if (!(b->done.bytes[i / 8] >> i % 8 & 1) && !known[i])
            e = hooks->url(&link, SN_FLEET_NUMBER(b->t->index, b->entry, i), hooks->arg);
    return e;
}

/* Is the block in memory already? After a lost connection all are claimed once more,
 * because one may have been on its way. */
static bool
is_here(sn_fleet *f, const sn_tenure *t, sn_str id)
{
    bool is = false;

    pthread_mutex_lock(&f->lock);
    for (uint32_t i = t->n_entries; i > 0 && !is; i--)
        is = sn_str_eq(sn_str_of(t->entries[i - 1].id), id);
    pthread_mutex_unlock(&f->lock);
    return is;
}

static seine_err
take_entry(sn_fleet *f, sn_tenure *t, sn_str id, const sn_redis_reply *fields,
           const sn_fleet_bits *done, bool is_claim, const sn_fleet_hooks *hooks)
{
    block b = {.t = t, .done = *done};
    sn_str bytes = {0};

    if (fields->kind != SN_REDIS_ARRAY || (is_claim && is_here(f, t, id)))
        return SEINE_OK;
    if (!read_fields(fields, &b.n, &bytes))
        return say_damage(f, t->part, "entry", id);
    sn_buf_init(&b.raw, SN_FLEET_BLOCK_RAW);
    seine_err e = sn_fleet_block_unpack(bytes, b.n, &b.raw);
    if (e == SEINE_OK) {
        pthread_mutex_lock(&f->lock);
        e = sn_tenure_add(t, id, b.n, done, &b.entry);
        pthread_mutex_unlock(&f->lock);
    }
    if (e == SEINE_E_STATE_CORRUPT)
        e = say_damage(f, t->part, "entry", id);
    if (e == SEINE_OK)
        e = tell_links(f, &b, hooks);
    sn_buf_fini(&b.raw);
    return e;
}

/* [[id, [name, value …]], …] */
static seine_err
take_entries(sn_fleet *f, sn_tenure *t, const sn_redis_reply *list,
             const sn_fleet_hooks *hooks, const sn_redis_reply *bits, uint32_t *io_n)
{
    seine_err e = SEINE_OK;

    for (size_t i = 0; list->kind == SN_REDIS_ARRAY && i < list->count && e == SEINE_OK;
         i++) {
        const sn_redis_reply *entry = list->items[i];
        sn_fleet_bits done = {{0}};

        if (entry->kind != SN_REDIS_ARRAY || entry->count < 2)
            continue;
        sn_str id = entry->items[0]->text;
        for (size_t k = 0; bits && k + 1 < bits->count; k += 2)
            if (sn_str_eq(bits->items[k]->text, id) &&
                bits->items[k + 1]->text.len <= sizeof done.bytes)
                memcpy(done.bytes, bits->items[k + 1]->text.ptr,
                       bits->items[k + 1]->text.len);
        e = take_entry(f, t, id, entry->items[1], &done, bits != NULL, hooks);
        ++*io_n;
    }
    return e;
}

/* The beginning of a tenure. */

static seine_err
load_prints(sn_fleet *f, sn_tenure *t, sn_redis_sync *r, const sn_fleet_hooks *hooks)
{
    uint64_t n = 0;
    seine_err e = SEINE_OK;

    pthread_mutex_lock(&f->lock); /* the sink thread may commit rows of its hosts */
    const uint64_t all = t->prints, chunks = (all + SN_FLEET_CHUNK - 1) / SN_FLEET_CHUNK;
    pthread_mutex_unlock(&f->lock);
    for (uint64_t i = 0; i < chunks && e == SEINE_OK; i++) {
        sn_fleet_key key = sn_fleet_key_of_chunk(&f->id, t->part, i);
        sn_str words[] = {SN_STR("GET"), sn_fleet_key_view(&key)};
        uint64_t prints[SN_FLEET_CHUNK];
        const sn_redis_reply *reply;

        e = sn_redis_sync_ask(r, words, 2, &reply);
        if (e != SEINE_OK)
            return e;
        if (reply->kind != SN_REDIS_STRING || reply->text.len > sizeof prints ||
            reply->text.len % 8 != 0)
            return say_damage(f, t->part, "chunk", sn_fleet_key_view(&key));
        memcpy(prints, reply->text.ptr, reply->text.len);
        n += reply->text.len / 8;
        e = hooks->prints(SN_FLEET_NUMBER(t->index, 0, 0), prints, reply->text.len / 8,
                          hooks->arg);
    }
    if (e == SEINE_OK && n > all) /* the lease has ended, and its next owner commits */
        return SEINE_E_STORE_UNAVAILABLE;
    if (e == SEINE_OK && n != all)
        return say_damage(f, t->part, "chunks", SN_STR("f"));
    return e;
}

static seine_err
load_hosts(sn_fleet *f, sn_tenure *t, sn_redis_sync *r, const sn_fleet_hooks *hooks)
{
    sn_fleet_key key = sn_fleet_key_of(&f->id, t->part, "h");
    int64_t ahead = atomic_load(&f->ahead_ms);
    char cursor[32] = "0";
    seine_err e = SEINE_OK;

    do {
        sn_str words[] = {SN_STR("HSCAN"), sn_fleet_key_view(&key), sn_str_of(cursor),
                          SN_STR("COUNT"), SN_STR("1000")};
        const sn_redis_reply *reply;

        e = sn_redis_sync_ask(r, words, 5, &reply);
        if (e != SEINE_OK)
            return e;
        if (reply->kind != SN_REDIS_ARRAY || reply->count != 2)
            return SEINE_E_STORE_UNAVAILABLE;
        const sn_redis_reply *rows = reply->items[1];
        for (size_t i = 0; i + 1 < rows->count && e == SEINE_OK; i += 2) {
            sn_job_host row;

            if (!sn_fleet_row_read(rows->items[i + 1]->text, ahead, &row))
                return say_damage(f, t->part, "host", rows->items[i]->text);
            row.name = rows->items[i]->text;
            e = hooks->host(&row, hooks->arg);
        }
        snprintf(cursor, sizeof cursor, "%.*s", SN_FMT(reply->items[0]->text));
    } while (e == SEINE_OK && strcmp(cursor, "0") != 0);
    return e;
}

/* Blocks that an earlier owner has begun. A reply is valid until the next question, so
 * the bits are copied first. */
typedef struct kept_bits {
    sn_arena memory;
    sn_redis_reply all;
} kept_bits;

static seine_err
load_bits(sn_fleet *f, sn_tenure *t, sn_redis_sync *r, kept_bits *out)
{
    sn_fleet_key key = sn_fleet_key_of(&f->id, t->part, "bits");
    sn_str words[] = {SN_STR("HGETALL"), sn_fleet_key_view(&key)};
    const sn_redis_reply *reply;
    seine_err e = sn_redis_sync_ask(r, words, 2, &reply);

    if (e != SEINE_OK)
        return e;
    if (reply->kind != SN_REDIS_ARRAY)
        return SEINE_E_STORE_UNAVAILABLE;
    out->all = (sn_redis_reply){.kind = SN_REDIS_ARRAY, .count = reply->count};
    out->all.items = SN_ARENA_ARRAY(&out->memory, sn_redis_reply *, reply->count + 1);
    for (size_t i = 0; i < reply->count && out->all.items; i++) {
        sn_redis_reply *one = SN_ARENA_NEW(&out->memory, sn_redis_reply);
        char *text = sn_arena_text(&out->memory, reply->items[i]->text);

        if (!one || !text)
            return SEINE_E_NOMEM;
        *one = (sn_redis_reply){.kind = SN_REDIS_STRING,
                                .text = {text, reply->items[i]->text.len}};
        out->all.items[i] = one;
    }
    return out->all.items ? SEINE_OK : SEINE_E_NOMEM;
}

seine_err
sn_fleet_claim(sn_fleet *f, sn_tenure *t, const sn_fleet_hooks *hooks)
{
    sn_redis_sync *r = sn_fleet_server_of(f, t->part)->keeper;
    sn_fleet_key in = sn_fleet_key_of(&f->id, t->part, "in");
    char from[SN_FLEET_ENTRY_ID] = "0-0";
    kept_bits bits;
    uint32_t n = 0;

    sn_arena_init(&bits.memory, 4096, SIZE_MAX);
    seine_err e = load_bits(f, t, r, &bits);
    while (e == SEINE_OK) {
        sn_str words[] = {SN_STR("XAUTOCLAIM"), sn_fleet_key_view(&in),
                          SN_STR("g"),          sn_str_of(f->incarnation),
                          SN_STR("0"),          sn_str_of(from),
                          SN_STR("COUNT"),      SN_STR("64")};
        const sn_redis_reply *reply;

        e = sn_redis_sync_ask(r, words, 8, &reply);
        if (e == SEINE_OK && (reply->kind != SN_REDIS_ARRAY || reply->count < 2))
            e = SEINE_E_STORE_UNAVAILABLE;
        if (e != SEINE_OK)
            break;
        snprintf(from, sizeof from, "%.*s", SN_FMT(reply->items[0]->text));
        e = take_entries(f, t, reply->items[1], hooks, &bits.all, &n);
        if (strcmp(from, "0-0") == 0)
            break;
    }
    sn_arena_fini(&bits.memory);
    return e;
}

seine_err
sn_fleet_load(sn_fleet *f, sn_tenure *t, const sn_fleet_hooks *hooks)
{
    sn_redis_sync *r = sn_fleet_server_of(f, t->part)->keeper;
    seine_err e = hooks->acquired(t->part, f->was_held[t->part], hooks->arg);

    if (e == SEINE_OK)
        e = load_prints(f, t, r, hooks);
    if (e == SEINE_OK)
        e = load_hosts(f, t, r, hooks);
    if (e == SEINE_OK)
        e = sn_fleet_load_patterns(f, t, hooks);
    return e == SEINE_OK ? sn_fleet_claim(f, t, hooks) : e;
}

/* New blocks. */

typedef struct question {
    sn_tenure *of[MOST_STREAMS];
    sn_fleet_key keys[MOST_STREAMS];
    uint32_t n;
} question;

/* The partitions of a server that have room for more. */
static void
choose(sn_fleet *f, uint32_t server, question *q)
{
    q->n = 0;
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->held && q->n < MOST_STREAMS; i++) {
        sn_tenure *t = f->all[(f->read_from + i) % f->held];

        if (t->part % f->n_servers == server &&
            atomic_load(&f->states[t->index]) == SN_TENURE_HELD &&
            t->waiting < SN_FLEET_LOW) {
            q->of[q->n] = t;
            q->keys[q->n++] = sn_fleet_key_of(&f->id, t->part, "in");
        }
    }
    if (q->n == MOST_STREAMS) /* the others are asked next time */
        f->read_from = (f->read_from + MOST_STREAMS) % f->held;
    pthread_mutex_unlock(&f->lock);
}

static seine_err
ask(sn_fleet *f, sn_redis_sync *r, const question *q, seine_span patience,
    const sn_redis_reply **out_reply)
{
    sn_str *words SN_AUTOFREE = sn_calloc(2 * (size_t)q->n + 9, sizeof *words);
    char count[12], wait[12];
    size_t n = 0;
    int count_len = snprintf(count, sizeof count, "%d", AT_ONCE);
    int wait_len = snprintf(wait, sizeof wait, "%d", (int)(patience / SEINE_MS(1)));

    if (!words)
        return SEINE_E_NOMEM;
    words[n++] = SN_STR("XREADGROUP");
    words[n++] = SN_STR("GROUP");
    words[n++] = SN_STR("g");
    words[n++] = sn_str_of(f->incarnation);
    words[n++] = SN_STR("COUNT");
    words[n++] = (sn_str){count, (size_t)count_len};
    if (patience >= SEINE_MS(1)) {
        words[n++] = SN_STR("BLOCK");
        words[n++] = (sn_str){wait, (size_t)wait_len};
    }
    words[n++] = SN_STR("STREAMS");
    for (uint32_t i = 0; i < q->n; i++) {
        words[n + i] = sn_fleet_key_view(&q->keys[i]);
        words[n + q->n + i] = SN_STR(">");
    }
    return sn_redis_sync_ask(r, words, n + 2 * (size_t)q->n, out_reply);
}

static sn_tenure *
tenure_of(const question *q, sn_str key)
{
    for (uint32_t i = 0; i < q->n; i++)
        if (sn_str_eq(sn_fleet_key_view(&q->keys[i]), key))
            return q->of[i];
    return NULL;
}

/* Blocks of partitions whose lease is lost meanwhile stay with the inbox. */
static seine_err
read_server(sn_fleet *f, uint32_t server, const sn_fleet_hooks *hooks, question *q,
            seine_span patience, bool *io_waited)
{
    sn_redis_sync *r = f->servers[server].keeper;
    const sn_redis_reply *reply;
    uint32_t n = 0;

    choose(f, server, q);
    if (q->n == 0 || !sn_redis_sync_is_open(r))
        return SEINE_OK;
    seine_err e = ask(f, r, q, patience, &reply);
    if (e != SEINE_OK)
        return e;
    *io_waited |= patience > 0 || reply->kind == SN_REDIS_ARRAY;
    if (reply->kind == SN_REDIS_ERROR) { /* NOGROUP: the job was removed; LOADING */
        sn_redis_sync_close(r);
        return SEINE_E_STORE_UNAVAILABLE;
    }
    for (size_t i = 0; reply->kind == SN_REDIS_ARRAY && i < reply->count && e == SEINE_OK;
         i++) {
        const sn_redis_reply *stream = reply->items[i];
        sn_tenure *t = stream->kind == SN_REDIS_ARRAY && stream->count == 2
                           ? tenure_of(q, stream->items[0]->text)
                           : NULL;

        if (t)
            e = take_entries(f, t, stream->items[1], hooks, NULL, &n);
    }
    return e;
}

seine_err
sn_fleet_read_inboxes(sn_fleet *f, const sn_fleet_hooks *hooks, seine_span patience,
                      bool *out_waited)
{
    question *q SN_AUTOFREE = sn_alloc(sizeof *q);
    seine_err e = q ? SEINE_OK : SEINE_E_NOMEM;

    *out_waited = false;
    for (uint32_t s = 0; s < f->n_servers && e == SEINE_OK; s++)
        e = read_server(f, s, hooks, q, f->n_servers == 1 ? patience : 0, out_waited);
    return e;
}
