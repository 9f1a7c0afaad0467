/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <errno.h>
#include <string.h>

#include "check.h"

static const seine_diag_name names[] = {{"max_redirects", "--max-redirects"},
                                        {"fields", "--header"},
                                        {"fields", "--fields"}, /* the first counts */
                                        {NULL, NULL}};

TEST(diag_is_printed_with_its_place_or_its_member)
{
    static const struct {
        seine_diag diag;
        const char *plain, *named;
    } rows[] = {
        {{"max_redirects", "", 0, 0, "at most 1000"},
         "max_redirects: at most 1000",
         "--max-redirects: at most 1000"},
        {{"fields", "", 0, 0, "'a b': cannot be sent"}, /* a value stands beside it */
         "fields 'a b': cannot be sent",
         "--header 'a b': cannot be sent"},
        {{"depth", "", 0, 0, "too deep"}, "depth: too deep", "depth: too deep"},
        {{"", "c.txt", 3, 0, "no cookie"}, "c.txt:3: no cookie", "c.txt:3: no cookie"},
        {{"", "c.txt", 3, 9, "no cookie"},
         "c.txt:3:9: no cookie",
         "c.txt:3:9: no cookie"},
        /* the file says where: its text names what is wrong */
        {{"max_redirects", "o.csv", 0, 0, "no column"},
         "o.csv: no column",
         "o.csv: no column"},
        {{"", "", 0, 0, "out of ideas"}, "out of ideas", "out of ideas"},
        {SEINE_DIAG, "", ""},
    };

    EACH_ROW(i, rows) {
        char line[SEINE_DIAG_ROOM];

        CHECK_EQ(seine_diag_print(&rows[i].diag, NULL, line, sizeof line),
                 strlen(rows[i].plain));
        CHECK_STR(line, rows[i].plain);
        CHECK_EQ(seine_diag_print(&rows[i].diag, names, line, sizeof line),
                 strlen(rows[i].named));
        CHECK_STR(line, rows[i].named);
    }
}

TEST(diag_that_is_printed_is_cut_to_the_room)
{
    seine_diag d = {"depth", "", 0, 0, "too deep"};
    char line[8] = "#######";

    CHECK_EQ(seine_diag_print(&d, NULL, line, 7), strlen("depth: too deep"));
    CHECK_STR(line, "depth:");
    CHECK_EQ(seine_diag_print(&d, NULL, NULL, 0), strlen("depth: too deep"));
}

/* The sizes in seine/diag.h: a whole diag and a short name fit. */
_Static_assert(SEINE_DIAG_FILE + SEINE_DIAG_TEXT + 2 * 20 + 4 <= SEINE_DIAG_ROOM,
               "a diag of the longest texts and numbers can be printed");

TEST(diag_replaces_what_it_said_before)
{
    seine_diag d = {"old", "old.txt", 7, 7, "old"};

    CHECK_EQ(sn_diag_option(&d, "per_host", "at least %d", 1), SEINE_E_CONFIG);
    CHECK_STR(d.member, "per_host");
    CHECK_STR(d.text, "at least 1");
    CHECK_STR(d.file, "");
    CHECK_EQ(d.line, 0);
    CHECK_EQ(d.column, 0);
    sn_diag_place(&d, "list.csv", 2, 5);
    CHECK_STR(d.member, "per_host");
    CHECK_STR(d.file, "list.csv");
    CHECK_EQ(d.line, 2);
    CHECK_EQ(d.column, 5);
    sn_diag_text(&d, "%s", "alone");
    CHECK_STR(d.member, "");
    CHECK_STR(d.file, "");
    CHECK_EQ(d.line, 0);
    CHECK_STR(d.text, "alone");
    sn_diag_clear(&d);
    CHECK_STR(d.text, "");
}

TEST(diag_may_be_nobody)
{
    sn_diag_clear(NULL);
    sn_diag_text(NULL, "nobody hears it");
    sn_diag_place(NULL, "x", 1, 1);
    CHECK_EQ(sn_diag_option(NULL, "x", "y"), SEINE_E_CONFIG);
    CHECK_EQ(sn_diag_value(NULL, "x", SN_STR("v"), "y"), SEINE_E_CONFIG);
}

TEST(diag_is_cut_to_its_room)
{
    struct {
        seine_diag d;
        char behind;
    } at = {.behind = '#'};
    char text[300];

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)sn_diag_option(&at.d, text, "%s", text);
    CHECK_EQ(strlen(at.d.member), SEINE_DIAG_MEMBER - 1);
    CHECK_EQ(strlen(at.d.text), SEINE_DIAG_TEXT - 1);
    CHECK_EQ(at.behind, '#');
}

