/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/novelty.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

/* A page of `n` triples, of which `own` are of this page alone. */
static const sn_word_triples *
text(unsigned page, unsigned own, unsigned n)
{
    static sn_word_triples t;

    for (unsigned i = 0; i < n; i++) /* as mixed as hashes are */
        t.hash[i] = ((i < own ? page * 1000ull + i + 1000000 : i) + 1) *
                    UINT64_C(0x9e3779b97f4a7c15);
    t.n = n;
    return &t;
}

static const sn_residues none = {.n = 0};

static void
add(sn_novelty *n, unsigned pages, bool is_new)
{
    for (unsigned i = 0; i < pages; i++)
        sn_novelty_page(n, &(sn_page_news){.text = is_new ? SN_TEXT_NEW : SN_TEXT_KNOWN},
                        &none, 0);
}

static bool
refuses(sn_novelty *n, sn_leader leader)
{
    return sn_novelty_refuses(n, &none, leader, 0);
}

/* A URL with one part, and what is left of it without that part. */
static sn_residues
without(uint64_t part, uint64_t rest)
{
    return (sn_residues){.all = {{part, rest}}, .n = 1};
}

TEST(novelty_of_a_text_is_a_tenth_that_was_not_seen)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

    CHECK(sn_novelty_text(n, text(1, 0, 40)));
    CHECK(!sn_novelty_text(n, text(2, 0, 40)));
    CHECK(sn_novelty_text(n, text(3, 4, 40)));
    CHECK(!sn_novelty_text(n, text(4, 3, 40)));
    CHECK(!sn_novelty_text(n, text(5, 0, 0))); /* nothing is nothing new */
    sn_novelty_free(n);
}

TEST(novelty_leaves_out_the_frame_of_all_pages)
{
    for (int kind = SN_NOVELTY_PATTERN; kind <= SN_NOVELTY_WORDS; kind++) {
        sn_novelty *n = sn_novelty_new((sn_novelty_kind)kind);
        unsigned known = 0;

        for (unsigned i = 0; i < 40; i++) /* which triples the frame is */
            (void)sn_novelty_text(n, text(i, 0, 32));
        for (unsigned i = 40; i < 3000; i++) /* one of a page among 31 */
            known += !sn_novelty_text(n, text(i, 1, 32));
        CHECK(known < 30);                          /* a filter takes some for known */
        CHECK(!sn_novelty_text(n, text(1, 0, 32))); /* a frame alone is nothing new */
        unsigned again = 0;
        for (unsigned i = 0; i < 100; i++)
            again += sn_novelty_text(n, text(40, 1, 32)); /* nor is one text again */
        CHECK(again <= (kind == SN_NOVELTY_WORDS ? 40u : 0u));
        sn_novelty_free(n);
    }
}

TEST(novelty_counts_nothing_as_frame_that_few_pages_have)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

    /* Ten kinds of pages, each with its own frame: a tenth of all triples is asked for.
     */
    for (unsigned i = 0; i < 400; i++)
        (void)sn_novelty_text(n, text(i % 10, 40, 40));
    static sn_word_triples t;
    t = *text(3, 40, 40);
    t.hash[0] = 77777; /* one of 40 */
    CHECK(!sn_novelty_text(n, &t));
    t.hash[1] = 77778, t.hash[2] = 77779, t.hash[3] = 77780, t.hash[4] = 77781;
    CHECK(sn_novelty_text(n, &t));
    sn_novelty_free(n);
}

TEST(novelty_refuses_only_while_90_percent_of_the_last_200_repeat)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

    add(n, 199, false);
    CHECK(!sn_novelty_repeats(n) && !refuses(n, SN_LEADER_UNKNOWN));
    add(n, 1, false);
    CHECK(sn_novelty_repeats(n) && refuses(n, SN_LEADER_NEW));
    add(n, 20, true);
    CHECK(sn_novelty_repeats(n));
    add(n, 1, true);
    CHECK(!sn_novelty_repeats(n) && !refuses(n, SN_LEADER_UNKNOWN));
    CHECK(sn_novelty_is_cleared(n));
    add(n, 179, false); /* the new ones are still among the last 200 */
    CHECK(!sn_novelty_repeats(n));
    add(n, 1, false);
    CHECK(sn_novelty_repeats(n));
    sn_novelty_free(n);
}

