/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/tls.h"

#include <errno.h>
#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "seine/time.h"

#define DAY     INT64_C(86400)
#define LONGEST 253 /* bytes of a name */

/* One bit per label: a name may hold several. */
enum {
    EXPIRED = 1 << 0,
    FUTURE = 1 << 1,
    WRONGHOST = 1 << 2,
    SELFSIGNED = 1 << 3,
    UNTRUSTED = 1 << 4,
    FRESH = 1 << 5,
    CLIENT = 1 << 6,
    TLS10 = 1 << 7,
    TLS12 = 1 << 8,
    NORESUME = 1 << 9,
    STALL = 1 << 10,
    GARBAGE = 1 << 11,
    ALERT = 1 << 12,
    FIN = 1 << 13,
    RESET = 1 << 14
};

typedef struct cert {
    X509 *x509;
    sn_str name;
    char text[];
} cert;

struct snc_tls {
    SSL_CTX *ctx;
    BIO_METHOD *method;
    EVP_PKEY *key, *ca_key, *other_key; /* of all certificates; of the two authorities */
    X509 *ca, *other_ca;
    char *pem;
    sn_map certs;
    int64_t wall; /* Unix time in seconds, of the latest connection */
    uint64_t serial;
};

struct snc_tls_line {
    SSL *ssl;
    snc_tls *tls;
    snc_tls_ends ends;
    snc_tls_got trick; /* SNC_TLS_DONE: none */
    bool over;         /* the client has closed its side */
    snc_tls_facts facts;
    char name[LONGEST + 1];
    char client[256];
};

static unsigned
tricks_of(sn_str name)
{
    static const struct {
        sn_str label;
        unsigned trick;
    } rows[] = {
        {{"expired", 7}, EXPIRED},     {{"future", 6}, FUTURE},
        {{"wronghost", 9}, WRONGHOST}, {{"selfsigned", 10}, SELFSIGNED},
        {{"untrusted", 9}, UNTRUSTED}, {{"fresh", 5}, FRESH},
        {{"client", 6}, CLIENT},       {{"tls10", 5}, TLS10},
        {{"tls12", 5}, TLS12},         {{"noresume", 8}, NORESUME},
        {{"stall", 5}, STALL},         {{"garbage", 7}, GARBAGE},
        {{"alert", 5}, ALERT},         {{"fin", 3}, FIN},
        {{"reset", 5}, RESET},
    };
    unsigned tricks = 0;
    sn_str label;

    while (sn_str_next(&name, '.', &label))
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (sn_str_eq(label, rows[i].label))
                tricks |= rows[i].trick;
    return tricks;
}

static bool
is_address(sn_str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!sn_is_digit(name.ptr[i]) && name.ptr[i] != '.')
            return false;
    return name.len > 0;
}

/* A name goes into extensions that are written as text, so it must hold no special
 * characters. */
static bool
is_name(sn_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!sn_is_alpha(c) && !sn_is_digit(c) && c != '.' && c != '-' && c != '_')
            return false;
    }
    return name.len > 0 && name.len <= LONGEST;
}

static bool
add_extension(X509 *x, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;

    X509V3_set_ctx(&ctx, issuer, x, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool fine = e && X509_add_ext(x, e, -1) == 1;
    X509_EXTENSION_free(e);
    return fine;
}

static bool
set_dates(X509 *x, int64_t from, int64_t to)
{
    return ASN1_TIME_set(X509_getm_notBefore(x), (time_t)from) &&
           ASN1_TIME_set(X509_getm_notAfter(x), (time_t)to);
}

/* A common name has at most 64 bytes; the alternative names count. */
static bool
set_subject(X509 *x, sn_str name)
{
    const unsigned char *text = (const unsigned char *)name.ptr;

    return X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, text,
                                      name.len < 64 ? (int)name.len : 64, -1, 0) == 1;
}

