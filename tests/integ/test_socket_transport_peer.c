/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that do on a bare socket what no word of the evil server asks for. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "socket_transport.h"
#include "sockets.h"

TESTS_AT_ONCE(8)

#define WHOLE "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno\n"

typedef struct peer {
    int fd;
    char base[64];
    void (*serve)(int fd);
    pthread_t thread;
} peer;

static void *
peer_run(void *arg)
{
    peer *p = arg;
    int fd = accept(p->fd, NULL, NULL);

    p->serve(fd);
    close(fd);
    return NULL;
}

/* Listens there; 0 is any port. */
static int
listen_at(struct sockaddr_in *at, uint32_t address, uint16_t port)
{
    socklen_t n = sizeof *at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;

    *at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    at->sin_addr.s_addr = htonl(address);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    CHECK_EQ(bind(fd, (struct sockaddr *)at, sizeof *at), 0);
    CHECK_EQ(listen(fd, 0), 0);
    CHECK_EQ(getsockname(fd, (struct sockaddr *)at, &n), 0);
    return fd;
}

/* Serves one connection. */
static void
peer_start_at(peer *p, uint32_t address, uint16_t port, void (*serve)(int fd))
{
    struct sockaddr_in at;

    p->serve = serve;
    p->fd = listen_at(&at, address, port);
    snprintf(p->base, sizeof p->base, "http://%s:%d", inet_ntoa(at.sin_addr),
             ntohs(at.sin_port));
    CHECK_EQ(pthread_create(&p->thread, NULL, peer_run, p), 0);
}

static void
peer_start(peer *p, void (*serve)(int fd))
{
    peer_start_at(p, INADDR_LOOPBACK, 0, serve);
}

static void
peer_end(peer *p)
{
    pthread_join(p->thread, NULL);
    close(p->fd);
}

static void
say(int fd, const char *text)
{
    CHECK_EQ(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void
hear_some(int fd)
{
    char bytes[1000];

    CHECK(recv(fd, bytes, sizeof bytes, 0) > 0);
}

/* Reads until the other side ends it. */
static void
hear_all(int fd)
{
    char bytes[65536];

    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        ;
}

#define LAST '\1' /* the last byte of the request, and no other */

/* A request of 16 MiB to such a peer. */
static visit *
upload(sn_transport *t, void (*serve)(int fd))
{
    enum { SIZE = 16 << 20 };
    char *bytes = calloc(1, SIZE);
    peer p;

    bytes[SIZE - 1] = LAST;
    peer_start(&p, serve);
    visit *v = visit_of(p.base, "/");
    v->q.method = SN_STR("POST");
    v->q.body = (sn_str){bytes, SIZE};
    visit_run(t, v);
    CHECK_EQ(transport_stats(t).open, transport_stats(t).idle);
    peer_end(&p);
    free(bytes);
    return v;
}

static void
answers_and_resets(int fd)
{
    hear_some(fd);
    say(fd, WHOLE);
}

static void
answers_and_waits(int fd)
{
    hear_some(fd);
    say(fd, WHOLE);
    socket_wait_read(fd);
    shutdown(fd, SHUT_WR);
    hear_all(fd);
}

static void
resets(int fd)
{
    hear_some(fd);
}

static void
answers_half_and_resets(int fd)
{
    hear_some(fd);
    say(fd, "HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\nno");
}

TEST(an_answer_before_the_request_is_sent_is_an_answer)
{
    sn_transport *t = transport();
    visit *v = upload(t, answers_and_waits);

    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->status, 413);
    CHECK_STR(v->body, "no\n");
    free(v);
    sn_socket_transport_free(t);
}

TEST(an_answer_is_read_after_sending_has_failed)
{
    sn_transport *t = transport();
    visit *v = upload(t, answers_and_resets);

    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->status, 413);
    CHECK_STR(v->body, "no\n");
    free(v);
    sn_socket_transport_free(t);
}

/* Sending consumes the error of the socket; what is read after it looks like an orderly
 * end and is none. */
TEST(an_end_after_sending_has_failed_is_no_orderly_one)
{
    sn_transport *t = transport();
    visit *v = upload(t, answers_half_and_resets);

    CHECK_END(v, SEINE_E_BODY_TRUNCATED);
    CHECK_STR(v->body, "no");
    CHECK(v->end.partial);
    free(v);
    v = upload(t, resets);
    CHECK_END(v, SEINE_E_CONN_RESET);
    CHECK_EQ(v->end.fault.phase, SEINE_PHASE_SEND);
    CHECK(v->end.fault.sent);
    free(v);
    sn_socket_transport_free(t);
}

static void
speaks_byte_by_byte(int fd)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
                               "Transfer-Encoding: chunked\r\n\r\n"
                               "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX: y\r\n\r\n";

    hear_some(fd);
    for (const char *c = text; *c; c++) {
        say(fd, (char[]){*c, 0});
        socket_wait_read(fd);
    }
    hear_all(fd);
}

TEST(a_response_may_come_byte_by_byte)
{
    sn_transport *t = transport();
    peer p;

    peer_start(&p, speaks_byte_by_byte);
    visit *v = get(t, p.base, "/");
    CHECK_END(v, SEINE_OK);
    CHECK_STR(v->body, "abcde");
    CHECK_EQ(transport_stats(t).idle, 1);
    free(v);
    sn_socket_transport_free(t);
    peer_end(&p);
}

static void
speaks_late(int fd)
{
    hear_some(fd);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
    hear_some(fd);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ndef");
}

