/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admit.h - stage 1: somebody names a URL. Does it become work, a refusal, or nothing
 * new?
 *
 * Text becomes a URL (without a scheme: https, or http for addresses and localhost), a
 * key, a number and a visit that holds copies of all it needs. A URL that cannot be asked
 * for becomes a visit with is_skip: it goes to a shard like the others, and its record
 * says why. A key that was given before ends here, and the caller counts it.
 *
 *     e = sn_admit(shared, &ask, now, &visit);    OK: give it to its shard
 *
 * ALREADY: an earlier URL has the same key. FULL: too many visits. NOMEM.
 *
 * Time    is passed in.
 * Memory  the visit's arena.
 * Threads any thread.
 */
#ifndef SN_ADMIT_H
#define SN_ADMIT_H

#include "engine/shared_state.h"
#include "engine/visit.h"

/* ALREADY, FULL, NOMEM: there is no visit, and the URL counts as not given. */
SEINE_MUST_CHECK seine_err sn_admit(sn_shared_state *c, const seine_ask *ask,
                                    seine_time now, sn_visit **out_visit);

/* The same for a URL that an earlier run of the job was given, with the number it had: it
 * is known, and no second row is made of it. FULL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_admit_again(sn_shared_state *c, const seine_ask *ask,
                                          uint64_t number, seine_time now,
                                          sn_visit **out_visit);

/* Turns an admitted visit into a skip: it is refused after all. */
void sn_admit_refuse(sn_visit *v, seine_skip reason, sn_str rule);

/* "localhost:8080/x" → "http"; "e.example/x" → "https"; "" when there is a scheme. */
sn_str sn_admit_scheme(sn_str text);

/* GET HEAD PUT DELETE OPTIONS TRACE (RFC 9110, 9.2.2). */
bool sn_admit_is_idempotent(sn_str method);

/* Parses a URL as people type it: puts a scheme in front if the text has none. */
SEINE_MUST_CHECK seine_err sn_admit_parse(sn_str text, seine_url *u,
                                          seine_url_flaw *flaw);

/* Is it a field that may be asked for: a token, no control bytes, none of those that
 * the transport writes itself? */
bool sn_admit_is_field(sn_str name, sn_str value);

#endif
