/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaker.h - the breaker's steps, which report a change instead of calling on_change.
 *
 * The functions of seine/breaker.h call these and then on_change. A caller that holds a
 * lock (breakers.c) keeps the change, unlocks, and reports it then:
 *
 *     sn_change change = {0};
 *     e = sn_breaker_acquire(b, now, false, &permit, &change);
 *     unlock();
 *     sn_change_tell(opts, key, &change);
 *
 * A step changes the state at most once.
 */
#ifndef SN_BREAKER_H
#define SN_BREAKER_H

#include <stdbool.h>

#include "seine/breaker.h"

/* Both structs live in `word`, whose own type is uint64_t. The members that a successful
 * call reads come first. */
typedef struct __attribute__((may_alias)) sn_probe {
    seine_time start;
    uint32_t id;
    uint32_t loose; /* taken by can_execute */
} sn_probe;

typedef struct __attribute__((may_alias)) sn_breaker_body {
    uint64_t generation;
    uint64_t succeeded;
    uint32_t run;    /* CLOSED: failures in a row; HALF_OPEN: successes */
    uint32_t streak; /* failed probes since CLOSED; they lengthen the open time */
    uint32_t issued; /* id of the newest probe of this generation */
    uint16_t why;
    uint8_t state, active;
    seine_time open_until, failed_at;
    uint64_t failed, ignored, slow, rejected, late, opened;
    sn_probe only; /* the probe, when only one is allowed */
} sn_breaker_body;

static inline sn_breaker_body *
sn_breaker_of(seine_breaker *b)
{
    return (sn_breaker_body *)(void *)b->word;
}

static inline const sn_breaker_body *
sn_breaker_seen(const seine_breaker *b)
{
    return (const sn_breaker_body *)(const void *)b->word;
}

static inline seine_breaker_state
sn_breaker_state(const seine_breaker *b)
{
    return (seine_breaker_state)sn_breaker_seen(b)->state;
}

/* The permit of a breaker that is CLOSED. */
static inline seine_permit
sn_breaker_pass(const seine_breaker *b, seine_time now)
{
    return (seine_permit){sn_breaker_seen(b)->generation, now, 0, 0, 1};
}

/* Settles a successful call of a CLOSED breaker when nothing else has to be checked.
 * False: nothing was done, and the caller settles it in full. */
static inline bool
sn_breaker_succeed(seine_breaker *b, seine_permit *permit)
{
    sn_breaker_body *s = sn_breaker_of(b);

    if (s->state != SEINE_BREAKER_CLOSED || permit->generation != s->generation ||
        !permit->held || b->extra || b->opts->slow > 0)
        return false;
    permit->held = 0;
    s->succeeded += s->succeeded < UINT64_MAX;
    s->run = 0;
    return true;
}

typedef struct sn_change {
    seine_breaker_state from, to; /* equal: no change */
    uint64_t seq;
} sn_change;

void sn_change_tell(const seine_breaker_opts *opts, seine_view key,
                    const sn_change *change);

/* `loose`: record settles the slot of a probe, not its permit. */
SEINE_MUST_CHECK seine_err sn_breaker_acquire(seine_breaker *b, seine_time now,
                                              bool loose, seine_permit *out_permit,
                                              sn_change *change);
SEINE_MUST_CHECK seine_err sn_breaker_settle(seine_breaker *b, seine_permit *permit,
                                             seine_outcome how, seine_time now,
                                             sn_change *change);
seine_time sn_breaker_when(seine_breaker *b, seine_time now, sn_change *change);
void sn_breaker_reset(seine_breaker *b, sn_change *change);

/* CLOSED without a counted failure: the same as a new breaker. */
bool sn_breaker_is_idle(const seine_breaker *b);

/* When an OPEN breaker lets a probe through; NEVER in other states. */
seine_time sn_breaker_open_until(const seine_breaker *b);

uint64_t sn_breaker_generation(const seine_breaker *b);
void sn_breaker_set_generation(seine_breaker *b, uint64_t generation);

#endif