TEST(a_connection_serves_what_comes_after_the_request)
{
    sn_transport *t = transport();
    peer p;

    peer_start(&p, speaks_late);
    visit *v = get(t, p.base, "/");
    CHECK_STR(v->body, "abc");
    free(v);
    v = get(t, p.base, "/");
    CHECK_END(v, SEINE_OK);
    CHECK(v->end.reused);
    CHECK_STR(v->body, "def");
    free(v);
    sn_socket_transport_free(t);
    peer_end(&p);
}

/* A listener whose queue is full answers no SYN. */
static uint16_t
hole(int fds[4])
{
    struct sockaddr_in at;

    fds[0] = listen_at(&at, 0x7f000002, 0);
    for (int i = 1; i < 4; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        CHECK(connect(fds[i], (struct sockaddr *)&at, sizeof at) != 0);
    }
    return ntohs(at.sin_port);
}

TEST(the_next_address_is_tried_after_250_ms_and_the_first_forgotten)
{
    seine_chaos *c = chaos("{\"dns\":\"two.test\",\"answers\":[\"127.0.0.2\","
                           "\"127.0.0.3\"],\"ttl\":60}\n");
    sn_socket_transport_opts o = transport_opts();
    char base[64];
    int fds[4];
    peer p;

    o.dns.server = seine_chaos_where(c, "dns");
    sn_transport *t = transport_of(&o);
    uint16_t port = hole(fds);
    peer_start_at(&p, 0x7f000003, port, speaks_late);
    snprintf(base, sizeof base, "http://two.test:%d", port);
    for (int i = 0; i < 2; i++) {
        visit *v = get(t, base, "/ok");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.peer.bytes[3], 3);
        CHECK_EQ(v->end.reused, i);
        CHECK_EQ(v->admits, 1);
        CHECK(i > 0 || v->end.spent[SEINE_PHASE_CONNECT] >= SEINE_MS(250));
        free(v);
    }
    TURN_WHILE(t, transport_stats(t).closed < 2);
    CHECK_EQ(transport_stats(t).opened, 2);
    CHECK_EQ(transport_stats(t).closed, 2);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    peer_end(&p);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
}

/* The other address has refused: that says more than that this one said nothing. */
TEST(what_is_told_when_all_fail_is_the_most_telling)
{
    seine_chaos *c = chaos("{\"dns\":\"two.test\",\"answers\":[\"127.0.0.2\","
                           "\"127.0.0.3\"],\"ttl\":60}\n");
    sn_socket_transport_opts o = transport_opts();
    char base[64];
    int fds[4];

    o.dns.server = seine_chaos_where(c, "dns");
    sn_transport *t = transport_of(&o);
    snprintf(base, sizeof base, "http://two.test:%d", hole(fds));
    visit *v = visit_of(base, "/ok");
    v->limits.time.tcp = SEINE_MS(400);
    visit_run(t, v);
    CHECK_END(v, SEINE_E_CONNECT_REFUSED);
    CHECK_EQ(v->end.fault.timeout_ms, 0);
    CHECK(v->ended - v->begun >= SEINE_MS(400));
    free(v);
    CHECK_EQ(transport_stats(t).open, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
}

/* The head came while the request was still being sent; then the rest of both. */
static void
answers_in_between(int fd)
{
    char bytes[65536] = "";

    hear_some(fd);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\na");
    socket_wait_read(fd);
    for (ssize_t n = 1; n > 0 && bytes[n - 1] != LAST;)
        n = recv(fd, bytes, sizeof bytes, 0);
    say(fd, "bc");
}

TEST(a_body_may_begin_before_the_request_is_sent)
{
    sn_transport *t = transport();
    visit *v = upload(t, answers_in_between);

    CHECK_END(v, SEINE_OK);
    CHECK_STR(v->body, "abc");
    free(v);
    sn_socket_transport_free(t);
}

/* What localhost is: both families, where the machine has both. The server is on one. */
TEST(the_family_that_won_is_tried_first_the_next_time)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    char base[64];
    uint64_t before = 0;

    snprintf(base, sizeof base, "http://localhost:%s",
             strrchr(seine_chaos_url(c), ':') + 1);
    for (int i = 0; i < 3; i++) {
        visit *v = get(t, base, "/close/ok");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.peer.v, 4);
        CHECK(i == 0 || transport_stats(t).opened == before + 1);
        before = transport_stats(t).opened;
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

static void
serves_six(int fd)
{
    hear_some(fd);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nsix");
    hear_all(fd);
}

TEST(an_address_may_be_one_of_ipv6)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6,
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t n = sizeof at;
    sn_transport *t = transport();
    peer p = {.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), .serve = serves_six};

    if (p.fd < 0 || bind(p.fd, (struct sockaddr *)&at, sizeof at) != 0) {
        visit *v = get(t, "http://[::1]:9", "/"); /* a machine without */

        CHECK_END(v, SEINE_E_CONNECT_UNREACHABLE);
        free(v);
        sn_socket_transport_free(t);
        return;
    }
    CHECK_EQ(listen(p.fd, 1), 0);
    CHECK_EQ(getsockname(p.fd, (struct sockaddr *)&at, &n), 0);
    snprintf(p.base, sizeof p.base, "http://[::1]:%d", ntohs(at.sin6_port));
    CHECK_EQ(pthread_create(&p.thread, NULL, peer_run, &p), 0);
    visit *v = get(t, p.base, "/");
    CHECK_END(v, SEINE_OK);
    CHECK_STR(v->body, "six");
    CHECK_EQ(v->end.peer.v, 6);
    CHECK_EQ(v->end.zone, SN_ADDRESS_LOCAL);
    free(v);
    sn_socket_transport_free(t);
    peer_end(&p);
}
