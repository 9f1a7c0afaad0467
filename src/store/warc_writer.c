/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_writer.h"

#include <string.h>

#include "base/base32.h"
#include "store/text_writer.h"

#define PIECE  (16 << 10)  /* compressed bytes at a time */
#define STORED 1000        /* shorter records are not worth compressing */
#define LARGE  (256 << 10) /* longer records are compressed in pieces */

static const char profile[] =
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
static const char standard[] = "http://iipc.github.io/warc-specifications/specifications/"
                               "warc-format/warc-1.1/";

void
sn_warc_writer_init(sn_warc_writer *w, const sn_warc_writer_opts *opts)
{
    *w = (sn_warc_writer){.opts = *opts};
    if (opts->seed)
        w->rng = sn_rng_seed(opts->seed);
    else
        sn_rng_secret(&w->rng, sizeof w->rng);
    sn_codec_init(&w->codec, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = 1});
    sn_warc_seen_init(&w->seen, SN_WARC_PAYLOADS, SN_WARC_ADDRESSES);
    sn_buf_init(&w->head, 1 << 20);
    sn_buf_init(&w->whole, LARGE);
}

void
sn_warc_writer_fini(sn_warc_writer *w)
{
    sn_codec_fini(&w->codec);
    sn_digest_fini(&w->digest);
    sn_warc_seen_fini(&w->seen);
    sn_buf_fini(&w->head);
    sn_buf_fini(&w->whole);
    sn_gzip_fini(&w->gzip);
}

const char *
sn_warc_cut_name(seine_cut cut)
{
    switch (cut) {
    case SEINE_CUT_LENGTH:
        return "length";
    case SEINE_CUT_TIME:
        return "time";
    case SEINE_CUT_DISCONNECT:
        return "disconnect";
    case SEINE_CUT_OTHER:
        return "unspecified";
    case SEINE_CUT_NONE:
    default:
        return NULL;
    }
}

/* Makes a random UUID, version 4 of RFC 4122. */
static void
make_id(sn_warc_writer *w, uint8_t id[16])
{
    uint64_t bits[2] = {sn_rng_next(&w->rng), sn_rng_next(&w->rng)};

    memcpy(id, bits, 16);
    id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
}

void
sn_warc_id_text(const uint8_t id[16], char out_text[SN_WARC_ID + 1])
{
    static const char hex[] = "0123456789abcdef";
    char *to = out_text;

    memcpy(to, "<urn:uuid:", 10);
    to += 10;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = hex[id[i] >> 4];
        *to++ = hex[id[i] & 15];
    }
    *to++ = '>';
    *to = '\0';
}

/* The head of a record. */

/* Writes a value on one line, without control bytes and blanks at its ends. */
static void
put_value(sn_buf *b, sn_str value)
{
    size_t plain = 0;

    value = sn_str_trim(value);
    while (plain < value.len && (unsigned char)value.ptr[plain] >= 0x20 &&
           value.ptr[plain] != 0x7f)
        plain++;
    sn_buf_add(b, value.ptr, plain);
    for (size_t i = plain; i < value.len; i++)
        if ((unsigned char)value.ptr[i] < 0x20 || value.ptr[i] == 0x7f)
            sn_buf_printf(b, "%%%02X", (unsigned char)value.ptr[i]);
        else
            sn_buf_char(b, value.ptr[i]);
}

static void
put_field(sn_buf *b, const char *name, sn_str value)
{
    sn_buf_text(b, name);
    sn_buf_str(b, SN_STR(": "));
    put_value(b, value);
    sn_buf_str(b, SN_STR("\r\n"));
}

static void
put_text(sn_buf *b, const char *name, const char *value)
{
    put_field(b, name, sn_str_of(value));
}

static void
put_id(sn_buf *b, const char *name, const uint8_t id[16])
{
    char text[SN_WARC_ID + 1];

    sn_warc_id_text(id, text);
    put_field(b, name, (sn_str){text, SN_WARC_ID});
}

static void
put_date(sn_buf *b, const char *name, int64_t wall)
{
    char text[SN_STAMP];
    sn_text_writer p = sn_text_writer_on(text, sizeof text);

    sn_text_writer_stamp(&p, wall);
    put_field(b, name, (sn_str){text, sizeof text});
}

