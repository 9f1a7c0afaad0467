/* SPDX-License-Identifier: Apache-2.0 */
#include "store/failures.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "store/record_hold.h"
#include "store/record_links.h"

static seine_view
view(const char *text)
{
    return (seine_view){text, strlen(text)};
}

static seine_record
failure(const char *url)
{
    return (seine_record){.type = SEINE_RECORD_RESULT,
                          .fate = SEINE_FATE_HTTP_ERROR,
                          .url = view(url),
                          .key = view(url)};
}

TEST(failures_come_back_in_their_order)
{
    sn_failures f;
    seine_record a = failure("http://e.example/a"), b = failure("http://e.example/b");

    CHECK_EQ(sn_failures_init(&f, 3), SEINE_OK);
    CHECK(!sn_failures_next(&f));
    CHECK(sn_failures_hold(&f, &a) && sn_failures_hold(&f, &b));
    CHECK_EQ(sn_failures_next(&f)->url.ptr[17], 'a');
    CHECK_EQ(sn_failures_next(&f)->url.ptr[17], 'b');
    CHECK(!sn_failures_next(&f));
    CHECK_EQ(f.bytes, 0);
    CHECK(sn_failures_hold(&f, &b));
    CHECK_EQ(sn_failures_next(&f)->url.ptr[17], 'b');
    sn_failures_fini(&f);
}

static int freed;

static void
free_hold(sn_record_hold *h)
{
    (void)h;
    freed++;
}

/* The memory of the body is the engine's, which may wait for it. */
TEST(failures_keep_a_copy_of_the_body_and_let_go_of_the_original)
{
    sn_failures f;
    char body[] = "large", page[] = "row";
    sn_record_hold hold = {.refs = 1,
                           .bytes = 5,
                           .free = free_hold,
                           .change = SEINE_CHANGE_GONE,
                           .page = {page, 3}};
    seine_record r = failure("http://e.example/a");

    freed = 0;
    r.hold = &hold;
    r.body = (seine_view){body, 5};
    CHECK_EQ(sn_failures_init(&f, 1), SEINE_OK);
    CHECK(sn_failures_hold(&f, &r));
    sn_record_hold_unref(&hold);
    CHECK_EQ(freed, 1);
    memset(body, 'x', 5);
    memset(page, 'x', 3);
    seine_record *got = sn_failures_next(&f);
    CHECK(got->body.len == 5 && memcmp(got->body.ptr, "large", 5) == 0);
    CHECK_EQ(seine_record_change(got), SEINE_CHANGE_GONE);
    const sn_record_hold *small = got->hold;
    CHECK(small->page.len == 3 && memcmp(small->page.ptr, "row", 3) == 0);
    sn_failures_fini(&f);
}

TEST(failures_are_not_held_beyond_their_memory)
{
    sn_failures f;
    seine_record r = failure("http://e.example/a");
    char *body = sn_zalloc(SN_FAILURE_LARGEST);
    size_t n = 0;

    CHECK_EQ(sn_failures_init(&f, 1), SEINE_OK);
    r.body = (seine_view){body, SN_FAILURE_LARGEST};
    CHECK(!sn_failures_hold(&f, &r)); /* too large alone */
    r.body.len = SN_FAILURE_LARGEST / 2;
    while (n < 1000 && sn_failures_hold(&f, &r))
        n++;
    CHECK_EQ(n, 2 * SN_FAILURES_BYTES / SN_FAILURE_LARGEST);
    sn_failures_fini(&f);
    sn_free(body);
}

typedef struct seen {
    size_t n, count;
    uint32_t line;
} seen;

static void
look(seine_record *r, void *arg)
{
    seen *s = arg;
    seine_referrer page;

    s->n = seine_record_referrers(r, &page, 1, &s->count);
    s->line = s->n > 0 ? page.line : 0;
}

TEST(failures_have_their_referrers_while_they_are_written)
{
    sn_failures f;
    sn_record_links links;
    sn_record_hold hold = {.refs = 1, .links = &links};
    seine_record page = {.type = SEINE_RECORD_RESULT, .url = view("http://e.example/")};
    seine_record r = failure("http://e.example/gone");
    seen s = {0};

    CHECK_EQ(sn_failures_init(&f, 1), SEINE_OK);
    CHECK(sn_failures_hold(&f, &r));
    sn_record_links_init(&links, view("http://e.example/"), NULL);
    sn_record_links_add(&links,
                        &(sn_raw_link){.value = view("gone"), .line = 7, .tag = 1});
    page.hold = &hold;
    for (int i = 0; i < 3; i++)
        sn_referrers_see(&f.table, &page);
    seine_record *got = sn_failures_next(&f);
    sn_failures_with(&f, got, look, &s);
    CHECK_EQ(s.n, 1);
    CHECK_EQ(s.count, 3);
    CHECK_EQ(s.line, 7);
    CHECK(!got->hold);
    sn_record_links_fini(&links);
    sn_failures_fini(&f);
}
