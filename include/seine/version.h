/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which libseine is running, and with what.
 *
 *     printf("libseine %s\n", seine_version());
 *
 *     const char *name, *version;
 *     for (size_t i = 0; seine_version_library_get(i, &name, &version); i++)
 *         printf("%s %s\n", name, version);
 *
 * The versions are those of the libraries that are loaded now, not of the
 * headers the build saw.
 *
 * Time    plays no part.
 * Memory  all strings are static.
 * Threads any thread.
 */
#ifndef SEINE_VERSION_H
#define SEINE_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"

SEINE_BEGIN

/* "1.2.3", as in the file name of the shared library. */
const char *seine_version(void);

/* The i-th outside library this one stands on; false, and nothing written, when
 * there are no more. */
bool seine_version_library_get(size_t i, const char **out_name, const char **out_version);

SEINE_END

#endif
