/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/warc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "store/warc_read.h"
#include "store/warc_writer.h"

#define ID(n) "<urn:uuid:00000000-0000-4000-8000-00000000000" n ">"
#define DATE  "2026-11-15T19:20:01Z"
#define BASE  "WARC-Record-ID: " ID("1") "\r\nWARC-Date: " DATE "\r\n"

/* What became of some bytes. */
typedef struct seen {
    unsigned records, flaws;
    seine_warc_event end;
    char why[SN_WARC_WHY]; /* of the last flaw or failure */
    char first[SN_WARC_WHY];
    uint64_t at;
    uint64_t sound;
    sn_buf blocks;
    seine_warc_entry last;
    char target[64], media[128];
} seen;

static void
note(seen *s, seine_warc *w, seine_warc_event event, seine_view piece)
{
    if (event == SEINE_WARC_BLOCK)
        sn_buf_add(&s->blocks, piece.ptr, piece.len);
    if (event == SEINE_WARC_END) {
        s->records++;
        s->last = *seine_warc_at(w);
        snprintf(s->target, sizeof s->target, "%.*s", (int)s->last.target.len,
                 s->last.target.ptr ? s->last.target.ptr : "");
    }
    if (event == SEINE_WARC_FLAW || event == SEINE_WARC_FAIL) {
        snprintf(s->why, sizeof s->why, "%s", seine_warc_why(w, &s->at));
        if (s->flaws == 0)
            snprintf(s->first, sizeof s->first, "%s", s->why);
        s->flaws++;
    }
}

/* Reads all of it in pieces of `step` bytes. */
static seen
read_in(sn_str bytes, size_t step, bool check)
{
    seen s = {.end = SEINE_WARC_MORE};
    seine_warc *w;
    seine_view in = {0}, piece;
    size_t at = 0;

    sn_buf_init(&s.blocks, 1 << 24);
    CHECK_EQ(seine_warc_new(
                 &(seine_warc_opts){.size = sizeof(seine_warc_opts), .check = check}, &w),
             SEINE_OK);
    for (;;) {
        seine_warc_event event = seine_warc_next(w, &in, at == bytes.len, &piece);

        note(&s, w, event, piece);
        if (event == SEINE_WARC_MORE) {
            size_t n = bytes.len - at < step ? bytes.len - at : step;

            CHECK_EQ(in.len, 0);
            in = (seine_view){bytes.ptr + at, n};
            at += n;
            if (n == 0 && seine_warc_next(w, &in, true, &piece) == SEINE_WARC_MORE)
                break;
        }
        if (event == SEINE_WARC_DONE || event == SEINE_WARC_FAIL) {
            s.end = event;
            CHECK_EQ(seine_warc_next(w, &in, true, &piece), event); /* and stays */
            break;
        }
    }
    s.sound = seine_warc_sound(w);
    seine_warc_free(w);
    return s;
}

static seen
read_text(const char *text, bool check)
{
    return read_in(sn_str_of(text), SIZE_MAX, check);
}

static void
done(seen *s)
{
    sn_buf_fini(&s->blocks);
}

/* An archive of our own: info, a page, its request, the same page again, a cut one. */
static sn_buf
archive(sn_warc_pack pack)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhel",
    };
    sn_buf out;
    sn_warc_writer w;
    sn_warc_writer_made made;

    sn_buf_init(&out, 1 << 20);
    sn_warc_writer_init(
        &w, &(sn_warc_writer_opts){.pack = pack, .software = "test", .seed = 5});
    CHECK_EQ(sn_warc_writer_info(&w, SN_STR("x.warc"), 0, &out), SEINE_OK);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        seine_capture c = {.url = {"http://e.example/", 17},
                           .ip = {"::1", 3},
                           .request = {"GET / HTTP/1.1\r\nHost: e\r\n\r\n", 27},
                           .response = {answers[i], strlen(answers[i])},
                           .cut = i == 3 ? SEINE_CUT_TIME : SEINE_CUT_NONE};

        CHECK_EQ(sn_warc_writer_capture(&w, &c, &out, &made), SEINE_OK);
    }
    sn_warc_writer_fini(&w);
    return out;
}

static const sn_warc_pack packs[] = {SN_WARC_PLAIN, SN_WARC_GZIP, SN_WARC_ZSTD};

