/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/time.h"
#include "chaos/arg.h"
#include "chaos/connection.h"
#include "chaos/folder.h"
#include "chaos/resolver.h"

#define EVENTS  256
#define BACKLOG 4096
#define MOST    65536 /* connections, unless the descriptors are fewer */
#define SPARED  64    /* descriptors left to the program */

uint16_t
snc_server_port(int fd)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    socklen_t len = sizeof a;

    return getsockname(fd, (struct sockaddr *)&a, &len) == 0 ? ntohs(a.sin_port) : 0;
}

/* A wildcard socket that is bound to the device lo has all of 127/8 and nothing else.
 * This needs no privilege since Linux 5.7. Without it the address is 127.0.0.1. */
int
snc_server_socket(int type, uint32_t address, uint16_t port, bool any, bool *out_bound)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

    if (fd < 0)
        return -1;
    *out_bound = any || setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) == 0;
    at.sin_addr.s_addr = htonl(*out_bound && address >> 24 == 127 ? INADDR_ANY : address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (type == SOCK_STREAM) { /* accepted sockets inherit both */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes);
    }
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0) {
        int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

seine_err
snc_server_watch(snc_server *s, int fd, uint32_t events, snc_watch *watch)
{
    struct epoll_event e = {.events = events, .data.ptr = watch};

    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) == 0 ? SEINE_OK : SEINE_E_IO;
}

static seine_err
why_not(void)
{
    return errno == EMFILE || errno == ENFILE ? SEINE_E_NO_FILES
           : errno == ENOMEM                  ? SEINE_E_NOMEM
                                              : SEINE_E_IO;
}

/* No descriptor is left. Closes the spare one, accepts, resets, and opens the spare
 * again: the client learns of it, and the listener does not wake the loop for ever.
 * False: no client waited. */
static bool
turn_away(snc_server *s, int listener)
{
    close(s->spare);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        close(fd);
        s->world.witness.refused++;
    }
    s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (s->spare < 0)
        poll(NULL, 0, 1); /* another thread took the descriptor: do not spin */
    return fd >= 0;
}

static void
refuse_client(snc_server *s, int fd)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
    s->world.witness.refused++;
}

static void
on_accept(snc_watch *watch, uint32_t events)
{
    const snc_door *door =
        (snc_door *)(void *)((char *)watch - offsetof(snc_door, watch));
    snc_server *s = door->server;

    (void)events;
    for (int i = 0; i < EVENTS; i++) {
        struct sockaddr_in peer = {.sin_family = AF_INET};
        socklen_t len = sizeof peer;
        int fd = accept4(door->fd, (struct sockaddr *)&peer, &len,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0 && s->open < s->most)
            snc_connection_new(door, fd, &peer);
        else if (fd >= 0)
            refuse_client(s, fd);
        else if (errno == EMFILE || errno == ENFILE
                     ? !turn_away(s, door->fd)
                     : errno != EINTR && errno != ECONNABORTED)
            break;
    }
}

/* Reads "127.0.0.1:0", ":8080", "8080", "0.0.0.0:80"; the last is every device. */
static bool
read_listen(const char *listen, uint32_t *address, uint16_t *port)
{
    sn_str text = sn_str_of(listen), host, number;
    struct in_addr a;
    char copy[16];
    uint64_t n;

    *address = INADDR_LOOPBACK;
    *port = 0;
    if (text.len == 0)
        return true;
    if (!sn_str_cut(text, ':', &host, &number)) {
        number = text;
        host.len = 0;
    }
    if (!snc_arg_count(number, UINT16_MAX, &n) || host.len >= sizeof copy)
        return false;
    *port = (uint16_t)n;
    if (host.len == 0 || sn_str_eq(host, SN_STR("localhost")))
        return true;
    memcpy(copy, host.ptr, host.len);
    copy[host.len] = '\0';
    if (inet_pton(AF_INET, copy, &a) != 1)
        return false;
    *address = ntohl(a.s_addr);
    return true;
}

/* A backlog for one connection that is never accepted, and one connection in it: from
 * then on the kernel drops every SYN. */
static seine_err
dig_hole(snc_server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    bool bound;

    s->hole = snc_server_socket(SOCK_STREAM, INADDR_LOOPBACK, 0, false, &bound);
    if (s->hole < 0 || listen(s->hole, 0) != 0)
        return why_not();
    s->world.hole_port = snc_server_port(s->hole);
    s->filler = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->filler < 0)
        return why_not();
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(s->world.hole_port);
    return connect(s->filler, (struct sockaddr *)&at, sizeof at) == 0 ||
                   errno == EINPROGRESS
               ? SEINE_OK
               : why_not();
}

static seine_err
open_door(snc_server *s, snc_door_kind kind, uint32_t address, uint16_t port,
          bool *out_bound)
{
    snc_door *door = &s->doors[kind];

    door->watch.ready = on_accept;
    door->server = s;
    door->kind = kind;
    door->fd =
        snc_server_socket(SOCK_STREAM, address, port, address >> 24 != 127, out_bound);
    if (door->fd < 0 || listen(door->fd, BACKLOG) != 0)
        return why_not();
    return snc_server_watch(s, door->fd, EPOLLIN, &door->watch);
}

