/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_start.h - what a run says when it begins: only what may surprise its user, such as
 * a proxy or certificates that are not checked.
 */
#ifndef CLI_RUN_START_H
#define CLI_RUN_START_H

#include "options/fetch_opts.h"
#include "verbs/run_log.h"
#include "verbs/run_metrics.h"

void run_start_say(run_log *log, const fetch_settings *set, const fetch_plan *plan,
                   const run_metrics *metrics, seine_fetch *fetch);

#endif
