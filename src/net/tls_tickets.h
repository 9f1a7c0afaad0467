/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_tickets.h - TLS session tickets, which shorten the next handshake.
 *
 * The store holds at most four tickets per key and 4,096 keys; the oldest is dropped. A
 * key is host, port and policy, so that policies share nothing. The content of a ticket
 * is opaque here; net/tls.c knows it. A ticket of TLS 1.3 is used once, then removed.
 *
 *     t = sn_tickets_add(&s, key, len, true, until, now);     NULL: it is not kept
 *     fill(t->bytes);
 *     t = sn_tickets_find(&s, key, now);                      the newest that is good
 *     use(t->bytes, t->len);
 *     sn_tickets_used(&s, t);
 *     sn_tickets_forget(&s, key);                             the host refused one
 *
 * Time    is passed in.
 * Memory  reserved from the budget; tickets that do not fit are not kept.
 * Threads one owner.
 */
#ifndef SN_TLS_TICKETS_H
#define SN_TLS_TICKETS_H

#include "base/map.h"
#include "seine/budget.h"
#include "seine/time.h"

enum {
    SN_TICKETS_KEYS = 4096,
    SN_TICKETS_KEY = 4,         /* tickets per key */
    SN_TICKETS_BYTES = 16 << 10 /* longest ticket that is kept */
};

typedef struct sn_ticket {
    struct sn_ticket *older;
    struct sn_ticket_host *of;
    seine_time until;
    size_t len;
    bool once;
    char bytes[];
} sn_ticket;

typedef struct sn_tickets {
    sn_map hosts;
    struct sn_ticket_host *newest, *oldest;
    uint32_t n; /* hosts */
    seine_held *held;
} sn_tickets;

/* `held` is borrowed; NULL: no budget. Allocates nothing. */
void sn_tickets_init(sn_tickets *s, seine_held *held);
void sn_tickets_fini(sn_tickets *s);

/* Adds an empty ticket, to be filled at once; NULL: no memory, too large, or expired. */
sn_ticket *sn_tickets_add(sn_tickets *s, sn_str key, size_t len, bool once,
                          seine_time until, seine_time now);

/* Returns the newest ticket that is not expired, or NULL. Valid until the next call. */
sn_ticket *sn_tickets_find(sn_tickets *s, sn_str key, seine_time now);

/* The ticket was offered: removes it if it is for single use. */
void sn_tickets_used(sn_tickets *s, sn_ticket *t);

/* Removes all tickets of that key. */
void sn_tickets_forget(sn_tickets *s, sn_str key);

#endif
