/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/request_body.h"

#include <string.h>

#include "base/buf.h"
#include "check.h"

typedef struct taken {
    snc_parsed got;
    char body[64];
    size_t len, left; /* bytes that are not part of the body */
    const char *why;
} taken;

/* Feeds `bytes` in pieces of `step`. */
static taken
take(bool chunked, uint64_t length, sn_str bytes, size_t step)
{
    snc_request req = {.chunked = chunked, .length = length};
    snc_request_body in = snc_request_body_of(&req);
    taken t = {.got = in.state == SNC_BODY_DONE ? SNC_PARSED_OK : SNC_PARSED_MORE};

    for (size_t at = 0; at < bytes.len && t.got == SNC_PARSED_MORE; at += step) {
        sn_str rest = sn_str_slice(bytes, at, at + step), piece;

        do {
            t.got = snc_request_body_feed(&in, &rest, &piece);
            if (piece.len > 0)
                memcpy(t.body + t.len, piece.ptr, piece.len);
            t.len += piece.len;
        } while (t.got == SNC_PARSED_MORE && rest.len > 0);
        t.left = rest.len;
    }
    t.why = in.why ? in.why : "";
    return t;
}

TEST(bodies_of_either_framing_come_out_whole_however_they_are_cut)
{
    static const char *const chunked[] = {
        "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
        "5;x=y\r\nhello\r\n6 ;z\r\n world\r\n0\r\nA: b\r\nC: d\r\n\r\n",
        "0000000000000B\r\nhello world\r\n000\r\n\r\n",
    };

    for (size_t step = 1; step < 12; step++) {
        taken t = take(false, 11, SN_STR("hello world"), step);

        CHECK_EQ(t.got, SNC_PARSED_OK);
        CHECK(t.len == 11 && memcmp(t.body, "hello world", 11) == 0);
        EACH_ROW(i, chunked) {
            t = take(true, 0, sn_str_of(chunked[i]), step);
            CHECK_EQ(t.got, SNC_PARSED_OK);
            CHECK(t.len == 11 && memcmp(t.body, "hello world", 11) == 0);
            CHECK_EQ(t.left, 0);
        }
    }
}

TEST(what_follows_a_body_stays_where_it_is)
{
    taken t = take(false, 3, SN_STR("abcGET /"), 64);
    CHECK(t.got == SNC_PARSED_OK && t.len == 3 && t.left == 5);
    t = take(true, 0, SN_STR("1\r\na\r\n0\r\n\r\nGET /"), 64);
    CHECK(t.got == SNC_PARSED_OK && t.len == 1 && t.left == 5);
    t = take(false, 0, SN_STR("GET /"), 64);
    CHECK(t.got == SNC_PARSED_OK && t.len == 0);
}

TEST(chunks_that_are_none_are_refused_by_name)
{
    static const struct {
        const char *bytes, *why;
    } rows[] = {
        {"\r\n", "chunk without a size"},
        {"x\r\n", "chunk without a size"},
        {"-1\r\n", "chunk without a size"},
        {"5x\r\n", "chunk size is no number"},
        {"5\nhello", "chunk size is no number"},
        {"5\rx", "chunk size line without CRLF"},
        {"5;a\nhello", "chunk size line without CRLF"},
        {"5;a\rx", "chunk size line without CRLF"},
        {"1234567890abcdef\r\n", "chunk size is too large"},
        {"1\r\nab\r\n", "chunk data without CRLF"},
        {"1\r\na\n", "chunk data without CRLF"},
        {"0\r\nA: b\n", "trailer line without CRLF"},
        {"0\r\n\rx", "trailer line without CRLF"},
    };

    for (size_t step = 1; step < 4; step++)
        EACH_ROW(i, rows) {
            taken t = take(true, 0, sn_str_of(rows[i].bytes), step);

            CHECK_EQ(t.got, SNC_PARSED_BAD);
            CHECK_STR(t.why, rows[i].why);
        }
}

static const char *
first_fault(const char *start, char rest)
{
    snc_request req = {.chunked = true};
    snc_request_body in = snc_request_body_of(&req);
    sn_str bytes, piece;
    sn_buf text;

    sn_buf_init(&text, 65536);
    sn_buf_text(&text, start);
    while (text.len < 20000)
        sn_buf_char(&text, rest);
    bytes = sn_buf_view(&text);
    CHECK_EQ(snc_request_body_feed(&in, &bytes, &piece), SNC_PARSED_BAD);
    sn_buf_fini(&text);
    return in.why;
}

TEST(extensions_and_trailers_have_a_largest_size)
{
    CHECK_STR(first_fault("1;", 'e'), "chunk extensions are too large");
    CHECK_STR(first_fault("0\r\n", 't'), "trailers are too large");
}
