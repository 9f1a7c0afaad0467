/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.h - appends text from outside as a JSON string.
 *
 *     snc_quote(&out, host);        "a.test", quotes included
 *
 * Time    plays no part.
 * Memory  the buffer's; six times the text while it is written.
 * Threads one owner.
 */
#ifndef SNC_QUOTE_H
#define SNC_QUOTE_H

#include "base/buf.h"

void snc_quote(sn_buf *out, sn_str s);

/* Appends "name": and the string. */
void snc_quote_member(sn_buf *out, const char *name, sn_str s);

#endif
