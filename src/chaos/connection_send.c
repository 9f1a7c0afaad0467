/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/time.h"
#include "chaos/connection.h"

#define AT_ONCE ((uint64_t)256 << 10) /* bytes before the others get a turn */
#define DRAIN   SEINE_SECS(5)

void
snc_connection_end(snc_connection *c, bool whole, bool reset, bool aborted)
{
    snc_ending ending = {
        .bytes = c->sent, .whole = whole, .reset = reset, .aborted = aborted};

    snc_world_end(&c->server->world, &c->trace, &ending);
    if (c->response) {
        snc_response_fini(c->response);
        if (c->response != &c->server->response)
            sn_free(c->response);
        c->response = NULL;
    }
    sn_free(c->left);
    c->left = NULL;
    c->left_len = 0;
}

/* Copies the response, which needs more than this turn. */
static bool
keep_response(snc_connection *c)
{
    snc_response *copy;

    if (c->response != &c->server->response)
        return true;
    if (!snc_wire_keep(&c->response->wire) || !(copy = sn_alloc(sizeof *copy))) {
        snc_connection_reset(c);
        return false;
    }
    *copy = *c->response;
    *c->response = (snc_response){.status = 0};
    c->response = copy;
    return true;
}

/* Keeps bytes that were generated and not sent. */
static bool
save_rest(snc_connection *c, const char *bytes, size_t n)
{
    if (!keep_response(c))
        return false;
    if (c->left) { /* `bytes` are its end */
        c->left_at = c->left_len - n;
        return true;
    }
    c->left = sn_alloc(n);
    if (!c->left) {
        snc_connection_reset(c);
        return false;
    }
    memcpy(c->left, bytes, n);
    c->left_at = 0;
    c->left_len = n;
    return true;
}

static void
hold_response(snc_connection *c)
{
    if (keep_response(c))
        c->state = SNC_CONNECTION_HOLD;
}

void
snc_connection_drain(snc_connection *c)
{
    int waiting = 0;
    bool late = c->state == SNC_CONNECTION_DRAIN && c->server->now >= c->drain_until;

    if (ioctl(c->fd, SIOCOUTQ, &waiting) != 0 || waiting == 0 || late) {
        snc_connection_reset(c);
        return;
    }
    if (!keep_response(c))
        return;
    if (c->state != SNC_CONNECTION_DRAIN)
        c->drain_until = sn_time_add(c->server->now, DRAIN);
    c->state = SNC_CONNECTION_DRAIN;
    snc_connection_alarm(c, sn_time_add(c->server->now, SEINE_MS(1)));
}

static void
cut_off(snc_connection *c)
{
    switch (c->response->cut) {
    case SNC_CUT_RST:
        snc_connection_drain(c);
        break;
    case SNC_CUT_FIN:
        c->unclean = c->response->unclean;
        snc_connection_end(c, false, false, false);
        snc_connection_fin(c);
        break;
    default:
        hold_response(c);
    }
}

static void
finish(snc_connection *c)
{
    snc_response *a = c->response;
    bool keeps = a->keep;
    seine_span idle = a->idle;

    c->unclean = a->unclean;
    c->idle_end = keeps ? a->idle_end : SNC_IDLE_KEEP;
    snc_connection_end(c, true, false, false);
    c->state = SNC_CONNECTION_READ;
    if (!keeps)
        snc_connection_fin(c);
    else if (c->to.way != SNC_WAY_NONE)
        snc_connection_tunnel(c);
    else if (c->idle_end != SNC_IDLE_KEEP && idle == 0)
        snc_connection_idled(c);
    else if (c->idle_end != SNC_IDLE_KEEP)
        snc_connection_alarm(c, sn_time_add(c->server->now, idle));
}

/* How many of `n` bytes may go out now. */
static size_t
allowed(const snc_connection *c, size_t n)
{
    const snc_response *a = c->response;
    uint64_t most = n;

    if (a->cut != SNC_CUT_NONE && a->cut_at - c->sent < most)
        most = a->cut_at - c->sent;
    if (a->every > 0 && c->sent < a->drip_from) {
        if (a->drip_from - c->sent < most)
            most = a->drip_from - c->sent;
    } else if (a->every > 0 && c->allowance < most) {
        most = c->allowance;
    }
    return (size_t)most;
}

/* Sends some of these bytes. True: go on; false: wait, or the response has ended. */
static bool
put_bytes(snc_connection *c, const char *bytes, size_t n)
{
    bool paced = c->response->every > 0 && c->sent >= c->response->drip_from;
    size_t may = allowed(c, n);
    ssize_t done = may > 0 ? snc_connection_write(c, bytes, may) : 0;

    if (done < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            c->gone = true;
            return false;
        }
        done = 0;
        c->writable = false;
    } else if ((size_t)done < may) {
        c->writable = false;
    }
    c->sent += (uint64_t)done;
    if (paced)
        c->allowance -= (uint64_t)done;
    if ((size_t)done < n)
        return save_rest(c, bytes + done, n - (size_t)done);
    sn_free(c->left);
    c->left = NULL;
    return true;
}

/* The allowance of the drip is used up. */
static bool
wait_for_drip(snc_connection *c)
{
    const snc_response *a = c->response;

    if (a->every == 0 || c->allowance > 0 || c->sent < a->drip_from)
        return false;
    c->allowance = a->drip;
    if (keep_response(c)) {
        c->state = SNC_CONNECTION_WAIT;
        snc_connection_alarm(c, sn_time_add(c->server->now, c->response->every));
    }
    return true;
}

bool
snc_connection_send(snc_connection *c)
{
    uint64_t from = c->sent;
    bool scarce = false;

    while (c->writable && !c->gone) {
        snc_server *s = c->server;
        const snc_response *a = c->response;

        if (a->cut != SNC_CUT_NONE && c->sent >= a->cut_at) {
            cut_off(c);
            return true;
        }
        if (wait_for_drip(c))
            return true;
        if (c->sent - from >= AT_ONCE || scarce) { /* other connections first */
            if (keep_response(c))
                snc_connection_alarm(c, sn_time_add(s->now, 1)); /* in the next turn */
            return false;
        }
        if (c->left) {
            if (!put_bytes(c, c->left + c->left_at, c->left_len - c->left_at))
                return true;
            continue;
        }
        size_t room = a->every > 0 ? SNC_WIRE_ROOM : sizeof s->out;
        size_t n = snc_wire_read(&c->response->wire, &s->world.lines, s->out, room);
        scarce = c->response->wire.scarce;
        if (n == 0) {
            finish(c);
            return true;
        }
        if (!put_bytes(c, s->out, n))
            return true;
    }
    return c->gone || !keep_response(c);
}

void
snc_connection_respond(snc_connection *c)
{
    snc_response *a = c->response = &c->server->response;

    c->sent = 0;
    c->allowance = a->drip;
    if (a->mute) {
        hold_response(c);
    } else if (a->delay > 0) {
        if (keep_response(c)) {
            c->state = SNC_CONNECTION_WAIT;
            snc_connection_alarm(c, sn_time_add(c->server->now, c->response->delay));
        }
    } else {
        snc_world_begin(&c->server->world, &c->trace, c->server->now);
        c->state = SNC_CONNECTION_SEND;
    }
}
