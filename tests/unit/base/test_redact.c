/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"

static const char *
redacted(const char *url)
{
    static char out[512];

    size_t n = sn_redact_url(NULL, sn_str_of(url), out, sizeof out - 1);

    out[n < sizeof out ? n : sizeof out - 1] = '\0';
    return out;
}

static const char *
said(const seine_secrets *s, const char *text)
{
    static char out[1024];
    size_t n = sn_redact(s, sn_str_of(text), out, sizeof out - 1);

    out[n < sizeof out ? n : sizeof out - 1] = '\0';
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
        {"https://e.org/?token=", "https://e.org/?token="}, /* nothing to hide */
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
    size_t n = sn_redact_url(NULL, sn_str_of(url), want, sizeof want);

    for (size_t cap = 0; cap <= n; cap++) {
        memset(out, '~', sizeof out);
        CHECK_EQ(sn_redact_url(NULL, sn_str_of(url), out, cap), n);
        CHECK(memcmp(out, want, cap) == 0);
        CHECK_EQ(out[cap], '~');
    }
    CHECK_EQ(sn_redact_url(NULL, sn_str_of(url), out, sizeof out), n);
}

TEST(redact_finds_urls_and_parameters_anywhere_in_a_text)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", ""},
        {"nothing to see", "nothing to see"},
        {"mail joe@e.org, a=b, x == y; z=1", "mail joe@e.org, a=b, x == y; z=1"},
        {"seine: 'https://joe:pw@e.org/': not found",
         "seine: 'https://REDACTED@e.org/': not found"},
        {"http://10.0.0.5/ (private) found on https://u:p@a.org/?q=1 (public)",
         "http://10.0.0.5/ (private) found on https://REDACTED@a.org/?q=1 (public)"},
        {"from //joe:pw@e.org/ to (//a@b.org/)",
         "from //REDACTED@e.org/ to (//REDACTED@b.org/)"},
        {"/path?token=abc is relative", "/path?token=REDACTED is relative"},
        {"\"u\":\"http://a/?sid=1\",\"v\":\"http://b/?sid=2&c=3\"",
         "\"u\":\"http://a/?sid=REDACTED\",\"v\":\"http://b/?sid=REDACTED&c=3\""},
        {"<http://a/?key=1>", "<http://a/?key=REDACTED>"},
        {"see http://a/?key=1, or http://b/?key=2.",
         "see http://a/?key=REDACTED, or http://b/?key=REDACTED."},
        {"http://a:1/ http://b@c/", "http://a:1/ http://REDACTED@c/"},
        {"web.archive/http://joe:pw@e.org/", "web.archive/http://REDACTED@e.org/"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(said(NULL, rows[i].text), rows[i].want);
}

TEST(redact_finds_the_user_of_a_url)
{
    static const struct {
        const char *url, *user;
    } rows[] = {
        {"https://joe:pw@e.org/", "joe:pw@"},
        {"joe:pw@e.org", "joe:pw@"},
        {"https://e.org/a@b", ""},
        {"//a@b@c", "a@b@"},
        {"", ""},
    };

    EACH_ROW(i, rows) {
        sn_str user = sn_redact_user(sn_str_of(rows[i].url));
        CHECK_EQ(user.len, strlen(rows[i].user));
        CHECK(user.len == 0 || memcmp(user.ptr, rows[i].user, user.len) == 0);
    }
}

/* For any bytes, a marked value never shows, and redacting twice changes nothing. */
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
        size_t n = sn_redact_url(NULL, (sn_str){url, len + 12}, once, sizeof once);
        CHECK(!memmem(once, n, "hunter3", 7));
        size_t m = sn_redact_url(NULL, (sn_str){once, n}, twice, sizeof twice);
        CHECK(sn_str_eq((sn_str){once, n}, (sn_str){twice, m}));
        n = sn_redact(NULL, (sn_str){url, len + 12}, once, sizeof once);
        CHECK(!memmem(once, n, "hunter3", 7));
        m = sn_redact(NULL, (sn_str){once, n}, twice, sizeof twice);
        CHECK(sn_str_eq((sn_str){once, n}, (sn_str){twice, m}));
    }
}