TEST(novelty_counts_a_page_that_leads_on)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

    for (unsigned i = 0; i < 200; i++)
        sn_novelty_page(n, &(sn_page_news){.leads = i % 9 == 0}, &none, 0);
    CHECK(!sn_novelty_repeats(n));
    CHECK(!sn_novelty_has_texts(n)); /* and yet its texts repeat */
    sn_novelty_free(n);
}

/* How many of the next URLs are asked for if none of them brings anything? */
static unsigned
passed(sn_novelty *n, unsigned urls, bool is_new)
{
    unsigned passes = 0;

    for (unsigned i = 0; i < urls; i++)
        if (!refuses(n, SN_LEADER_REPEAT)) {
            passes++;
            sn_novelty_page(n,
                            &(sn_page_news){.text = is_new ? SN_TEXT_NEW : SN_TEXT_KNOWN},
                            &none, sn_novelty_start(n, &none));
        }
    return passes;
}

TEST(novelty_probes_ever_more_rarely_and_opens_for_good_pages)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

    add(n, 200, false);
    unsigned first = passed(n, 1000, false), later = passed(n, 100000, false);
    CHECK(first >= 1 && first <= 5);
    CHECK(later >= 1 && later <= 10);
    CHECK(passed(n, 1000000, true) > 900000); /* and a few probes suffice */
    CHECK(!sn_novelty_repeats(n));
    sn_novelty_free(n);
}

TEST(novelty_asks_for_each_residue_once)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    sn_residues seen = without(1, 17), unseen = without(1, 18);

    CHECK_EQ(sn_novelty_start(n, &seen), 0);
    CHECK_EQ(sn_novelty_start(n, &seen), 1);
    CHECK_EQ(sn_novelty_start(n, &none), 0);
    add(n, 200, false);
    CHECK(sn_novelty_refuses(n, &seen, SN_LEADER_UNKNOWN, 0));
    CHECK(!sn_novelty_refuses(n, &unseen, SN_LEADER_UNKNOWN, 0));
    for (unsigned i = 0; i < SN_NOVELTY_LEAVE; i++)
        (void)sn_novelty_refuses(n, &unseen, SN_LEADER_UNKNOWN, 0);
    CHECK(sn_novelty_refuses(n, &unseen, SN_LEADER_UNKNOWN, 0)); /* not without end */
    sn_novelty_free(n);
}

TEST(novelty_grants_more_leave_for_pages_that_are_worth_it)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    unsigned refused = 0;

    add(n, 200, false);
    for (unsigned i = 0; i < 4 * SN_NOVELTY_LEAVE; i++) {
        sn_residues r = without(1, (i + 1) * UINT64_C(0x9e3779b97f4a7c15));
        if (sn_novelty_refuses(n, &r, SN_LEADER_UNKNOWN, 0))
            refused++;
        else
            sn_novelty_page(n,
                            &(sn_page_news){.text = i % 3 ? SN_TEXT_KNOWN : SN_TEXT_NEW},
                            &r, sn_novelty_start(n, &r));
    }
    CHECK(refused < 40);          /* a filter takes some for known */
    CHECK(sn_novelty_repeats(n)); /* they are not among those that are judged */
    sn_novelty_free(n);
}

TEST(novelty_finds_the_part_of_urls_that_is_idle)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    sn_residues known = without(1, 17), other = without(1, 18), foreign = without(2, 17);

    sn_novelty_start(n, &known);
    for (unsigned i = 0; i < 200; i++) { /* half of all pages are new */
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_NEW}, &none, 0);
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_KNOWN}, &known, 1);
    }
    CHECK(!sn_novelty_repeats(n));
    CHECK(sn_novelty_refuses(n, &known, SN_LEADER_UNKNOWN, 0));
    CHECK(!sn_novelty_refuses(n, &other, SN_LEADER_UNKNOWN, 0));
    CHECK(!sn_novelty_refuses(n, &foreign, SN_LEADER_UNKNOWN, 0));
    CHECK(!sn_novelty_refuses(n, &none, SN_LEADER_UNKNOWN, 0));
    CHECK(sn_novelty_verdict(n) == &n->parts[0].again);
    sn_novelty_free(n);
}

