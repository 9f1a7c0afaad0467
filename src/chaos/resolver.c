/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/resolver.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/time.h"
#include "chaos/name_server.h"
#include "chaos/quote.h"

#define WAITING 1024
#define PEERS   64
#define QUERY   1024 /* bytes of a query; a longer one is cut */
#define SILENCE SEINE_SECS(10)
#define TRIES   16 /* to find a port that is free for both */

/* A delayed answer to the sender of a datagram. */
typedef struct late {
    snc_alarm alarm;
    snc_resolver *resolver;
    struct late *prev, *next;
    struct sockaddr_in to;
    size_t len;
    uint8_t bytes[];
} late;

/* A TCP connection: one query after the other. */
typedef struct peer {
    snc_watch watch;
    snc_alarm alarm;
    snc_resolver *resolver;
    struct peer *prev, *next;
    int fd;
    uint8_t in[2 + QUERY];
    size_t in_len;
    uint8_t *answer; /* a delayed answer: length and bytes */
    size_t answer_len;
} peer;

struct snc_resolver {
    snc_server *server;
    int udp, tcp;
    uint16_t port;
    snc_watch on_udp, on_tcp;
    late *lates;
    peer *peers;
    unsigned late_count, peer_count;
    uint8_t out[2 + SNC_NAME_SERVER_ROOM];
};

static void
note_query(snc_resolver *r, const snc_dns_question *q, const snc_dns_answer *answer,
           bool tcp)
{
    snc_world *w = &r->server->world;

    sn_buf_reset(&w->line);
    sn_buf_printf(&w->line,
                  "{\"t_us\":%lld,\"dns\":", (long long)(r->server->now / 1000));
    snc_quote(&w->line, sn_str_of(q->name));
    sn_buf_printf(&w->line, ",\"type\":%u,\"tcp\":%s,\"rcode\":%u,\"bytes\":%zu}\n",
                  q->type, tcp ? "true" : "false", answer->rcode, answer->len);
    snc_request_log_add(&w->request_log, sn_buf_view(&w->line));
    w->queries++;
}

/* Makes the answer, two bytes behind the start of `out`. */
static snc_dns_answer
ask_name(snc_resolver *r, const uint8_t *query, size_t len, bool tcp)
{
    snc_world *w = &r->server->world;
    snc_dns_answer answer = {.bytes = r->out + 2, .room = SNC_NAME_SERVER_ROOM};
    snc_dns_query in = {
        .query = query, .len = len, .tcp = tcp, .script = &w->script, .hit = 1};
    snc_dns_question q;

    if (snc_name_server_question(query, len, &q)) {
        char key[8 + sizeof q.name] = "dns ";
        size_t n = strlen(q.name);

        memcpy(key + 4, q.name, n);
        snc_key *counted = snc_hit_counter_hit(&w->counter, (sn_str){key, 4 + n});
        in.hit = counted ? counted->hits : 1;
        snc_name_server_answer(&in, &answer);
        note_query(r, &q, &answer, tcp);
    } else {
        snc_name_server_answer(&in, &answer);
    }
    return answer;
}

static void
drop_late(late *l)
{
    snc_resolver *r = l->resolver;

    snc_alarm_stop(&r->server->alarms, &l->alarm);
    if (l->next)
        l->next->prev = l->prev;
    *(l->prev ? &l->prev->next : &r->lates) = l->next;
    r->late_count--;
    sn_free(l);
}

static void
on_late(snc_alarm *alarm)
{
    late *l = (late *)(void *)((char *)alarm - offsetof(late, alarm));

    sendto(l->resolver->udp, l->bytes, l->len, 0, (struct sockaddr *)&l->to,
           sizeof l->to);
    drop_late(l);
}

static void
send_later(snc_resolver *r, const snc_dns_answer *answer, const struct sockaddr_in *to)
{
    late *l = r->late_count < WAITING ? sn_zalloc(sizeof *l + answer->len) : NULL;

    if (!l)
        return; /* a datagram may get lost */
    l->alarm.ring = on_late;
    l->resolver = r;
    l->to = *to;
    l->len = answer->len;
    memcpy(l->bytes, answer->bytes, answer->len);
    l->next = r->lates;
    if (l->next)
        l->next->prev = l;
    r->lates = l;
    r->late_count++;
    if (snc_alarm_set(&r->server->alarms, &l->alarm,
                      sn_time_add(r->server->now, answer->delay)) != SEINE_OK)
        drop_late(l);
}

static void
on_datagram(snc_watch *watch, uint32_t events)
{
    snc_resolver *r =
        (snc_resolver *)(void *)((char *)watch - offsetof(snc_resolver, on_udp));

    (void)events;
    for (int i = 0; i < 64; i++) {
        uint8_t query[QUERY];
        struct sockaddr_in from = {.sin_family = AF_INET};
        socklen_t size = sizeof from;
        ssize_t n =
            recvfrom(r->udp, query, sizeof query, 0, (struct sockaddr *)&from, &size);

        if (n < 0)
            break;
        snc_dns_answer answer = ask_name(r, query, (size_t)n, false);
        if (answer.len > 0 && answer.delay > 0)
            send_later(r, &answer, &from);
        else if (answer.len > 0)
            sendto(r->udp, answer.bytes, answer.len, 0, (struct sockaddr *)&from, size);
    }
}

static void
drop_peer(peer *p)
{
    snc_resolver *r = p->resolver;

    snc_alarm_stop(&r->server->alarms, &p->alarm);
    close(p->fd);
    if (p->next)
        p->next->prev = p->prev;
    *(p->prev ? &p->prev->next : &r->peers) = p->next;
    r->peer_count--;
    sn_free(p->answer);
    sn_free(p);
}

