/* SPDX-License-Identifier: Apache-2.0 */
/* json_same.h - compares JSON values, and shows them in messages. */
#ifndef CLI_JSON_SAME_H
#define CLI_JSON_SAME_H

#include <stdbool.h>

#include <seine/plumbing.h>

/* The same value; 9 and 9.0 are. Members may stand in any order. */
bool json_same(const seine_json *a, const seine_json *b);

/* Calls `fn` for each member of `want` that `got` does not have the same; returns how
 * many there are. */
typedef void (*json_differs_fn)(const char *name, const seine_json *want,
                                const seine_json *got, void *arg);
unsigned json_differs(const seine_json *want, const seine_json *got, json_differs_fn fn,
                      void *arg);

/* The value on one line; the caller frees it. NULL prints as null. */
char *json_shown(const seine_json *json);

#endif
