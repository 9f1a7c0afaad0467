/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "net/cidr.h"
#include "net/tls_bundle.h"
#include "seine/calendar.h"
#include "seine/view.h"

#define SHARE    (256 << 10) /* received bytes decrypted per call */
#define HOST     255
#define LIFE     (24 * 3600) /* longest life of a ticket, seconds */
#define TEXT     96
#define KEY_ROOM (HOST + 8)

/* Shared by all connections; made when the first connection needs it. */
typedef struct core {
    SSL_CTX *plain, *named; /* named: with client certificate; NULL: none */
    BIO_METHOD *bio;
    sn_tls_bundle *bundle; /* the system's CAs; NULL: those of `cacert` */
} core;

struct sn_tls_ctx {
    _Atomic(core *) core;
    char *cacert, *cert, *cert_key;
    int min;
};

typedef enum end {
    GOING,
    CLOSED, /* close_notify */
    CUT,    /* no close_notify, or a reset */
    BROKEN  /* an alert, or not TLS */
} end;

struct sn_tls {
    SSL *ssl;
    const sn_tls_ends *ends;
    void *self;
    sn_tls *below;
    sn_tickets *tickets;
    const seine_time *now;
    seine_tls_facts facts;
    size_t share;
    uint8_t end;
    bool verify, offered, resumed, established;
    bool dry, gone, more, wants_out, lost; /* lost: the connection below TLS */
    seine_err err;
    char why[TEXT];
    X509 *refused; /* the certificate of a host that is not trusted; NULL: none */
    size_t key_len;
    char key[]; /* of its tickets */
};

/* Texts. */

/* Returns why a file could not be used. */
static const char *
file_error(const char *otherwise)
{
    unsigned long e = ERR_peek_error();
    const char *text = ERR_SYSTEM_ERROR(e) ? strerrordesc_np(ERR_GET_REASON(e)) : NULL;

    return text ? text : otherwise;
}

static bool
is_out_of_memory(void)
{
    return ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE;
}

static int64_t
seconds_of(const ASN1_TIME *time)
{
    struct tm tm;

    if (!time || ASN1_TIME_to_tm(time, &tm) != 1)
        return INT64_MIN;
    return seine_calendar_seconds(&(seine_date){
        tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec});
}

static void
tell_date(sn_tls *t, const char *what, const ASN1_TIME *time)
{
    struct tm tm;

    if (time && ASN1_TIME_to_tm(time, &tm) == 1)
        snprintf(t->why, TEXT, "certificate %s %04d-%02d-%02d", what, tm.tm_year + 1900,
                 tm.tm_mon + 1, tm.tm_mday);
    else
        snprintf(t->why, TEXT, "certificate without a date");
}

/* Copies a name from a certificate; replaces everything but letters and the like, because
 * it is untrusted. */
static void
copy_name(char out[64], const unsigned char *name, size_t len)
{
    size_t n = len < 63 ? len : 63;

    for (size_t i = 0; i < n; i++) {
        bool is_fine = (name[i] | 0x20) >= 'a' && (name[i] | 0x20) <= 'z';
        is_fine |= name[i] >= '0' && name[i] <= '9';
        is_fine |= name[i] && strchr(".-_*:", name[i]) != NULL;
        out[i] = is_fine ? (char)name[i] : '?';
    }
    out[n] = '\0';
}

static bool
name_of(X509 *cert, char out[64])
{
    GENERAL_NAMES *names =
        cert ? X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL) : NULL;
    bool found = false;

    for (int i = 0; !found && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *g = sk_GENERAL_NAME_value(names, i);

        if (g->type != GEN_DNS)
            continue;
        copy_name(out, ASN1_STRING_get0_data(g->d.dNSName),
                  (size_t)ASN1_STRING_length(g->d.dNSName));
        found = true;
    }
    GENERAL_NAMES_free(names);
    return found;
}

static void
tell_name(sn_tls *t, X509 *cert)
{
    char name[64];

    if (name_of(cert, name))
        snprintf(t->why, TEXT, "certificate is for %s", name);
    else
        snprintf(t->why, TEXT, "certificate has no DNS name");
}

