/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/markdown.h"

#include <string.h>

#include "check.h"
#include "screen/markdown_line.h"

/* What a page looks like on a screen of that width. */
static void
check_shown(const char *page, size_t width, const char *want)
{
    const screen s = {.width = width};
    textbuf out = {NULL, 0, 0};

    markdown_show(&out, &s, page, strlen(page));
    CHECK_STR(out.len ? out.text : "", want);
    textbuf_free(&out);
}

TEST(markdown_headings_stand_at_the_margin_and_text_is_indented)
{
    check_shown("# A\n\nb c\n", 80, "A\n  b c\n");
    check_shown("a\n\n## B `c`\nd\n", 80, "  a\n\nB c\n  d\n");
    check_shown("## B\n### C\nd\n", 80, "B\n\nC\n  d\n");
    check_shown("# aaa bbb ccc\n", 8, "aaa bbb\nccc\n");
}

TEST(markdown_paragraphs_are_wrapped_at_the_width)
{
    check_shown("aaa bbb\nccc ddd\n", 13, "  aaa bbb ccc\n  ddd\n");
    check_shown("aaa bbb\nccc ddd\n", 12, "  aaa bbb\n  ccc ddd\n");
    check_shown("a\n\nb", 80, "  a\n\n  b\n");
}

TEST(markdown_a_word_that_is_too_long_is_broken)
{
    check_shown("abcdefgh\n", 6, "  abcd\n  efgh\n");
}

TEST(markdown_items_hang_behind_their_mark)
{
    check_shown("x\n- aa bb\n  cc\n- d\n", 10, "  x\n\n  - aa bb\n    cc\n  - d\n");
    check_shown("12. aa bb\n", 9, "  12. aa\n      bb\n");
    check_shown("12 a\n", 80, "  12 a\n");
}

TEST(markdown_fenced_blocks_stay_as_they_are)
{
    check_shown("```sh site\n# a  |b|\n\n`c` **d**\n```\ne\n", 10,
                "      # a  |b|\n\n      `c` **d**\n\n  e\n");
    check_shown("```\nno end\n", 80, "      no end\n");
}

TEST(markdown_marks_inside_of_a_line_are_read)
{
    check_shown("`a*b` **c** [d](e.md) [f](http://g/)\n", 80,
                "  a*b c d f (http://g/)\n");
    check_shown("a ` b ** c [d] 2 * 3 \\| \\*\n", 80, "  a ` b ** c [d] 2 * 3 | *\n");
    check_shown("[`x`](y)\n", 80, "  x\n");
}

TEST(markdown_columns_of_a_table_are_aligned)
{
    check_shown("| a | bb |\n|---|---|\n| ccc | d |\n| `e\\|f` | |\n", 80,
                "  a    bb\n  ccc  d\n  e|f\n");
    check_shown("| | |\n|---|---|\n| a | b |\n", 80, "  a  b\n");
}

TEST(markdown_cells_are_wrapped_and_rows_are_kept_apart_when_most_are)
{
    check_shown("| k | v |\n|---|---|\n| a | bbb ccc ddd eee fff |\n"
                "| g | hhh iii jjj kkk lll |\n",
                22,
                "  k  v\n  a  bbb ccc ddd eee\n     fff\n\n"
                "  g  hhh iii jjj kkk\n     lll\n");
    check_shown("| k | v |\n|---|---|\n| a | b |\n| c | d |\n"
                "| g | hhh iii jjj kkk lll |\n",
                22, "  k  v\n  a  b\n  c  d\n  g  hhh iii jjj kkk\n     lll\n");
}

TEST(markdown_a_table_fits_into_any_width)
{
    static const char page[] =
        "| one two three four | five six seven eight nine | ten |\n"
        "|---|---|---|\n| a | `bbbbbbbbbbbbbbbbbbbbbbbb` | c |\n";

    for (size_t width = 40; width <= 120; width++) {
        const screen s = {.width = width};
        textbuf out = {NULL, 0, 0};

        markdown_show(&out, &s, page, sizeof page - 1);
        for (const char *line = out.text; *line; line += strcspn(line, "\n") + 1)
            CHECK(strcspn(line, "\n") <= width);
        textbuf_free(&out);
    }
}

TEST(markdown_bold_goes_on_over_lines_and_ends_with_each)
{
    const screen s = {.width = 8, .colour = true};
    textbuf out = {NULL, 0, 0};

    markdown_show(&out, &s, "`aaa bbb ccc`", 13);
    CHECK_STR(out.text,
              "  \x1b[1maaa\x1b[0m\n  \x1b[1mbbb\x1b[0m\n  \x1b[1mccc\x1b[0m\n");
    textbuf_free(&out);
}

TEST(markdown_wide_characters_count_by_their_columns)
{
    CHECK_EQ(markdown_columns("a\u00e9b", strlen("a\u00e9b")), 3);
    CHECK_EQ(markdown_longest("a bb\u00e9 c"), 3);
}

TEST(markdown_cells_of_a_row_are_found_one_by_one)
{
    static const char row[] = "| a | b \\| c |  |";
    const char *cell;
    size_t at = 0, len;

    CHECK(markdown_cell(row, sizeof row - 1, &at, &cell, &len) && len == 1);
    CHECK(markdown_cell(row, sizeof row - 1, &at, &cell, &len) && len == 6);
    CHECK(markdown_cell(row, sizeof row - 1, &at, &cell, &len) && len == 0);
    CHECK(!markdown_cell(row, sizeof row - 1, &at, &cell, &len));
    at = 0;
    CHECK(!markdown_cell("", 0, &at, &cell, &len));
}
