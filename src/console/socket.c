/* SPDX-License-Identifier: Apache-2.0 */
#include "console/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/time.h"
#include "console/access.h"
#include "console/http_daemon.h"
#include "console/message.h"
#include "console/ws.h"

enum {
    PIECE = 16384,        /* bytes of one read and of one write */
    TURN = 4 * PIECE,     /* bytes read in one go; others want a turn, too */
    NODE = 64,            /* what a queued message costs besides its bytes */
    ECHO = 1 << 20,       /* longest message of /ws/echo */
    ECHO_QUEUE = 4 << 20, /* its answers */
    PAUSE_AT = 64 << 10   /* frames that wait before reading pauses */
};
#define SWEEP     SEINE_MS(500)
#define PING      SEINE_SECS(20)
#define SILENT    SEINE_SECS(45)
#define CLOSE_FOR SEINE_SECS(1)

typedef struct queued {
    struct queued *next;
    sn_send how;
    bool is_binary;
    size_t len;
    char bytes[];
} queued;

struct sn_socket_link {
    sn_socket socket;
    sn_watch watch;
    sn_timer soon; /* there is something to write, to read or to end */
    sn_upgrade upgrade;
    sn_ws *ws;
    sn_buf out;
    size_t written; /* of `out` */
    queued *first, **last;
    size_t queue; /* bytes of it */
    sn_socket_end why;
    uint16_t code; /* of the close frame; 0: none yet */
    char reason[64];
    seine_time close_by, pinged;
    sn_user early;      /* of the Authorization field */
    sn_buf first_bytes; /* that came behind the request */
    bool can_read, can_write, is_close_queued, is_slow;
};

/* Kinds of messages, both ways; the last stands for every other. */
static const char *const kinds[] = {"hello",   "open",    "push",  "cursor", "close",
                                    "preview", "sub",     "unsub", "ping",   "welcome",
                                    "opened",  "updates", "peer",  "doc",    "diag",
                                    "data",    "err",     "pong",  "other"};
enum { KINDS = sizeof kinds / sizeof *kinds };
typedef enum direction { WAY_IN, WAY_OUT } direction;

struct sn_sockets {
    seine_counter *messages, *slow; /* NULL: not counted */
    sn_socket *first;
    size_t n, strangers;
    sn_timer sweep;
    bool is_stopped;
};

typedef struct sn_socket_link sn_socket_link;

static sn_socket_link *
link_of(const sn_socket *s)
{
    return s->link;
}

/* Our own messages begin with their kind; a client's may, and count as `other` else. */
static unsigned
kind_of(sn_str text)
{
    sn_str word, rest;

    if (!sn_str_starts(text, SN_STR("{\"t\":\"")))
        return KINDS - 1;
    sn_str_cut(sn_str_slice(text, 6, text.len < 32 ? text.len : 32), '"', &word, &rest);
    for (unsigned i = 0; i < KINDS - 1; i++)
        if (sn_str_eq(word, sn_str_of(kinds[i])))
            return i;
    return KINDS - 1;
}

static void
count(const sn_socket *s, direction way, sn_str text)
{
    if (!s->is_echo)
        seine_counter_add(s->console->sockets->messages, way * KINDS + kind_of(text), 1);
}

/* The queue. */

static void
drop_queue(sn_socket_link *l, bool data_only)
{
    queued **at = &l->first;

    while (*at) {
        queued *q = *at;

        if (data_only && q->how != SN_SEND_DATA) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        l->queue -= q->len + NODE;
        sn_free(q);
    }
    l->last = at;
}

static size_t
room_of(const sn_socket_link *l)
{
    size_t most =
        l->socket.is_echo ? ECHO_QUEUE : l->socket.console->opts.limits.send_queue;
    size_t used = l->queue + (l->out.len - l->written) + sn_ws_waiting(l->ws);

    return used < most ? most - used : 0;
}

static bool
push(sn_socket_link *l, sn_str text, sn_send how, bool is_binary)
{
    queued *q = sn_alloc(sizeof *q + text.len);

    if (!q)
        return false;
    *q = (queued){.how = how, .is_binary = is_binary, .len = text.len};
    if (text.len)
        memcpy(q->bytes, text.ptr, text.len);
    *l->last = q;
    l->last = &q->next;
    l->queue += text.len + NODE;
    return true;
}

static void
wake(sn_socket_link *l)
{
    sn_timer_set(&l->socket.console->loop, &l->soon, l->socket.console->loop.now);
}

/* Closing. */

