/* SPDX-License-Identifier: Apache-2.0 */
/* gate_run.h - the life of `seine gate`: state, signals, reloads. */
#ifndef CLI_GATE_RUN_H
#define CLI_GATE_RUN_H

#include "gate_run/gate_rules.h"

/* Serves until a signal ends it. Returns the exit code. */
int gate_run(const args *a);

#endif
