/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_after.h - how long does a Retry-After field ask the client to wait?
 *
 *     pause = snc_retry_after_read(SN_STR("120"), wall);    two minutes
 *     pause = snc_retry_after_read(SN_STR("Sun, 15 Nov 2026 22:00:00 GMT"), wall);
 *
 * The witness parses the field itself, without code of the client: seconds, or the one
 * form of date that servers may send (RFC 9110, 5.6.7). Any other value means no wait.
 *
 * Time    the wall clock is passed in, Unix time in ns.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SNC_RETRY_AFTER_H
#define SNC_RETRY_AFTER_H

#include "base/str.h"
#include "seine/time.h"

/* 0: no wait. At most a year. */
seine_span snc_retry_after_read(sn_str value, int64_t wall);

#endif
