/* SPDX-License-Identifier: Apache-2.0 */
#include "report/diff.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

enum { ALL = (1 << DIFF_FIELDS) - 1 };

static seine_view
view_of(const char *text)
{
    return (seine_view){text, strlen(text)};
}

static entry
page(const char *url, unsigned status, const char *title)
{
    entry e = {.kind = ENTRY_RESULT,
               .url = view_of(url),
               .status = status,
               .is_ok = status == 200,
               .fate = status == 200 ? SEINE_FATE_OK : SEINE_FATE_HTTP_ERROR,
               .title = view_of(title),
               .attempts = 1,
               .has_times = true};

    e.spans[SPAN_TTFB] = SEINE_MS(100);
    return e;
}

/* The kind that one URL has, if it is `a` in the first run and `b` in the second. */
static diff_kind
kind_of(const entry *a, const entry *b, unsigned *out_fields)
{
    diff *d = diff_new(ALL);

    if (a)
        diff_take(d, DIFF_A, a);
    if (b)
        diff_take(d, DIFF_B, b);
    diff_again(d, b ? DIFF_B : DIFF_A);
    const diff_url *u = diff_next(d, b ? b : a);
    CHECK(u != NULL);
    diff_kind kind = diff_kind_of(d, u);
    *out_fields = diff_fields_of(d, u);
    CHECK_EQ(diff_count(d).kinds[kind], 1u);
    diff_free(d);
    return kind;
}

TEST(diff_knows_what_was_added_removed_or_stayed)
{
    entry e = page("http://a/", 200, "A");
    unsigned fields;

    CHECK_EQ((int)kind_of(NULL, &e, &fields), (int)DIFF_ADDED);
    CHECK_EQ((int)kind_of(&e, NULL, &fields), (int)DIFF_REMOVED);
    CHECK_EQ((int)kind_of(&e, &e, &fields), (int)DIFF_SAME);
}

TEST(diff_knows_what_changed)
{
    entry a = page("http://a/", 200, "A"), b;
    unsigned fields;

    b = page("http://a/", 404, "A");
    CHECK_EQ((int)kind_of(&a, &b, &fields), (int)DIFF_CHANGED);
    CHECK_EQ(fields, 1u << DIFF_OUTCOME | 1u << DIFF_STATUS);
    b = page("http://a/", 200, "B");
    CHECK_EQ((int)kind_of(&a, &b, &fields), (int)DIFF_CHANGED);
    CHECK_EQ(fields, 1u << DIFF_TITLE);
    b = a;
    b.bytes_body = 7;
    kind_of(&a, &b, &fields);
    CHECK_EQ(fields, 1u << DIFF_LENGTH);
    b = a;
    b.data = view_of("{\"x\":1}");
    kind_of(&a, &b, &fields);
    CHECK_EQ(fields, 1u << DIFF_DATA);
    b = a;
    b.final_url = view_of("http://b/");
    kind_of(&a, &b, &fields);
    CHECK_EQ(fields, 1u << DIFF_TARGET);
}

TEST(diff_compares_hashes_of_bodies_where_both_have_one)
{
    entry a = page("http://a/", 200, "A"), b = a;
    unsigned fields;

    b.sha256 = view_of("00ff");
    CHECK_EQ((int)kind_of(&a, &b, &fields), (int)DIFF_SAME);
    a.sha256 = view_of("00fe");
    CHECK_EQ((int)kind_of(&a, &b, &fields), (int)DIFF_CHANGED);
    CHECK_EQ(fields, 1u << DIFF_SHA256);
}

TEST(diff_calls_twice_as_long_slower_if_it_can_be_felt)
{
    static const struct {
        int old, now; /* ms */
        diff_kind kind;
    } rows[] = {
        {100, 200, DIFF_SLOWER}, {100, 199, DIFF_SAME}, /* not twice */
        {90, 180, DIFF_SAME},                           /* only 90 ms */
        {200, 100, DIFF_FASTER}, {0, 500, DIFF_SAME},   /* the old time is not known */
    };

    EACH_ROW(i, rows) {
        entry a = page("http://a/", 200, "A"), b = a;
        unsigned fields;

        a.spans[SPAN_TTFB] = SEINE_MS(rows[i].old);
        b.spans[SPAN_TTFB] = SEINE_MS(rows[i].now);
        CHECK_EQ((int)kind_of(&a, &b, &fields), (int)rows[i].kind);
    }
}

TEST(diff_takes_the_last_record_of_a_url)
{
    diff *d = diff_new(ALL);
    entry bad = page("http://a/", 503, ""), good = page("http://a/", 200, "A");

    diff_take(d, DIFF_A, &good);
    diff_take(d, DIFF_B, &bad);
    diff_take(d, DIFF_B, &good);
    CHECK_EQ(diff_count(d).kinds[DIFF_SAME], 1u);
    diff_again(d, DIFF_B);
    CHECK(diff_next(d, &bad) == NULL);
    CHECK(diff_next(d, &good) != NULL);
    diff_free(d);
}

TEST(diff_keeps_old_titles_and_outcomes)
{
    diff *d = diff_new(ALL);
    entry a = page("http://a/", 200, "Old"), b = page("http://a/", 404, "New");
    entry skip = {
        .kind = ENTRY_SKIP, .url = view_of("http://b/"), .error = view_of("robots")};

    diff_take(d, DIFF_A, &a);
    diff_take(d, DIFF_A, &skip);
    diff_take(d, DIFF_B, &b);
    diff_again(d, DIFF_B);
    const diff_url *u = diff_next(d, &b);
    CHECK_STR(diff_old_title(d, u), "Old");
    CHECK_STR(diff_outcome(d, u, DIFF_A), "ok");
    CHECK_STR(diff_outcome(d, u, DIFF_B), "404");
    diff_again(d, DIFF_A);
    CHECK(diff_next(d, &a) != NULL);
    u = diff_next(d, &skip);
    CHECK_STR(diff_outcome(d, u, DIFF_A), "skip robots");
    CHECK_EQ((int)diff_kind_of(d, u), (int)DIFF_REMOVED);
    diff_free(d);
}

TEST(diff_looks_at_the_fields_that_were_asked_for)
{
    diff *d = diff_new(1u << DIFF_STATUS);
    entry a = page("http://a/", 200, "A"), b = page("http://a/", 200, "B");

    diff_take(d, DIFF_A, &a);
    diff_take(d, DIFF_B, &b);
    CHECK_EQ(diff_count(d).kinds[DIFF_SAME], 1u);
    diff_free(d);
}

TEST(diff_of_many_urls_finds_each)
{
    diff *d = diff_new(ALL);
    char url[32];

    for (int i = 0; i < 20000; i++) {
        snprintf(url, sizeof url, "http://a/%d", i);
        entry e = page(url, 200, "");

        if (i % 10 != 0)
            diff_take(d, DIFF_A, &e);
    }
    for (int i = 0; i < 20000; i++) {
        snprintf(url, sizeof url, "http://a/%d", i);
        entry e = page(url, i % 7 ? 200 : 404, "");

        if (i % 10 != 1)
            diff_take(d, DIFF_B, &e);
    }
    diff_counts c = diff_count(d);
    CHECK_EQ(c.kinds[DIFF_ADDED], 2000u);
    CHECK_EQ(c.kinds[DIFF_REMOVED], 2000u);
    uint64_t changed = 0;
    for (int i = 0; i < 20000; i++)
        changed += i % 10 > 1 && i % 7 == 0;
    CHECK_EQ(c.kinds[DIFF_CHANGED], changed);
    diff_free(d);
}
