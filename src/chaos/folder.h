/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h - reads files below one directory, and never one beside it.
 *
 * A name is parts with slashes between them, "shop/pages/list-1.html". Each part is
 * opened below the one before it, and no part may be a symbolic link, "." or "..": a
 * client cannot name a file outside of the folder, whatever stands in it.
 *
 *     int folder = snc_folder_open("recipes");
 *     if (snc_folder_read(folder, SN_STR("shop/pages/list-1.html"), &text) == SEINE_OK)
 *         serve(sn_buf_view(&text), snc_folder_type(SN_STR("list-1.html")));
 *
 * Time    plays no part.
 * Memory  the caller's buffer; a file has SNC_FOLDER_MOST bytes at most.
 * Threads any thread.
 */
#ifndef SNC_FOLDER_H
#define SNC_FOLDER_H

#include "base/buf.h"

#define SNC_FOLDER_MOST ((size_t)64 << 20)

/* A descriptor of the directory; the caller closes it. -1 and errno: there is none. */
int snc_folder_open(const char *path);

/* Adds the bytes of the file. UNKNOWN: no such file, or no regular one; RANGE: it is
 * larger than SNC_FOLDER_MOST; NO_FILES; IO; FULL and NOMEM: the buffer has no room. */
SEINE_MUST_CHECK seine_err snc_folder_read(int folder, sn_str name, sn_buf *out);

/* Content-Type by the end of the name; "application/octet-stream" for one that says
 * nothing. No charset: the file may state its own. */
const char *snc_folder_type(sn_str name);

#endif