/* Values of a set. */

static seine_secrets *
set_of(const char *value)
{
    seine_secrets *s = NULL;

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    CHECK_EQ(seine_secrets_add(s, value, strlen(value)), SEINE_OK);
    return s;
}

/* The same, learnt while the program runs. */
static seine_secrets *
learnt(const char *value)
{
    seine_secrets *s = NULL;

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    CHECK_EQ(seine_secrets_learn(s, value, strlen(value)), SEINE_OK);
    return s;
}

TEST(redact_knows_every_spelling_of_a_value)
{
    static const struct {
        const char *value, *text, *want;
    } rows[] = {
        {"hunter2", "the word is hunter2.", "the word is REDACTED."},
        {"hunter2", "hunter2hunter2", "REDACTED"}, /* what touches goes together */
        {"hunter2", "hunter3 Hunter2", "hunter3 Hunter2"},
        {"short", "short", "short"}, /* five bytes are not looked for */
        {"abcdef", "abcdef", "REDACTED"},
        /* escapes: some, all, in either case */
        {"hunter2", "x=%68unter2", "x=REDACTED"},
        {"hunter2", "x=%68%75%6e%74%65%72%32&", "x=REDACTED&"},
        {"hunter2", "x=%68%75%6E%74%65%72%32&", "x=REDACTED&"},
        {"a/b+c=d", "a%2Fb%2bc%3dd", "REDACTED"},
        {"p\xc3\xa4ssw\xc3\xb6rd", "p%C3%A4ssw%c3%b6rd", "REDACTED"},
        {"a b c d", "a%20b+c d a+b+c+d", "a%20b+c d REDACTED"},
        {"a b c d", "a%20b%20c d", "REDACTED"},
        /* a value that holds escapes: as it is, escaped, and decoded */
        {"ab%41cdef", "ab%41cdef", "REDACTED"},
        {"ab%41cdef", "ab%2541cdef", "REDACTED"},
        {"ab%41cdef", "abAcdef", "REDACTED"},
        /* a percent sign before it does not hide its digits */
        {"41secret", "100%41secret", "100%REDACTED"},
        {"41secret", "100%41se%63ret", "100%REDACTED"},
        {"1secret", "100%41se%63ret", "100%4REDACTED"},
        /* base64 of "joe:hunter2" and others: the value behind 0, 1 and 2 bytes */
        {"hunter2", "aHVudGVyMg==", "REDACTED"},
        {"hunter2", "aHVudGVyMg", "REDACTED"},
        {"hunter2", "Omh1bnRlcjI=", "OREDACTED"},         /* ":hunter2" */
        {"hunter2", "YTpodW50ZXIy", "YTREDACTED"},        /* "a:hunter2" */
        {"hunter2", "am9lOmh1bnRlcjI=", "am9lOREDACTED"}, /* "joe:hunter2" */
        {"hunter2", "Basic am9lOmh1bnRlcjI=", "Basic am9lOREDACTED"},
        {"hunter2",
         "aHVudGVyMiBhbmQgbW9yZQ==", "REDACTEDBhbmQgbW9yZQ=="}, /* "hunter2 and more" */
        {"hunter2", "b=aHVudGVyMg%3D%3D&c", "b=REDACTED&c"},
        /* both alphabets, and even a mixture */
        {"\xfb\xff\xfe\xfb\xef\xbe", "+//+++++ -__----- +__-+-+-",
         "REDACTED REDACTED REDACTED"},
        {"\xfb\xff\xfe\xfb\xef\xbe", "+//++++/", "+//++++/"},
    };

    EACH_ROW(i, rows) {
        seine_secrets *s = set_of(rows[i].value);

        CHECK_STR(said(s, rows[i].text), rows[i].want);
        seine_secrets_free(s);
        s = learnt(rows[i].value);
        CHECK_STR(said(s, rows[i].text), rows[i].want);
        seine_secrets_free(s);
    }
}

