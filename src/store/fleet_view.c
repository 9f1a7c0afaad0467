/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/fleet_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "store/fleet_worker.h"

enum { AT_ONCE = 1024 }; /* commands in one pipeline */

struct seine_fleet_view {
    sn_redis_url urls[SN_FLEET_SERVERS];
    sn_redis_sync *r[SN_FLEET_SERVERS];
    uint32_t n;
    sn_fleet_id id;
    char name[132];
    char *verb, *command, *said, *spec;
    uint32_t parts;
};

static seine_err
say(const seine_fleet_view *v, uint32_t server, seine_err e, seine_diag *diag)
{
    char shown[SN_REDIS_SHOWN];

    sn_redis_url_shown(&v->urls[server], shown);
    if (e == SEINE_E_STORE_UNAVAILABLE || e == SEINE_E_CONFIG)
        sn_diag_text(diag, "Redis at %s %s", shown, sn_redis_sync_why(v->r[server]));
    return e;
}

seine_err
seine_fleet_view_open(const char *const *stores, size_t n, seine_fleet_view **out_view,
                      seine_diag *diag)
{
    sn_diag_clear(diag);
    if (!stores || n == 0 || n > SN_FLEET_SERVERS || !out_view)
        return SEINE_E_INVAL;
    seine_fleet_view *v = sn_zalloc(sizeof *v);
    seine_err e = v ? SEINE_OK : SEINE_E_NOMEM;
    for (size_t i = 0; i < n && e == SEINE_OK; i++) {
        sn_redis_sync_opts o = {.url = &v->urls[i], .functions = sn_fleet_functions()};

        e = sn_redis_url_parse(sn_str_of(stores[i]), &v->urls[i], diag);
        if (e == SEINE_OK)
            e = sn_redis_sync_new(&o, &v->r[i]);
        v->n++;
        if (e == SEINE_OK && (e = sn_redis_sync_open(v->r[i])) != SEINE_OK)
            e = say(v, (uint32_t)i, e, diag);
    }
    if (e != SEINE_OK) {
        seine_fleet_view_free(v);
        return e;
    }
    *out_view = v;
    return SEINE_OK;
}

void
seine_fleet_view_free(seine_fleet_view *v)
{
    if (!v)
        return;
    for (uint32_t i = 0; i < v->n; i++) {
        sn_redis_sync_free(v->r[i]);
        sn_redis_url_fini(&v->urls[i]);
    }
    sn_free(v->verb);
    sn_free(v->command);
    sn_free(v->said);
    sn_free(v->spec);
    sn_free(v);
}

/* A command of up to four words. */
static seine_err
ask(seine_fleet_view *v, uint32_t server, const sn_str *words, size_t n,
    const sn_redis_reply **out_reply, seine_diag *diag)
{
    seine_err e = sn_redis_sync_ask(v->r[server], words, n, out_reply);

    if (e != SEINE_OK)
        return say(v, server, e, diag);
    if ((*out_reply)->kind != SN_REDIS_ERROR)
        return SEINE_OK;
    char why[SN_REDIS_WHY];
    (void)!sn_redis_error_read((*out_reply)->text, why);
    sn_diag_text(diag, "Redis %s", why);
    return SEINE_E_STORE_UNAVAILABLE;
}

seine_err
seine_fleet_view_names(seine_fleet_view *v, void (*fn)(seine_view name, void *arg),
                       void *arg, seine_diag *diag)
{
    sn_str words[] = {SN_STR("HKEYS"), SN_STR("sn:jobs")};
    const sn_redis_reply *reply;

    if (!v || !fn)
        return SEINE_E_INVAL;
    seine_err e = ask(v, 0, words, 2, &reply, diag);
    for (size_t i = 0; e == SEINE_OK && i < reply->count; i++)
        fn(reply->items[i]->text, arg);
    return e;
}

