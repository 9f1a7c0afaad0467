/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - TLS: an encrypted connection to a verified host.
 *
 * A sn_tls_ctx holds the trusted CAs and the client certificate of a whole fetch; a
 * sn_tls is one connection. A sn_tls moves bytes through two functions like recv and
 * send. So it needs no socket, and can run inside another sn_tls: TLS with a host inside
 * TLS with a proxy.
 *
 *     e = sn_tls_ctx_new(&(sn_tls_opts){.min = 12}, &ctx, &diag);
 *     e = sn_tls_new(ctx, &(sn_tls_want){.host = host, .ends = &ends, …}, &t);
 *     while ((got = sn_tls_handshake(t)) == SN_TLS_WAIT)
 *         wait_for_an_event();                      and tell it: sn_tls_event
 *     n = sn_tls_read(t, buf, room);                0: the peer's close_notify
 *     sn_tls_free(t, true);                         says close_notify
 *
 * It speaks TLS 1.2 or 1.3 with ALPN http/1.1 and checks the name or address of the host
 * against the certificate. There is no renegotiation, compression or early data. An end
 * without close_notify is a truncation: ECONNRESET. Session tickets are kept in
 * sn_tickets, which belong to one loop.
 *
 * Time    the wall's, by OpenSSL, for certificates; tickets by the loop's.
 * Memory  OpenSSL's own, not through base/alloc; docs/user/tls.md has figures. The CAs
 *         of the system are opened with the first connection and read when needed.
 * Threads ctx: any thread. The rest: one owner.
 */
#ifndef SN_TLS_H
#define SN_TLS_H

#include <sys/types.h>

#include "net/tls_tickets.h"
#include "seine/diag.h"
#include "seine/secure.h"

typedef struct sn_tls_ctx sn_tls_ctx;
typedef struct sn_tls sn_tls;

typedef struct sn_tls_opts {
    const char *cacert;          /* PEM, instead of the system's CAs; or NULL */
    const char *cert, *cert_key; /* PEM; NULL: none; no key: `cert` holds it */
    uint8_t min;                 /* 12 or 13 */
} sn_tls_opts;

/* Reads the files, so that a bad one is reported before the first request. CONFIG with a
 * diag. NOMEM. */
SEINE_MUST_CHECK seine_err sn_tls_ctx_new(const sn_tls_opts *opts, sn_tls_ctx **out_ctx,
                                          seine_diag *diag);
void sn_tls_ctx_free(sn_tls_ctx *ctx); /* NULL is fine; requires: no connection is left */

/* The two functions below TLS, like recv and send: -1 with errno. *out_dry: nothing more
 * for now; an event follows. */
typedef struct sn_tls_ends {
    ssize_t (*receive)(void *self, char *into, size_t room, bool *out_dry);
    ssize_t (*send)(void *self, const char *bytes, size_t n);
} sn_tls_ends;

typedef struct sn_tls_want {
    sn_str host; /* a name, or an address without brackets; ≤ 255 bytes */
    uint16_t port;
    bool insecure;           /* the certificate is not checked */
    bool identify;           /* send our certificate if the host asks */
    const sn_tls_ends *ends; /* static … */
    void *self;
    sn_tls *below;         /* … or the outer connection, owned by the caller */
    sn_tickets *tickets;   /* NULL: no session resumption */
    const seine_time *now; /* of the loop; for tickets */
} sn_tls_want;

/* Sends nothing yet. NOMEM; DNS_BAD_NAME: not a valid host. */
SEINE_MUST_CHECK seine_err sn_tls_new(sn_tls_ctx *ctx, const sn_tls_want *want,
                                      sn_tls **out_tls);
/* Sends close_notify if the handshake is complete and `in_order`; never waits. NULL is
 * fine. */
void sn_tls_free(sn_tls *t, bool in_order);

typedef enum sn_tls_got { SN_TLS_DONE, SN_TLS_WAIT, SN_TLS_FAILED } sn_tls_got;

/* Runs the handshake as far as possible. FAILED: see sn_tls_err. */
sn_tls_got sn_tls_handshake(sn_tls *t);

/* Bytes may have come; `gone`: the peer hung up, no further event follows. */
void sn_tls_event(sn_tls *t, bool gone);

/* Reads like recv: -1 with EAGAIN; 0 at the peer's close_notify; any other end is -1 with
 * ECONNRESET, or with EPROTO, and sn_tls_err is then TLS_ERROR. */
ssize_t sn_tls_read(sn_tls *t, char *into, size_t room);
/* Writes like send. After EAGAIN call it with the same bytes again, or more. */
ssize_t sn_tls_write(sn_tls *t, const char *bytes, size_t n);

/* After a read: the end has come, and the next read returns it; the share of a turn is
 * used up, there may be more; TLS waits for room to send. */
bool sn_tls_has_ended(const sn_tls *t);
bool sn_tls_has_more(const sn_tls *t);
bool sn_tls_wants_out(const sn_tls *t);

/* Why the handshake or the connection failed: TLS_CERT_EXPIRED, TLS_HOST_MISMATCH,
 * TLS_UNTRUSTED, TLS_ERROR, CONN_RESET, NOMEM; or OK. The text is for people. */
seine_err sn_tls_err(const sn_tls *t);
const char *sn_tls_text(const sn_tls *t);

/* Writes what was agreed on and whom the certificate is for, by whom and for how long: a
 * line each, as text for people. Returns the length, at most `cap` - 1. */
size_t sn_tls_describe(const sn_tls *t, char *out, size_t cap);

/* Valid after DONE. */
const seine_tls_facts *sn_tls_facts_of(const sn_tls *t);
bool sn_tls_is_resumed(const sn_tls *t);

#endif
