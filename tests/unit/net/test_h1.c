/* SPDX-License-Identifier: Apache-2.0 */
#include "net/h1.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

/* How the connection ends behind the bytes. */
enum { OPEN, END_EOF, END_LOST };

enum { GET, HEAD, CONNECT, IF, RANGE };

static const sn_h1_ask asks[] = {
    [GET] = {0},
    [HEAD] = {.head_only = true},
    [CONNECT] = {.tunnel = true},
    [IF] = {.conditional = true},
    [RANGE] = {.range = true},
};

/* The events of one reading, as text, to compare two readings. */
typedef struct reading {
    sn_buf log;
    sn_buf body;
    sn_head head;
    sn_h1 h;
    sn_h1_event last;
    bool has_head;
    size_t taken;
} reading;

static void
reading_init(reading *r, const sn_h1_ask *ask)
{
    memset(r, 0, sizeof *r);
    sn_buf_init(&r->log, 4 << 20);
    sn_buf_init(&r->body, 4 << 20);
    sn_head_init(&r->head, NULL);
    sn_h1_begin(&r->h, &r->head, ask);
}

static void
reading_fini(reading *r)
{
    sn_buf_fini(&r->log);
    sn_buf_fini(&r->body);
    sn_head_fini(&r->head);
}

static void
log_head(reading *r)
{
    r->has_head = true;
    sn_buf_printf(&r->log, "head %u 1.%u [%.*s] framing %d length %llu\n", r->head.status,
                  r->head.minor, SN_FMT(sn_head_reason(&r->head)), (int)r->h.framing,
                  (unsigned long long)r->h.length);
    for (uint32_t i = 0; i < r->head.n_fields; i++) {
        sn_field f = sn_head_field_of(&r->head, i);

        sn_buf_str(&r->log, f.name);
        sn_buf_char(&r->log, '=');
        sn_buf_str(&r->log, f.value);
        sn_buf_char(&r->log, '\n');
    }
}

static void
feed(reading *r, const char *bytes, size_t n)
{
    sn_str in = {bytes, n}, piece = {0};

    do {
        size_t before = in.len;

        r->last = sn_h1_next(&r->h, &in, &piece);
        r->taken += before - in.len;
        if (r->last == SN_H1_HEAD)
            log_head(r);
        if (r->last == SN_H1_BODY) {
            CHECK(piece.len > 0);
            CHECK(piece.ptr >= bytes && piece.ptr + piece.len <= bytes + n); /* a view */
            sn_buf_str(&r->body, piece);
        }
    } while (r->last == SN_H1_HEAD || r->last == SN_H1_BODY);
    if (r->last == SN_H1_MORE)
        CHECK_EQ(in.len, 0);
}

static void
finish(reading *r, int end)
{
    seine_err e = SEINE_OK;

    if (end != OPEN && r->last != SN_H1_DONE) {
        e = end == END_EOF ? sn_h1_eof(&r->h) : sn_h1_lost(&r->h);
        CHECK(e == SEINE_OK || e == r->h.err);
        r->last = e == SEINE_OK ? SN_H1_DONE : SN_H1_FAIL;
    }
    sn_buf_str(&r->log, SN_STR("body "));
    sn_buf_str(&r->log, sn_buf_view(&r->body));
    sn_buf_printf(
        &r->log, "\nlast %d err %s notes %x odd %u keep %u reusable %d interim %u",
        (int)r->last, r->h.err == SEINE_OK ? "-" : seine_err_name(r->h.err), r->h.notes,
        r->h.odd_headers, r->h.keep_alive_s, sn_h1_is_reusable(&r->h), r->h.n_interim);
    if (r->last == SN_H1_DONE)
        sn_buf_printf(&r->log, " taken %zu", r->taken);
    CHECK_EQ(sn_buf_done(&r->log), SEINE_OK);
}

/* All in one piece. */
static void
read_whole(reading *r, const sn_h1_ask *ask, const char *bytes, size_t n, int end)
{
    reading_init(r, ask);
    feed(r, bytes, n);
    finish(r, end);
    CHECK(r->h.steps <= 16 * n + 4096);
}

static void
check_same(const reading *a, reading *b, const char *how, size_t at)
{
    if (!sn_str_eq(sn_buf_view(&a->log), sn_buf_view(&b->log)))
        check_fail(__FILE__, __LINE__, "%s %zu:\n%.*s\n  instead of\n%.*s", how, at,
                   SN_FMT(sn_buf_view(&b->log)), SN_FMT(sn_buf_view(&a->log)));
    reading_fini(b);
}

/* Every place to cut the bytes in two, and byte by byte: the same events. */
static void
check_splits(const reading *whole, const sn_h1_ask *ask, const char *bytes, size_t n,
             int end)
{
    reading r;

    for (size_t cut = 0; cut <= n; cut += n < 2000 ? 1 : 1 + n / 97) {
        reading_init(&r, ask);
        feed(&r, bytes, cut);
        feed(&r, bytes + cut, n - cut);
        finish(&r, end);
        check_same(whole, &r, "cut at", cut);
    }
    reading_init(&r, ask);
    for (size_t i = 0; i < n; i++)
        feed(&r, bytes + i, 1);
    finish(&r, end);
    check_same(whole, &r, "byte by byte", n);
}

/* Nothing shorter than the whole is complete, however the connection ends; only a
 * body without a length may end anywhere, if the end was in order (P3). */
static void
check_cuts(const sn_h1_ask *ask, const char *bytes, size_t n)
{
    for (size_t cut = 0; cut < n; cut += n < 2000 ? 1 : 1 + n / 97)
        for (int end = END_EOF; end <= END_LOST; end++) {
            reading r;

            reading_init(&r, ask);
            feed(&r, bytes, cut);
            CHECK(r.last != SN_H1_DONE);
            finish(&r, end);
            if (r.last == SN_H1_DONE)
                CHECK(r.has_head && end == END_EOF && r.h.framing == SN_H1_UNTIL_CLOSE);
            else if (cut == 0)
                CHECK_EQ(r.h.err, SEINE_E_CONN_RESET);
            else
                CHECK(r.h.err ==
                      (r.has_head ? SEINE_E_BODY_TRUNCATED : SEINE_E_HEADER_TRUNCATED));
            CHECK(!sn_h1_is_reusable(&r.h));
            reading_fini(&r);
        }
}

typedef struct row {
    int ask;
    const char *bytes;
    size_t n;
    int end;
    seine_err err;
    const char *body; /* for OK */
    uint32_t notes;
    bool reusable;
} row;

/* A response that ends well, and one that does not. */
#define GOOD(ask, text, end, body, notes, reusable)                       \
    {                                                                     \
        ask, text, sizeof(text) - 1, end, SEINE_OK, body, notes, reusable \
    }
#define BAD(ask, text, kind)                                              \
    {                                                                     \
        ask, text, sizeof(text) - 1, OPEN, SEINE_E_##kind, NULL, 0, false \
    }
#define CUT(ask, text, end, kind)                                        \
    {                                                                    \
        ask, text, sizeof(text) - 1, end, SEINE_E_##kind, NULL, 0, false \
    }

#define OK11 "HTTP/1.1 200 OK\r\n"
#define NONE 0

