/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "net/dns_cache.h"
#include "net/dns_channel.h"
#include "net/dns_local.h"
#include "seine/breaker.h"

#define QUESTIONS 256          /* in flight at once */
#define DELAY     SEINE_MS(50) /* how long to wait for the other family */
#define TICK      SEINE_MS(50) /* how often c-ares checks its retransmissions */
#define HOSTS     "/etc/hosts"
#define HOSTS_MAX (1 << 20)

enum { V4, V6 };

/* One of the two questions (A, AAAA) about a name. */
typedef struct half {
    sn_dns_query query; /* first */
    struct sn_question *question;
    seine_err e;  /* BUSY: not answered yet */
    bool nowhere; /* NXDOMAIN: no such name in any family */
    int64_t ttl;  /* seconds */
} half;

/* A name that is being looked up. A question waits in the queue, then for c-ares, then it
 * is settled and freed. */
typedef struct sn_question {
    sn_dns *dns;
    struct sn_question *next, **prev; /* in the queue; when settled only next */
    sn_str name;                      /* points into text */
    half half[2];
    unsigned owed;     /* answers that c-ares still owes */
    uint32_t bad_from; /* malformed ones that came before it was asked */
    bool queued, told; /* told: all who waited have an answer, or get it from the cache */
    sn_dns_answer answer;
    sn_lookup *waiters;
    sn_timer timer; /* when to go on without the missing answer */
    seine_permit permit;
    char text[];
} question;

struct sn_dns {
    sn_loop *loop;
    sn_dns_channels channels;
    seine_family family;
    seine_span timeout;
    sn_dns_local known;
    sn_dns_cache cache;
    sn_map questions;
    question *queue, **queue_end;
    question *settled;
    unsigned asked; /* questions that wait for c-ares */
    sn_timer tick, soon;
    unsigned timers; /* timers reserved, of these two */
    seine_breaker breaker;
    sn_dns_stats stats;
    sn_dns_answer answer; /* to the last ask */
};

/* Names with broken name servers must not open the resolver's breaker: it opens only if
 * nearly all questions of ten seconds failed, and not after a few failures in a row. */
static const seine_breaker_opts breaker_opts = {
    .size = sizeof(seine_breaker_opts),
    .half_open_max = 1,
    .success_threshold = 1,
    .open_growth_pct = 200,
    .window_time = SEINE_SECS(10),
    .min_calls = 20,
    .failure_pct = 95,
    .open_for = SEINE_SECS(5),
    .open_max = SEINE_SECS(30),
};

/* -- questions -- */

static bool
has_addresses(const question *q)
{
    return q->answer.n4 + q->answer.n6 > 0;
}

/* Has a malformed response come since the name was asked for, about that name? Or, unless
 * `by_name`, about one that cannot be read. */
static bool
was_malformed(const question *q, bool by_name)
{
    return sn_dns_channels_saw_bad(&q->dns->channels, q->bad_from, q->name, by_name);
}

/* A server that sends what cannot be read is neither silent nor failing. */
static seine_err
name_failure(const question *q, seine_err e)
{
    bool is_silent = e == SEINE_E_BUSY || e == SEINE_E_DNS_TIMEOUT;

    if ((is_silent || e == SEINE_E_DNS_SERVFAIL) && was_malformed(q, false))
        return SEINE_E_DNS_ERROR;
    return is_silent ? SEINE_E_DNS_TIMEOUT : e;
}

/* Decides from the answers so far; a missing answer counts as timed out. The most
 * specific failure gives the error. */
static seine_err
verdict(const question *q)
{
    static const seine_err order[] = {SEINE_E_DNS_SERVFAIL, SEINE_E_DNS_ERROR,
                                      SEINE_E_NO_FILES,     SEINE_E_NOMEM,
                                      SEINE_E_BUSY,         SEINE_E_DNS_TIMEOUT};

    if (has_addresses(q))
        return SEINE_OK;
    if (q->half[V4].nowhere || q->half[V6].nowhere)
        return SEINE_E_DNS_NXDOMAIN;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (q->half[V4].e == order[i] || q->half[V6].e == order[i])
            return name_failure(q, order[i]);
    return SEINE_E_DNS_NXDOMAIN;
}