TEST(warc_reader_finds_nothing_wrong_with_our_own_archives)
{
    static const size_t steps[] = {1, 2, 3, 7, 100, SIZE_MAX};

    EACH_ROW(i, packs) {
        sn_buf all = archive(packs[i]);

        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            seen s = read_in(sn_buf_view(&all), steps[k], true);

            CHECK_EQ(s.end, SEINE_WARC_DONE);
            CHECK_STR(s.why, "");
            CHECK_EQ(s.records, 9);
            CHECK_EQ(s.sound, all.len);
            CHECK_EQ(s.last.offset + s.last.length, all.len);
            CHECK_STR(s.target, "http://e.example/");
            done(&s);
        }
        sn_buf_fini(&all);
    }
}

TEST(warc_reader_tells_status_and_media_type_of_answers)
{
    sn_buf all = archive(SN_WARC_GZIP);
    seine_warc *w;
    seine_view in = sn_buf_view(&all), piece;
    static const struct {
        const char *type, *media;
        unsigned status;
    } rows[] = {
        {"warcinfo", "application/warc-fields", 0}, {"response", "text/html", 200},
        {"request", "application/http", 0},         {"revisit", "", 200},
        {"request", "application/http", 0},         {"response", "", 404},
    };

    CHECK_EQ(seine_warc_new(NULL, &w), SEINE_OK);
    EACH_ROW(i, rows) {
        const seine_warc_entry *e = seine_warc_at(w);
        uint64_t offset = e->offset + e->length;

        while (seine_warc_next(w, &in, true, &piece) != SEINE_WARC_END)
            continue;
        CHECK_EQ(e->offset, offset);
        CHECK_EQ(e->status, rows[i].status);
        CHECK_STR(e->media_type, rows[i].media);
        CHECK_EQ(e->version, 11);
        CHECK_EQ(e->type.len, strlen(rows[i].type));
        CHECK(memcmp(e->type.ptr, rows[i].type, e->type.len) == 0);
    }
    seine_warc_free(w);
    sn_buf_fini(&all);
}

/* Only a cut between two records counts as complete. */
TEST(warc_cut_at_any_byte_is_named_damage)
{
    EACH_ROW(i, packs) {
        sn_buf all = archive(packs[i]);
        uint64_t ends = 0;

        for (size_t n = 0; n <= all.len; n++) {
            seen s = read_in((sn_str){all.ptr, n}, 64, false);

            CHECK(s.sound <= n);
            CHECK_EQ(s.end == SEINE_WARC_DONE, s.sound == n);
            CHECK_EQ(s.why[0] == '\0', s.sound == n);
            if (s.sound < n) {
                CHECK(strncmp(s.why, "cut off: ", 9) == 0);
                CHECK_EQ(s.at, s.sound);
            }
            ends += s.sound == n;
            done(&s);
        }
        CHECK_EQ(ends, 10); /* nothing, and behind each record */
        sn_buf_fini(&all);
    }
}

/* `check` finds every changed byte, unless no digest covers it. */
TEST(warc_a_changed_byte_never_crashes_and_blocks_are_vouched_for)
{
    sn_rng rng = sn_rng_seed(check_seed());

    EACH_ROW(i, packs) {
        sn_buf all = archive(packs[i]);

        for (int round = 0; round < 300; round++) {
            size_t at = (size_t)sn_rng_below(&rng, all.len);
            char before = all.ptr[at];

            all.ptr[at] = (char)(before ^ (1 + (char)sn_rng_below(&rng, 127)));
            seen s = read_in(sn_buf_view(&all), 100, true);
            if (packs[i] == SN_WARC_GZIP && at % 7 == 0 && s.flaws == 0)
                CHECK_EQ(s.records, 9); /* only a byte of a gzip head may go unseen */
            done(&s);
            all.ptr[at] = before;
        }
        sn_buf_fini(&all);
    }
    sn_buf all = archive(SN_WARC_PLAIN);
    char *hello = strstr(all.ptr, "hello");
    *hello = 'j';
    seen s = read_in(sn_buf_view(&all), SIZE_MAX, true);
    CHECK_EQ(s.flaws, 2);
    CHECK_STR(s.first, "its block has another digest");
    CHECK_STR(s.why, "its payload has another digest");
    done(&s);
    sn_buf_fini(&all);
}

#define RECORD(more, block) "WARC/1.1\r\n" BASE more "\r\n" block "\r\n\r\n"

