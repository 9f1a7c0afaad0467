/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_writer.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

#define ANSWER_HEAD                                                 \
    "HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\n" \
    "Content-Length: 5\r\n\r\n"
#define ASKED "GET /a HTTP/1.1\r\nHost: e.example\r\n\r\n"

/* 2026-11-15T19:20:01.123456Z */
static const int64_t noon = INT64_C(1794770401123456000);

static seine_view
view(const char *text)
{
    return (seine_view){text, strlen(text)};
}

static seine_capture
capture_of(const char *response)
{
    return (seine_capture){.url = view("http://e.example/a"),
                           .wall = noon,
                           .ip = view("203.0.113.5"),
                           .request = view(ASKED),
                           .response = view(response)};
}

typedef struct desk {
    sn_warc_writer warc;
    sn_buf out;
    sn_warc_writer_made made;
} desk;

static void
open_desk(desk *d, sn_warc_pack pack)
{
    *d = (desk){0};
    sn_warc_writer_init(&d->warc, &(sn_warc_writer_opts){
                                      .pack = pack, .software = "seine/9.9", .seed = 1});
    sn_buf_init(&d->out, 1 << 22);
}

static void
close_desk(desk *d)
{
    sn_warc_writer_fini(&d->warc);
    sn_buf_fini(&d->out);
}

static void
add(desk *d, const seine_capture *c)
{
    CHECK_EQ(sn_warc_writer_capture(&d->warc, c, &d->out, &d->made), SEINE_OK);
}

/* The value of the first field of that name behind `from`; "" when there is none. */
static const char *
field(const desk *d, size_t from, const char *name)
{
    static char value[512];
    char wanted[64];
    const char *end, *at;

    snprintf(wanted, sizeof wanted, "\r\n%s: ", name);
    at = strstr(d->out.ptr + from, wanted);
    value[0] = '\0';
    if (!at)
        return value;
    at += strlen(wanted);
    end = strstr(at, "\r\n");
    snprintf(value, sizeof value, "%.*s", (int)(end - at), at);
    return value;
}

TEST(warc_info_says_what_made_the_file)
{
    desk d;

    open_desk(&d, SN_WARC_PLAIN);
    d.warc.opts.user_agent = "seine/9.9";
    CHECK_EQ(sn_warc_writer_info(&d.warc, SN_STR("a.warc"), noon, &d.out), SEINE_OK);
    CHECK(strncmp(d.out.ptr, "WARC/1.1\r\nWARC-Type: warcinfo\r\n", 31) == 0);
    CHECK_STR(field(&d, 0, "WARC-Filename"), "a.warc");
    CHECK_STR(field(&d, 0, "WARC-Date"), "2026-11-15T19:20:01.123456Z");
    CHECK_STR(field(&d, 0, "Content-Type"), "application/warc-fields");
    CHECK_STR(field(&d, 0, "format"), "WARC File Format 1.1");
    CHECK_STR(field(&d, 0, "http-header-user-agent"), "seine/9.9");
    CHECK(strstr(d.out.ptr, "\r\n\r\nsoftware: seine/9.9\r\n") != NULL);
    CHECK(strcmp(d.out.ptr + d.out.len - 4, "\r\n\r\n") == 0);
    close_desk(&d);
}

