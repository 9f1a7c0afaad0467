/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/time.h"
#include "chaos/connection.h"

#define AT_ONCE ((uint64_t)256 << 10) /* bytes before the others get their turn */
#define DRAIN   SEINE_SECS(5)

void
snc_connection_end(snc_connection *g, bool whole, bool reset, bool aborted)
{
    snc_ending ending = {
        .bytes = g->sent, .whole = whole, .reset = reset, .aborted = aborted};

    snc_world_end(&g->server->world, &g->trace, &ending);
    if (g->response) {
        snc_response_fini(g->response);
        if (g->response != &g->server->response)
            sn_free(g->response);
        g->response = NULL;
    }
    sn_free(g->left);
    g->left = NULL;
    g->left_len = 0;
}

/* The answer needs more than this turn: it gets memory of its own. */
static bool
keep(snc_connection *g)
{
    snc_response *copy;

    if (g->response != &g->server->response)
        return true;
    if (!snc_wire_keep(&g->response->wire) || !(copy = sn_alloc(sizeof *copy))) {
        snc_connection_reset(g);
        return false;
    }
    *copy = *g->response;
    *g->response = (snc_response){.status = 0};
    g->response = copy;
    return true;
}

/* What was made and not sent. */
static bool
save(snc_connection *g, const char *bytes, size_t n)
{
    if (!keep(g))
        return false;
    if (g->left) { /* `bytes` are the end of it */
        g->left_at = g->left_len - n;
        return true;
    }
    g->left = sn_alloc(n);
    if (!g->left) {
        snc_connection_reset(g);
        return false;
    }
    memcpy(g->left, bytes, n);
    g->left_at = 0;
    g->left_len = n;
    return true;
}

static void
hold(snc_connection *g)
{
    if (keep(g))
        g->state = SNC_CONNECTION_HOLD;
}

void
snc_connection_drain(snc_connection *g)
{
    int waiting = 0;
    bool late = g->state == SNC_CONNECTION_DRAIN && g->server->now >= g->drain_until;

    if (ioctl(g->fd, SIOCOUTQ, &waiting) != 0 || waiting == 0 || late) {
        snc_connection_reset(g);
        return;
    }
    if (!keep(g))
        return;
    if (g->state != SNC_CONNECTION_DRAIN)
        g->drain_until = sn_time_add(g->server->now, DRAIN);
    g->state = SNC_CONNECTION_DRAIN;
    snc_connection_alarm(g, sn_time_add(g->server->now, SEINE_MS(1)));
}

static void
cut(snc_connection *g)
{
    switch (g->response->cut) {
    case SNC_CUT_RST:
        snc_connection_drain(g);
        break;
    case SNC_CUT_FIN:
        g->unclean = g->response->unclean;
        snc_connection_end(g, false, false, false);
        snc_connection_fin(g);
        break;
    default:
        hold(g);
    }
}

static void
finish(snc_connection *g)
{
    snc_response *a = g->response;
    bool keeps = a->keep;
    seine_span idle = a->idle;

    g->unclean = a->unclean;
    g->idle_end = keeps ? a->idle_end : SNC_IDLE_KEEP;
    snc_connection_end(g, true, false, false);
    g->state = SNC_CONNECTION_READ;
    if (!keeps)
        snc_connection_fin(g);
    else if (g->to.way != SNC_WAY_NONE)
        snc_connection_tunnel(g);
    else if (g->idle_end != SNC_IDLE_KEEP && idle == 0)
        snc_connection_idled(g);
    else if (g->idle_end != SNC_IDLE_KEEP)
        snc_connection_alarm(g, sn_time_add(g->server->now, idle));
}

/* How many of `n` bytes may go out now. */
static size_t
allowed(const snc_connection *g, size_t n)
{
    const snc_response *a = g->response;
    uint64_t most = n;

    if (a->cut != SNC_CUT_NONE && a->cut_at - g->sent < most)
        most = a->cut_at - g->sent;
    if (a->every > 0 && g->sent < a->drip_from) {
        if (a->drip_from - g->sent < most)
            most = a->drip_from - g->sent;
    } else if (a->every > 0 && g->allowance < most) {
        most = g->allowance;
    }
    return (size_t)most;
}

/* Sends from these bytes. True: go on; false: wait, or it is over. */
static bool
put(snc_connection *g, const char *bytes, size_t n)
{
    bool paced = g->response->every > 0 && g->sent >= g->response->drip_from;
    size_t may = allowed(g, n);
    ssize_t done = may > 0 ? snc_connection_write(g, bytes, may) : 0;

    if (done < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            g->gone = true;
            return false;
        }
        done = 0;
        g->writable = false;
    } else if ((size_t)done < may) {
        g->writable = false;
    }
    g->sent += (uint64_t)done;
    if (paced)
        g->allowance -= (uint64_t)done;
    if ((size_t)done < n)
        return save(g, bytes + done, n - (size_t)done);
    sn_free(g->left);
    g->left = NULL;
    return true;
}

/* The drip has run dry. */
static bool
wait_for_drip(snc_connection *g)
{
    const snc_response *a = g->response;

    if (a->every == 0 || g->allowance > 0 || g->sent < a->drip_from)
        return false;
    g->allowance = a->drip;
    if (keep(g)) {
        g->state = SNC_CONNECTION_WAIT;
        snc_connection_alarm(g, sn_time_add(g->server->now, g->response->every));
    }
    return true;
}

bool
snc_connection_send(snc_connection *g)
{
    uint64_t from = g->sent;

    while (g->writable && !g->gone) {
        snc_server *s = g->server;
        const snc_response *a = g->response;

        if (a->cut != SNC_CUT_NONE && g->sent >= a->cut_at) {
            cut(g);
            return true;
        }
        if (wait_for_drip(g))
            return true;
        if (g->sent - from >= AT_ONCE) { /* the others first */
            if (keep(g))
                snc_connection_alarm(g, s->now);
            return false;
        }
        if (g->left) {
            if (!put(g, g->left + g->left_at, g->left_len - g->left_at))
                return true;
            continue;
        }
        size_t room = a->every > 0 ? SNC_WIRE_ROOM : sizeof s->out;
        size_t n = snc_wire_read(&g->response->wire, &s->world.lines, s->out, room);
        if (n == 0) {
            finish(g);
            return true;
        }
        if (!put(g, s->out, n))
            return true;
    }
    return g->gone || !keep(g);
}

void
snc_connection_respond(snc_connection *g)
{
    snc_response *a = g->response = &g->server->response;

    g->sent = 0;
    g->allowance = a->drip;
    if (a->mute) {
        hold(g);
    } else if (a->delay > 0) {
        if (keep(g)) {
            g->state = SNC_CONNECTION_WAIT;
            snc_connection_alarm(g, sn_time_add(g->server->now, g->response->delay));
        }
    } else {
        snc_world_begin(&g->server->world, &g->trace, g->server->now);
        g->state = SNC_CONNECTION_SEND;
    }
}
