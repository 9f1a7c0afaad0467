/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_tickets.h - what hosts gave us so that the next handshake is a short one.
 *
 * Four tickets of one key at most, 4,096 keys; the oldest goes. A key is host, port and
 * policy, so that nothing is shared between policies; what a ticket is, is the business
 * of whoever asks (net/tls.c). A ticket of TLS 1.3 is used once: taking it removes it.
 *
 *     t = sn_tickets_add(&s, key, len, true, until, now);     NULL: it is not kept
 *     fill(t->bytes);
 *     t = sn_tickets_find(&s, key, now);                      the newest that is good
 *     use(t->bytes, t->len);
 *     sn_tickets_used(&s, t);
 *     sn_tickets_forget(&s, key);                             the host refused one
 *
 * Time    is passed in.
 * Memory  reserved from the budget; what does not fit is not kept.
 * Threads one owner.
 */
#ifndef SN_TLS_TICKETS_H
#define SN_TLS_TICKETS_H

#include "base/map.h"
#include "seine/budget.h"
#include "seine/time.h"

enum {
    SN_TICKETS_KEYS = 4096,
    SN_TICKETS_KEY = 4,         /* tickets of one */
    SN_TICKETS_BYTES = 16 << 10 /* of one; larger ones are not kept */
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

/* `held` is borrowed and may be NULL: no budget. Takes no memory. */
void sn_tickets_init(sn_tickets *s, seine_held *held);
void sn_tickets_fini(sn_tickets *s);

/* Room for one more, to be filled at once; NULL: no memory, too large, or its time is
 * over already. */
sn_ticket *sn_tickets_add(sn_tickets *s, sn_str key, size_t len, bool once,
                          seine_time until, seine_time now);

/* The newest whose time is not over; NULL: none. Valid until the next call. */
sn_ticket *sn_tickets_find(sn_tickets *s, sn_str key, seine_time now);

/* It was offered: gone if it may be used once. */
void sn_tickets_used(sn_tickets *s, sn_ticket *t);

/* All of that key. */
void sn_tickets_forget(sn_tickets *s, sn_str key);

#endif
