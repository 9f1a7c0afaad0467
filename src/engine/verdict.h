/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h - stage 4: an attempt has ended. What does that mean, and what follows?
 *
 * This file alone decides a retry, a replay, a redirect or the end. It says first what
 * the end means to the visit and to the guards of its host, then what follows for the
 * visit. Both come before the guards hear of the end, since they may be folded then:
 *
 *     hop = sn_verdict_judge(shared, v, now);       v->end.fault has its final kind
 *     if (!hop)
 *         next = sn_verdict_next(shared, v, now, dice);
 *
 * | the end                                         | follows                        |
 * | an accepted status, the body whole              | done, ok                       |
 * | 301 302 303 307 308                             | the next URL, or a named error |
 * | another status                                  | done; of the retry set: again  |
 * | connection, name, time-out, body cut            | again, if it may be repeated   |
 * | a kept connection was dead                      | again at once, once, uncounted |
 * | no descriptor, no port, address busy            | later, uncounted               |
 * | its proxy is left alone; is given up            | later, uncounted; done         |
 * | 429, 503 with a Retry-After that is too long    | done, retry_after_too_long     |
 * | a 304, 206 nobody asked for                     | again, once                    |
 * | everything else                                 | done                           |
 *
 * A judged attempt is counted; hops and replays are no attempts.
 *
 * Time    is passed in, and so are the dice.
 * Memory  the visit's arena.
 * Threads one owner.
 */
#ifndef SN_VERDICT_H
#define SN_VERDICT_H

#include "engine/shared_state.h"

typedef enum sn_then {
    SN_THEN_DONE,   /* v->fault is how it ended */
    SN_THEN_RETRY,  /* one more attempt at `at` */
    SN_THEN_REPLAY, /* the same attempt again, on a fresh connection */
    SN_THEN_LATER,  /* it could not begin for our own reasons */
} sn_then;

typedef struct sn_verdict {
    sn_then then;
    seine_time at;
    seine_wait why;
    seine_stop stop; /* of DONE: why not again */
} sn_verdict;

/* True: the visit goes on to another URL, which is v->url now. */
bool sn_verdict_judge(const sn_shared_state *c, sn_visit *v, seine_time now);

/* v->end stays as it was judged. `dice` are 64 random bits. */
sn_verdict sn_verdict_next(const sn_shared_state *c, sn_visit *v, seine_time now,
                           uint64_t dice);

/* The visit ends without being asked (again): its host was given up (BREAKER,
 * RETRY_AFTER_TOO_LONG), its time has passed, the run ends. A failure it had already
 * stays its error when the host was given up; `cause`, if there is one, is why that was.
 */
void sn_verdict_give_up(sn_visit *v, seine_err why, seine_err cause);

#endif
