/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

static const char *
redacted(const char *url)
{
    static char out[512];

    out[sn_redact(sn_str_of(url), out, sizeof out - 1)] = '\0';
    return out;
}

TEST(redact_leaves_no_secret_and_nothing_else_out)
{
    static const struct {
        const char *url, *want;
    } rows[] = {
        {"https://e.org/a/b?page=2#top", "https://e.org/a/b?page=2#top"},
        {"", ""},
        /* user information */
        {"https://joe:pw@e.org/", "https://REDACTED@e.org/"},
        {"https://joe@e.org", "https://REDACTED@e.org"},
        {"https://a@b:c@d@e.org:8080/x", "https://REDACTED@e.org:8080/x"},
        {"//joe:pw@e.org/", "//REDACTED@e.org/"},
        {"joe:pw@e.org/", "REDACTED@e.org/"},
        {"http:\\\\joe:pw@e.org\\x", "http:\\\\REDACTED@e.org\\x"},
        {"https://@e.org/", "https://@e.org/"},
        {"https://e.org/~joe@home?mail=a@b", "https://e.org/~joe@home?mail=a@b"},
        {"https://[::1]:80/", "https://[::1]:80/"},
        /* query */
        {"https://e.org/?token=abc", "https://e.org/?token=REDACTED"},
        {"https://e.org/?a=1&api_key=x/y;z&b=2",
         "https://e.org/?a=1&api_key=REDACTED&b=2"},
        {"https://e.org/?token=", "https://e.org/?token=REDACTED"},
        {"https://e.org/?token&key", "https://e.org/?token&key"},
        {"https://e.org/?a=b;token=c", "https://e.org/?a=b;token=REDACTED"},
        {"https://e.org/?x=1?token=c", "https://e.org/?x=1?token=REDACTED"},
        {"https://e.org/?token=c#a", "https://e.org/?token=REDACTED#a"},
        {"https://e.org/?sig=a=b=&c=d", "https://e.org/?sig=REDACTED&c=d"},
        /* fragment and path */
        {"https://e.org/#access_token=c&a=b", "https://e.org/#access_token=REDACTED&a=b"},
        {"https://e.org/#/r?token=c/d#e", "https://e.org/#/r?token=REDACTED"},
        {"https://e.org/a;jsessionid=1F/b?c=d",
         "https://e.org/a;jsessionid=REDACTED/b?c=d"},
        /* names in disguise */
        {"https://e.org/?ToKeN=c", "https://e.org/?ToKeN=REDACTED"},
        {"https://e.org/?%74oke%6E=c", "https://e.org/?%74oke%6E=REDACTED"},
        {"https://e.org/?api%5Fkey=c", "https://e.org/?api%5Fkey=REDACTED"},
        {"https://e.org/?user[password]=c", "https://e.org/?user[password]=REDACTED"},
        {"https://e.org/?csrf-token=c", "https://e.org/?csrf-token=REDACTED"},
        {"https://e.org/?X-Amz-Date=c", "https://e.org/?X-Amz-Date=REDACTED"},
        /* neighbours that are none */
        {"https://e.org/?author=a&monkey=b&session_count=3&decode=1",
         "https://e.org/?author=a&monkey=b&session_count=3&decode=1"},
        {"https://e.org/?%7=c&%zz=d&%", "https://e.org/?%7=c&%zz=d&%"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(redacted(rows[i].url), rows[i].want);
}

TEST(redact_knows_every_name_of_the_list)
{
    static const char *const names[] = {
        "token",
        "key",
        "api_key",
        "apikey",
        "secret",
        "password",
        "passwd",
        "pwd",
        "auth",
        "session",
        "sid",
        "access_token",
        "refresh_token",
        "code",
        "sig",
        "signature",
        "jwt",
        "id_token",
        "x-amz-credential",
        "X-Amz-Security-Token",
    };

    EACH_ROW(i, names) {
        char url[80];

        snprintf(url, sizeof url, "https://e.org/?%s=hunter2", names[i]);
        CHECK(!strstr(redacted(url), "hunter2"));
    }
}

TEST(redact_takes_an_endless_name_for_a_secret)
{
    char name[66] = {0}, url[100];

    memset(name, 'a', 65);
    snprintf(url, sizeof url, "?%s=hunter2", name);
    CHECK(!strstr(redacted(url), "hunter2"));
    name[64] = '\0'; /* 64 letters are still a name */
    snprintf(url, sizeof url, "?%s=hunter2", name);
    CHECK(strstr(redacted(url), "hunter2") != NULL);
}

TEST(redact_writes_no_more_than_there_is_room_for)
{
    const char *url = "https://joe:pw@e.org/?token=abc&x=y";
    char want[100], out[100];
    size_t n = sn_redact(sn_str_of(url), want, sizeof want);

    for (size_t cap = 0; cap <= n; cap++) {
        memset(out, '~', sizeof out);
        CHECK_EQ(sn_redact(sn_str_of(url), out, cap), cap);
        CHECK(memcmp(out, want, cap) == 0);
        CHECK_EQ(out[cap], '~');
    }
    CHECK_EQ(sn_redact(sn_str_of(url), out, sizeof out), n);
}

/* Any bytes: a marked value never comes through, and twice is the same as once. */
TEST(redact_stands_any_bytes)
{
    static const char alphabet[] = "ab=&?#;/@:%74\\token=hunter2\0\xff";
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 4000; i++) {
        char url[80], once[700], twice[700];
        size_t len = sn_rng_below(&r, 60);

        for (size_t k = 0; k < len; k++)
            url[k] = alphabet[sn_rng_below(&r, sizeof alphabet)];
        snprintf(url + len, sizeof url - len, "?sid=hunter3");
        size_t n = sn_redact((sn_str){url, len + 12}, once, sizeof once);
        CHECK(!memmem(once, n, "hunter3", 7));
        size_t m = sn_redact((sn_str){once, n}, twice, sizeof twice);
        CHECK(sn_str_eq((sn_str){once, n}, (sn_str){twice, m}));
    }
}