static seine_span
keep_span(const question *q, seine_err e)
{
    int64_t ttl = INT64_MAX;

    for (int v = V4; v <= V6; v++)
        if (q->half[v].e == SEINE_OK)
            ttl = sn_time_min(ttl, q->half[v].ttl);
    return sn_dns_keep(e, ttl);
}

static void
count(sn_dns *d, seine_err e)
{
    d->stats.ok += e == SEINE_OK;
    d->stats.nxdomain += e == SEINE_E_DNS_NXDOMAIN;
    d->stats.timeouts += e == SEINE_E_DNS_TIMEOUT;
    d->stats.errors +=
        e != SEINE_OK && e != SEINE_E_DNS_NXDOMAIN && e != SEINE_E_DNS_TIMEOUT;
}

static seine_outcome
outcome(seine_err e)
{
    if (e == SEINE_OK || e == SEINE_E_DNS_NXDOMAIN)
        return SEINE_SUCCESS;
    if (e == SEINE_E_NOMEM || e == SEINE_E_NO_FILES)
        return SEINE_IGNORED;
    return SEINE_FAILURE;
}

static void
detach(sn_dns *d, sn_lookup *l)
{
    *l->prev = l->next;
    if (l->next)
        l->next->prev = l->prev;
    l->prev = NULL;
    l->next = NULL;
    l->question = NULL;
    sn_timer_forget(d->loop, &l->timer);
}

static void
tell_lookup(sn_dns *d, sn_lookup *l, seine_err e, const sn_dns_answer *a)
{
    detach(d, l);
    l->done(l, e, e == SEINE_OK ? a : NULL);
}

/* A callback may ask again, also for this name, and cancel others that wait. So the list
 * is detached first, and the answer is a copy. */
static void
conclude(question *q)
{
    sn_dns *d = q->dns;
    seine_time now = d->loop->now;
    seine_err e = verdict(q);
    seine_span kept = keep_span(q, e);
    sn_lookup *list = q->waiters;
    sn_dns_answer a = q->answer;

    if (kept > 0)
        sn_dns_cache_put(&d->cache, q->name, e, &a, sn_time_add(now, kept));
    if (!q->told)
        count(d, e);
    q->told = true;
    if (q->permit.held) {
        seine_err settled;

        q->permit.why = (uint16_t)e;
        settled = seine_breaker_settle(&d->breaker, &q->permit, outcome(e), now);
        (void)settled; /* the caller holds it */
    }
    q->waiters = NULL;
    if (list)
        list->prev = &list;
    while (list)
        tell_lookup(d, list, e, &a);
}

static void
unqueue(question *q)
{
    sn_dns *d = q->dns;

    *q->prev = q->next;
    *(q->next ? &q->next->prev : &d->queue_end) = q->prev;
    q->queued = false;
}

static void
enqueue(sn_dns *d, question *q)
{
    q->queued = true;
    q->next = NULL;
    q->prev = d->queue_end;
    *q->prev = q;
    d->queue_end = &q->next;
}

static void
drop_question(question *q)
{
    sn_dns *d = q->dns;

    sn_map_take(&d->questions, q->name);
    sn_timer_forget(d->loop, &q->timer);
    sn_free(q);
}

static void
settle_question(question *q)
{
    q->next = q->dns->settled;
    q->dns->settled = q;
}

