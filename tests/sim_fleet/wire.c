/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "world.h"

static server *
server_of(const wire *l)
{
    return &l->of->of->servers[l->server];
}

static seine_span
latency(world *w, const server *s)
{
    seine_span span = w->latency / 2 + (seine_span)below(w, (uint64_t)w->latency);

    return w->now < s->slow_until ? span + (seine_span)below(w, SEINE_SECS(3)) : span;
}

/* The witness of leases, commits and rates: what the server said, and no code of the
 * server or of the workers. */

static int64_t
number_at(sn_str reply, size_t i)
{
    const char *at = reply.ptr, *end = reply.ptr + reply.len;

    for (size_t k = 0; at < end; k += *at == ':', at++)
        if (*at == ':' && k == i)
            return strtoll(at + 1, NULL, 10);
    return -1;
}

static lease *
lease_of(world *w, sn_str key)
{
    const char *dot = memchr(key.ptr, '.', key.len);

    return &w->leases[dot ? strtoul(dot + 1, NULL, 10) % 64 : 0];
}

static bool
is_held(const lease *l, sn_str token, int64_t now_ms)
{
    return sn_str_eq(token, sn_str_of(l->token)) && now_ms < l->until_ms;
}

static void
see_acquire(world *w, const sn_str *words, sn_str reply, int64_t now_ms)
{
    lease *l = lease_of(w, words[3]);

    if (!sn_str_starts(reply, SN_STR("*4")))
        return;
    if (l->token[0] && now_ms < l->until_ms)
        broken(w, "a lease that is held is given to another");
    snprintf(l->token, sizeof l->token, "%.*s|%" PRId64, SN_FMT(words[6]),
             number_at(reply, 0));
    l->until_ms = now_ms + strtoll(words[7].ptr, NULL, 10);
    w->tenures++;
}

static void
see_renew(world *w, const sn_str *words, sn_str reply, int64_t now_ms)
{
    size_t n = (size_t)strtoul(words[2].ptr, NULL, 10);
    int64_t ttl = strtoll(words[3 + n].ptr, NULL, 10);

    for (size_t i = 0; i < n; i++) {
        lease *l = lease_of(w, words[3 + i]);

        if (number_at(reply, i + 1) != 1)
            continue;
        if (!is_held(l, words[4 + n + i], now_ms))
            broken(w, "a lease that is not held is renewed");
        l->until_ms = now_ms + ttl;
    }
}

static void
see_commit(world *w, const sn_str *words, sn_str reply, int64_t now_ms)
{
    const lease *l = lease_of(w, words[3]);

    if (sn_str_starts(reply, SN_STR("-FENCED"))) {
        w->fenced++;
        if (is_held(l, words[12], now_ms))
            broken(w, "the owner of a lease is fenced");
        return;
    }
    w->commits++;
    if (!is_held(l, words[12], now_ms))
        broken(w, "a commit without the lease succeeds");
}

/* The bucket holds `burst` at first, and one more every so often. */
static void
see_quota(world *w, const sn_str *words, sn_str reply)
{
    int64_t n = number_at(reply, 0);
    uint64_t burst = strtoull(words[5].ptr, NULL, 10);

    if (n < 0)
        return;
    if (w->granted == 0 && n > 0)
        w->quota_since = w->now;
    w->granted += (uint64_t)n;
    w->talking->granted += (uint64_t)n;
    if (w->granted > burst + 1 + (uint64_t)((w->now - w->quota_since) / w->every))
        broken(w, "%" PRIu64 " starts were granted in %.3f s, one in %.3f s is right",
               w->granted, (double)(w->now - w->quota_since) / 1e9,
               (double)w->every / 1e9);
}

/* Commands that change something, and what came of them. */
static void
trace_command(const world *w, const sn_str *words, size_t n, sn_str reply)
{
    static const char *const dull[] = {"XREADGROUP", "HMGET",   "ZADD",  "HLEN",
                                       "FCALL_RO",   "HGETALL", "HELLO", "ZRANGEBYSCORE",
                                       "SELECT",     "INFO",    "XLEN",  "FUNCTION"};

    for (size_t i = 0; i < sizeof dull / sizeof *dull; i++)
        if (sn_str_eq(words[0], sn_str_of(dull[i])) &&
            (i > 0 || sn_str_starts(reply, SN_STR("*-1"))))
            return;
    printf("%10.6f   worker %u:", (double)w->now / 1e9, w->talking->index);
    for (size_t i = 0; i < n && i < 24; i++)
        printf(" %.*s", (int)(words[i].len < 40 ? words[i].len : 40), words[i].ptr);
    printf(" -> %.*s\n", (int)strcspn(reply.ptr, "\r"), reply.ptr);
}

