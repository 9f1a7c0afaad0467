/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_opts.h - options of a fetch from programs that were compiled against other
 * headers.
 *
 * The options grow at their end (docs/ABI.md). What an older program does not know is
 * zero here, so that the engine always sees all members.
 *
 *     seine_fetch_opts own;
 *     e = sn_fetch_opts_read(&own, opts, &diag);
 *
 * Time    plays no part.
 * Memory  none: texts and arrays are borrowed as before.
 * Threads any thread.
 */
#ifndef SN_FETCH_OPTS_H
#define SN_FETCH_OPTS_H

#include "seine/fetch.h"

/* CONFIG: no initialiser made them, or they set members that are not known here. */
SEINE_MUST_CHECK seine_err sn_fetch_opts_read(seine_fetch_opts *own,
                                              const seine_fetch_opts *given,
                                              seine_diag *diag);

#endif
