/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/url.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "text/url.h"

#define BASE "http://user:pw@host:8080/a/b/c?q#f"

/* A URL with its memory. */
typedef struct made {
    char mem[SEINE_URL_ROOM];
    seine_url u;
    seine_url_flaw flaw;
    seine_err err;
} made;

static void
resolve(made *m, const char *base, const char *ref, size_t len)
{
    static made b;

    seine_url_init(&m->u, m->mem, sizeof m->mem);
    m->flaw = (seine_url_flaw){SEINE_URL_NONE, 0};
    if (!base) {
        m->err = seine_url_parse(&m->u, ref, len, &m->flaw);
        return;
    }
    seine_url_init(&b.u, b.mem, sizeof b.mem);
    CHECK_EQ(seine_url_parse(&b.u, base, strlen(base), NULL), SEINE_OK);
    m->err = seine_url_resolve(&m->u, &b.u, ref, len, &m->flaw);
}

/* The same parts at the same places. */
static bool
same(const seine_url *a, const seine_url *b)
{
    return a->len == b->len && memcmp(a->href, b->href, a->len) == 0 &&
           a->scheme_end == b->scheme_end && a->user_end == b->user_end &&
           a->password_end == b->password_end && a->host_at == b->host_at &&
           a->host_end == b->host_end && a->path_at == b->path_at &&
           a->path_end == b->path_end && a->query_end == b->query_end &&
           a->port == b->port && a->scheme == b->scheme && a->host == b->host &&
           a->opaque == b->opaque;
}

static const char *
href(const char *base, const char *ref)
{
    static made m;

    resolve(&m, base, ref, strlen(ref));
    CHECK(m.err == SEINE_OK || m.err == SEINE_E_BAD_URL);
    CHECK((m.err == SEINE_OK) == (m.flaw.kind == SEINE_URL_NONE));
    return m.err == SEINE_OK ? m.mem : seine_url_flaw_text(m.flaw.kind);
}

static const char *
text_of(seine_view part)
{
    static char copies[8][512];
    static unsigned turn;
    char *copy = copies[turn++ % 8];

    snprintf(copy, sizeof copies[0], "%.*s", (int)part.len, part.ptr);
    return copy;
}

static const char *
flaw(seine_url_flaw_kind kind)
{
    return seine_url_flaw_text(kind);
}

typedef struct pair {
    const char *ref, *want;
} pair;

/* The states, in the order of the standard (4.4). */

