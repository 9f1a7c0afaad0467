/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line is a step: "0…" to "5…" is a Set-Cookie from one of six URLs, "+" lets hours
 * pass, and from "@" on everything is a cookie file. Nothing of one site goes to another,
 * nothing is over its bounds, and what a jar prints makes the same jar again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "net/cookie_jar.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())
#define T0         (INT64_C(1700000000) * 1000000000)
#define HOUR       (INT64_C(3600) * 1000000000)

enum { URLS = 6, OTHERS = 4 };

typedef struct place {
    char mem[SEINE_URL_ROOM];
    seine_url url;
} place;

static place home[URLS], others[OTHERS];
static seine_psl *psl;

static void
start(void)
{
    static const char *const at_home[URLS] = {
        "http://www.example.com/a/b", "https://www.example.com/",
        "http://example.com/a",       "https://a.b.example.com/x/",
        "http://b.example.com/%61",   "https://example.com/a/b"};
    static const char *const elsewhere[OTHERS] = {
        "https://example.org/a/b", "https://notexample.com/a", "https://com/",
        "https://127.0.0.1/a/b"};

    for (int i = 0; i < URLS; i++) {
        seine_url_init(&home[i].url, home[i].mem, sizeof home[i].mem);
        REQUIRE(!seine_url_parse(&home[i].url, at_home[i], strlen(at_home[i]), NULL));
    }
    for (int i = 0; i < OTHERS; i++) {
        seine_url_init(&others[i].url, others[i].mem, sizeof others[i].mem);
        REQUIRE(
            !seine_url_parse(&others[i].url, elsewhere[i], strlen(elsewhere[i]), NULL));
    }
    REQUIRE(!seine_psl_new(NULL, &psl));
}

static void
look(seine_cookie_jar *jar, int64_t wall, bool strangers)
{
    static char buf[SEINE_COOKIE_JAR_SENT];

    for (int i = 0; i < URLS; i++) {
        size_t n = seine_cookie_jar_field(jar, &home[i].url, wall, buf, sizeof buf);

        REQUIRE(n <= sizeof buf);
        for (size_t k = 0; k < n; k++)
            REQUIRE((unsigned char)buf[k] >= ' ' && buf[k] != 0x7f);
        REQUIRE(n == 0 || (buf[0] != '=' && memchr(buf, '=', n)));
    }
    for (int i = 0; i < OTHERS && !strangers; i++)
        REQUIRE(seine_cookie_jar_field(jar, &others[i].url, wall, buf, sizeof buf) == 0);
    REQUIRE(seine_cookie_jar_count(jar) <= SN_COOKIE_JAR_ALL);
}

static void
check_parts(sn_str value, int64_t wall)
{
    sn_set_cookie set;

    if (sn_cookie_parse(value, wall, &set) != SEINE_OK)
        return;
    REQUIRE(set.name.len > 0 && set.name.len + set.value.len <= SN_COOKIE_BYTES);
    REQUIRE(set.name.ptr >= value.ptr);
    REQUIRE(set.value.len == 0 || set.value.ptr + set.value.len <= value.ptr + value.len);
    REQUIRE(!memchr(set.name.ptr, '=', set.name.len));
    REQUIRE(set.expires == SEINE_NEVER || set.expires <= wall + SN_COOKIE_LIFE);
    REQUIRE(set.path.len == 0 || (set.path.ptr[0] == '/' && set.path.len <= 1024));
}

/* Out and in again is the same. */
static void
check_print(seine_cookie_jar *jar, int64_t wall)
{
    seine_cookie_jar *again = NULL;
    char *first = NULL, *second = NULL;
    size_t n, m;

    REQUIRE(!sn_cookie_jar_print(jar, wall, &first, &n));
    REQUIRE(!sn_cookie_jar_new(NULL, &again));
    again->psl = psl;
    REQUIRE(!sn_cookie_jar_read(again, (sn_str){first, n}, "again", wall, NULL));
    REQUIRE(!sn_cookie_jar_print(again, wall, &second, &m));
    REQUIRE(n == m && memcmp(first, second, n) == 0);
    again->psl = NULL;
    seine_cookie_jar_free(again);
    sn_free(first);
    sn_free(second);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    sn_str rest = {(const char *)bytes, n}, line;
    seine_cookie_jar *jar = NULL;
    int64_t wall = T0, epoch;

    if (!psl)
        start();
    REQUIRE(!sn_cookie_jar_new(NULL, &jar));
    jar->psl = psl;
    while (rest.len > 0 && rest.ptr[0] != '@' && sn_str_next(&rest, '\n', &line)) {
        sn_str value = sn_str_slice(line, 1, line.len);
        size_t i = line.len > 0 ? (size_t)(line.ptr[0] - '0') : URLS;

        if (line.len > 0 && line.ptr[0] == '+')
            wall += (int64_t)value.len * HOUR;
        check_parts(value, wall);
        if (sn_cookie_date(value, &epoch))
            REQUIRE(epoch >= INT64_C(-11644473600) && epoch < INT64_C(253402300800));
        if (i >= URLS)
            continue;
        size_t before = seine_cookie_jar_count(jar);
        seine_err e =
            seine_cookie_jar_take(jar, &home[i].url, value.ptr, value.len, wall);
        REQUIRE(e == SEINE_OK ||
                (e == SEINE_E_INVAL && before == seine_cookie_jar_count(jar)));
    }
    look(jar, wall, false);
    if (rest.len > 0) {
        seine_diag diag = SEINE_DIAG;
        size_t before = seine_cookie_jar_count(jar);
        seine_err e =
            sn_cookie_jar_read(jar, sn_str_slice(rest, 1, rest.len), "file", wall, &diag);

        REQUIRE(e == SEINE_OK || (e == SEINE_E_CONFIG && diag.text[0] &&
                                  before == seine_cookie_jar_count(jar)));
        look(jar, wall, true);
    }
    check_print(jar, wall);
    jar->psl = NULL;
    seine_cookie_jar_free(jar);
    return 0;
}
