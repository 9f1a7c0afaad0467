/* SPDX-License-Identifier: Apache-2.0 */
#include "text/file_name.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

/* The name of a URL, in the static buffer. */
static const char *
name_of(const char *text, const char *type)
{
    static char got[2 * SN_FILE_PATH];
    char mem[SEINE_URL_ROOM];
    seine_url u;
    sn_buf out;

    sn_buf_init(&out, sizeof got - 1);
    seine_url_init(&u, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&u, text, strlen(text), NULL), SEINE_OK);
    CHECK_EQ(sn_file_name_of_url(&u, sn_str_of(type), &out), SEINE_OK);
    CHECK(sn_file_name_is_safe(sn_buf_view(&out)));
    memcpy(got, out.ptr, out.len + 1);
    sn_buf_fini(&out);
    return got;
}

TEST(file_name_is_the_host_and_the_path)
{
    static const struct {
        const char *url, *type, *want;
    } rows[] = {
        {"https://e.example/", "text/html", "e.example/index.html"},
        {"https://e.example/a/b.html", "text/html", "e.example/a/b.html"},
        {"https://e.example/a/", "text/html; charset=utf-8", "e.example/a/index.html"},
        {"https://e.example/a", "text/html", "e.example/a.html"},
        {"https://e.example/a.php", "text/html", "e.example/a.php.html"},
        {"https://e.example/feed/", "application/rss+xml", "e.example/feed/index"},
        {"https://e.example/i/", "image/png", "e.example/i/index.png"},
        {"https://e.example/a.HTM", "text/html", "e.example/a.HTM"},
        {"https://e.example/p?x=1&y=2", "text/html", "e.example/p@x=1&y=2.html"},
        {"https://e.example/?x", "text/html", "e.example/index@x.html"},
        {"https://e.example/s.css?v=3", "text/css", "e.example/s.css@v=3.css"},
        {"https://e.example/x.html", "text/plain", "e.example/x.html.txt"},
        {"https://e.example/x.tar.gz", "application/gzip", "e.example/x.tar.gz"},
        {"https://e.example/README", "text/plain", "e.example/README"},
        {"https://e.example/a.b/c", "application/octet-stream", "e.example/a.b/c"},
        /* ports and schemes are other sites */
        {"http://e.example/", "text/html", "e.example+80/index.html"},
        {"http://127.0.0.1:8080/a.png", "image/png", "127.0.0.1+8080/a.png"},
        {"https://e.example:8443/", "text/html", "e.example+s8443/index.html"},
        {"https://[::1]/", "text/html", "[%3A%3A1]/index.html"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(name_of(rows[i].url, rows[i].type), rows[i].want);
}

TEST(file_name_of_a_nasty_url_is_harmless)
{
    static const struct {
        const char *url, *want;
    } rows[] = {
        {"https://e.example/a:b*?", "e.example/a%3Ab%2A"},
        {"https://e.example/a|b", "e.example/a%7Cb"},
        {"https://e.example/CON", "e.example/%43ON"},
        {"https://e.example/con.txt", "e.example/%63on.txt"},
        {"https://e.example/lpt1/x", "e.example/%6Cpt1/x"},
        {"https://e.example/console", "e.example/console"},
        {"https://e.example/..%2f..%2fetc/passwd", "e.example/%2E.%2F..%2Fetc/passwd"},
        {"https://e.example/%2e%2e/%2e%2e/x", "e.example/x"},
        {"https://e.example/..%5c..%5cx", "e.example/%2E.%5C..%5Cx"},
        {"https://e.example/a./b", "e.example/a%2E/b"},
        {"https://e.example/a%20/b%20", "e.example/a%20/b%20"},
        {"https://e.example/.htaccess", "e.example/%2Ehtaccess"},
        {"https://e.example/-rf", "e.example/%2Drf"},
        {"https://e.example/a//b", "e.example/a/_/b"},
        {"https://e.example/%00%0a%ff", "e.example/%00%0A%FF"},
        {"https://e.example/caf\xc3\xa9", "e.example/caf%C3%A9"},
        {"https://e.example/x?../../y", "e.example/x@..%2F..%2Fy"},
        {"https://e.example/x?a=<\"\\>|*:", "e.example/x@a=%3C%22%5C%3E%7C%2A%3A"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(name_of(rows[i].url, ""), rows[i].want);
}

TEST(file_name_that_is_too_long_is_cut_and_told_apart)
{
    char url[2100] = "https://e.example/", first[SN_FILE_PATH];
    size_t at = strlen(url);

    memset(url + at, 'a', 300);
    snprintf(url + at + 300, 10, "1.html");
    snprintf(first, sizeof first, "%s", name_of(url, "text/html"));
    CHECK_EQ(strlen(first), strlen("e.example/") + SN_FILE_PART);
    CHECK(strstr(first, ".html"));
    url[at + 300] = '2';
    CHECK(strcmp(first, name_of(url, "text/html")) != 0);
    /* 300 directories are too long as a whole */
    url[at] = '\0';
    for (int i = 0; i < 300; i++)
        snprintf(url + at + 4 * i, 5, "dir/");
    CHECK(strlen(name_of(url, "text/html")) <= SN_FILE_PATH);
    CHECK(strncmp(name_of(url, "text/html"), "e.example/long-names/~", 22) == 0);
}

TEST(file_name_apart_keeps_the_extension)
{
    sn_buf a, b;

    sn_buf_init(&a, 1000);
    sn_buf_init(&b, 1000);
    CHECK_EQ(sn_file_name_apart(SN_STR("h/a.b/c.html"), SN_STR("k"), 0, &a), SEINE_OK);
    CHECK_EQ(a.len, strlen("h/a.b/c.html") + 1 + SN_FILE_HASH);
    CHECK(strncmp(a.ptr, "h/a.b/c~", 8) == 0 && strstr(a.ptr, ".html"));
    CHECK_EQ(sn_file_name_apart(SN_STR("h/a.b/c.html"), SN_STR("k"), 1, &b), SEINE_OK);
    CHECK(strcmp(a.ptr, b.ptr) != 0);
    sn_buf_fini(&a);
    sn_buf_fini(&b);
}

static const char *
header_name(const char *value)
{
    static char got[1000];
    sn_buf out;

    sn_buf_init(&out, sizeof got - 1);
    CHECK_EQ(sn_file_name_of_header(sn_str_of(value), &out), SEINE_OK);
    CHECK(out.len == 0 || sn_file_name_is_safe(sn_buf_view(&out)));
    got[0] = '\0';
    if (out.len > 0)
        memcpy(got, out.ptr, out.len + 1);
    sn_buf_fini(&out);
    return got;
}

TEST(file_name_of_a_content_disposition)
{
    static const struct {
        const char *value, *want;
    } rows[] = {
        {"attachment; filename=a.pdf", "a.pdf"},
        {"attachment; filename=\"a b.pdf\"", "a b.pdf"},
        {"attachment; filename=\"a\\\"b.pdf\"", "a%22b.pdf"},
        {"attachment; FileName = a.pdf ; x=y", "a.pdf"},
        {"attachment; filename=x; filename*=UTF-8''na%C3%AFve.txt", "na\xc3\xafve.txt"},
        {"attachment; filename*=UTF-8''a; filename=x", "a"},
        {"attachment; filename*=iso-8859-1''a%e9; filename=x", "x"},
        {"attachment; filename=\"../../etc/passwd\"", "passwd"},
        {"attachment; filename=\"C:\\\\x\\\\y.exe\"", "y.exe"},
        {"attachment; filename=/etc/", ""},
        {"attachment; filename=..", "%2E%2E"},
        {"attachment; filename=.bashrc", "%2Ebashrc"},
        {"attachment; filename=\"a;b.txt\"", "a;b.txt"},
        {"attachment; filename*=UTF-8''a%2Fb%00c", "b%00c"},
        {"attachment; filename*=UTF-8''a%E2%80%AEfdp.exe", "a%E2%80%AEfdp.exe"},
        {"attachment", ""},
        {"inline; name=\"x\"", ""},
        {"", ""},
    };

    EACH_ROW(i, rows)
        CHECK_STR(header_name(rows[i].value), rows[i].want);
}

TEST(file_name_of_a_download_is_the_last_part)
{
    static const struct {
        const char *url, *want;
    } rows[] = {
        {"https://e.example/b/a.pdf?x=1#y", "a.pdf"},
        {"https://e.example/", "index.html"},
        {"https://e.example/b/", "index.html"},
        {"https://e.example/..%2fx", "%2E.%2fx"},
        {"https://e.example/-x", "%2Dx"},
    };

    EACH_ROW(i, rows) {
        char mem[SEINE_URL_ROOM];
        seine_url u;
        sn_buf out;

        sn_buf_init(&out, 1000);
        seine_url_init(&u, mem, sizeof mem);
        CHECK_EQ(seine_url_parse(&u, rows[i].url, strlen(rows[i].url), NULL), SEINE_OK);
        CHECK_EQ(sn_file_name_of_last(&u, &out), SEINE_OK);
        CHECK_STR(out.ptr, rows[i].want);
        sn_buf_fini(&out);
    }
}

TEST(file_name_is_safe_or_not)
{
    static const char *const bad[] = {"",   "/a",   "a/",   "a//b", "..", "a/../b",
                                      ".",  "a\nb", "a:b",  "nul",  "a.", "a ",
                                      "-a", "\xff", "a/.b", "NUL.x"};

    EACH_ROW(i, bad)
        CHECK(!sn_file_name_is_safe(sn_str_of(bad[i])));
    CHECK(sn_file_name_is_safe(SN_STR("a/b c/d.html")));
}
