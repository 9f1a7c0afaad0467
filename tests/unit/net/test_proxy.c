/* SPDX-License-Identifier: Apache-2.0 */
#include "net/proxy.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "check.h"
#include "diag_line.h"
#include "failing.h"
#include "seine/view.h"

static seine_diag diag;

static sn_str
text(const char *s)
{
    return (sn_str){s, strlen(s)};
}

#define CHECK_VIEW(got, want) CHECK(sn_str_eq(got, text(want)))

/* An environment: NAME=VALUE, NULL ends. */
static const char *const *environment;

static char *
env(const char *name)
{
    size_t n = strlen(name);

    for (const char *const *e = environment; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return (char *)(uintptr_t)(*e + n + 1); /* as getenv has it: nobody writes */
    return NULL;
}

static const sn_proxy *
choose(const sn_proxies *p, const char *href)
{
    static char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&u, href, strlen(href), NULL), SEINE_OK);
    return sn_proxies_choose(p, &u);
}

/* How the proxy of that URL is shown; "" for none. */
static const char *
shown(const sn_proxies *p, const char *href)
{
    const sn_proxy *proxy = choose(p, href);

    return proxy ? proxy->shown.ptr : "";
}

TEST(proxy_is_read_from_a_url)
{
    static const struct {
        const char *text;
        sn_proxy_kind kind;
        const char *host;
        uint16_t port;
        const char *shown;
    } rows[] = {
        {"http://p.example:3128", SN_PROXY_HTTP, "p.example", 3128,
         "http://p.example:3128"},
        {"http://p.example:3128/", SN_PROXY_HTTP, "p.example", 3128,
         "http://p.example:3128"},
        {"p.example:3128", SN_PROXY_HTTP, "p.example", 3128, "http://p.example:3128"},
        {"p.example", SN_PROXY_HTTP, "p.example", 1080, "http://p.example:1080"},
        {"http://p.example", SN_PROXY_HTTP, "p.example", 1080, "http://p.example:1080"},
        /* the port that URLs leave out is kept */
        {"http://p.example:80", SN_PROXY_HTTP, "p.example", 80, "http://p.example:80"},
        {"https://p.example", SN_PROXY_HTTPS, "p.example", 443, "https://p.example:443"},
        {"https://p.example:80", SN_PROXY_HTTPS, "p.example", 80, "https://p.example:80"},
        {"socks5://p.example", SN_PROXY_SOCKS5, "p.example", 1080,
         "socks5://p.example:1080"},
        {"SOCKS5H://P.Example.:9", SN_PROXY_SOCKS5H, "p.example", 9,
         "socks5h://p.example:9"},
        {"http://[::1]:8080", SN_PROXY_HTTP, "::1", 8080, "http://[::1]:8080"},
        {"socks5://[2001:DB8::0]", SN_PROXY_SOCKS5, "2001:db8::", 1080,
         "socks5://[2001:db8::]:1080"},
        {"127.1:8080", SN_PROXY_HTTP, "127.0.0.1", 8080, "http://127.0.0.1:8080"},
        {"http://b\xc3\xbc"
         "cher.example:1",
         SN_PROXY_HTTP, "xn--bcher-kva.example", 1, "http://xn--bcher-kva.example:1"},
        {"http://p.example:", SN_PROXY_HTTP, "p.example", 1080, "http://p.example:1080"},
    };
    sn_arena memory;

    sn_arena_init(&memory, 1024, SIZE_MAX);
    EACH_ROW(i, rows) {
        sn_proxy p;

        CHECK_EQ(sn_proxy_parse("proxy", text(rows[i].text), &memory, &p, &diag),
                 SEINE_OK);
        CHECK_EQ(p.kind, rows[i].kind);
        CHECK_EQ(p.port, rows[i].port);
        CHECK_VIEW(p.host, rows[i].host);
        CHECK_STR(p.shown.ptr, rows[i].shown);
        CHECK_EQ(p.user.len + p.pass.len + p.authorization.len, 0);
    }
    sn_arena_fini(&memory);
}

