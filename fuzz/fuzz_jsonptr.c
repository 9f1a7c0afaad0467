/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer, a zero byte, JSON: what is found by get is found by each, once, and what
 * each finds in the tree the scan finds in the text. */
#include <stdlib.h>
#include <string.h>

#include "base/json_compact.h"
#include "seine/jsonptr.h"
#include "seine/plumbing.h"
#include "text/jsonptr_scan.h"

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

/* The values one behind the other, each with a line end. */
static bool
print_value(const seine_json *value, void *arg)
{
    seine_text t = {NULL, 0};

    REQUIRE(seine_json_print(value, &t) == SEINE_OK);
    sn_buf_add(arg, t.bytes, t.len);
    sn_buf_char(arg, '\n');
    seine_text_free(&t);
    return true;
}

static seine_err
add_value(size_t pointer, sn_str value, void *arg)
{
    REQUIRE(pointer == 0);
    sn_buf_str(arg, value);
    sn_buf_char(arg, '\n');
    return SEINE_OK;
}

static void
compare(const seine_json *json, sn_str pointer, sn_str text)
{
    sn_buf compact, want, got;
    sn_jsonptr_set set = {NULL, 0};

    sn_buf_init(&compact, SIZE_MAX / 2);
    sn_buf_init(&want, SIZE_MAX / 2);
    sn_buf_init(&got, SIZE_MAX / 2);
    sn_json_compact(text, &compact);
    REQUIRE(sn_jsonptr_set_add(&set, pointer) == SEINE_OK);
    REQUIRE(sn_jsonptr_scan(&set, sn_buf_view(&compact), add_value, &got) == SEINE_OK);
    REQUIRE(seine_jsonptr_each(json, pointer.ptr, pointer.len, print_value, &want) ==
            SEINE_OK);
    REQUIRE(sn_str_eq(sn_buf_view(&want), sn_buf_view(&got)));
    sn_jsonptr_set_fini(&set);
    sn_buf_fini(&compact);
    sn_buf_fini(&want);
    sn_buf_fini(&got);
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
    if (e != SEINE_E_INVAL && n < 4096)
        compare(json, (sn_str){pointer, len}, (sn_str){zero + 1, n - len - 1});
    seine_json_free(json);
    return 0;
}