/* Digests by Python's hashlib and base64. */
TEST(warc_response_and_request_are_a_pair)
{
    desk d;
    seine_capture c = capture_of(ANSWER_HEAD "hello");

    open_desk(&d, SN_WARC_PLAIN);
    add(&d, &c);
    CHECK_STR(field(&d, 0, "WARC-Type"), "response");
    CHECK_STR(field(&d, 0, "WARC-Target-URI"), "http://e.example/a");
    CHECK_STR(field(&d, 0, "WARC-IP-Address"), "203.0.113.5");
    CHECK_STR(field(&d, 0, "WARC-Date"), "2026-11-15T19:20:01.123456Z");
    CHECK_STR(field(&d, 0, "WARC-Record-ID"), d.made.id);
    CHECK_STR(field(&d, 0, "WARC-Payload-Digest"),
              "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
    CHECK_STR(field(&d, 0, "WARC-Block-Digest"), "sha1:RMD4SH24NPA7IUYS2WLRREF5JSX4L7C6");
    CHECK_STR(field(&d, 0, "Content-Type"), "application/http; msgtype=response");
    CHECK_EQ(d.made.status, 200);
    CHECK_STR(d.made.type, "text/html");
    CHECK_STR(d.made.digest, "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
    CHECK(strstr(d.out.ptr, "\r\nWARC-Truncated") == NULL);

    size_t second = (size_t)d.made.length;
    CHECK(strncmp(d.out.ptr + second, "WARC/1.1\r\nWARC-Type: request\r\n", 30) == 0);
    CHECK_STR(field(&d, second, "WARC-Concurrent-To"), d.made.id);
    CHECK_STR(field(&d, second, "WARC-Block-Digest"),
              "sha1:SWNDJUC2JYUR4LWJL2VHBH62CNZNXLFR");
    CHECK(strcmp(field(&d, second, "WARC-Record-ID"), d.made.id) != 0);
    CHECK(strcmp(d.out.ptr + d.out.len - sizeof(ASKED) - 3, ASKED "\r\n\r\n") == 0);
    close_desk(&d);
}

TEST(warc_ids_are_random_uuids)
{
    desk d;
    seine_capture c = capture_of(ANSWER_HEAD "hello");
    char before[SN_WARC_ID + 1] = "";

    open_desk(&d, SN_WARC_PLAIN);
    for (int i = 0; i < 20; i++) {
        add(&d, &c);
        CHECK_EQ(strlen(d.made.id), SN_WARC_ID);
        CHECK(strncmp(d.made.id, "<urn:uuid:", 10) == 0);
        CHECK_EQ(d.made.id[24], '4');
        CHECK(strchr("89ab", d.made.id[29]) != NULL);
        CHECK(strcmp(before, d.made.id) != 0);
        snprintf(before, sizeof before, "%s", d.made.id);
    }
    close_desk(&d);

    sn_warc_writer other;
    sn_warc_writer_init(&other, &(sn_warc_writer_opts){.software = "x"});
    CHECK(other.rng.s[0] != sn_rng_seed(0).s[0]);
    sn_warc_writer_fini(&other);
}

/* The same payload in every framing: its digest is that of "hello". */
TEST(warc_payload_is_the_body_without_its_framing)
{
    static const char *const rows[] = {
        ANSWER_HEAD "hello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 9\r\n\r\n"
        "2;x=\"y\"\r\nhe\r\n 3 \r\nllo\r\n00\r\nExpires: 0\r\n\r\n",
        "HTTP/1.0 200 OK\r\n\r\nhello",                              /* until the end */
        "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" ANSWER_HEAD "hello", /* interim */
        ANSWER_HEAD "hello and more",                    /* that nobody asked for */
        "HTTP/1.1 404 Gone\nContent-Length: 5\n\nhello", /* bare newlines */
    };

    EACH_ROW(i, rows) {
        desk d;
        seine_capture c = capture_of(rows[i]);

        open_desk(&d, SN_WARC_PLAIN);
        add(&d, &c);
        CHECK_STR(field(&d, 0, "WARC-Payload-Digest"),
                  "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
        CHECK_STR(field(&d, 0, "WARC-Truncated"), "");
        CHECK(strstr(d.out.ptr, "and more") == NULL);
        close_desk(&d);
    }
}

TEST(warc_answers_without_a_body_have_the_digest_of_nothing)
{
    static const struct {
        const char *asked, *answer;
    } rows[] = {
        {"HEAD /a HTTP/1.1\r\nHost: e\r\n\r\n", ANSWER_HEAD},
        {ASKED, "HTTP/1.1 204 No Content\r\n\r\n"},
        {ASKED, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"},
        {ASKED, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
    };

    EACH_ROW(i, rows) {
        desk d;
        seine_capture c = capture_of(rows[i].answer);

        open_desk(&d, SN_WARC_PLAIN);
        c.request = view(rows[i].asked);
        for (int again = 0; again < 2; again++) {
            size_t at = d.out.len;

            add(&d, &c);
            CHECK_STR(field(&d, at, "WARC-Payload-Digest"),
                      "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
            CHECK_STR(field(&d, at, "WARC-Truncated"), "");
            CHECK_STR(field(&d, at, "WARC-Type"), "response");
        }
        close_desk(&d);
    }
}

/* P3: a truncated response is marked, and has no digest. */
TEST(warc_truncated_says_why_and_has_no_payload_digest)
{
    static const struct {
        seine_cut cut;
        const char *answer, *word;
    } rows[] = {
        {SEINE_CUT_LENGTH, ANSWER_HEAD "hel", "length"},
        {SEINE_CUT_TIME, ANSWER_HEAD "hel", "time"},
        {SEINE_CUT_DISCONNECT, "HTTP/1.1 200 OK\r\nConte", "disconnect"},
        {SEINE_CUT_OTHER, "no HTTP at all", "unspecified"},
        {SEINE_CUT_NONE, ANSWER_HEAD "hel", "unspecified"}, /* not as whole as told */
        {SEINE_CUT_NONE, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxx\r\n",
         "unspecified"},
    };

    EACH_ROW(i, rows) {
        desk d;
        seine_capture c = capture_of(rows[i].answer);

        open_desk(&d, SN_WARC_PLAIN);
        c.cut = rows[i].cut;
        for (int again = 0; again < 2; again++) { /* never a revisit */
            size_t at = d.out.len;

            add(&d, &c);
            CHECK_STR(field(&d, at, "WARC-Type"), "response");
            CHECK_STR(field(&d, at, "WARC-Truncated"), rows[i].word);
            CHECK_STR(field(&d, at, "WARC-Payload-Digest"), "");
            CHECK(strstr(d.out.ptr + at, rows[i].answer) != NULL);
            CHECK_STR(d.made.digest, "");
        }
        close_desk(&d);
    }
}

TEST(warc_a_payload_seen_before_is_a_revisit_of_its_head)
{
    desk d;
    char first[SN_WARC_ID + 1];
    seine_capture c = capture_of(ANSWER_HEAD "hello");

    open_desk(&d, SN_WARC_PLAIN);
    add(&d, &c);
    snprintf(first, sizeof first, "%s", d.made.id);
    CHECK(!d.made.is_revisit);

    size_t at = d.out.len;
    c = capture_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "5\r\nhello\r\n0\r\n\r\n");
    c.url = view("http://e.example/b");
    c.wall += SEINE_SECS(1);
    add(&d, &c);
    CHECK(d.made.is_revisit);
    CHECK_EQ(d.made.offset, at);
    CHECK_STR(field(&d, at, "WARC-Type"), "revisit");
    CHECK_STR(field(&d, at, "WARC-Profile"),
              "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest");
    CHECK_STR(field(&d, at, "WARC-Refers-To"), first);
    CHECK_STR(field(&d, at, "WARC-Refers-To-Target-URI"), "http://e.example/a");
    CHECK_STR(field(&d, at, "WARC-Refers-To-Date"), "2026-11-15T19:20:01.123456Z");
    CHECK_STR(field(&d, at, "WARC-Date"), "2026-11-15T19:20:02.123456Z");
    CHECK_STR(field(&d, at, "WARC-Payload-Digest"),
              "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N");
    CHECK_STR(field(&d, at, "Content-Length"), "47");
    CHECK(strstr(d.out.ptr + at, "hello") == NULL);
    close_desk(&d);
}

TEST(warc_header_values_have_no_control_bytes)
{
    desk d;
    seine_capture c = capture_of(ANSWER_HEAD "hello");

    open_desk(&d, SN_WARC_PLAIN);
    c.url = view("http://e.example/a\r\nWARC-Type: evil\x7f\t ");
    add(&d, &c);
    CHECK_STR(field(&d, 0, "WARC-Target-URI"),
              "http://e.example/a%0D%0AWARC-Type: evil%7F");
    CHECK_STR(field(&d, 0, "WARC-Type"), "response");
    close_desk(&d);
}

TEST(warc_of_no_answer_is_nothing)
{
    desk d;
    seine_capture c = capture_of("");

    open_desk(&d, SN_WARC_GZIP);
    add(&d, &c);
    CHECK_EQ(d.out.len, 0);
    CHECK_EQ(d.made.length, 0);
    close_desk(&d);
}

/* Unpacks one stream; what is behind it is left in *in. */
static void
unpack(sn_codec_kind kind, sn_str *in, sn_buf *out)
{
    sn_codec codec;
    sn_codec_event event;

    sn_codec_init(&codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    CHECK_EQ(sn_codec_begin(&codec, kind), SEINE_OK);
    do {
        sn_codec_room room = {sn_buf_reserve(out, 4096), 4096};

        event = sn_codec_step(&codec, in, &room, false);
        sn_buf_commit(out, 4096 - room.len);
    } while (event == SN_CODEC_ROOM);
    CHECK_EQ(event, SN_CODEC_END);
    sn_codec_fini(&codec);
}

TEST(warc_packed_records_stand_each_in_a_stream_of_their_own)
{
    static const struct {
        sn_warc_pack pack;
        sn_codec_kind kind;
    } rows[] = {{SN_WARC_GZIP, SN_CODEC_GZIP}, {SN_WARC_ZSTD, SN_CODEC_ZSTD}};
    static char large[200000];
    desk plain;

    memcpy(large, "HTTP/1.0 200 OK\r\n\r\n", 19);
    for (size_t i = 19; i + 1 < sizeof large; i++)
        large[i] = (char)('a' + i * i % 23);
    seine_capture c = capture_of(large);
    open_desk(&plain, SN_WARC_PLAIN);
    CHECK_EQ(sn_warc_writer_info(&plain.warc, SN_STR("a"), noon, &plain.out), SEINE_OK);
    add(&plain, &c);
    EACH_ROW(i, rows) {
        desk d;
        sn_buf back;
        int streams = 0;

        open_desk(&d, rows[i].pack);
        sn_buf_init(&back, 1 << 22);
        CHECK_EQ(sn_warc_writer_info(&d.warc, SN_STR("a"), noon, &d.out), SEINE_OK);
        add(&d, &c);
        for (sn_str in = sn_buf_view(&d.out); in.len > 0 && streams < 9; streams++) {
            if (streams == 1)
                CHECK_EQ((size_t)(in.ptr - d.out.ptr), d.made.offset);
            if (streams == 2)
                CHECK_EQ((size_t)(in.ptr - d.out.ptr), d.made.offset + d.made.length);
            unpack(rows[i].kind, &in, &back);
        }
        CHECK_EQ(streams, 3);
        CHECK(d.out.len < plain.out.len / 2);
        CHECK(sn_str_eq(sn_buf_view(&back), sn_buf_view(&plain.out)));
        sn_buf_fini(&back);
        close_desk(&d);
    }
    close_desk(&plain);
}

TEST(warc_that_finds_no_room_or_memory_adds_nothing)
{
    seine_capture c = capture_of(ANSWER_HEAD "hello");
    desk d;

    for (size_t cap = 0; cap < 900; cap += 50) {
        open_desk(&d, SN_WARC_PLAIN);
        d.out.cap = cap;
        CHECK_EQ(sn_warc_writer_capture(&d.warc, &c, &d.out, &d.made), SEINE_E_FULL);
        CHECK_EQ(d.out.len, 0);
        CHECK_EQ(d.made.length, 0);
        close_desk(&d);
    }
    FAIL_EACH(round)
    {
        open_desk(&d, SN_WARC_GZIP);
        seine_err e = sn_warc_writer_capture(&d.warc, &c, &d.out, &d.made);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(d.out.len > 0, e == SEINE_OK);
        close_desk(&d);
    }
}
