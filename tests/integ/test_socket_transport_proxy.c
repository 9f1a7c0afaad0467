/* SPDX-License-Identifier: Apache-2.0 */
/* Through proxies, honest ones and those that lie: what arrives is the page or nothing.
 */
#include "diag_line.h"
#include "net/proxy.h"
#include "socket_transport_tls.h"

TESTS_AT_ONCE(8)

static const char *const kinds[] = {"http", "https", "socks5", "socks5h"};
#define N_KINDS (sizeof kinds / sizeof *kinds)

typedef struct setup {
    secured s;
    sn_proxies p;
} setup;

static setup
begin(const char *script)
{
    return (setup){.s = secure_with(script, transport_opts(), 12)};
}

static void
end(setup *k)
{
    sn_proxies_fini(&k->p);
    secure_end(&k->s);
}

static unsigned
port_of(setup *k, const char *place)
{
    return (unsigned)strtoul(strrchr(seine_chaos_where(k->s.c, place), ':') + 1, NULL,
                             10);
}

/* The proxy of that kind; `login` is "" or "joe:pw@". */
static const sn_proxy *
proxy(setup *k, const char *kind, const char *login)
{
    bool socks = kind[0] == 's';
    char url[128];
    seine_diag diag = SEINE_DIAG;

    snprintf(url, sizeof url, "%s://%s127.0.0.1:%u", kind, login,
             port_of(k, socks               ? "socks"
                        : strlen(kind) == 5 ? "https"
                                            : "http"));
    sn_proxies_fini(&k->p);
    CHECK_EQ(sn_proxies_init(&k->p, &(sn_proxies_opts){.proxy = url}, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    return k->p.http;
}

static visit *
get_via(setup *k, const sn_proxy *via, const char *base, const char *path)
{
    visit *v = visit_of(base, path);

    v->q.proxy = via;
    return visit_run(k->s.t, v);
}

/* Nothing of what a proxy said is part of a page, and the site was not asked. */
static void
check_nothing(const visit *v)
{
    CHECK_EQ(v->heads + v->pieces, 0);
    CHECK_EQ(v->end.fault.status, 0);
    CHECK(!v->end.fault.sent && !v->end.partial);
    CHECK_EQ(v->end.fault.phase, SEINE_PHASE_PROXY);
}

TEST(every_kind_of_proxy_leads_to_the_page)
{
    static const struct {
        const char *base;
        bool tls;
    } rows[] = {{"http://a.test", false}, {"https://a.test", true}};
    setup k = begin(NULL);
    int requests = 0;

    for (size_t j = 0; j < N_KINDS; j++)
        EACH_ROW(i, rows) {
            const sn_proxy *via = proxy(&k, kinds[j], "");
            bool known = via->kind == SN_PROXY_SOCKS5;
            visit *v = get_via(&k, via, rows[i].base, "/bytes:1000");

            CHECK_END(v, SEINE_OK);
            CHECK_EQ(v->bytes, 1000);
            CHECK_EQ(v->end.secure.version, rows[i].tls ? 13 : 0);
            CHECK_EQ(v->end.via, SN_PROXY_GOOD);
            /* Only who resolves knows where the site is. */
            CHECK_EQ(v->end.peer.v, known ? 4 : 0);
            CHECK_EQ(v->admits, known);
            CHECK_EQ(v->end.zone, known ? SN_ADDRESS_LOCAL : SN_ADDRESS_PUBLIC);
            CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "proxied"), ++requests);
            free(v);
        }
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "proxy_connects"), 2);
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "socks_requests"), 4);
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "socks_names"), 2); /* of socks5h */
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "tunnels"), 6);
    end(&k);
}

TEST(an_address_goes_to_socks_as_an_address)
{
    setup k = begin(NULL);
    visit *v = get_via(&k, proxy(&k, "socks5h", ""), "http://127.0.0.9", "/ok");

    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->end.peer.v, 4);
    CHECK_EQ(v->end.peer.bytes[3], 9);
    CHECK_EQ(v->end.zone, SN_ADDRESS_LOCAL);
    CHECK_EQ(v->admits, 1);
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "socks_names"), 0);
    free(v);
    end(&k);
}

