/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ticket.h - a link that works once: how a browser saves what an API call has made.
 *
 * A download cannot carry a token in a header, and a token in a URL would stand in logs.
 * So the call that orders a download gets a ticket of 256 bits instead. Whoever opens
 * `/dl/TICKET` within 60 s has it, once, unless the token that ordered it was revoked.
 *
 *     char url[SN_TICKET_URL];
 *     sn_ticket_opts t = {.serve = send_export, .drop = free_export, .arg = export};
 *     e = sn_ticket_new(call, &t, url);             "/dl/…"
 *
 * `serve` answers the call that shows the ticket, with sn_call_stream as a rule; from
 * then on `arg` is its own. `drop` frees `arg` if nobody comes.
 *
 * Time    the loop's; tickets end after 60 s.
 * Memory  at most 64 tickets.
 * Threads the console's alone.
 */
#ifndef SN_TICKET_H
#define SN_TICKET_H

#include "console/console.h"

#define SN_TICKET_URL 52 /* bytes, the terminator included */

typedef struct sn_ticket_opts {
    void (*serve)(sn_call *call, void *arg);
    void (*drop)(void *arg);
    void *arg;
} sn_ticket_opts;

/* The call says who ordered it; call->user of the download is that user. FULL: too many
 * are waiting, and `arg` stays the caller's. */
SEINE_MUST_CHECK seine_err sn_ticket_new(const sn_call *call, const sn_ticket_opts *t,
                                         char out_url[SN_TICKET_URL]);

#endif
