/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns_channel.h"

#include <ares.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/time.h"
#include "net/dns_local.h"
#include "net/dns_packet.h"

#define EACH   8         /* questions of a channel */
#define MOST   16        /* channels */
#define TRIES  3         /* per server; each waits twice as long as the last */
#define BUFFER (1 << 20) /* socket buffer for bursts of answers, if allowed */

/* A socket of c-ares. */
typedef struct line {
    sn_watch watch;
    struct sn_dns_channel *channel;
    struct line *next;
    int fd;
    bool watched;
    bool is_udp;
} line;

typedef struct sn_dns_channel {
    sn_dns_channels *of;
    struct sn_dns_channel *older;
    ares_channel handle;
    line *lines;
    unsigned asked, owed; /* questions; answers that are still to come */
} channel;

/* -- sockets: c-ares asks for them, the loop watches -- */

/* 0: no name. */
static uint64_t
hash_of(sn_str name)
{
    return name.len > 0 ? sn_siphash((const uint64_t[2]){0, 0}, name.ptr, name.len) | 1
                        : 0;
}

static line *
line_of(const channel *c, int fd)
{
    line *k = c->lines;

    while (k && k->fd != fd)
        k = k->next;
    return k;
}

static void
on_socket(sn_watch *w, uint32_t events)
{
    line *k = (line *)(void *)((char *)w - offsetof(line, watch));
    sn_dns_channels *s = k->channel->of;
    int fd = k->fd;

    ares_process_fd(k->channel->handle,
                    events & ~(uint32_t)EPOLLOUT ? fd : ARES_SOCKET_BAD,
                    events & EPOLLOUT ? fd : ARES_SOCKET_BAD);
    s->after(s->arg);
}

static int
open_socket(int family, int type, int protocol, void *arg)
{
    channel *c = arg;
    sn_dns_channels *s = c->of;
    line *k = sn_zalloc(sizeof *k);

    s->starved = SEINE_E_NOMEM;
    if (!k)
        return -1;
    k->fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
    if (k->fd < 0) {
        bool files = errno == EMFILE || errno == ENFILE;
        int why = errno;

        s->starved = files ? SEINE_E_NO_FILES : SEINE_OK;
        sn_free(k);
        errno = why;
        return -1;
    }
    if (type == SOCK_DGRAM)
        setsockopt(k->fd, SOL_SOCKET, SO_RCVBUF, &(int){BUFFER}, sizeof(int));
    s->starved = SEINE_OK;
    k->watch.ready = on_socket;
    k->is_udp = type == SOCK_DGRAM;
    k->channel = c;
    k->next = c->lines;
    c->lines = k;
    return k->fd;
}

static int
close_socket(int fd, void *arg)
{
    channel *c = arg;

    for (line **at = &c->lines; *at; at = &(*at)->next)
        if ((*at)->fd == fd) {
            line *k = *at;

            *at = k->next;
            if (k->watched)
                sn_loop_del(c->of->loop, fd, &k->watch);
            sn_free(k);
            break;
        }
    return close(fd);
}

static int
connect_socket(int fd, const struct sockaddr *to, socklen_t len, void *arg)
{
    (void)arg;
    return connect(fd, to, len);
}

/* Remembers a malformed response, about which c-ares says nothing. */
static void
look_at(sn_dns_channels *s, sn_str packet)
{
    char name[SN_DNS_PACKET_NAME];
    size_t len;

    if (!sn_dns_packet_is_sound(packet, name, &len))
        s->bad[s->n_bad++ % SN_DNS_BAD] = hash_of((sn_str){name, len});
}

static ssize_t
receive(int fd, void *bytes, size_t n, int flags, struct sockaddr *from, socklen_t *len,
        void *arg)
{
    const channel *c = arg;
    ssize_t got = recvfrom(fd, bytes, n, flags, from, len);
    const line *k = got >= 0 ? line_of(c, fd) : NULL;

    if (k && k->is_udp)
        look_at(c->of, (sn_str){bytes, (size_t)got});
    return got;
}

/* The kernel reports a refused datagram to the next send, which then sends nothing. So
 * the send is repeated, or two questions would be lost. */
static ssize_t
transmit(int fd, const struct iovec *parts, int n, void *arg)
{
    struct msghdr m = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)n};

    (void)arg;
    ssize_t sent = sendmsg(fd, &m, MSG_NOSIGNAL);
    if (sent < 0 && errno == ECONNREFUSED)
        sent = sendmsg(fd, &m, MSG_NOSIGNAL);
    return sent;
}

/* A socket that cannot be watched behaves like a silent server: its questions time
 * out. */