/* The first error of the chain decides. */
static int
judge(int is_fine, X509_STORE_CTX *chain)
{
    if (is_fine)
        return 1;
    SSL *ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    sn_tls *t = SSL_get_app_data(ssl);
    if (!t->verify) /* the check runs all the same */
        return 1;
    X509 *cert = X509_STORE_CTX_get_current_cert(chain);
    X509 *leaf = X509_STORE_CTX_get0_cert(chain);
    int why = X509_STORE_CTX_get_error(chain);

    if (leaf && !t->refused && X509_up_ref(leaf) == 1)
        t->refused = leaf;
    switch (why) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        t->err = SEINE_E_TLS_CERT_EXPIRED;
        tell_date(t, "expired on", cert ? X509_get0_notAfter(cert) : NULL);
        break;
    case X509_V_ERR_CERT_NOT_YET_VALID:
        t->err = SEINE_E_TLS_CERT_EXPIRED;
        tell_date(t, "is not valid before", cert ? X509_get0_notBefore(cert) : NULL);
        break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        t->err = SEINE_E_TLS_HOST_MISMATCH;
        tell_name(t, cert);
        break;
    case X509_V_ERR_OUT_OF_MEM:
        t->err = SEINE_E_NOMEM;
        break;
    default:
        t->err = SEINE_E_TLS_UNTRUSTED;
        snprintf(t->why, TEXT, "%s", X509_verify_cert_error_string(why));
    }
    return 0;
}

/* An insecure connection looks for no issuer: nothing is read, nothing is computed. Its
 * session never counts as verified. */
static int
verify(X509_STORE_CTX *chain, void *arg)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    const sn_tls *t = SSL_get_app_data(ssl);

    (void)arg;
    if (t->verify)
        return X509_verify_cert(chain);
    X509_STORE_CTX_set_error(chain, X509_V_ERR_UNSPECIFIED);
    return 1;
}

/* The bytes below TLS. */

static int
bio_read(BIO *b, char *into, size_t room, size_t *out_n)
{
    sn_tls *t = BIO_get_data(b);

    BIO_clear_retry_flags(b);
    *out_n = 0;
    if (t->share == 0)
        t->more = true;
    if (t->dry || t->share == 0) {
        BIO_set_retry_read(b);
        return 0;
    }
    if (room > t->share)
        room = t->share;
    ssize_t n = t->ends->receive(t->self, into, room, &t->dry);
    if (n > 0) {
        t->dry = t->dry && !t->gone;
        t->share -= (size_t)n;
        *out_n = (size_t)n;
        return 1;
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        t->dry = !t->below && !t->gone;
        BIO_set_retry_read(b);
    } else {
        t->lost = true;
    }
    return 0;
}

static int
bio_write(BIO *b, const char *bytes, size_t len, size_t *out_n)
{
    sn_tls *t = BIO_get_data(b);
    ssize_t n = t->ends->send(t->self, bytes, len);

    BIO_clear_retry_flags(b);
    *out_n = n > 0 ? (size_t)n : 0;
    if (n > 0)
        return 1;
    if (errno == EAGAIN || errno == EINTR)
        BIO_set_retry_write(b);
    return 0;
}

static long
bio_ctrl(BIO *b, int what, long number, void *arg)
{
    (void)b;
    (void)number;
    (void)arg;
    return what == BIO_CTRL_FLUSH || what == BIO_CTRL_DUP;
}

static ssize_t
below_receive(void *self, char *into, size_t room, bool *out_dry)
{
    *out_dry = false; /* the lower layer knows */
    return sn_tls_read(self, into, room);
}

static ssize_t
below_send(void *self, const char *bytes, size_t n)
{
    return sn_tls_write(self, bytes, n);
}

static const sn_tls_ends below_ends = {below_receive, below_send};

/* Tickets. */