TEST(proxy_login_is_decoded_and_never_shown)
{
    static const struct {
        const char *text, *user, *pass, *plain; /* plain: of Basic */
    } rows[] = {
        {"http://joe:secret@p:1", "joe", "secret", "joe:secret"},
        {"http://joe@p:1", "joe", "", "joe:"},
        {"http://j%6Fe:p%40s%3As%2f@p:1", "joe", "p@s:s/", "joe:p@s:s/"},
        {"http://joe:p@ss@p:1", "joe", "p@ss", "joe:p@ss"}, /* as browsers read it */
        {"http://100%25:50%@p:1", "100%", "50%", "100%:50%"},
        {"http://j\xc3\xb6:x@p:1", "j\xc3\xb6", "x", "j\xc3\xb6:x"},
        {"socks5://joe:secret@p:1", "joe", "secret", NULL},
        {"socks5h://a%3Ab:%00%ff@p:1", "a:b", NULL, NULL}, /* any byte, for SOCKS */
    };
    sn_arena memory;

    sn_arena_init(&memory, 1024, SIZE_MAX);
    EACH_ROW(i, rows) {
        char plain[64] = "";
        size_t n = 0;
        sn_proxy p;

        CHECK_EQ(sn_proxy_parse("proxy", text(rows[i].text), &memory, &p, &diag),
                 SEINE_OK);
        CHECK_VIEW(p.user, rows[i].user);
        if (rows[i].pass)
            CHECK_VIEW(p.pass, rows[i].pass);
        else
            CHECK(sn_str_eq(p.pass, (sn_str){"\0\xff", 2}));
        CHECK(!strchr(p.shown.ptr, '@'));
        CHECK_EQ(p.authorization.len > 0, rows[i].plain != NULL);
        if (!rows[i].plain)
            continue;
        CHECK(sn_str_starts(p.authorization, SN_STR("Basic ")));
        CHECK_EQ(sn_base64_read(sn_str_slice(p.authorization, 6, p.authorization.len),
                                plain, &n),
                 SEINE_OK);
        CHECK(sn_str_eq((sn_str){plain, n}, text(rows[i].plain)));
    }
    sn_arena_fini(&memory);
}

TEST(proxy_that_is_none_is_a_named_error_without_its_login)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"ftp://p:1", "proxy: ftp: the scheme is http, https, socks5 or socks5h"},
        {"socks4://p:1", "proxy: socks4: the scheme is http, https, socks5 or socks5h"},
        {"joe:Pw1@p://x", "proxy: the scheme is http, https, socks5 or socks5h"},
        {"http://", "proxy: no host"},
        {"http:///p:1", "proxy: no host"},
        {"http://joe:Pw1@:1", "proxy: no host"},
        {"http://p:65536", "proxy: not a port number"},
        {"http://p:x", "proxy: not a port number"},
        {"http://joe:P/w1@p:1", "proxy: not a port number"},
        {"http://p:0", "proxy: port 0"},
        {"http://p:1/path", "proxy: something behind the port"},
        {"http://p:1?q", "proxy: something behind the port"},
        {"http://p:1#f", "proxy: something behind the port"},
        {"http://joe:Pw1@p q:1", "proxy: a blank or a control character in it"},
        {"http://p\n:1", "proxy: a blank or a control character in it"},
        {"http://1.2.3.999:1", "proxy: not an IPv4 address"},
        {"http://[::1:1", "proxy: not an IPv6 address"},
        {"http://a..b:1", "proxy: not a host name"},
        {"http://:Pw1@p:1", "proxy: a login is USER:PASSWORD"},
        {"socks5://joe@p:1", "proxy: a login is USER:PASSWORD"},
        {"socks5://joe:@p:1", "proxy: a login is USER:PASSWORD"},
        {"http://j%3Aoe:Pw1@p:1", "proxy: a colon in the user name"},
        {"http://joe:Pw1%0d%0aX@p:1", "proxy: a control character in the login"},
        {"http://joe%00:Pw1@p:1", "proxy: a control character in the login"},
    };
    sn_arena memory;

    sn_arena_init(&memory, 1024, SIZE_MAX);
    EACH_ROW(i, rows) {
        sn_proxy p;

        CHECK_EQ(sn_proxy_parse("proxy", text(rows[i].text), &memory, &p, &diag),
                 SEINE_E_CONFIG);
        CHECK_STR(diag_line(&diag), rows[i].why);
        CHECK(!strstr(diag_line(&diag), "Pw1"));
        CHECK_EQ(sn_proxy_parse("proxy", text(rows[i].text), &memory, &p, NULL),
                 SEINE_E_CONFIG);
    }
    sn_arena_fini(&memory);
}