TEST(warc_damage_is_named)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {"hello", "no WARC record begins here"},
        {"WARX/1.0\r\n\r\n", "no WARC record begins here"},
        {"WARC/2.0\r\n\r\n", "not WARC/1.0 or WARC/1.1"},
        {"WARC/1.0\r\n\r\n", "no Content-Length"},
        {"WARC/1.0\r\nContent-Length: x\r\n\r\n", "its Content-Length is no number"},
        {"WARC/1.0\r\nContent-Length: -1\r\n\r\n", "its Content-Length is no number"},
        {"WARC/1.0\r\nContent-Length: 1\r\ncontent-length: 2\r\n\r\n",
         "two different Content-Length"},
        {"WARC/1.0\r\nContent Length: 1\r\n\r\n", "a line of its head is no field"},
        {"WARC/1.0\r\n: 1\r\n\r\n", "a line of its head is no field"},
        {"WARC/1.0\r\n folded: 1\r\n\r\n", "a line of its head is no field"},
        {RECORD("WARC-Type: x\r\nContent-Length: 2\r\n", "abc"),
         "it does not end where its Content-Length says"},
        {RECORD("WARC-Type: x\r\nContent-Length: 4\r\n", "abc"),
         "it does not end where its Content-Length says"},
        {"\x1f\x8bxxxxxxxxxxxxxxx", "byte 2: packed bytes are damaged"},
        {"\x5d\x2a\x4d\x18", "packed with a dictionary, which is not read"},
    };

    EACH_ROW(i, rows) {
        seen s = read_text(rows[i].text, false);

        CHECK_EQ(s.end, SEINE_WARC_FAIL);
        if (i != 12)
            CHECK_STR(s.why, rows[i].why);
        CHECK_EQ(s.at, 0);
        done(&s);
    }
}

TEST(warc_caps_of_a_head_are_named)
{
    static char large[100000];
    sn_buf many;

    memcpy(large, "WARC/1.0\r\nX: ", 13);
    memset(large + 13, 'x', sizeof large - 14);
    seen s = read_text(large, false);
    CHECK_STR(s.why, "its head is longer than 64 KiB");
    done(&s);
    sn_buf_init(&many, 1 << 20);
    sn_buf_text(&many, "WARC/1.0\r\n");
    for (int i = 0; i < 1001; i++)
        sn_buf_text(&many, "X: y\r\n");
    sn_buf_text(&many, "\r\n");
    s = read_in(sn_buf_view(&many), SIZE_MAX, false);
    CHECK_STR(s.why, "more than 1000 fields");
    done(&s);
    sn_buf_fini(&many);
}

#define SOUND "WARC-Type: resource\r\nWARC-Target-URI: http://e/\r\nContent-Length: 3\r\n"

