/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet_worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/time.h"
#include "seine/record.h"
#include "seine/url.h"
#include "store/fleet_parts.h"
#include "store/job_parts.h"
#include "store/record.h"

#define FORMAT "2" /* of keys and blocks (fleet_block.c) */

enum {
    PARTS = 256,
    SEEDS_AT_ONCE = 1000 /* named in one pipeline */
};

seine_err
sn_fleet_fail(sn_fleet *f, seine_err e, const seine_diag *why)
{
    pthread_mutex_lock(&f->lock);
    if (atomic_load(&f->err) == SEINE_OK) {
        if (why)
            f->why = *why;
        else
            sn_diag_text(&f->why, "%s", seine_err_text(e));
        atomic_store(&f->err, (int)e);
    }
    pthread_mutex_unlock(&f->lock);
    return e;
}

/* What the job of a worker does. */

static seine_err
on_result(void *self, const seine_record *r, uint64_t seq)
{
    return sn_fleet_take_result(self, r, seq);
}

static seine_err
on_op(void *self, const sn_job_op *op)
{
    return sn_fleet_take_op(self, op);
}

static seine_err
on_commit(void *self, bool is_end, seine_diag *diag)
{
    return sn_fleet_commit_all(self, is_end, diag);
}

static bool
on_is_ready(const void *self)
{
    return sn_fleet_is_ready(self);
}

static bool
on_has_work(const void *self)
{
    return sn_fleet_has_work(self);
}

static const sn_job_remote remote = {on_result, on_op, on_commit, on_is_ready,
                                     on_has_work};

seine_durable_job *
sn_fleet_job(sn_fleet *f)
{
    return f->job;
}

sn_fleet *
sn_job_fleet(const seine_durable_job *j)
{
    return j && j->remote == &remote ? j->self : NULL;
}

/* Where a URL belongs. */

/* Of its registrable domain. */
static uint64_t
hash_of(const sn_fleet *f, sn_str text)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;
    sn_str name = text;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, text.ptr, text.len, NULL) == SEINE_OK) {
        if (seine_url_name(&url, &name) != SEINE_OK)
            name = seine_url_host(&url);
        if (f->psl && seine_url_host_is(&url) == SEINE_HOST_NAME) {
            size_t len = seine_psl_site(f->psl, name.ptr, name.len);

            if (len > 0)
                name = (sn_str){name.ptr + name.len - len, len};
        }
    }
    return sn_siphash(f->secret, name.ptr, name.len);
}

uint32_t
sn_fleet_part_of(const sn_fleet *f, sn_str text)
{
    return (uint32_t)((sn_u128)hash_of(f, text) * f->parts >> 64);
}

bool
sn_fleet_is_same_site(const sn_fleet *f, sn_str a, sn_str b)
{
    return hash_of(f, a) == hash_of(f, b);
}

/* Making. */

static char *
copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *to = sn_alloc(n);

    if (to)
        memcpy(to, text, n);
    return to;
}

static seine_err
say_server(const sn_fleet *f, uint32_t server, seine_err e, seine_diag *diag)
{
    char shown[SN_REDIS_SHOWN];

    sn_redis_url_shown(&f->servers[server].url, shown);
    sn_diag_text(diag, "Redis at %s %s", shown,
                 sn_redis_sync_why(f->servers[server].keeper));
    return e;
}

/* Makes the connections of a server; only the keeper's is opened now. */
static seine_err
open_server(sn_fleet *f, uint32_t i, const sn_fleet_opts *o, char *warning,
            seine_diag *diag)
{
    sn_fleet_server *s = &f->servers[i];
    sn_redis_sync_opts opts = {.url = &s->url,
                               .functions = sn_fleet_functions(),
                               .clock = f->clock,
                               .wire = o->wires ? &o->wires[2 * i] : NULL};
    char shown[SN_REDIS_SHOWN];

    s->away_since = SEINE_NEVER;
    seine_err e = sn_redis_url_parse(sn_str_of(o->urls[i]), &s->url, diag);
    if (e == SEINE_OK)
        e = sn_redis_sync_new(&opts, &s->keeper);
    opts.wire = o->wires ? &o->wires[2 * i + 1] : NULL;
    if (e == SEINE_OK)
        e = sn_redis_sync_new(&opts, &s->sink);
    if (e != SEINE_OK)
        return e;
    e = sn_redis_sync_open(s->keeper);
    if (e != SEINE_OK)
        return say_server(f, i, e, diag);
    snprintf(s->run_id, sizeof s->run_id, "%.*s",
             SN_FMT(sn_redis_sync_run_id(s->keeper)));
    sn_redis_url_shown(&s->url, shown);
    return sn_fleet_check_server(s->keeper, o->accepts_loss, shown, warning, diag);
}

