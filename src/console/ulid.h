/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ulid.h - names of documents, runs, tokens and requests: 26 characters, sorted by time.
 *
 *     char id[SN_ULID];
 *     sn_ulid_new(wall, id);                         "01JD2Z6W9N…", terminated
 *     if (!sn_ulid_is(text))
 *         return not_found();
 *
 * Time    the caller's wall clock, in nanoseconds: the first 10 characters are its
 *         milliseconds.
 * Memory  the caller's.
 * Threads any thread; the other 80 bits come from the kernel.
 */
#ifndef SN_ULID_H
#define SN_ULID_H

#include "base/str.h"

#define SN_ULID 27 /* bytes, the terminator included */

void sn_ulid_new(int64_t wall, char out_id[SN_ULID]);
bool sn_ulid_is(sn_str text); /* 26 of its characters, upper case */

#endif