static void
digest_text(const uint8_t sha1[20], char out[SN_WARC_DIGEST + 1])
{
    memcpy(out, "sha1:", 5);
    sn_base32(sha1, 20, out + 5);
    out[SN_WARC_DIGEST] = '\0';
}

static void
put_digest(sn_buf *b, const char *name, const uint8_t sha1[20])
{
    char text[SN_WARC_DIGEST + 1];

    digest_text(sha1, text);
    put_field(b, name, (sn_str){text, SN_WARC_DIGEST});
}

static seine_err
sha1_of(sn_warc_writer *w, sn_str bytes, uint8_t out_sha1[20])
{
    uint8_t digest[SN_DIGEST_MOST];
    size_t n;
    seine_err e = sn_digest_begin(&w->digest, SN_DIGEST_SHA1);

    if (e != SEINE_OK)
        return e;
    sn_digest_add(&w->digest, bytes.ptr, bytes.len);
    e = sn_digest_end(&w->digest, digest, &n);
    if (e == SEINE_OK)
        memcpy(out_sha1, digest, 20);
    return e;
}

static void
begin_head(sn_warc_writer *w, const char *type, const uint8_t id[16], int64_t wall)
{
    sn_buf *b = &w->head;

    sn_buf_reset(b);
    sn_buf_str(b, SN_STR("WARC/1.1\r\n"));
    put_text(b, "WARC-Type", type);
    put_id(b, "WARC-Record-ID", id);
    put_date(b, "WARC-Date", wall);
}

/* Packing. */

static seine_err
pack_piece(sn_warc_writer *w, sn_str in, bool finish, sn_buf *out)
{
    for (;;) {
        sn_codec_room room = {sn_buf_reserve(out, PIECE), PIECE};

        if (!room.ptr)
            return sn_buf_done(out);
        sn_codec_event event = sn_codec_step(&w->codec, &in, &room, finish);
        sn_buf_commit(out, PIECE - room.len);
        if (event == SN_CODEC_FAIL)
            return w->codec.err;
        if (event == SN_CODEC_END || (event == SN_CODEC_MORE && !finish))
            return SEINE_OK;
    }
}

static void
put_u32(sn_buf *out, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        sn_buf_char(out, (char)(n >> 8 * i));
}

/* Makes a gzip member of one stored block (RFC 1952, RFC 1951 3.2.4). Compressing so few
 * bytes would take longer than everything else for a page, and save 200 of them. */
static seine_err
store(sn_str head, sn_str block, sn_buf *out)
{
    static const char member[] = "\x1f\x8b\x08\0\0\0\0\0\x04\xff\x01", end[] = "\r\n\r\n";
    uint32_t n = (uint32_t)(head.len + block.len + 4);
    uint32_t crc = sn_crc32(0, head.ptr, head.len);

    crc = sn_crc32(sn_crc32(crc, block.ptr, block.len), end, 4);
    sn_buf_add(out, member, sizeof member - 1);
    put_u32(out, n | ~n << 16);
    sn_buf_str(out, head);
    sn_buf_str(out, block);
    sn_buf_add(out, end, 4);
    put_u32(out, crc);
    put_u32(out, n);
    return sn_buf_done(out);
}

static seine_err
pack_whole(sn_warc_writer *w, sn_str head, sn_str block, sn_buf *out)
{
    sn_buf_reset(&w->whole);
    sn_buf_str(&w->whole, head);
    sn_buf_str(&w->whole, block);
    sn_buf_str(&w->whole, SN_STR("\r\n\r\n"));
    seine_err e = sn_buf_done(&w->whole);
    return e == SEINE_OK ? sn_gzip_member(&w->gzip, sn_buf_view(&w->whole), out) : e;
}

static seine_err
pack(sn_warc_writer *w, sn_str head, sn_str block, sn_buf *out)
{
    if (w->opts.pack == SN_WARC_GZIP && head.len + block.len <= STORED)
        return store(head, block, out);
    if (w->opts.pack == SN_WARC_GZIP && head.len + block.len + 4 <= LARGE)
        return pack_whole(w, head, block, out);

    bool gzip = w->opts.pack == SN_WARC_GZIP;
    seine_err e = sn_codec_begin(&w->codec, gzip ? SN_CODEC_GZIP : SN_CODEC_ZSTD);

    if (e == SEINE_OK)
        e = pack_piece(w, head, false, out);
    if (e == SEINE_OK)
        e = pack_piece(w, block, false, out);
    if (e == SEINE_OK)
        e = pack_piece(w, SN_STR("\r\n\r\n"), true, out);
    return e;
}

