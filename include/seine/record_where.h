/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_where.h - which records does a condition choose?
 *
 * The condition is an expression of docs/user/expr.md over the members of a record; a
 * word that is no member is text.
 *
 *     seine_record_where *w = NULL;
 *     e = seine_record_where_new("outcome = timeout and attempts > 2", &w, &diag);
 *     if (seine_record_where_has(w, line, n))
 *         printf("%.*s\n", (int)n, line);
 *     seine_record_where_free(w);
 *
 * Time    plays no part.
 * Memory  the expression, and a record while it is looked at.
 * Threads one owner.
 */
#ifndef SEINE_RECORD_WHERE_H
#define SEINE_RECORD_WHERE_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_record_where seine_record_where;

SEINE_BEGIN

/* CONFIG: not a condition; diag.column is where. NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err seine_record_where_new(const char *text,
                                                  seine_record_where **out_where,
                                                  seine_diag *diag);
void seine_record_where_free(seine_record_where *w); /* NULL is fine */

/* Is it true of that record, a line of JSON? What is no record, or takes too many steps,
 * is not chosen. */
bool seine_record_where_has(seine_record_where *w, const char *line, size_t n);

SEINE_END

#endif
