/* SPDX-License-Identifier: Apache-2.0 */
/* Two lines of JSON as change sets, a third as their text. What is read is printed and
 * read again. Two sets for one length fit behind each other, and lead to one text. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "seine/changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static seine_changes *
new_set(void)
{
    seine_changes *c = NULL;

    REQUIRE(seine_changes_new(&c) == SEINE_OK);
    return c;
}

static void
check_print(const seine_changes *c)
{
    seine_changes *again = new_set();
    seine_text json, twice;

    REQUIRE(seine_changes_print(c, &json) == SEINE_OK);
    REQUIRE(seine_changes_parse(again, json.bytes, json.len) == SEINE_OK);
    REQUIRE(seine_changes_from(again) == seine_changes_from(c));
    REQUIRE(seine_changes_to(again) == seine_changes_to(c));
    REQUIRE(seine_changes_print(again, &twice) == SEINE_OK);
    REQUIRE(json.len == twice.len && memcmp(json.bytes, twice.bytes, json.len) == 0);
    seine_text_free(&json);
    seine_text_free(&twice);
    seine_changes_free(again);
}

static seine_text
apply(const seine_changes *c, sn_str text)
{
    seine_text out = {0};

    REQUIRE(seine_changes_apply(c, text.ptr, text.len, &out) == SEINE_OK);
    return out;
}

static void
check_meeting(const seine_changes *a, const seine_changes *b, sn_str text)
{
    seine_changes *a_after = new_set(), *b_after = new_set();
    seine_text with_a = {0}, with_b = {0};

    REQUIRE(seine_changes_map(a, b, true, a_after) == SEINE_OK);
    REQUIRE(seine_changes_map(b, a, false, b_after) == SEINE_OK);
    REQUIRE(seine_changes_from(a_after) == seine_changes_to(b));
    REQUIRE(seine_changes_from(b_after) == seine_changes_to(a));
    REQUIRE(seine_changes_to(a_after) == seine_changes_to(b_after));
    if (seine_changes_apply(a, text.ptr, text.len, &with_a) == SEINE_OK &&
        seine_changes_apply(b, text.ptr, text.len, &with_b) == SEINE_OK) {
        seine_text x = apply(b_after, (sn_str){with_a.bytes, with_a.len});
        seine_text y = apply(a_after, (sn_str){with_b.bytes, with_b.len});

        REQUIRE(x.len == y.len && (x.len == 0 || memcmp(x.bytes, y.bytes, x.len) == 0));
        seine_text_free(&x);
        seine_text_free(&y);
    }
    seine_text_free(&with_a);
    seine_text_free(&with_b);
    seine_changes_free(a_after);
    seine_changes_free(b_after);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str rest = {(const char *)bytes, n}, first, second;
    seine_changes *a = new_set(), *b = new_set();

    (void)!sn_str_cut(rest, '\n', &first, &rest);
    (void)!sn_str_cut(rest, '\n', &second, &rest);
    if (seine_changes_parse(a, first.ptr, first.len) == SEINE_OK &&
        seine_changes_parse(b, second.ptr, second.len) == SEINE_OK) {
        check_print(a);
        check_print(b);
        for (uint64_t at = 0; at < 20; at++)
            REQUIRE(seine_changes_move(a, at, 1) >= seine_changes_move(a, at, -1) &&
                    seine_changes_move(a, at, 1) <= seine_changes_to(a));
        if (seine_changes_from(a) == seine_changes_from(b))
            check_meeting(a, b, rest);
        else
            REQUIRE(seine_changes_map(a, b, true, b) == SEINE_E_INVAL);
    }
    seine_changes_free(a);
    seine_changes_free(b);
    return 0;
}