/* Ends the head and appends the whole record, or nothing. */
static seine_err
finish_record(sn_warc_writer *w, sn_str block, sn_buf *out)
{
    sn_buf *b = &w->head;
    size_t before = out->len;

    sn_buf_str(b, SN_STR("Content-Length: "));
    sn_buf_u64(b, block.len);
    sn_buf_str(b, SN_STR("\r\n\r\n"));
    seine_err e = sn_buf_done(b);
    if (e == SEINE_OK && w->opts.pack != SN_WARC_PLAIN) {
        e = pack(w, sn_buf_view(b), block, out);
    } else if (e == SEINE_OK) {
        sn_buf_str(out, sn_buf_view(b));
        sn_buf_str(out, block);
        sn_buf_str(out, SN_STR("\r\n\r\n"));
        e = sn_buf_done(out);
    }
    if (e != SEINE_OK)
        sn_buf_truncate(out, before);
    return e;
}

/* The records. */

seine_err
sn_warc_writer_info(sn_warc_writer *w, sn_str file, int64_t wall, sn_buf *out)
{
    sn_buf block;
    uint8_t sha1[20];

    sn_buf_init(&block, 1 << 16);
    put_text(&block, "software", w->opts.software);
    put_text(&block, "format", "WARC File Format 1.1");
    put_text(&block, "conformsTo", standard);
    if (w->opts.robots)
        put_text(&block, "robots", w->opts.robots);
    if (w->opts.user_agent)
        put_text(&block, "http-header-user-agent", w->opts.user_agent);
    make_id(w, w->info);
    seine_err e = sn_buf_done(&block);
    if (e == SEINE_OK)
        e = sha1_of(w, sn_buf_view(&block), sha1);
    if (e == SEINE_OK) {
        begin_head(w, "warcinfo", w->info, wall);
        if (file.len > 0)
            put_field(&w->head, "WARC-Filename", file);
        put_digest(&w->head, "WARC-Block-Digest", sha1);
        put_text(&w->head, "Content-Type", "application/warc-fields");
        e = finish_record(w, sn_buf_view(&block), out);
    }
    w->has_info = e == SEINE_OK;
    sn_buf_fini(&block);
    return e;
}

/* The analysis of a response. */
typedef struct answer {
    sn_warc_http http;
    sn_str bytes; /* up to the end of the message */
    uint64_t payload_len;
    uint8_t payload[20];
    bool is_whole;
} answer;

static bool
is_head_only(const seine_capture *c)
{
    return sn_str_starts(c->request, SN_STR("HEAD "));
}

/* Bytes after the end of a message are not part of it. */
static seine_err
look_at(sn_warc_writer *w, const seine_capture *c, answer *out)
{
    sn_str in = c->response, piece;
    seine_err e = sn_digest_begin(&w->digest, SN_DIGEST_SHA1);
    uint8_t digest[SN_DIGEST_MOST];
    size_t n;

    *out = (answer){.bytes = in};
    sn_warc_http_begin(&out->http, is_head_only(c));
    if (e != SEINE_OK)
        return e;
    while (in.len > 0 && sn_warc_http_next(&out->http, &in, &piece)) {
        sn_digest_add(&w->digest, piece.ptr, piece.len);
        out->payload_len += piece.len;
    }
    out->is_whole = c->cut == SEINE_CUT_NONE && out->http.has_head &&
                    sn_warc_http_is_whole(&out->http);
    if (out->is_whole)
        out->bytes.len = (size_t)out->http.taken;
    e = sn_digest_end(&w->digest, digest, &n);
    if (e == SEINE_OK)
        memcpy(out->payload, digest, 20);
    return e;
}

