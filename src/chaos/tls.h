/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - hostile TLS: an authority of its own, a certificate for any name.
 *
 * The authority is made at start and lives in memory. A client that sends a name gets a
 * certificate for it, made then and kept; another client gets one for the address that it
 * connected to. Labels of the name do harm, wherever they stand in it:
 *
 *     expired future       outside of its time
 *     wronghost            for another name
 *     selfsigned           by itself
 *     untrusted            by an authority nobody knows
 *     fresh                another one at every connection
 *     client               asks for the client's certificate, and insists
 *     tls10 tls12          this version alone
 *     noresume             no ticket, no resumption
 *     stall                silence behind the client's hello
 *     garbage alert fin reset   noise, an alert, FIN, RST in its place
 *
 * A line is one connection. It reads and writes through two functions, so it needs no
 * socket and can run inside of another line:
 *
 *     seine_err e = snc_tls_line_new(tls, &ends, SN_STR("127.0.0.1"), wall, &line);
 *     while ((got = snc_tls_greet(line)) == SNC_TLS_READ)
 *         wait_until_readable();
 *     n = snc_tls_read(line, buf, sizeof buf);
 *
 * Keys are random whatever the seed is, because somebody may trust this authority.
 *
 * Time    wall time is passed in, for the dates of certificates.
 * Memory  keeps 256 certificates; about 8 KiB a line while it idles, all of it OpenSSL's.
 * Threads one owner.
 */
#ifndef SNC_TLS_H
#define SNC_TLS_H

#include <sys/types.h>

#include "base/str.h"

#define SNC_TLS_CERTS 256

typedef struct snc_tls snc_tls;
typedef struct snc_tls_line snc_tls_line;

/* How a line reaches the other side: like recv and send, -1 with errno. */
typedef struct snc_tls_ends {
    ssize_t (*receive)(void *self, void *out, size_t room);
    ssize_t (*send)(void *self, const void *bytes, size_t n);
    void *self;
} snc_tls_ends;

typedef enum snc_tls_got {
    SNC_TLS_DONE,    /* the handshake is over */
    SNC_TLS_READ,    /* waits for the client */
    SNC_TLS_WRITE,   /* waits until it can send */
    SNC_TLS_FAILED,  /* an alert may have gone out */
    SNC_TLS_STALL,   /* a label asked for it, as for those below */
    SNC_TLS_GARBAGE, /* the caller sends the noise */
    SNC_TLS_FIN,
    SNC_TLS_RST
} snc_tls_got;

/* What is known about a line; texts live as long as the line. */
typedef struct snc_tls_facts {
    sn_str name;         /* from the client, lower case; without one the address */
    bool hello;          /* the client's hello has arrived */
    bool done, resumed;  /* the handshake */
    const char *version; /* "TLSv1.3" */
    const char *client;  /* the subject of its certificate; NULL: none */
} snc_tls_facts;

SEINE_MUST_CHECK seine_err snc_tls_new(int64_t wall, snc_tls **out_tls);
void snc_tls_free(snc_tls *t); /* NULL is fine; all lines must be freed before */

/* The authority's certificate, PEM; borrowed. */
const char *snc_tls_ca(const snc_tls *t);

/* `address` is the one the client connected to, for a client that sends no name. */
SEINE_MUST_CHECK seine_err snc_tls_line_new(snc_tls *t, const snc_tls_ends *ends,
                                            sn_str address, int64_t wall,
                                            snc_tls_line **out_line);
void snc_tls_line_free(snc_tls_line *l); /* NULL is fine; sends nothing */

snc_tls_got snc_tls_greet(snc_tls_line *l);
const snc_tls_facts *snc_tls_facts_of(const snc_tls_line *l);

/* Like recv and send: -1 with EAGAIN when it has to wait; 0 is the client's close_notify.
 * The caller must repeat a write with the same bytes, or more. */
ssize_t snc_tls_read(snc_tls_line *l, void *out, size_t room);
ssize_t snc_tls_write(snc_tls_line *l, const void *bytes, size_t n);

/* Sends close_notify, if there was a handshake. False: it has to wait; call again. */
bool snc_tls_close(snc_tls_line *l);

#endif
