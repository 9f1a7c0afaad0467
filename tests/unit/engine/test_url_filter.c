/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/url_filter.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"

static sn_url_filter *
filter_of(const char *const *include, const char *const *exclude)
{
    sn_url_filter *s = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_url_filter_new(include, exclude, NULL, &s, &diag), SEINE_OK);
    return s;
}

TEST(url_filter_lets_pass_what_is_included_and_not_excluded)
{
    static const char *const include[] = {"/docs/", "^https:", NULL};
    static const char *const exclude[] = {"\\.pdf$", "\\?", NULL};
    static const struct {
        const char *url, *by_exclude, *by_include;
    } rows[] = {
        {"http://e.example/docs/a", NULL, NULL},
        {"https://e.example/", NULL, NULL}, /* one of them is enough */
        {"http://e.example/", NULL, "include none of 2"},
        {"http://e.example/docs/a.pdf", "exclude '\\.pdf$'", NULL},
        {"http://e.example/docs/a.pdfx", NULL, NULL},
        {"http://e.example/a.pdf?x", "exclude '\\?'", "include none of 2"},
    };
    sn_url_filter *s = filter_of(include, exclude);

    EACH_ROW(i, rows) {
        sn_str url = sn_str_of(rows[i].url);
        CHECK_STR(sn_url_filter_exclude(s, url), rows[i].by_exclude);
        CHECK_STR(sn_url_filter_include(s, url), rows[i].by_include);
    }
    sn_url_filter_free(s);
}

TEST(url_filter_without_patterns_lets_everything_pass)
{
    static const char *const none[] = {NULL};
    sn_url_filter *s = filter_of(NULL, none);

    CHECK(!sn_url_filter_exclude(s, SN_STR("http://e.example/")));
    CHECK(!sn_url_filter_include(s, SN_STR("http://e.example/")));
    sn_url_filter_free(s);
    sn_url_filter_free(NULL);
}

TEST(url_filter_calls_options_as_its_caller_does)
{
    static const seine_diag_name names[] = {
        {"include", "--include"}, {"exclude", "-X"}, {NULL, NULL}};
    static const char *const pattern[] = {"a", NULL};
    sn_url_filter *s = NULL;

    CHECK_EQ(sn_url_filter_new(pattern, pattern, names, &s, NULL), SEINE_OK);
    CHECK_STR(sn_url_filter_exclude(s, SN_STR("a")), "-X 'a'");
    CHECK_STR(sn_url_filter_include(s, SN_STR("b")), "--include none of 1");
    sn_url_filter_free(s);
}

/* Two-byte letters: a rule ends with a whole one. */
TEST(url_filter_cuts_a_long_pattern_in_its_rule)
{
    char text[401] = "";
    const char *exclude[] = {text, NULL};

    for (int shift = 0; shift < 2; shift++) {
        size_t n = (size_t)shift;
        memset(text, 'x', n);
        for (; n + 2 < sizeof text; n += 2)
            memcpy(text + n, "\xc3\xa9", 2);
        text[n] = '\0';
        sn_url_filter *s = filter_of(NULL, exclude);
        const char *rule = sn_url_filter_exclude(s, sn_str_of(text));
        CHECK(rule && strlen(rule) < SN_URL_FILTER_RULE);
        CHECK(rule && strlen(rule) > SN_URL_FILTER_RULE - 8);
        CHECK(rule && strcmp(rule + strlen(rule) - 6, "\xc3\xa9…'") == 0);
        sn_url_filter_free(s);
    }
}

/* Whether it matches takes longer than allowed: it does not pass, either way. */
TEST(url_filter_refuses_what_cannot_be_known)
{
    static const char *const hard[] = {"^(a+)+$", NULL};
    static char url[64];
    sn_url_filter *s = filter_of(hard, hard);

    memset(url, 'a', sizeof url - 2);
    url[sizeof url - 2] = '!';
    CHECK_STR(sn_url_filter_exclude(s, sn_str_of(url)),
              "exclude '^(a+)+$': pattern_budget");
    CHECK_STR(sn_url_filter_include(s, sn_str_of(url)),
              "include '^(a+)+$': pattern_budget");
    sn_url_filter_free(s);
}

