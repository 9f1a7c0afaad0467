/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/tls.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "check.h"
#include "failing.h"
#include "seine/time.h"

#define DAY  86400
#define WALL SEINE_SECS(INT64_C(1800000000)) /* January 2027 */

/* Bytes on their way to the server; those of the server go straight to the client. */
typedef struct stage {
    snc_tls *tls;
    snc_tls_line *line;
    SSL_CTX *ctx;
    SSL *client;
    sn_buf up;
    bool over;     /* the client's side has ended */
    size_t heard;  /* bytes of the server */
    size_t narrow; /* bytes the server may send before it has to wait; SIZE_MAX: all */
} stage;

static ssize_t
receive(void *self, void *out, size_t room)
{
    stage *s = self;
    size_t n = s->up.len < room ? s->up.len : room;

    if (n == 0) {
        errno = EAGAIN;
        return s->over ? 0 : -1;
    }
    memcpy(out, s->up.ptr, n);
    sn_buf_drop(&s->up, n);
    return (ssize_t)n;
}

static ssize_t
send_(void *self, const void *bytes, size_t n)
{
    stage *s = self;

    if (s->narrow == 0) {
        errno = EAGAIN;
        return -1;
    }
    n = n < s->narrow ? n : s->narrow;
    if (s->narrow != SIZE_MAX)
        s->narrow -= n;
    s->heard += n;
    return BIO_write(SSL_get_rbio(s->client), bytes, (int)n);
}

static void
carry_up(stage *s)
{
    char piece[4096];
    int n;

    while ((n = BIO_read(SSL_get_wbio(s->client), piece, sizeof piece)) > 0)
        sn_buf_add(&s->up, piece, (size_t)n);
}

/* The client trusts the authority, at the time of the server's clock. */
static void
begin(stage *s)
{
    *s = (stage){.narrow = SIZE_MAX};
    CHECK_EQ(snc_tls_new(WALL, &s->tls), SEINE_OK);
    BIO *pem = BIO_new_mem_buf(snc_tls_ca(s->tls), -1);
    X509 *ca = PEM_read_bio_X509(pem, NULL, NULL, NULL);
    CHECK(ca);
    s->ctx = SSL_CTX_new(TLS_client_method());
    X509_STORE_add_cert(SSL_CTX_get_cert_store(s->ctx), ca);
    X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(s->ctx), WALL / SEINE_SECS(1));
    SSL_CTX_set_verify(s->ctx, SSL_VERIFY_PEER, NULL);
    X509_free(ca);
    BIO_free(pem);
}

static void
hang_up(stage *s)
{
    snc_tls_line_free(s->line);
    SSL_free(s->client);
    sn_buf_fini(&s->up);
    s->line = NULL;
    s->client = NULL;
    s->over = false;
    s->heard = 0;
    s->narrow = SIZE_MAX;
}

static void
finish(stage *s)
{
    hang_up(s);
    SSL_CTX_free(s->ctx);
    snc_tls_free(s->tls);
}

static void
dial(stage *s, const char *name)
{
    const snc_tls_ends ends = {receive, send_, s};

    hang_up(s);
    sn_buf_init(&s->up, 1 << 20);
    CHECK_EQ(snc_tls_line_new(s->tls, &ends, SN_STR("127.1.0.3"), WALL, &s->line),
             SEINE_OK);
    s->client = SSL_new(s->ctx);
    SSL_set_bio(s->client, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(s->client);
    if (name) {
        SSL_set_tlsext_host_name(s->client, name);
        SSL_set1_host(s->client, name);
    } else {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s->client), "127.1.0.3");
    }
}

/* How the server's side of the handshake ended. */
static snc_tls_got
greet(stage *s)
{
    snc_tls_got got = SNC_TLS_READ;

    for (int i = 0; i < 20 && (got == SNC_TLS_READ || got == SNC_TLS_WRITE); i++) {
        ERR_clear_error();
        SSL_do_handshake(s->client);
        carry_up(s);
        got = snc_tls_greet(s->line);
    }
    ERR_clear_error();
    SSL_do_handshake(s->client);
    return got;
}

/* The same for a name, and how the client judged the certificate. */
static long
opinion(stage *s, const char *name)
{
    dial(s, name);
    greet(s);
    return SSL_get_verify_result(s->client);
}

