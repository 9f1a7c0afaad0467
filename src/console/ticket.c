/* SPDX-License-Identifier: Apache-2.0 */
#include "console/ticket.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/time.h"
#include "console/access.h"
#include "console/token.h"

enum { MOST = 64, KEY = 43 };
#define LIFE SEINE_SECS(60)

_Static_assert(SN_TICKET_URL > 4 + KEY, "/dl/ and the key");

typedef struct ticket {
    uint8_t hash[32]; /* of the key, which nobody keeps */
    seine_time until; /* 0: free */
    sn_user user;
    sn_ticket_opts opts;
} ticket;

typedef struct sn_downloads {
    ticket all[MOST];
    sn_timer timer;
} sn_downloads;

static sn_downloads *
of_console(const seine_console *c)
{
    return c->part[SN_PART_DOWNLOADS];
}

static void
sweep(sn_downloads *t, seine_time now)
{
    for (size_t i = 0; i < MOST; i++)
        if (t->all[i].until && t->all[i].until <= now) {
            t->all[i].opts.drop(t->all[i].opts.arg);
            t->all[i].until = 0;
        }
}

static void
on_timer(sn_timer *timer, seine_time now)
{
    sweep((sn_downloads *)(void *)((char *)timer - offsetof(sn_downloads, timer)), now);
}

seine_err
sn_ticket_new(const sn_call *call, const sn_ticket_opts *t, char out_url[SN_TICKET_URL])
{
    seine_console *c = call->console;
    sn_downloads *of = of_console(c);
    ticket *free_one = NULL;
    char key[44];

    sweep(of, c->loop.now);
    for (size_t i = 0; i < MOST && !free_one; i++)
        if (!of->all[i].until)
            free_one = &of->all[i];
    if (!free_one)
        return SEINE_E_FULL;
    sn_token_draw_key(key);
    seine_err e = sn_sha256(key, KEY, free_one->hash);
    if (e != SEINE_OK)
        return e;
    free_one->until = sn_time_add(c->loop.now, LIFE);
    free_one->user = call->user;
    free_one->opts = *t;
    sn_timer_set(&c->loop, &of->timer, free_one->until);
    snprintf(out_url, SN_TICKET_URL, "/dl/%s", key);
    return SEINE_OK;
}

void
sn_api_download(sn_call *call)
{
    sn_downloads *of = of_console(call->console);
    uint8_t hash[32];

    if (call->param[0].len != KEY ||
        sn_sha256(call->param[0].ptr, KEY, hash) != SEINE_OK) {
        sn_call_fail(call, SN_API_NOT_FOUND, "there is no such download", NULL);
        return;
    }
    sweep(of, call->console->loop.now);
    for (size_t i = 0; i < MOST; i++) {
        ticket *t = &of->all[i];

        if (!t->until || !sn_token_equal(hash, t->hash))
            continue;
        t->until = 0; /* once */
        if (!sn_access_is_current(call->console, &t->user)) {
            t->opts.drop(t->opts.arg);
            break;
        }
        call->user = t->user;
        t->opts.serve(call, t->opts.arg);
        return;
    }
    sn_call_fail(call, SN_API_NOT_FOUND, "this download is over, or was fetched already",
                 "order it again");
}

seine_err
sn_downloads_start(seine_console *c, seine_diag *d)
{
    sn_downloads *t = sn_zalloc(sizeof *t);

    (void)d;
    if (!t)
        return SEINE_E_NOMEM;
    t->timer.fire = on_timer;
    c->part[SN_PART_DOWNLOADS] = t;
    return sn_timer_reserve(&c->loop);
}

void
sn_downloads_stop(seine_console *c)
{
    (void)c;
}

bool
sn_downloads_is_busy(seine_console *c)
{
    (void)c;
    return false;
}

void
sn_downloads_fini(seine_console *c)
{
    sn_downloads *t = of_console(c);

    if (!t)
        return;
    sweep(t, SEINE_NEVER);
    sn_timer_forget(&c->loop, &t->timer);
    sn_free(t);
    c->part[SN_PART_DOWNLOADS] = NULL;
}
