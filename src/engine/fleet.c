/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's thread of a worker: URLs from Redis to the shards. */
#include "seine/fleet.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "base/time.h"
#include "engine/admit.h"
#include "engine/ask_bytes.h"
#include "engine/fetch.h"
#include "engine/fleet.h"
#include "engine/job_kinds.h"
#include "engine/mail.h"
#include "engine/run.h"
#include "engine/scope.h"
#include "seine/record.h"
#include "store/record_items.h"

_Static_assert(SN_FLEET_NOTE_WIDENED == (int)SN_NOTE_WIDENED, "workers hear of it");
_Static_assert(SN_FLEET_NOTE_TRAP == (int)SN_NOTE_TRAP, "the next owner does");
_Static_assert(SN_FLEET_NOTE_PAGES == (int)SN_NOTE_PAGES, "the next owner does");

_Static_assert(SN_FLEET_LATE == (int)SN_JOB_LATE, "of the job");

#define STUCK_FOR SEINE_SECS(5) /* until hosts without a robots.txt are given up */

typedef struct waiting_seed { /* for which the engine had no room yet */
    struct waiting_seed *next;
    uint64_t number;
    sn_str url, input, ask;
    uint64_t line;
    char bytes[];
} waiting_seed;

struct seine_fleet {
    sn_fleet *worker;
    char warning[SEINE_DIAG_ROOM];
    seine_fetch *fetch;
    sn_shared_state *shared;
    sn_run *const *runs;
    uint32_t n;
    sn_post **posts;   /* to each shard */
    seine_seen *owned; /* prints of URLs of own partitions, mixed with their tenure */
    waiting_seed *first, **last;
    uint64_t n_seeds;
    seine_time stuck_since;
    uint64_t heard; /* URLs that came in */
    uint64_t heard_before;
    void (*heard_of)(seine_view url, bool is_moved, void *arg); /* seine_fleet_hear */
    void *hear_arg;
    pthread_t thread;
    bool has_thread;
    bool has_ended; /* the fetch knows */
    _Atomic bool is_ending;
    _Atomic int state;
    seine_diag why;
};

/* Opening. */

seine_err
sn_fleet_keeper_open(const sn_fleet_opts *opts, seine_fleet **out_fleet, seine_diag *diag)
{
    seine_fleet *f = sn_zalloc(sizeof *f);

    if (!f)
        return SEINE_E_NOMEM;
    f->last = &f->first;
    f->stuck_since = SEINE_NEVER;
    seine_err e = sn_fleet_open(opts, &f->worker, f->warning, diag);
    if (e != SEINE_OK) {
        sn_free(f);
        return e;
    }
    *out_fleet = f;
    return SEINE_OK;
}

seine_err
seine_fleet_open(const seine_fleet_opts *given, seine_fleet **out_fleet, seine_diag *diag)
{
    seine_fleet_opts o = SEINE_FLEET_OPTS;

    sn_diag_clear(diag);
    if (!given || !out_fleet)
        return SEINE_E_INVAL;
    if (!sn_opts_fit(given, sizeof o))
        return SEINE_E_INVAL;
    o = *given;
    if (!o.name || !o.stores || o.n_stores == 0 || o.n_stores > SN_FLEET_SERVERS)
        return SEINE_E_INVAL;
    sn_fleet_opts own = {.urls = o.stores,
                         .n_urls = o.n_stores,
                         .name = o.name,
                         .verb = o.verb,
                         .spec = o.spec,
                         .command = o.command,
                         .parts = o.partitions,
                         .out = o.out,
                         .lease = o.lease,
                         .wait = o.wait,
                         .weight = o.weight,
                         .every = o.every,
                         .accepts_loss = o.accepts_loss,
                         .members = o.members};
    return sn_fleet_keeper_open(&own, out_fleet, diag);
}