static void
put_hex(char *out, uint64_t n)
{
    snprintf(out, 17, "%016" PRIx64, n);
}

static void
name_worker(sn_fleet *f)
{
    put_hex(f->incarnation, f->clock->dice(f->clock));
    put_hex(f->incarnation + 16, f->clock->dice(f->clock));
    if (gethostname(f->host_name, sizeof f->host_name - 1) != 0 || !f->host_name[0])
        snprintf(f->host_name, sizeof f->host_name, "unknown");
    snprintf(f->member, sizeof f->member, "%s:%u:%" PRId64 ":%s", f->incarnation,
             f->weight, f->lease / SEINE_MS(1), f->host_name);
}

/* The job in Redis. */

typedef struct text {
    char bytes[24];
} text;

static sn_str
put_number(text *out, int64_t n)
{
    int len = snprintf(out->bytes, sizeof out->bytes, "%" PRId64, n);

    return (sn_str){out->bytes, (size_t)len};
}

/* Writes what the job is, then gives it its name. Who is second removes its own. */
static seine_err
make_job(sn_fleet *f, const sn_fleet_opts *o, bool *out_is_new)
{
    sn_redis_sync *r = f->servers[0].keeper;
    char secret[33];
    text parts, servers, created;
    const sn_redis_reply *reply;

    put_hex(secret, f->clock->dice(f->clock));
    put_hex(secret + 16, f->clock->dice(f->clock));
    snprintf(f->id.text, sizeof f->id.text, "%08x",
             (uint32_t)(f->clock->dice(f->clock) >> 32));
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_str set[] = {
        SN_STR("HSET"),    sn_fleet_key_view(&cfg),
        SN_STR("format"),  SN_STR(FORMAT),
        SN_STR("parts"),   put_number(&parts, o->parts > 0 ? o->parts : PARTS),
        SN_STR("secret"),  sn_str_of(secret),
        SN_STR("servers"), put_number(&servers, f->n_servers),
        SN_STR("verb"),    sn_str_of(o->verb ? o->verb : ""),
        SN_STR("spec"),    sn_str_of(o->spec),
        SN_STR("command"), sn_str_of(o->command ? o->command : "{}"),
        SN_STR("created"), put_number(&created, f->clock->wall(f->clock) / SEINE_MS(1)),
        SN_STR("name"),    sn_str_of(f->name),
        SN_STR("state"),   SN_STR("running"),
        SN_STR("rev"),     SN_STR("1"),
        SN_STR("seeded"),  SN_STR("0"),
        SN_STR("done"),    SN_STR("0")};
    sn_str name[] = {SN_STR("HSETNX"), SN_STR("sn:jobs"), sn_str_of(f->name),
                     sn_str_of(f->id.text)};
    sn_str del[] = {SN_STR("DEL"), sn_fleet_key_view(&cfg)};

    seine_err e = sn_redis_sync_ask(r, set, sizeof set / sizeof *set, &reply);
    if (e == SEINE_OK && reply->kind == SN_REDIS_ERROR)
        return SEINE_E_STORE_UNAVAILABLE;
    if (e == SEINE_OK)
        e = sn_redis_sync_ask(r, name, 4, &reply);
    if (e != SEINE_OK)
        return e;
    *out_is_new = reply->kind == SN_REDIS_INTEGER && reply->integer == 1;
    return *out_is_new ? SEINE_OK : sn_redis_sync_ask(r, del, 2, &reply);
}

