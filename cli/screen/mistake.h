/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mistake.h - shows a mistake in a file where it is: the line, a caret, what to try.
 *
 *     seine: shop.yaml:16:3: unknown key 'field' in items
 *         field:
 *         ^
 *     try: fields
 */
#ifndef CLI_MISTAKE_H
#define CLI_MISTAKE_H

#include <stddef.h>

#include <seine/diag.h>

/* `text` is that of the file. */
void mistake_tell(const char *text, size_t len, const seine_diag *d);

/* The text of a mistake without its hint, which is the part behind "; try "; NULL: it has
 * none. */
void mistake_split(const seine_diag *d, char what[SEINE_DIAG_TEXT],
                   const char **out_hint);

#endif