static void
see(const sn_str *words, size_t n, sn_str reply, void *arg)
{
    world *w = arg;
    int64_t now_ms = (EPOCH + w->now) / SEINE_MS(1);

    if (w->trace && w->talking)
        trace_command(w, words, n, reply);
    if (n < 4 || !sn_str_eq(words[0], SN_STR("FCALL")))
        return;
    if (sn_str_eq(words[1], SN_STR("seine1_acquire")))
        see_acquire(w, words, reply, now_ms);
    else if (sn_str_eq(words[1], SN_STR("seine1_renew")))
        see_renew(w, words, reply, now_ms);
    else if (sn_str_eq(words[1], SN_STR("seine1_commit")))
        see_commit(w, words, reply, now_ms);
    else if (sn_str_eq(words[1], SN_STR("seine1_quota")))
        see_quota(w, words, reply);
    else if (sn_str_eq(words[1], SN_STR("seine1_release")) && number_at(reply, 0) == 1)
        lease_of(w, words[3])->token[0] = '\0';
}

/* Servers. */

void
servers_init(world *w)
{
    for (uint32_t i = 0; i < w->n_servers; i++) {
        server *s = &w->servers[i];

        s->model = redis_model_new();
        s->inner = redis_model_wire(s->model);
        s->run = i + 1;
        redis_model_set_run(s->model, s->run);
        redis_model_watch(s->model, see, w);
        (void)s->inner.open(s->inner.self, SEINE_NEVER);
    }
}