/* Makes a certificate without issuer, extensions and signature. */
static X509 *
begin_cert(snc_tls *t, sn_str subject, EVP_PKEY *key, int64_t from, int64_t to)
{
    X509 *x = X509_new();
    uint64_t serial = ((uint64_t)t->wall << 20) + ++t->serial;

    if (x && X509_set_version(x, X509_VERSION_3) == 1 &&
        ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), serial) == 1 &&
        set_subject(x, subject) && set_dates(x, t->wall + from, t->wall + to) &&
        X509_set_pubkey(x, key) == 1)
        return x;
    X509_free(x);
    return NULL;
}

static X509 *
make_ca(snc_tls *t, const char *name, EVP_PKEY *key)
{
    X509 *x = begin_cert(t, sn_str_of(name), key, -365 * DAY, 365 * DAY);

    if (x && X509_set_issuer_name(x, X509_get_subject_name(x)) == 1 &&
        add_extension(x, x, NID_basic_constraints, "critical,CA:TRUE") &&
        add_extension(x, x, NID_key_usage, "critical,keyCertSign,cRLSign") &&
        add_extension(x, x, NID_subject_key_identifier, "hash") &&
        X509_sign(x, key, EVP_sha256()) > 0)
        return x;
    X509_free(x);
    return NULL;
}

static X509 *
make_cert(snc_tls *t, sn_str name, unsigned tricks)
{
    int64_t from = tricks & EXPIRED ? -60 * DAY : tricks & FUTURE ? 30 * DAY : -DAY;
    int64_t to = tricks & EXPIRED ? -30 * DAY : tricks & FUTURE ? 60 * DAY : 90 * DAY;
    char names[LONGEST + 8];

    if (tricks & WRONGHOST)
        name = SN_STR("another-host.test");
    X509 *x = begin_cert(t, name, t->key, from, to);
    X509 *issuer = tricks & SELFSIGNED ? x : tricks & UNTRUSTED ? t->other_ca : t->ca;
    EVP_PKEY *signer = tricks & SELFSIGNED  ? t->key
                       : tricks & UNTRUSTED ? t->other_key
                                            : t->ca_key;
    snprintf(names, sizeof names, "%s:%.*s", is_address(name) ? "IP" : "DNS",
             SN_FMT(name));
    if (x && X509_set_issuer_name(x, X509_get_subject_name(issuer)) == 1 &&
        add_extension(x, issuer, NID_basic_constraints, "critical,CA:FALSE") &&
        add_extension(x, issuer, NID_key_usage, "critical,digitalSignature") &&
        add_extension(x, issuer, NID_ext_key_usage, "serverAuth") &&
        add_extension(x, issuer, NID_subject_key_identifier, "hash") &&
        add_extension(x, issuer, NID_authority_key_identifier, "keyid") &&
        add_extension(x, issuer, NID_subject_alt_name, names) &&
        X509_sign(x, signer, EVP_sha256()) > 0)
        return x;
    X509_free(x);
    return NULL;
}

static void
forget_certs(snc_tls *t)
{
    SN_MAP_EACH(entry, &t->certs) {
        cert *c = entry->value;

        X509_free(c->x509);
        sn_free(c);
    }
    sn_map_reset(&t->certs);
}

/* The certificate for this name, made when it is new; NULL: no memory. The caller owns a
 * reference. */
static X509 *
find_cert(snc_tls *t, sn_str name, unsigned tricks)
{
    cert *c = sn_map_get(&t->certs, name);
    X509 *x = c && !(tricks & FRESH) ? c->x509 : NULL;

    if (x) {
        X509_up_ref(x);
        return x;
    }
    x = make_cert(t, name, tricks);
    if (!x || tricks & FRESH)
        return x;
    if (t->certs.count == SNC_TLS_CERTS)
        forget_certs(t);
    c = sn_alloc(sizeof *c + name.len + 1);
    if (!c)
        return x; /* used once, so not kept */
    memcpy(c->text, name.ptr, name.len);
    c->name = (sn_str){c->text, name.len};
    c->x509 = x;
    X509_up_ref(x);
    if (sn_map_add(&t->certs, c->name, c) != SEINE_OK) {
        X509_free(x);
        sn_free(c);
    }
    return x;
}

