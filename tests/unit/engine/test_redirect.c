/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/redirect.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

typedef struct parsed {
    char mem[SEINE_URL_ROOM];
    seine_url url;
} parsed;

static const seine_url *
url_of(parsed *p, const char *text)
{
    seine_url_init(&p->url, p->mem, sizeof p->mem);
    CHECK_EQ(seine_url_parse(&p->url, text, strlen(text), NULL), SEINE_OK);
    return &p->url;
}

/* Where a redirect from `from` leads. */
static seine_err
go(const char *from, sn_redirect r, char out[SEINE_URL_ROOM], bool *out_get)
{
    parsed base;
    seine_url to;

    r.from = url_of(&base, from);
    seine_url_init(&to, out, SEINE_URL_ROOM);
    return sn_redirect_next(&r, &to, out_get);
}

static sn_redirect
plain(const char *location)
{
    return (sn_redirect){.status = 302,
                         .location = sn_str_of(location),
                         .n_locations = location ? 1 : 0,
                         .method = SN_STR("GET"),
                         .max = 10};
}

TEST(redirects_are_301_302_303_307_and_308)
{
    for (unsigned status = 0; status < 1000; status++)
        CHECK_EQ(sn_redirect_is((uint16_t)status), status == 301 || status == 302 ||
                                                       status == 303 || status == 307 ||
                                                       status == 308);
}

/* methods x statuses x body x same or other origin x follow_body, all of them */
TEST(redirect_keeps_method_and_body_or_becomes_get_for_every_combination)
{
    static const char *const methods[] = {"GET", "HEAD",   "POST",
                                          "PUT", "DELETE", "PATCH"};
    static const uint16_t statuses[] = {301, 302, 303, 307, 308};

    for (size_t m = 0; m < 6; m++)
        for (size_t s = 0; s < 5; s++)
            for (unsigned bits = 0; bits < 8; bits++) {
                bool has_body = bits & 1, other = bits & 2, follow = bits & 4,
                     get = false;
                sn_redirect r = plain(other ? "http://b.test/x" : "/x");
                char to[SEINE_URL_ROOM];

                r.method = sn_str_of(methods[m]);
                r.status = statuses[s];
                r.has_body = has_body;
                r.follow_body = follow;
                /* the two sentences of the rule, word by word */
                bool is_303 = statuses[s] == 303, is_post = m == 2;
                bool becomes = (is_303 && m != 0 && m != 1) ||
                               ((statuses[s] == 301 || statuses[s] == 302) && is_post);
                bool refused = has_body && !becomes && other && !follow;

                seine_err e = go("http://a.test/", r, to, &get);
                CHECK_EQ(e, refused ? SEINE_E_REDIRECT_REFUSED : SEINE_OK);
                if (e == SEINE_OK) {
                    CHECK_EQ(get, becomes);
                    CHECK_STR(to, other ? "http://b.test/x" : "http://a.test/x");
                }
            }
}

TEST(redirect_targets_are_resolved_and_lose_user_and_fragment)
{
    static const struct {
        const char *location, *want;
    } rows[] = {
        {"/x", "http://a.test:81/x"},
        {"x?y#z", "http://a.test:81/dir/x?y"},
        {"?q", "http://a.test:81/dir/page?q"},
        {"//b.test/", "http://b.test/"},
        {"http://u:p@b.test/#f", "http://b.test/"},
        {"HTTPS://B.test:443/%7e", "https://b.test/%7e"},
        {" /blank ", "http://a.test:81/blank"},
    };

    EACH_ROW(i, rows) {
        char to[SEINE_URL_ROOM];
        bool get;
        CHECK_EQ(go("http://a.test:81/dir/page#me", plain(rows[i].location), to, &get),
                 SEINE_OK);
        CHECK_STR(to, rows[i].want);
    }
}

TEST(redirect_without_a_usable_target_is_a_named_error)
{
    char to[SEINE_URL_ROOM], longest[SEINE_URL_MAX + 2];
    bool get;

    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[SEINE_URL_MAX + 1] = '\0';
    CHECK_EQ(go("http://a.test/", plain(NULL), to, &get), SEINE_E_BAD_REDIRECT);
    CHECK_EQ(go("http://a.test/", plain(""), to, &get), SEINE_E_BAD_REDIRECT);
    CHECK_EQ(go("http://a.test/", plain("http://"), to, &get), SEINE_E_BAD_REDIRECT);
    CHECK_EQ(go("http://a.test/", plain("http://a b/"), to, &get), SEINE_E_BAD_REDIRECT);
    CHECK_EQ(go("http://a.test/", plain(longest), to, &get), SEINE_E_BAD_REDIRECT);
    sn_redirect two = plain("/x");
    two.n_locations = 2;
    CHECK_EQ(go("http://a.test/", two, to, &get), SEINE_E_BAD_REDIRECT);
}

TEST(redirect_leaves_the_web_never)
{
    static const char *const places[] = {"ftp://b.test/", "file:///etc/passwd",
                                         "data:,x",       "mailto:a@b.test",
                                         "javascript:1",  "ws://b.test/"};

    EACH_ROW(i, places) {
        char to[SEINE_URL_ROOM];
        bool get;
        CHECK_EQ(go("http://a.test/", plain(places[i]), to, &get),
                 SEINE_E_BLOCKED_SCHEME);
    }
}

