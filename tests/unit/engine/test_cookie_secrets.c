/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cookie_secrets.h"

#include <string.h>

#include "check.h"
#include "failing.h"
#include "seine/cookie_jar.h"
#include "seine/secret.h"

#define WALL (INT64_C(1700000000) * 1000000000)

static bool
hides(const seine_secrets *s, const char *text)
{
    char out[256];
    size_t n = seine_redact(s, text, strlen(text), out, sizeof out);

    return n == 8 && memcmp(out, "REDACTED", 8) == 0;
}

TEST(cookie_secrets_learns_the_value_of_a_cookie)
{
    static const struct {
        const char *field, *value;
        bool hidden;
    } rows[] = {
        {"sid=0123456789; Path=/", "0123456789", true},
        {"sid = abcdefgh ", "abcdefgh", true},
        {"sid=\"quoted-value\"; Secure", "quoted-value", true},
        {"sid=a=b=c=d=e", "a=b=c=d=e", true},
        {"without-a-name", "without-a-name", true}, /* a browser takes it */
        {"sid=short", "short", false},              /* words contain it by chance */
        {"sid=", "sid=", false},
        {"", "nothing", false},
        {"the-name=x; Path=/the-path", "the-path", false},
    };

    EACH_ROW(i, rows) {
        seine_secrets *s = NULL;

        CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
        seine_fetch_opts o = {.secrets = s};
        CHECK_EQ(sn_cookie_secrets_learn(&o, sn_str_of(rows[i].field)), SEINE_OK);
        CHECK_EQ(hides(s, rows[i].value), rows[i].hidden);
        seine_secrets_free(s);
    }
}

static seine_cookie_jar *
jar_with(const char *field)
{
    seine_cookie_jar *jar = NULL;
    char mem[64];
    seine_url url;

    CHECK_EQ(seine_cookie_jar_new(&jar), SEINE_OK);
    seine_url_init(&url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&url, "https://a.example/", 18, NULL), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_take(jar, &url, field, strlen(field), WALL), SEINE_OK);
    return jar;
}

TEST(cookie_secrets_learns_a_jar_as_it_is)
{
    seine_cookie_jar *jar = jar_with("sid=from-the-jar; Max-Age=60");
    seine_secrets *s = NULL;

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    seine_fetch_opts o = {.secrets = s, .jar = jar};
    CHECK_EQ(sn_cookie_secrets_learn_jar(&o, WALL), SEINE_OK);
    CHECK(hides(s, "from-the-jar"));
    seine_secrets_free(s);
    seine_cookie_jar_free(jar);
}

TEST(cookie_secrets_without_a_set_or_a_jar_learns_nothing)
{
    seine_cookie_jar *jar = jar_with("sid=from-the-jar");
    seine_fetch_opts o = {.jar = jar};

    CHECK_EQ(sn_cookie_secrets_learn_jar(&o, WALL), SEINE_OK);
    CHECK_EQ(sn_cookie_secrets_learn(&o, SN_STR("sid=0123456789")), SEINE_OK);
    o.jar = NULL;
    CHECK_EQ(sn_cookie_secrets_learn_jar(&o, WALL), SEINE_OK);
    seine_cookie_jar_free(jar);
}

TEST(cookie_secrets_without_memory_says_so)
{
    seine_cookie_jar *jar = jar_with("sid=from-the-jar");

    FAIL_EACH(round)
    {
        seine_secrets *s = NULL;
        seine_err e = seine_secrets_new(&s);
        seine_fetch_opts o = {.secrets = s, .jar = jar};

        if (e == SEINE_OK)
            e = sn_cookie_secrets_learn_jar(&o, WALL);
        CHECK(e == SEINE_E_NOMEM || hides(s, "from-the-jar"));
        seine_secrets_free(s);
    }
    seine_cookie_jar_free(jar);
}
