/* SPDX-License-Identifier: Apache-2.0 */
#include "net/cookie_jar.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cookies.h"
#include "failing.h"
#include "seine/secret.h"
#include "wiped.h"

/* Where cookies go. */

TEST(cookie_goes_to_the_domain_it_was_set_for)
{
    static const struct {
        const char *from, *value, *to;
        bool goes;
    } rows[] = {
        {"http://a.example.com/", "k=v", "http://a.example.com/", true},
        {"http://a.example.com/", "k=v", "http://b.a.example.com/",
         false}, /* host only */
        {"http://a.example.com/", "k=v", "http://example.com/", false},
        {"http://a.example.com/", "k=v; Domain=a.example.com", "http://b.a.example.com/",
         true},
        {"http://a.example.com/", "k=v; Domain=example.com", "http://example.com/", true},
        {"http://a.example.com/", "k=v; Domain=.EXAMPLE.com", "http://b.example.com/",
         true},
        {"http://a.example.com/", "k=v; Domain=example.com", "http://notexample.com/",
         false}, /* an end of the text is no parent */
        {"http://a.example.com/", "k=v; Domain=b.example.com", "http://b.example.com/",
         false}, /* a sister */
        {"http://example.com/", "k=v; Domain=a.example.com", "http://a.example.com/",
         false}, /* a child */
        {"http://notexample.com/", "k=v; Domain=example.com", "http://example.com/",
         false},
        {"http://a.example.com/", "k=v; Domain=com", "http://a.example.com/",
         false}, /* a public suffix */
        {"http://a.co.uk/", "k=v; Domain=co.uk", "http://a.co.uk/", false},
        {"http://me.github.io/", "k=v; Domain=github.io", "http://me.github.io/", false},
        {"http://github.io/", "k=v; Domain=github.io", "http://github.io/",
         true}, /* for itself alone: RFC 6265bis, 5.7 */
        {"http://github.io/", "k=v; Domain=github.io", "http://me.github.io/", false},
        {"http://a.unlisted/", "k=v; Domain=unlisted", "http://a.unlisted/", false},
        {"http://localhost/", "k=v", "http://localhost/", true},
        {"http://localhost/", "k=v; Domain=localhost", "http://localhost/", true},
        {"http://localhost/", "k=v; Domain=.LocalHost", "http://localhost/", true},
        {"http://localhost/", "k=v; Domain=localhost", "http://a.localhost/", false},
        {"http://a.localhost/", "k=v; Domain=localhost", "http://a.localhost/", false},
        {"http://intranet/", "k=v; Domain=intranet", "http://intranet/", true},
        {"http://a.example.com/", "k=v; Domain=example.com.", "http://a.example.com/",
         false}, /* a dot at the end */
        {"http://a.example.com/", "k=v; Domain=.", "http://a.example.com/", false},
        {"http://a.example.com/", "k=v; Domain=..example.com", "http://a.example.com/",
         false},
        {"http://a.example.com/", "k=v; Domain=", "http://a.example.com/", true},
        {"http://127.0.0.1/", "k=v", "http://127.0.0.1/", true},
        {"http://127.0.0.1/", "k=v; Domain=127.0.0.1", "http://127.0.0.1/", true},
        {"http://127.0.0.1/", "k=v; Domain=.127.0.0.1", "http://127.0.0.1/", true},
        {"http://127.0.0.1/", "k=v; Domain=127.0.0.2", "http://127.0.0.1/", false},
        {"http://127.0.0.1/", "k=v; Domain=127.0.0.1", "http://127.0.0.2/", false},
        {"http://127.0.0.1/", "k=v; Domain=2130706433", "http://127.0.0.1/", false},
        {"http://127.0.0.1/", "k=v; Domain=0.0.1", "http://127.0.0.1/", false},
        {"http://[::1]/", "k=v", "http://[::1]/", true},
        {"http://[::1]/", "k=v; Domain=[::1]", "http://[::1]/", true},
        {"http://[::1]/", "k=v; Domain=::1", "http://[::1]/", true},
        {"http://[::1]/", "k=v; Domain=[::1", "http://[::1]/", false},
        {"http://[::1]/", "k=v; Domain=[::2]", "http://[::1]/", false},
        {"http://a.example.com./", "k=v", "http://a.example.com/", true}, /* one form */
        {"http://a.example.com/", "k=v", "http://A.example.com:8080/",
         true}, /* any port */
        {"http://www.b\xc3\xbc"
         "cher.example.com/",
         "k=v; Domain=b\xc3\xbc"
         "cher.example.com",
         "http://xn--bcher-kva.example.com/", true}, /* IDN both ways */
        {"http://www.xn--bcher-kva.example.com/", "k=v; Domain=xn--bcher-kva.example.com",
         "http://b\xc3\xbc"
         "cher.example.com/",
         true},
        {"http://a.example.com/", "k=v; Domain=\xff.example.com", "http://a.example.com/",
         false},
    };

    EACH_ROW(i, rows)
        CHECK_STR(one_cookie(rows[i].from, rows[i].value, rows[i].to),
                  rows[i].goes ? "k=v" : "");
}

