/* SPDX-License-Identifier: Apache-2.0 */
/* The hostile server's HTTPS and its tunnels on real sockets, as a client of OpenSSL sees
 * them. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seine/chaos.h>
#include <seine/clock.h>
#include <seine/plumbing.h>

#include "chaos_report.h"
#include "check.h"
#include "failing.h"
#include "sockets.h"

static seine_time
now(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static uint16_t
port_of(const char *url)
{
    return (uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10);
}

static seine_chaos *
start(void)
{
    seine_chaos_opts opts = SEINE_CHAOS_OPTS;
    seine_chaos *c = NULL;

    signal(SIGPIPE, SIG_IGN);
    opts.tls = true;
    CHECK_EQ(seine_chaos_new(&opts, &c), SEINE_OK);
    return c;
}

static SSL_CTX *
trusting(const seine_chaos *c)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    BIO *pem = BIO_new_mem_buf(seine_chaos_where(c, "ca"), -1);
    X509 *ca = PEM_read_bio_X509(pem, NULL, NULL, NULL);

    CHECK(ca && X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca) == 1);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(ctx, SSL_MODE_AUTO_RETRY);
    X509_free(ca);
    BIO_free(pem);
    return ctx;
}

static int
dial(uint32_t to, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct timeval limit = {.tv_sec = 90};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_addr.s_addr = htonl(to);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    CHECK_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* A connection with its handshake done, or NULL and *out_why of SSL_get_error. */
static SSL *
call(const seine_chaos *c, SSL_CTX *ctx, const char *name, SSL_SESSION *session,
     int *out_why)
{
    int fd = dial(INADDR_LOOPBACK, port_of(seine_chaos_where(c, "https")));
    SSL *ssl = SSL_new(ctx);

    SSL_set_fd(ssl, fd);
    SSL_set_tlsext_host_name(ssl, name);
    SSL_set1_host(ssl, name);
    if (session)
        SSL_set_session(ssl, session);
    ERR_clear_error();
    int rc = SSL_connect(ssl);
    if (rc == 1)
        return ssl;
    if (out_why)
        *out_why = SSL_get_error(ssl, rc);
    SSL_free(ssl);
    close(fd);
    return NULL;
}

static void
hang_up(SSL *ssl)
{
    int fd = SSL_get_fd(ssl);

    SSL_shutdown(ssl);
    SSL_free(ssl);
    close(fd);
}

static void
ask(SSL *ssl, const char *target)
{
    char head[1024];
    int n =
        snprintf(head, sizeof head, "GET %s HTTP/1.1\r\nHost: a.test\r\n\r\n", target);

    CHECK_EQ(SSL_write(ssl, head, n), n);
}

/* How reading ended. */
typedef enum end { ENOUGH, NOTIFIED, UNCLEAN, RESET, SILENT } end;

typedef struct answer {
    char bytes[1 << 16];
    size_t len;
    end how;
} answer;

static answer *
hear(SSL *ssl, size_t most)
{
    static answer a;

    a.len = 0;
    a.how = ENOUGH;
    while (a.len < most && a.len < sizeof a.bytes - 1) {
        size_t room = sizeof a.bytes - 1 - a.len;

        ERR_clear_error();
        errno = 0;
        int n = SSL_read(ssl, a.bytes + a.len,
                         (int)(most - a.len < room ? most - a.len : room));
        if (n > 0) {
            a.len += (size_t)n;
            continue;
        }
        int why = SSL_get_error(ssl, n);
        a.how = why == SSL_ERROR_ZERO_RETURN ? NOTIFIED
                : why == SSL_ERROR_SSL       ? UNCLEAN
                : errno == ECONNRESET        ? RESET
                                             : SILENT;
        break;
    }
    a.bytes[a.len] = '\0';
    return &a;
}

static answer *
fetch(const seine_chaos *c, SSL_CTX *ctx, const char *target)
{
    SSL *ssl = call(c, ctx, "a.test", NULL, NULL);

    ask(ssl, target);
    answer *a = hear(ssl, SIZE_MAX);
    hang_up(ssl);
    return a;
}