TEST(any_name_and_any_address_has_a_right_certificate)
{
    stage s;

    begin(&s);
    CHECK_EQ(opinion(&s, "a.test"), X509_V_OK);
    CHECK(snc_tls_facts_of(s.line)->done);
    CHECK_STR(snc_tls_facts_of(s.line)->name.ptr, "a.test");
    CHECK_STR(snc_tls_facts_of(s.line)->version, "TLSv1.3");
    CHECK(!snc_tls_facts_of(s.line)->resumed && !snc_tls_facts_of(s.line)->client);
    CHECK_EQ(opinion(&s, "Deep.Er.Example.ORG"), X509_V_OK);
    CHECK_STR(snc_tls_facts_of(s.line)->name.ptr, "deep.er.example.org");
    CHECK_EQ(opinion(&s, NULL), X509_V_OK);
    CHECK(snc_tls_facts_of(s.line)->done);
    CHECK_STR(snc_tls_facts_of(s.line)->name.ptr, "127.1.0.3");
    finish(&s);
}

TEST(a_label_says_what_is_wrong_with_a_certificate)
{
    static const struct {
        const char *name;
        long opinion;
    } rows[] = {
        {"expired.test", X509_V_ERR_CERT_HAS_EXPIRED},
        {"a.expired.b.test", X509_V_ERR_CERT_HAS_EXPIRED}, /* wherever it stands */
        {"EXPIRED.test", X509_V_ERR_CERT_HAS_EXPIRED},
        {"xexpired.test", X509_V_OK}, /* a whole label */
        {"future.test", X509_V_ERR_CERT_NOT_YET_VALID},
        {"wronghost.test", X509_V_ERR_HOSTNAME_MISMATCH},
        {"selfsigned.test", X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT},
        {"untrusted.test", X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY},
        {"tls12.expired.test", X509_V_ERR_CERT_HAS_EXPIRED}, /* several */
        {"fresh.test", X509_V_OK},
        {"noresume.test", X509_V_OK},
    };
    stage s;

    begin(&s);
    EACH_ROW(i, rows) {
        CHECK_EQ(opinion(&s, rows[i].name), rows[i].opinion);
        CHECK_EQ(snc_tls_facts_of(s.line)->done, rows[i].opinion == X509_V_OK);
    }
    finish(&s);
}

TEST(certificates_have_names_dates_and_a_strict_form)
{
    static const struct {
        const char *name;
        int from, to; /* days from now */
    } rows[] = {{"a.test", -1, 90}, {"expired.test", -60, -30}, {"future.test", 30, 60}};
    stage s;

    begin(&s);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(s.ctx), X509_V_FLAG_X509_STRICT);
    CHECK_EQ(opinion(&s, "strict.test"), X509_V_OK);
    SSL_CTX_set_verify(s.ctx, SSL_VERIFY_NONE, NULL);
    EACH_ROW(i, rows) {
        time_t now = WALL / SEINE_SECS(1);

        opinion(&s, rows[i].name);
        X509 *x = SSL_get0_peer_certificate(s.client);
        time_t from = now + (time_t)rows[i].from * DAY,
               to = now + (time_t)rows[i].to * DAY;
        CHECK_EQ(ASN1_TIME_cmp_time_t(X509_get0_notBefore(x), from), 0);
        CHECK_EQ(ASN1_TIME_cmp_time_t(X509_get0_notAfter(x), to), 0);
    }
    finish(&s);
}

/* The serial number of the certificate that the name has now. */
static int64_t
serial(stage *s, const char *name)
{
    opinion(s, name);
    return ASN1_INTEGER_get(X509_get0_serialNumber(SSL_get0_peer_certificate(s->client)));
}

TEST(a_certificate_is_kept_unless_it_is_to_be_fresh)
{
    stage s;
    int64_t first, second;

    begin(&s);
    SSL_CTX_set_session_cache_mode(s.ctx, SSL_SESS_CACHE_OFF);
    CHECK_EQ(serial(&s, "a.test"), serial(&s, "a.test"));
    CHECK(serial(&s, "a.test") != serial(&s, "b.test"));
    CHECK(serial(&s, "fresh.test") != serial(&s, "fresh.test"));
    first = serial(&s, "a.test");
    for (int i = 0; i < SNC_TLS_CERTS; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%d.test", i);
        dial(&s, name);
        SSL_do_handshake(s.client);
        carry_up(&s);
        snc_tls_greet(s.line);
    }
    second = serial(&s, "a.test"); /* pushed out, and made anew */
    CHECK(first != second);
    CHECK_EQ(serial(&s, "a.test"), second);
    finish(&s);
}

