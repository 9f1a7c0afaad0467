/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - the only door to the heap.
 *
 *     node *n SN_AUTOFREE = sn_zalloc(sizeof *n);
 *     if (!n)
 *         return SEINE_E_NOMEM;
 *     …
 *     *out_node = SN_STEAL(n);
 *
 * Large tables come as zeroed pages from sn_pages: they cost nothing until they
 * are touched and can be given back in part.
 *
 * Time    plays no part.
 * Memory  NULL when there is none left; sizes that overflow are NULL too.
 * Threads any thread.
 */
#ifndef SN_ALLOC_H
#define SN_ALLOC_H

#include <stddef.h>

#include "seine/alloc.h"

void *sn_alloc(size_t n);
void *sn_zalloc(size_t n);
void *sn_calloc(size_t count, size_t size); /* zeroed array */
void *sn_realloc(void *p, size_t n);
void sn_free(void *p);

/* Zeroed memory that starts on a cache line; freed by sn_free_line. */
void *sn_zalloc_line(size_t n);
void sn_free_line(void *p);

void *sn_pages(size_t n);
void sn_pages_free(void *p, size_t n);

/* For what lives and dies in one scope. */
void sn_autofree(void *pointer_to_pointer);
#define SN_AUTOFREE __attribute__((cleanup(sn_autofree)))

/* Hands over: the value of `p`, which is NULL from here on. */
#define SN_STEAL(p)               \
    __extension__({               \
        __typeof__(p) old_ = (p); \
        (p) = NULL;               \
        old_;                     \
    })

#endif