/* RFC 6066, 3: a list of one name of type 0. */
static sn_str
read_name(SSL *ssl)
{
    const unsigned char *ext;
    size_t len;

    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &ext, &len) != 1 ||
        len < 5 || ext[2] != TLSEXT_NAMETYPE_host_name)
        return (sn_str){NULL, 0};
    size_t n = (size_t)ext[3] << 8 | ext[4];
    return n + 5 <= len ? (sn_str){(const char *)ext + 5, n} : (sn_str){NULL, 0};
}

static int
accept_any(int fine, X509_STORE_CTX *store)
{
    (void)fine;
    (void)store;
    return 1;
}

static bool
set_tricks(SSL *ssl, unsigned tricks)
{
    bool fine = true;

    if (tricks & TLS10) {
        SSL_set_security_level(ssl, 0);
        fine = SSL_set_min_proto_version(ssl, TLS1_VERSION) == 1 &&
               SSL_set_max_proto_version(ssl, TLS1_VERSION) == 1 &&
               SSL_set_cipher_list(ssl, "ALL:@SECLEVEL=0") == 1;
    } else if (tricks & TLS12) {
        fine = SSL_set_max_proto_version(ssl, TLS1_2_VERSION) == 1;
    }
    if (tricks & NORESUME) {
        SSL_set_options(ssl, SSL_OP_NO_TICKET);
        fine &= SSL_set_num_tickets(ssl, 0) == 1;
    }
    if (tricks & CLIENT)
        SSL_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       accept_any);
    return fine;
}

static int
refuse_hello(int alert, int *out_alert)
{
    *out_alert = alert;
    return SSL_CLIENT_HELLO_ERROR;
}

/* Runs before anything is chosen: version and certificate depend on the name. */
static int
on_hello(SSL *ssl, int *alert, void *arg)
{
    static const struct {
        unsigned trick;
        snc_tls_got got;
    } ends[] = {{STALL, SNC_TLS_STALL},
                {GARBAGE, SNC_TLS_GARBAGE},
                {FIN, SNC_TLS_FIN},
                {RESET, SNC_TLS_RST}};
    snc_tls *t = arg;
    snc_tls_line *l = SSL_get_app_data(ssl);
    sn_str name = read_name(ssl);

    l->facts.hello = true;
    if (name.ptr && !is_name(name))
        return refuse_hello(SSL_AD_UNRECOGNIZED_NAME, alert);
    if (name.ptr) {
        for (size_t i = 0; i < name.len; i++)
            l->name[i] = sn_lower(name.ptr[i]);
        l->name[name.len] = '\0';
        l->facts.name = (sn_str){l->name, name.len};
    }
    unsigned tricks = tricks_of(l->facts.name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (tricks & ends[i].trick) {
            l->trick = ends[i].got;
            return SSL_CLIENT_HELLO_RETRY;
        }
    if (tricks & ALERT)
        return refuse_hello(SSL_AD_HANDSHAKE_FAILURE, alert);
    X509 *x = find_cert(t, l->facts.name, tricks);
    bool fine = x && SSL_use_certificate(ssl, x) == 1 &&
                SSL_use_PrivateKey(ssl, t->key) == 1 && set_tricks(ssl, tricks);
    X509_free(x);
    return fine ? SSL_CLIENT_HELLO_SUCCESS : refuse_hello(SSL_AD_INTERNAL_ERROR, alert);
}

static int
on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
        const unsigned char *in, unsigned in_len, void *arg)
{
    static const char ours[] = "http/1.1";

    (void)ssl;
    (void)arg;
    for (unsigned i = 0; i < in_len && i + in[i] < in_len; i += in[i] + 1u)
        if (in[i] == sizeof ours - 1 && memcmp(in + i + 1, ours, sizeof ours - 1) == 0) {
            *out = in + i + 1;
            *out_len = in[i];
            return SSL_TLSEXT_ERR_OK;
        }
    return SSL_TLSEXT_ERR_NOACK;
}

