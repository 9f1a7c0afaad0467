/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - standard output: records and tables, nothing else.
 *
 * Everything is collected and written in large pieces. A piece that cannot be
 * written ends the program at once: 141 when the reader has gone, else 3 with a
 * message. Whole lines only are written before the end.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stddef.h>

void out_bytes(const char *bytes, size_t n);
void out_text(const char *text);
void out_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void out_fill(const char *glyph, size_t times);

/* One JSON value and a line feed; `give` is freed. */
struct seine_json;
void out_json(struct seine_json *give);

/* Writes what is there; before waiting for input, and at the end. */
void out_flush(void);

#endif