static seine_err
find_job(sn_fleet *f, bool *out_there)
{
    sn_str words[] = {SN_STR("HGET"), SN_STR("sn:jobs"), sn_str_of(f->name)};
    const sn_redis_reply *reply;
    seine_err e = sn_redis_sync_ask(f->servers[0].keeper, words, 3, &reply);

    if (e != SEINE_OK)
        return e;
    *out_there = reply->kind == SN_REDIS_STRING && reply->text.len == 8;
    if (*out_there)
        snprintf(f->id.text, sizeof f->id.text, "%.*s", SN_FMT(reply->text));
    return SEINE_OK;
}

static bool
read_secret(sn_str hex, uint64_t out[2])
{
    uint64_t words[2] = {0, 0};

    if (hex.len != 32)
        return false;
    for (size_t i = 0; i < 32; i++) {
        int digit = sn_hex_digit(hex.ptr[i]);

        if (digit < 0)
            return false;
        words[i / 16] = words[i / 16] << 4 | (uint64_t)digit;
    }
    memcpy(out, words, sizeof words);
    return true;
}

static seine_err
refuse(seine_diag *diag, const sn_fleet *f, const char *member, const char *why)
{
    return sn_diag_option(diag, member, "job '%s' in Redis %s", f->name, why);
}

/* Reads what the job is; it must be the one that is meant. */
static seine_err
read_job(sn_fleet *f, const sn_fleet_opts *o, seine_diag *diag)
{
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_str words[] = {SN_STR("HMGET"), sn_fleet_key_view(&cfg), SN_STR("format"),
                      SN_STR("parts"), SN_STR("secret"),        SN_STR("servers"),
                      SN_STR("spec"),  SN_STR("command"),       SN_STR("seeded"),
                      SN_STR("done")};
    const sn_redis_reply *reply;
    uint64_t parts = 0, servers = 0;
    seine_err e = sn_redis_sync_ask(f->servers[0].keeper, words, 10, &reply);

    if (e != SEINE_OK)
        return say_server(f, 0, e, diag);
    if (reply->kind != SN_REDIS_ARRAY || reply->count != 8)
        return refuse(diag, f, "store", "cannot be read");
    if (!sn_str_eq(reply->items[0]->text, SN_STR(FORMAT)))
        return refuse(diag, f, "store", "has a format that this version does not know");
    if (sn_str_u64(reply->items[1]->text, &parts) != SEINE_OK || parts == 0 ||
        parts > SN_FLEET_PARTS || !read_secret(reply->items[2]->text, f->secret) ||
        sn_str_u64(reply->items[3]->text, &servers) != SEINE_OK)
        return refuse(diag, f, "store", "is damaged");
    if (servers != f->n_servers)
        return refuse(diag, f, "store", "was started with another number of servers");
    if (o->spec && !sn_str_eq(reply->items[4]->text, sn_str_of(o->spec)))
        return refuse(diag, f, "spec", "was started with another command");
    f->parts = (uint32_t)parts;
    f->command = sn_zalloc(reply->items[5]->text.len + 1);
    if (!f->command)
        return SEINE_E_NOMEM;
    memcpy(f->command, reply->items[5]->text.ptr, reply->items[5]->text.len);
    atomic_store(&f->is_seeded, sn_str_eq(reply->items[6]->text, SN_STR("1")));
    if (sn_str_eq(reply->items[7]->text, SN_STR("1"))) {
        sn_diag_text(diag, "job '%s' is finished", f->name);
        return SEINE_E_ALREADY;
    }
    return SEINE_OK;
}

static seine_err
enter_job(sn_fleet *f, const sn_fleet_opts *o, seine_diag *diag)
{
    bool is_there = false;
    seine_err e = find_job(f, &is_there);

    if (e == SEINE_OK && !is_there && !o->spec) {
        sn_diag_text(diag, "there is no job '%s' in Redis", f->name);
        return SEINE_E_CONFIG;
    }
    if (e == SEINE_OK && !is_there)
        e = make_job(f, o, &f->is_new);
    if (e == SEINE_OK && !is_there && !f->is_new) /* another one was faster */
        e = find_job(f, &is_there);
    if (e != SEINE_OK)
        return say_server(f, 0, e, diag);
    return read_job(f, o, diag);
}

/* Memory and files. */

