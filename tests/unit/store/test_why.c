/* SPDX-License-Identifier: Apache-2.0 */
#include "store/why.h"

#include <errno.h>
#include <string.h>

#include "check.h"

TEST(why_is_cut_to_its_room)
{
    char why[SEINE_WHY + 1], text[300];

    memset(why, '#', sizeof why);
    memset(text, 'x', sizeof text);
    sn_why(why, "%.*s", (int)sizeof text, text);
    CHECK_EQ(strlen(why), SEINE_WHY - 1);
    CHECK_EQ(why[SEINE_WHY], '#');
    sn_why(NULL, "nobody hears it");
}

TEST(why_shows_the_end_of_a_long_path)
{
    char path[200], name[SN_WHY_NAME];

    memset(path, 'a', sizeof path);
    memcpy(path + 180, "/out.jsonl", 11);
    sn_why_name(path, name);
    CHECK_EQ(strlen(name), 3 + 56);
    CHECK(memcmp(name,
                 "\xe2\x80\xa6"
                 "aa",
                 5) == 0);
    CHECK_STR(name + strlen(name) - 10, "/out.jsonl");

    for (size_t i = 0; i < 180; i += 3) /* 56 is not a number of whole ones */
        memcpy(path + i, "\xe2\x82\xac", 3);
    sn_why_name(path, name);
    CHECK(memcmp(name, "\xe2\x80\xa6\xe2\x82\xac", 6) == 0);
    CHECK(!strchr(name, '?'));
}

TEST(why_shows_nothing_that_moves_a_cursor)
{
    char name[SN_WHY_NAME];

    sn_why_name("a\x1b[0m\n\x7f\xc2\x9b\xff\xc3\xa9", name);
    CHECK_STR(name, "a?[0m????\xc3\xa9");
}

TEST(why_tells_errno_in_words)
{
    char text[SN_WHY_TEXT];

    sn_why_text(ENOSPC, text);
    CHECK_STR(text, "no space left on device");
    sn_why_text(99999, text);
    CHECK_STR(text, "unknown error");
}
