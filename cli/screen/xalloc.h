/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xalloc.h - allocations that end the program when memory runs out.
 *
 * The program prints a message and exits with 3. free() frees what is allocated here.
 *
 *     int *all = NULL;
 *     size_t count = 0, cap = 0;
 *     all = xalloc_room(all, count, &cap, sizeof *all);
 *     all[count++] = 7;
 */
#ifndef CLI_XALLOC_H
#define CLI_XALLOC_H

#include <stddef.h>

void *xalloc_zeroed(size_t count, size_t size);
void *xalloc_resize(void *p, size_t count, size_t size);
char *xalloc_copy(const char *bytes, size_t n); /* terminated */

/* Makes room for one more element in a growing array: afterwards *cap > count. */
void *xalloc_room(void *p, size_t count, size_t *cap, size_t size);

/* Returns `json`; ends the program if it is NULL. */
struct seine_json;
struct seine_json *xalloc_json(struct seine_json *json);

#endif
