/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_match.h - does a name or a pattern of the options mean this host?
 *
 *     sn_host_label at = sn_host_label_of(SN_STR("https://a.example:443"));
 *     bool fits = sn_host_match(SN_STR("*.example"), &at);
 *
 * "e.example" is the name on any port, "e.example:8080" on that one; `*` is any text.
 * Case does not count.
 *
 * Time    plays no part.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SN_HOST_MATCH_H
#define SN_HOST_MATCH_H

#include <stdint.h>

#include "base/str.h"

typedef struct sn_host_label {
    sn_str name;  /* "e.example", "[::1]" */
    sn_str whole; /* "e.example:443" */
} sn_host_label;

sn_host_label sn_host_label_of(sn_str host); /* "https://e.example:443" */

bool sn_host_match(sn_str pattern, const sn_host_label *host);

/* How specific it is: the exact name with its port, the name, the longest pattern; what
 * is weak is weaker than all that is not. Above 0. */
uint32_t sn_host_match_rank(sn_str match, bool is_weak);

/* Is there a * in it; does it name a port? */
bool sn_host_match_is_pattern(sn_str pattern);
bool sn_host_match_has_port(sn_str pattern);

#endif
