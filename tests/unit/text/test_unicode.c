/* SPDX-License-Identifier: Apache-2.0 */
#include "text/unicode.h"

#include "check.h"

TEST(unicode_words_are_letters_marks_digits_and_connectors)
{
    static const uint32_t words[] = {'a',    'Z',    '0',    '9',    '_',    0xe9,
                                     0x3b1,  0x416,  0x65e5, 0x300,  0xfe0f, 0x660,
                                     0x203f, 0x16ee, 0x24b6, 0x1f170};
    static const uint32_t others[] = {' ',    '-',     '.',    '@',      '[',  '`',
                                      '{',    '/',     ':',    0,        0xa0, 0xd7,
                                      0x2014, 0x1f680, 0x3002, 0x10ffff, 0xb2};

    EACH_ROW(i, words)
        CHECK(sn_unicode_is_word(words[i]));
    EACH_ROW(i, others)
        CHECK(!sn_unicode_is_word(others[i]));
}

TEST(unicode_lower_case_is_that_of_one_character)
{
    static const uint32_t rows[][2] = {
        {'A', 'a'},       {'Z', 'z'},     {'@', '@'},        {'[', '['},
        {'a', 'a'},       {0xc4, 0xe4},   {0x416, 0x436},    {0x3a3, 0x3c3},
        {0x65e5, 0x65e5}, {0x130, 0x130}, {0x10400, 0x10428}};

    EACH_ROW(i, rows)
        CHECK_EQ(sn_unicode_lower(rows[i][0]), rows[i][1]);
}

TEST(unicode_ascii_drops_accents)
{
    CHECK_STR(sn_unicode_ascii(0xe9), "e");
    CHECK_STR(sn_unicode_ascii(0xc4), "a");
    CHECK_STR(sn_unicode_ascii(0x65e5), "");
    CHECK_STR(sn_unicode_ascii(0xb2), "2");
}