TEST(a_label_ends_the_handshake_in_its_way)
{
    static const struct {
        const char *name;
        snc_tls_got got;
        bool hears; /* the client gets bytes */
    } rows[] = {
        {"stall.test", SNC_TLS_STALL, false}, {"garbage.test", SNC_TLS_GARBAGE, false},
        {"fin.test", SNC_TLS_FIN, false},     {"reset.test", SNC_TLS_RST, false},
        {"alert.test", SNC_TLS_FAILED, true}, {"client.test", SNC_TLS_FAILED, true},
    };
    stage s;

    begin(&s);
    EACH_ROW(i, rows) {
        dial(&s, rows[i].name);
        CHECK_EQ(greet(&s), rows[i].got);
        CHECK(snc_tls_facts_of(s.line)->hello && !snc_tls_facts_of(s.line)->done);
        CHECK_EQ(s.heard > 0, rows[i].hears);
    }
    finish(&s);
}

TEST(a_name_that_is_none_and_bytes_that_are_no_hello_are_refused)
{
    stage s;

    begin(&s);
    dial(&s, "a.test,IP:1.2.3.4");
    CHECK_EQ(greet(&s), SNC_TLS_FAILED);
    dial(&s, "a.test");
    sn_buf_text(&s.up, "GET / HTTP/1.1\r\n\r\n");
    CHECK_EQ(snc_tls_greet(s.line), SNC_TLS_FAILED);
    CHECK(!snc_tls_facts_of(s.line)->hello);
    dial(&s, "a.test");
    s.over = true;
    CHECK_EQ(snc_tls_greet(s.line), SNC_TLS_FAILED);
    finish(&s);
}

TEST(old_versions_come_alone)
{
    stage s;

    begin(&s);
    dial(&s, "tls12.test");
    CHECK_EQ(greet(&s), SNC_TLS_DONE);
    CHECK_STR(snc_tls_facts_of(s.line)->version, "TLSv1.2");
    SSL_CTX_set_min_proto_version(s.ctx, TLS1_2_VERSION);
    dial(&s, "tls10.test");
    CHECK_EQ(greet(&s), SNC_TLS_FAILED); /* a client of today refuses */
    SSL_CTX_set_min_proto_version(s.ctx, TLS1_VERSION);
    SSL_CTX_set_security_level(s.ctx, 0);
    CHECK_EQ(SSL_CTX_set_cipher_list(s.ctx, "ALL:@SECLEVEL=0"), 1);
    dial(&s, "tls10.test");
    CHECK_EQ(greet(&s), SNC_TLS_DONE);
    CHECK_STR(snc_tls_facts_of(s.line)->version, "TLSv1");
    finish(&s);
}

static SSL_SESSION *session;

static int
keep_session(SSL *ssl, SSL_SESSION *give)
{
    (void)ssl;
    SSL_SESSION_free(session);
    session = give;
    return 1;
}

/* Two connections; the second offers the session of the first. */
static bool
resumes(stage *s, const char *name)
{
    char byte;

    dial(s, name);
    CHECK_EQ(greet(s), SNC_TLS_DONE);
    SSL_read(s->client, &byte, 1); /* TLS 1.3 sends its tickets after the handshake */
    /* A session whose connection ended without close_notify is not used again. */
    SSL_set_shutdown(s->client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_SESSION *old = session;
    session = NULL;
    dial(s, name);
    if (old)
        SSL_set_session(s->client, old);
    SSL_SESSION_free(old);
    CHECK_EQ(greet(s), SNC_TLS_DONE);
    return snc_tls_facts_of(s->line)->resumed;
}

TEST(a_session_is_resumed_by_its_ticket_unless_the_label_forbids_it)
{
    stage s;

    begin(&s);
    SSL_CTX_set_session_cache_mode(s.ctx, SSL_SESS_CACHE_CLIENT |
                                              SSL_SESS_CACHE_NO_INTERNAL_STORE);
    SSL_CTX_sess_set_new_cb(s.ctx, keep_session);
    CHECK(resumes(&s, "a.test"));
    CHECK(resumes(&s, "tls12.test"));
    SSL_SESSION_free(session);
    session = NULL;
    CHECK(!resumes(&s, "noresume.test"));
    CHECK(!resumes(&s, "noresume.tls12.test"));
    SSL_SESSION_free(session);
    session = NULL;
    finish(&s);
}

TEST(http_1_1_is_chosen_when_it_is_offered)
{
    static const struct {
        const char *offer;
        unsigned len;
        bool chosen;
    } rows[] = {{"\x02h2\x08http/1.1", 12, true},
                {"\x08http/1.1", 9, true},
                {"\x02h2", 3, false}};
    stage s;

    begin(&s);
    EACH_ROW(i, rows) {
        const unsigned char *got;
        unsigned len;

        dial(&s, "a.test");
        SSL_set_alpn_protos(s.client, (const unsigned char *)rows[i].offer, rows[i].len);
        CHECK_EQ(greet(&s), SNC_TLS_DONE);
        SSL_get0_alpn_selected(s.client, &got, &len);
        CHECK_EQ(len, rows[i].chosen ? 8 : 0);
    }
    finish(&s);
}

TEST(a_client_with_a_certificate_is_known_by_its_subject)
{
    stage s;

    begin(&s);
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               (const unsigned char *)"me", -1, -1, 0);
    X509_gmtime_adj(X509_getm_notBefore(x), 0);
    X509_gmtime_adj(X509_getm_notAfter(x), DAY);
    CHECK(X509_sign(x, key, EVP_sha256()) > 0);
    SSL_CTX_use_certificate(s.ctx, x);
    SSL_CTX_use_PrivateKey(s.ctx, key);
    dial(&s, "client.test");
    CHECK_EQ(greet(&s), SNC_TLS_DONE);
    CHECK_STR(snc_tls_facts_of(s.line)->client, "/CN=me");
    X509_free(x);
    EVP_PKEY_free(key);
    finish(&s);
}