static void
begin_close(sn_socket_link *l, uint16_t code, const char *reason, sn_socket_end why)
{
    sn_socket *s = &l->socket;

    if (l->code)
        return;
    l->code = code;
    l->why = why;
    snprintf(l->reason, sizeof l->reason, "%s", reason);
    s->is_closing = true;
    l->close_by = sn_time_add(s->console->loop.now, CLOSE_FOR);
    wake(l);
}

static void
be_slow(sn_socket_link *l)
{
    sn_message_refusal r = {.error = SN_API_SLOW_CONSUMER,
                            .text = "the client reads too slowly"};

    if (l->is_slow) {
        begin_close(l, 1013, "slow_consumer", SN_SOCKET_GONE);
        return;
    }
    l->is_slow = true;
    SN_SAY(l->socket.console->log, INFO, "socket.slow", "a client reads too slowly",
           SN_S("session", l->socket.id));
    seine_counter_add(l->socket.console->sockets->slow, 0, 1);
    drop_queue(l, false);
    sn_message_refuse(&l->socket, &r); /* closes, too */
}

static bool
send_message(sn_socket_link *l, sn_str text, sn_send how, bool is_binary)
{
    if (l->code)
        return false;
    if (text.len + NODE > room_of(l) && how == SN_SEND_MUST)
        drop_queue(l, true);
    if (text.len + NODE <= room_of(l) && push(l, text, how, is_binary)) {
        count(&l->socket, WAY_OUT, text);
        wake(l);
        return true;
    }
    if (how == SN_SEND_MUST)
        be_slow(l);
    return false;
}

bool
sn_socket_send(sn_socket *s, sn_str text, sn_send how)
{
    return send_message(link_of(s), text, how, false);
}

size_t
sn_socket_waiting(const sn_socket *s)
{
    const sn_socket_link *l = link_of(s);

    return l->queue + (l->out.len - l->written) + sn_ws_waiting(l->ws);
}

void
sn_socket_close(sn_socket *s, uint16_t code, const char *reason)
{
    begin_close(link_of(s), code, reason, SN_SOCKET_GONE);
}

void
sn_socket_replace(sn_socket *s)
{
    begin_close(link_of(s), 4009, "replaced", SN_SOCKET_REPLACED);
}

/* Ends the socket; only from handlers of the loop, so that no caller holds it. */
static void
finish(sn_socket_link *l)
{
    sn_socket *s = &l->socket;
    seine_console *c = s->console;

    s->is_closing = true;
    if (!s->is_echo)
        sn_message_closed(s, l->why);
    if (s->prev)
        s->prev->next = s->next;
    else
        c->sockets->first = s->next;
    if (s->next)
        s->next->prev = s->prev;
    c->sockets->n--;
    if (!s->is_welcome && !s->is_echo)
        c->sockets->strangers--;
    seine_http_closed(c->http_metrics, SEINE_HTTP_WEBSOCKET);
    sn_loop_del(&c->loop, l->upgrade.fd, &l->watch);
    sn_timer_forget(&c->loop, &l->soon);
    l->upgrade.close(l->upgrade.handle);
    sn_http_daemon_poke(c);
    drop_queue(l, false);
    sn_ws_free(l->ws);
    sn_buf_fini(&l->out);
    sn_buf_fini(&l->first_bytes);
    sn_free(l);
}

/* Writing. False: the peer is gone. */

static bool
write_out(sn_socket_link *l)
{
    while (l->written < l->out.len && l->can_write) {
        ssize_t n = send(l->upgrade.fd, l->out.ptr + l->written, l->out.len - l->written,
                         MSG_NOSIGNAL);

        if (n > 0)
            l->written += (size_t)n;
        else if (n < 0 && errno == EINTR)
            continue;
        else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            l->can_write = false;
        else
            return false;
    }
    if (l->written == l->out.len) {
        sn_buf_reset(&l->out);
        l->written = 0;
    }
    return true;
}

/* Moves the next message, or the close frame behind the last one, to the frames. */
static bool
refill(sn_socket_link *l)
{
    queued *q = l->first;

    if (q && !l->is_close_queued) {
        seine_err e = sn_ws_send(l->ws, (sn_str){q->bytes, q->len}, q->is_binary);

        l->first = q->next;
        if (!l->first)
            l->last = &l->first;
        l->queue -= q->len + NODE;
        sn_free(q);
        return e == SEINE_OK;
    }
    if (!l->code || l->is_close_queued)
        return false;
    l->is_close_queued = true;
    sn_ws_close(l->ws, l->code, l->reason);
    return true;
}

