/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/record_table.h"

#include <string.h>

#include "check.h"
#include "screen/progress.h"

static seine_record
result(const char *url, const char *title)
{
    static const seine_fault none = SEINE_FAULT;

    return (seine_record){.type = SEINE_RECORD_RESULT,
                          .url = {url, strlen(url)},
                          .fate = SEINE_FATE_OK,
                          .fault = &none,
                          .status = 200,
                          .attempts = 1,
                          .content_length = -1,
                          .bytes_body = 1229,
                          .total = SEINE_MS(43),
                          .title = {title, strlen(title)}};
}

TEST(record_table_has_status_url_size_time_and_title)
{
    screen s = {.width = 100};
    seine_record r = result("https://e.example/", "Example page");
    record_table t;

    record_table_init(&t, &s, true, 0);
    record_table_make(&t, &r);
    CHECK_EQ(strncmp(t.line.text, "200  https://e.example/ ", 24), 0);
    CHECK(strstr(t.line.text, "1.2 KB") != NULL);
    CHECK(strstr(t.line.text, "43 ms  Example page\n") != NULL);
    record_table_fini(&t);
}

TEST(record_table_cuts_the_front_of_a_url_and_never_leaves_the_screen)
{
    char url[300] = "https://e.example/";
    record_table t;

    memset(url + 18, 'x', 200);
    memcpy(url + 218, "/end", 5);
    for (size_t width = 60; width < 160; width += 7) {
        screen s = {.width = width, .blocks = true};
        seine_record r =
            result(url, "a title that is as long as the whole screen is wide, "
                        "and even longer than that, so that it is cut");

        record_table_init(&t, &s, true, 0);
        record_table_make(&t, &r);
        t.line.text[t.line.len - 1] = '\0'; /* the line feed */
        CHECK(progress_columns(t.line.text) <= width);
        CHECK(strstr(t.line.text, "…") != NULL && strstr(t.line.text, "/end ") != NULL);
        record_table_fini(&t);
    }
}

TEST(record_table_drops_the_scheme_first_and_keeps_the_end_of_the_path)
{
    static const struct {
        const char *url, *want;
    } rows[] = {
        {"https://e.example/a", "200  https://e.example/a    "},
        {"https://e.example/docs/page/1", "200  e.example/docs/page/1  "},
        {"https://e.example/docs/page/number/one", "200  …/docs/page/number/one  "},
        {"https://e.example/docs/page/number/twenty-one",
         "200  …/page/number/twenty-one  "},
        {"https://e.example/docs/pages/twenty-three",
         "200  e.ex…/pages/twenty-three  "}, /* room for a host */
        /* a name that is longer than the column */
        {"https://e.example/docs/a-page-with-a-long-name.html",
         "200  …e-with-a-long-name.html  "},
        {"https://a-host-with-a-name-like-a-sentence.example",
         "200  …like-a-sentence.example  "},
    };

    EACH_ROW(i, rows) {
        screen s = {.width = 53, .blocks = true}; /* 24 columns for the URL */
        seine_record r = result(rows[i].url, "");
        record_table t;

        record_table_init(&t, &s, true, 0);
        CHECK_EQ(t.url, 24);
        record_table_make(&t, &r);
        CHECK_EQ(strncmp(t.line.text, rows[i].want, strlen(rows[i].want)), 0);
        CHECK_EQ(t.url, 24); /* the columns stay where they are */
        record_table_fini(&t);
    }
}

TEST(record_table_shows_where_followed_redirects_have_led)
{
    static const struct {
        const char *final, *want;
    } rows[] = {
        {"http://e.example/b", "→ /b\n"},                       /* the same host */
        {"http://f.example/b", "→ http://f.example/b\n"},       /* another one */
        {"https://e.example/b", "→ https://e.example/b\n"},     /* another scheme */
        {"http://e.example.org/", "→ http://e.example.org/\n"}, /* a longer name */
    };
    seine_hop hop = {{"http://e.example/a", 18}, 301};

    EACH_ROW(i, rows) {
        screen s = {.width = 120, .blocks = true};
        seine_record r = result("http://e.example/a", "Title");
        record_table t;

        r.hops = &hop;
        r.n_hops = 1;
        r.final_url = (seine_view){rows[i].final, strlen(rows[i].final)};
        record_table_init(&t, &s, true, 0);
        record_table_make(&t, &r);
        CHECK(strstr(t.line.text, rows[i].want) != NULL);
        record_table_fini(&t);
    }
}

