/* SPDX-License-Identifier: Apache-2.0 */
/* semver_parts.h - the parts of a version that requirements have, too. */
#ifndef SN_SEMVER_PARTS_H
#define SN_SEMVER_PARTS_H

#include "base/str.h"
#include "seine/semver.h"

/* Takes digits without leading zeros from the front. PARSE, RANGE. */
SEINE_MUST_CHECK seine_err sn_semver_number(sn_str *rest, uint64_t *out_n);

/* Takes "-pre" and "+build", where they are there. PARSE. */
SEINE_MUST_CHECK seine_err sn_semver_tail(sn_str *rest, seine_semver *v);

#endif
