/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - one shard: the order in which a URL passes the stages. Read it second, after
 * visit.h; everything else is detail.
 *
 *     1 admit → 2 scheduler → 3 request → 4 verdict → 5 links → 6 emit
 *        ↑           ↑______________________|  again     |
 *        |_______________________________________________|  links of a crawl
 *
 * A turn lets the transport work, judges the requests that ended, takes in what came,
 * starts what may start, and ends what waits in vain; sn_run_when says how long the next
 * turn may sleep. The same code runs on sockets and in tests/sim, where the transport and
 * the clock are numbers.
 *
 * After every turn: given = admitted + refused; admitted = emitted + waiting + in
 * flight; and permits held = in flight. Debug builds assert the last two.
 *
 * Time    is what the transport's turn returned.
 * Memory  of the shard; visits come from the shared state.
 * Threads one owner; the inbox, wake and stats from any thread.
 */
#ifndef SN_RUN_H
#define SN_RUN_H

#include "base/env.h"
#include "engine/scheduler.h"
#include "engine/shard_watch.h"
#include "store/job.h"

typedef struct sn_run sn_run;

/* Shard `index` of `n`; `all` is the table of all shards, filled when all are made (a
 * redirect to a host of another shard goes there). The env is borrowed. */
SEINE_MUST_CHECK seine_err sn_run_new(sn_shared_state *shared, const sn_env *env,
                                      sn_run *const *all, uint32_t index, uint32_t n,
                                      sn_run **out_run);
void sn_run_free(sn_run *r); /* its transport has no exchange left */

/* Threads that read pages for `n` shards with a thread each, if there is something to
 * read, before the first turn. They end before the shards are freed. NOMEM. */
SEINE_MUST_CHECK seine_err sn_run_make_readers(sn_shared_state *shared, uint32_t n);

/* Where it counts; NULL: nowhere. Before the first turn. */
struct sn_fetch_metrics;
void sn_run_set_metrics(sn_run *r, struct sn_fetch_metrics *metrics);

/* What an earlier run of the job has left, before the first turn: hosts, their
 * robots.txt, URLs, how many pages hosts have had; `restored` ends it, and from there on
 * the job hears of the shard in its lane. NOMEM,
 * STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_run_restore_host(sn_run *r, const sn_job_host *row,
                                               seine_time now);
SEINE_MUST_CHECK seine_err sn_run_restore_robots(sn_run *r, const sn_job_robots *row,
                                                 int64_t wall_ms, seine_time now);
SEINE_MUST_CHECK seine_err sn_run_restore_url(sn_run *r, const sn_job_url *u,
                                              seine_time now);
SEINE_MUST_CHECK seine_err sn_run_restore_trap(sn_run *r, sn_str host, uint64_t key,
                                               seine_time now);
SEINE_MUST_CHECK seine_err sn_run_restore_pages(sn_run *r, sn_str host,
                                                const sn_job_standing *n, seine_time now);
SEINE_MUST_CHECK seine_err sn_run_restore_not_due(sn_run *r, const sn_job_url *u);
void sn_run_restored(sn_run *r, sn_job_lane *lane, seine_time now);

/* Tells the job what was done since it was told last, if that is a while ago; at the end
 * of the run in any case. */
void sn_run_keep_counts(sn_run *r, bool is_end);

/* Likewise the slices of its timeline. */
struct seine_slice;
void sn_run_keep_feed(sn_run *r, bool is_end);
void sn_run_restore_slice(sn_run *r, const struct seine_slice *s, bool is_own);

/* Of an incremental crawl: what is known of pages can be read from now on. */
SEINE_MUST_CHECK seine_err sn_run_open_pages(sn_run *r);

/* One turn, sleeping until `until` at most. Returns the moment it ended. */
seine_time sn_run_turn(sn_run *r, seine_time until);

/* Until when the next turn may sleep. */
seine_time sn_run_when(const sn_run *r);

/* Gives a visit to the shard. Any thread. */
void sn_run_give(sn_run *r, sn_visit *give);
void sn_run_wake(sn_run *r);

/* Something to do at the shard, on its thread, before the mail of the same turn. `run`
 * frees it. Any thread gives it. */
typedef struct sn_errand sn_errand;
struct sn_errand {
    sn_errand *next;
    void (*run)(sn_run *r, sn_errand *own, seine_time now);
};
void sn_run_errand(sn_run *r, sn_errand *give);

/* In an errand: pages of a path pattern that earlier owners of the host have asked for.
 */
void sn_run_restore_count(sn_run *r, sn_str host, uint64_t key, uint32_t pages,
                          bool is_trap, seine_time now);

/* In an errand: a row of a host that was awaited is kept: its pages may be asked for. */
void sn_run_host_kept(sn_run *r, sn_str host);

/* Links from elsewhere; each counts as work already. Any thread. */
struct sn_post;
void sn_run_post(sn_run *r, struct sn_post *give);

/* Nothing waits, nothing is in flight, the inbox is empty. The owner asks. */
bool sn_run_is_idle(const sn_run *r);

/* One snapshot, added to *out_stats; of the URLs given it knows nothing. Any thread. */
void sn_run_stats(const sn_run *r, seine_fetch_stats *out_stats);
void sn_run_hosts(const sn_run *r, sn_host_fn fn, void *arg);

/* Adds its slices. NOMEM, FULL. Any thread. */
struct seine_timeline;
SEINE_MUST_CHECK seine_err sn_run_timeline(const sn_run *r, struct seine_timeline *into);

/* What its hosts wait for: sn_host_waits_ask and …_get. Any thread. */
struct sn_host_waits;
struct sn_host_waits *sn_run_waits(sn_run *r);

/* Where it keeps what it shows to one who watches. Any thread. */
sn_shard_watch_place *sn_run_watch(sn_run *r);

/* If it is longer than io_slowest->left. Any thread. */
void sn_run_slowest(sn_run *r, seine_fetch_slowest *io_slowest);

#endif