void
servers_free(world *w)
{
    for (packet *p = w->packets, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    for (uint32_t i = 0; i < w->n_servers; i++)
        redis_model_free(w->servers[i].model);
}

/* What was acknowledged is there again, and all connections are gone. */
void
server_restart(world *w, uint32_t i, seine_span away)
{
    server *s = &w->servers[i];

    s->run += SERVERS;
    s->down_until = w->now + away;
    redis_model_set_run(s->model, s->run);
    for (uint32_t k = 0; k < w->n_workers; k++)
        for (uint32_t c = 0; c < 2; c++) {
            wire *l = w->workers[k]->wires[2 * i + c];

            if (!l || !l->is_open)
                continue;
            l->is_reset = true;
            if (chance(w, 50))
                sn_buf_reset(&l->in);
            actor_ring(l->of, &l->bell);
        }
}

/* Packets. */

static void
put_packet(world *w, packet *p)
{
    packet **at = &w->packets;

    while (*at && (*at)->at <= p->at)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
}

static void
put_reply(world *w, wire *l, sn_str bytes, bool is_nothing)
{
    const worker *k = l->of;

    l->in_at = w->now + latency(w, server_of(l));
    if (is_nothing) /* it has waited for as long as it was told */
        l->in_at += SEINE_MS(20);
    if (w->now < k->cut_until) {
        if (chance(w, 50))
            return;
        l->in_at += k->cut_until - w->now;
    }
    sn_buf_str(&l->in, bytes);
    actor_ring(l->of, &l->bell);
}

static void
run_packet(world *w, const packet *p)
{
    wire *l = p->of;
    server *s = server_of(l);
    sn_buf reply;
    char piece[4096];
    size_t n;

    redis_model_set_now(s->model, (EPOCH + w->now) / SEINE_MS(1));
    redis_model_set_full(s->model, w->now < s->full_until);
    sn_buf_init(&reply, SIZE_MAX);
    w->talking = l->of;
    (void)s->inner.send(s->inner.self, (sn_str){p->bytes, p->len}, SEINE_NEVER);
    while (s->inner.receive(s->inner.self, piece, sizeof piece, SEINE_NEVER, &n) ==
           SEINE_OK)
        sn_buf_str(&reply, (sn_str){piece, n});
    if (l->generation == p->generation && l->is_open && !l->is_reset)
        put_reply(w, l, sn_buf_view(&reply),
                  memmem(p->bytes, p->len, "BLOCK", 5) &&
                      sn_str_eq(sn_buf_view(&reply), SN_STR("*-1\r\n")));
    sn_buf_fini(&reply);
}

/* A cut net may give what it has when it is whole again, also when nobody waits for the
 * reply any more. */
static void
deliver(world *w, packet *p)
{
    wire *l = p->of;
    const server *s = server_of(l);

    if (w->now < l->of->cut_until && chance(w, 50)) {
        p->at = l->of->cut_until + latency(w, s);
        put_packet(w, p);
        return;
    }
    if (w->now >= l->of->cut_until && w->now >= s->down_until && p->run == s->run)
        run_packet(w, p);
    free(p);
}

seine_time
packets_when(const world *w)
{
    return w->packets ? w->packets->at : SEINE_NEVER;
}

void
packets_deliver(world *w)
{
    while (w->packets && w->packets->at <= w->now) {
        packet *p = w->packets;

        w->packets = p->next;
        deliver(w, p);
    }
}

/* Connections. */

static seine_err
on_open(void *self, seine_time until)
{
    wire *l = self;
    worker *k = l->of;
    world *w = k->of;

    if (k->end == KILLED)
        return SEINE_E_STORE_UNAVAILABLE;
    if (w->now < k->cut_until) {
        actor_sleep(k, until + k->missed, NULL);
        return SEINE_E_TIMEOUT;
    }
    actor_sleep(k, w->now + latency(w, server_of(l)), NULL);
    if (k->end == KILLED || w->now < server_of(l)->down_until)
        return SEINE_E_STORE_UNAVAILABLE;
    l->generation++;
    l->is_open = true;
    l->is_reset = false;
    l->busy_until = l->in_at = w->now;
    sn_buf_reset(&l->in);
    return SEINE_OK;
}

static seine_err
on_send(void *self, sn_str bytes, seine_time until)
{
    wire *l = self;
    world *w = l->of->of;

    (void)until;
    if (l->of->end == KILLED || !l->is_open || l->is_reset)
        return SEINE_E_STORE_UNAVAILABLE;
    packet *p = malloc(sizeof *p + bytes.len);
    *p = (packet){.of = l,
                  .generation = l->generation,
                  .run = server_of(l)->run,
                  .at = w->now + latency(w, server_of(l)),
                  .len = bytes.len};
    memcpy(p->bytes, bytes.ptr, bytes.len);
    p->at = l->busy_until = sn_time_max(p->at, l->busy_until);
    put_packet(w, p);
    return SEINE_OK;
}

static seine_err
on_receive(void *self, char *into, size_t room, seine_time until, size_t *out_n)
{
    wire *l = self;
    worker *k = l->of;
    world *w = k->of;

    for (;;) {
        if (k->end == KILLED || !l->is_open)
            return SEINE_E_STORE_UNAVAILABLE;
        if (l->in.len > 0 && w->now >= l->in_at)
            break;
        if (l->in.len == 0 && l->is_reset)
            return SEINE_E_STORE_UNAVAILABLE;
        if (k->clock.now(&k->clock) >= until)
            return SEINE_E_TIMEOUT;
        seine_time end = until + k->missed;
        actor_sleep(k, l->in.len > 0 ? sn_time_min(end, l->in_at) : end, &l->bell);
    }
    *out_n = l->in.len < room ? l->in.len : room;
    memcpy(into, l->in.ptr, *out_n);
    sn_buf_drop(&l->in, *out_n);
    return SEINE_OK;
}

static void
on_close(void *self)
{
    wire *l = self;

    l->is_open = false;
    sn_buf_reset(&l->in);
}

void
wires_open(worker *k, sn_redis_wire out[2 * SERVERS])
{
    for (uint32_t i = 0; i < 2 * k->of->n_servers; i++) {
        wire *l = calloc(1, sizeof *l);

        l->of = k;
        l->server = i / 2;
        sn_buf_init(&l->in, SIZE_MAX);
        k->wires[i] = l;
        out[i] = (sn_redis_wire){on_open, on_send, on_receive, on_close, l};
    }
}

void
wires_free(worker *k)
{
    for (uint32_t i = 0; i < 2 * SERVERS; i++) {
        if (k->wires[i])
            sn_buf_fini(&k->wires[i]->in);
        free(k->wires[i]);
    }
}
