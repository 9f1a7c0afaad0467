/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "wiped.h"

TEST(buf_collects_all_kinds_of_things)
{
    sn_buf b;

    sn_buf_init(&b, 200);
    sn_buf_str(&b, SN_STR("str "));
    sn_buf_text(&b, "text ");
    sn_buf_text(&b, NULL);
    sn_buf_char(&b, '!');
    sn_buf_printf(&b, " %s %d ", "printf", -7);
    sn_buf_printf(&b, "%s", "");
    sn_buf_u64(&b, 0);
    sn_buf_char(&b, ' ');
    sn_buf_u64(&b, UINT64_MAX);
    sn_buf_char(&b, ' ');
    sn_buf_i64(&b, INT64_MIN);
    sn_buf_add(&b, "\0z", 2);
    CHECK_EQ(sn_buf_done(&b), SEINE_OK);
    CHECK_STR(b.ptr, "str text ! printf -7 0 18446744073709551615 -9223372036854775808");
    CHECK(sn_str_ends(sn_buf_view(&b), SN_STR("8\0z")));
    sn_buf_fini(&b);
    sn_buf_fini(&b); /* empty is fine */
}

TEST(buf_holds_exactly_its_cap_and_not_a_byte_more)
{
    for (size_t cap = 0; cap < 300; cap++) {
        sn_buf b;

        sn_buf_init(&b, cap);
        for (size_t i = 0; i < cap; i++)
            sn_buf_char(&b, 'x');
        CHECK_EQ(sn_buf_done(&b), SEINE_OK);
        CHECK_EQ(b.len, cap);
        CHECK(b.room <= cap + 1);
        sn_buf_char(&b, 'x');
        CHECK_EQ(sn_buf_done(&b), SEINE_E_FULL);
        CHECK_EQ(b.len, cap);
        sn_buf_fini(&b);
    }
}

TEST(buf_addition_is_whole_or_missing_and_the_error_sticks)
{
    sn_buf b;
    seine_text text = {NULL, 42};

    sn_buf_init(&b, 5);
    sn_buf_text(&b, "abc");
    sn_buf_printf(&b, "%s", "def"); /* one too many */
    sn_buf_char(&b, 'g');           /* would fit, but an earlier addition is missing */
    CHECK_STR(b.ptr, "abc");
    CHECK_EQ(sn_buf_take(&b, &text), SEINE_E_FULL);
    CHECK_EQ(text.len, 42);
    CHECK(!sn_buf_reserve(&b, 0));

    sn_buf_reset(&b);
    sn_buf_text(&b, "vwxyz");
    CHECK_EQ(sn_buf_done(&b), SEINE_OK);
    CHECK_STR(b.ptr, "vwxyz");
    sn_buf_fini(&b);
}

TEST(buf_take_hands_over_and_starts_again)
{
    sn_buf b;
    seine_text first = {0}, second = {0};

    count_begin();
    sn_buf_init(&b, 100);
    sn_buf_text(&b, "one");
    CHECK_EQ(sn_buf_take(&b, &first), SEINE_OK);
    CHECK_EQ(sn_buf_take(&b, &second), SEINE_OK); /* nothing: "", not NULL */
    CHECK_STR(first.bytes, "one");
    CHECK_EQ(first.len, 3);
    CHECK_STR(second.bytes, "");
    CHECK_EQ(second.len, 0);
    CHECK_EQ(b.cap, 100);
    seine_text_free(&first);
    seine_text_free(&second);
    sn_buf_fini(&b);
    count_end();
}

TEST(buf_may_grow_by_no_more_than_it_is_asked_for)
{
    sn_buf b;

    sn_buf_init(&b, 1000);
    sn_buf_text(&b, "abc");
    size_t before = b.room;
    sn_buf_reserve_exactly(&b, 3);
    CHECK_EQ(b.room, before);
    sn_buf_reserve_exactly(&b, 200);
    CHECK_EQ(b.room, 3 + 200 + 1);
    CHECK_STR(b.ptr, "abc");
    sn_buf_reserve_exactly(&b, 998);
    CHECK_EQ(sn_buf_done(&b), SEINE_E_FULL);
    sn_buf_fini(&b);
}

TEST(buf_reserve_gives_room_and_commit_counts_it)
{
    sn_buf b;

    sn_buf_init(&b, 1000);
    sn_buf_text(&b, "head ");
    char *room = sn_buf_reserve(&b, 995);
    CHECK(room != NULL);
    if (room) {
        memset(room, 'x', 995);
        sn_buf_commit(&b, 3);
    }
    CHECK_STR(b.ptr, "head xxx");
    sn_buf_commit(&b, 0);
    CHECK(!sn_buf_reserve(&b, 993));
    CHECK_EQ(sn_buf_done(&b), SEINE_E_FULL);
    sn_buf_commit(&b, 5); /* nothing was reserved */
    CHECK_STR(b.ptr, "head xxx");
    sn_buf_fini(&b);
}

