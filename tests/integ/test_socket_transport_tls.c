/* SPDX-License-Identifier: Apache-2.0 */
/* HTTPS on real sockets: who is trusted, what an end means, and what is kept. */
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <sys/socket.h>

#include "diag_line.h"
#include "socket_transport_tls.h"

TESTS_AT_ONCE(8)

/* Trust. */

TEST(a_host_whose_certificate_is_not_right_is_named_and_gets_no_request)
{
    static const struct {
        const char *host;
        seine_err want;
        const char *text;
    } rows[] = {
        {"expired.a.test", SEINE_E_TLS_CERT_EXPIRED, "certificate expired on 20"},
        {"future.a.test", SEINE_E_TLS_CERT_EXPIRED, "certificate is not valid before 20"},
        {"wronghost.a.test", SEINE_E_TLS_HOST_MISMATCH, "certificate is for "},
        {"selfsigned.a.test", SEINE_E_TLS_UNTRUSTED, "self-signed certificate"},
        {"untrusted.a.test", SEINE_E_TLS_UNTRUSTED, "unable to get"},
        {"tls10.a.test", SEINE_E_TLS_ERROR, ""},
        {"alert.a.test", SEINE_E_TLS_ERROR, ""},
        {"x.garbage.test", SEINE_E_TLS_ERROR, ""},
        {"fin.a.test", SEINE_E_CONN_RESET, ""},
        {"reset.a.test", SEINE_E_CONN_RESET, ""},
    };
    secured s = secure();

    EACH_ROW(i, rows) {
        visit *v = get(s.t, at(&s, rows[i].host), "/ok");

        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->end.fault.phase, SEINE_PHASE_TLS);
        CHECK(strncmp(v->end.fault.text, rows[i].text, strlen(rows[i].text)) == 0);
        CHECK(!v->end.fault.sent && v->heads == 0 && !v->end.partial);
        CHECK_EQ(v->end.secure.version, 0);
        CHECK(!v->end.secure.verified);
        free(v);
    }
    CHECK_EQ(chaos_number(s.c, "totals", NULL, "requests"), 0);
    CHECK_EQ(transport_stats(s.t).open, 0);
    secure_end(&s);
}

TEST(names_and_addresses_are_what_the_certificate_says)
{
    static const char *const hosts[] = {"a.test",    "b.a.test",     "127.0.0.1",
                                        "127.3.2.1", "fresh.a.test", "A.TEST"};
    const int64_t days = 90; /* for which the evil server certifies itself */
    seine_clock *clock = seine_clock_system();
    secured s = secure();

    EACH_ROW(i, hosts) {
        visit *v = get(s.t, at(&s, hosts[i]), "/bytes:1000");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->bytes, 1000);
        CHECK_EQ(v->end.secure.version, 13);
        CHECK(v->end.secure.verified);
        int64_t left = v->end.secure.not_after - clock->wall(clock) / SEINE_SECS(1);
        CHECK(left > days * 86400 - 600 && left <= days * 86400);
        free(v);
    }
    secure_end(&s);
}

/* P3 of trust: what nobody looked at is never said to be verified, and nothing of it is
 * used where somebody looks. */
TEST(an_insecure_request_is_recorded_and_shares_nothing)
{
    secured s = secure();
    visit *v = visit_of(at(&s, "selfsigned.a.test"), "/ok");

    v->q.insecure = true;
    visit_run(s.t, v);
    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->end.secure.version, 13);
    CHECK(!v->end.secure.verified);
    free(v);
    CHECK_EQ(transport_stats(s.t).idle, 1);

    v = get(s.t, at(&s, "selfsigned.a.test"), "/ok"); /* not on that connection */
    CHECK_END(v, SEINE_E_TLS_UNTRUSTED);
    free(v);

    v = visit_of(at(&s, "selfsigned.a.test"), "/ok");
    v->q.insecure = true;
    visit_run(s.t, v);
    CHECK_END(v, SEINE_OK);
    CHECK(v->end.reused && !v->end.secure.verified);
    free(v);

    for (int i = 0; i < 3; i++) { /* no session of an insecure one is kept */
        v = visit_of(at(&s, "selfsigned.a.test"), "/ok");
        v->q.insecure = v->q.fresh = true;
        visit_run(s.t, v);
        CHECK_END(v, SEINE_OK);
        free(v);
    }
    CHECK_EQ(transport_stats(s.t).resumed, 0);
    CHECK_EQ(chaos_number(s.c, "totals", NULL, "tls_resumed"), 0);

    v = visit_of(at(&s, "a.test"), "/ok"); /* a good one, and nobody looks */
    v->q.insecure = true;
    visit_run(s.t, v);
    CHECK_END(v, SEINE_OK);
    CHECK(!v->end.secure.verified);
    free(v);
    secure_end(&s);
}

