/* SPDX-License-Identifier: Apache-2.0 */
#include "net/head.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

/* Adds a field as a parser does: text first, then its place. */
static seine_err
add(sn_head *head, const char *name, const char *value)
{
    size_t n = strlen(name), v = strlen(value);
    seine_err e = sn_head_room(head, n + v);

    if (e != SEINE_OK)
        return e;
    uint32_t at = head->len;
    memcpy(head->text + at, name, n);
    memcpy(head->text + at + n, value, v);
    head->len += (uint32_t)(n + v);
    sn_head_add(head, (sn_head_field){at, (uint32_t)n, at + (uint32_t)n, (uint32_t)v});
    return SEINE_OK;
}

static bool
is(sn_str s, const char *want)
{
    return sn_str_eq(s, sn_str_of(want));
}

TEST(head_finds_fields_in_any_case_and_the_first_of_several)
{
    sn_head head;
    sn_str value;
    uint32_t i = 0;

    sn_head_init(&head, NULL);
    CHECK(!sn_head_get(&head, SN_STR("a"), &value)); /* nothing in it, no memory */
    CHECK_EQ(add(&head, "Set-Cookie", "a=b"), SEINE_OK);
    CHECK_EQ(add(&head, "X", ""), SEINE_OK);
    CHECK_EQ(add(&head, "set-cookie", "c=d"), SEINE_OK);
    CHECK(sn_head_get(&head, SN_STR("SET-COOKIE"), &value) && is(value, "a=b"));
    CHECK(sn_head_get(&head, SN_STR("x"), &value) && value.len == 0);
    CHECK(!sn_head_get(&head, SN_STR("set-cooki"), &value));
    CHECK(sn_head_next(&head, SN_STR("Set-Cookie"), &i, &value) && is(value, "a=b"));
    CHECK(sn_head_next(&head, SN_STR("Set-Cookie"), &i, &value) && is(value, "c=d"));
    CHECK(!sn_head_next(&head, SN_STR("Set-Cookie"), &i, &value));
    CHECK(is(sn_head_field_of(&head, 2).name, "set-cookie")); /* as it came */
    sn_head_fini(&head);
    sn_head_fini(&head); /* and again: nothing */
}

TEST(head_keeps_text_and_table_when_it_grows)
{
    sn_head head;
    char value[32];
    uint32_t room = 0, grown = 0;

    sn_head_init(&head, NULL);
    for (int i = 0; i < 5000; i++) {
        snprintf(value, sizeof value, "value %d", i);
        CHECK_EQ(add(&head, "Name", value), SEINE_OK);
        grown += head.room != room;
        room = head.room;
        CHECK_EQ((uintptr_t)sn_head_at(&head, 0) % _Alignof(sn_head_field), 0);
    }
    CHECK_EQ(head.len, 5000 * 4 + 10 * 7 + 90 * 8 + 900 * 9 + 4000 * 10);
    CHECK_EQ(grown, 8); /* 2, 4 … 256 KiB for 68,890 bytes and 80,000 of table */
    CHECK_EQ(room, 256 << 10);
    for (int i = 0; i < 5000; i++) {
        sn_field f = sn_head_field_of(&head, (uint32_t)i);

        snprintf(value, sizeof value, "value %d", i);
        CHECK(is(f.name, "Name") && is(f.value, value));
    }
    sn_head_fini(&head);
}

TEST(head_takes_the_largest_one_in_272_kib)
{
    sn_head head;

    sn_head_init(&head, NULL);
    CHECK_EQ(sn_head_grow(&head, 1), SEINE_OK);
    CHECK_EQ(head.room, 2048);
    CHECK_EQ(sn_head_grow(&head, (256 << 10) + 1000 * sizeof(sn_head_field)), SEINE_OK);
    CHECK_EQ(head.room, 272 << 10);
    CHECK_EQ(sn_head_grow(&head, (272 << 10) + 1), SEINE_OK); /* limits set by hand */
    CHECK_EQ(head.room, 544 << 10);
    CHECK_EQ(sn_head_grow(&head, UINT32_MAX), SEINE_E_NOMEM);
    CHECK_EQ(head.room, 544 << 10);
    sn_head_fini(&head);
}