static char *
copy(sn_str s)
{
    char *to = sn_zalloc(s.len + 1);

    if (to && s.len > 0)
        memcpy(to, s.ptr, s.len);
    return to;
}

static seine_err
find(seine_fleet_view *v, const char *name, seine_diag *diag)
{
    sn_str words[] = {SN_STR("HGET"), SN_STR("sn:jobs"), sn_str_of(name)};
    const sn_redis_reply *reply;
    seine_err e = ask(v, 0, words, 3, &reply, diag);

    if (e != SEINE_OK)
        return e;
    if (reply->kind != SN_REDIS_STRING || reply->text.len != 8) {
        sn_diag_text(diag, "there is no job '%.60s' in Redis", name);
        return SEINE_E_CONFIG;
    }
    snprintf(v->id.text, sizeof v->id.text, "%.*s", SN_FMT(reply->text));
    snprintf(v->name, sizeof v->name, "%s", name);
    sn_fleet_key cfg = sn_fleet_key_of_job(&v->id, "cfg");
    sn_str get[] = {SN_STR("HGET"), sn_fleet_key_view(&cfg), SN_STR("parts")};
    uint64_t parts = 0;
    e = ask(v, 0, get, 3, &reply, diag);
    if (e != SEINE_OK)
        return e;
    if (sn_str_u64(reply->text, &parts) != SEINE_OK || parts == 0 ||
        parts > SN_FLEET_PARTS) {
        sn_diag_text(diag, "job '%.60s' in Redis is damaged", name);
        return SEINE_E_CONFIG;
    }
    v->parts = (uint32_t)parts;
    return SEINE_OK;
}

/* For each partition: its lease, how many blocks wait, what has ended. */

typedef struct row {
    sn_str lease;
    uint64_t blocks, epoch, prints, emitted, refused, ok, failed;
} row;

static uint64_t
number_of(const sn_redis_reply *list, size_t i)
{
    uint64_t n = 0;

    if (list->kind == SN_REDIS_ARRAY && i < list->count)
        (void)!sn_str_u64(list->items[i]->text, &n);
    return n;
}

static void
add_row(seine_fleet_view *v, uint32_t part)
{
    sn_redis_sync *r = v->r[part % v->n];
    sn_fleet_key lease = sn_fleet_key_of(&v->id, part, "lease");
    sn_fleet_key in = sn_fleet_key_of(&v->id, part, "in");
    sn_fleet_key m = sn_fleet_key_of(&v->id, part, "m");
    sn_str get[] = {SN_STR("GET"), sn_fleet_key_view(&lease)};
    sn_str len[] = {SN_STR("XLEN"), sn_fleet_key_view(&in)};
    sn_str all[] = {SN_STR("HMGET"), sn_fleet_key_view(&m), SN_STR("epoch"),
                    SN_STR("fps"),   SN_STR("emitted"),     SN_STR("refused"),
                    SN_STR("ok"),    SN_STR("failed")};

    sn_redis_sync_add(r, len, 2);
    sn_redis_sync_add(r, all, 8);
    sn_redis_sync_add(r, get, 2);
}

/* The lease is that of the last reply, and valid until the next. */
static seine_err
read_row(seine_fleet_view *v, uint32_t part, row *out)
{
    sn_redis_sync *r = v->r[part % v->n];
    const sn_redis_reply *reply;
    seine_err e = sn_redis_sync_next(r, &reply);

    *out = (row){.blocks = 0};
    if (e == SEINE_OK && reply->kind == SN_REDIS_INTEGER)
        out->blocks = (uint64_t)reply->integer;
    if (e == SEINE_OK)
        e = sn_redis_sync_next(r, &reply);
    if (e != SEINE_OK)
        return e;
    out->epoch = number_of(reply, 0);
    out->prints = number_of(reply, 1);
    out->emitted = number_of(reply, 2);
    out->refused = number_of(reply, 3);
    out->ok = number_of(reply, 4);
    out->failed = number_of(reply, 5);
    e = sn_redis_sync_next(r, &reply);
    if (e == SEINE_OK)
        out->lease = reply->text;
    return e;
}

