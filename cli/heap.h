/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - memory for a program that has nothing better to do without it.
 *
 * When there is none left the program says so and exits with 3. Everything here
 * is freed by free().
 */
#ifndef CLI_HEAP_H
#define CLI_HEAP_H

#include <stddef.h>

void *heap_zeroed(size_t count, size_t size);
void *heap_resize(void *p, size_t count, size_t size);
char *heap_copy(const char *bytes, size_t n); /* terminated */

/* Room for one more in a growing array: `p` with *cap > count elements. */
void *heap_room(void *p, size_t count, size_t *cap, size_t size);

/* A JSON value that could be made; the program ends here otherwise. */
struct seine_json;
struct seine_json *heap_json(struct seine_json *json);

#endif
