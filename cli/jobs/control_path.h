/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control_path.h - the address of control.sock in a directory, however long its path.
 *
 * The address of a socket has 107 bytes, so the directory is named by its descriptor:
 * /proc/self/fd/7/control.sock. A link in its place is not followed.
 */
#ifndef CLI_CONTROL_PATH_H
#define CLI_CONTROL_PATH_H

#include <sys/un.h>

#define CONTROL_NAME "control.sock"

/* Returns the descriptor of the directory, to be closed when the address was used; -1:
 * errno. */
int control_path(const char *dir, struct sockaddr_un *out_address);

#endif
