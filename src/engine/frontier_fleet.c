/* SPDX-License-Identifier: Apache-2.0 */
/* A host in a fleet: its partition may go to another worker, which has to know when the
 * host may be asked. So no page is asked for before the row of the host is in Redis, and
 * nothing within the first interval of a tenure. */
#include <string.h>

#include "base/time.h"
#include "engine/frontier_parts.h"

_Static_assert((SN_FLEET_AT_END & (SN_PUT_REASON | SN_PUT_NOFOLLOW)) == 0, "one byte");
_Static_assert(SEINE_SKIP_ROOM <= SN_PUT_REASON + 1, "in five bits");

/* How the row of a host stands in this tenure. */
enum { ROW_NONE, ROW_ASKED, ROW_KEPT };

/* Another owner may have asked the host just before this tenure began. */
static bool
is_too_early(sn_frontier *f, uint32_t host, uint32_t tenure, seine_time now)
{
    seine_time at = sn_time_add(sn_fleet_held_since(f->shared->fleet, tenure),
                                f->shared->tenure_wait);
    sn_host *h = &f->host_table->all[host];

    if (at <= now || sn_hosts_is_mine(f->host_table, h))
        return false;
    h->next = sn_time_max(h->next, at);
    return true;
}

sn_standing
sn_frontier_enter_tenure(sn_frontier *f, uint32_t host, seine_time now)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    uint32_t tenure =
        sn_fleet_tenure_of(f->shared->fleet, sn_hosts_name(f->host_table, host));

    if (tenure == 0)
        return SN_STANDING_LOST;
    if (tenure != x->tenure)
        x->row = ROW_NONE;
    x->tenure = tenure;
    return is_too_early(f, host, tenure, now) ? SN_STANDING_NEW : SN_STANDING_HELD;
}

bool
sn_frontier_has_row(const sn_frontier *f, uint32_t host)
{
    return !f->shared->fleet || sn_crawl_hosts_state(&f->hosts, host)->row == ROW_KEPT ||
           sn_hosts_is_mine(f->host_table, &f->host_table->all[host]);
}

void
sn_frontier_want_row(sn_frontier *f, uint32_t host)
{
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

    if (x->row != ROW_NONE || sn_frontier_has_row(f, host))
        return;
    x->row = ROW_ASKED;
    f->ops.keep(host, f->ops.arg);
}

void
sn_frontier_host_kept(sn_frontier *f, sn_str name)
{
    uint32_t host;

    if (!sn_hosts_known(f->host_table, name, &host) || host >= f->hosts.n)
        return;
    sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);
    if (!x || x->row != ROW_ASKED)
        return;
    x->row = ROW_KEPT;
    if (!sn_frontier_is_open(f, host))
        return;
    sn_frontier_say(f, host, SN_SAME_DELAY);
    sn_frontier_release_held(f, host);
}

void
sn_frontier_leave_lost(sn_frontier *f, uint32_t host)
{
    (void)sn_frontier_leave(f, host);
    sn_frontier_release_held(f, host); /* the scheduler drops them */
}

/* Nobody asks about a host that waits for its row, so what waits there is dropped here
 * when the row will never come. */
void
sn_frontier_watch_tenures(sn_frontier *f)
{
    for (uint32_t host = 0; host < f->hosts.n; host++) {
        sn_crawl_state *x = sn_crawl_hosts_state(&f->hosts, host);

        if (!x || x->row != ROW_ASKED ||
            x->tenure ==
                sn_fleet_tenure_of(f->shared->fleet, sn_hosts_name(f->host_table, host)))
            continue;
        x->row = ROW_NONE;
        sn_frontier_leave_lost(f, host);
    }
}

/* Links that are not followed. */

void
sn_frontier_send_refused(sn_frontier *f, const sn_candidate *c, seine_skip reason,
                         uint64_t print)
{
    sn_link l = c->link;

    if (c->bad.len > 0)
        l.moved = c->flaw; /* its owner cannot resolve it, and need not */
    sn_frontier_keep_late(f, &l, (uint8_t)reason, print);
}

/* The text is no URL. */
static void
refuse_bad(sn_frontier *f, const sn_link *l, seine_skip reason)
{
    sn_str rule = sn_str_of(seine_url_flaw_text((seine_url_flaw_kind)l->moved));
    sn_link link = *l;

    link.moved = 0;
    sn_frontier_refuse(f, &link, NULL, reason, rule);
}

/* False: it is in scope now, and is followed. */
static bool
refuse_url(sn_frontier *f, const sn_link *l, const seine_url *url, seine_skip reason)
{
    const sn_shared_state *c = f->shared;
    sn_url_verdict o = {.reason = reason};

    o.rule = reason == SEINE_SKIP_DEPTH ? c->shown.depth : c->shown.nofollow;
    if (reason != SEINE_SKIP_DEPTH && reason != SEINE_SKIP_NOFOLLOW &&
        !sn_url_rules_refuse(&c->opts, c->scope, url, false, &o))
        return false;
    sn_frontier_refuse(f, l, url, o.reason, o.rule);
    return true;
}

void
sn_frontier_refuse_sent(sn_frontier *f, const sn_link *l, seine_time now)
{
    char mem[SEINE_URL_ROOM];
    seine_skip reason = (seine_skip)(l->leader & SN_PUT_REASON);
    sn_link link = *l;
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    link.leader = 0;
    link.kind = SN_KIND_PAGE;
    if (reason == SEINE_SKIP_BAD_URL || reason == SEINE_SKIP_TOO_LONG ||
        seine_url_parse(&url, l->url.ptr, l->url.len, NULL) != SEINE_OK) {
        refuse_bad(f, &link, reason);
    } else if (!refuse_url(f, &link, &url, reason)) {
        sn_frontier_admit_link(f, &link, &url, now);
        return;
    }
    sn_shared_state_end_work(f->shared, 1);
}
