/* SPDX-License-Identifier: Apache-2.0 */
#include "h1_scan_cases.h"

TEST(h1_scan_finds_every_byte_at_every_place)
{
    check_every_byte();
}

TEST(h1_scan_finds_what_a_loop_finds)
{
    check_random_texts();
}

TEST(h1_scan_knows_a_word_in_any_case)
{
    check_words();
}