TEST(connections_are_kept_by_site_and_by_proxy)
{
    static const char *const bases[] = {"http://a.test", "https://a.test"};
    setup k = begin(NULL);

    for (size_t i = 0; i < 2; i++) {
        uint64_t reused = transport_stats(k.s.t).reused;

        for (size_t j = 0; j < 2 * N_KINDS; j++) {
            visit *v = get_via(&k, proxy(&k, kinds[j / 2], ""), bases[i], "/ok");

            CHECK_END(v, SEINE_OK);
            CHECK_EQ(v->end.reused, j % 2);
            free(v);
        }
        CHECK_EQ(transport_stats(k.s.t).reused - reused, N_KINDS);
        visit *v = get_via(&k, proxy(&k, "socks5h", "joe:pw@"), bases[i], "/ok");
        CHECK(!v->end.reused); /* another login is another way */
        free(v);
        v = get_via(&k, proxy(&k, "socks5h", ""), i ? "https://b.test" : "http://b.test",
                    "/ok");
        CHECK(!v->end.reused);
        free(v);
    }
    end(&k);
}

TEST(a_proxy_that_lies_is_named_and_the_site_not_asked)
{
    static const struct {
        const char *kind, *base, *fault;
        seine_err want;
        sn_proxy_part via;
        const char *text;
    } rows[] = {
        /* CONNECT */
        {"http", "https://a.test", "status:502", SEINE_E_PROXY_ERROR, SN_PROXY_GOOD,
         "answered 502"},
        {"http", "https://a.test", "status:301", SEINE_E_PROXY_REFUSED, SN_PROXY_GOOD,
         "answered 301"},
        {"http", "https://a.test", "status:403/html:5000", SEINE_E_PROXY_REFUSED,
         SN_PROXY_GOOD, "answered 403"},
        {"http", "https://a.test", "proxyauth:u:p", SEINE_E_PROXY_AUTH, SN_PROXY_BAD,
         "wants a login (407)"},
        {"http", "https://a.test", "raw:AAEC", SEINE_E_PROXY_ERROR, SN_PROXY_BAD, ""},
        {"http", "https://a.test", "badstatus", SEINE_E_PROXY_ERROR, SN_PROXY_BAD, ""},
        {"http", "https://a.test", "badstatus:ssh", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         ""},
        {"http", "https://a.test", "http09", SEINE_E_PROXY_ERROR, SN_PROXY_BAD, ""},
        {"http", "https://a.test", "extra:10", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "bytes behind its answer"},
        {"http", "https://a.test", "nul", SEINE_E_PROXY_ERROR, SN_PROXY_BAD, ""},
        {"http", "https://a.test", "bighead:70000", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         ""},
        {"http", "https://a.test", "manyhead:2000", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         ""},
        {"http", "https://a.test", "interim:40", SEINE_E_PROXY_ERROR, SN_PROXY_BAD, ""},
        {"http", "https://a.test", "interim:1:101", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         ""},
        {"http", "https://a.test", "fin:10", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "closed the connection"},
        {"http", "https://a.test", "reset:10", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "closed the connection"},
        {"https", "https://a.test", "status:502", SEINE_E_PROXY_ERROR, SN_PROXY_GOOD,
         "answered 502"},
        {"https", "https://a.test", "fin:10", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "closed the connection"},
        {"http", "https://a.test:22", "head:A:b", SEINE_E_PROXY_REFUSED, SN_PROXY_GOOD,
         "answered 403"},
        /* SOCKS */
        {"socks5h", "http://a.test", "reply:1", SEINE_E_PROXY_ERROR, SN_PROXY_GOOD,
         "general failure (reply 1)"},
        {"socks5h", "http://a.test", "reply:2", SEINE_E_PROXY_REFUSED, SN_PROXY_GOOD,
         "not allowed by its rules (reply 2)"},
        {"socks5h", "http://a.test", "reply:3", SEINE_E_PROXY_ERROR, SN_PROXY_GOOD,
         "network unreachable (reply 3)"},
        {"socks5h", "https://a.test", "reply:4", SEINE_E_PROXY_ERROR, SN_PROXY_GOOD,
         "host unreachable (reply 4)"},
        {"socks5h", "http://a.test", "reply:5", SEINE_E_PROXY_ERROR, SN_PROXY_GOOD,
         "connection refused (reply 5)"},
        {"socks5", "http://127.0.0.1", "reply:6", SEINE_E_PROXY_ERROR, SN_PROXY_GOOD,
         "time to live expired (reply 6)"},
        {"socks5h", "http://a.test", "reply:7", SEINE_E_PROXY_REFUSED, SN_PROXY_GOOD,
         "command not supported (reply 7)"},
        {"socks5h", "http://a.test", "reply:8", SEINE_E_PROXY_REFUSED, SN_PROXY_GOOD,
         "address type not supported (reply 8)"},
        {"socks5h", "http://a.test", "reply:99", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "unknown failure (reply 99)"},
        {"socks5h", "http://a.test", "method:255", SEINE_E_PROXY_AUTH, SN_PROXY_BAD,
         "wants a login (method 255)"},
        {"socks5h", "http://a.test", "proxyauth:u:p", SEINE_E_PROXY_AUTH, SN_PROXY_BAD,
         "wants a login (method 255)"},
        {"socks5h", "http://a.test", "method:3", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "chose a method that was not offered"},
        {"socks5h", "http://a.test", "raw:SFRUUC8xLjEgMjAwIE9LDQoNCg",
         SEINE_E_PROXY_ERROR, SN_PROXY_BAD, "does not speak SOCKS5"},
        {"socks5", "https://a.test", "fin:1", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "closed the connection"},
        {"socks5", "http://a.test", "reset:1", SEINE_E_PROXY_ERROR, SN_PROXY_BAD,
         "closed the connection"},
    };

    EACH_ROW(i, rows) {
        char script[256], name[64];

        snprintf(script, sizeof script, "{\"proxy\":\"*\",\"fault\":\"%s\"}",
                 rows[i].fault);
        setup k = begin(script);
        const sn_proxy *via = proxy(&k, rows[i].kind, "");
        visit *v = get_via(&k, via, rows[i].base, "/ok");

        if (v->end.fault.code != rows[i].want || !strstr(v->end.fault.text, rows[i].text))
            printf("  %s %s: %s %s\n", rows[i].kind, rows[i].fault,
                   seine_err_name(v->end.fault.code), v->end.fault.text);
        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->end.via, rows[i].via);
        check_nothing(v);
        snprintf(name, sizeof name, "proxy %s: ", via->shown.ptr);
        CHECK(strncmp(v->end.fault.text, name, strlen(name)) == 0);
        CHECK(strstr(v->end.fault.text, rows[i].text));
        CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "requests"), 0);
        CHECK_EQ(transport_stats(k.s.t).open, 0);
        free(v);
        end(&k);
    }
}