static void
drop_seed(seine_fleet *f)
{
    waiting_seed *s = f->first;

    f->first = s->next;
    if (!f->first)
        f->last = &f->first;
    f->n_seeds--;
    sn_free(s);
}

void
seine_fleet_stop(seine_fleet *f)
{
    if (!f || !f->has_thread)
        return;
    atomic_store(&f->is_ending, true);
    pthread_join(f->thread, NULL);
    f->has_thread = false;
}

void
seine_fleet_free(seine_fleet *f)
{
    if (!f)
        return;
    seine_fleet_stop(f);
    sn_fleet_free(f->worker);
    while (f->first)
        drop_seed(f);
    for (uint32_t i = 0; f->posts && i < f->n; i++)
        sn_mail_free(f->posts[i]);
    sn_free(f->posts);
    seine_seen_free(f->owned);
    sn_free(f);
}

/* Giving. */

/* The URL as its partition knows it; what the caller wrote is shown in records. */
seine_err
seine_fleet_give(seine_fleet *f, const seine_ask *ask, seine_diag *diag)
{
    char mem[SEINE_URL_ROOM];
    seine_url_flaw flaw;
    seine_url url;
    sn_buf bytes;

    if (!f || !ask)
        return SEINE_E_INVAL;
    sn_str input = ask->input.ptr ? ask->input : ask->url;
    sn_fleet_link l = {.url = {.target = ask->url,
                               .parent = input,
                               .line = (uint32_t)ask->line,
                               .kind = SN_JOB_GIVEN}};
    seine_url_init(&url, mem, sizeof mem);
    if (!ask->is_bad && sn_admit_parse(ask->url, &url, &flaw) == SEINE_OK)
        l.url.target = seine_url_href(&url);
    if (l.url.target.len > SN_STORE_TEXT)
        l.url.target.len = SN_STORE_TEXT;
    if (l.url.parent.len > SN_STORE_TEXT)
        l.url.parent.len = SN_STORE_TEXT;
    if (sn_str_eq(l.url.parent, l.url.target)) /* a block has it once */
        l.url.parent = (sn_str){0};
    sn_buf_init_secret(&bytes, SIZE_MAX);
    sn_ask_bytes_write(ask, &bytes);
    l.ask = sn_buf_view(&bytes);
    seine_err e = sn_buf_done(&bytes);
    if (e == SEINE_OK)
        e = sn_fleet_give(f->worker, &l, diag);
    sn_buf_fini(&bytes);
    return e;
}

seine_err
seine_fleet_given_all(seine_fleet *f, seine_diag *diag)
{
    return f ? sn_fleet_given_all(f->worker, diag) : SEINE_E_INVAL;
}

seine_err
seine_fleet_lead(seine_record_items *items, const seine_ask *ask)
{
    char mem[SEINE_URL_ROOM];
    seine_url_flaw flaw;
    seine_url url;
    sn_buf bytes;

    if (!items || !ask)
        return SEINE_E_INVAL;
    seine_url_init(&url, mem, sizeof mem);
    seine_err e = sn_admit_parse(ask->url, &url, &flaw);
    if (e != SEINE_OK)
        return e == SEINE_E_NOMEM ? e : SEINE_E_INVAL;
    sn_buf_init_secret(&bytes, SIZE_MAX);
    sn_ask_bytes_write(ask, &bytes);
    e = sn_buf_done(&bytes);
    if (e == SEINE_OK)
        e = sn_record_items_lead(items, &(sn_item_lead){.url = seine_url_href(&url),
                                                        .rest = sn_buf_view(&bytes)});
    sn_buf_fini(&bytes);
    return e;
}

seine_err
seine_fleet_moved(seine_record_items *items, seine_view from, seine_view to)
{
    return items ? sn_record_items_lead(items, &(sn_item_lead){from, to, true})
                 : SEINE_E_INVAL;
}

void
seine_fleet_hear(seine_fleet *f, void (*fn)(seine_view url, bool is_moved, void *arg),
                 void *arg)
{
    if (!f)
        return;
    f->heard_of = fn;
    f->hear_arg = arg;
}

