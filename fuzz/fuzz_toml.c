/* SPDX-License-Identifier: Apache-2.0 */
/* A text: what is read is a tree of JSON, and what is refused says where it is wrong. */
#include <stdlib.h>
#include <string.h>

#include "seine/plumbing.h"
#include "seine/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    seine_json *all = NULL, *again = NULL;
    seine_diag diag = SEINE_DIAG;
    seine_text text = {0};
    uint64_t lines = 1;

    seine_err e = seine_toml_parse(n > 0 ? (const char *)bytes : "", n, &all, &diag);
    if (e != SEINE_OK) {
        for (size_t i = 0; i < n; i++)
            lines += bytes[i] == '\n';
        REQUIRE(all == NULL);
        REQUIRE(e != SEINE_E_PARSE ||
                (diag.line >= 1 && diag.line <= lines && diag.text[0]));
        return 0;
    }
    REQUIRE(seine_json_type_of(all) == SEINE_JSON_OBJECT);
    e = seine_json_print(all, &text);
    REQUIRE(e == SEINE_OK || e == SEINE_E_JSON_TOO_DEEP);
    if (e == SEINE_OK)
        REQUIRE(seine_json_parse(text.bytes, text.len, &again, NULL) == SEINE_OK);
    seine_json_free(again);
    seine_text_free(&text);
    seine_json_free(all);
    return 0;
}
