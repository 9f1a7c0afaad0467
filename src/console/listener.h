/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.h - the socket on which the console listens.
 *
 * Loopback addresses and Unix sockets are open to this machine alone. Any other address
 * needs a reason: a proxy in front that ends TLS, or the word `insecure`.
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads one owner.
 */
#ifndef SN_LISTENER_H
#define SN_LISTENER_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/console.h"

/* CONFIG: not an address, or one that the options do not allow; IO: it cannot be had.
 * The diag says why. `out_where` is "127.0.0.1:8787", the port as it was given, or
 * "unix:/path". */
SEINE_MUST_CHECK seine_err sn_listener_open(const seine_console_opts *opts, int *out_fd,
                                            char out_where[128], seine_diag *diag);

#endif