/* What the keeper hears. */

/* Prints of one tenure are no prints of another: what was not committed in an earlier one
 * is new in this one. */
static uint64_t
mix(uint64_t number, uint64_t print)
{
    return print ^ (number >> 40) * UINT64_C(0x9e3779b97f4a7c15);
}

static seine_err
on_prints(uint64_t number, const uint64_t *prints, size_t n, void *arg)
{
    seine_fleet *f = arg;
    uint64_t mixed[1024];
    uint8_t is_new[1024];
    seine_err e = SEINE_OK;

    for (size_t at = 0; at < n && e == SEINE_OK;) {
        size_t some = n - at < 1024 ? n - at : 1024;

        for (size_t i = 0; i < some; i++)
            mixed[i] = mix(number, prints[at + i]);
        e = seine_seen_add_many(f->owned, mixed, some, is_new);
        at += some;
    }
    return e == SEINE_E_FULL ? SEINE_E_NOMEM : e;
}

/* No host of the partition is asked before its interval has passed: the worker before may
 * have asked it just now. */
static seine_err
on_acquired(uint32_t part, bool again, void *arg)
{
    seine_fleet *f = arg;
    seine_clock *clock = f->shared->opts.clock;
    seine_time at = sn_time_add(clock->now(clock), sn_fetch_first_interval(f->fetch));

    (void)part;
    (void)again;
    if (at > atomic_load(&f->shared->earliest))
        atomic_store(&f->shared->earliest, at);
    return SEINE_OK;
}

static sn_run *
run_of(const seine_fleet *f, const seine_url *url)
{
    return f->runs[sn_shared_state_shard(f->shared, url, f->n)];
}

typedef struct host_errand {
    sn_errand base;
    sn_job_host row;
    char name[];
} host_errand;

static void
restore_host(sn_run *r, sn_errand *own, seine_time now)
{
    host_errand *h = (host_errand *)own;

    /* A host that cannot be restored waits its first interval. */
    (void)!sn_run_restore_host(r, &h->row, now);
    sn_free(h);
}

static seine_err
on_host(const sn_job_host *row, void *arg)
{
    seine_fleet *f = arg;
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, row->name.ptr, row->name.len, NULL) != SEINE_OK)
        return SEINE_OK;
    host_errand *h = sn_alloc(sizeof *h + row->name.len);
    if (!h)
        return SEINE_E_NOMEM;
    *h = (host_errand){.base = {.run = restore_host}, .row = *row};
    memcpy(h->name, row->name.ptr, row->name.len);
    h->row.name = (sn_str){h->name, row->name.len};
    sn_run_errand(run_of(f, &url), &h->base);
    return SEINE_OK;
}

typedef struct pattern_errand {
    sn_errand base;
    uint64_t key;
    uint32_t pages;
    bool is_trap;
    size_t len;
    char name[];
} pattern_errand;

static void
restore_pattern(sn_run *r, sn_errand *own, seine_time now)
{
    pattern_errand *p = (pattern_errand *)own;

    sn_run_restore_count(r, (sn_str){p->name, p->len}, p->key, p->pages, p->is_trap, now);
    sn_free(p);
}

static seine_err
on_pattern(sn_str name, uint64_t key, uint32_t pages, bool is_trap, void *arg)
{
    seine_fleet *f = arg;
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, name.ptr, name.len, NULL) != SEINE_OK)
        return SEINE_OK;
    pattern_errand *p = sn_alloc(sizeof *p + name.len);
    if (!p)
        return SEINE_E_NOMEM;
    *p = (pattern_errand){.base = {.run = restore_pattern},
                          .key = key,
                          .pages = pages,
                          .is_trap = is_trap,
                          .len = name.len};
    memcpy(p->name, name.ptr, name.len);
    sn_run_errand(run_of(f, &url), &p->base);
    return SEINE_OK;
}

