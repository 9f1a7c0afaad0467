/* SPDX-License-Identifier: Apache-2.0 */
/* mirror_opts.h - what a copy of a site implies for the options of a crawl. */
#ifndef CLI_MIRROR_OPTS_H
#define CLI_MIRROR_OPTS_H

#include "options/options.h"

/* Sets what `mirror` and --mirror imply, if one of them is asked for: the crawl visits
 * its site again, and its job is kept in the directory of the copy. *out_state is the
 * name of that place, which the caller frees after the run, or NULL. SAY_DONE; or the
 * exit code after an error message. */
int mirror_opts_apply(const args *a, char **out_state);

#endif
