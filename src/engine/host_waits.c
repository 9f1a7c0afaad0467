/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_waits.h"

#include <string.h>

#include "base/alloc.h"

void
sn_host_waits_init(sn_host_waits *w)
{
    *w = (sn_host_waits){.at = 0};
    pthread_mutex_init(&w->lock, NULL);
}

void
sn_host_waits_fini(sn_host_waits *w)
{
    pthread_mutex_destroy(&w->lock);
    sn_free(w->best);
    sn_free(w->shown);
}

void
sn_host_waits_ask(sn_host_waits *w, uint64_t ticket, const seine_fetch_look *look)
{
    pthread_mutex_lock(&w->lock);
    w->wish = look ? *look : (seine_fetch_look){.is_all = false};
    w->wish.match[sizeof w->wish.match - 1] = '\0';
    pthread_mutex_unlock(&w->lock);
    atomic_store_explicit(&w->wanted, ticket, memory_order_release);
}

/* Memory comes with the first question; without it there is an empty answer. */
static bool
reserve(sn_host_waits *w)
{
    if (!w->best)
        w->best = sn_calloc(SN_HOST_WAITS, sizeof *w->best);
    if (!w->best || w->shown)
        return w->best && w->shown;
    sn_host_row *shown = sn_calloc(SN_HOST_WAITS, sizeof *shown);
    pthread_mutex_lock(&w->lock);
    w->shown = shown;
    pthread_mutex_unlock(&w->lock);
    return shown != NULL;
}

static uint64_t
weight_of(const seine_fetch_wait *a, seine_fetch_sort sort)
{
    return sort == SEINE_SORT_REQUESTS    ? a->requests
           : sort == SEINE_SORT_FAILED    ? a->failed
           : sort == SEINE_SORT_IN_FLIGHT ? a->in_flight
           : sort == SEINE_SORT_SLOW      ? (uint64_t)(a->p95 > 0 ? a->p95 : 0)
                                          : a->waiting;
}

int
sn_host_waits_compare(const seine_fetch_wait *a, const seine_fetch_wait *b,
                      seine_fetch_sort sort)
{
    uint64_t x = weight_of(a, sort), y = weight_of(b, sort);

    if (x != y)
        return x < y ? 1 : -1;
    return strcmp(a->host, b->host);
}

/* Where the next one goes: the end, or the place of the one with the least number. */
static sn_host_row *
place_for(sn_host_waits *w, const seine_fetch_wait *one)
{
    seine_fetch_sort sort = w->how.sort;
    size_t least = 0;

    if (!w->best) /* there was no memory */
        return NULL;
    if (w->n < SN_HOST_WAITS)
        return &w->best[w->n++];
    for (size_t i = 1; i < w->n; i++)
        if (weight_of(&w->best[i].wait, sort) < weight_of(&w->best[least].wait, sort))
            least = i;
    return weight_of(&w->best[least].wait, sort) < weight_of(one, sort) ? &w->best[least]
                                                                        : NULL;
}

static bool
is_wanted(const sn_host_waits *w, const seine_fetch_wait *one)
{
    if (one->waiting == 0 && one->in_flight == 0 && !w->how.is_all)
        return false;
    return !w->how.match[0] || strstr(one->host, w->how.match) != NULL;
}

/* URLs that wait for robots.txt are known to the frontier alone. */
static void
add_shut(const sn_frontier *f, uint32_t host, seine_fetch_wait *one)
{
    seine_time until = 0;
    uint32_t shut = f ? sn_frontier_shut(f, host, &until) : 0;

    if (shut == 0)
        return;
    one->waiting += shut;
    one->is_robots = true;
    if (until > 0) {
        one->is_held = true;
        one->until = until;
    }
}