TEST(warc_check_names_what_is_wrong_with_a_record)
{
    static const struct {
        const char *text, *why;
    } rows[] = {
        {RECORD(SOUND, "abc"), ""},
        {"WARC/1.1\r\nWARC-Type: x\r\nWARC-Date: " DATE
         "\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
         "no WARC-Record-ID"},
        {"WARC/1.1\r\nWARC-Type: x\r\nWARC-Record-ID: " ID(
             "1") "\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
         "no WARC-Date"},
        {RECORD("Content-Length: 0\r\n", ""), "no WARC-Type"},
        {RECORD("WARC-Type: response\r\nContent-Length: 0\r\n", ""),
         "no WARC-Target-URI"},
        {RECORD("WARC-Type: warcinfo\r\nWARC-Target-URI: x\r\nContent-Length: 0\r\n", ""),
         "a warcinfo with a WARC-Target-URI"},
        {RECORD("WARC-Type: revisit\r\nWARC-Target-URI: x\r\nContent-Length: 0\r\n", ""),
         "a revisit without a WARC-Profile"},
        {RECORD("WARC-Type: continuation\r\nWARC-Target-URI: x\r\nContent-Length: 0\r\n",
                ""),
         "a continuation without a WARC-Segment-Origin-ID"},
        {RECORD(SOUND "WARC-Date: " DATE "\r\n", "abc"), "WARC-Date comes twice"},
        {RECORD(SOUND "WARC-Block-Digest: abc\r\n", "abc"),
         "WARC-Block-Digest names no algorithm"},
        {RECORD(SOUND "WARC-Block-Digest: sha1:abc\r\n", "abc"),
         "WARC-Block-Digest is neither base32 nor hex of 20 bytes"},
        {RECORD(SOUND "WARC-Block-Digest: blake3:abc\r\n", "abc"), ""},
        {RECORD(SOUND "WARC-Block-Digest: MD5:900150983cd24fb0d6963f7d28e17f72\r\n",
                "abc"),
         ""},
        {RECORD(SOUND "WARC-Block-Digest: md5:900150983cd24fb0d6963f7d28e17f73\r\n",
                "abc"),
         "its block has another digest"},
        {RECORD(SOUND "WARC-Block-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5\r\n",
                "abc"),
         ""},
        {RECORD(SOUND "WARC-Payload-Digest: "
                      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f2"
                      "0015ad\r\n",
                "abc"),
         ""},
        {RECORD(SOUND "WARC-Payload-Digest: sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE6\r\n",
                "abc"),
         "its payload has another digest"},
        {RECORD(SOUND, "abc") RECORD(SOUND, "abc"),
         "its WARC-Record-ID was there before"},
        {RECORD(SOUND "WARC-Concurrent-To: " ID("1") "\r\n", "abc"), ""},
        {RECORD(SOUND "WARC-Concurrent-To: " ID("2") "\r\n", "abc"),
         "WARC-Concurrent-To names a record that is not there"},
        {RECORD("WARC-Type: warcinfo\r\nWARC-Concurrent-To: " ID(
                    "1") "\r\n"
                         "Content-Length: 0\r\n",
                ""),
         "WARC-Concurrent-To where there is none"},
        {"WARC/1.1\nWARC-Record-ID: " ID(
             "1") "\nWARC-Date: " DATE "\nWARC-Type: x\nContent-Length: 0\n\n\r\n\r\n",
         "lines of its head end without CR"},
        {RECORD(SOUND, "abc") "\r\n", "blank lines before a record"},
        {"WARC/1.1\r\nWARC-Record-ID: urn:x\r\nWARC-Date: " DATE
         "\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
         "its WARC-Record-ID is no <URI>"},
    };

    EACH_ROW(i, rows) {
        seen s = read_text(rows[i].text, true), plain = read_text(rows[i].text, false);

        CHECK_EQ(s.end, SEINE_WARC_DONE);
        CHECK_STR(s.why, rows[i].why);
        CHECK_EQ(s.flaws, rows[i].why[0] != '\0');
        CHECK_EQ(plain.flaws, 0);
        done(&s);
        done(&plain);
    }
}

TEST(warc_dates_are_those_of_the_standard)
{
    static const struct {
        const char *date;
        bool in_10, in_11;
    } rows[] = {
        {"2026-11-15T19:20:01Z", true, true},
        {"2026-11-15T19:20:01.123456789Z", false, true},
        {"2026-11-15T19:20:01.1234567890Z", false, false},
        {"2026-11-15T19:20:01.Z", false, false},
        {"2026-11-15T19:20Z", false, true},
        {"2026-11-15", false, true},
        {"2026-11", false, true},
        {"2026", false, true},
        {"2024-02-29", false, true},
        {"2026-02-29", false, false},
        {"2100-02-29", false, false},
        {"2026-13-01", false, false},
        {"2026-11-15T24:00:00Z", false, false},
        {"2026-11-15T19:60:00Z", false, false},
        {"2026-11-15T19:20:01", false, false},
        {"2026-11-15 19:20:01Z", false, false},
        {"20261115192001", false, false},
        {"x", false, false},
    };

    EACH_ROW(i, rows)
        for (int version = 0; version < 2; version++) {
            char text[300];

            snprintf(text, sizeof text,
                     "WARC/1.%d\r\nWARC-Record-ID: " ID(
                         "1") "\r\nWARC-Date: %s\r\n"
                              "WARC-Type: x\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
                     version, rows[i].date);
            seen s = read_text(text, true);
            CHECK_EQ(s.flaws == 0, version ? rows[i].in_11 : rows[i].in_10);
            done(&s);
        }
}

/* Folded values of WARC/1.0 are joined; names have no case; targets may be in angle
 * brackets. */
