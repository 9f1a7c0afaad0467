/* SPDX-License-Identifier: Apache-2.0 */
#include "text/word_triples.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* Reads a text whose tags are written as |. */
static uint32_t
read(sn_word_triples *t, const char *url, const char *text)
{
    sn_word_triples_begin(t, sn_str_of(url));
    for (const char *end; *text; text = end + (*end == '|')) {
        end = text + strcspn(text, "|");
        sn_word_triples_text(t, text, (size_t)(end - text));
        if (*end == '|')
            sn_word_triples_break(t);
    }
    sn_word_triples_end(t);
    return t->n;
}

static bool
is_same(const char *url, const char *text, const char *other_url, const char *other)
{
    sn_word_triples a, b;

    read(&a, url, text);
    read(&b, other_url, other);
    return a.n == b.n && memcmp(a.hash, b.hash, a.n * sizeof *a.hash) == 0;
}

TEST(word_triples_are_three_words_in_a_row)
{
    sn_word_triples t;

    CHECK_EQ(read(&t, "/", ""), 0);
    CHECK_EQ(read(&t, "/", "one"), 1);
    CHECK_EQ(read(&t, "/", "one two"), 1);
    CHECK_EQ(read(&t, "/", "one two three"), 1);
    CHECK_EQ(read(&t, "/", "one two three four, five"), 3);
    CHECK_EQ(read(&t, "/", "one two|three four"), 2);
    CHECK_EQ(read(&t, "/", "one two|one two|One  TWO"), 1); /* each once */
}

TEST(word_triples_leave_out_digits_and_the_words_of_the_url)
{
    CHECK(is_same("/", "the 3rd of May 2026", "/", "the 4th of May 2027"));
    CHECK(is_same("/lamp/red", "no red lamp here", "/a", "no here"));
    CHECK(is_same("/x?q=gr%C3%BCn", "not gr\xc3\xbcn found", "/", "not found"));
    CHECK(!is_same("/", "no red lamp here", "/", "no blue lamp here"));
    CHECK(!is_same("/", "one two three", "/", "three two one"));
}

TEST(word_triples_do_not_depend_on_the_order_of_a_list)
{
    CHECK(is_same("/", "red lamp|blue chair|", "/", "|blue chair|red lamp"));
}

TEST(word_triples_do_not_depend_on_pieces)
{
    sn_word_triples a, b;
    static const char text[] = "some words that are cut anywhere";

    read(&a, "/", text);
    sn_word_triples_begin(&b, sn_str_of("/"));
    for (size_t i = 0; i + 1 < sizeof text; i++)
        sn_word_triples_text(&b, text + i, 1);
    sn_word_triples_end(&b);
    CHECK_EQ(a.n, 4);
    CHECK(a.n == b.n && memcmp(a.hash, b.hash, a.n * sizeof *a.hash) == 0);
}

/* 4,000 different words. */
static uint32_t
read_long(sn_word_triples *t, unsigned from)
{
    sn_word_triples_begin(t, sn_str_of("/"));
    for (unsigned i = from; i < from + 4000; i++) {
        char word[4] = {(char)('a' + i % 26), (char)('a' + i / 26 % 26),
                        (char)('a' + i / 676), ' '};
        sn_word_triples_text(t, word, sizeof word);
    }
    sn_word_triples_end(t);
    return t->n;
}

/* The hash of a page of one picture; 0: it has none. */
static uint64_t
picture(const char *source)
{
    sn_word_triples t;

    sn_word_triples_begin(&t, SN_STR("/gallery/17"));
    sn_word_triples_picture(&t, sn_str_of(source));
    sn_word_triples_end(&t);
    return t.n == 1 ? t.hash[0] : 0;
}

TEST(word_triples_of_a_picture_are_the_name_of_its_file)
{
    uint64_t one = picture("/img/1.jpg");

    CHECK(one != 0);
    CHECK(one != picture("/img/2.jpg"));
    CHECK_EQ(one, picture("http://cdn.example/s/9f86d081884c/1.jpg?sid=77#x"));
    CHECK_EQ(one, picture("1.jpg;jsessionid=77"));
    CHECK(picture("/photo/17/large.jpg") != picture("/photo/18/large.jpg"));
    CHECK_EQ(picture("/photo/17a/large.jpg"), picture("/photo/18a/large.jpg"));
    CHECK_EQ(picture("data:image/png;base64,AAAA"),
             picture("data:image/png;base64,BBBB"));
    CHECK_EQ(picture(""), 0);
    CHECK_EQ(picture("/img/?n=17"), 0);
}

TEST(word_triples_of_a_long_text_are_a_fair_sample)
{
    sn_word_triples a, b;
    uint32_t same = 0;

    CHECK_EQ(read_long(&a, 0), SN_WORD_TRIPLES_KEPT);
    CHECK_EQ(read_long(&b, 1000), SN_WORD_TRIPLES_KEPT); /* three quarters are the same */
    for (uint32_t i = 0, k = 0; i < a.n; i++) {
        CHECK(i == 0 || a.hash[i - 1] < a.hash[i]);
        while (k < b.n && b.hash[k] < a.hash[i])
            k++;
        same += k < b.n && b.hash[k] == a.hash[i];
    }
    CHECK(same > 30 && same < 60);
}
