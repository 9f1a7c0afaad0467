/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - `--watch`: the dashboard of one run, on this machine alone.
 *
 * A console of its own listens on a port of 127.0.0.1 that the kernel chooses; its token
 * is new and ends with the run. It keeps nothing: its directory goes with it.
 *
 *     code = watch_open(&w, "docs.example");            says where it is
 *     …                                                 the run, with w.host
 *     watch_close(&w, code);
 */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include "serve_run/run_host.h"

struct seine_console;

typedef struct watch {
    struct seine_console *console; /* NULL: there is none */
    run_host host;
    char dir[64];
} watch;

/* SAY_DONE, or the exit code after an error message. */
int watch_open(watch *w, const char *title);
void watch_close(watch *w, int code);

#endif
