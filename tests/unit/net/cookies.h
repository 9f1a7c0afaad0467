/* SPDX-License-Identifier: Apache-2.0 */
/* cookies.h - a jar by texts: set at a URL, sent to a URL. */
#ifndef COOKIES_H
#define COOKIES_H

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "net/cookie_jar.h"
#include "seine/time.h"

#define T0 SEINE_SECS(INT64_C(1700000000))

typedef struct address {
    char mem[SEINE_URL_ROOM];
    seine_url url;
} address;

static inline const seine_url *
at(address *a, const char *text)
{
    seine_url_init(&a->url, a->mem, sizeof a->mem);
    CHECK_EQ(seine_url_parse(&a->url, text, strlen(text), NULL), SEINE_OK);
    return &a->url;
}

static inline seine_cookie_jar *
new_jar(void)
{
    seine_cookie_jar *jar = NULL;

    CHECK_EQ(seine_cookie_jar_new(&jar), SEINE_OK);
    return jar;
}

static inline seine_err
set_at(seine_cookie_jar *jar, const char *url, const char *value, int64_t wall)
{
    static address a;

    return seine_cookie_jar_take(jar, at(&a, url), value, strlen(value), wall);
}

static inline const char *
sent_at(seine_cookie_jar *jar, const char *url, int64_t wall)
{
    static char text[SEINE_COOKIE_JAR_SENT + 1];
    static address a;
    size_t n =
        seine_cookie_jar_field(jar, at(&a, url), wall, text, SEINE_COOKIE_JAR_SENT);

    text[n] = '\0';
    return text;
}

/* "" or what is then sent, for one cookie in a jar of its own. */
static inline const char *
one_cookie(const char *from, const char *value, const char *to)
{
    seine_cookie_jar *jar = new_jar();
    seine_err e = set_at(jar, from, value, T0);

    CHECK(e == SEINE_OK || e == SEINE_E_INVAL);
    const char *text = sent_at(jar, to, T0);
    if (e != SEINE_OK)
        CHECK_STR(text, "");
    seine_cookie_jar_free(jar);
    return text;
}

#endif
