/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health_schedule.h - which health check is due, which one is late, and what is known of
 * each: the decisions of seine/health.h as functions of the time, without a thread.
 *
 *     if (sn_health_take(s, now, dice, &i))             a worker runs check i …
 *         in_time = sn_health_finish(s, i, &result, now);  … and it has returned
 *     while (sn_health_expire(s, now, &i))              check i is late
 *         replace_worker_of(i);
 *     sn_health_see(s, i, now, &result);                what is known of it now
 *
 * Time    is passed in.
 * Memory  fixed.
 * Threads one owner.
 */
#ifndef SN_HEALTH_SCHEDULE_H
#define SN_HEALTH_SCHEDULE_H

#include <stdint.h>

#include "seine/health.h"

typedef struct sn_health_entry {
    char name[33];
    seine_health_fn fn;
    void *arg;
    seine_span period, timeout;
    bool critical;
    bool running; /* its function has been called and has not returned … */
    bool hung;    /* … in time: what it says does not count any more */
    bool has_result;
    seine_time began, next;
    seine_health_result last;
    /* what was logged of it */
    bool is_told;
    seine_health_status told;
    seine_time told_at;
} sn_health_entry;

typedef struct sn_health_schedule {
    sn_health_entry all[SEINE_HEALTH_MAX];
    size_t n;
    bool no_worker; /* every worker hangs, and no more may be started */
} sn_health_schedule;

/* As seine_health_add. */
SEINE_MUST_CHECK seine_err sn_health_schedule_add(sn_health_schedule *s,
                                                  const seine_health_check *c);

/* The check that has been due for the longest and does not run. It runs from now on, and
 * its next call is a period ± 10 % from now, as the dice say. */
bool sn_health_take(sn_health_schedule *s, seine_time now, uint64_t dice, size_t *out_i);

/* Its function has returned. False: too late, and the result is dropped. */
bool sn_health_finish(sn_health_schedule *s, size_t i, const seine_health_result *r,
                      seine_time now);

/* A check whose time has run out since the last call. */
bool sn_health_expire(sn_health_schedule *s, seine_time now, size_t *out_i);

/* When the next check is due, or the next one late; NEVER. */
seine_time sn_health_next_due(const sn_health_schedule *s);
seine_time sn_health_next_late(const sn_health_schedule *s);

void sn_health_see(const sn_health_schedule *s, size_t i, seine_time now,
                   seine_health_result *out_r);

/* Must the state of this check be logged now? Then it counts as logged. */
bool sn_health_must_tell(sn_health_schedule *s, size_t i, seine_time now,
                         seine_health_result *out_r);

bool sn_health_find(const sn_health_schedule *s, const char *name, size_t *out_i);

#endif