TEST(diag_quotes_a_value_and_cuts_it_between_characters)
{
    char text[100];
    seine_diag d;

    CHECK_EQ(sn_diag_value(&d, "allow_net", SN_STR("10.0/8"), "not understood"),
             SEINE_E_CONFIG);
    CHECK_STR(d.member, "allow_net");
    CHECK_STR(d.text, "'10.0/8': not understood");
    (void)sn_diag_value(&d, "from", SN_STR("a\r\n\x1b"), "cannot be sent");
    CHECK_STR(d.text, "'a\?\?\?': cannot be sent");
    (void)sn_diag_value(&d, "from", (sn_str){0}, "empty");
    CHECK_STR(d.text, "'': empty");

    memset(text, 'x', sizeof text);
    (void)sn_diag_value(&d, "from", (sn_str){text, 80}, "y"); /* all of it */
    CHECK_EQ(strlen(d.text), 80 + strlen("'': y"));
    (void)sn_diag_value(&d, "from", (sn_str){text, 81}, "y");
    CHECK_EQ(strlen(d.text), 80 + 3 + strlen("'': y"));
    memcpy(text + 79, "\xc3\xa9", 2); /* half of it would be no character */
    (void)sn_diag_value(&d, "from", (sn_str){text, 81}, "y");
    CHECK_STR(d.text + 79, "x\xe2\x80\xa6': y");
}

TEST(diag_shows_the_end_of_a_long_path)
{
    char path[200], name[SEINE_DIAG_FILE];

    memset(path, 'a', sizeof path);
    memcpy(path + 180, "/out.jsonl", 11);
    sn_diag_path(path, name);
    CHECK_EQ(strlen(name), 3 + 56);
    CHECK(memcmp(name,
                 "\xe2\x80\xa6"
                 "aa",
                 5) == 0);
    CHECK_STR(name + strlen(name) - 10, "/out.jsonl");

    for (size_t i = 0; i < 180; i += 3) /* 56 is not a number of whole ones */
        memcpy(path + i, "\xe2\x82\xac", 3);
    sn_diag_path(path, name);
    CHECK(memcmp(name, "\xe2\x80\xa6\xe2\x82\xac", 6) == 0);
    CHECK(!strchr(name, '?'));
}

TEST(diag_shows_nothing_that_moves_a_cursor)
{
    char name[SEINE_DIAG_FILE];

    sn_diag_path("a\x1b[0m\n\x7f\xc2\x9b\xff\xc3\xa9", name);
    CHECK_STR(name, "a?[0m????\xc3\xa9");
}

TEST(diag_tells_errno_in_words)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(ENOSPC, text);
    CHECK_STR(text, "no space left on device");
    sn_diag_errno(99999, text);
    CHECK_STR(text, "unknown error");
}

TEST(diag_shows_the_members_of_a_template)
{
    static const struct {
        const char *text, *plain, *named;
    } rows[] = {
        {"raise @max_redirects, unless it is a loop",
         "raise max_redirects, unless it is a loop",
         "raise --max-redirects, unless it is a loop"},
        {"@fields", "fields", "--header"},
        {"@fields=X and @depth", "fields=X and depth", "--header=X and depth"},
        {"http://U:P@HOST @fields@", "http://U:P@HOST fields@",
         "http://U:P@HOST --header@"},
        {"none", "none", "none"},
        {"", "", ""},
    };

    EACH_ROW(i, rows) {
        char text[80];

        CHECK_EQ(sn_diag_expand(NULL, rows[i].text, text, sizeof text),
                 strlen(rows[i].plain));
        CHECK_STR(text, rows[i].plain);
        CHECK_EQ(sn_diag_expand(names, rows[i].text, text, sizeof text),
                 strlen(rows[i].named));
        CHECK_STR(text, rows[i].named);
    }
    CHECK_STR(sn_diag_shown(names, "max_redirects"), "--max-redirects");
    CHECK_STR(sn_diag_shown(names, "depth"), "depth");
    CHECK_STR(sn_diag_shown(NULL, "depth"), "depth");
}

TEST(diag_template_is_cut_to_the_room)
{
    char text[10];

    CHECK_EQ(sn_diag_expand(names, "set @max_redirects", text, sizeof text), 9);
    CHECK_STR(text, "set --max");
    CHECK_EQ(sn_diag_expand(names, "x", text, 0), 0);
}

TEST(diag_counts_have_commas)
{
    for (size_t i = 0; i < 5; i++) {
        static const struct {
            uint64_t n;
            const char *want;
        } rows[] = {{0, "0"},
                    {999, "999"},
                    {1000, "1,000"},
                    {8112, "8,112"},
                    {UINT64_MAX, "18,446,744,073,709,551,615"}};
        char count[SN_DIAG_COUNT];

        sn_diag_count(rows[i].n, count);
        CHECK_STR(count, rows[i].want);
    }
}
