/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h - prints a record by a pattern of the user (--write-out).
 *
 *     %{status} %{time.total} %{url}\n
 *
 * A name is a path into the record as JSON. An absent member prints nothing; a member
 * that is no text and no number prints as JSON; of data.NAME, which is a list, the values
 * are joined by "|". %% is a percent sign; \n \t \r \\ are
 * escapes.
 *
 *     template t;
 *     const char *why = template_init(&t, "%{status} %{url}\\n", false);
 *     template_make(&t, record, 1);
 */
#ifndef CLI_TEMPLATE_H
#define CLI_TEMPLATE_H

#include <seine/record.h>

#include "screen/textbuf.h"

typedef struct template
{
    char *source; /* the pattern, with its escapes resolved */
    size_t len;
    char *json;
    size_t json_cap;
    textbuf out;
    bool escape; /* escape control characters of values, for a terminal */
}
template;

/* Reads a pattern. Returns NULL, or the reason why it is none. */
const char *template_init(template *t, const char *text, bool on_terminal);
void template_fini(template *t);

/* Makes t->out the text of this record. */
void template_make(template *t, const seine_record *r, uint64_t seq);

#endif
