/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - the only door to the heap.
 *
 *     thing *t SN_AUTOFREE = sn_zalloc(sizeof *t);
 *     if (!t)
 *         return SEINE_E_NOMEM;
 *     …
 *     keep(SN_STEAL(t));
 *
 * Large tables come from sn_pages as zeroed pages. A page takes memory when it is first
 * touched, and a part of the pages can be given back.
 *
 * Time    plays no part.
 * Memory  NULL when none is left, and NULL for a size that overflows.
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

/* Frees the variable at the end of its scope. */
void sn_autofree(void *pointer_to_pointer);
#define SN_AUTOFREE __attribute__((cleanup(sn_autofree)))

/* Hands over ownership: gives the value of `p` and sets `p` to NULL. */
#define SN_STEAL(p)               \
    __extension__({               \
        __typeof__(p) old_ = (p); \
        (p) = NULL;               \
        old_;                     \
    })

#endif