/* An answer that is cut after `n` bytes, for every n: rules by the name of the host. */
static void
cut_connect(const char *kind, const char *word)
{
    enum { MOST = 60 };
    static char script[MOST * 64];
    size_t len = 0;
    int open = 0;

    for (int n = 0; n < MOST; n++)
        len += (size_t)snprintf(script + len, sizeof script - len,
                                "{\"proxy\":\"c%d.test\",\"fault\":\"%s:%d\"}\n", n, word,
                                n);
    setup k = begin(script);
    const sn_proxy *via = proxy(&k, kind, "");
    for (int n = 0; n < MOST; n++) {
        char base[64];

        snprintf(base, sizeof base, "https://c%d.test", n);
        visit *v = get_via(&k, via, base, "/ok");
        if (v->end.fault.code == SEINE_OK) { /* the answer is shorter than that */
            open++;
            CHECK_EQ(v->bytes, 3);
        } else {
            if (v->end.fault.phase == SEINE_PHASE_PROXY) {
                CHECK_END(v, SEINE_E_PROXY_ERROR);
                CHECK_EQ(open, 0);
                check_nothing(v);
            }
            CHECK_EQ(v->heads, 0);
        }
        free(v);
    }
    CHECK(open > 0 && open < MOST - 35); /* "HTTP/1.1 200 Connection established" */
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "requests"), open);
    end(&k);
}

TEST(p3_a_response_to_connect_cut_after_any_byte_opens_nothing)
{
    cut_connect("http", "fin");
    cut_connect("http", "reset");
    cut_connect("https", "fin");
}