TEST(warc_reader_reads_fields_as_old_archives_have_them)
{
    static const char text[] =
        "WARC/1.0\r\nwarc-type: resource\r\nX-Long: a\r\n  b\r\n"
        "\tc\r\nX-Late:\r\n here\r\nX-None:\r\n \r\n"
        "X-Holes: d\t\r\n \r\n\t \r\n e \r\n \r\nWARC-Target-URI: <http://e/>\r\n"
        "Content-Length: 0\r\n\r\n\r\n\r\n";
    seine_warc *w;
    seine_view in = {text, sizeof text - 1}, piece;

    CHECK_EQ(seine_warc_new(NULL, &w), SEINE_OK);
    CHECK_EQ(seine_warc_next(w, &in, true, &piece), SEINE_WARC_RECORD);
    seine_view v = seine_warc_field(w, "x-long");
    char value[32];
    snprintf(value, sizeof value, "%.*s", (int)v.len, v.ptr);
    CHECK_STR(value, "a    b   c");
    v = seine_warc_field(w, "X-Late");
    snprintf(value, sizeof value, "%.*s", (int)v.len, v.ptr);
    CHECK_STR(value, "here");
    CHECK_EQ(seine_warc_field(w, "X-None").len, 0);
    v = seine_warc_field(w, "X-Holes");
    snprintf(value, sizeof value, "%.*s", (int)v.len, v.ptr);
    CHECK_STR(value, "d           e");
    v = seine_warc_at(w)->target;
    snprintf(value, sizeof value, "%.*s", (int)v.len, v.ptr);
    CHECK_STR(value, "http://e/");
    CHECK(!seine_warc_field(w, "none").ptr);
    CHECK_EQ(seine_warc_next(w, &in, true, &piece), SEINE_WARC_END);
    CHECK_EQ(seine_warc_next(w, &in, true, &piece), SEINE_WARC_DONE);
    seine_warc_free(w);
}

/* Several records in one stream, and one record in several. */
TEST(warc_check_wants_a_stream_for_each_record)
{
    sn_buf plain = archive(SN_WARC_PLAIN), packed;
    sn_codec codec;
    static const struct {
        size_t cut; /* of a first stream; 0: there is one */
        const char *why;
    } rows[] = {
        {0, "it does not begin a gzip member of its own"},
        {40, "it goes on in another gzip member"},
    };

    EACH_ROW(i, rows) {
        sn_str parts[2] = {{plain.ptr, rows[i].cut},
                           {plain.ptr + rows[i].cut, plain.len - rows[i].cut}};

        sn_buf_init(&packed, 1 << 20);
        sn_codec_init(&codec, &(sn_codec_opts){.way = SN_CODEC_ENCODE});
        for (size_t k = rows[i].cut == 0; k < 2; k++) {
            sn_codec_room room = {sn_buf_reserve(&packed, 1 << 16), 1 << 16};

            CHECK_EQ(sn_codec_begin(&codec, SN_CODEC_GZIP), SEINE_OK);
            CHECK_EQ(sn_codec_step(&codec, &parts[k], &room, true), SN_CODEC_END);
            sn_buf_commit(&packed, (1 << 16) - room.len);
        }
        sn_codec_fini(&codec);
        seen s = read_in(sn_buf_view(&packed), 50, true);
        CHECK_EQ(s.end, SEINE_WARC_DONE);
        CHECK_EQ(s.records, 9);
        CHECK_STR(s.first, rows[i].why);
        done(&s);
        s = read_in(sn_buf_view(&packed), 50, false);
        CHECK_EQ(s.flaws, 0);
        CHECK_EQ(s.records, 9);
        done(&s);
        sn_buf_fini(&packed);
    }
    sn_buf_fini(&plain);
}

TEST(warc_reader_without_memory_fails_by_name)
{
    sn_buf all = archive(SN_WARC_GZIP);

    FAIL_EACH(round)
    {
        seine_warc *w = NULL;
        seine_view in = sn_buf_view(&all), piece;
        seine_warc_event event = SEINE_WARC_FAIL;

        if (seine_warc_new(
                &(seine_warc_opts){.size = sizeof(seine_warc_opts), .check = true}, &w) !=
            SEINE_OK)
            continue;
        do
            event = seine_warc_next(w, &in, true, &piece);
        while (event != SEINE_WARC_DONE && event != SEINE_WARC_FAIL);
        if (event == SEINE_WARC_FAIL) {
            uint64_t at;

            CHECK(strstr(seine_warc_why(w, &at), "out of memory") != NULL);
        }
        seine_warc_free(w);
    }
    sn_buf_fini(&all);
}
