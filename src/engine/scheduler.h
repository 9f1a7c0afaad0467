/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - which URL may start now, and if none, when?
 *
 * Visits wait at their host, in the order they came; a host waits for the first
 * moment at which all its brakes agree: limiter, pace, pause, breaker, address. When
 * it comes it gives one visit and goes to the back, so that a host with a million
 * URLs costs the others nothing. Retries wait for their own moment first and then at
 * the head of their host.
 *
 *     seine_err e = sn_scheduler_add(scheduler, visit, now);
 *     sn_visit *next = sn_scheduler_next(scheduler, now, &ask);
 *     sn_scheduler_end(scheduler, next, now);
 *     seine_time until = sn_scheduler_when(scheduler, now);
 *
 * What a crawl has found is too much to be visits. Of such URLs the scheduler knows how
 * many there are at each host (sn_work); when a host may be asked and no visit stands
 * there, it asks for the next one (`ask` above), and the offer becomes the visit.
 *
 * A host takes 64 bytes and a card of 32 for ever, and 576 bytes of guards while it has
 * work, debts or something learned (engine/host.h). Nothing here reads a clock, allocates
 * per visit, or blocks.
 *
 * Time    is passed in.
 * Memory  hosts and guards in slabs that grow; visits are the caller's.
 * Threads one owner.
 */
#ifndef SN_SCHEDULER_H
#define SN_SCHEDULER_H

#include "engine/host.h"
#include "engine/work.h"
#include "seine/fetch_control.h"
#include "store/job.h"

typedef struct sn_scheduler sn_scheduler;

SEINE_MUST_CHECK seine_err sn_scheduler_new(sn_shared_state *shared, seine_time now,
                                            sn_scheduler **out_scheduler);
void sn_scheduler_free(sn_scheduler *s); /* no visit is left in it */

/* The hosts of this shard: the frontier finds their numbers, names and what is under way
 * there. It is the scheduler's; valid as long as that. */
sn_hosts *sn_scheduler_host_table(sn_scheduler *s);

/* The frontier says that a host has work; see engine/work.h. A Crawl-delay holds from the
 * last start on: no two starts are closer, one at a time; not for hosts that are mine. */
void sn_scheduler_work(sn_scheduler *s, const sn_work *work, seine_time now);

/* A parked host with URLs at the frontier, which end with *out_why: the caller takes them
 * from there, and the frontier says how many are left. Each host is told once, and again
 * when it has more work. False: none. */
bool sn_scheduler_parked_host(sn_scheduler *s, uint32_t *out_host, seine_err *out_why);

/* The visit waits at the host of v->url, which is made if it is new: behind the
 * others of its lane. NOMEM: it does not. */
SEINE_MUST_CHECK seine_err sn_scheduler_add(sn_scheduler *s, sn_visit *v, seine_time now);

/* The visit waits until `at` for `why`, then goes to the head of its host's queue. */
SEINE_MUST_CHECK seine_err sn_scheduler_again(sn_scheduler *s, sn_visit *v, seine_time at,
                                              seine_wait why, seine_time now);

/* The next visit that may start: READY, attempt begun, retry counted by the caller. Or
 * NULL, and *out_ask is a host: its permits are held, and the frontier is to be asked for
 * its next URL; sn_scheduler_answer comes before anything else. Or NULL and SN_NO_HOST:
 * nothing may start, or `shared->stop` says so. */
sn_visit *sn_scheduler_next(sn_scheduler *s, seine_time now, uint32_t *out_ask);

/* What the frontier offers for that host: the visit, READY like the others. NULL: it had
 * none to offer, and the permits are back. */
sn_visit *sn_scheduler_answer(sn_scheduler *s, const sn_offer *offer, seine_time now);

/* May a connection to that address be used for v now? Takes the address's slot
 * (v->ip_slot). BUSY, LIMITED: v will be back; its host waits for the address. */
SEINE_MUST_CHECK seine_err sn_scheduler_admit(sn_scheduler *s, sn_visit *v,
                                              const sn_ip *peer, seine_time now);

/* The connection of v is open: may its request still be sent? Meanwhile the server may
 * have asked to be left alone, or the breaker has opened. LIMITED: v will be back; its
 * host waits. */
SEINE_MUST_CHECK seine_err sn_scheduler_may_send(const sn_scheduler *s, const sn_visit *v,
                                                 seine_time now);

/* The lowest zone the name of v's host was ever connected in. */
sn_address_zone sn_scheduler_pin(const sn_scheduler *s, const sn_visit *v);

/* The request of v has left, and only now (v->is_leaving). The next one of its host keeps
 * its distance from this moment, not from the one at which a name was asked for and a
 * connection begun; and until this moment, or the end of v, none starts. So it is where
 * requests are 20 ms apart or more; below, the difference is within what is promised. */
void sn_scheduler_sent(sn_scheduler *s, sn_visit *v, seine_time now);

/* The head of v's answer is here, and v->hint knows it: a wish to be left alone holds the
 * host from now on; the body may take its time. If an earlier answer has said so, v is
 * excused. */