TEST(without_their_authority_nobody_is_trusted)
{
    secured s = secure();
    sn_tls_ctx *ctx = NULL;
    sn_socket_transport_opts o = transport_opts();

    CHECK_EQ(sn_tls_ctx_new(&(sn_tls_opts){.min = 12}, &ctx, NULL), SEINE_OK);
    o.tls = ctx;
    o.dns.server = seine_chaos_where(s.c, "dns");
    sn_transport *t = transport_of(&o);
    visit *v = get(t, at(&s, "a.test"), "/ok");
    CHECK_END(v, SEINE_E_TLS_UNTRUSTED);
    free(v);
    sn_socket_transport_free(t);
    sn_tls_ctx_free(ctx);
    secure_end(&s);
}

TEST(the_oldest_version_is_a_choice)
{
    secured s = secure_with(NULL, transport_opts(), 13);
    visit *v = get(s.t, at(&s, "a.test"), "/ok");

    CHECK_END(v, SEINE_OK);
    free(v);
    v = get(s.t, at(&s, "tls12.a.test"), "/ok");
    CHECK_END(v, SEINE_E_TLS_ERROR);
    free(v);
    secure_end(&s);

    s = secure();
    v = get(s.t, at(&s, "tls12.a.test"), "/ok");
    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->end.secure.version, 12);
    free(v);
    secure_end(&s);
}

/* Files. */

/* A certificate that signs itself, and its key; without a key file, both in one. */
static void
make_identity(char cert[64], char key[64], bool is_locked)
{
    EVP_PKEY *k = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);
    FILE *f;

    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 3600);
    X509_set_pubkey(x, k);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"me", -1,
                               -1, 0);
    X509_set_issuer_name(x, name);
    X509_sign(x, k, EVP_sha256());
    write_file(cert, "");
    f = fopen(cert, "w");
    PEM_write_X509(f, x);
    if (key) {
        fclose(f);
        write_file(key, "");
        f = fopen(key, "w");
    }
    PEM_write_PrivateKey(f, k, is_locked ? EVP_aes_128_cbc() : NULL,
                         is_locked ? (const unsigned char *)"secret" : NULL,
                         is_locked ? 6 : 0, NULL, NULL);
    fclose(f);
    X509_free(x);
    EVP_PKEY_free(k);
}

