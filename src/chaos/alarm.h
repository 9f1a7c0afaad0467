/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alarm.h - timers: which of them is due next?
 *
 * A binary heap of alarms, each inside the object that waits:
 *
 *     snc_alarm mine = {.ring = on_alarm};
 *     seine_err e = snc_alarm_set(&alarms, &mine, now + SEINE_MS(5));
 *     wait_until(snc_alarms_next(&alarms));
 *     while ((a = snc_alarms_due(&alarms, now)))
 *         a->ring(a);
 *
 * Time    is passed in.
 * Memory  8 bytes per alarm that is set. Moving an alarm that is set never fails.
 * Threads one owner.
 */
#ifndef SNC_ALARM_H
#define SNC_ALARM_H

#include <stddef.h>

#include "seine/err.h"
#include "seine/time.h"

typedef struct snc_alarm snc_alarm;

struct snc_alarm {
    void (*ring)(snc_alarm *self);
    seine_time due;
    size_t place; /* in the heap, from 1; 0: not set */
};

typedef struct snc_alarms {
    snc_alarm **heap;
    size_t count, room;
} snc_alarms;

void snc_alarms_fini(snc_alarms *h);

/* Sets or moves the alarm. NOMEM. */
SEINE_MUST_CHECK seine_err snc_alarm_set(snc_alarms *h, snc_alarm *a, seine_time due);
void snc_alarm_stop(snc_alarms *h, snc_alarm *a); /* an alarm that is not set is fine */

/* When the next alarm is due; SEINE_NEVER: none is set. */
seine_time snc_alarms_next(const snc_alarms *h);

/* Removes and returns the next alarm that is due; NULL: none is. */
snc_alarm *snc_alarms_due(snc_alarms *h, seine_time now);

#endif