TEST(redact_knows_what_was_learnt_beside_what_was_given)
{
    seine_secrets *s = set_of("hunter2");
    char value[32], text[64];

    CHECK_EQ(seine_secrets_learn(s, "hunter2", 7), SEINE_OK); /* both */
    for (int i = 0; i < 2000; i++) {
        int n = snprintf(value, sizeof value, "sid-%06d-sid", i);

        CHECK_EQ(seine_secrets_learn(s, value, (size_t)n), SEINE_OK);
        CHECK_EQ(seine_secrets_learn(s, value, (size_t)n), SEINE_OK); /* again */
    }
    for (int i = 0; i < 2000; i += 7) {
        snprintf(text, sizeof text, "x sid-%06d-sid y hunter2", i);
        CHECK_STR(said(s, text), "x REDACTED y REDACTED");
    }
    CHECK_STR(said(s, "sid-002000-sid"), "sid-002000-sid");
    seine_secrets_free(s);
}

/* 4 MiB hold some 200 values of 4,000 bytes and their spellings. */
TEST(redact_forgets_the_oldest_of_what_was_learnt)
{
    static char value[4000], out[5000];
    char *end = value + sizeof value - 6, number[16];
    seine_secrets *s = NULL;

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    memset(value, 'v', sizeof value);
    for (int i = 0; i < 1000; i++) {
        snprintf(number, sizeof number, "%06d", i);
        memcpy(end, number, 6);
        CHECK_EQ(seine_secrets_learn(s, value, sizeof value), SEINE_OK);
        CHECK(s->recent.bytes <= SN_RECENT_BYTES);
        size_t n = sn_redact(s, (sn_str){value, sizeof value}, out, sizeof out);
        CHECK_EQ(n, 8);
    }
    memcpy(end, "000000", 6);
    CHECK_EQ(sn_redact(s, (sn_str){value, sizeof value}, out, sizeof out), sizeof value);
    CHECK_EQ(seine_secrets_learn(s, value, SEINE_SECRET_MOST + 1), SEINE_E_RANGE);
    seine_secrets_free(s);
}

/* Thousands of values with the same end, and a text that is full of it. */
TEST(redact_hides_a_text_that_was_made_to_take_long)
{
    static char text[8000], out[9000];
    seine_secrets *s = NULL;
    char value[64];

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    for (int i = 0; i < 4000; i++) {
        int n = snprintf(value, sizeof value, "%06dabcabcabcabcabcabc", i);

        CHECK_EQ(seine_secrets_learn(s, value, (size_t)n), SEINE_OK);
    }
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = "abc"[i % 3];
    CHECK_EQ(sn_redact(s, (sn_str){text, sizeof text}, out, sizeof out), 8);
    CHECK(sn_redact_steps(s, (sn_str){text, sizeof text}) < 300 * sizeof text);
    CHECK_STR(said(s, "abcabc"), "abcabc");
    seine_secrets_free(s);
}

TEST(redact_takes_the_longest_of_values_that_overlap)
{
    seine_secrets *s = set_of("hunter2");

    CHECK_EQ(seine_secrets_add(s, "my-hunter2-word", 15), SEINE_OK);
    CHECK_EQ(seine_secrets_add(s, "2-word-of-mine", 14), SEINE_OK);
    CHECK_STR(said(s, "a my-hunter2-word z"), "a REDACTED z");
    CHECK_STR(said(s, "a my-hunter2-words"), "a REDACTEDs");
    CHECK_STR(said(s, "a my-hunter2-wor"), "a my-REDACTED-wor");
    CHECK_STR(said(s, "a my-hunter2-word-of-mine z"), "a REDACTED z");
    seine_secrets_free(s);
}