TEST(cookie_goes_below_its_path)
{
    static const struct {
        const char *from, *value, *to;
        bool goes;
    } rows[] = {
        {"http://h.example/", "k=v", "http://h.example/any/where", true},
        {"http://h.example/a/b", "k=v", "http://h.example/a/c", true}, /* default: /a */
        {"http://h.example/a/b", "k=v", "http://h.example/a", true},
        {"http://h.example/a/b", "k=v", "http://h.example/", false},
        {"http://h.example/a/b", "k=v", "http://h.example/ab", false},
        {"http://h.example/a", "k=v", "http://h.example/b", true}, /* default: / */
        {"http://h.example/", "k=v; Path=/a", "http://h.example/a", true},
        {"http://h.example/", "k=v; Path=/a", "http://h.example/a/", true},
        {"http://h.example/", "k=v; Path=/a", "http://h.example/ab", false},
        {"http://h.example/", "k=v; Path=/a/", "http://h.example/a", false},
        {"http://h.example/", "k=v; Path=/a/", "http://h.example/a/b", true},
        {"http://h.example/", "k=v; Path=/A", "http://h.example/a", false},
        {"http://h.example/", "k=v; Path=/a", "http://h.example/%61", false},
        {"http://h.example/", "k=v; Path=/a", "http://h.example/a?q", true},
        {"http://h.example/", "k=v; Path=/elsewhere", "http://h.example/elsewhere", true},
    };

    EACH_ROW(i, rows)
        CHECK_STR(one_cookie(rows[i].from, rows[i].value, rows[i].to),
                  rows[i].goes ? "k=v" : "");
}

TEST(cookie_secure_comes_from_https_and_goes_to_https)
{
    CHECK_STR(one_cookie("https://h.example/", "k=v; Secure", "https://h.example/"),
              "k=v");
    CHECK_STR(one_cookie("https://h.example/", "k=v; Secure", "http://h.example/"), "");
    CHECK_STR(one_cookie("http://h.example/", "k=v; Secure", "https://h.example/"), "");
    CHECK_STR(one_cookie("https://h.example/", "k=v", "http://h.example/"), "k=v");
    CHECK_STR(one_cookie("http://h.example/", "k=v; HttpOnly; SameSite=Strict",
                         "http://h.example/"),
              "k=v"); /* there are no scripts and no pages here */
}