/* Calls nobody back, because it may run inside ask. */
static void
on_answer(sn_dns_query *query, const sn_dns_found *found)
{
    half *h = (half *)(void *)query;
    question *q = h->question;
    sn_dns *d = q->dns;

    h->e = found->e;
    if (found->is_empty && was_malformed(q, true))
        h->e = SEINE_E_DNS_ERROR; /* its records could not be read */
    h->nowhere = found->nowhere;
    h->ttl = found->ttl;
    for (uint8_t i = 0; i < found->names.n4; i++)
        sn_dns_answer_add(&q->answer, &found->names.v4[i]);
    for (uint8_t i = 0; i < found->names.n6; i++)
        sn_dns_answer_add(&q->answer, &found->names.v6[i]);
    if (--q->owed == 0) {
        d->asked--;
        settle_question(q);
    } else if (has_addresses(q) && q->waiters) {
        sn_timer_set(d->loop, &q->timer, sn_time_add(d->loop->now, DELAY));
    }
}

static bool
is_set(const sn_timer *t)
{
    return t->slot > 0 && t->at != SEINE_NEVER;
}

/* Sends both questions. Either may be answered before it returns. */
static void
ask(question *q, seine_time now)
{
    sn_dns *d = q->dns;
    bool wanted[] = {
        [V4] = d->family != SEINE_FAMILY_6, [V6] = d->family != SEINE_FAMILY_4};

    if (seine_breaker_acquire(&d->breaker, now, &q->permit) != SEINE_OK) {
        q->half[V4].e = q->half[V6].e = SEINE_E_DNS_SERVFAIL;
        settle_question(q);
        return;
    }
    d->asked++;
    q->bad_from = d->channels.n_bad;
    q->owed = (unsigned)wanted[V4] + (unsigned)wanted[V6];
    sn_timer_set(d->loop, &q->timer, sn_time_add(now, d->timeout));
    if (!is_set(&d->tick))
        sn_timer_set(d->loop, &d->tick, sn_time_add(now, TICK));
    for (int v = V6; v >= V4; v--) {
        q->half[v] = (half){.query = {.done = on_answer},
                            .question = q,
                            .e = wanted[v] ? SEINE_E_BUSY : SEINE_E_DNS_NXDOMAIN};
        if (wanted[v])
            sn_dns_channels_ask(&d->channels, q->text, v == V4 ? 4 : 6,
                                &q->half[v].query);
    }
}

/* Calls back for settled questions, then sends queued ones. */
static void
flush(sn_dns *d)
{
    question *q;

    for (;;) {
        if ((q = d->settled)) {
            d->settled = q->next;
            sn_map_take(&d->questions, q->name);
            conclude(q);
            sn_timer_forget(d->loop, &q->timer);
            sn_free(q);
        } else if (d->queue && d->asked < QUESTIONS) {
            q = d->queue;
            unqueue(q);
            ask(q, d->loop->now);
        } else {
            break;
        }
    }
    sn_dns_channels_sweep(&d->channels);
}

static void
on_events(void *arg)
{
    flush(arg);
}

static void
on_soon(sn_timer *t, seine_time now)
{
    (void)now;
    flush((sn_dns *)(void *)((char *)t - offsetof(sn_dns, soon)));
}

static void
on_tick(sn_timer *t, seine_time now)
{
    sn_dns *d = (sn_dns *)(void *)((char *)t - offsetof(sn_dns, tick));

    sn_dns_channels_tick(&d->channels);
    flush(d);
    if (d->asked > 0 && !is_set(t))
        sn_timer_set(d->loop, t, sn_time_add(now, TICK));
}

/* The other family is late, or both are. c-ares cannot be cancelled; its late answer goes
 * to the cache. */
static void
on_moment(sn_timer *t, seine_time now)
{
    (void)now;
    conclude((question *)(void *)((char *)t - offsetof(question, timer)));
}

seine_err
sn_dns_why(const sn_lookup *l)
{
    seine_err e = l->question ? verdict(l->question) : SEINE_E_DNS_TIMEOUT;

    return e == SEINE_OK || e == SEINE_E_DNS_NXDOMAIN ? SEINE_E_DNS_TIMEOUT : e;
}

