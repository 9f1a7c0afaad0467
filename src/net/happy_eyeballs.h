/* SPDX-License-Identifier: Apache-2.0 */
/*
 * happy_eyeballs.h - which address to connect to next, and when (RFC 8305).
 *
 * Addresses of both families alternate, at most three of each; the first is IPv6 unless
 * IPv4 won the last time. The next one is tried after 250 ms, or at once when one has
 * failed. The first that connects wins. If all fail, the most specific error is returned,
 * as one failure, not six.
 *
 *     sn_happy_eyeballs_begin(&r, &answer, 0);
 *     while ((ip = sn_happy_eyeballs_next(&r, now)))
 *         if ((e = try(ip)) != SEINE_OK)
 *             sn_happy_eyeballs_lost(&r, e, now);
 *     if (sn_happy_eyeballs_is_over(&r))
 *         return sn_happy_eyeballs_why(&r);
 *     come_back_at(sn_happy_eyeballs_when(&r));
 *
 * Time    is passed in.
 * Memory  the caller's.
 * Threads one owner.
 */
#ifndef SN_HAPPY_EYEBALLS_H
#define SN_HAPPY_EYEBALLS_H

#include "net/dns.h"

#define SN_HAPPY_EYEBALLS_FAMILY 3 /* addresses tried per family */
#define SN_HAPPY_EYEBALLS_MOST   (2 * SN_HAPPY_EYEBALLS_FAMILY)
#define SN_HAPPY_EYEBALLS_EVERY  SEINE_MS(250)

typedef struct sn_happy_eyeballs {
    sn_ip list[SN_HAPPY_EYEBALLS_MOST]; /* in the order of trying */
    uint8_t n, tried, running;
    seine_time next; /* earliest time of the next one, unless one fails */
    seine_err why;
} sn_happy_eyeballs;

/* `first` is the family to start with, 4 or 6; 0: the default. */
void sn_happy_eyeballs_begin(sn_happy_eyeballs *r, const sn_dns_answer *answer,
                             uint8_t first);

/* Returns the address to try now and counts it as running; NULL: none, or not yet. */
const sn_ip *sn_happy_eyeballs_next(sn_happy_eyeballs *r, seine_time now);

/* One of the running connects has failed. */
void sn_happy_eyeballs_lost(sn_happy_eyeballs *r, seine_err why, seine_time now);

/* Returns the time of the next address; SEINE_NEVER: none is left. */
seine_time sn_happy_eyeballs_when(const sn_happy_eyeballs *r);

/* True if no connect runs and no address is left. */
bool sn_happy_eyeballs_is_over(const sn_happy_eyeballs *r);

/* Returns the most specific error so far. The order is: refused, unreachable, timeout,
 * local limits, blocked by the address guard. */
seine_err sn_happy_eyeballs_why(const sn_happy_eyeballs *r);

#endif