static seine_time
good_until(const sn_tls *t, SSL_SESSION *session, bool is_13)
{
    unsigned long life = SSL_SESSION_get_ticket_lifetime_hint(session);
    const X509 *cert = SSL_SESSION_get0_peer(session);
    int days = 0, seconds = 0;

    if (life > LIFE || (life == 0 && !is_13)) /* TLS 1.2: no lifetime given */
        life = LIFE;
    if (!cert || !ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(cert)))
        return INT64_MIN;
    int64_t left = (int64_t)days * SEINE_DAY_SECONDS + seconds;
    return sn_time_add(*t->now, SEINE_SECS(left < (int64_t)life ? left : (int64_t)life));
}

/* Stores a session ticket; only verified hosts reach this. */
static int
keep_ticket(SSL *ssl, SSL_SESSION *session)
{
    sn_tls *t = SSL_get_app_data(ssl);
    bool is_13 = SSL_SESSION_get_protocol_version(session) == TLS1_3_VERSION;
    int len = i2d_SSL_SESSION(session, NULL);

    if (!t->tickets || !t->verify || t->end != GOING ||
        SSL_get_verify_result(ssl) != X509_V_OK || len <= 0 ||
        !SSL_SESSION_is_resumable(session))
        return 0;
    sn_ticket *ticket =
        sn_tickets_add(t->tickets, (sn_str){t->key, t->key_len}, (size_t)len, is_13,
                       good_until(t, session, is_13), *t->now);
    if (ticket) {
        unsigned char *to = (unsigned char *)ticket->bytes;
        i2d_SSL_SESSION(session, &to);
    }
    return 0; /* a copy was stored */
}

static void
offer(sn_tls *t)
{
    sn_ticket *ticket =
        sn_tickets_find(t->tickets, (sn_str){t->key, t->key_len}, *t->now);

    if (!ticket)
        return;
    const unsigned char *from = (const unsigned char *)ticket->bytes;
    SSL_SESSION *session = d2i_SSL_SESSION(NULL, &from, (long)ticket->len);
    sn_tickets_used(t->tickets, ticket);
    t->offered = session && SSL_set_session(t->ssl, session) == 1;
    SSL_SESSION_free(session);
}

/* The shared part. */

static void
free_core(core *c)
{
    if (!c)
        return;
    SSL_CTX_free(c->plain);
    SSL_CTX_free(c->named);
    BIO_meth_free(c->bio);
    sn_tls_bundle_free(c->bundle);
    sn_free(c);
}

static BIO_METHOD *
make_bio(void)
{
    BIO_METHOD *m = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "seine");

    if (m && BIO_meth_set_read_ex(m, bio_read) && BIO_meth_set_write_ex(m, bio_write) &&
        BIO_meth_set_ctrl(m, bio_ctrl))
        return m;
    BIO_meth_free(m);
    return NULL;
}

/* No Diffie-Hellman in finite fields: the server chooses the field, and one of 10,000
 * bits takes a second of processor time a handshake, in which the whole loop stands
 * still. */
static bool
choose_algorithms(SSL_CTX *s)
{
    return SSL_CTX_set_cipher_list(s, "DEFAULT:!kDHE:!kDHEPSK") == 1 &&
           SSL_CTX_set1_groups_list(s, "X25519:P-256:X448:P-521:P-384") == 1;
}

