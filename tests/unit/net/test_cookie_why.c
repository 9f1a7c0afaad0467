/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "seine/cookie_jar.h"

typedef struct place {
    char mem[SEINE_URL_ROOM];
    seine_url url;
} place;

static const seine_url *
at(place *p, const char *text)
{
    seine_url_init(&p->url, p->mem, sizeof p->mem);
    CHECK_EQ(seine_url_parse(&p->url, text, strlen(text), NULL), SEINE_OK);
    return &p->url;
}

static void
take(seine_cookie_jar *jar, const char *url, const char *value)
{
    static place p;
    seine_err e = seine_cookie_jar_take(jar, at(&p, url), value, strlen(value), 0);

    CHECK(e == SEINE_OK || e == SEINE_E_INVAL);
}

static const char *
why(seine_cookie_jar *jar, const char *url, const char *value, const char *to)
{
    static place from, target;

    return seine_cookie_why_name(seine_cookie_jar_why(jar, at(&from, url), value,
                                                      strlen(value), at(&target, to), 0));
}

TEST(cookie_why_names_the_rule_that_keeps_a_cookie_at_home)
{
    static const struct {
        const char *value, *from, *to, *want;
    } rows[] = {
        {"k=v", "http://a.example/", "http://a.example/", "sent"},
        {"k=v", "http://a.example/", "http://b.example/", "host"},
        {"k=v", "http://a.example/", "http://x.a.example/", "host"},
        {"k=v; Domain=a.example", "http://a.example/", "http://x.a.example/", "sent"},
        {"k=v", "http://a.example/x/y", "http://a.example/z", "path"},
        {"k=v; Secure", "https://a.example/", "http://a.example/", "secure"},
        {"k=v; Secure", "http://a.example/", "https://a.example/", "secure_set"},
        {"k=v; Domain=b.example", "http://a.example/", "http://a.example/", "domain"},
        {"k=v; Domain=example", "http://a.example/", "http://a.example/",
         "public_suffix"},
        {"__Host-k=v; Path=/; Secure; Domain=a.example", "https://a.example/",
         "https://a.example/", "prefix"},
        {"__Secure-k=v", "https://a.example/", "https://a.example/", "prefix"},
        {"k=v; Max-Age=0", "http://a.example/", "http://a.example/", "expired"},
        {"k", "http://a.example/", "http://a.example/", "no_name"},
        {"k=\x01", "http://a.example/", "http://a.example/", "control"},
        {"k=v", "ftp://a.example/", "http://a.example/", "no_http"},
    };

    EACH_ROW(i, rows) {
        seine_cookie_jar *jar = NULL;

        CHECK_EQ(seine_cookie_jar_new(&jar), SEINE_OK);
        take(jar, rows[i].from, rows[i].value);
        CHECK_STR(why(jar, rows[i].from, rows[i].value, rows[i].to), rows[i].want);
        seine_cookie_jar_free(jar);
    }
}

TEST(cookie_why_knows_what_later_cookies_did)
{
    const char *url = "https://a.example/", *plain = "http://a.example/";
    seine_cookie_jar *jar = NULL;

    CHECK_EQ(seine_cookie_jar_new(&jar), SEINE_OK);
    take(jar, url, "k=1");
    take(jar, url, "k=2");
    take(jar, url, "gone=1");
    take(jar, url, "gone=; Max-Age=0");
    take(jar, url, "s=1; Secure");
    take(jar, plain, "s=2");
    CHECK_STR(why(jar, url, "k=1", url), "replaced");
    CHECK_STR(why(jar, url, "k=2", url), "sent");
    CHECK_STR(why(jar, url, "gone=1", url), "dropped");
    CHECK_STR(why(jar, plain, "s=2", plain), "hidden");
    CHECK_STR(seine_cookie_why_text(SEINE_COOKIE_SUFFIX),
              "its Domain is a public suffix");
    CHECK_STR(seine_cookie_why_name((seine_cookie_why)1000), "");
    seine_cookie_jar_free(jar);
}