static void
check_row_of(const row *w)
{
    reading r;

    read_whole(&r, &asks[w->ask], w->bytes, w->n, w->end);
    CHECK_EQ(r.h.err, w->err);
    if (w->err == SEINE_OK) {
        CHECK_EQ(r.last, SN_H1_DONE);
        CHECK_EQ(r.body.len, strlen(w->body));
        CHECK(r.body.len == 0 || memcmp(r.body.ptr, w->body, r.body.len) == 0);
        CHECK_EQ(r.h.notes, w->notes);
        CHECK_EQ(sn_h1_is_reusable(&r.h), w->reusable);
    } else {
        CHECK_EQ(r.last, SN_H1_FAIL);
        CHECK(!sn_h1_is_reusable(&r.h));
    }
    check_splits(&r, &asks[w->ask], w->bytes, w->n, w->end);
    if (w->err == SEINE_OK)
        check_cuts(&asks[w->ask], w->bytes, r.taken);
    reading_fini(&r);
}

#define CHECK_ROWS(rows) \
    EACH_ROW(i, rows)    \
    check_row_of(&(rows)[i])

TEST(h1_rule_1_a_status_line_and_nothing_before_it)
{
    static const row rows[] = {
        GOOD(GET, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi", NONE,
             true),
        GOOD(GET, "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", OPEN, "", NONE, true),
        GOOD(GET, "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", OPEN, "", NONE, true),
        GOOD(GET, "HTTP/1.0 999 \xe4\xff\t!\r\nContent-Length: 0\r\n\r\n", OPEN, "", NONE,
             false),
        BAD(GET, "\r\nHTTP/1.1 200 OK\r\n\r\n", BAD_STATUS_LINE),
        BAD(GET, "\nHTTP/1.1 200 OK\r\n\r\n", BAD_STATUS_LINE),
        BAD(GET, " HTTP/1.1 200 OK\r\n\r\n", BAD_STATUS_LINE),
        BAD(GET, "<html>", BAD_STATUS_LINE), /* HTTP/0.9 */
        BAD(GET, "http/1.1 200 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/2 200", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.2 200", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.10 200", BAD_STATUS_LINE),
        BAD(GET, "HTTP/0.9 200", BAD_STATUS_LINE),
        BAD(GET, "HTTPS/1.1 200", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1  200 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1\t200 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1\r200 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 099 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 20 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 2000 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 200OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 20x OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 -20 OK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 200\tOK", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 \r\n", BAD_STATUS_LINE),
        BAD(GET, "\0HTTP/1.1 200", BAD_STATUS_LINE),
        BAD(GET, "HTTP/1.1 200\0", BAD_STATUS_LINE),
        BAD(GET, "SSH-2.0-OpenSSH_9.2\r\n", BAD_STATUS_LINE),
        BAD(GET, "\x15\x03\x01", BAD_STATUS_LINE), /* a TLS alert */
    };

    CHECK_ROWS(rows);
}

TEST(h1_rule_2_a_head_is_complete_with_its_blank_line_only)
{
    static const row rows[] = {
        CUT(GET, "H", END_EOF, HEADER_TRUNCATED),
        CUT(GET, "HTTP/1.1 200 OK", END_EOF, HEADER_TRUNCATED),
        CUT(GET, "HTTP/1.1 200 OK\r", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11, END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11, END_LOST, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Length: 0\r\n", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Length: 0\r\n\r", END_LOST, HEADER_TRUNCATED),
        CUT(HEAD, OK11 "A: b", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Len", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Length", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Length: ", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Length: 12", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Length: 12, ", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Content-Length: 12, 1", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Transfer-Encoding: ", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Transfer-Encoding: CHUN", END_EOF, HEADER_TRUNCATED),
        CUT(GET, OK11 "Transfer-Encoding: chunked ", END_EOF, HEADER_TRUNCATED),
        CUT(GET, "HTTP/1.1 100 Continue\r\n\r\n", END_EOF, HEADER_TRUNCATED),
        /* A value that is already wrong stays the error when the connection ends. */
        CUT(GET, OK11 "Content-Length: x", END_EOF, BAD_FRAMING),
        CUT(GET, OK11 "Content-Length: 12, 13, ", END_EOF, BAD_FRAMING),
        CUT(GET, OK11 "Content-Length: 12, 13", END_EOF, BAD_FRAMING), /* never 12 */
        CUT(GET, OK11 "Content-Length: 12, 2", END_EOF, BAD_FRAMING),
        CUT(GET, OK11 "Content-Length: 12, 00", END_EOF, HEADER_TRUNCATED), /* 0012 */
        CUT(GET, OK11 "Content-Length: 0, 1", END_EOF, BAD_FRAMING),
        CUT(GET, OK11 "Content-Length: 7\r\nContent-Length: 8", END_LOST, BAD_FRAMING),
        CUT(GET, OK11 "Content-Length: 12, x", END_LOST, BAD_FRAMING),
        CUT(GET, OK11 "Content-Length: 99999999999999999999", END_LOST, BAD_FRAMING),
        CUT(GET, OK11 "Transfer-Encoding: g", END_EOF, BAD_FRAMING),
        CUT(GET, OK11 "Transfer-Encoding: chunked,", END_EOF, BAD_FRAMING),
        CUT(GET, OK11 "Transfer-Encoding: chunked\r\nTransfer-Encoding:", END_EOF,
            BAD_FRAMING),
    };

    CHECK_ROWS(rows);
}

TEST(h1_rule_3_an_end_before_the_first_byte_is_a_reset)
{
    static const row rows[] = {
        CUT(GET, "", END_EOF, CONN_RESET),
        CUT(GET, "", END_LOST, CONN_RESET),
        CUT(HEAD, "", END_EOF, CONN_RESET),
    };
    sn_head head;
    sn_h1 h;

    CHECK_ROWS(rows);
    sn_head_init(&head, NULL);
    sn_h1_begin(&h, &head, &asks[GET]);
    CHECK(!sn_h1_has_begun(&h));
    sn_str in = SN_STR("H"), piece;
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_MORE);
    CHECK(sn_h1_has_begun(&h));
    sn_head_fini(&head);
}