static void
on_state(void *arg, int fd, int readable, int writable)
{
    const channel *c = arg;
    sn_loop *loop = c->of->loop;
    line *k = line_of(c, fd);
    uint32_t events = (readable ? EPOLLIN : 0u) | (writable ? EPOLLOUT : 0u);

    if (!k)
        return;
    if (events == 0) {
        if (k->watched)
            sn_loop_del(loop, fd, &k->watch);
        k->watched = false;
    } else if (k->watched) {
        k->watched = sn_loop_set_level(loop, fd, &k->watch, events) == SEINE_OK;
    } else {
        k->watched = sn_loop_add_level(loop, fd, &k->watch, events) == SEINE_OK;
    }
}

/* -- channels -- */

static void
give_sockets(channel *c)
{
    static const struct ares_socket_functions sockets = {
        open_socket, close_socket, connect_socket, receive, transmit};

    ares_set_socket_functions(c->handle, &sockets, c);
}

/* Three tries of 1, 2 and 4 parts take together the timeout of a question. */
static int
init_first(channel *c, int flags, seine_span timeout)
{
    seine_span all = sn_time_min(timeout, SEINE_SECS(3600));
    struct ares_options o = {
        .flags = flags,
        .timeout = (int)sn_time_max(1, all / 7 / SEINE_MS(1)),
        .tries = TRIES,
        .lookups = (char[]){"b"},
        .sock_state_cb = on_state,
        .sock_state_cb_data = c,
    };

    return ares_init_options(&c->handle, &o,
                             ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                                 ARES_OPT_DOMAINS | ARES_OPT_LOOKUPS |
                                 ARES_OPT_SOCK_STATE_CB);
}

/* With the settings and the servers of another channel; no file is read. */
static int
init_like(channel *c, ares_channel other)
{
    struct ares_options o = {0};
    struct ares_addr_port_node *servers = NULL;
    int mask = 0, status = ares_save_options(other, &o, &mask);

    if (status == ARES_SUCCESS) {
        o.sock_state_cb_data = c;
        status = ares_init_options(&c->handle, &o, mask);
    }
    ares_destroy_options(&o);
    if (status == ARES_SUCCESS)
        status = ares_get_servers_ports(other, &servers);
    if (status == ARES_SUCCESS)
        status = ares_set_servers_ports(c->handle, servers);
    ares_free_data(servers);
    return status;
}

static bool
has_one_server(const channel *c)
{
    struct ares_addr_port_node *list = NULL;

    if (ares_get_servers_ports(c->handle, &list) != ARES_SUCCESS)
        return false;
    bool one = list && !list->next;
    ares_free_data(list);
    return one;
}

static channel *
make_channel(sn_dns_channels *s)
{
    channel *c = sn_zalloc(sizeof *c);

    if (!c)
        return NULL;
    c->of = s;
    c->older = s->newest;
    s->newest = c;
    s->n++;
    return c;
}

/* Ends its queries. */
static void
drop_channel(sn_dns_channels *s, channel **at)
{
    channel *c = *at;

    if (c->handle)
        ares_destroy(c->handle);
    *at = c->older;
    s->n--;
    sn_free(c);
}

static seine_err
use_server(channel *c, const char *server, seine_diag *diag)
{
    struct ares_addr_port_node node = {0};
    sn_ip ip;
    uint16_t port;

    if (sn_dns_server(sn_str_of(server), &ip, &port) != SEINE_OK)
        return sn_diag_value(diag, "dns", sn_str_of(server),
                             "no name server: it needs ADDR or ADDR:PORT");
    node.family = ip.v == 4 ? AF_INET : AF_INET6;
    memcpy(&node.addr, ip.bytes, ip.v == 4 ? 4 : 16);
    node.udp_port = node.tcp_port = port;
    return ares_set_servers_ports(c->handle, &node) == ARES_SUCCESS ? SEINE_OK
                                                                    : SEINE_E_NOMEM;
}

/* With several servers c-ares asks the next one after a failure. A single server it would
 * ask again at once, and lose its answer. */
seine_err
sn_dns_channels_init(sn_dns_channels *s, const char *server, seine_span timeout,
                     seine_diag *diag)
{
    channel *c = make_channel(s);

    if (!c)
        return SEINE_E_NOMEM;
    int status = init_first(c, server ? ARES_FLAG_NOCHECKRESP : 0, timeout);
    if (status == ARES_SUCCESS && !server && has_one_server(c)) {
        ares_destroy(c->handle);
        c->handle = NULL;
        status = init_first(c, ARES_FLAG_NOCHECKRESP, timeout);
    }
    if (status == ARES_ENOMEM)
        return SEINE_E_NOMEM;
    if (status != ARES_SUCCESS)
        return sn_diag_option(diag, "dns", "the resolver's configuration: %s",
                              ares_strerror(status));
    give_sockets(c);
    return server ? use_server(c, server, diag) : SEINE_OK;
}