/* A login with so many bytes. */
static seine_err
parse_login(const char *scheme, size_t user, size_t pass)
{
    char url[2200];
    sn_arena memory;
    sn_proxy p;
    size_t n = strlen(scheme);

    memcpy(url, scheme, n);
    memset(url + n, 'u', user);
    n += user;
    url[n++] = ':';
    memset(url + n, 'p', pass);
    n += pass;
    memcpy(url + n, "@p:1", 4);
    sn_arena_init(&memory, 4096, SIZE_MAX);
    seine_err e = sn_proxy_parse("proxy", (sn_str){url, n + 4}, &memory, &p, &diag);
    if (e == SEINE_OK) {
        CHECK_EQ(p.user.len, user);
        CHECK_EQ(p.pass.len, pass);
    }
    sn_arena_fini(&memory);
    return e;
}

TEST(proxy_login_has_at_most_255_bytes_each)
{
    static const char *const schemes[] = {"http://", "socks5://"};

    EACH_ROW(i, schemes) {
        CHECK_EQ(parse_login(schemes[i], 255, 255), SEINE_OK);
        CHECK_EQ(parse_login(schemes[i], 256, 1), SEINE_E_CONFIG);
        CHECK_EQ(parse_login(schemes[i], 1, 256), SEINE_E_CONFIG);
        CHECK_STR(diag_line(&diag), "proxy: a user or password has at most 255 bytes");
    }
    CHECK_EQ(parse_login("http://", 1024, 1024), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag), "proxy: longer than 2048 bytes");
}

TEST(proxies_option_counts_for_both_schemes_and_before_the_environment)
{
    static const char *const set[] = {"http_proxy=e:1", "https_proxy=e:2",
                                      "all_proxy=e:3", NULL};
    sn_proxies p;

    environment = set;
    CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.proxy = "socks5h://o:9", .env = env},
                             &diag),
             SEINE_OK);
    CHECK_EQ(p.n, 1);
    CHECK_STR(shown(&p, "http://a.example/"), "socks5h://o:9");
    CHECK_STR(shown(&p, "https://a.example/"), "socks5h://o:9");
    sn_proxies_fini(&p);
}

TEST(proxies_off_or_nothing_is_none_whatever_the_environment_says)
{
    static const char *const set[] = {"http_proxy=e:1", "ALL_PROXY=e:3", NULL};
    static const char *const rows[] = {"off", ""};

    environment = set;
    EACH_ROW(i, rows) {
        sn_proxies p;

        CHECK_EQ(
            sn_proxies_init(&p, &(sn_proxies_opts){.proxy = rows[i], .env = env}, &diag),
            SEINE_OK);
        CHECK_EQ(p.n, 0);
        CHECK(!choose(&p, "http://a.example/"));
        CHECK(!choose(&p, "https://a.example/"));
        sn_proxies_fini(&p);
    }
}

TEST(proxies_of_the_environment_by_scheme)
{
    static const struct {
        const char *set[5];
        const char *http, *https;
    } rows[] = {
        {{NULL}, "", ""},
        {{"http_proxy=l:1"}, "http://l:1", ""},
        {{"HTTP_PROXY=u:1"}, "", ""}, /* a header could have set it */
        {{"HTTPS_PROXY=u:2"}, "", "http://u:2"},
        {{"https_proxy=l:2", "HTTPS_PROXY=u:2"}, "", "http://l:2"},
        {{"https_proxy=", "HTTPS_PROXY=u:2"}, "", "http://u:2"},
        {{"all_proxy=l:3", "ALL_PROXY=u:3"}, "http://l:3", "http://l:3"},
        {{"ALL_PROXY=socks5://u:3"}, "socks5://u:3", "socks5://u:3"},
        {{"ALL_PROXY=u:3", "http_proxy=l:1"}, "http://l:1", "http://u:3"},
        {{"ALL_PROXY=u:3", "http_proxy=off"}, "", "http://u:3"},
        {{"ALL_PROXY=u:3", "http_proxy="}, "http://u:3", "http://u:3"},
    };

    EACH_ROW(i, rows) {
        sn_proxies p;

        environment = rows[i].set;
        CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag), SEINE_OK);
        CHECK_STR(shown(&p, "http://a.example/"), rows[i].http);
        CHECK_STR(shown(&p, "https://a.example/"), rows[i].https);
        sn_proxies_fini(&p);
        CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = NULL}, &diag), SEINE_OK);
        CHECK(!choose(&p, "http://a.example/"));
        sn_proxies_fini(&p);
    }
}

TEST(proxies_that_are_the_same_are_one)
{
    static const char *const same[] = {"http_proxy=http://a:b@p:1/",
                                       "https_proxy=a:b@P:1", NULL};
    static const char *const other[] = {"http_proxy=a:b@p:1", "https_proxy=a:c@p:1",
                                        NULL};
    sn_proxies p;

    environment = same;
    CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag), SEINE_OK);
    CHECK_EQ(p.n, 1);
    CHECK(p.http == p.https);
    sn_proxies_fini(&p);
    environment = other;
    CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag), SEINE_OK);
    CHECK_EQ(p.n, 2);
    CHECK(!sn_str_eq(p.http->key, p.https->key)); /* another login, another pool */
    CHECK_EQ(p.https->index, 1);
    sn_proxies_fini(&p);
}

