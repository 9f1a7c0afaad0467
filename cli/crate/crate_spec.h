/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crate_spec.h - NAME or NAME@VERSION, as it is typed.
 *
 * The name of a crate becomes a part of URLs and of paths, so nothing else than a name of
 * crates.io passes: letters, digits, - and _, at most 64 of them.
 *
 *     crate_spec spec;
 *     if (!crate_spec_read("regex@1.5.4", &spec, &why))
 *         complain(why.text);
 *     crate_spec_fini(&spec);
 */
#ifndef CLI_CRATE_SPEC_H
#define CLI_CRATE_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "verbs/jsonl.h"

typedef struct crate_spec {
    char *name, *version; /* version: NULL if there is none */
} crate_spec;

bool crate_name_is_valid(const char *name, size_t len);
bool crate_version_is_valid(const char *text, size_t len);

/* Whether crates.io takes two names for the same: case, - and _ play no part there. */
bool crate_name_is_same(const char *a, const char *b);
int crate_name_cmp(const char *a, const char *b); /* the order that goes with it */

bool crate_spec_read(const char *word, crate_spec *out, reason *why);
void crate_spec_fini(crate_spec *spec);

#endif
