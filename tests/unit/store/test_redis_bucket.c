/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_bucket.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "check.h"

/* Programs of two versions use one server: who changes the functions changes the number
 * in their names, in redis_bucket.lua and redis_bucket.c, and then this digest. */
TEST(redis_bucket_functions_of_version_1_never_change)
{
    const char *code = sn_redis_bucket_functions();
    uint8_t digest[32];
    char hex[17];

    CHECK(strncmp(code, "#!lua name=seine_bucket1\n", 25) == 0);
    CHECK_EQ(sn_sha256(code, strlen(code), digest), SEINE_OK);
    for (int i = 0; i < 8; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    CHECK_STR(hex, "5358978379d3ef05");
}

/* What the words of a command look like on the wire. */
typedef struct wire {
    sn_redis_url url;
    sn_redis *r;
} wire;

static void
open_wire(wire *w)
{
    CHECK_EQ(sn_redis_url_parse(SN_STR("redis://h"), &w->url, NULL), SEINE_OK);
    sn_redis_opts opts = {.url = &w->url};
    CHECK_EQ(sn_redis_new(&opts, 0, &w->r), SEINE_OK);
    sn_redis_tick(w->r, 0);
    sn_redis_opened(w->r, 0);
    sn_redis_received(w->r, 0, SN_STR("*2\r\n$7\r\nversion\r\n$1\r\n7\r\n+PONG\r\n"));
    sn_redis_sent(w->r, sn_redis_output(w->r).len);
}

static void
close_wire(wire *w)
{
    sn_redis_free(w->r);
    sn_redis_url_fini(&w->url);
}

/* The words, separated by blanks. */
static const char *
words_of(wire *w)
{
    static char out[1024];
    sn_str rest = sn_redis_output(w->r), line;
    size_t n = 0;

    for (bool is_word = false; sn_str_next(&rest, '\n', &line);) {
        if (is_word)
            n += (size_t)snprintf(out + n, sizeof out - n, "%s%.*s", n ? " " : "",
                                  (int)line.len - 1, line.ptr);
        is_word = !is_word && line.ptr[0] == '$';
    }
    sn_redis_sent(w->r, sn_redis_output(w->r).len);
    return out;
}

static void
ignore(seine_err e, const sn_redis_reply *reply, void *arg)
{
    (void)e;
    (void)reply;
    (void)arg;
}

TEST(redis_bucket_take_sends_spans_as_seconds_and_nanoseconds)
{
    wire w;
    sn_redis_keys keys;
    seine_limiter lim;

    open_wire(&w);
    sn_redis_keys_init(&keys, SN_STR("gate"));
    CHECK_EQ(seine_limiter_init(&lim, 333333334, 7), SEINE_OK);
    CHECK_EQ(
        sn_redis_bucket_take(w.r, 0, &keys, SN_STR("p:192.0.2.7"), &lim, 4, ignore, NULL),
        SEINE_OK);
    CHECK_STR(words_of(&w),
              "FCALL seine_bucket1_take 4 sn:{gate}:b:p:192.0.2.7 sn:{gate}:since "
              "sn:{gate}:m sn:{gate}:apart 1 333333336 2 333333338");
    CHECK_EQ(sn_redis_bucket_take(w.r, 0, &keys, SN_STR("x"), &lim, 8, ignore, NULL),
             SEINE_E_RANGE);
    close_wire(&w);
}

TEST(redis_bucket_of_a_long_name_has_a_short_key)
{
    char name[SN_REDIS_KEY + 1], other[SN_REDIS_KEY + 1];
    char first[1024], second[1024];
    wire w;
    sn_redis_keys keys;
    seine_limiter lim;

    open_wire(&w);
    memset(name, 'a', sizeof name);
    memcpy(other, name, sizeof name);
    other[SN_REDIS_KEY] = 'b'; /* they differ in the last byte alone */
    sn_redis_keys_init(&keys, SN_STR("a prefix that is much too long for a key"));
    CHECK_EQ(seine_limiter_init(&lim, 1, 1), SEINE_OK);
    CHECK_EQ(sn_redis_bucket_take(w.r, 0, &keys, (sn_str){name, SN_REDIS_KEY}, &lim, 1,
                                  ignore, NULL),
             SEINE_OK);
    CHECK(strstr(words_of(&w), "aaaaaaaaaaaaaaaa") != NULL);
    CHECK_EQ(sn_redis_bucket_take(w.r, 0, &keys, (sn_str){name, sizeof name}, &lim, 1,
                                  ignore, NULL),
             SEINE_OK);
    snprintf(first, sizeof first, "%s", words_of(&w));
    CHECK_EQ(sn_redis_bucket_take(w.r, 0, &keys, (sn_str){other, sizeof other}, &lim, 1,
                                  ignore, NULL),
             SEINE_OK);
    snprintf(second, sizeof second, "%s", words_of(&w));
    CHECK(strstr(first, "aaaaaaaaaaaaaaaa") == NULL);
    CHECK(strcmp(first, second) != 0);
    close_wire(&w);
}

TEST(redis_bucket_meet_says_who_and_how)
{
    wire w;
    sn_redis_keys keys;
    sn_redis_member m = {
        .id = "me", .way = SN_REDIS_JOIN, .has_spent = true, .deepest = SEINE_SECS(60)};

    open_wire(&w);
    sn_redis_keys_init(&keys, SN_STR("g"));
    CHECK_EQ(sn_redis_bucket_meet(w.r, 0, &keys, &m, ignore, NULL), SEINE_OK);
    CHECK_STR(words_of(&w),
              "FCALL seine_bucket1_meet 3 sn:{g}:since sn:{g}:m sn:{g}:apart "
              "me join 15000 1000 1 61000");
    close_wire(&w);
}

TEST(redis_bucket_replies_that_are_none_are_refused)
{
    static const struct {
        const char *bytes;
        bool is_taken;
    } rows[] = {
        {"*6\r\n:1\r\n:1700000000\r\n:5\r\n:1700000000\r\n:4\r\n:2\r\n", true},
        {"*5\r\n:1\r\n:1700000000\r\n:5\r\n:1700000000\r\n:4\r\n", false},
        {"*6\r\n:1\r\n:1700000000\r\n:1000000000\r\n:1700000000\r\n:4\r\n:2\r\n", false},
        {"*6\r\n:1\r\n:1700000000\r\n:-1\r\n:1700000000\r\n:4\r\n:2\r\n", false},
        {"*6\r\n:1\r\n:9223372036\r\n:5\r\n:1700000000\r\n:4\r\n:2\r\n", false},
        {"*6\r\n:1\r\n:1700000000\r\n:5\r\n:1700000000\r\n:4\r\n:-2\r\n", false},
        {"+OK\r\n", false},
        {"*0\r\n", false},
    };

    EACH_ROW(i, rows) {
        sn_redis_reader *r;
        const sn_redis_reply *reply;
        sn_redis_taken t;

        CHECK_EQ(sn_redis_reader_new(4096, &r), SEINE_OK);
        CHECK_EQ(sn_redis_reader_feed(r, sn_str_of(rows[i].bytes)), SEINE_OK);
        CHECK_EQ(sn_redis_reader_next(r, &reply), SEINE_OK);
        CHECK_EQ(sn_redis_bucket_read(reply, &t), rows[i].is_taken);
        if (rows[i].is_taken) {
            CHECK(t.granted && t.members == 2);
            CHECK_EQ(t.full - t.now, 1);
        }
        sn_redis_reader_free(r);
    }
}
