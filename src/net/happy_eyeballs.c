/* SPDX-License-Identifier: Apache-2.0 */
#include "net/happy_eyeballs.h"

#include "base/time.h"

static void
add_address(sn_happy_eyeballs *r, const sn_ip *list, uint8_t n, uint8_t i)
{
    if (i < n)
        r->list[r->n++] = list[i];
}

void
sn_happy_eyeballs_begin(sn_happy_eyeballs *r, const sn_dns_answer *answer, uint8_t first)
{
    *r = (sn_happy_eyeballs){.why = SEINE_E_DNS_NXDOMAIN};
    for (uint8_t i = 0; i < SN_HAPPY_EYEBALLS_FAMILY; i++) {
        if (first == 4)
            add_address(r, answer->v4, answer->n4, i);
        add_address(r, answer->v6, answer->n6, i);
        if (first != 4)
            add_address(r, answer->v4, answer->n4, i);
    }
}

const sn_ip *
sn_happy_eyeballs_next(sn_happy_eyeballs *r, seine_time now)
{
    if (r->tried == r->n || now < sn_happy_eyeballs_when(r))
        return NULL;
    r->next = sn_time_add(now, SN_HAPPY_EYEBALLS_EVERY);
    r->running++;
    return &r->list[r->tried++];
}

static int
rank(seine_err e)
{
    switch (e) {
    case SEINE_E_CONNECT_REFUSED:
        return 6;
    case SEINE_E_CONNECT_UNREACHABLE:
        return 5;
    case SEINE_E_CONNECT_TIMEOUT:
        return 4;
    case SEINE_E_DNS_NXDOMAIN:
        return 0;
    case SEINE_E_BLOCKED_ADDRESS:
        return 1;
    default: /* no_ports, no_files, nomem */
        return 2;
    }
}

void
sn_happy_eyeballs_lost(sn_happy_eyeballs *r, seine_err why, seine_time now)
{
    r->running--;
    r->next = now;
    if (rank(why) > rank(r->why))
        r->why = why;
}

seine_time
sn_happy_eyeballs_when(const sn_happy_eyeballs *r)
{
    if (r->tried == r->n)
        return SEINE_NEVER;
    return r->tried == 0 ? INT64_MIN : r->next;
}

bool
sn_happy_eyeballs_is_over(const sn_happy_eyeballs *r)
{
    return r->running == 0 && r->tried == r->n;
}

seine_err
sn_happy_eyeballs_why(const sn_happy_eyeballs *r)
{
    return r->why;
}
