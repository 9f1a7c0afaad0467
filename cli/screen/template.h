/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.h - a line per record by the user's own pattern (--write-out).
 *
 *     %{status} %{time.total} %{url}\n
 *
 * A name is a path into the record as JSON; what is absent is empty, what is no text
 * or number is JSON. %% is a percent sign; \n \t \r \\ as usual.
 */
#ifndef CLI_TEMPLATE_H
#define CLI_TEMPLATE_H

#include <seine/record.h>

#include "screen/textbuf.h"

typedef struct template
{
    char *source; /* with the escapes undone */
    size_t len;
    char *json;
    size_t json_cap;
    textbuf out;
    bool escape; /* control characters of values, for a terminal */
}
template;

/* NULL, or why it is none. */
const char *template_init(template *t, const char *text, bool on_terminal);
void template_fini(template *t);

/* t->out is the text for this record. */
void template_make(template *t, const seine_record *r, uint64_t seq);

#endif
