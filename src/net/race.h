/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.h - which address to connect to next, and when (Happy Eyeballs, RFC 8305).
 *
 * Addresses of both families alternate, at most three of each; the first is IPv6 unless
 * IPv4 won the last time. The next one is tried after 250 ms, or at once when one has
 * failed. The first that connects wins. If all fail, the most specific error is returned,
 * as one failure, not six.
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

#define SN_RACE_FAMILY 3 /* addresses tried per family */
#define SN_RACE_MOST   (2 * SN_RACE_FAMILY)
#define SN_RACE_EVERY  SEINE_MS(250)

typedef struct sn_race {
    sn_ip list[SN_RACE_MOST]; /* in the order of trying */
    uint8_t n, tried, running;
    seine_time next; /* earliest time of the next one, unless one fails */
    seine_err why;
} sn_race;

/* `first` is the family to start with, 4 or 6; 0: the default. */
void sn_race_begin(sn_race *r, const sn_dns_answer *answer, uint8_t first);

/* Returns the address to try now and counts it as running; NULL: none, or not yet. */
const sn_ip *sn_race_next(sn_race *r, seine_time now);

/* One of the running connects has failed. */
void sn_race_lost(sn_race *r, seine_err why, seine_time now);

/* Returns the time of the next address; SEINE_NEVER: none is left. */
seine_time sn_race_when(const sn_race *r);

/* True if no connect runs and no address is left. */
bool sn_race_is_over(const sn_race *r);

/* Returns the most specific error so far. The order is: refused, unreachable, timeout,
 * local limits, blocked by the address guard. */
seine_err sn_race_why(const sn_race *r);

#endif
