/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "base/time.h"
#include "chaos/connection.h"

#define STAMP SEINE_SECS(5) /* an older stamp is a wall clock that was moved */
#define NOISE 1000          /* bytes instead of a handshake */

/* Reads, and says when it arrived. The kernel's own stamp counts, so that a judge
 * that was kept waiting does not blame the client; it is of the wall clock, and only
 * its age is taken from there. */
static ssize_t
receive(void *self, void *out, size_t room)
{
    snc_connection *g = self;
    snc_server *s = g->server;
    char control[CMSG_SPACE(sizeof(struct timespec))];
    struct iovec to = {out, room};
    struct msghdr msg = {.msg_iov = &to,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof control};
    ssize_t n = recvmsg(g->fd, &msg, 0);

    if (n <= 0)
        return n;
    g->arrived = s->now = s->clock->now(s->clock);
    s->wall = s->clock->wall(s->clock);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
        struct timespec at;

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
            continue;
        memcpy(&at, CMSG_DATA(c), sizeof at);
        seine_span age = s->wall - (SEINE_SECS(at.tv_sec) + at.tv_nsec);
        if (age > 0 && age < STAMP)
            g->arrived = s->now - age;
    }
    return n;
}

static ssize_t
send_(void *self, const void *bytes, size_t n)
{
    const snc_connection *g = self;

    return send(g->fd, bytes, n, MSG_NOSIGNAL);
}

/* What came before the tunnel began. */
static size_t
take_early(snc_connection *g, void *out, size_t room)
{
    size_t n = g->early.len < room ? g->early.len : room;

    if (n > 0)
        memcpy(out, g->early.ptr, n);
    sn_buf_drop(&g->early, n);
    return n;
}

/* Below TLS is the socket, or the TLS line to us as a proxy. */
static ssize_t
receive_below(void *self, void *out, size_t room)
{
    snc_connection *g = self;
    size_t n = take_early(g, out, room);

    return n > 0 ? (ssize_t)n : receive(g, out, room);
}

static ssize_t
receive_inside(void *self, void *out, size_t room)
{
    snc_connection *g = self;
    size_t n = take_early(g, out, room);

    return n > 0 ? (ssize_t)n : snc_tls_read(g->outer, out, room);
}

static ssize_t
send_inside(void *self, const void *bytes, size_t n)
{
    snc_connection *g = self;

    return snc_tls_write(g->outer, bytes, n);
}

/* What comes behind our FIN is of no interest, and not read as TLS. */
ssize_t
snc_connection_receive(snc_connection *g, char *out, size_t room)
{
    return g->tls && g->state != SNC_CONNECTION_LINGER ? snc_tls_read(g->tls, out, room)
                                                       : receive(g, out, room);
}

ssize_t
snc_connection_write(snc_connection *g, const char *bytes, size_t n)
{
    return g->tls ? snc_tls_write(g->tls, bytes, n) : send_(g, bytes, n);
}

void
snc_connection_greet(snc_connection *g)
{
    snc_server *s = g->server;
    const snc_tls_ends socket_ = {receive_below, send_, g};
    const snc_tls_ends line = {receive_inside, send_inside, g};

    g->outer = g->tls;
    g->tls = NULL;
    g->said_hello = false;
    g->state = SNC_CONNECTION_GREET;
    if (snc_tls_line_new(s->tls, g->outer ? &line : &socket_, sn_str_of(g->own),
                         s->clock->wall(s->clock), &g->tls) != SEINE_OK)
        snc_connection_reset(g);
}

static void
note_hello(snc_connection *g, const snc_tls_facts *facts)
{
    snc_witness *w = &g->server->world.witness;

    if (!facts->hello || g->said_hello)
        return;
    g->said_hello = true;
    snc_witness_hello(w, snc_witness_host(w, facts->name), g->address);
}

/* It looks like nothing at all, least of all like a record. */
static void
make_noise(snc_connection *g)
{
    char noise[NOISE];

    snc_wire_fill(g->server->world.seed, 0, noise, sizeof noise);
    noise[0] = 'G';
    if (send_(g, noise, sizeof noise) < 0)
        g->gone = true;
}

bool
snc_connection_greeted(snc_connection *g)
{
    snc_witness *w = &g->server->world.witness;
    const snc_tls_facts *facts = snc_tls_facts_of(g->tls);

    if (!g->readable && !g->writable)
        return false;
    snc_connection_register(g);
    snc_tls_got got = snc_tls_greet(g->tls);
    note_hello(g, facts);
    switch (got) {
    case SNC_TLS_READ:
        g->readable = false;
        return false;
    case SNC_TLS_WRITE:
        g->writable = false;
        return false;
    case SNC_TLS_DONE:
        snc_witness_greeted(w, snc_witness_host(w, facts->name), g->address,
                            facts->resumed);
        g->state = SNC_CONNECTION_READ;
        g->readable = true;
        break;
    case SNC_TLS_STALL:
        g->state = SNC_CONNECTION_HOLD;
        break;
    case SNC_TLS_RST:
        snc_connection_drain(g);
        break;
    case SNC_TLS_GARBAGE:
        make_noise(g);
        snc_connection_fin(g);
        break;
    default:
        snc_connection_fin(g);
    }
    return true;
}
