/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <stdlib.h>

#include "base/time.h"
#include "fake_disk.h"
#include "site.h"
#include "store/store_mem.h"

/* With this salt the seeds of seeds.txt have the disks they were found with: none. */
#define SALT UINT64_C(0xe1c0)

enum {
    SHARDS = 4,     /* each has a file of its own */
    LISTS = 1 << 16 /* chunks that may stand at the head of a list */
};

struct sim_disk {
    sim_disk_kind kind;
    sn_rng dice;
    seine_span latency;
    uint32_t flips_in; /* reads until bits are turned; FLIPS */
    fake_disk files[SHARDS];
    sn_spill_disk ops[SHARDS];
    uint32_t n_files;
};

static sim_world *world; /* of the store that is opened next */

static void
stall(fake_disk *d)
{
    sim_world *w = d->arg;
    seine_span span =
        (seine_span)sn_rng_below(&w->disk->dice, (uint64_t)w->disk->latency);

    w->now += span;
    w->stalled += span;
    w->late += span;
}

/* Before the n-th read one bit of every byte is turned. */
static void
flip(fake_disk *d)
{
    const sim_world *w = d->arg;

    if (d->reads <= w->disk->flips_in || d->failed || d->len == 0)
        return;
    for (size_t at = 0; at < d->len; at++)
        d->bytes[at] ^= 1;
    d->failed = true;
}

void
sim_disk_draw(sim_world *w)
{
    static const sim_disk_kind kinds[] = {DISK_CHOPPY, DISK_SLOW,   DISK_STALLS,
                                          DISK_FULL,   DISK_UNREAD, DISK_FLIPS};
    sn_rng dice = sn_rng_seed(w->seed ^ SALT);
    struct sim_disk *d = calloc(1, sizeof *d);

    w->disk = d;
    if (!d || !w->site || sn_rng_below(&dice, 3) > 0)
        return;
    d->kind = kinds[sn_rng_below(&dice, sizeof kinds / sizeof *kinds)];
    d->latency = SEINE_MS(1 + (seine_span)sn_rng_below(&dice, 200));
    d->flips_in = (uint32_t)sn_rng_below(&dice, 10);
    fake_disk file = {.choppy = d->kind == DISK_CHOPPY || sn_rng_below(&dice, 2) == 0,
                      .read_error = EIO,
                      .arg = w};
    uint64_t capacity = 1 + sn_rng_below(&dice, 8000);
    uint64_t read_from = 1 + sn_rng_below(&dice, 12);
    file.capacity = d->kind == DISK_FULL ? capacity : 0;
    file.read_from = d->kind == DISK_UNREAD ? read_from : 0;
    file.slow = d->kind == DISK_STALLS ? stall : d->kind == DISK_FLIPS ? flip : NULL;
    for (uint32_t i = 0; i < SHARDS; i++)
        d->files[i] = file;
    d->dice = dice;
}

/* The store in memory on such a disk, which spills all it can. */
static seine_err
open_small(const sn_store_opts *o, sn_store **out_store)
{
    struct sim_disk *d = world->disk;
    sn_store_opts small = *o;

    d->ops[d->n_files] = fake_disk_ops(&d->files[d->n_files]);
    small.max_bytes = 1;
    small.together = 64; /* a few URLs are enough */
    small.disk = &d->ops[d->n_files++];
    return sn_store_open(&sn_store_mem, &small, out_store);
}

static const sn_store_ops on_file = {.open = open_small};

/* A store that reads on a thread of its own, as far as its owner can tell. Lists are
 * known by the chunk at their head. */
typedef struct slow_store {
    sn_store base;
    sn_store *mem;
    sn_store_opts opts;
    sim_world *world;
    struct {
        char host[64];
        seine_time due; /* 0: not asked for */
    } heads[LISTS];
    uint32_t n_due;
    seine_time next; /* the earliest of these */
    struct slow_store *other;
} slow_store;

static slow_store *stores; /* of the shards */

static const sn_store_ops slow;

