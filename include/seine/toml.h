/* SPDX-License-Identifier: Apache-2.0 */
/*
 * toml.h - read TOML 1.0: Cargo.lock, and the front matter of an advisory.
 *
 *     seine_diag diag = SEINE_DIAG;
 *     e = seine_toml_parse("[a]\nb = [1, 2]\n", 15, &table, &diag);
 *     if (e == SEINE_E_PARSE)
 *         complain(diag.line, diag.column, diag.text);
 *
 * The result is a tree of JSON values (<seine/plumbing.h>, seine_json_free): tables are
 * objects with their keys in the order of the text, dates and times are strings as they
 * are written. inf and nan, which JSON does not have, are strings, too. A key that is
 * given twice is an error, as is a table.
 *
 * Time    plays no part. Work is linear in the text.
 * Memory  a few times the text; at most 16 MiB of text, 64 levels, 1,000,000 values.
 * Threads any thread; a tree has one owner.
 */
#ifndef SEINE_TOML_H
#define SEINE_TOML_H

#include <stddef.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"

#define SEINE_TOML_DEPTH 64
#define SEINE_TOML_BYTES ((size_t)16 << 20)

struct seine_json; /* of <seine/plumbing.h> */

SEINE_BEGIN

/* PARSE: the diag has line, column and reason. RANGE: longer, deeper or more than the
 * caps above. INVAL: no text. NOMEM. */
SEINE_MUST_CHECK seine_err seine_toml_parse(const char *text, size_t len,
                                            struct seine_json **out_table,
                                            seine_diag *diag);

SEINE_END

#endif
