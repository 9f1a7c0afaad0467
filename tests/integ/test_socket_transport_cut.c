/* SPDX-License-Identifier: Apache-2.0 */
/* P3: a response that is cut, after any of its bytes, by FIN or by RST, is never whole.
 */
#include "socket_transport.h"

typedef struct framing {
    const char *words;
    bool until_close;
} framing;

static const framing framings[] = {
    {"bytes:7", false},
    {"chunked/chunksize:3/bytes:7", false},
    {"chunked/trailer:2/bytes:7", false},
    {"close/bytes:7", true},
};

/* What rule 2, 3 and 13 say about `n` bytes of a response of so many. */
static seine_err
expected(const framing *f, bool reset, uint64_t n, uint64_t head, uint64_t all)
{
    if (n == 0)
        return SEINE_E_CONN_RESET;
    if (n < head)
        return SEINE_E_HEADER_TRUNCATED;
    if (f->until_close)
        return reset ? SEINE_E_BODY_TRUNCATED : SEINE_OK;
    return n == all ? SEINE_OK : SEINE_E_BODY_TRUNCATED;
}

static int
cut_everywhere(sn_transport *t, const char *base, const framing *f, const char *word)
{
    char path[128];
    uint64_t before = transport_stats(t).bytes_in;

    snprintf(path, sizeof path, "/%s", f->words);
    visit *v = visit_of(base, path);
    v->q.fresh = true;
    visit_run(t, v);
    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->bytes, 7);
    uint64_t all = transport_stats(t).bytes_in - before, head = all - v->end.wire_bytes;
    CHECK(head > 50 && all > head);
    free(v);

    for (uint64_t n = 0; n <= all; n++) {
        snprintf(path, sizeof path, "/%s:%llu/%s", word, (unsigned long long)n, f->words);
        v = visit_of(base, path);
        v->q.fresh = true;
        visit_run(t, v);
        seine_err want = expected(f, *word == 'r', n, head, all);
        if (v->end.fault.code != want)
            printf("  %s: %s\n", path, seine_err_name(v->end.fault.code));
        CHECK_END(v, want);
        CHECK_EQ(v->heads, n >= head);
        CHECK_EQ(v->status, n >= head ? 200 : 0);
        CHECK_EQ(v->end.partial, n >= head && want != SEINE_OK);
        CHECK(!v->end.reused && !v->end.replayable && v->end.fault.sent);
        free(v);
    }
    return (int)all + 1;
}

TEST(p3_a_response_cut_after_any_byte_by_fin_is_never_whole)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    int cuts = 0;

    EACH_ROW(i, framings)
        cuts += cut_everywhere(t, seine_chaos_url(c), &framings[i], "fin");
    CHECK(cuts > 300);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(p3_a_response_cut_after_any_byte_by_rst_is_never_whole)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    int cuts = 0;

    EACH_ROW(i, framings)
        cuts += cut_everywhere(t, seine_chaos_url(c), &framings[i], "reset");
    CHECK(cuts > 300);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* Large enough that it arrives in many pieces, some of them as large as a turn reads. */
TEST(p3_a_large_response_is_whole_or_cut)
{
    static const struct {
        const char *path;
        seine_err want;
        uint64_t bytes;
    } rows[] = {
        {"/bytes:3M", SEINE_OK, 3 << 20},
        {"/chunked/bytes:3M", SEINE_OK, 3 << 20},
        {"/close/bytes:3M", SEINE_OK, 3 << 20},
        {"/fin:3145727:body/bytes:3M", SEINE_E_BODY_TRUNCATED, (3 << 20) - 1},
        {"/reset:3145727:body/bytes:3M", SEINE_E_BODY_TRUNCATED, (3 << 20) - 1},
        {"/reset:3145728:body/close/bytes:3M", SEINE_E_BODY_TRUNCATED, 3 << 20},
        {"/short:1/bytes:3M", SEINE_E_BODY_TRUNCATED, (3 << 20) - 1},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = get(t, seine_chaos_url(c), rows[i].path);

        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->bytes, rows[i].bytes);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}