static void
on_deadline(sn_timer *t, seine_time now)
{
    sn_lookup *l = (sn_lookup *)(void *)((char *)t - offsetof(sn_lookup, timer));
    question *q = l->question;
    sn_dns *d = q->dns;
    sn_dns_answer a = q->answer;
    seine_err e = has_addresses(q) ? SEINE_OK : sn_dns_why(l);

    (void)now;
    detach(d, l);
    if (q->queued && !q->waiters) {
        count(d, e);
        unqueue(q);
        drop_question(q);
    }
    l->done(l, e, e == SEINE_OK ? &a : NULL);
}

static seine_err
make_question(sn_dns *d, sn_str name, question **out)
{
    question *q = sn_zalloc(sizeof *q + name.len + 1);

    if (!q)
        return SEINE_E_NOMEM;
    memcpy(q->text, name.ptr, name.len);
    q->name = (sn_str){q->text, name.len};
    q->dns = d;
    q->timer.fire = on_moment;
    seine_err e = sn_timer_reserve(d->loop);
    if (e == SEINE_OK) {
        e = sn_map_add(&d->questions, q->name, q);
        if (e != SEINE_OK)
            sn_timer_forget(d->loop, &q->timer);
    }
    if (e != SEINE_OK) {
        sn_free(q);
        return SEINE_E_NOMEM;
    }
    *out = q;
    return SEINE_OK;
}

static void
join(question *q, sn_lookup *l, seine_time deadline)
{
    l->question = q;
    l->next = q->waiters;
    l->prev = &q->waiters;
    if (l->next)
        l->next->prev = &l->next;
    q->waiters = l;
    l->timer = (sn_timer){.fire = on_deadline};
    sn_timer_set(q->dns->loop, &l->timer, deadline);
}

/* Starts a new question, or queues it. */
static seine_err
begin_question(sn_dns *d, sn_str name, seine_time now, question **out)
{
    if (seine_breaker_when(&d->breaker, now) > now) {
        count(d, SEINE_E_DNS_SERVFAIL);
        return SEINE_E_DNS_SERVFAIL;
    }
    seine_err e = make_question(d, name, out);
    if (e != SEINE_OK)
        return e;
    if (d->asked < QUESTIONS && !d->queue)
        ask(*out, now);
    else
        enqueue(d, *out);
    if (d->settled)
        sn_timer_set(d->loop, &d->soon, now);
    return SEINE_OK;
}

seine_err
sn_dns_ask(sn_dns *d, sn_str name, uint16_t port, seine_time now, seine_time deadline,
           sn_lookup *l)
{
    d->answer.n4 = d->answer.n6 = 0;
    l->answer = &d->answer;
    seine_err e = sn_dns_local_ask(&d->known, name, port, &d->answer);
    if (e == SEINE_E_BUSY && !sn_dns_cache_get(&d->cache, name, now, &e, &d->answer))
        e = SEINE_E_BUSY;
    if (e != SEINE_E_BUSY) {
        d->stats.hits += e != SEINE_E_DNS_BAD_NAME;
        return e;
    }
    question *q = sn_map_get(&d->questions, name);
    if (q && q->told && has_addresses(q)) {
        d->stats.hits++;
        d->answer = q->answer;
        return SEINE_OK;
    }
    if (deadline <= now)
        return SEINE_E_DNS_TIMEOUT;
    if (sn_timer_reserve(d->loop) != SEINE_OK)
        return SEINE_E_NOMEM;
    e = q ? SEINE_OK : begin_question(d, name, now, &q);
    if (e != SEINE_OK) {
        sn_timer_forget(d->loop, &(sn_timer){0});
        return e;
    }
    if (q->owed > 0 && !is_set(&q->timer)) /* given up, and now asked for again */
        sn_timer_set(d->loop, &q->timer, sn_time_add(now, d->timeout));
    join(q, l, deadline);
    return SEINE_E_BUSY;
}

void
sn_dns_cancel(sn_dns *d, sn_lookup *l)
{
    if (!l->prev)
        return;
    question *q = l->question;
    detach(d, l);
    if (q->queued && !q->waiters) {
        unqueue(q);
        drop_question(q);
    }
}

