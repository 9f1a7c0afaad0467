/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn_key.h - which requests may share a connection?
 *
 * Two requests share connections if scheme, host, port, TLS policy and proxy are the
 * same; then their keys are equal, and only then. The usual key is the beginning of the
 * href, "https://a.example:8443". Any other begins with one byte below 16 that holds the
 * policy; the authorities that a host has of its own follow the policy, and a proxy
 * follows a zero byte. A host has neither a control character nor a zero byte, so that no
 * host reads like another one with a policy.
 *
 *     key = sn_conn_key(&request, mem);             for sn_conn_pool_origin
 *
 * Time    plays no part.
 * Memory  the caller's; the usual key stands in the URL.
 * Threads any thread.
 */
#ifndef SN_CONN_KEY_H
#define SN_CONN_KEY_H

#include "net/transport.h"

#define SN_CONN_KEY_ROOM (SEINE_URL_ROOM + 1024)

/* Returns the key, in the URL or in `mem`. */
sn_str sn_conn_key(const sn_request *q, char mem[SN_CONN_KEY_ROOM]);

#endif
