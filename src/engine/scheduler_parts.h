/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_parts.h - what the files of the scheduler know of each other: scheduler.c has
 * the places of hosts, takes in visits and gives the next one, scheduler_wait.c has the
 * visits that come again and those that need not wait any more, scheduler_end.c hears
 * what became of a request, scheduler_tell.c says what is going on,
 * scheduler_tune.c changes limits, scheduler_job.c keeps what a later run has to know.
 */
#ifndef SN_SCHEDULER_PARTS_H
#define SN_SCHEDULER_PARTS_H

#include "base/rng.h"
#include "base/time.h"
#include "engine/ready_queue.h"
#include "engine/scheduler.h"

#define SN_SCHEDULER_EVENTS 64

struct sn_scheduler {
    sn_shared_state *shared;
    sn_timer_wheel wheel;
    sn_hosts hosts;
    sn_ready_queue ready;
    sn_host_queue dry; /* hosts for whose next URL there was no memory */
    sn_heap again;     /* visits with a moment of their own */
    sn_rng rng;
    sn_visit *parked, *expired;        /* lists; to be ended by the caller */
    uint32_t parked_hosts;             /* a list; their URLs at the frontier likewise */
    uint32_t waiting[SEINE_WAIT_ROOM]; /* by what holds their host */
    uint32_t n_waiting;
    uint32_t n_offered; /* of n_waiting: URLs that stand at the frontier */
    uint64_t rejected;  /* starts that a breaker has put off */
    uint32_t n_parked;
    seine_time parked_until;
    seine_time rate_at;               /* `rate` gives nothing before */
    seine_time dry_at;                /* the last moment without memory for a visit */
    uint32_t asked;                   /* the host whose next URL is wanted; SN_NO_HOST */
    seine_attempt asked_attempt;      /* its permits */
    seine_time marks[SN_GROUPS_MOST]; /* of what was taken of its groups */
    bool starved;      /* `concurrency` is used up, or there is no memory */
    uint32_t drain_at; /* hosts before it are drained */
    seine_event events[SN_SCHEDULER_EVENTS];
    uint32_t event_at, n_events;

    /* a job */
    sn_job_lane *lane;  /* NULL: there is none */
    seine_time *saved;  /* when the row of a host was written last */
    uint32_t n_saved;   /* hosts there is room for */
    seine_err lane_err; /* OK: all rows could be kept */
};

static inline void
sn_visit_push(sn_visit **list, sn_visit *v)
{
    v->next = *list;
    *list = v;
}

static inline sn_visit *
sn_visit_pop(sn_visit **list)
{
    sn_visit *v = *list;

    if (v)
        *list = v->next;
    return v;
}

/* What a host has to do. */
static inline uint32_t
sn_host_work(const sn_host *h)
{
    return h->n_waiting + h->n_unpaid + h->n_offered;
}

/* scheduler.c */

/* What the waiting visits of a host wait for, from here on. Those that are not paid for
 * wait for the retry budget, whatever holds the host. */
static inline void
sn_scheduler_blame(sn_scheduler *s, sn_host *h, seine_wait why)
{
    if (h->why == why)
        return;
    s->waiting[h->why] -= h->n_waiting + h->n_offered;
    s->waiting[why] += h->n_waiting + h->n_offered;
    h->why = (uint8_t)why;
}

/* So many URLs of the host are at the frontier, from here on. */
static inline void
sn_scheduler_set_offered(sn_scheduler *s, sn_host *h, uint32_t n)
{
    s->n_waiting += n - h->n_offered;
    s->waiting[h->why] += n - h->n_offered;
    s->n_offered += n - h->n_offered;
    h->n_offered = n;
}

/* Brakes hold the host, or do no longer: kept for the records of its visits. */
void sn_scheduler_hold(sn_scheduler *s, uint32_t host, bool held, seine_time now);

/* Which of the two walls is the higher one: `host_rate` or a Crawl-delay? */
seine_wait sn_scheduler_wall(const sn_scheduler *s, uint32_t host);

/* The visit stands at its host, or in the list of parked ones. */
void sn_scheduler_queue_visit(sn_scheduler *s, sn_visit *v, bool first, seine_time now);

/* To wherever a host belongs that stands nowhere now. */
void sn_scheduler_settle(sn_scheduler *s, uint32_t host, seine_time now);

/* A host that was left without a visit is ready again. False: there is none. */
bool sn_scheduler_moisten(sn_scheduler *s);

/* Is a request of the twin still to leave? */
bool sn_scheduler_twin_is_leaving(const sn_scheduler *s, uint32_t host);
/* The request of the host has left, or never will: the twin need not wait for that. */
void sn_scheduler_wake_twin(sn_scheduler *s, uint32_t host, seine_time now);

/* scheduler_wait.c */

/* The next retry that the retry budget did not pay for, if it pays now, or if `is_free`:
 * the host has nothing else to do. NULL: none may go. */
sn_visit *sn_scheduler_take_unpaid(sn_scheduler *s, uint32_t host, sn_guards *g,
                                   bool is_free, seine_time now);
void sn_scheduler_take_again(sn_scheduler *s, seine_time now); /* whose moment has come */

/* Limits per address do not count for it: it is mine, or it is allowed more by name. */
static inline bool
sn_scheduler_is_free(const sn_scheduler *s, uint32_t host)
{
    const sn_host_policy *p = sn_hosts_policy(&s->hosts, host);

    return (p && p->is_free) || sn_hosts_is_mine(&s->hosts, &s->hosts.all[host]);
}

/* scheduler_end.c */
void sn_scheduler_park(sn_scheduler *s, uint32_t host, seine_err why, seine_time until);
void sn_scheduler_tell_parked(sn_scheduler *s, uint32_t host);

/* scheduler_job.c: with a job. The row of the host, now or if the last one is old. */
void sn_scheduler_save(sn_scheduler *s, uint32_t host, bool at_once, seine_time now);

/* scheduler_tell.c: "e.example", or "e.example:8080"; how far apart its starts are. */
seine_view sn_scheduler_label(const sn_scheduler *s, uint32_t host);
seine_span sn_scheduler_every(const sn_scheduler *s, uint32_t host, seine_time now);
void sn_scheduler_tell(sn_scheduler *s, uint32_t host, const seine_event *e);

#endif