void sn_scheduler_head(sn_scheduler *s, sn_visit *v, uint16_t status, seine_time now);

/* The attempt of v ended with v->end (and v->hint, v->ttfb): settles breaker,
 * throttle, limiter, pace, address and pin; the host may be parked by it. */
void sn_scheduler_end(sn_scheduler *s, sn_visit *v, seine_time now);

/* The attempt of v that ends repeats a failed one: its host has a retry more. */
void sn_scheduler_count_retry(sn_scheduler *s, const sn_visit *v);

/* The next visit of a parked host, which will not be asked again in this run: it ends
 * with *out_why (BREAKER, RETRY_AFTER_TOO_LONG). NULL: none. */
sn_visit *sn_scheduler_parked(sn_scheduler *s, seine_err *out_why);

/* The failure that opened the breaker of v's host last; OK: none did. */
seine_err sn_scheduler_cause(const sn_scheduler *s, const sn_visit *v);

/* The next visit whose own deadline had passed when its turn came. NULL: none. */
sn_visit *sn_scheduler_expired(sn_scheduler *s, seine_time now);

/* Any visit that waits, for an orderly stop; the frontier keeps its own. NULL: none is
 * left. */
sn_visit *sn_scheduler_drain(sn_scheduler *s);

/* When next, or one of those above, could give something; NEVER: only after an end, an
 * add, work, or a wake. */
seine_time sn_scheduler_when(sn_scheduler *s, seine_time now);

/* True: it has work, and every slot of `concurrency` is taken or there is no memory. With
 * several shards the one that gives a slot back wakes those that are starved
 * (shared->starving > 0). */
bool sn_scheduler_is_starved(const sn_scheduler *s);

/* What happened to hosts since the last call, oldest first: breaker.open, .half_open,
 * .closed, host.parked, rate.changed. At most 64 are kept. False: no more. */
bool sn_scheduler_event(sn_scheduler *s, seine_event *out_event);

/* Hosts known; given up. */
uint32_t sn_scheduler_n_hosts(const sn_scheduler *s, uint32_t *out_parked,
                              seine_time *out_until);

/* Starts that breakers have put off, all in all. */
uint64_t sn_scheduler_rejected(const sn_scheduler *s);

/* Visits and URLs at the frontier that wait, by what they wait for. */
uint32_t sn_scheduler_waiting(const sn_scheduler *s, uint32_t out_by[SEINE_WAIT_ROOM]);

/* How many of those that wait stand at the frontier: its own count has them, too. */
uint32_t sn_scheduler_offered(const sn_scheduler *s);

/* Every host known, busiest first is the caller's business. Texts are borrowed. */
typedef void (*sn_host_fn)(const seine_fetch_host *host, void *arg);
void sn_scheduler_hosts(const sn_scheduler *s, seine_time now, sn_host_fn fn, void *arg);

/* Looks at hosts *at to *at + n - 1, moves *at behind them, and writes the one that takes
 * longest at the pace it keeps, if that is longer than io_slowest->left. The host is
 * shown as in seine_fetch_host. False: there are none left to look at. */
bool sn_scheduler_slowest(const sn_scheduler *s, seine_time now, uint32_t *at, uint32_t n,
                          seine_fetch_slowest *io_slowest);

/* Limits have changed: they hold from now on, for what waits as well. NOMEM: they do
 * not. */
SEINE_MUST_CHECK seine_err sn_scheduler_tune(sn_scheduler *s, const sn_tune *tune,
                                             seine_time now);

/* What that host waits for. False: there is no such host. */
bool sn_scheduler_wait_at(const sn_scheduler *s, uint32_t host, seine_time now,
                          seine_fetch_wait *out);
/* Whole tokens that its limiter has now, and how many it can have; *out_burst 0: it has
 * no limit. */
void sn_scheduler_tokens(const sn_scheduler *s, uint32_t host, seine_time now,
                         uint32_t *out_tokens, uint32_t *out_burst);
/* The number of "https://e.example:443". False: it is not known. */
bool sn_scheduler_find(const sn_scheduler *s, sn_str name, uint32_t *out_host);
/* Adds the latency of that host, which takes a while to find. */
void sn_scheduler_wait_p95(const sn_scheduler *s, uint32_t host,
                           seine_fetch_wait *io_wait);

/* With a job: where the rows of hosts go. Before the first turn. */
void sn_scheduler_set_lane(sn_scheduler *s, sn_job_lane *lane);
seine_err sn_scheduler_lane_err(const sn_scheduler *s); /* OK: all rows could be kept */
/* Writes the row of a host now, and asks to be told when it is kept. */
void sn_scheduler_keep(sn_scheduler *s, uint32_t host, seine_time now);

/* A host as an earlier run has left it: it is asked no earlier than that run would have
 * asked it, and no earlier than one interval from now. NOMEM, STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_scheduler_restore(sn_scheduler *s, const sn_job_host *row,
                                                seine_time now);
bool sn_scheduler_row_is_given(const sn_job_host *row); /* the user has named the host */

#endif