TEST(cookie_prefixes_keep_their_promise_in_any_case)
{
    static const struct {
        const char *from, *value;
        bool kept;
    } rows[] = {
        {"https://a.example.com/", "__Secure-k=v; Secure", true},
        {"https://a.example.com/", "__Secure-k=v; Secure; Domain=example.com", true},
        {"https://a.example.com/", "__Secure-k=v", false},
        {"https://a.example.com/", "__sEcUrE-k=v", false},
        {"http://a.example.com/", "__Secure-k=v; Secure", false},
        {"https://a.example.com/", "__Host-k=v; Secure; Path=/", true},
        {"https://a.example.com/", "__host-k=v; Secure; Path=/", true},
        {"https://a.example.com/", "__Host-k=v; Secure", false}, /* Path is said */
        {"https://a.example.com/", "__Host-k=v; Secure; Path=/a", false},
        {"https://a.example.com/", "__Host-k=v; Path=/", false},
        {"https://a.example.com/", "__HOST-k=v; Path=/", false},
        {"https://a.example.com/", "__Host-k=v; Secure; Path=/; Domain=a.example.com",
         false},
        {"https://a.example.com/", "_Host-k=v", true}, /* another name */
    };

    EACH_ROW(i, rows) {
        seine_cookie_jar *jar = new_jar();

        CHECK_EQ(set_at(jar, rows[i].from, rows[i].value, T0),
                 rows[i].kept ? SEINE_OK : SEINE_E_INVAL);
        CHECK_EQ(seine_cookie_jar_count(jar), rows[i].kept);
        seine_cookie_jar_free(jar);
    }
}

TEST(cookie_of_http_leaves_secure_ones_alone)
{
    static const struct {
        const char *url, *value;
        bool taken;
    } rows[] = {
        {"http://a.example.com/", "k=evil; Path=/p", false},
        {"http://a.example.com/", "k=evil; Path=/p/q", false}, /* below its path */
        {"http://a.example.com/", "k=fine; Path=/q", true},    /* beside it */
        {"http://a.example.com/", "k=fine; Path=/", true},     /* above it */
        {"http://a.example.com/p/", "k=evil; Domain=example.com", false}, /* above */
        {"http://example.com/p/", "k=evil", false},     /* above, host only: 5.7 */
        {"http://b.a.example.com/p/", "k=evil", false}, /* below */
        {"http://b.example.com/p/", "k=fine", true},    /* a sister */
        {"http://a.example.com/p/", "K=fine", true},    /* another name */
        {"https://a.example.com/p/", "k=fine", true},   /* https may */
    };

    EACH_ROW(i, rows) {
        seine_cookie_jar *jar = new_jar();

        CHECK_EQ(set_at(jar, "https://a.example.com/", "k=secret; Secure; Path=/p", T0),
                 SEINE_OK);
        CHECK_EQ(set_at(jar, rows[i].url, rows[i].value, T0),
                 rows[i].taken ? SEINE_OK : SEINE_E_INVAL);
        if (!rows[i].taken)
            CHECK_STR(sent_at(jar, "https://a.example.com/p", T0), "k=secret");
        seine_cookie_jar_free(jar);
    }
}

TEST(cookie_of_http_may_take_the_place_of_an_expired_secure_one)
{
    seine_cookie_jar *jar = new_jar();

    CHECK_EQ(set_at(jar, "https://h.example/", "k=s; Secure; Max-Age=5", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "http://h.example/", "k=p", T0 + SEINE_SECS(5) - 1),
             SEINE_E_INVAL);
    CHECK_EQ(set_at(jar, "http://h.example/", "k=p", T0 + SEINE_SECS(5)), SEINE_OK);
    CHECK_STR(sent_at(jar, "http://h.example/", T0 + SEINE_SECS(5)), "k=p");
    seine_cookie_jar_free(jar);
}

TEST(cookie_without_a_list_is_for_its_host_alone)
{
    seine_cookie_jar *jar = NULL;

    CHECK_EQ(sn_cookie_jar_new(NULL, &jar), SEINE_OK);
    CHECK_EQ(set_at(jar, "http://a.example.com/", "k=v; Domain=example.com", T0),
             SEINE_OK);
    CHECK_EQ(set_at(jar, "http://a.example.com/", "x=y; Domain=com", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "http://a.example.com/", "f=g; Domain=example.org", T0),
             SEINE_E_INVAL);
    CHECK_STR(sent_at(jar, "http://a.example.com/", T0), "k=v; x=y");
    CHECK_STR(sent_at(jar, "http://example.com/", T0), "");
    CHECK_STR(sent_at(jar, "http://b.example.com/", T0), "");
    seine_cookie_jar_free(jar);
}

