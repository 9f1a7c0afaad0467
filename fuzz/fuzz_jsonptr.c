/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer, a zero byte, JSON: what is found by get is found by each, once. */
#include <stdlib.h>
#include <string.h>

#include "seine/jsonptr.h"
#include "seine/plumbing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

typedef struct seen {
    const seine_json *last;
    size_t count;
} seen;

static bool
see(const seine_json *value, void *arg)
{
    seen *s = arg;

    REQUIRE(value);
    s->last = value;
    return ++s->count < 10000;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *pointer = (const char *)bytes, *zero = n > 0 ? memchr(bytes, 0, n) : NULL;
    size_t len = zero ? (size_t)(zero - pointer) : n;
    seine_json *json = NULL;
    const seine_json *value = NULL;
    seen s = {0};

    if (!zero || seine_json_parse(zero + 1, n - len - 1, &json, NULL) != SEINE_OK)
        return 0;
    seine_err e = seine_jsonptr_get(json, pointer, len, &value);
    REQUIRE((e == SEINE_E_INVAL) == !seine_jsonptr_valid(pointer, len));
    REQUIRE(seine_jsonptr_each(json, pointer, len, see, &s) == e || e == SEINE_E_UNKNOWN);
    if (e == SEINE_OK)
        REQUIRE(s.count == 1 && s.last == value);
    seine_json_free(json);
    return 0;
}
