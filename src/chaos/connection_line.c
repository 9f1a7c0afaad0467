/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "base/time.h"
#include "chaos/connection.h"

#define STAMP SEINE_SECS(5) /* an older timestamp means that the wall clock was moved */
#define NOISE 1000          /* bytes instead of a handshake */

/* Reads, and notes when the bytes arrived. The kernel's timestamp counts, so that a delay
 * of the server does not blame the client. It is on the wall clock, so only its age is
 * used. */
static ssize_t
receive(void *self, void *out, size_t room)
{
    snc_connection *c = self;
    snc_server *s = c->server;
    char control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec to = {out, room};
    struct msghdr msg = {.msg_iov = &to,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof control};
    ssize_t n = recvmsg(c->fd, &msg, 0);

    if (n <= 0)
        return n;
    c->arrived = s->now = s->clock->now(s->clock);
    s->wall = s->clock->wall(s->clock);
    for (struct cmsghdr *m = CMSG_FIRSTHDR(&msg); m; m = CMSG_NXTHDR(&msg, m)) {
        struct timespec at;

        if (m->cmsg_level != SOL_SOCKET || m->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&at, CMSG_DATA(m), sizeof at);
        seine_span age = s->wall - (SEINE_SECS(at.tv_sec) + at.tv_nsec);
        if (age > 0 && age < STAMP)
            c->arrived = s->now - age;
    }
    return n;
}

static ssize_t
send_(void *self, const void *bytes, size_t n)
{
    const snc_connection *c = self;

    return send(c->fd, bytes, n, MSG_NOSIGNAL);
}

/* Bytes that came before the tunnel began. */
static size_t
take_early(snc_connection *c, void *out, size_t room)
{
    size_t n = c->early.len < room ? c->early.len : room;

    if (n > 0)
        memcpy(out, c->early.ptr, n);
    sn_buf_drop(&c->early, n);
    return n;
}

/* Below TLS is the socket, or the outer TLS to us as a proxy. */
static ssize_t
receive_below(void *self, void *out, size_t room)
{
    snc_connection *c = self;
    size_t n = take_early(c, out, room);

    return n > 0 ? (ssize_t)n : receive(c, out, room);
}

static ssize_t
receive_inside(void *self, void *out, size_t room)
{
    snc_connection *c = self;
    size_t n = take_early(c, out, room);

    return n > 0 ? (ssize_t)n : snc_tls_read(c->outer, out, room);
}

static ssize_t
send_inside(void *self, const void *bytes, size_t n)
{
    snc_connection *c = self;

    return snc_tls_write(c->outer, bytes, n);
}

/* Bytes behind our FIN do not matter, and are not decrypted. */
ssize_t
snc_connection_receive(snc_connection *c, char *out, size_t room)
{
    return c->tls && c->state != SNC_CONNECTION_LINGER ? snc_tls_read(c->tls, out, room)
                                                       : receive(c, out, room);
}

ssize_t
snc_connection_write(snc_connection *c, const char *bytes, size_t n)
{
    return c->tls ? snc_tls_write(c->tls, bytes, n) : send_(c, bytes, n);
}

void
snc_connection_greet(snc_connection *c)
{
    snc_server *s = c->server;
    const snc_tls_ends socket_ = {receive_below, send_, c};
    const snc_tls_ends line = {receive_inside, send_inside, c};

    c->outer = c->tls;
    c->tls = NULL;
    c->said_hello = false;
    c->state = SNC_CONNECTION_GREET;
    if (snc_tls_line_new(s->tls, c->outer ? &line : &socket_, sn_str_of(c->own),
                         s->clock->wall(s->clock), &c->tls) != SEINE_OK)
        snc_connection_reset(c);
}

static void
note_hello(snc_connection *c, const snc_tls_facts *facts)
{
    snc_witness *w = &c->server->world.witness;

    if (!facts->hello || c->said_hello)
        return;
    c->said_hello = true;
    snc_witness_hello(w, snc_witness_host(w, facts->name), c->address);
}

/* Sends bytes that look like no TLS record. */
static void
make_noise(snc_connection *c)
{
    char noise[NOISE];

    snc_wire_fill(c->server->world.seed, 0, noise, sizeof noise);
    noise[0] = 'G';
    if (send_(c, noise, sizeof noise) < 0)
        c->gone = true;
}

bool
snc_connection_greeted(snc_connection *c)
{
    snc_witness *w = &c->server->world.witness;
    const snc_tls_facts *facts = snc_tls_facts_of(c->tls);

    if (!c->readable && !c->writable)
        return false;
    snc_connection_register(c);
    snc_tls_got got = snc_tls_greet(c->tls);
    note_hello(c, facts);
    switch (got) {
    case SNC_TLS_READ:
        c->readable = false;
        return false;
    case SNC_TLS_WRITE:
        c->writable = false;
        return false;
    case SNC_TLS_DONE:
        snc_witness_greeted(w, snc_witness_host(w, facts->name), c->address,
                            facts->resumed);
        c->state = SNC_CONNECTION_READ;
        c->readable = true;
        break;
    case SNC_TLS_STALL:
        c->state = SNC_CONNECTION_HOLD;
        break;
    case SNC_TLS_RST:
        snc_connection_drain(c);
        break;
    case SNC_TLS_GARBAGE:
        make_noise(c);
        snc_connection_fin(c);
        break;
    default:
        snc_connection_fin(c);
    }
    return true;
}