TEST(proxies_name_the_variable_that_is_wrong)
{
    static const struct {
        const char *set[3];
        const char *why;
    } rows[] = {
        {{"http_proxy=gopher://p:1"},
         "http_proxy: gopher: the scheme is http, https, socks5 or socks5h"},
        {{"HTTPS_PROXY=p:x"}, "HTTPS_PROXY: not a port number"},
        {{"ALL_PROXY=http://"}, "ALL_PROXY: no host"},
    };

    EACH_ROW(i, rows) {
        sn_proxies p;

        environment = rows[i].set;
        CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag),
                 SEINE_E_CONFIG);
        CHECK_STR(diag_line(&diag), rows[i].why);
    }
}

TEST(no_proxy_takes_names_ports_addresses_and_nets)
{
    static const struct {
        const char *list, *url;
        bool straight;
    } rows[] = {
        {"e.example", "http://e.example/", true},
        {"e.example", "https://e.example:444/", true},
        {"e.example", "http://www.e.example/", true}, /* and all below it */
        {"e.example", "http://ee.example/", false},
        {"e.example", "http://example/", false},
        {".e.example", "http://e.example/", true},
        {".e.example", "http://a.b.e.example/", true},
        {"*.e.example", "http://a.e.example/", true},
        {".e.example", "http://note.example/", false},
        {"E.Example.", "http://e.example./", true}, /* case and last dots */
        {"b\xc3\xbc"
         "cher.example",
         "http://xn--bcher-kva.example/", true},
        {"e.example:8080", "http://e.example:8080/", true},
        {"e.example:8080", "http://e.example/", false},
        {"e.example:80", "http://e.example/", true},
        {"e.example:80", "https://e.example/", false},
        {"e.example:443", "https://a.e.example/", true},
        {"a, b\tc ,,d", "http://c/", true},
        {"a, b\tc ,,d", "http://d/", true},
        {"a, b\tc ,,d", "http://e/", false},
        {"127.0.0.1", "http://127.0.0.1:99/", true},
        {"127.0.0.1", "http://127.1/", true}, /* the same address */
        {"127.0.0.1", "http://127.0.0.2/", false},
        {"127.0.0.1:99", "http://127.0.0.1:99/", true},
        {"127.0.0.1:99", "http://127.0.0.1/", false},
        {"127.0.0.0/8", "http://127.200.0.1/", true},
        {"127.0.0.0/8", "http://128.0.0.1/", false},
        {"::1", "http://[::1]/", true},
        {"[::1]", "http://[::1]:8/", true},
        {"[::1]:8", "http://[::1]:8/", true},
        {"[::1]:8", "http://[::1]:9/", false},
        {"2001:db8::/32", "http://[2001:db8:1::2]/", true},
        {"2001:db8::/32", "http://[2001:db9::]/", false},
        {"10.0.0.0/8", "http://[::a00:1]/", false},
        {"0.0.1", "http://127.0.0.1/", false},     /* 0.0.0.1; no suffix of an address */
        {"localhost", "http://127.0.0.1/", false}, /* nothing is looked up */
        {"127.0.0.1", "http://localhost/", false},
        {"*", "http://e.example/", true},
        {"a *", "http://[::1]/", true},
        {"", "http://e.example/", false},
        {" , ", "http://e.example/", false},
    };

    EACH_ROW(i, rows) {
        const char *const set[] = {"all_proxy=p:1", "no_proxy=all.example", NULL};
        sn_proxies p;

        environment = set;
        CHECK_EQ(
            sn_proxies_init(
                &p,
                &(sn_proxies_opts){.proxy = "p:1", .no_proxy = rows[i].list, .env = env},
                &diag),
            SEINE_OK);
        CHECK_EQ(!choose(&p, rows[i].url), rows[i].straight);
        CHECK(choose(&p, "http://all.example/") || p.none); /* the option replaces it */
        sn_proxies_fini(&p);
    }
}

