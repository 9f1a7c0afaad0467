/* SPDX-License-Identifier: Apache-2.0 */
/* A server of OpenSSL by hand: tickets that it refuses later, or gives late. */
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <sys/socket.h>

#include "socket_transport_tls.h"

typedef struct host {
    X509 *cert;
    EVP_PKEY *key;
    SSL_CTX *ctx[2];
    char ca[64], base[64];
    int listener;
    pthread_t thread;
    const char *plan; /* a letter for each connection: which ctx, or l: a late ticket */
} host;

static SSL_CTX *
make_ctx(const host *h, size_t tickets)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());

    SSL_CTX_use_certificate(ctx, h->cert);
    SSL_CTX_use_PrivateKey(ctx, h->key);
    SSL_CTX_set_num_tickets(ctx, tickets);
    return ctx;
}

/* Signs itself, for 127.0.0.1. */
static void
make_cert(host *h)
{
    h->key = EVP_EC_gen("P-256");
    h->cert = X509_new();
    X509_NAME *name = X509_get_subject_name(h->cert);
    X509_EXTENSION *san =
        X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");

    X509_set_version(h->cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(h->cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(h->cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(h->cert), 3600);
    X509_set_pubkey(h->cert, h->key);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"h", -1,
                               -1, 0);
    X509_set_issuer_name(h->cert, name);
    X509_add_ext(h->cert, san, -1);
    X509_sign(h->cert, h->key, EVP_sha256());
    X509_EXTENSION_free(san);
    write_file(h->ca, "");
    FILE *f = fopen(h->ca, "w");
    PEM_write_X509(f, h->cert);
    fclose(f);
}

static void
answer(SSL *ssl, bool late)
{
    static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    char head[4096];

    while (SSL_read(ssl, head, sizeof head) > 0) {
        SSL_write(ssl, ok, sizeof ok - 1);
        if (!late)
            continue;
        struct timespec pause = {.tv_nsec = 20000000};
        nanosleep(&pause, NULL); /* so that the client is idle by then */
        SSL_new_session_ticket(ssl);
        SSL_do_handshake(ssl);
    }
}

static void *
host_run(void *arg)
{
    host *h = arg;

    for (const char *p = h->plan; *p; p++) {
        int fd = accept(h->listener, NULL, NULL);
        SSL *ssl = SSL_new(h->ctx[*p == 'b']);

        SSL_set_fd(ssl, fd);
        if (SSL_accept(ssl) == 1)
            answer(ssl, *p == 'l');
        SSL_free(ssl);
        close(fd);
    }
    return NULL;
}

static host *
host_new(const char *plan)
{
    host *h = calloc(1, sizeof *h);
    struct sockaddr_in here = {.sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof here;

    h->plan = plan;
    make_cert(h);
    h->ctx[0] = make_ctx(h, 2);
    h->ctx[1] = make_ctx(h, 0); /* does not know the tickets of the other */
    h->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(h->listener, (struct sockaddr *)&here, sizeof here), 0);
    CHECK_EQ(listen(h->listener, 8), 0);
    CHECK_EQ(getsockname(h->listener, (struct sockaddr *)&here, &n), 0);
    snprintf(h->base, sizeof h->base, "https://127.0.0.1:%d", ntohs(here.sin_port));
    CHECK_EQ(pthread_create(&h->thread, NULL, host_run, h), 0);
    return h;
}

static void
host_free(host *h)
{
    pthread_join(h->thread, NULL);
    SSL_CTX_free(h->ctx[0]);
    SSL_CTX_free(h->ctx[1]);
    X509_free(h->cert);
    EVP_PKEY_free(h->key);
    close(h->listener);
    unlink(h->ca);
    free(h);
}

static sn_transport *
connection(const host *h, sn_tls_ctx **out_ctx)
{
    sn_socket_transport_opts o = transport_opts();

    CHECK_EQ(sn_tls_ctx_new(&(sn_tls_opts){.cacert = h->ca, .min = 12}, out_ctx, NULL),
             SEINE_OK);
    o.tls = *out_ctx;
    o.max_idle = 0; /* one request, one connection */
    return transport_of(&o);
}

TEST(a_refused_ticket_takes_all_of_its_host_with_it)
{
    static const bool resumed[] = {false, true, false, false, true};
    host *h = host_new("aabaa");
    sn_tls_ctx *ctx;
    sn_transport *t = connection(h, &ctx);
    uint64_t before = 0;

    EACH_ROW(i, resumed) {
        visit *v = get(t, h->base, "/");

        CHECK_END(v, SEINE_OK);
        CHECK(v->end.secure.verified);
        CHECK_EQ(transport_stats(t).resumed - before, resumed[i]);
        before = transport_stats(t).resumed;
        free(v);
    }
    sn_socket_transport_free(t);
    sn_tls_ctx_free(ctx);
    host_free(h);
}

TEST(a_ticket_that_comes_late_leaves_an_idle_connection_idle)
{
    host *h = host_new("l");
    sn_tls_ctx *ctx;
    sn_socket_transport_opts o = transport_opts();

    CHECK_EQ(sn_tls_ctx_new(&(sn_tls_opts){.cacert = h->ca, .min = 12}, &ctx, NULL),
             SEINE_OK);
    o.tls = ctx;
    sn_transport *t = transport_of(&o);
    for (int i = 0; i < 3; i++) {
        uint64_t before = transport_stats(t).bytes_in;
        visit *v = get(t, h->base, "/");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, i > 0);
        free(v);
        /* An answer is 62 bytes, a ticket more than 200. */
        TURN_WHILE(t, transport_stats(t).bytes_in < before + 200);
        t->ops->turn(t, 0);
        transport_pass(SEINE_SECS(5)); /* it has rested */
        CHECK(transport_stats(t).bytes_in > before + 200);
        CHECK_EQ(transport_stats(t).idle, 1);
    }
    CHECK_EQ(transport_stats(t).opened, 1);
    sn_socket_transport_free(t);
    sn_tls_ctx_free(ctx);
    host_free(h);
}
