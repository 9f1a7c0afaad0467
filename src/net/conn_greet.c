/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"
#include "net/conn_parts.h"

typedef enum told {
    TOLD_NEXT, /* this is done, or not needed */
    TOLD_WAIT, /* the peer has the word: an event will follow */
    TOLD_END   /* the exchange has ended, the connection is gone */
} told;

/* A step is called when it begins and with every event until it is done; the phase of
 * the exchange tells which of them it is. All bytes pass through sn_conn_pull and
 * sn_conn_put. */

/* Until the proxy has opened the way: SEINE_PHASE_PROXY, limit time.tcp. */
static told
tunnel(sn_conn *c)
{
    (void)c;
    return TOLD_NEXT;
}

/* Until the host is who it should be: SEINE_PHASE_TLS, limit time.tls. */
static told
secure(sn_conn *c)
{
    (void)c;
    return TOLD_NEXT;
}

static told (*const steps[])(sn_conn *c) = {tunnel, secure};

static void
ask(sn_conn *c)
{
    sn_exchange *x = c->x;
    sn_str text;
    seine_err e = sn_exchange_text(x, &text);

    if (e == SEINE_OK)
        sn_conn_ask(c, x, text);
    else
        sn_exchange_end(x, e);
}

void
sn_conn_greet(sn_conn *c)
{
    for (; c->step < sizeof steps / sizeof *steps; c->step++)
        if (steps[c->step](c) != TOLD_NEXT)
            return;
    ask(c);
}

void
sn_conn_meet(sn_conn *c, sn_exchange *x)
{
    x->conn = c;
    c->x = x;
    c->state = SN_CONN_GREETING;
    c->step = 0;
    if (c->of->loop.now >= x->request->deadline) /* or its timer fires in this turn */
        sn_exchange_end(x, SEINE_E_TIMEOUT);
    else
        sn_conn_greet(c);
}