static void
look(sn_host_waits *w, const sn_scheduler *s, const sn_frontier *f, seine_time now)
{
    seine_fetch_wait one;

    for (uint32_t i = 0;
         i < SN_HOST_WAITS_LOOK && sn_scheduler_wait_at(s, w->at, now, &one);
         i++, w->at++) {
        add_shut(f, w->at, &one);
        if (!is_wanted(w, &one))
            continue;
        sn_host_row *to = place_for(w, &one);

        if (!to)
            continue;
        sn_scheduler_wait_p95(s, w->at, &one);
        *to = (sn_host_row){.wait = one, .host = w->at};
    }
}

static void
add_brakes(const sn_scheduler *s, const sn_frontier *f, seine_time now, sn_host_row *row)
{
    char rule[SN_ROBOTS_RULE];

    sn_scheduler_tokens(s, row->host, now, &row->tokens, &row->burst);
    row->robots = f ? (uint8_t)sn_frontier_robots_say(f, row->host, SN_STR("/"), rule)
                    : SN_ROBOTS_SAYS_NOTHING;
}

bool
sn_host_row_of(const sn_scheduler *s, const sn_frontier *f, uint32_t host, seine_time now,
               sn_host_row *out)
{
    sn_host_row row = {.host = host};

    if (!sn_scheduler_wait_at(s, host, now, &row.wait))
        return false;
    add_shut(f, host, &row.wait);
    sn_scheduler_wait_p95(s, host, &row.wait);
    add_brakes(s, f, now, &row);
    *out = row;
    return true;
}

static void
answer(sn_host_waits *w, const sn_scheduler *s, const sn_frontier *f, seine_time now)
{
    for (size_t i = 0; i < w->n; i++)
        add_brakes(s, f, now, &w->best[i]);
    pthread_mutex_lock(&w->lock);
    if (w->n > 0)
        memcpy(w->shown, w->best, w->n * sizeof *w->shown);
    w->n_shown = w->n;
    w->sort_shown = w->how.sort;
    w->answered = w->looking;
    pthread_mutex_unlock(&w->lock);
    w->looking = 0;
}

bool
sn_host_waits_turn(sn_host_waits *w, const sn_scheduler *s, const sn_frontier *f,
                   seine_time now)
{
    uint64_t wanted = atomic_load_explicit(&w->wanted, memory_order_acquire);

    if (w->looking == 0) {
        if (wanted == w->answered) /* nobody else writes it */
            return false;
        w->looking = wanted;
        pthread_mutex_lock(&w->lock);
        w->how = w->wish;
        pthread_mutex_unlock(&w->lock);
        w->at = 0;
        w->n = 0;
        if (!reserve(w)) {
            answer(w, s, f, now);
            return false;
        }
    }
    look(w, s, f, now);
    if (sn_scheduler_wait_at(s, w->at, now, &(seine_fetch_wait){.waiting = 0}))
        return true;
    answer(w, s, f, now);
    return false;
}

bool
sn_host_waits_get(sn_host_waits *w, uint64_t ticket, seine_fetch_wait *out, size_t *out_n)
{
    pthread_mutex_lock(&w->lock);
    bool is_answered = w->answered >= ticket;
    *out_n = is_answered ? w->n_shown : 0;
    for (size_t i = 0; i < *out_n; i++)
        out[i] = w->shown[i].wait;
    pthread_mutex_unlock(&w->lock);
    return is_answered;
}

bool
sn_host_waits_rows(sn_host_waits *w, uint64_t ticket, sn_host_row *out, size_t *out_n)
{
    pthread_mutex_lock(&w->lock);
    bool is_answered = w->answered >= ticket;
    *out_n = is_answered ? w->n_shown : 0;
    if (*out_n > 0)
        memcpy(out, w->shown, *out_n * sizeof *out);
    pthread_mutex_unlock(&w->lock);
    return is_answered;
}

seine_fetch_sort
sn_host_waits_sort(sn_host_waits *w)
{
    pthread_mutex_lock(&w->lock);
    seine_fetch_sort sort = w->sort_shown;
    pthread_mutex_unlock(&w->lock);
    return sort;
}
