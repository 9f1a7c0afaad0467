/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_tickets.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "seine/secret.h"

typedef struct sn_ticket_host {
    struct sn_ticket_host *newer, *older; /* by their last ticket */
    sn_ticket *newest;
    uint32_t n;
    size_t key_len;
    char key[];
} host;

void
sn_tickets_init(sn_tickets *s, seine_held *held)
{
    *s = (sn_tickets){.held = held};
    sn_map_init(&s->hosts, SN_TICKETS_KEYS);
}

static void *
take_memory(sn_tickets *s, size_t n)
{
    if (s->held && seine_budget_grow(s->held, SEINE_RES_MEMORY, n) != SEINE_OK)
        return NULL;
    void *p = sn_alloc(n);
    if (!p && s->held)
        seine_budget_shrink(s->held, SEINE_RES_MEMORY, n);
    return p;
}

static void
give_memory(sn_tickets *s, void *p, size_t n)
{
    seine_wipe(p, n); /* a ticket has the keys of its session */
    sn_free(p);
    if (s->held)
        seine_budget_shrink(s->held, SEINE_RES_MEMORY, n);
}

static void
unlink_host(sn_tickets *s, host *h)
{
    *(h->newer ? &h->newer->older : &s->newest) = h->older;
    *(h->older ? &h->older->newer : &s->oldest) = h->newer;
    s->n--;
}

static void
link_host(sn_tickets *s, host *h)
{
    h->newer = NULL;
    h->older = s->newest;
    *(h->older ? &h->older->newer : &s->oldest) = h;
    s->newest = h;
    s->n++;
}

static void
drop_host(sn_tickets *s, host *h)
{
    assert(!h->newest);
    sn_map_take(&s->hosts, (sn_str){h->key, h->key_len});
    unlink_host(s, h);
    give_memory(s, h, sizeof *h + h->key_len);
}

static void
drop_ticket(sn_tickets *s, sn_ticket *t)
{
    sn_ticket **at = &t->of->newest;

    while (*at != t)
        at = &(*at)->older;
    *at = t->older;
    t->of->n--;
    give_memory(s, t, sizeof *t + t->len);
}

static void
drop_all(sn_tickets *s, host *h)
{
    while (h->newest)
        drop_ticket(s, h->newest);
    drop_host(s, h);
}

void
sn_tickets_fini(sn_tickets *s)
{
    while (s->oldest)
        drop_all(s, s->oldest);
    sn_map_fini(&s->hosts);
    *s = (sn_tickets){0};
}

static host *
make_host(sn_tickets *s, sn_str key)
{
    if (s->n == SN_TICKETS_KEYS)
        drop_all(s, s->oldest);
    host *h = take_memory(s, sizeof *h + key.len);
    if (!h)
        return NULL;
    *h = (host){.key_len = key.len};
    memcpy(h->key, key.ptr, key.len);
    if (sn_map_add(&s->hosts, (sn_str){h->key, key.len}, h) != SEINE_OK) {
        give_memory(s, h, sizeof *h + key.len);
        return NULL;
    }
    link_host(s, h);
    return h;
}

static void
drop_oldest(sn_tickets *s, host *h)
{
    sn_ticket *t = h->newest;

    while (t->older)
        t = t->older;
    drop_ticket(s, t);
}

sn_ticket *
sn_tickets_add(sn_tickets *s, sn_str key, size_t len, bool once, seine_time until,
               seine_time now)
{
    if (len > SN_TICKETS_BYTES || until <= now)
        return NULL;
    host *h = sn_map_get(&s->hosts, key);
    if (!h)
        h = make_host(s, key);
    if (!h)
        return NULL;
    if (h->n == SN_TICKETS_KEY)
        drop_oldest(s, h);
    sn_ticket *t = take_memory(s, sizeof *t + len);
    if (!t) {
        if (h->n == 0)
            drop_host(s, h);
        return NULL;
    }
    *t = (sn_ticket){
        .older = h->newest, .of = h, .until = until, .len = len, .once = once};
    h->newest = t;
    h->n++;
    unlink_host(s, h);
    link_host(s, h);
    return t;
}

sn_ticket *
sn_tickets_find(sn_tickets *s, sn_str key, seine_time now)
{
    host *h = sn_map_get(&s->hosts, key);

    if (!h)
        return NULL;
    for (sn_ticket *t = h->newest, *older; t; t = older) {
        older = t->older;
        if (t->until > now)
            return t;
        drop_ticket(s, t);
    }
    drop_host(s, h);
    return NULL;
}

void
sn_tickets_used(sn_tickets *s, sn_ticket *t)
{
    host *h = t->of;

    if (!t->once)
        return;
    drop_ticket(s, t);
    if (h->n == 0)
        drop_host(s, h);
}

void
sn_tickets_forget(sn_tickets *s, sn_str key)
{
    host *h = sn_map_get(&s->hosts, key);

    if (h)
        drop_all(s, h);
}
