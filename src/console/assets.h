/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h - the pages of the console, compiled into the program.
 *
 * tools/make-assets turns the built pages into a table: each file is one gzip member in
 * constant memory, and its name holds a hash of its content, so that a browser may keep
 * it for ever. `/` is not packed: it carries a nonce of its own in every answer. No
 * request reads a file. A build without Node has an empty table and a plain page.
 *
 * Time    plays no part.
 * Memory  constant; a client that does not take gzip gets a file that is unpacked for it.
 * Threads any thread.
 */
#ifndef SN_ASSETS_H
#define SN_ASSETS_H

#include "base/str.h"

typedef struct sn_asset {
    const char *name; /* "main-MO3PK3RI.js"; NULL ends the table */
    const char *type;
    const char *sha256; /* in hex, of the unpacked bytes */
    const unsigned char *packed;
    size_t n_packed, n_bytes;
} sn_asset;

/* What is compiled in of others. */
typedef struct sn_asset_licence {
    const char *name, *version, *licence;
} sn_asset_licence;

const sn_asset *sn_asset_find(sn_str name); /* NULL: none */

/* Does the client take gzip, by its Accept-Encoding? */
bool sn_asset_takes_gzip(sn_str accept_encoding);

#endif
