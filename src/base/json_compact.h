/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_compact.h - a JSON text as seine prints it, without a tree.
 *
 *     sn_json_compact(text, &out);        {"a":[1,2.5,"\u00e4"]}
 *
 * Blanks between values are gone, strings are those of sn_json_quote and numbers those of
 * sn_json_decimal: the bytes are the same as those of seine_json_print for the tree of
 * the text. A text that the scan has not found good gives bytes without a meaning.
 *
 * Time    plays no part; work is linear.
 * Memory  that of `out`, at most three times the text, and the longest string with
 *         escapes.
 * Threads any thread.
 */
#ifndef SN_JSON_COMPACT_H
#define SN_JSON_COMPACT_H

#include "base/buf.h"

/* Adds to `out`, which keeps the error of an addition that failed. BUDGET: more numbers
 * below 1e-307 than 1,000 and one for 256 bytes, whose digits cost much. */
void sn_json_compact(sn_str text, sn_buf *out);

#endif