TEST(cookie_is_for_http_and_https_alone)
{
    seine_cookie_jar *jar = new_jar();

    CHECK_EQ(set_at(jar, "ftp://h.example/", "k=v", T0), SEINE_E_INVAL);
    CHECK_EQ(set_at(jar, "mailto:x", "k=v", T0), SEINE_E_INVAL);
    CHECK_EQ(set_at(jar, "http://h.example/", "k=v", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, "ftp://h.example/", T0), "");
    CHECK_STR(sent_at(jar, "ws://h.example/", T0), "");
    seine_cookie_jar_free(jar);
}

/* Order and life. */

TEST(cookie_of_a_longer_path_goes_first_then_the_older_one)
{
    seine_cookie_jar *jar = new_jar();
    const char *url = "http://h.example/a/b/c";

    CHECK_EQ(set_at(jar, url, "one=1; Path=/", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, url, "two=2; Path=/a/b", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, url, "three=3; Path=/a", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, url, "four=4; Path=/a/b", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, url, T0), "two=2; four=4; three=3; one=1");
    /* A new value keeps the age. */
    CHECK_EQ(set_at(jar, url, "two=II; Path=/a/b", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, url, T0), "two=II; four=4; three=3; one=1");
    /* One that was deleted is new again. */
    CHECK_EQ(set_at(jar, url, "two=; Path=/a/b; Max-Age=0", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, url, T0), "four=4; three=3; one=1");
    CHECK_EQ(set_at(jar, url, "two=2; Path=/a/b", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, url, T0), "four=4; two=2; three=3; one=1");
    CHECK_EQ(seine_cookie_jar_count(jar), 4);
    seine_cookie_jar_free(jar);
}

TEST(cookie_is_gone_at_the_moment_it_expires)
{
    seine_cookie_jar *jar = new_jar();
    int64_t end = T0 + SEINE_SECS(60);

    CHECK_EQ(set_at(jar, "http://h.example/", "k=v; Max-Age=60", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, "http://h.example/", end - 1), "k=v");
    CHECK_STR(sent_at(jar, "http://h.example/", end), "");
    CHECK_STR(sent_at(jar, "http://h.example/", end + 1), "");
    /* Set again it is a new one. */
    CHECK_EQ(set_at(jar, "http://h.example/", "k=w; Max-Age=60", end), SEINE_OK);
    CHECK_STR(sent_at(jar, "http://h.example/", end), "k=w");
    CHECK_EQ(seine_cookie_jar_count(jar), 1);
    seine_cookie_jar_free(jar);
}

TEST(cookie_lives_400_days_at_most)
{
    seine_cookie_jar *jar = new_jar();
    int64_t end = T0 + SN_COOKIE_LIFE;

    CHECK_EQ(SN_COOKIE_LIFE, SEINE_SECS(INT64_C(86400)) * 400);
    CHECK_EQ(set_at(jar, "http://h.example/", "k=v; Max-Age=999999999", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, "http://h.example/", end - 1), "k=v");
    CHECK_STR(sent_at(jar, "http://h.example/", end), "");
    seine_cookie_jar_free(jar);
}

TEST(cookie_of_host_and_of_domain_are_two)
{
    seine_cookie_jar *jar = new_jar();
    const char *url = "http://a.example.com/";

    CHECK_EQ(set_at(jar, url, "k=host", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, url, "k=domain; Domain=a.example.com", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, url, T0), "k=host; k=domain");
    CHECK_STR(sent_at(jar, "http://b.a.example.com/", T0), "k=domain");
    CHECK_EQ(set_at(jar, url, "k=; Max-Age=0", T0), SEINE_OK);
    CHECK_STR(sent_at(jar, url, T0), "k=domain");
    seine_cookie_jar_free(jar);
}

/* Bounds. */

static void
set_many(seine_cookie_jar *jar, const char *url, int from, int to)
{
    for (int i = from; i < to; i++) {
        char value[40];

        snprintf(value, sizeof value, "k%d=v; Path=/%d", i, i);
        CHECK_EQ(set_at(jar, url, value, T0), SEINE_OK);
    }
}

