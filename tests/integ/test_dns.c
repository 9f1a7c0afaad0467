/* SPDX-License-Identifier: Apache-2.0 */
/* Names asked of real name servers on the loopback device: the evil one, and one that
 * says what a test wants. */
#include "net/dns.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seine/chaos.h>
#include <seine/plumbing.h>

#include "base/time.h"
#include "check.h"
#include "diag_line.h"
#include "failing.h"

TESTS_AT_ONCE(8)

#define SOON SEINE_MS(100)  /* a moment is met so late if the machine is free */
#define LONG SEINE_SECS(30) /* a deadline that is not meant to come */

/* -- a clock that a test can set forward, and stop -- */

typedef struct shifted {
    seine_clock clock; /* first */
    seine_span by;
    seine_time stands_at; /* but for what it is set forward; 0: it runs */
} shifted;

static seine_time
shifted_now(seine_clock *c)
{
    const shifted *it = (shifted *)(void *)c;
    seine_clock *s = seine_clock_system();

    return (it->stands_at ? it->stands_at : s->now(s)) + it->by;
}

/* -- who asks -- */

typedef struct net {
    shifted clock;
    sn_loop loop;
    sn_dns *dns;
    seine_chaos *chaos;
} net;

typedef struct asker {
    sn_lookup lookup; /* first */
    seine_err e;      /* BUSY: not told yet */
    sn_dns_answer answer;
    seine_time at;
    int told;
    void (*then)(struct asker *a);
    void *arg;
} asker;

static void
on_done(sn_lookup *l, seine_err e, const sn_dns_answer *answer)
{
    asker *a = (asker *)(void *)l;
    net *n = l->of;

    a->e = e;
    a->told++;
    a->at = n->loop.now;
    CHECK_EQ(answer != NULL, e == SEINE_OK);
    if (answer)
        a->answer = *answer;
    if (a->then)
        a->then(a);
}

/* Without a timeout of the test's own there is no second try before 5 s, so that
 * questions can be counted. */
