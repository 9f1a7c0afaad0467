/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shard_watch.h"

#include <string.h>

#include "base/time.h"

/* The shard counts. */

void
sn_shard_watch_request(sn_shard_watch *w, const sn_end *end)
{
    unsigned status = end->fault.status;
    seine_span took = 0;

    for (unsigned p = SEINE_PHASE_DNS; p <= SEINE_PHASE_BODY; p++)
        took += end->spent[p];
    w->own.attempts[status >= 100 && status < 600 ? status / 100 : 0]++;
    w->own.latency[sn_snapshot_bin(took)]++;
}

/* "e.example:8080" of "http://e.example:8080/a". */
static sn_str
host_of(sn_str url)
{
    const char *at = url.len > 3 ? memmem(url.ptr, url.len, "://", 3) : NULL;
    sn_str host = url;

    if (at) {
        host.ptr = at + 3;
        host.len = url.len - (size_t)(at + 3 - url.ptr);
    }
    for (size_t i = 0; i < host.len; i++)
        if (host.ptr[i] == '/' || host.ptr[i] == '?' || host.ptr[i] == '#')
            host.len = i;
        else if (host.ptr[i] == '@') {
            host.ptr += i + 1;
            host.len -= i + 1;
            i = 0;
        }
    return host;
}

/* The URL and, of a skip, the rule behind it. */
static void
write_text(sn_watched *to, const seine_record *r)
{
    sn_watched_text(to->text, sizeof to->text, r->url);
    if (r->type != SEINE_RECORD_SKIP || r->rule.len == 0)
        return;
    size_t n = strlen(to->text);
    if (n + 2 >= sizeof to->text)
        return;
    to->text[n] = ' ';
    sn_watched_text(to->text + n + 1, sizeof to->text - n - 1, r->rule);
}

void
sn_shard_watch_record(sn_shard_watch *w, const seine_record *r)
{
    bool is_skip = r->type == SEINE_RECORD_SKIP;
    sn_watched event = {.wall = r->wall,
                        .kind = is_skip ? SN_WATCHED_SKIP : SN_WATCHED_FAILURE,
                        .code = is_skip ? (uint32_t)r->reason : (uint32_t)r->fault->code,
                        .attempts = r->attempts,
                        .status = r->status};

    if (!is_skip && r->fate == SEINE_FATE_OK)
        return;
    sn_watched_text(event.host, sizeof event.host, host_of(r->url));
    write_text(&event, r);
    sn_event_ring_put(&w->ring, &event);
}

void
sn_shard_watch_event(sn_shard_watch *w, const seine_event *e, int64_t wall)
{
    sn_watched event = {
        .wall = wall, .kind = SN_WATCHED_HOST, .code = (uint32_t)e->cause};

    sn_watched_text(event.name, sizeof event.name, (sn_str){e->name, strlen(e->name)});
    sn_watched_text(event.host, sizeof event.host, host_of(e->host));
    sn_watched_text(event.text, sizeof event.text, e->detail);
    sn_event_ring_put(&w->ring, &event);
}

static void
publish(sn_shard_watch *w, seine_time now, const sn_shard_watch_facts *facts)
{
    sn_snapshot *s = &w->own;

    s->seq++;
    s->at = now;
    s->stats = *facts->stats;
    s->slots = facts->slots;
    s->memory_used = facts->memory_used;
    s->memory_cap = facts->memory_cap;
    s->breakers_open = facts->breakers_open;
    s->breakers_probed = facts->breakers_probed;
    if (facts->cpu)
        s->busy_ns = (uint64_t)facts->cpu(facts->arg);
    sn_snapshot_publish(&w->slot, s);
    w->due = sn_time_add(now, SN_SHARD_WATCH_EVERY);
}

void
sn_shard_watch_turn(sn_shard_watch *w, seine_time now, const sn_shard_watch_facts *facts)
{
    if (w->hold == SN_HOLD_OUTPUT && w->last > 0 && now > w->last)
        w->own.sink_full_ns += (uint64_t)(now - w->last);
    w->hold = facts->hold;
    w->last = now;
    if (now >= w->due)
        publish(w, now, facts);
}

seine_time
sn_shard_watch_due(sn_shard_watch_place *place)
{
    sn_shard_watch *w = sn_shard_watch_of(place);

    return w ? w->due : SEINE_NEVER;
}
