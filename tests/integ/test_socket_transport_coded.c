/* SPDX-License-Identifier: Apache-2.0 */
/* Packed bodies on real sockets: unpacked to their end, or not ok. */
#include "socket_transport.h"

TEST(a_body_comes_as_it_was_before_it_was_packed)
{
    static const char *const paths[] = {
        "/gzip/bytes:100000",
        "/deflate/bytes:100000",
        "/rawdeflate/bytes:100000",
        "/br/bytes:100000",
        "/zstd/bytes:100000",
        "/gzip:x-gzip/bytes:1000",
        "/gzip/br/bytes:1000",
        "/zstd/gzip/html:5000",
        "/chunked/chunksize:7/gzip/bytes:3000",
        "/close/br/bytes:3000",
        "/members:9/gzip/bytes:1000",
        "/gzip/empty",
        "/gzip/bytes:3M", /* larger than a turn makes, and than one reads */
        "/gzip/html:50000",
        "/br/gzip/html:50000",
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, paths) {
        visit *v = get(t, seine_chaos_url(c), paths[i]);
        visit *plain = get(t, seine_chaos_url(c), strrchr(paths[i], '/'));

        CHECK_END(v, SEINE_OK);
        CHECK(!v->end.partial && v->end.notes == 0);
        CHECK_EQ(v->bytes, plain->bytes);
        CHECK(memcmp(v->body, plain->body, BODY_KEPT) == 0);
        CHECK_EQ(v->end.body_bytes, v->bytes);
        free(v);
        free(plain);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_connection_serves_on_after_a_packed_body_of_any_size)
{
    static const char *const paths[] = {"/gzip/bytes:1000", "/gzip/html:30000", "/ok",
                                        "/br/text:1M",      "/zstd/text:600k",  "/ok"};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    transport_stop_clock(); /* a connection rests after its second use */
    EACH_ROW(i, paths) {
        visit *v = get(t, seine_chaos_url(c), paths[i]);

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, i > 0 && i != 2); /* two take turns */
        free(v);
    }
    CHECK_EQ(transport_stats(t).opened, 2);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(what_cannot_be_unpacked_is_named)
{
    static const struct {
        const char *path;
        seine_err want;
    } rows[] = {
        {"/codecut:1/gzip/ok", SEINE_E_BODY_TRUNCATED},
        {"/codecut:1/deflate/ok", SEINE_E_BODY_TRUNCATED},
        {"/codecut:1/br/bytes:1000", SEINE_E_BODY_TRUNCATED},
        {"/codecut:1/zstd/ok", SEINE_E_BODY_TRUNCATED},
        {"/codeflip:-5/gzip/ok", SEINE_E_BAD_ENCODING},
        {"/codeflip:-1/gzip/ok", SEINE_E_BAD_ENCODING},
        {"/lie:gzip/ok", SEINE_E_BAD_ENCODING},
        {"/coding:sdch/ok", SEINE_E_BAD_ENCODING},
        {"/gzip/br/zstd/ok", SEINE_E_BAD_ENCODING},
        {"/fin:5:body/gzip/bytes:1000", SEINE_E_BODY_TRUNCATED},
        {"/reset:5:body/gzip/bytes:1000", SEINE_E_BODY_TRUNCATED},
        {"/bytes:17M", SEINE_E_BODY_TOO_LARGE},
        {"/gzip/bytes:17M", SEINE_E_BODY_TOO_LARGE},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = get(t, seine_chaos_url(c), rows[i].path);

        CHECK_END(v, rows[i].want);
        CHECK(v->end.partial);
        CHECK_EQ(v->status, 200);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(codings_of_an_answer_without_a_body_do_not_matter)
{
    static const struct {
        const char *method, *path;
        uint16_t status;
    } rows[] = {{"HEAD", "/coding:sdch/ok", 200},
                {"HEAD", "/gzip/ok", 200},
                {"GET", "/coding:sdch/status:204", 204}};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->q.method = sn_str_of(rows[i].method);
        visit_run(t, v);
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->status, rows[i].status);
        CHECK_EQ(v->bytes, 0);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(bytes_behind_the_end_of_a_packed_body_are_a_note)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = get(t, seine_chaos_url(c), "/codetail:9/gzip/bytes:100");

    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->end.notes, SN_NOTE_TRAILING_BYTES);
    CHECK_EQ(v->bytes, 100);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* raw_encoding: who is not what its head says from its first bytes on is taken as it
 * is; who breaks later is still broken. */
TEST(raw_encoding_takes_what_is_unknown_or_a_lie_as_it_is)
{
    static const struct {
        const char *path;
        seine_err want;
        bool as_is;
    } rows[] = {
        {"/coding:sdch/bytes:100", SEINE_OK, true},
        {"/gzip/br/zstd/bytes:100", SEINE_OK,
         false}, /* three codings, all of them left */
        {"/lie:gzip/bytes:100", SEINE_OK, true},
        {"/chunked/chunksize:1/lie:gzip/bytes:100", SEINE_OK, true},
        {"/lie:zstd/bytes:100", SEINE_OK, true},
        {"/gzip/bytes:100", SEINE_OK, true}, /* nothing is wrong with it: unpacked */
        {"/codeflip:-5/gzip/bytes:5000", SEINE_E_BAD_ENCODING, false},
        {"/codecut:1/gzip/bytes:100", SEINE_E_BODY_TRUNCATED, false},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *plain = get(t, seine_chaos_url(c), "/bytes:100");

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->q.raw_encoding = true;
        visit_run(t, v);
        CHECK_END(v, rows[i].want);
        if (rows[i].as_is) {
            CHECK_EQ(v->bytes, 100);
            CHECK(memcmp(v->body, plain->body, 100) == 0);
        }
        free(v);
    }
    free(plain);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* The wire. */

typedef struct tape {
    visit v;
    char bytes[65536];
    size_t len, at_head;
} tape;

static void
tape_head(const sn_head *head, void *arg)
{
    tape *w = arg;

    visit_head(head, &w->v);
    w->at_head = w->len;
}

static void
tape_wire(sn_str bytes, void *arg)
{
    tape *w = arg;

    CHECK_EQ(w->v.ends, 0);
    CHECK(bytes.len > 0 && w->len + bytes.len <= sizeof w->bytes);
    memcpy(w->bytes + w->len, bytes.ptr, bytes.len);
    w->len += bytes.len;
}

static tape *
record(sn_transport *t, const char *base, const char *path)
{
    tape *w = calloc(1, sizeof *w);
    visit *made = visit_of(base, path);
    static const sn_handler_ops ops = {.admit = visit_admit,
                                       .head = tape_head,
                                       .wire = tape_wire,
                                       .body = visit_body,
                                       .end = visit_end};

    w->v = *made;
    w->v.q.limits = &w->v.limits;
    seine_url_init(&w->v.url, w->v.mem, sizeof w->v.mem);
    char text[512];
    snprintf(text, sizeof text, "%s%s", base, path);
    CHECK_EQ(seine_url_parse(&w->v.url, text, strlen(text), NULL), SEINE_OK);
    w->v.q.url = &w->v.url;
    free(made);
    w->v.t = t;
    CHECK_EQ(t->ops->start(t, &w->v.q, &(sn_handler){&ops, w}, &w->v.x), SEINE_OK);
    visit_wait(&w->v);
    return w;
}

/* What a raw socket gets for the same request. */
static size_t
raw_answer(seine_chaos *c, const char *path, char *out, size_t room)
{
    char base[64];
    sn_transport *t = transport();

    /* Everything behind the head, as it is: nobody asks for a coding to be undone. */
    snprintf(base, sizeof base, "%s", seine_chaos_url(c));
    visit *v = visit_of(base, path);
    v->q.raw_encoding = true;
    visit_run(t, v);
    size_t n = v->bytes < room ? (size_t)v->bytes : room;
    memcpy(out, v->body, n);
    free(v);
    sn_socket_transport_free(t);
    return n;
}

TEST(every_received_byte_is_told_before_what_is_made_of_it)
{
    static const char *const paths[] = {
        "/bytes:2000",          "/chunked/chunksize:100/trailer:2/bytes:2000",
        "/interim:3/bytes:100", "/close/bytes:500",
        "/gzip/bytes:3000",     "/chunked/br/bytes:3000",
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, paths) {
        tape *w = record(t, seine_chaos_url(c), paths[i]);

        CHECK_END(&w->v, SEINE_OK);
        CHECK(strncmp(w->bytes, "HTTP/1.1 ", 9) == 0);
        CHECK(memcmp(w->bytes + w->at_head - 4, "\r\n\r\n", 4) == 0);
        CHECK_EQ(w->len - w->at_head, w->v.end.wire_bytes);
        free(w);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(what_cannot_be_unpacked_is_archived_up_to_its_end)
{
    static const struct {
        const char *path;
        seine_err want;
    } rows[] = {
        {"/lie:gzip/bytes:3000", SEINE_E_BAD_ENCODING},
        {"/coding:sdch/bytes:3000", SEINE_E_BAD_ENCODING},
        {"/chunked/chunksize:100/lie:br/bytes:3000", SEINE_E_BAD_ENCODING},
        {"/fin:3000:body/lie:gzip/bytes:4000",
         SEINE_E_BAD_ENCODING}, /* the first fault */
        {"/close/coding:sdch/bytes:3000", SEINE_E_BAD_ENCODING},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    char plain[4096];

    CHECK_EQ(raw_answer(c, "/bytes:3000", plain, sizeof plain), 3000);
    EACH_ROW(i, rows) {
        tape *w = record(t, seine_chaos_url(c), rows[i].path);

        CHECK_END(&w->v, rows[i].want);
        CHECK(w->v.end.partial);
        CHECK_EQ(w->v.bytes, 0);
        CHECK(w->len - w->at_head >= 3000);
        if (!strstr(rows[i].path, "chunked"))
            CHECK(memcmp(w->bytes + w->at_head, plain, 3000) == 0);
        free(w);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* P3 for packed bodies: cut after every byte, with a framing that says it is whole. */
TEST(p3_a_packed_body_cut_after_any_byte_is_never_whole)
{
    static const char *const codings[] = {"gzip", "deflate", "rawdeflate", "br", "zstd"};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    int cuts = 0;

    EACH_ROW(i, codings) {
        char path[128];

        snprintf(path, sizeof path, "/%s/text:300", codings[i]);
        visit *whole = get(t, seine_chaos_url(c), path);
        CHECK_END(whole, SEINE_OK);
        uint64_t all = whole->end.wire_bytes;
        for (uint64_t n = 1; n < all; n++) { /* no byte at all is a whole body */
            snprintf(path, sizeof path, "/codecut:%llu/%s/text:300",
                     (unsigned long long)n, codings[i]);
            visit *v = get(t, seine_chaos_url(c), path);
            CHECK(v->end.fault.code == SEINE_E_BODY_TRUNCATED ||
                  v->end.fault.code == SEINE_E_BAD_ENCODING);
            CHECK(v->end.partial);
            cuts++;
            free(v);
        }
        free(whole);
    }
    CHECK(cuts > 500);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(memory_for_unpacking_comes_out_of_the_budget_and_goes_back)
{
    seine_chaos *c = chaos(NULL);
    seine_budget *b = NULL;
    sn_socket_transport_opts o = transport_opts();

    CHECK_EQ(seine_budget_new(
                 &(seine_want){{8 << 10, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, &b),
             SEINE_OK);
    o.budget = b;
    sn_transport *t = transport_of(&o);
    visit *v = get(t, seine_chaos_url(c), "/gzip/ok"); /* zlib needs 40 KiB */
    CHECK_END(v, SEINE_E_BUDGET);
    free(v);
    sn_socket_transport_free(t);
    seine_budget_free(b);

    CHECK_EQ(seine_budget_new(
                 &(seine_want){{4 << 20, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, &b),
             SEINE_OK);
    o.budget = b;
    t = transport_of(&o);
    for (int i = 0; i < 3; i++) {
        v = get(t, seine_chaos_url(c), "/gzip/html:30000");
        CHECK_END(v, SEINE_OK);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_want left;
    seine_budget_used_get(b, &left);
    CHECK_EQ(left.n[SEINE_RES_MEMORY], 0);
    seine_budget_free(b);
    seine_chaos_free(c);
}
