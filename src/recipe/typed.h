/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.h - a text of a page becomes a value of a type, or the reason why it does not.
 *
 * Time    of the caller; zones come from the recipe.
 * Memory  the value is a JSON value that the caller frees.
 * Threads any thread.
 */
#ifndef SN_TYPED_H
#define SN_TYPED_H

#include "recipe/parts.h"
#include "seine/url.h"

typedef struct sn_typed_error {
    const char *why; /* "type", "range", "enum", "pattern", "expr" */
    char text[160];  /* "'7ish' is not a time (%I:%M %p)" */
} sn_typed_error;

/* INVAL: *out_why says why. NOMEM. `base` is where links of the page start; NULL: they
 * must be whole. */
SEINE_MUST_CHECK seine_err sn_typed(const seine_recipe *r, const sn_meaning *m,
                                    sn_str text, const seine_url *base,
                                    seine_json **out_value, sn_typed_error *out_why);

/* Numbers: "1.234,5" with the decimal mark ',' as JSON writes it. False: it is none. */
bool sn_typed_number(sn_str text, char decimal, char *out, size_t cap);

/* min, max, values and pattern of a value. `matcher` may be NULL: the function makes one.
 */
SEINE_MUST_CHECK seine_err sn_typed_check(const sn_meaning *m, const seine_json *value,
                                          sn_typed_error *out_why);

#endif
