/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_pace.h - `rate` for each value of a member of the input, and `max_wait`.
 *
 * A visit takes its token when it could start: at once, or as a reservation of a later
 * moment, until which it waits like a retry. So visits of one value start in their order,
 * and others pass them. A visit that would wait longer than `max_wait` takes none.
 *
 *     e = sn_key_pace_reserve(p, v, now, &at);         OK; LIMITED: too long
 *
 * Time    is passed in.
 * Memory  a bucket for each value that owes tokens, 65,536 of them; further values share
 *         one.
 * Threads any thread.
 */
#ifndef SN_KEY_PACE_H
#define SN_KEY_PACE_H

#include "engine/visit.h"
#include "seine/fetch.h"

typedef struct sn_key_pace sn_key_pace;

/* By rate, rate_key and max_wait. CONFIG, NOMEM. */
SEINE_MUST_CHECK seine_err sn_key_pace_new(const seine_fetch_opts *opts,
                                           sn_key_pace **out_pace, seine_diag *diag);
void sn_key_pace_free(sn_key_pace *p);

/* Is it a key that the engine knows: "none", "host", or a pointer to id, url, method or
 * tags? */
bool sn_key_pace_knows(const char *key);

uint64_t sn_key_pace_keys(const sn_key_pace *p); /* values with a bucket; NULL: 0 */

SEINE_MUST_CHECK seine_err sn_key_pace_reserve(sn_key_pace *p, const sn_visit *v,
                                               seine_time now, seine_time *out_at);

#endif
