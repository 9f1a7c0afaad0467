/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/fold.h"

#include <stdint.h>
#include <string.h>

#include "check.h"

TEST(fold_breaks_lines_of_words_and_leaves_the_others)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"twenty columns, fits\n", "twenty columns, fits\n"}, /* exactly */
        {"twenty columns, no fit\n", "twenty columns, no\nfit\n"},
        {"no feed at the end of it", "no feed at the end\nof it"},
        {"a b; try: the same again\n", "a b\ntry: the same again\n"}, /* a hint */
        {"a hint that is behind; try: c\n", "a hint that is\nbehind; try: c\n"},
        {"a; try: c\n", "a; try: c\n"}, /* that fits */
        {"ok     997    99.7 %   ====\n", "ok     997    99.7 %   ====\n"}, /* a table */
        {"  https://e.example/a/long/path\n", "  https://e.example/a/long/path\n"},
        {"see https://e.example/a/long/path\n", "see\nhttps://e.example/a/long/path\n"},
        {"\x1b[31mfailed: 404\x1b[0m, 3 URLs\n", "\x1b[31mfailed: 404\x1b[0m, 3 URLs\n"},
        {"–––– –––– –––– ––––\n", "–––– –––– –––– ––––\n"}, /* bytes are no columns */
        {"one two three four five six seven\nx\n",
         "one two three four\nfive six seven\nx\n"},
        {"", ""},
        {"\n\n", "\n\n"},
    };

    EACH_ROW(i, rows) {
        textbuf out = {0};

        fold_lines(rows[i].text, strlen(rows[i].text), 20, &out);
        CHECK_STR(out.text ? out.text : "", rows[i].want);
        textbuf_free(&out);
    }
}

TEST(fold_loses_no_word)
{
    const char text[] =
        "done: 12 pages, 10 ok, 2 http_error (404 ×1, 500 ×1) in 6.01 s; try: less";
    char joined[sizeof text + 8];

    for (size_t width = 1; width < 100; width++) {
        textbuf out = {0};

        fold_lines(text, sizeof text - 1, width, &out);
        size_t n = 0;
        for (size_t i = 0; i < out.len && n < sizeof joined - 2; i++) {
            if (out.text[i] == '\n' && strncmp(out.text + i, "\ntry: ", 6) == 0 &&
                out.text[i - 1] == 's')
                joined[n++] = ';';
            joined[n++] = out.text[i] == '\n' ? ' ' : out.text[i];
        }
        joined[n] = '\0';
        CHECK_STR(joined, text);
        textbuf_free(&out);
    }
}
