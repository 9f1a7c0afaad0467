/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - is this the host that was meant, and can nobody else listen?
 *
 * One sn_tls_ctx for a whole fetch says whom to trust and who we are; one sn_tls is one
 * connection. It moves bytes through two functions like recv and send, so it needs no
 * socket, and can sit on another sn_tls: TLS with a proxy, and TLS with a host inside.
 *
 *     e = sn_tls_ctx_new(&(sn_tls_opts){.min = 12}, &ctx, why);
 *     e = sn_tls_new(ctx, &(sn_tls_want){.host = host, .ends = &ends, …}, &t);
 *     while ((got = sn_tls_greet(t)) == SN_TLS_WAIT)
 *         wait_for_an_event();                      and tell it: sn_tls_event
 *     n = sn_tls_read(t, buf, room);                0: the peer's close_notify
 *     sn_tls_free(t);
 *
 * TLS 1.2 or 1.3, ALPN http/1.1, the name or the address of the host checked against the
 * certificate, no renegotiation, no compression, no early data. An end without
 * close_notify is not an orderly one: ECONNRESET. What hosts give for short handshakes
 * is kept in sn_tickets, which belong to one loop.
 *
 * Time    the wall's, by OpenSSL, for certificates; tickets by the loop's.
 * Memory  OpenSSL's own, not through base/alloc; docs/user/tls.md has figures. The store
 * of the system is opened with the first connection, and read where it is needed. Threads
 * ctx: any thread. The rest: one owner.
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
    const char *cacert;          /* PEM, instead of the system's store; NULL */
    const char *cert, *cert_key; /* PEM; NULL: none; no key: it is in `cert`, too */
    uint8_t min;                 /* 12 or 13 */
} sn_tls_opts;

/* Files are read here, so that a bad one is told before anything is asked. CONFIG:
 * the diag. NOMEM. */
SEINE_MUST_CHECK seine_err sn_tls_ctx_new(const sn_tls_opts *opts, sn_tls_ctx **out_ctx,
                                          seine_diag *diag);
void sn_tls_ctx_free(sn_tls_ctx *ctx); /* NULL is fine; all connections are gone */

/* How bytes reach the other side: like recv and send, -1 with errno. *out_dry: there is
 * no more for now, and an event will tell when there is. */
typedef struct sn_tls_ends {
    ssize_t (*receive)(void *self, char *into, size_t room, bool *out_dry);
    ssize_t (*send)(void *self, const char *bytes, size_t n);
} sn_tls_ends;

typedef struct sn_tls_want {
    sn_str host; /* a name, or an address without brackets; ≤ 255 bytes */
    uint16_t port;
    bool insecure;           /* nobody looks at the certificate */
    bool identify;           /* show ours when it is asked for */
    const sn_tls_ends *ends; /* static … */
    void *self;
    sn_tls *below;         /* … or another connection, which stays the caller's */
    sn_tickets *tickets;   /* NULL: every handshake is a long one */
    const seine_time *now; /* of the loop; for tickets */
} sn_tls_want;

/* Nothing is sent yet. NOMEM; DNS_BAD_NAME: a host that cannot be asked for. */
SEINE_MUST_CHECK seine_err sn_tls_new(sn_tls_ctx *ctx, const sn_tls_want *want,
                                      sn_tls **out_tls);
/* Says close_notify if the handshake is done and `in_order`; never waits. NULL is
 * fine. */
void sn_tls_free(sn_tls *t, bool in_order);

typedef enum sn_tls_got { SN_TLS_DONE, SN_TLS_WAIT, SN_TLS_FAILED } sn_tls_got;

/* The handshake, one step. FAILED: sn_tls_err. */
sn_tls_got sn_tls_greet(sn_tls *t);

/* Bytes may be there; `gone`: the other side has hung up, no event will follow. */
void sn_tls_event(sn_tls *t, bool gone);

/* As much as there is, like recv: -1 with EAGAIN; 0 is the peer's close_notify; any
 * other end is -1 with ECONNRESET, or EPROTO and then sn_tls_err says TLS_ERROR. */
ssize_t sn_tls_read(sn_tls *t, char *into, size_t room);
/* Like send. After EAGAIN: the same bytes again, or more. */
ssize_t sn_tls_write(sn_tls *t, const char *bytes, size_t n);

/* After a read: the end has come, and the next read tells it; a turn's share was used
 * up, there may be more; it waits for room to send. */
bool sn_tls_has_ended(const sn_tls *t);
bool sn_tls_has_more(const sn_tls *t);
bool sn_tls_wants_out(const sn_tls *t);

/* Why the handshake, or the connection, failed: TLS_CERT_EXPIRED, TLS_HOST_MISMATCH,
 * TLS_UNTRUSTED, TLS_ERROR, CONN_RESET, NOMEM; OK. The text is for people. */
seine_err sn_tls_err(const sn_tls *t);
const char *sn_tls_text(const sn_tls *t);

/* From DONE on. */
const seine_tls_facts *sn_tls_facts_of(const sn_tls *t);
bool sn_tls_is_resumed(const sn_tls *t);

#endif