TEST(p3_an_answer_of_socks_cut_after_any_byte_opens_nothing)
{
    static const char *const words[] = {"fin", "reset"};

    EACH_ROW(i, words)
        for (int n = 0; n < 14; n++) {
            char script[160], path[32];

            /* The greeting has 2 bytes, the reply 10. */
            snprintf(script, sizeof script, "{\"proxy\":\"%s\",\"fault\":\"%s:%d\"}",
                     n < 2 ? "*" : "a.test", words[i], n < 2 ? n : n - 2);
            setup k = begin(script);
            snprintf(path, sizeof path, "/bytes:%d", 100 + n);
            visit *v = get_via(&k, proxy(&k, "socks5h", ""),
                               n % 3 ? "http://a.test" : "https://a.test", path);
            if (n < 12) {
                CHECK_END(v, SEINE_E_PROXY_ERROR);
                check_nothing(v);
                CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "requests"), 0);
            } else { /* cut behind its last byte, or not at all */
                CHECK(v->end.fault.code != SEINE_OK || v->bytes == 100u + (unsigned)n);
            }
            free(v);
            end(&k);
        }
}

/* Through any proxy a page that is cut is not whole. */
static void
cut_page(const char *kind, const char *base)
{
    setup k = begin(NULL);
    const sn_proxy *via = proxy(&k, kind, "");
    int whole = 0;

    for (int n = 0; n < 200 && whole == 0; n++) {
        char path[64];

        snprintf(path, sizeof path, "/fin:%d/bytes:7", n);
        visit *v = get_via(&k, via, base, path);
        whole += v->end.fault.code == SEINE_OK;
        CHECK_EQ(v->end.fault.code == SEINE_OK, v->bytes == 7);
        if (v->end.fault.code != SEINE_OK) {
            CHECK(v->end.fault.code == SEINE_E_CONN_RESET ||
                  v->end.fault.code == SEINE_E_HEADER_TRUNCATED ||
                  v->end.fault.code == SEINE_E_BODY_TRUNCATED);
            CHECK(v->end.fault.phase == SEINE_PHASE_HEAD ||
                  v->end.fault.phase == SEINE_PHASE_BODY);
        }
        free(v);
    }
    CHECK_EQ(whole, 1);
    end(&k);
}

TEST(p3_a_page_cut_after_any_byte_behind_a_proxy_is_never_whole)
{
    cut_page("http", "http://a.test");
    cut_page("http", "https://a.test");
    cut_page("socks5h", "http://a.test");
    cut_page("https", "https://a.test");
}

TEST(a_login_opens_the_proxy_and_reaches_nobody_else)
{
    static const char *const bases[] = {"http://a.test", "https://a.test"};
    setup k = begin("{\"proxy\":\"*\",\"fault\":\"proxyauth:joe:S3cret%2FPass\"}");
    char secret[256];

    /* At home with the proxies alone: the doors of the server itself. */
    static const char *const homes[] = {"http", "https", "socks5"};
    EACH_ROW(i, homes) {
        snprintf(secret, sizeof secret,
                 "{\"value\":\"S3cret/Pass\",\"origin\":\"%s://127.0.0.1:%u\"}", homes[i],
                 port_of(&k, i == 2 ? "socks" : homes[i]));
        visit *v = visit_of(seine_chaos_url(k.s.c), "/_chaos/secret");
        v->q.method = SN_STR("POST");
        v->q.body = sn_str_of(secret);
        visit_run(k.s.t, v);
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->status, 200);
        free(v);
    }
    for (size_t j = 0; j < N_KINDS; j++)
        EACH_ROW(i, bases) {
            visit *v =
                get_via(&k, proxy(&k, kinds[j], "joe:S3cret%2FPass@"), bases[i], "/echo");

            CHECK_END(v, SEINE_OK);
            /* In absolute form the site is the proxy here, and sees it. */
            CHECK_EQ(strstr(v->body, "roxy-") != NULL ||
                         strstr(v->body, "PROXY-") != NULL,
                     j < 2 && i == 0);
            free(v);

            v = get_via(&k, proxy(&k, kinds[j], "joe:Wr0ngPass@"), bases[i], "/ok");
            CHECK_END(v, SEINE_E_PROXY_AUTH);
            CHECK_EQ(v->end.via, SN_PROXY_BAD);
            CHECK_EQ(v->heads, 0);
            CHECK_EQ(v->end.fault.phase, SEINE_PHASE_PROXY);
            CHECK(!strstr(v->end.fault.text, "Wr0ng") &&
                  !strstr(v->end.fault.text, "joe"));
            CHECK(strstr(v->end.fault.text, "refuses the login"));
            free(v);
        }
    char *report = NULL;
    CHECK_EQ(seine_chaos_report(k.s.c, &report), SEINE_OK);
    CHECK(strstr(report, "\"leaks\":[]"));
    seine_chaos_text_free(report);
    end(&k);
}

