/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_channel.h - c-ares: who sends questions to name servers and reads their answers.
 *
 * A datagram is believed that comes from the server, to the port and with the id of a
 * question. The id has 16 bits, so the port must not stay: c-ares keeps its socket while
 * any question is open, and a channel of c-ares is one socket per server. A channel
 * therefore gets eight questions (A and AAAA of four names), then a new one is made, with
 * another port; the old one is closed when it has all its answers. At most 16 are open;
 * at that bound the one that waits for the fewest answers gets more.
 *
 *     e = sn_dns_channels_init(&s, "127.0.0.1:53", timeout, diag);
 *     sn_dns_channels_ask(&s, "e.example", 4, &query);      query.done will be called
 *     sn_dns_channels_tick(&s);                             every 50 ms: asks again
 *     sn_dns_channels_sweep(&s);                            outside of every callback
 *
 * Time    c-ares reads the clock for its retransmissions.
 * Memory  c-ares's own, 16 times at most.
 * Threads one owner: the shard's loop.
 */
#ifndef SN_DNS_CHANNEL_H
#define SN_DNS_CHANNEL_H

#include "net/dns.h"

enum { SN_DNS_BAD = 64 }; /* malformed responses remembered */

struct sn_dns_channel;

/* What the answer to one question says. */
typedef struct sn_dns_found {
    seine_err e;
    bool nowhere;        /* NXDOMAIN: no such name in any family */
    bool is_empty;       /* it has no address of that family */
    int64_t ttl;         /* seconds; INT64_MAX: none */
    sn_dns_answer names; /* the addresses */
} sn_dns_found;

/* One question, part of its owner, who sets `done`. It may be called from inside ask, and
 * must ask nothing itself. */
typedef struct sn_dns_query {
    void (*done)(struct sn_dns_query *q, const sn_dns_found *found);
    struct sn_dns_channel *on;
} sn_dns_query;

typedef struct sn_dns_channels {
    sn_loop *loop;
    struct sn_dns_channel *newest;
    unsigned n;
    seine_err starved;        /* why the last socket could not be opened, or OK */
    uint32_t n_bad;           /* malformed responses so far … */
    uint64_t bad[SN_DNS_BAD]; /* … and the names the last are about; 0: unreadable */
    void (*after)(void *arg); /* something came, and its queries were told */
    void *arg;
} sn_dns_channels;

/* `s` is zeroed but for loop, after and arg. On failure fini may be called. Three tries
 * of a question take together `timeout`. */
SEINE_MUST_CHECK seine_err sn_dns_channels_init(sn_dns_channels *s, const char *server,
                                                seine_span timeout, seine_diag *diag);
/* Ends every query first. */
void sn_dns_channels_fini(sn_dns_channels *s);

/* Asks for the addresses of a family, 4 or 6. */
void sn_dns_channels_ask(sn_dns_channels *s, const char *name, uint8_t family,
                         sn_dns_query *q);

void sn_dns_channels_tick(sn_dns_channels *s);

/* Closes the channels that are used up and wait for nothing. */
void sn_dns_channels_sweep(sn_dns_channels *s);

/* Has a malformed response come since n_bad was `from`, about that name? Or, unless
 * `by_name`, about one that cannot be read. */
bool sn_dns_channels_saw_bad(const sn_dns_channels *s, uint32_t from, sn_str name,
                             bool by_name);

#endif