static seine_err
each_row(seine_fleet_view *v, void (*fn)(uint32_t part, const row *r, void *arg),
         void *arg, seine_diag *diag)
{
    seine_err e = SEINE_OK;
    row r;

    for (uint32_t from = 0; from < v->parts && e == SEINE_OK; from += AT_ONCE) {
        uint32_t to = v->parts - from < AT_ONCE ? v->parts : from + AT_ONCE;

        for (uint32_t p = from; p < to; p++)
            add_row(v, p);
        for (uint32_t p = from; p < to && e == SEINE_OK; p++) {
            e = read_row(v, p, &r);
            if (e != SEINE_OK)
                return say(v, p % v->n, e, diag);
            fn(p, &r, arg);
        }
    }
    return e;
}

static void
sum_row(uint32_t part, const row *r, void *arg)
{
    seine_fleet_about *a = arg;

    (void)part;
    a->held += r->lease.len > 0;
    a->blocks += r->blocks;
    a->ended += r->prints;
    a->emitted += r->emitted;
    a->refused += r->refused;
    a->ok += r->ok;
    a->failed += r->failed;
}

static seine_err
sum_memory(seine_fleet_view *v, seine_fleet_about *a, seine_diag *diag)
{
    static const char name[] = "used_memory:";
    sn_str words[] = {SN_STR("INFO"), SN_STR("memory")};
    const sn_redis_reply *reply;
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < v->n && e == SEINE_OK; i++) {
        e = ask(v, i, words, 2, &reply, diag);
        const char *at =
            e == SEINE_OK && reply->text.len > 0
                ? memmem(reply->text.ptr, reply->text.len, name, sizeof name - 1)
                : NULL;
        uint64_t bytes = 0;
        for (at = at ? at + sizeof name - 1 : NULL; at && *at >= '0' && *at <= '9'; at++)
            bytes = bytes * 10 + (uint64_t)(*at - '0');
        a->memory += bytes;
    }
    return e;
}

static const char *
state_of(sn_str state, sn_str done)
{
    if (sn_str_eq(done, SN_STR("1")))
        return "finished";
    if (sn_str_eq(state, SN_STR("paused")))
        return "paused";
    return sn_str_eq(state, SN_STR("stopped")) ? "stopped" : "running";
}

static void
count_worker(const seine_fleet_worker *w, void *arg)
{
    *(uint32_t *)arg += w->silent_ms < w->lease_ms;
}

seine_err
seine_fleet_view_job(seine_fleet_view *v, const char *name, seine_fleet_about *out_about,
                     seine_diag *diag)
{
    const sn_redis_reply *reply;

    if (!v || !name || !out_about)
        return SEINE_E_INVAL;
    seine_err e = find(v, name, diag);
    if (e != SEINE_OK)
        return e;
    sn_fleet_key cfg = sn_fleet_key_of_job(&v->id, "cfg");
    sn_str get[] = {SN_STR("HMGET"),   sn_fleet_key_view(&cfg), SN_STR("verb"),
                    SN_STR("command"), SN_STR("state"),         SN_STR("done"),
                    SN_STR("seeded"),  SN_STR("created"),       SN_STR("servers"),
                    SN_STR("said")};
    e = ask(v, 0, get, 10, &reply, diag);
    if (e != SEINE_OK)
        return e;
    if (reply->kind != SN_REDIS_ARRAY || reply->count != 8)
        return SEINE_E_STATE_CORRUPT;
    sn_free(v->verb);
    sn_free(v->command);
    sn_free(v->said);
    v->said = copy(reply->items[7]->kind == SN_REDIS_STRING ? reply->items[7]->text
                                                            : SN_STR("{}"));
    v->verb = copy(reply->items[0]->text);
    v->command = copy(reply->items[1]->text);
    if (!v->verb || !v->command || !v->said)
        return SEINE_E_NOMEM;
    seine_fleet_about a = {.name = v->name,
                           .verb = v->verb,
                           .command = v->command,
                           .said = v->said,
                           .state =
                               state_of(reply->items[2]->text, reply->items[3]->text),
                           .is_seeded = sn_str_eq(reply->items[4]->text, SN_STR("1")),
                           .created = (int64_t)number_of(reply, 5),
                           .servers = (uint32_t)number_of(reply, 6),
                           .partitions = v->parts};
    if (a.servers != v->n) {
        sn_diag_text(diag, "job '%.60s' is in %u servers: name all of them, in order",
                     name, a.servers);
        return SEINE_E_CONFIG;
    }
    e = seine_fleet_view_workers(v, name, count_worker, &a.workers, diag);
    if (e == SEINE_OK)
        e = each_row(v, sum_row, &a, diag);
    if (e == SEINE_OK)
        e = sum_memory(v, &a, diag);
    if (e == SEINE_OK)
        *out_about = a;
    return e;
}