static bool
flush(sn_socket_link *l)
{
    for (;;) {
        if (!write_out(l))
            return false;
        if (l->out.len > 0)
            return true; /* the peer does not read just now */
        if (sn_ws_write(l->ws, &l->out, PIECE) == 0 && !refill(l))
            return true;
    }
}

/* Reading. */

static void
on_message(void *arg, sn_str bytes, bool is_binary)
{
    sn_socket_link *l = arg;

    if (l->socket.is_closing)
        return;
    count(&l->socket, WAY_IN, bytes);
    if (l->socket.is_echo)
        send_message(l, bytes, SN_SEND_MUST, is_binary);
    else
        sn_message_take(&l->socket, bytes);
}

static bool
is_full(const sn_socket_link *l)
{
    return sn_ws_waiting(l->ws) > PAUSE_AT || (l->socket.is_echo && l->queue > ECHO / 2);
}

/* What the frames say about the end. */
static void
note_end(sn_socket_link *l)
{
    if (l->code)
        return;
    if (sn_ws_is_close_heard(l->ws)) {
        begin_close(l, 1000, "", SN_SOCKET_CLOSED);
        l->is_close_queued = true; /* the answer is queued already */
    } else if (sn_ws_has_failed(l->ws)) {
        begin_close(l, 1002, "", SN_SOCKET_GONE);
        l->is_close_queued = true;
    }
}

/* False: the peer is gone. */
static bool
read_in(sn_socket_link *l)
{
    char bytes[PIECE];
    size_t sum = 0;

    if (l->first_bytes.len > 0) {
        sn_ws_feed(l->ws, sn_buf_view(&l->first_bytes));
        sn_buf_fini(&l->first_bytes);
        note_end(l);
    }
    while (l->can_read && !is_full(l)) {
        ssize_t n = recv(l->upgrade.fd, bytes, sizeof bytes, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            l->can_read = false;
            return true;
        }
        if (n <= 0)
            return false;
        l->socket.heard = l->socket.console->loop.now;
        if (!l->code || !l->is_close_queued || !sn_ws_is_close_heard(l->ws))
            sn_ws_feed(l->ws, (sn_str){bytes, (size_t)n});
        note_end(l);
        sum += (size_t)n;
        if (sum >= TURN) {
            wake(l);
            return true;
        }
    }
    return true;
}

static bool
is_over(const sn_socket_link *l)
{
    return l->code && l->out.len == 0 && sn_ws_is_close_sent(l->ws) &&
           sn_ws_is_close_heard(l->ws);
}

static void
advance(sn_socket_link *l)
{
    bool was_full = is_full(l);

    if (!read_in(l) || !flush(l)) {
        if (!l->code)
            l->why = SN_SOCKET_GONE;
        finish(l);
        return;
    }
    if (is_over(l)) {
        finish(l);
        return;
    }
    if (was_full && !is_full(l) && l->can_read)
        wake(l);
}

static void
on_ready(sn_watch *w, uint32_t events)
{
    sn_socket_link *l =
        (sn_socket_link *)(void *)((char *)w - offsetof(sn_socket_link, watch));

    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        l->can_read = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        l->can_write = true;
    advance(l);
}

static void
on_soon(sn_timer *t, seine_time now)
{
    (void)now;
    advance((sn_socket_link *)(void *)((char *)t - offsetof(sn_socket_link, soon)));
}

/* Time. */

static void
look_at(sn_socket_link *l, seine_time now)
{
    sn_socket *s = &l->socket;
    seine_console *c = s->console;

    if (l->code) {
        if (l->close_by <= now)
            finish(l);
        return;
    }
    if (!s->is_welcome && !s->is_echo &&
        sn_time_add(s->opened, c->opts.hello_time) <= now) {
        sn_message_refusal r = {.error = SN_API_UNAUTHORIZED,
                                .text = "no hello came in time"};

        sn_message_refuse(s, &r);
    } else if (s->is_welcome && !sn_access_is_current(c, &s->user)) {
        sn_message_refusal r = {.error = SN_API_UNAUTHORIZED,
                                .text = "the token has been revoked or has expired"};

        sn_message_refuse(s, &r);
    } else if (sn_time_add(s->heard, SILENT) <= now)
        begin_close(l, 1001, "timeout", SN_SOCKET_TIMEOUT);
    else if (sn_time_add(l->pinged, PING) <= now) {
        l->pinged = now;
        sn_ws_ping(l->ws);
        wake(l);
    }
}

static void
sweep(seine_console *c, seine_time now)
{
    for (sn_socket *s = c->sockets->first, *next; s; s = next) {
        next = s->next;
        look_at(link_of(s), now);
    }
}