static void
open_net(net *n, const sn_dns_opts *opts)
{
    seine_diag diag = SEINE_DIAG;
    sn_dns_opts o = *opts;

    o.timeout = o.timeout > 0 ? o.timeout : SEINE_SECS(35);
    *n = (net){.clock.clock.now = shifted_now, .chaos = n->chaos};
    CHECK_EQ(sn_loop_init(&n->loop, &n->clock.clock), SEINE_OK);
    CHECK_EQ(sn_dns_new(&n->loop, &o, &n->dns, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
}

static void
close_net(net *n)
{
    sn_dns_free(n->dns);
    CHECK_EQ(n->loop.reserved, 0);
    sn_loop_fini(&n->loop);
    seine_chaos_free(n->chaos);
}

/* With the evil server. */
static void
open_chaos(net *n, sn_dns_opts opts)
{
    seine_chaos_opts o = SEINE_CHAOS_OPTS;

    o.dns = true;
    CHECK_EQ(seine_chaos_new(&o, &n->chaos), SEINE_OK);
    opts.server = seine_chaos_where(n->chaos, "dns");
    open_net(n, &opts);
}

static seine_time
now(net *n)
{
    return n->clock.clock.now(&n->clock.clock);
}

static seine_err
ask(net *n, asker *a, const char *name, seine_span limit)
{
    a->lookup.done = on_done;
    a->lookup.of = n;
    seine_time t = now(n);
    a->e = sn_dns_ask(n->dns, sn_str_of(name), 80, t, sn_time_add(t, limit), &a->lookup);
    if (a->e == SEINE_OK)
        a->answer = *a->lookup.answer;
    return a->e;
}

static void
run_for(net *n, seine_span d)
{
    seine_time until = now(n) + d;

    while (now(n) < until)
        sn_loop_turn(&n->loop, until);
}

static seine_err
wait_for(net *n, const asker *a)
{
    while (a->e == SEINE_E_BUSY)
        sn_loop_turn(&n->loop, SEINE_NEVER);
    return a->e;
}

static seine_err
find(net *n, const char *name, sn_dns_answer *out)
{
    asker a = {0};
    seine_err e = ask(n, &a, name, LONG);

    if (e == SEINE_E_BUSY)
        e = wait_for(n, &a);
    if (out)
        *out = a.answer;
    return e;
}

static uint32_t
v4(const sn_dns_answer *a, int i)
{
    uint32_t n;

    memcpy(&n, a->v4[i].bytes, 4);
    return ntohl(n);
}

static int64_t
queries(const net *n)
{
    int64_t count = -1;
    char *text = NULL;
    seine_json *r = NULL;

    CHECK_EQ(seine_chaos_report(n->chaos, &text), SEINE_OK);
    CHECK_EQ(seine_json_parse(text, strlen(text), &r, NULL), SEINE_OK);
    seine_json_int(seine_json_get(seine_json_get(r, "totals"), "dns_queries"), &count);
    seine_json_free(r);
    seine_chaos_text_free(text);
    return count;
}

/* -- a server that says what a test wants -- */

enum { A = 1, CNAME = 5, AAAA = 28, WAITING = 1024 };

typedef struct message {
    uint8_t bytes[1024];
    size_t len;
    size_t question; /* where it ends */
    int type;
    struct sockaddr_in peer;
    seine_time at;
} message;

typedef struct server {
    int fd;
    char where[32];
    pthread_t thread;
    bool stop;
    seine_span slow_a, slow_aaaa;         /* answers to these are late */
    bool hold_a, hold_aaaa;               /* … and do not come at all, until released */
    void (*reply)(message *m, void *arg); /* makes an answer of a question; len 0: none */
    void *arg;
    int seen[2], most; /* questions for A and AAAA; most that waited at once */
    int sent[2];       /* answers to them */
    message waiting[WAITING];
    int n_waiting;
} server;

static void
send_due(server *s, seine_time t)
{
    for (int i = 0; i < s->n_waiting; i++) {
        message *m = &s->waiting[i];

        if (m->at > t ||
            __atomic_load_n(m->type == A ? &s->hold_a : &s->hold_aaaa, __ATOMIC_SEQ_CST))
            continue;
        sendto(s->fd, m->bytes, m->len, 0, (struct sockaddr *)&m->peer, sizeof m->peer);
        __atomic_fetch_add(&s->sent[m->type != A], 1, __ATOMIC_SEQ_CST);
        *m = s->waiting[--s->n_waiting];
        i--;
    }
}

static void
take(server *s, seine_time t)
{
    message *m = &s->waiting[s->n_waiting];
    socklen_t size = sizeof m->peer;
    ssize_t n =
        recvfrom(s->fd, m->bytes, sizeof m->bytes, 0, (struct sockaddr *)&m->peer, &size);

    if (n < 17)
        return;
    m->question = 12;
    while (m->bytes[m->question] != 0)
        m->question += 1u + m->bytes[m->question];
    m->type = m->bytes[m->question + 2];
    m->question += 5;
    m->len = m->question;
    m->bytes[2] = 0x81; /* a response; recursion was asked for */
    m->bytes[3] = 0x80;
    memset(m->bytes + 6, 0, 6);
    m->at = t + (m->type == A ? s->slow_a : s->slow_aaaa);
    __atomic_fetch_add(&s->seen[m->type != A], 1, __ATOMIC_SEQ_CST);
    s->reply(m, s->arg);
    if (m->len > 0)
        s->n_waiting++;
    if (s->n_waiting > s->most)
        s->most = s->n_waiting;
}

static void *
serve(void *arg)
{
    server *s = arg;
    seine_clock *c = seine_clock_system();

    while (!__atomic_load_n(&s->stop, __ATOMIC_SEQ_CST)) {
        struct pollfd p = {.fd = s->fd, .events = POLLIN};

        if (poll(&p, 1, s->n_waiting > 0 ? 1 : 5) > 0)
            for (int i = 0; i < 64 && s->n_waiting < WAITING - 1; i++)
                take(s, c->now(c));
        send_due(s, c->now(c));
    }
    return NULL;
}

static server *
open_server(void (*reply)(message *m, void *arg), void *arg)
{
    server *s = calloc(1, sizeof *s);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    s->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK_EQ(bind(s->fd, (struct sockaddr *)&at, size), 0);
    getsockname(s->fd, (struct sockaddr *)&at, &size);
    snprintf(s->where, sizeof s->where, "127.0.0.1:%u", ntohs(at.sin_port));
    s->reply = reply;
    s->arg = arg;
    return s;
}

static void
start_server(server *s)
{
    CHECK_EQ(pthread_create(&s->thread, NULL, serve, s), 0);
}

/* Returns how many questions waited for their answers at most. */
static int
close_server(server *s)
{
    __atomic_store_n(&s->stop, true, __ATOMIC_SEQ_CST);
    pthread_join(s->thread, NULL);
    int most = s->most;
    close(s->fd);
    free(s);
    return most;
}

static int
seen(server *s, int type)
{
    return __atomic_load_n(&s->seen[type != A], __ATOMIC_SEQ_CST);
}

static void
release(server *s)
{
    __atomic_store_n(&s->hold_a, false, __ATOMIC_SEQ_CST);
    __atomic_store_n(&s->hold_aaaa, false, __ATOMIC_SEQ_CST);
}

/* Waits for the first answer of that kind and hears it. */
static void
hear_answer(net *n, server *s, int type)
{
    while (__atomic_load_n(&s->sent[type != A], __ATOMIC_SEQ_CST) == 0)
        sn_loop_turn(&n->loop, now(n) + SEINE_MS(1));
    sn_loop_turn(&n->loop, now(n));
}

/* One more record of the name that was asked for. */
static void
add(message *m, int type, uint32_t ttl, const void *data, size_t n)
{
    const uint8_t head[] = {0xc0,
                            12,
                            0,
                            (uint8_t)type,
                            0,
                            1,
                            (uint8_t)(ttl >> 24),
                            (uint8_t)(ttl >> 16),
                            (uint8_t)(ttl >> 8),
                            (uint8_t)ttl,
                            0,
                            (uint8_t)n};

    memcpy(m->bytes + m->len, head, sizeof head);
    memcpy(m->bytes + m->len + sizeof head, data, n);
    m->len += sizeof head + n;
    m->bytes[7]++;
}

/* 10.0.0.3, .1, .2 and 2001:db8::9, ::7 for every name. */
static void
both(message *m, void *arg)
{
    (void)arg;
    if (m->type == A) {
        add(m, A, 60, (uint8_t[]){10, 0, 0, 3}, 4);
        add(m, A, 60, (uint8_t[]){10, 0, 0, 1}, 4);
        add(m, A, 60, (uint8_t[]){10, 0, 0, 2}, 4);
    } else {
        add(m, AAAA, 60, (uint8_t[16]){0x20, 1, 0xd, 0xb8, [15] = 9}, 16);
        add(m, AAAA, 60, (uint8_t[16]){0x20, 1, 0xd, 0xb8, [15] = 7}, 16);
    }
}

/* -- facts -- */

TEST(dns_a_name_has_its_address_and_is_asked_for_once)
{
    net n = {0};
    sn_dns_answer a;
    sn_dns_stats stats;

    open_chaos(&n, (sn_dns_opts){0});
    CHECK_EQ(find(&n, "a-1-2-3-4.test", &a), SEINE_OK);
    CHECK_EQ(a.n4, 1);
    CHECK_EQ(a.n6, 0);
    CHECK_EQ(v4(&a, 0), 0x01020304);
    CHECK_EQ(queries(&n), 2);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(find(&n, "a-1-2-3-4.test", &a), SEINE_OK);
    CHECK_EQ(v4(&a, 0), 0x01020304);
    CHECK_EQ(queries(&n), 2);
    sn_dns_stats_get(n.dns, &stats);
    CHECK_EQ(stats.ok, 1);
    CHECK_EQ(stats.hits, 10);
    close_net(&n);
}

TEST(dns_every_way_to_fail_has_its_name)
{
    static const struct {
        const char *name;
        seine_err e;
        int64_t queries; /* -1: depends */
    } rows[] = {
        {"nx.a.test", SEINE_E_DNS_NXDOMAIN, 2},
        {"empty.a.test", SEINE_E_DNS_NXDOMAIN, 2},    /* a name without address */
        {"selfname.a.test", SEINE_E_DNS_NXDOMAIN, 2}, /* its own alias, no address */
        {"servfail.a.test", SEINE_E_DNS_SERVFAIL, 2}, /* no second try */
        {"refused.a.test", SEINE_E_DNS_SERVFAIL, 2},
        {"a.example", SEINE_E_DNS_SERVFAIL, 2},
        {"loop.a.test", SEINE_E_DNS_ERROR, 2}, /* a name that points to itself */
        {"drop.a.test", SEINE_E_DNS_TIMEOUT, -1},
        {"wrongid.a.test", SEINE_E_DNS_TIMEOUT, -1}, /* not an answer to us */
        {"garbage.a.test", SEINE_E_DNS_ERROR, -1},   /* nobody can read it */
        {"trunc.a.test", SEINE_OK, 4},               /* again over TCP */
        {"a..test", SEINE_E_DNS_BAD_NAME, 0},
        {"a b.test", SEINE_E_DNS_BAD_NAME, 0},
        {"127.0.0.1", SEINE_OK, 0},
        {"localhost", SEINE_OK, 0},
        {"deep.localhost", SEINE_OK, 0},
    };

    EACH_ROW(i, rows) {
        net n = {0};

        /* No second try where they are counted. */
        open_chaos(&n,
                   (sn_dns_opts){.timeout = SEINE_MS(rows[i].queries < 0 ? 1000 : 0)});
        CHECK_EQ(find(&n, rows[i].name, NULL), rows[i].e);
        if (rows[i].queries >= 0)
            CHECK_EQ(queries(&n), rows[i].queries);
        close_net(&n);
    }
}

TEST(dns_keeps_sixteen_addresses_of_many)
{
    net n = {0};
    sn_dns_answer a;

    open_chaos(&n, (sn_dns_opts){0});
    CHECK_EQ(find(&n, "many-1000.test", &a), SEINE_OK); /* over TCP */
    CHECK_EQ(a.n4, 16);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(v4(&a, i), 0x7f010001 + i);
    close_net(&n);
}

TEST(dns_answers_are_kept_for_their_time_to_live)
{
    static const struct {
        const char *name;
        seine_err e;
        seine_span kept;
    } rows[] = {
        {"ttl-7.a.test", SEINE_OK, SEINE_SECS(7)},
        {"ttl-0.a.test", SEINE_OK, SEINE_SECS(1)}, /* at least */
        {"ttl-100000.a.test", SEINE_OK, SEINE_SECS(3600)},
        {"nx.a.test", SEINE_E_DNS_NXDOMAIN, SEINE_SECS(60)},
        {"empty.a.test", SEINE_E_DNS_NXDOMAIN, SEINE_SECS(60)},
        {"servfail.a.test", SEINE_E_DNS_SERVFAIL, SEINE_SECS(1)},
        {"loop.a.test", SEINE_E_DNS_ERROR, SEINE_SECS(1)},
    };

    EACH_ROW(i, rows) {
        net n = {0};
        asker a = {0};

        open_chaos(&n, (sn_dns_opts){0});
        CHECK_EQ(find(&n, rows[i].name, NULL), rows[i].e);
        seine_time told = n.loop.now;
        int64_t before = queries(&n);

        CHECK_EQ(sn_dns_ask(n.dns, sn_str_of(rows[i].name), 80, told + rows[i].kept - 1,
                            SEINE_NEVER, &a.lookup),
                 rows[i].e);
        CHECK_EQ(queries(&n), before);
        n.clock.by += rows[i].kept;
        run_for(&n, 1); /* the loop's now */
        CHECK_EQ(find(&n, rows[i].name, NULL), rows[i].e);
        CHECK_EQ(queries(&n), 2 * before);
        close_net(&n);
    }
}

static void
alias(message *m, void *arg)
{
    static const uint8_t other[] = {1, 'x', 0}; /* x. */

    (void)arg;
    add(m, CNAME, 5, other, sizeof other);
    if (m->type == A) {
        size_t at = m->len;

        add(m, A, 600, (uint8_t[]){10, 0, 0, 1}, 4);
        m->bytes[at + 1] = (uint8_t)(at - sizeof other); /* an address of x. */
    }
}

TEST(dns_the_shortest_time_to_live_of_a_chain_counts)
{
    net n = {0};
    asker a = {0};
    server *s = open_server(alias, NULL);

    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where});
    CHECK_EQ(find(&n, "e.example", &a.answer), SEINE_OK);
    CHECK_EQ(v4(&a.answer, 0), 0x0a000001);
    CHECK_EQ(sn_dns_ask(n.dns, SN_STR("e.example"), 80, n.loop.now + SEINE_SECS(5) - 1,
                        SEINE_NEVER, &a.lookup),
             SEINE_OK);
    n.clock.by += SEINE_SECS(5);
    CHECK_EQ(ask(&n, &a, "e.example", LONG), SEINE_E_BUSY);
    CHECK_EQ(wait_for(&n, &a), SEINE_OK);
    close_net(&n);
    close_server(s);
}

