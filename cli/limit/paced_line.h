/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paced_line.h - a line of the input of `seine limit`: text, or a request in JSON.
 *
 *     paced_line line;
 *     char why[128];
 *     if (!paced_line_read(&line, "{\"id\":7}", 8, why))
 *         puts(why);
 *     paced_line_clear(&line);
 *
 * The text is borrowed from the reader; only a line that begins with { is parsed.
 */
#ifndef CLI_PACED_LINE_H
#define CLI_PACED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/plumbing.h>

typedef struct paced_line {
    const char *text; /* without blanks at its ends */
    size_t len;
    uint64_t number;
    seine_json *json; /* NULL: it is not JSON */
} paced_line;

/* False: it begins like JSON and is none; `why` says where. */
bool paced_line_read(paced_line *line, const char *text, size_t len, char why[128]);
void paced_line_clear(paced_line *line);

/* The URL of a request in JSON, else the whole line. */
void paced_line_subject(const paced_line *line, const char **out_text, size_t *out_len);

/* A member as text: a string as it is, a number or a list as JSON. The caller frees it.
 * NULL: there is none, or it is null. */
char *paced_line_member(const paced_line *line, const char *pointer, size_t n,
                        size_t *out_len);

#endif
