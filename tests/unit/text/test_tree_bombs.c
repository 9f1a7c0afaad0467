/* SPDX-License-Identifier: Apache-2.0 */
/* Pages made to be expensive: what they cost is linear in their length, refused or not.
 * bench/tree.c measures their time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "text/tree_build.h"
#include "tree_bombs.h"

enum { SIZE = 128 * 1024 };

static seine_err
explode(const tree_bomb *bomb, char *page, size_t want, size_t *out_len)
{
    seine_tree *t = NULL;

    *out_len = tree_bomb_fill(bomb, page, want);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    seine_err e = seine_tree_parse(t, page, *out_len, NULL);
    if (t->maker) {
        CHECK(t->maker->steps <= 4 * *out_len + 20000 + 1);
        CHECK(t->maker->clones <= *out_len / 3 + 1000 + 512);
    }
    seine_tree_free(t);
    return e;
}

/* 32 x the page and 1 MB are promised; at this size it is less than 32 x. */
TEST(tree_of_a_bomb_takes_32_times_its_page_at_most)
{
    char *page = malloc(SIZE + 4096);
    size_t len;

    for (size_t i = 0; i < TREE_BOMBS && check_row(i); i++) {
        count_begin();
        seine_err e = explode(&tree_bombs[i], page, SIZE, &len);
        CHECK(e == SEINE_OK || e == SEINE_E_HTML_TOO_DEEP ||
              e == SEINE_E_HTML_TOO_COMPLEX);
        CHECK(count_peak() <= 32 * (int64_t)len);
        count_end();
    }
    free(page);
}

/* A page of the issue that asked for this: 600 KB of text behind end tags. */
TEST(tree_joins_text_that_nothing_separates)
{
    char *page = malloc(SIZE + 4096);
    size_t len = tree_bomb_fill(&tree_bombs[0], page, SIZE);
    seine_tree *t = NULL;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, page, len, NULL), SEINE_OK);
    CHECK_EQ(seine_tree_size(t), 5); /* document, html, head, body and one text */
    CHECK_EQ(seine_node_value(t, 4).len, len / 2);
    seine_tree_free(t);
    free(page);
}

TEST(tree_counts_attributes_after_they_are_merged)
{
    char page[16 * 300];
    size_t len = 0;
    seine_tree *t = NULL;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    for (unsigned i = 0; i < 256; i++)
        len += (size_t)snprintf(page + len, sizeof page - len, "<html a%x>", i);
    CHECK_EQ(seine_tree_parse(t, page, len, NULL), SEINE_OK);
    seine_attr a;
    CHECK(seine_node_attr_at(t, seine_tree_root(t), 255, &a));
    len += (size_t)snprintf(page + len, sizeof page - len, "<html a0 b>");
    CHECK_EQ(seine_tree_parse(t, page, len, NULL), SEINE_E_HTML_TOO_COMPLEX);
    seine_tree_free(t);
}