TEST(files_that_cannot_be_used_are_told_at_once)
{
    char cert[64], key[64], locked[64], locked_key[64], both[64], empty[64];

    make_identity(cert, key, false);
    make_identity(locked, locked_key, true);
    make_identity(both, NULL, false);
    write_file(empty, "nothing\n");
    const struct {
        sn_tls_opts opts;
        const char *why; /* NULL: fine */
    } rows[] = {
        {{.min = 12}, NULL},
        {{.min = 11}, "tls_min: 12 or 13"},
        {{.cacert = "/no/such/file", .min = 12}, "No such file or directory"},
        {{.cacert = empty, .min = 12}, "no certificate in it"},
        {{.cacert = cert, .min = 12}, NULL},
        {{.cert = cert, .cert_key = key, .min = 12}, NULL},
        {{.cert = both, .min = 12}, NULL},
        {{.cert = cert, .min = 12}, "no key in it"},
        {{.cert = empty, .cert_key = key, .min = 12}, "no certificate in it"},
        {{.cert = cert, .cert_key = "/no/such", .min = 12}, "No such file or directory"},
        {{.cert = cert, .cert_key = locked_key, .min = 12}, "passphrase"},
        {{.cert = locked, .cert_key = key, .min = 12}, "not the key of the certificate"},
        {{.cert_key = key, .min = 12}, "cert_key: without cert"},
    };

    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;
        sn_tls_ctx *ctx = NULL;
        seine_err e = sn_tls_ctx_new(&rows[i].opts, &ctx, &diag);

        CHECK_EQ(e, rows[i].why ? SEINE_E_CONFIG : SEINE_OK);
        CHECK(strstr(diag_line(&diag), rows[i].why ? rows[i].why : "") != NULL);
        if (rows[i].why && strstr(diag_line(&diag), "/tmp/"))
            CHECK(strncmp(diag_line(&diag), "ca", 2) == 0 ||
                  strncmp(diag_line(&diag), "cert", 4) == 0);
        CHECK(!rows[i].why || !ctx);
        sn_tls_ctx_free(ctx);
        CHECK_EQ(sn_tls_ctx_new(&rows[i].opts, &ctx, NULL), e);
        if (e == SEINE_OK)
            sn_tls_ctx_free(ctx);
    }
    const char *all[] = {cert, key, locked, locked_key, both, empty};
    EACH_ROW(i, all)
        unlink(all[i]);
}

TEST(this_client_shows_itself_where_it_may_and_nowhere_else)
{
    char cert[64], key[64];
    secured s = secure();
    sn_tls_ctx *ctx = NULL;
    sn_socket_transport_opts o = transport_opts();

    make_identity(cert, key, false);
    CHECK_EQ(sn_tls_ctx_new(&(sn_tls_opts){s.ca, cert, key, 12}, &ctx, NULL), SEINE_OK);
    o.tls = ctx;
    o.dns.server = seine_chaos_where(s.c, "dns");
    sn_transport *t = transport_of(&o);

    for (int i = 0; i < 4; i++) { /* TLS 1.3, then 1.2 */
        const char *host = i < 2 ? "client.a.test" : "tls12.client.a.test";
        visit *v = visit_of(at(&s, host), "/ok");

        v->q.identify = i % 2 == 0;
        visit_run(t, v);
        CHECK_END(v, v->q.identify ? SEINE_OK : SEINE_E_TLS_ERROR);
        CHECK(!v->end.reused);
        free(v);
    }
    sn_socket_transport_free(t);
    sn_tls_ctx_free(ctx);
    unlink(cert);
    unlink(key);
    secure_end(&s);
}

/* Short handshakes. */

static void
visit_often(secured *s, const char *host, int n, bool at_once)
{
    visit *all[64];

    for (int i = 0; i < n; i++) {
        all[i] = visit_of(at(s, host), "/ok");
        all[i]->q.fresh = true;
        CHECK_EQ(visit_start(s->t, all[i]), SEINE_OK);
        if (!at_once)
            visit_wait(all[i]);
    }
    for (int i = 0; i < n; i++) {
        if (at_once)
            visit_wait(all[i]);
        CHECK_END(all[i], SEINE_OK);
        CHECK(all[i]->end.secure.verified && all[i]->end.secure.not_after > 1700000000);
        free(all[i]);
    }
}

TEST(a_new_connection_to_a_host_seen_before_is_a_short_one)
{
    static const char *const hosts[] = {"a.test", "tls12.a.test"};

    EACH_ROW(i, hosts) {
        secured s = secure();

        visit_often(&s, hosts[i], 60, false);
        CHECK_EQ(chaos_number(s.c, "totals", NULL, "tls_handshakes"), 60);
        CHECK(chaos_number(s.c, "totals", NULL, "tls_resumed") >= 57); /* 95 % */
        CHECK_EQ(chaos_number(s.c, "totals", NULL, "tls_resumed"), 59);
        CHECK_EQ(transport_stats(s.t).handshakes, 60);
        CHECK_EQ(transport_stats(s.t).resumed, 59);
        secure_end(&s);
    }
}

