/* SPDX-License-Identifier: Apache-2.0 */
/* mirror.h - after the run of a copy of a site: names, links, and what is told of it. */
#ifndef CLI_MIRROR_H
#define CLI_MIRROR_H

#include "verbs/fetch_state.h"

/* Puts the files of the copy in their places and says how many there are. False: some
 * could not be written, which was said. */
bool mirror_settle(run *r);

#endif