TEST(a_kept_connection_serves_one_request_after_the_other)
{
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);
    SSL *ssl = call(c, ctx, "a.test", NULL, NULL);
    size_t whole = sizeof "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                          "Content-Length: 3\r\n\r\nok\n" -
                   1;

    for (int i = 0; i < 50; i++) {
        ask(ssl, "/ok");
        CHECK(strstr(hear(ssl, whole)->bytes, "\r\n\r\nok\n"));
    }
    ask(ssl, "/ok"); /* two at once, one response after the other */
    ask(ssl, "/close/echo");
    answer *a = hear(ssl, SIZE_MAX);
    CHECK_EQ(a->how, NOTIFIED);
    CHECK(strstr(a->bytes, "ok\nHTTP/1.1 200 OK"));
    CHECK(strstr(a->bytes, "\"tls\":{\"name\":\"a.test\",\"version\":\"TLSv1.3\","
                           "\"resumed\":false,\"client\":null}"));
    hang_up(ssl);
    CHECK_EQ(chaos_number_soon(c, "hosts", "a.test", "connections", 1), 1);
    CHECK_EQ(chaos_number_soon(c, "hosts", "a.test", "requests", 52), 52);
    CHECK_EQ(chaos_number_soon(c, "hosts", "a.test", "tls_handshakes", 1), 1);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

/* Every response cut after every byte, in three ways a client has to tell apart. */
TEST(a_cut_comes_after_exactly_so_many_bytes_of_the_response)
{
    static const struct {
        const char *word;
        end how;
    } rows[] = {{"fin", NOTIFIED}, {"tlscut", UNCLEAN}, {"reset", RESET}};
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);
    size_t whole = fetch(c, ctx, "/close/ok")->len;

    EACH_ROW(i, rows)
        for (size_t n = 0; n <= whole; n += n < 4 ? 1 : 13) {
            char target[64];

            snprintf(target, sizeof target, "/%s:%zu/close/ok", rows[i].word, n);
            answer *a = fetch(c, ctx, target);
            CHECK_EQ(a->len, n);
            CHECK_EQ(a->how, rows[i].how);
        }
    CHECK_EQ(fetch(c, ctx, "/close/ok")->how, NOTIFIED);
    CHECK_EQ(fetch(c, ctx, "/tlscut/ok")->how, UNCLEAN);
    CHECK_EQ(fetch(c, ctx, "/close/tlscut/ok")->len, whole);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "in_flight", 0), 0);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

TEST(stalls_and_drips_hold_nobody_up)
{
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);
    SSL *stalled = call(c, ctx, "a.test", NULL, NULL);
    int mute = dial(INADDR_LOOPBACK, port_of(seine_chaos_where(c, "https")));

    ask(stalled, "/stall:20/ok"); /* `mute` does not even send a hello */
    CHECK_EQ(hear(stalled, 20)->len, 20);
    seine_time from = now();
    CHECK(strstr(fetch(c, ctx, "/drip:10x5ms/close/ok")->bytes, "\r\n\r\nok\n"));
    CHECK(now() - from >= SEINE_MS(30));
    hang_up(stalled);
    close(mute);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "in_flight", 0), 0);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

/* More than fits into all buffers, to a client that reads late. */
TEST(a_large_body_arrives_whole_at_a_slow_client)
{
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);
    SSL *ssl = call(c, ctx, "a.test", NULL, NULL);
    static char piece[65536];
    size_t sum = 0;
    int n;

    ask(ssl, "/close/bytes:20M");
    socket_wait_unread(SSL_get_fd(ssl), 32768);
    while ((n = SSL_read(ssl, piece, sizeof piece)) > 0)
        sum += (size_t)n;
    CHECK_EQ(SSL_get_error(ssl, n), SSL_ERROR_ZERO_RETURN);
    CHECK(sum > (size_t)20 << 20 && sum < ((size_t)20 << 20) + 300);
    hang_up(ssl);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