typedef struct kept_errand {
    sn_errand base;
    size_t len;
    char name[];
} kept_errand;

static void
tell_kept(sn_run *r, sn_errand *own, seine_time now)
{
    kept_errand *k = (kept_errand *)own;

    (void)now;
    sn_run_host_kept(r, (sn_str){k->name, k->len});
    sn_free(k);
}

/* Without memory the host would wait for ever. */
static void
on_kept(sn_str name, void *arg)
{
    seine_fleet *f = arg;
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, name.ptr, name.len, NULL) != SEINE_OK)
        return;
    kept_errand *k = sn_alloc(sizeof *k + name.len);
    if (!k) {
        sn_fleet_give_up(f->worker, SEINE_E_NOMEM);
        return;
    }
    *k = (kept_errand){.base = {.run = tell_kept}, .len = name.len};
    memcpy(k->name, name.ptr, name.len);
    sn_run_errand(run_of(f, &url), &k->base);
}

/* The print of a page, of a sitemap, or of a text that is no URL. */
static uint64_t
print_of(const seine_fleet *f, const sn_fleet_link *l)
{
    char mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM + 16];
    bool is_map = l->url.kind == SN_JOB_SITEMAP;
    size_t head = is_map ? 8 : 0, len = 0;
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    memcpy(key, "sitemap ", 8);
    if (seine_url_parse(&url, l->url.target.ptr, l->url.target.len, NULL) == SEINE_OK &&
        seine_url_key(&url, is_map ? NULL : f->shared->opts.strip_params, key + head,
                      SEINE_URL_ROOM, &len) == SEINE_OK)
        return seine_seen_print(f->shared->seen, key, head + len);
    return seine_seen_print(f->shared->seen, l->url.target.ptr, l->url.target.len);
}

static seine_err
on_print(const sn_fleet_link *l, uint64_t number, uint64_t *out_print, bool *out_known,
         void *arg)
{
    seine_fleet *f = arg;
    uint64_t print = print_of(f, l), mixed = mix(number, print);
    uint8_t is_new = 0;
    seine_err e = seine_seen_add_many(f->owned, &mixed, 1, &is_new);

    if (e != SEINE_OK)
        return e == SEINE_E_FULL ? SEINE_E_NOMEM : e;
    *out_print = print;
    *out_known = !is_new;
    if (!is_new)
        atomic_fetch_add(&f->shared->duplicates, 1);
    return SEINE_OK;
}

static char *
put_text(char *at, sn_str from, sn_str *out)
{
    if (from.len > 0)
        memcpy(at, from.ptr, from.len);
    *out = (sn_str){at, from.len};
    return at + from.len;
}

static seine_err
keep_seed(seine_fleet *f, const sn_fleet_link *l, uint64_t number)
{
    waiting_seed *s =
        sn_alloc(sizeof *s + l->url.target.len + l->url.parent.len + l->ask.len);

    if (!s)
        return SEINE_E_NOMEM;
    *s = (waiting_seed){.number = number, .line = l->url.line};
    char *at = put_text(s->bytes, l->url.target, &s->url);
    at = put_text(at, l->url.parent, &s->input);
    (void)put_text(at, l->ask, &s->ask);
    *f->last = s;
    f->last = &s->next;
    f->n_seeds++;
    return SEINE_OK;
}

/* One unit of work more, unless the fetch is closed: then its shards may be gone, and the
 * URL stays in its inbox. */
static bool
add_work(seine_fleet *f)
{
    sn_shared_state *c = f->shared;

    atomic_fetch_add(&c->adding, 1);
    bool is_open = !atomic_load(&c->closed);
    if (is_open)
        sn_shared_state_add_work(c, 1);
    atomic_fetch_sub(&c->adding, 1);
    if (!is_open)
        seine_fetch_wake(f->fetch); /* somebody may have waited for this call */
    return is_open;
}