TEST(bytes_go_both_ways_and_the_end_is_said)
{
    stage s;
    char in[64];

    begin(&s);
    dial(&s, "a.test");
    CHECK_EQ(greet(&s), SNC_TLS_DONE);
    CHECK_EQ(snc_tls_read(s.line, in, sizeof in), -1);
    CHECK_EQ(errno, EAGAIN);
    SSL_write(s.client, "hello", 5);
    carry_up(&s);
    CHECK_EQ(snc_tls_read(s.line, in, sizeof in), 5);
    CHECK(memcmp(in, "hello", 5) == 0);
    CHECK_EQ(snc_tls_write(s.line, "there", 5), 5);
    CHECK_EQ(SSL_read(s.client, in, sizeof in), 5);
    s.narrow = 0; /* no room for close_notify yet */
    CHECK(!snc_tls_close(s.line));
    CHECK_EQ(SSL_get_error(s.client, SSL_read(s.client, in, sizeof in)),
             SSL_ERROR_WANT_READ);
    s.narrow = SIZE_MAX;
    CHECK(snc_tls_close(s.line));
    CHECK_EQ(SSL_get_error(s.client, SSL_read(s.client, in, sizeof in)),
             SSL_ERROR_ZERO_RETURN);
    SSL_shutdown(s.client);
    carry_up(&s);
    CHECK_EQ(snc_tls_read(s.line, in, sizeof in), 0);
    finish(&s);
}

TEST(a_client_that_leaves_without_a_word_is_told_from_one_that_says_so)
{
    stage s;
    char in[64];

    begin(&s);
    dial(&s, "a.test");
    CHECK_EQ(greet(&s), SNC_TLS_DONE);
    s.over = true;
    CHECK_EQ(snc_tls_read(s.line, in, sizeof in), -1);
    CHECK_EQ(errno, ECONNRESET);
    finish(&s);
}

/* However little the other side takes at a time, every byte arrives once. */
TEST(a_write_that_has_to_wait_goes_on_where_it_was)
{
    stage s;
    static char all[100000], got[100000];
    size_t sent = 0, read = 0;

    begin(&s);
    dial(&s, "a.test");
    CHECK_EQ(greet(&s), SNC_TLS_DONE);
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (char)(i * 7 + i / 251);
    while (sent < sizeof all) {
        s.narrow = 1000;
        ssize_t n = snc_tls_write(s.line, all + sent, sizeof all - sent);
        CHECK(n > 0 || (n < 0 && errno == EAGAIN));
        sent += n > 0 ? (size_t)n : 0;
        for (int k; (k = SSL_read(s.client, got + read, (int)(sizeof got - read))) > 0;)
            read += (size_t)k;
    }
    s.narrow = SIZE_MAX;
    CHECK_EQ(read, sizeof all);
    CHECK(memcmp(all, got, sizeof all) == 0);
    finish(&s);
}

TEST(the_authority_is_a_certificate_in_pem)
{
    snc_tls *t = NULL;

    CHECK_EQ(snc_tls_new(WALL, &t), SEINE_OK);
    CHECK(strstr(snc_tls_ca(t), "-----BEGIN CERTIFICATE-----"));
    snc_tls_free(t);
    snc_tls_free(NULL);
    snc_tls_line_free(NULL);
}

TEST(without_memory_there_is_no_tls)
{
    FAIL_EACH(r)
    {
        snc_tls *t = NULL;
        snc_tls_line *l = NULL;
        stage none = {.narrow = 0};
        const snc_tls_ends ends = {receive, send_, &none};
        seine_err e = snc_tls_new(WALL, &t);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK)
            e = snc_tls_line_new(t, &ends, SN_STR("127.0.0.1"), WALL, &l);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        snc_tls_line_free(l);
        snc_tls_free(t);
    }
}