TEST(dns_joiners_share_one_question)
{
    static asker a[500];
    net n = {0};

    memset(a, 0, sizeof a);
    open_chaos(&n, (sn_dns_opts){0});
    for (int i = 0; i < 500; i++)
        CHECK_EQ(ask(&n, &a[i], "slow-50.a-9-8-7-6.test", LONG), SEINE_E_BUSY);
    for (int i = 0; i < 500; i++) {
        CHECK_EQ(wait_for(&n, &a[i]), SEINE_OK);
        CHECK_EQ(a[i].told, 1);
        CHECK_EQ(v4(&a[i].answer, 0), 0x09080706);
    }
    CHECK_EQ(queries(&n), 2);
    close_net(&n);
}

TEST(dns_a_slow_name_does_not_hold_another)
{
    asker slow = {0}, fast = {0};
    net n = {0};

    open_chaos(&n, (sn_dns_opts){0});
    CHECK_EQ(ask(&n, &slow, "slow-3000.test", LONG), SEINE_E_BUSY);
    CHECK_EQ(ask(&n, &fast, "fast.test", LONG), SEINE_E_BUSY);
    CHECK_EQ(wait_for(&n, &fast), SEINE_OK);
    CHECK_EQ(slow.told, 0);
    sn_dns_cancel(n.dns, &slow.lookup);
    close_net(&n); /* with a question that nobody waits for */
    CHECK_EQ(slow.told, 0);
}

