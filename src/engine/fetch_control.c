/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/fetch_control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "engine/fetch.h"
#include "engine/fetch_watch.h"
#include "engine/host_waits.h"
#include "engine/run.h"
#include "seine/timeline.h"

/* Pausing */

void
seine_fetch_pause(seine_fetch *f, bool is_paused)
{
    if (!f)
        return;
    atomic_store(&sn_fetch_shared(f)->paused, is_paused);
    seine_fetch_wake(f);
}

bool
seine_fetch_is_paused(const seine_fetch *f)
{
    return f && atomic_load(&sn_fetch_shared((seine_fetch *)f)->paused);
}

/* Limits */

static seine_err
check_rate(const seine_rate *rate, const char *member, seine_diag *diag)
{
    seine_limiter lim;

    if (rate->count > 0 && seine_limiter_init_rate(&lim, rate, SEINE_FULL, 0) != SEINE_OK)
        return sn_diag_option(diag, member, "contradicts itself");
    return SEINE_OK;
}

static seine_err
check_tune(const sn_shared_state *c, const seine_fetch_tune *t, seine_diag *diag)
{
    const seine_fetch_opts *o = &c->opts;
    uint32_t most = o->queue - o->queue / 9;
    seine_err e = SEINE_OK;

    if (t->host && (!*t->host || strlen(t->host) >= SN_TUNE_HOST))
        return sn_diag_option(diag, "host", "a host, or a host and a port");
    if (t->host && (t->has_rate || t->concurrency > 0))
        return sn_diag_option(diag, t->has_rate ? "rate" : "concurrency",
                              "is that of all hosts together");
    if (o->mine && (t->has_host_rate || t->per_host > 0))
        return sn_diag_option(diag, t->has_host_rate ? "host_rate" : "per_host",
                              "the hosts are yours: no limit per host holds");
    if (t->per_host > UINT16_MAX + 1)
        return sn_diag_option(diag, "per_host", "at most 65536");
    if (t->per_ip > UINT16_MAX)
        return sn_diag_option(diag, "per_ip", "at most 65535");
    if (t->per_ip > 0 && (t->host || !c->has_address_limits))
        return sn_diag_option(diag, "per_ip",
                              t->host ? "is that of all hosts together"
                                      : "no limit per address holds in this run");
    if (t->concurrency > most)
        return sn_diag_option(diag, "concurrency", "at most %u with this queue", most);
    if (t->has_rate)
        e = check_rate(&t->rate, "rate", diag);
    if (e == SEINE_OK && t->has_host_rate)
        e = check_rate(&t->host_rate, "host_rate", diag);
    return e;
}

/* The bucket of `rate`, made when it is needed; it lives as long as the fetch. */
static seine_err
set_rate(sn_shared_state *c, const seine_rate *rate, seine_time now,
         seine_shared **out_rate)
{
    seine_shared_opts o = SEINE_SHARED_OPTS;
    seine_err e = SEINE_OK;

    *out_rate = NULL;
    if (rate->count == 0)
        return SEINE_OK;
    o.rate = sn_shared_state_rate(*rate);
    o.initial = 0;
    pthread_mutex_lock(&c->tunes.lock);
    if (c->rate)
        e = seine_shared_set_rate(c->rate, now, &o.rate);
    else
        e = seine_shared_new(&o, now, &c->rate);
    *out_rate = c->rate;
    pthread_mutex_unlock(&c->tunes.lock);
    return e;
}

/* An address has four hosts' worth of starts, as at the beginning. */
static void
set_addresses(sn_shared_state *c, const seine_fetch_tune *t)
{
    const seine_rate *r = &t->host_rate;
    seine_span every = r->count > 0 ? seine_every(r->count, r->per) / 4 : 0;

    if (!t->has_host_rate || !c->has_address_limits)
        return;
    if (t->host && atomic_load(&c->address_limits.every) <= every)
        return; /* one host is slower than the others: that is its own affair */
    sn_address_limits_set(&c->address_limits, every);
}

static seine_err
apply(seine_fetch *f, const seine_fetch_tune *t, seine_diag *diag)
{
    sn_shared_state *c = sn_fetch_shared(f);
    seine_clock *clock = c->opts.clock;
    sn_tune tune = {.has_rate = t->has_rate,
                    .has_host_rate = t->has_host_rate,
                    .host_rate = t->host_rate,
                    .per_host = t->per_host};
    seine_err e = check_tune(c, t, diag);

    if (e != SEINE_OK)
        return e;
    snprintf(tune.host, sizeof tune.host, "%s", t->host ? t->host : "");
    if (t->has_rate)
        e = set_rate(c, &t->rate, clock->now(clock), &tune.rate);
    if (e == SEINE_OK)
        e = sn_tunes_put(&c->tunes, &tune);
    if (e != SEINE_OK)
        return e;
    if (t->concurrency > 0)
        e = seine_throttle_set(&c->in_flight, t->concurrency);
    set_addresses(c, t);
    if (t->per_ip > 0)
        sn_address_limits_set_cap(&c->address_limits, (uint16_t)t->per_ip);
    seine_fetch_wake(f);
    return e;
}

seine_err
seine_fetch_tune_set(seine_fetch *f, const seine_fetch_tune *t, seine_diag *diag)
{
    sn_diag_clear(diag);
    seine_fetch_tune own;
    if (!f || !sn_opts_read(&own, sizeof own, offsetof(seine_fetch_tune, per_ip), t))
        return SEINE_E_INVAL;
    const seine_fetch_opts *o = &sn_fetch_shared(f)->opts;
    if (own.rate.burst == 0)
        own.rate.burst = o->rate.burst > 0 ? o->rate.burst : 1;
    if (own.host_rate.burst == 0)
        own.host_rate.burst = o->host_rate.burst > 0 ? o->host_rate.burst : 1;
    seine_err e = apply(f, &own, diag);
    return e == SEINE_E_CONFIG ? SEINE_E_INVAL : e;
}