static seine_err
on_url(const sn_fleet_link *l, uint64_t number, void *arg)
{
    seine_fleet *f = arg;
    char mem[SEINE_URL_ROOM];
    seine_url url;
    sn_link link = {.url = l->url.target,
                    .parent = l->url.parent,
                    .number = number,
                    .line = l->url.line,
                    .depth = l->url.depth,
                    .moved = l->url.moved,
                    .ceiling = l->url.ceiling,
                    .tag = l->url.tag,
                    .attr = l->url.attr,
                    .kind = l->url.kind};

    f->heard++;
    if (l->url.kind == SN_JOB_GIVEN)
        return keep_seed(f, l, number);
    uint32_t to = 0;
    seine_url_init(&url, mem, sizeof mem);
    if (seine_url_parse(&url, l->url.target.ptr, l->url.target.len, NULL) == SEINE_OK) {
        link.url = seine_url_href(&url);
        to = sn_shared_state_shard(f->shared, &url, f->n);
    } else if (l->url.kind != SN_JOB_LATE) {
        return SEINE_E_STATE_CORRUPT;
    }
    if (l->url.kind == SN_JOB_LATE)
        link.leader = (uint8_t)(l->url.flags & ~SN_FLEET_AT_END);
    if (!add_work(f))
        return SEINE_OK;
    seine_err e = sn_mail_write(&f->posts[to], &link);
    if (e != SEINE_OK)
        sn_shared_state_end_work(f->shared, 1);
    return e;
}

static void
send_posts(seine_fleet *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->posts[i])
            sn_run_post(f->runs[i], SN_STEAL(f->posts[i]));
}

/* Given URLs become visits at once, as many as there is room for. */
static seine_err
give_seeds(seine_fleet *f)
{
    seine_err e = SEINE_OK;

    while (f->first && e == SEINE_OK) {
        const waiting_seed *s = f->first;
        seine_ask ask = SEINE_ASK;
        sn_arena memory;

        sn_arena_init(&memory, 4096, SIZE_MAX);
        e = sn_ask_bytes_read(s->ask, &memory, &ask);
        ask.url = s->url;
        ask.input = s->input.len > 0 ? s->input : (sn_str){0};
        ask.line = s->line;
        if (e == SEINE_OK && f->shared->opts.on_again)
            f->shared->opts.on_again(&ask, f->shared->opts.arg);
        if (e == SEINE_OK)
            e = sn_fetch_give_again(f->fetch, &ask, s->number);
        if (e == SEINE_OK)
            sn_fleet_asked(f->worker, s->number);
        sn_arena_fini(&memory);
        if (e == SEINE_OK)
            drop_seed(f);
    }
    return e == SEINE_E_FULL || e == SEINE_E_CLOSED ? SEINE_OK : e;
}

/* The scope is around all seeds, also those of other partitions. */
static seine_err
on_seed(sn_str text, void *arg)
{
    seine_fleet *f = arg;
    char mem[SEINE_URL_ROOM];
    sn_scope_verdict verdict;
    seine_url_flaw flaw;
    seine_url url;

    if (f->heard_of)
        f->heard_of(text, false, f->hear_arg);
    seine_url_init(&url, mem, sizeof mem);
    if (!f->shared->scope || sn_admit_parse(text, &url, &flaw) != SEINE_OK)
        return SEINE_OK;
    sn_scope_judge(f->shared->scope, &url, true, &verdict);
    return verdict.in ? sn_scope_seed(f->shared->scope, &url) : SEINE_OK;
}

static seine_err
on_widened(sn_str from_text, sn_str to_text, void *arg)
{
    seine_fleet *f = arg;
    char from_mem[SEINE_URL_ROOM], to_mem[SEINE_URL_ROOM];
    seine_url from, to;

    if (f->heard_of)
        f->heard_of(to_text, true, f->hear_arg);
    seine_url_init(&from, from_mem, sizeof from_mem);
    seine_url_init(&to, to_mem, sizeof to_mem);
    if (!f->shared->scope ||
        seine_url_parse(&from, from_text.ptr, from_text.len, NULL) != SEINE_OK ||
        seine_url_parse(&to, to_text.ptr, to_text.len, NULL) != SEINE_OK)
        return SEINE_OK;
    return sn_scope_widen(f->shared->scope, &from, &to);
}

