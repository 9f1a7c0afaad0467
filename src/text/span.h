/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span.h - a duration as people write it: 500ms, 2s, 1h30m, 1.5.
 *
 * Numbers with ns us ms s m h d w, one behind the other; a bare one is seconds.
 *
 *     e = sn_span_parse(SN_STR("1h30m"), &span);      SEINE_SECS(5400)
 *
 * Time    not negative, 10 years at most; parts of a nanosecond are cut off.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_SPAN_H
#define SN_SPAN_H

#include "base/str.h"
#include "seine/time.h"

#define SN_SPAN_MAX SEINE_SECS(INT64_C(315576000))

/* INVAL: no duration; RANGE: longer than 10 years. */
SEINE_MUST_CHECK seine_err sn_span_parse(sn_str s, seine_span *out_span);

#endif