void
sn_dns_stats_get(const sn_dns *d, sn_dns_stats *out_stats)
{
    *out_stats = d->stats;
}

/* -- construction -- */

/* A hosts file that is missing or unreadable is ignored. */
static seine_err
read_hosts(sn_dns *d)
{
    int fd = open(HOSTS, O_RDONLY | O_CLOEXEC);
    char *text SN_AUTOFREE = fd >= 0 ? sn_alloc(HOSTS_MAX) : NULL;
    size_t n = 0;
    ssize_t got = 1;

    if (fd < 0)
        return SEINE_OK;
    while (text && got > 0 && n < HOSTS_MAX) {
        got = read(fd, text + n, HOSTS_MAX - n);
        n += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    if (!text)
        return SEINE_E_NOMEM;
    while (n == HOSTS_MAX && text[n - 1] != '\n' && n > 1)
        n--; /* an incomplete last line */
    return sn_dns_local_hosts(&d->known, (sn_str){text, n});
}

static seine_err
use_resolve(sn_dns *d, const char *const *entries, seine_diag *diag)
{
    for (; entries && *entries; entries++) {
        seine_err e = sn_dns_local_resolve(&d->known, sn_str_of(*entries));

        if (e == SEINE_E_INVAL)
            return sn_diag_value(diag, "resolve", sn_str_of(*entries),
                                 "not HOST:PORT:ADDR");
        if (e != SEINE_OK)
            return SEINE_E_NOMEM;
    }
    return SEINE_OK;
}

static seine_err
set_up(sn_dns *d, const sn_dns_opts *opts, seine_diag *diag)
{
    seine_err e = seine_breaker_init(&d->breaker, &breaker_opts);

    for (; e == SEINE_OK && d->timers < 2; d->timers += e == SEINE_OK)
        e = sn_timer_reserve(d->loop);
    if (e == SEINE_OK)
        e = use_resolve(d, opts->resolve, diag);
    if (e == SEINE_OK)
        e = read_hosts(d);
    if (e == SEINE_OK)
        e = sn_dns_channels_init(&d->channels, opts->server, d->timeout, diag);
    return e;
}

seine_err
sn_dns_new(sn_loop *loop, const sn_dns_opts *opts, sn_dns **out_dns, seine_diag *diag)
{
    sn_dns *d = sn_zalloc(sizeof *d);

    if (!d)
        return SEINE_E_NOMEM;
    d->loop = loop;
    d->family = opts->family;
    d->timeout = opts->timeout > 0 ? opts->timeout : SEINE_SECS(5);
    d->queue_end = &d->queue;
    d->channels = (sn_dns_channels){.loop = loop, .after = on_events, .arg = d};
    d->tick.fire = on_tick;
    d->soon.fire = on_soon;
    sn_dns_local_init(&d->known, opts->family);
    sn_dns_cache_init(&d->cache, opts->max_names > 0 ? opts->max_names : 65536);
    sn_map_init(&d->questions, SIZE_MAX / 128);

    seine_err e = set_up(d, opts, diag);
    if (e != SEINE_OK) {
        sn_dns_free(d);
        return e;
    }
    *out_dns = d;
    return SEINE_OK;
}

void
sn_dns_free(sn_dns *d)
{
    if (!d)
        return;
    sn_dns_channels_fini(&d->channels); /* ends every question */
    SN_MAP_EACH(entry, &d->questions) {
        question *q = entry->value;

        assert(!q->waiters);
        sn_timer_forget(d->loop, &q->timer);
        sn_free(q);
    }
    sn_map_fini(&d->questions);
    sn_dns_cache_fini(&d->cache);
    sn_dns_local_fini(&d->known);
    if (d->timers > 0)
        sn_timer_forget(d->loop, &d->tick);
    if (d->timers > 1)
        sn_timer_forget(d->loop, &d->soon);
    seine_breaker_fini(&d->breaker);
    sn_free(d);
}