static bool
has(seine_cookie_jar *jar, const char *host, int i)
{
    char url[64];

    snprintf(url, sizeof url, "http://%s/%d", host, i);
    return *sent_at(jar, url, T0) != '\0';
}

TEST(cookie_a_host_has_50_and_the_least_recently_used_goes)
{
    seine_cookie_jar *jar = new_jar();

    set_many(jar, "http://a.example.com/", 0, 50);
    set_many(jar, "http://b.example.com/", 0, 3); /* another host is not counted */
    CHECK_EQ(seine_cookie_jar_count(jar), 53);
    CHECK(has(jar, "a.example.com", 0)); /* used: 1 is the oldest now */
    set_many(jar, "http://a.example.com/", 50, 51);
    CHECK_EQ(seine_cookie_jar_count(jar), 53);
    CHECK(has(jar, "a.example.com", 0));
    CHECK(!has(jar, "a.example.com", 1));
    CHECK(has(jar, "a.example.com", 2));
    CHECK(has(jar, "a.example.com", 50));
    /* A new value for an existing cookie drops no other cookie. */
    set_many(jar, "http://a.example.com/", 2, 3);
    CHECK_EQ(seine_cookie_jar_count(jar), 53);
    CHECK(has(jar, "a.example.com", 3));
    CHECK(has(jar, "b.example.com", 0));
    seine_cookie_jar_free(jar);
}

/* RFC 6265bis, 5.7: an attacker on the way can set cookies over http, which must not push
 * out those of https. */
TEST(cookie_secure_ones_of_a_host_are_the_last_to_go)
{
    seine_cookie_jar *jar = new_jar();
    char value[40];

    CHECK_EQ(set_at(jar, "https://h.example/", "sid=1; Secure", T0), SEINE_OK);
    set_many(jar, "http://h.example/", 0, 200);
    CHECK_EQ(seine_cookie_jar_count(jar), 50);
    CHECK_STR(sent_at(jar, "https://h.example/", T0), "sid=1");
    CHECK(!has(jar, "h.example", 150) && has(jar, "h.example", 151));
    for (int i = 0; i < 49; i++) { /* they take the places of the others */
        snprintf(value, sizeof value, "s%d=1; Secure; Path=/s", i);
        CHECK_EQ(set_at(jar, "https://h.example/", value, T0), SEINE_OK);
    }
    CHECK_EQ(seine_cookie_jar_count(jar), 50);
    CHECK(!has(jar, "h.example", 199));
    /* All are secure: one that is not has no place; one that is takes the oldest's. */
    CHECK_EQ(set_at(jar, "http://h.example/", "k=v", T0), SEINE_E_INVAL);
    CHECK_EQ(set_at(jar, "https://h.example/", "k=v", T0), SEINE_E_INVAL);
    CHECK_STR(sent_at(jar, "https://h.example/", T0), "sid=1");
    CHECK_EQ(set_at(jar, "https://h.example/", "k=v; Secure; Path=/k", T0), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_count(jar), 50);
    CHECK_STR(sent_at(jar, "https://h.example/", T0), "sid=1"); /* s0 went */
    CHECK_STR(sent_at(jar, "https://h.example/k", T0), "k=v; sid=1");
    seine_cookie_jar_free(jar);
}

TEST(cookie_secure_ones_of_a_jar_are_the_last_to_go)
{
    seine_cookie_jar *jar = new_jar();
    char url[64];

    CHECK_EQ(set_at(jar, "https://bank.example/", "sid=1; Secure", T0), SEINE_OK);
    for (int h = 0; h < 100; h++) {
        snprintf(url, sizeof url, "http://h%d.example/", h);
        set_many(jar, url, 0, 50);
    }
    CHECK_EQ(seine_cookie_jar_count(jar), 3000);
    CHECK_STR(sent_at(jar, "https://bank.example/", T0), "sid=1");
    seine_cookie_jar_free(jar);
}

