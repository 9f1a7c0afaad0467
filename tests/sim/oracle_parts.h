/* SPDX-License-Identifier: Apache-2.0 */
/* oracle_parts.h - what the two files of the oracle share. */
#ifndef SIM_ORACLE_PARTS_H
#define SIM_ORACLE_PARTS_H

#include "oracle.h"

enum { MAP_DEPTH = 1 }; /* of what a sitemap names */

/* Reasons, a bit each, for which a URL may never be asked for, whoever leads to it. */
unsigned oracle_refusals(const sim_world *w, uint32_t i);

/* Does its robots.txt count? */
bool oracle_obeys(const sim_world *w, const site_host *h);

/* Perhaps: a given URL that redirects takes the scope along within its domain. */
bool oracle_may_be_in_scope(const site *s, const site_node *node);

#endif