static seine_err
make_tables(sn_fleet *f)
{
    f->by_part = sn_calloc(f->parts, sizeof(sn_tenure *));
    f->by_index = sn_calloc(SN_FLEET_TENURES, sizeof(sn_tenure *));
    f->all = sn_calloc(f->parts, sizeof(sn_tenure *));
    f->held_by = sn_calloc(f->parts, sizeof *f->held_by);
    f->was_held = sn_calloc(f->parts, sizeof *f->was_held);
    f->mine = sn_calloc(f->parts, sizeof *f->mine);
    f->own = sn_calloc(f->parts, sizeof *f->own);
    f->states = sn_calloc(SN_FLEET_TENURES, sizeof *f->states);
    f->out_of = sn_calloc(SN_FLEET_TENURES, sizeof *f->out_of);
    f->since = sn_calloc(SN_FLEET_TENURES, sizeof *f->since);
    f->outbox = sn_calloc(2 * (size_t)f->parts, sizeof *f->outbox);
    f->packed_end = &f->packed;
    if (!f->by_part || !f->by_index || !f->all || !f->held_by || !f->was_held ||
        !f->mine || !f->own || !f->states || !f->out_of || !f->since || !f->outbox)
        return SEINE_E_NOMEM;
    return sn_job_remote_new(&remote, f, f->name, f->secret, &f->job);
}

static seine_err
make_dir(sn_fleet *f, const char *out, seine_diag *diag)
{
    size_t n = strlen(out) + strlen(f->name) + 2;

    f->out = sn_alloc(n);
    if (!f->out)
        return SEINE_E_NOMEM;
    (void)mkdir(out, 0777);
    snprintf(f->out, n, "%s/%s", out, f->name);
    if (mkdir(f->out, 0777) != 0 && errno != EEXIST) {
        sn_diag_text(diag, "cannot make '%s': %s", f->out, strerrordesc_np(errno));
        return SEINE_E_IO;
    }
    return SEINE_OK;
}

seine_err
sn_fleet_open(const sn_fleet_opts *o, sn_fleet **out_fleet,
              char out_warning[SEINE_DIAG_ROOM], seine_diag *diag)
{
    sn_fleet *f = sn_zalloc(sizeof *f);
    seine_err e = SEINE_OK;

    sn_diag_clear(diag);
    out_warning[0] = '\0';
    if (!f)
        return SEINE_E_NOMEM;
    pthread_mutex_init(&f->lock, NULL);
    f->clock = o->clock ? o->clock : seine_clock_system();
    f->up = o->up ? o->up : sn_time_up;
    f->lease = o->lease > 0 ? o->lease : SEINE_SECS(15);
    f->wait = o->wait > 0 ? o->wait : SEINE_SECS(600);
    f->weight = o->weight > 0 ? o->weight : 1;
    f->every_us = o->every > 0 ? (o->every < 1000 ? 1 : o->every / 1000) : 0;
    f->record_members = sn_members_of(&(seine_members){o->members});
    f->sink_away_since = SEINE_NEVER;
    atomic_store(&f->renewed_up, INT64_MIN / 2);
    f->name = copy(o->name);
    name_worker(f);
    if (!f->name || o->n_urls == 0 || o->n_urls > SN_FLEET_SERVERS)
        e = f->name ? SEINE_E_INVAL : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = seine_psl_new(NULL, &f->psl);
    for (; e == SEINE_OK && f->n_servers < o->n_urls; f->n_servers++)
        e = open_server(f, f->n_servers, o, out_warning, diag);
    if (e == SEINE_OK)
        e = enter_job(f, o, diag);
    if (e == SEINE_OK)
        e = make_tables(f);
    if (e == SEINE_OK && o->out)
        e = make_dir(f, o->out, diag);
    if (e != SEINE_OK) {
        if (f->n_servers < o->n_urls)
            f->n_servers++; /* the one that was not finished */
        if (f->job)
            sn_job_free(f->job);
        sn_fleet_free(f);
        return e;
    }
    *out_fleet = f;
    return SEINE_OK;
}

/* Leases go back, and the list of workers is right at once. */
static void
say_goodbye(sn_fleet *f)
{
    sn_redis_sync *r = f->servers[0].keeper;
    const sn_redis_reply *reply;

    for (uint32_t i = 0; i < f->held; i++) {
        const sn_tenure *t = f->all[i];
        sn_redis_sync *own = sn_fleet_server_of(f, t->part)->keeper;

        if (!own || !sn_redis_sync_is_open(own))
            continue;
        sn_fleet_add_release(own, &f->id, t->part, &t->token);
        (void)!sn_redis_sync_next(own, &reply);
    }
    if (!f->by_part || !r || !sn_redis_sync_is_open(r))
        return;
    sn_fleet_part_from(f);
}

