/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_traces.h - the traces of a run: where they go, by --otlp, the configuration and the
 * variables of OpenTelemetry.
 */
#ifndef CLI_RUN_TRACES_H
#define CLI_RUN_TRACES_H

#include <seine/otlp.h>

#include "config/service_config.h"
#include "options/fetch_settings.h"

/* *out_traces is NULL if nobody asks for traces. SAY_DONE, or the exit code after an
 * error message. `log` and `metrics` outlive them; NULL: none. */
int run_traces_open(const args *a, seine_log *log, seine_metrics *metrics,
                    seine_otlp **out_traces);
/* The same for a server, which has no options of a run. */
int run_traces_open_service(const service_config *set, seine_log *log,
                            seine_metrics *metrics, seine_otlp **out_traces);

/* Ends what open has made; those of the host of a run stay. */
void run_traces_close(const args *a, seine_otlp *traces);

#endif
