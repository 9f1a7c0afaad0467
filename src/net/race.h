/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.h - which address of a name to connect to next, and when (RFC 8305).
 *
 * Addresses of both families take turns, three of each at most; the first is IPv6
 * unless the other family won the last time. One more is tried every 250 ms, or at
 * once when one has failed. The first that answers wins; when all have failed, the
 * most telling of their errors is told, and one failure is counted, not six.
 *
 *     sn_race_begin(&r, &answer, 0);
 *     while ((ip = sn_race_next(&r, now)))
 *         if ((e = try(ip)) != SEINE_OK)
 *             sn_race_lost(&r, e, now);
 *     if (sn_race_is_over(&r))
 *         return sn_race_why(&r);
 *     come_back_at(sn_race_when(&r));
 *
 * Time    is passed in.
 * Memory  the caller's.
 * Threads one owner.
 */
#ifndef SN_RACE_H
#define SN_RACE_H

#include "net/dns.h"

#define SN_RACE_FAMILY 3 /* addresses tried of each */
#define SN_RACE_MOST   (2 * SN_RACE_FAMILY)
#define SN_RACE_EVERY  SEINE_MS(250)

typedef struct sn_race {
    sn_ip list[SN_RACE_MOST]; /* in the order in which they are tried */
    uint8_t n, tried, running;
    seine_time next; /* no other is tried before, unless one fails */
    seine_err why;
} sn_race;

/* `first` is the family to begin with, 4 or 6; 0: the usual one. */
void sn_race_begin(sn_race *r, const sn_dns_answer *answer, uint8_t first);

/* The address to try now, which from here on runs; NULL: none, or not yet. */
const sn_ip *sn_race_next(sn_race *r, seine_time now);

/* One of those that run has failed. */
void sn_race_lost(sn_race *r, seine_err why, seine_time now);

/* The moment of the next one; SEINE_NEVER: none is left. */
seine_time sn_race_when(const sn_race *r);

/* None runs and none is left: why. */
bool sn_race_is_over(const sn_race *r);

/* The most telling error so far: refused, then unreachable, then that there was no
 * answer in time, then our own limits, then that it may not be connected to. */
seine_err sn_race_why(const sn_race *r);

#endif