void
sn_fleet_free(sn_fleet *f)
{
    if (!f)
        return;
    say_goodbye(f);
    while (f->held > 0)
        sn_tenure_end(f, f->all[f->held - 1]);
    sn_outbox_fini(f);
    for (sn_fleet_row *r = f->kept_rows, *next; r; r = next) {
        next = r->next;
        sn_free(r);
    }
    for (uint32_t i = 0; i < f->n_servers; i++) {
        sn_redis_sync_free(f->servers[i].keeper);
        sn_redis_sync_free(f->servers[i].sink);
        sn_redis_url_fini(&f->servers[i].url);
    }
    seine_psl_free(f->psl);
    sn_free(f->by_part);
    sn_free(f->by_index);
    sn_free(f->all);
    sn_free(f->held_by);
    sn_free(f->since);
    sn_free(f->was_held);
    sn_free(f->mine);
    sn_free(f->own);
    sn_free(f->members);
    sn_free(f->states);
    sn_free(f->out_of);
    sn_free(f->name);
    sn_free(f->command);
    sn_free(f->said);
    sn_free(f->out);
    pthread_mutex_destroy(&f->lock);
    sn_free(f);
}

/* Giving URLs. */

/* Takes the replies of seeds that were named, and sends the blocks that are full. */
static seine_err
drain_seeds(sn_fleet *f)
{
    sn_redis_sync *r = f->servers[0].keeper;
    const sn_redis_reply *reply;
    seine_err e = SEINE_OK;

    for (; f->seeds_out > 0 && e == SEINE_OK; f->seeds_out--) {
        e = sn_redis_sync_next(r, &reply);
        if (e == SEINE_OK && reply->kind == SN_REDIS_ERROR)
            e = SEINE_E_STORE_UNAVAILABLE;
    }
    return e == SEINE_OK ? sn_outbox_send(f) : e;
}

seine_err
sn_fleet_give(sn_fleet *f, const sn_fleet_link *l, seine_diag *diag)
{
    sn_redis_sync *r = f->servers[0].keeper;
    sn_fleet_key key = sn_fleet_key_of_job(&f->id, "seeds");
    sn_str words[] = {SN_STR("RPUSH"), sn_fleet_key_view(&key), l->url.target};
    seine_err e = sn_outbox_add(f, l);

    if (e != SEINE_OK)
        return e;
    sn_redis_sync_add(r, words, 3);
    if (++f->seeds_out >= SEEDS_AT_ONCE)
        e = drain_seeds(f);
    return e == SEINE_OK ? SEINE_OK : say_server(f, 0, e, diag);
}

seine_err
sn_fleet_given_all(sn_fleet *f, seine_diag *diag)
{
    sn_redis_sync *r = f->servers[0].keeper;
    sn_fleet_key cfg = sn_fleet_key_of_job(&f->id, "cfg");
    sn_str words[] = {SN_STR("HSET"), sn_fleet_key_view(&cfg), SN_STR("seeded"),
                      SN_STR("1")};
    const sn_redis_reply *reply;
    seine_err e = sn_outbox_pack_all(f);

    if (e == SEINE_OK)
        e = drain_seeds(f);
    if (e != SEINE_OK) {
        sn_diag_text(diag, "Redis %s",
                     atomic_load(&f->is_full) ? "has no memory left (maxmemory)"
                                              : sn_redis_sync_why(f->servers[0].sink));
        return e;
    }
    e = sn_redis_sync_ask(r, words, 4, &reply);
    if (e == SEINE_OK)
        atomic_store(&f->is_seeded, true);
    return e == SEINE_OK ? SEINE_OK : say_server(f, 0, e, diag);
}

/* Asking. */

const char *
sn_fleet_name(const sn_fleet *f)
{
    return f->name;
}

const char *
sn_fleet_command(const sn_fleet *f)
{
    return f->command;
}

bool
sn_fleet_is_new(const sn_fleet *f)
{
    return f->is_new;
}