/* Four ask for one slow name; returns how late the latest of them is told. */
static seine_span
told_late(void)
{
    static const int limits[] = {300, 100, 0, 200};
    asker a[4] = {0}, last = {0};
    seine_span late = 0;
    net n = {0};

    open_chaos(&n, (sn_dns_opts){0});
    seine_time from = now(&n);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(ask(&n, &a[i], "slow-1000.test", SEINE_MS(limits[i])),
                 limits[i] > 0 ? SEINE_E_BUSY : SEINE_E_DNS_TIMEOUT);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(wait_for(&n, &a[i]), SEINE_E_DNS_TIMEOUT);
        CHECK_EQ(a[i].told, limits[i] > 0);
        if (a[i].told) {
            CHECK(a[i].at - from >= SEINE_MS(limits[i]));
            late = sn_time_max(late, a[i].at - from - SEINE_MS(limits[i]));
        }
    }
    CHECK_EQ(ask(&n, &last, "slow-1000.test", LONG), SEINE_E_BUSY); /* it goes on */
    CHECK_EQ(wait_for(&n, &last), SEINE_OK);
    CHECK_EQ(queries(&n), 2);
    close_net(&n);
    return late;
}

/* A machine that has other things to do gets many chances to be on time. */
TEST(dns_everybody_is_told_by_the_own_deadline)
{
    seine_span late = SEINE_NEVER;

    for (int i = 0; i < 20 && late >= SOON; i++)
        late = told_late();
    CHECK(late < SOON);
}

TEST(dns_silent_servers_time_out)
{
    sn_dns_stats stats;
    asker b = {0};
    net n = {0};

    open_chaos(&n, (sn_dns_opts){.timeout = SEINE_MS(300)});
    seine_time from = now(&n);
    CHECK_EQ(find(&n, "drop.test", NULL), SEINE_E_DNS_TIMEOUT);
    CHECK(now(&n) - from >= SEINE_MS(300) && now(&n) - from < CHECK_PATIENCE);
    CHECK_EQ(ask(&n, &b, "drop.test", LONG), SEINE_E_DNS_TIMEOUT); /* known for 1 s */
    sn_dns_stats_get(n.dns, &stats);
    CHECK_EQ(stats.timeouts, 1);
    CHECK_EQ(stats.hits, 1);
    close_net(&n);
}

TEST(dns_both_families_come_together_in_the_order_of_the_server)
{
    sn_dns_answer a;
    net n = {0};
    server *s = open_server(both, NULL);

    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where});
    CHECK_EQ(find(&n, "e.example", &a), SEINE_OK);
    CHECK_EQ(a.n4, 3);
    CHECK_EQ(v4(&a, 0), 0x0a000003);
    CHECK_EQ(v4(&a, 1), 0x0a000001);
    CHECK_EQ(v4(&a, 2), 0x0a000002);
    CHECK_EQ(a.n6, 2);
    CHECK_EQ(a.v6[0].v, 6);
    CHECK_EQ(a.v6[0].bytes[15], 9);
    CHECK_EQ(a.v6[1].bytes[15], 7);
    close_net(&n);
    close_server(s);
}

