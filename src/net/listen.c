/* SPDX-License-Identifier: Apache-2.0 */
#include "net/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Splits "[::1]:80", "127.0.0.1:80", ":80" or "80". */
static bool
split(sn_str text, sn_str *out_host, sn_str *out_port)
{
    const char *colon = text.len ? memrchr(text.ptr, ':', text.len) : NULL;
    sn_str host = SN_STR("127.0.0.1"), port = text;
    uint64_t n;

    if (colon) {
        size_t at = (size_t)(colon - text.ptr);

        if (at > 0)
            host = sn_str_slice(text, 0, at);
        port = sn_str_slice(text, at + 1, text.len);
    }
    if (host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = sn_str_slice(host, 1, host.len - 1);
    else if (memchr(host.ptr, ':', host.len))
        return false;
    *out_host = host;
    *out_port = port;
    return port.len > 0 && port.len <= 5 && sn_str_u64(port, &n) == SEINE_OK && n < 65536;
}

struct addrinfo *
sn_listen_resolve(sn_str where)
{
    struct addrinfo want = {.ai_socktype = SOCK_STREAM,
                            .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    sn_str host, port;
    char name[64], number[8];

    if (!split(where, &host, &port) || host.len >= sizeof name)
        return NULL;
    if (sn_str_eq_nocase(host, SN_STR("localhost")))
        host = SN_STR("127.0.0.1");
    snprintf(name, sizeof name, "%.*s", SN_FMT(host));
    snprintf(number, sizeof number, "%.*s", SN_FMT(port));
    return getaddrinfo(name, number, &want, &found) == 0 ? found : NULL;
}

int
sn_listen_tcp(const struct addrinfo *at, int backlog, bool v6_only)
{
    int fd = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int yes = 1;

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (v6_only && at->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, backlog) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

void
sn_listen_name(int fd, char out_where[SN_LISTEN_NAME])
{
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    char host[48] = "", port[8] = "";

    if (getsockname(fd, (struct sockaddr *)&at, &len) == 0 &&
        getnameinfo((struct sockaddr *)&at, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(out_where, SN_LISTEN_NAME, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host,
                 port);
}