TEST(a_ticket_of_tls_1_3_is_used_once_and_four_are_kept)
{
    secured s = secure();

    visit_often(&s, "a.test", 8, true); /* 16 tickets, of which 4 are kept */
    visit_often(&s, "a.test", 8, true);
    CHECK(transport_stats(s.t).resumed <= 4 + 2);
    CHECK(transport_stats(s.t).resumed >= 4);
    secure_end(&s);
}

TEST(who_gives_no_tickets_and_who_changes_certificates_are_served_too)
{
    secured s = secure();

    visit_often(&s, "noresume.a.test", 4, false);
    CHECK_EQ(transport_stats(s.t).resumed, 0);
    visit_often(&s, "fresh.a.test", 4, false);
    visit_often(&s, "a.test", 1, false);
    visit_often(&s, "b.test", 1, false); /* another host: nothing is shared */
    CHECK_EQ(chaos_number(s.c, "hosts", "b.test", "tls_resumed"), 0);
    secure_end(&s);
}

/* Ends. */

TEST(a_body_until_close_ends_well_with_the_close_of_tls_alone)
{
    static const struct {
        const char *path;
        seine_err want;
        uint64_t bytes;
    } rows[] = {
        {"/close/bytes:1000", SEINE_OK, 1000},
        {"/close/tlscut:1000:body/bytes:1000", SEINE_E_BODY_TRUNCATED, 1000},
        {"/close/tlscut:500:body/bytes:1000", SEINE_E_BODY_TRUNCATED, 500},
        {"/close/reset:1000:body/bytes:1000", SEINE_E_BODY_TRUNCATED, 1000},
        /* A length, or chunks, need no close at all. */
        {"/tlscut:1000:body/bytes:1000", SEINE_OK, 1000},
        {"/tlscut:999:body/bytes:1000", SEINE_E_BODY_TRUNCATED, 999},
        {"/fin:999:body/bytes:1000", SEINE_E_BODY_TRUNCATED, 999},
        {"/tlscut:0/ok", SEINE_E_CONN_RESET, 0},
        {"/fin:0/ok", SEINE_E_CONN_RESET, 0},
        {"/reset:0/ok", SEINE_E_CONN_RESET, 0},
        {"/tlscut:20/ok", SEINE_E_HEADER_TRUNCATED, 0},
    };
    static const char *const hosts[] = {"a.test", "tls12.a.test"};
    secured s = secure();

    EACH_ROW(h, hosts)
        EACH_ROW(i, rows) {
            visit *v = visit_of(at(&s, hosts[h]), rows[i].path);

            v->q.fresh = true;
            visit_run(s.t, v);
            CHECK_END(v, rows[i].want);
            CHECK_EQ(v->bytes, rows[i].bytes);
            free(v);
        }
    secure_end(&s);
}

TEST(a_handshake_that_stalls_ends_at_its_limit)
{
    secured s = secure();
    visit *v = visit_of(at(&s, "stall.a.test"), "/ok");

    v->limits.time.tls = SEINE_MS(200);
    visit_run(s.t, v);
    CHECK_END(v, SEINE_E_TLS_TIMEOUT);
    CHECK_EQ(v->end.fault.phase, SEINE_PHASE_TLS);
    CHECK_EQ(v->end.fault.timeout_ms, 200);
    CHECK(v->ended - v->begun >= SEINE_MS(200));
    free(v);

    v = visit_of(at(&s, "stall.a.test"), "/ok"); /* the whole way there */
    v->limits.time.connect = SEINE_MS(150);
    visit_run(s.t, v);
    CHECK_END(v, SEINE_E_TLS_TIMEOUT);
    CHECK_EQ(v->end.fault.timeout_ms, 150);
    free(v);

    v = visit_of(at(&s, "stall.a.test"), "/ok"); /* cancelled in the middle of it */
    CHECK_EQ(visit_start(s.t, v), SEINE_OK);
    visit_until(v, SEINE_PHASE_TLS);
    s.t->ops->cancel(s.t, v->x, SEINE_E_CANCELED);
    visit_wait(v);
    CHECK_END(v, SEINE_E_CANCELED);
    free(v);
    CHECK_EQ(transport_stats(s.t).open, 0);
    secure_end(&s);
}

