/* SPDX-License-Identifier: Apache-2.0 */
#include "console/ws.h"

#include <string.h>

#include "check.h"

typedef struct heard {
    char text[256];
    size_t n, messages;
} heard;

static void
on_message(void *arg, sn_str bytes, bool is_binary)
{
    heard *h = arg;

    (void)is_binary;
    h->messages++;
    h->n = bytes.len < sizeof h->text ? bytes.len : sizeof h->text - 1;
    memcpy(h->text, bytes.ptr ? bytes.ptr : "", h->n);
    h->text[h->n] = '\0';
}

static sn_ws *
open_ws(heard *h, size_t most, bool takes_binary)
{
    sn_ws_opts o = {most, takes_binary, on_message, h};
    sn_ws *ws = NULL;

    *h = (heard){.n = 0};
    CHECK_EQ(sn_ws_new(&o, &ws), SEINE_OK);
    return ws;
}

/* A frame of a client, masked with zeros. */
static bool
feed(sn_ws *ws, unsigned head, const char *payload, size_t n)
{
    char frame[512] = {(char)head, (char)(0x80 | n)};

    memcpy(frame + 6, payload, n);
    return sn_ws_feed(ws, (sn_str){frame, n + 6});
}

/* The code of the close frame that is to be sent; 0: another frame, or none. */
static unsigned
close_code(sn_ws *ws)
{
    sn_buf b;
    unsigned code = 0;

    sn_buf_init(&b, 4096);
    sn_ws_write(ws, &b, 4096);
    if (b.len >= 4 && (unsigned char)b.ptr[0] == 0x88)
        code = (unsigned)(unsigned char)b.ptr[2] << 8 | (unsigned char)b.ptr[3];
    sn_buf_fini(&b);
    return code;
}

/* RFC 6455, section 1.3. */
TEST(ws_answers_the_key_of_the_standard)
{
    char accept[29];

    CHECK_EQ(sn_ws_accept(SN_STR("dGhlIHNhbXBsZSBub25jZQ=="), accept), SEINE_OK);
    CHECK_STR(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK_EQ(sn_ws_accept(SN_STR("dGhlIHNhbXBsZSBub25jZQ="), accept), SEINE_E_INVAL);
    CHECK_EQ(sn_ws_accept(SN_STR("!!!!!!!!!!!!!!!!!!!!!!=="), accept), SEINE_E_INVAL);
    CHECK_EQ(sn_ws_accept(SN_STR(""), accept), SEINE_E_INVAL);
}

TEST(ws_puts_fragments_together_around_a_ping)
{
    heard h;
    sn_ws *ws = open_ws(&h, 16, false);

    CHECK(feed(ws, 0x01, "one ", 4));
    CHECK(feed(ws, 0x89, "?", 1));
    CHECK_EQ(h.messages, 0);
    CHECK(feed(ws, 0x80, "two", 3));
    CHECK_EQ(h.messages, 1);
    CHECK_STR(h.text, "one two");
    sn_ws_free(ws);
}

TEST(ws_takes_any_cut_of_the_bytes)
{
    static const char frame[] = "\x81\x83\0\0\0\0abc";
    heard h;
    sn_ws *ws = open_ws(&h, 16, false);

    for (size_t i = 0; i < sizeof frame - 1; i++)
        CHECK(sn_ws_feed(ws, (sn_str){frame + i, 1}));
    CHECK_STR(h.text, "abc");
    sn_ws_free(ws);
}

TEST(ws_closes_with_the_code_of_what_is_wrong)
{
    static const struct {
        unsigned head;
        const char *payload;
        size_t n;
        unsigned code;
    } rows[] = {
        {0x82, "x", 1, 1003},                  /* binary, which nobody wants */
        {0x81, "12345678901234567", 17, 1009}, /* one byte too many */
        {0x81, "\xff", 1, 1007},               /* not UTF-8 */
        {0x81, "\xed\xa0\x80", 3, 1007},       /* half of a surrogate pair */
        {0xc1, "x", 1, 1002},                  /* a reserved bit */
        {0x83, "x", 1, 1002},                  /* a reserved opcode */
        {0x80, "x", 1, 1002},                  /* nothing to continue */
        {0x09, "x", 1, 1002},                  /* a ping in pieces */
    };

    EACH_ROW(i, rows) {
        heard h;
        sn_ws *ws = open_ws(&h, 16, false);

        CHECK(!feed(ws, rows[i].head, rows[i].payload, rows[i].n));
        CHECK_EQ(h.messages, 0);
        CHECK_EQ(close_code(ws), rows[i].code);
        CHECK(!feed(ws, 0x81, "x", 1)); /* nothing is read any more */
        CHECK_EQ(h.messages, 0);
        sn_ws_free(ws);
    }
}

/* A message is not longer for being in many frames. */
TEST(ws_counts_the_bytes_of_all_fragments)
{
    heard h;
    sn_ws *ws = open_ws(&h, 16, false);

    CHECK(feed(ws, 0x01, "12345678", 8));
    CHECK(feed(ws, 0x00, "12345678", 8));
    CHECK(feed(ws, 0x00, "", 0));
    CHECK(!feed(ws, 0x80, "1", 1));
    CHECK_EQ(close_code(ws), 1009);
    sn_ws_free(ws);
}

TEST(ws_refuses_a_frame_without_a_mask)
{
    heard h;
    sn_ws *ws = open_ws(&h, 16, false);

    CHECK(!sn_ws_feed(ws, SN_STR("\x81\x01x")));
    CHECK_EQ(close_code(ws), 1002);
    sn_ws_free(ws);
}

TEST(ws_echoes_a_close_and_sends_nothing_behind_it)
{
    heard h;
    sn_ws *ws = open_ws(&h, 16, false);

    CHECK(!feed(ws, 0x88, "\x03\xe8", 2));
    CHECK(sn_ws_is_close_heard(ws));
    CHECK(!sn_ws_is_close_sent(ws));
    CHECK_EQ(close_code(ws), 1000);
    CHECK(sn_ws_is_close_sent(ws));
    CHECK_EQ(sn_ws_send(ws, SN_STR("x"), false), SEINE_E_CLOSED);
    sn_ws_free(ws);
}

TEST(ws_counts_the_answers_that_wait)
{
    heard h;
    sn_ws *ws = open_ws(&h, 16, false);

    CHECK_EQ(sn_ws_waiting(ws), 0);
    for (int i = 0; i < 100; i++)
        CHECK(feed(ws, 0x89, "12345678", 8));
    CHECK(sn_ws_waiting(ws) >= 800);
    sn_ws_free(ws);
}
