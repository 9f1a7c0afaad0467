/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"
#include "failing.h"

static const snc_chunks plain = {.on = false};

/* Reads a whole wire, `room` bytes at a time. */
static size_t
read_all(snc_wire *w, size_t room, char *out, size_t most)
{
    static char piece[65536];
    size_t n = 0, got;
    sn_buf lines;

    sn_buf_init(&lines, 65536);
    while ((got = snc_wire_read(w, &lines, piece, room)) > 0 && n + got <= most) {
        memcpy(out + n, piece, got);
        n += got;
    }
    sn_buf_fini(&lines);
    return n;
}

/* Lines "line 0\n" … "line 9\n", two at a time. */
static void
ten_lines(void *self, sn_buf *out, size_t want)
{
    int *next = self;

    (void)want;
    for (int i = 0; i < 2 && *next < 10; i++)
        sn_buf_printf(out, "line %d\n", (*next)++);
}

TEST(pieces_come_one_behind_the_other_however_they_are_read)
{
    static char out[65536];

    for (size_t room = 1; room < 40; room++) {
        sn_buf text;
        snc_wire w;

        sn_buf_init(&text, 4096);
        sn_buf_text(&text, "head ");
        snc_wire_init(&w, &text);
        snc_wire_text(&w, 0);
        size_t from = text.len;
        sn_buf_text(&text, "<0000000000>");
        snc_wire_units(&w, from, 3);
        snc_wire_body(&w, &plain);
        from = text.len;
        sn_buf_text(&text, "ab");
        snc_wire_units(&w, from, 2);
        snc_wire_bytes(&w, 9, 5);
        snc_wire_body_end(&w);
        from = text.len;
        sn_buf_text(&text, " end");
        snc_wire_text(&w, from);
        CHECK_EQ(snc_wire_head_length(&w), 5 + 3 * 12);
        CHECK_EQ(snc_wire_body_length(&w), 4 + 5);
        CHECK_EQ(snc_wire_length(&w), 5 + 36 + 9 + 4);
        if (room % 2)
            CHECK(snc_wire_keep(&w));
        size_t n = read_all(&w, room, out, sizeof out);
        CHECK_EQ(n, 54);
        char bytes[5];
        snc_wire_fill(9, 0, bytes, 5);
        CHECK(memcmp(out, "head <0000000000><0000000001><0000000002>abab", 45) == 0);
        CHECK(memcmp(out + 45, bytes, 5) == 0);
        CHECK(memcmp(out + 50, " end", 4) == 0);
        snc_wire_fini(&w);
        sn_buf_fini(&text);
    }
}

TEST(bytes_of_a_seed_are_the_same_from_wherever_they_are_read)
{
    char whole[100], part[100];

    snc_wire_fill(3, 0, whole, sizeof whole);
    for (size_t from = 0; from < 100; from += 7) {
        snc_wire_fill(3, from, part, 100 - from);
        CHECK(memcmp(whole + from, part, 100 - from) == 0);
    }
    snc_wire_fill(4, 0, part, sizeof part);
    CHECK(memcmp(whole, part, sizeof part) != 0);
}

/* The body "abcdefghij" in chunks. */
static size_t
chunked(const snc_chunks *c, size_t room, char *out, size_t most, uint64_t *length)
{
    sn_buf text;
    snc_wire w;

    sn_buf_init(&text, 4096);
    snc_wire_init(&w, &text);
    snc_wire_body(&w, c);
    sn_buf_text(&text, "abcdefghij");
    snc_wire_text(&w, 0);
    snc_wire_body_end(&w);
    size_t from = text.len;
    sn_buf_text(&text, "\r\n");
    snc_wire_text(&w, from);
    *length = snc_wire_length(&w);
    size_t n = read_all(&w, room, out, most);
    out[n] = '\0';
    snc_wire_fini(&w);
    sn_buf_fini(&text);
    return n;
}

TEST(chunks_are_written_as_they_should_be_or_as_they_should_not)
{
    static const struct {
        snc_chunks chunks;
        const char *wire;
        bool right; /* the length says so, too */
    } rows[] = {
        {{true, SNC_CHUNK_FINE, 4096, 0}, "a\r\nabcdefghij\r\n0\r\n\r\n", true},
        {{true, SNC_CHUNK_FINE, 4, 0},
         "4\r\nabcd\r\n4\r\nefgh\r\n2\r\nij\r\n0\r\n\r\n",
         true},
        {{true, SNC_CHUNK_FINE, 5, 0}, "5\r\nabcde\r\n5\r\nfghij\r\n0\r\n\r\n", true},
        {{true, SNC_CHUNK_FINE, 5, 3},
         "5;ee\r\nabcde\r\n5;ee\r\nfghij\r\n0\r\n\r\n",
         true},
        {{true, SNC_CHUNK_SIZE, 5, 0}, "zz\r\nabcde\r\n5\r\nfghij\r\n0\r\n\r\n", false},
        {{true, SNC_CHUNK_EMPTY, 10, 0}, "\r\nabcdefghij\r\n0\r\n\r\n", false},
        {{true, SNC_CHUNK_NEGATIVE, 10, 0}, "-5\r\nabcdefghij\r\n0\r\n\r\n", false},
        {{true, SNC_CHUNK_LONG, 10, 0},
         "00000000000000001\r\nabcdefghij\r\n0\r\n\r\n",
         false},
        {{true, SNC_CHUNK_HUGE, 10, 0},
         "8000000000000000\r\nabcdefghij\r\n0\r\n\r\n",
         false},
        {{true, SNC_CHUNK_LF, 5, 0}, "5\nabcde\r\n5\r\nfghij\r\n0\r\n\r\n", false},
        {{true, SNC_CHUNK_END, 5, 0}, "5\r\nabcde5\r\nfghij\r\n0\r\n\r\n", false},
        {{true, SNC_CHUNK_NONE, 10, 0}, "a\r\nabcdefghij\r\n\r\n", false},
    };
    static char out[65536];

    for (size_t room = 1; room < 24; room++)
        EACH_ROW(i, rows) {
            uint64_t length;
            size_t n = chunked(&rows[i].chunks, room, out, sizeof out - 1, &length);

            CHECK_STR(out, rows[i].wire);
            if (rows[i].right)
                CHECK_EQ(length, n);
        }
}