void
sn_dns_channels_fini(sn_dns_channels *s)
{
    while (s->newest)
        drop_channel(s, &s->newest);
}

void
sn_dns_channels_sweep(sn_dns_channels *s)
{
    for (channel **at = &s->newest; *at;) {
        if (at != &s->newest && (*at)->owed == 0)
            drop_channel(s, at);
        else
            at = &(*at)->older;
    }
}

/* The one that waits for the fewest answers. */
static channel *
least_busy(const sn_dns_channels *s)
{
    channel *least = s->newest;

    for (channel *c = s->newest; c; c = c->older)
        if (c->owed < least->owed)
            least = c;
    return least;
}

/* The channel for the next question. If no new one can be made, the old ones serve on. */
static channel *
next_channel(sn_dns_channels *s)
{
    channel *newest = s->newest;

    if (newest->asked < EACH)
        return newest;
    channel *c = s->n < MOST ? make_channel(s) : NULL;
    if (!c)
        return least_busy(s);
    if (init_like(c, newest->handle) != ARES_SUCCESS) {
        drop_channel(s, &s->newest);
        return least_busy(s);
    }
    give_sockets(c);
    return c;
}

/* -- questions -- */

static seine_err
error_of(const sn_dns_channels *s, int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return SEINE_OK;
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
        return SEINE_E_DNS_NXDOMAIN;
    case ARES_ECONNREFUSED: /* no server answers, or all say SERVFAIL or REFUSED */
        return s->starved != SEINE_OK ? s->starved : SEINE_E_DNS_SERVFAIL;
    case ARES_ESERVFAIL:
    case ARES_EREFUSED:
    case ARES_ENOTIMP:
        return SEINE_E_DNS_SERVFAIL;
    case ARES_ETIMEOUT:
        return SEINE_E_DNS_TIMEOUT;
    case ARES_ENOMEM:
        return SEINE_E_NOMEM;
    default:
        return SEINE_E_DNS_ERROR;
    }
}

static void
read_addresses(sn_dns_found *found, const struct ares_addrinfo *info)
{
    found->ttl = INT64_MAX;
    for (const struct ares_addrinfo_node *n = info->nodes; n; n = n->ai_next) {
        sn_ip ip;

        if (!sn_ip_of(n->ai_addr, &ip))
            continue;
        found->ttl = sn_time_min(found->ttl, n->ai_ttl);
        sn_dns_answer_add(&found->names, &ip);
    }
    for (const struct ares_addrinfo_cname *c = info->cnames; c; c = c->next)
        found->ttl = sn_time_min(found->ttl, c->ttl);
}

static void
on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
    sn_dns_query *q = arg;
    sn_dns_found found = {0};

    (void)timeouts;
    if (status == ARES_SUCCESS && !(info && info->nodes))
        status = ARES_ENODATA;
    found.e = error_of(q->on->of, status);
    found.nowhere = status == ARES_ENOTFOUND;
    found.is_empty = status == ARES_ENODATA;
    if (found.e == SEINE_OK)
        read_addresses(&found, info);
    if (info)
        ares_freeaddrinfo(info);
    q->on->owed--;
    q->done(q, &found);
}

void
sn_dns_channels_ask(sn_dns_channels *s, const char *name, uint8_t family, sn_dns_query *q)
{
    struct ares_addrinfo_hints hints = {.ai_flags = ARES_AI_NOSORT,
                                        .ai_family = family == 4 ? AF_INET : AF_INET6,
                                        .ai_socktype = SOCK_STREAM};

    q->on = next_channel(s);
    q->on->asked++;
    q->on->owed++;
    ares_getaddrinfo(q->on->handle, name, NULL, &hints, on_answer, q);
}

void
sn_dns_channels_tick(sn_dns_channels *s)
{
    for (channel *c = s->newest; c; c = c->older)
        ares_process_fd(c->handle, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

bool
sn_dns_channels_saw_bad(const sn_dns_channels *s, uint32_t from, sn_str name,
                        bool by_name)
{
    uint64_t hash = hash_of(name);
    uint32_t n = s->n_bad - from;

    for (uint32_t i = 1; i <= n && i <= SN_DNS_BAD; i++) {
        uint64_t bad = s->bad[(s->n_bad - i) % SN_DNS_BAD];

        if (bad == hash || (bad == 0 && !by_name))
            return true;
    }
    return false;
}
