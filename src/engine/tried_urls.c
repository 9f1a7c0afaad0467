/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/tried_urls.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/time.h"

void
sn_tried_urls_fini(sn_tried_urls *t)
{
    sn_free(t->all);
    *t = (sn_tried_urls){0};
}

seine_err
sn_tried_urls_add(sn_tried_urls *t, const sn_tried_url *u)
{
    if (t->n == t->room) {
        size_t room = t->room ? t->room * 2 : 64;
        sn_tried_url *all = sn_realloc(t->all, room * sizeof *all);

        if (!all)
            return SEINE_E_NOMEM;
        t->all = all;
        t->room = room;
    }
    t->all[t->n++] = *u;
    return SEINE_OK;
}

static int
by_number(const void *a, const void *b)
{
    const sn_tried_url *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

void
sn_tried_urls_sort(sn_tried_urls *t)
{
    if (t->n > 1)
        qsort(t->all, t->n, sizeof *t->all, by_number);
}

void
sn_tried_urls_begin(const sn_tried_urls *t, uint64_t number, seine_retry *retry,
                    seine_time now)
{
    const sn_tried_url key = {.number = number};
    const sn_tried_url *u =
        t->n > 0 ? bsearch(&key, t->all, t->n, sizeof key, by_number) : NULL;
    uint32_t most = retry->opts->max_attempts;

    if (!u || most < 2)
        return;
    retry->attempts = u->attempts < most ? u->attempts : most - 1;
    retry->first_at = now - SEINE_MS(u->elapsed_ms);
    retry->prev = retry->opts->base;
}