TEST(an_empty_body_in_chunks_is_the_last_chunk)
{
    snc_chunks c = {true, SNC_CHUNK_FINE, 4096, 0};
    static char out[65536];
    sn_buf text;
    snc_wire w;

    sn_buf_init(&text, 64);
    snc_wire_init(&w, &text);
    snc_wire_body(&w, &c);
    snc_wire_body_end(&w);
    CHECK_EQ(snc_wire_length(&w), 3);
    CHECK_EQ(read_all(&w, 7, out, sizeof out), 3);
    CHECK(memcmp(out, "0\r\n", 3) == 0);
    snc_wire_fini(&w);
    sn_buf_fini(&text);
}

TEST(a_petabyte_is_a_matter_of_numbers)
{
    snc_chunks c = {true, SNC_CHUNK_FINE, 4096, 0};
    sn_buf text;
    snc_wire w;

    sn_buf_init(&text, 64);
    snc_wire_init(&w, &text);
    snc_wire_body(&w, &c);
    snc_wire_bytes(&w, 1, UINT64_C(1) << 50);
    snc_wire_body_end(&w);
    /* Each of 2^38 chunks has 4 digits and 4 bytes around it. */
    CHECK_EQ(snc_wire_length(&w), (UINT64_C(1) << 50) + (UINT64_C(1) << 38) * 8 + 3);
    snc_wire_fini(&w);
    sn_buf_fini(&text);
}

static size_t
lines_in(bool on, char *out, size_t most)
{
    snc_chunks c = {on, SNC_CHUNK_FINE, 4096, 0};
    sn_buf text;
    snc_wire w;
    int *next = sn_zalloc(sizeof *next);

    sn_buf_init(&text, 64);
    sn_buf_text(&text, "H");
    snc_wire_init(&w, &text);
    snc_wire_text(&w, 0);
    snc_wire_body(&w, &c);
    snc_wire_lines(&w, ten_lines, NULL, next);
    snc_wire_body_end(&w);
    size_t from = text.len;
    sn_buf_text(&text, "T");
    snc_wire_text(&w, from);
    CHECK_EQ(snc_wire_length(&w), SNC_WIRE_ENDLESS);
    size_t n = read_all(&w, 32768, out, most);
    out[n] = '\0';
    snc_wire_fini(&w);
    sn_buf_fini(&text);
    return n;
}

TEST(lines_are_made_while_they_are_sent)
{
    static char out[65536];

    lines_in(false, out, sizeof out - 1);
    CHECK_STR(out,
              "Hline 0\nline 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\n"
              "line 9\nT");
    lines_in(true, out, sizeof out - 1);
    CHECK_STR(out, "H0000e\r\nline 0\nline 1\n\r\n0000e\r\nline 2\nline 3\n\r\n"
                   "0000e\r\nline 4\nline 5\n\r\n0000e\r\nline 6\nline 7\n\r\n"
                   "0000e\r\nline 8\nline 9\n\r\n0\r\nT");
}

/* Others are served between two reads. */
TEST(a_read_ends_with_lines_that_are_fewer_than_were_wanted)
{
    static char out[32768];
    sn_buf text, lines;
    snc_wire w;

    sn_buf_init(&text, 64);
    sn_buf_init(&lines, 65536);
    snc_wire_init(&w, &text);
    snc_wire_body(&w, &plain);
    snc_wire_lines(&w, ten_lines, NULL, sn_zalloc(sizeof(int)));
    snc_wire_body_end(&w);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(snc_wire_read(&w, &lines, out, sizeof out), 2 * strlen("line 0\n"));
        CHECK(w.scarce);
    }
    CHECK_EQ(snc_wire_read(&w, &lines, out, sizeof out), 0);
    CHECK(!w.scarce);
    snc_wire_fini(&w);
    sn_buf_fini(&text);
    sn_buf_fini(&lines);
}

TEST(texts_that_cannot_be_kept_stay_where_they_are)
{
    FAIL_EACH(r)
    {
        sn_buf text;
        snc_wire w;

        sn_buf_init(&text, 64);
        sn_buf_text(&text, "abc");
        snc_wire_init(&w, &text);
        if (sn_buf_done(&text) == SEINE_OK)
            snc_wire_text(&w, 0);
        bool kept = snc_wire_keep(&w);
        CHECK_EQ(kept, w.kept != NULL);
        snc_wire_fini(&w);
        sn_buf_fini(&text);
    }
}