TEST(url_ignores_blanks_around_and_breaks_inside)
{
    static const pair rows[] = {
        {"  \t http://h/p \r\n ", "http://h/p"},
        {"\x01\x1fhttp://h/\x1f", "http://h/"}, /* control characters too */
        {"ht\ntp:\t//h\r/p\n?q\t#f\n", "http://h/p?q#f"},
        {"http://h/\v", "http://h/"},      /* a vertical tab at the end */
        {"http://h/\vx", "http://h/%0Bx"}, /* inside it stays */
        {"http://h/a b", "http://h/a%20b"},
        {" ", "http://user:pw@host:8080/a/b/c?q"},
        {"\t", "http://user:pw@host:8080/a/b/c?q"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(BASE, rows[i].ref), rows[i].want);
}

TEST(url_scheme_is_a_letter_then_letters_digits_plus_minus_dot)
{
    static const pair rows[] = {
        {"HtTpS://h", "https://h/"},
        {"a+b-c.9:x", "a+b-c.9:x"},
        {"A:x", "a:x"},
        {"x", "http://user:pw@host:8080/a/b/x"},
        {"9a:x", "http://user:pw@host:8080/a/b/9a:x"},
        {"+a:x", "http://user:pw@host:8080/a/b/+a:x"},
        {"a_b:x", "http://user:pw@host:8080/a/b/a_b:x"},
        {":x", "http://user:pw@host:8080/a/b/:x"},
        {"\xc3\xa9:x", "http://user:pw@host:8080/a/b/%C3%A9:x"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(BASE, rows[i].ref), rows[i].want);
}

TEST(url_that_is_relative_needs_a_base_with_a_path)
{
    static const struct {
        const char *base, *ref, *want;
    } rows[] = {
        {NULL, "/x", "relative, and there is no base"},
        {NULL, "", "relative, and there is no base"},
        {NULL, "#f", "relative, and there is no base"},
        {"mailto:a", "x", "relative to a base that has no path"},
        {"mailto:a", "", "relative to a base that has no path"},
        {"mailto:a?q#f", "?x", "relative to a base that has no path"},
        {"mailto:a?q#f", "#g", "mailto:a?q#g"},
        {"mailto:a?q#f", "#", "mailto:a?q#"},
        {"mailto:a", "http:x", "http://x/"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(rows[i].base, rows[i].ref), rows[i].want);
}

TEST(url_of_a_special_scheme_needs_no_slashes)
{
    static const pair rows[] = {
        {"http:h/p", "http://h/p"},     {"http:/h/p", "http://h/p"},
        {"http:////h/p", "http://h/p"}, {"http:\\\\h\\p", "http://h/p"},
        {"ws:/\\/h", "ws://h/"},        {"ftp:h", "ftp://h/"},
        {"wss:h", "wss://h/"},          {"http:", "no host"},
        {"http://", "no host"},         {"http:///", "no host"},
        {"http://?q", "no host"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(NULL, rows[i].ref), rows[i].want);
}

TEST(url_with_the_scheme_of_its_base_may_be_relative)
{
    static const pair rows[] = {
        {"http:x", "http://user:pw@host:8080/a/b/x"},
        {"http:/x", "http://user:pw@host:8080/x"},
        {"http:?x", "http://user:pw@host:8080/a/b/c?x"},
        {"http:", "http://user:pw@host:8080/a/b/c?q"},
        {"http://x", "http://x/"},
        {"http:\\x", "http://user:pw@host:8080/x"},
        {"http:\\\\x", "http://x/"},
        {"https:x", "https://x/"}, /* another scheme */
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(BASE, rows[i].ref), rows[i].want);
}

TEST(url_relative_to_a_base)
{
    static const pair rows[] = {
        {"", "http://user:pw@host:8080/a/b/c?q"},
        {"#x", "http://user:pw@host:8080/a/b/c?q#x"},
        {"?", "http://user:pw@host:8080/a/b/c?"},
        {"?x#y", "http://user:pw@host:8080/a/b/c?x#y"},
        {"d", "http://user:pw@host:8080/a/b/d"},
        {"d/", "http://user:pw@host:8080/a/b/d/"},
        {".", "http://user:pw@host:8080/a/b/"},
        {"..", "http://user:pw@host:8080/a/"},
        {"../../..", "http://user:pw@host:8080/"},
        {"/", "http://user:pw@host:8080/"},
        {"\\d", "http://user:pw@host:8080/d"},
        {"/d?x", "http://user:pw@host:8080/d?x"},
        {"//other", "http://other/"},
        {"/\\other", "http://other/"},
        {"///other", "http://other/"},
        {"//u@other:8080", "http://u@other:8080/"}, /* nothing is taken over */
        {"//", "no host"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(BASE, rows[i].ref), rows[i].want);
}

TEST(url_relative_to_a_base_of_another_scheme)
{
    static const struct {
        const char *base, *ref, *want;
    } rows[] = {
        {"foo://h/a/b", "c", "foo://h/a/c"},
        {"foo://h/a/b", "/c", "foo://h/c"},
        {"foo://h/a/b", "\\c", "foo://h/a/\\c"},
        {"foo://h/a/b", "//g", "foo://g"},
        {"foo://h/a/b", "//g/\\", "foo://g/\\"},
        {"foo://h/a/b", "///g", "foo:///g"},
        {"foo://h", "c", "foo://h/c"},
        {"foo://h", "?q", "foo://h?q"},
        {"foo://h", "", "foo://h"},
        {"foo://h", "..", "foo://h/"},
        {"foo:/a/b", "c", "foo:/a/c"},
        {"foo:/a/b", "/c", "foo:/c"},
        {"foo:/a/b", "//h", "foo://h"},
        {"foo:/a/b", "foo:c", "foo:c"}, /* not special: its own scheme is absolute */
        {"foo:/.//a", "b", "foo:/.//b"},
        {"foo:/.//a", "../b", "foo:/b"},
        {"foo:/.//a", "?q", "foo:/.//a?q"},
        {"foo:/a", ".//b", "foo:/.//b"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(rows[i].base, rows[i].ref), rows[i].want);
}

TEST(url_user_and_password_end_at_the_last_at_sign)
{
    static const struct {
        const char *text, *href, *user, *password;
    } rows[] = {
        {"http://u:p@h/", "http://u:p@h/", "u", "p"},
        {"http://u@h/", "http://u@h/", "u", ""},
        {"http://u:@h/", "http://u@h/", "u", ""},
        {"http://:p@h/", "http://:p@h/", "", "p"},
        {"http://@h/", "http://h/", "", ""},
        {"http://:@h/", "http://h/", "", ""},
        {"http://a@b@h/", "http://a%40b@h/", "a%40b", ""},
        {"http://a:b:c@d@h/", "http://a:b%3Ac%40d@h/", "a", "b%3Ac%40d"},
        {"http://a;=[]^|'@h/", "http://a%3B%3D%5B%5D%5E%7C'@h/", "a%3B%3D%5B%5D%5E%7C'",
         ""},
        {"http://h/@x", "http://h/@x", "", ""},
        {"http://h?@x", "http://h/?@x", "", ""},
        {"foo://u:p@h", "foo://u:p@h", "u", "p"},
        {"foo://a\\b@h", "foo://a%5Cb@h", "a%5Cb", ""}, /* no slash in other schemes */
    };

    EACH_ROW(i, rows) {
        made m;

        resolve(&m, NULL, rows[i].text, strlen(rows[i].text));
        CHECK_STR(m.mem, rows[i].href);
        CHECK_STR(text_of(seine_url_username(&m.u)), rows[i].user);
        CHECK_STR(text_of(seine_url_password(&m.u)), rows[i].password);
        CHECK_STR(text_of(seine_url_host(&m.u)), "h");
    }
    CHECK_STR(href(NULL, "http://u@/p"), flaw(SEINE_URL_NO_HOST));
    CHECK_STR(href(NULL, "foo://u@/p"), flaw(SEINE_URL_NO_HOST));
    CHECK_STR(href(NULL, "http://u@"), flaw(SEINE_URL_NO_HOST));
    CHECK_STR(href(NULL, "http://u:p@:80/"), flaw(SEINE_URL_NO_HOST));
}

TEST(url_port_is_a_number_up_to_65535_and_hidden_if_the_schemes_own)
{
    static const struct {
        const char *text, *want;
        int port;
    } rows[] = {
        {"http://h:80/", "http://h/", 80},
        {"http://h:81/", "http://h:81/", 81},
        {"http://h:/", "http://h/", 80},
        {"https://h:443", "https://h/", 443},
        {"https://h:80", "https://h:80/", 80},
        {"ws://h:80", "ws://h/", 80},
        {"wss://h:443", "wss://h/", 443},
        {"ftp://h:21", "ftp://h/", 21},
        {"ftp://h:00021", "ftp://h/", 21},
        {"http://h:0", "http://h:0/", 0},
        {"http://h:65535", "http://h:65535/", 65535},
        {"http://h:00000000000000000009", "http://h:9/", 9},
        {"foo://h:80", "foo://h:80", 80},
        {"foo://h", "foo://h", -1},
        {"http://[::1]:8", "http://[::1]:8/", 8},
        {"file:///x", "file:///x", -1},
    };
    static const char *const bad[] = {"http://h:65536", "http://h:99999999999999999999",
                                      "http://h:x",     "http://h:8x",
                                      "http://h:-1",    "http://h:8:8",
                                      "foo://h:8 ?"};

    EACH_ROW(i, rows) {
        made m;

        resolve(&m, NULL, rows[i].text, strlen(rows[i].text));
        CHECK_STR(m.mem, rows[i].want);
        CHECK_EQ(seine_url_port(&m.u), rows[i].port);
    }
    EACH_ROW(i, bad)
        CHECK_STR(href(NULL, bad[i]), flaw(SEINE_URL_BAD_PORT));
    CHECK_STR(href(NULL, "http://:80"), flaw(SEINE_URL_NO_HOST));
    CHECK_STR(href(NULL, "foo://:80"), flaw(SEINE_URL_NO_HOST));
}

TEST(url_of_a_file)
{
    static const struct {
        const char *base, *ref, *want;
    } rows[] = {
        {NULL, "file:", "file:///"},
        {NULL, "file:x", "file:///x"},
        {NULL, "file:/x", "file:///x"},
        {NULL, "file:\\x", "file:///x"},
        {NULL, "file://h/x", "file://h/x"},
        {NULL, "file:///x", "file:///x"},
        {NULL, "file:////x", "file:////x"},
        {NULL, "file://localhost/x", "file:///x"},
        {NULL, "file://LOCALHOST/x", "file:///x"},
        {NULL, "file://h:80/x", "a character that a host cannot have"},
        {NULL, "file://u@h/x", "a character that a host cannot have"},
        {NULL, "file:?q", "file:///?q"},
        {NULL, "file:#f", "file:///#f"},
        {NULL, "file://?q", "file:///?q"},
        {NULL, "file://h?q", "file://h/?q"},
        {"http://h/a", "file:x", "file:///x"}, /* the base is of another scheme */
        {"file://h/a/b?q", "", "file://h/a/b?q"},
        {"file://h/a/b?q", "file:", "file://h/a/b?q"},
        {"file://h/a/b?q", "?x", "file://h/a/b?x"},
        {"file://h/a/b?q", "#x", "file://h/a/b?q#x"},
        {"file://h/a/b?q", "c", "file://h/a/c"},
        {"file://h/a/b?q", "/c", "file://h/c"},
        {"file://h/a/b?q", "//g/c", "file://g/c"},
        {"file://h/a/b?q", "///c", "file:///c"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(rows[i].base, rows[i].ref), rows[i].want);
}

TEST(url_of_a_file_keeps_the_letter_of_its_drive)
{
    static const struct {
        const char *base, *ref, *want;
    } rows[] = {
        {NULL, "file:///c|/x", "file:///c:/x"},
        {NULL, "file:c:\\x", "file:///c:/x"},
        {NULL, "file://C:/x", "file:///C:/x"}, /* no host */
        {NULL, "file://C|", "file:///C:"},
        {NULL, "file:///C:/..", "file:///C:/"},
        {NULL, "file:///C:/a/../..", "file:///C:/"},
        {NULL, "file:///C:/../..", "file:///C:/"},
        {NULL, "file:///CC:/..", "file:///"},
        {NULL, "file:///x/c|", "file:///x/c|"}, /* only the first segment */
        {NULL, "http://h/c|/x", "http://h/c|/x"},
        {"file:///C:/a/b", "/x", "file:///C:/x"},
        {"file:///C:/a/b", "/D:/x", "file:///D:/x"},
        {"file:///C:/a/b", "D:", "d:"}, /* a scheme, says the standard */
        {"file:///C:/a/b", "D|/x", "file:///D:/x"},
        {"file:///C:/a/b", "D|x", "file:///C:/a/D|x"},
        {"file:///C:/a/b", "..", "file:///C:/"},
        {"file:///C:/a/b", "../..", "file:///C:/"},
        {"file:///C:", "/x", "file:///C:/x"},
        {"file:///C:", "x", "file:///C:/x"},
        {"file:///Cx/a", "/x", "file:///x"},
        {"file:///C|/a", "/x", "file:///C:/x"},
        {"file:///a/C:", "/x", "file:///x"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(rows[i].base, rows[i].ref), rows[i].want);
}

TEST(url_path_loses_its_dots)
{
    static const pair rows[] = {
        {"http://h/a/./b", "http://h/a/b"},
        {"http://h/a/../b", "http://h/b"},
        {"http://h/a/..", "http://h/"},
        {"http://h/a/.", "http://h/a/"},
        {"http://h/../../a", "http://h/a"},
        {"http://h/a/..b/.c", "http://h/a/..b/.c"},
        {"http://h/a/...", "http://h/a/..."},
        {"http://h/a//../b", "http://h/a/b"},
        {"http://h/%2e/a/%2E%2e/b", "http://h/b"},
        {"http://h/a/.%2e/b/%2e.", "http://h/"},
        {"http://h/a/%2e%2e%2e", "http://h/a/%2e%2e%2e"},
        {"http://h/a/%2f..", "http://h/a/%2f.."},
        {"http://h/a\\..\\b", "http://h/b"},
        {"foo://h/a\\..\\b", "foo://h/a\\..\\b"},
        {"foo:/a/../..", "foo:/"},
        {"foo:/a/..//b", "foo:/.//b"},
        {"foo:/..//b", "foo:/.//b"},
        {"foo:/.//", "foo:/.//"},
        {"foo://h/..//b", "foo://h//b"}, /* with a host no guard is needed */
        {"http://h/a/..?q", "http://h/?q"},
        {"http://h/a/.#f", "http://h/a/#f"},
        {"http://h?a/..", "http://h/?a/.."},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(NULL, rows[i].ref), rows[i].want);
}

TEST(url_opaque_path_stays_as_it_is)
{
    static const pair rows[] = {
        {"mailto:A@b.C", "mailto:A@b.C"},
        {"data:text/html,<b>a/../b</b>", "data:text/html,<b>a/../b</b>"},
        {"javascript:a = 'b'", "javascript:a = 'b'"},
        {"foo:a\x01\x7f\xc3\xa9", "foo:a%01%7F%C3%A9"},
        {"foo:", "foo:"},
        {"foo:?q", "foo:?q"},
        {"foo:a  ", "foo:a"},
        {"foo:a  ?q", "foo:a %20?q"}, /* a blank at its end would be lost */
        {"foo:a #f", "foo:a%20#f"},
        {"foo: ", "foo:"},
        {"foo: ?", "foo:%20?"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(NULL, rows[i].ref), rows[i].want);
}

/* Sets of the standard (1.3), written out: what each part escapes of ASCII. */
TEST(url_parts_escape_what_the_standard_lists)
{
    static const struct {
        const char *front, *escaped, *back;
    } rows[] = {
        {"http://h/", " \"<>^`{}\x7f", ""},        /* path; # ? / \ end it */
        {"http://h/?", " \"<>'\x7f", ""},          /* query of a special scheme */
        {"foo://h/?", " \"<>\x7f", ""},            /* query of another */
        {"http://h/#", " \"<>`\x7f", ""},          /* fragment */
        {"foo:", "\x7f", ""},                      /* opaque path */
        {"foo://", "\x7f", "/"},                   /* opaque host */
        {"http://u", " \"<>^`{};=[]|\x7f", "@h/"}, /* user name; : / ? # @ \ end it */
        {"foo://u:", " \"<>^`{}:;=@[\\]|\x7f", "@h/"},
    };
    static const char *const meant[] = {"#?/\\",          "#",       "#",  "", "?#",
                                        "#/?:@[\\]^|<> ", ":/?#@\\", "/?#"};

    EACH_ROW(i, rows)
        for (char c = ' '; c > 0; c++) {
            char text[64], want[64];
            bool escaped = strchr(rows[i].escaped, c) != NULL;

            if (strchr(meant[i], c))
                continue;
            snprintf(text, sizeof text, "%s.%c.%s", rows[i].front, c, rows[i].back);
            if (escaped)
                snprintf(want, sizeof want, "%s.%%%02X.%s", rows[i].front, (unsigned)c,
                         rows[i].back);
            CHECK_STR(href(NULL, text), escaped ? want : text);
        }
}

TEST(url_bytes_that_are_not_utf8_become_the_replacement)
{
    static const pair rows[] = {
        {"http://h/\xc3\xa9", "http://h/%C3%A9"},
        {"http://h/\xf0\x9f\x98\x80?\xe2\x82\xac#\xc3\x9f",
         "http://h/%F0%9F%98%80?%E2%82%AC#%C3%9F"},
        {"http://h/\xff", "http://h/%EF%BF%BD"},
        {"http://h/\xc3", "http://h/%EF%BF%BD"},
        {"http://h/\xc3/", "http://h/%EF%BF%BD/"},
        {"http://h/\xc3x", "http://h/%EF%BF%BDx"},
        {"http://h/\xc0\x80", "http://h/%EF%BF%BD%EF%BF%BD"}, /* too long a form */
        {"http://h/\xe0\x80\x80", "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
        {"http://h/\xed\xa0\x80", "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD"}, /* surrogate */
        {"http://h/\xe2\x82", "http://h/%EF%BF%BD"}, /* one character, cut */
        {"http://h/\xe2\x82?", "http://h/%EF%BF%BD?"},
        {"http://h/\xf0\x9f\x98\xc3\xa9", "http://h/%EF%BF%BD%C3%A9"},
        {"http://h/\xf4\x90\x80\x80",
         "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD"}, /* above U+10FFFF */
        {"http://h/\xf0\x8f\x80\x80", "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
        {"http://h/\x80", "http://h/%EF%BF%BD"},
        {"foo://\xff", "foo://%EF%BF%BD"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(href(NULL, rows[i].ref), rows[i].want);
}

TEST(url_zero_bytes_are_bytes)
{
    made m;

    resolve(&m, NULL, "http://h/a\0b?\0#\0!", 17);
    CHECK_STR(m.mem, "http://h/a%00b?%00#%00!");
    resolve(&m, NULL, "http://a\0b/", 11);
    CHECK_EQ(m.flaw.kind, SEINE_URL_BAD_CHAR);
}

/* Flaws. */

TEST(url_flaw_says_what_and_where)
{
    static const struct {
        const char *text;
        seine_url_flaw_kind kind;
        size_t at;
    } rows[] = {
        {"  /x", SEINE_URL_NO_BASE, 2},
        {"http://", SEINE_URL_NO_HOST, 7},
        {"http://u@/", SEINE_URL_NO_HOST, 9},
        {"http://a b/", SEINE_URL_BAD_CHAR, 8},
        {"\thttp://a\t b/", SEINE_URL_BAD_CHAR, 10}, /* as it was given, with tabs */
        {"foo://a^/", SEINE_URL_BAD_CHAR, 7},
        {"http://a%00/", SEINE_URL_BAD_CHAR, 7}, /* escapes: the host's start */
        {"http://1.2.3.256/", SEINE_URL_BAD_IPV4, 7},
        {"http://[1]/", SEINE_URL_BAD_IPV6, 7},
        {"http://\xff/", SEINE_URL_BAD_NAME, 7},
        {"http://h:8o/", SEINE_URL_BAD_PORT, 10},
        {"http://h:65536/", SEINE_URL_BAD_PORT, 9},
        {"", SEINE_URL_NO_BASE, 0},
        {"   ", SEINE_URL_NO_BASE, 0},
    };

    EACH_ROW(i, rows) {
        made m;

        resolve(&m, NULL, rows[i].text, strlen(rows[i].text));
        CHECK_EQ(m.err, SEINE_E_BAD_URL);
        CHECK_EQ(m.flaw.kind, rows[i].kind);
        CHECK_EQ(m.flaw.at, rows[i].at);
        CHECK_STR(m.mem, "");
        CHECK_EQ(m.u.len, 0);
    }
    CHECK_STR(seine_url_flaw_text((seine_url_flaw_kind)99), "nothing");
    CHECK_STR(seine_url_flaw_text((seine_url_flaw_kind)(SEINE_URL_BAD_PORT + 1)),
              "nothing");
}

TEST(url_fails_without_anybody_who_wants_to_know_why)
{
    made m;

    resolve(&m, NULL, "http://h", 8);
    CHECK_EQ(seine_url_parse(&m.u, "http://", 7, NULL), SEINE_E_BAD_URL);
    CHECK_EQ(seine_url_href(&m.u).len, 0);
    CHECK_EQ(seine_url_host(&m.u).len, 0);
    CHECK_EQ(seine_url_host_is(&m.u), SEINE_HOST_NONE);
}

TEST(url_resolve_refuses_an_empty_base_and_itself)
{
    made m, base;

    seine_url_init(&m.u, m.mem, sizeof m.mem);
    seine_url_init(&base.u, base.mem, sizeof base.mem);
    CHECK_EQ(seine_url_resolve(&m.u, &base.u, "x", 1, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_url_resolve(&m.u, NULL, "x", 1, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_url_parse(&m.u, "http://h", 8, NULL), SEINE_OK);
    CHECK_EQ(seine_url_resolve(&m.u, &m.u, "x", 1, NULL), SEINE_E_INVAL);
    CHECK_STR(m.mem, "http://h/");
}

TEST(url_takes_no_text_at_all)
{
    made m, base;

    seine_url_init(&m.u, m.mem, sizeof m.mem);
    seine_url_init(&base.u, base.mem, sizeof base.mem);
    CHECK_EQ(seine_url_parse(&m.u, NULL, 0, &m.flaw), SEINE_E_BAD_URL);
    CHECK_EQ(m.flaw.kind, SEINE_URL_NO_BASE);
    CHECK_EQ(seine_url_parse(&base.u, "http://h/x", 10, NULL), SEINE_OK);
    CHECK_EQ(seine_url_resolve(&m.u, &base.u, NULL, 0, NULL), SEINE_OK);
    CHECK_STR(m.mem, "http://h/x");
}

/* Limits. */

/* "http://h/" and `fill` up to `len` bytes. */
static char *
long_text(size_t len, char fill)
{
    static char text[3 * SEINE_URL_ROOM];

    memset(text, fill, sizeof text);
    memcpy(text, "http://h/", 9);
    text[len] = '\0';
    return text;
}

TEST(url_reference_and_href_are_at_most_8192_bytes)
{
    static const struct {
        size_t len;
        seine_err want;
    } rows[] = {
        {SEINE_URL_MAX - 1, SEINE_OK},
        {SEINE_URL_MAX, SEINE_OK},
        {SEINE_URL_MAX + 1, SEINE_E_BAD_URL},
    };
    made m;

    CHECK_EQ(SEINE_URL_MAX, 8192);
    EACH_ROW(i, rows) {
        resolve(&m, NULL, long_text(rows[i].len, 'a'), rows[i].len);
        CHECK_EQ(m.err, rows[i].want);
        CHECK_EQ(m.u.len, m.err == SEINE_OK ? rows[i].len : 0);
        CHECK_EQ(m.flaw.kind, m.err == SEINE_OK ? SEINE_URL_NONE : SEINE_URL_TOO_LONG);
    }

    /* Blanks around it do not count; breaks inside it do. */
    char *text = long_text(SEINE_URL_MAX + 10, 'a');
    memset(text + SEINE_URL_MAX, ' ', 10);
    resolve(&m, NULL, text, SEINE_URL_MAX + 10);
    CHECK_EQ(m.err, SEINE_OK);
    resolve(&m, NULL, long_text(SEINE_URL_MAX, '\t'), SEINE_URL_MAX);
    CHECK_STR(m.mem, "http://h/");

    /* A reference that is too long is refused, even if its href would be short. */
    for (size_t len = SEINE_URL_MAX; len <= SEINE_URL_MAX + 1; len++) {
        text = long_text(len, '/');
        for (size_t i = 9; i < len; i += 2)
            text[i] = '.';
        resolve(&m, NULL, text, len);
        CHECK_EQ(m.err, len <= SEINE_URL_MAX ? SEINE_OK : SEINE_E_BAD_URL);
    }

    /* 9 bytes, and 3 for each that is escaped: 2727 make 8190, one more is too long. */
    resolve(&m, NULL, long_text(9 + 2727, '^'), 9 + 2727);
    CHECK_EQ(m.u.len, 9 + 3 * 2727);
    resolve(&m, NULL, long_text(9 + 2728, '^'), 9 + 2728);
    CHECK_EQ(m.flaw.kind, SEINE_URL_TOO_LONG);
}

TEST(url_fills_its_memory_to_the_last_byte_and_no_further)
{
    static const struct {
        const char *base, *ref, *want;
    } rows[] = {
        {NULL, "http://u:p@host:81/a/b?q#f", "http://u:p@host:81/a/b?q#f"},
        {NULL, "HTTP:host", "http://host/"},
        {NULL, "http://1/", "http://0.0.0.1/"},
        {NULL, "http://[1::2]/", "http://[1::2]/"},
        {NULL, "http://b\303\274cher/", "http://xn--bcher-kva/"},
        {NULL, "foo:/.//a", "foo:/.//a"},
        {NULL, "foo:a ?", "foo:a%20?"},
        {NULL, "foo://h?\xff", "foo://h?%EF%BF%BD"},
        {NULL, "file:c|", "file:///c:"},
        {"http://u:p@host:81/a/b?q#f", "../c?d#e", "http://u:p@host:81/c?d#e"},
        {"http://u:p@host:81/a/b?q#f", "", "http://u:p@host:81/a/b?q"},
        {"http://u:p@host:81/a/b?q#f", "//x", "http://x/"},
        {"file:///C:/a", "/b", "file:///C:/b"},
        {"mailto:a", "#b", "mailto:a#b"},
        {"foo:/a", ".//b", "foo:/.//b"},
    };

    EACH_ROW(i, rows) {
        size_t ref_len = strlen(rows[i].ref), len = strlen(rows[i].want);
        made base;

        resolve(&base, NULL, rows[i].base ? rows[i].base : "x:",
                strlen(rows[i].base ? rows[i].base : "x:"));
        /* From all the room that is needed down to none. */
        for (size_t size = (len > ref_len ? len : ref_len) + 1; size-- > 0;) {
            char *mem = malloc(size + 1); /* ends where the sanitizer looks */
            seine_url_flaw why = {SEINE_URL_NONE, 0};
            seine_url u;
            seine_err e;

            seine_url_init(&u, mem, size + 1);
            e = rows[i].base ? seine_url_resolve(&u, &base.u, rows[i].ref, ref_len, &why)
                             : seine_url_parse(&u, rows[i].ref, ref_len, &why);
            if (e == SEINE_OK) {
                CHECK_STR(mem, rows[i].want);
                CHECK(size >= len && size >= ref_len);
            } else {
                CHECK_EQ(e, SEINE_E_BAD_URL);
                CHECK(size < len || size < ref_len);
            }
            free(mem);
        }
    }
}

TEST(url_without_memory_holds_nothing)
{
    seine_url u, from;
    char mem[32];

    seine_url_init(&u, NULL, 0);
    CHECK_EQ(seine_url_parse(&u, "http://h", 8, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_url_href(&u).len, 0);
    seine_url_init(&from, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&from, "http://h", 8, NULL), SEINE_OK);
    CHECK_EQ(seine_url_copy(&u, &from), SEINE_E_RANGE);
}

/* Parts. */

TEST(url_parts_are_views_of_the_href)
{
    made m;

    resolve(&m, NULL, BASE, strlen(BASE));
    CHECK_STR(text_of(seine_url_href(&m.u)), BASE);
    CHECK_STR(text_of(seine_url_scheme(&m.u)), "http");
    CHECK_STR(text_of(seine_url_username(&m.u)), "user");
    CHECK_STR(text_of(seine_url_password(&m.u)), "pw");
    CHECK_STR(text_of(seine_url_host(&m.u)), "host");
    CHECK_STR(text_of(seine_url_host_port(&m.u)), "host:8080");
    CHECK_STR(text_of(seine_url_port_text(&m.u)), "8080");
    CHECK_STR(text_of(seine_url_path(&m.u)), "/a/b/c");
    CHECK_STR(text_of(seine_url_query(&m.u)), "q");
    CHECK_STR(text_of(seine_url_fragment(&m.u)), "f");
    CHECK_STR(text_of(seine_url_target(&m.u)), "/a/b/c?q");
    CHECK(seine_url_path(&m.u).ptr > m.mem && seine_url_path(&m.u).ptr < m.mem + 64);
    CHECK(seine_url_is_special(&m.u) && !seine_url_is_opaque(&m.u));
}

TEST(url_parts_of_the_base_are_parts_of_the_url)
{
    static const char *const refs[] = {"x", "/x", "?x", "#x", "", "http:x"};

    EACH_ROW(i, refs) {
        made m, again;

        resolve(&m, BASE, refs[i], strlen(refs[i]));
        resolve(&again, NULL, m.mem, m.u.len);
        CHECK(same(&m.u, &again.u));
        CHECK_EQ(seine_url_port(&m.u), 8080);
        CHECK_STR(text_of(seine_url_password(&m.u)), "pw");
        CHECK_STR(text_of(seine_url_host_port(&m.u)), "host:8080");
    }
}

TEST(url_parts_that_are_not_there_are_empty)
{
    made m;

    resolve(&m, NULL, "mailto:x", 8);
    CHECK_STR(text_of(seine_url_username(&m.u)), "");
    CHECK_STR(text_of(seine_url_password(&m.u)), "");
    CHECK_STR(text_of(seine_url_host(&m.u)), "");
    CHECK_STR(text_of(seine_url_host_port(&m.u)), "");
    CHECK_STR(text_of(seine_url_port_text(&m.u)), "");
    CHECK_STR(text_of(seine_url_path(&m.u)), "x");
    CHECK_STR(text_of(seine_url_query(&m.u)), "");
    CHECK_STR(text_of(seine_url_fragment(&m.u)), "");
    CHECK_EQ(seine_url_port(&m.u), -1);
    CHECK(!seine_url_is_special(&m.u) && seine_url_is_opaque(&m.u));

    resolve(&m, NULL, "http://h", 8);
    CHECK_STR(text_of(seine_url_username(&m.u)), "");
    CHECK_STR(text_of(seine_url_port_text(&m.u)), "");
    CHECK_STR(text_of(seine_url_host_port(&m.u)), "h");
    CHECK_STR(text_of(seine_url_target(&m.u)), "/");
    resolve(&m, NULL, "foo:/.//p?q", 11);
    CHECK_STR(text_of(seine_url_path(&m.u)), "//p");
    CHECK_STR(text_of(seine_url_username(&m.u)), "");
    CHECK_STR(text_of(seine_url_target(&m.u)), "//p?q");
}

TEST(url_host_has_a_kind)
{
    static const struct {
        const char *text;
        seine_url_host_kind kind;
    } rows[] = {
        {"mailto:x", SEINE_HOST_NONE},    {"foo:/x", SEINE_HOST_NONE},
        {"foo:///x", SEINE_HOST_EMPTY},   {"file:///x", SEINE_HOST_EMPTY},
        {"file://h/x", SEINE_HOST_NAME},  {"http://h/", SEINE_HOST_NAME},
        {"http://1/", SEINE_HOST_IPV4},   {"http://[::]/", SEINE_HOST_IPV6},
        {"foo://[::]/", SEINE_HOST_IPV6}, {"foo://1/", SEINE_HOST_OPAQUE},
    };

    EACH_ROW(i, rows) {
        made m;

        resolve(&m, NULL, rows[i].text, strlen(rows[i].text));
        CHECK_EQ(seine_url_host_is(&m.u), rows[i].kind);
        resolve(&m, rows[i].text, "#x", 2); /* and gives it on */
        CHECK_EQ(seine_url_host_is(&m.u), rows[i].kind);
    }
}

TEST(url_copy_is_equal_and_apart)
{
    char mem[sizeof BASE];
    seine_url copy;
    made m;

    resolve(&m, NULL, BASE, strlen(BASE));
    seine_url_init(&copy, mem, sizeof mem - 1);
    CHECK_EQ(seine_url_copy(&copy, &m.u), SEINE_E_RANGE);
    CHECK_STR(mem, "");
    seine_url_init(&copy, mem, sizeof mem);
    CHECK_EQ(seine_url_copy(&copy, &m.u), SEINE_OK);
    memset(m.mem, 'x', strlen(BASE));
    CHECK_STR(mem, BASE);
    CHECK_STR(text_of(seine_url_host_port(&copy)), "host:8080");
    CHECK_EQ(seine_url_copy(&copy, &copy), SEINE_OK);
    CHECK_STR(mem, BASE);
}

TEST(url_drops_user_and_fragment)
{
    static const pair rows[] = {
        {"http://u:p@h:81/a?q#f", "http://h:81/a?q"},
        {"http://u@h/a#f", "http://h/a"},
        {"http://:p@h", "http://h/"},
        {"http://h/a", "http://h/a"},
        {"foo://u@h#f", "foo://h"},
        {"mailto:a@b#f", "mailto:a@b"},
        {"foo:/.//a#f", "foo:/.//a"},
        {"http://u:p@[::1]/#", "http://[::1]/"},
    };

    EACH_ROW(i, rows) {
        made m, again;

        resolve(&m, NULL, rows[i].ref, strlen(rows[i].ref));
        seine_url_drop_user(&m.u);
        seine_url_drop_fragment(&m.u);
        CHECK_STR(m.mem, rows[i].want);
        resolve(&again, NULL, rows[i].want, strlen(rows[i].want));
        CHECK(same(&again.u, &m.u)); /* all places are right */
    }

    seine_url empty;
    char mem[1];
    seine_url_init(&empty, mem, sizeof mem);
    seine_url_drop_user(&empty);
    seine_url_drop_fragment(&empty);
    CHECK_EQ(seine_url_href(&empty).len, 0);
}

/* Properties, over references put together at random of pieces that matter. */

static size_t
any_text(sn_rng *r, char *out, size_t cap)
{
    static const char *const pieces[] = {
        "http:", "https:", "file:", "foo:",  "//",   "/",      "\\",       "?",
        "#",     "@",      ":",     "[::1]", "[1::", "]",      "..",       ".",
        "%2e",   "%",      "a",     "host",  "C|",   "D:",     "\xc3\xa9", "\xff",
        "0x7",   "1.2",    " ",     "\t",    "%41",  "xn--a.", "80",       "\x01",
        "|",     "'",      "&x=",   "%%34",  "%e9",  "é",      "1.1.",     "mailto:"};
    size_t len = 0, count = sn_rng_below(r, 12);

    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[sn_rng_below(r, sizeof pieces / sizeof *pieces)];

        for (; *piece && len < cap; piece++)
            out[len++] = *piece;
    }
    return len;
}

TEST(url_href_reads_as_the_same_url_anywhere)
{
    sn_rng r = sn_rng_seed(check_seed());
    static made m, again, base, other;
    int good = 0;

    for (int i = 0; i < 20000; i++) {
        char ref[128], base_text[128];
        size_t ref_len = any_text(&r, ref, sizeof ref);
        size_t base_len = any_text(&r, base_text, sizeof base_text);

        resolve(&base, "http://h/a/b", base_text, base_len);
        seine_url_init(&m.u, m.mem, sizeof m.mem);
        if (base.err != SEINE_OK ||
            seine_url_resolve(&m.u, &base.u, ref, ref_len, NULL) != SEINE_OK)
            continue;
        good++;
        resolve(&again, NULL, m.mem, m.u.len);
        CHECK(again.err == SEINE_OK && same(&m.u, &again.u));
        seine_url_init(&other.u, other.mem, sizeof other.mem);
        CHECK_EQ(seine_url_resolve(&other.u, &base.u, m.mem, m.u.len, NULL), SEINE_OK);
        CHECK(same(&m.u, &other.u));
    }
    CHECK(good > 5000);
}

TEST(url_work_is_linear)
{
    static const char *const pieces[] = {"../", "/..", "a/../", "@",  ":",  "\\",   "/",
                                         "%2e", "a",   "\xff",  "1.", "[:", "%41.", "\t",
                                         " ",   "?",   "#",     "0x", ".",  "C|/"};
    static const char *const fronts[] = {
        "", "http://", "http://h/", "foo:", "foo:/", "file:", "foo://", "http://h/?"};
    static char text[SEINE_URL_MAX];
    static made m, base;

    resolve(&base, NULL, "http://h/", 9);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (size_t k = 0; k < sizeof fronts / sizeof *fronts; k++) {
            size_t len = strlen(fronts[k]), n = strlen(pieces[i]), steps;

            memcpy(text, fronts[k], len);
            for (; len + n <= sizeof text; len += n)
                memcpy(text + len, pieces[i], n);
            seine_url_init(&m.u, m.mem, sizeof m.mem);
            seine_err e = sn_url_run(&m.u, &base.u, (sn_str){text, len}, NULL, &steps);
            CHECK(e == SEINE_OK || e == SEINE_E_BAD_URL);
            CHECK(steps <= 8 * len + 64);
        }
}

/* Vectors. */

static json_t *
vectors(const char *name)
{
    const char *home = check_vectors();
    char path[1024];

    if (!home)
        return NULL;
    snprintf(path, sizeof path, "%s/%s", home, name);
    json_t *rows = json_load_file(path, JSON_ALLOW_NUL, NULL);
    CHECK(json_array_size(rows) > 0);
    return rows;
}

/* Member of a row against a part with the mark the standard puts around it. */
static void
check_member(const json_t *row, const char *name, const char *front, seine_view part,
             const char *back)
{
    const char *want = json_string_value(json_object_get(row, name));
    char got[512] = "";

    if (!want)
        return;
    if (part.len > 0)
        snprintf(got, sizeof got, "%s%.*s%s", front, (int)part.len, part.ptr, back);
    CHECK_STR(got, want);
}

static void
check_wpt(const json_t *row)
{
    const json_t *input = json_object_get(row, "input");
    const json_t *base_text = json_object_get(row, "base");
    const char *origin = json_string_value(json_object_get(row, "origin"));
    char got[SEINE_URL_ROOM];
    static made m, base;

    seine_url_init(&m.u, m.mem, sizeof m.mem);
    m.err = SEINE_E_BAD_URL;
    if (json_is_null(base_text)) {
        m.err = seine_url_parse(&m.u, json_string_value(input), json_string_length(input),
                                NULL);
    } else {
        resolve(&base, NULL, json_string_value(base_text), json_string_length(base_text));
        if (base.err == SEINE_OK)
            m.err = seine_url_resolve(&m.u, &base.u, json_string_value(input),
                                      json_string_length(input), NULL);
    }
    CHECK_EQ(m.err == SEINE_OK, !json_is_true(json_object_get(row, "failure")));
    if (m.err != SEINE_OK)
        return;
    check_member(row, "href", "", seine_url_href(&m.u), "");
    check_member(row, "protocol", "", seine_url_scheme(&m.u), ":");
    check_member(row, "username", "", seine_url_username(&m.u), "");
    check_member(row, "password", "", seine_url_password(&m.u), "");
    check_member(row, "host", "", seine_url_host_port(&m.u), "");
    check_member(row, "hostname", "", seine_url_host(&m.u), "");
    check_member(row, "port", "", seine_url_port_text(&m.u), "");
    check_member(row, "pathname", "", seine_url_path(&m.u), "");
    check_member(row, "search", "?", seine_url_query(&m.u), "");
    check_member(row, "hash", "#", seine_url_fragment(&m.u), "");
    if (origin) {
        seine_url_origin(&m.u, got, sizeof got);
        CHECK_STR(got, origin);
    }
}

TEST(url_agrees_with_the_tests_of_the_web_platform)
{
    json_t *rows = vectors("url-wpt/urltestdata.json"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        CHECK(check_row(i));
        if (json_is_object(row))
            check_wpt(row);
    }
    json_decref(rows);
}

TEST(url_escapes_utf8_as_the_web_platform)
{
    json_t *rows = vectors("url-wpt/percent-encoding.json"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *in = json_string_value(json_object_get(row, "input"));
        const char *out =
            json_string_value(json_object_get(json_object_get(row, "output"), "utf-8"));
        char text[128], want[256];

        CHECK(check_row(i));
        if (!in || !out)
            continue;
        snprintf(text, sizeof text, "https://h/?%s#%s", in, in);
        snprintf(want, sizeof want, "https://h/?%s#%s", out, out);
        CHECK_STR(href(NULL, text), want);
    }
    json_decref(rows);
}

TEST(url_resolves_the_examples_of_rfc_3986)
{
    json_t *rows = vectors("url-rfc3986/resolve.json"), *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const char *want = json_string_value(json_object_get(row, "expect"));
        const char *other = json_string_value(json_object_get(row, "alt"));
        const char *got = href(json_string_value(json_object_get(row, "base")),
                               json_string_value(json_object_get(row, "ref")));

        CHECK(check_row(i));
        if (other) /* browsers differ, and the row says so */
            want = other;
        if (strcmp(want, "http://g") == 0)
            want = "http://g/"; /* an empty path is written / */
        CHECK_STR(got, want);
    }
    json_decref(rows);
}
