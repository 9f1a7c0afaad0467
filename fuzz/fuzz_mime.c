/* SPDX-License-Identifier: Apache-2.0 */
/* The value of a Content-Type. */
#include <stdlib.h>
#include <string.h>

#include "seine/mime.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static void
check_parts(const seine_mime *m, size_t n)
{
    seine_view name, value, first;
    seine_view essence = seine_mime_essence(m);

    REQUIRE(strlen(essence.ptr) == essence.len && essence.len >= 3);
    REQUIRE(seine_mime_type(m).len + 1 + seine_mime_subtype(m).len == essence.len);
    REQUIRE(seine_mime_is(m, essence.ptr));
    REQUIRE(seine_mime_count(m) <= SEINE_MIME_PARAMS);
    for (size_t i = 0; i < seine_mime_count(m); i++) {
        REQUIRE(seine_mime_param(m, i, &name, &value));
        REQUIRE(strlen(name.ptr) == name.len && name.len > 0);
        REQUIRE(strlen(value.ptr) == value.len && value.len < n);
        /* Each name once. */
        REQUIRE(seine_mime_get(m, name.ptr, &first) && first.ptr == value.ptr);
    }
    REQUIRE(!seine_mime_param(m, seine_mime_count(m), &name, &value));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *value = (const char *)bytes;
    char *mem = malloc(n + 2), *again_mem;
    seine_mime m, again;

    REQUIRE(mem);
    seine_mime_init(&m, mem, n + 2);
    seine_err e = seine_mime_parse(&m, value, n);
    REQUIRE(e == SEINE_OK || e == SEINE_E_PARSE);
    if (e == SEINE_OK) {
        check_parts(&m, n);
        size_t len = seine_mime_print(&m, NULL, 0);
        char *text = malloc(len + 1), *text_again = malloc(len + 1);

        REQUIRE(text && text_again && seine_mime_print(&m, text, len + 1) == len);
        REQUIRE(strlen(text) == len);
        again_mem = malloc(len + 2);
        REQUIRE(again_mem);
        seine_mime_init(&again, again_mem, len + 2);
        REQUIRE(seine_mime_parse(&again, text, len) == SEINE_OK);
        REQUIRE(seine_mime_count(&again) == seine_mime_count(&m));
        REQUIRE(seine_mime_print(&again, text_again, len + 1) == len);
        REQUIRE(strcmp(text, text_again) == 0);
        free(text);
        free(text_again);
        free(again_mem);
    } else {
        REQUIRE(seine_mime_essence(&m).len == 0 && seine_mime_count(&m) == 0);
    }
    free(mem);
    return 0;
}
