/* SPDX-License-Identifier: Apache-2.0 */
/* run_parts.h - one shard as its own files see it: run.c has the stages in their order,
 * run_crawl.c connects the frontier, run_end.c ends visits that are not asked for any
 * more, run_concurrency.c says whether a request may start, run_stats.c counts, logs and
 * publishes, run_job.c brings back what a job has kept, run_data.c reads values,
 * run_read.c lets others read. */
#ifndef SN_RUN_PARTS_H
#define SN_RUN_PARTS_H

#include "engine/emit.h"
#include "engine/feed.h"
#include "engine/fetch_metrics.h"
#include "engine/frontier.h"
#include "engine/host_waits.h"
#include "engine/request.h"
#include "engine/response.h"
#include "engine/revisit.h"
#include "engine/run.h"
#include "engine/slowest.h"
#include "engine/values.h"
#include "engine/visit_spans.h"

/* Records of URLs that were never asked for, in one turn. */
#define SN_RUN_AT_ONCE 4096

/* Every member of the statistics is a number of eight bytes. */
#define SN_RUN_STATS (sizeof(seine_fetch_stats) / sizeof(uint64_t))
_Static_assert(sizeof(seine_fetch_stats) % sizeof(uint64_t) == 0, "nothing but numbers");

struct sn_run {
    sn_shared_state *shared;
    const sn_env *env;
    sn_run *const *all;
    uint32_t index, n;
    sn_scheduler *scheduler;
    sn_frontier *frontier; /* NULL: no link is followed, and no robots.txt counts */
    sn_requests requests;
    sn_fetch_metrics *metrics;
    sn_job_reader *pages; /* what is known of them; NULL: not an incremental crawl */
    seine_time now;
    int64_t wall;
    bool held;               /* nothing may start: outputs are full, or narrowed */
    bool freed_slots;        /* of `concurrency`, in this turn */
    bool canceled;           /* the requests in flight were told to end */
    bool was_over;           /* no work was left after the last turn */
    bool has_failed;         /* the frontier cannot keep what was found */
    bool has_more;           /* records are due for which the turn had no room */
    seine_time drain_until;  /* NEVER: no stop yet */
    seine_time narrow_until; /* NEVER: this shard has not narrowed the concurrency */
    seine_time narrowed_at;
    uint64_t came, left;        /* visits from the inbox; to other shards */
    uint64_t refused;           /* visits that ended as a skip record */
    uint64_t kept;              /* visits that stay with the job */
    uint32_t away;              /* visits whose pages others read */
    bool is_busy;               /* more pages come than it has time for, as of … */
    seine_time load_since;      /* … this moment */
    seine_fetch_stats stats;    /* the owner's */
    uint64_t links_told;        /* to the metrics, of those that were admitted */
    sn_fetch_counts before;     /* what the metrics know */
    seine_time lag_at;          /* with metrics: when a timer of 100 ms is due; 0: none */
    sn_job_lane *lane;          /* NULL: no job */
    sn_job_counts told;         /* what the job knows, of this run … */
    seine_time told_at;         /* … since then */
    seine_extractor *extractor; /* of values; NULL: no page was read for them yet */
    sn_emit emit;
    _Alignas(64) sn_inbox inbox;
    sn_inbox read;              /* visits that were given away to be read */
    sn_box box;                 /* links that other shards found */
    sn_errand *_Atomic errands; /* what other threads want done here, the newest first */
    sn_slowest slowest;
    sn_host_waits waits;
    sn_feed feed; /* off unless a job or the caller wants a timeline */
    sn_shard_watch_place watch;
    uint64_t breakers[3]; /* hosts whose breaker is not closed, by its state */
    size_t tuned;         /* changes of limits that were taken over */
    uint64_t lost;        /* tenures of the fleet that were lost, as of the last turn */
    sn_visit_tracer tracer;
    sn_visit_extract extracted;                        /* of the visit that is emitted */
    _Alignas(64) _Atomic uint64_t shown[SN_RUN_STATS]; /* written by the owner alone */
};

/* SN_GOING, SN_DRAINING or SN_STOPPING. */
static inline int
sn_run_stop_mode(const sn_run *r)
{
    return atomic_load_explicit(&r->shared->stop, memory_order_acquire);
}

/* run.c */

/* Stage 1: the visit waits at its host, or is refused by robots.txt. */
void sn_run_admit(sn_run *r, sn_visit *v);

/* Stage 6: writes the record of the visit and releases it. */
void sn_run_emit(sn_run *r, sn_visit *v);

/* The same for a visit that was refused after it had been admitted. */
void sn_run_emit_refused(sn_run *r, sn_visit *v);

/* Writes the skip record of a link that never became a visit. */
void sn_run_emit_skip(sn_run *r, const sn_refusal *refusal);

/* The visit is over: whatever it holds goes back. */
void sn_run_release(sn_run *r, sn_visit *v);

/* run_data.c */

/* Reads the values of the page into the record that stands in r->emit. */
void sn_run_read_data(sn_run *r, const sn_visit *v);

/* run_read.c */

/* Says whether the pages of the next responses are better read by others. */
void sn_run_judge_load(sn_run *r);
/* True: somebody else reads the page, and it comes back. False: all that is read before
 * the links are looked at is read. */
bool sn_run_give_to_read(sn_run *r, sn_visit *v);
/* Those that came back, the oldest first; and, of each of them, whether it was read. */
sn_visit *sn_run_take_read(sn_run *r);
bool sn_run_is_read(sn_run *r, sn_visit *v);
void sn_run_drop_values(sn_run *r, sn_visit *v);

