/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/known_links.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

static const uint64_t secret[2] = {1, 2};

static void
set_url(seine_url *u, char *mem, const char *text)
{
    seine_url_init(u, mem, SEINE_URL_ROOM);
    CHECK_EQ(seine_url_parse(u, text, strlen(text), NULL), SEINE_OK);
}

static uint64_t
mark_of(sn_known_links *k, const char *base, const char *value)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    set_url(&u, mem, base);
    sn_known_links_base(k, &u);
    return sn_known_links_mark(k, sn_str_of(value));
}

TEST(known_links_are_those_that_were_added)
{
    sn_known_links k;

    CHECK_EQ(sn_known_links_init(&k, secret), SEINE_OK);
    uint64_t a = mark_of(&k, "http://h.example/", "/a");
    uint64_t b = mark_of(&k, "http://h.example/", "/b");
    CHECK(a != 0 && b != 0 && a != b);
    CHECK(!sn_known_links_has(&k, a));
    sn_known_links_add(&k, a);
    CHECK(sn_known_links_has(&k, a) && !sn_known_links_has(&k, b));
    sn_known_links_add(&k, 0);
    CHECK(!sn_known_links_has(&k, 0));
    sn_known_links_fini(&k);
}

TEST(known_links_do_not_depend_on_more_of_the_base_than_the_text_does)
{
    static const struct {
        const char *base, *other, *value;
        bool same;
    } rows[] = {
        {"http://h.example/a/b?q", "http://h.example/c", "/x", true},
        {"http://h.example/a/b?q", "http://h.example/c", "http://other.example/", true},
        {"http://h.example/a/b?q", "http://h.example/c", "//other.example/", true},
        {"http://h.example/a/b?q", "http://h.example/a/c", "x", true},
        {"http://h.example/a/b?q", "http://h.example/a/c", "../x", true},
        {"http://h.example/a/b?q", "http://h.example/c/b?q", "x", false},
        {"http://h.example/a/b", "http://h.example/a/c", "?x", false},
        {"http://h.example/a/b", "http://h.example/a/c", "#x", false},
        {"http://h.example/a/b", "http://h.example/a/c", "", false},
        {"http://h.example/a/b", "http://h.example/a/c", " ?x", false}, /* blanks go */
        {"http://h.example/", "http://other.example/", "/x", false},
        {"http://h.example/", "https://h.example/", "/x", false},
        {"http://h.example/", "http://h.example:81/", "/x", false},
        {"http://h.example/", "https://h.example/", "//other.example/", false},
        {"ftp://h.example/", "ftp://h.example/", "/x", true}, /* none has a mark */
    };
    sn_known_links k;

    CHECK_EQ(sn_known_links_init(&k, secret), SEINE_OK);
    EACH_ROW(i, rows) {
        uint64_t one = mark_of(&k, rows[i].base, rows[i].value);

        CHECK_EQ(one == mark_of(&k, rows[i].other, rows[i].value), rows[i].same);
        CHECK_EQ(one == 0, rows[i].base[0] == 'f');
    }
    sn_known_links_fini(&k);
}

/* Two pages on which the same text leads to different URLs never share a mark. */
TEST(known_links_with_the_same_mark_lead_to_the_same_url)
{
    static const char *const bases[] = {
        "http://h.example/",         "http://h.example/a",
        "http://h.example/a/",       "http://h.example/a/b",
        "http://h.example/a/b?q",    "https://h.example/a/b",
        "http://h.example:81/a/b",   "http://u:p@h.example/a/b",
        "http://h.example/a/b/../c", "http://h.example/a//b?/x",
        "http://[::1]/a/b",          "http://h.example/?a/b"};
    static const char *const parts[] = {
        "/",   "//",  "a",    "b.html", "..", ".",         "?",      "#",
        " ",   "\t",  "\n",   "\\",     ":",  "http:",     "https:", "http://",
        "x=1", "%2e", "\x01", "@",      "c:", "h.example", ""};
    static char mem[4][SEINE_URL_ROOM];
    sn_rng rng = sn_rng_seed(check_seed());
    seine_url base[2], to[2];
    sn_known_links k;
    size_t shared = 0;

    CHECK_EQ(sn_known_links_init(&k, secret), SEINE_OK);
    for (int round = 0; round < 20000; round++) {
        char value[128] = "";
        size_t len = 0;
        uint64_t mark[2];
        seine_err e[2];

        for (uint64_t n = 1 + sn_rng_below(&rng, 4); n > 0; n--)
            len +=
                (size_t)snprintf(value + len, sizeof value - len, "%s",
                                 parts[sn_rng_below(&rng, sizeof parts / sizeof *parts)]);
        for (int i = 0; i < 2; i++) {
            set_url(&base[i], mem[i], bases[sn_rng_below(&rng, 12)]);
            sn_known_links_base(&k, &base[i]);
            mark[i] = sn_known_links_mark(&k, sn_str_of(value));
            seine_url_init(&to[i], mem[2 + i], SEINE_URL_ROOM);
            e[i] = seine_url_resolve(&to[i], &base[i], value, strlen(value), NULL);
        }
        if (mark[0] != mark[1])
            continue;
        shared++;
        if (e[0] != e[1] || !sn_str_eq(seine_url_href(&to[0]), seine_url_href(&to[1])))
            check_fail(__FILE__, __LINE__, "'%s' at %s and %s", value, mem[0], mem[1]);
    }
    CHECK(shared > 1000);
    sn_known_links_fini(&k);
}

TEST(known_links_forget_what_is_not_met_again)
{
    enum { MANY = 4 * SN_KNOWN_LINKS };
    sn_known_links k;
    sn_rng rng = sn_rng_seed(check_seed());
    uint64_t kept = sn_rng_next(&rng) | 1, first = sn_rng_next(&rng) | 1;
    size_t known = 0;

    CHECK_EQ(sn_known_links_init(&k, secret), SEINE_OK);
    sn_known_links_add(&k, first);
    sn_known_links_add(&k, kept);
    for (int i = 0; i < MANY; i++) {
        uint64_t one = sn_rng_next(&rng) | 1;

        sn_known_links_add(&k, one);
        CHECK(sn_known_links_has(&k, one));
        known += sn_known_links_has(&k, kept); /* met on every page */
    }
    CHECK(!sn_known_links_has(&k, first));
    CHECK_EQ(known, MANY);
    sn_known_links_fini(&k);
}