TEST(redact_looks_at_texts_of_any_length)
{
    seine_secrets *s = set_of("hunter2");
    static char text[5000], out[6000];

    for (size_t len = 1000; len <= 1100; len++) {
        memset(text, 'x', len);
        memcpy(text + len - 7, "hunter2", 7);
        size_t n = sn_redact(s, (sn_str){text, len}, out, sizeof out);
        CHECK_EQ(n, len + 1);
        CHECK(memcmp(out + n - 9, "xREDACTED", 9) == 0);
    }
    seine_secrets_free(s);
}

TEST(redact_without_memory_shows_nothing)
{
    seine_secrets *s = set_of("hunter2");
    static char text[2000], out[3000];

    memset(text, 'x', sizeof text);
    FAIL_EACH(round)
    {
        size_t n = sn_redact(s, (sn_str){text, sizeof text}, out, sizeof out);
        CHECK(n == 8 || n == sizeof text);
        CHECK(memcmp(out, n == 8 ? "REDACTED" : "xxxxxxxx", 8) == 0);
    }
    seine_secrets_free(s);
}

/* A second method: tries every place, with every choice of escaped characters. */

static int
escape_at(const char *text, size_t n, size_t i)
{
    if (n - i < 3 || text[i] != '%')
        return -1;
    int high = sn_hex_digit(text[i + 1]), low = sn_hex_digit(text[i + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* Where the longest match of the value from `i` ends; 0: none. */
static size_t
reading(const char *text, size_t n, size_t i, const char *value, size_t left)
{
    if (left == 0)
        return i;
    if (i >= n)
        return 0;
    size_t plain = text[i] == value[0] ? reading(text, n, i + 1, value + 1, left - 1) : 0;
    size_t other = escape_at(text, n, i) == (unsigned char)value[0]
                       ? reading(text, n, i + 3, value + 1, left - 1)
                       : 0;
    return plain > other ? plain : other;
}

static size_t
model(const char *text, size_t n, char values[][16], size_t n_values, char *out)
{
    bool gone[256] = {false};
    size_t len = 0;

    for (size_t v = 0; v < n_values; v++)
        for (size_t i = 0; i < n; i++)
            for (size_t k = i, to = reading(text, n, i, values[v], strlen(values[v]));
                 k < to; k++)
                gone[k] = true;
    for (size_t i = 0; i < n; i++)
        if (!gone[i])
            out[len++] = text[i];
        else if (i == 0 || !gone[i - 1]) {
            memcpy(out + len, "REDACTED", 8);
            len += 8;
        }
    return len;
}

TEST(redact_agrees_with_a_search_of_every_place)
{
    static const char *const pieces[] = {"a",   "b", "4",   "1",  "%61", "%62", "%34",
                                         "%31", "%", "%41", "%4", "%14", "%b1"};
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 3000; round++) {
        char values[3][16] = {"", "", ""}, text[200] = "", got[2000], want[2000];
        size_t n = 0, n_values = 1 + sn_rng_below(&r, 3);
        seine_secrets *s = NULL;

        CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
        for (size_t v = 0; v < n_values; v++) {
            size_t len = 6 + sn_rng_below(&r, 4), kinds = 2 + sn_rng_below(&r, 3);

            for (size_t k = 0; k < len; k++)
                values[v][k] = "ab41"[sn_rng_below(&r, kinds)];
            CHECK_EQ(round % 2 ? seine_secrets_add(s, values[v], len)
                               : seine_secrets_learn(s, values[v], len),
                     SEINE_OK);
        }
        while (n < 180) {
            /* now and then a value, some of it escaped */
            if (sn_rng_below(&r, 12) == 0)
                for (const char *c = values[sn_rng_below(&r, n_values)]; *c && n < 180;
                     c++)
                    n += (size_t)(sn_rng_below(&r, 3)
                                      ? snprintf(text + n, sizeof text - n, "%c", *c)
                                      : snprintf(text + n, sizeof text - n, "%%%02x",
                                                 (unsigned)*c));
            else
                n += (size_t)snprintf(
                    text + n, sizeof text - n, "%s",
                    pieces[sn_rng_below(&r, sizeof pieces / sizeof *pieces)]);
        }
        size_t m = model(text, n, values, n_values, want);
        CHECK_EQ(sn_redact(s, (sn_str){text, n}, got, sizeof got), m);
        CHECK(memcmp(got, want, m) == 0);
        seine_secrets_free(s);
    }
}

/* Bits of base64 from `from` on that are those of the value. */
static bool
holds_bits(const char *text, size_t n, size_t bit, const char *value, size_t len)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t b = 0; b < 8 * len; b++) {
        size_t at = (bit + b) / 6;
        char c = at < n ? text[at] : '=';
        const char *digit = strchr(digits, c == '-' ? '+' : c == '_' ? '/' : c);

        if (!c || !digit)
            return false;
        if (((digit - digits) >> (5 - (bit + b) % 6) & 1) !=
            (((unsigned char)value[b / 8] >> (7 - b % 8)) & 1))
            return false;
    }
    return true;
}

