/* SPDX-License-Identifier: Apache-2.0 */
/* time.h - one unit of time for the whole library: monotonic nanoseconds. */
#ifndef SEINE_TIME_H
#define SEINE_TIME_H

#include <stdint.h>

typedef int64_t seine_time; /* a moment on a clock that never runs backwards */
typedef int64_t seine_span; /* a distance between two moments */

#define SEINE_NEVER   INT64_MAX
#define SEINE_US(n)   ((n) * (seine_span)1000)
#define SEINE_MS(n)   ((n) * (seine_span)1000000)
#define SEINE_SECS(n) ((n) * (seine_span)1000000000)

#endif
