/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls_bundle.h - the file with all CAs of the system, of which each is read by its name.
 *
 * To parse the certificates of that file takes 20 to 30 ms, nearly all of it for their
 * keys, and a handshake needs one or none of them. So the names alone are read, once,
 * when a handshake asks for the first one (2 ms for 144); a certificate is parsed when
 * its name is asked for.
 *
 *     e = sn_tls_bundle_new(store, path, &b);         the store asks it from now on
 *     …
 *     SSL_CTX_free(…);
 *     sn_tls_bundle_free(b);                          after the last use of the store
 *
 * A chain is judged as if the whole file had been loaded into the store: what the file
 * knows is found before the directory is asked, and a file with a block that cannot be
 * read counts as empty.
 *
 * Memory  the file without its base64, 160 KB, once its names are read; OpenSSL's own.
 * Threads any: two that need the names at once both read them, and one copy is dropped.
 */
#ifndef SN_TLS_BUNDLE_H
#define SN_TLS_BUNDLE_H

#include "seine/err.h"

struct x509_store_st;
typedef struct sn_tls_bundle sn_tls_bundle;

/* NULL as `path`: SSL_CERT_FILE, or the file that OpenSSL was built for. NOMEM. */
SEINE_MUST_CHECK seine_err sn_tls_bundle_new(struct x509_store_st *store,
                                             const char *path, sn_tls_bundle **out);
void sn_tls_bundle_free(sn_tls_bundle *b); /* NULL is fine; the store is gone */

#endif