TEST(a_proxy_that_is_not_there_is_a_proxy_error)
{
    static const struct {
        const char *proxy, *text;
    } rows[] = {
        {"http://joe:S3cret@127.0.0.1:%u", "connection refused"},
        {"socks5h://joe:S3cret@127.0.0.1:%u", "connection refused"},
        {"https://joe:S3cret@127.0.0.1:%u", "connection refused"},
        {"http://joe:S3cret@nx.test:%u", "no such name"},
        {"http://joe:S3cret@servfail.test:%u", "name server"},
    };
    setup k = begin(NULL);

    EACH_ROW(i, rows) {
        char url[96];
        seine_diag diag = SEINE_DIAG;

        snprintf(url, sizeof url, "%s", rows[i].proxy);
        snprintf(strchr(url, '%'), 8, "%u", port_of(&k, "dead"));
        CHECK_EQ(sn_proxies_init(&k.p, &(sn_proxies_opts){.proxy = url}, &diag),
                 SEINE_OK);
        visit *v = get_via(&k, k.p.http, "http://a.test", "/ok");
        CHECK_END(v, SEINE_E_PROXY_ERROR);
        CHECK_EQ(v->end.via, SN_PROXY_BAD);
        check_nothing(v);
        CHECK(strncmp(v->end.fault.text, "proxy ", 6) == 0);
        CHECK(!strstr(v->end.fault.text, "S3cret") && !strstr(v->end.fault.text, "joe"));
        CHECK(strstr(v->end.fault.text, rows[i].text));
        free(v);
        sn_proxies_fini(&k.p);
    }
    end(&k);
}

TEST(a_proxy_with_tls_must_be_who_it_says)
{
    static const char *const hosts[] = {"expired.a.test",    "wronghost.a.test",
                                        "selfsigned.a.test", "untrusted.a.test",
                                        "alert.a.test",      "fin.a.test"};
    static const char *const bases[] = {"http://b.test", "https://b.test"};
    setup k = begin(NULL);

    EACH_ROW(i, hosts) {
        char url[96];

        snprintf(url, sizeof url, "https://joe:S3cret@%s:%u", hosts[i],
                 port_of(&k, "https"));
        CHECK_EQ(sn_proxies_init(&k.p, &(sn_proxies_opts){.proxy = url}, NULL), SEINE_OK);
        visit *v = visit_of(bases[i % 2], "/ok");
        v->q.proxy = k.p.http;
        v->q.insecure = true; /* of the site, never of the proxy */
        visit_run(k.s.t, v);
        CHECK_END(v, SEINE_E_PROXY_ERROR);
        check_nothing(v);
        CHECK(strstr(v->end.fault.text, hosts[i]));
        free(v);
        sn_proxies_fini(&k.p);
    }
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "proxied"), 0);
    CHECK_EQ(chaos_number(k.s.c, "totals", NULL, "proxy_connects"), 0);
    end(&k);
}

TEST(the_certificate_of_a_site_behind_a_proxy_is_the_sites)
{
    setup k = begin(NULL);

    for (size_t j = 0; j < N_KINDS; j++) {
        visit *v = get_via(&k, proxy(&k, kinds[j], ""), "https://expired.a.test", "/ok");

        CHECK_END(v, SEINE_E_TLS_CERT_EXPIRED);
        CHECK_EQ(v->end.fault.phase, SEINE_PHASE_TLS);
        CHECK_EQ(v->end.via, SN_PROXY_GOOD);
        free(v);
    }
    end(&k);
}