TEST(buf_refuses_sizes_that_overflow)
{
    sn_buf b;

    sn_buf_init(&b, SIZE_MAX);
    CHECK(!sn_buf_reserve(&b, SIZE_MAX));
    CHECK_EQ(sn_buf_done(&b), SEINE_E_FULL);
    sn_buf_fini(&b);

    sn_buf_init(&b, SIZE_MAX);
    sn_buf_char(&b, 'x');
    CHECK(!sn_buf_reserve(&b, SIZE_MAX - 1));
    CHECK_EQ(sn_buf_done(&b), SEINE_E_FULL);
    sn_buf_fini(&b);
}

TEST(buf_loses_bytes_from_both_ends)
{
    sn_buf b;

    sn_buf_init(&b, 100);
    sn_buf_truncate(&b, 0); /* an empty buffer has nothing to remove */
    sn_buf_drop(&b, 3);
    sn_buf_text(&b, "hello");
    sn_buf_truncate(&b, 9);
    CHECK_STR(b.ptr, "hello");
    sn_buf_truncate(&b, 4);
    CHECK_STR(b.ptr, "hell");
    sn_buf_drop(&b, 1);
    CHECK_STR(b.ptr, "ell");
    sn_buf_drop(&b, 9);
    CHECK_STR(b.ptr, "");
    CHECK_EQ(b.len, 0);
    sn_buf_fini(&b);
}

TEST(buf_without_memory_says_so_and_keeps_what_it_has)
{
    FAIL_EACH(r)
    {
        sn_buf b;
        seine_text text = {0};

        sn_buf_init(&b, 1000);
        for (int i = 0; i < 100; i++)
            sn_buf_text(&b, "12345678");
        seine_err e = sn_buf_take(&b, &text);
        CHECK(e == SEINE_OK ? text.len == 800 : e == SEINE_E_NOMEM && b.len % 8 == 0);
        seine_text_free(&text);
        sn_buf_fini(&b);
    }
}

TEST(buf_grows_in_a_few_steps)
{
    sn_buf b;

    count_begin();
    sn_buf_init(&b, 1 << 20);
    for (int i = 0; i < 1 << 20; i++)
        sn_buf_char(&b, 'x');
    CHECK_EQ(sn_buf_done(&b), SEINE_OK);
    CHECK(count_calls() <= 20);
    sn_buf_fini(&b);
    count_end();
}

/* A fixed array with the same rules. */
TEST(buf_agrees_with_an_array)
{
    sn_rng r = sn_rng_seed(check_seed());
    char model[64];
    size_t len = 0;
    bool failed = false;
    sn_buf b;

    sn_buf_init(&b, sizeof model);
    for (int i = 0; i < 20000; i++) {
        size_t n = sn_rng_below(&r, 20);
        char bytes[20];

        memset(bytes, 'a' + i % 26, sizeof bytes);
        switch (sn_rng_below(&r, 8)) {
        case 0:
            sn_buf_drop(&b, n);
            n = n < len ? n : len;
            memmove(model, model + n, len -= n);
            break;
        case 1:
            sn_buf_truncate(&b, n);
            len = n < len ? n : len;
            break;
        case 2:
            sn_buf_reset(&b);
            len = 0;
            failed = false;
            break;
        default:
            sn_buf_add(&b, bytes, n);
            failed = failed || n > sizeof model - len;
            if (!failed) {
                memcpy(model + len, bytes, n);
                len += n;
            }
        }
        CHECK_EQ(sn_buf_done(&b), failed ? SEINE_E_FULL : SEINE_OK);
        CHECK(sn_str_eq(sn_buf_view(&b), (sn_str){model, len}));
        CHECK(!b.ptr || b.ptr[b.len] == '\0');
    }
    sn_buf_fini(&b);
}

TEST(buf_of_secrets_leaves_none_behind)
{
    sn_buf b;
    seine_text text = {0};

    wiped_begin("s3cret", NULL);
    sn_buf_init_secret(&b, 1 << 20);
    for (int i = 0; i < 1000; i++) /* it grows */
        sn_buf_text(&b, "a s3cret ");
    sn_buf_truncate(&b, 9);
    CHECK_STR(b.ptr, "a s3cret ");
    for (size_t i = b.len; i < 9000; i++)
        CHECK_EQ(b.ptr[i], 0);
    sn_buf_text(&b, "more");
    sn_buf_drop(&b, 9);
    CHECK_STR(b.ptr, "more");
    for (size_t i = b.len; i < 20; i++)
        CHECK_EQ(b.ptr[i], 0);
    sn_buf_text(&b, "s3cret");
    sn_buf_reset(&b);
    for (size_t i = 0; i < 20; i++)
        CHECK_EQ(b.ptr[i], 0);
    CHECK_EQ(sn_buf_take(&b, &text), SEINE_OK);
    CHECK(b.wipes);
    seine_text_free(&text);
    sn_buf_text(&b, "s3cret");
    sn_buf_fini(&b);
    CHECK_EQ(wiped_end(), 0);
}