static seine_err
slow_open(const sn_store_opts *o, sn_store **out_store)
{
    slow_store *s = calloc(1, sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    s->opts = *o;
    s->world = world;
    s->base.ops = &slow;
    s->next = SEINE_NEVER;
    s->other = stores;
    stores = s;
    *out_store = &s->base;
    return sn_store_open(&sn_store_mem, o, &s->mem);
}

static seine_err
slow_scan(sn_store *s, const sn_scan *into)
{
    return sn_store_scan(((slow_store *)s)->mem, into);
}

static seine_err
slow_enqueue(sn_store *s, sn_url_list *list, const sn_waiting_url *url)
{
    slow_store *w = (slow_store *)s;
    seine_err e = sn_store_enqueue(w->mem, list, url);
    char *host = w->heads[list->first % LISTS].host;

    memcpy(host, url->host.ptr ? url->host.ptr : "", url->host.len);
    host[url->host.len] = '\0';
    return e;
}

static seine_err
slow_take(sn_store *s, sn_url_list *list, uint32_t deepest, sn_waiting_url *out_url)
{
    slow_store *w = (slow_store *)s;
    uint32_t head = list->first % LISTS;
    seine_time *due = &w->heads[head].due;

    if (list->n == 0)
        return SEINE_E_CLOSED;
    if (*due == 0) {
        struct sim_disk *d = w->world->disk;

        *due =
            w->world->now + 1 + (seine_span)sn_rng_below(&d->dice, (uint64_t)d->latency);
        w->n_due++;
        w->next = sn_time_min(w->next, *due);
    }
    if (*due > w->world->now && deepest != SN_STORE_AT_ONCE)
        return SEINE_E_BUSY;
    seine_err e = sn_store_take(w->mem, list, deepest, out_url);
    if (e == SEINE_OK) {
        *due = 0;
        w->n_due--;
        if (list->n > 0 && list->first % LISTS != head)
            memcpy(w->heads[list->first % LISTS].host, w->heads[head].host, 64);
    }
    return e;
}

static seine_err
slow_skip(sn_store *s, sn_url_list *list, sn_lost *out_lost)
{
    return sn_store_skip(((slow_store *)s)->mem, list, out_lost);
}

/* Says which hosts may be asked again, and when the next one may. */
static void
tell_ready(slow_store *w)
{
    seine_time next = SEINE_NEVER;

    for (uint32_t i = 0; w->n_due > 0 && i < LISTS; i++) {
        seine_time due = w->heads[i].due;

        if (due > w->world->now)
            next = sn_time_min(next, due);
        else if (due > 0 && w->heads[i].host[0])
            w->opts.ready(sn_str_of(w->heads[i].host), w->opts.arg);
    }
    w->next = next;
}

static seine_err
slow_commit(sn_store *s, const sn_group *group)
{
    slow_store *w = (slow_store *)s;
    seine_err e = sn_store_commit(w->mem, group);

    s->figures = w->mem->figures;
    if (w->next <= w->world->now || w->n_due == 0)
        tell_ready(w);
    return e;
}

static seine_err
slow_close(sn_store *s, bool clean)
{
    seine_err e = sn_store_close(((slow_store *)s)->mem, clean);

    stores = NULL; /* all are closed together */
    free(s);
    return e;
}

static const sn_store_ops slow = {slow_open, slow_scan,   slow_enqueue, slow_take,
                                  slow_skip, slow_commit, slow_close};

const sn_store_ops *
sim_disk_back_end(sim_world *w)
{
    world = w;
    return w->disk->kind == DISK_NONE   ? NULL
           : w->disk->kind == DISK_SLOW ? &slow
                                        : &on_file;
}

void
sim_disk_free(sim_world *w)
{
    for (uint32_t i = 0; w->disk && i < SHARDS; i++)
        fake_disk_free(&w->disk->files[i]);
    free(w->disk);
}

seine_time
sim_disk_when(const sim_world *w)
{
    seine_time at = SEINE_NEVER;

    for (const slow_store *s = stores; s; s = s->other)
        if (s->world == w)
            at = sn_time_min(at, s->next);
    return at;
}

seine_err
sim_disk_err(const sim_world *w)
{
    const struct sim_disk *d = w->disk;
    bool failed = false;

    for (uint32_t i = 0; i < SHARDS; i++)
        failed |= d->files[i].failed;
    return !failed                  ? SEINE_OK
           : d->kind == DISK_FULL   ? SEINE_E_DISK_FULL
           : d->kind == DISK_UNREAD ? SEINE_E_IO
                                    : SEINE_E_STATE_CORRUPT;
}

const char *
sim_disk_name(const sim_world *w)
{
    static const char *const names[] = {"none", "choppy", "slow", "stalls",
                                        "full", "unread", "flips"};

    return names[w->disk->kind];
}

void
sim_disk_good(sim_world *w)
{
    w->disk->kind = DISK_NONE;
}
