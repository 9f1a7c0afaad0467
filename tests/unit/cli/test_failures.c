/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/failures.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static seine_view
view(const char *text)
{
    return (seine_view){text, text ? strlen(text) : 0};
}

static void
fail_with(failure_list *f, unsigned status, seine_err e, const char *url,
          const char *parent)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT, .fault = &fault, .attempts = 1};

    fault.code = e;
    r.status = (uint16_t)status;
    r.fate = seine_fate_of(e);
    r.url = view(url);
    r.parent = view(parent);
    r.via.line = parent ? 40 : 0;
    r.hint = view(e == SEINE_E_HTTP ? "look again" : NULL);
    failures_add(f, &r, NULL);
}

static void
check_put(const failure_list *f, bool few, const char *want)
{
    screen s = {.width = 80};
    textbuf out = {NULL, 0, 0};

    textbuf_put(&out, "%s", "");
    failures_put(f, &s, few, &out);
    CHECK_STR(out.text ? out.text : "", want);
    textbuf_free(&out);
}

TEST(failures_are_grouped_by_kind_the_largest_first)
{
    failure_list f = {0};

    fail_with(&f, 0, SEINE_E_CONNECT_REFUSED, "http://a.example/", NULL);
    fail_with(&f, 404, SEINE_E_HTTP, "http://b.example/1", "http://b.example/");
    fail_with(&f, 404, SEINE_E_HTTP, "http://b.example/2", NULL);
    check_put(&f, false,
              "failed: 404, 2 URLs\n"
              "  http://b.example/1\n"
              "    linked from http://b.example/, line 40\n"
              "  http://b.example/2\n"
              "  try: look again\n"
              "failed: connect_refused, 1 URL\n"
              "  http://a.example/\n");
    check_put(&f, true, "try: look again (404)\n");
    failures_free(&f);
}

TEST(failures_show_ten_urls_in_all_and_one_of_each_kind)
{
    failure_list f = {0};
    screen s = {.width = 80};
    textbuf out = {NULL, 0, 0};
    unsigned shown = 0;

    for (int i = 0; i < 1000; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://a.example/%d", i);
        fail_with(&f, 404, SEINE_E_HTTP, url, NULL);
    }
    fail_with(&f, 500, SEINE_E_HTTP, "http://a.example/five", NULL);
    failures_put(&f, &s, false, &out);
    for (const char *p = out.text; (p = strstr(p, "  http://")); p++)
        shown++;
    CHECK_EQ(shown, FAILURES_SHOWN);
    CHECK(strstr(out.text, "failed: 404, 1,000 URLs\n") != NULL);
    CHECK(strstr(out.text, "  and 991 more\n") != NULL);
    CHECK(strstr(out.text, "http://a.example/five\n") != NULL);
    CHECK(strstr(out.text, "try: --failed failed.jsonl") != NULL);
    textbuf_free(&out);
    failures_free(&f);
}

static void
count_lines(seine_err e, const char *hint, const char *line, void *arg)
{
    unsigned *n = arg;

    CHECK(e != SEINE_OK && hint != NULL && strchr(line, '\n') == NULL);
    ++*n;
}

TEST(failures_are_a_line_each_for_those_who_want_no_more)
{
    failure_list f = {0};
    unsigned n = 0;

    for (int i = 0; i < 12; i++)
        fail_with(&f, 404, SEINE_E_HTTP, "http://a.example/x", "http://a.example/");
    failures_each(&f, count_lines, &n);
    CHECK_EQ(n, FAILURES_SHOWN + 1);
    failures_free(&f);
}

TEST(failures_pass_over_what_is_ok_or_was_never_asked)
{
    failure_list f = {0};
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT, .fault = &fault};

    failures_add(&f, &r, NULL);
    fault.code = SEINE_E_CANCELED;
    r.fate = SEINE_FATE_CANCELED;
    failures_add(&f, &r, NULL);
    r.type = SEINE_RECORD_SKIP;
    failures_add(&f, &r, NULL);
    check_put(&f, false, "");
    failures_free(&f);
}

