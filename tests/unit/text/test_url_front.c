/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "text/url_front.h"

static char whole_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
static seine_url whole, u;
static sn_url_front front;

static seine_err
parse(const char *text)
{
    seine_url_init(&whole, whole_mem, sizeof whole_mem);
    return seine_url_parse(&whole, text, strlen(text), NULL);
}

static void
note(const char *text)
{
    front = (sn_url_front){0};
    CHECK_EQ(parse(text), SEINE_OK);
    sn_url_front_note(&front, &whole);
}

static bool
takes(const char *text)
{
    seine_url_init(&u, mem, sizeof mem);
    return sn_url_front_parse(&front, sn_str_of(text), &u);
}

/* Every member, and the text. */
static void
check_same(const char *text)
{
    CHECK_EQ(parse(text), SEINE_OK);
    CHECK_STR(u.href, whole.href);
    CHECK_EQ(u.len, whole.len);
    CHECK_EQ(u.scheme_end, whole.scheme_end);
    CHECK_EQ(u.user_end, whole.user_end);
    CHECK_EQ(u.password_end, whole.password_end);
    CHECK_EQ(u.host_at, whole.host_at);
    CHECK_EQ(u.host_end, whole.host_end);
    CHECK_EQ(u.path_at, whole.path_at);
    CHECK_EQ(u.path_end, whole.path_end);
    CHECK_EQ(u.query_end, whole.query_end);
    CHECK_EQ(u.port, whole.port);
    CHECK_EQ(u.scheme, whole.scheme);
    CHECK_EQ(u.host, whole.host);
    CHECK_EQ(u.opaque, whole.opaque);
}

TEST(url_front_parses_a_url_of_the_same_origin_like_the_parser)
{
    static const char *const rows[] = {
        "http://a.example:81/",      "http://a.example:81/b/../c?d=e&f#g",
        "http://a.example:81/%7e b", "http://a.example:81/x//y\\z",
        "http://a.example:81/?",     "http://a.example:81/\xc3\xa9 ",
    };

    note("http://A.example:81/first?x");
    EACH_ROW(i, rows) {
        CHECK(takes(rows[i]));
        check_same(rows[i]);
    }
}

TEST(url_front_leaves_what_is_no_path_of_its_origin_to_the_parser)
{
    static const char *const rows[] = {
        "http://a.example:8",    "http://a.example:81",      "http://a.example:812/",
        "http://a.example:81?x", "http://a.example:81//b",   "http://a.example:81/\\b",
        "http://b.example:81/",  "HTTP://a.example:81/",     "http://u@a.example:81/",
        " http://a.example:81/", "http://a.example:81/\t/b", "https://a.example:81/",
    };

    note("http://a.example:81/");
    EACH_ROW(i, rows)
        CHECK(!takes(rows[i]));
}

TEST(url_front_notes_only_names_and_addresses_of_the_web_without_user)
{
    static const char *const rows[] = {"http://u@a.example/", "http://u:p@a.example/",
                                       "http://[::1]/",       "ftp://a.example/",
                                       "file:///a",           "mailto:a@b"};

    EACH_ROW(i, rows) {
        note(rows[i]);
        CHECK_EQ(front.base.len, 0);
        CHECK(!takes(rows[i]));
    }
}

TEST(url_front_leaves_a_url_that_gets_too_long_to_the_parser)
{
    char text[SEINE_URL_ROOM];

    note("http://a.example/");
    memset(text, ' ', sizeof text); /* each becomes three bytes */
    memcpy(text, "http://a.example/x", 18);
    text[sizeof text - 2] = 'x';
    text[sizeof text - 1] = '\0';
    CHECK(!takes(text));
}

TEST(url_front_agrees_with_the_parser_on_random_texts)
{
    static const char *const parts[] = {
        "http://", "https://", "a.example", "127.0.0.1", ":80", ":8080", "/",
        "//",      "\\",       "..",        "?",         "#",   "x",     "%41",
        "\t",      " ",        "@",         "\xc3\xa9",  "A"};
    sn_rng rng = sn_rng_seed(check_seed());

    front = (sn_url_front){0};
    for (int i = 0; i < 20000; i++) {
        char text[256];
        int at = snprintf(text, sizeof text, "%s%s", parts[sn_rng_below(&rng, 2)],
                          parts[2 + sn_rng_below(&rng, 2)]);

        for (uint64_t n = 2 + sn_rng_below(&rng, 8); n > 0; n--)
            at += snprintf(text + at, sizeof text - (size_t)at, "%s",
                           parts[sn_rng_below(&rng, sizeof parts / sizeof *parts)]);
        if (takes(text))
            check_same(text);
        else if (parse(text) == SEINE_OK)
            sn_url_front_note(&front, &whole);
    }
}