static void
on_renewed(void *arg)
{
    const seine_fleet *f = arg;

    seine_fetch_wake(f->fetch);
}

static void
on_paused(bool is, void *arg)
{
    const seine_fleet *f = arg;

    atomic_store(&f->shared->paused, is);
    seine_fetch_wake(f->fetch);
}

static bool
on_is_idle(void *arg)
{
    const seine_fleet *f = arg;

    return f->n_seeds == 0 && sn_shared_state_load(f->shared).work == 0;
}

static uint64_t
on_backlog(void *arg)
{
    const seine_fleet *f = arg;

    return f->n_seeds;
}

/* The thread. */

/* Hosts whose robots.txt cannot be had are given up when nothing else is left to do, and
 * nothing has come for a while. */
static void
look_at_stuck(seine_fleet *f)
{
    sn_load load = sn_shared_state_load(f->shared);
    seine_clock *clock = f->shared->opts.clock;
    seine_time now = clock->now(clock);
    bool is_stuck = load.work > 0 && load.work == load.stuck && f->n_seeds == 0 &&
                    f->heard == f->heard_before;

    f->heard_before = f->heard;
    if (!is_stuck) {
        f->stuck_since = SEINE_NEVER;
        if (load.stuck == 0)
            atomic_store(&f->shared->gives_up, false);
        return;
    }
    if (f->stuck_since == SEINE_NEVER)
        f->stuck_since = now;
    if (now - f->stuck_since < STUCK_FOR || atomic_load(&f->shared->gives_up))
        return;
    atomic_store(&f->shared->gives_up, true);
    seine_fetch_wake(f->fetch);
}

/* Everything of the job has ended. What is left here belonged to partitions that are
 * another worker's. */
static void
end_fetch(seine_fleet *f, seine_fleet_state state)
{
    atomic_store(&f->state, (int)state);
    if (state == SEINE_FLEET_OVER && on_is_idle(f))
        seine_fetch_close(f->fetch);
    else
        seine_fetch_stop(f->fetch, SEINE_E_CANCELED);
}

static sn_fleet_hooks
hooks_of(seine_fleet *f)
{
    return (sn_fleet_hooks){.acquired = on_acquired,
                            .prints = on_prints,
                            .host = on_host,
                            .kept = on_kept,
                            .pattern = on_pattern,
                            .print = on_print,
                            .url = on_url,
                            .seed = on_seed,
                            .widened = on_widened,
                            .renewed = on_renewed,
                            .paused = on_paused,
                            .is_idle = on_is_idle,
                            .backlog = on_backlog,
                            .arg = f};
}

bool
sn_fleet_keeper_turn(seine_fleet *f)
{
    static const seine_fleet_state states[] = {
        [SN_FLEET_GOING] = SEINE_FLEET_WORKING,
        [SN_FLEET_OVER] = SEINE_FLEET_OVER,
        [SN_FLEET_STOPPED] = SEINE_FLEET_STOPPED,
        [SN_FLEET_FAILED] = SEINE_FLEET_FAILED,
    };
    sn_fleet_hooks hooks = hooks_of(f);

    if (atomic_load(&f->shared->stop) != SN_GOING)
        sn_fleet_leave(f->worker);
    sn_fleet_state state = sn_fleet_tick(f->worker, &hooks, &f->why);
    send_posts(f);
    seine_err e = give_seeds(f);
    if (e != SEINE_OK)
        sn_fleet_give_up(f->worker, e);
    look_at_stuck(f);
    if (state != SN_FLEET_GOING && !f->has_ended) {
        end_fetch(f, states[state]);
        f->has_ended = true;
        sn_fleet_leave(f->worker);
    }
    return state != SN_FLEET_FAILED;
}