/* Connections that are kept. */

TEST(a_connection_is_kept_and_used_again)
{
    secured s = secure();

    transport_stop_clock();
    for (int i = 0; i < 50; i++) {
        visit *v = get(s.t, at(&s, "a.test"), i % 2 ? "/bytes:20000" : "/chunked/ok");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, i > 0 && i != 2); /* two take turns */
        CHECK(v->end.secure.verified);
        free(v);
        if (i % 10 == 9)
            s.t->ops->turn(s.t, 0);
    }
    CHECK_EQ(transport_stats(s.t).opened, 2);
    CHECK_EQ(transport_stats(s.t).handshakes, 2);
    secure_end(&s);
    transport_go_clock();
}

TEST(whatever_comes_on_an_idle_connection_closes_it)
{
    static const char *const paths[] = {"/idle:10ms/ok", "/idle:10ms:rst/ok",
                                        "/idle:10ms:bytes/ok"};
    secured s = secure();

    EACH_ROW(i, paths) {
        visit *v = get(s.t, at(&s, "a.test"), paths[i]);

        CHECK_END(v, SEINE_OK);
        free(v);
        TURN_WHILE(s.t, transport_stats(s.t).idle > 0);
        CHECK_EQ(transport_stats(s.t).idle, 0);
        CHECK_EQ(transport_stats(s.t).opened, i + 1);
    }
    secure_end(&s);
}

TEST(a_kept_connection_that_dies_is_stale)
{
    secured s = secure();

    for (int i = 0; i < 2; i++) {
        visit *v = get(s.t, at(&s, "a.test"), "/stale/ok");

        CHECK_END(v, i == 0 ? SEINE_OK : SEINE_E_CONN_STALE);
        CHECK_EQ(v->end.replayable, i == 1);
        free(v);
    }
    secure_end(&s);
}

/* Sizes. */

TEST(large_bodies_go_both_ways)
{
    enum { SIZE = 5 << 20 };
    secured s = secure();
    char *big = malloc(SIZE);

    memset(big, 'x', SIZE);
    for (int i = 0; i < 2; i++) {
        const char *host = i ? "tls12.a.test" : "a.test";
        visit *v = get(s.t, at(&s, host), "/bytes:9M");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->bytes, 9 << 20);
        free(v);
        v = visit_of(at(&s, host), "/echo");
        v->q.method = SN_STR("POST");
        v->q.body = (sn_str){big, SIZE};
        visit_run(s.t, v);
        CHECK_END(v, SEINE_OK);
        CHECK(strstr(v->body, "5242880") != NULL);
        free(v);
        /* Small enough to go with its head, and larger than a record. */
        v = visit_of(at(&s, host), "/echo");
        v->q.method = SN_STR("POST");
        v->q.body = (sn_str){big, 16 << 10};
        visit_run(s.t, v);
        CHECK_END(v, SEINE_OK);
        free(v);
    }
    free(big);
    secure_end(&s);
}

TEST(many_at_once)
{
    secured s = secure();

    for (int i = 0; i < 3; i++)
        visit_often(&s, "a.test", 64, true);
    CHECK_EQ(transport_stats(s.t).handshakes, 3 * 64);
    secure_end(&s);
}

/* A relay that hands on one byte at a time. */

typedef struct relay {
    int listener, to;
    pthread_t thread;
    size_t each;
} relay;

static uint16_t
port_of(const char *url)
{
    return (uint16_t)strtoul(strrchr(url, ':') + 1, NULL, 10);
}