/* id=5&u=9: u is a session, whatever it is called. */
TEST(novelty_fetches_what_differs_in_more_than_an_idle_part)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    sn_residues page = {.all = {{1, 900}, {2, 5}}, .n = 2};
    sn_residues fresh = {.all = {{1, 901}, {2, 6}}, .n = 2};

    sn_novelty_start(n, &page);
    for (unsigned i = 0; i < 200; i++)
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_KNOWN}, &page, 2);
    CHECK(sn_novelty_repeats(n));
    CHECK(sn_novelty_refuses(n, &page, SN_LEADER_UNKNOWN, 0));
    CHECK(!sn_novelty_refuses(n, &fresh, SN_LEADER_UNKNOWN, 0));
    sn_novelty_free(n);
}

TEST(novelty_of_plain_words_is_a_text_that_is_not_common)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);
    unsigned repeats = 0;

    /* Six copies of each text are no trap. */
    for (unsigned i = 0; i < 3000; i++)
        CHECK(sn_novelty_text(n, text(i / 6, 10, 30)));
    for (unsigned i = 0; i < 1000; i++)
        repeats += !sn_novelty_text(n, text(99999, 30, 30));
    CHECK(repeats > 900);
    sn_novelty_free(n);
}

TEST(novelty_of_plain_words_follows_honest_pages)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);

    add(n, 200, false);
    CHECK(!refuses(n, SN_LEADER_NEW));
    CHECK(refuses(n, SN_LEADER_REPEAT));
    CHECK(!refuses(n, SN_LEADER_UNKNOWN));
    for (unsigned i = 0; i < 10; i++) { /* such pages lead to nothing */
        sn_novelty_alike(n, 7, false);
        sn_novelty_alike(n, 8, i % 2 == 0);
    }
    CHECK(sn_novelty_refuses(n, &none, SN_LEADER_UNKNOWN, 7));
    CHECK(!sn_novelty_refuses(n, &none, SN_LEADER_UNKNOWN, 8));
    sn_novelty_free(n);
}

TEST(novelty_of_urls_in_excess_needs_few_pages)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_EXCESS);

    add(n, SN_NOVELTY_FEWEST - 1, false);
    CHECK(!sn_novelty_repeats(n));
    add(n, 1, false);
    CHECK(sn_novelty_repeats(n));
    sn_novelty_free(n);
}

TEST(novelty_survives_every_allocation_that_fails)
{
    FAIL_EACH(r)
    {
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);

        if (n) {
            sn_residues one = without(1, 7);
            sn_novelty_start(n, &one);
            (void)sn_novelty_text(n, text(1, 1, 10));
            CHECK(sn_novelty_memory(n) >= sizeof *n);
        }
        sn_novelty_free(n);
    }
}

/* The text of a page: so many lines, each of three words that line_of names. */
static bool
is_new_page(sn_novelty *n, unsigned lines, unsigned (*line_of)(sn_rng *), bool is_random,
            sn_rng *r)
{
    sn_word_triples t;
    char text[64];

    sn_word_triples_begin(&t, SN_STR("/item"));
    for (unsigned i = 0; i < lines; i++) {
        unsigned line = line_of(r);
        for (unsigned k = 0; k < 3; k++) {
            unsigned word = is_random ? line_of(r) : line * 3 + k;
            int len = snprintf(text, sizeof text, "w%c%c%c ", 'a' + word % 26,
                               'a' + word / 26 % 26, 'a' + word / 676 % 26);
            sn_word_triples_text(&t, text, (size_t)len);
        }
        if (!is_random)
            sn_word_triples_break(&t);
    }
    sn_word_triples_end(&t);
    return sn_novelty_text(n, &t);
}

static unsigned
of_sixty(sn_rng *r)
{
    return (unsigned)sn_rng_below(r, 60);
}

static unsigned
of_two_hundred(sn_rng *r)
{
    return (unsigned)sn_rng_below(r, 200);
}