/* run_fleet.c */

/* Does what other threads have asked for. */
void sn_run_do_errands(sn_run *r);
/* The visit may start, but its partition is another worker's: lets go of it. */
bool sn_run_drop_lost(sn_run *r, sn_visit *v);
/* Is the partition of the visit another worker's by now? */
bool sn_run_is_lost(const sn_run *r, const sn_visit *v);
/* Cancels what is in flight of partitions that were lost since the last turn. */
void sn_run_watch_leases(sn_run *r);
/* When leases are too old for what is in flight; SEINE_NEVER: nothing is. */
seine_time sn_run_leases_end(const sn_run *r);

/* run_job.c */

/* In an incremental crawl: looks up what is known of the page, before its request; and
 * says in the record that stands in r->emit what became of it. */
void sn_run_recall(sn_run *r, sn_visit *v);
/* An attempt has failed and another one follows: the next run knows that. */
void sn_run_keep_try(sn_run *r, const sn_visit *v);
void sn_run_note_change(sn_run *r, sn_visit *v);

/* run_crawl.c */

/* Makes the frontier if the options ask for a crawl or for robots.txt. */
SEINE_MUST_CHECK seine_err sn_run_make_frontier(sn_run *r);

/* Takes in the links that other shards found, and asks again for robots.txt where that
 * is due. */
void sn_run_take_links(sn_run *r);

/* Gives up the pages whose links are not all read: the run ends. */
void sn_run_end_links(sn_run *r);

/* A robots.txt or a sitemap has ended. It has no record: the frontier that asked for it
 * hears the end, perhaps in another shard. */
void sn_run_return_own(sn_run *r, sn_visit *v);

/* The next visit that waits, at the scheduler or in the frontier. NULL: none. */
sn_visit *sn_run_drain_next(sn_run *r);

/* With a job: the URLs that wait in the frontier stay with it. */
void sn_run_leave_all(sn_run *r);

/* Ends the URLs of hosts that the scheduler has given up. */
void sn_run_end_hosts(sn_run *r);

/* Ends what waits for a robots.txt in vain, and writes the refusals that are due at the
 * end of the crawl. */
void sn_run_end_crawl(sn_run *r);

/* Stops all shards if the frontier of this one cannot keep what was found. */
void sn_run_obey_store(sn_run *r);

/* Wakes the other shards when no work is left: they may have such refusals too. */
void sn_run_wake_at_end(sn_run *r);

/* run_end.c */

/* Ends a visit for a reason of ours, wherever it stood. */
void sn_run_give_up(sn_run *r, sn_visit *v, seine_err why);

/* Does a visit that ends for this reason stay with the job, to be asked for later? */
bool sn_run_leaves(const sn_run *r, const sn_visit *v, seine_err why);
void sn_run_leave(sn_run *r, sn_visit *v);
/* Likewise, and counts what the host is to blame for. */
void sn_run_leave_for(sn_run *r, sn_visit *v, seine_err why);

/* CANCELED, or what else has stopped the run. */
seine_err sn_run_stop_reason(const sn_run *r);

/* If the run is being stopped: ends the visits that wait, and those in flight when the
 * grace is over. */
void sn_run_obey_stop(sn_run *r);

/* Skips what was not asked for yet once `max_bytes` are used up. */
void sn_run_end_over_bytes(sn_run *r);

/* Ends the visits of hosts that were given up, and visits whose time has passed. */
void sn_run_end_waiting(sn_run *r);

/* run_key_pace.c */

/* Gives back what the visit holds, as if the attempt had never begun. */
void sn_run_step_back(sn_run *r, sn_visit *v);

/* run_concurrency.c */

/* Descriptors or ports ran out: uses a quarter fewer of `concurrency` for a while. */
/* True: it starts now. False: it waits for the token of its key, or has been given up. */
bool sn_run_take_token(sn_run *r, sn_visit *v);
void sn_run_narrow(sn_run *r, seine_err why);
void sn_run_widen(sn_run *r); /* when that while is over */

/* Takes over limits that were changed. */
void sn_run_obey_tunes(sn_run *r);

/* Holds the shard while outputs, memory, mail or narrowing let no request start, and
 * returns whether it is held. */
bool sn_run_hold(sn_run *r);
/* What lets no request start, of what a timeline tells. */
sn_feed_hold sn_run_hold_reason(const sn_run *r);

/* Wakes shards that are held: there may be room now. */
void sn_run_wake_held(sn_run *r);

/* Wakes shards that found no slot if this turn has freed one. */
void sn_run_wake_starved(sn_run *r);
void sn_run_wake_others(sn_run *r); /* all but this one */

/* run_stats.c */
void sn_run_count_attempt(sn_run *r, const sn_visit *v);
void sn_run_count_record(sn_run *r); /* the one that stands in r->emit */
void sn_run_log_record(const sn_run *r, const sn_visit *v);
/* Its last attempt repeated one that had failed so. */
void sn_run_count_retry(sn_run *r, const sn_visit *v, seine_err why);
void sn_run_plan_retry(sn_run *r, const sn_visit *v, seine_wait why, seine_time at);
void sn_run_tell_event(sn_run *r, const seine_event *e); /* to the caller alone */
void sn_run_tell_events(sn_run *r); /* the scheduler's: to log, metrics and caller */
void sn_run_note_lag(sn_run *r);
void sn_run_publish(sn_run *r); /* the statistics of this turn */

#endif
