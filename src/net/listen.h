/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen.h - listening sockets: the address that a person typed, the socket, its name.
 *
 * A server asks nobody where it is: addresses are numbers, or localhost, which is
 * 127.0.0.1. "[::1]:80" and "127.0.0.1:80" are whole addresses; ":80" and "80" are
 * ports of 127.0.0.1.
 *
 * Time: nothing waits. Memory: the list of getaddrinfo, the caller's. Threads: any.
 */
#ifndef SN_NET_LISTEN_H
#define SN_NET_LISTEN_H

#include <netdb.h>
#include <stdbool.h>

#include "base/str.h"

enum { SN_LISTEN_NAME = 64 }; /* bytes of "[address]:port" with its end */

/* The caller frees the result with freeaddrinfo; NULL: no address and port. */
struct addrinfo *sn_listen_resolve(sn_str where);

/* A socket that listens, never waits, and is closed by exec. Connections inherit
 * TCP_NODELAY. With `v6_only` an IPv6 address takes no IPv4. Returns -1 and sets errno
 * on failure. */
int sn_listen_tcp(const struct addrinfo *at, int backlog, bool v6_only);

/* Writes "address:port" of a socket, which tells the port that the kernel chose; leaves
 * `out_where` alone on failure. */
void sn_listen_name(int fd, char out_where[SN_LISTEN_NAME]);

#endif
