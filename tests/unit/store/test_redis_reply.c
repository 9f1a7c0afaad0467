/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_reply.h"

#include <string.h>

#include "check.h"

/* Writes a reply as text: 7 "text" +status -error nil [a b]. */
static void
print(const sn_redis_reply *r, sn_buf *out)
{
    switch (r->kind) {
    case SN_REDIS_NIL:
        sn_buf_text(out, "nil");
        break;
    case SN_REDIS_INTEGER:
        sn_buf_i64(out, r->integer);
        break;
    case SN_REDIS_STRING:
        sn_buf_printf(out, "\"%.*s\"", SN_FMT(r->text));
        break;
    case SN_REDIS_STATUS:
    case SN_REDIS_ERROR:
        sn_buf_char(out, r->kind == SN_REDIS_ERROR ? '-' : '+');
        sn_buf_str(out, r->text);
        break;
    case SN_REDIS_ARRAY:
        for (size_t i = 0; i < r->count; i++) {
            sn_buf_char(out, i ? ' ' : '[');
            print(r->items[i], out);
        }
        sn_buf_text(out, r->count ? "]" : "[]");
    }
}

/* All replies of the bytes, fed in pieces of `step`, separated by |. */
static seine_err
read_all(sn_str bytes, size_t step, sn_buf *out)
{
    sn_redis_reader *r = NULL;
    const sn_redis_reply *reply;
    seine_err e = sn_redis_reader_new(1 << 20, &r);

    for (size_t at = 0; e == SEINE_OK && at < bytes.len; at += step) {
        e = sn_redis_reader_feed(r, sn_str_slice(bytes, at, at + step));
        while (e == SEINE_OK) {
            e = sn_redis_reader_next(r, &reply);
            if (e != SEINE_OK || !reply)
                break;
            if (out->len)
                sn_buf_char(out, '|');
            print(reply, out);
        }
    }
    sn_redis_reader_free(r);
    return e;
}

TEST(redis_reply_is_the_same_whole_and_byte_by_byte)
{
    static const struct {
        const char *bytes;
        seine_err e;
        const char *replies;
    } rows[] = {
        {"+OK\r\n", SEINE_OK, "+OK"},
        {"-ERR no\r\n:7\r\n", SEINE_OK, "-ERR no|7"},
        {":-9223372036854775808\r\n", SEINE_OK, "-9223372036854775808"},
        {"$3\r\na\r\n\r\n$0\r\n\r\n$-1\r\n", SEINE_OK, "\"a\r\n\"|\"\"|nil"},
        {"*0\r\n*-1\r\n", SEINE_OK, "[]|nil"},
        {"*3\r\n:1\r\n*2\r\n$1\r\na\r\n$-1\r\n+x\r\n", SEINE_OK, "[1 [\"a\" nil] +x]"},
        {"*2\r\n:1\r\n", SEINE_OK, ""},            /* the second item is missing */
        {"$5\r\nabc", SEINE_OK, ""},               /* so is the rest of the text */
        {"%1\r\n+a\r\n+b\r\n", SEINE_E_PARSE, ""}, /* RESP3 was not asked for */
        {"HTTP/1.1 400 Bad Request\r\n", SEINE_E_PARSE, ""},
        {"*2\r\n+a\r\n!", SEINE_E_PARSE, ""},
        {":1\r\n\r\n", SEINE_E_PARSE, "1"},
        {"*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n*9\r\n", SEINE_E_PARSE,
         ""},
        {"*262144\r\n", SEINE_E_TOO_BIG, ""},
        {"*2147483647\r\n", SEINE_E_TOO_BIG, ""},
        {"*3\r\n*65000\r\n", SEINE_OK, ""},
    };

    EACH_ROW(i, rows) {
        for (size_t step = 1; step < 40; step += 6) {
            sn_buf out;

            sn_buf_init(&out, 256);
            CHECK_EQ(read_all(sn_str_of(rows[i].bytes), step, &out), rows[i].e);
            CHECK(sn_str_eq(sn_buf_view(&out), sn_str_of(rows[i].replies)));
            sn_buf_fini(&out);
        }
    }
}

TEST(redis_reply_values_are_counted_over_all_arrays)
{
    sn_redis_reader *r;
    const sn_redis_reply *reply = NULL;

    /* Forty arrays of 7,000 values are 280,000 values in one reply. */
    CHECK_EQ(sn_redis_reader_new(1 << 21, &r), SEINE_OK);
    CHECK_EQ(sn_redis_reader_feed(r, SN_STR("*40\r\n")), SEINE_OK);
    seine_err e = SEINE_OK;
    size_t given = 0;
    for (int i = 0; i < 40 && e == SEINE_OK; i++) {
        e = sn_redis_reader_feed(r, SN_STR("*7000\r\n"));
        for (int j = 0; j < 7000 && e == SEINE_OK; j++)
            e = sn_redis_reader_feed(r, SN_STR(":1\r\n"));
        if (e == SEINE_OK)
            e = sn_redis_reader_next(r, &reply);
        given += reply != NULL;
    }
    CHECK_EQ(e, SEINE_E_TOO_BIG);
    CHECK_EQ(given, 0);
    sn_redis_reader_free(r);
}

TEST(redis_reply_longer_than_the_bound_is_refused_before_it_is_kept)
{
    sn_redis_reader *r;
    const sn_redis_reply *reply;

    CHECK_EQ(sn_redis_reader_new(64, &r), SEINE_OK);
    CHECK_EQ(sn_redis_reader_feed(r, SN_STR("$1000\r\n")), SEINE_OK);
    CHECK_EQ(sn_redis_reader_next(r, &reply), SEINE_OK);
    CHECK(reply == NULL);
    char text[64] = "";
    CHECK_EQ(sn_redis_reader_feed(r, (sn_str){text, 57}), SEINE_OK);
    CHECK_EQ(sn_redis_reader_feed(r, (sn_str){text, 2}), SEINE_E_TOO_BIG);
    sn_redis_reader_free(r);
}

TEST(redis_reply_numbers_of_an_array)
{
    sn_redis_reader *r;
    const sn_redis_reply *reply;
    int64_t n = 0;

    CHECK_EQ(sn_redis_reader_new(4096, &r), SEINE_OK);
    CHECK_EQ(sn_redis_reader_feed(r, SN_STR("*3\r\n:5\r\n$2\r\n-6\r\n$1\r\nx\r\n")),
             SEINE_OK);
    CHECK_EQ(sn_redis_reader_next(r, &reply), SEINE_OK);
    CHECK(sn_redis_reply_int(reply, 0, &n) && n == 5);
    CHECK(sn_redis_reply_int(reply, 1, &n) && n == -6);
    CHECK(!sn_redis_reply_int(reply, 2, &n));
    CHECK(!sn_redis_reply_int(reply, 3, &n));
    CHECK(!sn_redis_reply_int(reply->items[0], 0, &n));
    sn_redis_reader_free(r);
}

TEST(redis_write_is_the_protocol)
{
    sn_str words[] = {SN_STR("SET"), SN_STR("a\r\nb"), SN_STR("")};
    sn_buf b;

    sn_buf_init(&b, 100);
    sn_redis_write(&b, words, 3);
    CHECK(sn_str_eq(sn_buf_view(&b),
                    SN_STR("*3\r\n$3\r\nSET\r\n$4\r\na\r\nb\r\n$0\r\n\r\n")));
    sn_buf_fini(&b);
}
