/* SPDX-License-Identifier: Apache-2.0 */
/* replace.h - a small file, written whole or not at all. */
#ifndef CLI_REPLACE_H
#define CLI_REPLACE_H

#include <stdbool.h>
#include <stddef.h>

/* Under a name beside it, then renamed; what is no regular file (a pipe, /dev/stdout)
 * is written to. False: errno says why, and the old content stays. */
bool replace_file(const char *path, const char *bytes, size_t n);

#endif
