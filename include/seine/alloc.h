/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h - where the library's memory comes from.
 *
 * libseine allocates all memory through one table of functions. A program may set its
 * own table before its first other call: to count, to cap, or, in tests, to let the n-th
 * allocation fail:
 *
 *     seine_alloc mine = {.get = my_get, .resize = my_resize, .put = my_put};
 *     if (seine_set_alloc(&mine) != SEINE_OK)
 *         return usage();
 *
 * Text that the library hands to the caller is a `seine_text`; the caller frees it with
 * seine_text_free.
 *
 * Time    plays no part.
 * Memory  out of memory is SEINE_E_NOMEM, never a crash.
 * Threads seine_set_alloc: before any other thread uses the library. The
 *         functions of the table are called from any thread.
 */
#ifndef SEINE_ALLOC_H
#define SEINE_ALLOC_H

#include <stddef.h>

#include "seine/abi.h"
#include "seine/err.h"

typedef struct seine_alloc {
    void *(*get)(size_t n, void *arg); /* aligned for any type, or NULL */
    void *(*resize)(void *p, size_t n, void *arg);
    void (*put)(void *p, void *arg);             /* NULL is fine */
    void *(*map)(size_t n, void *arg);           /* zeroed pages; NULL here: mmap */
    void (*unmap)(void *p, size_t n, void *arg); /* NULL here: munmap */
    void *arg;
} seine_alloc;

typedef struct seine_text {
    char *bytes; /* terminated; the terminator is not counted */
    size_t len;
} seine_text;

SEINE_BEGIN

/* Replaces the table by a copy of `alloc`; NULL restores the C library's. INVAL
 * when one of get, resize, put is missing, or only one of map and unmap. */
SEINE_MUST_CHECK seine_err seine_set_alloc(const seine_alloc *alloc);

/* Frees the bytes and leaves the text empty; an empty text is fine. */
void seine_text_free(seine_text *text);

SEINE_END

#endif