seine_err
seine_fleet_view_spec(seine_fleet_view *v, const char *name, const char **out_spec,
                      seine_diag *diag)
{
    const sn_redis_reply *reply;

    if (!v || !name || !out_spec)
        return SEINE_E_INVAL;
    seine_err e = find(v, name, diag);
    if (e != SEINE_OK)
        return e;
    sn_fleet_key cfg = sn_fleet_key_of_job(&v->id, "cfg");
    sn_str words[] = {SN_STR("HGET"), sn_fleet_key_view(&cfg), SN_STR("spec")};
    e = ask(v, 0, words, 3, &reply, diag);
    if (e != SEINE_OK)
        return e;
    sn_free(v->spec);
    v->spec = copy(reply->kind == SN_REDIS_STRING ? reply->text : SN_STR("{}"));
    if (!v->spec)
        return SEINE_E_NOMEM;
    *out_spec = v->spec;
    return SEINE_OK;
}

seine_err
seine_fleet_view_workers(seine_fleet_view *v, const char *name,
                         void (*fn)(const seine_fleet_worker *w, void *arg), void *arg,
                         seine_diag *diag)
{
    sn_str time_words[] = {SN_STR("TIME")};
    const sn_redis_reply *reply;
    int64_t now_ms;
    uint64_t score;

    if (!v || !name || !fn)
        return SEINE_E_INVAL;
    seine_err e = find(v, name, diag);
    if (e == SEINE_OK)
        e = ask(v, 0, time_words, 1, &reply, diag);
    if (e != SEINE_OK)
        return e;
    now_ms = sn_time_add(sn_time_mul((int64_t)(number_of(reply, 0) & INT64_MAX), 1000),
                         (int64_t)(number_of(reply, 1) / 1000));
    sn_fleet_key w = sn_fleet_key_of_job(&v->id, "w");
    sn_str range[] = {SN_STR("ZRANGE"), sn_fleet_key_view(&w), SN_STR("0"), SN_STR("-1"),
                      SN_STR("WITHSCORES")};
    e = ask(v, 0, range, 5, &reply, diag);
    for (size_t i = 0; e == SEINE_OK && i + 1 < reply->count; i += 2) {
        sn_str text = reply->items[i]->text, weight, lease, rest;
        uint64_t lease_ms = 0;

        if (text.len < SN_FLEET_INCARNATION + 2)
            continue;
        (void)sn_str_cut(sn_str_slice(text, SN_FLEET_INCARNATION + 1, text.len), ':',
                         &weight, &rest);
        (void)sn_str_cut(rest, ':', &lease, &rest);
        (void)!sn_str_u64(lease, &lease_ms);
        seine_fleet_worker one = {.id = sn_str_slice(text, 0, SN_FLEET_INCARNATION),
                                  .host = rest,
                                  .lease_ms = (int64_t)(lease_ms & INT64_MAX)};
        (void)!sn_str_u64(weight, &one.weight);
        score = number_of(reply, i + 1);
        one.silent_ms =
            sn_time_sub(sn_time_add(now_ms, one.lease_ms), (int64_t)(score & INT64_MAX));
        fn(&one, arg);
    }
    return e;
}