/* A site has hosts without number, and each may set secure cookies. */
TEST(cookie_a_site_that_has_300_pushes_out_its_own)
{
    seine_cookie_jar *jar = new_jar();
    char url[64], value[64];

    CHECK_EQ(set_at(jar, "http://other.example/", "k=v", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "https://bank.example/", "sid=1; Secure", T0), SEINE_OK);
    for (int h = 0; h < 100; h++) {
        snprintf(url, sizeof url, "https://h%d.evil.example/", h);
        for (int i = 0; i < 50; i++) {
            snprintf(value, sizeof value, "k%d=v%s", i, h % 2 ? "; Secure" : "");
            CHECK_EQ(set_at(jar, url, value, T0), SEINE_OK);
        }
    }
    CHECK_EQ(seine_cookie_jar_count(jar), 3000);
    CHECK_STR(sent_at(jar, "https://bank.example/", T0), "sid=1");
    CHECK_STR(sent_at(jar, "http://other.example/", T0), "k=v");
    seine_cookie_jar_free(jar);
}

TEST(cookie_that_expired_makes_room_before_one_that_lives)
{
    seine_cookie_jar *jar = new_jar();
    const char *url = "http://h.example/";

    set_many(jar, url, 0, 49);
    CHECK_EQ(set_at(jar, url, "short=1; Max-Age=1", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, url, "new=1", T0 + SEINE_SECS(1)), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_count(jar), 50);
    CHECK(has(jar, "h.example", 0));
    seine_cookie_jar_free(jar);
}

TEST(cookie_a_jar_has_3000_and_the_least_recently_used_goes)
{
    seine_cookie_jar *jar = new_jar();
    char url[64];

    for (int h = 0; h < 60; h++) {
        snprintf(url, sizeof url, "http://h%d.example/", h);
        set_many(jar, url, 0, 50);
    }
    CHECK_EQ(seine_cookie_jar_count(jar), 3000);
    CHECK(has(jar, "h0.example", 0));
    set_many(jar, "http://more.example/", 0, 2);
    CHECK_EQ(seine_cookie_jar_count(jar), 3000);
    CHECK(has(jar, "h0.example", 0));
    CHECK(!has(jar, "h0.example", 1));
    CHECK(!has(jar, "h0.example", 2));
    CHECK(has(jar, "h0.example", 3));
    CHECK(has(jar, "more.example", 1));
    seine_cookie_jar_free(jar);
}

TEST(cookie_a_full_jar_loses_what_expired_first)
{
    seine_cookie_jar *jar = new_jar();
    char url[64];

    CHECK_EQ(set_at(jar, "http://long.example/", "k=v; Path=/0", T0), SEINE_OK);
    for (int h = 0; h < 59; h++) {
        snprintf(url, sizeof url, "http://h%d.example/", h);
        set_many(jar, url, 0, 50);
    }
    for (int i = 0; i < 49; i++) {
        char value[40];

        snprintf(value, sizeof value, "s%d=v; Max-Age=%d", i, 10 + i);
        CHECK_EQ(set_at(jar, "http://short.example/", value, T0), SEINE_OK);
    }
    CHECK_EQ(seine_cookie_jar_count(jar), 3000);
    CHECK_EQ(set_at(jar, "http://new.example/", "k=v", T0 + SEINE_SECS(19)), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_count(jar), 2991); /* ten had expired: 10 to 19 s */
    CHECK(has(jar, "long.example", 0));
    seine_cookie_jar_free(jar);
}

TEST(cookie_field_has_8_kib_and_the_least_recently_used_stay_home)
{
    static char value[4097];
    seine_cookie_jar *jar = new_jar();
    const char *url = "http://h.example/";

    /* Four of 2046 bytes and "; " between them are 8,190 bytes. */
    for (int i = 0; i < 5; i++) {
        snprintf(value, sizeof value, "%d=%02044d", i, i);
        CHECK_EQ(strlen(value), 2046);
        CHECK_EQ(set_at(jar, url, value, T0), SEINE_OK);
    }
    const char *text = sent_at(jar, url, T0);
    CHECK_EQ(strlen(text), 4 * 2046 + 3 * 2);
    CHECK_EQ(text[0], '1'); /* 0 is the least recently used */
    /* What was sent was used, so that the same four go again. */
    CHECK_EQ(sent_at(jar, url, T0)[0], '1');
    snprintf(value, sizeof value, "0=%02044d", 7);
    CHECK_EQ(set_at(jar, url, value, T0), SEINE_OK);
    text = sent_at(jar, url, T0);
    CHECK_EQ(strlen(text), 4 * 2046 + 3 * 2);
    CHECK_EQ(text[0], '0'); /* created first; 1 has stayed home */
    CHECK_EQ(text[2048], '2');
    seine_cookie_jar_free(jar);
}

