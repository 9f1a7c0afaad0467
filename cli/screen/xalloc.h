/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xalloc.h - memory for a program that has nothing better to do without it.
 *
 * When there is none left the program says so and exits with 3. Everything here
 * is freed by free().
 */
#ifndef CLI_XALLOC_H
#define CLI_XALLOC_H

#include <stddef.h>

void *xalloc_zeroed(size_t count, size_t size);
void *xalloc_resize(void *p, size_t count, size_t size);
char *xalloc_copy(const char *bytes, size_t n); /* terminated */

/* Room for one more in a growing array: `p` with *cap > count elements. */
void *xalloc_room(void *p, size_t count, size_t *cap, size_t size);

/* A JSON value that could be made; the program ends here otherwise. */
struct seine_json;
struct seine_json *xalloc_json(struct seine_json *json);

#endif