typedef struct partition_teller {
    void (*fn)(const seine_fleet_partition *p, void *arg);
    void *arg;
} partition_teller;

static void
tell_partition(uint32_t part, const row *r, void *arg)
{
    const partition_teller *t = arg;
    seine_fleet_partition p = {
        .number = part, .epoch = r->epoch, .blocks = r->blocks, .ended = r->prints};

    if (r->lease.len >= SN_FLEET_INCARNATION)
        p.owner = sn_str_slice(r->lease, 0, SN_FLEET_INCARNATION);
    t->fn(&p, t->arg);
}

seine_err
seine_fleet_view_partitions(seine_fleet_view *v, const char *name,
                            void (*fn)(const seine_fleet_partition *p, void *arg),
                            void *arg, seine_diag *diag)
{
    partition_teller t = {fn, arg};

    if (!v || !name || !fn)
        return SEINE_E_INVAL;
    seine_err e = find(v, name, diag);
    return e == SEINE_OK ? each_row(v, tell_partition, &t, diag) : e;
}

/* A worker makes names of letters, digits and dots ("p00003.e1.jsonl"). Any other name
 * was put there by somebody else, and could lead out of the directory. */
static bool
is_segment_name(sn_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!sn_is_alpha(name.ptr[i]) && !sn_is_digit(name.ptr[i]) &&
            (i == 0 || name.ptr[i] != '.'))
            return false;
    return name.len > 0;
}

static seine_err
say_segment_name(const char *job, sn_str name, seine_diag *diag)
{
    sn_diag_text(diag,
                 "job '%.60s' in Redis has a segment '%.*s', which is no name of one",
                 job, name.len < 60 ? (int)name.len : 60, name.ptr);
    return SEINE_E_CONFIG;
}

/* "bytes records host" */
static void
tell_segment(uint32_t part, sn_str name, sn_str value,
             void (*fn)(const seine_fleet_segment *s, void *arg), void *arg)
{
    seine_fleet_segment s = {.partition = part, .name = name};
    sn_str first, second, rest;

    (void)sn_str_cut(value, ' ', &first, &rest);
    (void)sn_str_cut(rest, ' ', &second, &s.host);
    if (sn_str_u64(first, &s.bytes) == SEINE_OK &&
        sn_str_u64(second, &s.records) == SEINE_OK)
        fn(&s, arg);
}

seine_err
seine_fleet_view_segments(seine_fleet_view *v, const char *name,
                          void (*fn)(const seine_fleet_segment *s, void *arg), void *arg,
                          seine_diag *diag)
{
    const sn_redis_reply *reply;

    if (!v || !name || !fn)
        return SEINE_E_INVAL;
    seine_err e = find(v, name, diag);
    for (uint32_t p = 0; e == SEINE_OK && p < v->parts; p++) {
        sn_fleet_key seg = sn_fleet_key_of(&v->id, p, "seg");
        sn_str words[] = {SN_STR("HGETALL"), sn_fleet_key_view(&seg)};

        e = ask(v, p % v->n, words, 2, &reply, diag);
        for (size_t i = 0; e == SEINE_OK && i + 1 < reply->count; i += 2)
            if (is_segment_name(reply->items[i]->text))
                tell_segment(p, reply->items[i]->text, reply->items[i + 1]->text, fn,
                             arg);
            else
                e = say_segment_name(name, reply->items[i]->text, diag);
    }
    return e;
}

