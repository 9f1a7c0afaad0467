/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h - slices as text, and how requests are counted in them.
 *
 *     sn_slice_time(&slice, SEINE_MS(40));          a request took that long
 *     sn_slice_fail(&slice, SEINE_E_TIMEOUT, 1);
 *     char text[SN_SLICE_TEXT];
 *     size_t n = sn_slice_write(&slice, text);      {"at":1763406001,"seconds":1, …}
 *     bool ok = sn_slice_read((sn_str){text, n}, &slice);
 *
 * Members that are 0 are left out, so that a slice of a quiet run has some hundred bytes.
 *
 * Time    plays no part.
 * Memory  the caller's; reading takes some for a moment.
 * Threads any thread.
 */
#ifndef SN_TIMELINE_H
#define SN_TIMELINE_H

#include "base/buf.h"
#include "seine/timeline.h"

enum { SN_SLICE_TEXT = 8192 }; /* the longest, with all numbers as long as they can be */

void sn_slice_time(seine_slice *s, seine_span took);
void sn_slice_fail(seine_slice *s, uint32_t err, uint64_t n);

/* Returns the length; there is no terminator. */
size_t sn_slice_write(const seine_slice *s, char out[SN_SLICE_TEXT]);

/* All that it holds, seconds and minutes, a line each. */
void sn_timeline_lines(const seine_timeline *t, sn_buf *out);

/* False: it is no slice, or memory is short. */
SEINE_MUST_CHECK bool sn_slice_read(sn_str json, seine_slice *out_slice);

#endif
