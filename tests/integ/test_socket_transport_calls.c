/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that fail or do less than they were asked for. The functions below stand
 * before those of the C library. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "socket_transport.h"

static __thread int fail_connect, fail_datagram, fail_socket; /* with that errno */
static __thread int fail_send, fail_recv;
static __thread int sends_before; /* so many go well */
static __thread size_t send_most; /* bytes a call; 0: all */
static __thread int sends;
static __thread size_t recv_left; /* so many fill the buffer, as if all were there */

static int
refuse(int why)
{
    errno = why;
    return -1;
}

int
connect(int fd, __CONST_SOCKADDR_ARG addr, socklen_t len)
{
    int kind = 0;
    socklen_t size = sizeof kind;

    getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size);
    if (kind == SOCK_DGRAM && fail_datagram)
        return refuse(fail_datagram);
    if (kind == SOCK_STREAM && fail_connect)
        return refuse(fail_connect);
    return (int)syscall(SYS_connect, fd, addr.__sockaddr__, len);
}

int
socket(int domain, int type, int protocol)
{
    if ((type & 15) == SOCK_STREAM && fail_socket)
        return refuse(fail_socket);
    return (int)syscall(SYS_socket, domain, type, protocol);
}

ssize_t
send(int fd, const void *buf, size_t n, int flags)
{
    sends++;
    if (fail_send && sends > sends_before)
        return refuse(fail_send);
    if (send_most && n > send_most)
        n = send_most;
    return syscall(SYS_sendto, fd, buf, n, flags, NULL, 0);
}