/* Workers look at the number of the revision. */
static seine_err
change(seine_fleet_view *v, const char *name, const char *field, const char *value,
       seine_diag *diag)
{
    const sn_redis_reply *reply;

    if (!v || !name || !value)
        return SEINE_E_INVAL;
    seine_err e = find(v, name, diag);
    if (e != SEINE_OK)
        return e;
    sn_fleet_key cfg = sn_fleet_key_of_job(&v->id, "cfg");
    sn_str set[] = {SN_STR("HSET"), sn_fleet_key_view(&cfg), sn_str_of(field),
                    sn_str_of(value)};
    sn_str rev[] = {SN_STR("HINCRBY"), sn_fleet_key_view(&cfg), SN_STR("rev"),
                    SN_STR("1")};
    e = ask(v, 0, set, 4, &reply, diag);
    return e == SEINE_OK ? ask(v, 0, rev, 4, &reply, diag) : e;
}

seine_err
seine_fleet_view_steer(seine_fleet_view *v, const char *name, const char *state,
                       seine_diag *diag)
{
    return change(v, name, "state", state, diag);
}

seine_err
seine_fleet_view_say(seine_fleet_view *v, const char *name, const char *json,
                     seine_diag *diag)
{
    if (json && strlen(json) >= SEINE_FLEET_SAID)
        return SEINE_E_TOO_BIG;
    return change(v, name, "said", json, diag);
}

static seine_err
remove_partition(seine_fleet_view *v, uint32_t part, seine_diag *diag)
{
    static const char *const names[] = {"lease", "in", "late", "bits",
                                        "h",     "t",  "seg",  "m"};
    const sn_redis_reply *reply;
    sn_fleet_key m = sn_fleet_key_of(&v->id, part, "m");
    sn_str fps[] = {SN_STR("HGET"), sn_fleet_key_view(&m), SN_STR("fps")};
    uint64_t prints = 0;
    seine_err e = ask(v, part % v->n, fps, 3, &reply, diag);

    if (e == SEINE_OK)
        (void)!sn_str_u64(reply->text, &prints);
    for (uint64_t i = 0; e == SEINE_OK && i <= prints / SN_FLEET_CHUNK; i++) {
        sn_fleet_key chunk = sn_fleet_key_of_chunk(&v->id, part, i);
        sn_str del[] = {SN_STR("UNLINK"), sn_fleet_key_view(&chunk)};

        e = ask(v, part % v->n, del, 2, &reply, diag);
    }
    for (size_t i = 0; e == SEINE_OK && i < sizeof names / sizeof *names; i++) {
        sn_fleet_key key = sn_fleet_key_of(&v->id, part, names[i]);
        sn_str del[] = {SN_STR("UNLINK"), sn_fleet_key_view(&key)};

        e = ask(v, part % v->n, del, 2, &reply, diag);
    }
    return e;
}

seine_err
seine_fleet_view_remove(seine_fleet_view *v, const char *name, seine_diag *diag)
{
    static const char *const names[] = {"seeds", "wide", "w", "crew", "cfg"};
    const sn_redis_reply *reply;
    uint32_t workers = 0;

    if (!v || !name)
        return SEINE_E_INVAL;
    seine_err e = seine_fleet_view_workers(v, name, count_worker, &workers, diag);
    if (e != SEINE_OK)
        return e;
    if (workers > 0) {
        sn_diag_text(diag, "%u workers are at job '%.60s': stop it first", workers, name);
        return SEINE_E_BUSY;
    }
    for (uint32_t p = 0; p < v->parts && e == SEINE_OK; p++)
        e = remove_partition(v, p, diag);
    for (size_t i = 0; e == SEINE_OK && i < sizeof names / sizeof *names; i++) {
        sn_fleet_key key = sn_fleet_key_of_job(&v->id, names[i]);
        sn_str del[] = {SN_STR("UNLINK"), sn_fleet_key_view(&key)};

        e = ask(v, 0, del, 2, &reply, diag);
    }
    sn_str words[] = {SN_STR("HDEL"), SN_STR("sn:jobs"), sn_str_of(name)};
    return e == SEINE_OK ? ask(v, 0, words, 3, &reply, diag) : e;
}