TEST(h1_rule_4_line_ends_bare_cr_and_nul)
{
    static const row rows[] = {
        GOOD(GET, "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", OPEN, "hi", SN_NOTE_LF,
             true),
        GOOD(GET, OK11 "Content-Length: 2\r\n\nhi", OPEN, "hi", SN_NOTE_LF, true),
        GOOD(GET, "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nhi", OPEN, "hi", SN_NOTE_LF,
             true),
        GOOD(GET, OK11 "A: b\rc\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi", SN_NOTE_CR,
             true),
        GOOD(GET, "HTTP/1.1 200\rOK\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_CR, true),
        GOOD(GET, OK11 "A: b\r\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi", SN_NOTE_CR,
             true),
        GOOD(GET, OK11 "A: b\r\r\r\nContent-Length: 2\n\r\nhi", OPEN, "hi",
             SN_NOTE_CR | SN_NOTE_LF, true),
        GOOD(GET, OK11 "Content-Length:\r2\r\n\r\nhi", OPEN, "hi", SN_NOTE_CR, true),
        /* A CR before a name makes its line a continuation; here of nothing. */
        GOOD(GET, OK11 "\rA: b\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_CR | SN_NOTE_ODD_HEADERS, true),
        BAD(GET, OK11 "A: b\r\nContent-Length: 2\r\n\r\r\nhi", BAD_FRAMING), /* folded */
        BAD(GET, "HTTP/1.1 200 O\0K\r\n", BAD_HEADER),
        BAD(GET, OK11 "A\0: b\r\n", BAD_HEADER), BAD(GET, OK11 "A: b\0\r\n", BAD_HEADER),
        BAD(GET, OK11 "\0\r\n", BAD_HEADER), BAD(GET, OK11 "A: b\r\n \0", BAD_HEADER),
        BAD(GET, OK11 "odd \0", BAD_HEADER), BAD(GET, OK11 "odd : \0", BAD_HEADER),
        BAD(GET, OK11 "Set-Cookie: a=b\r\n c\0", BAD_HEADER),
        BAD(GET, OK11 "Content-Length: 2\0", BAD_HEADER),
        BAD(GET, OK11 "Content-Length: x\0", BAD_FRAMING), /* the x comes first */
        BAD(GET, OK11 "Content-Length : 5\0", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length 5\0", BAD_HEADER), /* no end of the name seen */
    };

    CHECK_ROWS(rows);
}

TEST(h1_rule_5_odd_lines_are_dropped_unless_they_resemble_framing)
{
    static const row rows[] = {
        GOOD(GET, OK11 "no colon here\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(GET, OK11 ": no name\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(GET, OK11 "a b: c\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(GET, OK11 "a\t: c\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(GET, OK11 "\xc3\xa4: c\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(GET, OK11 " first: c\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(GET, OK11 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(GET, OK11 "a b: Content-Length\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             SN_NOTE_ODD_HEADERS, true), /* in the value */
        GOOD(GET, OK11 "X-Content-Length: 7\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             NONE, true),
        GOOD(GET, OK11 "Content_Length: 7\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             NONE, true),
        BAD(GET, OK11 "Content-Length : 2\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length\t: 2\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length\r: 2\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length : 2\rx\n", BAD_FRAMING), /* before CR and LF */
        BAD(GET, OK11 "Content-Length : \0", BAD_FRAMING),     /* and before NUL */
        BAD(GET, OK11 "Content-Length\0 : 2", BAD_HEADER),
        BAD(GET, OK11 "Content-Length 2\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content Length: 2\r\n", BAD_FRAMING),
        BAD(GET, OK11 "content length\n", BAD_FRAMING),
        BAD(GET, OK11 " Content-Length: 2\r\n", BAD_FRAMING),
        BAD(GET, OK11 "\rContent-Length: 2\r\n", BAD_FRAMING),
        BAD(GET, OK11 "odd\r\n Content-Length: 2\r\n", BAD_FRAMING),
        BAD(GET,
            OK11 "\x0b"
                 "Transfer-Encoding: chunked\r\n",
            BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding\xa0: chunked\r\n", BAD_FRAMING),
        BAD(GET, OK11 "TRANSFER ENCODING: chunked\r\n", BAD_FRAMING),
        BAD(GET, OK11 "my Transfer-Encoding: chunked\r\n", BAD_FRAMING),
    };
    reading r;

    CHECK_ROWS(rows);
    read_whole(&r, &asks[GET], SN_STR(OK11 "a b\r\nc d\r\nE: f\r\n\r\n").ptr,
               sizeof OK11 "a b\r\nc d\r\nE: f\r\n\r\n" - 1, OPEN);
    CHECK_EQ(r.h.odd_headers, 2);
    CHECK_EQ(r.head.n_fields, 1);
    reading_fini(&r);
}

/* The value of field `a`, after a head with it was read. */
static void
check_value(const char *bytes, const char *want)
{
    reading r;
    sn_str value = {0};

    read_whole(&r, &asks[HEAD], bytes, strlen(bytes), OPEN);
    CHECK_EQ(r.last, SN_H1_DONE);
    CHECK(sn_head_get(&r.head, SN_STR("a"), &value) == (want != NULL));
    if (want && !sn_str_eq(value, sn_str_of(want)))
        check_fail(__FILE__, __LINE__, "got \"%.*s\", want \"%s\"", SN_FMT(value), want);
    check_splits(&r, &asks[HEAD], bytes, strlen(bytes), OPEN);
    reading_fini(&r);
}

TEST(h1_rule_6_folded_lines_join_with_one_blank)
{
    static const struct {
        const char *field, *value; /* of `a`; NULL: dropped */
    } values[] = {
        {OK11 "A: b\r\n c\r\n\r\n", "b c"},
        {OK11 "A: b  \r\n\t  c \t\r\n\r\n", "b c"},
        {OK11 "A: b\r\n c\r\n d\n\te\r\n\r\n", "b c d e"},
        {OK11 "A:\r\n c\r\n\r\n", "c"},
        {OK11 "A: b\r\n \r\n\r\n", "b"},
        {OK11 "A: b\r\n \r\n \r\n d\r\nX: y\r\n\r\n", "b d"},
        {OK11 "A: b\r\n\rc\r\n\r\n", "b c"}, /* a CR that is a blank */
        {OK11 "A: b c \t d\r\n\r\n", "b c \t d"},
        {OK11 "A:b\r\n\r\n", "b"},
        {OK11 "A: \r\n\r\n", ""},
        {OK11 "A:\r\n\r\n", ""},
        {OK11 "a: 1\r\nA: 2\r\n\r\n", "1"},
        {OK11 "B: 1\r\n a: 2\r\n\r\n", NULL},
        {OK11 "A: b\r\nodd\r\n c\r\n\r\n", "b"}, /* continues the odd line */
    };
    static const row rows[] = {
        BAD(GET, OK11 "Content-Length: 2\r\n 0\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2\r\n \r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2\r\n\t", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: chunked\r\n ", BAD_FRAMING),
        GOOD(HEAD, OK11 "Set-Cookie: a=b\r\n c\r\n d\r\nX: y\r\n\r\n", OPEN, "",
             SN_NOTE_ODD_HEADERS, true),
        GOOD(HEAD, OK11 "Set-Cookie: a=b\r\n c\r\n Content-Length: 3\r\n\r\n", OPEN, "",
             SN_NOTE_ODD_HEADERS, true), /* still the cookie */
    };
    reading r;
    sn_str value;

    CHECK_ROWS(rows);
    EACH_ROW(i, values)
        check_value(values[i].field, values[i].value);
    static const char cookies[] = OK11 "Set-Cookie: a=b\r\nset-cookie: c=d\r\n "
                                       "Content-Length: 3\r\nSet-Cookie: e=f\r\n\r\n";
    read_whole(&r, &asks[HEAD], cookies, sizeof cookies - 1, OPEN);
    uint32_t i = 0;
    CHECK(sn_head_next(&r.head, SN_STR("set-cookie"), &i, &value));
    CHECK(sn_str_eq(value, SN_STR("a=b")));
    CHECK(sn_head_next(&r.head, SN_STR("set-cookie"), &i, &value));
    CHECK(sn_str_eq(value, SN_STR("e=f")));
    CHECK(!sn_head_next(&r.head, SN_STR("set-cookie"), &i, &value));
    CHECK_EQ(r.h.odd_headers, 1);
    reading_fini(&r);
}

TEST(h1_rule_7_content_length_is_one_number)
{
    static const row rows[] = {
        GOOD(GET, OK11 "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             NONE, true),
        GOOD(GET, OK11 "content-LENGTH:2, 2 ,\t2\r\n\r\nhi", OPEN, "hi", NONE, true),
        GOOD(GET, OK11 "Content-Length: 0000000000000000000000002\r\n\r\nhi", OPEN, "hi",
             NONE, true),
        GOOD(HEAD, OK11 "Content-Length: 9223372036854775807\r\n\r\n", OPEN, "", NONE,
             false), /* rule 10 */
        BAD(GET, OK11 "Content-Length: 9223372036854775808\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 18446744073709551618\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2\r\nContent-Length: 3\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2, 3\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2,\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: ,2\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: \r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: +2\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: -2\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 0x2\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2.0\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2 2\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: 2\f\r\n\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Content-Length: \"2\"\r\n\r\n", BAD_FRAMING),
        BAD(HEAD, OK11 "Content-Length: two\r\n\r\n",
            BAD_FRAMING), /* also without a body */
        BAD(GET, "HTTP/1.1 100 Continue\r\nContent-Length: x\r\n", BAD_FRAMING),
    };

    CHECK_ROWS(rows);
}

#define CHUNKED OK11 "Transfer-Encoding: chunked\r\n\r\n"

TEST(h1_rule_8_transfer_encoding_is_one_chunked)
{
    static const row rows[] = {
        GOOD(GET, OK11 "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", OPEN, "", NONE,
             true),
        GOOD(GET, OK11 "TRANSFER-encoding:\tChUnKeD \r\n\r\n0\r\n\r\n", OPEN, "", NONE,
             true),
        BAD(GET, OK11 "Transfer-Encoding: gzip, chunked\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: chunked, chunked\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: chunked;q=1\r\n", BAD_FRAMING),
        /* Identity is none, if it stands alone. */
        GOOD(GET, OK11 "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi", OPEN,
             "hi", SN_NOTE_ODD_CODING, true),
        GOOD(GET, OK11 "Content-Length: 2\r\ntransfer-encoding:\tIDENTITY \r\n\r\nhi",
             OPEN, "hi", SN_NOTE_ODD_CODING, true),
        GOOD(GET, OK11 "Transfer-Encoding: identity\r\n\r\nhi", END_EOF, "hi",
             SN_NOTE_ODD_CODING, false),
        BAD(GET, OK11 "Transfer-Encoding: identity, chunked\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: chunked, identity\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n",
            BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: identity;q=1\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: \r\n", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: ,chunked\r\n", BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: xchunked\r\n", BAD_FRAMING),
        BAD(GET,
            OK11 "Transfer-Encoding: \x0b"
                 "chunked\r\n",
            BAD_FRAMING),
        BAD(GET, OK11 "Transfer-Encoding: chunked\x0b\r\n", BAD_FRAMING),
    };

    CHECK_ROWS(rows);
}

TEST(h1_rule_9_chunked_wins_and_the_connection_is_not_reused)
{
    static const row rows[] = {
        GOOD(
            GET,
            OK11
            "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            OPEN, "hi", SN_NOTE_FRAMING_CONFLICT, false),
        GOOD(
            GET,
            OK11
            "Transfer-Encoding: chunked\r\nContent-Length: 7\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            OPEN, "hi", SN_NOTE_FRAMING_CONFLICT, false),
        BAD(GET, OK11 "Transfer-Encoding: chunked\r\nContent-Length: x\r\n", BAD_FRAMING),
        GOOD(GET,
             "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: "
             "chunked\r\n\r\n"
             "2\r\nhi\r\n0\r\n\r\n",
             OPEN, "hi", NONE, false),
    };

    CHECK_ROWS(rows);
}

TEST(h1_rule_10_which_responses_have_a_body)
{
    static const row rows[] = {
        /* Some servers send the body that they announce, so the connection is not used
         * again. */
        GOOD(HEAD, OK11 "Content-Length: 5\r\n\r\n", OPEN, "", NONE, false),
        GOOD(HEAD, OK11 "Transfer-Encoding: chunked\r\n\r\n", OPEN, "", NONE, false),
        GOOD(HEAD, OK11 "Content-Length: 0\r\n\r\n", OPEN, "", NONE, true),
        GOOD(HEAD, OK11 "\r\n", OPEN, "", NONE, true),
        GOOD(GET, "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", OPEN, "", NONE,
             false),
        GOOD(GET, "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", OPEN,
             "", NONE, false),
        GOOD(GET, "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", OPEN, "", NONE,
             true),
        GOOD(GET, "HTTP/1.1 204 No Content\r\n\r\n", OPEN, "", NONE, true),
        GOOD(IF, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", OPEN, "", NONE,
             false),
        GOOD(IF, "HTTP/1.1 304 Not Modified\r\n\r\n", OPEN, "", NONE, true),
        GOOD(CONNECT, OK11 "Content-Length: 5\r\n\r\n", OPEN, "", NONE, false),
        GOOD(CONNECT, "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi", NONE,
             false),
        GOOD(GET, OK11 "\r\nall of it", END_EOF, "all of it", NONE, false),
        GOOD(GET, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n", END_EOF, "", NONE,
             false),
        GOOD(GET, "HTTP/1.1 205 Reset\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi", NONE,
             true),
        GOOD(GET, "HTTP/1.1 700 What\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi", NONE,
             true),
    };

    CHECK_ROWS(rows);
}

#define X16 "xxxxxxxxxxxxxxxx"

/* `n` of the character. */
static void
add_n(sn_buf *b, char c, size_t n)
{
    while (n-- > 0)
        sn_buf_char(b, c);
}

TEST(h1_rule_11_chunks_are_strict)
{
    static const row rows[] = {
        GOOD(GET, CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", OPEN, "hello world",
             NONE, true),
        GOOD(GET, CHUNKED "A\r\n0123456789\r\na\r\nabcdefghij\r\n0\r\n\r\n", OPEN,
             "0123456789abcdefghij", NONE, true),
        GOOD(GET, CHUNKED "0000000000000002\r\nhi\r\n0000\r\n\r\n", OPEN, "hi", NONE,
             true),
        GOOD(GET, CHUNKED "2;a=b;c=\"\x01 d\"\r\nhi\r\n0;last\r\n\r\n", OPEN, "hi", NONE,
             true),
        GOOD(GET, CHUNKED "2 \t;a\r\nhi\r\n0\r\n\r\n", OPEN, "hi", NONE, true),
        BAD(GET, CHUNKED "00000000000000002\r\n", BAD_FRAMING), /* 17 digits */
        BAD(GET, CHUNKED "8000000000000000\r\n", BAD_FRAMING),  /* 2^63 */
        BAD(GET, CHUNKED "ffffffffffffffff\r\n", BAD_FRAMING),
        CUT(GET, CHUNKED "7fffffffffffffff\r\nhi", END_EOF, BODY_TRUNCATED),
        BAD(GET, CHUNKED "\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED ";a\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED " 2\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2 \r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2 2\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2\rx", BAD_FRAMING),
        BAD(GET, CHUNKED "2;a\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2;a\rb", BAD_FRAMING),
        BAD(GET, CHUNKED "0x2\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "-2\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "g\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2\r\nhi2\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2\r\nhi\n", BAD_FRAMING),
        BAD(GET, CHUNKED "2\r\nhi\rx", BAD_FRAMING),
        BAD(GET, CHUNKED "2\r\nhi!\r\n", BAD_FRAMING),
        BAD(GET, CHUNKED "HTTP/1.1 200 OK", BAD_FRAMING),
    };
    reading r;
    sn_buf many;

    CHECK_ROWS(rows);

    /* 4,096 bytes of extension in a line are fine, and 65,536 in a response. */
    sn_buf_init(&many, 1 << 20);
    sn_buf_str(&many, SN_STR(CHUNKED));
    for (int i = 0; i < 16; i++) {
        sn_buf_str(&many, SN_STR("1;"));
        add_n(&many, 'x', 4095);
        sn_buf_str(&many, SN_STR("\r\ny\r\n"));
    }
    read_whole(&r, &asks[GET], many.ptr, many.len, OPEN);
    CHECK_EQ(r.last, SN_H1_MORE);
    CHECK_EQ(r.body.len, 16);
    reading_fini(&r);
    sn_buf_str(&many, SN_STR("0;"));
    read_whole(&r, &asks[GET], many.ptr, many.len, OPEN);
    CHECK_EQ(r.h.err, SEINE_E_BAD_FRAMING);
    reading_fini(&r);
    sn_buf_reset(&many);
    sn_buf_str(&many, SN_STR(CHUNKED "1;"));
    add_n(&many, 'x', 4096);
    read_whole(&r, &asks[GET], many.ptr, many.len, OPEN);
    CHECK_EQ(r.h.err, SEINE_E_BAD_FRAMING);
    reading_fini(&r);
    sn_buf_fini(&many);
}

TEST(h1_rule_12_trailers_are_dropped_within_limits)
{
    static const row rows[] = {
        GOOD(GET, CHUNKED "2\r\nhi\r\n0\r\nA: b\r\nContent-Length: 7\r\n\r\n", OPEN, "hi",
             NONE, true),
        GOOD(GET, CHUNKED "0\r\nodd\r\n folded\r\n\r\n", OPEN, "", NONE, true),
        BAD(GET, CHUNKED "0\r\n\n", BAD_FRAMING),
        BAD(GET, CHUNKED "0\r\nA: b\n", BAD_FRAMING),
        BAD(GET, CHUNKED "0\r\nA: b\rc", BAD_FRAMING),
        BAD(GET, CHUNKED "0\r\n\rx", BAD_FRAMING),
        BAD(GET, CHUNKED "0\r\nA: b\0", BAD_HEADER),
    };
    static const struct {
        size_t line, lines;
        seine_err err;
    } sizes[] = {
        {65536, 1, SEINE_OK},
        {65537, 1, SEINE_E_HEADER_TOO_LARGE},
        {10, 1000, SEINE_OK},
        {10, 1001, SEINE_E_HEADER_TOO_LARGE},
        {40000, 6, SEINE_OK},
        {40000, 7, SEINE_E_HEADER_TOO_LARGE}, /* over 256 KiB with the head */
    };

    CHECK_ROWS(rows);
    EACH_ROW(i, sizes) {
        reading r;
        sn_buf b;

        sn_buf_init(&b, 1 << 20);
        sn_buf_str(&b, SN_STR(CHUNKED "0\r\n"));
        for (size_t k = 0; k < sizes[i].lines; k++) {
            for (size_t n = 0; n < sizes[i].line; n++)
                sn_buf_char(&b, 'x');
            sn_buf_str(&b, SN_STR("\r\n"));
        }
        sn_buf_str(&b, SN_STR("\r\n"));
        read_whole(&r, &asks[GET], b.ptr, b.len, OPEN);
        CHECK_EQ(r.h.err, sizes[i].err);
        CHECK_EQ(r.last, sizes[i].err == SEINE_OK ? SN_H1_DONE : SN_H1_FAIL);
        reading_fini(&r);
        sn_buf_fini(&b);
    }
}

TEST(h1_rule_13_a_body_ends_exactly_or_is_truncated)
{
    static const row rows[] = {
        CUT(GET, OK11 "Content-Length: 3\r\n\r\nhi", END_EOF, BODY_TRUNCATED),
        CUT(GET, OK11 "Content-Length: 3\r\n\r\nhi", END_LOST, BODY_TRUNCATED),
        CUT(GET, OK11 "Content-Length: 1\r\n\r\n", END_EOF, BODY_TRUNCATED),
        CUT(GET, CHUNKED, END_EOF, BODY_TRUNCATED),
        CUT(GET, CHUNKED "2\r\nhi", END_EOF, BODY_TRUNCATED),
        CUT(GET, CHUNKED "2\r\nhi\r\n", END_EOF, BODY_TRUNCATED),
        CUT(GET, CHUNKED "2\r\nhi\r\n0", END_EOF, BODY_TRUNCATED),
        CUT(GET, CHUNKED "2\r\nhi\r\n0\r\n", END_EOF,
            BODY_TRUNCATED), /* the end is the last CRLF */
        CUT(GET, CHUNKED "2\r\nhi\r\n0\r\n\r", END_LOST, BODY_TRUNCATED),
        CUT(GET, CHUNKED "2\r\nhi\r\n0\r\nA: b\r\n", END_EOF, BODY_TRUNCATED),
        CUT(GET, OK11 "\r\nhi", END_LOST,
            BODY_TRUNCATED), /* FIN ends it, a reset does not */
        CUT(GET, OK11 "\r\n", END_LOST, BODY_TRUNCATED),
        GOOD(GET, OK11 "\r\nhi", END_EOF, "hi", NONE, false),
        GOOD(GET, OK11 "\r\n", END_EOF, "", NONE, false),
        GOOD(GET, OK11 "Content-Length: 2\r\n\r\nhi", END_LOST, "hi", NONE,
             true), /* it was whole */
        GOOD(GET, OK11 "Content-Length: 0\r\n\r\n", END_LOST, "", NONE, true),
    };
    sn_str in = SN_STR(OK11 "Content-Length: 2\r\n\r\nhi"), piece;
    sn_head head;
    sn_h1 h;

    CHECK_ROWS(rows);
    /* The end comes before the last event was asked for. */
    sn_head_init(&head, NULL);
    sn_h1_begin(&h, &head, &asks[GET]);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_HEAD);
    CHECK_EQ(h.length, 2);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_BODY);
    CHECK_EQ(sn_h1_eof(&h), SEINE_OK);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_DONE);
    CHECK_EQ(sn_h1_lost(&h), SEINE_OK);
    sn_head_fini(&head);
}

TEST(h1_rule_14_interim_responses_are_skipped_up_to_32)
{
    static const row rows[] = {
        GOOD(GET, "HTTP/1.1 100 Continue\r\n\r\n" OK11 "Content-Length: 2\r\n\r\nhi",
             OPEN, "hi", NONE, true),
        GOOD(GET,
             "HTTP/1.1 103 Early Hints\r\nLink: a\r\nConnection: close\r\n\r\n"
             "HTTP/1.1 199 x\n\n" OK11 "Content-Length: 2\r\n\r\nhi",
             OPEN, "hi", SN_NOTE_LF,
             true), /* what they say is not said of the response */
        GOOD(GET,
             "HTTP/1.1 102 P\r\nContent-Length: 9\r\n\r\n" OK11
             "Content-Length: 2\r\n\r\nhi",
             OPEN, "hi", NONE, true), /* nor is their length */
        GOOD(GET,
             "HTTP/1.1 103 E\r\nA: b\r\n\r\n" OK11 " c\r\nContent-Length: 2\r\n\r\nhi",
             OPEN, "hi", SN_NOTE_ODD_HEADERS, true), /* nor are they continued */
        GOOD(GET,
             "HTTP/1.1 103 E\r\nA: b\r\nC: d\r\nConnection: x\r\n\r\n" OK11
             "Connection: close\r\nContent-Length: 2\r\n\r\nhi",
             OPEN, "hi", NONE, false),
        BAD(GET, "HTTP/1.1 101 Switching Protocols\r\n", BAD_FRAMING),
        BAD(GET, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101\r\n", BAD_FRAMING),
        BAD(GET, "HTTP/1.1 100 Continue\r\n\r\nhi", BAD_STATUS_LINE),
        CUT(GET, "HTTP/1.1 100 Continue\r\n\r\n", END_LOST, HEADER_TRUNCATED),
    };
    reading r;
    sn_buf b;

    CHECK_ROWS(rows);
    sn_buf_init(&b, 1 << 20);
    for (int i = 0; i < 32; i++)
        sn_buf_str(&b, SN_STR("HTTP/1.1 100 Continue\r\n\r\n"));
    size_t allowed = b.len;
    sn_buf_str(&b, SN_STR(OK11 "Content-Length: 0\r\n\r\n"));
    read_whole(&r, &asks[GET], b.ptr, b.len, OPEN);
    CHECK_EQ(r.last, SN_H1_DONE);
    CHECK_EQ(r.h.n_interim, 32);
    check_splits(&r, &asks[GET], b.ptr, b.len, OPEN);
    reading_fini(&r);
    sn_buf_truncate(&b, allowed);
    sn_buf_str(&b, SN_STR("HTTP/1.1 100 Continue\r\n"));
    read_whole(&r, &asks[GET], b.ptr, b.len, OPEN);
    CHECK_EQ(r.h.err, SEINE_E_TOO_MANY_INTERIM);
    reading_fini(&r);
    sn_buf_fini(&b);
}

TEST(h1_rule_15_bytes_behind_the_end_are_not_taken)
{
    static const row rows[] = {
        GOOD(GET, OK11 "Content-Length: 2\r\n\r\nhi!", OPEN, "hi", SN_NOTE_EXTRA_BYTES,
             false),
        GOOD(GET, OK11 "Content-Length: 0\r\n\r\n\r\n", OPEN, "", SN_NOTE_EXTRA_BYTES,
             false),
        GOOD(GET, CHUNKED "0\r\n\r\n\r\n", OPEN, "", SN_NOTE_EXTRA_BYTES, false),
        GOOD(HEAD, OK11 "Content-Length: 2\r\n\r\nhi", OPEN, "", SN_NOTE_EXTRA_BYTES,
             false),
        GOOD(GET, "HTTP/1.1 204 No\r\n\r\nhi", OPEN, "", SN_NOTE_EXTRA_BYTES, false),
        GOOD(IF, "HTTP/1.1 304 Not\r\n\r\nhi", OPEN, "", SN_NOTE_EXTRA_BYTES, false),
        GOOD(GET, OK11 "Content-Length: 0\r\n\r\n" OK11 "Content-Length: 0\r\n\r\n", OPEN,
             "", SN_NOTE_EXTRA_BYTES, false),
    };
    sn_str in = SN_STR(OK11 "Content-Length: 2\r\n\r\nhi" OK11), piece;
    sn_head head;
    sn_h1 h;

    CHECK_ROWS(rows);
    sn_head_init(&head, NULL);
    sn_h1_begin(&h, &head, &asks[GET]);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_HEAD);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_BODY);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_DONE);
    CHECK_EQ(in.len, sizeof OK11 - 1); /* exactly these are left */
    CHECK(sn_str_eq(in, SN_STR(OK11)));
    sn_head_fini(&head);
}

TEST(h1_rule_16_an_answer_to_a_question_not_asked)
{
    static const row rows[] = {
        BAD(GET, "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n", UNEXPECTED_304),
        BAD(HEAD, "HTTP/1.1 304 Not Modified\r\n\r\n", UNEXPECTED_304),
        BAD(RANGE, "HTTP/1.1 304 Not Modified\r\n\r\n", UNEXPECTED_304),
        BAD(GET, "HTTP/1.1 206 Partial\r\nContent-Length: 2\r\n\r\nhi", UNEXPECTED_206),
        BAD(IF, "HTTP/1.1 206 Partial\r\nContent-Length: 2\r\n\r\nhi", UNEXPECTED_206),
        GOOD(IF, "HTTP/1.1 304 Not Modified\r\n\r\n", OPEN, "", NONE, true),
        GOOD(RANGE, "HTTP/1.1 206 Partial\r\nContent-Length: 2\r\n\r\nhi", OPEN, "hi",
             NONE, true),
    };
    static const char bytes[] = "HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n";
    reading r;
    sn_str value;

    CHECK_ROWS(rows);
    read_whole(&r, &asks[GET], bytes, sizeof bytes - 1, OPEN);
    CHECK_EQ(r.head.status, 304); /* the head can be read all the same */
    CHECK(sn_head_get(&r.head, SN_STR("etag"), &value) && sn_str_eq(value, SN_STR("x")));
    reading_fini(&r);
}

TEST(h1_rule_17_values_become_utf8)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain", "plain"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},   /* UTF-8 already */
        {"gr\xfc\xdf", "gr\xc3\xbc\xc3\x9f"},           /* Latin-1 */
        {"\xc3\xbc \xfc", "\xc3\x83\xc2\xbc \xc3\xbc"}, /* both: all of it Latin-1 */
        {"\xff\x80", "\xc3\xbf\xc2\x80"},
        {"", ""},
    };

    EACH_ROW(i, rows) {
        sn_buf b;

        sn_buf_init(&b, 100);
        sn_head_text(sn_str_of(rows[i].in), &b);
        CHECK(sn_str_eq(sn_buf_view(&b), sn_str_of(rows[i].out)));
        sn_buf_fini(&b);
    }
    check_value("HTTP/1.1 200 OK\r\nA: gr\xfc\xdf\x01\x7f\r\n\r\n", "gr\xfc\xdf\x01\x7f");
}

TEST(h1_limits_hold_to_the_byte)
{
    static const struct {
        size_t reason, name, value, fields, interim;
        seine_err err;
    } rows[] = {
        {8192 - 13, 1, 1, 1, 0, SEINE_OK}, /* with "HTTP/1.1 200 " */
        {8192 - 12, 1, 1, 1, 0, SEINE_E_HEADER_TOO_LARGE},
        {2, 1, 65536 - 2, 1, 0, SEINE_OK},
        {2, 1, 65536 - 1, 1, 0, SEINE_E_HEADER_TOO_LARGE},
        {2, 65536 - 1, 0, 1, 0, SEINE_OK},
        {2, 65536, 0, 1, 0, SEINE_E_HEADER_TOO_LARGE},
        {2, 1, 1, 1000, 0, SEINE_OK},
        {2, 1, 1, 1001, 0, SEINE_E_HEADER_TOO_LARGE},
        {2, 1, 60000, 4, 0, SEINE_OK},
        {2, 1, 60000, 5, 0, SEINE_E_HEADER_TOO_LARGE},
        {2, 1, 50000, 2, 2, SEINE_OK}, /* heads of an exchange count together */
        {2, 1, 50000, 3, 2, SEINE_E_HEADER_TOO_LARGE},
    };

    EACH_ROW(i, rows) {
        reading r;
        sn_buf b;

        sn_buf_init(&b, 4 << 20);
        for (size_t k = 0; k < rows[i].interim; k++) {
            sn_buf_str(&b, SN_STR("HTTP/1.1 100 C\r\nX: "));
            add_n(&b, 'i', 60000);
            sn_buf_str(&b, SN_STR("\r\n\r\n"));
        }
        sn_buf_str(&b, SN_STR("HTTP/1.1 200 "));
        add_n(&b, 'r', rows[i].reason);
        sn_buf_str(&b, SN_STR("\r\n"));
        for (size_t k = 0; k < rows[i].fields; k++) {
            add_n(&b, 'n', rows[i].name);
            sn_buf_char(&b, ':');
            add_n(&b, 'v', rows[i].value);
            sn_buf_str(&b, SN_STR("\r\n"));
        }
        sn_buf_str(&b, SN_STR("\r\n"));
        read_whole(&r, &asks[HEAD], b.ptr, b.len, OPEN);
        CHECK_EQ(r.h.err, rows[i].err);
        CHECK_EQ(r.last, rows[i].err == SEINE_OK ? SN_H1_DONE : SN_H1_FAIL);
        check_splits(&r, &asks[HEAD], b.ptr, b.len, OPEN);
        reading_fini(&r);
        sn_buf_fini(&b);
    }
}

/* A limit of 256 KiB on all heads: at it, and one byte above. */
TEST(h1_limit_of_all_heads_is_exact_and_can_be_set)
{
    static const sn_h1_limits tight = {100, 200, 3};
    static const sn_h1_ask ask = {.head_only = true, .limits = &tight};

    for (size_t total = 195; total <= 205; total++) {
        reading r;
        sn_buf b;

        sn_buf_init(&b, 4096);
        sn_buf_str(&b, SN_STR(OK11 "A: "));
        add_n(&b, 'v', 80);
        sn_buf_str(&b, SN_STR("\r\nB: "));
        add_n(&b, 'v', total - b.len - 4);
        sn_buf_str(&b, SN_STR("\r\n\r\n"));
        CHECK_EQ(b.len, total);
        read_whole(&r, &ask, b.ptr, b.len, OPEN);
        CHECK_EQ(r.h.err, total <= 200 ? SEINE_OK : SEINE_E_HEADER_TOO_LARGE);
        check_splits(&r, &ask, b.ptr, b.len, OPEN);
        reading_fini(&r);
        sn_buf_fini(&b);
    }
}

/* P3: no proper prefix of a response is complete, whichever way the connection ends. */
TEST(h1_no_beginning_of_a_response_is_whole)
{
#define SOME_HEAD OK11 "Server: x\r\nA: b\r\n c\r\n"
    static const struct {
        const char *bytes;
        size_t whole[2]; /* ended in order, lost */
    } rows[] = {
        {SOME_HEAD "Content-Length: 11\r\n\r\nhello world", {1, 1}},
        {SOME_HEAD "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n"
                   "6\r\n world\r\n0\r\nT: u\r\n\r\n",
         {1, 1}},
        {SOME_HEAD "\r\nhello world", {12, 0}}, /* 0 to 11 bytes of a body */
    };

    EACH_ROW(i, rows) {
        size_t n = strlen(rows[i].bytes), whole[2] = {0, 0};

        for (size_t k = 0; k <= n; k++)
            for (int end = 0; end < 2; end++) {
                reading r;

                read_whole(&r, &asks[GET], rows[i].bytes, k, end ? END_LOST : END_EOF);
                whole[end] += r.last == SN_H1_DONE;
                CHECK(r.last == SN_H1_DONE || r.last == SN_H1_FAIL);
                reading_fini(&r);
            }
        CHECK_EQ(whole[0], rows[i].whole[0]);
        CHECK_EQ(whole[1], rows[i].whole[1]);
    }
}

/* After the end, good or bad, nothing changes any more. */
TEST(h1_ends_once)
{
    static const struct {
        const char *bytes;
        sn_h1_event last;
        seine_err err;
    } rows[] = {
        {OK11 "Content-Length: 0\r\n\r\n", SN_H1_DONE, SEINE_OK},
        {OK11 "\r\nuntil here", SN_H1_DONE, SEINE_OK},
        {OK11 "Content-Length: 1\r\n\r\n", SN_H1_FAIL, SEINE_E_BODY_TRUNCATED},
        {OK11 "A", SN_H1_FAIL, SEINE_E_HEADER_TRUNCATED},
        {"", SN_H1_FAIL, SEINE_E_CONN_RESET},
        {"hello", SN_H1_FAIL, SEINE_E_BAD_STATUS_LINE},
    };

    EACH_ROW(i, rows) {
        sn_str more = SN_STR(OK11), piece;
        reading r;

        read_whole(&r, &asks[GET], rows[i].bytes, strlen(rows[i].bytes), END_EOF);
        CHECK_EQ(r.last, rows[i].last);
        CHECK_EQ(sn_h1_eof(&r.h), rows[i].err);
        CHECK_EQ(sn_h1_lost(&r.h), rows[i].err);
        CHECK(!sn_h1_is_reusable(&r.h)); /* the connection has ended, too */
        CHECK_EQ(sn_h1_next(&r.h, &more, &piece), rows[i].last);
        CHECK_EQ(r.h.err, rows[i].err);
        CHECK_EQ(more.len, sizeof OK11 - 1); /* nothing is taken */
        reading_fini(&r);
    }
}

/* Heads before the final one, the final one and the trailers count together. */
TEST(h1_limit_of_all_heads_counts_trailers_to_the_byte)
{
    static const char heads[] = "HTTP/1.1 100 C\r\n\r\n" CHUNKED;
    static const char body[] = "3\r\nabc\r\n0\r\n", trailer[] = "A: b\r\n\r\n";

    for (uint32_t less = 0; less < 3; less++) {
        sn_h1_limits limits = SN_H1_LIMITS;
        sn_h1_ask ask = {.limits = &limits};
        reading r;
        sn_buf b;

        limits.head_bytes = (uint32_t)(sizeof heads + sizeof trailer - 2) - less;
        sn_buf_init(&b, 4096);
        sn_buf_text(&b, heads);
        sn_buf_text(&b, body);
        sn_buf_text(&b, trailer);
        read_whole(&r, &ask, b.ptr, b.len, OPEN);
        CHECK_EQ(r.h.err, less == 0 ? SEINE_OK : SEINE_E_HEADER_TOO_LARGE);
        CHECK_EQ(r.body.len, 3);
        check_splits(&r, &ask, b.ptr, b.len, OPEN);
        reading_fini(&r);
        sn_buf_fini(&b);
    }
}

/* In lines that break two rules the first byte decides. */
TEST(h1_names_the_first_violation)
{
    static const sn_h1_limits tight = {30, 4096, 2};
    static const sn_h1_ask ask = {.limits = &tight};
    static const struct {
        const char *bytes;
        size_t n;
        seine_err err;
    } rows[] = {
#define ROW(text, kind) {text, sizeof(text) - 1, SEINE_E_##kind}
        ROW(OK11 "Content-Length: 1" X16 X16, BAD_FRAMING), /* x before the limit */
        ROW(OK11 "Content-Length: 11111111111111111111111", HEADER_TOO_LARGE),
        ROW(OK11 "Content-Length: 00000000000000000000000", HEADER_TOO_LARGE),
        ROW(OK11 "Transfer-Encoding: chunked                     x", HEADER_TOO_LARGE),
        ROW(OK11 "Transfer-Encoding: chunkedx                     ", BAD_FRAMING),
        ROW(OK11 "A: b\r\nC: d\r\nE: f\r\n", HEADER_TOO_LARGE), /* the third field */
        ROW(OK11 "A: b\r\nC: d\r\nE: \0\r\n", BAD_HEADER),
        ROW(OK11 "A: b\r\nC: d\r\nContent-Length: x\r\n", BAD_FRAMING),
        ROW(OK11 "A: " X16 X16 "\0", HEADER_TOO_LARGE),
        ROW(OK11 "A: \0" X16 X16, BAD_HEADER),
        ROW(OK11 "A: " X16 "xxxxxxxxxxxx\r\n\r\n", HEADER_TOO_LARGE), /* 31 bytes */
        ROW(OK11 "A: " X16 "xxxxxxxxxxx\r\n\0", BAD_HEADER),          /* 30 are fine */
        ROW(OK11 "Content-Length : " X16 X16,
            BAD_FRAMING), /* an odd line, and too long */
        ROW(OK11 X16 " Content-Length" X16 ":", HEADER_TOO_LARGE),
        ROW(OK11 X16 X16 ":", HEADER_TOO_LARGE),
        ROW("HTTP/1.1 101 \0", BAD_HEADER),
#undef ROW
    };

    EACH_ROW(i, rows) {
        reading r;

        read_whole(&r, &ask, rows[i].bytes, rows[i].n, OPEN);
        CHECK_EQ(r.h.err, rows[i].err);
        check_splits(&r, &ask, rows[i].bytes, rows[i].n, OPEN);
        reading_fini(&r);
    }
}

TEST(h1_reuse_follows_connection_and_version)
{
    static const struct {
        const char *head;
        bool reusable;
        uint32_t keep_alive_s;
    } rows[] = {
        {"HTTP/1.1 200 OK\r\n", true, UINT32_MAX},
        {"HTTP/1.0 200 OK\r\n", false, UINT32_MAX},
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", true, UINT32_MAX},
        {"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nKeep-Alive: timeout=5, "
         "max=100\r\n",
         true, 5},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\n", false, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nConnection: CLOSE\r\n", false, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nConnection: upgrade,\tclose , x\r\n", false, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nConnection: x\r\nConnection: close\r\n", false, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\n", false, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nConnection: x,\r\n close\r\n", false,
         UINT32_MAX}, /* folded */
        {"HTTP/1.1 200 OK\r\nConnection: closed\r\n", true, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: max=5,timeout=0\r\n", true, 0},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=-1\r\n", true, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: timeout=99999999999\r\n", true, UINT32_MAX - 1},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: 15\r\n", true, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nKeep-Alive: max=2\r\nKeep-Alive: Timeout=7\r\n", true, 7},
        {"HTTP/1.1 200 OK\r\nA: b\r\nConnection: x\r\nC: d\r\nconnection: close\r\n",
         false, UINT32_MAX},
        {"HTTP/1.0 200 OK\r\nSet-Cookie: a\r\n b\r\nConnection: keep-alive\r\n", true,
         UINT32_MAX}, /* behind a field that was dropped */
        {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\n", false,
         UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nConnections: close\r\n", true, UINT32_MAX},
        {"HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: x\r\n", false, UINT32_MAX},
        {"HTTP/1.1 100 C\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n", true,
         UINT32_MAX},
    };

    EACH_ROW(i, rows) {
        reading r;
        sn_buf b;

        sn_buf_init(&b, 4096);
        sn_buf_text(&b, rows[i].head);
        sn_buf_str(&b, SN_STR("Content-Length: 2\r\n\r\nhi"));
        read_whole(&r, &asks[GET], b.ptr, b.len, OPEN);
        CHECK_EQ(sn_h1_is_reusable(&r.h), rows[i].reusable);
        CHECK_EQ(r.h.keep_alive_s, rows[i].keep_alive_s);
        reading_fini(&r);
        sn_buf_fini(&b);
    }
}

TEST(h1_reads_one_response_after_the_other_in_the_same_memory)
{
    static const char bytes[] = OK11 "Server: x\r\nContent-Length: 2\r\n\r\nhi";
    sn_head head;
    sn_h1 h;
    long calls = 0;

    count_begin();
    sn_head_init(&head, NULL);
    for (int i = 0; i < 10; i++) {
        sn_str in = {bytes, sizeof bytes - 1}, piece, value;

        sn_h1_begin(&h, &head, &asks[GET]);
        CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_HEAD);
        CHECK(sn_head_get(&head, SN_STR("SERVER"), &value) && value.len == 1);
        CHECK_EQ(head.n_fields, 2);
        CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_BODY);
        CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_DONE);
        calls = i == 0 ? count_calls() : calls;
    }
    CHECK_EQ(calls, 1);
    CHECK_EQ(count_calls(), calls); /* nothing after the first one */
    CHECK_EQ(head.room, 2048);
    sn_head_fini(&head);
    CHECK_EQ(count_out(), 0);
    count_end();
}

/* A head that grows its memory several times, with the n-th allocation failing. */
TEST(h1_without_memory_fails_by_name)
{
    sn_buf b;

    sn_buf_init(&b, 1 << 20);
    sn_buf_str(&b, SN_STR(OK11));
    for (int i = 0; i < 500; i++)
        sn_buf_str(&b, SN_STR("A: 0123456789\r\n"));
    sn_buf_str(&b, SN_STR("\r\n"));
    CHECK_EQ(sn_buf_done(&b), SEINE_OK);
    FAIL_EACH(round)
    {
        sn_str in = sn_buf_view(&b), piece;
        sn_head head;
        sn_h1 h;

        sn_head_init(&head, NULL);
        sn_h1_begin(&h, &head, &asks[HEAD]);
        sn_h1_event e = sn_h1_next(&h, &in, &piece);
        CHECK(e == SN_H1_HEAD || (e == SN_H1_FAIL && h.err == SEINE_E_NOMEM));
        if (e == SN_H1_HEAD)
            CHECK_EQ(head.n_fields, 500);
        sn_head_fini(&head);
    }
    sn_buf_fini(&b);
}

TEST(h1_reserves_its_memory_from_the_budget)
{
    seine_want limits = {{4096, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, none = {{0}}, used;
    seine_budget *budget = NULL;
    seine_held held;
    sn_head head;
    sn_h1 h;
    sn_str piece;

    CHECK_EQ(seine_budget_new(&limits, &budget), SEINE_OK);
    CHECK_EQ(seine_budget_try(budget, &none, &held), SEINE_OK);
    sn_head_init(&head, &held);
    sn_h1_begin(&h, &head, &asks[HEAD]);
    sn_str in = SN_STR(OK11 "A: b\r\n\r\n");
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_HEAD);
    seine_budget_used_get(budget, &used);
    CHECK_EQ(used.n[SEINE_RES_MEMORY], 2048);

    sn_h1_begin(&h, &head, &asks[HEAD]);
    sn_buf long_head;
    sn_buf_init(&long_head, 1 << 20);
    sn_buf_str(&long_head, SN_STR(OK11 "A: "));
    add_n(&long_head, 'x', 8192);
    in = sn_buf_view(&long_head);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_FAIL);
    sn_buf_fini(&long_head);
    CHECK_EQ(h.err, SEINE_E_BUDGET);
    sn_head_fini(&head);
    seine_budget_used_get(budget, &used);
    CHECK_EQ(used.n[SEINE_RES_MEMORY], 0);
    seine_budget_release(&held);
    seine_budget_free(budget);
}

/* Random pieces of a long exchange, with everything in it. */
TEST(h1_any_split_gives_the_same_events)
{
    static const char bytes[] =
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        "HTTP/1.1 200 Very\tGood\r\nServer: x\r\nodd line\r\nA: b\r\n  c\r\n\td\n"
        "Set-Cookie: a=b\r\n c\r\nX: \r\nConnection: keep-alive\rx\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
        "5;ext=1\r\nhello\r\nc\r\n, and world\n\r\n0\r\nTrailer: y\r\n\r\nextra";
    sn_rng rng = sn_rng_seed(check_seed());
    reading whole;

    read_whole(&whole, &asks[GET], bytes, sizeof bytes - 1, OPEN);
    CHECK_EQ(whole.last, SN_H1_DONE);
    CHECK(sn_str_eq(sn_buf_view(&whole.body), SN_STR("hello, and world\n")));
    check_splits(&whole, &asks[GET], bytes, sizeof bytes - 1, OPEN);
    check_cuts(&asks[GET], bytes, whole.taken);
    for (int round = 0; round < 500; round++) {
        size_t most = 1 + sn_rng_below(&rng, 40);
        reading r;

        reading_init(&r, &asks[GET]);
        for (size_t at = 0; at < sizeof bytes - 1;) {
            size_t n = sn_rng_below(&rng, most + 1); /* empty ones, too */

            n = n < sizeof bytes - 1 - at ? n : sizeof bytes - 1 - at;
            feed(&r, bytes + at, n);
            at += n;
        }
        finish(&r, OPEN);
        check_same(&whole, &r, "round", (size_t)round);
    }
    reading_fini(&whole);
}