static bool
must_wait(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static int
on_read(BIO *bio, char *out, int room)
{
    snc_tls_line *l = BIO_get_data(bio);
    ssize_t n = l->ends.receive(l->ends.self, out, (size_t)room);

    BIO_clear_retry_flags(bio);
    if (must_wait(n))
        BIO_set_retry_read(bio);
    l->over |= n == 0;
    return (int)n;
}

static int
on_write(BIO *bio, const char *bytes, int n)
{
    snc_tls_line *l = BIO_get_data(bio);
    ssize_t done = l->ends.send(l->ends.self, bytes, (size_t)n);

    BIO_clear_retry_flags(bio);
    if (must_wait(done))
        BIO_set_retry_write(bio);
    return (int)done;
}

static long
on_ctrl(BIO *bio, int what, long number, void *arg)
{
    const snc_tls_line *l = BIO_get_data(bio);

    (void)number;
    (void)arg;
    return what == BIO_CTRL_FLUSH || (what == BIO_CTRL_EOF && l->over);
}

static bool
set_up(snc_tls *t)
{
    static const unsigned char context[] = "seine chaos";

    t->key = EVP_EC_gen("P-256");
    t->ca_key = EVP_EC_gen("P-256");
    t->other_key = EVP_EC_gen("P-256");
    t->method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | 0x7e, "seine chaos");
    t->ctx = SSL_CTX_new(TLS_server_method());
    if (!t->key || !t->ca_key || !t->other_key || !t->method || !t->ctx)
        return false;
    BIO_meth_set_read(t->method, on_read);
    BIO_meth_set_write(t->method, on_write);
    BIO_meth_set_ctrl(t->method, on_ctrl);
    SSL_CTX_set_client_hello_cb(t->ctx, on_hello, t);
    SSL_CTX_set_alpn_select_cb(t->ctx, on_alpn, NULL);
    SSL_CTX_set_session_cache_mode(t->ctx, SSL_SESS_CACHE_OFF); /* has tickets */
    SSL_CTX_set_options(t->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(t->ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(t->ctx, 1);
    return SSL_CTX_set_min_proto_version(t->ctx, TLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(t->ctx, 0) == 1 &&
           SSL_CTX_set_session_id_context(t->ctx, context, sizeof context - 1) == 1;
}

static bool
write_pem(snc_tls *t)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;
    long len =
        bio && PEM_write_bio_X509(bio, t->ca) == 1 ? BIO_get_mem_data(bio, &text) : 0;

    t->pem = len > 0 ? sn_alloc((size_t)len + 1) : NULL;
    if (t->pem) {
        memcpy(t->pem, text, (size_t)len);
        t->pem[len] = '\0';
    }
    BIO_free(bio);
    return t->pem;
}

seine_err
snc_tls_new(int64_t wall, snc_tls **out_tls)
{
    snc_tls *t = sn_zalloc(sizeof *t);

    if (!t)
        return SEINE_E_NOMEM;
    sn_map_init(&t->certs, SNC_TLS_CERTS);
    t->wall = wall / SEINE_SECS(1);
    ERR_clear_error();
    if (!set_up(t) || !(t->ca = make_ca(t, "seine chaos", t->ca_key)) ||
        !(t->other_ca = make_ca(t, "nobody knows", t->other_key)) || !write_pem(t)) {
        snc_tls_free(t);
        return SEINE_E_NOMEM;
    }
    *out_tls = t;
    return SEINE_OK;
}

void
snc_tls_free(snc_tls *t)
{
    if (!t)
        return;
    forget_certs(t);
    sn_map_fini(&t->certs);
    SSL_CTX_free(t->ctx);
    BIO_meth_free(t->method);
    X509_free(t->ca);
    X509_free(t->other_ca);
    EVP_PKEY_free(t->key);
    EVP_PKEY_free(t->ca_key);
    EVP_PKEY_free(t->other_key);
    sn_free(t->pem);
    sn_free(t);
}

const char *
snc_tls_ca(const snc_tls *t)
{
    return t->pem;
}

seine_err
snc_tls_line_new(snc_tls *t, const snc_tls_ends *ends, sn_str address, int64_t wall,
                 snc_tls_line **out_line)
{
    snc_tls_line *l = sn_zalloc(sizeof *l);
    BIO *bio = l ? BIO_new(t->method) : NULL;

    if (!bio || !(l->ssl = SSL_new(t->ctx))) {
        BIO_free(bio);
        sn_free(l);
        return SEINE_E_NOMEM;
    }
    t->wall = wall / SEINE_SECS(1);
    l->tls = t;
    l->ends = *ends;
    address = sn_str_slice(address, 0, LONGEST);
    if (address.len > 0)
        memcpy(l->name, address.ptr, address.len);
    l->facts.name = (sn_str){l->name, address.len};
    BIO_set_data(bio, l);
    BIO_set_init(bio, 1);
    SSL_set_bio(l->ssl, bio, bio);
    SSL_set_app_data(l->ssl, l);
    SSL_set_accept_state(l->ssl);
    *out_line = l;
    return SEINE_OK;
}

void
snc_tls_line_free(snc_tls_line *l)
{
    if (!l)
        return;
    SSL_free(l->ssl);
    sn_free(l);
}

const snc_tls_facts *
snc_tls_facts_of(const snc_tls_line *l)
{
    return &l->facts;
}

static void
note_facts(snc_tls_line *l)
{
    X509 *x = SSL_get0_peer_certificate(l->ssl);

    l->facts.done = true;
    l->facts.resumed = SSL_session_reused(l->ssl) == 1;
    l->facts.version = SSL_get_version(l->ssl);
    if (x && X509_NAME_oneline(X509_get_subject_name(x), l->client, sizeof l->client))
        l->facts.client = l->client;
}

snc_tls_got
snc_tls_greet(snc_tls_line *l)
{
    ERR_clear_error();
    int rc = SSL_do_handshake(l->ssl);

    if (rc == 1) {
        note_facts(l);
        return SNC_TLS_DONE;
    }
    if (l->trick != SNC_TLS_DONE)
        return l->trick;
    switch (SSL_get_error(l->ssl, rc)) {
    case SSL_ERROR_WANT_READ:
        return SNC_TLS_READ;
    case SSL_ERROR_WANT_WRITE:
        return SNC_TLS_WRITE;
    default:
        return SNC_TLS_FAILED;
    }
}

/* Reports an error as recv and send do. */
static ssize_t
failed(snc_tls_line *l, int rc)
{
    switch (SSL_get_error(l->ssl, rc)) {
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        errno = EAGAIN;
        return -1;
    default:
        errno = ECONNRESET;
        return -1;
    }
}

ssize_t
snc_tls_read(snc_tls_line *l, void *out, size_t room)
{
    ERR_clear_error();
    int n = SSL_read(l->ssl, out, room < INT_MAX ? (int)room : INT_MAX);

    return n > 0 ? n : failed(l, n);
}

/* A record holds 16 KiB: writes as many as the socket takes now. */
ssize_t
snc_tls_write(snc_tls_line *l, const void *bytes, size_t n)
{
    size_t done = 0;

    while (done < n) {
        size_t left = n - done;

        ERR_clear_error();
        int rc = SSL_write(l->ssl, (const char *)bytes + done,
                           left < INT_MAX ? (int)left : INT_MAX);
        if (rc <= 0)
            return done > 0 ? (ssize_t)done : failed(l, rc);
        done += (size_t)rc;
    }
    return (ssize_t)done;
}

bool
snc_tls_close(snc_tls_line *l)
{
    ERR_clear_error();
    int rc = l->facts.done ? SSL_shutdown(l->ssl) : 0;

    return rc >= 0 || SSL_get_error(l->ssl, rc) != SSL_ERROR_WANT_WRITE;
}