/* The shards take the table over; the one before lives on for visits that know it. */
static seine_err
put_table(seine_fetch *f, sn_host_policies *give)
{
    sn_shared_state *c = sn_fetch_shared(f);
    sn_tune tune = {.policies = give};
    seine_err e = sn_tunes_put(&c->tunes, &tune);

    if (e != SEINE_OK) {
        sn_host_policies_free(give);
        return e;
    }
    pthread_mutex_lock(&c->tunes.lock);
    sn_host_policies_keep(give, c->newest);
    c->newest = give;
    pthread_mutex_unlock(&c->tunes.lock);
    seine_fetch_wake(f);
    return SEINE_OK;
}

seine_err
seine_fetch_hosts_set(seine_fetch *f, const seine_host_opts *hosts, size_t n_hosts,
                      const seine_group_opts *groups, size_t n_groups, seine_diag *diag)
{
    sn_diag_clear(diag);
    if (!f || (!hosts && n_hosts > 0) || (!groups && n_groups > 0))
        return SEINE_E_INVAL;
    sn_shared_state *c = sn_fetch_shared(f);
    sn_host_list list = {hosts, n_hosts, groups, n_groups};
    sn_host_policies *table;
    seine_err e = sn_host_policies_new(&c->opts, &list, &c->groups, &table, diag);
    if (e != SEINE_OK)
        return e == SEINE_E_CONFIG ? SEINE_E_INVAL : e;
    return put_table(f, table);
}

seine_err
seine_fetch_breaker_reset(seine_fetch *f, const char *host)
{
    sn_tune tune = {.resets_breaker = true};

    if (!f || !host || !*host || strlen(host) >= SN_TUNE_HOST)
        return SEINE_E_INVAL;
    snprintf(tune.host, sizeof tune.host, "%s", host);
    seine_err e = sn_tunes_put(&sn_fetch_shared(f)->tunes, &tune);
    if (e == SEINE_OK)
        seine_fetch_wake(f);
    return e;
}

/* Waits */

uint64_t
seine_fetch_waits_ask(seine_fetch *f)
{
    return seine_fetch_waits_look(f, NULL);
}

uint64_t
seine_fetch_waits_look(seine_fetch *f, const seine_fetch_look *look)
{
    uint32_t n = 0;

    if (!f)
        return 0;
    uint64_t ticket = atomic_fetch_add(&sn_fetch_shared(f)->tickets, 1) + 1;
    sn_run *const *runs = sn_fetch_runs(f, &n);
    for (uint32_t i = 0; i < n; i++)
        sn_host_waits_ask(sn_run_waits(runs[i]), ticket, look);
    seine_fetch_wake(f);
    return ticket;
}

static int
by_number(const void *a, const void *b, void *sort)
{
    return sn_host_waits_compare(&((const sn_host_row *)a)->wait,
                                 &((const sn_host_row *)b)->wait,
                                 *(const seine_fetch_sort *)sort);
}

/* Those of all shards, in order; the caller frees them. False: not all have answered. */
static bool
gather_rows(const seine_fetch *f, uint64_t ticket, sn_host_row **out_rows, size_t *out_n)
{
    uint32_t n = 0;
    sn_run *const *runs = sn_fetch_runs(f, &n);
    sn_host_row *all = sn_calloc((size_t)n * SN_HOST_WAITS, sizeof *all);
    seine_fetch_sort sort = SEINE_SORT_WAITING;
    size_t sum = 0, got;

    for (uint32_t i = 0; all && i < n; i++) {
        if (!sn_host_waits_rows(sn_run_waits(runs[i]), ticket, all + sum, &got)) {
            sn_free(all);
            return false;
        }
        sort = sn_host_waits_sort(sn_run_waits(runs[i]));
        sum += got;
    }
    if (sum > 1)
        qsort_r(all, sum, sizeof *all, by_number, &sort);
    *out_rows = all;
    *out_n = sum;
    return true;
}

bool
sn_fetch_rows(const seine_fetch *f, uint64_t ticket, sn_host_row *out, size_t room,
              size_t *out_n)
{
    sn_host_row *all SN_AUTOFREE = NULL;
    size_t n = 0;

    if (!gather_rows(f, ticket, &all, &n))
        return false;
    *out_n = n < room ? n : room;
    if (*out_n > 0)
        memcpy(out, all, *out_n * sizeof *out);
    return true;
}

bool
seine_fetch_waits_get(const seine_fetch *f, uint64_t ticket, seine_fetch_wait *out,
                      size_t room, size_t *out_n)
{
    sn_host_row *all SN_AUTOFREE = NULL;
    size_t n = 0;

    if (!f || !out || !out_n || !gather_rows(f, ticket, &all, &n))
        return false;
    *out_n = n < room ? n : room;
    for (size_t i = 0; i < *out_n; i++)
        out[i] = all[i].wait;
    return true;
}

seine_err
seine_fetch_timeline(const seine_fetch *f, seine_timeline *into)
{
    uint32_t n = 0;
    seine_err e = SEINE_OK;

    if (!f || !into)
        return SEINE_E_INVAL;
    sn_run *const *runs = sn_fetch_runs(f, &n);
    for (uint32_t i = 0; i < n && e == SEINE_OK; i++)
        e = sn_run_timeline(runs[i], into);
    return e;
}
