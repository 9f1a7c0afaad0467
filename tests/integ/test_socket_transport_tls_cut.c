/* SPDX-License-Identifier: Apache-2.0 */
/* P3 over TLS: a response that is cut after any of its bytes, in order, by FIN without
 * the TLS close or by RST, is never whole; with TLS 1.2 and 1.3. */
#include "socket_transport_tls.h"

TESTS_AT_ONCE(8)

typedef struct framing {
    const char *words;
    bool until_close, is_packed;
} framing;

static const framing framings[] = {
    {"bytes:7", false, false},
    {"chunked/chunksize:3/bytes:7", false, false},
    {"chunked/trailer:2/bytes:7", false, false},
    {"close/bytes:7", true, false},
    {"gzip/bytes:7", false, true},
    {"chunked/zstd/bytes:7", false, true},
    {"close/br/bytes:7", true, true},
};

/* `fin` is close_notify and FIN, `tlscut` FIN alone. */
static seine_err
expected(const framing *f, const char *word, uint64_t n, uint64_t head, uint64_t all)
{
    if (n == 0)
        return SEINE_E_CONN_RESET;
    if (n < head)
        return SEINE_E_HEADER_TRUNCATED;
    if (n < all && (!f->until_close || strcmp(word, "fin") != 0))
        return SEINE_E_BODY_TRUNCATED;
    if (n == all && f->until_close && strcmp(word, "fin") != 0)
        return SEINE_E_BODY_TRUNCATED;
    return SEINE_OK;
}

typedef struct sized {
    visit *v;
    uint64_t bytes, head;
} sized;

static void
add_bytes(sn_str bytes, void *arg)
{
    ((sized *)arg)->bytes += bytes.len;
}

static void
sized_head(const sn_head *head, void *arg)
{
    sized *z = arg;

    z->head = z->bytes;
    visit_head(head, z->v);
}

static bool
sized_body(sn_str piece, void *arg)
{
    return visit_body(piece, ((sized *)arg)->v);
}

static void
sized_end(const sn_end *end, void *arg)
{
    visit_end(end, ((sized *)arg)->v);
}

/* Bytes of the whole response, and of its head. */
static uint64_t
measure(secured *s, const char *host, const framing *f, const char *word,
        uint64_t *out_head)
{
    char path[128];

    snprintf(path, sizeof path, "/%s:9999/%s", word, f->words); /* it changes the head */
    sized z = {.v = visit_of(at(s, host), path)};
    static const sn_handler_ops ops = {
        .head = sized_head, .wire = add_bytes, .body = sized_body, .end = sized_end};
    z.v->q.fresh = true;
    z.v->t = s->t;
    CHECK_EQ(s->t->ops->start(s->t, &z.v->q, &(sn_handler){&ops, &z}, &z.v->x), SEINE_OK);
    visit_wait(z.v);
    CHECK_EQ(z.v->bytes, 7);
    CHECK_EQ(z.bytes - z.head, z.v->end.wire_bytes);
    *out_head = z.head;
    CHECK(*out_head > 50 && z.bytes > *out_head);
    free(z.v);
    return z.bytes;
}

enum { AT_ONCE = 4 }; /* tickets that are kept; before a reset the server takes a while */

static visit *
start_cut(secured *s, const char *host, const framing *f, const char *word, uint64_t n)
{
    char path[128];

    snprintf(path, sizeof path, "/%s:%llu/%s", word, (unsigned long long)n, f->words);
    visit *v = visit_of(at(s, host), path);
    v->q.fresh = true;
    CHECK_EQ(visit_start(s->t, v), SEINE_OK);
    CHECK_EQ(v->ends + v->heads + v->admits, 0); /* nothing was called back yet */
    return v;
}

static void
check_cut(visit *v, const framing *f, const char *word, uint64_t n, uint64_t head,
          uint64_t all)
{
    seine_err want = expected(f, word, n, head, all);

    /* In order, and the framing cannot know: but the coding does, unless there is
     * no byte of it at all. */
    if (f->is_packed && f->until_close && want == SEINE_OK && n > head && n < all)
        want = SEINE_E_BODY_TRUNCATED;
    visit_wait(v);
    if (v->end.fault.code != want)
        printf("  /%s:%llu/%s: %s\n", word, (unsigned long long)n, f->words,
               seine_err_name(v->end.fault.code));
    CHECK_END(v, want);
    CHECK_EQ(v->heads, n >= head);
    CHECK_EQ(v->end.partial, n >= head && want != SEINE_OK);
    CHECK(!v->end.reused && !v->end.replayable && v->end.fault.sent);
    CHECK(v->end.secure.verified);
}

static int
cut_everywhere(secured *s, const char *host, const framing *f, const char *word)
{
    uint64_t head, all = measure(s, host, f, word, &head);
    visit *under_way[AT_ONCE];

    for (uint64_t n = 0; n <= all + AT_ONCE; n++) {
        if (n >= AT_ONCE && n - AT_ONCE <= all) {
            check_cut(under_way[n % AT_ONCE], f, word, n - AT_ONCE, head, all);
            free(under_way[n % AT_ONCE]);
        }
        if (n <= all)
            under_way[n % AT_ONCE] = start_cut(s, host, f, word, n);
    }
    return (int)all + 1;
}

static void
cut_all(const char *host, const char *word)
{
    secured s = secure();
    int cuts = 0;

    EACH_ROW(i, framings)
        cuts += cut_everywhere(&s, host, &framings[i], word);
    CHECK(cuts > 500);
    CHECK(transport_stats(s.t).resumed * 10 > transport_stats(s.t).handshakes * 9);
    secure_end(&s);
}

TEST(p3_a_response_over_tls_cut_in_order_is_never_whole)
{
    cut_all("a.test", "fin");
}

TEST(p3_a_response_over_tls_cut_without_its_close_is_never_whole)
{
    cut_all("a.test", "tlscut");
}

TEST(p3_a_response_over_tls_cut_by_rst_is_never_whole)
{
    cut_all("a.test", "reset");
}

TEST(p3_a_response_over_tls_1_2_cut_without_its_close_is_never_whole)
{
    cut_all("tls12.a.test", "tlscut");
}