TEST(cookie_field_fits_what_the_caller_has)
{
    static address a;
    seine_cookie_jar *jar = new_jar();
    char buf[16] = "";

    at(&a, "http://h.example/");
    CHECK_EQ(set_at(jar, "http://h.example/", "a=1", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "http://h.example/", "b=2", T0), SEINE_OK);
    CHECK_EQ(seine_cookie_jar_field(jar, &a.url, T0, buf, 8), 8); /* a=1; b=2 */
    CHECK_EQ(seine_cookie_jar_field(jar, &a.url, T0, buf, 7), 3);
    CHECK(memcmp(buf, "b=2", 3) == 0);
    CHECK_EQ(seine_cookie_jar_field(jar, &a.url, T0, buf, 2), 0);
    CHECK_EQ(seine_cookie_jar_field(jar, &a.url, T0, buf, 0), 0);
    seine_cookie_jar_free(jar);
}

/* A host of 60 labels whose parents have 50 cookies each. */
TEST(cookie_of_many_parents_are_sorted_too)
{
    seine_cookie_jar *jar = new_jar();
    char host[256] = "example.com", url[300], value[300];

    for (int depth = 0; depth < 59; depth++) {
        memmove(host + 2, host, strlen(host) + 1);
        memcpy(host, "a.", 2);
        snprintf(url, sizeof url, "http://%s/", host);
        for (int i = 0; i < 50; i++) {
            snprintf(value, sizeof value, "%d=%d; Domain=%s", i, depth, host);
            CHECK_EQ(set_at(jar, url, value, T0), SEINE_OK);
        }
    }
    CHECK_EQ(seine_cookie_jar_count(jar), 2950);
    const char *text = sent_at(jar, url, T0);
    CHECK(strlen(text) > SEINE_COOKIE_JAR_SENT - 16 &&
          strlen(text) <= SEINE_COOKIE_JAR_SENT);
    int last = -1; /* all paths are "/": in the order of creation */
    for (const char *p = text; *p; p += strcspn(p, " "), p += *p == ' ') {
        int name = (int)strtol(p, NULL, 10);
        int depth = (int)strtol(strchr(p, '=') + 1, NULL, 10);

        CHECK(depth * 50 + name > last);
        last = depth * 50 + name;
    }
    CHECK_EQ(last, 58 * 50 + 49);
    seine_cookie_jar_free(jar);
}

/* Memory. */

/* Replaced, expired, pushed out, refused, in the jar at its end: and its file. */
TEST(cookie_values_are_wiped_before_their_memory_is_given_back)
{
    wiped_begin("s3cret-of-a", NULL);
    seine_cookie_jar *jar = new_jar();
    char *text = NULL;
    size_t len;

    CHECK_EQ(set_at(jar, "https://a.example/", "a=s3cret-of-a-1; Secure", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "http://a.example/", "a=s3cret-of-a-2", T0), SEINE_E_INVAL);
    CHECK_EQ(set_at(jar, "https://a.example/", "a=s3cret-of-a-3; Secure", T0), SEINE_OK);
    CHECK_EQ(set_at(jar, "https://a.example/", "b=s3cret-of-a-4; Max-Age=1", T0),
             SEINE_OK);
    CHECK_EQ(set_at(jar, "https://a.example/", "b=s3cret-of-a-5; Max-Age=0", T0),
             SEINE_OK);
    for (int i = 0; i < 60; i++) {
        char set[64];

        snprintf(set, sizeof set, "c%d=s3cret-of-a-6", i);
        CHECK_EQ(set_at(jar, "https://a.example/", set, T0), SEINE_OK);
    }
    CHECK_EQ(sn_cookie_jar_print(jar, T0, &text, &len), SEINE_OK);
    CHECK(strstr(text, "s3cret-of-a") != NULL);
    seine_wipe(text, len); /* who gets it wipes it */
    sn_free(text);
    CHECK_EQ(sn_cookie_jar_read(jar,
                                SN_STR("a.example\tFALSE\t/\tFALSE\t0\tx\ts3cret-of-a"),
                                "file", T0, NULL),
             SEINE_OK);
    seine_cookie_jar_free(jar);
    CHECK_EQ(wiped_end(), 0);
}

