/* SPDX-License-Identifier: Apache-2.0 */
/* replace.h - writes a small file as a whole or not at all. */
#ifndef CLI_REPLACE_H
#define CLI_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a file beside `path` and renames it. A path that is no regular file (a pipe,
 * /dev/stdout) is written to directly. False: errno says why, and the old content stays.
 */
bool replace_file(const char *path, const char *bytes, size_t n);

#endif