static void
on_sweep(sn_timer *t, seine_time now)
{
    sn_sockets *all = (sn_sockets *)(void *)((char *)t - offsetof(sn_sockets, sweep));
    seine_console *c = all->first ? all->first->console : NULL;

    if (!c)
        return;
    sweep(c, now);
    sn_timer_set(&c->loop, &all->sweep,
                 all->first ? sn_time_add(now, SWEEP) : SEINE_NEVER);
}

void
sn_sockets_recheck(seine_console *c)
{
    sweep(c, c->loop.now);
}

/* Who. */

seine_err
sn_socket_login(sn_socket *s, sn_str token)
{
    sn_socket_link *l = link_of(s);

    if (token.len == 0 && l->early.role >= SN_ROLE_VIEWER) {
        s->user = l->early;
        return SEINE_OK;
    }
    return sn_access_login(s->console, token, s->peer, &s->user);
}

void
sn_socket_welcome(sn_socket *s)
{
    if (s->is_welcome)
        return;
    s->is_welcome = true;
    s->console->sockets->strangers--;
    sn_ws_set_max(link_of(s)->ws, s->console->opts.limits.frame);
}

sn_socket *
sn_sockets_first(const seine_console *c)
{
    return c->sockets->first;
}

size_t
sn_sockets_count(const seine_console *c)
{
    return c->sockets->n;
}

sn_socket *
sn_sockets_find(const seine_console *c, const sn_user *user, const char *client,
                const sn_socket *but)
{
    for (sn_socket *s = c->sockets->first; s; s = s->next)
        if (s != but && s->is_welcome && !s->is_closing &&
            strcmp(s->client, client) == 0 && strcmp(s->user.id, user->id) == 0)
            return s;
    return NULL;
}

/* Life. */

static void
add_socket(sn_sockets *all, sn_socket *s)
{
    s->next = all->first;
    if (s->next)
        s->next->prev = s;
    else
        sn_timer_set(&s->console->loop, &all->sweep,
                     sn_time_add(s->console->loop.now, SWEEP));
    all->first = s;
    all->n++;
    if (!s->is_echo)
        all->strangers++;
    seine_http_opened(s->console->http_metrics, SEINE_HTTP_WEBSOCKET);
}

static sn_socket_link *
make_link(sn_call *call, const sn_upgrade *u, bool is_echo)
{
    sn_socket_link *l = sn_zalloc(sizeof *l);
    sn_ws_opts opts = {is_echo ? ECHO : SN_SOCKET_FIRST, is_echo, on_message, l};

    if (!l)
        return NULL;
    if (sn_ws_new(&opts, &l->ws) != SEINE_OK ||
        sn_timer_reserve(&call->console->loop) != SEINE_OK) {
        sn_ws_free(l->ws);
        sn_free(l);
        return NULL;
    }
    l->upgrade = *u;
    l->watch.ready = on_ready;
    l->soon.fire = on_soon;
    l->last = &l->first;
    l->can_write = true;
    sn_buf_init(&l->out, 2 * PIECE);
    sn_buf_init(&l->first_bytes, 4 * PIECE);
    return l;
}

static void
fill_socket(sn_socket_link *l, const sn_call *call, bool is_echo)
{
    sn_socket *s = &l->socket;

    s->console = call->console;
    s->link = l;
    s->is_echo = is_echo;
    s->user.role = SN_ROLE_NONE;
    l->early = call->user;
    memcpy(s->peer, call->peer, sizeof s->peer);
    memcpy(s->id, call->id, sizeof s->id);
    s->opened = s->heard = l->pinged = call->console->loop.now;
}

static void
take_socket(sn_call *call, const sn_upgrade *u, bool is_echo)
{
    sn_socket_link *l = make_link(call, u, is_echo);
    int yes = 1;

    if (!l) {
        u->close(u->handle);
        return;
    }
    setsockopt(u->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); /* of TCP alone */
    fill_socket(l, call, is_echo);
    if (sn_loop_add(&call->console->loop, u->fd, &l->watch) != SEINE_OK) {
        sn_timer_forget(&call->console->loop, &l->soon);
        sn_ws_free(l->ws);
        sn_free(l);
        u->close(u->handle);
        return;
    }
    add_socket(call->console->sockets, &l->socket);
    if (!is_echo)
        sn_message_opened(&l->socket);
    sn_buf_str(&l->first_bytes, u->early); /* the library is still at work */
    l->can_read = true;
    wake(l);
}