TEST(redirect_uses_no_port_of_another_protocol)
{
    char to[SEINE_URL_ROOM];
    bool get;

    CHECK_EQ(go("http://a.test/", plain("http://a.test:25/"), to, &get),
             SEINE_E_BLOCKED_PORT);
    CHECK_EQ(go("http://a.test/", plain("http://a.test:8080/"), to, &get), SEINE_OK);
    CHECK_EQ(go("http://a.test:25/", plain("/x"), to, &get), SEINE_OK);
}

TEST(redirect_stops_at_the_limit)
{
    char to[SEINE_URL_ROOM];
    sn_redirect r = plain("/x");
    bool get;

    r.hops = 9;
    CHECK_EQ(go("http://a.test/", r, to, &get), SEINE_OK);
    r.hops = 10;
    CHECK_EQ(go("http://a.test/", r, to, &get), SEINE_E_TOO_MANY_REDIRECTS);
}

TEST(redirect_from_https_to_http_is_followed_unless_forbidden)
{
    char to[SEINE_URL_ROOM];
    sn_redirect r = plain("http://a.test/");
    bool get;

    CHECK_EQ(go("https://a.test/", r, to, &get), SEINE_OK);
    r.https_only = true;
    CHECK_EQ(go("https://a.test/", r, to, &get), SEINE_E_REDIRECT_REFUSED);
    r.location = SN_STR("https://b.test/");
    CHECK_EQ(go("https://a.test/", r, to, &get), SEINE_OK);
}

TEST(an_origin_is_scheme_host_and_port)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"http://a.test/", "http://a.test/x?y", true},
        {"http://a.test/", "http://a.test:80/", true},
        {"http://a.test/", "http://A.TEST/", true},
        {"http://a.test/", "https://a.test/", false},
        {"http://a.test:443/", "https://a.test/", false},
        {"http://a.test/", "http://a.test:81/", false},
        {"http://a.test/", "http://b.test/", false},
        {"http://a.test/", "http://a.test./", false},
        {"http://[::1]/", "http://[::1]/", true},
    };

    EACH_ROW(i, rows) {
        parsed a, b;
        CHECK_EQ(sn_redirect_is_same_origin(url_of(&a, rows[i].a), url_of(&b, rows[i].b)),
                 rows[i].same);
    }
}

TEST(fields_reach_as_far_as_their_kind)
{
    static const struct {
        const char *name;
        sn_reach reach;
    } rows[] = {
        {"User-Agent", SN_REACH_ALL},
        {"from", SN_REACH_ALL},
        {"ACCEPT", SN_REACH_ALL},
        {"Accept-Language", SN_REACH_ALL},
        {"Accept-Encoding", SN_REACH_ALL},
        {"Authorization", SN_REACH_ORIGIN},
        {"Cookie", SN_REACH_ORIGIN},
        {"X-Secret", SN_REACH_ORIGIN},
        {"Accept-Charset", SN_REACH_ORIGIN},
        {"Referer", SN_REACH_REFERER},
        {"referer", SN_REACH_REFERER},
        {"X-Referer", SN_REACH_ORIGIN},
        {"If-None-Match", SN_REACH_URL},
        {"if-modified-since", SN_REACH_URL},
        {"Range", SN_REACH_URL},
        {"Content-Type", SN_REACH_BODY},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_redirect_reach(sn_str_of(rows[i].name)), rows[i].reach);
}

TEST(a_referer_crosses_as_strict_origin_when_cross_origin)
{
    static const struct {
        const char *referer, *to, *want;
    } rows[] = {
        {"http://a.test/x?y=1", "http://b.test/", "http://a.test/"},
        {"http://a.test/x?y=1", "https://b.test/", "http://a.test/"},
        {"https://a.test/x?y=1", "https://b.test/", "https://a.test/"},
        {"https://a.test/x?y=1", "http://b.test/", ""}, /* a downgrade */
        {"https://a.test/x?y=1", "http://a.test/", ""},
        {"http://a.test/x?y=1", "http://a.test/z", "http://a.test/x?y=1"},
        {"http://a.test/x?y=1", "http://a.test:81/z", "http://a.test/"},
        {"http://a.test:81/x", "http://b.test/z", "http://a.test:81/"},
        {"http://a.test/x", "https://a.test/", "http://a.test/"},
        {"http://joe:pw@a.test/x#f", "http://b.test/", "http://a.test/"},
        {"http://joe:pw@a.test/x#f", "http://a.test/", "http://a.test/x"},
        {"nonsense", "http://b.test/", ""},
        {"ftp://a.test/x", "http://b.test/", ""},
        {"", "http://b.test/", ""},
    };

    EACH_ROW(i, rows) {
        char mem[SEINE_URL_ROOM], to_mem[SEINE_URL_ROOM];
        seine_url to;

        seine_url_init(&to, to_mem, sizeof to_mem);
        CHECK_EQ(seine_url_parse(&to, rows[i].to, strlen(rows[i].to), NULL), SEINE_OK);
        sn_str got = sn_redirect_referer(sn_str_of(rows[i].referer), &to, mem);
        CHECK_EQ(got.len, strlen(rows[i].want));
        CHECK(got.len == 0 || memcmp(got.ptr, rows[i].want, got.len) == 0);
    }
}

TEST(a_referer_never_has_a_user_or_a_fragment)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"http://joe:pw@a.test/x#f", "http://a.test/x"},
        {"http://a.test/x", "http://a.test/x"},
        {"joe:pw@a.test", "a.test"},
        {"anything goes", "anything goes"},
        {"", ""},
    };

    EACH_ROW(i, rows) {
        char text[64];

        snprintf(text, sizeof text, "%s", rows[i].text);
        text[sn_redirect_bare(text, strlen(text))] = '\0';
        CHECK_STR(text, rows[i].want);
    }
}
