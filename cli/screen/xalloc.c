/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/xalloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"

static void *
check_memory(void *p)
{
    if (!p)
        exit(say_fail(SAY_MACHINE, "close other programs, or give it a smaller input",
                      "out of memory"));
    return p;
}

void *
xalloc_zeroed(size_t count, size_t size)
{
    return check_memory(calloc(count ? count : 1, size));
}

void *
xalloc_resize(void *p, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return check_memory(NULL);
    return check_memory(realloc(p, bytes ? bytes : 1));
}

char *
xalloc_copy(const char *bytes, size_t n)
{
    char *copy = xalloc_zeroed(n + 1, 1);

    memcpy(copy, bytes, n);
    return copy;
}

void *
xalloc_room(void *p, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return p;
    *cap = *cap ? 2 * *cap : 16;
    return xalloc_resize(p, *cap, size);
}

struct seine_json *
xalloc_json(struct seine_json *json)
{
    return check_memory(json);
}
