/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_bundle.h"

#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

typedef struct entry {
    X509_NAME *subject;
    unsigned char *der;
    long len;
    bool
        is_trusted; /* a "trusted certificate": what it may be used for comes behind it */
} entry;

typedef struct names {
    size_t n, room;
    entry *all;
} names;

struct sn_tls_bundle {
    _Atomic(names *) names; /* NULL: not read yet */
    X509_LOOKUP_METHOD *method;
    char *path;
};

static void
drop_entries(names *v)
{
    for (; v->n > 0; v->n--) {
        X509_NAME_free(v->all[v->n - 1].subject);
        OPENSSL_free(v->all[v->n - 1].der);
    }
}

static void
free_names(names *v)
{
    if (!v)
        return;
    drop_entries(v);
    sn_free(v->all);
    sn_free(v);
}

static bool
step_in(const unsigned char **at, const unsigned char *end, int want)
{
    long len;
    int tag, class;

    return !(ASN1_get_object(at, &len, &tag, &class, end - *at) & 0x80) && tag == want;
}

static bool
step_over(const unsigned char **at, const unsigned char *end, int want)
{
    const unsigned char *inside = *at;
    long len;
    int tag, class;

    if (ASN1_get_object(&inside, &len, &tag, &class, end - inside) & 0x80 || tag != want)
        return false;
    *at = inside + len;
    return true;
}

/* A certificate begins with version (may be missing), serial number, algorithm, issuer,
 * validity, subject (RFC 5280, 4.1). */
static X509_NAME *
subject_of(const unsigned char *der, long len)
{
    const unsigned char *at = der, *end = der + len;

    for (int i = 0; i < 2; i++)
        if (!step_in(&at, end, V_ASN1_SEQUENCE))
            return NULL;
    step_over(&at, end, 0);
    if (!step_over(&at, end, V_ASN1_INTEGER))
        return NULL;
    for (int i = 0; i < 3; i++)
        if (!step_over(&at, end, V_ASN1_SEQUENCE))
            return NULL;
    return d2i_X509_NAME(NULL, &at, end - at);
}

/* Takes the bytes, or leaves them to the caller. */
static bool
give_entry(names *v, unsigned char *give_der, long len, bool is_trusted)
{
    if (v->n == v->room) {
        size_t room = v->room ? 2 * v->room : 256;
        entry *all = sn_realloc(v->all, room * sizeof *all);

        if (!all)
            return false;
        v->all = all;
        v->room = room;
    }
    X509_NAME *subject = subject_of(give_der, len);
    if (!subject)
        return false;
    v->all[v->n++] = (entry){subject, give_der, len, is_trusted};
    return true;
}

typedef enum block { TAKEN, END, BROKEN } block;

static block
read_block(BIO *file, names *v)
{
    char *label, *head;
    unsigned char *der;
    long len;

    if (PEM_read_bio(file, &label, &head, &der, &len) != 1) {
        unsigned long e = ERR_peek_last_error();
        bool is_end =
            ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
        return is_end ? END : BROKEN;
    }
    bool is_trusted = strcmp(label, PEM_STRING_X509_TRUSTED) == 0;
    bool is_ours = is_trusted || strcmp(label, PEM_STRING_X509) == 0 ||
                   strcmp(label, PEM_STRING_X509_OLD) == 0;
    bool is_kept = is_ours && head[0] == '\0' && give_entry(v, der, len, is_trusted);
    OPENSSL_free(label);
    OPENSSL_free(head);
    if (!is_kept)
        OPENSSL_free(der);
    return is_kept || !is_ours ? TAKEN : BROKEN;
}

static names *
read_names(const char *path)
{
    names *v = sn_zalloc(sizeof *v);
    block got = BROKEN;

    if (!v)
        return NULL;
    ERR_set_mark();
    BIO *file = BIO_new_file(path, "r");
    while (file && (got = read_block(file, v)) == TAKEN)
        ;
    BIO_free(file);
    ERR_pop_to_mark();
    if (got == BROKEN)
        drop_entries(v);
    return v;
}

static const names *
names_of(sn_tls_bundle *b)
{
    names *v = atomic_load_explicit(&b->names, memory_order_acquire), *mine;

    if (v || !(mine = read_names(b->path)))
        return v;
    if (atomic_compare_exchange_strong(&b->names, &v, mine))
        return mine;
    free_names(mine);
    return v;
}

static void
add_to_store(X509_STORE *store, const entry *e)
{
    const unsigned char *from = e->der;
    X509 *cert =
        e->is_trusted ? d2i_X509_AUX(NULL, &from, e->len) : d2i_X509(NULL, &from, e->len);

    if (cert)
        X509_STORE_add_cert(store, cert);
    X509_free(cert);
}

static bool
find_in_store(X509_STORE *store, const X509_NAME *name, X509_OBJECT *out)
{
    X509_STORE_lock(store);
    const X509_OBJECT *o = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(store),
                                                           X509_LU_X509, name);
    X509 *cert = o ? X509_OBJECT_get0_X509(o) : NULL;
    bool found = cert && X509_OBJECT_set1_X509(out, cert) == 1;
    X509_STORE_unlock(store);
    if (found)
        X509_free(cert); /* the caller takes its own reference */
    return found;
}

/* OpenSSL asks for a name that is not in the store. All certificates of that name go into
 * the store, and are found there from now on; two threads may add them at once, since the
 * store ignores duplicates. */
static int
find(X509_LOOKUP *l, X509_LOOKUP_TYPE type, const X509_NAME *name, X509_OBJECT *out)
{
    X509_STORE *store = X509_LOOKUP_get_store(l);
    const names *v =
        type == X509_LU_X509 ? names_of(X509_LOOKUP_get_method_data(l)) : NULL;
    bool is_known = false;

    if (!v)
        return 0;
    ERR_set_mark();
    for (size_t i = 0; i < v->n; i++)
        if (X509_NAME_cmp(v->all[i].subject, name) == 0) {
            add_to_store(store, &v->all[i]);
            is_known = true;
        }
    ERR_pop_to_mark();
    return is_known && find_in_store(store, name, out);
}

static char *
copy_path(const char *path)
{
    if (!path)
        path = secure_getenv(X509_get_default_cert_file_env());
    if (!path)
        path = X509_get_default_cert_file();
    size_t n = strlen(path) + 1;
    char *to = sn_alloc(n);

    return to ? memcpy(to, path, n) : NULL;
}

seine_err
sn_tls_bundle_new(struct x509_store_st *store, const char *path, sn_tls_bundle **out)
{
    sn_tls_bundle *b = sn_zalloc(sizeof *b);
    X509_LOOKUP *l = NULL;

    if (!b)
        return SEINE_E_NOMEM;
    b->path = copy_path(path);
    b->method = X509_LOOKUP_meth_new("seine");
    if (b->path && b->method &&
        X509_LOOKUP_meth_set_get_by_subject(b->method, find) == 1 &&
        (l = X509_STORE_add_lookup(store, b->method)) != NULL)
        X509_LOOKUP_set_method_data(l, b);
    if (!l) {
        sn_tls_bundle_free(b);
        return SEINE_E_NOMEM;
    }
    *out = b;
    return SEINE_OK;
}

void
sn_tls_bundle_free(sn_tls_bundle *b)
{
    if (!b)
        return;
    free_names(atomic_load(&b->names));
    X509_LOOKUP_meth_free(b->method);
    sn_free(b->path);
    sn_free(b);
}
