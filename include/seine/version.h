/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h - which libseine is running, and with what.
 *
 *     printf("libseine %s\n", seine_version());
 *     if (SEINE_VERSION_NUMBER < SEINE_VERSION_OF(0, 2, 0))
 *         printf("compiled against an old header\n");
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

/* The version of these headers; the build takes its own from here. */
#define SEINE_VERSION_MAJOR 0
#define SEINE_VERSION_MINOR 1
#define SEINE_VERSION_PATCH 0
#define SEINE_VERSION_TEXT  "0.1.0"

/* Versions as numbers that can be compared; parts are below 1000. */
#define SEINE_VERSION_OF(major, minor, patch) \
    (1000000L * (major) + 1000L * (minor) + (patch))
#define SEINE_VERSION_NUMBER \
    SEINE_VERSION_OF(SEINE_VERSION_MAJOR, SEINE_VERSION_MINOR, SEINE_VERSION_PATCH)

SEINE_BEGIN

/* "1.2.3" of the library that is loaded, as in the file name of the shared library. */
const char *seine_version(void);

/* The i-th library that libseine uses; false, and nothing written, when there are no
 * more. */
bool seine_version_library_get(size_t i, const char **out_name, const char **out_version);

SEINE_END

#endif