const seine_diag *
sn_fleet_why(const sn_fleet *f)
{
    return &f->why;
}

void
sn_fleet_give_up(sn_fleet *f, seine_err e)
{
    (void)!sn_fleet_fail(f, e, NULL);
}

bool
sn_fleet_said(sn_fleet *f, uint64_t *io_rev, char *out, size_t room)
{
    bool is_new = false;

    pthread_mutex_lock(&f->lock);
    if (f->said && f->said_rev != *io_rev && strlen(f->said) < room) {
        memcpy(out, f->said, strlen(f->said) + 1);
        *io_rev = f->said_rev;
        is_new = true;
    }
    pthread_mutex_unlock(&f->lock);
    return is_new;
}

bool
sn_fleet_is_seeded(const sn_fleet *f)
{
    return atomic_load(&f->is_seeded);
}

seine_err
sn_fleet_err(const sn_fleet *f)
{
    return (seine_err)atomic_load(&f->err);
}

/* Visits of our own, for robots.txt, have no such number. */
bool
sn_fleet_is_lost(const sn_fleet *f, uint64_t number)
{
    return SN_FLEET_TENURE(number) > 0 &&
           atomic_load_explicit(&f->states[SN_FLEET_TENURE(number)],
                                memory_order_acquire) == SN_TENURE_LOST;
}

uint32_t
sn_fleet_tenure_of(const sn_fleet *f, sn_str url)
{
    return atomic_load_explicit(&f->held_by[sn_fleet_part_of(f, url)],
                                memory_order_acquire);
}

bool
sn_fleet_holds(const sn_fleet *f, sn_str url)
{
    return sn_fleet_tenure_of(f, url) > 0;
}

seine_time
sn_fleet_held_since(const sn_fleet *f, uint32_t tenure)
{
    return atomic_load_explicit(&f->since[tenure], memory_order_relaxed);
}

uint64_t
sn_fleet_n_lost(const sn_fleet *f)
{
    return atomic_load_explicit(&f->n_lost, memory_order_acquire);
}

seine_span
sn_fleet_left(const sn_fleet *f)
{
    return sn_time_sub(
        sn_time_add(atomic_load_explicit(&f->renewed_up, memory_order_acquire),
                    f->lease * 2 / 3),
        f->up(f->clock));
}

/* Leases that are too old for a start are too old for a request that is under way: the
 * next owner may ask as soon as they end. */
void
sn_fleet_fence(sn_fleet *f)
{
    if (sn_fleet_left(f) >= 0 || atomic_load(&f->shown_held) == 0)
        return;
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->held; i++)
        sn_tenure_set(f, f->all[i], SN_TENURE_LOST);
    pthread_mutex_unlock(&f->lock);
}

void
sn_fleet_started(sn_fleet *f)
{
    if (f->every_us > 0)
        atomic_fetch_sub_explicit(&f->tokens, 1, memory_order_relaxed);
}

void
sn_fleet_asked(sn_fleet *f, uint64_t number)
{
    atomic_fetch_add_explicit(&f->out_of[SN_FLEET_TENURE(number)], 1,
                              memory_order_relaxed);
}

bool
sn_fleet_may_start(const sn_fleet *f)
{
    if (f->every_us > 0 && atomic_load_explicit(&f->tokens, memory_order_relaxed) <= 0)
        return false;
    return sn_fleet_left(f) >= 0;
}

uint64_t
sn_fleet_generation(const sn_fleet *f)
{
    return atomic_load_explicit(&f->generation, memory_order_relaxed);
}

void
sn_fleet_figures_get(const sn_fleet *f, sn_fleet_figures *out)
{
    *out = (sn_fleet_figures){.parts = f->parts,
                              .held = atomic_load(&f->shown_held),
                              .workers = atomic_load(&f->shown_members),
                              .waiting = atomic_load(&f->n_waiting),
                              .commits = atomic_load(&f->n_commits),
                              .records = atomic_load(&f->n_records),
                              .links = atomic_load(&f->n_links),
                              .blocks = atomic_load(&f->n_blocks),
                              .fenced = atomic_load(&f->n_fenced),
                              .is_away = atomic_load(&f->is_away),
                              .is_full = atomic_load(&f->is_full)};
}