static bool
hand_on(int from, int to, size_t each)
{
    char bytes[256];
    ssize_t n = recv(from, bytes, each, MSG_DONTWAIT);

    return n < 0 || (n > 0 && send(to, bytes, (size_t)n, MSG_NOSIGNAL) == n);
}

static void *
relay_run(void *arg)
{
    relay *r = arg;
    int a = accept(r->listener, NULL, NULL);
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)r->to),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int b = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    bool goes_on = connect(b, (struct sockaddr *)&there, sizeof there) == 0;

    setsockopt(a, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof one);
    setsockopt(b, IPPROTO_TCP, 1, &one, sizeof one);
    while (goes_on) {
        struct pollfd p[] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};

        goes_on = poll(p, 2, 10000) > 0;
        if (goes_on && p[0].revents)
            goes_on = hand_on(a, b, r->each);
        if (goes_on && p[1].revents)
            goes_on = hand_on(b, a, r->each);
    }
    close(a);
    close(b);
    return NULL;
}

TEST(a_handshake_in_single_bytes_is_a_handshake)
{
    static const char *const hosts[] = {"a.test", "tls12.a.test"};
    secured s = secure();

    EACH_ROW(i, hosts) {
        relay r = {.to = port_of(seine_chaos_where(s.c, "https")), .each = 1};
        struct sockaddr_in here = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t n = sizeof here;
        char resolve[64], base[64];

        r.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK_EQ(bind(r.listener, (struct sockaddr *)&here, sizeof here), 0);
        CHECK_EQ(listen(r.listener, 1), 0);
        CHECK_EQ(getsockname(r.listener, (struct sockaddr *)&here, &n), 0);
        CHECK_EQ(pthread_create(&r.thread, NULL, relay_run, &r), 0);

        int port = ntohs(here.sin_port);
        snprintf(resolve, sizeof resolve, "%s:%d:127.0.0.1", hosts[i], port);
        snprintf(base, sizeof base, "https://%s:%d", hosts[i], port);
        const char *const list[] = {resolve, NULL};
        sn_socket_transport_opts o = transport_opts();
        o.tls = s.ctx;
        o.dns.resolve = list;
        sn_transport *t = transport_of(&o);
        visit *v = get(t, base, "/bytes:500");
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->bytes, 500);
        free(v);
        sn_socket_transport_free(t); /* and the relay ends */
        pthread_join(r.thread, NULL);
        close(r.listener);
    }
    secure_end(&s);
}

/* Loops of several threads share one context, which the first of them makes. */

typedef struct loop_of {
    pthread_t thread;
    sn_tls_ctx *ctx;
    const char *base;
    int ok;
} loop_of;

static void *
loop_run(void *arg)
{
    loop_of *l = arg;
    sn_socket_transport_opts o = transport_opts();
    sn_transport *t = NULL;

    o.tls = l->ctx;
    if (sn_socket_transport_new(&o, &t, NULL) != SEINE_OK)
        return NULL;
    for (int i = 0; i < 4; i++) {
        visit *v = visit_of(l->base, "/ok");

        v->q.insecure = i % 2;
        v->q.fresh = true;
        visit_run(t, v);
        l->ok += v->end.fault.code == (i % 2 ? SEINE_OK : SEINE_E_TLS_UNTRUSTED);
        free(v);
    }
    sn_socket_transport_free(t);
    return NULL;
}

TEST(several_loops_share_one_context)
{
    secured s = secure();

    for (int round = 0; round < 2; round++) {
        loop_of loops[4];
        sn_tls_ctx *ctx = NULL;

        CHECK_EQ(sn_tls_ctx_new(&(sn_tls_opts){.min = 12}, &ctx, NULL), SEINE_OK);
        for (int i = 0; i < 4; i++) {
            loops[i] = (loop_of){.ctx = ctx, .base = seine_chaos_where(s.c, "https")};
            CHECK_EQ(pthread_create(&loops[i].thread, NULL, loop_run, &loops[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(loops[i].thread, NULL);
            CHECK_EQ(loops[i].ok, 4);
        }
        sn_tls_ctx_free(ctx);
    }
    secure_end(&s);
}
