/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ask_bytes.h"

#include <string.h>

#include "check.h"

static seine_view
view(const char *text)
{
    return (seine_view){text, strlen(text)};
}

static seine_ask
full_ask(const seine_field *fields)
{
    seine_ask a = SEINE_ASK;

    a.method = view("PUT");
    a.body = (seine_view){"a\0b", 3};
    a.id = view("7");
    a.tags = view("{\"a\":1}");
    a.fields = fields;
    a.n_fields = 2;
    a.timeout = SEINE_SECS(3);
    a.retries = 2;
    a.priority = -9;
    a.idempotent = true;
    return a;
}

TEST(ask_bytes_of_a_plain_url_are_none)
{
    seine_ask a = SEINE_ASK;
    sn_buf b;

    a.url = view("http://e.example/");
    a.line = 7;
    sn_buf_init(&b, SIZE_MAX);
    sn_ask_bytes_write(&a, &b);
    CHECK_EQ(b.len, 0);
    sn_buf_fini(&b);
}

TEST(ask_bytes_return_all_that_was_asked_for)
{
    const seine_field fields[2] = {{view("X-A"), view("1")}, {view("X-B"), view("")}};
    seine_ask a = full_ask(fields), got = SEINE_ASK;
    sn_arena arena;
    sn_buf b;

    sn_arena_init(&arena, 256, SIZE_MAX);
    sn_buf_init(&b, SIZE_MAX);
    sn_ask_bytes_write(&a, &b);
    CHECK_EQ(sn_ask_bytes_read(sn_buf_view(&b), &arena, &got), SEINE_OK);
    CHECK(sn_str_eq(got.method, a.method) && sn_str_eq(got.body, a.body));
    CHECK(sn_str_eq(got.id, a.id) && sn_str_eq(got.tags, a.tags));
    CHECK(got.rule.ptr == NULL);
    CHECK_EQ(got.n_fields, 2);
    CHECK(sn_str_eq(got.fields[0].value, fields[0].value));
    CHECK(sn_str_eq(got.fields[1].name, fields[1].name));
    CHECK_EQ(got.timeout, a.timeout);
    CHECK_EQ(got.retries, 2);
    CHECK_EQ(got.priority, -9);
    CHECK(got.idempotent && !got.is_bad);
    sn_buf_fini(&b);
    sn_arena_fini(&arena);
}

TEST(ask_bytes_of_a_bad_line_keep_its_reason)
{
    seine_ask a = SEINE_ASK, got = SEINE_ASK;
    sn_arena arena;
    sn_buf b;

    a.is_bad = true;
    a.reason = SEINE_SKIP_BAD_URL;
    a.rule = view("no host");
    sn_arena_init(&arena, 256, SIZE_MAX);
    sn_buf_init(&b, SIZE_MAX);
    sn_ask_bytes_write(&a, &b);
    CHECK_EQ(sn_ask_bytes_read(sn_buf_view(&b), &arena, &got), SEINE_OK);
    CHECK(got.is_bad && got.reason == SEINE_SKIP_BAD_URL);
    CHECK(sn_str_eq(got.rule, a.rule));
    sn_buf_fini(&b);
    sn_arena_fini(&arena);
}

TEST(ask_bytes_that_are_cut_anywhere_are_corrupt)
{
    const seine_field fields[2] = {{view("X-A"), view("1")}, {view("X-B"), view("2")}};
    seine_ask a = full_ask(fields);
    sn_arena arena;
    sn_buf b;

    sn_arena_init(&arena, 256, SIZE_MAX);
    sn_buf_init(&b, SIZE_MAX);
    sn_ask_bytes_write(&a, &b);
    for (size_t n = 1; n < b.len; n++) {
        seine_ask got = SEINE_ASK;

        CHECK_EQ(sn_ask_bytes_read((sn_str){b.ptr, n}, &arena, &got),
                 SEINE_E_STATE_CORRUPT);
    }
    sn_buf_char(&b, 'x');
    seine_ask got = SEINE_ASK;
    CHECK_EQ(sn_ask_bytes_read(sn_buf_view(&b), &arena, &got), SEINE_E_STATE_CORRUPT);
    sn_buf_fini(&b);
    sn_arena_fini(&arena);
}
