/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - `seine crawl --incremental --plan`: which URLs would a run ask for?
 *
 * The state of the job is read and not changed, and nobody is asked for anything. URLs go
 * to standard output, one on a line, the counts to standard error.
 */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "options/options.h"

/* SAY_DONE, or the exit code after an error message. */
int crawl_plan_show(const args *a);

#endif