/* 20,000 texts of 60 words: the triples are all known in the end, the texts are not. */
TEST(novelty_knows_texts_of_few_words_apart)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    sn_rng r = sn_rng_seed(check_seed());
    unsigned fresh = 0;

    for (unsigned i = 0; i < 20000; i++)
        fresh += is_new_page(n, 40, of_sixty, true, &r);
    CHECK(fresh > 19500);
    sn_novelty_free(n);
}

/* Pages that show some of 200 things, always others, bring nothing new for long. */
TEST(novelty_is_not_fooled_by_choices_out_of_a_stock)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    sn_rng r = sn_rng_seed(check_seed());
    unsigned fresh = 0;

    for (unsigned i = 0; i < 3000; i++)
        fresh += is_new_page(n, 60, of_two_hundred, false, &r);
    CHECK(fresh < 300);
    sn_novelty_free(n);
}

TEST(novelty_of_names_takes_few_copies_for_new)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_NAMES);

    for (unsigned i = 0; i < 600; i++)
        CHECK_EQ(sn_novelty_text(n, text(i, 20, 30)), SN_TEXT_NEW);
    for (unsigned i = 0; i < 600; i++)
        CHECK_EQ(sn_novelty_text(n, text(i, 20, 30)), SN_TEXT_COPY);
    sn_text_news last = SN_TEXT_NEW;
    for (unsigned i = 0; i < 100; i++)
        last = sn_novelty_text(n, text(7, 20, 30));
    CHECK_EQ(last, SN_TEXT_KNOWN); /* more than a few */
    sn_novelty_free(n);
}

/* A page of so many things out of a stock of 200, and the frame. */
static const sn_word_triples *
choice(sn_rng *r, unsigned things)
{
    static sn_word_triples t;

    t = *text(0, 0, 10);
    for (unsigned i = 0; i < things; i++)
        t.hash[t.n++] = (sn_rng_below(r, 200) + 5000) * UINT64_C(0xd6e8feb86659fd93);
    return &t;
}

TEST(novelty_of_names_knows_a_choice_out_of_a_stock)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_NAMES);
    sn_rng r = sn_rng_seed(1);
    unsigned ends[4] = {0};

    for (unsigned i = 0; i < 100; i++)
        (void)sn_novelty_text(n, choice(&r, 12));
    for (unsigned i = 0; i < 300; i++)
        ends[sn_novelty_text(n, choice(&r, 12))]++;
    CHECK(ends[SN_TEXT_KNOWN] > 270);
    CHECK_EQ(sn_novelty_text(n, choice(&r, 0)), SN_TEXT_KNOWN);
    sn_novelty_free(n);
}

TEST(novelty_of_names_asks_short_texts_for_nothing)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_NAMES);
    sn_residues one = without(3, 17);

    for (unsigned i = 0; i < 100; i++)
        (void)sn_novelty_text(n, text(i, 3, 20));
    CHECK_EQ(sn_novelty_text(n, text(5, 3, 20)), SN_TEXT_SHORT);
    for (unsigned i = 0; i < 300; i++)
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_SHORT}, &one, 0);
    CHECK_EQ(n->last.n, 0);
    for (unsigned i = 0; i < 200; i++) /* the same names in another order */
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_SHORT}, &one, 1);
    CHECK(sn_novelty_repeats(n));
    CHECK(sn_novelty_refuses(n, &one, SN_LEADER_NEW, 0));
    sn_residues other = without(3, 18);
    CHECK(sn_novelty_refuses(n, &other, SN_LEADER_NEW, 0)); /* no exception */
    sn_novelty_free(n);
}

TEST(novelty_of_names_counts_a_copy_unless_the_names_are_the_same)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_NAMES);
    sn_residues one = without(3, 17);

    for (unsigned i = 0; i < 200; i++)
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_COPY}, &one, 0);
    CHECK(!sn_novelty_repeats(n));
    for (unsigned i = 0; i < 200; i++)
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_COPY}, &one, 1);
    CHECK(sn_novelty_repeats(n));
    sn_novelty_free(n);
}

/* Boundaries. Pages whose triples stand nowhere else come first, where `others` counts
 * them. */