TEST(addresses_of_the_site_are_judged_the_proxys_is_not)
{
    static const struct {
        const char *base;
        bool blocked[4]; /* by kind */
    } rows[] = {
        {"http://127.0.0.9", {true, true, true, true}}, /* whoever resolves */
        {"https://127.0.0.9", {true, true, true, true}},
        {"http://a.test", {false, false, true, false}}, /* only we can judge */
    };
    setup k = begin(NULL);

    for (size_t j = 0; j < N_KINDS; j++)
        EACH_ROW(i, rows) {
            uint64_t opened = transport_stats(k.s.t).opened;
            visit *v = visit_of(rows[i].base, "/ok");

            v->q.proxy = proxy(&k, kinds[j], "");
            v->q.ceiling = SN_ADDRESS_PUBLIC;
            visit_run(k.s.t, v);
            CHECK_END(v, rows[i].blocked[j] ? SEINE_E_BLOCKED_ADDRESS : SEINE_OK);
            if (rows[i].blocked[j]) {
                CHECK_EQ(transport_stats(k.s.t).opened, opened); /* no packet */
                CHECK_EQ(v->admits + v->heads, 0);
                CHECK_EQ(v->end.via, SN_PROXY_NONE);
            }
            free(v);
        }
    /* Whoever trusts no URL resolves what the proxy will, and all of it must be allowed.
     */
    for (size_t j = 0; j < N_KINDS; j++) {
        uint64_t opened = transport_stats(k.s.t).opened;
        visit *v = visit_of("https://c.test", "/ok");

        v->q.proxy = proxy(&k, kinds[j], "");
        v->q.ceiling = SN_ADDRESS_PUBLIC;
        v->q.judge = true;
        visit_run(k.s.t, v);
        CHECK_END(v, SEINE_E_BLOCKED_ADDRESS);
        CHECK_EQ(transport_stats(k.s.t).opened, opened);
        free(v);
        v = visit_of("https://c.test", "/ok");
        v->q.proxy = k.p.http;
        v->q.judge = true;
        visit_run(k.s.t, v);
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.peer.v, sn_proxy_resolves(k.p.http) ? 0 : 4);
        free(v);
    }
    /* A kept connection to an address is judged again. */
    const sn_proxy *via = proxy(&k, "socks5", "");
    visit *v = get_via(&k, via, "http://a.test", "/ok");
    CHECK_END(v, SEINE_OK);
    free(v);
    v = visit_of("http://a.test", "/ok");
    v->q.proxy = via;
    v->q.ceiling = SN_ADDRESS_PUBLIC;
    visit_run(k.s.t, v);
    CHECK_END(v, SEINE_E_BLOCKED_ADDRESS);
    free(v);
    end(&k);
}

/* Only the proxy knows where a kept connection leads: it serves a request that wants to
 * be judged if it was judged as strictly when it was made. */
TEST(a_kept_connection_behind_a_proxy_serves_nobody_who_is_judged_more_strictly)
{
    static const struct {
        const char *base, *kind;
    } rows[] = {
        {"http://a.test", "http"},     {"https://a.test", "http"},
        {"https://a.test", "https"},   {"http://a.test", "socks5h"},
        {"https://a.test", "socks5h"},
    };

    EACH_ROW(i, rows)
        for (int first_is_judged = 0; first_is_judged < 2; first_is_judged++) {
            setup k = begin(NULL);
            const sn_proxy *via = proxy(&k, rows[i].kind, "");
            visit *v = visit_of(rows[i].base, "/ok");

            v->q.proxy = via;
            v->q.judge = first_is_judged;
            visit_run(k.s.t, v);
            CHECK_END(v, SEINE_OK);
            CHECK_EQ(v->end.peer.v, 0);
            free(v);
            CHECK_EQ(transport_stats(k.s.t).idle, 1);

            v = visit_of(rows[i].base, "/ok");
            v->q.proxy = via;
            v->q.judge = true;
            v->q.ceiling = SN_ADDRESS_PUBLIC;
            visit_run(k.s.t, v);
            CHECK_END(v, SEINE_E_BLOCKED_ADDRESS);
            CHECK(!v->end.reused && v->heads == 0);
            free(v);

            v = visit_of(rows[i].base, "/ok"); /* as before: the kept one serves */
            v->q.proxy = via;
            v->q.judge = first_is_judged;
            visit_run(k.s.t, v);
            CHECK_END(v, SEINE_OK);
            CHECK(v->end.reused);
            free(v);
            end(&k);
        }
}