TEST(a_label_of_the_name_ends_the_handshake)
{
    static const struct {
        const char *name;
        int why;
    } rows[] = {
        {"expired.test", SSL_ERROR_SSL}, {"wronghost.test", SSL_ERROR_SSL},
        {"garbage.test", SSL_ERROR_SSL}, {"alert.test", SSL_ERROR_SSL},
        {"fin.test", SSL_ERROR_SSL},     {"reset.test", SSL_ERROR_SYSCALL},
    };
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);

    EACH_ROW(i, rows) {
        int why = 0;

        CHECK(!call(c, ctx, rows[i].name, NULL, &why));
        CHECK_EQ(why, rows[i].why);
        CHECK_EQ(chaos_number_soon(c, "hosts", rows[i].name, "tls_hellos", 1), 1);
    }
    CHECK_EQ(chaos_number(c, "totals", NULL, "tls_handshakes"), 0);

    int fd = dial(INADDR_LOOPBACK, port_of(seine_chaos_where(c, "https")));
    SSL *ssl = SSL_new(ctx);
    struct timeval soon = {.tv_usec = 50000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    SSL_set_fd(ssl, fd);
    SSL_set_tlsext_host_name(ssl, "stall.test");
    int rc = SSL_connect(ssl);
    CHECK_EQ(SSL_get_error(ssl, rc), SSL_ERROR_WANT_READ); /* nothing came */
    SSL_free(ssl);
    close(fd);
    CHECK_EQ(chaos_number_soon(c, "hosts", "stall.test", "tls_hellos", 1), 1);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

static SSL_SESSION *session;

static int
keep_session(SSL *ssl, SSL_SESSION *give)
{
    (void)ssl;
    SSL_SESSION_free(session);
    session = give;
    return 1;
}

TEST(resumed_handshakes_are_counted)
{
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);

    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT |
                                            SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(ctx, keep_session);
    for (int i = 0; i < 5; i++) {
        SSL_SESSION *old = session;

        session = NULL;
        SSL *ssl = call(c, ctx, "r.test", old, NULL);
        SSL_SESSION_free(old);
        ask(ssl, "/ok");
        hear(ssl, 20);
        CHECK_EQ(SSL_session_reused(ssl), i > 0);
        hang_up(ssl);
    }
    SSL_SESSION_free(session);
    session = NULL;
    CHECK_EQ(chaos_number_soon(c, "hosts", "r.test", "tls_handshakes", 5), 5);
    CHECK_EQ(chaos_number(c, "hosts", "r.test", "tls_resumed"), 4);
    CHECK_EQ(chaos_number(c, "addresses", "127.0.0.1", "tls_resumed"), 4);
    CHECK_EQ(chaos_number(c, "totals", NULL, "tls_resumed"), 4);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

TEST(plain_bytes_at_the_tls_door_end_the_connection)
{
    seine_chaos *c = start();
    int fd = dial(INADDR_LOOPBACK, port_of(seine_chaos_where(c, "https")));
    char in[100];
    ssize_t n;

    CHECK_EQ(send(fd, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    while ((n = recv(fd, in, sizeof in, 0)) > 0)
        continue;
    CHECK_EQ(n, 0);
    close(fd);
    CHECK_EQ(chaos_number(c, "totals", NULL, "tls_hellos"), 0);
    CHECK_EQ(chaos_number(c, "totals", NULL, "requests"), 0);
    seine_chaos_free(c);
}

static void
put(int fd, const char *bytes, size_t n)
{
    CHECK_EQ(send(fd, bytes, n, MSG_NOSIGNAL), n);
}

/* Exactly so many bytes. */
static const char *
get(int fd, size_t n)
{
    static char in[4096];
    size_t len = 0;
    ssize_t got = 1;

    while (len < n && got > 0)
        if ((got = recv(fd, in + len, n - len, 0)) > 0)
            len += (size_t)got;
    in[len] = '\0';
    return in;
}

#define ESTABLISHED "HTTP/1.1 200 Connection established\r\n\r\n"

/* TLS over any transport to the other side. */
static void
talk_tls(SSL_CTX *ctx, BIO *way, const char *name)
{
    SSL *ssl = SSL_new(ctx);

    SSL_set_bio(ssl, way, way);
    SSL_set_tlsext_host_name(ssl, name);
    SSL_set1_host(ssl, name);
    CHECK_EQ(SSL_connect(ssl), 1);
    ask(ssl, "/close/bytes:30000");
    const answer *a = hear(ssl, SIZE_MAX);
    CHECK(a->how == NOTIFIED && a->len > 30000);
    SSL_free(ssl);
}

TEST(a_tunnel_ends_at_the_door_it_was_asked_for)
{
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);
    uint16_t port = port_of(seine_chaos_url(c));
    static const char plain[] = "CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n"
                                "GET /close/ok HTTP/1.1\r\nHost: a.test\r\n\r\n";
    static const char secure[] = "CONNECT b.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n";
    int fd = dial(INADDR_LOOPBACK, port);

    put(fd, plain, sizeof plain - 1); /* the request comes early, and its response late */
    CHECK_STR(get(fd, sizeof ESTABLISHED - 1), ESTABLISHED);
    CHECK(strstr(get(fd, 4000), "\r\n\r\nok\n"));
    close(fd);
    fd = dial(INADDR_LOOPBACK, port);
    put(fd, secure, sizeof secure - 1);
    CHECK_STR(get(fd, sizeof ESTABLISHED - 1), ESTABLISHED);
    talk_tls(ctx, BIO_new_socket(fd, BIO_NOCLOSE), "b.test");
    close(fd);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "tunnels", 2), 2);
    CHECK_EQ(chaos_number(c, "hosts", "a.test", "proxied"), 2); /* both said so in Host */
    CHECK_EQ(chaos_number(c, "hosts", "b.test", "tls_handshakes"), 1);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

TEST(a_proxy_behind_tls_leads_to_tls_inside_of_it)
{
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);
    SSL *outer = call(c, ctx, "proxy.test", NULL, NULL);
    static const char secure[] = "CONNECT b.test:443 HTTP/1.1\r\nHost: b.test\r\n\r\n";
    BIO *inside = BIO_new(BIO_f_ssl());

    CHECK_EQ(SSL_write(outer, secure, sizeof secure - 1), sizeof secure - 1);
    CHECK_STR(hear(outer, sizeof ESTABLISHED - 1)->bytes, ESTABLISHED);
    BIO_set_ssl(inside, outer, BIO_NOCLOSE);
    talk_tls(ctx, inside, "b.test");
    hang_up(outer);
    CHECK_EQ(chaos_number(c, "hosts", "proxy.test", "tls_handshakes"), 1);
    CHECK_EQ(chaos_number(c, "hosts", "b.test", "tls_handshakes"), 1);
    CHECK_EQ(chaos_number(c, "hosts", "a.test", "proxied"), 1);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

TEST(socks_takes_its_messages_in_any_pieces)
{
    static const char hello[] = "\5\1\0", name[] = "\5\1\0\3\6s.test\0\x50";
    static const char request[] = "GET /close/ok HTTP/1.1\r\nHost: s.test\r\n\r\n";
    static const size_t steps[] = {1, 3, 100};
    seine_chaos *c = start();
    SSL_CTX *ctx = trusting(c);
    uint16_t port = port_of(seine_chaos_where(c, "socks"));

    EACH_ROW(i, steps) {
        int fd = dial(INADDR_LOOPBACK, port);

        for (size_t at = 0; at < sizeof hello - 1; at += steps[i])
            put(fd, hello + at,
                sizeof hello - 1 - at < steps[i] ? sizeof hello - 1 - at : steps[i]);
        CHECK(memcmp(get(fd, 2), "\5\0", 2) == 0);
        for (size_t at = 0; at < sizeof name - 1; at += steps[i])
            put(fd, name + at,
                sizeof name - 1 - at < steps[i] ? sizeof name - 1 - at : steps[i]);
        CHECK(memcmp(get(fd, 10), "\5\0\0\1", 4) == 0);
        put(fd, request, sizeof request - 1);
        CHECK(strstr(get(fd, 4000), "\r\n\r\nok\n"));
        close(fd);
    }
    int fd = dial(INADDR_LOOPBACK, port);
    put(fd, "\5\1\0\5\1\0\3\6t.test\1\xbb", 16); /* both at once */
    CHECK(memcmp(get(fd, 12), "\5\0\5\0\0\1", 6) == 0);
    talk_tls(ctx, BIO_new_socket(fd, BIO_NOCLOSE), "t.test");
    close(fd);
    fd = dial(INADDR_LOOPBACK, port);
    put(fd, "GET / HTTP/1.1\r\n\r\n", 18); /* not even SOCKS */
    CHECK_STR(get(fd, 10), "");
    close(fd);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "socks_names", 4), 4);
    CHECK_EQ(chaos_number_soon(c, "totals", NULL, "bad_requests", 1), 1);
    CHECK_EQ(chaos_number(c, "hosts", "s.test", "proxied"), 3);
    SSL_CTX_free(ctx);
    seine_chaos_free(c);
}

/* Whatever allocation fails, the connection ends and the server goes on. */
TEST(without_memory_a_connection_fails_and_nothing_is_left)
{
    FAIL_EACH(r)
    {
        seine_chaos_opts opts = {.size = sizeof(seine_chaos_opts), .tls = true};
        seine_chaos *c = NULL;
        seine_err e = seine_chaos_new(&opts, &c);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK) {
            SSL_CTX *ctx = trusting(c);
            SSL *ssl = call(c, ctx, "a.test", NULL, NULL);

            if (ssl) {
                ask(ssl, "/close/delay:1ms/html:100");
                hear(ssl, SIZE_MAX);
                hang_up(ssl);
            }
            SSL_CTX_free(ctx);
        }
        seine_chaos_free(c);
    }
}