TEST(cookie_survives_any_failed_allocation)
{
    static address a;

    at(&a, "https://www.example.com/p/q");
    FAIL_EACH(n)
    {
        char buf[64];
        seine_cookie_jar *jar = NULL;
        seine_err e = seine_cookie_jar_new(&jar);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        for (int i = 0; jar && i < 4; i++) {
            e = seine_cookie_jar_take(jar, &a.url, "k=v; Domain=example.com", 23, T0);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        }
        if (jar)
            CHECK_EQ(seine_cookie_jar_field(jar, &a.url, T0, buf, sizeof buf),
                     seine_cookie_jar_count(jar) > 0 ? 3 : 0);
        seine_cookie_jar_free(jar);
    }
    seine_cookie_jar_free(NULL);
}

TEST(cookie_sending_allocates_nothing)
{
    static address a;
    char buf[64];
    seine_cookie_jar *jar = new_jar();

    at(&a, "https://www.example.com/p/q");
    CHECK_EQ(seine_cookie_jar_take(jar, &a.url, "k=v", 3, T0), SEINE_OK);
    count_begin();
    CHECK_EQ(seine_cookie_jar_field(jar, &a.url, T0, buf, sizeof buf), 3);
    CHECK_EQ(seine_cookie_jar_take(jar, &a.url, "k", 1, T0), SEINE_E_INVAL);
    CHECK_EQ(count_calls(), 0);
    count_end();
    seine_cookie_jar_free(jar);
}

/* Threads. */

typedef struct shared {
    seine_cookie_jar *jar;
    atomic_int next;
} shared;

static void *
use_jar(void *arg)
{
    shared *s = arg;
    int me = atomic_fetch_add(&s->next, 1);
    address home, sister;
    char url[64], value[64], buf[256];

    snprintf(url, sizeof url, "https://h%d.example.com/", me);
    at(&home, url);
    at(&sister, "https://sister.example.com/");
    for (int i = 0; i < 20; i++) {
        snprintf(value, sizeof value, "mine%d=%d; Max-Age=%d", i % 3, me, i % 4);
        if (seine_cookie_jar_take(s->jar, &home.url, value, strlen(value), T0 + i) !=
            SEINE_OK)
            return s;
        snprintf(value, sizeof value, "all%d=%d; Domain=example.com; Secure", me, i);
        if (seine_cookie_jar_take(s->jar, &home.url, value, strlen(value), T0 + i) !=
            SEINE_OK)
            return s;
        size_t n = seine_cookie_jar_field(s->jar, &home.url, T0 + i, buf, sizeof buf);
        for (size_t k = 0; k + 4 < n; k++) /* never another's */
            if (memcmp(buf + k, "mine", 4) == 0 && buf[k + 6] != '0' + me)
                return s;
        seine_cookie_jar_field(s->jar, &sister.url, T0 + i, buf, sizeof buf);
        seine_cookie_jar_count(s->jar);
    }
    return NULL;
}

TEST_THREADS(cookie_jar_is_for_many_threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    shared s = {.jar = new_jar()};

    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, use_jar, &s), 0);
    for (int i = 0; i < THREADS; i++) {
        void *bad;

        CHECK_EQ(pthread_join(threads[i], &bad), 0);
        CHECK(bad == NULL);
    }
    CHECK(seine_cookie_jar_count(s.jar) <= 4 * THREADS);
    seine_cookie_jar_free(s.jar);
}
