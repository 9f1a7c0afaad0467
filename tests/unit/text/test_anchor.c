/* SPDX-License-Identifier: Apache-2.0 */
#include "text/anchor.h"

#include "check.h"
#include "failing.h"

static const char *
made(void (*fn)(sn_str, sn_buf *), const char *text, sn_buf *out)
{
    sn_buf_reset(out);
    fn(sn_str_of(text), out);
    sn_buf_char(out, '\0');
    return out->ptr;
}

TEST(anchor_of_github_keeps_words_hyphens_and_blanks)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"Hello World", "hello-world"},
        {"a.b,c", "abc"},
        {"a  b", "a--b"},
        {"a_b-c", "a_b-c"},
        {" x ", "-x-"},
        {"\xc3\x89t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
        {"\xe2\x9a\x99\xef\xb8\x8f x", "\xef\xb8\x8f-x"}, /* the selector is a mark */
        {"a\xff"
         "b",
         "ab"},
        {"\xe2\x80\x94", ""},        /* a dash is no hyphen */
        {"\xc4\xb0z", "i\xcc\x87z"}, /* a dot of its own */
    };
    sn_buf out;

    sn_buf_init(&out, 1000);
    EACH_ROW(i, rows)
        CHECK_STR(made(sn_anchor_github, rows[i].text, &out), rows[i].want);
    sn_buf_fini(&out);
}

TEST(anchor_of_docutils_is_ascii_and_begins_with_a_letter)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"Hello, World!", "hello-world"}, {"1. Install", "install"}, {"2.0", ""},
        {"Caf\xc3\xa9 x", "cafe-x"},      {"a__b", "a-b"},
    };
    sn_buf out;

    sn_buf_init(&out, 1000);
    EACH_ROW(i, rows)
        CHECK_STR(made(sn_anchor_docutils, rows[i].text, &out), rows[i].want);
    sn_buf_fini(&out);
}

TEST(anchors_that_are_taken_get_numbers)
{
    static const char *const given[] = {"a", "a", "b", "a", "a-1", "a-1"};
    static const char *const want[] = {"a", "a-1", "b", "a-2", "a-1-1", "a-1-2"};
    sn_anchors a;
    sn_buf name;

    sn_anchors_init(&a);
    sn_buf_init(&name, 100);
    EACH_ROW(i, given) {
        sn_buf_reset(&name);
        sn_buf_text(&name, given[i]);
        CHECK_EQ(sn_anchors_number(&a, &name), SEINE_OK);
        sn_buf_char(&name, '\0');
        CHECK_STR(name.ptr, want[i]);
    }
    sn_anchors_reset(&a);
    sn_buf_reset(&name);
    sn_buf_text(&name, "a");
    CHECK_EQ(sn_anchors_number(&a, &name), SEINE_OK);
    CHECK_EQ(name.len, 1);
    sn_buf_fini(&name);
    sn_anchors_fini(&a);
}

TEST(anchors_survive_failing_allocations)
{
    FAIL_EACH(r)
    {
        sn_anchors a;
        sn_buf name;
        seine_err e = SEINE_OK;

        sn_anchors_init(&a);
        sn_buf_init(&name, 100);
        for (int i = 0; i < 2 && e == SEINE_OK; i++) {
            sn_buf_reset(&name);
            sn_buf_text(&name, "x");
            e = sn_anchors_number(&a, &name);
        }
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_buf_fini(&name);
        sn_anchors_fini(&a);
    }
}