TEST(url_filter_says_which_pattern_is_none)
{
    static const char *const bad[] = {"a", "(", NULL};
    sn_url_filter *s = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_url_filter_new(bad, NULL, NULL, &s, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "include");
    CHECK(strncmp(diag.text, "'(': ", 5) == 0 && strlen(diag.text) > 5);
    CHECK_EQ(sn_url_filter_new(NULL, bad, NULL, &s, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "exclude");
    CHECK(!s);
}

TEST(url_filter_of_a_program_lets_pass_what_a_fetch_does)
{
    static const char *const include[] = {"/docs/", NULL};
    static const char *const exclude[] = {"\\.pdf$", NULL};
    static const char *const wrong[] = {"(", NULL};
    seine_filter *s = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_filter_new(include, exclude, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_filter_new(include, wrong, &s, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "exclude");
    CHECK_EQ(seine_filter_new(include, exclude, &s, NULL), SEINE_OK);
    CHECK(seine_filter_passes(s, "http://e.example/docs/a", 23));
    CHECK(!seine_filter_passes(s, "http://e.example/a", 18));
    CHECK(!seine_filter_passes(s, "http://e.example/docs/a.pdf", 27));
    CHECK(seine_filter_passes(s, "http://e.example/docs/a.pdf", 26)); /* so much of it */
    CHECK(!seine_filter_passes(s, NULL, 0));
    CHECK(!seine_filter_passes(NULL, "http://e.example/docs/a", 23));
    seine_filter_free(s);
    seine_filter_free(NULL);
}

TEST(url_filter_has_1000_patterns_of_a_list_at_most)
{
    static const char *list[SN_URL_FILTER_MOST + 2];

    for (int n = SN_URL_FILTER_MOST; n <= SN_URL_FILTER_MOST + 1; n++) {
        sn_url_filter *s = NULL;
        seine_diag diag = SEINE_DIAG;

        for (int i = 0; i < n; i++)
            list[i] = i == SN_URL_FILTER_MOST - 1 ? "last" : "a";
        list[n] = NULL;
        seine_err e = sn_url_filter_new(NULL, list, NULL, &s, &diag);
        CHECK_EQ(e, n == SN_URL_FILTER_MOST ? SEINE_OK : SEINE_E_CONFIG);
        CHECK_STR(diag.text, e == SEINE_OK ? "" : "more than 1000 patterns");
        if (e == SEINE_OK)
            CHECK_STR(sn_url_filter_exclude(s, SN_STR("last")), "exclude 'a'");
        sn_url_filter_free(s);
    }
}

TEST(url_filter_without_memory_is_not_made_or_refuses)
{
    static const char *const include[] = {"a", NULL};
    static const char *const exclude[] = {"b", "c", NULL};

    FAIL_EACH(n)
    {
        sn_url_filter *s = NULL;
        seine_err e = sn_url_filter_new(include, exclude, NULL, &s, NULL);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        CHECK_EQ(s != NULL, e == SEINE_OK);
        if (e == SEINE_OK) {
            const char *rule = sn_url_filter_exclude(s, SN_STR("a"));
            CHECK(!rule || strcmp(rule, "no memory to match a pattern") == 0);
        }
        sn_url_filter_free(s);
    }
}

/* More threads than there are places for matchers. */
static sn_url_filter *shared;

static void *
asking(void *arg)
{
    int wrong = 0;

    (void)arg;
    for (int i = 0; i < 100; i++) {
        char url[16];

        snprintf(url, sizeof url, "%c/%d", i % 2 ? 'a' : 'b', i);
        wrong += (sn_url_filter_exclude(shared, sn_str_of(url)) != NULL) != (i % 2 == 0);
        wrong += (sn_url_filter_include(shared, sn_str_of(url)) != NULL) != (i % 2 == 0);
    }
    CHECK_EQ(wrong, 0);
    return NULL;
}

TEST_THREADS(url_filter_answers_many_threads_at_once)
{
    static const char *const include[] = {"^a", NULL};
    static const char *const exclude[] = {"^b", NULL};
    pthread_t threads[20];

    shared = filter_of(include, exclude);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, asking, NULL), 0);
    for (int i = 0; i < 20; i++)
        pthread_join(threads[i], NULL);
    sn_url_filter_free(shared);
}
