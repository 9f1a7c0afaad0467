/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.h - records of URLs that failed, held back until their referrers are known.
 *
 * Any page of the crawl may link to a URL that failed, the last one too. So these records
 * wait for the end of the run. Callbacks that do not ask for referrers get them at once:
 * a run that counts its failures counts them when they happen.
 *
 *     if (!sn_failures_hold(&f, record))        no room: now, with the pages known so far
 *         …
 *     while ((r = sn_failures_next(&f)))        at the end, in the order of their coming
 *         …
 *     sn_failures_with(&f, r, write, arg);      calls write with the referrers in r
 *
 * A record that is held is not one that the job knows as done: a run that is killed asks
 * for its URL again.
 *
 * Time    plays no part.
 * Memory  SN_FAILURES_BYTES of records, and the table of referrers.h.
 * Threads one owner.
 */
#ifndef SN_FAILURES_H
#define SN_FAILURES_H

#include "store/record_lane.h"
#include "store/referrers.h"

#define SN_FAILURES_BYTES  (16u << 20)
#define SN_FAILURE_LARGEST (1u << 20) /* of one record */

typedef struct sn_failures {
    sn_referrers table;
    seine_referrer *pages; /* `most` of them; NULL: nobody asks for referrers */
    sn_record_block *first, **end, *taken;
    size_t bytes;
} sn_failures;

/* A zeroed one is off. NOMEM. */
SEINE_MUST_CHECK seine_err sn_failures_init(sn_failures *f, uint32_t most);
void sn_failures_fini(sn_failures *f);

bool sn_failures_is_failure(const seine_record *r);

/* Copies the record. False: it is too large, or too many are held. */
bool sn_failures_hold(sn_failures *f, const seine_record *r);
seine_record *
sn_failures_next(sn_failures *f); /* valid until the next call; NULL: none */

/* Calls `fn` while the record has its referrers. */
void sn_failures_with(sn_failures *f, seine_record *r,
                      void (*fn)(seine_record *r, void *arg), void *arg);

#endif