TEST(dns_one_family_waits_50_ms_for_the_other)
{
    static const struct {
        bool a, aaaa; /* do not come */
        int n4, n6;
    } rows[] = {
        {false, true, 3, 0},
        {true, false, 0, 2},
        {false, false, 3, 2}, /* late, and yet in time */
    };

    EACH_ROW(i, rows) {
        asker a = {0}, again = {0};
        net n = {0};
        server *s = open_server(both, NULL);

        s->hold_a = rows[i].a;
        s->hold_aaaa = rows[i].aaaa;
        s->slow_aaaa = SEINE_MS(i == 2 ? 20 : 0);
        start_server(s);
        open_net(&n, &(sn_dns_opts){.server = s->where});
        seine_time from = now(&n);
        CHECK_EQ(ask(&n, &a, "e.example", LONG), SEINE_E_BUSY);
        CHECK_EQ(wait_for(&n, &a), SEINE_OK);
        CHECK_EQ(a.answer.n4, rows[i].n4);
        if (i != 2 || a.at - from < SEINE_MS(50))
            CHECK_EQ(a.answer.n6, rows[i].n6);
        if (rows[i].n4 == 0 || rows[i].n6 == 0) {
            CHECK(a.at - from >= SEINE_MS(50));
            CHECK_EQ(ask(&n, &again, "e.example", LONG), SEINE_OK); /* no need to wait */
            CHECK_EQ(again.answer.n4, rows[i].n4);
        }
        release(s);
        hear_answer(&n, s, A);
        hear_answer(&n, s, AAAA);
        CHECK_EQ(ask(&n, &again, "e.example", LONG), SEINE_OK); /* whole by now */
        CHECK_EQ(again.answer.n4, 3);
        CHECK_EQ(again.answer.n6, 2);
        CHECK_EQ(seen(s, A), 1);
        CHECK_EQ(seen(s, AAAA), 1);
        close_net(&n);
        close_server(s);
    }
}

/* Of each half: an rcode, or -1 for addresses, or -2 for no answer. */
static void
halves(message *m, void *arg)
{
    int what = ((const int *)arg)[m->type != A];

    if (what == -1)
        both(m, NULL);
    else if (what == -2)
        m->len = 0;
    else
        m->bytes[3] |= (uint8_t)what;
}

TEST(dns_one_family_may_fail_and_the_most_telling_names_it)
{
    static const struct {
        int what[2]; /* A, AAAA */
        seine_err e;
    } rows[] = {
        {{-1, 2}, SEINE_OK},             /* SERVFAIL */
        {{-1, 3}, SEINE_OK},             /* NXDOMAIN from a balancer that knows no AAAA */
        {{2, -1}, SEINE_OK},             /* */
        {{0, 3}, SEINE_E_DNS_NXDOMAIN},  /* nothing; no such name */
        {{3, 2}, SEINE_E_DNS_NXDOMAIN},  /* a name that is nowhere, whatever fails */
        {{0, 2}, SEINE_E_DNS_SERVFAIL},  /* nothing here; who knows what there */
        {{2, 0}, SEINE_E_DNS_SERVFAIL},  /* */
        {{1, 2}, SEINE_E_DNS_SERVFAIL},  /* FORMERR is a failure of ours or theirs */
        {{0, -2}, SEINE_E_DNS_TIMEOUT},  /* */
        {{1, -2}, SEINE_E_DNS_ERROR},    /* */
        {{3, -2}, SEINE_E_DNS_NXDOMAIN}, /* */
        {{-2, -2}, SEINE_E_DNS_TIMEOUT}, /* */
    };

    EACH_ROW(i, rows) {
        net n = {0};
        server *s = open_server(halves, (void *)(uintptr_t)rows[i].what);

        start_server(s);
        open_net(&n, &(sn_dns_opts){.server = s->where, .timeout = SEINE_SECS(1)});
        CHECK_EQ(find(&n, "e.example", NULL), rows[i].e);
        close_net(&n);
        close_server(s);
    }
}

TEST(dns_what_was_told_early_is_told_while_the_rest_is_owed)
{
    asker a = {0};
    net n = {0};
    server *s = open_server(both, NULL);

    s->hold_aaaa = true;
    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where});
    CHECK_EQ(find(&n, "e.example", NULL), SEINE_OK);
    n.clock.by += SEINE_SECS(61); /* it is not in the cache any more */
    CHECK_EQ(ask(&n, &a, "e.example", LONG), SEINE_OK);
    CHECK_EQ(a.answer.n4, 3);
    close_net(&n);
    close_server(s);
}

