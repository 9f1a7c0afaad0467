/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wiped.h - is memory that held a secret wiped before it is given back?
 *
 *     wiped_begin("s3cret", "czNjcmV0");     what to look for; the second may be NULL
 *     …
 *     CHECK_EQ(wiped_end(), 0);              blocks that still had it
 *
 * Between the two the table of allocations is this one. It looks at the blocks that the
 * thread of the test gives back, and begins new ones with zeros: what somebody else left
 * there is nobody's fault.
 */
#ifndef WIPED_H
#define WIPED_H

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "seine/alloc.h"

static __thread const char *wiped_texts[2];
static __thread int wiped_dirty;

static inline void *
wiped_get(size_t n, void *arg)
{
    void *p = malloc(n > 0 ? n : 1);

    (void)arg;
    if (p)
        memset(p, 0, malloc_usable_size(p));
    return p;
}

static inline void
wiped_put(void *p, void *arg)
{
    size_t n = p ? malloc_usable_size(p) : 0;
    bool is_dirty = false;

    (void)arg;
    for (int i = 0; i < 2; i++)
        is_dirty |= wiped_texts[i] && n > 0 &&
                    memmem(p, n, wiped_texts[i], strlen(wiped_texts[i]));
    wiped_dirty += is_dirty;
    free(p);
}

/* A block always moves, as it may. */
static inline void *
wiped_resize(void *p, size_t n, void *arg)
{
    size_t old = p ? malloc_usable_size(p) : 0;
    void *q = wiped_get(n, arg);

    if (!q)
        return NULL;
    if (p)
        memcpy(q, p, old < n ? old : n);
    wiped_put(p, arg);
    return q;
}

static inline void
wiped_begin(const char *text, const char *other)
{
    static const seine_alloc table = {
        .get = wiped_get, .resize = wiped_resize, .put = wiped_put};

    CHECK_EQ(seine_set_alloc(&table), SEINE_OK);
    wiped_texts[0] = text;
    wiped_texts[1] = other;
    wiped_dirty = 0;
}

/* From here on nothing is looked at. */
static inline void
wiped_stop(void)
{
    wiped_texts[0] = wiped_texts[1] = NULL;
}

/* No other thread may allocate or free: those that do end between stop and end. */
static inline int
wiped_end(void)
{
    wiped_stop();
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    return wiped_dirty;
}

#endif