TEST(no_proxy_of_the_environment)
{
    static const char *const lower[] = {"all_proxy=p:1", "no_proxy=a", "NO_PROXY=b",
                                        NULL};
    static const char *const upper[] = {"all_proxy=p:1", "NO_PROXY=b", NULL};
    sn_proxies p;

    environment = lower;
    CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag), SEINE_OK);
    CHECK(!choose(&p, "http://a/") && choose(&p, "http://b/"));
    sn_proxies_fini(&p);
    environment = upper;
    CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag), SEINE_OK);
    CHECK(choose(&p, "http://a/") && !choose(&p, "http://b/"));
    sn_proxies_fini(&p);
    /* It holds for the proxy of the option, too. */
    CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.proxy = "p:2", .env = env}, &diag),
             SEINE_OK);
    CHECK(choose(&p, "http://a/") && !choose(&p, "http://b/"));
    sn_proxies_fini(&p);
}

TEST(no_proxy_entry_that_is_none_is_an_error_of_the_option_alone)
{
    static const char *const rows[] = {"10.1.2.3/8", "10.0.0.0/33", "a/b",
                                       "<local>",    "192.168.*",   "joe@a",
                                       "a..b",       ".",           "e.example:99999"};

    EACH_ROW(i, rows) {
        char list[64], set[80], want[160];
        const char *const e[] = {"all_proxy=p:1", set, NULL};
        sn_proxies p;

        snprintf(list, sizeof list, "a %s b", rows[i]);
        snprintf(set, sizeof set, "no_proxy=%s", list);
        snprintf(want, sizeof want, "no_proxy: neither a name, an address nor a net: %s",
                 rows[i]);
        CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.proxy = "p:1", .no_proxy = list},
                                 &diag),
                 SEINE_E_CONFIG);
        CHECK_STR(diag_line(&diag), want);
        environment = e;
        CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag), SEINE_OK);
        CHECK(!choose(&p, "http://a/") && !choose(&p, "http://b/"));
        CHECK(choose(&p, "http://c/"));
        sn_proxies_fini(&p);
    }
}

TEST(proxy_knows_who_resolves_and_what_needs_a_tunnel)
{
    static const struct {
        const char *proxy;
        bool resolves, http, https;
    } rows[] = {
        {"http://p:1", true, false, true},
        {"https://p:1", true, false, true},
        {"socks5://p:1", false, true, true},
        {"socks5h://p:1", true, true, true},
    };
    char m[2][64];
    seine_url http, https;

    seine_url_init(&http, m[0], sizeof m[0]);
    seine_url_init(&https, m[1], sizeof m[1]);
    CHECK_EQ(seine_url_parse(&http, "http://a/", 9, NULL), SEINE_OK);
    CHECK_EQ(seine_url_parse(&https, "https://a/", 10, NULL), SEINE_OK);
    EACH_ROW(i, rows) {
        sn_proxies p;

        CHECK_EQ(sn_proxies_init(&p, &(sn_proxies_opts){.proxy = rows[i].proxy}, &diag),
                 SEINE_OK);
        CHECK_EQ(sn_proxy_resolves(p.http), rows[i].resolves);
        CHECK_EQ(sn_proxy_needs_tunnel(p.http, &http), rows[i].http);
        CHECK_EQ(sn_proxy_needs_tunnel(p.http, &https), rows[i].https);
        sn_proxies_fini(&p);
    }
}

TEST(proxy_tells_its_name_cut_to_fit)
{
    char name[300] = "http://", out[SN_PROXY_TELL];
    sn_arena memory;
    sn_proxy p;

    sn_arena_init(&memory, 1024, SIZE_MAX);
    CHECK_EQ(sn_proxy_parse("proxy", text("joe:pw@p:1"), &memory, &p, &diag), SEINE_OK);
    sn_proxy_tell(&p, "said no", out);
    CHECK_STR(out, "proxy http://p:1: said no");
    for (size_t i = 7; i < 240; i++)
        name[i] = i % 50 == 0 ? '.' : 'a';
    CHECK_EQ(sn_proxy_parse("proxy", text(name), &memory, &p, &diag), SEINE_OK);
    sn_proxy_tell(&p, "said no", out);
    CHECK_EQ(strlen(out), SN_PROXY_TELL - 1);
    CHECK(strstr(out, ": said no"));
    sn_arena_fini(&memory);
}

TEST(proxies_without_memory)
{
    static const char *const set[] = {"http_proxy=a:b@p:1",
                                      "https_proxy=socks5://a:c@p:1",
                                      "no_proxy=a,10.0.0.0/8", NULL};

    environment = set;
    FAIL_EACH(n)
    {
        sn_proxies p;
        seine_err e = sn_proxies_init(&p, &(sn_proxies_opts){.env = env}, &diag);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK)
            sn_proxies_fini(&p);
    }
}
