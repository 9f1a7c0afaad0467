/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/chaos.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"

/* What needs sockets is in tests/integ/test_chaos.c. */

typedef struct listing {
    char text[65536];
    size_t len, calls, stop;
} listing;

static bool
keep(const char *lines, size_t len, void *arg)
{
    listing *l = arg;

    CHECK(len > 0 && lines[len - 1] == '\n');
    if (l->len + len < sizeof l->text)
        memcpy(l->text + l->len, lines, len);
    l->len += len;
    return ++l->calls != l->stop;
}

TEST(the_truth_about_a_site_needs_no_server)
{
    static listing l;
    seine_diag diag = {.text = "old"};

    l = (listing){.len = 0};
    CHECK_EQ(seine_chaos_site("1:3", "http://e.org:81/", 9, keep, &l, &diag), SEINE_OK);
    CHECK_STR(diag.text, "");
    CHECK_STR(l.text, "{\"url\":\"http://e.org:81/p/"
                      "0\",\"status\":200,\"kind\":\"page\",\"error\":null}\n"
                      "{\"url\":\"http://e.org:81/p/"
                      "1\",\"status\":200,\"kind\":\"page\",\"error\":null}\n"
                      "{\"url\":\"http://e.org:81/p/"
                      "2\",\"status\":200,\"kind\":\"page\",\"error\":null}\n");
    l = (listing){.len = 0};
    CHECK_EQ(seine_chaos_site("1:1:hosts=2", "http://a.test:81/site:1:1:hosts=2", 9, keep,
                              &l, NULL),
             SEINE_OK);
    CHECK(strstr(l.text, "\"http://h0.test:81/site:1:1:hosts=2/p/0\""));
    l = (listing){.len = 0};
    CHECK_EQ(seine_chaos_site("1:1:hosts=2", "https://a.test", 9, keep, &l, NULL),
             SEINE_OK);
    CHECK(strstr(l.text, "\"https://h0.test/p/0\""));
    l = (listing){.stop = 2};
    CHECK_EQ(seine_chaos_site("1:10000", "http://a", 9, keep, &l, NULL),
             SEINE_E_CANCELED);
    CHECK_EQ(l.calls, 2);
}

TEST(a_site_or_a_base_that_makes_no_sense_is_named)
{
    static const struct {
        const char *spec, *base, *member, *text;
    } rows[] = {
        {"x", "http://a", "spec", "a site starts with its seed, a number"},
        {"1:1", "ftp://a", "base", "a base is http://HOST:PORT"},
        {"1:1", "https://", "base", "a base is http://HOST:PORT"},
        {"1:1", "http://", "base", "a base is http://HOST:PORT"},
        {"1:1", "http://a:x", "base", "a base is http://HOST:PORT"},
        {"1:1", "http://a:70000", "base", "a base is http://HOST:PORT"},
        {"1:1", "http://a\"b", "base", "a base is http://HOST:PORT"},
        {"1:1", "", "base", "a base is http://HOST:PORT"},
    };

    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;
        listing *none = NULL;

        CHECK_EQ(seine_chaos_site(rows[i].spec, rows[i].base, 1, keep, none, &diag),
                 SEINE_E_INVAL);
        CHECK_STR(diag.member, rows[i].member);
        CHECK_STR(diag.text, rows[i].text);
    }
}

TEST(a_script_is_checked_without_being_served)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_chaos_check("", &diag), SEINE_OK);
    CHECK_EQ(seine_chaos_check("{\"fault\":\"ok\"}\n{\"fault\":\"frob\"}\n", &diag),
             SEINE_E_CONFIG);
    CHECK_EQ(diag.line, 2);
    CHECK_STR(diag.text, "no such word");
    CHECK_EQ(seine_chaos_check("{", NULL), SEINE_E_CONFIG);
}

TEST(options_that_make_no_sense_start_nothing)
{
    static const char *const listens[] = {"x",        "127.0.0.1:",   "127.0.0.1:70000",
                                          "e.org:80", "1.2.3.4.5:80", "127.0.0.1:-1"};
    seine_chaos *none = NULL;

    EACH_ROW(i, listens) {
        seine_chaos_opts opts = SEINE_CHAOS_OPTS;

        opts.listen = listens[i];
        CHECK_EQ(seine_chaos_new(&opts, &none), SEINE_E_INVAL);
    }
    seine_chaos_opts script = SEINE_CHAOS_OPTS;
    script.script = "{";
    CHECK_EQ(seine_chaos_new(&script, &none), SEINE_E_CONFIG);
    seine_chaos_opts files = SEINE_CHAOS_OPTS;
    files.files = "/dev/null";
    CHECK_EQ(seine_chaos_new(&files, &none), SEINE_E_UNKNOWN);
    CHECK(!none);
    seine_chaos_free(NULL);
    seine_chaos_text_free(NULL);
}

TEST(without_memory_a_list_ends_with_an_error)
{
    FAIL_EACH(r)
    {
        static listing l;

        l = (listing){.len = 0};
        seine_err e = seine_chaos_site("1:3", "http://a", 1, keep, &l, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
    }
}