TEST(failures_of_more_kinds_than_there_are_groups_share_the_last)
{
    failure_list f = {0};

    for (unsigned i = 0; i < 40; i++)
        fail_with(&f, 400 + i, SEINE_E_HTTP, "http://a.example/", NULL);
    CHECK_EQ(f.n_groups, FAILURES_KINDS);
    CHECK_STR(f.groups[FAILURES_KINDS - 1].name, "other kinds");
    CHECK_EQ(f.groups[FAILURES_KINDS - 1].n, 40 - FAILURES_KINDS + 1);
    failures_free(&f);
}

TEST(failures_show_no_control_character_of_a_url)
{
    failure_list f = {0};

    fail_with(&f, 404, SEINE_E_HTTP, "http://a.example/\x1b[2J", NULL);
    check_put(&f, false,
              "failed: 404, 1 URL\n  http://a.example/\\x1b[2J\n  try: look again\n");
    failures_free(&f);
}

/* A failure found on http://b.example/, line 40, and on `n` of `count` pages. */
static void
fail_on_pages(failure_list *f, const char *tag, size_t n, size_t count)
{
    seine_fault fault = SEINE_FAULT;
    seine_record r = {.type = SEINE_RECORD_RESULT, .fault = &fault, .attempts = 1};
    seine_referrer pages[20];
    char urls[20][40];

    fault.code = SEINE_E_HTTP;
    r.status = 404;
    r.fate = SEINE_FATE_HTTP_ERROR;
    r.url = view("http://b.example/x");
    r.parent = view("http://b.example/");
    r.via = (seine_found){.tag = view(tag), .line = tag ? 40 : 0};
    for (size_t i = 0; i < n; i++) {
        snprintf(urls[i], sizeof urls[i], "http://b.example/%zu", i);
        pages[i] = (seine_referrer){view(i == 0 && tag ? "http://b.example/" : urls[i]),
                                    (uint32_t)(40 + i)};
    }
    failures_add(f, &r, &(failure_pages){pages, n, count});
}

static char said[2048];

static void
keep_line(seine_err e, const char *hint, const char *line, void *arg)
{
    (void)e, (void)hint, (void)arg;
    snprintf(said, sizeof said, "%s", line);
}

static void
check_pages(const char *tag, size_t n, size_t count, const char *want, const char *quiet)
{
    failure_list f = {0};

    fail_on_pages(&f, tag, n, count);
    check_put(&f, false, want);
    failures_each(&f, keep_line, NULL);
    CHECK_STR(said, quiet);
    failures_free(&f);
}

TEST(failures_name_the_pages_that_link_there_and_count_the_others)
{
    check_pages("a", 1, 1,
                "failed: 404, 1 URL\n"
                "  http://b.example/x\n"
                "    linked from http://b.example/, line 40\n",
                "failed: 404 http://b.example/x, linked from http://b.example/, line 40");
    check_pages("a", 2, 3,
                "failed: 404, 1 URL\n"
                "  http://b.example/x\n"
                "    linked from http://b.example/, line 40\n"
                "    linked from http://b.example/1, line 41\n"
                "    and 1 more page\n",
                "failed: 404 http://b.example/x, linked from http://b.example/, line 40, "
                "and 2 more pages");
    /* the parent is a redirect or a sitemap, and no page */
    check_pages(NULL, 1, 14,
                "failed: 404, 1 URL\n"
                "  http://b.example/x\n"
                "    linked from http://b.example/\n"
                "    linked from http://b.example/0, line 40\n"
                "    and 13 more pages\n",
                "failed: 404 http://b.example/x, linked from http://b.example/, and 14 "
                "more pages");
}

TEST(failures_name_ten_pages_of_a_url_at_most)
{
    failure_list f = {0};
    textbuf out = {NULL, 0, 0};
    screen s = {.width = 80};
    size_t n = 0;

    fail_on_pages(&f, "a", 20, 57);
    failures_put(&f, &s, false, &out);
    for (const char *at = out.text; (at = strstr(at, "linked from")); at++)
        n++;
    CHECK_EQ(n, 10);
    CHECK(strstr(out.text, "    and 47 more pages\n") != NULL);
    textbuf_free(&out);
    failures_free(&f);
}
