/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

static seine_secrets *
fresh(void)
{
    seine_secrets *s = NULL;

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    return s;
}

static seine_err
add(seine_secrets *s, const char *value)
{
    return seine_secrets_add(s, value, strlen(value));
}

static seine_err
add_field(seine_secrets *s, const char *name, const char *value)
{
    return seine_secrets_add_field(s, name, strlen(name), value, strlen(value));
}

static bool
hides(const seine_secrets *s, const char *text)
{
    char out[256];
    size_t n = seine_redact(s, text, strlen(text), out, sizeof out);

    return n == 8 && memcmp(out, "REDACTED", 8) == 0;
}

TEST(secrets_hold_values_of_6_to_8192_bytes_and_64_of_them)
{
    static char big[SEINE_SECRET_MOST + 1];
    seine_secrets *s = fresh();

    CHECK_EQ(add(s, "5byte"), SEINE_OK);
    CHECK_EQ(s->n, 0);
    CHECK_EQ(add(s, "6bytes"), SEINE_OK);
    CHECK_EQ(s->n, 1);
    CHECK_EQ(add(s, "6bytes"), SEINE_OK);
    CHECK_EQ(s->n, 1);
    memset(big, 'x', sizeof big);
    CHECK_EQ(seine_secrets_add(s, big, sizeof big), SEINE_E_RANGE);
    CHECK_EQ(seine_secrets_add(s, big, sizeof big - 1), SEINE_OK);
    for (char i = 2; i < SEINE_SECRETS; i++)
        CHECK_EQ(seine_secrets_add(s, (char[]){"value-"[0], '-', 'a', 'b', 'c', i}, 6),
                 SEINE_OK);
    CHECK_EQ(s->n, SEINE_SECRETS);
    CHECK_EQ(add(s, "one-more"), SEINE_E_FULL);
    CHECK_EQ(add(s, "6bytes"), SEINE_OK);
    CHECK(hides(s, "6bytes"));
    seine_secrets_free(s);
}

/* "a b c d e" also matches "a+b+c+d+e", as a form writes it. */
TEST(secrets_know_a_value_from_a_spelling_of_another)
{
    seine_secrets *s = fresh();

    CHECK_EQ(add(s, "a b c d e"), SEINE_OK);
    CHECK(!hides(s, "YStiK2MrZCtl")); /* base64 of a+b+c+d+e */
    CHECK_EQ(add(s, "a+b+c+d+e"), SEINE_OK);
    CHECK_EQ(s->n, 2);
    CHECK(hides(s, "YStiK2MrZCtl"));
    seine_secrets_free(s);
}

TEST(secrets_of_a_field_are_what_is_secret_by_itself_in_it)
{
    static const struct {
        const char *name, *value, *text;
        bool hidden;
    } rows[] = {
        {"X-Api-Key", "0123456789", "0123456789", true},
        {"authorization", "Bearer abcdef123", "abcdef123", true},
        {"Authorization", "Bearer abcdef123", "Bearer abcdef123", true},
        {"Authorization", "abcdef123", "abcdef123", true},
        {"Authorization", "Bearer ", "Bearer", false},
        /* joe:hunter2 */
        {"Authorization", "Basic am9lOmh1bnRlcjI=", "hunter2", true},
        {"Authorization", "basic am9lOmh1bnRlcjI=", "joe:hunter2", true},
        {"Proxy-Authorization", "Basic am9lOmh1bnRlcjI=", "am9lOmh1bnRlcjI=", true},
        {"Authorization", "Basic am9lOmh1bnRlcjI=", "joe", false},
        {"Authorization", "Basic !!!!!!!!", "!!!!!!!!", true},
        {"Authorization", "Digest am9lOmh1bnRlcjI=", "hunter2", false},
        {"Cookie", "a=first1; b=second2", "first1", true},
        {"Cookie", "a=first1; b=second2", "second2", true},
        {"Cookie", "a=first1; b=second2", "a=first1; b=second2", true},
        {"X-Other", "a=first1; b=second2", "second2", false},
        {"User-Agent", "some agent/1.0", "some agent/1.0", false},
        {"Content-Type", "text/plain", "text/plain", false},
    };

    EACH_ROW(i, rows) {
        seine_secrets *s = fresh();

        CHECK_EQ(add_field(s, rows[i].name, rows[i].value), SEINE_OK);
        CHECK_EQ(hides(s, rows[i].text), rows[i].hidden);
        seine_secrets_free(s);
    }
}

TEST(secrets_are_all_fields_but_those_that_say_who_asks_and_what)
{
    static const char *const open[] = {
        "User-Agent",      "from",          "ACCEPT",         "Accept-Language",
        "Accept-Encoding", "Host",          "Content-Length", "content-type",
        "Range",           "If-None-Match", "Referer"};
    static const char *const secret[] = {
        "Authorization", "cookie", "Proxy-Authorization", "X-Api-Key", "Accept-X",
        "X-User-Agent",  ""};

    EACH_ROW(i, open)
        CHECK(!seine_secret_is_field(open[i], strlen(open[i])));
    EACH_ROW(i, secret)
        CHECK(seine_secret_is_field(secret[i], strlen(secret[i])));
}

TEST(secrets_stand_that_there_is_no_memory)
{
    FAIL_EACH(round)
    {
        seine_secrets *s = NULL;
        seine_err e = seine_secrets_new(&s);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK)
            e = add_field(s, "Authorization", "Basic am9lOmh1bnRlcjI=");
        if (e == SEINE_OK)
            e = add(s, "with a blank and 100 characters, so that there must be room for "
                       "more of them than before %41 too");
        if (e == SEINE_OK)
            e = seine_secrets_learn(s, "a cookie %41", 12);
        CHECK(e != SEINE_OK || hides(s, "a cookie %41"));
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK(e != SEINE_OK || hides(s, "hunter2"));
        seine_secrets_free(s);
    }
}

static void *
learn_many(void *arg)
{
    char value[32];

    for (int i = 0; i < 60; i++) {
        int n = snprintf(value, sizeof value, "value-%08d", i % 30);

        CHECK_EQ(seine_secrets_learn(arg, value, (size_t)n), SEINE_OK);
        CHECK(hides(arg, value));
    }
    return NULL;
}

TEST_THREADS(secrets_are_learnt_by_any_thread)
{
    seine_secrets *s = NULL;
    pthread_t threads[4];

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, learn_many, s), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (sn_recent_pattern *p = s->recent.oldest; p; p = p->newer) {
        bool is_twice = false;

        for (sn_recent_pattern *o = p->newer; o; o = o->newer)
            is_twice |= !p->is_coded && !o->is_coded && p->len == o->len &&
                        memcmp(p->bytes, o->bytes, p->len) == 0;
        CHECK(!is_twice);
    }
    seine_secrets_free(s);
}

TEST(secrets_free_takes_nothing)
{
    seine_secrets_free(NULL);
}

TEST(wipe_leaves_zeros)
{
    char bytes[4] = "abc";

    seine_wipe(bytes, 2);
    CHECK(memcmp(bytes, "\0\0c", 4) == 0);
    seine_wipe(NULL, 0);
}