static seine_err
open_sockets(snc_server *s, const seine_chaos_opts *opts)
{
    uint32_t address;
    uint16_t port;
    bool bound;

    if (!read_listen(opts->listen, &address, &port))
        return SEINE_E_INVAL;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (s->epoll < 0 || s->spare < 0)
        return why_not();
    seine_err e = open_door(s, SNC_DOOR_HTTP, address, port, &bound);
    if (e == SEINE_OK && s->tls)
        e = open_door(s, SNC_DOOR_HTTPS, address, 0, &bound);
    if (e == SEINE_OK)
        e = open_door(s, SNC_DOOR_SOCKS, address, 0, &bound);
    if (e != SEINE_OK)
        return e;
    s->world.socks_port = snc_server_port(s->doors[SNC_DOOR_SOCKS].fd);
    s->world.port = snc_server_port(s->doors[SNC_DOOR_HTTP].fd);
    s->world.tls_port = s->tls ? snc_server_port(s->doors[SNC_DOOR_HTTPS].fd) : 0;
    s->range = address >> 24 != 127 ? "0.0.0.0/0"
               : bound              ? "127.0.0.0/8"
                                    : "127.0.0.1/32";
    /* Next to the first, so that a server that comes back has the same two ports. */
    uint16_t next = (uint16_t)(s->world.port < UINT16_MAX ? s->world.port + 1 : 0);
    s->dead = snc_server_socket(SOCK_STREAM, INADDR_LOOPBACK, next, false, &bound);
    if (s->dead < 0)
        s->dead = snc_server_socket(SOCK_STREAM, INADDR_LOOPBACK, 0, false, &bound);
    if (s->dead < 0)
        return why_not();
    s->world.dead_port = snc_server_port(s->dead);
    return dig_hole(s);
}

static uint32_t
limit_connections(uint32_t wanted)
{
    struct rlimit files;
    uint32_t most = wanted > 0 ? wanted : MOST;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < (rlim_t)most + SPARED)
        most = files.rlim_cur > (rlim_t)2 * SPARED ? (uint32_t)files.rlim_cur - SPARED
                                                   : SPARED;
    return most;
}

static seine_err
open_folder(snc_world *w, const char *path)
{
    w->folder = snc_folder_open(path);
    if (w->folder >= 0)
        return SEINE_OK;
    return errno == EMFILE || errno == ENFILE ? SEINE_E_NO_FILES : SEINE_E_UNKNOWN;
}

seine_err
snc_server_init(snc_server *s, const seine_chaos_opts *opts)
{
    snc_script_fault fault;

    s->epoll = s->spare = s->dead = s->hole = s->filler = -1;
    for (int i = 0; i < SNC_DOORS; i++)
        s->doors[i].fd = -1;
    s->clock = seine_clock_system();
    s->now = s->clock->now(s->clock);
    s->most = limit_connections(opts->max_connections);
    seine_err e = snc_world_init(&s->world, opts->seed);
    if (e == SEINE_OK && opts->tls)
        e = snc_tls_new(s->clock->wall(s->clock), &s->tls);
    if (e == SEINE_OK && opts->files)
        e = open_folder(&s->world, opts->files);
    if (e == SEINE_OK && opts->script)
        e = snc_script_add(&s->world.script, sn_str_of(opts->script), &fault);
    s->world.script_base = s->world.script.count;
    if (e == SEINE_OK)
        e = open_sockets(s, opts);
    if (e == SEINE_OK && opts->dns)
        e = snc_resolver_open(s, &s->resolver);
    if (e != SEINE_OK)
        snc_server_fini(s);
    return e;
}

void
snc_server_fini(snc_server *s)
{
    const int fds[] = {s->epoll, s->spare, s->dead, s->hole, s->filler};

    while (s->connections)
        snc_connection_free(s->connections);
    snc_resolver_close(s->resolver);
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    for (int i = 0; i < SNC_DOORS; i++)
        if (s->doors[i].fd >= 0)
            close(s->doors[i].fd);
    snc_tls_free(s->tls);
    snc_alarms_fini(&s->alarms);
    snc_world_fini(&s->world);
}

static int
wait_for_events(snc_server *s, struct epoll_event *events)
{
    seine_time next = snc_alarms_next(&s->alarms);
    seine_span left = next == SEINE_NEVER ? SEINE_NEVER : sn_time_max(0, next - s->now);
    struct timespec limit_ = {left / SEINE_SECS(1), left % SEINE_SECS(1)};

    return epoll_pwait2(s->epoll, events, EVENTS, next == SEINE_NEVER ? NULL : &limit_,
                        NULL);
}

void
snc_server_turn(snc_server *s)
{
    struct epoll_event events[EVENTS];
    int n = wait_for_events(s, events);
    snc_alarm *alarm;

    s->now = s->clock->now(s->clock);
    for (int i = 0; i < n; i++) {
        snc_watch *watch = events[i].data.ptr;

        watch->ready(watch, events[i].events);
    }
    seine_time due = s->now;
    while (!s->stop && (alarm = snc_alarms_due(&s->alarms, due)))
        alarm->ring(alarm);
}
