/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One byte of what proxy and where to, one of a seed for the pieces, then messages of
 * the proxy, a byte of length before each. In one piece, byte by byte and in random
 * ones the result is the same, but for bytes that come behind the last word; what
 * opens it does not when one byte is missing; kinds are those of a proxy.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "net/tunnel.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

enum { WHOLE, SINGLE, SMALL, CUTS };

typedef struct result {
    sn_tunnel_event event;
    seine_err err;
    bool answered;
    uint16_t status;
    char text[SN_PROXY_TELL];
    size_t heard, said;
} result;

static void
say(sn_tunnel *t, result *r)
{
    sn_str s = sn_tunnel_output(t);

    r->said += s.len;
    sn_tunnel_sent(t, s.len);
    REQUIRE(sn_tunnel_output(t).len == 0);
}

/* From memory that ends where the piece does. */
static sn_tunnel_event
hear(sn_tunnel *t, const uint8_t *bytes, size_t n)
{
    char *copy = malloc(n ? n : 1);

    REQUIRE(copy);
    memcpy(copy, bytes, n);
    sn_tunnel_event event = sn_tunnel_receive(t, (sn_str){copy, n});
    free(copy);
    return event;
}

static size_t
next_piece(sn_rng *rng, int cut, size_t left)
{
    size_t n = cut == WHOLE ? left : cut == SINGLE ? 1 : 1 + sn_rng_below(rng, 9);

    return n < left ? n : left;
}

static void
check(const sn_tunnel *t, const result *r)
{
    if (r->event == SN_TUNNEL_OPEN) {
        REQUIRE(t->err == SEINE_OK && t->answered && !t->text[0]);
        return;
    }
    REQUIRE(r->event == SN_TUNNEL_FAIL);
    REQUIRE(t->err == SEINE_E_PROXY_ERROR || t->err == SEINE_E_PROXY_AUTH ||
            t->err == SEINE_E_PROXY_REFUSED);
    REQUIRE(memchr(t->text, '\0', sizeof t->text) && !strstr(t->text, "s3cret"));
    REQUIRE(strncmp(t->text, "proxy ", 6) == 0);
    REQUIRE(t->err != SEINE_E_PROXY_REFUSED || t->answered);
}

static result
run(const sn_proxy *proxy, const sn_tunnel_to *to, int cut, uint64_t seed, size_t most,
    const uint8_t *bytes, size_t n)
{
    sn_rng rng = sn_rng_seed(seed);
    result r = {.event = SN_TUNNEL_MORE};
    sn_tunnel t;

    REQUIRE(sn_tunnel_init(&t, proxy, to, NULL) == SEINE_OK);
    say(&t, &r);
    while (n > 0 && most > 0 && r.event == SN_TUNNEL_MORE) {
        size_t message = *bytes++, piece;

        n--;
        message = message < n ? message : n;
        n -= message;
        for (; message > 0 && most > 0 && r.event == SN_TUNNEL_MORE; message -= piece) {
            piece = next_piece(&rng, cut, message);
            piece = piece < most ? piece : most;
            r.event = hear(&t, bytes, piece);
            bytes += piece;
            most -= piece;
            r.heard += piece;
        }
        bytes += r.event == SN_TUNNEL_MORE ? message : 0;
        if (r.event == SN_TUNNEL_MORE)
            say(&t, &r);
    }
    if (r.event == SN_TUNNEL_MORE)
        r.event = sn_tunnel_lost(&t);
    check(&t, &r);
    REQUIRE(hear(&t, (const uint8_t *)"x", 1) == r.event &&
            sn_tunnel_output(&t).len == 0);
    r.err = t.err;
    r.answered = t.answered;
    r.status = t.status;
    memcpy(r.text, t.text, sizeof r.text);
    sn_tunnel_fini(&t);
    return r;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const proxies[] = {
        "http://p:1",    "http://joe:s3cret@p:1",   "socks5://p:1",
        "socks5h://p:1", "socks5://joe:s3cret@p:1", "socks5h://joe:s3cret@p:1"};
    static const sn_tunnel_to places[] = {
        {.name = {"site.example", 12}, .port = 443},
        {.name = {"1.2.3.4", 7}, .ip = {4, {1, 2, 3, 4}}, .port = 80},
        {.name = {"2001::1", 7}, .ip = {6, {0x20, 1, [15] = 1}}, .port = 65535}};
    sn_arena memory;
    sn_proxy proxy;

    if (n < 2)
        return 0;
    sn_str text = sn_str_of(proxies[bytes[0] % 6]);
    const sn_tunnel_to *to = &places[bytes[0] / 6 % 3];
    sn_arena_init(&memory, 1024, SIZE_MAX);
    REQUIRE(sn_proxy_parse("proxy", text, &memory, &proxy, NULL) == SEINE_OK);

    result whole = run(&proxy, to, WHOLE, bytes[1], SIZE_MAX, bytes + 2, n - 2);
    for (int cut = SINGLE; cut < CUTS; cut++) {
        result r = run(&proxy, to, cut, bytes[1], SIZE_MAX, bytes + 2, n - 2);

        if (r.event == SN_TUNNEL_OPEN && whole.event == SN_TUNNEL_FAIL) {
            REQUIRE(strstr(whole.text, "bytes behind its answer"));
            continue;
        }
        REQUIRE(r.event == whole.event && r.err == whole.err);
        REQUIRE(r.answered == whole.answered && r.status == whole.status);
        REQUIRE(strcmp(r.text, whole.text) == 0 && r.said == whole.said);
    }
    for (size_t cut = 1; whole.event == SN_TUNNEL_OPEN && cut <= 4; cut++)
        REQUIRE(whole.heard < cut ||
                run(&proxy, to, SINGLE, bytes[1], whole.heard - cut, bytes + 2, n - 2)
                        .event == SN_TUNNEL_FAIL);
    sn_arena_fini(&memory);
    return 0;
}
