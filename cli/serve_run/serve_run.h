/* SPDX-License-Identifier: Apache-2.0 */
/* serve_run.h - the life of `seine serve`: where its state is, its log, signals. */
#ifndef CLI_SERVE_RUN_H
#define CLI_SERVE_RUN_H

#include "options/options.h"

typedef struct serve_settings {
    const char *listen, *state, *origin;
    uint64_t port;
    texts trusted;
    bool behind_proxy, insecure_listen, no_auth, ws_echo, open;
    int log;
    seine_span grace;
} serve_settings;

enum { SERVE_PATH = 1024 };

/* The state directory: --state, $STATE_DIRECTORY, $XDG_STATE_HOME/seine or
 * ~/.local/state/seine. SAY_DONE, or the exit code after a message. */
int serve_state_dir(const char *given, char out[SERVE_PATH]);

/* Serves until a signal ends it. Returns the exit code. */
int serve_run(const args *a);

/* Prints the first token. */
int serve_token(const char *given_state);

#endif
