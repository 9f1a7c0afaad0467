/* SPDX-License-Identifier: Apache-2.0 */
#include "console/run_hosts.h"

#include <string.h>

#include "base/alloc.h"

#define KEPT     SEINE_SECS(5) /* after the last time that somebody wanted a look */
#define PATIENCE SEINE_SECS(5) /* with a shard that does not answer */
#define EVERY    SEINE_SECS(1)

_Static_assert(sizeof(sn_run_look) <= 17 << 10, "run_hosts.h says 16 KiB");

static const seine_fetch_look usual = {.is_all = true};

void
sn_run_hosts_fini(sn_run_hosts *h)
{
    for (sn_run_look *l = h->first, *next; l; l = next) {
        next = l->next;
        sn_free(l);
    }
    *h = (sn_run_hosts){.n = 0};
}

static sn_run_look *
find(const sn_run_hosts *h, const seine_fetch_look *how)
{
    sn_run_look *l = h->first;

    how = how ? how : &usual;
    while (l && !(l->how.sort == how->sort && l->how.is_all == how->is_all &&
                  strcmp(l->how.match, how->match) == 0))
        l = l->next;
    return l;
}

sn_run_look *
sn_run_hosts_want(sn_run_hosts *h, const seine_fetch_look *how, seine_time now)
{
    sn_run_look *l = find(h, how);

    if (!l && h->n < SN_RUN_LOOKS && (l = sn_zalloc(sizeof *l))) {
        l->how = how ? *how : usual;
        l->next = h->first;
        h->first = l;
        h->n++;
    }
    if (l)
        l->wanted = now + KEPT;
    return l;
}

const sn_run_look *
sn_run_hosts_find(const sn_run_hosts *h, const seine_fetch_look *how)
{
    const sn_run_look *l = find(h, how);

    return l && l->at > 0 ? l : NULL;
}

/* The look that was not answered for longest, if it is due. */
static sn_run_look *
drop_unwanted(sn_run_hosts *h, seine_time now)
{
    sn_run_look *next = NULL;

    for (sn_run_look **at = &h->first; *at;) {
        sn_run_look *l = *at;

        if (l->wanted < now) {
            *at = l->next;
            h->n--;
            h->asked = h->asked == l ? NULL : h->asked;
            sn_free(l);
            continue;
        }
        if (!next || l->at < next->at)
            next = l;
        at = &l->next;
    }
    return next && (next->at == 0 || now - next->at >= EVERY) ? next : NULL;
}

static void
take_answer(sn_run_hosts *h, const seine_fetch *f, seine_time now)
{
    static const size_t room = SN_RUN_HOSTS;
    sn_host_row unwanted[1];
    size_t n = 0;

    if (h->ticket == 0)
        return;
    if (sn_fetch_rows(f, h->ticket, h->asked ? h->asked->rows : unwanted,
                      h->asked ? room : 0, &n)) {
        if (h->asked) {
            h->asked->n = n;
            h->asked->at = now;
        }
        h->ticket = 0;
    } else if (now - h->asked_at > PATIENCE) {
        h->ticket = 0;
    }
}

void
sn_run_hosts_ask(sn_run_hosts *h, seine_fetch *f, seine_time now)
{
    take_answer(h, f, now);
    sn_run_look *next = drop_unwanted(h, now);
    if (h->ticket > 0 || !next)
        return;
    h->ticket = seine_fetch_waits_look(f, &next->how);
    h->asked = next;
    h->asked_at = now;
}
