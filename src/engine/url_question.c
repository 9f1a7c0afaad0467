/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/url_question.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "engine/fetch.h"
#include "engine/run_parts.h"
#include "seine/url.h"

struct sn_url_question {
    sn_errand base; /* first */
    _Atomic int owners;
    _Atomic bool is_answered;
    sn_url_answer answer;
    size_t len;
    char url[];
};

void
sn_url_question_drop(sn_url_question *q)
{
    if (q && atomic_fetch_sub_explicit(&q->owners, 1, memory_order_acq_rel) == 1)
        sn_free(q);
}

static void
look(const sn_run *r, sn_url_question *q, seine_time now)
{
    char mem[SEINE_URL_ROOM], name[320];
    sn_url_answer *a = &q->answer;
    uint32_t host;
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, q->url, q->len, NULL) != SEINE_OK)
        return;
    size_t n = seine_url_authority(&u, name, sizeof name);
    if (n >= sizeof name || !sn_scheduler_find(r->scheduler, (sn_str){name, n}, &host) ||
        !sn_host_row_of(r->scheduler, r->frontier, host, now, &a->row))
        return;
    a->is_known = true;
    a->now = now;
    if (r->frontier)
        a->robots =
            sn_frontier_robots_say(r->frontier, host, seine_url_target(&u), a->rule);
}

static void
answer(sn_run *r, sn_errand *own, seine_time now)
{
    sn_url_question *q = (sn_url_question *)own;

    look(r, q, now);
    atomic_store_explicit(&q->is_answered, true, memory_order_release);
    sn_url_question_drop(q);
}

seine_err
sn_url_question_ask(seine_fetch *f, const char *url, size_t len, sn_url_question **out_q)
{
    char mem[SEINE_URL_ROOM], name[320];
    seine_url u;
    uint32_t n = 0;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, len, NULL) != SEINE_OK ||
        seine_url_authority(&u, name, sizeof name) == 0)
        return SEINE_E_BAD_URL;
    sn_run *const *runs = sn_fetch_runs(f, &n);
    sn_url_question *q = sn_zalloc(sizeof *q + len);
    if (!q)
        return SEINE_E_NOMEM;
    q->base.run = answer;
    q->len = len;
    memcpy(q->url, url, len);
    atomic_init(&q->owners, 2);
    *out_q = q;
    sn_run_errand(runs[sn_shared_state_shard(sn_fetch_shared(f), &u, n)], &q->base);
    return SEINE_OK;
}

bool
sn_url_question_get(const sn_url_question *q, sn_url_answer *out)
{
    if (!atomic_load_explicit(&q->is_answered, memory_order_acquire))
        return false;
    *out = q->answer;
    return true;
}
