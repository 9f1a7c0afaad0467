/* SPDX-License-Identifier: Apache-2.0 */
/* draft_try.h - a draft as it stands is applied to its page, and the types of values. */
#ifndef SN_DRAFT_TRY_H
#define SN_DRAFT_TRY_H

#include "recipe/draft.h"

typedef bool (*sn_draft_row_fn)(const seine_row *row, void *arg);

/* Applies the draft; `test` NULL: all fields are texts. `on_lead` may be NULL. False:
 * d->err. */
bool sn_draft_try(sn_draft *d, const sn_draft_test *test, sn_draft_row_fn fn, void *arg,
                  void (*on_lead)(const seine_lead *lead, void *arg));

/* The type that all values of a field are of. */
void sn_draft_type(sn_draft *d, sn_draft_field *f, size_t rows);

#endif
