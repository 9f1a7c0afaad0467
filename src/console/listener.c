/* SPDX-License-Identifier: Apache-2.0 */
#include "console/listener.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/diag.h"
#include "net/listen.h"

enum { BACKLOG = 128 };

static seine_err
cannot(seine_diag *diag, const char *listen_text)
{
    char why[SN_DIAG_ERRNO];

    sn_diag_errno(errno, why);
    sn_diag_value(diag, "listen", sn_str_of(listen_text), why);
    return SEINE_E_IO;
}

static bool
is_loopback(const struct sockaddr *at)
{
    if (at->sa_family == AF_INET) {
        const struct sockaddr_in *v4 = (const void *)at;

        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *v6 = (const void *)at;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static seine_err
listen_tcp(const seine_console_opts *o, int *out_fd, char out_where[128],
           seine_diag *diag)
{
    struct addrinfo *at = sn_listen_resolve(sn_str_of(o->listen));

    if (!at)
        return sn_diag_value(diag, "listen", sn_str_of(o->listen),
                             "not an address and a port like 127.0.0.1:8787");
    bool is_local = is_loopback(at->ai_addr);
    if (!is_local && (o->no_auth || (!o->insecure_listen && !o->behind_proxy))) {
        freeaddrinfo(at);
        return sn_diag_value(diag, "listen", sn_str_of(o->listen),
                             o->no_auth
                                 ? "without tokens only this machine may come in"
                                 : "other machines can reach it, and nothing encrypts");
    }
    int fd = sn_listen_tcp(at, BACKLOG, true);
    freeaddrinfo(at);
    if (fd < 0)
        return cannot(diag, o->listen);
    sn_listen_name(fd, out_where);
    *out_fd = fd;
    return SEINE_OK;
}

/* A socket that an ended server has left is replaced; one that answers is not. */
static bool
is_abandoned(const struct sockaddr_un *at)
{
    struct stat what;

    if (lstat(at->sun_path, &what) != 0 || !S_ISSOCK(what.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    bool is = connect(fd, (const struct sockaddr *)at, sizeof *at) != 0 &&
              errno == ECONNREFUSED;
    close(fd);
    return is;
}

static int
open_unix(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (is_abandoned(at))
        unlink(at->sun_path);
    /* The mode is that of the descriptor until bind makes the file. */
    if (fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)at, sizeof *at) == 0 &&
        chmod(at->sun_path, 0600) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static seine_err
listen_unix(const seine_console_opts *o, int *out_fd, char out_where[128],
            seine_diag *diag)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const char *path = o->listen + 5;

    if (path[0] == '\0' || strlen(path) >= sizeof at.sun_path)
        return sn_diag_value(diag, "listen", sn_str_of(o->listen),
                             "not a path of at most 107 bytes");
    memcpy(at.sun_path, path, strlen(path) + 1);
    int fd = open_unix(&at);
    if (fd < 0)
        return cannot(diag, o->listen);
    snprintf(out_where, 128, "unix:%s", path);
    *out_fd = fd;
    return SEINE_OK;
}

seine_err
sn_listener_open(const seine_console_opts *opts, int *out_fd, char out_where[128],
                 seine_diag *diag)
{
    if (strncmp(opts->listen, "unix:", 5) == 0)
        return listen_unix(opts, out_fd, out_where, diag);
    return listen_tcp(opts, out_fd, out_where, diag);
}
