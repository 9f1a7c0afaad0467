/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots.h - parts of a robots.txt that its tests look at.
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_ROBOTS_H
#define SN_ROBOTS_H

#include "base/str.h"
#include "seine/robots.h"

#define SN_ROBOTS_URL 32768 /* bytes of a URL that count */

/* Path, parameters and query of a URL, or of what looks like one, its escapes in upper
 * case as those of patterns are; "/" when it has none. */
sn_str sn_robots_target(sn_str url, char mem[SN_ROBOTS_URL + 1]);

/* Does the pattern match from the begin of the target? Both are escaped. */
bool sn_robots_match(sn_str target, sn_str pattern);

#endif