static uint64_t
mixed(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void
show_others(sn_novelty *n, unsigned others)
{
    for (unsigned i = 0; i < others; i++)
        CHECK_EQ(sn_novelty_text(n, text(500000 + i, 2, 2)), SN_TEXT_NEW);
}

/* The triples of these numbers, in this order. */
static sn_text_news
show(sn_novelty *n, const unsigned *numbers, unsigned count)
{
    static sn_word_triples t;

    for (t.n = 0; t.n < count; t.n++)
        t.hash[t.n] = mixed(numbers[t.n]);
    return sn_novelty_text(n, &t);
}

TEST(novelty_of_plain_words_calls_a_text_common_on_17_pages_and_one_of_128)
{
    static const unsigned others[] = {100, 300, 1000};

    EACH_ROW(i, others) {
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);

        show_others(n, others[i]);
        for (unsigned k = 1; k < 40; k++) {
            bool is_few = k <= 16 + (others[i] + k) / 128;
            bool is_frame = k >= 8 && k * 4 > others[i] + k;
            if (is_frame)
                break;
            CHECK_EQ(sn_novelty_text(n, text(7, 12, 12)),
                     is_few ? SN_TEXT_NEW : SN_TEXT_KNOWN);
        }
        sn_novelty_free(n);
    }
}

TEST(novelty_of_plain_words_counts_32_triples_of_a_page)
{
    for (unsigned own = 3; own <= 4; own++) {
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);
        sn_word_triples t = *text(0, 0, 60);

        show_others(n, 200);
        for (unsigned i = 0; i < 30; i++) /* common by now, and no frame */
            (void)sn_novelty_text(n, text(0, 0, 60));
        for (unsigned i = 0; i < own; i++)
            t.hash[31 - i] = mixed(700000 + i);
        for (unsigned i = 32; i < 60; i++) /* nobody looks at these */
            t.hash[i] = mixed(800000 + i);
        CHECK_EQ(sn_novelty_text(n, &t), own == 4 ? SN_TEXT_NEW : SN_TEXT_KNOWN);
        sn_novelty_free(n);
    }
}

/* One triple of each page is new, of eleven: too few, unless the others are the frame. */
TEST(novelty_takes_for_frame_what_eight_pages_and_more_than_a_quarter_have)
{
    static const unsigned others[] = {0, 24, 25, 40};

    EACH_ROW(i, others) {
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

        show_others(n, others[i]);
        CHECK_EQ(sn_novelty_text(n, text(1, 1, 11)), SN_TEXT_NEW);
        for (unsigned k = 2; k < 30; k++)
            CHECK_EQ(sn_novelty_text(n, text(k, 1, 11)),
                     k >= 8 && k * 4 > others[i] + k ? SN_TEXT_NEW : SN_TEXT_KNOWN);
        sn_novelty_free(n);
    }
}

/* 60 pages of 4,096 are too many for a text; of the half that counts later 31 are not. */
TEST(novelty_counts_older_pages_half_after_4096)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);

    for (unsigned i = 0; i < 60; i++)
        (void)sn_novelty_text(n, text(7, 3, 3));
    show_others(n, 4095 - 60);
    CHECK_EQ(sn_novelty_text(n, text(7, 3, 3)), SN_TEXT_KNOWN);
    CHECK_EQ(n->pages, 4096);
    CHECK_EQ(sn_novelty_text(n, text(7, 3, 3)), SN_TEXT_NEW);
    CHECK_EQ(n->pages, 2048);
    sn_novelty_free(n);
}

TEST(novelty_is_good_if_more_than_180_of_the_last_200_pages_bring_something)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);

    add(n, 199, true);
    CHECK(!sn_novelty_is_good(n)); /* not 200 yet */
    add(n, 1, true);
    CHECK(sn_novelty_is_good(n));
    add(n, 19, false);
    CHECK(sn_novelty_is_good(n));
    add(n, 1, false);
    CHECK(!sn_novelty_is_good(n));
    sn_novelty_free(n);
}