TEST(record_table_keeps_the_end_of_a_target)
{
    screen s = {.width = 80, .blocks = true}; /* 21 columns for words */
    seine_record r = result("http://e.example/a", "");
    const char target[] = "http://e.example/manual/configuration/limits.html";
    record_table t;

    r.is_crawled = true;
    r.status = 301;
    r.final_url = (seine_view){target, strlen(target)};
    record_table_init(&t, &s, true, 0);
    record_table_make(&t, &r);
    CHECK(strstr(t.line.text, "  → …/limits.html\n") != NULL);
    record_table_fini(&t);
}

TEST(record_table_leaves_room_for_the_error_beside_long_urls)
{
    screen s = {.width = 80, .blocks = true};
    seine_record r = result("https://e.example/manual/configuration/one.html", "");
    seine_fault fault = {.code = SEINE_E_CONNECT_REFUSED};
    record_table t;

    r.fate = SEINE_FATE_NETWORK_ERROR;
    r.status = 0;
    r.fault = &fault;
    record_table_init(&t, &s, true, r.url.len);
    record_table_make(&t, &r);
    CHECK(strstr(t.line.text, "/one.html ") != NULL);
    CHECK(strstr(t.line.text, "  connect_refused") != NULL);
    r.attempts = 3; /* the kind is worth more than the number of tries */
    record_table_make(&t, &r);
    CHECK(strstr(t.line.text, "  connect_refused") != NULL);
    record_table_fini(&t);
}

TEST(record_table_keeps_the_row_of_a_skip_on_the_screen)
{
    const char rule[] = "robots.txt:2 Disallow: /private/and/more/of/it/and/more";
    seine_record r = result("https://e.example/private/accounts/of/others.html", "");

    r.type = SEINE_RECORD_SKIP;
    r.reason = SEINE_SKIP_ROBOTS;
    r.rule = (seine_view){rule, sizeof rule - 1};
    for (size_t width = 60; width < 160; width += 7) {
        screen s = {.width = width, .blocks = true, .colour = true};
        record_table t;

        record_table_init(&t, &s, true, 0);
        record_table_make(&t, &r);
        t.line.text[t.line.len - 1] = '\0'; /* the line feed */
        CHECK(progress_columns(t.line.text) <= width);
        CHECK(strstr(t.line.text, "skipped: robots, robo") != NULL);
        record_table_fini(&t);
    }
}

TEST(record_table_keeps_everything_where_there_is_no_terminal)
{
    char url[300] = "https://e.example/";
    screen s = {.width = 80, .blocks = true};
    record_table t;

    memset(url + 18, 'x', 200);
    seine_record r = result(url, "");
    record_table_init(&t, &s, false, 0);
    record_table_make(&t, &r);
    CHECK(strstr(t.line.text, url) != NULL);
    record_table_fini(&t);
}

TEST(record_table_makes_control_characters_harmless)
{
    screen s = {.width = 120};
    seine_record r = result("https://e.example/", "a\x1b[2Jb");
    record_table t;

    record_table_init(&t, &s, true, 0);
    record_table_make(&t, &r);
    CHECK(strchr(t.line.text, '\x1b') == NULL);
    CHECK(strstr(t.line.text, "a\\x1b[2Jb") != NULL);
    record_table_fini(&t);
}

TEST(figure_of_bytes_has_two_or_three_digits)
{
    CHECK_STR(figure_bytes(0).text, "0 B");
    CHECK_STR(figure_bytes(1023).text, "1023 B");
    CHECK_STR(figure_bytes(1024).text, "1.0 KB");
    CHECK_STR(figure_bytes(1229).text, "1.2 KB");
    CHECK_STR(figure_bytes(150 * 1024).text, "150 KB");
    CHECK_STR(figure_bytes(UINT64_C(5) << 30).text, "5.0 GB");
}