/* Answers the query at the start of the input. False: close the connection. */
static bool
answer_peer(peer *p, size_t len)
{
    snc_resolver *r = p->resolver;
    snc_dns_answer answer = ask_name(r, p->in + 2, len, true);

    memmove(p->in, p->in + 2 + len, p->in_len - 2 - len);
    p->in_len -= 2 + len;
    if (answer.len == 0)
        return true;
    r->out[0] = (uint8_t)(answer.len >> 8);
    r->out[1] = (uint8_t)answer.len;
    if (answer.delay == 0)
        return send(p->fd, r->out, 2 + answer.len, MSG_NOSIGNAL) ==
               (ssize_t)(2 + answer.len);
    p->answer = sn_alloc(2 + answer.len);
    if (!p->answer)
        return false;
    memcpy(p->answer, r->out, 2 + answer.len);
    p->answer_len = 2 + answer.len;
    return snc_alarm_set(&r->server->alarms, &p->alarm,
                         sn_time_add(r->server->now, answer.delay)) == SEINE_OK;
}

/* Answers whole queries in order; those behind a delayed one wait too. */
static bool
serve_peer(peer *p)
{
    while (!p->answer && p->in_len >= 2) {
        size_t len = (size_t)p->in[0] << 8 | p->in[1];

        if (len > QUERY)
            return false;
        if (p->in_len < 2 + len)
            break;
        if (!answer_peer(p, len))
            return false;
    }
    return true;
}

static void
on_peer(snc_watch *watch, uint32_t events)
{
    peer *p = (peer *)(void *)((char *)watch - offsetof(peer, watch));
    ssize_t n = 0;

    if (p->in_len < sizeof p->in)
        n = recv(p->fd, p->in + p->in_len, sizeof p->in - p->in_len, 0);
    if (n > 0)
        p->in_len += (size_t)n;
    bool fine = n > 0 || (n < 0 && errno == EAGAIN);
    if (!fine || events & (EPOLLHUP | EPOLLERR) || !serve_peer(p))
        drop_peer(p);
}

static void
on_peer_alarm(snc_alarm *alarm)
{
    peer *p = (peer *)(void *)((char *)alarm - offsetof(peer, alarm));
    snc_server *s = p->resolver->server;
    bool fine = p->answer && send(p->fd, p->answer, p->answer_len, MSG_NOSIGNAL) ==
                                 (ssize_t)p->answer_len;

    sn_free(p->answer);
    p->answer = NULL;
    if (!fine ||
        snc_alarm_set(&s->alarms, &p->alarm, sn_time_add(s->now, SILENCE)) != SEINE_OK ||
        !serve_peer(p))
        drop_peer(p);
}

static void
on_connection(snc_watch *watch, uint32_t events)
{
    snc_resolver *r =
        (snc_resolver *)(void *)((char *)watch - offsetof(snc_resolver, on_tcp));
    int fd = accept4(r->tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    peer *p = fd >= 0 && r->peer_count < PEERS ? sn_zalloc(sizeof *p) : NULL;

    (void)events;
    if (!p) {
        if (fd >= 0)
            close(fd);
        return;
    }
    p->watch.ready = on_peer;
    p->alarm.ring = on_peer_alarm;
    p->resolver = r;
    p->fd = fd;
    p->next = r->peers;
    if (p->next)
        p->next->prev = p;
    r->peers = p;
    r->peer_count++;
    if (snc_server_watch(r->server, fd, EPOLLIN, &p->watch) != SEINE_OK ||
        snc_alarm_set(&r->server->alarms, &p->alarm,
                      sn_time_add(r->server->now, SILENCE)) != SEINE_OK)
        drop_peer(p);
}

/* The kernel chooses a port for UDP, which may be taken for TCP. */
static seine_err
open_pair(snc_resolver *r)
{
    bool bound;

    for (int i = 0; i < TRIES; i++) {
        r->udp = snc_server_socket(SOCK_DGRAM, INADDR_LOOPBACK, 0, false, &bound);
        if (r->udp < 0)
            return errno == EMFILE ? SEINE_E_NO_FILES : SEINE_E_IO;
        r->port = snc_server_port(r->udp);
        r->tcp = snc_server_socket(SOCK_STREAM, INADDR_LOOPBACK, r->port, false, &bound);
        if (r->tcp >= 0)
            return listen(r->tcp, PEERS) == 0 ? SEINE_OK : SEINE_E_IO;
        close(r->udp);
        r->udp = -1;
    }
    return SEINE_E_IO;
}

seine_err
snc_resolver_open(snc_server *s, snc_resolver **out_resolver)
{
    snc_resolver *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    r->server = s;
    r->udp = r->tcp = -1;
    r->on_udp.ready = on_datagram;
    r->on_tcp.ready = on_connection;
    seine_err e = open_pair(r);
    if (e == SEINE_OK)
        e = snc_server_watch(s, r->udp, EPOLLIN, &r->on_udp);
    if (e == SEINE_OK)
        e = snc_server_watch(s, r->tcp, EPOLLIN, &r->on_tcp);
    if (e != SEINE_OK) {
        snc_resolver_close(r);
        return e;
    }
    *out_resolver = r;
    return SEINE_OK;
}

void
snc_resolver_close(snc_resolver *r)
{
    if (!r)
        return;
    while (r->lates)
        drop_late(r->lates);
    while (r->peers)
        drop_peer(r->peers);
    if (r->udp >= 0)
        close(r->udp);
    if (r->tcp >= 0)
        close(r->tcp);
    sn_free(r);
}

uint16_t
snc_resolver_port(const snc_resolver *r)
{
    return r->port;
}