TEST(redact_leaves_no_bits_of_a_value_in_base64)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 2000; round++) {
        char bytes[100], value[40], text[400], out[1000];
        size_t before = sn_rng_below(&r, 20), len = 6 + sn_rng_below(&r, 30),
               behind = sn_rng_below(&r, 20), n = before + len + behind, m = 0;
        seine_secrets *s = NULL;

        for (size_t i = 0; i < n; i++)
            bytes[i] = (char)sn_rng_next(&r);
        memcpy(value, bytes + before, len);
        text[m++] = '<';
        sn_base64(bytes, n, text + m);
        m += SN_BASE64_ROOM(n);
        if (sn_rng_below(&r, 2))
            while (text[m - 1] == '=')
                m--;
        if (sn_rng_below(&r, 2))
            for (size_t i = 0; i < m; i++)
                text[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
        text[m++] = '>';
        CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
        CHECK_EQ(round % 2 ? seine_secrets_add(s, value, len)
                           : seine_secrets_learn(s, value, len),
                 SEINE_OK);
        size_t k = sn_redact(s, (sn_str){text, m}, out, sizeof out);
        CHECK(memmem(out, k, "REDACTED", 8) != NULL);
        CHECK(out[0] == '<' && out[k - 1] == '>');
        for (size_t bit = 0; bit < 6 * k; bit += 2)
            CHECK(!holds_bits(out, k, bit, value, len));
        /* Groups that hold nothing of the value stay, before and behind it. */
        CHECK(memcmp(out, text, 1 + before / 3 * 4) == 0);
        seine_secrets_free(s);
    }
}

TEST(redact_takes_linear_steps)
{
    seine_secrets *s = NULL;
    static char value[SEINE_SECRET_MOST], text[1 << 16];

    CHECK_EQ(seine_secrets_new(&s), SEINE_OK);
    memset(value, 'a', sizeof value);
    value[0] = 'b'; /* read backwards, each place fails at its last byte */
    CHECK_EQ(seine_secrets_add(s, value, sizeof value), SEINE_OK);
    value[0] = 'a';
    value[sizeof value - 1] = 'b';
    CHECK_EQ(seine_secrets_add(s, value, sizeof value), SEINE_OK);
    memset(text, 'a', sizeof text);
    CHECK(sn_redact_steps(s, (sn_str){text, sizeof text}) <= 8 * sizeof text);
    for (size_t i = 0; i + 3 <= sizeof text; i += 3)
        memcpy(text + i, "%61", 3);
    CHECK(sn_redact_steps(s, (sn_str){text, sizeof text}) <= 12 * sizeof text);
    seine_secrets_free(s);
}