static void
take_console(sn_call *call, const sn_upgrade *u)
{
    take_socket(call, u, false);
}

static void
take_echo(sn_call *call, const sn_upgrade *u)
{
    take_socket(call, u, true);
}

/* Does the list, separated by commas, hold the word? */
static bool
has_word(sn_str list, sn_str word)
{
    sn_str part;

    while (sn_str_next(&list, ',', &part))
        if (sn_str_eq_nocase(sn_str_trim(part), word))
            return true;
    return false;
}

/* False: the call is answered. */
static bool
is_handshake(sn_call *call, char accept[29])
{
    if (has_word(sn_call_field(call, "Upgrade"), SN_STR("websocket")) &&
        has_word(sn_call_field(call, "Connection"), SN_STR("upgrade")) &&
        sn_str_eq(sn_call_field(call, "Sec-WebSocket-Version"), SN_STR("13")) &&
        sn_ws_accept(sn_call_field(call, "Sec-WebSocket-Key"), accept) == SEINE_OK)
        return true;
    sn_call_fail(call, SN_API_BAD_MESSAGE, "this path is for WebSockets of version 13",
                 NULL);
    return false;
}

static bool
has_room(sn_call *call)
{
    const sn_sockets *all = call->console->sockets;

    if (all->is_stopped) {
        sn_call_fail(call, SN_API_UNAVAILABLE, "the server is stopping", NULL);
        return false;
    }
    if (all->n < call->console->opts.max_sockets &&
        all->strangers < call->console->opts.max_strangers)
        return true;
    sn_call_fail_after(call, SN_API_TOO_MANY, "too many WebSockets", 5);
    return false;
}

void
sn_api_ws(sn_call *call)
{
    sn_str offered = sn_call_field(call, "Sec-WebSocket-Protocol");
    char accept[29];

    if (!is_handshake(call, accept) || !has_room(call))
        return;
    /* A browser sends Origin, which has been checked; others show a token. */
    if (!sn_call_field(call, "Origin").ptr && call->user.role < SN_ROLE_VIEWER &&
        !call->console->opts.no_auth)
        sn_call_fail(call, SN_API_FORBIDDEN, "without Origin send Authorization", NULL);
    else if (offered.ptr && !has_word(offered, SN_STR("seine.v1")))
        sn_call_fail(call, SN_API_BAD_MESSAGE, "the protocol is seine.v1", NULL);
    else
        sn_call_upgrade(call, accept, offered.ptr ? "seine.v1" : NULL, take_console);
}

void
sn_api_ws_echo(sn_call *call)
{
    char accept[29];

    if (!call->console->opts.ws_echo || !call->is_loopback)
        sn_call_fail(call, SN_API_NOT_FOUND, "there is no such path", NULL);
    else if (is_handshake(call, accept) && has_room(call))
        sn_call_upgrade(call, accept, NULL, take_echo);
}

static seine_err
make_metrics(seine_console *c, sn_sockets *all)
{
    static const char *const ways[] = {"in", "out"};
    seine_label labels[] = {{"direction", ways, 2}, {"type", kinds, KINDS}};
    seine_err e =
        seine_metrics_counter(c->metrics, "seine_ws_messages_total",
                              "Messages of WebSockets.", labels, 2, &all->messages);

    if (e == SEINE_OK)
        e = seine_metrics_counter(c->metrics, "seine_ws_slow_closed_total",
                                  "WebSockets closed because their client did not read.",
                                  NULL, 0, &all->slow);
    return e;
}

seine_err
sn_sockets_start(seine_console *c, seine_diag *d)
{
    sn_sockets *all = sn_zalloc(sizeof *all);

    (void)d;
    if (!all)
        return SEINE_E_NOMEM;
    all->sweep.fire = on_sweep;
    c->sockets = all;
    seine_err e = make_metrics(c, all);
    return e == SEINE_OK ? sn_timer_reserve(&c->loop) : e;
}

void
sn_sockets_stop(seine_console *c)
{
    c->sockets->is_stopped = true;
    for (sn_socket *s = c->sockets->first; s; s = s->next)
        begin_close(link_of(s), 1001, "stopping", SN_SOCKET_SHUTDOWN);
}

bool
sn_sockets_is_busy(seine_console *c)
{
    return c->sockets->first != NULL;
}

void
sn_sockets_fini(seine_console *c)
{
    if (!c->sockets)
        return;
    while (c->sockets->first)
        finish(link_of(c->sockets->first));
    sn_timer_forget(&c->loop, &c->sockets->sweep);
    sn_free(c->sockets);
    c->sockets = NULL;
}