TEST(head_is_empty_after_reset_and_keeps_its_memory)
{
    sn_head head;
    sn_str value;

    sn_head_init(&head, NULL);
    CHECK_EQ(add(&head, "A", "b"), SEINE_OK);
    head.status = 200;
    head.minor = 1;
    head.reason_len = 1;
    char *text = head.text;
    sn_head_reset(&head);
    CHECK(head.text == text && head.room == 2048);
    CHECK(!sn_head_get(&head, SN_STR("a"), &value));
    CHECK_EQ(sn_head_reason(&head).len, 0);
    CHECK_EQ(head.status, 0);
    CHECK_EQ(head.minor, 0);
    sn_head_fini(&head);
}

static uint64_t
used(const seine_budget *budget)
{
    seine_want now;

    seine_budget_used_get(budget, &now);
    return now.n[SEINE_RES_MEMORY];
}

/* Refused or out of memory: the head is as it was, and so is the budget. */
TEST(head_asks_the_budget_before_it_grows)
{
    seine_want limits = {{4095, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, none = {{0}};
    seine_budget *budget = NULL;
    seine_held held;
    sn_head head;

    CHECK_EQ(seine_budget_new(&limits, &budget), SEINE_OK);
    CHECK_EQ(seine_budget_try(budget, &none, &held), SEINE_OK);
    sn_head_init(&head, &held);
    CHECK_EQ(used(budget), 0); /* nothing before the first byte */
    CHECK_EQ(add(&head, "A", "b"), SEINE_OK);
    CHECK_EQ(used(budget), 2048);
    CHECK_EQ(sn_head_grow(&head, 2049), SEINE_E_BUDGET); /* 4,096 are one too many */
    CHECK_EQ(used(budget), 2048);
    CHECK_EQ(head.n_fields, 1);
    CHECK(is(sn_head_field_of(&head, 0).value, "b"));
    sn_head_fini(&head);
    CHECK_EQ(used(budget), 0);
    seine_budget_release(&held);
    seine_budget_free(budget);
}

TEST(head_without_memory_gives_back_what_it_reserved)
{
    seine_want limits = {{1 << 20, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, none = {{0}};

    FAIL_EACH(round)
    {
        seine_budget *budget = NULL;
        seine_held held;
        sn_head head;

        if (seine_budget_new(&limits, &budget) != SEINE_OK)
            continue;
        CHECK_EQ(seine_budget_try(budget, &none, &held), SEINE_OK);
        sn_head_init(&head, &held);
        for (size_t need = 2048; need <= 16384; need *= 2) {
            seine_err e = sn_head_grow(&head, need);

            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            CHECK_EQ(used(budget), head.room);
        }
        sn_head_fini(&head);
        CHECK_EQ(used(budget), 0);
        seine_budget_release(&held);
        seine_budget_free(budget);
    }
}

TEST(head_text_is_utf8_and_stops_at_the_cap)
{
    sn_buf b;

    sn_buf_init(&b, 3);
    sn_head_text(SN_STR("\xfc\xfc"), &b); /* four bytes as UTF-8 */
    CHECK_EQ(sn_buf_done(&b), SEINE_E_FULL);
    sn_buf_fini(&b);
    for (int c = 1; c < 256; c++) {
        char latin[2] = {(char)c, '\xff'}; /* never valid UTF-8 */
        uint32_t read;

        sn_buf_init(&b, 8);
        sn_head_text((sn_str){latin, 2}, &b);
        CHECK_EQ(sn_buf_done(&b), SEINE_OK);
        CHECK(sn_utf8_valid(sn_buf_view(&b)));
        CHECK_EQ(sn_utf8_decode(sn_buf_view(&b), &read), c < 0x80 ? 1 : 2);
        CHECK_EQ(read, (uint32_t)c);
        sn_buf_fini(&b);
    }
}