static void
put_place(sn_warc_writer *w, const seine_capture *c)
{
    sn_buf *b = &w->head;

    put_field(b, "WARC-Target-URI", c->url);
    if (c->ip.len > 0)
        put_field(b, "WARC-IP-Address", c->ip);
    if (w->has_info)
        put_id(b, "WARC-Warcinfo-ID", w->info);
}

static void
put_first(sn_warc_writer *w, const sn_warc_first *first)
{
    sn_buf *b = &w->head;

    put_text(b, "WARC-Profile", profile);
    put_id(b, "WARC-Refers-To", first->id);
    put_field(b, "WARC-Refers-To-Target-URI", first->url);
    put_date(b, "WARC-Refers-To-Date", first->wall);
}

/* Writes the response record: complete, or as a revisit its head alone. */
static seine_err
put_answer(sn_warc_writer *w, const seine_capture *c, const answer *a,
           const uint8_t id[16], const sn_warc_first *first, sn_buf *out)
{
    sn_buf *b = &w->head;
    sn_str block = {a->bytes.ptr, first ? (size_t)a->http.head_len : a->bytes.len};
    const char *cut = sn_warc_cut_name(a->is_whole || c->cut ? c->cut : SEINE_CUT_OTHER);
    uint8_t sha1[20];

    begin_head(w, first ? "revisit" : "response", id, c->wall);
    put_place(w, c);
    if (first)
        put_first(w, first);
    if (cut)
        put_text(b, "WARC-Truncated", cut);
    if (a->is_whole)
        put_digest(b, "WARC-Payload-Digest", a->payload);
    seine_err e = sha1_of(w, block, sha1);
    if (e != SEINE_OK)
        return e;
    put_digest(b, "WARC-Block-Digest", sha1);
    put_text(b, "Content-Type", "application/http; msgtype=response");
    return finish_record(w, block, out);
}

static seine_err
put_request(sn_warc_writer *w, const seine_capture *c, const uint8_t answer_id[16],
            sn_buf *out)
{
    sn_str block = c->request;
    uint8_t id[16], sha1[20];

    if (block.len == 0)
        return SEINE_OK;
    make_id(w, id);
    begin_head(w, "request", id, c->wall);
    put_place(w, c);
    put_id(&w->head, "WARC-Concurrent-To", answer_id);
    seine_err e = sha1_of(w, block, sha1);
    if (e != SEINE_OK)
        return e;
    put_digest(&w->head, "WARC-Block-Digest", sha1);
    put_text(&w->head, "Content-Type", "application/http; msgtype=request");
    return finish_record(w, block, out);
}

static void
remember(sn_warc_writer *w, const seine_capture *c, const answer *a, const uint8_t id[16])
{
    sn_warc_first first = {.wall = c->wall, .url = c->url};

    memcpy(first.sha1, a->payload, 20);
    memcpy(first.id, id, 16);
    seine_err e = sn_warc_seen_add(&w->seen, &first);
    (void)e; /* without memory the payload is stored twice, which is valid */
}

seine_err
sn_warc_writer_capture(sn_warc_writer *w, const seine_capture *c, sn_buf *out,
                       sn_warc_writer_made *out_made)
{
    size_t before = out->len;
    const sn_warc_first *first = NULL;
    answer a;
    uint8_t id[16];

    *out_made = (sn_warc_writer_made){.offset = before};
    if (c->response.len == 0)
        return SEINE_OK;
    seine_err e = look_at(w, c, &a);
    if (e == SEINE_OK && a.is_whole && a.payload_len > 0)
        first = sn_warc_seen_get(&w->seen, a.payload);
    make_id(w, id);
    if (e == SEINE_OK)
        e = put_answer(w, c, &a, id, first, out);
    out_made->length = out->len - before;
    if (e == SEINE_OK)
        e = put_request(w, c, id, out);
    if (e != SEINE_OK) {
        sn_buf_truncate(out, before);
        out_made->length = 0;
        return e;
    }
    sn_warc_id_text(id, out_made->id);
    if (a.is_whole)
        digest_text(a.payload, out_made->digest);
    memcpy(out_made->type, a.http.type, sizeof out_made->type);
    out_made->status = a.http.status;
    out_made->is_revisit = first != NULL;
    if (!first && a.is_whole && a.payload_len > 0)
        remember(w, c, &a, id);
    return SEINE_OK;
}