TEST(dns_a_question_has_its_time_and_its_answer_is_kept_all_the_same)
{
    asker a = {0}, b = {0}, c = {0};
    sn_dns_stats stats;
    net n = {0};
    server *s = open_server(both, NULL);

    s->hold_a = s->hold_aaaa = true;
    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where, .timeout = SEINE_SECS(7)});
    CHECK_EQ(ask(&n, &a, "e.example", LONG), SEINE_E_BUSY);
    n.clock.by += SEINE_SECS(3);
    run_for(&n, 1);
    CHECK_EQ(a.told, 0);
    n.clock.by += SEINE_SECS(4);
    sn_loop_turn(&n.loop, now(&n));
    CHECK_EQ(a.told, 1);
    CHECK_EQ(a.e, SEINE_E_DNS_TIMEOUT);
    CHECK_EQ(ask(&n, &b, "e.example", LONG), SEINE_E_DNS_TIMEOUT); /* for a second */
    n.clock.by += SEINE_SECS(1);
    CHECK_EQ(ask(&n, &b, "e.example", LONG), SEINE_E_BUSY); /* joins what is owed */
    release(s);
    CHECK_EQ(wait_for(&n, &b), SEINE_OK);
    CHECK_EQ(ask(&n, &c, "e.example", LONG), SEINE_OK);
    CHECK_EQ(seen(s, A), 1);
    sn_dns_stats_get(n.dns, &stats);
    CHECK_EQ(stats.timeouts, 1);
    CHECK_EQ(stats.hits, 2);
    close_net(&n);
    close_server(s);
}

TEST(dns_a_deadline_gives_what_is_there)
{
    asker a = {0};
    net n = {0};
    server *s = open_server(both, NULL);

    s->hold_aaaa = true;
    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where});
    n.clock.stands_at = now(&n); /* else it is told 50 ms after the first answer */
    CHECK_EQ(ask(&n, &a, "e.example", SEINE_MS(30)), SEINE_E_BUSY);
    hear_answer(&n, s, A);
    CHECK_EQ(a.told, 0);
    n.clock.by += SEINE_MS(30);
    CHECK_EQ(wait_for(&n, &a), SEINE_OK);
    CHECK_EQ(a.answer.n4, 3);
    CHECK_EQ(a.answer.n6, 0);
    close_net(&n);
    close_server(s);
}

TEST(dns_asks_for_the_wanted_family_alone)
{
    static const struct {
        seine_family family;
        int a, aaaa;
    } rows[] = {{SEINE_FAMILY_4, 1, 0}, {SEINE_FAMILY_6, 0, 1}};

    EACH_ROW(i, rows) {
        sn_dns_answer a;
        net n = {0};
        server *s = open_server(both, NULL);

        start_server(s);
        open_net(&n, &(sn_dns_opts){.server = s->where, .family = rows[i].family});
        CHECK_EQ(find(&n, "e.example", &a), SEINE_OK);
        CHECK_EQ(a.n4, 3 * rows[i].a);
        CHECK_EQ(a.n6, 2 * rows[i].aaaa);
        CHECK_EQ(seen(s, A), rows[i].a);
        CHECK_EQ(seen(s, AAAA), rows[i].aaaa);
        close_net(&n);
        close_server(s);
    }
}

/* What a broken answer looks like; a case each. */
static void
broken(message *m, void *arg)
{
    switch (*(const int *)arg) {
    case 0: /* an address of five bytes */
        add(m, m->type, 60, "12345", 5);
        break;
    case 1: /* a record that is cut off */
        add(m, m->type, 60, "1234", 4);
        m->len -= 2;
        break;
    case 2: /* more records announced than there are */
        m->bytes[6] = m->bytes[7] = 0xff;
        break;
    case 3: /* a name that points behind the end */
        add(m, m->type, 60, "1234", 4);
        m->bytes[m->question + 1] = 0xff;
        m->bytes[m->question] = 0xff;
        break;
    case 4: /* a label that runs over the end */
        m->bytes[m->len++] = 63;
        m->bytes[7] = 1;
        break;
    case 5: /* half a head */
        m->len = 6;
        break;
    case 6: /* an answer to another question */
        m->bytes[13] ^= 1;
        add(m, m->type, 60, "1234567890123456", m->type == A ? 4 : 16);
        break;
    case 7: /* FORMERR: it does not understand us */
        m->bytes[3] = 0x81;
        break;
    default: /* one byte */
        m->len = 1;
    }
}

TEST(dns_malformed_answers_are_errors)
{
    static const seine_err rows[] = {
        SEINE_E_DNS_ERROR, SEINE_E_DNS_ERROR, SEINE_E_DNS_ERROR,   SEINE_E_DNS_ERROR,
        SEINE_E_DNS_ERROR, SEINE_E_DNS_ERROR, SEINE_E_DNS_TIMEOUT, /* well-formed, and not
                                                                      to be believed */
        SEINE_E_DNS_ERROR, SEINE_E_DNS_ERROR,
    };

    EACH_ROW(i, rows) {
        int which = (int)i;
        net n = {0};
        server *s = open_server(broken, &which);

        start_server(s);
        open_net(&n, &(sn_dns_opts){.server = s->where, .timeout = SEINE_SECS(1)});
        CHECK_EQ(find(&n, "e.example", NULL), rows[i]);
        close_net(&n);
        close_server(s);
    }
}

TEST(dns_a_thousand_names_at_once_are_asked_256_at_a_time)
{
    static asker a[1000];
    net n = {0};
    server *s = open_server(both, NULL);

    memset(a, 0, sizeof a);
    s->slow_a = s->slow_aaaa = SEINE_MS(20);
    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where, .timeout = SEINE_SECS(5)});
    for (int i = 0; i < 1000; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%d.example", i);
        CHECK_EQ(ask(&n, &a[i], name, LONG), SEINE_E_BUSY);
    }
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(wait_for(&n, &a[i]), SEINE_OK);
        CHECK_EQ(a[i].told, 1);
    }
    close_net(&n);
    int most = close_server(s);
    CHECK(most > 64);
    CHECK(most <= 2 * 256);
}

