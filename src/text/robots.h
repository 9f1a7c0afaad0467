/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.h - functions of the robots.txt reader that its tests call.
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_ROBOTS_H
#define SN_ROBOTS_H

#include "base/str.h"
#include "seine/robots.h"

#define SN_ROBOTS_URL 32768 /* bytes of a URL that are compared */

/* Returns path, parameters and query of a URL, or of a text that looks like one, with
 * escapes in upper case like those of patterns; "/" if there is none. */
sn_str sn_robots_target(sn_str url, char mem[SN_ROBOTS_URL + 1]);

/* True if the pattern matches from the start of the target. Both are escaped. */
bool sn_robots_match(sn_str target, sn_str pattern);

#endif
