/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_links.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "store/record_hold.h"
#include "text/html.h"

static seine_view
view(const char *text)
{
    return (seine_view){text, strlen(text)};
}

static void
add_text(const seine_record_link *l, void *arg)
{
    char *to = arg;
    size_t n = strlen(to);

    snprintf(to + n, 1024 - n, "%.*s%s%.*s %.*s:%u\n", (int)l->url.len, l->url.ptr,
             l->key.len == l->url.len ? "" : " = ",
             l->key.len == l->url.len ? 0 : (int)l->key.len, l->key.ptr, (int)l->tag.len,
             l->tag.ptr ? l->tag.ptr : "", l->line);
}

TEST(record_links_are_resolved_without_fragment_and_login)
{
    sn_record_links l;
    sn_record_hold hold = {.refs = 1, .links = &l};
    seine_record r = {.hold = &hold};
    char text[1024] = "";
    static const char *const values[] = {"x#y",
                                         "../up?utm_a=1&b=2",
                                         "//u:p@f.example",
                                         "mailto:a@b.example",
                                         "http://[bad",
                                         ""};

    sn_record_links_init(&l, view("http://e.example/d/i"), "utm_*");
    sn_record_links_add(&l, &(sn_raw_link){.value = view("http://e.example/to")});
    for (uint32_t i = 0; i < 6; i++)
        sn_record_links_add(&l, &(sn_raw_link){.value = view(values[i]),
                                               .line = i + 1,
                                               .tag = SN_TAG_A,
                                               .attr = SN_ATTR_HREF});
    CHECK_EQ(sn_record_links_done(&l), SEINE_OK);
    CHECK_EQ(seine_record_links(&r, NULL, NULL), 7);
    CHECK_EQ(seine_record_links(&r, add_text, text), 7);
    CHECK_STR(text, "http://e.example/to :0\n"
                    "http://e.example/d/x a:1\n"
                    "http://e.example/up?utm_a=1&b=2 = http://e.example/up?b=2 a:2\n"
                    "http://f.example/ a:3\n"
                    "mailto:a@b.example a:4\n"
                    "http://[bad a:5\n"
                    "http://e.example/d/i a:6\n");
    CHECK(sn_record_links_bytes(&l) > 0);
    sn_record_links_fini(&l);
}

TEST(record_links_of_a_record_without_them_are_none)
{
    seine_record r = {.type = SEINE_RECORD_RESULT};
    seine_referrer pages[1];
    size_t count = 7;

    CHECK_EQ(seine_record_links(&r, add_text, NULL), 0);
    CHECK_EQ(seine_record_links(NULL, add_text, NULL), 0);
    CHECK_EQ(seine_record_referrers(&r, pages, 1, &count), 0);
    CHECK_EQ(count, 0);
    CHECK_EQ(seine_record_referrers(NULL, NULL, 0, NULL), 0);
    CHECK_EQ(sn_record_links_bytes(NULL), 0);
}
