/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn_key.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "net/proxy.h"

/* Everything that may be part of a URL's host and once was a mark in a key. */
static const char *const urls[] = {
    "http://a.test/",        "https://a.test/",    "https://a.test+/",
    "https://a.test!/",      "https://a.test!+/",  "https://a.test:8443/",
    "https://a.test+:8443/", "https://a.test/+",   "https://a.test%2B.x/",
    "https://a.test&/",      "https://a.test\'/",  "https://a.test$/",
    "https://a.test-3128/",  "http://a.test:443/", "https://[2001:db8::1]/",
    "https://1.2.3.4/",
};

static const char *const proxies[] = {
    NULL,
    "http://p.test:3128",
    "http://u:p@p.test:3128",
    "socks5://u:p@p.test:3128",
    "socks5://u:%00p@p.test:3128", /* a zero byte belongs to the password … */
    "socks5://u%00:p@p.test:3128", /* … or to the user */
};

enum { POLICIES = 12 };
#define N_URLS    (sizeof urls / sizeof *urls)
#define N_PROXIES (sizeof proxies / sizeof *proxies)

typedef struct asked {
    size_t len, place; /* place: the number of what it is the key of */
    char key[600];
} asked;

static asked
ask(const char *text, unsigned policy, const sn_proxy *proxy)
{
    static char mem[SN_CONN_KEY_ROOM];
    char url_mem[256];
    asked a = {0};
    seine_url url;

    seine_url_init(&url, url_mem, sizeof url_mem);
    CHECK_EQ(seine_url_parse(&url, text, strlen(text), NULL), SEINE_OK);
    static char first, second; /* in place of authorities, whose address counts */
    void *const trust[] = {NULL, &first, &second};
    sn_request q = {.url = &url,
                    .insecure = policy & 1,
                    .identify = policy & 2,
                    .trust = trust[policy / 4],
                    .proxy = proxy};
    sn_str key = sn_conn_key(&q, mem);
    CHECK(key.len <= sizeof a.key);
    memcpy(a.key, key.ptr, key.len);
    a.len = key.len;
    return a;
}

static bool
is_same(const asked *a, const asked *b)
{
    return a->len == b->len && memcmp(a->key, b->key, a->len) == 0;
}

/* A policy matters with https only; the rest of the parts always do. */
static size_t
number_of(size_t url, unsigned policy, size_t proxy)
{
    if (strncmp(urls[url], "http:", 5) == 0)
        policy = 0;
    if (strcmp(urls[url], "https://a.test/+") == 0)
        url = 1; /* the path plays no part */
    return (url * POLICIES + policy) * N_PROXIES + proxy;
}

TEST(conn_key_keys_are_equal_only_for_equal_parts)
{
    static asked all[N_URLS * POLICIES * N_PROXIES];
    sn_proxies used[N_PROXIES] = {0};
    size_t n = 0, equal = 0;

    for (size_t p = 0; p < N_PROXIES; p++) {
        if (proxies[p])
            CHECK_EQ(
                sn_proxies_init(&used[p], &(sn_proxies_opts){.proxy = proxies[p]}, NULL),
                SEINE_OK);
        for (size_t u = 0; u < N_URLS; u++)
            for (unsigned policy = 0; policy < POLICIES; policy++) {
                all[n] = ask(urls[u], policy, used[p].https);
                all[n++].place = number_of(u, policy, p);
            }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            CHECK_EQ(is_same(&all[i], &all[k]), all[i].place == all[k].place);
            equal += all[i].place == all[k].place;
        }
    CHECK(equal > 0);
    for (size_t p = 0; p < N_PROXIES; p++)
        sn_proxies_fini(&used[p]);
}

TEST(conn_key_a_dot_at_the_end_and_a_user_name_play_no_part)
{
    asked plain = ask("https://a.test:8443/", 0, NULL);
    asked dot = ask("https://joe:pw@a.test.:8443/x", 0, NULL);
    asked with = ask("https://a.test:8443/", 2, NULL);
    asked dot_with = ask("https://joe@A.test.:8443/x", 2, NULL);

    CHECK(is_same(&plain, &dot));
    CHECK(is_same(&with, &dot_with));
    CHECK(!is_same(&plain, &with));
}