TEST(dns_the_queue_obeys_deadlines_and_cancels)
{
    static asker a[300];
    net n = {0};

    memset(a, 0, sizeof a);
    open_chaos(&n, (sn_dns_opts){0});
    seine_time from = now(&n);
    for (int i = 0; i < 300; i++) {
        char name[32];

        snprintf(name, sizeof name, "drop.n%d.test", i);
        CHECK_EQ(ask(&n, &a[i], name, i < 256 ? LONG : SEINE_MS(100)), SEINE_E_BUSY);
    }
    sn_dns_cancel(n.dns, &a[299].lookup); /* the last, one in the middle, the first */
    sn_dns_cancel(n.dns, &a[280].lookup);
    sn_dns_cancel(n.dns, &a[256].lookup);
    for (int i = 257; i < 299; i++)
        if (i != 280) {
            CHECK_EQ(wait_for(&n, &a[i]), SEINE_E_DNS_TIMEOUT);
            CHECK(a[i].at - from >= SEINE_MS(100) && a[i].at - from < CHECK_PATIENCE);
        }
    CHECK_EQ(a[299].told + a[280].told + a[256].told, 0);
    for (int i = 0; i < 256; i++) {
        CHECK_EQ(a[i].told, 0);
        sn_dns_cancel(n.dns, &a[i].lookup);
        sn_dns_cancel(n.dns, &a[i].lookup); /* not waiting is fine */
    }
    close_net(&n);
}

static void
ask_again(asker *a)
{
    net *n = a->lookup.of;
    asker *others = a->arg;

    CHECK_EQ(ask(n, &others[0], "slow-20.a.test", LONG), SEINE_OK); /* known by now */
    CHECK_EQ(ask(n, &others[1], "b.test", LONG), SEINE_E_BUSY);
    sn_dns_cancel(n->dns, &others[2].lookup); /* who waits for the same */
}

TEST(dns_who_is_told_may_ask_and_cancel)
{
    asker others[3] = {0}, a = {.then = ask_again, .arg = others};
    net n = {0};

    open_chaos(&n, (sn_dns_opts){0});
    CHECK_EQ(ask(&n, &others[2], "slow-20.a.test", LONG), SEINE_E_BUSY);
    CHECK_EQ(ask(&n, &a, "slow-20.a.test", LONG), SEINE_E_BUSY); /* told first */
    CHECK_EQ(wait_for(&n, &a), SEINE_OK);
    CHECK_EQ(wait_for(&n, &others[1]), SEINE_OK);
    CHECK_EQ(others[2].told, 0);
    close_net(&n);
}

TEST(dns_a_resolver_that_fails_is_left_alone_and_probed)
{
    net n = {0};
    asker a = {0};
    char name[32];

    open_chaos(&n, (sn_dns_opts){0});
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "servfail.n%d.test", i);
        CHECK_EQ(find(&n, name, NULL), SEINE_E_DNS_SERVFAIL);
    }
    int64_t before = queries(&n);
    CHECK_EQ(before, 40);
    CHECK_EQ(ask(&n, &a, "a.test", LONG), SEINE_E_DNS_SERVFAIL); /* at once */
    CHECK_EQ(ask(&n, &a, "localhost", LONG), SEINE_OK);
    CHECK_EQ(queries(&n), before);
    n.clock.by += SEINE_SECS(5);
    run_for(&n, 1);
    CHECK_EQ(find(&n, "a.test", NULL), SEINE_OK); /* the probe */
    CHECK_EQ(find(&n, "b.test", NULL), SEINE_OK);
    close_net(&n);
}

TEST(dns_who_queues_learns_that_the_resolver_failed)
{
    static asker a[300];
    net n = {0};
    char name[32];

    memset(a, 0, sizeof a);
    open_chaos(&n, (sn_dns_opts){.timeout = SEINE_SECS(5)});
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "servfail.n%d.test", i);
        CHECK_EQ(ask(&n, &a[i], name, LONG), SEINE_E_BUSY);
    }
    for (int i = 0; i < 300; i++)
        CHECK_EQ(wait_for(&n, &a[i]), SEINE_E_DNS_SERVFAIL);
    CHECK(queries(&n) < 2 * 300); /* the rest was not asked */
    close_net(&n);
}

TEST(dns_some_broken_names_do_not_shut_the_resolver)
{
    net n = {0};
    char name[32];

    open_chaos(&n, (sn_dns_opts){0});
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%sn%d.test", i % 10 ? "servfail." : "nx.", i);
        CHECK_EQ(find(&n, name, NULL),
                 i % 10 ? SEINE_E_DNS_SERVFAIL : SEINE_E_DNS_NXDOMAIN);
    }
    CHECK_EQ(find(&n, "a.test", NULL), SEINE_OK);
    close_net(&n);
}

TEST(dns_nobody_at_the_servers_port_is_servfail)
{
    net n = {0};
    server *s = open_server(both, NULL); /* never started */

    close(s->fd);
    open_net(&n, &(sn_dns_opts){.server = s->where});
    seine_time from = now(&n);
    CHECK_EQ(find(&n, "e.example", NULL), SEINE_E_DNS_SERVFAIL);
    CHECK(now(&n) - from < CHECK_PATIENCE);
    close_net(&n);
    free(s);
}

