/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_names.h - the names that a template may ask for, and what people type instead.
 *
 *     size_t n;
 *     const char *bad = template_names_check("%{status} %{http_code}\n", 23, &n);
 *     const char *near = template_names_near(bad, n);
 */
#ifndef CLI_TEMPLATE_NAMES_H
#define CLI_TEMPLATE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether records have a member of this name or path: "status", "time.total", "tags.x".
 */
bool template_names_has(const char *name, size_t n);

/* The first %{name} in the text that no record has; NULL: there is none. */
const char *template_names_check(const char *text, size_t len, size_t *out_n);

/* The name that was meant: what curl's name is here, or the nearest; NULL: nobody knows.
 */
const char *template_names_near(const char *name, size_t n);

#endif
