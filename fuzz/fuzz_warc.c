/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are read as an archive, in one piece and in many: the same comes out, and
 * what was told to be sound is. The same bytes as an answer are archived and read back:
 * nothing is wrong with it, and the block is what was given. The first byte chooses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "seine/warc.h"
#include "store/warc_index.h"
#include "store/warc_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* What came out, in a form that two readings can be compared by. */
typedef struct reading {
    sn_buf blocks;
    uint64_t records, flaws, sound, lengths;
    seine_warc_event end;
    char why[256];
} reading;

static void
note(reading *r, const seine_warc *w, seine_warc_event event, seine_view piece)
{
    uint64_t at;

    switch (event) {
    case SEINE_WARC_BLOCK:
        REQUIRE(piece.len > 0);
        sn_buf_add(&r->blocks, piece.ptr, piece.len);
        break;
    case SEINE_WARC_END:
        r->records++;
        r->lengths += seine_warc_at(w)->length;
        REQUIRE(seine_warc_at(w)->media_type[127] == '\0');
        break;
    case SEINE_WARC_FLAW:
        r->flaws++;
        REQUIRE(seine_warc_why(w, &at)[0] != '\0');
        break;
    case SEINE_WARC_FAIL:
        snprintf(r->why, sizeof r->why, "%s", seine_warc_why(w, &at));
        REQUIRE(r->why[0] != '\0');
        break;
    default:
        break;
    }
}

static reading
read_all(sn_str all, size_t step, bool check)
{
    reading r = {.end = SEINE_WARC_MORE};
    seine_warc *w;
    seine_view in = {0}, piece = {0};
    size_t at = 0;

    sn_buf_init(&r.blocks, (size_t)64 << 20);
    REQUIRE(seine_warc_new(
                &(seine_warc_opts){.size = sizeof(seine_warc_opts), .check = check},
                &w) == SEINE_OK);
    while (r.end != SEINE_WARC_DONE && r.end != SEINE_WARC_FAIL) {
        r.end = seine_warc_next(w, &in, at == all.len, &piece);
        note(&r, w, r.end, piece);
        if (r.end != SEINE_WARC_MORE)
            continue;
        REQUIRE(at < all.len && in.len == 0);
        in = (seine_view){all.ptr + at, all.len - at < step ? all.len - at : step};
        at += in.len;
    }
    r.sound = seine_warc_sound(w);
    REQUIRE(r.sound <= all.len);
    seine_warc_free(w);
    return r;
}

static void
read_any(sn_str all, bool check)
{
    reading whole = read_all(all, SIZE_MAX, check), parts = read_all(all, 7, check);

    /* How much of a damaged stream is given before it is known depends on the pieces. */
    REQUIRE(whole.end == parts.end && whole.sound == parts.sound);
    if (whole.end == SEINE_WARC_DONE) {
        REQUIRE(whole.records == parts.records && whole.flaws == parts.flaws);
        REQUIRE(sn_str_eq(sn_buf_view(&whole.blocks), sn_buf_view(&parts.blocks)));
    }
    REQUIRE(whole.end == SEINE_WARC_DONE || whole.why[0]);
    reading again = read_all((sn_str){all.ptr, (size_t)whole.sound}, 1000, false);
    REQUIRE(again.end == SEINE_WARC_DONE && again.sound == whole.sound);
    sn_buf_fini(&whole.blocks);
    sn_buf_fini(&parts.blocks);
    sn_buf_fini(&again.blocks);
}

/* The bytes up to the first zero are a URL, the others an answer. */
static void
round_trip(sn_str all, sn_warc_pack pack, seine_cut cut)
{
    sn_str url, answer;
    sn_buf out, key;
    sn_warc_writer w;
    sn_warc_writer_made made[2];

    sn_str_cut(all, '\0', &url, &answer);
    seine_capture c = {.url = url,
                       .request = {"GET / HTTP/1.1\r\n\r\n", 18},
                       .response = answer,
                       .cut = cut};
    sn_buf_init(&out, (size_t)64 << 20);
    sn_warc_writer_init(
        &w, &(sn_warc_writer_opts){.pack = pack, .software = "fuzz", .seed = 1});
    REQUIRE(sn_warc_writer_info(&w, url, 0, &out) == SEINE_OK);
    for (int i = 0; i < 2; i++)
        REQUIRE(sn_warc_writer_capture(&w, &c, &out, &made[i]) == SEINE_OK);
    sn_warc_writer_fini(&w);

    reading r = read_all(sn_buf_view(&out), 500, true);
    REQUIRE(r.end == SEINE_WARC_DONE && r.sound == out.len && r.lengths == out.len);
    REQUIRE(r.records == (answer.len > 0 ? 5 : 1));
    sn_str target = sn_str_trim(url);
    REQUIRE(r.flaws == 0 || target.len == 0); /* no target: that is a flaw of ours */
    if (answer.len > 0 && !made[1].digest[0])
        REQUIRE(memmem(r.blocks.ptr, r.blocks.len, answer.ptr, answer.len));
    sn_buf_init(&key, (size_t)1 << 20);
    sn_warc_surt(url, &key);
    REQUIRE(!key.ptr || !memchr(key.ptr, ' ', key.len));
    REQUIRE(!key.ptr || !memchr(key.ptr, '\n', key.len));
    sn_buf_fini(&key);
    sn_buf_fini(&r.blocks);
    sn_buf_fini(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (n == 0)
        return 0;
    sn_str rest = {(const char *)bytes + 1, n - 1};
    unsigned choice = bytes[0];

    if (choice & 1)
        round_trip(rest, (sn_warc_pack)(choice >> 1 & 3) % 3,
                   (seine_cut)(choice >> 3 & 7) % 5);
    else
        read_any(rest, choice & 2);
    return 0;
}