TEST(a_host_that_may_not_be_used_now_is_not_looked_for_behind_a_proxy)
{
    setup k = begin(NULL);
    visit *v = visit_of("http://127.0.0.9", "/ok");

    v->q.proxy = proxy(&k, "http", "");
    v->admit = SEINE_E_BUSY;
    visit_run(k.s.t, v);
    CHECK_END(v, SEINE_E_BUSY);
    CHECK_EQ(v->admits, 1);
    CHECK_EQ(v->end.peer.v, 0);
    CHECK_EQ(transport_stats(k.s.t).opened, 0);
    free(v);
    end(&k);
}

TEST(a_proxy_that_is_silent_is_given_up_after_its_own_limit)
{
    static const struct {
        const char *kind, *base, *fault;
    } rows[] = {
        {"http", "https://a.test", "mute"},
        {"http", "https://a.test", "stall:20"},
        {"http", "https://a.test", "drip:1x20ms"},
        {"https", "https://a.test", "stall:20"},
        {"socks5h", "http://a.test", "mute"},
        {"socks5", "http://a.test", "stall:1"},
    };

    EACH_ROW(i, rows) {
        char script[128];

        snprintf(script, sizeof script, "{\"proxy\":\"*\",\"fault\":\"%s\"}",
                 rows[i].fault);
        setup k = begin(script);
        visit *v = visit_of(rows[i].base, "/ok");
        v->q.proxy = proxy(&k, rows[i].kind, "");
        CHECK_EQ(visit_start(k.s.t, v), SEINE_OK);
        visit_until(v, SEINE_PHASE_PROXY);
        transport_pass(v->limits.time.tcp);
        visit_wait(v);
        CHECK_END(v, SEINE_E_PROXY_ERROR);
        CHECK(strstr(v->end.fault.text, "no answer in time"));
        CHECK_EQ(v->end.via, SN_PROXY_BAD);
        check_nothing(v);
        CHECK(v->ended - v->begun >= v->limits.time.tcp);
        free(v);

        /* The time of the attempt may be over before. */
        v = visit_of(rows[i].base, "/ok");
        v->q.proxy = k.p.http;
        v->q.deadline = transport_now() + SEINE_SECS(3);
        CHECK_EQ(visit_start(k.s.t, v), SEINE_OK);
        visit_until(v, SEINE_PHASE_PROXY);
        transport_pass(SEINE_SECS(3));
        visit_wait(v);
        CHECK_END(v, SEINE_E_TIMEOUT);
        CHECK_EQ(v->end.fault.phase, SEINE_PHASE_PROXY);
        free(v);
        end(&k);
    }
}

TEST(what_is_cancelled_while_a_proxy_is_asked_ends)
{
    static const char *const cases[] = {"http", "https", "socks5h"};
    setup k = begin("{\"proxy\":\"*\",\"fault\":\"mute\"}");

    EACH_ROW(i, cases) {
        visit *v = visit_of("https://a.test", "/ok");

        v->q.proxy = proxy(&k, cases[i], "");
        CHECK_EQ(visit_start(k.s.t, v), SEINE_OK);
        visit_until(v, SEINE_PHASE_PROXY);
        k.s.t->ops->cancel(k.s.t, v->x, SEINE_E_CANCELED);
        visit_wait(v);
        CHECK_END(v, SEINE_E_CANCELED);
        CHECK_EQ(v->end.via, SN_PROXY_NONE); /* nobody's fault */
        free(v);
    }
    CHECK_EQ(transport_stats(k.s.t).open, 0);
    end(&k);
}

TEST(a_body_goes_through_a_proxy_whole)
{
    setup k = begin(NULL);
    static char body[100000];

    memset(body, 'b', sizeof body);
    for (size_t j = 0; j < N_KINDS; j++) {
        visit *v = visit_of(j % 2 ? "http://a.test" : "https://a.test", "/echo");

        v->q.proxy = proxy(&k, kinds[j], "");
        v->q.method = SN_STR("POST");
        v->q.body = (sn_str){body, j < 2 ? sizeof body : 1000};
        visit_run(k.s.t, v);
        CHECK_END(v, SEINE_OK);
        CHECK(v->bytes > 1000);
        free(v);
    }
    end(&k);
}
