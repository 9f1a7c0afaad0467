/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/textbuf.h"

#include <string.h>

#include "check.h"

TEST(textbuf_grows_and_stays_terminated)
{
    textbuf t = {0};

    for (int i = 0; i < 10000; i++)
        textbuf_put(&t, "%d", i % 10);
    CHECK_EQ(t.len, 10000);
    CHECK_EQ(strlen(t.text), 10000);
    CHECK_EQ(strncmp(t.text + 9990, "0123456789", 10), 0);
    textbuf_free(&t);
    CHECK(t.text == NULL && t.len == 0);
}

TEST(textbuf_adds_bytes_blanks_and_long_texts)
{
    textbuf t = {0};
    char wide[3000];

    memset(wide, 'x', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    textbuf_add(&t, "ab\0c", 4);
    textbuf_pad(&t, 3);
    textbuf_put(&t, "%s|", wide);
    CHECK_EQ(t.len, 4 + 3 + 2999 + 1);
    CHECK_EQ(memcmp(t.text, "ab\0c   xx", 9), 0);
    CHECK_EQ(t.text[t.len - 1], '|');
    textbuf_free(&t);
}

TEST(textbuf_has_colours_only_where_the_screen_has)
{
    screen plain = {.width = 80}, bright = {.width = 80, .colour = true};
    textbuf t = {0};

    textbuf_ink(&t, &plain, INK_BAD, "%d", 7);
    CHECK_STR(t.text, "7");
    textbuf_ink(&t, &bright, INK_BAD, "%d", 7);
    CHECK_STR(t.text, "7\x1b[31m7\x1b[0m");
    textbuf_free(&t);
}