/* Of plain words alone a sample of the pages is looked at while they are good. */
TEST(novelty_counts_a_page_of_a_sample_four_times)
{
    static const struct {
        sn_novelty_kind kind;
        bool is_good;
        uint32_t times;
    } rows[] = {{SN_NOVELTY_WORDS, true, 4},
                {SN_NOVELTY_WORDS, false, 1},
                {SN_NOVELTY_PATTERN, true, 1}};

    EACH_ROW(i, rows) {
        sn_novelty *n = sn_novelty_new(rows[i].kind);

        add(n, 200, rows[i].is_good);
        show_others(n, 30);
        CHECK_EQ(n->pages, 30 * rows[i].times);
        sn_novelty_free(n);
    }
}

/* All triples are known. What counts is whose neighbours they are. */
TEST(novelty_of_pairs_is_nine_tenths_of_eight_or_more)
{
    static const struct {
        unsigned n, order[12];
        bool is_new;
    } rows[] = {
        {9, {8, 7, 6, 5, 4, 3, 2, 1, 0}, true},
        {8, {7, 6, 5, 4, 3, 2, 1, 0}, false},           /* seven pairs */
        {11, {10, 9, 8, 7, 6, 5, 4, 3, 2, 0, 1}, true}, /* nine of ten are new */
        {11, {10, 9, 8, 7, 6, 5, 4, 3, 0, 1, 2}, false},
    };

    EACH_ROW(i, rows) {
        static const unsigned sorted[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

        CHECK_EQ(show(n, sorted, rows[i].n), SN_TEXT_NEW);
        CHECK_EQ(show(n, sorted, rows[i].n), SN_TEXT_KNOWN);
        CHECK_EQ(show(n, rows[i].order, rows[i].n),
                 rows[i].is_new ? SN_TEXT_NEW : SN_TEXT_KNOWN);
        sn_novelty_free(n);
    }
}

TEST(novelty_of_names_calls_eight_triples_in_their_old_company_a_copy)
{
    static const struct {
        unsigned n, order[12];
        sn_text_news news;
    } rows[] = {
        {7, {0, 1, 2, 3, 4, 5, 6}, SN_TEXT_SHORT},
        {8, {0, 1, 2, 3, 4, 5, 6, 7}, SN_TEXT_COPY},
        {10, {0, 9, 8, 7, 6, 5, 1, 2, 3, 4}, SN_TEXT_KNOWN},
        {10, {5, 4, 3, 2, 0, 1, 6, 7, 8, 9}, SN_TEXT_KNOWN}, /* five of ten pairs */
        {10, {4, 3, 2, 0, 1, 5, 6, 7, 8, 9}, SN_TEXT_COPY},  /* four */
    };

    EACH_ROW(i, rows) {
        static const unsigned sorted[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_NAMES);

        CHECK_EQ(show(n, sorted, rows[i].n), SN_TEXT_NEW);
        CHECK_EQ(show(n, rows[i].order, rows[i].n), rows[i].news);
        sn_novelty_free(n);
    }
}

/* Nine triples stand on many pages, the tenth on few; an eleventh is one too many. */
TEST(novelty_of_names_calls_a_text_a_copy_if_a_tenth_stands_on_few_pages)
{
    for (unsigned common = 9; common <= 10; common++) {
        static const unsigned sorted[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99};
        unsigned order[11];
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_NAMES);

        for (unsigned i = 0; i < common; i++)
            order[i] = sorted[i];
        order[common] = sorted[10];
        show_others(n, 100);
        for (unsigned i = 0; i < 20; i++)
            (void)show(n, sorted, common);
        (void)show(n, order, common + 1);
        CHECK_EQ(show(n, order, common + 1), common == 9 ? SN_TEXT_COPY : SN_TEXT_KNOWN);
        sn_novelty_free(n);
    }
}

TEST(novelty_has_texts_if_more_than_a_tenth_of_the_last_200_pages_do)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

    CHECK(sn_novelty_has_texts(n)); /* nobody knows better */
    CHECK(!sn_novelty_is_cleared(n));
    add(n, 200, true);
    for (unsigned i = 0; i < 179; i++)
        sn_novelty_page(n, &(sn_page_news){.leads = true}, &none, 0);
    CHECK(sn_novelty_has_texts(n)); /* 21 */
    sn_novelty_page(n, &(sn_page_news){.leads = true}, &none, 0);
    CHECK(!sn_novelty_has_texts(n));
    for (unsigned i = 0; i < 20; i++)
        sn_novelty_page(n, &(sn_page_news){.leads = true}, &none, 0);
    CHECK_EQ(n->last.n_texts, 0);
    CHECK_EQ(n->last.n_new, 200);
    sn_novelty_free(n);
}

