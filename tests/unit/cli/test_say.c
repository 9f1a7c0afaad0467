/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/say.h"

#include <errno.h>
#include <string.h>

#include "check.h"

TEST(show_leaves_text_as_it_is_and_escapes_the_rest)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"plain", "plain"},
        {"", ""},
        {"Zoë ☃", "Zoë ☃"},
        {"a\nb\tc", "a\\x0ab\\x09c"},
        {"\x1b[2J", "\\x1b[2J"},
        {"a\xff"
         "b",
         "a\\xffb"}, /* no UTF-8 */
        {"a\xe2\x80\xae"
         "b",
         "a\\xe2\\x80\\xaeb"},      /* turns the direction around */
        {"\xc0\xaf", "\\xc0\\xaf"}, /* overlong */
    };

    EACH_ROW(i, rows)
        CHECK_STR(show(rows[i].text).text, rows[i].want);
}

TEST(show_ends_a_long_text_in_an_ellipsis)
{
    char text[1000];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    shown s = show(text);
    CHECK(strlen(s.text) < sizeof s.text);
    CHECK_STR(s.text + strlen(s.text) - 3, "…");
}

TEST(show_char_tells_length_and_columns_of_a_character)
{
    size_t columns = 9;

    CHECK_EQ(show_char("a", 1, &columns), 1);
    CHECK_EQ(columns, 1);
    CHECK_EQ(show_char("é", 2, &columns), 2);
    CHECK_EQ(columns, 1);
    CHECK_EQ(show_char("é", 1, NULL), 0); /* cut off */
    CHECK_EQ(show_char("\n", 1, NULL), 0);
}

TEST(show_host_drops_scheme_and_default_port)
{
    static const struct {
        const char *authority, *want;
    } rows[] = {
        {"http://e.example:8080", "e.example:8080"},
        {"https://e.example", "e.example"},
        {"http://[::1]:81", "[::1]:81"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(show_host(rows[i].authority, strlen(rows[i].authority)).text,
                  rows[i].want);
}

TEST(show_errno_begins_in_lower_case)
{
    CHECK_STR(show_errno(ENOSPC).text, "no space left on device");
    CHECK_STR(show_errno(ENOENT).text, "no such file or directory");
}