void
sn_fleet_keeper_leave(seine_fleet *f)
{
    sn_fleet_hooks hooks = hooks_of(f);

    sn_fleet_leave(f->worker);
    sn_fleet_refresh(f->worker, &hooks);
}

static void *
run_thread(void *arg)
{
    seine_fleet *f = arg;

    while (!atomic_load(&f->is_ending))
        if (!sn_fleet_keeper_turn(f))
            return NULL;
    sn_fleet_keeper_leave(f);
    return NULL;
}

seine_err
sn_fleet_keeper_join(seine_fleet *f, seine_fetch *fetch)
{
    seine_seen_opts seen = SEINE_SEEN_OPTS;

    f->fetch = fetch;
    f->shared = sn_fetch_shared(fetch);
    f->runs = sn_fetch_runs(fetch, &f->n);
    if (!f->shared->fleet || !f->shared->seen)
        return SEINE_E_INVAL; /* not made with the job, or without keys */
    f->shared->tenure_wait = sn_fetch_first_interval(fetch);
    f->posts = sn_calloc(f->n, sizeof(sn_post *));
    return f->posts ? seine_seen_new(&seen, &f->owned) : SEINE_E_NOMEM;
}

seine_err
seine_fleet_start(seine_fleet *f, seine_fetch *fetch)
{
    if (!f || !fetch || f->has_thread)
        return SEINE_E_INVAL;
    seine_err e = sn_fleet_keeper_join(f, fetch);
    if (e != SEINE_OK)
        return e;
    if (pthread_create(&f->thread, NULL, run_thread, f) != 0)
        return SEINE_E_NOMEM;
    f->has_thread = true;
    pthread_setname_np(f->thread, "sn-fleet");
    return SEINE_OK;
}

/* Asking. */

const char *
seine_fleet_warning(const seine_fleet *f)
{
    return f ? f->warning : "";
}

seine_durable_job *
seine_fleet_job(seine_fleet *f)
{
    return f ? sn_fleet_job(f->worker) : NULL;
}

const char *
seine_fleet_command(const seine_fleet *f)
{
    return f ? sn_fleet_command(f->worker) : NULL;
}

bool
seine_fleet_is_new(const seine_fleet *f)
{
    return f && sn_fleet_is_new(f->worker);
}

bool
seine_fleet_said(const seine_fleet *f, uint64_t *io_rev, char *out, size_t room)
{
    return f && io_rev && out && sn_fleet_said(f->worker, io_rev, out, room);
}

bool
seine_fleet_is_seeded(const seine_fleet *f)
{
    return f && sn_fleet_is_seeded(f->worker);
}

seine_fleet_state
seine_fleet_state_get(const seine_fleet *f)
{
    return f ? (seine_fleet_state)atomic_load(&f->state) : SEINE_FLEET_FAILED;
}

seine_err
seine_fleet_err(const seine_fleet *f, seine_diag *diag)
{
    seine_err e = f ? sn_fleet_err(f->worker) : SEINE_E_INVAL;

    sn_diag_clear(diag);
    if (f && diag && e != SEINE_OK)
        *diag = *sn_fleet_why(f->worker);
    return e;
}

void
seine_fleet_figures_get(const seine_fleet *f, seine_fleet_figures *out)
{
    sn_fleet_figures n;

    if (!f || !out)
        return;
    sn_fleet_figures_get(f->worker, &n);
    *out = (seine_fleet_figures){.partitions = n.parts,
                                 .held = n.held,
                                 .workers = n.workers,
                                 .waiting = n.waiting,
                                 .commits = n.commits,
                                 .records = n.records,
                                 .links = n.links,
                                 .blocks = n.blocks,
                                 .fenced = n.fenced,
                                 .is_away = n.is_away,
                                 .is_full = n.is_full};
}