/* Reads as much as fits and is still to come. */
static ssize_t
fill(int fd, char *bytes, size_t n)
{
    size_t got = 0, most = n < recv_left ? n : recv_left;

    while (got < most) {
        struct pollfd p = {.fd = fd, .events = POLLIN};

        if (poll(&p, 1, (int)(CHECK_PATIENCE / SEINE_MS(1))) != 1)
            break;
        ssize_t more = syscall(SYS_recvfrom, fd, bytes + got, most - got, 0, NULL, NULL);
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    recv_left -= got;
    return got > 0 ? (ssize_t)got : refuse(EAGAIN);
}

ssize_t
recv(int fd, void *buf, size_t n, int flags)
{
    if (fail_recv)
        return refuse(fail_recv);
    if (recv_left > 0 && flags == 0)
        return fill(fd, buf, n);
    return syscall(SYS_recvfrom, fd, buf, n, flags, NULL, NULL);
}

TEST(a_connect_that_fails_at_once_has_its_named_error)
{
    static const struct {
        int connect, datagram, socket;
        seine_err want;
    } rows[] = {
        {.connect = ECONNREFUSED, .want = SEINE_E_CONNECT_REFUSED},
        {.connect = ENETUNREACH, .want = SEINE_E_CONNECT_UNREACHABLE},
        {.connect = EHOSTUNREACH, .want = SEINE_E_CONNECT_UNREACHABLE},
        {.connect = EACCES, .want = SEINE_E_CONNECT_UNREACHABLE},
        {.connect = ETIMEDOUT, .want = SEINE_E_CONNECT_TIMEOUT},
        {.connect = EADDRNOTAVAIL, .want = SEINE_E_NO_PORTS},
        {.connect = EAGAIN, .want = SEINE_E_NO_PORTS},
        {.connect = EADDRNOTAVAIL, /* no address of our own */
         .datagram = EADDRNOTAVAIL,
         .want = SEINE_E_CONNECT_UNREACHABLE},
        {.connect = ENOBUFS, .want = SEINE_E_NOMEM},
        {.socket = EMFILE, .want = SEINE_E_NO_FILES},
        {.socket = ENFILE, .want = SEINE_E_NO_FILES},
        {.socket = ENOMEM, .want = SEINE_E_NOMEM},
        {.socket = EAFNOSUPPORT, .want = SEINE_E_CONNECT_UNREACHABLE},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        fail_connect = rows[i].connect;
        fail_datagram = rows[i].datagram;
        fail_socket = rows[i].socket;
        visit *v = get(t, seine_chaos_url(c), "/ok");
        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->end.fault.phase, SEINE_PHASE_CONNECT);
        CHECK(!v->end.fault.sent);
        CHECK_EQ(transport_stats(t).opened, 0);
        free(v);
    }
    fail_connect = fail_datagram = fail_socket = 0;
    visit *v = get(t, seine_chaos_url(c), "/ok");
    CHECK_END(v, SEINE_OK);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_request_may_leave_in_any_pieces)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    unsigned fresh = 0;

    for (size_t most = 1; most < 150; most += 7) {
        visit *v = visit_of(seine_chaos_url(c), "/echo");

        v->q.method = SN_STR("POST");
        v->q.idempotent = true;
        v->q.body = SN_STR("the body of a request, sent in pieces");
        send_most = most;
        visit_run(t, v);
        CHECK_END(v, SEINE_OK);
        CHECK(strstr(v->body, "\"body\":\"the body of a request, sent in pieces\""));
        fresh += !v->end.reused;
        free(v);
    }
    /* A connection rests after its second use, so that a request which comes at once
     * takes a second one; the others share these two, or one if the first request was
     * late. */
    CHECK(fresh == 1 || fresh == 2);
    send_most = 0;
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* Around the size from which on a body is not copied. */
TEST(a_body_of_any_size_is_sent_whole)
{
    enum { MOST = (16 << 10) + 2 };
    static const char *const methods[] = {"PUT", "POST", "DELETE"};
    static char bytes[MOST];
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    memset(bytes, 'b', sizeof bytes);
    EACH_ROW(i, methods)
        for (size_t size = MOST - 4; size <= MOST; size++) {
            visit *v = visit_of(seine_chaos_url(c), "/echo");
            char *sent = calloc(1, BODY_KEPT + 1), *body;

            v->q.method = sn_str_of(methods[i]);
            v->q.body = (sn_str){bytes, size};
            send_most = size % 2 ? 0 : 5000;
            visit_run(t, v);
            CHECK_END(v, SEINE_OK);
            CHECK(v->end.reused || i == 1 || transport_stats(t).opened <= 2);
            body = strstr(v->body, "\"body\":\"");
            memset(sent, 'b', 2000);
            CHECK(body && strncmp(body + 8, sent, 2000) == 0);
            CHECK(v->bytes > size && v->bytes < size + 1000);
            free(sent);
            free(v);
        }
    send_most = 0;
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_send_that_fails_in_the_middle_ends_the_exchange)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    for (int before = 0; before < 3; before++) {
        visit *v = visit_of(seine_chaos_url(c), "/ok");

        v->q.method = SN_STR("POST");
        v->limits.time.send = SEINE_MS(50);
        sends = 0;
        sends_before = before;
        send_most = 10;
        fail_send = EPIPE;
        visit_run(t, v);
        CHECK_END(v, SEINE_E_SEND_TIMEOUT); /* the peer itself has not ended it */
        CHECK_EQ(v->end.fault.sent, before > 0);
        CHECK_EQ(transport_stats(t).open, 0);
        free(v);
    }
    fail_send = 0;
    send_most = 0;
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_failing_recv_is_a_broken_connection)
{
    static const int whys[] = {ECONNRESET, ETIMEDOUT, EHOSTUNREACH};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, whys) {
        visit *v = visit_of(seine_chaos_url(c), "/ok");

        fail_recv = whys[i];
        visit_run(t, v);
        CHECK_END(v, SEINE_E_CONN_RESET);
        CHECK_EQ(transport_stats(t).open, 0);
        free(v);
    }
    fail_recv = 0;
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* The response ends where the buffer ends: whether more is behind it nobody knows. */
TEST(a_connection_of_which_not_all_was_read_is_not_kept)
{
    enum { ROOM = 256 << 10 };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    char path[64];
    visit *v = get(t, seine_chaos_url(c), "/bytes:200000");

    uint64_t head = transport_stats(t).bytes_in - 200000;
    free(v);
    for (int more = -1; more <= 1; more++) {
        snprintf(path, sizeof path, "/extra:10/bytes:%d", ROOM - (int)head + more);
        v = visit_of(seine_chaos_url(c), path);
        v->q.fresh = true;
        recv_left = (size_t)ROOM + 10 + (size_t)more;
        visit_run(t, v);
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->bytes, ROOM - head + (uint64_t)more);
        CHECK_EQ(v->end.notes, more == 0 ? 0 : SN_NOTE_EXTRA_BYTES);
        CHECK_EQ(transport_stats(t).open, 0);
        recv_left = 0;
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* The own addresses are read again after a minute; what is idle is judged anew. */
TEST(a_minute_later_a_kept_connection_is_judged_again)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();

    o.idle_time = SEINE_SECS(300);
    sn_transport *t = transport_of(&o);
    for (int i = 0; i < 3; i++) {
        visit *v = get(t, seine_chaos_url(c), "/ok");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, i > 0);
        free(v);
        transport_pass(SEINE_SECS(61));
    }
    transport_pass(SEINE_SECS(300 - 61));
    t->ops->turn(t, 0);
    CHECK_EQ(transport_stats(t).open, 0); /* its time is over */
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}