/* The URLs that pass while nothing new comes: the 32nd, and twice as many later. */
TEST(novelty_doubles_the_space_between_probes)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    unsigned last = 0, space = SN_NOVELTY_SPACE;

    add(n, 200, false);
    for (unsigned i = 1; i < 2000; i++) {
        if (refuses(n, SN_LEADER_REPEAT))
            continue;
        CHECK_EQ(i, last + space);
        last = i;
        space *= 2;
        unsigned again = sn_novelty_start(n, &none);
        CHECK_EQ(again, SN_NOVELTY_PROBE);
        CHECK_EQ(sn_novelty_start(n, &none), 0); /* the next URL is none */
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_KNOWN}, &none, again);
    }
    CHECK_EQ(last, 32 + 64 + 128 + 256 + 512);
    sn_novelty_free(n);
}

TEST(novelty_a_probe_moves_the_next_one_and_earns_leave)
{
    static const struct {
        uint32_t space;
        bool is_new;
        uint32_t want;
    } rows[] = {
        {32, false, 64},
        {1 << 19, false, 1 << 20},
        {1 << 20, false, 1 << 20},
        {32, true, 8},
        {8, true, 2},
        {5, true, 1},
        {3, true, 1},
        {1, true, 1},
    };

    EACH_ROW(i, rows) {
        sn_page_news news = {.text = rows[i].is_new ? SN_TEXT_NEW : SN_TEXT_KNOWN};
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

        n->space = rows[i].space;
        sn_novelty_page(n, &news, &none, SN_NOVELTY_PROBE); /* nothing is refused yet */
        CHECK_EQ(n->space, rows[i].space);
        CHECK_EQ(n->leave, SN_NOVELTY_LEAVE);
        add(n, 200, false);
        sn_novelty_page(n, &news, &none, SN_NOVELTY_EXCEPTION);
        CHECK_EQ(n->space, rows[i].space); /* it is no probe */
        CHECK_EQ(n->leave, SN_NOVELTY_LEAVE + (rows[i].is_new ? 4 : 0));
        CHECK_EQ(n->last.n_new, 0); /* nor among those that are judged */
        sn_novelty_page(n, &news, &none, SN_NOVELTY_PROBE);
        CHECK_EQ(n->space, rows[i].want);
        CHECK_EQ(n->leave, SN_NOVELTY_LEAVE + (rows[i].is_new ? 8 : 0));
        CHECK_EQ(n->last.n_new, rows[i].is_new);
        sn_novelty_free(n);
    }
}

/* A pattern of which half the pages are new, so that its parts alone can be idle. */
static void
show_part(sn_novelty *n, const sn_residues *r, unsigned pages, bool is_new)
{
    for (unsigned i = 0; i < pages; i++) {
        sn_novelty_page(n, &(sn_page_news){.text = SN_TEXT_NEW}, &none, 0);
        sn_novelty_page(n, &(sn_page_news){.text = is_new ? SN_TEXT_NEW : SN_TEXT_KNOWN},
                        r, 1);
    }
}

TEST(novelty_of_a_part_is_judged_by_200_pages_of_its_own)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    sn_residues one = without(1, 17), two = without(2, 18);

    sn_novelty_start(n, &one);
    sn_novelty_start(n, &two);
    show_part(n, &one, 1, true);
    show_part(n, &two, 199, false);
    CHECK(!sn_novelty_refuses(n, &two, SN_LEADER_UNKNOWN, 0));
    CHECK(sn_novelty_verdict(n) == &n->last);
    show_part(n, &two, 1, false);
    CHECK(sn_novelty_refuses(n, &two, SN_LEADER_UNKNOWN, 0));
    CHECK(!sn_novelty_refuses(n, &one, SN_LEADER_UNKNOWN, 0));
    CHECK(sn_novelty_verdict(n) == &n->parts[1].again);
    add(n, 200, false); /* the whole pattern says more */
    CHECK(sn_novelty_verdict(n) == &n->last);
    sn_novelty_free(n);
}

