/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "seine/url.h"

static char mem[SEINE_URL_ROOM];
static seine_url u;

static const char *
key_of(const char *text, const char *strip)
{
    static char key[SEINE_URL_ROOM];
    size_t len = 0;

    seine_url_init(&u, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&u, text, strlen(text), NULL), SEINE_OK);
    CHECK_EQ(seine_url_key(&u, strip, key, sizeof key, &len), SEINE_OK);
    CHECK_EQ(len, strlen(key));
    CHECK(len <= u.len);
    return key;
}

typedef struct pair {
    const char *text, *want;
} pair;

TEST(url_key_evens_escapes_and_drops_fragment_and_empty_query)
{
    static const pair rows[] = {
        {"HTTP://Ex.Example:80/%7ea?#x", "http://ex.example/~a"},
        {"http://h/a?#", "http://h/a"},
        {"http://h/a?", "http://h/a"},
        {"http://h/a#f?q", "http://h/a"},
        {"http://h/?a=1&b=2#f", "http://h/?a=1&b=2"},
        {"http://h/%c3%a9?%c3%A9", "http://h/%C3%A9?%C3%A9"},
        {"http://h/%41%5a%61%7A%30%39%2d%2E%5f%7e", "http://h/AZaz09-._~"},
        {"http://h/?%41%5a%61%7A%30%39%2d%2E%5f%7e", "http://h/?AZaz09-._~"},
        {"http://h/%2f%3f%23%25%26%3d%2b%20", "http://h/%2F%3F%23%25%26%3D%2B%20"},
        {"http://h/?b=2&a=1&&a=1", "http://h/?b=2&a=1&&a=1"}, /* no sorting */
        {"http://h//a//", "http://h//a//"},                   /* no collapsing */
        {"http://h/index.html?PHPSESSID=1", "http://h/index.html?PHPSESSID=1"},
        {"http://u:%41@h/", "http://u:%41@h/"}, /* path and query alone */
        {"http://h/%4", "http://h/%4"},
        {"http://h/%", "http://h/%"},
        {"http://h/%zz", "http://h/%zz"},
        {"http://h/%2541", "http://h/%2541"}, /* "%41" escaped is not "A" */
        {"mailto:%41?#f", "mailto:A"},
        {"foo:a ?#f", "foo:a%20"},
        {"foo:/.//%61", "foo:/.//a"},
        {"foo://h?%61#f", "foo://h?a"},
        {"foo://h#f", "foo://h"},
        {"http://h/a??", "http://h/a??"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(key_of(rows[i].text, NULL), rows[i].want);
}

TEST(url_key_makes_no_escape_of_what_was_none)
{
    static const pair rows[] = {
        {"http://h/%%34%31", "http://h/%%341"}, /* it means "%41", not "A" */
        {"http://h/%4%31", "http://h/%4%31"},
        {"http://h/%%341", "http://h/%%341"},
        {"http://h/%g%34%31", "http://h/%g41"}, /* no longer in doubt */
        {"http://h/%%7e41", "http://h/%~41"},
        {"http://h/%%2d%34", "http://h/%-4"},
        {"http://h/%4g%31", "http://h/%4g1"},
        {"http://h/%%%34%31", "http://h/%%%341"},
        {"http://h/%?%34", "http://h/%?4"},
        {"http://h/?%%34%31", "http://h/?%%341"},
        {"http://h/%%41%42%43", "http://h/%%41BC"}, /* "%" and "ABC" */
    };

    EACH_ROW(i, rows)
        CHECK_STR(key_of(rows[i].text, NULL), rows[i].want);
}

TEST(url_key_of_a_file_knows_its_drive)
{
    static const pair rows[] = {
        {"file:///%43:/x", "file:///C:/x"},
        {"file:///%43|/x", "file:///C:/x"}, /* as it would be read again */
        {"file:///%43|", "file:///C:"},
        {"file:///%43|x", "file:///C|x"},
        {"file:///x/%43|", "file:///x/C|"},
        {"http://h/%43|", "http://h/C|"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(key_of(rows[i].text, NULL), rows[i].want);
}

TEST(url_key_leaves_out_the_parameters_of_a_list)
{
    static const struct {
        const char *text, *strip, *want;
    } rows[] = {
        {"http://h/?utm_a=1&b=2&utm_c&fbclid=3", "utm_*,fbclid", "http://h/?b=2"},
        {"http://h/?utm_a=1", "utm_*", "http://h/"},
        {"http://h/?a=1", "utm_*", "http://h/?a=1"},
        {"http://h/?a=1&utm_x=2", "", "http://h/?a=1&utm_x=2"},
        {"http://h/?a=1&b=2", "a", "http://h/?b=2"},
        {"http://h/?a=1&b=2", "b", "http://h/?a=1"},
        {"http://h/?a=1&b=2", " b , a ", "http://h/"}, /* blanks around them */
        {"http://h/?aa=1&a=2", "a", "http://h/?aa=1"}, /* the whole name */
        {"http://h/?A=1", "a", "http://h/?A=1"},       /* and its case */
        {"http://h/?%61=1", "a", "http://h/"},         /* however it is written */
        {"http://h/?b=a", "a", "http://h/?b=a"},       /* not the value */
        {"http://h/?ab=1&abb=2&ac=3", "a?", "http://h/?abb=2"},
        {"http://h/?xay=1&xa=2&ay=3&a=4", "*a*y", "http://h/?xa=2&a=4"},
        {"http://h/?aXbXc=1&abc=2&ac=3", "a*b*c", "http://h/?ac=3"},
        {"http://h/?aab=1", "*ab", "http://h/"}, /* a star takes back */
        {"http://h/?a&&b", "a", "http://h/?&b"}, /* empty ones stay */
        {"http://h/?&a&", "a", "http://h/?&"},
        {"http://h/?=1&a", "a", "http://h/?=1"},
        {"http://h/?a&b", "*", "http://h/"},
        {"http://h/?a=1#a=1", "a", "http://h/"},
        {"http://h/a=1&a", "a", "http://h/a=1&a"}, /* only of the query */
        {"http://h/?", "a", "http://h/"},
        {"http://h/?a**=1", "a**", "http://h/"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(key_of(rows[i].text, rows[i].strip), rows[i].want);
}

TEST(url_key_needs_room_for_the_href)
{
    char key[64];
    size_t len = 77;

    key_of("http://h/%41#f", NULL);
    CHECK_EQ(seine_url_key(&u, NULL, key, u.len, &len), SEINE_E_RANGE);
    CHECK_EQ(len, 77);
    CHECK_EQ(seine_url_key(&u, NULL, key, u.len + (size_t)1, &len), SEINE_OK);
    CHECK_STR(key, "http://h/A");
}

TEST(url_key_may_take_the_place_of_the_href)
{
    static const char text[] = "file:///%43|/%7e%2f?%61=1&utm_a=%41&b#f";
    size_t len = 0;

    seine_url_init(&u, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&u, text, sizeof text - 1, NULL), SEINE_OK);
    CHECK_EQ(seine_url_key(&u, "utm_*", mem, sizeof mem, &len), SEINE_OK);
    CHECK_STR(mem, "file:///C:/~%2F?a=1&b");
    CHECK_EQ(len, strlen(mem));
}

/* What the escapes of a text stand for, byte by byte. */
static size_t
meaning(const char *text, char *out)
{
    size_t n = 0;

    for (; *text; text++) {
        if (*text == '%' && text[1] && isxdigit(text[1]) && isxdigit(text[2])) {
            char digits[3] = {text[1], text[2], '\0'};

            out[n++] = (char)strtol(digits, NULL, 16);
            text += 2;
        } else {
            out[n++] = *text;
        }
    }
    return n;
}

TEST(url_key_is_a_url_with_itself_as_key_and_the_same_meaning)
{
    static const char *const pieces[] = {"%",   "%4", "%41", "%7e", "%2f", "a", "4",
                                         "1",   "f",  "/",   "?",   "&",   "=", "%e9",
                                         "%%3", ".",  "%2e", "|",   "%43", "C", "'"};
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 20000; i++) {
        char text[128] = "http://h/x?", first[SEINE_URL_ROOM], a[128], b[128];

        if (sn_rng_below(&r, 2))
            snprintf(text, sizeof text, "%s", sn_rng_below(&r, 2) ? "file:///" : "foo:x");
        for (uint64_t n = sn_rng_below(&r, 10); n > 0; n--) {
            size_t len = strlen(text);

            snprintf(text + len, sizeof text - len, "%s",
                     pieces[sn_rng_below(&r, sizeof pieces / sizeof *pieces)]);
        }
        snprintf(first, sizeof first, "%s", key_of(text, NULL));
        CHECK_STR(key_of(first, NULL), first);
        CHECK_STR(mem, first); /* the key is an href */

        if (strncmp(text, "http", 4) == 0 && strlen(text) > 11) {
            size_t na = meaning(text, a), nb = meaning(first, b);

            if (strchr(text, '\'')) /* is escaped by the parser */
                continue;
            CHECK_EQ(na, nb);
            CHECK(memcmp(a, b, na) == 0);
        }
        snprintf(first, sizeof first, "%s", key_of(text, "a*,%2F"));
        CHECK_STR(key_of(first, "a*,%2F"), first);
    }
}
