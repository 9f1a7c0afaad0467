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
 *     e = sn_scheduler_add(&s, visit, now);
 *     while ((v = sn_scheduler_next(&s, now)))        its permits are held
 *         start(v);
 *     sn_scheduler_end(&s, v, now);                   v->end: tells every guard
 *     sleep_until(sn_scheduler_when(&s, now));
 *
 * A host is 72 bytes for ever and 384 bytes of guards while it has work, debts or
 * something learned. Nothing here reads a clock, allocates per visit, or blocks.
 *
 * Time    is passed in.
 * Memory  hosts and guards in slabs that grow; visits are the caller's.
 * Threads one owner.
 */
#ifndef SN_SCHEDULER_H
#define SN_SCHEDULER_H

#include "engine/shared_state.h"
#include "engine/visit.h"

typedef struct sn_scheduler sn_scheduler;

SEINE_MUST_CHECK seine_err sn_scheduler_new(sn_shared_state *shared, seine_time now,
                                            sn_scheduler **out_scheduler);
void sn_scheduler_free(sn_scheduler *s); /* no visit is left in it */

/* Where the URLs of a host come from besides the visits that were added: they are counted
 * here and kept there, and become visits when their turn has come. Both calls come from
 * inside sn_scheduler_next, with the permits of the host in reach: nothing is asked of
 * the source that could not start at once. */
typedef enum sn_more { SN_MORE_NONE, SN_MORE_NOW, SN_MORE_LATER } sn_more;

typedef struct sn_url_source {
    /* Has the host one that may start now? What may not be asked at all is gone after the
     * call (sn_scheduler_less was called inside). LATER: only after one of the host's
     * requests has ended. */
    sn_more (*more)(uint32_t host, seine_time now, void *arg);
    /* That one, as a visit in ADMITTED; it counts no more among those that wait. NULL: no
     * memory or no visit is free; asked again when a visit of any host has ended. */
    sn_visit *(*take)(uint32_t host, seine_time now, void *arg);
    void *arg;
} sn_url_source;

void sn_scheduler_set_source(sn_scheduler *s, const sn_url_source *source);

/* The number of the URL's host, which is made if it is new. `is_given`: a given URL names
 * it, from now on. NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err sn_scheduler_host(sn_scheduler *s, const seine_url *url,
                                             bool is_given, seine_time now,
                                             uint32_t *out_host);

/* n URLs more, or fewer, wait at the source for this host. */
void sn_scheduler_put(sn_scheduler *s, uint32_t host, uint32_t n, seine_time now);
void sn_scheduler_less(sn_scheduler *s, uint32_t host, uint32_t n);

/* A Crawl-delay: no two starts are closer, one at a time; 0: none. It holds from the last
 * start on. Not for hosts that are mine. */
void sn_scheduler_delay(sn_scheduler *s, uint32_t host, seine_span delay, seine_time now);

/* Visits of the host in flight, and waiting for a moment of their own. */
uint32_t sn_scheduler_busy(const sn_scheduler *s, uint32_t host);

/* A parked host with URLs at the source, which end with *out_why: the caller takes them
 * from there and says so with sn_scheduler_less. Each is told once, and again when more
 * were put. False: none. */
bool sn_scheduler_parked_host(sn_scheduler *s, uint32_t *out_host, seine_err *out_why);

/* The visit waits at the host of v->url, which is made if it is new: behind the
 * others of its lane. NOMEM: it does not. */
SEINE_MUST_CHECK seine_err sn_scheduler_add(sn_scheduler *s, sn_visit *v, seine_time now);

/* The visit waits until `at` for `why`, then goes to the head of its host's queue. */
SEINE_MUST_CHECK seine_err sn_scheduler_again(sn_scheduler *s, sn_visit *v, seine_time at,
                                              seine_wait why, seine_time now);

/* The next visit that may start: READY, attempt begun, retry counted by the caller. Or
 * NULL. While `shared->stop` or the outputs are not ready: NULL. */
