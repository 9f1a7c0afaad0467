/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scope.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "check.h"
#include "diag_line.h"
#include "failing.h"

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

typedef struct rules {
    seine_fetch_opts opts;
    seine_crawl_opts crawl;
} rules;

static rules *
crawl_of(rules *r, seine_scope scope)
{
    r->opts = SEINE_FETCH_OPTS;
    r->crawl = SEINE_CRAWL_OPTS;
    r->crawl.scope = scope;
    r->opts.crawl = &r->crawl;
    return r;
}

static sn_scope *
scope_of(const rules *r)
{
    seine_diag diag = SEINE_DIAG;
    sn_scope *s = NULL;

    CHECK_EQ(sn_scope_new(&r->opts, &s, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    return s;
}

static sn_scope *
around(seine_scope scope, const char *seed)
{
    rules r;
    parsed p;
    sn_scope *s = scope_of(crawl_of(&r, scope));

    CHECK_EQ(sn_scope_seed(s, url_of(&p, seed)), SEINE_OK);
    return s;
}

static bool
has(const sn_scope *s, const char *url)
{
    parsed p;
    sn_scope_verdict got;

    sn_scope_judge(s, url_of(&p, url), false, &got);
    CHECK_EQ(got.len, strlen(got.rule));
    CHECK_EQ(got.in, got.len == 0);
    return got.in;
}

/* The rule that refuses; "in". */
static const char *
rule(const sn_scope *s, const char *url, bool is_given, sn_scope_verdict *out)
{
    parsed p;

    sn_scope_judge(s, url_of(&p, url), is_given, out);
    return out->in ? "in" : out->rule;
}

typedef struct row {
    const char *seed, *url;
    bool in;
} row;

static void
check_row_of(seine_scope scope, const row *r)
{
    sn_scope *s = around(scope, r->seed);

    CHECK_EQ(has(s, r->url), r->in);
    sn_scope_free(s);
}

TEST(scope_host_is_the_same_name_and_port)
{
    static const row rows[] = {
        {"https://e.example/a/b", "https://e.example/", true},
        {"https://e.example/", "http://e.example/x?y", true},     /* each its own port */
        {"https://e.example/", "http://e.example:80/", true},     /* written out */
        {"https://e.example/", "https://E.Example./x", true},     /* a dot at the end */
        {"https://e.example/", "https://e.example:8443/", false}, /* another port */
        {"http://e.example:8080/", "https://e.example:8080/", true},
        {"http://e.example:8080/", "http://e.example/", false},
        {"http://e.example/", "http://e.example:443/", false}, /* not the port of http */
        {"https://e.example/", "https://www.e.example/", false},
        {"https://e.example/", "https://xe.example/", false},
        {"https://e.example/", "https://e.example.org/", false},
        {"http://127.0.0.1:80/", "https://127.1/", true}, /* one form of an address */
        {"http://[::1]/", "http://[0:0::1]:80/x", true},
        {"http://[::1]/", "http://[::2]/", false},
    };

    EACH_ROW(i, rows)
        check_row_of(SEINE_SCOPE_HOST, &rows[i]);
}

TEST(scope_domain_is_what_somebody_registered)
{
    static const row rows[] = {
        {"https://www.e.example/", "http://e.example:8080/", true}, /* any port */
        {"https://e.example/", "https://a.b.e.example/x", true},
        {"https://e.example/", "https://f.example/", false},
        {"https://a.co.uk/", "https://b.co.uk/", false}, /* co.uk is everybody's */
        {"https://a.co.uk/", "https://x.a.co.uk/", true},
        {"https://a.github.io/", "https://b.github.io/", false},
        {"https://co.uk/", "https://a.co.uk/", false}, /* a suffix is alone */
        {"https://co.uk/", "https://co.uk/x", true},
        {"http://localhost/", "http://localhost:99/", true}, /* a single label, too */
        {"http://localhost/", "http://a.localhost/", false},
        {"http://localhost/", "http://intranet/", false},
        {"https://co.uk/", "https://com.au/", false},
        {"http://10.0.0.5/", "http://10.0.0.5:8080/", true},
        {"http://10.0.0.5/", "http://10.0.0.6/", false},
        {"http://[2001:db8::1]/", "https://[2001:db8::1]/", true},
        /* Amazon registered the one, its customers what is below the other. */
        {"https://www.amazonaws.com/", "https://b.s3.amazonaws.com/", false},
    };

    EACH_ROW(i, rows)
        check_row_of(SEINE_SCOPE_DOMAIN, &rows[i]);
}

TEST(scope_prefix_is_the_directory_of_the_given_url)
{
    static const row rows[] = {
        {"https://e.example/docs/", "https://e.example/docs/a/b?c", true},
        {"https://e.example/docs/", "https://e.example/docs/", true},
        {"https://e.example/docs/i.html", "http://e.example/docs/x", true},
        {"https://e.example/docs/", "https://e.example/docs", false}, /* no slash */
        {"https://e.example/docs/", "https://e.example/docs2/", false},
        {"https://e.example/docs/", "https://e.example/doc/s/", false},
        {"https://e.example/docs/", "https://e.example/", false},
        {"https://e.example/docs/", "https://e.example/a/docs/", false},
        {"https://e.example/docs", "https://e.example/other", true}, /* directory: / */
        {"https://e.example", "https://e.example/any", true},
        {"https://e.example/a/?x=/b/", "https://e.example/a/c", true}, /* path alone */
        {"https://e.example/docs/", "https://www.e.example/docs/", false},
        {"https://e.example/docs/", "https://e.example:81/docs/", false},
        {"https://e.example/%7eme/", "https://e.example/~me/x", true}, /* one key */
        {"https://e.example/~me/", "https://e.example/%7Eme/x", true},
        {"https://e.example/a%2fb/", "https://e.example/a%2Fb/c", true},
        {"https://e.example/a%2fb/", "https://e.example/a/b/c", false},
        {"https://e.example/docs/", "https://e.example/docs/../x", false},
        {"https://e.example//a//", "https://e.example//a//b", true},
        {"https://e.example//a//", "https://e.example/a/b", false},
    };

    EACH_ROW(i, rows)
        check_row_of(SEINE_SCOPE_PREFIX, &rows[i]);
}

TEST(scope_prefix_knows_directories_of_any_depth)
{
    char seed[400] = "https://e.example", link[500];
    sn_scope *s;

    for (int i = 0; i < 80; i++)
        snprintf(seed + strlen(seed), sizeof seed - strlen(seed), "/d%d", i);
    snprintf(link, sizeof link, "%s/x", seed);
    s = around(SEINE_SCOPE_PREFIX, link);
    CHECK(has(s, link));
    CHECK(!has(s, seed)); /* one level above */
    snprintf(link, sizeof link, "%s/x/y/z", seed);
    CHECK(has(s, link));
    sn_scope_free(s);
}

TEST(scope_any_is_everything)
{
    sn_scope *s = around(SEINE_SCOPE_ANY, "https://e.example/");

    CHECK(has(s, "http://other.example:99/x"));
    sn_scope_free(s);
}

TEST(scope_has_room_for_all_seeds)
{
    static const seine_scope kinds[] = {SEINE_SCOPE_HOST, SEINE_SCOPE_PREFIX};

    EACH_ROW(k, kinds) {
        rules r;
        parsed p;
        char text[64];
        sn_scope *s = scope_of(crawl_of(&r, kinds[k]));

        for (int i = 0; i < 3000; i++) {
            snprintf(text, sizeof text, "http://h%d.example/%d/", i % 700, i);
            CHECK_EQ(sn_scope_seed(s, url_of(&p, text)), SEINE_OK);
        }
        for (int i = 0; i < 3000; i++) {
            snprintf(text, sizeof text, "http://h%d.example/%d/x", i % 700, i);
            CHECK(has(s, text));
            snprintf(text, sizeof text, "http://h%d.example/%d/", i % 700, i + 1);
            CHECK_EQ(has(s, text), kinds[k] == SEINE_SCOPE_HOST);
        }
        CHECK(!has(s, "http://h700.example/0/"));
        sn_scope_free(s);
    }
}

TEST(scope_takes_named_hosts_besides)
{
    static const char *const named[] = {"cdn.example",     ".dot.example",
                                        "*.star.example",  "img*.e.example",
                                        "port.example:81", "10.0.0.5",
                                        "[::1]:8080",      "B\303\274cher.example",
                                        "mirror?.example", NULL};
    static const struct {
        const char *url;
        bool in;
    } rows[] = {
        {"http://cdn.example:99/", true},
        {"http://a.b.cdn.example/", true}, /* as wget -D */
        {"http://xcdn.example/", false},
        {"http://dot.example/", true},
        {"http://a.dot.example/", true},
        {"http://star.example/", true}, /* the star means all of it */
        {"http://a.b.star.example/", true},
        {"http://img7.e.example/", true},
        {"http://img.a.e.example/", true}, /* a star takes dots */
        {"http://a.img.e.example/", false},
        {"http://port.example:81/", true},
        {"http://a.port.example:81/", true},
        {"http://port.example/", false},
        {"http://10.0.0.5/", true},
        {"http://10.0.0.50/", false},
        {"http://[::1]:8080/", true},
        {"http://[::1]/", false},
        {"http://xn--bcher-kva.example/", true},
        {"http://mirror1.example/", true},
        {"http://mirror10.example/", false},
        {"http://example/", false},
    };
    static const seine_scope kinds[] = {SEINE_SCOPE_HOST, SEINE_SCOPE_PREFIX,
                                        SEINE_SCOPE_DOMAIN};

    for (size_t k = 0; k < 3; k++) {
        rules r;
        parsed p;

        crawl_of(&r, kinds[k])->crawl.domains = named;
        sn_scope *s = scope_of(&r);
        CHECK_EQ(sn_scope_seed(s, url_of(&p, "http://seed.test/a/")), SEINE_OK);
        EACH_ROW(i, rows)
            CHECK_EQ(has(s, rows[i].url), rows[i].in);
        CHECK(has(s, "http://seed.test/a/b"));
        sn_scope_free(s);
    }
}

TEST(scope_judges_given_urls_by_exclude_alone)
{
    static const char *const include[] = {"/docs/", "/api/", NULL};
    static const char *const exclude[] = {"\\.pdf$", "secret", NULL};
    static const struct {
        const char *url, *found, *given;
        seine_skip reason;
    } rows[] = {
        {"http://e.example/docs/", "in", "in", 0},
        {"http://e.example/x", "include none of 2", "in", SEINE_SKIP_PATTERN},
        {"http://e.example/docs/a.pdf", "exclude '\\.pdf$'", "exclude '\\.pdf$'",
         SEINE_SKIP_PATTERN},
        {"http://e.example/docs/a.pdf?x", "in", "in", 0},
        {"http://e.example/docs/a.pdf#x", "exclude '\\.pdf$'", "exclude '\\.pdf$'",
         SEINE_SKIP_PATTERN}, /* a fragment is never asked for */
        {"http://o.example/docs/", "scope host", "in", SEINE_SKIP_OFFSITE},
        {"http://o.example/docs/secret", "scope host", "exclude 'secret'",
         SEINE_SKIP_OFFSITE}, /* where it lies comes first */
    };
    rules r;
    parsed p;
    sn_scope_verdict got;

    crawl_of(&r, SEINE_SCOPE_HOST);
    r.opts.include = include;
    r.opts.exclude = exclude;
    sn_scope *s = scope_of(&r);
    CHECK_EQ(sn_scope_seed(s, url_of(&p, "http://e.example/")), SEINE_OK);
    EACH_ROW(i, rows) {
        CHECK_STR(rule(s, rows[i].url, true, &got), rows[i].given);
        CHECK_STR(rule(s, rows[i].url, false, &got), rows[i].found);
        if (!got.in)
            CHECK_EQ(got.reason, rows[i].reason);
    }
    sn_scope_free(s);
}

TEST(scope_of_a_fetch_is_its_patterns)
{
    static const char *const include[] = {"/docs/", NULL};
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    sn_scope *s = NULL;
    sn_scope_verdict got;
    parsed p;

    CHECK_EQ(sn_scope_new(&o, &s, NULL), SEINE_OK);
    CHECK_EQ(sn_scope_seed(s, url_of(&p, "http://e.example/")), SEINE_OK);
    CHECK_STR(rule(s, "http://o.example/", true, &got), "in");
    CHECK_STR(rule(s, "http://o.example/", false, &got), "in"); /* a redirect's */
    sn_scope_free(s);
    o.include = include;
    CHECK_EQ(sn_scope_new(&o, &s, NULL), SEINE_OK);
    CHECK_STR(rule(s, "http://o.example/docs/", true, &got), "in");
    CHECK_STR(rule(s, "http://o.example/", true, &got), "include none of 1");
    sn_scope_free(s);
}

TEST(scope_goes_with_a_seed_that_redirects_in_its_domain)
{
    static const struct {
        seine_scope scope;
        const char *from, *to, *url;
        bool in;
    } rows[] = {
        {SEINE_SCOPE_HOST, "http://e.example/", "https://www.e.example/",
         "https://www.e.example/x", true},
        {SEINE_SCOPE_HOST, "http://e.example/", "https://www.e.example/",
         "https://e.example/x", true}, /* the old one stays in */
        {SEINE_SCOPE_HOST, "http://e.example/", "https://other.example/",
         "https://other.example/", false},
        {SEINE_SCOPE_HOST, "http://a.github.io/", "http://b.github.io/",
         "http://b.github.io/", false},
        {SEINE_SCOPE_HOST, "http://10.0.0.5/", "http://10.0.0.5:8080/",
         "http://10.0.0.5:8080/x", true},
        {SEINE_SCOPE_HOST, "http://10.0.0.5/", "http://10.0.0.6/", "http://10.0.0.6/",
         false},
        {SEINE_SCOPE_PREFIX, "http://e.example/docs/", "https://www.e.example/docs/",
         "https://www.e.example/docs/x", true},
        {SEINE_SCOPE_PREFIX, "http://e.example/docs/", "https://www.e.example/docs/",
         "https://www.e.example/x", false},
        {SEINE_SCOPE_PREFIX, "http://e.example/docs/", "http://e.example/docs/4.2/",
         "http://e.example/docs/4.2/x", true}, /* below: was in before */
        {SEINE_SCOPE_PREFIX, "http://e.example/docs/latest/",
         "http://e.example/docs/4.2/", "http://e.example/docs/4.2/x", true}, /* beside */
        {SEINE_SCOPE_PREFIX, "http://e.example/docs/a/", "http://e.example/login",
         "http://e.example/shop", false}, /* above: that is not what was asked for */
        {SEINE_SCOPE_PREFIX, "http://e.example/docs/a/", "http://www.e.example/",
         "http://www.e.example/docs/a/x",
         true}, /* above, elsewhere: the directory stays */
        {SEINE_SCOPE_PREFIX, "http://e.example/docs/a/", "http://www.e.example/",
         "http://www.e.example/x", false},
        {SEINE_SCOPE_DOMAIN, "http://e.example/", "http://other.example/",
         "http://other.example/", false},
        {SEINE_SCOPE_ANY, "http://e.example/", "http://other.example/",
         "http://third.example/", true},
    };

    EACH_ROW(i, rows) {
        parsed from, to;
        sn_scope *s = around(rows[i].scope, rows[i].from);

        CHECK_EQ(sn_scope_widen(s, url_of(&from, rows[i].from), url_of(&to, rows[i].to)),
                 SEINE_OK);
        CHECK_EQ(has(s, rows[i].url), rows[i].in);
        sn_scope_free(s);
    }
}

TEST(scope_knows_where_a_seed_has_led_it)
{
    static const struct {
        const char *to, *url;
        bool was;
    } rows[] = {
        {"https://e.example/", "https://e.example/", true},
        {"https://e.example/", "http://e.example/", true}, /* one host */
        {"https://e.example/", "https://e.example/x", false},
        {"https://www.e.example/a?b=c", "https://www.e.example/a?b=c", true},
        {"https://www.e.example/a?b=c", "https://www.e.example/a", false},
        {"https://www.e.example/a/b", "https://www.e.example/a/c", false},
        {"https://www.e.example:8443/", "https://www.e.example/", false},
        {"https://other.example/", "https://other.example/", false}, /* it did not go */
    };

    EACH_ROW(i, rows) {
        parsed from, to, url;
        sn_scope *s = around(SEINE_SCOPE_HOST, "http://e.example/");

        CHECK_EQ(sn_scope_was_target(s, url_of(&url, rows[i].url)), false);
        CHECK_EQ(sn_scope_widen(s, url_of(&from, "http://e.example/"),
                                url_of(&to, rows[i].to)),
                 SEINE_OK);
        CHECK_EQ(sn_scope_was_target(s, url_of(&url, rows[i].url)), rows[i].was);
        sn_scope_free(s);
    }
}

TEST(scope_refuses_what_a_pattern_cannot_decide_and_says_so)
{
    static const char *const bomb[] = {"(a+)+$", NULL};
    char url[64] = "http://e.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    rules r;
    parsed p;
    sn_scope_verdict got;

    for (int round = 0; round < 2; round++) {
        crawl_of(&r, SEINE_SCOPE_HOST);
        r.opts.include = round ? bomb : NULL;
        r.opts.exclude = round ? NULL : bomb;
        sn_scope *s = scope_of(&r);
        CHECK_EQ(sn_scope_seed(s, url_of(&p, "http://e.example/")), SEINE_OK);
        CHECK_STR(rule(s, url, false, &got), round ? "include '(a+)+$': pattern_budget"
                                                   : "exclude '(a+)+$': pattern_budget");
        CHECK_EQ(got.reason, SEINE_SKIP_PATTERN);
        sn_scope_free(s);
    }
}

TEST(scope_cuts_the_rule_of_a_long_pattern_at_a_character)
{
    char text[600] = "";
    const char *list[] = {text, NULL};
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    sn_scope *s = NULL;
    sn_scope_verdict got;

    for (int i = 0; i < 60; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s", "(\303\274|e)?");
    for (int shift = 0; shift < 3; shift++) {
        memmove(text + 1, text, strlen(text) + 1);
        text[0] = '^';
        o.exclude = list;
        CHECK_EQ(sn_scope_new(&o, &s, NULL), SEINE_OK);
        rule(s, "http://e.example/", true, &got);
        CHECK(!got.in && got.len < sizeof got.rule && got.len > 140);
        CHECK(sn_utf8_valid((sn_str){got.rule, got.len}));
        CHECK(sn_str_ends((sn_str){got.rule, got.len}, SN_STR("\342\200\246'")));
        sn_scope_free(s);
    }
}

TEST(scope_refuses_bad_options_with_one_line)
{
    static const struct {
        const char *include, *exclude, *domain, *why;
    } rows[] = {
        {"(", NULL, NULL, "include '(': missing closing parenthesis (at byte 1)"},
        {NULL, "a(b", NULL, "exclude 'a(b': missing closing parenthesis (at byte 3)"},
        {NULL, "(a)\\1", NULL,
         "exclude '(a)\\1': back-references are not allowed (at byte 5)"},
        {NULL, NULL, "", "domains '': not the name of a host"},
        {NULL, NULL, "https://e.example",
         "domains 'https://e.example': a URL, not the name of a host"},
        {NULL, NULL, "e.example/x", "domains 'e.example/x': not the name of a host"},
        {NULL, NULL, "*.e.example/", "domains '*.e.example/': not the name of a host"},
        {NULL, NULL, "a@e.example", "domains 'a@e.example': not the name of a host"},
        {NULL, NULL, "e.example:0", "domains 'e.example:0': not a port"},
        {NULL, NULL, "e.example:65536", "domains 'e.example:65536': not a port"},
        {NULL, NULL, "a..b", "domains 'a..b': not the name of a host"},
        {NULL, NULL, "e example", "domains 'e example': not the name of a host"},
        {NULL, NULL, "\303\274*.example",
         "domains '\303\274*.example': not the name of a host"},
        {NULL, NULL, "*", NULL}, /* is fine */
    };

    EACH_ROW(i, rows) {
        const char *include[] = {rows[i].include, NULL};
        const char *exclude[] = {rows[i].exclude, NULL};
        const char *domains[] = {rows[i].domain, NULL};
        seine_diag diag = SEINE_DIAG;
        sn_scope *s = NULL;
        rules r;

        crawl_of(&r, SEINE_SCOPE_HOST)->crawl.domains = domains;
        r.opts.include = include;
        r.opts.exclude = exclude;
        CHECK_EQ(sn_scope_new(&r.opts, &s, &diag),
                 rows[i].why ? SEINE_E_CONFIG : SEINE_OK);
        CHECK_STR(diag_line(&diag), rows[i].why ? rows[i].why : "");
        if (rows[i].why)
            CHECK_EQ(sn_scope_new(&r.opts, &s, NULL), SEINE_E_CONFIG);
        sn_scope_free(s);
    }
}

TEST(scope_names_options_as_the_caller_does)
{
    static const seine_diag_name names[] = {
        {"scope", "--scope"}, {"exclude", "--not"}, {"include", "--only"}, {NULL, NULL}};
    const char *include[] = {"docs", "(a+)+$", NULL}, *exclude[] = {"pdf", NULL};
    sn_scope_verdict got;
    parsed p;
    rules r;

    crawl_of(&r, SEINE_SCOPE_DOMAIN)->opts.names = names;
    r.opts.include = include;
    r.opts.exclude = exclude;
    sn_scope *s = scope_of(&r);
    CHECK_EQ(sn_scope_seed(s, url_of(&p, "http://e.example/")), SEINE_OK);
    CHECK_STR(rule(s, "http://o.example/", false, &got), "--scope domain");
    CHECK_STR(rule(s, "http://e.example/pdf", false, &got), "--not 'pdf'");
    CHECK_STR(rule(s, "http://e.example/x", false, &got), "--only none of 2");
    sn_scope_free(s);
}

TEST(scope_takes_no_scope_but_the_four)
{
    seine_diag diag = SEINE_DIAG;
    sn_scope *s = NULL;
    rules r;

    crawl_of(&r, (seine_scope)4);
    CHECK_EQ(sn_scope_new(&r.opts, &s, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag), "scope: host, domain, prefix or any");
    sn_scope_free(s);
}

TEST(scope_survives_every_allocation_that_fails)
{
    static const char *const include[] = {"/", NULL}, *const exclude[] = {"x$", NULL};
    static const char *const domains[] = {"a.example", "b*.example", NULL};

    FAIL_EACH(f)
    {
        rules r;
        parsed p, q;
        sn_scope_verdict got;
        sn_scope *s = NULL;

        crawl_of(&r, SEINE_SCOPE_PREFIX)->crawl.domains = domains;
        r.opts.include = include;
        r.opts.exclude = exclude;
        seine_err e = sn_scope_new(&r.opts, &s, NULL);
        if (e == SEINE_OK)
            e = sn_scope_seed(s, url_of(&p, "http://e.example/a/"));
        if (e == SEINE_OK)
            e = sn_scope_widen(s, &p.url, url_of(&q, "http://w.e.example/"));
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        if (e == SEINE_OK) {
            sn_scope_judge(s, &p.url, false, &got);
            CHECK(got.in || strcmp(got.rule, "no memory to match a pattern") == 0);
        }
        sn_scope_free(s);
    }
}

enum { THREADS = 4, EACH = 100 };

typedef struct work {
    sn_scope *s;
    int nth;
} work;

/* Each seeds hosts of its own and finds every one of them right after. */
static void *
seed_and_judge(void *arg)
{
    const work *w = arg;
    char text[64];
    parsed p;
    sn_scope_verdict got;

    for (int i = 0; i < EACH; i++) {
        snprintf(text, sizeof text, "http://h%d.example/%d/x", i % 10, w->nth * EACH + i);
        CHECK_EQ(sn_scope_seed(w->s, url_of(&p, text)), SEINE_OK);
        sn_scope_judge(w->s, &p.url, false, &got);
        CHECK(got.in);
        sn_scope_judge(w->s, url_of(&p, "http://h0.example/x"), false, &got);
        CHECK(!got.in);
    }
    return NULL;
}

TEST_THREADS(scope_is_seeded_and_asked_from_threads)
{
    static const char *const include[] = {"h[0-9]+", NULL};
    pthread_t threads[THREADS];
    work works[THREADS];
    rules r;

    crawl_of(&r, SEINE_SCOPE_PREFIX)->opts.include = include;
    sn_scope *s = scope_of(&r);
    for (int i = 0; i < THREADS; i++) {
        works[i] = (work){s, i};
        CHECK_EQ(pthread_create(&threads[i], NULL, seed_and_judge, &works[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS * EACH; i++) {
        char text[64];

        snprintf(text, sizeof text, "http://h%d.example/%d/", i % EACH % 10, i);
        CHECK(has(s, text));
    }
    sn_scope_free(s);
}
