/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolver.h - the sockets of the hostile name server, UDP and TCP on one port.
 *
 *     seine_err e = snc_resolver_open(&server, &resolver);
 *     …
 *     snc_resolver_close(resolver);
 *
 * A delayed answer waits on an alarm; other answers do not wait for it.
 *
 * Time    alarms of the server.
 * Memory  64 KiB, at most 1,024 delayed answers and 64 connections.
 * Threads the server's.
 */
#ifndef SNC_RESOLVER_H
#define SNC_RESOLVER_H

#include "chaos/server.h"

typedef struct snc_resolver snc_resolver;

SEINE_MUST_CHECK seine_err snc_resolver_open(snc_server *s, snc_resolver **out_resolver);
void snc_resolver_close(snc_resolver *r); /* NULL is fine */
uint16_t snc_resolver_port(const snc_resolver *r);

#endif
