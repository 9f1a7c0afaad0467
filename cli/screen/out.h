/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - standard output, which carries records and tables and nothing else.
 *
 * The program collects its output and writes it in large pieces of whole lines. A piece
 * that cannot be written ends the program at once: with 141 when the reader has gone,
 * else with 3 and a message.
 *
 *     out_print("%s %d\n", "e.example", 3);
 *     out_flush();
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>

/* On a terminal whatever is written moves no cursor: control characters and marks that
 * turn the direction of writing are escaped, whoever they come from. */
void out_bytes(const char *bytes, size_t n);

/* Writes a value of somebody else as one line, wherever it goes: its line ends and
 * control characters are escaped. */
void out_line(const char *bytes, size_t n);

/* Writes a colour of ours, the only thing that a terminal is to obey. */
void out_code(const char *code);
/* The same, of text of ours with colours in it, whose foreign parts are inert already. */
void out_coloured(const char *bytes, size_t n);
bool out_is_terminal(void);

void out_text(const char *text);
void out_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void out_fill(const char *glyph, size_t times);

/* Writes one JSON value and a line feed, and frees the value. */
struct seine_json;
void out_json(struct seine_json *give);

/* The same, of an object that gets one more member at its end: JSON text. */
void out_json_with(struct seine_json *give, const char *name, const char *text,
                   size_t len);

/* Writes what was collected. Called before the program waits for input, and at the end.
 */
void out_flush(void);

#endif
