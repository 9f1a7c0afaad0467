/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_items.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"

static seine_view
view(const char *text)
{
    return (seine_view){text, strlen(text)};
}

static seine_item
item_of(const char *kind, uint32_t n, bool ok)
{
    seine_item i = SEINE_ITEM;

    i.kind = view(kind);
    i.data = view("{\"a\":1}");
    i.errors = view(ok ? "[]" : "[{}]");
    i.members = view("\"kind\":\"x\"");
    i.row = view(ok ? "good,1" : "bad,1");
    i.url = view("http://e.example/");
    i.n = n;
    i.ok = ok;
    return i;
}

TEST(record_items_come_out_as_they_went_in)
{
    seine_record_items *items = NULL;
    seine_record r = {.number = 0};
    seine_item one = item_of("page", 7, false), got;

    CHECK_EQ(seine_record_items_new(&items), SEINE_OK);
    CHECK_EQ(seine_record_items_add(items, &one), SEINE_OK);
    one = (seine_item)SEINE_ITEM; /* all of it absent */
    CHECK_EQ(seine_record_items_add(items, &one), SEINE_OK);
    CHECK_EQ(seine_record_items_count(items), 2);
    items->base.items = items;
    r.hold = &items->base;
    CHECK_EQ(sn_record_items_count(&r), 2);
    sn_item_cursor c = sn_record_items_of(&r);
    CHECK(sn_record_items_next(&c, &got));
    CHECK(sn_str_eq(got.kind, SN_STR("page")));
    CHECK(sn_str_eq(got.data, SN_STR("{\"a\":1}")));
    CHECK(sn_str_eq(got.errors, SN_STR("[{}]")));
    CHECK(sn_str_eq(got.members, SN_STR("\"kind\":\"x\"")));
    CHECK(sn_str_eq(got.row, SN_STR("bad,1")));
    CHECK(sn_str_eq(got.url, SN_STR("http://e.example/")));
    CHECK_EQ(got.n, 7);
    CHECK(!got.ok);
    CHECK(sn_record_items_next(&c, &got));
    CHECK_EQ(got.kind.len + got.data.len + got.row.len, 0);
    CHECK(!sn_record_items_next(&c, &got));
    seine_record_items_free(items);
}

TEST(record_items_of_a_record_without_any_are_none)
{
    seine_record r = {.number = 0};
    sn_item_cursor c = sn_record_items_of(&r);
    seine_item got;

    CHECK_EQ(sn_record_items_count(&r), 0);
    CHECK_EQ(sn_record_items_bytes(&r), 0);
    CHECK(!sn_record_items_next(&c, &got));
}

/* An output in memory. */
static int
open_sink(seine_sinks *s, seine_sink_format format, const seine_item_sink *items)
{
    seine_sink_opts o = SEINE_SINK_OPTS;
    int fd = memfd_create("items", 0);

    o.format = format;
    o.fd = fd;
    o.items = items;
    CHECK_EQ(seine_sinks_open(s, &o, NULL), SEINE_OK);
    return fd;
}

static const char *
content(int fd)
{
    static char text[4096];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    close(fd);
    return text;
}

/* Two good items of two kinds and a bad one, with their record. */
static void
put_page(seine_sinks *s)
{
    static const seine_fault none = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT, .fault = &none, .url = view("u")};
    seine_record_items *items = NULL;
    seine_item all[] = {item_of("page", 1, true), item_of("link", 1, true),
                        item_of("link", 2, false)};

    CHECK_EQ(seine_record_items_new(&items), SEINE_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK_EQ(seine_record_items_add(items, &all[i]), SEINE_OK);
    CHECK_EQ(seine_sinks_put_items(s, 0, &r, items), SEINE_OK);
}

TEST(record_items_go_to_the_outputs_that_ask_for_them_with_numbers_behind_the_record)
{
    seine_sinks_opts so = SEINE_SINKS_OPTS;
    seine_item_sink lines = SEINE_ITEM_SINK, flat = SEINE_ITEM_SINK;
    seine_item_sink links = SEINE_ITEM_SINK, bad = SEINE_ITEM_SINK;
    seine_sinks *s = NULL;

    flat.flat = true;
    links.kind = "link";
    links.head = bad.head = "a,_n";
    CHECK_EQ(seine_sinks_new(&so, &s), SEINE_OK);
    int a = open_sink(s, SEINE_SINK_JSONL, &lines);
    int b = open_sink(s, SEINE_SINK_JSONL, &flat);
    int c = open_sink(s, SEINE_SINK_CSV, &links), d = open_sink(s, SEINE_SINK_CSV, &bad);
    int plain = open_sink(s, SEINE_SINK_JSONL, NULL);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    put_page(s);
    put_page(s);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);

    char seqs[64] = "";
    for (const char *at = content(a); (at = strstr(at, "\"seq\":")); at += 6)
        snprintf(seqs + strlen(seqs), 2, "%s", at + 6);
    CHECK_STR(seqs, "234678");
    CHECK_STR(content(b), "{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n{\"a\":1}\n");
    CHECK_STR(content(c), "a,_n\ngood,1\ngood,1\n");
    CHECK_STR(content(d), "a,_n\nbad,1\nbad,1\n");
    const char *records = content(plain);
    CHECK(strstr(records, "\"type\":\"result\",\"seq\":5") != NULL);
    CHECK(strstr(records, "item") == NULL);
}

TEST(record_items_carry_what_their_page_leads_to_in_order)
{
    seine_record_items *items = NULL;
    seine_record r = {.number = 0};
    sn_item_lead got;
    sn_item_cursor c = sn_record_leads_of(&r); /* of a record without items */

    CHECK(!sn_record_leads_next(&c, &got));
    CHECK_EQ(seine_record_items_new(&items), SEINE_OK);
    items->base.items = items;
    r.hold = &items->base;
    c = sn_record_leads_of(&r); /* of items without leads */
    CHECK(!sn_record_leads_next(&c, &got));
    const sn_item_lead all[] = {
        {SN_STR("http://a.example/"), SN_STR("\0ask"), false},
        {SN_STR("http://b.example/"), {NULL, 0}, false},
        {SN_STR("http://c.example/"), SN_STR("http://www.c.example/"), true}};
    for (size_t i = 0; i < 3; i++)
        CHECK_EQ(sn_record_items_lead(items, &all[i]), SEINE_OK);
    CHECK_EQ(sn_record_items_count(&r), 0);
    CHECK(sn_record_items_bytes(&r) > 0);
    c = sn_record_leads_of(&r);
    for (size_t i = 0; i < 3; i++) {
        CHECK(sn_record_leads_next(&c, &got));
        CHECK(sn_str_eq(got.url, all[i].url));
        CHECK(sn_str_eq(got.rest, all[i].rest));
        CHECK_EQ(got.is_moved, all[i].is_moved);
    }
    CHECK(!sn_record_leads_next(&c, &got));
    seine_record_items_free(items);
}

static void
make_one(void)
{
    seine_record_items *items = NULL;
    seine_item one = item_of("page", 1, true);

    if (seine_record_items_new(&items) == SEINE_OK &&
        seine_record_items_add(items, &one) == SEINE_OK)
        (void)!seine_record_items_keep(items, "abc", 3);
    if (items)
        (void)!sn_record_items_lead(
            items, &(sn_item_lead){SN_STR("http://e.example/"), SN_STR("x"), false});
    seine_record_items_free(items);
}

TEST(record_items_without_memory_leak_nothing)
{
    FAIL_EACH(n)
    make_one();
}