sn_visit *sn_scheduler_next(sn_scheduler *s, seine_time now);

/* May a connection to that address be used for v now? Takes the address's slot
 * (v->ip_slot). BUSY, LIMITED: v will be back; its host waits for the address. */
SEINE_MUST_CHECK seine_err sn_scheduler_admit(sn_scheduler *s, sn_visit *v,
                                              const sn_ip *peer, seine_time now);

/* The lowest zone the name of v's host was ever connected in. */
sn_address_zone sn_scheduler_pin(const sn_scheduler *s, const sn_visit *v);

/* The request of v has left, and only now (v->is_leaving). The next one of its host keeps
 * its distance from this moment, not from the one at which a name was asked for and a
 * connection begun; and until this moment, or the end of v, none starts. So it is where
 * requests are 20 ms apart or more; below, the difference is within what is promised. */
void sn_scheduler_sent(sn_scheduler *s, sn_visit *v, seine_time now);

/* The head of v's answer is here, and v->hint knows it: a wish to be left alone holds the
 * host from now on; the body may take its time. */
void sn_scheduler_head(sn_scheduler *s, sn_visit *v, uint16_t status, seine_time now);

/* The attempt of v ended with v->end (and v->hint, v->ttfb): settles breaker,
 * throttle, limiter, pace, address and pin; the host may be parked by it. */
void sn_scheduler_end(sn_scheduler *s, sn_visit *v, seine_time now);

/* The next visit of a parked host, which will not be asked again in this run: it ends
 * with *out_why (BREAKER, RETRY_AFTER_TOO_LONG). NULL: none. */
sn_visit *sn_scheduler_parked(sn_scheduler *s, seine_err *out_why);

/* The failure that opened the breaker of v's host last; OK: none did. */
seine_err sn_scheduler_cause(const sn_scheduler *s, const sn_visit *v);

/* The next visit whose own deadline had passed when its turn came. NULL: none. */
sn_visit *sn_scheduler_expired(sn_scheduler *s, seine_time now);

/* Any visit that waits, for an orderly stop; the source keeps its own. NULL: none is
 * left. */
sn_visit *sn_scheduler_drain(sn_scheduler *s);

/* When next, or one of those above, could give something; NEVER: only after an end, an
 * add, a put, or a wake. */
seine_time sn_scheduler_when(sn_scheduler *s, seine_time now);

/* True: it has work, and every slot of --concurrency is taken or no visit is free. With
 * several shards the one that gives a slot back wakes those that are starved
 * (shared->starving > 0). */
bool sn_scheduler_is_starved(const sn_scheduler *s);

/* "https://e.example:443". */
sn_str sn_scheduler_name(const sn_scheduler *s, uint32_t host);

/* What happened to hosts since the last call, oldest first: breaker.open, .half_open,
 * .closed, host.parked, rate.changed. At most 64 are kept. False: no more. */
bool sn_scheduler_event(sn_scheduler *s, seine_event *out_event);

/* Hosts known; given up. */
uint32_t sn_scheduler_n_hosts(const sn_scheduler *s, uint32_t *out_parked,
                              seine_time *out_until);

/* Visits and URLs at the source that wait, by what they wait for. */
uint32_t sn_scheduler_waiting(const sn_scheduler *s, uint32_t out_by[SEINE_WAIT_COUNT]);

/* Every host known, busiest first is the caller's business. Texts are borrowed. */
typedef void (*sn_host_fn)(const seine_fetch_host *host, void *arg);
void sn_scheduler_hosts(const sn_scheduler *s, seine_time now, sn_host_fn fn, void *arg);

/* Looks at hosts *at to *at + n - 1, moves *at behind them, and writes the one that takes
 * longest at the pace it keeps, if that is longer than io_slowest->left. The host is
 * shown as in seine_fetch_host. False: there are none left to look at. */
bool sn_scheduler_slowest(const sn_scheduler *s, seine_time now, uint32_t *at, uint32_t n,
                          seine_fetch_slowest *io_slowest);

#endif