TEST(novelty_remembers_eight_parts_and_none_that_it_was_only_asked_about)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);

    for (uint64_t part = 101; part < 120; part++) {
        sn_residues r = without(part, 17);
        (void)sn_novelty_refuses(n, &r, SN_LEADER_UNKNOWN, 0);
    }
    for (uint64_t part = 1; part <= SN_TRAP_RESIDUES + 1; part++) {
        sn_residues r = without(part, 17);

        sn_novelty_start(n, &r);
        show_part(n, &r, 200, false);
        CHECK_EQ(sn_novelty_refuses(n, &r, SN_LEADER_UNKNOWN, 0),
                 part <= SN_TRAP_RESIDUES);
    }
    sn_novelty_free(n);
}

/* A URL of another page, which no residue of before knows: 20 pages make a part idle. */
TEST(novelty_fetches_other_pages_of_a_part_that_seems_idle)
{
    static const struct {
        unsigned repeats, news;
        bool passes;
    } rows[] = {{19, 0, false}, {20, 0, true}, {18, 2, true}, {17, 3, false}};

    EACH_ROW(i, rows) {
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
        sn_residues seen = {.all = {{1, 17}, {2, 18}}, .n = 2};
        sn_residues fresh = {.all = {{1, 19}, {2, 18}}, .n = 2};

        sn_novelty_start(n, &seen);
        show_part(n, &seen, rows[i].repeats, false);
        show_part(n, &seen, rows[i].news, true);
        add(n, 200, false);
        CHECK(sn_novelty_refuses(n, &seen, SN_LEADER_UNKNOWN, 0));
        CHECK_EQ(!sn_novelty_refuses(n, &fresh, SN_LEADER_UNKNOWN, 0), rows[i].passes);
        CHECK_EQ(sn_novelty_start(n, &none) == SN_NOVELTY_EXCEPTION, rows[i].passes);
        CHECK_EQ(n->leave, SN_NOVELTY_LEAVE - rows[i].passes);
        sn_novelty_free(n);
    }
}

TEST(novelty_of_plain_words_judges_a_leader_by_ten_pages_that_look_alike)
{
    static const struct {
        unsigned repeats, news;
        bool refused;
    } rows[] = {
        {9, 0, false},     {10, 0, true},    {9, 1, true},
        {17, 2, false},    {8, 2, false},    {18, 2, true},
        {999, 0, true},    {1000, 40, true}, /* the older ones count half: 500 and 40 */
        {1000, 62, false},
    };

    EACH_ROW(i, rows) {
        sn_novelty *n = sn_novelty_new(SN_NOVELTY_WORDS);

        add(n, 200, false);
        for (unsigned k = 0; k < rows[i].repeats; k++)
            sn_novelty_alike(n, 7, false);
        for (unsigned k = 0; k < rows[i].news; k++)
            sn_novelty_alike(n, 7 + SN_NOVELTY_ALIKE, true); /* the same kind */
        CHECK_EQ(sn_novelty_refuses(n, &none, SN_LEADER_UNKNOWN, 7), rows[i].refused);
        CHECK(!sn_novelty_refuses(n, &none, SN_LEADER_NEW, 7));
        CHECK(sn_novelty_refuses(n, &none, SN_LEADER_REPEAT, 7));
        n->leave = 0;
        CHECK(sn_novelty_refuses(n, &none, SN_LEADER_NEW, 7)); /* not without end */
        sn_novelty_free(n);
    }
}

TEST(novelty_takes_memory_for_filters_once_they_are_used)
{
    sn_novelty *n = sn_novelty_new(SN_NOVELTY_PATTERN);
    sn_residues one = without(1, 17);
    size_t first = sizeof *n + sizeof *n->often;

    CHECK_EQ(sn_novelty_memory(n), first);
    sn_novelty_start(n, &one);
    size_t second = sn_novelty_memory(n);
    CHECK_EQ(second, first + sn_bloom_memory(&n->residues));
    CHECK(second > first);
    show_others(n, 1);
    CHECK_EQ(sn_novelty_memory(n), second + sn_bloom_memory(&n->seen));
    CHECK(sn_novelty_memory(n) > second);
    sn_novelty_free(n);
}