TEST(dns_without_descriptors_says_so)
{
    net n = {0};
    asker a = {0};
    struct rlimit old, none;

    open_chaos(&n, (sn_dns_opts){0});
    getrlimit(RLIMIT_NOFILE, &old);
    none = (struct rlimit){(rlim_t)n.loop.event + 1, old.rlim_max};
    int last = open("/dev/null", O_RDONLY | O_CLOEXEC); /* no gap below the bound */
    while (last >= 0 && last < n.loop.event)
        last = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setrlimit(RLIMIT_NOFILE, &none);
    CHECK_EQ(ask(&n, &a, "a.test", LONG), SEINE_E_BUSY); /* never from inside of ask */
    sn_loop_turn(&n.loop, now(&n));
    CHECK_EQ(a.told, 1);
    CHECK_EQ(a.e, SEINE_E_NO_FILES);
    setrlimit(RLIMIT_NOFILE, &old);
    CHECK_EQ(find(&n, "a.test", NULL), SEINE_OK); /* it was nobody's fault: not kept */
    close(last);
    close_net(&n);
}

/* Who asks from which port, for how many questions of each. */
typedef struct ports {
    pthread_mutex_t lock;
    uint16_t port[512];
    int count[512], n;
} ports;

static void
note_port(message *m, void *arg)
{
    ports *p = arg;
    int i = 0;

    pthread_mutex_lock(&p->lock);
    while (i < p->n && p->port[i] != m->peer.sin_port)
        i++;
    if (i == p->n && p->n < 512)
        p->port[p->n++] = m->peer.sin_port;
    p->count[i]++;
    pthread_mutex_unlock(&p->lock);
    if (memcmp(m->bytes + 12, "\004hang", 5) == 0)
        m->len = 0;
    else
        both(m, NULL);
}

/* An answer is believed that has the id and the port of its question: a port that stays
 * leaves the 16 bits of the id to guess. A name whose servers are silent keeps a question
 * open all the time. */
TEST(dns_asks_from_another_port_every_few_questions)
{
    enum { NAMES = 64 };
    static ports p = {.lock = PTHREAD_MUTEX_INITIALIZER};
    server *s = open_server(note_port, &p);
    net n = {0};
    asker silent = {0};
    int most = 0;

    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where, .timeout = LONG});
    CHECK_EQ(ask(&n, &silent, "hang.example", 2 * LONG), SEINE_E_BUSY);
    for (int i = 0; i < NAMES; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%d.example", i);
        CHECK_EQ(find(&n, name, NULL), SEINE_OK);
    }
    sn_dns_cancel(n.dns, &silent.lookup);
    close_net(&n);
    close_server(s); /* nobody notes ports any more */
    for (int i = 0; i < p.n; i++)
        most = p.count[i] > most ? p.count[i] : most;
    CHECK_EQ(silent.told, 0);
    CHECK(p.n >= NAMES / 4 - 2); /* chance may choose a port twice … */
    CHECK(most <= 3 * 2 * 4);    /* … and a slow machine ask again */
}

static int
count_open(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Many at once: ports change, and take few descriptors. */
TEST(dns_many_questions_share_a_few_ports)
{
    enum { NAMES = 256 };
    static ports p = {.lock = PTHREAD_MUTEX_INITIALIZER};
    static asker all[NAMES];
    server *s = open_server(note_port, &p);
    net n = {0};
    int before, during;

    s->slow_a = s->slow_aaaa = SEINE_MS(100);
    start_server(s);
    open_net(&n, &(sn_dns_opts){.server = s->where});
    before = count_open();
    for (int i = 0; i < NAMES; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%d.example", i);
        all[i] = (asker){0};
        CHECK_EQ(ask(&n, &all[i], name, LONG), SEINE_E_BUSY);
    }
    during = count_open();
    for (int i = 0; i < NAMES; i++)
        CHECK_EQ(wait_for(&n, &all[i]), SEINE_OK);
    pthread_mutex_lock(&p.lock);
    CHECK_EQ(p.n, 16);
    pthread_mutex_unlock(&p.lock);
    CHECK_EQ(during, before + 16);
    CHECK_EQ(find(&n, "one-more.example", NULL), SEINE_OK);
    CHECK_EQ(count_open(), before); /* all are closed */
    close_net(&n);
    close_server(s);
}

static void *
shard(void *where)
{
    net n = {0};

    open_net(&n, &(sn_dns_opts){.server = where});
    for (int i = 0; i < 20; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%d.example", i);
        CHECK_EQ(find(&n, name, NULL), SEINE_OK);
    }
    close_net(&n);
    return NULL;
}

TEST(dns_shards_have_resolvers_of_their_own)
{
    server *s = open_server(both, NULL);
    pthread_t threads[4];

    start_server(s);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, shard, s->where), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(seen(s, A), 80);
    close_server(s);
}

TEST(dns_without_memory_says_so_and_leaks_nothing)
{
    server *s = open_server(both, NULL);

    start_server(s);
    FAIL_EACH(round)
    {
        static const char *const resolve[] = {"typed.example:80:10.0.0.1", NULL};
        net n = {.clock.clock.now = shifted_now};
        sn_dns_opts opts = {.server = s->where, .resolve = resolve};
        seine_err e = sn_loop_init(&n.loop, &n.clock.clock);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e != SEINE_OK)
            continue;
        e = sn_dns_new(&n.loop, &opts, &n.dns, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK) {
            e = find(&n, "e.example", NULL);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        }
        close_net(&n);
    }
    close_server(s);
}
