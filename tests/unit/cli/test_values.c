/* SPDX-License-Identifier: Apache-2.0 */
#include "options/values.h"

#include <string.h>

#include "check.h"
#include "options/parse.h"
#include "screen/say.h"

typedef struct settings {
    seine_span span;
    uint64_t count;
    uint32_t times;
    int choice;
    bool flag;
    const char *text;
    texts list;
} settings;

#define AT(member) .at = offsetof(settings, member)

static const option options[] = {
    {"wait", "w", KIND_SPAN, "D", "5s", AT(span), .off = true},
    {"count", "n", KIND_COUNT, "N", "3", AT(count), .min = 1, .max = 10},
    {"verbose", "v", KIND_TIMES, AT(times)},
    {"when", NULL, KIND_CHOICE, "auto|always|never", "auto", AT(choice)},
    {"follow", "f", KIND_FLAG, NULL, "on", AT(flag)},
    {"name", NULL, KIND_TEXT, "S", AT(text)},
    {"header", "H", KIND_LIST, "LINE", AT(list)},
    {.name = NULL},
};

static const command test_command = {
    .name = "test",
    .arguments = "[WORD]…",
    .options = options,
    .settings_size = sizeof(settings),
    .max_args = 3,
};

typedef struct parsed {
    settings set;
    args args;
    shared common;
    char *words[8];
    int code;
} parsed;

/* Parses up to 7 words that end with NULL. */
static void
parse_these(parsed *p, char **words)
{
    size_t n = 0;

    memset(p, 0, sizeof *p);
    while (words[n])
        n++;
    p->args = (args){.command = &test_command, .settings = &p->set, .words = p->words};
    values_defaults(&test_command, &p->set);
    p->code = parse_words(&p->args, &p->common, words, n);
}

#define WORDS(...) ((char *[]){__VA_ARGS__, NULL})

TEST(values_begin_with_their_defaults)
{
    settings set = {0};

    values_defaults(&test_command, &set);
    CHECK_EQ(set.span, SEINE_SECS(5));
    CHECK_EQ(set.count, 3);
    CHECK_EQ(set.choice, 0);
    CHECK(set.flag);
    CHECK(set.text == NULL);
}

TEST(values_are_read_by_the_kind_of_their_option)
{
    settings set = {0};
    char spare[VALUES_WHY];

    CHECK(values_read(&options[0], "250ms", &set, spare) == NULL);
    CHECK_EQ(set.span, SEINE_MS(250));
    CHECK(values_read(&options[0], "off", &set, spare) == NULL);
    CHECK_EQ(set.span, SEINE_NEVER);
    CHECK_STR(values_read(&options[1], "11", &set, spare), "must be 1 to 10");
    CHECK(values_read(&options[1], "10", &set, spare) == NULL);
    CHECK_EQ(set.count, 10);
    CHECK(values_read(&options[3], "never", &set, spare) == NULL);
    CHECK_EQ(set.choice, 2);
    CHECK_STR(values_read(&options[3], "nev", &set, spare), "not one of the choices");
    CHECK_STR(values_read(&options[5], "", &set, spare), "must not be empty");
}

TEST(values_of_the_environment_are_words_for_flags_and_commas_for_lists)
{
    settings set = {0};
    char spare[VALUES_WHY];

    CHECK(values_environment(&options[4], "true", &set, spare) == NULL);
    CHECK(set.flag);
    CHECK(values_environment(&options[4], "off", &set, spare) == NULL);
    CHECK(!set.flag);
    CHECK_STR(values_environment(&options[4], "maybe", &set, spare),
              "neither on nor off");
    CHECK(values_environment(&options[6], "a: 1,,b: 2", &set, spare) == NULL);
    CHECK_EQ(set.list.count, 2);
    CHECK_STR(set.list.items[0], "a: 1");
    CHECK_STR(set.list.items[1], "b: 2");
    CHECK(set.list.items[2] == NULL);
    values_free(&test_command, &set);
}

TEST(parse_takes_options_in_every_spelling)
{
    static char *const forms[][3] = {
        {(char *)"--count", (char *)"7", NULL},
        {(char *)"--count=7", NULL, NULL},
        {(char *)"-n7", NULL, NULL},
        {(char *)"-n", (char *)"7", NULL},
        {(char *)"-vfn7", NULL, NULL}, /* letters may stand together */
    };
    parsed p;

    EACH_ROW(i, forms) {
        char *words[3];

        memcpy(words, forms[i], sizeof words);
        parse_these(&p, words);
        CHECK_EQ(p.code, PARSE_RUN);
        CHECK_EQ(p.set.count, 7);
        CHECK(options_given(&p.args, "count") && !options_given(&p.args, "wait"));
        parse_free(&p.args);
    }
}

TEST(parse_keeps_words_apart_from_options)
{
    char first[] = "one", no[] = "--no-follow", end[] = "--", dash[] = "-n7", in[] = "-";
    parsed p;

    parse_these(&p, WORDS(first, no, in, end, dash));
    CHECK_EQ(p.code, PARSE_RUN);
    CHECK(!p.set.flag);
    CHECK_EQ(p.args.count, 3);
    CHECK_STR(p.args.words[0], "one");
    CHECK_STR(p.args.words[1], "-");
    CHECK_STR(p.args.words[2], "-n7"); /* behind -- */
    CHECK_EQ(p.set.count, 3);
    parse_free(&p.args);
}

TEST(parse_counts_an_option_that_is_repeated)
{
    char v[] = "-vv", one[] = "-Ha: 1", two[] = "--header=b: 2";
    parsed p;

    parse_these(&p, WORDS(v, one, two));
    CHECK_EQ(p.code, PARSE_RUN);
    CHECK_EQ(p.set.times, 2);
    CHECK_EQ(p.set.list.count, 2);
    parse_free(&p.args);
}
