/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: the check and the parser agree. What the parser takes the check takes
 * without a note; what the check takes without a note the parser takes; and the fault
 * lies in the text. The text without blanks is what the printer makes of the tree. */
#include <stdlib.h>
#include <string.h>

#include "base/json_compact.h"
#include "seine/plumbing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = malloc(n + 1); /* its end is where a sanitizer looks */
    seine_json_fault fault = {SIZE_MAX, ""}, note = {SIZE_MAX, ""}, why = {SIZE_MAX, ""};
    seine_json *json = NULL;

    REQUIRE(text);
    memcpy(text, bytes, n);
    seine_err checked = seine_json_check(text, n, &fault, &note);
    seine_err parsed = seine_json_parse(text, n, &json, &why);

    if (checked != SEINE_OK) {
        REQUIRE(parsed == checked);
        REQUIRE(fault.offset <= n && fault.text[0]);
        REQUIRE(fault.offset == why.offset && strcmp(fault.text, why.text) == 0);
    } else if (note.text[0]) {
        REQUIRE(parsed == SEINE_E_BAD_JSON && note.offset < n);
    } else {
        REQUIRE(parsed == SEINE_OK);
    }
    if (parsed == SEINE_OK) {
        seine_text printed = {NULL, 0};

        REQUIRE(seine_json_print(json, &printed) == SEINE_OK);
        REQUIRE(seine_json_check(printed.bytes, printed.len, NULL, &note) == SEINE_OK);
        REQUIRE(!note.text[0]);
        sn_buf compact;
        sn_buf_init(&compact, SIZE_MAX / 2);
        sn_json_compact((sn_str){text, n}, &compact);
        REQUIRE(sn_str_eq(sn_buf_view(&compact), (sn_str){printed.bytes, printed.len}));
        sn_buf_fini(&compact);
        seine_text_free(&printed);
    }
    seine_json_free(json);
    free(text);
    return 0;
}