static SSL_CTX *
make_ssl(const sn_tls_ctx *ctx)
{
    static const unsigned char alpn[] = "\x08http/1.1";
    SSL_CTX *s = SSL_CTX_new(TLS_client_method());

    if (!s)
        return NULL;
    SSL_CTX_set_options(s, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_clear_options(s, SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(s, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(s, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(s, keep_ticket);
    SSL_CTX_set_verify(s, SSL_VERIFY_PEER, judge);
    SSL_CTX_set_cert_verify_callback(s, verify, NULL);
    SSL_CTX_set_read_ahead(s, 1);
    if (SSL_CTX_set_min_proto_version(s, ctx->min) == 1 &&
        SSL_CTX_set_max_proto_version(s, 0) == 1 && choose_algorithms(s) &&
        SSL_CTX_set_alpn_protos(s, alpn, sizeof alpn - 1) == 0)
        return s;
    SSL_CTX_free(s);
    return NULL;
}

/* The file of the system's CAs is asked first, as it is when OpenSSL loads it, then their
 * directory, of which OpenSSL reads the files that have the name it needs. */
static seine_err
trust_system(core *c)
{
    X509_STORE *store = SSL_CTX_get_cert_store(c->plain);
    seine_err e = sn_tls_bundle_new(store, NULL, &c->bundle);

    if (e == SEINE_OK && SSL_CTX_set_default_verify_dir(c->plain) != 1)
        e = SEINE_E_NOMEM;
    return e;
}

static seine_err
trust(const sn_tls_ctx *ctx, core *c, seine_diag *diag)
{
    if (!ctx->cacert)
        return trust_system(c);
    if (SSL_CTX_load_verify_file(c->plain, ctx->cacert) == 1)
        return SEINE_OK;
    return sn_diag_value(diag, "cacert", sn_str_of(ctx->cacert),
                         file_error("no certificate in it"));
}

/* Never asks for a passphrase in the middle of a run. */
static int
no_passphrase(char *out, int room, int writing, void *arg)
{
    (void)out;
    (void)room;
    (void)writing;
    (void)arg;
    return -1;
}

static seine_err
identify(const sn_tls_ctx *ctx, core *c, seine_diag *diag)
{
    const char *key = ctx->cert_key ? ctx->cert_key : ctx->cert;

    if (!ctx->cert)
        return SEINE_OK;
    c->named = make_ssl(ctx);
    if (!c->named)
        return SEINE_E_NOMEM;
    SSL_CTX_set1_cert_store(c->named, SSL_CTX_get_cert_store(c->plain));
    SSL_CTX_set_default_passwd_cb(c->named, no_passphrase);
    if (SSL_CTX_use_certificate_chain_file(c->named, ctx->cert) != 1)
        return sn_diag_value(diag, "cert", sn_str_of(ctx->cert),
                             file_error("no certificate in it"));
    if (SSL_CTX_use_PrivateKey_file(c->named, key, SSL_FILETYPE_PEM) == 1)
        return SEINE_OK;
    unsigned long e = ERR_peek_last_error();
    return sn_diag_value(
        diag, ctx->cert_key ? "cert_key" : "cert", sn_str_of(key),
        ERR_GET_LIB(e) == ERR_LIB_X509 && ERR_GET_REASON(e) == X509_R_KEY_VALUES_MISMATCH
            ? "not the key of the certificate"
            : file_error("no key in it that can be read without a passphrase"));
}

static seine_err
make_core(const sn_tls_ctx *ctx, core **out_core, seine_diag *diag)
{
    core *c = sn_zalloc(sizeof *c);

    if (!c)
        return SEINE_E_NOMEM;
    ERR_clear_error();
    c->bio = make_bio();
    c->plain = make_ssl(ctx);
    seine_err e = c->bio && c->plain ? trust(ctx, c, diag) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = identify(ctx, c, diag);
    ERR_clear_error();
    if (e == SEINE_OK)
        *out_core = c;
    else
        free_core(c);
    return e;
}

/* Without a lock: two threads that need it at once both make it, and one is freed. */
static seine_err
core_of(sn_tls_ctx *ctx, core **out_core, seine_diag *diag)
{
    core *c = atomic_load_explicit(&ctx->core, memory_order_acquire), *mine;

    if (!c) {
        seine_err e = make_core(ctx, &mine, diag);
        if (e != SEINE_OK)
            return e;
        if (atomic_compare_exchange_strong(&ctx->core, &c, mine))
            c = mine;
        else
            free_core(mine);
    }
    *out_core = c;
    return SEINE_OK;
}

static char *
copy(const char *text, seine_err *e)
{
    if (!text)
        return NULL;
    size_t n = strlen(text) + 1;
    char *to = sn_alloc(n);

    if (to)
        memcpy(to, text, n);
    else
        *e = SEINE_E_NOMEM;
    return to;
}

static seine_err
check(const sn_tls_opts *o, seine_diag *diag)
{
    if (o->min != 12 && o->min != 13)
        return sn_diag_option(diag, "tls_min", "12 or 13");
    if (o->cert_key && !o->cert)
        return sn_diag_option(diag, "cert_key", "without cert");
    return SEINE_OK;
}

seine_err
sn_tls_ctx_new(const sn_tls_opts *opts, sn_tls_ctx **out_ctx, seine_diag *diag)
{
    seine_err e = check(opts, diag);

    if (e != SEINE_OK)
        return e;
    sn_tls_ctx *ctx = sn_zalloc(sizeof *ctx);
    if (!ctx)
        return SEINE_E_NOMEM;
    atomic_init(&ctx->core, NULL);
    ctx->min = opts->min == 13 ? TLS1_3_VERSION : TLS1_2_VERSION;
    ctx->cacert = copy(opts->cacert, &e);
    ctx->cert = copy(opts->cert, &e);
    ctx->cert_key = copy(opts->cert_key, &e);
    core *c;
    if (e == SEINE_OK && (ctx->cacert || ctx->cert))
        e = core_of(ctx, &c, diag);
    if (e != SEINE_OK) {
        sn_tls_ctx_free(ctx);
        return e;
    }
    *out_ctx = ctx;
    return SEINE_OK;
}

void
sn_tls_ctx_free(sn_tls_ctx *ctx)
{
    if (!ctx)
        return;
    free_core(atomic_load(&ctx->core));
    sn_free(ctx->cacert);
    sn_free(ctx->cert);
    sn_free(ctx->cert_key);
    sn_free(ctx);
}

/* One connection. */

/* Sets the name or address that the certificate must have. Its common name plays no part
 * (RFC 9525, 2). */
static bool
expect(sn_tls *t, const sn_tls_want *want)
{
    char host[HOST + 1];
    sn_ip ip;

    memcpy(host, want->host.ptr, want->host.len);
    host[want->host.len] = '\0';
    if (sn_ip_parse(want->host, &ip) == SEINE_OK)
        return X509_VERIFY_PARAM_set1_ip(SSL_get0_param(t->ssl), ip.bytes,
                                         ip.v == 4 ? 4 : 16) == 1;
    SSL_set_hostflags(t->ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return SSL_set1_host(t->ssl, host) == 1 &&
           SSL_set_tlsext_host_name(t->ssl, host) == 1;
}

static bool
set_up(sn_tls *t, const core *c, const sn_tls_want *want)
{
    BIO *bio = BIO_new(c->bio);

    t->ssl = SSL_new(want->identify && c->named ? c->named : c->plain);
    if (!bio || !t->ssl) {
        BIO_free(bio);
        return false;
    }
    BIO_set_data(bio, t);
    BIO_set_init(bio, 1);
    SSL_set_bio(t->ssl, bio, bio);
    SSL_set_app_data(t->ssl, t);
    SSL_set_connect_state(t->ssl);
    if (want->insecure)
        SSL_set_verify(t->ssl, SSL_VERIFY_NONE, NULL);
    return expect(t, want);
}

/* The key of tickets: host, port and policy. */
static size_t
write_key(const sn_tls_want *want, bool is_named, char out[KEY_ROOM])
{
    memcpy(out, want->host.ptr, want->host.len);
    int n = snprintf(out + want->host.len, KEY_ROOM - HOST, ":%u%s", want->port,
                     is_named ? "+" : "");
    return want->host.len + (size_t)n;
}

seine_err
sn_tls_new(sn_tls_ctx *ctx, const sn_tls_want *want, sn_tls **out_tls)
{
    char key[KEY_ROOM];
    core *c;

    if (want->host.len == 0 || want->host.len > HOST)
        return SEINE_E_DNS_BAD_NAME;
    seine_err e = core_of(ctx, &c, NULL);
    if (e != SEINE_OK)
        return e;
    size_t n = write_key(want, want->identify && c->named, key);
    sn_tls *t = sn_zalloc(sizeof *t + n);
    if (!t)
        return SEINE_E_NOMEM;
    t->ends = want->below ? &below_ends : want->ends;
    t->self = want->below ? want->below : want->self;
    t->below = want->below;
    t->verify = !want->insecure;
    t->tickets = want->insecure ? NULL : want->tickets;
    t->now = want->now;
    t->facts.not_after = INT64_MIN;
    t->key_len = n;
    memcpy(t->key, key, n);
    ERR_clear_error();
    if (!set_up(t, c, want)) {
        sn_tls_free(t, false);
        return SEINE_E_NOMEM;
    }
    if (t->tickets)
        offer(t);
    *out_tls = t;
    return SEINE_OK;
}

void
sn_tls_free(sn_tls *t, bool in_order)
{
    if (!t)
        return;
    ERR_clear_error();
    if (in_order && t->established && t->end <= CLOSED)
        SSL_shutdown(t->ssl);
    SSL_free(t->ssl);
    X509_free(t->refused);
    ERR_clear_error();
    sn_free(t);
}

/* The peer may take long to reply, so the 17 KiB write buffer is freed, which
 * SSL_MODE_RELEASE_BUFFERS alone does not do. OpenSSL allocates it again for every
 * request and for arriving tickets. */
static void
rest(sn_tls *t)
{
    SSL_free_buffers(t->ssl);
}

static void
begin_call(sn_tls *t)
{
    ERR_clear_error();
    t->share = SHARE;
    t->more = t->wants_out = false;
}

/* Handles a result of OpenSSL that is no success. True: try again later. */
static bool
judge_result(sn_tls *t, int rc)
{
    int why = SSL_get_error(t->ssl, rc);

    if (why == SSL_ERROR_WANT_READ)
        return true;
    if (why == SSL_ERROR_WANT_WRITE) {
        t->wants_out = true;
        return true;
    }
    if (t->err != SEINE_OK) { /* judge has set it */
        t->end = BROKEN;
    } else if (why == SSL_ERROR_ZERO_RETURN) {
        t->end = CLOSED;
    } else if (why == SSL_ERROR_SYSCALL || t->lost) {
        t->end = CUT;
    } else {
        const char *text = ERR_reason_error_string(ERR_peek_error());

        t->end = BROKEN;
        t->err = is_out_of_memory() ? SEINE_E_NOMEM : SEINE_E_TLS_ERROR;
        snprintf(t->why, TEXT, "%s", text ? text : "");
    }
    return false;
}

static void
learn(sn_tls *t)
{
    const X509 *cert = SSL_get0_peer_certificate(t->ssl);

    t->established = true;
    t->resumed = SSL_session_reused(t->ssl);
    t->facts = (seine_tls_facts){
        .version = SSL_version(t->ssl) == TLS1_3_VERSION ? 13 : 12,
        .verified = t->verify,
        .not_after = cert ? seconds_of(X509_get0_notAfter(cert)) : INT64_MIN};
}

static void
refused_ticket(sn_tls *t)
{
    if (t->offered && !t->resumed)
        sn_tickets_forget(t->tickets, (sn_str){t->key, t->key_len});
    t->offered = false;
}

sn_tls_got
sn_tls_handshake(sn_tls *t)
{
    begin_call(t);
    int rc = SSL_do_handshake(t->ssl);
    if (rc == 1) {
        learn(t);
        refused_ticket(t);
        return SN_TLS_DONE;
    }
    if (judge_result(t, rc)) {
        rest(t);
        return SN_TLS_WAIT;
    }
    if (t->err == SEINE_OK)
        t->err = SEINE_E_CONN_RESET;
    refused_ticket(t);
    return SN_TLS_FAILED;
}

void
sn_tls_event(sn_tls *t, bool gone)
{
    for (; t; t = t->below) {
        t->dry = false;
        t->gone = t->gone || gone;
    }
}

ssize_t
sn_tls_read(sn_tls *t, char *into, size_t room)
{
    size_t got = 0, n;

    begin_call(t);
    while (got < room && t->end == GOING) {
        int rc = SSL_read_ex(t->ssl, into + got, room - got, &n);

        if (rc == 1)
            got += n;
        else if (judge_result(t, rc))
            break;
    }
    if (got < room)
        rest(t);
    if (got > 0)
        return (ssize_t)got;
    if (t->end == CLOSED)
        return 0;
    errno = t->end == GOING ? EAGAIN : t->end == CUT ? ECONNRESET : EPROTO;
    return -1;
}

ssize_t
sn_tls_write(sn_tls *t, const char *bytes, size_t n)
{
    size_t sent;

    ERR_clear_error();
    if (t->end > CLOSED) {
        errno = ECONNRESET;
        return -1;
    }
    int rc = SSL_write_ex(t->ssl, bytes, n, &sent);
    if (rc == 1) {
        rest(t);
        return (ssize_t)sent;
    }
    int why = SSL_get_error(t->ssl, rc);
    errno =
        why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ ? EAGAIN : ECONNRESET;
    return -1;
}

bool
sn_tls_has_ended(const sn_tls *t)
{
    return t->end != GOING;
}

bool
sn_tls_has_more(const sn_tls *t)
{
    return t->more || (t->below && sn_tls_has_more(t->below));
}

bool
sn_tls_wants_out(const sn_tls *t)
{
    return t->wants_out || (t->below && sn_tls_wants_out(t->below));
}

seine_err
sn_tls_err(const sn_tls *t)
{
    return t->err;
}

const char *
sn_tls_text(const sn_tls *t)
{
    return t->why;
}

const seine_tls_facts *
sn_tls_facts_of(const sn_tls *t)
{
    return &t->facts;
}

bool
sn_tls_is_resumed(const sn_tls *t)
{
    return t->resumed;
}

/* Adds a line to the text; what does not fit is left out. */
static size_t __attribute__((format(printf, 4, 5)))
describe(char *out, size_t cap, size_t at, const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    int n = vsnprintf(out + at, cap - at, fmt, list);
    va_end(list);
    return n < 0 ? at : at + (size_t)n < cap ? at + (size_t)n : cap - 1;
}

static size_t
describe_name(char *out, size_t cap, size_t at, const char *label, const X509_NAME *name)
{
    char text[256] = "";
    BIO *bio = BIO_new(BIO_s_mem());

    if (bio && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) >= 0) {
        int n = BIO_read(bio, text, sizeof text - 1);

        text[n > 0 ? n : 0] = '\0';
    }
    BIO_free(bio);
    return describe(out, cap, at, "%s: %s\n", label, text);
}

static size_t
describe_date(char *out, size_t cap, size_t at, const char *label, const ASN1_TIME *time)
{
    struct tm tm;

    if (!time || ASN1_TIME_to_tm(time, &tm) != 1)
        return at;
    return describe(out, cap, at, "%s: %04d-%02d-%02d %02d:%02d:%02d UTC\n", label,
                    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
                    tm.tm_sec);
}

size_t
sn_tls_describe(const sn_tls *t, char *out, size_t cap)
{
    X509 *cert = t->refused ? t->refused : SSL_get0_peer_certificate(t->ssl);
    const char *cipher = SSL_get_cipher_name(t->ssl);
    size_t n = 0;

    out[0] = '\0';
    n = describe(out, cap, n, "%s, %s%s\n", SSL_get_version(t->ssl),
                 cipher ? cipher : "no cipher",
                 SSL_session_reused(t->ssl) ? ", resumed" : "");
    if (cert) {
        n = describe_name(out, cap, n, "certificate for", X509_get_subject_name(cert));
        n = describe_name(out, cap, n, "issued by", X509_get_issuer_name(cert));
        n = describe_date(out, cap, n, "valid from", X509_get0_notBefore(cert));
        n = describe_date(out, cap, n, "valid until", X509_get0_notAfter(cert));
    }
    if (t->err != SEINE_OK)
        return describe(out, cap, n, "failed: %s\n",
                        t->why[0] ? t->why : seine_err_text(t->err));
    return describe(out, cap, n, "%s\n",
                    t->verify ? "certificate verified" : "certificate not checked");
}
